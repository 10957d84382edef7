"""Small tables: response times, round trips and the times of lines, by the names of columns."""

from __future__ import annotations

import math
import re

import numpy as np

from netcalc.explain.finding import Finding, Limit
from netcalc.explain.known import Known
from netcalc.explain.table_columns import (
    MOST_VALUE,
    numbers,
    numbers_or_nan,
    plausible,
    series_of,
)
from netcalc.explain.time_parts import PART_TOLERANCE, explain_round_trips, explain_transactions
from netcalc.messages import Notice
from netcalc.models.delays import latency
from netcalc.samples import RttSamples, Table, TransactionSamples

PARTS_RATIO = 0.015
"""Parts that differ by more than this from their sum do not belong together. [ratio]"""

WAYS_OF_WRITING = re.compile(
    r"(?i).*(?:nagle|no.?delay|cork|flush|quickack|(?:single|one|two).?write)"
)
"""Names of modes, or of columns, that say how a request was written."""
TIMES = ("response_s", "time_s", "rtt_s", "elapsed_s", "wall_s")
"""Columns that have the time of a request beside its mode."""


def explain_times(table: Table, known: Known) -> tuple[Finding, ...]:
    """Return what the times of a table consist of: responses, round trips, or those of lines.

    Parameters
    ----------
    table : Table
        ``response_s``, or sizes and ``curve_rtt_s``, or ``bandwidth_bps`` with sizes and times.
    known : Known
        As for the samples that a reader makes of such columns.

    Returns
    -------
    tuple of Finding
        One for each series, or row of a line; empty for other tables.
    """
    series, sizes = series_of(table), numbers_or_nan(table, "packet_bytes")
    response, rtt = numbers(table, "response_s"), numbers(table, "rtt_s")
    if response is not None:
        each = np.arange(1.0, len(table) + 1)
        responses = TransactionSamples(
            mode=np.array(series, object), sequence=each, payload_bytes=sizes, response_s=response,
            meta=table.meta,
        )  # fmt: skip
        return explain_transactions(responses, known)
    if rtt is not None:
        group = np.array(series, object)
        return explain_round_trips(RttSamples(payload_bytes=sizes, rtt_s=rtt, group=group), known)
    return _modes(table, known) or _lines(table, series)


def _modes(table: Table, known: Known) -> tuple[Finding, ...]:
    """Return the findings of times by way of writing: in rows with a mode, or in columns of each.

    Without a name that says how a request was written, such a table may be of anything.
    """
    columns = table.columns()
    names = columns.get("mode")
    time = next((name for name in TIMES if name in columns), None)
    if names is not None and time is not None and names.dtype.kind in "OU":
        modes = [str(name) for name in names]
        times = np.asarray(columns[time], dtype=float)
    else:
        units = table.meta.units
        ways = [name for name in columns if units.get(name) == "s" and WAYS_OF_WRITING.match(name)]
        modes = [name.removesuffix("_s").replace("_", " ") for name in ways for _ in columns[name]]
        times = np.concatenate([np.zeros(0), *(columns[name] for name in ways)])
    if not any(WAYS_OF_WRITING.match(name) for name in modes):
        return ()
    responses = TransactionSamples(
        mode=modes, sequence=np.arange(1.0, times.size + 1),
        payload_bytes=np.full(times.size, math.nan), response_s=times, meta=table.meta,
    )  # fmt: skip
    return explain_transactions(responses, known)


def _lines(table: Table, series: list[str]) -> tuple[Finding, ...]:
    rates, sizes = numbers(table, "line_bps"), numbers(table, "packet_bytes")
    times = numbers(table, "transfer_s")
    if rates is None or sizes is None or times is None:
        return ()
    delays, hops = numbers_or_nan(table, "latency_s"), numbers_or_nan(table, "hop_count")
    found = []
    for row in np.flatnonzero(plausible(rates, sizes, times)).tolist():
        rate, size, measured = float(rates[row]), float(sizes[row]), float(times[row])
        count = int(hops[row]) if 1 <= hops[row] < MOST_VALUE else 1
        part = count * float(latency.serialization_s(size, bandwidth_bps=rate))
        values = {"count": count, "size_bytes": size, "line_bps": rate}
        parts = [Limit("row-serialization", part, "s", PART_TOLERANCE, values)]
        if delays[row] > 0:
            late = {"latency_s": float(delays[row])}
            parts.append(Limit("row-latency", float(delays[row]), "s", PART_TOLERANCE, late))
        parts.sort(key=lambda one: -one.value)
        total = math.fsum(one.value for one in parts)
        differ = {"sum_s": total, "measured_s": measured}
        is_off = abs(total / measured - 1) > PARTS_RATIO
        found.append(
            Finding(
                label=series[row], unit="s", measured=measured, limits=tuple(parts),
                notices=(Notice("parts-differ", differ),) if is_off else (),
            )
        )  # fmt: skip
    return tuple(found)
