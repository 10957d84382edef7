"""Robust statistics against sorting by hand, numpy, scipy, and wild points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.measuring import sample_statistics


@pytest.mark.each(
    ("values", "expected", "source"),
    [
        ([30, 10, 20, 50, 40], 30, "derived: the middle of five"),
        ([100, 40, 50, 45], 47.5, "derived: the mean of the middle two"),
        ([7], 7, "identity"),
    ],
)
def test_median(values, expected, source):
    assert sample_statistics.median(values) == expected, source


@pytest.mark.each("count", [1, 2, 3, 10, 101])
def test_percentile_against_numpy(count):
    """Second method: numpy's own, which interpolates the same way."""
    values = np.random.default_rng(count).exponential(1.0, count)
    quantile = [0.0, 0.01, 0.5, 0.9, 0.99, 1.0]
    computed = sample_statistics.percentile(values, quantile=quantile)
    np.testing.assert_allclose(computed, np.quantile(values, quantile), rtol=1e-13)
    assert sample_statistics.percentile(values, quantile=0.5) == pytest.approx(
        float(sample_statistics.median(values))
    )


def test_spread_of_a_normal_distribution():
    """Published: Hampel 1974; the MAD times 1.4826 is the standard deviation. 0.5 % by chance."""
    values = np.random.default_rng(1).normal(5.0, 2.0, 100_001)
    spread = sample_statistics.median_absolute_deviation(values, scale=sample_statistics.MAD_TO_STD)
    assert spread == pytest.approx(2.0, rel=0.02)
    assert pytest.approx(1 / ndtri(0.75), rel=1e-14) == sample_statistics.MAD_TO_STD


@pytest.mark.each("count", [2, 3, 15, 120, 1500])
def test_theil_sen_against_all_pairs(count):
    """Derived from its definition: the median of the slopes of all pairs of different x."""
    random = np.random.default_rng(count)
    x = random.integers(0, 40, count).astype(float)
    x[:2] = 0, 1
    y = 0.03 + 2e-5 * x + random.normal(0, 1e-4, count)
    across, up = np.subtract.outer(x, x), np.subtract.outer(y, y)
    slope = np.median(up[across > 0] / across[across > 0])
    assert sample_statistics.theil_sen_slope(x, y=y) == pytest.approx(slope, rel=1e-12)
    expected = np.median(y - slope * x)
    assert sample_statistics.theil_sen_intercept(x, y=y) == pytest.approx(expected, rel=1e-12)


def test_a_quarter_of_wild_points_does_not_turn_the_line():
    """Measured: the line is 0.03 + 2e-5 x, noise 0.1 ms; wild points are a second late."""
    for count in (200, 20_000):
        random = np.random.default_rng(5)
        x = random.uniform(0, 1500, count)
        y = 0.03 + 2e-5 * x + random.normal(0, 1e-4, count)
        y[random.random(count) < 0.25] += 1.0
        assert sample_statistics.theil_sen_slope(x, y=y) == pytest.approx(2e-5, rel=0.03)


def test_a_line_through_one_place_is_not_identifiable():
    assert np.isnan(sample_statistics.theil_sen_slope([3, 3, 3], y=[1, 2, 3]))
    assert np.isnan(sample_statistics.theil_sen_slope([3], y=[1]))
    assert np.isnan(sample_statistics.theil_sen_intercept([3, 3], y=[1, 2]))
    assert np.isnan(sample_statistics.theil_sen_slope(np.zeros(2000), y=np.arange(2000)))


def test_missing_values_stay_missing():
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(sample_statistics.median([1.0, np.nan]))
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(sample_statistics.percentile([1.0, np.nan], quantile=[0.0, 0.5])).all()
    assert np.isnan(sample_statistics.percentile([1.0, 2.0], quantile=np.nan))
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(sample_statistics.median_absolute_deviation([1.0, np.nan]))
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(sample_statistics.theil_sen_slope([0.0, 1.0, 2.0], y=[0.0, 1.0, np.nan]))


@pytest.mark.each(
    "call",
    [
        lambda: sample_statistics.median([]),
        lambda: sample_statistics.percentile([], quantile=0.5),
        lambda: sample_statistics.percentile([1], quantile=50),
        lambda: sample_statistics.theil_sen_slope([1, 2], y=[1]),
    ],
)
def test_impossible_inputs_are_refused(call):
    with pytest.raises(DomainError):
        call()
