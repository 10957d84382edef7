"""Sockets of the kernel as messages and as JSON, and inputs compressed with zstd."""

from __future__ import annotations

import gzip
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff, source

INPUTS = Path(__file__).parent / "inputs" / "counters"

# What ss printed of the same connection at the same times.
SS = {
    "rto_s": [0.204] * 3,
    "rtt_s": [25e-6, 27e-6, 28e-6],
    "rttvar_s": [14e-6, 14e-6, 13e-6],
    "mss_bytes": [47616, 47616, 65483],
    "path_mtu_bytes": [65535] * 3,
    "cwnd_packets": [12, 14, 16],
    "bytes_sent": [50000, 100000, 150000],
    "bytes_acked": [50001, 100001, 150001],
    "bytes_received": [100, 200, 300],
    "pacing_rate_bps": [258121113120] * 3,
    "delivery_rate_bps": [33124173912, 33124173912, 45553391304],
    "rtt_min_s": [12e-6, 12e-6, 6e-6],
    "retransmit_total_count": [0] * 3,
    "ssthresh_packets": [np.nan] * 3,  # ss prints none
}


@pytest.fixture(scope="module")
def packer():
    """The zstd of Python 3.14, or the package for earlier ones, which the tests' extra installs."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return pytest.importorskip(name, reason="backports.zstd is not installed")


@pytest.mark.each("name", ["tcp_info.netlink", "tcp_info.jsonl"])
def test_it_says_what_ss_says(name):
    table = read(INPUTS / name)
    for column, values in SS.items():
        np.testing.assert_allclose(table[column], values, rtol=1e-12, err_msg=column)
    assert set(table["congestion_control"]) == {"bbr"}
    assert set(table["state"]) == {"ESTAB"}
    assert set(table["group"]) == {"127.0.0.1:45760 > 127.0.0.1:41801"}
    row = table.facts()[0]
    assert (row["connection_count"], row["cwnd_packets"], row["bytes_acked"]) == (1, 16, 150001)
    assert row["partial"] is False


# Of struct tcp_info in include/uapi/linux/tcp.h, in its order: the bytes at the beginning, and then
# every member with its width; those with a column have its name, and what its numbers are times.
INFO_HEAD = 8
INFO = (
    ("rto_s", 4, 1e-6), ("ato", 4), ("mss_bytes", 4, 1), ("rcv_mss", 4), ("unacked_packets", 4, 1),
    ("sacked", 4), ("lost", 4), ("retrans", 4), ("fackets", 4), ("last_data_sent", 4),
    ("last_ack_sent", 4), ("last_data_recv", 4), ("last_ack_recv", 4), ("path_mtu_bytes", 4, 1),
    ("rcv_ssthresh", 4), ("rtt_s", 4, 1e-6), ("rttvar_s", 4, 1e-6), ("ssthresh_packets", 4, 1),
    ("cwnd_packets", 4, 1), ("advmss", 4), ("reordering", 4), ("rcv_rtt", 4), ("rcv_space", 4),
    ("retransmit_total_count", 4, 1), ("pacing_rate_bps", 8, 8), ("max_pacing_rate", 8),
    ("bytes_acked", 8, 1), ("bytes_received", 8, 1), ("segs_out", 4), ("segs_in", 4),
    ("unsent_bytes", 4, 1), ("rtt_min_s", 4, 1e-6), ("data_segs_in", 4), ("data_segs_out", 4),
    ("delivery_rate_bps", 8, 8), ("busy_s", 8, 1e-6), ("receive_window_limited_s", 8, 1e-6),
    ("send_buffer_limited_s", 8, 1e-6), ("delivered", 4), ("delivered_ce", 4), ("bytes_sent", 8, 1),
    ("bytes_retransmitted", 8, 1), ("dsack_dups", 4), ("reord_seen", 4), ("rcv_ooopack", 4),
    ("offered_window_bytes", 4, 1),
)  # fmt: skip


def message(info, *, padding=0, port=80):
    """A message of inet_diag by hand: its head, the socket, and attributes of length and type."""
    local, remote = bytes([192, 0, 2, 1]).ljust(16, b"\0"), bytes([192, 0, 2, 2]).ljust(16, b"\0")
    body = struct.pack("<4B", 2, 1, 0, 0) + struct.pack(">HH", port, 443) + local + remote
    body += struct.pack("<I8s5I", 0, b"", 0, 5, 6, 0, 0)
    for kind, value in ((2, info), (4, b"cubic\0\0\0"), (9, b"\0" * padding)):
        body += struct.pack("<HH", 4 + len(value), kind) + value
    return struct.pack("<IHHII", 16 + len(body), 20, 0, 0, 0) + body


def test_every_member_of_tcp_info_is_where_the_kernel_has_it():
    """Each has 1000 times its place in the struct and 7: no two are equal."""
    numbers = {name: 1000 * place + 7 for place, (name, *_) in enumerate(INFO)}
    info = bytes(INFO_HEAD) + b"".join(
        numbers[name].to_bytes(size, "little") for name, size, *_ in INFO
    )
    table = read(message(info) * 2)
    for name, _, *factor in INFO:
        if factor:
            assert table[name] == pytest.approx([numbers[name] * factor[0]] * 2, rel=1e-12), name
    assert table["receive_queue_bytes"].tolist() == [5, 5]
    assert table["send_queue_bytes"].tolist() == [6, 6]
    assert table["group"].tolist() == ["192.0.2.1:80 > 192.0.2.2:443"] * 2
    assert table["snapshot"].tolist() == [0, 1], "the same socket again is of the next one"
    two = read(message(info) + message(info, port=81))
    assert two["snapshot"].tolist() == [0, 0]


def test_a_message_is_at_most_a_page_of_4096_bytes():
    info = bytes(232)
    rest = 4096 - len(message(info))
    assert sniff(message(info, padding=rest)) == "tcp_info"
    with pytest.raises(ReaderError):
        sniff(message(info, padding=rest + 1))


def test_messages_that_are_of_sockets():
    """States are 1 to 12; behind a socket comes another one, an error (2) or the end (3)."""
    alone = message(bytes(232))
    least = struct.pack("<IHHII", 16 + 72, 20, 0, 0, 0) + alone[16:88]
    assert sniff(least) == "tcp_info"
    assert [one.code for one in read(least).meta.warnings] == ["sockets-without-details"]
    for state, right in ((0, False), (1, True), (12, True), (13, False)):
        changed = bytes([*alone[:17], state, *alone[18:]])
        assert _is_tcp_info(changed) is right, state
    for kind, right in ((1, False), (2, True), (3, True), (4, False), (20, True)):
        end = struct.pack("<IHHII", 16, kind, 0, 0, 0)
        assert _is_tcp_info(alone + end) is right, kind


def _is_tcp_info(data):
    try:
        return sniff(data) == "tcp_info"
    except ReaderError:
        return False


def test_times_are_those_of_the_snapshots():
    """10:00:01.25, 02.25 and 03.25 on 2026-11-23, UTC: 20780 days after 1970 are 1795392000 s."""
    expected = 1795392000 + 36000 + np.array([1.25, 2.25, 3.25])
    assert read(INPUTS / "tcp_info.jsonl")["time_s"].tolist() == expected.tolist()
    assert np.isnan(read(INPUTS / "tcp_info.netlink")["time_s"]).all()


def test_an_older_kernel_has_fewer_fields():
    """Those behind the end of its message are unknown, not 0."""
    data = (INPUTS / "tcp_info.netlink").read_bytes()
    length = int.from_bytes(data[:4], "little")
    at = data.index(b"\x02\x00", 88 - 2) - 2  # the attribute INET_DIAG_INFO
    while data[at + 2 : at + 4] != b"\x02\x00":
        at = data.index(b"\x02\x00", at + 4) - 2
    size = int.from_bytes(data[at : at + 2], "little")
    short = data[at : at + 4 + 104]  # up to tcpi_total_retrans
    short = (4 + 104).to_bytes(2, "little") + short[2:]
    message = data[:at] + short + data[at + ((size + 3) & ~3) : length]
    message = len(message).to_bytes(4, "little") + message[4:]
    table = read(message + bytes(-len(message) % 4))
    assert table["rtt_s"].tolist() == [25e-6]
    assert np.isnan(table["rtt_min_s"]).all()
    assert np.isnan(table["bytes_acked"]).all()


def test_a_file_that_was_cut_is_partial():
    data = (INPUTS / "tcp_info.netlink").read_bytes()
    table = read(data[:-10])
    assert (len(table), table.meta.partial) == (2, True)
    text = (INPUTS / "tcp_info.jsonl").read_text()
    table = read(text[:-40])
    assert (len(table), table.meta.partial) == (2, True)


def test_a_damaged_snapshot_is_refused_with_its_place():
    text = (INPUTS / "tcp_info.jsonl").read_text()
    head, mark, rest = text.partition('"RawIDM":"')
    with pytest.raises(ReaderError) as caught:
        read(head + mark + "AgEC" + rest[rest.index('"') :])
    assert (caught.value.code, caught.value.field) == ("tcp-info-damaged", "document 2")


def test_zstd_of_one_frame_and_of_several(packer):
    text = (INPUTS / "tcp_info.jsonl").read_bytes()
    whole = read(text)
    half = text.index(b"\n", len(text) // 2) + 1
    for compressed in (
        packer.compress(text),
        packer.compress(text[:half]) + packer.compress(text[half:]),
    ):
        assert sniff(compressed) == "tcp_info"
        found = read(compressed)
        assert found.columns().keys() == whole.columns().keys()
        assert found.facts() == whole.facts()
        assert len(found) == 3


def test_zstd_that_is_cut_or_damaged_is_refused(packer):
    packed = packer.compress((INPUTS / "tcp_info.jsonl").read_bytes())
    for data in (
        packed[:-5],
        packed[: len(packed) // 2],
        packed + b"x",
        packed[:20] + b"\xff" * 20,
    ):
        with pytest.raises(ReaderError) as caught:
            read(data)
        assert caught.value.code in ("packing-cut-short", "damaged-packing")


def test_a_bomb_of_zstd_stops_at_the_limit(packer, monkeypatch):
    monkeypatch.setattr(source, "MAX_BYTES", 1_000_000)
    packed = packer.compress(b"size,rtt_ms\n" + b"1,1\n" * 1_000_000)
    assert len(packed) < 10_000
    with pytest.raises(ReaderError) as caught:
        read(packed)
    assert caught.value.code == "too-large-uncompressed"


def test_without_a_package_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(source, "_ZSTD_MODULES", ("netcalc.no_such_module",))
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(source.ZSTD_MAGIC + bytes(40))
    assert sniff(path) == "zstd"
    with pytest.raises(ReaderError) as caught:
        read(path)
    assert caught.value.code == "zstd-not-at-hand"
    assert "pip install backports.zstd;" in str(caught.value)


def test_captures_in_zstd(packer, tmp_path):
    """Read in steps; of several frames none is left out."""
    captures = Path(__file__).parent / "inputs" / "captures"
    capture = next(p for p in sorted(captures.iterdir()) if p.suffix == ".pcap")
    data = capture.read_bytes()
    path = tmp_path / "x.pcap.zst"
    for compressed in (
        packer.compress(data),
        packer.compress(data[:100]) + packer.compress(data[100:]),
    ):
        path.write_bytes(compressed)
        assert read(path).facts() == read(capture).facts()
        assert read(gzip.compress(data)).facts() == read(path).facts()
