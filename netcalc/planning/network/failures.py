r"""What fails in a network, and the loads after a failure: only what its paths carried moves.

A failure changes the paths to a destination only where a shortest path to it used the link. There,
nodes all of whose next hops are lost get a longer distance, and nodes that lose some of them split
among the others; all other nodes forward as before. With the forwarding shares :math:`P` of a
destination before and :math:`P'` after, and the traffic :math:`y` at the nodes, the change
:math:`\\delta` of that traffic follows from

.. math:: \\delta = P'^T \\delta + (P' - P)^T y + (d' - d)

where :math:`d' - d` takes away what has no path any more. So only differences move, those of all
destinations at once, a hop at a time.

Where that is far, as in a ring, the destinations whose paths change are routed anew, with the
traffic as the solution of

.. math:: y = P^T y + d

which, with the nodes of each destination from the farthest to the nearest, is triangular: one
substitution for all destinations at once, however long the paths are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import spsolve_triangular

from netcalc.checks import FloatArray
from netcalc.planning.network.facts import Network
from netcalc.planning.network.routing import (
    UNREACHABLE,
    Arcs,
    Bools,
    Ints,
    Routes,
    add_rows,
    find_routes,
    sum_by_key,
)

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
