"""Why a run ends before its time: asked to, interrupted, told to terminate, or too long."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Protocol, Self

SLICE_S = 0.1
"""A run looks at least this often whether it should end. [s]"""


class EventLike(Protocol):
    """What a :class:`threading.Event` offers."""

    def is_set(self) -> bool:
        """Return True once it was set."""


Stop = EventLike | Callable[[], bool]


class Ended(Exception):  # noqa: N818 - no error
    """The run was asked to end; what it measured is kept."""


class Stopping:
    """Watches for every reason to end a run, and keeps the first one.

    In the main thread the first Ctrl-C only asks the run to end, and the second one raises
    KeyboardInterrupt at once. SIGTERM and SIGHUP, where nobody handles them, ask the run to end and
    take their effect when it has cleaned up.
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
        self._terminated: int | None = None
        self.reason = ""

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                handler = signal.getsignal(number)
                if handler is signal.SIG_DFL or (number == signal.SIGINT and callable(handler)):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for number in tuple(self._handlers):
            self._restore(number)
        if self._terminated is not None:
            os.kill(os.getpid(), self._terminated)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._restore(number)
        self.end("interrupt" if number == signal.SIGINT else signal.Signals(number).name)
        if number != signal.SIGINT:
            self._terminated = number

    def _restore(self, number: int) -> None:
        signal.signal(number, self._handlers.pop(number))

    def end(self, reason: str) -> None:
        """Ask the run to end; the first reason counts."""
        self.reason = self.reason or reason

    def check(self) -> None:
        """Raise :class:`Ended` if there is a reason to end."""
        if not self.reason:
            if self._asked():
                self.end("stop")
            elif time.monotonic() > self._end_s:
                self.end(f"limit of {self._limit_s:g} s")
        if self.reason:
            raise Ended(self.reason)

    def sleep(self, duration_s: float) -> float:
        """Sleep, looking for a reason to end; return how much too late it woke. [s]"""
        wake_s = time.perf_counter() + duration_s
        while (left_s := wake_s - time.perf_counter()) > 0:
            self.check()
            time.sleep(min(left_s, SLICE_S))
        return -left_s
