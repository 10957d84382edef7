"""The figure of a plan: its curve with the chosen point, and what ranges make of the answer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from netcalc.planning import BindingMap, Plan
from netcalc.planning.page import Chart, label
from netcalc.plots.binding_map import binding_map
from netcalc.plots.curves import curves
from netcalc.plots.distribution import distribution
from netcalc.plots.plot import Plot, together
from netcalc.plots.style import Axis, Theme

_TITLES = {"buy": "What limits the transfer", "link": "What the links are for their users"}
_FLAT = 2.0
"""Least ratio of the ends of a logarithmic axis of answers, whose ticks otherwise read the same."""
_PERCENTILES = (5.0, 50.0, 95.0)


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
            title=f"{first.label}: {first.text}",
            theme=theme,
        ),
    )


def _y_axis(chart: Chart) -> Axis:
    """Return the axis of the answers: a curve that hardly changes is drawn flat, not magnified."""
    name, unit = label(chart.y), chart.y_unit
    if not chart.log_y:
        return Axis(name, unit)
    shown = np.concatenate([np.ravel(y) for y in chart.lines.values()])
    shown = shown[np.isfinite(shown) & (shown > 0.0)]
    if shown.size and shown.max() < _FLAT * shown.min():
        return Axis(name, unit, "log", low=float(shown.min()) / _FLAT, high=shown.max() * _FLAT)
    return Axis(name, unit, "log")


def _mark(name: str, lines: Iterable[str]) -> str:
    """Return the name of a mark, which no line may have."""
    shown = label(name)
    return f"{shown}, planned" if shown in map(label, lines) else shown
