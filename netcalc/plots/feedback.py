"""What a reader expects, and wrong models beside the right one, over the points of the lesson."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from bokeh.models import LayoutDOM, Scatter
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.errors import DomainError, NetcalcError
from netcalc.exercises import AnswerCurves, Question, Variable
from netcalc.language import phrase, term
from netcalc.plots.overlay import curves
from netcalc.plots.pictures import charts
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import GUESSES, Axis, Scale, Theme, add_hover, add_legend_entry, new_source

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
    theme: Theme = "light",
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
    x_scale: Scale = (
        "log" if curves_of.x[0] > 0 and curves_of.x[-1] > 5 * curves_of.x[0] else "linear"
    )
    is_log = bool(every.min() > 0 and every.max() > 20 * every.min())
    plot = curves(
        curves_of.x,
        lines,
        points=points,
        x_axis=Axis(curves_of.x_name, curves_of.x_unit, x_scale),
        y_axis=Axis("answer", curves_of.y_unit, "log" if is_log else "linear"),
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
    source = new_source(name, dict(ready({"x": [x], "y": [y]})))

    def draw() -> LayoutDOM:
        layout = plot.draw()
        for chart in islice(charts(layout), 1):
            look = Scatter(
                x="x", y="y", marker="star", size=18, line_width=1.5,
                line_color=GUESSES[plot.theme], fill_color=GUESSES[plot.theme], fill_alpha=0.6,
            )  # fmt: skip
            point = chart.add_glyph(source, look, name=source.name)
            rows = [
                (str(axis.axis_label.text), column, str(args["unit"]))
                for column, axis in (("x", chart.xaxis[0]), ("y", chart.yaxis[0]))
                if axis.axis_label and "unit" in (args := getattr(axis.formatter, "args", {}))
            ]
            add_hover(chart, [point], rows)
            add_legend_entry(chart, name, point)
        return layout

    form = (*plot.form, "guess", name) if plot.form else ()
    return replace(plot, draw=draw, sources={**plot.sources, name: source}, form=form)
