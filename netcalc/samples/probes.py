"""Probes, a row each: round trips, probes of the nodes of a path, packet trains, traceroutes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from netcalc.checks import in_blocks, named_arguments
from netcalc.samples.columns import (
    BoolColumn,
    Column,
    Flags,
    FloatColumn,
    Numbers,
    PacketBytes,
    Samples,
    Seconds,
    Texts,
    bools,
    floats,
    median,
)
from netcalc.samples.meta import Fact, Meta, fact_row


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RttSamples(Samples):
    """Round trips of an echo: one row for each probe sent, and one for each duplicate reply.

    Parameters
    ----------
    payload_bytes : array_like
        User data of the probe, as ``ping -s`` counts it. [byte]
    rtt_s : array_like
        Round-trip time; nan where none is known. [s]
    sequence : array_like
        Sequence number, unwrapped; nan where none is known. [1]
    lost, duplicate : array_like of bool
        Probes without a reply; replies beyond the first to one probe. Neither enters a statistic.
    error_reply : array_like of bool
        Probes answered with an error message instead of an echo; they are also lost.
    resolution_s : array_like
        Width of the interval in which the time is known to lie; 0 if unknown. A time printed as
        ``<1 ms`` is stored as 0.5 ms with a width of 1 ms. [s]
    sent_s : array_like
        When the probe was sent, by the clock that ``meta`` names. [s]
    ttl : array_like
        Time to live of the reply. [1]
    group : array_like of str
        Host or run, where a file has several that must not be mixed.
    sent_count, received_count, error_count : int or None
        Totals, where the rows do not give them (a summary without lines).
    """

    payload_bytes: Annotated[FloatColumn | Sequence[float], Column("byte", "echo user data")]
    rtt_s: Seconds
    sequence: Numbers = ()
    lost: Flags = ()
    duplicate: Flags = ()
    error_reply: Flags = ()
    resolution_s: Seconds = ()
    sent_s: Seconds = ()
    ttl: Numbers = ()
    group: Texts = ()
    sent_count: int | None = None
    received_count: int | None = None
    error_count: int | None = None
    meta: Meta = field(default_factory=Meta)

    @property
    def replied(self) -> BoolColumn:
        """Rows that are the first reply to a probe, with or without a time."""
        return ~bools(self.lost) & ~bools(self.duplicate)

    @property
    def measured(self) -> BoolColumn:
        """Rows that are the first reply to a probe and carry a time."""
        return self.replied & np.isfinite(floats(self.rtt_s))

    @property
    def best_s(self) -> FloatColumn:
        """Round-trip times of first replies, in the order of the rows. [s]"""
        return floats(self.rtt_s)[self.measured]

    @property
    def sent(self) -> int:
        """Probes sent."""
        if self.sent_count is not None:
            return self.sent_count
        return int((~bools(self.duplicate)).sum())

    @property
    def received(self) -> int:
        """Probes that were answered by an echo."""
        return int(self.replied.sum()) if self.received_count is None else self.received_count

    @property
    def duplicates(self) -> int:
        """Replies beyond the first to one probe."""
        return int(bools(self.duplicate).sum())

    @property
    def errors(self) -> int:
        """Probes answered by an error message."""
        return int(bools(self.error_reply).sum()) if self.error_count is None else self.error_count

    @property
    def loss_ratio(self) -> float:
        """Share of the probes that were not answered by an echo; nan if none was sent."""
        return 1.0 - self.received / self.sent if self.sent else math.nan

    @property
    def groups(self) -> list[str]:
        """The groups in the order of their rows."""
        return list(dict.fromkeys(np.asarray(self.group).tolist()))

    def counted_facts(self) -> list[dict[str, Fact]]:
        """Return what the rows show of all probes together."""
        rtt = self.best_s
        return [
            fact_row(
                target=self.meta.target,
                sent_count=self.sent,
                received_count=self.received,
                duplicate_count=self.duplicates,
                rtt_min_s=rtt.min() if rtt.size else None,
                rtt_max_s=rtt.max() if rtt.size else None,
                rtt_median_s=np.median(rtt, overwrite_input=True) if rtt.size else None,
                loss_ratio=self.loss_ratio,
                partial=self.meta.partial,
            )
        ]

    def minima(self, rows: BoolColumn | None = None) -> tuple[FloatColumn, FloatColumn]:
        """Return the sizes that were measured, ascending, and the smallest round trip of each.

        Parameters
        ----------
        rows : array_like of bool, optional
            Rows to which the result is limited; by default all.
        """
        taken = self.measured & np.isfinite(floats(self.payload_bytes))
        if rows is not None:
            taken &= rows
        columns = (floats(self.payload_bytes), floats(self.rtt_s), taken)
        some = [np.unique(sizes[mask]) for sizes, _, mask in in_blocks(*columns)]
        distinct = np.unique(np.concatenate(some)) if some else np.empty(0)
        smallest = np.full(distinct.size, np.inf)
        for sizes, rtts, mask in in_blocks(*columns):
            np.minimum.at(smallest, np.searchsorted(distinct, sizes[mask]), rtts[mask])
        return distinct, smallest


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

    hop: Numbers
    packet_bytes: PacketBytes
    rtt_s: Seconds
    answer_bytes: PacketBytes = ()
    sequence: Numbers = ()
    lost: Flags = ()
    sent_s: Seconds = ()
    node: Texts = ()
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

    train: Numbers
    index: Numbers
    packet_bytes: PacketBytes
    sent_s: Seconds
    received_s: Seconds
    crossed: Flags = ()
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


@named_arguments
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PathSamples(Samples):
    """Probes to each hop of one or several paths: one row for each probe.

    Parameters
    ----------
    hop : array_like
        Hops that the probe was let go; 1 ends at the first node. [1]
    rtt_s : array_like
        Round trip to the node that answered; nan without an answer or a time. [s]
    lost : array_like of bool
        Probes without an answer.
    node : array_like of str
        Address that answered, or its name where only that is printed; empty without an answer.
    node_name : array_like of str
        Its name, where the file has both.
    mark : array_like of str
        What the tool says of the answer: ``!H``, ``!X``, ``!F-1300``; several joined by blanks.
    group : array_like of str
        Run or target, where the file has several; as in the row of facts of that name.
    sequence : array_like
        Number of the probe at its hop, from 1. [1]
    ttl : array_like
        Time to live of the answer. [1]
    resolution_s : array_like
        Width of the interval in which the time is known to lie; 0 if unknown. A time printed as
        ``<1 ms`` is stored as 0.5 ms with a width of 1 ms. [s]
    """

    hop: Numbers
    rtt_s: Seconds
    lost: Flags = ()
    node: Texts = ()
    node_name: Texts = ()
    mark: Texts = ()
    group: Texts = ()
    sequence: Numbers = ()
    ttl: Numbers = ()
    resolution_s: Seconds = ()
    meta: Meta = field(default_factory=Meta)

    @property
    def measured(self) -> BoolColumn:
        """Rows with an answer and a time."""
        return ~bools(self.lost) & np.isfinite(floats(self.rtt_s))

    def hop_facts(self, group: str = "") -> dict[str, Fact]:
        """Return what the probes of one group say: hops, hops that answered, probes, replies.

        The last hop is the highest number in the file, whether it answered or not.
        """
        of_group = np.asarray(self.group) == group
        hops = floats(self.hop)[of_group]
        lost = bools(self.lost)[of_group]
        last = hops == hops.max() if hops.size else hops > 0
        times = floats(self.rtt_s)[of_group]
        return fact_row(
            hop_count=hops.max() if hops.size else 0,
            responding_hop_count=np.unique(hops[~lost]).size,
            probe_count=hops.size,
            reply_count=np.count_nonzero(~lost),
            last_hop_rtt_median_s=median(times[last & ~lost]),
        )

    def counted_facts(self) -> list[dict[str, Fact]]:
        """Return a row of facts for each group."""
        groups = list(dict.fromkeys(np.asarray(self.group).tolist()))
        return [{**fact_row(group=group), **self.hop_facts(group)} for group in groups]
