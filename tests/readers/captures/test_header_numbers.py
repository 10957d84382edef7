"""Every column of every header, whole and cut after each of its bytes.

A packet is a list of headers; each has its length, the fields it was built with and the bits of
``layers`` it adds. Cut after n bytes, a packet has the fields of those headers that are whole.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
import pytest
import writer as w

from netcalc.readers.captures import read_capture
from netcalc.samples import Layer, PacketTrace

FOUR, OUTER_FOUR = ("192.0.2.1", "198.51.100.2"), ("203.0.113.1", "203.0.113.2")
SIX, OUTER_SIX = ("2001:db8::1", "fe80::2:3"), ("2001:db8:8::8", "2001:db8:9::9")
DATA = b"d" * 9
OF_FILE = ("time_s", "kept_bytes", "original_bytes", "interface", "link_number")


@dataclass(frozen=True)
class Part:
    """One header: its bytes, what it says, its layer; without ``needed`` it is no fault to lack."""

    raw: bytes
    fields: dict[str, object] = field(default_factory=dict)
    layers: int = 0
    needed: bool = True


def ip4(protocol: int, size: int, ends: tuple[str, str] = FOUR, words: int = 0) -> Part:
    """An IPv4 header in front of ``size`` bytes."""
    raw = w.ipv4(bytes(size), protocol, *ends, dscp=0xB9, ttl=61, id=0x8123, options=words)
    fields = {
        "ip_version": 4, "ip_protocol": protocol, "ttl": 61, "traffic_class": 0xB9,
        "ip_id": 0x8123, "packet_bytes": 20 + 4 * words + size,
        "source": ends[0], "destination": ends[1],
    }  # fmt: skip
    return Part(raw[:20], fields, Layer.IPV4)


def ip6(following: int, size: int, ends: tuple[str, str] = SIX) -> Part:
    """An IPv6 header in front of ``size`` bytes, with traffic class and flow label."""
    raw = bytearray(w.ipv6(bytes(size), following, *ends)[:40])
    raw[:4] = bytes.fromhex("6b9f1234")
    fields = {
        "ip_version": 6, "ip_protocol": following, "ttl": 63, "traffic_class": 0xB9, "ip_id": 0,
        "packet_bytes": 40 + size, "source": ends[0], "destination": ends[1],
    }  # fmt: skip
    return Part(bytes(raw), fields, Layer.IPV6)


def tcp(size: int, options: bytes = b"", flags: int = 0x1D5) -> list[Part]:
    """A TCP header in front of ``size`` bytes; the options are one more part, without fields."""
    raw = w.tcp((0x8123, 443), 0x89ABCDEF, 0xFEDCBA98, flags, 0xF00F, options)
    fields = {
        "source_port": 0x8123, "destination_port": 443, "tcp_sequence": 0x89ABCDEF,
        "acknowledged": 0xFEDCBA98, "tcp_flags": flags, "window": 0xF00F, "payload_bytes": size,
    }  # fmt: skip
    return [Part(raw[:20], fields, Layer.TCP)]


def udp(ports: tuple[int, int], size: int) -> Part:
    raw = w.udp(ports, bytes(size))[:8]
    fields = {"source_port": ports[0], "destination_port": ports[1], "payload_bytes": size}
    return Part(raw, fields, Layer.UDP)


def icmp(kind: int, code: int, size: int) -> Part:
    raw = struct.pack("!BBHHH", kind, code, 0, 0x9876, 0xABCD)
    fields = {"icmp_type": kind, "icmp_code": code, "echo_id": 0x9876, "echo_sequence": 0xABCD,
              "payload_bytes": size}  # fmt: skip
    return Part(raw, fields, Layer.ICMP)


def ether(kind: int) -> Part:
    return Part(w.ethernet(b"", kind))


def tag(kind: int) -> Part:
    return Part(struct.pack("!HH", 0xE007, kind), {"tag_count": 1}, Layer.VLAN)


TCP_4 = [ip4(6, 20 + len(DATA)), *tcp(len(DATA))]
TCP_6 = [ip6(6, 20 + len(DATA)), *tcp(len(DATA))]
GRE = Layer.GRE
MPLS = Layer.MPLS
STAMPS = {"timestamp": 0x81020304, "timestamp_echo": 0x95060708}
USUAL = Part(w.timestamps(*STAMPS.values()), STAMPS, Layer.TIMESTAMPS)
OPTIONS = [
    Part(bytes.fromhex("020489ab"), {"mss_bytes": 0x89AB}),
    Part(bytes.fromhex("0402"), {}, Layer.SACK_PERMITTED),
    Part(bytes.fromhex("080a8102030495060708"), STAMPS, Layer.TIMESTAMPS),
    Part(b"\x01"),
    Part(bytes.fromhex("03030c"), {"shift": 12}, Layer.WINDOW_SCALE),
]
SACKS = Part(
    bytes.fromhex("0101051a 81828384 91929394") + bytes(16),
    {"sack_count": 3, "sack_left": 0x81828384, "sack_right": 0x91929394},
)


def tcp_4(*options: Part) -> list[Part]:
    """TCP over IPv4 with these options."""
    raw = b"".join(one.raw for one in options)
    assert len(raw) % 4 == 0
    (head,) = tcp(len(DATA), raw)
    return [ip4(6, 20 + len(raw) + len(DATA)), head, *options]


def gre(flags: int, kind: int, behind: int) -> list[Part]:
    """A GRE header, of which the first 4 bytes say how many more there are."""
    return [Part(struct.pack("!HH", flags, kind), {}, GRE), Part(bytes(behind))]


def inside(header: list[Part], within: list[Part], ends: tuple[str, str] = OUTER_FOUR,
           protocol: int = 47) -> list[Part]:  # fmt: skip
    """A header and a packet in an outer IPv4 packet."""
    size = sum(len(one.raw) for one in (*header, *within)) + len(DATA)
    return [ip4(protocol, size, ends), *header, *within]


def in_udp(port: int, header: Part, within: list[Part]) -> list[Part]:
    size = len(header.raw) + sum(len(one.raw) for one in within) + len(DATA)
    return [ip4(17, 8 + size, OUTER_FOUR), udp((0xC001, port), size), header, *within]


def extended(number: int, raw: bytes) -> list[Part]:
    """TCP over IPv6 behind one extension header, of which the first 8 bytes are needed first."""
    first = Part(raw[:8], {}, Layer.EXTENSION)
    parts = [first, Part(raw[8:], {"ip_protocol": 6})]
    return [ip6(number, len(raw) + 20 + len(DATA)), *parts, *tcp(len(DATA))]


VXLAN_HEAD = Part(struct.pack("!II", 0x08000000, 42 << 8), {}, Layer.VXLAN, needed=False)
GENEVE = struct.pack("!BBHI", 2, 0, 0x6558, 0) + bytes(8)
PPPOE_SIZE = 2 + 20 + 20 + len(DATA)

# name: (link type, headers); DATA follows
PACKETS: dict[str, tuple[int, list[Part]]] = {
    "Ethernet": (1, [ether(0x0800), *TCP_4]),
    "Ethernet, IPv6": (1, [ether(0x86DD), *TCP_6]),
    "802.1Q": (1, [ether(0x8100), tag(0x0800), *TCP_4]),
    "802.1ad": (1, [ether(0x88A8), tag(0x8100), tag(0x86DD), *TCP_6]),
    "0x9100": (1, [ether(0x9100), tag(0x0800), *TCP_4]),
    "0x9200": (1, [ether(0x9200), tag(0x0800), *TCP_4]),
    "VN tag": (1, [ether(0x8926), Part(struct.pack("!IH", 7, 0x0800), {"tag_count": 1}), *TCP_4]),
    "SNAP": (1, [ether(57), Part(bytes.fromhex("aaaa03000000 0800"), {}, Layer.LLC), *TCP_4]),
    "MPLS": (1, [ether(0x8847), Part(struct.pack("!I", 99 << 12 | 0x1FF), {}, MPLS), *TCP_4]),
    "MPLS multicast, two labels": (1, [
        ether(0x8848), Part(struct.pack("!I", 16 << 12 | 0xE40), {}, MPLS),
        Part(struct.pack("!I", 17 << 12 | 0x140), {}, MPLS), *TCP_6]),
    "PPPoE": (1, [
        ether(0x8864), Part(struct.pack("!BBHHH", 0x11, 0, 5, PPPOE_SIZE, 0x21), {}, Layer.PPPOE),
        *TCP_4]),
    "PPPoE by link type, IPv6": (51, [
        Part(struct.pack("!BBHHH", 0x11, 0, 5, PPPOE_SIZE + 20, 0x57), {}, Layer.PPPOE), *TCP_6]),
    "PPP": (9, [Part(b"\0\x21"), *TCP_4]),
    "PPP in HDLC": (50, [Part(b"\xff\x03"), Part(b"\0\x57"), *TCP_6]),
    "PPP, MPLS": (9, [
        Part(struct.pack("!H", 0x281)), Part(struct.pack("!I", 0x1FF), {}, MPLS), *TCP_4]),
    "PPP, MPLS multicast": (9, [
        Part(struct.pack("!H", 0x283)), Part(struct.pack("!I", 0x1FF), {}, MPLS), *TCP_4]),
    "NULL": (0, [Part(struct.pack("<I", 2)), *TCP_4]),
    "NULL, BSD": (0, [Part(struct.pack("<I", 24)), *TCP_6]),
    "NULL, FreeBSD": (0, [Part(struct.pack("<I", 28)), *TCP_6]),
    "NULL, macOS": (0, [Part(struct.pack("<I", 30)), *TCP_6]),
    "NULL, Windows": (0, [Part(struct.pack("<I", 23)), *TCP_6]),
    "LOOP, Linux": (108, [Part(struct.pack(">I", 10)), *TCP_6]),
    "RAW 12": (12, TCP_4),
    "RAW 14": (14, TCP_6),
    "RAW": (101, TCP_4),
    "IPv4": (228, TCP_4),
    "IPv6": (229, TCP_6),
    "SLL": (113, [Part(struct.pack("!HHH8sH", 4, 1, 6, b"a" * 8, 0x86DD)), *TCP_6]),
    "SLL2": (276, [Part(struct.pack("!HHIHBB8s", 0x0800, 0, 3, 1, 4, 6, b"a" * 8)), *TCP_4]),
    "IPv4 options": (101, [
        ip4(17, 8 + len(DATA), words=10), Part(b"\x01" * 40), udp((4789, 0xFEDC), len(DATA))]),
    "UDP over IPv6": (101, [ip6(17, 8 + len(DATA)), udp((0xFEDC, 0x8001), len(DATA))]),
    "ICMP": (101, [ip4(1, 8 + len(DATA)), icmp(3, 4, len(DATA))]),
    "ICMPv6": (101, [ip6(58, 8 + len(DATA)), icmp(128, 200, len(DATA))]),
    "GRE": (101, inside(gre(0, 0x0800, 0), TCP_4)),
    "GRE with checksum": (101, inside(gre(0x8000, 0x0800, 4),
                                      TCP_4)),
    "GRE with key and sequence": (101, inside(
        gre(0x3000, 0x86DD, 8), TCP_6)),
    "GRE with all": (101, inside(
        gre(0xB080, 0x0800, 16), TCP_4)),
    "ERSPAN I": (101, inside(
        gre(0, 0x88BE, 0), [ether(0x0800), *TCP_4])),
    "ERSPAN II": (101, inside(
        gre(0x1000, 0x88BE, 12), [ether(0x0800), *TCP_4])),
    "PPTP": (101, inside(
        gre(0x3001, 0x880B, 8), [Part(b"\0\x21"), *TCP_4])),
    "bridged GRE": (101, inside(
        gre(0, 0x6558, 0), [ether(0x86DD), *TCP_6])),
    "IP in IP": (101, inside([], TCP_4, protocol=4)),
    "6in4": (101, inside([], TCP_6, protocol=41)),
    "4in6": (101, [ip6(4, 40 + len(DATA), OUTER_SIX), *TCP_4]),
    "Ethernet in IP": (101, inside([], [ether(0x0800), *TCP_4], protocol=143)),
    "VXLAN": (101, in_udp(4789, VXLAN_HEAD, [ether(0x0800), *TCP_4])),
    "Geneve with options": (101, in_udp(6081, Part(GENEVE, {}, Layer.VXLAN, needed=False),
                                        [ether(0x86DD), *TCP_6])),
    "Geneve, IPv4": (101, in_udp(
        6081, Part(struct.pack("!BBHI", 0, 0, 0x0800, 0), {}, Layer.VXLAN, needed=False), TCP_4)),
    "hop by hop": (101, extended(0, bytes([6, 1]) + bytes(14))),
    "routing": (101, extended(43, bytes([6, 2]) + bytes(22))),
    "authentication": (101, extended(51, bytes([6, 4]) + bytes(22))),
    "destination": (101, extended(60, bytes([6, 0]) + bytes(6))),
    "mobility": (101, extended(135, bytes([6, 1]) + bytes(14))),
    "HIP": (101, extended(139, bytes([6, 1]) + bytes(14))),
    "Shim6": (101, extended(140, bytes([6, 1]) + bytes(14))),
    "atomic fragment": (101, [
        ip6(44, 28 + len(DATA)),
        Part(struct.pack("!BBHI", 6, 0xFF, 6, 0xABCD9876), {"ip_protocol": 6, "ip_id": 0x9876}),
        *tcp(len(DATA))]),
    "usual time stamps": (101, tcp_4(USUAL)),
    "time stamps and SACK": (101, tcp_4(USUAL, SACKS)),
    "options of a SYN": (101, tcp_4(*OPTIONS)),
    "options in another order": (101, tcp_4(*OPTIONS[::-1])),
}  # fmt: skip
TRANSPORTS = Layer.TCP | Layer.UDP | Layer.ICMP | Layer.TIMESTAMPS | Layer.WINDOW_SCALE


def expected(parts: list[Part], size: int, fault: int) -> dict[str, object]:
    """Fields of the headers that are whole in the first ``size`` bytes, and the fault if any."""
    row: dict[str, object] = dict.fromkeys(PacketTrace.column_types, 0)
    row |= {"source": "", "destination": ""}
    layers, end = 0, 0
    for part in parts:
        end += len(part.raw)
        if end > size:
            layers |= fault if part.needed else 0
            break
        if part.layers & (Layer.IPV4 | Layer.IPV6) and layers & (Layer.IPV4 | Layer.IPV6):
            layers = layers & ~TRANSPORTS | Layer.TUNNEL
        layers |= part.layers
        tags = row["tag_count"] + part.fields.get("tag_count", 0)  # type: ignore[operator]
        row |= part.fields | {"tag_count": tags}
    row["layers"] = layers
    return {name: value for name, value in row.items() if name not in OF_FILE}


def rows_of(trace: PacketTrace) -> list[dict[str, object]]:
    columns = {name: column.tolist() for name, column in trace.columns().items()
               if name not in OF_FILE}  # fmt: skip
    for name in ("source", "destination"):
        columns[name] = [trace.addresses[one] for one in columns[name]]
    return [dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)]


@pytest.mark.each("name", list(PACKETS))
def test_every_field_of_a_packet_cut_after_any_byte(name):
    link, parts = PACKETS[name]
    packet = b"".join(one.raw for one in parts) + DATA
    capture = w.Capture()
    sizes = list(range(1, len(packet) + 1))
    labels = [sum(len(one.raw) for one in parts[: number + 1])
              for number, one in enumerate(parts) if one.layers & Layer.MPLS]  # fmt: skip
    sizes = [size for size in sizes if size not in labels]  # IP version of nothing
    for size in sizes:
        capture.add(w.START_NS, packet[:size], len(packet))
    trace = read_capture(capture.pcap(link=link))
    assert trace.ints("kept_bytes").tolist() == sizes
    assert trace.ints("original_bytes").tolist() == [len(packet)] * len(sizes)
    assert trace.ints("link_number").tolist() == [link] * len(sizes)
    for size, row in zip(sizes, rows_of(trace), strict=True):
        assert row == expected(parts, size, Layer.CUT), size


@pytest.mark.each("name", [
    "Ethernet", "802.1ad", "VN tag", "MPLS", "PPPoE", "PPP", "SLL", "SLL2", "NULL", "RAW", "IPv6",
    "Ethernet, IPv6",
])  # fmt: skip
def test_a_frame_too_short_for_its_headers_is_malformed(name):
    """The frame was this short on the link: no snap length cut it."""
    link, parts = PACKETS[name]
    packet = b"".join(one.raw for one in parts) + DATA
    heads = len(packet) - len(DATA)
    sizes = [size for size in range(1, len(packet))
             if size != 18 or name != "MPLS"]  # fmt: skip
    capture = w.Capture()
    for size in sizes:
        capture.add(w.START_NS, packet[:size])
    trace = read_capture(capture.pcap(link=link))
    for size, row in zip(sizes, rows_of(trace), strict=True):
        known = expected(parts, size, Layer.MALFORMED)
        known["layers"] |= Layer.MALFORMED  # type: ignore[operator]
        if size >= heads:
            known["payload_bytes"] = size - heads
        assert row == known, size
    codes = {one.code: one.values["count"] for one in trace.meta.warnings}
    assert codes["lengths-disagree"] == len(sizes)
    assert "headers-cut" not in codes


def one(packet: bytes, link: int = 101) -> dict[str, object]:
    capture = w.Capture()
    capture.add(w.START_NS, packet)
    (row,) = rows_of(read_capture(capture.pcap(link=link)))
    return row


def test_bytes_behind_the_packet_are_not_its_payload():
    for name in ("Ethernet", "Ethernet, IPv6", "PPPoE", "GRE", "VXLAN"):
        link, parts = PACKETS[name]
        packet = b"".join(each.raw for each in parts) + DATA
        assert one(packet + bytes(30), link) == expected(parts, len(packet), 0), name


def test_a_pppoe_length_below_the_packet_is_the_end_of_it():
    for size, left in ((1 + 49, 48), (42, 40)):
        head = struct.pack("!BBHHH", 0x11, 0, 5, size, 0x21)
        row = one(head + b"".join(each.raw for each in TCP_4) + DATA, 51)
        assert row["payload_bytes"] == left - 40
        assert row["layers"] == Layer.PPPOE | Layer.IPV4 | Layer.TCP | Layer.MALFORMED
    for version, code in ((0x12, 0), (0x11, 9)):  # no session: discovery, or another version
        head = struct.pack("!BBHHH", version, code, 5, 51, 0x21)
        assert one(head + b"".join(each.raw for each in TCP_4) + DATA, 51)["layers"] == Layer.PPPOE


def test_udp_lengths():
    def with_length(length: int) -> bytes:
        raw = struct.pack("!HHHH", 7, 8, length, 0) + DATA
        return w.ipv4(raw, 17, *FOUR)

    assert [one(with_length(size))["payload_bytes"] for size in (0, 7, 8, 9, 16, 17, 18)] == [
        9, 9, 0, 1, 8, 9, 9,
    ]  # fmt: skip


def test_what_is_no_tunnel_stays_udp():
    within = b"".join(each.raw for each in (ether(0x0800), *TCP_4)) + DATA
    for port, head in (
        (4789, bytes(8)), (4788, VXLAN_HEAD.raw), (4790, VXLAN_HEAD.raw),
        (6081, b"\x40" + bytes(7)), (6080, GENEVE), (6082, GENEVE),
    ):  # fmt: skip
        row = one(w.ipv4(w.udp((4789, port), head + within), 17, *FOUR))
        assert row["layers"] == Layer.IPV4 | Layer.UDP, port
        assert (row["destination_port"], row["payload_bytes"]) == (port, len(head + within))


def test_gre_with_a_route_or_with_nothing_inside_ends_there():
    routed = struct.pack("!HHI", 0x4000, 0x0800, 0) + TCP_4[0].raw + TCP_4[1].raw + DATA
    for packet in (routed, struct.pack("!HH", 0, 0x0800), struct.pack("!HHI", 0x2000, 0x0800, 1)):
        row = one(w.ipv4(packet, 47, *FOUR))
        assert (row["layers"], row["ip_protocol"]) == (Layer.IPV4 | Layer.GRE, 47)
    cut = w.ipv4(struct.pack("!HH", 0, 0x0800) + b"\x45", 47, *FOUR)
    assert one(cut)["layers"] == Layer.IPV4 | Layer.GRE | Layer.MALFORMED


def test_fragments():
    word = {"whole": 0, "not to be cut": 0x4000, "first": 0x2000, "last": 1, "middle": 0x3FFF}
    found = {}
    for name, value in word.items():
        row = one(w.ipv4(tcp(0)[0].raw, 6, *FOUR, fragment=value))
        found[name] = row["layers"] & ~Layer.IPV4, row["destination_port"]
    both = Layer.FRAGMENT | Layer.LATER_FRAGMENT
    assert found == {
        "whole": (Layer.TCP, 443), "not to be cut": (Layer.TCP, 443),
        "first": (Layer.TCP | Layer.FRAGMENT, 443), "last": (both, 0), "middle": (both, 0),
    }  # fmt: skip
    for value, layers in ((1, Layer.FRAGMENT), (8, both), (9, both), (6, 0)):
        raw = struct.pack("!BBHI", 6, 0, value, 0x12345) + tcp(0)[0].raw
        row = one(w.ipv6(raw, 44, *SIX))
        transport = 0 if layers == both else Layer.TCP
        assert row["layers"] == Layer.IPV6 | layers | transport, value
        assert (row["ip_id"], row["ip_protocol"]) == (0x2345, 6)
    short = one(w.ipv4(tcp(0)[0].raw[:19], 6, *FOUR, fragment=0x2000))
    assert short["layers"] == Layer.IPV4 | Layer.FRAGMENT  # the rest is in the next fragment


def test_numbers_that_no_header_may_have():
    good = w.ipv4(tcp(0)[0].raw, 6, *FOUR)
    for bad in (b"\x44" + good[1:], b"\x55" + good[1:], good[:2] + b"\0\x13" + good[4:]):
        assert not one(bad)["layers"] & Layer.TCP
    for version in (0x40, 0x70):
        raw = bytes([version]) + w.ipv6(b"", 59, *SIX)[1:]
        assert one(w.ethernet(raw, 0x86DD), 1)["layers"] == Layer.MALFORMED
    for version in (0x55, 0x35):
        assert one(w.ethernet(bytes([version]) + good[1:], 0x0800), 1)["layers"] == Layer.MALFORMED
    for total, layers in ((19, 0), (20, Layer.IPV4)):
        raw = good[:2] + struct.pack("!H", total) + good[4:]
        assert one(w.ethernet(raw, 0x0800), 1)["layers"] == Layer.MALFORMED | layers
    for offset, layers in ((4, Layer.MALFORMED), (5, Layer.TCP), (6, Layer.MALFORMED)):
        raw = good[:32] + bytes([offset << 4]) + good[33:]
        assert one(raw)["layers"] == Layer.IPV4 | layers


def test_802_3_lengths_and_types():
    snap = bytes.fromhex("aaaa03000000 0800") + w.ipv4(tcp(0)[0].raw, 6, *FOUR)
    assert one(w.ethernet(snap, 1535), 1)["layers"] & Layer.LLC
    assert one(w.ethernet(snap, 1536), 1)["layers"] == 0
    assert one(w.ethernet(b"\xaa\xab" + snap[2:], 48), 1)["layers"] == Layer.LLC
    assert one(w.ethernet(snap[:7], 7), 1)["layers"] == 0
    assert one(w.ethernet(snap[:8], 8), 1)["layers"] == Layer.LLC | Layer.MALFORMED
    assert one(w.ethernet(struct.pack("!I", 0x1FF), 0x8847), 1)["layers"] == Layer.MPLS
    assert one(w.ethernet(struct.pack("!IB", 0x1FF, 0x70), 0x8847), 1)["layers"] == Layer.MPLS
    assert one(bytes([0x70]) + bytes(30))["layers"] == 0


def test_loopback_families():
    for number, version in ((2, 4), (24, 6), (28, 6), (30, 6), (10, 6), (23, 6), (7, 0)):
        raw = b"".join(each.raw for each in (TCP_6 if version == 6 else TCP_4)) + DATA
        for order in "<>":
            assert one(struct.pack(order + "I", number) + raw, 0)["ip_version"] == version


@pytest.mark.each("size", [0, 7, 8, 40])
def test_jumbograms_and_lengths_left_to_the_card(size):
    """A length of 0 with an option is a jumbogram's; without, what the frame leaves."""
    option = struct.pack("!BBBBI", 6, 0, 0xC2, 4, 8 + 20 + size)
    raw = option + tcp(0)[0].raw + bytes(size)
    for following, claimed in ((0, raw), (60, raw), (0, option[:2] + b"\xc2\x05" + raw[4:])):
        row = one(w.ipv6(claimed + bytes(3), following, *SIX, length=0))
        extra = 0 if (following, claimed) == (0, raw) else 3
        assert (row["packet_bytes"], row["payload_bytes"]) == (68 + size + extra, size + extra)
        known = Layer.IPV6 | Layer.EXTENSION | Layer.OFFLOADED | Layer.TCP
        assert row["layers"] == known
    assert one(w.ipv6(b"", 59, *SIX, length=0))["layers"] == Layer.IPV6
    large = struct.pack("!BBBBI", 6, 0, 0xC2, 4, 70_028) + tcp(0)[0].raw + bytes(70_000)
    assert one(w.ipv6(large, 0, *SIX, length=0))["packet_bytes"] == 70_068


FAULTY_OPTIONS = {
    "unknown ones, length 2": ("fd02 fd02", {}, 0),
    "MSS of 3 bytes": ("020305 01", {}, 0),
    "MSS of 5 bytes": ("0205050505 010101", {}, 0),
    "shift of 2 bytes": ("0302 0101", {}, 0),
    "shift of 4 bytes": ("03040505", {}, 0),
    "SACK permitted of 3 bytes": ("040300 01", {}, 0),
    "stamps of 9 bytes": ("0809 00000001000000 010101", {}, 0),
    "stamps of 11 bytes": ("080b 0000000100000002ff 01", {}, 0),
    "SACK of one": ("050a" + "00" * 8 + "0101", {"sack_count": 1}, 0),
    "SACK of 9 bytes": ("0509" + "00" * 7 + "010101", {}, 0),
    "a length of 1": ("fd01 02040101 0101", {}, 0),
    "behind the end": ("00 020401010101 01", {}, 0),
    "MSS behind padding": ("01010101 02040102", {"mss_bytes": 0x102}, 0),
    "MSS at the very end": ("fd04 0000 02040102", {"mss_bytes": 0x102}, 0),
    "MSS beyond the end": ("01 01 02 04", {}, 0),
    "nothing but padding": ("01" * 40, {}, 0),
    "shift behind 37": ("01" * 37 + "03030e", {"shift": 14}, Layer.WINDOW_SCALE),
}


@pytest.mark.each("name", list(FAULTY_OPTIONS))
def test_options_of_odd_lengths(name):
    raw, fields, layer = FAULTY_OPTIONS[name]
    options = bytes.fromhex(raw)
    row = one(w.ipv4(w.tcp((1, 2), 0, 0, 2, 9, options, b"\x02\x04\x77\x77"), 6, *FOUR))
    known = dict.fromkeys(("mss_bytes", "shift", "sack_count", "timestamp", "timestamp_echo"), 0)
    assert {key: row[key] for key in known} == known | fields
    assert row["layers"] == Layer.IPV4 | Layer.TCP | layer
    assert row["payload_bytes"] == 4


def test_addresses_are_those_of_the_headers():
    ends = [("0.0.0.0", "255.255.255.255"), ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")]
    capture = w.Capture()
    for source, destination in ends:
        capture.add(w.START_NS, w.ipv4(tcp(0)[0].raw, 6, source, destination))
    six = [("::1", "ff02::1"), ("2001:db8::1:0:0:1", "2001:db8:1::1"), ("ff02::1", "::1")]
    for source, destination in six:
        capture.add(w.START_NS, w.ipv6(tcp(0)[0].raw, 6, source, destination))
    trace = read_capture(capture.pcap(link=101))
    names = np.array(trace.addresses)
    found = zip(names[trace.ints("source")], names[trace.ints("destination")], strict=True)
    assert list(found) == ends + six
    assert trace.addresses[0] == ""
    assert len(trace.addresses) == 1 + 4 + 4


@pytest.mark.each("words", [0, 1, 2, 7])
def test_a_frame_check_sequence_is_no_payload(words):
    capture = w.Capture()
    cut_off = w.ipv4(tcp(0)[0].raw + DATA, 6, *FOUR, total=0)  # as long as the frame
    capture.add(w.START_NS, w.ethernet(cut_off + b"f" * 2 * words, 0x0800))
    trace = read_capture(capture.pcap(link=1 | 1 << 26 | words << 28))
    assert trace.ints("payload_bytes").tolist() == [len(DATA)]
    assert read_capture(capture.pcap(link=1)).ints("payload_bytes") == [len(DATA) + 2 * words]
    assert read_capture(capture.pcap(link=1 | words << 28)).ints("payload_bytes") == [
        len(DATA) + 2 * words
    ]
