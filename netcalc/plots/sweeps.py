"""The results of a batch against what it varied: lines are theory, marks live, dashes ns-3."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import FloatArray, choice, named_arguments
from netcalc.congestion import quantities
from netcalc.errors import DomainError
from netcalc.language import phrase, term
from netcalc.plots import plot, style
from netcalc.plots.courses import WAYS, add_way
from netcalc.rate_layers import IP, named
from netcalc.samples import Table
from netcalc.units import show

VARIED = {
    "buffer_bytes": ("buffer", "byte"),
    "streams": (term("long flows"), "1"),
    "loss_ratio": ("loss", "ratio"),
    "rtt_s": (term("round-trip time without load"), "s"),
    "rate_bps": (term("rate"), "bit/s"),
    "request_1_bytes": (term("size of a request"), "byte"),
}
"""What a figure has along its axis, the first that varies: column, name and unit."""
DRAWN = {
    "request_1_p99_s": (term("99th percentile"), "s"),
    "request_1_mean_s": (term("mean latency"), "s"),
    "utilization": ("utilization", "ratio"),
    "queue_mean_bytes": (term("mean queue"), "byte"),
    "resent_ratio": (term("sent again"), "ratio"),
    "jain_end": (term("Jain index"), "1"),
}
"""What is drawn over it: column, name and unit."""
WIDE_RATIO = 30.0
"""Ratio of the ends of an axis above which it is logarithmic: two ticks of it and more."""
_ON_PAPER = 200
_TITLES = {
    ("buffer_bytes", "request_1_p99_s"): term("99th percentile of the latency against the buffer"),
    ("streams", "request_1_mean_s"): term("Mean latency of requests against long flows"),
}


@dataclass(frozen=True, slots=True)
class _Group:
    """Results that differ in what is along the axis only, and how they look.

    What is ``alone`` is one point, which no line would show.
    """

    name: str
    way: str
    index: int
    alone: bool


ENDS = ", interval"
"""What the source of intervals has behind the name of its group."""

_Points = dict[_Group, dict[str, FloatArray]]


@named_arguments
def sweep(
    table: Table, *, x: str = "", parts: tuple[str, ...] = (), theme: style.Theme = "light"
) -> plot.Plot:
    """Draw the results of a batch against what it varied.

    Parameters
    ----------
    table : Table
        Results, as :func:`netcalc.congestion.grid.table` returns them.
    x : str
        A column of :data:`VARIED`; by default the first that varies.
    parts : tuple of str
        Columns of :data:`DRAWN`, one figure each; by default percentile and mean of the latency of
        requests, or utilization and mean queue where requests have at most one value of ``x``.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        With a source for each figure and group, such as ``request_1_p99_s, cubic, live``, and for
        what is estimated on paper: the round trip and a full buffer over buffers, the round trip
        and the size over an equal share over long flows. Repeats are marks of their own in
        live runs, with the intervals of percentiles, and their medians in lines; a single result of
        theory or ns-3 is a mark, too.

    Raises
    ------
    DomainError
        If nothing of :data:`VARIED` varies, a column is unknown, or there is no value to draw.
    """
    columns = table.columns()
    varied = [name for name in VARIED if name in columns and _several(columns[name])]
    if x:
        choice("x", x, tuple(VARIED))
    elif not varied:
        raise DomainError("nothing-varies", "table", len(table), choices=list(VARIED))
    x = x or varied[0]
    for part in parts:
        choice("parts", part, tuple(DRAWN))
    # Requests at one value alone, as in a matrix those without flows, would be no line.
    with_requests = np.isfinite(columns.get("request_1_mean_s", np.full(len(table), np.nan)))
    usual = ("request_1_p99_s", "request_1_mean_s") if _several(columns[x][with_requests]) else (
        "utilization", "queue_mean_bytes"
    )  # fmt: skip
    others = _others(columns, x, varied)
    plots = [
        _part(columns, x, part, others, theme)
        for part in parts or usual
        if part in columns and np.isfinite(columns[part]).any()
    ]
    if not plots:
        raise DomainError("batch-column-empty", "table", list(parts or usual))
    return plots[0] if len(plots) == 1 else plot.together(*plots)


def _several(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        return len(set(values)) > 1
    return np.unique(values[np.isfinite(values)]).size > 1


def _others(columns: dict[str, NDArray[Any]], x: str, varied: list[str]) -> list[str]:
    """Return what groups differ in besides the algorithms: the case of a matrix, if something
    varies within cases, otherwise what varies of the link and of single flows and loops."""
    if "case" in columns:
        cases = columns["case"]
        if any(_several(columns[x][cases == case]) for case in set(cases)):
            return ["case"]
    of_one = [name for name in columns if "[" in name and _several(columns[name])]
    named = [name for name in of_one if name.endswith(".algorithm")]
    distinct = set(zip(*(columns[name] for name in named), strict=True))
    if len(distinct) == len(set(columns["algorithm"])):  # which is shorter
        of_one = [name for name in of_one if name not in named]
    return [name for name in (*varied, *of_one) if name != x]


def _part(
    columns: dict[str, NDArray[Any]], x: str, part: str, others: list[str], theme: style.Theme
) -> plot.Plot:
    groups = _groups(columns, x, part, others)
    paper = _on_paper(columns, x, part)
    count = len(groups) + len(paper)
    sources = {
        f"{part}, {name}": style.new_source(
            f"{part}, {name}", dict(plot.ready(pair, source_count=count))
        )
        for name, pair in [
            *(
                (group.name, {"x": points["x"], "y": points["y"]})
                for group, points in groups.items()
            ),
            *(
                (f"{group.name}{ENDS}", _bars(**points))
                for group, points in groups.items()
                if "low" in points
            ),
            *((name, {"x": at, "y": y}) for name, (at, y) in paper.items()),
        ]
    }
    (x_name, x_unit), (y_name, y_unit) = _varied(x), DRAWN[part]
    places = np.concatenate([points["x"] for points in groups.values()])
    wide = places.min() > 0 and places.max() > WIDE_RATIO * places.min()
    x_axis = style.Axis(x_name, x_unit, "log" if wide else "linear", whole=x == "streams")
    y_axis = style.Axis(y_name, y_unit, low=0.0)
    both = phrase("{y_name} against {x_name}", y_name=y_name, x_name=x_name)
    title = _TITLES.get((x, part), both[:1].upper() + both[1:])
    words = [f"{group.name}: {_ends(points['y'], y_unit)}" for group, points in groups.items()]
    text = f"{title}. {'; '.join(words)}."
    if paper:
        text += phrase(" On paper: {join}.", join=", ".join(paper))
    names = (tuple(groups), tuple(paper))
    form = ("sweep", part, names, x_axis, y_axis, theme)
    draw = partial(_draw, sources, part, names, (x_axis, y_axis), title, theme)
    return plot.Plot(draw, sources, text, theme, form)


def _groups(columns: dict[str, NDArray[Any]], x: str, part: str, others: list[str]) -> _Points:
    """Return the results of each way, algorithm and other values, in the order of the table."""
    finite = np.isfinite(columns[part]) & np.isfinite(columns[x])
    names = [_name(columns, row, others) for row in range(finite.size)]
    colours = list(dict.fromkeys(name for name, seen in zip(names, finite, strict=True) if seen))
    points: _Points = {}
    for way in WAYS:
        for index, name in enumerate(colours):
            mine = finite & (columns["by"] == way) & (np.array(names) == name)
            if not mine.any():
                continue
            at, y = columns[x][mine], columns[part][mine]
            if way != "live":
                steps = np.unique(at)
                y = np.array([np.median(y[at == step]) for step in steps])
                at = steps
            found = points[_Group(f"{name}, {WAYS[way]}", way, index, at.size == 1)] = {
                "x": at, "y": y,
            }  # fmt: skip
            if way == "live" and f"{part[:-2]}_low_s" in columns:
                low, high = (columns[f"{part[:-2]}_{end}_s"][mine] for end in ("low", "high"))
                found |= {"low": low, "high": high}
    return points


def _bars(x: FloatArray, y: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, FloatArray]:
    """Return intervals as one line with gaps; one without a known end reaches to its value."""
    ends = [low, np.where(np.isnan(high), y, high), np.full(x.size, np.nan)]
    return {"x": np.repeat(x, 3), "y": np.stack(ends, axis=1).ravel()}


def _name(columns: dict[str, NDArray[Any]], row: int, others: list[str]) -> str:
    if others == ["case"]:
        return str(columns["case"][row])
    varied = [n for n in others if n not in VARIED or np.isfinite(columns[n][row])]
    return ", ".join([str(columns["algorithm"][row]), *(_other(columns, row, n) for n in varied)])


def _other(columns: dict[str, NDArray[Any]], row: int, name: str) -> str:
    value = columns[name][row]
    if name in VARIED:
        what, unit = _varied(name)
        return f"{what} {show(float(value), unit)}"
    return f"{name} {value}"


def _varied(name: str) -> tuple[str, str]:
    """Return the name and the unit of an axis; a rate with its layer, in the reader's language."""
    what, unit = VARIED[name]
    return (named(what, IP) if name == "rate_bps" else phrase(what)), unit


def _on_paper(
    columns: dict[str, NDArray[Any]], x: str, part: str
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the estimate that belongs to a figure, if rate and round trip are the same in all."""
    single = {name: np.unique(columns[name]) for name in ("rate_bps", "rtt_s")}
    if any(values.size > 1 for values in single.values()):
        return {}
    rate_bps, rtt_s = (float(values[0]) for values in single.values())
    finite = columns[x][np.isfinite(columns[x])]
    at: FloatArray = np.linspace(float(finite.min()), float(finite.max()), _ON_PAPER)
    if (x, part) == ("buffer_bytes", "request_1_p99_s"):
        return {
            "round trip and a full buffer": (
                at,
                quantities.full_buffer_s(at, rate_bps=rate_bps, rtt_s=rtt_s),
            )
        }
    if (x, part) == ("streams", "request_1_mean_s"):
        curves = {}
        sizes = np.unique(columns["request_1_bytes"]).tolist()
        for size in sizes:
            of = f", {show(size, 'byte')}" if len(sizes) > 1 else ""
            y = quantities.equal_share_s(at, request_bytes=size, rate_bps=rate_bps, rtt_s=rtt_s)
            curves[phrase("round trip and size over the equal share{of}", of=of)] = at, y
        return curves
    return {}


def _draw(
    sources: dict[str, ColumnDataSource],
    part: str,
    names: tuple[tuple[_Group, ...], tuple[str, ...]],
    axes: tuple[style.Axis, style.Axis],
    title: str,
    theme: style.Theme,
) -> figure:
    x_axis, y_axis = axes
    chart = style.new_figure(x_axis, y_axis, title=title)
    palette = style.PALETTES[theme]
    shown = {
        name.name: add_way(
            chart, sources[f"{part}, {name.name}"], "live" if name.alone else name.way,
            color=palette[name.index % len(palette)], index=name.index, theme=theme,
        )
        for name in names[0]
    }  # fmt: skip
    for group in names[0]:
        source = sources.get(f"{part}, {group.name}{ENDS}")
        if source is not None:
            color = palette[group.index % len(palette)]
            style.add_line(chart, source, line_color=color, line_width=1.5)
    for index, name in enumerate(names[1]):
        shown[name] = style.add_line(
            chart, sources[f"{part}, {name}"], line_color=style.INKS[theme], line_width=1.5,
            line_dash=style.DASHES[2 + index % 4],
        )  # fmt: skip
    rows = [(axis.name, at, axis.unit) for axis, at in zip(axes, ("x", "y"), strict=True)]
    style.add_hover(chart, list(shown.values()), rows)
    style.add_legend(chart, [(name, [glyph]) for name, glyph in shown.items()])
    return chart


def _ends(values: FloatArray, unit: str) -> str:
    return f"{show(float(values.min()), unit)} to {show(float(values.max()), unit)}"
