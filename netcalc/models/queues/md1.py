r"""M/D/1: random arrivals, packets of one size, one server, an infinite buffer.

The classical series for the distribution of the wait alternates in sign and is useless in
floating point beyond some 20 service times. Here the wait is found from the number of arrivals
during it, which obeys a recursion of positive terms only, and beyond :data:`EXACT_STEPS` service
times from its exponential tail, which is then exact to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import BLOCK, FloatArray, keep_nan, model, non_negative, positive, ratio
from netcalc.models.queues._load import (
    headroom,
    langevin,
    log_sinh_ratio,
    note_slow_queue,
    utilization_of,
)

EXACT_STEPS = 32
"""Service times up to which the recursion is used; the tail is exponential to 1e-16 by then."""

_TERMS = 30  # of a Poisson distribution with a mean below 1: the rest is under 1e-32


@model
def md1_wait_s(utilization: ArrayLike, *, service_s: ArrayLike) -> FloatArray:
    r"""Mean wait in an M/D/1 queue: half of that in M/M/1.

    .. math:: W = s \frac{\rho}{2 (1 - \rho)}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times service time. [ratio]
    service_s : array_like
        Service time, the same for all: wire size over line rate. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_s : Exponential service: an upper estimate for packets.
    netcalc.models.queues.queueing.mg1_wait_s : Any distribution of the service time.
    netcalc.models.queues.queueing.kingman_wait_s : Any arrivals as well, approximately.
    netcalc.models.queues.mm1.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.erlang.mmc_wait_s : Several servers.

    Notes
    -----
    Validity: Poisson arrivals, one packet size, FIFO, utilization below 1.

    Typical: half a service time at a load of 0.5, 4.5 at 0.9.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s.

    Examples
    --------
    >>> round(float(md1_wait_s(0.8, service_s=1e-3)), 12)
    0.002

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5 (Pollaczek-Khinchine with no variance).
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    return positive("service_s", service_s) * (0.5 * load / headroom(load))


@model
def md1_customers(utilization: ArrayLike) -> FloatArray:
    r"""Mean number of customers in an M/D/1 system, the one in service included.

    .. math:: N = \rho + \frac{\rho^2}{2 (1 - \rho)}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times service time. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean number in the system; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [1]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_customers : Exponential service.
    netcalc.models.queues.mm1.mm1k_customers : A finite buffer.
    netcalc.models.queues.queueing.little_number : Any stable system.

    Notes
    -----
    Validity: as :func:`md1_wait_s`.

    Range: everywhere.

    Symbols: :math:`\rho` utilization.

    Examples
    --------
    >>> round(float(md1_customers(0.8)), 12)
    2.4

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    return load + load * (0.5 * load / headroom(load))


@model
def md1_wait_cdf(wait_s: ArrayLike, *, utilization: ArrayLike, service_s: ArrayLike) -> FloatArray:
    r"""Distribution function of the wait in an M/D/1 queue.

    .. math:: P(W \le t) = (1-\rho) \sum_{j=0}^{\lfloor t/s \rfloor}
        \frac{(\rho (j - t/s))^j}{j!} e^{-\rho (j - t/s)}

    Parameters
    ----------
    wait_s : array_like
        Bound of the wait, service not included. [s]
    utilization : array_like
        Load: arrival rate times service time. [ratio]
    service_s : array_like
        Service time, the same for all. [s]

    Returns
    -------
    numpy.ndarray
        Probability; 0 from a utilization of 1. [ratio]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_cdf : Exponential service.
    netcalc.models.queues.mm1.mm1k_wait_cdf : A finite buffer.

    Notes
    -----
    Validity: as :func:`md1_wait_s`. Not computed by the sum above, which cancels, but by sums of
    positive terms: right to 1e-13 of itself for every wait and utilization.

    Range: everywhere.

    Symbols: :math:`t` wait_s, :math:`\rho` utilization, :math:`s` service_s.

    Examples
    --------
    >>> round(float(md1_wait_cdf(2e-3, utilization=0.5, service_s=1e-3)), 9)
    0.946960597

    References
    ----------
    Erlang 1909; Iversen and Staalhagen, Waiting time distribution in M/D/1 queueing systems,
    Electronics Letters 35 (1999); Franx, A simple solution for the M/D/c waiting time distribution,
    Operations Research Letters 29 (2001), doi:10.1016/S0167-6377(01)00108-0.
    """
    wait = non_negative("wait_s", wait_s)
    load = utilization_of(utilization)
    note_slow_queue(load)
    steps = wait / positive("service_s", service_s)
    within = _by_columns(_share_within, steps, np.minimum(load, 1.0))
    return keep_nan(np.where(load < 1.0, within, 0.0), steps, load)


@model
def md1_wait_percentile_s(
    utilization: ArrayLike, *, service_s: ArrayLike, quantile: ArrayLike
) -> FloatArray:
    r"""Percentile of the wait in an M/D/1 queue.

    .. math::

        (1-\rho) \sum_{j=0}^{\lfloor t_q/s \rfloor} \frac{(\rho (j - t_q/s))^j}{j!} e^{-\rho (j -
        t_q/s)} = q

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times service time. [ratio]
    service_s : array_like
        Service time, the same for all. [s]
    quantile : array_like
        Probability: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Percentile of the wait; 0 where enough customers do not wait at all, ``inf`` for a
        quantile of 1, and from a utilization of 1: no steady state. [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_percentile_s : Exponential service.
    netcalc.models.queues.erlang.mmc_wait_percentile_s : Several servers.
    netcalc.models.queues.queueing.packet_mix_wait_percentile_s : A mix of packet sizes.

    Notes
    -----
    Validity: as :func:`md1_wait_s`. Found between two multiples of the service time, beyond 32
    of them from the exponential tail.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s, :math:`q` quantile, :math:`t_q` result.

    Examples
    --------
    >>> round(float(md1_wait_percentile_s(0.8, service_s=1e-3, quantile=0.99)), 6)
    0.010356

    References
    ----------
    Iversen and Staalhagen, Electronics Letters 35 (1999); Franx, Operations Research Letters 29
    (2001), doi:10.1016/S0167-6377(01)00108-0, solved for the time.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    share = ratio("quantile", quantile)
    service = positive("service_s", service_s)
    steps = _by_columns(_steps_at, share, np.minimum(load, 1.0))
    steps = np.where(load < 1.0, steps, np.inf)
    return keep_nan(np.where(load > 0.0, steps * service, 0.0), load, share, service)


def _by_columns(
    function: Callable[[FloatArray, FloatArray], FloatArray], values: FloatArray, load: FloatArray
) -> FloatArray:
    """Apply a function of two lists to arrays of any shape.

    Each load has a column of some 60 numbers in its tables: a lone load gets one, and long arrays
    are taken a block at a time, as all their columns would not fit into memory.
    """
    shape = np.broadcast_shapes(values.shape, load.shape)
    lists = [
        a.ravel() if a.size == 1 else np.broadcast_to(a, shape).ravel() for a in (values, load)
    ]
    result = np.empty(prod(shape))
    for start in range(0, result.size, BLOCK):
        part = slice(start, start + BLOCK)
        result[part] = function(*(a if a.size == 1 else a[part] for a in lists))
    return result.reshape(shape)


def _share_within(steps: FloatArray, load: FloatArray) -> FloatArray:
    """Return P(W <= steps) in units of the service time."""
    is_near = steps < EXACT_STEPS
    near = np.where(is_near, steps, 0.0)
    whole_steps = np.floor(near)
    table, _ = _number_tables(load)
    shares = _counted_back(whole_steps.astype(np.int64), table)
    within = _poisson_mean(shares, load * (whole_steps + 1.0 - near))
    decay, missing = _exponential_tail(load)
    far = missing - (1.0 - missing) * np.expm1(-decay * steps)
    return np.where(is_near, within, np.where(load > 0.0, far, 1.0))


def _steps_at(quantile: FloatArray, load: FloatArray) -> FloatArray:
    """Return the wait, in units of the service time, that a share ``quantile`` does not exceed.

    Solved for the share itself below a half and for the rest above: none loses its digits.
    """
    table, tails = _number_tables(load)
    is_low = quantile < 0.5
    share = np.where(is_low, -quantile, 1.0 - quantile)
    # P(W <= k) is P(at most k in the system): the tables bracket the root in whole steps.
    below = (table[_TERMS:] < quantile).sum(axis=0)
    whole_steps = np.where(is_low, below, (tails[_TERMS:] > share).sum(axis=0))
    step = np.minimum(whole_steps, EXACT_STEPS - 1)
    longer = np.where(is_low, -_counted_back(step, table), _counted_back(step, tails))
    slopes = np.diff(longer, axis=0)
    low, high = np.zeros_like(quantile), load + 0.0 * quantile
    for _ in range(12):
        middle = 0.5 * (low + high)
        is_above = _poisson_mean(longer, middle) > share
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    mean = 0.5 * (low + high)
    for _ in range(4):
        step = (_poisson_mean(longer, mean) - share) / _poisson_mean(slopes, mean)
        mean = np.clip(mean - step, low, high)
    decay, missing = _exponential_tail(load)
    far = (np.log1p(-missing) - np.log1p(-quantile)) / decay
    steps = np.where(whole_steps < EXACT_STEPS, whole_steps + 1.0 - mean / load, far)
    return np.where(quantile > 1.0 - load, np.maximum(steps, 0.0), 0.0)


def _number_tables(load: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return the distribution of the number in an M/D/1 system and its tail, from positive terms.

    Row ``_TERMS + n`` is P(at most n + 1 in the system) and P(more than n + 1); the rows before
    are 0 and 1. The arrivals :math:`G` during a wait are a geometric sum of arrivals during
    residual services: :math:`a_0 P(G = n) = (1 - \rho) [n = 0] + \sum_{i=1}^n \bar a_i
    P(G = n - i)`, where :math:`\bar a_i` is the tail of the arrivals during one service, and the
    tail of :math:`G` obeys the same with :math:`\sum_{j>n} \bar a_j` in front. The arrivals
    during the service itself are added last.
    """
    count = EXACT_STEPS + 12
    numbers = np.arange(1.0, count)[:, np.newaxis]
    powers = np.cumprod(np.broadcast_to(load / numbers, (count - 1, load.size)), axis=0)
    arrivals = np.exp(-load) * np.vstack([np.ones_like(load), powers])
    above = _sums_after(arrivals)
    beyond = _sums_after(above)
    equal = np.zeros((EXACT_STEPS + 1, load.size))
    longer = np.zeros_like(equal)
    for n in range(EXACT_STEPS + 1):
        earlier = above[1 : n + 1]
        equal[n] = ((1.0 - load) * (n == 0) + (earlier * equal[:n][::-1]).sum(axis=0)) / arrivals[0]
        longer[n] = (beyond[n] + (earlier * longer[:n][::-1]).sum(axis=0)) / arrivals[0]
    at_most = np.cumsum(equal, axis=0)
    table = np.zeros((_TERMS + EXACT_STEPS, load.size))
    tails = np.ones_like(table)
    for n in range(EXACT_STEPS):
        served = arrivals[: n + 2]
        table[_TERMS + n] = (served * at_most[: n + 2][::-1]).sum(axis=0)
        tails[_TERMS + n] = above[n + 1] + (served * longer[: n + 2][::-1]).sum(axis=0)
    return table, tails


def _sums_after(rows: FloatArray) -> FloatArray:
    """Return for each row the sum of the later rows, small ones first."""
    sums = np.cumsum(rows[::-1], axis=0)[::-1]
    return np.vstack([sums[1:], np.zeros_like(sums[:1])])


def _counted_back(whole_steps: NDArray[np.int64], table: FloatArray) -> FloatArray:
    """Return for each wait the rows of its last whole step and of those before, newest first."""
    rows = _TERMS + whole_steps - np.arange(_TERMS)[:, np.newaxis]
    counted: FloatArray = table[rows, np.arange(table.shape[1])]
    return counted


def _poisson_mean(values: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the mean of ``values[j]`` over Poisson numbers j, by Horner's rule."""
    total = values[-1]
    for j in range(len(values) - 2, -1, -1):
        total = values[j] + total * (mean / (j + 1))
    averaged: FloatArray = total * np.exp(-mean)
    return averaged


def _exponential_tail(load: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return decay and 1 - C of :math:`P(W > t) = C e^{-\theta t}`, t in service times.

    The decay is the root of :math:`\rho (e^\theta - 1) = \theta`, found by Newton's method from
    above on its logarithm, which is convex and keeps its digits next to a load of 1.
    """
    exponent = -np.log(load)
    decay = 2.0 * exponent
    for _ in range(12):
        half = 0.5 * decay
        excess = half + log_sinh_ratio(half) - exponent
        decay = decay - excess / (0.5 + 0.5 * langevin(half))
    return decay, decay * langevin(0.5 * decay) / (decay - (1.0 - load))
