"""Round trips, a row each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from netcalc.checks import in_blocks, named_arguments
from netcalc.samples._base import (
    BoolColumn,
    FloatColumn,
    Samples,
    TextColumn,
    bools,
    floats,
)
from netcalc.samples._facts import Fact, fact_row
from netcalc.samples._meta import Meta


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

    column_units: ClassVar[Mapping[str, str]] = {
        "payload_bytes": "byte",
        "rtt_s": "s",
        "sequence": "1",
        "lost": "bool",
        "duplicate": "bool",
        "error_reply": "bool",
        "resolution_s": "s",
        "sent_s": "s",
        "ttl": "1",
        "group": "text",
    }
    column_layers: ClassVar[Mapping[str, str]] = {"payload_bytes": "echo user data"}

    payload_bytes: FloatColumn | Sequence[float]
    rtt_s: FloatColumn | Sequence[float]
    sequence: FloatColumn | Sequence[float] = ()
    lost: BoolColumn | Sequence[bool] = ()
    duplicate: BoolColumn | Sequence[bool] = ()
    error_reply: BoolColumn | Sequence[bool] = ()
    resolution_s: FloatColumn | Sequence[float] = ()
    sent_s: FloatColumn | Sequence[float] = ()
    ttl: FloatColumn | Sequence[float] = ()
    group: TextColumn | Sequence[str] = ()
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
        some = [np.unique(sizes[known]) for sizes, _, known in in_blocks(*columns)]
        distinct = np.unique(np.concatenate(some)) if some else np.empty(0)
        smallest = np.full(distinct.size, np.inf)
        for sizes, rtts, known in in_blocks(*columns):
            np.minimum.at(smallest, np.searchsorted(distinct, sizes[known]), rtts[known])
        return distinct, smallest
