"""The two ends of requests and responses: sockets, packet taps, counters, settings, rows.

A packet tap reads the packets of an interface, stamped by the kernel. It is the second clock of a
measurement, which sees packets where the application sees calls. The difference between the two is
the time of the protocol stack and of the application itself.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path as File
from typing import Any, NamedTuple, Protocol

import numpy as np

from netcalc.emulation.wire.carrier import DEVICE
from netcalc.emulation.wire.emulated_path import EmulatedPath
from netcalc.errors import ExperimentError
from netcalc.experiments.peers import helper, process
from netcalc.experiments.running import instrument, limits
from netcalc.experiments.running.record import Record, seconds
from netcalc.messages import Notice
from netcalc.path import Path
from netcalc.samples import TransactionSamples, write_atomically

SNAP_BYTES = 128
"""Bytes kept of each packet: enough for the headers. [byte]"""
MAX_PACKETS = 200_000
"""Packets kept for a capture file, some 30 MB; further ones are only timed. [packet]"""
WAIT_S = 2e-4
"""Shortest wait of the client that is named: Nagle's is a round trip. [s]"""
HOLD_S = 1e-3
"""Shortest hold of an acknowledgement that is named: a delayed one is held for 40 ms. [s]"""
_ALL_PROTOCOLS = 0x0003
_OUTGOING = 4
_PCAP_NS, _RAW_IP = 0xA1B23C4D, 101
_BUFFER_BYTES = 4 << 20  # some thousand packets between two reads
_FRAGMENT_HEADER = 44
_CHECKSUM_AT = {socket.IPPROTO_TCP: 16, socket.IPPROTO_UDP: 6,
                socket.IPPROTO_ICMP: 2, socket.IPPROTO_ICMPV6: 2}  # fmt: skip
_ECHO_V6 = (128, 129)
_FIN = 0x01


class TappedPacket(NamedTuple):
    """A packet of IPv4 or IPv6 on an interface."""

    at_ns: int
    source: bytes
    packet_bytes: int
    head: bytes


class Transport(NamedTuple):
    """The transport header of a packet: its protocol, offset and fragment."""

    protocol: int
    at: int
    fragment: bytes


class Tap:
    """Reads the packets of one interface of a namespace, through a socket that was opened there.

    Parameters
    ----------
    sock : socket.socket
        A packet socket (``AF_PACKET``, ``SOCK_DGRAM``); it is closed with this object.
    interface : str
        Name of the interface.
    both_ends : bool
        Both ends are in this namespace: each packet is noted once, when it goes out.
    """

    def __init__(self, sock: socket.socket, interface: str, *, both_ends: bool) -> None:
        self._sock = sock
        self._both_ends = both_ends
        self.packets: list[TappedPacket] = []
        self.seen_count = 0
        sock.setsockopt(socket.SOL_SOCKET, helper.SO_TIMESTAMPNS, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        sock.bind((interface, _ALL_PROTOCOLS))
        sock.setblocking(False)

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()

    def read(self) -> list[TappedPacket]:
        """Return the packets since the last call, without what neighbours say to each other."""
        packets = []
        with suppress(BlockingIOError):
            while True:
                head, control, _, origin = self._sock.recvmsg(SNAP_BYTES, 64)
                if self._both_ends and origin[2] != _OUTGOING:
                    continue
                packet = _packet(helper.stamp_ns(control), head)
                if packet is not None:
                    packets.append(packet)
        self.seen_count += len(packets)
        self.packets += packets[: max(0, MAX_PACKETS - len(self.packets))]
        return packets

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the packets as a capture file with times in nanoseconds."""
        parts = [struct.pack("<IHHiIII", _PCAP_NS, 2, 4, 0, 0, SNAP_BYTES, _RAW_IP)]
        for packet in self.packets:
            seconds, rest_ns = divmod(packet.at_ns, 10**9)
            size = max(packet.packet_bytes, len(packet.head))
            parts.append(struct.pack("<IIII", seconds, rest_ns, len(packet.head), size))
            parts.append(packet.head)
        write_atomically(File(path), b"".join(parts))


def exchange_s(packets: list[TappedPacket], server: str, *, longest_s: float = np.inf) -> float:
    """Return the time from the first packet to the last one of the server; nan without. [s]

    The stamps are of the wall clock: a time below 0 or above the longest possible one means that
    the clock was set in between, and is nan, too.
    """
    address = _address(server)
    last = [packet.at_ns for packet in packets if packet.source == address]
    if not last:
        return np.nan
    found_s = (max(last) - packets[0].at_ns) * 1e-9
    return found_s if 0 <= found_s <= longest_s else np.nan


class ExchangePacket(NamedTuple):
    """A packet of a transaction, and the packet it waited for.

    ``sender`` is 0 for the client and 1 for the server, ``after`` the index of the packet that had
    to arrive first, -1 for none, ``wait_s`` the time from then until it was sent.
    """

    sender: int
    packet_bytes: int
    after: int
    wait_s: float


class LadderRow(NamedTuple):
    """A segment under way or a wait: a row of :class:`netcalc.models.hosts.WriteTimeline`."""

    who: str
    what: str
    start_s: float
    end_s: float
    payload_bytes: int

    @property
    def duration_s(self) -> float:
        """How long it took."""
        return self.end_s - self.start_s


def exchange_rows(
    near: list[TappedPacket], far: list[TappedPacket], *, server: str
) -> list[ExchangePacket]:
    """Return the packets of a transaction: the sender, size and wait of each.

    Parameters
    ----------
    near, far : list of TappedPacket
        The packets seen at the client and at the server; the same list where one tap sees both.
    server : str
        Address of the server.

    Returns
    -------
    list of ExchangePacket
        As :func:`netcalc.models.delays.store_and_forward.exchange_timeline` takes them, from the
        first packet to the one that ends the response; empty without a response.
    """
    steps = _transits(near, far, server)
    ends = [step for step in steps if step.sender and _ends_stream(step.packet)][:1]
    ends = ends or [step for step in steps if step.sender][-1:]
    if not ends:
        return []
    steps = steps[: steps.index(ends[0]) + 1]
    rows = []
    for number, step in enumerate(steps):
        came = [
            (other.received_ns, index)
            for index, other in enumerate(steps[:number])
            if other.sender != step.sender and other.received_ns <= step.sent_ns
        ]
        since_ns, after = max(came, default=(steps[0].sent_ns, -1))
        rows.append(
            ExchangePacket(
                sender=int(step.sender),
                packet_bytes=step.packet.packet_bytes,
                after=after,
                wait_s=max(step.sent_ns - since_ns, 0) * 1e-9,
            )
        )
    return rows


def ladder_rows(
    near: list[TappedPacket],
    far: list[TappedPacket],
    *,
    server: str,
    begin_ns: int,
    writes: Sequence[tuple[int, int]] = (),
) -> list[LadderRow]:
    """Return the segments and the waits of one request and its response.

    Parameters
    ----------
    near, far : list of TappedPacket
        The packets seen at the client and at the server; the same list where one tap sees both.
    server : str
        Address of the server.
    begin_ns : int
        When the request was written, by the taps' clock. [ns]
    writes : sequence of (int, int)
        When each part was written, by that clock, and its size; all at once if empty. [ns, byte]

    Returns
    -------
    list of LadderRow
        In the order of their start.
    """
    steps = _transits(near, far, server)
    rows = []
    for step in steps:
        size = _tcp_payload_bytes(step.packet)
        what = "acknowledgement" if not size else "response" if step.sender else "segment"
        who = "to client" if step.sender else "to server"
        rows.append(_row(who, what, step.sent_ns - begin_ns, step.received_ns - begin_ns, size))
    rows += _waits_of_client(steps, begin_ns, writes)
    for sender, who in ((False, "server"), (True, "client")):
        rows += _held_acknowledgements(steps, sender, who, begin_ns)
    return sorted(rows, key=lambda row: row.start_s)


class _Transit(NamedTuple):
    """A packet seen at both ends."""

    sent_ns: int
    received_ns: int
    sender: bool  # True: the server
    packet: TappedPacket


def _transits(near: list[TappedPacket], far: list[TappedPacket], server: str) -> list[_Transit]:
    """Return the packets that both taps saw, in sending order."""
    address = _address(server)
    at_far: dict[bytes, int] = {}
    for packet in far:
        at_far.setdefault(_identity(packet), packet.at_ns)
    steps = []
    for packet in near:
        here, there = packet.at_ns, at_far.get(_identity(packet))
        if there is not None:
            from_server = packet.source == address
            sent, received = (there, here) if from_server else (here, there)
            steps.append(_Transit(sent, received, from_server, packet))
    return sorted(steps, key=lambda step: step.sent_ns)


def _waits_of_client(
    steps: list[_Transit], begin_ns: int, writes: Sequence[tuple[int, int]]
) -> list[LadderRow]:
    """Return the waits between the write of a part and its segment, that a packet ended.

    On a busy machine a call takes longer, too, but nothing comes meanwhile.
    """
    parts = [step for step in steps if not step.sender and _tcp_payload_bytes(step.packet)]
    if not parts:
        return []
    base = _tcp_number(parts[0].packet, 4)
    sizes = accumulate(size for _, size in writes)
    ends = [(at_ns, end) for (at_ns, _), end in zip(writes, sizes, strict=True)]
    came_ns = [step.received_ns for step in steps if step.sender]
    rows = []
    for step in parts[1:]:
        offset = (_tcp_number(step.packet, 4) - base) % (1 << 32)
        at_ns = next((at for at, end in ends if offset < end), begin_ns)
        has_come = any(at_ns < time_ns <= step.sent_ns for time_ns in came_ns)
        if has_come and step.sent_ns - at_ns > WAIT_S * 1e9:
            rows.append(
                _row("client", "waits for acknowledgement", at_ns - begin_ns,
                     step.sent_ns - begin_ns, 0)
            )  # fmt: skip
    return rows


def _held_acknowledgements(
    steps: list[_Transit], sender: bool, who: str, begin_ns: int
) -> list[LadderRow]:
    """Return the times from the arrival of data to its acknowledgement."""
    rows = []
    waiting: list[tuple[int, int]] = []  # arrival, end of the data
    events = [(step.received_ns, 0, step) for step in steps if step.sender == sender]
    events += [(step.sent_ns, 1, step) for step in steps if step.sender != sender]
    for at_ns, answers, step in sorted(events, key=lambda event: event[:2]):
        size = _tcp_payload_bytes(step.packet)
        if not answers:
            if size:
                waiting.append((at_ns, _tcp_number(step.packet, 4) + size))
            continue
        acked = _tcp_number(step.packet, 8)
        since = [at for at, end in waiting if (acked - end) % (1 << 32) < 1 << 31]
        waiting = [(at, end) for at, end in waiting if (acked - end) % (1 << 32) >= 1 << 31]
        if since and at_ns - since[0] > HOLD_S * 1e9:
            rows.append(
                _row(who, "holds acknowledgement", since[0] - begin_ns, at_ns - begin_ns, 0)
            )
    return rows


def _row(who: str, what: str, start_ns: float, end_ns: float, size: int) -> LadderRow:
    return LadderRow(who, what, start_ns * 1e-9, end_ns * 1e-9, size)


def _packet(at_ns: int, head: bytes) -> TappedPacket | None:
    """Return a packet of IPv4 or IPv6; None for others, and for neighbour discovery."""
    if len(head) >= 20 and head[0] >> 4 == 4:
        return TappedPacket(at_ns, head[12:16], int.from_bytes(head[2:4], "big"), head)
    if len(head) < 48 or head[0] >> 4 != 6:
        return None
    protocol, at, _ = _transport(head)
    neighbours = protocol == socket.IPPROTO_ICMPV6 and at == 40 and head[at] not in _ECHO_V6
    if protocol not in _CHECKSUM_AT or neighbours:
        return None
    return TappedPacket(at_ns, head[8:24], 40 + int.from_bytes(head[4:6], "big"), head)


def _transport(head: bytes) -> Transport:
    if head[0] >> 4 == 4:
        return Transport(head[9], 4 * (head[0] & 15), head[4:8])
    if head[6] == _FRAGMENT_HEADER:
        return Transport(head[40], 48, head[42:48])
    return Transport(head[6], 40, b"")


def _identity(packet: TappedPacket) -> bytes:
    """Return the part of a packet that is the same at both ends: all but its checksum."""
    protocol, at, fragment = _transport(packet.head)
    checksum = at + _CHECKSUM_AT.get(protocol, 0)
    rest = packet.head[at:checksum] + packet.head[checksum + 2 :]
    return packet.source + fragment + rest


def _ends_stream(packet: TappedPacket) -> bool:
    transport = _transport(packet.head)
    is_tcp = transport.protocol == socket.IPPROTO_TCP
    return is_tcp and bool(packet.head[transport.at + 13] & _FIN)


def _tcp_number(packet: TappedPacket, offset: int) -> int:
    """Return the sequence number (4) or the acknowledged one (8)."""
    at = _transport(packet.head).at + offset
    return int.from_bytes(packet.head[at : at + 4], "big")


def _tcp_payload_bytes(packet: TappedPacket) -> int:
    at = _transport(packet.head).at
    return packet.packet_bytes - at - 4 * (packet.head[at + 12] >> 4)


def _address(host: str) -> bytes:
    return socket.inet_pton(helper.address_family(host), host)


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
        return limits.ip_version(self.server_host)

    @property
    def family(self) -> socket.AddressFamily:
        """Address family of both ends."""
        return helper.address_family(self.server_host)

    def client_socket(self, kind: int, protocol: int = 0) -> socket.socket:
        """Open a socket of the client, on the client's address."""
        with helper.kept(self.client.socket(self.family, kind, protocol)) as sock:
            if self.client is self.server and (self.version == 6 or not self.own):
                # Both addresses are of one host; unbound, the kernel would pick the server's with
                # IPv6, and with IPv4 one that every other program has, too.
                if kind == socket.SOCK_STREAM:
                    sock.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
                sock.bind((self.client_host, 0))
            return sock

    def tap(self, end: End) -> Tap:
        """Open a packet tap at one end."""
        with helper.kept(end.socket(socket.AF_PACKET, socket.SOCK_DGRAM)) as sock:
            return Tap(sock, self.interface, both_ends=self.client is self.server)

    def listener(self, kind: int) -> socket.socket:
        """Open a socket of the server on a free port."""
        with helper.kept(self.server.socket(self.family, kind)) as sock:
            sock.bind((self.server_host, 0))
            if kind == socket.SOCK_STREAM:
                if self.version == 4 and not self.own:
                    helper.accept_only_from(sock, self.client_host)
                sock.listen(helper.BACKLOG)
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
def open_ends(
    run: Record[Any],
    path: Path | None,
    *,
    mtu_bytes: int,
    version: int,
    sysctls: Mapping[str, str],
    tap: bool = True,
    pcap: str | os.PathLike[str] | None = None,
) -> Iterator[tuple[Endpoints, list[Tap]]]:
    """Open the ends of a run: of an emulated path, or on a loopback in a namespace of its own.

    In a namespace of the run, connections use Reno: BBR, the default of some systems, spreads the
    segments of a response over the round trip.

    Where the system refuses a namespace, the host's loopback is used, whose settings are not
    changed; a warning reports it. With ``tap`` there is a packet tap at each end, or one for both,
    where the system permits it; at the end its packets at the client are written to ``pcap``.
    """
    settings = {_CONGESTION: "reno", **sysctls}
    run.facts["address_family"] = f"IPv{version}"
    if path is None:
        opened = _loopback(run, mtu_bytes, version, settings)
    else:
        opened = _emulated(run, path, version, settings)
    with opened as endpoints:
        run.host = endpoints.server_host
        with run.measuring(), _open_taps(run, endpoints, enabled=tap) as taps:
            try:
                yield endpoints, taps
            finally:
                if pcap is not None and taps:
                    taps[0].read()
                    taps[0].save(pcap)
                elif pcap is not None:
                    run.warnings.append(Notice("no-capture"))


@contextmanager
def _open_taps(run: Record[Any], endpoints: Endpoints, *, enabled: bool) -> Iterator[list[Tap]]:
    with ExitStack() as opened:
        taps: list[Tap] = []
        ends = [endpoints.client] if endpoints.own and enabled else []
        if ends and endpoints.server is not endpoints.client:
            ends.append(endpoints.server)
        try:
            taps = [opened.enter_context(closing(endpoints.tap(end))) for end in ends]
        except OSError as error:
            reason = error.strerror or str(error)
            run.warnings.append(Notice("no-packet-tap", {"reason": reason}))
        yield taps


@contextmanager
def _loopback(
    run: Record[Any], mtu_bytes: int, version: int, settings: Mapping[str, str]
) -> Iterator[Endpoints]:
    with (
        instrument.one_processor() as processor,
        process.Namespace(stopping=run.stopping, mtu_bytes=mtu_bytes) as namespace,
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
            client = helper.own_source(server) or client
            run.warnings.append(Notice("host-loopback", {"reason": namespace.refused}))
        yield Endpoints(namespace, namespace, client, server, namespace.own, "lo")


def _add_address(namespace: process.Namespace, address: str) -> None:
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
    before: Mapping[str, Mapping[str, int]],
    after: Mapping[str, Mapping[str, int]],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return by how much counters grew over both ends, and at each end where they are separate."""
    ends = {
        end: {name: counts.get(name, 0) - before[end].get(name, 0) for name in names}
        for end, counts in after.items()
    }
    total = {name: sum(counts[name] for counts in ends.values()) for name in names}
    return total if len(ends) == 1 else {**total, **ends}


def read_counters(end: End) -> dict[str, int]:
    """Return the kernel's counters of TCP and IP: lines of names, each followed by numbers."""
    lines = [line.split() for line in end.read(COUNTERS).splitlines()]
    return {
        name: int(value)
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        for name, value in zip(names[1:], values[1:], strict=True)
    }


class Response(NamedTuple):
    """A request and its response, with None for a response that did not come."""

    mode: str
    sequence: int
    payload_bytes: int
    reply_bytes: int
    sent_ns: int
    response_ns: int | None
    tap_s: float = np.nan
    warm_up: bool = False


class Responses(Record[TransactionSamples]):
    """The exchanges of one run in progress, each a request and its response."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._rows: list[Response] = []

    def add(self, row: Response) -> None:
        """Add an exchange."""
        self._rows.append(row)
        self.advance(seconds(row.response_ns))

    @property
    def done_count(self) -> int:
        """Exchanges so far."""
        return len(self._rows)

    def samples(self) -> TransactionSamples:
        """Return the samples so far."""
        rows = self._rows
        names = ("mode", "sequence", "payload_bytes", "reply_bytes", "tap_s", "warm_up")
        columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in names}
        failed = [row.response_ns is None for row in rows]
        notices = [Notice("no-responses", {"count": sum(failed)})] if any(failed) else []
        return TransactionSamples(
            **columns,
            sent_s=[self.since_start_s(row.sent_ns) for row in rows],
            response_s=[seconds(row.response_ns) for row in rows],
            failed=failed,
            meta=self.meta(warnings=notices),
        )
