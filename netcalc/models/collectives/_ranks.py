"""Ranks of a collective: its arguments, and how often their number can be halved."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, non_negative, positive, whole


def arguments(
    payload_bytes: ArrayLike, rank_count: ArrayLike, latency_s: ArrayLike, bandwidth_bps: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the checked arguments of a collective."""
    return (
        non_negative("payload_bytes", payload_bytes),
        whole("rank_count", rank_count, low=1),
        non_negative("latency_s", latency_s),
        positive("bandwidth_bps", bandwidth_bps),
    )


def doublings_down(ranks: FloatArray) -> FloatArray:
    """Return the logarithm to base 2, rounded down."""
    return keep_nan(np.frexp(ranks)[1] - 1.0, ranks)


def doublings_up(ranks: FloatArray) -> FloatArray:
    """Return the logarithm to base 2, rounded up."""
    return doublings_down(ranks) + has_rest(ranks)


def has_rest(ranks: FloatArray) -> FloatArray:
    """Return 1 where the ranks are no power of two, otherwise 0."""
    return keep_nan(np.where(np.frexp(ranks)[0] == 0.5, 0.0, 1.0), ranks)
