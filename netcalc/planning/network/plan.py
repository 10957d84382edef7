"""A planned network: what each link carries, what a failure makes of it, and when it is full."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np

from netcalc.checks import FloatArray, at_least, choice, positive, ratio, scalar, whole
from netcalc.errors import DomainError
from netcalc.planning.network import routing
from netcalc.planning.network.facts import Direction, Network, median, possible
from netcalc.uncertain import Distribution, Known

DRAWS = 200
"""Draws of ranges: enough for a 5th and a 95th percentile. [1]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a network is planned.

    Parameters
    ----------
    growth_ratio : float or Distribution
        Growth a year of demands without one of their own: 30%, or '30 % ± 5 %'. [ratio]
    start : date
        The day of the demands, from which growth counts.
    costs : {'given', 'ospf', 'hops', 'latency'}
        What shortest paths are the shortest by; ``given`` are the costs of the links, ``ospf`` the
        rule of routers: the fastest link over the rate.
    reference_bps : float, optional
        Rate that has cost 1, for ``ospf``; by default the rate of the fastest link. [bit/s]
    full_at_ratio : float
        Load at which a link counts as full, above 0 and at most 100 %. [ratio]
    fail : {'links', 'nodes', 'both'}
        What fails, each alone: links (and groups that share a risk), nodes, or both.
    queue : {'imix', 'mm1', 'md1'}
        Wait at a link: imix (M/G/1, sizes of the simple IMIX), mm1, md1 (full frames).
    draws : int
        Number of draws, if an input is a range, from 20. [1]
    seed : int
        Random seed of the draws. [1]
    """

    growth_ratio: Known = 0.0
    start: date
    costs: routing.Costs = "ospf"
    reference_bps: float | None = None
    full_at_ratio: float = 1.0
    fail: routing.Fail = "links"
    queue: routing.Queue = "imix"
    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth_ratio", possible("growth_ratio", self.growth_ratio))
        choice("costs", self.costs, routing.COSTS)
        choice("queue", self.queue, tuple(routing.QUEUES))
        choice("fail", self.fail, routing.FAILS)
        scalar(
            "full_at_ratio", positive("full_at_ratio", ratio("full_at_ratio", self.full_at_ratio))
        )
        scalar("draws", at_least("draws", whole("draws", self.draws), 20))
        scalar("seed", whole("seed", self.seed))
        if self.reference_bps is not None:
            scalar("reference_bps", positive("reference_bps", self.reference_bps))


class HypercubeDraws:
    """Draws by a Latin hypercube: each distribution has one draw in each of as many equal parts.

    The same seed gives the same draws. Numbers are drawn in the order in which they are asked for,
    one distribution as often as it is asked for: two links of 80 to 100 Mbit/s vary apart.

    Parameters
    ----------
    count : int
        Draws of each number.
    seed : int
        Another one draws other numbers.
    """

    def __init__(self, count: int, *, seed: int) -> None:
        self.count = count
        self._generator = np.random.default_rng(seed)

    def draw(self, value: Known) -> FloatArray:
        """Return draws of a number, all alike if it is known exactly.

        Examples
        --------
        >>> HypercubeDraws(4, seed=1).draw(2.0).tolist()
        [2.0, 2.0, 2.0, 2.0]
        """
        if not isinstance(value, Distribution):
            return np.full(self.count, float(value))  # type: ignore[arg-type]
        parts = self._generator.permutation(self.count)
        shares = (parts + self._generator.random(self.count)) / self.count
        return np.asarray(value.ppf(shares))

    def draw_all(self, values: Sequence[Known], *, least: float) -> FloatArray:
        """Return draws of several numbers, a row each; what is below the least is that."""
        if not any(isinstance(value, Distribution) for value in values):
            exact: FloatArray = np.array(values, dtype=float)
            return np.broadcast_to(exact[:, None], (exact.size, self.count))
        return np.asarray(np.maximum([self.draw(value) for value in values], least))


def medians(values: Sequence[Known]) -> FloatArray:
    """Return the numbers, of distributions their medians."""
    return np.array([median(value) for value in values])


NO_FAILURE = -1
"""In place of the number of a case: no failure loads this arc more than none."""
_ROUNDING = 1e-9
"""Loads over rates that differ by less are one. [1]"""
FAILURES_DRAWN = 10
"""Worst failures whose loads are drawn, beside those that are the worst for an arc. [1]"""
DELAYS_SHOWN = 10
"""Slowest demands whose delay has percentiles, too. [1]"""


@dataclass(frozen=True, slots=True)
class FailureResult:
    """What one failure does, at the medians of ranges.

    Attributes
    ----------
    case : int
        Number of the failure among the cases of the plan.
    arc : int
        Of the arcs that are left, the one with the highest load over rate.
    load_ratio : float
        That load. [ratio]
    overloaded : int
        Arcs at their rate or above. [1]
    cut_bps, cut_demands : float, int
        Demands that have no path then: their rate and their number, without the demands of a
        failed node.
    own_bps, own_demands : float, int
        Demands that begin or end at the node that fails.
    worse : dict
        Arcs that no failure before has loaded as much, with the load of each group. [bit/s]
    sooner : dict
        Arcs that are full sooner than with any failure before, with the time. [year]
    """

    case: int
    arc: int
    load_ratio: float
    overloaded: int
    cut_bps: float
    cut_demands: int
    own_bps: float
    own_demands: int
    worse: dict[int, list[float]] = field(repr=False)
    sooner: dict[int, float] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """Draws of each arc's numbers, a row an arc; of slowest demands, a row each.

    Numbers after a failure are those with the failure that is the worst at the medians.
    ``named_share`` is the share of the draws in which no other of these ``compared`` failures loads
    an arc more, ``worst_share`` the share in which the worst of all at the medians is also that of
    the draw; nan without a failure.
    """

    load_bps: FloatArray
    load_ratio: FloatArray
    delay_s: FloatArray
    years: FloatArray
    failed_load_bps: FloatArray
    failed_load_ratio: FloatArray
    failed_years: FloatArray
    path_delay_s: FloatArray
    named_share: FloatArray
    worst_share: float
    compared: int


class NetworkPlan:
    """The plan of a network: the loads at once, failures one by one as :meth:`scan` goes on.

    Parameters
    ----------
    network : Network
        Links and demands.
    settings : Settings
        Costs, growth, queue.

    Attributes
    ----------
    arcs : Arcs
        The directions of the links: first ``there`` of each, then each ``back`` that exists.
    link_of : numpy.ndarray
        Number of the link of each arc.
    rate_bps, latency_s : numpy.ndarray
        Of each arc, medians of ranges.
    load_bps, load_ratio, delay_s, years : numpy.ndarray
        Of each arc without a failure: what it carries, that over its rate, the mean delay, and the
        time until it is full.
    failed_load_bps, failed_load_ratio, failed_years : numpy.ndarray
        The same of each arc with the single failure that is the worst for it, of those scanned.
    failed_by, failed_sooner_by : numpy.ndarray
        Number of the case that this failure is, or :data:`NO_FAILURE`.
    cases : tuple of FailureCase
        What fails, one after the other.
    failures : list of FailureResult
        The failures that were scanned.

    Raises
    ------
    DomainError
        If there is no path for a demand, or costs are missing.
    """

    def __init__(self, network: Network, *, settings: Settings) -> None:
        self.network, self.settings = network, settings
        self._directions = _directions(network)
        index = {node: number for number, node in enumerate(network.nodes)}
        self.link_of: routing.Ints = np.array([link for link, *_ in self._directions])
        directions = [direction for *_, direction in self._directions]
        self.rate_bps = medians([direction.rate_bps for direction in directions])
        self.latency_s = medians([direction.latency_s for direction in directions])
        self.arcs = routing.Arcs(
            [index[start] for _, start, _, _ in self._directions],
            head=[index[end] for _, _, end, _ in self._directions],
            cost=self._costs(directions).tolist(),
            node_count=len(network.nodes),
        )
        self.cases = routing.cases(
            network, arcs=self.arcs, link_of=self.link_of, fail=settings.fail
        )
        demands = network.demands
        self._source: routing.Ints = np.array([index[demand.source] for demand in demands])
        self._target: routing.Ints = np.array([index[demand.target] for demand in demands])
        targets, self._row = np.unique(self._target, return_inverse=True)
        self.demand_bps = medians([demand.rate_bps for demand in demands])
        self._groups, self._group = self._grown()
        self._growth = medians(self._groups)
        own = [link.growth_ratio for link in network.links]
        self._own_growth: dict[int, Known] = {
            arc: growth
            for arc, link in enumerate(self.link_of.tolist())
            if (growth := own[link]) is not None
        }
        self.routes: routing.Routes = routing.find_routes(self.arcs, targets=targets)
        self._require_paths()
        matrix = self._matrix(self.demand_bps[:, None])
        traffic, self._load = routing.carry(self.routes, matrix)
        self._failing = routing.Failures(self.routes, demand=matrix, traffic=traffic)
        self.load_bps = self._load.sum(axis=1)
        self.load_ratio = self.load_bps / self.rate_bps
        self.delay_s = self._delays(self.load_ratio)
        self.years = self._years(self._load)
        self.path_delay_s = routing.mean_over_paths(self.routes, self.delay_s)[
            self._row, self._source
        ]
        self._failed_load = self._load.copy()
        self.failed_load_bps = self.load_bps.copy()
        self.failed_by: routing.Ints = np.full(self.arcs.count, NO_FAILURE)
        self.failed_years = self.years.copy()
        self.failed_sooner_by = self.failed_by.copy()
        self.failures: list[FailureResult] = []
        self.ranges: Ranges | None = None

    @property
    def failed_load_ratio(self) -> FloatArray:
        """Load over rate of each arc with the failure that is the worst for it."""
        return np.asarray(self.failed_load_bps / self.rate_bps)

    def fingerprint(self) -> str:
        """Return what is the same for the same medians, costs and growths of the same links."""
        sha = hashlib.sha256(repr([link.name for link in self.network.links]).encode())
        own = [(arc, median(growth)) for arc, growth in self._own_growth.items()]
        numbers = [
            self.arcs.tail, self.arcs.head, self.arcs.cost, self.link_of, self.rate_bps,
            self._source, self._target, self.demand_bps, self._group,
            self._growth, np.array(own), np.array(self.settings.full_at_ratio),
            *(case.arcs for case in self.cases),
        ]  # fmt: skip
        for array in numbers:
            sha.update(repr((array.shape, array.dtype.str)).encode() + array.tobytes())
        return sha.hexdigest()

    @property
    def group_count(self) -> int:
        """Number of different growths of the demands."""
        return len(self._groups)

    @property
    def varies(self) -> bool:
        """Whether any number is a range."""
        numbers: list[Known] = [*self._groups, *self._own_growth.values()]
        numbers += [demand.rate_bps for demand in self.network.demands]
        for *_, direction in self._directions:
            numbers += [direction.rate_bps, direction.latency_s]
        return any(isinstance(number, Distribution) for number in numbers)

    @property
    def worst_first(self) -> list[FailureResult]:
        """The failures that were tried: what cuts off most first, then the highest load."""
        return sorted(
            self.failures, key=lambda result: (-result.cut_bps, -result.load_ratio, result.case)
        )

    @property
    def heaviest(self) -> FailureResult:
        """The failure that was tried with the highest load over rate."""
        return min(self.failures, key=lambda result: (-result.load_ratio, result.case))

    @property
    def slowest(self) -> routing.Ints:
        """The demands with the longest delays, the slowest first."""
        return np.argsort(-self.path_delay_s, kind="stable")[:DELAYS_SHOWN]

    @cached_property
    def parallel(self) -> routing.Ints:
        """Of each arc the number of its link among those between its nodes; 0 for the only one."""
        keys = [frozenset((link.start, link.end)) for link in self.network.links]
        counts, seen = Counter(keys), Counter[frozenset[str]]()
        numbers = []
        for key in keys:
            seen[key] += 1
            numbers.append(seen[key] if counts[key] > 1 else 0)
        return np.asarray(np.array(numbers)[self.link_of])

    def ends(self, arc: int) -> tuple[str, str]:
        """Return the names of the nodes where an arc begins and ends."""
        _, start, end, _ = self._directions[arc]
        return start, end

    def ratio_after(self, case: int) -> FloatArray:
        """Return the load over rate of each arc after a failure; 0 of those that are lost."""
        arcs = self.cases[case].arcs
        total = (self._load + self._failing.fail(arcs).load).sum(axis=1)
        total[arcs] = 0.0
        return np.asarray(np.maximum(total, 0.0) / self.rate_bps)

    def scan(self) -> Iterator[FailureResult]:
        """Try each failure that was not tried yet, and yield what it does."""
        tried = {result.case for result in self.failures}
        for number in range(len(self.cases)):
            if number not in tried:
                result = self._fail(number)
                self.take(result)
                yield result

    def take(self, result: FailureResult) -> None:
        """Take in the result of a failure, of this scan or of one before."""
        if result.worse:
            arcs = np.array(list(result.worse))
            self._failed_load[arcs] = list(result.worse.values())
            self.failed_load_bps[arcs] = self._failed_load[arcs].sum(axis=1)
            self.failed_by[arcs] = result.case
        for arc, years in result.sooner.items():
            self.failed_years[arc], self.failed_sooner_by[arc] = years, result.case
        self.failures.append(result)

    def find_ranges(self) -> Iterator[tuple[int, int]]:
        """Draw all ranges, and yield how much of that is done, and of how much.

        The failure that is the worst for an arc is the worst at the medians.
        """
        drawing = _Drawing(self)
        yield from drawing.run()
        self.ranges = drawing.ranges()

    def _fail(self, number: int) -> FailureResult:
        case = self.cases[number]
        arcs = case.arcs
        change = self._failing.fail(arcs)
        load = np.maximum(self._load + change.load, 0.0)  # differences leave rounding errors
        total = load.sum(axis=1)
        ratio = total / self.rate_bps
        ratio[arcs] = 0.0
        changed = np.flatnonzero(change.load.any(axis=1))
        changed = changed[np.isin(changed, arcs, invert=True)]
        years = self._years(load[changed], changed)
        worse = changed[total[changed] > self.failed_load_bps[changed] * (1 + 1e-12)]
        # Of failures with which an arc is full already, the one that loads it most counts.
        already = (years <= 0.0) & (self.years[changed] > 0.0) & np.isin(changed, worse)
        sooner = (years < self.failed_years[changed]) | already
        cut = self._cut_off(change)
        own = self._own(case)
        cut &= ~own
        return FailureResult(
            case=number,
            arc=int(ratio.argmax()),
            load_ratio=float(ratio.max()),
            overloaded=int((ratio >= 1.0).sum()),
            cut_bps=float(self.demand_bps[cut].sum()),
            cut_demands=int(cut.sum()),
            own_bps=float(self.demand_bps[own].sum()),
            own_demands=int(own.sum()),
            worse={int(arc): load[arc].tolist() for arc in worse},
            sooner=dict(zip(changed[sooner].tolist(), years[sooner].tolist(), strict=True)),
        )

    def _cut_off(self, change: routing.Change) -> routing.Bools:
        """Return which demands have no path after a failure."""
        nodes = self.arcs.node_count
        return np.isin(self._row * nodes + self._source, change.cut_rows * nodes + change.cut_nodes)

    def _own(self, case: routing.FailureCase) -> routing.Bools:
        """Return which demands begin or end at the node that fails."""
        if case.kind != "node":
            return np.zeros(self._source.size, dtype=np.bool_)
        return np.asarray((self._source == case.number) | (self._target == case.number))

    def _costs(self, directions: list[Direction]) -> routing.Ints:
        rule = self.settings.costs
        if rule == "given":
            costs = [direction.cost for direction in directions]
            if None in costs:
                name = self.network.links[self.link_of[costs.index(None)]].name
                raise DomainError("network-cost-missing", "cost", name)
            return np.array(costs)
        if rule == "hops":
            return np.ones(len(directions), dtype=np.int64)
        if rule == "latency":
            return routing.latency_costs(self.latency_s)
        reference = self.settings.reference_bps or float(self.rate_bps.max())
        return routing.ospf_costs(self.rate_bps, reference_bps=reference)

    def _grown(self) -> tuple[list[Known], routing.Ints]:
        """Return the different growths of the demands, and the number of each demand's growth."""
        groups: dict[Known, int] = {}
        index = []
        for demand in self.network.demands:
            growth = (
                self.settings.growth_ratio if demand.growth_ratio is None else demand.growth_ratio
            )
            key = growth if isinstance(growth, Distribution) else float(growth)  # type: ignore[arg-type]
            index.append(groups.setdefault(key, len(groups)))
        return list(groups), np.array(index)

    def _require_paths(self) -> None:
        distance = self.routes.distance[self._row, self._source]
        for number in np.flatnonzero(distance >= routing.UNREACHABLE)[:1]:
            demand = self.network.demands[number]
            raise DomainError("network-no-path", "demands", f"{demand.source} to {demand.target}")

    def _matrix(self, rates: FloatArray) -> FloatArray:
        """Return demands as a matrix: rows of targets, columns of nodes, cases of each group.

        ``rates`` has a row a demand, a column a draw; all groups of a draw are side by side.
        """
        groups, draws = len(self._groups), rates.shape[1]
        shape = (self.routes.targets.size, self.arcs.node_count, draws * groups)
        matrix = np.zeros(shape)
        for group in range(groups):
            members = np.flatnonzero(self._group == group)
            part = np.zeros((*shape[:2], draws))
            np.add.at(part, (self._row[members], self._source[members]), rates[members])
            # Interleaved, draw by draw: a reshape to (..., draws, groups) then needs no copy, and
            # a sum over the last axis is the load of a draw.
            matrix[:, :, group::groups] = part
        return matrix

    def _delays(self, load_ratio: FloatArray) -> FloatArray:
        return routing.delay_s(
            load_ratio, bandwidth_bps=self.rate_bps, latency_s=self.latency_s,
            queue=self.settings.queue,
        )  # fmt: skip

    def _years(self, load: FloatArray, arcs: routing.Ints | None = None) -> FloatArray:
        """Return when arcs are full, from the loads of their groups."""
        arcs = np.arange(self.arcs.count) if arcs is None else arcs
        capacity = self.settings.full_at_ratio * self.rate_bps[arcs]
        own = [n for n, arc in enumerate(arcs.tolist()) if arc in self._own_growth]
        own_growth = medians([self._own_growth[arcs[n]] for n in own])
        return _years_to_full(load, self._growth, capacity, own, own_growth)


def _years_to_full(
    load: FloatArray, growth: FloatArray, capacity: FloatArray, own: list[int],
    own_growth: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return when loads of groups reach capacities; some arcs have growths of their own instead."""
    years = routing.years_to_reach(load, growth_ratio=growth, capacity_bps=capacity)
    if own:
        years[own] = routing.years_to_reach(
            load[own].sum(axis=-1)[..., None],
            growth_ratio=own_growth[..., None],
            capacity_bps=capacity[own],
        )
    return years


class _Drawing:
    """The same plan for draws of all ranges, block after block of the draws."""

    def __init__(self, plan: NetworkPlan) -> None:
        self._plan = plan
        settings, network = plan.settings, plan.network
        draws = HypercubeDraws(settings.draws, seed=settings.seed)
        self._demand = draws.draw_all([demand.rate_bps for demand in network.demands], least=0.0)
        # Both directions of a link that are one fact are drawn once.
        directions = [direction for *_, direction in plan._directions]
        once = {id(direction): direction for direction in directions}
        place = {key: number for number, key in enumerate(once)}
        index = [place[id(direction)] for direction in directions]
        tiny = np.finfo(float).tiny
        rates = [direction.rate_bps for direction in once.values()]
        self._rate = draws.draw_all(rates, least=tiny)[index]
        latencies = [direction.latency_s for direction in once.values()]
        self._latency = draws.draw_all(latencies, least=0.0)[index]
        self._growth = draws.draw_all(plan._groups, least=-1.0 + 1e-12)
        own = [draws.draw(growth) for growth in plan._own_growth.values()]
        self._own_growth: FloatArray = np.array(own).reshape(len(own), settings.draws)
        shape = (plan.arcs.count, settings.draws, len(plan._groups))
        self._load, self._failed = np.empty(shape), np.empty(shape)
        # The highest load over rate of each arc and draw with any of the failures that are tried;
        # of each draw what the worst of them cuts off and loads, and which it is.
        self._most = np.zeros(shape[:2])
        self._most_cut, self._highest = np.zeros(settings.draws), np.zeros(settings.draws)
        self._worst: routing.Ints = np.full(settings.draws, NO_FAILURE)
        self._named = plan.worst_first[0].case if plan.failures else NO_FAILURE
        others = [result.case for result in plan.worst_first[:FAILURES_DRAWN]]
        self._compared = sorted({*others, *plan.failed_by.tolist()} - {NO_FAILURE})

    def run(self) -> Iterator[tuple[int, int]]:
        """Route the draws, with each failure that is the worst for an arc, too."""
        plan = self._plan
        by = plan.failed_by
        compared = self._compared
        groups = len(plan._groups)
        blocks = list(routing.column_blocks(plan.routes, self._demand.shape[1], each=groups))
        total, done = len(blocks) * (len(compared) + 1), 0
        for block in blocks:
            matrix = plan._matrix(self._demand[:, block])
            traffic, load = routing.carry(plan.routes, matrix)
            shaped = load.reshape(plan.arcs.count, -1, groups)
            self._load[:, block], self._failed[:, block] = shaped, shaped
            failing = routing.Failures(plan.routes, demand=matrix, traffic=traffic)
            done += 1
            yield done, total
            rate = self._rate[:, block]
            base = shaped.sum(axis=2) / rate
            for case in compared:
                failed = plan.cases[case]
                change = failing.fail(failed.arcs)
                moved = change.load.reshape(shaped.shape)
                arcs = np.flatnonzero(by == case)
                self._failed[arcs, block] = np.maximum(shaped[arcs] + moved[arcs], 0.0)
                cut = plan._cut_off(change) & ~plan._own(failed)
                ratio = base + moved.sum(axis=2) / rate
                ratio[failed.arcs] = 0.0
                self._compare(case, self._demand[cut, block].sum(axis=0), ratio, block)
                done += 1
                yield done, total

    def _compare(self, case: int, cut: FloatArray, ratio: FloatArray, block: slice) -> None:
        """Keep the highest load of each arc and draw, and the worst failure of each draw."""
        self._most[:, block] = np.maximum(self._most[:, block], ratio)
        highest = ratio.max(axis=0)
        # Of two that differ by rounding only, the worst of the medians counts.
        margin = 1.0 - _ROUNDING if case == self._named else 1.0 + _ROUNDING
        most = self._most_cut[block]
        same = np.abs(cut - most) <= _ROUNDING * most
        worse = np.where(same, highest > self._highest[block] * margin, cut > most)
        most[worse] = cut[worse]
        self._highest[block][worse] = highest[worse]
        self._worst[block][worse] = case

    def ranges(self) -> Ranges:
        """Return the draws of all answers."""
        plan = self._plan
        load, failed = self._load.sum(axis=2), self._failed.sum(axis=2)
        ratio = load / self._rate
        delay = routing.delay_s(
            ratio, bandwidth_bps=self._rate, latency_s=self._latency, queue=plan.settings.queue
        )
        return Ranges(
            load_bps=load,
            load_ratio=ratio,
            delay_s=delay,
            years=self._years(self._load),
            failed_load_bps=failed,
            failed_load_ratio=failed / self._rate,
            failed_years=self._years(self._failed),
            path_delay_s=self._path_delays(delay),
            named_share=self._named_shares(failed / self._rate),
            worst_share=float(np.mean(self._worst == self._named)) if plan.failures else np.nan,
            compared=len(self._compared),
        )

    def _named_shares(self, failed_ratio: FloatArray) -> FloatArray:
        """Return in which share of the draws the failure named for an arc is its worst."""
        named = failed_ratio >= self._most * (1.0 - _ROUNDING)
        share = np.mean(named, axis=1)
        return np.where(self._plan.failed_by == NO_FAILURE, np.nan, share)

    def _years(self, load: FloatArray) -> FloatArray:
        capacity = self._plan.settings.full_at_ratio * self._rate
        own = list(self._plan._own_growth)
        return _years_to_full(load, self._growth.T, capacity, own, self._own_growth)

    def _path_delays(self, delay: FloatArray) -> FloatArray:
        plan = self._plan
        shown = plan.slowest
        rows, row_of = np.unique(plan._row[shown], return_inverse=True)
        routes = plan.routes.select(rows)
        delays = [
            routing.mean_over_paths(routes, draw)[row_of, plan._source[shown]] for draw in delay.T
        ]
        return np.array(delays).T


def plan(network: Network, *, settings: Settings | None = None) -> NetworkPlan:
    """Plan a network: load and delay of each link, single failures, and dates.

    Parameters
    ----------
    network : Network
        As :func:`netcalc.planning.network.read` or ``from_graph`` return it.
    settings : Settings, optional
        Costs, growth, queue; by default OSPF's costs, no growth, from today.

    Returns
    -------
    NetworkPlan
        With all single failures, and draws of what is a range.

    Examples
    --------
    Two paths of equal cost from a to d carry half each; if one fails, the other carries all:

    >>> from netcalc.planning.network import read
    >>> network = read(
    ...     "from,to,rate,latency\\na,b,1 Gbit/s,1 ms\\nb,d,1 Gbit/s,1 ms\\n"
    ...     "a,c,1 Gbit/s,1 ms\\nc,d,1 Gbit/s,1 ms\\n",
    ...     demands="from,to,rate\\na,d,600 Mbit/s\\n",
    ... )
    >>> found = plan(network)
    >>> found.load_ratio[:4].tolist(), found.failed_load_ratio[:4].tolist()
    ([0.3, 0.3, 0.3, 0.3], [0.6, 0.6, 0.6, 0.6])
    """
    planned = NetworkPlan(network, settings=settings or Settings(start=date.today()))
    for _ in planned.scan():
        pass
    if planned.varies:
        for _ in planned.find_ranges():
            pass
    return planned


def _directions(network: Network) -> list[tuple[int, str, str, Direction]]:
    """Return all directions: number of the link, nodes, facts."""
    there = [(n, link.start, link.end, link.there) for n, link in enumerate(network.links)]
    back = [
        (n, link.end, link.start, link.back)
        for n, link in enumerate(network.links)
        if link.back is not None
    ]
    return there + back
