"""Tables of a rate against the round trip, the window or the loss: one law, and what caps it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.evidence import Evidence
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.known import Known
from netcalc.explain.rate_limits import rate_limits
from netcalc.explain.table_columns import (
    FITTED_TOLERANCE,
    labelled,
    numbers,
    plausible,
    rows_of,
    series_of,
)
from netcalc.explain.time_series import is_over_time
from netcalc.messages import Notice
from netcalc.models.tcp import loss_limited
from netcalc.rate_layers import TCP_PAYLOAD
from netcalc.samples import Table
from netcalc.units import show

LAWS: Mapping[str, tuple[str, float]] = {
    "response_rtt_s": ("s", -1.0), "window_bytes": ("byte", 1.0), "loss_ratio": ("ratio", -0.5),
}  # fmt: skip
"""What a rate may be measured against: its unit, and the exponent of the law.

A window over the round trip; the same of a window; and Reno's rate over the root of the loss.
"""
LEAST_SPAN = 1.5
"""A law is fitted to rows whose positions differ by this factor at least. [ratio]"""
MOST_LOSS_RATIO = 0.02
"""With more loss timeouts decide, and the rate is not that of the root. [ratio]"""
CAPPED_RATIO = 0.9
"""A cap shows only where the law alone would give more than this allows. [ratio]"""
MSS_BYTES = Evidence().segment_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """A law that a cap cuts off: ``min(cap_bps, factor x ** exponent)``; no cap is inf."""

    factor: float
    exponent: float
    cap_bps: float
    law_count: int
    cap_count: int

    def law_bps(self, x: FloatArray) -> FloatArray:
        """Return the law without the cap. [bit/s]"""
        return np.asarray(self.factor * x**self.exponent)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Responses:
    """The rows of a table of rates against one quantity that a law explains; by series."""

    role: str
    x: FloatArray
    rate_bps: FloatArray
    rows: Mapping[str, NDArray[np.intp]]
    bends: Mapping[str, Bend]

    @property
    def unit(self) -> str:
        """Unit of the quantity."""
        return LAWS[self.role][0]

    def values(self, name: str, x: float) -> dict[str, Any]:
        """Return the numbers of a row's law: what is in flight, and the round trip."""
        bend = self.bends[name]
        values: dict[str, Any] = {"count": bend.law_count}
        if self.role == "response_rtt_s":
            return {**values, "window_bytes": bend.factor / 8, "rtt_s": x}
        if self.role == "window_bytes":
            return {**values, "window_bytes": x, "rtt_s": 8 / bend.factor}
        rate = float(bend.law_bps(np.array([x]))[0])
        each = float(loss_limited.mathis_throughput_bps(x, mss_bytes=MSS_BYTES, rtt_s=1.0))
        return {**values, "loss_ratio": x, "rtt_s": each / rate, "mss_bytes": MSS_BYTES}


def responses_of(table: Table) -> Responses | None:
    """Return the law of a table of rates against a quantity; None if no law explains its rows."""
    rates = numbers(table, "goodput_bps")
    rates = numbers(table, "rate_bps") if rates is None else rates
    roles = [role for role in LAWS if numbers(table, role) is not None]
    if rates is None or len(roles) != 1 or is_over_time(table):
        return None
    x = numbers(table, roles[0])
    assert x is not None  # it was just there
    rows = rows_of(series_of(table), plausible(x, rates))
    exponent = LAWS[roles[0]][1]
    fits = {name: bend_of(x[at], rates[at], exponent=exponent) for name, at in rows.items()}
    bends = {name: bend for name, bend in fits.items() if bend is not None}
    if not bends or len(bends) < len(rows):
        return None
    return Responses(role=roles[0], x=x, rate_bps=rates, rows=rows, bends=bends)


def bend_of(x: FloatArray, rate_bps: FloatArray, *, exponent: float) -> Bend | None:
    """Return the law and its cap that fit best; None if some row is far from both.

    The rows where the law is highest may be at the cap; the others follow the law.
    """
    order = np.argsort(-(x**exponent), kind="stable")
    shape, rates = x[order] ** exponent, rate_bps[order]
    best, least = None, math.inf
    for capped in range(shape.size - 1):
        law = shape[capped:]
        if law[0] < LEAST_SPAN ** abs(exponent) * law[-1]:
            break
        factor = float(np.exp(np.median(np.log(rates[capped:] / law))))
        cap = float(np.median(rates[:capped])) if capped else math.inf
        if capped and cap > CAPPED_RATIO * factor * shape[capped - 1]:
            continue
        off = np.abs(np.log(rates / np.minimum(factor * shape, cap)))
        if off.max() <= math.log(1 + FITTED_TOLERANCE) and off.mean() < least:
            least = float(off.mean())
            best = Bend(
                factor=factor, exponent=exponent, cap_bps=cap, law_count=int(law.size),
                cap_count=capped,
            )  # fmt: skip
    return best


def explain_responses(table: Table, known: Known) -> tuple[Finding, ...]:
    """Return what limits each row of a table of rates against round trip, window or loss.

    Parameters
    ----------
    table : Table
        A rate, and one of ``rtt_s``, ``window_bytes`` and ``loss_ratio``.
    known : Known
        ``line_bps`` is the line; without it the rate that no longer grows is a cap of its own.

    Returns
    -------
    tuple of Finding
        One for each row; empty for other tables, and where no law explains the rows.
    """
    seen = responses_of(table)
    if seen is None:
        return ()
    findings = {}
    for name, rows in seen.rows.items():
        bend = seen.bends[name]
        caps = [limit for limit in rate_limits(Evidence(), known) if limit.name == "line"]
        if not caps and bend.cap_count:
            values = {"count": bend.cap_count}
            caps = [Limit("plateau", bend.cap_bps, "bit/s", FITTED_TOLERANCE, values)]
        code = "fitted-loss" if seen.role == "loss_ratio" else "fitted-window"
        for row in rows.tolist():
            x = float(seen.x[row])
            law = float(bend.law_bps(np.array([x]))[0])
            limits = [Limit(code, law, "bit/s", FITTED_TOLERANCE, seen.values(name, x)), *caps]
            findings[row] = Finding(
                label=labelled(name, show(x, seen.unit)),
                measured=float(seen.rate_bps[row]),
                limits=tuple(sorted(limits, key=lambda limit: limit.value)),
                missing=() if known.line_bps is not None else (Notice("ask-line"),),
                layer=TCP_PAYLOAD,
            )
        if seen.role == "response_rtt_s":
            _add_rival(findings, int(rows[0]), bend)
    return tuple(findings[row] for row in sorted(findings))


def _add_rival(findings: dict[int, Finding], row: int, bend: Bend) -> None:
    """Say which random loss would give the same curve: it falls with the round trip, too."""
    window_bytes = bend.factor / 8
    loss_ratio = (loss_limited.MATHIS_CONSTANT * MSS_BYTES / window_bytes) ** 2
    if loss_ratio > MOST_LOSS_RATIO:
        return
    values = {"window_bytes": window_bytes, "loss_ratio": loss_ratio}
    first = findings[row]
    said = (*first.notices, Notice("window-or-loss", values))
    findings[row] = replace(first, notices=said)
