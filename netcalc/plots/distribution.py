"""The distribution of a result: how often it is where, with its percentiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from bokeh.models import ColumnDataSource, Quad
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from netcalc.calculator import Formula, Inputs, fixed_texts, input_label, layer_of
from netcalc.checks import FloatArray, as_float, named_arguments
from netcalc.display import long_time
from netcalc.errors import DomainError
from netcalc.language import phrase
from netcalc.plots.formula import add_lines_below, formula_caption
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
from netcalc.uncertain import Spread
from netcalc.units import show

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
    known = values[np.isfinite(values)]
    if not known.size:
        raise DomainError("nothing-finite", "samples", int(values.size))
    edges = _edges(known, axis.scale == "log")
    share = np.histogram(known, edges)[0] / values.size
    columns = {"left": edges[:-1], "right": edges[1:], "top": share, "bottom": 0.0 * share}
    sources = {"draws": new_source("draws", dict(ready(columns)))}
    marks = {_name(p, value, axis): value for p, value in percentiles.items()}
    for name, value in marks.items():
        sources[name] = new_source(name, dict(ready({"x": [value] * 2, "y": [0.0, share.max()]})))
    cut = int(((known < edges[0]) | (known > edges[-1])).sum())
    words = [f"{title or axis.name}: {', '.join(marks)}.", note]
    if cut:
        words.append(
            phrase(
                "{cut} of the draws are outside the figure.",
                cut=show(cut / values.size, "ratio"),
            )
        )
    form = ("distribution", axis, title, theme, tuple(marks), tuple(lines))
    draw = partial(_draw, sources, tuple(marks), axis, title, tuple(lines), theme)
    return Plot(draw, sources, " ".join(filter(None, words)), theme, form)


@named_arguments
def formula_distribution(
    wanted: Formula,
    found: Spread,
    arguments: Mapping[str, object],
    inputs: Inputs,
    *,
    theme: Theme = "light",
) -> Plot:
    """Draw the distribution of a formula whose arguments are ranges.

    Parameters
    ----------
    wanted : Formula
        The formula.
    found : netcalc.uncertain.Spread
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
        f"{input_label(wanted, name)} {one.text(wanted.parameter(name.partition('[')[0]).unit)}"
        for name, one in found.inputs.items()
    ]
    size, unit = long_time(wanted.unit, found.percentile(95.0))
    return distribution(
        found.samples / size,
        axis=Axis(named(wanted.short_title, layer_of(wanted, arguments)), unit),
        percentiles={percent: value / size for percent, value in found.percentiles.items()},
        title=wanted.summary.rstrip("."),
        note=phrase("Drawn of {join}.", join=", ".join(shown)),
        lines=(
            *formula_caption(wanted, [*shown, *fixed_texts(wanted, arguments, inputs)]),
            phrase("{size:,} draws.", size=found.samples.size),
        ),
        theme=theme,
    )


def _name(percent: float, value: float, axis: Axis) -> str:
    name = "median" if percent == 50 else f"p{percent:g}"
    return f"{name}: {show(value, axis.unit)}"


def _edges(known: FloatArray, is_log: bool) -> FloatArray:
    """Return the edges of the bars: of each value where they are few, without a long tail."""
    distinct = np.unique(known[: 100 * BARS])
    if distinct.size <= BARS and np.isin(known, distinct).all():
        step = float(np.diff(distinct).min()) if distinct.size > 1 else abs(distinct[0]) or 1.0
        widths = [distinct - step / 4, distinct + step / 4]
        return np.stack(widths, axis=1).reshape(-1)
    tail, low, high, end = np.percentile(known, [_TAIL_PERCENT, 5, 95, 100 - _TAIL_PERCENT])
    first, last = float(known.min()), float(known.max())
    width = _LONG_TAIL * (high - low)
    first, last = max(first, tail - width), min(last, end + width)
    first, last = (tail if first < low - width else first), (end if last > high + width else last)
    if is_log and first > 0:
        return np.geomspace(first, last, BARS + 1)
    return np.linspace(first, last, BARS + 1)


def _draw(
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
    add_legend(chart, [(name, [one]) for name, one in marks.items()])
    add_lines_below(chart, lines)
    return chart
