"""Approximations against the exact answer, at the end of their published range and beyond it.

Each range is read from the docstring. Inside it the stated error bounds the approximation, outside
it does not.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from netcalc import checks
from netcalc.errors import doubts
from netcalc.models.queues import backlog, queueing, token_bucket
from netcalc.models.rates import hashing
from netcalc.models.users import growth, multiplexing


def limit(function, name, end=0):
    """Return an end of a published range: 0 where it begins, 1 where it ends."""
    return checks.published_ranges(function)[name][end]


def names(function, *arguments, **keywords):
    """Return what is noted to lie outside its range."""
    with doubts() as found:
        function(*arguments, **keywords)
    return [doubt.values.get("name") for doubt in found if "limit" in doubt.values]


def users_for(variance, share):
    return math.ceil(variance / (share * (1.0 - share)))


SHARES = (0.01, 0.05, 0.1, 0.3, 0.5)


def worst_probability(variance):
    """Return the largest error of a probability; second method: scipy's binomial distribution."""
    errors = []
    for share in SHARES:
        users = users_for(variance, share)
        active = np.arange(users + 1)
        given = {"user_count": users, "active_ratio": share}
        with doubts():
            found = multiplexing.overload_normal_ratio(active, **given)
        errors.append(np.abs(found - binom.sf(active, users, share)).max())
    return max(errors)


def test_the_normal_distribution_for_a_probability():
    variance = limit(multiplexing.overload_normal_ratio, "active_variance")
    assert worst_probability(variance) < 0.021
    assert worst_probability(10 * variance) < 0.021
    assert 0.021 < worst_probability(variance / 2) < 0.028
    given = {"active_ratio": 0.1}
    assert names(multiplexing.overload_normal_ratio, 20, user_count=112, **given) == []
    assert names(multiplexing.overload_normal_ratio, 20, user_count=111, **given) == [
        "active_variance"
    ]


def worst_rate(variance):
    """Return the largest relative error of a rate; second method: the binomial percentile."""
    errors = []
    for share in SHARES:
        users = users_for(variance, share)
        for quantile in (0.5, 0.9, 0.95, 0.99, 0.999):
            given = {"active_ratio": share, "quantile": quantile}
            with doubts():
                found = multiplexing.shared_bandwidth_normal_bps(users, user_bps=1.0, **given)
            errors.append(abs(found / binom.ppf(quantile, users, share) - 1.0))
    return max(errors)


def test_the_normal_distribution_for_a_rate():
    variance = limit(multiplexing.shared_bandwidth_normal_bps, "active_variance")
    assert worst_rate(variance) < 0.06
    assert worst_rate(10 * variance) < 0.06
    assert 0.06 < worst_rate(variance / 2) < 0.121


def classes_error(classes, quantile):
    """Return the relative error for classes of users; second method: the sum of all, convolved."""
    weights = np.array([1.0])
    for users, share, rate in classes:
        spread = np.zeros(users * rate + 1)
        spread[::rate] = binom.pmf(np.arange(users + 1), users, share)
        weights = np.convolve(weights, spread)
    exact = np.searchsorted(weights.cumsum(), quantile)
    users, shares, rates = zip(*classes, strict=True)
    with doubts() as found:
        rate = multiplexing.class_bandwidth_bps(
            users, active_ratio=shares, user_bps=np.array(rates, float), quantile=quantile
        )
    return abs(rate / exact - 1.0), bool(found)


def test_the_normal_distribution_for_classes():
    """Variances of users of one rate that would be as skewed: 35.3, 10.04 and 0.80."""
    inside = ([(400, 0.1, 2), (100, 0.3, 5)], [(500, 0.1, 1), (111, 0.1, 50)])
    for classes in inside:
        for quantile in (0.5, 0.9, 0.95, 0.99, 0.999):
            error, noted = classes_error(classes, quantile)
            assert error < 0.05
            assert not noted
    # 45.8 users vary, but three of them decide
    error, noted = classes_error([(500, 0.1, 1), (3, 0.5, 50)], 0.999)
    assert 0.05 < error < 0.21
    assert noted


def worst_fullest(flows_a_link):
    """Return the largest relative error; second method: the exact mean of all placements."""
    errors = []
    for links in (2, 4, 16, 64):
        with doubts():
            found = hashing.fullest_link_approx_flows(flows_a_link * links, link_count=links)
        exact = hashing.fullest_link_flows(flows_a_link * links, link_count=links)
        errors.append(abs(found / exact - 1.0))
    return max(errors)


def test_the_law_of_many_flows():
    flows = int(limit(hashing.fullest_link_approx_flows, "even_share"))
    assert worst_fullest(flows) < 0.17
    assert worst_fullest(10 * flows) < 0.06
    assert 0.17 < worst_fullest(flows // 2) < 0.23


def wait_behind_exponential(transform, load):
    """Return the mean wait of GI/M/1 in services, s/(1-s) (Kleinrock vol. 1, 6.4): exact.

    ``transform`` is the Laplace transform of interarrival times of mean 1.
    """
    share = brentq(lambda s: transform((1.0 - s) / load) - s, 1e-12, 1.0 - 1e-6)
    return share / (1.0 - share)


def two_phases(scv):
    """Return the transform of hyperexponential times of mean 1, with balanced means."""
    share = 0.5 * (1.0 + math.sqrt((scv - 1.0) / (scv + 1.0)))
    rates = 2.0 * share, 2.0 * (1.0 - share)
    return lambda s: share * rates[0] / (rates[0] + s) + (1.0 - share) * rates[1] / (rates[1] + s)


ARRIVALS = {
    0.0: lambda s: math.exp(-s),
    0.25: lambda s: (4.0 / (4.0 + s)) ** 4,
    0.5: lambda s: (2.0 / (2.0 + s)) ** 2,
    2.0: two_phases(2.0),
    9.0: two_phases(9.0),
}


def worst_kingman(load):
    errors = []
    for scv, transform in ARRIVALS.items():
        given = {"service_s": 1.0, "arrival_scv": scv, "service_scv": 1.0}
        with doubts():
            found = queueing.kingman_wait_s(load, **given)
        errors.append(found / wait_behind_exponential(transform, load) - 1.0)
    assert min(errors) > 0.0, "never too short"
    return max(errors)


def test_kingman_in_heavy_traffic():
    load = limit(queueing.kingman_wait_s, "utilization")
    assert worst_kingman(load) < 0.08
    assert worst_kingman(0.95) < 0.08
    assert 0.08 < worst_kingman(0.85) < 0.13


def on_off_transform(burst, duty):
    """Return the transform of the times between packets of an on-off source, of mean 1.

    Interrupted Poisson arrivals are a renewal process (Fischer and Meier-Hellstern, 1993, 2.1).
    """
    ends, begins = 1.0 / burst, duty / (burst * (1.0 - duty))
    mean = (ends + begins) / begins

    def transform(s):
        s /= mean
        return (s + begins) / (s * s + (1.0 + ends + begins) * s + begins)

    return transform


def worst_dispersion(load, bursts):
    errors = []
    for burst in bursts:
        for duty in (0.1, 0.35, 0.5, 0.8):
            off_s = burst * (1.0 - duty) / duty
            index = backlog.on_off_dispersion_index(1.0, on_s=burst, off_s=off_s)
            with doubts():
                found = backlog.dispersion_wait_s(
                    load, service_s=1.0, dispersion=index, service_scv=1.0
                )
            exact = wait_behind_exponential(on_off_transform(burst, duty), load)
            errors.append(abs(found / exact - 1.0))
    return max(errors)


def test_bursts_in_heavy_traffic():
    load = limit(backlog.dispersion_wait_s, "utilization")
    assert worst_dispersion(load, (2, 5, 10, 20)) < 0.09
    assert worst_dispersion(0.98, (2, 5, 10, 20)) < 0.09
    assert 0.09 < worst_dispersion(0.8, (2, 5, 10, 20)) < 0.171
    assert 0.09 < worst_dispersion(load, (100,)) < 0.251


def test_the_index_of_dispersion_needs_intervals():
    """Measured: the spread of the index of Poisson counts, which is 1; the rule is sqrt(2/n)."""
    rng = np.random.default_rng(1)
    intervals = int(limit(backlog.dispersion_index, "interval_count"))
    for count, inside in ((intervals, True), (intervals // 2, False)):
        draws = rng.poisson(20.0, (2000, count))
        spread = np.std(draws.var(axis=1, ddof=1) / draws.mean(axis=1))
        assert spread == pytest.approx(math.sqrt(2.0 / count), rel=0.06)
        assert (spread < 0.106) == inside
        assert (names(backlog.dispersion_index, draws[0]) == []) == inside


def packets_backlog(duration_s, input_bps, output_bps, frame=1518.0):
    """Return what a port holds in whole frames: those that came, less those that have left."""
    came = math.floor(duration_s * input_bps / (8.0 * frame))
    first_s = 8.0 * frame / input_bps
    left = max(0, math.floor((duration_s - first_s) * output_bps / (8.0 * frame)))
    return (came - min(left, came)) * frame


def test_a_fluid_is_a_packet_off():
    least = limit(backlog.fluid_backlog_bytes, "backlog_bytes")
    assert least == 10 * 1518.0
    errors = {}
    for size in (least, 1.5 * least, 10 * least, 2 * 1518.0):
        times = np.linspace(size, size + 1518.0, 40) * 8.0 / 30e9  # 40 in, 10 out
        off = [packets_backlog(t, 40e9, 10e9) - t * 30e9 / 8.0 for t in times]
        errors[size] = max(abs(one) for one in off) / size
    assert max(errors[one] for one in errors if one >= least) <= 0.105
    assert errors[2 * 1518.0] > 0.3
    given = {"input_bps": 40e9, "output_bps": 10e9}
    assert names(backlog.fluid_backlog_bytes, 8.0 * least / 30e9 * 1.001, **given) == []
    assert names(backlog.fluid_backlog_bytes, 8.0 * least / 40e9, **given) == ["backlog_bytes"]
    assert names(backlog.fluid_backlog_bytes, 0.0, **given) == []


def test_a_token_bucket_lets_whole_packets_through():
    least = limit(token_bucket.token_bucket_passed_bytes, "result")
    given = {"bucket_bytes": 10e3, "token_bps": 10e6, "peak_bps": 1e9}

    def error(size):
        worst = 0.0
        for more in np.linspace(0.0, 1518.0, 30):
            time_s = (size + more - 10e3) * 8.0 / 10e6
            with doubts():
                fluid = token_bucket.token_bucket_passed_bytes(time_s, **given)
            worst = max(worst, 1.0 - math.floor(fluid / 1518.0) * 1518.0 / fluid)
        return worst

    assert error(least) < 0.1
    assert error(11e3) > 0.1
    assert names(token_bucket.token_bucket_passed_bytes, 1e-3, **given) == ["result"]


def slowing(rate, years):
    """Return traffic whose growth falls by a tenth of itself every year, year by year."""
    traffic = 1.0
    for _ in range(years):
        traffic *= 1.0 + rate
        rate *= 0.9
    return traffic


def test_growth_is_no_law_for_long():
    years = limit(growth.grown_traffic_bps, "elapsed_s", 1) / growth.YEAR_S
    assert years == 3.0

    def worst(ahead):
        errors = []
        for rate in (0.2, 0.3, 0.4):
            with doubts():
                found = growth.grown_traffic_bps(
                    1.0, annual_growth=rate, elapsed_s=ahead * growth.YEAR_S
                )
            errors.append(found / slowing(rate, ahead) - 1.0)
        return max(errors)

    assert worst(3) < 0.09 < worst(4) < 0.181
    assert limit(growth.exhaustion_s, "result", 1) == 3.0 * growth.YEAR_S
    link = {"capacity_bps": 1e10, "annual_growth": 0.3}
    assert names(growth.exhaustion_s, 1e10 / 1.3**2.9, **link) == []
    assert names(growth.exhaustion_s, 1e10 / 1.3**3.1, **link) == ["result"]


def test_a_season_is_no_growth():
    """Derived: a season of 10 % on growth of 30 %, from any day of the year."""

    def worst(years):
        days = np.linspace(0.0, 1.0, 41)
        first, last = (1.3**t * (1.0 + 0.1 * np.sin(2 * np.pi * t)) for t in (days, days + years))
        with doubts():
            found = growth.annual_growth(
                last, earlier_traffic_bps=first, elapsed_s=years * growth.YEAR_S
            )
        return np.abs(found - 0.3).max()

    assert limit(growth.annual_growth, "elapsed_s") == growth.YEAR_S
    assert worst(1.0) < 1e-12
    assert worst(1.5) < 0.19 < worst(0.5) < 0.65
