r"""Goodput: what an application gets from a full Ethernet link.

The share of the link is payload over wire bytes, so it depends on the size of the packets and on
nothing else. A rate is converted with that share; adding a constant is right at one rate only.

Segments carry timestamps unless another number of option bytes is given: most systems send them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, at_least, model, note, positive
from netcalc.models.sizes.framing import ethernet_wire_bytes, tcp_payload_bytes, udp_payload_bytes
from netcalc.models.sizes.headers import TIMESTAMP_BYTES, tcp_ip_header_bytes

HALF_DUPLEX_BPS = (10e6, 100e6, 1e9)
"""Rates of Ethernet with half duplex (IEEE 802.3). [bit/s]"""


@model
def tcp_goodput_ratio(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Maximum TCP goodput of an Ethernet link as a share of its rate.

    .. math:: g = \frac{M - H_{IP} - 20 - o}{\max(64,\; M + 18 + 4 t) + 20}

    Parameters
    ----------
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Goodput over line rate. [ratio]

    Raises
    ------
    DomainError
        If the headers do not fit.

    Notes
    -----
    Validity: full duplex, every segment full, no retransmissions: a ceiling.

    Range: everywhere.

    Defaults: mtu_bytes, tcp_option_bytes.

    Symbols: :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`o`
    tcp_option_bytes, :math:`t` tag_count.

    Examples
    --------
    >>> round(float(tcp_goodput_ratio(1500, tcp_option_bytes=12)), 4)
    0.9415

    References
    ----------
    IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 7323.
    """
    payload = tcp_payload_bytes(mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes)
    return payload / ethernet_wire_bytes(mtu_bytes, tag_count=tag_count)


@model
def tcp_goodput_bps(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    bandwidth_bps: ArrayLike,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Maximum TCP goodput of one direction of an Ethernet link.

    .. math:: G = R \, \frac{M - H_{IP} - 20 - o}{\max(64,\; M + 18 + 4 t) + 20}

    Parameters
    ----------
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Goodput. [bit/s, TCP payload]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    netcalc.models.tcp.ceilings.path_ceilings : Window, loss and acknowledgements beside the line.
    udp_goodput_bps : UDP.
    half_duplex_goodput_bps : TCP, half duplex.
    netcalc.models.sizes.encapsulation.tunnel_goodput_bps : TCP through tunnels.

    Notes
    -----
    Validity: full duplex, every segment full, no retransmissions: a ceiling.

    Typical: 94.1 Mbit/s of 100 Mbit/s with an MTU of 1500 and timestamps, 94.9 without.

    Range: everywhere.

    Defaults: mtu_bytes, tcp_option_bytes.

    Symbols: :math:`R` bandwidth_bps, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40
    B), :math:`o` tcp_option_bytes, :math:`t` tag_count.

    Examples
    --------
    >>> round(float(tcp_goodput_bps(1500, bandwidth_bps=1e9)) / 1e6, 2)
    941.48
    >>> round(float(tcp_goodput_bps(1500, bandwidth_bps=1e9, tcp_option_bytes=0)) / 1e6, 2)
    949.28

    References
    ----------
    IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 7323; RFC 6349 section 4.1 (94.9 Mbit/s).
    """
    share = tcp_goodput_ratio(
        mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes, tag_count=tag_count
    )
    return positive("bandwidth_bps", bandwidth_bps) * share


@model
def udp_goodput_ratio(
    mtu_bytes: ArrayLike = 1500.0, *, ip_version: int = 4, tag_count: ArrayLike = 0
) -> FloatArray:
    r"""Maximum UDP goodput of an Ethernet link as a share of its rate.

    .. math:: g = \frac{M - H_{IP} - 8}{\max(64,\; M + 18 + 4 t) + 20}

    Parameters
    ----------
    mtu_bytes : array_like
        Size of the IP packets. [byte]
    ip_version : int
        4 or 6. [1]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Goodput over line rate. [ratio]

    Raises
    ------
    DomainError
        If the headers do not fit.

    Notes
    -----
    Validity: packets that are not fragmented, back to back. A higher rate was counted at the
    sender, before drops in a local queue.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`t` tag_count.

    Examples
    --------
    >>> round(float(udp_goodput_ratio(1500)), 4)
    0.9571

    References
    ----------
    IEEE 802.3, RFC 768, RFC 791, RFC 8200.
    """
    payload = udp_payload_bytes(mtu_bytes, ip_version=ip_version)
    return payload / ethernet_wire_bytes(mtu_bytes, tag_count=tag_count)


@model
def udp_goodput_bps(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    bandwidth_bps: ArrayLike,
    ip_version: int = 4,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Maximum UDP goodput of one direction of an Ethernet link.

    .. math:: G = R \, \frac{M - H_{IP} - 8}{\max(64,\; M + 18 + 4 t) + 20}

    Parameters
    ----------
    mtu_bytes : array_like
        Size of the IP packets. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    ip_version : int
        4 or 6. [1]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Goodput. [bit/s, UDP payload]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    tcp_goodput_bps : TCP, full duplex.
    half_duplex_goodput_bps : TCP, half duplex.
    netcalc.models.sizes.encapsulation.tunnel_goodput_bps : TCP through tunnels.

    Notes
    -----
    Validity: packets of one size that are not fragmented, back to back.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`R` bandwidth_bps, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40
    B), :math:`t` tag_count.

    Examples
    --------
    >>> round(float(udp_goodput_bps(1468, bandwidth_bps=10e6)) / 8e6, 3)
    1.195

    References
    ----------
    IEEE 802.3, RFC 768, RFC 791, RFC 8200.
    """
    share = udp_goodput_ratio(mtu_bytes, ip_version=ip_version, tag_count=tag_count)
    return positive("bandwidth_bps", bandwidth_bps) * share


@model
def tcp_ack_wire_bytes(
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES, *, ip_version: int = 4, tag_count: ArrayLike = 0
) -> FloatArray:
    r"""Wire size of a pure TCP acknowledgement on Ethernet.

    .. math:: W_a = \max(64,\; H_{IP} + 20 + o + 18 + 4 t) + 20

    Parameters
    ----------
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    ip_version : int
        4 or 6. [1]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Bytes on the wire. [byte]

    Notes
    -----
    Validity: exact; selective acknowledgements add 12 to 36 bytes of options.

    Range: everywhere.

    Defaults: tcp_option_bytes.

    Symbols: :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`o` tcp_option_bytes, :math:`t`
    tag_count.

    Examples
    --------
    >>> tcp_ack_wire_bytes([0, 12]).tolist()
    [84.0, 90.0]

    References
    ----------
    IEEE 802.3, RFC 9293, RFC 7323, RFC 2018.
    """
    packet = tcp_ip_header_bytes(ip_version, tcp_option_bytes)
    return ethernet_wire_bytes(packet, tag_count=tag_count)


@model
def ack_reverse_utilization(
    segments_per_ack: ArrayLike,
    *,
    mtu_bytes: ArrayLike = 1500.0,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Utilization of the reverse direction by acknowledgements of a full forward direction.

    .. math::

        u = \frac{\max(64,\; H_{IP} + 38 + o + 4 t) + 20}{k \, (\max(64,\; M + 18 + 4 t) + 20)}

    Parameters
    ----------
    segments_per_ack : array_like
        Full segments that one acknowledgement covers: 2 with delayed acknowledgements. [1]
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Utilization of the reverse direction, at the same rate as the forward one. [ratio]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    netcalc.models.delays.asymmetry.ack_limited_throughput_bps
        The rate that acknowledgements allow.
    netcalc.models.delays.asymmetry.asymmetry_factor : Whether they are the limit.

    Notes
    -----
    Validity: both directions at one rate, data at line rate.

    Range: everywhere.

    Defaults: tcp_option_bytes.

    Symbols: :math:`k` segments_per_ack, :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6:
    40 B), :math:`o` tcp_option_bytes, :math:`t` tag_count.

    Examples
    --------
    >>> round(float(ack_reverse_utilization(2, tcp_option_bytes=12)), 4)
    0.0293

    References
    ----------
    RFC 5681 section 4.2 (an acknowledgement for every second full segment); RFC 3449.
    """
    ack = tcp_ack_wire_bytes(tcp_option_bytes, ip_version=ip_version, tag_count=tag_count)
    tcp_payload_bytes(mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes)
    data = ethernet_wire_bytes(mtu_bytes, tag_count=tag_count)
    return ack / (at_least("segments_per_ack", segments_per_ack, 1.0) * data)


@model
def half_duplex_goodput_bps(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    bandwidth_bps: ArrayLike,
    segments_per_ack: ArrayLike = 2,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = TIMESTAMP_BYTES,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""Maximum TCP goodput where data and acknowledgements share a half-duplex link.

    .. math::

        G = R \, \frac{k \, (M - H_{IP} - 20 - o)}{k \, W + W_a}, \quad W = \max(64,\; M + 18 + 4 t)
        + 20, \quad W_a = \max(64,\; H_{IP} + 38 + o + 4 t) + 20

    Parameters
    ----------
    mtu_bytes : array_like
        Size of the full IP packets. [byte]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, Ethernet line]
    segments_per_ack : array_like
        Full segments that one acknowledgement covers: 2 with delayed acknowledgements. [1]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]

    Returns
    -------
    numpy.ndarray
        Goodput. [bit/s, TCP payload]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    tcp_goodput_bps : TCP, full duplex.
    udp_goodput_bps : UDP.
    netcalc.models.sizes.encapsulation.tunnel_goodput_bps : TCP through tunnels.

    Notes
    -----
    Validity: no collisions and no waiting for the wire; a real half-duplex Ethernet, of 10, 100 or
    1000 Mbit/s, delivers less. On Wi-Fi waiting and acknowledging each frame take about half of
    the rate: 20 to 27 of 54 Mbit/s.

    Range: bandwidth_bps (one of the three rates of half-duplex Ethernet) from 1e7 up to 1e9.

    Defaults: mtu_bytes, segments_per_ack, tcp_option_bytes.

    Symbols: :math:`R` bandwidth_bps, :math:`k` segments_per_ack, :math:`M` mtu_bytes,
    :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`o` tcp_option_bytes, :math:`t` tag_count.

    Examples
    --------
    >>> goodput = half_duplex_goodput_bps(
    ...     1500, bandwidth_bps=10e6, segments_per_ack=1, tcp_option_bytes=0
    ... )
    >>> round(float(goodput))
    9001233

    References
    ----------
    IEEE 802.3 clause 4; RFC 5681 section 4.2.
    """
    ack = tcp_ack_wire_bytes(tcp_option_bytes, ip_version=ip_version, tag_count=tag_count)
    ack_share = ack / at_least("segments_per_ack", segments_per_ack, 1.0)
    payload = tcp_payload_bytes(mtu_bytes, ip_version=ip_version, tcp_option_bytes=tcp_option_bytes)
    wire = ethernet_wire_bytes(mtu_bytes, tag_count=tag_count) + ack_share
    rate = positive("bandwidth_bps", bandwidth_bps)
    others = ~(np.isin(rate, HALF_DUPLEX_BPS) | np.isnan(rate))
    if others.any():
        note("half-duplex-of-no-ethernet", name="bandwidth_bps", value=float(rate[others].flat[0]))
    return rate * (payload / wire)
