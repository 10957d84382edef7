"""A wrong model beside the right one, over the measured points of the lesson."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from netcalc import datasets, units
from netcalc.errors import NetcalcError
from netcalc.exercises import Question, Template, Variable
from netcalc.plots.curves import curves
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Scale, Theme

_POINTS = 120
_MOST_STEPS = 400
_RIGHT = "right"


def feedback(
    question: Question, mistake: str, *, answer: float | None = None, theme: Theme = "light"
) -> Plot | None:
    """Draw the model of a mistake, dashed, beside the right one.

    Both are drawn over the variable that the exercise names, or else the first one that has a
    range or several values, all others as the question has them. Where the exercise names a data
    set, its points are drawn, too.

    Parameters
    ----------
    question : Question
        The exercise with its numbers.
    mistake : str
        Name of the wrong model.
    answer : float, optional
        What was answered, in the unit of the question: a mark.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot or None
        The figure; None if no variable changes.
    """
    template = question.template
    over = _over(template)
    if over is None:
        return None
    variable, at = over
    lines = {
        _RIGHT: _evaluated(template.right, question.values, variable.name, at),
        mistake: _evaluated(template.mistake(mistake).formula, question.values, variable.name, at),
    }
    points = _measured(template)
    if answer is not None:
        points["answer"] = (np.array([question.values[variable.name]]), np.array([answer]))
    drawn = np.concatenate([*lines.values(), *(y for _, y in points.values())])
    others = ", ".join(
        f"{name} = {text}" for name, text in question.shown.items() if name != variable.name
    )
    return curves(
        at,
        lines,
        x_axis=Axis(variable.name, variable.unit, _scale(at), float(at[0]), float(at[-1])),
        y_axis=Axis(template.topic, template.unit, _scale(drawn)),
        points=points,
        title=others,
        theme=theme,
    )


def _over(template: Template) -> tuple[Variable, NDArray[np.float64]] | None:
    """Return the variable of the x axis and its values."""
    named = {one.name: one for one in template.variables}
    if curve := template.curve:
        variable = named[curve["x"]]
        low, high = (units.parse(curve[one], variable.unit) for one in ("low", "high"))
    else:
        ranged = [one for one in template.variables if one.high > one.low]
        if not ranged:
            return _over_choices(template)
        variable = ranged[0]
        low, high = variable.low, variable.high
    if variable.step:
        count = min(int((high - low) / variable.step + 1.5), _MOST_STEPS)
        return variable, low + variable.step * np.arange(count, dtype=np.float64)
    if low > 0 and high > 20 * low:
        return variable, np.geomspace(low, high, _POINTS)
    return variable, np.linspace(low, high, _POINTS, dtype=np.float64)


def _over_choices(template: Template) -> tuple[Variable, NDArray[np.float64]] | None:
    variable = next((one for one in template.variables if len(one.choices) > 1), None)
    if variable is None:
        return None
    return variable, np.array(sorted(value for value, _ in variable.choices), dtype=np.float64)


def _evaluated(
    formula: Callable[[Mapping[str, float]], float],
    values: Mapping[str, float],
    name: str,
    at: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return a formula over one variable; nan where it has no result."""
    found = np.full(at.shape, np.nan)
    for index, value in enumerate(at):
        with suppress(NetcalcError):
            found[index] = formula({**values, name: float(value)})
    return found


def _measured(template: Template) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the points of the lesson, under the name of their data set."""
    curve = template.curve
    if "points" not in curve:
        return {}
    columns = datasets.load(curve["points"]).columns()
    x, y = (np.asarray(columns[curve[one]], dtype=float) for one in ("point_x", "point_y"))
    return {curve["points"].replace("_", " "): (x, y)}


def _scale(values: NDArray[np.float64]) -> Scale:
    """Return the scale that shows the smallest of these values, too."""
    known = values[np.isfinite(values)]
    return "log" if known.size and known.min() > 0 and known.max() > 20 * known.min() else "linear"
