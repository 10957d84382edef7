"""A comparison of measured and predicted values, and one with a formula that is not fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.fit import Fit
from netcalc.language import phrase, term
from netcalc.path import Path
from netcalc.printable import printable_lines
from netcalc.samples import Instrument, Meta, Samples, Table, TransactionSamples
from netcalc.units import show

CURVE_POINTS = 200
"""Points of a drawn curve: on a figure of 760 pixels a step of 4 pixels looks continuous."""
PATH_LABEL = term("predicted from the path")
"""Label of a prediction for a known path."""

FULL_SEGMENT_BYTES = 1448
"""User data of a full segment with timestamps on a path with an MTU of 1500 bytes. [byte]"""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Measured points, the prediction with its band, and the residuals.

    Parameters
    ----------
    x, measured, predicted, residual : numpy.ndarray
        The points; ``residual`` is measured minus predicted.
    outlier : numpy.ndarray of bool
        Points that were left out of the fit.
    curve_x, curve_y, curve_low, curve_high : numpy.ndarray
        The prediction over the range of ``x`` and its 95% band; the band is the curve itself
        where no uncertainty is known.
    x_name, x_unit, y_name, y_unit : str
        Names and SI units of the axes.
    title, measured_label, predicted_label : str
        Title and legend of the figure.
    sentence : str
        Summary of the comparison.
    fit : Fit or None
        The fit that gives the prediction; None if nothing was fitted.
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


@named_arguments
def with_theory(
    comparison: Comparison, theory: Callable[[FloatArray], FloatArray], *, label: str
) -> Comparison:
    """Replace the prediction by a formula that is not fitted and therefore has no band."""
    curve = np.asarray(theory(comparison.curve_x), dtype=float)
    predicted = np.asarray(theory(comparison.x), dtype=float)
    residual = comparison.measured - predicted
    kept = residual[~comparison.outlier & np.isfinite(residual)]
    return replace(
        comparison,
        predicted=predicted,
        residual=residual,
        curve_y=curve,
        curve_low=curve,
        curve_high=curve,
        predicted_label=label,
        sentence=_residual_sentence(kept, comparison),
        fit=None,
    )


def _residual_sentence(residual: FloatArray, comparison: Comparison) -> str:
    """Summarize measured minus predicted: median and worst, with their sign."""
    if not residual.size:
        return phrase("There are no measured points to compare with the prediction.")
    worst = float(residual[np.argmax(np.abs(residual))])
    if comparison.x_unit == "byte":
        count = phrase("1 size") if residual.size == 1 else phrase("{n} sizes", n=residual.size)
    else:
        count = phrase("1 point") if residual.size == 1 else phrase("{n} points", n=residual.size)
    return phrase(
        "Measured minus predicted: median {median}, worst {worst} ({count}).",
        median=_signed(float(np.median(residual)), comparison),
        worst=_signed(worst, comparison),
        count=count,
    )


def _signed(value: float, comparison: Comparison) -> str:
    return f"{'+' * (value > 0)}{show(value, comparison.y_unit)}"


@named_arguments
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
    predicted_label: str = "predicted",
) -> Comparison:
    """Compare points of any kind with a formula that is not fitted."""
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
    """Return the positions of a drawn curve: from 0 to 5% beyond the last point."""
    x = x[np.isfinite(x)]
    if not x.size:
        return np.linspace(0.0, 1500.0, CURVE_POINTS)
    return np.linspace(min(0.0, float(np.min(x))), float(np.max(x)) * 1.05 or 1.0, CURVE_POINTS)


# Files saved before ``meta.experiment`` existed name the experiment in the tool.
_EXPERIMENTS = {
    "netcalc line-rate": "line_rate",
    "netcalc lockstep": "lockstep",
    "netcalc small-writes": "small_writes",
    "netcalc transactions": "transactions",
}


def experiment(meta: Meta) -> str:
    """Return the experiment of a run, such as ``line_rate``; empty for samples of another tool."""
    return meta.experiment or _EXPERIMENTS.get(meta.tool, "")


@named_arguments
def is_small_writes(samples: TransactionSamples) -> bool:
    """Whether each request of a run was written in parts."""
    name = experiment(samples.meta)
    if not name:  # samples that a program put together itself
        return samples.meta.instrument.write_bytes is not None
    return name == "small_writes"


@named_arguments
def is_router_queue(samples: Samples) -> TypeGuard[Table]:
    """Whether a table is a run of a router as a queue."""
    return isinstance(samples, Table) and experiment(samples.meta) == "router_queue"


def emulated_path(facts: Instrument) -> Path | None:
    """Return the emulated path of a run; None without one."""
    return Path.from_truth(facts.truth) if facts.truth else None


def truth_value(facts: Instrument, name: str, default: Any) -> Any:
    """Return a setting of the emulated path of a run, or a default without one."""
    return (facts.truth or {}).get(name, default)
