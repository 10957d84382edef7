r"""Loss: the square-root law of TCP, lost datagrams, and frames that bit errors destroy.

A sender that adds a packet per round trip and halves its window at each loss keeps
:math:`\sqrt{3/(2bp)}` packets in flight. A loss ratio of 0 is not a limit at all: ``inf``, to be
capped by the window and the link. At 1 nothing is delivered: 0.

Fragments are not retransmitted individually: the receiver discards a datagram of which one fragment
is missing, so a datagram of many fragments is lost far more often than a packet.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, model, non_negative, positive, ratio, whole
from netcalc.models.bounds import tcp_rate

MATHIS_CONSTANT = math.sqrt(1.5)
"""Constant of the square-root law with an acknowledgement for each segment."""

RANDOM_CONSTANT = 1.31
"""The same where losses are random and not periodic (Mathis et al. 1997, table 1)."""

RFC_CONSTANT = 1.2
"""What the tables of RFC 3649 and RFC 9438 round it to."""


@model
def mathis_constant(segments_per_ack: ArrayLike) -> FloatArray:
    r"""Constant of the square-root law: 1.22 with an acknowledgement for each segment.

    .. math:: C = \sqrt{3 / (2b)}

    Parameters
    ----------
    segments_per_ack : array_like
        Segments that one acknowledgement covers: 1, or 2 with delayed acknowledgements. [1]

    Returns
    -------
    numpy.ndarray
        Constant C. [1]

    Notes
    -----
    Validity: periodic losses. For random ones Mathis et al. give 1.31 and 0.93.

    Range: everywhere.

    Symbols: :math:`b` segments_per_ack.

    Examples
    --------
    >>> mathis_constant([1, 2]).round(4).tolist()
    [1.2247, 0.866]

    References
    ----------
    Mathis, Semke, Mahdavi and Ott, The macroscopic behavior of the TCP congestion avoidance
    algorithm, CCR 27 (1997), doi:10.1145/263932.264023, table 1.
    """
    return np.sqrt(1.5 / positive("segments_per_ack", segments_per_ack))


@model
def mathis_throughput_bps(
    loss_ratio: ArrayLike,
    *,
    mss_bytes: ArrayLike = 1460.0,
    rtt_s: ArrayLike,
    constant: ArrayLike = MATHIS_CONSTANT,
) -> FloatArray:
    r"""Loss-limited throughput of Reno, by the square-root law (Mathis).

    .. math:: X = \frac{8\, MSS}{RTT} \frac{C}{\sqrt{p}}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    mss_bytes : array_like
        Payload of a segment. [byte]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    constant : array_like
        Constant C, see :func:`mathis_constant`. [1]

    Returns
    -------
    numpy.ndarray
        Throughput in payload; ``inf`` (not loss limited) at a loss of 0, 0 at a loss of 1.
        [bit/s, TCP payload]

    See Also
    --------
    netcalc.models.tcp.pftk.pftk_rate_pps : With timeouts, in packets per second.
    netcalc.models.tcp.ceilings.congestion_limit_bps : Any congestion control, n flows.
    netcalc.models.tcp.pftk.pftk_approx_rate_pps : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_throughput_bps : CUBIC.
    netcalc.models.tcp.pftk.tfrc_throughput_bps : TFRC: PFTK with fixed timeouts.
    netcalc.models.tcp.short_transfers.lossy_transfer_s : Short transfers, slow start included.

    Notes
    -----
    Validity: losses up to about 1 %, no timeouts, a window that nothing else limits. Losses of
    one round count as one event.

    Typical: 1460-byte segments, 100 ms and a loss of 0.01 % give 14 Mbit/s.

    Range: loss_ratio up to 0.01.

    Defaults: mss_bytes.

    Symbols: :math:`p` loss_ratio, :math:`MSS` mss_bytes, :math:`RTT` rtt_s, :math:`C` constant.

    Examples
    --------
    >>> round(float(mathis_throughput_bps(0.01, mss_bytes=1460, rtt_s=0.1)))
    1430502

    References
    ----------
    Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023, eq. 3.
    """
    loss = ratio("loss_ratio", loss_ratio)
    segment_bits = 8.0 * positive("mss_bytes", mss_bytes)
    rtt = positive("rtt_s", rtt_s)
    rate = segment_bits / rtt * positive("constant", constant)
    throughput = tcp_rate(mathis_throughput_bps, rate / np.sqrt(loss), rtt)
    is_lost = loss == 1.0
    return np.where(is_lost, 0.0, throughput) if is_lost.any() else throughput


@model
def mathis_loss_ratio(
    throughput_bps: ArrayLike,
    *,
    mss_bytes: ArrayLike = 1460.0,
    rtt_s: ArrayLike,
    constant: ArrayLike = MATHIS_CONSTANT,
) -> FloatArray:
    r"""Largest loss ratio at which Reno reaches a given throughput (Mathis).

    .. math:: p = \left(\frac{8\, MSS\, C}{RTT\, X}\right)^2

    Parameters
    ----------
    throughput_bps : array_like
        Target throughput, in payload. [bit/s, TCP payload]
    mss_bytes : array_like
        Payload of a segment. [byte]
    rtt_s : array_like
        Round-trip time, queues included. [s]
    constant : array_like
        Constant C, see :func:`mathis_constant`. [1]

    Returns
    -------
    numpy.ndarray
        Loss event ratio, at most 1. [ratio]

    See Also
    --------
    netcalc.models.tcp.pftk.pftk_loss_ratio : With timeouts.
    netcalc.models.tcp.pftk.pftk_approx_loss_ratio : With timeouts, approximately.
    netcalc.models.tcp.cubic.cubic_loss_ratio : CUBIC.
    netcalc.models.tcp.pftk.tfrc_loss_ratio : TFRC.
    netcalc.models.tcp.bbr.bbr_loss_tolerance_ratio : BBR, which does not react to loss below it.

    Notes
    -----
    Validity: as :func:`mathis_throughput_bps`; a result above a few percent is a rate at which
    timeouts dominate, use :func:`netcalc.models.tcp.pftk.pftk_loss_ratio` there.

    Range: result up to 0.01.

    Defaults: mss_bytes.

    Symbols: :math:`X` throughput_bps, :math:`MSS` mss_bytes, :math:`RTT` rtt_s, :math:`C` constant.

    Examples
    --------
    Which loss lets 1 Gbit/s through at 100 ms:

    >>> round(float(mathis_loss_ratio(1e9, mss_bytes=1460, rtt_s=0.1)), 12)
    2.0463e-08

    References
    ----------
    Mathis et al., CCR 27 (1997), doi:10.1145/263932.264023, eq. 3 solved for the loss.
    """
    rate = non_negative("throughput_bps", throughput_bps)
    segment_bits = 8.0 * positive("mss_bytes", mss_bytes)
    rtt = positive("rtt_s", rtt_s)
    factor = segment_bits / rtt * positive("constant", constant)
    return np.minimum((factor / tcp_rate(mathis_loss_ratio, rate, rtt)) ** 2, 1.0)


@model
def reno_window_packets(
    loss_ratio: ArrayLike, *, constant: ArrayLike = MATHIS_CONSTANT
) -> FloatArray:
    r"""Mean congestion window of Reno.

    .. math:: \bar W = C / \sqrt{p}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    constant : array_like
        Constant C: 1.2247, or 1.2 as the tables of RFC 3649 and RFC 9438 round it. [1]

    Returns
    -------
    numpy.ndarray
        Mean window; ``inf`` (not loss limited) at a loss of 0. [1]

    See Also
    --------
    aimd_window_packets : Any AIMD.
    netcalc.models.tcp.pftk.pftk_window_packets : Reno, the window at a loss.
    netcalc.models.tcp.cubic.cubic_mean_window_packets : CUBIC, with Reno's window as its floor.
    netcalc.models.tcp.cubic.cubic_raw_window_packets : CUBIC outside the Reno-friendly region.

    Notes
    -----
    Validity: as :func:`mathis_throughput_bps`.

    Range: loss_ratio up to 0.01.

    Symbols: :math:`p` loss_ratio, :math:`C` constant.

    Examples
    --------
    >>> round(float(reno_window_packets(1e-4, constant=1.2)), 6)
    120.0

    References
    ----------
    RFC 3649, table 1; RFC 9438, tables 1 and 2.
    """
    loss = ratio("loss_ratio", loss_ratio)
    return positive("constant", constant) / np.sqrt(loss)


@model
def reno_loss_interval_s(
    loss_ratio: ArrayLike, *, packet_bytes: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Time between losses at a given rate and loss ratio.

    .. math:: t = \frac{8 L}{p R}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    packet_bytes : array_like
        Size of a packet at the layer of the rate. [byte]
    bandwidth_bps : array_like
        Rate that is sent. [bit/s]

    Returns
    -------
    numpy.ndarray
        Mean time from one loss event to the next; ``inf`` at a loss of 0. [s]

    See Also
    --------
    netcalc.models.tcp.cubic.cubic_loss_interval_s : CUBIC.
    netcalc.models.tcp.sharing.sawtooth_period_s : AIMD with a fixed peak window.

    Notes
    -----
    Validity: exact as a mean.

    Range: loss_ratio up to 0.01.

    Symbols: :math:`p` loss_ratio, :math:`L` packet_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    What Reno needs for 10 Gbit/s at 100 ms: a loss in 100 minutes.

    >>> round(float(reno_loss_interval_s(2e-10, packet_bytes=1500, bandwidth_bps=10e9)), 6)
    6000.0

    References
    ----------
    RFC 3649, section 1.
    """
    loss = ratio("loss_ratio", loss_ratio)
    packet_s = positive("packet_bytes", packet_bytes) / positive("bandwidth_bps", bandwidth_bps)
    return 8.0 * packet_s / loss


@model
def aimd_window_packets(
    loss_ratio: ArrayLike,
    *,
    increase_packets: ArrayLike = 1.0,
    decrease_factor: ArrayLike = 0.5,
) -> FloatArray:
    r"""Mean congestion window of AIMD(α, β).

    .. math:: \bar W = \sqrt{\frac{\alpha (1 + \beta)}{2 (1 - \beta)\, p}}

    Parameters
    ----------
    loss_ratio : array_like
        Loss events per packet sent. [ratio]
    increase_packets : array_like
        Packets added to the window each round. [1]
    decrease_factor : array_like
        Multiplicative decrease: the window after a loss over that before it. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean window; ``inf`` (not loss limited) at a loss of 0, or if losses change nothing. [1]

    See Also
    --------
    reno_window_packets : Reno.
    netcalc.models.tcp.pftk.pftk_window_packets : Reno, the window at a loss.
    netcalc.models.tcp.cubic.cubic_mean_window_packets : CUBIC, with Reno's window as its floor.
    netcalc.models.tcp.cubic.cubic_raw_window_packets : CUBIC outside the Reno-friendly region.

    Notes
    -----
    Validity: as :func:`mathis_throughput_bps`; Reno is AIMD(1, 1/2).

    Range: loss_ratio up to 0.01.

    Symbols: :math:`p` loss_ratio, :math:`\alpha` increase_packets, :math:`\beta` decrease_factor.

    Examples
    --------
    CUBIC in its Reno-friendly region is as fast as Reno:

    >>> round(float(aimd_window_packets(1e-4, increase_packets=9/17, decrease_factor=0.7)), 3)
    122.474
    >>> round(float(aimd_window_packets(1e-4)), 3)
    122.474

    References
    ----------
    RFC 9438, eq. 3; Floyd, Handley and Padhye, A comparison of equation-based and AIMD
    congestion control (2000).
    """
    loss = ratio("loss_ratio", loss_ratio)
    kept = between("decrease_factor", decrease_factor, 0.0, 1.0)
    factor = positive("increase_packets", increase_packets) * (1.0 + kept) / (2.0 * (1.0 - kept))
    return np.sqrt(factor / loss)


@model
def datagram_loss_ratio(loss_ratio: ArrayLike, *, fragments: ArrayLike) -> FloatArray:
    r"""Datagram loss ratio where the loss of one fragment loses the datagram.

    .. math:: P = 1 - (1 - p)^k

    Parameters
    ----------
    loss_ratio : array_like
        Share of fragments lost. [ratio]
    fragments : array_like
        Fragments of each datagram. [1]

    Returns
    -------
    numpy.ndarray
        Share of datagrams lost, with full precision at small losses. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.frame_error_ratio : Bit errors.

    Notes
    -----
    Validity: independent losses; in a loss burst several fragments of a datagram are lost together.

    Range: everywhere.

    Symbols: :math:`p` loss_ratio, :math:`k` fragments.

    Examples
    --------
    >>> round(float(datagram_loss_ratio(0.01, fragments=6)), 4)
    0.0585

    References
    ----------
    Kent and Mogul, Fragmentation considered harmful, SIGCOMM 1987, doi:10.1145/55482.55524.
    """
    survives = np.log1p(-ratio("loss_ratio", loss_ratio))
    return -np.expm1(whole("fragments", fragments, low=1) * survives)


@model
def fragment_loss_ratio(datagram_loss_ratio: ArrayLike, *, fragments: ArrayLike) -> FloatArray:
    r"""Fragment loss ratio behind a datagram loss ratio.

    .. math:: p = 1 - (1 - P)^{1/k}

    Parameters
    ----------
    datagram_loss_ratio : array_like
        Share of datagrams lost. [ratio]
    fragments : array_like
        Fragments of each datagram. [1]

    Returns
    -------
    numpy.ndarray
        Share of fragments lost. [ratio]

    Notes
    -----
    Validity: as :func:`datagram_loss_ratio`.

    Range: everywhere.

    Symbols: :math:`P` datagram_loss_ratio, :math:`k` fragments.

    Examples
    --------
    >>> round(float(fragment_loss_ratio(0.0396, fragments=2)), 6)
    0.02

    References
    ----------
    :func:`datagram_loss_ratio`, solved for the fragment loss ratio.
    """
    survives = np.log1p(-ratio("datagram_loss_ratio", datagram_loss_ratio))
    return -np.expm1(survives / whole("fragments", fragments, low=1))


@model
def frame_error_ratio(bit_error_ratio: ArrayLike, *, frame_bytes: ArrayLike) -> FloatArray:
    r"""Share of frames with a bit error: what a receiver drops for a wrong FCS.

    .. math:: P = 1 - (1 - BER)^{8 F}

    Parameters
    ----------
    bit_error_ratio : array_like
        Share of bits that arrive wrong. [ratio]
    frame_bytes : array_like
        Frame with FCS. [byte]

    Returns
    -------
    numpy.ndarray
        Share of frames lost, with full precision at small ratios. [ratio]

    See Also
    --------
    netcalc.models.tcp.loss_limited.datagram_loss_ratio : A lost fragment loses the datagram.

    Notes
    -----
    Validity: independent errors after any error correction. Errors in bursts destroy fewer
    frames, as several hit one.

    Typical: 1518 bytes: 1.2e-8 at the 1e-12 that Ethernet over fibre promises, 1.2 % at 1e-6.

    Range: everywhere.

    Symbols: :math:`BER` bit_error_ratio, :math:`F` frame_bytes.

    Examples
    --------
    >>> round(float(frame_error_ratio(1e-6, frame_bytes=1518)), 6)
    0.012071

    References
    ----------
    Tanenbaum and Wetherall, Computer Networks, 3.2; IEEE 802.3, 44.1.1 (the bit error ratio).
    """
    survives = np.log1p(-ratio("bit_error_ratio", bit_error_ratio))
    bits = 8.0 * non_negative("frame_bytes", frame_bytes)
    # No bit survives a ratio of 1; a frame without bits survives all.
    return -np.expm1(np.where(bits > 0.0, bits * survives, 0.0 * bits))


@model
def bit_error_limit_ratio(loss_ratio: ArrayLike, *, frame_bytes: ArrayLike) -> FloatArray:
    r"""Bit error ratio at which a given share of frames is lost.

    .. math:: BER = 1 - (1 - P)^{1 / 8 F}

    Parameters
    ----------
    loss_ratio : array_like
        Share of frames that may be lost. [ratio]
    frame_bytes : array_like
        Frame with FCS. [byte]

    Returns
    -------
    numpy.ndarray
        Bit error ratio. [ratio]

    Notes
    -----
    Validity: as :func:`frame_error_ratio`.

    Range: everywhere.

    Symbols: :math:`P` loss_ratio, :math:`F` frame_bytes.

    Examples
    --------
    What keeps the loss of 1518-byte frames at 0.01 %:

    >>> float(f"{float(bit_error_limit_ratio(1e-4, frame_bytes=1518)):.4g}")
    8.235e-09

    References
    ----------
    :func:`frame_error_ratio`, solved for the bit error ratio.
    """
    survives = np.log1p(-ratio("loss_ratio", loss_ratio))
    return -np.expm1(survives / (8.0 * positive("frame_bytes", frame_bytes)))


@model
def bit_error_interval_s(bit_error_ratio: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Mean time between bit errors.

    .. math:: t = \frac{1}{BER \cdot R}

    Parameters
    ----------
    bit_error_ratio : array_like
        Share of bits that arrive wrong. [ratio]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Mean time from one error to the next; ``inf`` at a ratio of 0. [s]

    Notes
    -----
    Validity: a link that always sends, as Ethernet does with its idle code.

    Typical: 100 s at 1e-12 and 10 Gbit/s: how long a test for this ratio takes at least.

    Range: everywhere.

    Symbols: :math:`BER` bit_error_ratio, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(float(bit_error_interval_s(1e-12, bandwidth_bps=10e9)), 6)
    100.0

    References
    ----------
    Definition.
    """
    errors = ratio("bit_error_ratio", bit_error_ratio)
    return 1.0 / positive("bandwidth_bps", bandwidth_bps) / errors
