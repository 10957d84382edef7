"""The figure of a plan: its curve with the chosen point, and what ranges make of the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from netcalc.planning import BindingMap, Chart, Plan
from netcalc.planning.page import label
from netcalc.plots.binding_map import binding_map
from netcalc.plots.curves import curves
from netcalc.plots.distribution import distribution
from netcalc.plots.plot import Plot, together
from netcalc.plots.style import Axis, Theme

_TITLES = {"buy": "What limits the transfer", "link": "What the links are for their users"}
_PERCENTILES = (5.0, 50.0, 95.0)
_DECADE = 10.0


def plan(page: Plan, *, theme: Theme = "light") -> Plot:
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
    if isinstance(chart, BindingMap):
        return binding_map(chart, title=_TITLES[page.name], theme=theme)
    x_axis = Axis(label(chart.x), chart.x_unit, "log" if chart.log_x else "linear")
    y_axis = _y_axis(chart)
    text = page.sentence
    drawn = curves(
        chart.at,
        {label(name): y for name, y in chart.lines.items()},
        x_axis=x_axis,
        y_axis=y_axis,
        points={_mark(name, chart.lines): ([x], [y]) for name, (x, y) in chart.marks.items()},
        title=f"{page.name.capitalize()}: {label(chart.y)} over {label(chart.x)}",
        description=text,
        theme=theme,
    )
    first = page.main_answer
    if first.spread is None:
        return drawn
    layer = f" ({first.layer})" if first.layer else ""
    return together(
        drawn,
        distribution(
            first.spread.samples,
            axis=Axis(f"{first.label}{layer}", first.unit),
            percentiles={percent: first.spread.percentile(percent) for percent in _PERCENTILES},
            title=first.label.capitalize(),
            theme=theme,
        ),
    )


def _y_axis(chart: Chart) -> Axis:
    """Return the axis of the answers; a logarithmic one shows a decade where they hardly differ."""
    if not chart.log_y:
        return Axis(label(chart.y), chart.y_unit)
    values = np.concatenate([np.asarray(y) for y in chart.lines.values()])
    known = values[np.isfinite(values) & (values > 0.0)]
    low, high = (known.min(), known.max()) if known.size else (1.0, 1.0)
    if high >= _DECADE * low:
        return Axis(label(chart.y), chart.y_unit, "log")
    middle, half = math.sqrt(low * high), math.sqrt(_DECADE)
    return Axis(label(chart.y), chart.y_unit, "log", middle / half, middle * half)


def _mark(name: str, lines: Iterable[str]) -> str:
    """Return the name of a mark, which no line may have."""
    shown = label(name)
    return f"{shown}, planned" if shown in map(label, lines) else shown
