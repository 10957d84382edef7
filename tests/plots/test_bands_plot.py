"""The band of a formula over one argument: its sources, its axis, and it as a picture."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Title, VArea

from netcalc import calculator, plots, uncertain


def drawn(name, over, values, inputs, given, **more):
    wanted = calculator.formula(name)
    parameter = wanted.parameter(over)
    found = calculator.bands_over(wanted, given, inputs, over=over, values=values)["result"]
    return found, plots.bands(wanted, {"": found}, parameter, given, inputs, **more)


WAIT = ("mm1-wait", "utilization")
SERVICE = {"service_s": uncertain.uniform(1e-3, 2e-3)}


def test_the_source_has_the_median_and_the_outer_percentiles():
    found, plot = drawn(*WAIT, np.linspace(0.1, 0.9, 9), SERVICE, {})
    columns = plot.sources["median"].data
    # identity: what was computed
    for column, percent in (("low", 5.0), ("y", 50.0), ("high", 95.0)):
        assert columns[column] == pytest.approx(found.percentiles[percent])
    (area,) = [one.glyph for one in plot.figure.renderers if isinstance(one.glyph, VArea)]
    assert (area.y1, area.y2) == ("low", "high")


def test_the_caption_has_the_ranges_and_the_draws():
    _, plot = drawn(*WAIT, np.linspace(0.1, 0.9, 9), SERVICE, {})
    said = [one.text.text for one in plot.figure.below if isinstance(one, Title)]
    assert "service 1 ms..2 ms" in said
    assert said[-1] == "Band: p5 to p95 of 10,000 draws, the same at each point."


def test_an_infinite_percentile_is_beyond_the_axis():
    _, plot = drawn(*WAIT, np.array([0.5, 0.8, 1.0]), SERVICE, {})
    high = plot.sources["median"].data["high"]
    assert high[-1] > plot.figure.y_range.end > high[1]


def test_a_staircase_is_drawn_in_steps():
    inputs = {"initial_window_segments": uncertain.empirical([10.0, 10.0])}
    _, plot = drawn("rounds", "segments", np.linspace(1, 400, 400), inputs, {})
    y = np.asarray(plot.sources["median"].data["y"])
    x = np.asarray(plot.sources["median"].data["x"])
    rises = np.flatnonzero(np.diff(y))
    assert (np.diff(x)[rises] == 0).all()  # straight up
    # published: windows of 10, 20, 40 ... hold 10, 30, 70, 150, 310 segments
    assert x[rises].tolist() == [11, 31, 71, 151, 311]


def test_a_logarithmic_sweep_has_two_logarithmic_axes():
    given = {"mss_bytes": 1460.0}
    inputs = {"rtt_s": uncertain.uniform(0.01, 0.02)}
    values = np.geomspace(1e-4, 1e-2, 9)
    _, plot = drawn("mathis-throughput", "loss_ratio", values, inputs, given, logarithmic=True)
    assert [type(axis).__name__ for axis in (*plot.figure.xaxis, *plot.figure.yaxis)] == [
        "LogAxis", "LogAxis",
    ]  # fmt: skip


def test_a_picture_of_a_plan_has_both_figures(tmp_path):
    from matplotlib import image

    from netcalc import planning

    page = planning.transfer(1e9, bandwidth_bps=uncertain.uniform(8e7, 1e8), rtt_s=0.03)
    plot = plots.plan(page)
    plots.save_picture(plot, tmp_path / "a.png")
    height, width, _ = image.imread(tmp_path / "a.png").shape
    assert width == 1200  # derived: 8 inches of 150 dots
    heights = [one.height for one in plot.figure.children]
    # derived: both figures of a page, which has 82 pixels in an inch; rows of a legend are lower
    assert 0.8 < height / (sum(heights) / 82 * 150) <= 1.01


def test_two_pictures_of_one_figure_are_the_same(tmp_path):
    _, plot = drawn(*WAIT, np.linspace(0.1, 0.9, 9), SERVICE, {})
    for name in ("a.png", "b.png", "a.svg", "b.svg"):
        plots.save_picture(plot, tmp_path / name)
    for form in ("png", "svg"):
        first, second = (tmp_path / f"{name}.{form}" for name in "ab")
        assert first.read_bytes() == second.read_bytes()


def test_one_percentile_is_a_line():
    wanted, parameter = calculator.formula("mm1-wait"), None
    parameter = wanted.parameter("utilization")
    found = calculator.bands_over(
        wanted, {}, SERVICE, over="utilization", values=np.array([0.5, 0.9]), percentiles=[50.0]
    )["result"]
    plot = plots.bands(wanted, {"": found}, parameter, {}, SERVICE)
    columns = plot.sources["median"].data
    # derived: rho / (1 - rho) times the median service of 1.5 ms
    assert columns["y"] == pytest.approx([1.5e-3, 13.5e-3], rel=1e-3)
