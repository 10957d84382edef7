"""RFC 6349: the numbers it prints, its metrics at their limits."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models import rfc6349


@pytest.mark.parametrize(
    ("bandwidth_bps", "overhead_bytes", "frames", "source"),
    [
        (1.536e6, 8, 127, "derived: T1, 1 536 000 / 12 064 cut off"),
        (44.21e6, 8, 3664, "published: RFC 6349, 4.1.1, T3"),
        (100e6, 38, 8127, "published: RFC 6349, 4.1.1, 100 Mbit/s"),
        (1e9, 38, 81274, "published: RFC 5180, App. A, frames of 1518"),
        (10e9, 38, 812743, "published: RFC 5180, App. A, frames of 1518"),
    ],
)
def test_frame_rates(bandwidth_bps, overhead_bytes, frames, source):
    computed = rfc6349.max_frame_rate_pps(bandwidth_bps, overhead_bytes=overhead_bytes)
    assert np.floor(computed) == frames, source


@pytest.mark.parametrize(
    ("bandwidth_bps", "overhead_bytes", "megabit"), [(44.21e6, 8, 42.8), (100e6, 38, 94.9)]
)
def test_ceilings(bandwidth_bps, overhead_bytes, megabit):
    """Published: RFC 6349, 4.1.1."""
    computed = rfc6349.max_tcp_throughput_bps(bandwidth_bps, overhead_bytes=overhead_bytes)
    assert computed / 1e6 == pytest.approx(megabit, abs=0.05)


def test_ceiling_is_the_payload_of_every_frame():
    """Identity: goodput = frames x (MTU - headers) x 8; timestamps take 12 bytes of each."""
    mtu = np.array([576, 1500, 9000])
    frames = rfc6349.max_frame_rate_pps(1e9, mtu_bytes=mtu)
    for header_bytes in (40, 52):
        goodput = rfc6349.max_tcp_throughput_bps(1e9, mtu_bytes=mtu, header_bytes=header_bytes)
        assert goodput == pytest.approx(frames * (mtu - header_bytes) * 8)
    assert np.isnan(rfc6349.max_tcp_throughput_bps(1e9, mtu_bytes=40)), "no room for payload"


def test_metrics_as_printed():
    """Published: RFC 6349, 3.4: 8.4 s, 98.03 % (cut off), 28 %; ratio 13/8 by hand."""
    assert rfc6349.ideal_transfer_s(100e6, throughput_bps=94.9e6) == pytest.approx(8.4, abs=0.05)
    percent = 100 * rfc6349.efficiency_ratio(102_000, retransmitted_bytes=2_000)
    assert np.floor(100 * percent) == 9803
    assert rfc6349.buffer_delay_factor(0.032, base_rtt_s=0.025) == pytest.approx(0.28)
    assert rfc6349.transfer_time_factor(13, ideal_s=8) == 1.625


def test_metrics_at_their_best():
    """Identity: nothing sent twice, no queue, the ideal time."""
    assert rfc6349.efficiency_ratio([1, 1e9], retransmitted_bytes=0).tolist() == [1, 1]
    assert rfc6349.buffer_delay_factor(0.025, base_rtt_s=0.025) == 0
    ideal = rfc6349.ideal_transfer_s(1e6, throughput_bps=1e6)
    assert rfc6349.transfer_time_factor(ideal, ideal_s=ideal) == 1


def test_connections():
    """Derived: 312 500 / 65 535 = 4.77; one is needed even for an empty path."""
    counts = rfc6349.connection_count([0, 65_535, 65_536, 312_500], window_bytes=65_535)
    assert counts.tolist() == [1, 1, 2, 5]


def test_impossible():
    with pytest.raises(DomainError, match="retransmitted_bytes"):
        rfc6349.efficiency_ratio(100, retransmitted_bytes=200)
    with pytest.raises(DomainError, match="base_rtt_s"):
        rfc6349.buffer_delay_factor(0.1, base_rtt_s=0)
