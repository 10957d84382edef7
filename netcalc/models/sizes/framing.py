r"""Ethernet framing: sizes of a packet on the wire, and of its payload.

Four sizes of a packet: the IP packet; the frame, with 14 bytes of header, tags and 4 bytes of FCS,
never less than 64; the same frame in a capture, which has no FCS; and the wire, with 8 bytes of
preamble and start delimiter and 12 of gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, whole
from netcalc.models.sizes.headers import (
    FCS_BYTES,
    MAC_HEADER_BYTES,
    MAX_PACKET_BYTES,
    MIN_FRAME_BYTES,
    PREAMBLE_AND_GAP_BYTES,
    TAG_BYTES,
    UDP_HEADER_BYTES,
    ip_header_bytes,
    ip_packet,
    jumbo_at_most,
    left_for_payload,
    tcp_ip_header_bytes,
    whole_packet,
    without_headers,
)


@model
def ethernet_frame_bytes(
    packet_bytes: ArrayLike,
    *,
    tag_count: ArrayLike = 0,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
) -> FloatArray:
    r"""Ethernet frame of a packet, with tags, FCS and padding.

    .. math:: F = \max(F_{min},\; 18 + 4 t + P)

    Parameters
    ----------
    packet_bytes : array_like
        Payload of the frame: the IP packet. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags, which count towards the smallest frame. [1]
    min_frame_bytes : array_like
        Smallest frame, FCS and tags included; a switch that pads before it tags uses 68. [byte]

    Returns
    -------
    numpy.ndarray
        Frame with FCS. [byte]

    Notes
    -----
    Validity: exact for Ethernet II; an 802.3 frame with LLC and SNAP has 8 bytes more.

    Range: everywhere.

    Symbols: :math:`P` packet_bytes, :math:`t` tag_count, :math:`F_{min}` min_frame_bytes.

    Examples
    --------
    >>> ethernet_frame_bytes([1, 46, 1500]).tolist()
    [64.0, 64.0, 1518.0]

    References
    ----------
    IEEE 802.3 clause 3; IEEE 802.1Q clause 9 (tags).
    """
    added = MAC_HEADER_BYTES + FCS_BYTES + TAG_BYTES * whole("tag_count", tag_count)
    frame = jumbo_at_most("packet_bytes", ip_packet("packet_bytes", packet_bytes) + added)
    return np.maximum(frame, non_negative("min_frame_bytes", min_frame_bytes))


@model
def ethernet_wire_bytes(
    packet_bytes: ArrayLike,
    *,
    tag_count: ArrayLike = 0,
    min_frame_bytes: ArrayLike = MIN_FRAME_BYTES,
    overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES,
) -> FloatArray:
    r"""Wire size of a packet on Ethernet, preamble and gap included.

    .. math:: W = \max(F_{min},\; 18 + 4 t + P) + o

    Parameters
    ----------
    packet_bytes : array_like
        Payload of the frame: the IP packet. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags. [1]
    min_frame_bytes : array_like
        Smallest frame, FCS and tags included. [byte]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]

    Returns
    -------
    numpy.ndarray
        Bytes on the wire. [byte]

    See Also
    --------
    netcalc.models.sizes.serial_lines.ppp_wire_bytes : PPP.
    netcalc.models.sizes.serial_lines.atm_wire_bytes : ATM.
    netcalc.models.sizes.encapsulation.tunnel_wire_bytes : Tunnels over Ethernet.

    Notes
    -----
    Validity: exact on average; at 10 Gbit/s and above single gaps shrink to 5 bytes.

    Range: everywhere.

    Symbols: :math:`P` packet_bytes, :math:`t` tag_count, :math:`F_{min}` min_frame_bytes, :math:`o`
    overhead_bytes.

    Examples
    --------
    >>> ethernet_wire_bytes([40, 1500]).tolist()
    [84.0, 1538.0]

    References
    ----------
    IEEE 802.3 clauses 3 and 46.3.1.4; RFC 2544 appendix B.
    """
    frame = ethernet_frame_bytes(packet_bytes, tag_count=tag_count, min_frame_bytes=min_frame_bytes)
    return frame + non_negative("overhead_bytes", overhead_bytes)


@model
def captured_frame_bytes(captured_bytes: ArrayLike) -> FloatArray:
    r"""Frame on the wire, FCS and padding included, from its length in a capture.

    .. math:: F = \max(64,\; C + 4)

    Parameters
    ----------
    captured_bytes : array_like
        Length that a capture shows: 60 to 1514 on common Ethernet. [byte]

    Returns
    -------
    numpy.ndarray
        Frame with FCS. [byte]

    Notes
    -----
    Validity: captures on hosts; test sets and some taps capture the FCS, too. Frames
    that the host cuts or joins in hardware (TSO, GRO) were never on the wire in this size.

    Range: everywhere.

    Symbols: :math:`C` captured_bytes.

    Examples
    --------
    >>> captured_frame_bytes([42, 60, 1514]).tolist()
    [64.0, 64.0, 1518.0]

    References
    ----------
    IEEE 802.3 clause 3; the FCS is stripped by the network card.
    """
    frame = non_negative("captured_bytes", captured_bytes) + FCS_BYTES
    return np.maximum(jumbo_at_most("captured_bytes", frame), MIN_FRAME_BYTES)


@model
def captured_wire_bytes(
    captured_bytes: ArrayLike, *, overhead_bytes: ArrayLike = PREAMBLE_AND_GAP_BYTES
) -> FloatArray:
    r"""Wire size of a frame, preamble and gap included, from its length in a capture.

    .. math:: W = \max(64,\; C + 4) + o

    Parameters
    ----------
    captured_bytes : array_like
        Length that a capture shows: 60 to 1514 on common Ethernet. [byte]
    overhead_bytes : array_like
        Preamble and start delimiter (8) and gap (12). [byte]

    Returns
    -------
    numpy.ndarray
        Bytes on the wire. [byte]

    Notes
    -----
    Validity: as :func:`captured_frame_bytes`. Adding 20 to a captured length is 4 short.

    Range: everywhere.

    Symbols: :math:`C` captured_bytes, :math:`o` overhead_bytes.

    Examples
    --------
    >>> captured_wire_bytes([60, 1514]).tolist()
    [84.0, 1538.0]

    References
    ----------
    IEEE 802.3 clause 3; RFC 2544 section 9 (its frame sizes include the FCS).
    """
    return captured_frame_bytes(captured_bytes) + non_negative("overhead_bytes", overhead_bytes)


@model
def captured_tcp_payload_bytes(
    captured_bytes: ArrayLike,
    *,
    ip_version: int = 4,
    tcp_option_bytes: ArrayLike = 0.0,
    tag_count: ArrayLike = 0,
) -> FloatArray:
    r"""TCP payload of a frame, from its length in a capture.

    .. math:: p = C - 14 - 4 t - H_{IP} - 20 - o

    Parameters
    ----------
    captured_bytes : array_like
        Length that a capture shows, without FCS. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]
    tag_count : array_like
        802.1Q or 802.1ad tags that the capture shows. [1]

    Returns
    -------
    numpy.ndarray
        TCP payload. [byte]

    Raises
    ------
    DomainError
        If the headers do not fit.

    Notes
    -----
    Validity: frames without padding; a frame of 60 captured bytes may hold 0 to 6 bytes of TCP.

    Range: everywhere.

    Symbols: :math:`C` captured_bytes, :math:`t` tag_count, :math:`H_{IP}` ip_version (4: 20 B, 6:
    40 B), :math:`o` tcp_option_bytes.

    Examples
    --------
    >>> captured_tcp_payload_bytes([64, 1514]).tolist()
    [10.0, 1460.0]

    References
    ----------
    RFC 791, RFC 8200, RFC 9293.
    """
    headers = MAC_HEADER_BYTES + TAG_BYTES * whole("tag_count", tag_count)
    headers = headers + tcp_ip_header_bytes(ip_version, tcp_option_bytes)
    return without_headers(
        "captured_bytes", non_negative("captured_bytes", captured_bytes), headers
    )


@model
def tcp_payload_bytes(
    mtu_bytes: ArrayLike = 1500.0, *, ip_version: int = 4, tcp_option_bytes: ArrayLike = 0.0
) -> FloatArray:
    r"""Largest TCP payload of a segment; without options, the MSS that a host announces.

    .. math:: p = M - H_{IP} - 20 - o

    Parameters
    ----------
    mtu_bytes : array_like
        Largest IP packet of the path. [byte]
    ip_version : int
        4 or 6. [1]
    tcp_option_bytes : array_like
        TCP options: 12 with timestamps, at most 40. [byte]

    Returns
    -------
    numpy.ndarray
        TCP payload of a full segment. [byte]

    Raises
    ------
    DomainError
        If the headers do not fit.

    See Also
    --------
    netcalc.models.sizes.encapsulation.tunnel_tcp_payload_bytes : Through tunnels.

    Notes
    -----
    Validity: no IP options or extension headers. The MSS option leaves TCP options out, so that the
    payload of a full segment is the MSS minus the options.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B), :math:`o`
    tcp_option_bytes.

    Examples
    --------
    >>> float(tcp_payload_bytes(1500)), float(tcp_payload_bytes(1500, tcp_option_bytes=12))
    (1460.0, 1448.0)

    References
    ----------
    RFC 9293 section 3.7.1; RFC 6691; RFC 7323 (timestamps).
    """
    headers = tcp_ip_header_bytes(ip_version, tcp_option_bytes)
    whole_mtu = whole_packet("mtu_bytes", mtu_bytes)
    return left_for_payload(without_headers("mtu_bytes", whole_mtu, headers))


@model
def udp_payload_bytes(mtu_bytes: ArrayLike = 1500.0, *, ip_version: int = 4) -> FloatArray:
    r"""Largest UDP payload of an unfragmented packet.

    .. math:: p = M - H_{IP} - 8

    Parameters
    ----------
    mtu_bytes : array_like
        Largest IP packet of the path. [byte]
    ip_version : int
        4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        UDP payload. [byte]

    Raises
    ------
    DomainError
        If the headers do not fit.

    Notes
    -----
    Validity: no IP options or extension headers.

    Range: everywhere.

    Defaults: mtu_bytes.

    Symbols: :math:`M` mtu_bytes, :math:`H_{IP}` ip_version (4: 20 B, 6: 40 B).

    Examples
    --------
    >>> float(udp_payload_bytes(1500))
    1472.0

    References
    ----------
    RFC 768, RFC 791, RFC 8200.
    """
    headers = ip_header_bytes(ip_version) + UDP_HEADER_BYTES
    whole_mtu = whole_packet("mtu_bytes", mtu_bytes)
    return left_for_payload(without_headers("mtu_bytes", whole_mtu, headers))


@model
def udp_payload_limit_bytes(ip_version: int = 4) -> FloatArray:
    r"""Largest UDP payload of an IP datagram, fragmented or not.

    .. math:: p = 65535 - H_c - 8

    Parameters
    ----------
    ip_version : int
        4 or 6. [1]

    Returns
    -------
    numpy.ndarray
        UDP payload. [byte]

    Notes
    -----
    Validity: no IPv4 options, no IPv6 extension headers, no jumbograms. The length field of IPv4
    counts its own header, the field of IPv6 does not.

    Range: everywhere.

    Symbols: :math:`H_c` ip_version (4: 20 B, 6: 0 B).

    Examples
    --------
    >>> float(udp_payload_limit_bytes(4)), float(udp_payload_limit_bytes(6))
    (65507.0, 65527.0)

    References
    ----------
    RFC 768, RFC 791, RFC 8200.
    """
    header = ip_header_bytes(ip_version)
    counted = header if ip_version == 4 else 0.0
    return np.asarray(MAX_PACKET_BYTES - counted - UDP_HEADER_BYTES)
