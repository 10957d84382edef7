"""A program of a run that works on sockets in a thread of this process.

A peer does its orders so, and so does a client whose system passes no sockets to another process.
The programs are those of :mod:`netcalc.experiments.peers.bulk_peer` and of
:mod:`netcalc.experiments.peers.far_echo`; a job is to them what
:class:`netcalc.experiments.peers.helper.Orders` is in a process of their own.
"""

from __future__ import annotations

import errno
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, Protocol

from netcalc.experiments.peers.helper import ENDLESS_BYTES, error_report

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

LONGEST_PAUSE_S = 0.1
"""Longest pause without a look for an order to end. [s]"""
CREDIT_NS = 20_000_000
"""Time of the bytes that may be sent at once after a pause: as a sleep may end late. [ns]"""
LONGEST_S = 600.0
"""Longest job: as long as an order may say. [s]"""
_PR_SET_TIMERSLACK = 29
_clock = time.perf_counter_ns


class Counts(Protocol):
    """What a program counts while it works."""

    sent_bytes: int
    received_bytes: int
    reply_bytes: int


Work = Callable[[Sequence[socket.socket], dict[str, Any], "Job", Any], dict[str, Any]]
"""A program: works on sockets by an order, and returns its report."""


class Pace:
    """A rate that all jobs of a run together keep on average, in each direction.

    Parameters
    ----------
    rate_bps : float
        Most that they send, and that they receive. [bit/s]
    """

    def __init__(self, rate_bps: float) -> None:
        self._byte_ns = 8e9 / rate_bps
        self._due_ns = [0, 0]
        self._lock = threading.Lock()

    def due_ns(self, moved_bytes: Sequence[int], now_ns: int) -> int:
        """Add what was sent, and what was received; return when more may be."""
        with self._lock:
            self._due_ns = [
                max(due_ns, now_ns - CREDIT_NS) + int(max(0, moved) * self._byte_ns)
                for due_ns, moved in zip(self._due_ns, moved_bytes, strict=True)
            ]
            return max(self._due_ns)


def even_out(order: dict[str, Any], rate_bps: float, *, is_stream: bool) -> None:
    """Let a sender keep a limit of rate as evenly as it can: also within a large write. [bit/s]"""
    call_bytes = order["write_bytes"] * order["datagrams_per_call"]
    if is_stream:
        call_bytes = min(call_bytes, credit_bytes(rate_bps))
    order["call_bytes"] = call_bytes
    order["gap_ns"] = max(order["gap_ns"], int(8e9 * call_bytes / rate_bps))


def credit_bytes(rate_bps: float) -> int:
    """Return what a rate carries in the time of a credit: after it a job is to look. [byte]"""
    return int(min(max(1, rate_bps / 8 * CREDIT_NS * 1e-9), ENDLESS_BYTES))


class Job:
    """A program at work, from its start until its report.

    Parameters
    ----------
    work : callable
        The program.
    socks : sequence of socket.socket
        What it works on; the job closes them.
    order : dict
        What to do.
    counts : object
        What it counts, read while it works.
    pace : Pace, optional
        Keeps the rate of its run.
    spent : callable
        Tells whether the run has carried all that it may.
    ended : callable
        Called from its thread once the report is there.
    """

    def __init__(
        self,
        work: Work,
        socks: Sequence[socket.socket],
        order: dict[str, Any],
        counts: Counts,
        *,
        pace: Pace | None = None,
        spent: Callable[[], bool] = bool,
        ended: Callable[[], object] = bool,
    ) -> None:
        self.counts = counts
        self.end: dict[str, Any] | None = None
        self.report: dict[str, Any] | None = None
        self.told_count = 0
        """Times that were told before the report. [1]"""
        self._work, self._socks, self.order = work, socks, order
        self._pace, self._spent, self._ended = pace, spent, ended
        self._paced_bytes = [0, 0]
        self._limit_ns = _clock() + int(order.get("limit_s", LONGEST_S) * 1e9)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def carried_bytes(self) -> int:
        """Bytes so far, in both directions. [byte]"""
        return self.counts.sent_bytes + self.counts.received_bytes + self.counts.reply_bytes

    @property
    def connection_count(self) -> int:
        """Connections that it works on. [1]"""
        return sum(sock.type == socket.SOCK_STREAM for sock in self._socks)

    def untold(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return counts or a report without the times that were told before."""
        if "times" not in values:
            return values
        times = values["times"][self.told_count :]
        self.told_count += len(times)
        return {**values, "times": times}

    def look(self, now_ns: int) -> bool:
        """Pause where a rate is above its limit; return True if the job is to end at once."""
        if self._pace is None:
            return self._is_over()
        due_ns = self._charged_ns(self._pace, now_ns)
        return self.wait_until(min(due_ns, self._limit_ns)) or due_ns > self._limit_ns

    def _charged_ns(self, pace: Pace, now_ns: int) -> int:
        """Charge what was moved since the last time; return when more may be."""
        counts = self.counts
        moved = [counts.sent_bytes + counts.reply_bytes, counts.received_bytes + counts.reply_bytes]
        fresh = [now - paced for now, paced in zip(moved, self._paced_bytes, strict=True)]
        self._paced_bytes = moved
        return pace.due_ns(fresh, now_ns)

    def wait_until(self, due_ns: int) -> bool:
        """Wait until a time of the clock; return True, at once, if the job is to end."""
        while not (is_over := self._is_over()) and (left_ns := due_ns - _clock()) > 0:
            time.sleep(min(left_ns * 1e-9, LONGEST_PAUSE_S))
        return is_over

    def stop(self) -> None:
        """End at once, also a call that waits."""
        self.end = {"now": True}
        for sock in self._socks:
            if sock.type == socket.SOCK_STREAM:  # another is shared; its calls have timeouts
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def join(self, limit_s: float) -> None:
        """Wait for the end. [s]"""
        self._thread.join(limit_s)

    def _is_over(self) -> bool:
        return self._spent() or (self.end is not None and bool(self.end.get("now", True)))

    def _run(self) -> None:
        reduce_timer_slack()
        self.look(_clock())  # the jobs before may have been faster than the rate
        try:
            report = report_of(self._work, self._socks, self.order, self, self.counts)
        except Exception as error:  # a fault of the program is the run's, not the peer's end
            report = {"error": errno.EIO, "name": "EIO", "text": f"{type(error).__name__}: {error}"}
        for sock in self._socks:
            sock.close()
        if self._pace is not None:
            self._charged_ns(self._pace, _clock())
        self.report = report
        self._ended()


def report_of(
    work: Callable[..., dict[str, Any]],
    socks: Sequence[socket.socket],
    order: dict[str, Any],
    orders: object,
    counts: Counts,
) -> dict[str, Any]:
    """Let a program do an order; return its report, with the error if it failed."""
    before = used()
    report: dict[str, Any] = {"begin_ns": _clock()}
    try:
        report |= work(socks, order, orders, counts)
    except (OSError, MemoryError) as error:
        report |= error_report(error)
    report.setdefault("end_ns", _clock())
    after = used()
    return {**report, **vars(counts), **{name: after[name] - before[name] for name in before}}


def used() -> Mapping[str, float]:
    """Return the CPU time of this thread, and its waits.

    Where the system does not divide the time, it is all under ``user_s``; where it does not count
    the waits, they are missing.
    """
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return {"user_s": time.thread_time()}
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return {
        "user_s": usage.ru_utime, "system_s": usage.ru_stime, "wait_count": usage.ru_nvcsw,
    }  # fmt: skip


def reduce_timer_slack() -> float | None:
    """Reduce how late Linux may end a sleep of this thread; return the present slack. [s]"""
    if sys.platform != "linux":
        return None
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        if ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1000, 0, 0, 0) == 0:
            return 1e-6
    return 5e-5
