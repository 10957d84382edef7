r"""Clock resolution: its error in a reading and in a measured interval.

A reading is truncated to the last tick. The error of an interval is the difference of two such
errors: below one tick either way, nothing on average, and of a size that depends on the fraction
of a tick in the interval.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, model, non_negative, positive


@model
def reading_error_std_s(tick_s: ArrayLike) -> FloatArray:
    r"""Standard deviation of the error of one reading of a clock with a finite tick.

    .. math:: \sigma = q / \sqrt{12}

    Parameters
    ----------
    tick_s : array_like
        Resolution of the clock. [s]

    Returns
    -------
    numpy.ndarray
        Standard deviation. [s]

    Notes
    -----
    Validity: events uniformly distributed over a tick. Its mean, half a tick, is not included.

    Range: everywhere.

    Symbols: :math:`q` tick_s.

    Examples
    --------
    >>> round(float(reading_error_std_s(0.01)), 9)
    0.002886751

    References
    ----------
    Derived: the uniform distribution over a tick.
    """
    return non_negative("tick_s", tick_s) / math.sqrt(12.0)


@model
def interval_error_limit_s(tick_s: ArrayLike) -> FloatArray:
    r"""Bound on the error of an interval between two readings of a clock.

    .. math:: |\hat T - T| < q

    Parameters
    ----------
    tick_s : array_like
        Resolution of the clock. [s]

    Returns
    -------
    numpy.ndarray
        Bound, not reached in either direction. [s]

    See Also
    --------
    interval_error_std_s : An interval of known length.
    typical_interval_error_std_s : Of unknown length.

    Notes
    -----
    Validity: readings truncated to a tick. An interval shorter than a tick can read as 0.

    Range: everywhere.

    Symbols: :math:`q` tick_s.

    Examples
    --------
    What reads 30 ms on a clock of 10 ms has taken more than 20 and less than 40:

    >>> limit = float(interval_error_limit_s(0.010))
    >>> round(0.030 - limit, 3), round(0.030 + limit, 3)
    (0.02, 0.04)

    References
    ----------
    Derived: the difference of two errors from 0 to a tick.
    """
    return non_negative("tick_s", tick_s) * 1.0


@model
def interval_error_std_s(duration_s: ArrayLike, *, tick_s: ArrayLike) -> FloatArray:
    r"""Standard deviation of a measured interval, from the resolution of its clock.

    .. math:: \sigma = q \sqrt{f (1 - f)}, \quad f = T/q - \lfloor T/q \rfloor

    Parameters
    ----------
    duration_s : array_like
        True length of the interval. [s]
    tick_s : array_like
        Resolution of the clock. [s]

    Returns
    -------
    numpy.ndarray
        Standard deviation: 0 for whole ticks, half a tick at most. [s]

    See Also
    --------
    typical_interval_error_std_s : Of unknown length.
    interval_error_limit_s : The bound.

    Notes
    -----
    Validity: a start uniformly distributed over a tick. The reading is the number of ticks below or
    above, and right on average.

    Range: everywhere.

    Symbols: :math:`T` duration_s, :math:`q` tick_s.

    Examples
    --------
    7.3 ticks read as 7 or, three times in ten, as 8:

    >>> round(float(interval_error_std_s(0.0073, tick_s=0.001)), 9)
    0.000458258

    References
    ----------
    Derived: a Bernoulli variable with the fraction of a tick as its probability.
    """
    tick = positive("tick_s", tick_s)
    duration = non_negative("duration_s", duration_s)
    # q^2 f (1 - f) is the remainder times what it lacks to a tick: both are exact.
    rest = np.fmod(duration, tick)
    error = np.sqrt(rest) * np.sqrt(tick - rest)
    # A whole number of ticks, but for the last digit of the duration, has no error.
    off_by = np.minimum(rest, tick - rest)
    return np.where(off_by <= 4.0 * np.finfo(float).eps * duration, 0.0, error)


@model
def typical_interval_error_std_s(tick_s: ArrayLike) -> FloatArray:
    r"""Standard deviation of a measured interval of unknown length.

    .. math:: \sigma = q / \sqrt{6}

    Parameters
    ----------
    tick_s : array_like
        Resolution of the clock. [s]

    Returns
    -------
    numpy.ndarray
        Standard deviation, over all fractions of a tick. [s]

    See Also
    --------
    interval_error_std_s : An interval of known length.
    interval_error_limit_s : The bound.

    Notes
    -----
    Validity: intervals much longer than a tick, of lengths that spread over many.

    Range: everywhere.

    Symbols: :math:`q` tick_s.

    Examples
    --------
    >>> round(float(typical_interval_error_std_s(0.001)), 9)
    0.000408248

    References
    ----------
    Derived: the mean of :math:`f (1 - f)` over f is 1/6.
    """
    return non_negative("tick_s", tick_s) / math.sqrt(6.0)
