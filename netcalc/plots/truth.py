"""A truth table as a figure: measured against predicted, with the size of the error below."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, GlyphRenderer, LayoutDOM, Span
from bokeh.plotting import figure

from netcalc.checks import named_arguments
from netcalc.plots import plot, style
from netcalc.samples import Table

QUANTITIES = {"s": "time", "bit/s": "rate", "packet/s": "packet rate"}
"""Quantities that are drawn, each in figures of its own, by the unit of its rows."""
VERDICTS = {
    "within": ("within 2 %, or its own tolerance", "circle", None),
    "instrument": ("explained by the instrument", "diamond", 3),
    "unexplained": ("UNEXPLAINED", "x", 1),
}
"""Name, marker and index in the palette of each kind of row."""
LEAST_RATIO = 1e-4
"""Smaller errors are drawn at the edge, as a logarithmic axis has no 0. [ratio]"""
LIMITS = (0.02, 0.05)
"""Horizontal lines in the figure of errors: 2 % is the tolerance of a row. [ratio]"""
TICKS = (1e-4, 1e-3, *LIMITS, 0.5)
"""Labelled ticks of the figure of errors. [ratio]"""
ERROR_HEIGHT = 220
"""Height of a figure of errors, in pixels."""


@named_arguments
def truth(table: Table, *, title: str = "Validation", theme: style.Theme = "light") -> plot.Plot:
    """Draw measured against predicted, and the size of each error below.

    Parameters
    ----------
    table : Table
        Result of :func:`netcalc.truth.validate`.
    title : str
        Title above the figures.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        With a source for each unit and verdict, such as ``s, within``: columns ``x`` (predicted),
        ``y`` (measured), ``error``, ``size``, ``own_error`` and ``setting``.
    """
    measured = np.asarray(table["measured"], dtype=np.float64)
    predicted = np.asarray(table["predicted"], dtype=np.float64)
    drawable = (measured > 0) & (predicted > 0)
    sources, pairs, counts = {}, [], []
    for unit, quantity in QUANTITIES.items():
        with_unit = drawable & (table["unit"] == unit)
        if not with_unit.any():
            continue
        shown = {}
        for verdict in VERDICTS:
            rows = with_unit & (table["verdict"] == verdict)
            if rows.any():
                name = f"{unit}, {verdict}"
                shown[verdict] = sources[name] = style.new_source(name, _columns(table, rows))
        ends = np.array([predicted[with_unit].min(), predicted[with_unit].max()])
        diagonal = style.new_source(f"{unit}, equal", dict(plot.ready({"x": ends, "y": ends})))
        pairs.append(_Pair(unit, quantity, diagonal, shown))
        counts.append(f"{int(with_unit.sum())} {quantity}s")
    beyond = ", ".join(
        f"{setting} {error:+.1%}"
        for setting, error, verdict in zip(
            table["setting"], table["error_ratio"], table["verdict"], strict=True
        )
        if verdict == "unexplained"
    )
    text = f"{title}: {', '.join(counts) or 'no rows'}, measured against predicted; "
    text += f"unexplained: {beyond or 'none'}."
    return plot.Plot(partial(_draw, pairs, title, theme), sources, text, theme)


@dataclass(frozen=True, slots=True)
class _Pair:
    """What the two figures of a unit show: the line of equal values, and the rows by verdict."""

    unit: str
    quantity: str
    diagonal: ColumnDataSource
    shown: dict[str, ColumnDataSource]


def _draw(pairs: list[_Pair], title: str, theme: style.Theme) -> LayoutDOM:
    charts = []
    for pair in pairs:
        x_axis = style.Axis(f"predicted {pair.quantity}", pair.unit, "log")
        y_name, heading = f"measured {pair.quantity}", f"{title}: {pair.quantity}s"
        upper = _upper(pair.shown, pair.diagonal, x_axis, y_name, heading, theme)
        charts += [upper, _lower(pair.shown, x_axis, upper, theme)]
    if not charts:
        empty = style.Axis("predicted", "s", low=0.0, high=1.0)
        charts = [
            style.new_figure(empty, style.Axis("measured", "s", low=0.0, high=1.0), title=title)
        ]
    return column(*charts, sizing_mode="stretch_width", spacing=0)


def _columns(table: Table, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> plot.Columns:
    error = np.asarray(table["error_ratio"], dtype=np.float64)[rows]
    return plot.ready(
        {
            "setting": table["setting"][rows],
            "x": table["predicted"][rows],
            "y": table["measured"][rows],
            "error": error,
            "size": np.maximum(np.abs(error), LEAST_RATIO),
            "own_error": table["own_error"][rows],
        }
    )


def _upper(
    shown: dict[str, ColumnDataSource],
    diagonal: ColumnDataSource,
    x_axis: style.Axis,
    y_name: str,
    title: str,
    theme: style.Theme,
) -> figure:
    chart = style.new_figure(x_axis, style.Axis(y_name, x_axis.unit, "log"), title=title)
    chart.min_border_left = 90
    line = style.add_line(chart, diagonal, line_color=style.PALETTES[theme][0])
    legend = [("measured equals predicted", [line])]
    for verdict, drawn in _points(chart, shown, "y", x_axis, theme).items():
        legend.append((VERDICTS[verdict][0], [drawn]))
    style.add_legend(chart, legend)
    return chart


def _lower(
    shown: dict[str, ColumnDataSource], x_axis: style.Axis, upper: figure, theme: style.Theme
) -> figure:
    largest = max(float(np.max(source.data["size"])) for source in shown.values())
    y_axis = style.Axis(
        "size of the error", "ratio", "log", low=LEAST_RATIO / 1.5, high=max(2 * largest, 0.1)
    )
    chart = style.new_figure(x_axis, y_axis, title="", height=ERROR_HEIGHT)
    chart.x_range = upper.x_range
    chart.min_border_left = 90
    chart.toolbar_location = None
    chart.yaxis[0].ticker = FixedTicker(ticks=list(TICKS))
    chart.ygrid[0].ticker = chart.yaxis[0].ticker
    upper.xaxis[0].axis_label = None
    for index, limit in enumerate(LIMITS):
        chart.add_layout(
            Span(
                location=limit,
                dimension="width",
                line_color=style.PALETTES[theme][0],
                line_width=2,
                line_dash=style.DASHES[index],
            )
        )
    _points(chart, shown, "size", x_axis, theme)
    return chart


def _points(
    chart: figure,
    shown: dict[str, ColumnDataSource],
    y: str,
    x_axis: style.Axis,
    theme: style.Theme,
) -> dict[str, GlyphRenderer]:
    drawn = {}
    for verdict, source in shown.items():
        _, marker, index = VERDICTS[verdict]
        color = style.INKS[theme] if index is None else style.PALETTES[theme][index]
        drawn[verdict] = style.add_points(chart, source, marker=marker, color=color, y=y)
    unit = x_axis.unit
    rows = [("setting", "setting", "text"), ("predicted", "x", unit), ("measured", "y", unit),
            ("error", "error", "ratio"), ("instrument", "own_error", unit)]  # fmt: skip
    style.add_hover(chart, list(drawn.values()), rows)
    return drawn
