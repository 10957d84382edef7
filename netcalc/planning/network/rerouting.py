r"""Shortest paths and loads found anew for some destinations, where a failure changes most of them.

Distances are those of Dijkstra's algorithm in scipy. The traffic :math:`y` at the nodes, with
the forwarding shares :math:`P` and the demand :math:`d`, is the solution of

.. math:: y = P^T y + d

which, with the nodes of each destination from the farthest to the nearest, is triangular: one
substitution for all destinations at once, however long the paths are.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import spsolve_triangular

from netcalc.checks import FloatArray
from netcalc.planning.network.routing import (
    UNREACHABLE,
    Arcs,
    Bools,
    Ints,
    Routes,
    add_rows,
    routes_of,
)


def reroute(arcs: Arcs, *, targets: Ints, works: Bools) -> Routes:
    """Return the shortest paths to some destinations over the arcs that work.

    Parameters
    ----------
    arcs : Arcs
        The network.
    targets : numpy.ndarray
        Numbers of the destinations, each once.
    works : numpy.ndarray
        Whether each arc works, shape (A,).

    Returns
    -------
    Routes
        Distances, and the arcs on shortest paths.

    Examples
    --------
    From 0 to 2 directly; without that arc by way of 1:

    >>> arcs = Arcs([0, 0, 1], head=[2, 1, 2], cost=[1, 1, 1], node_count=3)
    >>> works = np.array([False, True, True])
    >>> reroute(arcs, targets=np.array([2]), works=works).used.tolist()
    [[False, True, True]]
    """
    at = np.flatnonzero(works)
    at = at[np.lexsort((arcs.cost[at], arcs.tail[at], arcs.head[at]))]
    pair = arcs.head[at] * arcs.node_count + arcs.tail[at]
    at = at[np.concatenate([[True], pair[1:] != pair[:-1]])] if at.size else at  # the cheapest
    # Paths to a destination are those from it in the graph backwards.
    shape = (arcs.node_count, arcs.node_count)
    # Indices of 32 bits: older versions of scipy search no graph with others.
    ends = (arcs.head[at].astype(np.int32), arcs.tail[at].astype(np.int32))
    backwards = csr_array((arcs.cost[at], ends), shape=shape)
    found = dijkstra(backwards, indices=targets)
    known = np.isfinite(found)
    distance = np.full(found.shape, UNREACHABLE)
    distance[known] = found[known]  # whole numbers far below 2^53: exact
    return routes_of(arcs, targets=targets, distance=distance, works=works)


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
    each = np.arange(size)
    row = np.concatenate([place[rows, arcs.head[arc]], each])
    column = np.concatenate([place[rows, tail], each])
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
