"""TCP with its options, UDP with the tunnels in it, ICMP."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.blocks import Ints, gather, u8, u16
from netcalc.readers.captures.layers import DONE, ETHERNET, PROTOCOL, Layers
from netcalc.samples import Layer

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


def tcp(layers: Layers, rows: Ints) -> None:
    """Read TCP headers and options; the payload is what the IP length leaves."""
    rows, header = layers.header(rows, _TCP_HEADER)
    size = (header["flags"] >> 12).astype(np.int64) * 4
    is_bad = (size < 20) | (size > layers.left[rows])
    if is_bad.any():
        is_part = layers.layers[rows] & np.uint32(Layer.FRAGMENT) != 0  # the rest is in another
        layers.mark(rows[is_bad & ~(is_part & (size >= 20))], Layer.MALFORMED)
        layers.kind[rows[is_bad]] = DONE
        rows, header, size = rows[~is_bad], header[~is_bad], size[~is_bad]
    layers.mark(rows, Layer.TCP)
    layers.put("source_port", rows, header["source"])
    layers.put("destination_port", rows, header["destination"])
    layers.put("tcp_sequence", rows, header["sequence"])
    layers.put("acknowledged", rows, header["acknowledged"])
    layers.put("tcp_flags", rows, header["flags"] & 0x1FF)
    layers.put("window", rows, header["window"])
    layers.put("payload_bytes", rows, layers.left[rows] - size)
    _options(layers, rows, size)
    layers.advance(rows, size, DONE)


def _options(layers: Layers, rows: Ints, size: Ints) -> None:
    """Read the options: time stamps in their usual place at once, all others one by one."""
    has_options = size > 20
    rows, size = rows[has_options], size[has_options]
    at = layers.at[rows] + 20
    is_cut = layers.at[rows] + size > layers.end[rows]
    if is_cut.any():
        layers.mark(rows[is_cut], Layer.CUT)
    usual = gather(layers.data, at, _TIMESTAMPS)
    is_usual = (usual["intro"] == _PADDED_TIMESTAMPS) & (at + 12 <= layers.end[rows])
    _put_timestamps(layers, rows[is_usual], usual["value"][is_usual], usual["echo"][is_usual])
    rest = ~is_usual | (size > 32)
    begin = at + np.where(is_usual, 12, 0)
    end = np.minimum(layers.at[rows] + size, layers.end[rows])
    _walk_options(layers, rows[rest], begin[rest], end[rest])


def _put_timestamps(
    layers: Layers, rows: Ints, value: NDArray[np.integer], echo: NDArray[np.integer]
) -> None:
    layers.mark(rows, Layer.TIMESTAMPS)
    layers.put("timestamp", rows, value)
    layers.put("timestamp_echo", rows, echo)


def _walk_options(layers: Layers, rows: Ints, at: Ints, end: Ints) -> None:
    """Go from option to option in all packets at once."""
    data = layers.data
    for _ in range(_MOST_OPTIONS):
        going = at < end
        rows, at, end = rows[going], at[going], end[going]
        if not rows.size:
            return
        kind, length = u8(data, at), u8(data, at + 1)
        is_padding = kind == 1
        is_broken = ~is_padding & ((kind == 0) | (length < 2) | (at + length > end))
        whole = ~is_padding & ~is_broken
        _put_option(layers, rows[whole], kind[whole], length[whole], at[whole])
        at = at + np.where(is_padding, 1, length)
        rows, at, end = rows[~is_broken], at[~is_broken], end[~is_broken]


def _put_option(layers: Layers, rows: Ints, kind: Ints, length: Ints, at: Ints) -> None:
    data = layers.data
    chosen = (kind == 2) & (length == 4)
    layers.put("mss_bytes", rows[chosen], u16(data, at[chosen] + 2))
    chosen = (kind == 3) & (length == 3)
    layers.mark(rows[chosen], Layer.WINDOW_SCALE)
    layers.put("shift", rows[chosen], u8(data, at[chosen] + 2))
    chosen = (kind == 4) & (length == 2)
    layers.mark(rows[chosen], Layer.SACK_PERMITTED)
    chosen = (kind == 5) & (length >= 10)
    layers.put("sack_count", rows[chosen], (length[chosen] - 2) // 8)
    for name, place in (("sack_left", 2), ("sack_right", 6)):
        edge = at[chosen] + place
        layers.put(name, rows[chosen], (u16(data, edge) << 16) | u16(data, edge + 2))
    chosen = (kind == 8) & (length == 10)
    stamps = at[chosen] + 2
    value = (u16(data, stamps) << 16) | u16(data, stamps + 2)
    echo = (u16(data, stamps + 4) << 16) | u16(data, stamps + 6)
    _put_timestamps(layers, rows[chosen], value, echo)


def udp(layers: Layers, rows: Ints) -> None:
    """Read UDP headers, and go into VXLAN and Geneve by their ports."""
    rows, header = layers.header(rows, _UDP_HEADER)
    layers.mark(rows, Layer.UDP)
    length = header["length"].astype(np.int64)
    # A length of 0 is that of a jumbogram, or left to the network card.
    length = np.where(length < 8, layers.left[rows], np.minimum(length, layers.left[rows]))
    port = header["destination"].astype(np.int64)
    layers.put("source_port", rows, header["source"])
    layers.put("destination_port", rows, port)
    layers.put("payload_bytes", rows, length - 8)
    layers.left[rows] = length
    layers.advance(rows, 8, DONE)
    is_tunnel = ((port == _VXLAN_PORT) | (port == _GENEVE_PORT)) & (length >= 30)
    if is_tunnel.any():
        _tunnels(layers, rows[is_tunnel], port[is_tunnel])


def _tunnels(layers: Layers, rows: Ints, port: Ints) -> None:
    """Go behind the eight bytes of VXLAN, or the header of Geneve and its options."""
    at = layers.at[rows]
    first = u8(layers.data, at)
    is_vxlan = (port == _VXLAN_PORT) & (first & 0x08 != 0)
    is_geneve = (port == _GENEVE_PORT) & (first >> 6 == 0)
    size = np.where(is_geneve, 8 + 4 * (first & 0x3F), 8)
    kind = np.where(is_geneve, u16(layers.data, at + 2), ETHERNET)
    goes_on = (is_vxlan | is_geneve) & (at + size <= layers.end[rows]) & (size <= layers.left[rows])
    chosen = rows[goes_on]
    layers.mark(chosen, Layer.VXLAN)
    layers.advance(chosen, size[goes_on], kind[goes_on])


def icmp(layers: Layers, rows: Ints) -> None:
    """Read ICMP of both versions: type, code, and the numbers of an echo."""
    rows, header = layers.header(rows, _ICMP_HEADER)
    layers.mark(rows, Layer.ICMP)
    layers.put("icmp_type", rows, header["type"])
    layers.put("icmp_code", rows, header["code"])
    layers.put("echo_id", rows, header["id"])
    layers.put("echo_sequence", rows, header["sequence"])
    layers.put("payload_bytes", rows, layers.left[rows] - 8)
    layers.advance(rows, 8, DONE)


DECODERS = {
    PROTOCOL + TCP: tcp,
    PROTOCOL + UDP: udp,
    PROTOCOL + ICMP: icmp,
    PROTOCOL + ICMPV6: icmp,
}
