"""Files of both capture formats: times, lengths and links of every variant; damage with its place.

The files are written by ``writer.py``, byte by byte with ``struct``; the expected times and lengths
are those given to it.
"""

from __future__ import annotations

import gzip
import io
import ipaddress
import struct
from pathlib import Path

import numpy as np
import pytest
import writer as w

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.readers.captures import anonymized, read_capture, stream_capture
from netcalc.samples import Layer, PacketTrace

INPUTS = Path(__file__).parents[1] / "inputs" / "captures"
TIMES_NS = (1_700_000_000_123_456_000, 1_700_000_000_123_999_000, 1_700_000_007_000_001_000)
DNS = w.udp((5353, 53), b"q" * 20)


def three(packet: bytes | None = None) -> w.Capture:
    """Three equal packets: UDP over IPv4 over Ethernet."""
    capture = w.Capture()
    frame = w.ethernet(w.ipv4(DNS, 17, "192.0.2.1", "192.0.2.53"), 0x0800)
    for time_ns in TIMES_NS:
        capture.add(time_ns, packet or frame)
    return capture


def codes(trace: PacketTrace) -> list[str]:
    return [one.code for one in trace.meta.warnings]


def seen_ns(trace: PacketTrace) -> list[int]:
    assert trace.start_ns is not None
    return [trace.start_ns + round(one * 1e9) for one in np.asarray(trace.time_s).tolist()]


VARIANTS = {
    "pcap little-endian": three().pcap(),
    "pcap big-endian": three().pcap(order=">"),
    "pcap nanoseconds": three().pcap(nano=True),
    "pcap nanoseconds big-endian": three().pcap(nano=True, order=">"),
    "pcap modified": three().pcap(magic=0xA1B2CD34, extra=b"\x01\0\0\0\x08\0\0\0"),
    "pcap FCS word": three().pcap(link=1 | 1 << 26 | 2 << 28),
    "pcapng": three().pcapng(),
    "pcapng big-endian": three().pcapng(order=">"),
    "pcapng nanoseconds": three().pcapng(resolution=9),
    "pcapng picoseconds": three().pcapng(resolution=12, offset_s=1_700_000_000),
    "pcapng offset": three().pcapng(offset_s=1_600_000_000),
    "pcapng obsolete blocks": three().pcapng(kind=2),
    "pcapng obsolete big-endian": three().pcapng(kind=2, order=">"),
    "gzip": gzip.compress(three().pcap()),
    "gzip of two members": gzip.compress(three().pcap()[:50]) + gzip.compress(three().pcap()[50:]),
    "gzip pcapng": gzip.compress(three().pcapng()),
}


@pytest.mark.each("name", list(VARIANTS))
def test_every_variant_gives_the_same_packets(name):
    trace = read_capture(VARIANTS[name])
    assert seen_ns(trace) == list(TIMES_NS)
    assert trace.ints("kept_bytes").tolist() == [62] * 3  # 14 + 20 + 8 + 20
    assert trace.ints("original_bytes").tolist() == [62] * 3
    assert trace.ints("destination_port").tolist() == [53] * 3
    assert trace.addresses[1:] == ("192.0.2.1", "192.0.2.53")
    assert not trace.meta.partial


def test_binary_fractions_of_a_second_are_right_to_their_unit():
    trace = read_capture(three().pcapng(resolution=0x80 | 20))
    assert seen_ns(trace) == pytest.approx(list(TIMES_NS), abs=2**-20 * 1e9)


def test_simple_blocks_have_no_time():
    trace = read_capture(three().pcapng(kind=3))
    assert np.isnan(np.asarray(trace.time_s)).all()
    assert trace.start_ns is None
    assert codes(trace) == ["packets-without-time"]
    assert trace.ints("payload_bytes").tolist() == [20] * 3


def test_sections_have_their_own_byte_order_interfaces_and_clocks():
    microseconds, nanoseconds = three().pcapng(order=">"), three().pcapng(resolution=9)
    raw = three(w.ipv4(DNS, 17, "192.0.2.9", "192.0.2.53")).pcapng(link=101, resolution=3)
    trace = read_capture(microseconds + nanoseconds + raw)
    assert trace.ints("interface").tolist() == [0] * 3 + [1] * 3 + [2] * 3
    assert trace.ints("link_number").tolist() == [1] * 6 + [101] * 3
    to_ms = [one // 10**6 * 10**6 for one in TIMES_NS]
    assert seen_ns(trace) == [*TIMES_NS, *TIMES_NS, *to_ms]
    assert codes(trace) == ["time-goes-back"]


def test_an_interface_may_follow_packets_and_unknown_blocks_are_skipped():
    data = three().pcapng()
    data += w.block("<", 0x0BAD, b"custom" * 5) + w.block("<", 1, struct.pack("<HHI", 228, 0, 0))
    packet = w.ipv4(DNS, 17, "192.0.2.9", "192.0.2.53")
    data += w.packet_block("<", 6, 1, TIMES_NS[2] // 1000, packet, len(packet))
    trace = read_capture(data)
    assert trace.ints("interface").tolist() == [0, 0, 0, 1]
    assert trace.ints("payload_bytes").tolist() == [20] * 4


def test_drops_of_the_capture_are_said():
    statistics = struct.pack("<III", 0, 0, 0) + struct.pack("<HHQ", 5, 8, 17)
    trace = read_capture(three().pcapng() + w.block("<", 5, statistics))
    (notice,) = trace.meta.warnings
    assert (notice.code, notice.values["count"]) == ("capture-dropped", 17)


def test_a_snap_length_keeps_the_lengths_of_the_headers():
    trace = read_capture(three().pcap(snap=48))
    assert trace.ints("kept_bytes").tolist() == [48] * 3
    assert trace.ints("original_bytes").tolist() == [62] * 3
    assert trace.ints("payload_bytes").tolist() == [20] * 3
    assert trace.snap_bytes == 48
    cut = read_capture(three().pcap(snap=36))
    assert cut.has(Layer.CUT).all()
    assert not cut.has(Layer.UDP).any()
    assert codes(cut) == ["snap-length", "headers-cut"]


def test_record_headers_enlarged_under_the_old_magic_are_found():
    data = three().pcap(extra=b"\x02\0\0\0\x08\0\0\0")
    trace = read_capture(data)
    assert seen_ns(trace) == list(TIMES_NS)
    assert codes(trace) == ["record-header-variant"]


def test_version_2_2_has_its_lengths_swapped():
    capture = w.Capture()
    frame = w.ethernet(w.ipv4(DNS, 17, "192.0.2.1", "192.0.2.53"), 0x0800)
    capture.add(TIMES_NS[0], frame)
    trace = read_capture(capture.pcap(minor=2))
    assert trace.ints("kept_bytes").tolist() == [62]


FAULTS = {
    # name: (bytes, packets kept, notice, values in it)
    "cut in a packet": (three().pcap()[:-5], 2, "record-cut", {"number": 3, "offset": 180}),
    "cut in a record header": (
        three().pcap()[: 24 + 78 + 7], 1, "record-header-cut",
        {"number": 2, "offset": 102, "left": 7},
    ),
    "a length of 4 GB": (
        three().pcap()[:180] + struct.pack("<IIII", 1, 1, 0xFFFFFFFF, 62) + bytes(100), 2,
        "record-length-impossible", {"number": 3, "offset": 180, "claimed": 0xFFFFFFFF},
    ),
    "zeros behind the packets": (
        three().pcap() + bytes(200_000), 3, "record-length-impossible",
        {"number": 4, "offset": 258, "claimed": 0, "left": 200_000},
    ),
    "a block of length 0": (
        three().pcapng() + struct.pack("<III", 6, 0, 0), 3, "block-length-impossible",
        {"number": 4, "claimed": 0},
    ),
    "a cut block": (three().pcapng()[:-20], 2, "block-cut", {"number": 3}),
    "an unknown interface": (
        three().pcapng() + w.packet_block("<", 6, 9, 0, DNS, 28), 3, "no-such-interface",
        {"number": 4, "claimed": 9},
    ),
    "a packet longer than its block": (
        three().pcapng() + w.block("<", 6, struct.pack("<IIIII", 0, 0, 0, 999, 999)), 3,
        "packet-beyond-block", {"number": 4, "claimed": 999},
    ),
    "a section without byte order": (
        three().pcapng() + struct.pack("<IIII", 0x0A0D0D0A, 28, 77, 0) + bytes(12), 3,
        "section-byte-order-unknown", {"number": 4},
    ),
    "gzip cut": (
        gzip.compress(three().pcap(), mtime=0)[:-12], 2, "compressed-data-cut", {},
    ),
}  # fmt: skip


@pytest.mark.each("name", list(FAULTS))
def test_packets_before_a_fault_are_kept_and_its_place_is_said(name):
    data, kept, code, values = FAULTS[name]
    trace = read_capture(data)
    assert trace.meta.partial
    notice = next(one for one in trace.meta.warnings if one.code == code)
    assert len(trace) == kept
    assert {key: notice.values[key] for key in values} == values
    assert str(notice)


REFUSED = {
    "empty": (b"", "file-empty"),
    "only a header": (w.Capture().pcap(), "capture-empty"),
    "header cut": (three().pcap()[:20], "capture-header-cut"),
    "version 2.5": (three().pcap(minor=5), "capture-version"),
    "reserved bits": (three().pcap(link=0x300000), "link-type-reserved-bits"),
    "first record cut": (three().pcap()[:60], "first-record-damaged"),
    "first block cut": (three().pcapng()[:70], "first-block-damaged"),
    "CAN": (three().pcap(link=227), "link-type-not-read"),
    "a link type without a name": (three().pcap(link=9999), "link-type-not-read"),
    "text": (b"PING 192.0.2.1", "not-a-capture"),
    "zeros": (bytes(4000), "not-a-capture"),
    "zeros in gzip": (
        gzip.compress(w.Capture().pcap() + bytes(90_000_000)),
        "first-record-damaged",
    ),
}


@pytest.mark.each("name", list(REFUSED))
def test_what_cannot_be_read_is_refused_by_code(name):
    data, code = REFUSED[name]
    with pytest.raises(ReaderError) as raised:
        read_capture(data, name="x.pcap")
    assert raised.value.code == code
    assert "x.pcap" in str(raised.value)


def test_a_link_type_that_is_not_read_is_named_by_number_and_name():
    with pytest.raises(ReaderError, match=r"227 \(CAN\)"):
        read_capture(three().pcap(link=227))


def test_zstd_without_a_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("netcalc.readers.source._ZSTD_MODULES", ("netcalc.no_such_module",))
    path = tmp_path / "x.pcap.zst"
    path.write_bytes(bytes.fromhex("28b52ffd") + bytes(40))
    with pytest.raises(ReaderError) as raised:
        read_capture(path)
    assert raised.value.code == "zstd-not-at-hand"


def test_faulty_times_are_kept_and_said():
    data = bytearray(three().pcap())
    struct.pack_into("<I", data, 24 + 78 + 4, 3_000_000)  # microseconds above a second
    struct.pack_into("<I", data, 24 + 2 * 78, 1_600_000_000)
    trace = read_capture(bytes(data))
    assert seen_ns(trace)[1] == 1_700_000_003_000_000_000
    assert codes(trace) == ["time-goes-back"]


def test_paths_file_objects_and_streams_give_the_same(tmp_path):
    path = tmp_path / "three.pcap"
    path.write_bytes(three().pcap())
    whole = read_capture(path)
    with path.open("rb") as stream:
        assert np.array_equal(read_capture(stream).ints("ip_id"), whole.ints("ip_id"))
    assert len(read_capture(io.BytesIO(path.read_bytes()))) == 3
    with stream_capture(path) as parts:
        assert sum(map(len, parts)) == 3
    assert whole.meta.source == "three.pcap"
    for bad in (tmp_path, tmp_path / "none", Path("/dev/null")):
        with pytest.raises(ReaderError):
            read_capture(bad)
    with pytest.raises(ReaderError) as raised:
        read_capture(io.StringIO("text"))
    assert raised.value.code == "text-for-a-capture"


def test_blocks_join_without_a_seam(monkeypatch):
    capture = w.Capture()
    for number in range(200):
        frame = w.ethernet(w.ipv4(DNS + bytes(number), 17, "192.0.2.1", "192.0.2.53"), 0x0800)
        capture.add(TIMES_NS[0] + number * 1000, frame)
    for data in (capture.pcap(), capture.pcapng()):
        whole = read_capture(data)
        monkeypatch.setattr("netcalc.readers.captures.blocks.BLOCK_BYTES", 700)
        parts = read_capture(data)
        monkeypatch.undo()
        assert len(parts) == 200
        for name, column in whole.columns().items():
            assert np.array_equal(column, parts.columns()[name]), name


def test_a_trace_is_saved_and_loaded_without_loss(tmp_path):
    trace = read_capture(three().pcap(snap=48))
    assert PacketTrace.load(trace.save(tmp_path / "trace.json.gz")) == trace
    assert "3 rows" in repr(trace)
    frame = trace.to_frame()
    assert frame["source"].tolist() == ["192.0.2.1"] * 3


def test_recorded_captures_have_the_facts_of_their_run():
    """The run is in the manifest: 3 and 2 echoes, one TCP and one UDP exchange; counted by eye."""
    for name, link in (("dumpcap_lo.pcapng", "Ethernet"), ("dumpcap_lo_snap96.pcap", "Ethernet")):
        (row,) = readers.read(INPUTS / name).facts()
        assert row["link_type"] == link
        assert (row["packet_count"], row["icmp_echo_pair_count"]) == (22, 5)
        assert (row["ipv4_packet_count"], row["ipv6_packet_count"]) == (18, 4)
        assert (row["tcp_flow_count"], row["udp_flow_count"]) == (1, 1)
        assert row["tcp_retransmission_count"] == 0
        assert row["handshake_rtt_min_s"] == pytest.approx(28.807e-6, abs=1e-6)
    (row,) = readers.read(INPUTS / "dumpcap_any_sll.pcap").facts()
    assert row["link_type"] in ("SLL", "SLL2")


def test_the_format_is_found_by_content():
    assert readers.sniff(three().pcap()) == "pcap"
    assert readers.sniff(gzip.compress(three().pcapng())) == "pcapng"
    assert isinstance(readers.read(three().pcap()), PacketTrace)


def shared_bits(one: str, other: str) -> int:
    first, second = ipaddress.ip_address(one), ipaddress.ip_address(other)
    return first.max_prefixlen - (int(first) ^ int(second)).bit_length()


def test_anonymous_addresses_share_the_prefixes_of_the_true_ones():
    capture = w.Capture()
    ends = ["192.0.2.1", "192.0.2.2", "192.0.3.1", "198.51.100.7", "10.0.0.1"]
    for source in ends:
        capture.add(TIMES_NS[0], w.ipv4(DNS, 17, source, "192.0.2.53"))
    for source in ("2001:db8::1", "2001:db8::2", "2001:db9::1"):
        capture.add(TIMES_NS[0], w.ipv6(DNS, 17, source, "2001:db8::53"))
    trace = read_capture(capture.pcap(link=101))
    hidden = anonymized(trace, key=b"a secret of this test")
    assert not set(trace.addresses[1:]) & set(hidden.addresses)
    pairs = list(zip(trace.addresses[1:], hidden.addresses[1:], strict=True))
    for one, one_hidden in pairs:
        for other, other_hidden in pairs:
            if (":" in one) == (":" in other):
                assert shared_bits(one, other) == shared_bits(one_hidden, other_hidden)
    assert anonymized(trace, key=b"a secret of this test") == hidden
    assert anonymized(trace, key=b"another").addresses != hidden.addresses
    assert hidden.meta.sha256 == ""
    assert hidden.ints("source").tolist() == trace.ints("source").tolist()


def test_a_compressed_bomb_is_stopped_at_a_cap(monkeypatch):
    capture = w.Capture()
    capture.add(TIMES_NS[0], bytes(200_000))
    data = capture.pcap(snap=262_144)
    bomb = gzip.compress(data[:24] + data[24:] * 40)  # 8 MB of zeros in 8 kB
    assert len(read_capture(bomb)) == 40
    monkeypatch.setattr("netcalc.readers.captures.blocks.FREE_INFLATED_BYTES", 1 << 20)
    with pytest.raises(ReaderError) as raised:
        read_capture(bomb)
    assert raised.value.code == "too-large-uncompressed"
