"""The theory of requests in small writes, round by round, against timelines drawn by hand."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from netcalc import compare
from netcalc.path import Path
from netcalc.samples import Meta, TransactionSamples

WARM = (True, False, False, False)


def rounds(modes, *, warm=WARM, times=None, failed=None, reply=13.0, **facts):
    """Four rounds of each mode, the first of them a warm-up; 6 and 7 bytes, 30 ms away."""
    count = len(modes) * len(warm)
    known = {"write_bytes": [6, 7], "rtt_s": 0.03} | facts
    return TransactionSamples(
        mode=[mode for mode in modes for _ in warm], warm_up=list(warm) * len(modes),
        sequence=list(range(1, len(warm) + 1)) * len(modes), payload_bytes=[13.0] * count,
        reply_bytes=[reply] * count, response_s=[0.1] * count if times is None else times,
        failed=[False] * count if failed is None else failed, meta=Meta(instrument=known),
    )  # fmt: skip


def predicted(mode, *, path=None, delayed_ack_s=0.04, **facts):
    found = compare.small_writes(rounds([mode], **facts), path=path, delayed_ack_s=delayed_ack_s)
    return found.predicted.tolist()


@pytest.mark.each(
    ("mode", "facts", "warm_s", "round_s", "source"),
    [
        ("nagle", {}, 0.06, 0.1, "derived: two round trips, and 40 ms held"),
        ("nagle", {"rtt_s": 0.05}, 0.1, 0.14, "derived: the same over 50 ms"),
        ("flush", {}, 0.06, 0.1, "derived: as nagle"),
        ("nodelay", {}, 0.03, 0.03, "derived: one round trip"),
        ("single", {}, 0.03, 0.03, "derived: one round trip"),
        ("nodelay", {"write_gap_s": 0.01}, 0.04, 0.04, "derived: the second part 10 ms later"),
        ("single", {"write_gap_s": 0.01}, 0.03, 0.03, "derived: all goes at the first write"),
        ("cork", {"write_gap_s": 0.01}, 0.04, 0.04, "derived: all goes at the last write"),
        ("nodelay", {"write_gap_s": 0.01, "write_bytes": [1] * 4}, 0.06, 0.06, "derived: 3 gaps"),
        ("nagle", {"write_gap_s": 0.05}, 0.08, 0.1, "derived: 50 + 30; 50 < 70, when it may go"),
        ("nagle", {"write_gap_s": 0.08}, 0.11, 0.11, "derived: acknowledged before, 80 + 30"),
        ("nagle", {"quickack": True}, 0.06, 0.06, "derived: nothing is held"),
        ("nagle", {"write_bytes": None}, 0.03, 0.03, "derived: one byte, one segment"),
        ("nagle", {"rtt_s": 0.0}, 0.0, 0.04, "derived: no distance, 40 ms held"),
    ],
)
def test_rounds_drawn_by_hand(mode, facts, warm_s, round_s, source):
    assert predicted(mode, **facts) == pytest.approx([warm_s, *[round_s] * 3]), source


def test_the_round_trip_to_a_peer_is_the_time_of_the_fastest_round():
    times = [0.062, 0.101, 0.102, 0.1, 0.031, 0.03, 0.01, 0.032]
    failed = [False] * 6 + [True, False]
    facts = {"times": times, "failed": failed, "rtt_s": 0.0}
    found = compare.small_writes(rounds(["nagle", "single"], peer_machine={"host": "b"}, **facts))
    # derived: two round trips of 30 ms, and 40 ms held; the round of 10 ms has failed
    assert found.predicted.tolist() == pytest.approx([0.06, 0.1, 0.1, 0.1, 0.03, 0.03, 0.03])
    near = compare.small_writes(rounds(["nagle", "single"], **facts))
    assert near.predicted.tolist() == pytest.approx([0.0, 0.04, 0.04, 0.04, 0.0, 0.0, 0.0])


def test_the_time_that_an_acknowledgement_is_held():
    assert predicted("nagle", delayed_ack_s=0.2) == pytest.approx([0.06, *[0.26] * 3])
    # published: Linux holds it 40 ms at least
    assert compare.small_writes(rounds(["nagle"])).predicted[-1] == pytest.approx(0.06 + 0.04)


@pytest.mark.each(
    ("rtt_s", "in_step_s"),
    [(0.031, 0.110), (0.036, 0.120), (0.0345, 0.110), (0.0355, 0.120), (0.03, 0.110)],
)
def test_rounds_keep_step_with_a_tick_of_ten_milliseconds(rtt_s, in_step_s):
    """derived: two round trips and 40 to 50 ms; in step the sum is a whole number of ticks."""
    facts = {"rtt_s": rtt_s, "tick_s": 0.01}
    found = compare.small_writes(rounds(["nagle"], **facts))
    assert found.predicted.tolist() == pytest.approx(
        [2 * rtt_s, 2 * rtt_s + 0.045, in_step_s, in_step_s]
    )
    apart = compare.small_writes(rounds(["nagle"], interval_s=0.5, **facts))
    assert apart.predicted.tolist() == pytest.approx([2 * rtt_s, *[2 * rtt_s + 0.045] * 3])
    # the band: from 40 to 50 ms of it, in the warm-up none
    low = np.unique(found.curve_low.round(9)).tolist()
    high = np.unique(found.curve_high.round(9)).tolist()
    assert low == pytest.approx([2 * rtt_s, 2 * rtt_s + 0.04])
    assert high == pytest.approx([2 * rtt_s, 2 * rtt_s + 0.05])


def test_a_timer_between_two_ticks_keeps_the_same_step():
    """derived: the timer counts whole ticks, 4 of 43 ms; 62 ms and 48 are 11 ticks in all."""
    samples = rounds(["nagle"], rtt_s=0.031, tick_s=0.01)
    found = compare.small_writes(samples, delayed_ack_s=0.043)
    assert found.predicted.tolist() == pytest.approx([0.062, 0.107, 0.11, 0.11])


def test_the_first_round_of_a_mode_follows_no_round_of_it():
    samples = rounds(["nagle", "flush"], warm=(False, False), rtt_s=0.031, tick_s=0.01)
    found = compare.small_writes(samples)
    # derived: the first round of each mode is the middle of the band
    assert found.predicted.tolist() == pytest.approx([0.107, 0.110, 0.107, 0.110])


def test_without_a_timer_there_is_no_tick():
    facts = {"rtt_s": 0.031, "tick_s": 0.01}
    for mode in ("nodelay", "single"):
        found = compare.small_writes(rounds([mode], **facts))
        assert found.predicted == pytest.approx(0.031)
        assert found.curve_high == pytest.approx(found.curve_low)


def test_rounds_that_failed_have_no_point_and_keep_their_number():
    times = [0.1, 0.2, np.nan, 0.4]
    samples = rounds(["nagle"], times=times, failed=[False, False, True, False])
    found = compare.small_writes(samples)
    assert found.x.tolist() == [1.0, 2.0, 4.0]
    assert found.measured.tolist() == [0.1, 0.2, 0.4]
    assert found.predicted == pytest.approx([0.06, 0.1, 0.1])
    assert found.residual == pytest.approx([0.04, 0.1, 0.3])


def test_the_curve_goes_round_by_round():
    found = compare.small_writes(rounds(["nagle", "nodelay"], tick_s=0.01, rtt_s=0.031))
    expected = [0.062, 0.107, 0.11, 0.11, 0.031, 0.031, 0.031, 0.031]
    assert found.predicted == pytest.approx(expected)
    at = np.clip(np.round(found.curve_x), 1, 8).astype(int) - 1
    assert found.curve_y == pytest.approx(np.array(expected)[at])
    assert (found.curve_x[0], found.curve_x[-1]) == (0.0, pytest.approx(8.4))
    assert (found.x_unit, found.y_unit) == ("1", "s")
    assert "time" in found.y_name
    assert "predicted" in found.predicted_label


def test_the_sentence_has_the_medians_of_every_mode():
    times = [0.5, 0.1, 0.2, 0.3, 0.6, 0.01, 0.02, 0.04]
    samples = rounds(
        ["nagle", "nodelay"], times=times, tick_s=0.01, rtt_s=0.031,
        counters={"nagle": {"DelayedACKs": 7}, "nodelay": {"Other": 9}},
    )  # fmt: skip
    sentence = compare.small_writes(samples).sentence
    # by hand, without the warm-up: 110, 200 and three; 31, 20 and three; a tick of 10
    assert [float(n) for n in re.findall(r"([\d.]+) ms", sentence)] == [110, 200, 31, 20, 10]
    assert [int(n) for n in re.findall(r"(?<![\d.])\d+(?!\d|\.\d| ms)", sentence)] == [3, 7, 3]


def test_no_round_in_time_has_no_sentence_of_numbers():
    samples = rounds(["nagle"], times=[np.nan] * 4, failed=[True] * 4)
    found = compare.small_writes(samples)
    assert found.x.size == 0
    assert not re.findall(r"\d", found.sentence)


LINE = "56 kbit/s 5 ms"  # 7 bytes a millisecond


@pytest.mark.each(
    ("mode", "facts", "expected_s", "source"),
    [
        ("single", {}, 0.01 + (65 + 65) / 7e3, "derived: one packet each way"),
        ("single", {"address_family": "IPv6"}, 0.01 + 170 / 7e3, "derived: 20 bytes more in both"),
        ("nodelay", {}, 0.01 + (58 + 59 + 52 + 65) / 7e3, "derived: two there, an ACK in front"),
        (
            "nagle", {}, 0.06 + (58 + 52 + 59 + 52 + 65) / 7e3,
            "derived: 40 ms held and 20 of distance; the second part behind the ACK",
        ),
        (
            "nagle", {"write_bytes": [700, 7]}, 0.06 + (752 + 52 + 59 + 52 + 65) / 7e3,
            "derived: the first part is 694 bytes longer",
        ),
        (
            "nodelay", {"write_gap_s": 0.05}, 0.05 + 0.01 + (59 + 52 + 65) / 7e3,
            "derived: the first part is long gone when the second is written",
        ),
    ],
)  # fmt: skip
def test_rounds_over_a_slow_line(mode, facts, expected_s, source):
    got = predicted(mode, path=Path.parse(LINE), **facts)
    assert got[1:] == pytest.approx([expected_s] * 3), source


def test_the_first_round_over_a_slow_line_holds_nothing():
    got = predicted("nagle", path=Path.parse(LINE))
    # derived: 52 bytes of acknowledgement for each part, the second in front of the response
    assert got[0] == pytest.approx(0.02 + (58 + 52 + 59 + 52 + 65) / 7e3)
    single = predicted("single", path=Path.parse(LINE))
    # derived: the one part is acknowledged at once, in front of the response
    assert single[0] == pytest.approx(0.01 + (65 + 52 + 65) / 7e3)


@pytest.mark.each(
    ("reply", "mss", "packets"),
    [
        (1448.0, 1448, [1500]), (1449.0, 1448, [1500, 53]), (2896.0, 1448, [1500, 1500]),
        (3000.0, 1448, [1500, 1500, 156]), (250.0, 100, [152, 152, 102]), (0.0, 1448, [53]),
        (np.nan, 1448, [53]),
    ],
)  # fmt: skip
def test_responses_of_several_segments(reply, mss, packets):
    facts = {} if mss == 1448 else {"mss_bytes": mss}
    got = predicted("single", path=Path.parse("1 Mbit/s 10 ms"), reply=reply, **facts)
    assert got[1] == pytest.approx(0.02 + 8e-6 * (65 + sum(packets)))


def test_nodes_on_the_way_of_a_round():
    path = Path.parse(
        "1 Gbit/s 1 ms, 1 Gbit/s 2 ms", processing_s=1e-3, source_processing_s=2e-3,
        destination_processing_s=4e-3,
    )  # fmt: skip
    got = predicted("single", path=path)
    # derived: 3 ms each way, the router twice, the source at both ends, the server once
    assert got[1] == pytest.approx(0.006 + 0.002 + 0.004 + 0.004, abs=5e-6)


@pytest.mark.each("tick_s", [0.004, 0.01])
@pytest.mark.each("line", [LINE, "1 Mbit/s 10 ms", "300 kbit/s 7 ms"])
def test_rounds_over_a_path_keep_step(line, tick_s):
    """derived: in step a round takes whole ticks, and 40 ms to a tick more are in it."""
    path = Path.parse(line)
    least_s = predicted("nagle", path=path)[1]
    found = compare.small_writes(rounds(["nagle"], tick_s=tick_s), path=path)
    in_step_s = found.predicted[2]
    assert in_step_s / tick_s == pytest.approx(round(in_step_s / tick_s), abs=1e-6)
    assert least_s < in_step_s <= least_s + tick_s + 1e-9
    assert found.predicted[1] == pytest.approx(least_s + tick_s / 2)
    assert found.predicted[3] == in_step_s
    assert math.isclose(found.curve_high[-1] - found.curve_low[-1], tick_s, abs_tol=1e-9)


def test_the_path_of_the_run_is_taken():
    truth = {"bandwidths_bps": [56e3], "latencies_s": [5e-3], "processings_s": [0.0, 0.0]}
    assert predicted("single", truth=truth)[1] == pytest.approx(0.01 + 130 / 7e3)
    other = Path.parse("1 Gbit/s 20 ms")
    assert predicted("single", truth=truth, path=other)[1] == pytest.approx(0.04, abs=5e-6)


def test_the_ladder_of_a_mode_has_its_own_rows():
    rows = [
        {"who": "to server", "what": "segment", "start_s": 0.0, "end_s": 0.1, "payload_bytes": 6},
        {"who": "to client", "what": "response", "start_s": 0.3, "end_s": 0.4, "payload_bytes": 9},
        {"who": "to client", "what": "response", "start_s": 0.5, "end_s": 0.7, "payload_bytes": 5},
        {"who": "to server", "what": "acknowledgement", "start_s": 0.8, "end_s": 0.9,
         "payload_bytes": 0},
    ]  # fmt: skip
    samples = rounds(["nagle", "nodelay"], ladder={"nagle": rows})
    seen = compare.ladder(samples, mode="nagle")
    assert seen.who == ("to server", "to client", "to client", "to server")
    assert seen.what == ("segment", "response", "response", "acknowledgement")
    assert seen.start_s.tolist() == [0.0, 0.3, 0.5, 0.8]
    assert seen.end_s.tolist() == [0.1, 0.4, 0.7, 0.9]
    assert seen.payload_bytes.tolist() == [6, 9, 5, 0]
    assert seen.done_s == 0.7
    nothing = compare.ladder(samples, mode="nodelay")
    assert nothing.who == ()
    assert np.isnan(nothing.done_s)
    assert compare.ladder(rounds(["nagle"]), mode="nagle").what == ()
