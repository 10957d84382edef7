r"""Queues with general distributions, percentiles of M/G/1, and laws of all queues.

The swept quantity of a mean wait is the utilization :math:`\rho = \lambda s`. At 1 and above there
is no steady state and the wait is ``inf``: :mod:`netcalc.models.queues.backlog` gives the backlog
meanwhile, :mod:`netcalc.models.queues.mm1` the losses of a finite buffer.

A mean hides how long the unlucky ones wait. The distribution of M/G/1 with a mix of packet sizes is
known by its transform, which Pollaczek and Khinchine found; it is inverted numerically, by
a Fourier transform on a lattice, and far out follows its exponential tail.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model, takes_long
from netcalc.errors import DomainError
from netcalc.models.queues._load import (
    headroom,
    langevin,
    log_sinh_ratio,
    note_slow_queue,
    utilization_of,
)

QueueKind: TypeAlias = Literal["mm1", "md1", "mg1", "gg1", "mmc", "mm1k", "mmck", "mmcc"]

INFINITE_QUEUES = ("mm1", "md1", "mg1", "gg1", "mmc")
"""Queues with an infinite buffer, in Kendall's notation."""

LIMITED_QUEUES = ("mm1k", "mmck", "mmcc")
"""Queues that hold a limited number, and drop what finds them full."""


@model
def is_stable(utilization: ArrayLike, *, queue: QueueKind = "gg1") -> NDArray[np.bool_]:
    r"""Whether a queue has a steady state.

    .. math:: \rho < 1

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time, over the number of servers. [ratio]
    queue : {'mm1', 'md1', 'mg1', 'gg1', 'mmc', 'mm1k', 'mmck', 'mmcc'}
        Kendall's notation: mm1k, mmck and mmcc (Erlang B) hold a limited number. [text]

    Returns
    -------
    numpy.ndarray
        True below 1, and at any load of a queue that holds a limited number; False for nan. [bool]

    Notes
    -----
    Validity: queues whose arrivals or services vary at all. A queue that drops what finds it full
    is always stable.

    Range: everywhere.

    Symbols: :math:`\rho` utilization. Not in the equation: queue (limited ones are always stable).

    Examples
    --------
    >>> is_stable([0.99, 1.0, 1.2]).tolist(), bool(is_stable(1.2, queue="mm1k"))
    ([True, False, False], True)

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, 2.1.
    """
    load = utilization_of(utilization)
    if checks.choice("queue", queue, (*INFINITE_QUEUES, *LIMITED_QUEUES)) in LIMITED_QUEUES:
        return ~np.isnan(load)
    return np.asarray(load < 1.0)


@model
def little_number(rate_pps: ArrayLike, *, sojourn_s: ArrayLike) -> FloatArray:
    r"""Mean number in any stable system, by Little's law.

    .. math:: N = \lambda T

    Parameters
    ----------
    rate_pps : array_like
        Throughput of the system, without drops. [packet/s]
    sojourn_s : array_like
        Mean time inside. [s]

    Returns
    -------
    numpy.ndarray
        Mean number inside. [1]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_customers : Exponential service.
    netcalc.models.queues.md1.md1_customers : Packets of one size.
    netcalc.models.queues.mm1.mm1k_customers : A finite buffer.

    Notes
    -----
    Validity: every stable system, whatever its order of service or distributions.

    Range: everywhere.

    Symbols: :math:`\lambda` rate_pps, :math:`T` sojourn_s.

    Examples
    --------
    >>> float(little_number(250, sojourn_s=0.4))
    100.0

    References
    ----------
    Little, A proof for the queuing formula L = λW, Operations Research 9 (1961),
    doi:10.1287/opre.9.3.383.
    """
    return checks.non_negative("rate_pps", rate_pps) * checks.non_negative("sojourn_s", sojourn_s)


@model
def mg1_wait_s(
    utilization: ArrayLike, *, service_s: ArrayLike, service_scv: ArrayLike
) -> FloatArray:
    r"""Mean wait in an M/G/1 queue (Pollaczek-Khinchine).

    .. math:: W = s \frac{\rho (1 + c_s^2)}{2 (1 - \rho)}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]
    service_scv : array_like
        Squared coefficient of variation of the service time, variance over mean squared: 0 for
        one size, 1 for exponential. [1]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_s : Exponential service: an upper estimate for packets.
    netcalc.models.queues.md1.md1_wait_s : Packets of one size: half the wait.
    kingman_wait_s : Any arrivals as well, approximately.
    netcalc.models.queues.mm1.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.erlang.mmc_wait_s : Several servers.
    packet_mix_wait_s : A mix of packet sizes.

    Notes
    -----
    Validity: Poisson arrivals, utilization below 1, a service time of finite variance, a service
    order independent of the sizes.

    Typical: service_scv is 0 for one packet size, 1.2 for the simple IMIX (7:4:1).

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`s` service_s, :math:`c_s^2` service_scv.

    Examples
    --------
    >>> round(float(mg1_wait_s(0.9, service_s=1e-3, service_scv=10)), 9)
    0.0495

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    scv = checks.non_negative("service_scv", service_scv)
    return checks.positive("service_s", service_s) * (0.5 + 0.5 * scv) * (load / headroom(load))


@model
def packet_mix_scv(wire_bytes: ArrayLike, *, weight: ArrayLike) -> FloatArray:
    r"""Squared coefficient of variation of the service times of a mix of packet sizes.

    .. math:: c_s^2 = \frac{E[L^2]}{E[L]^2} - 1, \quad E[L^n] = \sum_i w_i L_i^n \Big/ \sum_i w_i

    Parameters
    ----------
    wire_bytes : 1-D array_like
        Sizes on the wire. [byte]
    weight : 1-D array_like
        Number of packets of each size. [1]

    Returns
    -------
    numpy.ndarray
        Variance over squared mean: 0 for one size. [1]

    Raises
    ------
    DomainError
        If all weights are 0.

    Notes
    -----
    Validity: sizes drawn independently. Real traffic has runs of one size, and waits are longer.

    Range: everywhere.

    Symbols: :math:`L_i` wire_bytes, :math:`w_i` weight.

    Examples
    --------
    The simple IMIX, frames of 64, 594 and 1518 bytes with preamble and gap, 7 : 4 : 1:

    >>> round(float(packet_mix_scv([84, 614, 1538], weight=[7, 4, 1])), 6)
    1.242175

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5.
    """
    size, share = _mix(wire_bytes, weight)
    return _mix_moments(size, share)[1]


@model
def packet_mix_wait_s(
    utilization: ArrayLike,
    *,
    wire_bytes: ArrayLike,
    weight: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Mean wait at the output of a link, for a mix of packet sizes.

    .. math::

        W = \frac{\rho}{2 (1 - \rho)} \frac{8 E[L^2]}{R\, E[L]}, \quad E[L^n] = \sum_i w_i L_i^n
        \Big/ \sum_i w_i

    Parameters
    ----------
    utilization : array_like
        Share of the link that the mix takes. [ratio]
    wire_bytes : 1-D array_like
        Sizes on the wire. [byte]
    weight : 1-D array_like
        Number of packets of each size. [1]
    bandwidth_bps : array_like
        Rate of the link. [bit/s, line]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [s]

    Raises
    ------
    DomainError
        If all weights are 0.

    See Also
    --------
    mg1_wait_s : Any distribution of the service time.
    netcalc.models.queues.queueing.packet_ahead_wait_s : Urgent packets.

    Notes
    -----
    Validity: as :func:`mg1_wait_s`. Sizes are those on the wire, preamble and gap included: the
    link serves those.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`L_i` wire_bytes, :math:`w_i` weight, :math:`R`
    bandwidth_bps.

    Examples
    --------
    >>> round(float(packet_mix_wait_s(0.9, wire_bytes=[84, 590, 1538], weight=[7, 4, 1],
    ...     bandwidth_bps=10e6)), 6)
    0.003055

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5.
    """
    size, share = _mix(wire_bytes, weight)
    mean, scv = _mix_moments(size, share)
    service = 8.0 * (mean / checks.positive("bandwidth_bps", bandwidth_bps))
    load = utilization_of(utilization)
    note_slow_queue(load)
    return service * (0.5 + 0.5 * scv) * (load / headroom(load))


@model
def kingman_wait_s(
    utilization: ArrayLike,
    *,
    service_s: ArrayLike,
    arrival_scv: ArrayLike,
    service_scv: ArrayLike,
) -> FloatArray:
    r"""Mean wait in a G/G/1 queue, by Kingman's approximation.

    .. math:: W \approx s \frac{\rho}{1 - \rho} \frac{c_a^2 + c_s^2}{2}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]
    arrival_scv : array_like
        Squared coefficient of variation of the time between arrivals: 1 for Poisson. [1]
    service_scv : array_like
        Squared coefficient of variation of the service time. [1]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service; ``inf`` from a utilization of 1:
        no steady state, which only a finite queue has there (mm1k_wait). [s]

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_s : Exponential service: an upper estimate for packets.
    netcalc.models.queues.md1.md1_wait_s : Packets of one size: half the wait.
    mg1_wait_s : Any distribution of the service time.
    netcalc.models.queues.mm1.mm1k_wait_s : A finite buffer.
    netcalc.models.queues.erlang.mmc_wait_s : Several servers.
    netcalc.models.queues.backlog.dispersion_wait_s : Bursts, by their index of dispersion.

    Notes
    -----
    Validity: an approximation for heavy traffic; exact for M/M/1 and, with Poisson arrivals, equal
    to Pollaczek-Khinchine. Independent interarrival times: in correlated bursts waits are longer.
    From 0.9 on it is at most 8 % above exponential services with arrivals from even to a squared
    coefficient of 9; at 0.85 13 %.

    Typical: arrival_scv is 0 for a voice stream, 1 for Poisson arrivals, above 1 for bursts.

    Range: utilization (unless arrivals are Poisson) from 0.9.

    Symbols: :math:`\rho` utilization, :math:`s` service_s, :math:`c_a^2` arrival_scv, :math:`c_s^2`
    service_scv.

    Examples
    --------
    >>> round(float(kingman_wait_s(0.7, service_s=1e-3, arrival_scv=2, service_scv=1)), 9)
    0.0035

    References
    ----------
    Kingman, The single server queue in heavy traffic, Proc. Cambridge Phil. Soc. 57 (1961),
    doi:10.1017/S0305004100036094.
    """
    load = utilization_of(utilization)
    note_slow_queue(load)
    arrivals = checks.non_negative("arrival_scv", arrival_scv)
    services = checks.non_negative("service_scv", service_scv)
    service = checks.positive("service_s", service_s)
    checks.note_outside_range(
        kingman_wait_s, code="below-heavy-traffic", where=arrivals != 1.0, utilization=load
    )
    variation = 0.5 * arrivals + 0.5 * services
    wait = np.where(load < 1.0, service * variation * (load / headroom(load)), np.inf)
    return checks.keep_nan(wait, load, service, variation)


def _mix(wire_bytes: ArrayLike, weight: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of a mix and the share of packets that each has."""
    size = checks.one_dimensional("wire_bytes", checks.positive("wire_bytes", wire_bytes))
    counts = checks.one_dimensional("weight", checks.non_negative("weight", weight))
    if counts.size != size.size:
        raise DomainError("wrong-count", "weight", count=counts.size, expected=size.size)
    if not counts.any():
        raise DomainError("all-zero", "weight")
    return size, counts / counts.sum()


def _mix_moments(size: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean size of a mix and its squared coefficient of variation."""
    mean = np.asarray((share * size).sum())
    return mean, np.asarray((share * (size / mean - 1.0) ** 2).sum())


COARSE, FINE = 2**11, 2**15
"""Points of the lattice that finds where to look, and of the one that answers."""

TILT = 18.0
"""The tilted tail falls by exp(-18) over the lattice: what wraps around is below 1e-7 of it."""

FAR = 1000.0
"""From so many of the largest services on, the tail is exponential."""

_NEWTON_STEPS = 200


def _tail(load: float, services: FloatArray, share: FloatArray) -> tuple[float, float]:
    r"""Return decay and constant of :math:`P(W > t) \to C e^{-\theta t}`.

    The decay is the root of :math:`\rho E[e^{\theta R}] = 1`, by Newton's method from above on
    the logarithm, which is convex.
    """
    weight = share * services / (share @ services)
    needed = -math.log(load)
    decay = needed / (0.5 * weight @ services)
    slope = 1.0
    for _ in range(_NEWTON_STEPS):
        half = 0.5 * decay * services
        exponent = half + log_sinh_ratio(half)
        most = exponent.max()
        terms = weight * np.exp(exponent - most)
        total = terms.sum()
        # Near a load of 1 it is the logarithm of a sum near 1.
        near, far = weight @ np.expm1(np.minimum(exponent, 1.0)), most + math.log(total)
        value = math.log1p(near) if most < 1.0 else far
        slope = float(terms @ (0.5 * services * (1.0 + langevin(half)))) / total
        change = (value - needed) / slope
        decay -= change
        if abs(change) <= 1e-15 * decay:
            break
    return float(decay), float((1.0 - load) / (decay * slope))


def _wait_percentile(
    load: float, services: FloatArray, share: FloatArray, quantile: float
) -> float:
    """Return the wait that a share of the packets does not exceed, above 0.

    ``quantile`` is above 1 - load and below 1, ``load`` above 0 and below 1.
    """
    rate = load / (share @ services)
    # Before the shortest service ends the distribution is (1 - load) exp(rate t).
    early = (math.log(quantile) - math.log1p(-load)) / rate
    if early <= services.min():
        return float(early)
    decay, constant = _tail(load, services, share)
    longer = 1.0 - quantile
    far = (math.log(constant) - math.log(longer)) / decay
    if far > FAR * services.max():
        return far
    # By Lundberg's inequality the tail is below exp(-decay t).
    end = -math.log(longer) / decay
    for points in (COARSE, FINE):
        wait = _on_lattice(load, services, share, longer, decay, end, points)
        end = min(max(1.25 * wait, 3.0 * services.min()), -math.log(longer) / decay)
    return wait


def _on_lattice(
    load: float,
    services: FloatArray,
    share: FloatArray,
    longer: float,
    decay: float,
    end: float,
    points: int,
) -> float:
    """Return where the tail falls below a share, found on a lattice from 0 to an end."""
    step = end / (0.9 * points)
    mean = share @ services
    inside = min(math.ceil(services.max() / step) + 2, points)
    at = step * np.arange(-1.0, inside)
    # The second difference of the integral of the tail splits each part between its neighbours.
    beyond = np.zeros_like(at)
    for service, part in zip(services, share, strict=True):
        beyond += part * np.maximum(service - np.maximum(at, 0.0), 0.0) ** 2 / (2.0 * mean)
    beyond[0] = beyond[1] + step
    masses = np.zeros(points)
    masses[: inside - 1] = np.diff(beyond, 2) / step
    # The number that the lattice has beyond a point, by its generating function.
    longer_residual = np.maximum(1.0 - np.cumsum(masses), 0.0)
    tilt = np.exp((decay * step - TILT / points) * np.arange(points))
    numerator = load * np.fft.rfft(longer_residual * tilt)
    series = np.fft.irfft(numerator / (1.0 - load * np.fft.rfft(masses * tilt)), points)
    beyond_point = np.maximum(series[: int(0.95 * points)] / tilt[: int(0.95 * points)], 1e-300)
    # A point stands for half a step on both sides of it.
    heights = np.log(np.concatenate([[load], beyond_point]))
    index = min(int(np.searchsorted(-heights, -math.log(longer))), heights.size - 1)
    last, here = float(heights[index - 1]), float(heights[index])
    start = (index - 1.5) * step if index > 1 else 0.0
    width = step if index > 1 else 0.5 * step
    return start + width * (last - math.log(longer)) / (last - here)


@takes_long
@model
def packet_mix_wait_percentile_s(
    utilization: ArrayLike,
    *,
    wire_bytes: ArrayLike,
    weight: ArrayLike,
    bandwidth_bps: ArrayLike,
    quantile: ArrayLike,
) -> FloatArray:
    r"""Percentile of the wait at the output of a link, for a mix of packet sizes.

    .. math:: P(W \le t_q) = q, \quad E[e^{-z W}] = \frac{(1 - \rho) z}{z - \lambda +
        \lambda \sum_i w_i e^{-8 z L_i / R} / \sum_i w_i}, \quad
        \lambda = \frac{\rho R \sum_i w_i}{8 \sum_i w_i L_i}

    Parameters
    ----------
    utilization : array_like
        Share of the link that the mix takes. [ratio]
    wire_bytes : 1-D array_like
        Sizes on the wire. [byte]
    weight : 1-D array_like
        Number of packets of each size. [1]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]
    quantile : array_like
        Probability: 0.99 for the 99th percentile. [ratio]

    Returns
    -------
    numpy.ndarray
        Percentile of the wait, without the service; 0 where enough packets do not wait at all,
        ``inf`` for a quantile of 1, and from a utilization of 1: no steady state. [s]

    Raises
    ------
    DomainError
        If all weights are 0.

    See Also
    --------
    netcalc.models.queues.mm1.mm1_wait_percentile_s : Exponential service.
    netcalc.models.queues.md1.md1_wait_percentile_s : Packets of one size.

    Notes
    -----
    Validity: Poisson arrivals, first come first served, an infinite buffer. Real traffic comes in
    bursts and waits longer: see
    :func:`netcalc.models.queues.backlog.dispersion_wait_s`. Right to 1e-5 of itself; some
    milliseconds for each pair of utilization and quantile.

    Typical: 64, 570 and 1518 bytes at 7 : 4 : 1 and a load of 0.8: the 99th percentile is 5.4
    times the mean.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`L_i` wire_bytes, :math:`w_i` weight, :math:`R`
    bandwidth_bps, :math:`q` quantile, :math:`t_q` result.

    Examples
    --------
    >>> wait = packet_mix_wait_percentile_s(
    ...     0.8, wire_bytes=[84, 590, 1538], weight=[7, 4, 1], bandwidth_bps=100e6, quantile=0.99
    ... )
    >>> round(float(wait) * 1e6, 1)
    732.7

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5 (the transform); Abate and Whitt, The Fourier-series
    method for inverting transforms of probability distributions, Queueing Systems 10 (1992),
    doi:10.1007/BF01158520; the tail: Asmussen, Applied Probability and Queues, 2nd ed.
    (2003), doi:10.1007/b97236.
    """
    size, share = _occurring(wire_bytes, weight)
    load, quantiles = utilization_of(utilization), checks.ratio("quantile", quantile)
    note_slow_queue(load)
    bandwidth = checks.positive("bandwidth_bps", bandwidth_bps)
    mean = float(share @ size)
    load, quantiles = np.broadcast_arrays(load, quantiles)
    waits = np.zeros(load.shape)
    is_known = np.isfinite(size).all() and np.isfinite(share).all()
    for index in np.ndindex(load.shape):
        rho, q = float(load[index]), float(quantiles[index])
        if rho >= 1.0 or (q == 1.0 and rho > 0.0):
            waits[index] = np.inf
        elif q > 1.0 - rho and is_known:
            waits[index] = _wait_percentile(rho, size / mean, share, q)
    wait = waits * (8.0 * mean / bandwidth)
    return checks.keep_nan(wait, load, quantiles, bandwidth, np.asarray(mean))


@model
def packet_ahead_wait_s(
    utilization: ArrayLike,
    *,
    wire_bytes: ArrayLike,
    weight: ArrayLike,
    bandwidth_bps: ArrayLike,
) -> FloatArray:
    r"""Mean wait of an urgent packet behind the one that is being sent.

    .. math:: W_0 = \frac{\rho}{2} \frac{8}{R} \frac{\sum_i w_i L_i^2}{\sum_i w_i L_i}

    Parameters
    ----------
    utilization : array_like
        Share of the link that the mix takes. [ratio]
    wire_bytes : 1-D array_like
        Sizes on the wire. [byte]
    weight : 1-D array_like
        Number of packets of each size. [1]
    bandwidth_bps : array_like
        Rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Mean wait: the rest of the packet in service, 0 if the link is idle; from a utilization of
        1 as if always busy. [s]

    Raises
    ------
    DomainError
        If all weights are 0.

    See Also
    --------
    netcalc.models.queues.scheduling.priority_wait_s : With others of its class before it.
    netcalc.models.queues.queueing.packet_mix_wait_s : Without priority.

    Notes
    -----
    Validity: an urgent packet goes before all that wait, not before the one that is being sent.
    At worst that is the largest, from its first bit on. Large packets are met more often than
    their number says: the weight of each size is its share of the bytes.

    Typical: at 2 Mbit/s and a load of 0.8 1.4 ms, at most 6.2 ms behind 1538 bytes.

    Range: everywhere.

    Symbols: :math:`\rho` utilization, :math:`L_i` wire_bytes, :math:`w_i` weight, :math:`R`
    bandwidth_bps.

    Examples
    --------
    >>> wait = packet_ahead_wait_s(
    ...     0.8, wire_bytes=[84, 590, 1538], weight=[7, 4, 1], bandwidth_bps=2e6
    ... )
    >>> round(float(wait) * 1e3, 3)
    1.358

    References
    ----------
    Kleinrock, Queueing Systems vol. 1, ch. 5 (residual life); Cobham, Priority assignment in
    waiting line problems, Operations Research 2 (1954), doi:10.1287/opre.2.1.70.
    """
    size, share = _occurring(wire_bytes, weight)
    mean = share @ size
    residual = np.asarray((0.5 * share * (size / mean)) @ size)
    load = np.minimum(utilization_of(utilization), 1.0)
    return load * (8.0 / checks.positive("bandwidth_bps", bandwidth_bps)) * residual


def _occurring(wire_bytes: ArrayLike, weight: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of a mix that occur, and the share of packets that each has."""
    size, share = _mix(wire_bytes, weight)
    occurs = share != 0.0
    return size[occurs], share[occurs]
