"""Figures of plans: the curve with the chosen point, and a planned network as a map and as bars."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from bokeh import models
from bokeh.plotting import figure

from netcalc import planning, units
from netcalc.checks import FloatArray, named_arguments
from netcalc.language import phrase, term
from netcalc.planning.network import NetworkPlan, facts, routing
from netcalc.planning.network.page import arc_rows, order, sentences
from netcalc.planning.page import label, long_time
from netcalc.plots import formula, style
from netcalc.plots.limits import binding_map
from netcalc.plots.overlay import curves
from netcalc.plots.plot import Plot, ready, together
from netcalc.printable import printable
from netcalc.rate_layers import LINE

_TITLES = {
    "buy": term("What limits the transfer"),
    "link": term("What the links are for their users"),
}
_PERCENTILES = (5.0, 50.0, 95.0)
_DECADE = 10.0


@named_arguments
def plan(page: planning.Plan, *, theme: style.Theme = "light") -> Plot:
    """Draw a plan: a curve with the point of its answer; with ranges also their distribution.

    Parameters
    ----------
    page : Plan
        What a function of :mod:`netcalc.planning` returns.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        A source for each curve and each mark; ``draws`` for the distribution.
    """
    chart = page.chart
    if isinstance(chart, planning.BindingMap):
        return binding_map(chart, title=_TITLES[page.name], theme=theme)
    chart = _in_long_times(chart)
    x_axis = style.Axis(label(chart.x), chart.x_unit, "log" if chart.log_x else "linear")
    y_axis = _y_axis(chart)
    text = page.sentence
    drawn = curves(
        chart.at,
        {label(name): y for name, y in chart.lines.items()},
        x_axis=x_axis,
        y_axis=y_axis,
        points={_mark(name, chart.lines): ([x], [y]) for name, (x, y) in chart.marks.items()},
        title=phrase(
            "{capitalize}: {label} over {label_2}",
            capitalize=page.name.capitalize(),
            label=label(chart.y),
            label_2=label(chart.x),
        ),
        description=text,
        theme=theme,
    )
    first = page.main_answer
    if first.spread is None:
        return drawn
    layer = f" ({first.layer})" if first.layer else ""
    median = first.spread.percentile(50.0)
    size, unit = long_time(median) if first.unit == "s" else (1.0, first.unit)
    return together(
        drawn,
        formula.distribution(
            first.spread.samples / size,
            axis=style.Axis(f"{first.label}{layer}", unit),
            percentiles={
                percent: first.spread.percentile(percent) / size for percent in _PERCENTILES
            },
            title=first.label.capitalize(),
            theme=theme,
        ),
    )


def _in_long_times(chart: planning.Chart) -> planning.Chart:
    """Return a chart whose long times are in minutes, hours or days, as the page has them."""
    ends = [y for _, y in chart.marks.values() if math.isfinite(y)]
    size, unit = long_time(min(ends, default=0.0)) if chart.y_unit == "s" else (1.0, "")
    if size == 1.0:
        return chart
    return replace(
        chart,
        y_unit=unit,
        lines={name: y / size for name, y in chart.lines.items()},
        marks={name: (x, y / size) for name, (x, y) in chart.marks.items()},
    )


def _y_axis(chart: planning.Chart) -> style.Axis:
    """Return the axis of the answers; a logarithmic one shows a decade where they hardly differ."""
    if not chart.log_y:
        return style.Axis(label(chart.y), chart.y_unit)
    values = np.concatenate([np.asarray(y) for y in chart.lines.values()])
    positive = values[np.isfinite(values) & (values > 0.0)]
    low, high = (positive.min(), positive.max()) if positive.size else (1.0, 1.0)
    if high >= _DECADE * low:
        return style.Axis(label(chart.y), chart.y_unit, "log")
    middle, half = math.sqrt(low * high), math.sqrt(_DECADE)
    return style.Axis(label(chart.y), chart.y_unit, "log", middle / half, middle * half)


def _mark(name: str, lines: Iterable[str]) -> str:
    """Return the name of a mark, which no line may have."""
    shown = label(name)
    return phrase("{shown}, planned", shown=shown) if shown in map(label, lines) else shown


@named_arguments
def network(plan: NetworkPlan, *, theme: style.Theme = "light") -> Plot:
    """Draw a planned network: a map, and below it a bar for the load of each direction.

    Parameters
    ----------
    plan : NetworkPlan
        As :func:`netcalc.planning.network.plan` returns it.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Sources of the map: one for each class of load (columns ``xs``, ``ys`` and texts for
        hovering), ``full now``, ``failed``, ``failed at``, ``full then``, and in small networks
        ``nodes`` and ``names``. Of the bars: ``load``, ``worst failure``, ``full``, and with ranges
        ``p5 to p95`` and ``p5 to p95 after the failure``.
    """
    return together(network_map(plan, theme=theme), bars(plan, theme=theme))


MOST_LINKS = 25
"""Directions of links that are drawn, those with the highest load after a failure."""
_ROW_HEIGHT, _EDGES = 30, 150
_LONGEST_BESIDE_BAR = 10
"""Characters of the name of a node beside a bar; hovering shows the whole name."""


def bars(plan: NetworkPlan, *, theme: style.Theme = "light") -> Plot:
    """Draw the load of the links of a planned network, without a failure and after the worst one.

    Parameters
    ----------
    plan : NetworkPlan
        As :func:`netcalc.planning.network.plan` returns it.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Sources ``load`` and ``worst failure`` (columns ``name``, ``link``, ``failure``, ``left``,
        ``right``, ``bottom``, ``top``), ``full`` (``x``, ``y``), and with ranges ``p5 to p95`` and
        ``p5 to p95 after the failure``.
    """
    rows = arc_rows(plan)[:MOST_LINKS]
    columns = {
        "load": _bars(rows, "load_ratio", top=0.36, bottom=0.04),
        "worst failure": _bars(rows, "failure_load_ratio", top=-0.04, bottom=-0.36),
    }
    if plan.ranges is not None:
        columns["p5 to p95"] = _ends(rows, "load_ratio", middle=0.2)
        columns["p5 to p95 after the failure"] = _ends(rows, "failure_load_ratio", middle=-0.2)
    sources = {name: style.new_source(name, ready(values)) for name, values in columns.items()}
    full = {"x": [plan.settings.full_at_ratio] * 2, "y": [0.5, -len(rows) + 0.5]}
    sources["full"] = style.new_source("full", ready(full))
    names = [_direction(row) for row in rows]
    text = " ".join(f"{sentence}." for sentence in sentences(plan)[:3])
    total = plan.arcs.count
    title = "Load of the links, and after the worst single failure"
    if total > len(rows):
        title += f": {len(rows)} of {total:,} directions"
    furthest = max(float(np.max(column["right"])) for column in columns.values())
    high = 1.05 * max(furthest, plan.settings.full_at_ratio)
    draw = partial(_draw_bars, sources, names, title, high, theme)
    return Plot(draw, sources, text, theme)


def _bars(rows: list[dict[str, Any]], name: str, *, top: float, bottom: float) -> dict[str, Any]:
    at = -np.arange(float(len(rows)))
    return {
        "name": [f"{row['from']} to {row['to']}" for row in rows],
        "link": [row["link"] for row in rows],
        "failure": [row["failure"] or "none" for row in rows],
        "left": np.zeros(len(rows)),
        "right": np.array([row[name] for row in rows]),
        "bottom": at + bottom,
        "top": at + top,
    }


def _ends(rows: list[dict[str, Any]], name: str, *, middle: float) -> dict[str, Any]:
    columns = _bars(rows, name, top=middle + 0.03, bottom=middle - 0.03)
    for column, percent in (("left", "p5"), ("right", "p95")):
        columns[column] = np.array([row["ranges"][name][percent] for row in rows])
    return columns


def _direction(row: Mapping[str, Any]) -> str:
    """Return the label of a bar; parallel links are numbered, in the order of the file."""
    begin, end = (_short(row[side], _LONGEST_BESIDE_BAR) for side in ("from", "to"))
    shown = f"{begin} → {end}"
    return f"{shown} #{row['parallel']}" if row["parallel"] else shown


def _short(name: str, longest: int) -> str:
    shown = printable(name)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _draw_bars(
    sources: Mapping[str, models.ColumnDataSource],
    names: list[str],
    title: str,
    high: float,
    theme: style.Theme,
) -> figure:
    count = len(names)
    x_axis = style.Axis("load over rate", "ratio", low=0.0, high=high)
    chart = style.new_figure(
        x_axis, style.Axis("", "1", low=-count + 0.5, high=0.5), title=title,
        height=_EDGES + _ROW_HEIGHT * count,
    )  # fmt: skip
    ticks = [-float(row) for row in range(count)]
    axis = chart.yaxis[0]
    axis.ticker = models.FixedTicker(ticks=ticks)
    axis.major_label_overrides = {
        tick: models.PlainText(text=name) for tick, name in zip(ticks, names, strict=True)
    }
    axis.axis_label = None
    chart.ygrid[0].visible = False
    palette, ink = style.PALETTES[theme], style.INKS[theme]
    drawn = {}
    looks = {"load": (palette[0], 0.8), "worst failure": (palette[1], 0.8)}
    for name, source in sources.items():
        if name == "full":
            continue
        colour, alpha = looks.get(name, (ink, 1.0))
        bar = models.Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=colour, fill_alpha=alpha, line_color=colour,
        )  # fmt: skip
        drawn[name] = chart.add_glyph(source, bar, name=name)
    style.add_hover(
        chart,
        [drawn["load"], drawn["worst failure"]],
        [("direction", "name", "text"), ("link", "link", "text"), ("load", "right", "ratio"),
         ("worst if this fails", "failure", "text")],
    )  # fmt: skip
    entries = [
        ("load", [drawn["load"]]),
        ("load after the failure that is the worst for it", [drawn["worst failure"]]),
    ]
    if "p5 to p95" in drawn:
        ends = [drawn["p5 to p95"], drawn["p5 to p95 after the failure"]]
        entries.append(("p5 to p95 of the draws", ends))
    line = style.add_line(
        chart, sources["full"], name="full", line_color=ink, line_dash=[6, 4], line_width=2
    )
    style.add_legend(chart, [*entries, ("full", [line])])
    return chart


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
_LONGEST_ON_MAP = 18
"""Characters of the name of a node on the map, and of a failure in a label."""
_MANY = 200
"""From as many links on lines are half as thick, and the least loaded ones faint. [1]"""
_FAINT = 0.4


def network_map(plan: NetworkPlan, *, theme: style.Theme = "light") -> Plot:
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
    at, kind = facts.places(plan.network)
    lines = _lines(plan, at)
    rows = dict(zip(order(plan).tolist(), arc_rows(plan), strict=True))
    classes = _classes(plan)
    sources = {}
    for name, arcs in classes.items():
        sources[name] = style.new_source(name, _columns(plan, [rows[n] for n in arcs], lines[arcs]))
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
        sources[name] = style.new_source(name, ready(columns))
    if case is not None:
        failed = {"xs": lines[case.arcs, :, 0].tolist(), "ys": lines[case.arcs, :, 1].tolist()}
        sources["failed"] = style.new_source("failed", failed)
    if len(plan.network.nodes) <= MOST_NAMES:
        beside = {"x": at[:, 0], "y": at[:, 1] + _ABOVE * _free_side(plan, at)}
        names = [_short(node, _LONGEST_ON_MAP) for node in plan.network.nodes]
        sources["names"] = style.new_source("names", ready({**beside, "text": names}))
    text = f"Map of {len(plan.network.nodes):,} nodes, {_WHERE[kind]}: "
    text += ", ".join(f"{name}: {len(arcs):,}" for name, arcs in classes.items() if len(arcs))
    labels = _labels(plan, case)
    draw = partial(
        _draw_map, sources, list(classes), labels, len(plan.network.links) >= _MANY, theme
    )
    return Plot(draw, sources, f"{text} directions.", theme)


_WHERE = {
    "plane": "at their coordinates",
    "globe": "at their coordinates",
    "layout": "in a layout of its links, as they have no coordinates",
}


def _labels(plan: NetworkPlan, case: routing.FailureCase | None) -> dict[str, str]:
    limit = units.show(plan.settings.full_at_ratio, "ratio")
    labels = {"full now": f"full: {limit} and more"}
    if case is not None:
        name = _short(case.shown, _LONGEST_ON_MAP)
        labels |= {"failed": f"the worst failure: {name}", "full then": f"full if {name} fails"}
    return labels


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


def _failed_at(case: routing.FailureCase, at: FloatArray, lines: FloatArray) -> FloatArray:
    """Return where what fails is marked: the node, or the middle of each link."""
    if case.kind == "node":
        return at[[case.number]]
    return np.unique(lines[case.arcs, -1].round(9), axis=0)


def _classes(plan: NetworkPlan) -> dict[str, list[int]]:
    """Return the arcs of each class of load, up to what counts as full and from there."""
    full = plan.settings.full_at_ratio
    edges = [0.0, *(step for step in _STEPS if step < full), full, np.inf]
    index = np.digitize(plan.load_ratio, edges) - 1
    classes = {}
    for number, (low, high) in enumerate(itertools.pairwise(edges)):
        first, last = (units.show(step, "ratio") for step in (low, high if high < np.inf else low))
        name = f"load of {first} and more" if high == np.inf else f"load from {first} to {last}"
        classes[name] = np.flatnonzero(index == number).tolist()
    return classes


def _columns(
    plan: NetworkPlan, rows: Sequence[Mapping[str, Any]], lines: FloatArray
) -> dict[str, list[Any]]:
    return {
        "xs": lines[:, :, 0].tolist(),
        "ys": lines[:, :, 1].tolist(),
        "direction": [f"{row['from']} to {row['to']}" for row in rows],
        "link": [f"{row['link']}, {units.show_rate(row['rate_bps'], LINE)}" for row in rows],
        "load": [_number(row, "load_ratio", "ratio") for row in rows],
        "delay": [_number(row, "delay_s", "s") for row in rows],
        "failure": [row["failure"] or "no failure" for row in rows],
        "then": [_number(row, "failure_load_ratio", "ratio") for row in rows],
        "date": [_day(plan, row["full_on"]) for row in rows],
        "date_then": [_day(plan, row["failure_full_on"]) for row in rows],
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


def _draw_map(
    sources: Mapping[str, models.ColumnDataSource],
    classes: Sequence[str],
    labels: Mapping[str, str],
    many: bool,
    theme: style.Theme,
) -> figure:
    chart = style.new_figure(style.Axis("", "1"), style.Axis("", "1"), title=_TITLE,
                       height=_HEIGHT)  # fmt: skip
    chart.match_aspect = True
    for along in (chart.x_range, chart.y_range):
        along.range_padding = 0.15
    for axis, grid in zip((*chart.xaxis, *chart.yaxis), (*chart.xgrid, *chart.ygrid), strict=True):
        axis.visible = grid.visible = False
    ink, paper = style.INKS[theme], style.PAPERS[theme]
    drawn: dict[str, models.GlyphRenderer] = {}
    blues = style.LOADS[theme]
    lines = []
    for number, name in enumerate(classes):
        last = number == len(classes) - 1
        color = style.FULL[theme] if last else blues[number]
        width = _WIDTHS[-1 if last else number] / (2.0 if many else 1.0)
        alpha = _FAINT if many and number == 0 and not last else 1.0
        line = models.MultiLine(
            xs="xs", ys="ys", line_color=color, line_width=width, line_alpha=alpha
        )
        drawn[name] = chart.add_glyph(sources[name], line, name=name)
        lines.append(drawn[name])
    style.add_hover(
        chart, lines,
        [("direction", "direction", "text"), ("link", "link", "text"), ("load", "load", "text"),
         ("mean delay", "delay", "text"), ("full on", "date", "text"),
         ("worst for it", "failure", "text"), ("load then", "then", "text"),
         ("full then on", "date_then", "text")],
    )  # fmt: skip
    entries = [(name, [drawn[name]]) for name in classes]
    if "failed" in sources:
        dashes = models.MultiLine(xs="xs", ys="ys", line_color=ink, line_width=2, line_dash=[5, 4])
        gone = chart.add_glyph(sources["failed"], dashes, name="failed")
        cross = style.add_points(chart, sources["failed at"], marker="x", color=ink)
        entries.append((labels["failed"], [gone, cross]))
        then = style.add_points(chart, sources["full then"], marker="inverted_triangle", color=ink)
        entries.append((labels["full then"], [then]))
    now = style.add_points(chart, sources["full now"], marker="diamond", color=ink)
    entries.append((labels["full now"], [now]))
    if "nodes" in sources:
        points = style.add_points(chart, sources["nodes"], marker="circle", color=ink)
        points.glyph.update(size=9, fill_color=paper, fill_alpha=1.0)
    if "names" in sources:
        words = models.Text(
            x="x", y="y", text="text", text_align="center", text_baseline="middle",
            text_color=ink, text_font={"value": style.FONT}, text_font_size="13px",
        )  # fmt: skip
        chart.add_glyph(sources["names"], words)
    style.add_legend(chart, entries)
    return chart
