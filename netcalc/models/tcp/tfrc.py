r"""TFRC: the throughput equation that a rate-controlled sender follows.

The approximate PFTK formula with a retransmission timeout of four round trips and without the
limit on the timeouts' share. A loss event rate of 1 is in its table: the formula holds there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive, ratio


@model
def tfrc_rounds(
    loss_ratio: ArrayLike,
    *,
    segments_per_ack: ArrayLike = 1.0,
    timeout_rtts: ArrayLike = 4.0,
) -> FloatArray:
    r"""Round trips per packet of TFRC, a function of the loss event rate alone.

    .. math:: f(p) = \sqrt{2bp/3} + 3 k \sqrt{3bp/8}\; p (1 + 32 p^2)

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet. [ratio]
    segments_per_ack : array_like
        Packets that one acknowledgement covers, b. [1]
    timeout_rtts : array_like
        Retransmission timeout in round trips. [1]

    Returns
    -------
    numpy.ndarray
        Rounds per packet; 0 at a loss of 0. [1]

    Notes
    -----
    Validity: as :func:`tfrc_throughput_bps`.

    Range: loss_ratio up to 0.29.

    Defaults: segments_per_ack.

    Symbols: :math:`p` loss_ratio, :math:`b` segments_per_ack, :math:`k` timeout_rtts.

    Examples
    --------
    >>> round(float(tfrc_rounds(0.01)), 6)
    0.089022

    References
    ----------
    RFC 5348, 3.1.
    """
    loss = ratio("loss_ratio", loss_ratio)
    acked = positive("segments_per_ack", segments_per_ack)
    return _rounds(loss, acked, positive("timeout_rtts", timeout_rtts))


@model
def tfrc_throughput_bps(
    loss_ratio: ArrayLike,
    *,
    mss_bytes: ArrayLike,
    rtt_s: ArrayLike,
    segments_per_ack: ArrayLike = 1.0,
    timeout_rtts: ArrayLike = 4.0,
) -> FloatArray:
    r"""Sending rate of TFRC.

    .. math::

        X = \frac{8 s}{R\, f(p)}, \quad f(p) = \sqrt{2bp/3} + 3 k \sqrt{3bp/8}\; p (1 + 32 p^2)

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet. [ratio]
    mss_bytes : array_like
        Size of a segment without IP and transport headers. [byte]
    rtt_s : array_like
        Round-trip time. [s]
    segments_per_ack : array_like
        Packets that one acknowledgement covers, b. [1]
    timeout_rtts : array_like
        Retransmission timeout in round trips. [1]

    Returns
    -------
    numpy.ndarray
        Sending rate; ``inf`` (not loss limited) at a loss of 0. [bit/s, payload]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_throughput_bps
        Square-root law: low loss, no timeouts.
    netcalc.models.tcp.pftk.pftk_rate_pps : With timeouts, in packets per second.
    netcalc.models.tcp.pftk.pftk_approx_rate_pps : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_throughput_bps : CUBIC.
    netcalc.models.tcp.cardwell.lossy_transfer_s : Short transfers, slow start included.

    Notes
    -----
    Validity: the loss *event* rate, not the share of packets lost. The formula of the Systems
    Approach book lacks a factor R in its second term. Beyond 8/27 its share of losses that wait for
    the timer, 3 sqrt(3 p / 8), exceeds 1.

    Range: loss_ratio up to 0.29.

    Defaults: segments_per_ack.

    Symbols: :math:`p` loss_ratio, :math:`s` mss_bytes, :math:`R` rtt_s, :math:`b` segments_per_ack,
    :math:`k` timeout_rtts.

    Examples
    --------
    >>> round(float(tfrc_throughput_bps(0.01, mss_bytes=1460, rtt_s=0.1)) / 8)
    164005

    References
    ----------
    RFC 5348, 3.1.
    """
    loss = ratio("loss_ratio", loss_ratio)
    acked = positive("segments_per_ack", segments_per_ack)
    rounds = _rounds(loss, acked, positive("timeout_rtts", timeout_rtts))
    return 8.0 * positive("mss_bytes", mss_bytes) / positive("rtt_s", rtt_s) / rounds


@model
def tfrc_loss_ratio(
    throughput_bps: ArrayLike,
    *,
    mss_bytes: ArrayLike,
    rtt_s: ArrayLike,
    segments_per_ack: ArrayLike = 1.0,
    timeout_rtts: ArrayLike = 4.0,
) -> FloatArray:
    r"""Largest loss event rate at which TFRC reaches a given rate.

    .. math:: \sqrt{2bp/3} + 3 k \sqrt{3bp/8}\; p (1 + 32 p^2) = \frac{8 s}{R X}

    Parameters
    ----------
    throughput_bps : array_like
        Target sending rate. [bit/s, payload]
    mss_bytes : array_like
        Size of a segment without IP and transport headers. [byte]
    rtt_s : array_like
        Round-trip time. [s]
    segments_per_ack : array_like
        Packets that one acknowledgement covers, b. [1]
    timeout_rtts : array_like
        Retransmission timeout in round trips. [1]

    Returns
    -------
    numpy.ndarray
        Loss event ratio, at most 1. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_loss_ratio : Square-root law.
    netcalc.models.tcp.pftk.pftk_loss_ratio : With timeouts.
    netcalc.models.tcp.pftk.pftk_approx_loss_ratio : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_loss_ratio : CUBIC.
    netcalc.models.tcp.bbr.bbr_loss_tolerance_ratio : BBR, which does not react to loss below it.

    Notes
    -----
    Validity: as :func:`tfrc_throughput_bps`. Newton's method from above on the square root of
    the loss, in which the function is convex: it cannot miss.

    Range: result up to 0.29.

    Defaults: segments_per_ack.

    Symbols: :math:`p` result, :math:`X` throughput_bps, :math:`s` mss_bytes, :math:`R` rtt_s,
    :math:`b` segments_per_ack, :math:`k` timeout_rtts.

    Examples
    --------
    >>> round(float(tfrc_loss_ratio(164005.06217 * 8, mss_bytes=1460, rtt_s=0.1)), 9)
    0.01

    References
    ----------
    RFC 5348, 3.1 and 6.3.1 (the first loss interval is found this way).
    """
    rate = non_negative("throughput_bps", throughput_bps)
    acked = positive("segments_per_ack", segments_per_ack)
    timeout = positive("timeout_rtts", timeout_rtts)
    rounds = 8.0 * positive("mss_bytes", mss_bytes) / positive("rtt_s", rtt_s) / rate
    linear, cubic = np.sqrt(2.0 * acked / 3.0), 3.0 * timeout * np.sqrt(3.0 * acked / 8.0)
    # Of the loss, from above: each of the three terms alone is a bound.
    root = np.minimum(np.minimum(rounds / linear, np.cbrt(rounds / cubic)), 1.0)
    root = np.minimum(root, (rounds / (32.0 * cubic)) ** (1 / 7))
    for _ in range(16):
        square = root * root
        excess = root * (linear + cubic * square * (1.0 + 32.0 * square * square)) - rounds
        slope = linear + cubic * square * (3.0 + 224.0 * square * square)
        root = np.minimum(root - excess / slope, 1.0)
    return root * root


def _rounds(loss: FloatArray, acked: FloatArray, timeout: FloatArray) -> FloatArray:
    timeouts = 3.0 * timeout * np.sqrt(3.0 * acked * loss / 8.0)
    return np.sqrt(2.0 * acked * loss / 3.0) + timeouts * (loss * (1.0 + 32.0 * loss * loss))
