"""What limits a measurement: a bar for each limit, and a map of the limits over two inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, LayoutDOM, PlainText, Quad, Text
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError
from netcalc.explain import Finding
from netcalc.language import phrase, term
from netcalc.planning.page import BindingMap, label
from netcalc.plots import style
from netcalc.plots.plot import Columns, Plot, ready
from netcalc.printable import printable
from netcalc.units import show

MOST_CHARTS = 6
"""Findings that are drawn, the first ones."""
_BAR_HEIGHT, _EDGES = 46, 150
_HALF_BAR = 0.35


@named_arguments
def limits(
    findings: Sequence[Finding], *, title: str = "What limits", theme: style.Theme = "light"
) -> Plot:
    """Draw the limits of each finding as bars, from the one that binds on.

    Parameters
    ----------
    findings : sequence of Finding
        What :func:`netcalc.explain.measurement` returns.
    title : str
        Title above the figures.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        With two sources for each finding: ``limits, NAME`` (columns ``name``, ``left``, ``right``,
        ``bottom``, ``top``) and ``measured, NAME`` (``x``, ``y``).

    Raises
    ------
    DomainError
        If no finding has a limit.
    """
    drawable = [finding for finding in findings if finding.limits][:MOST_CHARTS]
    if not drawable:
        raise DomainError("no-limits-to-draw", "findings", len(findings))
    sources: dict[str, ColumnDataSource] = {}
    named: dict[str, Finding] = {}
    for number, finding in enumerate(drawable, start=1):
        label = finding.label or "measurement"
        name = label if label not in named else f"{label} ({number})"
        named[name] = finding
        sources |= _sources(finding, name, theme)
    text = " ".join(finding.sentence for finding in drawable)
    return Plot(partial(_draw_limits, named, sources, title, theme), sources, text, theme)


def _draw_limits(
    named: Mapping[str, Finding],
    sources: Mapping[str, ColumnDataSource],
    title: str,
    theme: style.Theme,
) -> LayoutDOM:
    charts = [
        _chart(finding, name, f"{title}: {name}", sources, theme) for name, finding in named.items()
    ]
    return charts[0] if len(charts) == 1 else column(*charts, sizing_mode="stretch_width")


def _ends(finding: Finding) -> tuple[float, float]:
    """Return the ends of the axis of a finding's values."""
    values = [limit.value for limit in finding.limits] + [finding.measured] * (finding.measured > 0)
    return (
        (min(values) / 3, 2 * max(values)) if finding.unit == "bit/s" else (0.0, 1.05 * max(values))
    )


def _sources(finding: Finding, name: str, theme: style.Theme) -> dict[str, ColumnDataSource]:
    count, palette = len(finding.limits), style.PALETTES[theme]
    rows = range(count)
    bars: dict[str, list[Any]] = {
        "name": [printable(limit.subject) for limit in finding.limits],
        "how": [str(limit.arithmetic) for limit in finding.limits],
        "left": [_ends(finding)[0]] * count,
        "right": [limit.value for limit in finding.limits],
        "bottom": [-float(row) - _HALF_BAR for row in rows],
        "top": [-float(row) + _HALF_BAR for row in rows],
        "color": [palette[0 if limit is finding.binding else 1] for limit in finding.limits],
    }
    columns = {phrase("limits, {name}", name=name): bars}
    if not math.isnan(finding.measured):
        columns[phrase("measured, {name}", name=name)] = {
            "x": [finding.measured] * 2,
            "y": [0.5, -count + 0.5],
        }
    return {title: style.new_source(title, ready(data)) for title, data in columns.items()}


def _chart(
    finding: Finding,
    name: str,
    title: str,
    sources: Mapping[str, ColumnDataSource],
    theme: style.Theme,
) -> figure:
    count = len(finding.limits)
    is_rate = finding.unit == "bit/s"
    low, high = _ends(finding)
    name_of_axis = "rate" if is_rate else phrase("part of the time")
    axis = style.Axis(name_of_axis, finding.unit, "log" if is_rate else "linear", low, high)
    rows = style.Axis("", "1", low=-count + 0.5, high=0.5)
    chart = style.new_figure(axis, rows, title=title, height=_EDGES + _BAR_HEIGHT * count)
    ticks = [-float(i) for i in range(count)]
    names = [printable(limit.subject) for limit in finding.limits]
    chart.yaxis[0].ticker = FixedTicker(ticks=ticks)
    chart.yaxis[0].major_label_overrides = {
        tick: PlainText(text=text) for tick, text in zip(ticks, names, strict=True)
    }
    chart.yaxis[0].axis_label = None
    chart.ygrid[0].ticker = chart.yaxis[0].ticker
    bar = Quad(
        left="left", right="right", bottom="bottom", top="top",
        fill_color="color", fill_alpha=0.6, line_color=style.INKS[theme],
    )  # fmt: skip
    drawn = chart.add_glyph(sources[phrase("limits, {name}", name=name)], bar, name="limit")
    style.add_hover(chart, [drawn], [("limit", "name", "text"), ("value", "right", finding.unit)])
    entries = [("limits", [drawn])]
    line = sources.get(phrase("measured, {name}", name=name))
    if line is not None:
        ruled = style.add_line(
            chart, line, name="measured", line_color=style.INKS[theme], line_dash=[6, 4]
        )
        entries.append(("measured", [ruled]))
    style.add_legend(chart, entries)
    return chart


_HEIGHT = 460
_YOURS, _STEP, _WAY, _NAMES = term("your point"), term("step out"), "step", "names"
_OVERLAP = 0.2
_ALONG = 20
_SHORT = 200.0
"""Largest over least value of an axis with ticks between the decades. [1]"""
_NAME_SHARES = (0.11, 0.03)
"""Half of the width and of the height of a name, of those of the map. [ratio]"""
_LEAST_SHARE = 0.02
"""A region below this share of the map has no name in it. [ratio]"""


def binding_map(chart: BindingMap, *, title: str = "", theme: style.Theme = "light") -> Plot:
    """Draw which limit binds over two inputs.

    Parameters
    ----------
    chart : BindingMap
        The chart of :func:`netcalc.planning.buy`.
    title : str
        Title above the figure.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        A source for each limit that binds somewhere (``left``, ``right``, ``bottom``, ``top``),
        and ``your point``; where a limit ends on the map ``step`` and ``step out``.
    """
    here = [index for index in range(len(chart.limits)) if (chart.index == index).any()]
    shown = {label(chart.limits[index]): index for index in here}
    columns: dict[str, Columns] = {name: _cells(chart, index) for name, index in shown.items()}
    columns[_NAMES] = _names(chart, shown)
    has_step = all(map(math.isfinite, chart.step))
    if has_step:
        ends = zip(chart.point, chart.step, strict=True)
        x, y = (list(pair) for pair in ends)
        columns[_WAY] = ready({"x": x, "y": y})
        columns[_STEP] = ready({"x": [chart.step[0]], "y": [chart.step[1]]})
    columns[_YOURS] = ready({"x": [chart.point[0]], "y": [chart.point[1]]})
    sources = {name: style.new_source(name, dict(data)) for name, data in columns.items()}
    axes = (
        style.Axis(
            label(chart.x), chart.x_unit, "log", float(chart.x_at[0]), float(chart.x_at[-1])
        ),
        style.Axis(
            label(chart.y), chart.y_unit, "log", float(chart.y_at[0]), float(chart.y_at[-1])
        ),
    )
    text = phrase(
        "{title}. Regions of the map: {join}. Your point: ",
        title=title,
        join=", ".join(shown),
    )
    text += f"{show(chart.point[0], chart.x_unit)}, {show(chart.point[1], chart.y_unit)}."
    draw = partial(_draw_binding_map, sources, shown, axes, title, theme)
    return Plot(draw, sources, text, theme)


def _edges(at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where the cells of points on a logarithmic axis begin and end."""
    middles = np.sqrt(at[1:] * at[:-1])
    return np.concatenate([at[:1], middles]), np.concatenate([middles, at[-1:]])


def _cells(chart: BindingMap, index: int) -> Columns:
    """Return the region of a limit as one bar for each run of cells in a row."""
    left, right = _edges(chart.x_at)
    bottom, top = _edges(chart.y_at)
    bars: dict[str, list[float]] = {"left": [], "right": [], "bottom": [], "top": []}
    for row, line in enumerate(chart.index == index):
        for first, last in _runs(line):
            bars["left"].append(float(left[first]))
            bars["right"].append(float(right[last]))
            bars["bottom"].append(float(bottom[row]))
            # A little of the next row, too: no paper shows between two bars.
            bars["top"].append(float(top[row] * (top[row] / bottom[row]) ** _OVERLAP))
    return ready(bars)


def _ticks(axis: style.Axis) -> list[float]:
    """Return the ticks of an axis: each decade, and on a short one 2 and 5 of each, too."""
    assert axis.low is not None
    assert axis.high is not None
    low, high = axis.low, axis.high
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1.0, 2.0, 5.0) if high <= _SHORT * low else (1.0,)
    steps_of = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [tick for tick in steps_of if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def _runs(line: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last index of each run of True."""
    changes = np.diff(np.concatenate([[0], line.astype(int), [0]]))
    return list(
        zip(np.flatnonzero(changes == 1).tolist(), (np.flatnonzero(changes == -1) - 1).tolist(),
            strict=True)
    )  # fmt: skip


def _names(chart: BindingMap, shown: Mapping[str, int]) -> Columns:
    """Return where the names of the regions are: each where there is room for it in its own."""
    places: dict[str, tuple[int, int]] = {}
    taken = _marks(chart)
    for name, index in shown.items():
        inside = chart.index == index
        if inside.mean() < _LEAST_SHARE:
            continue
        free = np.minimum(_room(inside), 1.0)
        for row, cell in taken:
            free[_around(row, inside.shape[0], 1), _around(cell, inside.shape[1], 0)] -= 1.0
        edge = int(_NAME_SHARES[0] * inside.shape[1])
        free[:, :edge] -= 1.0
        free[:, -edge:] -= 1.0
        rows, cells = np.indices(inside.shape)
        away = (rows - rows[inside].mean()) ** 2 + (cells - cells[inside].mean()) ** 2
        best = np.where(inside, free - 0.3 * away / away.max(), -np.inf)
        row, cell = (int(index) for index in np.unravel_index(np.argmax(best), best.shape))
        places[name] = row, cell
        taken.append((row, cell))
    return {
        "x": [float(chart.x_at[cell]) for _, cell in places.values()],
        "y": [float(chart.y_at[row]) for row, _ in places.values()],
        "text": list(places),
    }


def _marks(chart: BindingMap) -> list[tuple[int, int]]:
    """Return the cells of the user's point, of the step, and between them."""
    ends = [end for end in (chart.point, chart.step) if all(map(math.isfinite, end))]
    return [
        (int(np.searchsorted(chart.y_at, y)), int(np.searchsorted(chart.x_at, x)))
        for x, y in np.geomspace(ends[0], ends[-1], _ALONG)
    ]


def _around(place: int, count: int, axis: int) -> slice:
    """Return the cells along one axis that a name at a place covers."""
    half = int(2.0 * _NAME_SHARES[axis] * count)
    return slice(max(place - half, 0), place + half + 1)


def _room(inside: NDArray[np.bool_]) -> FloatArray:
    """Return how much room a name has at each cell of a region: 1 if it fits into it."""
    wide, high = (_NAME_SHARES[axis] * count for axis, count in enumerate(reversed(inside.shape)))
    along = np.minimum(_run_before(inside), _run_before(inside[:, ::-1])[:, ::-1]) / wide
    turned = inside.T
    across = np.minimum(_run_before(turned), _run_before(turned[:, ::-1])[:, ::-1]).T / high
    return np.asarray(np.minimum(along, across))


def _run_before(inside: NDArray[np.bool_]) -> FloatArray:
    """Return how many cells of a region are in one row up to each cell, itself included."""
    run = inside.astype(float)
    for cell in range(1, inside.shape[1]):
        run[:, cell] += run[:, cell - 1] * inside[:, cell]
    return run


def _draw_binding_map(
    sources: Mapping[str, ColumnDataSource],
    shown: Mapping[str, int],
    axes: tuple[style.Axis, style.Axis],
    title: str,
    theme: style.Theme,
) -> figure:
    chart = style.new_figure(*axes, title=title, height=_HEIGHT)
    chart.yaxis[0].ticker = FixedTicker(ticks=_ticks(axes[1]))
    palette, ink = style.PALETTES[theme], style.INKS[theme]
    drawn = {}
    for name, index in shown.items():
        color = style.tint(palette[index % len(palette)], style.PAPERS[theme])
        bars = Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=color, fill_alpha=1.0, line_color=None,
        )  # fmt: skip
        drawn[name] = chart.add_glyph(sources[name], bars, name=name)
    words = Text(
        x="x", y="y", text="text", text_align="center", text_baseline="middle",
        text_color=ink, text_font={"value": style.FONT}, text_font_size="14px",
    )  # fmt: skip
    chart.add_glyph(sources[_NAMES], words)
    points = []
    if _WAY in sources:
        drawn[_WAY] = style.add_line(chart, sources[_WAY], line_color=ink, line_dash=[6, 4])
        drawn[_STEP] = style.add_points(chart, sources[_STEP], marker="diamond", color=ink)
        points.append(drawn[_STEP])
    drawn[_YOURS] = style.add_points(chart, sources[_YOURS], marker="star", color=ink)
    points.append(drawn[_YOURS])
    style.add_hover(
        chart, points, [(axis.name, at, axis.unit) for axis, at in zip(axes, "xy", strict=True)]
    )
    style.add_legend(chart, [(name, [glyph]) for name, glyph in drawn.items() if name != _WAY])
    return chart
