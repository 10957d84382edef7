"""Programs at the ends of an emulated path: started there, and killed when it closes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path as File
from typing import Any

_ENTER = File(__file__).absolute().with_name("enter.py")
NOT_STARTED = 127
"""Exit code of a program that could not be started, as that of a shell."""


class Programs:
    """The programs at the ends of one path.

    Parameters
    ----------
    namespaces : sequence of int
        Descriptors of the network namespaces of all ends.
    user : int
        Descriptor of their user namespace; -1 where they have none of their own.
    """

    def __init__(self, namespaces: Sequence[int], user: int) -> None:
        self._namespaces, self._user = namespaces, user
        self._processes: list[subprocess.Popen[Any]] = []

    def start(self, command: Sequence[str], side: int, **options: Any) -> subprocess.Popen[Any]:
        """Start a program at one end; options of :class:`subprocess.Popen`."""
        entered = [self._user, self._namespaces[side]]
        environment = {**os.environ, **(options.pop("env", None) or {})}
        passed = [d for d in (*entered, *options.pop("pass_fds", ())) if d >= 0]
        enter = [sys.executable, "-I", "-S", str(_ENTER), *map(str, [*entered, os.getpid()])]
        process = subprocess.Popen(
            [*enter, *map(os.fspath, command)],
            env=environment,
            pass_fds=passed,
            start_new_session=True,
            **options,
        )
        self._processes = [p for p in self._processes if p.poll() is None] + [process]
        return process

    def end(self) -> None:
        """Kill what still runs, and close the pipes to it."""
        for process in self._processes:
            if process.poll() is None:
                with suppress(OSError):
                    process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
        self._processes = []
