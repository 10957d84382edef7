"""Statistics of samples: robust ones, the variation of delay, and the percentile that is billed.

Robust statistics resist outliers. A missing value makes the result nan, as it does in numpy: remove
lost ones first.

Three quantities are called "jitter": the RTP jitter is a smoothed mean of absolute differences,
IPDV the differences themselves, PDV the delay above its least. A constant offset between two clocks
cancels in all three.

For a bill by percentile a monitoring system takes a sample of each direction every five minutes. At
the end of the month the highest 5 % of each direction are discarded, the next highest is the rate
of that direction, and the larger of both is billed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import (
    FloatArray,
    in_blocks,
    model,
    non_negative,
    note,
    one_dimensional,
    ratio,
    real,
    rounded_down,
    rounded_up,
    scalar,
)
from netcalc.errors import DomainError

MAD_TO_STD = 1.482602218505602
"""Standard deviation over median absolute deviation, for a normal distribution."""

ALL_PAIRS_LIMIT = 1500
"""Points up to which :func:`theil_sen_slope` takes every pair."""


@model
def median(values: ArrayLike) -> FloatArray:
    r"""Median: the middle value; with an even count, the mean of the middle two.

    .. math::

        m = \tfrac12 (x_{(\lfloor (n+1)/2 \rfloor)} + x_{(\lceil (n+1)/2 \rceil)}), \quad x_{(k)}
        \text{ the k-th smallest } x_i

    Parameters
    ----------
    values : 1-D array_like
        Numbers of one unit. [1]

    Returns
    -------
    numpy.ndarray
        Median, in the unit of the values. [1]

    Notes
    -----
    Validity: up to half of the values may be wrong.

    Range: everywhere.

    Symbols: :math:`x_i` values.

    Examples
    --------
    >>> float(median([100, 40, 50, 45]))
    47.5

    References
    ----------
    Huber, Robust Statistics (1981), 3.2.
    """
    return np.asarray(np.median(one_dimensional("values", real("values", values))))


@model
def percentile(values: ArrayLike, *, quantile: ArrayLike) -> FloatArray:
    r"""Percentile, interpolated between neighbouring values.

    .. math::

        x_q = x_{(k)} + (h - k)(x_{(k+1)} - x_{(k)}), \quad h = 1 + (n - 1) q, \quad k = \lfloor h
        \rfloor, \quad x_{(k)} \text{ the k-th smallest } x_i

    Parameters
    ----------
    values : 1-D array_like
        Numbers of one unit. [1]
    quantile : array_like
        Share: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Percentile, in the unit of the values and the shape of ``quantile``. [1]

    See Also
    --------
    billed_rate_bps : As providers bill it, without interpolation.

    Notes
    -----
    Validity: needs well over 1/(1 - q) values to mean anything.

    Range: everywhere.

    Symbols: :math:`x_i` values, :math:`q` quantile.

    Examples
    --------
    >>> percentile([1, 2, 3, 4], quantile=[0.5, 0.9]).round(6).tolist()
    [2.5, 3.7]

    References
    ----------
    Hyndman and Fan, Sample quantiles in statistical packages, Am. Stat. 50 (1996),
    doi:10.1080/00031305.1996.10473566, definition 7.
    """
    array = np.sort(one_dimensional("values", real("values", values)))
    share = ratio("quantile", quantile)
    position = (array.size - 1) * share
    below = np.floor(np.where(np.isnan(position), 0.0, position)).astype(np.int64)
    above = np.minimum(below + 1, array.size - 1)
    missing = np.isnan(array[-1])
    within = array[below] + (position - below) * (array[above] - array[below])
    return np.where(missing, np.nan, within)


@model
def median_absolute_deviation(values: ArrayLike, *, scale: float = 1.0) -> FloatArray:
    r"""Median absolute deviation from the median.

    .. math:: MAD = c \cdot \mathrm{med}_i |x_i - \mathrm{med}_k x_k|

    Parameters
    ----------
    values : 1-D array_like
        Numbers of one unit. [1]
    scale : float
        Factor c: 1.4826 (:data:`MAD_TO_STD`) makes it a standard deviation. [1]

    Returns
    -------
    numpy.ndarray
        Spread, in the unit of the values. [1]

    Notes
    -----
    Validity: up to half of the values may be wrong; 0 if more than half of them are equal.

    Range: everywhere.

    Symbols: :math:`x_i` values, :math:`c` scale.

    Examples
    --------
    One first packet of a second among 30 ms changes nothing:

    >>> round(float(median_absolute_deviation([0.030, 0.031, 0.029, 0.032, 1.0])), 6)
    0.001

    References
    ----------
    Hampel, The influence curve and its role in robust estimation, JASA 69 (1974),
    doi:10.1080/01621459.1974.10482962.
    """
    array = one_dimensional("values", real("values", values))
    return np.asarray(np.median(np.abs(array - np.median(array))) * non_negative("scale", scale))


@model
def theil_sen_slope(x: ArrayLike, *, y: ArrayLike) -> FloatArray:
    r"""Theil-Sen slope: the median of the slopes between pairs of points.

    .. math:: b = \mathrm{med}_{i<k} \frac{y_k - y_i}{x_k - x_i}

    Parameters
    ----------
    x : 1-D array_like
        Positions. [1]
    y : 1-D array_like
        Values. [1]

    Returns
    -------
    numpy.ndarray
        Slope, y per x; nan (not identifiable) if all positions are equal. [1]

    Notes
    -----
    Validity: up to 29 % of the points may be wrong. Beyond 1500 points only pairs half the list
    apart in order of position are taken, which costs some precision, but hardly any robustness.

    Range: everywhere.

    Symbols: :math:`x_i` x, :math:`y_i` y.

    Examples
    --------
    One wild point does not turn the line:

    >>> float(theil_sen_slope([0, 1, 2, 3, 4], y=[1, 3, 5, 7, 1000]))
    2.0

    References
    ----------
    Theil, A rank-invariant method of linear and polynomial regression analysis (1950); Sen, JASA 63
    (1968), doi:10.1080/01621459.1968.10480934.
    """
    positions, values = _points(x, y)
    first, second = _pairs(positions)
    apart = positions[second] - positions[first]
    slopes = (values[second] - values[first])[apart != 0.0] / apart[apart != 0.0]
    return np.asarray(np.median(slopes) if slopes.size else np.nan)


@model
def theil_sen_intercept(x: ArrayLike, *, y: ArrayLike) -> FloatArray:
    r"""Theil-Sen intercept: the median of the residuals of its slope.

    .. math:: a = \mathrm{med}_i (y_i - b x_i)

    Parameters
    ----------
    x : 1-D array_like
        Positions. [1]
    y : 1-D array_like
        Values. [1]

    Returns
    -------
    numpy.ndarray
        Value of the line at 0; nan if all positions are equal. [1]

    Notes
    -----
    Validity: as :func:`theil_sen_slope`.

    Range: everywhere.

    Symbols: :math:`x_i` x, :math:`y_i` y.

    Examples
    --------
    >>> float(theil_sen_intercept([0, 1, 2, 3, 4], y=[1, 3, 5, 7, 1000]))
    1.0

    References
    ----------
    Theil 1950; Sen, JASA 63 (1968), doi:10.1080/01621459.1968.10480934.
    """
    positions, values = _points(x, y)
    return np.asarray(np.median(values - theil_sen_slope(positions, y=values) * positions))


def _points(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    positions = one_dimensional("x", real("x", x))
    values = one_dimensional("y", real("y", y))
    if positions.size != values.size:
        raise DomainError("wrong-count", "y", count=values.size, expected=positions.size)
    return positions, values


def _pairs(positions: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two ends of the pairs whose slopes are compared."""
    count = positions.size
    if count <= ALL_PAIRS_LIMIT:
        first, second = np.triu_indices(count, 1)
        return first, second
    order = np.argsort(positions, kind="stable")
    half = count - count // 2
    return order[: count // 2], order[half:]


@model
def jitter_rfc3550_s(transit_s: ArrayLike) -> FloatArray:
    r"""Interarrival jitter of RTP, after each packet.

    .. math:: J_i = J_{i-1} + \frac{|D_i| - J_{i-1}}{16}, \quad D_i = T_i - T_{i-1}, \quad J_0 = 0

    Parameters
    ----------
    transit_s : 1-D array_like
        Transit time of each packet, in order of arrival; by clocks that may be offset. [s]

    Returns
    -------
    numpy.ndarray
        Running estimate after each packet: the last one is reported. [s]

    See Also
    --------
    ipdv_s : Differences of consecutive packets.
    pdv_s : Delay above the minimum.

    Notes
    -----
    Validity: exact. A packet without a transit time (lost) has nan and is skipped; the difference
    is taken between those that arrived.

    Range: everywhere.

    Symbols: :math:`T_i` transit_s.

    Examples
    --------
    >>> jitter_rfc3550_s([0.100, 0.116, 0.100]).round(6).tolist()
    [0.0, 0.001, 0.001938]

    References
    ----------
    RFC 3550, 6.4.1 and A.8.
    """
    transit = one_dimensional("transit_s", real("transit_s", transit_s))
    jitters = np.full(transit.size, np.nan)
    jitter, before = 0.0, np.nan
    for part, kept in in_blocks(transit, jitters):
        arrived = np.flatnonzero(~np.isnan(part))
        if not arrived.size:
            continue
        times = part[arrived]
        first = times[0] if np.isnan(before) else before
        running = []
        for difference in np.abs(np.diff(times, prepend=first)).tolist():
            jitter += (difference - jitter) / 16.0
            running.append(jitter)
        kept[arrived], before = running, times[-1]
    return jitters


@model
def ipdv_s(transit_s: ArrayLike) -> FloatArray:
    r"""IP packet delay variation: the difference of the delays of consecutive packets.

    .. math:: D_i = T_i - T_{i-1}

    Parameters
    ----------
    transit_s : 1-D array_like
        Transit time of each packet, in the order sent; by clocks that may be offset. [s]

    Returns
    -------
    numpy.ndarray
        Differences with their sign, one fewer than packets. [s]

    See Also
    --------
    jitter_rfc3550_s : Smoothed mean of the differences.
    pdv_s : Delay above the minimum.

    Notes
    -----
    Validity: exact. Undefined (nan) where one of the two was lost. Adjacent differences share a
    packet: their sum is the difference between the ends.

    Range: everywhere.

    Symbols: :math:`T_i` transit_s.

    Examples
    --------
    >>> ipdv_s([0.100, 0.116, 0.100]).round(6).tolist()
    [0.016, -0.016]

    References
    ----------
    RFC 3393; RFC 5481, 4.1.
    """
    return np.diff(one_dimensional("transit_s", real("transit_s", transit_s)))


@model
def pdv_s(transit_s: ArrayLike) -> FloatArray:
    r"""Packet delay variation: the delay of each packet above the minimum.

    .. math:: V_i = T_i - \min_k T_k

    Parameters
    ----------
    transit_s : 1-D array_like
        Transit time of each packet; by clocks that may be offset. [s]

    Returns
    -------
    numpy.ndarray
        Delay above the least of all, one per packet. [s]

    See Also
    --------
    jitter_rfc3550_s : Smoothed mean of the differences.
    ipdv_s : Differences of consecutive packets.

    Notes
    -----
    Validity: exact. Lost packets stay nan. Distributed as the queueing delay, if one packet met
    no queue.

    Range: everywhere.

    Symbols: :math:`T_i` transit_s.

    Examples
    --------
    >>> pdv_s([0.100, 0.116, 0.103]).round(6).tolist()
    [0.0, 0.016, 0.003]

    References
    ----------
    RFC 5481, 4.2.
    """
    transit = one_dimensional("transit_s", real("transit_s", transit_s))
    return transit - float(np.fmin.reduce(transit))


@model
def billed_rate_bps(
    inbound_bps: ArrayLike, *, outbound_bps: ArrayLike = 0.0, discarded_ratio: float = 0.05
) -> FloatArray:
    r"""Rate that a provider bills by the 95th percentile: the highest samples are discarded.

    .. math::

        B = \max(x_{(n - k)}, y_{(n - k)}), \quad k = \lfloor q n \rfloor, \quad x_{(j)}, y_{(j)}
        \text{ the j-th smallest } x_i, y_i

    Parameters
    ----------
    inbound_bps : 1-D array_like
        Rate of one direction in each interval of five minutes. [bit/s]
    outbound_bps : 1-D array_like
        Rate of the other direction in the same intervals; 0 where only one is billed. [bit/s]
    discarded_ratio : float
        Share of the samples that is discarded, the highest: 0.05 for the 95th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Billed rate. [bit/s, layer of inbound_bps]

    Raises
    ------
    DomainError
        If all samples would be discarded.

    See Also
    --------
    netcalc.models.measuring.sample_statistics.percentile : Interpolated between samples.

    Notes
    -----
    Validity: samples of equal intervals, none missing; a fraction of a sample is not discarded.
    Some providers bill the sum of both directions, or the mean of the hours: read the contract.

    Typical: of 8640 samples in 30 days 432 are discarded, 36 hours.

    Range: everywhere.

    Symbols: :math:`x_i` inbound_bps, :math:`y_i` outbound_bps, :math:`q` discarded_ratio.

    Examples
    --------
    Of four samples, a quarter is one:

    >>> billed_rate_bps([1e6, 4e6, 2e6, 3e6], outbound_bps=[9e6, 1e6, 2e6, 1e6],
    ...     discarded_ratio=0.25)
    3000000.0

    References
    ----------
    HNS, Computing the 95th Percentile (20 samples of each direction: 1.435 Mbit/s).
    """
    inbound = one_dimensional("inbound_bps", non_negative("inbound_bps", inbound_bps))
    outbound = np.ravel(non_negative("outbound_bps", outbound_bps))
    share = scalar("discarded_ratio", ratio("discarded_ratio", discarded_ratio))
    if outbound.size not in (1, inbound.size):
        raise DomainError(
            "wrong-count-or-one", "outbound_bps", count=outbound.size, expected=inbound.size
        )
    if share == 1.0:
        raise DomainError("all-samples-discarded", "discarded_ratio", share)
    # 5 % of 20 is one sample, however 0.05 is rounded.
    discarded = 0 if np.isnan(share) else int(rounded_down(np.float64(share * inbound.size)))
    if not discarded and share > 0.0:
        needed = float(rounded_up(np.float64(1.0 / share)))
        note("no-sample-discarded", name="inbound_bps", count=inbound.size, needed=needed)
    other = _after(outbound, discarded if outbound.size == inbound.size else 0)
    billed = np.maximum(_after(inbound, discarded), other)
    return np.asarray(np.nan if np.isnan(share) else billed)


def _after(samples: FloatArray, discarded: int) -> float:
    """Return the highest sample but those that are discarded; nan if any is missing."""
    if np.isnan(samples).any():
        return float("nan")
    return float(np.sort(samples)[samples.size - 1 - discarded])
