"""Paths as traceroute shows them: the probes of each hop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from netcalc.checks import named_arguments
from netcalc.samples._base import (
    BoolColumn,
    FloatColumn,
    Samples,
    TextColumn,
    bools,
    floats,
    median,
)
from netcalc.samples._facts import Fact, fact_row
from netcalc.samples._meta import Meta


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

    column_units: ClassVar[Mapping[str, str]] = {
        "hop": "1",
        "rtt_s": "s",
        "lost": "bool",
        "node": "text",
        "node_name": "text",
        "mark": "text",
        "group": "text",
        "sequence": "1",
        "ttl": "1",
        "resolution_s": "s",
    }

    hop: FloatColumn | Sequence[float]
    rtt_s: FloatColumn | Sequence[float]
    lost: BoolColumn | Sequence[bool] = ()
    node: TextColumn | Sequence[str] = ()
    node_name: TextColumn | Sequence[str] = ()
    mark: TextColumn | Sequence[str] = ()
    group: TextColumn | Sequence[str] = ()
    sequence: FloatColumn | Sequence[float] = ()
    ttl: FloatColumn | Sequence[float] = ()
    resolution_s: FloatColumn | Sequence[float] = ()
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
