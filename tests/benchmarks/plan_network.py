"""The plan of a network: 500 nodes, 2,000 links, 10,000 demands and all single failures.

The network is random and connected, its files are written and read as a user's are. Prints the
seconds of each step, with exact numbers, and with ranges (200 draws). The aim: at most 60 s of two
processors for all of it with exact numbers, and for a ring, a grid, a star and a tree of as many
nodes, too; seconds of the processor, so that other programs do not count.

Beside each is the ratio of a failure to routing the whole network anew (scipy's Dijkstra and one
substitution), which a failure that turns all paths takes, and the loads before it, too.

Run: python tests/benchmarks/plan_network.py [NODES LINKS DEMANDS]
"""

from __future__ import annotations

import sys
import time
from datetime import date

import networkx as nx
import numpy as np

from netcalc.planning.network import NetworkPlan, Settings, read
from netcalc.planning.network.routing import find_routes, load_of, traffic_of

NODES, LINKS, DEMANDS = 500, 2000, 10_000
LIMIT_S = 60.0
RATES = ("10 Gbit/s", "40 Gbit/s", "100 Gbit/s")


def links_csv(nodes: int, links: int, generator: np.random.Generator) -> str:
    """Return a random tree with further links, as CSV."""
    graph = nx.random_labeled_tree(nodes, seed=1)
    while graph.number_of_edges() < links:
        first, last = generator.integers(0, nodes, 2).tolist()
        if first != last:
            graph.add_edge(first, last)
    rows = [
        f"n{a},n{b},{RATES[generator.integers(3)]},{generator.uniform(0.2, 8.0):.3f}"
        for a, b in graph.edges
    ]
    return "\n".join(["from,to,rate,latency [ms]", *rows]) + "\n"


def demands_csv(nodes: int, demands: int, generator: np.random.Generator, *, ranges: bool) -> str:
    """Return random demands as CSV."""
    rows = []
    for _ in range(demands):
        first, last = generator.permutation(nodes)[:2]
        rate = 1.0 + generator.exponential(40.0)
        text = f"{0.8 * rate:.3f}..{1.2 * rate:.3f}" if ranges else f"{rate:.3f}"
        rows.append(f"n{first},n{last},{text},{'30 ± 5' if ranges else '30'}")
    return "\n".join(["from,to,rate [Mbit/s],growth [%/year]", *rows]) + "\n"


def timed(nodes: int, links: int, demands: int, *, ranges: bool) -> float:
    """Print how long each step takes; return the sum. [s]"""
    generator = np.random.default_rng(1)
    texts = (
        links_csv(nodes, links, generator),
        demands_csv(nodes, demands, generator, ranges=ranges),
    )
    steps = {}
    begin = time.process_time()
    network = read(texts[0], demands=texts[1])
    steps["read"] = time.process_time()
    plan = NetworkPlan(network, settings=Settings(start=date(2026, 1, 1)))
    steps["route"] = time.process_time()
    for _ in plan.scan():
        pass
    steps["fail each link"] = time.process_time()
    if plan.varies:
        for _ in plan.find_ranges():
            pass
        steps["draw ranges"] = time.process_time()
    last = begin
    for name, at in steps.items():
        print(f"  {name:16} {at - last:8.2f} s")
        last = at
    print(f"  {'all':16} {last - begin:8.2f} s")
    return last - begin


def shapes(nodes: int) -> dict[str, list[tuple[int, int]]]:
    """Return links of networks in which a failure goes far, or not at all."""
    wide = 25
    high = nodes // wide
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(high, wide))
    return {
        "ring": [(one, (one + 1) % nodes) for one in range(nodes)],
        "chain": [(one, one + 1) for one in range(nodes - 1)],
        "grid": list(grid.edges),
        "star": [(0, one) for one in range(1, nodes)],
        "tree": list(nx.random_labeled_tree(nodes, seed=1).edges),
    }


def failing(name: str, links: list[tuple[int, int]], demands: int) -> float:
    """Print what all failures of a shape take, and what of routing anew; return the sum. [s]"""
    generator = np.random.default_rng(1)
    nodes = 1 + max(map(max, links))
    head = "from,to,rate,latency\n"
    text = head + "".join(f"n{a},n{b},10 Gbit/s,1 ms\n" for a, b in links)
    network = read(text, demands=demands_csv(nodes, demands, generator, ranges=False))
    begin = time.process_time()
    plan = NetworkPlan(network, settings=Settings(start=date(2026, 1, 1), costs="hops"))
    routed = time.process_time()
    for _ in plan.scan():
        pass
    failed = time.process_time()
    works = np.ones(plan.arcs.count, dtype=bool)
    matrix = generator.random((*plan.routes.distance.shape, 1))
    again = time.process_time()
    routes = find_routes(plan.arcs, targets=plan.routes.targets, works=works)
    load_of(routes, traffic_of(routes, matrix))
    anew_s = time.process_time() - again
    each_s = (failed - routed) / len(links)
    print(
        f"  {name:8} {len(links):5} failures {failed - routed:7.1f} s, "
        f"each {1e3 * each_s:6.2f} ms, {each_s / anew_s:5.2f} of routing anew"
    )
    return failed - begin


def main(words: list[str]) -> int:
    nodes, links, demands = map(int, words) if words else (NODES, LINKS, DEMANDS)
    print(f"{nodes} nodes, {links} links, {demands} demands")
    print("exact numbers")
    took_s = timed(nodes, links, demands, ranges=False)
    print("ranges, 200 draws")
    timed(nodes, links, demands, ranges=True)
    print("failures of other shapes")
    longest_s = max(failing(name, links, demands) for name, links in shapes(nodes).items())
    late = False
    for name, found_s in (("exact numbers", took_s), ("slowest shape", longest_s)):
        late = late or found_s > LIMIT_S
        verdict = "met" if found_s <= LIMIT_S else "MISSED"
        print(f"{name}: {found_s:.1f} s, aim {LIMIT_S:g} s: {verdict}")
    return int(late)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
