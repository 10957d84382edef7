"""The state of decoding a block: for each packet the next header, and the fields decoded so far.

Every packet has a ``kind``, which says what its next header is, an offset ``at`` where that begins,
and ``left``, the bytes that the headers before it leave for it. A decoder takes all the packets of
one kind at once and updates these three.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.blocks import Block, Bytes, Ints, gather
from netcalc.samples import Layer

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
    def of(cls, block: Block, link_types: Ints, types: dict[str, type]) -> Layers:
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
