"""``netcalc congestion``: scenarios of files and presets, tables and JSON, every refusal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from pyarrow import parquet

from netcalc import samples
from netcalc.cli import commands
from netcalc.congestion.grid import table
from netcalc.errors import NetcalcError

SCENARIO = {
    "rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "loss_ratio": 0, "end_s": 20,
    "warm_s": 2, "seed": 1,
    "flows": [
        {"algorithm": "cubic", "start_s": 0, "stop_s": 20, "size_bytes": None},
        {"algorithm": "reno", "start_s": 5, "stop_s": None, "size_bytes": 1e6},
    ],
}  # fmt: skip


def run(*arguments: str) -> str:
    done = CliRunner().invoke(
        commands, ["congestion", *arguments], env={"COLUMNS": "100"}, catch_exceptions=True
    )
    assert done.exit_code == 0, done.exception
    return done.output


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    return str(path)


@pytest.mark.each("stack", ["ns3", "linux"])
def test_json_has_the_means_of_the_scenario(file, stack):
    found = json.loads(run(file, "--by", "theory", "--stack", stack, "--json"))
    assert found["by"] == "theory"
    first, second = found["goodput_bps"]
    # derived: what both carry in the 18 s that count fits the payload of the link
    assert first * 18 + second * (found["finish_s"][1] - 5) < 18 * 1e7 * 1448 / 1500 * 1.001
    assert found["finish_s"][0] is None
    assert 5 + 8e6 / 9.65e6 < found["finish_s"][1] < 15, "derived: not faster than the link"
    assert 0 < found["queue_mean_bytes"] < found["queue_p95_bytes"] <= 33 * 1500
    assert found["drop_count"] > 0


def test_the_table_has_a_row_for_each_flow(file):
    lines = run(file).splitlines()
    assert lines[0].startswith("evaluated by: theory of Linux's TCP (netcalc "), "first of all"
    assert [word for word in lines[2].split() if word.isalpha()] == [
        "flow", "algorithm", "start", "stop", "size", "goodput", "finish",
    ]  # fmt: skip
    assert sum("cubic" in line for line in lines) == 1
    assert any(line.startswith("utilization: ") for line in lines)
    assert any(line.startswith("Jain index") for line in lines)


def test_presets_are_listed_and_computed():
    listed = run("--list")
    assert "two-flows " in listed
    names = [line.split()[0] for line in listed.splitlines() if line[2] != " "]
    assert set(json.loads(run("--list", "--json"))) == set(names)
    [at] = [number for number, line in enumerate(listed.splitlines()) if "wan-10g" in line]
    assert "1 to 2 MB" in listed.splitlines()[at + 1], "published: NE08 and NE09 of the data set"
    found = json.loads(run("--preset", "buffer-1-bdp", "--algorithm", "reno", "--json"))
    assert 0.08 <= found["request_p99_s"][0] < 0.2, "derived: RTT + buffer / rate, and repairs"
    text = run("--preset", "buffer-2-bdp", "--stack", "ns3")
    [line] = [one for one in text.splitlines() if one.startswith("latency of request loop 1: ")]
    words = line.split(": ")[1].split(", ")
    assert words[0].endswith(" requests")
    # measured: ns-3 has 596 requests in 55 s, enough for a 99th percentile, not for a 99.9th
    names = [word.split(" (")[0].rsplit(" ", 2)[0] for word in words[1:]]
    assert names == ["least", "median", "mean", "90th", "99th", "greatest"]


@pytest.mark.each(
    "arguments, code",
    [
        ([], "no-scenario"),
        (["FILE", "--preset", "lan"], "options-exclusive"),
        (["FILE", "--algorithm", "bbr"], "options-exclusive"),
        (["FILE", "--python", "python3"], "options-exclusive"),
        (["FILE", "--by", "ns3", "--stack", "linux"], "options-exclusive"),
        (["FILE", "--by", "ns3", "--python", "/no/python"], "ns3-no-python"),
        (["--preset", "two-flow"], "not-a-choice"),
        (["FILE", "--by", "guess"], "not-a-choice"),
        (["FILE", "--plot", "FILE", "--force"], "output-is-input"),
        (["--list", "--plot", "out.html"], "options-exclusive"),
    ],
)
def test_refusals(file, arguments, code):
    given = [file if word == "FILE" else word for word in arguments]
    done = CliRunner().invoke(commands, ["congestion", *given])
    assert isinstance(done.exception, NetcalcError)
    assert done.exception.code == code


@pytest.mark.slow
@pytest.mark.each("by", [[], ["--stack", "linux"]])
def test_the_course_is_drawn_into_a_file_that_is_not_replaced_unasked(file, tmp_path, by):
    page = tmp_path / f"out{len(by)}.html"
    assert "utilization" in run(file, *by, "--plot", str(page))
    text = page.read_text()
    for name in ("flow 1, cubic, theory", "flow 2, reno, theory", "ideal share", "scenario.json",
                 "equal windows"):  # fmt: skip
        assert name in text
    refused = CliRunner().invoke(commands, ["congestion", file, "--plot", str(page)])
    assert isinstance(refused.exception, NetcalcError)
    assert refused.exception.code == "output-exists"
    again = run(file, "--json", "--plot", str(page), "--force")
    assert json.JSONDecoder().raw_decode(again)[0]["by"] == "theory"


def test_a_fault_in_the_file_is_named_with_its_place(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps(SCENARIO | {"flows": [{"algorithm": "cubic", "stop_s": 0}]}))
    done = CliRunner().invoke(commands, ["congestion", str(path)])
    assert "field flows[0].stop_s: the stop must be after the start at 0 s" in str(done.exception)


def test_a_grid_is_saved_printed_and_continued(file, tmp_path):
    out, copy = tmp_path / "out.jsonl", tmp_path / "out.csv"
    vary = ("--vary", "buffer_packets=20, 40", "--vary", "rtt_s=10 ms,0.02")
    # "10 ms" has a unit, 0.02 is in that of the name
    found = json.loads(
        run(file, *vary, "--out", str(out), "--json", "--table", str(copy)).split("\nwrote")[0]
    )
    assert (found["total"], found["finished"], found["left"]) == (4, 4, 0)
    assert [(row["buffer_packets"], row["rtt_s"]) for row in found["rows"]] == [
        (20, 0.01), (20, 0.02), (40, 0.01), (40, 0.02),
    ]  # fmt: skip
    assert len(copy.read_text().splitlines()) == 5  # derived: a header, four rows
    lines = run(file, *vary, "--out", str(out)).splitlines()
    assert sum(" to " in line for line in lines) == 4, "derived: goodputs of two flows in each row"
    assert any("4 of 4 were finished before" in line for line in lines)


@pytest.mark.each(("options", "code"), [
    (["--vary", "rtt_s=1"], "option-requires"),
    (["--repeats", "2"], "option-requires"),
    (["--vary", "rtt_s", "--out", "o.jsonl"], "vary-malformed"),
    (["--vary", "rtt_s=", "--out", "o.jsonl"], "vary-malformed"),
    (["--vary", "rtt_s=1", "--vary", "rtt_s=2", "--out", "o.jsonl"], "vary-twice"),
    (["--vary", "rtt=1", "--out", "o.jsonl"], "not-a-choice"),
    (["--vary", "rtt_s=1 byte", "--out", "o.jsonl"], "unit-of-other-kind"),
    (["--out", "no/o.jsonl"], "output-folder-missing"),
    (["--out", "o.jsonl", "--plot", "o.html"], "nothing-varies"),
    (["--out", "o.jsonl", "--vary", "rtt_s=1", "--plot", "o.html"], "nothing-varies"),
    (["--out", "o.jsonl", "--plot", "o.jpg"], "output-is-picture"),
    (["--out", "o.jsonl", "--by", "theory,ns3"], "options-exclusive"),
    (["--out", "."], "output-is-directory"),
    (["--out", "/dev/full"], "output-is-device"),
    (["--out", "o.jsonl", "--table", "t.xlsx"], "table-of-other-form"),
])  # fmt: skip
def test_a_grid_that_cannot_be_is_refused_before_it_begins(
    file, tmp_path, monkeypatch, options, code
):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(commands, ["congestion", file, *options])
    assert isinstance(done.exception, NetcalcError)
    assert done.exception.code == code
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.json"]


@pytest.mark.each("form", ["json", "parquet"])
def test_the_table_of_a_grid_reads_back(file, tmp_path, form):
    """identity: what was written is what is read, and it is not replaced unasked."""
    out, copy = str(tmp_path / f"{form}.jsonl"), tmp_path / f"copy.{form}"
    run(file, "--vary", "algorithm=reno,bbr", "--out", out, "--table", str(copy))
    found = table(out)
    if form == "json":
        again = samples.load(copy)["utilization"].tolist()
    else:
        again = parquet.read_table(copy)["utilization"].to_pylist()
    assert again == found["utilization"].tolist()
    assert len(again) == 2
    done = CliRunner().invoke(commands, ["congestion", file, "--out", out, "--table", str(copy)])
    assert isinstance(done.exception, NetcalcError)
    assert done.exception.code == "output-exists"


def test_an_interrupted_batch_ends_with_130(file, tmp_path, monkeypatch):
    from netcalc.congestion import batch

    def fail(cases, stack):
        raise KeyboardInterrupt

    monkeypatch.setattr(batch, "by_theory", fail)
    done = CliRunner().invoke(commands, ["congestion", file, "--out", str(tmp_path / "o.jsonl")])
    assert done.exit_code == 130
    assert "1 of 1 have no result" in done.output


def test_several_ways_are_compared_and_what_is_absent_is_said(file, tmp_path):
    picture = tmp_path / "out.svg"
    ways = ("--by", "theory,ns3", "--python", "/no/python")
    text = run(file, *ways, "--plot", str(picture))
    assert "cannot start /no/python" in text
    assert "flow 1, cubic, theory" in picture.read_text()
    found = json.loads(run(file, *ways, "--json").splitlines()[-1])
    assert (found["by"], found["partings"]) == (["theory"], [])
    assert found["absent"]["ns3"]["code"] == "ns3-no-python"
    assert found["about"]["scenario"]["seed"] == 1
    nothing = CliRunner().invoke(commands, ["congestion", file, "--by", "ns3", *ways[2:]])
    assert nothing.exception.code == "ns3-no-python"


def test_the_table_of_partings_has_a_row_for_each_quantity(file, monkeypatch):
    """identity: the simulator is theory here, but for a goodput that is twice as high."""
    from netcalc.congestion import quantities

    def doubled(scenario, *, python):
        found = quantities.theory.run(scenario, stack="ns3")
        return replace(found, by="ns3", goodput_bps=found.goodput_bps / 2)

    monkeypatch.setattr(quantities.ns3, "run", doubled)
    lines = run(file, "--by", "ns3,theory").splitlines()
    assert any(line.startswith("evaluated by: theory of ns-3's TCP (") for line in lines[:2])
    [row] = [line for line in lines if line.startswith(" goodput 1 (TCP payload) ")]
    assert "+100.0% *" in row
    [other] = [line for line in lines if line.startswith(" utilization ")]
    assert "+0.0% " in other
    assert "*" not in other
    found = json.loads(run(file, "--by", "theory,ns3", "--json"))
    [goodput, *_] = found["partings"]
    assert (goodput["relative_difference"], goodput["beyond"]) == ({"ns3": 1.0}, ["ns3"])
    assert set(found["results"]) == {"theory", "ns3"}


def test_one_way_says_what_repeats_it(file):
    about = json.loads(run(file, "--json"))["about"]
    assert about["stack"] == "linux"
    assert about["scenario"]["flows"][0]["algorithm"] == "cubic"
    assert {"netcalc", "python", "system", "at"} <= set(about)


def test_the_results_of_a_grid_are_shown_written_and_drawn(file, tmp_path):
    out, page, copy = (tmp_path / name for name in ("out.jsonl", "out.html", "out.parquet"))
    grid = ("--vary", "buffer_packets=20,40", "--out", str(out))
    run(file, *grid, "--plot", str(page))
    assert "cubic+reno, theory" in page.read_text()
    text = run(str(out), "--plot", str(page), "--table", str(copy), "--force")
    assert sum(" to " in line for line in text.splitlines()) == 2
    columns = parquet.read_table(copy).column_names
    for name in ("rate_min_1_bps", "window_mean_2_packets", "convergence_2_s", "resent_ratio"):
        assert name in columns
    rows = json.loads(run(str(out), "--json"))["rows"]
    assert [row["buffer_packets"] for row in rows] == [20, 40]
    refused = CliRunner().invoke(commands, ["congestion", str(out), "--preset", "lan"])
    assert refused.exception.code == "options-exclusive"


def test_windows_are_drawn_against_each_other_only_if_two_flows_run_together(tmp_path):
    """derived: the first ends at 5 s, and the second begins then."""
    after = [{"algorithm": "cubic", "stop_s": 5}, {"algorithm": "reno", "start_s": 5, "stop_s": 9}]
    for flows in (after, after[:1]):
        path, page = tmp_path / "after.json", tmp_path / "after.html"
        path.write_text(json.dumps(SCENARIO | {"flows": flows}))
        run(str(path), "--plot", str(page), "--force")
        assert "equal windows" not in page.read_text()
