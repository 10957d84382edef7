"""The processes of an emulated path from its owner's side: their start, requests, their end.

One process carries the packets (:class:`Control`); others are programs at the ends of the path
(:class:`Programs`), which are killed when it closes.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path as File
from typing import Any

from netcalc.emulation.wire.kernel import TUN_NODE
from netcalc.errors import ExperimentError

START_LIMIT_S = 15.0
"""How long the process may take to set up the path, or to answer. It takes 0.1 s here; a machine
that needs more than a hundred times that could not carry packets in time. [s]"""
END_LIMIT_S = 1.0
"""How long it may take to end by itself before it is killed: it takes some 10 ms. [s]"""
STOPPED_S = 0.2
"""How long it may be stopped (SIGSTOP) before that is an error: a shorter stop makes packets late,
which is reported anyway. [s]"""
LOST = frozenset({"emulator-ended", "emulator-stopped"})
"""Codes of errors that say: nobody carries the packets any more, whatever a run noticed first."""
MAX_DESCRIPTORS = 16
"""Of one answer: the namespaces of all hosts, and their user namespace. [1]"""
PHASE = "emulated path"
"""Of the errors of a request."""
REFUSALS = frozenset(
    (
        "namespaces-not-linux",
        "namespaces-not-permitted",
        "namespaces-exhausted",
        "namespaces-refused",
    )
)
"""Codes of errors that say: this system has no network namespaces for this user."""
_REFUSAL_BY_ERRNO = {
    errno.EPERM: "namespaces-not-permitted",
    errno.EACCES: "namespaces-not-permitted",
    errno.ENOSPC: "namespaces-exhausted",
    errno.EUSERS: "namespaces-exhausted",
}
START_CODES = {
    errno.EMFILE: "process-out-of-files",
    errno.ENFILE: "process-out-of-files",
    errno.EAGAIN: "out-of-processes",
    errno.ENOMEM: "process-out-of-memory",
}
"""Codes of errors for resources that run out when a process is started."""
_PACKAGE = File(__file__).absolute().parents[3]
_START = (
    "import sys; sys.path.insert(0, sys.argv[2]); "
    "from netcalc.emulation.wire.carrier import main; sys.exit(main())"
)


class Control:
    """The carrying process, from its start to its end; any thread may send requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set_up = self._interrupted = False
        self._stopped_s = 0.0  # when it was first seen to be stopped
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(START_LIMIT_S)
        with theirs:
            try:
                self._process = start_python(
                    _START,
                    "0",
                    str(_PACKAGE),
                    phase=PHASE,
                    stdin=theirs.fileno(),  # as 0, because select() takes none above 1023
                    start_new_session=True,
                )
            except BaseException:
                self._socket.close()
                raise

    @property
    def pid(self) -> int:
        """The number of the carrying process."""
        return self._process.pid

    def set_up(self, settings: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        """Let it set up the path; return its choices and the descriptors of the namespaces."""
        self._sysctls = frozenset(settings["sysctls"])
        line = json.dumps({**settings, "parent": os.getpid()}).encode() + b"\n"
        chosen, descriptors, _ = self._exchange(line)
        self._set_up = True
        return chosen, descriptors

    def ask(self, do: str, **arguments: Any) -> tuple[dict[str, Any], list[int], bytes]:
        """Send a request; return the answer, its descriptors and its bytes."""
        with self._lock:
            self._require_running(STOPPED_S)
            return self._exchange(json.dumps({"do": do, "with": arguments}).encode() + b"\n")

    def require_alive(self, wait_s: float = 0.0) -> None:
        """Raise the error of a process that has ended by itself, or that somebody has stopped.

        Wait so long for its end.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(wait_s) if wait_s else self._process.poll()
        if self._process.returncode is not None:
            raise self._lost()
        self._require_running(STOPPED_S if wait_s else 0.0)

    def _require_running(self, wait_s: float) -> None:
        """Raise an error if the process has been stopped for long; wait so long for that."""
        while self._is_stopped():
            now_s = time.monotonic()
            self._stopped_s = self._stopped_s or now_s
            if now_s - self._stopped_s >= STOPPED_S:
                raise ExperimentError("emulator-stopped", phase=PHASE, pid=self.pid)
            if not wait_s:
                return
            time.sleep(STOPPED_S / 10)
        self._stopped_s = 0.0

    def _is_stopped(self) -> bool:
        try:  # the state is left for whoever asks next
            return os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return False

    def close(self) -> None:
        """End the process: it ends when its socket closes, otherwise it is killed."""
        self._socket.close()
        end_process(self._process, 0.0 if self._is_stopped() else END_LIMIT_S)

    def _exchange(self, line: bytes) -> tuple[dict[str, Any], list[int], bytes]:
        if self._interrupted:
            raise ExperimentError("emulator-interrupted", phase=PHASE)
        self._interrupted = True
        descriptors: list[int] = []
        try:
            self._socket.sendall(line)
            reply, data = self._receive(descriptors)
            self._interrupted = False
            if "error" in reply:
                raise ExperimentError(self._refusal(reply), phase=PHASE, **_facts(reply))
            if reply.get("deleted"):
                raise ExperimentError("device-deleted", phase=PHASE, device=reply["deleted"])
            return reply, descriptors, data
        except BaseException as error:
            for descriptor in descriptors:
                os.close(descriptor)
            if isinstance(error, TimeoutError):
                raise ExperimentError(
                    "emulator-silent", phase=PHASE, timeout_s=START_LIMIT_S
                ) from error
            if isinstance(error, OSError):
                self._interrupted = False  # the next request finds the same
                raise self._lost() from error
            raise

    def _receive(self, descriptors: list[int]) -> tuple[dict[str, Any], bytes]:
        """Read an answer: a line, its descriptors into ``descriptors``, and the bytes behind it."""
        data = b""
        while b"\n" not in data:
            more, passed, _, _ = socket.recv_fds(self._socket, 65_536, MAX_DESCRIPTORS)
            descriptors += passed
            if not more:
                raise ConnectionError
            data += more
        line, _, data = data.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        parts = [data]
        left = reply.get("bytes", 0) - len(data)
        while left > 0:
            more = self._socket.recv(min(left, 1 << 20))
            if not more:
                raise ConnectionError
            parts.append(more)
            left -= len(more)
        return reply, b"".join(parts)

    def _refusal(self, reply: dict[str, Any]) -> str:
        """Return the code of a request that the system refused."""
        if self._set_up:
            return "request-refused"
        if reply["step"] in self._sysctls:
            return "sysctl-refused"
        if reply["step"] == TUN_NODE:
            return "tun-refused"
        lacking = START_CODES.get(reply["error"])
        return lacking or _REFUSAL_BY_ERRNO.get(reply["error"], "namespaces-refused")

    def _lost(self) -> ExperimentError:
        """Return the error of a process that has ended, with its signal or exit status."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_LIMIT_S)
        code = self._process.returncode
        by_signal = code is not None and code < 0
        return ExperimentError(
            "emulator-ended",
            phase=PHASE,
            ended_by="signal" if by_signal else "status",
            number=None if code is None else abs(code),
        )


def start_python(code: str, *arguments: str, phase: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start a helper: lines of Python in a process without the packages of the site."""
    try:
        return subprocess.Popen([sys.executable, "-I", "-S", "-c", code, *arguments], **options)
    except OSError as error:
        raise start_failure(error, phase) from error


def end_process(process: subprocess.Popen[bytes], limit_s: float) -> None:
    """Wait until a process ends by itself, kill it at the limit, and reap it."""
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()


def start_failure(error: OSError, phase: str) -> ExperimentError:
    """Return the error of a process that could not be started."""
    code = START_CODES.get(error.errno or 0, "process-not-started")
    return ExperimentError(code, phase=phase, reason=error.strerror or str(error))


def _facts(reply: dict[str, Any]) -> dict[str, Any]:
    return {"errno": reply["error"], "reason": reply["reason"], "step": reply["step"]}


_ENTER = File(__file__).absolute().with_name("enter.py")
NOT_STARTED = 127
"""Exit code of a program that could not be started, as of a shell."""


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
