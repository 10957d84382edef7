"""hping, nping, arping, httping, oping and the ping of a Cisco router."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs" / "pings"

# Read off the files by eye: sent, received, least, median and largest time [us] of each host.
CASES = {
    "hping_icmp.txt": [(4, 4, 300, 550, 900)],
    "hping_syn.txt": [(4, 4, 200, 700, 1300)],
    "hping_lost.txt": [(3, 0, None, None, None)],
    "nping_icmp.txt": [(4, 4, 16, None, 34)],
    "nping_tcp.txt": [(3, 3, 27, None, 55)],
    "nping_connect.txt": [(3, 3, 13, None, 24)],
    "nping_lost.txt": [(3, 0, None, None, None)],
    "arping.txt": [(4, 4, 7.922, (7.992 + 8.193) / 2, 13.320)],
    "arping_lost.txt": [(3, 0, None, None, None)],
    "httping.txt": [(4, 4, 1750, 1910, 2030)],
    "httping_s.txt": [(3, 3, 4290, 6650, 22980)],
    "httping_gone.txt": [(3, 0, None, None, None)],
    "oping.txt": [(4, 4, 70, 70, 70)],
    "oping_two.txt": [(4, 4, 60, 85, 100), (4, 0, None, None, None)],
    "cisco_mix.txt": [(10, 7, 4000, None, 12000)],
}
TARGETS = {
    "hping_lost.txt": "192.88.99.7", "nping_lost.txt": "192.88.99.7", "arping.txt": "192.0.2.1",
    "nping_tcp.txt": "203.0.113.2", "nping_connect.txt": "203.0.113.2",
    "arping_lost.txt": "192.0.2.77", "cisco_mix.txt": "192.0.2.9",
}  # fmt: skip


@pytest.mark.each("file", CASES)
def test_files(file):
    rows = read(INPUTS / file).facts()
    names = ("sent_count", "received_count", "rtt_min_s", "rtt_median_s", "rtt_max_s")
    for row, (sent, received, *times) in zip(rows, CASES[file], strict=True):
        expected = (
            sent,
            received,
            *(None if t is None else pytest.approx(t * 1e-6) for t in times),
        )
        assert tuple(row.get(name) for name in names) == expected
        assert row["loss_ratio"] == pytest.approx(1 - received / sent)
        assert row["partial"] is False
    assert rows[0]["target"] == TARGETS.get(file, "203.0.113.2")


@pytest.mark.each("file", CASES)
def test_a_run_without_its_summary_is_partial(file):
    """Its lines stay as they are: no lost probe of the whole file becomes an answer."""
    lines = (INPUTS / file).read_text().splitlines(keepends=True)
    words = (
        "transmitted",
        "connects,",
        "Success rate",
        "Raw packets",
        "TCP connection",
        "round-trip",
    )
    kept = "".join(line for line in lines if not any(word in line for word in words))
    if file == "hping_lost.txt":  # hping prints no line for a probe that is lost
        with pytest.raises(ReaderError) as refused:
            read(kept)
        assert refused.value.code == "no-probe"
        return
    row = read(kept).facts()[0]
    assert row["partial"] is True
    assert row["received_count"] == CASES[file][0][1]


def test_hping_gaps_are_lost_probes():
    """By hand: of four probes number 1 has no line, and number 3 is only in the summary."""
    samples = read(
        "HPING a.example (eth0 192.0.2.9): icmp mode set, 28 headers + 10 data bytes\n"
        "len=38 ip=192.0.2.9 ttl=62 id=1 icmp_seq=0 rtt=0.9 ms\n"
        "DUP! len=38 ip=192.0.2.9 ttl=62 id=1 icmp_seq=0 rtt=1.9 ms\n"
        "len=38 ip=192.0.2.9 ttl=62 id=2 icmp_seq=2 rtt=0.7 ms\n\n"
        "--- a.example hping statistic ---\n"
        "4 packets transmitted, 2 packets received, 50% packet loss\n"
        "round-trip min/avg/max = 0.7/1.2/1.9 ms\n"
    )
    row = samples.facts()[0]
    assert (row["sent_count"], row["received_count"], row["duplicate_count"]) == (4, 2, 1)
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((0.7e-3, 0.9e-3))
    assert set(samples.payload_bytes) == {10}
    assert codes(samples) == []


def test_nping_errors_are_no_replies():
    text = (INPUTS / "nping_icmp.txt").read_text()
    samples = read(text.replace("Echo reply (type=0/code=0)", "TTL=0 during transit", 1))
    row = samples.facts()[0]
    assert (row["sent_count"], row["received_count"]) == (4, 3)
    assert "rtt_min_s" not in row
    assert codes(samples) == ["errors-among-received"]


def test_arping_of_iputils():
    """By hand, as its manual shows it: 3 sent, 2 answered."""
    samples = read(
        "ARPING 192.0.2.1 from 192.0.2.2 eth0\n"
        "Unicast reply from 192.0.2.1 [02:00:00:00:00:01]  0.737ms\n"
        "Unicast reply from 192.0.2.1 [02:00:00:00:00:01]  1.250ms\n"
        "Sent 3 probes (1 broadcast(s))\nReceived 2 response(s)\n"
    )
    row = samples.facts()[0]
    assert (row["sent_count"], row["received_count"], row["partial"]) == (3, 2, False)
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((0.737e-3, 1.25e-3))


def test_cisco_marks():
    samples = read(INPUTS / "cisco_mix.txt")
    assert samples.lost.tolist() == [c != "!" for c in "!!.!U!!!Q!"]
    assert samples.errors == 2
    assert set(samples.payload_bytes) == {72}
    assert np.isnan(samples.rtt_s).all()


def test_cisco_times_without_a_reply_are_not_used():
    samples = read(
        "Sending 4, 1500-byte ICMP Echos to 192.0.2.9, timeout is 2 seconds:\n....\n"
        "Success rate is 0 percent (0/4), round-trip min/avg/max = 1/8/17 ms\n"
    )
    assert "rtt_min_s" not in samples.facts()[0]
    assert codes(samples) == ["times-without-reply"]


@pytest.mark.parametrize(
    ("delay", "rows", "codes"), [("nan", 1, ["not-of-the-tool"]), ("-1.5", 2, [])]
)
def test_a_packet_of_owping_has_a_delay(delay, rows, codes):
    text = (
        "--- owping statistics from [192.0.2.1]:8001 to [192.0.2.2]:8002 ---\n"
        f"seq_no=0 delay={delay} ms (sync, err=0.1 ms)\n"
        "seq_no=1 delay=2.5 ms (sync, err=0.1 ms)\n"
        "2 sent, 0 lost (0.000%), 0 duplicates\n"
    )
    samples = read(text)
    assert len(samples) == rows
    assert [notice.code for notice in samples.meta.warnings] == codes
