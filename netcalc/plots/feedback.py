"""Wrong models beside the right one, over the measured points of the lesson."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from netcalc import units
from netcalc.exercises import Question, Template
from netcalc.plots.curves import curves
from netcalc.plots.guess import with_guess
from netcalc.plots.plot import Plot
from netcalc.plots.style import Axis, Theme

RIGHT = "right"
"""Name of the right formula in the figure."""


def feedback(
    question: Question,
    names: Iterable[str],
    *,
    answer: float = math.nan,
    mark: str = "your answer",
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
    template = question.template
    curve = dict(template.curve) or _curve_of(template)
    if curve is None:
        return None
    found = replace(question, template=replace(template, curve=curve)).curves(*names)
    lines = {RIGHT: found.right, **found.wrong}
    if any(np.isfinite(line).sum() < 2 for line in lines.values()):
        return None
    points: dict[str, Any] = {}
    if found.points_set:
        points[f"data: {found.points_set.replace('_', ' ')}"] = (found.points_x, found.points_y)
    every = np.concatenate([*lines.values(), found.points_y])
    every = every[np.isfinite(every)]
    is_log = bool(every.min() > 0 and every.max() > 20 * every.min())
    plot = curves(
        found.x,
        lines,
        points=points,
        x_axis=Axis(found.x_name, found.x_unit, "log"),
        y_axis=Axis("answer", found.y_unit, "log" if is_log else "linear"),
        title=title,
        theme=theme,
    )
    return with_guess(plot, mark, x=found.own_x, y=answer)


def _curve_of(template: Template) -> dict[str, str] | None:
    """Return what an exercise without a curve is drawn over: its first variable with a range."""
    ranged = [one for one in template.variables if one.high > one.low > 0 and not one.step]
    if ranged:
        variable = ranged[0]
        ends = (variable.low, variable.high)
    else:
        listed = [one for one in template.variables if len({x for x, _ in one.choices}) > 1]
        if not listed:
            return None
        variable = listed[0]
        values = [value for value, _ in variable.choices]
        ends = (min(values), max(values))
        if not ends[0] > 0:
            return None
    low, high = (units.show(end, variable.unit, digits=12) for end in ends)
    return {"x": variable.name, "low": low, "high": high}
