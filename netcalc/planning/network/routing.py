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

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from netcalc.checks import FloatArray
from netcalc.errors import MissingPackageError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNREACHABLE = np.int64(2**62)
"""Distance of a node from which there is no path; the sum with a cost does not overflow. [1]"""
MOST_COST = 2**24 - 1
"""Highest cost of an arc: the wide metric of IS-IS; OSPF has up to 65535. [1]"""
CASES_AT_ONCE = 20_000_000
"""Numbers of a traffic matrix that are kept at once: 160 MB. [1]"""


def import_networkx() -> object:
    """Return networkx, which is loaded when a network is planned.

    Raises
    ------
    MissingPackageError
        If it is not installed.
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingPackageError("networkx", extra="plan", purpose="planning a network") from error
    return networkx


class Arcs:
    """The arcs of a network as arrays, and lists of those that leave and enter a node.

    Parameters
    ----------
    tail, head : sequence of int
        Nodes where each arc begins and ends.
    cost : sequence of int
        Cost of each arc, from 1 to :data:`MOST_COST`.
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
