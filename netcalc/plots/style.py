"""Common parts of all figures: colours, fonts, axes with units, hover, legend, theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from bokeh import models
from bokeh.plotting import figure

from netcalc.errors import DomainError
from netcalc.language import phrase
from netcalc.printable import printable

Theme = Literal["light", "dark"]
Scale = Literal["linear", "log"]

# Any two differ for every colour vision, and each from its paper. Most are those of M. Okabe and
# K. Ito (2008), whose orange and sky blue are too faint on white.
PALETTES: dict[Theme, tuple[str, ...]] = {
    "light": ("#0072b2", "#d55e00", "#009e73", "#6b4a00", "#cc79a7", "#9467ff"),
    "dark": ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00"),
}
INKS: dict[Theme, str] = {"light": "#000000", "dark": "#ffffff"}
"""Colour of measured points, which no curve has."""

GUESSES: dict[Theme, str] = {"light": "#b0006d", "dark": "#c04dff"}
"""Colour of what a reader expects, which nothing else has."""

PAPERS: dict[Theme, str] = {"light": "#ffffff", "dark": "#15191c"}
"""Colour behind a figure."""

GRIDS: dict[Theme, str] = {"light": "#e5e5e5", "dark": "#3a4046"}
LOADS: dict[Theme, tuple[str, ...]] = {
    "light": ("#5b9bc9", "#2b7bba", "#08519c", "#08306b"),
    "dark": ("#3f7cb8", "#6aaee0", "#a6cdf0", "#e3f0fb"),
}
"""Darker on white, brighter on a dark page: the same order for every colour vision."""
FULL: dict[Theme, str] = {"light": "#b84f00", "dark": "#ffa042"}
"""Colour of what is loaded beyond its limit."""

_SOFT = "#e0e0e0"
DARK_PARTS: dict[str, dict[str, str]] = {
    "Plot": {
        "background_fill_color": PAPERS["dark"],
        "border_fill_color": PAPERS["dark"],
        "outline_line_color": GRIDS["dark"],
    },
    "Grid": {"grid_line_color": GRIDS["dark"]},
    "Axis": {
        "major_tick_line_color": _SOFT,
        "minor_tick_line_color": _SOFT,
        "axis_line_color": _SOFT,
        "major_label_text_color": _SOFT,
        "axis_label_text_color": _SOFT,
    },
    "Legend": {"label_text_color": _SOFT, "title_text_color": _SOFT},
    "Title": {"text_color": INKS["dark"]},
}
"""Colours of the parts around a dark figure, by kind of bokeh model."""

PAGE_COLORS: dict[str, tuple[str, str]] = {
    "alert": ("#b00020", "#ff8a80"),
    "link": ("#0b57d0", "#8ab4f8"),
    "accent": ("#0072b2", "#56b4e9"),
    "guess": (GUESSES["light"], GUESSES["dark"]),
    "paper": (PAPERS["light"], PAPERS["dark"]),
    "option": ("#000000", "#ffffff"),
}
"""Colours of what stands around figures, on a light and on a dark page."""

MARKERS = ("circle", "triangle", "square", "diamond", "inverted_triangle", "star")
DASHES: tuple[list[int], ...] = ([], [10, 4], [3, 4], [10, 4, 3, 4], [16, 5], [6, 3, 2, 3, 2, 3])

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
PLOT_HEIGHT = 360
"""Height of a figure without its legend, in pixels."""
LEGEND_ROW = 22
"""Height of one line of the legend, in pixels."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Name, SI unit, scale and range of an axis.

    Without ``low`` and ``high`` the axis follows the data. Where a slider changes a curve, give
    both: with a fixed axis the curve moves, with a following axis only the tick labels would.
    """

    name: str
    unit: str
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    whole: bool = False
    """Whether ticks are whole numbers, as those of hops and probes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", printable(phrase(self.name)))
        object.__setattr__(self, "unit", printable(self.unit))
        if self.scale not in get_args(Scale):
            raise DomainError("not-a-choice", "scale", self.scale, choices=list(get_args(Scale)))

    @property
    def label(self) -> str:
        """The label of the axis: its name, and its unit unless the ticks have it."""
        ticks_have_it = self.unit in _SHORT or self.unit in ("1", "ratio", "text")
        return self.name if ticks_have_it else f"{self.name} [{self.unit}]"


# Number to text with a prefix, as units.show writes it. Each tick has a short unit; the axis label
# has a long one.
_ENGINEERING_JS = """
function engineering(value, reference) {
  if (!Number.isFinite(value)) return "not defined";
  if (unit === "1") return String(parseFloat(value.toPrecision(4)));
  if (unit === "ratio") return parseFloat((value * 100).toPrecision(4)) + " %";
  const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"],
                 [1e-6, "µ"], [1e-9, "n"]];
  const size = Math.abs(reference);
  let [factor, prefix] = [1, ""];
  if (size > 0) {
    const fits = ([f]) => f <= largest && size >= f * 0.99999;
    [factor, prefix] = steps.find(fits) ?? steps[steps.length - 1];
    if (whole && (factor < 1 || (counted && size < 1e4))) [factor, prefix] = [1, ""];
  }
  const number = parseFloat((value / factor).toPrecision(4));
  return `${number} ${prefix}${suffix}`.trim();
}
"""
# A log axis has a tick per decade at any width, and one of two decades or less has ticks that
# crowd at its end: what is nearer than 60 pixels to the label before has none.
_ROOM_JS = """
const place = scale === "log" ? Math.log : Number;
const span = place(ticks[ticks.length - 1]) - place(ticks[0]);
const least = 60 / width * span * ticks.length / (ticks.length - 1) * 0.99999;
let labelled = 0;
for (let i = 1; i <= index; i++)
  if (place(ticks[i]) - place(ticks[labelled]) >= least) labelled = i;
if (labelled !== index) return "";
"""
_SHORT = {"byte": "B", "bit": "bit", "s": "s", "m": "m"}
_LONG = {**_SHORT, "packet/s": "pps", "s/byte": "s/B"}
_WHOLE = frozenset({"byte", "bit", "bit/s", "packet/s"})
_COUNTED = frozenset({"byte", "packet/s"})  # written without a prefix below 10,000: 1500 B
_LARGEST = {"s": 1.0, "m": 1e3, "s/byte": 1.0}  # kiloseconds are not in use


def _arguments(unit: str, suffix: str) -> dict[str, object]:
    whole, counted = unit in _WHOLE, unit in _COUNTED
    return {
        "unit": unit,
        "suffix": suffix,
        "whole": whole,
        "counted": counted,
        "largest": _LARGEST.get(unit, 1e12),
        "width": 1e9,
    }


def tint(color: str, paper: str, share: float = 0.45) -> str:
    """Return a colour thinned with what is behind it, opaque: shades beside each other may touch.

    Examples
    --------
    >>> tint("#000000", "#ffffff")
    '#8c8c8c'
    """
    pairs = zip(bytes.fromhex(color[1:]), bytes.fromhex(paper[1:]), strict=True)
    return "#" + "".join(
        f"{round(share * part + (1 - share) * other):02x}" for part, other in pairs
    )


def theme_colors() -> dict[str, dict[str, Any]]:
    """Return what a page needs to show a light figure in dark colours.

    ``swap`` has each colour of a light figure with the one of a dark figure, ``dark`` the colours
    of the parts around it, by kind.
    """
    light, dark = (
        [
            *PALETTES[theme],
            *(tint(color, PAPERS[theme]) for color in PALETTES[theme]),
            *LOADS[theme],
            FULL[theme],
            INKS[theme],
            GUESSES[theme],
            PAPERS[theme],
            GRIDS[theme],
        ]
        for theme in get_args(Theme)
    )
    return {"swap": dict(zip(light, dark, strict=True)), "dark": DARK_PARTS}


def tick_formatter(unit: str, scale: Scale) -> models.TickFormatter:
    """Return the formatter that writes ticks with a prefix: ``20 ms``, ``1.5 kB``, ``10 M``."""
    if unit == "text":
        return models.BasicTickFormatter()
    # On a linear axis all ticks have the prefix of the largest, on a log axis each its own.
    reference = "Math.max(...ticks.map(Math.abs))" if scale == "linear" else "tick"
    zero = f"Math.abs(tick) < 1e-9 * {reference} ? 0 : tick" if scale == "linear" else "tick"
    arguments = {**_arguments(unit, _SHORT.get(unit, "")), "scale": scale}
    code = f"{_ENGINEERING_JS}\n{_ROOM_JS}\nreturn engineering({zero}, {reference});"
    return models.CustomJSTickFormatter(args=arguments, code=code)


def hover_formatter(unit: str) -> models.CustomJSHover:
    """Return the formatter that writes a hovered value with its prefix and unit."""
    arguments = _arguments(unit, _LONG.get(unit, unit))
    return models.CustomJSHover(
        args=arguments, code=f"{_ENGINEERING_JS}\nreturn engineering(value, value);"
    )


def new_figure(x_axis: Axis, y_axis: Axis, *, title: str, height: int = PLOT_HEIGHT) -> figure:
    """Return an empty figure with axes, units, fonts and tools."""
    title = printable(phrase(title))
    chart = figure(
        x_axis_type=x_axis.scale,
        y_axis_type=y_axis.scale,
        x_range=_range(x_axis),
        y_range=_range(y_axis),
        height=height,
        sizing_mode="stretch_width",
        tools=[models.PanTool(), models.BoxZoomTool(), models.ResetTool(), models.SaveTool()],
        toolbar_location="above",
        active_drag=None,
        active_scroll=None,
        min_border_right=34,
    )
    chart.toolbar.logo = None
    chart.title = models.Title(
        text=models.PlainText(text=title), text_font=FONT, text_font_size="17px"
    )
    for axis, drawn in ((x_axis, chart.xaxis[0]), (y_axis, chart.yaxis[0])):
        drawn.axis_label = models.PlainText(text=axis.label)
        drawn.axis_label_text_font = FONT
        drawn.axis_label_text_font_size = "16px"
        drawn.axis_label_text_font_style = "normal"
        drawn.major_label_text_font = FONT
        drawn.major_label_text_font_size = "14px"
        drawn.formatter = tick_formatter(axis.unit, axis.scale)
        if axis.whole:
            drawn.ticker.min_interval, drawn.ticker.num_minor_ticks = 1, 0
    bottom = chart.xaxis[0]
    bottom.ticker.desired_num_ticks = 6
    arguments = {"ticker": bottom.ticker, "formatter": bottom.formatter}
    chart.js_on_change("inner_width", models.CustomJS(args=arguments, code=_FIT_TICKS_JS))
    arguments = {"title": chart.title, "whole": title}
    chart.js_on_change("inner_width", models.CustomJS(args=arguments, code=_FIT_TITLE_JS))
    return chart


def _range(axis: Axis) -> models.Range1d | models.DataRange1d:
    if axis.low is None or axis.high is None:
        limits = {k: v for k, v in (("start", axis.low), ("end", axis.high)) if v is not None}
        return models.DataRange1d(range_padding=0.05, **limits)
    return models.Range1d(start=axis.low, end=axis.high)


# As many ticks and columns of the legend as the page is wide enough for.
_FIT_TICKS_JS = """
const width = cb_obj.inner_width;
const wanted = Math.max(2, Math.min(8, Math.floor(width / 90)));
if (ticker.desired_num_ticks !== wanted) ticker.desired_num_ticks = wanted;
const args = formatter.args instanceof Map ? [...formatter.args] : Object.entries(formatter.args);
formatter.args = new Map([...args, ["width", width]]);
"""
# A long title on a narrow page: two smaller lines are as high as the tools beside them.
_FIT_TITLE_JS = """
const room = cb_obj.inner_width - 30;
const narrow = whole.length * 9.2 > room;
const lines = [""];
for (const word of whole.split(" ")) {
  const last = lines[lines.length - 1];
  if (narrow && last && (last.length + 1 + word.length) * 7.6 > room) lines.push(word);
  else lines[lines.length - 1] = last ? `${last} ${word}` : word;
}
const text = lines.join("\\n");
const size = narrow ? "13px" : "17px";
if (title.text.text === text && title.text_font_size === size) return;
title.text_font_size = size;
title.standoff = narrow ? 1 : 10;
title.text = new title.text.constructor({ text });
// BokehJS lays a plot out anew for its height, but not for another height of its title.
setTimeout(() => cb_obj.properties.height.change.emit(), 0);
"""
# An entry without a mark in the figure, such as that of a run not made yet, is not shown.
_FIT_LEGEND_JS = """
if (chart.properties.inner_width.is_unset) return; // not laid out: its first width calls again
const marked = (source, names) => {
  const columns = names.map(name => source.data[name]);
  const drawn = value => typeof value !== "number" || Number.isFinite(value);
  for (let i = 0; i < columns[0].length; i++)
    if (columns.every(column => drawn(column[i]))) return true;
  return false;
};
let count = 0;
legend.items.forEach((item, i) => {
  const visible = marks[i].some(([source, names]) => !names.length || marked(source, names));
  if (item.visible !== visible) item.visible = visible;
  count += visible;
});
const columns = Math.max(1, Math.min(count, Math.floor(chart.inner_width / column)));
if (legend.ncols !== columns) legend.ncols = columns;
const wanted = height + row * Math.ceil(count / columns);
if (chart.height !== wanted) chart.height = wanted;
"""
_FIT_LEGEND = "fit the legend"
_COORDINATES = ("x", "y", "y1", "xs", "ys", "left", "top")


def mark_columns(drawn: models.GlyphRenderer) -> list[str]:
    """Return the columns with the positions of a glyph's marks."""
    properties = drawn.glyph.properties()
    names = (getattr(drawn.glyph, name) for name in _COORDINATES if name in properties)
    return [name for name in names if isinstance(name, str) and name in drawn.data_source.data]


def has_marks(entry: models.LegendItem) -> bool:
    """Return whether anything of an entry of the legend is in the figure."""
    return any(_has_marks(drawn) for drawn in entry.renderers)


def _has_marks(drawn: models.GlyphRenderer) -> bool:
    columns = [drawn.data_source.data[name] for name in mark_columns(drawn)]
    columns_of = (
        isinstance(row[0], str | list) or bool(np.isfinite(row).all())
        for row in zip(*columns, strict=True)
    )
    return not columns or any(columns_of)


def add_legend(
    chart: figure, entries: Sequence[tuple[str, Sequence[models.GlyphRenderer]]]
) -> None:
    """Add a legend above the plot area; a click on an entry hides its curve."""
    names = [printable(phrase(name)) for name, _ in entries]
    items = [
        models.LegendItem(label={"value": name}, renderers=list(drawn))
        for name, (_, drawn) in zip(names, entries, strict=True)
    ]
    for item in items:
        item.visible = has_marks(item)
    width = 8 * max(map(len, names), default=1)
    legend = models.Legend(
        items=items,
        click_policy="hide",
        location="top_left",
        orientation="vertical",
        ncols=1,
        label_text_font=FONT,
        label_text_font_size="14px",
        label_height=18,
        label_width=width,
        glyph_width=36,
        spacing=2,
        padding=4,
        margin=2,
        border_line_alpha=0.0,
        background_fill_alpha=0.0,
    )
    height = int(chart.height)
    chart.height = height + LEGEND_ROW * len(items)
    chart.add_layout(legend, "above")
    marks = [
        [(renderer.data_source, mark_columns(renderer)) for renderer in item.renderers]
        for item in items
    ]
    sizes = {"column": width + 60, "height": height, "row": LEGEND_ROW}
    arguments = {"legend": legend, "chart": chart, "marks": marks, **sizes}
    fit = models.CustomJS(args=arguments, code=_FIT_LEGEND_JS, name=_FIT_LEGEND)
    chart.js_on_change("inner_width", fit)
    for source in {
        renderer.data_source.id: renderer.data_source
        for item in items
        for renderer in item.renderers
    }.values():
        source.js_on_change("data", fit)


def add_legend_entry(chart: figure, name: str, drawn: models.GlyphRenderer) -> None:
    """Add one entry to the legend of a chart; a chart without one gets a legend."""
    callbacks = chart.js_property_callbacks.get("change:inner_width", [])
    fit = next((callback for callback in callbacks if callback.name == _FIT_LEGEND), None)
    if fit is None:
        add_legend(chart, [(name, [drawn])])
        return
    item = models.LegendItem(label={"value": printable(phrase(name))}, renderers=[drawn])
    item.visible = has_marks(item)
    legend = fit.args["legend"]
    legend.items = [*legend.items, item]
    marks = [*fit.args["marks"], [(drawn.data_source, mark_columns(drawn))]]
    fit.args = {**fit.args, "marks": marks}
    chart.height += LEGEND_ROW
    drawn.data_source.js_on_change("data", fit)


def add_hover(
    chart: figure, renderers: Sequence[models.GlyphRenderer], rows: Sequence[tuple[str, str, str]]
) -> None:
    """Show the name of the curve and ``(what, column, unit)`` of the point under the pointer.

    Names and text columns come from files and users: bokeh escapes both, but not templates.
    """
    tooltips = [("", "$name")]
    formatters: dict[str, models.CustomJSHover] = {}
    for renderer in renderers:
        renderer.name = renderer.name and printable(phrase(renderer.name))
    for what, column, unit in ((printable(phrase(what)), *more) for what, *more in rows):
        if unit == "text":
            tooltips.append((what, f"@{{{column}}}"))
        else:
            tooltips.append((what, f"@{{{column}}}{{custom}}"))
            formatters[f"@{{{column}}}"] = hover_formatter(unit)
    chart.add_tools(
        models.HoverTool(
            renderers=list(renderers),
            tooltips=tooltips,
            formatters=formatters,
            line_policy="nearest",
            mode="mouse",
            visible=False,
        )
    )


def add_points(
    chart: figure, source: models.ColumnDataSource, *, marker: str, color: str, y: str = "y"
) -> models.GlyphRenderer:
    """Draw the points of a source."""
    points = models.Scatter(
        x="x",
        y=y,
        marker=marker,
        size=10 if marker != "x" else 12,
        line_color=color,
        line_width=1.5 if marker != "x" else 3,
        fill_color=color,
        fill_alpha=0.35,
    )
    return chart.add_glyph(source, points, name=source.name)


def add_line(
    chart: figure, source: models.ColumnDataSource, *, name: str | None = None, **look: Any
) -> models.GlyphRenderer:
    """Draw the points of a source as one line, with a bokeh line's properties."""
    return chart.add_glyph(
        source,
        models.Line(**{"x": "x", "y": "y", "line_width": 3, **look}),
        name=name or source.name,
    )


def new_source(name: str, columns: Mapping[str, object]) -> models.ColumnDataSource:
    """Return the named columns of one glyph."""
    shown = {column: printable_texts(values) for column, values in columns.items()}
    return models.ColumnDataSource(name=printable(name), data=shown)


def printable_texts(values: Any) -> Any:
    """Return a column; in one of texts, control characters are escaped."""
    if not isinstance(values, list):
        return values
    return [printable(value) if isinstance(value, str) else value for value in values]
