"""Kernels of a class: each has an owner, a folder of its own, limits, and an end.

A watch looks at all of them every few seconds; it ends idle kernels and those that are too large.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from tornado.web import HTTPError

from netcalc.cli.classroom.confinement import Walls
from netcalc.experiments.running.stopping import FOLDER as TURNS_FOLDER
from netcalc.experiments.running.stopping import OWNER as TURNS_OWNER
from netcalc.lessons.answered import FILE as ANSWERS_FILE

_KEPT = (
    "PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "NETCALC_LANGUAGE", "TZ",
    "PYTHONPATH", "LD_LIBRARY_PATH",
)  # fmt: skip
"""Variables that a kernel gets of the server's: none of them holds a secret."""
CONNECTION, _SOCKETS = "kernel.json", "s"
"""In the folder of a kernel: what Jupyter tells it, and how the names of its sockets begin."""
_PREPARING_S, _ENDING_S = 120.0, 5.0
PYTHON = (sys.executable, "-P")
"""Starts a process in the folder of the class; without -P it would import from there, and every
kernel read what is there of others.
"""


@dataclass
class LessonRequest:
    """A request for the page of a lesson, and the kernel that it got."""

    student: str
    lesson: str
    kernel_id: str = ""


lesson_request: ContextVar[LessonRequest] = ContextVar("lesson_request")
"""The request that starts a kernel."""


class Child:
    """A kernel that was forked: what Jupyter asks of a ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """Return None while it runs; why it has ended only its parent knows."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        status = self._look(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("ipykernel", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal to it, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._ended, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout_s: float | None) -> int | None:
        if self.returncode is None:
            look = select.poll()  # select.select takes descriptors below 1024 only
            look.register(self._ended, select.POLLIN)
            if look.poll(None if timeout_s is None else timeout_s * 1000):
                self.returncode = 0
                os.close(self._ended)
        return self.returncode


class ParentEnded(Exception):  # noqa: N818 - the process has, not this one
    """The process that kernels are copied from is gone: no lesson can be opened any more."""


class Parent:
    """The process that kernels are copied from, as the server sees it."""

    def __init__(self, folder: Path, turns: Path) -> None:
        self._turns = turns
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [*PYTHON, "-m", "netcalc.cli.classroom.confinement", str(number), str(turns)],
                pass_fds=[number], stdin=subprocess.DEVNULL, cwd=folder,
                env=environment(folder), start_new_session=True,
            )  # fmt: skip
        self._control.settimeout(_PREPARING_S)
        self.walls = Walls(**json.loads(self._control.recv(1000)))

    @property
    def turns(self) -> Path:
        """The folder of the turns, as this process sees it."""
        return _seen(self._process.pid, self._turns) if self.walls.processes else self._turns

    def fork(self, request: dict[str, Any], output: int) -> Child:
        """Copy it; the copy becomes a kernel.

        Raises
        ------
        ParentEnded
            If there is nothing to copy.
        OSError
            If Linux does not start another process.
        """
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], [output, output])
            message, descriptors, _, _ = socket.recv_fds(self._control, 1000, 1)
        except ConnectionError as error:
            raise ParentEnded from error
        if not message:
            raise ParentEnded
        answer = json.loads(message)
        if not descriptors:
            raise OSError(answer["error"])
        return Child(_number(descriptors[0]), descriptors[0])

    def end(self) -> None:
        """End it, and every kernel that is left with it; afterwards there is none."""
        self._control.close()  # it ends by itself then, and waits for what it has started
        try:
            self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _seen(pid: int, path: Path) -> Path:
    """Return where a path of a process with mounts of its own leads, for this one."""
    return Path(f"/proc/{pid}/root{path}")


def _number(ended: int) -> int:
    """Return the number of a process in this namespace; its parent knows that in its own."""
    for line in Path(f"/proc/self/fdinfo/{ended}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise ProcessLookupError


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a kernel whose files are in a folder."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {name: str(folder) for name in ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR")}
    own["JUPYTER_RUNTIME_DIR"] = str(folder)
    return {**kept, **own, "OPENBLAS_NUM_THREADS": "1"}


@dataclass
class Seat:
    """A kernel and who has it."""

    student: str
    lesson: str
    folder: Path
    began_s: float = field(default_factory=time.time)
    process: psutil.Process | None = None
    turns_name: str = field(default_factory=lambda: secrets.token_hex(8))
    """Who waits for a live run: other kernels read it, so it names neither kernel nor folder."""
    is_delivered: bool = False
    left_s: float | None = None
    memory_seen_bytes: int = 0
    sockets: list[Any] = field(default_factory=list)
    """Its web sockets, the oldest first."""

    def memory_bytes(self) -> int:
        """Return the memory that would be free without it, and its share of what is shared."""
        total = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error, OSError):
                total += process.memory_full_info().pss
        return total

    def end_processes(self) -> None:
        """End the kernel and what it has started, which no namespace ends for it everywhere."""
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                process.kill()

    def _processes(self) -> list[psutil.Process]:
        if self.process is None:
            return []
        try:
            return [self.process, *self.process.children(recursive=True)]
        except psutil.Error:
            return []


class Provisioner(LocalProvisioner):
    """Jupyter's own for this machine, which forks instead of starting a program."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        """Fork a kernel with the limits of the class."""
        kernels: ClassKernels = self.parent.parent
        seat = kernels.seats[self.kernel_id]
        env = environment(seat.folder) | {
            name: value for name, value in kwargs["env"].items() if name.startswith("VOILA_")
        }
        env |= {TURNS_FOLDER: str(kernels.turns), TURNS_OWNER: seat.turns_name}
        answers = kernels.answers_of(seat.student)
        with contextlib.suppress(OSError):  # a lesson works without it
            answers.touch(mode=0o600)
        env[ANSWERS_FILE] = str(answers)
        assert kernels.process is not None
        has_mounts = kernels.process.walls.processes
        connection = seat.folder / CONNECTION
        env["PYTHONDONTWRITEBYTECODE"] = "1"  # its walls would refuse it
        request = {
            "argv": cmd[cmd.index("-m") + 1 :],
            "env": env,
            "cwd": str(kwargs.get("cwd") or kernels.root_dir),
            "memory_bytes": kernels.memory_bytes,
            "processor_s": kernels.processor_s,
            "read": [str(kernels.root_dir)],
            "own": str(seat.folder),
            "turn": str(kernels.turns / seat.turns_name),
            "answers": str(answers),
            "files": {CONNECTION: connection.read_text()} if has_mounts else {},
        }
        with Path(os.devnull).open("r+b") as nothing:
            try:
                self.process = kernels.process.fork(request, nothing.fileno())
            except ParentEnded:
                kernels.lost()
                raise
        self.pid = self.process.pid
        with contextlib.suppress(psutil.Error):
            seat.process = psutil.Process(self.pid)  # now: its number may be another's later
        self.pgid = None  # of a namespace of its own; all of it ends with its first process
        self.cwd = request["cwd"]
        if has_mounts:
            ip = str(_seen(self.pid, seat.folder / _SOCKETS))
            return {**self.connection_info, "ip": ip}
        return self.connection_info  # type: ignore[no-any-return]


class Factory(KernelProvisionerFactory):
    """Makes the provisioner of a class, whatever a kernel's specification names."""

    def create_provisioner_instance(
        self, kernel_id: str, kernel_spec: Any, parent: Any
    ) -> Provisioner:
        """Make it."""
        return Provisioner(kernel_id=kernel_id, kernel_spec=kernel_spec, parent=parent)


class ClassKernel(ServerKernelManager):
    """Jupyter's own, whose clients share the sockets' context of the server.

    With a context of its own the client of a page that was left waits for up to a second at its end
    for what a kernel that is gone will not take, and the whole class with it.
    """

    def client(self, **kwargs: Any) -> Any:
        """Return a client of the kernel."""
        return super().client(**{"context": self.context, **kwargs})


class ClassKernels(AsyncMappingKernelManager):
    """The kernels of a class."""

    folder: Path
    """Folder of all folders of kernels."""
    turns: Path
    """Folder of the turns for live runs, as kernels see it."""
    memory_bytes: int
    processor_s: int
    each: int
    """Most kernels of one student; the oldest ends for a new one."""
    most: int
    """Most kernels in all; a first lesson takes the place of a second one of others."""
    answers: Path
    """Folder of a file for each student: what a kernel hands to the next one of the same student.
    """
    process: Parent | None = None
    lost: Callable[[], object] = staticmethod(lambda: None)
    """Called when no kernel can be started any more."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kernel_manager_class = f"{__name__}.{ClassKernel.__name__}"
        self.seats: dict[str, Seat] = {}
        self.preparing: Counter[str] = Counter()
        """Pages of lessons that are being made, by student."""
        Factory.instance()

    def pre_start_kernel(self, kernel_name: str | None, kwargs: Any) -> tuple[Any, str, str]:
        """Give a kernel its owner and its folder before it starts."""
        asked = lesson_request.get()
        kernel, name, kernel_id = super().pre_start_kernel(kernel_name, kwargs)
        asked.kernel_id = kernel_id
        folder = self.folder / kernel_id[:8]
        folder.mkdir(mode=0o700)
        kernel.transport = "ipc"  # sockets in that folder: they cross the wall of its network
        kernel.connection_file = str(folder / CONNECTION)
        kernel.ip = str(folder / _SOCKETS)  # a short name: Linux takes 107 letters
        self.seats[kernel_id] = Seat(asked.student, asked.lesson, folder)
        return kernel, name, kernel_id

    def owns(self, student: str, kernel_id: str) -> bool:
        """Whether a kernel is a student's."""
        seat = self.seats.get(kernel_id)
        return seat is not None and seat.student == student

    def answers_of(self, student: str) -> Path:
        """Return the file of a student's answers; it does not tell whose it is."""
        return self.answers / hashlib.sha256(student.encode()).hexdigest()[:32]

    def connected(self, kernel_id: str) -> bool:
        """Whether a page is connected to a kernel."""
        return bool(self._kernel_connections.get(kernel_id))

    def sockets_of(self, kernel_id: str) -> list[Any]:
        """Return the web sockets to a kernel, the oldest first."""
        seat = self.seats.get(kernel_id)
        return [] if seat is None else seat.sockets

    def note_delivered(self, kernel_id: str) -> None:
        """Note that a page is whole: from now on its kernel ends if no page is connected."""
        if kernel_id in self.seats:
            self.seats[kernel_id].is_delivered = True

    async def make_room(self, student: str) -> bool:
        """End the kernel whose place a new one of a student takes.

        Returns
        -------
        bool
            Whether there is a place for it now. Kernels that are still starting are not ended.
        """
        while not self._has_place(student):
            replaced = self._replaced(student)
            if not replaced:
                return False
            await self.end(replaced)
        return True

    def _theirs(self, student: str) -> list[str]:
        return [key for key, seat in self.seats.items() if seat.student == student]

    def _has_place(self, student: str) -> bool:
        return len(self._theirs(student)) < self.each and len(self.seats) < self.most

    def _replaced(self, student: str) -> str:
        """Return the kernel that ends for a new one, the oldest of its kind; empty if none does.

        Of a student who has as many as they may, one of their own. Where the class has no place:
        one whose page is gone; then one of their own; for a first lesson the second of others, one
        without a page before one with.
        """
        theirs = self._theirs(student)
        started = {key: seat for key, seat in self.seats.items() if key in self}
        gone = [key for key, seat in started.items() if seat.left_s is not None]
        counts = Counter(seat.student for seat in self.seats.values())
        second = [key for key, seat in started.items() if counts[seat.student] > 1]
        second.sort(key=self.connected)
        own = [key for key in theirs if key in started]
        if len(theirs) >= self.each or (theirs and not gone):
            return next(iter(own), "")
        return next(iter(gone or second), "")

    async def start_kernel(self, **kwargs: Any) -> Any:
        """Start a kernel where there is a place: between the page's own question and this call
        other pages may have taken it.
        """
        if not await self.make_room(lesson_request.get().student):
            raise HTTPError(503)
        return await super().start_kernel(**kwargs)  # takes the place before it waits for anything

    async def end(self, kernel_id: str) -> None:
        """End a kernel, at once: nothing of a lesson is lost that the page has not."""
        if kernel_id in self.seats:
            self.seats[kernel_id].end_processes()  # of a kernel that has ended none are found
        if kernel_id in self:
            with contextlib.suppress(KeyError):
                await self.shutdown_kernel(kernel_id, now=True)
        self.clear(kernel_id)

    async def end_all(self) -> None:
        """End all kernels."""
        await asyncio.gather(*map(self.end, list(self.seats)))

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget a kernel that has ended, and remove its folder."""
        removed = super().remove_kernel(kernel_id)
        self.clear(kernel_id)
        return removed

    def clear(self, kernel_id: str) -> None:
        """Remove what a kernel had."""
        seat = self.seats.pop(kernel_id, None)
        if seat is not None:
            shutil.rmtree(seat.folder, ignore_errors=True)


LEFT_S = 60.0
"""A kernel without a page ends after this time; a page that lost its line has it to return. [s]"""


class Watch:
    """Ends what should have ended."""

    def __init__(self, kernels: ClassKernels) -> None:
        self._kernels = kernels

    async def look(self) -> None:
        """Look at each kernel."""
        now_s = time.monotonic()
        for kernel_id, seat in list(self._kernels.seats.items()):
            if self._is_left(kernel_id, seat, now_s) or await self._is_dead(kernel_id):
                await self._kernels.end(kernel_id)
                continue
            seat.memory_seen_bytes = seat.memory_bytes()
            if seat.memory_seen_bytes > 2 * self._kernels.memory_bytes:
                await self._kernels.end(kernel_id)  # one process has a limit, all of them not

    def _is_left(self, kernel_id: str, seat: Seat, now_s: float) -> bool:
        if not seat.is_delivered or self._kernels.connected(kernel_id):
            seat.left_s = None
            return False
        seat.left_s = seat.left_s or now_s
        return now_s - seat.left_s > LEFT_S

    async def _is_dead(self, kernel_id: str) -> bool:
        if kernel_id not in self._kernels:
            return False  # not yet
        return not await self._kernels.is_alive(kernel_id)
