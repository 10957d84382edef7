"""The sawtooth at a bottleneck walked in small steps; buffer rules; BBR's constants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import bbr, sharing


def walked_aimd(buffer, kept, product=20_000):
    """Second method: one flow, a packet a round, rounds that last as long as the queue is."""
    window, sent, elapsed = kept * product * (1 + buffer), 0.0, 0.0
    while window < product * (1 + buffer):
        sent += window
        elapsed += max(window / product, 1.0)
        window += 1
    return sent / (elapsed * product)


@pytest.mark.each("kept", [0.5, 0.7, 0.875])
@pytest.mark.each("buffer", [0.0, 0.1, 0.42, 0.99, 2.0])
def test_aimd_utilization_against_a_walked_sawtooth(buffer, kept):
    computed = sharing.aimd_utilization(buffer, decrease_factor=kept)
    assert computed == pytest.approx(walked_aimd(buffer, kept), abs=2e-4)


@pytest.mark.each("kept", [0.5, 0.7, 0.9])
@pytest.mark.each("buffer", [0.0, 0.05, 0.2, 0.42, 2.0])
def test_cubic_utilization_against_a_walked_curve(buffer, kept):
    """Second method: the window curve of RFC 9438 sampled over a period, cut at the line rate."""
    left = 1 - (np.arange(200_000) + 0.5) / 200_000
    window = (1 + buffer) * (1 - (1 - kept) * left**3)
    computed = sharing.cubic_utilization(buffer, decrease_factor=kept)
    assert computed == pytest.approx(np.minimum(window, 1).mean(), abs=1e-9)


def test_reno_without_a_buffer_uses_three_quarters():
    assert sharing.aimd_utilization(0) == pytest.approx(0.75), "published: Appenzeller 2004"
    assert sharing.cubic_utilization(0) == pytest.approx(1 - 0.3 / 4), "derived: mean of the cubic"


@pytest.mark.each("kept", [0.5, 0.7, 0.875])
def test_the_buffer_for_full_use_is_the_least_one(kept):
    """Identity: at that buffer the line is never idle, just below it is."""
    buffer = sharing.full_use_buffer_bdp(kept)
    for model in (sharing.aimd_utilization, sharing.cubic_utilization):
        assert model(buffer * (1 + 1e-9), decrease_factor=kept) == 1.0
        assert model(buffer * 0.9, decrease_factor=kept) < 1.0


def test_edges_of_utilization():
    """Stated limits: a window that never falls, one that falls to nothing, endless buffers."""
    for model in (sharing.aimd_utilization, sharing.cubic_utilization):
        assert model([0.0, 1.0], decrease_factor=1.0).tolist() == [1.0, 1.0]
        assert model(1e300) == 1.0
        assert np.isnan(model(np.nan))
    assert sharing.aimd_utilization(0.0, decrease_factor=0.0) == pytest.approx(0.5)
    assert sharing.full_use_buffer_bdp([0.0, 1.0]).tolist() == [np.inf, 0.0]


def test_sawtooth_of_whole_packets():
    """Derived: the windows from 417 to 833 added up, against the area of 3/8 of the square."""
    packets = sum(range(417, 834))
    assert sharing.sawtooth_packets(834) == pytest.approx(packets, rel=2e-3)
    assert sharing.sawtooth_period_s(834, rtt_s=0.1) == pytest.approx(417 * 0.1)
    delayed = {"segments_per_ack": 2}
    assert sharing.sawtooth_packets(834, **delayed) == pytest.approx(2 * packets, rel=2e-3)
    assert sharing.sawtooth_period_s(834, rtt_s=0.1, **delayed) == pytest.approx(2 * 41.7)


@pytest.mark.each(
    ("rate", "rtt", "flows", "bits", "source"),
    [
        (10e9, 0.25, 1, 2.5e9, "published: Appenzeller 2004, 2.5 Gbit"),
        (10e9, 0.25, 50_000, 10e6, "published: Appenzeller 2004, about 10 Mbit"),
        (2.5e9, 0.25, 10_000, 6.25e6, "derived: 625 Mbit over 100"),
    ],
)
def test_buffer_rules(rate, rtt, flows, bits, source):
    computed = 8 * sharing.buffer_rule_bytes(rate, rtt_s=rtt, flow_count=flows)
    assert computed == pytest.approx(bits, rel=0.13), source


def test_a_bufferbloated_modem():
    assert sharing.drain_s(256e3, bandwidth_bps=1e6) == pytest.approx(2.048), "derived: 2.048 Mbit"
    with pytest.raises(DomainError, match="flow_count"):
        sharing.buffer_rule_bytes(1e9, rtt_s=0.1, flow_count=0.5)


def test_bbr_gains():
    """Published: 2885/1000 in tcp_bbr.c, 2.773 in the draft of version 2, a cycle around 1."""
    assert pytest.approx(2.885, abs=5e-4) == bbr.STARTUP_GAIN
    assert pytest.approx(2.773, abs=5e-4) == bbr.STARTUP_GAIN_V2
    assert pytest.approx(1.0) == bbr.DRAIN_GAIN * bbr.STARTUP_GAIN
    assert bbr.bbr_mean_gain() == 1.0
    assert bbr.bbr_loss_tolerance_ratio() == pytest.approx(0.2), "published: about 20 %"
    assert bbr.bbr_probe_rtt_ratio() == pytest.approx(0.02), "published: 2 % of the time"
    assert bbr.bbr_probe_rtt_ratio(20.0) == 1.0


def test_the_startup_gain_is_the_least_that_doubles():
    """Derived: pacing at g times the rate delivered a round ago, integrated, doubles each round."""
    assert bbr.STARTUP_GAIN * math.log(2) == pytest.approx(2)


@pytest.mark.each("doublings", range(8))
def test_startup_rounds_by_doubling(doublings):
    """Second method: the window doubled until it holds the product; powers of two exactly."""
    rate = 10 * 1460 * 8 * 2.0**doublings / 0.03
    path = {"rtt_s": 0.03, "mss_bytes": 1460}
    assert bbr.bbr_startup_rounds(rate, **path) == doublings
    assert bbr.bbr_startup_rounds(rate * 1.01, **path) == doublings + 1
    assert bbr.bbr_startup_rounds(1.0, **path) == 0.0


def test_bbr_keeps_two_products_in_flight():
    limit = bbr.bbr_inflight_limit_bytes(100e6, base_rtt_s=0.04)
    assert limit == 2 * 500_000, "derived: twice 4 Mbit"
