"""Claims about files, and the mistakes that are named: each number by hand."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from netcalc.explain import Known, claim, claim_of
from netcalc.path import Path
from netcalc.samples import FlowSeries, Meta, RttSamples

INPUTS = FilePath(__file__).parents[1] / "readers" / "inputs"
GIGABIT = Known(line_bps=1e9)


def ping(**more):
    return RttSamples(
        payload_bytes=[56.0] * 5, rtt_s=[0.020, 0.021, 0.022, 0.023, 0.030],
        lost=[False] * 5, **more,
    )  # fmt: skip


def runs(*rows):
    facts = tuple(
        {"group": f"run {n}", "received_rate_bps": received, "sent_rate_bps": sent}
        for n, (received, sent) in enumerate(rows, start=1)
    )
    return FlowSeries(start_s=[0.0], duration_s=[1.0], payload_bytes=[1.0], meta=Meta(facts=facts))


@pytest.mark.each(
    ("text", "line_bps"),
    [
        ("900 Mbit/s", 1e9),  # 941.5 / 1.024 ** 2 is 897.9, but nobody converts to 900
        ("90 Mbit/s", 1e8),
        ("9.0 Gbit/s", 1e10),
        ("910 Mbit/s", 1e9),
        ("931 Mbit/s", 1e9),  # 1e9 / 1.024 ** 3 is 931.3
        ("925 Mbit/s", 1e9),
    ],
)
def test_a_plausible_measurement_is_no_mistake_of_1024(text, line_bps):
    found = claim(text, Known(line_bps=line_bps))
    assert not found.is_misconception, found.sentence
    assert found.best is not None
    assert found.best.name == "tcp-timestamps"


def test_a_round_number_is_not_shown_beside_conversions():
    assert "1024" not in str(claim("900 Mbit/s", GIGABIT))
    assert "1024" in str(claim("898 Mbit/s", GIGABIT))


@pytest.mark.each(
    ("text", "name"),
    [
        ("954 Mbit/s", "no-preamble"),  # 1448 / 1518 is 953.9; UDP's 957.1 is further
        ("957 Mbit/s", "udp"),
        ("949 Mbit/s", "tcp-plain"),
        ("898 Mbit/s", "binary-prefix"),  # 897.9: three digits are no accident
        ("112 MB/s", "binary-prefix"),  # 941.5 Mbit/s are 112.2 MiB/s
    ],
)
def test_a_mistake_is_nearer_than_the_right_model_and_within_a_percent(text, name):
    found = claim(text, GIGABIT)
    assert found.best.name == name
    assert found.error_ratio(found.best) <= 0.01


def test_a_mistake_agrees_within_a_percent_however_few_digits_were_said():
    """0.9 Gbit/s may be 0.85 to 0.95: UDP with a wrong prefix, 891.4, is 1 % off."""
    assert claim("0.9 Gbit/s", GIGABIT).best.is_right
    assert claim("8 Gbit/s", GIGABIT).best is None, "7.53 and 7.66 are eight times a right one"


@pytest.mark.each(
    ("text", "frame_bytes", "name"),
    [
        # a captured SYN of 74 B has 78 with its FCS, and 98 on the wire: 127,551 a second
        ("168919 pps", 78, "frames-as-captured"),  # 1e8 / (8 x 74)
        ("173611 pps", 64, "frames-without-preamble-and-fcs"),  # 1e8 / (8 x 72)
        ("164474 pps", 64, "frames-without-preamble"),  # 1e8 / (8 x 76)
        ("168919 pps", 128, "both-directions"),  # 2 x 84,459
        ("127551 pps", 78, "frame-rate"),
    ],
)
def test_parts_of_a_frame_that_are_forgotten(text, frame_bytes, name):
    found = claim(text, Known(line_bps=1e8), frame_bytes=frame_bytes)
    assert found.best.name == name
    wire = 8 * (frame_bytes + 20)
    assert found.right.value == pytest.approx(1e8 / wire)


@pytest.mark.each(
    ("text", "name"),
    [
        # 8e6 bit at 10 Mbit/s are 0.8 s, and 20 ms one way
        ("820 ms", "one-way-time"),
        ("858.9 ms", "binary-prefix-in-time"),  # 8 x 1,048,576 / 1e7 + 0.02
        ("840 ms", "double-latency"),  # 40 ms taken for one way
        ("20 ms", "no-serialization"),
        ("800 ms", "no-latency"),
    ],
)
def test_mistakes_in_a_time(text, name):
    found = claim(text, Known(), path=Path.parse("10 Mbit/s 20 ms"), size_bytes=1e6)
    assert found.best.name == name, str(found)
    assert found.right.value == pytest.approx(0.82)


def test_a_round_trip_is_known_from_a_ping():
    """Minimum 20 ms, median 22, maximum 30: half of them is one way."""
    for text, name in (
        ("20 ms", "rtt-least"), ("22 ms", "rtt-median"), ("30 ms", "rtt-most"),
        ("10.0 ms", "one-way-for-rtt"), ("44.0 ms", "rtt-doubled"),
    ):  # fmt: skip
        found = claim_of(ping(), text, Known())
        assert found.best.name == name, text
    assert claim_of(ping(), "10.0 ms", Known()).said.values["right_value"] == "20 ms"
    stated = claim("20 ms", Known(rtt_s=0.04))
    assert (stated.best.name, stated.right.value) == ("one-way-for-rtt", 0.04)


def test_the_round_trip_of_a_ping_is_that_of_a_window():
    """By hand: 65,535 B in the least, 20 ms, are 26.21 Mbit/s; over 10 ms twice as much."""
    known = Known(window_bytes=65535)
    assert claim_of(ping(), "26.2 Mbit/s", known).best.name == "window"
    assert claim_of(ping(), "52.4 Mbit/s", known).best.name == "one-way"
    slower = claim_of(ping(), "13.1 Mbit/s", Known(window_bytes=65535, rtt_s=0.04))
    assert slower.best.name == "window", "what is stated takes precedence"


def test_a_capture_knows_its_rate_its_round_trip_and_its_window():
    """The puzzle: a window of 64 kB; what the flow carried, and what the window allows."""
    from netcalc import datasets
    from netcalc.explain import measurement

    samples = datasets.puzzle("window").load()
    (flow, *_) = measurement(samples)
    mbps = flow.measured / 1e6
    found = claim_of(samples, f"{mbps:.4g} Mbit/s", Known())
    assert found.best.name in ("measured", "receiver")
    assert not found.is_misconception
    assert {"window", "one-way"} <= {one.name for one in found.models}


def test_every_run_of_a_file_is_compared():
    """The second run received 50 and sent 200 Mbit/s; the first 95 and 96."""
    file = runs((95e6, 96e6), (50e6, 200e6))
    found = claim_of(file, "50.0 Mbit/s", Known())
    assert (found.best.name, found.best.label) == ("receiver", "run 2")
    assert "run 2: what the receiver counted" in found.sentence
    wrong = claim_of(file, "200.0 Mbit/s", Known())
    assert (wrong.best.name, wrong.best.label) == ("sender", "run 2")
    assert wrong.said.values["right_value"] == "50 Mbit/s", "of the same run"
    assert "run" not in claim_of(runs((50e6, 60e6)), "50.0 Mbit/s", Known()).sentence
