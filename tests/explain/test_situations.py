"""Situations of known truth: the limit that was built in is the one that is named."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, ReaderError
from netcalc.explain import Evidence, Known, explain_evidence, measurement
from netcalc.samples import (
    FlowSeries,
    Meta,
    PathSamples,
    RttSamples,
    Table,
    TransactionSamples,
    TransferSamples,
)


def flow(rate_bps, *, seconds=10.0, printed=None, **facts):
    """Return a transfer as iperf3 reports it, with what the receiver counted."""
    size = rate_bps * seconds / 8
    row = {"protocol": "tcp", "received_rate_bps": rate_bps, "received_byte_count": size,
           "duration_s": seconds, **facts}  # fmt: skip
    meta = Meta(tool="iperf3", facts=(row,), printed=printed or {})
    return FlowSeries(
        start_s=[0.0], duration_s=[seconds], payload_bytes=[size], throughput_bps=[rate_bps],
        meta=meta,
    )  # fmt: skip


def pings(rtt_s, **columns):
    count = len(rtt_s)
    return RttSamples(payload_bytes=[56.0] * count, rtt_s=rtt_s, **columns)


WINDOW = flow(12.9e6)
SLOW_START = TransferSamples(payload_bytes=[100_000.0], duration_s=[0.31])
STALL = TransactionSamples(
    mode=["writes"] * 5, sequence=[1, 2, 3, 4, 5], payload_bytes=[200.0] * 5,
    response_s=[0.0412, 0.0415, 0.0411, 0.0409, 0.0413],
)  # fmt: skip
DEVICE = Table(
    data={
        "frame_bytes": [64.0, 256.0, 512.0, 1518.0],
        "rate_pps": [9990.0, 10010.0, 9980.0, 8100.0],
    },
    meta=Meta(units={"frame_bytes": "byte", "rate_pps": "packet/s"}),
)
TWO_COUNTS = flow(
    95.6e6, protocol="udp", sent_rate_bps=200e6, datagram_count=170_068, sent_byte_count=250e6
)
BLOATED = pings([0.020, 0.38, 0.41, 0.42, 0.43, 0.45, 0.40])
FRAGMENTS = flow(
    91.8e6, protocol="udp", sent_rate_bps=96e6, sent_byte_count=1472e3, datagram_count=1000
)
LOSSY = flow(9.0e6, retransmit_count=7.8, congestion_control="reno", rtt_min_s=0.05)
FULL_LINE = flow(939e6, retransmit_count=200, rtt_min_s=0.001, congestion_control="cubic")
COARSE = pings([0.001, 0.001, 0.0, 0.001], resolution_s=[0.001] * 4)

SITUATIONS = [
    # 65,535 B x 8 / 40 ms = 13.107 Mbit/s (RFC 6349, 2)
    ("window", WINDOW, Known(rtt_s=0.04, line_bps=1e9, window_bytes=65535), "window", 13.107e6),
    # 100,000 / 1448 = 69.06 segments: 10 + 20 + 40, three rounds of 100 ms: 8e5 bit / 0.3 s
    ("slow start", SLOW_START, Known(rtt_s=0.1, line_bps=1e9), "slow-start", 2.6667e6),
    # 41.2 ms less a round trip of 1 ms
    ("stall", STALL, Known(rtt_s=0.001), "ack-timer", 0.0402),
    # 8 x 64 B x 9990/s, the middle of the three equal rates
    ("pps", DEVICE, Known(line_bps=100e6), "packet-rate", 8 * 64 * 9990.0),
    # 1470 / (1470 + 28 + 38) of 100 Mbit/s
    ("two counts", TWO_COUNTS, Known(line_bps=100e6), "line", 95.703e6),
    # median 410 ms less 20 ms
    ("bufferbloat", BLOATED, Known(rtt_s=0.02, line_bps=10e6), "queue", 0.39),
    # 1480 B of IP payload in 1400 + 80: packets of 1420 and 100 B, 1458 + 138 B on the wire
    ("VPN", FRAGMENTS, Known(line_bps=100e6, mtu_bytes=1420), "fragments", 1e8 * 1472 / 1596),
    # 7.8 / (11.25e6 / 1448 + 7.8) = 0.1003 %: 1448 x 8 / 0.05 x 1.31 / sqrt(0.001003), and 0.25 s
    # for each lost repair
    ("loss", LOSSY, Known(line_bps=1e9), "loss-mathis", 9.581e6),
    # 1448 / 1538 of 1 Gbit/s
    ("line", FULL_LINE, Known(line_bps=1e9), "line", 941.48e6),
    ("instrument", COARSE, Known(), "clock", 0.001),
]


@pytest.mark.each(("name", "samples", "known", "limit", "value"), SITUATIONS)
def test_the_limit_that_was_built_in_is_named(name, samples, known, limit, value):
    found = measurement(samples, known)[0]
    assert found.binding is not None
    assert found.binding.name == limit, f"{name}: {found}"
    assert found.binding.value == pytest.approx(value, rel=1e-3), name
    assert found.is_explained
    sure = ("high", "medium") if limit != "clock" else ("low",)  # a clock is no cause
    assert found.confidence in sure


@pytest.mark.each(("name", "samples", "known", "limit", "value"), SITUATIONS)
def test_everything_about_a_finding_can_be_said(name, samples, known, limit, value):
    for found in measurement(samples, known):
        text, document = str(found), found.as_dict()
        assert found.sentence in text
        assert "To confirm:" in text
        assert document["binding"] == found.binding.name
        assert {row["name"] for row in document["limits"]} == {one.name for one in found.limits}
        assert all(row["arithmetic"] and row["test"] for row in document["limits"])
        assert "{" not in text, "every value of every sentence is there"


def test_the_largest_frames_fill_the_line():
    """Derived: 100 Mbit/s / (8 x 1538 B) = 8127 frames per second (RFC 2544); 8100 were seen."""
    found = measurement(DEVICE, Known(line_bps=100e6))
    assert [one.binding.name for one in found] == ["packet-rate"] * 3 + ["line"]
    assert found[3].binding.value == pytest.approx(8 * 1518 * 8127.4, rel=1e-4)
    stated = measurement(DEVICE, Known(line_bps=100e6, device_pps=10_000))
    assert stated[0].binding.value == pytest.approx(8 * 64 * 10_000)


def test_the_receiver_s_number_is_the_rate():
    found = measurement(TWO_COUNTS, Known(line_bps=100e6))[0]
    said = {one.code: one.values for one in found.notices}
    assert found.measured == 95.6e6
    # derived: 1 - 95.6 / 200
    assert said["sender-not-receiver"]["share"] == pytest.approx(0.522)


def test_losses_of_a_full_line_do_not_hide_the_line():
    """The formula of CUBIC agrees too, within its factor; the line is known better."""
    found = measurement(FULL_LINE, Known(line_bps=1e9))[0]
    loss = next(one for one in found.limits if one.name == "loss-cubic")
    assert loss.agrees(found.measured)
    assert found.binding.name == "line"


def test_loss_is_uncertain_while_the_line_is_unknown():
    """The full buffer of an unknown line loses packets too, and the formulas agree with it."""
    unknown = measurement(LOSSY)[0]
    assert unknown.binding.name == "loss-mathis"
    assert unknown.confidence == "low"
    assert {one.code for one in unknown.notices} == {"loss-or-line"}
    assert "state --line" in str(unknown)
    known = measurement(LOSSY, Known(line_bps=1e9))[0]
    assert known.confidence == "medium"
    assert known.notices == ()
    window = measurement(WINDOW, Known(rtt_s=0.04, window_bytes=65535, loss_ratio=1e-6))[0]
    assert (window.binding.name, window.confidence) == ("window", "high")
    assert window.notices == (), "loss far above the rate is no explanation"


def test_a_gap_is_no_explanation():
    found = measurement(flow(3e6), Known(rtt_s=0.04, line_bps=1e9, window_bytes=65535))[0]
    assert not found.is_explained
    assert found.said.code == "explained-gap"
    assert found.confidence == "low"


def test_a_limit_below_the_measurement_is_refuted():
    """Twice the window's rate was measured: the window was not the one that was stated."""
    found = measurement(flow(26e6), Known(rtt_s=0.04, line_bps=1e9, window_bytes=65535))[0]
    assert found.binding.name != "window"
    assert "limit-refuted" in {one.code for one in found.notices}


def test_what_is_not_known_is_asked_for():
    found = measurement(flow(5e6))[0]
    assert found.limits == ()
    assert found.said.code == "explained-nothing"
    asked = {one.code for one in found.missing}
    assert asked == {"ask-line", "ask-rtt", "ask-window", "ask-loss"}


@pytest.mark.each(
    ("evidence", "known", "limit", "value", "source"),
    [
        ({"processor_ratio": 0.99}, Known(), "processor", 1e8 / 0.99, "derived: over its share"),
        ({"asked_rate_bps": 1e8}, Known(), "offered", 1e8, "derived: as asked for"),
        # 64 kbit/s / 720 bit x 2 x 11,584 bit, as in tests/test_explain.py
        (
            {"rate_bps": 2.0e6}, Known(reverse_bps=64e3), "acknowledgements",
            64e3 / 720 * 2 * 1448 * 8, "derived: ACKs of 90 B for two segments",
        ),
        (
            {"receive_window_bytes": 125_000.0, "in_flight_bytes": 125_000.0, "rtt_s": 0.01},
            Known(), "receive-window", 1e8, "derived: 1 Mbit per 10 ms",
        ),
        (
            {"in_flight_bytes": 125_000.0, "rtt_s": 0.01, "is_window_steady": True},
            Known(), "send-window", 1e8, "derived: 1 Mbit per 10 ms",
        ),
        # 12,500 B with 2 waits of 40 ms and a round trip of 10 ms each: 1e5 bit / 0.1 s
        (
            {"rate_bps": 1e6, "size_bytes": 12_500.0, "wait_count": 2, "wait_s": 0.04,
             "base_rtt_s": 0.01},
            Known(), "delayed-ack", 1e6, "derived: 100 ms of waits",
        ),
        # CUBIC without a buffer: mean of 1 - 0.3 (1 - t/K)^3 is 1 - 0.3 / 4, of 94.148 Mbit/s
        (
            {"rate_bps": 80e6, "base_rtt_s": 0.1}, Known(line_bps=100e6, buffer_bytes=1e-3),
            "buffer", 0.925 * 94.148e6, "derived: theory of the sawtooth",
        ),
    ],
)  # fmt: skip
def test_other_limits(evidence, known, limit, value, source):
    found = explain_evidence(Evidence(**{"rate_bps": 1e8, **evidence}), known)
    assert found.binding.name == limit, source
    assert found.binding.value == pytest.approx(value, rel=1e-3), source
    assert "{" not in str(found)


def test_loss_by_three_formulas():
    """Derived by hand: 1 % loss, 1448 B, 50 ms; CUBIC by RFC 9438, 5.1; PFTK by its eq. 32."""
    found = explain_evidence(Evidence(rate_bps=2e6, rtt_s=0.05, loss_ratio=0.01), Known())
    rates = {one.name: one.value for one in found.limits}
    assert rates["loss-mathis"] == pytest.approx(8 * 1448 / 0.05 * 1.31 / 0.1, rel=0.01)
    packets = (0.4 * 3.7 / 1.2) ** 0.25 * (0.05 / 0.01) ** 0.75  # below Reno's 13.1: that holds
    assert packets < 13.1
    assert rates["loss-cubic"] == pytest.approx(rates["loss-mathis"])
    assert rates["loss-pftk"] < rates["loss-mathis"]
    own = [
        one.name for one in found.limits if one.name.startswith("loss") and not one.for_comparison
    ]
    assert own == ["loss-cubic"], "a sender has SACK"
    bbr = explain_evidence(
        Evidence(rate_bps=2e6, rtt_s=0.05, loss_ratio=0.01, congestion_control="bbr"), Known()
    )
    assert all(one.for_comparison for one in bbr.limits if one.name.startswith("loss"))


def test_a_hop_adds_what_is_beyond_the_hops_before():
    """Derived: minima 1, 30, 11 and 12 ms: hop 2 answers slowly, hop 3 adds 10 ms of the 12."""
    path = PathSamples(
        hop=[1, 1, 2, 3, 4, 4], rtt_s=[0.001, 0.005, 0.030, 0.011, 0.012, np.nan],
        lost=[False, False, False, False, False, True], node=["a", "a", "b", "c", "d", ""],
    )  # fmt: skip
    found = measurement(path)[0]
    assert (found.binding.values["hop"], found.binding.values["node"]) == (2, "b")
    assert found.binding.value == pytest.approx(0.010)
    assert found.measured == pytest.approx(0.012)
    assert {one.code: one.values for one in found.notices} == {"slow-answers": {"hops": [2]}}


def test_counters_give_a_ceiling_without_a_measurement():
    counters = Table(
        data={"counter": ["TcpOutSegs", "TcpRetransSegs"], "value": [100_000.0, 100.0]},
        meta=Meta(units={"value": "1"}),
    )
    found = measurement(counters, Known(rtt_s=0.1, congestion_control="reno"))[0]
    # derived: 0.1 % loss: 1448 x 8 / 0.1 x 1.31 / 0.031623
    assert found.binding.value == pytest.approx(4.7987e6, rel=1e-3)
    assert found.said.code == "explained-ceiling"
    assert found.notices[0].values["share"] == pytest.approx(0.001)


def test_a_grown_round_trip_is_a_queue():
    """Derived: 80 ms more at 10 Mbit/s are 100,000 B in a buffer."""
    found = explain_evidence(Evidence(rate_bps=10e6, rtt_s=0.1, base_rtt_s=0.02), Known())
    said = {one.code: one.values for one in found.notices}
    assert said["queue-in-buffer"]["queue_bytes"] == pytest.approx(100_000)


def test_columns_without_a_theory_are_refused():
    with pytest.raises(ReaderError) as refused:
        measurement(Table(data={"beds": [1.0, 2.0]}))
    assert refused.value.code == "nothing-to-explain"


@pytest.mark.each(
    ("wrong", "code"),
    [
        ({"rtt_s": 0.0}, "not-positive"),
        ({"line_bps": -1.0}, "not-positive"),
        ({"loss_ratio": 1.5}, "percent-for-ratio"),
        ({"congestion_control": "vegas"}, "not-a-choice"),
    ],
)
def test_impossible_facts_are_refused(wrong, code):
    with pytest.raises(DomainError) as refused:
        Known(**wrong)
    assert refused.value.code == code
