r"""Networks of queues: open ones (Jackson) and closed ones (mean value analysis).

In an open network with Poisson arrivals from outside, exponential services and routing by chance,
each node behaves as an M/M/1 queue of its own, although the flows inside are not Poisson. In a
closed one a fixed number of customers goes round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.checks import FloatArray, model
from netcalc.errors import DomainError

MAX_CUSTOMERS = 100_000
"""Most customers of a closed network, which are added one by one."""


@model
def jackson_rate_pps(
    external_pps: ArrayLike,
    *,
    from_node: ArrayLike,
    to_node: ArrayLike,
    routing_ratio: ArrayLike,
) -> FloatArray:
    r"""Packet rate at each node of an open network (Jackson).

    .. math:: \lambda_j = \gamma_j + \sum_i \lambda_i P_{ij}

    Parameters
    ----------
    external_pps : 1-D array_like
        Arrivals from outside at each node. [packet/s]
    from_node : 1-D array_like
        Of each way between two nodes, the first, counted from 0. [1]
    to_node : 1-D array_like
        The second. [1]
    routing_ratio : 1-D array_like
        Share of what leaves the first that goes to the second. [ratio]

    Returns
    -------
    numpy.ndarray
        Rate at each node; inf where packets come that never leave. [packet/s]

    Raises
    ------
    DomainError
        If more than all of what leaves a node goes on, or a node is not in the list.

    See Also
    --------
    jackson_sojourn_s : The time in the network.

    Notes
    -----
    Validity: in a steady state, any distributions: what comes in goes out.

    Range: everywhere.

    Symbols: :math:`\gamma_j` external_pps. Not in the equation: from_node, to_node, routing_ratio
    (which are the shares P from i to j).

    Examples
    --------
    A quarter of what leaves the only node comes back:

    >>> rate = jackson_rate_pps([30.0], from_node=[0], to_node=[0], routing_ratio=[0.25])
    >>> rate.tolist()
    [40.0]

    References
    ----------
    Jackson, Networks of waiting lines, Oper. Res. 5 (1957), doi:10.1287/opre.5.4.518; Kleinrock,
    Queueing Systems vol. 1, 4.8.
    """
    outside = checks.one_dimensional(
        "external_pps", checks.non_negative("external_pps", external_pps)
    )
    shares = _routing(outside.size, from_node, to_node, routing_ratio)
    rates = _rates(outside, shares)
    return checks.keep_nan(rates, outside, np.asarray(shares.sum()))


@model
def jackson_sojourn_s(
    external_pps: ArrayLike,
    *,
    service_s: ArrayLike,
    from_node: ArrayLike,
    to_node: ArrayLike,
    routing_ratio: ArrayLike,
) -> FloatArray:
    r"""Mean time of a packet in an open network (Jackson).

    .. math::
        T = \frac{1}{\sum_j \gamma_j} \sum_j \frac{\rho_j}{1 - \rho_j}, \quad
        \rho_j = \lambda_j s_j

    Parameters
    ----------
    external_pps : 1-D array_like
        Arrivals from outside at each node. [packet/s]
    service_s : 1-D array_like
        Mean service time of each node. [s]
    from_node : 1-D array_like
        Of each way between two nodes, the first, counted from 0. [1]
    to_node : 1-D array_like
        The second. [1]
    routing_ratio : 1-D array_like
        Share of what leaves the first that goes to the second. [ratio]

    Returns
    -------
    numpy.ndarray
        Mean time from the entry to the exit; inf if a node is full, nan without arrivals. [s]

    Raises
    ------
    DomainError
        If more than all of what leaves a node goes on, or a node is not in the list.

    See Also
    --------
    jackson_rate_pps : The rate at each node.
    mva_response_s : A closed network.

    Notes
    -----
    Validity: Poisson arrivals from outside, exponential services drawn anew at each node, routing
    by chance. A packet that keeps its size from node to node needs Kleinrock's assumption of
    independence.

    Range: everywhere.

    Symbols: :math:`\gamma_j` external_pps, :math:`s_j` service_s. Not in the equation: from_node,
    to_node, routing_ratio (which give the rates of the nodes).

    Examples
    --------
    Two nodes in a row, at 30 and 60 %:

    >>> sojourn = jackson_sojourn_s(
    ...     [30.0, 0.0], service_s=[0.01, 0.02], from_node=[0], to_node=[1], routing_ratio=[1.0]
    ... )
    >>> round(float(sojourn) * 1e3, 3)
    64.286

    References
    ----------
    Jackson, Networks of waiting lines, Oper. Res. 5 (1957), doi:10.1287/opre.5.4.518; Bertsekas and
    Gallager, Data Networks, 3.8.
    """
    outside = checks.one_dimensional(
        "external_pps", checks.non_negative("external_pps", external_pps)
    )
    service = checks.one_dimensional("service_s", checks.non_negative("service_s", service_s))
    if service.size != outside.size:
        raise DomainError("wrong-count", "service_s", count=service.size, expected=outside.size)
    shares = _routing(outside.size, from_node, to_node, routing_ratio)
    rates = _rates(outside, shares)
    load = np.where(rates > 0.0, rates * service, 0.0)
    load = np.where(service > 0.0, load, 0.0)
    inside = np.where(load < 1.0, load / (1.0 - load), np.inf).sum()
    inside = checks.keep_nan(np.asarray(inside), outside, service, np.asarray(shares.sum()))
    return np.asarray(inside / outside.sum())


@model
def mva_response_s(
    customer_count: ArrayLike, *, demand_s: ArrayLike, think_s: ArrayLike = 0.0
) -> FloatArray:
    r"""Mean response time of a closed network (mean value analysis).

    .. math::
        R_n = \sum_k D_k (1 + Q_k), \quad Q_k = \frac{n - 1}{Z + R_{n-1}} D_k (1 + Q'_k)

    Parameters
    ----------
    customer_count : array_like
        Customers that go round. [1]
    demand_s : 1-D array_like
        Service that a round takes at each node, all its visits together. [s]
    think_s : array_like
        Time of each round outside of the nodes. [s]

    Returns
    -------
    numpy.ndarray
        Mean time of a round in the nodes; 0 without customers. [s]

    Raises
    ------
    DomainError
        If there are more than 100,000 customers.

    See Also
    --------
    mva_throughput_pps : Rounds per second.
    jackson_sojourn_s : An open network.

    Notes
    -----
    Validity: exponential services in order of arrival, or any in processor sharing, one server a
    node. It goes up one customer at a time: :math:`Q_k` is the queue at node :math:`k` with one
    fewer, :math:`Q'_k` with two fewer.

    Range: everywhere.

    Symbols: :math:`D_k` demand_s, :math:`Z` think_s, :math:`n` customer_count.

    Examples
    --------
    >>> round(float(mva_response_s(3, demand_s=[0.605, 2.1, 1.35], think_s=15)), 3)
    4.8

    References
    ----------
    Reiser and Lavenberg, Mean-value analysis of closed multichain queuing networks, J. ACM 27
    (1980), doi:10.1145/322186.322195; Lazowska et al., Quantitative System Performance, ch. 6.
    """
    count, demand, think = _closed(customer_count, demand_s, think_s)
    return _by_customers(count, demand, think)


@model
def mva_throughput_pps(
    customer_count: ArrayLike, *, demand_s: ArrayLike, think_s: ArrayLike = 0.0
) -> FloatArray:
    r"""Throughput of a closed network (mean value analysis).

    .. math:: X = \frac{n}{Z + R_n}, \quad R_n = \sum_k D_k (1 + Q_k)

    Parameters
    ----------
    customer_count : array_like
        Customers that go round. [1]
    demand_s : 1-D array_like
        Service that a round takes at each node, all its visits together. [s]
    think_s : array_like
        Time of each round outside of the nodes. [s]

    Returns
    -------
    numpy.ndarray
        Rounds per second of all customers; inf if a round takes no time. [packet/s]

    Raises
    ------
    DomainError
        If there are more than 100,000 customers.

    See Also
    --------
    mva_response_s : The time of a round.

    Notes
    -----
    Validity: as :func:`mva_response_s`; never above the inverse of the largest demand.

    Range: everywhere.

    Symbols: :math:`D_k` demand_s, :math:`Z` think_s, :math:`n` customer_count.

    Examples
    --------
    >>> round(float(mva_throughput_pps(3, demand_s=[0.605, 2.1, 1.35], think_s=15)), 3)
    0.152

    References
    ----------
    Reiser and Lavenberg, Mean-value analysis of closed multichain queuing networks, J. ACM 27
    (1980), doi:10.1145/322186.322195; Lazowska et al., Quantitative System Performance, ch. 6.
    """
    count, demand, think = _closed(customer_count, demand_s, think_s)
    rounds = count / (think + _by_customers(count, demand, think))
    return checks.keep_nan(
        np.where(count > 0.0, rounds, 0.0), count, think, np.asarray(demand.sum())
    )


def _routing(
    node_count: int, from_node: ArrayLike, to_node: ArrayLike, routing_ratio: ArrayLike
) -> FloatArray:
    """Return the shares of each node that go to each other one."""
    shares = checks.one_dimensional("routing_ratio", checks.ratio("routing_ratio", routing_ratio))
    table = np.zeros((node_count, node_count))
    ends = []
    for name, value in (("from_node", from_node), ("to_node", to_node)):
        nodes = checks.one_dimensional(name, checks.whole(name, value))
        if nodes.size != shares.size:
            raise DomainError("wrong-count", name, count=nodes.size, expected=shares.size)
        if np.isnan(nodes).any():
            raise DomainError("not-finite", name, "nan")
        if nodes.max() >= node_count:
            raise DomainError("out-of-range", name, nodes.max(), low=0, high=node_count - 1)
        ends.append(nodes.astype(int))
    np.add.at(table, tuple(ends), shares)
    leaving = table.sum(axis=1)
    if (leaving > 1.0 + 1e-12).any():
        most, node = float(leaving.max()), int(leaving.argmax())
        raise DomainError("routing-above-all", "routing_ratio", most, node=node, high=1)
    return table


def _rates(outside: FloatArray, shares: FloatArray) -> FloatArray:
    if np.isnan(shares).any():
        return np.full_like(outside, np.nan)
    # Where each node's packets may come, itself included, and from where none can ever leave.
    reached = (np.eye(outside.size) + shares) > 0.0
    for _ in range(int(outside.size).bit_length()):
        reached = (reached.astype(np.float64) @ reached) > 0.0
    is_open = (reached & (shares.sum(axis=1) < 1.0 - 1e-12)).any(axis=1)
    inner = shares[np.ix_(is_open, is_open)]
    rates = np.zeros_like(outside)
    rates[is_open] = np.linalg.solve(np.eye(len(inner)) - inner.T, outside[is_open])
    is_entered = (reached[outside > 0.0]).any(axis=0)
    return np.where(~is_open & is_entered, np.inf, np.maximum(rates, 0.0))


def _closed(
    customer_count: ArrayLike, demand_s: ArrayLike, think_s: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    count = checks.whole("customer_count", customer_count)
    largest = float(np.fmax.reduce(np.ravel(count), initial=0.0))
    if largest > MAX_CUSTOMERS:
        raise DomainError("out-of-range", "customer_count", largest, low=0, high=MAX_CUSTOMERS)
    demand = checks.one_dimensional("demand_s", checks.non_negative("demand_s", demand_s))
    return count, demand, checks.non_negative("think_s", think_s)


def _by_customers(count: FloatArray, demand: FloatArray, think: FloatArray) -> FloatArray:
    """Return the response time, adding one customer after the other."""
    count, think = np.broadcast_arrays(count, think)
    column = demand.reshape((-1,) + (1,) * count.ndim)
    queue = np.zeros((demand.size, *count.shape))
    response = np.zeros(count.shape)
    for number in range(1, int(np.fmax.reduce(np.ravel(count), initial=0.0)) + 1):
        each = column * (1.0 + queue)
        now = each.sum(axis=0)
        queue = np.where(now > 0.0, number / (think + now) * each, 0.0)
        response = np.where(count >= number, now, response)
    return checks.keep_nan(response, count, think, np.asarray(demand.sum()))
