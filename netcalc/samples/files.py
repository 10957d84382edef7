"""Files of samples on a disk: complete or absent, or JSON lines by one process at a time."""

from __future__ import annotations

import errno
import glob
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from netcalc.checks import named_arguments
from netcalc.errors import NetcalcError

_PART = ".netcalc-"

_NAME_CHARS = 50  # of the name in that of the part, which may not be longer than 255 bytes


@named_arguments
def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is complete or absent; a symbolic link stays and its target is written.

    Raises
    ------
    OSError
        With the name of the file: the disk is full, or the path is a device or a pipe.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    try:
        _write_and_move(target, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write_and_move(path: Path, data: bytes) -> None:
    _remove_leftovers(path)
    handle, temporary = _own_part(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _own_part(path: Path) -> tuple[int, Path]:
    """Open a new file beside another one, locked so that no process takes it for a leftover."""
    prefix = path.name[:_NAME_CHARS] + _PART
    for _ in range(3):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".part")
        _lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)  # another process removed it before it was locked
    return handle, Path(name)


def _remove_leftovers(path: Path) -> None:
    """Remove the parts that killed programs left beside a file: no process holds their lock."""
    for left in path.parent.glob(glob.escape(path.name[:_NAME_CHARS]) + _PART + "*.part"):
        with suppress(OSError), left.open("rb") as stream:
            if _lock(stream.fileno(), wait=False):
                left.unlink()


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file for as long as it is open; False if another program has, or none can here."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def json_ready(value: Any) -> Any:
    """Turn arrays, mappings and numbers into JSON values; nan is null, inf is text."""
    if isinstance(value, np.ndarray) and value.ndim:
        return [json_ready(item) for item in value.tolist()]
    if isinstance(value, np.ndarray):
        return json_ready(value.item())
    if isinstance(value, np.generic):
        return json_ready(value.item())
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def from_json(column: list[Any]) -> list[Any]:
    """Undo :func:`json_ready` for a column: null is nan among numbers, "inf" is inf."""
    if any(isinstance(item, str) and item not in ("inf", "-inf") for item in column):
        return column
    return [math.nan if item is None else float(item) if isinstance(item, str) else item
            for item in column]  # fmt: skip


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
            _lock_lines(self._handle, path, busy)
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


def _lock_lines(handle: int, path: Path, busy: str) -> None:
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
