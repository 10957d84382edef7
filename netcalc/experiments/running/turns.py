"""One live run at a time on a machine that several people measure on; the others wait in turn.

Two runs at once disturb each other's times. Where the environment names a folder in
``NETCALC_TURNS``, a run waits there for those before it: each of them is a file, locked as long as
its process lives, so that nobody waits for one that has crashed. Without the variable no run waits.
"""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from netcalc.experiments.running.stopping import EventLike

with suppress(ImportError):  # systems that have none import this module, too
    import fcntl

FOLDER, OWNER = "NETCALC_TURNS", "NETCALC_TURNS_OWNER"
"""Environment variables: the folder, and who waits, for those who look at it."""
TYPICAL_S = 10.0
"""Assumed duration of a run that has not reported progress: most runs of the lessons. [s]"""
_STEP_S = 0.2
_TOLD_S = 0.5
_LOCK = "running"
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
        self._path = folder / f"{name}.turn"
        self._owner = os.environ.get(OWNER, "")
        made = folder / f".{name}"  # nobody takes it for a crashed one before it is locked
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
        with _opened_lock(Path(place) / _LOCK) as lock:
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
    for path in sorted(folder.glob("[0-9]*.turn")):
        with suppress(OSError), _opened(path) as file:
            if _locked(file):  # its process has ended
                path.unlink(missing_ok=True)
                continue
            place = _told(os.read(file, _MOST_BYTES))
            if place is not None:
                places.append((path, place))
    return places


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
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # enough to lock it
    except FileNotFoundError:
        lock = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
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
