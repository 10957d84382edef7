"""Sizes of the headers that several subjects share, and what remains behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, named_arguments, non_negative, note, up_to, whole
from netcalc.errors import DomainError

MAC_HEADER_BYTES = 14.0
"""Two addresses and the type of an Ethernet frame. [byte]"""
FCS_BYTES = 4.0
"""Frame check sequence, which captures do not show. [byte]"""
TAG_BYTES = 4.0
"""One 802.1Q or 802.1ad tag. [byte]"""
MIN_FRAME_BYTES = 64.0
"""Smallest Ethernet frame, FCS and tags included. [byte]"""
PREAMBLE_AND_GAP_BYTES = 20.0
"""Preamble and start delimiter (8) and inter-packet gap (12). [byte]"""
IPV4_HEADER_BYTES = 20.0
IPV6_HEADER_BYTES = 40.0
TCP_HEADER_BYTES = 20.0
UDP_HEADER_BYTES = 8.0
DATAGRAM_HEADERS_BYTES = 28
"""IPv4 (20), and UDP or ICMP (8), in front of the data of a datagram or an echo. [byte]"""
DATAGRAM_HEADERS_V6_BYTES = 48
"""IPv6 (40), and UDP or ICMPv6 (8), in front of the data of a datagram or an echo. [byte]"""
MAX_TCP_OPTION_BYTES = 40.0
TIMESTAMP_BYTES = 12.0
"""Timestamps, 10 bytes padded to 12 (RFC 7323, appendix A): the TCP option of every segment between
systems that offer it by default. Linux does (tcp(7), ``tcp_timestamps``: 1), as do FreeBSD (tcp(4),
``net.inet.tcp.rfc1323``: 1) and macOS, which has its TCP; Windows does not offer it. [byte]"""
STAMPED_HEADERS_BYTES = 52
"""IPv4 (20), TCP (20) and timestamps (12): an acknowledgement, and what precedes data. [byte]"""
MAX_PACKET_BYTES = 65_535.0
"""Largest IPv4 packet, and largest payload of an IPv6 packet that is not a jumbogram. [byte]"""


@named_arguments
def ip_header_bytes(ip_version: int) -> float:
    """Return the size of an IP header without options or extension headers."""
    version: Any = ip_version
    if isinstance(version, np.ndarray | np.generic):  # a date or a duration compares with a warning
        is_one = version.ndim == 0 and version.dtype.kind not in "mM"
    else:
        is_one = not hasattr(version, "__len__")
    try:
        if is_one and ip_version == 4:
            return IPV4_HEADER_BYTES
        if is_one and ip_version == 6:
            return IPV6_HEADER_BYTES
    except Exception:  # Decimal("sNaN") and np.void compare with nothing
        pass
    raise DomainError("not-a-choice", "ip_version", ip_version, choices=[4, 6])


@named_arguments
def tcp_ip_header_bytes(ip_version: int, tcp_option_bytes: ArrayLike) -> FloatArray:
    """Return the size of the IP and TCP headers, TCP options included."""
    options = between("tcp_option_bytes", tcp_option_bytes, 0.0, MAX_TCP_OPTION_BYTES)
    return options + (ip_header_bytes(ip_version) + TCP_HEADER_BYTES)


@named_arguments
def without_headers(name: str, outer: FloatArray, headers: FloatArray | float) -> FloatArray:
    """Return ``outer - headers``, refused where the headers do not fit."""
    left = np.asarray(outer - headers)
    lowest = float(left.min()) if left.size else 0.0
    if lowest < 0 or (np.isnan(lowest) and np.fmin.reduce(left, axis=None) < 0):
        first = np.flatnonzero(left < 0)[0]
        shapes = np.broadcast_arrays(outer, headers)
        size, needed = (float(array.flat[first]) for array in shapes)
        index = None if left.size == 1 else int(first)
        raise DomainError("below-headers", name, size, low=needed, index=index)
    return left


@named_arguments
def ip_packet(name: str, value: ArrayLike) -> FloatArray:
    """Return a size of an IP packet; refuse one above 65,535 bytes, where IP ends."""
    return up_to(name, value, MAX_PACKET_BYTES)


@named_arguments
def whole_packet(name: str, value: ArrayLike) -> FloatArray:
    """Return a size of a real IP packet, in whole bytes: padding is not that of a mean size."""
    return whole(name, ip_packet(name, value))


@named_arguments
def padded_frame(
    frame_bytes: ArrayLike, min_frame_bytes: ArrayLike, name: str = "frame_bytes"
) -> FloatArray:
    """Return frames of at least the smallest of the medium, and note where they are padded."""
    frame = non_negative(name, frame_bytes)
    least = non_negative("min_frame_bytes", min_frame_bytes)
    short = frame < least
    if short.any():
        frame_of, least_of = np.broadcast_arrays(frame, least)
        at = np.flatnonzero(short)[0]
        value, low = float(frame_of.flat[at]), float(least_of.flat[at])
        note("frame-padded", name=name, value=value, low=low)
    return np.maximum(frame, least)


SIMPLE_IMIX_BYTES = (40.0, 576.0, 1500.0)
"""Sizes of the simple IMIX: IP packets, on Ethernet frames of 64, 594 and 1518 bytes. [byte]

A bare acknowledgement, the datagram that every host takes (RFC 791) and a full Ethernet frame; of
the "IMIX" of test equipment and of ``imix_weights`` of pktgen in Linux. FD.io CSIT has frames of
570 bytes in place of 594.
"""

SIMPLE_IMIX_WEIGHTS = (7.0, 4.0, 1.0)
"""Packets of each of these sizes. [1]"""
