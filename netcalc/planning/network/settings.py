"""How a network is planned, apart from its links and demands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from netcalc.checks import at_least, choice, positive, ratio, scalar, whole
from netcalc.planning.network.cases import FAILS, Fail
from netcalc.planning.network.costs import COSTS, Costs
from netcalc.planning.network.delays import QUEUES, Queue
from netcalc.planning.network.facts import possible
from netcalc.uncertain import Known

DRAWS = 200
"""Draws of ranges: enough for a 5th and a 95th percentile. [1]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a network is planned.

    Parameters
    ----------
    growth_ratio : float or Distribution
        Growth a year of demands that have none of their own. [ratio]
    start : date
        The day of the demands, from which growth counts.
    costs : {'given', 'ospf', 'hops', 'latency'}
        What shortest paths are the shortest by; ``given`` are those of the links, ``ospf`` the
        rule of routers: the fastest link over the rate.
    reference_bps : float, optional
        Rate of cost 1 of that rule; by default that of the fastest link. [bit/s]
    full_at_ratio : float
        Load over rate at which a link counts as full, above 0 and at most 1. [ratio]
    fail : {'links', 'nodes', 'both'}
        What fails, each alone; with links also the groups that share a risk.
    queue : {'imix', 'mm1', 'md1'}
        The model of waiting, see :data:`netcalc.planning.network.delays.QUEUES`.
    draws : int
        Draws of ranges, from 20. [1]
    seed : int
        Another one draws other numbers. [1]
    """

    growth_ratio: Known = 0.0
    start: date
    costs: Costs = "ospf"
    reference_bps: float | None = None
    full_at_ratio: float = 1.0
    fail: Fail = "links"
    queue: Queue = "imix"
    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth_ratio", possible("growth_ratio", self.growth_ratio))
        choice("costs", self.costs, COSTS)
        choice("queue", self.queue, tuple(QUEUES))
        choice("fail", self.fail, FAILS)
        scalar(
            "full_at_ratio", positive("full_at_ratio", ratio("full_at_ratio", self.full_at_ratio))
        )
        scalar("draws", at_least("draws", whole("draws", self.draws), 20))
        scalar("seed", whole("seed", self.seed))
        if self.reference_bps is not None:
            scalar("reference_bps", positive("reference_bps", self.reference_bps))
