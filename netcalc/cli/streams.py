"""The standard streams of a command: closed ones, and an input that says nothing."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from typing import BinaryIO

from netcalc.cli.mistakes import CommandError

SILENT_S = 1.0
"""How long an input may say nothing until the command says that it waits. [s]"""
_closed: set[str] = set()


def open_closed() -> None:
    """Give a standard stream that is closed to the null device; output then is an error."""
    _closed.clear()
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            _closed.add(name)
            if name == "stdout":  # not open for writing: what is written is refused, not lost
                stream = os.fdopen(os.open(os.devnull, os.O_RDONLY), mode)
            else:
                stream = open(os.devnull, mode)  # noqa: PTH123, SIM115 - to the end
            setattr(sys, name, stream)


def output_is_closed() -> bool:
    """Whether the command was started without a standard output."""
    return "stdout" in _closed


def drop_output() -> None:
    """Give what is left of the output to the null device: Python would fail on it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def standard_input() -> BinaryIO:
    """Return the standard input; say on standard error that the command waits for it.

    Raises
    ------
    CommandError
        If it is closed.
    """
    from netcalc.cli import complain  # late: that module starts this one
    from netcalc.messages import Notice

    if "stdin" in _closed:
        raise CommandError("input-closed")
    if sys.stdin.isatty():
        complain(str(Notice("waiting-for-text")))
    elif _is_silent():
        complain(str(Notice("waiting-for-input")))
    return sys.stdin.buffer


def _is_silent() -> bool:
    """Whether nothing came within a moment; False where the system cannot say."""
    with contextlib.suppress(OSError, ValueError):  # no descriptor; on Windows, no socket
        return not select.select([sys.stdin.fileno()], [], [], SILENT_S)[0]
    return False


def names_of_file(name: str) -> set[str]:
    """Return what a file may be called in an error: as typed, in full, and its parts."""
    from pathlib import Path  # late: it takes 2 ms to load

    path = Path(name)
    names = {name, str(path), str(path.absolute()), *path.parts, path.stem}
    return {text for text in names if text.strip("./\\-")}
