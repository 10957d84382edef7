"""The instrument's own error: what is measured, and when a run is called doubtful."""

from __future__ import annotations

import os
import re
import time
from types import SimpleNamespace

import pytest

from netcalc.experiments import _instrument, _run, echo

LIVE = pytest.mark.live


@pytest.mark.parametrize(
    ("p99_s", "ratio", "text"),
    [
        (0.0, 1.0, None),
        (2e-3, 0.8, None),  # at the limits, which are netcalc's own
        (2.1e-3, 1.0, "starved: short sleeps ended 2.1 ms late"),
        (1.0, 0.5, "starved: it got 50% of its processor .* and short sleeps ended 1 s late"),
        (0.0, 0.79, "starved: it got 79% of its processor"),
    ],
)
def test_starved(p99_s, ratio, text):
    warning = _instrument.starved(p99_s, ratio)
    assert warning is None if text is None else re.match(text, warning)


def test_percentiles_of_the_delays():
    # derived: of 0, 1, ... 100 µs the median is 50 µs and the 99th percentile 99 µs.
    found = _instrument.scheduling([n * 1e-6 for n in range(101)])
    assert found["scheduling_delay_median_s"] == pytest.approx(50e-6)
    assert found["scheduling_delay_p99_s"] == pytest.approx(99e-6)
    assert found["scheduling_delay_count"] == 101


@pytest.mark.parametrize(
    ("wall_s", "monotonic_s", "step"),
    [(10.0, 10.0, None), (10.04, 10.0, None), (3610.0, 10.0, "+3.6e+03 s"), (5.0, 10.0, "-5 s")],
)
def test_step_of_the_wall_clock(wall_s, monotonic_s, step):
    warning = _instrument.clock_step(wall_s, monotonic_s)
    assert warning is None if step is None else step in warning


def test_timer_is_measured():
    found = _instrument.timer()
    assert found["timer_resolution_s"] >= time.get_clock_info("perf_counter").resolution
    assert 0 < found["clock_call_s"] < 1


def test_own_cost_is_the_clock_and_four_calls():
    assert 1.0 < _instrument.own_cost_s(1.0) < 2.0, "the clock's reading is a part of it"
    assert _instrument.own_cost_s(0.0) > 0


def test_time_of_a_call_is_that_of_one(monkeypatch):
    # By hand: 1 ns at each reading, two readings around 50 calls.
    ticks = iter(range(10**6))
    monkeypatch.setattr(_instrument, "_clock", lambda: next(ticks))
    assert _instrument._call_s(lambda calls: range(calls), calls=50) == pytest.approx(1e-9 / 50)


def test_one_processor_is_given_back():
    allowed = os.sched_getaffinity(0)
    with _instrument.one_processor() as processor:
        assert os.sched_getaffinity(0) == {processor}
        assert processor in allowed
    assert os.sched_getaffinity(0) == allowed


def test_a_system_that_keeps_no_thread_in_place(monkeypatch):
    monkeypatch.delattr(os, "sched_setaffinity")
    with _instrument.one_processor() as processor:
        assert processor is None


def test_processors_that_may_not_be_used(monkeypatch):
    def refuse(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    with _instrument.one_processor() as processor:
        assert processor is None


@LIVE
def test_a_starved_run_is_marked_with_the_number(monkeypatch):
    monkeypatch.setattr(_instrument, "processor_ratio", lambda: 0.31)
    result = echo(8, count=3)
    assert result.received == 3, "the times are kept, and called doubtful"
    assert result.meta.instrument["processor_ratio"] == 0.31
    assert any("it got 31% of its processor" in warning for warning in result.meta.warnings)


@LIVE
@pytest.mark.parametrize("step_s", [-3600, 3600])
def test_a_wall_clock_that_is_set_does_not_touch_the_intervals(step_s, monkeypatch):
    begin_ns, readings = time.time_ns(), []

    def stepping_ns():
        readings.append(1)
        return begin_ns + (len(readings) > 1) * step_s * 10**9

    clocks = {name: getattr(time, name) for name in ("monotonic", "perf_counter_ns")}
    monkeypatch.setattr(_run, "time", SimpleNamespace(time_ns=stepping_ns, **clocks))
    result = echo([8, 16], count=3)
    assert (result.received, result.meta.partial) == (6, False)
    assert 0 < result.rtt_s.min() <= result.rtt_s.max() < 1.0
    assert any("the wall clock moved by" in warning for warning in result.meta.warnings)
