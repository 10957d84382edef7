"""The helper processes of a run: their start, the messages to them, and their end.

There is one protocol: a helper reads its settings from its input, reports that it is ready, and
ends when its input closes (:mod:`netcalc.experiments.peers.helper`). One that works on sockets
made elsewhere also has a control socket, on which messages carry descriptors.

A :class:`Namespace` holds a network namespace for one run: sockets are opened in it and used from
outside, because a socket belongs to the namespace in which it was made. Once its process and the
sockets are gone, the kernel removes the namespace: nothing is left behind, however a run ends. No
privilege is needed where the system lets users create namespaces.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

from netcalc.emulation.wire.control import LOST, START_CODES, end_process, start_python
from netcalc.errors import ExperimentError
from netcalc.experiments.peers import helper
from netcalc.experiments.peers.helper import kept, readable, system_error
from netcalc.experiments.running import limits, record
from netcalc.experiments.running.stopping import SLICE_S, Stopping

START_LIMIT_S = 10.0
"""Timeout of a helper's start: a fraction of a second, longer on an overloaded machine. [s]"""
END_LIMIT_S = 0.5
"""Time for a helper to end by itself and report its counts before it is killed; with it, a stop
still takes effect within a second. [s]"""
DEATH_S = 0.2
"""Time after a broken exchange for a dying helper to be reaped, so that the error names it. [s]"""
LIFETIME_S = limits.MAX_DURATION_S + 30
"""Time limit of a helper: longer than any run, which ends it first. [s]"""
PEER_BYTES = limits.MAX_BYTES + 100_000_000
"""Bytes that a peer carries at most: the limit of a run, and its warm-up. [byte]"""
_MESSAGE_BYTES = 1 << 16
_FOLDER = Path(helper.__file__).absolute().parent
# Import the package without its __init__, which would load numpy: that starts ten times faster.
_BOOT = """
import errno, importlib, os, sys, types
folder = sys.argv[1]
for name in "netcalc.experiments.peers", "netcalc.experiments", "netcalc":
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
    folder = os.path.dirname(folder)
try:
    os._exit(importlib.import_module("netcalc.experiments.peers." + sys.argv[2]).main())
except MemoryError:
    os.write(1, b'{"error": %d, "text": "Cannot allocate memory"}\\n' % errno.ENOMEM)
"""
_BIND_CODES = {
    errno.EADDRINUSE: "port-in-use",
    errno.EACCES: "port-not-permitted",
    errno.EADDRNOTAVAIL: "address-missing",
    errno.EAFNOSUPPORT: "address-missing",
}


def _loopback_is_down() -> bool:
    """Whether the loopback interface is down, which takes ::1 away; of 127.0.0.1 the route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("127.0.0.1", 9))  # sends nothing
        except OSError as error:
            return error.errno == errno.ENETUNREACH
    return False


class Peer:
    """A helper process that lives as long as this object is open.

    Parameters
    ----------
    settings : dict
        The settings of its program.
    passed : sequence of int
        Descriptors that it inherits, under the same numbers.
    program : str
        Module of this package that it runs; it needs the standard library only.

    Attributes
    ----------
    port : int
        The port it is bound to; 0 without one.
    report : dict
        The rest of its first report: granted buffers, congestion control.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        *,
        stopping: Stopping,
        passed: Sequence[int] = (),
        program: str = "responder",
    ) -> None:
        self._host: str | None = settings.get("host")
        self._wanted_port: int | None = settings.get("port")
        self._process = _start(passed, program)
        self._output = b""
        with kept(self):
            self._send({**settings, "parent": os.getpid()})
            self.report = self._ready(stopping)
            self.port: int = self.report.pop("port", 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process number."""
        return self._process.pid

    def status(self) -> str | None:
        """Return how the process ended, by exit code or signal; None if it still runs."""
        try:
            code = self._process.wait(DEATH_S)
        except subprocess.TimeoutExpired:
            return None
        return f"status {code}" if code >= 0 else signal.Signals(-code).name

    def explain(self, error: ExperimentError) -> ExperimentError:
        """Return the error of a run, or the end of this process if that is its cause."""
        if error.code in LOST:  # that is the cause, and waits for nobody
            return error
        status = self.status()
        if status is None:
            return error
        at_limit = self._process.returncode == helper.LIMIT_REACHED
        return ExperimentError(
            "peer-at-limit" if at_limit else "peer-ended",
            phase=error.phase,
            host=error.host,
            port=error.port,
            status=status,
            symptom=error.code,
        )

    def close(self) -> dict[str, int]:
        """End the process, reap it, and return its counts (empty if it could not report them)."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.closed:
            return {}
        try:
            with suppress(OSError):
                process.stdin.close()
        finally:
            end_process(process, END_LIMIT_S)
            self._output += process.stdout.read(4096) or b""
            process.stdout.close()
        try:
            counts: dict[str, int] = json.loads(self._output)
        except ValueError:
            return {}
        return counts

    def _send(self, settings: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
        except OSError:
            return  # it ended at once; its output shows why

    def _ready(self, stopping: Stopping) -> dict[str, Any]:
        """Wait for the first report of the process, and return it."""
        assert self._process.stdout is not None
        end_s = time.monotonic() + START_LIMIT_S
        while b"\n" not in self._output and time.monotonic() < end_s:
            stopping.check()
            if readable(self._process.stdout, SLICE_S):
                read = os.read(self._process.stdout.fileno(), 4096)
                if not read:
                    break
                self._output += read
        line, _, self._output = self._output.partition(b"\n")
        try:
            report: dict[str, Any] = json.loads(line)
        except ValueError:
            output = line.decode("utf-8", "backslashreplace") or "none"
            raise self._error("peer-not-ready", "start", output=output) from None
        if "error" in report:
            if report["error"] in START_CODES:
                code = START_CODES[report["error"]]
                raise ExperimentError(code, phase="start", reason=report["text"])
            code = _BIND_CODES.get(report["error"], "address-not-usable")
            if code == "address-missing" and self._host == "::1" and _loopback_is_down():
                code = "loopback-down"
            raise self._error(code, "bind", reason=report["text"])
        return report

    def _error(self, code: str, phase: str, **values: Any) -> ExperimentError:
        return ExperimentError(code, phase=phase, host=self._host, port=self._wanted_port, **values)


def responder_settings(
    protocol: str, session: bytes, address: tuple[Any, ...], **more: Any
) -> dict[str, Any]:
    """Return the settings of a peer that answers at an address, for :class:`Peer`."""
    return {
        "protocol": protocol, "session": session.hex(), "host": address[0], "port": address[1],
        "duration_s": LIFETIME_S, "bytes": PEER_BYTES, **more,
    }  # fmt: skip


class ControlledPeer(Peer):
    """A helper process with a control socket, over which messages and descriptors pass.

    Parameters
    ----------
    program : str
        Module of this package that it runs.
    settings : dict
        Further settings of its program.
    """

    def __init__(self, program: str, *, stopping: Stopping, **settings: Any) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        number = theirs.fileno()
        with kept(self.control), theirs:
            super().__init__(
                {**settings, "fd": number}, stopping=stopping, passed=[number], program=program
            )

    def close(self) -> dict[str, int]:
        """End the process."""
        self.control.close()
        return super().close()

    def send(self, message: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Send a message, with sockets for the process to work on."""
        data = [json.dumps(message).encode()]
        try:
            if socks:
                socket.send_fds(self.control, data, [sock.fileno() for sock in socks])
            else:
                self.control.send(data[0])
        except OSError as error:
            self.fail(error)

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """Wait for a message; return it with its descriptors."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.control, _MESSAGE_BYTES, 1)
        except OSError as error:
            self.fail(error)
        if not data:
            self.fail(None)
        return json.loads(data), list(descriptors)

    def fail(self, cause: BaseException | None) -> NoReturn:
        """Raise the error of a process that is gone or does not respond."""
        raise self.explain(ExperimentError("peer-silent", phase="transfer")) from cause


@contextmanager
def record_peer(run: record.Record[Any], peer: Peer) -> Iterator[None]:
    """Record the facts of a peer, and its counts at the end; attribute errors."""
    run.facts.update({f"peer_{name}": value for name, value in peer.report.items()})
    try:
        with record.attribute_errors(run, peer):
            yield
    finally:
        counts = peer.close()
        run.facts.update({f"peer_{name}_count": value for name, value in counts.items()})


def _start(passed: Sequence[int], program: str) -> subprocess.Popen[bytes]:
    """Start a helper in a process group of its own, so that Ctrl-C reaches this process alone.

    It does not get a session of its own: Linux schedules each session as a group, and switching
    between groups added 0.6 µs to a round trip of 13 µs.
    """
    if not sys.executable:
        raise ExperimentError("no-interpreter", phase="start")
    return start_python(
        _BOOT, str(_FOLDER), program, phase="start",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        bufsize=0, process_group=0, pass_fds=tuple(passed),
    )  # fmt: skip


_REPORT_BYTES = 1 << 16


class Worker(ControlledPeer):
    """A process that sends or receives on the sockets it is handed."""

    def __init__(self, *, stopping: Stopping) -> None:
        self._stopping = stopping
        self._answer: dict[str, Any] | None = None
        self.so_far: dict[str, Any] = {}
        super().__init__("bulk_peer", stopping=stopping, duration_s=LIFETIME_S)

    def order(self, order: dict[str, Any], socks: Sequence[socket.socket] = ()) -> None:
        """Order what to do, and on which sockets."""
        if socks:
            self.so_far = {}
        self.send(order, socks)

    def answer(
        self, limit_s: float, *, watch: bool = True, meanwhile: Callable[[], object] = bool
    ) -> dict[str, Any] | None:
        """Wait for the report of an order; None at the limit. Checks for a reason to end."""
        return self._stopping.wait_for(
            self._take, partial(readable, self.control), limit_s, watch=watch, meanwhile=meanwhile
        )

    def _take(self) -> dict[str, Any] | None:
        self.poll()
        answer, self._answer = self._answer, None
        return answer

    def poll(self) -> None:
        """Read the reports that are there, without waiting."""
        while self._answer is None and readable(self.control, 0.0):
            try:
                data = self.control.recv(_REPORT_BYTES)
            except ConnectionResetError:
                data = b""
            if not data:
                self.fail(None)
            report = json.loads(data)
            if report.get("so_far"):
                self.so_far = report
            else:
                self._answer = report


LOOPBACK_MTU_BYTES = 65_536
"""MTU of the loopback of Linux. [byte]"""
ANSWER_S = 5.0
"""Timeout of a request to the helper, which takes well under a millisecond. [s]"""
_READ_BYTES = 1 << 16


class Namespace(ControlledPeer):
    """Opens sockets in a network namespace, for as long as this object is open.

    Parameters
    ----------
    own : bool
        Make a namespace, whose only interface is ``lo``; with False sockets are the host's.
    mtu_bytes : int
        MTU of ``lo`` in a namespace of its own. [byte]

    Attributes
    ----------
    refused : str
        Why there is no namespace; empty if there is one. Sockets are then opened on the host.
    """

    def __init__(
        self, *, stopping: Stopping, own: bool = True, mtu_bytes: int = LOOPBACK_MTU_BYTES
    ) -> None:
        self._files: dict[str, int] = {}
        super().__init__("helper", stopping=stopping, own=own, mtu_bytes=mtu_bytes)
        self.refused: str = self.report["refused"]
        self.own = own and not self.refused
        self.control.settimeout(ANSWER_S)

    def close(self) -> dict[str, int]:
        """End the process that holds the namespace; sockets that were passed on stay open."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
        return super().close()

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket in the namespace."""
        return socket.socket(fileno=self._ask({"socket": [int(family), int(kind), protocol]}))

    def read(self, path: str) -> str:
        """Read a file of the kernel as seen in the namespace."""
        if path not in self._files:
            self._files[path] = self._ask({"file": path})
        return os.pread(self._files[path], _READ_BYTES, 0).decode("ascii", "replace")

    def write(self, path: str, text: str) -> None:
        """Write a setting of the kernel in a namespace of its own, never of the host."""
        if not self.own:
            raise ExperimentError("host-settings-kept", phase="start")
        os.close(self._ask({"write": path, "text": text}))

    def _ask(self, request: dict[str, Any]) -> int:
        """Send a request and return the descriptor of the answer."""
        self.send(request)
        answer, descriptors = self.receive()
        if "error" in answer:
            raise OSError(answer["error"], answer["text"])
        if not descriptors:
            raise system_error(errno.EMFILE)
        return descriptors[0]

    def fail(self, cause: BaseException | None) -> NoReturn:
        """Raise the error of a namespace whose process is gone or does not respond."""
        status = self.status()
        code = "namespace-silent" if status is None else "namespace-ended"
        raise ExperimentError(code, phase="namespace", status=status) from cause
