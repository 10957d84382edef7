"""An emulated path: two hosts in namespaces of this machine, and real packets between them.

::

    with EmulatedPath(Path.parse("T1 5 ms, T1 1 ms")) as path:
        print(path.run(["ping", "-c", "3", path.address("B")]).stdout)

The two ends, A and B, are network namespaces with the kernel's own TCP/IP. A separate process
carries each packet from one to the other through the queues of the path. The namespace of the
calling process stays as it is: the two have no names, no other process sees them, and the kernel
removes them when the processes of the path end, in whichever way that happens. No privilege is
needed where the system lets users create namespaces.

:class:`Routed` has in place of the path a third namespace, whose kernel routes.
:func:`capabilities` finds by trying what of all this a machine can do.
"""

from __future__ import annotations

import errno
import ipaddress
import math
import os
import platform
import random
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, Self

from netcalc.emulation.chain import both_directions, set_values
from netcalc.emulation.queue import Events, LinkQueue, Log
from netcalc.emulation.wire.carrier import DEVICE, PORTS, ROUTER
from netcalc.emulation.wire.control import NOT_STARTED, PHASE, Control, Programs, start_failure
from netcalc.emulation.wire.kernel import TUN_NODE
from netcalc.errors import DomainError, ExperimentError
from netcalc.messages import Notice

if TYPE_CHECKING:
    from netcalc.path import Path

_SHORTEST_V4, _LONGEST_DEFAULT_V6 = 8, 8  # lengths of prefixes


def free_subnets() -> dict[int, Any]:
    """Return a subnet of IPv4 and one of IPv6 to which this machine has no route.

    They exist in the namespaces of the path only; but a reader of the results should not mistake
    them for real ones. IPv4 is from 198.18.0.0/15, reserved for benchmarks (RFC 2544).
    """
    taken = routes()
    for number in random.sample(range(512), 512):
        subnet = ipaddress.ip_network((int(ipaddress.ip_address("198.18.0.0")) + 256 * number, 24))
        if not any(route.version == 4 and route.overlaps(subnet) for route in taken):
            break
    else:
        raise ExperimentError("no-free-subnet", phase="emulated path", range="198.18.0.0/15")
    while True:
        start = (0xFD << 120) | (random.getrandbits(40) << 80)
        subnet_v6 = ipaddress.ip_network((start, 64))
        if not any(route.version == 6 and route.overlaps(subnet_v6) for route in taken):
            return {4: subnet, 6: subnet_v6}


def routes() -> list[Any]:
    """Return the networks to which this machine has routes, default routes left out.

    So are prefixes shorter than any real network: a VPN overrides the default route by two halves,
    0.0.0.0/1 and 128.0.0.0/1.
    """
    networks: list[Any] = []
    with suppress(OSError):
        for line in File("/proc/net/route").read_text().splitlines()[1:]:
            fields = line.split()
            network, mask = (int(fields[column], 16).to_bytes(4, "little") for column in (1, 7))
            prefix = f"{ipaddress.IPv4Address(network)}/{ipaddress.IPv4Address(mask)}"
            route = ipaddress.ip_network(prefix, strict=False)
            if route.prefixlen >= _SHORTEST_V4:
                networks.append(route)
    with suppress(OSError):
        for line in File("/proc/net/ipv6_route").read_text().splitlines():
            fields = line.split()
            length = int(fields[1], 16)
            if length > _LONGEST_DEFAULT_V6:  # of multicast, too
                networks.append(ipaddress.ip_network((int(fields[0], 16), length), strict=False))
    return networks


MAX_LATE_RATIO = 0.05
"""Above this share of late packets a run does not show the path: minima and medians hardly change
with one late packet in twenty, the 95th percentile does. [ratio]"""


@dataclass(frozen=True, slots=True)
class Overdue:
    """The packets that were delivered more than 50 us late, by the cause.

    Parameters
    ----------
    asleep_count : int
        Due while the process slept: the system ended its sleep later than was asked. [packet]
    stopped_count : int
        Due while it was awake, but did not run for half of the delay or more: the system, or that
        below it, gave the processor to others. [packet]
    busy_count : int
        Due while it carried other packets. [packet]
    """

    asleep_count: int
    stopped_count: int
    busy_count: int

    @property
    def count(self) -> int:
        """All of them. [packet]"""
        return self.asleep_count + self.stopped_count + self.busy_count

    @property
    def host_ratio(self) -> float:
        """Share of them that are the host's and not the process's own; 0 if there are none."""
        return (self.asleep_count + self.stopped_count) / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True)
class Statistics:
    """The counters of an emulated path so far.

    Parameters
    ----------
    carried_count : int
        Packets delivered at one end or the other. [packet]
    lateness_p50_s, lateness_p95_s, lateness_p99_s : float
        Delivery later than computed: median, 95th and 99th percentile. [s]
    unread_max_s : float
        Longest time that a packet without a stamp of the kernel may have waited to be read. One
        with a stamp enters the path at that time. [s]
    late_ratio : float
        Share of packets delivered, or read without a stamp, more than 0.5 ms late. [ratio]
    noise_count, refused_count, answered_count : int
        Packets to neighbours only, which are not carried; packets that the kernel refused at
        delivery; answers of routers. [packet]
    device_drop_count : int
        Packets that the kernel dropped because the path did not read them in time. [packet]
    links : tuple
        The counters of each link, from A to B and from B to A.
    overdue : Overdue, optional
        Why packets were delivered more than 50 us late; None where it is not known.
    is_empty : bool
        No packet is under way or waits unread at either end.
    """

    carried_count: int
    lateness_p50_s: float = math.nan
    lateness_p95_s: float = math.nan
    lateness_p99_s: float = math.nan
    unread_max_s: float = math.nan
    late_ratio: float = 0.0
    noise_count: int = 0
    refused_count: int = 0
    answered_count: int = 0
    device_drop_count: int = 0
    links: tuple[list[dict[str, int]], list[dict[str, int]]] = ([], [])
    overdue: Overdue | None = None
    is_empty: bool = True

    @classmethod
    def from_counts(cls, counts: dict[str, Any], *, device_drop_count: int) -> Statistics:
        """Combine the counts of the carrying process and of the kernel at both devices."""
        carried = counts["carried_count"]
        names = (
            "carried_count", "lateness_p50_s", "lateness_p95_s", "lateness_p99_s", "unread_max_s",
            "noise_count", "refused_count", "answered_count",
        )  # fmt: skip
        return cls(
            **{name: counts[name] for name in names},
            late_ratio=min(1.0, counts["late_count"] / carried) if carried else 0.0,
            device_drop_count=device_drop_count + counts["unread_count"],
            links=(counts["links"][0], counts["links"][1]),
            overdue=Overdue(**counts["overdue"]),
            is_empty=counts["empty"],
        )

    def facts(self) -> dict[str, float]:
        """Return how late the path was and why, by the names of the record of a run."""
        facts = {
            "wire_lateness_p50_s": self.lateness_p50_s,
            "wire_lateness_p95_s": self.lateness_p95_s,
            "wire_lateness_p99_s": self.lateness_p99_s,
            "wire_late_ratio": self.late_ratio,
        }
        if self.overdue is not None and self.carried_count:
            facts["wire_overdue_ratio"] = self.overdue.count / self.carried_count
            facts["wire_overdue_host_ratio"] = self.overdue.host_ratio
        return facts

    @property
    def invalid(self) -> Notice | None:
        """Why a run does not show the path, or None if it does."""
        if self.device_drop_count:
            return Notice("packets-unread", {"count": self.device_drop_count})
        if self.late_ratio > MAX_LATE_RATIO:
            return Notice(
                "packets-late", {"late_ratio": self.late_ratio, "limit_ratio": MAX_LATE_RATIO}
            )
        return None


SIDES = ("A", "B")
OFFLOAD_BPS = 300e6
"""From this rate on, the kernel passes packets of up to 64 KiB, as to a real card: packet by packet
one process carries 400 Mbit/s on a busy machine, 900 on a calm one (tests/benchmarks/wire.py).
[bit/s]"""
MAX_ROUTERS = 250
"""Nodes between the ends: A is host 1 of a /24, the nodes are 2 to 251, B is 254; further senders
are 253, 252 and so on, of which all after the second leave one node less."""
MAX_SENDERS = 8
"""Hosts at the end of A: those of a test bed, and one process reads what all of them send."""
MAX_BUFFER_BYTES = 64 << 20
"""Buffer of each link where none is given: it holds the bandwidth-delay product of 10 Gbit/s and
50 ms, and a sender that is faster than its link cannot fill the memory. [byte]"""
MIN_MTU_BYTES, MAX_MTU_BYTES = 1280, 65_535
"""What IPv6 requires of each link (RFC 8200), and the longest IPv4 packet. [byte]"""
DEVICES = ("tun", "veth")
DEATH_S = 0.1
"""Time for a dying process to be reaped: the devices of the path go before it does. [s]"""


class EmulatedPath:
    """Two hosts and a path between them, as long as this object is open.

    With several senders, ``"A2"``, ``"A3"`` and so on are hosts beside A, each with a line without
    limits of its own to the first link.

    Parameters
    ----------
    path : Path
        The path from A to B; the way back is its reverse.
    mtu_bytes : int
        Largest packet of both ends. [byte]
    offload : bool, optional
        Whether the kernel passes packets of up to 64 KiB, as to a device that segments them: the
        only way to carry 1 Gbit/s, but wrong for the time of a single packet. None decides by rate.
    sysctls : mapping of str to str
        Values of ``net.*`` to set in both namespaces, and nowhere else.
    faults : mapping of int to mapping, optional
        By index of a link: parameters of :class:`LinkQueue` for it alone.
    there, back : mapping, optional
        Parameters of :class:`LinkQueue` for each link from A to B, and from B to A.
    seed : int
        Of the draws of all faults.
    log : bool
        Whether each packet leaves a row at each link; see :meth:`events`.
    senders : int
        Hosts at the end of A, up to 8.
    user_namespace : bool
        Whether to create a user namespace even where it is not needed.
    device : {'tun', 'veth'}, optional
        What carries packets at each end; None takes TUN where its node opens, otherwise a pair of
        virtual Ethernet devices, packet by packet.
    every : dict
        Parameters of :class:`LinkQueue` for each link, in both directions: buffers, loss.

    Raises
    ------
    DomainError
        If a parameter is not possible.
    ExperimentError
        When it is opened, if the system refuses a step: which one, and what works instead.
    """

    def __init__(
        self,
        path: Path,
        *,
        mtu_bytes: int = 1500,
        offload: bool | None = None,
        sysctls: Mapping[str, str] | None = None,
        faults: Mapping[int, Mapping[str, Any]] | None = None,
        there: Mapping[str, Any] | None = None,
        back: Mapping[str, Any] | None = None,
        seed: int = 0,
        log: bool = False,
        senders: int = 1,
        user_namespace: bool = False,
        device: str | None = None,
        **every: Any,
    ) -> None:
        require_mtu(mtu_bytes)
        _require_possible(path, senders, device, sysctls or {})
        self.path = path
        self.offload = path.bottleneck_bps >= OFFLOAD_BPS if offload is None else offload
        if every.get("buffer_bytes") is None and every.get("buffer_packets") is None:
            every["buffer_bytes"] = MAX_BUFFER_BYTES
        self._directions = both_directions(
            path, faults=faults, there=there, back=back, seed=seed, log=log, **every
        )
        for link in chain.from_iterable(self._directions):
            LinkQueue(**link)
            if (link.get("buffer_bytes") or math.inf) < mtu_bytes:
                raise DomainError("below-mtu", "buffer_bytes", link["buffer_bytes"], low=mtu_bytes)
        self._every, self._log = every, log
        self._one_way = {"there": there or {}, "back": back or {}}
        self._subnets = free_subnets()
        self.sides = (*SIDES, *(f"A{number}" for number in range(2, senders + 1)))
        self._hosts = (1, 254, *range(253, 254 - senders, -1))
        self._settings = {
            "directions": self._directions,
            "mtu_bytes": mtu_bytes,
            "offload": self.offload,
            "sysctls": dict(sysctls or {}),
            "user_namespace": user_namespace,
            "device": device,
            "log": log,
            "addresses": [[self._interface(host, v) for v in (4, 6)] for host in self._hosts],
            "routers": [
                [self._host(host, v) for v in (4, 6)] for host in range(2, len(path.hops) + 1)
            ],
        }
        self._undo = ExitStack()
        self._open = False

    def __enter__(self) -> Self:
        if self._open:
            raise ExperimentError("path-already-open", phase=PHASE)
        if not sys.platform.startswith("linux"):
            raise ExperimentError("namespaces-not-linux", phase=PHASE, platform=sys.platform)
        with ExitStack() as undo:
            self._set_up(undo)
            self._undo = undo.pop_all()
        self._open = True
        return self

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        try:
            if isinstance(error, OSError | ExperimentError) and self._open:
                self._explain(error)
        finally:
            self.close()

    def require_alive(self) -> None:
        """Raise an error if the process that carries the packets has ended."""
        if self._open:
            self._control.require_alive()

    def close(self) -> None:
        """End every process of the path; the kernel then removes the rest."""
        self._open = False
        self._undo.close()

    def address(self, side: str, version: int = 4) -> str:
        """Return the address of one end, of IPv4 or IPv6."""
        return self._host(self._hosts[self._side(side)], version)

    def router_address(self, index: int, version: int = 4) -> str:
        """Return the address of a node between the ends, 0 for the one next to A."""
        if not 0 <= index < len(self.path.hops) - 1:
            raise DomainError("no-such-node", "index", index, high=len(self.path.hops) - 2)
        return self._host(2 + index, version)

    def socket(
        self,
        side: str,
        family: int = socket.AF_INET,
        kind: int = socket.SOCK_STREAM,
        protocol: int = 0,
    ) -> socket.socket:
        """Return a socket of one end, for use in this process, from any thread.

        A socket belongs to the namespace in which it was opened, so the other process opens it
        there and passes its descriptor.
        """
        request = {"side": self._side(side), "family": family, "kind": kind, "protocol": protocol}
        _, descriptors, _ = self._ask("socket", **request)
        if not descriptors:  # the kernel had no number for it in this process
            raise start_failure(OSError(errno.EMFILE, os.strerror(errno.EMFILE)), PHASE)
        return socket.socket(fileno=descriptors[0])

    def start(
        self, command: Sequence[str], side: str = "A", **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a program in a process at one end.

        It is killed when the path closes, or this thread ends. It has a PID namespace of its own,
        and what it has started ends with it. ``options`` go to :class:`subprocess.Popen`, whose
        ``pid`` is the number of a process which passes signals on.
        """
        self._require_open()
        return self._programs.start(command, self._side(side), **options)

    def run(
        self, command: Sequence[str], side: str = "A", *, timeout_s: float = 60.0, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a program at one end and wait until it ends.

        Raises
        ------
        ExperimentError
            If the program does not exist, or takes longer than ``timeout_s``; ``partial`` has what
            it printed.
        """
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        process = self.start(command, side, stdin=subprocess.DEVNULL, **options)
        with process:
            try:
                out, err = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired as error:
                process.kill()
                out, _ = process.communicate()
                raise ExperimentError(
                    "program-timeout", phase="run", partial=out,
                    program=command[0], timeout_s=timeout_s,
                ) from error  # fmt: skip
            except BaseException:
                process.kill()
                raise
        if process.returncode == NOT_STARTED:
            raise ExperimentError(
                "program-not-started", phase="run",
                program=command[0], reason=str(err).strip(),
            )  # fmt: skip
        return subprocess.CompletedProcess(list(command), process.returncode, out, err)

    def read(self, name: str, side: str = "A") -> str:
        """Return the text of a file of ``/proc/net`` or ``/proc/sys/net`` as one end sees it."""
        return self._ask("read", side=self._side(side), name=name)[2].decode("ascii", "replace")

    def statistics(self) -> Statistics:
        """Return the counters of the path so far, and how late it delivered packets."""
        counts, _, _ = self._ask("statistics")
        tables = [self.read("/proc/net/dev", side) for side in self.sides]
        drops = sum(_column(table, (DEVICE,), _TX_DROP) for table in tables)
        return Statistics.from_counts(counts, device_drop_count=drops)

    def events(self, towards: str = "B") -> Events:
        """Return the log of the links in the direction of one end.

        Raises
        ------
        DomainError
            If the path was made without a log.
        """
        if not self._log:
            raise DomainError("no-log", "log", False)
        reply, _, data = self._ask("events")
        columns = BytesIO(data)
        logs = [
            [Log.from_bytes([columns.read(size) for size in sizes]) for sizes in direction]
            for direction in reply["sizes"]
        ]
        direction = logs[0 if self._side(towards) == 1 else 1]
        return Events.concatenate([log.events(index) for index, log in enumerate(direction)])

    def new_events(self) -> Events:
        """Return the rows of the log towards B since the last call, as the process has shared them.

        It is not asked, so that no packet is late for it: the rows of the last half second may be
        missing, and come the next time.

        Raises
        ------
        DomainError
            If the path was made without a log.
        """
        self._require_open()
        if not self._log:
            raise DomainError("no-log", "log", False)
        there = os.fstat(self._log_file).st_size - self._read_bytes
        parts, used = Log.from_new_bytes(os.pread(self._log_file, there, self._read_bytes))
        self._read_bytes += used
        return Events.concatenate([log.events(link) for link, log in [(0, Log()), *parts]])

    def truth(self) -> dict[str, Any]:
        """Return the parameters of the path as they were set, for the samples of a run."""
        return {
            **set_values(self.path),
            "mtu_bytes": self._settings["mtu_bytes"],
            "offload": self.offload,
            "links": dict(self._every),
            **{name: dict(options) for name, options in self._one_way.items() if options},
            **self.chosen,
        }

    def _set_up(self, undo: ExitStack) -> None:
        """Start the carrier and take over its descriptors; ``undo`` reverses each step."""
        self._control = Control()
        undo.callback(self._control.close)
        chosen, descriptors = self._control.set_up(self._settings)
        for descriptor in descriptors:
            undo.callback(os.close, descriptor)
        if self._log:
            self._log_file, self._read_bytes = descriptors.pop(), 0
        namespaces, users = descriptors[: len(self.sides)], descriptors[len(self.sides) :]
        self._programs = Programs(namespaces, users[0] if users else -1)
        undo.callback(self._programs.end)
        self.offload = chosen["offload"]
        self.chosen = {name: chosen[name] for name in ("way", "scheduling", "device")}

    def _explain(self, error: OSError | ExperimentError) -> None:
        """Raise the error of a carrying process that has ended, if that is the cause of another."""
        try:
            self._control.require_alive(DEATH_S)
        except ExperimentError as lost:
            if getattr(error, "code", "") != lost.code:
                raise lost from error

    def _require_open(self) -> None:
        if not self._open:
            raise ExperimentError("path-not-open", phase=PHASE)

    def _ask(self, do: str, **arguments: Any) -> tuple[dict[str, Any], list[int], bytes]:
        self._require_open()
        return self._control.ask(do, **arguments)

    def _side(self, side: str) -> int:
        if side not in self.sides:
            raise DomainError("not-a-choice", "side", side, choices=list(self.sides))
        return self.sides.index(side)

    def _host(self, number: int, version: int) -> str:
        if version not in (4, 6):
            raise DomainError("not-a-choice", "version", version, choices=[4, 6])
        return str(self._subnets[version][number])

    def _interface(self, number: int, version: int) -> str:
        return f"{self._host(number, version)}/{self._subnets[version].prefixlen}"


def require_mtu(mtu_bytes: int) -> None:
    """Refuse an MTU that IPv6 does not allow, or IPv4."""
    if not MIN_MTU_BYTES <= mtu_bytes <= MAX_MTU_BYTES:
        raise DomainError(
            "out-of-range", "mtu_bytes", mtu_bytes, low=MIN_MTU_BYTES, high=MAX_MTU_BYTES
        )


def _require_possible(
    path: Path, senders: int, device: str | None, sysctls: Mapping[str, str]
) -> None:
    """Refuse what the two ends and their kernels cannot do."""
    if not 1 <= senders <= MAX_SENDERS:
        raise DomainError("out-of-range", "senders", senders, low=1, high=MAX_SENDERS)
    most_links = MAX_ROUTERS + 1 - max(0, senders - 3)
    if len(path.hops) > most_links:
        raise DomainError("above-maximum", "number of links", len(path.hops), high=most_links)
    if device is not None and device not in DEVICES:
        raise DomainError("not-a-choice", "device", device, choices=list(DEVICES))
    for name in sysctls:
        if not name.startswith("net."):
            raise DomainError("not-net-sysctl", "sysctls", name)


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
            device_drop_count=counters.input_drop_count + counters.output_drop_count,
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


PROGRAMS = ("ping", "traceroute", "mtr", "iperf3", "tcpdump")
"""Programs that are useful at the ends of a path; none is required."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is possible on this machine.

    Parameters
    ----------
    wire : bool
        Whether two namespaces can be connected by a path.
    why_not : str
        What the system refused, and the next best thing, as a sentence; empty where a path is
        possible.
    refusal : str
        Code of that error, such as those of :data:`netcalc.emulation.REFUSALS`; empty otherwise.
    way : str
        ``root`` or ``user namespace``.
    scheduling : str
        ``fifo`` if the process of the path has real-time priority, else ``other``.
    offload, ipv6 : bool
        Whether packets of up to 64 KiB, and IPv6, pass.
    tun : str
        Whether the device node of TUN opens, or why not.
    programs : dict
        Where each of :data:`PROGRAMS` is; None where it is not installed.
    congestion_controls, allowed_congestion_controls : tuple of str
        Those that the kernel has loaded, and those that this user may choose outside a namespace.
    kernel : str
        Its release.
    """

    wire: bool
    why_not: str
    refusal: str
    way: str
    scheduling: str
    offload: bool
    ipv6: bool
    tun: str
    programs: dict[str, str | None]
    congestion_controls: tuple[str, ...]
    allowed_congestion_controls: tuple[str, ...]
    kernel: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON output."""
        return asdict(self)


def capabilities() -> Capabilities:
    """Test the emulation by opening an emulated path and closing it.

    Examples
    --------
    >>> possible = capabilities()
    >>> possible.wire or bool(possible.why_not)
    True
    """
    from netcalc.path import Path  # late: a path itself needs no numpy

    shortest = Path.parse("10 Mbit/s 1 ms")
    chosen, offload, ipv6 = {"way": "", "scheduling": ""}, False, False
    why_not = refusal = ""
    try:
        with EmulatedPath(shortest) as path:
            chosen = path.chosen
            ipv6 = path.address("B", 6)[:4] in path.read("/proc/net/if_inet6", "B")
    except ExperimentError as error:
        why_not, refusal = str(error), error.code
    else:
        with suppress(ExperimentError), EmulatedPath(shortest, offload=True) as path:
            offload = path.offload
    return Capabilities(
        wire=not why_not,
        why_not=why_not,
        refusal=refusal,
        way=chosen["way"],
        scheduling=chosen["scheduling"],
        offload=offload,
        ipv6=ipv6,
        tun=_tun(),
        programs={name: _program(name) for name in PROGRAMS},
        congestion_controls=_words("/proc/sys/net/ipv4/tcp_available_congestion_control"),
        allowed_congestion_controls=_words("/proc/sys/net/ipv4/tcp_allowed_congestion_control"),
        kernel=platform.release(),
    )


def _tun() -> str:
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has none"
    try:
        os.close(os.open(TUN_NODE, os.O_RDWR))
    except OSError as error:
        return f"{TUN_NODE}: {error.strerror}"
    return "opens"


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def _words(name: str) -> tuple[str, ...]:
    try:
        return tuple(File(name).read_text().split())
    except OSError:
        return ()
