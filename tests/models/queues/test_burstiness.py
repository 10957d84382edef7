"""Burstiness: indices of Poisson and on-off arrivals, and the waits they make, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, doubts
from netcalc.models.queues import backlog, queueing


def on_off_arrivals(peak, on, off, cycles, seed):
    """Second method: each on time drawn, and the packets in it."""
    draw = np.random.default_rng(seed)
    on_times, off_times = draw.exponential(on, cycles), draw.exponential(off, cycles)
    starts = np.cumsum(on_times + off_times) - on_times
    counts = draw.poisson(peak * on_times)
    at = np.repeat(starts, counts) + draw.random(counts.sum()) * np.repeat(on_times, counts)
    return np.sort(at)


def test_poisson_arrivals_have_an_index_of_one():
    """Measured: 100,000 intervals; the relative standard error is 0.45 %."""
    counts = np.random.default_rng(1).poisson(12.0, 100_000)
    assert float(backlog.dispersion_index(counts)) == pytest.approx(1.0, abs=0.02)
    exact = float(np.var([12, 8, 10, 2, 18, 10], ddof=1) / 10)
    assert float(backlog.dispersion_index([12, 8, 10, 2, 18, 10])) == pytest.approx(exact)


def test_on_off_sources_against_draws():
    """Measured: counts of intervals of 50 cycles; some 4,000 of them, error 2 %."""
    arrivals = on_off_arrivals(50.0, 0.352, 0.65, 200_000, 4)
    counts = np.histogram(arrivals, np.arange(0.0, arrivals[-1], 50.0))[0]
    exact = float(backlog.on_off_dispersion_index(50, on_s=0.352, off_s=0.65))
    assert float(backlog.dispersion_index(counts)) == pytest.approx(exact, rel=0.08)


def test_a_source_that_is_always_on_is_poisson():
    assert float(backlog.on_off_dispersion_index(50, on_s=1.0, off_s=0.0)) == 1.0


@pytest.mark.slow
def test_bursty_arrivals_wait_as_much_longer():
    """Measured: a queue at a load of 0.95 behind one source, by Lindley's recursion. The
    approximation is for heavy traffic: within 10 %."""
    arrivals = on_off_arrivals(50.0, 0.352, 0.65, 600_000, 9)
    service = 0.95 / (50 * 0.352 / 1.002)
    waits = backlog.lindley_wait_s(
        np.diff(arrivals, prepend=0.0), service_s=np.full(arrivals.size, service)
    )
    index = backlog.on_off_dispersion_index(50, on_s=0.352, off_s=0.65)
    found = backlog.dispersion_wait_s(0.95, service_s=service, dispersion=index)
    assert float(found) == pytest.approx(float(waits.mean()), rel=0.1)


def test_an_index_of_one_is_pollaczek_and_khinchine():
    found = backlog.dispersion_wait_s(0.7, service_s=1e-3, dispersion=1.0, service_scv=2.0)
    exact = queueing.mg1_wait_s(0.7, service_s=1e-3, service_scv=2.0)
    assert float(found) == pytest.approx(float(exact), rel=1e-14)
    assert float(backlog.dispersion_wait_s(1.0, service_s=1.0, dispersion=3.0)) == np.inf


def test_one_interval_is_refused():
    with pytest.raises(DomainError) as refused:
        backlog.dispersion_index([3])
    assert refused.value.code == "too-few-numbers"


def test_two_intervals_are_enough():
    """Derived: 1 and 3 packets have a variance of 2 and a mean of 2."""
    assert backlog.dispersion_index([1, 3]) == pytest.approx(1.0)
    with pytest.raises(DomainError, match="at least 2 numbers, got 1"):
        backlog.dispersion_index([3])
    with pytest.raises(DomainError, match="whole"):
        backlog.dispersion_index([1, 3.5])


@pytest.mark.each(("load", "is_doubtful"), [(0.89, True), (0.9, False), (0.91, False)])
def test_an_approximation_for_heavy_traffic(load, is_doubtful):
    with doubts() as found:
        backlog.dispersion_wait_s(load, service_s=1.0, dispersion=3.0)
    assert [doubt.code for doubt in found] == ["below-heavy-traffic"] * is_doubtful
