"""What ranges of the arguments make of a result: a band over one argument, or its distribution."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np
from bokeh.models import ColumnDataSource, Quad, VArea
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from netcalc.calculator import (
    Formula,
    Inputs,
    Parameter,
    fixed_texts,
    input_label,
    is_staircase,
    layer_of,
    percentile_name,
    range_text,
    result_unit,
)
from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.display import long_time
from netcalc.errors import DomainError
from netcalc.language import phrase
from netcalc.plots.formula import FORMULA_HEIGHT, add_lines_below, ends_of_axis, formula_caption
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    DASHES,
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
from netcalc.rate_layers import named
from netcalc.uncertain import Band, Spread
from netcalc.units import show

_BAND_ALPHA = 0.22
_BEYOND = 10.0
"""Where an infinite percentile is drawn: at this many times the end of the axis."""


@named_arguments
def bands(
    formula: Formula,
    found: Mapping[str, Band],
    over: Parameter,
    arguments: Mapping[str, object],
    inputs: Inputs,
    *,
    column: str = "result",
    varied: Collection[str] = (),
    logarithmic: bool = False,
    log_result: bool | None = None,
    theme: Theme = "light",
) -> Plot:
    """Draw the median of a formula over one argument, in the band of its outer percentiles.

    Parameters
    ----------
    formula : Formula
        The formula.
    found : mapping of str to Band
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
    columns = {name: _columns(band) for name, band in found.items()}
    shown_unit = result_unit(formula, column)
    columns, unit = _in_long_times(columns, shown_unit)
    every = np.concatenate(
        [column[key] for column in columns.values() for key in ("low", "y", "high")]
    )
    finite = every[np.isfinite(every)]
    positive = bool(finite.size and (finite > 0).all())
    log_y = positive and (logarithmic if log_result is None else log_result)
    low, high = _axis_ends(every, finite) if not log_y else (None, None)
    what = formula.short_title if column == "result" else column.replace("_", " ")
    first = next(iter(found.values()))
    percents = sorted(first.percentiles)
    outer = f"{percentile_name(percents[0])} to {percentile_name(percents[-1])}"
    top = float(finite.max()) if finite.size else 1.0
    sources = {}
    for name, band in columns.items():
        band["high"] = np.where(np.isposinf(band["high"]), _BEYOND * (high or top), band["high"])
        sources[name or "median"] = new_source(
            name or "median", dict(ready(band, source_count=len(columns)))
        )
    x_axis = Axis(formula.label(over.name), over.unit, "log" if logarithmic else "linear")
    y_axis = Axis(
        named(what, layer_of(formula, arguments)), unit, "log" if log_y else "linear", low, high
    )
    ranges = [
        f"{formula.label(name)} {range_text(band, formula.parameter(name).unit)}"
        for name, band in inputs.items()
    ]
    fixed = fixed_texts(formula, arguments, {over.name, *inputs, *varied})
    lines = (
        *formula_caption(formula, [*ranges, *fixed]),
        phrase(
            "Band: {outer} of {draws:,} draws, the same at each point.",
            outer=outer,
            draws=first.draws,
        ),
        *([phrase("The axis ends before the largest values.")] if high is not None else []),
    )
    text = "; ".join(_ends(name, band, shown_unit) for name, band in found.items())
    title = formula.summary.rstrip(".")
    draw = partial(_draw, sources, outer, x_axis, y_axis, title, lines, theme)
    return Plot(draw, sources, f"{title}. {text}. {' '.join(lines)}", theme)


def _columns(band: Band) -> dict[str, FloatArray]:
    """Return the lines of a band; those of a staircase go along its steps."""
    percents = sorted(band.percentiles)
    middle = min(percents, key=lambda percent: abs(percent - 50.0))
    rows = {"low": percents[0], "y": middle, "high": percents[-1]}
    columns = {name: np.asarray(band.percentiles[percent]) for name, percent in rows.items()}
    x = np.asarray(band.values, dtype=float)
    if any(is_staircase(column) for column in columns.values()):
        columns = {name: np.repeat(column, 2)[:-1] for name, column in columns.items()}
        x = np.repeat(x, 2)[1:]
    return {"x": x, **columns}


def _in_long_times(
    columns: dict[str, dict[str, FloatArray]], unit: str
) -> tuple[dict[str, dict[str, FloatArray]], str]:
    """Return the lines in days or years where they are such times, and the unit of the axis."""
    finite = [column["y"][np.isfinite(column["y"])] for column in columns.values()]
    size, name = long_time(unit, max((float(y.max()) for y in finite if y.size), default=0.0))
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


def _draw(
    sources: Mapping[str, ColumnDataSource],
    outer: str,
    x_axis: Axis,
    y_axis: Axis,
    title: str,
    lines: tuple[str, ...],
    theme: Theme,
) -> figure:
    chart = new_figure(x_axis, y_axis, title=title, height=FORMULA_HEIGHT)
    palette, entries, drawn = PALETTES[theme], [], []
    for i, (name, source) in enumerate(sources.items()):
        color = palette[i % len(palette)]
        area = VArea(x="x", y1="low", y2="high", fill_color=color, fill_alpha=_BAND_ALPHA)
        band = chart.add_glyph(source, area, name=outer)
        line = add_line(chart, source, line_color=color, line_dash=DASHES[i % len(DASHES)])
        drawn.append(line)
        alone = len(sources) == 1
        entries += [(name, [line]), (outer, [band])] if alone else [(name, [line, band])]
    rows = [(x_axis.name, "x", x_axis.unit)]
    rows += [("low", "low", y_axis.unit), ("median", "y", y_axis.unit),
             ("high", "high", y_axis.unit)]  # fmt: skip
    add_hover(chart, drawn, rows)
    add_legend(chart, entries)
    add_lines_below(chart, lines)
    return chart


def _ends(name: str, band: Band, unit: str) -> str:
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
    axis: Axis,
    percentiles: Mapping[float, float],
    title: str = "",
    note: str = "",
    lines: Sequence[str] = (),
    theme: Theme = "light",
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
    sources = {"draws": new_source("draws", dict(ready(columns)))}
    marks = {_name(p, value, axis): value for p, value in percentiles.items()}
    for name, value in marks.items():
        sources[name] = new_source(name, dict(ready({"x": [value] * 2, "y": [0.0, share.max()]})))
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
    formula: Formula,
    spread: Spread,
    arguments: Mapping[str, object],
    inputs: Inputs,
    *,
    theme: Theme = "light",
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
    shown = [
        f"{input_label(formula, name)} {draw.text(formula.parameter(name.partition('[')[0]).unit)}"
        for name, draw in spread.inputs.items()
    ]
    size, unit = long_time(formula.unit, spread.percentile(95.0))
    return distribution(
        spread.samples / size,
        axis=Axis(named(formula.short_title, layer_of(formula, arguments)), unit),
        percentiles={percent: value / size for percent, value in spread.percentiles.items()},
        title=formula.summary.rstrip("."),
        note=phrase("Drawn of {join}.", join=", ".join(shown)),
        lines=(
            *formula_caption(formula, [*shown, *fixed_texts(formula, arguments, inputs)]),
            phrase("{size:,} draws.", size=spread.samples.size),
        ),
        theme=theme,
    )


def _name(percent: float, value: float, axis: Axis) -> str:
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
    axis: Axis,
    title: str,
    lines: tuple[str, ...],
    theme: Theme,
) -> figure:
    top = float(np.max(np.asarray(sources["draws"].data["top"])))
    chart = new_figure(axis, Axis("share of draws", "ratio", low=0.0, high=1.05 * top), title=title)
    color = PALETTES[theme][0]
    look = {"fill_color": color, "fill_alpha": 0.45, "line_color": None}
    quads = Quad(left="left", right="right", bottom="bottom", top="top", **look)
    bars = chart.add_glyph(sources["draws"], quads, name="draws")
    marks = {
        name: add_line(
            chart, sources[name], line_color=INKS[theme], line_dash=DASHES[index % len(DASHES)]
        )
        for index, name in enumerate(names)
    }
    add_hover(
        chart,
        [bars],
        [("from", "left", axis.unit), ("to", "right", axis.unit), ("share", "top", "ratio")],
    )
    add_legend(chart, [(name, [glyph]) for name, glyph in marks.items()])
    add_lines_below(chart, lines)
    return chart
