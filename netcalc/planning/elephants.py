"""Flows of unequal rates on parallel links, by seeded draws: what a few large ones do (ECMP, LAG).

A hash puts each flow on one link. For flows of one rate :mod:`netcalc.models.rates.hashing` has the
exact law; a few large flows among small ones (elephants) have none that is short, so that many
placements are drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, non_negative, one_dimensional, scalar, whole
from netcalc.errors import DomainError

MAX_PLACEMENTS = 100_000_000
"""Most flows times draws."""
_BATCH = 1 << 20


class FullestLink(NamedTuple):
    """The load of the fullest link over all draws.

    Parameters
    ----------
    mean_bps : float
        Its mean. [bit/s]
    median_bps : float
        Its median. [bit/s]
    p95_bps : float
        Its 95th percentile. [bit/s]
    p99_bps : float
        Its 99th percentile. [bit/s]
    efficiency_ratio : float
        Share of the capacity of all links that is used when the fullest, of mean load, is full;
        nan without load. [ratio]
    """

    mean_bps: float
    median_bps: float
    p95_bps: float
    p99_bps: float
    efficiency_ratio: float


def draw_fullest_link_bps(
    demand_bps: ArrayLike, *, link_count: int, draws: int = 10_000, seed: int = 0
) -> FloatArray:
    """Load of the fullest link, for each of many placements.

    Parameters
    ----------
    demand_bps : 1-D array_like
        Rate of each flow. [bit/s]
    link_count : int
        Links of equal rate. [1]
    draws : int
        Placements. [1]
    seed : int
        The same one gives the same placements. [1]

    Returns
    -------
    numpy.ndarray
        One load for each placement. [bit/s]

    Raises
    ------
    DomainError
        If flows times draws exceed 100 million.

    Examples
    --------
    >>> loads = draw_fullest_link_bps([1e9, 1e9], link_count=2, draws=1000)
    >>> sorted({float(load) for load in loads})
    [1000000000.0, 2000000000.0]
    """
    rates = one_dimensional("demand_bps", non_negative("demand_bps", demand_bps))
    links = int(scalar("link_count", whole("link_count", link_count, low=1)))
    count = int(scalar("draws", whole("draws", draws, low=1)))
    start = int(scalar("seed", whole("seed", seed)))
    if rates.size * count > MAX_PLACEMENTS:
        most = MAX_PLACEMENTS // rates.size
        raise DomainError("out-of-range", "draws", count, low=1, high=most)
    random = np.random.default_rng(start)
    fullest = np.empty(count)
    batch = max(1, _BATCH // max(rates.size, links))
    for first in range(0, count, batch):
        rows = min(batch, count - first)
        placed = random.integers(0, links, size=(rows, rates.size))
        index = placed + np.arange(rows)[:, None] * links
        weights = np.broadcast_to(rates, placed.shape).ravel()
        loads = np.bincount(index.ravel(), weights=weights, minlength=rows * links)
        fullest[first : first + rows] = loads.reshape(rows, links).max(axis=1)
    return fullest


def fullest_link(
    demand_bps: ArrayLike, *, link_count: int, draws: int = 10_000, seed: int = 0
) -> FullestLink:
    """Load of the fullest of several links that get flows of any rates by a hash.

    Parameters
    ----------
    demand_bps : 1-D array_like
        Rate of each flow. [bit/s]
    link_count : int
        Links of equal rate. [1]
    draws : int
        Placements. [1]
    seed : int
        The same one gives the same placements. [1]

    Returns
    -------
    FullestLink
        Mean, median, 95th and 99th percentile, and the share of the capacity that is used.

    Raises
    ------
    DomainError
        If flows times draws exceed 100 million.

    Examples
    --------
    400 flows of 1 Mbit/s on 4 links, with and without one of 100 Mbit/s:

    >>> small = [1e6] * 400
    >>> plain, mixed = (fullest_link(flows, link_count=4) for flows in (small, [*small, 1e8]))
    >>> round(plain.efficiency_ratio, 2), round(mixed.efficiency_ratio, 2)
    (0.91, 0.63)
    """
    rates = one_dimensional("demand_bps", non_negative("demand_bps", demand_bps))
    loads = draw_fullest_link_bps(rates, link_count=link_count, draws=draws, seed=seed)
    mean = float(loads.mean())
    median, p95, p99 = (float(one) for one in np.quantile(loads, (0.5, 0.95, 0.99)))
    even = float(rates.sum()) / int(link_count)
    return FullestLink(mean, median, p95, p99, even / mean if mean else float("nan"))
