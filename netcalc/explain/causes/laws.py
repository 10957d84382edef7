"""Tables of times or losses whose rows follow a law: against load, offered rate or distance.

The delay of a queue against its load, the loss of what is offered beyond a rate, and the round trip
against distance. Each is fitted with its interval; where the rows contradict it, that is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain import tables
from netcalc.explain.causes.cause import LOW, MEDIUM, UNKNOWN_CAUSE, Cause, Sign
from netcalc.explain.evidence import Known
from netcalc.explain.finding import Finding
from netcalc.fit import Line, robust_line
from netcalc.messages import Notice
from netcalc.models.delays.latency import SPEED_OF_LIGHT_M_S, signal_speed_m_s
from netcalc.rate_layers import UNKNOWN
from netcalc.samples import Table

LEAST_ROWS = 3
"""Fewer rows contradict no law of two parameters. [1]"""
LEAST_SURE = 2
"""Degrees of freedom from which a law is more than a guess. [1]"""
LEAST_LOAD, MOST_LOAD = 0.3, 0.999
"""Below the first the largest load leaves all queues nearly empty; above the second the delay
depends on digits that nobody writes. [ratio]"""
CAPACITIES = 2000
"""Rates that are tried for what an offered rate is a share of. [1]"""
MOST_SHARE = 2.0
"""A larger load is one in percent whose column does not say so. [ratio]"""
QUEUES: Mapping[str, float] = {"load-mm1": 1.0, "load-md1": 0.5}
"""The slope of a delay over its fixed part, which is the service. [ratio]"""
QUEUE_NAMES = {"load-mm1": "M/M/1", "load-md1": "M/D/1 or several servers"}
"""Queues in a figure: no table says how many servers there are."""
NEAR_RATIO = 0.1
"""A queue whose slope is off by no more is taken for M/M/1 or M/D/1: it was measured. [ratio]"""
SHAPE_ERROR = 0.02
"""No ratio of slope and fixed part is known better than this. [ratio]"""
SHAPE_SURE = 0.2
"""With a wider half of its interval the ratio does not settle which queue it is. [ratio]"""
CLEARLY_OFF = 1.5
"""A queue is excluded for sure if it is this many halves of the interval away. [ratio]"""
OFF_SURE = 0.1
"""Where a row is further off, another law may be as near: the confidence is low. [ratio]"""
LEAST_FREE = 0.05
"""A row that decides its own fit is not counted as freer than this. [ratio]"""
MOST_STRETCH = 10.0
"""No fibre is as many times as long as the distance; something else grows with it. [ratio]"""
OVERLOADED_RATIO = 0.01
"""A row that loses less is not overloaded. [ratio]"""
ALIKE_RATIO = 1.25
"""Losses within this factor are alike. [ratio]"""
_TABLE, _FITTED = "the table", "fitted to the rows"

Curve = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsLaw:
    """What the rows of a series say, and the law to draw over them, if they follow one.

    ``low`` and ``high`` are the ends of its 95% interval; None where it is not known.
    """

    x: FloatArray
    y: FloatArray
    column: str
    """Name of the column of ``y``."""
    step: float
    """The step in which ``y`` is written; 0 if it is not known."""
    cause: Cause
    name: str = ""
    law: Curve | None = None
    low: Curve | None = None
    high: Curve | None = None
    line_bps: float = math.nan
    """The stated rate of the line."""
    said: tuple[Notice, ...] = ()

    def without(self, variant: str, *signs: Sign) -> RowsLaw:
        """Return rows that follow no law, and the sentence that says why."""
        cause = replace(self.cause, variant=variant, signs=(*self.cause.signs, *signs))
        return replace(self, cause=cause)

    def flat_or(self, variant: str, *, flat: str) -> RowsLaw:
        """Return rows without a law: they are alike, or scatter."""
        if self.y.max() > (1 + tables.FITTED_TOLERANCE) * self.y.min():
            return self.without(variant)
        ends = {"low_s": float(self.y.min()), "high_s": float(self.y.max())}
        return self.without(flat, *(Sign(name, end, _TABLE) for name, end in ends.items()))

    def following(
        self, name: str, signs: tuple[Sign, ...], *, code: str, variant: str, degrees: int,
        is_sure: bool = True,
    ) -> RowsLaw:  # fmt: skip
        """Return the rows with the cause that their law stands for."""
        cause = Cause(
            code=code, signs=(*self.cause.signs, *signs), variant=variant,
            confidence=MEDIUM if is_sure and degrees >= LEAST_SURE else LOW, layer=UNKNOWN,
        )  # fmt: skip
        return replace(self, name=name, cause=cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A pair of columns by their roles, the names of the axes, and what fits the rows."""

    x_role: str
    y_role: str
    x_axis: tuple[str, str]
    y_axis: tuple[str, str]
    fit: Callable[[RowsLaw], RowsLaw]
    least_x: float = tables.LEAST_VALUE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LawTable:
    """A table with such a pair of columns: its law, and what the rows of each series say."""

    law: Law
    series: Mapping[str, RowsLaw]
    left_out: tuple[Notice, ...]


def laws_of(table: Table, stated: Known) -> LawTable | None:
    """Return the laws of a table; None for one that has no such pair of columns."""
    line_bps = math.nan if stated.line_bps is None else stated.line_bps
    for law in LAWS:
        x, y = tables.numbers(table, law.x_role), tables.numbers(table, law.y_role)
        if x is None or y is None:
            continue
        good = (x >= law.least_x) & (x < tables.MOST_VALUE) & (y >= 0) & (y < tables.MOST_VALUE)
        rows = tables.rows_of(tables.series_of(table), good)
        column = tables.column_name(table, law.y_role)
        step = table.meta.resolutions.get(column) or 0.0
        series = {
            name: law.fit(RowsLaw(
                x=x[at], y=y[at], column=column, step=step, line_bps=line_bps,
                cause=_range(x[at], law.x_axis[1]),
            ))
            for name, at in rows.items()
        }  # fmt: skip
        used = {name: np.arange(of_series.x.size) for name, of_series in series.items()}
        return LawTable(law=law, series=series, left_out=tables.left_out(len(table), used))
    return None


def explain_laws(table: Table, stated: Known) -> tuple[Finding, ...]:
    """Return what the rows of each series say together.

    Parameters
    ----------
    table : Table
        A load with a delay or a wait; an offered rate with a loss or a delay; a distance with a
        round trip.
    stated : Known
        ``line_bps`` is what an offered rate is a share of; without it that is fitted.

    Returns
    -------
    tuple of Finding
        One for each series; empty for other tables.
    """
    laws = laws_of(table, stated)
    if laws is None:
        return ()
    return tuple(
        Finding(
            label=name, unit="s", cause=rows.cause,
            notices=(*laws.left_out, *tables.two_points(np.unique(rows.x)), *rows.said),
        )
        for name, rows in laws.series.items()
    )  # fmt: skip


def _range(x: FloatArray, unit: str) -> Cause:
    """Return what is known of rows before any law: how many there are, and over which range."""
    end = {"ratio": "ratio", "bit/s": "bps", "m": "m", "1": "count"}[unit]
    signs = (
        Sign("row_count", float(x.size), _TABLE),
        Sign(f"low_{end}", float(x.min()), _TABLE),
        Sign(f"high_{end}", float(x.max()), _TABLE),
    )
    return Cause(signs=signs, layer=UNKNOWN)


def _interval(name: str, value: float, half: float) -> Sign:
    return Sign(name, value, _FITTED, low=value - half, high=value + half)


@dataclass(frozen=True, slots=True, eq=False)
class _FittedLine:
    """A straight line over a shape of x, and the rows that it was fitted to."""

    rows: RowsLaw
    line: Line
    shape: Curve

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows are no outliers."""
        return ~self.line.outlier

    @property
    def kept_count(self) -> int:
        return int(np.count_nonzero(self.kept))

    @property
    def quantile(self) -> float:
        return tables.student_t(self.kept_count - 2)

    @property
    def off_ratio(self) -> float:
        """The largest relative error of the rows that are kept; inf where the line is below 0."""
        law = self.at(self.rows.x[self.kept])
        if not np.all(law > 0):
            return math.inf
        off = np.abs(self.rows.y[self.kept] / law - 1).max()
        return max(float(f"{off:.2g}"), tables.LEAST_OFF)

    @property
    def mean_off(self) -> float:
        """The mean of the relative errors of all rows."""
        return float(np.abs(self.rows.y / self.at(self.rows.x) - 1).mean())

    def at(self, x: FloatArray) -> FloatArray:
        """Return the line at positions of the table."""
        return np.asarray(self.line.intercept + self.line.slope * self.shape(x))

    @property
    def fixed(self) -> float:
        """The fixed part; 0 where it is nothing but the error of the fit."""
        error = self.quantile * self.line.intercept_stderr
        least = tables.LEAST_OFF * float(self.rows.y.min())
        is_none = abs(self.line.intercept) <= least or -error <= self.line.intercept < 0
        return 0.0 if is_none else self.line.intercept

    @property
    def is_rising(self) -> bool:
        """Whether the slope is more than its error; that of an exact line is."""
        error = self.quantile * self.line.slope_stderr
        return not math.isfinite(error) or self.line.slope > error

    def end(self, x: FloatArray, sign: float) -> FloatArray:
        """Return the lower or the upper end of the 95% band."""
        return np.asarray(self.at(x) + sign * self.quantile * self.line.stderr_at(self.shape(x)))

    def following(
        self, name: str, *signs: Sign, code: str = "line", variant: str, is_sure: bool = True
    ) -> RowsLaw:
        """Return the rows with the line as their law, and the cause that it stands for."""
        drawn = replace(
            self.rows, law=self.at, low=lambda x: self.end(x, -1.0), high=lambda x: self.end(x, 1.0)
        )
        return drawn.following(
            name, (*signs, *self.signs()), code=code, variant=variant, degrees=self.kept_count - 2,
            is_sure=is_sure and self.off_ratio <= OFF_SURE,
        )  # fmt: skip

    def slope_sign(self, name: str, factor: float = 1.0) -> Sign:
        """Return the slope with its interval, in another unit by a factor."""
        half = self.quantile * self.line.slope_stderr * factor
        return _interval(name, self.line.slope * factor, half)

    def signs(self) -> tuple[Sign, ...]:
        """Return how many rows follow the line, and how near."""
        return (
            Sign("law_count", float(self.kept_count), _TABLE),
            Sign("off_ratio", self.off_ratio, _FITTED),
        )


def _careful(line: Line, x: FloatArray, y: FloatArray) -> Line:
    """Return a line with the errors of its own rows, where these make the slope less sure.

    Delays scatter more where they are long, and few rows do not show it: least squares without
    weights then states intervals that are too narrow. These are by MacKinnon and White (HC3).
    """
    kept: NDArray[np.bool_] = ~line.outlier
    if line.is_relative or np.unique(x[kept]).size < LEAST_ROWS:
        return line
    unit = float(np.abs(x[kept]).max())
    columns = np.column_stack([np.ones(int(np.count_nonzero(kept))), x[kept] / unit])
    inverse = np.linalg.inv(columns.T @ columns)
    free = 1 - np.einsum("ij,jk,ik->i", columns, inverse, columns)
    off = (y[kept] - line.intercept - line.slope * x[kept]) / np.maximum(free, LEAST_FREE)
    errors = inverse @ (columns.T * off**2) @ columns @ inverse
    if not errors[1, 1] > (line.slope_stderr * unit) ** 2:
        return line
    return replace(
        line,
        intercept_stderr=math.sqrt(errors[0, 0]),
        slope_stderr=math.sqrt(errors[1, 1]) / unit,
        covariance=float(errors[0, 1]) / unit,
    )


def _straight(rows: RowsLaw, shape: Curve, *, surely: bool = True) -> _FittedLine | None:
    """Fit a rising line over a shape of x; None if the rows do not follow it."""
    line = robust_line(shape(rows.x), rows.y, resolution=rows.step)
    line = _careful(line, shape(rows.x), rows.y)
    fitted = _FittedLine(rows, line, shape)
    is_law = line.slope > 0 and fitted.off_ratio <= tables.FITTED_TOLERANCE and fitted.fixed >= 0
    is_law = is_law and fitted.kept_count >= LEAST_ROWS
    return fitted if is_law and (fitted.is_rising or not surely) else None


def _queue(rows: RowsLaw) -> RowsLaw:
    """Fit a delay to ``fixed + slope x load / (1 - load)``, as any single queue has it.

    Of a delay, the fixed part is the service, and the slope the same in M/M/1 and half of it in
    M/D/1. Of a wait there is no fixed part, and the slope is the service or half of it.
    """
    if rows.x.max() > MOST_LOAD:
        return rows.without("load-percent" if rows.x.max() > MOST_SHARE else "load-full")
    if rows.x.max() < LEAST_LOAD or np.unique(rows.x).size < LEAST_ROWS:
        return rows.without("load-narrow")
    fitted = _straight(rows, lambda load: np.asarray(load / (1 - load)))
    if fitted is None:
        return rows.flat_or("load-scatter", flat="load-flat")
    line, quantile = fitted.line, fitted.quantile
    slopes = (fitted.slope_sign("slope_s"), Sign("double_s", 2 * line.slope, _FITTED))
    has_fixed = line.intercept > max(quantile * line.intercept_stderr, OFF_SURE * line.slope)
    if ("wait" in rows.column or "queue" in rows.column) and not has_fixed:
        return fitted.following("one queue", *slopes, variant="load-wait")
    if line.intercept <= 0:
        return rows.without("load-scatter")
    ratio = line.slope / line.intercept
    half = max(quantile * abs(ratio) * line.ratio_error, SHAPE_ERROR)
    fixed = _interval("fixed_s", line.intercept, quantile * line.intercept_stderr)
    # How many halves of the interval each queue is away.
    away = {
        queue: abs(ratio - of_queue) / max(half, NEAR_RATIO * of_queue)
        for queue, of_queue in QUEUES.items()
    }
    agreeing = [queue for queue, halves in away.items() if halves <= 1]
    if len(agreeing) == 1:
        variant, is_sure = agreeing[0], half <= SHAPE_SURE
    elif agreeing:
        variant, is_sure = "load-either", True
    else:
        is_sure = min(away.values()) >= CLEARLY_OFF
        if ratio < QUEUES["load-md1"]:
            variant = "load-steadier"
        else:
            variant = "load-between" if ratio < QUEUES["load-mm1"] else "load-bursts"
    shape = _interval("shape_ratio", ratio, half)
    name = QUEUE_NAMES.get(variant, "one queue")
    return fitted.following(name, fixed, shape, *slopes, variant=variant, is_sure=is_sure)


def _offered_queue(rows: RowsLaw) -> RowsLaw:
    """Fit a delay to the load that an offered rate is of the line: stated, or fitted, too."""
    is_stated = not math.isnan(rows.line_bps)
    rate_bps = rows.line_bps if is_stated else _fitted_capacity_bps(rows)
    load = rows.x / rate_bps
    fitted = _queue(replace(rows, x=load, cause=_range(load, "ratio")))
    said = Notice(
        "load-of-line" if is_stated else "load-of-fit", {"capacity_bps": rate_bps, "layer": UNKNOWN}
    )
    cause = fitted.cause
    if not is_stated and rows.x.size < LEAST_ROWS + LEAST_SURE:
        cause = replace(cause, confidence=LOW)

    def of_rate(curve: Curve | None) -> Curve | None:
        return None if curve is None else lambda x: curve(x / rate_bps)

    return replace(
        fitted, x=rows.x, cause=cause, said=(said,), law=of_rate(fitted.law),
        low=of_rate(fitted.low), high=of_rate(fitted.high),
    )  # fmt: skip


def _fitted_capacity_bps(rows: RowsLaw) -> float:
    """Return the rate as shares of which the offered rates fit a queue best, by relative errors."""
    rates_bps = rows.x.max() * (1 + np.geomspace(1 / MOST_LOAD - 1, 1 / LEAST_LOAD, CAPACITIES))

    def error(rate_bps: float) -> float:
        columns = np.column_stack([np.ones(rows.x.size), rows.x / (rate_bps - rows.x)])
        columns /= rows.y[:, None]
        fit = np.linalg.lstsq(columns, np.ones(rows.x.size), rcond=None)[0]
        return float(np.square(columns @ fit - 1).sum())

    return float(min(rates_bps.tolist(), key=error))


def _overload(rows: RowsLaw) -> RowsLaw:
    """Say what the losses do when more is offered: the same share, a limit, or a collapse."""
    loss = rows.y
    over = loss >= OVERLOADED_RATIO
    if loss.max() > 1:
        return rows.without("offer-scatter")
    if loss.min() >= 1:
        return rows.without("offer-nothing")
    if not over.any():
        return rows.without("offer-none")
    if loss.min() > 0 and loss.max() <= ALIKE_RATIO * loss.min():
        return _alike(rows)
    order = np.flatnonzero(over)[np.argsort(rows.x[over], kind="stable")]
    arrived_bps = rows.x[order] * (1 - loss[order])
    if arrived_bps.max() > (1 + tables.FLAT_RATIO) * arrived_bps.min():
        return _collapse(rows, arrived_bps)
    carried_bps = rows.x[~over].max(initial=0.0)
    if carried_bps > (1 + tables.FLAT_RATIO) * np.median(arrived_bps):
        return rows.without("offer-scatter")
    return _limit(rows, arrived_bps)


def _alike(rows: RowsLaw) -> RowsLaw:
    """Return losses that do not depend on the offered rate."""
    middle = float(np.median(rows.y))
    said = Sign("loss_ratio", middle, _TABLE)
    if rows.x.max() < tables.LEAST_SPAN * rows.x.min():
        return rows.without("offer-narrow", said)
    flat = replace(rows, law=lambda x: np.full(np.shape(x), middle))
    return flat.following(
        "the same loss", (said,), code="random-loss", variant="offer-flat", degrees=rows.y.size - 1
    )


def _collapse(rows: RowsLaw, arrived_bps: FloatArray) -> RowsLaw:
    """Return losses beyond which less arrives the more is offered."""
    if arrived_bps.size < LEAST_ROWS or not np.all(np.diff(arrived_bps) < 0):
        return rows.without("offer-scatter")
    ends = (
        Sign("most_bps", float(arrived_bps[0]), _TABLE),
        Sign("least_bps", float(arrived_bps[-1]), _TABLE),
    )
    return rows.following(
        "", ends, code="packet-rate", variant="offer-collapse", degrees=arrived_bps.size
    )


def _limit(rows: RowsLaw, arrived_bps: FloatArray) -> RowsLaw:
    """Fit the rate beyond which everything is lost: the loss there is ``1 - rate / offered``."""
    degrees = arrived_bps.size - 1
    scatter = float(np.log(arrived_bps).std(ddof=1)) if degrees else math.nan
    factor = math.exp(tables.student_t(degrees) * scatter / math.sqrt(arrived_bps.size))
    middle_bps = float(np.median(arrived_bps))
    low_bps, high_bps = middle_bps / factor, middle_bps * factor

    def beyond(rate_bps: float) -> Curve:
        return lambda x: np.asarray(np.maximum(0.0, 1 - rate_bps / x))

    drawn, variant = replace(rows, law=beyond(middle_bps)), "offer-few"
    if not math.isnan(factor):
        drawn, variant = replace(drawn, low=beyond(high_bps), high=beyond(low_bps)), "offer"
    signs = (
        Sign("capacity_bps", middle_bps, _FITTED, low=low_bps, high=high_bps),
        Sign("law_count", float(arrived_bps.size), _TABLE),
    )
    return drawn.following(
        "what exceeds one rate", signs, code="line", variant=variant, degrees=degrees
    )


def _distance(rows: RowsLaw) -> RowsLaw:
    """Fit a round trip to ``fixed + 2 x distance x stretch / speed in fibre``."""
    if np.unique(rows.x).size < LEAST_ROWS or rows.x.max() < tables.LEAST_SPAN * rows.x.min():
        return rows.without("distance-narrow")
    fitted = _straight(rows, np.asarray)
    ways = 1.0 if rows.column.lower().startswith(("one_way", "owd")) else 2.0
    light_s = ways * rows.x / SPEED_OF_LIGHT_M_S
    is_impossible = fitted is not None and ways / fitted.line.slope > SPEED_OF_LIGHT_M_S
    if (rows.y < light_s).any() and not is_impossible:
        row = int(np.argmax(light_s - rows.y))
        values = {"row_m": rows.x[row], "row_s": rows.y[row], "light_s": light_s[row]}
        early = (Sign(name, float(value), _TABLE) for name, value in values.items())
        return rows.without("distance-early", *early)
    if fitted is None:
        return _apart(rows, ways)
    stretch = fitted.slope_sign("stretch_ratio", float(signal_speed_m_s()) / ways)
    variant = "distance-impossible" if is_impossible else "rows"
    if stretch.value > MOST_STRETCH:
        variant = "distance-slow"
    return fitted.following(
        "fitted line",
        Sign("fixed_s", fitted.fixed, _FITTED),
        Sign("per_1000_km_s", 1e6 * fitted.line.slope, _FITTED),
        stretch,
        code="distance" if variant == "rows" else UNKNOWN_CAUSE,
        variant=variant,
    )


def _apart(rows: RowsLaw, ways: float) -> RowsLaw:
    """Return round trips without a line, each over that of a straight fibre."""
    stretches = rows.y * signal_speed_m_s() / (ways * np.maximum(rows.x, tables.LEAST_VALUE))
    rows = rows.flat_or("distance-scatter", flat="distance-flat")
    if rows.cause.variant == "distance-flat" or not rows.x.min() > 0:
        return rows
    rows = replace(rows, said=(Notice("distance-stretches", {"stretches": stretches.tolist()}),))
    times = rows.y[np.argsort(rows.x, kind="stable")]
    if np.any(times[1:] < times[:-1]):
        return rows
    ends = {"least_stretch": stretches.min(), "most_stretch": stretches.max()}
    return rows.without(
        "distance-growing", *(Sign(name, float(end), _TABLE) for name, end in ends.items())
    )


RANK_SHAPES: Mapping[str, Curve] = {
    "ranks-doubling": lambda ranks: np.asarray(np.log2(ranks)),
    "ranks-each": lambda ranks: np.asarray(ranks - 1.0),
    "ranks-ring": lambda ranks: np.asarray((ranks - 1.0) / ranks),
}
"""Steps of a collective: those of a tree or of doubling, those of a ring, and a ring's bytes."""
RANK_NAMES = {
    "ranks-doubling": "each doubling", "ranks-each": "each rank", "ranks-ring": "bytes of a ring",
}  # fmt: skip
CLEARLY_NEARER = 2.0
"""A shape is told from another where that one is off by this factor more. [ratio]"""


def _ranks(rows: RowsLaw) -> RowsLaw:
    """Fit the time of a collective to ``fixed + slope x shape``, by the shape that is nearest.

    A time that falls is that of work that the ranks share; a single rank is one of its rows.
    """
    if (shared := _shared(rows)) is not None:
        return shared
    several = rows.x >= LEAST_RANKS
    x, y = rows.x[several], rows.y[several]
    if not x.size:
        return rows.without("ranks-narrow")
    rows = replace(rows, x=x, y=y, cause=_range(x, "1"))
    if np.unique(rows.x).size < LEAST_ROWS:
        return rows.without("ranks-narrow")
    near = {
        name: fit
        for name, shape in RANK_SHAPES.items()
        if (fit := _straight(rows, shape, surely=False)) is not None
    }
    if not any(fit.is_rising for fit in near.values()):
        return rows.flat_or("ranks-scatter", flat="ranks-flat")
    first, *others = sorted(near, key=lambda name: near[name].mean_off)
    fitted = near[first]
    is_clear = all(
        near[name].mean_off >= CLEARLY_NEARER * max(fitted.mean_off, tables.LEAST_OFF)
        for name in others
    )
    return fitted.following(
        RANK_NAMES[first],
        Sign("fixed_s", fitted.fixed, _FITTED),
        fitted.slope_sign("slope_s"),
        code=UNKNOWN_CAUSE,
        variant=first if is_clear else "ranks-either",
        is_sure=is_clear,
    )


def _shared(rows: RowsLaw) -> RowsLaw | None:
    """Fit a time that falls with the ranks to ``fixed + slope / ranks`` (Amdahl), or None."""
    if rows.y.max() <= (1 + tables.FITTED_TOLERANCE) * rows.y.min():
        return None
    fitted = _straight(rows, lambda ranks: np.asarray(1 / ranks))
    if fitted is None or np.unique(rows.x).size < LEAST_ROWS:
        return None
    fixed, slope = fitted.fixed, fitted.slope_sign("slope_s")
    signs: tuple[Sign, ...] = (slope,)
    if fixed > 0:
        alone_s = fixed + slope.value
        values = {
            "fixed_s": fixed, "serial_ratio": fixed / alone_s, "most_gain": alone_s / fixed,
        }  # fmt: skip
        signs = (*(Sign(name, value, _FITTED) for name, value in values.items()), slope)
    return fitted.following(
        "shared work", *signs, code=UNKNOWN_CAUSE,
        variant="ranks-shared" if fixed > 0 else "ranks-shared-all",
    )  # fmt: skip


LEAST_RANKS = 2.0
"""A single rank exchanges nothing. [1]"""
LAWS = (
    Law(x_role="rank_count", y_role="delay_s", x_axis=("ranks", "1"), y_axis=("time", "s"),
        fit=_ranks, least_x=1.0),
    Law(x_role="load_ratio", y_role="delay_s", x_axis=("load", "ratio"), y_axis=("delay", "s"),
        fit=_queue, least_x=0.0),
    Law(x_role="offered_bps", y_role="loss_ratio", x_axis=("offered rate", "bit/s"),
        y_axis=("loss", "ratio"), fit=_overload),
    Law(x_role="offered_load_bps", y_role="trip_s", x_axis=("offered rate", "bit/s"),
        y_axis=("delay", "s"), fit=_offered_queue),
    Law(x_role="distance_m", y_role="trip_s", x_axis=("distance", "m"),
        y_axis=("delay", "s"), fit=_distance, least_x=0.0),
)  # fmt: skip
"""The pairs of columns that a law joins."""
