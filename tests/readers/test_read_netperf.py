"""The output of netperf: expected numbers are read off the files by eye."""

from __future__ import annotations

from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "transfers"
UP = {"direction": "upload", "partial": False}

FACTS = {
    "netperf_stream.txt": UP | {
        "protocol": "tcp", "target": "192.0.2.1", "sent_rate_bps": 941.23e6, "duration_s": 10.02,
        "received_rate_bps": None, "sent_byte_count": None},
    # 1000 KBytes/sec are 1000 * 1024 * 8 bit/s
    "netperf_maerts_bytes.txt": {
        "direction": "download", "received_rate_bps": 8192000, "sent_rate_bps": None},
    "netperf_udp.txt": UP | {
        "protocol": "udp", "sent_rate_bps": 117.76e6, "received_rate_bps": 116.58e6,
        "datagram_count": 100000, "lost_datagram_count": 1000, "loss_ratio": 0.01,
        "sent_byte_count": 147200000},
    "netperf_rr.txt": {"duration_s": 10, "sent_rate_bps": None, "counter:Trans. Rate": 28533.43},
    "netperf_p0.txt": {"sent_rate_bps": 938.12e6, "duration_s": 10.03},
    "netperf_keyval.txt": UP | {
        "sent_rate_bps": 938.51e6, "duration_s": 10.01, "retransmit_count": 12,
        "congestion_control": "cubic", "mss_bytes": 1448, "sent_byte_count": 1174405120,
        "received_byte_count": 1174290000, "rtt_median_s": None},
    "netperf_rr_keyval.txt": {
        "rtt_min_s": 25e-6, "rtt_median_s": 34e-6, "rtt_max_s": 410e-6, "sent_rate_bps": None,
        "counter:THROUGHPUT": 28533.43},
    "netperf_omni.csv": UP | {"sent_rate_bps": 941e6, "retransmit_count": 3, "mss_bytes": 1448},
    "netperf_interim.txt": UP | {"sent_rate_bps": 773e6, "duration_s": 2.5},
}  # fmt: skip


@pytest.mark.each("name", sorted(FACTS))
def test_facts(name):
    (row,) = read(INPUTS / name).facts()
    wanted = FACTS[name]
    assert {key: row.get(key) for key in wanted} == pytest.approx(wanted)


def test_every_file_has_expected_facts():
    assert {path.name for path in INPUTS.glob("netperf*")} == set(FACTS)


def test_interim_lines_are_intervals():
    samples = read(INPUTS / "netperf_interim.txt")
    assert samples.start_s.tolist() == pytest.approx([0, 1, 2])
    assert samples.throughput_bps.tolist() == pytest.approx([940.1e6, 942.3e6, 100e6])
    assert set(samples.side) == {"sender"}


def test_a_unit_that_is_not_in_the_file_is_said():
    (notice,) = read(INPUTS / "netperf_p0.txt").meta.warnings
    assert notice.code == "netperf-default-unit"


def test_several_runs_have_a_row_each():
    text = (INPUTS / "netperf_stream.txt").read_text() + (INPUTS / "netperf_rr.txt").read_text()
    rows = read(text).facts()
    assert [row["group"] for row in rows] == ["run 1", "run 2"]


STREAM = (INPUTS / "netperf_stream.txt").read_text()
REFUSED = {
    "an unknown unit": (
        (INPUTS / "netperf_keyval.txt").read_text().replace("10^6bits/s", "furlongs"),
        "netperf-unit"),
    "a row without its rate": (STREAM.replace("     941.23   ", ""), "netperf-width"),
    "a title alone": (STREAM.split("\n", 1)[0] + "\n", "netperf-nothing"),
    "a row of CSV without its end": (
        (INPUTS / "netperf_omni.csv").read_text().replace(",3,1448", ",3"), "netperf-width"),
}  # fmt: skip


@pytest.mark.each("what", REFUSED)
def test_refused(what):
    text, code = REFUSED[what]
    with pytest.raises(ReaderError) as refused:
        read(text)
    assert refused.value.code == code
