"""When loads that grow by rates of their own reach a capacity together."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray


def years_to_reach(
    load_bps: FloatArray, *, growth_ratio: FloatArray, capacity_bps: FloatArray
) -> FloatArray:
    r"""Return the time until a sum of growing loads reaches a capacity.

    .. math:: \\sum_g L_g (1 + r_g)^t = C

    The sum is convex in time, so that Newton's method from a time at which one load alone reaches
    the capacity comes down to the only root without passing it.

    Parameters
    ----------
    load_bps : numpy.ndarray
        Loads now, of each group along the last axis. [bit/s]
    growth_ratio : numpy.ndarray
        Growth of each group a year, above -1. [ratio]
    capacity_bps : numpy.ndarray
        What is reached, without the last axis. [bit/s]

    Returns
    -------
    numpy.ndarray
        Years: 0 where it is reached already, ``inf`` where it never is. [year]

    Examples
    --------
    A load of 5 that doubles every year reaches 10 after one:

    >>> float(years_to_reach(np.array([5.0]), growth_ratio=np.array([1.0]),
    ...     capacity_bps=np.array(10.0)))
    1.0
    """
    load, rate = np.broadcast_arrays(load_bps, np.log1p(growth_ratio))
    capacity = np.broadcast_to(capacity_bps, load.shape[:-1])
    grows = (rate > 0.0) & (load > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(grows, np.log(capacity[..., None] / load) / rate, np.inf)
    years = np.asarray(np.maximum(alone.min(axis=-1), 0.0))
    full = load.sum(axis=-1) >= capacity
    if load.shape[-1] > 1:
        between = ~full & np.isfinite(years)
        years[between] = _roots(load[between], rate[between], capacity[between], years[between])
    return np.where(full, 0.0, years)


def _roots(load: FloatArray, rate: FloatArray, capacity: FloatArray, t: FloatArray) -> FloatArray:
    """Return where the sums reach the capacities, from above."""
    for _ in range(60):
        each = load * np.exp(rate * t[:, None])
        slope = (rate * each).sum(axis=1)
        excess = each.sum(axis=1) - capacity
        nearer = np.maximum(t - np.maximum(excess, 0.0) / slope, 0.0)
        if np.array_equal(nearer, t):
            break
        t = nearer
    return t
