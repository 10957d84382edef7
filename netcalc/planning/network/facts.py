"""A network and its demands: frozen facts, with ranges where a number is not known exactly.

From and to graphs of networkx: which nodes are reachable, and where they are drawn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netcalc import uncertain
from netcalc.checks import FloatArray, between, positive, ratio, scalar, up_to, whole
from netcalc.display import show
from netcalc.errors import ArgumentTypeError, DomainError, MissingPackageError
from netcalc.messages import Notice
from netcalc.uncertain import Distribution, Known
from netcalc.uncertain.distributions import Truncated

if TYPE_CHECKING:
    import networkx as nx


MOST_COST = 2**24 - 1
"""Highest cost of an arc: the wide metric of IS-IS; OSPF has up to 65535. [1]"""
MOST_BPS = 1e18
"""More than a million of the fastest links of Ethernet: a larger rate is a slip of the pen.
[bit/s]"""
MOST_LATENCY_S = 86_400.0
"""Radio takes less than a day to the farthest spacecraft. [s]"""
GROWTHS = (-0.99, 1000.0)
"""Least and highest growth a year. [ratio]"""


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


class _Allowed(NamedTuple):
    """Which values of a number are possible; whether the least is not, its unit, and its check."""

    low: float
    high: float
    low_open: bool
    unit: str
    check: Callable[[str, Any], Any]


_ALLOWED = {
    "rate_bps": _Allowed(
        0.0, MOST_BPS, True, "bit/s",
        lambda name, value: up_to(name, positive(name, value), MOST_BPS),
    ),
    "latency_s": _Allowed(
        0.0, MOST_LATENCY_S, False, "s", lambda name, value: up_to(name, value, MOST_LATENCY_S)
    ),
    "demand_bps": _Allowed(
        0.0, MOST_BPS, False, "bit/s", lambda name, value: up_to(name, value, MOST_BPS)
    ),
    "growth_ratio": _Allowed(
        *GROWTHS, False, "ratio", lambda name, value: between(name, value, *GROWTHS)
    ),
    "availability_ratio": _Allowed(0.0, 1.0, False, "ratio", ratio),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """One direction of a link.

    Parameters
    ----------
    rate_bps : float or Distribution
        Line rate, above 0. [bit/s]
    latency_s : float or Distribution
        Propagation, and what the devices add without a queue. [s]
    cost : int, optional
        Cost of shortest paths, from 1 to :data:`netcalc.planning.network.facts.MOST_COST`;
        without it the plan has a rule. [1]
    """

    rate_bps: Known
    latency_s: Known
    cost: int | None = None

    def __post_init__(self) -> None:
        _set(self, "rate_bps", self.rate_bps)
        _set(self, "latency_s", self.latency_s)
        if self.cost is not None:
            cost = scalar("cost", whole("cost", self.cost, 1))
            if cost > MOST_COST:
                raise DomainError("above-maximum", "cost", self.cost, high=MOST_COST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link between two nodes.

    Parameters
    ----------
    start, end : str
        Its nodes.
    there : Direction
        From ``start`` to ``end``.
    back : Direction, optional
        The other direction; None for a link of one direction.
    name : str
        Unique in a network; by default ``start-end``.
    availability_ratio : float, optional
        Share of the time in which it works. [ratio]
    growth_ratio : float or Distribution, optional
        Growth of its load a year, in place of the growth of its demands. [ratio]
    groups : tuple of str
        Groups whose links fail together, as those in one duct do (shared risk).
    """

    start: str
    end: str
    there: Direction
    back: Direction | None
    name: str = ""
    availability_ratio: float | None = None
    growth_ratio: Known | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_names(self.start, self.end)
        if not self.name:
            object.__setattr__(self, "name", f"{self.start}-{self.end}")
        if self.availability_ratio is not None:
            _set(self, "availability_ratio", self.availability_ratio)
        if self.growth_ratio is not None:
            _set(self, "growth_ratio", self.growth_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Traffic from one node to another.

    Parameters
    ----------
    source, target : str
        Where it enters and where it leaves.
    rate_bps : float or Distribution
        Its rate at the layer of the rates of the links, in the hour that is planned for. [bit/s]
    growth_ratio : float or Distribution, optional
        Growth a year; by default the growth of the plan. [ratio]
    """

    source: str
    target: str
    rate_bps: Known
    growth_ratio: Known | None = None

    def __post_init__(self) -> None:
        _check_names(self.source, self.target)
        object.__setattr__(self, "rate_bps", possible("demand_bps", self.rate_bps))
        if self.growth_ratio is not None:
            _set(self, "growth_ratio", self.growth_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Nodes, links, and the demands on them.

    Parameters
    ----------
    links : tuple of Link
        At least one, with different names.
    demands : tuple of Demand
        At least one; several between the same nodes add up.
    nodes : tuple of str
        In the order of their numbers; by default the ends of the links.
    notices : tuple of Notice
        What a file has that is not used.
    positions : tuple of tuple of float
        Where each node is drawn: x and y, or with ``globe`` latitude and longitude. [1 or degree]
    globe : bool
        Whether positions are on the globe.

    Raises
    ------
    DomainError
        If there is no link or demand, a name is used twice, or a node is unknown or has no
        position where others have one.
    """

    links: tuple[Link, ...]
    demands: tuple[Demand, ...]
    nodes: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    positions: tuple[tuple[float, float], ...] = ()
    globe: bool = False

    def __post_init__(self) -> None:
        for name, items in (("links", self.links), ("demands", self.demands)):
            if not items:
                raise DomainError("network-empty", name, 0)
        ends = dict.fromkeys(node for link in self.links for node in (link.start, link.end))
        object.__setattr__(self, "nodes", self.nodes or tuple(ends))
        if self.positions and len(self.positions) != len(self.nodes):
            raise DomainError(
                "network-positions", "positions", len(self.positions), nodes=len(self.nodes)
            )
        names = set(self.nodes)
        _check_once("nodes", self.nodes)
        _check_once("links", [link.name for link in self.links])
        demand_ends = (node for demand in self.demands for node in (demand.source, demand.target))
        for name, nodes in (("links", ends), ("demands", demand_ends)):
            for node in nodes:
                if node not in names:
                    raise DomainError("network-node-unknown", name, node)


def median(value: Known) -> float:
    """Return a number, or the median of its distribution."""
    if isinstance(value, Distribution):
        return float(value.ppf(np.array(0.5)))
    return float(value)  # type: ignore[arg-type]


def _set(facts: object, name: str, value: Known) -> None:
    object.__setattr__(facts, name, possible(name, value))


def possible(name: str, value: Known) -> Known:
    """Return a possible number; refuse an impossible one, and a distribution that reaches one.

    Of ``truncated(...)`` without ends it is the possible part.
    """
    shown = "rate_bps" if name == "demand_bps" else name
    allowed = _ALLOWED[name]
    if not isinstance(value, Distribution):
        if isinstance(value, str):
            raise ArgumentTypeError("text-for-numbers", shown, value)
        number = scalar(shown, allowed.check(shown, value))
        if not math.isfinite(number):
            raise DomainError("not-finite", shown, value)
        return value
    low, high, low_open, unit, _ = allowed
    share = value.share_outside(low, high, low_open=low_open)
    if share <= LEAST_SHARE:
        return value
    if not value.may_truncate:
        limits = f"{'above' if low_open else 'from'} {show(low, unit)} to {show(high, unit)}"
        raise DomainError(
            "network-draws-impossible", shown, value.text(unit), share=share, limits=limits
        )
    return Truncated(value, low, high, low_open)


LEAST_SHARE = 1e-6
"""Share of a distribution beyond what is possible that is left out without a word: the tail of a
normal distribution is never 0. [ratio]"""


def _check_names(first: str, second: str) -> None:
    for name in (first, second):
        if not isinstance(name, str):
            raise ArgumentTypeError("not-text", "node", type(name).__name__, example="Vienna")
        if not name:
            raise DomainError("network-node-nameless", "node", name)
    if first == second:
        raise DomainError("network-loop", "node", first)


def _check_once(name: str, values: Sequence[str]) -> None:
    value, count = Counter(values).most_common(1)[0]
    if count > 1:
        raise DomainError("network-name-twice", name, value)


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
        degree of longitude as long as at the mean latitude), or computed by a layout.

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
