"""A block of packets as bytes and arrays: as both file formats hand it to the decoder."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import Notice

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
class Block:
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

    def first(self, count: int) -> Block:
        """Return the first packets of the block."""
        columns = (self.at, self.kept, self.original, self.time_ns, self.interface)
        at, kept, original, time_ns, interface = (column[:count] for column in columns)
        return Block(self.data, at, kept, original, time_ns, interface, self.first_number)


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
