"""One scenario several ways: what is absent, where they part; estimates on paper."""

from __future__ import annotations

import json

import numpy as np
import pytest

from netcalc.congestion import Result, quantities
from netcalc.congestion.result import Latencies
from netcalc.errors import DomainError, ExperimentError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

LINK = Bottleneck.of(rate_bps=12e6, rtt_s=0.04, buffer_packets=40)
SCENARIO = Scenario(
    bottleneck=LINK,
    flows=(Flow(algorithm="cubic", stop_s=4.0), Flow(algorithm="reno", stop_s=4.0)),
    requests=(Requests(request_bytes=1e4, stop_s=4.0),),
    end_s=4.0,
)


def result(by, goodput_bps, *, scenario=SCENARIO, p99_s=None, **more):
    given = {
        "queue_mean_bytes": 10_000.0, "queue_median_bytes": 1000.0, "queue_p95_bytes": 2000.0,
        "drop_count": 0.0, "utilization": 0.9, "finish_s": np.full(2, np.nan), **more,
    }  # fmt: skip
    loops = None if p99_s is None else (Latencies(np.full(100, p99_s)),)
    return Result(
        scenario=scenario, by=by, goodput_bps=np.array(goodput_bps), requests=loops, **given
    )


def row(found, quantity, number=None):
    [one] = [one for one in found if (one.quantity, one.number) == (quantity, number)]
    return one


def test_ways_part_beyond_the_aims():
    theory = result("theory", [5.0e6, 6.0e6], p99_s=0.08, utilization=0.95)
    live = result("live", [5.0e6, 5.0e6], p99_s=0.1, queue_mean_bytes=12_500.0)
    ns3 = result("ns3", [4.6e6, 5.6e6], queue_mean_bytes=13_000.0)
    found = quantities.partings([theory, live, ns3])
    first, second = row(found, "goodput_bps", 1), row(found, "goodput_bps", 2)
    # derived: 5 / 5, 5 / 4.6; 6 / 5 and 6 / 5.6, of which the aim allows 10 %
    assert first.differences() == pytest.approx({"live": 0.0, "ns3": 0.4 / 4.6})
    assert (first.beyond(), second.beyond()) == ((), ("live",))
    # derived: 0.95 / 0.9 is 5.6 % apart, the aim 3 %
    assert row(found, "utilization").beyond() == ("live", "ns3")
    # derived: 10 / 12.5 is exactly 20 % less, 10 / 13 more than that
    assert row(found, "queue_mean_bytes").beyond() == ("ns3",)
    p99 = row(found, "request_p99_s", 1)
    assert p99.beyond() == (), "derived: 0.08 / 0.1 is 20 % less, the aim 30 %"
    assert np.isnan(p99.values["ns3"])
    assert np.isnan(p99.differences()["ns3"])


def test_a_difference_from_nothing_is_no_ratio():
    zero = quantities.Parting("convergence_s", 2, {"theory": 0.0, "live": 0.5}, resolution=0.4)
    assert zero.apart() == {"live": -0.5}
    assert not zero.is_relative("live")
    # derived: 0.3 s is less than the 0.4 s over which rates are averaged, 0.5 s is more
    values = {"theory": 0.5, "live": 0.3, "ns3": 0.8}
    near = quantities.Parting("convergence_s", 2, values, resolution=0.4)
    assert [near.is_relative(way) for way in ("live", "ns3")] == [False, True]
    found = near.as_dict()
    assert found["difference"] == pytest.approx({"live": 0.2, "ns3": -0.3})
    assert found["resolution"] == 0.4
    cut = quantities.Parting("release_s", 1, {"theory": 1.0, "live": 2.0}, cut=("live",))
    assert np.isnan(cut.apart()["live"])


def test_half_a_packet_of_a_queue_never_parts():
    found = quantities.partings([
        result("theory", [1, 1], queue_median_bytes=0.0),
        result("live", [1, 1], queue_median_bytes=750.0),
        result("ns3", [1, 1], queue_median_bytes=751.0),
    ])  # fmt: skip
    assert row(found, "queue_median_bytes").beyond() == ("ns3",)


def test_what_nobody_knows_has_no_row_and_zero_is_infinitely_below():
    found = quantities.partings([result("theory", [1, 1], drop_count=3.0), result("live", [1, 1])])
    assert not [one for one in found if one.quantity in ("finish_s", "request_p99_s", "rtt_mean_s")]
    assert row(found, "drop_count").differences() == {"live": np.inf}
    assert row(found, "drop_count").beyond() == (), "identity: it has no aim"
    text = json.dumps([one.as_dict() for one in found], allow_nan=False)
    assert json.loads(text)[0]["values"] == {"theory": 1, "live": 1}


OTHER = Scenario(bottleneck=LINK, flows=SCENARIO.flows, end_s=5.0)


@pytest.mark.each(
    ("results", "code"),
    [
        ([], "no-results"),
        ([result("theory", [1, 1]), result("live", [1, 1], scenario=OTHER)], "scenarios-differ"),
        ([result("theory", [1, 1])] * 2, "name-in-use"),
    ],
)
def test_what_cannot_be_compared_is_refused(results, code):
    with pytest.raises(DomainError) as refused:
        quantities.partings(results)
    assert refused.value.code == code


def test_the_rest_is_there_if_one_way_is_absent():
    def absent():
        raise ExperimentError("ns3-absent", phase="ns-3", python="python", reason="none")

    how = {way: lambda way=way: result(way, [1, 1]) for way in quantities.WAYS} | {"ns3": absent}
    found, missing = quantities.evaluate(["ns3", "live", "theory"], how)
    assert [one.by for one in found] == ["theory", "live"]
    assert [(way, error.code) for way, error in missing.items()] == [("ns3", "ns3-absent")]
    with pytest.raises(ExperimentError):
        quantities.evaluate(["ns3"], how)
    for given in (["theory", "theory"], ["guess"]):
        with pytest.raises(DomainError):
            quantities.evaluate(given, how)


def test_each_way_is_evaluated_by_its_own():
    how = quantities.evaluations(SCENARIO, stack="linux", python="/no/python")
    found = how["theory"]()
    assert (found.by, dict(found.about)) == ("theory", {"stack": "linux"})
    with pytest.raises(ExperimentError):
        how["ns3"]()


@pytest.mark.each(
    ("streams", "size", "expected_s"),
    # derived: 10 kB need 10.359 kB of packets at 1448 of 1500: 8.287 ms at 10 Mbit/s, for each
    # flow and the request itself, and 40 ms
    [(0, 1e4, 0.048287), (1, 1e4, 0.056575), (16, 1e4, 0.180884), (1, 1e6, 1.697459)],
)
def test_a_request_takes_a_round_trip_and_its_size_over_an_equal_share(streams, size, expected_s):
    found = quantities.equal_share_s(streams, request_bytes=size, rate_bps=10e6, rtt_s=0.04)
    assert float(found) == pytest.approx(expected_s, abs=1e-6)
