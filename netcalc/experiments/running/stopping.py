"""When a run may begin and why it ends early; the clocks of a run.

It ends at a stop, an interrupt, a signal, or its time limit. On a machine that several people
measure on, one run at a time may begin, because two at once disturb each other's times. Where the
environment names a folder in ``NETCALC_TURNS``, a run waits there for those before it: each of them
is a file, locked as long as its process lives, so that nobody waits for a run that has crashed.
Where the folder has one of the owner's name, in ``NETCALC_TURNS_OWNER``, the file is in that.
Without the variable no run waits.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, Self, TypeVar

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


TERMINATING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a run; Windows has no SIGHUP."""
Stop = EventLike | Callable[[], bool]
Awaited = TypeVar("Awaited")


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
            for number in TERMINATING:
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
    meanwhile : callable, optional
        Called at each check in the thread of the run, such as every :data:`SLICE_S` of a wait.
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
        self._thread = threading.get_ident()
        self.meanwhile: Callable[[], object] | None = None
        self._watch_due_s = 0.0
        self.reason = ""
        self.gaps: list[tuple[float, float]] = []
        self._start_s = self._seen_s = clock.since_boot_s()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *TERMINATING):
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
            pipe = getattr(signal, "SIGPIPE", None)  # Windows has none
            if pipe is not None and signal.getsignal(pipe) is signal.SIG_DFL:
                self._handlers[pipe] = signal.SIG_DFL
                signal.signal(pipe, signal.SIG_IGN)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        interrupted = self._handlers.get(signal.SIGINT)
        for number in tuple(self._handlers):
            signal.signal(number, self._handlers.pop(number))
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
        if self.meanwhile is not None and threading.get_ident() == self._thread:
            self.meanwhile()
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

    def wait_for(
        self,
        take: Callable[[], Awaited | None],
        rest: Callable[[float], object],
        limit_s: float,
        *,
        watch: bool = True,
        meanwhile: Callable[[], object] = bool,
    ) -> Awaited | None:
        """Call ``take`` until it returns something; None at the limit. [s]

        ``rest`` is called with the longest time to wait, ``meanwhile`` after each rest. Checks for
        a reason to end, unless told not to watch.
        """
        end_ns = self.clock.now_ns() + int(limit_s * 1e9)
        while (taken := take()) is None:
            if watch:
                self.check()
            if (left_s := (end_ns - self.clock.now_ns()) * 1e-9) <= 0:
                break
            rest(min(left_s, SLICE_S))
            meanwhile()
        return taken

    def _asks(self) -> bool:
        """Ask the caller; a second Ctrl-C interrupts a function that hangs."""
        self._with_caller = True
        try:
            return self._asked()
        finally:
            self._with_caller = False


with suppress(ImportError):  # systems that have none import this module, too
    import fcntl

FOLDER, OWNER = "NETCALC_TURNS", "NETCALC_TURNS_OWNER"
"""Environment variables: the folder, and who waits, for those who look at it."""
TYPICAL_S = 10.0
"""Assumed duration of a run that has not reported progress: most runs of the lessons. [s]"""
_STEP_S = 0.2
_TOLD_S = 0.5
LOCK = "running"
_TURN = re.compile(r"[0-9].*\.turn")
_MOST_BYTES = 1000
"""Bytes that are read of a file in the folder; the file of a turn has 200. [byte]"""
_numbers = count()


@dataclass(frozen=True, slots=True)
class Waiting:
    """Who waits or runs.

    Attributes
    ----------
    owner : str
        Name from the environment.
    is_running : bool
        Whether it has its turn.
    left_s : float
        How long its run will still take, as far as is known. [s]
    """

    owner: str
    is_running: bool
    left_s: float


class Turn:
    """A place among those who want to run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._began_s = self._told_s = 0.0
        name = f"{time.monotonic_ns():020d}-{os.getpid()}-{next(_numbers)}"
        self._owner = os.environ.get(OWNER, "")
        own = folder / self._owner
        own = own if own.is_dir() else folder
        self._path = own / f"{name}.turn"
        made = own / f".{name}"  # nobody takes it for a crashed one before it is locked
        self._file = made.open("w+", encoding="utf-8")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._write(TYPICAL_S, is_running=False)
        made.rename(self._path)

    def before(self) -> list[Waiting]:
        """Return those who are before this one."""
        return [place for path, place in _places(self._folder) if path.name < self._path.name]

    def begin(self) -> None:
        """Have the turn."""
        self._began_s = time.monotonic()
        self._write(TYPICAL_S, is_running=True)

    def advance(self, done: float, total: float) -> None:
        """Tell those who wait how long it will still take."""
        now_s = time.monotonic()
        if done > 0 and now_s - self._told_s > _TOLD_S:
            self._told_s = now_s
            left_s = (now_s - self._began_s) * max(total - done, 0) / done
            self._write(left_s, is_running=True)

    def leave(self) -> None:
        """Let the next one run."""
        self._path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, left_s: float, *, is_running: bool) -> None:
        text = json.dumps(
            {"owner": self._owner, "is_running": is_running, "end_s": time.monotonic() + left_s}
        )
        self._file.seek(0)
        self._file.write(text.ljust(200))
        self._file.flush()


@contextmanager
def turn(
    stop: EventLike, say: Callable[[int, float], object]
) -> Iterator[Callable[[float, float], object] | None]:
    """Wait for the turn of a run, and give it back at the end of this block.

    Parameters
    ----------
    stop : threading.Event
        Ends the waiting.
    say : callable
        Called with the number of those before, and their time. [1], [s]

    Yields
    ------
    callable
        To be called with the progress of the run: what is done, and the total. None after a stop:
        there is no turn.
    """
    place = os.environ.get(FOLDER)
    if not place:
        yield lambda done, total: None
        return
    own = Turn(Path(place))
    try:
        with _opened_lock(Path(place) / LOCK) as lock:
            while not stop.is_set():
                before = own.before()
                if not before and _locked(lock):
                    break
                say(max(len(before), 1), sum(waiter.left_s for waiter in before))
                time.sleep(_STEP_S)
            if stop.is_set():
                yield None
            else:
                own.begin()
                yield own.advance
    finally:
        own.leave()


def waiting(folder: Path) -> list[Waiting]:
    """Return those who run and wait, the first first."""
    return [place for _, place in _places(folder)]


def _places(folder: Path) -> list[tuple[Path, Waiting]]:
    places = []
    entries = _listed(folder)
    for own in entries[:]:
        if own.is_dir(follow_symlinks=False):
            entries += _listed(Path(own.path))
    turns = (entry for entry in entries if _TURN.fullmatch(entry.name))
    for path in (Path(turn.path) for turn in sorted(turns, key=lambda turn: turn.name)):
        with suppress(OSError), _opened(path) as file:
            if _locked(file):  # its process has ended
                path.unlink(missing_ok=True)
                continue
            place = _told(os.read(file, _MOST_BYTES))
            if place is not None:
                places.append((path, place))
    return places


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder; nothing of one that is gone, or somebody else's alone."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a file that anybody may have put there: no link, and nothing that waits for a writer."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(f"{path}: no regular file")
        yield file
    finally:
        os.close(file)


def _told(text: bytes) -> Waiting | None:
    """Return what a place tells; None if it is none."""
    try:
        told = json.loads(text)
        owner, is_running, end_s = told["owner"], told["is_running"], told["end_s"]
        fits = isinstance(owner, str) and isinstance(is_running, bool)
        left_s = max(float(end_s) - time.monotonic(), 0.0) if is_running else TYPICAL_S
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return Waiting(owner, is_running, left_s) if fits and math.isfinite(left_s) else None


@contextmanager
def _opened_lock(path: Path) -> Iterator[int]:
    """Open the file that the running one locks: on a server, the first account's."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)  # enough to lock it
    except FileNotFoundError:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CREAT | os.O_CLOEXEC
        lock = os.open(path, flags, 0o644)
    try:
        yield lock
    finally:
        os.close(lock)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
