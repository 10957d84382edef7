"""Fair divisions against their definitions, by second methods and on random cases."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.tcp import sharing


@pytest.mark.each("taking", range(1, 11))
def test_jain_of_k_of_ten_is_k_tenths(taking):
    shares = [3.0] * taking + [0.0] * (10 - taking)
    assert sharing.jain_index(shares) == pytest.approx(taking / 10), "published: Jain et al. 1984"


def test_jain_by_the_coefficient_of_variation():
    """Second method: 1 / (1 + CV^2); scale free, from the smallest numbers to the largest."""
    shares = np.array([1.0, 2.0, 3.0, 4.0, 7.5])
    expected = 1 / (1 + (shares.std() / shares.mean()) ** 2)
    for factor in (1.0, 1e-300, 1e307):
        assert sharing.jain_index(shares * factor) == pytest.approx(expected, rel=1e-12)


def test_jain_of_nothing_is_undefined():
    assert np.isnan(sharing.jain_index([0.0, 0.0]))
    with pytest.raises(DomainError):
        sharing.jain_index([])
    with pytest.raises(DomainError, match="allocations"):
        sharing.jain_index([1.0, -1.0])


@pytest.mark.each("count", [1, 2, 5, 40])
@pytest.mark.each("deviation", [-1.0, -0.5, 0.0, 1.0, 3.0])
def test_one_deviating_against_the_index_itself(count, deviation):
    shares = [1.0] * (count - 1) + [1.0 + deviation]
    computed = sharing.jain_one_deviating(deviation, flow_count=count)
    np.testing.assert_allclose(computed, sharing.jain_index(shares), rtol=1e-12)


def test_one_deviating_takes_all():
    assert sharing.jain_one_deviating(1e300, flow_count=4) == pytest.approx(0.25), "limit: 1/n"
    with pytest.raises(DomainError, match="deviation"):
        sharing.jain_one_deviating(-1.5, flow_count=4)


def level_by_bisection(demand, capacity, weight):
    """Second method: the water level found by halving."""
    low, high = 0.0, capacity / weight.min()
    for _ in range(200):
        middle = (low + high) / 2
        taken = np.minimum(demand, weight * middle).sum()
        low, high = (middle, high) if taken < capacity else (low, middle)
    return np.minimum(demand, weight * high)


@pytest.mark.each("seed", range(20))
def test_max_min_against_bisection(seed):
    random = np.random.default_rng(seed)
    count = random.integers(1, 12)
    demand, weight = random.exponential(1.0, count), random.uniform(0.2, 5, count)
    capacity = float(random.uniform(0.1, 1.5) * demand.sum())
    rates = sharing.max_min_bps(demand, capacity_bps=capacity, weight=weight)
    expected = level_by_bisection(demand, min(capacity, demand.sum()), weight)
    np.testing.assert_allclose(rates, expected, rtol=1e-9)


def test_max_min_on_one_link():
    """Published: the examples of Bertsekas and Gallager's progressive filling, worked by hand."""
    assert sharing.max_min_bps([5, 5, 5], capacity_bps=12).tolist() == [4, 4, 4]
    assert sharing.max_min_bps([1, 2], capacity_bps=12).tolist() == [1, 2]
    assert sharing.max_min_bps([np.inf, 1], capacity_bps=12).tolist() == [11, 1]
    assert sharing.max_min_bps([0, 9], capacity_bps=3).tolist() == [0, 3]


def test_a_missing_demand_makes_the_division_unknown():
    with pytest.warns(NotFiniteWarning):
        rates = sharing.max_min_bps([1.0, np.nan], capacity_bps=5)
    assert np.isnan(rates).all()


@pytest.mark.each(
    "bad", [{"capacity_bps": 0}, {"capacity_bps": [1, 2]}, {"weight": 0}, {"weight": [1, 2, 3]}]
)
def test_impossible_divisions_are_refused(bad):
    with pytest.raises(DomainError, match=next(iter(bad))):
        sharing.max_min_bps([1, 2], **{"capacity_bps": 5, **bad})


def is_max_min(rates, capacity, crosses):
    """The definition: every flow has a full link on which nobody has more."""
    used = rates @ crosses
    assert (used <= capacity * (1 + 1e-9)).all()
    for flow, rate in enumerate(rates):
        links = np.flatnonzero(crosses[flow])
        assert any(
            used[link] >= capacity[link] * (1 - 1e-9)
            and rate >= rates[crosses[:, link]].max() * (1 - 1e-9)
            for link in links
        )


@pytest.mark.each("seed", range(20))
def test_network_meets_the_definition(seed):
    random = np.random.default_rng(seed)
    crosses = random.random((8, 5)) < 0.4
    crosses[np.arange(8), random.integers(0, 5, 8)] = True
    capacity = random.uniform(1, 10, 5)
    flows, links = np.nonzero(crosses)
    rates = sharing.max_min_network_bps(capacity, crossing_flow=flows, crossing_link=links)
    is_max_min(rates, capacity, crosses)


def test_network_of_one_link_is_the_single_link():
    """Identity: greedy flows on one link."""
    rates = sharing.max_min_network_bps([9e6], crossing_flow=[0, 1, 2], crossing_link=[0, 0, 0])
    assert rates.tolist() == sharing.max_min_bps([np.inf] * 3, capacity_bps=9e6).tolist()


@pytest.mark.each(
    ("flows", "links", "facts"),
    [
        ([0, 1], [0], {"name": "crossing_link"}),
        ([0, 2], [0, 0], {"code": "number-skipped", "name": "crossing_flow", "value": 1}),
        ([0], [3], {"name": "crossing_link"}),
        ([0.5], [0], {"name": "crossing_flow"}),
        ([], [], {"name": "crossing_flow"}),
    ],
)
def test_impossible_networks_are_refused(flows, links, facts):
    with pytest.raises(DomainError) as refused:
        sharing.max_min_network_bps([1e6, 1e6], crossing_flow=flows, crossing_link=links)
    assert {"code": refused.value.code, **refused.value.values}.items() >= facts.items()


@pytest.mark.each("links", [1, 2, 7])
def test_proportional_fairness_by_its_first_order_condition(links):
    """Published: Kelly 1998; the long flow's marginal utility is the sum of those it displaces."""
    long = float(sharing.proportional_long_flow_bps(links, capacity_bps=5.0))
    short = float(sharing.proportional_short_flow_bps(links, capacity_bps=5.0))
    assert 1 / long == pytest.approx(links / short)
    assert long + short == pytest.approx(5.0), "identity: every link is full"


def test_fair_shares_of_flows_that_come_and_go():
    """Second method: shares added up in steps of 1 ms."""
    start, duration = np.array([0.0, 2.5, 4.0, 9.0]), np.array([6.0, 1.0, 4.0, 0.5])
    times = (np.arange(12_000) + 0.5) * 1e-3
    active = (times >= start[:, None]) & (times < (start + duration)[:, None])
    stepped = (active / np.maximum(active.sum(axis=0), 1) * 1e6 * 1e-3).sum(axis=1)
    shares = sharing.fair_share_bits(start, duration_s=duration, capacity_bps=1e6)
    np.testing.assert_allclose(shares, stepped, rtol=1e-3)
    busy_s = active.any(axis=0).sum() * 1e-3
    assert shares.sum() == pytest.approx(1e6 * busy_s, rel=1e-9), "identity: all that was sent"


def test_shares_of_two_and_three_nested_flows():
    """Derived by hand at 10 Gbit/s: alone, in halves and in thirds for so many seconds each."""
    two = sharing.fair_share_bits([0, 22], duration_s=[60, 20], capacity_bps=10e9)
    assert two == pytest.approx([500e9, 100e9])
    three = sharing.fair_share_bits([0, 10, 20], duration_s=[60, 40, 20], capacity_bps=10e9)
    assert three == pytest.approx([366.7e9, 166.7e9, 66.7e9], rel=1e-3)
