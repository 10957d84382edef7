"""Files of links and demands: right, or refused with line and field."""

from __future__ import annotations

import networkx as nx
import pytest

from netcalc.errors import DomainError, ReaderError
from netcalc.planning.network import Demand, Direction, Link, Network, from_graph, read
from netcalc.uncertain import Distribution

LINKS = "from,to,rate,latency\na,b,10 Gbit/s,5 ms\nb,c,1 Gbit/s,1 ms\n"
DEMANDS = "from,to,rate\na,c,100 Mbit/s\n"
REFUSED_LINKS = {
    "no header": ("a,b,10 Gbit/s,5 ms\n", "network-column-missing", 1, "rate"),
    "empty": ("# only a comment\n\n", "network-file-empty", None, None),
    "no rows": ("from,to,rate,latency\n", "network-no-rows", 1, None),
    "no latency": ("from,to,rate\na,b,1 Gbit/s\n", "network-column-missing", 1, "latency"),
    "misspelled": ("from,to,rate,latncy\na,b,1 Gbit/s,1 ms\n", "network-column-named", 1,
                   "latency"),
    "misspelled option": ("from,to,rate,latency,availabilty\na,b,1 Gbit/s,1 ms,99%\n",
                          "network-column-unknown", 1, "availabilty"),
    "twice": ("from,to,rate,latency,delay\na,b,1 Gbit/s,1 ms,1 ms\n", "network-column-twice", 1,
              "delay"),
    "gap": ("from,to,rate,latency\na,b,,5 ms\n", "network-cell-empty", 2, "rate"),
    "gap in a name": ("from,to,rate,latency\na, ,T1,5 ms\n", "network-cell-empty", 2, "to"),
    "row of commas": (LINKS + ",,,\n", "network-cell-empty", 4, "from"),
    "short row": (LINKS + "c,d,T1\n", "network-row-length", 4, None),
    "long row": (LINKS + "c,d,T1,1 ms,x\n", "network-row-length", 4, None),
    "decimal comma": (LINKS + "c,d,1,5 Gbit/s,1 ms\n", "network-row-length", 4, None),
    "no unit": ("from,to,rate,latency\na,b,10,5 ms\n", "network-cell-unreadable", 2, "rate"),
    "two readings": ("from,to,rate,latency\na,b,10 mbps,5 ms\n", "network-cell-unreadable", 2,
                     "rate"),
    "another unit": ("from,to,rate,latency\na,b,10 ms,5 ms\n", "network-cell-unreadable", 2,
                     "rate"),
    "unit of the heading": ("from,to,rate [ms],latency\na,b,10,5 ms\n", "network-cell-unreadable",
                            1, "rate [ms]"),
    "unit of a name": ("from [m],to,rate,latency\na,b,T1,5 ms\n", "network-unit-unwanted", 1,
                       "from [m]"),
    "negative rate": ("from,to,rate,latency\na,b,-1 Gbit/s,5 ms\n", "network-number-impossible", 2,
                      "rate"),
    "rate of 0": ("from,to,rate,latency\na,b,0 bit/s,5 ms\n", "network-number-impossible", 2,
                  "rate"),
    "negative latency": ("from,to,rate,latency\na,b,T1,-5 ms\n", "network-number-impossible", 2,
                         "latency"),
    "range below 0": ("from,to,rate,latency\na,b,T1,1 ms ± 1 ms\n", "network-range-impossible", 2,
                      "latency"),
    "backwards": ("from,to,rate,latency\na,b,100..80 Mbit/s,1 ms\n", "network-cell-unreadable", 2,
                  "rate"),
    "availability above 1": ("from,to,rate,latency,availability\na,b,T1,1 ms,999%\n",
                             "network-number-impossible", 2, "availability"),
    "availability as a range": ("from,to,rate,latency,availability\na,b,T1,1 ms,98..99%\n",
                                "network-one-number", 2, "availability"),
    "shrinks to below 0": ("from,to,rate,latency,growth\na,b,T1,1 ms,-200%\n",
                           "network-number-impossible", 2, "growth"),
    "cost of 0": ("from,to,rate,latency,cost\na,b,T1,1 ms,0\n", "network-cost", 2, "cost"),
    "cost of half": ("from,to,rate,latency,cost\na,b,T1,1 ms,1.5\n", "network-cost", 2, "cost"),
    "cost too high": ("from,to,rate,latency,cost\na,b,T1,1 ms,16777216\n", "network-cost", 2,
                      "cost"),
    "loop": (LINKS + "c,c,T1,1 ms\n", "network-loop", 4, "to"),
    "again": (LINKS + "a,b,T1,1 ms\n", "network-link-twice", 4, "from"),
    "other direction": (LINKS + "b,a,T1,1 ms\n", "network-both-directions", 4, "from"),
    "same name": ("from,to,name,rate,latency\na,b,x,T1,1 ms\nb,c,x,T1,1 ms\n",
                  "network-link-twice", 3, "from"),
    "rate of no link": ("from,to,rate,latency\na,b,1e30 bit/s,5 ms\n",
                        "network-number-impossible", 2, "rate"),
    "latency of years": ("from,to,rate,latency\na,b,T1,3 years\n", "network-number-impossible", 2,
                         "latency"),
    "too large for a number": ("from,to,rate,latency\na,b,1e400 bit/s,5 ms\n",
                               "network-cell-unreadable", 2, "rate"),
    "not a number": ("from,to,rate,latency\na,b,nan Gbit/s,5 ms\n", "network-cell-unreadable", 2,
                     "rate"),
    "two separators": ("from;to;rate;latency\na,b,T1,5 ms\n", "network-row-length", 2, None),
    "group with a unit": ("from,to,rate,latency,group [m]\na,b,T1,1 ms,x\n",
                          "network-unit-unwanted", 1, "group [m]"),
    "open quote": (LINKS + 'c,"d,T1,1 ms\n', "malformed-quotes", 4, None),
}  # fmt: skip
REFUSED_DEMANDS = {
    "unknown node": ("from,to,rate\na,x,1 Mbit/s\n", "network-node-unknown", 2, "to"),
    "upper case": ("from,to,rate\nA,b,1 Mbit/s\n", "network-node-unknown", 2, "from"),
    "loop": ("from,to,rate\na,a,1 Mbit/s\n", "network-loop", 2, "to"),
    "negative": ("from,to,rate\na,b,-1 Mbit/s\n", "network-number-impossible", 2, "rate"),
    "no unit": ("from,to,rate\na,b,100\n", "network-cell-unreadable", 2, "rate"),
    "gap": ("from,to,rate\n# busy hour\n\na,b,\n", "network-cell-empty", 4, "rate"),
    "growth without a unit": (
        "from,to,rate,growth\na,b,1 Mbit/s,30\n",
        "network-cell-unreadable",
        2,
        "growth",
    ),
    "empty": ("", "network-file-empty", None, None),
    "again": (DEMANDS + "a,b,1 Mbit/s\na,c,100 Mbit/s\n", "network-demand-twice", 4, "from"),
    "more than all networks": (
        "from,to,rate\na,b,1e300 bit/s\n",
        "network-number-impossible",
        2,
        "rate",
    ),
    "nothing left": (
        "from,to,rate,growth\na,b,1 Mbit/s,-100%\n",
        "network-number-impossible",
        2,
        "growth",
    ),
    "beyond all growth": (
        "from,to,rate,growth\na,b,1 Mbit/s,1e200%\n",
        "network-number-impossible",
        2,
        "growth",
    ),
}
REFUSED_NODES = {
    "longitude alone": ("node,lon\na,1\nb,1\nc,1\n", "network-coordinate-alone", None, "lon"),
    "x alone": ("node,x\na,1\nb,1\nc,1\n", "network-coordinate-alone", None, "x"),
    "beyond the pole": ("node,lat,lon\na,95,1\nb,2,1\nc,3,1\n", "network-degrees", 2, "lat"),
    "gap": ("node,lat,lon\na,1,1\nb,,1\nc,3,1\n", "network-cell-empty", 3, "lat"),
    "unit": ("node,x,y\na,1 km,1\nb,2,1\nc,3,1\n", "network-coordinate", 2, "x"),
    "not a number": ("node,x,y\na,1,nan\nb,2,1\nc,3,1\n", "network-coordinate", 2, "y"),
    "huge": ("node,x,y\na,1e308,1\nb,-1e308,1\nc,3,1\n", "network-coordinate", 2, "x"),
}  # fmt: skip


@pytest.mark.each("name", REFUSED_LINKS)
def test_links_that_cannot_be_read_right(name):
    text, code, line, field = REFUSED_LINKS[name]
    with pytest.raises(ReaderError) as caught:
        read(text if "\n" in text else text.encode(), demands=DEMANDS)
    error = caught.value
    assert (error.code, error.line, error.field) == (code, line, field)
    assert str(error), "the sentence has all its values"


@pytest.mark.each("name", REFUSED_DEMANDS)
def test_demands_that_cannot_be_read_right(name):
    text, code, line, field = REFUSED_DEMANDS[name]
    with pytest.raises(ReaderError) as caught:
        read(LINKS, demands=text.encode())
    error = caught.value
    assert (error.code, error.line, error.field) == (code, line, field)
    assert str(error), "the sentence has all its values"


@pytest.mark.each("name", REFUSED_NODES)
def test_coordinates_that_cannot_be_read_right(name):
    text, code, line, field = REFUSED_NODES[name]
    with pytest.raises(ReaderError) as caught:
        read(LINKS, demands=DEMANDS, nodes=text)
    error = caught.value
    assert (error.code, error.line, error.field) == (code, line, field)
    assert str(error), "the sentence has all its values"


def test_coordinates_and_groups_of_files():
    links = "from,to,rate,latency,SRLG\na,b,T1,1 ms,duct 1 | bridge\nb,c,T1,1 ms,\n"
    network = read(
        links, demands=DEMANDS, nodes="node,Lat,Lon\nc,48.2,16.4\nb,-33.9,151.2\na,1,2\n"
    )
    assert network.positions == ((48.2, 16.4), (-33.9, 151.2), (1.0, 2.0))
    assert network.globe
    assert [one.groups for one in network.links] == [("duct 1", "bridge"), ()]
    plane = read(LINKS, demands=DEMANDS, nodes="node,x,y\na,1,2\nb,-3e2,4.5\nc,0,0\n")
    assert (plane.positions[1], plane.globe) == ((-300.0, 4.5), False)
    assert read(LINKS, demands=DEMANDS).positions == ()


def test_coordinates_and_groups_of_graphs():
    graph = nx.Graph()
    graph.add_node("a", lat=1.0, lon=2.0)
    graph.add_node("b", lat=3.0, lon=4.0)
    graph.add_edge("a", "b", rate="T1", latency="1 ms", groups=["duct"])
    network = from_graph(graph, demands={("a", "b"): 1e3})
    assert (network.positions, network.globe) == (((1.0, 2.0), (3.0, 4.0)), True)
    assert network.links[0].groups == ("duct",)
    graph.add_node("c")
    assert from_graph(graph, demands={("a", "b"): 1e3}).positions == ()


def test_a_disconnected_demand_is_refused_with_its_line():
    apart = LINKS + "d,e,T1,1 ms\n"
    with pytest.raises(ReaderError) as caught:
        read(apart, demands=DEMANDS + "a,e,1 Mbit/s\n")
    assert (caught.value.code, caught.value.line) == ("network-disconnected", 3)
    assert "no path leads there from a" in str(caught.value)


def test_a_one_way_street_is_a_dead_end():
    with pytest.raises(ReaderError) as caught:
        read("from,to,rate,latency\na,b,T1,1 ms\n", demands="from,to,rate\nb,a,1 kbit/s\n",
             one_way=True)  # fmt: skip
    assert caught.value.code == "network-disconnected"


def test_nodes_of_a_list_are_the_only_ones():
    nodes = "node\na\nb\n"
    with pytest.raises(ReaderError) as caught:
        read(LINKS, demands=DEMANDS, nodes=nodes)
    assert (caught.value.code, caught.value.line, caught.value.field) == (
        "network-node-unknown", 3, "to",
    )  # fmt: skip
    with pytest.raises(ReaderError) as caught:
        read(LINKS, demands=DEMANDS, nodes="node\na\nb\nc\na\n")
    assert (caught.value.code, caught.value.line) == ("network-node-twice", 5)
    assert read(LINKS, demands=DEMANDS, nodes="node\nc\nb\na\nd\n").nodes == ("c", "b", "a", "d")


@pytest.mark.each("text", [
    "from,to,rate,latency\na,b,10 Gbit/s,5 ms\nb,c,1 Gbit/s,1 ms\n",
    "from;to;rate;latency\na;b;10 Gbit/s;5 ms\nb;c;1 Gbit/s;1 ms\n",
    "from\tto\trate\tlatency\na\tb\t10 Gbit/s\t5,0 ms\nb\tc\t1 Gbit/s\t1 ms\n",
    "from,to,rate [Gbit/s],latency (ms)\na,b,10,5\nb,c,1,1\n",
    "latency_ms,rate_bps,to,from\n5,10000000000,b,a\n1,1e9,c,b\n",
    "Source,Destination,Capacity [Gbit/s],Delay\na,b,10,5 ms\nb,c,1,1 ms\n",
    '\ufeffa,b,bandwidth,delay\r\n"a","b","10 Gbit/s",5 ms\r\nb,c,1 Gbit/s,1 ms\r\n',
    "# our core\nfrom, to, rate, latency\n\n a , b , 10 Gbit/s , 5 ms \nb,c,1 Gbit/s,1 ms",
])  # fmt: skip
def test_the_same_links_in_other_forms(text):
    assert read(text, demands=DEMANDS).links == read(LINKS, demands=DEMANDS).links


def test_what_a_row_means():
    heading = "from,to,name,rate,latency,cost,availability,growth"
    text = f"{heading}\na,b,x,T1,2 ms,7,0.999 ratio,20% a year\n"
    link = read(text, demands="from,to,rate\na,b,1 kbit/s\n").links[0]
    way = Direction(rate_bps=1.544e6, latency_s=0.002, cost=7)  # published: ANSI T1.107
    assert link == Link(start="a", end="b", there=way, back=way, name="x",
                        availability_ratio=0.999, growth_ratio=0.2)  # fmt: skip


def test_ranges_of_cells_and_headings():
    text = "from,to,rate [Mbit/s],latency\na,b,80..100,30 ms ± 5 ms\n"
    network = read(text, demands="from,to,rate,growth [%/year]\na,b,1..2 Mbit/s,30 ± 5\n")
    ranges = [network.links[0].there.rate_bps, network.links[0].there.latency_s,
              network.demands[0].rate_bps, network.demands[0].growth_ratio]  # fmt: skip
    assert all(isinstance(one, Distribution) for one in ranges)
    medians = [float(one.ppf(0.5)) for one in ranges]
    assert medians == pytest.approx([90e6, 0.03, 1.5e6, 0.3])  # identity: middle of symmetric ones


def test_rows_of_one_direction_are_joined():
    text = "from,to,rate,latency\na,b,10 Mbit/s,5 ms\nb,c,T1,1 ms\nb,a,1 Mbit/s,6 ms\n"
    network = read(text, demands="from,to,rate\na,b,1 kbit/s\n", one_way=True)
    first, second = network.links
    assert (first.name, first.there.rate_bps, first.back.rate_bps) == ("a-b", 10e6, 1e6)
    assert (second.name, second.back) == ("b-c", None)
    with pytest.raises(ReaderError) as caught:
        read(text + "b,a,T1,1 ms\n", demands=DEMANDS, one_way=True)
    assert (caught.value.code, caught.value.line) == ("network-link-twice", 5)


def test_parallel_links_have_names():
    text = "from,to,name,rate,latency\na,b,x,T1,1 ms\na,b,y,T1,1 ms\nb,a,z,T1,1 ms\n"
    network = read(text, demands="from,to,rate\na,b,1 kbit/s\n")
    assert [link.name for link in network.links] == ["x", "y", "z"]


def test_columns_that_are_not_used_are_said():
    network = read("from,to,rate,latency,owner\na,b,T1,1 ms,us\n",
                   demands="from,to,rate,note\na,b,1 kbit/s,x\n")  # fmt: skip
    assert [(one.code, one.values["columns"]) for one in network.notices] == [
        ("network-columns-ignored", ["owner"]), ("network-columns-ignored", ["note"]),
    ]  # fmt: skip


def test_objects_are_refused_as_files_are():
    way = Direction(rate_bps=1e6, latency_s=0.0)
    link = Link(start="a", end="b", there=way, back=way)
    demand = Demand(source="a", target="b", rate_bps=1e3)
    for changed, code in (
        ({"links": ()}, "network-empty"),
        ({"demands": ()}, "network-empty"),
        ({"links": (link, link)}, "network-name-twice"),
        ({"nodes": ("a", "b", "a")}, "network-name-twice"),
        ({"nodes": ("a", "c")}, "network-node-unknown"),
        ({"demands": (Demand(source="a", target="c", rate_bps=1.0),)}, "network-node-unknown"),
    ):
        with pytest.raises(DomainError) as caught:
            Network(**{"links": (link,), "demands": (demand,)} | changed)
        assert caught.value.code == code
    for code, make in (
        ("network-loop", lambda: Link(start="a", end="a", there=way, back=way)),
        ("network-node-nameless", lambda: Demand(source="", target="a", rate_bps=1.0)),
        ("not-positive", lambda: Direction(rate_bps=0.0, latency_s=0.0)),
        ("not-finite", lambda: Direction(rate_bps=float("nan"), latency_s=0.0)),
        ("is-negative", lambda: Demand(source="a", target="b", rate_bps=-1.0)),
        ("not-whole", lambda: Direction(rate_bps=1.0, latency_s=0.0, cost=0)),
        ("above-maximum", lambda: Direction(rate_bps=1.0, latency_s=0.0, cost=2**24)),
    ):
        with pytest.raises(DomainError) as caught:
            make()
        assert caught.value.code == code


ONE_WAY = "from,to,rate,latency,group,growth\na,b,T1,1 ms,duct1,10%\n"


def test_both_directions_have_the_groups_of_either():
    found = read(ONE_WAY + "b,a,T1,1 ms,duct2,10%\n", demands=DEMANDS_AB, one_way=True)
    assert found.links[0].groups == ("duct1", "duct2")


def test_directions_of_a_link_have_one_growth():
    with pytest.raises(ReaderError) as caught:
        read(ONE_WAY + "b,a,T1,1 ms,duct1,90%\n", demands=DEMANDS_AB, one_way=True)
    assert caught.value.code == "network-directions-differ"
    assert caught.value.line == 3


DEMANDS_AB = "from,to,rate\na,b,1 kbit/s\n"
