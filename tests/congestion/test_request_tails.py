"""Tails of request latencies: losses within a request, their timers, and intervals."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from netcalc.cli import commands
from netcalc.congestion import Trajectory, theory
from netcalc.congestion._connection import Connection, Surroundings
from netcalc.congestion.batch import Batch, live
from netcalc.congestion.grid import Grid, pooled
from netcalc.congestion.quantities import Parting
from netcalc.congestion.recording import Recording, parse_rows
from netcalc.congestion.result import Latencies
from netcalc.emulation.queue import Log
from netcalc.experiments.peers.flows_peer import REQUEST, ROW
from netcalc.samples import Meta
from netcalc.scenario import Bottleneck, preset

LINK = Bottleneck.of(rate_bps=10e6, rtt_s=0.04, buffer_packets=33)


def surroundings(rtt_s, *, queue_packets=0, drops=0, others=1):
    """Return a bottleneck that stays as it is for an hour; with drops, in all of it."""
    steps = np.array([1800.0, 3600.0])
    course = Trajectory(
        time_s=steps, queue_bytes=np.full(2, 1500.0 * queue_packets), rtt_s=np.full(2, rtt_s),
        window_packets=np.ones((2, 1)), goodput_bps=np.ones((2, 1)),
        drop_count=drops * np.arange(1.0, 3.0),
    )  # fmt: skip
    return Surroundings(course, LINK, others)


class Scripted(Connection):
    """A connection whose flights lose what a list says, then nothing."""

    losses: tuple[int, ...] = ()

    def lost(self, now, flight, before):
        """Return the next number of the list."""
        lost, *self.losses = (*self.losses, 0)
        return lost


@pytest.mark.each("window, losses, rtt_s, latency_s", [
    (10, (), 0.08, 0.08),
    # the last packet: the others are acknowledged, the timer, the probe
    (10, (1,), 0.08, 0.08 + (0.08 + 0.2) + 0.08),
    # and its probe: the timer again
    (10, (1, 1), 0.08, 0.08 + 2 * (0.08 + 0.2) + 0.08),
    # two: the fifth packet's late ACK, two round trips, the probe's ACK, the repair of the other
    (10, (2,), 0.05, 0.05 + 0.04 + 2 * 0.05 + 0.05 + 0.05),
    # two: the timer of the first lost one, 280 ms after it was sent, is earlier than that ACK
    (10, (2,), 0.08, (0.08 + 0.2) + 0.08),
    # all seven: a probe after two round trips, its ACK, and six repairs by 1, 2 and 3
    (10, (7,), 0.08, 2 * 0.08 + 0.08 + 3 * 0.08),
    # four and three; the fourth is reported by two more a round trip later, and 10 ms are waited
    (4, (0,), 0.08, 2 * 0.08),
    (4, (1,), 0.08, 3 * 0.08 + 0.01 + 0.08),
])  # fmt: skip
def test_a_request_waits_for_what_linux_waits(window, losses, rtt_s, latency_s):
    """derived: RFC 8985, 5 to 7, with RTO = RTT + 200 ms, ACKs for two packets, late ones 40 ms."""
    loop = Scripted(7, is_reno=False, around=surroundings(rtt_s), random=Random(1))
    loop.window, loop.threshold, loop.losses = float(window), 4.0, losses
    assert loop.request(0.0) == pytest.approx(latency_s)


@pytest.mark.each("is_reno, windows", [(True, [14, 7, 3, 2]), (False, [14, 9, 6, 4, 2, 2])])
def test_a_window_falls_as_the_kernel_has_it(is_reno, windows):
    """derived: 717/1024 or a half, rounded down, at least two; measured: 14, 9 and 7 live."""
    loop = Connection(7, is_reno=is_reno, around=surroundings(0.08), random=Random(1))
    assert loop.request(0.0) == pytest.approx(0.08)
    assert loop.window == windows[0], "definition: twice what is in flight ends slow start"
    for window in windows[1:]:
        loop.reduce()
        assert loop.window == window


def test_a_full_window_grows_until_requests_no_longer_fill_it():
    """definition: is_cwnd_limited is true with seven packets in a window of seven, not of eight."""
    loop = Connection(7, is_reno=True, around=surroundings(0.08), random=Random(1))
    loop.window, loop.threshold, loop.before = 7.0, 4.0, 7
    loop.run(0.0, 5.0, 5.0)
    assert 8.0 <= loop.window < 9.0


def test_a_flight_in_the_places_of_the_last_loses_only_where_others_take_them():
    """derived: alone nobody takes a place; of 16 others each has one of 67 packets out of step."""

    def share_lost(before, **more):
        around = surroundings(0.08, queue_packets=33, **more)
        loop = Connection(7, is_reno=False, around=around, random=Random(1))
        return np.mean([loop.lost(1.0, 7, before) > 0 for _ in range(1000)])

    assert share_lost(7, drops=1, others=1) == 0
    assert share_lost(7, drops=0, others=16) == 0
    assert 0.15 < share_lost(7, drops=1, others=16) < 0.35
    assert share_lost(0, drops=0, others=4) == 1, "bound: seven packets in no place, room of three"


@pytest.mark.each("name, algorithm, live_s, live_p50_s", [
    ("requests-10kB-against-1", "cubic", (0.0791, 0.1433), 0.0731),
    ("requests-10kB-against-4", "cubic", (0.2963, 0.5390), 0.0755),
])  # fmt: skip
def test_the_tail_is_that_of_live_runs(name, algorithm, live_s, live_p50_s):
    """measured: intervals of p99 and the medians of three runs of 65 s on Linux 6.18."""
    scenario = preset(name, algorithm=algorithm)
    found = theory.run(replace(scenario, end_s=65.0), stack="linux").requests[0]
    assert live_s[0] < found.percentile_s(0.99) < live_s[1]
    assert found.percentile_s(0.5) == pytest.approx(live_p50_s, rel=0.1)


def test_a_seed_draws_other_runs_of_the_same_distribution():
    scenario = replace(preset("requests-10kB-against-4"), end_s=30.0)
    first, other = (
        theory.run(replace(scenario, seed=seed), stack="linux").requests[0] for seed in (1, 2)
    )
    assert first.latency_s.tolist() != other.latency_s.tolist()
    (low, high), p99_s = first.interval_s(0.99), other.percentile_s(0.99)
    assert low < p99_s < high


@pytest.mark.each("repeat, least", [(1, 0.92), (10, 0.85)])
def test_an_interval_holds_the_percentile_of_the_whole(repeat, least):
    """derived: of exponential times p99 is ln 100; runs of alike requests count as one of them."""
    draw = np.random.default_rng(1)
    ends = [
        Latencies(np.repeat(draw.exponential(size=3000 // repeat), repeat)).interval_s(0.99)
        for _ in range(200)
    ]
    inside = [low < np.log(100) and not np.log(100) > high for low, high in ends]
    assert least <= np.mean(inside) < 1


def test_few_requests_bound_a_percentile_from_below_alone():
    """derived: all of n are below p99 with 0.99^n, which is 2.5 % at 367."""
    for count, is_known in ((366, False), (368, True)):
        evenly = Latencies(np.arange(1.0, count + 1) * 0.6180339887 % 1.0)
        low, high = evenly.interval_s(0.99)
        assert 0.9 < low < 0.99
        assert np.isfinite(high) == is_known


def test_an_interval_of_runs_is_that_of_runs_that_carry_the_percentile():
    """derived: of 41 runs whose p99 are 1 to 41 ms the middle 95 % end one run from both ends."""
    runs = [np.full(100, number / 1000) for number in range(1, 42)]
    found = Latencies.of(runs)
    assert found.interval_s(0.99) == pytest.approx((0.002, 0.04))
    assert found.count == 100
    assert np.isfinite(found.percentile_s(0.999))
    assert np.isnan(found.interval_s(0.999)).all()


def test_a_run_in_which_no_request_ended_leaves_an_interval_open():
    """derived: one of four is above any time; of its neighbours the least is the first of them."""
    runs = [np.full(400, 0.1 * number) for number in (1, 2, 3)]
    low, high = Latencies.of([*runs, np.array([])]).interval_s(0.5)
    assert low == pytest.approx(0.1 + 0.025 * 3 * 0.1)
    assert np.isnan(high)


@pytest.mark.each("high, beyond", [(0.25, ("live",)), (0.35, ()), (np.nan, ())])
def test_a_difference_within_both_intervals_is_not_marked(high, beyond):
    intervals = {"theory": (0.3, 0.5), "live": (0.1, high)}
    row = Parting("request_p99_s", 1, {"theory": 0.4, "live": 0.2}, intervals=intervals)
    assert row.beyond() == beyond, "definition: a bound that is not known is none"
    assert Parting("request_p99_s", 1, row.values).beyond() == ("live",)


def test_repeats_are_pooled_and_say_how_many_a_percentile_needs(tmp_path, monkeypatch):
    """derived: three repeats of 40 requests: a p99 from 100 on, a p99.9 from 1,000, in 25."""

    def record(scenario, **_):
        rows = [
            ROW.pack(REQUEST, 1, (2 * 10**9) + at, (2 * 10**9) + at + 50_000_000)
            for at in range(40)
        ]
        states, received, requests = parse_rows(b"".join(rows))
        return Recording(scenario=scenario, states=states, received=received, requests=requests,
                         queue=Log().events(), ended_s=5.0, meta=Meta())  # fmt: skip

    monkeypatch.setattr(live, "record", record)
    base = {
        "rate_bps": 1e7, "rtt_s": 0.04, "buffer_packets": 33, "end_s": 5,
        "flows": [{"algorithm": "cubic"}], "requests": [{"request_bytes": 1e4}],
    }  # fmt: skip
    path = tmp_path / "out.jsonl"
    Batch(by="live").run(Grid(base, {"buffer_bdp": [1, 2]}, repeats=3), path)
    assert {name: count for name, (count, _) in pooled(path).items()} == {
        "buffer_bdp 1": 3, "buffer_bdp 2": 3,
    }  # fmt: skip
    done = CliRunner().invoke(commands, ["congestion", str(path)])
    assert "3 runs together, buffer_bdp 2, latency of request loop 1: 120 requests" in done.stdout
    assert "99th 50 ms (50 ms or more)" in done.stdout
    assert "99.9th percentile from 1,000 requests on (--out with --repeats 25)" in done.stdout
