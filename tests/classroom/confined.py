"""A kernel's process behind its walls, that prints what it could do all the same.

Run as kernels are, in the folder of a class: ``-m confined OWN_FOLDER TURNS``. What to try comes
from the standard input as JSON: names of files to read, of files to write, of sockets, of links to
make, and folders to fill. Another kernel's turn is at ``TURNS/other``, its own at ``TURNS/own``.
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


def _fill(folder: str) -> dict[str, int]:
    """Write until it is refused: one file after the other, then small ones; return what fitted."""
    number = filled = 0
    refused = []
    for size in (1 << 20, 1):
        while True:
            path = Path(folder, f"f{number}")
            try:
                path.write_bytes(bytes(size))
            except OSError as error:
                refused.append(error.errno)
                break
            number, filled = number + 1, filled + size
            if filled > 1 << 30 or number > 100_000:
                break
        for one in Path(folder).glob("f*") if size > 1 else ():
            one.unlink()
    return {"bytes": filled, "files": number, "refused": refused}


def main() -> None:
    """Confine this process, and try."""
    own, turns = sys.argv[1:]
    asked = json.load(sys.stdin)
    walls = confinement.look_for_walls()
    begun, ended = socket.socketpair()
    if walls.processes:
        confinement.become_first_process()
    confinement.begin_turns(turns, walls)
    confinement.begin_turn(f"{turns}/own", walls)
    if walls.processes:
        child = confinement.fork_into_own_processes()
        if child:
            begun.recv(1)  # as that of a kernel that starts later
            other = Path(turns, "other")
            confinement.begin_turn(str(other), walls)
            (other / "1.turn").write_text("other")
            begun.send(b"x")
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    files = {"kernel.json": "{}"}
    confinement.confine(
        walls, read=[], own=own, turn=f"{turns}/own", answers=f"{own}/answers", files=files
    )
    here = socket.socket(socket.AF_UNIX)
    if walls.processes:
        ended.send(b"x")
        ended.recv(1)
        if asked["connect"]:  # as a kernel does in a folder that is new
            here.bind(f"{own}/s-1")
            here.listen()
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
        "linked": [
            path for path in asked["link"] if _tried(lambda path=path: Path(path).symlink_to("/"))
        ],
        "made": [path for path in asked["make"] if _tried(lambda path=path: Path(path).mkdir())],
        "filled": {folder: _fill(folder) for folder in asked["fill"]},
        "processes": resource.getrlimit(resource.RLIMIT_NPROC)[0],
    }
    print(json.dumps(done))


if __name__ == "__main__":
    main()
