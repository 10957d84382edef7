"""The plan of a network: 500 nodes, 2,000 links, 10,000 demands and all single failures.

The network is random and connected, its files are written and read as a user's are. Prints the
seconds of each step, with exact numbers, and with ranges (200 draws). The aim: at most 60 s of two
processors for all of it with exact numbers.

Run: python tests/benchmarks/plan_network.py [NODES LINKS DEMANDS]
"""

from __future__ import annotations

import sys
import time
from datetime import date

import networkx as nx
import numpy as np

from netcalc.planning.network import NetworkPlan, Settings, read

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
    begin = time.perf_counter()
    network = read(texts[0], demands=texts[1])
    steps["read"] = time.perf_counter()
    plan = NetworkPlan(network, settings=Settings(start=date(2026, 1, 1)))
    steps["route"] = time.perf_counter()
    for _ in plan.scan():
        pass
    steps["fail each link"] = time.perf_counter()
    if plan.varies:
        for _ in plan.find_ranges():
            pass
        steps["draw ranges"] = time.perf_counter()
    last = begin
    for name, at in steps.items():
        print(f"  {name:16} {at - last:8.2f} s")
        last = at
    print(f"  {'all':16} {last - begin:8.2f} s")
    return last - begin


def main(words: list[str]) -> int:
    nodes, links, demands = map(int, words) if words else (NODES, LINKS, DEMANDS)
    print(f"{nodes} nodes, {links} links, {demands} demands")
    print("exact numbers")
    took_s = timed(nodes, links, demands, ranges=False)
    print("ranges, 200 draws")
    timed(nodes, links, demands, ranges=True)
    verdict = "met" if took_s <= LIMIT_S else "MISSED"
    print(f"exact numbers: {took_s:.1f} s, aim {LIMIT_S:g} s: {verdict}")
    return int(took_s > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
