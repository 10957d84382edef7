"""A network and its demands: frozen facts, with ranges where a number is not known exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netcalc.checks import between, positive, ratio, scalar, up_to, whole
from netcalc.display import show
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.messages import Notice
from netcalc.planning.network.routing import MOST_COST
from netcalc.uncertain import Distribution, Known
from netcalc.uncertain.distributions import Truncated

MOST_BPS = 1e18
"""More than a million of the fastest links of Ethernet: a larger rate is a slip of the pen.
[bit/s]"""
MOST_LATENCY_S = 86_400.0
"""Radio takes less than a day to the farthest spacecraft. [s]"""
GROWTHS = (-0.99, 1000.0)
"""Least and highest growth a year. [ratio]"""


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
        Cost of shortest paths, from 1 to :data:`netcalc.planning.network.routing.MOST_COST`;
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
