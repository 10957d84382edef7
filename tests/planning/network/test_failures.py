"""Failures: the differences against routing anew, bridges, and that nothing stays changed."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from enumerated import loads, random_case

from netcalc.planning.network.routing import (
    MOST_HOPS,
    UNREACHABLE,
    Arcs,
    Failures,
    carry,
    find_routes,
    load_of,
    traffic_of,
)

SEEDS = range(40)
ROUNDING = 2e-15
"""Of the largest load: what sums in another order differ by."""


def begun(arcs, demand, *, most_hops=MOST_HOPS):
    routes = find_routes(arcs, targets=np.arange(arcs.node_count))
    demand = np.where((routes.distance < UNREACHABLE)[:, :, None], demand, 0.0)
    traffic, load = carry(routes, demand)
    failures = Failures(routes, demand=demand, traffic=traffic, most_hops=most_hops)
    return failures, demand, load


def without(arcs, lost):
    """Return the same network, in which the lost arcs cost more than any path."""
    keep = np.setdiff1d(np.arange(arcs.count), lost)
    return keep, Arcs(arcs.tail[keep], head=arcs.head[keep], cost=arcs.cost[keep],
                      node_count=arcs.node_count)  # fmt: skip


@pytest.mark.slow
@pytest.mark.each("seed, most_hops", [(seed, hops) for hops in (MOST_HOPS, 0) for seed in SEEDS])
def test_a_failed_link_leaves_the_shortest_paths_of_networkx(seed, most_hops):
    arcs, demand = random_case(np.random.default_rng(seed), asymmetric=bool(seed % 2))
    failures, demand, load = begun(arcs, demand, most_hops=most_hops)
    count = arcs.count // 2
    for link in range(count):
        lost = np.array([link, link + count])
        change = failures.fail(lost)
        works = ~np.isin(np.arange(arcs.count), lost)
        for case in range(2):
            expected, cut = loads(arcs, works, demand[:, :, case])  # derived: path by path
            scale = max(1.0, float(load[:, case].max()))
            np.testing.assert_allclose((load + change.load)[:, case], expected, rtol=0,
                                       atol=ROUNDING * scale)  # fmt: skip
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


@pytest.mark.slow
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


def ring(count, generator):
    """Return a ring, in which a failure turns half of all paths, and the demand of all pairs."""
    nodes = np.arange(count)
    arcs = Arcs(np.r_[nodes, (nodes + 1) % count], head=np.r_[(nodes + 1) % count, nodes],
                cost=np.ones(2 * count, dtype=int), node_count=count)  # fmt: skip
    demand = generator.exponential(1.0, (count, count, 2))
    demand[nodes, nodes] = 0.0
    return arcs, demand


def test_a_ring_that_is_cut_carries_all_along_the_chain():
    count, lost = 2 * MOST_HOPS + 31, 17
    arcs, demand = ring(count, np.random.default_rng(1))
    failures, demand, load = begun(arcs, demand)
    found = load + failures.fail(np.array([lost, lost + count])).load
    # Derived: without the link from 17 to 18 the nodes are a chain, and what passes between two
    # neighbours is all that goes from one side to the other.
    chain = np.roll(np.arange(count), -lost - 1)
    across = demand[np.ix_(chain, chain)].transpose(1, 0, 2)  # from, to
    for place in range(count - 1):
        one, arc = place + 1, int(chain[place])
        forwards = across[:one, one:].sum(axis=(0, 1))
        backwards = across[one:, :one].sum(axis=(0, 1))
        np.testing.assert_allclose(found[arc], forwards, rtol=1e-12)
        np.testing.assert_allclose(found[arc + count], backwards, rtol=1e-12)
    np.testing.assert_allclose(found[[lost, lost + count]], 0.0, atol=1e-9)


@pytest.mark.each("seed", range(3))
def test_one_substitution_carries_what_steps_carry(seed):
    arcs, demand = large(seed)
    routes = find_routes(arcs, targets=np.arange(60), works=np.ones(arcs.count, dtype=bool))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(arcs.tail, arcs.head, arcs.cost, strict=True))
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph))
    expected = [[lengths[node][target] for node in range(60)] for target in range(60)]
    assert np.array_equal(routes.distance, expected)  # derived: Dijkstra by networkx
    traffic, load = carry(routes, demand)
    found = traffic_of(routes, demand)
    np.testing.assert_allclose(found, traffic, rtol=1e-12)
    np.testing.assert_allclose(load_of(routes, found), load, rtol=1e-12)


def test_many_destinations_are_routed_in_blocks(monkeypatch):
    arcs, demand = large(4)
    whole, _, _ = begun(arcs, demand, most_hops=0)
    lost = np.array([3, 3 + arcs.count // 2])
    expected = whole.fail(lost)
    monkeypatch.setattr("netcalc.planning.network.routing.NUMBERS_AT_ONCE", 150)
    found = whole.fail(lost)
    np.testing.assert_allclose(found.load, expected.load, atol=1e-10)  # identity: sums in parts
    assert np.array_equal(found.cut_rows, expected.cut_rows)


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
