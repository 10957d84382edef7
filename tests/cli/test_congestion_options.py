"""``netcalc congestion``: changed presets, courses as tables, what is refused or said."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from netcalc.cli import commands
from netcalc.congestion import quantities, theory
from netcalc.congestion.batch import Batch
from netcalc.congestion.grid import Grid
from netcalc.congestion.recording import Recording, parse_rows
from netcalc.emulation.queue import Log
from netcalc.errors import ArgumentTypeError, DomainError, NetcalcError, ReaderError
from netcalc.samples import Meta
from netcalc.scenario import from_document

BASE = {
    "rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "end_s": 4,
    "flows": [{"algorithm": "cubic"}],
}  # fmt: skip


def invoke(*arguments, name="congestion"):
    return CliRunner().invoke(commands, [name, *map(str, arguments)], env={"COLUMNS": "100"})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(BASE))
    return path


@pytest.fixture
def results(file, tmp_path):
    path = tmp_path / "results.jsonl"
    assert invoke(file, "--vary", "rtt_s=0.04,0.05", "--out", path).exit_code == 0
    return path


@pytest.mark.parametrize("options", [
    ["--by", "live"], ["--by", "theory"], ["--stack", "linux"], ["--save", "q.json"],
    ["--repeats", "5"], ["--python", "python3"], ["--set", "end_s=3"], ["--preset", "lan"],
    ["--vary", "rtt_s=1"],
])  # fmt: skip
def test_nothing_that_evaluates_is_ignored_beside_results(results, options):
    done = invoke(results, *options)
    assert isinstance(done.exception, NetcalcError)
    assert (done.exception.code, done.exception.values["second"]) == (
        "options-exclusive", options[0],
    )  # fmt: skip


def test_a_list_takes_no_file_and_no_option(file):
    for arguments in ([file], ["--preset", "lan"], ["--by", "ns3"]):
        assert invoke("--list", *arguments).exception.code == "options-exclusive"
    assert "wan-10g" in json.loads(invoke("--list", "--json").stdout)


def test_results_without_a_result_are_refused(results, tmp_path):
    begun = tmp_path / "begun.jsonl"
    begun.write_text(results.read_text().splitlines(keepends=True)[0])
    for options in ([], ["--json"], ["--plot", tmp_path / "p.html"]):
        done = invoke(begun, *options)
        assert isinstance(done.exception, ReaderError)
        assert done.exception.code == "grid-no-results"


@pytest.mark.parametrize(("loss_ratio", "said"), [(0, True), (0.001, False)])
def test_equal_repeats_of_theory_are_said(tmp_path, loss_ratio, said):
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(BASE | {"loss_ratio": loss_ratio}))
    done = invoke(path, "--repeats", "2", "--out", tmp_path / "o.jsonl")
    assert done.exit_code == 0
    assert ("gives all 2 repeats the same result" in done.stderr) == said


def test_a_preset_is_changed():
    options = ["--preset", "wan-10g", "--set", "end_s=2", "--set", "rate_bps=10 Mbit/s"]
    options += ["--set", "buffer_packets=20", "--set", "algorithm=reno", "--set", "warm_s=1"]
    found = json.loads(invoke(*options, "--set", "seed=9007199254740992", "--json").stdout)
    scenario = found["about"]["scenario"]
    assert (scenario["end_s"], scenario["rate_bps"]) == (2, 1e7)
    assert scenario["buffer_bytes"] == 30_000, "derived: 20 packets of 1500 bytes"
    assert {flow["algorithm"] for flow in scenario["flows"]} == {"reno"}
    assert scenario["seed"] == 2**53, (
        "derived: the largest below which each whole number is a float"
    )
    refused = invoke(*options, "--set", "seed=9007199254740993").exception
    assert refused.field == "seed", "derived: 2**53 + 1, which is no float"


@pytest.mark.parametrize(("text", "code"), [
    ("end_s", "set-malformed"), ("end_s=", "set-malformed"), ("end_s=1,2", "set-malformed"),
    ("ends=1", "not-a-choice"), ("end_s=0", "scenario-number"),
])  # fmt: skip
def test_what_cannot_be_set_is_refused(file, text, code):
    assert invoke(file, "--set", text).exception.code == code
    assert invoke(file, "--set", "end_s=1", "--set", "end_s=1").exception.code == "set-twice"


@pytest.mark.each("form", ["csv", "json", "parquet"])
def test_the_course_of_a_result_is_written(file, tmp_path, form):
    path = tmp_path / f"course.{form}"
    assert invoke(file, "--table", path).exit_code == 0
    wanted = theory.run(from_document(BASE)).trajectory
    if form == "parquet":
        columns = parquet.read_table(path).to_pydict()
        assert columns["by"] == ["theory"] * wanted.time_s.size
        for name, values in (
            ("time_s", wanted.time_s),
            ("queue_bytes", wanted.queue_bytes),
            ("drop_count", np.round(wanted.drop_count)),
            ("window_1_packets", wanted.window_packets[:, 0]),
            ("goodput_1_bps", wanted.goodput_bps[:, 0]),
        ):
            np.testing.assert_array_equal(columns[name], values)
    elif form == "csv":
        # identity: read by pandas as it is, without a word on a first line
        frame = pandas.read_csv(path)
        assert list(frame.columns[:4]) == ["by", "time_s", "queue_bytes", "rtt_s"]
        np.testing.assert_array_equal(frame["queue_bytes"], wanted.queue_bytes)
        assert invoke(path, name="read").exit_code == 0
    else:
        assert invoke(path, name="read").exit_code == 0
    assert invoke(file, "--table", path).exception.code == "output-exists"


@pytest.mark.each("name", ["read", "export"])
def test_read_and_export_name_the_command_for_scenarios_and_results(file, results, name):
    for path in (file, results):
        done = invoke(path, *(["--to", "csv"] if name == "export" else []), name=name)
        assert done.exit_code
        if name == "read":  # which goes on with the next file
            assert f"netcalc congestion {path.name} evaluates or shows it" in done.stderr
        else:
            assert done.exception.code == "json-of-congestion"


def cut_recording(ended_s):
    """Return a live run that was cut before its first packet."""
    states, received, requests = parse_rows(b"")
    return Recording(
        scenario=from_document(BASE), states=states, received=received, requests=requests,
        queue=Log().events(), ended_s=ended_s, meta=Meta(partial=True),
    )  # fmt: skip


@pytest.mark.each("by", ["live", "theory,live"])
def test_a_cut_run_is_named(file, monkeypatch, by):
    from netcalc.congestion import live

    monkeypatch.setattr(live, "record", lambda *_, **__: cut_recording(1.5))
    done = invoke(file, "--by", by)
    assert done.exit_code == 130
    assert "the live run stopped after 1.5 s of 4 s" in done.stderr
    if by == "theory,live":
        assert "nothing is compared with it" in done.stdout
        assert "%  " not in done.stdout.split("quantity")[1].split("utilization")[0]
    found = json.loads(invoke(file, "--by", by, "--json").stdout)
    if by == "theory,live":
        apart = [row["relative_difference"]["live"] for row in found["partings"]]
        assert apart == [None] * len(apart)


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_a_file_that_could_not_be_saved_is_said_before_a_signal_ends_the_command(capsys, number):
    """identity: once, by the command itself where no signal ends it first."""
    from netcalc.cli.congestion import LiveRun

    run = LiveRun(cut_recording(1.5))
    run.save_error = OSError(28, "No space left on device", "run.json")
    run.deferral.number = number
    with pytest.raises(OSError, match="No space left"):
        run.end()
    assert ("run.json" in capsys.readouterr().err) == (number is not None)


def test_a_difference_from_nothing_is_printed_in_its_unit(capsys):
    from netcalc.cli.congestion.batch import print_partings

    print_partings([
        quantities.Parting("release_s", 1, {"theory": 0.0, "live": 0.5}, resolution=0.4),
        quantities.Parting("convergence_s", 1, {"theory": 1.0, "live": 0.5}, resolution=0.4),
        quantities.Parting("drop_count", None, {"theory": 7.0, "live": 0.0}),
        quantities.Parting("drop_count", None, {"theory": 0.0, "live": 0.0}),
    ])  # fmt: skip
    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines() if "live" not in line]
    ends = [" ".join(line[-2:]) for line in lines if line and line[0] in ("time", "dropped")]
    # derived: 0 - 0.5 s, 1 / 0.5, 7 - 0, and nothing of nothing
    assert ends[:4] == ["-500 ms", "ms +100.0%", "0 +7", "0 +0.0%"]


def test_a_cut_run_is_compared_with_nothing():
    scenario = from_document(BASE)
    whole = theory.run(scenario)
    cut = replace(whole, by="live", goodput_bps=whole.goodput_bps / 2)
    other = replace(whole, by="ns3")
    rows = quantities.partings([whole, cut, other], cut=["live"])
    goodput = rows[0]
    assert np.isnan(goodput.differences()["live"])
    assert goodput.differences()["ns3"] == 0.0
    assert goodput.beyond() == ()
    assert goodput.as_dict()["relative_difference"] == {"live": None, "ns3": 0.0}
    [first_cut, *_] = quantities.partings([cut, other], cut=["live"])
    assert np.isnan(first_cut.differences()["ns3"]), "derived: the first was cut"


@pytest.mark.parametrize(("call", "code"), [
    (lambda: quantities.evaluate([], {}), "no-ways"),
    (lambda: Grid(BASE, None), "not-of-class"),
    (lambda: Grid(BASE, {"rtt_s": 0.1}), "not-of-class"),
    (lambda: Grid(BASE, {"algorithm": "reno"}), "not-of-class"),
    (lambda: Batch().run(None, "o.jsonl"), "not-of-class"),
])  # fmt: skip
def test_arguments_of_another_kind_are_refused(call, code):
    with pytest.raises((DomainError, ArgumentTypeError)) as refused:
        call()
    assert refused.value.code == code


def test_a_late_start_is_at_fault_and_not_a_stop_that_nobody_wrote():
    with pytest.raises(ReaderError) as refused:
        from_document(BASE | {"flows": [{"algorithm": "cubic", "start_s": 50}]})
    assert (refused.value.code, refused.value.field) == ("starts-after-end", "flows[0].start_s")
    with pytest.raises(ReaderError) as refused:
        from_document(json.dumps(BASE).replace("10000000.0", "9" * 401))
    assert refused.value.code == "scenario-too-large"
    assert "finite" not in str(refused.value)


@pytest.mark.each(
    ("options", "code"),
    [
        ((), "option-requires"),
        (("--by", "live", "--vary", "rtt_s=1 ms,2 ms", "--out", "OUT"), "options-exclusive"),
    ],
)
def test_a_peer_is_of_one_live_run(options, code, tmp_path):
    options = [str(tmp_path / "out.jsonl") if each == "OUT" else each for each in options]
    peer = ("--peer", "192.0.2.7", "--token", "abcd-efgh-ijkm-npqr")
    refused = invoke("--preset", "two-flows", *peer, *options)
    assert refused.exception.code == code
