"""Figures of several series: each has its fit with band and its residuals, on one x axis."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import GlyphRenderer, LogAxis, Scatter, VArea
from matplotlib.figure import Figure

from netcalc import readers
from netcalc.explain import Known, measurement, table_theory
from netcalc.plots import pictures, style
from netcalc.plots.measured import explained, measured, table_figure
from netcalc.samples import RttSamples

TRIPS_MS = (1, 2, 5, 10, 20, 50, 100, 200)
WINDOWS = {"small": 65536, "large": 262144}


def plot_of(text, stated=None, theme="light"):
    theory = table_theory(readers.read(text), stated or Known(), points_alone=True)
    return table_figure(theory, theme=theme)


def of_windows(*, off=1.0):
    """A window over each round trip, no noise; the large one is off by a factor at 20 ms."""
    rows = [
        f"{host},{trip},{8 * size / trip / 1e3 * (off if (host, trip) == ('large', 20) else 1)}"
        for host, size in WINDOWS.items()
        for trip in TRIPS_MS
    ]
    return "host,rtt [ms],throughput [Mbit/s]\n" + "\n".join(rows) + "\n"


def glyphs(chart, kind):
    drawn = [each for each in chart.renderers if isinstance(each, GlyphRenderer)]
    return [each for each in drawn if isinstance(each.glyph, kind)]


def test_each_series_has_its_fit_its_band_and_its_residuals():
    plot = plot_of(of_windows(off=1.1))
    assert list(plot.sources) == [
        f"{host}, {part}" for host in WINDOWS for part in ("points", "outliers", "curve")
    ]
    for host, size in WINDOWS.items():
        points, curve = (plot.sources[f"{host}, {part}"].data for part in ("points", "curve"))
        rates = [8e3 * size / trip for trip in TRIPS_MS]
        off = [1.1 if (host, trip) == ("large", 20) else 1.0 for trip in TRIPS_MS]
        assert points["measured"] == pytest.approx(np.multiply(rates, off))
        assert points["predicted"] == pytest.approx(rates, rel=0.02)
        assert points["residual"] == pytest.approx(np.subtract(off, 1), abs=0.02)
        assert (curve["x"][0], curve["x"][-1]) == (1e-3, 0.2)
        assert np.all(curve["low"] <= curve["y"])
        assert np.all(curve["y"] <= curve["high"])
    upper, lower = plot.figure.children
    assert len(glyphs(upper, VArea)) == 2
    assert len(glyphs(lower, Scatter)) == 4, "points and outliers of both"
    assert "small: Measured minus predicted" in plot.description


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_series_differ_in_colour_marker_and_dashes(theme):
    plot = plot_of(of_windows(), theme=theme)
    upper, lower = plot.figure.children
    for chart in (upper, lower):
        points = [each.glyph for each in glyphs(chart, Scatter) if each.glyph.marker != "x"]
        assert [each.marker for each in points] == ["circle", "triangle"]
        assert [each.line_color for each in points] == list(style.PALETTES[theme][:2])
    lines = [each.glyph for each in upper.renderers if "Line" in type(each.glyph).__name__]
    assert [each.line_color for each in lines] == list(style.PALETTES[theme][:2])
    assert len({tuple(each.line_dash) for each in lines}) == 2


def test_both_charts_have_one_axis_and_logarithms_from_two_decades_on():
    upper, lower = plot_of(of_windows()).figure.children
    assert lower.x_range is upper.x_range
    assert all(isinstance(chart.xaxis[0], LogAxis) for chart in (upper, lower))
    assert isinstance(upper.yaxis[0], LogAxis)
    near = "host,rtt [ms],throughput [Mbit/s]\n" + "".join(
        f"{host},{trip},{size / trip}\n" for host, size in WINDOWS.items() for trip in (10, 20, 50)
    )
    upper, lower = plot_of(near).figure.children
    kinds = {type(axis).__name__ for axis in (upper.xaxis[0], upper.yaxis[0], lower.xaxis[0])}
    assert kinds == {"LinearAxis"}


def test_a_series_without_a_law_has_points_alone():
    rows = [f"A,{trip},{800 / trip}" for trip in (10, 20, 40, 80)]
    rows += [
        f"B,{trip},{rate}" for trip, rate in zip((10, 20, 40, 80), (5, 90, 7, 60), strict=True)
    ]
    plot = plot_of("host,rtt [ms],throughput [Mbit/s]\n" + "\n".join(rows) + "\n")
    assert np.isfinite(plot.sources["A, points"].data["residual"]).all()
    assert np.isnan(plot.sources["B, points"].data["residual"]).all()
    upper, _ = plot.figure.children
    assert len(glyphs(upper, Scatter)) == 2
    assert len([each for each in upper.renderers if "Line" in type(each.glyph).__name__]) == 1


def test_a_ceiling_of_all_series_is_drawn_once_and_limits_each():
    plot = plot_of(of_windows(), Known(line_bps=100e6))
    assert {"small, points", "large, points", "the line"} <= set(plot.sources)
    ceiling = plot.sources["the line"].data["y"][0]
    assert 90e6 < ceiling < 100e6
    assert plot.sources["large, curve"].data["y"].max() == pytest.approx(ceiling)


def test_the_picture_has_frames_of_one_width_and_range(tmp_path, monkeypatch):
    sheets = []
    saved = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda sheet, *args, **more: sheets.append(sheet)
        or saved(sheet, *args, **more),
    )  # fmt: skip
    pictures.save_picture(plot_of(of_windows()), tmp_path / "a.png")
    upper, lower = sheets[0].axes
    assert upper.get_xlim() == lower.get_xlim()
    first, second = upper.get_position(), lower.get_position()
    assert (first.x0, first.x1) == pytest.approx((second.x0, second.x1))
    assert upper.get_xlim()[0] < 1e-3 < 0.2 < upper.get_xlim()[1], "whole markers at both ends"


def rates_of(text):
    plot = measured(readers.read(text), Known())
    return plot, {
        name: (np.asarray(source.data["x"]).tolist(), np.asarray(source.data["y"]).tolist())
        for name, source in plot.sources.items()
    }


def test_rates_of_several_flows_over_time():
    """In rows with the name of the flow, and in columns of each; times of a clock begin at zero."""
    rows = "time [s],flow,rate [Mbit/s]\n1700000000,A,94\n1700000001,A,47\n1700000001,B,46\n"
    plot, points = rates_of(rows)
    assert points == {"A, rate": ([0, 1], [94e6, 47e6]), "B, rate": ([1], [46e6])}
    colors = [each.glyph.line_color for each in glyphs(plot.figure, Scatter)]
    assert colors == list(style.PALETTES["light"][:2])
    _, points = rates_of("t (s),A (Mbit/s),B (Mbit/s)\n0,94,0\n1,47,46\n")
    assert points == {"A": ([0, 1], [94e6, 47e6]), "B": ([0, 1], [0, 46e6])}


def test_limits_far_above_the_points_do_not_press_them_onto_the_axis():
    """32 flows of 12 Mbit/s would be 384; the line is full at 94."""
    rows = "".join(f"{count},{min(94, 12 * count)}\n" for count in (1, 2, 4, 8, 16, 32))
    plot = plot_of("Parallel flows,throughput [Mbit/s]\n" + rows)
    alone = plot.sources["flows alike"].data["y"]
    assert np.nanmax(alone) <= 1.25 * 94e6
    assert plot.sources["points"].data["residual"] == pytest.approx(0, abs=1)


def test_times_against_sizes_with_a_step_are_drawn_with_their_explanation():
    """100 Mbit/s and 0.2 ms; 0.3 ms more above 4096 B."""
    sizes = (64, 512, 1024, 2048, 3072, 4096, 4608, 5120, 6144, 7168, 8192)
    rows = "".join(f"{size},{200 + size * 0.08 + 300 * (size > 4096)}\n" for size in sizes)
    samples = readers.read("size [B],time [us]\n" + rows)
    findings = measurement(samples, Known())
    assert any("Times step up by 300" in str(notice) for notice in findings[0].notices)
    points = explained(samples, findings).sources["points"].data
    assert points["residual"] == pytest.approx(0, abs=1e-6)


def test_probes_of_several_sizes_have_their_fit_above_the_parts_of_the_time():
    sizes = (56.0, 500.0, 1000.0, 1400.0)
    samples = RttSamples(payload_bytes=sizes, rtt_s=[2e-3 + size * 1.6e-6 for size in sizes])
    plot = explained(samples, measurement(samples, Known()))
    assert plot.sources["points"].data["residual"] == pytest.approx(0, abs=1e-6)
    assert len(plot.figure.children) == 2


@pytest.mark.parametrize(("rates", "starts"), [
    ((2.4, 4.7, 9.1, 9.4, 9.4), (0.0, 0.0)), ((9.0, 9.1, 9.1, 9.2, 9.3), (0.0, None)),
])  # fmt: skip
def test_an_axis_begins_at_0_where_values_come_near_it(rates, starts):
    rows = "".join(f"{2**n},{rate}\n" for n, rate in enumerate(rates))
    upper, _ = plot_of("streams,throughput [Gbit/s]\n" + rows).figure.children
    for axis, start in zip((upper.x_range, upper.y_range), starts, strict=True):
        assert axis.start == start or (start is None and np.isnan(axis.start))


def test_points_at_the_ends_of_an_axis_of_logarithms_are_whole():
    """Five hundredths of the axis of two decades on both sides are a factor of 1.26."""
    upper, _ = plot_of(of_windows()).figure.children
    low, high = pictures.limits(upper.renderers, upper.x_range, "x", log=True)
    factor = (0.2 / 1e-3) ** 0.05
    assert (low, high) == pytest.approx((1e-3 / factor, 0.2 * factor))
