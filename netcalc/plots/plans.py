"""The figure of a plan: its curve with the chosen point, and what ranges make of the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from netcalc.checks import named_arguments
from netcalc.language import phrase, term
from netcalc.planning import BindingMap, Chart, Plan
from netcalc.planning.page import label, long_time
from netcalc.plots.binding_map import binding_map
from netcalc.plots.curves import curves
from netcalc.plots.distribution import distribution
from netcalc.plots.plot import Plot, together
from netcalc.plots.style import Axis, Theme

_TITLES = {
    "buy": term("What limits the transfer"),
    "link": term("What the links are for their users"),
}
_PERCENTILES = (5.0, 50.0, 95.0)
_DECADE = 10.0


@named_arguments
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
    chart = _in_long_times(chart)
    x_axis = Axis(label(chart.x), chart.x_unit, "log" if chart.log_x else "linear")
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
        distribution(
            first.spread.samples / size,
            axis=Axis(f"{first.label}{layer}", unit),
            percentiles={one: first.spread.percentile(one) / size for one in _PERCENTILES},
            title=first.label.capitalize(),
            theme=theme,
        ),
    )


def _in_long_times(chart: Chart) -> Chart:
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
    return phrase("{shown}, planned", shown=shown) if shown in map(label, lines) else shown
