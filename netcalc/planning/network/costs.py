"""What shortest paths are the shortest by: the costs of a file, of OSPF, hops or latency."""

from __future__ import annotations

from typing import Literal

import numpy as np

from netcalc.checks import FloatArray
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
