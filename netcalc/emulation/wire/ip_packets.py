"""IP packets as an emulated path sees them: time to live, link-local noise, router answers."""

from __future__ import annotations

import ipaddress

ICMP, ICMPV6 = 1, 58
_QUOTED_V4, _QUOTED_V6 = 548, 1232  # bytes quoted: RFC 1812 4.3.2.3; RFC 4443 3.3 and its MTU
_NOISE = frozenset((130, 131, 132, 133, 134, 135, 136, 137, 143))
"""ICMPv6 types that no router forwards: multicast listeners, neighbour discovery."""


def is_noise(packet: bytes, at: int = 0) -> bool:
    """Whether a packet is for neighbours only, or no IP packet; its IP header begins at ``at``."""
    size = len(packet) - at
    version = packet[at] >> 4 if size > 0 else 0
    if version == 4:
        return size < 20
    if version != 6 or size < 40:
        return True
    # Multicast listener reports have a hop-by-hop header in front.
    following = packet[at + 6]
    kind = packet[at + 40] if following == ICMPV6 and size > 40 else 0
    if following == 0 and size > 48 and packet[at + 40] == ICMPV6:
        kind = packet[at + 48]
    return kind in _NOISE


def hop_limit(packet: bytes, at: int = 0) -> int:
    """Return the time to live of a packet, or its hop limit; its IP header begins at ``at``."""
    return packet[at + 8] if packet[at] >> 4 == 4 else packet[at + 7]


def decrement_hops(packet: bytes, count: int, at: int = 0) -> bytes:
    """Return a packet as it is behind ``count`` routers; the IP header begins at ``at``."""
    changed = bytearray(packet)
    if changed[at] >> 4 == 6:
        changed[at + 7] -= count
        return bytes(changed)
    changed[at + 8] -= count
    checksum = (changed[at + 10] << 8 | changed[at + 11]) + (count << 8)  # RFC 1624
    checksum = (checksum & 0xFFFF) + (checksum >> 16)
    changed[at + 10], changed[at + 11] = checksum >> 8, checksum & 0xFF
    return bytes(changed)


def time_exceeded(packet: bytes, router: str) -> bytes | None:
    """Return the Time Exceeded message of a router for a packet, or None if it sends none.

    None is sent for ICMP errors, for fragments but the first, and to multicast addresses.
    """
    address = ipaddress.ip_address(router)
    if packet[0] >> 4 == 4:
        head_bytes = 4 * (packet[0] & 0xF)
        fragment = (packet[6] << 8 | packet[7]) & 0x1FFF
        error = packet[9] == ICMP and packet[head_bytes : head_bytes + 1] not in (b"\x00", b"\x08")
        if address.version != 4 or fragment or error or packet[16] >= 224:
            return None
        body = bytes((11, 0, 0, 0, 0, 0, 0, 0)) + packet[: min(_QUOTED_V4, len(packet))]
        body = _with_checksum(body, 2, body)
        head = b"\x45\xc0" + (20 + len(body)).to_bytes(2, "big") + bytes(4) + b"\x40\x01\0\0"
        head += address.packed + packet[12:16]
        return _with_checksum(head, 10, head) + body
    error = packet[6] == ICMPV6 and len(packet) > 40 and packet[40] < 128
    if address.version != 6 or error or packet[24] == 0xFF:
        return None
    body = bytes((3, 0, 0, 0, 0, 0, 0, 0)) + packet[:_QUOTED_V6]
    ends = address.packed + packet[8:24]
    body = _with_checksum(body, 2, ends + len(body).to_bytes(4, "big") + b"\0\0\0\x3a" + body)
    return b"\x60\0\0\0" + len(body).to_bytes(2, "big") + b"\x3a\x40" + ends + body


def line_bytes(packet_bytes: int, header_bytes: int, segment_bytes: int) -> int:
    """Return the bytes of the segments of an offloaded packet on a line, each with its headers."""
    payload_bytes = packet_bytes - header_bytes
    if not segment_bytes or payload_bytes <= segment_bytes:
        return packet_bytes
    return payload_bytes + -(-payload_bytes // segment_bytes) * header_bytes


def _with_checksum(data: bytes, at: int, covered: bytes) -> bytes:
    return data[:at] + checksum(covered).to_bytes(2, "big") + data[at + 2 :]


def checksum(data: bytes) -> int:
    """Return the checksum of the Internet (RFC 1071)."""
    total = int.from_bytes(data + bytes(len(data) % 2), "big") % 0xFFFF
    return 0xFFFF - total if total or not any(data) else 0
