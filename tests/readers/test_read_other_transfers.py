"""Transfers of ntttcp, qperf, enhanced iperf 2, and an iperf3 document that was cut."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "transfers"


def test_ntttcp():
    """94 Mbit/s for 10 s are 117.5 MB, or 112.056732 MiB, which ntttcp calls MB."""
    samples = read(INPUTS / "ntttcp_sender.xml")
    assert samples.facts() == [
        {"protocol": "tcp", "stream_count": 2, "sent_byte_count": 117_500_000,
         "sent_rate_bps": 94e6, "duration_s": 10.0, "partial": False}
    ]  # fmt: skip
    assert samples.throughput_bps.tolist() == [48e6, 46e6]
    assert set(samples.side) == {"sender"}
    assert samples.meta.host == "HOST-1"


def test_ntttcp_of_a_receiver_of_udp():
    text = (INPUTS / "ntttcp_sender.xml").read_text()
    text = text.replace("ntttcps", "ntttcpr").replace("<udp>False", "<udp>True")
    row = read(text).facts()[0]
    assert (row["protocol"], row["received_byte_count"]) == ("udp", 117_500_000)
    assert "sent_byte_count" not in row


def test_ntttcp_whose_bytes_do_not_fit_its_rate_is_refused():
    text = (INPUTS / "ntttcp_sender.xml").read_text().replace("112.056732", "114.0")
    with pytest.raises(ReaderError) as caught:
        read(text)
    error = caught.value
    assert (error.code, error.field, error.unit) == ("ntttcp-disagrees", "total_bytes", "MB")
    # Linux counts in powers of 1000
    text = text.replace("114.0", "117.5")
    assert read(text).facts()[0]["sent_byte_count"] == 117_500_000


@pytest.mark.each(
    "damage", [("</ntttcps>", ""), ("94.000", "94,000"), ("<ntttcps", "<!DOCTYPE a><ntttcps")]
)
def test_ntttcp_that_is_damaged_is_refused(damage):
    text = (INPUTS / "ntttcp_sender.xml").read_text()
    assert damage[0] in text
    with pytest.raises(ReaderError):
        read(text.replace(*damage))


# Read off the files by eye: test, bit/s sent, bit/s received, latency [us].
QPERF = {
    "qperf.txt": [("tcp_bw", None, 8.96e9, None), ("tcp_lat", None, None, 105),
                  ("udp_bw", 18.56e9, 5.88e9, None), ("udp_lat", None, None, 130)],
    "qperf_verbose.txt": [("tcp_bw", None, 3.976e9, None), ("tcp_lat", None, None, 112),
                          ("udp_bw", 14.24e9, 5.416e9, None), ("udp_lat", None, None, 101)],
    "qperf_sizes.txt": [("tcp_bw", None, 3.712e9, None), ("tcp_lat", None, None, 93.4)],
    "qperf_loop.txt": [("tcp_lat", None, None, 17.3), ("tcp_lat", None, None, 33),
                       ("tcp_lat", None, None, 17.9), ("tcp_lat", None, None, 25.2)],
}  # fmt: skip


@pytest.mark.each("name", QPERF)
def test_qperf(name):
    table = read(INPUTS / name)
    assert table["test"].tolist() == [case[0] for case in QPERF[name]]
    expected = [[np.nan if v is None else v for v in case[1:]] for case in QPERF[name]]
    sent, received, latency = zip(*expected, strict=True)
    np.testing.assert_allclose(table["sent_rate_bps"], sent)
    np.testing.assert_allclose(table["received_rate_bps"], received)
    np.testing.assert_allclose(table["one_way_latency_s"] * 1e6, latency)
    for row, case in zip(table.facts(), QPERF[name], strict=True):
        assert row.get("rtt_s") == (None if case[3] is None else pytest.approx(2e-6 * case[3]))
        assert row["partial"] is False


def test_qperf_says_bytes_or_bits():
    text = (INPUTS / "qperf.txt").read_text().replace("1.12 GB/sec", "8.96 Gb/sec")
    assert read(text)["received_rate_bps"][0] == pytest.approx(8.96e9)
    odd = read(text.replace("8.96 Gb/sec", "8.96 GiB/sec"))
    assert codes(odd) == ["qperf-lines-unread"]
    assert odd["test"][0] == "tcp_lat"


def test_qperf_sizes_of_messages():
    assert read(INPUTS / "qperf_sizes.txt")["message_bytes"].tolist() == [65536, 1]


@pytest.mark.each(
    ("written", "rate_bps", "latency_s"),
    [  # qperf(1): powers of 1000, B or bytes of 8 bits, b or bits
        ("bw = 5 bytes/sec", 40.0, None), ("bw = 5 bits/sec", 5.0, None),
        ("bw = 5 KB/sec", 4e4, None), ("bw = 5 MB/sec", 4e7, None), ("bw = 5 GB/sec", 4e10, None),
        ("bw = 5 TB/sec", 4e13, None), ("bw = 5 Kb/sec", 5e3, None), ("bw = 5 Mb/sec", 5e6, None),
        ("bw = 5 Tb/sec", 5e12, None),
        ("latency = 250 ns", None, 2.5e-7), ("latency = 250 us", None, 2.5e-4),
        ("latency = 250 ms", None, 0.25), ("latency = 2.5 sec", None, 2.5),
    ],
)  # fmt: skip
def test_units_of_qperf(written, rate_bps, latency_s):
    test = "tcp_bw" if latency_s is None else "tcp_lat"
    found = read(f"{test}:\n    {written}\n")
    if rate_bps is not None:
        assert found["received_rate_bps"].tolist() == [pytest.approx(rate_bps)]
    if latency_s is not None:
        assert found["one_way_latency_s"].tolist() == [pytest.approx(latency_s)]
        assert found.facts()[0]["rtt_s"] == pytest.approx(2 * latency_s)


@pytest.mark.each("test, name, unit", [("tcp_bw", "bw", "MB/sec"), ("tcp_lat", "latency", "us"),
                                       ("udp_bw", "send_bw", "MB/sec")])  # fmt: skip
def test_a_result_of_qperf_that_is_there_twice_is_not_used(test, name, unit):
    found = read(f"{test}:\n    {name}  =  10 {unit}\n    {name}  =  20 {unit}\n")
    column = {"bw": "received_rate_bps", "send_bw": "sent_rate_bps"}.get(name, "one_way_latency_s")
    assert found[column].tolist() == [pytest.approx(10e-6 if unit == "us" else 80e6)]
    assert [dict(one.values) for one in found.meta.warnings] == [{"numbers": [3]}]


def test_a_result_of_the_other_kind_of_test_is_not_used():
    for test, name in (("tcp_bw", "latency = 5 us"), ("tcp_lat", "bw = 5 MB/sec")):
        own = "bw = 10 MB/sec" if test == "tcp_bw" else "latency = 10 us"
        found = read(f"{test}:\n    {own}\n    {name}\n")
        assert [dict(one.values) for one in found.meta.warnings] == [{"numbers": [3]}]


def test_qperf_that_was_cut_is_partial():
    text = (INPUTS / "qperf.txt").read_text()
    cut = read(text[: text.index("udp_lat:") + 10])
    assert (len(cut), cut.meta.partial) == (3, True)


def test_enhanced_csv_of_iperf_2():
    """By hand: 11.75 and 11.625 MB, 23.375 MB in all; windows of 256 and 128 KiB."""
    samples = read(INPUTS / "iperf2_fields.csv")
    assert samples.facts() == [
        {"target": "192.0.2.9", "protocol": "tcp", "direction": "upload", "stream_count": 1,
         "sent_byte_count": 23_375_000, "sent_rate_bps": 93.5e6, "duration_s": 2.0,
         "retransmit_count": 4, "partial": False}
    ]  # fmt: skip
    assert samples.payload_bytes.tolist() == [11_750_000, 11_625_000]
    assert samples.cwnd_bytes.tolist() == [262_144, 131_072]
    assert samples.rtt_s.tolist() == [2150e-6, 1980e-6]
    assert samples.retransmit_count.tolist() == [3, 1]


def test_enhanced_csv_of_iperf_2_of_a_receiver_of_udp():
    row = read(INPUTS / "iperf2_fields_udp.csv").facts()[0]
    assert (row["datagram_count"], row["lost_datagram_count"]) == (179, 2)
    assert row["loss_ratio"] == pytest.approx(2 / 179)
    assert row["jitter_s"] == pytest.approx(16e-6)
    assert "sent_byte_count" not in row


def test_enhanced_csv_without_details_of_tcp_has_none():
    text = (INPUTS / "iperf2_fields.csv").read_text()
    text = re.sub(r",\d+,\d+,\d+,\d+,\d+$", ",0,0,0,0,0", text, flags=re.MULTILINE)
    samples = read(text)
    assert np.isnan(samples.cwnd_bytes).all()
    assert np.isnan(samples.retransmit_count).all()


@pytest.mark.each(
    ("damage", "code"),
    [((",310\n", "\n"), "iperf-csv-fields"), (("11750000", "1.1e7"), "iperf-csv-number")],
)
def test_enhanced_csv_that_is_damaged_is_refused_with_its_line(damage, code):
    text = (INPUTS / "iperf2_fields.csv").read_text().replace(*damage)
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert (caught.value.code, caught.value.line) == (code, 2)


def test_an_enhanced_csv_that_was_cut_is_partial():
    lines = (INPUTS / "iperf2_fields.csv").read_text().splitlines(keepends=True)
    row = read("".join(lines[:3])).facts()[0]
    assert (row["partial"], row["sent_byte_count"]) == (True, 23_375_000)


def test_a_cut_document_of_iperf3_keeps_its_whole_intervals():
    """It ends within the third interval of 0.5 s."""
    whole = json.loads((INPUTS / "iperf3_tcp.json").read_text())
    streams = [one["streams"][0] for one in whole["intervals"][:2]]
    samples = read(INPUTS / "iperf3_cut.json")
    assert sniff(INPUTS / "iperf3_cut.json") == "iperf3 JSON"
    assert samples.payload_bytes.tolist() == [one["bytes"] for one in streams]
    row = samples.facts()[0]
    assert row["partial"] is True
    assert row["sent_byte_count"] == sum(one["bytes"] for one in streams)
    assert "received_byte_count" not in row
    assert codes(samples) == ["iperf3-document-cut"]


def test_every_cut_of_a_document_gives_whole_intervals_or_is_refused():
    text = (INPUTS / "iperf3_tcp.json").read_text()
    sizes = [one["streams"][0]["bytes"] for one in json.loads(text)["intervals"]]
    counts = set()
    for at in range(len(text) // 4, len(text) - 3, 61):
        try:
            samples = read(text[:at])
        except ReaderError:
            counts.add(0)
            continue
        found = samples.payload_bytes.tolist()
        assert found == sizes[: len(found)]
        assert samples.meta.partial is True
        counts.add(len(found))
    assert counts == set(range(len(sizes) + 1))
