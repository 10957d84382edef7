"""ALOHA and CSMA/CD: published maxima, seeded draws, and slots counted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from netcalc.models.links import random_access

LOADS = np.linspace(0, 4, 4001)


def test_published_maxima():
    """Published: Abramson 1970, 1/(2e) at 1/2; Roberts 1975, 1/e at 1."""
    for model, most, where in (
        (random_access.pure_aloha_utilization, 1 / (2 * np.e), 0.5),
        (random_access.slotted_aloha_utilization, 1 / np.e, 1.0),
    ):
        found = model(LOADS)
        assert found.max() == pytest.approx(most, rel=1e-9)
        assert LOADS[found.argmax()] == pytest.approx(where)


@pytest.mark.each("load", [0.1, 0.5, 1.0, 2.0])
def test_seeded_attempts(load):
    """Derived: 200,000 Poisson attempts; 4 standard errors of the share that no other overlaps."""
    draws = np.random.default_rng(11)
    gaps = draws.exponential(1 / load, size=200_000)
    alone = (gaps[1:] > 1) & (gaps[:-1] > 1)
    share = random_access.pure_aloha_utilization(load) / load
    assert abs(alone.mean() - share) < 4 * np.sqrt(2 * share * (1 - share) / alone.size)
    slots = draws.poisson(load, size=200_000)
    throughput = random_access.slotted_aloha_utilization(load)
    error = np.sqrt(throughput * (1 - throughput) / slots.size)
    assert abs((slots == 1).mean() - throughput) < 4 * error


@pytest.mark.each("attempt", [0.0, 0.2, 0.7, 1.0])
def test_stations_against_all_states(attempt):
    """Second method: every combination of stations that send."""
    for count in range(6):
        states = product((0, 1), repeat=count)
        one = sum(
            attempt ** sum(state) * (1 - attempt) ** (count - sum(state))
            for state in states if sum(state) == 1
        )  # fmt: skip
        found = random_access.slotted_aloha_stations_utilization(count, attempt_ratio=attempt)
        assert found == pytest.approx(one, rel=1e-12, abs=1e-15)


def test_many_stations_are_poisson():
    """Identity in the limit: n stations that try with G/n."""
    found = random_access.slotted_aloha_stations_utilization(1e6, attempt_ratio=0.7e-6)
    assert found == pytest.approx(float(random_access.slotted_aloha_utilization(0.7)), rel=1e-5)


@pytest.mark.each("count", [1, 2, 5, 50])
def test_ethernet_slot_by_slot(count):
    """Second method: seeded slots of contention between frames of 16 slots; 4 standard errors."""
    draws = np.random.default_rng(2)
    won = draws.binomial(count, 1 / count, size=100_000) == 1
    waits = np.diff(np.flatnonzero(won)) - 1  # contention slots before each frame
    frames = 16.0 / (16.0 + waits.mean()) if waits.size else 1.0
    found = random_access.csma_cd_stations_efficiency_ratio(
        count, serialization_s=16 * 51.2e-6, propagation_s=25.6e-6
    )
    error = waits.std() / np.sqrt(waits.size) / (16 + waits.mean())
    assert abs(found - frames) <= 4 * error + 1e-12


def test_the_approximation_for_many_stations():
    """Published: Kurose and Ross, 1 / (1 + 5 d/t); many stations at best 2 (e - 1) = 3.4."""
    times = {"serialization_s": 51.2e-6, "propagation_s": 25.6e-6}
    many = random_access.csma_cd_stations_efficiency_ratio(1e6, **times)
    assert many == pytest.approx(1 / (1 + 2 * (np.e - 1) / 2), rel=1e-5)
    rough = random_access.csma_cd_efficiency_ratio(51.2e-6, propagation_s=25.6e-6)
    assert rough == pytest.approx(1 / 3.5)
    assert rough < many
