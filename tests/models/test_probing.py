"""Probing and clocks: a path walked packet by packet, and truncated clocks drawn at random."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.delays.store_and_forward import store_and_forward_s
from netcalc.models.measuring import clock, probing

RATES = np.array([10e6, 1.544e6, 45e6])
LATENCIES = np.array([0.001, 0.02, 0.003])


def walked_rtt(request_bytes, reply_bytes):
    """Second method: each link takes its latency and the packet's bits, there and back."""
    there = sum(d + 8 * request_bytes / r for d, r in zip(LATENCIES, RATES, strict=True))
    back = sum(d + 8 * reply_bytes / r for d, r in zip(LATENCIES, RATES, strict=True))
    return there + back


def test_slope_of_an_echo_and_of_a_reply_of_fixed_size():
    echo = (walked_rtt(1428, 1428) - walked_rtt(128, 128)) / 1300
    assert probing.rtt_slope(RATES) == pytest.approx(echo, rel=1e-9)
    fixed = (walked_rtt(1428, 56) - walked_rtt(128, 56)) / 1300
    computed = probing.rtt_slope(RATES, same_size_reply=False)
    assert computed == pytest.approx(fixed, rel=1e-9)


def test_slope_with_other_links_on_the_way_back():
    # derived: 8 / 10^6 for the byte there, 8 / (2 x 10^6) + 8 / (8 x 10^6) for it back
    back = [2e6, 8e6]
    assert probing.rtt_slope([1e6], reverse_bandwidth_bps=back) == pytest.approx(13e-6)
    fixed = probing.rtt_slope([1e6], reverse_bandwidth_bps=back, same_size_reply=False)
    assert fixed == pytest.approx(8e-6)
    same = probing.rtt_slope(RATES, reverse_bandwidth_bps=RATES)
    assert same == probing.rtt_slope(RATES), "identity: the same links back"
    for links in ([], [0.0], [[1e6]]):
        with pytest.raises(DomainError) as refused:
            probing.rtt_slope([1e6], reverse_bandwidth_bps=links)
        assert refused.value.name == "reverse_bandwidth_bps"


def test_intercept_of_a_fit_over_user_data_holds_the_headers():
    """Second method: least squares through 15 sizes of user data."""
    user_bytes = np.arange(0, 1500, 100.0)
    measured = [walked_rtt(28 + size, 28 + size) for size in user_bytes]
    slope, intercept = np.polyfit(user_bytes, measured, 1)
    path = {"bandwidth_bps": RATES, "header_bytes": 28}
    assert probing.rtt_intercept_s(LATENCIES, **path) == pytest.approx(intercept, rel=1e-9)
    assert probing.rtt_slope(RATES) == pytest.approx(slope, rel=1e-9)
    bare = probing.rtt_intercept_s(LATENCIES, bandwidth_bps=RATES, header_bytes=0)
    assert bare == pytest.approx(2 * LATENCIES.sum()), "identity: only the latencies"
    with pytest.raises(DomainError, match="latency_s"):
        probing.rtt_intercept_s([0.1], **path)


def test_the_growth_of_the_slope_is_one_link():
    """Identity: the rate of each link from the slopes to its two ends."""
    slopes = [0.0] + [
        float(probing.rtt_slope(RATES[: hops + 1], same_size_reply=False)) for hops in range(3)
    ]
    found = probing.hop_bandwidth_bps(slopes[1:], previous_rtt_slope=slopes[:-1])
    assert found == pytest.approx(RATES, rel=1e-9)


def test_a_falling_slope_is_noise():
    found = probing.hop_bandwidth_bps([2e-6, 1e-6, 1e-6], previous_rtt_slope=[1e-6, 1e-6, 2e-6])
    assert found[0] == pytest.approx(8e6)
    assert found[1] == np.inf
    assert np.isnan(found[2])


def test_a_pair_behind_a_path():
    """Second method: two packets through store-and-forward, the second one's completion later."""
    path = {"bandwidth_bps": RATES, "latency_s": LATENCIES}
    one, two = store_and_forward_s(1500, **path, packet_count=[1, 2])
    dispersion = probing.pair_dispersion_s(1500, bandwidth_bps=RATES)
    assert dispersion == pytest.approx(two - one, rel=1e-9)
    found = probing.pair_bandwidth_bps(dispersion, packet_bytes=1500)
    assert found == pytest.approx(1.544e6), "identity: the narrowest link"


def test_a_train_is_as_fast_as_its_pairs():
    """Second method: eleven packets through the same path."""
    path = {"bandwidth_bps": RATES, "latency_s": LATENCIES}
    first, last = store_and_forward_s(1500, **path, packet_count=[1, 11])
    found = probing.train_rate_bps(last - first, packet_bytes=1500, packet_count=11)
    assert found == pytest.approx(1.544e6)
    with pytest.raises(DomainError, match="packet_count"):
        probing.train_rate_bps(1.0, packet_bytes=1500, packet_count=1)


def test_a_clock_too_coarse_sees_no_time():
    assert probing.pair_bandwidth_bps(0.0, packet_bytes=1500) == np.inf
    assert probing.train_rate_bps(0.0, packet_bytes=1500, packet_count=2) == np.inf


@pytest.mark.each("ticks", [0.2, 0.5, 1.0, 7.3, 12.99])
def test_clock_errors_against_truncated_readings(ticks):
    """Measured: 200,000 starts at random; the standard error of their spread is below 0.002."""
    start = np.random.default_rng(7).random(200_000)
    error = np.floor(start + ticks) - np.floor(start) - ticks
    assert error.mean() == pytest.approx(0.0, abs=5e-3)
    expected = clock.interval_error_std_s(ticks * 1e-3, tick_s=1e-3)
    assert expected == pytest.approx(1e-3 * error.std(), abs=5e-6)
    assert (np.abs(error) <= clock.interval_error_limit_s(1.0)).all()


def test_mean_errors_of_a_clock():
    """Second method: the variance averaged over all fractions of a tick."""
    fractions = (np.arange(1000) + 0.5) / 1000
    spread = clock.interval_error_std_s(fractions, tick_s=1.0)
    assert clock.typical_interval_error_std_s(1.0) == pytest.approx(
        np.sqrt((spread**2).mean()), rel=1e-6
    )
    assert clock.reading_error_std_s(1.0) == pytest.approx(fractions.std(), rel=1e-5)


@pytest.mark.each("ticks", [1, 3, 7, 49, 1023])
def test_whole_ticks_have_no_error(ticks):
    """Identity, where the division itself is off by its last digit."""
    assert clock.interval_error_std_s(ticks * 1e-3, tick_s=1e-3) == 0.0
    assert clock.interval_error_std_s(ticks * 0.1, tick_s=0.1) == 0.0
