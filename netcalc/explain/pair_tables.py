"""Tables of pairs or streams and their rate together: each one's share, and where it saturates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.evidence import Evidence, first_known
from netcalc.explain.finding import Limit
from netcalc.explain.table_columns import (
    Row,
    column_name,
    labelled,
    numbers,
    plausible,
    rows_of,
    series_of,
    two_points,
)
from netcalc.messages import Notice
from netcalc.samples import Table

SHARE_TOLERANCE = 0.25
SATURATION_TOLERANCE = 0.1
SATURATED_RATIO = 0.85
"""The most pairs reach less than this share of what they would have alone: something is full."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The rows of a table of pairs that have a number and a rate; by series."""

    count: FloatArray
    rate_bps: FloatArray
    noun: str
    series: list[str]
    rows: dict[str, NDArray[np.intp]]

    def each_bps(self, name: str) -> tuple[float, float]:
        """Return the rate of each pair with the fewest of them, and how few these are."""
        rows = self.rows[name]
        first = rows[np.argmin(self.count[rows])]
        return float(self.rate_bps[first] / self.count[first]), float(self.count[first])

    def most_bps(self, name: str) -> tuple[float, float] | None:
        """Return the rate at which more pairs add nothing, and with how many; None if not seen."""
        rows = self.rows[name]
        last = rows[np.argmax(self.count[rows])]
        each, _ = self.each_bps(name)
        if self.rate_bps[last] >= SATURATED_RATIO * each * self.count[last]:
            return None
        top = rows[np.argmax(self.rate_bps[rows])]
        return float(self.rate_bps[top]), float(self.count[top])

    def counted(self, count: float) -> str:
        """Write a number of pairs with its noun."""
        return f"{count:g} {self.noun}{'' if count == 1 else 's'}"


def pairs_of(table: Table) -> Pairs | None:
    """Return the pairs of a table; None if it does not have several numbers of them."""
    count = numbers(table, "pair_count")
    rate = numbers(table, "goodput_bps")
    rate = numbers(table, "rate_bps") if rate is None else rate
    if count is None or rate is None:
        return None
    good = plausible(count, rate) & (count >= 1)
    if np.unique(count[good]).size < 2:
        return None
    noun = column_name(table, "pair_count").removesuffix("_count").removesuffix("s")
    series = series_of(table)
    return Pairs(count, rate, noun, series, rows_of(series, good))


def pair_evidence(table: Table) -> list[Row]:
    """Return what each row of a table of pairs says, and its further limits.

    Parameters
    ----------
    table : Table
        Columns such as ``pairs`` and ``goodput_bps``.

    Returns
    -------
    list of Row
        For each row the transfer of all pairs; what they would have if each had what it has with
        the fewest of them; and the rate beyond which more add nothing, where that was seen. Empty
        for other tables.
    """
    pairs = pairs_of(table)
    if pairs is None:
        return []
    size = numbers(table, "payload_bytes")
    found: dict[int, Row] = {}
    for name, rows in pairs.rows.items():
        each, least = pairs.each_bps(name)
        most = pairs.most_bps(name)
        for row in rows.tolist():
            count, rate = float(pairs.count[row]), float(pairs.rate_bps[row])
            values = {
                "count": int(count), "each_bps": each, "least_count": pairs.counted(least),
            }  # fmt: skip
            limits = [Limit("pair-share", count * each, "bit/s", SHARE_TOLERANCE, values)]
            if most is not None:
                values = {"most_bps": most[0], "count": pairs.counted(most[1])}
                limits.append(Limit("saturation", most[0], "bit/s", SATURATION_TOLERANCE, values))
            one = Evidence(
                label=labelled(name, pairs.counted(count)),
                protocol="udp" if "UDP" in name.upper().split(", ") else "tcp",
                rate_bps=rate,
                received_rate_bps=rate,
                stream_count=count,
                is_from_start=False,
                datagram_bytes=first_known(None if size is None else float(size[row])),
            )
            asked = () if most is not None else (Notice("more-pairs"),)
            found[row] = Row(
                evidence=one, limits=tuple(limits), notices=two_points(rows), missing=asked
            )
    return [found[row] for row in sorted(found)]
