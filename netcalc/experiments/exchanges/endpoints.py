"""The two ends of requests and responses: sockets, taps, counters, settings, rows."""

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
from netcalc.experiments.peers.process import Namespace
from netcalc.experiments.running import instrument
from netcalc.experiments.running.limits import ip_version
from netcalc.experiments.running.run import Record
from netcalc.experiments.running.sockets import (
    BACKLOG,
    accept_only_from,
    address_family,
    own_source,
)
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import TransactionSamples

with suppress(ImportError):  # other systems import this module, too
    import fcntl

CLIENT, SERVER = {4: "127.0.0.1", 6: "::1"}, {4: "127.0.0.2", 6: "fd00::2"}
"""Addresses of the two ends on a loopback: two, so that a packet shows its direction."""
COUNTERS = "/proc/net/netstat"
_BIND_ADDRESS_NO_PORT, _SIOCGIFINDEX, _SIOCSIFADDR = 24, 0x8933, 0x8916
_CONGESTION = "net.ipv4.tcp_congestion_control"


class End(Protocol):
    """One end of an exchange: a namespace that opens sockets and reads files of its kernel."""

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket there."""

    def read(self, path: str) -> str:
        """Read a file of that kernel."""


@dataclass(frozen=True, slots=True)
class PathEnd:
    """One end of an emulated path."""

    emulated: EmulatedPath
    side: str

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket there."""
        return self.emulated.socket(self.side, family, kind, protocol)

    def read(self, path: str) -> str:
        """Read a file of that kernel."""
        return self.emulated.read(path, self.side)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The two ends of an exchange: a namespace for each, or one for both."""

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
        return ip_version(self.server_host)

    @property
    def family(self) -> socket.AddressFamily:
        """Address family of both ends."""
        return address_family(self.server_host)

    def client_socket(self, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket of the client, on the client's address."""
        sock = self.client.socket(self.family, kind, protocol)
        if self.client is self.server and (self.version == 6 or not self.own):
            # Both addresses are of one host; unbound, the kernel would pick the server's with IPv6,
            # and with IPv4 one that every other program has, too.
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
        """Open a socket of the server on a free port."""
        sock = self.server.socket(self.family, kind)
        try:
            sock.bind((self.server_host, 0))
            if kind == socket.SOCK_STREAM:
                if self.version == 4 and not self.own:
                    accept_only_from(sock, self.client_host)
                sock.listen(BACKLOG)
        except BaseException:
            sock.close()
            raise
        return sock

    def counters(self) -> dict[str, dict[str, int]]:
        """Return the kernel's counters by end; on a loopback both ends share them."""
        if self.server is self.client:
            return {"both": read_counters(self.client)}
        return {"client": read_counters(self.client), "server": read_counters(self.server)}

    def read_number(self, name: str) -> int | None:
        """Read a setting of the client's kernel; None where it has no such setting."""
        try:
            return int(self.client.read(setting_file(name)))
        except (OSError, ValueError, ExperimentError):
            return None


@contextmanager
def open_taps(
    run: Record[Any], endpoints: Endpoints, *, enabled: bool = True
) -> Iterator[list[Tap]]:
    """Open a packet tap at each end, or one for both; none where the system permits none."""
    taps: list[Tap] = []
    try:
        if endpoints.own and enabled:
            try:
                taps.append(endpoints.tap(endpoints.client))
                if endpoints.server is not endpoints.client:
                    taps.append(endpoints.tap(endpoints.server))
            except OSError as error:
                reason = error.strerror or str(error)
                run.warnings.append(Notice("no-packet-tap", {"reason": reason}))
        yield taps if endpoints.server is endpoints.client or len(taps) == 2 else []
    finally:
        for tap in taps:
            tap.close()


def save_capture(
    run: Record[Any], taps: Sequence[Tap], pcap: str | os.PathLike[str] | None
) -> None:
    """Write the packets of the client's tap to a capture file, if there is a tap."""
    if pcap is None:
        return
    if not taps:
        run.warnings.append(Notice("no-capture"))
        return
    taps[0].read()
    taps[0].save(pcap)


@contextmanager
def open_endpoints(
    run: Record[Any],
    path: Path | None,
    *,
    mtu_bytes: int,
    version: int = 4,
    sysctls: Mapping[str, str] | None = None,
) -> Iterator[Endpoints]:
    """Open the ends of a run: of an emulated path, or on a loopback in a namespace of its own.

    In a namespace of the run, connections use Reno: BBR, the default of some systems, spreads the
    segments of a response over the round trip.

    Where the system refuses a namespace, the host's loopback is used, whose settings are not
    changed; a warning reports it.
    """
    settings = {_CONGESTION: "reno", **(sysctls or {})}
    run.facts["address_family"] = f"IPv{version}"
    if path is None:
        opened = _loopback(run, mtu_bytes, version, settings)
    else:
        opened = _emulated(run, path, version, settings)
    with opened as endpoints:
        run.host = endpoints.server_host
        with run.measuring():
            yield endpoints


@contextmanager
def _loopback(
    run: Record[Any], mtu_bytes: int, version: int, settings: Mapping[str, str]
) -> Iterator[Endpoints]:
    with (
        instrument.one_processor() as processor,
        Namespace(stopping=run.stopping, mtu_bytes=mtu_bytes) as namespace,
    ):
        run.facts.update(instrument.loopback(), shared_processor=processor)
        run.facts["namespace"] = "its own" if namespace.own else "the host's"
        client, server = CLIENT[version], SERVER[version]
        if namespace.own:
            run.facts["loopback_mtu_bytes"] = mtu_bytes
            for name, value in settings.items():
                namespace.write(setting_file(name), value)
            if version == 6:
                _add_address(namespace, server)
        else:
            server = client if version == 6 else server
            client = own_source(server) or client
            run.warnings.append(Notice("host-loopback", {"reason": namespace.refused}))
        yield Endpoints(namespace, namespace, client, server, namespace.own, "lo")


def _add_address(namespace: Namespace, address: str) -> None:
    """Add a second IPv6 address to the loopback of a run."""
    try:
        with namespace.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            request = struct.pack("16s24x", b"lo")
            (index,) = struct.unpack_from("i", fcntl.ioctl(sock, _SIOCGIFINDEX, request), 16)
            packed = socket.inet_pton(socket.AF_INET6, address)
            fcntl.ioctl(sock, _SIOCSIFADDR, struct.pack("16sIi", packed, 128, index))
    except OSError as error:
        raise ExperimentError(
            "loopback-has-no-ipv6", phase="namespace", reason=error.strerror or str(error)
        ) from error


@contextmanager
def _emulated(
    run: Record[Any], path: Path, version: int, settings: Mapping[str, str]
) -> Iterator[Endpoints]:
    with run.over(EmulatedPath(path, sysctls=settings)) as emulated:
        run.facts["namespace"] = "its own"
        yield Endpoints(
            PathEnd(emulated, "A"),
            PathEnd(emulated, "B"),
            emulated.address("A", version),
            emulated.address("B", version),
            True,
            DEVICE,
            emulated.offload,
        )


def setting_file(name: str) -> str:
    """Return the file of a kernel setting."""
    return "/proc/sys/" + name.replace(".", "/")


def counter_growth(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return by how much each counter grew, by end; those that did not are left out."""
    return {
        end: {
            name: count - before[end].get(name, 0)
            for name, count in counts.items()
            if count != before[end].get(name, 0)
        }
        for end, counts in after.items()
    }


def select_counters(
    counters: Mapping[str, Mapping[str, int]], names: Sequence[str]
) -> dict[str, Any]:
    """Return some counters: summed over both ends, and of each end where they are separate."""
    total = {name: sum(counts.get(name, 0) for counts in counters.values()) for name in names}
    if len(counters) == 1:
        return dict(total)
    ends = {end: {name: counts.get(name, 0) for name in names} for end, counts in counters.items()}
    return {**total, **ends}


def read_counters(end: End) -> dict[str, int]:
    """Return the kernel's counters of TCP and IP: lines of names, each followed by numbers."""
    lines = [line.split() for line in end.read(COUNTERS).splitlines()]
    return {
        name: int(value)
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(names[1:], values[1:], strict=True)
    }


class Responses(Record[TransactionSamples]):
    """The exchanges of one run in progress, each a request and its response."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
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
        """Add an exchange."""
        self._rows.append(
            (mode, sequence, payload_bytes, reply_bytes, sent_ns, response_ns, tap_s, warm_up)
        )
        self.advance(np.nan if response_ns is None else response_ns * 1e-9)

    @property
    def done_count(self) -> int:
        """Exchanges so far."""
        return len(self._rows)

    def samples(self) -> TransactionSamples:
        """Return the samples so far."""
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
            meta=self.meta(warnings=self._warnings()),
        )

    def _warnings(self) -> list[Notice]:
        failed = sum(row[5] is None for row in self._rows)
        return [Notice("no-responses", {"count": failed})] if failed else []
