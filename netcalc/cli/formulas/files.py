"""The figure of a swept formula in a file: a page, or a picture."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import calculator
from netcalc.calculator import Formula, Parameter
from netcalc.checks import FloatArray
from netcalc.cli import put
from netcalc.cli.mistakes import CommandError
from netcalc.cli.output import check_output, write_plot

if TYPE_CHECKING:
    from netcalc.plots import Plot


def check_formula_file(path: str, *, force: bool) -> None:
    """Refuse a name that is taken, or of no form that a figure has."""
    check_output(path, force=force, plot=True)


def save_formula(
    formula: Formula,
    given: Mapping[str, Mapping[str, Any]],
    over: Parameter,
    values: FloatArray,
    path: str,
    *,
    fixed: Mapping[str, Any],
    varied: Collection[str] = (),
    logarithmic: bool,
) -> None:
    """Draw a formula over one argument, a curve for each set of the others."""
    from netcalc import plots  # late: bokeh and matplotlib take their time

    if not formula.unit:
        raise CommandError("several-results", formula=formula.name)
    low, high = float(np.min(values)), float(np.max(values))
    lines = {
        name: calculator.curve(
            formula, arguments, over=over.name, low=low, high=high, logarithmic=logarithmic
        )
        for name, arguments in given.items()
    }
    drawn = plots.formula_curves(
        formula, lines, over, fixed, varied=varied, logarithmic=logarithmic
    )
    write_formula(plots.formula_plot(drawn), path)


def write_formula(plot: Plot, path: str) -> None:
    """Write the figure of a formula with the lines below it, also as a picture."""
    from netcalc import plots

    if Path(path).suffix in plots.PICTURE_SUFFIXES:
        plots.save_picture(plot, path)
    else:
        write_plot(plot, path)
    put(f"wrote {path}", err=True)
