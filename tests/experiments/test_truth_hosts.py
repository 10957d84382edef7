"""What the hosts add: calibrations of two sizes, their age, and repeated runs."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from netcalc.errors import ExperimentError
from netcalc.samples import RttSamples
from netcalc.truth import bench, table, validate
from netcalc.truth.bench import CALIBRATIONS, COUNT, SIZES, VALID_S, HostCost, Hosts, Setting
from netcalc.truth.rows import TruthRow
from netcalc.truth.table import REPEATS, _rows


def exchanges(small_s, large_s):
    """Exchanges of both sizes."""
    times = [*small_s, *large_s]
    return RttSamples(
        payload_bytes=[SIZES[0]] * len(small_s) + [SIZES[1]] * len(large_s), rtt_s=times
    )


def test_a_cost_is_a_line_through_the_low_times_of_two_sizes():
    small_s = np.linspace(100e-6, 190e-6, 10)
    found = HostCost.of(exchanges(small_s + 2e-3, small_s + 2e-3 + 13.92e-6), path_s=2e-3)
    # derived: the ninth part of nine steps of 10 us is one step; 13.92 us more for 1392 bytes
    assert found.byte_s == pytest.approx(1e-8, rel=1e-9)
    assert found.time_s(SIZES[0]) == pytest.approx(110e-6, rel=1e-9)
    assert found.time_s(SIZES[1]) == pytest.approx(123.92e-6, rel=1e-9)
    # derived: the third quartile is at 6.75 of nine steps
    assert found.error_s == pytest.approx(67.5e-6 - 10e-6, rel=1e-9)


def test_larger_packets_are_never_cheaper():
    """identity: noise that makes them so is in the mean of both."""
    found = HostCost.of(exchanges([2e-4] * COUNT, [1e-4] * COUNT), path_s=0.0)
    assert (found.byte_s, found.time_s(1400)) == (0.0, pytest.approx(1.5e-4))


def test_of_several_runs_the_smallest_counts_and_their_range_is_uncertain():
    """derived: runs of 58, 104 and 80 us for each exchange; each run's times are all the same."""
    runs = [
        HostCost.of(exchanges([t] * COUNT, [t] * COUNT), path_s=0.0) for t in (80e-6, 58e-6, 104e-6)
    ]
    found = HostCost.least(runs)
    assert (found.time_s(8), found.time_s(1400)) == pytest.approx((58e-6, 58e-6))
    assert found.error_s == pytest.approx(46e-6)


def test_the_error_of_runs_that_agree_is_that_of_the_smallest():
    """derived: 67.5 - 10 us, as for one run alone."""
    small_s = np.linspace(100e-6, 190e-6, 10)
    costs = [
        HostCost.of(exchanges(small_s + late, small_s + late), path_s=0.0) for late in (0.0, 1e-6)
    ]
    assert HostCost.least(costs).error_s == pytest.approx(57.5e-6)


@pytest.mark.each(
    ("one_way_s", "calibrated_s", "run_count"),
    [(0.114e-3, 0.114e-3, 8), (0.5e-3, 0.5e-3, 8), (1e-3, 1e-3, 4), (3.9e-3, 3.9e-3, 4),
     (4e-3, 4e-3, 1), (0.1, 4e-3, 1)],
)  # fmt: skip
def test_the_path_and_the_runs_of_a_calibration_are_those_of_the_row(
    one_way_s, calibrated_s, run_count
):
    """derived: the table of calibrations, two of each path below 4 ms, which all longer have."""
    asked = []

    def measure(protocol, path_s):
        asked.append((protocol, path_s))
        return exchanges([2 * path_s + 1e-4] * COUNT, [2 * path_s + 1e-4] * COUNT)

    cost = Hosts(measure).cost("udp", one_way_s)
    assert asked == [("udp", calibrated_s)] * run_count
    assert cost.time_s(8) == pytest.approx(1e-4, abs=1e-12), "without the path itself"
    leasts = [each.least_one_way_s for each in CALIBRATIONS]
    assert leasts == sorted(leasts, reverse=True)


def test_a_calibration_counts_for_a_minute():
    asked, now_s = [], [0.0]

    def measure(protocol, path_s):
        asked.append(protocol)
        return exchanges([2 * path_s + 1e-4] * COUNT, [2 * path_s + 1e-4] * COUNT)

    hosts = Hosts(measure, clock=lambda: now_s[0])
    for now_s[0] in (0.0, VALID_S - 1.0, VALID_S + 1.0):
        hosts.cost("udp", 0.01)
    hosts.cost("tcp", 0.01)
    assert asked == ["udp", "udp", "tcp"]
    assert hosts.exchanges_s == {
        "udp, 4 ms": pytest.approx(1e-4), "tcp, 4 ms": pytest.approx(1e-4),
    }  # fmt: skip


def calibrated(exchange_s_of_calls):
    """Hosts of a set clock, and one entry in a list for each run of a calibration."""
    asked, now_s = [], [0.0]

    def measure(_, path_s):
        asked.append(now_s[0])
        took_s = 2 * path_s + exchange_s_of_calls(now_s[0])
        return exchanges([took_s] * COUNT, [took_s] * COUNT)

    return Hosts(measure, clock=lambda: now_s[0]), asked, now_s


def test_a_short_path_is_calibrated_before_and_after_each_run():
    """derived: four runs for one of two calibrations; 0.5 s later the same ones count."""
    hosts, asked, now_s = calibrated(lambda _: 1e-4)
    counts = []
    for now_s[0] in (0.0, 0.5, 10.0, VALID_S + 11.0):
        hosts.cost("udp", 0.5e-3)
        counts.append(len(asked))
    assert counts == [8, 8, 12, 20], "after a minute, both are new"


def test_a_slow_moment_of_one_calibration_does_not_count():
    """derived: 60 us around 10 s, 140 us at 10 s; their difference is the uncertainty."""
    hosts, _, now_s = calibrated(lambda at_s: 140e-6 if at_s == 10.0 else 60e-6)
    found = []
    for now_s[0] in (0.0, 10.0, 20.0, 30.0):
        cost = hosts.cost("udp", 0.5e-3)
        found.append((cost.time_s(8), cost.error_s))
    assert found == [
        pytest.approx((60e-6, 0.0), abs=1e-12), pytest.approx((60e-6, 80e-6)),
        pytest.approx((60e-6, 80e-6)), pytest.approx((60e-6, 0.0), abs=1e-12),
    ]  # fmt: skip


@pytest.mark.each(
    ("left_ratios", "late_s", "refused", "source"),
    [
        ([0.9], 1e-4, False, "identity: a quiet machine, at the first look"),
        ([0.5, 0.5, 0.9], 1e-4, False, "identity: what took the processors has ended"),
        ([0.5, 0.5, 0.5], 1e-4, True, "identity: one of two processors is taken at each look"),
        ([0.9, 0.9, 0.9], 5e-3, True, "identity: timers 5 ms late, and 2 are allowed"),
    ],
)
def test_a_busy_machine_is_refused_before_the_first_row(
    monkeypatch, left_ratios, late_s, refused, source
):
    left = iter(left_ratios)

    class Processors:
        def __init__(self, needed_count):
            assert needed_count == 2

        def left_ratio(self):
            return next(left)

    monkeypatch.setattr(bench, "CpuContention", Processors)
    monkeypatch.setattr(bench.instrument, "scheduling_delays_s", lambda count: [late_s] * count)
    with pytest.raises(ExperimentError) if refused else nullcontext() as raised:
        validate(labs=["echo"], stop=lambda: True)
    assert next(left, None) is None, "every look counts"
    if raised is not None:
        assert raised.value.code == "machine-cannot-judge", source
        assert "anyway=True" in str(raised.value)


def test_a_table_in_virtual_time_needs_no_quiet_machine(monkeypatch):
    monkeypatch.setattr(table, "require_judge", None)
    validate(labs=["virtual"], quick=True, stop=lambda: True)


class Quiet:
    """A bench that emulates paths."""

    refusal = None


def measured_in_turn(*rows):
    """A setting whose runs give these rows, one after the other."""
    left = iter(rows)
    return Setting(lab="echo", path_text="T1", what=("UDP",), quantity="round trip", unit="s",
                   measure=lambda *_: [next(left)])  # fmt: skip


def late(measured, doubt_error, code="cpu-contention"):
    return TruthRow(
        lab="echo", path="T1", what="UDP", quantity="round trip", unit="s", predicted=1.0,
        measured=measured, doubt="late", doubt_code=code, doubt_error=doubt_error,
    )  # fmt: skip


@pytest.mark.each(
    ("runs", "kept", "source"),
    [
        ([late(1.01, 0.5)], 0, "identity: it agrees"),
        ([late(1.5, 0.0, code="")], 0, "identity: nothing disturbed it, so it counts"),
        ([late(1.5, 0.6), late(1.01, 0.2)], 1, "identity: the second agrees"),
        ([late(1.5, 0.2), late(1.3, 0.6), late(1.4, 0.3)], 0, "identity: the least disturbed"),
        ([late(1.5, 0.5), late(1.3, 0.4), late(1.4, 0.3)], 2, "identity: not that of least error"),
    ],
)
def test_a_disturbed_run_is_repeated_and_the_least_disturbed_counts(runs, kept, source):
    assert len(runs) <= 1 + REPEATS
    (found,) = _rows(Quiet(), measured_in_turn(*runs))
    assert found is runs[kept], source


def test_a_run_that_fails_is_a_row_that_says_so():
    def measure(*_):
        raise ExperimentError("run-incomplete", phase="echo")

    setting = replace(measured_in_turn(), measure=measure)
    (found,) = _rows(Quiet(), setting)
    assert (found.why_not_code, found.has_failed) == ("run-incomplete", True)


def test_a_repetition_that_fails_leaves_the_rows_of_before():
    def measure(*_):
        if runs:
            return [runs.pop()]
        raise ExperimentError("run-incomplete", phase="echo")

    runs = [late(1.5, 0.6)]
    (found,) = _rows(Quiet(), replace(measured_in_turn(), measure=measure))
    assert found.measured == 1.5, "identity: the run that was completed"
