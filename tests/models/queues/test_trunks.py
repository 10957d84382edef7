"""Kaufman-Roberts, Engset, Erlang A and M/M/c/K against balance equations and each other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.queues import erlang, mm1


def birth_death(births, deaths):
    """Second method: stationary probabilities from rates up and down."""
    weights = [1.0]
    for up, down in zip(births, deaths, strict=True):
        weights.append(weights[-1] * up / down)
    return np.array(weights) / sum(weights)


# Kaufman and Roberts


@pytest.mark.each(
    ("offered", "sizes", "circuits"),
    [([10, 2], [1, 6], 30), ([3, 1, 0.5], [1, 2, 5], 8), ([0, 4], [1, 3], 7), ([2, 2], [3, 5], 4)],
)
def test_kaufman_roberts_against_the_product_form(offered, sizes, circuits):
    """Second method: the weight of every combination of calls, in rational numbers."""
    counts = [range(circuits // size + 1) for size in sizes]
    total, blocked = Fraction(0), [Fraction(0)] * len(sizes)
    for calls in product(*counts):
        taken = sum(n * size for n, size in zip(calls, sizes, strict=True))
        if taken <= circuits:
            weight = Fraction(1)
            for n, load in zip(calls, offered, strict=True):
                weight *= Fraction(load) ** n / factorial(n)
            total += weight
            for index, size in enumerate(sizes):
                blocked[index] += weight if taken + size > circuits else 0
    found = erlang.multirate_blocking_ratio(offered, circuits_per_call=sizes, server_count=circuits)
    np.testing.assert_allclose(found, [float(one / total) for one in blocked], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.each(("load", "circuits"), [(8, 10), (900, 1000), (99_000, 100_000)])
def test_calls_of_one_size_are_erlang_b(load, circuits):
    found = erlang.multirate_blocking_ratio(
        [load / 4, 3 * load / 4], circuits_per_call=[1, 1], server_count=circuits
    )
    exact = float(erlang.erlang_b_ratio(load, server_count=circuits))
    np.testing.assert_allclose(found, [exact, exact], rtol=1e-9)
    large = erlang.multirate_blocking_ratio(
        [load], circuits_per_call=[7], server_count=7 * circuits + 6
    )
    assert float(large[0]) == pytest.approx(exact, rel=1e-9)


def test_calls_larger_than_the_link():
    found = erlang.multirate_blocking_ratio([5, 1], circuits_per_call=[1, 20], server_count=10)
    assert found[1] == 1.0
    exact = float(erlang.erlang_b_ratio(5, server_count=10))
    assert float(found[0]) == pytest.approx(exact, rel=1e-12)
    with pytest.raises(DomainError):
        erlang.multirate_blocking_ratio([5], circuits_per_call=[1], server_count=2e6)


# Engset


@pytest.mark.each(("sources", "servers"), [(20, 5), (6, 5), (5, 5), (4, 5), (1, 1), (300, 40)])
@pytest.mark.each("load", [0.01, 0.1, 2.0])
def test_engset_against_the_sums(sources, servers, load):
    """Second method: binomial terms in rational numbers."""
    a = Fraction(load)

    def share(count):
        terms = [comb(count, k) * a**k for k in range(servers + 1)]
        return float(terms[servers] / sum(terms))

    calls = erlang.engset_blocking_ratio(sources, source_erlang=load, server_count=servers)
    time = erlang.engset_time_ratio(sources, source_erlang=load, server_count=servers)
    assert float(calls) == pytest.approx(share(sources - 1), rel=1e-12)
    assert float(time) == pytest.approx(share(sources), rel=1e-12)


def test_engset_of_many_sources_is_erlang_b():
    """Limit: a million sources that offer 8 erlangs together."""
    found = erlang.engset_blocking_ratio(10**6, source_erlang=8e-6, server_count=10)
    exact = erlang.erlang_b_ratio(8, server_count=10)
    assert float(found) == pytest.approx(float(exact), rel=1e-4)


# M/M/c/K


@pytest.mark.each(("load", "servers", "queue"), [(8, 10, 5), (10, 10, 5), (30, 10, 3), (0.5, 1, 9),
                                                  (7, 8, 0), (95, 100, 60)])  # fmt: skip
def test_mmck_against_the_balance_equations(load, servers, queue):
    places = servers + queue
    states = birth_death([load] * places, [min(n, servers) for n in range(1, places + 1)])
    found = {"server_count": servers, "waiting_count": queue}
    lost = float(erlang.mmck_blocking_ratio(load, **found))
    assert lost == pytest.approx(states[-1], rel=1e-10)
    waiting = sum(max(n - servers, 0) * p for n, p in enumerate(states))
    wait = float(erlang.mmck_wait_s(load, **found, service_s=3.0))
    assert wait == pytest.approx(3.0 * waiting / (load * (1 - states[-1])), rel=1e-10)


def test_mmck_limits():
    """Identities: Erlang B without a queue, Erlang C with a long one, M/M/1/K with one server."""
    no_queue = erlang.mmck_blocking_ratio(8, server_count=10, waiting_count=0)
    assert float(no_queue) == pytest.approx(float(erlang.erlang_b_ratio(8, server_count=10)))
    long = erlang.mmck_wait_s(8, server_count=10, waiting_count=10_000, service_s=2.0)
    exact = erlang.mmc_wait_s(8, server_count=10, service_s=2.0)
    assert float(long) == pytest.approx(float(exact), rel=1e-12)
    one = erlang.mmck_blocking_ratio(0.8, server_count=1, waiting_count=9)
    k10 = mm1.mm1k_blocking_ratio(0.8, place_count=10)
    assert float(one) == pytest.approx(float(k10), rel=1e-12)
    heavy = erlang.mmck_blocking_ratio(1e6, server_count=10, waiting_count=5)
    assert float(heavy) == pytest.approx(1 - 10 / 1e6, rel=1e-12)


# Erlang A


@pytest.mark.each(("load", "servers"), [(50, 50), (8, 10), (30, 10), (0.5, 1), (95, 100)])
@pytest.mark.each("patience", [0.05, 1.0, 30.0])
def test_erlang_a_against_the_balance_equations(load, servers, patience):
    """Second method: 20,000 states of the queue, those that give up among the rates down."""
    deaths = [min(n, servers) + max(n - servers, 0) / patience for n in range(1, 20_001)]
    weights, states = 1.0, [1.0]
    for down in deaths:
        weights *= load / down
        states.append(weights)
    states = np.array(states) / sum(states)
    queue = np.maximum(np.arange(states.size) - servers, 0)
    found = erlang.erlang_a(load, server_count=servers, service_s=1.0, patience_s=patience)
    assert float(found.waiting_ratio) == pytest.approx(states[servers:].sum(), rel=1e-9)
    assert float(found.abandoned_ratio) == pytest.approx(queue @ states / patience / load, rel=1e-9)
    assert float(found.wait_s) == pytest.approx(queue @ states / load, rel=1e-9)


def test_erlang_a_lies_between_b_and_c():
    """Limits: without patience none waits and as many give up as Erlang B loses; with endless
    patience all wait as in Erlang C."""
    office = {"server_count": 10, "service_s": 180.0}
    hasty = erlang.erlang_a(8, **office, patience_s=1e-6)
    assert float(hasty.abandoned_ratio) == pytest.approx(
        float(erlang.erlang_b_ratio(8, server_count=10)), rel=1e-6
    )
    patient = erlang.erlang_a(8, **office, patience_s=1e9)
    assert float(patient.waiting_ratio) == pytest.approx(
        float(erlang.erlang_c_ratio(8, server_count=10)), rel=1e-5
    )
    assert float(patient.wait_s) == pytest.approx(
        float(erlang.mmc_wait_s(8, server_count=10, service_s=180.0)), rel=1e-5
    )


def test_overload_gives_up_what_does_not_fit():
    """Limit: three times the servers' load loses two thirds."""
    found = erlang.erlang_a(3e4, server_count=1e4, service_s=180.0, patience_s=60.0)
    assert float(found.waiting_ratio) == pytest.approx(1.0)
    assert float(found.abandoned_ratio) == pytest.approx(2 / 3, rel=1e-4)
