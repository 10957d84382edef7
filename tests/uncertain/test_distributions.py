"""Distributions: their two directions agree, and scipy's are taken."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from netcalc import uncertain
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.uncertain.distributions import Frozen, Inverse, Whole

SHARES = np.array([0.001, 0.1, 0.37, 0.5, 0.8, 0.999])
ALL = {
    "uniform": (uncertain.uniform(2, 5), stats.uniform(2, 3)),
    "normal": (uncertain.normal(2, 5), stats.norm(2, 5)),
    "lognormal": (
        uncertain.lognormal(2, value=5),
        stats.lognorm(math.log(2.5) / 1.6448536269514722, scale=2),
    ),
    "triangular": (uncertain.triangular(2, 3, 5), stats.triang(1 / 3, 2, 3)),
    "exponential": (uncertain.exponential(3), stats.expon(scale=3)),
    "truncated": (
        uncertain.truncated(uncertain.normal(2, 5), low=0, high=4),
        stats.truncnorm(-0.4, 0.4, loc=2, scale=5),
    ),
}


@pytest.mark.each("name", list(ALL))
def test_each_is_the_one_of_scipy(name):
    """Derived: scipy.stats."""
    own, other = ALL[name]
    assert own.ppf(SHARES) == pytest.approx(other.ppf(SHARES), rel=1e-9)
    for value in other.ppf(SHARES):
        assert own.below(float(value)) == pytest.approx(float(other.cdf(value)), rel=1e-9)


@pytest.mark.each("name", list(ALL))
def test_its_text_reads_back(name):
    """Identity."""
    own, _ = ALL[name]
    assert uncertain.parse(own.text("s"), "s").ppf(SHARES) == pytest.approx(own.ppf(SHARES))


def test_frozen_distributions_of_scipy_are_inputs():
    """Identity: the mean of a Poisson distribution of 7."""
    found = uncertain.spread(
        lambda calls, trunks: calls / trunks, {"calls": stats.poisson(7), "trunks": 1.0}
    )
    assert found.samples.mean() == pytest.approx(7, rel=2e-3)
    one = Frozen(stats.poisson(7))
    assert one.below(7) == pytest.approx(stats.poisson(7).cdf(6))
    assert one.below(7, or_equal=True) == pytest.approx(stats.poisson(7).cdf(7))


def test_a_distribution_of_several_variables_is_refused():
    with pytest.raises(ArgumentTypeError) as caught:
        uncertain.truncated(stats.multivariate_normal([0, 0]), low=0)
    assert caught.value.code == "not-a-distribution"


def test_a_rate_is_the_inverse_of_a_slope():
    """Derived: quantiles of 1/X are those of X in reverse where X is above 0."""
    one = Inverse(8.0, uncertain.normal(1e-6, 1e-8))
    expected = 8.0 / (1e-6 + 1e-8 * stats.norm.ppf(1 - SHARES))
    assert one.ppf(SHARES) == pytest.approx(expected, rel=1e-9)
    assert one.below(8e6) == pytest.approx(0.5)


def test_a_slope_that_may_be_negative_gives_negative_rates_their_share():
    """Derived: P(1/X < 0) = P(X < 0) = Phi(-1)."""
    one = Inverse(1.0, uncertain.normal(1.0, 1.0))
    draws = one.ppf((np.arange(10_000) + 0.5) / 10_000)
    assert (np.diff(draws) > 0).all()
    assert (draws < 0).mean() == pytest.approx(0.158655, abs=1e-4)
    assert one.below(0.0) == pytest.approx(0.158655, abs=1e-6)


def test_whole_numbers_of_a_range_are_alike_and_others_are_rounded():
    """Identity: a die; derived: P(round(X) <= 2) = Phi(2.5)."""
    die = Whole(uncertain.uniform(1, 6))
    assert sorted(set(die.ppf((np.arange(60) + 0.5) / 60).tolist())) == [1, 2, 3, 4, 5, 6]
    assert die.below(3) == pytest.approx(2 / 6)
    assert die.below(3, or_equal=True) == pytest.approx(3 / 6)
    assert Whole(uncertain.normal(0, 1)).below(2, or_equal=True) == pytest.approx(0.99379033)


def test_measured_values_are_drawn_between_none():
    one = uncertain.empirical([3.0, 1.0, 2.0, 2.0])
    assert one.ppf(np.array([0.0, 0.3, 0.6, 0.99])).tolist() == [1, 2, 2, 3]
    assert (one.below(2.0), one.below(2.0, or_equal=True)) == (0.25, 0.75)
    assert one.share_outside(1.5, 2.5) == 0.5


@pytest.mark.each(
    ("make", "code"),
    [
        (lambda: uncertain.uniform(2, 2), "empty-range"),
        (lambda: uncertain.normal(1, 0), "not-positive"),
        (lambda: uncertain.lognormal(2, value=1), "percentile-not-above-median"),
        (lambda: uncertain.lognormal(2, ratio=0.5, value=3), "out-of-range"),
        (lambda: uncertain.triangular(1, 5, 2), "out-of-range"),
        (lambda: uncertain.exponential(-1), "not-positive"),
        (lambda: uncertain.empirical([]), "not-one-dimensional"),
        (lambda: uncertain.empirical([1.0, np.nan]), "not-finite"),
        (lambda: uncertain.truncated(uncertain.uniform(1, 2), low=3), "nothing-left"),
        (lambda: uncertain.truncated(uncertain.uniform(1, 2), low=3, high=2), "empty-range"),
    ],
)
def test_what_is_no_distribution_is_refused(make, code):
    with pytest.raises(DomainError) as caught:
        make()
    assert caught.value.code == code
    assert str(caught.value)


@pytest.mark.each("family", [stats.lognorm, stats.norm])
def test_a_distribution_without_its_parameters_is_refused(family):
    def product(rtt_s, *, bandwidth_bps):
        return rtt_s * bandwidth_bps

    with pytest.raises(ArgumentTypeError) as caught:
        uncertain.spread(product, {"rtt_s": family, "bandwidth_bps": 1e9})
    assert caught.value.code == "not-frozen"
    assert f"rtt_s is the distribution {family.name} without" in str(caught.value)
    assert "Freeze it" in str(caught.value)
