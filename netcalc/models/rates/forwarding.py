r"""Forwarding devices: limited by packet rate, by the link, or by stop-and-wait senders.

A device forwards at most :math:`f_d` packets per second regardless of their size, a link at most
:math:`R / 8(F + 20)`. The first limits small frames, the second large ones; a throughput test shows
the device only below the link's ceiling for that size of frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.rates.line_rate import frame_rate_pps
from netcalc.models.sizes.headers import MIN_FRAME_BYTES, PREAMBLE_AND_GAP_BYTES, padded_frame


@model
def forwarding_rate_pps(
    frame_bytes: ArrayLike,
    *,
    device_pps: ArrayLike,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Frame rate through a device on a link: the lower of the two limits.

    .. math:: f = \min\left(f_d,\; \frac{R}{8 (\max(F_{min},\; F) + o)}\right)

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    device_pps : array_like
        Packets per second that the device forwards. [packet/s]
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
        Forwarded frames per second. [packet/s]

    See Also
    --------
    affine_rate_pps : Costs per packet and per byte.

    Notes
    -----
    Validity: a device with a cost per packet only; see :func:`affine_rate_pps`.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`f_d` device_pps, :math:`R` bandwidth_bps, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> forwarding_rate_pps([64, 1518], device_pps=10_000, bandwidth_bps=100e6).round(1).tolist()
    [10000.0, 8127.4]

    References
    ----------
    RFC 2544 section 26.1; RFC 2285 section 3.5.
    """
    line = frame_rate_pps(
        frame_bytes,
        bandwidth_bps=bandwidth_bps,
        overhead_bytes=overhead_bytes,
        min_frame_bytes=min_frame_bytes,
    )
    return np.minimum(line, checks.positive("device_pps", device_pps))


@model
def crossover_frame_bytes(
    device_pps: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Frame size above which the link is the limit, and below which the device is.

    .. math:: F^* = \frac{R}{8 f_d} - o \ge F_{min}

    Parameters
    ----------
    device_pps : array_like
        Packets per second that the device forwards. [packet/s]
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
        Frame with FCS; nan where the device never limits, as the link is the limit at the smallest
        frame. Above 1518 the device limits every common frame. [byte]

    Notes
    -----
    Validity: a device with a cost per packet only.

    Range: everywhere.

    Symbols: :math:`f_d` device_pps, :math:`R` bandwidth_bps, :math:`o` overhead_bytes,
    :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> float(crossover_frame_bytes(10_000, bandwidth_bps=100e6))
    1230.0

    References
    ----------
    RFC 2544 appendix B, solved for the frame.
    """
    wire = checks.positive("bandwidth_bps", bandwidth_bps) / (
        8.0 * checks.positive("device_pps", device_pps)
    )
    frame = wire - checks.non_negative("overhead_bytes", overhead_bytes)
    least = checks.non_negative("min_frame_bytes", min_frame_bytes)
    return checks.keep_nan(np.where(frame < least, np.nan, frame), least)


@model
def device_byte_cost(
    rate_pps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    other_rate_pps: ArrayLike,
    other_frame_bytes: ArrayLike,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Per-byte cost of a device, from its rates at two sizes.

    .. math:: b = \frac{1/f_2 - 1/f_1}{F_2 - F_1}

    Parameters
    ----------
    rate_pps : array_like
        Rate at the first size. [packet/s]
    frame_bytes : array_like
        First size. [byte]
    other_rate_pps : array_like
        Rate at the second size. [packet/s]
    other_frame_bytes : array_like
        Second size. [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Cost of a byte; nan where both sizes are equal. [s/byte]

    See Also
    --------
    device_packet_cost : Per packet.
    netcalc.models.hosts.host_stack.two_point_costs : Both, of a host.

    Notes
    -----
    Validity: both rates below the link's ceiling. A negative cost means that they were not, or that
    the rates are of two devices.

    Range: everywhere.

    Symbols: :math:`f_1` rate_pps, :math:`F_1` frame_bytes, :math:`f_2` other_rate_pps, :math:`F_2`
    other_frame_bytes. Not in the equation: min_frame_bytes.

    Examples
    --------
    >>> b = device_byte_cost(10_100, frame_bytes=64, other_rate_pps=10_000, other_frame_bytes=128)
    >>> round(float(b) * 1e9, 2)
    15.47

    References
    ----------
    A straight line through two points.
    """
    first, second = (
        checks.positive("rate_pps", rate_pps),
        checks.positive("other_rate_pps", other_rate_pps),
    )
    other = padded_frame(other_frame_bytes, min_frame_bytes, "other_frame_bytes")
    sizes = other - padded_frame(frame_bytes, min_frame_bytes)
    return np.where(sizes == 0.0, np.nan, (1.0 / second - 1.0 / first) / sizes)


@model
def device_packet_cost(
    rate_pps: ArrayLike,
    *,
    frame_bytes: ArrayLike,
    other_rate_pps: ArrayLike,
    other_frame_bytes: ArrayLike,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Per-packet cost of a device, from its rates at two sizes.

    .. math:: a = \frac{1}{f_1} - F_1 \frac{1/f_2 - 1/f_1}{F_2 - F_1}

    Parameters
    ----------
    rate_pps : array_like
        Rate at the first size. [packet/s]
    frame_bytes : array_like
        First size. [byte]
    other_rate_pps : array_like
        Rate at the second size. [packet/s]
    other_frame_bytes : array_like
        Second size. [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Cost of a packet; nan where both sizes are equal. [s/packet]

    See Also
    --------
    device_byte_cost : Per byte.
    netcalc.models.hosts.host_stack.two_point_costs : Both, of a host.

    Notes
    -----
    Validity: as :func:`device_byte_cost`.

    Range: everywhere.

    Symbols: :math:`f_1` rate_pps, :math:`F_1` frame_bytes, :math:`f_2` other_rate_pps, :math:`F_2`
    other_frame_bytes. Not in the equation: min_frame_bytes.

    Examples
    --------
    >>> a = device_packet_cost(10_100, frame_bytes=64, other_rate_pps=10_000, other_frame_bytes=128)
    >>> round(float(a) * 1e6, 2)
    98.02

    References
    ----------
    A straight line through two points.
    """
    byte = device_byte_cost(
        rate_pps,
        frame_bytes=frame_bytes,
        other_rate_pps=other_rate_pps,
        other_frame_bytes=other_frame_bytes,
        min_frame_bytes=min_frame_bytes,
    )
    frame = padded_frame(frame_bytes, min_frame_bytes)
    return 1.0 / checks.positive("rate_pps", rate_pps) - byte * frame


@model
def affine_rate_pps(
    frame_bytes: ArrayLike,
    *,
    packet_cost: ArrayLike,
    byte_cost: ArrayLike,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Packet rate of a device with a cost per packet and a cost per byte.

    .. math:: f = \frac{1}{a + b \max(F_{min},\; F)}

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS and tags. [byte]
    packet_cost : array_like
        Time spent on each packet regardless of its size. [s/packet]
    byte_cost : array_like
        Time spent on each byte. [s/byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Packets per second; inf where they cost nothing. [packet/s]

    See Also
    --------
    forwarding_rate_pps : A cost per packet only.

    Notes
    -----
    Validity: one packet at a time, and a link that is faster than the device.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`a` packet_cost, :math:`b` byte_cost, :math:`F_{min}`
    min_frame_bytes.

    Examples
    --------
    >>> round(float(affine_rate_pps(128, packet_cost=98.02e-6, byte_cost=15.47e-9)))
    10000

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, appendix A, has the same form for a host.
    """
    each = checks.non_negative("byte_cost", byte_cost) * padded_frame(frame_bytes, min_frame_bytes)
    return 1.0 / (each + checks.non_negative("packet_cost", packet_cost))


@model
def both_directions_pps(rate_pps: ArrayLike, *, segments_per_ack: ArrayLike = 2) -> FloatArray:
    r"""Packet rate of a device in both directions, acknowledgements included.

    .. math:: f_{both} = f \, (1 + 1/k)

    Parameters
    ----------
    rate_pps : array_like
        Data packets per second in one direction. [packet/s]
    segments_per_ack : array_like
        Data packets that one acknowledgement covers: 2 of a TCP receiver (RFC 5681); 1 where each
        packet is answered. [1]

    Returns
    -------
    numpy.ndarray
        Packets per second in both directions. [packet/s]

    Notes
    -----
    Validity: each acknowledgement is one packet.

    Range: everywhere.

    Defaults: segments_per_ack.

    Symbols: :math:`f` rate_pps, :math:`k` segments_per_ack.

    Examples
    --------
    >>> float(both_directions_pps(3512.5)), float(both_directions_pps(3512.5, segments_per_ack=1))
    (5268.75, 7025.0)

    References
    ----------
    RFC 5681 section 4.2; RFC 2544 section 14 (bidirectional traffic).
    """
    each = checks.at_least("segments_per_ack", segments_per_ack, 1.0)
    return checks.non_negative("rate_pps", rate_pps) * (1.0 + 1.0 / each)


@model
def switch_rate_pps(
    frame_bytes: ArrayLike,
    *,
    port_bps: ArrayLike,
    port_count: ArrayLike = 1,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Forwarding rate that a switch needs for line rate on all its ports.

    .. math:: f = \sum_i n_i \frac{R_i}{8 (\max(F_{min},\; F) + o)}

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS; vendors quote 64. [byte]
    port_bps : 1-D array_like
        Rate of each kind of port. [bit/s, Ethernet line]
    port_count : 1-D array_like
        Number of ports of each kind. [1]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]
    min_frame_bytes : array_like
        Smallest frame of the medium, to which shorter ones are padded: 0 where there is none, as
        for PPP. [byte]

    Returns
    -------
    numpy.ndarray
        Frames per second through the switch. [packet/s]

    Notes
    -----
    Validity: counts each frame once, where it comes in; data sheets that count both directions give
    twice the number.

    Range: everywhere.

    Symbols: :math:`F` frame_bytes, :math:`R_i` port_bps, :math:`n_i` port_count, :math:`o`
    overhead_bytes, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    24 ports of 100 Mbit/s and 4 of 1 Gbit/s:

    >>> round(float(switch_rate_pps(64, port_bps=[100e6, 1e9], port_count=[24, 4])))
    9523810

    References
    ----------
    RFC 2285 section 3.5 (forwarding rate); RFC 2544 appendix B.
    """
    rates = checks.one_dimensional("port_bps", checks.positive("port_bps", port_bps))
    counts = checks.one_dimensional("port_count", checks.whole("port_count", port_count))
    if counts.size not in (1, rates.size):
        raise DomainError("wrong-count", "port_count", count=counts.size, expected=rates.size)
    total = (rates * (counts / 8.0)).sum()
    wire = padded_frame(frame_bytes, min_frame_bytes) + checks.non_negative(
        "overhead_bytes", overhead_bytes
    )
    return np.asarray(total / wire)
