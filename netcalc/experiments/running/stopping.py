"""Why a run ends early: a stop, an interrupt, a signal, or its time limit; the clocks of a run."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol, Self

from netcalc.errors import ArgumentTypeError


class Clock:
    """The system's clocks: one that never steps, one that counts sleep, and the wall clock."""

    def now_ns(self) -> int:
        """Read the monotonic clock, which measures every interval. [ns]"""
        return time.perf_counter_ns()

    def wall_ns(self) -> int:
        """Read the wall clock, which can be set. [ns]"""
        return time.time_ns()

    def since_boot_s(self) -> float:
        """Read a clock that continues while the machine sleeps, where the system has one. [s]"""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.monotonic()

    def sleep(self, duration_s: float) -> None:
        """Sleep. [s]"""
        time.sleep(duration_s)


SYSTEM_CLOCK = Clock()


SLICE_S = 0.1
"""Longest time between two checks for a reason to end: a stop takes effect well within the second
that is promised, and ten wake-ups a second cost nothing. [s]"""
GAP_S = 1.0
"""A longer time without a check counts as a suspension; scheduling alone delays a check by far
less. [s]"""
MAX_GAPS = 100
"""Gaps that are recorded: a run is bounded, and so is its file. [1]"""


class EventLike(Protocol):
    """The part of :class:`threading.Event` that a run uses."""

    def is_set(self) -> bool:
        """Return True once it is set."""


Stop = EventLike | Callable[[], bool]


class Ended(Exception):  # noqa: N818 - no error
    """The run was asked to end; its samples are kept."""


class Deferral:
    """Lets SIGTERM and SIGHUP take effect at the end of this block, after what follows a run.

    A run within still ends at once, and a second signal ends the process at once. A program that
    handles these signals itself is left alone; so is one outside the main thread.

    Attributes
    ----------
    number : int or None
        The signal that came.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._taken: list[int] = []

    def __enter__(self) -> Self:
        self._take()
        return self

    @property
    def name(self) -> str:
        """Name of the signal that came; empty if none did."""
        return "" if self.number is None else signal.Signals(self.number).name

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Let the signals take effect at once for a while: for work without a run to keep."""
        self._give_back()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self)
                    self._taken.append(number)

    def _give_back(self) -> None:
        while self._taken:
            signal.signal(self._taken.pop(), signal.SIG_DFL)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note a signal; the second takes effect."""
        if self.number is not None:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self.number = number

    def __exit__(self, *_: object) -> None:
        self._give_back()
        if self.number is not None:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):  # its reader may be gone
                    stream.flush()
            os.kill(os.getpid(), self.number)


class Stopping:
    """Watches for every reason to end a run, and records the first one.

    In the main thread the first Ctrl-C only asks the run to end. A second one raises
    KeyboardInterrupt: at once within a function of the caller, otherwise after cleanup, so that it
    never interrupts the start of a process or the writing of a file. A third one raises it
    immediately. SIGTERM and SIGHUP, unless the program handles them, ask the run to end and take
    effect after cleanup; a second one takes effect at once. A closed pipe is an error of the run
    that writes to it, never the end of the program.

    Parameters
    ----------
    stop : threading.Event or callable, optional
        Ends the run once it is set, or returns True.
    limit_s : float
        Time limit of the run. [s]
    clock : Clock
        The clocks of the run.

    Attributes
    ----------
    reason : str
        Why the run ends; empty while it continues.
    gaps : list of tuple of float
        Start, relative to the start of the run, and length of each suspension: the process was
        stopped, or the machine slept. [s]
    """

    def __init__(self, stop: Stop | None, *, limit_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        if stop is None:
            self._asked: Callable[[], bool] = bool
        elif callable(is_set := getattr(stop, "is_set", stop)):
            self._asked = is_set
        else:
            raise ArgumentTypeError("not-an-event", "stop", type(stop).__name__)
        self.clock = clock
        self._limit_s = limit_s
        self._end_ns = clock.now_ns() + int(limit_s * 1e9)
        self._handlers: dict[int, Any] = {}
        self._interrupt_count = 0
        self._with_caller = False
        self._terminated: int | None = None
        self._watched: list[Callable[[], object]] = []
        self._watch_due_s = 0.0
        self.reason = ""
        self.gaps: list[tuple[float, float]] = []
        self._start_s = self._seen_s = clock.since_boot_s()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                handler = signal.getsignal(number)
                if (
                    handler is signal.SIG_DFL
                    or isinstance(handler, Deferral)
                    or (number == signal.SIGINT and callable(handler))
                ):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
                if isinstance(handler, Deferral) and handler.number is not None:
                    self.end(handler.name)  # it came before the run
            if signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL:
                self._handlers[signal.SIGPIPE] = signal.SIG_DFL
                signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
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
                self._handlers.pop(number)
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
            self._terminated = number
            self.end(signal.Signals(number).name)
            return
        self._interrupt_count += 1
        if self._interrupt_count > (1 if self._with_caller else 2):
            handler = self._handlers[number]
            self._interrupt_count = 1  # this one is handled
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
        """Raise :class:`Ended` if there is a reason to end; record a suspension.

        What the run depends on is asked at most every :data:`SLICE_S`, and raises its own error.
        """
        self._note_gap()
        if self._watched and self._seen_s >= self._watch_due_s:
            self._watch_due_s = self._seen_s + SLICE_S
            for require in self._watched:
                require()
        if not self.reason:
            if self._asks():
                self.end("stop")
            elif self.clock.now_ns() > self._end_ns:
                self.end(f"limit of {self._limit_s:g} s")
        if self.reason:
            raise Ended(self.reason)

    @property
    def watches(self) -> bool:
        """Whether the run depends on something that is watched."""
        return bool(self._watched)

    @contextmanager
    def watching(self, require: Callable[[], object]) -> Iterator[None]:
        """Call ``require`` at the checks within; it raises if what the run depends on is gone."""
        self._watched.append(require)
        try:
            yield
        finally:
            self._watched.remove(require)

    def _note_gap(self) -> None:
        now_s = self.clock.since_boot_s()
        if now_s - self._seen_s > GAP_S and len(self.gaps) < MAX_GAPS:
            self.gaps.append((self._seen_s - self._start_s, now_s - self._seen_s))
        self._seen_s = now_s

    def resume(self) -> None:
        """Mark the time since the last check as work of the run, not a suspension."""
        self._seen_s = self.clock.since_boot_s()

    @contextmanager
    def caller(self) -> Iterator[None]:
        """Mark that a function of the caller runs, whose time is not a suspension."""
        self._note_gap()  # record one that has just ended
        self._with_caller = True
        try:
            yield
        finally:
            self._with_caller = False
            self.resume()

    def sleep(self, duration_s: float) -> float:
        """Sleep, checking for a reason to end; return how late it woke. [s]"""
        wake_ns = self.clock.now_ns() + int(duration_s * 1e9)
        while (left_s := (wake_ns - self.clock.now_ns()) * 1e-9) > 0:
            self.check()
            self.clock.sleep(min(left_s, SLICE_S))
        return -left_s

    def _asks(self) -> bool:
        """Ask the caller; a second Ctrl-C interrupts a function that hangs."""
        self._with_caller = True
        try:
            return self._asked()
        finally:
            self._with_caller = False
