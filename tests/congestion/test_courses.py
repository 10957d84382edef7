"""What figures of a result need: equal intervals, when flows ran, and their ideal shares."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.congestion import Result, Trajectory
from netcalc.congestion.quantities import fair_ends_s, fair_shares_bps, payload_rate_bps
from netcalc.scenario import Bottleneck, Flow, Scenario

LINK = Bottleneck.of(rate_bps=12e6, rtt_s=0.04, buffer_packets=40)
"""derived: 12 Mbit/s of packets of 1500 bytes are 1000 packets/s, 11.584 Mbit/s of payload."""


def scenario(*flows, end_s=10.0):
    return Scenario(bottleneck=LINK, flows=flows, end_s=end_s)


def course(time_s, goodput_bps):
    size = len(time_s)
    return Trajectory(
        time_s=np.array(time_s), queue_bytes=np.zeros(size), rtt_s=np.full(size, 0.04),
        window_packets=np.ones((size, len(goodput_bps[0]))), goodput_bps=np.array(goodput_bps),
    )  # fmt: skip


def test_goodput_in_equal_intervals_keeps_what_was_carried():
    # derived: 2 bit in the first second, then 6 in 0.5 s and 0 in 1 s; 8 bit in all
    found = course([1.0, 1.5, 2.5], [[2.0, 0.0], [12.0, 4.0], [0.0, 2.0]])
    ends, rates = found.goodput_every(1.0)
    assert ends.tolist() == [1.0, 2.0, 2.5]
    assert rates[:, 0].tolist() == [2.0, 6.0, 0.0]
    # derived: 4 times 0.5 and 2 times 0.5 in the second interval
    assert rates[:, 1].tolist() == [0.0, 3.0, 2.0]


def test_the_mean_between_two_times_takes_parts_of_intervals():
    found = course([1.0, 1.5, 2.5], [[2.0, 0.0], [12.0, 4.0], [0.0, 2.0]])
    # derived: from 0.5 to 2 s there are 1 + 6 + 0 bit, and 0 + 2 + 1
    assert found.mean_goodput_bps(0.5, 2.0) == pytest.approx([7 / 1.5, 2.0])


def test_an_interval_that_divides_the_time_leaves_no_empty_rest():
    ends, rates = course([0.1 * n for n in range(1, 4)], [[8.0]] * 3).goodput_every(0.1)
    assert ends == pytest.approx([0.1, 0.2, 0.3])
    assert rates[:, 0] == pytest.approx([8.0] * 3)


def test_a_scenario_without_flows_has_no_goodput_to_share():
    ends, rates = Trajectory(
        time_s=np.array([1.0, 2.0]), queue_bytes=np.zeros(2), rtt_s=np.ones(2),
        window_packets=np.zeros((2, 0)), goodput_bps=np.zeros((2, 0)),
    ).goodput_every(1.0)  # fmt: skip
    assert (ends.tolist(), rates.shape) == ([1.0, 2.0], (2, 0))


def test_a_run_that_was_stopped_at_once_has_no_intervals():
    ends, rates = Trajectory(
        time_s=np.zeros(0), queue_bytes=np.zeros(0), rtt_s=np.zeros(0),
        window_packets=np.zeros((0, 2)), goodput_bps=np.zeros((0, 2)),
    ).goodput_every(1.0)  # fmt: skip
    assert (ends.size, rates.shape) == (0, (0, 2))


def test_the_span_of_a_flow_ends_with_the_first_of_stop_finish_and_end():
    given = scenario(
        Flow(algorithm="reno", stop_s=20.0),
        Flow(algorithm="reno", start_s=1.0, stop_s=4.0),
        Flow(algorithm="reno", start_s=2.0, size_bytes=1e6),
    )
    found = Result(
        scenario=given, by="theory", goodput_bps=np.ones(3), queue_mean_bytes=0.0,
        queue_median_bytes=0.0, queue_p95_bytes=0.0, drop_count=0.0, utilization=0.5,
        finish_s=np.array([np.nan, np.nan, 3.5]),
    )  # fmt: skip
    assert [found.span_s(index) for index in range(3)] == [(0.0, 10.0), (1.0, 4.0), (2.0, 3.5)]


def test_ideal_shares_of_flows_that_come_and_go():
    given = scenario(Flow(algorithm="cubic", stop_s=10.0),
                     Flow(algorithm="bbr", start_s=4.0, stop_s=8.0))  # fmt: skip
    # derived: 1448 of 1500 bytes
    assert payload_rate_bps(given) == pytest.approx(11.584e6)
    time_s, rate_bps = fair_shares_bps(given)
    assert time_s.tolist() == [0.0, 4.0, 4.0, 8.0, 8.0, 10.0]
    whole, half = 11.584e6, 5.792e6
    assert rate_bps[0] == pytest.approx([whole, whole, half, half, whole, whole])
    assert rate_bps[1, 2:4] == pytest.approx([half, half])
    assert np.isnan(rate_bps[1, [0, 1, 4, 5]]).all()


def test_nobody_has_a_share_while_no_flow_runs():
    # derived: 1 MB are there after 0.69 s, the second flow starts at 4 s
    given = scenario(Flow(algorithm="cubic", size_bytes=1e6),
                     Flow(algorithm="bbr", start_s=4.0, stop_s=8.0))  # fmt: skip
    time_s, rate_bps = fair_shares_bps(given)
    assert time_s.tolist() == pytest.approx([0, 8e6 / 11.584e6, 8e6 / 11.584e6, 4, 4, 8])
    assert np.isnan(rate_bps[:, 2:4]).all()
    assert rate_bps[1, 4:] == pytest.approx([11.584e6] * 2)


def test_a_sized_flow_ends_when_its_shares_have_carried_it():
    # derived: 2.172 MB are 1.5 s of the whole link: 1 s alone, then 1 s of half of it
    given = scenario(Flow(algorithm="cubic", size_bytes=1.5 * 11.584e6 / 8),
                     Flow(algorithm="cubic", start_s=1.0, stop_s=6.0))  # fmt: skip
    assert fair_ends_s(given) == pytest.approx([2.0, 6.0])


def test_a_sized_flow_that_never_ends_is_cut_at_the_end():
    given = scenario(Flow(algorithm="cubic", size_bytes=1e9))
    assert fair_ends_s(given).tolist() == [10.0]
