"""Failures: the differences against routing anew, bridges, and that nothing stays changed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netcalc.planning.network.failures import Failures
from netcalc.planning.network.routing import UNREACHABLE, Arcs, carry, find_routes

_SPEC = importlib.util.spec_from_file_location(
    "enumerated", Path(__file__).with_name("enumerated.py")
)
ENUMERATED = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(ENUMERATED)
loads, random_case = ENUMERATED.loads, ENUMERATED.random_case
SEEDS = range(40)


def begun(arcs, demand):
    routes = find_routes(arcs, targets=np.arange(arcs.node_count))
    demand = np.where((routes.distance < UNREACHABLE)[:, :, None], demand, 0.0)
    traffic, load = carry(routes, demand)
    return Failures(routes, demand=demand, traffic=traffic), demand, load


def without(arcs, lost):
    """Return the same network, in which the lost arcs cost more than any path."""
    keep = np.setdiff1d(np.arange(arcs.count), lost)
    return keep, Arcs(arcs.tail[keep], head=arcs.head[keep], cost=arcs.cost[keep],
                      node_count=arcs.node_count)  # fmt: skip


@pytest.mark.each("seed", SEEDS)
def test_a_failed_link_leaves_the_shortest_paths_of_networkx(seed):
    arcs, demand = random_case(np.random.default_rng(seed), asymmetric=bool(seed % 2))
    failures, demand, load = begun(arcs, demand)
    count = arcs.count // 2
    for link in range(count):
        lost = np.array([link, link + count])
        change = failures.fail(lost)
        works = ~np.isin(np.arange(arcs.count), lost)
        for case in range(2):
            expected, cut = loads(arcs, works, demand[:, :, case])  # derived: path by path
            np.testing.assert_allclose((load + change.load)[:, case], expected, atol=1e-12)
            found = set(zip(change.cut_rows.tolist(), change.cut_nodes.tolist(), strict=True))
            assert found == cut


def large(seed):
    generator = np.random.default_rng(seed)
    graph = nx.barabasi_albert_graph(60, 2, seed=seed)
    ends = np.array(graph.edges)
    cost = generator.integers(1, 6, len(ends))
    arcs = Arcs(np.r_[ends[:, 0], ends[:, 1]], head=np.r_[ends[:, 1], ends[:, 0]],
                cost=np.r_[cost, cost], node_count=60)  # fmt: skip
    demand = generator.exponential(1.0, (60, 60, 1))
    demand[np.arange(60), np.arange(60)] = 0.0
    return arcs, demand


@pytest.mark.each("seed", range(3))
def test_differences_are_those_of_routing_anew(seed):
    arcs, demand = large(seed)
    failures, demand, load = begun(arcs, demand)
    count = arcs.count // 2
    for link in range(count):
        lost = np.array([link, link + count])
        found = (load + failures.fail(lost).load)[:, 0]
        keep, rest = without(arcs, lost)
        routes = find_routes(rest, targets=np.arange(60))
        expected = np.zeros(arcs.count)
        expected[keep] = carry(routes, demand)[1][:, 0]  # derived: without what was known before
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_order_of_failures_does_not_matter():
    arcs, demand = large(5)
    forwards, _, _ = begun(arcs, demand)
    backwards, _, _ = begun(arcs, demand)
    count = arcs.count // 2
    pairs = [np.array([link, link + count]) for link in range(count)]
    first = [forwards.fail(one).load for one in pairs]
    last = [backwards.fail(one).load for one in reversed(pairs)]
    for one, other in zip(first, reversed(last), strict=True):
        assert np.array_equal(one, other)  # identity: each failure leaves all as it was


@pytest.mark.each("seed", SEEDS)
def test_what_cuts_off_demands_are_the_bridges_of_networkx(seed):
    generator = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(9, seed=seed)
    for _ in range(3):
        first, last = generator.permutation(9)[:2].tolist()
        graph.add_edge(first, last)
    ends = np.array(graph.edges)
    count = len(ends)
    arcs = Arcs(np.r_[ends[:, 0], ends[:, 1]], head=np.r_[ends[:, 1], ends[:, 0]],
                cost=[1] * 2 * count, node_count=9)  # fmt: skip
    failures, _, _ = begun(arcs, 1.0 - np.eye(9)[:, :, None])
    pairs = [np.array([link, link + count]) for link in range(count)]
    cuts = {link for link, pair in enumerate(pairs) if failures.fail(pair).cut_rows.size}
    bridges = {tuple(sorted(one)) for one in nx.bridges(graph)}  # derived: depth-first search
    assert {tuple(sorted(ends[link].tolist())) for link in cuts} == bridges


def test_one_direction_may_fail_alone():
    # derived by hand: 0-1 twice; the direct arc 0 -> 1 fails, 1 -> 0 goes on
    arcs = Arcs([0, 1, 0, 2], head=[1, 0, 2, 1], cost=[1, 1, 1, 1], node_count=3)
    demand = np.zeros((3, 3, 1))
    demand[1, 0], demand[0, 1] = 4.0, 3.0
    failures, _, load = begun(arcs, demand)
    assert (load + failures.fail(np.array([0])).load)[:, 0].tolist() == [0, 3, 4, 4]
