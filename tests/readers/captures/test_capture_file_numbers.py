"""Capture files byte by byte: link types, clocks, places of faults, what a file says of itself.

A section header of pcapng without options has 28 bytes, an interface block 20, a packet block 32
and its packet padded to whole words; a file header of pcap has 24, a record 16 and its packet.
"""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
import writer as w

from netcalc.errors import ReaderError
from netcalc.readers.captures import read_capture, stream_capture
from netcalc.readers.captures.tcp import facts
from netcalc.samples import PacketTrace

IP = w.ipv4(w.udp((7, 8), b"d" * 13), 17, "192.0.2.1", "192.0.2.2")  # 41 bytes
START_S = 1_700_000_000


def capture_of(*times_ns: int, packet: bytes = IP) -> w.Capture:
    made = w.Capture()
    for time_ns in times_ns:
        made.add(time_ns, packet)
    return made


def noted(trace: PacketTrace) -> dict[str, dict[str, object]]:
    return {one.code: dict(one.values) for one in trace.meta.warnings}


# The registry of link-layer header types of the Tcpdump Group, in this project's short names.
READ = {0: "NULL", 1: "Ethernet", 9: "PPP", 12: "RAW", 14: "RAW", 50: "PPP", 51: "PPPoE",
        101: "RAW", 108: "LOOP", 113: "SLL", 228: "IPv4", 229: "IPv6", 276: "SLL2"}  # fmt: skip
UNREAD = {
    6: "Token Ring", 10: "FDDI", 105: "802.11", 107: "Frame Relay", 119: "802.11 Prism",
    127: "802.11 radiotap", 143: "DOCSIS", 147: "user 0", 163: "802.11 AVS",
    187: "Bluetooth HCI", 189: "USB", 192: "PPI", 195: "802.15.4", 201: "Bluetooth HCI",
    220: "USB", 227: "CAN", 230: "802.15.4", 239: "NFLOG", 247: "InfiniBand", 249: "USBPcap",
    253: "netlink", 271: "vsock", 272: "Nordic BLE", 274: "Ethernet mPacket",
}  # fmt: skip


def test_link_types_have_the_names_of_the_field():
    for number, name in READ.items():
        (row,) = facts(read_capture(capture_of(10**18).pcap(link=number)))
        assert row["link_type"] == name
    for number in range(300):
        if number in READ:
            continue
        with pytest.raises(ReaderError) as refused:
            read_capture(capture_of(10**18).pcap(link=number))
        assert refused.value.code == "link-type-not-read"
        shown = f"{number} ({UNREAD[number]})" if number in UNREAD else str(number)
        assert refused.value.values["link_types"] == [shown]
    data = capture_of(10**18, 10**18).pcapng(link=101)
    for number in (227, 300):
        data += w.section("<") + w.block("<", 1, struct.pack("<HHI", number, 0, 0))
        data += w.packet_block("<", 6, 0, 10**15, IP, len(IP))
    skipped = [dict(one.values) for one in read_capture(data).meta.warnings]
    assert skipped == [
        {"number": 227, "name": "CAN", "count": 1},
        {"number": 300, "name": "unknown", "count": 1},
    ]


def test_packets_without_ip_are_counted_on_links_that_are_read():
    data, at_ns = w.section("<"), 10**15
    for number in range(300):
        data += w.block("<", 1, struct.pack("<HHI", number, 0, 0))
        data += w.packet_block("<", 6, number, at_ns, bytes(40), 40)
    trace = read_capture(data)
    assert noted(trace)["packets-without-ip"] == {"count": len(READ)}
    skipped = [one.values["number"] for one in trace.meta.warnings
               if one.code == "link-type-skipped"]  # fmt: skip
    assert skipped == [number for number in range(300) if number not in READ]
    assert trace.ints("interface").tolist() == list(range(300))
    (row,) = facts(trace)
    assert row["link_type"].split(", ")[:3] == ["NULL", "Ethernet", "2"]


@pytest.mark.each("resolution, offset_s", [
    (None, None), (0, None), (3, 0), (6, 7), (9, -7), (12, START_S), (15, START_S),
    (0x80, None), (0x81, None), (0x80 | 10, 7), (0x80 | 30, None), (0x80 | 34, START_S),
    (0x80 | 40, START_S),
])  # fmt: skip
def test_clocks_of_interfaces(resolution, offset_s):
    """Times at whole steps of half a second, or of a second where the clock has no finer ones."""
    half = resolution not in (0, 0x80)
    times_ns = [START_S * 10**9, START_S * 10**9 + 5 * 10**8 * (1 if half else 2),
                (START_S + 3) * 10**9]  # fmt: skip
    data = capture_of(*times_ns).pcapng(link=101, resolution=resolution, offset_s=offset_s)
    with stream_capture(data) as capture:
        (columns,) = capture.columns()
        assert columns["time_ns"].tolist() == times_ns
        (one,) = capture.facts.interfaces
    base, power = (2, resolution & 127) if (resolution or 0) & 128 else (10, resolution)
    assert one.resolution_s == pytest.approx(float(base) ** -(6 if power is None else power))
    assert (one.link_type, one.snap_bytes, one.fcs_bytes, one.name) == (101, 0, 0, "")


def test_times_that_no_date_can_be_are_missing():
    for resolution, units in ((0, 2**63), (0, 9_000_000_000), (20, 5), (0xC0, 5)):
        data = w.section("<") + w.block(
            "<", 1, struct.pack("<HHI", 101, 0, 0) + struct.pack("<HHB3x", 9, 1, resolution)
        )
        data += w.packet_block("<", 6, 0, units, IP, len(IP))
        trace = read_capture(data)
        assert np.isnan(np.asarray(trace.time_s)).all(), (resolution, units)
        assert noted(trace) == {"packets-without-time": {"count": 1}}
        assert (trace.meta.start, trace.meta.clock, trace.start_ns) == ("", "", None)


def option(number: int, value: bytes) -> bytes:
    return struct.pack("<HH", number, len(value)) + value + bytes(-len(value) % 4)


def test_what_a_pcapng_file_says_of_itself():
    head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 2, -1)
    head += option(1, b"comment") + option(3, b"Linux 6.1") + option(4, b"dumpcap")
    interface = struct.pack("<HHI", 101, 0, 333) + option(2, b"eth0") + option(9, b"\x09")
    statistics = struct.pack("<III", 0, 0, 0) + option(5, struct.pack("<Q", 3))
    statistics += option(4, struct.pack("<Q", 50)) + option(7, struct.pack("<Q", 4))
    statistics += option(5, b"1234")  # of another length
    end = struct.pack("<HH", 0, 0) + option(5, struct.pack("<Q", 900))
    data = w.block("<", 0x0A0D0D0A, head) + w.block("<", 1, interface)
    data += w.packet_block("<", 6, 0, 10**18 + 5, IP, 99)
    data += w.block("<", 5, statistics) + w.block("<", 5, statistics + end)
    second = w.block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
                     + option(3, b"other") + option(4, b"other"))  # fmt: skip
    with stream_capture(data + second) as capture:
        (trace,) = capture
        known = capture.facts
        assert capture.packet_count == 1
    assert (known.format, known.host, known.writer) == ("pcapng", "Linux 6.1", "dumpcap")
    assert (known.capture_drop_count, known.section_count, known.partial) == (14, 2, False)
    (one,) = known.interfaces
    assert (one.name, one.snap_bytes, one.resolution_s) == ("eth0", 333, pytest.approx(1e-9))
    assert trace.start_ns == 10**18 + 5
    trace = read_capture(data)
    assert noted(trace) == {
        "capture-dropped": {"count": 14}, "snap-length": {"count": 1, "snap_bytes": 41},
    }  # fmt: skip
    assert (trace.snap_bytes, trace.meta.tool, trace.meta.host) == (333, "pcapng", "Linux 6.1")
    assert trace.meta.tool_version == "dumpcap"
    assert trace.meta.start == "2001-09-09T01:46:40+00:00"
    assert trace.meta.clock == "wall clock of the capture"


def test_options_beyond_their_block_are_said():
    interface = struct.pack("<HHI", 101, 0, 0) + struct.pack("<HH", 2, 9) + b"eth0"
    data = w.section("<") + w.block("<", 1, interface)
    trace = read_capture(data + w.packet_block("<", 6, 0, 10**15, IP, len(IP)))
    assert noted(trace) == {"options-beyond-block": {"offset": 28}}


def test_simple_blocks_are_cut_at_the_snap_length():
    for snap, kept in ((0, 41), (30, 30), (41, 41), (50, 41)):
        data = w.section("<") + w.block("<", 1, struct.pack("<HHI", 101, 0, snap))
        data += w.packet_block("<", 3, 0, 0, IP[:kept], len(IP))
        trace = read_capture(data)
        assert trace.ints("kept_bytes").tolist() == [kept]
        assert trace.ints("original_bytes").tolist() == [41]
        assert trace.ints("payload_bytes").tolist() == [13]
        assert trace.ints("interface").tolist() == [0]
        assert trace.snap_bytes == (snap or None)


PNG = capture_of(10**18, 10**18).pcapng(link=101)  # 28 + 20 + 2 * (32 + 44) = 200 bytes
FAULTS = {
    "length 8": (struct.pack("<III", 6, 8, 8), "block-length-impossible", 12, 8),
    "length 14": (struct.pack("<IIIII", 9, 14, 0, 0, 14), "block-length-impossible", 20, 14),
    "length 16 MB and 4": (
        struct.pack("<III", 9, (16 << 20) + 4, 0), "block-length-impossible", 12, (16 << 20) + 4),
    "a cut block": (struct.pack("<III", 9, 16, 0), "block-cut", 12, None),
    "a cut head": (struct.pack("<II", 9, 16), "block-cut", 8, None),
    "section of 24 bytes": (
        struct.pack("<IIIHHII", 0x0A0D0D0A, 24, 0x1A2B3C4D, 1, 0, 0, 24),
        "block-length-impossible", 24, 24),
    "section version 2": (
        w.block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 2, 0, -1)),
        "section-version", 28, 2),
    "interface of 16 bytes": (
        struct.pack("<IIII", 1, 16, 0, 16), "block-length-impossible", 16, 16),
    "interface 1 of 1": (
        w.packet_block("<", 6, 1, 0, IP, 41), "no-such-interface", 76, 1),
    "a packet of 45 bytes in 44": (
        w.block("<", 6, struct.pack("<IIIII", 0, 0, 0, 45, 45) + bytes(44)),
        "packet-beyond-block", 76, 45),
}  # fmt: skip


@pytest.mark.each("name", list(FAULTS))
def test_places_of_faults_in_pcapng(name):
    raw, code, left, claimed = FAULTS[name]
    assert len(PNG) == 200
    trace = read_capture(PNG + raw)
    known = {"number": 3, "offset": 200, "left": left}
    assert noted(trace)[code] == known | ({} if claimed is None else {"claimed": claimed})
    assert len(trace) == 2
    assert trace.meta.partial
    with pytest.raises(ReaderError) as refused:
        read_capture(PNG[:48] + raw, name="x")
    assert (refused.value.code, refused.value.values["fault"]) == ("first-block-damaged", code)
    assert refused.value.values["offset"] == 48
    fits = w.block("<", 6, struct.pack("<IIIII", 0, 0, 0, 44, 44) + bytes(44))
    assert len(read_capture(PNG + fits)) == 3


def test_blocks_before_a_section_or_an_interface():
    lone = w.section("<") + w.packet_block("<", 6, 0, 0, IP, 41)
    with pytest.raises(ReaderError) as refused:
        read_capture(lone)
    assert (refused.value.values["fault"], refused.value.values["offset"]) == (
        "no-such-interface", 28)  # fmt: skip


PCAP = capture_of(10**18, 10**18).pcap(link=101)  # 24 + 2 * 57 = 138 bytes


def test_places_of_faults_in_pcap():
    def said(raw: bytes) -> tuple[int, bool, dict[str, dict[str, object]]]:
        trace = read_capture(PCAP + raw)
        return len(trace), trace.meta.partial, noted(trace)

    at = {"number": 3, "offset": 138}
    assert said(b"") == (2, False, {})
    assert said(bytes(15))[2] == {"record-header-cut": at | {"left": 15}}
    record = struct.pack("<IIII", 10**9, 0, 41, 41)
    assert said(record + IP[:40])[2] == {"record-cut": at | {"left": 56}}
    assert said(record) == (2, True, {"record-cut": at | {"left": 16}})
    most = struct.pack("<IIII", 10**9, 0, 262_144, 262_144)
    assert said(most + bytes(262_144))[0] == 3
    beyond = struct.pack("<IIII", 10**9, 0, 262_145, 262_145) + bytes(262_145)
    assert said(beyond)[2] == {
        "record-length-impossible": at | {"claimed": 262_145, "left": 262_161}
    }
    for raw, left, claimed in ((bytes(16), 16, 0), (record[:8] + b"\xff" * 8, 16, 2**32 - 1)):
        assert said(raw) == (2, True, {
            "record-length-impossible": at | {"claimed": claimed, "left": left}})  # fmt: skip
        with pytest.raises(ReaderError) as refused:
            read_capture(PCAP[:24] + raw, name="y")
        values = refused.value.values
        assert (refused.value.code, refused.value.file) == ("first-record-damaged", "y")
        assert (values["offset"], values["left"], values["claimed"]) == (24, left, claimed)
    with pytest.raises(ReaderError) as refused:
        read_capture(PCAP[:23])
    assert (refused.value.code, refused.value.values["offset"]) == ("capture-header-cut", 23)


def test_the_first_time_may_be_zero():
    trace = read_capture(capture_of(0, 500_000, 10**9).pcap(link=101))
    assert trace.start_ns == 0
    assert np.asarray(trace.time_s).tolist() == [0, 0.0005, 1]
    assert trace.meta.start == "1970-01-01T00:00:00+00:00"


def test_heads_of_pcap():
    for minor in (3, 4):
        assert len(read_capture(capture_of(10**18).pcap(link=101, minor=minor))) == 1
    for version in ((1, 4), (3, 4), (2, 5)):
        data = PCAP[:4] + struct.pack("<HH", *version) + PCAP[8:]
        with pytest.raises(ReaderError) as refused:
            read_capture(data)
        values = refused.value.values
        assert (refused.value.code, values["offset"]) == ("capture-version", 4)
        assert values["value"] == f"{version[0]}.{version[1]}"
    for bit in range(16, 28):
        data = PCAP[:20] + struct.pack("<I", 101 | 1 << bit) + PCAP[24:]
        if bit == 26:
            assert len(read_capture(data)) == 2
            continue
        with pytest.raises(ReaderError) as refused:
            read_capture(data)
        values = refused.value.values
        assert (refused.value.code, values["offset"]) == ("link-type-reserved-bits", 20)
        assert values["value"] == f"0x{101 | 1 << bit:08x}"
    for nano, resolution_s in ((False, 1e-6), (True, 1e-9)):
        with stream_capture(capture_of(10**18).pcap(link=101, nano=nano, snap=99)) as parts:
            assert sum(map(len, parts)) == 1
            (one,) = parts.facts.interfaces
        assert (one.link_type, one.snap_bytes, one.fcs_bytes) == (101, 99, 0)
        assert one.resolution_s == resolution_s
        assert (parts.facts.format, parts.facts.section_count) == ("pcap", 1)


def test_lengths_of_old_versions():
    """Up to 2.2 the length on the link came first; in 2.3 programs wrote either order."""
    for minor, orders in ((2, (1,)), (3, (0, 1)), (4, (0,))):
        for is_turned in orders:
            data = PCAP[:4] + struct.pack("<HH", 2, minor) + PCAP[8:24]
            for kept in (36, 41):
                words = (41, kept) if is_turned else (kept, 41)
                data += struct.pack("<IIII", 10**9, 0, *words) + IP[:kept]
            trace = read_capture(data)
            assert trace.ints("kept_bytes").tolist() == [36, 41], (minor, is_turned)
            assert trace.ints("original_bytes").tolist() == [41, 41]
            assert trace.ints("destination_port").tolist() == [8, 8]
            assert not trace.meta.partial


def test_record_headers_of_24_and_20_bytes():
    times_ns = [10**18, 10**18 + 5000, 10**18 + 10**9]
    for extra in (8, 4):
        trace = read_capture(capture_of(*times_ns).pcap(link=101, extra=b"\xfe" * extra))
        assert noted(trace)["record-header-variant"] == {"header_bytes": 16 + extra}
        assert np.asarray(trace.time_s).tolist() == [0, 5e-6, 1]
        assert trace.ints("destination_port").tolist() == [8] * 3


def test_notices_of_packets():
    made = w.Capture()
    ends = ("192.0.2.1", "192.0.2.2")
    for size in (9060, 9061, 9062):  # 9100, 9101 and 9102 bytes with both headers
        segment = w.tcp((1, 2), 0, 0, 16, 9, b"", bytes(size))
        made.add(10**18, w.ipv4(segment, 6, *ends))
    made.add(10**18 - 10**9, IP, 40)
    made.add(10**18 - 3 * 10**9, IP[:30], 41)
    made.add(10**18 - 3 * 10**9, IP[:25], 41)
    assert noted(read_capture(made.pcap(link=101, nano=True))) == {
        "time-goes-back": {"count": 2, "largest_s": 2.0},
        "kept-above-original": {"count": 1},
        "snap-length": {"count": 2, "snap_bytes": 30},
        "headers-cut": {"count": 1},
        "offload-frames": {"count": 2, "largest_bytes": 9102},
        "offload-or-jumbo": {"count": 1, "largest_bytes": 9100},
    }
    other = w.Capture()
    for _ in range(2):
        other.add(10**18, w.ethernet(bytes(50), 0x88CC))
    assert noted(read_capture(other.pcap())) == {"packets-without-ip": {"count": 2}}


def test_gzip_ends_where_its_data_ends():
    data = gzip.compress(PCAP, mtime=0)
    for behind in (b"", bytes(512), b"signature"):
        assert len(read_capture(data + behind)) == 2
    joined = gzip.compress(PCAP[:50], mtime=0) + gzip.compress(PCAP[50:], mtime=0)
    assert len(read_capture(joined)) == 2
    damaged = bytearray(data)
    damaged[12] ^= 0xFF
    with pytest.raises(ReaderError) as refused:
        read_capture(bytes(damaged), name="z.gz")
    assert (refused.value.code, refused.value.file) == ("damaged-compression", "z.gz")
