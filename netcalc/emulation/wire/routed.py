"""A router on this machine: two hosts in namespaces, and a third one whose kernel routes.

::

    with Routed() as hosts:
        print(hosts.run(["ping", "-c", "3", hosts.address("B")]).stdout)
        print(hosts.forwarding())

A packet from A to B is sent by one kernel's tables, forwarded by those of a second and received by
those of a third, as through a home router that routes in software. Nothing is emulated, so that
no true value is known: the router forwards as fast as this machine can.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from netcalc.emulation.wire.emulated_path import (
    SIDES,
    EmulatedPath,
    Statistics,
    free_subnets,
    require_mtu,
)
from netcalc.emulation.wire.ends import DEVICE, PORTS, ROUTER
from netcalc.errors import DomainError

_HOSTS, _ROUTER_HOSTS = (1, 254), (126, 129)
_RX_DROP, _TX_DROP = 3, 11  # columns of /proc/net/dev
_NOT_TAKEN = ("InHdrErrors", "InAddrErrors", "InDiscards", "InNoRoutes", "InTooBigErrors")
_NOT_SENT = ("OutDiscards", "OutNoRoutes")


@dataclass(frozen=True, slots=True)
class Forwarding:
    """The counters of the router so far, in both directions and of both versions of IP.

    Parameters
    ----------
    received_count : int
        Packets received, the few for the router itself included. [packet]
    forwarded_count : int
        Packets forwarded, those that its output then dropped included. [packet]
    input_drop_count : int
        Packets dropped at its input: the queue of the kernel was full, or no route. [packet]
    output_drop_count : int
        Packets dropped at its output. [packet]
    """

    received_count: int
    forwarded_count: int
    input_drop_count: int
    output_drop_count: int


class Routed(EmulatedPath):
    """Two hosts and a router between them, as long as this object is open.

    Sockets, programs and addresses of the two ends are those of a :class:`EmulatedPath`; what lies
    between is two pairs of devices and a kernel: no path, no queue of netcalc's own, no log
    and no truth.

    Parameters
    ----------
    mtu_bytes : int
        Largest packet on both links. [byte]
    user_namespace : bool
        Whether to create a user namespace even where it is not needed.

    Raises
    ------
    DomainError
        If the MTU is not possible.
    ExperimentError
        When it is opened, if the system refuses a step: which one.
    """

    def __init__(self, *, mtu_bytes: int = 1500, user_namespace: bool = False) -> None:
        require_mtu(mtu_bytes)
        self._subnets = free_subnets()
        self.sides, self._hosts = SIDES, _HOSTS
        self._settings: dict[str, Any] = {
            "mtu_bytes": mtu_bytes,
            "user_namespace": user_namespace,
            "addresses": [[self._interface(host, v) for v in (4, 6)] for host in _HOSTS],
            "addresses_of_router": [
                [self._interface(host, v) for v in (4, 6)] for host in _ROUTER_HOSTS
            ],
            "routers_of_hosts": [[self._host(host, v) for v in (4, 6)] for host in _ROUTER_HOSTS],
            "sysctls": {},
            "offload": False,
            "routers": [],
            "directions": [],
        }
        self._undo = ExitStack()
        self._open = self._log = False

    def forwarding(self) -> Forwarding:
        """Return the counters of the router so far."""
        ip, ip6 = self._read_router("/proc/net/snmp"), self._read_router("/proc/net/snmp6")
        counts = _counts(ip, ip6)
        devices = [self.read("/proc/net/dev", side) for side in SIDES]
        ports = self._read_router("/proc/net/dev")
        refused = sum(_column(table, (DEVICE,), _TX_DROP) for table in devices)
        return Forwarding(
            received_count=counts["InReceives"],
            forwarded_count=counts["ForwDatagrams"],
            input_drop_count=refused
            + _column(ports, PORTS, _RX_DROP)
            + sum(counts[name] for name in _NOT_TAKEN),
            output_drop_count=_column(ports, PORTS, _TX_DROP)
            + sum(counts[name] for name in _NOT_SENT),
        )

    def statistics(self) -> Statistics:
        """Return the counts of forwarded and dropped packets, in the form of an emulated path."""
        counters = self.forwarding()
        return Statistics(
            carried_count=counters.forwarded_count,
            lateness_p50_s=math.nan,
            lateness_p95_s=math.nan,
            lateness_p99_s=math.nan,
            unread_max_s=math.nan,
            late_ratio=0.0,
            noise_count=0,
            refused_count=0,
            answered_count=0,
            device_drop_count=counters.input_drop_count + counters.output_drop_count,
            links=([], []),
        )

    def router_address(self, index: int = 0, version: int = 4) -> str:
        """Return the address of a device of the router, 0 for the one next to A."""
        if index not in (0, 1):
            raise DomainError("not-a-choice", "index", index, choices=[0, 1])
        return self._host(_ROUTER_HOSTS[index], version)

    def truth(self) -> dict[str, Any]:
        """Return the parameters that were set; rates and latencies are not among them."""
        return {"mtu_bytes": self._settings["mtu_bytes"], "offload": False, **self.chosen}

    def _read_router(self, name: str) -> str:
        return self._ask("read", side=ROUTER, name=name)[2].decode("ascii", "replace")

    def _interface(self, number: int, version: int) -> str:
        """Return an address with its prefix: hosts 0 to 127 are on A's link, 128 to 255 on B's."""
        return f"{self._host(number, version)}/{self._subnets[version].max_prefixlen - 7}"


def _counts(ip: str, ip6: str) -> dict[str, int]:
    """Return the counters of both versions of IP together, by the names of IPv4."""
    names, values = (line.split()[1:] for line in ip.splitlines() if line.startswith("Ip:"))
    counts = Counter(dict(zip(names, map(int, values), strict=True)))
    for line in ip6.splitlines():
        name, value = line.split()
        if name.startswith("Ip6"):
            counts[name.removeprefix("Ip6").replace("OutForw", "Forw")] += int(value)
    return counts


def _column(table: str, devices: Sequence[str], index: int) -> int:
    """Return a column of /proc/net/dev, summed over devices."""
    rows = (line.partition(":") for line in table.splitlines())
    return sum(int(fields.split()[index]) for name, _, fields in rows if name.strip() in devices)
