"""A planned network: a bar for the load of each link, and one for its load after a failure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, PlainText, Quad
from bokeh.plotting import figure

from netcalc.planning.network import NetworkPlan
from netcalc.planning.network.page import arc_rows, sentences
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    INKS,
    PALETTES,
    Axis,
    Theme,
    add_hover,
    add_legend,
    add_line,
    new_figure,
    new_source,
)
from netcalc.printable import printable

MOST_LINKS = 25
"""Directions of links that are drawn, those with the highest load after a failure."""
_ROW_HEIGHT, _EDGES = 30, 150
_LONGEST = 10
"""Characters of the name of a node beside a bar; hovering shows the whole name."""


def bars(plan: NetworkPlan, *, theme: Theme = "light") -> Plot:
    """Draw the load of the links of a planned network, without a failure and after the worst one.

    Parameters
    ----------
    plan : NetworkPlan
        As :func:`netcalc.planning.network.plan` returns it.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        Sources ``load`` and ``worst failure`` (columns ``name``, ``link``, ``failure``, ``left``,
        ``right``, ``bottom``, ``top``), ``full`` (``x``, ``y``), and with ranges ``p5 to p95`` and
        ``p5 to p95 after the failure``.
    """
    rows = arc_rows(plan)[:MOST_LINKS]
    columns = {
        "load": _bars(rows, "load_ratio", top=0.36, bottom=0.04),
        "worst failure": _bars(rows, "failure_load_ratio", top=-0.04, bottom=-0.36),
    }
    if plan.ranges is not None:
        columns["p5 to p95"] = _ends(rows, "load_ratio", middle=0.2)
        columns["p5 to p95 after the failure"] = _ends(rows, "failure_load_ratio", middle=-0.2)
    sources = {name: new_source(name, ready(one)) for name, one in columns.items()}
    full = {"x": [plan.settings.full_at_ratio] * 2, "y": [0.5, -len(rows) + 0.5]}
    sources["full"] = new_source("full", ready(full))
    names = [_direction(one) for one in rows]
    text = " ".join(f"{one}." for one in sentences(plan)[:3])
    total = plan.arcs.count
    title = "Load of the links, and after the worst single failure"
    if total > len(rows):
        title += f": {len(rows)} of {total:,} directions"
    furthest = max(float(np.max(one["right"])) for one in columns.values())
    high = 1.05 * max(furthest, plan.settings.full_at_ratio)
    draw = partial(_draw, sources, names, title, high, theme)
    return Plot(draw, sources, text, theme)


def _bars(rows: list[dict[str, Any]], name: str, *, top: float, bottom: float) -> dict[str, Any]:
    at = -np.arange(float(len(rows)))
    return {
        "name": [f"{one['from']} to {one['to']}" for one in rows],
        "link": [one["link"] for one in rows],
        "failure": [one["failure"] or "none" for one in rows],
        "left": np.zeros(len(rows)),
        "right": np.array([one[name] for one in rows]),
        "bottom": at + bottom,
        "top": at + top,
    }


def _ends(rows: list[dict[str, Any]], name: str, *, middle: float) -> dict[str, Any]:
    found = _bars(rows, name, top=middle + 0.03, bottom=middle - 0.03)
    for column, percent in (("left", "p5"), ("right", "p95")):
        found[column] = np.array([one["ranges"][name][percent] for one in rows])
    return found


def _direction(row: Mapping[str, Any]) -> str:
    """Return the label of a bar; parallel links are numbered, in the order of the file."""
    shown = f"{_short(row['from'])} → {_short(row['to'])}"
    return f"{shown} #{row['parallel']}" if row["parallel"] else shown


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _draw(
    sources: Mapping[str, ColumnDataSource],
    names: list[str],
    title: str,
    high: float,
    theme: Theme,
) -> figure:
    count = len(names)
    x_axis = Axis("load over rate", "ratio", low=0.0, high=high)
    chart = new_figure(
        x_axis, Axis("", "1", low=-count + 0.5, high=0.5), title=title,
        height=_EDGES + _ROW_HEIGHT * count,
    )  # fmt: skip
    ticks = [-float(row) for row in range(count)]
    axis = chart.yaxis[0]
    axis.ticker = FixedTicker(ticks=ticks)
    axis.major_label_overrides = {
        tick: PlainText(text=name) for tick, name in zip(ticks, names, strict=True)
    }
    axis.axis_label = None
    chart.ygrid[0].visible = False
    palette, ink = PALETTES[theme], INKS[theme]
    drawn = {}
    looks = {"load": (palette[0], 0.8), "worst failure": (palette[1], 0.8)}
    for name, source in sources.items():
        if name == "full":
            continue
        colour, alpha = looks.get(name, (ink, 1.0))
        bar = Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=colour, fill_alpha=alpha, line_color=colour,
        )  # fmt: skip
        drawn[name] = chart.add_glyph(source, bar, name=name)
    add_hover(
        chart,
        [drawn["load"], drawn["worst failure"]],
        [("direction", "name", "text"), ("link", "link", "text"), ("load", "right", "ratio"),
         ("worst if this fails", "failure", "text")],
    )  # fmt: skip
    entries = [
        ("load", [drawn["load"]]),
        ("load after the failure that is the worst for it", [drawn["worst failure"]]),
    ]
    if "p5 to p95" in drawn:
        ends = [drawn["p5 to p95"], drawn["p5 to p95 after the failure"]]
        entries.append(("p5 to p95 of the draws", ends))
    line = add_line(
        chart, sources["full"], name="full", line_color=ink, line_dash=[6, 4], line_width=2
    )
    add_legend(chart, [*entries, ("full", [line])])
    return chart
