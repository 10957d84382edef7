"""The terms of the PFTK formulas, for the formulas themselves and for their inverses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netcalc.models._domain import FloatArray
from netcalc.models._load import missing_stays


def offset(acked: FloatArray) -> FloatArray:
    """Return the constant of the mean window."""
    return 2.0 / 3.0 / acked + 1.0 / 3.0


def mean_window(loss: FloatArray, acked: FloatArray) -> FloatArray:
    """Return E[W], without a limit on the window."""
    constant = offset(acked)
    return constant + np.sqrt(8.0 * (1.0 - loss) / (3.0 * acked * loss) + constant * constant)


def backoff(loss: FloatArray) -> FloatArray:
    """Return G by Horner's rule."""
    doubled = 2.0 * loss
    total = 1.0 + doubled
    for _ in range(4):
        total = 1.0 + doubled * total
    return 1.0 + loss * total


def timeout_share(window: FloatArray, loss: FloatArray) -> FloatArray:
    """Return Q, by powers that keep their digits at a small loss."""
    three_lost = loss * (3.0 - loss * (3.0 - loss))  # 1 - (1 - p)^3
    log_kept = np.log1p(-loss)
    more = (1.0 - three_lost) * -np.expm1((window - 3.0) * log_kept)
    share = three_lost * (1.0 + more) / -np.expm1(window * log_kept)
    share = np.where(loss > 0.0, np.minimum(share, 1.0), 3.0 / window)
    return missing_stays(np.where(window > 3.0, share, 1.0), window, loss)


def full(
    loss: FloatArray,
    rtt: FloatArray,
    rto: FloatArray,
    window: FloatArray,
    acked: FloatArray,
    is_limited: NDArray[np.bool_],
    *,
    is_received: bool = False,
) -> FloatArray:
    """Return the full formula for a window, numerator and denominator times the loss."""
    kept = 1.0 - loss
    timeouts = timeout_share(window, loss) * loss
    lost_window = loss * window
    if is_received:
        packets = kept + 0.5 * lost_window + timeouts
    else:
        packets = kept + lost_window + timeouts / kept
    rounds = np.where(
        is_limited,
        acked / 8.0 * lost_window + kept / window + 2.0 * loss,
        acked / 2.0 * lost_window + loss,
    )
    return packets / (rtt * rounds + timeouts * backoff(loss) * rto / kept)


def approximate(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the approximate formula without the limit on the window."""
    share = np.minimum(1.0, 3.0 * np.sqrt(0.375 * acked * loss))
    timeouts = rto * share * (loss * (1.0 + 32.0 * loss * loss))
    return 1.0 / (rtt * np.sqrt(acked / 1.5 * loss) + timeouts)


def sent_pps(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the rate of sending, with its edges."""
    window = mean_window(loss, acked)
    rate = full(loss, rtt, rto, np.minimum(window, limit), acked, window >= limit)
    return _with_edges(rate, loss, window, limit)


def received_pps(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the rate of receiving, with its edges."""
    window = mean_window(loss, acked)
    used = np.minimum(window, limit)
    rate = full(loss, rtt, rto, used, acked, window >= limit, is_received=True)
    return _with_edges(rate, loss, window, limit)


def approximate_pps(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the approximate formula, with its edges."""
    rate = np.minimum(limit / rtt, approximate(loss, rtt, rto, acked))
    return np.where(loss == 1.0, 0.0, rate)


def _with_edges(
    rate: FloatArray, loss: FloatArray, window: FloatArray, limit: FloatArray
) -> FloatArray:
    """Return the rate, ``inf`` where neither loss nor window limits it and 0 at a loss of 1."""
    rate = np.where(np.isinf(np.minimum(window, limit)), np.inf, rate)
    return np.where(loss == 1.0, 0.0, rate)
