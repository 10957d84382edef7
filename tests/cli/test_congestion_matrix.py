"""``netcalc congestion``: single flows by their index, matrices, and a scenario on the input."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.congestion.grid import Grid
from netcalc.errors import DomainError
from netcalc.scenario import from_document

BASE = {
    "rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "end_s": 4, "warm_s": 1,
    "flows": [{"algorithm": "cubic"}, {"algorithm": "cubic"}],
    "requests": [{"request_bytes": 1e4}],
}  # fmt: skip


def invoke(*arguments, **more):
    return CliRunner().invoke(commands, ["congestion", *map(str, arguments)], **more)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(BASE))
    return path


def test_one_flow_or_loop_is_set_by_its_index(file):
    options = ["flows[1].algorithm=bbr", "flows[0].start_s=500 ms", "flows[1].size_bytes=1 MB",
               "requests[0].request_bytes=20e3", "algorithm=reno"]  # fmt: skip
    done = invoke(file, *(word for one in options for word in ("--set", one)), "--json")
    scenario = json.loads(done.stdout)["about"]["scenario"]
    first, second = scenario["flows"]
    # identity: what is of one flow counts after what is of all, in whatever order
    assert (first["algorithm"], second["algorithm"]) == ("reno", "bbr")
    assert (first["start_s"], second["start_s"]) == (0.5, 0.0)
    assert second["size_bytes"] == 1e6
    assert scenario["requests"][0]["request_bytes"] == 20e3
    assert scenario["requests"][0]["algorithm"] == "reno"


def test_one_flow_is_varied_and_named_in_table_and_figure(file, tmp_path):
    out, copy, picture = (tmp_path / f"o.{form}" for form in ("jsonl", "csv", "svg"))
    vary = ("--vary", "flows[1].algorithm=reno,bbr", "--vary", "rtt_s=20 ms,40 ms")
    done = invoke(file, *vary, "--out", out, "--table", copy, "--plot", picture)
    assert done.exit_code == 0
    lines = copy.read_text().splitlines()
    rows = list(csv.DictReader(lines))
    assert [(row["flows[1].algorithm"], row["algorithm"], row["rtt_s"]) for row in rows] == [
        ("reno", "cubic+reno", "0.02"), ("reno", "cubic+reno", "0.04"),
        ("bbr", "cubic+bbr", "0.02"), ("bbr", "cubic+bbr", "0.04"),
    ]  # fmt: skip
    assert "cubic+bbr, theory" in picture.read_text()
    shown = invoke(out, "--json")
    assert [row["flows[1].algorithm"] for row in json.loads(shown.stdout)["rows"]] == [
        "reno", "reno", "bbr", "bbr",
    ]  # fmt: skip


def test_starts_that_differ_are_not_drawn_as_one(file, tmp_path):
    out, picture = tmp_path / "o.jsonl", tmp_path / "o.svg"
    vary = ("--vary", "flows[1].start_s=1,2", "--vary", "buffer_bdp=1,2")
    assert invoke(file, *vary, "--out", out, "--plot", picture).exit_code == 0
    for start in ("1.0", "2.0"):
        assert f"flows[1].start_s {start}, theory" in picture.read_text()


@pytest.mark.parametrize(("text", "code", "said"), [
    ("flows[2].algorithm=bbr", "no-such-load", "no flows[2]: flows has 2 entries, from index 0"),
    ("requests[1].start_s=1", "no-such-load", "requests has 1 entry"),
    ("flows[1].algo=bbr", "not-a-choice", "--set flows[1] must be one of algorithm, start_s"),
    ("flow[1].algorithm=bbr", "not-a-choice", "Did you mean flows[0].algorithm?"),
    ("flows[1].algorithm=brb", "scenario-number", "field flows[1].algorithm"),
    ("rtt_s=nan", "no-number", "--set rtt_s: 'nan' is not a time"),
    ("rate_bps=10 MB", "unit-of-other-kind", "--set rate_bps: '10 MB'"),
    ("buffer_packets=2.7", "scenario-number", "field buffer_packets"),
])  # fmt: skip
def test_a_fault_names_what_was_typed(file, text, code, said):
    error = invoke(file, "--set", text).exception
    assert (error.code, said in str(error)) == (code, True), str(error)


def test_streams_that_are_fewer_than_the_index_are_refused():
    alone = BASE | {"flows": BASE["flows"][:1]}
    found = Grid(alone, {"flows[1].algorithm": ["bbr"], "streams": [2, 3]}).cases()
    # identity: the copies are made first, whatever the order
    assert [[flow.algorithm for flow in case.scenario.flows] for case in found] == [
        ["cubic", "bbr"], ["cubic", "bbr", "cubic"],
    ]  # fmt: skip
    with pytest.raises(DomainError) as refused:
        Grid(alone, {"flows[1].algorithm": ["bbr"], "streams": [1]}).cases()
    assert refused.value.code == "no-such-load"


@pytest.mark.each("text", ['{"flows": 5}', '{"flows": [5]}', "{}"])
def test_what_is_no_list_of_flows_is_refused_by_its_reader(text):
    for change in ("algorithm=reno", "streams=2"):
        done = invoke("-", "--set", change, input=text)
        assert done.exception.code == "scenario-key-missing"


def test_a_matrix_is_evaluated_saved_and_continued(tmp_path):
    out = tmp_path / "m.jsonl"
    short = ("--set", "end_s=30", "--set", "warm_s=1")
    call = ("--matrix", "versus", "--baseline", "reno", "--test", "vegas", *short, "--out", out)
    found = json.loads(invoke(*call, "--json").stdout)
    assert (found["total"], found["finished"]) == (8, 8), "published: the eight of tcpCA23"
    rows = {row["case"]: row["algorithm"] for row in found["rows"]}
    assert rows["vs1, 2 flows"] == "reno+vegas"
    assert rows["vs2, 2 flows"] == "vegas+reno"
    session, *results = map(json.loads, out.read_text().splitlines())
    assert (session["matrix"], session["baseline"], session["test"]) == ("versus", "reno", "vegas")
    assert {row["scenario"]["end_s"] for row in results} == {30}
    again = invoke(*call)
    assert "8 of 8 were finished before" in again.stderr
    assert "case" in invoke(out).stdout
    wider = json.loads(invoke(*call, "--vary", "buffer_bdp=0.5,1", "--json").stdout)
    assert wider["total"] == 16, "derived: eight cases at two buffers"


@pytest.mark.slow
def test_a_matrix_with_streams_is_drawn_against_them(tmp_path):
    out, picture = tmp_path / "m.jsonl", tmp_path / "m.svg"
    done = invoke("--matrix", "requests", "--set", "end_s=12", "--set", "warm_s=6", "--out", out,
                  "--plot", picture)  # fmt: skip
    assert done.exit_code == 0
    assert "long flows" in picture.read_text()
    refused = invoke("--matrix", "losses", "--out", tmp_path / "l.jsonl", "--plot", "no/l.svg")
    assert refused.exception.code == "output-folder-missing"


def test_the_cases_of_a_matrix_are_listed():
    listed = invoke("--list", "--matrix", "rates", "--baseline", "reno").stdout.splitlines()
    assert len(listed) == 58
    assert listed[0].endswith("flows: 0; request loops: 1 of reno")
    found = json.loads(invoke("--list", "--matrix", "versus", "--json").stdout)
    assert [flow["algorithm"] for flow in found["vs1, 2 flows"]["flows"]] == ["cubic", "bbr"]


@pytest.mark.parametrize(("arguments", "code"), [
    (["--matrix", "versus"], "option-requires"),
    (["--matrix", "verses", "--out", "o.jsonl"], "not-a-choice"),
    (["--matrix", "versus", "--preset", "lan", "--out", "o.jsonl"], "options-exclusive"),
    (["FILE", "--matrix", "versus", "--out", "o.jsonl"], "options-exclusive"),
    (["--matrix", "versus", "--algorithm", "reno", "--out", "o.jsonl"], "options-exclusive"),
    (["--matrix", "versus", "--test", "cubic", "--out", "o.jsonl"], "matrix-algorithms-alike"),
    (["--matrix", "versus", "--set", "algorithm=reno", "--out", "o.jsonl"], "not-a-choice"),
    (["--matrix", "versus", "--set", "end_s=20", "--out", "o.jsonl"], "starts-after-end"),
    (["FILE", "--baseline", "reno"], "option-requires"),
    (["--list", "--test", "reno"], "option-requires"),
])  # fmt: skip
def test_what_a_matrix_cannot_be_is_refused(file, tmp_path, monkeypatch, arguments, code):
    monkeypatch.chdir(tmp_path)
    done = invoke(*[file if word == "FILE" else word for word in arguments])
    assert done.exception.code == code
    assert not list(tmp_path.glob("*.jsonl"))


def test_a_scenario_is_taken_from_standard_input(file):
    text = json.dumps(BASE)
    one, other = invoke("-", "--json", input=text), invoke(file, "--json")
    assert json.loads(one.stdout)["goodput_bps"] == json.loads(other.stdout)["goodput_bps"]
    fault = invoke("-", input='{"rate_bps": -1}').exception
    assert str(fault).startswith("standard input")


def test_results_on_standard_input_are_refused(file, tmp_path):
    out = tmp_path / "o.jsonl"
    assert invoke(file, "--out", out).exit_code == 0
    assert invoke("-", input=out.read_text()).exception.code == "results-on-input"


def test_constants_that_are_no_numbers_are_refused_with_their_field():
    for text, field in (
        (json.dumps(BASE | {"rtt_s": float("nan")}), "rtt_s"),
        (json.dumps(BASE | {"flows": [{"algorithm": "reno", "stop_s": float("inf")}]}),
         "flows[0].stop_s"),
    ):  # fmt: skip
        error = invoke("-", input=text).exception
        assert (error.code, error.field) == ("scenario-not-finite", field)
        assert error.values["value"] in ("nan", "inf")


def test_what_is_not_known_is_a_dash_in_text():
    early = {"flows": [{"algorithm": "cubic", "size_bytes": 1e5}, {"algorithm": "cubic"}]}
    text = json.dumps(BASE | early)
    assert from_document(text).warm_s == 1, "derived: 100 kB at 10 Mbit/s are there after 0.3 s"
    shown = invoke("-", input=text).stdout
    assert "Jain index of the goodputs: -" in shown
    assert not any(word in shown.split() for word in ("nan", "inf", "nan,", "inf,"))
