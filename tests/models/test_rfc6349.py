"""RFC 6349: the numbers it prints, its metrics at their limits."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import window


def test_metrics_as_printed():
    """Published: RFC 6349, 3.4: 8.4 s, 98.03 % (cut off), 28 %; ratio 13/8 by hand."""
    assert window.ideal_transfer_s(100e6, throughput_bps=94.9e6) == pytest.approx(8.4, abs=0.05)
    percent = 100 * window.efficiency_ratio(102_000, retransmitted_bytes=2_000)
    assert np.floor(100 * percent) == 9803
    assert window.buffer_delay_factor(0.032, base_rtt_s=0.025) == pytest.approx(0.28)
    assert window.transfer_time_factor(13, ideal_s=8) == 1.625


def test_metrics_at_their_best():
    """Identity: nothing sent twice, no queue, the ideal time."""
    assert window.efficiency_ratio([1, 1e9], retransmitted_bytes=0).tolist() == [1, 1]
    assert window.buffer_delay_factor(0.025, base_rtt_s=0.025) == 0
    ideal = window.ideal_transfer_s(1e6, throughput_bps=1e6)
    assert window.transfer_time_factor(ideal, ideal_s=ideal) == 1


def test_connections():
    """Derived: 312 500 / 65 535 = 4.77; one is needed even for an empty path."""
    counts = window.connection_count([0, 65_535, 65_536, 312_500], window_bytes=65_535)
    assert counts.tolist() == [1, 1, 2, 5]


def test_impossible():
    with pytest.raises(DomainError, match="retransmitted_bytes"):
        window.efficiency_ratio(100, retransmitted_bytes=200)
    with pytest.raises(DomainError, match="base_rtt_s"):
        window.buffer_delay_factor(0.1, base_rtt_s=0)
