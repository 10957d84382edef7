"""Networks as graphs of networkx: from and to them, what is reachable, where nodes are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netcalc import uncertain
from netcalc.checks import FloatArray
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.planning.network.facts import Demand, Direction, Link, Network
from netcalc.planning.network.routing import import_networkx
from netcalc.uncertain import Known

if TYPE_CHECKING:
    import networkx as nx


_UNITS = {"rate": "bit/s", "latency": "s", "availability": "ratio", "growth": "ratio"}
_FIELDS = {"rate": "rate_bps", "latency": "latency_s", "availability": "availability_ratio",
           "growth": "growth_ratio"}  # fmt: skip


def from_graph(
    graph: nx.Graph[Any],
    *,
    demands: Iterable[Demand] | Mapping[tuple[Any, Any], Known],
) -> Network:
    """Return a network from a graph of networkx.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Edges have the attributes ``rate_bps`` and ``latency_s`` (numbers in SI units or
        distributions), or ``rate`` and ``latency`` (text with a unit, a range too), and optionally
        ``cost``, ``name``, ``availability_ratio``, ``growth_ratio`` and ``groups`` (names of what
        fails together). Nodes may have ``x`` and ``y``, or ``lat`` and ``lon``. An edge of a
        directed graph is one direction; with the edge back (of the same key) it is one link.
    demands : iterable of Demand, or mapping
        Demands, or the rate of each pair of nodes: a number in bit/s, a distribution or text.

    Returns
    -------
    Network
        Nodes are named by their text, in the order of the graph.

    Raises
    ------
    ArgumentTypeError
        If ``graph`` is no graph of networkx.
    DomainError
        If an edge has no rate or latency, or an impossible number.
    UnitError
        If a text is no quantity of its unit.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.Graph()
    >>> graph.add_edge("a", "b", rate="10 Gbit/s", latency="5 ms")
    >>> from_graph(graph, demands={("a", "b"): "3 Gbit/s"}).links[0].name
    'a-b'
    """
    networkx: Any = import_networkx()
    if not isinstance(graph, networkx.Graph):
        raise ArgumentTypeError("network-not-a-graph", "graph", type(graph).__name__)
    links: dict[tuple[str, str, Any], Link] = {}
    names: set[str] = set()
    for start, end, key, facts in _edges(graph):
        direction = Direction(
            rate_bps=_attribute(facts, "rate", start, end),
            latency_s=_attribute(facts, "latency", start, end),
            cost=facts.get("cost"),
        )
        twin = links.get((end, start, key)) if graph.is_directed() else None
        if twin is not None:
            links[end, start, key] = replace(twin, back=direction)
            continue
        name = str(facts.get("name") or f"{start}-{end}")
        links[start, end, key] = Link(
            start=start,
            end=end,
            there=direction,
            back=None if graph.is_directed() else direction,
            name=name if name not in names else f"{name} {key}",
            availability_ratio=_optional(facts, "availability", start, end),  # type: ignore[arg-type]
            growth_ratio=_optional(facts, "growth", start, end),
            groups=_groups(facts),
        )
        names.add(name)
    if isinstance(demands, Mapping):
        demands = [
            Demand(source=str(start), target=str(end), rate_bps=_quantity(rate, "bit/s", "demands"))
            for (start, end), rate in demands.items()
        ]
    positions, globe = _positions(graph)
    return Network(
        links=tuple(links.values()), demands=tuple(demands), nodes=tuple(map(str, graph.nodes)),
        positions=positions, globe=globe,
    )  # fmt: skip


def to_graph(network: Network) -> nx.MultiDiGraph[str]:
    """Return a network as a graph of networkx: an edge a direction, the name of the link its key.

    Parameters
    ----------
    network : Network
        The network.

    Returns
    -------
    networkx.MultiDiGraph
        With ``rate_bps``, ``latency_s`` and ``cost`` as attributes of its edges.
    """
    networkx: Any = import_networkx()
    graph: nx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.add_nodes_from(network.nodes)
    for link in network.links:
        for start, end, direction in (
            (link.start, link.end, link.there),
            (link.end, link.start, link.back),
        ):
            if direction is not None:
                facts = {
                    "rate_bps": direction.rate_bps,
                    "latency_s": direction.latency_s,
                    "cost": direction.cost,
                }
                graph.add_edge(start, end, key=link.name, **facts)
    return graph


def reachable(links: Sequence[Link], *, nodes: Sequence[str]) -> Callable[[str, str], bool]:
    """Return whether a path leads from one node to another, as a function of the two.

    Parameters
    ----------
    links : sequence of Link
        Links between them.
    nodes : sequence of str
        All nodes.

    Returns
    -------
    callable
        Of start and end.
    """
    networkx: Any = import_networkx()
    graph = networkx.DiGraph()
    graph.add_nodes_from(nodes)
    for link in links:
        graph.add_edge(link.start, link.end)
        if link.back is not None:
            graph.add_edge(link.end, link.start)
    parts = list(networkx.strongly_connected_components(graph))
    part_of = {node: number for number, part in enumerate(parts) for node in part}
    between: dict[int, set[int]] = {}
    condensed = networkx.condensation(graph, parts)

    def reached(start: str, end: str) -> bool:
        first, last = part_of[start], part_of[end]
        if first == last:
            return True
        if first not in between:
            between[first] = networkx.descendants(condensed, first)
        return last in between[first]

    return reached


def _edges(graph: Any) -> Iterable[tuple[str, str, Any, Mapping[str, Any]]]:
    if graph.is_multigraph():
        for start, end, key, facts in graph.edges(keys=True, data=True):
            yield str(start), str(end), key, facts
    else:
        for start, end, facts in graph.edges(data=True):
            yield str(start), str(end), 0, facts


def _attribute(facts: Mapping[str, Any], name: str, start: str, end: str) -> Known:
    value = _optional(facts, name, start, end)
    if value is None:
        raise DomainError("network-edge-without", _FIELDS[name], None, start=start, end=end,
                          attribute=name)  # fmt: skip
    return value


def _optional(facts: Mapping[str, Any], name: str, start: str, end: str) -> Known | None:
    value = facts.get(_FIELDS[name], facts.get(name))
    return None if value is None else _quantity(value, _UNITS[name], f"{name} of {start}-{end}")


def _quantity(value: Any, unit: str, field: str) -> Known:
    stated: Known = uncertain.parse(value, unit, field=field) if isinstance(value, str) else value
    return stated


def _groups(facts: Mapping[str, Any]) -> tuple[str, ...]:
    groups = facts.get("groups", ())
    return (groups,) if isinstance(groups, str) else tuple(map(str, groups))


def _positions(graph: Any) -> tuple[tuple[tuple[float, float], ...], bool]:
    """Return where the nodes are, if each says so in the same way."""
    for first, second in (("lat", "lon"), ("x", "y")):
        if graph.nodes and all({first, second} <= set(graph.nodes[node]) for node in graph.nodes):
            pairs = [
                (float(graph.nodes[node][first]), float(graph.nodes[node][second]))
                for node in graph.nodes
            ]
            return tuple(pairs), first == "lat"
    return (), False


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
        return _fit_into_square(_layout(network)), "layout"
    positions = np.array(network.positions, dtype=float)
    if not network.globe:
        return _fit_into_square(positions), "plane"
    latitude, longitude = positions.T
    # Across the 180th meridian the nodes stay together: cut where the widest gap is.
    order = np.sort(longitude % 360.0)
    gaps = np.diff(np.append(order, order[0] + 360.0))
    west = order[(int(gaps.argmax()) + 1) % order.size]
    east = (longitude - west) % 360.0
    narrower = math.cos(math.radians(float(latitude.mean())))
    return _fit_into_square(np.column_stack([east * narrower, latitude])), "globe"


def _fit_into_square(points: FloatArray) -> FloatArray:
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max()) or 1.0
    return np.asarray((points - (low + high) / 2.0) / size)


def _layout(network: Network) -> FloatArray:
    networkx: Any = import_networkx()
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(network.nodes)))
    index = {node: n for n, node in enumerate(network.nodes)}
    graph.add_edges_from((index[link.start], index[link.end]) for link in network.links)
    count = graph.number_of_nodes()
    if count <= MOST_NODES and networkx.is_connected(graph):
        layout = networkx.kamada_kawai_layout(graph)
    else:
        layout = networkx.spring_layout(graph, seed=SEED)
    return np.array([layout[n] for n in range(count)])
