"""CUBIC: the tables of RFC 9438, integrals of the window, inverses."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.tcp import cubic, loss_limited

RFC_TABLE_1 = [  # published: RFC 9438 table 1, RTT 0.1 s: loss, C = 0.04, 0.4, 4
    (1e-2, 12, 12, 12),
    (1e-3, 38, 38, 59),
    (1e-4, 120, 187, 333),
    (1e-5, 593, 1054, 1874),
    (1e-6, 3332, 5926, 10538),
    (1e-7, 18740, 33325, 59261),
    (1e-8, 105383, 187400, 333250),
]


@pytest.mark.each("row", RFC_TABLE_1, ids=lambda row: f"loss {row[0]:g}")
def test_mean_window_of_the_rfc_table(row):
    loss, *packets = row
    computed = cubic.cubic_mean_window_packets(
        loss, rtt_s=0.1, cubic_scale=[0.04, 0.4, 4.0], reno_constant=loss_limited.RFC_CONSTANT
    )
    assert computed == pytest.approx(packets, abs=0.6), "published: RFC 9438 table 1"


@pytest.mark.each(("mbps", "loss"), [(10, 2.9e-4), (100, 1.4e-5), (1000, 6.3e-7), (10_000, 2.9e-8)])
def test_required_loss_of_the_rfc_table(mbps, loss):
    computed = cubic.cubic_loss_ratio(mbps * 1e6, packet_bytes=1500, rtt_s=0.1)
    assert computed == pytest.approx(loss, rel=0.03), "published: RFC 9438 table 3, two digits"


@pytest.mark.each(("scale", "kept", "rtt"), [(0.4, 0.7, 0.05), (0.04, 0.8, 0.1)])
def test_period_and_mean_window_by_integration(scale, kept, rtt):
    """Second method: the window integrated over a period by Simpson's rule, exact for a cubic."""
    variant = {"cubic_scale": scale, "decrease_factor": kept}
    loss = 1e-6
    period = float(cubic.cubic_loss_interval_s(loss, rtt_s=rtt, **variant))
    peak = scale * period**3 / (1 - kept)
    assert cubic.cubic_k_s(peak, **variant) == pytest.approx(period, rel=1e-12)
    times = np.linspace(0, period, 3)
    windows = cubic.cubic_window_packets(times, peak_window_packets=peak, **variant)
    area = (windows * [1, 4, 1]).sum() * period / 6
    assert area / rtt == pytest.approx(1 / loss, rel=1e-9), "identity: 1/p packets a period"
    mean = cubic.cubic_raw_window_packets(loss, rtt_s=rtt, **variant)
    assert mean == pytest.approx(area / period, rel=1e-9)


def test_the_curve_starts_at_the_cut_and_is_flat_at_the_old_peak():
    """Identity: W(0) = beta Wmax and W(K) = Wmax, for any constants."""
    for kept in (0.5, 0.7, 0.9):
        variant = {"cubic_scale": 0.4, "decrease_factor": kept}
        plateau = cubic.cubic_k_s(1000, **variant)
        curve = cubic.cubic_window_packets([0, plateau], peak_window_packets=1000, **variant)
        assert curve == pytest.approx([kept * 1000, 1000], rel=1e-12)


def test_increase_makes_it_as_fast_as_reno():
    """Identity: AIMD(alpha, 0.7) has the mean window of AIMD(1, 0.5)."""
    increase = cubic.cubic_increase_packets(0.7)
    assert increase == pytest.approx(9 / 17), "published: RFC 9438 4.3"
    friendly = loss_limited.aimd_window_packets(
        1e-3, increase_packets=increase, decrease_factor=0.7
    )
    assert friendly == pytest.approx(float(loss_limited.reno_window_packets(1e-3)), rel=1e-12)


def test_throughput_and_required_loss_are_inverse():
    """Identity over both regions."""
    path = {"packet_bytes": 1460, "rtt_s": 0.02}
    loss = np.geomspace(1e-12, 0.5, 100)
    rate = cubic.cubic_throughput_bps(loss, **path)
    assert cubic.cubic_loss_ratio(rate, **path) == pytest.approx(loss, rel=1e-12, abs=0)
    window = cubic.cubic_mean_window_packets(loss, rtt_s=0.02)
    assert rate == pytest.approx(8 * 1460 * window / 0.02, rel=1e-12)


def test_edges():
    """Stated limits: no loss is no limit, all loss is nothing, any loss allows no rate."""
    path = {"packet_bytes": 1500, "rtt_s": 0.1}
    assert cubic.cubic_throughput_bps([0.0, 1.0], **path).tolist() == [np.inf, 0.0]
    assert cubic.cubic_loss_ratio([0.0, 1.0], **path).tolist() == [1.0, 1.0]
    assert cubic.cubic_loss_interval_s(0.0, rtt_s=0.1) == np.inf
    assert cubic.cubic_raw_window_packets(0.0, rtt_s=0.1) == np.inf
    assert cubic.cubic_k_s(0.0) == 0.0
    assert cubic.cubic_k_s(100.0, decrease_factor=1.0) == 0.0
    assert np.isnan(cubic.cubic_loss_ratio(np.nan, **path))
