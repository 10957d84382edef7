r"""Packet rates: packets per second and wire rate behind a goodput.

The headers around a payload of :math:`p` bytes are there once in each packet, so goodput becomes a
packet rate by division by :math:`8p` and a wire rate by :math:`W/p`. Adding a constant to the
reading is right only at the rate and size for which it was derived; with small frames it overstates
the packet rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, note_outside_range, positive, whole
from netcalc.models.sizes.headers import MIN_FRAME_BYTES, PREAMBLE_AND_GAP_BYTES, padded_frame


@model
def goodput_rate_pps(goodput_bps: ArrayLike, *, payload_bytes: ArrayLike) -> FloatArray:
    r"""Packet rate behind a reported goodput.

    .. math:: f = \frac{G}{8 p}

    Parameters
    ----------
    goodput_bps : array_like
        Reported goodput: application bytes, in bits per second. [bit/s, payload]
    payload_bytes : array_like
        Payload in each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Data packets per second. [packet/s]

    See Also
    --------
    constant_offset_rate_pps : A common error.

    Notes
    -----
    Validity: all packets of one size; acknowledgements are extra.

    Range: everywhere.

    Symbols: :math:`G` goodput_bps, :math:`p` payload_bytes.

    Examples
    --------
    >>> float(goodput_rate_pps(281e3, payload_bytes=10))
    3512.5

    References
    ----------
    Definition.
    """
    bits = 8.0 * positive("payload_bytes", payload_bytes)
    return non_negative("goodput_bps", goodput_bps) / bits


@model
def rate_goodput_bps(rate_pps: ArrayLike, *, payload_bytes: ArrayLike) -> FloatArray:
    r"""Goodput of a packet rate: the inverse of :func:`goodput_rate_pps`.

    .. math:: G = 8 p f

    Parameters
    ----------
    rate_pps : array_like
        Data packets per second. [packet/s]
    payload_bytes : array_like
        Payload in each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Goodput. [bit/s, payload]

    Notes
    -----
    Validity: all packets of one size, none lost.

    Range: everywhere.

    Symbols: :math:`f` rate_pps, :math:`p` payload_bytes.

    Examples
    --------
    >>> float(rate_goodput_bps(3512.5, payload_bytes=10))
    281000.0

    References
    ----------
    Definition.
    """
    bits = 8.0 * non_negative("payload_bytes", payload_bytes)
    return non_negative("rate_pps", rate_pps) * bits


@model
def goodput_wire_bps(
    goodput_bps: ArrayLike, *, payload_bytes: ArrayLike, wire_bytes: ArrayLike
) -> FloatArray:
    r"""Rate on the wire behind a reported goodput, all headers included.

    .. math:: R_w = G \, W / p

    Parameters
    ----------
    goodput_bps : array_like
        Reported goodput: application bytes, in bits per second. [bit/s, payload]
    payload_bytes : array_like
        Payload in each packet. [byte]
    wire_bytes : array_like
        Wire size of each packet. [byte]

    Returns
    -------
    numpy.ndarray
        Rate on the wire, above the line rate where the reading is impossible; nan where the payload
        exceeds the wire. [bit/s, line]

    Notes
    -----
    Validity: all packets of one size, no retransmissions.

    Range: everywhere.

    Symbols: :math:`G` goodput_bps, :math:`p` payload_bytes, :math:`W` wire_bytes.

    Examples
    --------
    >>> round(float(goodput_wire_bps(91.212e6, payload_bytes=1460, wire_bytes=1538)) / 1e6, 2)
    96.08

    References
    ----------
    RFC 6349 section 4.1.
    """
    factor = positive("wire_bytes", wire_bytes) / positive("payload_bytes", payload_bytes)
    return non_negative("goodput_bps", goodput_bps) * np.where(factor < 1.0, np.nan, factor)


@model
def header_bandwidth_bps(
    payload_bytes: ArrayLike, *, wire_bytes: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Bandwidth of a full link that headers, preambles and gaps use.

    .. math:: R_h = R \, (1 - p / W)

    Parameters
    ----------
    payload_bytes : array_like
        Payload in each packet. [byte]
    wire_bytes : array_like
        Wire size of each packet. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Line rate minus goodput; nan where the payload exceeds the wire. [bit/s, line]

    Notes
    -----
    Validity: a link that is full of packets of one size. At any other load the missing part is
    proportional to the load, so it is not a constant that can be added to a reading.

    Range: everywhere.

    Symbols: :math:`p` payload_bytes, :math:`W` wire_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> round(header_bandwidth_bps(1448, wire_bytes=1538, bandwidth_bps=100e6))
    5851756

    References
    ----------
    IEEE 802.3, RFC 791, RFC 9293, RFC 7323.
    """
    left = 1.0 - non_negative("payload_bytes", payload_bytes) / positive("wire_bytes", wire_bytes)
    left = np.where(left < 0.0, np.nan, left)
    return positive("bandwidth_bps", bandwidth_bps) * left


@model
def constant_offset_rate_pps(
    goodput_bps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    offset_bps: ArrayLike = 6e6,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Packet rate with a constant added to the goodput: a common error, for comparison.

    .. math:: f = \frac{G + G_0}{8 (\max(F_{min},\; F) + o)}

    Parameters
    ----------
    goodput_bps : array_like
        Reported goodput: application bytes, in bits per second. [bit/s, payload]
    frame_bytes : array_like
        Frame size that the test was set to. [byte]
    offset_bps : array_like
        Constant for the headers: 6 Mbit/s is right for full frames at 100 Mbit/s. [bit/s]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Packets per second, too high wherever the link is not full. [packet/s]

    See Also
    --------
    goodput_rate_pps : The correct packet rate.

    Notes
    -----
    Validity: full frames at line rate only; elsewhere :func:`goodput_rate_pps`. With captured sizes
    the overhead is 24, not 20. Within 0.2 % there, at 1200 bytes and line rate 1.4 % too low.

    Range: frame_bytes (full ones, on a full line) from 1514 up to 1518.

    Symbols: :math:`G` goodput_bps, :math:`F` frame_bytes, :math:`G_0` offset_bps, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    At 0.281 Mbit/s and 64 bytes it finds 9346 packets per second where there are 3512:

    >>> int(constant_offset_rate_pps(281e3, frame_bytes=64))
    9346

    References
    ----------
    A published router test; compare RFC 2544, which counts frames.
    """
    frame = padded_frame(frame_bytes, min_frame_bytes)
    note_outside_range(constant_offset_rate_pps, warns=False, frame_bytes=frame)
    wire = frame + non_negative("overhead_bytes", overhead_bytes)
    total = non_negative("goodput_bps", goodput_bps) + non_negative("offset_bps", offset_bps)
    return total / (8.0 * wire)


@model
def stop_and_wait_utilization(
    packet_bytes: ArrayLike, *, bandwidth_bps: ArrayLike, rtt_s: ArrayLike
) -> FloatArray:
    r"""Utilization of a link by a stop-and-wait sender.

    .. math:: u = \frac{8L/R}{RTT + 8L/R}

    Parameters
    ----------
    packet_bytes : array_like
        Packet size, headers included. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]
    rtt_s : array_like
        Round-trip time without the packet's own transmission. [s]

    Returns
    -------
    numpy.ndarray
        Utilization; nan for a packet of 0 bytes over no distance. [ratio]

    See Also
    --------
    netcalc.models.tcp.window.throughput_bps : Window limit of a byte stream.
    netcalc.models.tcp.window.serialized_throughput_bps
        Window of few packets, serialization included.

    Notes
    -----
    Validity: no loss; the acknowledgement takes no time to send.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`R` bandwidth_bps, :math:`RTT` rtt_s.

    Examples
    --------
    >>> round(float(stop_and_wait_utilization(1000, bandwidth_bps=1e9, rtt_s=0.03)), 5)
    0.00027

    References
    ----------
    Kurose and Ross, Computer Networking, section 3.4.
    """
    bdp_bits = non_negative("rtt_s", rtt_s) * positive("bandwidth_bps", bandwidth_bps)
    waits = bdp_bits / (8.0 * non_negative("packet_bytes", packet_bytes))
    return 1.0 / (1.0 + waits)


@model
def stop_and_wait_goodput_bps(
    pair_count: ArrayLike,
    *,
    payload_bytes: ArrayLike,
    cycle_s: ArrayLike,
    capacity_bps: ArrayLike,
) -> FloatArray:
    r"""Goodput of N stop-and-wait senders, up to saturation.

    .. math:: G = \min\left(C,\; n \, \frac{8 p}{t}\right)

    Parameters
    ----------
    pair_count : array_like
        Concurrent stop-and-wait pairs. [1]
    payload_bytes : array_like
        Payload that a pair sends before it waits for the reply. [byte]
    cycle_s : array_like
        Time from one packet to the next: data, reply, propagation and host time. [s]
    capacity_bps : array_like
        Goodput at which the link or the device is full. [bit/s, payload]

    Returns
    -------
    numpy.ndarray
        Goodput of all pairs together. [bit/s, payload]

    Notes
    -----
    Validity: no queueing below saturation, so the knee is rounder in a measurement.

    Range: everywhere.

    Symbols: :math:`n` pair_count, :math:`p` payload_bytes, :math:`t` cycle_s, :math:`C`
    capacity_bps.

    Examples
    --------
    >>> stop_and_wait_goodput_bps(
    ...     [1, 4, 5], payload_bytes=1460, cycle_s=584e-6, capacity_bps=94.93e6
    ... ).round().tolist()
    [20000000.0, 80000000.0, 94930000.0]

    References
    ----------
    Kurose and Ross, Computer Networking, section 3.4, for several independent pairs.
    """
    pair_bps = 8.0 * non_negative("payload_bytes", payload_bytes) / positive("cycle_s", cycle_s)
    total = whole("pair_count", pair_count) * pair_bps
    return np.minimum(total, positive("capacity_bps", capacity_bps))


@model
def saturating_pair_count(
    capacity_bps: ArrayLike, *, payload_bytes: ArrayLike, cycle_s: ArrayLike
) -> FloatArray:
    r"""Number of stop-and-wait senders that saturate a link.

    .. math:: n = \left\lceil \frac{C \, t}{8 p} \right\rceil

    Parameters
    ----------
    capacity_bps : array_like
        Goodput at which the link or the device is full. [bit/s, payload]
    payload_bytes : array_like
        Payload that a pair sends before it waits for the reply. [byte]
    cycle_s : array_like
        Time from one packet to the next. [s]

    Returns
    -------
    numpy.ndarray
        Smallest whole number of pairs that reaches the capacity. [1]

    Notes
    -----
    Validity: as :func:`stop_and_wait_goodput_bps`.

    Range: everywhere.

    Symbols: :math:`C` capacity_bps, :math:`p` payload_bytes, :math:`t` cycle_s.

    Examples
    --------
    >>> float(saturating_pair_count(94.93e6, payload_bytes=1460, cycle_s=584e-6))
    5.0

    References
    ----------
    :func:`stop_and_wait_goodput_bps`, solved for the number of pairs.
    """
    pair_bps = 8.0 * positive("payload_bytes", payload_bytes) / positive("cycle_s", cycle_s)
    return np.maximum(np.ceil(positive("capacity_bps", capacity_bps) / pair_bps), 1.0)
