"""Programs of a peer that measure itself: its own error, and the rates of its own calls."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from netcalc.experiments.peers.bulk_peer import ByteCounts
from netcalc.experiments.peers.job import Job

DELAY_COUNT = 20
"""Short sleeps by whose ends the lateness of timers is measured. [1]"""
_SLEEP_S, _SPIN_S = 5e-4, 0.012  # as of the run's own error, netcalc.experiments.running.instrument
_ROUND_COUNT = 64  # datagrams that the smallest receive buffer of a system holds
_BUFFER_BYTES = 1 << 20
_clock = time.perf_counter_ns


def own_error(
    _socks: Sequence[socket.socket], _order: dict[str, Any], _job: Job, _counts: ByteCounts
) -> dict[str, Any]:
    """Return the resolution of the clock, the lateness of timers, and the share of a processor."""
    readings = [_clock() for _ in range(500)]
    steps = [after - before for before, after in pairwise(readings)]
    delays = []
    for _ in range(DELAY_COUNT):
        begin_ns = _clock()
        time.sleep(_SLEEP_S)
        delays.append((_clock() - begin_ns) * 1e-9 - _SLEEP_S)
    begin_s, ran_s = time.perf_counter(), time.thread_time()
    while (elapsed_s := time.perf_counter() - begin_s) < _SPIN_S:
        pass
    return {
        "timer_resolution_s": min((step for step in steps if step), default=1) * 1e-9,
        "scheduling_delay_p99_s": max(delays),
        "processor_ratio": min(1.0, (time.thread_time() - ran_s) / elapsed_s),
    }


def own_rates(
    _socks: Sequence[socket.socket], order: dict[str, Any], job: Job, counts: ByteCounts
) -> dict[str, Any]:
    """Return how many datagrams a second this program sends and receives on its own loopback.

    A few are sent, then received, in turns: neither waits for the other. The median of all turns.
    """
    payload = bytes(order["payload_bytes"])
    send_s, receive_s = [], []
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source,
    ):
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        sink.bind(("127.0.0.1", 0))
        source.connect(sink.getsockname())
        sink.setblocking(False)
        buffer = bytearray(len(payload) + 1)
        end_ns = _clock() + int(order["limit_s"] * 1e9)
        while (begin_ns := _clock()) < end_ns and not job.look(begin_ns):
            for _turn in range(_ROUND_COUNT):
                source.send(payload)
            sent_ns, count = _clock(), 0
            with suppress(BlockingIOError):
                while count < _ROUND_COUNT:
                    sink.recv_into(buffer)
                    count += 1
            if count:
                send_s.append((sent_ns - begin_ns) * 1e-9 / _ROUND_COUNT)
                receive_s.append((_clock() - sent_ns) * 1e-9 / count)
    counts.sent_bytes = counts.received_bytes = len(send_s) * _ROUND_COUNT * len(payload)
    if not send_s:
        return {"send_pps": 0.0, "receive_pps": 0.0}
    medians = [statistics.median(times_s) for times_s in (send_s, receive_s)]
    return {"send_pps": 1 / medians[0], "receive_pps": 1 / medians[1]}
