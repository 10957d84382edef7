"""A block of packets as bytes and arrays, and the state of decoding it.

Every packet has a ``kind``, which says what its next header is, an offset ``at`` where that begins,
and ``left``, the bytes that the headers before it leave for it. A decoder takes all the packets of
one kind at once and updates these three.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import Notice
from netcalc.samples import Layer

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

MISSING_NS = int(np.iinfo(np.int64).min)
"""Time of a packet whose block has none."""

MAX_PACKET_BYTES = 262_144
"""Most bytes that a packet may have in a file; no capture program writes more. [byte]"""

PAD_BYTES = 128
"""Zeros behind the bytes of a block: a header can be gathered at its very end. [byte]"""


@dataclass(frozen=True, slots=True)
class Interface:
    """What a file says of one interface: link type, snap length (0: none), clock, name."""

    link_type: int
    snap_bytes: int = 0
    fcs_bytes: int = 0
    resolution_s: float = 1e-6
    name: str = ""


@dataclass(slots=True)
class FileFacts:
    """What is known of a capture file when it has been read to its end or its fault."""

    format: str = ""
    writer: str = ""
    host: str = ""
    interfaces: list[Interface] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    partial: bool = False
    capture_drop_count: int = 0
    section_count: int = 0


@dataclass(frozen=True, slots=True)
class PacketBlock:
    """Packets of a part of a file.

    ``data`` holds the bytes, with zeros behind; packet i has ``kept[i]`` of them from ``at[i]`` on,
    and had ``original[i]`` on the link.
    """

    data: Bytes
    at: Ints
    kept: Ints
    original: Ints
    time_ns: Ints
    interface: Ints
    first_number: int

    def __len__(self) -> int:
        return int(self.at.size)

    def first(self, count: int) -> PacketBlock:
        """Return the first packets of the block."""
        columns = (self.at, self.kept, self.original, self.time_ns, self.interface)
        at, kept, original, time_ns, interface = (column[:count] for column in columns)
        return PacketBlock(self.data, at, kept, original, time_ns, interface, self.first_number)


def padded(data: bytes) -> Bytes:
    """Return bytes as an array with zeros behind."""
    array = np.zeros(len(data) + PAD_BYTES, np.uint8)
    array[: len(data)] = np.frombuffer(data, np.uint8)
    return array


def gather(data: Bytes, at: Ints, layout: np.dtype[np.void]) -> NDArray[np.void]:
    """Return one header for each offset: all fields of all packets in one copy.

    The bytes are seen as overlapping records, one beginning at every byte, of which those at the
    offsets are taken. Offsets behind the last record give that one: a caller checks the length.
    """
    size = layout.itemsize
    records = np.ndarray((data.size - size + 1,), f"V{size}", data, strides=(1,))
    taken: NDArray[np.void] = records[np.minimum(at, data.size - size)].view(layout)
    return taken


def u16(data: Bytes, at: Ints) -> Ints:
    """Return the big-endian 16-bit numbers at offsets."""
    at = np.minimum(at, data.size - 2)
    return (data[at].astype(np.int64) << 8) | data[at + 1]


def u8(data: Bytes, at: Ints) -> Ints:
    """Return the bytes at offsets."""
    return data[np.minimum(at, data.size - 1)].astype(np.int64)


DONE = -1
LINK, PROTOCOL, PPP = 0x1_0000, 0x2_0000, 0x3_0000
"""Added to the number of a link type, an IP protocol, a PPP protocol; an EtherType is itself."""

IPV4, IPV6 = 0x0800, 0x86DD
ETHERNET = LINK + 1


_TRANSPORTS = Layer.TCP | Layer.UDP | Layer.ICMP | Layer.TIMESTAMPS | Layer.WINDOW_SCALE


@dataclass(slots=True)
class Layers:
    """The packets of a block while their headers are read, one layer after the other."""

    data: Bytes
    at: Ints
    end: Ints
    left: Ints
    kind: Ints
    layers: NDArray[np.uint32]
    columns: dict[str, NDArray[Any]]
    parts: list[tuple[Ints, Ints]] = field(default_factory=list)
    """Fragments: their rows, and their offsets in units of 8 bytes."""

    @classmethod
    def of(cls, block: PacketBlock, link_types: Ints, types: dict[str, type]) -> Layers:
        """Begin with the link layer of each packet."""
        count = len(block)
        return cls(
            block.data,
            block.at.copy(),
            block.at + block.kept,
            np.maximum(block.original, block.kept),
            LINK + link_types,
            np.zeros(count, np.uint32),
            {name: np.zeros(count, kind) for name, kind in types.items()},
        )

    def mark(self, rows: Ints, layer: int) -> None:
        """Note a layer that packets have."""
        self.layers[rows] |= np.uint32(layer)

    def begin_packet(self, rows: Ints, layer: int) -> None:
        """Note an IP header; one inside another packet replaces that packet's transport."""
        within = rows[self.layers[rows] & np.uint32(Layer.IPV4 | Layer.IPV6) != 0]
        if within.size:
            self.layers[within] &= np.uint32(~_TRANSPORTS & 0xFFFF_FFFF)
            self.mark(within, Layer.TUNNEL)
        self.mark(rows, layer)

    def header(self, rows: Ints, layout: np.dtype[np.void]) -> tuple[Ints, NDArray[np.void]]:
        """Return the packets that hold a whole header of this layout, and the headers.

        The others are done: the snap length cut them, or their lengths do not agree.
        """
        rows = self.with_bytes(rows, np.full(rows.size, layout.itemsize, np.int64))
        return rows, gather(self.data, self.at[rows], layout)

    def with_bytes(self, rows: Ints, needed: Ints) -> Ints:
        """Return the packets that hold this many bytes more; mark the others, cut or malformed."""
        is_cut = self.at[rows] + needed > self.end[rows]
        is_short = self.left[rows] < needed
        bad = is_cut | is_short
        if not bad.any():
            return rows
        is_part = self.layers[rows] & np.uint32(Layer.FRAGMENT) != 0  # the rest is in another
        self.mark(rows[is_short & ~is_part], Layer.MALFORMED)
        self.mark(rows[is_cut & ~is_short], Layer.CUT)
        self.kind[rows[bad]] = DONE
        return rows[~bad]

    def advance(self, rows: Ints, size: Ints | int, kind: Ints | int) -> None:
        """Go behind a header of this size, to the kind of header that follows."""
        self.at[rows] += size
        self.left[rows] -= size
        self.kind[rows] = kind

    def put(self, name: str, rows: Ints, values: Any) -> None:
        """Store a column of these packets."""
        self.columns[name][rows] = values
