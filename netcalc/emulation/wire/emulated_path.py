"""A wire: two hosts in namespaces of this machine, and a path between them for real packets.

::

    with EmulatedPath(Path.parse("T1 5 ms, T1 1 ms")) as wire:
        print(wire.run(["ping", "-c", "3", wire.address("B")]).stdout)

The two ends, A and B, are network namespaces with the kernel's own TCP/IP. A process of its own
carries each packet from one to the other through the queues of the path. Nothing in the namespace
of this process is changed: the two have no names, nobody else sees them, and the kernel takes them
away when the processes of the wire end, whichever way that happens. No privilege is needed where
the system lets users make namespaces.
"""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from netcalc.emulation.chain import both_directions
from netcalc.emulation.events import Events, Log
from netcalc.emulation.queue import LinkQueue
from netcalc.emulation.wire.control import Control
from netcalc.emulation.wire.ends import DEVICE
from netcalc.emulation.wire.programs import Call, Programs
from netcalc.emulation.wire.statistics import Statistics as Statistics
from netcalc.emulation.wire.statistics import device_drops
from netcalc.emulation.wire.subnets import free_subnets
from netcalc.errors import DomainError, ExperimentError

if TYPE_CHECKING:
    from netcalc.path import Path

SIDES = ("A", "B")
OFFLOAD_BPS = 300e6
"""From this rate on, the kernel hands over packets of up to 64 KiB, as to a real card. [bit/s]"""
MAX_ROUTERS = 250
MAX_BUFFER_BYTES = 64 << 20
"""What each link holds where no buffer is asked for. [byte]"""
_Result = TypeVar("_Result")


class EmulatedPath:
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
                if (link.get("buffer_bytes") or math.inf) < mtu_bytes:
                    allowed = f"one packet or more: mtu_bytes, {mtu_bytes}"
                    raise DomainError("buffer_bytes", link["buffer_bytes"], allowed)
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
        _, descriptors, _ = self._ask("socket", **request)
        return socket.socket(fileno=descriptors[0])

    @overload
    def start(
        self, command: Sequence[str], side: str = "A", **options: Any
    ) -> subprocess.Popen[Any]: ...

    @overload
    def start(
        self,
        command: Callable[..., Any],
        side: str = "A",
        *,
        args: tuple[Any, ...] = (),
        **options: Any,
    ) -> Call: ...

    def start(
        self,
        command: Sequence[str] | Callable[..., Any],
        side: str = "A",
        *,
        args: tuple[Any, ...] = (),
        **options: Any,
    ) -> subprocess.Popen[Any] | Call:
        """Start a program, or call a function with ``args``, in a process at one end.

        It is killed when the wire closes, or this thread ends. It has a PID namespace of its own,
        and what it has started ends with it. ``options`` go to :class:`subprocess.Popen`, whose
        ``pid`` is that of a process which passes signals on. A function is found by its module
        there, in a Python of its own, so it cannot be one of a script or a notebook;
        ``functools.partial`` gives it keywords. Its :class:`Call` has the result.
        """
        self._require_open()
        if callable(command):
            return self._programs.call(command, args, _side(side), **options)
        return self._programs.start(command, _side(side), **options)

    @overload
    def run(
        self, command: Sequence[str], side: str = "A", *, timeout_s: float = 60.0, **options: Any
    ) -> subprocess.CompletedProcess[str]: ...

    @overload
    def run(
        self,
        command: Callable[..., _Result],
        side: str = "A",
        *,
        args: tuple[Any, ...] = (),
        timeout_s: float = 60.0,
        **options: Any,
    ) -> _Result: ...

    def run(
        self,
        command: Sequence[str] | Callable[..., Any],
        side: str = "A",
        *,
        args: tuple[Any, ...] = (),
        timeout_s: float = 60.0,
        **options: Any,
    ) -> Any:
        """Run a program or a function at one end to its end.

        Returns
        -------
        subprocess.CompletedProcess or object
            What the program printed; what the function returned, or it raises what that raised.

        Raises
        ------
        ExperimentError
            If the program does not exist, or takes longer than ``timeout_s``; ``partial`` has what
            it printed.
        """
        if callable(command):
            call = self.start(command, side, args=args, **options)
            try:
                return call.result(timeout_s)
            finally:
                call.kill()
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
        drops = sum(device_drops(self.read("/proc/net/dev", side), DEVICE) for side in SIDES)
        return Statistics.of(found, device_drop_count=drops)

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
        self._control = Control()
        undo.callback(self._control.close)
        chosen, descriptors = self._control.set_up(self._settings)
        for descriptor in descriptors:
            undo.callback(os.close, descriptor)
        self._programs = Programs(descriptors[:2], descriptors[2] if len(descriptors) > 2 else -1)
        undo.callback(self._programs.end)
        self.offload = chosen["offload"]
        self.chosen = {name: chosen[name] for name in ("way", "scheduling", "device")}

    def _require_open(self) -> None:
        if not self._open:
            raise ExperimentError(
                "the wire is not open", phase="wire", hint="with EmulatedPath(...) as w:"
            )

    def _ask(self, do: str, **arguments: Any) -> tuple[dict[str, Any], list[int], bytes]:
        self._require_open()
        return self._control.ask(do, **arguments)

    def _host(self, number: int, version: int) -> str:
        if version not in (4, 6):
            raise DomainError("version", version, "4 or 6")
        return str(self._subnets[version][number])

    def _interface(self, number: int, version: int) -> str:
        return f"{self._host(number, version)}/{self._subnets[version].prefixlen}"


def _side(side: str) -> int:
    if side not in SIDES:
        raise DomainError("side", repr(side), "'A' or 'B'")
    return SIDES.index(side)
