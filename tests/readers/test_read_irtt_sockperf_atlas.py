"""Round trips in other units: nanoseconds, half round trips in microseconds, RIPE Atlas."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from samples_seen import codes, near

from netcalc.errors import ReaderError
from netcalc.explain import measurement
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs"


def test_irtt():
    """Expected: the tool's own statistics in the file, which it computed of its round trips."""
    path = INPUTS / "pings" / "irtt.json"
    stats = json.loads(path.read_text())["stats"]
    samples = read(path)
    (row,) = samples.facts()
    assert row == {
        "target": "203.0.113.2", "protocol": "udp", "sent_count": 5, "received_count": 5,
        "duplicate_count": 0, "printed_loss_ratio": 0.0, "loss_ratio": 0.0, "partial": False,
        **{f"rtt_{name}_s": near(stats["rtt"][name] * 1e-9) for name in ("min", "median", "max")},
    }  # fmt: skip
    assert set(samples.payload_bytes) == {60}
    assert samples.meta.tool_version == "0.9.0"


def test_irtt_losses_by_direction_are_lost():
    document = json.loads((INPUTS / "pings" / "irtt.json").read_text())
    document["round_trips"][1] = {"seqno": 1, "lost": "true_down", "timestamps": {}}
    document["stats"]["duplicates"] = 2
    samples = read(json.dumps(document, indent=1))
    row = samples.facts()[0]
    assert (row["sent_count"], row["received_count"], row["duplicate_count"]) == (5, 4, 2)
    assert np.isnan(samples.rtt_s[1])
    assert "count-differs" in codes(samples)  # the statistics still say 5
    document["round_trips"][1]["lost"] = "maybe"
    with pytest.raises(ReaderError) as caught:
        read(json.dumps(document, indent=1))
    assert caught.value.values["field"] == "round_trips[1].lost"


# Read off the files by eye, in us; a latency is half a round trip.
SOCKPERF = {
    "sockperf_full.txt": (10, 2 * 84.720, 2 * 194.187, 2 * 1375.579, True),
    "sockperf_full2.txt": (11, 104.325, 121.851, 204.143, False),
    "sockperf_log.csv": (10, 2 * 84.721, 194.188 + 225.590, 2 * 1375.579, True),
    "sockperf_log_rtt.csv": (11, 104.325, 121.851, 204.144, False),
}


@pytest.mark.each("file", SOCKPERF)
def test_sockperf(file):
    count, least, middle, most, halves = SOCKPERF[file]
    samples = read(INPUTS / "pings" / file)
    (row,) = samples.facts()
    assert (row["sent_count"], row["received_count"], row["partial"]) == (count, count, False)
    times = [row[name] * 1e6 for name in ("rtt_min_s", "rtt_median_s", "rtt_max_s")]
    assert times == pytest.approx([least, middle, most])
    assert ("sockperf-halves" in codes(samples)) is halves


def test_sockperf_log_agrees_with_its_stamps():
    """Second method: a round trip is the difference of the two stamps of its row."""
    path = INPUTS / "pings" / "sockperf_log.csv"
    rows = [line.split(", ") for line in path.read_text().splitlines() if line[:1].isdigit()]
    expected = [float(got) - float(sent) for _, sent, got, _ in rows]
    samples = read(path)
    assert samples.rtt_s.tolist() == pytest.approx(expected, abs=2e-9)
    assert set(samples.payload_bytes) == {14}


@pytest.mark.each(
    ("text", "code"),
    [
        ("sockperf: Summary: Message Rate is 1000 [msg/sec]\n", "sockperf-throughput"),
        ("sockperf: Test ended\n", "no-probe"),
        ("sockperf: ====> avg-rtt=1.0\nsockperf: Summary: Latency is 0.5 usec\n", "sockperf-both"),
    ],
)
def test_sockperf_refused(text, code):
    with pytest.raises(ReaderError) as caught:
        read(text)
    assert caught.value.code == code


def test_atlas_ping():
    """By eye: the first had 12.5 and 13.25 ms, one lost, one twice; the second nothing."""
    samples = read(INPUTS / "pings" / "atlas_ping.json")
    first, second = samples.facts()
    assert first == {
        "group": "probe 11", "target": "host.example", "protocol": "icmp", "sent_count": 3,
        "received_count": 2, "duplicate_count": 1, "rtt_min_s": 0.0125,
        "rtt_median_s": near(0.012875), "rtt_max_s": 0.01325, "loss_ratio": near(1 / 3),
        "partial": False,
    }  # fmt: skip
    assert (second["group"], second["sent_count"], second["received_count"]) == ("probe 12", 3, 0)
    assert "rtt_min_s" not in second
    assert samples.errors == 1
    assert codes(samples) == []


def test_numbers_of_the_first_firmware_of_atlas_are_texts():
    """Probe 677 of 2012: 3 sent, 2 received, 57.87 to 58.27 ms; a size is not stated."""
    row = read(INPUTS / "pings" / "atlas_ping_0.json").facts()[0]
    assert (row["sent_count"], row["received_count"], row["target"]) == (3, 2, "192.0.2.12")
    assert (row["rtt_min_s"], row["rtt_max_s"]) == pytest.approx((0.05787, 0.05827))


@pytest.mark.each(("firmware", "payload"), [(1, None), (4460, 12), (4560, 12), (4570, 20)])
def test_the_size_of_atlas_has_the_icmp_header_up_to_firmware_4560(firmware, payload):
    """derived: ripe.atlas.sagan's PingResult takes 8 B off below 4570, and none from below 4460."""
    text = (
        f'{{"fw":{firmware},"msm_id":1,"prb_id":2,"type":"ping","proto":"ICMP","size":20,'
        '"dst_addr":"192.0.2.1","sent":1,"rcvd":1,"result":[{"rtt":5.5}]}\n'
    )
    sizes = read(text).payload_bytes
    assert [None if size != size else size for size in sizes] == [payload]


def test_atlas_traceroute():
    """By eye: hop 255 is none, the late answer is no probe, hop 3 had 12.5 and 12 ms."""
    samples = read(INPUTS / "paths" / "atlas_traceroute.json")
    first, second = samples.facts()
    assert first == {
        "group": "probe 11", "target": "host.example", "protocol": "udp", "hop_count": 3,
        "responding_hop_count": 2, "probe_count": 8, "reply_count": 4,
        "last_hop_rtt_median_s": near(0.01225), "partial": False,
    }  # fmt: skip
    assert (second["hop_count"], second["probe_count"], second["reply_count"]) == (1, 3, 1)
    assert samples.mark[samples.mark != ""].tolist() == ["!P"]
    assert codes(samples) == ["late-answers", "probes-of-last-try"]


def test_atlas_kinds_are_not_mixed():
    ping = json.loads((INPUTS / "pings" / "atlas_ping.json").read_text())
    other = {**ping[0], "type": "dns"}
    with pytest.raises(ReaderError) as caught:
        read(json.dumps([*ping, other]) + "\n")
    assert (caught.value.code, caught.value.values["kinds"]) == ("atlas-kinds", ["dns", "ping"])


def test_a_cut_line_of_atlas_keeps_the_others():
    text = (INPUTS / "paths" / "atlas_traceroute.json").read_text()
    samples = read(text[: text.rindex('"hop"')])
    assert len(samples.facts()) == 1
    assert "document-cut" in codes(samples)


def test_sockperf_counts_its_observations():
    """The count of the answers is printed, and not that of the requests, which stays unknown."""
    text = (
        "sockperf: Summary: Latency is 11.234 usec\n"
        "sockperf: Total 44012 observations; each percentile contains 440.12 observations\n"
        "sockperf: ---> <MAX> observation =  101.204\n"
        "sockperf: ---> percentile 50.000 =   11.000\n"
        "sockperf: ---> <MIN> observation =    9.700\n"
    )
    samples = read(text)
    (row,) = samples.facts()
    assert row["received_count"] == 44012
    assert "sent_count" not in row
    assert row["rtt_median_s"] == pytest.approx(22e-6)
    (finding,) = measurement(samples)
    assert "a summary of 44012 probes" in str(finding).replace(",", "")
    (finding,) = measurement(read(text.replace(text.splitlines()[1] + "\n", "")))
    assert "not of how many probes" in str(finding)
