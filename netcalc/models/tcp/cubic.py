r"""CUBIC: its window over time, and its throughput under loss.

The window is counted in packets and time in seconds, so that growth does not depend on the round
trip. Where Reno would be faster CUBIC follows it: the mean window under loss has Reno's as its
floor. A loss ratio of 0 does not limit the window: ``inf``. The inverse,
:func:`cubic_loss_ratio`, gives the largest loss at which a throughput is still reached.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, model, non_negative, positive, ratio
from netcalc.models.bounds import tcp_rate
from netcalc.models.tcp.loss_limited import MATHIS_CONSTANT

CUBIC_SCALE = 0.4
"""Scaling constant C of RFC 9438, in packets per second cubed."""

CUBIC_DECREASE = 0.7
"""What CUBIC keeps of its window after a loss (RFC 9438, 4.6)."""


@model
def cubic_window_packets(
    elapsed_s: ArrayLike,
    *,
    peak_window_packets: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
) -> FloatArray:
    r"""Congestion window of CUBIC over time after a loss.

    .. math:: W(t) = C (t - K)^3 + W_{max}, \quad K = \sqrt[3]{W_{max} (1 - \beta) / C}

    Parameters
    ----------
    elapsed_s : array_like
        Time since the loss. [s]
    peak_window_packets : array_like
        Window at the loss. [1]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Window: concave up to the old peak, then convex. [1]

    Notes
    -----
    Validity: without fast convergence, and outside the Reno-friendly region.

    Range: everywhere.

    Symbols: :math:`t` elapsed_s, :math:`W_{max}` peak_window_packets, :math:`C` cubic_scale,
    :math:`\beta` decrease_factor.

    Examples
    --------
    Right after the loss, at the plateau, and as far beyond it:

    >>> cubic_window_packets([0, 9.0856, 18.1712], peak_window_packets=1000).round(1).tolist()
    [700.0, 1000.0, 1300.0]

    References
    ----------
    RFC 9438, eq. 1.
    """
    elapsed = non_negative("elapsed_s", elapsed_s)
    peak = positive("peak_window_packets", peak_window_packets)
    scale = positive("cubic_scale", cubic_scale)
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    # The cube root of C is drawn into the bracket: no scale overflows, and W(0) is exact.
    root = np.cbrt(scale) * elapsed - np.cbrt(peak * (1.0 - kept))
    return np.maximum(root * root * root + peak, 0.0)  # below 0 by rounding alone, at a factor of 0


@model
def cubic_k_s(
    peak_window_packets: ArrayLike,
    *,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
) -> FloatArray:
    r"""Time until CUBIC regains its window before the loss, K.

    .. math:: K = \sqrt[3]{W_{max} (1 - \beta) / C}

    Parameters
    ----------
    peak_window_packets : array_like
        Window at the loss. [1]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Time from the loss to the old window. [s]

    Notes
    -----
    Validity: as :func:`cubic_window_packets`.

    Typical: 9.1 s for a window of 1000 packets, 1.3 s for 3.

    Range: everywhere.

    Symbols: :math:`W_{max}` peak_window_packets, :math:`C` cubic_scale, :math:`\beta`
    decrease_factor.

    Examples
    --------
    >>> round(float(cubic_k_s(1000)), 6)
    9.085603

    References
    ----------
    RFC 9438, eq. 2.
    """
    peak = non_negative("peak_window_packets", peak_window_packets)
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    return np.cbrt(peak * (1.0 - kept)) / np.cbrt(positive("cubic_scale", cubic_scale))


@model
def cubic_increase_packets(decrease_factor: ArrayLike) -> FloatArray:
    r"""Additive increase that makes AIMD with CUBIC's decrease as fast as Reno.

    .. math:: \alpha = 3 \frac{1 - \beta}{1 + \beta}

    Parameters
    ----------
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Packets added to the window each round: 9/17 for 0.7. [1]

    Notes
    -----
    Validity: up to the old peak; beyond it RFC 9438 adds 1.

    Range: everywhere.

    Symbols: :math:`\beta` decrease_factor.

    Examples
    --------
    >>> round(float(cubic_increase_packets(0.7)), 6)
    0.529412

    References
    ----------
    RFC 9438, 4.3.
    """
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    return 3.0 * (1.0 - kept) / (1.0 + kept)


@model
def cubic_loss_interval_s(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
) -> FloatArray:
    r"""Time between losses of CUBIC under periodic loss.

    .. math:: K = \sqrt[4]{\frac{4 (1 - \beta)}{C (3 + \beta)} \frac{RTT}{p}}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    rtt_s : array_like
        Round-trip time. [s]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Time from one loss to the next, K of the steady state; ``inf`` at a loss of 0. [s]

    See Also
    --------
    netcalc.models.tcp.loss_limited.reno_loss_interval_s : Reno.
    netcalc.models.tcp.sharing.sawtooth_period_s : AIMD with a fixed peak window.

    Notes
    -----
    Validity: as :func:`cubic_raw_window_packets`.

    Range: loss_ratio up to 0.01.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`C` cubic_scale, :math:`\beta`
    decrease_factor.

    Examples
    --------
    >>> round(float(cubic_loss_interval_s(1e-7, rtt_s=0.05)), 4)
    25.2332

    References
    ----------
    RFC 9438, 5.1: the packets of a period, the integral of the window over its rounds, are 1/p.
    """
    loss = ratio("loss_ratio", loss_ratio)
    rtt = positive("rtt_s", rtt_s)
    shape = _cubic_shape(positive("cubic_scale", cubic_scale), decrease_factor)
    return np.sqrt(np.sqrt(rtt / (shape * loss)))


@model
def cubic_raw_window_packets(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
) -> FloatArray:
    r"""Mean congestion window of CUBIC under periodic loss, outside the Reno-friendly region.

    .. math:: \bar W = \sqrt[4]{\frac{C (3 + \beta)}{4 (1 - \beta)}}
        \left(\frac{RTT}{p}\right)^{3/4}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    rtt_s : array_like
        Round-trip time. [s]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean window; ``inf`` (not loss limited) at a loss of 0. [1]

    See Also
    --------
    netcalc.models.tcp.loss_limited.reno_window_packets : Reno.
    netcalc.models.tcp.loss_limited.aimd_window_packets : Any AIMD.
    netcalc.models.tcp.pftk.pftk_window_packets : Reno, the window at a loss.
    cubic_mean_window_packets : CUBIC, with Reno's window as its floor.

    Notes
    -----
    Validity: every 1/p-th packet is lost, no fast convergence, loss up to the 1 % of the tables in
    RFC 9438.

    Range: loss_ratio up to 0.01.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`C` cubic_scale, :math:`\beta`
    decrease_factor.

    Examples
    --------
    >>> round(float(cubic_raw_window_packets(1e-7, rtt_s=0.05)), 2)
    19815.16

    References
    ----------
    RFC 9438, eq. 5.
    """
    loss = ratio("loss_ratio", loss_ratio)
    rtt = positive("rtt_s", rtt_s)
    return _raw_window(
        loss, rtt, _cubic_shape(positive("cubic_scale", cubic_scale), decrease_factor)
    )


@model
def cubic_mean_window_packets(
    loss_ratio: ArrayLike,
    *,
    rtt_s: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
    reno_constant: ArrayLike = MATHIS_CONSTANT,
) -> FloatArray:
    r"""Mean congestion window of CUBIC under periodic loss, with Reno's as its floor.

    .. math:: \bar W = \max\left(\sqrt[4]{\frac{C (3 + \beta)}{4 (1 - \beta)}}
        \left(\frac{RTT}{p}\right)^{3/4}, \frac{C_R}{\sqrt{p}}\right)

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    rtt_s : array_like
        Round-trip time. [s]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]
    reno_constant : array_like
        Constant of the square-root law: 1.2247, or 1.2 as the tables of RFC 9438 round it. [1]

    Returns
    -------
    numpy.ndarray
        Mean window; ``inf`` (not loss limited) at a loss of 0. [1]

    See Also
    --------
    netcalc.models.tcp.loss_limited.reno_window_packets : Reno.
    netcalc.models.tcp.loss_limited.aimd_window_packets : Any AIMD.
    netcalc.models.tcp.pftk.pftk_window_packets : Reno, the window at a loss.
    cubic_raw_window_packets : CUBIC outside the Reno-friendly region.

    Notes
    -----
    Validity: as :func:`cubic_raw_window_packets`. A real flow mixes both regions within a period
    near the crossing.

    Range: loss_ratio up to 0.01.

    Symbols: :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`C` cubic_scale, :math:`\beta`
    decrease_factor, :math:`C_R` reno_constant.

    Examples
    --------
    >>> cubic_mean_window_packets([1e-2, 1e-4, 1e-8], rtt_s=0.1, reno_constant=1.2).round().tolist()
    [12.0, 187.0, 187400.0]

    References
    ----------
    RFC 9438, eq. 6 and tables 1 and 2.
    """
    loss = ratio("loss_ratio", loss_ratio)
    rtt = positive("rtt_s", rtt_s)
    raw = _raw_window(
        loss, rtt, _cubic_shape(positive("cubic_scale", cubic_scale), decrease_factor)
    )
    return np.maximum(raw, positive("reno_constant", reno_constant) / np.sqrt(loss))


@model
def cubic_throughput_bps(
    loss_ratio: ArrayLike,
    *,
    packet_bytes: ArrayLike = 1460.0,
    rtt_s: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
    reno_constant: ArrayLike = MATHIS_CONSTANT,
) -> FloatArray:
    r"""Loss-limited throughput of CUBIC.

    .. math::

        X = \frac{8 L}{RTT} \max\left(\sqrt[4]{\frac{C (3 + \beta)}{4 (1 - \beta)}}
        \left(\frac{RTT}{p}\right)^{3/4}, \frac{C_R}{\sqrt{p}}\right)

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    packet_bytes : array_like
        Size of a packet at the layer of the result: the payload of a segment for goodput. [byte]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]
    reno_constant : array_like
        Constant of the square-root law: 1.2247, or 1.2 as the tables of RFC 9438 round it. [1]

    Returns
    -------
    numpy.ndarray
        Throughput; ``inf`` (not loss limited) at a loss of 0, 0 at a loss of 1.
        [bit/s, layer of packet_bytes]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_throughput_bps
        Square-root law: low loss, no timeouts.
    netcalc.models.tcp.pftk.pftk_rate_pps : With timeouts, in packets per second.
    netcalc.models.tcp.ceilings.congestion_limit_bps : Any congestion control, n flows.
    netcalc.models.tcp.pftk.pftk_approx_rate_pps : With timeouts, approximately.
    netcalc.models.tcp.pftk.tfrc_throughput_bps : TFRC: PFTK with fixed timeouts.
    netcalc.models.tcp.short_transfers.lossy_transfer_s : Short transfers, slow start included.

    Notes
    -----
    Validity: as :func:`cubic_mean_window_packets`.

    Range: loss_ratio up to 0.01.

    Defaults: packet_bytes.

    Symbols: :math:`L` packet_bytes, :math:`p` loss_ratio, :math:`RTT` rtt_s, :math:`C` cubic_scale,
    :math:`\beta` decrease_factor, :math:`C_R` reno_constant.

    Examples
    --------
    >>> round(float(cubic_throughput_bps(2.946e-8, packet_bytes=1500, rtt_s=0.1)) / 1e9, 3)
    10.001

    References
    ----------
    RFC 9438, eq. 6 and table 3.
    """
    loss = ratio("loss_ratio", loss_ratio)
    rtt = positive("rtt_s", rtt_s)
    raw = _raw_window(
        loss, rtt, _cubic_shape(positive("cubic_scale", cubic_scale), decrease_factor)
    )
    window = np.maximum(raw, positive("reno_constant", reno_constant) / np.sqrt(loss))
    rate = window * (8.0 * positive("packet_bytes", packet_bytes) / rtt)
    throughput = tcp_rate(cubic_throughput_bps, rate, rtt)
    is_lost = loss == 1.0
    return np.where(is_lost, 0.0, throughput) if is_lost.any() else throughput


@model
def cubic_loss_ratio(
    throughput_bps: ArrayLike,
    *,
    packet_bytes: ArrayLike = 1460.0,
    rtt_s: ArrayLike,
    cubic_scale: ArrayLike = CUBIC_SCALE,
    decrease_factor: ArrayLike = CUBIC_DECREASE,
    reno_constant: ArrayLike = MATHIS_CONSTANT,
) -> FloatArray:
    r"""Largest loss ratio at which CUBIC reaches a given throughput.

    .. math::

        p = \max\left( RTT \sqrt[3]{\frac{C (3 + \beta)}{4 (1 - \beta)}}\, W^{-4/3},
        \left(\frac{C_R}{W}\right)^2\right), \quad W = \frac{X\, RTT}{8 L}

    Parameters
    ----------
    throughput_bps : array_like
        Target throughput. [bit/s, layer of packet_bytes]
    packet_bytes : array_like
        Size of a packet at the layer of the rate. [byte]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    cubic_scale : array_like
        Scaling constant C, in packets per second cubed. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]
    reno_constant : array_like
        Constant of the square-root law: 1.2247, or 1.2 as the tables of RFC 9438 round it. [1]

    Returns
    -------
    numpy.ndarray
        Loss event ratio, at most 1. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.mathis_loss_ratio : Square-root law.
    netcalc.models.tcp.pftk.pftk_loss_ratio : With timeouts.
    netcalc.models.tcp.pftk.pftk_approx_loss_ratio : With timeouts, approximately.
    netcalc.models.tcp.pftk.tfrc_loss_ratio : TFRC.
    netcalc.models.tcp.bbr.bbr_loss_tolerance_ratio : BBR, which does not react to loss below it.

    Notes
    -----
    Validity: as :func:`cubic_mean_window_packets`.

    Range: result up to 0.01.

    Defaults: packet_bytes.

    Symbols: :math:`X` throughput_bps, :math:`L` packet_bytes, :math:`RTT` rtt_s, :math:`C`
    cubic_scale, :math:`\beta` decrease_factor, :math:`C_R` reno_constant.

    Examples
    --------
    10 Gbit/s at 100 ms: Reno would need 2.2e-10.

    >>> round(float(cubic_loss_ratio(10e9, packet_bytes=1500, rtt_s=0.1)), 11)
    2.946e-08

    References
    ----------
    RFC 9438, table 3 (two digits, truncated), from eq. 6 solved for the loss.
    """
    rtt = positive("rtt_s", rtt_s)
    rate = tcp_rate(cubic_loss_ratio, non_negative("throughput_bps", throughput_bps), rtt)
    shape = _cubic_shape(positive("cubic_scale", cubic_scale), decrease_factor)
    window = rate * (rtt / (8.0 * positive("packet_bytes", packet_bytes)))
    reno = positive("reno_constant", reno_constant)
    outside_reno = rtt * np.cbrt(shape / window) / window
    return np.minimum(np.maximum(outside_reno, (reno / window) ** 2), 1.0)


def _cubic_shape(scale: FloatArray, decrease_factor: ArrayLike) -> FloatArray:
    """Return C (3 + beta) / (4 (1 - beta)): the fourth power of 1/p in K, in rounds."""
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    return scale * (3.0 + kept) / (4.0 * (1.0 - kept))


def _raw_window(loss: FloatArray, rtt: FloatArray, shape: FloatArray) -> FloatArray:
    # The fourth root of shape (rtt/p)^3, by square roots: two thirds of the time of a power.
    root = np.sqrt(rtt / loss)
    return np.sqrt(root) * root * np.sqrt(np.sqrt(shape))
