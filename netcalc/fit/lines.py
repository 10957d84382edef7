"""A straight line through points, and the latency and rate behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.display import unit_of_name
from netcalc.errors import ArgumentTypeError
from netcalc.fit.outliers import set_aside
from netcalc.fit.steps import FEWEST_BETWEEN, ChangePoints, Step, steps_of
from netcalc.messages import Notice
from netcalc.models.delays import latency
from netcalc.models.measuring.sample_statistics import theil_sen_intercept, theil_sen_slope
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.samples import RttSamples, TransferSamples
from netcalc.units import show

SIGNIFICANT_ERRORS = 2.0
"""A slope is significant if it is more than this many standard errors above 0: about 95%."""
ROUNDING_STD = 12**-0.5
"""Standard deviation of rounding to steps of 1: that of a uniform distribution of width 1."""
# Sums of a few hundred squares lose about three of the 16 digits of a float.
ROUNDING_RATIO = 1e-12
"""Residuals smaller than this share of the largest value are rounding, not scatter. [ratio]"""

WIDE_RATIO = 10.0
"""Where sizes, and times too, span more than this, errors may be relative to the times. [ratio]"""
UNDECIDED = 3.0
"""Less than this between the logarithms of two likelihoods decides nothing. [1]"""
BEND_LEVEL = 0.001
"""Probability that scatter alone makes the points of one line bend. [ratio]"""
FOR_RELATIVE = 0.5
"""Times over decades scatter by a ratio more often than by a time: so much ahead. [1]"""
_FIRST_LINES = 30
"""Iterations of the first line of relative errors."""

ABOVE_BAND_RATIO, BELOW_BAND_RATIO = 0.005, 0.045
"""How often the true line is above and below the 95% band. [ratio]"""
# A delay is never less than the path takes and may be far more. The mean of a few such times is
# more often too low than too high, and if it is low the scatter looks small too: with 2.5% on each
# side the band of 10 exponential delays misses in 11%, nearly always below the true line.


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A robust straight line through points: value = intercept + slope * x.

    ``slope_stderr`` and ``intercept_stderr`` are standard errors of least squares on the points
    kept; ``covariance`` is that of (intercept, slope). With two distinct x the line goes through
    both and has no residual to judge by: the errors are nan. With ``is_relative`` the errors of the
    points are in proportion to the values, and so is ``scale``: it is a ratio then.
    """

    intercept: float
    slope: float
    intercept_stderr: float
    slope_stderr: float
    covariance: float
    scale: float
    rank: int
    outlier: NDArray[np.bool_]
    is_relative: bool = False

    @property
    def ratio_error(self) -> float:
        """Standard error of slope over intercept, or of its inverse, as a share of it."""
        if not self.intercept * self.slope:
            return np.nan
        own, slope = self.intercept_stderr / self.intercept, self.slope_stderr / self.slope
        square = own**2 + slope**2 - 2 * self.covariance / (self.intercept * self.slope)
        return float(np.sqrt(np.maximum(square, 0.0)))

    def stderr_at(self, x: ArrayLike) -> FloatArray:
        """Return its standard error at ``x``: of its height at the points' centre and its slope."""
        x = np.asarray(x, dtype=float)
        own, slope = self.intercept_stderr, self.slope_stderr
        if np.isnan(self.covariance) or not own * slope > 0:
            return np.full(x.shape, own)
        centre = -self.covariance / slope / slope
        height = own * np.sqrt(max(1 - (centre * slope / own) ** 2, 0.0))
        return np.asarray(np.hypot(height, slope * (x - centre)))


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Parameters of a formula fitted to points, and the ones that the points do not determine.

    Parameters
    ----------
    params, stderr : mapping of str to float
        Parameters of ``model`` by name, in SI units, and their standard errors; nan if unknown.
    model : callable
        The public formula; ``model(x, **params)`` gives the prediction.
    x, measured : numpy.ndarray
        The points that were fitted.
    residual : numpy.ndarray
        Measured minus predicted; nan where the model could not be fitted.
    outlier : numpy.ndarray of bool
        Points set aside.
    line : Line
        The straight line behind the parameters, with its covariance.
    not_identifiable : mapping of str to Notice
        Parameters that the points do not determine, and the reason.
    notes : tuple of Notice
        Remarks: the content of the intercept, the points set aside.
    x_name, y_name : str
        Names of both axes, with the unit suffix of the nomenclature.
    stepped : ChangePoints or None
        The line with its steps, where the times have some; ``line`` is that below the first step.
    """

    params: Mapping[str, float]
    stderr: Mapping[str, float]
    model: Callable[..., FloatArray]
    x: FloatArray
    measured: FloatArray
    residual: FloatArray
    outlier: NDArray[np.bool_]
    line: Line
    not_identifiable: Mapping[str, Notice] = field(default_factory=dict)
    notes: tuple[Notice, ...] = ()
    x_name: str = "payload_bytes"
    y_name: str = "rtt_s"
    stepped: ChangePoints | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The sizes at which the times step up or down; none where they lie on one line."""
        return self.stepped.steps if self.stepped is not None else ()

    @property
    def degrees(self) -> int:
        """Degrees of freedom: points in the fit minus the parameters of its line."""
        if self.stepped is not None:
            return self.stepped.degrees
        return int((~self.outlier).sum()) - self.line.rank

    @property
    def covariance(self) -> FloatArray:
        """Covariance of ``params``, in their order; nan where a standard error is unknown.

        A rate is the inverse of a slope, so its part is that of small errors.
        """
        matrix = np.diag(np.array([self.stderr[name] for name in self.params]) ** 2)
        names = list(self.params)
        rate, base = names.index("bandwidth_bps"), 1 - names.index("bandwidth_bps")
        line, header_bytes = self.line, self.params.get("header_bytes", 0.0)
        height = line.covariance - header_bytes * line.slope_stderr**2
        shared = -self.params["bandwidth_bps"] / line.slope * height if line.slope else np.nan
        matrix[rate, base] = matrix[base, rate] = shared
        return matrix

    def predict(self, x: FloatArray) -> FloatArray:
        """Value of the fitted line at ``x``; the mean where the slope is not identifiable."""
        if self.stepped is not None:
            return self.stepped(x)
        return self.line.intercept + self.line.slope * np.asarray(x, dtype=float)

    def predict_stderr(self, x: FloatArray) -> FloatArray:
        """Standard error of the fitted line at ``x``, from the covariance of its parameters."""
        if self.stepped is not None:
            return self.stepped.stderr_at(x)
        return self.line.stderr_at(x)

    def band(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the 95% band of the line at ``x``: its lower and its upper limit.

        By Student's t, with :data:`ABOVE_BAND_RATIO` and :data:`BELOW_BAND_RATIO` outside; the line
        is that through the expected times. Without an error the band is the line.
        """
        from scipy.special import stdtrit  # late, as half of the package works without scipy

        middle = self.predict(x)
        degrees = self.degrees
        if degrees < 1 or np.isnan(self.line.covariance):
            return middle, middle
        error = self.predict_stderr(x)
        below, above = stdtrit(degrees, [1 - BELOW_BAND_RATIO, 1 - ABOVE_BAND_RATIO])
        return middle - float(below) * error, middle + float(above) * error

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95% interval of a parameter, by Student's t; nan where it has no error.

        That of a time at size 0 is the band there, and that of a rate is of the line's slope.
        """
        from scipy.special import stdtrit  # late, as half of the package works without scipy

        degrees, line = self.degrees, self.line
        if degrees < 1 or not self.stderr[name] > 0:
            return np.nan, np.nan
        if name != "bandwidth_bps":
            low, high = self.band(np.asarray(-self.params.get("header_bytes", 0.0)))
            return float(low), float(high)
        off = float(stdtrit(degrees, 0.975)) * line.slope_stderr
        bits = self.params[name] * line.slope
        return bits / (line.slope + off), bits / (line.slope - off) if line.slope > off else np.inf

    def summary(self) -> str:
        """Return the parameters with their errors, and the notes, as lines of text."""
        lines = []
        for name, value in self.params.items():
            unit = unit_of_name(name)
            if name in self.not_identifiable:
                lines.append(f"{name}: not identifiable: {self.not_identifiable[name]}")
                continue
            error = self.stderr[name]
            has_error = error != 0 and not np.isnan(error)
            plus_minus = f" ± {show(error, unit, digits=2)} (1 standard error)" if has_error else ""
            lines.append(f"{name}: {show(value, unit)}{plus_minus}")
        return "\n".join((*lines, *map(str, self.notes)))


@named_arguments
def robust_line(x: FloatArray, y: FloatArray, *, resolution: float = 0.0) -> Line:
    """Fit a straight line that a few outliers do not change.

    The first estimate is the Theil-Sen line. Points further from it than
    :data:`OUTLIER_DEVIATIONS` scales of the residuals (1.4826 times their median absolute
    deviation), which Student's t rejects as well (``set_aside``), are set
    aside; least squares on the others gives the line and its errors.

    Where both x and y span more than :data:`WIDE_RATIO`, a second line is fitted by weights of 1
    over the value, as of errors in proportion to it. The points choose: the line under which they
    are more likely, with normal scatter, is returned.

    Parameters
    ----------
    x, y : numpy.ndarray
        The points, one-dimensional and finite.
    resolution : float
        Step in which ``y`` was written or measured. Rounding to it scatters by its size over the
        square root of 12, and neither scale nor errors are less.

    Returns
    -------
    Line
        The line; its ``rank`` is 1, and its slope 0, if all ``x`` are equal.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    # Scaled to about 1, as squares of very large or small numbers overflow or underflow; dividing
    # by a power of two changes no digit.
    x_unit, y_unit = _power_of_two(x), _power_of_two(y)
    line = _scaled_line(x / x_unit, y / y_unit, resolution=resolution / y_unit)
    return Line(
        intercept=line.intercept * y_unit,
        slope=line.slope * y_unit / x_unit,
        intercept_stderr=line.intercept_stderr * y_unit,
        slope_stderr=line.slope_stderr * y_unit / x_unit,
        covariance=line.covariance * y_unit / x_unit * y_unit,
        scale=line.scale * (1.0 if line.is_relative else y_unit),
        rank=line.rank,
        outlier=line.outlier,
        is_relative=line.is_relative,
    )


def _power_of_two(values: FloatArray) -> float:
    largest = float(np.abs(values).max(initial=0.0))
    return float(2.0 ** (np.frexp(largest)[1] - 1)) if 0 < largest < np.inf else 1.0


def _scaled_line(x: FloatArray, y: FloatArray, *, resolution: float) -> Line:
    rounding = resolution * ROUNDING_STD
    floor = max(rounding, ROUNDING_RATIO * float(np.abs(y).max(initial=0.0)))
    distinct = np.unique(x).size
    if distinct < 2:
        middle = float(np.median(y)) if y.size else np.nan
        outlier, scale = set_aside(y - middle, y, np.ones((1, y.size)), floor=floor)
        kept = y[~outlier]
        scatter = max(float(kept.std(ddof=1)), rounding) if kept.size > 1 else np.nan
        error = scatter / np.sqrt(kept.size) if kept.size else np.nan
        centre = float(kept.mean()) if kept.size else np.nan
        return Line(centre, 0.0, float(error), np.nan, np.nan, scale, min(distinct, 1), outlier)
    slope = float(theil_sen_slope(x, y=y))
    intercept = float(theil_sen_intercept(x, y=y))
    rows = np.stack([np.ones_like(x), x])
    outlier, scale = set_aside(y - intercept - slope * x, y, rows, floor=floor)
    line = _least_squares(x, y, np.ones_like(y), outlier, scale, rounding)
    if not _is_wide(x, y):
        return line
    relative = _relative_line(x, y, rounding)
    shared = ~(line.outlier & relative.outlier)
    likely = [_likelihood(x[shared], y[shared], line_of, rounding) for line_of in (line, relative)]
    ahead = likely[1] - likely[0] + FOR_RELATIVE
    chosen, other = (relative, line) if ahead > 0 else (line, relative)
    return _wider(chosen, other) if abs(ahead) < UNDECIDED else chosen


def _wider(line: Line, other: Line) -> Line:
    """Return a line with the errors of another one where these are larger."""
    own, slope = line.intercept_stderr, line.slope_stderr
    wide = float(np.fmax(own, other.intercept_stderr)), float(np.fmax(slope, other.slope_stderr))
    shared = line.covariance / (own * slope) * wide[0] * wide[1] if own * slope > 0 else np.nan
    return replace(line, intercept_stderr=wide[0], slope_stderr=wide[1], covariance=float(shared))


def _is_wide(x: FloatArray, y: FloatArray) -> bool:
    """Whether points may have errors in proportion to their values: both span a decade.

    A size of 0, an empty message, is as small as any.
    """
    return bool(
        np.unique(x).size > 2
        and x.min() >= 0
        and y.min() > 0
        and x.max() > WIDE_RATIO * x[x > 0].min()
        and y.max() > WIDE_RATIO * y.min()
    )


def _relative_line(x: FloatArray, y: FloatArray, rounding: float) -> Line:
    """Fit the line of errors in proportion to the values."""
    rows = np.stack([np.ones_like(x), x])
    # The line of least sum of relative deviations, by weights that are renewed: no point far off
    # decides it, and one that is too slow by any factor is off by its own time at most.
    weight, at = 1.0 / y, y
    for _ in range(_FIRST_LINES):
        coefficients, *_ = np.linalg.lstsq((rows * weight).T, y * weight, rcond=None)
        at = np.asarray(coefficients @ rows, dtype=float)
        off = np.abs(y - at) / y
        weight = 1.0 / y / np.sqrt(np.maximum(off, max(1e-3 * float(np.median(off)), 1e-12)))
    error = np.maximum(at, y.min() / 2)
    outlier, scale = set_aside(
        (y - at) / error, y / error, rows / error, floor=max(rounding / y.min(), ROUNDING_RATIO)
    )
    # The errors are those of the expected values, which the line itself gives.
    for _ in range(3):
        line = _least_squares(x, y, error, outlier, scale, rounding)
        error = np.maximum(line.intercept + line.slope * x, y.min() / 2)
    return replace(line, is_relative=True)


def _likelihood(x: FloatArray, y: FloatArray, line: Line, rounding: float) -> float:
    """Return the logarithm of how likely the points are under a line, up to a constant.

    It is the restricted likelihood: a point that decides the line fits it whatever its scatter, and
    must not count as if it agreed. The scatter is the mean deviation (that of Laplace), which the
    point that is most off does not decide.
    """
    at = line.intercept + line.slope * x
    error = np.maximum(at, y.min() / 2) if line.is_relative else np.ones_like(y)
    least = max(rounding / float(error.max()), ROUNDING_RATIO)
    scatter = max(float((np.abs(y - at) / error).mean()), least)
    rows = np.stack([np.ones_like(x), x]) / error
    _, determinant = np.linalg.slogdet(rows @ rows.T)
    freedom = float(y.size - 2)
    return float(-freedom * np.log(scatter) - np.log(error).sum() - determinant / 2)


@named_arguments
def stepped_line(
    x: FloatArray, y: FloatArray, *, resolution: float = 0.0
) -> tuple[Line, ChangePoints | None]:
    """Fit a straight line, and the line with steps where a step stands out of the scatter.

    Outliers in a row are a level of their own: three or more are tried as a step before any of them
    is set aside.

    Parameters
    ----------
    x, y : numpy.ndarray
        The points, one-dimensional and finite.
    resolution : float
        As for :func:`robust_line`.

    Returns
    -------
    tuple
        The line, with steps that below the first one, and the line with its steps or None.
    """
    line = robust_line(x, y, resolution=resolution)
    if line.is_relative:
        return line, None
    alone = _alone(x, line.outlier)
    stepped = steps_of(x[~alone], y[~alone])
    if stepped is None:
        return line, None
    jumps = stepped(x) - stepped.intercept - stepped.slope * x
    line = robust_line(x, y - jumps, resolution=resolution)
    kept = ~line.outlier
    stepped = steps_of(x[kept], y[kept])
    if stepped is None:
        return robust_line(x, y, resolution=resolution), None
    own, slope = np.sqrt(np.diag(stepped.covariance))[:2].tolist()
    line = replace(
        line, intercept=stepped.intercept, slope=stepped.slope, intercept_stderr=own,
        slope_stderr=slope, covariance=float(stepped.covariance[0, 1]),
    )  # fmt: skip
    return line, stepped


def _alone(x: FloatArray, outlier: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the outliers that are not in a row of as many as a level needs."""
    order = np.argsort(x, kind="stable")
    flags = outlier[order].astype(int)
    edges = np.flatnonzero(np.diff(flags, prepend=0, append=0))
    for begin, end in edges.reshape(-1, 2).tolist():
        if end - begin >= FEWEST_BETWEEN:
            flags[begin:end] = 0
    alone = np.zeros(outlier.size, bool)
    alone[order] = flags > 0
    return alone


@named_arguments
def rtt_against_size(
    samples: RttSamples, *, header_bytes: int = DATAGRAM_HEADERS_BYTES, minima: bool = True
) -> Fit:
    """Fit base round trip and equivalent rate to round trips of several sizes.

    Parameters
    ----------
    samples : RttSamples
        Round trips; lost probes, duplicates and late replies do not enter.
    header_bytes : int
        Headers that are transmitted with the user data: 28 for IPv4 with ICMP or UDP. [byte]
    minima : bool
        Fit the minimum round-trip time of each size, which queueing disturbs least; otherwise all.

    Returns
    -------
    Fit
        ``base_rtt_s`` (round-trip time at size 0) and ``bandwidth_bps`` (equivalent rate, one way)
        of :func:`netcalc.models.delays.latency.echo_rtt_s`.
    """
    if not isinstance(samples, RttSamples):
        raise ArgumentTypeError(
            "not-of-class", "samples", type(samples).__name__, expected="RttSamples"
        )
    if minima:
        size, rtt = samples.minima()
    else:
        is_sized = samples.measured & ~np.isnan(np.asarray(samples.payload_bytes))
        size = np.asarray(samples.payload_bytes)[is_sized]
        rtt = np.asarray(samples.rtt_s)[is_sized]
    resolution = np.asarray(samples.resolution_s)
    smallest = float(np.fmin.reduce(resolution, where=samples.measured, initial=np.inf))
    line, stepped = stepped_line(size, rtt, resolution=smallest if np.isfinite(smallest) else 0.0)
    reason = _no_rate_reason(size, line, bits=16.0, one_size="one-size-of-echo")
    bandwidth = np.nan if reason else 16.0 / line.slope
    bandwidth_error = np.nan if reason else bandwidth * line.slope_stderr / line.slope
    header_s = 0.0 if reason else header_bytes * line.slope
    base = line.intercept - header_s
    base_error = float(line.stderr_at(-header_bytes))
    notes = []
    not_identifiable = {"bandwidth_bps": reason} if reason else {}
    if not size.size:
        not_identifiable["base_rtt_s"] = Notice("no-round-trips")
        base = np.nan
    elif reason:
        notes.append(_base_note(size))
        base, base_error = float(np.mean(rtt[~line.outlier])), np.nan
    else:
        values = {
            "intercept_s": line.intercept, "header_s": header_s, "header_bytes": header_bytes,
        }  # fmt: skip
        notes.append(Notice("intercept-includes-headers", values))
        if base < 0:
            values = {"intercept_s": line.intercept}
            not_identifiable["base_rtt_s"] = Notice("intercept-below-headers", values)
            base = np.nan
    return Fit(
        params={"base_rtt_s": base, "bandwidth_bps": bandwidth, "header_bytes": header_bytes},
        stderr={"base_rtt_s": base_error, "bandwidth_bps": bandwidth_error, "header_bytes": 0.0},
        model=latency.echo_rtt_s,
        x=size,
        measured=rtt,
        residual=_residual(rtt, _fitted(line, stepped, size)),
        outlier=line.outlier,
        line=line,
        not_identifiable=not_identifiable,
        notes=(*notes, *_packet_notes(stepped, header_bytes), *_outlier_notes(size, rtt, line)),
        stepped=stepped,
    )


@named_arguments
def transfer_against_size(samples: TransferSamples) -> Fit:
    """Fit latency and rate to the times of transfers of several sizes.

    Parameters
    ----------
    samples : TransferSamples
        Transfers; failed ones do not enter.

    Returns
    -------
    Fit
        ``latency_s`` and ``bandwidth_bps`` of :func:`netcalc.models.delays.latency.transfer_s`.
    """
    if not isinstance(samples, TransferSamples):
        raise ArgumentTypeError(
            "not-of-class", "samples", type(samples).__name__, expected="TransferSamples"
        )
    size = np.asarray(samples.payload_bytes)[samples.measured]
    time = np.asarray(samples.duration_s)[samples.measured]
    line, stepped = stepped_line(
        size, time, resolution=samples.meta.resolutions.get("duration_s", 0.0)
    )
    bend = _bend(size, time, line)
    reason = _no_rate_reason(size, line, bits=8.0, one_size="one-size-of-transfer") or bend
    not_identifiable = {"bandwidth_bps": reason} if reason else {}
    latency_s = line.intercept
    if not size.size:
        not_identifiable["latency_s"] = Notice("no-transfers")
        latency_s = np.nan
    elif bend is not None:
        not_identifiable["latency_s"] = bend
        latency_s = np.nan
    elif latency_s < 0:
        not_identifiable["latency_s"] = Notice("intercept-negative", {"intercept_s": latency_s})
        latency_s = np.nan
    bandwidth = np.nan if reason else 8.0 / line.slope
    return Fit(
        params={"latency_s": latency_s, "bandwidth_bps": bandwidth},
        stderr={
            "latency_s": line.intercept_stderr,
            "bandwidth_bps": np.nan if reason else bandwidth * line.slope_stderr / line.slope,
        },
        model=latency.transfer_s,
        x=size,
        measured=time,
        residual=_residual(time, _fitted(line, stepped, size)),
        outlier=line.outlier,
        line=line,
        not_identifiable=not_identifiable,
        notes=_outlier_notes(size, time, line),
        y_name="transfer_s",
        stepped=stepped,
    )


def _fitted(line: Line, stepped: ChangePoints | None, x: FloatArray) -> FloatArray:
    return line.intercept + line.slope * x if stepped is None else stepped(x)


def _residual(y: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return y minus the prediction; 0 where the two differ by the rounding of floats alone."""
    residual = y - predicted
    return np.where(np.abs(residual) <= ROUNDING_RATIO * np.abs(y), 0.0, residual)


def _least_squares(
    x: FloatArray,
    y: FloatArray,
    error: FloatArray,
    outlier: NDArray[np.bool_],
    scale: float,
    rounding: float,
) -> Line:
    """Fit a line to the points kept, each with an error in proportion to ``error``."""
    kept = ~outlier
    x_kept, y_kept, weight = x[kept], y[kept], error[kept] ** -2.0
    total = float(weight.sum())
    centre = float((weight * x_kept).sum()) / total
    middle = float((weight * y_kept).sum()) / total
    spread = float((weight * (x_kept - centre) ** 2).sum())
    slope = float((weight * (x_kept - centre) * (y_kept - middle)).sum()) / spread
    intercept = middle - slope * centre
    if x_kept.size < 3 or np.unique(x_kept).size < 3:
        return Line(intercept, slope, np.nan, np.nan, np.nan, scale, 2, outlier)
    residual = y_kept - intercept - slope * x_kept
    variance = float((weight * residual**2).sum()) / (x_kept.size - 2)
    variance = max(variance, rounding**2 * total / x_kept.size)
    slope_variance = variance / spread
    intercept_variance = variance * (1 / total + centre**2 / spread)
    return Line(
        intercept,
        slope,
        float(np.sqrt(intercept_variance)),
        float(np.sqrt(slope_variance)),
        float(-centre * slope_variance),
        scale,
        2,
        outlier,
    )


def _no_rate_reason(x: FloatArray, line: Line, *, bits: float, one_size: str) -> Notice | None:
    """Return why the points do not determine a rate; None if they do."""
    if x.size == 0:
        return Notice("no-points")
    if line.rank < 2:
        return Notice(one_size, {"size_bytes": float(x[0])})
    if line.slope <= 0:
        return Notice("no-increase-with-size")
    if line.slope <= SIGNIFICANT_ERRORS * line.slope_stderr:
        steepest = line.slope + SIGNIFICANT_ERRORS * line.slope_stderr
        return Notice("slope-insignificant", {"bound_bps": bits / steepest})
    return None


def _bend(x: FloatArray, y: FloatArray, line: Line) -> Notice | None:
    """Return that times over decades of sizes bend, so that no line has both of their ends.

    By the F test of a term with the root of the size, which is largest between the two ends.
    """
    from scipy.special import fdtrc  # late, as half of the package works without scipy

    kept = ~line.outlier
    degrees = int(kept.sum()) - 3
    if not line.is_relative or degrees < 1:
        return None
    at, value = x[kept], y[kept]
    error = np.maximum(line.intercept + line.slope * at, value.min() / 2)
    rows = np.stack([np.ones_like(at), at, np.sqrt(at)]) / error
    rows /= np.abs(rows).max(axis=1, keepdims=True)
    left = []
    for used in (rows[:2], rows):
        coefficients, *_ = np.linalg.lstsq(used.T, value / error, rcond=None)
        left.append(float(((value / error - coefficients @ used) ** 2).sum()))
    floor = ROUNDING_RATIO**2 * at.size
    gain = (left[0] - left[1]) / (max(left[1], floor) / degrees)
    if left[0] <= floor or float(fdtrc(1, degrees, gain)) > BEND_LEVEL:
        return None
    least, largest = int(np.argmin(at)), int(np.argmax(at))
    values = {
        "least_s": float(value[least]), "least_bytes": float(at[least]),
        "largest_s": float(value[largest]), "largest_bytes": float(at[largest]),
        "rate_bps": 8.0 * float(at[largest]) / float(value[largest]),
    }  # fmt: skip
    return Notice("times-bend", values)


def _base_note(x: FloatArray) -> Notice:
    """Return the sizes at which a base round-trip time without a rate was measured."""
    low, high = float(x.min()), float(x.max())
    if low == high:
        return Notice("base-at-one-size", {"size_bytes": low})
    return Notice("base-at-several-sizes", {"low_bytes": low, "high_bytes": high})


def _packet_notes(stepped: ChangePoints | None, header_bytes: int) -> tuple[Notice, ...]:
    """Return the packet sizes at which times step up: beyond an MTU a packet is cut in two."""
    notices = []
    for step in stepped.steps if stepped is not None else ():
        low, high = step.low + header_bytes, step.high + header_bytes - 1
        values = {"low_bytes": low, "high_bytes": high, "header_bytes": header_bytes}
        if step.jump > 0:
            code = "step-of-packet" if low == high else "step-of-packets"
            notices.append(Notice(code, values))
    return tuple(notices)


def _outlier_notes(x: FloatArray, y: FloatArray, line: Line) -> tuple[Notice, ...]:
    if not line.outlier.any():
        return ()
    sizes, times = x[line.outlier].tolist(), y[line.outlier].tolist()
    values = {"count": len(sizes), "sizes_bytes": sizes, "times_s": times}
    return (Notice("outliers-set-aside", values),)
