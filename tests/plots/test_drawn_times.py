"""What a browser is given of timelines, ladders and truth tables, against hand-made ones."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Scatter, Span
from looking import INK, PALETTE, hovers_of, legend_of

from netcalc.models.delays.store_and_forward import pipeline_timeline
from netcalc.models.hosts.small_writes import write_timeline
from netcalc.plots import ladder, timeline, truth
from netcalc.samples import Table


def some_steps():
    return pipeline_timeline([1500, 1500], bandwidth_bps=[12e6, 6e6], latency_s=[0.003, 0.004],
                             processing_s=0.001)  # fmt: skip


def some_rows():
    data = {"unit": ["s"] * 4, "predicted": [1e-3, 1e-2, 1e-1, 1.0], "measured": [1.3e-3, 1e-2,
            1.02e-1, 1.1], "own_error": [1e-4, 2e-4, 3e-4, 4e-4], "setting": list("abcd"),
            "verdict": ["unexplained", "within", "within", "instrument"],
            "error_ratio": [0.3, 0.0, 0.02, 0.1]}  # fmt: skip
    return Table(data=data)


def test_a_timeline_has_each_box_at_its_node():
    """1500 B over 12 and 6 Mbit/s last 1 and 2 ms, latencies 3 and 4 ms, 1 ms in the router.

    By hand: the router has the first packet from 4 ms on and sends it from 5 to 7 ms; the second
    is there at 5, processed until 6 and sent at 7 ms.
    """
    for theme, palette in PALETTE.items():
        plot = timeline(some_steps(), ["A", "R", "B"], title="Two packets", theme=theme)
        busy, queued = plot.sources["processing"].data, plot.sources["waiting"].data
        router = [i for i, node in enumerate(busy["node"]) if node == "R"]
        assert busy["left"][router] == pytest.approx([0.004, 0.005])
        assert busy["right"][router] == pytest.approx([0.005, 0.006])
        assert [busy["packet"][i] for i in router] == ["1", "2"]
        assert [busy["color"][i] for i in router] == palette[:2]
        waits = [i for i, node in enumerate(queued["node"]) if node == "R"]
        assert queued["packet"] == ["2"] * len(queued["packet"]), "the first waits nowhere"
        assert queued["left"][waits] == pytest.approx([0.006])
        assert queued["right"][waits] == pytest.approx([0.007])
        assert queued["color"] == [palette[1]] * len(queued["color"])
        lane = {"A": 0.0, "R": -1.0, "B": -2.0}
        for data in (busy, queued):
            middle = (np.array(data["bottom"]) + np.array(data["top"])) / 2
            assert middle == pytest.approx([lane[node] for node in data["node"]])
            assert np.array(data["top"]) - data["bottom"] == pytest.approx(0.2)
        packets = plot.sources["packets"].data
        assert packets["link"] == ["A to R", "R to B"] * 2
        assert packets["packet"] == packets["number"] == ["1", "1", "2", "2"]
        assert packets["color"] == [palette[0]] * 2 + [palette[1]] * 2
        assert packets["start_s"] == pytest.approx([0.0, 0.005, 0.001, 0.007])
        assert packets["first_bit_s"] == pytest.approx([0.003, 0.009, 0.004, 0.011])
        assert packets["last_bit_s"] == pytest.approx([0.004, 0.011, 0.005, 0.013])
        assert packets["x"] == pytest.approx([0.002, 0.008, 0.003, 0.010]), "the middle"
        assert packets["y"] == pytest.approx([-0.5, -1.5] * 2)
        legend = legend_of(plot.figure)
        assert list(legend) == ["on the link", "processing", "waiting for the link"]
        assert [entry[0].data_source.name for entry in legend.values()] == [
            "packets", "processing", "waiting",
        ]  # fmt: skip
        assert [entry[0].glyph.fill_color for entry in legend.values()] == ["color"] * 3
        bands, boxes, waiting = (entry[0].glyph for entry in legend.values())
        assert waiting.fill_alpha < bands.fill_alpha < boxes.fill_alpha
        for glyph in (boxes, waiting):
            sides = (glyph.left, glyph.right, glyph.bottom, glyph.top)
            assert sides == ("left", "right", "bottom", "top")
        assert boxes.line_color == INK[theme]
        rows = [("first bit leaves", "start_s", "s"), ("first bit arrives", "first_bit_s", "s"),
                ("last bit arrives", "last_bit_s", "s")]  # fmt: skip
        assert hovers_of(plot.figure) == [
            (["packet on the link"], [("packet", "packet", None), ("link", "link", None), *rows]),
            (["processing", "waiting for the link"],
             [("packet", "packet", None), ("node", "node", None), ("from", "left", "s"),
              ("until", "right", "s")]),
        ]  # fmt: skip
        axis = plot.figure.yaxis[0]
        assert [axis.major_label_overrides[k].text for k in (0.0, -1.0, -2.0)] == ["A", "R", "B"]
        assert axis.ticker.ticks == [0.0, -1.0, -2.0]
        assert plot.figure.ygrid[0].ticker is axis.ticker
        assert axis.axis_label is None
        assert plot.figure.y_range.start < -2.1 < 0.1 < plot.figure.y_range.end


def test_a_timeline_says_when_what_arrives_and_what_is_left_out():
    two = timeline(some_steps(), ["A", "R", "B"])
    assert two.description == (
        "The first of 2 packets is complete at B after 11 ms, the last after 13 ms; "
        "processed after 13 ms."
    )
    one = timeline(pipeline_timeline([1500], bandwidth_bps=[12e6]), description="")
    assert one.description == (
        "The packet is complete at destination after 1 ms; processed after 1 ms."
    )
    routed = timeline(pipeline_timeline([1500], bandwidth_bps=[12e6] * 3))
    labels = routed.figure.yaxis[0].major_label_overrides
    assert [labels[-float(k)].text for k in range(4)] == [
        "source", "router 1", "router 2", "destination",
    ]  # fmt: skip
    # 400 crossings: 400 packets of one link, 133 of three, one of a path of 500 links
    for links, count, drawn in ((1, 400, 400), (1, 401, 400), (3, 134, 133), (500, 2, 1)):
        plot = timeline(pipeline_timeline([1500] * count, bandwidth_bps=[12e6] * links))
        assert len(plot.sources["packets"].data["xs"]) == drawn * links
        note = f" The first {drawn} of {count} packets are drawn."
        assert plot.description.endswith(note) == (drawn < count)
    for count in (12, 13):  # numbers of more packets would overlap
        plot = timeline(pipeline_timeline([1500] * count, bandwidth_bps=[12e6]))
        assert plot.sources["packets"].data["number"][0] == ("1" if count == 12 else "")
    colours = plot.sources["packets"].data["color"]
    assert colours == (PALETTE["light"] * 3)[:13]
    heights = [timeline(pipeline_timeline([1500], bandwidth_bps=[12e6] * n)).figure.height
               for n in (1, 2, 3)]  # fmt: skip
    assert heights[2] - heights[1] == heights[1] - heights[0] > 50, "room for each link"


def test_a_ladder_has_arrows_waits_and_words():
    """Nagle and a delayed acknowledgement of 40 ms, RTT 20 ms, a server of 5 ms; by hand."""
    steps = write_timeline([0.0, 0.0], write_bytes=[100, 100], rtt_s=0.02, server_s=0.005)
    for theme, palette in PALETTE.items():
        plot = ladder(steps, title="A request", theme=theme)
        waits = ["waits for acknowledgement", "holds acknowledgement", "works"]
        arrows = ["segment", "acknowledgement", "response"]
        assert list(plot.sources) == [*arrows, *waits, "labels"]
        legend = legend_of(plot.figure)
        assert list(legend) == arrows + waits
        drawn = [entry[0] for entry in legend.values()]
        assert [one.name for one in drawn] == arrows + waits
        colours = [one.glyph.line_color for one in drawn[:3]]
        colours += [one.glyph.fill_color for one in drawn[3:]]
        assert colours == palette
        assert [one.glyph.line_dash for one in drawn[:3]] == [[], [10, 4], [3, 4]]
        assert [one.glyph.line_width for one in drawn[:3]] == [3] * 3, "as every curve"
        assert [one.glyph.line_color for one in drawn[3:]] == [INK[theme]] * 3
        for one in drawn[3:]:
            glyph = one.glyph
            sides = (glyph.left, glyph.right, glyph.bottom, glyph.top)
            assert sides == ("left", "right", "bottom", "top")
        data = {name: source.data for name, source in plot.sources.items()}
        gap = np.nan
        for name, x, y in (("segment", [0, 10, gap, 60, 70, gap], [0, -1, gap, 0, -1, gap]),
                           ("acknowledgement", [50, 60, gap], [-1, 0, gap]),
                           ("response", [75, 85, gap], [-1, 0, gap])):  # fmt: skip
            assert data[name]["x"] * 1e3 == pytest.approx(np.array(x), nan_ok=True)
            assert data[name]["y"] == pytest.approx(np.array(y), nan_ok=True)
        for name, left, right, lane in (("waits for acknowledgement", [0], [60], 0.0),
                                        ("holds acknowledgement", [10, 70], [50, 75], -1.0),
                                        ("works", [70], [75], -1.0)):  # fmt: skip
            assert data[name]["left"] * 1e3 == pytest.approx(left)
            assert data[name]["right"] * 1e3 == pytest.approx(right)
            assert (data[name]["bottom"] + data[name]["top"]) / 2 == pytest.approx(lane)
            assert (data[name]["top"] > data[name]["bottom"]).all()
        labels = data["labels"]
        said = dict(zip(labels["text"], zip(labels["x"] * 1e3, labels["y"], strict=True),
                        strict=True))  # fmt: skip
        assert said["60 ms"][0] == pytest.approx(30.0)
        assert said["40 ms"][0] == pytest.approx(30.0)
        assert said["5 ms"][0] == pytest.approx(72.5)
        assert 0.1 < said["60 ms"][1] < plot.figure.y_range.end, "outside its lane, in the figure"
        assert plot.figure.y_range.start < said["40 ms"][1] < -1.1
        span = [("from", "left", "s"), ("until", "right", "s")]
        assert hovers_of(plot.figure) == [
            (list(arrows), [("time", "x", "s")]),
            (list(waits), span),
        ]
        names = plot.figure.yaxis[0].major_label_overrides
        assert (names[0.0].text, names[-1.0].text) == ("client", "server")
        assert plot.figure.yaxis[0].ticker.ticks == [0.0, -1.0]
        assert plot.figure.ygrid[0].ticker is plot.figure.yaxis[0].ticker
    assert plot.description == (
        "The response arrives after 85 ms; the request took 2 segments; the client waits for "
        "acknowledgement for 60 ms; the server holds acknowledgement for 40 ms; the server works "
        "for 5 ms; the server holds acknowledgement for 5 ms."
    )


def test_a_ladder_without_waits_or_without_numbers_says_so():
    at_once = write_timeline([0.0], write_bytes=[100], rtt_s=0.02, policy="nodelay", quickack=True)
    plot = ladder(at_once)
    assert plot.description == (
        "The response arrives after 20 ms; the request took 1 segment without a wait."
    )
    assert list(legend_of(plot.figure)) == ["segment", "acknowledgement", "response"]
    assert plot.form != ladder(at_once, title="Another").form
    unknown = write_timeline([0.0], write_bytes=[100], rtt_s=np.nan)
    assert ladder(unknown).description == "No request: a value is not known."
    assert ladder(unknown, description="Mine.").description == "Mine."


def test_the_truth_figures_have_kinds_colours_limits_and_hovers():
    for theme, palette in PALETTE.items():
        plot = truth(some_rows(), title="Truth", theme=theme)
        upper, lower = plot.figure.children
        assert upper.title.text.text == "Truth: times"
        assert upper.yaxis[0].axis_label.text == "measured time"
        assert lower.xaxis[0].axis_label.text == "predicted time"
        assert lower.yaxis[0].axis_label.text == "size of the error"
        legend = legend_of(upper)
        assert list(legend) == ["measured equals predicted", "within 2 %, or its own tolerance",
                                "explained by the instrument", "UNEXPLAINED"]  # fmt: skip
        line, *kinds = (entry[0] for entry in legend.values())
        # from the least to the largest prediction, one to one
        assert line.data_source.data[line.glyph.x].tolist() == [1e-3, 1.0]
        assert line.data_source.data[line.glyph.y].tolist() == [1e-3, 1.0]
        assert (line.glyph.line_color, line.glyph.line_width) == (palette[0], 3)
        assert [one.glyph.marker for one in kinds] == ["circle", "diamond", "x"]
        assert [one.glyph.line_color for one in kinds] == [INK[theme], palette[3], palette[1]]
        assert [(one.glyph.x, one.glyph.y) for one in kinds] == [("x", "y")] * 3
        below = [one for one in lower.renderers if isinstance(one.glyph, Scatter)]
        assert [(one.glyph.x, one.glyph.y) for one in below] == [("x", "size")] * 3
        assert plot.sources["s, within"].data["own_error"].tolist() == [2e-4, 3e-4]
        assert plot.sources["s, instrument"].data["error"].tolist() == [0.1]
        assert plot.sources["s, instrument"].data["setting"] == ["d"]
        limits = [one for one in lower.center if isinstance(one, Span)]
        assert [one.location for one in limits] == [0.02, 0.05]
        assert [one.dimension for one in limits] == ["width"] * 2
        assert limits[0].line_dash != limits[1].line_dash
        assert [one.line_color for one in limits] == palette[:1] * 2
        assert lower.yaxis[0].ticker.ticks == [1e-4, 1e-3, 0.02, 0.05, 0.5]
        assert lower.ygrid[0].ticker is lower.yaxis[0].ticker
        assert (lower.y_range.start, lower.y_range.end) == pytest.approx((1e-4 / 1.5, 0.6))
        rows = [("setting", "setting", None), ("predicted", "x", "s"), ("measured", "y", "s"),
                ("error", "error", "ratio"), ("instrument", "own_error", "s")]  # fmt: skip
        for chart in (upper, lower):
            assert [told for _, told in hovers_of(chart)] == [rows]
        assert upper.xaxis[0].axis_label is None
        assert lower.toolbar_location is None
        assert upper.min_border_left == lower.min_border_left
        assert plot.description == (
            "Truth: 4 times, measured against predicted; unexplained: a +30.0%."
        )


def test_rows_that_a_logarithmic_axis_cannot_show_are_left_out():
    data = {"unit": ["s"] * 4, "predicted": [1.0, 0.0, 1.0, -1.0], "measured": [1.0, 1.0, 0.0, 1.0],
            "own_error": [0.0] * 4, "setting": list("abcd"), "verdict": ["within"] * 4,
            "error_ratio": [0.0] * 4}  # fmt: skip
    plot = truth(Table(data=data))
    assert plot.sources["s, within"].data["setting"] == ["a"]
    assert "1 times" in plot.description
    (empty,) = truth(Table(data={name: [] for name in data})).figure.children
    for limits in (empty.x_range, empty.y_range):
        assert (limits.start, limits.end) == (0.0, 1.0), "bokeh draws no axis without a range"
    assert (empty.xaxis[0].axis_label.text, empty.yaxis[0].axis_label.text) == (
        "predicted", "measured",
    )  # fmt: skip
