"""The figure of an answer of ``netcalc calc`` in a file: a page, or a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import calculator
from netcalc.calculator import Answer, Session, Swept
from netcalc.cli import put
from netcalc.cli.mistakes import CommandError
from netcalc.cli.output import check_output, write_plot

if TYPE_CHECKING:
    from netcalc.plots import Plot

_BAND_POINTS = 201


def check_file(session: Session, path: str, *, force: bool) -> None:
    """Refuse a name that is taken, one of no form that a figure has, and several results."""
    check_output(path, force=force, plot=True)
    if not session.formula.unit:
        raise CommandError("several-results", formula=session.formula.name)


def draw(session: Session, sweeps: Sequence[Swept], answer: Answer, path: str) -> None:
    """Draw a distribution, or curves or bands over one argument, one for each of a second."""
    from netcalc import plots  # late: bokeh and matplotlib take their time

    formula, inputs = session.formula, session.inputs
    if not sweeps:
        spread = answer.parts["result"]
        _write(plots.formula_distribution(formula, spread, session.arguments, inputs), path)
        return
    over, *others = sweeps
    varied = [other.parameter.name for other in others]
    drawing = _bands if inputs else _curves
    _write(drawing(session, over, others, answer, varied=varied), path)


def _curves(
    session: Session, over: Swept, others: Sequence[Swept], answer: Answer, *, varied: list[str]
) -> Plot:
    from netcalc import plots  # late, as above

    formula, arguments = session.formula, session.arguments
    cases: Mapping[str, dict[str, Any]] = {formula.short_name.replace("_", " "): arguments}
    values = over.values
    for other in others:
        by, label = other.parameter, other.parameter.short_name.replace("_", " ")
        cases = {f"{label} {by.show(v)}": {**arguments, by.name: v} for v in other.values}
        values = next(iter(answer.parts.values())).values
    lines = {
        name: calculator.curve(
            formula, case, over=over.parameter.name, low=float(np.min(values)),
            high=float(np.max(values)), logarithmic=over.logarithmic,
        )
        for name, case in cases.items()
    }  # fmt: skip
    drawn = plots.formula_curves(
        formula, lines, over.parameter, arguments, varied=varied, logarithmic=over.logarithmic
    )
    return plots.formula_plot(drawn)


def _bands(
    session: Session, over: Swept, others: Sequence[Swept], answer: Answer, *, varied: list[str]
) -> Plot:
    from netcalc import plots  # late, as above

    formula, inputs = session.formula, session.inputs
    by = others[0].parameter if others else None
    by_values = others[0].values.tolist() if others else []
    cases = calculator.cases_by_text(session.arguments, by, by_values)
    space = np.geomspace if over.logarithmic else np.linspace
    grid = space(float(np.min(over.values)), float(np.max(over.values)), _BAND_POINTS)
    bands = {}
    for label, arguments in cases.items():
        name = f"{by.short_name.replace('_', ' ')} {label}" if by is not None else ""
        bands[name] = calculator.bands_over(
            formula, arguments, inputs, over=over.parameter.name, values=grid, **session.drawn()
        )["result"]
    return plots.bands(
        formula, bands, over.parameter, next(iter(cases.values())), inputs, varied=varied,
        logarithmic=over.logarithmic,
    )  # fmt: skip


def _write(plot: Plot, path: str) -> None:
    """Write a figure with the lines below it, also as a picture."""
    from netcalc import plots  # late, as above

    if Path(path).suffix in plots.PICTURE_SUFFIXES:
        plots.save_picture(plot, path)
    else:
        write_plot(plot, path)
    put(f"wrote {path}", err=True)
