"""Results of pScheduler, as text and as JSON: the numbers are those of the files in ``inputs``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples_seen import facts

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff
from netcalc.samples import PathSamples

INPUTS = Path(__file__).parent / "inputs" / "transfers"


@pytest.mark.each("ending", ["txt", "json"])
def test_throughput(ending):
    path = INPUTS / f"pscheduler_throughput.{ending}"
    found = read(path)
    assert sniff(path) == "pScheduler"
    names = (
        "protocol",
        "stream_count",
        "sent_rate_bps",
        "duration_s",
        "retransmit_count",
        "partial",
    )
    assert facts(found, *names) == [("tcp", 1, 942.32e6, 3, 3, False)]
    assert found.throughput_bps.tolist() == [943.72e6, 941.62e6, 941.62e6]
    assert found.cwnd_bytes.tolist()[:2] == [1.25e6, 1.3e6], "in powers of 1000"
    assert found.retransmit_count.tolist() == [2, 0, 1]


def test_datagrams_lost_and_sent_in_both_orders():
    path = INPUTS / "pscheduler_udp.txt"
    names = ("protocol", "datagram_count", "lost_datagram_count", "jitter_s", "sent_rate_bps")
    assert facts(read(path), *names) == [("udp", 1727, 10, 19e-6, 10e6)]
    old = path.read_text().replace("Lost / Sent", "Sent/Lost  ").replace("10 / 1727", "1727 / 10")
    old = old.replace("4 / 863", "863 / 4").replace("6 / 864", "864 / 6")
    assert facts(read(old), *names) == facts(read(path), *names)


@pytest.mark.each("ending", ["txt", "json"])
def test_round_trips(ending):
    found = read(INPUTS / f"pscheduler_rtt.{ending}")
    names = ("sent_count", "received_count", "rtt_min_s", "rtt_median_s", "rtt_max_s", "partial")
    assert facts(found, *names) == [(4, 3, 0.000488, 0.000512, 0.0006, False)]
    assert found.lost.tolist() == [False, False, True, False]


@pytest.mark.each("ending", ["txt", "json"])
def test_delays_one_way(ending):
    found = read(INPUTS / f"pscheduler_latency.{ending}")
    names = ("sent_count", "received_count", "duplicate_count", "out_of_order_count",
             "one_way_delay_min_s", "one_way_delay_median_s", "one_way_delay_max_s")  # fmt: skip
    assert facts(found, *names) == [(100, 98, 1, 3, 0.0012, 0.00121, 0.00135)]
    assert found.data["packet_count"].tolist() == [40, 50, 8]


@pytest.mark.each("ending", ["txt", "json"])
def test_routes(ending):
    found = read(INPUTS / f"pscheduler_trace.{ending}")
    assert isinstance(found, PathSamples)
    assert found.node.tolist() == ["192.0.2.1", "", "198.51.100.1"]
    assert found.rtt_s.tolist()[::2] == [0.0003, 0.0105]
    assert found.lost.tolist() == [False, True, False]


def test_parts_of_a_result():
    lines = (INPUTS / "pscheduler_throughput.txt").read_text().splitlines(keepends=True)
    part = read("".join(lines[1:4]))
    assert facts(part, "sent_rate_bps", "partial") == [(pytest.approx(942.67e6, rel=1e-4), True)]
    failed = {"schema": 1, "succeeded": False, "error": "No route", "intervals": [], "summary": {}}
    with pytest.raises(ReaderError) as refused:
        read(json.dumps(failed) + "\n")
    assert refused.value.code == "pscheduler-nothing"
    with pytest.raises(ReaderError) as refused:
        read("* Stream ID 5\n\nMSS: 1448 bytes\n")
    assert refused.value.code == "part-of-output"
