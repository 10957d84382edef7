"""Growth and exhaustion: year by year, and the band of a fitted line followed by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from netcalc.errors import DomainError
from netcalc.models.users import growth

YEAR = 365.25 * 86_400


@pytest.mark.each("rate", [-0.5, 0.0, 0.25, 1.0])
def test_growth_year_by_year(rate):
    """Derived: a loop that multiplies once a year."""
    traffic = 3e9
    for years in range(8):
        found = growth.grown_traffic_bps(3e9, annual_growth=rate, elapsed_s=years * YEAR)
        assert found == pytest.approx(traffic, rel=1e-13)
        if years:
            again = growth.annual_growth(traffic, earlier_traffic_bps=3e9, elapsed_s=years * YEAR)
            assert again == pytest.approx(rate, abs=1e-13)
        traffic *= 1 + rate


def test_the_growth_of_a_published_forecast():
    """Published: Cisco VNI 2017-2022, 122 to 396 exabyte a month; the paper says 26 %."""
    found = growth.annual_growth(396.0, earlier_traffic_bps=122.0, elapsed_s=5 * YEAR)
    assert found == pytest.approx(0.26, abs=0.01)  # its traffic is rounded, its 26 % too


@pytest.mark.each("rate", [1e-9, 0.01, 0.3, 3.0])
@pytest.mark.each("target", [0.3, 0.8, 1.0])
def test_at_its_exhaustion_the_link_is_full(rate, target):
    """Identity: traffic at that time is the limit."""
    full = growth.exhaustion_s(
        2e9, capacity_bps=1e10, annual_growth=rate, target_utilization=target
    )
    then = growth.grown_traffic_bps(2e9, annual_growth=rate, elapsed_s=full)
    assert then == pytest.approx(target * 1e10, rel=1e-12)


def test_linear_growth_year_by_year():
    """Derived: a loop that adds once a year."""
    years, traffic = 0, 4e9
    while traffic < 8e9:
        years, traffic = years + 1, traffic + 5e8
    full = growth.linear_exhaustion_s(
        4e9, capacity_bps=1e10, annual_increase_bps=5e8, target_utilization=0.8
    )
    assert full == pytest.approx(years * YEAR, rel=1e-14)


def test_full_already_and_never():
    assert growth.exhaustion_s(2e10, capacity_bps=1e10, annual_growth=0.3) == 0
    assert growth.exhaustion_s(2e10, capacity_bps=1e10, annual_growth=-0.3) == 0
    assert growth.exhaustion_s(1e9, capacity_bps=1e10, annual_growth=[0.0, -1.0]).tolist() == [
        np.inf, np.inf,
    ]  # fmt: skip
    assert growth.linear_exhaustion_s(1e9, capacity_bps=1e10, annual_increase_bps=-1.0) == np.inf
    with pytest.raises(DomainError, match="annual_growth"):
        growth.exhaustion_s(1e9, capacity_bps=1e10, annual_growth=-1.5)


def confidence_of_line(time, times, logs, confidence):
    """Second method: scipy's regression and the usual band of its mean at one time."""
    fitted = stats.linregress(times, logs)
    rest = logs - fitted.intercept - fitted.slope * times
    deviation = np.sqrt((rest**2).sum() / (len(times) - 2))
    spread = ((times - times.mean()) ** 2).sum()
    width = stats.t.ppf((1 + confidence) / 2, len(times) - 2) * deviation
    half = width * np.sqrt(1 / len(times) + (time - times.mean()) ** 2 / spread)
    middle = fitted.intercept + fitted.slope * time
    return middle - half, middle, middle + half


@pytest.mark.each("confidence", [0.5, 0.9, 0.99])
def test_the_band_ends_where_the_band_of_the_line_crosses_the_limit(confidence):
    traffic = np.array([1.0e9, 1.12e9, 1.05e9, 1.3e9, 1.42e9, 1.5e9, 1.7e9, 1.72e9])
    times = np.arange(8) * YEAR / 2
    early, best, late = growth.exhaustion_band_s(
        traffic, time_s=times, capacity_bps=1e10, target_utilization=0.7,
        confidence_ratio=confidence,
    )  # fmt: skip
    limit = np.log(7e9)
    assert early < best < late < np.inf
    logs = np.log(traffic)
    assert confidence_of_line(float(early), times, logs, confidence)[2] == pytest.approx(limit)
    assert confidence_of_line(float(best), times, logs, confidence)[1] == pytest.approx(limit)
    assert confidence_of_line(float(late), times, logs, confidence)[0] == pytest.approx(limit)


def test_the_band_covers_the_true_time_as_often_as_it_says():
    """Derived: 2000 seeded draws around a known line; 3 standard errors of a share of 0.9."""
    draws = np.random.default_rng(7)
    times = np.arange(24) * YEAR / 12
    truth = growth.exhaustion_s(1e9, capacity_bps=1e10, annual_growth=0.4)
    clean = growth.grown_traffic_bps(1e9, annual_growth=0.4, elapsed_s=times)
    covered = 0
    for _ in range(2000):
        noisy = clean * np.exp(draws.normal(0.0, 0.1, size=times.size))
        early, _, late = growth.exhaustion_band_s(noisy, time_s=times, capacity_bps=1e10)
        covered += bool(early <= truth <= late)
    assert abs(covered / 2000 - 0.9) < 3 * np.sqrt(0.9 * 0.1 / 2000)


def test_bands_without_an_end():
    """Derived from the set that the docstring defines."""
    times = np.arange(4) * YEAR
    noise = [1.0e9, 1.3e9, 0.9e9, 1.2e9]  # grows by less than its noise
    early, best, late = growth.exhaustion_band_s(noise, time_s=times, capacity_bps=1e10)
    assert times[-1] < early < best < late == np.inf
    upper = confidence_of_line(float(early), times, np.log(noise), 0.9)[2]
    assert upper == pytest.approx(np.log(1e10))
    assert growth.exhaustion_band_s(noise, time_s=times, capacity_bps=1.1e9)[::2] == (
        -np.inf, np.inf,
    )  # fmt: skip
    shrinks = [4e9, 3.1e9, 2.5e9, 2e9]
    assert growth.exhaustion_band_s(shrinks, time_s=times, capacity_bps=1e10) == (np.inf,) * 3
    assert growth.exhaustion_band_s(shrinks, time_s=times, capacity_bps=1e9) == (-np.inf,) * 3
    assert np.isnan(growth.exhaustion_band_s([1e9, 2e9], time_s=[0, 1], capacity_bps=1e10)).all()
    assert np.isnan(growth.exhaustion_band_s(noise, time_s=[1] * 4, capacity_bps=1e10)).all()


def test_measurements_without_noise_give_one_time():
    """Identity: the line goes through all points, and its band has no width."""
    times = np.arange(5) * YEAR
    traffic = growth.grown_traffic_bps(1e9, annual_growth=0.3, elapsed_s=times)
    band = growth.exhaustion_band_s(traffic, time_s=times, capacity_bps=1e10)
    expected = float(growth.exhaustion_s(1e9, capacity_bps=1e10, annual_growth=0.3))
    assert np.array(band) == pytest.approx(expected, rel=1e-9)


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(DomainError, match="time_s must have 3 numbers"):
        growth.exhaustion_band_s([1e9, 2e9, 3e9], time_s=[0, 1], capacity_bps=1e10)


def test_constant_traffic_never_fills_a_link():
    """Definition: no growth. Means and slopes of equal numbers have rounding errors."""
    draw = np.random.default_rng(4)
    for ulps in (0, 1):
        for _ in range(50):
            level = 10 ** draw.uniform(3, 12)
            traffic = level * (1 + ulps * draw.choice([-1, 0, 1], 6) * np.finfo(float).eps)
            times = np.cumsum(draw.uniform(1, 3e6, 6))
            band = growth.exhaustion_band_s(traffic, time_s=times, capacity_bps=10 * level)
            assert band == (np.inf,) * 3
    there_and_back = growth.exhaustion_band_s(
        [1e9, 2e9, 1e9], time_s=[0, 1e6 / 3, 2e6 / 3], capacity_bps=1e10
    )
    assert there_and_back[1:] == (np.inf,) * 2
    # derived: a growth of 1e-9 a day is one: ln(10) / 1e-9 days
    times = np.arange(6) * 86_400.0
    slow = growth.exhaustion_band_s(
        1e9 * np.exp(1e-9 * np.arange(6)), time_s=times, capacity_bps=1e10
    )
    assert slow[1] == pytest.approx(np.log(10) * 1e9 * 86_400, rel=1e-5)


def test_a_band_that_begins_and_never_ends():
    """Second method: the upper limit of the usual band of the mean at its beginning, where traffic
    that hardly grows may reach a limit that it has not been near to."""
    times = np.arange(6) * YEAR
    logs = np.log(1e9) + np.array([0.0, 0.12, -0.05, 0.1, -0.02, 0.11])
    early, best, late = growth.exhaustion_band_s(
        np.exp(logs), time_s=times, capacity_bps=2e9, confidence_ratio=0.9
    )
    assert times[-1] < early < best < late == np.inf
    upper = confidence_of_line(float(early), times, logs, 0.9)[2]
    assert upper == pytest.approx(np.log(2e9), rel=1e-9)
