"""Curves of a formula with what belongs to them: equation, fixed arguments, source, doubts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, PlainText, Title
from bokeh.plotting import figure

from netcalc import calculator, equations
from netcalc.calculator import Curve, Formula, Parameter, Shade, fixed_texts
from netcalc.checks import FloatArray, named_arguments
from netcalc.display import long_time
from netcalc.language import phrase, term
from netcalc.plots.plot import Plot, ready
from netcalc.plots.style import (
    DASHES,
    FONT,
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

    lines: Mapping[str, Curve]
    x_axis: Axis
    y_axis: Axis
    title: str
    caption: tuple[str, ...]

    @property
    def shades(self) -> tuple[Shade, ...]:
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
    formula: Formula,
    lines: Mapping[str, Curve],
    over: Parameter,
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
    size, unit = long_time(formula.unit, float(values.max()) if values.size else 0.0)
    if size != 1.0:
        lines = {name: replace(line, y=line.y / size) for name, line in lines.items()}
        values = values / size
    ends = [float(line.x.max()) for line in lines.values() if line.x.size]
    x_size, x_unit = long_time(over.unit, max(ends, default=0.0))
    if x_size != 1.0:
        lines = {name: _along(line, x_size) for name, line in lines.items()}
    positive = bool(values.size and (values > 0).all())
    log_y = positive and (logarithmic if log_result is None else log_result)
    fixed = fixed_texts(formula, arguments, {over.name, *varied})
    values_of = dict(arguments)
    name = named(formula.short_name.replace("_", " "), calculator.layer_of(formula, values_of))
    along = named(formula.label(over.name), calculator.layer_text(formula, over.layer, values_of))
    low, high = ends_of_axis(values) if not log_y else (None, None)
    return FormulaCurves(
        lines=lines,
        x_axis=Axis(along, x_unit, "log" if logarithmic else "linear"),
        y_axis=Axis(name, unit, "log" if log_y else "linear", low, high),
        title=formula.summary.rstrip("."),
        caption=formula_caption(formula, fixed),
    )


def _along(line: Curve, size: float) -> Curve:
    """Return a curve whose argument is divided by a number."""
    shades = tuple(
        replace(part, low=part.low / size, high=part.high / size) for part in line.shades
    )
    return replace(line, x=line.x / size, shades=shades)


def formula_caption(formula: Formula, fixed: Sequence[str]) -> tuple[str, ...]:
    """Return the lines below a figure of a formula: equation, fixed arguments, source."""
    parts = (
        equations.plain(formula.equation),
        ", ".join(fixed),
        phrase("From: {source}", source=formula.source),
    )
    return tuple(line for part in parts if part for line in _wrapped(part))


@named_arguments
def formula_plot(curves: FormulaCurves, *, theme: Theme = "light") -> Plot:
    """Return the figure for a page: it can be zoomed, and shows the point under the pointer."""
    count = len(curves.lines)
    sources = {
        name: new_source(name, dict(ready({"x": line.x, "y": line.y}, source_count=count)))
        for name, line in curves.lines.items()
    }
    unit = curves.y_axis.unit
    ends = "; ".join(f"{name}: {_ends(line, unit)}" for name, line in curves.lines.items())
    text = f"{curves.title}. {ends}. {' '.join(curves.caption)}"
    draw = partial(_draw, sources, curves, theme)
    return Plot(draw, sources, text, theme)


def _draw(sources: Mapping[str, ColumnDataSource], curves: FormulaCurves, theme: Theme) -> figure:
    chart = new_figure(curves.x_axis, curves.y_axis, title=curves.title, height=FORMULA_HEIGHT)
    palette, ink = PALETTES[theme], INKS[theme]
    for shade in curves.shades:
        pattern = SHADES[shade.code][1]
        chart.add_layout(
            BoxAnnotation(
                left=shade.low, right=shade.high, fill_color=ink, fill_alpha=0.06,
                hatch_pattern=pattern, hatch_color=ink, hatch_alpha=0.15, line_alpha=0.0,
            )
        )  # fmt: skip
    drawn = {
        name: add_line(
            chart, sources[name], line_color=palette[i % len(palette)],
            line_dash=DASHES[i % len(DASHES)],
        )
        for i, name in enumerate(curves.lines)
    }  # fmt: skip
    axes = (curves.x_axis, curves.y_axis)
    rows = [(axis.name, at, axis.unit) for axis, at in zip(axes, ("x", "y"), strict=True)]
    add_hover(chart, list(drawn.values()), rows)
    if len(drawn) > 1:
        add_legend(chart, [(name, [glyph]) for name, glyph in drawn.items()])
    add_lines_below(chart, curves.lines_below)
    return chart


def add_lines_below(chart: figure, lines: Sequence[str]) -> None:
    """Write lines below a figure, which grows by them."""
    for line in lines:
        below = Title(
            text=PlainText(text=line), text_font=FONT, text_font_size="13px",
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


def _ends(line: Curve, unit: str) -> str:
    finite = line.y[np.isfinite(line.y)]
    if not finite.size:
        return phrase("no finite value")
    return f"{show(float(finite[0]), unit)} to {show(float(finite[-1]), unit)}"
