"""Multiplexing against exact sums of rational numbers, published cases and the normal limit."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from statistics import NormalDist

import mpmath as mp
import numpy as np
import pytest

from netcalc.errors import DomainError, doubts
from netcalc.models.users import multiplexing


def exact_tail(active, users, share):
    """Second method: the binomial sum in whole numbers, of a share with few digits."""
    p = Fraction(str(share))
    on, off = p.numerator, p.denominator - p.numerator
    is_short = users - active <= active
    summed = range(active + 1, users + 1) if is_short else range(active + 1)
    total = sum(comb(users, k) * on**k * off ** (users - k) for k in summed)
    part = Fraction(total, p.denominator**users)
    return part if is_short else 1 - part


def test_the_published_cases():
    """Kurose and Ross 1.3.2: 0.0004; problem P8: 21 or more of 120, 0.008 (exact 0.0079)."""
    assert float(multiplexing.overload_ratio(10, user_count=35, active_ratio=0.1)) == pytest.approx(
        0.0004, abs=5e-5
    )
    found = float(multiplexing.overload_ratio(20, user_count=120, active_ratio=0.1))
    assert found == pytest.approx(0.0079, abs=5e-5)


@pytest.mark.each(
    ("active", "users", "share"),
    [(10, 35, 0.1), (20, 120, 0.1), (0, 1, 0.5), (119, 120, 0.1), (3, 700, 1e-6), (690, 700, 0.97)],
)
def test_overload_against_the_exact_sum(active, users, share):
    found = float(multiplexing.overload_ratio(active, user_count=users, active_ratio=share))
    assert found == pytest.approx(float(exact_tail(active, users, share)), rel=1e-12)


@pytest.mark.each(
    ("active", "users", "share"),
    [(100_500, 10**6, 0.1), (102_000, 10**6, 0.1), (60, 10**6, 1e-5), (10**8 + 50_000, 10**9, 0.1)],
)
def test_a_million_users_and_more_against_mpmath(active, users, share):
    """Second method: the ratio of each term to the one before, from the first on, in 40 digits."""
    with mp.workdps(40):
        p = mp.mpf(share)
        first = active + 1
        term = mp.exp(
            mp.loggamma(users + 1) - mp.loggamma(first + 1) - mp.loggamma(users - first + 1)
            + first * mp.log(p) + (users - first) * mp.log(1 - p)
        )  # fmt: skip
        total, k = term, first
        while term > total * mp.mpf(10) ** -18:
            term *= mp.mpf(users - k) / (k + 1) * p / (1 - p)
            total, k = total + term, k + 1
    found = float(multiplexing.overload_ratio(active, user_count=users, active_ratio=share))
    assert found == pytest.approx(float(total), rel=1e-9)


@pytest.mark.each("users", [0, 1, 2, 35, 120, 500])
@pytest.mark.each("share", [0.01, 0.1, 0.5, 0.97])
@pytest.mark.each("quantile", [0.001, 0.5, 0.95, 0.999])
def test_percentiles_against_the_exact_sum(users, share, quantile):
    """Second method: terms added from the smallest number up until the share is reached."""
    p, total, number = Fraction(str(share)), 0, -1
    on, off = p.numerator, p.denominator - p.numerator
    while total < Fraction(str(quantile)) * p.denominator**users:
        number += 1
        total += comb(users, number) * on**number * off ** (users - number)
    found = multiplexing.active_percentile_count(users, active_ratio=share, quantile=quantile)
    assert float(found) == number
    rate = multiplexing.shared_bandwidth_bps(
        users, active_ratio=share, user_bps=2e6, quantile=quantile
    )
    assert float(rate) == number * 2e6
    gain = multiplexing.multiplexing_gain(users, active_ratio=share, quantile=quantile)
    expected = (users / number if number else np.inf) if users else 1.0
    assert float(gain) == expected


@pytest.mark.each("circuits", [0, 1, 10, 47])
@pytest.mark.each("share", [0.03, 0.1, 0.9])
@pytest.mark.each("quantile", [0.01, 0.9, 0.9995])
def test_supported_users_against_the_exact_sum(circuits, share, quantile):
    """Second method: the exact tail allows so many, and not one more."""
    found = multiplexing.supported_user_count(
        max(circuits, 0.5) * 1e5, user_bps=1e5, active_ratio=share, quantile=quantile
    )
    assert exact_tail(circuits, int(found), share) <= 1 - Fraction(str(quantile))
    assert exact_tail(circuits, int(found) + 1, share) > 1 - Fraction(str(quantile))


def test_a_million_users_at_once():
    """Derived: the number of a million users and its neighbour lie on both sides of the share."""
    share, quantile = np.array([1e-6, 0.001, 0.1, 0.9]), np.array([[0.5], [0.95], [0.999999]])
    found = multiplexing.active_percentile_count(10**6, active_ratio=share, quantile=quantile)
    at = multiplexing.overload_ratio(found, user_count=10**6, active_ratio=share)
    below = multiplexing.overload_ratio(
        np.maximum(found - 1, 0), user_count=10**6, active_ratio=share
    )
    assert (at <= 1 - quantile).all()
    assert ((below > 1 - quantile) | (found == 0)).all()


def test_supported_users_are_the_inverse_of_the_rate():
    users = np.array([40, 700, 10**4, 10**6])
    rate = multiplexing.shared_bandwidth_bps(users, active_ratio=0.1, user_bps=3e5, quantile=0.99)
    most = multiplexing.supported_user_count(rate, user_bps=3e5, active_ratio=0.1, quantile=0.99)
    assert (most >= users).all()
    more = multiplexing.shared_bandwidth_bps(
        most + 1, active_ratio=0.1, user_bps=3e5, quantile=0.99
    )
    assert (more > rate).all()


def test_rates_that_floats_do_not_hold_are_whole_multiples():
    """Identity: 0.3 Mbit/s over 0.1 Mbit/s is three users, 2.9999999999999996 in float64."""
    found = multiplexing.supported_user_count(
        0.3e6, user_bps=0.1e6, active_ratio=1.0, quantile=0.99
    )
    assert float(found) == 3.0


def test_the_normal_approximation():
    """Derived: Python's own normal distribution; and the limit of many users."""
    normal = NormalDist(12, (120 * 0.1 * 0.9) ** 0.5)
    found = multiplexing.overload_normal_ratio(20, user_count=120, active_ratio=0.1)
    assert float(found) == pytest.approx(1 - normal.cdf(20.5), rel=1e-12)
    rate = multiplexing.shared_bandwidth_normal_bps(
        120, active_ratio=0.1, user_bps=1e6, quantile=0.99
    )
    assert float(rate) == pytest.approx(normal.inv_cdf(0.99) * 1e6, rel=1e-12)
    many = {"active_ratio": 0.1, "user_bps": 1e6, "quantile": 0.99}
    exact = multiplexing.shared_bandwidth_bps(10**8, **many)
    assert float(multiplexing.shared_bandwidth_normal_bps(10**8, **many)) == pytest.approx(
        float(exact), rel=1e-6
    )


def test_classes_of_one_kind_are_one_class():
    """Identity: two classes of the same users are one of both."""
    two = multiplexing.class_bandwidth_bps(
        [300, 200], active_ratio=[0.1, 0.1], user_bps=[2e6, 2e6], quantile=0.95
    )
    one = multiplexing.shared_bandwidth_normal_bps(
        500, active_ratio=0.1, user_bps=2e6, quantile=0.95
    )
    assert float(two) == pytest.approx(float(one), rel=1e-14)


def test_classes_against_draws():
    """Measured: 400,000 draws of two classes; the error of the 95th percentile is below 0.5 %."""
    draw = np.random.default_rng(7)
    drawn = 2.0 * draw.binomial(400, 0.1, 400_000) + 5.0 * draw.binomial(100, 0.3, 400_000)
    found = multiplexing.class_bandwidth_bps(
        [400, 100], active_ratio=[0.1, 0.3], user_bps=[2e6, 5e6], quantile=0.95
    )
    assert float(found) / 1e6 == pytest.approx(np.quantile(drawn, 0.95), rel=0.005)


def test_edges():
    assert float(multiplexing.overload_ratio(35, user_count=35, active_ratio=1.0)) == 0.0
    assert float(multiplexing.overload_ratio(0, user_count=35, active_ratio=0.0)) == 0.0
    assert float(multiplexing.overload_ratio(34, user_count=35, active_ratio=1.0)) == 1.0
    all_of_them = multiplexing.active_percentile_count(10**6, active_ratio=1e-6, quantile=1.0)
    assert float(all_of_them) == 1e6
    assert float(multiplexing.active_percentile_count(0, active_ratio=0.1, quantile=0.99)) == 0.0
    link = {"user_bps": 1e5, "active_ratio": 0.0, "quantile": 0.99}
    assert float(multiplexing.supported_user_count(1e6, **link)) == np.inf
    with pytest.raises(DomainError) as refused:
        multiplexing.overload_ratio(10, user_count=2e9, active_ratio=0.1)
    assert refused.value.code == "out-of-range"


def test_few_users_are_told_where_the_normal_distribution_is_used():
    """Derived: 35 x 0.1 x 0.9 is 3.15, below 10; 120 x 0.1 x 0.9 is above."""
    for users, codes in ((35, ["few-for-normal"]), (120, []), (0, [])):
        with doubts() as found:
            multiplexing.overload_normal_ratio(10, user_count=users, active_ratio=0.1)
        assert [doubt.code for doubt in found] == codes
    with doubts() as found:
        multiplexing.class_bandwidth_bps(
            [20, 5], active_ratio=[0.1, 0.3], user_bps=[2e6, 5e6], quantile=0.95
        )
    # (1.8 x 2^2 + 1.05 x 5^2)^3 / (1.8 x 2^3 + 1.05 x 5^3)^2, the variance of as many of one rate
    assert found[0].values["value"] == pytest.approx(33.45**3 / 145.65**2)


@pytest.mark.each(("users", "is_few"), [(2, True), (39, True), (40, False), (400, False)])
def test_ten_users_of_variance_are_enough(users, is_few):
    """Derived: N / 4 at a half; the source's limit is 10 and more."""
    for model, first in (
        (multiplexing.overload_normal_ratio, {"active_count": 1}),
        (multiplexing.shared_bandwidth_normal_bps, {"user_bps": 1.0, "quantile": 0.9}),
    ):
        with doubts() as found:
            model(**first, user_count=users, active_ratio=0.5)
        assert [doubt.code for doubt in found] == ["few-for-normal"] * is_few


def test_lists_of_classes_have_one_length():
    with pytest.raises(DomainError, match="active_ratio must have 2 numbers, got 3"):
        multiplexing.class_bandwidth_bps(
            [1, 2], active_ratio=[0.1] * 3, user_bps=[1.0] * 2, quantile=0.5
        )
    with pytest.raises(DomainError, match="user_bps must have 2 numbers, got 1"):
        multiplexing.class_bandwidth_bps([1, 2], active_ratio=[0.1] * 2, user_bps=1.0, quantile=0.5)


def test_one_user_or_two_by_the_normal_distribution():
    """Derived: two users at a half have a mean of 1 and a deviation of sqrt(1/2); a user who never
    sends takes nothing, one who always does all of a rate, whatever the percentile."""
    wanted = {"user_bps": 1e6, "quantile": 0.8}
    with doubts():
        found = multiplexing.shared_bandwidth_normal_bps(2, active_ratio=0.5, **wanted)
        assert found == pytest.approx(1e6 * (1 + 0.8416212335729143 * 0.5**0.5), rel=1e-12)
        assert multiplexing.shared_bandwidth_normal_bps(7, active_ratio=0.0, **wanted) == 0
        assert multiplexing.shared_bandwidth_normal_bps(7, active_ratio=1.0, **wanted) == 7e6


def test_no_share_of_the_time_takes_nobody():
    """Definition: the rate that is not exceeded for none of the time."""
    given = {"active_ratio": 0.5, "quantile": 0.0}
    assert multiplexing.active_percentile_count([0, 1, 30], **given).tolist() == [0.0, 0.0, 0.0]
