"""Hashed flows: every way to spread them in whole numbers, and seeded draws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from netcalc import calculator
from netcalc.errors import DomainError, doubts
from netcalc.models.rates import hashing


def ways_within(most, flows, links):
    """Second method: ways to put flows on links, counted link by link in whole numbers."""
    ways = [1] + [0] * flows
    for _ in range(links):
        ways = [
            sum(comb(n, j) * ways[n - j] for j in range(min(most, n) + 1)) for n in range(flows + 1)
        ]
    return Fraction(ways[flows], links**flows)


@pytest.mark.each(("flows", "links"), [(0, 3), (1, 1), (5, 1), (4, 2), (16, 4), (30, 7), (60, 64)])
def test_distribution_against_all_ways(flows, links):
    exact = [ways_within(k, flows, links) for k in range(flows + 1)]
    found = hashing.fullest_link_cdf(range(flows + 1), flow_count=flows, link_count=links)
    assert found == pytest.approx([float(share) for share in exact], rel=1e-11, abs=1e-13)
    mean = sum(1 - share for share in exact)
    assert hashing.fullest_link_flows(flows, link_count=links) == pytest.approx(float(mean))
    for quantile in (0.01, 0.5, 0.95, 0.999):
        wanted = next(k for k in range(flows + 1) if exact[k] >= Fraction(quantile))
        found = hashing.fullest_link_percentile_flows(flows, link_count=links, quantile=quantile)
        assert found == wanted
    assert hashing.fullest_link_percentile_flows(flows, link_count=links, quantile=1) == flows


@pytest.mark.each(("flows", "links"), [(100, 4), (1000, 16), (10_000, 3)])
def test_mean_against_seeded_draws(flows, links):
    """Derived: 20,000 draws; 4 standard errors of their mean."""
    draws = np.random.default_rng(3).multinomial(flows, [1 / links] * links, size=20_000)
    fullest = draws.max(axis=1)
    found = float(hashing.fullest_link_flows(flows, link_count=links))
    assert abs(found - fullest.mean()) < 4 * fullest.std() / np.sqrt(20_000)
    share = hashing.hashing_efficiency_ratio(flows, link_count=links)
    assert share == pytest.approx(flows / links / found, rel=1e-12)


def test_many_flows_approach_the_published_law():
    """Published: Raab and Steger 1998; the exact mean comes nearer from below as links grow."""
    gaps = []
    for links in (4, 64, 1000):
        even = 10_000 / links
        exact = float(hashing.fullest_link_flows(10_000, link_count=links)) - even
        approx = float(hashing.fullest_link_approx_flows(10_000, link_count=links)) - even
        gaps.append(exact / approx)
    assert 0.6 < gaps[0] < gaps[1] < gaps[2] < 1.1


def test_variation_of_a_link_against_all_placements():
    """Second method: the load of the first link over all placements of five flows."""
    rates = [5.0, 1.0, 1.0, 2.0, 0.5]
    loads = [
        sum(rate for rate, link in zip(rates, placed, strict=True) if link == 0)
        for placed in product(range(3), repeat=5)
    ]
    found = hashing.hashed_load_cv(rates, link_count=3)
    assert found == pytest.approx(np.std(loads) / np.mean(loads), rel=1e-12)
    assert hashing.hashed_load_cv(rates, link_count=1) == 0
    assert np.isnan(hashing.hashed_load_cv([0.0, 0.0], link_count=3))


def test_few_flows_come_with_a_note():
    """Published: the law is for many more than m ln m flows, which are 266 on 64 links."""
    for flows, said in ((100, ["few-hashed-flows"]), (1000, [])):
        with doubts() as found:
            hashing.fullest_link_approx_flows(flows, link_count=64)
        assert [doubt.code for doubt in found] == said
    formula = calculator.formula("hashing.fullest_link_approx_flows")
    with doubts() as found:
        result = formula.evaluate({"flow_count": 16.0, "link_count": 64.0})
    assert formula.doubt(result, found).startswith(
        "0.25 flows per link are too few for the approximation for many"
    )


def test_too_many_flows_are_refused():
    with pytest.raises(DomainError, match="flow_count must be from 0 to 10000"):
        hashing.fullest_link_flows(10_001, link_count=4)


@pytest.mark.each(("flows", "links"), [(3, 2), (10, 4), (50, 8)])
def test_efficiency_is_the_mean_over_the_fullest(flows, links):
    """Identity: flows a link over those of the fullest link, in the mean."""
    fullest = hashing.fullest_link_flows(flows, link_count=links)
    found = hashing.hashing_efficiency_ratio(flows, link_count=links)
    assert found == pytest.approx(flows / links / fullest, rel=1e-12)


def test_the_law_of_many_by_its_equation():
    """Derived: 10,000 flows over 8 links are 1250 each, and sqrt(2 x 1250 x ln 8) above."""
    found = hashing.fullest_link_approx_flows(10_000, link_count=8)
    assert found == pytest.approx(1250 + (2500 * np.log(8)) ** 0.5, rel=1e-12)


def test_a_percentile_that_is_just_reached():
    """Derived: two flows over two links are apart half of the time."""
    quantiles = [0.499, 0.5, 0.501, 1.0]
    found = hashing.fullest_link_percentile_flows(2, link_count=2, quantile=quantiles)
    assert found.tolist() == [1.0, 1.0, 2.0, 2.0]
    most = hashing.fullest_link_cdf([0, 1, 2, 3], flow_count=2, link_count=2)
    np.testing.assert_allclose(most, [0.0, 0.5, 1.0, 1.0], atol=1e-15)
