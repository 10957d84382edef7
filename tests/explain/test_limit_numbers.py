"""Every ceiling and part with its number, its tolerance and its place, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from netcalc.errors import doubts
from netcalc.explain import Evidence, Known, claim, explain_evidence, measurement
from netcalc.explain.evidence import from_facts, from_transfers
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.path_limits import rate
from netcalc.explain.tables import described
from netcalc.path import Path
from netcalc.samples import (
    FlowSeries,
    Meta,
    PathSamples,
    RttSamples,
    Table,
    TransactionSamples,
    TransferSamples,
)

NAN = math.nan
# 1500 less 20 + 20 of headers and 12 of timestamps; 14 + 4 of a frame, 8 of preamble, 12 of gap
MSS, WIRE = 1448, 1538


def limits(one, **known):
    found = explain_evidence(one, Known(**known)).limits
    assert [limit.value for limit in found] == sorted(limit.value for limit in found)
    return {limit.name: limit for limit in found}


def rates(one, **known):
    return {name: limit.value for name, limit in limits(one, **known).items()}


def codes(notices):
    return [one.code for one in notices]


def test_the_line_by_what_is_in_its_packets():
    tcp, udp = Evidence(), Evidence(protocol="udp")
    assert rates(tcp, line_bps=1e8) == {"line": pytest.approx(1e8 * MSS / WIRE)}
    assert rates(tcp, line_bps=1e8, mtu_bytes=1000) == {"line": pytest.approx(1e8 * 948 / 1038)}
    stated = replace(tcp, mtu_bytes=1400.0)
    assert rates(stated, line_bps=1e8) == {"line": pytest.approx(1e8 * 1348 / 1438)}
    assert rates(stated, line_bps=1e8, mtu_bytes=1000) == {"line": pytest.approx(1e8 * 948 / 1038)}
    bare = replace(tcp, option_bytes=0.0)
    assert rates(bare, line_bps=1e8) == {"line": pytest.approx(1e8 * 1460 / WIRE)}
    assert rates(udp, line_bps=1e8) == {"line": pytest.approx(1e8 * 1472 / WIRE)}
    # 1473 + 8 are fragments of 1480 and 1, the second in the least frame: 64 + 20
    for size, name, wire in (
        (1472, "line", 1538),
        (1473, "fragments", 1538 + 84),
        (2000, "fragments", 1538 + 528 + 20 + 38),
        (100, "line", 166),
    ):
        found = rates(replace(udp, datagram_bytes=float(size)), line_bps=1e8)
        assert found == {name: pytest.approx(1e8 * size / wire)}
    seen = replace(udp, datagram_bytes=1000.0, payload_share=0.9)
    assert rates(seen, line_bps=1e8) == {"line": pytest.approx(0.9e8)}
    cut = replace(seen, fragment_ratio=0.5)
    assert rates(cut, line_bps=1e8) == {"fragments": pytest.approx(0.9e8)}
    assert rates(tcp) == {}
    assert limits(tcp, line_bps=1e8)["line"].tolerance_ratio == 0.04


def test_a_buffer_that_is_short():
    """With none, Reno's saw has three quarters of the line on the average, and CUBIC's more."""
    known = {"line_bps": 1e8, "rtt_s": 0.1}
    line = 1e8 * MSS / WIRE
    reno = rates(Evidence(), **known, buffer_bytes=1e-3, congestion_control="reno")
    assert reno["buffer"] == pytest.approx(0.75 * line, rel=1e-4)
    cubic = limits(Evidence(), **known, buffer_bytes=1e-3)["buffer"]
    assert 0.75 * line < cubic.value < line
    assert cubic.values["bdp_bytes"] == pytest.approx(1.25e6)
    assert cubic.tolerance_ratio == 0.05
    assert "buffer" not in rates(
        Evidence(), **known, buffer_bytes=1.25e6, congestion_control="reno"
    )
    assert "buffer" not in rates(Evidence(stream_count=2.0), **known, buffer_bytes=1e-3)
    assert "buffer" not in rates(Evidence(), **known, buffer_bytes=1e-3, congestion_control="bbr")
    assert "buffer" not in rates(Evidence(), line_bps=1e8, buffer_bytes=1e-3)


def test_devices_and_hosts():
    udp = Evidence(protocol="udp", datagram_bytes=500.0)
    assert rates(udp, device_pps=1000) == {"packet-rate": 4e6}
    assert rates(Evidence(protocol="udp"), device_pps=1000) == {"packet-rate": 8 * 1472e3}
    # two segments and an acknowledgement are three packets
    assert rates(Evidence(), device_pps=1000) == {"packet-rate": pytest.approx(8e3 * MSS * 2 / 3)}
    assert rates(replace(udp, sent_rate_bps=5e6)) == {}, "a sent rate is not its own cause"
    assert rates(replace(udp, sent_rate_bps=5e6, asked_rate_bps=4e6)) == {"offered": 4e6}
    assert rates(replace(udp, asked_rate_bps=0.0)) == {}
    assert rates(Evidence(rate_bps=1e6, processor_ratio=0.5)) == {"processor": 2e6}
    assert rates(Evidence(rate_bps=1e6, processor_ratio=0.05)) == {"processor": pytest.approx(2e7)}
    assert rates(Evidence(rate_bps=1e6, processor_ratio=0.049)) == {}
    assert rates(Evidence(rate_bps=0.0, processor_ratio=0.5)) == {}
    ends = Evidence(rate_bps=1e6, processor_ratio=0.5, receiver_processor_ratio=0.8)
    assert rates(ends) == {"processor": 2e6, "receiver-processor": 1.25e6}
    # Three threads together took 2.4 processors, 0.8 each; one stream has one thread.
    threads = Evidence(rate_bps=1e6, processor_ratio=2.4, stream_count=3.0)
    assert rates(threads) == {"processor": pytest.approx(1.25e6)}
    assert rates(replace(threads, stream_count=1.0)) == {}
    assert rates(Evidence(rate_bps=1e6, processor_ratio=1.05)) == {"processor": 1e6 / 1.05}


def test_windows():
    assert rates(Evidence(), rtt_s=0.04, window_bytes=65535) == {"window": pytest.approx(13.107e6)}
    two = Evidence(stream_count=2.0, rtt_s=0.08)
    assert rates(two, rtt_s=0.04, window_bytes=65535) == {"window": pytest.approx(13.107e6)}
    flow = Evidence(rtt_s=0.1, receive_window_bytes=1000.0)
    for flight, for_comparison in ((NAN, False), (799.0, True), (800.0, False), (1000.0, False)):
        found = limits(replace(flow, in_flight_bytes=flight))
        assert found["receive-window"].value == pytest.approx(80e3)
        assert found["receive-window"].for_comparison is for_comparison
        assert ("send-window" in found) is not math.isnan(flight)
    sent = Evidence(rtt_s=0.1, in_flight_bytes=500.0, is_window_steady=True)
    assert limits(sent)["send-window"].value == pytest.approx(40e3)
    assert limits(sent)["send-window"].for_comparison is False
    assert limits(sent, window_bytes=700)["send-window"].for_comparison is True
    assert limits(replace(sent, is_window_steady=False))["send-window"].for_comparison is True
    assert limits(sent)["send-window"].tolerance_ratio == 0.2
    assert rates(replace(sent, rtt_s=NAN)) == {}


@pytest.mark.each(
    ("loss", "named", "own"),
    [(0.001, "reno", "loss-mathis"), (0.001, None, "loss-cubic"), (0.001, "bbr", None),
     (0.02, "reno", "loss-mathis"), (0.5, "cubic", "loss-cubic")],
)  # fmt: skip
def test_losses(loss, named, own):
    known = {"rtt_s": 0.1, "loss_ratio": loss, "congestion_control": named}
    found = limits(Evidence(), **known)
    assert {name for name, one in found.items() if not one.for_comparison} == {own} - {None}
    assert set(found) == {"loss-mathis", "loss-cubic", "loss-pftk"}
    # published: Mathis 1997, 1.31 with SACK; derived: p of p wait for a timer of 0.3 s, doubled
    timer_s = 0.3 * (1 + sum(2**n * loss ** (n + 1) for n in range(6))) / (1 - loss)
    sack = MSS * 8 / (0.1 * loss**0.5 / 1.31 + loss**2 * timer_s)
    assert found["loss-mathis"].value == pytest.approx(sack)
    assert found["loss-pftk"].value < sack, "without SACK there are more timeouts"
    many = limits(Evidence(stream_count=3.0), **known)
    for name, one in found.items():
        assert many[name].value == pytest.approx(3 * one.value)
        assert one.tolerance_ratio == 0.6
        # RFC 6298 with a variation of 0 and Linux's least timeout of 200 ms
        assert one.values["rto_s"] == pytest.approx(0.3)


def test_what_is_stated_precedes_the_file():
    seen = Evidence(rtt_s=0.1, base_rtt_s=0.05, loss_ratio=0.001, congestion_control="Reno")
    assert not limits(seen)["loss-mathis"].for_comparison
    assert not limits(seen, congestion_control="cubic")["loss-cubic"].for_comparison
    assert limits(replace(seen, congestion_control="BBRv2"))["loss-cubic"].for_comparison
    stated = rates(seen, loss_ratio=0.004)["loss-mathis"]
    assert stated == pytest.approx(rates(seen)["loss-mathis"] / 2, rel=2e-3)
    assert not [name for name in rates(replace(seen, loss_ratio=0.0)) if name.startswith("loss")]
    assert not [name for name in rates(replace(seen, loss_ratio=1.0)) if name.startswith("loss")]


def test_the_start_of_a_transfer():
    """By hand: 69.06 segments in windows of 10, 20 and 40 are three rounds; so are 34.5."""
    one = Evidence(size_bytes=100_000.0)
    assert rates(one, rtt_s=0.1) == {"slow-start": pytest.approx(8e5 / 0.3)}
    assert rates(replace(one, stream_count=2.0), rtt_s=0.1) == {
        "slow-start": pytest.approx(8e5 / 0.3)
    }
    assert limits(one, rtt_s=0.1)["slow-start"].values["rounds"] == 3
    assert limits(one, rtt_s=0.1)["slow-start"].tolerance_ratio == 0.4
    assert rates(replace(one, is_from_start=False), rtt_s=0.1) == {}
    assert rates(replace(one, size_bytes=0.0), rtt_s=0.1) == {}
    assert rates(replace(one, size_bytes=0.5), rtt_s=0.1) == {"slow-start": pytest.approx(40)}
    late = replace(one, wait_count=2.0, wait_s=0.04)
    assert rates(late, rtt_s=0.1)["delayed-ack"] == pytest.approx(8e5 / (2 * 0.14))
    assert limits(late, rtt_s=0.1)["delayed-ack"].tolerance_ratio == 0.35
    assert "delayed-ack" not in rates(replace(late, wait_s=0.0), rtt_s=0.1)
    assert "delayed-ack" not in rates(replace(late, wait_count=0.0), rtt_s=0.1)
    datagrams = replace(late, protocol="udp")
    assert rates(datagrams, rtt_s=0.1, reverse_bps=1e4, window_bytes=1e4) == {}


def test_acknowledgements():
    """By hand: 40 + 12 + 38 bytes on the wire for two segments."""
    found = rates(Evidence(), reverse_bps=10e3)
    assert found == {"acknowledgements": pytest.approx(10e3 / (90 * 8) * 2 * MSS * 8)}


def notices(one, **known):
    return {n.code: dict(n.values) for n in explain_evidence(one, Known(**known)).notices}


def test_what_else_the_numbers_show():
    both = Evidence(protocol="udp", rate_bps=95.0, sent_rate_bps=100.0, received_rate_bps=95.0)
    assert notices(both) == {
        "sender-not-receiver": {
            "sent_bps": 100.0,
            "received_bps": 95.0,
            "share": pytest.approx(0.05),
            "layer": "UDP payload",
        }
    }
    assert notices(replace(both, received_rate_bps=97.0)) == {}
    assert list(notices(replace(both, received_rate_bps=105.0))) == ["receiver-counts-more"]
    assert notices(replace(both, received_rate_bps=NAN)) == {"sender-count-only": {}}
    assert notices(replace(both, sent_rate_bps=0.0)) == {}
    slow = Evidence(rate_bps=8e6, rtt_s=0.15, base_rtt_s=0.05)
    queue = notices(slow)["queue-in-buffer"]
    assert queue == {"rtt_s": 0.15, "base_rtt_s": 0.05, "queue_bytes": pytest.approx(1e5)}
    assert notices(replace(slow, rtt_s=0.1)) == {}, "twice is not more than twice"
    assert notices(replace(slow, rate_bps=0.0)) == {}
    paused = Evidence(gap_s=2.1, duration_s=10.0)
    assert notices(paused) == {"sender-paused": {"gap_s": 2.1, "duration_s": 10.0}}
    assert notices(replace(paused, gap_s=2.0)) == {}
    assert notices(Evidence(fragment_ratio=0.5)) == {"fragments-seen": {"share": 0.5}}
    line = 1e6 * MSS / WIRE
    above = notices(Evidence(rate_bps=1.05 * line), line_bps=1e6)["limit-refuted"]
    assert (above["value"], above["measured"]) == (pytest.approx(line), 1.05 * line)
    assert notices(Evidence(rate_bps=1.03 * line), line_bps=1e6) == {}


def test_what_is_asked_for():
    def asked(one, **known):
        return codes(explain_evidence(one, Known(**known)).missing)

    every = ["ask-line", "ask-rtt", "ask-window", "ask-loss"]
    assert asked(Evidence()) == every
    assert asked(Evidence(protocol="udp")) == ["ask-line"]
    assert asked(Evidence(), line_bps=1) == every[1:]
    assert asked(Evidence(), rtt_s=1) == ["ask-line", "ask-window", "ask-loss"]
    assert asked(Evidence(base_rtt_s=1.0)) == ["ask-line", "ask-window", "ask-loss"]
    assert asked(Evidence(), window_bytes=1) == ["ask-line", "ask-rtt", "ask-loss"]
    assert asked(Evidence(receive_window_bytes=1.0)) == ["ask-line", "ask-rtt", "ask-loss"]
    assert asked(Evidence(), loss_ratio=0) == ["ask-line", "ask-rtt", "ask-window"]
    assert asked(Evidence(loss_ratio=0.0)) == ["ask-line", "ask-rtt", "ask-window"]


LINE = {"line_bps": 1e9, "payload_bytes": 1448, "wire_bytes": 1538}
WINDOW = {"window_bytes": 65535, "rtt_s": 0.04, "streams": 1}


def line_of(value, tolerance=0.04, comparison=False):
    return Limit("line", value, "bit/s", tolerance, LINE, comparison)


def window_of(value, tolerance=0.2, comparison=False):
    return Limit("window", value, "bit/s", tolerance, WINDOW, comparison)


def test_a_limit_and_a_measurement():
    one = window_of(100.0)
    agreeing = {83.0: False, 83.4: True, 100.0: True, 120.0: True, 121.0: False}
    for measured, agrees in agreeing.items():
        assert one.agrees(measured) is agrees, measured
    assert not window_of(0.0).agrees(0.0)
    assert (one.refuted(120.0), one.refuted(120.1)) == (False, True)


def test_the_limit_that_binds():
    def finding(measured, *found):
        return Finding(measured=measured, limits=found)

    both = finding(100.0, window_of(95.0), line_of(101.0))
    assert (both.binding.name, both.following.name) == ("line", "window")
    assert both.share_ratio == pytest.approx(100 / 101)
    near = finding(100.0, window_of(90.0), window_of(101.0), line_of(300.0))
    assert near.binding.value == 101.0, "of those known as well the nearest"
    assert near.following.name == "line", "what is above it comes next"
    gap = finding(50.0, window_of(100.0), line_of(200.0))
    assert (gap.binding.name, gap.is_explained, gap.confidence) == ("window", False, "low")
    assert gap.said.code == "explained-gap"
    refuted = finding(150.0, window_of(100.0), line_of(150.0))
    assert [one.name for one in refuted.candidates] == ["line"]
    compared = finding(100.0, window_of(100.0, comparison=True), line_of(200.0))
    assert compared.binding.name == "line"
    ceiling = finding(NAN, window_of(100.0), line_of(200.0))
    assert (ceiling.binding.name, ceiling.confidence) == ("window", "low")
    assert ceiling.said.code == "explained-ceiling-next"
    assert finding(NAN, window_of(100.0)).said.code == "explained-ceiling"
    assert finding(100.0, window_of(100.0)).said.code == "explained-rate"
    assert both.said.code == "explained-rate", "a limit that was exceeded is not the next"
    above = finding(100.0, window_of(105.0), line_of(101.0))
    assert (above.said.code, above.following.value) == ("explained-rate-next", 105.0)
    assert (both.said.values["next_value"], both.said.values["value"]) == (95.0, 101.0)
    empty = finding(100.0)
    assert (empty.binding, empty.following, empty.said.code) == (None, None, "explained-nothing")
    assert math.isnan(empty.share_ratio)
    assert math.isnan(finding(100.0, window_of(0.0)).share_ratio)
    for found, confidence in (
        ((window_of(100.0),), "high"), ((window_of(100.0, 0.21),), "medium"),
        ((line_of(100.0), window_of(150.0)), "high"),
        ((line_of(100.0), window_of(149.0)), "medium"),
    ):  # fmt: skip
        assert finding(100.0, *found).confidence == confidence
    text = both.sentence
    assert text[0].isupper()
    assert text.endswith(".")
    assert str(both.said)[1:] == text[1:-1]
    rows = finding(50.0, window_of(100.0), line_of(200.0, comparison=True)).rows()
    assert [row[2] for row in rows] == ["50%", "25%, for comparison"]
    unknown = finding(NAN, window_of(100.0), line_of(200.0, comparison=True)).rows()
    assert [row[2] for row in unknown] == ["", ""]


def test_the_largest_part_of_a_time():
    def part(name, value):
        return Limit(name, value, "s", 0.2, {"base_rtt_s": value, "measured_s": 1.0})

    for largest, confidence in ((0.8, "high"), (0.79, "medium")):
        found = Finding(
            unit="s", measured=1.0, limits=(part("distance", largest), part("queue", 0.2))
        )
        assert (found.share_ratio, found.confidence) == (pytest.approx(largest), confidence)
        assert (found.binding.name, found.following.name) == ("distance", "queue")
        assert (found.is_explained, found.said.code) == (True, "explained-time-next")
    alone = Finding(unit="s", measured=1.0, limits=(part("distance", 1.0),))
    assert alone.said.code == "explained-time"
    assert Finding(unit="s", measured=1.0).is_explained is False


def test_parts_of_round_trips():
    """By hand: 56 + 8 + 20 bytes in a frame are 102 + 20 = 122; twice 976 bit of 1 Mbit/s."""
    rtts = [0.01, 0.02, 0.03]
    samples = RttSamples(payload_bytes=[56.0] * 3, rtt_s=rtts)
    found = measurement(samples, Known(rtt_s=0.008, line_bps=1e6))[0]
    parts = {one.name: one.value for one in found.limits}
    assert parts == pytest.approx({"queue": 0.012, "serialization": 2 * 976e-6,
                                   "distance": 0.008 - 2 * 976e-6})  # fmt: skip
    assert [one.value for one in found.limits] == sorted(parts.values(), reverse=True)
    said = {one.code: one.values for one in found.notices}
    assert said["queue-behind-line"]["queue_bytes"] == pytest.approx(2750)  # 30 - 8 ms, the slowest
    assert found.missing == ()
    plain = measurement(samples)[0]
    assert {one.name: one.value for one in plain.limits} == pytest.approx(
        {"queue-above-least": 0.01, "distance": 0.01}
    )
    assert codes(plain.missing) == ["ask-idle-rtt", "ask-line"]
    assert codes(plain.notices) == ["few-answers"]
    large = RttSamples(payload_bytes=[1472.0, 1473.0], rtt_s=[0.01, 0.01], lost=[False, False])
    cut = {one.code: one.values for one in measurement(large)[0].notices}
    assert cut == {
        "largest-size-explained": {"count": 2, "size_bytes": 1473.0},
        "probes-in-fragments": {"count": 2, "mtu_bytes": 1500.0, "size_bytes": 1473.0},
    }
    lost = RttSamples(payload_bytes=[56.0] * 8, rtt_s=[0.01, NAN, NAN, *[0.01] * 5],
                      lost=[False, True, True, *[False] * 5])  # fmt: skip
    assert {one.code: one.values for one in measurement(lost)[0].notices} == {
        "probes-lost": {"loss_ratio": 0.25},
    }  # fmt: skip


def test_the_slowest_are_explained_where_they_are_far_slower():
    """By hand: the slowest of nine is ten times the median, and 90 ms more."""
    samples = RttSamples(payload_bytes=[56.0] * 9, rtt_s=[0.01] * 8 + [0.1])
    found = measurement(samples)[0]
    assert found.measured == pytest.approx(0.1)
    assert codes(found.notices) == ["slowest-alone-explained"]
    few = RttSamples(payload_bytes=[56.0] * 9, rtt_s=[0.001] * 8 + [0.02])
    assert measurement(few)[0].measured == pytest.approx(0.001), "by less than 20 ms"
    ratio = RttSamples(payload_bytes=[56.0] * 9, rtt_s=[0.1] * 8 + [0.3])
    assert measurement(ratio)[0].measured == pytest.approx(0.1), "by no more than three times"


def test_parts_of_responses():
    def parts(times, **known):
        samples = TransactionSamples(
            mode=["a"] * len(times), sequence=list(range(len(times))),
            payload_bytes=[9.0] * len(times), response_s=times,
        )  # fmt: skip
        found = measurement(samples, Known(**known))[0]
        return {one.name: one.value for one in found.limits}, codes(found.missing)

    assert parts([0.0412], rtt_s=0.001) == (
        pytest.approx({"ack-timer": 0.0402, "round-trips": 0.001}), [],
    )  # fmt: skip
    # 60 ms: two round trips of 10 ms and the timer
    assert parts([0.06], rtt_s=0.01)[0] == pytest.approx({"ack-timer": 0.04, "round-trips": 0.02})
    assert parts([0.025], rtt_s=0.01)[0] == pytest.approx({"host": 0.015, "round-trips": 0.01})
    assert parts([0.01, 0.01, 0.01]) == ({"round-trips": 0.01}, ["ask-rtt"])


def test_hops_that_add():
    samples = PathSamples(
        hop=[1, 1, 2, 3, 3], rtt_s=[0.002, 0.001, 0.009, 0.004, 0.005],
        node=["a", "", "b", "", "c"], lost=[False] * 5,
    )  # fmt: skip
    found = measurement(samples)[0]
    # the least of hop 3 is 4 ms, so hop 2 answers slowly; both were reached within 4
    assert [(one.values["hop"], one.value, one.values["node"]) for one in found.limits] == [
        (2, pytest.approx(0.003), "b"), (1, pytest.approx(0.001), "a"),
    ]  # fmt: skip
    assert found.measured == 0.004
    assert [(one.code, one.values) for one in found.notices] == [("slow-answers", {"hops": [2]})]
    assert found.missing == (), "a stated round trip would change nothing"
    assert found.confidence == "low", "what hop 2 adds may be of the link behind it"


def flow(*, printed=None, intervals=None, **facts):
    columns = intervals or {"start_s": [0.0], "duration_s": [1.0], "payload_bytes": [1.0]}
    return FlowSeries(**columns, meta=Meta(facts=(facts,), printed=printed or {}))


def test_what_a_row_of_facts_says():
    one = from_facts(flow(
        group="g", direction="upload", protocol="udp", sent_rate_bps=5.0, received_rate_bps=4.0,
        sent_byte_count=1000, received_byte_count=900, datagram_count=10, duration_s=2.0,
        stream_count=3, rtt_s=0.2, rtt_min_s=0.1, loss_ratio=0.25, mss_bytes=1400, omitted_s=1.0,
        congestion_control="cubic",
    ))[0]  # fmt: skip
    expected = Evidence(
        label="g, upload", direction="upload", protocol="udp", rate_bps=4.0, sent_rate_bps=5.0,
        received_rate_bps=4.0, size_bytes=900.0, duration_s=2.0, stream_count=3.0,
        is_from_start=False, rtt_s=0.2, base_rtt_s=0.1, loss_ratio=0.25, mtu_bytes=1452.0,
        datagram_bytes=100.0, congestion_control="cubic",
    )  # fmt: skip
    for name in Evidence.__dataclass_fields__:
        np.testing.assert_equal(getattr(one, name), getattr(expected, name), err_msg=name)
    least = {"sent_rate_bps": 5.0, "sent_byte_count": 1000, "datagram_count": 0, "omitted_s": 0.0}
    sent = from_facts(flow(**least))[0]
    assert (sent.rate_bps, sent.size_bytes, sent.is_from_start) == (5.0, 1000.0, True)
    assert math.isnan(sent.datagram_bytes)
    assert from_facts(flow(duration_s=2.0)) == []
    # by hand: 144800 bytes are a hundred segments of 1448; 100 of 200 were sent again
    again = from_facts(flow(sent_rate_bps=5.0, sent_byte_count=144800, retransmit_count=100))[0]
    assert again.loss_ratio == pytest.approx(0.5)


def test_what_a_tool_prints_of_its_sockets():
    printed = {"mss_bytes": 1000, "write_bytes": 700, "asked_rate_bps": 3.0,
               "client_processor_ratio": 0.5, "server_processor_ratio": 0.25,
               "streams": [{"rtt_min_s": 0.3}, {"rtt_min_s": 0.2}, 7, {"rtt_min_s": 0.0}],
    }  # fmt: skip
    way = {"sent_rate_bps": 5.0, "direction": "upload", "printed": printed}
    tcp = from_facts(flow(stream_count=2, **way))[0]
    assert (tcp.mtu_bytes, tcp.asked_rate_bps, tcp.processor_ratio) == (1052, 6.0, 0.5)
    assert tcp.receiver_processor_ratio == 0.25
    assert tcp.base_rtt_s == 0.2
    assert math.isnan(tcp.datagram_bytes)
    back = from_facts(flow(**{**way, "direction": "download"}))[0]
    assert (back.processor_ratio, back.receiver_processor_ratio) == (0.25, 0.5)
    unknown = from_facts(flow(sent_rate_bps=5.0, printed=printed))[0]
    assert math.isnan(unknown.processor_ratio)
    assert math.isnan(unknown.receiver_processor_ratio)
    udp = from_facts(flow(sent_rate_bps=5.0, protocol="udp", printed=printed))[0]
    assert udp.datagram_bytes == 700


def test_what_the_intervals_say():
    """By hand: the windows of the second half, without those that are not known."""

    def intervals(windows, again):
        count = len(windows)
        return {
            "start_s": [float(n) for n in range(count)], "duration_s": [1.0] * count,
            "payload_bytes": [1.0] * count, "cwnd_bytes": windows, "retransmit_count": again,
            "rtt_s": [0.03, 0.0, 0.05, 0.01][:count],
            "path_mtu_bytes": [1500.0, 0.0, 1400.0, NAN][:count],
        }  # fmt: skip

    steady = from_facts(flow(sent_rate_bps=5.0, intervals=intervals([10.0, 0.0, 100.0, 102.0],
                                                                  [0.0] * 4)))[0]  # fmt: skip
    assert (steady.in_flight_bytes, steady.is_window_steady) == (101, True)
    assert (steady.rtt_s, steady.base_rtt_s, steady.mtu_bytes) == (0.03, 0.01, 1400)
    assert steady.retransmit_count == 0
    grows = from_facts(flow(sent_rate_bps=5.0, intervals=intervals([9.0, 9.0, 100.0, 106.0],
                                                                 [0.0] * 4)))[0]  # fmt: skip
    assert grows.is_window_steady is False
    again = from_facts(
        flow(sent_rate_bps=5.0, intervals=intervals([9.0, 9.0, 100.0, 100.0], [1.0, NAN, 2.0, 0.0]))
    )[0]
    assert (again.is_window_steady, again.retransmit_count) == (False, 3)


def test_the_middle_transfer_of_a_group():
    samples = TransferSamples(
        payload_bytes=[100.0, 100.0, 100.0, 50.0, 70.0], duration_s=[1.0, 2.0, 4.0, 1.0, 0.0],
        group=["a", "a", "a", "b", "b"],
    )  # fmt: skip
    found = from_transfers(samples)
    assert [(one.label, one.rate_bps, one.size_bytes, one.duration_s) for one in found] == [
        ("a", 400, 100, 2), ("b", 400, 50, 1),
    ]  # fmt: skip


def test_counters_and_columns():
    counters = Table(data={"counter": np.array(["TcpOutSegs", "TcpRetransSegs"], object),
                           "value": np.array([1000.0, 10.0])})  # fmt: skip
    found = measurement(counters, Known(rtt_s=0.1))[0]
    said = found.notices[0]
    assert (said.code, said.values) == (
        "segments-again",
        {"count": 10, "total": 1000, "share": 0.01},
    )
    mathis = next(one for one in found.limits if one.name == "loss-mathis")
    assert mathis.value == pytest.approx(MSS * 8 / 0.1 * 1.31 / 0.1, rel=0.01)
    data = {f"c{n}": np.array([1.0, NAN, 3.0]) for n in range(9)}
    data["c1"] = np.array(["x", "y", "x"], object)
    text = described(Table(data=data, meta=Meta(units={"c0": "s", "c2": "byte"})))
    assert text[0].values == {"name": "c0", "unit": "s", "low": 1.0, "high": 3.0, "count": 2}
    assert (text[1].code, text[1].values) == ("column-of-text", {"name": "c1", "count": 2})
    assert text[3].values["unit"] == "no unit"
    assert [one.code for one in text[8:]] == [
        "columns-more", "may-be-sizes-and-times", "name-the-columns",
    ]  # fmt: skip
    assert text[8].values == {"count": 1}
    eight = described(Table(data={f"c{n}": np.ones(1) for n in range(8)}))
    assert [one.code for one in eight[8:]] == ["may-be-anything", "name-the-columns"]
    wall = {name: np.ones(1) for name in ("size_bytes", "wall_s")}
    units = Meta(units={"size_bytes": "byte", "wall_s": "s"})
    assert described(Table(data=wall, meta=units))[-1].code == "writes-without-count"
    counted = Table(data={**wall, "write": np.ones(1)}, meta=units)
    assert described(counted)[-1].code == "name-the-columns"


def models(text, known, **more):
    return {one.name: (one.value, one.is_right) for one in claim(text, known, **more).models}


def test_every_model_of_a_rate_by_hand():
    """The frame and its 20 bytes of preamble and gap; 94 Mbit/s has a prefix of two powers."""
    found = models("94 Mbit/s", Known(line_bps=1e8))
    line = {
        "tcp-timestamps": MSS / WIRE, "tcp-plain": 1460 / WIRE, "udp": 1472 / WIRE,
        "frames": 1518 / WIRE,
    }  # fmt: skip
    for name, share in line.items():
        assert found[name] == (pytest.approx(1e8 * share), True)
    wrong = {"no-preamble": 1e8 * MSS / 1518, "no-fcs": 1e8 * MSS / 1534, "constant-overhead": 94e6}
    for name, value in wrong.items():
        assert found[name] == (pytest.approx(value), False)
    assert "constant-overhead" not in models("5 Mbit/s", Known(line_bps=6e6))
    window = models("6 Mbit/s", Known(rtt_s=0.08, window_bytes=10_000))
    assert window["window"] == (pytest.approx(1e6), True)
    assert window["one-way"] == (pytest.approx(2e6), False)
    loss = models("6 Mbit/s", Known(rtt_s=0.1, loss_ratio=0.01, mtu_bytes=1000))
    assert loss["mathis"] == (pytest.approx(948 * 8 / 0.1 * math.sqrt(150)), True)
    assert loss["mathis-of-one"] == (pytest.approx(948 * 8 / 0.1 * 10), False)
    seen = models(
        "6 Mbit/s",
        Known(line_bps=1e8),
        evidence=Evidence(received_rate_bps=0.5, sent_rate_bps=0.25),
    )
    assert seen["receiver"] == (0.5, True)
    assert seen["sender"] == (0.25, False)
    none = models(
        "6 Mbit/s", Known(line_bps=1e8), evidence=Evidence(received_rate_bps=0.0, sent_rate_bps=5.0)
    )
    assert not {"receiver", "sender"} & set(none)
    packets = models("1 kpps", Known(line_bps=1e8), frame_bytes=64)
    assert packets == {
        "frame-rate": (pytest.approx(1e8 / 672), True),
        "frames-without-gap": (pytest.approx(1e8 / 512), False),
        "frames-without-fcs": (pytest.approx(1e8 / 640), False),
        "frames-without-preamble": (pytest.approx(1e8 / 608), False),
        "frames-without-preamble-and-fcs": (pytest.approx(1e8 / 576), False),
        "frames-as-captured": (pytest.approx(1e8 / 480), False),
        "both-directions": (pytest.approx(1e8 / 336), False),
    }


def test_devices_are_recognized_by_two_sizes():
    def table(rates):
        return Table(data={"frame_bytes": np.array([64.0, 128.0]), "rate_pps": np.array(rates)})

    equal = measurement(table([1000.0, 1000.0]))
    assert [[one.name for one in each.limits] for each in equal] == [["packet-rate"]] * 2
    known = Known(line_bps=1e8)
    line = [1e8 / (8 * 84), 1e8 / (8 * 148)]
    one_below = measurement(table([1000.0, line[1]]), known)
    assert [[one.name for one in each.limits] for each in one_below] == [["line"]] * 2
    for name in ("subject", "arithmetic", "assumption", "test"):
        assert str(getattr(equal[0].limits[0], name)), name


def test_an_answer_has_no_doubts_of_the_controls_beside_it():
    """Identity: 5 % is within BBR's tolerance, and beyond the range of CUBIC's rate."""
    path = Path.parse("1 Gbit/s 20 ms")
    with doubts() as found:
        rate(path, loss_ratio=0.05, congestion_control="bbr")
    assert found == []
    with doubts() as found:
        rate(path, loss_ratio=0.05, congestion_control="cubic")
    assert found != []
