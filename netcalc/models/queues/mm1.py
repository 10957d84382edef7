r"""M/M/1 and M/M/1/K: random arrivals, exponential service, one server, any buffer.

The swept quantity is the utilization :math:`\rho = \lambda s`, arrival rate times mean service
time. With an infinite buffer there is no steady state at 1 and above: times and numbers are
``inf``, and no wait is ever "within" a bound.

With a capacity of K, which counts the one in service, arrivals are lost when it is full, and every
utilization is allowed. All forms are written so that neither a utilization next to 1 nor a large K
costs digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, ratio, whole
from netcalc.models.queues._load import (
    growth_ratio,
    headroom,
    last_state,
    mean_state,
    note_slow_queue,
    utilization_of,
)


@model
def mm1_wait_s(utilization: ArrayLike, *, service_s: ArrayLike) -> FloatArray:
    r"""Mean wait in an M/M/1 queue.

    .. math:: W = s \frac{\rho}{1 - \rho}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time: mean wire size over line rate. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [s]

    See Also
    --------
    netcalc.models.queues.md1.md1_wait_s : Packets of one size: half the wait.
    netcalc.models.queues.queueing.mg1_wait_s : Any distribution of the service time.
    netcalc.models.queues.queueing.kingman_wait_s : Any arrivals as well, approximately.
    netcalc.models.queues.mm1.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.erlang.mmc_wait_s : Several servers.
    netcalc.models.queues.backlog.lindley_wait_s : Given arrivals, packet by packet.
    netcalc.models.queues.backlog.fluid_backlog_bytes : Given rates, as a fluid.

    Notes
    -----
    Validity: Poisson arrivals, exponential service, FIFO, utilization below 1. Real traffic is
    burstier and waits longer.

    Typical: one service time at a load of 0.5, nine at 0.9.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s.

    Examples
    --------
    >>> round(float(mm1_wait_s(0.8, service_s=1e-3)), 12)
    0.004

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.2.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    service = positive("service_s", service_s)
    return service * load / headroom(load)


@model
def mm1_sojourn_s(utilization: ArrayLike, *, service_s: ArrayLike) -> FloatArray:
    r"""Mean sojourn time in an M/M/1 system: wait and service.

    .. math:: T = \frac{s}{1 - \rho}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Mean time from arrival to departure; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1k_sojourn_s : A finite buffer.

    Notes
    -----
    Validity: as :func:`mm1_wait_s`; the mean holds for every service order independent of the
    sizes.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s.

    Examples
    --------
    >>> float(mm1_sojourn_s(0.5, service_s=1e-3))
    0.002

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.2.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    service = positive("service_s", service_s)
    return service / headroom(load)


@model
def mm1_customers(utilization: ArrayLike) -> FloatArray:
    r"""Mean number of customers in an M/M/1 system, the one in service included.

    .. math:: N = \frac{\rho}{1 - \rho}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean number in the system; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [1]

    See Also
    --------
    netcalc.models.queues.md1.md1_customers : Packets of one size.
    netcalc.models.queues.mm1.mm1k_customers : A finite buffer.
    netcalc.models.queues.queueing.little_number : Any stable system.

    Notes
    -----
    Validity: as :func:`mm1_wait_s`.

    Range: everywhere.

    Symbols: :math:`\rho` utilization.

    Examples
    --------
    >>> float(mm1_customers(0.75))
    3.0

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.2.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    return load / headroom(load)


@model
def mm1_queue_length(utilization: ArrayLike) -> FloatArray:
    r"""Mean number of customers waiting in an M/M/1 queue.

    .. math:: N_q = \frac{\rho^2}{1 - \rho}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean number waiting; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [1]

    Notes
    -----
    Validity: as :func:`mm1_wait_s`.

    Range: everywhere.

    Symbols: :math:`\rho` utilization.

    Examples
    --------
    >>> float(mm1_queue_length(0.5))
    0.5

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.2.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    return load**2 / headroom(load)


@model
def mm1_state_probability(utilization: ArrayLike, *, customer_count: ArrayLike) -> FloatArray:
    r"""Probability of n customers in an M/M/1 system.

    .. math:: p_n = (1 - \rho) \rho^n

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    customer_count : array_like
        Customers in the system, the one in service included. [1]

    Returns
    -------
    numpy.ndarray
        Probability of this state; 0 from a utilization of 1. [ratio]

    Notes
    -----
    Validity: as :func:`mm1_wait_s`. Without a steady state every finite state dies out.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`n` customer_count.

    Examples
    --------
    >>> float(mm1_state_probability(0.5, customer_count=1))
    0.25

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.2.
    """
    load = utilization_of(utilization)
    count = whole("customer_count", customer_count)
    return headroom(load) * np.minimum(load, 1.0) ** count


@model
def mm1_wait_cdf(wait_s: ArrayLike, *, utilization: ArrayLike, service_s: ArrayLike) -> FloatArray:
    r"""Distribution function of the wait in an M/M/1 queue.

    .. math:: P(W \le t) = 1 - \rho e^{-(1 - \rho) t / s}

    Parameters
    ----------
    wait_s : array_like
        Bound of the wait, service not included. [s]
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Probability; 0 from a utilization of 1. [ratio]

    See Also
    --------
    netcalc.models.queues.md1.md1_wait_cdf : Packets of one size.
    netcalc.models.queues.mm1.mm1k_wait_cdf : A finite buffer.

    Notes
    -----
    Validity: as :func:`mm1_wait_s`. At a wait of 0 it is :math:`1 - \rho`: arrivals that find the
    server idle.

    Range: everywhere.

    Symbols: :math:`t` wait_s, :math:`\rho` utilization, :math:`s` service_s.

    Examples
    --------
    >>> round(float(mm1_wait_cdf(0.0, utilization=0.8, service_s=1e-3)), 12)
    0.2

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5.
    """
    wait = non_negative("wait_s", wait_s)
    load = utilization_of(utilization)
    note_slow_queue(load)
    return _within(wait, load, positive("service_s", service_s))


def _within(wait: FloatArray, load: FloatArray, service: FloatArray) -> FloatArray:
    idle = headroom(load)
    within = idle + load * -np.expm1(-idle * (wait / service))
    return keep_nan(np.where(load < 1.0, within, 0.0), load, within)


@model
def mm1_wait_percentile_s(
    utilization: ArrayLike, *, service_s: ArrayLike, quantile: ArrayLike
) -> FloatArray:
    r"""Percentile of the wait in an M/M/1 queue.

    .. math:: t_q = \max\left(0, \frac{s}{1 - \rho} \ln \frac{\rho}{1 - q}\right)

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]
    quantile : array_like
        Probability: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Percentile of the wait; 0 where enough customers do not wait at all, ``inf`` for a
        quantile of 1, and from a utilization of 1: no steady state. [s]

    See Also
    --------
    netcalc.models.queues.md1.md1_wait_percentile_s : Packets of one size.
    netcalc.models.queues.erlang.mmc_wait_percentile_s : Several servers.
    netcalc.models.queues.queueing.packet_mix_wait_percentile_s : A mix of packet sizes.

    Notes
    -----
    Validity: as :func:`mm1_wait_s`.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s, :math:`q` quantile.

    Examples
    --------
    The 99th percentile at 80 % load is five and a half times the mean:

    >>> round(float(mm1_wait_percentile_s(0.8, service_s=1e-3, quantile=0.99)), 6)
    0.02191

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5, solved for the time.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    share = ratio("quantile", quantile)
    return _wait_percentile(load, share, positive("service_s", service_s))


def _wait_percentile(load: FloatArray, share: FloatArray, service: FloatArray) -> FloatArray:
    longer = np.maximum(np.log(load) - np.log1p(-share), 0.0)
    wait = np.where(load < 1.0, service / headroom(load) * longer, np.inf)
    return keep_nan(np.where(load > 0.0, wait, 0.0), load, share, service)


@model
def mm1_sojourn_percentile_s(
    utilization: ArrayLike, *, service_s: ArrayLike, quantile: ArrayLike
) -> FloatArray:
    r"""Percentile of the sojourn time in an M/M/1 system.

    .. math:: t_q = -\frac{s}{1 - \rho} \ln(1 - q)

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]
    quantile : array_like
        Probability: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Percentile of wait and service together; ``inf`` for a quantile of 1 and from a
        utilization of 1: no steady state. [s]

    Notes
    -----
    Validity: as :func:`mm1_wait_s`. The time in the system is exponential.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s, :math:`q` quantile.

    Examples
    --------
    >>> round(float(mm1_sojourn_percentile_s(0.8, service_s=1e-3, quantile=0.99)), 6)
    0.023026

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    share = ratio("quantile", quantile)
    return _sojourn_percentile(load, share, positive("service_s", service_s))


def _sojourn_percentile(load: FloatArray, share: FloatArray, service: FloatArray) -> FloatArray:
    mean = service / headroom(load)
    left = np.where(load < 1.0, mean * -np.log1p(-share), np.inf)
    return keep_nan(left, load, mean, share)


_FRACTION_STEPS = 60
"""Of a continued fraction far out in the tail: 60 are as good as 200 at all loads of the tests."""


@model
def mm1k_blocking_ratio(utilization: ArrayLike, *, place_count: ArrayLike) -> FloatArray:
    r"""Blocking probability of an M/M/1/K queue.

    .. math:: p_K = \frac{(1-\rho)\rho^K}{1-\rho^{K+1}} \quad
        \text{(1/(K+1) at a load of 1)}

    Parameters
    ----------
    utilization : array_like
        Offered load: arrival rate times mean service time; 1 and above is allowed. [ratio]
    place_count : array_like
        Capacity of the system in customers, the one in service included. [1]

    Returns
    -------
    numpy.ndarray
        Blocking probability. [ratio]

    See Also
    --------
    netcalc.models.queues.erlang.erlang_b_ratio : Blocked calls are lost.
    netcalc.models.queues.erlang.erlang_c_ratio : Blocked calls wait.
    netcalc.models.queues.erlang.mmck_blocking_ratio : Several servers and a limited queue.

    Notes
    -----
    Validity: Poisson arrivals, exponential service, a buffer counted in packets, not in bytes.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`K` place_count.

    Examples
    --------
    >>> round(float(mm1k_blocking_ratio(0.8, place_count=10)), 9)
    0.023492858

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.6.
    """
    load = utilization_of(utilization)
    capacity = whole("place_count", place_count, low=1)
    return last_state(load, capacity)


@model
def mm1k_customers(utilization: ArrayLike, *, place_count: ArrayLike) -> FloatArray:
    r"""Mean number of customers in an M/M/1/K system, the one in service included.

    .. math:: N = \frac{\rho}{1-\rho} - \frac{(K+1)\rho^{K+1}}{1-\rho^{K+1}} \quad
        \text{(K/2 at a load of 1)}

    Parameters
    ----------
    utilization : array_like
        Offered load: arrival rate times mean service time; 1 and above is allowed. [ratio]
    place_count : array_like
        Capacity of the system in customers, the one in service included. [1]

    Returns
    -------
    numpy.ndarray
        Mean number in the system, at most K. [1]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_customers : Exponential service.
    netcalc.models.queues.md1.md1_customers : Packets of one size.
    netcalc.models.queues.queueing.little_number : Any stable system.

    Notes
    -----
    Validity: as :func:`mm1k_blocking_ratio`.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`K` place_count.

    Examples
    --------
    >>> round(float(mm1k_customers(1.2, place_count=10)), 9)
    6.710708678

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.6.
    """
    load = utilization_of(utilization)
    capacity = whole("place_count", place_count, low=1)
    return mean_state(load, capacity)


@model
def mm1k_throughput_pps(
    utilization: ArrayLike, *, place_count: ArrayLike, service_s: ArrayLike
) -> FloatArray:
    r"""Throughput of an M/M/1/K queue: accepted arrivals.

    .. math::

        X = \lambda (1 - p_K) = \frac{\rho}{s} \left(1 - \frac{(1-\rho)\rho^K}{1-\rho^{K+1}}\right)

    Parameters
    ----------
    utilization : array_like
        Offered load: arrival rate times mean service time; 1 and above is allowed. [ratio]
    place_count : array_like
        Capacity of the system in customers, the one in service included. [1]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Rate accepted and served. [packet/s]

    Notes
    -----
    Validity: as :func:`mm1k_blocking_ratio`.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`K` place_count, :math:`s` service_s.

    Examples
    --------
    >>> round(float(mm1k_throughput_pps(1.0, place_count=10, service_s=1e-3)), 6)
    909.090909

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.6.
    """
    load = utilization_of(utilization)
    capacity = whole("place_count", place_count, low=1)
    return _busy_ratio(load, capacity) / positive("service_s", service_s)


@model
def mm1k_sojourn_s(
    utilization: ArrayLike, *, place_count: ArrayLike, service_s: ArrayLike
) -> FloatArray:
    r"""Mean sojourn time of accepted customers in an M/M/1/K system.

    .. math::

        T = \frac{N}{\lambda (1 - p_K)}, \quad N = \frac{\rho}{1-\rho} -
        \frac{(K+1)\rho^{K+1}}{1-\rho^{K+1}}, \quad \lambda (1 - p_K) = \frac{\rho (1 - \rho^K)}{s
        (1 - \rho^{K+1})}

    Parameters
    ----------
    utilization : array_like
        Offered load: arrival rate times mean service time; 1 and above is allowed. [ratio]
    place_count : array_like
        Capacity of the system in customers, the one in service included. [1]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Mean time from arrival to departure. [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_sojourn_s : An infinite buffer.

    Notes
    -----
    Validity: as :func:`mm1k_blocking_ratio`; Little's law with the accepted rate, not the offered.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`K` place_count, :math:`s` service_s.

    Examples
    --------
    >>> round(float(mm1k_sojourn_s(0.8, place_count=10, service_s=1e-3)), 9)
    0.003797098

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.6; Little 1961.
    """
    load = utilization_of(utilization)
    capacity = whole("place_count", place_count, low=1)
    return _services_inside(load, capacity) * positive("service_s", service_s)


@model
def mm1k_wait_s(
    utilization: ArrayLike, *, place_count: ArrayLike, service_s: ArrayLike
) -> FloatArray:
    r"""Mean wait of accepted customers in an M/M/1/K queue.

    .. math:: W = T - s = s \left(\frac{\rho}{1-\rho} - \frac{K \rho^K}{1-\rho^K}\right)

    Parameters
    ----------
    utilization : array_like
        Offered load: arrival rate times mean service time; 1 and above is allowed. [ratio]
    place_count : array_like
        Capacity of the system in customers, the one in service included. [1]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service, at most K - 1 services. [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_s : Exponential service: an upper estimate for packets.
    netcalc.models.queues.md1.md1_wait_s : Packets of one size: half the wait.
    netcalc.models.queues.queueing.mg1_wait_s : Any distribution of the service time.
    netcalc.models.queues.queueing.kingman_wait_s : Any arrivals as well, approximately.
    netcalc.models.queues.erlang.mmc_wait_s : Several servers.
    netcalc.models.queues.erlang.mmck_wait_s : Several servers and a limited queue.

    Notes
    -----
    Validity: as :func:`mm1k_blocking_ratio`. An accepted arrival sees the system as an outsider
    sees one with a capacity of K - 1, so the wait is the number in that one times the service.

    Range: everywhere.

    Symbols: :math:`s` service_s, :math:`\rho` utilization, :math:`K` place_count.

    Examples
    --------
    >>> round(float(mm1k_wait_s(0.8, place_count=10, service_s=1e-3)), 9)
    0.002797098

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.6.
    """
    load = utilization_of(utilization)
    capacity = whole("place_count", place_count, low=1)
    return _services_ahead(load, capacity) * positive("service_s", service_s)


@model
def mm1k_wait_cdf(
    wait_s: ArrayLike, *, utilization: ArrayLike, place_count: ArrayLike, service_s: ArrayLike
) -> FloatArray:
    r"""Distribution function of the wait of accepted customers in an M/M/1/K queue.

    .. math:: P(W \le t) = 1 - \sum_{i=0}^{K-2} \frac{\rho^{i+1} - \rho^K}{1 - \rho^K}
        \frac{(t/s)^i}{i!} e^{-t/s}

    Parameters
    ----------
    wait_s : array_like
        Bound of the wait, service not included. [s]
    utilization : array_like
        Offered load: arrival rate times mean service time; 1 and above is allowed. [ratio]
    place_count : array_like
        Capacity of the system in customers, the one in service included. [1]
    service_s : array_like
        Mean service time. [s]

    Returns
    -------
    numpy.ndarray
        Probability. [ratio]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_cdf : An infinite buffer.
    netcalc.models.queues.md1.md1_wait_cdf : Packets of one size, an infinite buffer.

    Notes
    -----
    Validity: as :func:`mm1k_blocking_ratio`. An accepted customer finds :math:`n < K` others with
    the probability :math:`p_n / (1 - p_K)`, and waits for as many exponential services: an Erlang
    distribution for each n. The sum is one of two incomplete gamma functions, right to 1e-9.

    Range: everywhere.

    Symbols: :math:`t` wait_s, :math:`\rho` utilization, :math:`K` place_count, :math:`s`
    service_s.

    Examples
    --------
    >>> round(float(mm1k_wait_cdf(4e-3, utilization=0.8, place_count=10, service_s=1e-3)), 6)
    0.717318

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 3.6; Gross et al., Fundamentals of Queueing Theory, 4th
    ed., 2.5.
    """
    wait = non_negative("wait_s", wait_s)
    load = utilization_of(utilization)
    capacity = whole("place_count", place_count, low=1)
    services = wait / positive("service_s", service_s)
    return _share_within(services, load, capacity)


def _services_inside(load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return the time in the system, in services."""
    number = mean_state(load, capacity)
    # Next to no load every customer is alone; numbers this small have lost their digits.
    services = np.where(load > 1e-300, number / _busy_ratio(load, capacity), 1.0)
    return keep_nan(services, load, capacity)


def _services_ahead(load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return the wait, in services."""
    ahead = np.where(capacity > 1.0, mean_state(load, np.maximum(capacity - 1.0, 1.0)), 0.0)
    return keep_nan(ahead, load, capacity)


def _busy_ratio(load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return the utilization of the server: the accepted load."""
    x = np.log(load)
    growth = growth_ratio(x, capacity)
    # p_0 above a load of 1 and p_K below are the small ones: 1 minus them keeps its digits.
    accepted = load * (1.0 - np.exp(capacity * np.minimum(x, 0.0)) * growth)
    worked = 1.0 - np.exp(-capacity * np.maximum(x, 0.0)) * growth
    busy = np.where(load <= 1.0, accepted, worked)
    return keep_nan(np.where(load > 0.0, busy, 0.0), load, capacity)


def _share_within(services: FloatArray, load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return the share of the accepted customers that wait at most so many services."""
    x, growth = np.minimum(services, 1e300), np.log(load)
    ahead = capacity - 1.0  # the most customers that an accepted one finds
    spread = capacity * growth
    with np.errstate(all="ignore"):  # of the forms that are not taken
        reached = _poisson_below(ahead, x)
        below = (load * np.exp(-x * (1.0 - load)) * _poisson_below(ahead, load * x)
                 - np.exp(spread) * reached) / -np.expm1(spread)  # fmt: skip
        above = (reached - _grown_terms(ahead, x, load)) / -np.expm1(-spread)
        # Next to a load of 1 both are 0/0: the sum's first two terms in the logarithm of the load.
        first, second = x * _poisson_below(ahead - 1.0, x), x**2 * _poisson_below(ahead - 2.0, x)
        level = (ahead * reached - first) / capacity
        slope = level + first - (second + 2.0 * first) / capacity
        longer = np.where(load < 1.0, below, above)
        longer = np.where(np.abs(spread) < 1e-4, level + 0.5 * growth * slope, longer)
    longer = np.where((load > 0.0) & np.isfinite(services) & (ahead > 0.0), longer, 0.0)
    return keep_nan(1.0 - np.clip(longer, 0.0, 1.0), services, load, capacity)


def _poisson_below(count: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the probability of fewer than a count, in a Poisson distribution."""
    from scipy.special import gammaincc  # late: no other formula needs scipy

    # scipy gives nan for counts next to the largest float.
    return np.where(count > 0.0, gammaincc(np.clip(count, 1.0, 1e300), mean), 0.0)


def _grown_terms(count: FloatArray, x: FloatArray, load: FloatArray) -> FloatArray:
    """Return the sum of the Poisson terms below a count, each times load^(i - count)."""
    from scipy.special import gammaln  # late, as above

    mean = load * x
    share = _poisson_below(count, mean)
    near = np.exp(np.minimum(x * (load - 1.0) - count * np.log(load), 700.0)) * share
    # Far out the share underflows: the continued fraction of the incomplete gamma function.
    fraction = np.zeros(np.shape(mean))
    for step in range(_FRACTION_STEPS, 0, -1):
        fraction = step * (step - count) / (mean + 2 * step + 1 - count - fraction)
    far = np.exp(count * np.log(x) - x - gammaln(count)) / (mean + 1.0 - count - fraction)
    return np.where(share > 1e-200, near, np.where(x > 0.0, far, 0.0))
