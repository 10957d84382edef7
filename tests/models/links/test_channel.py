"""Nyquist and Shannon: published channels, and each the inverse or the equal of the other."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from netcalc.models.links import channel


def test_published_channels():
    """Published: Tanenbaum 2.1.3, 3 kHz: 6000 bit/s binary; 30 dB: about 30,000 bit/s."""
    assert channel.nyquist_bps(3000) == 6000
    assert channel.shannon_bps(3000, snr_db=30) == pytest.approx(30_000, rel=4e-3)
    # Published: the same section: ADSL's 1 MHz at 40 dB has about 13 Mbit/s
    assert channel.shannon_bps(1e6, snr_db=40) == pytest.approx(13.3e6, rel=2e-3)


@pytest.mark.each("decibels", [-300.0, -30.0, 0.0, 10.0, 300.0, 3000.0])
def test_capacity_with_many_digits(decibels):
    """Second method: mpmath, where one plus a small power keeps its digits."""
    with mp.workdps(400):
        exact = float(mp.log(1 + mp.mpf(10) ** (mp.mpf(decibels) / 10), 2))
    found = float(channel.shannon_bps(1.0, snr_db=decibels))
    assert found == pytest.approx(exact, rel=1e-12)
    back = channel.shannon_snr_db(found, channel_hz=1.0)
    assert back == pytest.approx(decibels, rel=1e-9, abs=1e-9)


def test_levels_that_noise_leaves():
    """Identity: Shannon's capacity is Nyquist's rate for sqrt(1 + S/N) levels, here 32."""
    ratio = 10 * np.log10(32**2 - 1)
    found = channel.shannon_bps(3100, snr_db=ratio)
    assert found == pytest.approx(float(channel.nyquist_bps(3100, level_count=32)), rel=1e-12)


@pytest.mark.each("width", [0.5, 3100.0, 2e7])
@pytest.mark.each("bits", [1e-14, 1e-9, 0.3, 10.0, 57.0, 900.0])
def test_the_ratio_for_a_rate_in_a_width(width, bits):
    """Second method: mpmath, 10 log10(2^(C/B) - 1)."""
    with mp.workdps(400):
        exact = float(10 * mp.log10(mp.mpf(2) ** mp.mpf(bits) - 1))
    found = channel.shannon_snr_db(bits * width, channel_hz=width)
    assert found == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_a_signal_of_one_level_says_nothing():
    """Definition: log2(1) is 0; no signal has less than one level."""
    assert channel.nyquist_bps(3000, level_count=1) == 0
