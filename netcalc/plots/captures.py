"""Figures of the flows of a capture: packets as a ladder, and what each moment was waited for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bokeh import models
from bokeh.layouts import column
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError
from netcalc.explain import FlowCause, Intervals, cause_name, cause_sign, main_flow
from netcalc.language import phrase, term
from netcalc.plots import style
from netcalc.plots.plot import Plot, ready
from netcalc.printable import printable
from netcalc.readers.captures import tcp
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
WAITS = {DELAYED: tcp.DELAYED_ACK, HELD: tcp.HELD_BACK}

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
    theme: style.Theme = "light",
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
    analysis = tcp.analyse_tcp(trace)
    rungs = _rungs(analysis, flow, first)
    kinds = _kinds(rungs)
    sources = {kind: style.new_source(kind, _arrows(rungs, kinds == kind)) for kind in ARROWS}
    sources |= {wait: style.new_source(wait, _bars(rungs, mark)) for wait, mark in WAITS.items()}
    sources["heads"] = style.new_source("heads", _heads(rungs))
    sources["labels"] = style.new_source("labels", _labels(rungs))
    low, high = _ends(rungs)
    pad = 0.03 * (high - low or 1.0)
    ends = _names(trace, flow)
    title = phrase("Packets of TCP flow {flow}", flow=flow)
    draw = partial(_draw_ladder, sources, rungs, ends, (low - pad, high + pad), title, theme)
    return Plot(draw, sources, _describe_ladder(rungs, ends), theme)


def largest_flow(trace: PacketTrace) -> int:
    """Return the number of the TCP flow that carried most."""
    columns = tcp.flow_table(trace).columns()
    of_tcp = np.where(columns["protocol"] == "tcp", columns["payload_bytes"], -1.0)
    return int(columns["flow"][int(np.argmax(of_tcp))])


def _rungs(analysis: tcp.TcpAnalysis, flow: int, first: int | None) -> _Rungs:
    table = tcp.ladder(analysis, flow=flow)
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


def _sides_s(analysis: tcp.TcpAnalysis, flow: int) -> tuple[float, float]:
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
        np.isin(mark, tcp.RETRANSMISSIONS), mark == tcp.DUPLICATE_ACK,
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
    columns = tcp.flow_table(trace).columns()
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


def _draw_ladder(
    sources: dict[str, Any],
    rungs: _Rungs,
    ends: tuple[str, str],
    times_s: tuple[float, float],
    title: str,
    theme: style.Theme,
) -> figure:
    palette, ink = style.PALETTES[theme], style.INKS[theme]
    chart = style.new_figure(
        style.Axis("", "1", low=-0.5, high=1.5),
        style.Axis("time", "s", low=times_s[1], high=times_s[0]),  # downwards
        title=title,
        height=_HEIGHT,
    )
    axis = chart.xaxis[0]
    axis.ticker = models.FixedTicker(ticks=[0.0, 1.0])
    axis.major_label_overrides = {
        float(at): models.PlainText(text=end) for at, end in enumerate(ends)
    }
    axis.axis_label = None
    chart.xgrid[0].ticker = axis.ticker
    chart.xgrid[0].grid_line_color, chart.xgrid[0].grid_line_width = ink, 2
    drawn = {}
    for index, kind in enumerate(ARROWS):
        width = 3 if kind in (AGAIN, DUPLICATE) else 1.5
        drawn[kind] = style.add_line(
            chart, sources[kind], line_color=palette[index], line_dash=style.DASHES[index],
            line_width=width,
        )  # fmt: skip
    rows = [(phrase("captured at"), "time_s", "s"), ("packet", "what", "text")]
    style.add_hover(chart, [drawn[kind] for kind in ARROWS], rows)
    heads = models.Scatter(x="x", y="y", angle="angle", marker="triangle", size=9,
                           line_color=ink, fill_color=ink)  # fmt: skip
    chart.add_glyph(sources["heads"], heads)
    for index, wait in enumerate(WAITS):
        bar = models.Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=palette[3 + index], fill_alpha=0.7, line_color=ink,
        )  # fmt: skip
        drawn[wait] = chart.add_glyph(sources[wait], bar, name=wait)
    style.add_hover(
        chart, [drawn[wait] for wait in WAITS], [("from", "top", "s"), ("until", "bottom", "s")]
    )
    label = models.Text(
        x="x", y="y", text="text", text_color=ink, text_align="center", y_offset=-2,
        text_baseline="bottom", text_font={"value": style.FONT}, text_font_size="12px",
        background_fill_color=style.PAPERS[theme], background_fill_alpha=0.75,
    )  # fmt: skip
    chart.add_glyph(sources["labels"], label)
    style.add_legend(chart, [(name, [glyph]) for name, glyph in drawn.items()])
    return chart


def _describe_ladder(rungs: _Rungs, ends: tuple[str, str]) -> str:
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
    if sides_known:
        joined = " and ".join(sides_known)
        text += phrase("; from the capture {join}, half of it each way", join=joined)
    if unknown:
        text += phrase("; how far the {join} is, is not known", join=" and the ".join(unknown))
    marks = rungs.column("mark")
    names, counts = np.unique(marks[marks != ""].astype(str), return_counts=True)
    counted = [f"{name}: {number}" for name, number in zip(names, counts, strict=True)]
    return f"{text}. {'; '.join(counted)}." if counted else f"{text}."


MOST_ROWS, LEAST_SHOWN = 6, 0.005
"""Causes that have a row of their own: those of most of the time, and of no less than this."""
MOST_POINTS, MOST_BARS = 2500, 1200
"""Of each kind: a page stays small, and a pixel shows no more."""
FAR_EDGE = 1.5
"""An edge of the window beyond this many times the data would press them onto the axis."""
_ROW, _EDGES, _TRIPS, _LEFT, _LEAST = 40, 100, 220, 92, 340
_BAND, _NAME = (-0.42, 0.02), 0.24
"""Where in its row a bar is, and the name above it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a flow that is asked about: its name, and when it began and ended. [s]"""

    name: str
    begin_s: float
    end_s: float


@named_arguments
def waits(
    capture: PacketTrace | FlowCause,
    *,
    title: str = "",
    shows_causes: bool = True,
    marks: Sequence[Mark] = (),
    theme: style.Theme = "light",
) -> Plot:
    """Draw a TCP flow as sequence numbers over time, the causes of its waits, and its queue.

    Above are the segments, those sent again, what was acknowledged, the ranges that SACK reported
    behind a hole, and the edge of the window; then a band with the cause of each moment; below the
    round trips, whose distance from the least one is the queue.

    Parameters
    ----------
    capture : PacketTrace or FlowCause
        A capture, of which the flow that carried most is drawn, in the direction that carried more;
        or a flow, from :func:`netcalc.explain.flow_causes`.
    title : str
        Title above the figure; by default the cause in one sentence.
    shows_causes : bool
        Whether the band of causes is drawn, and said.
    marks : sequence of Mark
        Parts that are shaded and named in the upper figure.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With the sources ``segments``, ``sent again``, ``acknowledged``, ``with SACK``,
        ``window edge``, ``round trips`` and ``least round trip``; ``causes`` (columns ``left``,
        ``right``, ``bottom``, ``top``, ``cause``, ``share``, ``evidence``, ``numbers``) and
        ``names of causes`` with the band, and ``marks`` where there are some. All figures share the
        axis of time, which begins with the flow.

    Raises
    ------
    DomainError
        If the capture has no TCP flow with data, or shows one direction alone.
    """
    flow = capture if isinstance(capture, FlowCause) else main_flow(capture)
    if flow is None:
        raise DomainError("no-flow-to-draw", "capture", len(capture))  # type: ignore[arg-type]
    if flow.waits is None:
        raise DomainError("one-direction-to-draw", "capture", flow.dialogue.place)
    rows = _rows(flow) if shows_causes else []
    columns = {**_columns(flow), **(_bands(flow, rows, theme) if shows_causes else {})}
    if marks:
        columns["marks"] = _marked(
            marks, float(flow.dialogue.end.max() - flow.dialogue.sequence[0])
        )
    sources = {name: style.new_source(name, ready(data)) for name, data in columns.items()}
    text = _describe_waits(flow, rows, shows_causes=shows_causes)
    shown = title or (flow.cause.sentence if shows_causes else phrase("What is waited for?"))
    return Plot(partial(_draw_waits, flow, sources, len(rows), shown, theme), sources, text, theme)


def _rows(flow: FlowCause) -> list[str]:
    """Return the causes that have a row, those of most of the time first."""
    shares = flow.cause.shares
    return [code for code, share in shares.items() if share >= LEAST_SHOWN][:MOST_ROWS]


def _named(flow: FlowCause, code: str) -> str:
    return f"{flow.cause.shares[code]:.0%} {cause_name(code)}"


def _describe_waits(flow: FlowCause, rows: Sequence[str], *, shows_causes: bool) -> str:
    d, parts = flow.dialogue, []
    if shows_causes:
        shares = ", ".join(_named(flow, code) for code in rows)
        parts = [flow.cause.sentence, phrase("Of the time: {shares}.", shares=shares)]
    parts.append(
        phrase(
            "{count} segments with data up to byte {last}, {again} of them sent again.",
            count=d.sequence.size,
            last=int(d.end.max() - d.sequence[0]),
            again=int(np.count_nonzero(d.is_repeated)),
        )
    )
    if _is_far(flow):
        parts.append(phrase("The edge of the window is far above what is shown."))
    if (step := _step(d.sequence.size)) > 1:
        parts.append(phrase("One of {step} segments is drawn.", step=step))
    if rows and flow.waits is not None and _is_binned(flow.waits.joined()):
        count = MOST_BARS // len(rows) - 1
        parts.append(phrase("A bar is the time of its cause in one of {count} parts.", count=count))
    return " ".join(parts)


def _is_far(flow: FlowCause) -> bool:
    d = flow.dialogue
    edges = d.edge[np.isfinite(d.edge)] - d.sequence[0]
    return bool(edges.max(initial=0) > FAR_EDGE * (d.end.max() - d.sequence[0]))


def _columns(flow: FlowCause) -> dict[str, dict[str, Any]]:
    d, zero = flow.dialogue, flow.dialogue.begin_s
    first = int(d.sequence[0])
    acked, edge = np.maximum(d.acknowledged - first, 0), d.edge - first
    acks = _thinned(np.arange(d.came_s.size), most=MOST_POINTS // 2)
    steps = np.repeat(acks, 2)  # what was acknowledged holds until the next one
    step_s = (d.came_s - zero)[steps][1:]
    holes = _thinned(np.arange(d.sack_rows.size))
    trips = _thinned(np.arange(d.trip_s.size))
    once, again = (_thinned(np.flatnonzero(which)) for which in (~d.is_repeated, d.is_repeated))
    ends_s = np.array([0.0, d.end_s - zero])
    return {
        "segments": {"x": d.sent_s[once] - zero, "y": (d.end - first)[once]},
        "sent again": {"x": d.sent_s[again] - zero, "y": (d.end - first)[again]},
        "acknowledged": {"x": step_s, "y": acked[steps][:-1]},
        "with SACK": {
            "x": d.came_s[d.sack_rows[holes]] - zero,
            "y": d.sack_low[holes] - first,
            "top": d.sack_high[holes] - first,
        },
        "window edge": {"x": step_s, "y": edge[steps][:-1]},
        "round trips": {"x": d.trip_end_s[trips] - zero, "y": d.trip_s[trips]},
        "least round trip": {"x": ends_s, "y": np.full(2, d.base_rtt_s)},
    }


def _step(count: int, most: int = MOST_POINTS) -> int:
    return max(1, -(-count // most))


def _thinned(rows: Any, *, most: int = MOST_POINTS) -> Any:
    """Return rows that are not more than a figure shows."""
    return rows[:: _step(len(rows), most)]


def _bands(flow: FlowCause, rows: list[str], theme: style.Theme) -> dict[str, dict[str, Any]]:
    """Return the intervals as bars, neighbours of one cause joined, and the names above them."""
    assert flow.waits is not None
    palette, joined = style.PALETTES[theme], flow.waits.joined()
    edges_s = np.linspace(joined.begin_s[0], joined.end_s.max(), MOST_BARS // max(len(rows), 1))
    numbers: dict[str, list[float]] = {n: [] for n in ("left", "right", "bottom", "top", "share")}
    texts: dict[str, list[str]] = {n: [] for n in ("color", "cause", "evidence", "numbers")}
    for row, code in enumerate(rows):
        own = joined.of(code)
        if _is_binned(joined):
            spent_s = own.spent_s(edges_s)
            low, spent_s = edges_s[:-1][spent_s > 0], spent_s[spent_s > 0]
            own = Intervals(low, low + spent_s, np.zeros(low.size, np.int64)).joined(apart_s=1e-6)
        numbers["left"] += (own.begin_s - flow.dialogue.begin_s).tolist()
        numbers["right"] += (own.end_s - flow.dialogue.begin_s).tolist()
        bottom, top = (edge - row for edge in _BAND)
        alike = {"bottom": bottom, "top": top, "share": flow.cause.shares[code]}
        for name, number in alike.items():
            numbers[name] += [number] * own.code.size
        said = {
            "color": palette[row % len(palette)], "cause": cause_name(code),
            "evidence": cause_sign(code), "numbers": flow.cause.numbers(code) or "-",
        }  # fmt: skip
        for name, text in said.items():
            texts[name] += [text] * own.code.size
    return {
        "causes": {**{name: np.array(row, float) for name, row in numbers.items()}, **texts},
        "names of causes": {
            "x": np.zeros(len(rows)),
            "y": _NAME - np.arange(len(rows)),
            "text": [_named(flow, code) for code in rows],
        },
    }


def _is_binned(joined: Intervals) -> bool:
    """Whether there are more bars than a page shows: each is then the time in a part of all."""
    return joined.code.size > MOST_BARS


def _marked(marks: Sequence[Mark], high: float) -> dict[str, Any]:
    begin, end = (np.array([getattr(m, name) for m in marks]) for name in ("begin_s", "end_s"))
    return {
        "left": begin, "right": end, "middle": (begin + end) / 2,
        "bottom": np.zeros(begin.size), "top": np.full(begin.size, high),
        "text": [mark.name for mark in marks],
    }  # fmt: skip


def _draw_waits(
    flow: FlowCause,
    sources: Mapping[str, models.ColumnDataSource],
    row_count: int,
    title: str,
    theme: style.Theme,
) -> models.LayoutDOM:
    charts = [_sequence(flow, sources, title, theme)]
    if row_count:
        charts.append(_band_chart(sources, row_count, theme))
    charts.append(_trip_chart(sources, theme))
    for chart in charts:
        chart.min_border_left = _LEFT  # the same moment is above itself
        chart.x_range = charts[0].x_range
        chart.min_height = min(chart.height, _LEAST)  # on a phone, too
    return column(*charts, sizing_mode="stretch_width")


def _sequence(
    flow: FlowCause, sources: Mapping[str, models.ColumnDataSource], title: str, theme: style.Theme
) -> figure:
    d, ink, palette = flow.dialogue, style.INKS[theme], style.PALETTES[theme]
    high = 1.1 * float(d.end.max() - d.sequence[0]) if _is_far(flow) else None
    chart = style.new_figure(
        style.Axis("time", "s"), style.Axis("sequence", "byte", low=0.0, high=high), title=title
    )
    if "marks" in sources:
        shade = models.Quad(
            left="left", right="right", bottom="bottom", top="top", fill_color=palette[5],
            fill_alpha=0.25, line_color=palette[5],
        )  # fmt: skip
        chart.add_glyph(sources["marks"], shade, name=term("asked about"))
        chart.add_glyph(
            sources["marks"],
            models.Text(x="middle", y="top", text="text", text_color=ink,
                        text_font={"value": style.FONT}, text_font_size="20px",
                        text_font_style="bold", text_align="center", text_baseline="top"),
        )  # fmt: skip
    edge = style.add_line(chart, sources["window edge"], line_color=palette[2], line_width=2,
                    line_dash=[6, 4])  # fmt: skip
    acked = style.add_line(chart, sources["acknowledged"], line_color=palette[0], line_width=2)
    dots = {"segments": ("circle", 4, ink), "sent again": ("x", 9, palette[1])}
    drawn = {
        name: chart.add_glyph(
            sources[name],
            models.Scatter(x="x", y="y", marker=marker, size=size, line_color=color,
                           fill_color=color, line_width=2 if marker == "x" else 0.5),
            name=name,
        )
        for name, (marker, size, color) in dots.items()
    }  # fmt: skip
    ranges = chart.add_glyph(
        sources["with SACK"],
        models.Segment(x0="x", y0="y", x1="x", y1="top", line_color=palette[4], line_width=2),
        name="with SACK",
    )
    style.add_hover(chart, list(drawn.values()), [("time", "x", "s"), ("up to", "y", "byte")])
    style.add_hover(
        chart, [ranges], [("time", "x", "s"), ("from", "y", "byte"), ("up to", "top", "byte")]
    )
    step = _step(int(np.count_nonzero(~d.is_repeated)))
    entries = [
        (phrase("one of {step} segments", step=step) if step > 1 else "segments",
         drawn["segments"]),
        (term("sent again"), drawn["sent again"]),
        ("acknowledged", acked),
        (term("arrived behind a hole (SACK)"), ranges),
        (term("edge of the window"), edge),
    ]  # fmt: skip
    style.add_legend(chart, [(name, [glyph]) for name, glyph in entries])
    return chart


def _band_chart(
    sources: Mapping[str, models.ColumnDataSource], count: int, theme: style.Theme
) -> figure:
    chart = style.new_figure(
        style.Axis("time", "s"), style.Axis("", "1", low=-count + 0.5, high=0.5),
        title="What the flow waited for", height=_EDGES + _ROW * count,
    )  # fmt: skip
    chart.yaxis[0].ticker = models.FixedTicker(ticks=[])
    chart.yaxis[0].axis_label = None
    chart.ygrid[0].ticker = chart.yaxis[0].ticker
    bars = chart.add_glyph(
        sources["causes"],
        models.Quad(left="left", right="right", bottom="bottom", top="top", fill_color="color",
                    line_color=None),
        name=term("waited for"),
    )  # fmt: skip
    chart.add_glyph(
        sources["names of causes"],
        models.Text(x="x", y="y", text="text", text_color=style.INKS[theme],
                    text_font={"value": style.FONT}, text_font_size="14px", text_align="left",
                    text_baseline="middle"),
    )  # fmt: skip
    style.add_hover(
        chart, [bars], [("cause", "cause", "text"), ("evidence", "evidence", "text"),
                        ("numbers", "numbers", "text"),
                        ("from", "left", "s"), ("to", "right", "s"),
                        (term("share of the time"), "share", "ratio")],
    )  # fmt: skip
    return chart


def _trip_chart(sources: Mapping[str, models.ColumnDataSource], theme: style.Theme) -> figure:
    times = sources["round trips"].data["y"]
    most = float(np.percentile(times, 99)) if len(times) else 0.0
    few = bool(most > 0 and max(times) > 2 * most)  # few long ones would press the others down
    chart = style.new_figure(
        style.Axis("time", "s"),
        style.Axis("round trip", "s", low=0.0, high=1.3 * most if few else None),
        title=term("Round trips: a queue or a delayed ACK is above the line"), height=_TRIPS,
    )  # fmt: skip
    chart.yaxis[0].ticker.desired_num_ticks = 4
    look = models.Scatter(x="x", y="y", size=4, line_color=style.PALETTES[theme][0],
                          line_width=0.5, fill_color=style.PALETTES[theme][0])  # fmt: skip
    trips = chart.add_glyph(sources["round trips"], look, name="round trips")
    least = style.add_line(chart, sources["least round trip"], line_color=style.PALETTES[theme][1],
                     line_width=2, line_dash=[6, 4])  # fmt: skip
    style.add_hover(chart, [trips], [("time", "x", "s"), ("round trip", "y", "s")])
    name = "round trips"
    if few:
        name = phrase(
            "round trips (the longest {longest} is not shown)", longest=show(max(times), "s")
        )
    style.add_legend(chart, [(name, [trips]), (term("without a queue"), [least])])
    return chart
