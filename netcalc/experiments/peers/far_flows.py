"""Program of a peer for flows that share the way: it counts the bytes of each connection."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Sequence
from typing import Any

from netcalc.experiments.peers.bulk_peer import LOOK_NS, ByteCounts
from netcalc.experiments.peers.job import Job

READ_BYTES = 1 << 18
"""Largest read. [byte]"""
_clock = time.perf_counter_ns


class FlowCounts(ByteCounts):
    """The bytes received so far, on all connections and on each of them."""

    def __init__(self) -> None:
        super().__init__()
        self.flow_bytes: list[int] = []


def receive_flows(
    socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: FlowCounts
) -> dict[str, Any]:
    """Read connections to their ends; return when the first and the last data of each arrived."""
    counts.flow_bytes = [0] * len(socks)
    spans_ns = [[0, 0] for _ in socks]
    buffer = bytearray(min(READ_BYTES, order["look_bytes"]))
    left, look_ns, unlooked_bytes = len(socks), 0, 0
    with selectors.DefaultSelector() as poll:
        for index, sock in enumerate(socks):
            sock.setblocking(False)
            poll.register(sock, selectors.EVENT_READ, index)
        while left:
            for key, _ in poll.select(LOOK_NS * 1e-9):
                try:
                    got = key.fileobj.recv_into(buffer)  # type: ignore[union-attr]
                except BlockingIOError:
                    continue
                except ConnectionError:  # a client that ends all at once
                    got = 0
                if not got:
                    poll.unregister(key.fileobj)
                    left -= 1
                    continue
                span_ns, now_ns = spans_ns[key.data], _clock()
                span_ns[:] = span_ns[0] or now_ns, now_ns
                counts.flow_bytes[key.data] += got
                counts.received_bytes += got
                unlooked_bytes += got
                if unlooked_bytes >= order["look_bytes"]:
                    break  # the others are ready again at the next call
            if (now_ns := _clock()) > look_ns or unlooked_bytes >= order["look_bytes"]:
                look_ns, unlooked_bytes = now_ns + LOOK_NS, 0
                if job.look(now_ns):
                    break
    return {"spans_ns": spans_ns}
