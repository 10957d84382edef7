"""PFTK: TCP Reno with timeouts, by Padhye, Firoiu, Towsley and Kurose; TFRC, which uses it.

Rates are packets per second that the sender *sends*; :func:`pftk_throughput_pps` is the rate
received. A loss of 0 leaves the window as the only limit, ``inf`` without one. At a loss of 1 the
result is 0 by rule: nothing is delivered. From 1 % loss on the full formula is 5 to 35 % above a
packet-level simulation of its own assumptions: use it to compare, not as proof.

The inverse functions, by bisection, give the *largest* loss at which a rate is still reached: a
sender on a better path is at least as fast.

TFRC, the equation that a rate-controlled sender follows, is the approximate formula with
a retransmission timeout of four round trips and without the limit on the timeouts' share. A loss
event rate of 1 is in its table: the formula holds there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, ratio
from netcalc.models.bounds import timeout_after


def _checked_path(
    rtt_s: ArrayLike, rto_s: ArrayLike, max_packets: ArrayLike, segments_per_ack: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return round trip, timeout, limit of the window and segments per ACK, each checked."""
    limit = positive("max_window_packets", max_packets, allow_inf=True)
    acked = positive("segments_per_ack", segments_per_ack)
    rtt, rto = positive("rtt_s", rtt_s), positive("rto_s", rto_s)
    timeout_after(rto, rtt)
    return rtt, rto, limit, acked


def _window_offset(acked: FloatArray) -> FloatArray:
    """Return the constant of the mean window."""
    return 2.0 / 3.0 / acked + 1.0 / 3.0


def _mean_window(loss: FloatArray, acked: FloatArray) -> FloatArray:
    """Return E[W], without a limit on the window."""
    constant = _window_offset(acked)
    return constant + np.sqrt(8.0 * (1.0 - loss) / (3.0 * acked * loss) + constant * constant)


def _backoff(loss: FloatArray) -> FloatArray:
    """Return G by Horner's rule."""
    doubled = 2.0 * loss
    total = 1.0 + doubled
    for _ in range(4):
        total = 1.0 + doubled * total
    return 1.0 + loss * total


def _timeout_share(window: FloatArray, loss: FloatArray) -> FloatArray:
    """Return Q, by powers that keep their digits at a small loss."""
    three_lost = loss * (3.0 - loss * (3.0 - loss))  # 1 - (1 - p)^3
    log_kept = np.log1p(-loss)
    more = (1.0 - three_lost) * -np.expm1((window - 3.0) * log_kept)
    share = three_lost * (1.0 + more) / -np.expm1(window * log_kept)
    share = np.where(loss > 0.0, np.minimum(share, 1.0), 3.0 / window)
    return keep_nan(np.where(window > 3.0, share, 1.0), window, loss)


def _full_formula(
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
    timeouts = _timeout_share(window, loss) * loss
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
    return packets / (rtt * rounds + timeouts * _backoff(loss) * rto / kept)


def _approximate_formula(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the approximate formula without the limit on the window."""
    share = np.minimum(1.0, 3.0 * np.sqrt(0.375 * acked * loss))
    timeouts = rto * share * (loss * (1.0 + 32.0 * loss * loss))
    return 1.0 / (rtt * np.sqrt(acked / 1.5 * loss) + timeouts)


def _sent_pps(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the rate of sending, with its edges."""
    window = _mean_window(loss, acked)
    rate = _full_formula(loss, rtt, rto, np.minimum(window, limit), acked, window >= limit)
    return _with_edges(rate, loss, window, limit)


def _received_pps(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the rate of receiving, with its edges."""
    window = _mean_window(loss, acked)
    used = np.minimum(window, limit)
    rate = _full_formula(loss, rtt, rto, used, acked, window >= limit, is_received=True)
    return _with_edges(rate, loss, window, limit)


def _approximate_pps(
    loss: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the approximate formula, with its edges."""
    rate = np.minimum(limit / rtt, _approximate_formula(loss, rtt, rto, acked))
    return np.where(loss == 1.0, 0.0, rate)


def _with_edges(
    rate: FloatArray, loss: FloatArray, window: FloatArray, limit: FloatArray
) -> FloatArray:
    """Return the rate, ``inf`` where neither loss nor window limits it and 0 at a loss of 1."""
    rate = np.where(np.isinf(np.minimum(window, limit)), np.inf, rate)
    return np.where(loss == 1.0, 0.0, rate)


@model
def pftk_window_packets(loss_ratio: ArrayLike, *, segments_per_ack: ArrayLike = 1.0) -> FloatArray:
    r"""Mean window at a loss, without a receiver limit.

    .. math:: E[W] = \frac{2+b}{3b} + \sqrt{\frac{8(1-p)}{3bp} + \left(\frac{2+b}{3b}\right)^2}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement, b: 1 in Linux, which counts
        bytes; 2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Mean window in packets; ``inf`` (not loss limited) at a loss of 0. [1]

    See Also
    --------
    netcalc.models.tcp.loss_limited.reno_window_packets : Reno.
    netcalc.models.tcp.loss_limited.aimd_window_packets : Any AIMD.
    netcalc.models.tcp.cubic.cubic_mean_window_packets : CUBIC, with Reno's window as its floor.
    netcalc.models.tcp.cubic.cubic_raw_window_packets : CUBIC outside the Reno-friendly region.

    Notes
    -----
    Validity: as :func:`pftk_rate_pps`.

    Range: loss_ratio up to 0.21.

    Defaults: segments_per_ack.

    Symbols: :math:`p` loss_ratio, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_window_packets(0.02, segments_per_ack=2)), 6)
    8.777017

    References
    ----------
    Padhye, Firoiu, Towsley and Kurose, Modeling TCP throughput, SIGCOMM 1998,
    doi:10.1145/285237.285291, eq. 13.
    """
    loss = ratio("loss_ratio", loss_ratio)
    return _mean_window(loss, positive("segments_per_ack", segments_per_ack))


@model
def pftk_timeout_ratio(window_packets: ArrayLike, *, loss_ratio: ArrayLike) -> FloatArray:
    r"""Probability that a loss event ends in a timeout.

    .. math:: Q(w) = \min\left(1, \frac{(1-(1-p)^3)(1+(1-p)^3(1-(1-p)^{w-3}))}{1-(1-p)^w}\right)

    Parameters
    ----------
    window_packets : array_like
        Window in which the loss is. [1]
    loss_ratio : array_like
        Loss events per packet sent. [ratio]

    Returns
    -------
    numpy.ndarray
        Probability; 1 up to a window of 3, and 3/w in the limit of a loss of 0. [ratio]

    Notes
    -----
    Validity: as :func:`pftk_rate_pps`; three duplicate acknowledgements are needed to avoid a
    timeout.

    Range: loss_ratio up to 0.21.

    Symbols: :math:`w` window_packets, :math:`p` loss_ratio.

    Examples
    --------
    >>> round(float(pftk_timeout_ratio(8, loss_ratio=0.02)), 6)
    0.429692

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, eq. 24.
    """
    window = positive("window_packets", window_packets, allow_inf=True)
    return _timeout_share(window, ratio("loss_ratio", loss_ratio))


@model
def pftk_backoff_factor(loss_ratio: ArrayLike) -> FloatArray:
    r"""Factor by which exponential backoff lengthens a sequence of timeouts.

    .. math:: G(p) = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]

    Returns
    -------
    numpy.ndarray
        Factor, from 1 to 64. [1]

    Notes
    -----
    Validity: a timer that doubles six times, to 64 times its first value.

    Range: everywhere.

    Symbols: :math:`p` loss_ratio.

    Examples
    --------
    >>> round(float(pftk_backoff_factor(0.3)), 6)
    1.715008

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, eq. 29.
    """
    return _backoff(ratio("loss_ratio", loss_ratio))


@model
def timeout_sequence_s(loss_ratio: ArrayLike, *, rto_s: ArrayLike) -> FloatArray:
    r"""Mean duration of a sequence of timeouts.

    .. math:: E[Z] = T_0 \frac{G(p)}{1 - p}

    Parameters
    ----------
    loss_ratio : array_like
        Share of retransmissions that are lost. [ratio]
    rto_s : array_like
        First retransmission timeout of the sequence. [s]

    Returns
    -------
    numpy.ndarray
        Mean duration; ``inf`` at a loss of 1. [s]

    Notes
    -----
    Validity: a timer that doubles to 64 times its first value and stays there; no connection is
    aborted.

    Range: everywhere.

    Symbols: :math:`p` loss_ratio, :math:`T_0` rto_s.

    Examples
    --------
    >>> round(float(timeout_sequence_s(0.4, rto_s=1.0)), 6)
    4.126187

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, 2.2.
    """
    loss = ratio("loss_ratio", loss_ratio)
    return positive("rto_s", rto_s) * _backoff(loss) / (1.0 - loss)


@model
def pftk_rate_pps(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    r"""Sending rate of Reno, by the full PFTK formula.

    .. math:: B = \frac{\frac{1-p}{p} + W + \frac{Q}{1-p}}
        {RTT\left(\frac{b}{2} W + 1\right) + \frac{Q\, G\, T_0}{1-p}}, \quad
        B = \frac{\frac{1-p}{p} + W_m + \frac{Q}{1-p}}
        {RTT\left(\frac{b}{8} W_m + \frac{1-p}{p W_m} + 2\right) + \frac{Q\, G\, T_0}{1-p}}
        \text{ if } W \ge W_m

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement, b: 1 in Linux, which counts
        bytes; 2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Packets sent per second; 0 at a loss of 1. At a loss of 0 the window over the RTT, or
        ``inf`` (not loss limited) without a largest window. [packet/s]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_throughput_bps
        Square-root law: low loss, no timeouts.
    pftk_approx_rate_pps : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_throughput_bps : CUBIC.
    netcalc.models.tcp.pftk.tfrc_throughput_bps : TFRC: PFTK with fixed timeouts.
    netcalc.models.tcp.short_transfers.lossy_transfer_s : Short transfers, slow start included.
    pftk_throughput_pps : Packets received.

    Notes
    -----
    Validity: bulk transfer, losses of one round together and rounds independent, an RTT that does
    not depend on the window. Beyond a loss of 4/19 the mean window is below the three segments that
    a fast retransmit needs: every loss waits for the timer, and the model says nothing more.

    Range: loss_ratio up to 0.21.

    Defaults: segments_per_ack.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_rate_pps(0.01, rtt_s=0.1, rto_s=0.4, segments_per_ack=2)), 4)
    77.8465

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, eq. 32.
    """
    loss = ratio("loss_ratio", loss_ratio)
    path = _checked_path(rtt_s, rto_s, max_window_packets, segments_per_ack)
    return _sent_pps(loss, *path)


@model
def pftk_throughput_pps(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    r"""Receiving rate of Reno, by the full PFTK formula.

    .. math::

        T = \frac{\frac{1-p}{p} + \frac{W}{2} + Q} {RTT\left(\frac{b}{2} W + 1\right) + \frac{Q\,
        G\, T_0}{1-p}}, \quad W < W_m

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement, b: 1 in Linux, which counts
        bytes; 2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Packets received per second; 0 at a loss of 1. At a loss of 0 the window over the RTT, or
        ``inf`` (not loss limited) without a largest window. [packet/s]

    See Also
    --------
    pftk_rate_pps : Packets sent.
    netcalc.models.tcp.ceilings.congestion_limit_bps : Any congestion control, n flows.

    Notes
    -----
    Validity: as :func:`pftk_rate_pps`; where the window is the limit, its denominator.

    Range: loss_ratio up to 0.21.

    Defaults: segments_per_ack.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_throughput_pps(0.01, rtt_s=0.1, rto_s=0.4, segments_per_ack=2)), 2)
    73.59

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, section 5, and IEEE/ACM ToN 8 (2000),
    doi:10.1109/90.842137.
    """
    loss = ratio("loss_ratio", loss_ratio)
    path = _checked_path(rtt_s, rto_s, max_window_packets, segments_per_ack)
    return _received_pps(loss, *path)


@model
def pftk_approx_rate_pps(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    r"""Sending rate of Reno, by the approximate PFTK formula.

    .. math:: B = \min\left(\frac{W_m}{RTT}, \frac{1}{RTT\sqrt{2bp/3}
        + T_0 \min(1, 3\sqrt{3bp/8})\, p (1 + 32p^2)}\right)

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement, b: 1 in Linux, which counts
        bytes; 2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Packets sent per second; 0 at a loss of 1. At a loss of 0 the window over the RTT, or
        ``inf`` (not loss limited) without a largest window. [packet/s]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_throughput_bps
        Square-root law: low loss, no timeouts.
    pftk_rate_pps : With timeouts, in packets per second.
    netcalc.models.tcp.cubic.cubic_throughput_bps : CUBIC.
    netcalc.models.tcp.pftk.tfrc_throughput_bps : TFRC: PFTK with fixed timeouts.
    netcalc.models.tcp.short_transfers.lossy_transfer_s : Short transfers, slow start included.

    Notes
    -----
    Validity: within a few percent of :func:`pftk_rate_pps` up to 2 % loss, and
    half of it above 20 %.

    Range: loss_ratio up to 0.02.

    Defaults: segments_per_ack.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_approx_rate_pps(0.01, rtt_s=0.1, rto_s=0.4, segments_per_ack=2)), 4)
    79.4309

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, eq. 33.
    """
    loss = ratio("loss_ratio", loss_ratio)
    path = _checked_path(rtt_s, rto_s, max_window_packets, segments_per_ack)
    return _approximate_pps(loss, *path)


_LEAST_LOSS = 1e-300


@model
def pftk_loss_ratio(
    rate_pps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    r"""Largest loss ratio at which Reno reaches a given rate, by the full PFTK formula.

    .. math::

        \frac{\frac{1-p}{p} + W + \frac{Q}{1-p}} {RTT\left(\frac{b}{2} W + 1\right) + \frac{Q\, G\,
        T_0}{1-p}} = B, \quad W < W_m

    Parameters
    ----------
    rate_pps : array_like
        Target rate. [packet/s]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement, b: 1 in Linux, which counts
        bytes; 2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Loss events per packet sent; nan where the window forbids the rate at any loss, 1 where
        retransmissions alone reach it. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_loss_ratio : Square-root law.
    pftk_approx_loss_ratio : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_loss_ratio : CUBIC.
    netcalc.models.tcp.pftk.tfrc_loss_ratio : TFRC.
    netcalc.models.tcp.bbr.bbr_loss_tolerance_ratio : BBR, which does not react to loss below it.

    Notes
    -----
    Validity: as :func:`netcalc.models.tcp.pftk.pftk_rate_pps`. Where the window starts to
    limit, the formula jumps by a part of a round if b is not 2: of two answers there, this is
    the larger loss.

    Range: result up to 0.21.

    Defaults: segments_per_ack.

    Symbols: :math:`B` rate_pps, :math:`p` result, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> round(float(pftk_loss_ratio(77.8464554, rtt_s=0.1, rto_s=0.4, segments_per_ack=2)), 9)
    0.01

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, eq. 32, solved by bisection.
    """
    rate = non_negative("rate_pps", rate_pps)
    path = _checked_path(rtt_s, rto_s, max_window_packets, segments_per_ack)
    return _full_loss(rate, *path)


@model
def pftk_approx_loss_ratio(
    rate_pps: ArrayLike,
    *,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    max_window_packets: ArrayLike = np.inf,
    segments_per_ack: ArrayLike = 1.0,
) -> FloatArray:
    r"""Largest loss ratio at which Reno reaches a given rate, by the approximate PFTK formula.

    .. math::

        \min\left(\frac{W_m}{RTT}, \frac{1}{RTT\sqrt{2bp/3} + T_0 \min(1, 3\sqrt{3bp/8})\, p (1 +
        32p^2)}\right) = B

    Parameters
    ----------
    rate_pps : array_like
        Target rate. [packet/s]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    rto_s : array_like
        First retransmission timeout, T0. [s]
    max_window_packets : array_like
        Largest window that the receiver allows. [1]
    segments_per_ack : array_like
        Segments for which the window grows by one acknowledgement, b: 1 in Linux, which counts
        bytes; 2 with delayed acknowledgements, as in the paper. [1]

    Returns
    -------
    numpy.ndarray
        Loss events per packet sent; nan where the window forbids the rate at any loss, 1 where
        retransmissions alone reach it. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_loss_ratio : Square-root law.
    pftk_loss_ratio : With timeouts.
    netcalc.models.tcp.cubic.cubic_loss_ratio : CUBIC.
    netcalc.models.tcp.pftk.tfrc_loss_ratio : TFRC.
    netcalc.models.tcp.bbr.bbr_loss_tolerance_ratio : BBR, which does not react to loss below it.

    Notes
    -----
    Validity: as :func:`netcalc.models.tcp.pftk.pftk_approx_rate_pps`.

    Range: result up to 0.02.

    Defaults: segments_per_ack.

    Symbols: :math:`B` rate_pps, :math:`p` result, :math:`RTT` rtt_s, :math:`T_0` rto_s, :math:`W_m`
    max_window_packets, :math:`b` segments_per_ack.

    Examples
    --------
    >>> path = {"rtt_s": 0.1, "rto_s": 0.4, "segments_per_ack": 2}
    >>> round(float(pftk_approx_loss_ratio(79.4308846639, **path)), 9)
    0.01

    References
    ----------
    Padhye et al., SIGCOMM 1998, doi:10.1145/285237.285291, eq. 33, solved by bisection.
    """
    rate = non_negative("rate_pps", rate_pps)
    path = _checked_path(rtt_s, rto_s, max_window_packets, segments_per_ack)
    return _approximate_loss(rate, *path)


def _full_loss(
    rate: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the loss of the full formula: on the side of the switch where the rate is."""
    # The loss at which the mean window is the limit: E[W] = Wm solved for (1 - p) / p.
    odds = 0.375 * acked * limit * np.maximum(limit - 2.0 * _window_offset(acked), 0.0)
    turn = 1.0 / (1.0 + odds)
    turn = np.where(turn < 1.0, turn, np.nextafter(1.0, 0.0))
    at_turn = _full_formula(turn, rtt, rto, _mean_window(turn, acked), acked, np.asarray(False))
    is_free = ~(at_turn < rate)

    def rate_at(loss: FloatArray) -> FloatArray:
        window = np.where(is_free, _mean_window(loss, acked), limit)
        return _full_formula(loss, rtt, rto, window, acked, ~is_free)

    low = np.where(is_free, np.maximum(turn, _LEAST_LOSS), _LEAST_LOSS)
    loss = _largest_loss(rate_at, rate, low, np.where(is_free, 1.0, turn))
    return keep_nan(np.where(rate > limit / rtt, np.nan, loss), rate, rtt, rto, acked, limit)


def _approximate_loss(
    rate: FloatArray, rtt: FloatArray, rto: FloatArray, limit: FloatArray, acked: FloatArray
) -> FloatArray:
    """Return the loss of the approximate formula."""

    def rate_at(loss: FloatArray) -> FloatArray:
        return _approximate_formula(loss, rtt, rto, acked)

    loss = _largest_loss(rate_at, rate, np.asarray(_LEAST_LOSS), np.asarray(1.0))
    return keep_nan(np.where(rate > limit / rtt, np.nan, loss), rate, rtt, rto, acked, limit)


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
    mss_bytes: ArrayLike = 1460.0,
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
    netcalc.models.tcp.short_transfers.lossy_transfer_s : Short transfers, slow start included.

    Notes
    -----
    Validity: the loss *event* rate, not the share of packets lost. The formula of the Systems
    Approach book lacks a factor R in its second term. Beyond 8/27 its share of losses that wait for
    the timer, 3 sqrt(3 p / 8), exceeds 1.

    Range: loss_ratio up to 0.29.

    Defaults: mss_bytes, segments_per_ack.

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
    mss_bytes: ArrayLike = 1460.0,
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

    Defaults: mss_bytes, segments_per_ack.

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
