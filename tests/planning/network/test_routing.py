"""Shortest paths with equal split: against enumeration, a textbook's figure, and conservation."""

from __future__ import annotations

import numpy as np
import pytest
from enumerated import loads, random_case

from netcalc.planning.network.routing import (
    UNREACHABLE,
    Arcs,
    carry,
    find_routes,
    latency_costs,
    mean_over_paths,
    ospf_costs,
)

SEEDS = range(40)


def routed(arcs, demand):
    routes = find_routes(arcs, targets=np.arange(arcs.node_count))
    known = np.where((routes.distance < UNREACHABLE)[:, :, None], demand, 0.0)
    return routes, known, *carry(routes, known)


@pytest.mark.each("seed", SEEDS)
def test_loads_are_those_of_all_shortest_paths_of_networkx(seed):
    arcs, demand = random_case(np.random.default_rng(seed), asymmetric=bool(seed % 2))
    _, known, _, load = routed(arcs, demand)
    for case in range(2):
        # derived: every path of networkx followed on its own
        expected, cut = loads(arcs, np.ones(arcs.count, bool), known[:, :, case])
        np.testing.assert_allclose(load[:, case], expected, atol=1e-12)
        assert not cut


@pytest.mark.each("seed", SEEDS)
def test_what_enters_a_node_leaves_it(seed):
    arcs, demand = random_case(np.random.default_rng(seed), asymmetric=True)
    _, known, _, load = routed(arcs, demand)
    nodes = np.arange(arcs.node_count)
    into = np.array([load[arcs.head == node].sum() for node in nodes])
    out = np.array([load[arcs.tail == node].sum() for node in nodes])
    # identity: inflow and what enters = outflow and what ends
    np.testing.assert_allclose(
        into + known.sum(axis=(0, 2)), out + known.sum(axis=(1, 2)), atol=1e-12
    )


@pytest.mark.each("seed", SEEDS)
def test_delays_of_demands_add_up_to_those_of_arcs(seed):
    generator = np.random.default_rng(seed)
    arcs, demand = random_case(generator, asymmetric=True)
    routes, known, _, load = routed(arcs, demand)
    delay = generator.random(arcs.count)
    mean = mean_over_paths(routes, delay)
    # identity: sum over demands of rate times delay = sum over arcs of load times delay
    reached = np.where(np.isfinite(mean), mean, 0.0)
    assert (known.sum(axis=2) * reached).sum() == pytest.approx(load.sum(axis=1) @ delay)
    assert np.isinf(mean[routes.distance >= UNREACHABLE]).all()


@pytest.mark.each("seed", SEEDS)
def test_the_sum_along_paths_of_the_costs_is_the_distance(seed):
    arcs, _ = random_case(np.random.default_rng(seed), asymmetric=True)
    routes = find_routes(arcs, targets=np.arange(arcs.node_count))
    found = mean_over_paths(routes, arcs.cost.astype(float))
    reached = routes.distance < UNREACHABLE
    np.testing.assert_allclose(found[reached], routes.distance[reached])  # identity


def textbook():
    """The network of Kurose and Ross, Computer Networking, 7th ed., figure 5.3."""
    edges = {"uv": 2, "ux": 1, "uw": 5, "vx": 2, "vw": 3, "xw": 3, "xy": 1, "wy": 1, "wz": 5,
             "yz": 2}  # fmt: skip
    names = "uvwxyz"
    tail = [names.index(one[0]) for one in edges] + [names.index(one[1]) for one in edges]
    head = [names.index(one[1]) for one in edges] + [names.index(one[0]) for one in edges]
    return Arcs(tail, head=head, cost=[*edges.values()] * 2, node_count=6), list(edges)


def test_the_least_costs_of_a_textbook():
    arcs, _ = textbook()
    routes = find_routes(arcs, targets=np.arange(6))
    # published: table 5.1 there, D(v), D(w), D(x), D(y), D(z) of u
    assert routes.distance[1:, 0].tolist() == [2, 3, 1, 2, 4]


def test_the_tree_of_a_textbook_carries_what_its_figure_shows():
    arcs, edges = textbook()
    demand = np.zeros((6, 6, 1))
    demand[1:, 0] = 1.0
    _, _, _, load = routed(arcs, demand)
    used = {edges[arc]: float(load[arc, 0]) for arc in np.flatnonzero(load[: len(edges), 0])}
    # published: figure 5.4, the tree ux, uv, xy, yw, yz; counted by hand: who is behind each link
    assert used == {"ux": 4, "uv": 1, "xy": 3, "yz": 1}
    assert load[len(edges) + edges.index("wy"), 0] == 1


def test_nodes_split_equally_again_and_again():
    # derived by hand: a has b and c; b has d and e, c has e; d and e have f
    tail, head = [0, 0, 1, 1, 2, 3, 4], [1, 2, 3, 4, 4, 5, 5]
    arcs = Arcs(tail, head=head, cost=[1] * 7, node_count=6)
    demand = np.zeros((6, 6, 1))
    demand[5, 0] = 8.0
    _, _, traffic, load = routed(arcs, demand)
    assert load[:, 0].tolist() == [4, 4, 2, 2, 4, 2, 6]
    assert traffic[5, :, 0].tolist() == [8, 4, 4, 2, 6, 8]


def test_parallel_links_share():
    arcs = Arcs([0, 0, 0], head=[1, 1, 1], cost=[2, 2, 3], node_count=2)
    demand = np.zeros((2, 2, 1))
    demand[1, 0] = 6.0
    assert routed(arcs, demand)[3][:, 0].tolist() == [3, 3, 0]  # derived: OSPF's equal next hops


def test_ospf_costs_of_the_standard():
    rates = np.array([1e9, 100e6, 10e6, 2.048e6, 1.536e6, 64e3, 56e3, 19.2e3, 9.6e3])
    # published: RFC 1850 and RFC 4750, ospfIfMetricTable, 10^8 over the rate; its 65 of a T1 with
    # extended superframes is that of the payload, 24 channels of 64 kbit/s
    expected = [1, 1, 10, 48, 65, 1562, 1785, 5208, 10416]
    assert ospf_costs(rates, reference_bps=1e8).tolist() == expected


def test_ospf_costs_end_at_16_bits_and_round_no_whole_number_down():
    assert ospf_costs(np.array([1.0, 1e9, 7e9]), reference_bps=1e11).tolist() == [65535, 100, 14]
    assert ospf_costs(np.array([0.3]), reference_bps=0.9).tolist() == [3]  # 0.9 / 0.3 < 3 in binary


def test_latencies_are_whole_microseconds():
    assert latency_costs(np.array([0.0, 1e-3, 0.0300004])).tolist() == [1, 1000, 30000]
