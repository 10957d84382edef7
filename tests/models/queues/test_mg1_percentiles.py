"""Percentiles of M/G/1 against M/D/1, M/M/1, the exact beginning, moments and own simulations."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.queues import backlog, md1, mm1, queueing, scheduling

IMIX = {"wire_bytes": [84.0, 590.0, 1538.0], "weight": [7.0, 4.0, 1.0]}
RATE = 100e6


def percentile(load, quantile, mix=None, rate=RATE):
    found = queueing.packet_mix_wait_percentile_s(
        load, **(mix or IMIX), bandwidth_bps=rate, quantile=quantile
    )
    return np.asarray(found)


@pytest.mark.each("load", [0.1, 0.3, 0.5, 0.8, 0.95, 0.99, 0.9999])
@pytest.mark.each("quantile", [0.5, 0.91, 0.99, 0.99999, 1 - 1e-9])
def test_one_size_is_md1(load, quantile):
    """Second method: the recursion of M/D/1, which is exact; two sizes that are the same, too."""
    exact = float(md1.md1_wait_percentile_s(load, service_s=8 * 1538 / RATE, quantile=quantile))
    one = {"wire_bytes": [1538.0], "weight": [3.0]}
    two = {"wire_bytes": [1538.0, 1538.0], "weight": [1.0, 2.0]}
    assert float(percentile(load, quantile, one)) == pytest.approx(exact, rel=3e-6)
    assert float(percentile(load, quantile, two)) == pytest.approx(exact, rel=3e-6)


@pytest.mark.each("load", [0.5, 0.8, 0.95])
@pytest.mark.each("quantile", [0.9, 0.95, 0.99])
def test_many_sizes_of_an_exponential_distribution_are_mm1(load, quantile):
    """Second method: the exact form of M/M/1, whose sizes 2000 shares of equal weight stand for;
    each is the mean of its share of the exponential distribution."""
    edges = -np.log1p(-np.arange(2000) / 2000)
    upper = np.append(edges[1:], np.inf)
    tail = np.exp(-edges) * (edges + 1) - np.append(np.exp(-upper[:-1]) * (upper[:-1] + 1), 0.0)
    sizes = 1000 * 2000 * tail
    mix = {"wire_bytes": sizes, "weight": np.ones(2000)}
    exact = float(mm1.mm1_wait_percentile_s(load, service_s=8000 / RATE, quantile=quantile))
    assert float(percentile(load, quantile, mix)) == pytest.approx(exact, rel=1e-3)


@pytest.mark.each(("load", "quantile"), [(0.5, 0.9999), (0.9, 0.9), (0.9, 0.99), (0.9, 0.9999)])
def test_the_moments_of_an_exponential_distribution_have_the_tail_of_mm1(load, quantile):
    """Second method: the exact form of M/M/1. Sixty sizes, the nodes of Gauss and Laguerre, have
    119 moments of the exponential distribution: all that the tail sees."""
    nodes, weights = np.polynomial.laguerre.laggauss(60)
    mix = {"wire_bytes": 1000 * nodes, "weight": weights}
    exact = float(mm1.mm1_wait_percentile_s(load, service_s=8000 / RATE, quantile=quantile))
    assert float(percentile(load, quantile, mix)) == pytest.approx(exact, rel=2e-6)


def test_before_the_shortest_service_ends():
    """Derived: the distribution is (1 - load) exp(rate t) there (by the integral equation)."""
    load, service = 0.4, 8 * 84 / RATE
    rate = load / (8 * float(np.average(IMIX["wire_bytes"], weights=IMIX["weight"])) / RATE)
    quantile = (1 - load) * np.exp(rate * 0.9 * service)
    assert float(percentile(load, quantile)) == pytest.approx(0.9 * service, rel=1e-9)


@pytest.mark.each("load", [0.3, 0.8, 0.95])
def test_the_mean_over_all_quantiles_is_that_of_pollaczek_and_khinchine(load):
    """Second method: the mean wait in closed form; the quantiles by Gauss and Legendre."""
    mean = float(queueing.packet_mix_wait_s(load, **IMIX, bandwidth_bps=RATE))
    # 1 - q = load e^-x: the mean is load times the integral of the wait over e^-x.
    x, weight = np.polynomial.laguerre.laggauss(40)
    waits = percentile(load, 1 - load * np.exp(-x[x < 25]))
    total = load * float((waits * weight[x < 25]).sum())
    assert total == pytest.approx(mean, rel=2e-3)


@pytest.mark.each(("load", "quantile", "tolerance"), [(0.5, 0.9, 0.01), (0.8, 0.95, 0.02),
                                                       (0.8, 0.99, 0.03)])  # fmt: skip
def test_against_own_simulation(load, quantile, tolerance):
    """Measured: two million packets of Lindley's recursion; the tolerance is twice the spread of
    ten runs."""
    draw = np.random.default_rng(11)
    share = np.array(IMIX["weight"]) / 12
    service = draw.choice(IMIX["wire_bytes"], 2_000_000, p=share) * (8 / RATE)
    mean = float(np.array(IMIX["wire_bytes"]) @ share) * 8 / RATE
    gaps = draw.exponential(mean / load, service.size)
    waits = backlog.lindley_wait_s(gaps, service_s=service)
    assert float(percentile(load, quantile)) == pytest.approx(
        float(np.quantile(waits[10_000:], quantile)), rel=tolerance
    )


def test_a_rare_size_makes_the_tail():
    """Second method: a simulation with one packet of a megabyte in a thousand."""
    mix = {"wire_bytes": [1000.0, 1e6], "weight": [999.0, 1.0]}
    draw = np.random.default_rng(3)
    service = np.where(draw.random(4_000_000) < 0.001, 1e6, 1000.0) * (8 / RATE)
    gaps = draw.exponential(service.mean() / 0.5, service.size)
    waits = backlog.lindley_wait_s(gaps, service_s=service)
    for quantile in (0.6, 0.9, 0.99):
        expected = float(np.quantile(waits, quantile))
        assert float(percentile(0.5, quantile, mix)) == pytest.approx(expected, rel=0.1)


def test_edges_and_shapes():
    """Rules of the docstring: 0, inf and their order; more load waits longer."""
    assert float(percentile(0.2, 0.8)) == 0.0
    assert float(percentile(0.0, 1.0)) == 0.0
    assert float(percentile(0.5, 1.0)) == np.inf
    assert float(percentile(1.0, 0.5)) == np.inf
    grid = percentile(np.array([[0.2], [0.5], [0.9]]), np.array([0.9, 0.99, 0.999]))
    assert grid.shape == (3, 3)
    assert (np.diff(grid, axis=0) > 0).all()
    assert (np.diff(grid, axis=1) > 0).all()
    assert float(percentile(0.5, 0.99, rate=RATE / 10)) == pytest.approx(
        10 * float(percentile(0.5, 0.99)), rel=1e-12
    )
    unused = {"wire_bytes": [84.0, 590.0, 1538.0, 9038.0], "weight": [7.0, 4.0, 1.0, 0.0]}
    assert float(percentile(0.5, 0.99, unused)) == float(percentile(0.5, 0.99))


def test_the_packet_ahead():
    """Identities: Cobham's most urgent class, as it goes to no load; and the whole wait without
    priority is that of the packet ahead over what is free."""
    ahead = queueing.packet_ahead_wait_s(0.8, **IMIX, bandwidth_bps=2e6)
    whole = queueing.packet_mix_wait_s(0.8, **IMIX, bandwidth_bps=2e6)
    assert float(ahead) / 0.2 == pytest.approx(float(whole), rel=1e-12)
    sizes, weight = np.array(IMIX["wire_bytes"]), np.array(IMIX["weight"])
    loads = 0.8 * sizes * weight / (sizes @ weight)
    waits = scheduling.priority_wait_s([0.0, *loads], service_s=[1e-9, *(sizes * 8 / 2e6)])
    assert float(waits[0]) == pytest.approx(float(ahead), rel=1e-12)
