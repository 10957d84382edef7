r"""WireGuard: 32 bytes and padding around a packet, in UDP.

Packets are padded to a multiple of 16, but never above the MTU of the WireGuard device itself, so
the largest packet is not padded at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model
from netcalc.models.sizes.headers import (
    UDP_HEADER_BYTES,
    ip_header_bytes,
    ip_packet,
    whole_packet,
    without_headers,
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
    netcalc.models.sizes.esp.esp_packet_bytes : IPsec.
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
def wireguard_mtu_bytes(mtu_bytes: ArrayLike, *, ip_version: int = 4) -> FloatArray:
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
    outer = ip_packet("mtu_bytes", mtu_bytes)
    return without_headers("mtu_bytes", outer, float(wireguard_overhead_bytes(ip_version)))
