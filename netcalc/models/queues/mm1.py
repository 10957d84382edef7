r"""M/M/1: random arrivals, exponential service, one server, an infinite buffer.

The swept quantity is the utilization :math:`\rho = \lambda s`, arrival rate times mean service
time. At 1 and above there is no steady state: times and numbers are ``inf``, and no wait is ever
"within" a bound. For a limited queue see :mod:`netcalc.models.queues.finite_queues`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, model, non_negative, positive, ratio, whole
from netcalc.models.queues._load import headroom, note_slow_queue, utilization_of


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
    netcalc.models.queues.finite_queues.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.mmc.mmc_wait_s : Several servers.
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
    netcalc.models.queues.finite_queues.mm1k_sojourn_s : A finite buffer.

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
    netcalc.models.queues.finite_queues.mm1k_customers : A finite buffer.
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
    netcalc.models.queues.finite_queues.mm1k_wait_cdf : A finite buffer.

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
    netcalc.models.queues.mmc.mmc_wait_percentile_s : Several servers.
    netcalc.models.queues.mg1_percentiles.packet_mix_wait_percentile_s : A mix of packet sizes.

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
