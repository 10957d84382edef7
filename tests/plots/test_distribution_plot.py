"""The figure of a distribution: its bars hold every draw, its lines are the percentiles."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import plots
from netcalc.errors import DomainError

AXIS = plots.Axis("transfer", "s")


def bars_of(samples, **more):
    plot = plots.distribution(samples, axis=AXIS, percentiles={}, **more)
    data = plot.sources["draws"].data
    return plot, *(np.asarray(data[name]) for name in ("left", "right", "top"))


def test_the_bars_hold_all_draws():
    """Identity: shares sum to 1; of a uniform sample they are equal."""
    samples = np.linspace(80, 100, 6001)
    plot, left, right, top = bars_of(samples)
    assert top.sum() == pytest.approx(1.0)
    assert (left[0], right[-1]) == (80, 100)
    assert top == pytest.approx(1 / 60, rel=0.02)
    assert plot.figure is not None


def test_lines_are_at_the_percentiles_and_in_the_text():
    samples = np.arange(101.0)
    plot = plots.distribution(
        samples, axis=AXIS, percentiles={5: 5.0, 50: 50.0, 95: 95.0}, title="Time"
    )
    assert list(plot.sources) == ["draws", "p5: 5 s", "median: 50 s", "p95: 95 s"]
    for name, at in (("p5: 5 s", 5), ("median: 50 s", 50), ("p95: 95 s", 95)):
        assert list(plot.sources[name].data["x"]) == [at, at]
        assert name in plot.description
    assert plots.svg(plot).startswith("<svg ")


def test_few_values_have_a_bar_each():
    _, left, right, top = bars_of(np.repeat([1.0, 2.0, 4.0], [5, 3, 2]))
    middle = (left + right) / 2
    drawn = {round(float(m), 6): float(t) for m, t in zip(middle, top, strict=True) if t}
    assert drawn == pytest.approx({1.0: 0.5, 2.0: 0.3, 4.0: 0.2})


def test_a_long_tail_is_cut_off_and_said():
    """Derived: half a percent of a heavy tail on one side."""
    share = (np.arange(10_000) + 0.5) / 10_000
    samples = 1.0 / (1.0 - share)
    plot, _, right, top = bars_of(samples)
    assert right[-1] < samples.max() / 10
    cut = float((samples > right[-1]).mean())
    assert top.sum() == pytest.approx(1 - cut)
    assert "outside the figure" in plot.description


def test_infinite_draws_are_left_out_of_the_bars_but_count():
    _, _, _, top = bars_of(np.array([1.0, 2.0, np.inf, np.nan]))
    assert top.sum() == pytest.approx(0.5)
    with pytest.raises(DomainError) as caught:
        bars_of([np.inf, np.nan])
    assert caught.value.code == "nothing-finite"
