"""One object to print, to draw and to reason with; a formula with nothing to fit put into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, as_float
from netcalc.fit import Fit
from netcalc.path import Path
from netcalc.printable import printable_lines
from netcalc.units import show

CURVE_POINTS = 200
"""Points of the drawn curve."""
TCP_HEADERS_BYTES = 52
"""Headers of IPv4 and of TCP with its timestamps. [byte]"""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Measured points, the prediction at each, the band and what is left.

    Parameters
    ----------
    x, measured, predicted, residual : numpy.ndarray
        The points; ``residual`` is measured less predicted.
    outlier : numpy.ndarray of bool
        Points that did not enter the fit.
    curve_x, curve_y, curve_low, curve_high : numpy.ndarray
        The prediction over the range of ``x`` and its 95% band; the band is the curve itself
        where no uncertainty is known.
    x_name, x_unit, y_name, y_unit : str
        What is on the axes, and in which SI unit.
    title, measured_label, predicted_label : str
        For the figure and its legend.
    sentence : str
        What the comparison says.
    fit : Fit or None
        The fit behind the prediction, if it was fitted.
    """

    x: FloatArray
    measured: FloatArray
    predicted: FloatArray
    residual: FloatArray
    outlier: NDArray[np.bool_]
    curve_x: FloatArray
    curve_y: FloatArray
    curve_low: FloatArray
    curve_high: FloatArray
    x_name: str
    x_unit: str
    y_name: str
    y_unit: str
    title: str
    measured_label: str
    predicted_label: str
    sentence: str
    fit: Fit | None = None

    def __post_init__(self) -> None:
        for name in ("title", "measured_label", "predicted_label", "sentence"):
            object.__setattr__(self, name, printable_lines(getattr(self, name)))

    def rows(self) -> list[dict[str, float]]:
        """Return the points as rows: x, measured, predicted and residual."""
        return [
            {"x": float(a), "measured": float(b), "predicted": float(c), "residual": float(d)}
            for a, b, c, d in zip(self.x, self.measured, self.predicted, self.residual, strict=True)
        ]


def with_theory(
    comparison: Comparison, theory: Callable[[FloatArray], FloatArray], *, label: str
) -> Comparison:
    """Replace the prediction by a known formula: nothing is fitted, so there is no band."""
    curve = np.asarray(theory(comparison.curve_x), dtype=float)
    predicted = np.asarray(theory(comparison.x), dtype=float)
    residual = comparison.measured - predicted
    kept = residual[~comparison.outlier & np.isfinite(residual)]
    sentence = "There are no points to compare with the theory."
    if kept.size:
        worst = int(np.argmax(np.abs(kept)))
        sentence = (
            f"Measured less {label}: {show(float(np.median(kept)), comparison.y_unit)} in the "
            f"median of {kept.size} point{'s' * (kept.size > 1)}, "
            f"{show(float(kept[worst]), comparison.y_unit)} at most."
        )
    return replace(
        comparison,
        predicted=predicted,
        residual=residual,
        curve_y=curve,
        curve_low=curve,
        curve_high=curve,
        predicted_label=label,
        sentence=sentence,
        fit=None,
    )


def points(
    x: ArrayLike,
    *,
    measured: ArrayLike,
    theory: Callable[[FloatArray], FloatArray],
    x_name: str,
    x_unit: str,
    y_name: str,
    y_unit: str,
    title: str = "",
    measured_label: str = "measured",
    predicted_label: str = "theory",
) -> Comparison:
    """Compare points of any kind with a formula that has nothing to fit."""
    at, value = as_float("x", x), as_float("measured", measured)
    curve_x = curve_over(at)
    empty = np.full(at.shape, np.nan)
    bare = Comparison(
        x=at,
        measured=value,
        predicted=empty,
        residual=empty,
        outlier=np.zeros(at.shape, bool),
        curve_x=curve_x,
        curve_y=curve_x,
        curve_low=curve_x,
        curve_high=curve_x,
        x_name=x_name,
        x_unit=x_unit,
        y_name=y_name,
        y_unit=y_unit,
        title=title,
        measured_label=measured_label,
        predicted_label=predicted_label,
        sentence="",
    )
    return with_theory(bare, theory, label=predicted_label)


def curve_over(x: FloatArray) -> FloatArray:
    """Return where to draw a curve: from 0 to a little beyond the points."""
    x = x[np.isfinite(x)]
    if not x.size:
        return np.linspace(0.0, 1500.0, CURVE_POINTS)
    return np.linspace(min(0.0, float(np.min(x))), float(np.max(x)) * 1.05 or 1.0, CURVE_POINTS)


def emulated_path(facts: Mapping[str, Any]) -> Path | None:
    """Return the path that a run was made to go, from what it noted; None without one."""
    truth = facts.get("truth")
    return Path.from_truth(truth) if truth else None
