"""Links: the rate to buy for many users, when it is full, and the fullest of parallel links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcalc import checks
from netcalc.errors import DomainError
from netcalc.messages import Notice
from netcalc.models.users.growth import YEAR_S, exhaustion_s, grown_traffic_bps
from netcalc.models.users.multiplexing import overload_ratio, shared_bandwidth_bps
from netcalc.planning import page
from netcalc.rate_layers import LINE
from netcalc.units import show_rate

SIZES_BPS = (
    10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9, 800e9,
)  # fmt: skip
"""Rates of Ethernet, of which the next one is bought. IEEE 802.3. [bit/s]"""
SOURCES = (
    "Kurose and Ross, Computer Networking, 1.3 (users of a shared link, binomial)",
    "IEEE 802.3 (rates of Ethernet)",
)
_MAIN = "end_needed_bps"
_LOOKED_AHEAD = ("result", "elapsed_s")
"""Times of growth whose range the plan judges itself."""
_POINTS = 121
_TABLE = {
    "link_bps": "line", "fills_s": "", "demand_bps": "line", "end_needed_bps": "line",
    "mean_demand_bps": "line", "overload_ratio": "", "busy_utilization": "",
    "busy_failed_utilization": "", "oversubscription": "",
}  # fmt: skip


@page.one_page
def link(
    user_count: Any,
    *,
    user_bps: Any,
    active_ratio: Any = 1.0,
    quantile: float = 0.95,
    annual_growth: Any = 0.0,
    horizon_s: float = 3.0 * YEAR_S,
    target_utilization: Any = 0.8,
    link_count: int = 1,
    failed_count: int = 0,
    bandwidth_bps: Any = None,
    start: date | None = None,
    as_map: bool = False,
    draws: int = 0,
    seed: int = 0,
    truncate: bool = False,
) -> page.Plan:
    """Plan the rate of a link, or of each link of a group, for many users that grow.

    Parameters
    ----------
    user_count : float or range
        Users that share the link. [1]
    user_bps : float or range
        Rate of an active user, with all headers. [bit/s]
    active_ratio : float or range
        Share of the time that a user sends. [ratio]
    quantile : float
        Share of the time for which the rate must be enough. [ratio]
    annual_growth : float or range
        Growth of the traffic a year, as a share. [ratio]
    horizon_s : float
        Time for which the rate must be enough, up to 100 years. [s]
    target_utilization : float or range
        Utilization at which a link counts as full. [ratio]
    link_count : int
        Links that share the load equally. [1]
    failed_count : int
        Links that may fail without overload: 1 for N-1. [1]
    bandwidth_bps : float or range, optional
        Rate of each link; by default the next rate of Ethernet. [bit/s]
    start : datetime.date, optional
        Day on which the users are counted; with it the answer has a date.
    as_map : bool
        Whether the chart is a :class:`~netcalc.planning.BindingMap` over users and rate, coloured
        by what such links would be: enough, full within the horizon, full after a failure, full
        now.
    draws, seed : int
        Of the ranges, as in :func:`netcalc.uncertain.spread`; 0 draws for its own number.
    truncate : bool
        Whether impossible values are left out of the ranges, with a note, instead of an error.

    Returns
    -------
    Plan
        Answers ``link_bps`` (of each link; with ranges enough for 95 % of the draws), ``fills_s``
        (until the demand of the busy time reaches the target, with ``failed_count`` links gone),
        ``demand_bps`` (at the quantile, now), ``end_needed_bps`` (of each link, at the horizon),
        ``mean_demand_bps``, ``overload_ratio`` (share of the time now above the rate of all links),
        ``busy_utilization``, ``oversubscription``; with a failure ``busy_failed_utilization``; with
        a ``start`` ``fill_date``, and with ranges ``early_fill_date``, its 5th percentile.

    Raises
    ------
    DomainError
        If a number is impossible.

    Examples
    --------
    35 users of 100 kbit/s, active a tenth of the time, on 1 Mbit/s (Kurose and Ross, 1.3):

    >>> plan = link(35, user_bps=1e5, active_ratio=0.1, bandwidth_bps=1e6)
    >>> round(plan["overload_ratio"], 4)
    0.0004
    """
    count = int(checks.whole("link_count", link_count, low=1))
    failed = int(checks.whole("failed_count", failed_count))
    if failed >= count:
        raise DomainError("all-links-failed", "failed_count", failed, links=count)
    checks.between("quantile", quantile, 0.0, 1.0)
    horizon = float(checks.non_negative("horizon_s", horizon_s))
    if not horizon <= page.HORIZON_YEARS * YEAR_S:
        raise DomainError("beyond-forecast", "horizon_s", horizon_s, years=page.HORIZON_YEARS)
    settings = page.with_units(
        quantile=quantile, horizon_s=horizon, link_count=count, failed_count=failed
    )
    fixed: dict[str, Any] = {name: value for name, (value, _) in settings.items()}
    inputs = page.with_units(
        user_count=user_count,
        user_bps=user_bps,
        active_ratio=active_ratio,
        annual_growth=annual_growth,
        target_utilization=target_utilization,
        bandwidth_bps=bandwidth_bps,
    )
    once = partial(
        page.evaluate, partial(_answers, **fixed), table=_TABLE, main=_MAIN, judged=_LOOKED_AHEAD,
        draws=draws, seed=seed, truncate=truncate,
    )  # fmt: skip
    evaluated = once(inputs)
    needed = evaluated.answer(_MAIN)
    if bandwidth_bps is None and needed.spread is not None:  # one rate is bought, for p95 of all
        chosen = float(next_size_bps(needed.spread.percentile(95.0)))
        bought = once({**inputs, "bandwidth_bps": (chosen, "bit/s")})
        evaluated = replace(bought, inputs=evaluated.inputs)
    columns, middle, stated = evaluated.columns, evaluated.middle, evaluated.typical
    fills = evaluated.answer("fills_s")
    answers = [*evaluated.answers[:2], *_dates(start, fills), *evaluated.answers[2:]]
    values = {
        "links": count,
        "rate_bps": stated["link_bps"],
        "demand_bps": stated["demand_bps"],
        "percent": 100.0 * quantile,
        "fills": _when(stated["fills_s"], start),
    }
    enough = bandwidth_bps is None or stated["fills_s"] >= horizon
    target = page.quantity(middle["target_utilization"], "ratio")
    notices = [*evaluated.notices, *_forecast_doubts(middle["annual_growth"], horizon, fills)]
    if bandwidth_bps is None and stated["link_bps"] > SIZES_BPS[-1]:
        several = round(stated["link_bps"] / SIZES_BPS[-1])
        largest = {"rate_bps": SIZES_BPS[-1], "count": several}
        notices.append(Notice("link-beyond-ethernet", largest))
    return evaluated.page(
        "link",
        Notice("plan-link" if enough else "plan-link-short", values),
        main=_MAIN,
        settings=settings,
        answers=tuple(answers),
        steps=_steps(middle, fixed, columns),
        assumptions=(
            Notice("assumes-link-users", {}),
            Notice("assumes-link-growth", {}),
            Notice("assumes-link-full", {"target": target, "time": page.quantity(horizon, "s")}),
        ),
        notices=tuple(notices),
        chart=(_map if as_map else _chart)(middle, fixed, columns),
        sources=SOURCES,
    )


def next_size_bps(rate_bps: ArrayLike) -> checks.FloatArray:
    """Return the smallest rate of :data:`SIZES_BPS` that is enough; above, multiples of the last.

    Examples
    --------
    >>> next_size_bps([1e9, 1.1e9, 900e9]).tolist()
    [1000000000.0, 2500000000.0, 1600000000000.0]
    """
    needed, sizes = checks.non_negative("rate_bps", rate_bps), np.array(SIZES_BPS)
    index = np.minimum(np.searchsorted(sizes, needed), sizes.size - 1)
    several = checks.rounded_up(needed / sizes[-1]) * sizes[-1]
    return np.where(needed > sizes[-1], several, sizes[index])


def _answers(
    *,
    user_count: ArrayLike,
    user_bps: ArrayLike,
    active_ratio: ArrayLike,
    annual_growth: ArrayLike,
    target_utilization: ArrayLike,
    bandwidth_bps: ArrayLike | None = None,
    quantile: float,
    horizon_s: float,
    link_count: int,
    failed_count: int,
) -> dict[str, checks.FloatArray]:
    users = checks.whole("user_count", user_count, low=1)
    each = checks.positive("user_bps", user_bps)
    growth = checks.at_least("annual_growth", annual_growth, -1.0)
    target = checks.positive(
        "target_utilization", checks.ratio("target_utilization", target_utilization)
    )
    demand = shared_bandwidth_bps(
        users, active_ratio=active_ratio, user_bps=each, quantile=quantile
    )
    left = link_count - failed_count
    at_end = grown_traffic_bps(demand, annual_growth=growth, elapsed_s=horizon_s)
    needed = np.maximum(at_end, demand) / (target * left)
    rate = next_size_bps(needed) if bandwidth_bps is None else checks.positive(
        "bandwidth_bps", bandwidth_bps
    )  # fmt: skip
    carried = checks.rounded_down(link_count * rate / each)
    columns = {
        "link_bps": rate,
        "fills_s": exhaustion_s(
            demand,
            capacity_bps=left * rate,
            annual_growth=growth,
            target_utilization=target,
        ),
        "demand_bps": demand,
        "end_needed_bps": needed,
        "mean_demand_bps": users * each * np.asarray(active_ratio),
        "overload_ratio": overload_ratio(
            np.minimum(carried, users), user_count=users, active_ratio=active_ratio
        ),
        "busy_utilization": demand / (link_count * rate),
        "oversubscription": users * each / (link_count * rate),
    }
    if failed_count:
        columns["busy_failed_utilization"] = demand / (left * rate)
    return columns


def _steps(
    middle: Mapping[str, float], fixed: Mapping[str, Any], columns: Mapping[str, float]
) -> tuple[page.Step, ...]:
    """Return what would make the links last longer."""
    if not np.isfinite(columns["fills_s"]):
        return ()
    larger = float(next_size_bps(np.nextafter(columns["link_bps"], np.inf)))
    larger = max(larger, float(next_size_bps(columns["end_needed_bps"])))
    more = fixed["link_count"] + 1
    as_bought = {"bandwidth_bps": columns["link_bps"]}
    changes: list[tuple[Notice, dict[str, Any]]] = [
        (Notice("step-link-size", {"rate": show_rate(larger, LINE)}), {"bandwidth_bps": larger}),
        (Notice("step-link-more", {"links": more}), {**as_bought, "link_count": more}),
    ]
    if middle["annual_growth"] > 0.0:
        half = middle["annual_growth"] / 2.0
        slower = {**as_bought, "annual_growth": half}
        changes.append((Notice("step-link-growth", {"growth": half}), slower))
    steps = []
    for change, new in changes:
        shape: Any = {**middle, **fixed, **new}
        lasts = float(_answers(**shape)["fills_s"])
        if lasts > columns["fills_s"]:
            steps.append(page.Step(change=change, name="fills_s", value=lasts))
    return tuple(steps)


def _forecast_doubts(growth: float, horizon_s: float, fills: page.Answer) -> list[Notice]:
    """Return what makes the answers doubtful: a growth that is extended for long."""
    fills_s = fills.typical if fills.spread is None else fills.spread.percentile(95.0)
    times = {"link-planned-for": horizon_s, "link-full-in": fills_s}
    longest = max(times, key=lambda code: times[code] if np.isfinite(times[code]) else 0.0)
    if growth == 0.0 or not page.FORECAST_YEARS * YEAR_S < times[longest] < np.inf:
        return []
    what = str(Notice(longest, {"time": page.quantity(times[longest], "s")}))
    return [Notice("link-no-forecast", {"what": what, "years": page.FORECAST_YEARS})]


def _when(fills_s: float, start: date | None) -> str:
    """Return when a link is full, in words of a page."""
    if fills_s <= 0.0:
        return str(Notice("link-full-now", {}))
    if not np.isfinite(fills_s):
        return str(Notice("link-full-never", {}))
    time, on = page.quantity(fills_s, "s"), _day(start, fills_s)
    code = "link-full-in" if on is None else "link-full-on"
    return str(Notice(code, {"time": time, "date": on}))


def _dates(start: date | None, fills: page.Answer) -> list[page.Answer]:
    """Return the day on which links are full, and with ranges an early one."""
    if start is None:
        return []
    dates = [_date_answer("fill_date", start, fills.typical)]
    if fills.spread is not None:
        dates.append(_date_answer("early_fill_date", start, fills.spread.percentile(5.0)))
    return dates


def _date_answer(name: str, start: date, fills_s: float) -> page.Answer:
    on = _day(start, fills_s)
    if on is None:
        on = str(Notice("link-date-never" if not np.isfinite(fills_s) else "link-date-far", {}))
    return page.Answer(name=name, value=on)


def _day(start: date | None, fills_s: float) -> str | None:
    """Return a day in ISO form; None without a start, and beyond the horizon."""
    day = None if start is None else page.date_after(start, fills_s / YEAR_S)
    return None if day is None else day.isoformat()


def _chart(
    middle: Mapping[str, float], fixed: Mapping[str, Any], columns: Mapping[str, float]
) -> page.Chart:
    lasts = columns["fills_s"] if np.isfinite(columns["fills_s"]) else 0.0
    end = 1.3 * max(fixed["horizon_s"], lasts, YEAR_S)
    at = np.linspace(0.0, end, 200)
    growth = middle["annual_growth"]
    demand = grown_traffic_bps(columns["demand_bps"], annual_growth=growth, elapsed_s=at)
    left = fixed["link_count"] - fixed["failed_count"]
    usable = left * columns["link_bps"] * middle["target_utilization"]
    marks = {"fills_s": (lasts / YEAR_S, usable)} if lasts > 0.0 else {}
    return page.Chart(
        x="elapsed_years", x_unit="year", y="demand_bps", y_unit="bit/s", at=at / YEAR_S,
        lines={"demand_bps": np.asarray(demand), "usable_bps": np.full(at.size, usable)},
        marks=marks,
    )  # fmt: skip


STATES = ("link_enough", "link_full_later", "link_full_after_failure", "link_full_now")
"""What links are for their users, the regions of the map."""


def _map(
    middle: Mapping[str, float], fixed: Mapping[str, Any], columns: Mapping[str, float]
) -> page.BindingMap:
    """Return what links of other rates would be for other numbers of users."""
    users, rate = middle["user_count"], columns["link_bps"]
    counts = np.unique(np.round(np.geomspace(max(users / 10.0, 1.0), users * 10.0, _POINTS)))
    rates = np.geomspace(rate / 10.0, rate * 10.0, _POINTS)
    grid = {**middle, **fixed}
    grid["user_count"], grid["bandwidth_bps"] = np.meshgrid(counts, rates)
    with_failure = _answers(**grid)
    whole_group = _answers(**{**grid, "failed_count": 0})
    index = np.select(
        [
            whole_group["fills_s"] <= 0.0,
            with_failure["fills_s"] <= 0.0,
            with_failure["fills_s"] < fixed["horizon_s"],
        ],
        [3, 2, 1],
        default=0,
    )
    own = float(next_size_bps(columns["end_needed_bps"]))
    step = (users, own) if columns["fills_s"] < fixed["horizon_s"] else (np.nan, np.nan)
    return page.BindingMap(
        x="user_count", x_unit="1", y="link_bps", y_unit="bit/s", x_at=counts, y_at=rates,
        limits=STATES, index=index.astype(np.int64), point=(users, rate), step=step,
    )  # fmt: skip


MAX_PLACEMENTS = 100_000_000
"""Most flows times draws."""
_BATCH = 1 << 20


class FullestLink(NamedTuple):
    """The load of the fullest link over all draws.

    Parameters
    ----------
    mean_bps : float
        Its mean. [bit/s]
    median_bps : float
        Its median. [bit/s]
    p95_bps : float
        Its 95th percentile. [bit/s]
    p99_bps : float
        Its 99th percentile. [bit/s]
    efficiency_ratio : float
        Share of the capacity of all links that is used when the fullest, of mean load, is full;
        nan without load. [ratio]
    """

    mean_bps: float
    median_bps: float
    p95_bps: float
    p99_bps: float
    efficiency_ratio: float


def draw_fullest_link_bps(
    demand_bps: ArrayLike, *, link_count: int, draws: int = 10_000, seed: int = 0
) -> checks.FloatArray:
    """Load of the fullest link, for each of many placements.

    Parameters
    ----------
    demand_bps : 1-D array_like
        Rate of each flow. [bit/s]
    link_count : int
        Links of equal rate. [1]
    draws : int
        Placements. [1]
    seed : int
        The same one gives the same placements. [1]

    Returns
    -------
    numpy.ndarray
        One load for each placement. [bit/s]

    Raises
    ------
    DomainError
        If flows times draws exceed 100 million.

    Examples
    --------
    >>> loads = draw_fullest_link_bps([1e9, 1e9], link_count=2, draws=1000)
    >>> sorted({float(load) for load in loads})
    [1000000000.0, 2000000000.0]
    """
    rates = checks.one_dimensional("demand_bps", checks.non_negative("demand_bps", demand_bps))
    links = int(checks.scalar("link_count", checks.whole("link_count", link_count, low=1)))
    count = int(checks.scalar("draws", checks.whole("draws", draws, low=1)))
    start = int(checks.scalar("seed", checks.whole("seed", seed)))
    if rates.size * count > MAX_PLACEMENTS:
        most = MAX_PLACEMENTS // rates.size
        raise DomainError("out-of-range", "draws", count, low=1, high=most)
    random = np.random.default_rng(start)
    fullest = np.empty(count)
    batch = max(1, _BATCH // max(rates.size, links))
    for first in range(0, count, batch):
        rows = min(batch, count - first)
        placed = random.integers(0, links, size=(rows, rates.size))
        index = placed + np.arange(rows)[:, None] * links
        weights = np.broadcast_to(rates, placed.shape).ravel()
        loads = np.bincount(index.ravel(), weights=weights, minlength=rows * links)
        fullest[first : first + rows] = loads.reshape(rows, links).max(axis=1)
    return fullest


def fullest_link(
    demand_bps: ArrayLike, *, link_count: int, draws: int = 10_000, seed: int = 0
) -> FullestLink:
    """Load of the fullest of several links that get flows of any rates by a hash.

    Parameters
    ----------
    demand_bps : 1-D array_like
        Rate of each flow. [bit/s]
    link_count : int
        Links of equal rate. [1]
    draws : int
        Placements. [1]
    seed : int
        The same one gives the same placements. [1]

    Returns
    -------
    FullestLink
        Mean, median, 95th and 99th percentile, and the share of the capacity that is used.

    Raises
    ------
    DomainError
        If flows times draws exceed 100 million.

    Examples
    --------
    400 flows of 1 Mbit/s on 4 links, with and without one of 100 Mbit/s:

    >>> small = [1e6] * 400
    >>> plain, mixed = (fullest_link(flows, link_count=4) for flows in (small, [*small, 1e8]))
    >>> round(plain.efficiency_ratio, 2), round(mixed.efficiency_ratio, 2)
    (0.91, 0.63)
    """
    rates = checks.one_dimensional("demand_bps", checks.non_negative("demand_bps", demand_bps))
    loads = draw_fullest_link_bps(rates, link_count=link_count, draws=draws, seed=seed)
    mean = float(loads.mean())
    median, p95, p99 = (float(load) for load in np.quantile(loads, (0.5, 0.95, 0.99)))
    even = float(rates.sum()) / int(link_count)
    return FullestLink(mean, median, p95, p99, even / mean if mean else float("nan"))
