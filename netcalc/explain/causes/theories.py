"""Theory to draw on the points of a table: ceilings, costs, or the law that its rows follow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.explain import tables
from netcalc.explain.causes.laws import LawTable, laws_of
from netcalc.explain.causes.responses import RateRows, rate_rows, responses_of
from netcalc.explain.evidence import Evidence, Known
from netcalc.explain.frame_tables import Frames, frames_of
from netcalc.explain.rate_limits import line_ceiling_bps
from netcalc.models.rates import line_rate
from netcalc.rate_layers import ETHERNET_LINE, FRAME, PAYLOAD, UNKNOWN, named
from netcalc.samples import BulkSamples, Samples, Table
from netcalc.units import show_rate

CURVE_POINTS = 101
UNNAMED = "measured"
"""The series of a table that names none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableTheory:
    """Points of a table and curves of theory over the same axis.

    ``points`` has x and y of each series; ``laws`` has y at ``x`` of the curves of each series by
    their names, ``ceilings`` of those that all series have. All are in SI units. ``bands`` has the
    ends of the 95% interval of a series' law at ``x``, where it is known.
    """

    x_name: str
    x_unit: str
    y_name: str
    y_unit: str
    x: FloatArray
    points: Mapping[str, tuple[FloatArray, FloatArray]]
    laws: Mapping[str, Mapping[str, FloatArray]]
    ceilings: Mapping[str, FloatArray] = field(default_factory=dict)
    bands: Mapping[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @property
    def lines(self) -> Mapping[str, FloatArray]:
        """All curves by their names; those of a series have its name in front."""
        own = {
            name if series == UNNAMED else f"{series}: {name}": curve
            for series, curves in self.laws.items()
            for name, curve in curves.items()
        }
        return {**self.ceilings, **own}

    @property
    def predictions(self) -> Mapping[str, tuple[str, FloatArray]]:
        """What the points of each series should be: its curve, or the lowest of its limits."""
        predictions = {}
        for series in self.points:
            limits = {**self.ceilings, **self.laws.get(series, {})}
            if limits:
                name = next(iter(limits)) if len(limits) == 1 else "the lowest of the limits"
                predictions[series] = name, np.min(list(limits.values()), axis=0)
        return predictions


@named_arguments
def table_theory(
    samples: Samples, stated: Known, *, points_alone: bool = False
) -> TableTheory | None:
    """Return the theory to draw on the points of a table.

    Parameters
    ----------
    samples : Samples
        A table of writes, of pairs, of frame sizes, or of a rate against round trip, window or
        loss.
    stated : Known
        ``line_bps`` adds the line's ceiling.
    points_alone : bool
        Whether rows that follow no law are returned, too, without a curve.

    Returns
    -------
    TableTheory or None
        None for anything else, and for tables with a single position on their axis; without
        ``points_alone`` for those without a curve.
    """
    if isinstance(samples, BulkSamples):
        samples = tables.table_of_settings(samples) or samples
    if not isinstance(samples, Table):
        return None
    frames, pairs, writes = frames_of(samples), tables.pairs_of(samples), tables.writes_of(samples)
    theory = None
    if frames is not None:
        theory = _of_frames(frames, stated)
    elif pairs is not None:
        theory = _of_pairs(pairs, stated)
    elif writes is not None:
        theory = _of_writes(writes)
    elif (responses := (rate_rows if points_alone else responses_of)(samples)) is not None:
        theory = _of_responses(responses, stated)
    elif (of_laws := laws_of(samples, stated)) is not None:
        theory = _of_laws(of_laws)
    if theory is None or not (theory.lines or points_alone):
        return None
    return theory if np.ptp(theory.x) > 0 else None


def _grid(values: FloatArray) -> FloatArray:
    """Return positions from the least to the largest value, the values among them."""
    if not values.size:
        return np.zeros(1)
    ends = values.min(), values.max()
    between = [np.linspace(*ends, CURVE_POINTS)]
    if ends[0] > 0:
        between.append(np.geomspace(*ends, CURVE_POINTS))  # for an axis of logarithms
    return np.unique(np.concatenate([values, *between]))


def _corners(x: FloatArray, law: FloatArray, cap: float) -> FloatArray:
    """Return where a law reaches a cap, straight over logarithms between two positions of a grid.

    Without these a curve would cut the corner.
    """
    if not math.isfinite(cap):
        return np.zeros(0)
    with np.errstate(divide="ignore"):
        apart = np.log(law / cap)
    is_above, is_finite = apart > 0, np.isfinite(apart)
    before = np.flatnonzero((is_above[:-1] != is_above[1:]) & is_finite[:-1] & is_finite[1:])
    share = apart[before] / (apart[before] - apart[before + 1])
    return np.asarray(x[before] * (x[before + 1] / x[before]) ** share)


def _line_ceiling(x: FloatArray, stated: Known) -> dict[str, FloatArray]:
    """Return what the line allows at each position, if it is stated."""
    ceiling = line_ceiling_bps(Evidence(), stated)
    return {} if math.isnan(ceiling) else {"the line": np.full(x.size, ceiling)}


def _of_frames(frames: Frames, stated: Known) -> TableTheory:
    rows = np.concatenate(list(frames.rows.values()))
    x = _grid(frames.frame_bytes[rows])
    counted = x
    if frames.is_payload:
        headers = np.median(frames.frame_bytes[rows] - frames.counted_bytes[rows])
        counted = np.maximum(x - headers, 0.0)
    ceilings = {}
    if stated.line_bps is not None:
        line = line_rate.frame_rate_pps(x, bandwidth_bps=stated.line_bps)
        ceilings["the line"] = 8 * counted * line
    points: dict[str, tuple[FloatArray, FloatArray]] = {}
    laws: dict[str, dict[str, FloatArray]] = {}
    for name, at in frames.rows.items():
        series = name or UNNAMED
        rates = 8 * frames.counted_bytes[at] * frames.rate_pps[at]
        points[series] = (frames.frame_bytes[at], rates)
        own = laws[series] = {}
        likely = frames.with_likely_line(name, stated)
        if likely.line_bps is not None and likely.line_bps != stated.line_bps:
            line = line_rate.frame_rate_pps(x, bandwidth_bps=likely.line_bps)
            of_line = f"a line of {show_rate(likely.line_bps, ETHERNET_LINE)}"
            own[of_line] = 8 * counted * line
        device = frames.device(name, likely)
        rates = 8 * counted * device.at(x)
        if np.isfinite(rates).any():
            limit = "the device"
            if not math.isnan(device.implied_bps):
                limit = f"a line of {show_rate(device.implied_bps, ETHERNET_LINE)}"
            own[limit] = rates
    return TableTheory(
        x_name="frame with FCS", x_unit="byte",
        y_name=named("goodput", PAYLOAD)
        if frames.is_payload
        else named("rate", FRAME if frames.is_layer_said else UNKNOWN),
        y_unit="bit/s",
        x=x, points=points, laws=laws, ceilings=ceilings,
    )  # fmt: skip


def _of_pairs(pairs: tables.Pairs, stated: Known) -> TableTheory:
    rows = np.concatenate(list(pairs.rows.values()))
    x = _grid(pairs.count[rows])
    points, laws = {}, {}
    for name in pairs.rows:
        caps = (pairs.most_bps(name) or (math.nan,))[0], line_ceiling_bps(Evidence(), stated)
        corners = [_corners(x, x * pairs.each_bps(name)[0], cap) for cap in caps]
        x = np.unique(np.concatenate([x, *corners]))
    for name, at in pairs.rows.items():
        series = name or UNNAMED
        points[series] = (pairs.count[at], pairs.rate_bps[at])
        if pairs.is_falling(name):
            continue
        laws[series] = {f"{pairs.noun}s alike": x * pairs.each_bps(name)[0]}
        most = pairs.most_bps(name)
        if most is not None:
            laws[series]["all together"] = np.full(x.size, most[0])
    return TableTheory(
        x_name=f"{pairs.noun}s", x_unit="1", y_name=named("goodput", PAYLOAD), y_unit="bit/s",
        x=x, points=points, laws=laws, ceilings=_line_ceiling(x, stated),
    )  # fmt: skip


_AXES = {
    "response_rtt_s": ("round trip", "a window"), "window_bytes": ("window", "one round trip"),
    "loss_ratio": ("loss", "Reno"),
}  # fmt: skip
_FULL = "the rate that no longer grows"


def _of_responses(responses: RateRows, stated: Known) -> TableTheory:
    rows = np.concatenate([*responses.rows.values(), responses.stalled])
    shown = responses.x[rows]
    x = _grid(shown)
    x_name, law = _AXES[responses.role]
    ceiling = line_ceiling_bps(Evidence(), stated)
    for each in responses.bends.values():
        cap = each.cap_bps if math.isnan(ceiling) else ceiling
        x = np.union1d(x, _corners(x, each.law_bps(x), cap))
    points, laws, bands = {}, {}, {}
    for name, at in responses.rows.items():
        series = name or UNNAMED
        shown_at = np.union1d(at, responses.stalled) if len(responses.rows) == 1 else at
        points[series] = (responses.x[shown_at], responses.rate_bps[shown_at])
        bend = responses.bends.get(name)
        if bend is None:
            continue
        error = responses.error_factor(name)
        cap = bend.cap_bps if math.isnan(ceiling) else ceiling
        of_law = {"-pftk": "Reno with timeouts", "-cubic": "CUBIC"}.get(bend.law.name, law)
        laws[series] = {of_law: np.minimum(bend.law_bps(x), cap)}
        if math.isnan(ceiling) and (laws[series][of_law] == cap).any():
            laws[series] = {of_law: bend.law_bps(x), _FULL: np.full(x.size, cap)}
        if error < math.inf:
            low, high = (np.minimum(bend.law_bps(x) * by, cap) for by in (1 / error, error))
            bands[series] = (low, high)
    return TableTheory(
        x_name=x_name, x_unit=responses.unit, y_name=named("goodput", PAYLOAD), y_unit="bit/s", x=x,
        points=points, laws=laws, ceilings=_line_ceiling(x, stated), bands=bands,
    )  # fmt: skip


def _of_laws(table: LawTable) -> TableTheory:
    x = _grid(np.concatenate([rows.x for rows in table.series.values()]))
    points, laws, bands = {}, {}, {}
    for name, rows in table.series.items():
        series = name or UNNAMED
        points[series] = (rows.x, rows.y)
        if rows.law is not None:
            laws[series] = {rows.name: rows.law(x)}
            if rows.low is not None and rows.high is not None:
                bands[series] = (rows.low(x), rows.high(x))
    (x_name, x_unit), (y_name, y_unit) = table.law.x_axis, table.law.y_axis
    return TableTheory(
        x_name=x_name, x_unit=x_unit, y_name=y_name, y_unit=y_unit, x=x, points=points,
        laws=laws, bands=bands,
    )  # fmt: skip


def _of_writes(writes: tables.Writes) -> TableTheory | None:
    if not writes.rows:
        return None
    rows = np.concatenate(list(writes.rows.values()))
    x = _grid(writes.size_bytes[rows])
    points, laws, bands = {}, {}, {}
    for name, at in writes.rows.items():
        series = name or UNNAMED
        points[series] = (writes.size_bytes[at], writes.write_s[at])
        costs = writes.costs(name)
        if costs is not None:
            law, margin = costs.predict(x), costs.margin(x)
            laws[series] = {"costs": law}
            if np.isfinite(margin).all():
                bands[series] = (law - margin, law + margin)
    return TableTheory(
        x_name="size of a write", x_unit="byte", y_name="time of a write", y_unit="s", x=x,
        points=points, laws=laws, bands=bands,
    )  # fmt: skip
