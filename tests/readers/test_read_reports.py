"""Short reports of transfers: mininet, IxChariot, a source and a sink, latte, ntttcp for Linux.

The expected numbers are those in the files of ``inputs/transfers``, or computed from them by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from samples_seen import codes, facts

from netcalc.errors import ReaderError
from netcalc.readers import read, sniff

INPUTS = Path(__file__).parent / "inputs" / "transfers"


def test_rates_of_mininet():
    names = ("target", "protocol", "received_rate_bps", "sent_rate_bps")
    assert facts(read(INPUTS / "mininet.txt"), *names) == [
        ("h4", "tcp", 21.9e9, 22e9), ("h2", "udp", 9.57e6, 10.5e6)]  # fmt: skip
    alone = "*** Results: ['1.00 MBytes/sec', '941 Kbits/sec']"
    assert facts(read(alone + "\n"), *names) == [(None, "tcp", 8 * 1024**2, 941e3)]
    assert facts(read(alone.encode()), *names) == facts(read(alone + "\n"), *names)
    with pytest.raises(ReaderError) as refused:
        read("*** Results: ['21.9 Gbi', '22.0 Gbits/sec']\n")
    assert refused.value.code == "transfer-nothing"
    with pytest.raises(ReaderError) as refused:
        read("*** Iperf: testing TCP bandwidth between h1 and h4\n*** Stopping 1 controllers\n")
    assert refused.value.code == "part-of-output"


@pytest.mark.each("mark", [",", ";", "\t"])
def test_pairs_of_ixchariot(mark):
    text = (INPUTS / "ixchariot.csv").read_text().replace(",", mark)
    found = read(text)
    assert sniff(text) == "IxChariot"
    assert facts(found, "group", "received_rate_bps", "duration_s") == [
        ("Pair 1", 46.703e6, 59.8), ("Pair 2", 46.709e6, 59.7)]  # fmt: skip
    assert found.data["throughput_min_bps"].tolist() == [44.2e6, 44.1e6]
    assert found.meta.printed == {"all_pairs_bps": 93.412e6}, "a sum is no pair"
    short = read("Pair,Average (Mbps)\n1,46.7\n2,46.5\n")
    assert facts(short, "group", "received_rate_bps") == [("Pair 1", 46.7e6), ("Pair 2", 46.5e6)]


def test_a_source_and_a_sink():
    found = read(INPUTS / "source_sink.txt")
    names = ("protocol", "sent_byte_count", "received_byte_count", "duration_s", "sent_rate_bps")
    # 5000 * 1440 bytes in 2.88 s are 20 Mbit/s.
    assert facts(found, *names) == [
        ("tcp", 7_200_000, 7_200_000, 2.88, pytest.approx(20e6)),
        ("tcp", 1_500_000, 1_500_000, 1.51, pytest.approx(12e6 / 1.51)),
    ]
    assert found.data["system_s"].tolist() == [1.42, 0.7]
    assert found.data["write_bytes"].tolist() == [1440, 300]
    russian = read("получено байт: 7200000\nreal\t1m2,5s\nuser\t0m0,1s\nsys\t0m0,2s\n")
    assert facts(russian, *names) == [("tcp", None, 7_200_000, 62.5, None)]


def test_latte_is_no_round_trip():
    found = read(INPUTS / "latte.txt")
    names = ("protocol", "reply_count", "counter:Latency(usec)", "rtt_s")
    assert facts(found, *names) == [("udp", 100100, 224.79, None)]
    assert found.data["latency_s"].tolist() == [103e-6, 104e-6]
    assert found.data["exchange_count"].tolist() == [1664, 1522]


def test_ntttcp_for_linux():
    text = (INPUTS / "ntttcp_linux.txt").read_text()
    names = (
        "received_byte_count",
        "received_rate_bps",
        "sent_rate_bps",
        "duration_s",
        "stream_count",
    )
    assert facts(read(text), *names) == [(282418471264, 37.66e9, None, 60, 2)]
    nobody = read(text.replace("# ./ntttcp -r\n", ""))
    assert facts(nobody, *names)[0][:3] == (None, None, 37.66e9)
    assert codes(nobody) == ["iperf-csv-side"]
    one = "".join(row for row in text.splitlines(keepends=True) if "INFO:  1 " not in row)
    assert facts(read(one), *names)[0][1] == 37.66e9, "the lines of a thread may be missing"
    with pytest.raises(ReaderError) as refused:
        read(text.replace("37.66Gbps", "3.766Gbps"))
    assert refused.value.code == "ntttcp-disagrees"
    names = ("sent_byte_count", "sent_rate_bps", "duration_s", "protocol")
    assert facts(read(INPUTS / "ntttcp_linux.json"), *names) == [
        (1000 * 1024**2, 838.861e6, 10, "tcp")]  # fmt: skip
