"""What a browser is given: columns, units, colours, legends and hovers, against what was asked."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import HoverTool, Scatter
from looking import INK, PALETTE, hovers_of, legend_of

from netcalc import compare
from netcalc.errors import DomainError
from netcalc.explain import Known
from netcalc.path import Path
from netcalc.plots import Axis, curves, overlay
from netcalc.plots.measured import measured
from netcalc.plots.plot import ready, thinned_note
from netcalc.plots.style import hover_formatter, tick_formatter
from netcalc.samples import RttSamples, TransferSamples

SIZE, TIME = Axis("size", "byte"), Axis("transfer time", "s")
HEIGHT, ROW = 360, 22  # of a figure without its legend, and of a row of the legend, in pixels


def some_comparison():
    size = np.arange(100.0, 1500.0, 100.0)
    rtt = 0.03 + size * 1e-5 + 1e-5 * np.sin(size)
    rtt[5] += 0.01
    return compare.overlay(RttSamples(payload_bytes=size, rtt_s=rtt), title="A ping")


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
        assert hovers_of(plot.figure) == [(list(legend), rows)]
        assert plot.figure.title.text.text == "Flows"
        assert plot.theme == theme


def test_a_wrong_theme_or_scale_is_refused_before_anything_is_drawn():
    with pytest.raises(DomainError, match="theme"):
        curves([1.0], {"a": [1.0]}, x_axis=SIZE, y_axis=TIME, theme="blue")
    with pytest.raises(DomainError, match="scale"):
        Axis("size", "byte", "logarithmic")


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
        assert points.glyph.size == 2 * 5, "a circle of 5 pixels, as in the picture"
        assert outliers.glyph.size > points.glyph.size, "a cross has no area"
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
            ([comparison.predicted_label, *beside], read),
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


def test_a_page_that_changes_its_width_changes_ticks_title_and_legend():
    """What the scripts of a figure are given: its own parts, and the sizes of a legend's row."""
    plot = curves([1.0, 2.0], {"a long name": [1.0, 2.0], "b": [np.nan, 1.0]}, title="Some title",
                  points={"run": ([], [])}, x_axis=SIZE, y_axis=TIME)  # fmt: skip
    chart = plot.figure
    scripts = [one.args for one in chart.js_property_callbacks["change:inner_width"]]
    ticks, title, legend = scripts
    assert ticks["ticker"] is chart.xaxis[0].ticker
    assert ticks["formatter"] is chart.xaxis[0].formatter
    assert chart.xaxis[0].ticker.desired_num_ticks == 6, "until the width is known"
    assert (title["title"], title["whole"]) == (chart.title, "Some title")
    assert chart.title.text_font_size == "17px"
    (drawn,) = chart.above
    assert (legend["legend"], legend["chart"]) == (drawn, chart)
    assert (legend["height"], legend["row"]) == (HEIGHT, ROW)
    # 14 pixels high letters are 8 wide on average; then the key and the gaps around both
    assert drawn.label_width == 8 * len("a long name")
    assert drawn.label_width + drawn.glyph_width < legend["column"] <= drawn.label_width + 60
    assert drawn.label_height + drawn.spacing <= ROW
    assert drawn.label_height >= 14, "room for its letters"
    assert drawn.label_text_font_size == "14px"
    assert [one.visible for one in drawn.items] == [True, True, False], "no entry without a mark"
    assert (drawn.border_line_alpha, drawn.background_fill_alpha) == (0, 0)
    assert (drawn.click_policy, drawn.ncols) == ("hide", 1)
    for marks, item in zip(legend["marks"], drawn.items, strict=True):
        (source, columns), (renderer,) = marks[0], item.renderers
        assert source is renderer.data_source
        assert columns == ["x", "y"]
    for source in plot.sources.values():
        assert len(source.js_property_callbacks["change:data"]) == 1, "new numbers fit the legend"
    assert chart.min_border_right >= 30, "half of the last tick label"
    for tool in chart.tools:
        if isinstance(tool, HoverTool):
            assert (tool.visible, tool.mode, tool.line_policy) == (False, "mouse", "nearest")


def test_replaced_columns_are_drawable_and_of_one_length():
    x = np.array([1.0, 2.0])
    plot = curves(x, {"a": x}, x_axis=SIZE, y_axis=TIME)
    new = plot.replace("a", x=[1, 2, 3], y=[4.0, np.inf, 6.0])
    assert new["y"][[0, 2]].tolist() == [4, 6]
    assert np.isnan(plot.sources["a"].data["y"][1])
    assert plot.sources["a"].data["x"].tolist() == [1, 2, 3]
    assert plot.document() is plot.document()


def test_times_over_decades_are_drawn_on_logarithmic_axes():
    """Each group of a file has a fit; residuals are shares, so that small times are seen, too."""
    size = np.tile(8.0 ** np.arange(10), 2)
    time = np.repeat([1e-6, 1e-5], 10) + size / 1e9
    time[3] *= 1.25
    group = np.repeat(["one", "other"], 10)
    transfers = TransferSamples(payload_bytes=size, duration_s=time, group=group)
    plot = measured(transfers, Known())
    upper, lower = plot.figure.children
    assert (type(upper.xaxis[0]).__name__, type(upper.yaxis[0]).__name__) == ("LogAxis",) * 2
    assert type(lower.yaxis[0]).__name__ == "LinearAxis"
    assert [name.partition(":")[0] for name in legend_of(upper)] == ["one", "other"]
    assert lower.x_range is upper.x_range
    points = {
        name: np.concatenate(
            [plot.sources[f"one, {part}"].data[name] for part in ("points", "outliers")]
        )
        for name in ("x", "residual")
    }
    odd = points["residual"][points["x"] == 512.0]
    assert odd == pytest.approx([0.25], rel=0.05)
    assert plot.sources["other, points"].data["residual"] == pytest.approx(0, abs=1e-6)
    assert plot.sources["one, curve"].data["x"][0] == 1.0, "from the smallest size on"
    near = TransferSamples(payload_bytes=[1e6, 2e6, 4e6], duration_s=[1.0, 2.1, 4.0])
    upper, _ = measured(near, Known()).figure.children
    assert type(upper.xaxis[0]).__name__ == "LinearAxis"
