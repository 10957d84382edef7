"""The process that all kernels of a class are copies of.

IPython, Bokeh, ipywidgets and netcalc take most of a kernel's first seconds and most of its memory.
One process imports them; a kernel is a fork of it, confined, with the memory in common until one of
the two changes it. From there on it is IPython's own kernel.

The server speaks with this process over a socket that it was born with: it has no address that
another process could connect to, and kernels do not keep it.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from netcalc.cli.classroom import confinement
from netcalc.cli.classroom.confinement import Walls

NEEDED = (
    "IPython.core.completer", "anywidget", "bokeh.embed", "bokeh.layouts", "bokeh.models",
    "bokeh.plotting", "ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell",
    "ipywidgets", "numpy.testing", "scipy.special",
)  # fmt: skip
"""What every lesson loads, beside its own module of netcalc."""
_WRITER = "page"
"""The module that writes lessons as files: no lesson loads it, and it takes seconds."""
_FIRST_CELL = "import ipywidgets; ipywidgets.register_comm_target(); del ipywidgets"
"""ipywidgets registers when it is imported, and there was no kernel then."""


def serve(control: socket.socket, walls: Walls) -> dict[str, Any]:
    """Answer the server's requests; return, in a child, what it was asked to become."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 2)
        if not message:
            sys.exit()
        try:
            child = confinement.fork_into_own_processes() if walls.processes else os.fork()
        except OSError as error:
            control.send(json.dumps({"error": str(error)}).encode())
            continue
        if child == 0:
            control.close()
            for place, descriptor in enumerate(descriptors, start=1):
                os.dup2(descriptor, place)
                os.close(descriptor)
            request: dict[str, Any] = json.loads(message)
            return request
        ended = os.pidfd_open(child)
        socket.send_fds(control, [b"{}"], [ended])
        for descriptor in (ended, *descriptors):
            os.close(descriptor)
        _reap()


def become(request: dict[str, Any], walls: Walls) -> None:
    """Take over what a new process would have been given, behind its walls."""
    confinement.end_with_parent()
    os.setsid()
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    confinement.limit(memory_bytes=request["memory_bytes"], processor_s=request["processor_s"])
    confinement.confine(walls, read=request["read"], write=request["write"], own=request["own"])
    confinement.end_with_parent()  # again: a change of rights clears the first
    sys.argv = [*request["argv"], f"--IPKernelApp.exec_lines={_FIRST_CELL}"]


def _reap() -> None:
    """Forget the kernels that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def main() -> None:
    """Import, say which walls there are, and serve until the server ends."""
    confinement.end_with_parent()
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    walls = confinement.look_for_walls()
    if walls.processes:
        confinement.become_first_process()
    lessons = Path(__file__).parents[2] / "lessons"
    for name in NEEDED:
        import_module(name)
    for path in sorted(lessons.glob("*.py")):
        if path.stem != _WRITER:
            import_module(f"netcalc.lessons.{path.stem}")
    gc.collect()
    gc.freeze()
    control.send(json.dumps(asdict(walls)).encode())
    request = serve(control, walls)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    become(request, walls)


if __name__ == "__main__":
    main()
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
