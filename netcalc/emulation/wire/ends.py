"""Two hosts in network namespaces, as the process sees them that made them and answers for them.

A :class:`~netcalc.emulation.wire.carrier.Carrier` puts an emulated path between them, a
:class:`~netcalc.emulation.wire.router.Router` a kernel.
"""

from __future__ import annotations

import json
import os
import signal
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from netcalc.emulation.wire import kernel

DEVICE = "wire0"
"""Name of the device at both ends."""


class Ends(ABC):
    """The namespaces of two hosts, without names, and a device in each."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._offload: bool = settings["offload"]
        self.namespaces: list[int] = []
        self.tuns: list[int] = []
        self.broken = ""

    def make(self) -> dict[str, Any]:
        """Make namespaces and devices; return what was chosen."""
        way = "root"
        try:
            if self._settings["user_namespace"]:
                raise PermissionError
            kernel.unshare(kernel.NEW_NET, "network namespace")
        except PermissionError:
            kernel.be_root_of_own_user_namespace(kernel.NEW_NET)
            way = "user namespace"
        scheduling = kernel.be_punctual()
        for side in range(2):
            if side:
                kernel.unshare(kernel.NEW_NET, "network namespace")
            self.namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
            self._fail_for_a_test(f"namespace {side}")
        device = self._make_devices()
        for side in range(2):
            kernel.enter(self.namespaces[side], kernel.NEW_NET, "namespace")
            mtu_bytes = self._settings["mtu_bytes"]
            kernel.set_up("lo", [], mtu_bytes=mtu_bytes)
            kernel.set_up(DEVICE, self._settings["addresses"][side], mtu_bytes=mtu_bytes)
            for name, value in self._settings["sysctls"].items():
                kernel.set_sysctl(name, value)
            self._fail_for_a_test(f"addresses {side}")
        return {"way": way, "scheduling": scheduling, "device": device, "offload": self._offload}

    @abstractmethod
    def carry(self, control: socket.socket, parent: int | None) -> None:
        """Answer requests, and see to the packets, until the control socket closes."""

    @abstractmethod
    def _make_devices(self) -> str:
        """Make the devices of both hosts; return what they are."""

    def _answer(self, control: socket.socket) -> bool:
        """Answer one request; return False when there will be no more."""
        line = read_line(control)
        if not line:
            return False
        request = json.loads(line)
        try:
            reply, descriptors, data = getattr(self, "do_" + request["do"])(**request["with"])
        except OSError as error:
            text = f"{error.strerror} ({error.filename or request['do']})"
            reply, descriptors, data = {"error": error.errno, "text": text}, [], b""
        send(control, {**reply, "broken": self.broken, "bytes": len(data)}, descriptors)
        control.sendall(data)
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def do_socket(self, side: int, family: int, kind: int, protocol: int) -> Any:
        """Open a socket in one namespace; it stays there, whoever uses it."""
        sock = self._inside(side, lambda: socket.socket(family, kind, protocol))
        return {}, [sock.detach()], b""

    def do_read(self, side: int, name: str) -> Any:
        """Read a file of /proc/net or /proc/sys/net as one namespace shows it."""
        allowed = name.startswith(("/proc/net/", "/proc/sys/net/")) and ".." not in name
        path = Path(name.replace("/proc/net/", "/proc/self/net/"))
        if not allowed:
            raise OSError(1, "only /proc/net and /proc/sys/net", name)
        return {}, [], self._inside(side, path.read_bytes)

    def _inside(self, side: int, action: Callable[[], Any]) -> Any:
        kernel.enter(self.namespaces[side], kernel.NEW_NET, "namespace")
        return action()

    def _fail_for_a_test(self, step: str) -> None:
        if self._settings.get("fail_at") == step:
            raise OSError(5, "asked to fail here", step)
        if self._settings.get("die_at") == step:
            os.kill(os.getpid(), signal.SIGKILL)


def read_line(control: socket.socket) -> bytes:
    """Read one line of JSON; empty at the end."""
    line = b""
    while not line.endswith(b"\n"):
        with suppress(ConnectionError):
            if more := control.recv(65_536):
                line += more
                continue
        return b""
    return line


def send(control: socket.socket, reply: dict[str, Any], descriptors: list[int]) -> None:
    """Write one line of JSON, with descriptors."""
    socket.send_fds(control, [json.dumps(reply).encode() + b"\n"], descriptors)
