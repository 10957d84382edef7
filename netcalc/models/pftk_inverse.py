r"""The loss at which PFTK gives a rate: the inverse question, by bisection.

The answer is the *largest* loss at which the rate is still reached: a sender on a better path is
at least as fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from netcalc.models._blocks import in_blocks
from netcalc.models._domain import FloatArray, non_negative, positive, quiet
from netcalc.models._load import missing_stays
from netcalc.models._pftk import approximate, full, mean_window, offset

_LEAST_LOSS = 1e-300


@quiet
def pftk_loss_ratio(
    rate_pps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 2.0,
) -> FloatArray:
    r"""Largest loss at which a Reno sender still sends at a given rate, the full formula.

    .. math::

        \frac{\frac{1-p}{p} + W + \frac{Q}{1-p}} {RTT\left(\frac{b}{2} W + 1\right) + \frac{Q\, G\,
        T_0}{1-p}} = B, \quad W < W_m

    Parameters
    ----------
    rate_pps : array_like
        Rate wanted. [packet/s]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments that one acknowledgement answers, b. [1]

    Returns
    -------
    numpy.ndarray
        Loss events per packet sent; nan where the window forbids the rate at any loss, 1 where
        retransmissions alone reach it. [ratio]

    Raises
    ------
    DomainError
        If ``rate_pps`` is negative, or another input zero or negative.

    Notes
    -----
    Validity: as :func:`netcalc.models.pftk.pftk_rate_pps`. Where the window starts to
    limit, the formula jumps by a part of a round if b is not 2: of two answers there, this is
    the larger loss.

    Symbols: :math:`B` rate_pps, :math:`p` result, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_loss_ratio(77.8464554, rtt_s=0.1, rto_s=0.4)), 9)
    0.01

    References
    ----------
    Padhye et al., SIGCOMM 1998, eq. 32, solved by bisection.
    """
    rate = non_negative("rate_pps", rate_pps)
    limit = positive("max_window_packets", max_window_packets, allow_inf=True)
    acked = positive("segments_per_ack", segments_per_ack)
    rtt, rto = positive("rtt_s", rtt_s), positive("rto_s", rto_s)
    return in_blocks(_loss, rate, rtt, rto, limit, acked)


@quiet
def pftk_approx_loss_ratio(
    rate_pps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 2.0,
) -> FloatArray:
    r"""Largest loss at which a Reno sender still sends at a given rate, the approximate formula.

    .. math::

        \min\left(\frac{W_m}{RTT}, \frac{1}{RTT\sqrt{2bp/3} + T_0 \min(1, 3\sqrt{3bp/8})\, p (1 +
        32p^2)}\right) = B

    Parameters
    ----------
    rate_pps : array_like
        Rate wanted. [packet/s]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments that one acknowledgement answers, b. [1]

    Returns
    -------
    numpy.ndarray
        Loss events per packet sent; nan where the window forbids the rate at any loss, 1 where
        retransmissions alone reach it. [ratio]

    Raises
    ------
    DomainError
        If ``rate_pps`` is negative, or another input zero or negative.

    Notes
    -----
    Validity: as :func:`netcalc.models.pftk.pftk_approx_rate_pps`.

    Symbols: :math:`B` rate_pps, :math:`p` result, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_approx_loss_ratio(79.4308846639, rtt_s=0.1, rto_s=0.4)), 9)
    0.01

    References
    ----------
    Padhye et al., SIGCOMM 1998, eq. 33, solved by bisection.
    """
    rate = non_negative("rate_pps", rate_pps)
    limit = positive("max_window_packets", max_window_packets, allow_inf=True)
    acked = positive("segments_per_ack", segments_per_ack)
    rtt, rto = positive("rtt_s", rtt_s), positive("rto_s", rto_s)
    return in_blocks(_approximate_loss, rate, rtt, rto, limit, acked)


def _loss(
    rate: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the loss of the full formula: on the side of the switch where the rate is."""
    # The loss at which the mean window is the limit: E[W] = Wm solved for (1 - p) / p.
    odds = 0.375 * acked * limit * np.maximum(limit - 2.0 * offset(acked), 0.0)
    turn = 1.0 / (1.0 + odds)
    turn = np.where(turn < 1.0, turn, np.nextafter(1.0, 0.0))
    at_turn = full(turn, rtt, rto, mean_window(turn, acked), acked, np.asarray(False))
    is_free = ~(at_turn < rate)

    def rate_at(loss: FloatArray) -> FloatArray:
        window = np.where(is_free, mean_window(loss, acked), limit)
        return full(loss, rtt, rto, window, acked, ~is_free)

    low = np.where(is_free, np.maximum(turn, _LEAST_LOSS), _LEAST_LOSS)
    found = _largest_loss(rate_at, rate, low, np.where(is_free, 1.0, turn))
    return missing_stays(np.where(rate > limit / rtt, np.nan, found), rate, rtt, rto, acked, limit)


def _approximate_loss(
    rate: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the loss of the approximate formula."""

    def rate_at(loss: FloatArray) -> FloatArray:
        return approximate(loss, rtt, rto, acked)

    found = _largest_loss(rate_at, rate, np.asarray(_LEAST_LOSS), np.asarray(1.0))
    return missing_stays(np.where(rate > limit / rtt, np.nan, found), rate, rtt, rto, acked, limit)


def _largest_loss(
    rate_at: Callable[[FloatArray], FloatArray],
    rate: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Return the largest loss in a bracket at which the rate is reached, by bisection of its log.

    Where the rate is reached next to a loss of 1, the answer is 1.
    """
    log_low, log_high = np.log(low), np.log(high)
    for _ in range(70):
        middle = 0.5 * (log_low + log_high)
        is_reached = rate_at(np.exp(middle)) >= rate
        log_low = np.where(is_reached, middle, log_low)
        log_high = np.where(is_reached, log_high, middle)
    return np.exp(log_high)
