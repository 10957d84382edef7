"""What a figure of an answer shows: the right formula and a wrong one over one of the variables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc import datasets, units
from netcalc.errors import DomainError, NetcalcError
from netcalc.exercises._drawing import Drawn
from netcalc.exercises._formula import Compiled
from netcalc.exercises._template import Template
from netcalc.printable import excerpt

FloatArray: TypeAlias = NDArray[np.float64]

POINTS = 121
"""Points of a curve, at equal ratios: 24 a decade over five decades."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCurves:
    """Curves and points for the figure of an answer.

    Parameters
    ----------
    x_name, x_unit, y_unit : str
        The variable that the figure is drawn over, its SI unit, and that of the answer.
    x : numpy.ndarray
        Values of the variable.
    right : numpy.ndarray
        The right answer at each of them; nan where there is none.
    wrong : mapping of str to numpy.ndarray
        The answers of the wrong formulas asked for, by the name of the mistake.
    own_x : float
        The value of the variable in the question: where the answer of the student belongs.
    points_set : str
        Name of the measured data set; empty if there is none.
    points_x, points_y : numpy.ndarray
        Its points, in the same units.
    """

    x_name: str
    x_unit: str
    y_unit: str
    x: FloatArray
    right: FloatArray
    wrong: dict[str, FloatArray]
    own_x: float
    points_set: str = ""
    points_x: FloatArray = field(default_factory=lambda: np.empty(0))
    points_y: FloatArray = field(default_factory=lambda: np.empty(0))


def curves(template: Template, drawn: Drawn, names: tuple[str, ...]) -> AnswerCurves:
    """Compute the curves of a question.

    Raises
    ------
    DomainError
        If the exercise says no curve, or has no mistake of a name.
    DatasetError
        If the data set is missing.
    """
    about = template.curve
    if not about:
        raise DomainError("exercise-without-curve", "exercise", template.id)
    unknown = next((name for name in names if name not in template.mistakes), None)
    if unknown is not None:
        raise DomainError(
            "exercise-mistake-unknown", "name", excerpt(unknown), exercise=template.id,
            known=list(template.mistakes),
        )  # fmt: skip
    variable = next(one for one in template.variables if one.name == about["x"])
    low, high = (units.parse_typed(about[end], variable.unit) for end in ("low", "high"))
    x = np.geomspace(low, high, POINTS)
    points_x = points_y = np.empty(0)
    if about.get("points"):
        columns = datasets.load(about["points"]).columns()
        found = [np.asarray(columns[about[axis]], dtype=float) for axis in ("point_x", "point_y")]
        points_x, points_y = found
    return AnswerCurves(
        x_name=variable.name,
        x_unit=variable.unit,
        y_unit=template.unit,
        x=x,
        right=_over(template.right, variable.name, x, drawn),
        wrong={
            name: _over(template.mistake(name).formula, variable.name, x, drawn) for name in names
        },
        own_x=drawn.values[variable.name],
        points_set=about.get("points", ""),
        points_x=points_x,
        points_y=points_y,
    )


def _over(formula: Compiled, name: str, x: FloatArray, drawn: Drawn) -> FloatArray:
    return np.array([_at(formula, {**drawn.values, name: float(value)}) for value in x])


def _at(formula: Compiled, values: dict[str, float]) -> float:
    try:
        return formula(values)
    except NetcalcError:
        return math.nan
