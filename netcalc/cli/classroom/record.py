"""What is kept of a class, so that a new start goes on with it after it was killed.

A folder of the user's state for each class, with the record of its code, key, port, options, the
secret of its cookies and its roll, and with what students have answered. It goes with a class that
has ended; after a class that was killed it stays until a new start takes it over, or for a week.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netcalc.cli.serving import LOCKS, is_private, lock, open_lock, write_private

_FORMAT = 1
FIELDS = ("code", "teacher_key", "cookie_secret", "options", "folder", "roll")
"""Of a record."""
_NAME = "class.json"
_KEPT_S = 7 * 86400.0
"""How long the record of a class that was killed is kept. [s]"""
_ENDING_S, _PAUSE_S = 25.0, 0.1
"""How long the server of a command that was killed may take to end. [s]"""


class Record:
    """The folder of one class.

    Attributes
    ----------
    folder : pathlib.Path
        Where it is; ``answers`` in it holds a file for each student.
    known : dict
        What was written last; empty for a new class.
    is_needed : bool
        Whether the folder stays when this command ends.
    can_stay : bool
        Whether it may: not where this user has no home.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.answers = folder, folder / "answers"
        self.known: dict[str, Any] = {}
        self.is_needed, self.can_stay = False, True

    def write(self, known: dict[str, Any]) -> None:
        """Write the record whole or not at all, for this user alone."""
        self.known = {"format": _FORMAT, **known}
        write_private(self.folder / _NAME, self.known)

    def read(self) -> None:
        """Read the record, if there is one that can be trusted."""
        file = self.folder / _NAME
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            known = json.loads(file.read_text(encoding="utf-8")) if is_private(file) else {}
            is_ours = known["format"] == _FORMAT and known.keys() > set(FIELDS)
            self.known = known if is_ours and "port" in known["options"] else {}

    @property
    def written_s(self) -> float:
        """When the record, or else its folder, was written last, since 1970. [s]"""
        for path in (self.folder / _NAME, self.folder):
            with contextlib.suppress(OSError):
                return path.stat().st_mtime
        return 0.0


def place() -> Path:
    """Return the folder of all records.

    Raises
    ------
    OSError
        If this user has no home, or one that kernels do not see.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        home = state if state.is_absolute() else Path.home() / ".local/state"
    except RuntimeError as error:
        raise FileNotFoundError(errno.ENOENT, str(error)) from error
    if home.resolve().is_relative_to("/run"):
        raise FileNotFoundError(errno.ENOENT, "kernels do not see /run", str(home))
    return home / "netcalc/classes"


@contextlib.contextmanager
def new(among: Path) -> Iterator[tuple[Record, int]]:
    """Make the folder of a new class, and hold its locks; yields the one for its server, too."""
    among.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = Record(among / secrets.token_hex(8))
    record.folder.mkdir(mode=0o700)
    record.answers.mkdir(mode=0o700)
    with _locks(record.folder) as locks, _kept_if_needed(record):
        if not locks:
            raise OSError(errno.EIO, "its locks cannot be made", str(record.folder))
        if not all(map(_is_locked_soon, locks)):  # another start may hold it for an instant
            raise OSError(errno.EAGAIN, "its locks are held", str(record.folder))
        yield record, locks[1]


@contextlib.contextmanager
def killed(among: Path, port: int | None) -> Iterator[tuple[Record, int] | None]:
    """Take over the last class that was killed, at a port if one was there; None without one.

    Where the lock of the command is free and that of the server is not, the command was killed and
    the server is ending. If it does not end, its class is left alone.
    """
    known = [record for record in _all(among) if record.known]
    known.sort(key=lambda record: record.known["options"]["port"] != port)  # that of the port first
    for record in known:
        with _locks(record.folder) as locks:
            if not locks or not lock(locks[0]):
                continue  # it runs
            if not _is_locked_soon(servers := locks[1]):
                continue
            record.read()  # the server has written what it had not
            record.is_needed = True
            record.answers.mkdir(mode=0o700, exist_ok=True)
            with _kept_if_needed(record):
                yield record, servers
            return
    yield None


def count_killed(among: Path) -> int:
    """Return how many classes were killed; what is left of older ones is removed."""
    count = 0
    for record in _all(among):
        with _locks(record.folder) as locks:
            if not locks or not all(map(lock, locks)):
                continue
            if time.time() - record.written_s > _KEPT_S:
                for folder in filter(None, (record.known.get("folder"), record.folder)):
                    shutil.rmtree(folder, ignore_errors=True)
            else:
                count += bool(record.known)
    return count


def _all(among: Path) -> list[Record]:
    """Return the records, the last one first; what cannot be read is known to be nothing."""
    records = []
    with contextlib.suppress(OSError):
        records = [Record(folder) for folder in among.iterdir() if folder.is_dir()]
    for record in records:
        record.read()
    return sorted(records, key=lambda record: -record.written_s)


@contextlib.contextmanager
def _kept_if_needed(record: Record) -> Iterator[None]:
    try:
        yield
    finally:
        if not record.is_needed:
            shutil.rmtree(record.folder, ignore_errors=True)


def _is_locked_soon(descriptor: int) -> bool:
    until_s = time.monotonic() + _ENDING_S
    while not lock(descriptor):
        if time.monotonic() > until_s:
            return False
        time.sleep(_PAUSE_S)
    return True


@contextlib.contextmanager
def _locks(folder: Path) -> Iterator[list[int]]:
    """Open the locks of a class; none of one that has just ended, or is somebody else's."""
    with contextlib.ExitStack() as closing:
        opened: list[int] = []
        with contextlib.suppress(OSError):
            opened = [open_lock(folder / name, closing) for name in LOCKS]
        yield opened
