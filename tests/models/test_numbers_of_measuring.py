"""Measuring: defaults, counts that differ, whole ticks by a digit, against numpy and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models import measuring
from netcalc.models.measuring import clock, probing, sample_statistics


def test_the_chapter_lists_its_files():
    assert {"clock", "probing", "sample_statistics"} <= set(dir(measuring))


@pytest.mark.each("digits", [0, 1, 2])
@pytest.mark.each("side", [-1, 1])
def test_whole_ticks_up_to_their_last_digit_have_no_error(digits, side):
    duration = 7000.0
    for _ in range(digits):
        duration = float(np.nextafter(duration, side * np.inf))
    assert clock.interval_error_std_s(duration, tick_s=1.0) == 0.0


@pytest.mark.each("rest", ["0.001", "0.25", "0.5", "0.75", "0.999"])
def test_the_error_between_two_ticks(rest):
    """Derived: a reading of n + 1 with probability f, else n, has the variance f (1 - f)."""
    share = Fraction(rest)
    readings = [(7, 1 - share), (8, share)]
    mean = sum(n * p for n, p in readings)
    variance = sum((n - mean) ** 2 * p for n, p in readings)
    found = clock.interval_error_std_s(7 + float(share), tick_s=1.0)
    assert found == pytest.approx(float(variance) ** 0.5, rel=1e-9)


def test_latencies_of_as_many_links_as_rates():
    with pytest.raises(DomainError) as caught:
        probing.rtt_intercept_s([0.1, 0.2, 0.3], bandwidth_bps=[1e6, 2e6], header_bytes=28)
    error = caught.value
    assert (error.code, error.name) == ("wrong-count", "latency_s")
    assert (error.values["count"], error.values["expected"]) == (3, 2)


def test_the_first_hop_has_no_slope_before_it():
    # derived: 8 bits a byte over 8 us a byte
    assert probing.hop_bandwidth_bps(8e-6) == pytest.approx(1e6)
    assert probing.hop_bandwidth_bps(8e-6, previous_rtt_slope=4e-6) == pytest.approx(2e6)


@pytest.mark.each("count", [1, 2, 5, 10])
def test_percentiles_against_numpy(count):
    values = np.random.default_rng(count).normal(size=count)
    shares = np.linspace(0, 1, 21)
    expected = np.quantile(values, shares, method="linear")
    assert sample_statistics.percentile(values, quantile=shares) == pytest.approx(expected)


def test_a_missing_value_makes_a_percentile_missing_wherever_it_is():
    for at in range(3):
        values = np.array([1.0, 2.0, 3.0])
        values[at] = np.nan
        with pytest.warns(NotFiniteWarning):
            assert np.isnan(sample_statistics.percentile(values, quantile=[0.0, 1.0])).all()


def test_slopes_of_each_pair_once_and_none_with_itself():
    x, y = np.array([0.0, 1.0, 3.0, 7.0]), np.array([0.0, 5.0, 4.0, 30.0])
    slopes = [(y[j] - y[i]) / (x[j] - x[i]) for j in range(4) for i in range(j)]
    assert sample_statistics.theil_sen_slope(x, y=y) == pytest.approx(np.median(slopes))
    with pytest.raises(DomainError) as caught:
        sample_statistics.theil_sen_slope([1, 2, 3], y=[1, 2])
    assert (caught.value.name, caught.value.values["count"]) == ("y", 2)
    assert caught.value.values["expected"] == 3
