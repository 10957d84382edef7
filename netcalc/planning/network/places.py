"""Where nodes are drawn: at their coordinates, otherwise where a layout of networkx has them."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from netcalc.checks import FloatArray
from netcalc.planning.network.facts import Network
from netcalc.planning.network.routing import import_networkx

Placed = Literal["plane", "globe", "layout"]
SEED = 1
"""Of the layout: the same network is drawn alike every time."""
MOST_NODES = 150
"""Up to as many nodes distances on the map follow the hops between them. [1]"""


def places(network: Network) -> tuple[FloatArray, Placed]:
    """Return where each node is drawn.

    Parameters
    ----------
    network : Network
        With coordinates, in the plane or on the globe, or without.

    Returns
    -------
    tuple
        Coordinates, shape (N, 2), within a square of side 1 about the origin, with one scale in
        both directions; and what they are: those given, those given on the globe (shown with a
        degree of longitude as long as at the mean latitude), or those of a layout.

    Examples
    --------
    >>> from netcalc.planning.network import read
    >>> network = read(
    ...     "from,to,rate,latency\\na,b,T1,1 ms\\n", demands="from,to,rate\\na,b,1 kbit/s\\n",
    ...     nodes="node,x,y\\na,0,0\\nb,20,10\\n",
    ... )
    >>> found, kind = places(network)
    >>> found.tolist(), kind
    ([[-0.5, -0.25], [0.5, 0.25]], 'plane')
    """
    if not network.positions:
        return _framed(_layout(network)), "layout"
    given = np.array(network.positions, dtype=float)
    if not network.globe:
        return _framed(given), "plane"
    latitude, longitude = given.T
    # Across the 180th meridian the nodes stay together: cut where the widest gap is.
    order = np.sort(longitude % 360.0)
    gaps = np.diff(np.append(order, order[0] + 360.0))
    west = order[(int(gaps.argmax()) + 1) % order.size]
    east = (longitude - west) % 360.0
    narrower = math.cos(math.radians(float(latitude.mean())))
    return _framed(np.column_stack([east * narrower, latitude])), "globe"


def _framed(found: FloatArray) -> FloatArray:
    low, high = found.min(axis=0), found.max(axis=0)
    size = float((high - low).max()) or 1.0
    return np.asarray((found - (low + high) / 2.0) / size)


def _layout(network: Network) -> FloatArray:
    networkx: Any = import_networkx()
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(network.nodes)))
    index = {node: n for n, node in enumerate(network.nodes)}
    graph.add_edges_from((index[one.start], index[one.end]) for one in network.links)
    count = graph.number_of_nodes()
    if count <= MOST_NODES and networkx.is_connected(graph):
        found = networkx.kamada_kawai_layout(graph)
    else:
        found = networkx.spring_layout(graph, seed=SEED)
    return np.array([found[n] for n in range(count)])
