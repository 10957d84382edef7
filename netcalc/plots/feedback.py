"""Wrong models beside the right one, over the measured points of the lesson."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.errors import NetcalcError
from netcalc.exercises import AnswerCurves, Question, Variable
from netcalc.language import phrase, term
from netcalc.plots.curves import curves
from netcalc.plots.guess import with_guess
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Scale, Theme

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
    found = question.curves(*names) if question.template.curve else _own_curves(question, names)
    if found is None:
        return None
    lines = {RIGHT: found.right, **found.wrong}
    if any(np.isfinite(line).sum() < 2 for line in lines.values()):
        return None
    points: dict[str, Any] = {}
    if found.points_set:
        points[phrase("data: {replace}", replace=found.points_set.replace("_", " "))] = (
            found.points_x,
            found.points_y,
        )
    every = np.concatenate([*lines.values(), found.points_y])
    every = every[np.isfinite(every)]
    x_scale: Scale = "log" if found.x[0] > 0 and found.x[-1] > 5 * found.x[0] else "linear"
    is_log = bool(every.min() > 0 and every.max() > 20 * every.min())
    plot = curves(
        found.x,
        lines,
        points=points,
        x_axis=Axis(found.x_name, found.x_unit, x_scale),
        y_axis=Axis("answer", found.y_unit, "log" if is_log else "linear"),
        title=title,
        theme=theme,
    )
    return with_guess(plot, mark, x=found.own_x, y=answer)


def _own_curves(question: Question, names: Iterable[str]) -> AnswerCurves | None:
    """Return the curves of an exercise that names none: over its first variable that changes."""
    template = question.template
    variable = next((one for one in template.variables if len(_values(one)) > 1), None)
    if variable is None:
        return None
    over = _values(variable)
    formulas = {RIGHT: template.right, **{one: template.mistake(one).formula for one in names}}
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
    found = np.geomspace(variable.low, variable.high, _MOST)
    return np.unique(found.round()) if variable.unit == "byte" else found


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
