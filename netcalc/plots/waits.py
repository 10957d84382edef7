"""Figures of the flows of a capture: what each moment was waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, FixedTicker, LayoutDOM, Quad, Scatter, Segment, Text
from bokeh.plotting import figure

from netcalc.checks import named_arguments
from netcalc.errors import DomainError
from netcalc.explain import Finding, FlowCause, Intervals, cause_name, cause_sign, main_flow
from netcalc.language import phrase, term
from netcalc.plots.limits import limits
from netcalc.plots.plot import Plot, ready, together
from netcalc.plots.style import (
    FONT,
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
from netcalc.samples import PacketTrace, Samples
from netcalc.units import show

MOST_ROWS, LEAST_SHOWN = 6, 0.005
"""Causes that have a row of their own: those of most of the time, and of no less than this."""
MOST_POINTS, MOST_BARS = 2500, 1200
"""Of each kind: a page stays small, and a pixel shows no more."""
FAR_EDGE = 1.5
"""An edge of the window beyond this many times the data would press them onto the axis."""
_ROW, _EDGES, _TRIPS, _LEFT, _LEAST = 40, 100, 220, 92, 340
_BAR, _NAME = (-0.42, 0.02), 0.24
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
    theme: Theme = "light",
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
    sources = {name: new_source(name, ready(data)) for name, data in columns.items()}
    text = _describe(flow, rows, shows_causes=shows_causes)
    shown = title or (flow.cause.sentence if shows_causes else phrase("What is waited for?"))
    return Plot(partial(_draw, flow, sources, len(rows), shown, theme), sources, text, theme)


@named_arguments
def explained(samples: Samples, findings: Sequence[Finding], *, theme: Theme = "light") -> Plot:
    """Draw what was waited for, and beneath it the bars of the limits.

    Parameters
    ----------
    samples : Samples
        What a reader made of a file.
    findings : sequence of Finding
        What :func:`netcalc.explain.measurement` returns for it; the first one is the title.
    theme : {'light', 'dark'}
        Colours of the figures.

    Returns
    -------
    Plot
        Of a capture with a TCP flow that :func:`waits` draws, the figures of both; of anything
        else those of :func:`limits`.

    Raises
    ------
    DomainError
        If nothing of it can be drawn.
    """
    flow = main_flow(samples) if isinstance(samples, PacketTrace) else None
    if flow is None or flow.waits is None:
        return limits(findings, theme=theme)
    said = findings[0].sentence if findings else flow.cause.sentence
    if said != flow.cause.sentence:  # of all flows together
        said = phrase("{sentence} Drawn is the largest flow.", sentence=said)
    drawn = waits(flow, title=said, theme=theme)
    if not any(each.limits for each in findings):
        return drawn
    both = together(drawn, limits(findings, theme=theme))
    text = "" if said == flow.cause.sentence else said
    return replace(both, description=f"{text} {drawn.description}".lstrip())


def _rows(flow: FlowCause) -> list[str]:
    """Return the causes that have a row, those of most of the time first."""
    shares = flow.cause.shares
    return [code for code, share in shares.items() if share >= LEAST_SHOWN][:MOST_ROWS]


def _named(flow: FlowCause, code: str) -> str:
    return f"{flow.cause.shares[code]:.0%} {cause_name(code)}"


def _describe(flow: FlowCause, rows: Sequence[str], *, shows_causes: bool) -> str:
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


def _bands(flow: FlowCause, rows: list[str], theme: Theme) -> dict[str, dict[str, Any]]:
    """Return the intervals as bars, neighbours of one cause joined, and the names above them."""
    assert flow.waits is not None
    palette, joined = PALETTES[theme], flow.waits.joined()
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
        bottom, top = (edge - row for edge in _BAR)
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


def _draw(
    flow: FlowCause,
    sources: Mapping[str, ColumnDataSource],
    row_count: int,
    title: str,
    theme: Theme,
) -> LayoutDOM:
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
    flow: FlowCause, sources: Mapping[str, ColumnDataSource], title: str, theme: Theme
) -> figure:
    d, ink, palette = flow.dialogue, INKS[theme], PALETTES[theme]
    high = 1.1 * float(d.end.max() - d.sequence[0]) if _is_far(flow) else None
    chart = new_figure(Axis("time", "s"), Axis("sequence", "byte", low=0.0, high=high), title=title)
    if "marks" in sources:
        shade = Quad(
            left="left", right="right", bottom="bottom", top="top", fill_color=palette[5],
            fill_alpha=0.25, line_color=palette[5],
        )  # fmt: skip
        chart.add_glyph(sources["marks"], shade, name=term("asked about"))
        chart.add_glyph(
            sources["marks"],
            Text(x="middle", y="top", text="text", text_color=ink, text_font={"value": FONT},
                 text_font_size="20px", text_font_style="bold", text_align="center",
                 text_baseline="top"),
        )  # fmt: skip
    edge = add_line(chart, sources["window edge"], line_color=palette[2], line_width=2,
                    line_dash=[6, 4])  # fmt: skip
    acked = add_line(chart, sources["acknowledged"], line_color=palette[0], line_width=2)
    dots = {"segments": ("circle", 4, ink), "sent again": ("x", 9, palette[1])}
    drawn = {
        name: chart.add_glyph(
            sources[name],
            Scatter(x="x", y="y", marker=marker, size=size, line_color=color, fill_color=color,
                    line_width=2 if marker == "x" else 0.5),
            name=name,
        )
        for name, (marker, size, color) in dots.items()
    }  # fmt: skip
    ranges = chart.add_glyph(
        sources["with SACK"],
        Segment(x0="x", y0="y", x1="x", y1="top", line_color=palette[4], line_width=2),
        name="with SACK",
    )
    add_hover(chart, list(drawn.values()), [("time", "x", "s"), ("up to", "y", "byte")])
    add_hover(
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
    add_legend(chart, [(name, [glyph]) for name, glyph in entries])
    return chart


def _band_chart(sources: Mapping[str, ColumnDataSource], count: int, theme: Theme) -> figure:
    chart = new_figure(
        Axis("time", "s"), Axis("", "1", low=-count + 0.5, high=0.5),
        title="What the flow waited for", height=_EDGES + _ROW * count,
    )  # fmt: skip
    chart.yaxis[0].ticker = FixedTicker(ticks=[])
    chart.yaxis[0].axis_label = None
    chart.ygrid[0].ticker = chart.yaxis[0].ticker
    bars = chart.add_glyph(
        sources["causes"],
        Quad(left="left", right="right", bottom="bottom", top="top", fill_color="color",
             line_color=None),
        name=term("waited for"),
    )  # fmt: skip
    chart.add_glyph(
        sources["names of causes"],
        Text(x="x", y="y", text="text", text_color=INKS[theme], text_font={"value": FONT},
             text_font_size="14px", text_align="left", text_baseline="middle"),
    )  # fmt: skip
    add_hover(
        chart, [bars], [("cause", "cause", "text"), ("evidence", "evidence", "text"),
                        ("numbers", "numbers", "text"),
                        ("from", "left", "s"), ("to", "right", "s"),
                        (term("share of the time"), "share", "ratio")],
    )  # fmt: skip
    return chart


def _trip_chart(sources: Mapping[str, ColumnDataSource], theme: Theme) -> figure:
    times = sources["round trips"].data["y"]
    most = float(np.percentile(times, 99)) if len(times) else 0.0
    few = bool(most > 0 and max(times) > 2 * most)  # few long ones would press the others down
    chart = new_figure(
        Axis("time", "s"), Axis("round trip", "s", low=0.0, high=1.3 * most if few else None),
        title=term("Round trips: a queue or a delayed ACK is above the line"), height=_TRIPS,
    )  # fmt: skip
    chart.yaxis[0].ticker.desired_num_ticks = 4
    look = Scatter(x="x", y="y", size=4, line_color=PALETTES[theme][0],
                   line_width=0.5, fill_color=PALETTES[theme][0])  # fmt: skip
    trips = chart.add_glyph(sources["round trips"], look, name="round trips")
    least = add_line(chart, sources["least round trip"], line_color=PALETTES[theme][1],
                     line_width=2, line_dash=[6, 4])  # fmt: skip
    add_hover(chart, [trips], [("time", "x", "s"), ("round trip", "y", "s")])
    name = "round trips"
    if few:
        name = phrase(
            "round trips (the longest {longest} is not shown)", longest=show(max(times), "s")
        )
    add_legend(chart, [(name, [trips]), (term("without a queue"), [least])])
    return chart
