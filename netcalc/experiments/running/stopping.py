"""Why a run ends before its time: asked to, interrupted, told to terminate, or too long."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Protocol, Self

SLICE_S = 0.1
"""A run looks at least this often whether it should end. [s]"""
GAP_S = 1.0
"""If it did not look for longer than this, it stood still. [s]"""
MAX_GAPS = 100
"""Gaps that are kept. [1]"""


class EventLike(Protocol):
    """What a :class:`threading.Event` offers."""

    def is_set(self) -> bool:
        """Return True once it was set."""


Stop = EventLike | Callable[[], bool]


class Ended(Exception):  # noqa: N818 - no error
    """The run was asked to end; what it measured is kept."""


class Stopping:
    """Watches for every reason to end a run, and keeps the first one.

    In the main thread the first Ctrl-C only asks the run to end. A second one raises
    KeyboardInterrupt: within a function of the caller at once, otherwise when the run has cleaned
    up, so that it never tears a half-made process or a half-closed file. A third one raises it
    wherever the run is. SIGTERM and SIGHUP, where nobody handles them, ask the run to end and take
    their effect when it has cleaned up; a second one takes it at once. A closed pipe is an error of
    the run that meets it, never the end of the program.

    Attributes
    ----------
    reason : str
        Why the run is to end; empty while it is not.
    gaps : list of tuple of float
        When, after the start, and for how long the run stood still: it was stopped, or the machine
        slept. [s]
    """

    def __init__(self, stop: Stop | None, *, limit_s: float) -> None:
        if stop is None:
            self._asked: Callable[[], bool] = bool
        elif callable(is_set := getattr(stop, "is_set", stop)):
            self._asked = is_set
        else:
            raise TypeError(f"stop must be an event or a function, found {type(stop).__name__}")
        self._limit_s = limit_s
        self._end_s = time.monotonic() + limit_s
        self._handlers: dict[int, Any] = {}
        self._interrupt_count = 0
        self._with_caller = False
        self._terminated: int | None = None
        self.reason = ""
        self.gaps: list[tuple[float, float]] = []
        self._start_s = self._seen_s = _since_boot_s()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                handler = signal.getsignal(number)
                if handler is signal.SIG_DFL or (number == signal.SIGINT and callable(handler)):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
            if signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL:
                self._handlers[signal.SIGPIPE] = signal.SIG_DFL
                signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        interrupted = self._handlers.get(signal.SIGINT)
        for number in tuple(self._handlers):
            self._restore(number)
        if self._terminated is not None:
            os.kill(os.getpid(), self._terminated)
        if self._interrupt_count > 1 and kind is None and callable(interrupted):
            interrupted(signal.SIGINT, None)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGINT:
            if self._terminated is not None:
                self._restore(number)
                os.kill(os.getpid(), number)
            self._terminated = number
            self.end(signal.Signals(number).name)
            return
        self._interrupt_count += 1
        if self._interrupt_count > (1 if self._with_caller else 2):
            handler = self._handlers[number]
            self._interrupt_count = 1  # this one is done with
            if callable(handler):
                handler(number, frame)
            else:
                raise KeyboardInterrupt
        self.end("interrupt")

    def _restore(self, number: int) -> None:
        signal.signal(number, self._handlers.pop(number))

    def end(self, reason: str) -> None:
        """Ask the run to end; the first reason counts."""
        self.reason = self.reason or reason

    def check(self) -> None:
        """Raise :class:`Ended` if there is a reason to end; note it if the run stood still."""
        self._note_gap()
        if not self.reason:
            if self._asks():
                self.end("stop")
            elif time.monotonic() > self._end_s:
                self.end(f"limit of {self._limit_s:g} s")
        if self.reason:
            raise Ended(self.reason)

    def _note_gap(self) -> None:
        now_s = _since_boot_s()
        if now_s - self._seen_s > GAP_S and len(self.gaps) < MAX_GAPS:
            self.gaps.append((self._seen_s - self._start_s, now_s - self._seen_s))
        self._seen_s = now_s

    def look(self) -> None:
        """Say that the run did not stand still: what took long was its own work."""
        self._seen_s = _since_boot_s()

    @contextmanager
    def caller(self) -> Iterator[None]:
        """Mark that a function of the caller is at work, whose time is its own."""
        self._note_gap()  # one that ended just now
        self._with_caller = True
        try:
            yield
        finally:
            self._with_caller = False
            self.look()

    def sleep(self, duration_s: float) -> float:
        """Sleep, looking for a reason to end; return how much too late it woke. [s]"""
        wake_s = time.perf_counter() + duration_s
        while (left_s := wake_s - time.perf_counter()) > 0:
            self.check()
            time.sleep(min(left_s, SLICE_S))
        return -left_s

    def _asks(self) -> bool:
        """Ask the caller; a second Ctrl-C ends a question that hangs."""
        self._with_caller = True
        try:
            return self._asked()
        finally:
            self._with_caller = False


def _since_boot_s() -> float:
    """Return a clock that goes on while the machine sleeps, where the system has one. [s]"""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
