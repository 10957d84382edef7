"""Bit errors against products, draws, and the first term for rare ones."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.models.tcp import loss_limited


def test_frames_against_the_product():
    """Second method: 8 x 64 factors one by one; the first term where errors are rare."""
    survived = 1.0
    for _ in range(8 * 64):
        survived *= 1 - 1e-4
    found = loss_limited.frame_error_ratio(1e-4, frame_bytes=64)
    assert float(found) == pytest.approx(1 - survived, rel=1e-9)
    rare = loss_limited.frame_error_ratio(1e-18, frame_bytes=1518)
    assert float(rare) == pytest.approx(8 * 1518e-18, rel=1e-12)


def test_frames_against_draws():
    """Measured: 200,000 frames, the relative standard error is 0.65 %."""
    errors = np.random.default_rng(2).binomial(8 * 1518, 1e-5, 200_000)
    found = loss_limited.frame_error_ratio(1e-5, frame_bytes=1518)
    assert float(found) == pytest.approx(float((errors > 0).mean()), rel=0.03)


@pytest.mark.each("ratio", [0.0, 1e-15, 1e-6, 0.01])
def test_the_limit_is_the_inverse(ratio):
    loss = loss_limited.frame_error_ratio(ratio, frame_bytes=100)
    found = loss_limited.bit_error_limit_ratio(loss, frame_bytes=100)
    assert float(found) == pytest.approx(ratio, rel=1e-9)


def test_the_time_between_errors():
    """Derived: 10^12 bits at 10 Gbit/s take 100 s."""
    assert float(loss_limited.bit_error_interval_s(1e-12, bandwidth_bps=10e9)) == pytest.approx(100)
    assert float(loss_limited.bit_error_interval_s(0.0, bandwidth_bps=10e9)) == np.inf
