"""Run the lines of a ``console`` block: ``netcalc`` in this process, as if they were typed."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from netcalc.cli import main

COLUMNS = "100"
"""Width of the terminal in the pages."""
MARK = "$ "


class _Terminal(io.StringIO):
    """An output that takes what the command sets on its own."""

    def reconfigure(self, **_: object) -> None:
        """Take every setting."""


def typed(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a block with the output below it; a backslash continues a line."""
    command, said, open_ended = "", [], False
    for line in block.splitlines():
        if line.startswith(MARK) and not open_ended:
            if command:
                yield command, "\n".join(said).rstrip()
            command, said = line.removeprefix(MARK), []
        elif open_ended:
            command += "\n" + line
        else:
            said.append(line.rstrip())
        open_ended = not said and command.endswith("\\")
    if command:
        yield command, "\n".join(said).rstrip()


def answer(command: str) -> str:
    """Return what a line prints: ``netcalc`` with words, and ``> FILE`` at most."""
    words = shlex.split(command.replace("\\\n", ""), comments=True)
    if words[0] != "netcalc":
        raise ValueError(command)
    target = Path(words.pop()) if words[-2] == ">" else None
    if target is not None:
        words.pop()
    output = _Terminal()
    with (
        patch.dict(os.environ, COLUMNS=COLUMNS),
        patch.object(sys, "stderr", output),
        contextlib.redirect_stdout(output),
        contextlib.suppress(SystemExit),
    ):
        main(words[1:])
    if target is not None:
        target.write_text(output.getvalue(), encoding="utf-8")
        return ""
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()).rstrip()
