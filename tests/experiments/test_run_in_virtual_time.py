"""What all runs share, in virtual time: pacing, progress, saving, the end, the facts."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from netcalc.errors import ExperimentError
from netcalc.experiments.running import instrument
from netcalc.experiments.running.record import SILENT_COUNT, Record, attribute_errors, finish
from netcalc.experiments.running.stopping import Clock, Stopping
from netcalc.samples import GrowingFile, RttSamples


class VirtualClock(Clock):
    """A clock whose time passes in sleep only."""

    def __init__(self):
        self.now_s = 0.0

    def now_ns(self):
        return round(self.now_s * 1e9)

    def wall_ns(self):
        return self.now_ns()

    def since_boot_s(self):
        return self.now_s

    def sleep(self, duration_s):
        self.now_s += duration_s


class Rows(Record[RttSamples]):
    """A run of rows without an exchange."""

    def __init__(self, clock, *, total_count=100, **options):
        super().__init__(
            experiment="echo", protocol="udp", target="nowhere", total_count=total_count,
            unit="probes", host="127.0.0.1", port=7,
            stopping=Stopping(None, limit_s=600.0, clock=clock), **options,
        )  # fmt: skip
        self.sent_ns = []

    @property
    def done_count(self):
        return len(self.sent_ns)

    def samples(self):
        return RttSamples(
            payload_bytes=[8] * self.done_count, rtt_s=[1e-3] * self.done_count, meta=self.meta()
        )

    def rows(self, interval_s):
        for _ in range(self.total_count):
            if self.sent_ns:
                self.pace(self.sent_ns[-1], interval_s)
            self.stopping.check()
            self.sent_ns.append(self.clock.now_ns())
            self.advance(1e-3)

    def rows_of(self, count):
        self.sent_ns += [self.clock.now_ns()] * count
        self.advance(1e-3)


@pytest.fixture
def clock(monkeypatch):
    """A clock of the test, and a measurement of the error that takes none of its time."""
    monkeypatch.setattr(instrument, "scheduling_delays_s", lambda count: [0.0] * count)
    monkeypatch.setattr(instrument, "processor_ratio", lambda: 1.0)
    monkeypatch.setattr(instrument.CpuContention, "left_ratio", lambda _: 1.0)
    return VirtualClock()


def test_rows_keep_their_interval(clock):
    run = Rows(clock, total_count=50)
    run.rows(10.0)
    gaps_s = [(b - a) * 1e-9 for a, b in pairwise(run.sent_ns)]
    assert gaps_s == pytest.approx([10.0] * 49)


def test_progress_ten_times_a_second_and_at_the_end(clock):
    calls = []
    Rows(clock, progress=lambda done, total, _: calls.append((clock.now_s, done, total))).rows(0.01)
    assert calls[-1][1:] == (100, 100)
    # derived: 99 intervals of 10 ms, at most one call in each 100 ms, and the one at the end
    assert len(calls) == 11
    times = [at for at, _, _ in calls[:-1]]
    assert min(b - a for a, b in pairwise(times)) >= 0.1 - 1e-9


@pytest.fixture
def saves(clock, monkeypatch):
    """Times of all saves of a run in progress, with the number of rows. [s], [1]"""
    found, keep = [], GrowingFile.keep
    monkeypatch.setattr(
        GrowingFile, "keep",
        lambda file, rows: (found.append((clock.now_s, len(rows))), keep(file, rows)),
    )  # fmt: skip
    return found


def test_a_run_saves_every_second(clock, saves, tmp_path):
    run = Rows(clock, total_count=10, save=tmp_path / "run.json")
    finish(run, lambda: run.rows(0.4))
    # derived: rows at 0, 0.4, 0.8, ... 3.6 s; due at 1 s, and 1 s after each save. Before a pause
    # in which it would be due a run saves at once: at 0.8, 1.6, 2.4 and 3.2 s
    assert [count for _, count in saves] == [3, 5, 7, 9]
    assert [at_s for at_s, _ in saves] == pytest.approx([0.8, 1.6, 2.4, 3.2])
    assert len(RttSamples.load(tmp_path / "run.json")) == 10


@pytest.mark.each("interval_s", [0.01, 0.3, 0.99, 1.01, 1.9, 2.5, 12.0])
@pytest.mark.each("reply_s", [0.0, 0.4, 1.6, 9.0])
def test_a_run_that_is_killed_at_any_time_loses_two_seconds_at_most(
    clock, saves, tmp_path, interval_s, reply_s
):
    """derived: what was measured 2 s before any time is in a save that was before this time."""
    saves.clear()
    clock.now_s = 0.0
    run = Rows(clock, save=tmp_path / f"{interval_s}-{reply_s}.json")
    measured = []

    def row():
        if run.sent_ns:
            run.pace(run.sent_ns[-1], interval_s)
        run.stopping.check()
        if len(run.sent_ns) % 5 == 4:  # most are answered at once
            run.stopping.sleep(reply_s)
        run.sent_ns.append(clock.now_ns())
        measured.append(clock.now_s)
        run.advance(reply_s)

    for _ in range(40):
        row()
    run.save_no_more()
    for at_s in np.arange(0.0, measured[-1], 0.05):
        kept = max((count for when_s, count in saves if when_s <= at_s), default=0)
        assert kept >= sum(each <= at_s - 2.0 for each in measured), f"killed at {at_s:.2f} s"


def test_a_long_wait_shows_in_the_file_how_long_it_has_lasted(clock, tmp_path):
    run = Rows(clock, save=tmp_path / "run.json")
    run.rows_of(1)
    run.stopping.sleep(20.0)
    found = RttSamples.load(tmp_path / "run.json")
    assert found.meta.instrument.duration_s > 18.0, "derived: 20 s less the 2 s that may be lost"
    assert found.meta.partial
    run.save_no_more()


def test_a_run_beyond_its_time_keeps_its_rows(clock):
    run = Rows(clock)
    found = finish(run, lambda: run.rows(60.0))
    # derived: 0, 60, ... 600 s are within the limit of 600 s
    assert (len(found), found.meta.partial) == (11, True)
    assert found.meta.instrument.ended_by == "limit of 600 s"
    assert found.meta.warnings[0].code == "ended-early"
    assert found.meta.warnings[0].values["total"] == 100


def test_meta_names_experiment_and_protocol_and_refuses_unknown_facts(clock):
    run = Rows(clock)
    run.facts["mss_bytes"] = 1460
    meta = run.meta({"late_count": 2})
    assert (meta.experiment, meta.protocol, meta.tool) == ("echo", "udp", "netcalc echo")
    assert (meta.instrument.mss_bytes, meta.instrument.late_count) == (1460, 2)
    run.facts["mss"] = 1460
    with pytest.raises(TypeError, match="mss"):
        run.meta()


def test_silence_ends_a_run(clock):
    run = Rows(clock)
    for _ in range(SILENT_COUNT - 1):
        run.count_silence(False, "no-answers")
    run.count_silence(True, "no-answers")
    for _ in range(SILENT_COUNT - 1):
        run.count_silence(False, "no-answers")
    with pytest.raises(ExperimentError) as caught:
        run.count_silence(False, "no-answers")
    assert (caught.value.code, caught.value.values["count"]) == ("no-answers", SILENT_COUNT)


def test_whose_error_it_is(clock):
    """The system's becomes the run's, the end of a peer names it, the caller's stays."""
    run = Rows(clock)
    ended = ExperimentError("peer-ended", phase="start", status="SIGKILL")
    alive, dead = (SimpleNamespace(explain=f) for f in (lambda error: error, lambda _: ended))
    refused = ConnectionRefusedError(111, "Connection refused")
    for peer, code in ((None, "peer-refused"), (alive, "peer-refused"), (dead, "peer-ended")):
        with pytest.raises(ExperimentError) as caught, attribute_errors(run, peer):
            raise refused
        assert (caught.value.code, caught.value.__cause__) == (code, refused)
    run.error_of_caller = refused
    with pytest.raises(ConnectionRefusedError), attribute_errors(run, dead):
        raise refused
