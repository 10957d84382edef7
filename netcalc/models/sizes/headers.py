"""Sizes of the headers that several subjects share, and what the ciphers of ESP add to a packet."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, between, named_arguments, non_negative, note, up_to, whole
from netcalc.errors import ArgumentTypeError, DomainError

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
    """Return a size of a real IP packet, in whole bytes: a mean size has no padding."""
    return whole(name, ip_packet(name, value))


JUMBO_FRAME_BYTES = 9_216.0 + MAC_HEADER_BYTES + 2 * TAG_BYTES + FCS_BYTES
"""Frame of the largest IP packet that most Ethernet equipment takes, with two tags. [byte]

No standard has it: switches of Cisco, Arista and Juniper are set up to 9,192 to 9,500 bytes.
"""


@named_arguments
def jumbo_at_most(name: str, frame_bytes: FloatArray) -> FloatArray:
    """Return Ethernet frames, and note one that is longer than most equipment takes."""
    longest = float(np.fmax.reduce(frame_bytes, axis=None, initial=0.0))
    if longest > JUMBO_FRAME_BYTES:
        limit = JUMBO_FRAME_BYTES
        note("frame-above-jumbo", name=name, value=longest, limit=limit, rank=longest)
    return frame_bytes


@named_arguments
def left_for_packets(mtu_bytes: FloatArray) -> FloatArray:
    """Return the MTU in a tunnel, and note one that no IP packet fits in."""
    least = float(np.fmin.reduce(mtu_bytes, axis=None, initial=np.inf))
    if least < IPV4_HEADER_BYTES:
        limit = IPV4_HEADER_BYTES
        note("no-packet-fits", name="result", value=least, limit=limit, rank=-least)
    return mtu_bytes


@named_arguments
def left_for_payload(payload_bytes: FloatArray) -> FloatArray:
    """Return the payload that an MTU leaves, and note that it leaves none."""
    if np.any(payload_bytes == 0.0):
        note("no-payload-fits", name="result", value=0.0)
    return payload_bytes


@named_arguments
def padded_frame(
    frame_bytes: ArrayLike, min_frame_bytes: ArrayLike, name: str = "frame_bytes"
) -> FloatArray:
    """Return frames of at least the smallest of the medium, and note where they are padded."""
    frame = jumbo_at_most(name, non_negative(name, frame_bytes))
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


class Cipher(NamedTuple):
    """Overhead of a cipher per packet."""

    iv_bytes: float
    block_bytes: float
    icv_bytes: float = 0.0


CIPHERS: dict[str, Cipher] = {
    "null": Cipher(0, 1),
    "des": Cipher(8, 8),
    "3des": Cipher(8, 8),
    "blowfish": Cipher(8, 8),
    "aes-cbc": Cipher(16, 16),
    "camellia-cbc": Cipher(16, 16),
    "aes-ctr": Cipher(8, 1),
    "aes-gcm-8": Cipher(8, 1, 8),
    "aes-gcm-12": Cipher(8, 1, 12),
    "aes-gcm-16": Cipher(8, 1, 16),
    "aes-gmac": Cipher(8, 1, 16),
    "aes-ccm-8": Cipher(8, 1, 8),
    "aes-ccm-12": Cipher(8, 1, 12),
    "aes-ccm-16": Cipher(8, 1, 16),
    "chacha20-poly1305": Cipher(8, 1, 16),
}
"""Ciphers by name; those with a check value of their own need no second algorithm.
RFC 2410, 2405, 2451, 3602, 5529, 3686, 4106, 4543, 4309, 7634."""

INTEGRITY: dict[str, float] = {
    "none": 0.0,
    "hmac-md5-96": 12.0,
    "hmac-sha1-96": 12.0,
    "aes-xcbc-96": 12.0,
    "aes-cmac-96": 12.0,
    "hmac-sha256-128": 16.0,
    "hmac-sha384-192": 24.0,
    "hmac-sha512-256": 32.0,
}
"""Integrity algorithms by name and the size of their check value. [byte]
RFC 2403, 2404, 3566, 4494, 4868."""


class Suite(NamedTuple):
    """Overhead of a cipher with an integrity algorithm per packet."""

    iv_bytes: float
    align_bytes: float
    icv_bytes: float


@named_arguments
def suite_sizes(suite: str) -> Suite:
    """Return the sizes of a suite such as ``aes-cbc/hmac-sha1-96`` or ``aes-gcm-16``."""
    if not isinstance(suite, str):
        raise ArgumentTypeError("not-text", "suite", value=suite, example="aes-gcm-16")
    return _sizes(suite)


@lru_cache(maxsize=64)
def _sizes(suite: str) -> Suite:
    name, _, check = suite.strip().lower().partition("/")
    name = re.sub(r"^aes-?(?:128|192|256)-", "aes-", re.sub(r"^(3?des)-cbc$", r"\1", name))
    name = {"aes-gcm": "aes-gcm-16", "aes-ccm": "aes-ccm-16", "aes": "aes-cbc"}.get(name, name)
    cipher = CIPHERS.get(name)
    icv = INTEGRITY.get(check or "none")
    if cipher is None or icv is None:
        raise DomainError(
            "unknown-suite", "suite", suite, ciphers=list(CIPHERS), integrity=list(INTEGRITY)
        )
    return Suite(cipher.iv_bytes, max(4.0, cipher.block_bytes), cipher.icv_bytes + icv)
