r"""VPNs: packets in IPsec ESP, padded to the cipher's block, and in WireGuard.

In ESP a packet of :math:`n` bytes becomes a header of 8, an initialization vector, the packet
padded together with two trailer bytes to a multiple of the alignment, and the integrity check
value, all behind an IP header. The largest packet that fits is found on the staircase, not by
subtraction.

WireGuard adds 32 bytes and padding, in UDP. It pads packets to a multiple of 16, but never above
the MTU of the WireGuard device itself, so the largest packet is not padded at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, flag, model
from netcalc.models.sizes.headers import (
    UDP_HEADER_BYTES,
    ip_header_bytes,
    left_for_packets,
    suite_sizes,
    whole_packet,
    without_headers,
)

ESP_HEADER_BYTES = 8.0
"""Security parameters index (4) and sequence number (4). [byte]"""
ESP_TRAILER_BYTES = 2.0
"""Pad length and next header. [byte]"""


@model
def esp_packet_bytes(
    payload_bytes: ArrayLike,
    *,
    suite: str = "aes-gcm-16",
    ip_version: int = 4,
    nat_traversal: bool = False,
) -> FloatArray:
    r"""IP packet that carries a given number of protected bytes in ESP.

    .. math:: P = H_{IP} + u + 8 + V + a \lceil (n + 2) / a \rceil + C

    Parameters
    ----------
    payload_bytes : array_like
        Protected bytes: the whole inner packet in tunnel mode, its part behind the IP header in
        transport mode. [byte]
    suite : str
        Cipher and integrity algorithm: ``aes-gcm-16``, ``aes-cbc/hmac-sha256-128``. [text]
    ip_version : int
        Version of the outer header, 4 or 6; in transport mode of the packet's own. [1]
    nat_traversal : bool
        Whether ESP travels in UDP, 8 bytes more. [bool]

    Returns
    -------
    numpy.ndarray
        IP packet on the path, V being the initialization vector, C the check value and a the
        larger of 4 and the cipher's block. [byte]

    Raises
    ------
    DomainError
        If ``suite`` is unknown.

    See Also
    --------
    netcalc.models.sizes.vpn.wireguard_packet_bytes : WireGuard.
    netcalc.models.sizes.encapsulation.tunnel_packet_bytes : Any stack of tunnels.

    Notes
    -----
    Validity: least padding, no traffic flow confidentiality, no IP options.

    Range: everywhere.

    Symbols: :math:`n` payload_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`u`
    nat_traversal (no: 0 B, yes: 8 B). Not in the equation: suite (the initialization vector V, the
    alignment a, the check value C).

    Examples
    --------
    A full packet in tunnel mode:

    >>> float(esp_packet_bytes(1500, suite="aes-cbc/hmac-sha256-128"))
    1564.0

    References
    ----------
    RFC 4303 section 2; RFC 3948 (NAT traversal).
    """
    iv, align, icv = suite_sizes(suite)
    padded = whole_packet("payload_bytes", payload_bytes) + ESP_TRAILER_BYTES
    padded = np.ceil(padded / align) * align
    return padded + (_outer_bytes(ip_version, nat_traversal) + iv + icv)


@model
def esp_payload_bytes(
    mtu_bytes: ArrayLike = 1500.0,
    *,
    suite: str = "aes-gcm-16",
    ip_version: int = 4,
    nat_traversal: bool = False,
) -> FloatArray:
    r"""Largest ESP payload of an unfragmented packet.

    .. math:: n = a \left\lfloor \frac{M - H_{IP} - u - 8 - V - C}{a} \right\rfloor - 2

    Parameters
    ----------
    mtu_bytes : array_like
        Largest IP packet of the path. [byte]
    suite : str
        Cipher and integrity algorithm: ``aes-gcm-16``, ``aes-cbc/hmac-sha256-128``. [text]
    ip_version : int
        Version of the outer header, 4 or 6; in transport mode of the packet's own. [1]
    nat_traversal : bool
        Whether ESP travels in UDP, 8 bytes more. [bool]

    Returns
    -------
    numpy.ndarray
        Largest inner packet in tunnel mode; in transport mode its part behind the IP header.
        [byte]

    Raises
    ------
    DomainError
        If ``suite`` is unknown, or the headers do not fit.

    Notes
    -----
    Validity: the largest step of :func:`esp_packet_bytes` that is not above the MTU; up to 15 bytes
    of the MTU are unused.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`u`
    nat_traversal (no: 0 B, yes: 8 B). Not in the equation: suite (the initialization vector V, the
    alignment a, the check value C).

    Examples
    --------
    >>> float(esp_payload_bytes(1500, suite="aes-cbc/hmac-sha256-128"))
    1438.0

    References
    ----------
    RFC 4303 section 2; RFC 3948 (NAT traversal).
    """
    iv, align, icv = suite_sizes(suite)
    fixed = _outer_bytes(ip_version, nat_traversal) + iv + icv
    left = without_headers("mtu_bytes", whole_packet("mtu_bytes", mtu_bytes), fixed + align)
    return np.floor(left / align) * align + (align - ESP_TRAILER_BYTES)


def _outer_bytes(ip_version: int, nat_traversal: bool) -> float:
    return (
        ip_header_bytes(ip_version)
        + ESP_HEADER_BYTES
        + (UDP_HEADER_BYTES if flag("nat_traversal", nat_traversal) else 0)
    )


WIREGUARD_BYTES = 32.0
"""Type (4), receiver (4), counter (8) and tag (16). [byte]"""
WIREGUARD_ALIGN_BYTES = 16.0


@model
def wireguard_overhead_bytes(ip_version: int = 4) -> FloatArray:
    r"""Overhead of WireGuard per packet, without padding.

    .. math:: o = H_{IP} + 8 + 32

    Parameters
    ----------
    ip_version : int
        Version of the outer header, 4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        Overhead of a packet. [byte]

    Notes
    -----
    Validity: no IP options. The usual MTU of 1420 is 1500 minus the overhead over IPv6.

    Typical: 60 bytes over IPv4, 80 over IPv6.

    Range: everywhere.

    Symbols: :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B).

    Examples
    --------
    >>> float(wireguard_overhead_bytes(4)), float(wireguard_overhead_bytes(6))
    (60.0, 80.0)

    References
    ----------
    Donenfeld, WireGuard: Next Generation Kernel Network Tunnel (NDSS 2017),
    doi:10.14722/ndss.2017.23160, section 5.4.6.
    """
    return np.asarray(ip_header_bytes(ip_version) + UDP_HEADER_BYTES + WIREGUARD_BYTES)


@model
def wireguard_packet_bytes(
    packet_bytes: ArrayLike, *, device_mtu_bytes: ArrayLike = 1420.0, ip_version: int = 4
) -> FloatArray:
    r"""Outer IP packet of an inner packet in WireGuard.

    .. math:: P = H_{IP} + 8 + 32 + \min(M_d,\; 16 \lceil n / 16 \rceil)

    Parameters
    ----------
    packet_bytes : array_like
        Inner packet; 0 is a keepalive. [byte]
    device_mtu_bytes : array_like
        MTU of the WireGuard device. [byte]
    ip_version : int
        Version of the outer header, 4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        IP packet on the path; nan where the inner packet exceeds the MTU of the device. [byte]

    See Also
    --------
    netcalc.models.sizes.vpn.esp_packet_bytes : IPsec.
    netcalc.models.sizes.encapsulation.tunnel_packet_bytes : Any stack of tunnels.

    Notes
    -----
    Validity: as the Linux kernel and wireguard-go pad: up to 16, but not above the MTU.

    Range: everywhere.

    Symbols: :math:`n` packet_bytes, :math:`M_d` device_mtu_bytes, :math:`H_{IP}` ip_version (4: 20
    B, 6: 40 B).

    Examples
    --------
    >>> wireguard_packet_bytes([0, 40, 1412, 1420]).tolist()
    [60.0, 108.0, 1480.0, 1480.0]

    References
    ----------
    Donenfeld, WireGuard (NDSS 2017), doi:10.14722/ndss.2017.23160, section 5.4.6; Linux,
    drivers/net/wireguard/send.c.
    """
    inner = whole_packet("packet_bytes", packet_bytes)
    largest = whole_packet("device_mtu_bytes", device_mtu_bytes)
    padded = np.minimum(np.ceil(inner / WIREGUARD_ALIGN_BYTES) * WIREGUARD_ALIGN_BYTES, largest)
    padded = np.where(inner > largest, np.nan, padded)
    return padded + wireguard_overhead_bytes(ip_version)


@model
def wireguard_mtu_bytes(mtu_bytes: ArrayLike = 1500.0, *, ip_version: int = 4) -> FloatArray:
    r"""Largest MTU of a WireGuard device without fragmentation on the path.

    .. math:: M_d = M - H_{IP} - 8 - 32

    Parameters
    ----------
    mtu_bytes : array_like
        Largest IP packet of the path. [byte]
    ip_version : int
        Version of the outer header, 4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        MTU of the device: the largest inner packet. [byte]

    Raises
    ------
    DomainError
        If the headers do not fit.

    Notes
    -----
    Validity: padding stops at the MTU of the device, so it costs nothing here. Of a device with a
    larger MTU, only packets up to the next lower multiple of 16 are not fragmented.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B).

    Examples
    --------
    >>> float(wireguard_mtu_bytes(1500, ip_version=6))
    1420.0

    References
    ----------
    Donenfeld, WireGuard (NDSS 2017), doi:10.14722/ndss.2017.23160, section 5.4.6; wg-quick sets
    1420.
    """
    outer, headers = whole_packet("mtu_bytes", mtu_bytes), wireguard_overhead_bytes(ip_version)
    return left_for_packets(without_headers("mtu_bytes", outer, float(headers)))
