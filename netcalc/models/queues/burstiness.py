r"""Burstiness: the index of dispersion of arrivals, and how much longer it makes the wait.

The index is the variance of the arrivals in an interval over their mean: 1 for Poisson arrivals at
every interval. Bursts that come together make it grow with the interval, up to a limit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.queues._load import headroom, note_slow_queue, utilization_of


@model
def dispersion_index(arrival_count: ArrayLike) -> FloatArray:
    r"""Index of dispersion of counts, from the arrivals in intervals of one length.

    .. math:: I = \frac{\sum_i (n_i - \bar n)^2}{(m - 1)\, \bar n}, \quad
        \bar n = \frac{1}{m} \sum_i n_i

    Parameters
    ----------
    arrival_count : 1-D array_like
        Packets that arrived in each interval, at least two. [1]

    Returns
    -------
    numpy.ndarray
        Index of this interval; nan without arrivals. [1]

    Raises
    ------
    DomainError
        If there is one interval only.

    See Also
    --------
    on_off_dispersion_index : Of sources that switch on and off.

    Notes
    -----
    Validity: intervals of the length in which the queue fills and drains, and many of them: the
    relative error is the square root of two over their number. Of 200 it is 10 %.

    Typical: 1 for Poisson arrivals, 10 and more over a second of Internet traffic.

    Range: interval_count (how many intervals) from 200.

    Symbols: :math:`n_i` arrival_count.

    Examples
    --------
    >>> round(float(dispersion_index([12, 8, 10, 2, 18, 10])), 9)
    2.72

    References
    ----------
    Gusella, Characterizing the variability of arrival processes with indexes of dispersion, IEEE
    JSAC 9 (1991), doi:10.1109/49.76633, pages 203-211.
    """
    counts = checks.one_dimensional("arrival_count", checks.whole("arrival_count", arrival_count))
    if counts.size < 2:
        raise DomainError("too-few-numbers", "arrival_count", counts.size, expected=2)
    checks.note_outside_range(dispersion_index, interval_count=counts.size)
    mean = (counts / counts.size).sum()
    return np.asarray(((counts - mean) / (counts.size - 1) * (counts / mean - 1.0)).sum())


@model
def on_off_dispersion_index(
    peak_pps: ArrayLike, *, on_s: ArrayLike, off_s: ArrayLike
) -> FloatArray:
    r"""Limit of the index of dispersion of on-off sources.

    .. math:: I = 1 + \frac{2 \lambda\, t_{on}\, t_{off}^2}{(t_{on} + t_{off})^2}

    Parameters
    ----------
    peak_pps : array_like
        Mean rate of a source while it is on. [packet/s]
    on_s : array_like
        Mean time that it is on. [s]
    off_s : array_like
        Mean time that it is off. [s]

    Returns
    -------
    numpy.ndarray
        Index over long intervals; 1 for a source that is always on. [1]

    See Also
    --------
    dispersion_index : Of measured counts.

    Notes
    -----
    Validity: exponential times, Poisson arrivals while on, also for many such sources together.
    Over intervals that are short beside the times it is 1. Heavy-tailed times have no limit.

    Typical: voice with silence suppression, 50 packets/s for 0.352 s, 0.65 s silent: 16.

    Range: everywhere.

    Symbols: :math:`\lambda` peak_pps, :math:`t_{on}` on_s, :math:`t_{off}` off_s.

    Examples
    --------
    >>> round(float(on_off_dispersion_index(50, on_s=0.352, off_s=0.65)), 2)
    15.81

    References
    ----------
    Fischer and Meier-Hellstern, The Markov-modulated Poisson process (MMPP) cookbook, Performance
    Evaluation 18 (1993), doi:10.1016/0166-5316(93)90035-S; the times of voice: Heffes and
    Lucantoni, IEEE JSAC 4 (1986), doi:10.1109/JSAC.1986.1146393.
    """
    rate = checks.non_negative("peak_pps", peak_pps)
    on, off = checks.positive("on_s", on_s), checks.non_negative("off_s", off_s)
    idle = 1.0 / (1.0 + on / off)
    return 1.0 + 2.0 * (rate * (on * idle)) * idle


@model
def dispersion_wait_s(
    utilization: ArrayLike,
    *,
    service_s: ArrayLike,
    dispersion: ArrayLike,
    service_scv: ArrayLike = 0.0,
) -> FloatArray:
    r"""Mean wait of bursty arrivals, by their index of dispersion.

    .. math:: W \approx s \frac{\rho}{1 - \rho} \frac{I + c_s^2}{2}

    Parameters
    ----------
    utilization : array_like
        Load: arrival rate times mean service time. [ratio]
    service_s : array_like
        Mean service time. [s]
    dispersion : array_like
        Index of dispersion of counts, over intervals in which the queue fills and drains. [1]
    service_scv : array_like
        Squared coefficient of variation of the service time: 0 for packets of one size. [1]

    Returns
    -------
    numpy.ndarray
        Mean wait without the service; ``inf`` from a utilization of 1: no steady state. [s]

    See Also
    --------
    netcalc.models.queues.queueing.kingman_wait_s : Independent interarrival times.

    Notes
    -----
    Validity: heavy traffic, where the limit of the index counts; exact there as the load goes to 1.
    At lower loads the queue drains before a burst is over and the wait is shorter: take the index
    over a shorter interval. From 0.9 on within 9 % for on-off arrivals in bursts of up to 20
    packets in the mean; at 0.8 17 %, and with pauses that are short beside bursts of 100 packets 25
    % at 0.9.

    Typical: bursts of an index of 10 wait five times longer than random packets.

    Range: utilization (unless the index is 1) from 0.9.

    Symbols: :math:`\rho` utilization, :math:`s` service_s, :math:`I` dispersion, :math:`c_s^2`
    service_scv.

    Examples
    --------
    >>> round(float(dispersion_wait_s(0.8, service_s=1e-4, dispersion=10)), 6)
    0.002

    References
    ----------
    Fendick and Whitt, Measurements and approximations to describe the offered traffic and predict
    the average workload in a single-server queue, Proc. IEEE 77 (1989), doi:10.1109/5.21078.
    """
    load = utilization_of(utilization)
    index = checks.non_negative("dispersion", dispersion)
    note_slow_queue(load)
    checks.note_outside_range(
        dispersion_wait_s, code="below-heavy-traffic", where=index != 1.0, utilization=load
    )
    variation = 0.5 * index
    variation = variation + 0.5 * checks.non_negative("service_scv", service_scv)
    service = checks.positive("service_s", service_s)
    wait = np.where(load < 1.0, service * variation * (load / headroom(load)), np.inf)
    return checks.keep_nan(wait, load, service, variation)
