"""Numbers of a link: its cost for shortest paths, its delay under load, when it is full."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.queues.queueing import packet_mix_wait_s
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.headers import SIMPLE_IMIX_BYTES, SIMPLE_IMIX_WEIGHTS
from netcalc.planning.network.routing import MOST_COST, Ints

Costs = Literal["given", "ospf", "hops", "latency"]
COSTS: tuple[Costs, ...] = ("given", "ospf", "hops", "latency")
MOST_OSPF = 65535
"""Highest cost of a link in OSPF. [1]"""
LATENCY_STEP_S = 1e-6
"""A microsecond is a cost of 1 where latency is the metric. [s]"""


def ospf_costs(rate_bps: FloatArray, *, reference_bps: float) -> Ints:
    """Return costs as routers derive them from rates: reference over rate, whole, at least 1.

    Parameters
    ----------
    rate_bps : numpy.ndarray
        Line rates. [bit/s]
    reference_bps : float
        Rate whose cost is 1. [bit/s]

    Returns
    -------
    numpy.ndarray
        Costs from 1 to 65535. [1]

    Examples
    --------
    As in RFC 4750 (ospfIfMetricTable) with its reference of 100 Mbit/s, 10 Mbit/s has 10 and the
    payload of a T1 65; its 1.544 Mbit/s have 64.

    >>> ospf_costs(np.array([10e6, 1.536e6, 1.544e6, 1e9]), reference_bps=100e6).tolist()
    [10, 65, 64, 1]
    """
    whole = np.floor(reference_bps / rate_bps * (1.0 + 1e-12))
    return np.asarray(np.clip(whole, 1, MOST_OSPF), dtype=np.int64)


def latency_costs(latency_s: FloatArray) -> Ints:
    """Return latencies as whole microseconds, at least 1.

    Examples
    --------
    >>> latency_costs(np.array([0.005, 1e-9])).tolist()
    [5000, 1]
    """
    return np.asarray(np.clip(np.round(latency_s / LATENCY_STEP_S), 1, MOST_COST), dtype=np.int64)


Queue = Literal["imix", "mm1", "md1"]

IMIX_BYTES = ethernet_wire_bytes(SIMPLE_IMIX_BYTES)
"""Sizes of the simple IMIX on the wire, preamble and gap included. [byte]"""
FULL_BYTES = float(ethernet_wire_bytes(1500.0))
"""A full Ethernet frame on the wire, the packets of ``md1``. [byte]"""
MEAN_BYTES = float(np.average(IMIX_BYTES, weights=SIMPLE_IMIX_WEIGHTS))
"""Mean size of the mix, and of the packets of ``mm1``. [byte]"""

QUEUES: dict[Queue, tuple[str, str]] = {
    "imix": ("M/G/1, simple IMIX", "netcalc.models.queues.queueing.packet_mix_wait_s"),
    "mm1": ("M/M/1, mean of the simple IMIX", "netcalc.models.queues.mm1.mm1_wait_s"),
    "md1": ("M/D/1, full frames", "netcalc.models.queues.md1.md1_wait_s"),
}
"""What each queue is called, and the model that gives its wait."""


def delay_s(
    utilization: ArrayLike, *, bandwidth_bps: ArrayLike, latency_s: ArrayLike, queue: Queue
) -> FloatArray:
    """Return the mean delay of a packet over a link.

    Parameters
    ----------
    utilization : array_like
        Load over rate. [ratio]
    bandwidth_bps : array_like
        Line rate. [bit/s]
    latency_s : array_like
        Latency without load. [s]
    queue : {'imix', 'mm1', 'md1'}
        The model of the wait, see :data:`QUEUES`.

    Returns
    -------
    numpy.ndarray
        Latency, wait and serialization; ``inf`` from a utilization of 1. [s]

    Examples
    --------
    >>> round(float(delay_s(0.5, bandwidth_bps=10e6, latency_s=0.005, queue="md1")), 9)
    0.0068456
    """
    size = FULL_BYTES if queue == "md1" else MEAN_BYTES
    service = 8.0 * size / np.asarray(bandwidth_bps)
    if queue == "imix":
        wait = packet_mix_wait_s(
            utilization,
            wire_bytes=IMIX_BYTES,
            weight=SIMPLE_IMIX_WEIGHTS,
            bandwidth_bps=bandwidth_bps,
        )
    else:
        wait = {"mm1": mm1_wait_s, "md1": md1_wait_s}[queue](utilization, service_s=service)
    return np.asarray(latency_s) + service + wait


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
        loads = load * np.exp(rate * t[:, None])
        slope = (rate * loads).sum(axis=1)
        excess = loads.sum(axis=1) - capacity
        nearer = np.maximum(t - np.maximum(excess, 0.0) / slope, 0.0)
        if np.array_equal(nearer, t):
            break
        t = nearer
    return t
