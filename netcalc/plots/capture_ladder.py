"""Ladder diagram of the packets of a captured TCP flow: two hosts, time downwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, PlainText, Quad, Scatter, Text
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.language import phrase, term
from netcalc.plots.plot import Plot
from netcalc.plots.style import (
    DASHES,
    FONT,
    INKS,
    PALETTES,
    PAPERS,
    Axis,
    Theme,
    add_hover,
    add_legend,
    add_line,
    new_figure,
    new_source,
)
from netcalc.printable import printable
from netcalc.readers.captures.tcp import (
    DELAYED_ACK,
    DUPLICATE_ACK,
    HELD_BACK,
    RETRANSMISSIONS,
    TcpAnalysis,
    analyse_tcp,
    flow_table,
    ladder,
)
from netcalc.samples import PacketTrace, Table
from netcalc.units import show

DRAWN_PACKETS = 40
"""Packets of one figure: more cannot be distinguished. [1]"""
BEFORE = 6
"""Packets that are drawn before the first one with a mark. [1]"""

SEGMENT, ACKNOWLEDGED, OPENING = (
    term("segment with data"),
    "acknowledgement",
    term("SYN, FIN or RST"),
)
AGAIN, DUPLICATE, OTHER = (
    term("segment sent again"),
    term("duplicate ACK"),
    term("out of order or keep-alive"),
)
ARROWS = (SEGMENT, ACKNOWLEDGED, OPENING, AGAIN, DUPLICATE, OTHER)
DELAYED, HELD = term("wait: delayed ACK"), term("wait: held back (Nagle)")
WAITS = {DELAYED: DELAYED_ACK, HELD: HELD_BACK}

_HEIGHT, _BAR, _APART = 620, 0.02, 0.026


@dataclass(frozen=True, slots=True)
class _Rungs:
    """The packets that are drawn: when each left its sender and reached its receiver."""

    table: Table
    rows: slice
    sent_s: FloatArray
    arrived_s: FloatArray
    to_server: NDArray[np.bool_]
    to_server_s: float
    to_client_s: float

    def column(self, name: str) -> NDArray[Any]:
        return np.asarray(self.table[name])[self.rows]


@named_arguments
def capture_ladder(
    trace: PacketTrace,
    *,
    flow: int | None = None,
    first: int | None = None,
    theme: Theme = "light",
) -> Plot:
    """Draw packets of a TCP flow as arrows between client and server, time downwards.

    An arrow leaves its sender half of the round trip on that side of the capture before it was
    captured, and arrives half of the round trip on the other side after it: both ways are taken to
    be equal. On a side whose round trip the capture does not show, the arrow is level.

    Parameters
    ----------
    trace : PacketTrace
        A capture with TCP.
    flow : int, optional
        Number of the flow, from 0; by default the one that carried most.
    first : int, optional
        First packet of the flow that is drawn, from 0; by default one shortly before the first wait
        or retransmission. :data:`DRAWN_PACKETS` are drawn.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With a source for each kind of packet (columns ``x``, ``y``, ``time_s``, ``what``), one for
        each kind of wait (``left``, ``right``, ``bottom``, ``top``), ``heads`` and ``labels``.
    """
    if flow is None:
        flow = largest_flow(trace)
    analysis = analyse_tcp(trace)
    rungs = _rungs(analysis, flow, first)
    kinds = _kinds(rungs)
    sources = {kind: new_source(kind, _arrows(rungs, kinds == kind)) for kind in ARROWS}
    sources |= {wait: new_source(wait, _bars(rungs, mark)) for wait, mark in WAITS.items()}
    sources["heads"] = new_source("heads", _heads(rungs))
    sources["labels"] = new_source("labels", _labels(rungs))
    low, high = _ends(rungs)
    pad = 0.03 * (high - low or 1.0)
    ends = _names(trace, flow)
    title = phrase("Packets of TCP flow {flow}", flow=flow)
    draw = partial(_draw, sources, rungs, ends, (low - pad, high + pad), title, theme)
    return Plot(draw, sources, _describe(rungs, ends), theme)


def largest_flow(trace: PacketTrace) -> int:
    """Return the number of the TCP flow that carried most."""
    columns = flow_table(trace).columns()
    of_tcp = np.where(columns["protocol"] == "tcp", columns["payload_bytes"], -1.0)
    return int(columns["flow"][int(np.argmax(of_tcp))])


def _rungs(analysis: TcpAnalysis, flow: int, first: int | None) -> _Rungs:
    table = ladder(analysis, flow=flow)
    if first is None:
        marked = np.flatnonzero(np.asarray(table["mark"]) != "")
        first = max(int(marked[0]) - BEFORE, 0) if marked.size else 0
    rows = slice(first, first + DRAWN_PACKETS)
    to_server = np.asarray(table["direction"])[rows] == "to server"
    to_server_s, to_client_s = _sides_s(analysis, flow)
    ahead, behind = (
        0.0 if math.isnan(way_s) else way_s / 2 for way_s in (to_server_s, to_client_s)
    )
    time_s = np.asarray(table["time_s"], dtype=np.float64)[rows]
    return _Rungs(
        table, rows,
        time_s - np.where(to_server, behind, ahead),
        time_s + np.where(to_server, ahead, behind),
        to_server, to_server_s, to_client_s,
    )  # fmt: skip


def _sides_s(analysis: TcpAnalysis, flow: int) -> tuple[float, float]:
    """Return the round trips between the capture and the server, and the client; nan if unknown.

    They are those of the handshake; without one, the least time to an acknowledgement.
    """
    handshakes, trips = analysis.handshakes, analysis.round_trips
    sides = []
    for side, measured_s in enumerate((handshakes.to_server_s, handshakes.to_client_s)):
        least = trips.rtt_s[trips.series == 2 * flow + side]
        least_s = float(least.min()) if least.size else math.nan
        sides.append(least_s if math.isnan(measured_s[flow]) else float(measured_s[flow]))
    return sides[0], sides[1]


def _kinds(rungs: _Rungs) -> NDArray[Any]:
    """Return the kind of each packet."""
    flags, mark = rungs.column("flags").astype(str), rungs.column("mark").astype(str)
    opens = np.array([bool({"SYN", "FIN", "RST"} & set(flag.split())) for flag in flags], np.bool_)
    conditions = [
        np.isin(mark, RETRANSMISSIONS), mark == DUPLICATE_ACK,
        np.isin(mark, ("out of order", "keep-alive")), opens, rungs.column("payload_bytes") > 0,
    ]  # fmt: skip
    return np.select(conditions, [AGAIN, DUPLICATE, OTHER, OPENING, SEGMENT], ACKNOWLEDGED)


def _arrows(rungs: _Rungs, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the arrows of one kind as one line with gaps."""
    rows = np.flatnonzero(chosen)
    begin = np.where(rungs.to_server[rows], 0.0, 1.0)
    gap = np.full(rows.size, np.nan)
    time_s, what = rungs.column("time_s")[rows], _texts(rungs)
    return {
        "x": np.stack([begin, 1.0 - begin, gap], axis=1).reshape(-1),
        "y": np.stack([rungs.sent_s[rows], rungs.arrived_s[rows], gap], axis=1).reshape(-1),
        "time_s": np.repeat(time_s, 3),
        "what": [what[row] for row in rows for _ in range(3)],
    }


def _heads(rungs: _Rungs) -> dict[str, Any]:
    """Return the heads of the arrows, a little before the host they reach."""
    shift = 0.985 * (rungs.arrived_s - rungs.sent_s)
    quarter = np.where(rungs.to_server, -math.pi / 2, math.pi / 2)
    return {
        "x": np.where(rungs.to_server, 0.985, 0.015),
        "y": rungs.sent_s + shift,
        "angle": quarter,
    }


def _bars(rungs: _Rungs, mark: str) -> dict[str, Any]:
    """Return the waits of one kind, each on the side of the host that waited, until it sent."""
    rows = np.flatnonzero((rungs.column("mark") == mark) & (rungs.column("wait_s") > 0))
    lane = np.where(rungs.to_server[rows], 0.0, 1.0)
    return {
        "left": lane - _BAR,
        "right": lane + _BAR,
        "bottom": rungs.sent_s[rows],
        "top": rungs.sent_s[rows] - rungs.column("wait_s")[rows],
    }


def _texts(rungs: _Rungs) -> list[str]:
    """Return what each packet is, in a few words."""
    names = ("flags", "payload_bytes", "ack", "mark", "packet")
    texts = []
    for flags, size, ack, mark, packet in zip(*map(rungs.column, names), strict=True):
        words = [str(mark)] if mark else []
        words += [word for word in str(flags).split() if word in ("SYN", "FIN", "RST")]
        words += [show(float(size), "byte")] if size else []
        words += [phrase("ACK {ack}", ack=int(ack))] if "ACK" in str(flags) and not size else []
        texts.append(f"{int(packet)}: {', '.join(words)}")
    return texts


def _labels(rungs: _Rungs) -> dict[str, Any]:
    """Return the words on arrows where there is room, those with a mark first; and the waits."""
    low, high = _ends(rungs)
    room = _APART * (high - low)
    middle, marks = (rungs.sent_s + rungs.arrived_s) / 2, rungs.column("mark")
    order = [*np.flatnonzero(marks != ""), *np.flatnonzero(marks == "")]
    taken: list[float] = []
    texts, labels = _texts(rungs), []
    for row in order:
        at = float(middle[row])
        if all(abs(at - other) >= room for other in taken):
            taken.append(at)
            labels.append((0.5, at, texts[row]))
    for lane in (0.0, 1.0):
        labels += _wait_labels(rungs, lane, room)
    x, y, text = (list(part) for part in zip(*labels, strict=True)) if labels else ([], [], [])
    return {"x": np.array(x, float), "y": np.array(y, float), "text": text}


def _wait_labels(rungs: _Rungs, lane: float, room: float) -> list[tuple[float, float, str]]:
    """Return the names and lengths of the waits of one host, beside it."""
    waits, marks = rungs.column("wait_s"), rungs.column("mark")
    labels: list[tuple[float, float, str]] = []
    for row in np.flatnonzero((waits > 0) & (rungs.to_server == (lane == 0.0))):
        at = float(rungs.sent_s[row] - waits[row] / 2)
        if not labels or abs(at - labels[-1][1]) >= room:
            text = f"{marks[row]} {show(float(waits[row]), 's', digits=3)}"
            labels.append((-0.24 if lane == 0.0 else 1.24, at, text))
    return labels


def _ends(rungs: _Rungs) -> tuple[float, float]:
    times = np.concatenate([rungs.sent_s, rungs.arrived_s])
    times = times[np.isfinite(times)]
    return (float(times.min()), float(times.max())) if times.size else (0.0, 1.0)


def _names(trace: PacketTrace, flow: int) -> tuple[str, str]:
    columns = flow_table(trace).columns()
    row = int(np.flatnonzero((columns["flow"] == flow) & (columns["protocol"] == "tcp"))[0])
    ends = (("client", "source"), ("server", "destination"))
    client, server = (
        printable(
            phrase(
                "{who} {columns} port {columns_2}",
                who=who,
                columns=columns[end][row],
                columns_2=int(columns[f"{end}_port"][row]),
            )
        )
        for who, end in ends
    )
    return client, server


def _draw(
    sources: dict[str, Any],
    rungs: _Rungs,
    ends: tuple[str, str],
    times_s: tuple[float, float],
    title: str,
    theme: Theme,
) -> figure:
    palette, ink = PALETTES[theme], INKS[theme]
    chart = new_figure(
        Axis("", "1", low=-0.5, high=1.5),
        Axis("time", "s", low=times_s[1], high=times_s[0]),  # downwards
        title=title,
        height=_HEIGHT,
    )
    axis = chart.xaxis[0]
    axis.ticker = FixedTicker(ticks=[0.0, 1.0])
    axis.major_label_overrides = {float(at): PlainText(text=end) for at, end in enumerate(ends)}
    axis.axis_label = None
    chart.xgrid[0].ticker = axis.ticker
    chart.xgrid[0].grid_line_color, chart.xgrid[0].grid_line_width = ink, 2
    drawn = {}
    for index, kind in enumerate(ARROWS):
        width = 3 if kind in (AGAIN, DUPLICATE) else 1.5
        drawn[kind] = add_line(
            chart, sources[kind], line_color=palette[index], line_dash=DASHES[index],
            line_width=width,
        )  # fmt: skip
    rows = [(phrase("captured at"), "time_s", "s"), ("packet", "what", "text")]
    add_hover(chart, [drawn[kind] for kind in ARROWS], rows)
    heads = Scatter(x="x", y="y", angle="angle", marker="triangle", size=9,
                    line_color=ink, fill_color=ink)  # fmt: skip
    chart.add_glyph(sources["heads"], heads)
    for index, wait in enumerate(WAITS):
        bar = Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=palette[3 + index], fill_alpha=0.7, line_color=ink,
        )  # fmt: skip
        drawn[wait] = chart.add_glyph(sources[wait], bar, name=wait)
    add_hover(
        chart, [drawn[wait] for wait in WAITS], [("from", "top", "s"), ("until", "bottom", "s")]
    )
    label = Text(
        x="x", y="y", text="text", text_color=ink, text_align="center", y_offset=-2,
        text_baseline="bottom", text_font={"value": FONT}, text_font_size="12px",
        background_fill_color=PAPERS[theme], background_fill_alpha=0.75,
    )  # fmt: skip
    chart.add_glyph(sources["labels"], label)
    add_legend(chart, [(name, [glyph]) for name, glyph in drawn.items()])
    return chart


def _describe(rungs: _Rungs, ends: tuple[str, str]) -> str:
    count = rungs.sent_s.size
    text = phrase(
        "{count} of {table} packets between {ends} and {ends_2}",
        count=count,
        table=len(rungs.table),
        ends=ends[0],
        ends_2=ends[1],
    )
    sides = {"server": rungs.to_server_s, "client": rungs.to_client_s}
    sides_known = [phrase("{one} to the {who} and back", one=show(side_s, 's'), who=who)
             for who, side_s in sides.items()
             if not math.isnan(side_s)]  # fmt: skip
    unknown = [who for who, side_s in sides.items() if math.isnan(side_s)]
    text += (
        phrase(
            "; from the capture {join}, half of it each way",
            join=" and ".join(sides_known),
        )
        if sides_known
        else ""
    )
    text += (
        phrase(
            "; how far the {join} is, is not known",
            join=" and the ".join(unknown),
        )
        if unknown
        else ""
    )
    marks = rungs.column("mark")
    names, counts = np.unique(marks[marks != ""].astype(str), return_counts=True)
    counted = [f"{name}: {number}" for name, number in zip(names, counts, strict=True)]
    return f"{text}. {'; '.join(counted)}." if counted else f"{text}."
