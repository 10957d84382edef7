"""Transfers that a tool says in a few lines: speed tests, ndt7, nuttcp, dd, wget, curl, scp.

Expected numbers are read off the files by eye (``tests/readers/inputs/transfers``), or computed by
hand from what they print.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff
from netcalc.samples import FlowSeries, TransferSamples

INPUTS = Path(__file__).parent / "inputs" / "transfers"
MIB = 1024**2
DOWN, UP = {"group": "download"}, {"group": "upload"}

FACTS = {
    # 11764250 bytes/s are 94.114 Mbit/s
    "speedtest_ookla.json": [
        DOWN | {"received_rate_bps": 94.114e6, "received_byte_count": 117642500,
                "duration_s": 10.001, "sent_rate_bps": None},
        UP | {"sent_rate_bps": 20e6, "sent_byte_count": 20000000},
        {"group": "ping", "rtt_s": 0.0098, "rtt_min_s": 0.0095, "printed_loss_ratio": 0.005}],
    "speedtest_cli.json": [
        DOWN | {"received_rate_bps": 94114000.5, "received_byte_count": 117642500},
        UP | {"sent_rate_bps": 20000000.25}, {"rtt_s": 0.0098}],
    "speedtest_librespeed.json": [
        DOWN | {"received_rate_bps": 94.11e6}, UP | {"sent_rate_bps": 20e6}, {"rtt_s": 0.0098}],
    "speedtest.txt": [
        DOWN | {"received_rate_bps": 94.11e6, "received_byte_count": 117.6e6},
        UP | {"sent_rate_bps": 20e6}, {"rtt_s": 0.0098}],
    "speedtest_cli.txt": [
        DOWN | {"received_rate_bps": 94.11e6}, UP | {"sent_rate_bps": 20e6}, {"rtt_s": 0.0098}],
    "speedtest_cli_log.csv": [
        {"group": "run 1 download", "received_rate_bps": 93536296.1},
        {"group": "run 1 upload", "sent_rate_bps": 19292256.4},
        {"group": "run 2 download", "received_rate_bps": 90000000.5},
        {"group": "run 2 upload", "sent_rate_bps": 18000000.25},
        {"group": "run 1 ping", "rtt_s": 0.018211}, {"group": "run 2 ping", "rtt_s": 0.0175}],
    "speedtest_ookla.csv": [  # 11764250 bytes/s
        DOWN | {"received_rate_bps": 94.114e6, "received_byte_count": 117642500, "rtt_s": 0.0351,
                "rtt_max_s": 0.088, "jitter_s": 0.0041},
        UP | {"sent_rate_bps": 20e6, "sent_byte_count": 20000000, "rtt_s": 0.0605},
        {"group": "ping", "rtt_s": 0.0098, "rtt_min_s": 0.0095, "printed_loss_ratio": 0.005}],
    "speedtest_librespeed.csv": [
        DOWN | {"received_rate_bps": 93.54e6}, UP | {"sent_rate_bps": 19.29e6},
        {"group": "ping", "rtt_s": 0.0105, "jitter_s": 0.00125}],
    "speedtest_networkquality.txt": [
        DOWN | {"received_rate_bps": 94.11e6, "received_byte_count": 117.642e6},
        UP | {"sent_rate_bps": 20.5e6, "sent_byte_count": 25.625e6},
        {"group": "ping", "rtt_s": 0.0125},
        {"group": "under load", "rtt_s": 0.25, "responsiveness_rpm": 240}],
    "speedtest_networkquality.json": [  # 60 s / 240, 60 s / 600
        DOWN | {"received_rate_bps": 94.11e6, "rtt_s": 0.25, "responsiveness_rpm": 240},
        UP | {"sent_rate_bps": 20.5e6, "rtt_s": 0.1, "responsiveness_rpm": 600},
        {"group": "ping", "rtt_s": 0.0125}],
    "speedtest_fast.json": [
        DOWN | {"received_rate_bps": 94e6}, UP | {"sent_rate_bps": 20e6},
        {"group": "ping", "rtt_s": 0.012}, {"group": "under load", "rtt_s": 0.048}],
    "speedtest_cfspeedtest.json": [
        DOWN | {"received_rate_bps": 450e6}, UP | {"sent_rate_bps": 120e6},
        {"group": "ping", "rtt_s": 0.012, "rtt_min_s": 0.01, "rtt_max_s": 0.015}],
    "ndt7_summary.json": [
        DOWN | {"received_rate_bps": 93.5e6, "rtt_min_s": 0.0121},
        UP | {"received_rate_bps": 19.3e6, "rtt_min_s": 0.0142}],
    "ndt7_client.txt": [
        DOWN | {"received_rate_bps": 93.5e6, "rtt_min_s": 0.0121},
        UP | {"sent_rate_bps": 19.3e6, "rtt_min_s": 0.0142}],
    # The last line of the client: 12000000 bytes in 1 s; of the server: 11900000 in 0.99 s.
    "ndt7_client.jsonl": [{
        "direction": "download", "received_byte_count": 12000000, "received_rate_bps": 96e6,
        "sent_byte_count": 11900000, "sent_rate_bps": 11900000 * 8 / 0.99, "rtt_s": 0.0205,
        "rtt_min_s": 0.0201, "cwnd_packets": 80, "mss_bytes": 1448, "retransmit_total_count": 10,
        "partial": False}],
    "ndt7_server.json": [{
        "direction": "upload", "received_byte_count": 2500000, "sent_byte_count": 2700000,
        "received_rate_bps": 20e6, "rtt_min_s": 0.0202, "partial": False}],
    "ndt7_query.json": [{
        "direction": "download", "received_rate_bps": 94.1e6, "rtt_min_s": 0.0201,
        "printed_loss_ratio": 0.0012, "congestion_control": "bbr"}],
    "nuttcp_tcp.txt": [{
        "protocol": "tcp", "received_byte_count": 2210.3125 * MIB, "received_rate_bps": 6175.9835e6,
        "duration_s": 3, "retransmit_count": 0, "direction": "", "partial": False}],
    "nuttcp_parse.txt": [{
        "received_byte_count": 796.1875 * MIB, "received_rate_bps": 3337.1431e6,
        "retransmit_count": 0, "partial": False}],
    "nuttcp_udp.txt": [{
        "protocol": "udp", "received_rate_bps": 5.0033e6, "datagram_count": 1221,
        "lost_datagram_count": 0, "loss_ratio": 0}],
    "nuttcp_udp_parse.txt": [{
        "protocol": "udp", "received_rate_bps": 4.9755e6, "datagram_count": 1220}],
    "nuttcp_verbose.txt": [{
        "sent_rate_bps": 2995.3820e6, "received_rate_bps": 2998.7638e6,
        "received_byte_count": round(717.1760 * MIB, 3)}],
    "dd.txt": [{"sent_byte_count": 65536000, "duration_s": 0.00157686}],
    "dd_small.txt": [{"sent_byte_count": 3000, "duration_s": 4.5598e-05}],
    "dd_german.txt": [{"sent_byte_count": 65536000, "duration_s": 0.123}],
    "dd_bsd.txt": [{"duration_s": 0.125, "sent_rate_bps": 524288000 * 8}],
    # 415 MB/s and 1.02 GB/s of 1024
    "wget.txt": [{
        "received_byte_count": 2000000, "received_rate_bps": 415 * MIB * 8, "duration_s": 0.005,
        "direction": "download"}],
    "wget_bar.txt": [{"received_rate_bps": 1.02 * 1024 * MIB * 8, "duration_s": 0.002}],
    "wget_nv.txt": [{"received_byte_count": 2000000, "duration_s": None}],
    "curl.txt": [{"received_byte_count": 1953 * 1024, "received_rate_bps": 386 * MIB * 8}],
    "curl.json": [{"received_byte_count": 2000000, "duration_s": 0.01476}],
    "curl_variables.txt": [{
        "received_byte_count": 2000000, "received_rate_bps": 150954789 * 8,
        "duration_s": 0.013249}],
    "scp.txt": [{"sent_rate_bps": 2.3 * MIB * 8, "duration_s": 2},
                {"sent_byte_count": 650 * MIB, "duration_s": 58}],
    # (734,182,514 + 35) / 11,561,929.91 - 0.5 = 63.0 s
    "rsync.txt": [{"sent_byte_count": 734182514, "duration_s": 63, "direction": "upload",
                   "sent_rate_bps": 8 * 734182514 / 63}],
    "rsync_old.txt": [{"received_byte_count": 221150763, "duration_s": 9,
                       "received_rate_bps": 8 * 221150763 / 9}],
}  # fmt: skip
TOOLS = ("speedtest", "ndt7", "nuttcp", "dd", "wget", "curl", "scp", "rsync")


@pytest.mark.each("name", sorted(FACTS))
def test_facts(name):
    found = read(INPUTS / name).facts()
    assert len(found) == len(FACTS[name])
    for row, wanted in zip(found, FACTS[name], strict=True):
        known = {key: row.get(key, "" if value == "" else None) for key, value in wanted.items()}
        assert known == pytest.approx(wanted)


def test_every_file_has_expected_facts():
    there = {path.name for path in INPUTS.iterdir() if path.name.startswith(TOOLS)}
    assert there == set(FACTS)


def test_intervals_of_ndt7_are_differences():
    """Derived: 2.5, 3 and 6.5 MB in 0.25, 0.25 and 0.5 s."""
    samples = read(INPUTS / "ndt7_client.jsonl")
    assert isinstance(samples, FlowSeries)
    client = samples.side == "receiver"
    assert samples.payload_bytes[client].tolist() == [2500000, 3000000, 6500000]
    assert samples.duration_s[client].tolist() == pytest.approx([0.25, 0.25, 0.5])
    assert samples.cwnd_bytes[~client].tolist() == [80 * 1448]


def test_a_cut_ndt7_is_partial():
    text = (INPUTS / "ndt7_client.jsonl").read_text()
    assert read("\n".join(text.split("\n")[:4]) + "\n").meta.partial
    samples = read(text[:330])
    assert samples.meta.partial
    assert "ndt7-cut" in codes(samples)


def test_intervals_of_nuttcp_have_no_total_among_them():
    samples = read(INPUTS / "nuttcp_tcp.txt")
    assert samples.payload_bytes.tolist() == [1207.6875 * MIB, 524.5 * MIB, 477.5625 * MIB]
    cut = read("".join((INPUTS / "nuttcp_tcp.txt").read_text().splitlines(keepends=True)[:2]))
    assert cut.meta.partial
    assert cut.facts()[0]["partial"]


def test_a_rate_too_low_for_its_unit_is_refused():
    document = json.loads((INPUTS / "speedtest_cli.json").read_text())
    with pytest.raises(ReaderError) as refused:
        read(json.dumps({**document, "download": 94.11}, indent=1))
    assert (refused.value.code, refused.value.field) == ("speedtest-unit", "download")


def test_a_time_of_dd_that_does_not_fit_its_rate_is_unknown():
    text = (INPUTS / "dd_german.txt").read_text().replace("0,123 s", "1,230 s")
    samples = read(text)
    assert isinstance(samples, TransferSamples)
    assert np.isnan(samples.duration_s).all()
    assert codes(samples) == ["transfer-rate-differs"]


def test_fewer_bytes_than_announced_are_a_failed_transfer():
    text = (INPUTS / "wget_nv.txt").read_text().replace("[2000000/", "[1000/")
    samples = read(text)
    assert samples.failed.tolist() == [True]
    assert samples.facts()[0]["partial"]


def test_a_wget_that_did_not_end_is_partial_or_nothing():
    text = (INPUTS / "wget.txt").read_text()
    with pytest.raises(ReaderError) as refused:
        read(text.partition("415 MB/s")[0])
    assert refused.value.code == "transfer-nothing"
    assert read(text + text.partition("415 MB/s")[0]).meta.partial


def test_scp_under_way_has_no_time():
    samples = read("file.bin     42% 1953KB   2.3MB/s   00:12 ETA\n")
    assert np.isnan(samples.duration_s).all()
    assert samples.meta.partial


@pytest.mark.each("name", [n for n in sorted(FACTS) if not n.endswith((".json", ".jsonl"))])
def test_a_cut_text_is_right_or_refused(name):
    """Identity: a fact of a cut file is that of the whole file, or the file says it is cut."""
    data = (INPUTS / name).read_bytes()
    whole = read(data).facts()
    for end in range(len(data) // 3, len(data) - 1, max(len(data) // 9, 1)):
        try:
            samples = read(data[:end])
        except ReaderError:
            continue
        if sniff(data[:end]) == sniff(data) and not samples.meta.partial:
            assert all(row in whole for row in samples.facts())
