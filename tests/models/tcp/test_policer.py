"""Policers against a simulation of each segment, and against the sawtooth without a buffer."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.tcp import policer, sharing

PATH = {"token_bps": 10e6, "rtt_s": 0.1, "mss_bytes": 1460.0}


def simulated(bucket_bytes, token_bps, rtt_s, mss_bytes, seconds=3000.0):
    """Second method: segment by segment, sent evenly. A round trip after the first loss the window
    is halved, and nothing sent until as much is acknowledged: for half a round trip."""
    tokens_s = token_bps / 8 / mss_bytes
    depth = bucket_bytes / mss_bytes
    window, tokens, now, heard = tokens_s * rtt_s, depth, 0.0, np.inf
    sent = lost = 0
    while now < seconds:
        gap = rtt_s / window
        now += gap
        tokens = min(tokens + tokens_s * gap, max(depth, 1.0))
        window += 1 / window  # a segment a round trip
        if now >= heard:
            window, heard = window / 2, np.inf
            now += rtt_s / 2
            tokens = min(tokens + tokens_s * rtt_s / 2, max(depth, 1.0))
        if now > seconds / 3:
            sent += 1
        if tokens >= 1.0:
            tokens -= 1.0
        else:
            lost += now > seconds / 3
            heard = min(heard, now + rtt_s)
    return (sent - lost) * mss_bytes * 8 / (2 / 3 * seconds), lost / sent


@pytest.mark.slow
@pytest.mark.each("bucket", [30e3, 125e3, 300e3, 600e3, 1.2e6])
def test_a_flow_through_a_policer_against_each_segment(bucket):
    """Measured: 33 minutes of segments. The round trip until the sender reacts, in which the
    bucket is empty, is not in the throughput: within 4 %; the loss within a quarter."""
    rate, loss = simulated(bucket, **PATH)
    found = float(policer.policed_throughput_bps(bucket, **PATH))
    assert found == pytest.approx(rate, rel=0.04)
    assert float(policer.policed_loss_ratio(bucket, **PATH)) == pytest.approx(loss, rel=0.25)


@pytest.mark.each("factor", [0.5, 0.7])
def test_no_bucket_is_a_link_without_a_buffer(factor):
    """Identity: the sawtooth of AIMD without a buffer, 75 % for Reno."""
    found = policer.policed_throughput_bps(0.0, **PATH, decrease_factor=factor)
    share = sharing.aimd_utilization(0.0, decrease_factor=factor)
    assert float(found) == pytest.approx(10e6 * float(share), rel=1e-12)


@pytest.mark.each("factor", [0.3, 0.5, 0.7])
def test_the_burst_for_full_use_is_where_the_rate_is_full(factor):
    bucket = float(policer.policer_full_use_bytes(**PATH, decrease_factor=factor))
    reno = {**PATH, "decrease_factor": factor}
    assert float(policer.policed_throughput_bps(bucket * (1 + 1e-9), **reno)) == 10e6
    assert float(policer.policed_throughput_bps(bucket * 0.99, **reno)) < 10e6


def test_the_rules():
    """Derived: (10 Mbit/s x 100 ms)^2 / (18 x 1460 bytes); the rule of thumb by hand."""
    assert float(policer.policer_rule_bytes(10e6, rtt_s=0.1)) == 125_000
    found = float(policer.policer_full_use_bytes(**PATH))
    assert found == pytest.approx(125_000**2 / (18 * 1460), rel=1e-12)


def test_traffic_that_does_not_react():
    """Derived: 2 of 12 Mbit/s; nothing below the token rate."""
    found = policer.policer_overload_loss_ratio([0.0, 9e6, 12e6], token_bps=10e6)
    np.testing.assert_allclose(found, [0.0, 0.0, 1 / 6], rtol=1e-12)
