"""Headers of packets: link layers, IP and what carries another packet, TCP, UDP and ICMP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import blocks
from netcalc.samples import Layer

NAMES = {
    0: "NULL", 1: "Ethernet", 6: "Token Ring", 9: "PPP", 10: "FDDI", 50: "PPP", 51: "PPPoE",
    101: "RAW", 105: "802.11", 107: "Frame Relay", 108: "LOOP", 113: "SLL", 119: "802.11 Prism",
    127: "802.11 radiotap", 143: "DOCSIS", 147: "user 0", 163: "802.11 AVS", 187: "Bluetooth HCI",
    189: "USB", 192: "PPI", 195: "802.15.4", 201: "Bluetooth HCI", 220: "USB", 227: "CAN",
    228: "IPv4", 229: "IPv6", 230: "802.15.4", 239: "NFLOG", 247: "InfiniBand", 249: "USBPcap",
    253: "netlink", 271: "vsock", 272: "Nordic BLE", 274: "Ethernet mPacket", 276: "SLL2",
    12: "RAW", 14: "RAW",
}  # fmt: skip
"""The field's names of link types, by number; those that are read are in :data:`READ`."""

READ = frozenset({0, 1, 9, 12, 14, 50, 51, 101, 108, 113, 228, 229, 276})

_VLAN = (0x8100, 0x88A8, 0x9100, 0x9200)
_VN_TAG = 0x8926
_MPLS = (0x8847, 0x8848)
_PPPOE = 0x8864
_ARP = 0x0806
_BRIDGED = 0x6558

_ETHERNET = np.dtype([("addresses", "V12"), ("type", ">u2")])
_TAG = np.dtype([("tag", ">u2"), ("type", ">u2")])
_VN = np.dtype([("tag", ">u4"), ("type", ">u2")])
_SNAP = np.dtype([("lsap", ">u2"), ("control", "u1"), ("code", "V3"), ("type", ">u2")])
_SLL = np.dtype([("kind", ">u2"), ("hardware", ">u2"), ("address", "V10"), ("type", ">u2")])
_SLL2 = np.dtype([("type", ">u2"), ("rest", "V18")])
_WORD = np.dtype([("word", ">u4")])
_PPPOE_HEADER = np.dtype(
    [("version", "u1"), ("code", "u1"), ("session", ">u2"), ("length", ">u2"), ("type", ">u2")]
)

_FAMILIES = {
    2: blocks.IPV4,
    10: blocks.IPV6,
    23: blocks.IPV6,
    24: blocks.IPV6,
    28: blocks.IPV6,
    30: blocks.IPV6,
}
PPP_KINDS = {0x0021: blocks.IPV4, 0x0057: blocks.IPV6, 0x0281: _MPLS[0], 0x0283: _MPLS[1]}


def typed(layers: blocks.Layers, rows: blocks.Ints, layout: np.dtype[np.void]) -> blocks.Ints:
    """Read a header that says the type of the next one; return the packets that have it."""
    rows, header = layers.header(rows, layout)
    layers.advance(rows, layout.itemsize, header["type"].astype(np.int64))
    return rows


def ethernet(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Destination, source, EtherType; below 1536 that is a length, and 802.2 follows."""
    rows = typed(layers, rows, _ETHERNET)
    is_length = layers.kind[rows] < 1536
    if is_length.any():
        _snap(layers, rows[is_length])


def _snap(layers: blocks.Layers, rows: blocks.Ints) -> None:
    layers.kind[rows] = blocks.DONE
    rows = rows[layers.left[rows] >= _SNAP.itemsize]
    rows, header = layers.header(rows, _SNAP)
    is_snap = header["lsap"] == 0xAAAA
    layers.mark(rows, Layer.LLC)
    rows = rows[is_snap]
    layers.advance(rows, 8, header["type"][is_snap].astype(np.int64))


def tagged(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read one 802.1Q or 802.1ad tag."""
    rows = typed(layers, rows, _TAG)
    layers.mark(rows, Layer.VLAN)
    layers.columns["tag_count"][rows] += 1


def vn_tagged(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read the tag of a virtual network interface."""
    rows = typed(layers, rows, _VN)
    layers.columns["tag_count"][rows] += 1


def labelled(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read one MPLS label; behind the last one the first four bits show the IP version."""
    rows, header = layers.header(rows, _WORD)
    layers.mark(rows, Layer.MPLS)
    is_last = (header["word"] >> 8) & 1 == 1
    layers.advance(rows, 4, np.where(is_last, blocks.DONE, layers.kind[rows]))
    last = rows[is_last]
    version = blocks.u8(layers.data, layers.at[last]) >> 4
    has_more = layers.left[last] > 0
    kind = np.select([version == 4, version == 6], [blocks.IPV4, blocks.IPV6], blocks.DONE)
    layers.kind[last] = np.where(has_more, kind, blocks.DONE)


def pppoe(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read the header of a PPPoE session and the PPP protocol behind it."""
    rows, header = layers.header(rows, _PPPOE_HEADER)
    layers.mark(rows, Layer.PPPOE)
    is_session = (header["version"] == 0x11) & (header["code"] == 0)
    kind = np.where(is_session, blocks.PPP + header["type"].astype(np.int64), blocks.DONE)
    layers.advance(rows, 8, kind)
    inside = np.maximum(header["length"].astype(np.int64) - 2, 0)
    layers.left[rows] = np.minimum(layers.left[rows], inside)


def ppp(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read PPP with or without address and control, its protocol in two bytes or one."""
    rows = layers.with_bytes(rows, 2)
    has_control = blocks.u16(layers.data, layers.at[rows]) == 0xFF03
    layers.advance(rows, np.where(has_control, 2, 0), blocks.DONE)
    rows = layers.with_bytes(rows, 2)
    first = blocks.u8(layers.data, layers.at[rows])
    is_short = first & 1 == 1
    kind = np.where(is_short, first, blocks.u16(layers.data, layers.at[rows]))
    layers.advance(rows, np.where(is_short, 1, 2), blocks.PPP + kind)


def loopback(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read the address family of BSD loopback, in the byte order of whoever captured."""
    rows, header = layers.header(rows, _WORD)
    word = header["word"].astype(np.int64)
    family = np.where(word > 0xFFFF, word >> 24, word)
    kind = np.full(rows.size, blocks.DONE, np.int64)
    for number, version in _FAMILIES.items():
        kind[family == number] = version
    layers.advance(rows, 4, kind)


def raw(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Take the IP version from the packet itself."""
    rows = layers.with_bytes(rows, 1)
    version = blocks.u8(layers.data, layers.at[rows]) >> 4
    layers.kind[rows] = np.select(
        [version == 4, version == 6], [blocks.IPV4, blocks.IPV6], blocks.DONE
    )


def arp(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Note ARP, of which nothing is read."""
    layers.mark(rows, Layer.ARP)
    layers.kind[rows] = blocks.DONE


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
_PPP_LINK = blocks.LINK + 9


class Addresses:
    """The addresses of a block: 16 bytes each, those of IPv4 behind twelve fixed bytes."""

    def __init__(self, count: int) -> None:
        self.source = np.zeros((count, 2), ">u8")
        self.destination = np.zeros((count, 2), ">u8")

    def put_4(self, rows: blocks.Ints, header: NDArray[np.void]) -> None:
        """Store IPv4 addresses as those IPv6 maps them to: ``::ffff:a.b.c.d``."""
        for target, name in ((self.source, "source"), (self.destination, "destination")):
            target[rows, 0] = 0
            target[rows, 1] = header[name].astype(np.uint64) | np.uint64(0xFFFF_0000_0000)

    def put_6(self, rows: blocks.Ints, header: NDArray[np.void]) -> None:
        """Store IPv6 addresses."""
        for target, name in ((self.source, "source"), (self.destination, "destination")):
            target[rows] = np.ascontiguousarray(header[name]).view(">u8").reshape(-1, 2)


def ipv4(layers: blocks.Layers, rows: blocks.Ints, addresses: Addresses) -> None:
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
        layers.kind[rows[is_bad]] = blocks.DONE
        good = ~is_bad
        rows, header, own, total = rows[good], header[good], own[good], total[good]
    layers.begin_packet(rows, Layer.IPV4)
    is_longer = total > layers.left[rows]  # than the frame it came in
    if is_longer.any():
        layers.mark(rows[is_longer], Layer.MALFORMED)
    layers.put(
        rows, ip_version=4, packet_bytes=total, traffic_class=header["traffic_class"],
        ttl=header["ttl"], ip_id=header["id"], ip_protocol=header["protocol"],
    )  # fmt: skip
    addresses.put_4(rows, header)
    layers.left[rows] = np.minimum(total, layers.left[rows])
    layers.advance(rows, own, blocks.PROTOCOL + header["protocol"].astype(np.int64))
    part = header["fragment"] & 0x3FFF
    if part.any():
        _fragments(layers, rows[part != 0], header["fragment"][part != 0] & 0x1FFF)


def _fragments(layers: blocks.Layers, rows: blocks.Ints, offset: NDArray[np.integer]) -> None:
    """Note fragments; those behind the first have no transport header."""
    layers.mark(rows, Layer.FRAGMENT)
    layers.parts.append((rows, offset.astype(np.int64)))
    later = rows[offset != 0]
    layers.mark(later, Layer.LATER_FRAGMENT)
    layers.kind[later] = blocks.DONE


def ipv6(layers: blocks.Layers, rows: blocks.Ints, addresses: Addresses) -> None:
    """Read IPv6 headers; a length of 0 is that of a jumbogram, or left to the network card."""
    rows, header = layers.header(rows, _IPV6_HEADER)
    is_bad = header["first"] >> 28 != 6
    if is_bad.any():
        layers.mark(rows[is_bad], Layer.MALFORMED)
        layers.kind[rows[is_bad]] = blocks.DONE
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
    layers.put(
        rows, ip_version=6, packet_bytes=length + 40, ttl=header["limit"], ip_id=0,
        traffic_class=(header["first"] >> 20) & 0xFF, ip_protocol=following,
    )  # fmt: skip
    addresses.put_6(rows, header)
    layers.left[rows] = np.minimum(length + 40, layers.left[rows])
    layers.advance(rows, 40, blocks.PROTOCOL + following)


def _jumbo_bytes(
    layers: blocks.Layers, rows: blocks.Ints, following: blocks.Ints, no_length: NDArray[np.bool_]
) -> blocks.Ints:
    """Return the payload of packets whose length field is 0."""
    behind = layers.at[rows] + 40
    has_option = (following == _HOP_BY_HOP) & (blocks.u16(layers.data, behind + 2) == _JUMBO_OPTION)
    has_option &= behind + 8 <= layers.end[rows]
    layers.mark(rows[no_length], Layer.OFFLOADED)
    return np.where(has_option, blocks.u32(layers.data, behind + 4), layers.left[rows] - 40)


def extension(layers: blocks.Layers, rows: blocks.Ints, number: int) -> None:
    """Read an extension header, whose length is in its second byte."""
    rows = layers.with_bytes(rows, 8)
    following, length = (
        blocks.u8(layers.data, layers.at[rows]),
        blocks.u8(layers.data, layers.at[rows] + 1),
    )
    size = (length + 2) * 4 if number == _AH else (length + 1) * 8
    layers.mark(rows, Layer.EXTENSION)
    rows_whole = layers.with_bytes(rows, size)
    if rows_whole.size != rows.size:
        is_whole = np.isin(rows, rows_whole)
        rows, following, size = rows[is_whole], following[is_whole], size[is_whole]
    layers.put(rows, ip_protocol=following)
    layers.advance(rows, size, blocks.PROTOCOL + following)


def fragment(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read the fragment header of IPv6."""
    rows, header = layers.header(rows, _FRAGMENT_HEADER)
    layers.put(rows, ip_protocol=header["next"], ip_id=header["id"] & 0xFFFF)
    layers.advance(rows, 8, blocks.PROTOCOL + header["next"].astype(np.int64))
    is_part = header["offset"] & 0xFFF9 != 0
    _fragments(layers, rows[is_part], header["offset"][is_part] >> 3)


def gre(layers: blocks.Layers, rows: blocks.Ints) -> None:
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
    following = np.select(
        [is_routed | (layers.left[rows] <= size), kind == _PPTP, kind == _ERSPAN_2],
        [blocks.DONE, _PPP_LINK, blocks.ETHERNET],
        kind,
    )
    layers.advance(rows, size, following)


EXTENSIONS = (_HOP_BY_HOP, _ROUTING, _AH, _DESTINATION, _MOBILITY, _HIP, _SHIM6)


TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58

_TCP_HEADER = np.dtype(
    [
        ("source", ">u2"), ("destination", ">u2"), ("sequence", ">u4"), ("acknowledged", ">u4"),
        ("flags", ">u2"), ("window", ">u2"), ("checksum", ">u2"), ("urgent", ">u2"),
    ]
)  # fmt: skip
_UDP_HEADER = np.dtype(
    [("source", ">u2"), ("destination", ">u2"), ("length", ">u2"), ("checksum", ">u2")]
)
_ICMP_HEADER = np.dtype(
    [("type", "u1"), ("code", "u1"), ("checksum", ">u2"), ("id", ">u2"), ("sequence", ">u2")]
)
_TIMESTAMPS = np.dtype([("intro", ">u4"), ("value", ">u4"), ("echo", ">u4")])
_PADDED_TIMESTAMPS = 0x0101080A

_VXLAN_PORT, _GENEVE_PORT = 4789, 6081
_MOST_OPTIONS = 40


def tcp(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read TCP headers and options; the payload is what the IP length leaves."""
    rows, header = layers.header(rows, _TCP_HEADER)
    size = (header["flags"] >> 12).astype(np.int64) * 4
    is_bad = (size < 20) | (size > layers.left[rows])
    if is_bad.any():
        is_part = layers.layers[rows] & np.uint32(Layer.FRAGMENT) != 0  # the rest is in another
        layers.mark(rows[is_bad & ~(is_part & (size >= 20))], Layer.MALFORMED)
        layers.kind[rows[is_bad]] = blocks.DONE
        rows, header, size = rows[~is_bad], header[~is_bad], size[~is_bad]
    layers.mark(rows, Layer.TCP)
    layers.put(
        rows, source_port=header["source"], destination_port=header["destination"],
        tcp_sequence=header["sequence"], acknowledged=header["acknowledged"],
        tcp_flags=header["flags"] & 0x1FF, window=header["window"],
        payload_bytes=layers.left[rows] - size,
    )  # fmt: skip
    _options(layers, rows, size)
    layers.advance(rows, size, blocks.DONE)


def _options(layers: blocks.Layers, rows: blocks.Ints, size: blocks.Ints) -> None:
    """Read the options: time stamps in their usual place at once, all others one by one."""
    has_options = size > 20
    rows, size = rows[has_options], size[has_options]
    at = layers.at[rows] + 20
    is_cut = layers.at[rows] + size > layers.end[rows]
    if is_cut.any():
        layers.mark(rows[is_cut], Layer.CUT)
    usual = blocks.gather(layers.data, at, _TIMESTAMPS)
    is_usual = (usual["intro"] == _PADDED_TIMESTAMPS) & (at + 12 <= layers.end[rows])
    _put_timestamps(layers, rows[is_usual], usual["value"][is_usual], usual["echo"][is_usual])
    rest = ~is_usual | (size > 32)
    begin = at + np.where(is_usual, 12, 0)
    end = np.minimum(layers.at[rows] + size, layers.end[rows])
    _walk_options(layers, rows[rest], begin[rest], end[rest])


def _put_timestamps(
    layers: blocks.Layers, rows: blocks.Ints, value: NDArray[np.integer], echo: NDArray[np.integer]
) -> None:
    layers.mark(rows, Layer.TIMESTAMPS)
    layers.put(rows, timestamp=value, timestamp_echo=echo)


def _walk_options(
    layers: blocks.Layers, rows: blocks.Ints, at: blocks.Ints, end: blocks.Ints
) -> None:
    """Go from option to option in all packets at once."""
    data = layers.data
    for _ in range(_MOST_OPTIONS):
        going = at < end
        rows, at, end = rows[going], at[going], end[going]
        if not rows.size:
            return
        kind, length = blocks.u8(data, at), blocks.u8(data, at + 1)
        is_padding = kind == 1
        is_broken = ~is_padding & ((kind == 0) | (length < 2) | (at + length > end))
        whole = ~is_padding & ~is_broken
        _put_option(layers, rows[whole], kind[whole], length[whole], at[whole])
        at = at + np.where(is_padding, 1, length)
        rows, at, end = rows[~is_broken], at[~is_broken], end[~is_broken]


def _put_option(
    layers: blocks.Layers,
    rows: blocks.Ints,
    kind: blocks.Ints,
    length: blocks.Ints,
    at: blocks.Ints,
) -> None:
    data = layers.data
    chosen = (kind == 2) & (length == 4)
    layers.put(rows[chosen], mss_bytes=blocks.u16(data, at[chosen] + 2))
    chosen = (kind == 3) & (length == 3)
    layers.mark(rows[chosen], Layer.WINDOW_SCALE)
    layers.put(rows[chosen], shift=blocks.u8(data, at[chosen] + 2))
    chosen = (kind == 4) & (length == 2)
    layers.mark(rows[chosen], Layer.SACK_PERMITTED)
    chosen = (kind == 5) & (length >= 10)
    edges = at[chosen] + 2
    layers.put(
        rows[chosen], sack_count=(length[chosen] - 2) // 8,
        sack_left=blocks.u32(data, edges), sack_right=blocks.u32(data, edges + 4),
    )  # fmt: skip
    chosen = (kind == 8) & (length == 10)
    stamps = at[chosen] + 2
    _put_timestamps(layers, rows[chosen], blocks.u32(data, stamps), blocks.u32(data, stamps + 4))


def udp(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read UDP headers, and go into VXLAN and Geneve by their ports."""
    rows, header = layers.header(rows, _UDP_HEADER)
    layers.mark(rows, Layer.UDP)
    length = header["length"].astype(np.int64)
    # A length of 0 is that of a jumbogram, or left to the network card.
    length = np.where(length < 8, layers.left[rows], np.minimum(length, layers.left[rows]))
    port = header["destination"].astype(np.int64)
    layers.put(rows, source_port=header["source"], destination_port=port, payload_bytes=length - 8)
    layers.left[rows] = length
    layers.advance(rows, 8, blocks.DONE)
    is_tunnel = ((port == _VXLAN_PORT) | (port == _GENEVE_PORT)) & (length >= 30)
    if is_tunnel.any():
        _tunnels(layers, rows[is_tunnel], port[is_tunnel])


def _tunnels(layers: blocks.Layers, rows: blocks.Ints, port: blocks.Ints) -> None:
    """Go behind the eight bytes of VXLAN, or the header of Geneve and its options."""
    at = layers.at[rows]
    first = blocks.u8(layers.data, at)
    is_vxlan = (port == _VXLAN_PORT) & (first & 0x08 != 0)
    is_geneve = (port == _GENEVE_PORT) & (first >> 6 == 0)
    size = np.where(is_geneve, 8 + 4 * (first & 0x3F), 8)
    kind = np.where(is_geneve, blocks.u16(layers.data, at + 2), blocks.ETHERNET)
    goes_on = (is_vxlan | is_geneve) & (at + size <= layers.end[rows]) & (size <= layers.left[rows])
    chosen = rows[goes_on]
    layers.mark(chosen, Layer.VXLAN)
    layers.advance(chosen, size[goes_on], kind[goes_on])


def icmp(layers: blocks.Layers, rows: blocks.Ints) -> None:
    """Read ICMP of both versions: type, code, and the numbers of an echo."""
    rows, header = layers.header(rows, _ICMP_HEADER)
    layers.mark(rows, Layer.ICMP)
    layers.put(
        rows, icmp_type=header["type"], icmp_code=header["code"], echo_id=header["id"],
        echo_sequence=header["sequence"], payload_bytes=layers.left[rows] - 8,
    )  # fmt: skip
    layers.advance(rows, 8, blocks.DONE)


DECODERS: dict[int, Callable[[blocks.Layers, blocks.Ints], object]] = {
    blocks.ETHERNET: ethernet,
    **dict.fromkeys((blocks.LINK, blocks.LINK + 108), loopback),
    **dict.fromkeys((blocks.LINK + 9, blocks.LINK + 50), ppp),
    **dict.fromkeys(
        (
            blocks.LINK + 12,
            blocks.LINK + 14,
            blocks.LINK + 101,
            blocks.LINK + 228,
            blocks.LINK + 229,
        ),
        raw,
    ),
    blocks.LINK + 113: partial(typed, layout=_SLL),  # the cooked header of Linux, and the later one
    blocks.LINK + 276: partial(typed, layout=_SLL2),
    **dict.fromkeys(_VLAN, tagged),
    _VN_TAG: vn_tagged,
    **dict.fromkeys(_MPLS, labelled),
    **dict.fromkeys((_PPPOE, blocks.LINK + 51), pppoe),
    _ARP: arp,
    blocks.PROTOCOL + _FRAGMENT: fragment,
    blocks.PROTOCOL + 47: gre,
    blocks.PROTOCOL + TCP: tcp,
    blocks.PROTOCOL + UDP: udp,
    blocks.PROTOCOL + ICMP: icmp,
    blocks.PROTOCOL + ICMPV6: icmp,
}

SAME_AS = {
    _BRIDGED: blocks.ETHERNET,
    blocks.PROTOCOL + 4: blocks.IPV4,
    blocks.PROTOCOL + 41: blocks.IPV6,
    blocks.PROTOCOL + 143: blocks.ETHERNET,
}
"""A kind that is another one, without a header of its own."""
