r"""Robust statistics: statistics that resist outliers.

A missing value makes the result nan, as it does in numpy: remove lost ones first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, model, non_negative, one_dimensional, ratio, real
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
    netcalc.models.measuring.billing.billed_rate_bps : As providers bill it, without interpolation.

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
