"""Probes to the nodes of a path, and trains of packets, a row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from netcalc.checks import named_arguments
from netcalc.samples._base import BoolColumn, FloatColumn, Samples, TextColumn, bools, floats
from netcalc.samples._meta import Meta


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HopSamples(Samples):
    """Round trips to each node of a path: one row for each probe sent.

    Parameters
    ----------
    hop : array_like
        Time to live of the probe: with 1 it ends at the first node. [1]
    packet_bytes : array_like
        Size of the probe with its headers. [byte]
    rtt_s : array_like
        From before the probe was sent until its reply was read; nan without one. [s]
    answer_bytes : array_like
        Size of the reply with its headers: it quotes the probe, or the beginning of it. [byte]
    sequence : array_like
        Number of the probe in the run, from 1. [1]
    lost : array_like of bool
        Probes without a reply.
    sent_s : array_like
        When the probe was sent, by the clock that ``meta`` names. [s]
    node : array_like of str
        Address that replied; empty without a reply. [text]
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "hop": "1",
        "packet_bytes": "byte",
        "rtt_s": "s",
        "answer_bytes": "byte",
        "sequence": "1",
        "lost": "bool",
        "sent_s": "s",
        "node": "text",
    }
    column_layers: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("packet_bytes", "answer_bytes"), "IP packet"
    )

    hop: FloatColumn | Sequence[float]
    packet_bytes: FloatColumn | Sequence[float]
    rtt_s: FloatColumn | Sequence[float]
    answer_bytes: FloatColumn | Sequence[float] = ()
    sequence: FloatColumn | Sequence[float] = ()
    lost: BoolColumn | Sequence[bool] = ()
    sent_s: FloatColumn | Sequence[float] = ()
    node: TextColumn | Sequence[str] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with a reply and its time."""
        return ~bools(self.lost) & np.isfinite(floats(self.rtt_s))

    @property
    def hops(self) -> tuple[int, ...]:
        """Hops with at least one measured time, in order."""
        return tuple(np.unique(floats(self.hop)[self.measured]).astype(int).tolist())

    def minima(self, hop: int) -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured to a hop and the smallest round trip of each.

        Only probes whose replies are as large as the largest reply count: the reply to a longer
        probe then takes as long to come back.
        """
        rows = self.measured & (floats(self.hop) == hop)
        answers = floats(self.answer_bytes)[rows]
        if np.isfinite(answers).any():
            rows[rows] = answers == np.nanmax(answers)
        sizes, index = np.unique(floats(self.packet_bytes)[rows], return_inverse=True)
        smallest = np.full(sizes.size, np.inf)
        np.minimum.at(smallest, index, floats(self.rtt_s)[rows])
        return sizes, smallest


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TrainSamples(Samples):
    """Packets sent back to back, in pairs or longer trains: one row for each packet.

    Parameters
    ----------
    train : array_like
        Number of the train, from 1. [1]
    index : array_like
        Index of the packet in the train, from 1. [1]
    packet_bytes : array_like
        Size of the packet with its headers. [byte]
    sent_s : array_like
        When it was handed to the kernel, from the start of the run. [s]
    received_s : array_like
        When its last bit had arrived, by the kernel's clock at the far end, from the start of the
        run; nan if it never did. [s]
    crossed : array_like of bool
        Packets before which a packet of cross traffic was sent.
    """

    column_units: ClassVar[Mapping[str, str]] = {
        "train": "1",
        "index": "1",
        "packet_bytes": "byte",
        "sent_s": "s",
        "received_s": "s",
        "crossed": "bool",
    }
    column_layers: ClassVar[Mapping[str, str]] = {"packet_bytes": "IP packet"}

    train: FloatColumn | Sequence[float]
    index: FloatColumn | Sequence[float]
    packet_bytes: FloatColumn | Sequence[float]
    sent_s: FloatColumn | Sequence[float]
    received_s: FloatColumn | Sequence[float]
    crossed: BoolColumn | Sequence[bool] = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def lost_count(self) -> int:
        """Packets that did not arrive."""
        return int(np.isnan(floats(self.received_s)).sum())

    def trains(self) -> dict[str, FloatColumn]:
        """Return one row for each train that arrived completely, by columns.

        ``train``, ``packet_bytes``, ``packet_count``; ``dispersion_s`` from the first arrival to
        the last; ``one_way_s`` from before the first packet was sent to the last arrival;
        ``crossed_count``.
        """
        number, inverse = np.unique(floats(self.train), return_inverse=True)
        rows: list[tuple[float, ...]] = []
        for index, train in enumerate(number.tolist()):
            chosen = inverse == index
            arrived = floats(self.received_s)[chosen]
            if np.isnan(arrived).any() or arrived.size < 2:
                continue
            rows.append(
                (
                    train,
                    float(floats(self.packet_bytes)[chosen][0]),
                    arrived.size,
                    float(arrived.max() - arrived.min()),
                    float(arrived.max() - floats(self.sent_s)[chosen].min()),
                    int(bools(self.crossed)[chosen].sum()),
                )
            )
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        names = (
            "train", "packet_bytes", "packet_count", "dispersion_s", "one_way_s", "crossed_count",
        )  # fmt: skip
        return dict(zip(names, table.T, strict=True))
