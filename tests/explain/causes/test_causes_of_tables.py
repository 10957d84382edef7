"""Whole tables: what a law, a flat rate, scatter, two rows or a wrong row let anybody say."""

from __future__ import annotations

import math

import pytest

from netcalc import readers
from netcalc.errors import ReaderError
from netcalc.explain import Known, measurement
from netcalc.explain.causes.cause import _OF_LIMITS, CAUSES
from netcalc.messages import MESSAGES

OF_NO_CAUSE = {
    "clock", "congestion-window", "hop", "hops", "one-way-least", "pair-share",
    "round-trip-and-hosts", "size-steps",
}  # fmt: skip
"""Limits that several causes may be behind: a rate or a time at one of them has none for sure."""
TRIPS = "rtt [ms],rate [Mbit/s]\n"
SIZES = "size [B],time [s]\n"
LOSSES = "loss [%],rate [Mbit/s]\n"
FRAMES = "frame size [B],frame rate [1/s]\n"
WINDOW = TRIPS + "10,52.4\n20,26.2\n40,13.1\n80,6.55\n160,3.28\n"


def explained(text, **known):
    return measurement(readers.read(text.encode()), Known(**known))


def codes(finding):
    return {one.code: one.values for one in finding.notices}


def sign(finding, name):
    return next(one for one in finding.cause.signs if one.name == name)


def test_one_window_for_the_whole_table():
    """By hand: 52.4 Mbit/s x 10 ms / 8 are 65,500 B; the last row has 65,600; truth is 64 KiB."""
    whole, *rows = explained(WINDOW)
    assert (whole.cause.code, whole.confidence) == ("receiver-window", "medium")
    window = sign(whole, "window_bytes")
    assert window.value == pytest.approx(65500)
    assert window.low < 65536 < window.high < 66000
    assert "inversely proportional to the round trip" in whole.sentence
    assert "5 of 5 rows" in whole.sentence
    assert len(rows) == 5
    assert "window-or-loss" in codes(whole)
    assert all("window-or-loss" not in codes(row) for row in rows), "said once"


def test_rows_at_a_cap_are_none_of_the_law():
    """By hand: 16, 32 and 64 kB at 40 ms, 3.2 to 12.8 Mbit/s; 25.6 would follow, and 20 is all."""
    text = "window [kB],rate [Mbit/s]\n16,3.2\n32,6.4\n64,12.8\n128,20\n256,20\n"
    whole = explained(text)[0]
    assert (sign(whole, "law_count").value, sign(whole, "row_count").value) == (3, 5)
    assert codes(whole)["response-cap"]["count"] == 2
    assert sign(whole, "off_ratio").value == 0.001, "less is not told apart"


def test_a_row_is_no_surer_than_its_table():
    """Stated: 0.07 % of loss, which would give the same curve as the window."""
    whole, *rows = explained(WINDOW, loss_ratio=7e-4)
    assert {each.confidence for each in (whole, *rows)} == {"low"}


def test_a_stated_loss_excludes_or_keeps_the_rival_of_a_window():
    """By hand: (1.2247 x 1448 / 65500)^2 = 0.0733 % of loss would give the same curve."""
    assert codes(explained(WINDOW, loss_ratio=1e-4)[0])["window-not-loss"][
        "loss_ratio"
    ] == pytest.approx(7.33e-4, rel=1e-2)
    both = explained(WINDOW, loss_ratio=7e-4)[0]
    assert "window-or-stated-loss" in codes(both)
    assert both.confidence == "low"


def test_rates_above_the_stated_line_make_nothing_sure():
    whole = explained(WINDOW, line_bps=1e5)[0]
    assert "limit-refuted" in codes(whole)
    assert whole.confidence == "low"


TWO_ROWS = {
    "round trip": TRIPS + "10,52.4\n20,26.2\n",
    "loss": LOSSES + "0.01,117\n1,11.7\n",
    "sizes": SIZES + "100,1\n2000,3.85\n",
    "frames": FRAMES + "64,2000000\n1518,90000\n",
    "pairs": "pairs,goodput_Mbit/s\n1,94\n2,94\n",
    "writes": "write_bytes,writes,wall_s\n100,1000,1\n1000,1000,2\n",
}


@pytest.mark.each("case", TWO_ROWS)
def test_two_rows_make_nothing_sure(case):
    found = explained(TWO_ROWS[case])
    assert {one.confidence for one in found} == {"low"}
    assert any("two-points" in codes(one) for one in found)


def test_the_round_trip_of_a_loss_table_is_fitted_and_said_to_be():
    """By hand: 1.2247 x 8 x 1448 / 117 Mbit/s / sqrt(0.0001) = 12.13 ms."""
    text = LOSSES + "0.01,117\n0.1,37\n1,11.7\n"
    whole, *rows = explained(text)
    assert sign(whole, "fitted_rtt_s").value == pytest.approx(12.13e-3, rel=1e-3)
    assert sign(whole, "fitted_rtt_s").origin == "fitted to the rows"
    assert "fitted-trip" in codes(whole)
    assert "not measured" in str(rows[0])
    agreed = explained(text, rtt_s=0.012)[0]
    assert ("fitted-trip-agrees" in codes(agreed), agreed.confidence) == (True, "medium")
    differs = explained(text, rtt_s=0.040)[0]
    assert codes(differs)["fitted-trip-differs"]["factor"] == pytest.approx(40 / 12.13, rel=1e-3)
    assert differs.confidence == "low"


def test_a_rate_that_does_not_depend_on_the_round_trip():
    """By hand: of 100 Mbit/s 94.15 are payload (1448 of 1538 B); the rows have 94.1."""
    text = TRIPS + "10,94.1\n20,94.1\n40,94.1\n80,94.0\n"
    (found,) = explained(text)
    assert (found._cause.code, found.confidence) == ("unknown", "low")
    assert "stays at 94 Mbit/s to 94.1 Mbit/s" in found.sentence
    assert "8-fold" in found.sentence
    (line,) = explained(text, line_bps=1e8)
    assert (line._cause.code, line.binding.name) == ("line", "line")
    assert "response-flat" in codes(line)


OTHERS = {
    "no-relation": TRIPS + "10,5\n20,50\n40,1\n80,33\n",
    "narrow": TRIPS + "10,50\n11,45\n",
    "odd-row": TRIPS + "10,1000000\n20,26.2\n40,13.1\n",
    "sizes-flat": SIZES + "100,1\n200,1\n300,1.01\n400,1\n",
    "sizes-scatter": SIZES + "100,5\n200,1\n300,9\n400,1\n500,5\n",
    "one-size": FRAMES + "64,1e6\n64,1e6\n",
}


@pytest.mark.each("case", OTHERS)
def test_what_shows_no_law_is_said_to_show_none(case):
    found = explained(OTHERS[case])
    assert {one.cause.variant for one in found} == {case}
    assert {(one._cause.code, one.confidence) for one in found} == {("unknown", "low")}


def test_the_row_that_contradicts_the_others_is_named():
    """By hand: 26.2 Mbit/s x 20 ms are 65,500 B, which give 52.4 Mbit/s at 10 ms."""
    (found,) = explained(OTHERS["odd-row"])
    assert found.label == "10 ms"
    assert sign(found, "expected_bps").value == pytest.approx(52.4e6)


LINE_OF_SIZES = [(size, 0.05 + 8 * size / 1e7) for size in (1e4, 3e4, 1e5, 3e5, 1e6, 3e6)]
SCATTER = (1.004, 0.997, 1.003, 0.996, 1.002, 0.998)


@pytest.mark.parametrize("kind", ["time", "rate", "transfer_s"])
def test_sizes_and_times_are_a_fixed_part_and_a_rate(kind):
    """Derived: 50 ms and 10 Mbit/s; both take as long at 0.05 x 10e6 / 8 = 62.5 kB."""
    rows = [(size, time * off) for (size, time), off in zip(LINE_OF_SIZES, SCATTER, strict=True)]
    if kind == "rate":
        rows = [(size, 8 * size / time / 1e6) for size, time in rows]
    head = {"time": SIZES, "rate": "size [B],rate [Mbit/s]\n", "transfer_s": "bytes,transfer_s\n"}
    text = head[kind] + "".join(f"{size:.0f},{value:.6f}\n" for size, value in rows)
    (found,) = explained(text)
    latency, rate = sign(found, "latency_s"), sign(found, "fitted_bps")
    assert latency.low < 0.05 < latency.high
    assert rate.low < 1e7 < rate.high
    assert sign(found, "even_bytes").value == pytest.approx(62.5e3, rel=0.05)
    assert (found._cause.code, found.confidence) == ("unknown", "low")
    # a line of 10.62 Mbit/s carries 10 of payload: 1448 of every 1538 B
    (line,) = explained(text, line_bps=1e7 * 1538 / 1448, rtt_s=0.025)
    assert (line.cause.code, line.confidence) == ("line", "medium")
    assert codes(line)["sizes-trips"]["trips"] == pytest.approx(2, rel=0.05)
    assert "cause-unknown-sizes" in codes(line)


def test_long_times_are_no_whole_round_trips():
    """By hand: 0.08, 0.16, 0.9, 8.4 and 84 s are 4 to 4200 x 20 ms, as all such times are."""
    (found,) = explained(SIZES + "1e4,0.08\n1e5,0.16\n1e6,0.9\n1e7,8.4\n1e8,84\n", rtt_s=0.02)
    assert found.cause.variant == "sizes"


def test_rows_that_cannot_be_computed_with_are_counted():
    whole = explained(TRIPS + "0,52.4\n20,26.2\n40,13.1\n80,6.55\n")[0]
    assert codes(whole)["rows-left-out"] == {"count": 1, "total": 4}
    frames = explained(FRAMES + "0,10\n64,0\n128,5\n")
    assert codes(frames[0])["rows-left-out"] == {"count": 2, "total": 3}


@pytest.mark.each(
    ("text", "line", "field"),
    [(TRIPS + "10,52\n20,-26\n", 3, "rate"), (TRIPS + "-10,52\n20,26\n", 2, "rtt"),
     (LOSSES + "1,52\n-2,26\n", 3, "loss"), (FRAMES + "64,5\n128,-6\n", 3, "frame rate"),
     (SIZES + "64,5\n-128,6\n", 3, "size")],
)  # fmt: skip
def test_what_cannot_be_negative_is_refused_with_its_line(text, line, field):
    with pytest.raises(ReaderError, match="is negative") as refused:
        readers.read(text.encode())
    assert (refused.value.line, refused.value.field) == (line, field)
    assert refused.value.expected.startswith("0 or greater")


def test_times_before_another_may_be_negative():
    table = readers.read(b"delay [ms],rate [Mbit/s]\n-1,5\n2,6\n")
    assert table.columns()["delay_s"].tolist() == [-0.001, 0.002]


def test_a_rate_that_fell_and_stayed_is_not_its_median():
    """By hand: 90, 91, 89 and then 10, 10, 11, 10: the medians are 90 and 10."""
    text = "time [s],rate [Mbit/s]\n0,90\n1,91\n2,89\n3,10\n4,10\n5,11\n6,10\n"
    (found,) = explained(text)
    assert found.cause.sign("before_bps") == 90e6
    assert found.cause.sign("after_bps") == 10e6
    assert found.cause.sign("step_row") == 4
    assert found.confidence == "low"
    (steady,) = explained("time [s],rate [Mbit/s]\n0,90\n1,10\n2,89\n3,10\n4,90\n5,11\n6,90\n")
    assert steady.cause is None, "it changes all the time"
    (rising,) = explained("time [s],rate [Mbit/s]\n0,10\n1,20\n2,40\n3,80\n4,90\n5,90\n6,90\n")
    assert rising.cause is None, "it grows from row to row"


def test_every_limit_has_a_cause_or_is_listed_without():
    names = {
        code.removeprefix("limit-") for code in MESSAGES
        if code.startswith("limit-") and not code.startswith("limit-path-")
    } - {"refuted"}  # fmt: skip
    assert names - set(_OF_LIMITS) == OF_NO_CAUSE
    assert set(_OF_LIMITS) <= names, "no limit of that name is ever said"
    assert set(_OF_LIMITS.values()) <= set(CAUSES)


TABLES = [WINDOW, *TWO_ROWS.values(), *OTHERS.values(),
          FRAMES + "64,1488095\n128,844594\n256,452898\n1518,81274\n",
          FRAMES + "64,9000\n512,7000\n1518,5000\n",
          "pairs,goodput_Mbit/s\n1,20\n2,40.2\n4,79.8\n8,94.1\n16,94.0\n"]  # fmt: skip


@pytest.mark.each("text", TABLES)
@pytest.mark.parametrize("known", [{}, {"line_bps": 1e8}, {"rtt_s": 0.05, "window_bytes": 1e5}])
def test_an_unknown_cause_is_never_sure(text, known):
    for one in explained(text, **known):
        stored = one.as_dict()
        assert stored["cause"] != "unknown" or stored["confidence"] == "low", str(one)
        assert not any(math.isnan(each.value) for each in one.limits)


def test_the_line_that_frames_imply_is_the_cause():
    found = explained(TABLES[-3])
    assert {(one.as_dict()["cause"], one.confidence) for one in found} == {("line", "high")}
    costs = explained(TABLES[-2])
    assert {one.as_dict()["cause"] for one in costs} == {"packet-rate"}


def test_what_the_rows_beside_an_odd_one_say_is_said_too():
    """By hand: 52.4, 26.2, 13.1, 6.55 Mbit/s are 65,500 B a round trip; the second is 10 times."""
    odd, whole, *rows = explained(TRIPS + "10,52.4\n20,262\n40,13.1\n80,6.55\n160,3.275\n")
    assert (odd.label, odd.cause.variant) == ("20 ms", "odd-row")
    assert sign(whole, "window_bytes").value == pytest.approx(65500)
    assert len(rows) == 4


def test_a_window_of_few_segments_stalls():
    """By hand: windows a round trip of 20 ms, and 2048 B in each 40 ms of a delayed ACK."""
    text = "window [KiB],rate [Mbit/s]\n2,0.4096\n8,3.2768\n16,6.5536\n32,13.1072\n"
    whole, *_, stalled = explained(text)
    assert sign(whole, "fitted_rtt_s").value == pytest.approx(0.02)
    assert (stalled.label, stalled.cause.variant) == ("2048 B", "stalled")
    assert sign(stalled, "segment_count").value == pytest.approx(2048 / 1448, rel=0.01)
    assert sign(stalled, "expected_bps").value == pytest.approx(0.8192e6)
    found = explained(text.replace("2,0.4096", "2,0.7"))
    assert all(one.cause is None or one.cause.variant != "stalled" for one in found)


def test_a_step_between_sizes_is_said_beside_the_line():
    """By hand: 10 Mbit/s and 2 ms; a second fragment above 1508 B takes half a millisecond more."""
    sizes = [*range(100, 1501, 100), 1508, 1509, *range(1600, 2001, 100)]
    rows = [(size, 2e-3 + 8e-7 * size + 5e-4 * (size > 1508)) for size in sizes]
    (found,) = explained(SIZES + "".join(f"{size},{time:.7f}\n" for size, time in rows))
    step = codes(found)["times-step-up"]
    assert (step["after_bytes"], step["before_bytes"]) == (1508, 1509)
    assert step["jump_s"] == pytest.approx(5e-4, rel=0.01)


def test_a_rate_that_falls_with_the_number_of_flows_is_of_one():
    """Goodput of a request beside so many streams, as read off a published figure."""
    streams = "streams,goodput [Gbit/s]\n1,1.45\n2,1.05\n4,0.70\n8,0.40\n16,0.40\n"
    (found,) = explained(streams)
    assert (found.cause.code, found.cause.variant) == ("shared-line", "falls")
    rising = explained(streams.replace("1.45", "0.15").replace("1.05", "0.3"))
    assert len(rising) == 5


@pytest.mark.parametrize("head", ["request,latency [ms]", "latency [ms]", "n,delay [ms]"])
def test_latencies_alone_are_those_of_responses(head):
    numbered = "," in head
    times = [72, 75, 74, 73, 90, 72.5]
    rows = [f"{row},{time}" if numbered else str(time) for row, time in enumerate(times)]
    (found,) = explained("\n".join([head, *rows]))
    assert found.measured == pytest.approx(0.0735)
    assert found.binding.value == pytest.approx(0.072), "the fastest of them"


@pytest.mark.parametrize("name", ["sndbuf", "rcvbuf", "send_buffer", "buffer", "window"])
def test_a_buffer_is_a_window(name):
    """By hand: windows a round trip of 20 ms."""
    text = f"{name} [KiB],rate [Mbit/s]\n8,3.2768\n16,6.5536\n32,13.1072\n"
    assert sign(explained(text)[0], "fitted_rtt_s").value == pytest.approx(0.02)


def test_hops_of_own_columns_answered():
    """By hand: the third hop adds 30 of 40 ms."""
    text = "hop,rtt [ms]\n1,2\n2,10\n3,40\n"
    (found,) = explained(text)
    assert (found.binding.values["hop"], found.binding.value) == (3, pytest.approx(0.03))


def test_columns_of_one_quantity_are_series():
    """By hand: 10 and 20 Mbit/s, with 2 ms and 1 ms beside."""
    sizes = (100, 1000, 10_000, 50_000, 100_000)
    rows = [(size, 2 + 8e-4 * size, 1 + 4e-4 * size) for size in sizes]
    text = "size [B],near [ms],far [ms]\n" + "".join(f"{a},{b:.6f},{c:.6f}\n" for a, b, c in rows)
    near, far = explained(text)
    assert (near.label, far.label) == ("near", "far")
    assert sign(near, "fitted_bps").value == pytest.approx(1e7)
    assert sign(far, "latency_s").value == pytest.approx(1e-3)
    for other in (text.replace("far [ms]", "far [Mbit/s]"), text.replace("size [B]", "odd [kg]")):
        with pytest.raises(ReaderError):
            explained(other)


def test_flows_that_share_a_line_in_columns_over_time():
    """Goodput of two flows as read off a published figure: together they have what each has."""
    text = (
        "t [s],flow1 [Mbit/s],flow2 [Mbit/s]\n5,9640,0\n10,9640,0\n20,9640,0\n26,8200,1300\n"
        "29,7000,2500\n32,5600,3900\n34,4750,4750\n43,4400,4600\n44,9640,0\n60,9640,0\n"
    )
    found = explained(text)[0]
    assert found.cause.code == "shared-line"
    assert sign(found, "total_bps").value == pytest.approx(9.5e9)
    assert sign(found, "rate_bps").value == pytest.approx(9.64e9)
    apart = text.replace("4750,4750", "9640,4750").replace("4400,4600", "9640,4600")
    assert explained(apart)[0].cause is None, "the second has what the first does not lose"
