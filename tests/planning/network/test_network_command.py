"""``netcalc plan network``: page, JSON, CSV, figure, refusals, and what Ctrl-C leaves."""

from __future__ import annotations

import csv
import io
import json
import os
import signal

import pytest
from click.testing import CliRunner

from netcalc.cli import commands, main
from netcalc.errors import NetcalcError
from netcalc.planning.network import NetworkPlan

LINKS = (
    "from,to,rate,latency,availability\na,b,1 Gbit/s,1 ms,99.9%\nb,d,1 Gbit/s,1 ms,99.9%\n"
    "a,c,1 Gbit/s,1 ms,99.9%\nc,d,1 Gbit/s,2 ms,99.9%\nd,e,1 Gbit/s,3 ms,99.9%\n"
)
DEMANDS = "from,to,rate,growth\na,d,400 Mbit/s,100%\na,e,100 Mbit/s,100%\n"
RANGES = "from,to,rate\na,d,300..500 Mbit/s\na,e,100 Mbit/s\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("links", LINKS), ("demands", DEMANDS), ("ranges", RANGES)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def run(*arguments, demands="demands.csv"):
    words = ["plan", "network", "links.csv", demands, "--from", "2026-01-01", *arguments]
    return CliRunner().invoke(commands, words, env={"COLUMNS": "120"})


def test_the_page_says_load_failure_date_and_delay(files):
    done = run()
    assert done.exit_code == 0, done.exception
    lines = done.output.splitlines()
    assert (
        "Busiest link: a to b, at 25% of 1 Gbit/s (line)." in lines
    )  # derived by hand: half of 500
    cut = "Worst single failure: d-e cuts off 100 Mbit/s (line) of 1 demand with no other path."
    assert cut in lines  # derived: e has one link
    assert "First link to be full: a to b on 2028-01-01." in lines  # derived: 0.25 doubles twice
    found = next(
        one for one in lines if one.startswith("First link to be full with any one failure")
    )
    assert "2026-12-31" in found or "2027-01-01" in found  # derived: 0.5 doubles once
    row = next(one.split() for one in lines if one.split()[:2] == ["a", "b"])
    assert row[2:5] == ["1", "Gbit/s", "25%"]
    assert "50%" in row
    assert any("8.77 h" in one for one in lines)  # derived: 8766 / 1000


def test_json_has_all_of_it(files):
    found = json.loads(run("--json").output)
    assert (found["plan"], found["scanned"], len(found["arcs"])) == ("network", 5, 10)
    first = found["arcs"][0]
    assert (first["load_ratio"], first["failure_load_ratio"]) == (0.25, 0.5)
    assert [one["code"] for one in found["sentences"]][:3] == [
        "network-size", "network-busiest", "network-worst-cut",
    ]  # fmt: skip


def test_csv_has_a_line_for_each_direction(files):
    plain = list(csv.DictReader(io.StringIO(run("--csv").output)))
    assert len(plain) == 10
    assert {float(one["load_ratio"]) for one in plain} == {0.25, 0.1, 0.0}
    ranged = list(csv.DictReader(io.StringIO(run("--csv", demands="ranges.csv").output)))
    assert float(ranged[0]["load_ratio_p5"]) < float(ranged[0]["load_ratio_p95"])


def test_ranges_are_shown_with_their_ends(files):
    done = run(demands="ranges.csv")
    assert done.exit_code == 0, done.exception
    assert "25% (20.5%..29.5%)" in done.output  # derived: half of 300..500 and 100, p5 to p95


def test_growth_of_an_option_may_be_a_range(files):
    found = json.loads(run("--growth", "30 % ± 5 % a year", "--json", demands="ranges.csv").output)
    dates = found["arcs"][0]["ranges"]["full_on"]
    assert dates["p5"] < dates["median"] < dates["p95"]


@pytest.mark.each("name", ["loads.html", "loads.svg"])
def test_the_figure_is_written(files, name):
    done = run("--plot", name, demands="ranges.csv")
    assert done.exit_code == 0, done.exception
    text = (files / name).read_text()
    assert "load after the failure that is the worst for it" in text
    assert run("--plot", name).exit_code != 0, "not replaced without --force"


REFUSED = {
    "bad date": (("--from", "yesterday"), "date-malformed"),
    "bad growth": (("--growth", "30"), "unit-missing"),
    "both forms": (("--json", "--csv"), "options-exclusive"),
    "unknown queue": (("--queue", "mg1"), "not-a-choice"),
    "costs that are not there": (("--costs", "given"), "network-cost-missing"),
    "full at 0": (("--full-at", "0%"), "not-positive"),
    "few draws": (("--draws", "5"), "below-minimum"),
    "nodes of a file that is not there": (("--nodes", "nodes.csv"), "no-such-file"),
}


@pytest.mark.each("name", REFUSED)
def test_mistakes_are_refused(files, name):
    arguments, code = REFUSED[name]
    done = run(*arguments)
    assert isinstance(done.exception, NetcalcError), done.exception
    assert done.exception.code == code
    assert str(done.exception)


def test_a_bad_file_is_refused_in_one_line(files, capsys):
    (files / "links.csv").write_text(LINKS + "d,f,-1 Gbit/s,1 ms,99%\n")
    with pytest.raises(SystemExit) as ended:
        main(["plan", "network", "links.csv", "demands.csv"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("netcalc: links.csv, line 7, field rate: ")
    assert "-1 Gbit/s" in said
    assert said.count("\n") == 1


def test_names_of_a_file_obey_nobody(files):
    (files / "links.csv").write_text(LINKS.replace("e,1 Gbit/s", "\x1b[31me,1 Gbit/s"))
    (files / "demands.csv").write_text("from,to,rate\na,\x1b[31me,1 Mbit/s\n")
    for form in ((), ("--csv",)):
        assert "\x1b[31m" not in run(*form).output


def interrupting(monkeypatch, after):
    """Send Ctrl-C after some failures."""
    scan = NetworkPlan.scan

    def interrupted(self):
        for number, result in enumerate(scan(self), 1):
            if number == after:
                os.kill(os.getpid(), signal.SIGINT)
            yield result

    monkeypatch.setattr(NetworkPlan, "scan", interrupted)


def test_ctrl_c_keeps_what_was_found(files, monkeypatch):
    with monkeypatch.context() as patched:
        interrupting(patched, 2)
        done = run("--save", "scan.jsonl", "--json")
    assert done.exit_code == 130
    found = json.loads(done.stdout.splitlines()[0])
    assert found["scanned"] == 2
    assert [one["code"] for one in found["notices"]] == ["network-interrupted"]
    assert len((files / "scan.jsonl").read_text().splitlines()) == 3
    again = run("--save", "scan.jsonl", "--json")
    assert again.exit_code == 0
    whole = json.loads(run("--json").stdout)
    continued = json.loads(again.stdout.splitlines()[0])
    assert [one["code"] for one in continued.pop("notices")] == ["network-continued"]
    whole.pop("notices")
    assert continued == whole  # identity: as in one go


def test_ctrl_c_without_a_file_still_prints_the_page(files, monkeypatch):
    interrupting(monkeypatch, 1)
    done = run()
    assert done.exit_code == 130
    assert "Busiest link: a to b" in done.output
    assert "stopped after 1 of 5 failures" in done.output


def test_force_begins_a_scan_anew(files):
    (files / "scan.jsonl").write_text("something else\n")
    assert run("--save", "scan.jsonl").exit_code != 0
    assert (files / "scan.jsonl").read_text() == "something else\n"
    assert run("--save", "scan.jsonl", "--force").exit_code == 0
    assert len((files / "scan.jsonl").read_text().splitlines()) == 6


def test_a_demand_without_an_end_of_its_wait_is_said_in_words(tmp_path):
    """20 of 10 Mbit/s: the queue has no steady state."""
    links, demands = tmp_path / "links.csv", tmp_path / "demands.csv"
    links.write_text("from,to,rate,latency\na,b,10 Mbit/s,1 ms\n")
    demands.write_text("from,to,rate\na,b,20 Mbit/s\n")
    found = CliRunner().invoke(commands, ["plan", "network", str(links), str(demands)])
    assert found.exit_code == 0
    assert "Infinite mean delay: the demand from a to b crosses a full link." in found.stdout
    assert "inf s from" not in found.stdout
