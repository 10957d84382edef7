"""A comparison of measured and predicted values, or with a formula, and shares of a link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.fit import Fit
from netcalc.language import phrase, term
from netcalc.models.rates.goodput import tcp_goodput_bps
from netcalc.models.sizes.framing import tcp_payload_bytes
from netcalc.models.sizes.headers import TIMESTAMP_BYTES
from netcalc.models.tcp.sharing import drain_s, max_min_bps
from netcalc.models.tcp.slow_start import rounds
from netcalc.printable import printable_lines
from netcalc.units import show

CURVE_POINTS = 200
"""Points of a drawn curve: on a figure of 760 pixels a step of 4 pixels looks continuous."""
PATH_LABEL = term("predicted from the path")
"""Label of a prediction for a known path."""


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


def curve_over(x: FloatArray, *, decades: bool = False) -> FloatArray:
    """Return the positions of a drawn curve: from 0 to 5% beyond the last point.

    Over ``decades`` they are as dense in each of them, from the first point above 0 on.
    """
    x = x[np.isfinite(x)]
    if not x.size:
        return np.linspace(0.0, 1500.0, CURVE_POINTS)
    if decades:
        return np.geomspace(float(np.min(x[x > 0])), float(np.max(x)) * 1.05, CURVE_POINTS)
    return np.linspace(min(0.0, float(np.min(x))), float(np.max(x)) * 1.05 or 1.0, CURVE_POINTS)


MTU_BYTES = 1500


@named_arguments
def request_goodput_bps(
    stream_count: ArrayLike,
    *,
    request_bytes: float,
    bandwidth_bps: float,
    rtt_s: float,
    queue_bytes: float = 0.0,
    slow_start: bool = False,
) -> FloatArray:
    """Estimate the goodput of back-to-back requests that share a link with long flows.

    A request takes its round trips, each with a wait in the queue, and its size over an equal
    share of the goodput of an Ethernet line with packets of 1500 bytes and TCP time stamps.

    Parameters
    ----------
    stream_count : array_like
        Long flows beside the requests. [1]
    request_bytes : float
        Size of a request. [byte]
    bandwidth_bps, rtt_s : float
        Rate of the line, and round trip without load. [bit/s], [s]
    queue_bytes : float
        Queue that each round trip waits for. [byte]
    slow_start : bool
        Whether a request takes the round trips of slow start from ten segments; otherwise one.

    Returns
    -------
    numpy.ndarray
        Mean goodput of the requests. [bit/s]

    Examples
    --------
    One megabyte beside one flow, 10 Gbit/s and 20 us: 1.70 ms over half of the line, and 20 us.

    >>> found = request_goodput_bps(1, request_bytes=1e6, bandwidth_bps=1e10, rtt_s=20e-6)
    >>> round(float(found) / 1e9, 3)
    4.653
    """
    line_bps = float(
        tcp_goodput_bps(MTU_BYTES, bandwidth_bps=bandwidth_bps, tcp_option_bytes=TIMESTAMP_BYTES)
    )
    share_bps = line_bps / (np.asarray(stream_count, dtype=float) + 1.0)
    segment = float(tcp_payload_bytes(MTU_BYTES, tcp_option_bytes=TIMESTAMP_BYTES))
    trips = float(rounds(np.ceil(request_bytes / segment))) if slow_start else 1.0
    wait_s = float(drain_s(queue_bytes, bandwidth_bps=bandwidth_bps))
    bits = 8.0 * request_bytes
    return np.asarray(bits / (trips * (rtt_s + wait_s) + bits / share_bps))


@named_arguments
def ideal_shares(
    start_s: ArrayLike, *, duration_s: ArrayLike, capacity_bps: float
) -> tuple[FloatArray, FloatArray]:
    """Return the max-min fair rates of flows that come and go on one link, as steps.

    Parameters
    ----------
    start_s, duration_s : array_like
        Start and duration of each flow. [s]
    capacity_bps : float
        What the flows share. [bit/s]

    Returns
    -------
    time_s : numpy.ndarray
        Both sides of each step. [s]
    rate_bps : numpy.ndarray
        One row for each flow; nan while it does not run. [bit/s]

    Examples
    --------
    >>> time_s, rate_bps = ideal_shares([0, 20], duration_s=[60, 20], capacity_bps=10.0)
    >>> time_s.tolist(), rate_bps[0].tolist()
    ([0.0, 20.0, 20.0, 40.0, 40.0, 60.0], [10.0, 10.0, 5.0, 5.0, 10.0, 10.0])
    """
    start = np.asarray(start_s, dtype=float)
    end = start + np.asarray(duration_s, dtype=float)
    edges = np.unique(np.concatenate([start, end]))
    rate = np.full((start.size, edges.size - 1), np.nan)
    for column, (low, high) in enumerate(pairwise(edges)):
        runs = (start < high) & (end > low)
        if not runs.any():
            continue
        demand = np.full(np.count_nonzero(runs), capacity_bps)
        rate[runs, column] = max_min_bps(demand, capacity_bps=capacity_bps)
    return np.repeat(edges, 2)[1:-1], np.repeat(rate, 2, axis=1)
