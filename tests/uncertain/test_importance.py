"""Which input matters most: Sobol indices against known ones, and what an input explains alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from netcalc import checks, uncertain
from netcalc.uncertain.spreads import explained_alone

P95 = stats.norm.ppf(0.95)


def product(a, b, c):
    return a * b * c


def lognormals(*sigmas):
    """Return three inputs of median 1, by the sigma of their logarithms."""
    return {
        name: uncertain.lognormal(1.0, value=np.exp(P95 * sigma))
        for name, sigma in zip("abc", sigmas, strict=True)
    }


def indices_of_product(*sigmas):
    """Derived: the variance of a product of lognormals is that of one with the sum of squares."""
    square = np.square(sigmas)
    whole = np.expm1(square.sum())
    first = np.expm1(square) / whole
    total = 1.0 - np.expm1(square.sum() - square) / whole
    return dict(zip("abc", first, strict=True)), dict(zip("abc", total, strict=True))


@pytest.mark.each("seed", [0, 1, 2])
def test_indices_of_a_product_of_lognormals(seed):
    found = uncertain.spread(product, lognormals(0.2, 0.3, 0.4), seed=seed)
    first, total = indices_of_product(0.2, 0.3, 0.4)
    assert found.first_order == pytest.approx(first, abs=0.01)
    assert found.total_order == pytest.approx(total, abs=0.01)
    assert found.notes == ()


@pytest.mark.each("seed", [0, 1, 2])
def test_a_long_tail_has_rougher_indices_and_a_note_that_says_how_rough(seed):
    """Derived as above; a note of 2% is a standard error, of which four are allowed."""
    found = uncertain.spread(product, lognormals(1.0, 0.8, 0.5), seed=seed)
    first, total = indices_of_product(1.0, 0.8, 0.5)
    [note] = [one for one in found.notes if one.code == "importance-rough"]
    error = note.values["error"]
    assert 0.01 < error < 0.1
    assert found.first_order == pytest.approx(first, abs=4 * error)
    assert found.total_order == pytest.approx(total, abs=4 * error)


def test_what_a_correlated_input_explains_alone():
    """Derived: of a + b with correlation r, E(a + b | a) = (1 + r) a: (1 + r)^2 / (2 + 2 r)."""

    def total(a, b):
        return a + b

    normal = uncertain.normal(0.0, 1.0)
    found = uncertain.spread(
        total, {"a": normal, "b": normal}, draws=1 << 16, correlations={("a", "b"): 0.6}
    )
    assert found.first_order == {}
    assert found.explained_alone == pytest.approx({"a": 0.8, "b": 0.8}, abs=0.01)
    assert [note.code for note in found.notes] == ["importance-correlated"]


def test_an_input_without_effect_explains_what_it_has_in_common_with_the_other():
    """Derived: the mean of a given b is r b, whose variance is r^2."""

    def first(a, b):
        return a + 0.0 * b

    normal = uncertain.normal(0.0, 1.0)
    found = uncertain.spread(
        first, {"a": normal, "b": normal}, draws=1 << 16, correlations={("a", "b"): 0.5}
    )
    assert found.explained_alone == pytest.approx({"a": 1.0, "b": 0.25}, abs=0.01)
    assert found.most_important == "a"


def test_of_independent_inputs_it_is_the_first_order_index():
    """Published: Ishigami and Homma 1990; first-order indices 0.3139, 0.4424 and 0."""
    rng = np.random.default_rng(1)
    a, b, c = rng.uniform(-np.pi, np.pi, (3, 200_000))
    results = np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)
    found = explained_alone({"a": a, "b": b, "c": c}, results)
    assert found == pytest.approx({"a": 0.3139, "b": 0.4424, "c": 0.0}, abs=0.01)


def test_infinite_results_count_by_their_ranks():
    """Identity: the ranks do not change if the largest third is made infinite and tied."""
    rng = np.random.default_rng(2)
    a, b = rng.uniform(0.0, 1.0, (2, 30_000))
    finite = np.where(a < 2 / 3, a, 1.0)
    infinite = np.where(a < 2 / 3, a, np.inf)
    ranks = stats.rankdata(finite)
    expected = explained_alone({"a": a, "b": b}, ranks)
    assert explained_alone({"a": a, "b": b}, infinite) == expected
    assert expected == pytest.approx({"a": 1.0, "b": 0.0}, abs=0.01)


def test_chance_is_taken_off():
    """Derived: an input without effect explains nothing, in the mean over many runs."""
    shares = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        given, results = rng.uniform(size=(2, 1000))
        shares.append(explained_alone({"x": given}, results)["x"])
    # of 20 bins and 1000 draws, 19 / 999 would be explained by chance; cut off at 0 below
    assert np.mean(shares) < 0.4 * 19 / 999


def test_counts_and_measured_values_have_a_bin_each():
    """Derived: the result is a function of the count, so that it explains everything."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 5, 5000).astype(float)
    assert explained_alone({"n": counts}, counts**3)["n"] == pytest.approx(1.0)


def test_too_few_draws_have_no_shares():
    normal = uncertain.normal(0.0, 1.0)
    found = uncertain.spread(
        lambda a, b: a + b, {"a": normal, "b": normal}, draws=64, correlations={("a", "b"): 0.6}
    )
    assert found.explained_alone == {}
    assert [note.code for note in found.notes] == ["importance-few-draws"]


def test_a_model_that_takes_long_has_fewer_draws_and_shares_of_these():
    """Derived: of a + b, each uniform, each explains half of the variance."""

    @checks.takes_long
    def slow(a, b):
        return np.asarray(a) + np.asarray(b)

    inputs = {name: uncertain.uniform(0.0, 1.0) for name in "ab"}
    found = uncertain.spread(slow, inputs, draws=200)
    assert found.first_order == {}
    assert found.explained_alone == pytest.approx({"a": 0.5, "b": 0.5}, abs=0.15)
    assert [note.code for note in found.notes] == ["importance-of-draws"]
    usual = uncertain.spread(slow, inputs)
    assert usual.draws == 1000
    assert [note.code for note in usual.notes] == ["draws-fewer", "importance-of-draws"]
    assert uncertain.spread(product, lognormals(0.2, 0.3, 0.4)).draws == 10_000
