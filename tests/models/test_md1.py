"""M/D/1: the alternating series in exact arithmetic, M/G/1's mean, a simulation."""

from __future__ import annotations

from itertools import product

import mpmath as mp
import numpy as np
import pytest

from netcalc.models.queues import backlog, md1, queueing

LOADS = [1e-300, 1e-9, 0.01, 0.3, 0.7, 0.9, 0.95, 0.99, 0.999999, 1.0 - 1e-12]
WAITS = [0.0, 1e-9, 0.5, 1.0, 1.5, 7.999999, 20.0, 31.999999, 32.0, 33.3, 100.0]


def exact_cdf(wait, utilization):
    """Second method: Erlang's alternating series with 150 digits, where it cancels harmlessly."""
    with mp.workdps(150):
        wait, load = mp.mpf(wait), mp.mpf(utilization)
        terms = []
        for j in range(int(mp.floor(wait)) + 1):
            x = load * (j - wait)
            terms.append(x**j / mp.factorial(j) * mp.exp(-x))
        return (1 - load) * mp.fsum(terms)


@pytest.mark.each(("wait", "utilization"), [*product(WAITS, LOADS)])
def test_cdf_against_the_series_in_exact_arithmetic(wait, utilization):
    expected = exact_cdf(wait, utilization)
    computed = float(md1.md1_wait_cdf(wait, utilization=utilization, service_s=1.0))
    assert abs(computed - expected) <= 1e-13 * expected, float(computed / expected - 1)


def test_the_series_itself_is_useless_in_floating_point():
    """The trap: at t = 60 and a load of 0.95 the textbook sum is off by more than the answer."""
    j = np.arange(61)
    factorial = np.array([float(mp.factorial(int(k))) for k in j])
    x = 0.95 * (j - 60.0)
    naive = 0.05 * (x**j / factorial * np.exp(-x)).sum()
    computed = md1.md1_wait_cdf(60.0, utilization=0.95, service_s=1.0)
    assert abs(naive - exact_cdf(60, 0.95)) > 1
    assert computed == pytest.approx(float(exact_cdf(60, 0.95)), rel=1e-13)


@pytest.mark.each("utilization", [0.05, 0.5, 0.9, 0.99, 1.0 - 1e-12])
@pytest.mark.each("quantile", [1e-11, 0.3, 0.9, 0.99, 0.999999, 1.0 - 1e-12])
def test_percentile_against_the_series_in_exact_arithmetic(utilization, quantile):
    wait = float(md1.md1_wait_percentile_s(utilization, service_s=1.0, quantile=quantile))
    if quantile <= 1 - utilization:
        assert wait == 0.0
    elif wait < 150:
        share, wanted = exact_cdf(wait, utilization), mp.mpf(quantile)
        assert abs(share - wanted) <= 1e-11 * min(wanted, 1 - wanted)
    else:
        # Published: Kingman's heavy-traffic limit, exponential about the mean wait.
        mean = float(md1.md1_wait_s(utilization, service_s=1.0))
        assert wait == pytest.approx(-mean * np.log1p(-quantile), rel=0.02)


@pytest.mark.each(
    ("utilization", "quantile", "steps", "source"),
    [
        (0.5, 0.99, 3.336255957, "derived: 60-digit root of the series"),
        (0.9, 0.99, 21.8982373495, "derived: 60-digit root of the series"),
    ],
)
def test_percentiles_scale_with_the_service(utilization, quantile, steps, source):
    wait = md1.md1_wait_percentile_s(utilization, service_s=12e-6, quantile=quantile)
    assert wait == pytest.approx(steps * 12e-6, rel=1e-9), source


@pytest.mark.each("utilization", [0.1, 0.6, 0.95])
def test_the_mean_is_the_area_above_the_distribution(utilization):
    """Derived: 1 - F integrated by Gauss-Legendre over each service time, against P-K."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    starts = np.arange(600)[:, np.newaxis]
    tail = 1 - md1.md1_wait_cdf(starts + 0.5 * (nodes + 1), utilization=utilization, service_s=1.0)
    area = (0.5 * weights * tail).sum()
    expected = queueing.mg1_wait_s(utilization, service_s=1.0, service_scv=0.0)
    assert area == pytest.approx(float(expected), abs=1e-11)
    assert md1.md1_wait_s(utilization, service_s=1.0) == pytest.approx(float(expected), rel=1e-14)


def test_against_a_simulated_queue():
    """Measured: 400,000 customers by Lindley; the standard error of these shares is below 0.004."""
    random = np.random.default_rng(20240229)
    gaps = random.exponential(1 / 0.8, 400_000)
    waits = backlog.lindley_wait_s(gaps, service_s=1.0)
    for bound in (0.0, 1.5, 6.0):
        expected = md1.md1_wait_cdf(bound, utilization=0.8, service_s=1.0)
        assert (waits <= bound).mean() == pytest.approx(float(expected), abs=0.012)


def test_number_by_little():
    """Identity: arrivals times sojourn."""
    load = np.array([0.1, 0.5, 0.99])
    sojourn = md1.md1_wait_s(load, service_s=1.0) + 1.0
    assert md1.md1_customers(load) == pytest.approx(load * sojourn, rel=1e-14)


def test_arrays_give_what_scalars_give():
    """Identity: blocks, broadcasting and one load for all make no difference."""
    wait = np.linspace(0, 60, 40_001)
    together = md1.md1_wait_cdf(wait, utilization=0.9, service_s=1.0)
    for place in (0, 5, 16_383, 16_384, 40_000):
        alone = md1.md1_wait_cdf(wait[place], utilization=0.9, service_s=1.0)
        assert together[place] == alone
    assert (np.diff(together) >= 0).all()
    table = md1.md1_wait_cdf([[0.0], [3.0]], utilization=[0.2, 0.9, 1.2], service_s=1.0)
    assert table.shape == (2, 3)
    assert table[1, 1] == md1.md1_wait_cdf(3.0, utilization=0.9, service_s=1.0)
    assert table[:, 2].tolist() == [0.0, 0.0]
    empty = md1.md1_wait_percentile_s([], service_s=1.0, quantile=0.5)
    assert empty.shape == (0,)


def test_edges():
    """Stated limits: idle, full, certain, and times beyond all numbers."""
    one = {"service_s": 1.0}
    assert md1.md1_wait_cdf(40.0, utilization=0.0, **one) == 1.0
    assert md1.md1_wait_cdf(1e308, utilization=0.999, service_s=1e-300) == 1.0
    assert md1.md1_wait_percentile_s(0.0, **one, quantile=1.0) == 0.0
    assert md1.md1_wait_percentile_s(0.5, **one, quantile=1.0) == np.inf
    for quantile in (0.0, 0.5, 1.0):
        assert md1.md1_wait_percentile_s(1.0, **one, quantile=quantile) == np.inf
    assert md1.md1_wait_s(1.0, **one) == np.inf
    assert md1.md1_customers(2.0) == np.inf
    assert np.isnan(md1.md1_wait_cdf(1.0, utilization=np.nan, **one))
    assert np.isnan(md1.md1_wait_percentile_s(0.5, **one, quantile=np.nan))
