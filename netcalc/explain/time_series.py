"""Series over time: each quantity of a table with a time axis, explained on its own."""

from __future__ import annotations

import math
import re

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes.cause import Cause, Sign
from netcalc.explain.evidence import Evidence
from netcalc.explain.finding import Finding
from netcalc.explain.known import Known
from netcalc.explain.table_columns import MOST_VALUE, ROLES
from netcalc.explain.time_parts import explain_round_trips
from netcalc.messages import Notice
from netcalc.samples import RttSamples, Table

LEAST_ROWS, STEP_RATIO = 3, 1.5
"""A rate has changed if so many rows before and after differ by this factor. [1], [ratio]"""
_TIMES = {
    "date", "time", "datetime", "timestamp", "epoch", "when", "clock", "day", "hour", "start",
    "start_time", "unixtime", "unix_time",
}  # fmt: skip
"""What a column of times may be called."""
_WAYS = {"download", "upload", "downlink", "uplink"}
"""Columns of rates that are series without one: those of speed tests."""
_ROUND_TRIPS = re.compile(
    r"(?:(?:idle|loaded|min|mean|avg|median|max)_)?"
    r"(?:ping|rtt|latency|round_trip|round_trip_time|ping_time)"
    r"(?:_(?:idle|loaded|min|mean|avg|median|max))?"
)


def quantity_of(column: str) -> str:
    """Return the name of a column without its unit: ``ping_s`` is ping."""
    return re.sub(r"_(?:s|bps|pps)$", "", column.strip()).lower().replace(" ", "_")


def rate_series(table: Table) -> dict[str, FloatArray]:
    """Return the columns of rates of a table over time; none if it is not one."""
    if not is_over_time(table):
        return {}
    lines = set(ROLES["line_bps"])
    return {
        name: column
        for name, column in _numbers(table).items()
        if table.meta.units.get(name) == "bit/s" and name not in lines
    }


def trip_series(table: Table) -> dict[str, FloatArray]:
    """Return the columns of round trips of a table over time; none if it is not one."""
    if not is_over_time(table):
        return {}
    return {
        name: column
        for name, column in _numbers(table).items()
        if table.meta.units.get(name) == "s" and _ROUND_TRIPS.fullmatch(quantity_of(name))
    }


def is_over_time(table: Table) -> bool:
    """Whether a table has a column of times, or the rates of speed tests."""
    names = {quantity_of(name) for name in table.columns()}
    return bool(names & (_TIMES | _WAYS))


def _numbers(table: Table) -> dict[str, FloatArray]:
    """Return the columns of numbers that can be computed with; others as nan."""
    found = {}
    for name, column in table.columns().items():
        if column.dtype.kind in "iuf":
            values = np.asarray(column, dtype=float)
            found[name] = np.where((values >= 0) & (values < MOST_VALUE), values, math.nan)
    return found


def explain_trips(table: Table, known: Known) -> tuple[Finding, ...]:
    """Return what the median of each series of round trips consists of.

    Parameters
    ----------
    table : Table
        Columns such as ``ping_s`` beside a column of times, or beside ``download_bps``.
    known : Known
        As for round trips.

    Returns
    -------
    tuple of Finding
        One for each such column with values; empty for other tables.
    """
    found: list[Finding] = []
    for name, column in trip_series(table).items():
        rtt = np.where(column > 0, column, math.nan)  # of 0 is no answer
        step = table.meta.resolutions.get(name, 0.0)
        samples = RttSamples(
            payload_bytes=np.full(rtt.size, math.nan),
            rtt_s=rtt,
            lost=np.isnan(rtt),
            resolution_s=np.where(np.isnan(rtt), 0.0, step),
            group=np.full(rtt.size, quantity_of(name), object),
        )
        found += explain_round_trips(samples, known)
    return tuple(found)


def rate_step(rates: FloatArray) -> Cause | None:
    """Return that a rate changed once and stayed; None where it did not.

    All rates before differ by ``STEP_RATIO`` from all after, and less from each other, with
    ``LEAST_ROWS`` on each side; the median of such a series is that of its longer part.
    """
    used = rates[np.isfinite(rates)]
    for row in range(LEAST_ROWS, used.size - LEAST_ROWS + 1):
        before, after = used[:row], used[row:]
        fell = before.min() > STEP_RATIO * after.max()
        is_apart = fell or after.min() > STEP_RATIO * before.max()
        if is_apart and all(one.max() <= STEP_RATIO * one.min() for one in (before, after)):
            named = {"before_bps": np.median(before), "after_bps": np.median(after)}
            signs = [
                Sign(name=name, value=float(value), unit="bit/s", origin="the rows")
                for name, value in named.items()
            ]
            at = {"step_row": row + 1, "row_count": used.size}
            signs += [
                Sign(name=name, value=float(value), unit="1", origin="the rows")
                for name, value in at.items()
            ]
            return Cause(signs=tuple(signs), variant="rate-step")
    return None


def series_evidence(table: Table) -> list[tuple[Evidence, tuple[Notice, ...]]]:
    """Return what each series of rates says: its median, beside the least round trip of the table.

    Parameters
    ----------
    table : Table
        Columns such as ``download_bps`` beside a column of times.

    Returns
    -------
    list of tuple
        The transfer and what else the rows show: their number, their range, and how many carried
        nothing; empty for other tables.
    """
    trips = [rtt[rtt > 0] for rtt in trip_series(table).values()]
    least = min((float(rtt.min()) for rtt in trips if rtt.size), default=math.nan)
    found = []
    for name, rates in rate_series(table).items():
        used = rates[rates > 0]
        if not used.size:
            continue
        values = {"count": int(used.size), "low": float(used.min()), "high": float(used.max())}
        said = [Notice("rates-over-time", values)]
        idle = int(np.count_nonzero(rates == 0))
        if idle:
            said.append(Notice("rates-of-nothing", {"count": idle, "total": int(rates.size)}))
        one = Evidence(
            label=quantity_of(name),
            rate_bps=float(np.median(used)),
            is_from_start=False,
            base_rtt_s=least,
        )
        found.append((one, tuple(said)))
    return found
