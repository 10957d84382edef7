"""Elephants: draws against the exact law of equal flows, and against all placements of a few."""

from __future__ import annotations

from importlib import import_module
from itertools import product

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.rates import hashing
from netcalc.planning.link import draw_fullest_link_bps, fullest_link


def test_equal_flows_have_the_exact_law():
    """Derived: 20,000 draws; 4 standard errors of mean and share."""
    loads = draw_fullest_link_bps([1.0] * 100, link_count=4, draws=20_000, seed=1)
    exact = float(hashing.fullest_link_flows(100, link_count=4))
    assert abs(loads.mean() - exact) < 4 * loads.std() / np.sqrt(20_000)
    for most in (28, 30, 35):
        share = float(hashing.fullest_link_cdf(most, flow_count=100, link_count=4))
        error = np.sqrt(share * (1 - share) / 20_000)
        assert abs((loads <= most).mean() - share) < 4 * error


def test_unequal_flows_against_all_placements():
    """Second method: each of 3^6 placements."""
    rates = [50.0, 20.0, 5.0, 5.0, 1.0, 1.0]
    fullest = []
    for placed in product(range(3), repeat=6):
        loads = [0.0] * 3
        for rate, link in zip(rates, placed, strict=True):
            loads[link] += rate
        fullest.append(max(loads))
    found = fullest_link(rates, link_count=3, draws=50_000, seed=2)
    assert abs(found.mean_bps - np.mean(fullest)) < 4 * np.std(fullest) / np.sqrt(50_000)
    assert found.median_bps == np.median(fullest)
    assert found.efficiency_ratio == pytest.approx(82 / 3 / found.mean_bps)


def test_seeds_and_sizes_of_batches(monkeypatch):
    first = draw_fullest_link_bps(range(1, 50), link_count=4, draws=500, seed=3)
    again = draw_fullest_link_bps(range(1, 50), link_count=4, draws=500, seed=3)
    other = draw_fullest_link_bps(range(1, 50), link_count=4, draws=500, seed=4)
    assert (first == again).all()
    assert (first != other).any()
    monkeypatch.setattr(import_module("netcalc.planning.link"), "_BATCH", 1000)
    small = draw_fullest_link_bps(range(1, 50), link_count=4, draws=500, seed=3)
    assert (first == small).all(), "the draws do not depend on how many are done at a time"


def test_limits():
    assert draw_fullest_link_bps([3.0, 4.0], link_count=1, draws=5).tolist() == [7.0] * 5
    assert np.isnan(fullest_link([0.0], link_count=2, draws=5).efficiency_ratio)
    with pytest.raises(DomainError, match="draws"):
        draw_fullest_link_bps(np.ones(10_000), link_count=2, draws=10_001)
    with pytest.raises(DomainError, match="demand_bps"):
        fullest_link([-1.0], link_count=2)
