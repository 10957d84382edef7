"""Percentiles and Sobol indices of models whose distribution is known otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from netcalc import uncertain
from netcalc.errors import DomainError
from netcalc.models.delays.latency import transfer_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.tcp.window import bdp_bytes
from netcalc.uncertain.sampling import Evaluation


def product(x, *, y):
    return x * y


def total(x, *, y):
    return x + y


def ishigami(x, *, y, z):
    return np.sin(x) + 7.0 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


def test_the_product_of_two_uniforms_has_its_published_distribution():
    """Derived: P(XY <= p) = p - p ln p for uniforms from 0 to 1."""
    found = uncertain.spread(
        product, {"x": uncertain.uniform(0, 1), "y": uncertain.uniform(0, 1)}, draws=1 << 16
    )
    for percent, value in found.percentiles.items():
        assert value - value * math.log(value) == pytest.approx(percent / 100, abs=3e-4)
    # Derived: Var(E[XY|X]) = 1/48 of Var(XY) = 7/144.
    assert found.first_order == pytest.approx({"x": 3 / 7, "y": 3 / 7}, abs=2e-3)
    assert found.total_order == pytest.approx({"x": 4 / 7, "y": 4 / 7}, abs=2e-3)


def test_ishigami_has_its_published_indices():
    """Published: Ishigami and Homma 1990, a = 7, b = 0.1; indices by their closed form."""
    a, b, pi = 7.0, 0.1, math.pi
    variance = a**2 / 8 + b * pi**4 / 5 + b**2 * pi**8 / 18 + 0.5
    of_x = 0.5 * (1 + b * pi**4 / 5) ** 2 / variance
    of_y = a**2 / 8 / variance
    of_xz = 8 * b**2 * pi**8 / 225 / variance
    angle = uncertain.uniform(-pi, pi)
    found = uncertain.spread(ishigami, {"x": angle, "y": angle, "z": angle})
    assert found.first_order == pytest.approx({"x": of_x, "y": of_y, "z": 0.0}, abs=0.01)
    assert found.total_order == pytest.approx({"x": of_x + of_xz, "y": of_y, "z": of_xz}, abs=0.01)
    assert found.most_important == "y"


def test_a_product_of_lognormals_is_lognormal():
    """Derived: medians multiply, variances of the logarithms add."""
    given = {
        "x": uncertain.lognormal(0.030, value=0.060),
        "y": uncertain.lognormal(10.0, ratio=0.9, value=20.0),
    }
    found = uncertain.spread(product, given, draws=1 << 16)
    sigma = math.hypot(math.log(2) / 1.6448536269514722, math.log(2) / 1.2815515655446004)
    for percent, score in ((5.0, -1.6448536269514722), (50.0, 0.0), (95.0, 1.6448536269514722)):
        assert found.percentiles[percent] == pytest.approx(0.3 * math.exp(sigma * score), rel=3e-3)


def test_small_spreads_follow_the_delta_method():
    """Derived: to first order the variance is the sum of (dt/dx)^2 var(x)."""
    given = {
        "payload_bytes": 1e6,
        "bandwidth_bps": uncertain.normal(10e6, 10e3),
        "latency_s": uncertain.normal(0.030, 0.5e-3),
    }
    found = uncertain.spread(transfer_s, given, draws=1 << 14)
    of_rate = 8e6 / 10e6**2 * 10e3
    deviation = math.hypot(of_rate, 0.5e-3)
    assert found.samples.std() == pytest.approx(deviation, rel=2e-3)
    assert found.first_order["bandwidth_bps"] == pytest.approx((of_rate / deviation) ** 2, abs=5e-3)
    assert found.median == pytest.approx(0.83, rel=1e-5)


@pytest.mark.each("correlation", [-0.8, 0.0, 0.5, 1.0])
def test_correlated_normals_add_with_their_covariance(correlation):
    """Identity: Var(X + Y) = Var X + Var Y + 2 rho sd X sd Y."""
    found = uncertain.spread(
        total,
        {"x": uncertain.normal(0, 1), "y": stats.norm(0, 2)},
        correlations={("x", "y"): correlation},
        draws=1 << 15,
    )
    assert found.samples.var() == pytest.approx(5 + 4 * correlation, rel=5e-3)
    assert found.first_order == {}
    assert [note.code for note in found.notes] == ["importance-correlated"]


def test_correlations_that_contradict_each_other_are_refused():
    one = uncertain.normal(0, 1)
    pairs = {("x", "y"): 0.9, ("y", "z"): 0.9, ("x", "z"): -0.9}
    with pytest.raises(DomainError) as caught:
        uncertain.spread(ishigami, dict.fromkeys("xyz", one), correlations=pairs)
    assert caught.value.code == "correlations-impossible"


def test_the_same_seed_gives_the_same_answer_and_another_another():
    given = {"x": uncertain.uniform(0, 1), "y": uncertain.normal(3, 1)}
    first, again, other = (
        uncertain.spread(product, given, draws=70_000, seed=seed) for seed in (4, 4, 5)
    )
    assert np.array_equal(first.samples, again.samples)
    assert first.first_order == again.first_order
    assert not np.array_equal(first.samples, other.samples)


@pytest.mark.each("truncate", [False, True])
def test_impossible_draws_are_refused_with_their_share_or_left_out(truncate):
    """Derived: of a normal distribution of 1% ± 1%, Phi(-1) = 0.158655 lies below 0."""
    from netcalc.models.tcp.loss_limited import mathis_throughput_bps

    given = {"loss_ratio": uncertain.normal(0.01, 0.01), "mss_bytes": 1460, "rtt_s": 0.05}
    if not truncate:
        with pytest.raises(DomainError) as caught:
            uncertain.spread(mathis_throughput_bps, given)
        assert caught.value.code == "draws-impossible"
        assert caught.value.values["share"] == pytest.approx(0.158655, abs=1e-6)
        assert caught.value.name == "loss_ratio"
        return
    found = uncertain.spread(mathis_throughput_bps, given, truncate=True)
    [note] = [note for note in found.notes if note.code == "draws-truncated"]
    assert note.values["share"] == pytest.approx(0.158655, abs=1e-6)
    # Derived: the median of what is left is where Phi is 0.158655 + 0.841345 / 2.
    loss = 0.01 + 0.01 * stats.norm.ppf(0.158655254 + 0.841344746 / 2)
    assert found.median == pytest.approx(
        float(mathis_throughput_bps(loss, mss_bytes=1460, rtt_s=0.05)), rel=2e-3
    )


def test_counts_are_drawn_as_whole_numbers():
    """Identity: 1..4 are four counts alike."""

    def users(user_count):
        assert (user_count == np.round(user_count)).all()
        return user_count * 1.0

    found = uncertain.spread(users, {"user_count": uncertain.uniform(1, 4)}, draws=1 << 12)
    values, counts = np.unique(found.samples, return_counts=True)
    assert values.tolist() == [1, 2, 3, 4]
    assert counts == pytest.approx([1024] * 4, abs=2)


def test_an_infinite_result_stays_in_the_percentiles():
    """Identity: a queue with a load above 1 has an infinite wait; the share is that of the load."""
    found = uncertain.spread(
        mm1_wait_s,
        {"utilization": uncertain.uniform(0.5, 1.5), "service_s": 1e-3},
        percentiles=[25, 75],
    )
    assert found.percentile(75) == math.inf
    assert found.percentile(25) == pytest.approx(1e-3 * 0.75 / 0.25, rel=2e-3)
    notes = {note.code: note.values for note in found.notes}
    assert notes["draws-infinite"]["share"] == pytest.approx(0.5, abs=1e-3)
    assert "importance-infinite" in notes


def test_a_model_that_takes_no_arrays_is_called_for_each_draw():
    """Identity: the same numbers as the model that does."""

    def slow(x, *, y):
        return math.exp(math.log(x) + math.log(y))

    tried = Evaluation(slow, {"y": 1.0})
    tried({"x": np.array([1.0, 2.0])})
    assert tried.at_once is False  # and is not tried again
    given = {"x": uncertain.uniform(1, 2), "y": uncertain.uniform(1, 2)}
    one_by_one = uncertain.spread(slow, given, draws=2000)
    at_once = uncertain.spread(product, given, draws=2000)
    assert one_by_one.samples == pytest.approx(at_once.samples, rel=1e-12)
    # Derived: Var(E[XY|X]) / Var(XY) for uniforms from 1 to 2, as for those from 0 to 1 above.
    of_x = 1.5**2 / 12 / ((7 / 3) ** 2 - 1.5**4)
    assert one_by_one.first_order["x"] == pytest.approx(of_x, abs=0.02)


def test_a_model_for_which_a_list_is_one_thing_is_called_for_each_draw():
    """Identity: alone, each number is all of its sum; in an array it would be a part."""

    def of_all(x):
        return x / np.sum(x)

    found = uncertain.spread(of_all, {"x": uncertain.uniform(1, 2)}, draws=100)
    assert (found.samples == 1.0).all()


def test_a_result_of_several_numbers_is_refused_with_its_shape():
    def two(x):
        return np.array([x, x]).reshape(2, -1)

    with pytest.raises(DomainError) as caught:
        uncertain.spread(two, {"x": uncertain.uniform(1, 2)}, draws=100)
    assert "two must give one number for single numbers, but gives an array of shape (2, 1)" in str(
        caught.value
    )


def test_what_is_given_wrong_is_refused():
    one = uncertain.uniform(1, 2)
    cases = [
        ({"x": one}, {}, "input-missing"),
        ({"x": one, "y": 1.0, "q": 2.0}, {}, "not-a-choice"),
        ({"x": 1.0, "y": 1.0}, {}, "no-input-varies"),
        ({"x": one, "y": 1.0}, {"draws": 1}, "out-of-range"),
        ({"x": one, "y": 1.0}, {"draws": 2.5}, "not-whole"),
        ({"x": one, "y": 1.0}, {"seed": -1}, "out-of-range"),
        ({"x": one, "y": 1.0}, {"percentiles": [101]}, "out-of-range"),
        ({"x": one, "y": 1.0}, {"correlations": {("x", "y"): 0.5}}, "correlated-no-range"),
        ({"x": one, "y": one}, {"correlations": {("x", "y"): 1.5}}, "out-of-range"),
        ({"x": one, "y": one}, {"correlations": {("x", "x"): 0.5}}, "correlated-with-itself"),
        ({"x": one, "y": np.ones(7)}, {}, "result-of-draws-not-numbers"),
        ({"x": one, "y": 1.0}, {"column": "z"}, "not-a-choice"),
    ]
    for inputs, more, code in cases:
        with pytest.raises(DomainError) as caught:
            uncertain.spread(product, inputs, **more)
        assert caught.value.code == code, inputs
        assert str(caught.value)


def test_a_measured_column_is_drawn_as_often_as_it_was_measured():
    """Identity: 10% of the values are 3, so that the 95th percentile is."""
    values = [1.0] * 6 + [2.0] * 3 + [3.0]
    found = uncertain.spread(product, {"x": uncertain.empirical(values), "y": 10.0})
    assert list(found.percentiles.values()) == [10.0, 10.0, 30.0]
    assert found.samples.mean() == pytest.approx(15.0, rel=1e-3)


def test_the_bdp_of_two_ranges_has_the_percentiles_of_a_published_distribution():
    """Derived: for R from 80 to 100 Mbit/s and d from 20 to 40 ms, P(Rd/8 <= q) by integration."""
    found = uncertain.spread(
        bdp_bytes,
        {
            "bandwidth_bps": uncertain.uniform(80e6, 100e6),
            "rtt_s": uncertain.uniform(0.020, 0.040),
        },
        draws=1 << 15,
    )
    rates = np.linspace(80e6, 100e6, 20_001)
    for percent, value in found.percentiles.items():
        share = np.clip((8 * value / rates - 0.020) / 0.020, 0, 1).mean()
        assert share == pytest.approx(percent / 100, abs=5e-4)


def test_elements_of_a_list_may_vary():
    """Derived: the sum of two uniforms, 1 + U + 3 + 2 V, has the mean 5.5 and variance 5/12."""

    def summed(parts):
        return float(np.sum(parts)) + 1.0

    parts = [uncertain.uniform(0, 1), 3.0, uncertain.uniform(0, 2)]
    found = uncertain.spread(summed, {"parts": parts}, draws=1 << 12)
    assert found.samples.mean() == pytest.approx(5.5, rel=1e-3)
    assert found.samples.var() == pytest.approx(5 / 12, rel=1e-2)
    assert found.first_order == pytest.approx({"parts[0]": 0.2, "parts[2]": 0.8}, abs=0.03)
