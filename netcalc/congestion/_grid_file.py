"""Results of a grid as JSON lines: what was asked for, then each result as soon as it is there.

Every line is complete or cut off when the file is opened again; a line that is complete is never
changed. A line of kind ``session`` has what repeats the whole: the scenario, what was varied, the
versions and the machine.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from netcalc.congestion.grid import key_of
from netcalc.errors import NetcalcError, ReaderError
from netcalc.samples import MAX_FILE_BYTES, json_ready

START = b'{"kind": "session"'
"""Each file begins so."""
KINDS = ("session", "result", "error")

Row = Mapping[str, Any]


class GridFile:
    """A file of results that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        A file of results, or a new one.

    Attributes
    ----------
    finished : set of str
        Keys of the results that it has.

    Raises
    ------
    ReaderError
        If it is another file, or is damaged.
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o666)
        try:
            _lock(self._handle, path)
            rows, self._size = _complete_rows(path)
            os.ftruncate(self._handle, self._size)  # a line that a killed program left
        except BaseException:
            self.close()
            raise
        self.finished = {row["key"] for row in rows if row["kind"] == "result"}

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows, all or none of them.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        lines = [json.dumps(json_ready(row), ensure_ascii=True) + "\n" for row in rows]
        data = memoryview("".join(lines).encode())
        size = self._size
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
            self._size = os.fstat(self._handle).st_size
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        finally:
            if self._size == size:  # not written, or interrupted
                with contextlib.suppress(OSError):
                    os.ftruncate(self._handle, size)

    def close(self) -> None:
        """Close the file; what was added stays."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return all complete lines of a file of results.

    Raises
    ------
    ReaderError
        If it is another file, or is damaged.
    OSError
        If there is no such file.
    """
    return _complete_rows(path)[0]


def _complete_rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the complete lines, and how many bytes they are."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ReaderError("grid-file-too-long", file=str(path), limit=MAX_FILE_BYTES)
    data = path.read_bytes()
    if data[: len(START)] != START[: len(data)]:
        raise ReaderError("grid-file-other", file=str(path))
    size = data.rfind(b"\n") + 1
    lines = data[:size].splitlines()
    return [_row(line, number, path) for number, line in enumerate(lines, 1)], size


def _row(line: bytes, number: int, path: Path) -> dict[str, Any]:
    """Return one line; its key must be that of its scenario."""
    try:
        row = json.loads(line)
        sound = row["kind"] in KINDS
        if sound and row["kind"] != "session":
            sound = row["key"] == key_of(row["scenario"], row["by"], row["stack"])
            sound &= isinstance(row["values"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise ReaderError("grid-line-damaged", file=str(path), line=number)
    found: dict[str, Any] = row
    return found


def _lock(handle: int, path: Path) -> None:
    """Keep other processes away for as long as the file is open."""
    try:
        import fcntl
    except ImportError:  # no such system
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NetcalcError("grid-file-busy", file=str(path)) from None
    except OSError:  # a file system without locks
        return
