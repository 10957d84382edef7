"""A writer of captures for tests and benchmarks: its own, apart from the reader it tests.

``make_packet`` builds one packet byte by byte with ``struct``; ``Capture`` writes files of both
formats; ``Conversation`` makes TCP packets with sequence numbers and a known course.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass, field

SYN, FIN, RST, PSH, ACK = 0x02, 0x01, 0x04, 0x08, 0x10


def ethernet(payload: bytes, kind: int, tags: tuple[int, ...] = ()) -> bytes:
    """A frame without FCS; each tag is an EtherType."""
    head = bytes.fromhex("020000000002 020000000001")
    for tag in tags:
        head += struct.pack("!HH", tag, 7)
    return head + struct.pack("!H", kind) + payload


def ipv4(payload: bytes, protocol: int, source: str, destination: str, **fields: int) -> bytes:
    """An IPv4 packet; ``fields`` may be total, fragment, ttl, id, options (words)."""
    words = fields.get("options", 0)
    total = fields.get("total", 20 + 4 * words + len(payload))
    return (
        struct.pack("!BBHHHBBH", 0x45 + words, fields.get("dscp", 0), total, fields.get("id", 1),
                    fields.get("fragment", 0), fields.get("ttl", 64), protocol, 0)
        + ipaddress.IPv4Address(source).packed
        + ipaddress.IPv4Address(destination).packed
        + b"\x01" * (4 * words)
        + payload
    )  # fmt: skip


def ipv6(payload: bytes, following: int, source: str, destination: str, length: int = -1) -> bytes:
    """An IPv6 packet; ``length`` overrides the payload length."""
    size = len(payload) if length < 0 else length
    return (
        struct.pack("!IHBB", 0x60000000, size, following, 63)
        + ipaddress.IPv6Address(source).packed
        + ipaddress.IPv6Address(destination).packed
        + payload
    )


def tcp(ports: tuple[int, int], sequence: int, ack: int, flags: int, window: int,
        options: bytes = b"", payload: bytes = b"") -> bytes:  # fmt: skip
    """A TCP segment; the options are padded to whole words."""
    options += b"\x00" * (-len(options) % 4)
    words = 5 + len(options) // 4
    return (
        struct.pack("!HHIIHHHH", *ports, sequence % 2**32, ack % 2**32, words << 12 | flags,
                    window, 0, 0)
        + options
        + payload
    )  # fmt: skip


def udp(ports: tuple[int, int], payload: bytes) -> bytes:
    """A UDP datagram."""
    return struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload


def icmp(kind: int, identifier: int, sequence: int, payload: bytes = b"x" * 56) -> bytes:
    """An ICMP message with identifier and sequence number."""
    return struct.pack("!BBHHH", kind, 0, 0, identifier, sequence) + payload


def timestamps(value: int, echo: int) -> bytes:
    """The usual twelve bytes of the time stamp option."""
    return b"\x01\x01\x08\x0a" + struct.pack("!II", value % 2**32, echo % 2**32)


@dataclass
class Capture:
    """Packets with their times, written as pcap or pcapng."""

    packets: list[tuple[int, bytes, int]] = field(default_factory=list)

    def add(self, time_ns: int, packet: bytes, original: int | None = None) -> None:
        self.packets.append((time_ns, packet, len(packet) if original is None else original))

    def pcap(self, *, link: int = 1, order: str = "<", nano: bool = False, snap: int = 65535,
             magic: int | None = None, extra: bytes = b"", minor: int = 4) -> bytes:  # fmt: skip
        known = magic or (0xA1B23C4D if nano else 0xA1B2C3D4)
        out = [struct.pack(order + "IHHiIII", known, 2, minor, 0, 0, snap, link)]
        unit = 1 if nano else 1000
        for time_ns, packet, original in self.packets:
            seconds, rest = divmod(time_ns, 10**9)
            kept = packet[:snap]
            out.append(struct.pack(order + "IIII", seconds, rest // unit, len(kept), original))
            out += [extra, kept]
        return b"".join(out)

    def pcapng(self, *, link: int = 1, order: str = "<", resolution: int | None = None,
               offset_s: int | None = None, kind: int = 6) -> bytes:  # fmt: skip
        """One section with one interface; ``kind`` 6, 3 (simple) or 2 (obsolete)."""
        options = b""
        if resolution is not None:
            options += struct.pack(order + "HHB3x", 9, 1, resolution)
        if offset_s is not None:
            options += struct.pack(order + "HHq", 14, 8, offset_s)
        if options:
            options += struct.pack(order + "HH", 0, 0)
        out = [section(order), block(order, 1, struct.pack(order + "HHI", link, 0, 0) + options)]
        for time_ns, packet, original in self.packets:
            units = in_units(time_ns - (offset_s or 0) * 10**9, resolution)
            out.append(packet_block(order, kind, 0, units, packet, original))
        return b"".join(out)


def in_units(time_ns: int, resolution: int | None) -> int:
    """A time in the units of an if_tsresol byte."""
    if resolution is None:
        return time_ns // 1000
    if resolution & 0x80:
        return (time_ns << (resolution & 0x7F)) // 10**9
    return time_ns * 10**resolution // 10**9


def block(order: str, kind: int, body: bytes) -> bytes:
    """A pcapng block."""
    body += b"\x00" * (-len(body) % 4)
    length = len(body) + 12
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def section(order: str) -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def packet_block(order: str, kind: int, interface: int, units: int, packet: bytes,
                 original: int) -> bytes:  # fmt: skip
    high, low = units >> 32, units & 0xFFFFFFFF
    if kind == 3:
        return block(order, 3, struct.pack(order + "I", original) + packet)
    own = struct.pack(order + ("I" if kind == 6 else "HH"), *((interface,) if kind == 6 else
                      (interface, 0)))  # fmt: skip
    head = own + struct.pack(order + "IIII", high, low, len(packet), original)
    return block(order, kind, head + packet)


@dataclass
class Conversation:
    """A TCP connection: ``send`` adds one segment to a capture, seen at any point of the path."""

    capture: Capture
    client: str = "192.0.2.1"
    server: str = "198.51.100.2"
    ports: tuple[int, int] = (40000, 80)
    numbers: tuple[int, int] = (1000, 5000)
    stamped: bool = False

    def send(self, time_s: float, to_server: bool, sequence: int, ack: int, *, flags: int = ACK,
             payload: int = 0, window: int = 1000, options: bytes = b"") -> None:  # fmt: skip
        """Add a segment; ``sequence`` and ``ack`` count from the first number of their sender."""
        own, other = self.numbers if to_server else self.numbers[::-1]
        ends = (self.client, self.server) if to_server else (self.server, self.client)
        ports = self.ports if to_server else self.ports[::-1]
        if self.stamped:
            options += timestamps(round(time_s * 1000) + 7, 0)
        acked = other + ack if flags & ACK else 0
        segment = tcp(ports, own + sequence, acked, flags, window, options, b"d" * payload)
        self.capture.add(round(time_s * 1e9) + START_NS, ethernet(ipv4(segment, 6, *ends), 0x0800))

    def open(self, time_s: float, to_server_s: float, to_client_s: float,
             options: bytes = b"\x02\x04\x05\xb4\x01\x03\x03\x07") -> float:  # fmt: skip
        """Add a handshake: the answer after ``to_server_s``, its ACK ``to_client_s`` later."""
        self.send(time_s, True, 0, 0, flags=SYN, options=options)
        self.send(time_s + to_server_s, False, 0, 1, flags=SYN | ACK, options=options)
        end_s = time_s + to_server_s + to_client_s
        self.send(end_s, True, 1, 1)
        return end_s


START_NS = 1_700_000_000_123_456_000
