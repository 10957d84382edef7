"""Programs of a peer for trains of packets."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from netcalc.experiments.peers import helper
from netcalc.experiments.peers.bulk_peer import ByteCounts
from netcalc.experiments.peers.job import Job

TAG_BYTES = 12
"""First bytes of a packet of a train: the number of the train and of the packet, the session."""
_clock = time.perf_counter_ns
Socks = Sequence[socket.socket]


def tag(train: int, index: int, session: bytes) -> bytes:
    """Return the first bytes of a packet of a train."""
    return train.to_bytes(4, "little") + index.to_bytes(4, "little") + session[:4]


def catch_train(socks: Socks, order: dict[str, Any], job: Job, counts: ByteCounts) -> Any:
    """Return when each packet of a train arrived, by its index; stamped by the kernel of Linux."""
    (sock,) = socks
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, helper.SO_TIMESTAMPNS, 1)
    helper.set_call_timeout(sock, 0.02)
    begin = order["train"].to_bytes(4, "little")
    arrivals: dict[int, int] = {}
    end_ns = _clock() + int(order["limit_s"] * 1e9)
    while len(arrivals) < order["packet_count"] and (now_ns := _clock()) < end_ns:
        if job.look(now_ns):
            break
        try:
            data, arrived_ns = received(sock)
        except (BlockingIOError, TimeoutError, ConnectionError):
            continue
        if data[:4] == begin and data[8:TAG_BYTES] == order["session"][:4]:
            counts.received_bytes += len(data)
            arrivals.setdefault(int.from_bytes(data[4:8], "little"), arrived_ns)
    return {"times": list(arrivals.items())}


def received(sock: socket.socket) -> tuple[bytes, int]:
    """Receive a datagram; return it, and when it arrived by the clock of this process. [ns]"""
    if not hasattr(sock, "recvmsg"):  # Windows: no stamps
        return sock.recv(1 << 16), _clock()
    data, control, _, _ = sock.recvmsg(1 << 16, helper.CONTROL_BYTES)
    return data, helper.arrival_ns(control, _clock)


def send_train(socks: Socks, order: dict[str, Any], job: Job, counts: ByteCounts) -> Any:
    """Send a train back to back; return when each packet was sent, by its index."""
    (sock,) = socks
    rest = bytes(order["payload_bytes"] - TAG_BYTES)
    indices = range(1, order["packet_count"] + 1)
    datagrams = [tag(order["train"], index, order["session"]) + rest for index in indices]
    times = []
    for index, data in zip(indices, datagrams, strict=True):
        times.append((index, _clock()))
        counts.sent_bytes += sock.send(data)
    job.look(_clock())
    return {"times": times}
