"""Figures as files without a page: SVG of a few kilobytes, and PNG and SVG by matplotlib."""

from __future__ import annotations

import hashlib
import io
import math
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.models import (
    BoxAnnotation,
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
    Title,
    VArea,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.errors import MissingPackageError
from netcalc.plots.plot import Plot
from netcalc.plots.style import GRIDS, INKS, LEGEND_ROW, PAPERS, has_marks
from netcalc.printable import html_text
from netcalc.samples import write_atomically
from netcalc.units import show


class Scale:
    """From data to pixels along one axis."""

    def __init__(self, low: float, high: float, *, start: float, end: float, log: bool) -> None:
        if log:
            low = low if low > 0 else (high / 1e6 if high > 0 else 1.0)
            high = high if high > low else low * 10
        elif not high > low:
            low, high = low - 0.5, low + 0.5
        self.low, self.high, self.log = low, high, log
        self._start, self._end = start, end

    def __call__(self, values: Any) -> NDArray[np.float64]:
        values = np.asarray(values, dtype=float)
        low, high = self.low, self.high
        if self.log:
            with np.errstate(invalid="ignore", divide="ignore"):
                values = np.where(values > 0, np.log10(values), np.nan)
            low, high = math.log10(low), math.log10(high)
        share: NDArray[np.float64] = (values - low) / (high - low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.log10(self.high) + 1e-9
            step = max(1, math.ceil((last - first) / 8))
            decades = [10.0**e for e in range(first, math.floor(last) + 1, step)]
            if len(decades) > 1:
                return decades
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step_size = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
        first = math.ceil(self.low / step_size - 1e-9)
        count = math.floor(self.high / step_size + 1e-9) - first + 1
        return [(first + i) * step_size for i in range(count)]


_SHAPES = {
    "triangle": "M0 -6L5.5 4H-5.5Z",
    "inverted_triangle": "M0 6L5.5 -4H-5.5Z",
    "square": "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "diamond": "M0 -6L4.5 0L0 6L-4.5 0Z",
    "x": "M-5 -5L5 5M-5 5L5 -5",
    "star": "M0 -6L1.8 -1.9H5.7L2.6 .8L3.7 5L0 2.5L-3.7 5L-2.6 .8L-5.7 -1.9H-1.8Z",
}


def marker(shape: str, x: float, y: float, color: str) -> str:
    if shape not in _SHAPES:
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" stroke="{color}" fill="{color}" '
            'fill-opacity="0.35"/>'
        )
    return (
        f'<path d="{_SHAPES[shape]}" transform="translate({x:.1f} {y:.1f})" stroke="{color}" '
        f'stroke-width="1.5" fill="{color}" fill-opacity="0.35"/>'
    )


def path(d: str, color: str, width: float, more: str = "") -> str:
    return f'<path d="{d}" fill="none" stroke="{color}" stroke-width="{width:g}"{more}/>'


def text_at(
    text: str,
    x: float,
    y: float,
    *,
    size: int = 14,
    anchor: str = "start",
    weight: str = "normal",
    more: str = "",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{more}>{html_text(text)}</text>'
    )


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
    beside = [other for other in charts(plot.figure) if other.x_range is chart.x_range]
    along = [r for other in beside for r in other.renderers if isinstance(r, GlyphRenderer)]
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
    names = [
        str(major_label_override.text)
        for major_label_override in chart.yaxis[0].major_label_overrides.values()
    ]
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
    points = [(a, b) for a, b in pairs if math.isfinite(a + b)]
    size = float(value_of(glyph.size))
    if shape == "circle" and size <= DOT:
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in points)
        return [path(dots, str(color), size, ' stroke-linecap="round"')]
    return [marker(shape, a, b, color) for a, b in points]


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
        left_px, right_px = float(x(left)), float(x(right))
        low, high = float(y(down)), float(y(up))
        sides = (left_px, min(high, low), max(right_px - left_px, 0.0), abs(low - high))
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
    glyphs: list[GlyphRenderer], axis_range: Any, along: str, *, log: bool
) -> tuple[float, float]:
    """Return the ends of an axis, as given or around what is drawn."""
    if isinstance(axis_range, Range1d):
        return float(axis_range.start), float(axis_range.end)
    glyphs = axis_range.renderers or glyphs
    values = np.concatenate(
        [np.zeros(0), *(_extent(r.glyph, r.data_source, along) for r in glyphs)]
    )
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    pad = 0.0 if log else 0.05 * (high - low)
    # A given start or end is kept; bokeh has nan where none was given.
    start, end = (getattr(axis_range, side, None) for side in ("start", "end"))
    low = low - pad if start is None or math.isnan(start) else float(start)
    return low, high + pad if end is None or math.isnan(end) else float(end)


_EXTENT = {"x": ("x", "xs", "left", "right"), "y": ("y", "y1", "y2", "ys", "bottom", "top")}


def _extent(glyph: Any, source: ColumnDataSource, along: str) -> NDArray[np.float64]:
    values: list[float] = []
    for name in _EXTENT[along]:
        column = getattr(glyph, name, None)
        if isinstance(column, str) and column in source.data:
            for item in source.data[column]:
                values += item if isinstance(item, list) else [item]
    return np.asarray(values, dtype=float)


def _thin(values: NDArray[Any]) -> NDArray[Any]:
    return values[:: max(1, -(-len(values) // LINE_POINTS))]


PICTURE_SUFFIXES = (".png", ".svg")
"""The forms that a picture has."""
_DOTS_PER_INCH = 150
_WIDTH_INCH = 8.0
_PIXELS_PER_INCH = 82.0  # of the page
_PAD = 0.03
_LINE_INCH = 0.2
_ENTRY_INCH = 0.2
_HATCHES = {"/": "//", "x": "xx"}
_MARKERS = {
    "circle": "o", "triangle": "^", "square": "s", "diamond": "D", "inverted_triangle": "v",
    "star": "*", "x": "x",
}  # fmt: skip


@named_arguments
def save_picture(plot: Plot, path: str | Path) -> None:
    """Write a figure to a file; its name says in which form.

    Parameters
    ----------
    plot : Plot
        The figure, or several below each other.
    path : path
        A file that ends with ``.png`` or ``.svg``; replaced as a whole or not at all.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError("matplotlib", extra="lab", purpose="PNG and SVG") from error
    path = Path(path)
    every = list(charts(plot.figure))
    heights = [_height(chart) for chart in every]
    ink, paper = INKS[plot.theme], PAPERS[plot.theme]
    look: Any = {
        "svg.hashsalt": "netcalc", "svg.fonttype": "none", "text.parse_math": False,
        "text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": ink, "xtick.color": ink,
        "ytick.color": ink, "figure.constrained_layout.h_pad": 0.08,
        "figure.constrained_layout.w_pad": 0.08, "figure.constrained_layout.hspace": 0.06,
    }  # fmt: skip
    # Without times and random numbers in it the same figure is the same file.
    with rc_context(look):
        sheet = Figure(figsize=(_WIDTH_INCH, sum(heights)), layout="constrained", facecolor=paper)
        parts = sheet.subfigures(len(every), 1, height_ratios=heights, squeeze=False)[:, 0]
        for part, chart in zip(parts, every, strict=True):
            part.set_facecolor(paper)
            _chart_drawn(part, chart, plot)
        written = io.BytesIO()
        sheet.savefig(
            written, format=path.suffix[1:], dpi=_DOTS_PER_INCH,
            metadata={"Date": None} if path.suffix == ".svg" else None,
        )  # fmt: skip
    write_atomically(path, written.getvalue())


def _entries(chart: figure) -> list[Any]:
    legends = [item for item in chart.above if isinstance(item, Legend)]
    return [item for legend in legends for item in legend.items]


def _below(chart: figure) -> list[str]:
    return [str(title.text.text) for title in chart.below if isinstance(title, Title)]


def _height(chart: figure) -> float:
    """Return the height of a chart with its legend and the lines below it, in inches."""
    items, lines = _entries(chart), _below(chart)
    bare = chart.height - LEGEND_ROW * len(items) - 20 * len(lines)
    shown = sum(map(has_marks, items))
    more = len(title_lines(str(chart.title.text.text))) - 1
    return float(bare / _PIXELS_PER_INCH + _ENTRY_INCH * (shown + more) + _LINE_INCH * len(lines))


def _chart_drawn(part: Any, chart: figure, plot: Plot) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axes = part.subplots()
    axes.set_facecolor(PAPERS[plot.theme])
    glyphs = [renderer for renderer in chart.renderers if isinstance(renderer, GlyphRenderer)]
    for along, axis_range, drawn in (
        ("x", chart.x_range, chart.xaxis[0]), ("y", chart.y_range, chart.yaxis[0])
    ):  # fmt: skip
        is_log = isinstance(drawn, LogAxis)
        low, high = limits(glyphs, axis_range, along, log=is_log)
        if is_log and along == "y" and not isinstance(axis_range, Range1d):
            low, high = low * (low / high) ** _PAD, high * (high / low) ** _PAD
        scale = Scale(min(low, high), max(low, high), start=0.0, end=1.0, log=is_log)
        axis = axes.xaxis if along == "x" else axes.yaxis
        axes.set(**{f"{along}scale": "log" if is_log else "linear"})
        axes.set(**{f"{along}lim": (low, high)})
        at = ticks(drawn, scale)
        axis.set_major_locator(FixedLocator(at))
        axis.set_major_formatter(FixedFormatter([tick_text(drawn, tick) for tick in at]))
        axis.set_minor_locator(NullLocator())
        if drawn.axis_label:
            unit = getattr(drawn.formatter, "args", {}).get("unit", "1")
            axis.set_label_text(drawn.axis_label.text.removesuffix(f" [{unit}]"))  # of the ticks
    if chart.match_aspect:
        axes.set_aspect("equal", adjustable="box")
    if not chart.xaxis[0].visible:
        axes.set_axis_off()
    axes.grid(visible=True, color=GRIDS[plot.theme])
    if not chart.ygrid[0].visible:
        axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for box in chart.center:
        if isinstance(box, BoxAnnotation):
            axes.axvspan(
                box.left, box.right, facecolor="0.93", edgecolor="0.7", linewidth=0.0,
                hatch=_HATCHES.get(str(box.hatch_pattern)),
            )  # fmt: skip
    for renderer in glyphs:
        _glyph_drawn(axes, renderer)
    shown = [item for item in _entries(chart) if has_marks(item)]
    if shown:
        from matplotlib.legend_handler import HandlerTuple

        marks = [tuple(_key_drawn(renderer) for renderer in item.renderers) for item in shown]
        axes.legend(
            marks, [str(item.label.value) for item in shown], loc="lower left",
            bbox_to_anchor=(0.0, 1.0), frameon=False, handlelength=3.0, borderaxespad=0.2,
            labelspacing=0.35, handler_map={tuple: HandlerTuple(ndivide=1)},
        )  # fmt: skip
    if chart.title.text.text:
        title = "\n".join(title_lines(str(chart.title.text.text)))
        part.suptitle(title, x=0.02, ha="left", fontsize=13)
    if lines := _below(chart):
        part.supxlabel("\n".join(lines), x=0.02, ha="left", fontsize=9)


def _glyph_drawn(axes: Any, renderer: GlyphRenderer) -> None:
    glyph, data = renderer.glyph, renderer.data_source.data
    if isinstance(glyph, Line):
        axes.plot(data[glyph.x], data[glyph.y], **_line(glyph))
    elif isinstance(glyph, Scatter):
        axes.plot(data[glyph.x], data[glyph.y], linestyle="none", **_marker(glyph))
    elif isinstance(glyph, VArea):
        low, high = data[glyph.y1], data[glyph.y2]
        axes.fill_between(
            data[glyph.x], low, high, facecolor=glyph.fill_color, alpha=glyph.fill_alpha,
            linewidth=0.0,
        )  # fmt: skip
    elif isinstance(glyph, MultiLine):
        for xs, ys in zip(data[glyph.xs], data[glyph.ys], strict=True):
            axes.plot(xs, ys, **_line(glyph))
    elif isinstance(glyph, Patches):
        for i, (xs, ys) in enumerate(zip(data[glyph.xs], data[glyph.ys], strict=True)):
            color = value_of(glyph.fill_color, data, i)
            axes.fill(xs, ys, facecolor=color, alpha=0.55, linewidth=0.0)
    elif isinstance(glyph, Quad):
        _quads_drawn(axes, glyph, data)
    elif isinstance(glyph, Text):
        rows = zip(data[glyph.x], data[glyph.y], data[glyph.text], strict=True)
        for x, y, text in rows:
            axes.text(x, y, str(text), ha=glyph.text_align, va="center")


def _quads_drawn(axes: Any, glyph: Quad, data: Any) -> None:
    from matplotlib.collections import PolyCollection

    left, right, bottom, top = (
        np.asarray(data[name], dtype=float)
        for name in (glyph.left, glyph.right, glyph.bottom, glyph.top)
    )
    corners: Any = np.stack(
        [np.stack(pair, axis=-1) for pair in
         ((left, bottom), (right, bottom), (right, top), (left, top))], axis=1,
    )  # fmt: skip
    colors = [value_of(glyph.fill_color, data, i) for i in range(len(left))]
    axes.add_collection(
        PolyCollection(
            corners,
            facecolors=colors,
            alpha=value_of(glyph.fill_alpha),
            linewidths=0.0,
            antialiaseds=False,
        )
    )


def _line(glyph: Line | MultiLine) -> dict[str, Any]:
    width = value_of(glyph.line_width)
    dash = [length / width for length in value_of(glyph.line_dash)]
    style: Any = (0, dash) if dash else "-"
    look = {"linewidth": 0.7 * width, "linestyle": style, "alpha": value_of(glyph.line_alpha)}
    return {"color": value_of(glyph.line_color), **look}


def _marker(glyph: Scatter) -> dict[str, Any]:
    shape = str(value_of(glyph.marker))
    return {
        "marker": _MARKERS.get(shape, "o"), "color": glyph.line_color,
        "markersize": min(7.0, value_of(glyph.size)),
        "markerfacecolor": "none" if shape == "x" else glyph.line_color,
        "markeredgewidth": 2.0 if shape == "x" else 1.0, "alpha": 0.8,
    }  # fmt: skip


def _key_drawn(renderer: GlyphRenderer) -> Any:
    """Return what stands for a glyph in the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    glyph, data = renderer.glyph, renderer.data_source.data
    if isinstance(glyph, Line | MultiLine):
        return Line2D([], [], **_line(glyph))
    if isinstance(glyph, Scatter):
        return Line2D([], [], linestyle="none", **_marker(glyph))
    return Patch(
        facecolor=value_of(glyph.fill_color, data, 0), alpha=value_of(glyph.fill_alpha) or 1.0,
        linewidth=0.0,
    )  # fmt: skip
