"""Faults of captures: variants of the files, layers, what is cut, and what a capture cannot tell.

The files are written by ``writer.py``, byte by byte; the expected values are those given to it.
"""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
import writer as w

from netcalc.errors import ReaderError
from netcalc.readers import read
from netcalc.readers.captures import anonymized, read_capture, stream_capture
from netcalc.readers.captures.flows import find_flows
from netcalc.readers.captures.tcp import analyse_tcp, tcp_flows
from netcalc.samples import Layer, PacketTrace

NOW_NS = 1_700_000_000_000_000_000
MS = 1_000_000
CLIENT, SERVER = "192.0.2.1", "192.0.2.53"
DNS = w.udp((5353, 53), b"q" * 20)
INNER = w.ipv4(DNS, 17, CLIENT, SERVER)
FRAME = w.ethernet(INNER, 0x0800)


def equal(*times_ns: int, packet: bytes = FRAME) -> w.Capture:
    """Return a capture of equal packets."""
    made = w.Capture()
    for time_ns in times_ns:
        made.add(time_ns, packet)
    return made


THREE = equal(NOW_NS, NOW_NS + 1000, NOW_NS + 2000)


def noted(trace: PacketTrace) -> dict[str, dict[str, Any]]:
    return {one.code: dict(one.values) for one in trace.meta.warnings}


@pytest.mark.each("stuff", [b"\0", b"\x01\0\0\0", b"\xfe"])
@pytest.mark.each("extra", [4, 8])
def test_longer_record_headers_under_the_usual_magic(extra, stuff):
    """R26: 20 bytes (Nokia) and 24 (Red Hat); whatever the bytes hold and whatever the clock."""
    stuff = (stuff * extra)[:extra]
    for first_ns in (NOW_NS, NOW_NS + 7_000_000, NOW_NS + 999_990_000):
        made = equal(*(first_ns + one * 1000 for one in range(5)))
        trace = read_capture(made.pcap(extra=stuff))
        assert trace.ints("kept_bytes").tolist() == [62] * 5
        assert np.asarray(trace.time_s).tolist() == pytest.approx([0, 1e-6, 2e-6, 3e-6, 4e-6])
        assert noted(trace) == {"record-header-variant": {"header_bytes": 16 + extra}}


HEADS = {
    "R26 reserved bits": (
        THREE.pcap(link=1 | 1 << 16),
        ", byte 20: is damaged: reserved bits of the link type are set; found '0x00010001'. Copy "
        "the file again"),
    "R26 version": (
        THREE.pcap(minor=9),
        ", byte 4: is a capture of an unknown version; found '2.9'; expected pcap 2.0 to 2.4. "
        "Convert it with: editcap FILE NEW.pcapng"),
    "R25 cut in the header": (
        THREE.pcap()[:20],
        ", byte 20: is a capture truncated within its file header, after 20 of 24 bytes. "
        "Copy the file again",
    ),
    "R28 CAN": (
        THREE.pcap(link=227),
        ": has only packets of link type 227 (CAN); expected Ethernet, NULL, LOOP, RAW, IPv4, "
        "IPv6, SLL, SLL2, PPP or PPPoE. Capture on a link that carries IP, or extract the IP "
        "packets first"),
}  # fmt: skip


@pytest.mark.each("fault", HEADS)
def test_a_refused_capture_says_where_what_and_what_to_do(fault):
    data, said = HEADS[fault]
    with pytest.raises(ReaderError) as caught:
        read_capture(data, name="a.pcap")
    assert str(caught.value) == f"a.pcap{said}"


def interface(offset_s: int, resolution: int = 6) -> bytes:
    """Return the block of an interface with a clock of its own."""
    options = struct.pack("<HHB3xHHqHH", 9, 1, resolution, 14, 8, offset_s, 0, 0)
    return w.block("<", 1, struct.pack("<HHI", 1, 0, 0) + options)


def test_each_interface_has_its_own_clock():
    """R27: if_tsresol and if_tsoffset of 126 interfaces; packets of all of them at one time."""
    data = w.section("<")
    for number in range(126):
        data += interface(number * 1000 - 60_000, 6 if number % 2 else 9)
    for number in range(126):
        unit = 1000 if number % 2 else 1
        units = (NOW_NS - (number * 1000 - 60_000) * 10**9) // unit
        data += w.packet_block("<", 6, number, units, FRAME, len(FRAME))
    trace = read_capture(data)
    assert trace.ints("interface").tolist() == list(range(126))
    assert trace.start_ns == NOW_NS
    assert np.asarray(trace.time_s).tolist() == [0.0] * 126
    assert noted(trace) == {}


def test_options_beyond_their_block_and_missing_times_are_said():
    """R27."""
    options = struct.pack("<HH", 2, 200) + b"name"
    data = w.section("<") + w.block("<", 1, struct.pack("<HHI", 1, 0, 0) + options)
    data += w.packet_block("<", 6, 0, NOW_NS // 1000, FRAME, 62)
    said = [str(one) for one in read_capture(data).meta.warnings]
    assert said == ["ignored options beyond the end of the block at byte 28"]
    simple = read_capture(THREE.pcapng(kind=3))
    assert np.isnan(np.asarray(simple.time_s)).all()
    assert [str(one) for one in simple.meta.warnings] == ["3 packets have no time stamp"]


TUNNELS = {
    "R29 QinQ": (w.ethernet(INNER, 0x0800, (0x88A8, 0x8100)), Layer.VLAN, 8),
    "R29 MPLS": (w.ethernet(bytes.fromhex("00010140") + INNER, 0x8847), Layer.MPLS, 4),
    "R29 VXLAN": (
        w.ethernet(w.ipv4(w.udp((9, 4789), struct.pack("!II", 0x08000000, 0x1200) + FRAME), 17,
                          "198.51.100.1", "198.51.100.2"), 0x0800), Layer.VXLAN, 50),
}  # fmt: skip


@pytest.mark.each("name", TUNNELS)
def test_headers_before_the_packet_are_overhead(name):
    """R29: the bytes of the headers are 2 tags of 4; a label of 4; 20 + 8 + 8 + 14."""
    packet, layer, overhead = TUNNELS[name]
    trace = read_capture(equal(NOW_NS, packet=packet).pcap())
    assert trace.has(layer).all()
    assert trace.ints("payload_bytes").tolist() == [20]
    assert len(packet) - len(FRAME) == overhead
    assert trace.ints("original_bytes").tolist() == [62 + overhead]


def test_what_is_not_decoded_is_counted():
    """R29."""
    trace = read_capture(equal(NOW_NS, NOW_NS + MS, packet=w.ethernet(bytes(50), 0x88CC)).pcap())
    assert [str(one) for one in trace.meta.warnings] == ["2 frames carry neither IP nor ARP"]


def test_lengths_are_those_of_headers_where_the_rest_is_cut():
    """R30: options cut, then ports cut."""
    segment = w.tcp((1, 2), 0, 0, 16, 9, w.timestamps(1, 2), b"x" * 100)
    whole = equal(NOW_NS, packet=w.ethernet(w.ipv4(segment, 6, CLIENT, SERVER), 0x0800))
    options = read_capture(whole.pcap(snap=60))
    assert options.ints("payload_bytes").tolist() == [100]
    assert noted(options)["headers-cut"] == {"count": 1}
    ports = read_capture(whole.pcap(snap=35))
    assert ports.ints("packet_bytes").tolist() == [152]  # 20 + 32 + 100
    assert noted(ports)["snap-length"] == {"count": 1, "snap_bytes": 35}
    assert not ports.has(Layer.TCP).any()


def shifted(options: tuple[bytes, bytes], snap: int) -> list[list[float | None]]:
    """Return shift, window and MSS of both directions of a handshake with these options."""
    trace = read_capture(segments(
        (CLIENT, 0, 0, 2, 0, options[0]), (SERVER, 0, 1, 18, 0, options[1]),
        (CLIENT, 1, 1, 16, 0, b""), (SERVER, 1, 1, 16, 0, b""),
    ).pcap(snap=snap))  # fmt: skip
    flows = tcp_flows(analyse_tcp(trace)).columns()
    return [
        [None if one != one else one for one in flows[name].astype(float).tolist()]
        for name in ("window_shift", "window_max_bytes", "mss_bytes")
    ]


MSS_AND_SCALE = b"\x02\x04\x05\xb4\x01\x03\x03\x07"
"""MSS 1460, window scale 7."""


def test_options_that_were_cut_are_unknown_and_not_0():
    """R30: 54 bytes hold Ethernet, IP and TCP without options, 58 also the MSS, 62 all.

    The windows are those that ``segments`` writes, 500, times 2**7. A scale that one end certainly
    did not offer is not used, whatever the other one said (RFC 7323, section 2.2).
    """
    both, first = (MSS_AND_SCALE,) * 2, (MSS_AND_SCALE, MSS_AND_SCALE[:4])
    assert shifted(both, 62) == [[7, 7], [64000, 64000], [1460, 1460]]
    assert shifted(both, 58) == [[None, None], [None, None], [1460, 1460]]
    assert shifted(both, 54) == [[None, None], [None, None], [None, None]]
    assert shifted(first, 58) == [[0, 0], [500, 500], [1460, 1460]]
    assert shifted(first, 54) == [[None, None], [None, None], [None, None]]
    cut = read(segments((CLIENT, 0, 0, 2, 0, MSS_AND_SCALE)).pcap(snap=54))
    assert noted(cut)["handshakes-cut"] == {"count": 1, "total": 1}
    whole = read(segments((CLIENT, 0, 0, 2, 0, MSS_AND_SCALE)).pcap(snap=62))
    assert "handshakes-cut" not in noted(whole)


def test_what_is_counted_of_headers_is_missing_where_they_were_cut():
    """R30: 54 bytes hold the TCP header, 40 the IP header and ports, 30 neither."""
    counted = {"tcp_flow_count", "udp_flow_count", "tcp_retransmission_count",
               "icmp_echo_pair_count"}  # fmt: skip
    versions = {"ipv4_packet_count", "ipv6_packet_count"}
    capture = opened((100,))
    for snap, missing in ((54, set()), (40, counted), (30, counted | versions)):
        row = read(capture.pcap(snap=snap)).facts()[0]
        assert (counted | versions) - row.keys() == missing
        assert row["packet_count"] == 4
    assert read(capture.pcap(snap=54)).facts()[0]["tcp_flow_count"] == 1


def segments(*sent: tuple[str, int, int, int, int, bytes]) -> w.Capture:
    """Return a capture of TCP segments: the sender, sequence, ack, flags, payload, options."""
    made = w.Capture()
    for number, (source, sequence, ack, flags, size, options) in enumerate(sent):
        back = source == SERVER
        ports = (80, 40000) if back else (40000, 80)
        segment = w.tcp(ports, sequence, ack, flags, 500, options, bytes(size))
        ends = (SERVER, CLIENT) if back else (CLIENT, SERVER)
        packet = w.ipv4(segment, 6, *ends, id=number + 1)
        made.add(NOW_NS + number * 10 * MS, w.ethernet(packet, 0x0800))
    return made


MIDWAY = segments(
    (CLIENT, 100, 900, 16, 1000, b""), (SERVER, 900, 1100, 16, 0, b""),
    (CLIENT, 1100, 900, 16, 1000, b""), (SERVER, 900, 2100, 16, 0, b""),
)  # fmt: skip


def test_what_began_before_the_capture_is_unknown():
    """R31: a window without its scale is no number of bytes; there is no handshake to time."""
    trace = read(MIDWAY.pcap())
    flows = tcp_flows(analyse_tcp(trace)).columns()
    assert noted(trace)["flows-begun-before"] == {"count": 1, "total": 1}
    assert np.isnan(flows["window_max_bytes"]).all()
    assert np.isnan(flows["handshake_rtt_s"]).all()


def test_one_direction_gives_no_round_trip():
    """R31."""
    made = w.Capture()
    made.packets = [one for one in MIDWAY.packets if len(one[1]) > 100]
    trace = read(made.pcap())
    said = [str(one) for one in trace.meta.warnings]
    assert said[-1] == (
        "1 of 1 TCP flow show one direction only, so round trips, and losses in the other "
        "direction, are unknown"
    )


def test_a_capture_of_any_length_is_read_in_parts():
    """R32: of a file of 150 MB no more is asked for than the parts that are looked at."""
    record = struct.pack("<IIII", NOW_NS // 10**9, 0, len(FRAME), len(FRAME)) + FRAME
    head = THREE.pcap()[:24]

    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            assert size >= 0
            assert self.given < 150_000_000
            begin, self.given = self.given, self.given + size
            offset = begin if begin < 24 else 24 + (begin - 24) % len(record)
            return (head + record * (size // len(record) + 2))[offset : offset + size]

    endless = Endless()
    with stream_capture(endless, name="endless") as parts:
        first = next(iter(parts))
    assert len(first) > 1000
    assert endless.given < 150_000_000


def test_payload_is_never_kept_and_addresses_can_be_replaced():
    """R36."""
    secret = b"password=hunter2"
    packet = w.ethernet(w.ipv4(w.udp((5353, 53), secret), 17, CLIENT, SERVER), 0x0800)
    trace = read_capture(equal(NOW_NS, packet=packet).pcap())
    assert trace.ints("payload_bytes").tolist() == [len(secret)]
    assert b"hunter2" not in trace.dumps()
    hidden = anonymized(trace, key=b"k" * 32)
    assert CLIENT.encode() in trace.dumps()
    assert CLIENT.encode() not in hidden.dumps()
    assert SERVER.encode() not in hidden.dumps()


def opened(
    sizes: tuple[int, ...], offered: tuple[int, int] = (1460, 1460), *, back: bool = False
) -> w.Capture:
    """Return a capture of a handshake, with the MSS that client and server offer, and of data."""
    options = [struct.pack("!BBH", 2, 4, one) if one else b"" for one in offered]
    packets = [(CLIENT, 0, 0, 2, 0, options[0]), (SERVER, 0, 1, 18, 0, options[1]),
               (CLIENT, 1, 1, 16, 0, b"")]  # fmt: skip
    at = 1
    for size in sizes:
        packets.append((SERVER if back else CLIENT, at, 1, 16, size, b""))
        at += size
    return segments(*packets)


OFFLOADS = {
    "joined segments": (opened((1460, 2920, 5840)), {"count": 2, "largest_bytes": 5880}),
    "no larger than offered": (opened((1460, 1448, 1)), None),
    "jumbo frames": (opened((8960, 8960), (8960, 8960)), None),
    "loopback": (opened((65483,), (65495, 65495)), None),
    "the receiver's offer counts": (opened((1000,), (1460, 536)), {"count": 1,
                                                                  "largest_bytes": 1040}),
    "not the sender's": (opened((1000,), (1460, 536), back=True), None),
    "no limit (RFC 2675)": (opened((65495,), (65535, 65535)), None),
    "no offer, above any frame": (opened((9061, 9060), (0, 0)), {"count": 1,
                                                                 "largest_bytes": 9101}),
}  # fmt: skip


@pytest.mark.each("name", OFFLOADS)
def test_a_segment_above_the_mss_is_no_frame_of_the_link(name):
    """R31: RFC 9293, section 3.7.1: no segment has more payload than the MSS of its receiver."""
    capture, values = OFFLOADS[name]
    assert noted(read_capture(capture.pcap())).get("offload-frames") == values


DOUBTFUL = {
    "no offer, above a common frame": (opened((1460, 7066, 9060), (0, 0)), {"count": 2,
                                                                           "largest_bytes": 9100}),
    "no offer, common frames": (opened((1460, 1448), (0, 0)), None),
    "an offer of jumbo frames": (opened((8960,), (8960, 8960)), None),
    "an offer of common ones": (opened((2920,), (1460, 1460)), None),
}  # fmt: skip


@pytest.mark.each("name", DOUBTFUL)
def test_without_an_offer_a_long_segment_may_be_a_jumbo_frame(name):
    """R31: a packet above 1500 bytes (IEEE 802.3) is a jumbo frame, or was made by the card."""
    capture, values = DOUBTFUL[name]
    assert noted(read_capture(capture.pcap())).get("offload-or-jumbo") == values


def twice(count: int, *, ids: bool, ttls: tuple[int, int], gap_ns: int = 20_000) -> w.Capture:
    """Return a capture of UDP datagrams of 20 bytes, each seen twice, 20 ms apart."""
    made = w.Capture()
    for number in range(count):
        for copy, ttl in enumerate(ttls):
            packet = w.ipv4(DNS, 17, CLIENT, SERVER, id=number + 1 if ids else 0, ttl=ttl)
            made.add(NOW_NS + number * 20 * MS + copy * gap_ns, w.ethernet(packet, 0x0800))
    return made


COPIES = {
    "mirror port": (twice(50, ids=True, ttls=(64, 64)), 50),
    "both sides of a router": (twice(50, ids=True, ttls=(64, 63)), 50),
    "both sides, without identification": (twice(50, ids=False, ttls=(64, 63)), 50),
    "later than a copy comes": (twice(50, ids=True, ttls=(64, 63), gap_ns=2 * MS), 0),
    "the host may have sent both": (twice(50, ids=False, ttls=(64, 64)), 0),
}


@pytest.mark.each("name", COPIES)
def test_copies_of_datagrams_are_left_out(name):
    """R31: a capture of UDP alone; a lower hop limit shows that a packet came by again."""
    capture, count = COPIES[name]
    found = read_capture(capture.pcap())
    said = {"packets-mirrored": {"count": count, "within_s": 0.001}} if count else {}
    assert noted(found) == said
    assert len(find_flows(found, Layer.UDP, 17).row) == 100 - count


def test_a_capture_in_the_middle_sees_both_parts_of_the_round_trip():
    """Between the ends 30 ms of the round trip are towards the server, and 10 ms to the client."""
    made = w.Capture()
    w.Conversation(made).open(0.0, 0.030, 0.010)
    shown = tcp_flows(analyse_tcp(read_capture(made.pcap(nano=True)))).columns()
    assert shown["to_server_s"].tolist() == pytest.approx([0.030] * 2)
    assert shown["to_client_s"].tolist() == pytest.approx([0.010] * 2)
    assert shown["handshake_rtt_s"].tolist() == pytest.approx([0.040] * 2)
