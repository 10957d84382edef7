"""What a browser is given: columns, units, colours, legends and hovers, against what was asked."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import HoverTool, Legend, Scatter, Span

from netcalc import compare
from netcalc.models.delays.store_and_forward import pipeline_timeline
from netcalc.models.hosts.write_timeline import write_timeline
from netcalc.path import Path
from netcalc.plots import Axis, curves, ladder, overlay, timeline, truth
from netcalc.plots.plot import ready, thinned_note
from netcalc.plots.style import hover_formatter, tick_formatter
from netcalc.samples import RttSamples, Table

# Okabe and Ito, Color Universal Design (2008), as named there
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
PALETTE = {
    "light": [BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY],
    "dark": [SKY, ORANGE, GREEN, PURPLE, YELLOW, VERMILION],
}
INK = {"light": "#000000", "dark": "#ffffff"}
SIZE, TIME = Axis("size", "byte"), Axis("transfer time", "s")
HEIGHT, ROW = 360, 22  # of a figure without its legend, and of a row of the legend, in pixels


def legend_of(chart):
    (legend,) = [one for one in chart.above if isinstance(one, Legend)]
    return {item.label.value: item.renderers for item in legend.items}


def hovers_of(chart):
    """For each hover: the names of what it follows, and what, column and suffix of each row."""
    found = []
    for tool in chart.tools:
        if isinstance(tool, HoverTool):
            rows = []
            for what, template in tool.tooltips:
                formatter = tool.formatters.get(template.replace("{custom}", ""))
                suffix = formatter.args["suffix"] if formatter else None
                rows.append((what, template.strip("@").partition("}")[0].strip("{"), suffix))
            assert rows.pop(0) == ("", "$name", None)
            found.append(([one.name for one in tool.renderers], rows))
    return found


def some_comparison():
    size = np.arange(100.0, 1500.0, 100.0)
    rtt = 0.03 + size * 1e-5 + 1e-5 * np.sin(size)
    rtt[5] += 0.01
    return compare.overlay(RttSamples(payload_bytes=size, rtt_s=rtt), title="A ping")


def some_steps():
    return pipeline_timeline([1500, 1500], bandwidth_bps=[12e6, 6e6], latency_s=[0.003, 0.004],
                             processing_s=0.001)  # fmt: skip


def some_rows():
    data = {"unit": ["s"] * 4, "predicted": [1e-3, 1e-2, 1e-1, 1.0], "measured": [1.3e-3, 1e-2,
            1.02e-1, 1.1], "own_error": [1e-4, 2e-4, 3e-4, 4e-4], "setting": list("abcd"),
            "verdict": ["unexplained", "within", "within", "instrument"],
            "error_ratio": [0.3, 0.0, 0.02, 0.1]}  # fmt: skip
    return Table(data=data)


def test_curves_have_colours_dashes_and_names_in_turn():
    x = np.array([1.0, 2.0, 3.0])
    names = [f"flow {number}" for number in range(8)]
    dashes = [[], [10, 4], [3, 4], [10, 4, 3, 4], [16, 5], [6, 3, 2, 3, 2, 3], [], [10, 4]]
    for theme, palette in PALETTE.items():
        sets = {f"set {number}": (x, -x) for number in range(8)}
        plot = curves(x, {name: x * k for k, name in enumerate(names)}, points=sets, x_axis=SIZE,
                      y_axis=TIME, title="Flows", theme=theme)  # fmt: skip
        assert list(plot.sources) == names + list(sets)
        legend = legend_of(plot.figure)
        assert list(legend) == names + list(sets)
        assert plot.figure.height == HEIGHT + 16 * ROW
        for k, name in enumerate(names):
            (line,) = legend[name]
            assert (line.name, line.data_source) == (name, plot.sources[name])
            assert line.glyph.line_color == (palette * 2)[k]
            assert (line.glyph.line_dash, line.glyph.line_width) == (dashes[k], 3)
            drawn = line.data_source.data
            assert drawn[line.glyph.x].tolist() == x.tolist()
            assert drawn[line.glyph.y].tolist() == (x * k).tolist()
        shapes = ["circle", "triangle", "square", "diamond", "inverted_triangle", "star", "circle",
                  "triangle"]  # fmt: skip
        for shape, name in zip(shapes, sets, strict=True):
            (points,) = legend[name]
            assert isinstance(points.glyph, Scatter)
            assert points.glyph.marker == shape
            assert points.glyph.line_color == points.glyph.fill_color == INK[theme]
            assert points.data_source.data[points.glyph.x].tolist() == x.tolist()
            assert points.data_source.data[points.glyph.y].tolist() == (-x).tolist()
        rows = [("size", "x", "B"), ("transfer time", "y", "s")]
        assert hovers_of(plot.figure) == [([name], rows) for name in legend]
        assert plot.figure.title.text.text == "Flows"
        assert plot.theme == theme


def test_the_words_of_curves_name_both_ends_of_what_is_known():
    plot = curves([100.0, 200.0, 1000.0, 2000.0],
                  {"known": [0.02, 0.03, 0.04, 0.05], "part": [np.nan, 0.001, 0.002, np.inf],
                   "unknown": [np.nan] * 4},
                  points={"run": ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])},
                  x_axis=SIZE, y_axis=TIME)  # fmt: skip
    assert plot.description == (
        "transfer time against size. known: 20 ms at 100 B, 50 ms at 2000 B; "
        "part: 1 ms at 200 B, 2 ms at 1000 B; run: 3 points."
    )
    named = curves([1.0], {"a": [1.0]}, x_axis=SIZE, y_axis=TIME, title="Times")
    assert named.description.startswith("Times. a: 1 s at 1 B")
    said = curves([1.0], {"a": [1.0]}, x_axis=SIZE, y_axis=TIME, description="My own words.")
    assert said.description == "My own words."


def test_an_axis_carries_name_unit_scale_range_and_fonts():
    for scale in ("linear", "log"):
        x_axis, y_axis = Axis("size", "byte", scale, 1.0, 9.0), Axis("rate", "bit/s", scale)
        chart = curves([1.0, 9.0], {"a": [1.0, 2.0]}, x_axis=x_axis, y_axis=y_axis).figure
        for axis, label in ((chart.xaxis[0], "size"), (chart.yaxis[0], "rate [bit/s]")):
            assert axis.axis_label.text == label
            assert type(axis).__name__ == ("LogAxis" if scale == "log" else "LinearAxis")
            assert (axis.axis_label_text_font_size, axis.major_label_text_font_size) == (
                "16px", "14px",
            )  # fmt: skip
            assert axis.axis_label_text_font_style == "normal"
            assert axis.axis_label_text_font == axis.major_label_text_font
            assert axis.axis_label_text_font.startswith("Helvetica")
        assert (chart.x_range.start, chart.x_range.end) == (1.0, 9.0)
        assert (chart.xaxis[0].formatter.args["unit"], chart.yaxis[0].formatter.args["unit"]) == (
            "byte", "bit/s",
        )  # fmt: skip
        assert chart.y_range.range_padding == 0.05
        assert chart.toolbar.logo is None
        assert [type(tool).__name__ for tool in chart.tools][:4] == [
            "PanTool", "BoxZoomTool", "ResetTool", "SaveTool",
        ]  # fmt: skip
        assert chart.toolbar.active_drag is None, "a finger scrolls the page, not the figure"
        assert chart.toolbar.active_scroll is None
        assert "Math.max(...ticks" in chart.xaxis[0].formatter.code or scale == "log"


UNITS = [
    # unit, suffix on a tick, suffix in a hover, whole numbers, no prefix below 10,000, largest
    ("byte", "B", "B", True, True, 1e12),
    ("bit", "bit", "bit", True, False, 1e12),
    ("s", "s", "s", False, False, 1.0),
    ("m", "m", "m", False, False, 1e3),
    ("bit/s", "", "bit/s", True, False, 1e12),
    ("packet/s", "", "pps", True, True, 1e12),
    ("s/byte", "", "s/B", False, False, 1.0),
    ("1", "", "1", False, False, 1e12),
]


@pytest.mark.each(("unit", "short", "long", "whole", "counted", "largest"), UNITS)
def test_the_prefixes_of_each_unit(unit, short, long, whole, counted, largest):
    """No millibytes, no kiloseconds, and 1500 B rather than 1.5 kB; as on paper."""
    for formatter, suffix in ((tick_formatter(unit, "log"), short), (hover_formatter(unit), long)):
        wanted = {"unit": unit, "suffix": suffix, "whole": whole, "counted": counted,
                  "largest": largest}  # fmt: skip
        assert {name: formatter.args[name] for name in wanted} == wanted
        assert formatter.args["width"] > 1e6, "every tick has its label until the page is known"


def test_thinned_columns_keep_every_nth_value():
    """At most 5000 points of a curve and 100,000 of a figure, at least 2 of each curve."""
    for count, curves_, step in ((5000, 1, 1), (5001, 1, 2), (10_000, 1, 2), (10_001, 1, 3),
                                 (5000, 20, 1), (5000, 21, 2), (5000, 40, 2), (1000, 100_000, 500),
                                 (0, 1, 1), (2, 10**6, 1), (5000, 0, 1)):  # fmt: skip
        x = np.arange(count, dtype=float)
        drawn = ready({"x": x, "y": -x}, source_count=curves_)
        assert drawn["x"].tolist() == x[::step].tolist()
        assert drawn["y"].tolist() == (-x[::step]).tolist()
        note = thinned_note(count, source_count=curves_)
        shown = len(range(0, count, step))
        assert note == ("" if step == 1 else f"{shown:,} of {count:,} points are drawn.")


def test_columns_of_any_kind_are_drawable():
    drawn = ready({"a": [1, 2], "b": [True, False], "c": [np.inf, 1.0], "d": 3.0,
                   "e": np.array(["x", "y\x07"]), "f": ["x", "\x1b"], "g": [[1.0], [2.0]],
                   "h": []})  # fmt: skip
    assert drawn["a"].dtype == drawn["b"].dtype == np.float64
    assert np.array_equal(drawn["c"], [np.nan, 1.0], equal_nan=True)
    assert drawn["d"].tolist() == [3.0]
    assert drawn["e"][0] == drawn["f"][0] == "x"
    assert all(column[1].isprintable() for column in (drawn["e"], drawn["f"]))
    assert drawn["g"] == [[1.0], [2.0]]
    assert len(drawn["h"]) == 0


def test_an_overlay_draws_the_comparison_and_its_residuals():
    comparison = some_comparison()
    beside = {f"book {k}": ([1.0 + k], [0.1]) for k in range(6)}
    for theme, palette in PALETTE.items():
        plot = overlay(comparison, beside=beside, theme=theme)
        upper, lower = plot.figure.children
        assert upper.title.text.text == "A ping"
        legend = legend_of(upper)
        labels = [comparison.measured_label, comparison.predicted_label]
        assert list(legend) == [
            *labels, "95% band of the prediction", "not in the fit", *beside,
        ]  # fmt: skip
        points, curve, band, outliers = (entry[0] for entry in list(legend.values())[:4])
        assert (points.glyph.y, points.glyph.marker) == ("measured", "circle")
        assert (outliers.glyph.y, outliers.glyph.marker) == ("measured", "x")
        assert (band.glyph.x, band.glyph.y1, band.glyph.y2) == ("x", "low", "high")
        assert (curve.glyph.x, curve.glyph.y, curve.glyph.line_width) == ("x", "y", 3)
        assert [curve.glyph.line_color, band.glyph.fill_color] == palette[:1] * 2
        assert band.glyph.fill_alpha < 0.5, "the curve is seen through its band"
        assert points.glyph.line_color == INK[theme]
        assert outliers.glyph.line_color == palette[1]
        assert outliers.glyph.size > points.glyph.size >= 8, "a cross has no area"
        assert outliers.glyph.line_width > points.glyph.line_width >= 1
        others = [legend[name][0].glyph for name in beside]
        assert [one.marker for one in others] == [
            "triangle", "square", "diamond", "inverted_triangle", "star", "triangle",
        ]  # fmt: skip
        assert [one.line_color for one in others] == [*palette[2:], *palette[2:4]]
        data = plot.sources["points"].data
        kept = ~comparison.outlier
        for name in ("x", "measured", "predicted", "residual"):
            assert data[name].tolist() == getattr(comparison, name)[kept].tolist()
        assert data["residual"] == pytest.approx(data["measured"] - data["predicted"])
        band_data = plot.sources["curve"].data
        assert (band_data["low"] < band_data["y"]).all()
        assert (band_data["y"] < band_data["high"]).all()
        assert not band_data["zero"].any()
        size = lower.xaxis[0].axis_label.text
        assert size == comparison.x_name
        shown = [(size, "x", "B"), ("measured", "measured", "s"),
                 ("predicted", "predicted", "s"), ("residual", "residual", "s")]  # fmt: skip
        read = [(size, "x", "B"), ("round-trip time", "y", "s")]
        assert hovers_of(upper) == [
            *(([name], read) for name in beside),
            ([comparison.predicted_label], read),
            ([comparison.measured_label, "not in the fit"], shown),
        ]
        assert hovers_of(lower) == [(["points", "outliers"], shown)]
        assert upper.height == HEIGHT + ROW * len(legend)
        assert lower.height < HEIGHT / 1.5, "the lesser of the two"
        assert lower.x_range is upper.x_range
        assert upper.min_border_left == lower.min_border_left >= 80, "one above the other"
        assert lower.toolbar_location is None
        assert upper.xaxis[0].axis_label is None
        assert lower.yaxis[0].axis_label.text == "residual"
        zero, kept_points, left_out = lower.renderers
        assert zero.glyph.line_width < curve.glyph.line_width
        assert zero.glyph.line_width >= 2
        assert (zero.glyph.y, kept_points.glyph.y, left_out.glyph.y) == (
            "zero", "residual", "residual",
        )  # fmt: skip
        assert [one.glyph.line_color for one in lower.renderers] == [
            palette[0], INK[theme], palette[1],
        ]  # fmt: skip
        assert (kept_points.glyph.marker, left_out.glyph.marker) == ("circle", "x")
        assert lower.y_range.renderers == [zero, kept_points]


def test_an_overlay_without_a_fit_has_neither_band_nor_outliers():
    samples = RttSamples(payload_bytes=[100.0, 1000.0], rtt_s=[0.011, 0.02])
    comparison = compare.overlay(samples, path=Path.parse("T1 5 ms"), title="No fit")
    plot = overlay(comparison, title="", x_scale="log", y_scale="log")
    upper, lower = plot.figure.children
    assert list(legend_of(upper)) == [comparison.measured_label, comparison.predicted_label]
    assert upper.title.text.text == ""
    assert (type(upper.xaxis[0]).__name__, type(upper.yaxis[0]).__name__) == ("LogAxis",) * 2
    assert (type(lower.xaxis[0]).__name__, type(lower.yaxis[0]).__name__) == (
        "LogAxis", "LinearAxis",
    )  # fmt: skip
    assert plot.description == comparison.sentence
    nothing = overlay(compare.overlay(RttSamples(payload_bytes=[], rtt_s=[]))).figure.children[0]
    assert (nothing.x_range.start, nothing.x_range.end) == (0, 1500), "a packet of an Ethernet"
    assert (nothing.y_range.start, nothing.y_range.end) == (0, 1)
    one = RttSamples(payload_bytes=[100.0], rtt_s=[0.011])
    one = overlay(compare.overlay(one, path=Path.parse("T1 5 ms")))
    assert len(one.figure.children) == 2, "one point has a residual too"
    assert len(one.sources["points"].data["residual"]) == 1
    forms = {plot.form, overlay(comparison).form, overlay(some_comparison()).form,
             overlay(comparison, title="").form,
             overlay(comparison, theme="dark").form}  # fmt: skip
    assert len(forms) == 5


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
            *(([name], [("time", "x", "s")]) for name in arrows),
            *(([name], span) for name in waits),
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
        assert line.glyph.line_color == palette[0]
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
