"""Header fields of hand-built packets behind every link layer, tag and tunnel.

The packets are built byte by byte; the expected fields are those given to the builder, and header
lengths are those of the RFCs and of IEEE 802.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest
import writer as w

from netcalc import readers
from netcalc.readers.captures import read_capture
from netcalc.readers.captures.tcp import facts
from netcalc.samples import Layer, PacketTrace

SEGMENT = w.tcp((40000, 80), 7, 9, w.ACK, 300, b"", b"d" * 11)
IP4 = w.ipv4(SEGMENT, 6, "192.0.2.1", "198.51.100.2")
IP6 = w.ipv6(SEGMENT, 6, "2001:db8::1", "2001:db8::2")
INNER = w.ethernet(IP4, 0x0800)
GRE_4 = struct.pack("!HH", 0, 0x0800) + IP4
OUTER = ("203.0.113.1", "203.0.113.2")
VXLAN = struct.pack("!II", 0x08000000, 42 << 8)


def read(packet: bytes, link: int = 1) -> PacketTrace:
    capture = w.Capture()
    capture.add(w.START_NS, packet)
    return read_capture(capture.pcap(link=link))


def extension(following: int, words: int = 0) -> bytes:
    """An IPv6 extension header of 8 bytes and some times 8 more."""
    return struct.pack("!BB", following, words) + bytes(6 + 8 * words)


# name: (link type, packet, layers beside IP and TCP, tags)
WAYS = {
    "Ethernet": (1, INNER, 0, 0),
    "Ethernet, IPv6": (1, w.ethernet(IP6, 0x86DD), 0, 0),
    "padding": (1, INNER + bytes(20), 0, 0),
    "802.1Q": (1, w.ethernet(IP4, 0x0800, (0x8100,)), Layer.VLAN, 1),
    "802.1ad": (1, w.ethernet(IP4, 0x0800, (0x88A8, 0x8100)), Layer.VLAN, 2),
    "three tags": (1, w.ethernet(IP6, 0x86DD, (0x8100, 0x9100, 0x8100)), Layer.VLAN, 3),
    "VN tag": (1, w.ethernet(struct.pack("!IH", 7, 0x0800) + IP4, 0x8926), 0, 1),
    "SNAP": (
        1, w.ethernet(bytes.fromhex("aaaa03000000 0800") + IP4, 8 + len(IP4)), Layer.LLC, 0,
    ),
    "MPLS": (1, w.ethernet(struct.pack("!I", 16 << 12 | 0x1FF) + IP4, 0x8847), Layer.MPLS, 0),
    "two labels": (
        1, w.ethernet(struct.pack("!II", 16 << 12 | 64, 17 << 12 | 0x140) + IP6, 0x8847),
        Layer.MPLS, 0,
    ),
    "PPPoE": (
        1, w.ethernet(struct.pack("!BBHHH", 0x11, 0, 5, 2 + len(IP4), 0x21) + IP4, 0x8864),
        Layer.PPPOE, 0,
    ),
    "PPPoE in QinQ": (
        1, w.ethernet(struct.pack("!BBHHH", 0x11, 0, 5, 2 + len(IP6), 0x57) + IP6, 0x8864,
                      (0x88A8, 0x8100)), Layer.PPPOE | Layer.VLAN, 2,
    ),
    "NULL little-endian": (0, struct.pack("<I", 2) + IP4, 0, 0),
    "NULL big-endian, IPv6": (0, struct.pack(">I", 30) + IP6, 0, 0),
    "LOOP": (108, struct.pack(">I", 2) + IP4, 0, 0),
    "PPP": (9, struct.pack("!H", 0x21) + IP4, 0, 0),
    "PPP with control": (9, struct.pack("!HH", 0xFF03, 0x57) + IP6, 0, 0),
    "PPP, one byte": (9, b"\x21" + IP4, 0, 0),
    "RAW": (101, IP4, 0, 0),
    "RAW, IPv6": (101, IP6, 0, 0),
    "IPv4": (228, IP4, 0, 0),
    "IPv6": (229, IP6, 0, 0),
    "SLL": (113, struct.pack("!HHH8xH", 0, 1, 6, 0x0800) + IP4, 0, 0),
    "SLL2": (276, struct.pack("!HHIHBB8x", 0x86DD, 0, 3, 1, 0, 6) + IP6, 0, 0),
    "IPv4 options": (1, w.ethernet(
        w.ipv4(SEGMENT, 6, "192.0.2.1", "198.51.100.2", options=3), 0x0800), 0, 0),
    "GRE": (1, w.ethernet(w.ipv4(GRE_4, 47, *OUTER), 0x0800), Layer.GRE | Layer.TUNNEL, 0),
    "GRE with key": (
        101, w.ipv4(struct.pack("!HHI", 0x2000, 0x86DD, 5) + IP6, 47, *OUTER),
        Layer.GRE | Layer.TUNNEL, 0,
    ),
    "GRE, Ethernet": (
        101, w.ipv4(struct.pack("!HH", 0, 0x6558) + INNER, 47, *OUTER),
        Layer.GRE | Layer.TUNNEL, 0,
    ),
    "IP in IP": (101, w.ipv4(IP4, 4, *OUTER), Layer.TUNNEL, 0),
    "6in4": (101, w.ipv4(IP6, 41, *OUTER), Layer.TUNNEL, 0),
    "4in6": (101, w.ipv6(IP4, 4, "2001:db8::8", "2001:db8::9"), Layer.TUNNEL, 0),
    "VXLAN": (
        101, w.ipv4(w.udp((55555, 4789), VXLAN + INNER), 17, *OUTER),
        Layer.VXLAN | Layer.TUNNEL, 0,
    ),
    "Geneve": (
        101, w.ipv4(w.udp((5, 6081), struct.pack("!BBHI", 1, 0, 0x6558, 0) + bytes(4) + INNER),
                    17, *OUTER), Layer.VXLAN | Layer.TUNNEL, 0,
    ),
    "hop-by-hop and destination": (
        229, w.ipv6(extension(60) + extension(6, 2) + SEGMENT, 0, "2001:db8::1", "2001:db8::2"),
        Layer.EXTENSION, 0,
    ),
    "authentication": (
        229, w.ipv6(struct.pack("!BB10x", 6, 1) + SEGMENT, 51, "2001:db8::1", "2001:db8::2"),
        Layer.EXTENSION, 0,
    ),
}  # fmt: skip


@pytest.mark.each("name", list(WAYS))
def test_tcp_is_found_behind_every_way_in(name):
    link, packet, layers, tags = WAYS[name]
    trace = read(packet, link)
    row = {key: column[0].item() for key, column in trace.columns().items()}
    assert (row["source_port"], row["destination_port"]) == (40000, 80)
    assert (row["tcp_sequence"], row["acknowledged"], row["tcp_flags"]) == (7, 9, w.ACK)
    assert (row["window"], row["payload_bytes"], row["ip_protocol"]) == (300, 11, 6)
    assert row["tag_count"] == tags
    assert row["layers"] & layers == layers
    assert row["layers"] & (Layer.TCP | Layer.CUT | Layer.MALFORMED) == Layer.TCP
    ends = (trace.addresses[row["source"]], trace.addresses[row["destination"]])
    four, six = ("192.0.2.1", "198.51.100.2"), ("2001:db8::1", "2001:db8::2")
    assert ends == (four if row["ip_version"] == 4 else six)
    assert not row["layers"] & Layer.UDP  # of a tunnel: the transport is the inner one
    # UDP in front of a tunnel is there, but its flows are not told apart.
    assert facts(trace)[0].get("udp_flow_count") == (None if layers & Layer.VXLAN else 0)


OPTIONS = {
    "none": (b"", {}),
    "the usual three of a SYN": (
        bytes.fromhex("020405b4 0402 080a 0000000a 00000014 01 030307"),
        {"mss_bytes": 1460, "shift": 7, "timestamp": 10, "timestamp_echo": 20},
    ),
    "padded time stamps": (w.timestamps(2**32 - 1, 3), {"timestamp": 2**32 - 1,
                                                        "timestamp_echo": 3}),
    "SACK behind time stamps": (
        w.timestamps(5, 6) + b"\x01\x01\x05\x12" + struct.pack("!4I", 2**32 - 9, 7, 90, 99),
        {"timestamp": 5, "timestamp_echo": 6, "sack_count": 2, "sack_left": 2**32 - 9,
         "sack_right": 7},
    ),
    "an empty SACK": (b"\x05\x02\x01\x01", {"sack_count": 0}),
    "unknown, then MSS": (b"\xfd\x04ab" + b"\x02\x04\x02\x18", {"mss_bytes": 536}),
    "a length of 0": (b"\xfd\x00\x02\x04\x02\x18\x00\x00", {"mss_bytes": 0}),
    "a length beyond the header": (b"\x02\x28\x02\x18", {"mss_bytes": 0}),
    "behind the end of the list": (b"\x00\x02\x04\x02\x18\x00\x00\x00", {"mss_bytes": 0}),
}  # fmt: skip


@pytest.mark.each("name", list(OPTIONS))
def test_tcp_options(name):
    options, expected = OPTIONS[name]
    segment = w.tcp((1, 2), 0, 0, w.SYN, 1, options)
    trace = read(w.ipv4(segment, 6, "192.0.2.1", "192.0.2.2"), 101)
    names = ("mss_bytes", "shift", "timestamp", "timestamp_echo", "sack_count", "sack_left",
             "sack_right")  # fmt: skip
    zero = dict.fromkeys(names, 0)
    found = {key: trace.ints(key)[0].item() for key in zero}
    assert found == zero | expected
    assert trace.has(Layer.TIMESTAMPS)[0] == ("timestamp" in expected)
    assert trace.has(Layer.WINDOW_SCALE)[0] == ("shift" in expected)


def test_fragments_are_counted_and_the_later_ones_have_no_ports():
    whole = SEGMENT + bytes(37)
    first = w.ipv4(whole[:32], 6, "192.0.2.1", "192.0.2.2", fragment=0x2000)
    later = w.ipv4(whole[32:], 6, "192.0.2.1", "192.0.2.2", fragment=4)
    six = [w.ipv6(struct.pack("!BBHI", 6, 0, word, 77) + part, 44, "2001:db8::1", "2001:db8::2")
           for word, part in ((1, whole[:32]), (32, whole[32:]))]  # fmt: skip
    capture = w.Capture()
    for packet in (first, later, *six):
        capture.add(w.START_NS, packet)
    trace = read_capture(capture.pcap(link=101))
    assert trace.has(Layer.FRAGMENT).tolist() == [True] * 4
    assert trace.has(Layer.LATER_FRAGMENT).tolist() == [False, True, False, True]
    assert trace.ints("source_port").tolist() == [40000, 0, 40000, 0]
    assert trace.ints("ip_protocol").tolist() == [6] * 4
    (notice,) = (one for one in trace.meta.warnings if one.code == "ip-fragments")
    assert notice.values["count"] == 4


SYN = w.tcp((40001, 443), 1000, 0, w.SYN, 64240, struct.pack("!BBHBBB", 2, 4, 1460, 3, 3, 7))


def parts_of(segment: bytes, at: tuple[int, ...], number: int = 5) -> dict[int, list[bytes]]:
    """Cut a segment into fragments of IPv4 and of IPv6 that begin at these bytes."""
    ends = [*at[1:], len(segment)]
    four, six = [], []
    for begin, end in zip(at, ends, strict=True):
        more = end < len(segment)
        word = begin // 8 | (0x2000 if more else 0)
        part = segment[begin:end]
        four.append(w.ipv4(part, 6, "192.0.2.1", "192.0.2.2", fragment=word, id=number))
        header = struct.pack("!BBHI", 6, 0, begin | more, number)
        six.append(w.ipv6(header + part, 44, "2001:db8::1", "2001:db8::2"))
    return {4: four, 6: six}


def capture_of(packets: list[bytes]) -> bytes:
    capture = w.Capture()
    for packet in packets:
        capture.add(w.START_NS, packet)
    data: bytes = capture.pcap(link=101)
    return data


def trace_of(packets: list[bytes]) -> PacketTrace:
    return read_capture(capture_of(packets))


def tcp_flows(packets: list[bytes]) -> int:
    return readers.read(capture_of(packets)).facts()[0]["tcp_flow_count"]


@pytest.mark.each("version", [4, 6])
def test_a_header_spread_over_fragments_is_put_together(version):
    """8 bytes of a SYN in each: its flow is there, with the options at its end."""
    parts = parts_of(SYN, (0, 8, 16, 24))[version]
    for packets in (parts, parts[::-1], [parts[0], IP4, *parts[1:]]):
        trace = trace_of(packets)
        row = packets.index(parts[0])
        assert trace.has(Layer.TCP)[row]
        found = {name: trace.ints(name)[row] for name in
                 ("source_port", "destination_port", "tcp_sequence", "tcp_flags", "window",
                  "mss_bytes", "shift", "payload_bytes")}  # fmt: skip
        assert found == {
            "source_port": 40001, "destination_port": 443, "tcp_sequence": 1000,
            "tcp_flags": w.SYN, "window": 64240, "mss_bytes": 1460, "shift": 7, "payload_bytes": 0,
        }  # fmt: skip
        assert tcp_flows(packets) == 1 + (IP4 in packets)
        assert not trace.has(Layer.MALFORMED)[row]


@pytest.mark.each("version", [4, 6])
def test_a_header_with_a_gap_is_not_put_together(version):
    parts = parts_of(SYN, (0, 8, 16, 24))[version]
    packets = [parts[0], parts[2], parts[3]]
    assert not trace_of(packets).has(Layer.TCP).any()
    assert tcp_flows(packets) == 0


def test_a_header_whose_options_are_in_the_second_fragment_is_put_together():
    """The first has 24 of 28 bytes: more than the fixed header, less than it says."""
    parts = parts_of(SYN, (0, 24))[4]
    trace = trace_of(parts)
    assert (trace.ints("mss_bytes")[0], trace.ints("shift")[0]) == (1460, 7)
    assert tcp_flows(parts) == 1


def test_fragments_of_two_packets_with_one_number_are_told_apart_by_their_place():
    """The number of a packet is used again; the other SYN has another port."""
    other = w.tcp((50002, 443), 5, 0, w.SYN, 100, struct.pack("!BBHBBB", 2, 4, 536, 3, 3, 2))
    packets = parts_of(SYN, (0, 8, 16, 24))[4] + [IP4] * 9 + parts_of(other, (0, 8, 16, 24))[4]
    trace = trace_of(packets)
    assert trace.ints("mss_bytes")[[0, 13]].tolist() == [1460, 536]
    assert trace.ints("source_port")[[0, 13]].tolist() == [40001, 50002]


def test_fragments_of_other_packets_are_not_mixed():
    one, two = (parts_of(SYN, (0, 8, 16, 24), number)[4] for number in (5, 6))
    trace = trace_of([one[0], two[1], two[2], two[3]])
    assert not trace.has(Layer.TCP).any()


def test_a_jumbogram_has_its_length_in_an_option():
    option = struct.pack("!BBBBI", 6, 0, 0xC2, 4, 8 + 20 + 70_000)
    segment = w.tcp((1, 2), 0, 0, w.ACK, 1, b"", bytes(70_000))
    trace = read(w.ipv6(option + segment, 0, "2001:db8::1", "2001:db8::2", length=0), 229)
    assert trace.ints("payload_bytes").tolist() == [70_000]
    assert "offload-frames" in [one.code for one in trace.meta.warnings]


def test_a_length_of_0_is_that_of_the_frame():
    trace = read(w.ipv4(SEGMENT, 6, "192.0.2.1", "192.0.2.2", total=0), 101)
    assert trace.ints("payload_bytes").tolist() == [11]
    assert "length-left-to-card" in [one.code for one in trace.meta.warnings]


FAULTY = {
    "IPv4 in an IPv6 type": w.ethernet(IP4, 0x86DD),
    "a header length of 4 words": w.ethernet(b"\x44" + IP4[1:], 0x0800),
    "a total length below the header": w.ethernet(IP4[:2] + b"\0\x10" + IP4[4:], 0x0800),
    "a TCP offset beyond the packet": w.ethernet(IP4[:32] + b"\xf0" + IP4[33:], 0x0800),
    "an extension beyond the packet": w.ethernet(
        w.ipv6(extension(6, 200)[:8] + SEGMENT, 0, "2001:db8::1", "2001:db8::2"), 0x86DD
    ),
}


@pytest.mark.each("name", list(FAULTY))
def test_lengths_that_disagree_are_said_and_no_fields_are_made_of_them(name):
    trace = read(FAULTY[name])
    assert trace.has(Layer.MALFORMED).all()
    assert not trace.has(Layer.TCP).any()
    assert trace.ints("source_port").tolist() == [0]
    assert "lengths-disagree" in [one.code for one in trace.meta.warnings]


def test_frames_without_ip_are_counted():
    trace = read(w.ethernet(bytes(28), 0x0806))
    assert trace.has(Layer.ARP).all()
    assert trace.meta.warnings == ()
    trace = read(w.ethernet(bytes(46), 0x88CC))
    assert [one.code for one in trace.meta.warnings] == ["packets-without-ip"]


def test_many_layers_end():
    packet = b"".join(struct.pack("!HH", 0x8100, 7) for _ in range(400))
    trace = read(bytes(12) + packet + bytes(4))
    assert len(trace) == 1
    assert not trace.has(Layer.IPV4).any()


def test_addresses_are_told_apart_in_order():
    capture = w.Capture()
    for number in (3, 1, 2, 3):
        packet = w.ipv4(SEGMENT, 6, f"192.0.2.{number}", "192.0.2.9")
        capture.add(w.START_NS, packet)
    trace = read_capture(capture.pcap(link=101))
    names = np.array(trace.addresses)
    assert names[trace.ints("source")].tolist() == [
        "192.0.2.3", "192.0.2.1", "192.0.2.2", "192.0.2.3",
    ]  # fmt: skip
    assert len(set(trace.addresses)) == len(trace.addresses)
