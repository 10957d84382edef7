"""A wire: two hosts in namespaces of this machine, and a path between them for real packets.

::

    with Wire(Path.parse("T1 5 ms, T1 1 ms")) as wire:
        print(wire.run(["ping", "-c", "3", wire.address("B")]).stdout)

The two ends, A and B, are network namespaces with the kernel's own TCP/IP. A process of its own
carries each packet from one to the other through the queues of the path. Nothing in the namespace
of this process is changed: the two have no names, nobody else sees them, and the kernel takes them
away when the processes of the wire end, whichever way that happens. No privilege is needed where
the system lets users make namespaces.
"""

from __future__ import annotations

import array
import ipaddress
import json
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path as File
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from netcalc.emulation import _owner
from netcalc.emulation._kernel import TUN_NODE
from netcalc.emulation.chain import both_directions
from netcalc.emulation.queue import Events, LinkQueue, Log
from netcalc.errors import DomainError, ExperimentError

if TYPE_CHECKING:
    from netcalc.path import Path

SIDES = ("A", "B")
OFFLOAD_BPS = 300e6
"""From this rate on, the kernel hands over packets of up to 64 KiB, as to a real card. [bit/s]"""
MAX_ROUTERS = 250
MAX_LATE_RATIO = 0.05
"""A run through the wire is invalid above this share of late packets. [ratio]"""
MAX_BUFFER_BYTES = 64 << 20
"""What each link holds where no buffer is asked for. [byte]"""
START_LIMIT_S = 15.0
"""How long the wire may take until it stands, or to answer. [s]"""
END_LIMIT_S = 1.0
"""How long its process may take to end by itself. [s]"""
_ENTER = File(__file__).absolute().with_name("_enter.py")
_PACKAGE = File(__file__).absolute().parents[2]
_START = (
    "import sys; sys.path.insert(0, sys.argv[2]); "
    "from netcalc.emulation._carrier import main; sys.exit(main())"
)
_HINTS = {
    1: "The system does not let this user make namespaces (user.max_user_namespaces, "
    "kernel.apparmor_restrict_unprivileged_userns, or a container). The relay works without",
    2: "Load the module of TUN devices (modprobe tun), or use the relay",
    13: f"This user may not open {TUN_NODE}, or not make namespaces. The relay works without",
    28: "Too many namespaces: user.max_user_namespaces or user.max_net_namespaces",
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a wire did so far.

    Parameters
    ----------
    carried_count : int
        Packets delivered at one end or the other. [packet]
    lateness_p50_s, lateness_p99_s : float
        How much later than computed they were delivered: median, 99th percentile. [s]
    unread_max_s : float
        How long a packet may have stood before the wire read it, at most. [s]
    late_ratio : float
        Share of packets delivered or read more than 0.5 ms late. [ratio]
    noise_count, refused_count, answered_count : int
        Packets to neighbours only, not carried; not taken by the kernel; answers of routers.
    device_drop_count : int
        Packets that the kernel dropped because the wire did not read them in time. [packet]
    links : tuple
        The counters of each link, from A to B and from B to A.
    """

    carried_count: int
    lateness_p50_s: float
    lateness_p99_s: float
    unread_max_s: float
    late_ratio: float
    noise_count: int
    refused_count: int
    answered_count: int
    device_drop_count: int
    links: tuple[list[dict[str, int]], list[dict[str, int]]]

    @property
    def invalid(self) -> str | None:
        """Say why a run through the wire does not show the path, or None if it does."""
        if self.device_drop_count:
            return f"the wire did not keep up: {self.device_drop_count} packets were dropped unread"
        if self.late_ratio > MAX_LATE_RATIO:
            limit = f"limit {MAX_LATE_RATIO:.0%}"
            return f"the wire did not keep up: {self.late_ratio:.0%} of its packets late ({limit})"
        return None


class Wire:
    """Two hosts and a path between them, for as long as this object is open.

    Parameters
    ----------
    path : Path
        The path from A to B; the way back is its reverse.
    mtu_bytes : int
        Largest packet of both ends. [byte]
    offload : bool, optional
        Whether the kernel hands over packets of up to 64 KiB, as to a device that cuts them: the
        only way to carry 1 Gbit/s, wrong for the time of a single packet. None decides by rate.
    sysctls : mapping of str to str
        Values of ``net.*`` to set in both namespaces, and nowhere else.
    faults : mapping of int to mapping, optional
        By place of a link: parameters of :class:`LinkQueue` for it alone.
    seed : int
        Of the draws of all faults.
    log : bool
        Whether each packet leaves a row at each link; see :meth:`events`.
    user_namespace : bool
        Whether to make a user namespace even where it is not needed.
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
        seed: int = 0,
        log: bool = False,
        user_namespace: bool = False,
        device: str | None = None,
        **every: Any,
    ) -> None:
        if not 1280 <= mtu_bytes <= 65_535:
            raise DomainError("mtu_bytes", mtu_bytes, "from 1280 (of IPv6) to 65535")
        if len(path.hops) > MAX_ROUTERS + 1:
            raise DomainError("number of links", len(path.hops), f"at most {MAX_ROUTERS + 1}")
        if device not in (None, "tun", "veth"):
            raise DomainError("device", repr(device), "'tun', 'veth' or None")
        for name in sysctls or {}:
            if not name.startswith("net."):
                raise DomainError("sysctls", name, "names that begin with net.")
        self.path = path
        self.offload = path.bottleneck_bps >= OFFLOAD_BPS if offload is None else offload
        if every.get("buffer_bytes") is None and every.get("buffer_packets") is None:
            every["buffer_bytes"] = MAX_BUFFER_BYTES
        self._directions = both_directions(path, faults=faults, seed=seed, log=log, **every)
        for direction in self._directions:
            for link in direction:
                LinkQueue(**link)
        self._every, self._log = every, log
        self._subnets = free_subnets()
        self._settings = {
            "directions": self._directions,
            "mtu_bytes": mtu_bytes,
            "offload": self.offload,
            "sysctls": dict(sysctls or {}),
            "user_namespace": user_namespace,
            "device": device,
            "addresses": [[self._interface(host, v) for v in (4, 6)] for host in (1, 254)],
            "routers": [
                [self._host(2 + place, 4), self._host(2 + place, 6)]
                for place in range(len(path.hops) - 1)
            ],
        }
        self._lock = threading.RLock()
        self._started: list[subprocess.Popen[Any]] = []
        self._undo = ExitStack()
        self._open = False

    def __enter__(self) -> Self:
        if self._open:
            raise ExperimentError("the wire is open already", phase="wire")
        if not sys.platform.startswith("linux"):
            raise ExperimentError(
                f"a wire needs the network namespaces of Linux, this is {sys.platform}",
                phase="wire",
                hint="The relay works without",
            )
        _owner.end_leftovers()
        with ExitStack() as undo:
            self._set_up(undo)
            self._undo = undo.pop_all()
        self._open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process of the wire; the kernel then takes the rest away."""
        self._open = False
        self._undo.close()

    def address(self, side: str, version: int = 4) -> str:
        """Return the address of one end, of IPv4 or IPv6."""
        return self._host((1, 254)[_side(side)], version)

    def router_address(self, place: int, version: int = 4) -> str:
        """Return the address of a node on the way, 0 for the one next to A."""
        if not 0 <= place < len(self.path.hops) - 1:
            raise DomainError("place", place, f"from 0 to {len(self.path.hops) - 2}")
        return self._host(2 + place, version)

    def socket(
        self,
        side: str,
        family: int = socket.AF_INET,
        kind: int = socket.SOCK_STREAM,
        protocol: int = 0,
    ) -> socket.socket:
        """Return a socket that lives at one end, for use in this process, from any thread.

        A socket belongs to the namespace it was made in, so it is made there and handed over.
        """
        request = {"side": _side(side), "family": family, "kind": kind, "protocol": protocol}
        _, descriptors, _ = self._ask("socket", descriptors=1, **request)
        return socket.socket(fileno=descriptors[0])

    def start(self, command: Sequence[str], side: str = "A", **options: Any) -> Any:
        """Start a program at one end; it is killed when the wire closes, or this thread ends.

        ``options`` go to :class:`subprocess.Popen`.
        """
        self._require_open()
        program = list(map(os.fspath, command))
        environment = {**os.environ, **(options.pop("env", None) or {}), _owner.MARK: _owner.mark()}
        descriptors = [self._user, self._namespaces[_side(side)]]
        process = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                str(_ENTER),
                *map(str, [*descriptors, os.getpid()]),
                *program,
            ],
            env=environment,
            pass_fds=[d for d in descriptors if d >= 0],
            start_new_session=True,
            **options,
        )
        self._started = [p for p in self._started if p.poll() is None] + [process]
        return process

    def run(
        self, command: Sequence[str], side: str = "A", *, timeout_s: float = 60.0, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a program at one end to its end; return what it printed.

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
                    f"{command[0]} did not end within {timeout_s:g} s", phase="run", partial=out
                ) from error
            except BaseException:
                process.kill()
                raise
        if process.returncode == 127:
            raise ExperimentError(f"cannot start: {str(err).strip()}", phase="run")
        return subprocess.CompletedProcess(list(command), process.returncode, out, err)

    def read(self, name: str, side: str = "A") -> str:
        """Return a file of ``/proc/net`` or ``/proc/sys/net`` as one end sees it."""
        return self._ask("read", side=_side(side), name=name)[2].decode("ascii", "replace")

    def statistics(self) -> Statistics:
        """Return what the wire did so far, and how punctual it was."""
        found, _, _ = self._ask("statistics")
        drops = sum(_device_drops(self.read("/proc/net/dev", side)) for side in SIDES)
        carried = found["carried_count"]
        return Statistics(
            carried_count=carried,
            lateness_p50_s=found["lateness_p50_s"],
            lateness_p99_s=found["lateness_p99_s"],
            unread_max_s=found["unread_max_s"],
            late_ratio=min(1.0, found["late_count"] / carried) if carried else 0.0,
            noise_count=found["noise_count"],
            refused_count=found["refused_count"],
            answered_count=found["answered_count"],
            device_drop_count=drops + found["unread_count"],
            links=(found["links"][0], found["links"][1]),
        )

    def events(self, towards: str = "B") -> Events:
        """Return the log of the links in the direction of one end.

        Raises
        ------
        DomainError
            If the wire was made without a log.
        """
        if not self._log:
            raise DomainError("log", False, "True, when the wire is made")
        found, _, data = self._ask("events")
        logs: list[list[Log]] = []
        for chain in found["sizes"]:
            logs.append([])
            for sizes in chain:
                columns = []
                for size in sizes:
                    columns.append(data[:size])
                    data = data[size:]
                logs[-1].append(Log.from_bytes(columns))
        wanted = logs[1 - _side(towards)]
        return Events.joined([log.events(place) for place, log in enumerate(wanted)])

    def truth(self) -> dict[str, Any]:
        """Return what is known of the path because it was set, for the samples of a run."""
        return {
            "bandwidths_bps": [link.bandwidth_bps for link in self.path.links],
            "latencies_s": [link.latency_s for link in self.path.links],
            "processings_s": [
                self.path.source_processing_s,
                *(hop.processing_s for hop in self.path.hops),
            ],
            "mtu_bytes": self._settings["mtu_bytes"],
            "offload": self.offload,
            "links": dict(self._every),
            **self.chosen,
        }

    def _set_up(self, undo: ExitStack) -> None:
        """Start the carrier and take over what it made; ``undo`` has every step's reverse."""
        ours, theirs = socket.socketpair()
        with theirs:
            undo.callback(ours.close)
            ours.settimeout(START_LIMIT_S)
            self._control = ours
            self._carrier = subprocess.Popen(
                [*_python("-c"), _START, str(theirs.fileno()), str(_PACKAGE)],
                env={**os.environ, _owner.MARK: _owner.mark()},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            undo.callback(self._end_carrier)
        settings = {**self._settings, "parent": os.getpid()}
        ours.sendall(json.dumps(settings).encode() + b"\n")
        self.chosen, descriptors, _ = self._receive(3)
        for descriptor in descriptors:
            undo.callback(os.close, descriptor)
        self._namespaces = descriptors[:2]
        self._user = descriptors[2] if len(descriptors) > 2 else -1
        undo.callback(self._end_started)
        self.offload = self.chosen["offload"]
        self.chosen = {name: self.chosen[name] for name in ("way", "scheduling", "device")}

    def _end_carrier(self) -> None:
        self._control.close()
        try:
            self._carrier.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._carrier.kill()
        finally:
            self._carrier.wait()

    def _end_started(self) -> None:
        for process in self._started:
            if process.poll() is None:
                with suppress(OSError):
                    process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
        self._started = []

    def _require_open(self) -> None:
        if not self._open:
            raise ExperimentError("the wire is not open", phase="wire", hint="with Wire(...) as w:")

    def _ask(
        self, do: str, *, descriptors: int = 0, **arguments: Any
    ) -> tuple[dict[str, Any], list[int], bytes]:
        self._require_open()
        with self._lock:
            try:
                request = json.dumps({"do": do, "with": arguments}).encode() + b"\n"
                self._control.sendall(request)
            except OSError as error:
                raise self._lost() from error
            return self._receive(descriptors)

    def _receive(self, descriptors: int) -> tuple[dict[str, Any], list[int], bytes]:
        """Read one answer of the carrier: a line, descriptors beside it, and what follows it."""
        found: list[int] = []
        data = b""
        try:
            while b"\n" not in data:
                more, control, _, _ = self._control.recvmsg(65_536, socket.CMSG_LEN(12))
                for level, kind, payload in control:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                        found += array.array("i", payload[: len(payload) // 4 * 4])
                if not more:
                    raise self._lost()
                data += more
            line, _, data = data.partition(b"\n")
            reply: dict[str, Any] = json.loads(line)
            parts = [data]
            left = reply.get("bytes", 0) - len(data)
            while left > 0:
                more = self._control.recv(min(left, 1 << 20))
                if not more:
                    raise self._lost()
                parts.append(more)
                left -= len(more)
            if "error" in reply:
                raise self._refused(reply)
            if reply.get("broken"):
                raise ExperimentError(reply["broken"], phase="wire")
        except BaseException as error:
            for descriptor in found:
                os.close(descriptor)
            if isinstance(error, TimeoutError):
                raise ExperimentError(
                    f"the wire's process did not answer in {START_LIMIT_S:g} s", phase="wire"
                ) from error
            if isinstance(error, ConnectionError):
                raise self._lost() from error
            raise
        return reply, found, b"".join(parts)

    def _lost(self) -> ExperimentError:
        with suppress(subprocess.TimeoutExpired):
            self._carrier.wait(END_LIMIT_S)
        code = self._carrier.returncode
        how = "" if code is None else f" (signal {-code})" if code < 0 else f" (status {code})"
        return ExperimentError(f"the process that carries packets has ended{how}", phase="wire")

    def _refused(self, reply: dict[str, Any]) -> ExperimentError:
        what = f"the system refuses: {reply['text']}"
        hint = None if self._open else _HINTS.get(reply["error"])
        return ExperimentError(what, phase="wire", hint=hint)

    def _host(self, number: int, version: int) -> str:
        if version not in (4, 6):
            raise DomainError("version", version, "4 or 6")
        return str(self._subnets[version][number])

    def _interface(self, number: int, version: int) -> str:
        return f"{self._host(number, version)}/{self._subnets[version].prefixlen}"


def free_subnets() -> dict[int, Any]:
    """Return a subnet of IPv4 and one of IPv6 that this machine has no route to.

    They are seen in the wire's namespaces only; but who reads them should not take them for others.
    """
    taken = _routes()
    for number in random.sample(range(512), 512):
        subnet = ipaddress.ip_network((int(ipaddress.ip_address("198.18.0.0")) + 256 * number, 24))
        if not any(route.version == 4 and route.overlaps(subnet) for route in taken):
            break
    else:
        raise ExperimentError("198.18.0.0/15 is in use, all of it", phase="wire")
    while True:
        start = (0xFD << 120) | (random.getrandbits(40) << 80)
        subnet_v6 = ipaddress.ip_network((start, 64))
        if not any(route.version == 6 and route.overlaps(subnet_v6) for route in taken):
            return {4: subnet, 6: subnet_v6}


def _routes() -> list[Any]:
    """Return what this machine has routes to, the default route left out."""
    routes: list[Any] = []
    with suppress(OSError):
        for line in File("/proc/net/route").read_text().splitlines()[1:]:
            fields = line.split()
            network, mask = (int(fields[place], 16).to_bytes(4, "little") for place in (1, 7))
            if any(mask):
                prefix = f"{ipaddress.IPv4Address(network)}/{ipaddress.IPv4Address(mask)}"
                routes.append(ipaddress.ip_network(prefix, strict=False))
    with suppress(OSError):
        for line in File("/proc/net/ipv6_route").read_text().splitlines():
            fields = line.split()
            length = int(fields[1], 16)
            if length > 8:  # all shorter ones are defaults and multicast
                routes.append(ipaddress.ip_network((int(fields[0], 16), length), strict=False))
    return routes


def _device_drops(table: str) -> int:
    for line in table.splitlines():
        name, _, fields = line.partition(":")
        if name.strip() == "wire0":
            return int(fields.split()[11])
    return 0


def _python(program: object) -> list[str]:
    return [sys.executable, "-I", "-S", str(program)]


def _side(side: str) -> int:
    if side not in SIDES:
        raise DomainError("side", repr(side), "'A' or 'B'")
    return SIDES.index(side)
