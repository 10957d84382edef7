"""A figure as a PNG or SVG file, for documents and slides: by matplotlib.

It reads the bokeh figure that the other functions of this package built, as the smaller pictures
do, and draws what they leave out, too: shaded parts and the lines below the figure.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.models import (
    BoxAnnotation,
    GlyphRenderer,
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

from netcalc.checks import named_arguments
from netcalc.errors import MissingPackageError
from netcalc.plots.pictures._svg import Scale
from netcalc.plots.pictures.svg import charts, limits, tick_text, ticks, title_lines, value_of
from netcalc.plots.plot import Plot
from netcalc.plots.style import GRIDS, INKS, LEGEND_ROW, PAPERS, has_marks
from netcalc.samples import write_atomically

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
            _chart(part, chart, plot)
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
    return [str(one.text.text) for one in chart.below if isinstance(one, Title)]


def _height(chart: figure) -> float:
    """Return the height of a chart with its legend and the lines below it, in inches."""
    items, lines = _entries(chart), _below(chart)
    bare = chart.height - LEGEND_ROW * len(items) - 20 * len(lines)
    shown = sum(map(has_marks, items))
    more = len(title_lines(str(chart.title.text.text))) - 1
    return float(bare / _PIXELS_PER_INCH + _ENTRY_INCH * (shown + more) + _LINE_INCH * len(lines))


def _chart(part: Any, chart: figure, plot: Plot) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    axes = part.subplots()
    axes.set_facecolor(PAPERS[plot.theme])
    glyphs = [one for one in chart.renderers if isinstance(one, GlyphRenderer)]
    for along, given, drawn in (
        ("x", chart.x_range, chart.xaxis[0]), ("y", chart.y_range, chart.yaxis[0])
    ):  # fmt: skip
        is_log = isinstance(drawn, LogAxis)
        low, high = limits(glyphs, given, along, log=is_log)
        if is_log and along == "y" and not isinstance(given, Range1d):
            low, high = low * (low / high) ** _PAD, high * (high / low) ** _PAD
        scale = Scale(min(low, high), max(low, high), start=0.0, end=1.0, log=is_log)
        axis = axes.xaxis if along == "x" else axes.yaxis
        axes.set(**{f"{along}scale": "log" if is_log else "linear"})
        axes.set(**{f"{along}lim": (low, high)})
        at = ticks(drawn, scale)
        axis.set_major_locator(FixedLocator(at))
        axis.set_major_formatter(FixedFormatter([tick_text(drawn, one) for one in at]))
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
        _glyph(axes, renderer)
    shown = [item for item in _entries(chart) if has_marks(item)]
    if shown:
        from matplotlib.legend_handler import HandlerTuple

        marks = [tuple(_key(one) for one in item.renderers) for item in shown]
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


def _glyph(axes: Any, renderer: GlyphRenderer) -> None:
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
        _quads(axes, glyph, data)
    elif isinstance(glyph, Text):
        rows = zip(data[glyph.x], data[glyph.y], data[glyph.text], strict=True)
        for x, y, text in rows:
            axes.text(x, y, str(text), ha=glyph.text_align, va="center")


def _quads(axes: Any, glyph: Quad, data: Any) -> None:
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


def _key(renderer: GlyphRenderer) -> Any:
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
