r"""Growth of traffic: its yearly rate, and when a link is full.

Traffic that grows by a share :math:`g` a year is :math:`X (1 + g)^t` after :math:`t` years, and its
logarithm is a straight line. A year has 365.25 days.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

YEAR_S = 365.25 * 86_400.0
"""A Julian year."""


def _log_ratio(value: FloatArray, other: FloatArray) -> FloatArray:
    """Return the logarithm of a quotient, to full precision where both are nearly the same."""
    near = (value > 0.5 * other) & (value < 2.0 * other)
    with np.errstate(all="ignore"):
        return np.where(near, np.log1p((value - other) / other), np.log(value) - np.log(other))


@model
def annual_growth(
    traffic_bps: ArrayLike, *, earlier_traffic_bps: ArrayLike, elapsed_s: ArrayLike
) -> FloatArray:
    r"""Compound annual growth rate of traffic.

    .. math:: g = \left( \frac{X}{X_0} \right)^{\mathrm{year} / t} - 1

    Parameters
    ----------
    traffic_bps : array_like
        Traffic at the end, in the same measure as at the start: a busy-hour mean, or a 95th
        percentile. [bit/s]
    earlier_traffic_bps : array_like
        Traffic at the start. [bit/s]
    elapsed_s : array_like
        Time between the two. [s]

    Returns
    -------
    numpy.ndarray
        Growth a year, as a share: 0.3 for 30 %; negative if traffic shrinks, inf where it exceeds
        every number. [ratio]

    Notes
    -----
    Validity: two readings; noise in either goes into the rate in full, so use readings of the same
    season that are a year or more apart. A season of 10 % up and down puts up to 19 percentage
    points into the rate of a year and more (none of whole years), 64 into the rate of half a year.

    Typical: 20 to 40 % a year for fixed access networks.

    Range: elapsed_s from 31557600.

    Symbols: :math:`X` traffic_bps, :math:`X_0` earlier_traffic_bps, :math:`t` elapsed_s.

    Examples
    --------
    Traffic that doubled in three years, of 365.25 days each:

    >>> round(float(annual_growth(2e9, earlier_traffic_bps=1e9, elapsed_s=94_672_800)), 4)
    0.2599

    References
    ----------
    Definition of compound growth; Cisco, Visual Networking Index, which states its forecasts in
    this measure.
    """
    traffic = checks.non_negative("traffic_bps", traffic_bps)
    earlier = checks.positive("earlier_traffic_bps", earlier_traffic_bps)
    years = checks.positive("elapsed_s", elapsed_s) / YEAR_S
    return np.expm1(_log_ratio(traffic, earlier) / years)


@model
def grown_traffic_bps(
    traffic_bps: ArrayLike, *, annual_growth: ArrayLike, elapsed_s: ArrayLike
) -> FloatArray:
    r"""Traffic after a time of constant yearly growth.

    .. math:: X_t = X (1 + g)^{t / \mathrm{year}}

    Parameters
    ----------
    traffic_bps : array_like
        Traffic now. [bit/s]
    annual_growth : array_like
        Growth a year, as a share: 0.3 for 30 %, not below -1. [ratio]
    elapsed_s : array_like
        Time from now. [s]

    Returns
    -------
    numpy.ndarray
        Traffic then. [bit/s, layer of traffic_bps]

    Notes
    -----
    Validity: the same rate every year; growth of access traffic has slowed in most networks, so
    that the law overstates what lies more than a few years ahead. Where the growth itself falls by
    a tenth every year, the law is up to 9 % too high after three years, and 18 % after four (40 % a
    year).

    Range: elapsed_s up to 94672800.

    Symbols: :math:`X` traffic_bps, :math:`g` annual_growth, :math:`t` elapsed_s.

    Examples
    --------
    Two years at 30 %:

    >>> round(float(grown_traffic_bps(1e9, annual_growth=0.3, elapsed_s=63_115_200)) / 1e9, 2)
    1.69

    References
    ----------
    Definition of compound growth.
    """
    traffic = checks.non_negative("traffic_bps", traffic_bps)
    growth = checks.at_least("annual_growth", annual_growth, -1.0)
    years = checks.non_negative("elapsed_s", elapsed_s) / YEAR_S
    exponent = np.where(years > 0.0, years * np.log1p(growth), 0.0)
    return checks.keep_nan(
        np.where(traffic > 0.0, traffic * np.exp(exponent), 0.0), traffic, growth, years
    )


@model
def exhaustion_s(
    traffic_bps: ArrayLike,
    *,
    capacity_bps: ArrayLike,
    annual_growth: ArrayLike,
    target_utilization: ArrayLike = 1.0,
) -> FloatArray:
    r"""Time until growing traffic has filled a link.

    .. math:: t = 1\,\mathrm{year} \cdot \frac{\ln (u C / X)}{\ln (1 + g)}

    Parameters
    ----------
    traffic_bps : array_like
        Traffic now. [bit/s]
    capacity_bps : array_like
        Rate of the link, at the layer at which the traffic is counted. [bit/s]
    annual_growth : array_like
        Growth a year, as a share: 0.3 for 30 %, not below -1. [ratio]
    target_utilization : array_like
        Utilization at which the link counts as full. [ratio]

    Returns
    -------
    numpy.ndarray
        Time from now; 0 if the link is full already, inf if traffic does not grow. [s]

    See Also
    --------
    linear_exhaustion_s : The same amount every year.
    exhaustion_band_s : From measured traffic, with a band.

    Notes
    -----
    Validity: the same rate every year, see :func:`grown_traffic_bps`. The time is the longer the
    more uncertain the growth is: it goes with its inverse. It looks three years ahead, as far as
    :func:`grown_traffic_bps`.

    Typical: a target of 0.5 on each of two links that carry the traffic of one another, of 0.7 to
    0.8 on a link alone, for the busy-hour mean of 5 minutes.

    Range: result up to 94672800.

    Symbols: :math:`X` traffic_bps, :math:`C` capacity_bps, :math:`g` annual_growth, :math:`u`
    target_utilization.

    Examples
    --------
    A link at 40 % that counts as full at 80 % lasts as long as traffic takes to double:

    >>> full = exhaustion_s(4e9, capacity_bps=1e10, annual_growth=0.3, target_utilization=0.8)
    >>> round(float(full) / YEAR_S, 2)
    2.64

    References
    ----------
    Derived: :func:`grown_traffic_bps` solved for the time.
    """
    traffic = checks.non_negative("traffic_bps", traffic_bps)
    growth = checks.at_least("annual_growth", annual_growth, -1.0)
    target = checks.ratio("target_utilization", target_utilization)
    capacity = checks.positive("capacity_bps", capacity_bps) * target
    left = _log_ratio(capacity, traffic)
    time = np.where(growth > 0.0, YEAR_S * (left / np.log1p(growth)), np.inf)
    return checks.keep_nan(np.where(traffic >= capacity, 0.0, time), traffic, growth, capacity)


@model
def linear_exhaustion_s(
    traffic_bps: ArrayLike,
    *,
    capacity_bps: ArrayLike,
    annual_increase_bps: ArrayLike,
    target_utilization: ArrayLike = 1.0,
) -> FloatArray:
    r"""Time until traffic that grows by the same amount every year has filled a link.

    .. math:: t = 1\,\mathrm{year} \cdot \frac{u C - X}{a}

    Parameters
    ----------
    traffic_bps : array_like
        Traffic now. [bit/s]
    capacity_bps : array_like
        Rate of the link, at the layer at which the traffic is counted. [bit/s]
    annual_increase_bps : array_like
        Traffic that is added each year; negative if it shrinks. [bit/s]
    target_utilization : array_like
        Utilization at which the link counts as full. [ratio]

    Returns
    -------
    numpy.ndarray
        Time from now; 0 if the link is full already, inf if traffic does not grow. [s]

    See Also
    --------
    exhaustion_s : The same share every year.

    Notes
    -----
    Validity: a constant number of new users of constant demand. It gives a later date than compound
    growth that has the same first year. After three years the line is 14 % below compound growth of
    30 %, after four 23 %.

    Range: result up to 94672800.

    Symbols: :math:`X` traffic_bps, :math:`C` capacity_bps, :math:`a` annual_increase_bps, :math:`u`
    target_utilization.

    Examples
    --------
    >>> full = linear_exhaustion_s(4e9, capacity_bps=1e10, annual_increase_bps=2e9)
    >>> float(full) / YEAR_S
    3.0

    References
    ----------
    Derived: a straight line.
    """
    traffic = checks.non_negative("traffic_bps", traffic_bps)
    increase = checks.real("annual_increase_bps", annual_increase_bps)
    target = checks.ratio("target_utilization", target_utilization)
    capacity = checks.positive("capacity_bps", capacity_bps) * target
    time = np.where(increase > 0.0, YEAR_S * ((capacity - traffic) / increase), np.inf)
    return checks.keep_nan(np.where(traffic >= capacity, 0.0, time), traffic, increase, capacity)


@model
def exhaustion_band_s(
    traffic_bps: ArrayLike,
    *,
    time_s: ArrayLike,
    capacity_bps: float,
    target_utilization: float = 1.0,
    confidence_ratio: float = 0.9,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""When measured traffic will have filled a link: the earliest, the best and the latest time.

    .. math::
        \{ t : (\ln (u C) - a - b \, (t - \bar t))^2 \le
        q_\gamma^2 s^2 (1/n + (t - \bar t)^2 / S_{tt}) \}

    Parameters
    ----------
    traffic_bps : 1-D array_like
        Traffic measured at each time, such as the 95th percentile of each month. [bit/s]
    time_s : 1-D array_like
        Times of the measurements, from any origin. [s]
    capacity_bps : float
        Rate of the link, at the layer at which the traffic is counted. [bit/s]
    target_utilization : float
        Utilization at which the link counts as full. [ratio]
    confidence_ratio : float
        Confidence of the band, of both sides together. [ratio]

    Returns
    -------
    early_s : numpy.ndarray
        Start of the band, from the origin of the times; inf if traffic certainly does not grow,
        -inf where the growth is not significant and the limit is not above what was measured; nan
        with fewer than 3 measurements, or if all are of one time. [s]
    best_s : numpy.ndarray
        Time at which the fitted line reaches the limit; inf if it does not grow, -inf if it does
        not grow and is above the limit. [s]
    late_s : numpy.ndarray
        End of the band; inf if the growth is not significant. [s]

    See Also
    --------
    exhaustion_s : From a known growth.

    Notes
    -----
    Validity: the logarithm of the traffic is a straight line with independent normal errors of one
    variance; seasons and correlated errors make the band too narrow. It is the band of the trend,
    not of a single month. Fieller's interval is exact; it has no end where a slope of 0 cannot be
    excluded.

    The mean :math:`a`, the slope :math:`b` and the deviation :math:`s` belong to the line fitted
    through the logarithms, and :math:`q` is a quantile of Student's distribution with
    :math:`n - 2` degrees of freedom.

    Range: everywhere.

    Symbols: :math:`C` capacity_bps, :math:`u` target_utilization, :math:`\gamma` confidence_ratio.
    Not in the equation: traffic_bps, time_s (the points of the line).

    Examples
    --------
    >>> band = exhaustion_band_s(
    ...     [1.0e9, 1.35e9, 1.6e9, 2.3e9, 2.8e9],
    ...     time_s=[0, 31557600, 63115200, 94672800, 126230400], capacity_bps=1e10,
    ... )
    >>> [round(float(time) / YEAR_S, 1) for time in band]
    [8.0, 8.9, 10.0]

    References
    ----------
    Fieller, Some problems in interval estimation, J. R. Statist. Soc. B 16 (1954) 175-185; Draper
    and Smith, Applied Regression Analysis, 3rd ed., 3.2 (inverse regression).
    """
    traffic = checks.one_dimensional("traffic_bps", checks.positive("traffic_bps", traffic_bps))
    time = checks.one_dimensional("time_s", checks.real("time_s", time_s))
    if time.size != traffic.size:
        raise DomainError("wrong-count", "time_s", count=time.size, expected=traffic.size)
    target = checks.scalar(
        "target_utilization", checks.ratio("target_utilization", target_utilization)
    )
    limit = checks.scalar("capacity_bps", checks.positive("capacity_bps", capacity_bps)) * target
    confidence = checks.scalar(
        "confidence_ratio", checks.ratio("confidence_ratio", confidence_ratio)
    )
    early, best, late = _fieller(np.log(traffic), time, float(np.log(limit)), confidence)
    return np.asarray(early), np.asarray(best), np.asarray(late)


_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""Of a logarithm, and of the mean of a few, in parts of the largest. [ratio]"""


def _fieller(
    y: FloatArray, x: FloatArray, limit: float, confidence: float
) -> tuple[float, float, float]:
    """Return where the line through the points reaches a height, with the ends of its band."""
    from scipy.special import stdtrit  # late: the closed forms need no scipy

    count = x.size
    offset = x - x.mean()
    sxx = float(offset @ offset)
    if count < 3 or not 0.0 < sxx < np.inf or np.isnan(y.sum() + limit + confidence):
        return np.nan, np.nan, np.nan
    if limit == -np.inf:
        return -np.inf, -np.inf, -np.inf
    # Constant traffic has a slope and deviations of rounding errors, and is to have none.
    noise = _ROUNDING * max(1.0, float(np.abs(y).max()))
    slope = float(offset @ y) / sxx
    if abs(slope) * sxx <= noise * float(np.abs(offset).sum()):
        slope = 0.0
    rest = y - y.mean() - slope * offset
    rest = np.where(np.abs(rest) <= noise, 0.0, rest)
    variance = float(rest @ rest) / (count - 2)
    margin = float(stdtrit(count - 2, 0.5 + 0.5 * confidence)) ** 2 * variance
    above = limit - float(y.mean())  # what the mean of the points still lacks
    middle = float(x.mean())
    best = middle + above / slope if slope > 0.0 else np.copysign(np.inf, above)
    if not np.isfinite(margin):
        return -np.inf, best, np.inf
    # The band is where square * d^2 - 2 * slope * above * d + rest <= 0, of d = t - mean time.
    square = slope**2 - margin / sxx
    constant = above**2 - margin / count
    root = np.sqrt(max((slope * above) ** 2 - square * constant, 0.0))
    if square > 0.0:
        if slope < 0.0:
            return best, best, best
        low, high = (slope * above - root) / square, (slope * above + root) / square
        return middle + low, best, middle + high
    if constant <= 0.0:  # the limit is among the traffic that was measured: it can be anywhere
        return -np.inf, best, np.inf
    if above < 0.0:
        return -np.inf, best, np.inf
    late_root = constant / (slope * above + root) if slope * above + root > 0.0 else np.inf
    return middle + late_root, best, np.inf
