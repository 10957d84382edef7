"""Grids: which scenarios they have, each with its key; batches that end early and go on."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import resource
import sys
import types

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.congestion import batch
from netcalc.congestion.batch import Batch
from netcalc.congestion.grid import MOST_CASES, Grid, key_of, table
from netcalc.congestion.quantities import document
from netcalc.congestion.recording import Recording, parse_rows
from netcalc.emulation.queue import Log
from netcalc.errors import (
    DomainError,
    ExperimentError,
    MissingPackageError,
    NetcalcError,
    ReaderError,
)
from netcalc.experiments.peers.flows_peer import REQUEST, ROW
from netcalc.messages import Notice
from netcalc.readers.saved import csv_text
from netcalc.samples import Meta
from netcalc.scenario import as_document
from netcalc.version import requirement

BASE = {
    "rate_bps": 1e7, "rtt_s": 0.04, "buffer_bdp": 1, "end_s": 5, "warm_s": 1, "seed": 7,
    "flows": [{"algorithm": "cubic", "stop_s": 5}],
}  # fmt: skip
LOOP = {"request_bytes": 1e4, "stop_s": 5}
S = 1_000_000_000
BUFFERS = {"buffer_bdp": [0.5, 1, 2, 4]}


def rows(path, kind):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in found if row["kind"] == kind]


def test_every_combination_is_there_and_the_last_name_varies_fastest():
    grid = Grid(BASE, {"rate_bps": [1e7, 2e7], "algorithm": ["reno", "bbr"]}, repeats=2)
    cases = grid.cases()
    assert [tuple(case.values.values()) for case in cases] == [
        (1e7, "reno", 1), (1e7, "reno", 2), (1e7, "bbr", 1), (1e7, "bbr", 2),
        (2e7, "reno", 1), (2e7, "reno", 2), (2e7, "bbr", 1), (2e7, "bbr", 2),
    ]  # fmt: skip
    assert [case.scenario.seed for case in cases] == [7, 8] * 4
    # derived: 10 Mbit/s times 40 ms are 50 kB, and the buffer of 1 BDP follows the rate
    assert [case.scenario.bottleneck.buffer_bytes for case in cases] == [5e4] * 4 + [1e5] * 4
    assert [case.scenario.flows[0].algorithm for case in cases[:3]] == ["reno", "reno", "bbr"]


def test_streams_are_copies_and_an_algorithm_is_of_the_requests_too():
    base = {**BASE, "requests": [LOOP]}
    [none, three] = Grid(base, {"streams": [0, 3], "algorithm": ["reno"]}).cases()
    assert none.scenario.flows == ()
    assert len(three.scenario.flows) == 3
    assert {one.algorithm for one in (*three.scenario.flows, *three.scenario.requests)} == {"reno"}


def test_another_buffer_takes_the_place_of_the_first():
    [case] = Grid(BASE, {"buffer_packets": [20]}).cases()
    assert case.scenario.bottleneck.buffer_bytes == 30_000  # derived: 20 packets of 1500 bytes


def test_the_key_is_the_hash_of_what_is_evaluated():
    """derived: SHA-256 of the JSON text that is written out here."""
    text = '{"by":"live","scenario":{"end_s":2.0,"rate_bps":1.0},"stack":null}'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert key_of({"rate_bps": 1.0, "end_s": 2.0}, "live", None) == expected
    keys = {case.key(by, None) for case in Grid(BASE, BUFFERS).cases() for by in batch.WAYS}
    assert len(keys) == 12


TWO = [BASE["flows"][0], {"algorithm": "reno", "stop_s": 5}]
REFUSED = [
    ({"vary": {"speed": [1]}}, "not-a-choice"),
    ({"vary": {"rtt_s": []}}, "grid-no-values"),
    ({"vary": {"rtt_s": [0.1, 0.10]}}, "grid-values-repeated"),
    ({"vary": {"buffer_bdp": [1], "buffer_bytes": [1e4]}}, "grid-both-varied"),
    ({"vary": {"seed": [1, 2]}, "repeats": 2}, "grid-both-varied"),
    ({"vary": {"streams": [1]}, "document": {**BASE, "flows": TWO}}, "grid-flows-unlike"),
    ({"vary": {"request_bytes": [1e4]}}, "grid-no-requests"),
    ({"vary": {}, "repeats": 0}, "not-whole"),
    ({"vary": {"rtt_s": [0.1, 0.2]}, "repeats": MOST_CASES}, "above-maximum"),
]


@pytest.mark.each(("given", "code"), REFUSED)
def test_a_grid_that_cannot_be_is_refused(given, code):
    with pytest.raises(DomainError) as error:
        Grid(**{"document": BASE, **given})
    assert error.value.code == code
    assert str(error.value)


def test_a_combination_that_cannot_be_is_named():
    with pytest.raises(ReaderError, match=r"buffer_bdp=0\.01.*buffer_bytes"):
        Grid(BASE, {"buffer_bdp": [1, 0.01]}).cases()


def test_results_are_those_of_the_scenarios_alone(tmp_path):
    """identity: many scenarios at once give what each one gives alone."""
    path = tmp_path / "out.jsonl"
    outcome = Batch().run(Grid(BASE, BUFFERS), path)
    assert (outcome.total, outcome.before, outcome.finished, outcome.left) == (4, 0, 4, 0)
    for case, row in zip(Grid(BASE, BUFFERS).cases(), rows(path, "result"), strict=True):
        alone = document(batch.theory.run(case.scenario))
        assert row["result"] == alone
        assert row["scenario"] == as_document(case.scenario)
    [session] = rows(path, "session")
    assert Grid(session["scenario"], session["vary"], session["repeats"]) == Grid(BASE, BUFFERS)


def test_requests_have_their_latencies(tmp_path):
    path = tmp_path / "out.jsonl"
    Batch(stack="linux").run(Grid({**BASE, "requests": [LOOP]}, {"streams": [0, 1]}), path)
    found = table(path)
    # derived: a request takes at least the round trip of 40 ms and 8 ms for its 10 kB, and longer
    # behind the queue of a transfer
    idle, busy = found["request_1_p50_s"]
    assert 0.048 <= idle < busy
    assert np.isnan(found["goodput_1_bps"][0])


def test_an_interrupted_batch_goes_on_where_it_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "AT_ONCE", 1)
    evaluated = []
    by_theory = batch.by_theory

    def counted(cases, stack):
        evaluated.extend(case.values["buffer_bdp"] for case in cases)
        return by_theory(cases, stack)

    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(batch, "by_theory", counted)
    path, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    first = Batch(progress=interrupt).run(Grid(BASE, BUFFERS), path)
    assert (first.finished, first.left, first.ended_by) == (2, 2, "interrupt")
    second = Batch(stop=lambda: True).run(Grid(BASE, BUFFERS), path)
    assert (second.before, second.finished, second.ended_by) == (2, 1, "stop")
    third = Batch().run(Grid(BASE, {"buffer_bdp": [*BUFFERS["buffer_bdp"], 8]}), path)
    assert (third.before, third.finished, third.left, third.ended_by) == (3, 2, 0, "")
    assert evaluated == [0.5, 1, 2, 4, 8], "derived: none is evaluated twice"
    Batch().run(Grid(BASE, {"buffer_bdp": [0.5, 1, 2, 4, 8]}), whole)
    assert [row["result"] for row in rows(path, "result")] == [
        row["result"] for row in rows(whole, "result")
    ]
    size = path.stat().st_size
    assert Batch().run(Grid(BASE, BUFFERS), path).before == 4
    assert path.stat().st_size == size, "derived: where nothing is missing nothing is written"


def test_a_line_that_a_killed_program_left_is_cut_off(tmp_path):
    path = tmp_path / "out.jsonl"
    Batch().run(Grid(BASE, BUFFERS), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    assert len(table(path)) == 3
    again = Batch().run(Grid(BASE, BUFFERS), path)
    assert (again.before, again.finished) == (3, 1)
    assert len(table(path)) == 4
    path.write_bytes(whole[:10])  # killed in its first line
    assert Batch().run(Grid(BASE, BUFFERS), path).finished == 4


def test_a_full_disk_keeps_the_lines_before(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "AT_ONCE", 1)
    path = tmp_path / "out.jsonl"
    Batch().run(Grid(BASE, {"buffer_bdp": [0.5]}), path)
    size = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size + size // 2, hard))
    try:
        with pytest.raises(OSError, match="too large") as error:  # EFBIG
            Batch().run(Grid(BASE, BUFFERS), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error.value.filename == str(path)
    assert path.read_bytes().endswith(b"}\n")
    kept = len(rows(path, "result"))
    assert 1 <= kept < 4
    assert Batch().run(Grid(BASE, BUFFERS), path).before == kept


@pytest.mark.each(("text", "code"), [
    ("a,b\n1,2", "grid-file-other"),
    ('{"kind": "session"}\n{"kind": "result"}\n', "grid-line-damaged"),
    ('{"kind": "session"}\nno JSON\n', "grid-line-damaged"),
])  # fmt: skip
def test_another_file_is_left_as_it_is(tmp_path, text, code):
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    with pytest.raises(ReaderError) as error:
        Batch().run(Grid(BASE, BUFFERS), path)
    assert error.value.code == code
    assert path.read_text() == text


def test_a_line_that_was_changed_is_refused_by_its_key(tmp_path):
    path = tmp_path / "out.jsonl"
    Batch().run(Grid(BASE, BUFFERS), path)
    path.write_text(path.read_text().replace('"rtt_s": 0.04, "buffer_bytes"',
                                             '"rtt_s": 0.05, "buffer_bytes"', 1))  # fmt: skip
    with pytest.raises(ReaderError) as error:
        table(path)
    assert (error.value.code, error.value.line) == ("grid-line-damaged", 2)


def test_one_process_writes_at_a_time(tmp_path):
    path = tmp_path / "out.jsonl"

    def again(done, total):
        with pytest.raises(NetcalcError) as error:
            Batch().run(Grid(BASE, BUFFERS), path)
        assert error.value.code == "grid-file-busy"

    assert Batch(progress=again).run(Grid(BASE, BUFFERS), path).finished == 4


def test_a_folder_and_a_device_are_no_files(tmp_path):
    for path in (tmp_path, "/dev/full"):
        with pytest.raises(OSError, match="regular file"):
            Batch().run(Grid(BASE, BUFFERS), path)


def test_a_failed_scenario_is_kept_as_such_and_tried_again(tmp_path, monkeypatch):
    """A simulator in the place of ns-3 that fails once."""
    begun = []

    class Simulator:
        def __init__(self, python):
            begun.append(python)

        def run(self, scenario):
            if len(begun) == 1:
                raise ExperimentError(
                    "ns3-failed", phase="ns-3", python="python", reason="no memory"
                )
            return batch.theory.run_many([scenario])[0]

        def close(self):
            pass

    monkeypatch.setattr(batch.ns3, "Simulator", Simulator)
    path = tmp_path / "out.jsonl"
    first = Batch(by="ns3", python="p").run(Grid(BASE, BUFFERS), path)
    assert (first.finished, [error.code for error in first.failed]) == (3, ["ns3-failed"])
    assert begun == ["p", "p"]
    assert rows(path, "error")[0]["error"]["code"] == "ns3-failed"
    again = Batch(by="ns3").run(Grid(BASE, BUFFERS), path)
    assert (again.before, again.finished, again.left) == (3, 1, 0)


def test_the_table_has_a_row_each_with_units(tmp_path):
    path = tmp_path / "out.jsonl"
    Batch().run(Grid(BASE, {"streams": [1, 2], "algorithm": ["reno", "bbr"]}), path)
    found = table(path)
    assert found["streams"].tolist() == [1, 1, 2, 2]
    assert found["algorithm"].tolist() == ["reno", "bbr"] * 2
    assert np.isnan(found["goodput_2_bps"]).tolist() == [True, True, False, False]
    assert found.meta.units["queue_mean_bytes"] == "byte"
    header, *cells = list(csv.reader(csv_text(found).splitlines()[1:]))
    assert [row[header.index("rtt_s")] for row in cells] == ["0.04"] * 4


def dask(client):
    """Make a module with what is used of Dask."""
    module = types.ModuleType("distributed")
    module.Client, module.as_completed = client, lambda futures: futures[::-1]
    return module


class Client:
    """Workers that are this process."""

    def __init__(self, address, timeout):
        if address == "tcp://nowhere:1":
            raise OSError("timed out")

    def submit(self, function, *arguments, pure):
        return Future(lambda: function(*arguments))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Future:
    def __init__(self, result):
        self.result = result


def test_workers_hand_back_what_theory_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "AT_ONCE", 3)
    monkeypatch.setitem(sys.modules, "distributed", dask(Client))
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    Batch().run(Grid(BASE, BUFFERS), here)
    assert Batch(workers="local").run(Grid(BASE, BUFFERS), there).finished == 4
    found = {row["key"]: row["result"] for row in rows(there, "result")}
    assert found == {row["key"]: row["result"] for row in rows(here, "result")}
    with pytest.raises(NetcalcError) as error:
        Batch(workers="tcp://nowhere:1").run(Grid(BASE, BUFFERS), tmp_path / "x.jsonl")
    assert error.value.code == "dask-unreachable"
    monkeypatch.setattr(batch, "by_theory", lambda cases, stack: 1 / 0)
    with pytest.raises(NetcalcError, match="ZeroDivisionError"):
        Batch(workers="local").run(Grid(BASE, BUFFERS), tmp_path / "y.jsonl")


def test_without_dask_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=re.escape(requirement("dask"))):
        Batch(workers="local").run(Grid(BASE, BUFFERS), tmp_path / "out.jsonl")
    with pytest.raises(DomainError) as error:
        Batch(by="live", workers="local")
    assert error.value.code == "grid-live-is-local"


@pytest.mark.live
@pytest.mark.namespace
def test_live_runs_end_with_the_run_that_was_stopped(tmp_path):
    path = tmp_path / "out.jsonl"
    base = {**BASE, "end_s": 1.5, "warm_s": 0.5, "flows": [{"algorithm": "reno", "stop_s": 1.5}]}
    grid = Grid(base, {"buffer_bdp": [1, 2]})
    seen = []
    stopped = Batch(by="live", progress=lambda done, total: seen.append(done),
                    stop=lambda: bool(seen) and seen[-1] > 1).run(grid, path)  # fmt: skip
    assert (stopped.finished, stopped.left, stopped.ended_by) == (1, 1, "stop")
    whole = Batch(by="live").run(grid, path)
    assert (whole.before, whole.finished) == (1, 1)
    # derived: in the second that counts no more arrives than the line carries in all 1.5 s, as
    # bytes behind a loss are delivered later
    found = table(path)["goodput_1_bps"]
    assert (found > 0).all()
    assert (found <= 1.5 * 1e7 * 1448 / 1500).all()


def live_recording(scenario, **meta):
    """Return a recording of three requests and nothing else."""
    rows = [ROW.pack(REQUEST, 1, at_ns, at_ns + 50_000_000) for at_ns in (2 * S, 3 * S, 4 * S)]
    states, received, requests = parse_rows(b"".join(rows))
    return Recording(scenario=scenario, states=states, received=received, requests=requests,
                     queue=Log().events(), ended_s=5.0, meta=Meta(**meta))  # fmt: skip


def test_a_live_row_has_each_latency_and_what_marks_it(tmp_path, monkeypatch):
    path = tmp_path / "out.jsonl"
    late = Notice("packets-late", {"late_ratio": 0.2, "limit_ratio": 0.05})
    marks = iter([(late,), ()])
    monkeypatch.setattr(batch.live, "record", lambda scenario, **_: live_recording(
        scenario, warnings=next(marks)))  # fmt: skip
    base = {**BASE, "requests": [LOOP]}
    Batch(by="live").run(Grid(base, {"request_bytes": [1e4, 1e6]}), path)
    found = rows(path, "result")
    assert [row["result"]["request_latencies_s"] for row in found] == [[[0.05] * 3]] * 2
    assert [row["scenario"]["requests"][0]["request_bytes"] for row in found] == [1e4, 1e6]
    assert table(path)["marks"].tolist() == ["packets-late", ""]
    assert table(path)["request_bytes"].tolist() == [1e4, 1e6]


def test_more_latencies_than_a_line_holds_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "MOST_LATENCIES", 2)
    monkeypatch.setattr(batch.live, "record", lambda scenario, **_: live_recording(scenario))
    path = tmp_path / "out.jsonl"
    Batch(by="live").run(Grid({**BASE, "requests": [LOOP]}, {"seed": [1]}), path)
    [row] = rows(path, "result")
    assert row["result"]["request_latencies_s"] == [None]


def test_an_algorithm_that_the_kernel_lacks_fails_each_time_and_is_said_to(tmp_path, monkeypatch):
    """A kernel without Vegas in the place of this one: repeating the command cannot help."""

    def record(scenario, **_):
        names = {flow.algorithm for flow in scenario.flows}
        if "vegas" in names:
            facts = {"wanted": "vegas", "allowed_here": ["reno"], "available": ["reno"]}
            raise ExperimentError("congestion-control-refused", phase="congestion", **facts)
        if "cubic" in names:
            raise ExperimentError("out-of-memory", phase="start", reason="no memory")
        return live_recording(scenario)

    monkeypatch.setattr(batch.live, "record", record)
    vary = {"algorithm": ["reno", "vegas"], "seed": [1, 2]}
    outcome = Batch(by="live").run(Grid(BASE, vary), tmp_path / "out.jsonl")
    assert (outcome.finished, outcome.left) == (2, 2)
    notice = outcome.not_granted
    assert (notice.code, notice.values["count"]) == ("not-granted", 2)
    assert notice.values["algorithms"] == ["vegas"]
    assert "modprobe" in notice.hint
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(BASE))
    arguments = ["congestion", str(file), "--by", "live", "--out", str(tmp_path / "two.jsonl")]
    done = CliRunner().invoke(commands, [*arguments, "--vary", "algorithm=reno,vegas"])
    assert done.exit_code == 1
    assert "1 of 2 scenarios have no result: the kernel does not permit 'vegas'" in done.stderr
    assert "Leave the algorithm out" in done.stderr
    assert "to continue" not in done.stderr
    done = CliRunner().invoke(commands, [*arguments, "--vary", "algorithm=vegas,cubic", "--json"])
    assert "1 of 2 have no result: repeat the command to continue" in done.stderr
    [warning] = json.loads(done.stdout)["warnings"]
    assert (warning["code"], warning["values"]["algorithms"]) == ("not-granted", ["vegas"])
