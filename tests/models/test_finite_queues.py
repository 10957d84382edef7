"""M/M/1/K against its generator matrix and against exact arithmetic at every load."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.queues import mm1

LOADS = [1e-300, 1e-9, 0.3, 0.5, 0.999999, 1 - 1e-12, 1.0, 1 + 1e-12, 1.001, 2.0, 1e9, 1e300]


def exact(utilization, places):
    """Second method: the sums over the states, with 700 digits for the 1e300."""
    with mp.workdps(700):
        powers = [mp.mpf(utilization) ** n for n in range(places + 1)]
        total = mp.fsum(powers)
        number = mp.fsum(n * power for n, power in enumerate(powers)) / total
        busy = mp.fsum(powers[1:]) / total
        return [float(x) for x in (powers[-1] / total, number, busy, number / busy)]


@pytest.mark.each("utilization", LOADS)
@pytest.mark.each("places", [1, 2, 3, 10, 50])
def test_against_the_sums_over_the_states(utilization, places):
    blocking, number, busy, sojourn = exact(utilization, places)
    room = {"place_count": places}
    one = {**room, "service_s": 1.0}
    relative = {"rel": 1e-12, "abs": 1e-307}
    assert mm1.mm1k_blocking_ratio(utilization, **room) == pytest.approx(blocking, **relative)
    assert mm1.mm1k_customers(utilization, **room) == pytest.approx(number, **relative)
    assert mm1.mm1k_throughput_pps(utilization, **one) == pytest.approx(busy, **relative)
    assert mm1.mm1k_sojourn_s(utilization, **one) == pytest.approx(sojourn, **relative)
    waited = mm1.mm1k_wait_s(utilization, **one)
    assert waited == pytest.approx(sojourn - 1, rel=1e-9, abs=1e-13), "identity: sojourn - service"


def test_against_the_generator_matrix():
    """Second method: the stationary vector of the birth-death generator, K = 6 and rho = 1.4."""
    states = 7
    generator = np.diag([1.4] * (states - 1), 1) + np.diag([1.0] * (states - 1), -1)
    generator -= np.diag(generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(states)])
    shares = np.linalg.lstsq(system, np.r_[np.zeros(states), 1.0], rcond=None)[0]
    room = {"place_count": 6}
    assert mm1.mm1k_blocking_ratio(1.4, **room) == pytest.approx(shares[-1], rel=1e-10)
    number = (np.arange(states) * shares).sum()
    assert mm1.mm1k_customers(1.4, **room) == pytest.approx(number, rel=1e-10)


def erlang_sums(services, utilization, places):
    """Second method: whoever finds n others waits for n exponential services, with 400 digits."""
    with mp.workdps(400):
        found = [mp.mpf(utilization) ** n for n in range(places)]
        within, longer = mp.mpf(0), mp.mpf(0)
        for n, weight in enumerate(found):
            within += weight * (1 - longer)
            longer += mp.exp(-services) * mp.mpf(services) ** n / mp.factorial(n)
        return float(within / mp.fsum(found))


@pytest.mark.each("utilization", [*LOADS, 1 - 1e-6, 1 + 3e-5, 20.0])
@pytest.mark.each("places", [1, 2, 3, 50])
def test_the_distribution_is_the_sum_of_erlang_distributions(utilization, places):
    for services in (0.0, 1e-300, 0.5, 3.0, 0.9 * places, 3.0 * places, 1000.0):
        within = mm1.mm1k_wait_cdf(
            services, utilization=utilization, place_count=places, service_s=1.0
        )
        expected = erlang_sums(services, utilization, places)
        assert within == pytest.approx(expected, abs=1e-9), services


def test_the_distribution_of_a_simulated_queue_that_drops():
    """derived: 100,000 customers one by one, K = 5 at a load of 1.2; correlated, they leave 1 %."""
    draw = np.random.default_rng(3)
    came = np.cumsum(draw.exponential(1 / 1.2, 100_000))
    service = draw.exponential(1.0, came.size)
    leaving, waited, free_s = [], [], 0.0
    for at, takes in zip(came.tolist(), service.tolist(), strict=True):
        leaving = [end for end in leaving if end > at]
        if len(leaving) < 5:
            waited.append(max(free_s - at, 0.0))
            free_s = max(free_s, at) + takes
            leaving.append(free_s)
    bounds = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
    measured = np.searchsorted(np.sort(waited), bounds, side="right") / len(waited)
    room = {"utilization": 1.2, "place_count": 5, "service_s": 1.0}
    assert mm1.mm1k_wait_cdf(bounds, **room) == pytest.approx(measured, abs=0.01)


def test_the_distribution_has_the_mean_wait():
    """identity: the integral of what is longer; trapezia of 0.01 services are right to 1e-5."""
    room = {"utilization": 1.3, "place_count": 8}
    at = np.arange(0.0, 80.0, 0.01)
    longer = 1.0 - mm1.mm1k_wait_cdf(at, service_s=1.0, **room)
    mean = np.trapezoid(longer, at)
    assert mm1.mm1k_wait_s(1.3, place_count=8, service_s=1.0) == pytest.approx(mean, rel=1e-4)


def test_limits():
    """Identity: endless room is M/M/1; no load blocks nothing; all load blocks nearly all."""
    endless = {"place_count": 1e15}
    assert mm1.mm1k_customers(0.9, **endless) == pytest.approx(float(mm1.mm1_customers(0.9)))
    assert mm1.mm1k_blocking_ratio(0.0, place_count=3) == 0.0
    assert mm1.mm1k_sojourn_s(0.0, place_count=3, service_s=0.5) == 0.5
    assert mm1.mm1k_wait_s(0.0, place_count=3, service_s=0.5) == 0.0
    assert mm1.mm1k_blocking_ratio(1e308, place_count=3) == 1.0
    assert mm1.mm1k_customers(1e308, place_count=3) == pytest.approx(3.0)
    endless_wait = mm1.mm1k_wait_cdf(3.0, utilization=0.8, service_s=1.0, **endless)
    assert endless_wait == pytest.approx(
        float(mm1.mm1_wait_cdf(3.0, utilization=0.8, service_s=1.0))
    )
    with_nan = mm1.mm1k_customers(np.nan, place_count=3)
    assert np.isnan(with_nan)


@pytest.mark.each("places", [0, -1, 1.5])
def test_a_system_has_a_whole_number_of_places(places):
    with pytest.raises(DomainError, match="place_count"):
        mm1.mm1k_blocking_ratio(0.5, place_count=places)
