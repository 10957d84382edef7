"""The two limits of a forwarding path: a packet rate, and the rate of a line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.models.rates.forwarding import crossover_frame_bytes
from netcalc.models.rates.line_rate import frame_rate_pps, required_bandwidth_bps

COUNT_RATIO = 1e-3
"""Smallest relative error of a rate: that of the clocks and of the ends of a run. [ratio]"""
_QUANTILE = 0.975


@dataclass(frozen=True, slots=True, eq=False)
class Regimes:
    """A packet rate and a line, each with its standard error, through rates by frame size.

    Parameters
    ----------
    params, stderr : mapping of str to float
        ``packet_pps`` [packet/s] and ``line_bps`` [bit/s, Ethernet line], and their standard
        errors; nan where no point is limited by it.
    bounds : mapping of str to float
        Least value of each: what was measured, where the limit was not reached.
    degrees : int
        Degrees of freedom: sizes in the fit minus the limits found.
    x, measured, residual : numpy.ndarray
        The sizes of the frames with FCS [byte], the highest rate of each, and measured
        minus predicted [packet/s].
    outlier : numpy.ndarray of bool
        Sizes that are not in the fit, as something else limits them.
    not_identifiable : mapping of str to Notice
        Limits that the points do not determine, and the reason.
    """

    params: Mapping[str, float]
    stderr: Mapping[str, float]
    bounds: Mapping[str, float]
    degrees: int
    x: FloatArray
    measured: FloatArray
    residual: FloatArray
    outlier: NDArray[np.bool_]
    not_identifiable: Mapping[str, Notice] = field(default_factory=dict)

    def predict(self, x: ArrayLike, *, deviations: float = 0.0) -> FloatArray:
        """Return the lower limit at each size; nan if none is known. [packet/s]

        ``deviations`` is the number of standard errors by which both are moved.
        """
        frames = np.asarray(x, dtype=float)
        pps, bps = (
            self.params[name] + deviations * np.nan_to_num(self.stderr[name])
            for name in ("packet_pps", "line_bps")
        )
        line = np.full(frames.shape, np.nan)
        if bps > 0:
            line = frame_rate_pps(frames, bandwidth_bps=bps)
        return np.asarray(np.fmin(line, max(pps, 0.0) if pps == pps else pps))

    def band(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return both ends of the 95% band of :meth:`predict`. [packet/s]"""
        deviations = _student_t(self.degrees)
        return self.predict(x, deviations=-deviations), self.predict(x, deviations=deviations)

    def margin_of(self, name: str) -> float:
        """Half width of the 95% interval of a limit."""
        return _student_t(self.degrees) * self.stderr[name]

    @property
    def crossover_bytes(self) -> float:
        """Frame from which on the line limits; nan unless both limits are known. [byte]"""
        pps, bps = self.params["packet_pps"], self.params["line_bps"]
        if not (pps > 0 and bps > 0):
            return math.nan
        return float(crossover_frame_bytes(pps, bandwidth_bps=bps))

    @property
    def misfit_ratio(self) -> float:
        """Largest residual of the fit, as a share of what is predicted; nan without points."""
        kept = ~self.outlier & np.isfinite(self.residual)
        shares = np.abs(self.residual[kept] / self.predict(self.x[kept]))
        return float(shares.max()) if shares.size else math.nan


@named_arguments
def two_regimes(
    frame_bytes: ArrayLike, *, rate_pps: ArrayLike, is_bound: ArrayLike | None = None
) -> Regimes:
    """Fit the lower of a packet rate and the rate of an Ethernet line to rates by frame size.

    Parameters
    ----------
    frame_bytes : array_like
        Frame with FCS of each run; sizes may occur several times. [byte]
    rate_pps : array_like
        Frames per second that arrived. [packet/s]
    is_bound : array_like of bool, optional
        Runs that a host limited, so that the path carries at least that rate. A size whose best run
        is one of these is not in the fit.

    Returns
    -------
    Regimes
        Fitted to the highest rate of each size, which other programs disturb least, by relative
        errors. A limit is given where points show
        it, else its least value. Two limits are fitted where one alone has residuals that are
        significantly larger (F test at 5%).

    Raises
    ------
    DomainError
        If the arguments differ in length.

    Examples
    --------
    A device of 20,000 packets per second before a line of 100 Mbit/s:

    >>> regimes = two_regimes([64, 256, 1024, 1518], rate_pps=[20000, 20000, 11973.2, 8127.4])
    >>> round(regimes.params["packet_pps"]), round(regimes.params["line_bps"] / 1e6, 2)
    (20000, 100.0)
    >>> round(regimes.crossover_bytes)
    605

    References
    ----------
    RFC 2544 section 26.1; :func:`netcalc.models.rates.forwarding.forwarding_rate_pps`.
    """
    frames, rates = as_float("frame_bytes", frame_bytes), as_float("rate_pps", rate_pps)
    if frames.shape != rates.shape:
        raise DomainError("unequal-columns", "rate_pps", rates.size, expected=frames.size,
                          other="frame_bytes")  # fmt: skip
    bounds = np.zeros(frames.shape, bool) if is_bound is None else np.asarray(is_bound, bool)
    good = (frames > 0) & (rates > 0) & np.isfinite(rates)
    frames, rates, bounds = frames[good], rates[good], bounds[good]
    sizes = np.unique(frames)
    best = [np.flatnonzero(frames == size)[rates[frames == size].argmax()] for size in sizes]
    most, outlier = rates[best], bounds[best]
    wire_bps = required_bandwidth_bps(most, frame_bytes=sizes)
    pps, bps, degrees, errors = _limits(most, wire_bps, outlier)
    params = {"packet_pps": pps, "line_bps": bps}
    reached = {"packet_pps": most, "line_bps": wire_bps}
    fitted = Regimes(
        params=params,
        stderr=dict(zip(params, errors, strict=True)),
        bounds={name: float(reached[name].max()) if sizes.size else math.nan for name in params},
        degrees=degrees,
        x=sizes,
        measured=most,
        residual=np.full(sizes.shape, np.nan),
        outlier=outlier,
        not_identifiable=_reasons(params, outlier),
    )
    object.__setattr__(fitted, "residual", most - fitted.predict(sizes))
    return fitted


def _reasons(params: Mapping[str, float], outlier: NDArray[np.bool_]) -> dict[str, Notice]:
    """Return the limits that are unknown, and why."""
    reasons = {"packet_pps": "packet-rate-not-reached", "line_bps": "line-not-reached"}
    unknown = [name for name in reasons if math.isnan(params[name])]
    if len(unknown) == len(reasons):
        code = "too-few-sizes-of-frame" if not outlier.all() else "hosts-limit-all"
        reasons = dict.fromkeys(reasons, code if outlier.size else "no-points")
    return {name: Notice(reasons[name]) for name in unknown}


def _limits(
    rates: FloatArray, wire_bps: FloatArray, outlier: NDArray[np.bool_]
) -> tuple[float, float, int, tuple[float, float]]:
    """Return packet rate, line, degrees of freedom and both standard errors."""
    unknown = math.nan, math.nan, 0, (math.nan, math.nan)
    count = int(np.count_nonzero(~outlier))
    candidates = [_candidate(rates, wire_bps, outlier, split) for split in range(count + 1)]
    floor = max(count, 1) * COUNT_RATIO**2
    single, other = sorted((candidates[0], candidates[-1]))
    if count < 2:  # one size is on both curves, unless rates of hosts refute one of them
        is_clear = count == 1 and other[0] - single[0] > 9 * floor
        return (single[1], single[2], *unknown[2:]) if is_clear else unknown
    both = min(candidates[1:-1])
    degrees = count - 2
    variance = max(both[0], floor) / max(degrees, 1)
    is_single = single[0] - both[0] <= variance * _student_t(max(degrees, 1)) ** 2
    if not (is_single or degrees):  # any two sizes are on two limits
        return unknown
    square, pps, bps, below = single if is_single else both
    degrees = count - (1 if is_single else 2)
    scale = math.sqrt(square / degrees) if degrees else math.nan
    errors = (
        pps * scale / math.sqrt(below) if below else math.nan,
        bps * scale / math.sqrt(count - below) if below < count else math.nan,
    )
    return pps, bps, degrees, errors


def _candidate(
    rates: FloatArray, wire_bps: FloatArray, outlier: NDArray[np.bool_], split: int
) -> tuple[float, float, float, int]:
    """Return the sum of squares, the limits and the split, if smaller sizes are of the device.

    A rate that a host limited is off only where it is above the limits.
    """
    kept = ~outlier
    own, line = rates[kept][:split], wire_bps[kept][split:]
    pps = float(np.exp(np.log(own).mean())) if own.size else math.nan
    bps = float(np.exp(np.log(line).mean())) if line.size else math.nan
    off = np.log(rates / np.fmin(rates * bps / wire_bps, pps))
    off = np.where(outlier, np.maximum(off, 0.0), off)
    return float((off**2).sum()), pps, bps, split


def _student_t(degrees: int) -> float:
    from scipy.special import stdtrit  # late, as half of the package works without scipy

    return float(stdtrit(degrees, _QUANTILE)) if degrees > 0 else math.nan
