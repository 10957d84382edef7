"""Summaries of tools that print no single times: round trips, transactions, one-way delays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netcalc.explain.evidence import first_known
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.known import Known
from netcalc.explain.time_parts import (
    FEWEST_ANSWERS,
    PART_TOLERANCE,
    asked_of_times,
    parts_of,
    response_parts,
    stall_notices,
)
from netcalc.messages import Notice
from netcalc.samples import Fact, RttSamples, Samples, Table


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    )


def explain_summary(samples: RttSamples, known: Known) -> tuple[Finding, ...]:
    """Return what the round trip of a summary consists of, where no probe has a time of its own.

    Parameters
    ----------
    samples : RttSamples
        Round trips of a quiet ping: its facts have the minimum, and a median or a mean.
    known : Known
        As for round trips.

    Returns
    -------
    tuple of Finding
        One for each host; without limits where none was answered.
    """
    return tuple(_of_summary(samples, row, known) for row in samples.facts())


def _of_summary(samples: RttSamples, row: Mapping[str, Fact], known: Known) -> Finding:
    printed, label = samples.meta.printed, str(row.get("group", ""))
    count = int(first_known(_number(row, "sent_count"), 0.0))
    alone = printed if len(samples.facts()) == 1 else {}
    mean = first_known(_number(alone, "rtt_mean_s"), _number(alone, "rtt_avg_s"))
    values = {
        "median": _number(row, "rtt_median_s"),
        "mean": mean,
        "maximum": _number(row, "rtt_max_s"),
    }
    statistic, measured = next(
        ((name, value) for name, value in values.items() if value > 0), ("", math.nan)
    )
    least = first_known(_number(row, "rtt_min_s"), measured)
    if not (measured > 0 and least >= 0):
        return Finding(label=label, unit="s", notices=(Notice("none-answered", {"count": count}),))
    said = [Notice("summary-explained", {"count": count, "statistic": statistic})]
    answered = round(count * (1 - first_known(_number(row, "loss_ratio"), 0.0)))
    if 0 < answered < FEWEST_ANSWERS:
        said.append(Notice("few-answers", {"count": answered}))
    if _number(row, "loss_ratio") > 0:
        said.append(Notice("probes-lost", {"loss_ratio": _number(row, "loss_ratio")}))
    sizes = np.asarray(samples.payload_bytes)
    limits = parts_of(measured, least, 0.0, sizes[np.isfinite(sizes)], known, None)
    return Finding(
        label=label, unit="s", measured=measured, limits=limits, notices=tuple(said),
        missing=asked_of_times(known),
    )  # fmt: skip


def explain_silence(samples: Samples) -> tuple[Finding, ...]:
    """Return that none of the probes of a trace was answered."""
    counts = (_number(row, "probe_count") for row in samples.facts())
    return tuple(
        Finding(unit="s", notices=(Notice("none-answered", {"count": int(count)}),))
        for count in counts
        if count > 0
    )


def explain_transaction_rates(samples: Samples, known: Known) -> tuple[Finding, ...]:
    """Return what a transaction consists of, where a tool printed how many there were a second.

    Parameters
    ----------
    samples : Table
        A column ``transaction_rate``, as netperf's request and response tests have it.
    known : Known
        ``rtt_s``; by default the least time of a transaction, where the file has it.

    Returns
    -------
    tuple of Finding
        One for each run; empty for other tables. The runs had one transaction at a time.
    """
    rates = samples.columns().get("transaction_rate")
    if rates is None:
        return ()
    facts, found = samples.facts(), []
    groups = samples.columns().get("group", np.full(rates.size, "", object))
    for row, rate in enumerate(rates.tolist()):
        if not rate > 0:
            continue
        fact = facts[row] if row < len(facts) else {}
        rtt, measured = first_known(known.rtt_s, _number(fact, "rtt_min_s")), 1 / rate
        limits = response_parts(measured, min(rtt, measured)) if rtt > 0 else ()
        if not limits:
            held = [one for one in response_parts(measured, 0.0) if one.name == "ack-timer"]
            whole = Limit(
                "round-trip-and-hosts", measured, "s", PART_TOLERANCE, {"rate": float(rate)}
            )
            limits = tuple(held) or (whole,)
        asked = () if known.rtt_s is not None else (Notice("ask-rtt"),)
        found.append(
            Finding(
                label=str(groups[row]), unit="s", measured=measured, limits=limits, missing=asked,
                notices=stall_notices(limits),
            )
        )  # fmt: skip
    return tuple(found)


def explain_one_way(samples: Table, known: Known) -> tuple[Finding, ...]:
    """Return what one-way delays consist of, and whether the clocks allow a split.

    Parameters
    ----------
    samples : Table
        One-way delays, as owping has them: the facts have minimum and median of each direction.
    known : Known
        Decides which further facts are asked for.

    Returns
    -------
    tuple of Finding
        One for each direction; empty for other tables.
    """
    rows = [row for row in samples.facts() if "one_way_delay_median_s" in row]
    columns = samples.columns()
    errors, groups = columns.get("clock_error_s"), columns.get("group")
    found = []
    for row in rows:
        error = math.nan
        if errors is not None and groups is not None:
            own = errors[(groups == str(row.get("group", ""))) & np.isfinite(errors)]
            error = float(own.max()) if own.size else math.nan
        found.append(_one_way(row, _other_way(row, rows), error, known))
    return tuple(found)


def _other_way(row: Mapping[str, Fact], rows: Sequence[Mapping[str, Fact]]) -> Mapping[str, Fact]:
    """Return the facts of the reverse direction; none if the file has not just these two."""
    others = [other for other in rows if other is not row]
    return others[0] if len(others) == 1 else {}


def _one_way(
    row: Mapping[str, Fact], other: Mapping[str, Fact], error_s: float, known: Known
) -> Finding:
    least, median = _number(row, "one_way_delay_min_s"), _number(row, "one_way_delay_median_s")
    back = _number(other, "one_way_delay_median_s")
    said, limits = [], []
    values = {"measured_s": median, "error_s": error_s}
    if least <= 0 or error_s >= median or back <= 0:
        said.append(Notice("clock-exceeds-delay", values))
    else:
        base = {"least_s": least, "error_s": error_s, "base_rtt_s": least, "measured_s": median}
        limits.append(Limit("one-way-least", least, "s", PART_TOLERANCE, base))
        limits.append(Limit("queue-above-least", median - least, "s", PART_TOLERANCE, base))
        if error_s > 0:
            said.append(Notice("clock-error", {"error_s": error_s}))
    if not math.isnan(back):
        apart = {"rtt_s": median + back, "offset_s": abs(median - back) / 2}
        said.append(Notice("one-way-sum", apart))
    if _number(row, "loss_ratio") > 0:
        said.append(Notice("probes-lost", {"loss_ratio": _number(row, "loss_ratio")}))
    parts = (one for one in limits if one.value > 0)
    return Finding(
        label=str(row.get("group", "")), unit="s", measured=median,
        limits=tuple(sorted(parts, key=lambda one: -one.value)), notices=tuple(said),
        missing=() if known.rtt_s is not None else (Notice("ask-idle-rtt"),),
    )  # fmt: skip
