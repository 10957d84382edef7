"""Presets: each number of the source, by the id that the data set has for it."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc import scenario as scenarios
from netcalc.datasets import load
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.scenario import Bottleneck, Flow, Requests, Scenario

ONE = [(0, 60)]
TWO = [(0, 60), (22, 42)]
WAN = (10e6, 0.04, 50_000)
# name: rate, round trip and buffer; start and stop of each flow; size of a request
PRESETS = {
    "lan": ((10e9, 20e-6, 1e6), ONE, None),  # published: a switch has 1 to 2 MB
    "wan-10g": ((10e9, 0.01, 1.5e6), ONE, None),  # the same switches, their mean
    "wan-10m": (WAN, ONE, None),  # derived: BDP 10e6 x 0.04 / 8
    "wan-100m": ((100e6, 0.04, 500_000), ONE, None),
    "wan-10m-10ms": ((10e6, 0.01, 12_500), ONE, None),  # derived: 10e6 x 0.01 / 8
    "wan-100m-10ms": ((100e6, 0.01, 125_000), ONE, None),
    "two-flows": (WAN, TWO, None),
    "two-flows-netesto": (WAN, [(0, 60), (23, 43)], None),
    "three-flows": (WAN, [(0, 60), (12, 52), (26, 46)], None),
    "three-flows-netesto": (WAN, [(0, 60), (13, 53), (25, 45)], None),
    **{
        f"requests-{label}-against-{count}": (WAN, ONE * count, size)
        for label, size in (("10kB", 10_000), ("1MB", 1_000_000))
        for count in (1, 2, 4, 8, 16)
    },
    **{
        f"buffer-{label}-bdp": ((10e6, 0.04, size), ONE, 10_000)
        for label, size in (
            ("half", 25_000), ("1", 50_000), ("2", 100_000), ("4", 200_000), ("8", 400_000),
        )
    },
    "two-flows-10g": ((10e9, 0.01, 1.5e6), [(0, 60), (23, 43)], None),
    **{
        f"lan-{label}-against-{count}": ((10e9, 20e-6, 1e6), [(0, 10)] * count, size)
        for label, size in (("10kB", 10_000), ("1MB", 1_000_000))
        for count in (1, 2, 4, 8, 16)
    },
    **{f"loss-{label}-percent": (WAN, ONE, None) for label in ("0.01", "0.1", "1", "2")},
}  # fmt: skip


def test_all_presets_are_judged():
    assert set(scenarios.presets()) == {*PRESETS, "hundred-flows"}


def test_a_hundred_flows_have_the_buffer_of_the_rule():
    """published: Appenzeller 2004: 100 flows on an OC3; a product over the root of 100."""
    found = scenarios.preset("hundred-flows")
    link = found.bottleneck
    assert link.rate_bps == 155.52e6
    assert link.buffer_packets == round(155.52e6 * 0.0996 / 12000 / 100**0.5)
    rtts_s = np.sort(found.rtts_s())
    assert rtts_s == pytest.approx(np.linspace(0.8, 1.2, 100) * 0.0996)


@pytest.mark.each("name", PRESETS)
def test_a_preset_has_the_numbers_of_the_source(name):
    (rate_bps, rtt_s, buffer_bytes), spans, request_bytes = PRESETS[name]
    found = scenarios.preset(name)
    link = found.bottleneck
    assert (link.rate_bps, link.rtt_s, link.buffer_bytes) == (rate_bps, rtt_s, buffer_bytes)
    # derived: 9.64 Gbit/s are more than 1448 of 1538 bytes of the line, less than 8948 of 9038
    assert link.mtu_bytes == (9000 if name == "two-flows-10g" else 1500)
    assert link.delay_on_acks == (name in ("wan-10g", "two-flows-10g"))
    loss = float(name.split("-")[1]) / 100 if name.startswith("loss") else 0.0
    assert link.loss_ratio == pytest.approx(loss, rel=1e-12)
    assert [(flow.start_s, flow.stop_s) for flow in found.flows] == spans
    assert {flow.size_bytes for flow in found.flows} == {None}
    loops = [
        (one.request_bytes, one.reply_bytes, one.start_s, one.stop_s) for one in found.requests
    ]
    start_s, end_s = (1.0, 10.0) if name.startswith("lan-") else (5.0, 60.0)
    assert loops == ([] if request_bytes is None else [(request_bytes, 1.0, start_s, end_s)])
    # published: three hosts send in the beds of Fig. 13 and 14; a flow that joins has its own
    assert found.senders == (len(spans) if "flows" in name else 1)
    assert found.end_s == end_s
    assert found.warm_s == (0.0 if "flows" in name else start_s)


def test_the_data_set_has_the_same_numbers():
    columns = load("congestion_scenarios").columns()
    value = dict(zip(columns["id"], columns["si_value"], strict=True))
    lan, fast = (scenarios.preset(name).bottleneck for name in ("lan", "wan-10g"))
    assert (lan.rtt_s, lan.rate_bps) == (value["NE01"], value["NE02"])
    assert (fast.rtt_s, fast.rate_bps) == (value["NE04"], value["NE05"])
    assert value["NE08"] <= fast.buffer_bytes <= value["NE09"]
    # derived: an ACK for two segments; the queue that delays them, NE07, is never full
    assert value["NE06"] / (2 * 1448) < value["NE07"] / 4
    slow, near = (scenarios.preset(name).bottleneck for name in ("wan-10m", "wan-10m-10ms"))
    assert (slow.rtt_s, slow.rate_bps, slow.buffer_bytes) == (
        value["NE10"], value["NE11"], value["NE13"],
    )  # fmt: skip
    assert near.rtt_s == value["NE16"]
    assert scenarios.preset("wan-100m").bottleneck.buffer_bytes == value["NE14"]
    flows = scenarios.preset("three-flows").flows
    assert [flow.start_s for flow in flows[1:]] == [value["NE23"], value["NE25"]]
    assert [flow.stop_s - flow.start_s for flow in flows] == [
        value[one] for one in ("NE21", "NE22", "NE24")
    ]


def test_a_preset_of_an_unknown_algorithm_is_refused():
    with pytest.raises(DomainError) as refused:
        scenarios.preset("lan", algorithm="hybla")
    assert refused.value.name == "algorithm"
    assert scenarios.preset("lan").flows[0].algorithm == "cubic"


LINK = {"rate_bps": 10e6, "rtt_s": 0.04, "buffer_bytes": 50_000}


@pytest.mark.each("kind, given, name", [
    (Flow, {"algorithm": "reno", "start_s": -1, "stop_s": 5}, "start_s"),
    (Flow, {"algorithm": "reno", "stop_s": [1, 2]}, "stop_s"),
    (Requests, {"request_bytes": 0, "stop_s": 5}, "request_bytes"),
    (Requests, {"request_bytes": 1, "reply_bytes": 0, "stop_s": 5}, "reply_bytes"),
    (Requests, {"request_bytes": 1, "start_s": -1, "stop_s": 5}, "start_s"),
    (Requests, {"request_bytes": 1, "stop_s": float("inf")}, "stop_s"),
    (Requests, {"request_bytes": 1, "stop_s": 5, "algorithm": "hybla"}, "algorithm"),
    (Bottleneck, LINK | {"mtu_bytes": 67}, "mtu_bytes"),
    (Bottleneck, LINK | {"mtu_bytes": 1500.5}, "mtu_bytes"),
    (Bottleneck, LINK | {"buffer_bytes": float("nan")}, "buffer_bytes"),
    (Bottleneck, LINK | {"buffer_bytes": 1499}, "buffer_bytes"),
    (Bottleneck, LINK | {"marking_bytes": 0}, "marking_bytes"),
    (Bottleneck.of, {"rate_bps": 1e6, "rtt_s": 1.0}, "buffer_packets"),
])  # fmt: skip
def test_a_fact_that_cannot_be_is_refused_by_its_name(kind, given, name):
    with pytest.raises(DomainError) as refused:
        kind(**given)
    assert refused.value.name == name


def test_facts_keep_their_kinds():
    """Whole numbers stay whole, and the least that is allowed is allowed."""
    small = Bottleneck(rate_bps=1e3, rtt_s=1, buffer_bytes=68, mtu_bytes=68.0, marking_bytes=1)
    assert (small.mtu_bytes, small.buffer_packets, small.marking_packets) == (68, 1, 1)
    assert isinstance(small.mtu_bytes, int)
    assert isinstance(small.rtt_s, float)
    with pytest.raises(ArgumentTypeError):
        Bottleneck(**LINK, delay_on_acks="yes")
    assert Bottleneck(**LINK, delay_on_acks=np.True_).delay_on_acks is True
    flow = Flow(algorithm="reno", stop_s=1)
    most = Scenario(bottleneck=small, flows=[flow] * 1000, end_s=2, seed=0)
    assert (len(most.flows), most.seed) == (1000, 0)
    assert isinstance(most.flows, tuple)
    assert Flow(algorithm="reno", size_bytes=1).start_s == 0.0
    assert Requests(request_bytes=1, stop_s=1).start_s == 0.0
    usual = Scenario(bottleneck=small, flows=(flow,), end_s=2)
    assert (usual.warm_s, usual.seed) == (0.0, 1)


@pytest.mark.each("given, name", [
    ({"end_s": 0}, "end_s"),
    ({"warm_s": -1}, "warm_s"),
    ({"warm_s": float("nan")}, "warm_s"),
    ({"seed": 0.5}, "seed"),
    ({"seed": -1}, "seed"),
    ({"flows": [], "requests": [Requests(request_bytes=1, start_s=2, stop_s=3)]},
     "requests[0].start_s"),
])  # fmt: skip
def test_a_scenario_that_cannot_be_is_refused_by_its_name(given, name):
    usual = {"bottleneck": Bottleneck(**LINK), "flows": [Flow(algorithm="reno", stop_s=1)]}
    with pytest.raises(DomainError) as refused:
        Scenario(**usual | {"end_s": 2} | given)
    assert refused.value.name == name


@pytest.mark.each("seed", [0, 1.0, 2**53 + 1, np.uint64(2**64 - 1)])
def test_a_seed_is_kept_exactly(seed):
    """identity: 2^53 + 1 is no float64."""
    usual = {"bottleneck": Bottleneck(**LINK), "flows": [Flow(algorithm="reno", stop_s=1)]}
    found = Scenario(**usual, end_s=2, seed=seed).seed
    assert (found, type(found)) == (int(seed), int)


def test_a_part_of_a_byte_takes_a_whole_one():
    """derived: 0.5 is 1 byte and 1000.2 are 1001, for every way of evaluation."""
    assert Flow(algorithm="reno", size_bytes=0.5).size_bytes == 1.0
    loop = Requests(request_bytes=1000.2, reply_bytes=0.1, stop_s=1)
    assert (loop.request_bytes, loop.reply_bytes) == (1001.0, 1.0)
