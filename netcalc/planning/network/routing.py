"""Shortest paths with equal split at each node, as OSPF and IS-IS forward; the load of each arc.

An arc is one direction of a link. Costs are whole numbers, so that two paths of one cost are equal
exactly. A node sends what goes to a destination over all arcs that begin a shortest path, in equal
parts; two parallel links are two arcs. Traffic is a matrix: a row a destination, a column a node
where it enters, and along a third axis any number of cases (groups of demands, draws of their
rates), as the load is linear in the demands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import spsolve_triangular

from netcalc.checks import FloatArray, rounded_down
from netcalc.models.queues.md1 import md1_wait_s
from netcalc.models.queues.mm1 import mm1_wait_s
from netcalc.models.queues.queueing import packet_mix_wait_s
from netcalc.models.sizes.framing import ethernet_wire_bytes
from netcalc.models.sizes.headers import SIMPLE_IMIX_BYTES, SIMPLE_IMIX_WEIGHTS
from netcalc.planning.network.facts import MOST_COST, Network

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
    whole = rounded_down(reference_bps / rate_bps)
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


Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNREACHABLE = np.int64(2**62)
"""Distance of a node from which there is no path; the sum with a cost does not overflow. [1]"""
CASES_AT_ONCE = 20_000_000
"""Numbers of a traffic matrix that are kept at once: 160 MB. [1]"""


class Arcs:
    """The arcs of a network as arrays, and lists of those that leave and enter a node.

    Parameters
    ----------
    tail, head : sequence of int
        Nodes where each arc begins and ends.
    cost : sequence of int
        Cost of each arc, from 1 to :data:`~netcalc.planning.network.facts.MOST_COST`.
    node_count : int
        Nodes, numbered from 0.
    """

    def __init__(
        self, tail: Sequence[int], *, head: Sequence[int], cost: Sequence[int], node_count: int
    ) -> None:
        self.tail: Ints = np.asarray(tail, dtype=np.int64)
        self.head: Ints = np.asarray(head, dtype=np.int64)
        self.cost: Ints = np.asarray(cost, dtype=np.int64)
        self.node_count = node_count
        self.leaving = _ArcsOfNodes(self.tail, node_count)
        self.entering = _ArcsOfNodes(self.head, node_count)

    @property
    def count(self) -> int:
        """Number of arcs."""
        return self.tail.size


class _ArcsOfNodes:
    """The arcs of each node, one node behind the other."""

    def __init__(self, node: Ints, node_count: int) -> None:
        self.order: Ints = np.argsort(node, kind="stable")
        self.count: Ints = np.bincount(node, minlength=node_count)
        self.start: Ints = np.concatenate([[0], np.cumsum(self.count)[:-1]])

    def arcs_of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the arcs of several nodes, and the index of the node that each is of."""
        counts = self.count[nodes]
        index = np.repeat(np.arange(nodes.size), counts)
        offset = np.arange(index.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.order[np.repeat(self.start[nodes], counts) + offset], index


@dataclass(frozen=True, slots=True)
class Routes:
    """Shortest paths to some destinations.

    Attributes
    ----------
    targets : numpy.ndarray
        The destinations, shape (T,).
    distance : numpy.ndarray
        Cost from each node to each of them, shape (T, N).
    used : numpy.ndarray
        Whether an arc begins a shortest path from its tail, shape (T, A).
    width : numpy.ndarray
        Number of such arcs of each node, shape (T, N).
    """

    arcs: Arcs
    targets: Ints
    distance: Ints
    used: Bools
    width: Ints

    def select(self, rows: Ints) -> Routes:
        """Return the routes to some of the destinations."""
        return Routes(
            self.arcs, self.targets[rows], self.distance[rows], self.used[rows], self.width[rows]
        )


def find_routes(arcs: Arcs, *, targets: Ints, works: Bools | None = None) -> Routes:
    """Return the shortest paths from all nodes to some, by Dijkstra's algorithm in scipy.

    Parameters
    ----------
    arcs : Arcs
        The network.
    targets : numpy.ndarray
        Numbers of the destinations, each once.
    works : numpy.ndarray, optional
        Whether each arc works, shape (A,); by default all do.

    Returns
    -------
    Routes
        Distances, and the arcs on shortest paths.

    Examples
    --------
    From 0 to 2 directly; without that arc by way of 1:

    >>> arcs = Arcs([0, 0, 1], head=[2, 1, 2], cost=[1, 1, 1], node_count=3)
    >>> works = np.array([False, True, True])
    >>> find_routes(arcs, targets=np.array([2]), works=works).used.tolist()
    [[False, True, True]]
    """
    at = np.arange(arcs.count) if works is None else np.flatnonzero(works)
    at = at[np.lexsort((arcs.cost[at], arcs.tail[at], arcs.head[at]))]
    pair = arcs.head[at] * arcs.node_count + arcs.tail[at]
    at = at[np.concatenate([[True], pair[1:] != pair[:-1]])] if at.size else at  # the cheapest
    # Paths to a destination are those from it in the graph backwards.
    shape = (arcs.node_count, arcs.node_count)
    # Indices of 32 bits: older versions of scipy search no graph with others.
    ends = (arcs.head[at].astype(np.int32), arcs.tail[at].astype(np.int32))
    lengths = dijkstra(csr_array((arcs.cost[at], ends), shape=shape), indices=targets)
    reached = np.isfinite(lengths)
    distance = np.full(lengths.shape, UNREACHABLE)
    distance[reached] = lengths[reached]  # whole numbers far below 2^53: exact
    used = (distance[:, arcs.tail] == distance[:, arcs.head] + arcs.cost) & (
        distance[:, arcs.tail] < UNREACHABLE
    )
    if works is not None:
        used &= works
    rows, columns = np.nonzero(used)
    key = rows * arcs.node_count + arcs.tail[columns]
    width = np.bincount(key, minlength=distance.size).reshape(distance.shape)
    return Routes(arcs, targets, distance, used, width)


def carry(routes: Routes, demand: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the traffic at each node, and the load of each arc.

    Parameters
    ----------
    routes : Routes
        Shortest paths to T destinations.
    demand : numpy.ndarray
        What enters at each node for each destination, shape (T, N, G). What has no path is left
        out: look at the distances before. [bit/s]

    Returns
    -------
    tuple of numpy.ndarray
        What passes each node, shape (T, N, G), and the load of each arc, shape (A, G). [bit/s]
    """
    arcs = routes.arcs
    cases = demand.shape[2]
    traffic = np.where((routes.distance < UNREACHABLE)[:, :, None], demand, 0.0)
    load = np.zeros((arcs.count, cases))
    flat = traffic.reshape(-1, cases)
    rows, nodes = np.nonzero(traffic.any(axis=2))
    moving = traffic[rows, nodes]
    while rows.size:
        rows, nodes, moving = _step(routes, rows, nodes, moving, load)
        if rows.size:
            flat[rows * arcs.node_count + nodes] += moving
    return traffic, load


def _step(
    routes: Routes, rows: Ints, nodes: Ints, moving: FloatArray, load: FloatArray
) -> tuple[Ints, Ints, FloatArray]:
    """Move traffic over one arc: add it to the loads, and return where it is then."""
    arcs = routes.arcs
    arc, index = arcs.leaving.arcs_of(nodes)
    row = rows[index]
    on = routes.used[row, arc]
    arc, index, row = arc[on], index[on], row[on]
    part = moving[index] / routes.width[row, arcs.tail[arc]][:, None]
    add_rows(load, arc, part)
    key, summed = sum_by_key(row * arcs.node_count + arcs.head[arc], part)
    return key // arcs.node_count, key % arcs.node_count, summed


def sum_by_key(key: Ints, values: FloatArray) -> tuple[Ints, FloatArray]:
    """Return the different keys, and the sum of the rows of each."""
    if not key.size:
        return key, values
    order = np.argsort(key, kind="stable")
    key = key[order]
    start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    return key[start], np.add.reduceat(values[order], start, axis=0)


def add_rows(total: FloatArray, index: Ints, values: FloatArray) -> None:
    """Add rows to rows of another array, of which one may get several."""
    if values.shape[1] == 1:
        total[:, 0] += np.bincount(index, values[:, 0], total.shape[0])
        return
    key, summed = sum_by_key(index, values)
    total[key] += summed


def mean_over_paths(routes: Routes, arc_values: FloatArray) -> FloatArray:
    """Return the sum along the paths to each destination, averaged as the traffic is split.

    Parameters
    ----------
    routes : Routes
        Shortest paths to T destinations.
    arc_values : numpy.ndarray
        A number of each arc, such as its delay, shape (A,).

    Returns
    -------
    numpy.ndarray
        Mean sum from each node, shape (T, N); ``inf`` where there is no path.
    """
    arcs = routes.arcs
    rows, arc = np.nonzero(routes.used)
    here = rows * arcs.node_count + arcs.tail[arc]
    there = rows * arcs.node_count + arcs.head[arc]
    value, parts = arc_values[arc], routes.width.ravel()[here]
    means: FloatArray = np.zeros(routes.distance.size)
    for _ in range(arcs.node_count):  # each round adds one arc to all paths
        sums = np.bincount(here, (value + means[there]) / parts, means.size)
        longer = np.asarray(sums, dtype=np.float64)  # of nothing it counts whole numbers
        if np.array_equal(longer, means):
            break
        means = longer
    means[routes.distance.ravel() >= UNREACHABLE] = np.inf
    return means.reshape(routes.distance.shape)


def column_blocks(routes: Routes, count: int, *, each: int) -> Iterator[slice]:
    """Cut draws of a traffic matrix, of some cases each, into blocks that fit into memory."""
    step = max(1, CASES_AT_ONCE // max(1, routes.distance.size * each))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


Fail = Literal["links", "nodes", "both"]
FAILS: tuple[Fail, ...] = ("links", "nodes", "both")
Kind = Literal["link", "node", "group"]
KINDS: tuple[Kind, ...] = ("link", "node", "group")


@dataclass(frozen=True, slots=True, eq=False)
class FailureCase:
    """One failure.

    Attributes
    ----------
    kind : {'link', 'node', 'group'}
        What fails.
    name : str
        Of the link, the node or the group.
    number : int
        Of the link or the node in the network, of the group among the groups.
    arcs : numpy.ndarray
        Numbers of the arcs that are lost.
    """

    kind: Kind
    name: str
    number: int
    arcs: Ints

    @property
    def shown(self) -> str:
        """The name, with its kind unless it is a link."""
        return self.name if self.kind == "link" else f"{self.kind} {self.name}"


def cases(network: Network, *, arcs: Arcs, link_of: Ints, fail: Fail) -> tuple[FailureCase, ...]:
    """Return the failures of a plan, one after the other.

    Parameters
    ----------
    network : Network
        The network; groups of its links fail wherever links do.
    arcs : Arcs
        Its directions.
    link_of : numpy.ndarray
        Number of the link of each arc.
    fail : {'links', 'nodes', 'both'}
        What fails. A group of one link is the failure of this link.

    Returns
    -------
    tuple of FailureCase
        Links, nodes and groups in the order of the network.
    """
    failing: list[FailureCase] = []
    if fail != "nodes":
        of_link = _group_arcs(link_of, len(network.links))
        failing += [
            FailureCase("link", link.name, n, of_link[n]) for n, link in enumerate(network.links)
        ]
    if fail != "links":
        failing += [
            FailureCase("node", node, n, np.flatnonzero((arcs.tail == n) | (arcs.head == n)))
            for n, node in enumerate(network.nodes)
        ]
    if fail != "nodes":
        members: dict[str, list[int]] = {}
        for n, link in enumerate(network.links):
            for group in link.groups:
                members.setdefault(group, []).append(n)
        several = [(name, numbers) for name, numbers in members.items() if len(numbers) > 1]
        failing += [
            FailureCase("group", name, n, np.concatenate([of_link[number] for number in numbers]))
            for n, (name, numbers) in enumerate(several)
        ]
    return tuple(failing)


def _group_arcs(index: Ints, count: int) -> list[Ints]:
    order = np.argsort(index, kind="stable")
    return np.split(order, np.cumsum(np.bincount(index, minlength=count))[:-1])


def traffic_of(routes: Routes, demand: FloatArray) -> FloatArray:
    """Return the traffic at each node, by one substitution.

    Parameters
    ----------
    routes : Routes
        Shortest paths to T destinations.
    demand : numpy.ndarray
        What enters at each node for each destination, shape (T, N, G); what has no path is left
        out. [bit/s]

    Returns
    -------
    numpy.ndarray
        What passes each node, shape (T, N, G). [bit/s]
    """
    arcs, shape = routes.arcs, routes.distance.shape
    order = np.argsort(-routes.distance, axis=1, kind="stable")
    place = np.empty(shape, dtype=np.int64)
    np.put_along_axis(place, order, np.arange(routes.distance.size).reshape(shape), axis=1)
    rows, arc = np.nonzero(routes.used)
    tail = arcs.tail[arc]
    shares = -1.0 / routes.width[rows, tail]
    size = routes.distance.size
    diagonal = np.arange(size)
    row = np.concatenate([place[rows, arcs.head[arc]], diagonal])
    column = np.concatenate([place[rows, tail], diagonal])
    ends = (row.astype(np.int32), column.astype(np.int32))
    lower = csr_array((np.concatenate([shares, np.ones(size)]), ends), shape=(size, size))
    entering = np.where((routes.distance < UNREACHABLE)[:, :, None], demand, 0.0)
    entering = entering.reshape(size, -1)
    ordered = np.empty_like(entering)
    ordered[place.ravel()] = entering
    solved = spsolve_triangular(
        lower, ordered, lower=True, unit_diagonal=True, overwrite_A=True, overwrite_b=True
    )
    return np.asarray(solved.reshape(size, -1)[place.ravel()].reshape(demand.shape))


def load_of(routes: Routes, traffic: FloatArray) -> FloatArray:
    """Return the load of each arc from the traffic at the nodes.

    Parameters
    ----------
    routes : Routes
        Shortest paths to T destinations.
    traffic : numpy.ndarray
        What passes each node, shape (T, N, G). [bit/s]

    Returns
    -------
    numpy.ndarray
        Loads, shape (A, G). [bit/s]
    """
    arcs = routes.arcs
    rows, arc = np.nonzero(routes.used)
    tail = arcs.tail[arc]
    load = np.zeros((arcs.count, traffic.shape[2]))
    add_rows(load, arc, traffic[rows, tail] / routes.width[rows, tail][:, None])
    return load


MOST_HOPS = 64
"""From nodes further away than this a failure is routed anew: each hop costs a step. [1]"""
NUMBERS_AT_ONCE = 1_000_000
"""Numbers of traffic that are routed anew at once, for the memory. [1]"""


@dataclass(frozen=True, slots=True)
class Change:
    """What a failure changes.

    Attributes
    ----------
    load : numpy.ndarray
        Difference of the load of each arc, shape (A, G); the failed arcs lose all. [bit/s]
    cut_rows, cut_nodes : numpy.ndarray
        Rows of destinations and nodes with demand that has no path any more.
    """

    load: FloatArray
    cut_rows: Ints
    cut_nodes: Ints


class Failures:
    """Single failures of a network in which routes and traffic are known.

    Parameters
    ----------
    routes : Routes
        Shortest paths without a failure.
    demand : numpy.ndarray
        What enters at each node for each destination, shape (T, N, G). [bit/s]
    traffic : numpy.ndarray
        What passes each node then, as :func:`netcalc.planning.network.routing.carry` gives it.
        [bit/s]
    most_hops : int
        Hops up to which differences are moved. [1]
    """

    def __init__(
        self, routes: Routes, *, demand: FloatArray, traffic: FloatArray,
        most_hops: int = MOST_HOPS,
    ) -> None:  # fmt: skip
        self._routes, self._most_hops = routes, most_hops
        self._demand = demand.reshape(-1, demand.shape[2])
        self._traffic = traffic.reshape(-1, traffic.shape[2])
        self._has_demand: Bools = np.asarray(self._demand.any(axis=1))
        # As each failure finds and leaves them: what it changes is put back.
        self._distance = routes.distance.ravel().copy()
        self._width = routes.width.ravel()
        self._lost = np.zeros(self._distance.size, dtype=np.int64)
        self._works = np.ones(routes.arcs.count, dtype=np.bool_)
        self._least = float(np.abs(self._demand).max(initial=0.0)) * 1e-13

    def fail(self, arcs: Ints) -> Change:
        """Return what changes if some arcs, the directions of a link, are lost.

        Parameters
        ----------
        arcs : numpy.ndarray
            Numbers of the arcs.

        Returns
        -------
        Change
            Loads, and demands without a path.
        """
        self._works[arcs] = False
        changed, longer, far = self._lose(arcs)
        before = self._distance[longer]
        try:
            if far:
                return self._route_anew(arcs)
            self._find_again(longer)
            return self._carry(changed, longer)
        finally:
            self._distance[longer] = before
            self._lost[changed] = 0
            self._works[arcs] = True

    def _route_anew(self, lost: Ints) -> Change:
        """Return what changes, from new paths to all destinations whose paths change."""
        before = self._routes
        shape = (*before.distance.shape, self._traffic.shape[1])
        demand, traffic = self._demand.reshape(shape), self._traffic.reshape(shape)
        load = np.zeros((before.arcs.count, shape[2]))
        cut = []
        changed = np.flatnonzero(before.used[:, lost].any(axis=1))
        step = max(1, NUMBERS_AT_ONCE // (shape[1] * shape[2]))
        for start in range(0, changed.size, step):
            rows = changed[start : start + step]
            routes = find_routes(before.arcs, targets=before.targets[rows], works=self._works)
            load += load_of(routes, traffic_of(routes, demand[rows]))
            load -= load_of(before.select(rows), traffic[rows])
            gone = (routes.distance >= UNREACHABLE) & (before.distance[rows] < UNREACHABLE)
            row, node = np.nonzero(gone & demand[rows].any(axis=2))
            cut.append(rows[row] * shape[1] + node)
        keys = _join(cut)
        return Change(load, keys // shape[1], keys % shape[1])

    def _lose(self, arcs: Ints) -> tuple[Ints, Ints, bool]:
        """Return the nodes, for each destination, that lose next hops, and those that lose all.

        The last is whether it goes on further than differences are moved; it stopped there.
        """
        net = self._routes.arcs
        rows, which = np.nonzero(self._routes.used[:, arcs])
        frontier = rows * net.node_count + net.tail[arcs[which]]
        changed, longer = [], []
        hops = 0
        while frontier.size and hops <= self._most_hops:
            hops += 1
            key, count = np.unique(frontier, return_counts=True)
            changed.append(key)
            self._lost[key] += count
            all_lost = key[self._lost[key] == self._width[key]]
            longer.append(all_lost)
            arc, index = net.entering.arcs_of(all_lost % net.node_count)
            row = (all_lost // net.node_count)[index]
            on = self._routes.used[row, arc] & self._works[arc]
            frontier = row[on] * net.node_count + net.tail[arc[on]]
        return _join(changed), _join(longer), bool(frontier.size)

    def _find_again(self, longer: Ints) -> None:
        """Find the distances of nodes that have lost their paths, from their neighbours."""
        net, distance = self._routes.arcs, self._distance
        distance[longer] = UNREACHABLE
        frontier = longer
        arc, index = net.leaving.arcs_of(frontier % net.node_count)
        key = frontier[index]
        while True:
            heads = key - net.tail[arc] + net.head[arc]
            cost = np.where(self._works[arc], distance[heads] + net.cost[arc], UNREACHABLE)
            better = cost < distance[key]
            if not better.any():
                return
            np.minimum.at(distance, key[better], cost[better])
            # Whose neighbours may be nearer now, among the same nodes: all others are nearer still.
            frontier = np.unique(key[better])
            arc, index = net.entering.arcs_of(frontier % net.node_count)
            key = frontier[index] - net.head[arc] + net.tail[arc]

    def _carry(self, changed: Ints, longer: Ints) -> Change:
        """Move the differences of the traffic to where they end."""
        net = self._routes.arcs
        load = np.zeros((net.count, self._traffic.shape[1]))
        cut = longer[self._distance[longer] >= UNREACHABLE]
        cut = cut[self._has_demand[cut]]
        # A node without a path has no next hops now: its traffic, turned to nowhere, goes away.
        with_traffic = changed[self._traffic[changed].any(axis=1)]
        key, moving = self._turn(with_traffic, load)
        while key.size:
            arc, index, width = self._next_hops(key)
            part = moving[index] / width[:, None]
            add_rows(load, arc, part)
            heads = key[index] - net.tail[arc] + net.head[arc]
            key, moving = sum_by_key(heads, part)
            large = np.abs(moving).max(axis=1) > self._least
            key, moving = key[large], moving[large]
        return Change(load, cut // net.node_count, cut % net.node_count)

    def _turn(self, key: Ints, load: FloatArray) -> tuple[Ints, FloatArray]:
        """Turn the traffic of nodes to their new next hops; return what that adds where."""
        net = self._routes.arcs
        arc, index = net.leaving.arcs_of(key % net.node_count)
        old = self._routes.used[(key // net.node_count)[index], arc]
        arc, index = arc[old], index[old]
        gone = -self._traffic[key[index]] / self._width[key[index]][:, None]
        new_arc, new_index, new_width = self._next_hops(key)
        come = self._traffic[key[new_index]] / new_width[:, None]
        arcs, parts = np.concatenate([arc, new_arc]), np.concatenate([gone, come])
        add_rows(load, arcs, parts)
        at = np.concatenate([key[index], key[new_index]]) - net.tail[arcs] + net.head[arcs]
        return sum_by_key(at, parts)

    def _next_hops(self, key: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the arcs on shortest paths now, the index of the node of each, and its width."""
        net, distance = self._routes.arcs, self._distance
        arc, index = net.leaving.arcs_of(key % net.node_count)
        here = key[index]
        heads = here - net.tail[arc] + net.head[arc]
        shortest = np.equal(distance[here], distance[heads] + net.cost[arc])
        on = self._works[arc] & shortest & (distance[here] < UNREACHABLE)
        arc, index = arc[on], index[on]
        width = np.bincount(index, minlength=key.size)[index]
        return arc, index, width


def _join(parts: list[Ints]) -> Ints:
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)
