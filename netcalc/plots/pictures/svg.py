"""A figure as a small SVG picture, for pages where neither a kernel nor BokehJS runs.

It reads the bokeh figure that the other functions of this package built and draws the glyphs they
use: lines, points, bands, bars and polygons. Bokeh's own export needs a browser.
"""

from __future__ import annotations

import hashlib
import math
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    GlyphRenderer,
    LayoutDOM,
    Legend,
    Line,
    LogAxis,
    MultiLine,
    Patches,
    Quad,
    Range1d,
    Scatter,
    Text,
    VArea,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.plots.pictures._svg import Scale, marker, path, text_at
from netcalc.plots.plot import Plot
from netcalc.plots.style import GRIDS, INKS, LEGEND_ROW, PAPERS, has_marks
from netcalc.printable import html_text
from netcalc.units import show

WIDTH = 760
LEFT, RIGHT, TOP, BOTTOM = 116, 40, 34, 52
ROW = 20
CHARACTER = 8.0
"""Width of a character of a label, about."""
# On 644 pixels a line of 150 points is smooth, and a picture stays at a few kilobytes.
LINE_POINTS = 150
SCATTER_POINTS = 300
_LARGEST_COUNT = 1e6
"""From here on a number of a tick is a power of ten."""
_TITLE = 74
"""Characters of a line of the title."""
DOT = 5.0
"""Circles up to this size are dots of one path."""
MOST_RECTS = 40
"""Bars of one colour beyond which they are one path, at a third of the text."""

_KEY = "\0"  # placeholder for the key of a picture; escaped text never contains it


@named_arguments
def svg(plot: Plot, *, description: str = "") -> str:
    """Return a static picture of a figure as SVG text of a few kilobytes.

    Its title, which is read aloud, is the text alternative of the figure or another description.
    """
    parts: list[str] = []
    top = 0.0
    for chart in charts(plot.figure):
        height, drawn = _chart(chart, top, plot)
        parts += drawn
        top += height
    ink, paper = INKS[plot.theme], PAPERS[plot.theme]
    body = "\n".join(parts)  # a comparison of two files shows which curve has changed
    # Names in the pictures of one page must differ, so they contain the hash of the content.
    body = body.replace(_KEY, hashlib.sha256(body.encode()).hexdigest()[:12])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top:.0f}" '
        f'width="{WIDTH}" height="{top:.0f}" role="img" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="14" fill="{ink}"><title>{html_text(description or plot.description)}</title>'
        f'<rect width="100%" height="100%" fill="{paper}"/>{body}</svg>'
    )


def charts(layout: LayoutDOM) -> Iterator[figure]:
    """Yield the charts of a figure, from the top down."""
    if isinstance(layout, figure):
        yield layout
    for child in getattr(layout, "children", []):
        yield from charts(child)


def _chart(chart: figure, top: float, plot: Plot) -> tuple[float, list[str]]:
    legends = [item for item in chart.above if isinstance(item, Legend)]
    items = [item for legend in legends for item in legend.items]
    entries = [item for item in items if has_marks(item)]
    title = title_lines(str(chart.title.text.text))
    more = ROW * (len(title) - 1)
    head = (TOP if title[0] else 10) + more + ROW * len(entries)
    height = float(chart.height) - LEGEND_ROW * len(items) + ROW * len(entries) + more
    box = (_left(chart), top + head, WIDTH - RIGHT, top + height - BOTTOM)
    glyphs = [r for r in chart.renderers if isinstance(r, GlyphRenderer)]
    x_log, y_log = (isinstance(axis[0], LogAxis) for axis in (chart.xaxis, chart.yaxis))
    beside = [one for one in charts(plot.figure) if one.x_range is chart.x_range]
    along = [r for one in beside for r in one.renderers if isinstance(r, GlyphRenderer)]
    xs = limits(along, chart.x_range, "x", log=x_log)
    ys = limits(glyphs, chart.y_range, "y", log=y_log)
    if chart.match_aspect:
        xs, ys = one_scale(xs, ys, width=box[2] - box[0], height=box[3] - box[1])
    x = Scale(*xs, start=box[0], end=box[2], log=x_log)
    down, up = (box[3], box[1]) if ys[0] <= ys[1] else (box[1], box[3])
    y = Scale(min(ys), max(ys), start=down, end=up, log=y_log)
    out = _frame(chart, x, y, box, plot)
    name = f"clip-{_KEY}-{top:.0f}"
    out.append(
        f'<clipPath id="{name}"><rect x="{box[0]}" y="{box[1]:.0f}" width="{box[2] - box[0]}" '
        f'height="{box[3] - box[1]:.0f}"/></clipPath><g clip-path="url(#{name})">'
    )
    for renderer in glyphs:
        out += _glyph(renderer, x, y)
    out.append("</g>")
    for row, line in enumerate(filter(None, title)):
        out.append(text_at(line, 8, top + 22 + ROW * row, size=17, weight="bold"))
    first = top + head - ROW * len(entries) + 6
    for i, item in enumerate(entries):
        out += _key(item.renderers, first + ROW * i)
        out.append(text_at(str(item.label.value), LEFT + 48, first + ROW * i + 5))
    return height, out


def title_lines(title: str) -> list[str]:
    """Return a title in lines of like length that fit the picture."""
    rows = -(-len(title) // _TITLE)
    return textwrap.wrap(title, len(title) // rows + 8) if rows > 1 else [title]


def _left(chart: figure) -> float:
    """Return where the plot area begins: names beside bars need more room than numbers."""
    names = [str(one.text) for one in chart.yaxis[0].major_label_overrides.values()]
    return max(LEFT, 16.0 + CHARACTER * max(map(len, names), default=0))


def _frame(
    chart: figure, x: Scale, y: Scale, box: tuple[float, float, float, float], plot: Plot
) -> list[str]:
    left, up, right, down = box
    grid = GRIDS[plot.theme]
    out: list[str] = []
    if not chart.xaxis[0].visible:
        return out
    for tick in ticks(chart.xaxis[0], x):
        at = float(x(tick))
        out.append(path(f"M{at:.1f} {up:.1f}V{down:.1f}", grid, 1))
        out.append(text_at(tick_text(chart.xaxis[0], tick), at, down + 18, anchor="middle"))
    for tick in ticks(chart.yaxis[0], y):
        at = float(y(tick))
        out.append(path(f"M{left:.1f} {at:.1f}H{right:.1f}", grid, 1))
        out.append(text_at(tick_text(chart.yaxis[0], tick), left - 6, at + 5, anchor="end"))
    middle = (up + down) / 2
    out.append(path(f"M{left} {up:.1f}V{down:.1f}H{right}", "currentColor", 1))
    if chart.xaxis[0].axis_label:
        label = chart.xaxis[0].axis_label.text
        out.append(text_at(label, (left + right) / 2, down + 42, size=16, anchor="middle"))
    if chart.yaxis[0].axis_label:
        label = chart.yaxis[0].axis_label.text
        turned = f' transform="rotate(-90 18 {middle:.1f})"'
        out.append(text_at(label, 18, middle, size=16, anchor="middle", more=turned))
    return out


def ticks(axis: Any, scale: Scale) -> list[float]:
    """Return where an axis has ticks."""
    if isinstance(axis.ticker, FixedTicker):
        return sorted(tick for tick in axis.ticker.ticks if scale.low <= tick <= scale.high)
    least = getattr(axis.ticker, "min_interval", 0)
    return [tick for tick in scale.ticks() if not least or tick == round(tick)]


def tick_text(axis: Any, value: float) -> str:
    """Return what is written at a tick: ``20 ms``, ``1.5 kB``."""
    if value in axis.major_label_overrides:
        return str(axis.major_label_overrides[value].text)
    unit = getattr(axis.formatter, "args", {}).get("unit", "1")
    if unit == "1" and 1e3 <= abs(value) < _LARGEST_COUNT:
        return f"{value:,g}"
    return show(value, unit, digits=3)


def _glyph(renderer: GlyphRenderer, x: Scale, y: Scale) -> list[str]:
    glyph, data = renderer.glyph, renderer.data_source.data
    if isinstance(glyph, Line):
        return [_polyline(x(data[glyph.x]), y(data[glyph.y]), glyph)]
    if isinstance(glyph, MultiLine):
        return [_polylines(x, y, data, glyph)]
    if isinstance(glyph, Scatter):
        return _markers(x(data[glyph.x]), y(data[glyph.y]), glyph)
    if isinstance(glyph, VArea):
        at, low, high = (_thin(np.asarray(data[c], float)) for c in (glyph.x, glyph.y1, glyph.y2))
        outline = zip([*x(at), *x(at)[::-1]], [*y(low), *y(high)[::-1]], strict=True)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in outline if math.isfinite(a + b))
        return [f'<polygon points="{points}" fill="{glyph.fill_color}" fill-opacity="0.2"/>']
    if isinstance(glyph, Patches):
        return _patches(renderer, x, y)
    if isinstance(glyph, Quad):
        return _quads(renderer, x, y)
    if isinstance(glyph, Text):
        rows = zip(x(data[glyph.x]), y(data[glyph.y]), data[glyph.text], strict=True)
        anchor = "start" if glyph.text_align == "left" else "middle"
        return [text_at(str(text), a, b + 5, anchor=anchor) for a, b, text in rows]
    return []


def _polyline(xs: NDArray[Any], ys: NDArray[Any], glyph: Line) -> str:
    steps: list[str] = []
    pen, level, run = "M", "", 0  # how many points in a row have this height
    for a, b in zip(_thin(xs), _thin(ys), strict=True):
        if not math.isfinite(a + b):
            pen, run = "M", 0
            continue
        height = f"{min(max(b, -1e4), 1e4):.1f}"
        run = run + 1 if pen == "L" and height == level else 1
        if run > 2:  # the ends of a level stretch say all
            steps.pop()
        steps.append(f"{pen}{a:.1f} {height}")
        pen, level = "L", height
    dash = " ".join(str(d) for d in glyph.line_dash)
    more = f' stroke-dasharray="{dash}"' if dash else ""
    return path("".join(steps), glyph.line_color, glyph.line_width, more)


def _polylines(x: Scale, y: Scale, data: Any, glyph: MultiLine) -> str:
    steps = []
    for xs, ys in zip(data[glyph.xs], data[glyph.ys], strict=True):
        pairs = [f"{a:.1f} {b:.1f}" for a, b in zip(x(xs), y(ys), strict=True)]
        steps.append("M" + "L".join(pairs))
    dash = " ".join(str(d) for d in value_of(glyph.line_dash))
    more = f' stroke-dasharray="{dash}"' if dash else ""
    alpha = value_of(glyph.line_alpha)
    more += "" if alpha == 1.0 else f' stroke-opacity="{alpha:g}"'
    return path("".join(steps), value_of(glyph.line_color), value_of(glyph.line_width), more)


def _markers(xs: NDArray[Any], ys: NDArray[Any], glyph: Scatter) -> list[str]:
    step = max(1, -(-len(xs) // SCATTER_POINTS))
    color, shape = glyph.line_color, str(value_of(glyph.marker))
    pairs = zip(xs[::step], ys[::step], strict=True)
    found = [(a, b) for a, b in pairs if math.isfinite(a + b)]
    size = float(value_of(glyph.size))
    if shape == "circle" and size <= DOT:
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in found)
        return [path(dots, str(color), size, ' stroke-linecap="round"')]
    return [marker(shape, a, b, color) for a, b in found]


def _patches(renderer: GlyphRenderer, x: Scale, y: Scale) -> list[str]:
    data, glyph, out = renderer.data_source.data, renderer.glyph, []
    for i, (xs, ys) in enumerate(zip(data[glyph.xs], data[glyph.ys], strict=True)):
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(xs), y(ys), strict=True))
        color = value_of(glyph.fill_color, data, i)
        out.append(f'<polygon points="{points}" fill="{color}" fill-opacity="0.55"/>')
    return out


def _quads(renderer: GlyphRenderer, x: Scale, y: Scale) -> list[str]:
    data, glyph = renderer.data_source.data, renderer.glyph
    opacity, bars = value_of(glyph.fill_alpha), []
    for i, (left, right, down, up) in enumerate(
        zip(*(data[c] for c in (glyph.left, glyph.right, glyph.bottom, glyph.top)), strict=True)
    ):
        one, other = float(x(left)), float(x(right))
        low, high = float(y(down)), float(y(up))
        sides = (one, min(high, low), max(other - one, 0.0), abs(low - high))
        bars.append((value_of(glyph.fill_color, data, i), sides))
    if len(bars) > MOST_RECTS and len({color for color, _ in bars}) == 1:
        outline = "".join(f"M{a:.1f} {b:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z" for _, (a, b, w, h) in bars)
        return [f'<path d="{outline}" fill="{bars[0][0]}" fill-opacity="{opacity}"/>']
    return [
        f'<rect x="{a:.1f}" y="{b:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{color}" '
        f'fill-opacity="{opacity}"/>'
        for color, (a, b, w, h) in bars
    ]


def _key(renderers: list[GlyphRenderer], y: float) -> list[str]:
    out: list[str] = []
    for renderer in renderers:
        glyph = renderer.glyph
        if isinstance(glyph, Line):
            out.append(_polyline(np.array([LEFT, LEFT + 38.0]), np.array([y, y]), glyph))
        elif isinstance(glyph, MultiLine):
            ends = {glyph.xs: [[0.0, 1.0]], glyph.ys: [[0.0, 1.0]]}
            across = Scale(0.0, 1.0, start=LEFT, end=LEFT + 38.0, log=False)
            level = Scale(0.0, 1.0, start=y, end=y, log=False)
            out.append(_polylines(across, level, ends, glyph))
        elif isinstance(glyph, Scatter):
            out.append(marker(str(value_of(glyph.marker)), LEFT + 19, y, glyph.line_color))
        else:
            color = value_of(glyph.fill_color, renderer.data_source.data, 0)
            opacity = 1 if value_of(glyph.fill_alpha) == 1.0 else 0.4
            out.append(
                f'<rect x="{LEFT}" y="{y - 6:.1f}" width="38" height="12" fill="{color}" '
                f'fill-opacity="{opacity}"/>'
            )
    return out


def value_of(spec: Any, data: Any = None, index: int = 0) -> Any:
    """Return the value of a bokeh property that may name a column."""
    if isinstance(spec, str) and data is not None and spec in data:
        return data[spec][index] if len(data[spec]) > index else "gray"
    field = getattr(spec, "field", None)
    if field is not None and data is not None:
        return data[field][index]
    return getattr(spec, "value", spec)


def one_scale(
    xs: tuple[float, float], ys: tuple[float, float], *, width: float, height: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return limits about the same middles with as many data a pixel in both directions."""
    scale = max((xs[1] - xs[0]) / width, (ys[1] - ys[0]) / height)

    def about(low: float, high: float, pixels: float) -> tuple[float, float]:
        middle = (low + high) / 2.0
        return middle - scale * pixels / 2.0, middle + scale * pixels / 2.0

    return about(*xs, width), about(*ys, height)


def limits(
    glyphs: list[GlyphRenderer], given: Any, along: str, *, log: bool
) -> tuple[float, float]:
    """Return the ends of an axis, as given or around what is drawn."""
    if isinstance(given, Range1d):
        return float(given.start), float(given.end)
    glyphs = given.renderers or glyphs
    values = np.concatenate(
        [np.zeros(0), *(_extent(r.glyph, r.data_source, along) for r in glyphs)]
    )
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    pad = 0.0 if log else 0.05 * (high - low)
    # A given start or end is kept; bokeh has nan where none was given.
    start, end = (getattr(given, side, None) for side in ("start", "end"))
    low = low - pad if start is None or math.isnan(start) else float(start)
    return low, high + pad if end is None or math.isnan(end) else float(end)


_EXTENT = {"x": ("x", "xs", "left", "right"), "y": ("y", "y1", "y2", "ys", "bottom", "top")}


def _extent(glyph: Any, source: ColumnDataSource, along: str) -> NDArray[np.float64]:
    found: list[float] = []
    for name in _EXTENT[along]:
        column = getattr(glyph, name, None)
        if isinstance(column, str) and column in source.data:
            for item in source.data[column]:
                found += item if isinstance(item, list) else [item]
    return np.asarray(found, dtype=float)


def _thin(values: NDArray[Any]) -> NDArray[Any]:
    return values[:: max(1, -(-len(values) // LINE_POINTS))]
