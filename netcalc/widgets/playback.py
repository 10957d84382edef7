"""Packets that move along a path: played, paused and stepped, much slower than they are.

Theory is drawn as outlines, what was captured as fillings, in the same picture. All of it runs in
the page, without the kernel; a front end without widgets shows the picture of one moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anywidget
import traitlets

from netcalc.errors import DomainError
from netcalc.language import phrase
from netcalc.printable import html_text, printable_lines
from netcalc.units import show
from netcalc.widgets.figure import style_sheet

Kind: TypeAlias = Literal["theory", "captured"]

WIDTH, HEIGHT, MARGIN = 800, 150, 70
"""Size of the picture, and what is left at its sides for the names of the ends. [pixel]"""
LINE_Y, APART, THICK = 85, 20, 12
"""Where the path is, how far packets of each direction are from it, and how thick. [pixel]"""
LEAST_LENGTH = 8
"""Shortest packet that can be seen. [pixel]"""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A packet on one link.

    Parameters
    ----------
    packet : str
        What to call it.
    start, end : int
        Nodes it leaves and reaches, counted from 0 in the order of the path.
    leaves_s, left_s : float
        When its first and its last bit leave. [s]
    reaches_s, reached_s : float
        When its first and its last bit arrive. [s]
    kind : {'theory', 'captured'}
        Outline or filling.
    small : bool
        An acknowledgement, drawn thinner.
    """

    packet: str
    start: int
    end: int
    leaves_s: float
    left_s: float
    reaches_s: float
    reached_s: float
    kind: Kind = "theory"
    small: bool = False


@dataclass(frozen=True, slots=True)
class Activity:
    """What a node does meanwhile: it processes, holds an acknowledgement, waits for one."""

    node: int
    text: str
    start_s: float
    end_s: float
    kind: Kind = "theory"


class Playback(anywidget.AnyWidget):
    """Plays packets along a path.

    Parameters
    ----------
    nodes : sequence of str
        Names along the path.
    """

    _esm = Path(__file__).with_name("playback.js")
    _css = style_sheet("playback.css")
    nodes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    crossings = traitlets.List(traitlets.Dict()).tag(sync=True)
    waitings = traitlets.List(traitlets.Dict()).tag(sync=True)
    end_s = traitlets.Float(0.0).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    size = traitlets.Dict().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    """Texts of its buttons, and of what it says; it fills the braces."""

    def __init__(self, nodes: Sequence[str]) -> None:
        sizes = {
            "width": WIDTH, "height": HEIGHT, "margin": MARGIN, "line": LINE_Y, "apart": APART,
            "thick": THICK, "least": LEAST_LENGTH,
        }  # fmt: skip
        words = {
            "play": phrase("Play"),
            "pause": phrase("Pause"),
            "again": phrase("Play again"),
            "back": phrase("Step back"),
            "forth": phrase("Step"),
            "time": phrase("time"),
            "slowness": phrase("how slowly"),
            "slower": phrase("{times} times slower"),
            "faster": phrase("{times} times faster"),
            "still": phrase("{time}: nothing moves."),
            "moves": phrase("{packet} ({kind}) from {start} to {end}"),
            "theory": phrase("theory"),
            "captured": phrase("captured"),
        }
        super().__init__(nodes=[phrase(node) for node in nodes], size=sizes, words=words)
        self.layout.width = "100%"

    def show(self, crossings: Sequence[Crossing], waitings: Sequence[Activity] = ()) -> None:
        """Replace what is played; the picture goes back to the begin.

        Raises
        ------
        DomainError
            If a packet arrives before it leaves, or at a node that is not there.
        """
        for crossing in crossings:
            times = (crossing.leaves_s, crossing.left_s, crossing.reaches_s, crossing.reached_s)
            ordered = times[0] <= times[1] <= times[3] and times[0] <= times[2] <= times[3]
            if not ordered or not {crossing.start, crossing.end} <= set(range(len(self.nodes))):
                raise DomainError("not-sorted-times", "crossings")
        ends = [part.reached_s for part in crossings] + [part.end_s for part in waitings]
        with self.hold_sync():
            self.crossings = [asdict(part) for part in crossings]
            self.waitings = [asdict(part) for part in waitings]
            self.end_s = max(ends, default=0.0)
            self.description = printable_lines(_words(crossings, self.end_s))

    def saved_text(self) -> str:
        """Return what a notebook without a kernel shows: one moment, as a picture."""
        if not self.crossings:
            return ""
        return f"{self.picture(0.4 * self.end_s)}<br>{html_text(self.description)}"

    def picture(self, at_s: float) -> str:
        """Return the picture of one moment as SVG."""
        drawn = "".join(self._packet(crossing, at_s) for crossing in self.crossings)
        places = [self._x(index) for index in range(len(self.nodes))]
        names = "".join(
            f'<circle cx="{x:.0f}" cy="{LINE_Y}" r="6" fill="currentColor"/>'
            f'<text x="{x:.0f}" y="{LINE_Y + 48}" text-anchor="middle" fill="currentColor">'
            f"{html_text(name)}</text>"
            for x, name in zip(places, self.nodes, strict=True)
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{html_text(show(at_s, "s"))}" style="max-width:{WIDTH}px;width:100%">'
            f'<line x1="{places[0]:.0f}" y1="{LINE_Y}" x2="{places[-1]:.0f}" y2="{LINE_Y}" '
            f'stroke="currentColor"/>{drawn}{names}'
            f'<text x="{MARGIN}" y="20" fill="currentColor">{html_text(show(at_s, "s"))}</text>'
            "</svg>"
        )

    def _x(self, node: float) -> float:
        return MARGIN + node * (WIDTH - 2 * MARGIN) / max(len(self.nodes) - 1, 1)

    def _packet(self, crossing: dict[str, Any], at_s: float) -> str:
        """Return one packet where it is, the same as the page draws it."""
        if not crossing["leaves_s"] <= at_s <= crossing["reached_s"]:
            return ""
        span = crossing["end"] - crossing["start"]
        head, tail = (
            self._x(crossing["start"] + span * _share(at_s, crossing[leaves], crossing[reaches]))
            for leaves, reaches in (("leaves_s", "reaches_s"), ("left_s", "reached_s"))
        )
        low, long = min(head, tail), max(abs(head - tail), LEAST_LENGTH)
        thick = THICK / 2 if crossing["small"] else THICK
        y = LINE_Y + (-APART if span > 0 else APART) - thick / 2
        captured = crossing["kind"] == "captured"
        look = (
            'fill="#0072b2" fill-opacity="0.75"'
            if captured
            else 'fill="none" stroke="currentColor" stroke-width="2"'
        )
        return (
            f'<rect x="{low:.1f}" y="{y:.1f}" width="{long:.1f}" height="{thick:.1f}" rx="2" '
            f"{look}>"
            f"<title>{html_text(crossing['packet'])}</title></rect>"
        )


def _share(at_s: float, start_s: float, end_s: float) -> float:
    """Return which part of the way is done."""
    if at_s >= end_s:
        return 1.0
    return max(0.0, (at_s - start_s) / (end_s - start_s))


def _words(crossings: Sequence[Crossing], end_s: float) -> str:
    theory = sum(crossing.kind == "theory" for crossing in crossings)
    captured = len(crossings) - theory
    text = phrase(
        "{theory} crossings of a link by theory, as outlines, in {duration}.",
        theory=theory,
        duration=show(end_s, "s"),
    )
    if captured:
        text += " " + phrase("{captured} captured ones, as fillings.", captured=captured)
    return text
