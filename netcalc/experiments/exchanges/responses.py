"""Requests and responses of one run, as they come, and the place where they are exchanged."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.emulation.wire.ends import DEVICE
from netcalc.errors import ExperimentError
from netcalc.experiments.exchanges.tap import Tap
from netcalc.experiments.peers.namespace import Namespace
from netcalc.experiments.running import instrument
from netcalc.experiments.running.run import Record
from netcalc.path import Path
from netcalc.samples import TransactionSamples

with suppress(ImportError):  # systems that have none import this module, too
    import fcntl

CLIENT, SERVER = {4: "127.0.0.1", 6: "::1"}, {4: "127.0.0.2", 6: "fd00::2"}
"""Addresses of the two ends on a loopback: two, so that a packet tells its direction."""
COUNTERS = "/proc/net/netstat"
_BIND_ADDRESS_NO_PORT, _SIOCGIFINDEX, _SIOCSIFADDR = 24, 0x8933, 0x8916
_CONGESTION = "net.ipv4.tcp_congestion_control"


class End(Protocol):
    """One end of an exchange: a namespace that opens sockets, and shows its kernel's files."""

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket there."""

    def read(self, path: str) -> str:
        """Read a file of the kernel as it is there."""


@dataclass(frozen=True, slots=True)
class WireEnd:
    """One end of an emulated path."""

    wire: EmulatedPath
    side: str

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket there."""
        return self.wire.socket(self.side, family, kind, protocol)

    def read(self, path: str) -> str:
        """Read a file of the kernel as it is there."""
        return self.wire.read(path, self.side)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the two ends of an exchange are: a namespace for each, or one for both."""

    client: End
    server: End
    client_host: str
    server_host: str
    own: bool
    interface: str
    offload: bool = False

    @property
    def version(self) -> int:
        """Version of IP, 4 or 6."""
        return 6 if ":" in self.server_host else 4

    @property
    def family(self) -> socket.AddressFamily:
        """Address family of both ends."""
        return socket.AF_INET6 if self.version == 6 else socket.AF_INET

    def client_socket(self, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket of the client, on the client's address."""
        sock = self.client.socket(self.family, kind, protocol)
        if self.client is self.server and self.version == 6:
            # Here both addresses are one host's, and without this the server's would be taken.
            try:
                if kind == socket.SOCK_STREAM:
                    sock.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
                sock.bind((self.client_host, 0))
            except BaseException:
                sock.close()
                raise
        return sock

    def tap(self, end: End) -> Tap:
        """Open a packet tap at one end."""
        sock = end.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        try:
            return Tap(sock, self.interface, both_ends=self.client is self.server)
        except BaseException:
            sock.close()
            raise

    def listener(self, kind: int) -> socket.socket:
        """Open a socket of the server on a port that the kernel picks."""
        sock = self.server.socket(self.family, kind)
        try:
            sock.bind((self.server_host, 0))
            if kind == socket.SOCK_STREAM:
                sock.listen(64)
        except BaseException:
            sock.close()
            raise
        return sock

    def counters(self) -> dict[str, dict[str, int]]:
        """Return the kernel's counters by end; on a loopback those of both ends are one."""
        if self.server is self.client:
            return {"both": counters_of(self.client)}
        return {"client": counters_of(self.client), "server": counters_of(self.server)}

    def read_number(self, name: str) -> int | None:
        """Read a setting of the client's kernel; None where it has no such setting."""
        try:
            return int(self.client.read(setting_file(name)))
        except (OSError, ValueError, ExperimentError):
            return None


@contextmanager
def taps_of(run: Responses, place: Place, *, wanted: bool = True) -> Iterator[list[Tap]]:
    """Open a packet tap at each end, or one that sees both; none where the system allows none."""
    taps: list[Tap] = []
    try:
        if place.own and wanted:
            try:
                taps.append(place.tap(place.client))
                if place.server is not place.client:
                    taps.append(place.tap(place.server))
            except OSError as error:
                run.warnings.append(f"no packet tap: {error.strerror or error}")
        yield taps if place.server is place.client or len(taps) == 2 else []
    finally:
        for tap in taps:
            tap.close()


def save_capture(run: Responses, taps: Sequence[Tap], pcap: str | os.PathLike[str] | None) -> None:
    """Write what the client's tap saw, if that was asked for and there is a tap."""
    if pcap is None:
        return
    if not taps:
        run.warnings.append("no capture: a packet tap needs a namespace of the run's own")
        return
    taps[0].read()
    taps[0].save(pcap)


@contextmanager
def place_of(
    run: Responses,
    path: Path | None,
    *,
    mtu_bytes: int,
    version: int = 4,
    sysctls: Mapping[str, str] | None = None,
) -> Iterator[Place]:
    """Make the place of a run: an emulated path, or a loopback that belongs to the run alone.

    In a namespace of the run's own, connections use Reno: BBR, which is the default of some
    systems, spreads the segments of a response over the round trip.

    Where the system allows no namespace, the loopback is that of the host, none of its settings is
    changed, and a warning says so.
    """
    settings = {_CONGESTION: "reno", **(sysctls or {})}
    run.facts["address_family"] = f"IPv{version}"
    if path is None:
        made = _loopback(run, mtu_bytes, version, settings)
    else:
        made = _wire(run, path, version, settings)
    with made as place:
        run.host = place.server_host
        run.measure_own_error()
        yield place
        run.measure_own_error()


@contextmanager
def _loopback(
    run: Responses, mtu_bytes: int, version: int, settings: Mapping[str, str]
) -> Iterator[Place]:
    with (
        instrument.one_processor() as processor,
        Namespace(stopping=run.stopping, mtu_bytes=mtu_bytes) as room,
    ):
        run.facts.update(instrument.loopback(), shared_processor=processor)
        run.facts["namespace"] = "its own" if room.own else "the host's"
        client, server = CLIENT[version], SERVER[version]
        if room.own:
            run.facts["loopback_mtu_bytes"] = mtu_bytes
            for name, value in settings.items():
                room.write(setting_file(name), value)
            if version == 6:
                _add_address(room, server)
        else:
            server = client if version == 6 else server
            run.warnings.append(
                f"no namespace of its own ({room.refused}): the loopback is the host's, and its "
                "counters are those of all its programs"
            )
        yield Place(room, room, client, server, room.own, "lo")


def _add_address(room: Namespace, address: str) -> None:
    """Give the loopback of a run a second address of IPv6."""
    try:
        with room.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            request = struct.pack("16s24x", b"lo")
            (index,) = struct.unpack_from("i", fcntl.ioctl(sock, _SIOCGIFINDEX, request), 16)
            packed = socket.inet_pton(socket.AF_INET6, address)
            fcntl.ioctl(sock, _SIOCSIFADDR, struct.pack("16sIi", packed, 128, index))
    except OSError as error:
        raise ExperimentError(
            f"no IPv6 on the loopback: {error.strerror or error}",
            phase="namespace",
            hint="The system has it off (net.ipv6.conf.default.disable_ipv6). Use IPv4",
        ) from error


@contextmanager
def _wire(run: Responses, path: Path, version: int, settings: Mapping[str, str]) -> Iterator[Place]:
    with EmulatedPath(path, sysctls=settings) as wire:
        run.facts.update(namespace="its own", truth=wire.truth())
        yield Place(
            WireEnd(wire, "A"),
            WireEnd(wire, "B"),
            wire.address("A", version),
            wire.address("B", version),
            True,
            DEVICE,
            wire.offload,
        )
        run.note_wire(wire.statistics())


class Responses(Record[TransactionSamples]):
    """The requests of one run, each with the response and its time."""

    def __init__(self, *, tool: str, target: str, note: str = "", **record: Any) -> None:
        super().__init__(**record)
        self._tool, self._target, self._note = tool, target, note
        self._rows: list[tuple[str, int, int, int, int, int | None, float, bool]] = []

    def add(
        self,
        mode: str,
        sequence: int,
        *,
        payload_bytes: int,
        reply_bytes: int,
        sent_ns: int,
        response_ns: int | None,
        tap_s: float = np.nan,
        warm_up: bool = False,
    ) -> None:
        """Note an exchange."""
        self._rows.append(
            (mode, sequence, payload_bytes, reply_bytes, sent_ns, response_ns, tap_s, warm_up)
        )
        self.tell(np.nan if response_ns is None else response_ns * 1e-9)

    @property
    def done_count(self) -> int:
        """Exchanges so far."""
        return len(self._rows)

    def samples(self) -> TransactionSamples:
        """Return what was measured so far."""
        rows = self._rows
        return TransactionSamples(
            mode=[row[0] for row in rows],
            sequence=[row[1] for row in rows],
            payload_bytes=[row[2] for row in rows],
            reply_bytes=[row[3] for row in rows],
            sent_s=[self.since_start_s(row[4]) for row in rows],
            response_s=[np.nan if row[5] is None else row[5] * 1e-9 for row in rows],
            tap_s=[row[6] for row in rows],
            failed=[row[5] is None for row in rows],
            warm_up=[row[7] for row in rows],
            meta=self.meta(
                tool=self._tool,
                target=self._target,
                note=self._note,
                layers={},
                counts={},
                remarks=self._remarks(),
            ),
        )

    def _remarks(self) -> list[str]:
        failed = sum(row[5] is None for row in self._rows)
        return [f"exchanges without a response in time: {failed}"] if failed else []


def setting_file(name: str) -> str:
    """Return the file of a setting of the kernel."""
    return "/proc/sys/" + name.replace(".", "/")


def grown(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the counters that grew, and by how much, by end."""
    return {
        end: {
            name: count - before[end].get(name, 0)
            for name, count in counts.items()
            if count != before[end].get(name, 0)
        }
        for end, counts in after.items()
    }


def counted(found: Mapping[str, Mapping[str, int]], names: Sequence[str]) -> dict[str, Any]:
    """Return some counters: of both ends together, and of each where they are told apart."""
    total = {name: sum(counts.get(name, 0) for counts in found.values()) for name in names}
    if len(found) == 1:
        return dict(total)
    ends = {end: {name: counts.get(name, 0) for name in names} for end, counts in found.items()}
    return {**total, **ends}


def counters_of(end: End) -> dict[str, int]:
    """Return the kernel's counters of TCP and IP at one end: a line of names, then of numbers."""
    lines = [line.split() for line in end.read(COUNTERS).splitlines()]
    return {
        name: int(value)
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(names[1:], values[1:], strict=True)
    }
