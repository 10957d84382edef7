"""What pings and paths state beside their times: errors, TTLs, silent hops, who answered.

by hand: the lines are as iputils, BusyBox, macOS and Windows print them.
"""

from __future__ import annotations

import pytest

from netcalc import readers
from netcalc.explain import Known, measurement
from netcalc.explain.causes.series import least_elsewhere

LINUX = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
MAC = "PING 192.0.2.1 (192.0.2.1): 1472 data bytes\n"
WINDOWS = "\nPinging 192.0.2.1 with 1472 bytes of data:\n"
COUNTS = "\n--- 192.0.2.1 ping statistics ---\n{} packets transmitted, {} received, {}% loss\n"


def read(text, tmp_path):
    path = tmp_path / "ping.txt"
    path.write_text(text)
    return readers.read(path)


def noted(samples, code):
    return [each.values for each in samples.meta.warnings if each.code == code]


@pytest.mark.each(
    ("text", "code", "node", "words", "lines"),
    [
        (
            LINUX + "From 192.0.2.50 icmp_seq=1 Destination Host Unreachable\n"
            "From 192.0.2.50 icmp_seq=2 Destination Host Unreachable\n" + COUNTS.format(2, 0, 100),
            "error-host", "192.0.2.50", "Destination Host Unreachable", [2, 3],
        ),
        (
            LINUX + "From gw (192.0.2.50) icmp_seq=1 Time to live exceeded\n"
            + COUNTS.format(1, 0, 100),
            "error-loop", "192.0.2.50", "Time to live exceeded", [2],
        ),
        (
            WINDOWS + "Reply from 192.0.2.50: TTL expired in transit.\n",
            "error-loop", "192.0.2.50", "TTL expired in transit", [3],
        ),
        (
            LINUX + "From 2001:db8::1 icmp_seq=1 Destination unreachable: No route\n",
            "error-net", "2001:db8::1", "Destination unreachable: No route", [2],
        ),
        (
            LINUX + "From 192.0.2.50 icmp_seq=1 Packet filtered\n" + COUNTS.format(1, 0, 100),
            "error-filtered", "192.0.2.50", "Packet filtered", [2],
        ),
        (
            MAC + "556 bytes from 192.0.2.50: frag needed and DF set (MTU 1492)\n"
            "Request timeout for icmp_seq 0\n",
            "error-mtu", "192.0.2.50", "frag needed and DF set (MTU 1492)", [2],
        ),
    ],
)  # fmt: skip
def test_who_said_that_no_probe_arrives(text, code, node, words, lines, tmp_path):
    samples = read(text, tmp_path)
    assert noted(samples, code) == [{"node": node, "message": words, "numbers": lines}]
    (finding,) = measurement(samples)
    assert words in finding.sentence or "1492" in text


def test_an_error_beside_replies_is_said(tmp_path):
    text = (
        WINDOWS + "Reply from 192.0.2.1: bytes=1472 time=14ms TTL=57\n"
        "Reply from 192.0.2.50: Packet needs to be fragmented but DF set.\n"
        "Packet needs to be fragmented but DF set.\n"
    )
    samples = read(text, tmp_path)
    assert [each["numbers"] for each in noted(samples, "error-mtu")] == [[4]]
    assert noted(samples, "probes-unsent") == [{"numbers": [5]}]


def test_probes_that_never_left_the_host(tmp_path):
    text = (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
        "64 bytes from 192.0.2.1: seq=0 ttl=57 time=14.331 ms\n"
        "ping: sendto: Network is unreachable\nping: sendto: No buffer space available\n"
    )
    samples = read(text, tmp_path)
    assert [(each["message"][14:], each["numbers"]) for each in noted(samples, "ping-message")] == [
        ("Network is unreachable", [3]), ("No buffer space available", [4]),
    ]  # fmt: skip
    assert noted(samples, "probes-unsent") == [{"numbers": [3, 4]}]


def test_replies_with_other_data_are_said(tmp_path):
    text = (
        LINUX + "64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=14.3 ms\n"
        "wrong data byte #14 should be 0xe but was 0x0\n#8\t8 9 a b c d 0 f\n"
    )
    assert noted(read(text, tmp_path), "replies-changed") == [{"numbers": [3]}]


def test_times_of_a_clock_that_went_back_are_none(tmp_path):
    reply = "64 bytes from 192.0.2.1: icmp_seq={} ttl=64 time={} ms\n"
    times = ("0.201", "0.000", "0.200", "-0.231", "0.203")
    lines = [reply.format(number, time) for number, time in enumerate(times, 1)]
    lines.insert(1, "Warning: time of day goes back (-231us), taking countermeasures\n")
    samples = read(LINUX + "".join(lines), tmp_path)
    assert noted(samples, "clock-went-back") == [{"numbers": [3]}]
    (finding,) = measurement(samples)
    assert finding.measured == pytest.approx(201e-6), "the median of 200, 201 and 203 us"
    assert next(part.value for part in finding.limits if part.name == "distance") == 200e-6
    assert [each.values for each in finding.notices if each.code == "rtt-zero"] == [{"count": 1}]


def pinged(times_ms, tmp_path, ttl=None, name="ping.txt"):
    ttls = ttl or [57] * len(times_ms)
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={number} ttl={hops} time={time} ms\n"
        for number, (time, hops) in enumerate(zip(times_ms, ttls, strict=True), 1)
    ]
    path = tmp_path / name
    path.write_text(LINUX + "".join(lines))
    return readers.read(path)


def test_a_ttl_that_changes_with_the_round_trip_is_another_path(tmp_path):
    times = [12.1, 34.4, 34.2, 34.1, 34.5]
    (finding,) = measurement(pinged(times, tmp_path, [58, 51, 51, 51, 51]))
    assert finding.cause.code == "path-change"
    signs = [finding.cause.sign(name) for name in ("before_ttl", "after_ttl", "at_probe")]
    assert signs == [58, 51, 2]
    assert finding.measured == pytest.approx(34.3e-3), "the median of 34.1, 34.2, 34.4, 34.5 ms"
    (same,) = measurement(pinged(times, tmp_path))
    assert same.cause is None, "the TTL shows nothing"
    (back,) = measurement(pinged(times, tmp_path, [58, 51, 51, 58, 51]))
    assert back.cause is None, "the TTL does not go with the level"


def test_packets_that_were_held_once_arrive_at_one_moment(tmp_path):
    held = [5020, 4018, 3016, 2014, 1012]
    (finding,) = measurement(pinged([20.1, 20.2, 20.0, *held, 20.3, 20.1], tmp_path))
    cause = finding.cause
    assert (cause.code, cause.variant) == ("delay-variation", "held")
    assert cause.sign("pause_s") == pytest.approx(5.0)
    assert (cause.sign("at_probe"), cause.sign("to_probe")) == (4, 8)
    assert finding.measured == pytest.approx(20.1e-3)
    quiet = [20.1, 20.2, 20.0]
    (twice,) = measurement(pinged([*quiet, *held, *quiet, *held, *quiet], tmp_path))
    assert twice.cause.variant != "held"


def test_a_stated_round_trip_counts_for_what_waits_before_the_line(tmp_path):
    samples = pinged([212.1, 232.4, 241.9, 252.0, 222.2], tmp_path)
    (finding,) = measurement(samples, Known(rtt_s=12e-3, line_bps=20e6))
    values = next(each.values for each in finding.notices if each.code == "queue-behind-line")
    assert values["delay_s"] == pytest.approx(0.24), "252 - 12 ms"
    assert values["queue_bytes"] == pytest.approx(600e3), "0.24 s x 20 Mbit/s / 8"


@pytest.mark.each(("count", "confidence"), [(4, "low"), (5, "medium"), (9, "medium"), (10, "high")])
def test_few_answers_are_never_sure(count, confidence, tmp_path):
    (finding,) = measurement(pinged([12.1, 11.9, *[12.0] * (count - 2)], tmp_path))
    assert finding.confidence == confidence


def test_the_least_of_another_file_of_the_target_is_the_idle_round_trip(tmp_path):
    read = {
        "idle": pinged([12.1, 11.9, 12.4, 12.0, 12.2], tmp_path, name="idle"),
        "load": pinged([212.1, 232.4, 241.9, 252.0, 222.2], tmp_path, name="load"),
    }
    assert least_elsewhere(read, "load") == (11.9e-3, "idle")
    assert least_elsewhere(read, "idle") is None


TRACE = "traceroute to 192.0.2.9 (192.0.2.9), {} hops max, 60 byte packets\n"


def traced(lines, tmp_path, limit=30):
    path = tmp_path / "trace.txt"
    path.write_text(TRACE.format(limit) + "".join(f"{line}\n" for line in lines))
    return measurement(readers.read(path))


def test_addresses_that_come_again_are_a_loop(tmp_path):
    nodes = ("192.0.2.1", "10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2", "10.0.0.1")
    lines = [f" {hop}  {node} ({node})  {hop}.4 ms" for hop, node in enumerate(nodes, 1)]
    (finding,) = traced(lines, tmp_path, limit=6)
    assert finding.said.code == "routing-loop"
    assert finding.said.values == {"nodes": ["10.0.0.1", "10.0.0.2"], "hop": 2}
    assert not finding.limits
    (other,) = traced(lines[:4], tmp_path)
    assert other.limits, "a single address that comes again is no loop yet"


def test_hops_without_an_answer_share_the_time_of_the_next(tmp_path):
    lines = (
        " 1  10.0.0.1 (10.0.0.1)  1.0 ms", " 2  10.0.0.2 (10.0.0.2)  9.0 ms", " 3  *",
        " 4  10.0.0.4 (10.0.0.4)  85.0 ms", " 5  192.0.2.9 (192.0.2.9)  86.0 ms",
    )  # fmt: skip
    (finding,) = traced(lines, tmp_path)
    assert {(part.name, part.values["hop"]) for part in finding.limits} == {
        ("hop", 1), ("hop", 2), ("hops", 4), ("hop", 5),
    }  # fmt: skip
    assert finding.binding.values["before_hop"] == 2
    assert finding.binding.name == "hops"
    assert finding.binding.value == pytest.approx(76e-3), "85 - 9 ms"


def test_the_least_time_of_a_hop_is_of_the_node_that_answered_then(tmp_path):
    lines = (
        " 1  10.0.0.1 (10.0.0.1)  8.9 ms 10.0.0.2 (10.0.0.2)  9.3 ms  8.8 ms",
        " 2  192.0.2.9 (192.0.2.9)  10.0 ms  10.1 ms  10.2 ms",
    )
    (finding,) = traced(lines, tmp_path)
    part = next(part for part in finding.limits if part.values["hop"] == 1)
    assert (part.value, part.values["node"]) == (pytest.approx(8.8e-3), "10.0.0.2")
