"""M/M/1/K against its generator matrix and against exact arithmetic at every load."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.queues import finite_queues, mm1

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
    assert finite_queues.mm1k_blocking_ratio(utilization, **room) == pytest.approx(
        blocking, **relative
    )
    assert finite_queues.mm1k_customers(utilization, **room) == pytest.approx(number, **relative)
    assert finite_queues.mm1k_throughput_pps(utilization, **one) == pytest.approx(busy, **relative)
    assert finite_queues.mm1k_sojourn_s(utilization, **one) == pytest.approx(sojourn, **relative)
    waited = finite_queues.mm1k_wait_s(utilization, **one)
    assert waited == pytest.approx(sojourn - 1, rel=1e-9, abs=1e-13), "identity: sojourn - service"


def test_against_the_generator_matrix():
    """Second method: the stationary vector of the birth-death generator, K = 6 and rho = 1.4."""
    states = 7
    generator = np.diag([1.4] * (states - 1), 1) + np.diag([1.0] * (states - 1), -1)
    generator -= np.diag(generator.sum(axis=1))
    system = np.vstack([generator.T, np.ones(states)])
    shares = np.linalg.lstsq(system, np.r_[np.zeros(states), 1.0], rcond=None)[0]
    room = {"place_count": 6}
    assert finite_queues.mm1k_blocking_ratio(1.4, **room) == pytest.approx(shares[-1], rel=1e-10)
    number = (np.arange(states) * shares).sum()
    assert finite_queues.mm1k_customers(1.4, **room) == pytest.approx(number, rel=1e-10)


def test_limits():
    """Identity: endless room is M/M/1; no load blocks nothing; all load blocks nearly all."""
    endless = {"place_count": 1e15}
    assert finite_queues.mm1k_customers(0.9, **endless) == pytest.approx(
        float(mm1.mm1_customers(0.9))
    )
    assert finite_queues.mm1k_blocking_ratio(0.0, place_count=3) == 0.0
    assert finite_queues.mm1k_sojourn_s(0.0, place_count=3, service_s=0.5) == 0.5
    assert finite_queues.mm1k_wait_s(0.0, place_count=3, service_s=0.5) == 0.0
    assert finite_queues.mm1k_blocking_ratio(1e308, place_count=3) == 1.0
    assert finite_queues.mm1k_customers(1e308, place_count=3) == pytest.approx(3.0)
    with_nan = finite_queues.mm1k_customers(np.nan, place_count=3)
    assert np.isnan(with_nan)


@pytest.mark.each("places", [0, -1, 1.5])
def test_a_system_has_a_whole_number_of_places(places):
    with pytest.raises(DomainError, match="place_count"):
        finite_queues.mm1k_blocking_ratio(0.5, place_count=places)
