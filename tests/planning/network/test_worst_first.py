"""Which single failure is the worst: what cuts traffic off, then loads; all sentences name it."""

from __future__ import annotations

from datetime import date

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.planning.network import Settings, page, plan, read

START = date(2026, 1, 1)
TRIANGLE = "from,to,rate,latency\n" + "".join(f"{ends},10 Gbit/s,1 ms\n" for ends in
                                              ("A,B", "B,C", "A,C"))  # fmt: skip
ONE_LINK = "from,to,rate,latency\nA,B,10 Gbit/s,1 ms\n"


def planned(links, demands, **settings):
    text = "from,to,rate\n" + "".join(f"{one} Gbit/s\n" for one in demands)
    return plan(read(links, demands=text), settings=Settings(start=START, **settings))


def said(found):
    return {one.code: one.values for one in page.sentences(found)}


def printed(tmp_path, links, *demands):
    (tmp_path / "links.csv").write_text(links)
    rows = "".join(f"{one} Gbit/s\n" for one in demands)
    (tmp_path / "demands.csv").write_text(f"from,to,rate\n{rows}")
    names = [str(tmp_path / name) for name in ("links.csv", "demands.csv")]
    done = CliRunner().invoke(commands, ["plan", "network", *names], env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.exception
    return done.output


def test_a_failure_without_another_path_cuts_off_and_loads_nothing(tmp_path):
    text = printed(tmp_path, ONE_LINK, "A,B,4")
    expected = "Worst single failure: A-B cuts off 4 Gbit/s (line) of 1 demand with no other path."
    assert expected in text  # derived: there is one link
    assert "has 0%" not in text
    assert "after a single failure" not in text


def test_nothing_is_said_for_a_demand_of_0(tmp_path):
    text = printed(tmp_path, ONE_LINK, "A,B,0")
    assert "Worst single failure" not in text
    assert "cuts off" not in text


def test_what_is_cut_off_ranks_before_loads():
    # C-D is the only link of D; without A-B the link A-C has 6 + 1 of 10, and C-D 1 of 10.
    found = planned(TRIANGLE + "C,D,10 Gbit/s,1 ms\n", ["A,B,6", "A,D,1"])
    assert page.failure_rows(found)[0]["failed"] == "C-D"
    words = said(found)
    assert words["network-worst-cut"] == {"failed": "C-D", "count": 1, "rate_bps": 1e9}
    heaviest = words["network-heaviest"]
    assert (heaviest["start"], heaviest["end"], heaviest["failed"]) == ("A", "C", "A-B")
    assert heaviest["ratio"] == pytest.approx(0.7)  # derived by hand
    assert "network-cut" not in words, "said once"


def test_the_worst_failure_of_draws_is_ranked_alike():
    # Both ends hang on one link: 1..3 of C-D and 1.95 of B-E; the worst is now this, now that.
    links = TRIANGLE + "C,D,10 Gbit/s,1 ms\nB,E,10 Gbit/s,1 ms\n"
    found = planned(links, ["A,D,1..3", "A,E,1.95", "A,B,6"], draws=1000)
    assert said(found)["network-worst-cut"]["failed"] == "C-D"
    # derived: 1..3 above 1.95 in 0.525 of its range; of 1000 draws of a hypercube one either way
    assert found.ranges.worst_share == pytest.approx(0.525, abs=0.002)


def test_one_failure_and_one_link_are_named_for_all_that_is_full():
    # Without A-B: A-C has 5 + 6; without B-C: A-C 6 + 7, the most; without A-C: A-B 5 + 6.
    found = planned(TRIANGLE, ["A,B,5", "B,C,7", "A,C,6"])
    words = said(found)
    worst, full = words["network-worst-failure"], words["network-full-failed-now"]
    names = ("start", "end", "failed")
    assert [worst[one] for one in names] == [full[one] for one in names]
    rows = {(one["from"], one["to"]): one for one in page.arc_rows(found)}
    row = rows[full["start"], full["end"]]
    assert row["failure"] == row["failure_sooner"] == full["failed"]


def test_of_links_that_are_full_already_the_busiest_is_named():
    words = said(planned(TRIANGLE, ["A,B,12", "B,C,14", "A,C,13"]))
    assert (words["network-full-now"]["start"], words["network-full-now"]["end"]) == ("B", "C")


def test_each_heading_of_the_page_means_one_thing(tmp_path):
    text = printed(tmp_path, TRIANGLE, "A,B,5")
    assert text.count("full then") == 1, "a date"
    assert text.count("overloaded") == 1, "a count"
    assert "time a year" not in text, "without an availability there is none"
