"""Planned networks: loads, failures, dates, delays and ranges against other ways to them."""

from __future__ import annotations

from datetime import date

import networkx as nx
import numpy as np
import pytest

from netcalc import planning, uncertain
from netcalc.errors import ArgumentTypeError, DomainError, UnitError
from netcalc.models.users.growth import YEAR_S, exhaustion_s
from netcalc.planning import network as networks
from netcalc.planning.network import NetworkPlan, Settings, page, plan, read
from netcalc.planning.network.plan import NO_FAILURE
from netcalc.planning.network.routing import IMIX_BYTES, MEAN_BYTES, delay_s, years_to_reach
from netcalc.planning.page import date_after

START = date(2026, 1, 1)
SQUARE = (
    "from,to,rate,latency\na,b,1 Gbit/s,1 ms\nb,d,1 Gbit/s,1 ms\na,c,1 Gbit/s,1 ms\n"
    "c,d,1 Gbit/s,2 ms\nd,e,1 Gbit/s,3 ms\n"
)
DEMANDS = "from,to,rate,growth\na,d,400 Mbit/s,30%\nd,a,100 Mbit/s,10%\na,e,100 Mbit/s,30%\n"


def square(demands=DEMANDS, *, links=SQUARE, **settings):
    return plan(read(links, demands=demands), settings=Settings(start=START, **settings))


def arc(found, start, end):
    return next(n for n in range(found.arcs.count) if found.ends(n) == (start, end))


def test_loads_and_failures_counted_by_hand():
    found = square()
    # derived by hand: half of 500 Mbit/s each way round, all of it where one way fails
    loads = {("a", "b"): 0.25, ("c", "d"): 0.25, ("d", "e"): 0.1, ("d", "b"): 0.05}
    after = {("a", "b"): 0.5, ("c", "d"): 0.5, ("d", "e"): 0.1, ("d", "b"): 0.1}
    for ends, expected in loads.items():
        at = arc(found, *ends)
        assert found.load_ratio[at] == pytest.approx(expected)
        assert found.failed_load_ratio[at] == pytest.approx(after[ends])
    cuts = {found.cases[one.case].name: (one.cut_demands, one.cut_bps)
            for one in found.failures if one.cut_demands}  # fmt: skip
    assert cuts == {"d-e": (1, 100e6)}
    worst = {found.cases[int(found.failed_by[arc(found, "a", "b")])].name}
    assert worst <= {"a-c", "c-d"}
    assert found.failed_by[arc(found, "d", "e")] == NO_FAILURE


def test_mean_delays_of_a_demand_counted_by_hand():
    found = square()
    by_b = found.delay_s[arc(found, "a", "b")] + found.delay_s[arc(found, "b", "d")]
    by_c = found.delay_s[arc(found, "a", "c")] + found.delay_s[arc(found, "c", "d")]
    assert found.path_delay_s[0] == pytest.approx((by_b + by_c) / 2)
    assert found.path_delay_s[2] == pytest.approx(
        found.path_delay_s[0] + found.delay_s[arc(found, "d", "e")]
    )


def test_the_delay_of_a_link_is_latency_and_sojourn():
    service = 1538 * 8 / 1e7
    expected = 0.005 + service * (2 - 0.7) / (
        2 * (1 - 0.7)
    )  # published: M/D/1, Kleinrock vol. 1, ch. 5
    found = delay_s(0.7, bandwidth_bps=1e7, latency_s=0.005, queue="md1")
    assert float(found) == pytest.approx(expected)
    assert np.isinf(delay_s(1.0, bandwidth_bps=1e7, latency_s=0.005, queue="imix"))


def test_a_link_is_full_after_the_years_counted_one_by_one():
    found = square(full_at_ratio=0.5)
    load, other, years = 0.25e9, 0.0, 0  # a to b carries demands of 30% alone
    while load + other < 0.5e9:
        load, years = load * 1.3, years + 1
    at = arc(found, "a", "b")
    assert years - 1 < found.years[at] <= years  # derived: year by year
    assert found.failed_years[at] == 0.0
    back = found.years[arc(found, "b", "a")]
    assert 0.05e9 * 1.1**back == pytest.approx(0.5e9)  # identity


def test_growths_of_demands_on_one_link_add_up():
    links = "from,to,rate,latency\na,b,1 Gbit/s,1 ms\n"
    found = square("from,to,rate,growth\na,b,300 Mbit/s,40%\na,b,200 Mbit/s,-10%\n", links=links)
    years = float(found.years[0])
    total = 300e6 * 1.4**years + 200e6 * 0.9**years
    assert total == pytest.approx(1e9)  # identity: full when it is full
    assert (found.group_count, found.load_ratio[0]) == (2, 0.5)


@pytest.mark.each("seed", range(20))
def test_the_time_until_full_is_where_bisection_ends(seed):
    generator = np.random.default_rng(seed)
    load, growth = generator.random(4), generator.uniform(-0.3, 0.6, 4)
    capacity = load.sum() * generator.uniform(0.9, 5.0)
    found = float(years_to_reach(load, growth_ratio=growth, capacity_bps=np.array(capacity)))
    low, high = 0.0, 1e4
    if load.sum() >= capacity:
        assert found == 0.0
        return
    if growth.max() <= 0.0:
        assert found == np.inf
        return
    for _ in range(200):  # derived: convex, so that it crosses upwards once
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore"):
            below = (load * (1.0 + growth) ** middle).sum() < capacity
        low, high = (middle, high) if below else (low, middle)
    assert found == pytest.approx(high, rel=1e-9)


def test_one_growth_is_the_model_of_exhaustion():
    expected = exhaustion_s(0.25e9, capacity_bps=1e9, annual_growth=0.3, target_utilization=0.8)
    found = square(full_at_ratio=0.8)
    # derived: netcalc.models.users.growth, which has its own sources
    assert found.years[arc(found, "a", "b")] == pytest.approx(float(expected) / YEAR_S)


def test_full_never_and_already():
    years = years_to_reach(
        np.array([[1.0], [2.0], [0.0], [3.0]]), growth_ratio=np.array([0.0]),
        capacity_bps=np.array([2.0, 2.0, 2.0, 2.0]),
    )  # fmt: skip
    assert years.tolist() == [np.inf, 0.0, np.inf, 0.0]
    assert date_after(START, np.inf) is None
    assert date_after(START, 101.0) is None
    assert date_after(START, 4.0) == date(2030, 1, 1)  # identity: 1461 days


def test_growth_of_a_link_is_in_place_of_that_of_its_demands():
    links = SQUARE.replace("latency\n", "latency,growth\n").replace(" ms\n", " ms,100%\n")
    found = square(links=links)
    at = arc(found, "a", "b")
    assert found.years[at] == pytest.approx(2.0)  # derived: 0.25 doubles twice
    assert found.failed_years[at] == pytest.approx(1.0)


def test_costs_choose_the_paths():
    links = (
        "from,to,rate,latency,cost\na,b,10 Mbit/s,1 ms,9\na,c,1 Gbit/s,2 ms,2\n"
        "c,b,1 Gbit/s,2 ms,2\n"
    )
    demands = "from,to,rate\na,b,1 Mbit/s\n"
    loads = {}
    for costs in ("given", "ospf", "hops", "latency"):
        found = square(demands, links=links, costs=costs)
        loads[costs] = found.load_bps[arc(found, "a", "b")] / 1e6
    assert loads == {"given": 0.0, "ospf": 0.0, "hops": 1.0, "latency": 1.0}  # derived by hand
    found = square(demands, links=links, costs="ospf", reference_bps=1e6)
    assert found.load_bps[arc(found, "a", "b")] == 1e6  # all rates above the reference cost 1
    with pytest.raises(DomainError) as caught:
        square(costs="given")
    assert caught.value.code == "network-cost-missing"


def test_loads_of_ranges_are_linear_in_them():
    found = square("from,to,rate\na,d,300..500 Mbit/s\n")
    ranges = found.ranges
    at = arc(found, "a", "b")
    # derived: half of a uniform rate over 1 Gbit/s; a Latin hypercube has one draw in each 1/200
    for percent in (5, 50, 95):
        expected = (300 + 2 * percent) / 2 / 1000
        assert np.percentile(ranges.load_ratio[at], percent) == pytest.approx(expected, abs=5e-4)
    np.testing.assert_allclose(ranges.failed_load_bps[at], 2 * ranges.load_bps[at])
    assert found.load_ratio[at] == pytest.approx(0.2)


def test_a_range_of_one_growth_is_one_number_for_all_its_demands():
    demands = "from,to,rate,growth\na,b,100 Mbit/s,20..40%\nb,d,100 Mbit/s,20..40%\n"
    found = square(demands)
    first, second = (found.ranges.years[arc(found, *ends)] for ends in (("a", "b"), ("b", "d")))
    assert np.array_equal(first, second)
    slow, fast = np.log(10) / np.log(1.2), np.log(10) / np.log(1.4)
    assert fast <= first.min() < first.max() <= slow  # derived: 0.1 grows tenfold


def test_rates_and_latencies_of_links_may_be_ranges():
    links = "from,to,rate,latency\na,b,80..120 Mbit/s,10..20 ms\n"
    found = square("from,to,rate\na,b,60 Mbit/s\n", links=links)
    ratio = found.ranges.load_ratio[0]
    assert 0.5 <= ratio.min() < 0.51 < 0.74 < ratio.max() <= 0.75  # derived: 60 over 120 and 80
    assert found.load_ratio[0] == pytest.approx(0.6)
    assert np.median(found.ranges.path_delay_s[0]) == pytest.approx(0.0152, abs=2e-4)


def test_draws_repeat_with_their_seed():
    demands = "from,to,rate\na,d,300..500 Mbit/s\n"
    one, two = (square(demands, seed=7).ranges.load_bps for _ in range(2))
    other = square(demands, seed=8).ranges.load_bps
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_blocks_of_draws_change_nothing(monkeypatch):
    demands = "from,to,rate,growth\na,d,300..500 Mbit/s,10..20%\nd,a,100 Mbit/s,5%\n"
    whole = square(demands).ranges
    monkeypatch.setattr("netcalc.planning.network.routing.CASES_AT_ONCE", 7 * 2 * 5 * 2)
    parts = square(demands).ranges
    np.testing.assert_allclose(parts.failed_load_bps, whole.failed_load_bps)  # identity
    np.testing.assert_allclose(parts.years, whole.years)


def test_graphs_of_networkx_are_networks():
    graph = nx.Graph()
    for line in SQUARE.splitlines()[1:]:
        start, end, rate, latency = line.split(",")
        graph.add_edge(start, end, rate=rate, latency=latency)
    demands = read(SQUARE, demands=DEMANDS).demands
    found = plan(networks.from_graph(graph, demands=demands), settings=Settings(start=START))
    expected = square()
    for ends in (("a", "b"), ("c", "d"), ("d", "e")):
        one, other = arc(found, *ends), arc(expected, *ends)
        assert found.load_bps[one] == expected.load_bps[other]  # identity
        assert found.failed_years[one] == expected.failed_years[other]


def test_directed_graphs_join_the_two_directions_of_an_edge():
    graph = nx.DiGraph()
    graph.add_edge(1, 2, rate_bps=1e9, latency_s=0.001, cost=3)
    graph.add_edge(2, 1, rate_bps=1e8, latency_s=0.002, cost=4)
    graph.add_edge(2, 3, rate_bps=uncertain.uniform(1e8, 2e8), latency_s=0.002, cost=4)
    network = networks.from_graph(graph, demands={(1, 3): "10 Mbit/s", (2, 1): 1e6})
    first, second = network.links
    assert (first.there.rate_bps, first.back.rate_bps, second.back) == (1e9, 1e8, None)
    again = networks.to_graph(network)
    assert sorted((a, b, d["cost"]) for a, b, d in again.edges(data=True)) == [
        ("1", "2", 3), ("2", "1", 4), ("2", "3", 4),
    ]  # fmt: skip


def test_graphs_that_cannot_be_planned():
    graph = nx.Graph()
    graph.add_edge("a", "b", rate="10", latency="1 ms")
    with pytest.raises(UnitError):
        networks.from_graph(graph, demands={("a", "b"): 1.0})
    graph = nx.Graph([("a", "b")])
    with pytest.raises(DomainError) as caught:
        networks.from_graph(graph, demands={("a", "b"): 1.0})
    assert (caught.value.code, caught.value.name) == ("network-edge-without", "rate_bps")
    with pytest.raises(ArgumentTypeError) as refused:
        networks.from_graph({"a": "b"}, demands={})
    assert refused.value.code == "network-not-a-graph"


def test_a_demand_without_a_path_is_refused():
    way = networks.Direction(rate_bps=1e6, latency_s=0.0)
    links = (networks.Link(start="a", end="b", there=way, back=None),)
    demands = (networks.Demand(source="b", target="a", rate_bps=1.0),)
    with pytest.raises(DomainError) as caught:
        plan(networks.Network(links=links, demands=demands))
    assert caught.value.code == "network-no-path"


def test_draws_that_cannot_be_are_refused():
    with pytest.raises(DomainError) as caught:
        networks.Demand(source="a", target="b", rate_bps=uncertain.normal(1e6, 1e6))
    assert caught.value.code == "network-draws-impossible"
    assert caught.value.values["share"] == pytest.approx(
        0.158655, abs=1e-6
    )  # published: normal below -1 sigma


def test_the_page_says_what_was_found():
    found = square()
    said = {one.code: one.values for one in page.sentences(found)}
    assert said["network-heaviest"]["ratio"] == pytest.approx(0.5)
    assert said["network-worst-cut"] == {"failed": "d-e", "count": 1, "rate_bps": 100e6}
    assert said["network-full"]["date"] == page.arc_rows(found)[0]["full_on"]
    assert all(str(one) for one in page.sentences(found))
    rows = page.arc_rows(found)
    assert [one["failure_load_ratio"] for one in rows] == sorted(
        (one["failure_load_ratio"] for one in rows), reverse=True
    )
    document = page.as_dict(found)
    assert (document["scanned"], document["layer"], len(document["arcs"])) == (5, "line", 10)


def test_hours_a_year_come_from_the_availability():
    links = SQUARE.replace("latency\n", "latency,availability\n").replace(" ms\n", " ms,99%\n")
    rows = page.failure_rows(square(links=links))
    assert [one["hours_a_year"] for one in rows] == pytest.approx(
        [87.66] * 5
    )  # derived: 8766 / 100


def test_an_empty_scan_is_a_plan_without_failures():
    begun = NetworkPlan(read(SQUARE, demands=DEMANDS), settings=Settings(start=START))
    assert np.array_equal(begun.failed_load_bps, begun.load_bps)
    assert "network-worst-failure" not in {one.code for one in page.sentences(begun)}


def test_the_simple_imix_is_one_mix():
    """Published: 40, 576 and 1500 bytes of IP, 7 : 4 : 1; derived: 84, 614 and 1538 on the wire."""
    assert IMIX_BYTES.tolist() == [84, 614, 1538]
    assert pytest.approx((7 * 84 + 4 * 614 + 1538) / 12) == MEAN_BYTES
    mix = planning.tunnel("none").inputs
    assert mix["mix_bytes"]["value"] == [40, 576, 1500]
    assert mix["mix_weights"]["value"] == [7, 4, 1]
    # derived: the mean wait of M/G/1 by hand, Pollaczek-Khinchine at half a load of 10 Mbit/s
    mean = (7 * 84 + 4 * 614 + 1538) / 12
    square = (7 * 84**2 + 4 * 614**2 + 1538**2) / 12
    wait_s = 0.5 * square / mean / 2 / 0.5 * 8 / 10e6
    found = delay_s(0.5, bandwidth_bps=10e6, latency_s=0.005, queue="imix")
    assert found == pytest.approx(0.005 + mean * 8 / 10e6 + wait_s)
