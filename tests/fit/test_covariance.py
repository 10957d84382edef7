"""The covariance of fitted parameters, beside that of least squares by another library."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.fit import links, rtt_against_size, transfer_against_size
from netcalc.samples import HopSamples, RttSamples, TransferSamples

SIZE = np.array([2.5e5, 2e5, 4e5, 8e5, 16e5, 3e5])
# Within a decade, where least squares without weights are fitted.
NOISE = np.array([1e-3, -1e-3, 0.5e-3, -0.5e-3, 0.2e-3, -0.3e-3])


def of_polyfit(x, y):
    """Intercept, slope, and their covariance, by numpy's least squares."""
    (slope, intercept), square = np.polyfit(x, y, 1, cov=True)
    return intercept, slope, square[::-1, ::-1]


def test_a_transfer_hands_over_the_covariance_of_latency_and_rate():
    """Derived: np.polyfit, and the derivative of 8 / slope."""
    y = 0.03 + SIZE / 1e6 + NOISE
    found = transfer_against_size(TransferSamples(payload_bytes=SIZE, duration_s=y))
    _, slope, square = of_polyfit(SIZE, y)
    turn = np.diag([1.0, -8.0 / slope**2])
    assert list(found.params) == ["latency_s", "bandwidth_bps"]
    assert found.covariance == pytest.approx(turn @ square @ turn, rel=1e-9)
    assert found.degrees == 4


def test_an_echo_hands_it_over_at_size_0_without_headers():
    """Derived: base = intercept - 28 slope, rate = 16 / slope, by the matrix of derivatives."""
    y = 0.03 + SIZE / 1e6 + NOISE
    found = rtt_against_size(RttSamples(payload_bytes=SIZE, rtt_s=y))
    _, slope, square = of_polyfit(SIZE, y)
    turn = np.array([[1.0, -28.0], [0.0, -16.0 / slope**2], [0.0, 0.0]])
    assert list(found.params) == ["base_rtt_s", "bandwidth_bps", "header_bytes"]
    # The line keeps its least error at the resolution of the times, which is 0 here.
    assert found.covariance == pytest.approx(turn @ square @ turn.T, rel=1e-9, abs=1e-30)


def test_without_a_slope_the_covariance_is_unknown():
    y = np.full(SIZE.size, 0.03)
    found = transfer_against_size(TransferSamples(payload_bytes=SIZE, duration_s=y))
    assert np.isnan(found.covariance[1]).all()


def test_a_link_hands_over_the_covariance_of_its_rate_and_latency():
    """Derived: np.polyfit to both ends; rate = 8 / growth, latency = half the growth of the base.

    The two lines have noise of their own, so that the covariance of a difference is their sum.
    """
    rng = np.random.default_rng(3)
    size = np.tile([100.0, 500.0, 1000.0, 1400.0, 1500.0], 2)
    hop = np.repeat([1.0, 2.0], 5)
    rate = np.where(hop == 1, 8 / 10e6, 8 / 10e6 + 8 / 2e6)
    rtt = 0.002 * hop + rate * size + rng.normal(0, 20e-6, 10)
    answers = np.full(10, 56.0)
    found = links(HopSamples(hop=hop, packet_bytes=size, rtt_s=rtt, answer_bytes=answers)).links[1]
    fits = [of_polyfit(size[hop == n], rtt[hop == n]) for n in (1, 2)]
    turn = np.array([[1.0, -56.0], [0.0, 1.0]])  # the answer's bits are not of the latency
    both = sum(turn @ square @ turn.T for _, _, square in fits)  # of (base, slope)
    growth = fits[1][1] - fits[0][1]
    down = np.array([[0.0, -8.0 / growth**2], [0.5, 0.0]])
    assert found.covariance == pytest.approx(down @ both @ down.T, rel=1e-6)
    assert list(found.params) == ["bandwidth_bps", "latency_s"]
    assert found.degrees == 3
