"""Saved samples on a disk: complete or absent, and numbers as JSON writes them."""

from __future__ import annotations

import errno
import glob
import math
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.checks import named_arguments

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
