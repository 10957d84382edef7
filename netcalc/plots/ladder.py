"""Ladder diagram of the segments between a client and a server, and of their waits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, PlainText, Quad, Text
from bokeh.plotting import figure

from netcalc.checks import named_arguments
from netcalc.language import phrase, term
from netcalc.models.hosts.write_timeline import (
    ACKNOWLEDGEMENT,
    CLIENT,
    HOLDS_ACK,
    RESPONSE,
    SEGMENT,
    TO_SERVER,
    WAITS_FOR_ACK,
    WORKS,
    WriteTimeline,
)
from netcalc.plots.plot import Plot
from netcalc.plots.style import (
    DASHES,
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
from netcalc.units import show

ARROWS = (SEGMENT, ACKNOWLEDGEMENT, RESPONSE)
WAITS = (WAITS_FOR_ACK, HOLDS_ACK, WORKS)
NAMES = {
    WAITS_FOR_ACK: term("waits for acknowledgement"),
    HOLDS_ACK: term("holds acknowledgement"),
    SEGMENT: term("segment"),
    ACKNOWLEDGEMENT: term("acknowledgement"),
    RESPONSE: term("response"),
    WORKS: term("works"),
}
"""Their names in the legend; saved runs hold the same."""
_LANE = 0.07  # half the height of a lane
_HEIGHT = 230


@named_arguments
def ladder(
    steps: WriteTimeline, *, title: str = "", description: str = "", theme: Theme = "light"
) -> Plot:
    """Draw a request written in parts: time to the right, the client above the server.

    Parameters
    ----------
    steps : WriteTimeline
        Segments and waits, from :mod:`netcalc.models.hosts.write_timeline`.
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
    sources = {what: new_source(what, _arrows(steps, what)) for what in ARROWS}
    sources |= {what: new_source(what, _bars(steps, what)) for what in WAITS}
    sources["labels"] = new_source("labels", _labels(steps))
    shown = (*ARROWS, *(what for what in WAITS if what in steps.what))
    draw = partial(_draw, sources, shown, title, theme)
    return Plot(draw, sources, description or _describe(steps), theme,
                ("ladder", title, theme, shown))  # fmt: skip


def _draw(sources: dict[str, Any], shown: tuple[str, ...], title: str, theme: Theme) -> figure:
    palette, ink = PALETTES[theme], INKS[theme]
    chart = new_figure(
        Axis("time", "s"), Axis("", "1", low=-1.35, high=0.35), title=title, height=_HEIGHT
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
        drawn[what] = add_line(
            chart, sources[what], line_color=palette[index], line_dash=DASHES[index]
        )
    add_hover(chart, [drawn[what] for what in ARROWS], [("time", "x", "s")])
    for index, what in enumerate(WAITS):
        bar = Quad(
            left="left", right="right", bottom="bottom", top="top",
            fill_color=palette[len(ARROWS) + index], fill_alpha=0.6, line_color=ink,
        )  # fmt: skip
        drawn[what] = chart.add_glyph(sources[what], bar, name=what)
    bars = [drawn[what] for what in WAITS]
    add_hover(chart, bars, [("from", "left", "s"), ("until", "right", "s")])
    label = Text(
        x="x", y="y", text="text", text_color=ink, text_align="center",
        text_baseline="middle", text_font={"value": FONT}, text_font_size="13px",
    )  # fmt: skip
    chart.add_glyph(sources["labels"], label)
    add_legend(chart, [(NAMES[what], [drawn[what]]) for what in shown])
    return chart


def _rows(steps: WriteTimeline, what: str) -> list[int]:
    return [row for row, step in enumerate(steps.what) if step == what]


def _arrows(steps: WriteTimeline, what: str) -> dict[str, Any]:
    """Return all arrows as one line with gaps."""
    x: list[float] = []
    y: list[float] = []
    for row in _rows(steps, what):
        x += [float(steps.start_s[row]), float(steps.end_s[row]), np.nan]
        y += [0.0, -1.0, np.nan] if steps.who[row] == TO_SERVER else [-1.0, 0.0, np.nan]
    return {"x": np.array(x, float), "y": np.array(y, float)}


def _bars(steps: WriteTimeline, what: str) -> dict[str, Any]:
    rows = _rows(steps, what)
    lanes = np.array([0.0 if steps.who[row] == CLIENT else -1.0 for row in rows])
    return {
        "left": steps.start_s[rows],
        "right": steps.end_s[rows],
        "bottom": lanes - _LANE,
        "top": lanes + _LANE,
    }


def _labels(steps: WriteTimeline) -> dict[str, Any]:
    """Return the duration of each wait, outside its lane."""
    rows = [row for row, what in enumerate(steps.what) if what in WAITS]
    length = steps.end_s[rows] - steps.start_s[rows]
    outside = [0.2 if steps.who[row] == CLIENT else -1.2 for row in rows]
    return {
        "x": (steps.start_s[rows] + steps.end_s[rows]) / 2,
        "y": np.array(outside, float),
        "text": [show(float(time), "s", digits=3) for time in length],
    }


def _describe(steps: WriteTimeline) -> str:
    if not steps.what:
        return phrase("No request: a value is not known.")
    count = sum(what == SEGMENT for what in steps.what)
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
