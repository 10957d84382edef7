"""What limits a measurement: a bar for each limit, and a line at the measured value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, LayoutDOM, PlainText, Quad
from bokeh.plotting import figure

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.explain import Finding
from netcalc.language import phrase
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    INKS,
    PALETTES,
    Axis,
    Theme,
    add_hover,
    add_legend,
    add_line,
    new_figure,
    new_source,
)
from netcalc.printable import printable

MOST_CHARTS = 6
"""Findings that are drawn, the first ones."""
_BAR_HEIGHT, _EDGES = 46, 150
_HALF_BAR = 0.35


@named_arguments
def limits(
    findings: Sequence[Finding], *, title: str = "What limits", theme: Theme = "light"
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
    drawable = [one for one in findings if one.limits][:MOST_CHARTS]
    if not drawable:
        raise DomainError("no-limits-to-draw", "findings", len(findings))
    sources: dict[str, ColumnDataSource] = {}
    named: dict[str, Finding] = {}
    for number, one in enumerate(drawable, start=1):
        label = one.label or "measurement"
        name = label if label not in named else f"{label} ({number})"
        named[name] = one
        sources |= _sources(one, name, theme)
    text = " ".join(one.sentence for one in drawable)
    return Plot(partial(_draw, named, sources, title, theme), sources, text, theme)


def _draw(
    named: Mapping[str, Finding],
    sources: Mapping[str, ColumnDataSource],
    title: str,
    theme: Theme,
) -> LayoutDOM:
    charts = [_chart(one, name, f"{title}: {name}", sources, theme) for name, one in named.items()]
    return charts[0] if len(charts) == 1 else column(*charts, sizing_mode="stretch_width")


def _ends(one: Finding) -> tuple[float, float]:
    """Return the ends of the axis of a finding's values."""
    values = [limit.value for limit in one.limits] + [one.measured] * (one.measured > 0)
    return (min(values) / 3, 2 * max(values)) if one.unit == "bit/s" else (0.0, 1.05 * max(values))


def _sources(one: Finding, name: str, theme: Theme) -> dict[str, ColumnDataSource]:
    count, palette = len(one.limits), PALETTES[theme]
    rows = range(count)
    bars: dict[str, list[Any]] = {
        "name": [printable(limit.subject) for limit in one.limits],
        "how": [str(limit.arithmetic) for limit in one.limits],
        "left": [_ends(one)[0]] * count,
        "right": [limit.value for limit in one.limits],
        "bottom": [-float(row) - _HALF_BAR for row in rows],
        "top": [-float(row) + _HALF_BAR for row in rows],
        "color": [palette[0 if limit is one.binding else 1] for limit in one.limits],
    }
    columns = {phrase("limits, {name}", name=name): bars}
    if not math.isnan(one.measured):
        columns[phrase("measured, {name}", name=name)] = {
            "x": [one.measured] * 2,
            "y": [0.5, -count + 0.5],
        }
    return {title: new_source(title, ready(data)) for title, data in columns.items()}


def _chart(
    one: Finding, name: str, title: str, sources: Mapping[str, ColumnDataSource], theme: Theme
) -> figure:
    count = len(one.limits)
    is_rate = one.unit == "bit/s"
    low, high = _ends(one)
    name_of_axis = "rate" if is_rate else phrase("part of the time")
    axis = Axis(name_of_axis, one.unit, "log" if is_rate else "linear", low, high)
    rows = Axis("", "1", low=-count + 0.5, high=0.5)
    chart = new_figure(axis, rows, title=title, height=_EDGES + _BAR_HEIGHT * count)
    ticks = [-float(i) for i in range(count)]
    names = [printable(limit.subject) for limit in one.limits]
    chart.yaxis[0].ticker = FixedTicker(ticks=ticks)
    chart.yaxis[0].major_label_overrides = {
        tick: PlainText(text=text) for tick, text in zip(ticks, names, strict=True)
    }
    chart.yaxis[0].axis_label = None
    chart.ygrid[0].ticker = chart.yaxis[0].ticker
    bar = Quad(
        left="left", right="right", bottom="bottom", top="top",
        fill_color="color", fill_alpha=0.6, line_color=INKS[theme],
    )  # fmt: skip
    drawn = chart.add_glyph(sources[phrase("limits, {name}", name=name)], bar, name="limit")
    add_hover(chart, [drawn], [("limit", "name", "text"), ("value", "right", one.unit)])
    entries = [("limits", [drawn])]
    line = sources.get(phrase("measured, {name}", name=name))
    if line is not None:
        ruled = add_line(chart, line, name="measured", line_color=INKS[theme], line_dash=[6, 4])
        entries.append(("measured", [ruled]))
    add_legend(chart, entries)
    return chart
