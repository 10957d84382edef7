"""Figures of batches and of latencies: which column, which look, which estimate."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bokeh.models import Line, Scatter
from looking import hovers_of, legend_of

from netcalc.congestion import Result
from netcalc.congestion.batch import Batch
from netcalc.congestion.grid import Grid, table
from netcalc.congestion.result import Latencies
from netcalc.errors import DomainError
from netcalc.plots import latencies, svg, sweep
from netcalc.samples import Meta, Table
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

ROWS = {
    "by": ["theory", "theory", "live", "live", "live", "ns3"],
    "algorithm": ["cubic"] * 6,
    "streams": [1.0] * 6,
    "rate_bps": [10e6] * 6,
    "rtt_s": [0.04] * 6,
    "buffer_bytes": [50e3, 25e3, 25e3, 50e3, 50e3, 25e3],
    "loss_ratio": [0.0] * 6,
    "request_1_bytes": [1e4] * 6,
    "request_1_p99_s": [0.09, 0.07, 0.065, 0.1, 0.2, np.nan],
    "request_1_mean_s": [0.08, 0.06, 0.05, 0.07, 0.09, np.nan],
    "utilization": [1.0, 0.9, 0.8, 1.0, 1.0, 0.95],
}


def given(**changed):
    rows = {**ROWS, **changed}
    units = {name: "text" if name in ("by", "algorithm") else "1" for name in rows}
    return Table(data=rows, meta=Meta(units=units))


def column(plot, name, axis="y"):
    return np.asarray(plot.sources[name].data[axis])


def glyphs(chart):
    return {one.name: one.glyph for one in chart.renderers}


def test_the_percentile_over_buffers_is_drawn_with_the_full_buffer():
    plot = sweep(given(), parts=("request_1_p99_s",))
    # identity: lines are ordered, marks of a live run are each repeat of its own
    assert column(plot, "request_1_p99_s, cubic, theory", "x").tolist() == [25e3, 50e3]
    assert column(plot, "request_1_p99_s, cubic, theory").tolist() == [0.07, 0.09]
    assert column(plot, "request_1_p99_s, cubic, live").tolist() == [0.065, 0.1, 0.2]
    # derived: 25 kB take 20 ms at 10 Mbit/s, 50 kB 40 ms; 40 ms without them
    paper = column(plot, "request_1_p99_s, round trip and a full buffer")
    assert [paper[0], paper[-1]] == pytest.approx([0.06, 0.08])
    assert list(legend_of(plot.figure)) == [
        "cubic, theory", "cubic, live", "round trip and a full buffer",
    ]  # fmt: skip
    drawn = glyphs(plot.figure)
    assert isinstance(drawn["request_1_p99_s, cubic, theory"], Line)
    assert isinstance(drawn["request_1_p99_s, cubic, live"], Scatter)
    [(_, rows)] = hovers_of(plot.figure)
    assert rows == [("buffer", "x", "B"), ("99th percentile", "y", "s")]
    assert "cubic, live: 65 ms to 200 ms" in plot.description


def test_the_interval_of_a_live_percentile_is_drawn_open_where_its_end_is_not_known():
    ends = {"request_1_p99_low_s": [np.nan, np.nan, 0.06, 0.09, 0.15, np.nan],
            "request_1_p99_high_s": [np.nan, np.nan, 0.07, 0.12, np.nan, np.nan]}  # fmt: skip
    plot = sweep(given(**ends), parts=("request_1_p99_s",))
    x, y = (column(plot, "request_1_p99_s, cubic, live, interval", axis) for axis in "xy")
    assert x.tolist() == [25e3] * 3 + [50e3] * 6
    expected = [0.06, 0.07, np.nan, 0.09, 0.12, np.nan, 0.15, 0.2, np.nan]
    np.testing.assert_equal(y, expected, "identity: the last reaches to its value")
    assert "interval" not in " ".join(legend_of(plot.figure))


def test_the_mean_over_streams_is_drawn_with_the_size_over_the_share():
    table_of_streams = given(buffer_bytes=[50e3] * 6, streams=[1.0, 2.0, 1.0, 2.0, 2.0, 1.0])
    plot = sweep(table_of_streams)
    assert [chart.title.text.text for chart in plot.figure.children] == [
        "99th percentile against long flows", "Mean latency of requests against long flows",
    ]  # fmt: skip
    paper = column(plot, "request_1_mean_s, round trip and size over the equal share")
    # derived: 10 kB with headers, 8.287 ms alone, for each of two and of three
    assert [paper[0], paper[-1]] == pytest.approx([0.056575, 0.064862], abs=1e-6)
    # derived: the median of a line's repeats: 0.07 and 0.09 of theory
    doubled = given(
        by=["theory"] * 6, buffer_bytes=[50e3] * 6, streams=[1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
        request_1_mean_s=[1, 2, 9, 4, 5, 6],
    )  # fmt: skip
    drawn = sweep(doubled, parts=("request_1_mean_s",))
    assert column(drawn, "request_1_mean_s, cubic, theory").tolist() == [2.0, 5.0]


def test_what_else_varies_makes_groups_and_no_estimate_is_drawn_for_several_links():
    plot = sweep(given(rtt_s=[0.04, 0.04, 0.04, 0.04, 0.08, 0.04]), parts=("request_1_p99_s",))
    assert list(legend_of(plot.figure)) == [
        "cubic, round-trip time without load 40 ms, theory",
        "cubic, round-trip time without load 40 ms, live",
        "cubic, round-trip time without load 80 ms, live",
    ]
    other = sweep(given(rtt_s=[0.04, 0.04, 0.04, 0.04, 0.08, 0.04]), x="rtt_s")
    assert "utilization, cubic, theory" not in other.sources


def test_a_title_keeps_its_capitals():
    rates = [1e6, 1e7, 1e7, 1e6, 1e6, 1e7]
    plot = sweep(given(rate_bps=rates), x="rate_bps", parts=("utilization",))
    title = plot.figure.title.text.text
    assert title.startswith("Utilization against rate")
    assert "IP" in title


def test_without_requests_the_link_is_drawn():
    nothing = [np.nan] * 6
    by = ["theory", "theory", "live", "live", "ns3", "ns3"]
    plot = sweep(given(by=by, request_1_p99_s=nothing, request_1_mean_s=nothing))
    assert column(plot, "utilization, cubic, ns-3").tolist() == [0.95, 1.0]
    assert glyphs(plot.figure)["utilization, cubic, ns-3"].line_dash == [10, 4]


def test_requests_that_run_without_flows_alone_leave_the_figure_to_the_link():
    # As in the matrix of rate tests: loops of requests have no flow beside them, flows no loop.
    none = [np.nan] * 3
    plot = sweep(
        given(
            by=["theory"] * 6, streams=[0.0, 0.0, 0.0, 1.0, 2.0, 4.0], buffer_bytes=[50e3] * 6,
            request_1_p99_s=[0.1, 0.2, 0.3, *none], request_1_mean_s=[0.1, 0.2, 0.3, *none],
            request_1_bytes=[1e4, 1e4, 1e6, *none],
        )
    )  # fmt: skip
    assert list(plot.sources) == [
        "utilization, cubic, size of a request 10 kB, theory",
        "utilization, cubic, size of a request 1 MB, theory",
        "utilization, cubic, theory",
    ]
    assert column(plot, "utilization, cubic, theory", "x").tolist() == [1, 2, 4]
    kinds = {one.data_source.name: type(one.glyph) for one in plot.figure.renderers}
    assert [kinds[name] for name in plot.sources] == [Scatter, Scatter, Line], "one point: a mark"


@pytest.mark.each(
    ("rows", "more", "code"),
    [
        ({"buffer_bytes": [25e3] * 6}, {}, "nothing-varies"),
        ({}, {"x": "speed"}, "not-a-choice"),
        ({}, {"parts": ("speed",)}, "not-a-choice"),
        ({}, {"parts": ("jain_end",)}, "batch-column-empty"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rows, more, code):
    with pytest.raises(DomainError) as refused:
        sweep(given(**rows), **more)
    assert refused.value.code == code
    assert str(refused.value)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_file_of_a_batch_is_drawn(tmp_path, theme):
    base = {
        "rate_bps": 1e7, "rtt_s": 0.04, "buffer_bdp": 1, "end_s": 20, "warm_s": 1,
        "flows": [{"algorithm": "cubic", "stop_s": 20}],
        "requests": [{"request_bytes": 1e4, "stop_s": 20}],
    }  # fmt: skip
    path = tmp_path / "out.jsonl"
    Batch(stack="linux").run(Grid(base, {"buffer_bdp": [1, 2]}), path)
    plot = sweep(table(path), theme=theme)
    found = column(plot, "request_1_p99_s, cubic, theory")
    assert 0.048 < found[0] < found[1], "derived: a round trip and 8 ms at least; a deeper buffer"
    assert "round trip and a full buffer" in svg(plot)
    json.dumps(plot.document().to_json(deferred=False))


SCENARIO = Scenario(
    bottleneck=Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_bdp=1),
    flows=(Flow(algorithm="cubic", stop_s=4.0),),
    requests=(Requests(request_bytes=1e4, stop_s=4.0),),
    end_s=4.0,
)


def result(by, latency_s):
    return Result(
        scenario=SCENARIO, by=by, goodput_bps=np.ones(1), queue_mean_bytes=0.0,
        queue_median_bytes=0.0, queue_p95_bytes=0.0, drop_count=0.0, finish_s=np.full(1, np.nan),
        utilization=1.0, requests=None if latency_s is None else (Latencies(latency_s),),
    )  # fmt: skip


def test_a_distribution_rises_at_each_latency():
    plot = latencies([result("theory", np.array([0.3, 0.1])), result("ns3", None)])
    # derived: two requests: half at 0.1 s, all at 0.3 s
    name = "requests 1 of 10 kB, cubic, theory"
    assert column(plot, name, "x").tolist() == [0.1, 0.1, 0.3, 0.3]
    assert column(plot, name).tolist() == [0.0, 0.5, 0.5, 1.0]
    assert list(plot.sources) == [name]
    assert "2 requests" in plot.description
    assert "median" not in plot.description, "identity: two requests carry no percentile"


def test_of_many_live_requests_some_shares_are_marked():
    plot = latencies([result("live", np.arange(1, 1001) / 1000)])
    x, y = (column(plot, "requests 1 of 10 kB, cubic, live", axis) for axis in "xy")
    # identity: the distribution of 1 to 1000 ms has the share of its latency in seconds
    assert x.tolist() == y.tolist()
    assert (x[0], x[-1], x.size) == (0.001, 1.0, 60)
    assert "1,000 requests, median 500.5 ms (" in plot.description
    assert ", 99th percentile 990 ms (981" in plot.description
    assert isinstance(plot.figure.renderers[0].glyph, Scatter)


def test_a_distribution_of_nothing_is_refused():
    with pytest.raises(DomainError) as refused:
        latencies([result("ns3", None), result("live", np.zeros(0))])
    assert refused.value.code == "no-requests"
    assert str(refused.value)
