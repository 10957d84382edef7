r"""Fairness: Jain's index, max-min and proportional fairness.

Flows, links and demands are parallel lists. A network is a list of link capacities and two more
lists that say which flow crosses which link, one pair per crossing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError


@model
def jain_index(allocations: ArrayLike) -> FloatArray:
    r"""Jain's fairness index: 1 if all shares are equal, 1/n if one flow has everything.

    .. math:: J = \frac{(\sum x_i)^2}{n \sum x_i^2}

    Parameters
    ----------
    allocations : 1-D array_like
        Share of each flow: rates, bytes, anything of one unit. [1]

    Returns
    -------
    numpy.ndarray
        Index from 1/n to 1; nan if all are 0. [ratio]

    See Also
    --------
    max_min_bps : Max-min fair shares of one link.
    proportional_long_flow_bps : Proportionally fair shares.

    Notes
    -----
    Validity: any number of shares; k of n with the same and the others with nothing give k/n.
    Range: everywhere.

    Symbols: :math:`x_i` allocations.

    Examples
    --------
    >>> round(jain_index([9, 1]), 6)
    0.609756

    References
    ----------
    Jain, Chiu and Hawe, A quantitative measure of fairness and discrimination, DEC TR-301 (1984),
    doi:10.48550/arXiv.cs/9809099.
    """
    shares = checks.one_dimensional("allocations", checks.non_negative("allocations", allocations))
    shares = shares / shares.max()
    return np.asarray(shares.sum() ** 2 / (shares.size * (shares * shares).sum()))


@model
def jain_one_deviating(deviation: ArrayLike, *, flow_count: ArrayLike) -> FloatArray:
    r"""Jain's fairness index if one of n equal flows gets more or less than the others.

    .. math:: J = \frac{(n + \delta)^2}{n (n - 1 + (1 + \delta)^2)}

    Parameters
    ----------
    deviation : array_like
        Excess of the one flow over the share of the others, relative to that share: -1 or greater.
        [1]
    flow_count : array_like
        Flows, the deviating one included. [1]

    Returns
    -------
    numpy.ndarray
        Index from 1/n to 1. [ratio]

    Notes
    -----
    Validity: exact; towards 1/n as the one takes all.

    Range: everywhere.

    Symbols: :math:`\delta` deviation, :math:`n` flow_count.

    Examples
    --------
    >>> round(float(jain_one_deviating(1.0, flow_count=5)), 12)
    0.9

    References
    ----------
    Peterson, Brakmo and Davie, TCP Congestion Control: A Systems Approach, 3.3.
    """
    delta = checks.at_least("deviation", deviation, -1.0)
    count = checks.whole("flow_count", flow_count, low=1)
    # Divided by the share of the one, so that a huge share does not overflow.
    deviating = 1.0 + delta
    scale = np.maximum(deviating, 1.0)
    mean = (count - 1.0) / scale + deviating / scale
    squares = (count - 1.0) / (scale * scale) + (deviating / scale) * (deviating / scale)
    return np.asarray((mean / count) * (mean / squares))


@model
def max_min_bps(
    demand_bps: ArrayLike, *, capacity_bps: float, weight: ArrayLike = 1.0
) -> FloatArray:
    r"""Max-min fair rates of flows on one link, none above its demand.

    .. math:: x_i = \min(d_i, w_i \lambda), \quad \sum_i x_i = \min\left(C, \sum_i d_i\right)

    Parameters
    ----------
    demand_bps : 1-D array_like
        Demand of each flow. [bit/s]
    capacity_bps : float
        Rate of the link. [bit/s]
    weight : 1-D array_like
        Weight of each flow, or one for all. [1]

    Returns
    -------
    numpy.ndarray
        Rate of each flow. [bit/s, layer of capacity_bps]

    See Also
    --------
    jain_index : How equal given shares are.
    proportional_long_flow_bps : Proportionally fair shares.
    max_min_network_bps : A network of links, greedy flows.

    Notes
    -----
    Validity: exact, by progressive filling. A nan makes all rates nan.

    Range: everywhere.

    Symbols: :math:`d_i` demand_bps, :math:`C` capacity_bps, :math:`w_i` weight.

    Examples
    --------
    >>> max_min_bps([2e6, 8e6, 10e6, 15e6], capacity_bps=30e6).tolist()
    [2000000.0, 8000000.0, 10000000.0, 10000000.0]

    References
    ----------
    Bertsekas and Gallager, Data Networks, 6.5.2.
    """
    demand = checks.one_dimensional(
        "demand_bps", checks.non_negative("demand_bps", demand_bps, allow_inf=True)
    )
    capacity = checks.scalar("capacity_bps", checks.positive("capacity_bps", capacity_bps))
    weights = _one_each("weight", checks.positive("weight", weight), demand.size)
    if np.isnan(demand).any() or np.isnan(weights).any() or np.isnan(capacity):
        return np.full(demand.size, np.nan)
    # In the order in which the rising level meets the demands.
    order = np.argsort(demand / weights, kind="stable")
    rates = np.empty(demand.size)
    left = capacity
    heavier = np.cumsum(weights[order][::-1])[::-1]
    for index, flow in enumerate(order):
        rates[flow] = min(demand[flow], left * (weights[flow] / heavier[index]))
        left = max(left - rates[flow], 0.0)
    return rates


@model
def max_min_network_bps(
    capacity_bps: ArrayLike, *, crossing_flow: ArrayLike, crossing_link: ArrayLike
) -> FloatArray:
    r"""Max-min fair rates of greedy flows in a network of links.

    .. math:: \sum_{i \text{ over } l} x_i \le C_l, \text{ and no } x_i
        \text{ can grow but at the cost of a smaller one}

    Parameters
    ----------
    capacity_bps : 1-D array_like
        Rate of each link. [bit/s]
    crossing_flow : 1-D array_like
        For each crossing, the flow, counted from 0. [1]
    crossing_link : 1-D array_like
        For each crossing, the link, counted from 0. [1]

    Returns
    -------
    numpy.ndarray
        Rate of each flow. [bit/s, layer of capacity_bps]

    Raises
    ------
    DomainError
        If a flow crosses no link, or a link that does not exist.

    See Also
    --------
    max_min_bps : One link, with demands and weights.

    Notes
    -----
    Validity: exact, by progressive filling: all rates rise together, and stop where a link is
    full.

    Range: everywhere.

    Symbols: :math:`C_l` capacity_bps. Not in the equation: crossing_flow, crossing_link (who
    crosses what).

    Examples
    --------
    One flow over three links, and one on each of them: all get a half.

    >>> max_min_network_bps([1e6, 1e6, 1e6], crossing_flow=[0, 0, 0, 1, 2, 3],
    ...     crossing_link=[0, 1, 2, 0, 1, 2]).tolist()
    [500000.0, 500000.0, 500000.0, 500000.0]

    References
    ----------
    Bertsekas and Gallager, Data Networks, 6.5.2.
    """
    capacity = checks.one_dimensional("capacity_bps", checks.positive("capacity_bps", capacity_bps))
    crosses = _crossings(crossing_flow, crossing_link, capacity.size)
    rates = np.zeros(len(crosses))
    if np.isnan(capacity).any():
        return np.full(rates.size, np.nan)
    is_rising = np.ones(rates.size, bool)
    while is_rising.any():
        rising = crosses[is_rising].sum(axis=0)
        taken = rates[~is_rising] @ crosses[~is_rising]
        level = np.where(rising > 0, np.maximum(capacity - taken, 0.0) / rising, np.inf)
        is_full = level <= level.min() * (1.0 + 1e-12)
        stopped = is_rising & crosses[:, is_full].any(axis=1)
        rates[stopped] = level.min()
        is_rising &= ~stopped
    return rates


@model
def proportional_long_flow_bps(link_count: ArrayLike, *, capacity_bps: ArrayLike) -> FloatArray:
    r"""Proportionally fair rate of the long flow in a parking lot of k links.

    .. math:: x_0 = \frac{C}{k + 1}

    Parameters
    ----------
    link_count : array_like
        Links of the parking lot, k. [1]
    capacity_bps : array_like
        Rate of each link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Rate of the long flow; the short ones have the rest of each link.
        [bit/s, layer of capacity_bps]

    See Also
    --------
    jain_index : How equal given shares are.
    max_min_bps : Max-min fair shares of one link.

    Notes
    -----
    Validity: logarithmic utility of equal weight. Max-min fairness would give it a half.

    Range: everywhere.

    Symbols: :math:`k` link_count, :math:`C` capacity_bps.

    Examples
    --------
    >>> float(proportional_long_flow_bps(3, capacity_bps=1e6))
    250000.0

    References
    ----------
    Kelly, Maulloo and Tan, Rate control for communication networks, JORS 49 (1998),
    doi:10.1057/palgrave.jors.2600523.
    """
    links = checks.whole("link_count", link_count, low=1)
    return checks.positive("capacity_bps", capacity_bps) / (links + 1.0)


@model
def proportional_short_flow_bps(link_count: ArrayLike, *, capacity_bps: ArrayLike) -> FloatArray:
    r"""Proportionally fair rate of each short flow in a parking lot of k links.

    .. math:: x_i = \frac{k\, C}{k + 1}

    Parameters
    ----------
    link_count : array_like
        Links of the parking lot, k. [1]
    capacity_bps : array_like
        Rate of each link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Rate of each short flow. [bit/s, layer of capacity_bps]

    Notes
    -----
    Validity: as :func:`proportional_long_flow_bps`.

    Range: everywhere.

    Symbols: :math:`k` link_count, :math:`C` capacity_bps.

    Examples
    --------
    >>> float(proportional_short_flow_bps(3, capacity_bps=1e6))
    750000.0

    References
    ----------
    Kelly, Maulloo and Tan, JORS 49 (1998), doi:10.1057/palgrave.jors.2600523.
    """
    links = checks.whole("link_count", link_count, low=1)
    return checks.positive("capacity_bps", capacity_bps) * (links / (links + 1.0))


@model
def fair_share_bits(
    start_s: ArrayLike, *, duration_s: ArrayLike, capacity_bps: float
) -> FloatArray:
    r"""Bits that each flow transfers if active flows share the link equally.

    .. math:: N_i = \int_{t_i}^{t_i + T_i} \frac{C}{n(t)} \, dt

    Parameters
    ----------
    start_s : 1-D array_like
        Start of each flow. [s]
    duration_s : 1-D array_like
        Duration of each flow, or one for all. [s]
    capacity_bps : float
        Rate of the link. [bit/s]

    Returns
    -------
    numpy.ndarray
        Bits transferred by each flow at its end. [bit]

    Notes
    -----
    Validity: greedy flows that converge at once; the ideal to compare a measurement with. A nan
    makes all rates nan.

    Range: everywhere.

    Symbols: :math:`t_i` start_s, :math:`T_i` duration_s, :math:`C` capacity_bps.

    Examples
    --------
    A flow of 30 s at 10 Gbit/s, and one that joins at 20 s for 10 s:

    >>> fair_share_bits([0, 20], duration_s=[30, 10], capacity_bps=10e9).tolist()
    [250000000000.0, 50000000000.0]

    References
    ----------
    Derived: equal division among those present; max-min fairness at each moment.
    """
    start = checks.one_dimensional("start_s", checks.real("start_s", start_s))
    duration = _one_each("duration_s", checks.non_negative("duration_s", duration_s), start.size)
    capacity = checks.scalar("capacity_bps", checks.positive("capacity_bps", capacity_bps))
    end = start + duration
    if np.isnan(end).any():
        return np.full(start.size, np.nan)
    changes = np.unique(np.concatenate([start, end]))
    # What a flow that is always there would have got since the first start.
    active = np.searchsorted(np.sort(start), changes[:-1], side="right") - np.searchsorted(
        np.sort(end), changes[:-1], side="right"
    )
    got = np.where(active > 0, np.diff(changes) * (capacity / np.maximum(active, 1)), 0.0)
    since = np.concatenate([[0.0], np.cumsum(got)])
    shares: FloatArray = (
        since[np.searchsorted(changes, end)] - since[np.searchsorted(changes, start)]
    )
    return shares


def _one_each(name: str, values: FloatArray, count: int) -> FloatArray:
    values = checks.one_dimensional(name, values)
    if values.size not in (1, count):
        raise DomainError("wrong-count-or-one", name, count=values.size, expected=count)
    return np.broadcast_to(values, (count,))


def _crossings(
    crossing_flow: ArrayLike, crossing_link: ArrayLike, link_count: int
) -> NDArray[np.bool_]:
    """Return which flow crosses which link, as a table of flows and links."""
    flows = checks.one_dimensional("crossing_flow", checks.whole("crossing_flow", crossing_flow))
    links = checks.one_dimensional("crossing_link", checks.whole("crossing_link", crossing_link))
    if flows.size != links.size:
        raise DomainError("wrong-count", "crossing_link", count=links.size, expected=flows.size)
    for name, numbers in (("crossing_flow", flows), ("crossing_link", links)):
        if np.isnan(numbers).any():
            raise DomainError("not-finite", name, "nan")
    if links.max() >= link_count:
        last_link = int(links.max())
        raise DomainError("out-of-range", "crossing_link", last_link, low=0, high=link_count - 1)
    numbers = np.unique(flows)
    if numbers.size != flows.max() + 1:
        absent = int(np.flatnonzero(numbers != np.arange(numbers.size))[0])
        raise DomainError("number-skipped", "crossing_flow", absent, high=int(flows.max()))
    crosses = np.zeros((numbers.size, link_count), bool)
    crosses[flows.astype(np.int64), links.astype(np.int64)] = True
    return crosses
