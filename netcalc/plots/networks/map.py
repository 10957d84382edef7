"""A map of a planned network: each direction by its load, what is full, and the worst failure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, GlyphRenderer, MultiLine, Text
from bokeh.plotting import figure

from netcalc import units
from netcalc.checks import FloatArray
from netcalc.planning.network import NetworkPlan
from netcalc.planning.network.failures import FailureCase
from netcalc.planning.network.graphs import places
from netcalc.planning.network.page import arc_rows, order
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    FONT,
    FULL,
    INKS,
    LOADS,
    PAPERS,
    Axis,
    Theme,
    add_hover,
    add_legend,
    add_points,
    new_figure,
    new_source,
)
from netcalc.printable import printable
from netcalc.rate_layers import LINE

MOST_NAMES = 40
"""Up to as many nodes have their names on the map; hovering has those of the links. [1]"""
MOST_POINTS = 150
"""Up to as many nodes are points; of more the lines are the map. [1]"""
_STEPS = (0.25, 0.5, 0.75)
_WIDTHS = (2.0, 3.5, 5.0, 6.5, 8.0)
_TITLE = "Load of the links; each half is the direction that begins there"
_HEIGHT = 460
_BOW = 0.04
"""How far parallel links are from each other in their middle, of the side of the map."""
_ABOVE = 0.045
"""How far the name of a node is above or below it, of the side of the map."""
_LONGEST = 18
_MANY = 200
"""From as many links on lines are half as thick, and the least loaded ones faint. [1]"""
_FAINT = 0.4


def network_map(plan: NetworkPlan, *, theme: Theme = "light") -> Plot:
    """Draw the links of a network by the load that each direction has without a failure.

    A direction is the half of its link at the node where it begins; a link of one direction is
    drawn whole.

    Parameters
    ----------
    plan : NetworkPlan
        As :func:`netcalc.planning.network.plan` returns it.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Sources by classes of load, ``load from 0% to 25%``, ``load of 100% and more`` (columns
        ``xs``, ``ys`` and texts for hovering), ``nodes``, ``names``, ``full now``, and of the
        worst failure ``failed``, ``failed at`` and ``full then`` (``x``, ``y``).
    """
    at, kind = places(plan.network)
    lines = _lines(plan, at)
    rows = dict(zip(order(plan).tolist(), arc_rows(plan), strict=True))
    classes = _classes(plan)
    sources = {}
    for name, arcs in classes.items():
        sources[name] = new_source(name, _columns(plan, [rows[n] for n in arcs], lines[arcs]))
    middles = lines.mean(axis=1)
    full = plan.load_ratio >= plan.settings.full_at_ratio
    marks: dict[str, Any] = {"full now": middles[full]}
    worst = plan.worst_first[0] if plan.failures else None
    case = None if worst is None else plan.cases[worst.case]
    if worst is not None and case is not None:
        then = plan.ratio_after(worst.case) >= plan.settings.full_at_ratio
        marks["failed at"] = _failed_at(case, at, lines)
        marks["full then"] = middles[then & ~full]
    if len(plan.network.nodes) <= MOST_POINTS:
        marks["nodes"] = at
    for name, points in marks.items():
        columns = {"x": points[:, 0], "y": points[:, 1]}
        sources[name] = new_source(name, ready(columns))
    if case is not None:
        failed = {"xs": lines[case.arcs, :, 0].tolist(), "ys": lines[case.arcs, :, 1].tolist()}
        sources["failed"] = new_source("failed", failed)
    if len(plan.network.nodes) <= MOST_NAMES:
        beside = {"x": at[:, 0], "y": at[:, 1] + _ABOVE * _free_side(plan, at)}
        names = [_short(one) for one in plan.network.nodes]
        sources["names"] = new_source("names", ready({**beside, "text": names}))
    text = f"Map of {len(plan.network.nodes):,} nodes, {_WHERE[kind]}: "
    text += ", ".join(f"{name}: {len(arcs):,}" for name, arcs in classes.items() if len(arcs))
    labels = _labels(plan, case)
    draw = partial(_draw, sources, list(classes), labels, len(plan.network.links) >= _MANY, theme)
    return Plot(draw, sources, f"{text} directions.", theme)


_WHERE = {
    "plane": "at their coordinates",
    "globe": "at their coordinates",
    "layout": "in a layout of its links, as they have no coordinates",
}


def _labels(plan: NetworkPlan, case: FailureCase | None) -> dict[str, str]:
    limit = units.show(plan.settings.full_at_ratio, "ratio")
    found = {"full now": f"full: {limit} and more"}
    if case is not None:
        name = _short(case.shown)
        found |= {"failed": f"the worst failure: {name}", "full then": f"full if {name} fails"}
    return found


def _lines(plan: NetworkPlan, at: FloatArray) -> FloatArray:
    """Return the line of each arc, shape (A, 3, 2): parallel links bow, each to its own side."""
    arcs = plan.arcs
    begin, end = at[arcs.tail], at[arcs.head]
    along = end - begin
    # The same side for both directions of a link.
    sign = np.where(arcs.tail < arcs.head, 1.0, -1.0)[:, None]
    across = sign * np.column_stack([-along[:, 1], along[:, 0]])
    length = np.hypot(*across.T)[:, None]
    across = across / np.where(length > 0.0, length, 1.0)
    number = plan.parallel
    pair = np.minimum(arcs.tail, arcs.head) * arcs.node_count + np.maximum(arcs.tail, arcs.head)
    _, index = np.unique(pair, return_inverse=True)
    most = np.zeros(arcs.count)
    np.maximum.at(most, index, number)
    most = most[index]
    bow = np.where(number > 0, (number - (most + 1) / 2.0) * _BOW, 0.0)[:, None]
    middle = (begin + end) / 2.0 + bow * across
    both = np.bincount(plan.link_of)[plan.link_of] == 2
    quarter = (begin + middle) / 2.0
    half = np.stack([begin, quarter, middle], axis=1)
    whole = np.stack([begin, middle, end], axis=1)
    return np.where(both[:, None, None], half, whole)


def _free_side(plan: NetworkPlan, at: FloatArray) -> FloatArray:
    """Return 1 where the name of a node is above it, -1 where more links are there than below."""
    rise = at[plan.arcs.head, 1] - at[plan.arcs.tail, 1]
    nodes = len(plan.network.nodes)
    up = np.bincount(plan.arcs.tail, rise > 0.0, nodes) + np.bincount(
        plan.arcs.head, rise < 0, nodes
    )
    down = np.bincount(plan.arcs.tail, rise < 0.0, nodes) + np.bincount(
        plan.arcs.head, rise > 0.0, nodes
    )
    return np.where(up > down, -1.0, 1.0)


def _failed_at(case: FailureCase, at: FloatArray, lines: FloatArray) -> FloatArray:
    """Return where what fails is marked: the node, or the middle of each link."""
    if case.kind == "node":
        return at[[case.number]]
    return np.unique(lines[case.arcs, -1].round(9), axis=0)


def _classes(plan: NetworkPlan) -> dict[str, list[int]]:
    """Return the arcs of each class of load, up to what counts as full and from there."""
    full = plan.settings.full_at_ratio
    edges = [0.0, *(one for one in _STEPS if one < full), full, np.inf]
    index = np.digitize(plan.load_ratio, edges) - 1
    found = {}
    for number, (low, high) in enumerate(itertools.pairwise(edges)):
        first, last = (units.show(one, "ratio") for one in (low, high if high < np.inf else low))
        name = f"load of {first} and more" if high == np.inf else f"load from {first} to {last}"
        found[name] = np.flatnonzero(index == number).tolist()
    return found


def _columns(
    plan: NetworkPlan, rows: Sequence[Mapping[str, Any]], lines: FloatArray
) -> dict[str, list[Any]]:
    return {
        "xs": lines[:, :, 0].tolist(),
        "ys": lines[:, :, 1].tolist(),
        "direction": [f"{one['from']} to {one['to']}" for one in rows],
        "link": [f"{one['link']}, {units.show_rate(one['rate_bps'], LINE)}" for one in rows],
        "load": [_number(one, "load_ratio", "ratio") for one in rows],
        "delay": [_number(one, "delay_s", "s") for one in rows],
        "failure": [one["failure"] or "no failure" for one in rows],
        "then": [_number(one, "failure_load_ratio", "ratio") for one in rows],
        "date": [_day(plan, one["full_on"]) for one in rows],
        "date_then": [_day(plan, one["failure_full_on"]) for one in rows],
    }


def _number(row: Mapping[str, Any], name: str, unit: str) -> str:
    """Return a number as people read it; of a range its median and ends."""
    if not np.isfinite(row[name]):
        return "no end"
    shown = units.show(row[name], unit, digits=3)
    if "ranges" not in row:
        return shown
    low, middle, high = (
        units.show(row["ranges"][name][p], unit, digits=3) for p in ("p5", "median", "p95")
    )
    return middle if low == high else f"{middle} ({low} to {high})"


def _day(plan: NetworkPlan, on: str | None) -> str:
    if on == plan.settings.start.isoformat():
        return "now"
    return on or "not within 100 years"


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _draw(
    sources: Mapping[str, ColumnDataSource],
    classes: Sequence[str],
    labels: Mapping[str, str],
    many: bool,
    theme: Theme,
) -> figure:
    chart = new_figure(Axis("", "1"), Axis("", "1"), title=_TITLE,
                       height=_HEIGHT)  # fmt: skip
    chart.match_aspect = True
    for along in (chart.x_range, chart.y_range):
        along.range_padding = 0.15
    for axis, grid in zip((*chart.xaxis, *chart.yaxis), (*chart.xgrid, *chart.ygrid), strict=True):
        axis.visible = grid.visible = False
    ink, paper = INKS[theme], PAPERS[theme]
    drawn: dict[str, GlyphRenderer] = {}
    blues = LOADS[theme]
    lines = []
    for number, name in enumerate(classes):
        last = number == len(classes) - 1
        color = FULL[theme] if last else blues[number]
        width = _WIDTHS[-1 if last else number] / (2.0 if many else 1.0)
        alpha = _FAINT if many and number == 0 and not last else 1.0
        line = MultiLine(xs="xs", ys="ys", line_color=color, line_width=width, line_alpha=alpha)
        drawn[name] = chart.add_glyph(sources[name], line, name=name)
        lines.append(drawn[name])
    add_hover(
        chart, lines,
        [("direction", "direction", "text"), ("link", "link", "text"), ("load", "load", "text"),
         ("mean delay", "delay", "text"), ("full on", "date", "text"),
         ("worst for it", "failure", "text"), ("load then", "then", "text"),
         ("full then on", "date_then", "text")],
    )  # fmt: skip
    entries = [(name, [drawn[name]]) for name in classes]
    if "failed" in sources:
        dashes = MultiLine(xs="xs", ys="ys", line_color=ink, line_width=2, line_dash=[5, 4])
        gone = chart.add_glyph(sources["failed"], dashes, name="failed")
        cross = add_points(chart, sources["failed at"], marker="x", color=ink)
        entries.append((labels["failed"], [gone, cross]))
        then = add_points(chart, sources["full then"], marker="inverted_triangle", color=ink)
        entries.append((labels["full then"], [then]))
    now = add_points(chart, sources["full now"], marker="diamond", color=ink)
    entries.append((labels["full now"], [now]))
    if "nodes" in sources:
        points = add_points(chart, sources["nodes"], marker="circle", color=ink)
        points.glyph.update(size=9, fill_color=paper, fill_alpha=1.0)
    if "names" in sources:
        words = Text(
            x="x", y="y", text="text", text_align="center", text_baseline="middle",
            text_color=ink, text_font={"value": FONT}, text_font_size="13px",
        )  # fmt: skip
        chart.add_glyph(sources["names"], words)
    add_legend(chart, entries)
    return chart
