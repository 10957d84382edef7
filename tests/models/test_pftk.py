"""PFTK against its own assumptions written out as sums, and its inverses."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from netcalc.models.tcp import pftk

PATH = {"rtt_s": 0.1, "rto_s": 0.4}


def exact_timeout_ratio(window, loss):
    """Second method: the double sum over the lost packet and what the next round acknowledges."""
    with mp.workdps(40):
        p, w = mp.mpf(loss), int(window)

        def first_in_round(k):
            return (1 - p) ** k * p / (1 - (1 - p) ** w)

        def acked_in_round(n, m):
            return (1 - p) ** m * p if m < n else (1 - p) ** n

        total = mp.fsum(first_in_round(k) for k in range(3))
        for k in range(3, w):
            total += first_in_round(k) * mp.fsum(acked_in_round(k, m) for m in range(3))
        return float(total)


@pytest.mark.each(("window", "loss"), [(4, 0.2), (5, 0.05), (8, 0.02), (37, 1e-3), (164, 1e-12)])
def test_timeout_share_against_the_double_sum(window, loss):
    computed = pftk.pftk_timeout_ratio(window, loss_ratio=loss)
    assert computed == pytest.approx(exact_timeout_ratio(window, loss), rel=1e-12)


def test_timeout_share_at_its_edges():
    """Stated limits: no three duplicates up to a window of 3; three chances in w at no loss."""
    assert pftk.pftk_timeout_ratio([0.5, 1, 3], loss_ratio=0.01).tolist() == [1.0, 1.0, 1.0]
    assert pftk.pftk_timeout_ratio([3, 10], loss_ratio=0.0).tolist() == [1.0, 0.3]
    assert pftk.pftk_timeout_ratio([2, 10], loss_ratio=1.0).tolist() == [1.0, 1.0]
    assert pftk.pftk_timeout_ratio(np.inf, loss_ratio=0.0) == 0.0
    tiny = pftk.pftk_timeout_ratio(10.0, loss_ratio=1e-300)
    assert tiny == pytest.approx(0.3, rel=1e-12)


@pytest.mark.each("loss", [0.05, 0.4, 0.9])
def test_timeout_sequence_against_the_series(loss):
    """Second method: the sum over how many retransmissions are lost, timers written out."""
    timers = [min(2**k, 64) for k in range(3000)]
    elapsed = np.cumsum(timers)
    chances = (1 - loss) * loss ** np.arange(3000)
    expected = (chances * elapsed).sum()
    assert pftk.timeout_sequence_s(loss, rto_s=1.0) == pytest.approx(expected, rel=1e-12)
    assert pftk.pftk_backoff_factor([0.0, 1.0]).tolist() == [1.0, 64.0]
    assert pftk.timeout_sequence_s(1.0, rto_s=1.0) == np.inf


@pytest.mark.each(("loss", "acked"), [(1e-4, 1), (0.01, 2), (0.2, 1), (0.05, 2)])
def test_full_formula_assembled_from_a_cycle(loss, acked):
    """Second method: packets and time of a cycle of loss, summed as the paper derives them."""
    window = float(pftk.pftk_window_packets(loss, segments_per_ack=acked))
    rounds = acked * window / 2 + 1
    packets = (1 - loss) / loss + window
    timeout = exact_timeout_ratio_real(window, loss)
    sequence = float(pftk.timeout_sequence_s(loss, rto_s=PATH["rto_s"]))
    cycle_packets = packets + timeout / (1 - loss)
    cycle_s = PATH["rtt_s"] * rounds + timeout * sequence
    computed = pftk.pftk_rate_pps(loss, **PATH, segments_per_ack=acked)
    assert computed == pytest.approx(cycle_packets / cycle_s, rel=1e-12)
    arrived = (1 - loss) / loss + window / 2 + timeout
    received = pftk.pftk_throughput_pps(loss, **PATH, segments_per_ack=acked)
    assert received == pytest.approx(arrived / cycle_s, rel=1e-12)


def exact_timeout_ratio_real(window, loss):
    with mp.workdps(40):
        kept, w = 1 - mp.mpf(loss), mp.mpf(window)
        share = (1 - kept**3) * (1 + kept**3 * (1 - kept ** (w - 3))) / (1 - kept**w)
        return float(min(1, share))


@pytest.mark.each("acked", [1, 2])
def test_mean_window_solves_the_cycle(acked):
    """Identity: the packets of a cycle counted by loss and counted round by round."""
    loss = np.geomspace(1e-6, 0.3, 30)
    window = pftk.pftk_window_packets(loss, segments_per_ack=acked)
    rounds = acked * window / 2
    # Eq. 11: Y = X/2 (W/2 + W - 1) + W/2 with X = bW/2 rounds of growth.
    sent = rounds / 2 * (window / 2 + window - 1) + window / 2
    assert sent == pytest.approx((1 - loss) / loss + window, rel=1e-9)


def test_the_window_limits_without_loss():
    """Stated limits: the window over the RTT at no loss, inf without one, 0 at a loss of 1."""
    loss = [0.0, 1e-300, 1.0]
    for model in (pftk.pftk_rate_pps, pftk.pftk_throughput_pps, pftk.pftk_approx_rate_pps):
        limited = model(loss, **PATH, max_window_packets=20)
        assert limited[:2] == pytest.approx([200, 200], rel=1e-12)
        assert limited[2] == 0.0
        free = model(loss, **PATH)
        assert free[0] == np.inf
        assert free[1] > 1e100
        assert free[2] == 0.0
        assert model(5e-324, **PATH) > 1e100


def test_approximation_within_a_few_percent_at_little_loss():
    """Derived: eq. 33 is within 3 % of eq. 32 to p = 1 %, and half of it at 20 %."""
    loss = np.array([1e-5, 1e-3, 1e-2])
    full = pftk.pftk_rate_pps(loss, **PATH)
    assert pftk.pftk_approx_rate_pps(loss, **PATH) == pytest.approx(full, rel=0.03)
    rare = {"rtt_s": 0.05, "rto_s": 0.3, "segments_per_ack": 1, "max_window_packets": 50}
    ratio = pftk.pftk_rate_pps(0.2, **rare) / pftk.pftk_approx_rate_pps(0.2, **rare)
    assert ratio == pytest.approx(2.06, abs=0.01)


@pytest.mark.each("acked", [1.0, 2.0])
@pytest.mark.each("limit", [np.inf, 50.0, 1.0])
def test_inverses_give_back_the_rate(acked, limit):
    """Identity: at the answer the rate is reached, just above it it is not."""
    variant = {**PATH, "segments_per_ack": acked, "max_window_packets": limit}
    for model, inverse in (
        (pftk.pftk_rate_pps, pftk.pftk_loss_ratio),
        (pftk.pftk_approx_rate_pps, pftk.pftk_approx_loss_ratio),
    ):
        asked = model(np.geomspace(1e-7, 0.7, 40), **variant)
        found = inverse(asked, **variant)
        assert (model(found * (1 - 1e-9), **variant) >= asked).all()
        assert (model(np.minimum(found * (1 + 1e-9), 1.0), **variant) <= asked).all()


def test_inverses_at_their_edges():
    """Stated limits: nan beyond the window, 1 where retransmissions alone are enough."""
    for inverse in (pftk.pftk_loss_ratio, pftk.pftk_approx_loss_ratio):
        found = inverse([0.0, 1e-3, 201.0, 1e9], **PATH, max_window_packets=20)
        assert found[:2].tolist() == [1.0, 1.0]
        assert np.isnan(found[2:]).all()
        assert np.isnan(inverse(np.nan, **PATH))
        assert inverse(np.full((2, 3), 10.0), **PATH).shape == (2, 3)


def test_the_rate_falls_with_loss():
    """Identity: monotonic where nothing switches, which the inverse relies on."""
    loss = np.geomspace(1e-9, 0.999, 4000)
    for acked in (1, 2):
        assert (np.diff(pftk.pftk_rate_pps(loss, **PATH, segments_per_ack=acked)) < 0).all()
        assert (np.diff(pftk.pftk_approx_rate_pps(loss, **PATH, segments_per_ack=acked)) < 0).all()
