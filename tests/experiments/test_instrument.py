"""The instrument's own error: what is measured, and when a run is called doubtful."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from netcalc.experiments import bulk, echo
from netcalc.experiments.running import instrument
from netcalc.experiments.running.stopping import Clock

LIVE = pytest.mark.live


@pytest.mark.each(
    ("p99_s", "ratio", "warned"),
    [
        (0.0, 1.0, False),
        (2e-3, 0.8, False),  # at the limits, which are netcalc's own
        (2.1e-3, 1.0, True),
        (1.0, 0.5, True),
        (0.0, 0.79, True),
    ],
)
def test_cpu_contention(p99_s, ratio, warned):
    warning = instrument.cpu_contention(p99_s, ratio)
    assert (warning is not None) == warned
    if warning is not None:
        assert warning.code == "cpu-contention"
        assert (warning.values["late_p99_s"], warning.values["cpu_ratio"]) == (p99_s, ratio)


def test_the_sentence_of_cpu_contention():
    said = str(instrument.cpu_contention(3.8e-3, 0.12))
    assert said.startswith(
        "CPU contention: other programs left 12% of the CPU that the run may need (threshold 80%), "
        "timers fired"
    )
    assert "3.8 ms late (p99, threshold 2 ms)" in said


def test_percentiles_of_the_delays():
    # derived: of 0, 1, ... 100 µs the median is 50 µs and the 99th percentile 99 µs.
    found = instrument.scheduling([n * 1e-6 for n in range(101)])
    assert found["scheduling_delay_median_s"] == pytest.approx(50e-6)
    assert found["scheduling_delay_p99_s"] == pytest.approx(99e-6)
    assert found["scheduling_delay_count"] == 101


@pytest.mark.each(
    ("wall_s", "monotonic_s", "step"),
    [(10.0, 10.0, None), (10.04, 10.0, None), (3610.0, 10.0, 3600.0), (5.0, 10.0, -5.0)],
)
def test_step_of_the_wall_clock(wall_s, monotonic_s, step):
    warning = instrument.clock_step(wall_s, monotonic_s)
    assert (None if warning is None else warning.values["step_s"]) == step


def test_timer_is_measured():
    found = instrument.timer()
    assert found["timer_resolution_s"] >= time.get_clock_info("perf_counter").resolution
    assert 0 < found["clock_call_s"] < 1


def test_own_cost_is_the_clock_and_four_calls():
    assert 1.0 < instrument.own_cost_s(1.0) < 2.0, "the clock's reading is a part of it"
    assert instrument.own_cost_s(0.0) > 0


def test_time_of_a_call_is_that_of_one(monkeypatch):
    # By hand: 1 ns at each reading, two readings around 50 calls.
    ticks = iter(range(10**6))
    monkeypatch.setattr(instrument, "_clock", lambda: next(ticks))
    assert instrument._call_s(lambda calls: range(calls), calls=50) == pytest.approx(1e-9 / 50)


def test_one_processor_is_given_back():
    allowed = os.sched_getaffinity(0)
    with instrument.one_processor() as processor:
        assert os.sched_getaffinity(0) == {processor}
        assert processor in allowed
    assert os.sched_getaffinity(0) == allowed


def test_a_system_that_keeps_no_thread_in_place(monkeypatch):
    monkeypatch.delattr(os, "sched_setaffinity")
    with instrument.one_processor() as processor:
        assert processor is None


def test_processors_that_may_not_be_used(monkeypatch):
    def refuse(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    with instrument.one_processor() as processor:
        assert processor is None


STAT = """cpu  1 1 1 1 1 1 1 1 0 0
cpu0 {0} 10 20 999 5 7 7 30 4 0
cpu1 500 0 0 999 0 0 0 0 0 0
intr 1
"""


def test_time_of_processors_is_that_of_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(instrument, "_STAT", tmp_path / "stat")
    (tmp_path / "stat").write_text(STAT.format(40))
    ticks = os.sysconf("SC_CLK_TCK")
    # proc(5): user, nice, system, idle, iowait, irq, softirq, steal; by hand 40 + 10 + 20 + 30.
    assert instrument.busy_s({0}) == pytest.approx(100 / ticks)
    assert instrument.busy_s({0, 1}) == pytest.approx(600 / ticks)
    (tmp_path / "stat").write_text("cpu0 a b c\n")
    assert np.isnan(instrument.busy_s({0}))
    (tmp_path / "stat").unlink()
    assert np.isnan(instrument.busy_s({0}))


@pytest.mark.parametrize(
    ("processors", "needed", "elapsed_s", "busy_s", "own_s", "left"),
    [
        (2, 2, 10.0, 12.0, 10.0, 0.9),  # by hand: others took 2 of 20
        (2, 2, 10.0, 15.0, 5.0, 0.5),  # others took 10 of 20: one that never rests
        (2, 1, 10.0, 11.0, 1.0, 1.0),  # the same beside a run that needs one
        (8, 2, 10.0, 30.0, 20.0, 1.0),
        (1, 2, 10.0, 10.0, 4.0, 0.4),  # it needs two and there is one
        (2, 2, 10.0, 9.0, 10.0, 1.0),  # ticks count a little less than there was
        (2, 2, 0.2, 0.4, 0.0, 1.0),  # too short to tell
        (2, 2, 10.0, float("nan"), 0.0, 1.0),
    ],
)
def test_what_rivals_leave(processors, needed, elapsed_s, busy_s, own_s, left, monkeypatch):
    now = {"s": 100.0, "busy": 1000.0, "own": 50.0}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    monkeypatch.setattr(instrument, "busy_s", lambda _: now["busy"])
    monkeypatch.setattr(instrument, "own_s", lambda: now["own"])
    monkeypatch.setattr(instrument.time, "monotonic", lambda: now["s"])
    rivals = instrument.CpuContention(needed)
    now.update(s=100.0 + elapsed_s, busy=1000.0 + busy_s, own=50.0 + own_s)
    assert rivals.left_ratio() == pytest.approx(left)


HOGS = """
import os
for _ in range(2 * len(os.sched_getaffinity(0)) - 1):
    if not os.fork():
        break
print(flush=True)
while True:
    pass
"""


@LIVE
@pytest.mark.parametrize(
    ("measure", "count"), [(echo, {"count": 30_000}), (bulk, {"write_count": 100_000})]
)
def test_hogs_on_every_processor_are_told(measure, count):
    # Not a session of their own: Linux shares processors between sessions first, and leaves the
    # run what it needs. 5 times: the scheduler may let a short run through among the hogs.
    with subprocess.Popen(
        [sys.executable, "-c", HOGS], process_group=0, stdout=subprocess.PIPE
    ) as hogs:
        try:
            hogs.stdout.readline()
            for _ in range(5):
                result = measure(1440, **count)
                if result.meta.instrument.processor_ratio < 0.8:
                    break
        finally:
            os.killpg(hogs.pid, signal.SIGKILL)
    assert result.meta.instrument.processor_ratio < 0.8
    assert "cpu-contention" in {one.code for one in result.meta.warnings}


@LIVE
def test_a_starved_run_is_marked_with_the_number(monkeypatch):
    monkeypatch.setattr(instrument, "processor_ratio", lambda: 0.31)
    monkeypatch.setattr(
        instrument.CpuContention, "left_ratio", lambda _: 1.0
    )  # whatever else runs here
    result = echo(8, count=3)
    assert result.received == 3, "the times are kept, and called doubtful"
    assert result.meta.instrument.processor_ratio == 0.31
    assert any(one.values.get("cpu_ratio") == 0.31 for one in result.meta.warnings)


@LIVE
@pytest.mark.parametrize("step_s", [-3600, 3600])
def test_a_wall_clock_that_is_set_does_not_touch_the_intervals(step_s, monkeypatch):
    begin_ns, readings = time.time_ns(), []

    def stepping_ns():
        readings.append(1)
        return begin_ns + (len(readings) > 1) * step_s * 10**9

    monkeypatch.setattr(Clock, "wall_ns", lambda _: stepping_ns())
    result = echo([8, 16], count=3)
    assert (result.received, result.meta.partial) == (6, False)
    assert 0 < result.rtt_s.min() <= result.rtt_s.max() < 1.0
    assert "clock-stepped" in {one.code for one in result.meta.warnings}
