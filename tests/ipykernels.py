"""Kernels of lessons that begin as copies of one process, which has imported what all of them need.

IPython, Bokeh, ipywidgets, NumPy and SciPy take most of a kernel's first seconds, and the tests
start some forty kernels. One process imports these, and nothing of netcalc; each kernel is a fork
of it, with the environment, the folder and the arguments that its front end gives. From there on it
is IPython's own kernel: it reads its connection file, and imports netcalc, as any other one.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

WHERE = "NETCALC_IPYKERNELS"
"""The environment variable with the socket's name of the process that is copied."""
ARGUMENTS = ["-m", "ipykernel_launcher"]
NEEDED = (
    "IPython.core.completer", "anywidget", "bokeh.embed", "bokeh.layouts", "bokeh.models",
    "bokeh.plotting", "ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell",
    "ipywidgets", "numpy.testing", "scipy.special",
)  # fmt: skip


class Kernel:
    """A kernel that was copied: what Jupyter asks of a ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return None while it runs; why it has ended only its parent knows."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        found = self._look(timeout)
        if found is None:
            raise subprocess.TimeoutExpired("ipykernel", timeout or 0)
        return found

    def send_signal(self, number: int) -> None:
        """Send a signal to it, unless it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._ended, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            self.returncode = 0
            os.close(self._ended)
        return self.returncode


def use() -> None:
    """Let Jupyter copy kernels in this process, if the environment says where."""
    name = os.environ.get(WHERE)
    if not name:
        return
    from jupyter_client.provisioning import local_provisioner

    launch = local_provisioner.launch_kernel

    def copied(cmd, stdout=None, stderr=None, env=None, cwd=None, **kwargs):
        if cmd[1:3] != ARGUMENTS:
            return launch(cmd, stdout=stdout, stderr=stderr, env=env, cwd=cwd, **kwargs)
        given = {"argv": cmd[2:], "env": {**(env or os.environ)}, "cwd": str(cwd or Path.cwd())}
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked,
            Path(os.devnull).open("r+b") as nothing,
        ):
            asked.connect(f"\0{name}")
            streams = [nothing.fileno()]
            for stream, own in ((stdout, 1), (stderr, 2)):
                chosen = {None: own, subprocess.DEVNULL: nothing.fileno()}.get(stream, stream)
                streams.append(chosen if isinstance(chosen, int) else chosen.fileno())
            socket.send_fds(asked, [json.dumps(given).encode()], streams)
            return Kernel(int(asked.recv(100)))

    local_provisioner.launch_kernel = copied


def start() -> Callable[[], None]:
    """Start the process that is copied; return what ends it. It also ends with this one."""
    name = f"netcalc-ipykernels-{os.getpid()}"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"\0{name}")  # an address without a file
    listening.listen(64)  # who asks before all is imported waits
    with listening:
        number = listening.fileno()
        process = subprocess.Popen(
            [sys.executable, __file__, str(number), str(os.getpid())],
            pass_fds=[number], stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    os.environ[WHERE] = name

    def end() -> None:
        os.environ.pop(WHERE, None)
        process.kill()
        process.wait()

    return end


def serve(listening: socket.socket) -> None:
    """Import what kernels need; then become one whenever asked."""
    import gc
    from importlib import import_module

    # ipykernel looks for its parent when it is imported; a kernel ends with it.
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    for name in NEEDED:
        import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a kernel here
    while True:
        asked = listening.accept()[0]
        message, streams, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        given = json.loads(message)
        if not os.fork():
            listening.close()
            os.setsid()  # before it is known: who interrupts a kernel does so to its group
            with asked:
                asked.send(str(os.getpid()).encode())
            become(given, streams)
            return
        asked.close()
        for stream in streams:
            os.close(stream)


def become(given: dict, streams: list[int]) -> None:
    """Take over what a new process would have been given."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.environ.clear()
    os.environ.update(given["env"])
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    os.chdir(given["cwd"])
    sys.argv = given["argv"]
    added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = ["", *(folder for folder in added if folder and folder not in sys.path)]


if __name__ == "__main__":
    import ctypes
    import runpy

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != int(sys.argv[2]):
        sys.exit("the tests have ended")
    sys.path.pop(0)
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
