"""Packets on the links of a path, and segments between a client and a server, over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, Patches, PlainText, Quad, Text
from bokeh.plotting import figure

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.language import phrase, term
from netcalc.models.delays.store_and_forward import Timeline
from netcalc.models.hosts import small_writes
from netcalc.plots import plot, style
from netcalc.printable import printable
from netcalc.units import show

# On a screen of about 1000 pixels the bands of more packets overlap.
DRAWN_CROSSINGS = 400
"""Largest number of packets times links that is drawn; of a longer train the first packets."""
NUMBERED_PACKETS = 12
"""Trains up to this length have a number on each packet."""
_NODE = 0.1  # half the height of a node's lane; links have the height 1
_ROW = 78  # pixels a link


@named_arguments
def timeline(
    steps: Timeline,
    nodes: Sequence[str] | None = None,
    *,
    title: str = "",
    description: str = "",
    theme: style.Theme = "light",
) -> plot.Plot:
    """Draw each packet on each link as a sloped band, time to the right, the path downwards.

    The upper edge of a band is the time at which the packet's bits leave a node, the lower edge
    that of their arrival at the next: its slope is the latency, its width the serialization time.

    Parameters
    ----------
    steps : Timeline
        Times of each packet on each link, from :mod:`netcalc.models.delays.store_and_forward`.
    nodes : sequence of str, optional
        Names of source, routers and destination; one more than links.
    title : str
        Title above the figure.
    description : str
        Text alternative; by default the arrival times.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With the sources ``packets``, ``processing`` and ``waiting``.
    """
    count, links = steps.start_s.shape
    if nodes is None:
        nodes = ["source", *(phrase("router {i}", i=i) for i in range(1, links)), "destination"]
    if len(nodes) != links + 1:
        raise DomainError("wrong-node-count", "nodes", len(nodes), expected=links + 1)
    drawn = min(count, max(DRAWN_CROSSINGS // links, 1))
    sources = {
        "packets": style.new_source("packets", _packets(steps, nodes, drawn, theme)),
        "processing": style.new_source("processing", _boxes(steps, nodes, drawn, theme, busy=True)),
        "waiting": style.new_source("waiting", _boxes(steps, nodes, drawn, theme, busy=False)),
    }
    text = description or _describe_timeline(steps, nodes)
    if drawn < count:
        text += phrase(
            " The first {drawn} of {count} packets are drawn.",
            drawn=drawn,
            count=count,
        )
    draw = partial(_draw_timeline, sources, tuple(nodes), title, theme)
    return plot.Plot(draw, sources, text, theme, ("timeline", tuple(nodes), title, theme))


def _draw_timeline(
    sources: dict[str, Any], nodes: tuple[str, ...], title: str, theme: style.Theme
) -> figure:
    links = len(nodes) - 1
    time, lanes = style.Axis("time", "s"), style.Axis("", "1", low=-links - 0.3, high=0.3)
    chart = style.new_figure(time, lanes, title=title, height=110 + _ROW * links)
    axis = chart.yaxis[0]
    axis.ticker = FixedTicker(ticks=[-float(i) for i in range(links + 1)])
    axis.major_label_overrides = {
        -float(i): PlainText(text=printable(n)) for i, n in enumerate(nodes)
    }
    axis.axis_label = None
    chart.ygrid[0].ticker = axis.ticker
    _add_packets(chart, sources, theme)
    return chart


def _add_packets(chart: figure, sources: dict[str, Any], theme: style.Theme) -> None:
    ink = style.INKS[theme]
    crossing = Patches(
        xs="xs", ys="ys", fill_color="color", fill_alpha=0.55, line_color="color", line_width=1.5
    )
    bands = chart.add_glyph(sources["packets"], crossing, name=phrase("packet on the link"))
    number = Text(
        x="x", y="y", text="number", text_color=ink, text_align="center",
        text_baseline="middle", text_font={"value": style.FONT}, text_font_size="14px",
    )  # fmt: skip
    chart.add_glyph(sources["packets"], number)
    sides = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
    work = Quad(**sides, fill_color="color", line_color=ink, line_width=1)
    busy = chart.add_glyph(sources["processing"], work, name="processing")
    wait = Quad(
        **sides, fill_color="color", fill_alpha=0.25, line_color="color",
        hatch_pattern={"value": "/"}, hatch_color="color",
    )  # fmt: skip
    queued = chart.add_glyph(sources["waiting"], wait, name=phrase("waiting for the link"))
    rows = [(term("first bit leaves"), "start_s", "s"),
            (term("first bit arrives"), "first_bit_s", "s"),
            (term("last bit arrives"), "last_bit_s", "s")]  # fmt: skip
    who = ("packet", "packet", "text")
    style.add_hover(chart, [bands], [who, ("link", "link", "text"), *rows])
    style.add_hover(
        chart,
        [busy, queued],
        [who, ("node", "node", "text"), ("from", "left", "s"), ("until", "right", "s")],
    )
    entries = [
        (phrase("on the link"), [bands]),
        ("processing", [busy]),
        (phrase("waiting for the link"), [queued]),
    ]
    style.add_legend(chart, entries)


def _packets(
    steps: Timeline, nodes: Sequence[str], drawn: int, theme: style.Theme
) -> dict[str, Any]:
    palette = style.PALETTES[theme]
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("xs", "ys", "x", "y", "number", "color", "packet", "link",
                     "start_s", "first_bit_s", "last_bit_s")
    }  # fmt: skip
    numbered = steps.start_s.shape[0] <= NUMBERED_PACKETS
    for k in range(drawn):
        for i in range(steps.start_s.shape[1]):
            start, first, last = (
                float(part[k, i]) for part in (steps.start_s, steps.first_bit_s, steps.last_bit_s)
            )
            up, down = -i - _NODE, -i - 1 + _NODE
            row = {
                "xs": [start, start + last - first, last, first],
                "ys": [up, up, down, down],
                "x": (start + last) / 2,
                "y": (up + down) / 2,
                "number": str(k + 1) if numbered else "",
                "color": palette[k % len(palette)],
                "packet": str(k + 1),
                "link": f"{nodes[i]} to {nodes[i + 1]}",
                "start_s": start,
                "first_bit_s": first,
                "last_bit_s": last,
            }
            for name, value in row.items():
                columns[name].append(value)
    return columns


def _boxes(
    steps: Timeline, nodes: Sequence[str], drawn: int, theme: style.Theme, *, busy: bool
) -> dict[str, Any]:
    """Return the boxes of processing, or of the wait between processing and sending."""
    palette = style.PALETTES[theme]
    if busy:
        left, right = steps.processing_start_s[:drawn], steps.processing_end_s[:drawn]
    else:
        left, right = steps.processing_end_s[:drawn, :-1], steps.start_s[:drawn]
    scale = float(np.nanmax(steps.done_s)) if steps.done_s.size else 0.0
    packet, node = np.nonzero(right - left > 1e-9 * scale)
    return {
        "left": left[packet, node],
        "right": right[packet, node],
        "bottom": -node - _NODE,
        "top": -node + _NODE,
        "color": [palette[k % len(palette)] for k in packet],
        "packet": [str(k + 1) for k in packet],
        "node": [nodes[int(i)] for i in node],
    }


def _describe_timeline(steps: Timeline, nodes: Sequence[str]) -> str:
    count = steps.start_s.shape[0]
    what = (
        phrase("The packet") if count == 1 else phrase("The first of {count} packets", count=count)
    )
    text = phrase(
        "{what} is complete at {nodes} after {last_bit}",
        what=what,
        nodes=nodes[-1],
        last_bit=show(float(steps.last_bit_s[0, -1]), "s"),
    )
    if count > 1:
        text += phrase(
            ", the last after {last_bit}",
            last_bit=show(float(steps.last_bit_s[-1, -1]), "s"),
        )
    return phrase(
        "{text}; processed after {done}.",
        text=text,
        done=show(float(steps.done_s[-1]), "s"),
    )


ARROWS = (small_writes.SEGMENT, small_writes.ACKNOWLEDGEMENT, small_writes.RESPONSE)
WAITS = (small_writes.WAITS_FOR_ACK, small_writes.HOLDS_ACK, small_writes.WORKS)
NAMES = {
    small_writes.WAITS_FOR_ACK: term("waits for acknowledgement"),
    small_writes.HOLDS_ACK: term("holds acknowledgement"),
    small_writes.SEGMENT: term("segment"),
    small_writes.ACKNOWLEDGEMENT: term("acknowledgement"),
    small_writes.RESPONSE: term("response"),
    small_writes.WORKS: term("works"),
}
"""Their names in the legend; saved runs hold the same."""
_LANE = 0.07  # half the height of a lane
_HEIGHT = 230


@named_arguments
def ladder(
    steps: small_writes.WriteTimeline,
    *,
    title: str = "",
    description: str = "",
    theme: style.Theme = "light",
) -> plot.Plot:
    """Draw a request written in parts: time to the right, the client above the server.

    Parameters
    ----------
    steps : WriteTimeline
        Segments and waits, from :mod:`netcalc.models.hosts.small_writes`.
    title : str
        Title above the figure.
    description : str
        Text alternative; by default a list of the waits.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With a source for each kind of segment (columns ``x``, ``y``) and each kind of wait
        (``left``, ``right``, ``bottom``, ``top``), and ``labels``.
    """
    sources = {what: style.new_source(what, _arrows(steps, what)) for what in ARROWS}
    sources |= {what: style.new_source(what, _bars(steps, what)) for what in WAITS}
    sources["labels"] = style.new_source("labels", _labels(steps))
    shown = (*ARROWS, *(what for what in WAITS if what in steps.what))
    draw = partial(_draw_ladder, sources, shown, title, theme)
    return plot.Plot(draw, sources, description or _describe_ladder(steps), theme,
                ("ladder", title, theme, shown))  # fmt: skip


def _draw_ladder(
    sources: dict[str, Any], shown: tuple[str, ...], title: str, theme: style.Theme
) -> figure:
    palette, ink = style.PALETTES[theme], style.INKS[theme]
    chart = style.new_figure(
        style.Axis("time", "s"),
        style.Axis("", "1", low=-1.35, high=0.35),
        title=title,
        height=_HEIGHT,
    )
    axis = chart.yaxis[0]
    axis.ticker = FixedTicker(ticks=[0.0, -1.0])
    axis.major_label_overrides = {
        0.0: PlainText(text=phrase("client")),
        -1.0: PlainText(text=phrase("server")),
    }
    axis.axis_label = None
    chart.ygrid[0].ticker = axis.ticker
    drawn = {}
    for index, what in enumerate(ARROWS):
        drawn[what] = style.add_line(
            chart, sources[what], line_color=palette[index], line_dash=style.DASHES[index]
        )
    style.add_hover(chart, [drawn[what] for what in ARROWS], [("time", "x", "s")])
    for index, what in enumerate(WAITS):
        bar = Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=palette[len(ARROWS) + index], fill_alpha=0.6, line_color=ink,
        )  # fmt: skip
        drawn[what] = chart.add_glyph(sources[what], bar, name=what)
    bars = [drawn[what] for what in WAITS]
    style.add_hover(chart, bars, [("from", "left", "s"), ("until", "right", "s")])
    label = Text(
        x="x", y="y", text="text", text_color=ink, text_align="center",
        text_baseline="middle", text_font={"value": style.FONT}, text_font_size="13px",
    )  # fmt: skip
    chart.add_glyph(sources["labels"], label)
    style.add_legend(chart, [(NAMES[what], [drawn[what]]) for what in shown])
    return chart


def _rows(steps: small_writes.WriteTimeline, what: str) -> list[int]:
    return [row for row, step in enumerate(steps.what) if step == what]


def _arrows(steps: small_writes.WriteTimeline, what: str) -> dict[str, Any]:
    """Return all arrows as one line with gaps."""
    x: list[float] = []
    y: list[float] = []
    for row in _rows(steps, what):
        x += [float(steps.start_s[row]), float(steps.end_s[row]), np.nan]
        y += (
            [0.0, -1.0, np.nan] if steps.who[row] == small_writes.TO_SERVER else [-1.0, 0.0, np.nan]
        )
    return {"x": np.array(x, float), "y": np.array(y, float)}


def _bars(steps: small_writes.WriteTimeline, what: str) -> dict[str, Any]:
    rows = _rows(steps, what)
    lanes = np.array([0.0 if steps.who[row] == small_writes.CLIENT else -1.0 for row in rows])
    return {
        "left": steps.start_s[rows],
        "right": steps.end_s[rows],
        "bottom": lanes - _LANE,
        "top": lanes + _LANE,
    }


def _labels(steps: small_writes.WriteTimeline) -> dict[str, Any]:
    """Return the duration of each wait, outside its lane."""
    rows = [row for row, what in enumerate(steps.what) if what in WAITS]
    length = steps.end_s[rows] - steps.start_s[rows]
    outside = [0.2 if steps.who[row] == small_writes.CLIENT else -1.2 for row in rows]
    return {
        "x": (steps.start_s[rows] + steps.end_s[rows]) / 2,
        "y": np.array(outside, float),
        "text": [show(float(time), "s", digits=3) for time in length],
    }


def _describe_ladder(steps: small_writes.WriteTimeline) -> str:
    if not steps.what:
        return phrase("No request: a value is not known.")
    count = sum(what == small_writes.SEGMENT for what in steps.what)
    done = show(steps.done_s, "s")
    if count == 1:
        text = phrase("The response arrives after {done}; the request took 1 segment", done=done)
    else:
        text = phrase(
            "The response arrives after {done}; the request took {count} segments",
            done=done,
            count=count,
        )
    parts = []
    for row, what in enumerate(steps.what):
        if what in WAITS:
            time_s = float(steps.end_s[row] - steps.start_s[row])
            parts.append(
                phrase(
                    "the {who} {what} for {time}",
                    who=phrase(steps.who[row]),
                    what=phrase(what),
                    time=show(time_s, "s"),
                )
            )
    return f"{text}; {'; '.join(parts)}." if parts else phrase("{text} without a wait.", text=text)
