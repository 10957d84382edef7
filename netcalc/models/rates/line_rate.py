r"""Line rate: frames that a link carries per second, and the packet rate behind a goodput.

A frame of :math:`F` bytes takes :math:`F + 20` on an Ethernet wire, so a link of rate :math:`R`
carries :math:`R / 8(F + 20)` of them. Published tables truncate the fraction; these functions do
not.

The headers around a payload of :math:`p` bytes are there once in each packet, so goodput becomes a
packet rate by division by :math:`8p` and a wire rate by :math:`W/p`. Adding a constant to the
reading is right only at the rate and size for which it was derived; with small frames it overstates
the packet rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model, non_negative, note_outside_range, positive, whole
from netcalc.errors import DomainError
from netcalc.models.bounds import at_most_line
from netcalc.models.sizes.headers import MIN_FRAME_BYTES, PREAMBLE_AND_GAP_BYTES, padded_frame


@model
def frame_rate_pps(
    frame_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Maximum frame rate of an Ethernet link.

    .. math:: f = \frac{R}{8 (\max(F_{min},\; F) + o)}

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS and tags; of a captured length, 4 more. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Frames per second, not rounded; inf for a frame of 0 bytes on a medium without a smallest
        frame. [packet/s]

    See Also
    --------
    netcalc.models.sizes.serial_lines.pos_frame_rate_pps : Packet over SONET.
    netcalc.models.sizes.serial_lines.ppp_packet_rate_pps : PPP.
    netcalc.models.sizes.serial_lines.atm_packet_rate_pps : ATM.
    mix_rate_pps : A mix of sizes.

    Notes
    -----
    Validity: back-to-back frames of one size in one direction; clocks are within 100 ppm. Network
    cards of 40 Gbit/s and above may not reach it with small frames.

    Typical: 148,810 frames of 64 bytes and 8127 of 1518 per second at 100 Mbit/s.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`o` overhead_bytes,
    :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> float(frame_rate_pps(64, bandwidth_bps=10e9))
    14880952.38095238

    References
    ----------
    RFC 5180 appendix A.1 (whose table has three misprints: 4096 bytes at 1 and 10 Gbit/s, 9216
    bytes at 1 Gbit/s); at 10 Mbit/s RFC 2544 appendix B.
    """
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    return checks.positive("bandwidth_bps", bandwidth_bps) / 8.0 / wire


@model
def required_bandwidth_bps(
    rate_pps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Line rate that a frame rate requires: the inverse of :func:`frame_rate_pps`.

    .. math:: R = 8 f (\max(F_{min},\; F) + o)

    Parameters
    ----------
    rate_pps : array_like
        Frames per second. [packet/s]
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Rate of the link. [bit/s, line]

    Notes
    -----
    Validity: frames of one size in one direction.

    Range: everywhere.

    Symbols: :math:`f` rate_pps, :math:`F` frame_bytes, :math:`o` overhead_bytes, :math:`F_{min}`
    min_frame_bytes.

    Examples
    --------
    >>> float(required_bandwidth_bps(148_810, frame_bytes=128))
    176191040.0

    References
    ----------
    RFC 5180 appendix A.1; RFC 2544 appendix B.
    """
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    return checks.non_negative("rate_pps", rate_pps) * (8.0 * wire)


@model
def frame_throughput_bps(
    frame_bytes: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Maximum layer 2 throughput of a link, FCS included.

    .. math:: R_2 = R \, \frac{L}{L + o}, \quad L = \max(F_{min},\; F)

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Layer 2 rate; nan for a frame of 0 bytes without overhead. [bit/s, Ethernet frame]

    Notes
    -----
    Validity: back-to-back frames of one size. Linux counters and captures leave the FCS out.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`o` overhead_bytes,
    :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(frame_throughput_bps(64, bandwidth_bps=1e9)) / 1e6, 1)
    761.9

    References
    ----------
    RFC 5180 appendix A.1; RFC 2544 appendix B.
    """
    frame = padded_frame(frame_bytes, min_frame_bytes)
    wire = frame + checks.non_negative("overhead_bytes", overhead_bytes)
    return checks.positive("bandwidth_bps", bandwidth_bps) * (frame / wire)


@model
def line_utilization(
    rate_pps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Utilization of a link at a given frame rate.

    .. math:: u = \frac{8 f (\max(F_{min},\; F) + o)}{R}

    Parameters
    ----------
    rate_pps : array_like
        Frames per second. [packet/s]
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Utilization; above 1, with a note, where the link cannot carry the rate. [ratio]

    Notes
    -----
    Validity: frames of one size in one direction.

    Range: everywhere.

    Symbols: :math:`f` rate_pps, :math:`F` frame_bytes, :math:`R` bandwidth_bps, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(line_utilization(7809.25, frame_bytes=1518, bandwidth_bps=100e6)), 3)
    0.961

    References
    ----------
    RFC 5180 appendix A.1; RFC 2544 appendix B.
    """
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    share = wire * (8.0 / checks.positive("bandwidth_bps", bandwidth_bps))
    return at_most_line(checks.non_negative("rate_pps", rate_pps) * share)


@model
def payload_throughput_bps(
    payload_bytes: ArrayLike, *, wire_bytes: ArrayLike, bandwidth_bps: ArrayLike
) -> FloatArray:
    r"""Maximum payload throughput of a link, for any packet and layer.

    .. math:: G = R \, p / W

    Parameters
    ----------
    payload_bytes : array_like
        Payload of each packet, at any layer. [byte]
    wire_bytes : array_like
        Wire size of each packet. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Payload rate; nan where the payload exceeds the wire. [bit/s, payload]

    Notes
    -----
    Validity: back-to-back packets of one size.

    Range: everywhere.

    Symbols: :math:`p` payload_bytes, :math:`W` wire_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    TCP without options in full frames of Fast Ethernet:

    >>> goodput = payload_throughput_bps(1460, wire_bytes=1538, bandwidth_bps=100e6)
    >>> round(float(goodput) / 1e6, 2)
    94.93

    References
    ----------
    RFC 6349 section 4.1.
    """
    share = checks.non_negative("payload_bytes", payload_bytes) / checks.positive(
        "wire_bytes", wire_bytes
    )
    share = np.where(share > 1.0, np.nan, share)
    return checks.positive("bandwidth_bps", bandwidth_bps) * share


@model
def mix_mean_frame_bytes(
    frame_bytes: ArrayLike, *, weight: ArrayLike, min_frame_bytes: float = MIN_FRAME_BYTES
) -> FloatArray:
    r"""Mean frame size of a mix of sizes (IMIX).

    .. math:: \bar F = \sum_i w_i \max(F_{min},\; F_i) \Big/ \sum_i w_i

    Parameters
    ----------
    frame_bytes : 1-D array_like
        Sizes of the frames, FCS included. [byte]
    weight : 1-D array_like
        Number of frames of each size, in any unit. [1]
    min_frame_bytes : float
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Mean size, one number. [byte]

    Raises
    ------
    DomainError
        If all weights are 0.

    Notes
    -----
    Validity: weights count frames, not bytes.

    Range: everywhere.

    Symbols: :math:`F_i` frame_bytes, :math:`w_i` weight, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(mix_mean_frame_bytes([64, 570, 1518], weight=[7, 4, 1])), 2)
    353.83

    References
    ----------
    RFC 6985 (IMIX genome); FD.io CSIT (7:4:1).
    """
    least = checks.scalar(
        "min_frame_bytes", checks.non_negative("min_frame_bytes", min_frame_bytes)
    )
    sizes = checks.one_dimensional("frame_bytes", padded_frame(frame_bytes, least))
    weights = checks.one_dimensional("weight", checks.non_negative("weight", weight))
    if weights.size != sizes.size:
        raise DomainError("wrong-count", "weight", count=weights.size, expected=sizes.size)
    total = weights.sum()
    if total == 0.0:
        raise DomainError("all-zero", "weight")
    return np.asarray(sizes @ (weights / total))


@model
def mix_rate_pps(
    frame_bytes: ArrayLike,
    *,
    weight: ArrayLike,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: float = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Maximum frame rate of a link for a mix of sizes (IMIX).

    .. math::

        f = \frac{R}{8 (\bar F + o)}, \quad \bar F = \sum_i w_i \max(F_{min},\; F_i) \Big/ \sum_i
        w_i

    Parameters
    ----------
    frame_bytes : 1-D array_like
        Sizes of the frames, FCS included. [byte]
    weight : 1-D array_like
        Number of frames of each size, in any unit. [1]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : float
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Frames per second, all sizes. [packet/s]

    Raises
    ------
    DomainError
        If all weights are 0.

    See Also
    --------
    frame_rate_pps : Ethernet.
    netcalc.models.sizes.serial_lines.pos_frame_rate_pps : Packet over SONET.
    netcalc.models.sizes.serial_lines.ppp_packet_rate_pps : PPP.
    netcalc.models.sizes.serial_lines.atm_packet_rate_pps : ATM.

    Notes
    -----
    Validity: exact for the mean over whole cycles of the mix.

    Range: everywhere.

    Symbols: :math:`F_i` frame_bytes, :math:`w_i` weight, :math:`R` bandwidth_bps, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> round(float(mix_rate_pps([64, 570, 1518], weight=[7, 4, 1], bandwidth_bps=10e9)))
    3343736

    References
    ----------
    RFC 6985; RFC 5180 appendix A.1 with the mean frame.
    """
    least = checks.scalar(
        "min_frame_bytes", checks.non_negative("min_frame_bytes", min_frame_bytes)
    )
    frames = padded_frame(frame_bytes, least)
    mean = mix_mean_frame_bytes(frames, weight=weight, min_frame_bytes=0.0)
    return frame_rate_pps(
        mean, bandwidth_bps=bandwidth_bps, overhead_bytes=overhead_bytes, min_frame_bytes=0.0
    )


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
    return np.maximum(checks.rounded_up(positive("capacity_bps", capacity_bps) / pair_bps), 1.0)
