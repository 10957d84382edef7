"""The answers of a planned network: rows of links, failures and demands, and a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.messages import Notice
from netcalc.planning.network.plan import NO_FAILURE, FailureResult, NetworkPlan
from netcalc.planning.network.routing import KINDS, QUEUES, Ints
from netcalc.planning.page import date_after
from netcalc.rate_layers import LINE

HOURS_A_YEAR = 8766.0
"""Of a Julian year. [hour]"""
PERCENTS = {"p5": 0.05, "median": 0.5, "p95": 0.95}
_COSTS = {
    "given": "network-costs-given",
    "ospf": "network-costs-ospf",
    "hops": "network-costs-hops",
    "latency": "network-costs-latency",
}
MOST_CUTS = 5
"""Links whose failure cuts demands off that are named in a sentence. [1]"""

Row = dict[str, Any]


RATES = ("rate_bps", "load_bps", "failure_load_bps", "cut_bps", "own_bps")
"""Rates of the rows: all are at the layer of the rates of the links. [bit/s]"""


def order(plan: NetworkPlan) -> Ints:
    """Return the arcs, the one with the highest load after its worst failure first."""
    return np.lexsort((-plan.load_ratio, -plan.failed_load_ratio))


def arc_rows(plan: NetworkPlan) -> list[Row]:
    """Return a row for each direction of each link, the most loaded first.

    Loads are in bit/s at the layer of the rates, dates are ISO, None where there is none. Where
    numbers are ranges, ``ranges`` has percentiles of the draws by the names of the answers.
    """
    return [_arc_row(plan, arc) for arc in order(plan).tolist()]


def _arc_row(plan: NetworkPlan, arc: int) -> Row:
    start, end = plan.ends(arc)
    number = int(plan.parallel[arc])
    row: Row = {
        "link": plan.network.links[int(plan.link_of[arc])].name,
        "from": start,
        "to": end,
        "parallel": number or None,
        "rate_bps": float(plan.rate_bps[arc]),
        "load_bps": float(plan.load_bps[arc]),
        "load_ratio": float(plan.load_ratio[arc]),
        "delay_s": float(plan.delay_s[arc]),
        "full_on": _date(plan, plan.years[arc]),
        "failure": _name_failure(plan, int(plan.failed_by[arc])),
        "failure_load_bps": float(plan.failed_load_bps[arc]),
        "failure_load_ratio": float(plan.failed_load_ratio[arc]),
        "failure_full_on": _date(plan, plan.failed_years[arc]),
        "failure_sooner": _name_failure(plan, int(plan.failed_sooner_by[arc])),
    }
    drawn = plan.ranges
    if drawn is not None:
        row["ranges"] = {
            "load_bps": _percentiles(drawn.load_bps[arc]),
            "load_ratio": _percentiles(drawn.load_ratio[arc]),
            "delay_s": _percentiles(drawn.delay_s[arc]),
            "full_on": _dates(plan, drawn.years[arc]),
            "failure_load_bps": _percentiles(drawn.failed_load_bps[arc]),
            "failure_load_ratio": _percentiles(drawn.failed_load_ratio[arc]),
            "failure_full_on": _dates(plan, drawn.failed_years[arc]),
        }
        row["failure_worst_ratio"] = _known(drawn.named_share[arc])
    return row


def failure_rows(plan: NetworkPlan) -> list[Row]:
    """Return a row for each failure that was scanned, the worst first."""
    return [_failure_row(plan, result) for result in plan.worst_first]


def _failure_row(plan: NetworkPlan, result: FailureResult) -> Row:
    start, end = shown_ends(plan, result.arc)
    case = plan.cases[result.case]
    available = plan.network.links[case.number].availability_ratio if case.kind == "link" else None
    hours = None if available is None else (1.0 - available) * HOURS_A_YEAR
    return {
        "kind": case.kind,
        "name": case.name,
        "failed": case.shown,
        "from": start,
        "to": end,
        "load_ratio": result.load_ratio,
        "overloaded": result.overloaded,
        "cut_demands": result.cut_demands,
        "cut_bps": result.cut_bps,
        "own_demands": result.own_demands,
        "own_bps": result.own_bps,
        "hours_a_year": hours,
    }


def demand_rows(plan: NetworkPlan) -> list[Row]:
    """Return the demands with the longest delays, the slowest first."""
    rows = []
    for number, index in enumerate(plan.slowest.tolist()):
        demand = plan.network.demands[index]
        row: Row = {
            "from": demand.source,
            "to": demand.target,
            "rate_bps": float(plan.demand_bps[index]),
            "delay_s": float(plan.path_delay_s[index]),
        }
        if plan.ranges is not None:
            row["ranges"] = {"delay_s": _percentiles(plan.ranges.path_delay_s[number])}
        rows.append(row)
    return rows


def sentences(plan: NetworkPlan) -> list[Notice]:
    """Return the answers in sentences: the load now, the worst failure, dates, delay."""
    network, settings = plan.network, plan.settings
    notices = [
        Notice(
            "network-size",
            {
                "nodes": len(network.nodes),
                "links": len(network.links),
                "demands": len(network.demands),
                "rate_bps": float(plan.demand_bps.sum()),
            },
        ),
        Notice("network-busiest", _at(plan, int(plan.load_ratio.argmax()), plan.load_ratio)),
    ]
    if plan.failures:
        worst, heaviest = plan.worst_first[0], plan.heaviest
        cut = [result for result in plan.worst_first if result.cut_bps]
        loaded = _at(plan, heaviest.arc, plan.load_ratio)
        loaded |= {"ratio": heaviest.load_ratio, "failed": _name_failure(plan, heaviest.case)}
        if cut:
            notices.append(Notice("network-worst-cut", _cut(plan, worst)))
        elif heaviest.load_ratio:
            notices.append(Notice("network-worst-failure", loaded))
        says_worst = bool(cut) or heaviest.load_ratio > 0.0
        if says_worst and plan.ranges is not None and plan.ranges.compared > 1:
            drawn = {"share": plan.ranges.worst_share, "count": plan.ranges.compared}
            notices.append(Notice("network-worst-share", drawn))
        notices += [Notice("network-cut", _cut(plan, result)) for result in cut[1:MOST_CUTS]]
        if len(cut) > MOST_CUTS:
            notices.append(Notice("network-cuts-more", {"count": len(cut) - MOST_CUTS}))
        if cut and heaviest.load_ratio:
            notices.append(Notice("network-heaviest", loaded))
        tried = Counter(plan.cases[result.case].kind for result in plan.failures)
        notices.append(Notice("network-tried", {f"{kind}s": tried[kind] for kind in KINDS}))
    notices += _full(plan)
    slowest = network.demands[int(plan.slowest[0])]
    delay_s = float(plan.path_delay_s.max())
    values = {"start": slowest.source, "end": slowest.target, "delay_s": delay_s}
    name, model = QUEUES[settings.queue]
    return [
        *notices,
        Notice("network-slowest" if np.isfinite(delay_s) else "network-slowest-endless", values),
        Notice(_COSTS[settings.costs], {"reference_bps": _reference(plan)}),
        Notice("network-queue", {"queue": name, "model": model}),
        *((Notice("network-drawn", {"draws": settings.draws}),) if plan.ranges else ()),
    ]


def _reference(plan: NetworkPlan) -> float:
    return plan.settings.reference_bps or float(plan.rate_bps.max())


def _full(plan: NetworkPlan) -> list[Notice]:
    """Return when the first link is full, without a failure and with one."""
    notices = [_full_first(plan, plan.years, _WITHOUT)]
    if plan.failures and plan.failed_years.min() < plan.years.min():
        notices.append(_full_first(plan, plan.failed_years, _WITH))
    return notices


_WITHOUT = ("network-full", "network-full-now", "network-full-never")
_WITH = ("network-full-failed", "network-full-failed-now", "network-full-never")


def _full_first(plan: NetworkPlan, years: FloatArray, codes: tuple[str, str, str]) -> Notice:
    """Return a sentence of the arc that is full first: on a date, already, or never."""
    later, now, never = codes
    arc = int(years.argmin())
    by = int(plan.failed_sooner_by[arc])
    if years[arc] <= 0.0:  # of several that are full already, the one that is loaded most
        heaviest = plan.heaviest if codes is _WITH else None
        arc = int(plan.load_ratio.argmax()) if heaviest is None else heaviest.arc
        by = NO_FAILURE if heaviest is None else heaviest.case
    on = _date(plan, years[arc])
    if on is None:
        return Notice(never, {})
    values = _at(plan, arc, plan.load_ratio) | {"date": on, "failed": _name_failure(plan, by)}
    return Notice(now if years[arc] <= 0.0 else later, values)


def _cut(plan: NetworkPlan, result: FailureResult) -> Row:
    failed = _name_failure(plan, result.case)
    return {"failed": failed, "count": result.cut_demands, "rate_bps": result.cut_bps}


def _at(plan: NetworkPlan, arc: int, ratio: FloatArray) -> Row:
    start, end = shown_ends(plan, arc)
    return {"start": start, "end": end, "ratio": float(ratio[arc]),
            "rate_bps": float(plan.rate_bps[arc])}  # fmt: skip


def as_dict(plan: NetworkPlan, *, notices: Sequence[Notice] = ()) -> Row:
    """Return the plan as JSON has it; the keys stay the same from version to version."""
    settings = plan.settings
    return {
        "plan": "network",
        "sentences": [notice.stored() for notice in sentences(plan)],
        "nodes": len(plan.network.nodes),
        "links": len(plan.network.links),
        "demands": len(plan.network.demands),
        "demand_bps": float(plan.demand_bps.sum()),
        "layer": LINE,
        "layers": dict.fromkeys(RATES, LINE),
        "from": settings.start.isoformat(),
        "costs": settings.costs,
        "fail": settings.fail,
        "full_at_ratio": settings.full_at_ratio,
        "queue": settings.queue,
        "draws": settings.draws if plan.ranges else None,
        "seed": settings.seed if plan.ranges else None,
        "scanned": len(plan.failures),
        "worst_failure_ratio": _known(plan.ranges.worst_share) if plan.ranges else None,
        "arcs": arc_rows(plan),
        "failures": failure_rows(plan),
        "slowest": demand_rows(plan),
        "notices": [notice.stored() for notice in (*plan.network.notices, *notices)],
    }


def flat_rows(plan: NetworkPlan) -> list[Row]:
    """Return the rows of the links for a CSV: percentiles as columns of their own."""
    rows = []
    for row in arc_rows(plan):
        ranges: Mapping[str, Mapping[str, Any]] = row.pop("ranges", {})
        for name, percentiles in ranges.items():
            row |= {f"{name}_{percent}": value for percent, value in percentiles.items()}
        rows.append(row)
    return rows


def shown_ends(plan: NetworkPlan, arc: int) -> tuple[str, str]:
    """Return the names of the nodes of an arc; of parallel links also the name of the link."""
    start, end = plan.ends(arc)
    name = plan.network.links[int(plan.link_of[arc])].name
    return start, f"{end} ({name})" if plan.parallel[arc] else end


def _name_failure(plan: NetworkPlan, case: int) -> str | None:
    return None if case == NO_FAILURE else plan.cases[case].shown


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _date(plan: NetworkPlan, years: float) -> str | None:
    day = date_after(plan.settings.start, float(years))
    return None if day is None else day.isoformat()


def _percentiles(draws: FloatArray) -> dict[str, float]:
    # The higher of two draws: between a number and inf there is nothing.
    values = np.quantile(draws, list(PERCENTS.values()), method="higher")
    return dict(zip(PERCENTS, values.tolist(), strict=True))


def _dates(plan: NetworkPlan, years: FloatArray) -> dict[str, str | None]:
    return {name: _date(plan, value) for name, value in _percentiles(years).items()}
