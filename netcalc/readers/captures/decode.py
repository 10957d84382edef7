"""Blocks of packets in, columns of header fields out."""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import fragments, link, network, transport
from netcalc.readers.captures.blocks import Block, Interface, Ints
from netcalc.readers.captures.layers import DONE, IPV4, IPV6, LINK, PPP, PROTOCOL, Layers
from netcalc.samples import PacketTrace

_OWN_COLUMNS = {"time_s", "kept_bytes", "original_bytes", "layers", "interface", "link_number",
                "source", "destination"}  # fmt: skip
DECODED: dict[str, Any] = {
    name: kind for name, kind in PacketTrace.column_types.items() if name not in _OWN_COLUMNS
}
"""Columns that the headers give, and their types."""

_MOST_PASSES = 300
_DECODERS = {**link.DECODERS, **network.DECODERS, **transport.DECODERS}
_SAME_AS = {**link.SAME_AS, **network.SAME_AS}
_EXTENSIONS = {PROTOCOL + number: number for number in network.EXTENSIONS}

Pairs = NDArray[np.uint64]


class AddressBook:
    """The addresses of a capture: each once, in the order of their first packet."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._index: dict[tuple[int, int], int] = {(0, 0): 0}

    def index_of(self, high: int, low: int) -> int:
        """Return the number of an address given as two halves; IPv4 is mapped into IPv6."""
        found = self._index.get((high, low))
        if found is None:
            found = self._index[high, low] = len(self.texts)
            self.texts.append(_text(high, low))
        return found

    def number(self, addresses: network.Addresses, has_ip: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Return the numbers of the sources and the destinations of a block."""
        halves = (addresses.source, addresses.destination)
        words = [half[:, part].astype(np.uint64) for half in halves for part in (0, 1)]
        first, back = _distinct(words)
        shown = [word[first].tolist() for word in words]
        known = has_ip[first].tolist()
        index = range(first.size)
        source = [
            self.index_of(shown[0][i], shown[1][i]) if known[i] else 0 for i in range(len(first))
        ]
        to = [self.index_of(shown[2][i], shown[3][i]) if known[i] else 0 for i in index]
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
    block: Block, interfaces: list[Interface], book: AddressBook
) -> dict[str, NDArray[Any]]:
    """Return the columns of a block; ``time_ns`` is the time as the file has it."""
    by_interface = np.array([one.link_type for one in interfaces] or [0], np.int64)
    link_types = by_interface[block.interface]
    layers = Layers.of(block, link_types, DECODED)
    addresses = network.Addresses(len(block))
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


def _strip_checks(layers: Layers, block: Block, interfaces: list[Interface]) -> None:
    """Leave the frame check sequence out, where the file says that it is there."""
    if any(one.fcs_bytes for one in interfaces):
        fcs = np.array([one.fcs_bytes for one in interfaces], np.int64)[block.interface]
        layers.left = np.maximum(layers.left - fcs, 0)


def _decode(layers: Layers, addresses: network.Addresses) -> None:
    """Read one kind of header after the other, each for all packets that have it next."""
    _decode_rows(layers, np.arange(layers.at.size, dtype=np.int64), addresses)
    _decode_rows(layers, fragments.put_together(layers, addresses), addresses)


def _decode_rows(layers: Layers, active: Ints, addresses: network.Addresses) -> None:
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


def _read_header(layers: Layers, rows: Ints, kind: int, addresses: network.Addresses) -> None:
    if kind == IPV4:
        network.ipv4(layers, rows, addresses)
    elif kind == IPV6:
        network.ipv6(layers, rows, addresses)
    elif kind in _EXTENSIONS:
        network.extension(layers, rows, _EXTENSIONS[kind])
    elif kind in _SAME_AS:
        link.fixed(layers, rows, _SAME_AS[kind])
    elif kind in _DECODERS:
        _DECODERS[kind](layers, rows)
    elif kind >= PPP:
        link.ppp_protocol(layers, rows, kind - PPP)
    else:
        layers.kind[rows] = DONE


def is_read(link_type: int) -> bool:
    """Whether packets of a link type are decoded."""
    return LINK + link_type in _DECODERS or LINK + link_type in _SAME_AS
