"""The time of a transfer against a simulation of its rounds, and against what others found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.congestion import theory
from netcalc.errors import DomainError
from netcalc.models.rates.goodput import tcp_goodput_bps
from netcalc.models.tcp import ceilings, cubic, loss_limited
from netcalc.models.tcp.transfer_time import transfer_parts, transfer_time_s
from netcalc.scenario import Bottleneck, Flow, Scenario

LINE = {"bandwidth_bps": 1e9, "rtt_s": 0.04}
CLOCK_S = 1538 * 8 / 1e9


def rounds_s(segments, *, rtt_s, clock_s, largest=math.inf, answer=None, loss=0.0, first=10.0):
    """Send round by round: a window, then a pause unless the line is full; losses at random.

    ``answer`` returns the window of the next round from that of this one, the time since the last
    loss and the window at it; without one the window doubles, and no segment is lost.
    """
    window, time_s, sent, at_loss, since_s = min(first, largest), 0.0, 0.0, 0.0, 0.0
    rng = np.random.default_rng(1)
    next_loss = rng.exponential(1 / loss) if loss else math.inf
    while segments - sent > window * (1 + 1e-9):
        round_s = max(rtt_s, window * clock_s)
        sent, time_s, since_s = sent + window, time_s + round_s, since_s + round_s
        if sent >= next_loss:
            next_loss = sent + rng.exponential(1 / loss)
            at_loss, since_s = window, 0.0
        is_growing = at_loss == 0.0
        window = 2 * window if is_growing else answer(window, since_s, at_loss)
        window = min(window, largest, 2 * rtt_s / clock_s)
    return time_s + (segments - sent) * clock_s


def reno(window, since_s, at_loss):
    return at_loss / 2 if not since_s else window + 1


def cubic_curve(window, since_s, at_loss):
    plateau_s = (at_loss * 0.3 / 0.4) ** (1 / 3)
    return 0.4 * (since_s - plateau_s) ** 3 + at_loss


@pytest.mark.each(
    ("payload_bytes", "window_bytes", "source"),
    [
        (1e3, math.inf, "derived: one segment"),
        (1e6, math.inf, "derived: slow start alone"),
        (1e9, math.inf, "derived: the line"),
        (1e9, 65536, "derived: the window"),
        (3e7, 1e6, "derived: a window that ends slow start"),
    ],
)
def test_without_loss_the_rounds_one_by_one(payload_bytes, window_bytes, source):
    segments = payload_bytes / 1448
    sent_s = rounds_s(segments, rtt_s=0.04, clock_s=CLOCK_S, largest=window_bytes / 1448)
    # derived: the handshake before, and half an empty round trip behind
    expected = 0.04 + sent_s + (0.04 - CLOCK_S) / 2
    found = transfer_time_s(payload_bytes, window_bytes=window_bytes, **LINE)
    assert found == pytest.approx(expected, rel=2e-4), source


@pytest.mark.each(
    ("payload_bytes", "loss", "tolerance", "source"),
    [
        # derived: of so many losses a mean is right to 1 / sqrt(4 n)
        (1e10, 1e-4, 0.04, "derived: 690 losses"),
        (1e10, 1e-3, 0.04, "derived: 6900 losses, windows of 41"),
    ],
)
def test_reno_round_by_round(payload_bytes, loss, tolerance, source):
    sent_s = rounds_s(payload_bytes / 1448, rtt_s=0.04, clock_s=CLOCK_S, answer=reno, loss=loss)
    found = transfer_time_s(payload_bytes, loss_ratio=loss, congestion_control="reno", **LINE)
    assert found == pytest.approx(sent_s + 0.06, rel=tolerance), source


def test_cubic_round_by_round_from_its_mean_window_on():
    """Derived: RFC 9438 eq. 1 in rounds, from the window at which its period repeats."""
    path = {"rtt_s": 0.04, "clock_s": 1538 * 8 / 10e9}
    plateau_s = (0.04 / 1e-6 * 0.3 / (0.4 * 0.925)) ** 0.25  # K of a period of 1e6 segments
    peak = 0.4 * plateau_s**3 / 0.3
    window, since_s, sent, time_s, at_loss = 0.7 * peak, 0.0, 0.0, 0.0, peak
    for _ in range(5):
        until = sent + 1e6
        while sent < until:
            sent, time_s, since_s = sent + window, time_s + path["rtt_s"], since_s + path["rtt_s"]
            window = cubic_curve(window, since_s, at_loss)
        at_loss, since_s, window = window, 0.0, 0.7 * window
    limit = ceilings.congestion_limit_bps(1e-6, rtt_s=0.04)
    assert limit == pytest.approx(sent * 1448 * 8 / time_s, rel=0.02)


def test_what_was_asked_of_1_gbit_and_20_ms():
    # derived: 8e9 bit over 1448 x 8 / 0.04 x 1.31 / 0.01 = 37.94 Mbit/s by the square-root law,
    # with the constant of random losses and SACK (Mathis 1997, table 1)
    path = {"bandwidth_bps": 1e9, "rtt_s": 0.0400124}
    by_reno = transfer_time_s(1e9, loss_ratio=1e-4, congestion_control="reno", **path)
    assert by_reno == pytest.approx(8e9 / 37.93e6, rel=0.015)
    # identity: below the crossing, RTT^1.5 p^-0.5 = 1.35, CUBIC is as fast as Reno (RFC 9438, 4.3)
    assert transfer_time_s(1e9, loss_ratio=1e-4, **path) == by_reno
    # derived: 64 KiB each 40 ms
    assert transfer_time_s(1e9, window_bytes=65536, **path) == pytest.approx(611, rel=1e-3)
    # derived: 1 GB at 1448/1538 of the line, nine rounds with pauses in which 10 x (2^9 - 1)
    # segments are sent, handshake, half a round trip
    alone = 8e9 / float(tcp_goodput_bps(1500, bandwidth_bps=1e9, tcp_option_bytes=12))
    by_bbr = transfer_time_s(1e9, loss_ratio=1e-4, congestion_control="bbr", **path)
    assert by_bbr == pytest.approx(alone + 9 * 0.04 - 5110 * CLOCK_S + 0.06, rel=2e-4)


def test_limits_are_those_of_the_single_formulas():
    path = {"rtt_s": 0.1, "mss_bytes": 1460}
    low = ceilings.congestion_limit_bps(1e-7, congestion_control="reno", **path)
    # published: Mathis et al. 1997, table 1: 1.31 with random losses and SACK
    law = loss_limited.mathis_throughput_bps(1e-7, constant=1.31, **path)
    assert low == pytest.approx(law, rel=1e-6)
    # derived: a lost repair (p) of a loss (p) waits for a timer of 0.1 + 0.2 s, which doubles:
    # 0.3 (1 + p + 2 p^2 + 4 p^3 + ...) / (1 - p)
    timer_s = 0.3 * (1 + 0.05 + 2 * 0.05**2 + 4 * 0.05**3) / 0.95
    high = ceilings.congestion_limit_bps(0.05, congestion_control="reno", **path)
    each_s = 0.1 * math.sqrt(0.05) / 1.31 + 0.05**2 * timer_s
    assert high == pytest.approx(8 * 1460 / each_s, rel=1e-4)
    # measured: TcpLinuxReno of ns-3.44 with SACK, 120 s at 20 Mbit/s and 40 ms, three seeds:
    # windows of 14.85 and 10.20 packets in a round trip of 40.6 ms
    for loss, packets in ((0.01, 14.85), (0.02, 10.2)):
        found = ceilings.congestion_limit_bps(loss, rtt_s=0.0406, congestion_control="reno")
        assert found == pytest.approx(packets * 8 * 1448 / 0.0406, rel=0.15)
    wide = ceilings.congestion_limit_bps(1e-7, **path)
    by_cubic = cubic.cubic_throughput_bps(1e-7, packet_bytes=1460, rtt_s=0.1)
    assert wide == pytest.approx(by_cubic, rel=1e-14)
    assert ceilings.congestion_limit_bps(0.0, **path) == math.inf
    for loss, limited in ((0.2, math.inf), (0.21, 4 * 1460 * 8 * 0.79 / 0.1)):
        found = ceilings.congestion_limit_bps(loss, congestion_control="bbr", **path)
        assert found == pytest.approx(limited)


@pytest.mark.slow
@pytest.mark.each(
    ("rule", "loss", "rtt_s", "tolerance"),
    [
        # The line alone: start-up, and in the simulation its queue.
        ("reno", 0.0, 0.05, 0.03), ("cubic", 0.0, 0.05, 0.03), ("bbr", 0.0, 0.05, 0.03),
        ("bbr", 1e-3, 0.05, 0.03),
        # The windows of the first of 34 to 345 losses are above the mean.
        ("reno", 1e-3, 0.05, 0.05), ("reno", 1e-4, 0.02, 0.05),
        ("cubic", 1e-3, 0.05, 0.05), ("cubic", 1e-4, 0.02, 0.05),
    ],
)  # fmt: skip
def test_the_theory_of_shared_bottlenecks_agrees(rule, loss, rtt_s, tolerance):
    """Derived: the steps of netcalc.congestion, which know neither Mathis nor PFTK."""
    link = Bottleneck(rate_bps=1e8, rtt_s=rtt_s, buffer_bytes=1e8 * rtt_s / 8, loss_ratio=loss)
    flow = Flow(algorithm=rule, size_bytes=5e8)
    result = theory.run(Scenario(bottleneck=link, flows=(flow,), end_s=1000.0))
    (end_s,) = result.finish_s
    given = {"bandwidth_bps": 1e8, "rtt_s": rtt_s, "loss_ratio": loss}
    found = transfer_time_s(5e8, congestion_control=rule, **given)
    assert found == pytest.approx(end_s, rel=tolerance)


def test_flows_share_the_line_and_not_the_window():
    found = transfer_time_s(1e9, window_bytes=65536, flow_count=[1, 2, 4], **LINE)
    # identity: each flow has its window, and a part of the bytes
    assert (found[0] / found[1:]).tolist() == pytest.approx([2, 4], rel=1e-3)
    many = transfer_time_s(1e10, flow_count=[1, 10], **LINE)
    assert many[1] == pytest.approx(many[0], rel=0.01), "the line is the same for all of them"


def test_a_slow_way_back_is_a_line_of_its_own():
    # derived: 90 B of ACK for two segments of 1448 B, at 1 Mbit/s
    slow = transfer_time_s(1e8, reverse_bandwidth_bps=1e6, **LINE)
    assert slow == pytest.approx(1e8 / 1448 / 2 * 90 * 8 / 1e6, rel=0.01)
    assert transfer_time_s(1e8, reverse_bandwidth_bps=1e8, **LINE) == transfer_time_s(1e8, **LINE)


def test_parts_add_up_and_bounds_hold():
    rng = np.random.default_rng(5)
    size = 10 ** rng.uniform(3, 10, 200)
    given = {
        "bandwidth_bps": 10 ** rng.uniform(6, 10, 200), "rtt_s": 10 ** rng.uniform(-3, -0.5, 200),
        "loss_ratio": 10 ** rng.uniform(-6, -2, 200), "window_bytes": 10 ** rng.uniform(4, 8, 200),
    }  # fmt: skip
    for rule in ceilings.CONGESTION_CONTROLS:
        parts = transfer_parts(size, congestion_control=rule, **given)
        whole = transfer_time_s(size, congestion_control=rule, **given)
        np.testing.assert_allclose(sum(parts), whole)
        # identity: no faster than the payload on the line, and the handshake and half a round trip
        goodput = tcp_goodput_bps(1500, bandwidth_bps=given["bandwidth_bps"], tcp_option_bytes=12)
        assert (whole >= 8 * size / goodput * (1 - 1e-9)).all()
        assert (whole >= 1.5 * given["rtt_s"] - 1538 * 8 / given["bandwidth_bps"]).all()
    cubic_s, reno_s = (
        transfer_time_s(size, congestion_control=rule, **given) for rule in ("cubic", "reno")
    )
    assert (cubic_s <= reno_s * (1 + 1e-12)).all(), "identity: Reno is CUBIC's floor"


@pytest.mark.each(
    ("payload_bytes", "given", "wire_bytes", "source"),
    [
        # derived: 20 + 20 + 1 is padded to 46, in a frame of 64, with preamble and gap 84
        (1, {"tcp_option_bytes": 0}, 84, "derived: IEEE 802.3: the smallest frame"),
        (6, {"tcp_option_bytes": 0}, 84, "derived: 20 + 20 + 6 fill it"),
        (7, {"tcp_option_bytes": 0}, 85, "derived: one byte more is sent"),
        (1, {}, 20 + 20 + 12 + 1 + 38, "derived: with timestamps no padding"),
        (1448, {}, 1538, "derived: a full segment"),
        (1449, {}, 1538 + 91, "derived: one byte more takes a frame of its own"),
        (2, {"flow_count": 2}, 2 * 91, "derived: each flow has a frame of its own"),
        (1, {"link_bytes": 0}, 53, "derived: a rate of IP: no frame"),
    ],
)
def test_the_last_segment_has_headers(payload_bytes, given, wire_bytes, source):
    parts = transfer_parts(payload_bytes, **LINE, **given)
    assert parts.steady_s == pytest.approx(wire_bytes * 8 / 1e9, rel=1e-12), source


def test_everything_lost_and_nothing_to_send():
    for rule in ceilings.CONGESTION_CONTROLS:
        lost = transfer_time_s(1e6, loss_ratio=1.0, congestion_control=rule, **LINE)
        assert lost == math.inf
        nothing = transfer_time_s(0, loss_ratio=0.5, congestion_control=rule, **LINE)
        assert nothing == pytest.approx(0.06, rel=1e-3), "the handshake and its end"


@pytest.mark.each(
    ("wrong", "code"),
    [
        ({"flow_count": 0}, "not-whole"),
        ({"flow_count": 1.5}, "not-whole"),
        ({"congestion_control": "vegas"}, "not-a-choice"),
        ({"loss_ratio": 3}, "percent-for-ratio"),
        ({"mtu_bytes": 40}, "below-headers"),
    ],
)
def test_impossible_transfers_are_refused(wrong, code):
    with pytest.raises(DomainError) as refused:
        transfer_time_s(1e6, **{**LINE, **wrong})
    assert refused.value.code == code


def test_no_bytes_take_a_handshake_and_the_way_without_a_packet():
    """Derived: 1.5 round trips less half of the 1538 bytes that a round trip counts."""
    found = float(transfer_time_s(0.0, bandwidth_bps=1e9, rtt_s=0.04))
    assert found == pytest.approx(1.5 * 0.04 - 0.5 * 8 * 1538 / 1e9, rel=1e-12)
    one = float(transfer_time_s(1.0, bandwidth_bps=1e9, rtt_s=0.04))
    assert found < one < 0.06
