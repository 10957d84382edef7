r"""Asymmetric paths: a slow reverse link limits the fast forward link.

Every acknowledgement of :math:`b` segments of :math:`M` bytes takes :math:`A` bytes of the
reverse link, so that the reverse rate over :math:`A` sets the pace of the data.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive


@model
def ack_limited_throughput_bps(
    reverse_bandwidth_bps: ArrayLike,
    *,
    ack_wire_bytes: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    segments_per_ack: ArrayLike = 2,
) -> FloatArray:
    r"""Forward goodput that a slow reverse link can acknowledge.

    .. math:: X = b \cdot M \cdot R_r / A

    Parameters
    ----------
    reverse_bandwidth_bps : array_like
        Rate of the link that carries the acknowledgements. [bit/s, line]
    ack_wire_bytes : array_like
        Size of an acknowledgement on that link, framing included. [byte]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    segments_per_ack : array_like
        Full segments that one acknowledgement covers: 1, or 2 with delayed ones. [1]

    Returns
    -------
    numpy.ndarray
        Goodput that the acknowledgements allow. [bit/s, TCP payload]

    See Also
    --------
    asymmetry_factor : Whether they are the limit.
    netcalc.models.rates.goodput.ack_reverse_utilization : Utilization on a symmetric link.

    Notes
    -----
    Validity: a reverse link without other traffic, no ACK thinning on the way.

    Range: everywhere.

    Defaults: mss_bytes, segments_per_ack.

    Symbols: :math:`b` segments_per_ack, :math:`M` mss_bytes, :math:`R_r` reverse_bandwidth_bps,
    :math:`A` ack_wire_bytes.

    Examples
    --------
    A 128 kbit/s link back carries the ACKs of 9.3 Mbit/s:

    >>> float(ack_limited_throughput_bps(128e3, ack_wire_bytes=40, mss_bytes=1460))
    9344000.0

    References
    ----------
    RFC 3449, 2 and 3.1; Lakshman, Madhow and Suter, INFOCOM 1997.
    """
    reverse = positive("reverse_bandwidth_bps", reverse_bandwidth_bps)
    data = positive("mss_bytes", mss_bytes) * positive("segments_per_ack", segments_per_ack)
    return reverse * (data / positive("ack_wire_bytes", ack_wire_bytes))


@model
def ack_bandwidth_bps(
    goodput_bps: ArrayLike,
    *,
    ack_wire_bytes: ArrayLike,
    mss_bytes: ArrayLike = 1460.0,
    segments_per_ack: ArrayLike = 2,
) -> FloatArray:
    r"""Bandwidth of a flow's acknowledgements on the reverse link.

    .. math:: R_r = X A / (b M)

    Parameters
    ----------
    goodput_bps : array_like
        Goodput of the flow. [bit/s, TCP payload]
    ack_wire_bytes : array_like
        Size of an acknowledgement on the reverse link, framing included. [byte]
    mss_bytes : array_like
        Payload of a full segment. [byte]
    segments_per_ack : array_like
        Full segments that one acknowledgement covers. [1]

    Returns
    -------
    numpy.ndarray
        Load of the reverse link; the inverse of :func:`ack_limited_throughput_bps`. [bit/s, line]

    Notes
    -----
    Validity: as :func:`ack_limited_throughput_bps`.

    Range: everywhere.

    Defaults: mss_bytes, segments_per_ack.

    Symbols: :math:`X` goodput_bps, :math:`A` ack_wire_bytes, :math:`b` segments_per_ack, :math:`M`
    mss_bytes.

    Examples
    --------
    ACKs of a full gigabit Ethernet, 84 bytes each on the wire:

    >>> round(float(ack_bandwidth_bps(949.3e6, ack_wire_bytes=84, mss_bytes=1460)) / 1e6, 1)
    27.3

    References
    ----------
    RFC 3449, 2.
    """
    goodput = non_negative("goodput_bps", goodput_bps)
    data = positive("mss_bytes", mss_bytes) * positive("segments_per_ack", segments_per_ack)
    return goodput * (positive("ack_wire_bytes", ack_wire_bytes) / data)


@model
def asymmetry_factor(
    bandwidth_bps: ArrayLike,
    *,
    reverse_bandwidth_bps: ArrayLike,
    wire_bytes: ArrayLike,
    ack_wire_bytes: ArrayLike,
) -> FloatArray:
    r"""Normalized bandwidth ratio: forward data packets per ACK that the reverse link can carry.

    .. math:: k = (R / L) / (R_r / A)

    Parameters
    ----------
    bandwidth_bps : array_like
        Rate forward. [bit/s]
    reverse_bandwidth_bps : array_like
        Rate of the link that carries the acknowledgements. [bit/s]
    wire_bytes : array_like
        Size of a data packet on the link forward. [byte]
    ack_wire_bytes : array_like
        Size of an acknowledgement on the reverse link. [byte]

    Returns
    -------
    numpy.ndarray
        Ratio ``k``: above ``segments_per_ack`` the reverse link is the bottleneck. [1]

    See Also
    --------
    ack_limited_throughput_bps : The rate that acknowledgements allow.
    netcalc.models.rates.goodput.ack_reverse_utilization : Utilization on a symmetric link.

    Notes
    -----
    Validity: one flow; not a share, so it may exceed 1.

    Range: everywhere.

    Symbols: :math:`R` bandwidth_bps, :math:`L` wire_bytes, :math:`R_r` reverse_bandwidth_bps,
    :math:`A` ack_wire_bytes.

    Examples
    --------
    The RFC's path, 10 Mbit/s forward, 50 kbit/s back, packets of 1000 B and ACKs of 40 B:

    >>> k = asymmetry_factor(10e6, reverse_bandwidth_bps=50e3, wire_bytes=1000, ack_wire_bytes=40)
    >>> float(k)
    8.0

    References
    ----------
    RFC 3449, 2 (``k`` and its example).
    """
    forward = positive("bandwidth_bps", bandwidth_bps)
    back = positive("reverse_bandwidth_bps", reverse_bandwidth_bps)
    size = positive("ack_wire_bytes", ack_wire_bytes) / positive("wire_bytes", wire_bytes)
    return forward * (size / back)
