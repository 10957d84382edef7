"""Hosts in network namespaces, in the process that created them and answers requests.

A :class:`~netcalc.emulation.wire.carrier.Carrier` puts an emulated path between them, a
:class:`Router` a third namespace whose kernel forwards.
"""

from __future__ import annotations

import errno
import json
import os
import select
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
    """The unnamed namespaces of two hosts or more, and a device in each.

    Host 0 is A and host 1 is B; further ones are beside A.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._offload: bool = settings["offload"]
        self.sides = range(len(settings["addresses"]))
        self.namespaces: list[int] = []
        self.tuns: list[int] = []
        self.deleted = ""
        """The device that was deleted at one end; empty while both exist."""

    def make(self) -> dict[str, Any]:
        """Create namespaces and devices; return the settings chosen."""
        way = "root"
        try:
            if self._settings["user_namespace"]:
                raise PermissionError
            kernel.unshare(kernel.NEW_NET, "create network namespace")
        except PermissionError:
            kernel.enter_user_namespace_as_root(kernel.NEW_NET)
            way = "user namespace"
        scheduling = kernel.request_priority()
        for side in self.sides:
            if side:
                kernel.unshare(kernel.NEW_NET, "create network namespace")
            self.namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        device = self._make_devices()
        for side in self.sides:
            kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
            mtu_bytes = self._settings["mtu_bytes"]
            kernel.set_up("lo", [])
            kernel.set_up(DEVICE, self._settings["addresses"][side], mtu_bytes=mtu_bytes)
            for name, value in self._settings["sysctls"].items():
                kernel.set_sysctl(name, value)
        return {"way": way, "scheduling": scheduling, "device": device, "offload": self._offload}

    @abstractmethod
    def carry(self, control: socket.socket, parent: int | None) -> None:
        """Carry packets and answer requests until the control socket closes."""

    @abstractmethod
    def _make_devices(self) -> str:
        """Create the devices of all hosts; return their kind."""

    def _answer(self, control: socket.socket) -> bool:
        """Answer one request; return False when there will be no more."""
        line = read_line(control)
        if not line:
            return False
        request = json.loads(line)
        try:
            reply, descriptors, data = getattr(self, "do_" + request["do"])(**request["with"])
        except OSError as error:
            reply, descriptors, data = refusal(error, request["do"]), [], b""
        send(control, {**reply, "deleted": self.deleted, "bytes": len(data)}, descriptors)
        control.sendall(data)
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def do_socket(self, side: int, family: int, kind: int, protocol: int) -> Any:
        """Open a socket in one namespace; it stays there, whichever process uses it."""
        sock = self._inside(side, lambda: socket.socket(family, kind, protocol))
        return {}, [sock.detach()], b""

    def do_read(self, side: int, name: str) -> Any:
        """Read a file of /proc/net or /proc/sys/net as it is in one namespace."""
        allowed = name.startswith(("/proc/net/", "/proc/sys/net/")) and ".." not in name
        path = Path(name.replace("/proc/net/", "/proc/self/net/"))
        if not allowed:
            raise OSError(errno.EPERM, "not in /proc/net or /proc/sys/net", name)
        return {}, [], self._inside(side, path.read_bytes)

    def _inside(self, side: int, action: Callable[[], Any]) -> Any:
        kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
        return action()


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


def refusal(error: OSError, step: str) -> dict[str, Any]:
    """Return what the owner needs to know of a call that failed, and the step if it has none."""
    return {
        "error": error.errno,
        "reason": error.strerror or str(error),
        "step": error.filename or step,
    }


ROUTER = 2
"""Index of the router's namespace, after A and B."""
PORTS = ("port0", "port1")
"""Devices of the router, towards A and towards B."""
FORWARDING = {"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1"}
"""Set in the namespace of the router, and nowhere else."""


class Router(Ends):
    """Two hosts, and a third namespace between them whose kernel routes.

    Its process creates the namespaces and the pairs of devices between them as the carrier does,
    and then only answers requests: no packet passes it.
    """

    def make(self) -> dict[str, Any]:
        """Create namespaces, devices and routes; return the settings chosen."""
        chosen = super().make()
        for side, routers in enumerate(self._settings["routers_of_hosts"]):
            kernel.enter(self.namespaces[side], kernel.NEW_NET, "enter network namespace")
            for router in routers:
                kernel.add_router(DEVICE, router)
        return chosen

    def _make_devices(self) -> str:
        """Create a pair of devices between each host and a third namespace."""
        kernel.unshare(kernel.NEW_NET, "create network namespace")
        self.namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        middle = self.namespaces[ROUTER]
        for name, value in FORWARDING.items():
            kernel.set_sysctl(name, value)
        for namespace in self.namespaces:
            kernel.enter(namespace, kernel.NEW_NET, "enter network namespace")
            with suppress(OSError):  # no other host is there: no duplicate address detection
                kernel.set_sysctl("net.ipv6.conf.default.accept_dad", "0")
        mtu_bytes = self._settings["mtu_bytes"]
        for side, port in enumerate(PORTS):
            kernel.enter(middle, kernel.NEW_NET, "enter network namespace")
            kernel.make_veth_pair(port, DEVICE, self.namespaces[side])
            # Both ends are set up before addresses: an IPv6 address is usable once its link is up.
            for name, namespace in ((DEVICE, self.namespaces[side]), (port, middle)):
                kernel.enter(namespace, kernel.NEW_NET, "enter network namespace")
                kernel.set_single_packets(name)
                kernel.set_up(name, [], mtu_bytes=mtu_bytes)
            addresses = self._settings["addresses_of_router"][side]
            kernel.set_up(port, addresses, mtu_bytes=mtu_bytes)
        return "router"

    def carry(self, control: socket.socket, parent: int | None) -> None:
        """Answer requests until the control socket closes; the kernel carries the packets."""
        watched = [control.fileno()] + ([] if parent is None else [parent])
        while True:
            ready = select.select(watched, [], [])[0]
            if parent in ready or not self._answer(control):
                return
