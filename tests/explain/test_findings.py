"""Findings and explanations as JSON and as text: every value in its place, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path as FilePath

import pytest

from netcalc import explain, readers
from netcalc.explain import Finding, Limit
from netcalc.explain.measurement import evidence_of
from netcalc.messages import Notice
from netcalc.path import Path

INPUTS = FilePath(__file__).parents[1] / "readers" / "inputs"
NAN = math.nan
LINE = {"line_bps": 1e9, "payload_bytes": 1448, "wire_bytes": 1538}
WINDOW = {"window_bytes": 65535, "rtt_s": 0.04, "streams": 2}
HOP = {"hop": 3, "node": "r3", "added_s": 0.25}


def line_of(value, *, comparison=False):
    return Limit("line", value, "bit/s", 0.04, LINE, comparison)


def window_of(value):
    return Limit("window", value, "bit/s", 0.2, WINDOW)


def test_a_limit_in_json():
    assert line_of(94.0, comparison=True).as_dict() == {
        "name": "line", "subject": "the line", "value": 94.0, "unit": "bit/s",
        "tolerance_ratio": 0.04, "for_comparison": True, "values": LINE,
        "arithmetic": "1448 B of every 1538 B on 1 Gbit/s (line)",
        "assumption": "nothing else uses the line, and its rate is that of layer 1",
        "test": "send UDP at that rate and measure the received rate",
    }  # fmt: skip
    one = window_of(1.0)
    assert one.as_dict()["for_comparison"] is False
    assert [each.code for each in (one.arithmetic, one.assumption, one.test)] == [
        "how-window", "assumes-window", "confirm-window",
    ]  # fmt: skip
    assert one.arithmetic.values == one.assumption.values == one.test.values == WINDOW
    assert Limit("hop", 0.25, "s", 0.2, HOP).subject == "hop 3 r3"


def test_a_finding_in_json():
    """By hand: 90 of 100 bit/s, and the line at 200 is next."""
    lost, ask = Notice("probes-lost", {"loss_ratio": 0.5}), Notice("ask-rtt")
    limits = (window_of(100.0), line_of(200.0))
    found = Finding(
        label="up", measured=90.0, limits=limits, notices=(lost,), missing=(ask,),
        metrics={"line_share_ratio": 0.45, "efficiency_ratio": NAN}, layer="TCP payload",
    )  # fmt: skip
    assert found.as_dict() == {
        "schema": 1, "label": "up", "unit": "bit/s", "layer": "TCP payload", "measured": 90.0,
        "cause": "receiver-window", "share_of_time": None, "shares_of_time": {},
        "evidence": [], "counterfactuals": [], "waterfall": [],
        "sentence": found.sentence,
        "code": "explained-rate-next", "binding": "window", "next": "line",
        "share_ratio": pytest.approx(0.9), "is_explained": True, "confidence": "high",
        "assumption": str(limits[0].assumption), "test": str(limits[0].test),
        "limits": [{**one.as_dict(), "layer": "TCP payload"} for one in limits],
        "metrics": {"line_share_ratio": 0.45},
        "notices": [lost.stored()], "missing": [ask.stored()],
    }  # fmt: skip
    assert found.said.values == {
        "subject": "the window", "value": 100.0, "measured": 90.0, "share": pytest.approx(0.9),
        "next": "the line", "next_value": 200.0, "layer": "TCP payload",
    }  # fmt: skip


def test_a_finding_without_limits_in_json():
    found = Finding().as_dict()
    nothing = ("measured", "binding", "next", "share_ratio", "assumption", "test")
    assert [found[name] for name in nothing] == [None] * len(nothing)
    assert (found["label"], found["unit"], found["code"]) == ("", "bit/s", "explained-nothing")
    assert (found["is_explained"], found["confidence"]) == (False, "low")
    assert [found[name] for name in ("limits", "metrics", "notices", "missing")] == [[], {}, [], []]


def test_one_limit_has_none_behind_it():
    alone = Finding(measured=100.0, limits=(line_of(100.0),))
    assert (alone.as_dict()["next"], alone.said.values["next"]) == (None, "")
    assert math.isnan(alone.said.values["next_value"])
    above = Finding(measured=NAN, limits=(window_of(100.0),)).as_dict()
    assert (above["measured"], above["share_ratio"], above["binding"]) == (None, None, "window")


def test_a_finding_as_text():
    limits = (window_of(100.0), line_of(400.0, comparison=True))
    found = Finding(
        label="up", measured=100.0, limits=limits, notices=(Notice("sender-count-only"),),
        missing=(Notice("ask-rtt"), Notice("ask-loss")), layer="TCP payload",
    )  # fmt: skip
    assert str(found).splitlines() == [
        f"up: {found.sentence}",
        "  the window: 100 bit/s (TCP payload) [100%]: 65.53 kB in flight per round trip of 40 ms, "
        "x 2",
        "  the line: 400 bit/s (TCP payload) [25%, for comparison]: 1448 B of every 1538 B on "
        "1 Gbit/s (line)",
        f"  note: {Notice('sender-count-only')}",
        f"Confidence: high, if {limits[0].assumption}.",
        f"To confirm: {limits[0].test}.",
        f"Not known: {Notice('ask-rtt')}.",
        f"Not known: {Notice('ask-loss')}.",
    ]
    assert str(Finding()).splitlines() == [Finding().sentence]
    ceiling = Finding(limits=(line_of(400.0),))
    assert str(ceiling).splitlines()[:2] == [
        ceiling.sentence,
        "  the line: 400 bit/s (layer not stated): 1448 B of every 1538 B on 1 Gbit/s (line)",
    ]  # fmt: skip


def test_a_rate_of_no_stated_layer_says_so_to_people_only():
    """Identity: the code of the layer stays in the values."""
    finding = Finding(measured=300.0, limits=(line_of(400.0),), layer="unknown")
    assert "300 bit/s (layer not stated)" in finding.sentence
    assert "(unknown)" not in str(finding)
    assert finding.layer == "unknown"
    rest = Notice("sender-not-receiver", {"sent_bps": 2.0, "received_bps": 1.0, "share": 0.5,
                                          "layer": "unknown"})  # fmt: skip
    assert str(rest).count("(layer not stated)") == 2
    assert rest.stored()["values"]["layer"] == "unknown"


def test_the_parts_of_a_time_as_text():
    """By hand: 0.5 s are a quarter of 2 s."""
    found = Finding(unit="s", measured=2.0, limits=(Limit("hop", 0.5, "s", 0.2, HOP),))
    assert found.rows() == [("hop 3 r3", "500 ms", "25%", "250 ms beyond the hops before it")]
    assert (found.share_ratio, found.confidence) == (0.25, "low"), "of a hop no cause is known"
    assert (found.is_explained, found.binding.name, found.following) == (True, "hop", None)


def test_a_part_longer_than_the_time_still_counts():
    """Parts of a time are no ceilings: no measurement refutes them."""
    short = Limit("hop", 0.25, "s", 0.2, HOP)
    found = Finding(unit="s", measured=1.0, limits=(short, Limit("host", 0.1, "s", 0.2, {})))
    assert [one.name for one in found.candidates] == ["hop", "host"]
    assert found.following.name == "host"
    aside = Limit("hop", 0.5, "s", 0.2, HOP, True)
    assert Finding(unit="s", measured=1.0, limits=(aside, short)).binding is short


def test_of_limits_that_agree_the_one_known_best_binds():
    """By hand: the window is just the measured rate, but known within 20 %, the line within 4."""
    found = Finding(measured=100.0, limits=(window_of(100.0), line_of(102.0)))
    assert found.binding.name == "line"
    several = Finding(
        measured=100.0,
        limits=(window_of(100.0), window_of(140.0), window_of(300.0), line_of(900.0)),
    )
    assert (several.following.value, several.confidence) == (140.0, "medium")
    times = [Limit("hop", value, "s", 0.2, HOP) for value in (0.25, 0.1, 0.5)]
    following = Finding(unit="s", measured=1.0, limits=tuple(times)).following
    assert following is times[1], "parts stay in their order"


def test_the_bounds_of_agreement():
    """By hand: a tolerance of 1 is a factor of two, both ways."""
    one = Limit("window", 0.5, "bit/s", 1.0, WINDOW)
    agreeing = {0.25: True, 0.2499: False, 1.0: True, 1.01: False}
    assert {measured: one.agrees(measured) for measured in agreeing} == agreeing
    assert [one.refuted(measured) for measured in (1.0, 1.01)] == [False, True]


def test_a_limit_of_nothing_has_no_share():
    assert math.isnan(Finding(measured=0.0, limits=(window_of(0.0),)).share_ratio)
    assert Finding(measured=0.25, limits=(window_of(0.5),)).share_ratio == 0.5


def test_where_none_is_above_the_binding_limit_another_follows():
    """By hand: the line at 100 is known best; the window agrees at 95, and nothing is above."""
    found = Finding(measured=100.0, limits=(window_of(95.0), line_of(100.0)))
    assert (found.binding.name, found.following.name) == ("line", "window")
    assert found.said.values["next_value"] == 95.0
    equal = Finding(measured=100.0, limits=(window_of(100.0), line_of(100.0)))
    assert (equal.binding.name, equal.following.name) == ("line", "window")
    equal_above = Finding(
        measured=100.0, limits=(window_of(90.0), window_of(100.0), line_of(100.0))
    )
    assert equal_above.following.value == 100.0, "an equal one precedes one below"


PATH = Path.parse("4 Mbit/s 1 ms, 8 Mbit/s 2 ms")


def test_a_transfer_in_json():
    """By hand: 2 ms and 1 ms for 1000 B, and 3 ms of latency: 6 ms."""
    found = explain.transfer(1000, path=PATH)
    assert found.as_dict()["sentence"] == found.sentence
    assert found.as_dict()["total_s"] == pytest.approx(0.006)
    assert found.as_dict()["parts"] == [
        {"name": one.name, "time_s": pytest.approx(time_s), "arithmetic": one.arithmetic,
         "share_ratio": pytest.approx(time_s / 0.006), "test": one.test}
        for one, time_s in zip(found.parts, (0.003, 0.002, 0.001), strict=True)
    ]  # fmt: skip
    assert [one.name for one in found.parts] == ["latency", "line", "store-and-forward"]
    values = {
        "size_bytes": 1000.0, "line_bps": 4e6, "link_count": 2, "other_count": 1, "node_count": 3,
        "repeated": str(Notice("whole-message")),
    }  # fmt: skip
    assert all(dict(one.values) == values for one in found.parts)
    packets = explain.transfer(1000, path=PATH, packet_bytes=500).parts[0].values
    assert packets["repeated"] == str(Notice("each-packet", {"packet_bytes": 500.0}))


def test_a_transfer_as_text():
    found = explain.transfer(1000, path=PATH)
    assert str(found).splitlines() == [
        found.sentence,
        *(
            f"  {one.name}: {time} ({share}): {one.arithmetic}"
            for one, time, share in zip(
                found.parts, ("3 ms", "2 ms", "1 ms"), ("50%", "33%", "17%"), strict=True
            )
        ),
        f"To confirm: {found.parts[0].test}.",
    ]


def test_a_rate_in_json():
    found = explain.rate(PATH, rtt_s=0.1, window_bytes=1000, loss_ratio=1e-4)
    document = found.as_dict()
    assert set(document) == {
        "sentence", "rate_bps", "layer", "ceilings", "rtt_s", "by_congestion_control",
        "assumptions",
    }  # fmt: skip
    assert document["layer"] == "TCP payload"
    assert (document["sentence"], document["rtt_s"]) == (found.sentence, 0.1)
    # 1000 B in 100 ms; 1448 of 1538 of 4 Mbit/s, less the loss; CUBIC, RFC 9438 eq. 5
    segments = (0.4 * 3.7 / 1.2) ** 0.25 * (0.1 / 1e-4) ** 0.75
    rates = {
        "window": 80e3, "line": 4e6 * 1448 / 1538 * 0.9999, "loss": 8 * 1448 / 0.1 * segments,
    }  # fmt: skip
    assert document["ceilings"] == [
        {"name": name, "rate_bps": pytest.approx(rate_bps), "layer": "TCP payload",
         "arithmetic": one.arithmetic, "test": one.test}
        for one, (name, rate_bps) in zip(found.ceilings, rates.items(), strict=True)
    ]  # fmt: skip
    values = {
        "payload_bytes": 1448.0, "wire_bytes": 1538.0, "line_bps": 4e6, "window_bytes": 1000.0,
        "loss_ratio": 1e-4, "rtt_s": 0.1, "ack_bytes": 90.0, "reverse_bps": None,
        "rto_s": pytest.approx(0.3), "flow_count": 1, "control": "CUBIC", "layer": "TCP payload",
    }  # fmt: skip
    assert all(dict(one.values) == values for one in found.ceilings)
    assert [one.subject for one in found.ceilings] == ["the window", "the bottleneck link", "loss"]


def test_a_rate_as_text():
    found = explain.rate(PATH, rtt_s=0.05, window_bytes=1000)
    assert str(found).splitlines() == [
        found.sentence,
        f"  window: 160 kbit/s (TCP payload): {found.ceilings[0].arithmetic}",
        f"  line: 3.766 Mbit/s (TCP payload): {found.ceilings[1].arithmetic}",
        f"To confirm: {found.ceilings[0].test}.",
    ]
    assert not found.high_loss
    assert explain.rate(PATH, loss_ratio=0.0101).high_loss
    assert not explain.rate(PATH, loss_ratio=0.01).high_loss


def test_a_window_without_end_does_not_limit():
    """Identity: it is the default."""
    endless = explain.rate(PATH, window_bytes=math.inf)
    assert endless == explain.rate(PATH)
    assert [one.name for one in endless.ceilings] == ["line"]


def test_the_least_and_the_largest_of_facts():
    found = explain.rate(PATH, rtt_s=0.5, window_bytes=0.5, loss_ratio=1.0)
    # nothing arrives where all is lost; half a byte in half a second
    assert [(one.name, one.rate_bps) for one in found.ceilings] == [
        ("loss", 0), ("line", 0), ("window", 8),
    ]  # fmt: skip
    # Mathis at the least loss: 1.31 over the root of 1e-12; there are no timeouts
    least = explain.rate(PATH, rtt_s=0.5, loss_ratio=1e-12, congestion_control="reno")
    rare = {one.name: one.rate_bps for one in least.ceilings}
    assert rare["loss"] == pytest.approx(8 * 1448 / 0.5 * 1.31 * 1e6, rel=3e-6)


@pytest.mark.each("name", ["handshake_rtt_s", "streams"])
@pytest.mark.each("value", [5, "x", ["a"], [None], {"a": 1}])
def test_what_a_saved_run_should_not_have_is_not_used(name, value):
    """identity: of a file that somebody changed, it changes nothing."""
    run = readers.read(INPUTS / "iperf3" / "tcp.json")
    [plain] = evidence_of(replace(run, meta=replace(run.meta, printed={})))
    [odd] = evidence_of(replace(run, meta=replace(run.meta, printed={name: value})))
    assert repr(odd) == repr(plain)
