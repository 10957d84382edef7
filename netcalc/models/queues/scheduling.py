"""Schedulers: waits of classes in order of urgency, and weighted fair queueing with its bound.

Classes with priorities are listed from the most urgent on. Those that the more urgent ones leave
nothing wait without end; the others are still served.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import (
    FloatArray,
    keep_nan,
    model,
    non_negative,
    one_dimensional,
    positive,
    whole,
)
from netcalc.errors import DomainError
from netcalc.models.queues._load import utilization_of


@model
def priority_wait_s(
    utilization: ArrayLike, *, service_s: ArrayLike, service_scv: ArrayLike = 0.0
) -> FloatArray:
    r"""Mean wait of each priority class, without preemption (Cobham).

    .. math:: W_k = \frac{\sum_i \rho_i s_i (1 + c_i^2) / 2}{(1 - \sigma_{k-1}) (1 - \sigma_k)},
        \quad \sigma_k = \sum_{i \le k} \rho_i

    Parameters
    ----------
    utilization : 1-D array_like
        Load of each class, the most urgent first. [ratio]
    service_s : 1-D array_like
        Mean service time of each class, or one for all. [s]
    service_scv : 1-D array_like
        Squared coefficient of variation of the service time of each class, or one for all: 0 for
        packets of one size. [1]

    Returns
    -------
    numpy.ndarray
        Mean wait of each class, without the service; ``inf`` where the load of the class and of
        those before it is 1 or more. [s]

    See Also
    --------
    preemptive_sojourn_s : The packet in service is interrupted.
    netcalc.models.queues.queueing.packet_ahead_wait_s : Alone in the urgent class.

    Notes
    -----
    Validity: Poisson arrivals in each class, first come first served within one. A class that
    only partly fits counts with what is served of it.

    Typical: voice of 10 % before data of 70 % on a link waits a ninth longer than for the packet
    that is being sent.

    Range: everywhere.

    Symbols: :math:`\rho_i` utilization, :math:`s_i` service_s, :math:`c_i^2` service_scv,
    :math:`W_k` result.

    Examples
    --------
    Voice, then data, on a link of 2 Mbit/s:

    >>> priority_wait_s([0.1, 0.7], service_s=[0.9e-3, 6e-3]).round(6).tolist()
    [0.002383, 0.011917]

    References
    ----------
    Cobham, Priority assignment in waiting line problems, Operations Research 2 (1954),
    doi:10.1287/opre.2.1.70; Kleinrock, Queueing Systems vol. 2, ch. 3.
    """
    load, service, scv = _classes(utilization, service_s, service_scv)
    before, after = _loads(load)
    served = np.minimum(load, before)
    return (served @ _residual(service, scv)) / (before * after)


@model
def preemptive_sojourn_s(
    utilization: ArrayLike, *, service_s: ArrayLike, service_scv: ArrayLike = 0.0
) -> FloatArray:
    r"""Mean sojourn time of each priority class, where a more urgent one interrupts.

    .. math:: T_k = \frac{s_k}{1 - \sigma_{k-1}} + \frac{\sum_{i \le k} \rho_i s_i (1 + c_i^2) / 2}
        {(1 - \sigma_{k-1}) (1 - \sigma_k)}, \quad \sigma_k = \sum_{i \le k} \rho_i

    Parameters
    ----------
    utilization : 1-D array_like
        Load of each class, the most urgent first. [ratio]
    service_s : 1-D array_like
        Mean service time of each class, or one for all. [s]
    service_scv : 1-D array_like
        Squared coefficient of variation of the service time of each class, or one for all. [1]

    Returns
    -------
    numpy.ndarray
        Mean time from arrival to the end of service of each class; ``inf`` where the load of the
        class and of those before it is 1 or more. [s]

    See Also
    --------
    priority_wait_s : The packet in service is finished first.

    Notes
    -----
    Validity: Poisson arrivals; what was interrupted goes on where it was, without cost, as with
    frame preemption (IEEE 802.1Qbu) but for its extra headers. The most urgent class is an M/G/1
    queue of its own.

    Range: everywhere.

    Symbols: :math:`\rho_i` utilization, :math:`s_i` service_s, :math:`c_i^2` service_scv,
    :math:`s_k` service_s, :math:`T_k` result.

    Examples
    --------
    >>> preemptive_sojourn_s([0.1, 0.7], service_s=[0.9e-3, 6e-3]).round(6).tolist()
    [0.00095, 0.018583]

    References
    ----------
    Kleinrock, Queueing Systems vol. 2, ch. 3.
    """
    load, service, scv = _classes(utilization, service_s, service_scv)
    before, after = _loads(load)
    residual = np.cumsum(load * _residual(service, scv))
    return service / before + residual / (before * after)


def _classes(
    utilization: ArrayLike, service_s: ArrayLike, service_scv: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return load, service time and its variation, one each for every class."""
    load = one_dimensional("utilization", utilization_of(utilization))
    service = one_dimensional("service_s", positive("service_s", service_s))
    scv = one_dimensional("service_scv", non_negative("service_scv", service_scv))
    for name, values in (("service_s", service), ("service_scv", scv)):
        if values.size not in (1, load.size):
            raise DomainError("wrong-count-or-one", name, count=values.size, expected=load.size)
    filled = np.ones(load.size)
    return load, service * filled, scv * filled


def _loads(load: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what is free of the link before each class, and after it: never below 0."""
    total = np.cumsum(load)
    after = np.maximum(1.0 - total, 0.0)
    return np.concatenate([[1.0], after[:-1]]), after


def _residual(service: FloatArray, scv: FloatArray) -> FloatArray:
    """Return the mean rest of a service that is met."""
    return service * (0.5 + 0.5 * scv)


@model
def wfq_delay_s(
    bucket_bytes: ArrayLike,
    *,
    reserved_bps: ArrayLike,
    bandwidth_bps: ArrayLike,
    packet_bytes: ArrayLike,
    largest_bytes: ArrayLike,
    link_count: ArrayLike = 1,
) -> FloatArray:
    r"""Bound of the delay of a flow under weighted fair queueing (Parekh and Gallager).

    .. math:: D = \frac{8 b}{g} + (K - 1) \frac{8 L}{g} + K \frac{8 M}{R}

    Parameters
    ----------
    bucket_bytes : array_like
        Depth of the token bucket that limits the flow, a packet at least. [byte]
    reserved_bps : array_like
        Rate that the weight of the flow gives it, not below its token rate. [bit/s]
    bandwidth_bps : array_like
        Rate of the links. [bit/s]
    packet_bytes : array_like
        Largest packet of the flow. [byte]
    largest_bytes : array_like
        Largest packet of any flow. [byte]
    link_count : array_like
        Links of the path. [1]

    Returns
    -------
    numpy.ndarray
        Bound of the delay, without propagation; ``inf`` where the reserved rate is above a link's
        rate. [s]

    See Also
    --------
    netcalc.models.queues.token_bucket.delay_bound_s : Any service with a rate and a latency.

    Notes
    -----
    Validity: token rates of all flows within their reservations. The fluid scheduler (GPS) has
    the first term alone; a packet is at most one largest packet later at each link.

    Typical: voice of one packet of 214 bytes with 100 kbit/s reserved on 2 Mbit/s: 23 ms, of which
    6 ms behind a packet of 1538 bytes.

    Range: everywhere.

    Symbols: :math:`b` bucket_bytes, :math:`g` reserved_bps, :math:`K` link_count, :math:`L`
    packet_bytes, :math:`M` largest_bytes, :math:`R` bandwidth_bps.

    Examples
    --------
    >>> bound = wfq_delay_s(
    ...     214, reserved_bps=100e3, bandwidth_bps=2e6, packet_bytes=214, largest_bytes=1538
    ... )
    >>> round(float(bound) * 1e3, 2)
    23.27

    References
    ----------
    Parekh and Gallager, A generalized processor sharing approach to flow control in integrated
    services networks: the multiple node case, IEEE/ACM ToN 2 (1994), doi:10.1109/90.298432; RFC
    2212, 2 (the same with error terms).
    """
    burst = non_negative("bucket_bytes", bucket_bytes)
    reserved = positive("reserved_bps", reserved_bps)
    bandwidth = positive("bandwidth_bps", bandwidth_bps)
    links = whole("link_count", link_count, low=1)
    packet = 8.0 / reserved * positive("packet_bytes", packet_bytes)
    gathered = np.where(links > 1.0, (links - 1.0) * packet, 0.0)
    own = 8.0 / reserved * burst + gathered
    others = links * (8.0 / bandwidth * positive("largest_bytes", largest_bytes))
    bound = np.where(reserved <= bandwidth, own + others, np.inf)
    return keep_nan(bound, own, others, packet)
