"""Curves of a formula with what belongs to them; a band or distribution where arguments vary."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, PlainText, Quad, Title, VArea
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from netcalc import calculator, display, equations, uncertain
from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.errors import DomainError
from netcalc.language import phrase, term
from netcalc.plots import style
from netcalc.plots.plot import Plot, ready
from netcalc.rate_layers import named
from netcalc.units import show

SHADES = {
    "beyond-published-range": (term("outside the published range"), "/"),
    "no-number": (term("no finite value"), "x"),
}
"""The words for a shaded part, and the pattern that tells it without colour."""
FORMULA_HEIGHT = 520
"""Alone on a page a figure may be higher than between the text of a lesson, in pixels."""
_POLE_RATIO = 5.0
"""A curve with a pole hides all else: where its largest value is this many times that of 95 % of
its points, a linear axis ends before it."""
_LINE = 96
"""Characters of a line of the caption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaCurves:
    """Curves of one formula, each with the points it goes through, and the words around them.

    Parameters
    ----------
    lines : mapping of str to Curve
        The curves by name, each over the same argument.
    x_axis, y_axis : Axis
        Names, SI units and scales.
    title : str
        What the formula computes.
    caption : tuple of str
        Lines below the figure: the equation, the fixed arguments, the source.
    """

    lines: Mapping[str, calculator.Curve]
    x_axis: style.Axis
    y_axis: style.Axis
    title: str
    caption: tuple[str, ...]

    @property
    def shades(self) -> tuple[calculator.Shade, ...]:
        """The doubtful parts of any of the curves."""
        return tuple(dict.fromkeys(shade for line in self.lines.values() for shade in line.shades))

    @property
    def lines_below(self) -> tuple[str, ...]:
        """The caption, what is shaded, and where the axis ends before the curve."""
        words = dict.fromkeys(SHADES[shade.code][0] for shade in self.shades)
        ends = phrase("The axis ends before the largest values.")
        return (
            *self.caption,
            *(phrase("Shaded: {one}.", one=word) for word in words),
            *([ends] if self.y_axis.high is not None else []),
        )


@named_arguments
def formula_curves(
    formula: calculator.Formula,
    lines: Mapping[str, calculator.Curve],
    over: calculator.Parameter,
    arguments: Mapping[str, object],
    *,
    varied: Collection[str] = (),
    logarithmic: bool = False,
    log_result: bool | None = None,
) -> FormulaCurves:
    """Return the figure of a formula over one argument.

    Parameters
    ----------
    formula : Formula
        The formula.
    lines : mapping of str to Curve
        Its curves by name.
    over : Parameter
        The argument along the axis.
    arguments : mapping of str to object
        The arguments that are fixed.
    varied : collection of str
        Names of arguments that differ between the curves; the names of the curves show them.
    logarithmic : bool
        Whether the axis of the argument is logarithmic.
    log_result : bool, optional
        Whether that of the result is; by default, if the other is and all values are above 0.
    """
    values = np.concatenate([line.y[np.isfinite(line.y)] for line in lines.values()])
    size, unit = display.long_time(formula.unit, float(values.max()) if values.size else 0.0)
    if size != 1.0:
        lines = {name: replace(line, y=line.y / size) for name, line in lines.items()}
        values = values / size
    ends = [float(line.x.max()) for line in lines.values() if line.x.size]
    x_size, x_unit = display.long_time(over.unit, max(ends, default=0.0))
    if x_size != 1.0:
        lines = {name: _along(line, x_size) for name, line in lines.items()}
    positive = bool(values.size and (values > 0).all())
    log_y = positive and (logarithmic if log_result is None else log_result)
    fixed = calculator.fixed_texts(formula, arguments, {over.name, *varied})
    values_of = dict(arguments)
    name = named(formula.short_name.replace("_", " "), calculator.layer_of(formula, values_of))
    along = named(formula.label(over.name), calculator.layer_text(formula, over.layer, values_of))
    low, high = ends_of_axis(values) if not log_y else (None, None)
    return FormulaCurves(
        lines=lines,
        x_axis=style.Axis(along, x_unit, "log" if logarithmic else "linear"),
        y_axis=style.Axis(name, unit, "log" if log_y else "linear", low, high),
        title=formula.summary.rstrip("."),
        caption=formula_caption(formula, fixed),
    )


def _along(line: calculator.Curve, size: float) -> calculator.Curve:
    """Return a curve whose argument is divided by a number."""
    shades = tuple(
        replace(part, low=part.low / size, high=part.high / size) for part in line.shades
    )
    return replace(line, x=line.x / size, shades=shades)


def formula_caption(formula: calculator.Formula, fixed: Sequence[str]) -> tuple[str, ...]:
    """Return the lines below a figure of a formula: equation, fixed arguments, source."""
    parts = (
        equations.plain(formula.equation),
        ", ".join(fixed),
        phrase("From: {source}", source=formula.source),
    )
    return tuple(line for part in parts if part for line in _wrapped(part))


@named_arguments
def formula_plot(curves: FormulaCurves, *, theme: style.Theme = "light") -> Plot:
    """Return the figure for a page: it can be zoomed, and shows the point under the pointer."""
    count = len(curves.lines)
    sources = {
        name: style.new_source(name, dict(ready({"x": line.x, "y": line.y}, source_count=count)))
        for name, line in curves.lines.items()
    }
    unit = curves.y_axis.unit
    ends = "; ".join(f"{name}: {_ends(line, unit)}" for name, line in curves.lines.items())
    text = f"{curves.title}. {ends}. {' '.join(curves.caption)}"
    draw = partial(_draw_curves, sources, curves, theme)
    return Plot(draw, sources, text, theme)


def _draw_curves(
    sources: Mapping[str, ColumnDataSource], curves: FormulaCurves, theme: style.Theme
) -> figure:
    chart = style.new_figure(
        curves.x_axis, curves.y_axis, title=curves.title, height=FORMULA_HEIGHT
    )
    palette, ink = style.PALETTES[theme], style.INKS[theme]
    for shade in curves.shades:
        pattern = SHADES[shade.code][1]
        chart.add_layout(
            BoxAnnotation(
                left=shade.low, right=shade.high, fill_color=ink, fill_alpha=0.06,
                hatch_pattern=pattern, hatch_color=ink, hatch_alpha=0.15, line_alpha=0.0,
            )
        )  # fmt: skip
    drawn = {
        name: style.add_line(
            chart, sources[name], line_color=palette[i % len(palette)],
            line_dash=style.DASHES[i % len(style.DASHES)],
        )
        for i, name in enumerate(curves.lines)
    }  # fmt: skip
    axes = (curves.x_axis, curves.y_axis)
    rows = [(axis.name, at, axis.unit) for axis, at in zip(axes, ("x", "y"), strict=True)]
    style.add_hover(chart, list(drawn.values()), rows)
    if len(drawn) > 1:
        style.add_legend(chart, [(name, [glyph]) for name, glyph in drawn.items()])
    add_lines_below(chart, curves.lines_below)
    return chart


def add_lines_below(chart: figure, lines: Sequence[str]) -> None:
    """Write lines below a figure, which grows by them."""
    for line in lines:
        below = Title(
            text=PlainText(text=line), text_font=style.FONT, text_font_size="13px",
            text_font_style="normal", standoff=2,
        )  # fmt: skip
        chart.add_layout(below, "below")
    chart.height = int(chart.height) + 20 * len(lines)


def ends_of_axis(values: FloatArray) -> tuple[float | None, float | None]:
    """Return where an axis starts and ends if some values dwarf the others, otherwise nothing."""
    if not values.size:
        return None, None
    usual, highest = float(np.percentile(values, 95)), float(values.max())
    if not highest > _POLE_RATIO * usual > 0.0:
        return None, None
    return min(0.0, float(values.min())), 1.5 * usual


def _wrapped(text: str) -> list[str]:
    lines: list[str] = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _LINE:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _ends(line: calculator.Curve, unit: str) -> str:
    finite = line.y[np.isfinite(line.y)]
    if not finite.size:
        return phrase("no finite value")
    return f"{show(float(finite[0]), unit)} to {show(float(finite[-1]), unit)}"


_BAND_ALPHA = 0.22
_BEYOND = 10.0
"""Where an infinite percentile is drawn: at this many times the end of the axis."""


@named_arguments
def bands(
    formula: calculator.Formula,
    by_name: Mapping[str, uncertain.Band],
    over: calculator.Parameter,
    arguments: Mapping[str, object],
    inputs: calculator.Inputs,
    *,
    column: str = "result",
    varied: Collection[str] = (),
    logarithmic: bool = False,
    log_result: bool | None = None,
    theme: style.Theme = "light",
) -> Plot:
    """Draw the median of a formula over one argument, in the band of its outer percentiles.

    Parameters
    ----------
    formula : Formula
        The formula.
    by_name : mapping of str to Band
        Its bands over the same argument, by what tells them apart; one may have no name.
    over : Parameter
        The argument along the axis.
    arguments : mapping of str to object
        The arguments that are fixed.
    inputs : mapping of str to Distribution
        Those that are ranges.
    column : str
        Column of the result, of a formula that has several.
    varied : collection of str
        Names of arguments that differ between the bands: their names say how.
    logarithmic : bool
        Whether the axis of the argument is logarithmic.
    log_result : bool, optional
        Whether that of the result is; by default, if the other is and all values are above 0.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        A source for each band, of columns ``x``, ``low``, ``y`` (the median) and ``high``.
    """
    columns = {name: _columns(band) for name, band in by_name.items()}
    shown_unit = calculator.result_unit(formula, column)
    columns, unit = _in_long_times(columns, shown_unit)
    edges = [column[key] for column in columns.values() for key in ("low", "y", "high")]
    finite = np.concatenate([values[np.isfinite(values)] for values in edges])
    x_axis = style.Axis(formula.label(over.name), over.unit, "log" if logarithmic else "linear")
    what = formula.short_title if column == "result" else column.replace("_", " ")
    name = named(what, calculator.layer_of(formula, arguments))
    wants_log = logarithmic if log_result is None else log_result
    if wants_log and finite.size and (finite > 0).all():
        y_axis = style.Axis(name, unit, "log")
    else:
        y_axis = style.Axis(name, unit, "linear", *_axis_ends(np.concatenate(edges), finite))
    first = next(iter(by_name.values()))
    percents = sorted(first.percentiles)
    outer = " to ".join(calculator.percentile_name(percents[end]) for end in (0, -1))
    beyond = _BEYOND * (y_axis.high or (float(finite.max()) if finite.size else 1.0))
    sources = {}
    for label, band in columns.items():
        band["high"] = np.where(np.isposinf(band["high"]), beyond, band["high"])
        sources[label or "median"] = style.new_source(
            label or "median", dict(ready(band, source_count=len(columns)))
        )
    ranges = [
        f"{formula.label(name)} {calculator.range_text(band, formula.parameter(name).unit)}"
        for name, band in inputs.items()
    ]
    fixed = calculator.fixed_texts(formula, arguments, {over.name, *inputs, *varied})
    lines = (
        *formula_caption(formula, [*ranges, *fixed]),
        phrase(
            "Band: {outer} of {draws:,} draws, the same at each point.",
            outer=outer,
            draws=first.draws,
        ),
        *([phrase("The axis ends before the largest values.")] if y_axis.high is not None else []),
    )
    text = "; ".join(_ends_of_band(name, band, shown_unit) for name, band in by_name.items())
    title = formula.summary.rstrip(".")
    draw = partial(_draw_bands, sources, outer, x_axis, y_axis, title, lines, theme)
    return Plot(draw, sources, f"{title}. {text}. {' '.join(lines)}", theme)


def _columns(band: uncertain.Band) -> dict[str, FloatArray]:
    """Return the lines of a band; those of a staircase go along its steps."""
    percents = sorted(band.percentiles)
    middle = min(percents, key=lambda percent: abs(percent - 50.0))
    rows = {"low": percents[0], "y": middle, "high": percents[-1]}
    columns = {name: np.asarray(band.percentiles[percent]) for name, percent in rows.items()}
    x = np.asarray(band.values, dtype=float)
    if any(calculator.is_staircase(column) for column in columns.values()):
        columns = {name: np.repeat(column, 2)[:-1] for name, column in columns.items()}
        x = np.repeat(x, 2)[1:]
    return {"x": x, **columns}


def _in_long_times(
    columns: dict[str, dict[str, FloatArray]], unit: str
) -> tuple[dict[str, dict[str, FloatArray]], str]:
    """Return the lines in days or years where they are such times, and the unit of the axis."""
    finite = [column["y"][np.isfinite(column["y"])] for column in columns.values()]
    size, name = display.long_time(
        unit, max((float(y.max()) for y in finite if y.size), default=0.0)
    )
    if size == 1.0:
        return columns, unit
    return {
        label: {key: values if key == "x" else values / size for key, values in rows.items()}
        for label, rows in columns.items()
    }, name


def _axis_ends(every: FloatArray, finite: FloatArray) -> tuple[float | None, float | None]:
    """Return the ends of a linear axis if some values dwarf the others or are infinite."""
    low, high = ends_of_axis(finite)
    if high is None and np.isposinf(every).any() and finite.size:
        return min(0.0, float(finite.min())), 1.05 * float(finite.max())
    return low, high


def _draw_bands(
    sources: Mapping[str, ColumnDataSource],
    outer: str,
    x_axis: style.Axis,
    y_axis: style.Axis,
    title: str,
    lines: tuple[str, ...],
    theme: style.Theme,
) -> figure:
    chart = style.new_figure(x_axis, y_axis, title=title, height=FORMULA_HEIGHT)
    palette, entries, drawn = style.PALETTES[theme], [], []
    for i, (name, source) in enumerate(sources.items()):
        color = palette[i % len(palette)]
        area = VArea(x="x", y1="low", y2="high", fill_color=color, fill_alpha=_BAND_ALPHA)
        band = chart.add_glyph(source, area, name=outer)
        line = style.add_line(
            chart, source, line_color=color, line_dash=style.DASHES[i % len(style.DASHES)]
        )
        drawn.append(line)
        alone = len(sources) == 1
        entries += [(name, [line]), (outer, [band])] if alone else [(name, [line, band])]
    rows = [(x_axis.name, "x", x_axis.unit)]
    rows += [("low", "low", y_axis.unit), ("median", "y", y_axis.unit),
             ("high", "high", y_axis.unit)]  # fmt: skip
    style.add_hover(chart, drawn, rows)
    style.add_legend(chart, entries)
    add_lines_below(chart, lines)
    return chart


def _ends_of_band(name: str, band: uncertain.Band, unit: str) -> str:
    """Return a band at both ends of the argument, in words."""
    ends = []
    for at in (0, -1):
        texts = [show(float(band.percentiles[p][at]), unit) for p in sorted(band.percentiles)]
        ends.append(f"{texts[0]} to {texts[-1]}" if len(texts) > 1 else texts[0])
    return phrase(
        "{value}: {ends} at the start, {ends_2} at the end",
        value=name or "the band",
        ends=ends[0],
        ends_2=ends[1],
    )


BARS = 60
"""Most bars. [1]"""
_TAIL_PERCENT = 0.5
_LONG_TAIL = 2.0  # widths from the 5th to the 95th percentile, beyond which a tail is cut off


@named_arguments
def distribution(
    samples: ArrayLike,
    *,
    axis: style.Axis,
    percentiles: Mapping[float, float],
    title: str = "",
    note: str = "",
    lines: Sequence[str] = (),
    theme: style.Theme = "light",
) -> Plot:
    """Draw how often each value occurs among samples, and where their percentiles are.

    Parameters
    ----------
    samples : array_like
        The values; those not finite are not drawn.
    axis : Axis
        What they are.
    percentiles : mapping of float to float
        Values to mark, by their percent.
    title : str
        Title above the figure.
    note : str
        Text that follows in the text alternative.
    lines : sequence of str
        Lines below the figure, such as what was drawn.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        With the source ``draws`` of columns ``left``, ``right``, ``top`` (share of all samples) and
        ``bottom``, and one source for each percentile, ``p5: 80.84 s``, of columns ``x`` and ``y``.

    Raises
    ------
    DomainError
        If no sample is finite.
    """
    values = as_float("samples", samples)
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise DomainError("nothing-finite", "samples", int(values.size))
    edges = _edges(finite, axis.scale == "log")
    share = np.histogram(finite, edges)[0] / values.size
    columns = {"left": edges[:-1], "right": edges[1:], "top": share, "bottom": 0.0 * share}
    sources = {"draws": style.new_source("draws", dict(ready(columns)))}
    marks = {_name(p, value, axis): value for p, value in percentiles.items()}
    for name, value in marks.items():
        sources[name] = style.new_source(
            name, dict(ready({"x": [value] * 2, "y": [0.0, share.max()]}))
        )
    cut = int(((finite < edges[0]) | (finite > edges[-1])).sum())
    words = [f"{title or axis.name}: {', '.join(marks)}.", note]
    if cut:
        words.append(
            phrase(
                "{cut} of the draws are outside the figure.",
                cut=show(cut / values.size, "ratio"),
            )
        )
    form = ("distribution", axis, title, theme, tuple(marks), tuple(lines))
    draw = partial(_draw_distribution, sources, tuple(marks), axis, title, tuple(lines), theme)
    return Plot(draw, sources, " ".join(filter(None, words)), theme, form)


@named_arguments
def formula_distribution(
    formula: calculator.Formula,
    spread: uncertain.Spread,
    arguments: Mapping[str, object],
    inputs: calculator.Inputs,
    *,
    theme: style.Theme = "light",
) -> Plot:
    """Draw the distribution of a formula whose arguments are ranges.

    Parameters
    ----------
    formula : Formula
        The formula.
    spread : netcalc.uncertain.Spread
        Its result.
    arguments : mapping of str to object
        The arguments that are numbers.
    inputs : mapping of str to Distribution
        Those that are ranges.
    theme : {'light', 'dark'}
        Colours of the figure.

    Returns
    -------
    Plot
        As of :func:`distribution`, times from a day on in days or years.
    """
    units = {name: formula.parameter(name.partition("[")[0]).unit for name in spread.inputs}
    shown = [
        f"{calculator.input_label(formula, name)} {draw.text(units[name])}"
        for name, draw in spread.inputs.items()
    ]
    size, unit = display.long_time(formula.unit, spread.percentile(95.0))
    return distribution(
        spread.samples / size,
        axis=style.Axis(named(formula.short_title, calculator.layer_of(formula, arguments)), unit),
        percentiles={percent: value / size for percent, value in spread.percentiles.items()},
        title=formula.summary.rstrip("."),
        note=phrase("Drawn of {join}.", join=", ".join(shown)),
        lines=(
            *formula_caption(
                formula, [*shown, *calculator.fixed_texts(formula, arguments, inputs)]
            ),
            phrase("{size:,} draws.", size=spread.samples.size),
        ),
        theme=theme,
    )


def _name(percent: float, value: float, axis: style.Axis) -> str:
    name = "median" if percent == 50 else f"p{percent:g}"
    return f"{name}: {show(value, axis.unit)}"


def _edges(values: FloatArray, is_log: bool) -> FloatArray:
    """Return the edges of the bars: of each value where they are few, without a long tail."""
    distinct = np.unique(values[: 100 * BARS])
    if distinct.size <= BARS and np.isin(values, distinct).all():
        step = float(np.diff(distinct).min()) if distinct.size > 1 else abs(distinct[0]) or 1.0
        widths = [distinct - step / 4, distinct + step / 4]
        return np.stack(widths, axis=1).reshape(-1)
    tail, low, high, end = np.percentile(values, [_TAIL_PERCENT, 5, 95, 100 - _TAIL_PERCENT])
    first, last = float(values.min()), float(values.max())
    width = _LONG_TAIL * (high - low)
    first, last = max(first, tail - width), min(last, end + width)
    first, last = (tail if first < low - width else first), (end if last > high + width else last)
    if is_log and first > 0:
        return np.geomspace(first, last, BARS + 1)
    return np.linspace(first, last, BARS + 1)


def _draw_distribution(
    sources: Mapping[str, ColumnDataSource],
    names: tuple[str, ...],
    axis: style.Axis,
    title: str,
    lines: tuple[str, ...],
    theme: style.Theme,
) -> figure:
    top = float(np.max(np.asarray(sources["draws"].data["top"])))
    chart = style.new_figure(
        axis, style.Axis("share of draws", "ratio", low=0.0, high=1.05 * top), title=title
    )
    color = style.PALETTES[theme][0]
    look = {"fill_color": color, "fill_alpha": 0.45, "line_color": None}
    quads = Quad(left="left", right="right", bottom="bottom", top="top", **look)
    bars = chart.add_glyph(sources["draws"], quads, name="draws")
    marks = {
        name: style.add_line(
            chart,
            sources[name],
            line_color=style.INKS[theme],
            line_dash=style.DASHES[index % len(style.DASHES)],
        )
        for index, name in enumerate(names)
    }
    style.add_hover(
        chart,
        [bars],
        [("from", "left", axis.unit), ("to", "right", axis.unit), ("share", "top", "ratio")],
    )
    style.add_legend(chart, [(name, [glyph]) for name, glyph in marks.items()])
    add_lines_below(chart, lines)
    return chart
