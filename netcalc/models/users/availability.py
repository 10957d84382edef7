r"""Availability: the share of time in which a system works, and the load when a part has failed.

What is needed in series multiplies its availabilities; what stands by in parallel multiplies its
unavailabilities. Both take the parts to fail independently, which a shared duct, a power supply or
an operator's error makes untrue: then the results are upper bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.models.bounds import at_most_line
from netcalc.models.users.growth import YEAR_S


@model
def availability_ratio(mtbf_s: ArrayLike, *, repair_s: ArrayLike) -> FloatArray:
    r"""Availability of a system that fails and is repaired.

    .. math:: A = \frac{B}{B + r}

    Parameters
    ----------
    mtbf_s : array_like
        Mean time of operation between two failures, without the repair. [s]
    repair_s : array_like
        Mean time to repair. [s]

    Returns
    -------
    numpy.ndarray
        Share of time in which it works. [ratio]

    Notes
    -----
    Validity: the long run, whatever the two distributions; some data sheets count the repair in
    their time between failures.

    Typical: 0.9999 is 53 minutes a year without service, 0.99999 is 5 minutes.

    Range: everywhere.

    Symbols: :math:`B` mtbf_s, :math:`r` repair_s.

    Examples
    --------
    A failure every 25,000 hours that takes 4 hours to repair:

    >>> round(float(availability_ratio(25_000 * 3600, repair_s=4 * 3600)), 6)
    0.99984

    References
    ----------
    ITU-T E.800 (definitions of availability); Trivedi, Probability and Statistics with Reliability,
    ch. 6.
    """
    up = checks.positive("mtbf_s", mtbf_s)
    return 1.0 / (1.0 + checks.non_negative("repair_s", repair_s) / up)


@model
def series_availability_ratio(availability_ratio: ArrayLike) -> FloatArray:
    r"""Availability of parts in series, all of which are needed.

    .. math:: A = \prod_i A_i

    Parameters
    ----------
    availability_ratio : 1-D array_like
        Availability of each part. [ratio]

    Returns
    -------
    numpy.ndarray
        Availability of the whole, one number. [ratio]

    See Also
    --------
    parallel_availability_ratio : One is enough.

    Notes
    -----
    Validity: independent failures.

    Range: everywhere.

    Symbols: :math:`A_i` availability_ratio.

    Examples
    --------
    >>> round(float(series_availability_ratio([0.999, 0.9995, 0.998])), 6)
    0.996503

    References
    ----------
    Trivedi, Probability and Statistics with Reliability, ch. 1; Barlow and Proschan, Mathematical
    Theory of Reliability (1965).
    """
    parts = checks.one_dimensional(
        "availability_ratio", checks.ratio("availability_ratio", availability_ratio)
    )
    return np.asarray(parts.prod())


@model
def parallel_availability_ratio(availability_ratio: ArrayLike) -> FloatArray:
    r"""Availability of parts in parallel, one of which is enough.

    .. math:: A = 1 - \prod_i (1 - A_i)

    Parameters
    ----------
    availability_ratio : 1-D array_like
        Availability of each part. [ratio]

    Returns
    -------
    numpy.ndarray
        Availability of the whole, one number. [ratio]

    See Also
    --------
    series_availability_ratio : All are needed.
    k_of_n_availability_ratio : Some of several equal ones are needed.

    Notes
    -----
    Validity: independent failures, and a change-over that takes no time and does not fail.

    Range: everywhere.

    Symbols: :math:`A_i` availability_ratio.

    Examples
    --------
    >>> round(float(parallel_availability_ratio([0.99, 0.99])), 6)
    0.9999

    References
    ----------
    Trivedi, Probability and Statistics with Reliability, ch. 1; Barlow and Proschan, Mathematical
    Theory of Reliability (1965).
    """
    parts = checks.one_dimensional(
        "availability_ratio", checks.ratio("availability_ratio", availability_ratio)
    )
    return np.asarray(-np.expm1(np.log1p(-parts).sum()))


@model
def k_of_n_availability_ratio(
    availability_ratio: ArrayLike, *, needed_count: ArrayLike, unit_count: ArrayLike
) -> FloatArray:
    r"""Availability of equal parts of which some are needed: k of n.

    .. math:: P = \sum_{j=k}^{n} \binom{n}{j} A^j (1 - A)^{n - j}

    Parameters
    ----------
    availability_ratio : array_like
        Availability of each part. [ratio]
    needed_count : array_like
        Parts that must work. [1]
    unit_count : array_like
        Parts there are. [1]

    Returns
    -------
    numpy.ndarray
        Share of time in which enough of them work; 0 if more are needed than there are. [ratio]

    See Also
    --------
    parallel_availability_ratio : Different parts, one of which is enough.

    Notes
    -----
    Validity: independent failures, and a change-over that takes no time and does not fail.

    Range: everywhere.

    Symbols: :math:`A` availability_ratio, :math:`k` needed_count, :math:`n` unit_count.

    Examples
    --------
    Three of four links are needed:

    >>> round(float(k_of_n_availability_ratio(0.99, needed_count=3, unit_count=4)), 6)
    0.999408

    References
    ----------
    Trivedi, Probability and Statistics with Reliability, ch. 2; Barlow and Proschan, Mathematical
    Theory of Reliability (1965).
    """
    from scipy.special import betainc  # late: the closed forms need no scipy

    each = checks.ratio("availability_ratio", availability_ratio)
    needed = checks.whole("needed_count", needed_count)
    units = checks.whole("unit_count", unit_count)
    is_open = (needed > 0.0) & (needed <= units)
    first, second = np.where(is_open, needed, 1.0), np.where(is_open, units - needed + 1.0, 1.0)
    share = np.where(is_open, betainc(first, second, each), np.where(needed > 0.0, 0.0, 1.0))
    return checks.keep_nan(share, each, needed, units)


@model
def downtime_s(availability_ratio: ArrayLike, *, duration_s: ArrayLike = YEAR_S) -> FloatArray:
    r"""Time without service.

    .. math:: t = (1 - A) \, T

    Parameters
    ----------
    availability_ratio : array_like
        Share of time in which it works. [ratio]
    duration_s : array_like
        Time that is looked at; a year of 365.25 days. [s]

    Returns
    -------
    numpy.ndarray
        Mean time without service in it. [s]

    Notes
    -----
    Validity: the mean of many such times; in a single year it is 0 or a few whole repairs.

    Typical: 0.999 is 8.8 hours a year, 0.9999 53 minutes, 0.99999 5.3 minutes.

    Range: everywhere.

    Symbols: :math:`A` availability_ratio, :math:`T` duration_s.

    Examples
    --------
    >>> round(float(downtime_s(0.9999)) / 60, 1)
    52.6

    References
    ----------
    Definition; ITU-T E.800.
    """
    idle = 1.0 - checks.ratio("availability_ratio", availability_ratio)
    return idle * checks.non_negative("duration_s", duration_s)


@model
def failure_utilization(
    utilization: ArrayLike, *, link_count: ArrayLike, failed_count: ArrayLike = 1
) -> FloatArray:
    r"""Utilization of the links that remain when some of several equal ones have failed.

    .. math:: u' = \frac{u \, n}{n - f}

    Parameters
    ----------
    utilization : array_like
        Utilization of each link while all work. [ratio]
    link_count : array_like
        Links that share the traffic evenly. [1]
    failed_count : array_like
        Links that have failed. [1]

    Returns
    -------
    numpy.ndarray
        Utilization that is asked of each remaining link; above 1 where traffic is lost, inf if none
        remains, nan if more fail than there are, or if none remains and none is asked. [ratio]

    See Also
    --------
    failure_safe_utilization : The largest that a failure leaves below full.

    Notes
    -----
    Validity: the traffic of the failed links is spread evenly over the others (link aggregation,
    ECMP, one of several uplinks); hashed flows spread unevenly.

    Range: everywhere.

    Symbols: :math:`u` utilization, :math:`n` link_count, :math:`f` failed_count.

    Examples
    --------
    Two links at 60 %, of which one fails:

    >>> float(failure_utilization(0.6, link_count=2))
    1.2

    References
    ----------
    Derived: the same traffic over fewer links.
    """
    load = checks.non_negative("utilization", utilization)
    links = checks.whole("link_count", link_count, low=1)
    left = links - checks.whole("failed_count", failed_count)
    return at_most_line(np.where(left < 0.0, np.nan, load * (links / np.maximum(left, 0.0))))


@model
def failure_safe_utilization(
    link_count: ArrayLike, *, failed_count: ArrayLike = 1, target_utilization: ArrayLike = 1.0
) -> FloatArray:
    r"""Largest utilization in normal operation that still fits when some links have failed (N-1).

    .. math:: u = u_{max} \, \frac{n - f}{n}

    Parameters
    ----------
    link_count : array_like
        Links that share the traffic evenly. [1]
    failed_count : array_like
        Links that may fail at the same time. [1]
    target_utilization : array_like
        Largest utilization of a remaining link. [ratio]

    Returns
    -------
    numpy.ndarray
        Utilization of each link while all work; 0 if all may fail. [ratio]

    See Also
    --------
    failure_utilization : The load after a failure.

    Notes
    -----
    Validity: as :func:`failure_utilization`. Of a ring with two equal directions, where a failure
    sends the traffic of one around the other, it is the case of two links.

    Typical: 50 % on a pair of links, 75 % on four.

    Range: everywhere.

    Symbols: :math:`n` link_count, :math:`f` failed_count, :math:`u_{max}` target_utilization.

    Examples
    --------
    >>> round(float(failure_safe_utilization(4, target_utilization=0.8)), 3)
    0.6

    References
    ----------
    Derived: :func:`failure_utilization` solved for the load.
    """
    links = checks.whole("link_count", link_count, low=1)
    left = np.maximum(links - checks.whole("failed_count", failed_count), 0.0)
    return checks.ratio("target_utilization", target_utilization) * (left / links)
