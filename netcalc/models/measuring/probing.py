r"""Probing a path from its ends: slopes of the round trip over size, packet pairs and trains.

The slope of the smallest round trip over the packet size is the sum of the serialization of a byte
over the links; its increase from hop to hop belongs to one link. Two packets sent back to back
leave the narrow link spaced by its serialization time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError


@model
def rtt_slope(
    bandwidth_bps: ArrayLike,
    *,
    same_size_reply: bool = True,
    reverse_bandwidth_bps: ArrayLike | None = None,
) -> FloatArray:
    r"""Slope of the round-trip time over packet size.

    .. math:: \frac{dT}{dL} = 8 \sum_i \frac{1}{R_i} + 8 \sum_j \frac{1}{R'_j}, \quad
        8 \sum_i \frac{1}{R_i} \text{ if only the request grows}

    Parameters
    ----------
    bandwidth_bps : 1-D array_like
        Rate of each link on the way there. [bit/s]
    same_size_reply : bool
        Whether the reply is as large as the request (an echo) or of a fixed size (an ICMP time
        exceeded, as traceroute and pathchar get it). [bool]
    reverse_bandwidth_bps : 1-D array_like, optional
        Rate of each link on the way back; by default as on the way there. [bit/s]

    Returns
    -------
    numpy.ndarray
        Increase of the round-trip time per byte. [s/byte]

    See Also
    --------
    netcalc.models.delays.store_and_forward.equivalent_bandwidth_bps : Single packets.
    train_rate_bps : Long trains.

    Notes
    -----
    Validity: store-and-forward at every node, minima without queueing.

    Range: everywhere.

    Symbols: :math:`R_i` bandwidth_bps, :math:`R'_j` reverse_bandwidth_bps. Not in the equation:
    same_size_reply (without it the way back counts for nothing).

    Examples
    --------
    >>> round(float(rtt_slope([10e6, 1.544e6, 45e6])) * 1e6, 3)
    12.318

    References
    ----------
    Jacobson, pathchar (1997); Downey, Using pathchar to estimate Internet link characteristics,
    SIGCOMM 1999, doi:10.1145/316188.316228.
    """
    rates = checks.one_dimensional("bandwidth_bps", checks.positive("bandwidth_bps", bandwidth_bps))
    back = rates
    if reverse_bandwidth_bps is not None:
        name = "reverse_bandwidth_bps"
        back = checks.one_dimensional(name, checks.positive(name, reverse_bandwidth_bps))
    there = (8.0 / rates).sum()
    is_echo = checks.flag("same_size_reply", same_size_reply)
    return np.asarray(there + (8.0 / back).sum() if is_echo else there)


@model
def rtt_intercept_s(
    latency_s: ArrayLike,
    *,
    bandwidth_bps: ArrayLike,
    header_bytes: ArrayLike,
) -> FloatArray:
    r"""Intercept of a line through round-trip times over user data, headers included.

    .. math:: T_0 = 2 \sum_i d_i + 16 H \sum_i \frac{1}{R_i}

    Parameters
    ----------
    latency_s : 1-D array_like
        Latency of each link, one way. [s]
    bandwidth_bps : 1-D array_like
        Rate of each link, one way. [bit/s]
    header_bytes : array_like
        Headers on top of the user data: 28 for an IPv4 ping. [byte]

    Returns
    -------
    numpy.ndarray
        Round-trip time at no user data. [s]

    Notes
    -----
    Validity: an echo of equal size, the same links back; processing in hosts and routers is extra.

    Range: everywhere.

    Symbols: :math:`d_i` latency_s, :math:`R_i` bandwidth_bps, :math:`H` header_bytes.

    Examples
    --------
    >>> round(float(rtt_intercept_s([0.001, 0.02, 0.001], bandwidth_bps=[10e6, 1.544e6, 10e6],
    ...     header_bytes=28)), 9)
    0.044379755

    References
    ----------
    Stevens, TCP/IP Illustrated vol. 3, A.3 (the intercepts of Fig. A-7 and A-8).
    """
    rates = checks.one_dimensional("bandwidth_bps", checks.positive("bandwidth_bps", bandwidth_bps))
    latencies = checks.one_dimensional("latency_s", checks.non_negative("latency_s", latency_s))
    if latencies.size != rates.size:
        raise DomainError("wrong-count", "latency_s", count=latencies.size, expected=rates.size)
    headers = checks.non_negative("header_bytes", header_bytes) * float((16.0 / rates).sum())
    return 2.0 * float(latencies.sum()) + headers


@model
def hop_bandwidth_bps(rtt_slope: ArrayLike, *, previous_rtt_slope: ArrayLike = 0.0) -> FloatArray:
    r"""Rate of a link, from the slopes measured to its two ends.

    .. math:: R_n = \frac{8}{s_n - s_{n-1}}

    Parameters
    ----------
    rtt_slope : array_like
        Slope of the round trip over size to the far end. [s/byte]
    previous_rtt_slope : array_like
        The same to the near end; 0 at the first hop. [s/byte]

    Returns
    -------
    numpy.ndarray
        Rate of the link; ``inf`` if both are equal, nan if the slope falls, which is noise.
        [bit/s, line]

    See Also
    --------
    pair_bandwidth_bps : Packet pairs: the narrow link.
    train_rate_bps : Trains: between capacity and available bandwidth.

    Notes
    -----
    Validity: replies of a fixed size; with echoes of equal size the slopes are twice as steep. A
    fast link behind a slow one is lost in the error of two large slopes.

    Range: everywhere.

    Symbols: :math:`s_n` rtt_slope, :math:`s_{n-1}` previous_rtt_slope.

    Examples
    --------
    >>> round(float(hop_bandwidth_bps(8.8e-8, previous_rtt_slope=8e-9)))
    100000000

    References
    ----------
    Jacobson, pathchar (1997); Downey, SIGCOMM 1999, doi:10.1145/316188.316228.
    """
    slope = checks.real("rtt_slope", rtt_slope)
    growth = slope - checks.real("previous_rtt_slope", previous_rtt_slope)
    return np.where(growth < 0.0, np.nan, 8.0 / np.abs(growth))


@model
def pair_dispersion_s(packet_bytes: ArrayLike, *, bandwidth_bps: ArrayLike) -> FloatArray:
    r"""Dispersion of a packet pair behind a list of links.

    .. math:: \Delta = \frac{8 L}{\min_i R_i}

    Parameters
    ----------
    packet_bytes : array_like
        Size of both packets. [byte]
    bandwidth_bps : 1-D array_like
        Rate of each link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time from the last bit of the first to the last bit of the second. [s]

    Notes
    -----
    Validity: no cross traffic. Cross traffic between the two spreads them; a queue behind the
    narrow link compresses them.

    Range: everywhere.

    Symbols: :math:`L` packet_bytes, :math:`R_i` bandwidth_bps.

    Examples
    --------
    >>> float(pair_dispersion_s(1500, bandwidth_bps=[1e9, 10e6, 100e6]))
    0.0012

    References
    ----------
    Keshav, A control-theoretic approach to flow control, SIGCOMM 1991, doi:10.1145/115992.115994;
    Dovrolis, Ramanathan and Moore, What do packet dispersion techniques measure?, INFOCOM 2001,
    doi:10.1109/INFCOM.2001.916282.
    """
    rates = checks.one_dimensional("bandwidth_bps", checks.positive("bandwidth_bps", bandwidth_bps))
    return checks.non_negative("packet_bytes", packet_bytes) * (8.0 / float(rates.min()))


@model
def pair_bandwidth_bps(dispersion_s: ArrayLike, *, packet_bytes: ArrayLike) -> FloatArray:
    r"""Rate of the narrow link, from the dispersion of a packet pair.

    .. math:: R = 8 L / \Delta

    Parameters
    ----------
    dispersion_s : array_like
        Time between the two at the receiver. [s]
    packet_bytes : array_like
        Size of the second packet, at the layer of the result. [byte]

    Returns
    -------
    numpy.ndarray
        Rate; ``inf`` where the measured time is 0. [bit/s, layer of packet_bytes]

    See Also
    --------
    train_rate_bps : Trains: between capacity and available bandwidth.
    hop_bandwidth_bps : Slopes: any link.

    Notes
    -----
    Validity: as :func:`pair_dispersion_s`; of many pairs take the mode, not the mean.

    Range: everywhere.

    Symbols: :math:`\Delta` dispersion_s, :math:`L` packet_bytes.

    Examples
    --------
    >>> round(float(pair_bandwidth_bps(0.0024, packet_bytes=600)))
    2000000

    References
    ----------
    Keshav, SIGCOMM 1991, doi:10.1145/115992.115994; Dovrolis et al., INFOCOM 2001,
    doi:10.1109/INFCOM.2001.916282.
    """
    dispersion = checks.non_negative("dispersion_s", dispersion_s)
    return 8.0 * checks.positive("packet_bytes", packet_bytes) / dispersion


@model
def train_rate_bps(
    dispersion_s: ArrayLike, *, packet_bytes: ArrayLike, packet_count: ArrayLike
) -> FloatArray:
    r"""Arrival rate of a packet train, from its dispersion.

    .. math:: R = \frac{(N - 1)\, 8 L}{\Delta}

    Parameters
    ----------
    dispersion_s : array_like
        Time from the first packet to the last at the receiver. [s]
    packet_bytes : array_like
        Size of each packet, at the layer of the result. [byte]
    packet_count : array_like
        Packets of the train. [1]

    Returns
    -------
    numpy.ndarray
        Rate; ``inf`` where the measured time is 0. [bit/s, layer of packet_bytes]

    See Also
    --------
    netcalc.models.delays.store_and_forward.equivalent_bandwidth_bps : Single packets.
    rtt_slope : The same sum, as the slope of round-trip times.
    pair_bandwidth_bps : Packet pairs: the narrow link.
    hop_bandwidth_bps : Slopes: any link.

    Notes
    -----
    Validity: with cross traffic a rate between the capacity and the available bandwidth.

    Range: everywhere.

    Symbols: :math:`\Delta` dispersion_s, :math:`L` packet_bytes, :math:`N` packet_count.

    Examples
    --------
    >>> round(float(train_rate_bps(0.012, packet_bytes=1500, packet_count=11)))
    10000000

    References
    ----------
    Dovrolis et al., INFOCOM 2001, doi:10.1109/INFCOM.2001.916282.
    """
    dispersion = checks.non_negative("dispersion_s", dispersion_s)
    gaps = checks.whole("packet_count", packet_count, low=2) - 1.0
    return gaps * (8.0 * checks.positive("packet_bytes", packet_bytes)) / dispersion
