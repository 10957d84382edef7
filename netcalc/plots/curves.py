"""Predicted curves, with or without measured points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from netcalc.errors import DomainError
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
    add_points,
    new_figure,
    new_source,
)
from netcalc.units import show


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
    chart = new_figure(x_axis, y_axis, title=title)
    rows = [(x_axis.name, "x", x_axis.unit), (y_axis.name, "y", y_axis.unit)]
    palette, ink = PALETTES[theme], INKS[theme]
    sources, legend = {}, []
    count = len(lines) + len(points)
    for i, (name, y) in enumerate(lines.items()):
        sources[name] = new_source(name, dict(ready({"x": x, "y": y}, source_count=count)))
        drawn = chart.line(
            "x",
            "y",
            source=sources[name],
            name=name,
            line_color=palette[i % len(palette)],
            line_dash=DASHES[i % len(DASHES)],
            line_width=3,
        )
        add_hover(chart, [drawn], rows)
        legend.append((name, [drawn]))
    notes = [thinned_note(np.size(x), source_count=count)] if lines else []
    for i, (name, (at, value)) in enumerate(points.items()):
        columns = dict(ready({"x": at, "y": value}, source_count=count))
        sources[name] = new_source(name, columns)
        drawn = add_points(chart, sources[name], marker=MARKERS[i % len(MARKERS)], color=ink)
        add_hover(chart, [drawn], rows)
        legend.append((name, [drawn]))
        notes.append(thinned_note(np.size(at), source_count=count))
    add_legend(chart, legend)
    text = description or _describe(x, lines, points, x_axis=x_axis, y_axis=y_axis, title=title)
    form = ("curves", x_axis, y_axis, title, theme, tuple(lines), tuple(points))
    return Plot(chart, sources, " ".join(filter(None, (text, *notes))), theme, form)


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
                f"{name}: {show(value[first], y_axis.unit)} at {show(at[first], x_axis.unit)}, "
                f"{show(value[last], y_axis.unit)} at {show(at[last], x_axis.unit)}"
            )
    parts += [f"{name}: {np.size(pair[0])} points" for name, pair in points.items()]
    head = title or f"{y_axis.name} against {x_axis.name}"
    return f"{head}. " + "; ".join(parts) + "."
