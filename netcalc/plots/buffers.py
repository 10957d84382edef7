"""Chains of buffers: a box for each, filled as far as it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from bokeh.models import FixedTicker, PlainText, Quad, Text
from bokeh.plotting import figure

from netcalc.checks import named_arguments
from netcalc.language import phrase
from netcalc.plots import plot, style
from netcalc.printable import printable

MOST_BUFFERS = 9
"""Buffers of a chain that are drawn; of a longer one the first."""
_GAP = 0.16
_ROW = 74  # pixels a chain


class Buffer(NamedTuple):
    """One buffer of a chain.

    ``kind`` is its name in the legend, ``size_bytes`` what it can hold, ``used_bytes`` the data in
    it, and ``note`` what is said of it when the pointer is over it.
    """

    kind: str
    size_bytes: float
    used_bytes: float
    note: str = ""


@named_arguments
def buffers(
    chains: Mapping[str, Sequence[Buffer]],
    kinds: Sequence[str],
    *,
    title: str = "",
    description: str = "",
    theme: style.Theme = "light",
) -> plot.Plot:
    """Draw chains of buffers below each other, each buffer a box that is filled by its share.

    Parameters
    ----------
    chains : mapping of str to sequence of Buffer
        The buffers of each chain, in their order.
    kinds : sequence of str
        Kinds of buffers, in the order of the legend.
    title : str
        Title above the figure.
    description : str
        Text alternative; by default the bytes used of each buffer.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With the sources ``boxes`` and, for each kind, one of its name: the used parts.
    """
    names = list(chains)
    shown = [
        (row, at, chain)
        for row, name in enumerate(names)
        for at, chain in enumerate(list(chains[name])[:MOST_BUFFERS])
    ]
    sources = {"boxes": style.new_source("boxes", _columns(shown, names, filled=False))}
    for kind in kinds:
        mine = [entry for entry in shown if entry[2].kind == kind]
        sources[kind] = style.new_source(kind, _columns(mine, names, filled=True))
    text = description or _describe(chains, title)
    if any(len(chain) > MOST_BUFFERS for chain in chains.values()):
        text += phrase(
            " The first {most_buffers} of each chain are drawn.",
            most_buffers=MOST_BUFFERS,
        )
    draw = partial(_draw, sources, tuple(names), tuple(kinds), title, theme)
    return plot.Plot(
        draw, sources, text, theme, ("buffers", tuple(names), tuple(kinds), title, theme)
    )


def _columns(
    shown: Sequence[tuple[int, int, Buffer]], names: Sequence[str], *, filled: bool
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("left", "right", "bottom", "top", "x", "y", "below", "used", "size", "chain",
                     "kind", "note", "size_bytes", "used_bytes")
    }  # fmt: skip
    for row, at, buffer in shown:
        share = buffer.used_bytes / buffer.size_bytes if filled else 1.0
        left, width = at + _GAP / 2, 1.0 - _GAP
        values = {
            "left": left,
            "right": left + width * share,
            "bottom": -row - 0.27,
            "top": -row + 0.27,
            "x": left + width / 2,
            "y": float(-row),
            "below": -row - 0.4,
            "used": f"{buffer.used_bytes:.0f}",
            "size": f"of {buffer.size_bytes:.0f}",
            "chain": names[row],
            "kind": buffer.kind,
            "note": buffer.note,
            "size_bytes": buffer.size_bytes,
            "used_bytes": buffer.used_bytes,
        }
        for name, value in values.items():
            columns[name].append(value)
    return columns


def _draw(
    sources: Mapping[str, Any], names: tuple[str, ...], kinds: tuple[str, ...], title: str,
    theme: style.Theme,
) -> figure:  # fmt: skip
    rows = len(names)
    across = style.Axis(
        "buffer, with the bytes used of its size", "1", low=0.0, high=float(MOST_BUFFERS)
    )
    lanes = style.Axis("", "1", low=-rows + 0.35, high=0.6)
    chart = style.new_figure(across, lanes, title=title, height=110 + _ROW * rows)
    bottom = chart.xaxis[0]
    bottom.ticker = FixedTicker(ticks=[at + 0.5 for at in range(MOST_BUFFERS)])
    bottom.major_label_overrides = {
        at + 0.5: PlainText(text=str(at + 1)) for at in range(MOST_BUFFERS)
    }
    chart.grid.visible = False
    axis = chart.yaxis[0]
    axis.ticker = FixedTicker(ticks=[-float(i) for i in range(rows)])
    axis.major_label_overrides = {
        -float(i): PlainText(text=printable(name)) for i, name in enumerate(names)
    }
    axis.axis_label = None
    sides = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
    ink = style.INKS[theme]
    outline = Quad(**sides, fill_alpha=0.06, fill_color=ink, line_color=ink, line_width=1.5)
    boxes = chart.add_glyph(sources["boxes"], outline, name="free")
    entries = []
    for color, kind in zip(style.PALETTES[theme], kinds, strict=False):
        used = Quad(**sides, fill_color=color, fill_alpha=0.55, line_color=color)
        entries.append((kind, [chart.add_glyph(sources[kind], used, name=kind)]))
    for text, y in (("used", "y"), ("size", "below")):
        label = Text(
            x="x", y=y, text=text, text_color=ink, text_align="center", text_baseline="middle",
            text_font={"value": style.FONT}, text_font_size="14px",
        )  # fmt: skip
        chart.add_glyph(sources["boxes"], label)
    rows_shown = [("chain", "chain", "text"), ("buffer", "kind", "text"), ("", "note", "text"),
                  ("used", "used_bytes", "byte"), ("size", "size_bytes", "byte")]  # fmt: skip
    style.add_hover(chart, [boxes], rows_shown)
    style.add_legend(chart, entries)
    return chart


def _describe(chains: Mapping[str, Sequence[Buffer]], title: str) -> str:
    said = []
    for name, chain in chains.items():
        parts = ", ".join(
            f"{buffer.kind} {buffer.used_bytes:.0f} of {buffer.size_bytes:.0f}" for buffer in chain
        )
        said.append(
            phrase("{name}: {value} bytes", name=name, value=parts)
            if parts
            else phrase("{name}: no buffer", name=name)
        )
    return " ".join(filter(None, (title and f"{title}.", "; ".join(said) + ".")))
