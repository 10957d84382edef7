"""Summaries of tools that print no single times, and tables with an axis of time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain import time_parts
from netcalc.explain.causes.cause import HIGH, MEDIUM, Cause, Sign
from netcalc.explain.evidence import Evidence, Known, first_known, number_in
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.tables import MOST_VALUE, ROLES, rows_of, series_of
from netcalc.messages import Notice
from netcalc.samples import Fact, RttSamples, Samples, Table


def explain_summary(samples: RttSamples, stated: Known) -> tuple[Finding, ...]:
    """Return what the round trip of a summary consists of, where no probe has a time of its own.

    Parameters
    ----------
    samples : RttSamples
        Round trips of a quiet ping: its facts have the minimum, and a median or a mean.
    stated : Known
        As for round trips.

    Returns
    -------
    tuple of Finding
        One for each host; without limits where none was answered.
    """
    rows = samples.facts()
    printed = samples.meta.printed if len(rows) == 1 else {}
    return tuple(_of_summary(samples, row, printed, stated) for row in rows)


def _of_summary(
    samples: RttSamples, row: Mapping[str, Fact], printed: Mapping[str, Any], stated: Known
) -> Finding:
    label = str(row.get("group", ""))
    count = int(first_known(number_in(row, "sent_count"), 0.0))
    values = {
        "median": number_in(row, "rtt_median_s"),
        "mean": number_in(printed, "rtt_mean_s", "rtt_avg_s"),
        "maximum": number_in(row, "rtt_max_s"),
    }
    statistic, measured = next(
        ((name, value) for name, value in values.items() if value > 0), ("", math.nan)
    )
    least = first_known(number_in(row, "rtt_min_s"), measured)
    if not (measured > 0 and least >= 0):
        mtu_bytes = number_in(row, "path_mtu_bytes")
        signs = (
            Sign("sent_count", float(count), "the tool"),
            Sign("path_mtu_bytes", mtu_bytes, "an error"),
        )
        told = Cause(code="path-mtu", confidence=HIGH, signs=signs, variant="told")
        received = int(first_known(number_in(row, "received_count"), 0.0))
        notice = Notice("none-answered", {"count": count})
        if received > 0:
            notice = Notice("answered-without-times", {"count": count, "received": received})
        elif said := [each for each in samples.meta.warnings if each.code.startswith("error-")]:
            longest = max(said, key=lambda each: len(each.values["numbers"]))
            notice = Notice("none-answered-but", {"count": count, "said": str(longest)})
        return Finding(
            label=label, unit="s", notices=(notice,),
            cause=told if mtu_bytes > 0 else None,
        )  # fmt: skip
    answers = int(first_known(number_in(row, "received_count"), 0.0))
    said = [Notice("summary-explained", {"count": count or answers, "statistic": statistic})]
    if not (count or answers):
        said = [Notice("summary-explained-uncounted", {"statistic": statistic})]
    answered = round(count * (1 - first_known(number_in(row, "loss_ratio"), 0.0)))
    if 0 < answered < time_parts.FEWEST_ANSWERS:
        said.append(Notice("few-answers", {"count": answered}))
    if number_in(row, "loss_ratio") > 0:
        said.append(Notice("probes-lost", {"loss_ratio": number_in(row, "loss_ratio")}))
    sizes = np.asarray(samples.payload_bytes)
    limits = time_parts.parts_of(measured, least, 0.0, sizes[np.isfinite(sizes)], stated, None)
    return Finding(
        label=label, unit="s", measured=measured, limits=limits, notices=tuple(said),
        missing=time_parts.asked_of_times(stated),
    )  # fmt: skip


def explain_silence(samples: Samples) -> tuple[Finding, ...]:
    """Return that none of the probes of a trace was answered."""
    counts = (number_in(row, "probe_count") for row in samples.facts())
    return tuple(
        Finding(unit="s", notices=(Notice("none-answered", {"count": int(count)}),))
        for count in counts
        if count > 0
    )


def explain_transaction_rates(samples: Samples, stated: Known) -> tuple[Finding, ...]:
    """Return what a transaction consists of, where a tool printed how many there were a second.

    Parameters
    ----------
    samples : Table
        A column ``transaction_rate``, as netperf's request and response tests have it.
    stated : Known
        ``rtt_s``; by default the least time of a transaction, where the file has it.

    Returns
    -------
    tuple of Finding
        One for each run; empty for other tables. The runs had one transaction at a time.
    """
    rates = samples.columns().get("transaction_rate")
    if rates is None:
        return ()
    facts, findings = samples.facts(), []
    groups = samples.columns().get("group", np.full(rates.size, "", object))
    for row, rate in enumerate(rates.tolist()):
        if not rate > 0:
            continue
        fact = facts[row] if row < len(facts) else {}
        rtt, measured = first_known(stated.rtt_s, number_in(fact, "rtt_min_s")), 1 / rate
        limits = time_parts.response_parts(measured, min(rtt, measured)) if rtt > 0 else ()
        if not limits:
            parts = time_parts.response_parts(measured, 0.0)
            tolerance, values = time_parts.PART_TOLERANCE, {"rate": float(rate)}
            whole = Limit("round-trip-and-hosts", measured, "s", tolerance, values)
            limits = tuple(part for part in parts if part.name == "ack-timer") or (whole,)
        asked = () if stated.rtt_s is not None else (Notice("ask-rtt"),)
        findings.append(
            Finding(
                label=str(groups[row]), unit="s", measured=measured, limits=limits, missing=asked,
                notices=time_parts.stall_notices(limits),
            )
        )  # fmt: skip
    return tuple(findings)


def explain_one_way(samples: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what one-way delays consist of, and whether the clocks allow a split.

    Parameters
    ----------
    samples : Table
        One-way delays, as owping has them: the facts have minimum and median of each direction.
    stated : Known
        Decides which further facts are asked for.

    Returns
    -------
    tuple of Finding
        One for each direction; empty for other tables.
    """
    rows = [row for row in samples.facts() if "one_way_delay_median_s" in row]
    columns = samples.columns()
    errors, groups = columns.get("clock_error_s"), columns.get("group")
    findings = []
    for row in rows:
        error = math.nan
        if errors is not None and groups is not None:
            own = errors[(groups == str(row.get("group", ""))) & np.isfinite(errors)]
            error = float(own.max()) if own.size else math.nan
        others = [other for other in rows if other is not row]
        reverse = others[0] if len(others) == 1 else {}
        findings.append(_one_way(row, reverse, error, stated))
    return tuple(findings)


def _one_way(
    row: Mapping[str, Fact], other: Mapping[str, Fact], error_s: float, stated: Known
) -> Finding:
    least, median = number_in(row, "one_way_delay_min_s"), number_in(row, "one_way_delay_median_s")
    back = number_in(other, "one_way_delay_median_s")
    said, limits = [], []
    values = {"measured_s": median, "error_s": error_s}
    if least <= 0 or error_s >= median or back <= 0:
        said.append(Notice("clock-exceeds-delay", values))
    else:
        base = {"least_s": least, "error_s": error_s, "base_rtt_s": least, "measured_s": median}
        limits.append(Limit("one-way-least", least, "s", time_parts.PART_TOLERANCE, base))
        limits.append(
            Limit("queue-above-least", median - least, "s", time_parts.PART_TOLERANCE, base)
        )
        if error_s > 0:
            said.append(Notice("clock-error", {"error_s": error_s}))
    if not math.isnan(back):
        apart = {"rtt_s": median + back, "offset_s": abs(median - back) / 2}
        said.append(Notice("one-way-sum", apart))
    if number_in(row, "loss_ratio") > 0:
        said.append(Notice("probes-lost", {"loss_ratio": number_in(row, "loss_ratio")}))
    return Finding(
        label=str(row.get("group", "")), unit="s", measured=median,
        limits=time_parts.largest_first(*limits), notices=tuple(said),
        missing=() if stated.rtt_s is not None else (Notice("ask-idle-rtt"),),
    )  # fmt: skip


LEAST_ROWS, STEP_RATIO = 3, 1.5
"""A rate has changed if so many rows before and after differ by this factor. [1], [ratio]"""
SHARED_RATIO, SHARED_ROWS = 0.15, 0.9
"""Flows of one line have its rate together within this, in this share of the rows. [ratio]"""
_TIMES = {
    "date", "time", "datetime", "timestamp", "epoch", "when", "clock", "day", "hour", "start",
    "start_time", "unixtime", "unix_time", "t", "second", "seconds", "sec",
}  # fmt: skip
"""What a column of times may be called."""
_WAYS = {"download", "upload", "downlink", "uplink"}
"""Columns of rates that are series without one: those of speed tests."""
_ROUND_TRIPS = re.compile(
    r"(?!.*(?:one_way|jitter|var|dev|std|timeout|interval|diff|error|limit))"
    r"(?:\w+_)?(?:ping|rtt|latency|round_trip|round_trip_time|ping_time)(?:_\w+)?"
)
"""What a column of round trips may be called, beside what it is of: ``rtt_wifi``."""


def quantity_of(column: str) -> str:
    """Return the name of a column without its unit: ``ping_s`` is ping."""
    return re.sub(r"_(?:s|bps|pps)$", "", column.strip()).lower().replace(" ", "_")


def rate_series(table: Table) -> dict[str, FloatArray]:
    """Return the rates of a table over time by flow and quantity; none if it is not one."""
    return {label: rates for label, (_, rates) in rates_over_time(table).items()}


def rates_over_time(table: Table) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the times and the rates of each flow and quantity of a table over time.

    Times are seconds, or the numbers of the rows where the table has none that are numbers.
    """
    if not is_over_time(table):
        return {}
    numbers, lines = _numbers(table), set(ROLES["line_bps"])
    times = times_of(table)
    times = np.arange(1.0, 1 + len(table)) if times is None else times
    flows = rows_of(series_of(table), np.ones(len(table), np.bool_))
    return {
        ", ".join(filter(None, (flow, name.removesuffix("_bps")))): (times[rows], column[rows])
        for name, column in numbers.items()
        if table.meta.units.get(name) == "bit/s" and name not in lines
        for flow, rows in flows.items()
    }


def times_of(table: Table) -> FloatArray | None:
    """Return the column of times; None where a table has none that are numbers."""
    numbers = _numbers(table)
    return next((numbers[name] for name in numbers if quantity_of(name) in _TIMES), None)


def explain_shares(table: Table) -> tuple[Finding, ...]:
    """Return that flows in columns of one table over time share a line; empty for others.

    Together they have the same rate in nearly all rows that they have in common, though each of
    them has not, and alone a flow has that rate, too.
    """
    series = list(rates_over_time(table).values())
    if len(series) < 2 or any(not np.array_equal(series[0][0], times) for times, _ in series):
        return ()
    rates = np.array([np.nan_to_num(column) for _, column in series])
    common, alone = (rates > 0).sum(axis=0) > 1, (rates > 0).sum(axis=0) == 1
    total = rates.sum(axis=0)
    if common.sum() < LEAST_ROWS or not alone.any():
        return ()
    total_bps, alone_bps = float(np.median(total[common])), float(np.median(total[alone]))
    off = np.abs(np.append(total[common], alone_bps) / total_bps - 1)
    varies = np.ptp(rates[:, common], axis=1) > SHARED_RATIO * total_bps
    if np.mean(off <= SHARED_RATIO) < SHARED_ROWS or off[-1] > SHARED_RATIO or not varies.all():
        return ()
    signs = (
        Sign("total_bps", total_bps, "rows with several flows"),
        Sign("rate_bps", alone_bps, "rows with a single flow"),
        Sign("law_count", float(common.sum()), "the table"),
    )
    cause = Cause(code="shared-line", confidence=MEDIUM, signs=signs, variant="columns")
    return (Finding(cause=cause, measured=total_bps),)


def trip_series(table: Table) -> dict[str, FloatArray]:
    """Return the columns of round trips of a table over time; none if it is not one.

    Rows that have a name each are of several paths: the least of them is no time without load.
    """
    if not is_over_time(table) or _has_names(table):
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


def _has_names(table: Table) -> bool:
    """Whether the rows of a table without times have a name each: servers, providers."""
    if any(quantity_of(name) in _TIMES for name in table.columns()) or len(table) < 2:
        return False
    texts = [column.tolist() for column in table.columns().values() if column.dtype.kind in "OU"]
    return any(
        len(set(names)) == len(names) and not any(re.search(r"\d[:./-]\d", name) for name in names)
        for names in texts
    )


def _numbers(table: Table) -> dict[str, FloatArray]:
    """Return the columns of numbers that can be computed with; others as nan."""
    columns = {}
    for name, column in table.columns().items():
        if column.dtype.kind in "iuf":
            values = np.asarray(column, dtype=float)
            columns[name] = np.where((values >= 0) & (values < MOST_VALUE), values, math.nan)
    return columns


def explain_trips(table: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what the median of each series of round trips consists of.

    Parameters
    ----------
    table : Table
        Columns such as ``ping_s`` beside a column of times, or beside ``download_bps``.
    stated : Known
        As for round trips.

    Returns
    -------
    tuple of Finding
        One for each such column with values; empty for other tables.
    """
    findings: list[Finding] = []
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
        findings += time_parts.explain_round_trips(samples, stated)
    return tuple(findings)


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
        if is_apart and all(level.max() <= STEP_RATIO * level.min() for level in (before, after)):
            numbers = {
                "before_bps": np.median(before), "after_bps": np.median(after),
                "step_row": row + 1, "row_count": used.size,
            }  # fmt: skip
            signs = (Sign(name, float(value), "the rows") for name, value in numbers.items())
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
    series = []
    for name, rates in rate_series(table).items():
        used = rates[rates > 0]
        if not used.size:
            continue
        values = {"count": int(used.size), "low": float(used.min()), "high": float(used.max())}
        said = [Notice("rates-over-time", values)]
        if idle := int(np.count_nonzero(rates == 0)):
            said.append(Notice("rates-of-nothing", {"count": idle, "total": int(rates.size)}))
        evidence = Evidence(
            label=name, rate_bps=float(np.median(used)), is_from_start=False, base_rtt_s=least
        )
        series.append((evidence, tuple(said)))
    return series
