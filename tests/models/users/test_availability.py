"""Availability: every state counted, published nines, and the load of what remains."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from netcalc.models.users import availability

PARTS = [0.9, 0.99, 0.5, 0.999]


def share_of_states(parts, works):
    """Second method: the probability of every combination of parts that work, added up."""
    total = 0.0
    for state in product((False, True), repeat=len(parts)):
        chance = np.prod([a if up else 1 - a for a, up in zip(parts, state, strict=True)])
        total += chance if works(state) else 0.0
    return total


def test_series_and_parallel_against_all_states():
    assert availability.series_availability_ratio(PARTS) == pytest.approx(
        share_of_states(PARTS, all), rel=1e-14
    )
    assert availability.parallel_availability_ratio(PARTS) == pytest.approx(
        share_of_states(PARTS, any), rel=1e-14
    )


@pytest.mark.each("needed", range(7))
def test_k_of_n_against_all_states_and_in_fractions(needed):
    found = availability.k_of_n_availability_ratio(0.9, needed_count=needed, unit_count=5)
    assert found == pytest.approx(share_of_states([0.9] * 5, lambda up: sum(up) >= needed))
    a = Fraction(99, 100)
    exact = sum(comb(40, j) * a**j * (1 - a) ** (40 - j) for j in range(needed + 30, 41))
    found = availability.k_of_n_availability_ratio(0.99, needed_count=needed + 30, unit_count=40)
    assert found == pytest.approx(float(exact), rel=1e-13)


def test_k_of_n_in_its_limits():
    """Identity: all of n are series, one of n is parallel."""
    assert availability.k_of_n_availability_ratio(
        0.97, needed_count=4, unit_count=4
    ) == pytest.approx(float(availability.series_availability_ratio([0.97] * 4)), rel=1e-14)
    assert availability.k_of_n_availability_ratio(
        0.97, needed_count=1, unit_count=4
    ) == pytest.approx(float(availability.parallel_availability_ratio([0.97] * 4)), rel=1e-14)


@pytest.mark.each(
    ("share", "minutes"), [(0.99, 5259.6), (0.999, 525.96), (0.9999, 52.596), (0.99999, 5.2596)]
)
def test_the_nines(share, minutes):
    """Published: the usual table of nines, 87.66 h, 8.77 h, 52.6 min and 5.26 min a year."""
    assert availability.downtime_s(share) / 60 == pytest.approx(minutes, rel=1e-9)


def test_availability_by_counting_time():
    """Derived: 1000 failures, each after the mean time, each repaired in the mean time."""
    up = down = 0.0
    for _ in range(1000):
        up, down = up + 9e5, down + 1e4
    found = availability.availability_ratio(9e5, repair_s=1e4)
    assert found == pytest.approx(up / (up + down), rel=1e-12)
    assert availability.availability_ratio(9e5, repair_s=0) == 1


@pytest.mark.each(("links", "failed"), [(2, 1), (4, 1), (4, 3), (8, 2)])
def test_what_is_safe_is_full_after_the_failure(links, failed):
    """Identity: the two are inverse; published: half of each of two links."""
    safe = availability.failure_safe_utilization(links, failed_count=failed, target_utilization=0.9)
    after = availability.failure_utilization(safe, link_count=links, failed_count=failed)
    assert after == pytest.approx(0.9, rel=1e-14)
    traffic = 0.6 * links  # derived: the same traffic, dealt out again
    after = availability.failure_utilization(0.6, link_count=links, failed_count=failed)
    assert after == pytest.approx(traffic / (links - failed), rel=1e-14)
    assert availability.failure_safe_utilization(2) == 0.5


def test_no_link_left():
    assert availability.failure_utilization(0.5, link_count=2, failed_count=2) == np.inf
    assert np.isnan(availability.failure_utilization(0.5, link_count=2, failed_count=3))
    assert availability.failure_safe_utilization(2, failed_count=3) == 0


def test_none_needed_and_more_than_there_are():
    """Definition: of no parts at all, too; more than there are never work."""
    for units in (0, 1, 4):
        given = {"needed_count": [0, units + 1, units + 2], "unit_count": units}
        found = availability.k_of_n_availability_ratio(0.9, **given)
        assert found.tolist() == [1.0, 0.0, 0.0]
