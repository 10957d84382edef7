"""The table of congestion controls against each formula, and what is known of their order."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import doubts
from netcalc.models.tcp import loss_limited, pftk
from netcalc.models.tcp.ceilings import (
    bbr_throughput_bps,
    congestion_controls,
    congestion_limit_bps,
)


@pytest.mark.each("loss", [1e-6, 1e-3, 0.03])
@pytest.mark.each("rtt", [0.01, 0.1])
def test_each_column_is_its_formula(loss, rtt):
    """Identity: the formulas themselves, with a line that limits none but BBR."""
    found = congestion_controls(
        loss, rtt_s=rtt, bandwidth_bps=1e12, mss_bytes=1460, segments_per_ack=2
    )
    path = {"mss_bytes": 1460, "rtt_s": rtt}
    law = loss_limited.mathis_throughput_bps(loss, **path, constant=0.75**0.5)
    assert float(found.mathis_bps) == pytest.approx(float(law), rel=1e-12)
    timed = {"rtt_s": rtt, "rto_s": rtt + 0.2, "segments_per_ack": 2}
    received = pftk.pftk_throughput_pps(loss, **timed) * 1460 * 8
    assert float(found.pftk_bps) == pytest.approx(float(received), rel=1e-12)
    approx = pftk.pftk_approx_rate_pps(loss, **timed) * 1460 * 8 * (1 - loss)
    assert float(found.pftk_approx_bps) == pytest.approx(float(approx), rel=1e-12)
    fair = pftk.tfrc_throughput_bps(loss, **path, segments_per_ack=2) * (1 - loss)
    assert float(found.tfrc_bps) == pytest.approx(float(fair), rel=1e-12)
    # derived: the law of random losses, and the timer of each repair that is lost, which doubles
    timer_s = (rtt + 0.2) * (1 + loss + 2 * loss**2 + 4 * loss**3) / (1 - loss)
    reno = 1460 * 8 / (rtt * (2 * loss) ** 0.5 / 1.31 + loss**2 * timer_s)
    assert float(found.reno_bps) == pytest.approx(reno, rel=1e-5)
    # derived: RFC 9438 eq. 5, 1.0547 (RTT / p)^(3/4) / RTT segments a second (C = 0.4, beta 0.7)
    raw = (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * (rtt / loss) ** 0.75 / rtt * 1460 * 8
    assert float(found.cubic_bps) == pytest.approx(max(reno, raw), rel=1e-5)


def test_the_table_and_explain_have_one_answer():
    """Identity: 20 ms and 5 % of loss gave 3.17 Mbit/s for CUBIC here and 1.22 there."""
    with doubts():
        found = congestion_controls(0.05, rtt_s=0.02, bandwidth_bps=1e9)
        for name in ("reno", "cubic"):
            limit = congestion_limit_bps(0.05, rtt_s=0.02, congestion_control=name)
            assert getattr(found, f"{name}_bps") == limit


def test_the_line_is_a_cap():
    """Identity: without loss all are limited by the line, and with all lost by nothing left."""
    for rates in zip(*congestion_controls([0.0, 1.0], rtt_s=0.02, bandwidth_bps=1e9), strict=True):
        assert rates in ((1e9,) * 8, (0.0,) * 8)


def test_a_transfer_of_a_gigabyte_at_a_loss_of_a_ten_thousandth():
    """Derived: 1460 x 8 / 20 ms x 1.2247 / 0.01 is 71.5 Mbit/s on a line of 1 Gbit/s: 112 s."""
    found = congestion_controls(1e-4, rtt_s=0.02, bandwidth_bps=1e9, mss_bytes=1460)
    assert float(found.mathis_bps) == pytest.approx(1460 * 8 / 0.02 * 1.5**0.5 / 0.01, rel=1e-12)
    assert float(found.bbr_bps) == pytest.approx(0.9999e9, rel=1e-12)


def test_bbr_keeps_its_rate_up_to_a_fifth_and_two_percent():
    """Published (Cardwell 2016, Fig. 8): nearly the line at 15 % of loss, hardly any at 25 %."""
    line = {"bandwidth_bps": 100e6, "rtt_s": 0.1, "mss_bytes": 1460}
    found = bbr_throughput_bps([0.05, 0.15, 0.2, 0.25], **line)
    np.testing.assert_allclose(found, [95e6, 85e6, 80e6, 0.75 * 4 * 1460 * 8 / 0.1], rtol=1e-12)
    third = bbr_throughput_bps([0.02, 0.03], **line, loss_tolerance_ratio=0.02)
    np.testing.assert_allclose(third, [98e6, 0.97 * 4 * 1460 * 8 / 0.1], rtol=1e-12)
    slow = bbr_throughput_bps(0.5, **{**line, "bandwidth_bps": 1e5})
    assert float(slow) == 0.5e5


def test_a_loss_that_bbr_does_not_tolerate_is_told():
    line = {"bandwidth_bps": 100e6, "rtt_s": 0.1, "mss_bytes": 1460}
    for loss, limit, codes in (
        (0.15, 0.2, []),
        (0.25, 0.2, ["beyond-loss-tolerance"]),
        (0.15, 0.02, ["beyond-loss-tolerance"]),
    ):
        with doubts() as found:
            bbr_throughput_bps(loss, **line, loss_tolerance_ratio=limit)
        assert [doubt.code for doubt in found] == codes
        assert not found or "lower bound" in str(found[0])


@pytest.mark.each(("loss", "is_told"), [(0.2, False), (0.200001, True)])
def test_what_bbr_tolerates_is_not_told(loss, is_told):
    with doubts() as found:
        bbr_throughput_bps(loss, bandwidth_bps=1e8, rtt_s=0.05, mss_bytes=1448)
    assert [doubt.code for doubt in found] == ["beyond-loss-tolerance"] * is_told
