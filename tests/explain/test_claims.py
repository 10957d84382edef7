"""Stated numbers: the right models and the popular wrong ones, each by hand."""

from __future__ import annotations

import pytest

from netcalc.errors import DomainError, UnitError
from netcalc.explain import Evidence, Known, claim
from netcalc.path import Path

LINE = Known(line_bps=100e6)
WINDOW = Known(rtt_s=0.08, window_bytes=65535)
LOSS = Known(rtt_s=0.05, loss_ratio=1e-4, congestion_control="reno")


@pytest.mark.each(
    ("text", "known", "name", "right"),
    [
        ("94 Mbit/s", LINE, "tcp-timestamps", True),  # 1448 / 1538, RFC 6349's 94.15
        ("94.93 Mbit/s", LINE, "tcp-plain", True),  # 1460 / 1538
        ("95.7 Mbit/s", LINE, "udp", True),  # 1472 / 1538
        ("98.7 Mbit/s", LINE, "frames", True),  # 1518 / 1538
        ("97.53 Mbit/s", LINE, "ip-packets", True),  # 1500 / 1538
        ("94.00 Mbit/s", LINE, "constant-overhead", False),  # 100 - 6
        ("11.77 Mbit/s", LINE, "bits-for-bytes", False),  # 94.15 / 8
        ("753.2 Mbit/s", LINE, "bytes-for-bits", False),  # 94.15 x 8
        ("89.79 Mbit/s", LINE, "binary-prefix", False),  # 94.15 / 1.024 ** 2
        ("95.39 Mbit/s", LINE, "no-preamble", False),  # 1448 / 1518
        ("94.39 Mbit/s", LINE, "no-fcs", False),  # 1448 / 1534
        ("100 Mbit/s", LINE, "no-headers", False),  # 12.5 MB/s
        ("12.5 MB/s", LINE, "no-headers", False),
        ("6.55 Mbit/s", WINDOW, "window", True),  # 65,535 x 8 / 80 ms
        ("13.1 Mbit/s", WINDOW, "one-way", False),  # over 40 ms
        ("28.4 Mbit/s", LOSS, "mathis", True),  # 11,584 / 0.05 x 1.2247 / 0.01
        ("23.2 Mbit/s", LOSS, "mathis-of-one", False),  # without 1.2247
        ("23.36 Mbit/s", LOSS, "mathis-of-one-plain", False),  # 11,680 / 0.05 / 0.01
        ("2.92 Mbit/s", LOSS, "bits-for-bytes", False),  # 23.36 / 8
    ],
)
def test_the_model_behind_a_rate_is_named(text, known, name, right):
    found = claim(text, known)
    assert found.best is not None
    assert found.best.name == name, f"{text}: {found}"
    assert found.agrees(found.best)
    assert found.best.is_right is right
    assert found.is_misconception is not right


@pytest.mark.each(
    ("text", "name"),
    [
        ("148810 pps", "frame-rate"),  # RFC 2544: 1e8 / (8 x 84)
        ("195312 pps", "frames-without-gap"),  # 1e8 / (8 x 64)
        ("156250 pps", "frames-without-fcs"),  # 1e8 / (8 x 80)
        ("297619 pps", "both-directions"),  # twice
    ],
)
def test_the_model_behind_a_packet_rate_is_named(text, name):
    assert claim(text, LINE, frame_bytes=64).best.name == name


@pytest.mark.each(
    ("text", "name"),
    [
        # 12,000 bit: 6 ms at 2 Mbit/s, 12 ms at 1 Mbit/s, 3 ms of latency: 21 ms
        ("21 ms", "one-way-time"),
        ("42 ms", "round-trip-time"),
        ("9 ms", "no-last-hop"),  # without the 12 ms of the last link
        ("15 ms", "cut-through"),  # 12 ms once
        ("5.25 ms", "bytes-for-bits-in-time"),  # 18 / 8 + 3 ms
        ("147 ms", "bits-for-bytes-in-time"),  # 18 x 8 + 3 ms
    ],
)
def test_the_model_behind_a_time_is_named(text, name):
    path = Path.parse("2 Mbit/s 1 ms, 1 Mbit/s 2 ms")
    assert claim(text, Known(), path=path, size_bytes=1500).best.name == name


@pytest.mark.each(
    ("text", "path", "stated", "name"),
    [
        # 65,536 x 8 / 100 ms: the round trip is twice the way of the path
        ("5.24 Mbit/s", "1 Gbit/s 50 ms", {"window_bytes": 65536}, "window"),
        ("5.24 Mbit/s", "1 Gbit/s 20 ms, T3 30 ms", {"window_bytes": 65536}, "window"),
        ("975.29 Mbit/s", "1 Gbit/s 50 ms", {}, "ip-packets"),  # 1500 / 1538
        ("94.15 Mbit/s", "1 Gbit/s, 100 Mbit/s", {}, "tcp-timestamps"),  # of the slowest link
        ("94.15 Mbit/s", "1 Gbit/s", {"line_bps": 100e6}, "tcp-timestamps"),  # stated besides
        # 11,584 / 37.29 ms / sqrt(0.001) = 9.823 Mbit/s, in bytes
        ("1.23 Mbit/s", "34.064 Mbit/s 18.645 ms", {"loss_ratio": 0.001}, "bits-for-bytes"),
    ],
)
def test_a_path_says_the_line_and_the_round_trip_of_a_rate(text, path, stated, name):
    judged = claim(text, Known(**stated), path=Path.parse(path))
    assert judged.best.name == name, str(judged)


def test_bytes_taken_for_bits_of_a_simple_formula_are_named_with_both_numbers():
    known = Known(line_bps=34.064e6, rtt_s=0.03729, loss_ratio=0.001)
    judged = claim("1.23 Mbit/s", known)
    assert judged.is_misconception
    assert "C = 1 " in judged.sentence
    assert "9.823 Mbit/s" in judged.sentence
    assert judged.right.name == "mathis"


def test_the_sender_s_number_is_not_the_receiver_s():
    one = Evidence(protocol="udp", sent_rate_bps=200e6, received_rate_bps=95.6e6)
    assert claim("200 Mbit/s", Known(), evidence=one).best.name == "sender"
    assert claim("95.6 Mbit/s", Known(), evidence=one).best.name == "receiver"


def test_a_claim_of_few_digits_is_taken_as_it_is_rounded():
    """Both 94.15 and 100 - 6 round to 94: the right one stands."""
    found = claim("94 Mbit/s", LINE)
    assert found.rounding_ratio == pytest.approx(0.5 / 94)
    assert not found.is_misconception
    assert {one.name for one in found.models if found.agrees(one)} >= {
        "tcp-timestamps",
        "constant-overhead",
    }


def test_a_measured_number_may_miss_a_right_model_by_a_percent():
    """93.8 is 0.4 % below 94.15, and 0.2 % below 100 - 6: measured, not miscounted."""
    found = claim("93.8 Mbit/s", LINE)
    assert found.best.name == "tcp-timestamps"
    assert found.said.code == "claim-nearly-right"


def test_an_ordinary_measurement_is_not_called_a_mistake():
    """877 is 2.3 % below 941.5 / 1.048576 and 6.8 % below 941.5: neither is near."""
    found = claim("877 Mbit/s", Known(line_bps=1e9))
    assert found.best is None
    assert found.said.code == "claim-unknown"
    near = claim("925 Mbit/s", Known(line_bps=1e9))  # 1.8 % below 941.5: TCP, not quite full
    assert (near.best.name, near.said.code) == ("tcp-timestamps", "claim-nearly-right")


@pytest.mark.each(
    ("text", "known", "name", "right"),
    [
        ("95.37 Mbit/s", LINE, "no-preamble", "94.15 Mbit/s"),  # UDP's 95.71 is nearer
        ("994 Mbit/s", Known(line_bps=1e9), "constant-overhead", "941.5 Mbit/s"),  # not layer 2
        ("94.39 Mbit/s", LINE, "no-fcs", "94.15 Mbit/s"),
        ("13.1 Mbit/s", Known(rtt_s=0.08, window_bytes=65535, line_bps=14e6), "one-way",
         "6.553 Mbit/s"),  # the line's 13.18 is nearer
        ("23.2 Mbit/s", Known(rtt_s=0.05, loss_ratio=1e-4, line_bps=25e6), "mathis-of-one",
         "28.37 Mbit/s"),  # 1448 x 8 / 0.05 x sqrt(1.5) / 0.01; the line's are 23.5 and more
        ("11.96 Mbit/s", LINE, "bits-for-bytes", "95.71 Mbit/s"),  # UDP's 95.71 / 8
    ],
)  # fmt: skip
def test_the_right_answer_is_that_of_the_model_which_the_mistake_distorts(text, known, name, right):
    found = claim(text, known)
    assert found.best.name == name, str(found)
    assert found.said.values["right_value"] == right
    assert right in found.sentence
    assert any(line.startswith(f"  {right}") for line in str(found).splitlines())


@pytest.mark.each(
    ("text", "right"),
    [("195312 pps", "148.8 kpps"), ("156250 pps", "148.8 kpps"),
     ("297619 pps", "148.8 kpps")],
)  # fmt: skip
def test_the_right_packet_rate(text, right):
    assert claim(text, LINE, frame_bytes=64).said.values["right_value"] == right


@pytest.mark.each("text", ["9 ms", "15 ms"])
def test_the_right_time_is_one_way(text):
    """21 ms one way, as above; the round trip takes 42 ms."""
    path = Path.parse("2 Mbit/s 1 ms, 1 Mbit/s 2 ms")
    found = claim(text, Known(), path=path, size_bytes=1500)
    assert found.said.values["right_value"] == "21 ms"


def test_headers_that_are_ignored_distort_tcp():
    """1448 / 1538 of 100 Mbit/s."""
    found = claim("100 Mbit/s", LINE)
    assert found.said.values["right_value"] == "94.15 Mbit/s"
    assert claim("1 Gbit/s", Known(line_bps=1e9)).best.is_right, "one digit is no precision"


def test_the_sender_s_number_distorts_the_receiver_s():
    one = Evidence(protocol="udp", sent_rate_bps=98.6e6, received_rate_bps=50e6)
    found = claim("98.6 Mbit/s", Known(line_bps=100e6, mtu_bytes=1000), evidence=one)
    assert found.best.name == "sender"
    assert found.said.values["right_value"] == "50 Mbit/s"


def test_no_model_is_said_to_be_none():
    found = claim("50 Mbit/s", LINE)
    assert found.best is None
    assert found.said.code == "claim-unknown"
    assert found.as_dict()["best"] is None


@pytest.mark.each(
    ("text", "error"),
    [("94", UnitError), ("94 Mbit/s", DomainError), ("0 Mbit/s", DomainError), ("", UnitError)],
)
def test_claims_that_cannot_be_judged_are_refused(text, error):
    with pytest.raises(error):
        claim(text, Known())


@pytest.mark.each(
    ("text", "line_bps", "name"),
    [
        # Derived: 1e10 / (8 x 84), RFC 2544, appendix B; / (8 x 64); twice; 1538 B of a full frame
        ("14.88 Mpps", 1e10, "frame-rate"),
        ("37.2 Mpps", 25e9, "frame-rate"),
        ("19.53 Mpps", 1e10, "frames-without-gap"),
        ("29.76 Mpps", 1e10, "both-directions"),
        ("812744 pps", 1e10, "frame-rate-at-size"),
        ("812 kpps", 1e10, "frame-rate-at-size"),  # cut off
        ("811 kpps", 1e10, None),
        ("8.13 Mpps", 1e10, None),  # 128 B would be 8.446: no one has said such a size
        ("16 Mpps", 1e10, None),  # more than the smallest frames
    ],
)
def test_a_packet_rate_without_a_size_is_that_of_the_smallest_frames(text, line_bps, name):
    found = claim(text, Known(line_bps=line_bps))
    assert (found.best and found.best.name) == name, str(found)
    assert found.is_impossible is (found.value > line_bps / 672 * 1.001)


@pytest.mark.each(
    ("text", "name"),
    [
        ("125 Mbit/s", "line-bytes-as-bits"),  # 1000 / 8
        ("7.532 GB/s", None),  # 64 times a goodput
        ("941.5 MB/s", "bytes-for-bits"),
        ("940 MB/s", "bytes-for-bits"),  # measured, 0.2 % below: near
        ("936 MB/s", None),  # 0.6 % below
        ("990 MB/s", None),  # above 987, which layer 2 could have
        ("100 Mbit/s", None),  # a slow transfer
    ],
)
def test_units_of_a_rate_as_people_print_them(text, name):
    found = claim(text, Known(line_bps=1e9))
    assert (found.best and found.best.name) == name, str(found)
    assert found.is_misconception is (name is not None and text != "940 MB/s")


def test_frames_of_a_size_have_a_layer_of_ip():
    """Derived: 46 of the 84 B of the smallest frame are its packet."""
    found = claim("5.476 Gbit/s", Known(line_bps=1e10), frame_bytes=64)
    assert (found.best.name, found.right.value) == ("ip-packets", pytest.approx(1e10 * 46 / 84))


@pytest.mark.each(
    ("text", "name"),
    [("80 ms", "path-rtt"), ("40 ms", "path-one-way"), ("160 ms", "rtt-doubled"), ("100 ms", None)],
)
def test_a_time_of_a_path_without_a_size_is_one_way_or_a_round_trip(text, name):
    found = claim(text, Known(), path=Path.parse("1 Gbit/s 40 ms"))
    assert (found.best and found.best.name) == name
    assert found.is_misconception is (name == "rtt-doubled")


def test_the_time_of_a_transfer_is_that_of_tcp():
    """Office-Online-Test-Tools#243: 15 MB over 200 ms with 64 KB, "48 s": 240 round trips, and
    those of the start; 8e6 bit at 10 Mbit/s are 0.8 s without headers."""
    window = Known(window_bytes=65536)
    slow = claim("48.5 s", window, path=Path.parse("10 Gbit/s 100 ms"), size_bytes=15 * 2**20)
    assert slow.best.name == "tcp-transfer"
    assert 240 * 0.2 < slow.right.value < 245 * 0.2
    bare = claim("0.8 s", Known(line_bps=1e7, rtt_s=0.04), size_bytes=1e6)
    assert (bare.best.name, bare.right.name) == ("size-over-line", "tcp-transfer")
    assert claim("0.1 s", Known(line_bps=1e7, rtt_s=0.04), size_bytes=1e6).best.name == (
        "bytes-over-bits"
    )
