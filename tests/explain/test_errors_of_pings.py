"""What a ping states beside its times: who reported what, and what the probes of it mean.

by hand: the lines are as iputils, BusyBox, macOS and Windows print them.
"""

from __future__ import annotations

import pytest

from netcalc import readers
from netcalc.explain import measurement

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
