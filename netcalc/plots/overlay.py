"""Predicted curves with measured points and residuals; what a reader expects beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, GlyphRenderer, LayoutDOM, Scatter, VArea
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.compare import Comparison
from netcalc.errors import DomainError, NetcalcError
from netcalc.exercises import AnswerCurves, Question, Variable
from netcalc.language import phrase, term
from netcalc.plots import pictures, style
from netcalc.plots.plot import Columns, Plot, ready, thinned_note
from netcalc.units import show


@named_arguments
def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    x_axis: style.Axis,
    y_axis: style.Axis,
    points: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    errors: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    title: str = "",
    description: str = "",
    theme: style.Theme = "light",
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
    errors : mapping of str to a pair of array_like, optional
        Errors of sets of points by their names, of x and of y, either way; 0 draws none. Their bars
        are in the source ``NAME, error``.
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
    bars = {
        name: _bars(*points[name], *spread)
        for name, spread in (errors or {}).items()
        if name in points
    }
    count = len(lines) + len(points) + len(bars)
    pairs = [
        *((name, x, y) for name, y in lines.items()),
        *((n, *pair) for n, pair in points.items()),
        *((f"{n}, error", *pair) for n, pair in bars.items()),
    ]
    sources = {
        name: style.new_source(name, dict(ready({"x": at, "y": value}, source_count=count)))
        for name, at, value in pairs
    }
    notes = [thinned_note(np.size(x), source_count=count)] if lines else []
    notes += [thinned_note(np.size(at), source_count=count) for at, _ in points.values()]
    text = description or _describe(x, lines, points, x_axis=x_axis, y_axis=y_axis, title=title)
    form = ("curves", x_axis, y_axis, title, theme, tuple(lines), tuple(points), tuple(bars))
    draw = partial(_draw_curves, sources, tuple(lines), tuple(points), x_axis, y_axis, title, theme)
    return Plot(draw, sources, " ".join(filter(None, (text, *notes))), theme, form)


def _draw_curves(
    sources: Mapping[str, ColumnDataSource],
    lines: tuple[str, ...],
    points: tuple[str, ...],
    x_axis: style.Axis,
    y_axis: style.Axis,
    title: str,
    theme: style.Theme,
) -> figure:
    chart = style.new_figure(x_axis, y_axis, title=title)
    palette, ink = style.PALETTES[theme], style.INKS[theme]
    drawn, keys = {}, {}
    for i, name in enumerate(lines):
        drawn[name] = style.add_line(
            chart,
            sources[name],
            line_color=palette[i % len(palette)],
            line_dash=style.DASHES[i % len(style.DASHES)],
        )
        keys[name] = [drawn[name]]
    for i, name in enumerate(points):
        marker = style.MARKERS[i % len(style.MARKERS)]
        # In ink, which no line has; without lines each of several sets has a colour.
        color = ink if lines or len(points) == 1 else palette[i % len(palette)]
        bars = sources.get(f"{name}, error")
        keys[name] = [style.add_line(chart, bars, line_color=color, line_width=1.5)] if bars else []
        drawn[name] = style.add_points(chart, sources[name], marker=marker, color=color)
        keys[name].insert(0, drawn[name])
    rows = [(x_axis.name, "x", x_axis.unit), (y_axis.name, "y", y_axis.unit)]
    style.add_hover(chart, list(drawn.values()), rows)
    style.add_legend(chart, list(keys.items()))
    return chart


def _bars(
    x: ArrayLike, y: ArrayLike, x_error: ArrayLike, y_error: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the bars of points as one line with gaps: up and down, left and right."""
    at, height, wide, high = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(each, dtype=float)) for each in (x, y, x_error, y_error))
    )
    gap = np.full(at.size, np.nan)
    across = np.column_stack([at, at, gap, at - wide, at + wide, gap])
    up = np.column_stack([height - high, height + high, gap, height, height, gap])
    return across.ravel(), up.ravel()


def _describe(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    x_axis: style.Axis,
    y_axis: style.Axis,
    title: str,
) -> str:
    at = np.atleast_1d(np.asarray(x, dtype=float))
    parts = []
    for name, y in lines.items():
        value = np.broadcast_to(np.asarray(y, dtype=float), at.shape)
        rows = np.flatnonzero(np.isfinite(value))
        if rows.size:
            first, last = rows[0], rows[-1]
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


RESIDUAL_HEIGHT = 190
"""Height of the lower figure, in pixels."""


@named_arguments
def overlay(
    comparison: Comparison,
    *further: Comparison,
    x_scale: style.Scale = "linear",
    y_scale: style.Scale = "linear",
    lows: tuple[float | None, float | None] = (None, None),
    title: str | None = None,
    beside: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    theme: style.Theme = "light",
) -> Plot:
    """Draw measured points, the prediction with its band, and below them the residuals, if any.

    Parameters
    ----------
    comparison : Comparison
        Measured, predicted, band and residual, from :mod:`netcalc.compare`.
    *further : Comparison
        Those of further series over the same axes, each with a ``measured_label`` of its own. A
        series without a ``predicted_label`` has points alone.
    x_scale, y_scale : {'linear', 'log'}
        Scales of the upper figure; the lower one has the same x.
    lows : pair of float, optional
        Where the axes of x and y begin; by default they follow the data.
    title : str, optional
        Title above the figure; by default that of the comparison.
    beside : mapping of str to a pair of array_like, optional
        Points of another source by name, each x and y, such as a book or an earlier run. They
        have no residual.
    lines : mapping of str to a pair of array_like, optional
        Other predictions by name, each x and y. They have no residual either.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With the sources ``points`` and ``outliers`` (columns ``x``, ``measured``, ``predicted``,
        ``residual``; on a logarithmic axis it is a share of the prediction), ``curve`` (``x``,
        ``y``, ``low``, ``high``, ``zero``), and one for each of ``beside`` and ``lines`` (``x``,
        ``y``). Those of several series have their names in front: ``old, points``.
    """
    beside, lines = beside or {}, lines or {}
    every = (comparison, *further)
    x_axis = style.Axis(comparison.x_name, comparison.x_unit, x_scale, low=lows[0])
    y_axis = style.Axis(comparison.y_name, comparison.y_unit, y_scale, low=lows[1])
    # Over decades the residuals of small values would not be seen: they are shares of them then.
    is_share = y_scale == "log"
    residual_axis = style.Axis("residual", "ratio" if is_share else comparison.y_unit)
    measured = any(each.x.size for each in every)
    if not measured and not np.isfinite(comparison.curve_y).any() and not beside:
        # Bokeh draws an axis without data only if it has a range.
        x_axis = replace(x_axis, low=0.0, high=1500.0)
        y_axis = replace(y_axis, low=0.0, high=1.0)
    title = comparison.title if title is None else title
    columns: dict[str, Columns] = {}
    series = tuple(_series(each, index, theme, len(every)) for index, each in enumerate(every))
    for each, own in zip(every, series, strict=True):
        drawn = _columns(each, is_share=is_share)
        columns |= {f"{own.prefix}{name}": data for name, data in drawn.items()}
    for name, others in (("beside", beside), ("lines", lines)):
        if both := set(columns) & set(others):
            raise DomainError("name-in-use", name, sorted(both))
        columns |= {name: ready({"x": x, "y": y}) for name, (x, y) in others.items()}
    sources = {name: style.new_source(name, data) for name, data in columns.items()}
    look = _OverlayLook(
        x_axis,
        y_axis,
        residual_axis,
        title,
        theme,
        series,
        is_measured=measured,
        beside=tuple(beside),
        lines=tuple(lines),
    )
    said = []
    for each in every:
        label = f"{each.measured_label}: "
        is_named = not further or each.sentence.startswith(label)
        said.append(each.sentence if is_named else label + each.sentence)
    text = " ".join(filter(None, (*said, *(thinned_note(each.x.size) for each in every))))
    return Plot(partial(_draw_overlay, sources, look), sources, text, theme, ("overlay", look))


@dataclass(frozen=True, slots=True)
class _SeriesLook:
    """Colours and names of a series; its sources begin with ``prefix``."""

    prefix: str
    measured_label: str
    predicted_label: str
    color: str
    ink: str
    accent: str
    marker: str
    dash: int
    has_band: bool
    has_outliers: bool


def _series(comparison: Comparison, index: int, theme: style.Theme, count: int) -> _SeriesLook:
    """Return how a series looks: a single one has points in ink, of several each has a colour."""
    palette = style.PALETTES[theme]
    color = palette[index % len(palette)]
    return _SeriesLook(
        prefix=f"{comparison.measured_label}, " if count > 1 else "",
        measured_label=comparison.measured_label,
        predicted_label=comparison.predicted_label,
        color=color,
        ink=color if count > 1 else style.INKS[theme],
        accent=color if count > 1 else palette[1],
        marker=style.MARKERS[index % len(style.MARKERS)],
        dash=index % len(style.DASHES),
        has_band=bool(np.any(comparison.curve_high > comparison.curve_low)),
        has_outliers=bool(comparison.outlier.any()),
    )


@dataclass(frozen=True, slots=True)
class _OverlayLook:
    """Everything of the figure that is not in its columns."""

    x_axis: style.Axis
    y_axis: style.Axis
    residual_axis: style.Axis
    title: str
    theme: style.Theme
    series: tuple[_SeriesLook, ...]
    is_measured: bool
    beside: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def is_of_many(self) -> bool:
        return len(self.series) > 1


def _columns(comparison: Comparison, *, is_share: bool) -> dict[str, Columns]:
    residual = comparison.residual / comparison.predicted if is_share else comparison.residual

    def rows(chosen: Any) -> Columns:
        return ready(
            {
                "x": comparison.x[chosen],
                "measured": comparison.measured[chosen],
                "predicted": comparison.predicted[chosen],
                "residual": residual[chosen],
            }
        )

    return {
        "points": rows(~comparison.outlier),
        "outliers": rows(comparison.outlier),
        "curve": ready(
            {
                "x": comparison.curve_x,
                "y": comparison.curve_y,
                "low": comparison.curve_low,
                "high": comparison.curve_high,
                "zero": np.zeros_like(comparison.curve_x),
            }
        ),
    }


def _draw_overlay(sources: dict[str, Any], look: _OverlayLook) -> LayoutDOM:
    upper = _upper(sources, look)
    lower = [_lower(sources, look, upper)] if look.is_measured else []
    return column(upper, *lower, sizing_mode="stretch_width", spacing=0)


def _upper(sources: dict[str, Any], look: _OverlayLook) -> figure:
    x_axis, y_axis, palette = look.x_axis, look.y_axis, style.PALETTES[look.theme]
    chart = style.new_figure(x_axis, y_axis, title=look.title)
    chart.min_border_left = 90
    legend, shown, simple = [], [], []
    for series in look.series:
        entries, points, curve = _draw_series(chart, sources, series, is_alone=not look.is_of_many)
        legend += entries
        shown += points
        simple += curve
    for index, name in enumerate(look.lines):
        color = style.INKS[look.theme] if look.is_of_many else palette[2 + index % 4]
        dash = style.DASHES[1 + index % (len(style.DASHES) - 1)]
        other = style.add_line(chart, sources[name], line_color=color, line_dash=dash)
        simple.append(other)
        legend.append((name, [other]))
    for index, name in enumerate(look.beside):
        marker = style.MARKERS[1 + index % (len(style.MARKERS) - 1)]
        color = palette[2 + index % 4]
        others = style.add_points(chart, sources[name], marker=marker, color=color)
        simple.append(others)
        legend.append((name, [others]))
    style.add_hover(
        chart, simple, [(x_axis.name, "x", x_axis.unit), (y_axis.name, "y", y_axis.unit)]
    )
    style.add_hover(chart, shown, _rows(look))
    style.add_legend(chart, legend)
    return chart


_Drawn = list[GlyphRenderer]


def _draw_series(
    chart: figure, sources: dict[str, Any], series: _SeriesLook, *, is_alone: bool
) -> tuple[list[tuple[str, _Drawn]], _Drawn, _Drawn]:
    """Draw a series; return its entries of the legend, its points and its curve.

    Of several each has one entry: a click hides points, curve and band together.
    """
    band, curve, outliers = [], [], []
    prefix = series.prefix
    if series.has_band:
        area = VArea(x="x", y1="low", y2="high", fill_color=series.color, fill_alpha=0.2)
        band = [chart.add_glyph(sources[f"{prefix}curve"], area)]
    if series.predicted_label:
        curve = [
            style.add_line(
                chart, sources[f"{prefix}curve"], name=series.predicted_label,
                line_color=series.color, line_dash=style.DASHES[series.dash],
            )
        ]  # fmt: skip
    points = style.add_points(
        chart, sources[f"{prefix}points"], marker=series.marker, color=series.ink, y="measured"
    )
    points.name = series.measured_label
    if series.has_outliers:
        source = sources[f"{prefix}outliers"]
        outliers = [style.add_points(chart, source, marker="x", color=series.accent, y="measured")]
        outliers[0].name = term("not in the fit")
    measured = [points, *outliers]
    if not is_alone:
        name = ": ".join(filter(None, (series.measured_label, series.predicted_label)))
        name = phrase("{name}, 95% band", name=name) if band else name
        return [(name, [*band, *curve, *measured])], measured, curve
    entries = [(series.measured_label, [points]), (series.predicted_label, curve)]
    if band:
        entries.append((phrase("95% band of the prediction"), band))
    if outliers:
        entries.append((phrase("not in the fit"), outliers))
    return entries, measured, curve


def _lower(sources: dict[str, Any], look: _OverlayLook, upper: figure) -> figure:
    chart = style.new_figure(look.x_axis, look.residual_axis, title="", height=RESIDUAL_HEIGHT)
    chart.x_range = upper.x_range
    chart.min_border_left = 90
    chart.toolbar_location = None
    chart.yaxis[0].ticker.desired_num_ticks = 4
    upper.xaxis[0].axis_label = None
    zeros, points, outliers = [], [], []
    for series in look.series:
        curve, kept, others = (
            sources[f"{series.prefix}{name}"] for name in ("curve", "points", "outliers")
        )
        color = style.INKS[look.theme] if look.is_of_many else series.color
        zeros.append(style.add_line(chart, curve, y="zero", line_color=color, line_width=2))
        points.append(
            style.add_points(chart, kept, marker=series.marker, color=series.ink, y="residual")
        )
        outliers.append(
            style.add_points(chart, others, marker="x", color=series.accent, y="residual")
        )
    chart.y_range.range_padding = 0.3
    # Zero is always visible; the scale ignores outliers, which would flatten all other points.
    chart.y_range.renderers = [*zeros, *points]
    style.add_hover(chart, [*points, *outliers], _rows(look))
    return chart


def _rows(look: _OverlayLook) -> list[tuple[str, str, str]]:
    x_axis, unit = look.x_axis, look.y_axis.unit
    values = [(name, name, unit) for name in ("measured", "predicted")]
    residual = ("residual", "residual", look.residual_axis.unit)
    return [(x_axis.name, "x", x_axis.unit), *values, residual]


_MOST = 120
RIGHT = term("right")
"""Name of the right formula in the figure."""


@named_arguments
def feedback(
    question: Question,
    names: Iterable[str],
    *,
    answer: float = math.nan,
    mark: str = term("your answer"),
    title: str = "",
    theme: style.Theme = "light",
) -> Plot | None:
    """Draw the right formula of an exercise and wrong ones, dashed, on the lesson's points.

    Parameters
    ----------
    question : Question
        The exercise with its numbers: all variables but that of the x axis are as in the question.
    names : iterable of str
        Names of the mistakes.
    answer : float, optional
        What was answered, in the unit of the question; nan for no mark.
    mark : str
        Name of the mark.
    title : str, optional
        Title above the figure.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot or None
        With the sources ``right``, the names of the mistakes, the data set and the mark. None if
        the exercise says no curve, and none of its variables can be drawn over.
    """
    curves_of = question.curves(*names) if question.template.curve else _own_curves(question, names)
    if curves_of is None:
        return None
    lines = {RIGHT: curves_of.right, **curves_of.wrong}
    if any(np.isfinite(line).sum() < 2 for line in lines.values()):
        return None
    points: dict[str, Any] = {}
    if curves_of.points_set:
        points[phrase("data: {replace}", replace=curves_of.points_set.replace("_", " "))] = (
            curves_of.points_x,
            curves_of.points_y,
        )
    every = np.concatenate([*lines.values(), curves_of.points_y])
    every = every[np.isfinite(every)]
    x_scale: style.Scale = (
        "log" if curves_of.x[0] > 0 and curves_of.x[-1] > 5 * curves_of.x[0] else "linear"
    )
    is_log = bool(every.min() > 0 and every.max() > 20 * every.min())
    plot = curves(
        curves_of.x,
        lines,
        points=points,
        x_axis=style.Axis(curves_of.x_name, curves_of.x_unit, x_scale),
        y_axis=style.Axis("answer", curves_of.y_unit, "log" if is_log else "linear"),
        title=title,
        theme=theme,
    )
    return with_guess(plot, mark, x=curves_of.own_x, y=answer)


def _own_curves(question: Question, names: Iterable[str]) -> AnswerCurves | None:
    """Return the curves of an exercise that names none: over its first variable that changes."""
    template = question.template
    variable = next(
        (variable for variable in template.variables if len(_values(variable)) > 1), None
    )
    if variable is None:
        return None
    over = _values(variable)
    formulas = {RIGHT: template.right, **{name: template.mistake(name).formula for name in names}}
    drawn = {
        name: np.array([_at(formula, question.values, variable.name, x) for x in over])
        for name, formula in formulas.items()
    }
    return AnswerCurves(
        x_name=variable.name,
        x_unit=variable.unit,
        y_unit=template.unit,
        x=over,
        right=drawn.pop(RIGHT),
        wrong=drawn,
        own_x=question.values[variable.name],
    )


def _values(variable: Variable) -> NDArray[np.float64]:
    """Return values of a variable that the exercise may draw: whole ones where it draws those."""
    if variable.choices:
        return np.array(sorted({value for value, _ in variable.choices if value > 0}))
    if variable.step:
        count = round((variable.high - variable.low) / variable.step)
        steps = np.unique(np.linspace(0, count, min(count, _MOST) + 1).round())
        return variable.low + variable.step * steps
    values = np.geomspace(variable.low, variable.high, _MOST)
    return np.unique(values.round()) if variable.unit == "byte" else values


def _at(
    formula: Callable[[Mapping[str, float]], float],
    values: Mapping[str, float],
    name: str,
    x: float,
) -> float:
    try:
        return formula({**values, name: float(x)})
    except NetcalcError:
        return math.nan


@named_arguments
def with_guess(
    plot: Plot, name: str = "your guess", *, x: float = np.nan, y: float = np.nan
) -> Plot:
    """Return a figure with one point more, which has its own entry in the legend.

    Parameters
    ----------
    plot : Plot
        A figure that is not drawn yet; of several below each other the first has the point.
    name : str
        Name of the point in the legend, and of its source.
    x, y : float
        Where it is, in the units of the axes; nan for a point that is not made yet.

    Returns
    -------
    Plot
        With one source more, whose columns are ``x`` and ``y``.

    Raises
    ------
    DomainError
        If a source of the figure has this name.
    """
    if name in plot.sources:
        raise DomainError("name-in-use", "name", name)
    source = style.new_source(name, dict(ready({"x": [x], "y": [y]})))

    def draw() -> LayoutDOM:
        layout = plot.draw()
        for chart in islice(pictures.charts(layout), 1):
            look = Scatter(
                x="x", y="y", marker="star", size=18, line_width=1.5,
                line_color=style.GUESSES[plot.theme], fill_color=style.GUESSES[plot.theme],
                fill_alpha=0.6,
            )  # fmt: skip
            point = chart.add_glyph(source, look, name=source.name)
            rows = [
                (str(axis.axis_label.text), column, str(args["unit"]))
                for column, axis in (("x", chart.xaxis[0]), ("y", chart.yaxis[0]))
                if axis.axis_label and "unit" in (args := getattr(axis.formatter, "args", {}))
            ]
            style.add_hover(chart, [point], rows)
            style.add_legend_entry(chart, name, point)
        return layout

    form = (*plot.form, "guess", name) if plot.form else ()
    return replace(plot, draw=draw, sources={**plot.sources, name: source}, form=form)
