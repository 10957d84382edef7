"""What limits a measurement: a bar for each limit, and a line at the measured value."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, PlainText
from bokeh.plotting import figure

from netcalc.errors import DomainError
from netcalc.explain import Finding
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    INKS,
    PALETTES,
    Axis,
    Theme,
    add_hover,
    add_legend,
    new_figure,
    new_source,
)
from netcalc.printable import printable

MOST_CHARTS = 6
"""Findings that are drawn, the first ones."""
_BAR_HEIGHT, _EDGES = 46, 150
_HALF_BAR = 0.35


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
    charts = []
    for number, one in enumerate(drawable, start=1):
        label = one.label or "measurement"
        name = label if f"limits, {label}" not in sources else f"{label} ({number})"
        heading = f"{title}: {name}"
        charts.append(_chart(one, name, heading, sources, theme))
    text = " ".join(one.sentence for one in drawable)
    layout = charts[0] if len(charts) == 1 else column(*charts, sizing_mode="stretch_width")
    return Plot(layout, sources, text, theme)


def _chart(
    one: Finding, name: str, title: str, sources: dict[str, ColumnDataSource], theme: Theme
) -> figure:
    count = len(one.limits)
    is_rate = one.unit == "bit/s"
    low = min([limit.value for limit in one.limits] + [one.measured] * (one.measured > 0)) / 3
    high = max([limit.value for limit in one.limits] + [one.measured] * (one.measured > 0))
    low, high = (low, 2 * high) if is_rate else (0.0, 1.05 * high)
    name_of_axis = "rate" if is_rate else "part of the time"
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
    palette = PALETTES[theme]
    bars = new_source(
        f"limits, {name}",
        ready(
            {
                "name": names,
                "how": [str(limit.arithmetic) for limit in one.limits],
                "left": [low] * count,
                "right": [limit.value for limit in one.limits],
                "bottom": [tick - _HALF_BAR for tick in ticks],
                "top": [tick + _HALF_BAR for tick in ticks],
                "color": [
                    palette[0 if limit is one.binding else 1] for limit in one.limits
                ],
            }
        ),
    )  # fmt: skip
    sources[f"limits, {name}"] = bars
    drawn = chart.quad(
        left="left", right="right", bottom="bottom", top="top", source=bars, fill_color="color",
        fill_alpha=0.6, line_color=INKS[theme], name="limit",
    )  # fmt: skip
    add_hover(chart, [drawn], [("limit", "name", "text"), ("value", "right", one.unit)])
    entries = [("limits; the one that binds stands out", [drawn])]
    if not math.isnan(one.measured):
        line = new_source(
            f"measured, {name}", ready({"x": [one.measured] * 2, "y": [0.5, -count + 0.5]})
        )
        sources[f"measured, {name}"] = line
        ruled = chart.line(
            "x", "y", source=line, line_color=INKS[theme], line_width=3, line_dash=[6, 4],
            name="measured",
        )  # fmt: skip
        entries.append(("measured", [ruled]))
    add_legend(chart, entries)
    return chart
