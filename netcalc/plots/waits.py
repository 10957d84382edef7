"""Time-sequence diagram of a flow, and beneath it what each moment was waited for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, LayoutDOM, PlainText, Quad, Scatter
from bokeh.plotting import figure

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError
from netcalc.explain import FlowCause
from netcalc.explain.causes.cause import name_of
from netcalc.language import phrase
from netcalc.plots.plot import DRAWN_POINTS, Plot
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

MOST_ROWS = 6
"""Causes that have a row of their own: those of most of the time."""
_BAND_ROW, _BAND_EDGES, _QUEUE_HEIGHT = 26, 100, 180
_HALF = 0.4


@named_arguments
def waits(flow: FlowCause, *, title: str = "", theme: Theme = "light") -> Plot:
    """Draw a flow as sequence numbers over time, the causes of its waits, and its queue.

    Parameters
    ----------
    flow : FlowCause
        A flow of a capture, from :func:`netcalc.explain.flow_causes`.
    title : str
        Title above the figure.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With the sources ``segments``, ``sent again``, ``acknowledged``, ``window edge``, ``causes``
        and ``round trips``. All figures share the axis of time, which begins with the flow.

    Raises
    ------
    DomainError
        If the capture shows one direction alone.
    """
    if flow.waits is None:
        raise DomainError("one-direction-to-draw", "flow", flow.dialogue.place)
    rows = _rows(flow)
    sources = {
        name: new_source(name, columns) for name, columns in _columns(flow, rows, theme).items()
    }
    text = _describe(flow)
    return Plot(partial(_draw, sources, rows, title, theme), sources, text, theme)


def _rows(flow: FlowCause) -> list[str]:
    """Return the causes that have a row, those of most of the time first."""
    return list(flow.cause.shares)[:MOST_ROWS]


def _describe(flow: FlowCause) -> str:
    shares = ", ".join(f"{name_of(code)} {share:.0%}" for code, share in flow.cause.shares.items())
    return f"{flow.cause.sentence} {phrase('Of the time: {shares}.', shares=shares)}"


def _columns(flow: FlowCause, rows: list[str], theme: Theme) -> Mapping[str, Mapping[str, Any]]:
    d, zero = flow.dialogue, flow.dialogue.begin_s
    first = int(d.sequence[0])
    again, once = np.flatnonzero(d.is_repeated), np.flatnonzero(~d.is_repeated)
    edge = np.where(np.isfinite(d.edge), d.edge, np.nan)
    acks = _thinned(np.arange(d.came_s.size))
    steps = np.repeat(acks, 2)
    edge_s = np.repeat(d.came_s[acks], 2)[1:] - zero
    return {
        "segments": _points(d.sent_s, d.end - first, _thinned(once), zero),
        "sent again": _points(d.sent_s, d.end - first, _thinned(again), zero),
        "acknowledged": {"x": edge_s, "y": (d.acknowledged - first)[steps][:-1]},
        "window edge": {"x": edge_s, "y": (edge - first)[steps][:-1]},
        "causes": _bands(flow, rows, theme),
        "round trips": {
            "x": (d.trip_end_s - zero)[_thinned(np.arange(d.trip_s.size))],
            "y": d.trip_s[_thinned(np.arange(d.trip_s.size))],
        },
    }


def _points(time_s: FloatArray, end: Any, rows: Any, zero: float) -> dict[str, Any]:
    return {"x": time_s[rows] - zero, "y": end[rows]}


def _thinned(rows: Any) -> Any:
    """Return rows that are not more than a figure shows."""
    step = max(1, -(-len(rows) // DRAWN_POINTS))
    return rows[::step]


def _bands(flow: FlowCause, rows: list[str], theme: Theme) -> dict[str, Any]:
    """Return the intervals as bars, neighbours of one cause joined."""
    from netcalc.explain.causes.intervals import CODES

    waits = flow.waits
    assert waits is not None
    begin, end = waits.begin_s - flow.dialogue.begin_s, waits.end_s - flow.dialogue.begin_s
    changes = np.ones(begin.size, np.bool_)
    changes[1:] = (waits.code[1:] != waits.code[:-1]) | (begin[1:] > end[:-1] + 1e-4)
    first = np.flatnonzero(changes)
    last = np.append(first[1:], begin.size) - 1
    codes = [CODES[number] for number in waits.code[first].tolist()]
    chosen = [number for number, code in enumerate(codes) if code in rows]
    shares, palette = flow.cause.shares, PALETTES[theme]
    named = [codes[number] for number in chosen]
    return {
        "left": begin[first][chosen],
        "right": end[last][chosen],
        "bottom": [-float(rows.index(code)) - _HALF for code in named],
        "top": [-float(rows.index(code)) + _HALF for code in named],
        "color": [palette[rows.index(code) % len(palette)] for code in named],
        "cause": [name_of(code) for code in named],
        "share": [shares[code] for code in named],
    }


def _draw(
    sources: Mapping[str, ColumnDataSource], rows: list[str], title: str, theme: Theme
) -> LayoutDOM:
    sequence = _sequence(sources, title or "What each moment was waited for", theme)
    bands = _band_chart(sources["causes"], rows, theme)
    queue = new_figure(Axis("time", "s"), Axis("round trip", "s", low=0.0), title="",
                       height=_QUEUE_HEIGHT)  # fmt: skip
    trips = queue.add_glyph(
        sources["round trips"],
        Scatter(x="x", y="y", size=4, line_color=None, fill_color=PALETTES[theme][0]),
        name="round trip",
    )
    add_hover(queue, [trips], [("time", "x", "s"), ("round trip", "y", "s")])
    bands.x_range = queue.x_range = sequence.x_range
    return column(sequence, bands, queue, sizing_mode="stretch_width")


def _sequence(sources: Mapping[str, ColumnDataSource], title: str, theme: Theme) -> figure:
    ink, palette = INKS[theme], PALETTES[theme]
    chart = new_figure(Axis("time", "s"), Axis("sequence", "byte"), title=title)
    edge = add_line(chart, sources["window edge"], line_color=palette[2], line_width=2,
                    line_dash=[6, 4])  # fmt: skip
    acked = add_line(chart, sources["acknowledged"], line_color=palette[1], line_width=2)
    sent = chart.add_glyph(
        sources["segments"],
        Scatter(x="x", y="y", size=4, line_color=None, fill_color=ink),
        name="segment",
    )
    again = chart.add_glyph(
        sources["sent again"],
        Scatter(x="x", y="y", marker="x", size=9, line_color=palette[1], line_width=2),
        name="sent again",
    )
    add_hover(chart, [sent, again], [("time", "x", "s"), ("up to", "y", "byte")])
    add_legend(
        chart,
        [
            ("segments", [sent]),
            ("segments sent again", [again]),
            ("acknowledged", [acked]),
            ("edge of the receiver's window", [edge]),
        ],
    )
    return chart


def _band_chart(source: ColumnDataSource, rows: list[str], theme: Theme) -> figure:
    count = len(rows)
    chart = new_figure(
        Axis("time", "s"), Axis("", "1", low=-count + 0.5, high=0.5), title="",
        height=_BAND_EDGES + _BAND_ROW * count,
    )  # fmt: skip
    ticks = [-float(number) for number in range(count)]
    names = [name_of(code) for code in rows]
    chart.yaxis[0].ticker = FixedTicker(ticks=ticks)
    chart.yaxis[0].major_label_overrides = {
        tick: PlainText(text=name) for tick, name in zip(ticks, names, strict=True)
    }
    chart.yaxis[0].axis_label = None
    chart.ygrid[0].ticker = chart.yaxis[0].ticker
    bars = chart.add_glyph(
        source,
        Quad(left="left", right="right", bottom="bottom", top="top", fill_color="color",
             fill_alpha=0.8, line_color=None),
        name="waited for",
    )  # fmt: skip
    add_hover(
        chart, [bars], [("cause", "cause", "text"), ("share of the time", "share", "ratio"),
                        ("from", "left", "s"), ("to", "right", "s")],
    )  # fmt: skip
    return chart
