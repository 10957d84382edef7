"""Blocks of packets in, columns of header fields out; fragmented headers are put together."""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import headers
from netcalc.readers.captures.blocks import (
    DONE,
    IPV4,
    IPV6,
    LINK,
    PAD_BYTES,
    PPP,
    PROTOCOL,
    Interface,
    Ints,
    Layers,
    PacketBlock,
)
from netcalc.readers.captures.headers import Addresses
from netcalc.samples import Layer, PacketTrace

_HEADER_BYTES = 60
"""The longest header of TCP. [byte]"""

_MOST = 100_000
"""Fragments of a block that are looked at."""

_TRANSPORTS = np.uint32(Layer.TCP | Layer.UDP | Layer.ICMP)
_Key = tuple[int, ...]


def put_together(layers: Layers, addresses: Addresses) -> Ints:
    """Put headers together that are longer than their first fragment.

    The bytes are laid behind those of the block, and the row of the first fragment begins there.

    Returns
    -------
    array
        The rows whose transport header can now be read.
    """
    if not layers.parts:
        return np.empty(0, np.int64)
    rows = np.concatenate([rows for rows, _ in layers.parts])
    offsets = np.concatenate([offsets for _, offsets in layers.parts]) * 8
    first: Ints = rows[(offsets == 0) & (layers.layers[rows] & _TRANSPORTS == 0)]
    if not first.size:
        return first
    same = np.isin(layers.columns["ip_id"][rows], layers.columns["ip_id"][first])
    rows, offsets = rows[same][:_MOST], offsets[same][:_MOST]
    parts: dict[tuple[_Key, int], list[int]] = {}
    for row, offset in zip(rows.tolist(), offsets.tolist(), strict=True):
        parts.setdefault((_key(layers, addresses, row), offset), []).append(row)
    headers: dict[int, bytes] = {}
    for row in first.tolist():
        header = _header(layers, addresses, row, parts)
        if header:
            headers[row] = header
    return _laid_behind(layers, headers)


def _key(layers: Layers, addresses: Addresses, row: int) -> _Key:
    """Return what the fragments of one packet have in common."""
    columns = layers.columns
    return (
        *addresses.source[row].tolist(),
        *addresses.destination[row].tolist(),
        *(int(columns[name][row]) for name in ("ip_id", "ip_protocol", "ip_version")),
    )


def _header(
    layers: Layers, addresses: Addresses, first: int, parts: dict[tuple[_Key, int], list[int]]
) -> bytes:
    """Return the bytes from the first fragment on, as far as a header goes; empty with a gap."""
    key = _key(layers, addresses, first)
    data, row = b"", first
    while len(data) < _HEADER_BYTES:
        size = int(layers.left[row])
        at = int(layers.at[row])
        if size <= 0 or at + size > int(layers.end[row]):  # the snap length cut it
            return b""
        data += layers.data[at : at + size].tobytes()
        following = parts.get((key, len(data)), [])
        if not following:  # the last one, or a gap: whether it is long enough its decoder says
            break
        row = min(following, key=lambda part: abs(part - first))  # numbers are used again
    return data if row != first else b""


def _laid_behind(layers: Layers, headers: dict[int, bytes]) -> Ints:
    rows = np.array(list(headers), np.int64)
    if not rows.size:
        return rows
    sizes = np.array([len(data) for data in headers.values()], np.int64)
    # A block ends in PAD_BYTES of zeros, so that any header can be gathered at its very end without
    # a check of the bounds. The headers come where these zeros were, and the zeros behind them.
    begin = layers.data.size - PAD_BYTES
    more = np.frombuffer(b"".join(headers.values()), np.uint8)
    layers.data = np.concatenate([layers.data[:begin], more, np.zeros(PAD_BYTES, np.uint8)])
    layers.at[rows] = begin + np.cumsum(sizes) - sizes
    layers.end[rows] = layers.at[rows] + sizes
    layers.left[rows] = sizes
    layers.kind[rows] = PROTOCOL + layers.columns["ip_protocol"][rows].astype(np.int64)
    return rows


_OWN_COLUMNS = {"time_s", "kept_bytes", "original_bytes", "layers", "interface", "link_number",
                "source", "destination"}  # fmt: skip
DECODED: dict[str, Any] = {
    name: kind for name, kind in PacketTrace.column_types.items() if name not in _OWN_COLUMNS
}
"""Columns that the headers give, and their types."""

_MOST_PASSES = 300
_EXTENSIONS = {PROTOCOL + number: number for number in headers.EXTENSIONS}

Pairs = NDArray[np.uint64]


class AddressBook:
    """The addresses of a capture: each once, in the order of their first packet."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._index: dict[tuple[int, int], int] = {(0, 0): 0}

    def index_of(self, high: int, low: int) -> int:
        """Return the number of an address given as two halves; IPv4 is mapped into IPv6."""
        index = self._index.get((high, low))
        if index is None:
            index = self._index[high, low] = len(self.texts)
            self.texts.append(_text(high, low))
        return index

    def number(self, addresses: headers.Addresses, has_ip: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Return the numbers of the sources and the destinations of a block."""
        halves = (addresses.source, addresses.destination)
        words = [half[:, part].astype(np.uint64) for half in halves for part in (0, 1)]
        first, back = _distinct(words)
        shown = [word[first].tolist() for word in words]
        is_shown = has_ip[first].tolist()
        index = range(first.size)
        source = [
            self.index_of(shown[0][i], shown[1][i]) if is_shown[i] else 0 for i in range(len(first))
        ]
        to = [self.index_of(shown[2][i], shown[3][i]) if is_shown[i] else 0 for i in index]
        return np.array(source, np.int64)[back], np.array(to, np.int64)[back]


def _distinct(words: list[Pairs]) -> tuple[Ints, Ints]:
    """Return the first row of each distinct row of words, and for each row which one it is.

    Rows differ by a 64-bit mix of their words; rows of one mix are compared word by word.
    """
    mixed = words[1] * np.uint64(0x9E37_79B9_7F4A_7C15) ^ words[3]
    mixed = mixed * np.uint64(0xC2B2_AE3D_27D4_EB4F) ^ words[0]
    mixed = mixed * np.uint64(0x1656_67B1_9E37_79F9) ^ words[2]
    _, first, back = np.unique(mixed, return_index=True, return_inverse=True)
    if all(np.array_equal(word[first][back], word) for word in words):
        return first, back
    rows = np.stack(words, axis=1)
    _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, back.reshape(-1)


def _text(high: int, low: int) -> str:
    if high == 0 and low >> 32 == 0xFFFF:
        return str(ipaddress.IPv4Address(low & 0xFFFF_FFFF))
    return str(ipaddress.IPv6Address((high << 64) | low))


def columns(
    block: PacketBlock, interfaces: list[Interface], book: AddressBook
) -> dict[str, NDArray[Any]]:
    """Return the columns of a block; ``time_ns`` is the time as the file has it."""
    by_interface = np.array([interface.link_type for interface in interfaces] or [0], np.int64)
    link_types = by_interface[block.interface]
    layers = Layers.of(block, link_types, DECODED)
    addresses = headers.Addresses(len(block))
    _strip_checks(layers, block, interfaces)
    _decode(layers, addresses)
    has_ip = layers.columns["ip_version"] != 0
    source, destination = book.number(addresses, has_ip)
    return {
        "time_ns": block.time_ns,
        "kept_bytes": block.kept.astype(np.uint32),
        "original_bytes": block.original.astype(np.uint32),
        "layers": layers.layers,
        "interface": block.interface.astype(np.uint32),
        "link_number": link_types.astype(np.uint16),
        "source": source.astype(np.uint32),
        "destination": destination.astype(np.uint32),
        **layers.columns,
    }


def _strip_checks(layers: Layers, block: PacketBlock, interfaces: list[Interface]) -> None:
    """Leave the frame check sequence out, where the file says that it is there."""
    if any(interface.fcs_bytes for interface in interfaces):
        fcs = np.array([interface.fcs_bytes for interface in interfaces], np.int64)[block.interface]
        layers.left = np.maximum(layers.left - fcs, 0)


def _decode(layers: Layers, addresses: headers.Addresses) -> None:
    """Read one kind of header after the other, each for all packets that have it next."""
    _decode_rows(layers, np.arange(layers.at.size, dtype=np.int64), addresses)
    _decode_rows(layers, put_together(layers, addresses), addresses)


def _decode_rows(layers: Layers, active: Ints, addresses: headers.Addresses) -> None:
    passes = 0
    while active.size and passes < _MOST_PASSES:
        passes += 1
        kinds = layers.kind[active]
        kind = int(kinds[0])
        is_this = kinds == kind
        rows = active if is_this.all() else active[is_this]
        _read_header(layers, rows, kind, addresses)
        active = active[layers.kind[active] != DONE]
    layers.kind[active] = DONE


def _read_header(layers: Layers, rows: Ints, kind: int, addresses: headers.Addresses) -> None:
    if kind == IPV4:
        headers.ipv4(layers, rows, addresses)
    elif kind == IPV6:
        headers.ipv6(layers, rows, addresses)
    elif kind in _EXTENSIONS:
        headers.extension(layers, rows, _EXTENSIONS[kind])
    elif kind in headers.SAME_AS:
        headers.fixed(layers, rows, headers.SAME_AS[kind])
    elif kind in headers.DECODERS:
        headers.DECODERS[kind](layers, rows)
    elif kind >= PPP:
        headers.ppp_protocol(layers, rows, kind - PPP)
    else:
        layers.kind[rows] = DONE


def is_read(link_type: int) -> bool:
    """Whether packets of a link type are decoded."""
    return LINK + link_type in headers.DECODERS or LINK + link_type in headers.SAME_AS
