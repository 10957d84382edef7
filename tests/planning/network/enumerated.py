"""Loads by listing every shortest path of networkx: a second way to route, for small networks."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np


def loads(arcs, works, demand):
    """Return the load of each arc, and the (target, node) pairs with demand but without a path.

    Every path is followed on its own: its share is the product of the equal splits at its nodes.
    """
    count = demand.shape[0]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    parallel: dict[tuple[int, int], list[int]] = {}
    cheapest: dict[tuple[int, int], int] = {}
    for arc in np.flatnonzero(works).tolist():
        ends = int(arcs.tail[arc]), int(arcs.head[arc])
        parallel.setdefault(ends, []).append(arc)
        cheapest[ends] = min(int(arcs.cost[arc]), cheapest.get(ends, 2**40))
    for ends, cost in cheapest.items():
        graph.add_edge(*ends, cost=cost)
        parallel[ends] = [arc for arc in parallel[ends] if arcs.cost[arc] == cost]
    load, cut = np.zeros(arcs.count), set()
    for target, node in itertools.product(range(count), repeat=2):
        if demand[target, node] == 0:
            continue
        if not nx.has_path(graph, node, target):
            cut.add((target, node))
            continue
        paths = list(nx.all_shortest_paths(graph, node, target, weight="cost"))
        hops: dict[int, set[int]] = {}
        for path in paths:
            for ends in itertools.pairwise(path):
                hops.setdefault(ends[0], set()).update(parallel[ends])
        for path in paths:
            for chosen in itertools.product(*(parallel[ends] for ends in itertools.pairwise(path))):
                share = demand[target, node] / np.prod([len(hops[at]) for at in path[:-1]])
                load[list(chosen)] += share
    return load, cut


def random_case(generator, *, asymmetric):
    """Return arcs of a random network, parallel links and unconnected parts included, and demand.

    Arc i and arc i + L are the two directions of link i of L.
    """
    from netcalc.planning.network.routing import Arcs

    nodes = int(generator.integers(3, 9))
    count = int(generator.integers(nodes - 1, 2 * nodes + 2))
    ends = np.array([generator.permutation(nodes)[:2] for _ in range(count)])
    there = generator.integers(1, 4, count)
    back = generator.integers(1, 4, count) if asymmetric else there
    arcs = Arcs(
        np.r_[ends[:, 0], ends[:, 1]],
        head=np.r_[ends[:, 1], ends[:, 0]],
        cost=np.r_[there, back],
        node_count=nodes,
    )
    demand = generator.random((nodes, nodes, 2)) * (generator.random((nodes, nodes, 1)) < 0.6)
    demand[np.arange(nodes), np.arange(nodes)] = 0.0
    return arcs, demand
