"""JSON lines on a disk: each complete or absent, written by one process at a time."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from netcalc.checks import named_arguments
from netcalc.errors import NetcalcError
from netcalc.samples._files import json_ready


@named_arguments
def json_line(row: Mapping[str, Any]) -> bytes:
    """Return a row as a line of JSON, its end included."""
    return (json.dumps(json_ready(row), ensure_ascii=True) + "\n").encode()


class LineFile:
    """A file of JSON lines that is open for more, by one process at a time.

    Parameters
    ----------
    path : Path
        The file; it is made if it is not there.
    busy : str
        Code of the error if another process has it open.

    Raises
    ------
    NetcalcError
        If another process writes to it.
    OSError
        If it cannot be written, or is a folder, a device or a pipe.
    """

    def __init__(self, path: Path, *, busy: str) -> None:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o666)
        try:
            _lock(self._handle, path, busy)
        except BaseException:
            self.close()
            raise

    def append(self, rows: Iterable[Mapping[str, Any]], *, sync: bool = False) -> None:
        """Append rows, all or none of them; with ``sync`` they are on the disk afterwards.

        Raises
        ------
        OSError
            With the name of the file: the disk is full.
        """
        data = memoryview(b"".join(map(json_line, rows)))
        size, complete = os.fstat(self._handle).st_size, False
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            if sync:
                os.fsync(self._handle)
            complete = True
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        finally:
            if not complete:  # not written, or interrupted
                with suppress(OSError):
                    self.cut(size)

    def cut(self, size_bytes: int) -> None:
        """Cut the file off: a line that a killed program left."""
        os.ftruncate(self._handle, size_bytes)

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


def _lock(handle: int, path: Path, busy: str) -> None:
    """Keep other processes away for as long as the file is open."""
    try:
        import fcntl
    except ImportError:  # no such system
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NetcalcError(busy, file=str(path)) from None
    except OSError:  # a file system without locks
        return
