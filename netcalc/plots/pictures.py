"""Figures as files without a page: SVG of a few kilobytes, and PNG and SVG by matplotlib."""

from __future__ import annotations

import hashlib
import io
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from bokeh import models
from bokeh.plotting import figure
from numpy.typing import NDArray

from netcalc.checks import named_arguments
from netcalc.errors import MissingPackageError
from netcalc.plots.plot import Plot
from netcalc.plots.style import GRIDS, INKS, LEGEND_ROW, PAPERS, has_marks
from netcalc.printable import html_text
from netcalc.samples import write_atomically
from netcalc.units import show

MANY_DECADES = 3
"""Up to this many powers of ten a logarithmic axis has ticks between them. [1]"""


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
            if len(decades) > MANY_DECADES:
                return decades
            if len(decades) > 1:
                powers = range(first - 1, math.floor(last) + 1)
                between = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
                return [tick for tick in between if self.low <= tick <= self.high]
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
LEAST_MOVE = 0.2
"""A point of a line that moves it less is left out of a picture. [pixel]"""
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
        height, drawn = _svg_chart(chart, top, plot)
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


def charts(layout: models.LayoutDOM) -> Iterator[figure]:
    """Yield the charts of a figure, from the top down."""
    if isinstance(layout, figure):
        yield layout
    for child in getattr(layout, "children", []):
        yield from charts(child)


def _svg_chart(chart: figure, top: float, plot: Plot) -> tuple[float, list[str]]:
    items = _entries(chart)
    entries = [item for item in items if has_marks(item)]
    title = title_lines(str(chart.title.text.text))
    more = ROW * (len(title) - 1)
    head = (TOP if title[0] else 10) + more + ROW * len(entries)
    height = float(chart.height) - LEGEND_ROW * len(items) + ROW * len(entries) + more
    box = (_left(chart), top + head, WIDTH - RIGHT, top + height - BOTTOM)
    glyphs = [r for r in chart.renderers if isinstance(r, models.GlyphRenderer)]
    x_log, y_log = (isinstance(axis[0], models.LogAxis) for axis in (chart.xaxis, chart.yaxis))
    xs = limits(_along(plot, chart), chart.x_range, "x", log=x_log)
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
    for shape in filter(None, map(shape_of, glyphs)):
        out += _svg_shape(shape, x, y)
    out.append("</g>")
    for row, line in enumerate(filter(None, title)):
        out.append(text_at(line, 8, top + 22 + ROW * row, size=17, weight="bold"))
    first = top + head - ROW * len(entries) + 6
    for i, item in enumerate(entries):
        out += _svg_key(item.renderers, first + ROW * i)
        out.append(text_at(str(item.label.value), LEFT + 48, first + ROW * i + 5))
    return height, out


def _along(plot: Plot, chart: figure) -> list[models.GlyphRenderer]:
    """Return the marks of all charts that have their x axis in common with one."""
    return [
        renderer
        for other in charts(plot.figure)
        if other.x_range is chart.x_range
        for renderer in other.renderers
        if isinstance(renderer, models.GlyphRenderer)
    ]


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
    if isinstance(axis.ticker, models.FixedTicker):
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


@dataclass(frozen=True, slots=True)
class Shape:
    """The marks of a glyph: their places in data, and how they look.

    A bar is two opposite corners, an area its lower and then its upper edge.
    """

    kind: Literal["line", "points", "area", "polygon", "bar", "text"]
    parts: Sequence[tuple[Any, Any]]
    colors: Sequence[str]
    alpha: float = 1.0
    width: float = 1.0
    dash: Sequence[int] = ()
    marker: str = ""
    texts: Sequence[str] = ()


def shape_of(renderer: models.GlyphRenderer) -> Shape | None:
    """Return what a glyph draws; nothing for those that a picture leaves out."""
    glyph, data = renderer.glyph, renderer.data_source.data

    def columns(*names: str) -> list[Any]:
        return [data[getattr(glyph, name)] for name in names]

    if isinstance(glyph, models.Line | models.MultiLine):
        parts = (
            [tuple(columns("x", "y"))]
            if isinstance(glyph, models.Line)
            else list(zip(*columns("xs", "ys"), strict=True))
        )
        color, alpha, width, dash = (
            value_of(getattr(glyph, f"line_{name}")) for name in ("color", "alpha", "width", "dash")
        )
        return Shape("line", parts, [color], alpha, width, dash)
    if isinstance(glyph, models.Scatter):
        size, marker = float(value_of(glyph.size)), str(value_of(glyph.marker))
        parts = [tuple(columns("x", "y"))]
        return Shape("points", parts, [str(glyph.line_color)], width=size, marker=marker)
    if isinstance(glyph, models.Text):
        parts = list(zip(*columns("x", "y"), strict=True))
        return Shape("text", parts, [], marker=glyph.text_align, texts=columns("text")[0])
    if not isinstance(glyph, models.VArea | models.Patches | models.Quad):
        return None
    kind: Any = "area"
    if isinstance(glyph, models.VArea):
        at, low, high = columns("x", "y1", "y2")
        parts = [(at, low), (at, high)]
    elif isinstance(glyph, models.Patches):
        kind, parts = "polygon", list(zip(*columns("xs", "ys"), strict=True))
    else:
        left, right, bottom, top = columns("left", "right", "bottom", "top")
        across, up = zip(left, right, strict=True), zip(bottom, top, strict=True)
        kind, parts = "bar", list(zip(across, up, strict=True))
    count = 1 if kind == "area" else max(len(parts), 1)
    colors = [value_of(glyph.fill_color, data, i) for i in range(count)]
    return Shape(kind, parts, colors, value_of(glyph.fill_alpha))


def _svg_shape(shape: Shape, x: Scale, y: Scale) -> list[str]:
    parts = [(x(across), y(up)) for across, up in shape.parts]
    if shape.kind == "line":
        return [_stroke(parts, shape)]
    if shape.kind == "points":
        return _points(*parts[0], shape)
    if shape.kind == "text":
        anchor = "start" if shape.marker == "left" else "middle"
        rows = zip(parts, shape.texts, strict=True)
        return [text_at(str(text), float(a), float(b) + 5, anchor=anchor) for (a, b), text in rows]
    if shape.kind == "bar":
        return _bars(parts, shape)
    if shape.kind == "area":
        (at, low), (_, high) = parts
        at, low, high = map(_thin, (at, low, high))
        parts = [(np.append(at, at[::-1]), np.append(low, high[::-1]))]
    return [
        f'<polygon points="{_outline(*part)}" fill="{color}" fill-opacity="{shape.alpha:g}"/>'
        for part, color in zip(parts, shape.colors, strict=False)
    ]


def _outline(xs: NDArray[Any], ys: NDArray[Any]) -> str:
    is_finite = np.isfinite(xs + ys)
    pairs = _without_needless(xs[is_finite], ys[is_finite])
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs)


def _stroke(parts: Sequence[tuple[NDArray[Any], NDArray[Any]]], shape: Shape) -> str:
    steps: list[str] = []
    for whole_xs, whole_ys in parts:
        xs, ys = _thin(whole_xs), np.clip(_thin(whole_ys), -1e4, 1e4)
        is_finite = np.isfinite(xs + ys)
        for rows in np.split(np.arange(len(xs)), np.flatnonzero(~is_finite)):
            own = rows[is_finite[rows]]
            points = [f"{a:.1f} {b:.1f}" for a, b in _without_needless(xs[own], ys[own])]
            steps += ["M" + "L".join(points)] if points else []
    dash = " ".join(map(str, shape.dash))
    more = f' stroke-dasharray="{dash}"' if dash else ""
    more += "" if shape.alpha == 1.0 else f' stroke-opacity="{shape.alpha:g}"'
    return path("".join(steps), shape.colors[0], shape.width, more)


def _points(xs: NDArray[Any], ys: NDArray[Any], shape: Shape) -> list[str]:
    step = max(1, -(-len(xs) // SCATTER_POINTS))
    pairs = zip(xs[::step], ys[::step], strict=True)
    points = [(a, b) for a, b in pairs if math.isfinite(a + b)]
    if shape.marker == "circle" and shape.width <= DOT:
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in points)
        return [path(dots, shape.colors[0], shape.width, ' stroke-linecap="round"')]
    return [marker(shape.marker, a, b, shape.colors[0]) for a, b in points]


def _bars(parts: Sequence[tuple[NDArray[Any], NDArray[Any]]], shape: Shape) -> list[str]:
    sides = [
        (float(left), min(low, high), max(float(right - left), 0.0), abs(low - high))
        for (left, right), (low, high) in parts
    ]
    if len(sides) > MOST_RECTS and len(set(shape.colors)) == 1:
        outline = "".join(f"M{a:.1f} {b:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z" for a, b, w, h in sides)
        return [f'<path d="{outline}" fill="{shape.colors[0]}" fill-opacity="{shape.alpha}"/>']
    return [
        f'<rect x="{a:.1f}" y="{b:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{color}" '
        f'fill-opacity="{shape.alpha}"/>'
        for color, (a, b, w, h) in zip(shape.colors, sides, strict=False)
    ]


def _svg_key(renderers: list[models.GlyphRenderer], y: float) -> list[str]:
    out: list[str] = []
    for shape in filter(None, map(shape_of, renderers)):
        if shape.kind == "line":
            out.append(_stroke([(np.array([LEFT, LEFT + 38.0]), np.array([y, y]))], shape))
        elif shape.kind == "points":
            out.append(marker(shape.marker, LEFT + 19, y, shape.colors[0]))
        else:
            opacity = 1 if shape.alpha == 1.0 else 0.4
            out.append(
                f'<rect x="{LEFT}" y="{y - 6:.1f}" width="38" height="12" fill="{shape.colors[0]}" '
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
    glyphs: list[models.GlyphRenderer], axis_range: Any, along: str, *, log: bool
) -> tuple[float, float]:
    """Return the ends of an axis, as given or around what is drawn."""
    if isinstance(axis_range, models.Range1d):
        return float(axis_range.start), float(axis_range.end)
    glyphs = axis_range.renderers or glyphs
    values = np.concatenate(
        [np.zeros(0), *(_extent(r.glyph, r.data_source, along) for r in glyphs)]
    )
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    far = (high / (low or high)) ** _PAD if log else _PAD * (high - low)
    # A given start or end is kept; bokeh has nan where none was given.
    start, end = (getattr(axis_range, side, None) for side in ("start", "end"))
    first, last = (low / far, high * far) if log else (low - far, high + far)
    return (
        first if start is None or math.isnan(start) else float(start),
        last if end is None or math.isnan(end) else float(end),
    )


_EXTENT = {"x": ("x", "xs", "left", "right"), "y": ("y", "y1", "y2", "ys", "bottom", "top")}


def _extent(glyph: Any, source: models.ColumnDataSource, along: str) -> NDArray[np.float64]:
    values: list[float] = []
    for name in _EXTENT[along]:
        column = getattr(glyph, name, None)
        if isinstance(column, str) and column in source.data:
            for item in source.data[column]:
                values += item if isinstance(item, list) else [item]
    return np.asarray(values, dtype=float)


def _without_needless(xs: NDArray[Any], ys: NDArray[Any]) -> list[tuple[float, float]]:
    """Return the points of a line without those that move it by less than ``LEAST_MOVE``.

    By the method of Ramer, Douglas and Peucker.
    """
    is_needed = np.zeros(len(xs), dtype=bool)
    is_needed[:1] = is_needed[-1:] = True
    spans = [(0, len(xs) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        x, y = xs[first : last + 1] - xs[first], ys[first : last + 1] - ys[first]
        square = x[-1] ** 2 + y[-1] ** 2
        along = np.clip((x * x[-1] + y * y[-1]) / square, 0.0, 1.0) if square else 0.0 * x
        away = np.hypot(x - along * x[-1], y - along * y[-1])
        farthest = first + int(away.argmax())
        if away.max() > LEAST_MOVE:
            is_needed[farthest] = True
            spans += [(first, farthest), (farthest, last)]
    return list(zip(xs[is_needed].tolist(), ys[is_needed].tolist(), strict=True))


def _thin(values: NDArray[Any]) -> NDArray[Any]:
    return values[:: max(1, -(-len(values) // LINE_POINTS))]


PICTURE_SUFFIXES = (".png", ".svg")
"""The forms that a picture has."""
_DOTS_PER_INCH = 150
_WIDTH_INCH = 8.0
_PIXELS_PER_INCH = 82.0  # of the page
_PAD = 0.05
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
            _draw_chart(part, chart, plot)
        _align(sheet, every)
        written = io.BytesIO()
        sheet.savefig(
            written, format=path.suffix[1:], dpi=_DOTS_PER_INCH,
            metadata={"Date": None} if path.suffix == ".svg" else None,
        )  # fmt: skip
    write_atomically(path, written.getvalue())


def _align(sheet: Any, every: Sequence[figure]) -> None:
    """Give charts with a common x axis the same left and right ends of their frames."""
    shared = [chart.x_range for chart in every]
    if len(set(map(id, shared))) == len(shared):
        return
    sheet.draw_without_rendering()
    sheet.set_layout_engine("none")
    boxes = [axes.get_position() for axes in sheet.axes]
    for axes, box, mine in zip(sheet.axes, boxes, shared, strict=True):
        joined = [other for other, theirs in zip(boxes, shared, strict=True) if theirs is mine]
        left, right = max(other.x0 for other in joined), min(other.x1 for other in joined)
        axes.set_position((left, box.y0, right - left, box.height))


def _entries(chart: figure) -> list[Any]:
    legends = [item for item in chart.above if isinstance(item, models.Legend)]
    return [item for legend in legends for item in legend.items]


def _below(chart: figure) -> list[str]:
    return [str(title.text.text) for title in chart.below if isinstance(title, models.Title)]


def _height(chart: figure) -> float:
    """Return the height of a chart with its legend and the lines below it, in inches."""
    items, lines = _entries(chart), _below(chart)
    bare = chart.height - LEGEND_ROW * len(items) - 20 * len(lines)
    shown = sum(map(has_marks, items))
    more = len(title_lines(str(chart.title.text.text))) - 1
    return float(bare / _PIXELS_PER_INCH + _ENTRY_INCH * (shown + more) + _LINE_INCH * len(lines))


def _draw_chart(part: Any, chart: figure, plot: Plot) -> None:
    axes = part.subplots()
    axes.set_facecolor(PAPERS[plot.theme])
    glyphs = [
        renderer for renderer in chart.renderers if isinstance(renderer, models.GlyphRenderer)
    ]
    _set_axis(axes, "x", chart.x_range, chart.xaxis[0], _along(plot, chart))
    _set_axis(axes, "y", chart.y_range, chart.yaxis[0], glyphs)
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
        if isinstance(box, models.BoxAnnotation):
            axes.axvspan(
                box.left, box.right, facecolor="0.93", edgecolor="0.7", linewidth=0.0,
                hatch=_HATCHES.get(str(box.hatch_pattern)),
            )  # fmt: skip
    for shape in filter(None, map(shape_of, glyphs)):
        _draw_shape(axes, shape)
    if shown := [item for item in _entries(chart) if has_marks(item)]:
        _add_legend(axes, shown)
    if chart.title.text.text:
        title = "\n".join(title_lines(str(chart.title.text.text)))
        part.suptitle(title, x=0.02, ha="left", fontsize=13)
    if lines := _below(chart):
        part.supxlabel("\n".join(lines), x=0.02, ha="left", fontsize=9)


def _set_axis(
    axes: Any, along: str, axis_range: Any, drawn: Any, glyphs: list[models.GlyphRenderer]
) -> None:
    """Give an axis of matplotlib the scale, ends, ticks and label of bokeh's."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    is_log = isinstance(drawn, models.LogAxis)
    low, high = limits(glyphs, axis_range, along, log=is_log)
    scale = Scale(min(low, high), max(low, high), start=0.0, end=1.0, log=is_log)
    if low == high:
        low, high = scale.low, scale.high
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


def _add_legend(axes: Any, entries: list[Any]) -> None:
    from matplotlib.legend_handler import HandlerTuple

    marks = [
        tuple(map(_legend_mark, filter(None, map(shape_of, entry.renderers)))) for entry in entries
    ]
    axes.legend(
        marks, [str(entry.label.value) for entry in entries], loc="lower left",
        bbox_to_anchor=(0.0, 1.0), frameon=False, handlelength=3.0, borderaxespad=0.2,
        labelspacing=0.35, handler_map={tuple: HandlerTuple(ndivide=1)},
    )  # fmt: skip


def _draw_shape(axes: Any, shape: Shape) -> None:
    from matplotlib.collections import PolyCollection

    filled: Any = {"alpha": shape.alpha, "linewidth": 0.0}
    if shape.kind in ("line", "points"):
        for xs, ys in shape.parts:
            axes.plot(xs, ys, **_look(shape))
    elif shape.kind == "area":
        (at, low), (_, high) = shape.parts
        axes.fill_between(at, low, high, facecolor=shape.colors[0], **filled)
    elif shape.kind == "polygon":
        for (xs, ys), color in zip(shape.parts, shape.colors, strict=False):
            axes.fill(xs, ys, facecolor=color, **filled)
    elif shape.kind == "bar":
        sides = np.array(shape.parts, dtype=float).reshape(-1, 2, 2)
        corners: Any = np.stack(
            [sides[:, 0][:, [0, 1, 1, 0]], sides[:, 1][:, [0, 0, 1, 1]]], axis=2
        )
        bars = PolyCollection(
            corners, facecolors=shape.colors, alpha=shape.alpha, linewidths=0.0, antialiaseds=False
        )
        axes.add_collection(bars)
    else:
        for (x, y), text in zip(shape.parts, shape.texts, strict=True):
            axes.text(x, y, str(text), ha=shape.marker, va="center")


def _look(shape: Shape) -> dict[str, Any]:
    """Return how matplotlib draws a line or points."""
    color = shape.colors[0]
    if shape.kind == "line":
        style: Any = (0, [length / shape.width for length in shape.dash]) if shape.dash else "-"
        width = 0.7 * shape.width
        return {"color": color, "linewidth": width, "linestyle": style, "alpha": shape.alpha}
    is_cross = shape.marker == "x"
    return {
        "linestyle": "none", "marker": _MARKERS.get(shape.marker, "o"), "color": color,
        "markersize": min(7.0, shape.width), "markerfacecolor": "none" if is_cross else color,
        "markeredgewidth": 2.0 if is_cross else 1.0, "alpha": 0.8,
    }  # fmt: skip


def _legend_mark(shape: Shape) -> Any:
    """Return what stands for a glyph in the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if shape.kind in ("line", "points"):
        return Line2D([], [], **_look(shape))
    return Patch(facecolor=shape.colors[0], alpha=shape.alpha or 1.0, linewidth=0.0)
