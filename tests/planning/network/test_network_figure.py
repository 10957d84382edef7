"""The figure of a planned network: a bar for each load, whatever the names of the nodes are."""

from __future__ import annotations

import sys
from datetime import date

import pytest

from netcalc import plots
from netcalc.errors import MissingPackageError
from netcalc.planning.network import Settings, page, plan, read
from netcalc.plots.networks import MOST_LINKS

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
    assert set(drawn.sources) == {"load", "worst failure", "full"}
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


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingPackageError) as caught:
        planned()
    assert (caught.value.package, caught.value.extra) == ("networkx", "plan")
    assert "netcalc-lab[plan]" in str(caught.value)
