"""The process of a router: two hosts in namespaces, and a third one whose kernel forwards.

It creates the namespaces and the pairs of devices between them as the carrier does, and then only
answers requests: no packet passes this process.
"""

from __future__ import annotations

import os
import select
import socket
from contextlib import suppress
from typing import Any

from netcalc.emulation.wire import kernel, veth
from netcalc.emulation.wire.ends import DEVICE, Ends

ROUTER = 2
"""Index of the router's namespace, after those of A and B."""
PORTS = ("port0", "port1")
"""Devices of the router, towards A and towards B."""
FORWARDING = {"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1"}
"""Set in the namespace of the router, and nowhere else."""


class Router(Ends):
    """Two hosts, and a third namespace between them whose kernel routes."""

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
            veth.make_pair(port, DEVICE, self.namespaces[side])
            # Both ends are set up before addresses: an IPv6 address is usable once its link is up.
            for name, namespace in ((DEVICE, self.namespaces[side]), (port, middle)):
                kernel.enter(namespace, kernel.NEW_NET, "enter network namespace")
                veth.set_single_packets(name)
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
