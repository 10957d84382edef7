"""Tables of writes and wall times: what a write costs the host, and what else could limit it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.evidence import Evidence
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.table_columns import (
    FITTED_TOLERANCE,
    Row,
    labelled,
    numbers,
    numbers_or_nan,
    plausible,
    rows_of,
    series_of,
    two_points,
)
from netcalc.fit import Costs, write_costs
from netcalc.messages import Notice
from netcalc.samples import Table


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """The rows of a table of writes that have a size, a count and a time; by series."""

    size_bytes: FloatArray
    write_count: FloatArray
    wall_s: FloatArray
    processor_s: FloatArray
    lost_count: FloatArray
    series: list[str]
    rows: dict[str, NDArray[np.intp]]

    @property
    def write_s(self) -> FloatArray:
        """Time of a write. [s]"""
        with np.errstate(all="ignore"):  # rows that are not plausible are left out
            return np.asarray(self.wall_s / self.write_count)

    def costs(self, name: str) -> Costs | None:
        """Return the fitted costs of a series; None where they are not those of a host."""
        at = self.rows[name]
        costs = write_costs(self.size_bytes[at], self.write_s[at])
        known = [value for value in costs.params.values() if not math.isnan(value)]
        is_cost = bool(known) and "byte_cost" not in costs.not_identifiable and min(known) >= 0
        return costs if is_cost else None


def writes_of(table: Table) -> Writes | None:
    """Return the writes of a table; None if it is not one of writes."""
    sizes, counts, times = (numbers(table, n) for n in ("write_bytes", "write_count", "wall_s"))
    size, total = numbers(table, "size_of_write_bytes"), numbers(table, "total_bytes")
    if counts is None and size is not None and total is not None:
        with np.errstate(all="ignore"):  # rows that are not plausible are left out
            counts = total / size
    if sizes is None or counts is None or times is None:
        return None
    good = plausible(sizes, counts, times) & (counts >= 1)
    series = series_of(table)
    return Writes(
        size_bytes=sizes,
        write_count=counts,
        wall_s=times,
        processor_s=numbers_or_nan(table, "user_s") + numbers_or_nan(table, "system_s"),
        lost_count=numbers_or_nan(table, "lost_count"),
        series=series,
        rows=rows_of(series, good),
    )


def write_evidence(table: Table) -> list[Row]:
    """Return what each row of a table of writes says, its further limits and notices.

    Parameters
    ----------
    table : Table
        Columns such as ``write_bytes``, ``write_count`` and ``wall_s``, or ``total_bytes`` in
        place of the count; ``user_s``, ``system_s``,
        ``lost_count`` and texts such as ``protocol`` and ``server`` where they are known.

    Returns
    -------
    list of Row
        For each row the transfer, its limit by the costs of writes (fitted to the rows of the same
        series, if they have several sizes), and the cost of a write; empty for other tables.
    """
    writes = writes_of(table)
    if writes is None:
        return []
    found: dict[int, Row] = {}
    for name, rows in writes.rows.items():
        costs = writes.costs(name)
        for row in rows.tolist():
            limits = () if costs is None else (_limit(writes, row, costs),)
            notices = (_cost(writes, row),) if costs is None else two_points(np.unique(costs.x))
            found[row] = Row(evidence=_evidence(writes, row), limits=limits, notices=notices)
    return [found[row] for row in sorted(found)]


def explain_uncounted(table: Table) -> tuple[Finding, ...]:
    """Ask for the number of writes of a table that has their sizes and times alone.

    Parameters
    ----------
    table : Table
        A column ``write_bytes`` or ``write_size_bytes``, and one of wall times.

    Returns
    -------
    tuple of Finding
        One without limits; empty for other tables.
    """
    sizes, times = numbers(table, "size_of_write_bytes"), numbers(table, "wall_s")
    if sizes is None or times is None or writes_of(table) is not None:
        return ()
    return (Finding(missing=(Notice("ask-write-count"),)),)


def _evidence(writes: Writes, row: int) -> Evidence:
    size, wall = float(writes.size_bytes[row]), float(writes.wall_s[row])
    udp = "UDP" in writes.series[row].upper().split(", ")
    lost = float(writes.lost_count[row])
    share = lost / float(writes.write_count[row]) if lost >= 0 else math.nan
    sent = 8 * size / float(writes.write_s[row])
    received = sent if math.isnan(share) else sent * (1 - share)
    return Evidence(
        label=labelled(writes.series[row], f"writes of {size:g} B"),
        protocol="udp" if udp else "tcp",
        rate_bps=received,
        sent_rate_bps=sent,
        received_rate_bps=math.nan if udp and math.isnan(share) else received,
        size_bytes=size * float(writes.write_count[row]),
        duration_s=wall,
        is_from_start=False,
        loss_ratio=share if udp else math.nan,
        datagram_bytes=size if udp else math.nan,
        asked_rate_bps=math.inf,  # as fast as the host can write
        processor_ratio=float(writes.processor_s[row]) / wall,
    )


def _limit(writes: Writes, row: int, costs: Costs) -> Limit:
    size = float(writes.size_bytes[row])
    values = {
        "size_bytes": size,
        "write_cost_s": costs.params["transaction_s"],
        "byte_cost_s": costs.params["byte_cost"],
        "mbuf_cost_s": costs.params["mbuf_s"],
        "size_count": int(np.unique(costs.x).size),
    }
    name = "host-costs" if math.isnan(values["mbuf_cost_s"]) else "host-costs-mbufs"
    rate = 8 * size / float(costs.predict(np.array([size]))[0])
    return Limit(name, rate, "bit/s", FITTED_TOLERANCE, values)


def _cost(writes: Writes, row: int) -> Notice:
    each, count = float(writes.write_s[row]), float(writes.write_count[row])
    values = {"size_bytes": float(writes.size_bytes[row]), "write_s": each}
    spent = float(writes.processor_s[row]) / count
    if math.isnan(spent):
        return Notice("write-time", values)
    return Notice("write-cost", {**values, "processor_s": spent})
