"""Sockets of ss: expected numbers are read off the recorded files by eye."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "counters"
HEAD = "State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
SOCKET = "ESTAB 0      0          192.0.2.2:34446    192.0.2.1:5201\n"

# file -> lists in it, sockets in all lists, facts of the first and of the last row
FILES = {
    "ss_netesto.txt": (5, 15, {"connection_count": 3, "tcp_connection_count": 3}, {
        "rtt_s": 0.000789, "rtt_min_s": 3e-6, "cwnd_packets": 2496, "mss_bytes": 1448,
        "retransmit_total_count": 3, "bytes_acked": 944898086, "congestion_control": "bbr",
        "path_mtu_bytes": 1500}),
    "ss_flent.txt": (4, 12, {"connection_count": 3}, {"cwnd_packets": 910, "rtt_s": 0.000493}),
    "ss_mem.txt": (1, 3, {"connection_count": 3}, {"cwnd_packets": 1872, "rtt_s": 0.000973}),
    "ss_oneline.txt": (1, 3, {"connection_count": 3}, {"cwnd_packets": 2134, "rtt_s": 0.001267}),
    "ss_noheader.txt": (1, 3, {"connection_count": 3}, {
        "cwnd_packets": 2126, "rtt_s": 0.000576, "congestion_control": "bbr"}),
    "ss_an.txt": (1, 12, {"connection_count": 12, "tcp_connection_count": 3, "rtt_s": None}, {}),
    "ss_old.txt": (1, 1, {
        "connection_count": 1, "rtt_s": 0.0515, "cwnd_packets": 58, "mss_bytes": 1448,
        "retransmit_total_count": 17, "bytes_acked": 3001905, "congestion_control": "cubic"}, {}),
}  # fmt: skip


@pytest.mark.each("name", sorted(FILES))
def test_recorded_files(name):
    lists, sockets, first, last = FILES[name]
    samples = read(INPUTS / name)
    assert (samples["snapshot"].max() + 1, len(samples)) == (lists, sockets)
    rows = samples.facts()
    assert {key: rows[0].get(key) for key in first} == first
    assert {key: rows[-1].get(key) for key in last} == last
    assert not samples.meta.partial
    assert not samples.meta.warnings


def test_marks_of_time_are_the_times_of_the_lists():
    """The first Time: line of the file, and three lists later."""
    samples = read(INPUTS / "ss_flent.txt")
    times = np.unique(samples["time_s"])
    assert times[0] == pytest.approx(1795353045.164701972, abs=1e-6)
    assert len(times) == 4
    assert np.isnan(read(INPUTS / "ss_netesto.txt")["time_s"]).all()


def test_units_of_rates_and_times():
    """Read off the file: send 13.0Mbps, pacing_rate 15.6Mbps, rto:252, rtt:51.5/1.25 in ms."""
    samples = read(INPUTS / "ss_old.txt")
    assert samples["send_rate_bps"].tolist() == [13.0e6]
    assert samples["pacing_rate_bps"].tolist() == [15.6e6]
    assert samples["rto_s"].tolist() == [0.252]
    assert samples["rttvar_s"].tolist() == [0.00125]
    assert samples["ssthresh_packets"].tolist() == [41]
    assert "lost:1" in samples["other"][0]


DETAILS = {
    "no rtt": ("\t cubic wscale:7,7 rto:1000 mss:524 cwnd:10\n",
               {"rtt_s": None, "cwnd_packets": 10, "retransmit_total_count": 0}),
    "nested brackets": ("\t skmem:(r0,rb1,bl0) users:((\"a\",pid=1,fd=3)) bbr bbr:(bw:1bps,mrtt:2)"
                        " rtt:1/0.5 cwnd:4\n", {"rtt_s": 0.001, "congestion_control": "bbr"}),
    "an unknown name": ("\t reno rtt:2/1 cwnd:3 brand_new:17\n", {"cwnd_packets": 3}),
    "retransmitted": ("\t reno rtt:2/1 cwnd:3 retrans:2/9\n", {"retransmit_total_count": 9}),
    "no details": ("", {"rtt_s": None, "cwnd_packets": None, "retransmit_total_count": None}),
}  # fmt: skip


@pytest.mark.each("what", DETAILS)
def test_details(what):
    line, wanted = DETAILS[what]
    (row,) = read(HEAD + SOCKET + line).facts()
    assert {key: row.get(key) for key in wanted} == wanted


def test_a_value_that_is_no_number_is_unknown_and_said():
    samples = read(HEAD + SOCKET + "\t reno rtt:2,5/1 cwnd:3 mss:x\n")
    (row,) = samples.facts()
    assert "rtt_s" not in row
    assert "mss_bytes" not in row
    assert [one.code for one in samples.meta.warnings] == ["ss-values-unread"]


def test_listening_sockets_of_one_name_are_counted_each():
    line = "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n"
    (row,) = read(HEAD + line * 2).facts()
    assert row["connection_count"] == 2


def test_sockets_of_udp_are_not_taken_for_tcp():
    """UNCONN is a state of UDP, or of a TCP socket that is closed; the others tell which."""
    udp = "UNCONN 0 0 0.0.0.0:68 0.0.0.0:*\nESTAB 0 0 192.0.2.1:5 192.0.2.2:53\n"
    tcp = "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n"
    details = "ESTAB 0 0 192.0.2.1:9 192.0.2.2:9\n\t cubic rtt:1/1 mss:1448 cwnd:10\n"
    counts = []
    for text in (udp, udp + tcp, udp + details, udp.splitlines(keepends=True)[1]):
        row = read(HEAD + text).facts()[0]
        counts.append((row["connection_count"], row["tcp_connection_count"]))
    assert counts == [(2, 0), (3, 3), (3, 3), (1, 1)]
    netid = HEAD.replace("State", "Netid State", 1)
    named = read(netid + "udp UNCONN 0 0 0.0.0.0:68 0.0.0.0:*\n" + "tcp " + tcp).facts()[0]
    assert (named["connection_count"], named["tcp_connection_count"]) == (2, 1)


def test_a_header_alone_is_no_measurement():
    with pytest.raises(ReaderError) as refused:
        read(HEAD)
    assert refused.value.code == "no-sockets"


def test_a_cut_file_is_right_or_says_what_is_missing():
    """Identity: what is left of the last socket has the values of the whole file."""
    text = (INPUTS / "ss_old.txt").read_text()
    whole = read(text).facts()[0]
    for end in range(len(text) - 200, len(text), 7):
        if sniff(text[:end]) != "ss":
            continue
        samples = read(text[:end])
        row = samples.facts()[0]
        assert samples.meta.partial
        for name in ("rtt_s", "cwnd_packets", "mss_bytes", "bytes_acked"):
            assert row.get(name, whole[name]) == whole[name]
