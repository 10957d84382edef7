"""Link layers: the headers before the IP header, by link type and EtherType."""

from __future__ import annotations

import numpy as np

from netcalc.readers.captures.blocks import Ints, u8, u16
from netcalc.readers.captures.layers import (
    DONE,
    ETHERNET,
    IPV4,
    IPV6,
    LINK,
    PPP,
    Layers,
)
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

_FAMILIES = {2: IPV4, 10: IPV6, 23: IPV6, 24: IPV6, 28: IPV6, 30: IPV6}
_PPP_KINDS = {0x0021: IPV4, 0x0057: IPV6, 0x0281: _MPLS[0], 0x0283: _MPLS[1]}


def ethernet(layers: Layers, rows: Ints) -> None:
    """Destination, source, EtherType; below 1536 that is a length, and 802.2 follows."""
    rows, header = layers.header(rows, _ETHERNET)
    kind = header["type"].astype(np.int64)
    layers.advance(rows, 14, kind)
    is_length = kind < 1536
    if is_length.any():
        _snap(layers, rows[is_length])


def _snap(layers: Layers, rows: Ints) -> None:
    layers.kind[rows] = DONE
    rows = rows[layers.left[rows] >= _SNAP.itemsize]
    rows, header = layers.header(rows, _SNAP)
    is_snap = header["lsap"] == 0xAAAA
    layers.mark(rows, Layer.LLC)
    rows = rows[is_snap]
    layers.advance(rows, 8, header["type"][is_snap].astype(np.int64))


def tagged(layers: Layers, rows: Ints) -> None:
    """Read one 802.1Q or 802.1ad tag."""
    rows, header = layers.header(rows, _TAG)
    layers.mark(rows, Layer.VLAN)
    layers.columns["tag_count"][rows] += 1
    layers.advance(rows, 4, header["type"].astype(np.int64))


def vn_tagged(layers: Layers, rows: Ints) -> None:
    """Read the tag of a virtual network interface."""
    rows, header = layers.header(rows, _VN)
    layers.columns["tag_count"][rows] += 1
    layers.advance(rows, 6, header["type"].astype(np.int64))


def labelled(layers: Layers, rows: Ints) -> None:
    """Read one MPLS label; behind the last one the first four bits show the IP version."""
    rows, header = layers.header(rows, _WORD)
    layers.mark(rows, Layer.MPLS)
    is_last = (header["word"] >> 8) & 1 == 1
    layers.advance(rows, 4, np.where(is_last, DONE, layers.kind[rows]))
    last = rows[is_last]
    version = u8(layers.data, layers.at[last]) >> 4
    has_more = layers.left[last] > 0
    known = np.select([version == 4, version == 6], [IPV4, IPV6], DONE)
    layers.kind[last] = np.where(has_more, known, DONE)


def pppoe(layers: Layers, rows: Ints) -> None:
    """Read the header of a PPPoE session and the PPP protocol behind it."""
    rows, header = layers.header(rows, _PPPOE_HEADER)
    layers.mark(rows, Layer.PPPOE)
    is_session = (header["version"] == 0x11) & (header["code"] == 0)
    kind = np.where(is_session, PPP + header["type"].astype(np.int64), DONE)
    layers.advance(rows, 8, kind)
    inside = np.maximum(header["length"].astype(np.int64) - 2, 0)
    layers.left[rows] = np.minimum(layers.left[rows], inside)


def ppp(layers: Layers, rows: Ints) -> None:
    """Read PPP with or without address and control, its protocol in two bytes or one."""
    rows = layers.with_bytes(rows, np.full(rows.size, 2, np.int64))
    has_control = u16(layers.data, layers.at[rows]) == 0xFF03
    layers.advance(rows, np.where(has_control, 2, 0), DONE)
    rows = layers.with_bytes(rows, np.full(rows.size, 2, np.int64))
    first = u8(layers.data, layers.at[rows])
    is_short = first & 1 == 1
    kind = np.where(is_short, first, u16(layers.data, layers.at[rows]))
    layers.advance(rows, np.where(is_short, 1, 2), PPP + kind)


def ppp_protocol(layers: Layers, rows: Ints, number: int) -> None:
    """Go on by the protocol of PPP, for which nothing more is to read."""
    layers.kind[rows] = _PPP_KINDS.get(number, DONE)


def cooked(layers: Layers, rows: Ints) -> None:
    """Read the cooked header of Linux, 16 bytes."""
    rows, header = layers.header(rows, _SLL)
    layers.advance(rows, 16, header["type"].astype(np.int64))


def cooked_2(layers: Layers, rows: Ints) -> None:
    """Read the later cooked header of Linux, 20 bytes."""
    rows, header = layers.header(rows, _SLL2)
    layers.advance(rows, 20, header["type"].astype(np.int64))


def loopback(layers: Layers, rows: Ints) -> None:
    """Read the address family of BSD loopback, in the byte order of whoever captured."""
    rows, header = layers.header(rows, _WORD)
    word = header["word"].astype(np.int64)
    family = np.where(word > 0xFFFF, word >> 24, word)
    kind = np.full(rows.size, DONE, np.int64)
    for number, known in _FAMILIES.items():
        kind[family == number] = known
    layers.advance(rows, 4, kind)


def raw(layers: Layers, rows: Ints) -> None:
    """Take the IP version from the packet itself."""
    rows = layers.with_bytes(rows, np.ones(rows.size, np.int64))
    version = u8(layers.data, layers.at[rows]) >> 4
    layers.kind[rows] = np.select([version == 4, version == 6], [IPV4, IPV6], DONE)


def arp(layers: Layers, rows: Ints) -> None:
    """Note ARP, of which nothing is read."""
    layers.mark(rows, Layer.ARP)
    layers.kind[rows] = DONE


def fixed(layers: Layers, rows: Ints, kind: int) -> None:
    """Go on to a header that the kind before it names alone."""
    layers.kind[rows] = kind


DECODERS = {
    ETHERNET: ethernet,
    **dict.fromkeys((LINK, LINK + 108), loopback),
    **dict.fromkeys((LINK + 9, LINK + 50), ppp),
    **dict.fromkeys((LINK + 12, LINK + 14, LINK + 101, LINK + 228, LINK + 229), raw),
    LINK + 113: cooked,
    LINK + 276: cooked_2,
    **dict.fromkeys(_VLAN, tagged),
    _VN_TAG: vn_tagged,
    **dict.fromkeys(_MPLS, labelled),
    **dict.fromkeys((_PPPOE, LINK + 51), pppoe),
    _ARP: arp,
}

SAME_AS = {_BRIDGED: ETHERNET}
"""A kind that is another one, without a header of its own."""
