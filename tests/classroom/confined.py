"""A kernel's process behind its walls, that prints what it could do all the same.

Run as kernels are, in the folder of a class: ``-m confined OWN_FOLDER TURNS``. What to try comes
from the standard input as JSON: names of files to read, of files to write, of sockets.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from netcalc.cli.classroom import confinement


def _tried(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _connect(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as ours:
        ours.connect(path)


def main() -> None:
    """Confine this process, and try."""
    own, turns = sys.argv[1:]
    asked = json.load(sys.stdin)
    walls = confinement.look_for_walls()
    if walls.processes:
        confinement.become_first_process()
        child = confinement.fork_into_own_processes()
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    confinement.confine(walls, read=[], write=[own, turns], own=own)
    done = {
        "walls": asdict(walls),
        "read": [
            path
            for path in asked["read"]
            if _tried(lambda path=path: os.close(os.open(path, os.O_RDONLY)))
        ],
        "written": [
            path
            for path in asked["write"]
            if _tried(lambda path=path: Path(path).write_bytes(b"here"))
        ],
        "connected": [
            path for path in asked["connect"] if _tried(lambda path=path: _connect(path))
        ],
        "processes": resource.getrlimit(resource.RLIMIT_NPROC)[0],
    }
    print(json.dumps(done))


if __name__ == "__main__":
    main()
