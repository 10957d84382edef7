"""A scenario over time: what is drawn of results made by hand, and how each way looks."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from bokeh.models import Line, Scatter
from looking import BLUE, GREEN, INK, VERMILION, VIOLET, hovers_of, legend_of

from netcalc.congestion import Result, Trajectory
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.plots import courses, phase, svg
from netcalc.scenario import Bottleneck, Flow, Scenario

LINK = Bottleneck.of(rate_bps=12e6, rtt_s=0.04, buffer_packets=40)
"""derived: 1000 packets/s, 11.584 Mbit/s of payload, 40 packets in flight fill it."""
SCENARIO = Scenario(
    bottleneck=LINK,
    flows=(Flow(algorithm="cubic", stop_s=4.0), Flow(algorithm="bbr", start_s=1.0, stop_s=3.0)),
    end_s=4.0,
)
TIME_S = np.array([1.0, 2.0, 3.0, 4.0])
COURSE = Trajectory(
    time_s=TIME_S,
    queue_bytes=np.array([0.0, 15e3, 60e3, 30e3]),
    window_packets=np.array([[40.0, 10.0], [50.0, 30.0], [20.0, 60.0], [70.0, 10.0]]),
    goodput_bps=np.array([[11e6, 0.0], [8e6, 3e6], [4e6, 7e6], [10e6, 0.0]]),
    rtt_s=np.array([0.04, 0.05, 0.08, 0.06]),
    drop_count=np.array([0.0, 0.0, 2.0, 3.0]),
)


def result(by="theory", scenario=SCENARIO, **more):
    given = {
        "goodput_bps": np.array([8.25e6, 5e6]), "finish_s": np.full(2, np.nan),
        "queue_mean_bytes": 26_250.0, "queue_median_bytes": 22_500.0, "queue_p95_bytes": 55_500.0,
        "drop_count": 3.0, "utilization": 0.93, "trajectory": COURSE, **more,
    }  # fmt: skip
    return Result(scenario=scenario, by=by, **given)


THREE = [result("theory"), result("live"), result("ns3")]


def column(plot, name, axis="y"):
    return np.asarray(plot.sources[name].data[axis])


def drawn(chart):
    return {one.name: one.glyph for one in chart.renderers}


def test_goodput_is_drawn_in_no_finer_intervals_than_it_is_known():
    plot = courses([result()], parts=["goodput"])
    # identity: the course's own four intervals; nan where the flow does not run
    assert column(plot, "goodput, flow 1, cubic, theory", "x").tolist() == [1, 2, 3, 4]
    assert column(plot, "goodput, flow 1, cubic, theory").tolist() == [11e6, 8e6, 4e6, 10e6]
    second = column(plot, "goodput, flow 2, bbr, theory")
    assert np.array_equal(second, [np.nan, 3e6, 7e6, np.nan], equal_nan=True)


def test_goodput_of_a_fine_course_is_averaged_over_whole_intervals_of_it():
    # derived: 500 intervals of 8 ms; 4 s / 200 are 2.5 of them, so three are taken together
    time_s = np.arange(1, 501) * 0.008
    rates = np.tile(np.array([[3e6], [6e6], [9e6]]), (167, 2))[:500]
    fine = Trajectory(
        time_s=time_s, queue_bytes=np.zeros(500), window_packets=np.ones((500, 2)),
        goodput_bps=rates, rtt_s=np.ones(500),
    )  # fmt: skip
    near = replace(SCENARIO, bottleneck=replace(LINK, rtt_s=0.004))  # four rounds are less
    plot = courses([result(trajectory=fine, scenario=near)], parts=["goodput"])
    found = column(plot, "goodput, flow 1, cubic, theory")
    assert column(plot, "goodput, flow 1, cubic, theory", "x")[:3] == pytest.approx(
        [0.024, 0.048, 0.072]
    )
    assert found.size == 167
    assert found[:166] == pytest.approx(6e6)
    assert found[-1] == pytest.approx(4.5e6), "derived: the last has two intervals, 3 and 6"


def test_what_a_repaired_loss_releases_is_averaged_over_four_round_trips():
    """derived: 160 ms are eight intervals of 20 ms, in one of which 40 ms of the link arrive."""
    rates = np.tile(np.array([[0.0], [0.0], [40e6], [8e6]]), (50, 2))
    bursts = Trajectory(
        time_s=np.arange(1, 201) * 0.02, queue_bytes=np.zeros(200),
        window_packets=np.ones((200, 2)), goodput_bps=rates, rtt_s=np.ones(200),
    )  # fmt: skip
    plot = courses([result(trajectory=bursts)], parts=["goodput"])
    found = column(plot, "goodput, flow 1, cubic, theory")
    assert column(plot, "goodput, flow 1, cubic, theory", "x")[:2] == pytest.approx([0.16, 0.32])
    assert found == pytest.approx(np.full(25, 12e6))


def test_one_result_and_one_flow_are_refused_in_a_sentence():
    for draw in (courses, phase):
        with pytest.raises(ArgumentTypeError, match="results must be a list of Result"):
            draw(result())
        with pytest.raises(ArgumentTypeError, match="results must be a list of Result"):
            draw([None])
    alone = replace(SCENARIO, flows=SCENARIO.flows[:1])
    with pytest.raises(DomainError, match="needs two flows; the scenario has 1"):
        phase([result(scenario=alone)])


def test_ideal_shares_are_those_of_the_payload():
    plot = courses([result()], parts=["goodput"])
    assert column(plot, "goodput, ideal share of flow 1", "x").tolist() == [0, 1, 1, 3, 3, 4]
    # derived: 12 Mbit/s times 1448 / 1500, and half of it while both run
    assert column(plot, "goodput, ideal share of flow 1")[1:3] == pytest.approx([11.584e6, 5.792e6])


def test_windows_queue_and_round_trip_are_drawn_as_they_are():
    plot = courses([result()])
    assert column(plot, "window, flow 1, cubic, theory").tolist() == [40, 50, 20, 70]
    # identity: flow 2 runs from 1 s, at which it has not sent, to 3 s
    second = column(plot, "window, flow 2, bbr, theory")
    assert np.array_equal(second, [np.nan, 30, 60, np.nan], equal_nan=True)
    assert column(plot, "queue, link, theory").tolist() == [0, 15e3, 60e3, 30e3]
    assert column(plot, "queue, full buffer").tolist() == [60e3, 60e3]
    assert column(plot, "rtt, link, theory").tolist() == [0.04, 0.05, 0.08, 0.06]
    assert [chart.yaxis[0].axis_label.text for chart in plot.figure.children] == [
        "goodput (TCP payload) [bit/s]", "window in packets", "queue", "round-trip time",
        "Jain index",
    ]  # fmt: skip
    alone = replace(SCENARIO, flows=SCENARIO.flows[:1])
    one = replace(COURSE, window_packets=np.ones((4, 1)), goodput_bps=np.ones((4, 1)))
    given = result(scenario=alone, trajectory=one, goodput_bps=np.ones(1), finish_s=np.ones(1))
    assert len(courses([given]).figure.children) == 4, "identity: one flow shares with nobody"


def test_the_index_of_jain_is_drawn_where_two_flows_run():
    plot = courses([result()], parts=["jain"])
    # derived: from 1 to 3 s: 11 of 2 (64 + 9), 11 of 2 (16 + 49), squared
    found = column(plot, "jain, link, theory")
    assert np.isnan(found[[0, 3]]).all()
    assert found[1:3] == pytest.approx([121 / 146, 121 / 130])


def test_three_ways_are_lines_marks_and_dashes_of_one_legend():
    plot = courses(THREE)
    first, *others = plot.figure.children
    names = [f"flow {n}, {how}, {way}" for way in ("theory", "live", "ns-3")
             for n, how in ((1, "cubic"), (2, "bbr"))]  # fmt: skip
    links = [f"link, {way}" for way in ("theory", "live", "ns-3")]
    assert list(legend_of(first)) == [*names, "ideal share", *links, "full buffer"]
    for link in links:
        [shown] = legend_of(first)[link]
        # identity: the axis begins at 0
        assert (shown.data_source.data["x"], first.x_range.start) == ([-1.0], 0.0)
    assert not any(other.above for other in others)
    glyphs = drawn(first)
    theory, live, ns3 = (glyphs[f"goodput, flow 2, bbr, {w}"] for w in ("theory", "live", "ns-3"))
    assert (type(theory), theory.line_dash, theory.line_color) == (Line, [], VERMILION)
    assert (type(live), live.fill_color, live.line_color) == (Scatter, VERMILION, INK["light"])
    assert (type(ns3), ns3.line_dash, ns3.line_color) == (Line, [10, 4], VERMILION)
    assert glyphs["goodput, flow 1, cubic, theory"].line_color == BLUE
    assert drawn(others[1])["queue, link, theory"].line_color == VIOLET
    assert glyphs["goodput, flow 1, cubic, live"].marker != live.marker


def test_the_full_buffer_looks_otherwise_than_an_ideal_share():
    first, _, queue, *_ = courses([result()]).figure.children
    full = drawn(queue)["queue, full buffer"]
    assert full.line_dash != drawn(first)["goodput, ideal share of flow 1"].line_dash
    [shown] = legend_of(first)["full buffer"]
    assert shown.glyph.line_dash == full.line_dash
    [link] = shown.js_property_callbacks["change:visible"]
    assert link.args["other"].name == "queue, full buffer"


def test_the_index_of_jain_is_left_out_where_no_two_flows_run_together():
    # derived: flow 2 runs for 0.5 s only, through no interval of a second
    short = replace(SCENARIO.flows[1], stop_s=1.5)
    apart = replace(SCENARIO, flows=(SCENARIO.flows[0], short))
    plot = courses([result(scenario=apart)])
    assert len(plot.figure.children) == 4
    assert "Jain's index is left out: no two flows run together" in plot.description
    assert len(courses([result(scenario=apart)], parts=["goodput", "jain"]).figure.children) == 2


def test_goodput_above_the_link_and_what_is_not_known_are_said():
    burst = replace(COURSE, goodput_bps=np.where(COURSE.goodput_bps == 8e6, 13e6, 1e6))
    said = courses([result("ns3", trajectory=burst)]).description
    assert "may be above the rate of the link" in said, "derived: 13 of 12 Mbit/s"
    assert "above the rate" not in courses([result()]).description
    nothing = result(goodput_bps=np.array([np.nan, 5e6]), utilization=np.nan)
    said = courses([nothing]).description
    assert "flow 1 unknown, flow 2 5 Mbit/s (TCP payload); link unknown used" in said


def test_one_entry_of_the_legend_hides_its_curve_in_all_figures():
    plot = courses(THREE)
    first, windows, queue, *_ = plot.figure.children
    [leader] = legend_of(first)["flow 1, cubic, theory"]
    links = leader.js_property_callbacks["change:visible"]
    followers = [link.args["other"].name for link in links]
    assert followers == ["window, flow 1, cubic, theory"]
    [leader] = legend_of(first)["link, theory"]
    links = leader.js_property_callbacks["change:visible"]
    assert [link.args["other"].name for link in links] == [
        "queue, link, theory", "rtt, link, theory", "jain, link, theory",
    ]  # fmt: skip
    assert windows.x_range is first.x_range is queue.x_range


def test_hovers_name_time_and_value_with_their_units():
    goodput, *_, rtt, _ = courses([result()]).figure.children
    [(_, rows)] = hovers_of(goodput)
    assert rows == [("time", "x", "s"), ("goodput (TCP payload)", "y", "bit/s")]
    [(_, rows)] = hovers_of(rtt)
    assert rows == [("time", "x", "s"), ("round-trip time", "y", "s")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_and_the_words_have_the_numbers(theme):
    plot = courses([result(), result("ns3")], title="Two flows", theme=theme)
    assert plot.description == (
        "Two flows: 12 Mbit/s (IP), 40 ms, buffer of 60 kB. "
        "Theory: flow 1 8.25 Mbit/s (TCP payload), flow 2 5 Mbit/s (TCP payload); link 93% "
        "used, mean queue 26.25 kB. "
        "ns-3: flow 1 8.25 Mbit/s (TCP payload), flow 2 5 Mbit/s (TCP payload); link 93% "
        "used, mean queue 26.25 kB."
    )
    assert "flow 2, bbr, ns-3" in svg(plot)
    json.dumps(plot.document().to_json(deferred=False))


def test_results_that_differ_in_columns_only_have_one_form():
    other = replace(COURSE, queue_bytes=COURSE.queue_bytes / 2)
    one, two = courses([result()]), courses([result(trajectory=other)])
    assert one.form == two.form
    assert one.form != courses([result("live")]).form


def test_of_many_flows_the_first_five_are_drawn_and_it_is_said():
    flows = tuple(Flow(algorithm="reno", stop_s=4.0) for _ in range(8))
    many = replace(COURSE, window_packets=np.ones((4, 8)), goodput_bps=np.ones((4, 8)))
    given = result(
        scenario=replace(SCENARIO, flows=flows),
        trajectory=many,
        finish_s=np.full(8, np.nan),
        goodput_bps=np.ones(8),
    )
    plot = courses([given])
    assert sum(name.startswith("window, flow") for name in plot.sources) == 5
    assert plot.description.endswith("The first 5 of 8 flows are drawn.")


def test_windows_of_two_flows_against_each_other_while_both_run():
    plot = phase([result(), result("live")])
    assert column(plot, "theory", "x").tolist() == [50, 20]
    assert column(plot, "live").tolist() == [30, 60]
    # derived: 40 packets fill the link, 40 more the buffer
    assert column(plot, "link just full").tolist() == pytest.approx([40, 0])
    assert column(plot, "full buffer", "x").tolist() == pytest.approx([0, 80])
    assert column(plot, "equal windows").tolist() == column(plot, "equal windows", "x").tolist()
    own = [replace(one, rtt_s=rtt) for one, rtt in zip(SCENARIO.flows, (0.02, 0.06), strict=True)]
    unlike = phase([result(scenario=replace(SCENARIO, flows=tuple(own)))])
    # derived: each alone has 20 and 60 packets in flight, and the full buffer of 40
    assert column(unlike, "link just full", "x").tolist() == pytest.approx([0, 20])
    assert column(unlike, "full buffer").tolist() == pytest.approx([100, 0])
    glyphs = drawn(plot.figure)
    assert (type(glyphs["theory"]), type(glyphs["live"])) == (Line, Scatter)
    assert drawn(phase([result("ns3")]).figure)["ns-3"].line_color == GREEN
    assert plot.figure.xaxis[0].axis_label.text == "window of flow 1 (cubic) in packets"
    assert "40.0 packets in flight, the buffer with 80.0" in plot.description


def test_a_course_without_an_interval_is_drawn_empty():
    empty = Trajectory(
        time_s=np.zeros(0), queue_bytes=np.zeros(0), window_packets=np.zeros((0, 2)),
        goodput_bps=np.zeros((0, 2)), rtt_s=np.zeros(0),
    )  # fmt: skip
    stopped = result("live", trajectory=empty)
    assert column(courses([result(), stopped]), "goodput, flow 1, cubic, live").size == 0
    assert column(phase([stopped]), "live").size == 0
    assert "ideal share" in svg(courses([stopped]))


OTHER = replace(SCENARIO, end_s=5.0)


@pytest.mark.each(
    ("results", "code"),
    [
        ([], "no-results"),
        ([result(trajectory=None)], "no-course"),
        ([result(), result("live", scenario=OTHER)], "scenarios-differ"),
        ([result(), result()], "name-in-use"),
    ],
)
def test_what_cannot_be_in_one_figure_is_refused(results, code):
    for draw in (courses, phase):
        with pytest.raises(DomainError) as refused:
            draw(results)
        assert refused.value.code == code
        assert str(refused.value)


def test_an_unknown_part_or_flow_is_refused():
    with pytest.raises(DomainError, match="goodput, window, queue, rtt"):
        courses([result()], parts=["rate"])
    with pytest.raises(DomainError, match="flows must be"):
        phase([result()], flows=(0, 2))


def test_dropped_packets_are_drawn_if_they_are_wanted_and_known():
    plot = courses([result()], parts=["drops"])
    assert column(plot, "drops, link, theory").tolist() == [0.0, 0.0, 2.0, 3.0], "identity"
    assert not any(name.startswith("drops") for name in courses(THREE).sources)
    unknown = replace(COURSE, drop_count=None)
    plot = courses([result(trajectory=unknown)], parts=["drops"])
    assert np.isnan(column(plot, "drops, link, theory")).all()
