"""IPv4, IPv6 with its extension headers, and what carries another packet inside: GRE and others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.blocks import Ints, u8, u16
from netcalc.readers.captures.layers import (
    DONE,
    ETHERNET,
    IPV4,
    IPV6,
    LINK,
    PROTOCOL,
    Layers,
)
from netcalc.samples import Layer

_IPV4_HEADER = np.dtype(
    [
        ("version_length", "u1"), ("traffic_class", "u1"), ("length", ">u2"), ("id", ">u2"),
        ("fragment", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("checksum", ">u2"),
        ("source", ">u4"), ("destination", ">u4"),
    ]
)  # fmt: skip
_IPV6_HEADER = np.dtype(
    [
        ("first", ">u4"), ("length", ">u2"), ("next", "u1"), ("limit", "u1"),
        ("source", "V16"), ("destination", "V16"),
    ]
)  # fmt: skip
_FRAGMENT_HEADER = np.dtype([("next", "u1"), ("r", "u1"), ("offset", ">u2"), ("id", ">u4")])
_GRE_HEADER = np.dtype([("flags", ">u2"), ("type", ">u2")])

_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AH, _DESTINATION, _MOBILITY, _HIP, _SHIM6 = (
    0, 43, 44, 51, 60, 135, 139, 140,
)  # fmt: skip
_JUMBO_OPTION = 0xC204
_ERSPAN_2 = 0x88BE
_PPTP = 0x880B
_PPP_LINK = LINK + 9


class Addresses:
    """The addresses of a block: 16 bytes each, those of IPv4 behind twelve fixed bytes."""

    def __init__(self, count: int) -> None:
        self.source = np.zeros((count, 2), ">u8")
        self.destination = np.zeros((count, 2), ">u8")

    def put_4(self, rows: Ints, header: NDArray[np.void]) -> None:
        """Store IPv4 addresses as those IPv6 maps them to: ``::ffff:a.b.c.d``."""
        for target, name in ((self.source, "source"), (self.destination, "destination")):
            target[rows, 0] = 0
            target[rows, 1] = header[name].astype(np.uint64) | np.uint64(0xFFFF_0000_0000)

    def put_6(self, rows: Ints, header: NDArray[np.void]) -> None:
        """Store IPv6 addresses."""
        for target, name in ((self.source, "source"), (self.destination, "destination")):
            target[rows] = np.ascontiguousarray(header[name]).view(">u8").reshape(-1, 2)


def ipv4(layers: Layers, rows: Ints, addresses: Addresses) -> None:
    """Read IPv4 headers."""
    rows, header = layers.header(rows, _IPV4_HEADER)
    own = (header["version_length"] & 15).astype(np.int64) * 4
    total = header["length"].astype(np.int64)
    no_length = total == 0  # left to the network card, which cuts the data into packets
    if no_length.any():
        layers.mark(rows[no_length], Layer.OFFLOADED)
        total = np.where(no_length, layers.left[rows], total)
    is_bad = (header["version_length"] >> 4 != 4) | (own < 20) | (total < own)
    if is_bad.any():
        layers.mark(rows[is_bad], Layer.MALFORMED)
        layers.kind[rows[is_bad]] = DONE
        good = ~is_bad
        rows, header, own, total = rows[good], header[good], own[good], total[good]
    layers.begin_packet(rows, Layer.IPV4)
    is_longer = total > layers.left[rows]  # than the frame it came in
    if is_longer.any():
        layers.mark(rows[is_longer], Layer.MALFORMED)
    layers.put("ip_version", rows, 4)
    layers.put("packet_bytes", rows, total)
    layers.put("traffic_class", rows, header["traffic_class"])
    layers.put("ttl", rows, header["ttl"])
    layers.put("ip_id", rows, header["id"])
    layers.put("ip_protocol", rows, header["protocol"])
    addresses.put_4(rows, header)
    layers.left[rows] = np.minimum(total, layers.left[rows])
    layers.advance(rows, own, PROTOCOL + header["protocol"].astype(np.int64))
    part = header["fragment"] & 0x3FFF
    if part.any():
        _fragments(layers, rows[part != 0], header["fragment"][part != 0] & 0x1FFF)


def _fragments(layers: Layers, rows: Ints, offset: NDArray[np.integer]) -> None:
    """Note fragments; those behind the first have no transport header."""
    layers.mark(rows, Layer.FRAGMENT)
    layers.parts.append((rows, offset.astype(np.int64)))
    later = rows[offset != 0]
    layers.mark(later, Layer.LATER_FRAGMENT)
    layers.kind[later] = DONE


def ipv6(layers: Layers, rows: Ints, addresses: Addresses) -> None:
    """Read IPv6 headers; a length of 0 is that of a jumbogram, or left to the network card."""
    rows, header = layers.header(rows, _IPV6_HEADER)
    is_bad = header["first"] >> 28 != 6
    if is_bad.any():
        layers.mark(rows[is_bad], Layer.MALFORMED)
        layers.kind[rows[is_bad]] = DONE
        rows, header = rows[~is_bad], header[~is_bad]
    layers.begin_packet(rows, Layer.IPV6)
    length = header["length"].astype(np.int64)
    following = header["next"].astype(np.int64)
    no_length = (length == 0) & (following != 59)
    if no_length.any():
        length = np.where(no_length, _jumbo_bytes(layers, rows, following, no_length), length)
    is_longer = length + 40 > layers.left[rows]
    if is_longer.any():
        layers.mark(rows[is_longer], Layer.MALFORMED)
    layers.put("ip_version", rows, 6)
    layers.put("packet_bytes", rows, length + 40)
    layers.put("traffic_class", rows, (header["first"] >> 20) & 0xFF)
    layers.put("ttl", rows, header["limit"])
    layers.put("ip_id", rows, 0)
    layers.put("ip_protocol", rows, following)
    addresses.put_6(rows, header)
    layers.left[rows] = np.minimum(length + 40, layers.left[rows])
    layers.advance(rows, 40, PROTOCOL + following)


def _jumbo_bytes(layers: Layers, rows: Ints, following: Ints, no_length: NDArray[np.bool_]) -> Ints:
    """Return the payload of packets whose length field is 0."""
    behind = layers.at[rows] + 40
    has_option = (following == _HOP_BY_HOP) & (u16(layers.data, behind + 2) == _JUMBO_OPTION)
    has_option &= behind + 8 <= layers.end[rows]
    high, low = u16(layers.data, behind + 4), u16(layers.data, behind + 6)
    layers.mark(rows[no_length], Layer.OFFLOADED)
    return np.where(has_option, (high << 16) | low, layers.left[rows] - 40)


def extension(layers: Layers, rows: Ints, number: int) -> None:
    """Read an extension header, whose length is in its second byte."""
    rows = layers.with_bytes(rows, np.full(rows.size, 8, np.int64))
    following, length = u8(layers.data, layers.at[rows]), u8(layers.data, layers.at[rows] + 1)
    size = (length + 2) * 4 if number == _AH else (length + 1) * 8
    layers.mark(rows, Layer.EXTENSION)
    rows_whole = layers.with_bytes(rows, size)
    if rows_whole.size != rows.size:
        is_whole = np.isin(rows, rows_whole)
        rows, following, size = rows[is_whole], following[is_whole], size[is_whole]
    layers.put("ip_protocol", rows, following)
    layers.advance(rows, size, PROTOCOL + following)


def fragment(layers: Layers, rows: Ints) -> None:
    """Read the fragment header of IPv6."""
    rows, header = layers.header(rows, _FRAGMENT_HEADER)
    layers.put("ip_protocol", rows, header["next"])
    layers.put("ip_id", rows, header["id"] & 0xFFFF)
    layers.advance(rows, 8, PROTOCOL + header["next"].astype(np.int64))
    is_part = header["offset"] & 0xFFF9 != 0
    _fragments(layers, rows[is_part], header["offset"][is_part] >> 3)


def gre(layers: Layers, rows: Ints) -> None:
    """Read GRE: four bytes, and four more for each of checksum, key, sequence, acknowledgement."""
    rows, header = layers.header(rows, _GRE_HEADER)
    flags = header["flags"].astype(np.int64)
    layers.mark(rows, Layer.GRE)
    size = np.full(rows.size, 4, np.int64)
    for bit in (0x8000, 0x2000, 0x1000, 0x0080):
        size += np.where(flags & bit != 0, 4, 0)
    kind = header["type"].astype(np.int64)
    size += np.where((kind == _ERSPAN_2) & (flags & 0x1000 != 0), 8, 0)
    is_routed = flags & 0x4000 != 0
    known = np.select(
        [is_routed | (layers.left[rows] <= size), kind == _PPTP, kind == _ERSPAN_2],
        [DONE, _PPP_LINK, ETHERNET],
        kind,
    )
    layers.advance(rows, size, known)


DECODERS = {
    PROTOCOL + _FRAGMENT: fragment,
    PROTOCOL + 47: gre,
}
EXTENSIONS = (_HOP_BY_HOP, _ROUTING, _AH, _DESTINATION, _MOBILITY, _HIP, _SHIM6)
SAME_AS = {PROTOCOL + 4: IPV4, PROTOCOL + 41: IPV6, PROTOCOL + 143: ETHERNET}
