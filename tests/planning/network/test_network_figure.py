"""The figure of a planned network: a map by load, and a bar for each load."""

from __future__ import annotations

import itertools
import sys
from datetime import date

import numpy as np
import pytest
from bokeh.models import GlyphRenderer

from netcalc import plots
from netcalc.errors import MissingPackageError
from netcalc.planning.network import Settings, page, plan, read
from netcalc.planning.network.facts import places
from netcalc.plots.plans import MOST_LINKS, MOST_NAMES, MOST_POINTS
from netcalc.version import requirement

LINKS = "from,to,rate,latency\n" + "".join(
    f"node number {a},n{b},1 Gbit/s,1 ms\n" for a in range(6) for b in range(6)
)
DEMANDS = "from,to,rate\n" + "".join(f"n{a},node number {a},{100 + a} Mbit/s\n" for a in range(6))


def planned(demands=DEMANDS):
    return plan(read(LINKS, demands=demands), settings=Settings(start=date(2026, 1, 1)))


@pytest.mark.each("theme", ["light", "dark"])
def test_the_bars_are_the_rows_of_the_page(theme):
    found = planned()
    drawn = plots.network(found, theme=theme)
    rows = page.arc_rows(found)[:MOST_LINKS]
    load, after = drawn.sources["load"].data, drawn.sources["worst failure"].data
    assert list(load["right"]) == [one["load_ratio"] for one in rows]
    assert list(after["right"]) == [one["failure_load_ratio"] for one in rows]
    assert (load["bottom"] > after["top"]).all(), "the bars of a row are beside each other"
    centres = (load["top"] + after["bottom"]) / 2
    limit = drawn.sources["full"].data["y"]
    assert (max(limit), min(limit)) == pytest.approx((centres[0] + 0.5, centres[-1] - 0.5))
    heights = np.concatenate([bars["top"] - bars["bottom"] for bars in (load, after)])
    assert heights == pytest.approx(heights[0]), "one height for all"
    assert (np.asarray(after["bottom"])[:-1] > np.asarray(load["top"])[1:]).all(), "from the top"
    assert {"load", "worst failure", "full"} <= set(drawn.sources)
    assert f"{MOST_LINKS} of 72 directions" in plots.svg(drawn)


def test_ranges_are_drawn_from_p5_to_p95():
    found = planned(DEMANDS.replace("100 Mbit/s", "100..200 Mbit/s"))
    drawn = plots.network(found)
    ends = drawn.sources["p5 to p95 after the failure"].data
    rows = [one["ranges"]["failure_load_ratio"] for one in page.arc_rows(found)[:MOST_LINKS]]
    assert list(ends["left"]) == [one["p5"] for one in rows]
    assert list(ends["right"]) == [one["p95"] for one in rows]
    assert (ends["left"] <= ends["right"]).all()
    assert (ends["left"] < ends["right"]).any()


def test_a_name_is_shorter_beside_a_bar_than_on_the_map():
    """A bar has room for 10 characters of a name, the map for 18."""
    drawn = plots.network(planned())
    assert "node number 5" in list(drawn.sources["names"].data["text"])
    assert "node numb…" in plots.svg(drawn)


SQUARE = (
    "from,to,name,rate,latency\na,b,up,1 Gbit/s,1 ms\na,b,down,1 Gbit/s,1 ms\n"
    "b,c,x,1 Gbit/s,1 ms\nc,d,y,800 Mbit/s,1 ms\nd,a,z,1 Gbit/s,1 ms\n"
)
CORNERS = "node,x,y\na,0,0\nb,40,0\nc,40,40\nd,0,40\n"


def drawn_square(rate="900", *, nodes=CORNERS, full=1.0, fail="links", theme="light"):
    demands = f"from,to,rate [Mbit/s]\na,d,{rate}\na,b,60\nc,d,500\n"
    found = plan(
        read(SQUARE, demands=demands, nodes=nodes),
        settings=Settings(start=date(2026, 1, 1), costs="hops", full_at_ratio=full, fail=fail),
    )
    return found, plots.network(found, theme=theme)


def test_each_direction_is_in_the_class_of_its_load():
    _, drawn = drawn_square()
    classes = {
        name: sorted(source.data["direction"])
        for name, source in drawn.sources.items()
        if name.startswith("load ")
    }
    assert classes.pop("load from 75% to 100%") == ["a to d"]  # derived by hand: 900 Mbit/s
    assert classes.pop("load from 50% to 75%") == ["c to d"]
    assert classes.pop("load from 25% to 50%") == []
    assert classes.pop("load of 100% and more") == []
    assert len(classes.pop("load from 0% to 25%")) == 8
    assert not classes


@pytest.mark.each("theme", ["light", "dark"])
def test_what_is_full_and_the_worst_failure_are_marks_and_not_colours_only(theme):
    found, drawn = drawn_square("1200", full=0.8, theme=theme)
    now = drawn.sources["full now"].data
    at, kind = places(found.network)
    assert kind == "plane"
    index = found.network.nodes.index
    middle = (3 * at[index("a")] + at[index("d")]) / 4  # of the half at a
    assert (now["x"].tolist(), now["y"].tolist()) == ([middle[0]], [middle[1]])
    worst = found.cases[found.worst_first[0].case]
    then = found.ratio_after(found.worst_first[0].case)
    others = (then >= 0.8) & (found.load_ratio < 0.8)
    assert len(drawn.sources["full then"].data["x"]) == others.sum() > 0
    assert len(drawn.sources["failed at"].data["x"]) == 1
    picture = plots.svg(drawn)
    for text in (
        "full: 80% and more",
        f"the worst failure: {worst.shown}",
        f"full if {worst.shown}",
    ):
        assert text in picture


def test_a_node_that_fails_is_marked_where_it_is():
    found, drawn = drawn_square(fail="nodes")
    at, _ = places(found.network)
    number = found.cases[found.worst_first[0].case].number
    mark = drawn.sources["failed at"].data
    assert [mark["x"][0], mark["y"][0]] == at[number].tolist()


def test_hovering_has_load_delay_failure_and_dates():
    _, drawn = drawn_square()
    data = drawn.sources["load from 75% to 100%"].data
    assert data["load"] == ["90%"]
    assert data["link"] == ["z, 1 Gbit/s (line)"]
    assert data["delay"][0].endswith("ms")
    assert data["failure"][0] in {"up", "down", "x", "y", "no failure"}
    assert data["date"] == ["not within 100 years"]  # without growth


def test_parallel_links_have_labels_and_lines_of_their_own():
    found, drawn = drawn_square()
    rows = {(one["from"], one["to"], one["link"]): one["parallel"] for one in page.arc_rows(found)}
    assert (rows["a", "b", "up"], rows["a", "b", "down"]) == (1, 2)
    assert rows["b", "c", "x"] is None
    picture = plots.svg(drawn)
    assert "a → b #1" in picture
    assert "a → b #2" in picture
    data = drawn.sources["load from 0% to 25%"].data
    ends = [(xs[-1], ys[-1])
            for xs, ys, name in zip(data["xs"], data["ys"], data["direction"], strict=True)
            if name == "a to b"]  # fmt: skip
    assert len(set(ends)) == 2, "they bow to different sides"


def test_a_name_is_on_the_side_of_its_node_that_has_fewer_links():
    """The links of a and b go upwards and level, and those of c and d downwards and level."""
    found, drawn = drawn_square()
    at, _ = places(found.network)
    names = drawn.sources["names"].data
    assert list(names["text"]) == ["a", "b", "c", "d"]
    assert list(names["x"]) == at[:, 0].tolist()
    above = np.asarray(names["y"]) - at[:, 1]
    assert np.sign(above).tolist() == [-1, -1, 1, 1]
    assert np.ptp(np.abs(above)) == pytest.approx(0, abs=1e-12)


def test_links_of_one_way_count_for_the_side_of_a_name_at_both_ends():
    """A ring a > m > d > c > k > b > a: m and k have a link on each side, and names above."""
    nodes = "node,x,y\na,0,0\nm,0,20\nd,0,40\nc,40,40\nk,40,20\nb,40,0\n"
    links = "from,to,rate,latency\n" + "".join(
        f"{first},{second},1 Gbit/s,1 ms\n" for first, second in itertools.pairwise("amdckba")
    )
    found = plan(
        read(links, demands="from,to,rate\na,d,1 Mbit/s\n", nodes=nodes, one_way=True),
        settings=Settings(start=date(2026, 1, 1)),
    )
    at, names = places(found.network)[0], plots.network(found).sources["names"].data
    above = dict(zip(names["text"], np.sign(np.asarray(names["y"]) - at[:, 1]), strict=True))
    assert above == {"a": -1, "m": 1, "d": 1, "c": 1, "k": 1, "b": -1}


def test_the_halves_of_a_link_meet_in_its_middle():
    found, drawn = drawn_square()
    at, _ = places(found.network)
    for name, source in drawn.sources.items():
        for xs, ys, ends in zip(*(source.data.get(one, []) for one in ("xs", "ys", "direction")),
                                strict=False):  # fmt: skip
            first, last = (at[found.network.nodes.index(one)] for one in ends.split(" to "))
            assert (xs[0], ys[0]) == tuple(first), name
            away = np.hypot(*((first + last) / 2 - [xs[-1], ys[-1]]))
            assert away <= 0.021, "up to half the bow of parallel links"


def test_the_globe_is_drawn_with_its_degrees_narrowed():
    nodes = "node,lat,lon\na,60,179\nb,60,-179\nc,61,-179\nd,61,179\n"
    found, _ = drawn_square(nodes=nodes)
    at, kind = places(found.network)
    assert kind == "globe"
    width, height = np.ptp(at, axis=0)
    # derived: 2 degrees across the 180th meridian, cos(60.5°) as long as those of latitude
    assert width / height == pytest.approx(2 * np.cos(np.radians(60.5)))


def test_a_layout_is_the_same_every_time():
    first, second = (plots.svg(drawn_square(nodes=None)[1]) for _ in range(2))
    assert first == second
    found, drawn = drawn_square(nodes=None)
    assert places(found.network)[1] == "layout"
    assert "as they have no coordinates" in drawn.description


@pytest.mark.each(
    ("count", "names", "points"),
    [
        (MOST_NAMES, True, True), (MOST_NAMES + 1, False, True),
        (MOST_POINTS, False, True), (MOST_POINTS + 1, False, False),
    ],
)  # fmt: skip
def test_large_networks_have_no_names_on_the_map(count, names, points):
    nodes = "node,x,y\n" + "".join(f"n{a},{a},{a % 7}\n" for a in range(count))
    links = "from,to,rate,latency\n" + "".join(
        f"n{a},n{(a + 1) % count},1 Gbit/s,1 ms\n" for a in range(count)
    )
    found = plan(
        read(links, nodes=nodes, demands="from,to,rate\nn0,n1,1 Mbit/s\n"),
        settings=Settings(start=date(2026, 1, 1)),
    )
    sources = plots.network(found).sources
    assert ("names" in sources, "nodes" in sources) == (names, points)
    if points:
        assert len(sources["nodes"].data["x"]) == count


@pytest.mark.each(("links", "faint"), [(199, []), (200, ["load from 0% to 25%"])])
def test_of_two_hundred_links_those_of_little_load_are_faint(links, faint):
    """No link has load but the first, which is full."""
    rows = "".join(f"a,b,{n},1 Gbit/s,1 ms\n" for n in range(1, links))
    found = plan(
        read(
            "from,to,name,rate,latency\nb,c,0,1 Gbit/s,1 ms\n" + rows,
            demands="from,to,rate\nb,c,600 Mbit/s\n", nodes="node,x,y\na,0,0\nb,1,0\nc,1,1\n",
        ),
        settings=Settings(start=date(2026, 1, 1)),
    )  # fmt: skip
    drawn = plots.network(found)
    lines = drawn.figure.select({"type": GlyphRenderer})
    alphas = {one.name: one.glyph.line_alpha for one in lines if "load" in (one.name or "")}
    assert len(alphas) > 2
    assert [name for name, alpha in alphas.items() if alpha < 1] == faint


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingPackageError) as caught:
        planned()
    assert (caught.value.package, caught.value.extra) == ("networkx", "plan")
    assert requirement("plan") in str(caught.value)
