"""What fails: links, nodes, groups that share a risk; how often the named one is the worst."""

from __future__ import annotations

from datetime import date
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.planning.network import NetworkPlan, Settings, page, plan, read
from netcalc.planning.network.plan import _Drawing

START = date(2026, 1, 1)
# a - b - d and a - c - d; e hangs at d. The links of a share a duct.
LINKS = (
    "from,to,rate,latency,srlg\na,b,1 Gbit/s,1 ms,duct\nb,d,1 Gbit/s,1 ms,\n"
    "a,c,1 Gbit/s,1 ms,duct | bridge\nc,d,1 Gbit/s,1 ms,\nd,e,1 Gbit/s,1 ms,\n"
)
DEMANDS = "from,to,rate\na,d,400 Mbit/s\nb,c,100 Mbit/s\nd,e,50 Mbit/s\n"


def planned(demands=DEMANDS, *, links=LINKS, **settings):
    return plan(read(links, demands=demands), settings=Settings(start=START, **settings))


def results(found):
    return {found.cases[one.case].shown: one for one in found.failures}


@pytest.mark.each("fail, expected", [
    ("links", ["a-b", "b-d", "a-c", "c-d", "d-e", "group duct"]),
    ("nodes", ["node a", "node b", "node d", "node c", "node e"]),
    ("both", ["a-b", "b-d", "a-c", "c-d", "d-e", "node a", "node b", "node d", "node c", "node e",
              "group duct"]),
])  # fmt: skip
def test_what_is_tried(fail, expected):
    found = planned(fail=fail)
    assert [one.shown for one in found.cases] == expected  # a group of one link is that link
    assert len(found.failures) == len(expected)
    said = next(one for one in page.sentences(found) if one.code == "network-tried")
    assert sum(said.values.values()) == len(expected)


def test_nodes_and_groups_counted_by_hand():
    found = results(planned(fail="both"))
    group = found["group duct"]  # a is alone: its 400 Mbit/s are cut off
    assert (group.cut_demands, group.cut_bps, group.own_demands) == (1, 400e6, 0)
    node = found["node b"]  # its own 100 Mbit/s go, and all of a to d passes c
    assert (node.cut_demands, node.own_demands, node.own_bps) == (0, 1, 100e6)
    assert node.load_ratio == pytest.approx(0.4)
    middle = found["node d"]  # 400 and 50 Mbit/s are its own; b to c goes by a
    assert (middle.cut_demands, middle.own_demands, middle.own_bps) == (0, 2, 450e6)
    assert middle.load_ratio == pytest.approx(0.1)


@pytest.mark.each("seed", range(6))
def test_the_failure_of_a_node_is_the_network_without_it(seed):
    graph = nx.connected_watts_strogatz_graph(12, 4, 0.4, seed=seed)
    generator = np.random.default_rng(seed)
    rows = [f"n{a},n{b},1 Gbit/s,1 ms,{generator.integers(1, 4)}" for a, b in graph.edges]
    pairs = list(combinations(range(12), 2))
    rates = generator.uniform(1, 9, len(pairs))
    demands = [f"n{a},n{b},{rate:.6f}" for (a, b), rate in zip(pairs, rates, strict=True)]
    head = "from,to,rate,latency,cost\n"
    text = "from,to,rate [Mbit/s]\n"
    found = planned(text + "\n".join(demands) + "\n", links=head + "\n".join(rows) + "\n",
                    costs="given", fail="nodes")  # fmt: skip
    for gone in range(12):
        rest = graph.subgraph(set(graph) - {gone})
        if not nx.is_connected(rest):
            continue
        # derived: files without the node, planned as a network of their own
        without = read(
            head + "\n".join(row for row in rows if f"n{gone}," not in row) + "\n",
            demands=text + "\n".join(row for row in demands if f"n{gone}," not in row) + "\n",
        )
        alone = NetworkPlan(without, settings=Settings(start=START, costs="given"))
        assert results(found)[f"node n{gone}"].load_ratio == pytest.approx(
            alone.load_ratio.max(), rel=1e-12
        )


def test_a_group_is_the_failure_of_all_its_links_at_once():
    ring = "from,to,rate,latency,group\n" + "".join(
        f"n{a},n{(a + 1) % 8},1 Gbit/s,1 ms,{'duct' if a in (0, 1) else ''}\n" for a in range(8)
    )
    found = planned("from,to,rate\nn0,n2,300 Mbit/s\nn0,n1,50 Mbit/s\n", links=ring)
    one = results(found)["group duct"]
    # derived by hand: 0 to 2 goes the other way round; 1 is alone, and its demand is cut off
    assert (one.load_ratio, one.cut_demands, one.cut_bps) == (pytest.approx(0.3), 1, 50e6)


def test_all_numbers_of_failures_hold_in_one_go_too():
    found = planned(fail="both")
    rows = page.failure_rows(found)
    assert {one["kind"] for one in rows} == {"link", "node", "group"}
    assert all(one["hours_a_year"] is None for one in rows)
    assert page.as_dict(found)["fail"] == "both"


def test_another_choice_of_failures_is_another_scan():
    network = read(LINKS, demands=DEMANDS)
    prints = {NetworkPlan(network, settings=Settings(start=START, fail=one)).fingerprint()
              for one in ("links", "nodes", "both")}  # fmt: skip
    assert len(prints) == 3


@pytest.mark.each(
    "ratio, code", [(1.5, "percent-for-ratio"), (0.0, "not-positive"), (-0.1, "out-of-range")]
)
def test_a_link_is_full_between_0_and_100_percent(ratio, code):
    with pytest.raises(DomainError) as caught:
        Settings(start=START, full_at_ratio=ratio)
    assert (caught.value.code, caught.value.name) == (code, "full_at_ratio")
    assert caught.value.value == ratio


def test_an_unknown_choice_of_failures_is_refused():
    with pytest.raises(DomainError) as caught:
        Settings(start=START, fail="routers")
    assert caught.value.code == "not-a-choice"


def test_the_share_of_the_draws_in_which_the_named_failure_is_the_worst():
    # Two links side by side end at b; the worse one to lose is that with the larger load.
    links = (
        "from,to,rate,latency,cost\na,b,1 Gbit/s,1 ms,1\nb,c,1 Gbit/s,1 ms,1\na,c,1 Gbit/s,1 ms,1\n"
    )
    demands = "from,to,rate\na,b,100..400 Mbit/s\na,c,190..290 Mbit/s\nb,c,{} Mbit/s\n"
    found = planned(demands.format(10), links=links, costs="given", draws=4000)
    # derived by hand, with X of a to b, Y of a to c, 10 of b to c: without a-b the link a-c
    # carries X + Y, without a-c the link a-b carries X + Y, too. Without b-c: X and Y + 10.
    ranges = found.ranges
    assert ranges.compared == 3
    assert ranges.worst_share == 1.0  # identity: of two that are equal the named one counts


def test_the_share_is_that_of_the_draws_counted_one_by_one():
    links = "from,to,rate,latency\n" + "".join(
        f"n{a},n{b},{rate} Mbit/s,1 ms\n"
        for a, b, rate in ((0, 1, 1000), (1, 2, 1000), (2, 3, 1000), (3, 0, 1000), (0, 2, 500))
    )
    demands = "from,to,rate\nn0,n1,100..300 Mbit/s\nn2,n3,110..310 Mbit/s\nn1,n3,50..60 Mbit/s\n"
    found = planned(demands, links=links, costs="hops", draws=50, seed=3)
    demand = _Drawing(found)._demand
    named, worst = found.worst_first[0].case, []
    for draw in range(50):  # derived: each draw as a network of its own
        text = "from,to,rate\n" + "".join(
            f"{one.source},{one.target},{rate!r} bit/s\n"
            for one, rate in zip(found.network.demands, demand[:, draw].tolist(), strict=True)
        )
        alone = {
            one.case: one.load_ratio for one in planned(text, links=links, costs="hops").failures
        }
        worst.append(alone[named] >= max(alone.values()) * (1 - 1e-9))
    assert found.ranges.compared == len(found.cases)
    assert found.ranges.worst_share == sum(worst) / 50
    assert 0.2 < found.ranges.worst_share < 0.98
