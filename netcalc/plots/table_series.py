"""Figures of tables of tools: sockets over time, one-way delays, transactions, runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain import Known
from netcalc.plots.curves import curves
from netcalc.plots.plot import Plot, together
from netcalc.plots.style import Axis, Theme
from netcalc.rate_layers import LINE, UNKNOWN, named
from netcalc.readers.places import layers_of_columns
from netcalc.samples import Samples, Table
from netcalc.units import show

MOST_GROUPS = 6
"""Sockets or directions of a figure: those with most rows. [1]"""
_RATES = {"least": "least_throughput_bps", "sum": "throughput_bps",
          "largest": "largest_throughput_bps"}  # fmt: skip
_DELAYS = {"least": "one_way_delay_min_s", "median": "one_way_delay_median_s",
           "largest": "one_way_delay_max_s"}  # fmt: skip

Points = dict[str, tuple[FloatArray, FloatArray]]


def has_series(samples: Samples) -> bool:
    """Whether :func:`table_series` has a figure for samples, with something in it."""
    return isinstance(samples, Table) and bool(_series(samples))


def table_series(table: Table, known: Known, *, theme: Theme = "light") -> Plot:
    """Draw a table of a tool: what it has of times, windows and rates, one figure for each.

    Parameters
    ----------
    table : Table
        Sockets of ss or tcp_info over time, delays of owping, transactions of netperf, runs of
        Netesto, or rates in the order of their rows.
    known : Known
        The round trip without load and the line, drawn where they are known.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        With a source for each group of rows and each quantity.
    """
    plots = []
    for axes, points in _series(table):
        x_axis, y_axis, title = axes
        lines = _known_lines(y_axis, known, title)
        ends = np.concatenate([x for x, _ in points.values()])
        plots.append(
            curves(
                [float(ends.min()), float(ends.max())],
                {name: [value, value] for name, value in lines.items()},
                points=points,
                x_axis=x_axis,
                y_axis=y_axis,
                title=title,
                description=_described(title, points, y_axis.unit),
                theme=theme,
            )
        )
    return together(*plots) if len(plots) > 1 else plots[0]


def _known_lines(y_axis: Axis, known: Known, title: str) -> dict[str, float]:
    """Return what is known beforehand of a quantity."""
    if y_axis.unit == "s" and known.rtt_s is not None and "One-way" not in title:
        return {f"{title}: one round trip without load": known.rtt_s}
    if y_axis.unit == "bit/s" and known.line_bps is not None:
        return {named("rate", LINE): known.line_bps}
    return {}


def _described(title: str, points: Points, unit: str) -> str:
    ranges = [
        f"{name}: {show(float(y.min()), unit)} to {show(float(y.max()), unit)}"
        for name, (_, y) in points.items()
    ]
    return f"{title}. {'; '.join(ranges)}."


Figures = list[tuple[tuple[Axis, Axis, str], Points]]


def _series(table: Table) -> Figures:
    """Return the figures of a table: axes and title, and the points; those without any left out."""
    columns = table.columns()
    if {"cwnd_packets", "rtt_s", "snapshot"} <= columns.keys():
        found = _sockets(columns)
    elif "one_way_delay_s" in columns:
        found = _packets(columns)
    elif set(_DELAYS.values()) <= columns.keys():
        found = _directions(columns)
    elif "transaction_rate" in columns:
        found = _transactions(columns)
    else:
        found = _runs(columns, table.meta.units, layers_of_columns(table))
    return [(axes, points) for axes, points in found if points]


def _by_group(columns: Mapping[str, NDArray[Any]], x: NDArray[Any], y: NDArray[Any], what: str
              ) -> Points:  # fmt: skip
    """Return the known points of the groups with most rows."""
    groups = columns.get("group", np.full(x.size, "", dtype=object)).astype(str)
    good = np.isfinite(x) & np.isfinite(y)
    names, counts = np.unique(groups[good], return_counts=True)
    largest = set(names[np.argsort(-counts, kind="stable")[:MOST_GROUPS]].tolist())
    shown = [name for name in dict.fromkeys(groups[good].tolist()) if name in largest]
    return {
        ", ".join(filter(None, (name, what))): (x[good & (groups == name)],
                                                y[good & (groups == name)])
        for name in shown
    }  # fmt: skip


def _sockets(columns: Mapping[str, NDArray[Any]]) -> Figures:
    """Return smoothed round trips and congestion windows of sockets over time."""
    time_s, axis = columns["snapshot"].astype(float), Axis("snapshot", "1", whole=True)
    stamps = columns.get("time_s", np.full(time_s.size, math.nan))
    if np.isfinite(stamps).all() and stamps.size:
        time_s, axis = stamps - stamps.min(), Axis("time", "s")
    window = columns["cwnd_packets"] * columns["mss_bytes"]
    rtt, window_axis = Axis("round-trip time", "s", low=0.0), Axis("window", "byte", low=0.0)
    return [
        ((axis, rtt, "Smoothed round trip of each socket"),
         _by_group(columns, time_s, columns["rtt_s"], "RTT")),
        ((axis, window_axis, "Congestion window of each socket"),
         _by_group(columns, time_s, window, "window")),
    ]  # fmt: skip


def _packets(columns: Mapping[str, NDArray[Any]]) -> Figures:
    axes = (Axis("packet", "1", whole=True), Axis("one-way delay", "s"), "One-way delay of packets")
    return [(axes, _by_group(columns, columns["sequence"], columns["one_way_delay_s"], "delay"))]


def _directions(columns: Mapping[str, NDArray[Any]]) -> Figures:
    """Return the summaries of each direction, side by side."""
    number = np.arange(1.0, 1 + columns["group"].size)
    points = {name: (number, columns[one]) for name, one in _DELAYS.items()}
    axis = Axis("direction, in the order of the file", "1", whole=True)
    title = "One-way delay of each direction"
    return [((axis, Axis("one-way delay", "s"), title), _known(points))]


def _transactions(columns: Mapping[str, NDArray[Any]]) -> Figures:
    """Return the time of a transaction, the inverse of their rate, of each test."""
    rate = columns["transaction_rate"].astype(float)
    number = np.arange(1.0, 1 + rate.size)
    time_s = np.divide(1.0, rate, out=np.full(rate.size, math.nan), where=rate > 0)
    axes = (Axis("test", "1", whole=True), Axis("time of a transaction", "s", low=0.0),
            "Mean time of a transaction, one at a time")  # fmt: skip
    return [(axes, _known({"mean time": (number, time_s)}))]


def _runs(
    columns: Mapping[str, NDArray[Any]], units: Mapping[str, str], layers: Mapping[str, str]
) -> Figures:
    """Return rates in the order of their rows; of Netesto the round trips and responses too."""
    rates = {name: one for name, one in _RATES.items() if one in columns}
    if set(rates) <= {"sum"}:
        rates = {name: name for name, unit in units.items() if unit == "bit/s" and name in columns}
    if not rates:
        return []
    number = np.arange(1.0, 1 + columns[next(iter(rates.values()))].size)
    axis = Axis("row", "1", whole=True)
    counted = {layers.get(one, UNKNOWN) for one in rates.values()}
    layer = counted.pop() if len(counted) == 1 else UNKNOWN
    found: Figures = [
        ((axis, Axis(named("rate", layer), "bit/s", low=0.0), "Rates in the order of the file"),
         _known({name: (number, columns[one]) for name, one in rates.items()})),
    ]  # fmt: skip
    times = {"smoothed RTT": "rtt_s", "ping": "ping_rtt_s", "median response": "response_p50_s",
             "99 % of responses": "response_p99_s"}  # fmt: skip
    if "ping_rtt_s" in columns or "response_p50_s" in columns:
        points = {name: (number, columns[one]) for name, one in times.items() if one in columns}
        axes = (axis, Axis("time", "s", low=0.0), "Times in the order of the file")
        found.append((axes, _known(points)))
    return found


def _known(points: Points) -> Points:
    """Return the points that are known; a set without any is left out."""
    found = {}
    for name, (x, y) in points.items():
        good = np.isfinite(np.asarray(y, dtype=float))
        if good.any():
            found[name] = (x[good], np.asarray(y, dtype=float)[good])
    return found
