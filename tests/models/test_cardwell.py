"""Expected times with losses: Monte Carlo, sums term by term, inverses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import pftk, short_transfers


def test_handshake_against_monte_carlo():
    """Derived: each SYN is lost with p and waits 3, 6, 12 ... s; mean over 10^6 handshakes."""
    rng = np.random.default_rng(1)
    losses = rng.geometric(1 - 0.1, size=(2, 1_000_000)) - 1
    mean_s = 0.1 + (3 * (2.0**losses - 1)).sum(axis=0).mean()
    computed = short_transfers.handshake_s(
        0.1, forward_loss_ratio=0.1, reverse_loss_ratio=0.1, syn_timeout_s=3
    )
    assert computed == pytest.approx(mean_s, rel=0.01)


def test_handshake_limits():
    none = {"forward_loss_ratio": 0, "reverse_loss_ratio": 0}
    assert short_transfers.handshake_s(0.1, **none) == 0.1, "identity: without loss one RTT"
    half = short_transfers.handshake_s(
        0.1, forward_loss_ratio=[0.49, 0.5, 0.6, 1], reverse_loss_ratio=0
    )
    assert np.isfinite(half[0])
    assert np.isinf(half[1:]).all(), "documented: no mean from one half on"


def test_slow_start_segments_against_the_sum():
    """Derived: the expectation summed term by term over the place of the first loss."""
    for loss, count in [(0.02, 10), (0.5, 1), (0.001, 1000), (0.3, 25)]:
        before = np.arange(count)
        mean = (before * loss * (1 - loss) ** before).sum() + count * (1 - loss) ** count
        computed = short_transfers.slow_start_segments(count, loss_ratio=loss)
        assert computed == pytest.approx(mean, rel=1e-9)
        printed = short_transfers.slow_start_segments(count, loss_ratio=loss, count_lost=True)
        assert printed == pytest.approx(mean + 1, rel=1e-9)


def test_slow_start_segments_limits():
    """Identity: nothing lost sends all, all lost nothing; no cancellation at tiny losses."""
    computed = short_transfers.slow_start_segments(1000, loss_ratio=[0, 1e-15, 1])
    assert computed == pytest.approx([1000, 1000, 0], rel=1e-9)


def test_slow_start_time_sends_the_segments():
    """Derived: the data sent by T, (w1 g^T - w1)/(g - 1), is the data asked for."""
    for per_ack in (1, 2):
        growth = 1 + 1 / per_ack
        rtts = short_transfers.slow_start_s(
            500, rtt_s=1, initial_window_segments=3, segments_per_ack=per_ack
        )
        assert 3 * (growth**rtts - 1) / (growth - 1) == pytest.approx(500)


def test_slow_start_tail_is_continuous_and_straight():
    """Identity: where W is just Wmax both branches agree; beyond, a window per RTT."""
    largest, growth, first = 64, 1.5, 10
    at = (growth * largest - first) / (growth - 1)
    path = {"rtt_s": 1, "initial_window_segments": first, "max_window_segments": largest}
    below, above, far = short_transfers.slow_start_s([at, at * (1 + 1e-12), at + 640], **path)
    assert below == pytest.approx(above)
    assert far - below == pytest.approx(10)


def test_transfer_without_loss_is_slow_start():
    """Identity: no loss leaves the start and the delayed acknowledgement."""
    n = np.array([0, 1, 69, 5000])
    whole = short_transfers.lossy_transfer_s(n, rtt_s=0.1, loss_ratio=0, delayed_ack_s=0.1)
    assert whole == pytest.approx(short_transfers.slow_start_s(n, rtt_s=0.1) + 0.1)


def test_transfer_term_by_term():
    """Derived: p = 2 %, 69 segments, from the terms written out in plain floats."""
    p, d, g, rtt_s, rto_s = 0.02, 69, 1.5, 0.1, 1.0
    q, lost = 1 - p, 1 - 0.98**69
    started = lost / p
    window = started * (g - 1) / g + 10 / g
    steady = 4 / 6 + math.sqrt(8 * q / (6 * p) + (4 / 6) ** 2)
    share_w, share_steady = (
        (1 - q**3) * (1 + q**3 * (1 - q ** (w - 3))) / (1 - q**w) for w in (window, steady)
    )
    timeouts_s = rto_s * (1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6) / q
    rate = (q / p + steady / 2 + share_steady) / (rtt_s * (steady + 1) + share_steady * timeouts_s)
    start_s = rtt_s * math.log(started * (g - 1) / 10 + 1, g)
    stall_s = lost * (share_w * timeouts_s + (1 - share_w) * rtt_s)
    expected_s = start_s + stall_s + (d - started) / rate + 0.1
    computed = short_transfers.lossy_transfer_s(
        d, rtt_s=rtt_s, loss_ratio=p, rto_s=rto_s, segments_per_ack=2
    )
    assert computed == pytest.approx(expected_s, rel=1e-9)


def test_the_defaults_are_those_of_linux():
    """Derived: bytes are counted, and the timeout is 0.2 s above the round trip."""
    path = {"rtt_s": 0.05, "loss_ratio": 0.01}
    linux = short_transfers.lossy_transfer_s(10_000, rto_s=0.25, segments_per_ack=1, **path)
    assert short_transfers.lossy_transfer_s(10_000, **path) == linux


def test_what_the_first_window_holds_takes_one_round():
    """Derived: one flight is sent at once and acknowledged a round trip later, however few."""
    path = {"rtt_s": 0.1, "initial_window_segments": 10, "segments_per_ack": [1, 2, 200]}
    for count in (0.5, 1, 2, 9, 10):
        assert short_transfers.slow_start_s(count, **path) == pytest.approx([0.1] * 3)
        narrow = short_transfers.slow_start_s(count, max_window_segments=10, **path)
        assert narrow == pytest.approx([0.1] * 3)
    assert (short_transfers.slow_start_s(0, **path) == 0).all(), "identity: nothing to send"
    assert (short_transfers.slow_start_s(10.01, **path) > 0.1).all()


def test_a_part_of_a_segment_is_never_sent_back():
    """Derived: half a segment, half of them lost: P = 1 - sqrt(1/2), all of it is in slow start.

    The window of one segment makes every loss a timeout: Z = 0.5 s G(1/2) / (1 - 1/2) with
    G = 1 + 1/2 + 2/4 + 4/8 + 8/16 + 16/32 + 32/64 = 4, so 4 s; a round trip and 0.1 s besides.
    """
    path = {"rtt_s": 2, "loss_ratio": 0.5, "rto_s": 0.5, "initial_window_segments": 1}
    for per_ack in (2, 128, 1.5e6):
        taken_s = short_transfers.lossy_transfer_s(0.5, segments_per_ack=per_ack, **path)
        assert taken_s == pytest.approx(2 + (1 - math.sqrt(0.5)) * 4 + 0.1)


def test_no_transfer_takes_less_than_a_round_trip():
    """Identity: whatever is sent is acknowledged a round trip later at the earliest."""
    rng = np.random.default_rng(20261123)
    size = 30_000
    taken_s = short_transfers.lossy_transfer_s(
        rng.choice([0.01, 0.5, 1, 1.5, 2, 5, 10, 50, 1000], size),
        rtt_s=(rtt_s := 10 ** rng.uniform(-4, 1, size)),
        loss_ratio=np.where(rng.random(size) < 0.1, 0.0, 10 ** rng.uniform(-8, -0.01, size)),
        rto_s=10 ** rng.uniform(-3, 2, size),
        initial_window_segments=rng.choice([0.5, 1, 3, 10, 100], size),
        segments_per_ack=rng.choice([0.5, 1, 2, 16, 128, 1.5e6], size),
        max_window_segments=rng.choice([0.1, 1, 4, 10, 1e9, np.inf], size),
        delayed_ack_s=0,
    )
    assert np.isfinite(taken_s).all()
    assert (taken_s >= rtt_s * (1 - 1e-12)).all()


def test_a_long_transfer_runs_at_the_steady_rate():
    """Identity: the start no longer counts in 10^7 segments."""
    path = {"rtt_s": 0.1, "rto_s": 1.0}
    taken = short_transfers.lossy_transfer_s(1e7, loss_ratio=0.01, **path)
    assert 1e7 / taken == pytest.approx(pftk.pftk_throughput_pps(0.01, **path), rel=1e-3)


def test_transfer_grows_with_size_and_loss():
    """Identity: more segments and more loss never take less time."""
    n = np.arange(1, 2000, 7)[:, None]
    loss = np.array([0, 1e-5, 1e-3, 0.01, 0.05, 0.2])
    times = short_transfers.lossy_transfer_s(n, rtt_s=0.1, loss_ratio=loss)
    is_in_first_window = (n[1:] <= 10) & (loss == 0)  # of which all segments take one round
    assert (np.diff(times, axis=0) > 0)[~is_in_first_window].all()
    assert (np.diff(times, axis=0)[is_in_first_window] == 0).all()
    assert (np.diff(times, axis=1) > 0).all()
    assert short_transfers.lossy_transfer_s(1, rtt_s=0.1, loss_ratio=1) == np.inf


def test_impossible():
    with pytest.raises(DomainError, match="Did you mean 3%"):
        short_transfers.slow_start_segments(10, loss_ratio=3)
    with pytest.raises(DomainError, match="max_window_segments"):
        short_transfers.slow_start_s(10, rtt_s=0.1, max_window_segments=0)
