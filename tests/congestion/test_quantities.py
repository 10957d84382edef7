"""What is read off a course: every expected value is counted by hand from a few intervals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from netcalc.congestion import Result, Trajectory
from netcalc.congestion.quantities import (
    averaged_over_s,
    convergence_s,
    document,
    jain_over_time,
    quantities,
    release_s,
)
from netcalc.congestion.result import Latencies
from netcalc.errors import DomainError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

LINK = Bottleneck.of(rate_bps=12e6, rtt_s=0.1, buffer_packets=40)
"""derived: 11.584 Mbit/s of payload; rates are averaged over ten round trips, which are 1 s."""


def given(flows, goodput_bps, *, step_s=0.5, warm_s=0.0, window=None, rtt_s=None, **more):
    """Return a result whose course has equal steps."""
    rates = np.array(goodput_bps, dtype=float).reshape(-1, len(flows))
    size = len(rates)
    course = Trajectory(
        time_s=step_s * np.arange(1, size + 1), queue_bytes=np.zeros(size), goodput_bps=rates,
        window_packets=np.ones((size, len(flows))) if window is None else np.array(window),
        rtt_s=np.full(size, 0.1) if rtt_s is None else np.array(rtt_s),
    )  # fmt: skip
    scenario = Scenario(
        bottleneck=LINK, flows=flows, end_s=step_s * size, warm_s=warm_s,
        requests=more.pop("loops", ()),
    )  # fmt: skip
    values = {
        "goodput_bps": rates.mean(axis=0), "finish_s": np.full(len(flows), np.nan),
        "queue_mean_bytes": 1416.0, "queue_median_bytes": 0.0, "queue_p95_bytes": 2916.0,
        "drop_count": 0.0, "utilization": 0.5, "trajectory": course, **more,
    }  # fmt: skip
    return Result(scenario=scenario, by="theory", **values)


def flow(start_s=0.0, stop_s=100.0):
    """Return a flow that by default runs to the end."""
    return Flow(algorithm="reno", start_s=start_s, stop_s=stop_s)


def test_least_and_greatest_rate_are_those_of_whole_seconds_that_count():
    # derived: after 1 s: 4 and 8 make 6, 2 and 0 make 1; the last half second is no whole one
    found = quantities(given([flow()], [100, 100, 4, 8, 2, 0, 50], warm_s=1.0))
    assert (found.rate_min_bps[0], found.rate_max_bps[0]) == pytest.approx((1.0, 6.0))


def test_a_flow_of_less_than_a_second_has_the_rate_of_its_time():
    found = quantities(given([flow(0.5, 1.0), flow()], [[0, 1], [6, 1], [0, 1], [0, 1]]))
    assert (found.rate_min_bps[0], found.rate_max_bps[0]) == pytest.approx((6.0, 6.0))


def test_window_and_round_trip_are_means_over_the_time_that_counts():
    result = given(
        [flow(stop_s=1.5)], [1, 1, 1, 1], warm_s=0.5,
        window=[[90.0], [10.0], [30.0], [70.0]], rtt_s=[0.9, 0.1, np.nan, 0.4],
    )  # fmt: skip
    found = quantities(result)
    # derived: the flow counts from 0.5 to 1.5 s, the round trip to the end, and one is not known
    assert (found.window_mean_packets[0], found.window_max_packets[0]) == (20.0, 30.0)
    assert (found.rtt_min_s, found.rtt_mean_s, found.rtt_max_s) == pytest.approx((0.1, 0.25, 0.4))


def test_rates_are_averaged_over_round_trips_of_the_flows():
    """definition: ten of the longest, 0.25 s; the link's own are 1 s."""
    flows = [Flow(algorithm="reno", stop_s=9.0, rtt_s=rtt_s) for rtt_s in (0.02, 0.025)]
    scenario = Scenario(bottleneck=LINK, flows=flows, end_s=9.0)
    assert averaged_over_s(scenario) == pytest.approx(0.25)


def test_a_probe_waits_for_the_queue_and_is_sent():
    """derived: 1416 + 84 bytes take 1 ms at 12 Mbit/s, 2916 + 84 take 2 ms; 100 ms without them."""
    found = document(given([flow()], [1, 1]))
    assert found["probe_rtt_mean_s"] == pytest.approx(0.101)
    assert found["probe_rtt_p95_s"] == pytest.approx(0.102)


def test_jain_is_that_of_the_flows_that_run_through_a_second():
    flows = [flow(), flow(1.0, 3.0), flow(3.0)]
    rates = [[8, 0, 0]] * 2 + [[9, 1, 0]] * 2 + [[4, 4, 0]] * 2 + [[6, 0, 2]] * 2
    times, index = jain_over_time(given(flows, rates))
    assert times.tolist() == pytest.approx([1, 2, 3, 4])
    # derived: one flow; 100 / (2 x 82); equal; 64 / (2 x 40)
    assert np.isnan(index[0])
    assert index[1:].tolist() == pytest.approx([100 / 164, 1.0, 0.8])
    found = quantities(given(flows, rates))
    assert found.jain_end == pytest.approx(0.8)
    assert np.isnan(quantities(given([flow()], [1, 1])).jain_end)


def test_convergence_is_counted_from_the_start_of_the_later_flow():
    # From 1 s on the second flow has 1, 3, 4, 5 of 10; a share of 4.5 of 10 is fair at delta = 0.1.
    rates = [[10, 0]] * 2 + [[9, 1]] * 2 + [[7, 3]] * 2 + [[6, 4]] * 2 + [[5, 5]] * 8
    found = convergence_s(given([flow(), flow(1.0)], rates))
    # derived: a second that begins at 3.5 s has (4 + 5) / 2 = 4.5; 2.5 s after the start
    assert np.isnan(found[0]), "identity: the first flow runs alone"
    assert found[1] == pytest.approx(2.5, abs=0.051), "the times looked at are 0.1 s apart"
    # derived: ten round trips over the full buffer are 10 * (100 + 40) ms: 1.4 s of fair means
    # and a second that begins at 3.875 s has 4.5 again
    passing = [[10, 0]] * 2 + [[5, 5]] * 4 + [[9, 1]] * 2 + [[5, 5]] * 8
    assert convergence_s(given([flow(), flow(1.0)], passing))[1] == pytest.approx(2.875, abs=0.051)
    assert np.isnan(convergence_s(given([flow(), flow(1.0)], passing[:8]))[1])


def test_three_flows_converge_when_the_least_has_nearly_a_third():
    rates = [[6, 6, 0]] * 6 + [[5.2, 5.2, 1.6]] * 2 + [[4.1, 4.2, 3.7]] * 8
    found = convergence_s(given([flow(), flow(), flow(3.0)], rates))
    assert found[:2].tolist() == [0.0, 0.0], "identity: both start together, and equal"
    # derived: 0.9 / 3 of 12 are 3.6; the mean is 1.6 (1 - x) + 3.7 x at x = 20 / 21 of a second
    assert found[2] == pytest.approx(20 / 21, abs=0.051), "as above"


def test_flows_that_never_share_or_not_before_a_change_do_not_converge():
    unfair = [[9, 1]] * 8
    assert np.isnan(convergence_s(given([flow(), flow()], unfair))).all()
    late = [[9, 1]] * 4 + [
        [
            5,
            5,
        ]
    ] * 4
    stopped = [[*row, 0] for row in late]
    # identity: the third flow starts at 2 s, before the others are fair
    assert np.isnan(convergence_s(given([flow(), flow(), flow(2.0)], stopped))[:2]).all()


def test_released_bandwidth_is_taken_when_the_others_fill_the_link():
    full = 11.584e6
    rates = [[full / 2, full / 2]] * 2 + [[full / 2, 0]] * 2 + [[0.8 * full, 0]] * 2
    rates += [[full, 0]] * 4
    found = release_s(given([flow(), flow(stop_s=1.0)], rates))
    # derived: a second that begins at 2.5 s has (0.8 + 1) / 2 = 0.9 of the link; 1.5 s later
    assert np.isnan(found[0]), "identity: the first flow ends with the scenario"
    assert found[1] == pytest.approx(1.5, abs=0.051)
    at_once = [[full / 2, full / 2]] * 2 + [[full, 0]] * 4
    assert release_s(given([flow(), flow(stop_s=1.0)], at_once))[1] == 0.0
    alone = [[full, 0]] * 2 + [[0, full]] * 2
    assert np.isnan(release_s(given([flow(stop_s=1.0), flow(1.0)], alone))[1])


@pytest.mark.each(
    ("count", "known"),
    [(9, []), (10, ["p50", "p90"]), (99, ["p50", "p90"]), (100, ["p50", "p90", "p99"]),
     (999, ["p50", "p90", "p99"]), (1000, ["p50", "p90", "p99", "p999"])],
)  # fmt: skip
def test_a_percentile_is_given_only_if_the_count_carries_it(count, known):
    """derived: of 999 requests less than one is above the share 0.999."""
    found = Latencies(np.linspace(1.0, 2.0, count)).as_dict()
    given_names = [name for name in ("p50", "p90", "p99", "p999") if found[f"{name}_s"] > 0]
    assert given_names == known
    assert (found["count"], found["min_s"], found["max_s"]) == (count, 1.0, 2.0)
    assert found["mean_s"] == pytest.approx(1.5)


def test_no_request_has_no_latency():
    found = Latencies(np.zeros(0)).as_dict()
    assert found.pop("count") == 0
    assert np.isnan(list(found.values())).all()


def test_the_document_has_means_quantities_and_loops_as_json():
    loops = [Requests(request_bytes=1e4, stop_s=1.0)]
    latencies = (Latencies(np.arange(1, 101) / 1000),)
    result = given([flow()], [1, 1], loops=loops, requests=latencies, cpu_s=(0.5, np.nan),
                   resent_ratio=0.25, about={"system": "Linux"})  # fmt: skip
    found = json.loads(json.dumps(document(result), allow_nan=False))
    # derived: 1 to 100 ms; the 90th percentile lies 0.1 of the way from 90 to 91 ms
    assert found["request_p90_s"] == [pytest.approx(0.0901)]
    assert (found["request_count"], found["request_p999_s"]) == ([100], [None])
    assert (found["cpu_s"], found["resent_ratio"]) == ([0.5, None], 0.25)
    assert (found["convergence_s"], found["jain_end"]) == ([None], None)
    assert found["about"] == {"system": "Linux"}
    for name in ("goodput_bps", "queue_mean_bytes", "queue_p95_bytes", "drop_count", "finish_s"):
        assert name in found


def test_a_result_without_its_course_has_the_means_alone():
    result = given([flow()], [1, 1], trajectory=None)
    assert document(result) == result.as_dict()
    with pytest.raises(DomainError) as refused:
        quantities(result)
    assert refused.value.code == "no-course"


def test_a_run_that_was_stopped_at_once_has_no_quantities():
    empty = Trajectory(
        time_s=np.zeros(0), queue_bytes=np.zeros(0), window_packets=np.zeros((0, 2)),
        goodput_bps=np.zeros((0, 2)), rtt_s=np.zeros(0),
    )  # fmt: skip
    found = quantities(given([flow(), flow()], [[1, 1]] * 2, trajectory=empty))
    for values in (found.rate_min_bps, found.window_mean_packets, found.convergence_s):
        assert np.isnan(values).all()
    assert found.jain_over_time.size == 0
