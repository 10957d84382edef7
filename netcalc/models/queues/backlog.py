"""Backlog: waits of given arrivals, overload as a fluid, and what bursts add to a wait.

No steady state is needed for the waits of given arrivals and for the fluid.

The index of dispersion of arrivals is the variance of the arrivals in an interval over their mean:
1 for Poisson arrivals at every interval. Bursts that come together make it grow with the interval,
up to a limit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError
from netcalc.models.queues._load import headroom, note_slow_queue, utilization_of

_BLOCK = 4096


@model
def lindley_wait_s(interarrival_s: ArrayLike, *, service_s: ArrayLike) -> FloatArray:
    r"""Wait of each customer of a FIFO queue, from arrival and service times (Lindley).

    .. math:: W_{n+1} = \max(0, W_n + S_n - A_{n+1})

    Parameters
    ----------
    interarrival_s : 1-D array_like
        Time between each customer and the one before; the first is ignored. [s]
    service_s : 1-D array_like
        Service time of each, or one for all. [s]

    Returns
    -------
    numpy.ndarray
        Wait of each customer; the queue is empty at the start. [s]

    See Also
    --------
    fluid_backlog_bytes : Given rates, as a fluid.
    netcalc.models.queues.mm1.mm1_wait_s : Random arrivals, on average.

    Notes
    -----
    Validity: exact for any arrivals and services, one server, FIFO, an infinite buffer. From a
    customer with a missing time on, all waits are nan.

    Range: everywhere.

    Symbols: :math:`A_{n+1}` interarrival_s, :math:`S_n` service_s.

    Examples
    --------
    >>> lindley_wait_s([0, 1, 2, 3], service_s=[5, 1, 1, 1]).tolist()
    [0.0, 4.0, 3.0, 1.0]

    References
    ----------
    Lindley, The theory of queues with a single server, Proc. Cambridge Phil. Soc. 48 (1952),
    doi:10.1017/S0305004100027638.
    """
    gaps = checks.one_dimensional(
        "interarrival_s", checks.non_negative("interarrival_s", interarrival_s)
    )
    services = np.atleast_1d(checks.non_negative("service_s", service_s))
    if services.ndim != 1 or services.size not in (1, gaps.size):
        raise DomainError(
            "wrong-count-or-one", "service_s", count=services.size, expected=gaps.size
        )
    changes = np.broadcast_to(services, gaps.shape)[:-1] - gaps[1:]
    waits = np.zeros(gaps.size)
    last = 0.0
    # A block at a time, so that rounding errors grow with a block and not with the whole drift.
    for start in range(0, changes.size, _BLOCK):
        walk = np.cumsum(changes[start : start + _BLOCK])
        walk += last
        wait = walk - np.minimum(np.minimum.accumulate(walk), 0.0)
        waits[start + 1 : start + 1 + wait.size] = wait
        last = float(wait[-1])
    return waits


@model
def fluid_backlog_bytes(
    duration_s: ArrayLike, *, input_bps: ArrayLike, output_bps: ArrayLike
) -> FloatArray:
    r"""Fluid backlog after an overload.

    .. math:: B = \max(0, (R_{in} - R_{out})\, t / 8)

    Parameters
    ----------
    duration_s : array_like
        Duration of the overload. [s]
    input_bps : array_like
        Input rate. [bit/s]
    output_bps : array_like
        Output rate. [bit/s]

    Returns
    -------
    numpy.ndarray
        Backlog at the end, from an empty buffer; 0 without overload. [byte]

    See Also
    --------
    lindley_wait_s : Given arrivals, packet by packet.
    netcalc.models.queues.mm1.mm1_wait_s : Random arrivals, on average.
    fluid_fill_s : Time until the buffer is full.
    netcalc.models.tcp.sharing.drain_s : Time until it is empty again.

    Notes
    -----
    Validity: constant rates, no packets: the deterministic part of a queue. A fluid is up to a
    packet off: a tenth of ten full frames.

    Range: backlog_bytes (where it grows) from 15180.

    Symbols: :math:`t` duration_s, :math:`R_{in}` input_bps, :math:`R_{out}` output_bps.

    Examples
    --------
    >>> float(fluid_backlog_bytes(0.001, input_bps=12e9, output_bps=10e9))
    250000.0

    References
    ----------
    Kleinrock, Queueing Systems vol. 2, 2.7 (fluid approximation for queues).
    """
    excess = checks.non_negative("input_bps", input_bps) - checks.non_negative(
        "output_bps", output_bps
    )
    backlog = np.maximum(excess, 0.0) * (checks.non_negative("duration_s", duration_s) / 8.0)
    checks.note_outside_range(fluid_backlog_bytes, where=backlog > 0.0, backlog_bytes=backlog)
    return backlog


@model
def fluid_fill_s(
    buffer_bytes: ArrayLike, *, input_bps: ArrayLike, output_bps: ArrayLike
) -> FloatArray:
    r"""Time until a fluid overload fills a buffer.

    .. math:: t = \frac{8 B}{R_{in} - R_{out}}

    Parameters
    ----------
    buffer_bytes : array_like
        Size of the buffer. [byte]
    input_bps : array_like
        Input rate. [bit/s]
    output_bps : array_like
        Output rate. [bit/s]

    Returns
    -------
    numpy.ndarray
        Time from empty to full; ``inf`` without overload. [s]

    See Also
    --------
    fluid_backlog_bytes : Backlog at a time.
    netcalc.models.tcp.sharing.drain_s : Time until it is empty again.

    Notes
    -----
    Validity: constant rates, as :func:`fluid_backlog_bytes`. A fluid is up to a packet off: a tenth
    of ten full frames.

    Range: buffer_bytes from 15180.

    Symbols: :math:`B` buffer_bytes, :math:`R_{in}` input_bps, :math:`R_{out}` output_bps.

    Examples
    --------
    >>> float(fluid_fill_s(1e6, input_bps=12e9, output_bps=10e9))
    0.004

    References
    ----------
    Kleinrock, Queueing Systems vol. 2, 2.7 (fluid approximation for queues).
    """
    excess = checks.non_negative("input_bps", input_bps) - checks.non_negative(
        "output_bps", output_bps
    )
    buffer = checks.non_negative("buffer_bytes", buffer_bytes)
    return checks.keep_nan(np.where(excess > 0.0, 8.0 * (buffer / excess), np.inf), excess, buffer)


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
