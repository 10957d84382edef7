r"""Window limits: data in flight, the throughput that a window allows, and its test (RFC 6349).

A sender with a window of :math:`W` bytes sends at most :math:`W` per round trip. The path holds
the product of bandwidth and delay; a window below it leaves the link idle for part of every
round.

Percentages of RFC 6349 are ratios or factors here. Its ceilings are the goodput of full segments on
the link: :mod:`netcalc.models.rates.goodput`, :mod:`netcalc.models.sizes.serial_lines`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model, non_negative, positive
from netcalc.errors import DomainError
from netcalc.models.bounds import not_below, tcp_window

MAX_UNSCALED_WINDOW_BYTES = 65_535
"""Largest window of the 16-bit field in the TCP header. [byte]"""

MAX_WINDOW_SHIFT = 14
"""Largest shift of the window scale option (RFC 7323, 2.3)."""

SEQUENCE_SPACE_BYTES = 2**32
"""All sequence numbers of TCP. Old and new data can be distinguished within half of it. [byte]"""


@model
def bdp_bytes(rtt_s: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Bandwidth-delay product: the data in flight on a full path, and the window that fills it.

    .. math:: W = R \cdot RTT / 8

    Parameters
    ----------
    rtt_s : array_like
        Round-trip time of the path. [s]
    bandwidth_bps : array_like
        Rate of the bottleneck; the layer of the rate is the layer of the result. [bit/s]

    Returns
    -------
    numpy.ndarray
        Bytes in flight when the link is just full. [byte]

    See Also
    --------
    netcalc.models.delays.latency.half_rate_bytes : One-way latency: half the rate is reached.

    Notes
    -----
    Validity: an RTT without the flow's own queue. Bytes, not KB: books mix 1000 (RFC 6349) and 1024
    (Peterson and Davie) in their tables.

    Typical: 100 Mbit/s and 30 ms hold 375 kB; 10 Gbit/s and 100 ms hold 125 MB.

    Range: everywhere.

    Symbols: :math:`RTT` rtt_s, :math:`R` bandwidth_bps.

    Examples
    --------
    Window for 10 Gbit/s at 80 ms:

    >>> float(bdp_bytes(0.08, bandwidth_bps=10e9))
    100000000.0

    References
    ----------
    RFC 6349, 3.3.1; Peterson and Davie, Computer Networks, 1.5.2 (45 Mbit/s, 50 ms: 281 KB).
    """
    rtt = checks.non_negative("rtt_s", rtt_s)
    return rtt * (checks.positive("bandwidth_bps", bandwidth_bps) / 8.0)


@model
def bdp_packets(
    rtt_s: ArrayLike, *, bandwidth_bps: ArrayLike, packet_bytes: ArrayLike
) -> FloatArray:
    r"""Bandwidth-delay product in packets.

    .. math:: n = R \cdot RTT / (8 L)

    Parameters
    ----------
    rtt_s : array_like
        Round-trip time of the path. [s]
    bandwidth_bps : array_like
        Rate of the bottleneck. [bit/s]
    packet_bytes : array_like
        Size of a packet at the layer of the rate. [byte]

    Returns
    -------
    numpy.ndarray
        Packets in flight when the link is just full; not rounded. [1]

    Notes
    -----
    Validity: packets of one size.

    Range: everywhere.

    Symbols: :math:`RTT` rtt_s, :math:`R` bandwidth_bps, :math:`L` packet_bytes.

    Examples
    --------
    >>> round(float(bdp_packets(20e-6, bandwidth_bps=10e9, packet_bytes=1500)), 1)
    16.7

    References
    ----------
    Peterson, Brakmo and Davie, TCP Congestion Control, 3.4 (the LAN of 20 us: 25 kB).
    """
    size = checks.positive("packet_bytes", packet_bytes)
    return bdp_bytes(rtt_s, bandwidth_bps=bandwidth_bps) / size


@model
def throughput_bps(
    window_bytes: ArrayLike, *, rtt_s: ArrayLike, bandwidth_bps: ArrayLike = np.inf
) -> FloatArray:
    r"""Throughput that a window allows, at most the line rate.

    .. math:: X = \min(R, 8 W / RTT)

    Parameters
    ----------
    window_bytes : array_like
        Largest amount in flight: the least of receive window, send buffer and congestion
        window. [byte]
    rtt_s : array_like
        Round-trip time, serialization of the packet and waits in queues included. [s]
    bandwidth_bps : array_like
        Rate of the bottleneck at the layer of the window; infinite for no limit. [bit/s]

    Returns
    -------
    numpy.ndarray
        Throughput at the layer of the window: TCP windows count payload. [bit/s, TCP payload]

    See Also
    --------
    netcalc.models.tcp.ceilings.path_ceilings : With loss, line and acknowledgements.
    serialized_throughput_bps : Window of few packets, serialization included.
    netcalc.models.rates.line_rate.stop_and_wait_utilization : Window of one packet.

    Notes
    -----
    Validity: no loss. With a window of few packets use :func:`serialized_throughput_bps`, which
    adds the serialization of a packet. From ten full frames in flight on it is at most 10 % above
    it.

    Range: bdp_bytes (rate times round trip, where the window is below it) from 15180.

    Symbols: :math:`W` window_bytes, :math:`RTT` rtt_s, :math:`R` bandwidth_bps.

    Examples
    --------
    The 16-bit window at 100 ms, on any link:

    >>> float(throughput_bps(65535, rtt_s=0.1))
    5242800.0

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 1, 20.7; RFC 7323, 1.1.
    """
    window = tcp_window(checks.non_negative("window_bytes", window_bytes))
    rtt = checks.positive("rtt_s", rtt_s)
    rate = checks.positive("bandwidth_bps", bandwidth_bps, allow_inf=True)
    result = window * (8.0 / rtt)
    checks.note_outside_range(throughput_bps, where=result < rate, bdp_bytes=rate * (rtt / 8.0))
    return np.minimum(result, rate)


@model
def serialized_throughput_bps(
    window_packets: ArrayLike,
    *,
    packet_bytes: ArrayLike,
    bandwidth_bps: ArrayLike,
    base_rtt_s: ArrayLike,
) -> FloatArray:
    r"""Throughput of a sliding window of packets, serialization included.

    .. math:: X = R \min(1, W s / (RTT_0 + s)), \quad s = 8 L / R

    Parameters
    ----------
    window_packets : array_like
        Packets that may be unacknowledged; 1 is stop-and-wait. [1]
    packet_bytes : array_like
        Size of a packet on the wire. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]
    base_rtt_s : array_like
        Round-trip time of an empty path without serialization: propagation and processing. [s]

    Returns
    -------
    numpy.ndarray
        Throughput at the layer of ``packet_bytes``. [bit/s, layer of packet_bytes]

    See Also
    --------
    throughput_bps : Window limit of a byte stream.
    netcalc.models.rates.line_rate.stop_and_wait_utilization : Window of one packet.

    Notes
    -----
    Validity: one link, one acknowledgement per packet with negligible serialization, no loss.

    Range: everywhere.

    Symbols: :math:`W` window_packets, :math:`L` packet_bytes, :math:`R` bandwidth_bps,
    :math:`RTT_0` base_rtt_s.

    Examples
    --------
    Ten packets of 1500 B at 10 Mbit/s and 20 ms keep the link busy for 57 %:

    >>> x = serialized_throughput_bps(10, packet_bytes=1500, bandwidth_bps=10e6, base_rtt_s=0.02)
    >>> round(float(x))
    5660377

    References
    ----------
    Bertsekas and Gallager, Data Networks, 2.4; Kurose and Ross, Computer Networking, 3.4.
    """
    window = checks.counted("window_packets", window_packets, serialized_throughput_bps)
    bits = 8.0 * checks.positive("packet_bytes", packet_bytes)
    rate = checks.positive("bandwidth_bps", bandwidth_bps)
    cycle_s = checks.non_negative("base_rtt_s", base_rtt_s) + bits / rate
    result = window * (bits / cycle_s)
    return np.minimum(result, rate)


@model
def window_shift(window_bytes: ArrayLike, *, at_most_14: bool = False) -> FloatArray:
    r"""Window scale shift that a window requires.

    .. math:: \min \{ k : 65535 \cdot 2^k \ge W \}

    Parameters
    ----------
    window_bytes : array_like
        Target window. [byte]
    at_most_14 : bool
        Whether a window beyond the largest gives 14, the shift a sender then uses, or nan. [bool]

    Returns
    -------
    numpy.ndarray
        Minimum shift, 0 to 14; above the largest window that TCP can announce, 65535 x 2^14 bytes,
        nan or 14. [1]

    Notes
    -----
    Validity: the shift is fixed when the connection is set up, from the largest buffer that it
    may get.

    Range: everywhere.

    Symbols: :math:`W` window_bytes, :math:`k` result. Not in the equation: at_most_14.

    Examples
    --------
    >>> float(window_shift(1.25e6)), float(window_shift(2**31))
    (5.0, nan)
    >>> float(window_shift(2**31, at_most_14=True))
    14.0

    References
    ----------
    RFC 7323, 2.2 and 2.3 (a shift above 14 counts as 14).
    """
    window = checks.non_negative("window_bytes", window_bytes)
    # W / 65535 = m 2^e with m from 0.5 to 1: e doublings reach W, at m = 0.5 one less does.
    mantissa, exponent = np.frexp(window / MAX_UNSCALED_WINDOW_BYTES)
    shift = np.maximum(exponent - (mantissa == 0.5), 0)
    beyond = MAX_WINDOW_SHIFT if checks.flag("at_most_14", at_most_14) else np.nan
    possible = window <= MAX_UNSCALED_WINDOW_BYTES * 2.0**MAX_WINDOW_SHIFT
    return checks.keep_nan(np.where(possible, shift, beyond), window)


@model
def max_window_bytes(shift: ArrayLike) -> FloatArray:
    r"""Largest window of a given window scale shift.

    .. math:: W = 65535 \cdot 2^s

    Parameters
    ----------
    shift : array_like
        Shift of the window scale option, 0 to 14. [1]

    Returns
    -------
    numpy.ndarray
        Largest window. [byte]

    Notes
    -----
    Validity: exact for whole shifts.

    Range: everywhere.

    Symbols: :math:`s` shift.

    Examples
    --------
    >>> float(max_window_bytes(14))
    1073725440.0

    References
    ----------
    RFC 7323, 2.3.
    """
    return MAX_UNSCALED_WINDOW_BYTES * np.exp2(
        checks.whole("shift", checks.between("shift", shift, 0, MAX_WINDOW_SHIFT))
    )


@model
def sequence_wrap_s(
    bandwidth_bps: ArrayLike, *, sequence_space_bytes: ArrayLike = SEQUENCE_SPACE_BYTES
) -> FloatArray:
    r"""Time until the sequence numbers wrap at full rate.

    .. math:: t = 8 S / R

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate of the payload. [bit/s, TCP payload]
    sequence_space_bytes : array_like
        Sequence numbers until the wrap: 2^32 for all of them, 2^31 for the half within which old
        and new can be distinguished. [byte]

    Returns
    -------
    numpy.ndarray
        Time until the wrap. [s]

    Notes
    -----
    Validity: published tables differ by two: RFC 7323 counts 2^31, Peterson and Davie 2^32.

    Range: everywhere.

    Symbols: :math:`R` bandwidth_bps, :math:`S` sequence_space_bytes.

    Examples
    --------
    >>> round(float(sequence_wrap_s(1e9, sequence_space_bytes=2**31)), 1)
    17.2

    References
    ----------
    RFC 7323, 5.2; Peterson and Davie, Computer Networks, 5.2 (OC-48: 14 s).
    """
    space = checks.positive("sequence_space_bytes", sequence_space_bytes)
    return 8.0 * (space / checks.positive("bandwidth_bps", bandwidth_bps))


@model
def ideal_transfer_s(payload_bytes: ArrayLike, *, throughput_bps: ArrayLike) -> FloatArray:
    r"""Ideal transfer time: at the maximum TCP throughput.

    .. math:: t = 8 N / X

    Parameters
    ----------
    payload_bytes : array_like
        Size of the transfer. [byte]
    throughput_bps : array_like
        Highest payload rate of TCP on the link. [bit/s, TCP payload]

    Returns
    -------
    numpy.ndarray
        Ideal transfer time. [s]

    Notes
    -----
    Validity: no start-up; long against slow start.

    Range: everywhere.

    Symbols: :math:`N` payload_bytes, :math:`X` throughput_bps.

    Examples
    --------
    100 MB over 100 Mbit/s Ethernet:

    >>> round(float(ideal_transfer_s(100e6, throughput_bps=94.9e6)), 1)
    8.4

    References
    ----------
    RFC 6349, 3.4.1.
    """
    size = non_negative("payload_bytes", payload_bytes)
    return 8.0 * (size / positive("throughput_bps", throughput_bps))


@model
def transfer_time_factor(transfer_s: ArrayLike, *, ideal_s: ArrayLike) -> FloatArray:
    r"""TCP transfer time ratio: actual over ideal transfer time.

    .. math:: m = t / t_{ideal}

    Parameters
    ----------
    transfer_s : array_like
        Time measured. [s]
    ideal_s : array_like
        Time at the highest payload rate: :func:`ideal_transfer_s`. [s]

    Returns
    -------
    numpy.ndarray
        Factor, 1 at best. [1]

    Notes
    -----
    Validity: both times of the same bytes; below 1 one of them is wrong.

    Range: everywhere.

    Symbols: :math:`t` transfer_s, :math:`t_{ideal}` ideal_s.

    Examples
    --------
    >>> float(transfer_time_factor(13, ideal_s=8))
    1.625

    References
    ----------
    RFC 6349, 3.4.1.
    """
    measured, ideal = non_negative("transfer_s", transfer_s), positive("ideal_s", ideal_s)
    not_below("measured-below-ideal", "transfer_s", measured, ideal)
    return measured / ideal


@model
def efficiency_ratio(transmitted_bytes: ArrayLike, *, retransmitted_bytes: ArrayLike) -> FloatArray:
    r"""TCP efficiency: share of the transmitted bytes that were not retransmissions.

    .. math:: e = (B - B_r) / B

    Parameters
    ----------
    transmitted_bytes : array_like
        Bytes transmitted, retransmissions included. [byte]
    retransmitted_bytes : array_like
        Bytes retransmitted. [byte]

    Returns
    -------
    numpy.ndarray
        Efficiency. [ratio]

    Raises
    ------
    DomainError
        If more was retransmitted than transmitted.

    Notes
    -----
    Validity: spurious retransmissions count, too.

    Range: everywhere.

    Symbols: :math:`B` transmitted_bytes, :math:`B_r` retransmitted_bytes.

    Examples
    --------
    >>> round(float(efficiency_ratio(102_000, retransmitted_bytes=2_000)), 4)
    0.9804

    References
    ----------
    RFC 6349, 3.4.2 (prints 98.03 %, cut off).
    """
    sent = positive("transmitted_bytes", transmitted_bytes)
    again = non_negative("retransmitted_bytes", retransmitted_bytes)
    if (again > sent).any():
        most = float(np.nanmax(again))
        raise DomainError("above-argument", "retransmitted_bytes", most, other="transmitted_bytes")
    return 1.0 - again / sent


@model
def buffer_delay_factor(rtt_s: ArrayLike, *, base_rtt_s: ArrayLike) -> FloatArray:
    r"""Buffer delay: increase of the round-trip time during a transfer, relative to the base.

    .. math:: b = (RTT - RTT_0) / RTT_0

    Parameters
    ----------
    rtt_s : array_like
        Mean round-trip time during the transfer. [s]
    base_rtt_s : array_like
        Round-trip time of the empty path. [s]

    Returns
    -------
    numpy.ndarray
        Increase over the base, 0 at best; the RFC prints percent. [1]

    Notes
    -----
    Validity: negative where the base was not measured on an empty path.

    Range: everywhere.

    Symbols: :math:`RTT` rtt_s, :math:`RTT_0` base_rtt_s.

    Examples
    --------
    25 ms grow to 32 ms:

    >>> round(float(buffer_delay_factor(0.032, base_rtt_s=0.025)), 2)
    0.28

    References
    ----------
    RFC 6349, 3.4.3.
    """
    base = positive("base_rtt_s", base_rtt_s)
    rtt = non_negative("rtt_s", rtt_s)
    not_below("measured-below-base", "rtt_s", rtt, base)
    return (rtt - base) / base


@model
def connection_count(bdp_bytes: ArrayLike, *, window_bytes: ArrayLike = 65_535) -> FloatArray:
    r"""Number of connections that fill a path when each has a limited window.

    .. math:: n = \max(1, \lceil BDP / W \rceil)

    Parameters
    ----------
    bdp_bytes : array_like
        Bandwidth-delay product of the path. [byte]
    window_bytes : array_like
        Receive window of one connection. [byte]

    Returns
    -------
    numpy.ndarray
        Connections, at least 1. [1]

    Notes
    -----
    Validity: connections with equal shares of the link.

    Range: everywhere.

    Symbols: :math:`BDP` bdp_bytes, :math:`W` window_bytes.

    Examples
    --------
    500 Mbit/s and 5 ms, 312 500 bytes, with windows of 64 KB:

    >>> float(connection_count(312_500, window_bytes=65_535))
    5.0

    References
    ----------
    RFC 6349, 3.3.1 and 5.1.
    """
    product = non_negative("bdp_bytes", bdp_bytes)
    window = tcp_window(positive("window_bytes", window_bytes))
    return np.maximum(checks.rounded_up(product / window), 1.0)
