"""Predicted curves, with or without measured points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.language import phrase
from netcalc.plots.plot import Plot, ready, thinned_note
from netcalc.plots.style import (
    DASHES,
    INKS,
    MARKERS,
    PALETTES,
    Axis,
    Theme,
    add_hover,
    add_legend,
    add_line,
    add_points,
    new_figure,
    new_source,
)
from netcalc.units import show


@named_arguments
def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    x_axis: Axis,
    y_axis: Axis,
    points: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    title: str = "",
    description: str = "",
    theme: Theme = "light",
) -> Plot:
    """Draw curves over one x axis, and sets of points with an x of their own.

    Parameters
    ----------
    x : array_like
        Positions at which the curves are computed.
    lines : mapping of str to array_like
        The curves by name; the name is the legend and the name of the source, whose columns are
        ``x`` and ``y``.
    x_axis, y_axis : Axis
        Names, SI units, scales and ranges.
    points : mapping of str to a pair of array_like, optional
        Sets of points by name, each x and y; sources like those of the curves.
    title : str
        Title above the figure.
    description : str
        Text alternative; by default the values at both ends of each curve.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With one source for each curve and each set of points.
    """
    points = points or {}
    if both := set(lines) & set(points):
        raise DomainError("name-in-use", "points", sorted(both))
    count = len(lines) + len(points)
    pairs = [
        *((name, x, y) for name, y in lines.items()),
        *((n, *pair) for n, pair in points.items()),
    ]
    sources = {
        name: new_source(name, dict(ready({"x": at, "y": value}, source_count=count)))
        for name, at, value in pairs
    }
    notes = [thinned_note(np.size(x), source_count=count)] if lines else []
    notes += [thinned_note(np.size(at), source_count=count) for at, _ in points.values()]
    text = description or _describe(x, lines, points, x_axis=x_axis, y_axis=y_axis, title=title)
    form = ("curves", x_axis, y_axis, title, theme, tuple(lines), tuple(points))
    draw = partial(_draw, sources, tuple(lines), x_axis, y_axis, title, theme)
    return Plot(draw, sources, " ".join(filter(None, (text, *notes))), theme, form)


def _draw(
    sources: Mapping[str, ColumnDataSource],
    lines: tuple[str, ...],
    x_axis: Axis,
    y_axis: Axis,
    title: str,
    theme: Theme,
) -> figure:
    chart = new_figure(x_axis, y_axis, title=title)
    palette, ink = PALETTES[theme], INKS[theme]
    drawn = {}
    for i, name in enumerate(lines):
        drawn[name] = add_line(
            chart,
            sources[name],
            line_color=palette[i % len(palette)],
            line_dash=DASHES[i % len(DASHES)],
        )
    for i, name in enumerate(name for name in sources if name not in drawn):
        marker = MARKERS[i % len(MARKERS)]
        drawn[name] = add_points(chart, sources[name], marker=marker, color=ink)
    rows = [(x_axis.name, "x", x_axis.unit), (y_axis.name, "y", y_axis.unit)]
    add_hover(chart, list(drawn.values()), rows)
    add_legend(chart, [(name, [one]) for name, one in drawn.items()])
    return chart


def _describe(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    x_axis: Axis,
    y_axis: Axis,
    title: str,
) -> str:
    at = np.atleast_1d(np.asarray(x, dtype=float))
    parts = []
    for name, y in lines.items():
        value = np.broadcast_to(np.asarray(y, dtype=float), at.shape)
        known = np.flatnonzero(np.isfinite(value))
        if known.size:
            first, last = known[0], known[-1]
            parts.append(
                phrase(
                    "{name}: {first} at {start}, {last} at {end}",
                    name=name,
                    first=show(value[first], y_axis.unit),
                    start=show(at[first], x_axis.unit),
                    last=show(value[last], y_axis.unit),
                    end=show(at[last], x_axis.unit),
                )
            )
    parts += [
        phrase("{name}: {size} points", name=name, size=np.size(pair[0]))
        for name, pair in points.items()
    ]
    head = title or phrase("{name} against {name_2}", name=y_axis.name, name_2=x_axis.name)
    return f"{head}. " + "; ".join(parts) + "."
