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

from netcalc.experiments.peers.helper import error_report

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

LONGEST_PAUSE_S = 0.1
"""Longest pause for the sake of a limit of rate, so that an order to end is noticed. [s]"""
_PR_SET_TIMERSLACK = 29
_clock = time.perf_counter_ns


class Counts(Protocol):
    """What a program counts while it works."""

    sent_bytes: int
    received_bytes: int


Work = Callable[[Sequence[socket.socket], dict[str, Any], "Job", Any], dict[str, Any]]
"""A program: works on sockets by an order, and returns its report."""


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
    rate_bps : float
        Most that it carries on average. [bit/s]
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
        rate_bps: float = float("inf"),
        ended: Callable[[], object] = bool,
    ) -> None:
        self.counts = counts
        self.end: dict[str, Any] | None = None
        self.report: dict[str, Any] | None = None
        self._work, self._socks, self.order = work, socks, order
        self._rate_bps, self._ended = rate_bps, ended
        self._begin_ns = _clock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def carried_bytes(self) -> int:
        """Bytes so far, in both directions. [byte]"""
        return self.counts.sent_bytes + self.counts.received_bytes

    def look(self, now_ns: int) -> bool:
        """Pause where the rate is above its limit; return True if the job is to end at once."""
        if self._rate_bps < float("inf"):
            ahead_s = 8 * self.carried_bytes / self._rate_bps - (now_ns - self._begin_ns) * 1e-9
            time.sleep(min(max(0.0, ahead_s), LONGEST_PAUSE_S))
        return self.end is not None and bool(self.end.get("now", True))

    def stop(self) -> None:
        """End at once, also a call that waits."""
        self.end = {"now": True}
        for sock in self._socks:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def join(self, limit_s: float) -> None:
        """Wait for the end. [s]"""
        self._thread.join(limit_s)

    def _run(self) -> None:
        reduce_timer_slack()
        try:
            report = report_of(self._work, self._socks, self.order, self, self.counts)
        except Exception as error:  # a fault of the program is the run's, not the peer's end
            report = {"error": errno.EIO, "name": "EIO", "text": f"{type(error).__name__}: {error}"}
        for sock in self._socks:
            sock.close()
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
