"""A formula of ``netcalc calc`` with ranges in, over one argument or solved for one."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import calculator, uncertain, units
from netcalc.calculator import Formula, Inputs, Parameter
from netcalc.checks import FloatArray
from netcalc.cli import complain, ending_quietly, print_json, put
from netcalc.cli.formulas.ranges import Wanted, check_required, correlations, document
from netcalc.cli.mistakes import CommandError
from netcalc.errors import DomainError
from netcalc.rate_layers import named

if TYPE_CHECKING:
    from netcalc.uncertain import Band

Swept = tuple[Parameter, FloatArray, bool]
"""An argument, its values, and whether they are in logarithmic steps."""
_FIGURE_POINTS = 201


def sweep(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    sweeps: Sequence[Swept],
    wanted: Wanted,
    *,
    plot: str | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Print percentiles at each value of one argument; of two, for each value of the second."""
    (over, values, logarithmic), *others = sweeps
    if plot is not None:
        from netcalc.cli.formulas.files import check_formula_file

        check_formula_file(plot, force=force)
        if not formula.unit:
            raise CommandError("several-results", formula=formula.name)
    by, by_values = (others[0][0], others[0][1]) if others else (None, np.zeros(0))
    if by is over:
        raise DomainError("swept-twice", over.name, over.name)
    check_required(formula, {*arguments, *inputs, over.name, *([by.name] if by else [])})
    given = calculator.cases_by_text(arguments, by, by_values.tolist())
    drawn = _drawn(formula, wanted, "--sweep")
    with ending_quietly():
        uncertain.prepare()
    found = {
        label: calculator.bands_over(formula, one, inputs, over=over.name, values=values, **drawn)
        for label, one in given.items()
    }
    if plot is not None:
        _plot(formula, given, inputs, over, values, drawn, plot, logarithmic=logarithmic, by=by)
    first = next(iter(next(iter(found.values())).values()))
    free = [one.name for one, _, _ in sweeps]
    if as_json:
        result = _results(found)
        last = document(formula, arguments, inputs, result, wanted, _all(found), free=free)
        names: Any = over.name if by is None else [by.name, over.name]
        each = [one[by.name] for one in given.values()] if by is not None else []
        at: Any = first.values if by is None else [each, first.values.tolist()]
        print_json({**last, "sweep": names, "values": at})
        return
    headings, units_, rows = calculator.band_rows(formula, found)
    if as_csv:
        from netcalc.cli.calc import heading, write_csv

        layer = calculator.layer_of(formula, arguments)
        own = calculator.layer_text(formula, over.layer, arguments)
        what = f"{formula.function_name} " if formula.unit else ""
        head = [heading(f"{what}{h}", u, layer) for h, u in zip(headings, units_, strict=True)]
        body = [[f"{value:.12g}" for value in row] for row in rows]
        write_csv([[heading(over.name, over.unit, own), *head], *body])
    else:
        _print(formula, arguments, over, headings, units_, rows)
    _say_assumed(formula, {*arguments, *inputs, *free})
    _complain(formula, _all(found))


def _drawn(formula: Formula, wanted: Wanted, option: str) -> dict[str, Any]:
    if wanted.dask is not None:
        raise CommandError("options-exclusive", first=option, second="--dask")
    return {
        "draws": wanted.draws, "seed": wanted.seed, "truncate": wanted.truncate,
        "correlations": correlations(formula, wanted.correlate),
    }  # fmt: skip


def _all(found: Mapping[str, Mapping[str, Band]]) -> list[Band]:
    return [one for bands in found.values() for one in bands.values()]


def _results(found: Mapping[str, Mapping[str, Band]]) -> dict[str, Any]:
    """Return the percentiles as JSON has them: of a second argument, a list for each value."""
    columns = list(next(iter(found.values())))
    result: dict[str, Any] = {}
    for name in columns:
        bands = [one[name] for one in found.values()]
        rows = {
            calculator.percentile_name(percent): [b.percentiles[percent].tolist() for b in bands]
            for percent in bands[0].percentiles
        }
        is_alone = list(found) == [""]
        result[name] = {p: row[0] for p, row in rows.items()} if is_alone else rows
    return result["result"] if columns == ["result"] else result


def _print(
    formula: Formula,
    arguments: Mapping[str, Any],
    over: Parameter,
    headings: list[str],
    units_: list[str],
    rows: list[list[float]],
) -> None:
    layer = calculator.layer_of(formula, arguments)
    put(f"{named(formula.short_name, layer)} over {over.short_name}")
    width = max(12, *map(len, headings))
    put(f"{over.short_name:>16}  " + "  ".join(f"{one:{width}}" for one in headings).rstrip())
    for x, *row in rows:
        texts = [units.show(y, unit) for y, unit in zip(row, units_, strict=True)]
        put(f"{over.show(x):>16}  " + "  ".join(f"{one:{width}}" for one in texts).rstrip())


def _say_assumed(formula: Formula, given: Collection[str]) -> None:
    from netcalc.cli.calc import say_assumed  # late: that module loads this one

    say_assumed(formula, given)


def _complain(formula: Formula, found: Sequence[Any]) -> None:
    for note in calculator.range_notes(formula, [note for one in found for note in one.notes]):
        complain(f"note: {note}.")


def _plot(
    formula: Formula,
    given: Mapping[str, Mapping[str, Any]],
    inputs: Inputs,
    over: Parameter,
    values: FloatArray,
    drawn: Mapping[str, Any],
    path: str,
    *,
    logarithmic: bool,
    by: Parameter | None,
) -> None:
    from netcalc import plots  # late: bokeh takes its time
    from netcalc.cli.formulas.files import write_formula

    space = np.geomspace if logarithmic else np.linspace
    grid = space(float(np.min(values)), float(np.max(values)), _FIGURE_POINTS)
    found = {}
    for label, arguments in given.items():
        name = f"{by.short_name.replace('_', ' ')} {label}" if by is not None else ""
        found[name] = calculator.bands_over(
            formula, arguments, inputs, over=over.name, values=grid, **drawn
        )["result"]
    plot = plots.bands(
        formula, found, over, next(iter(given.values())), inputs,
        varied=[by.name] if by is not None else [], logarithmic=logarithmic,
    )  # fmt: skip
    write_formula(plot, path)


def solve(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    over: Parameter,
    result: str,
    limits: str,
    wanted: Wanted,
    *,
    as_json: bool,
) -> None:
    """Print percentiles of the argument that gives a result, and the share of draws without one."""
    drawn = _drawn(formula, wanted, "--solve")
    with ending_quietly():
        uncertain.prepare()
    found = calculator.solutions_for(
        formula, arguments, inputs, over=over.name, result=result, limits=limits, **drawn
    )
    layer = calculator.layer_text(formula, over.layer, arguments)
    if as_json:
        names = {p: calculator.percentile_name(p) for p in found.percentiles}
        rows = {names[p]: value for p, value in found.percentiles.items()}
        last = {names[p]: value for p, value in found.last_percentiles.items()}
        shown = document(formula, arguments, inputs, rows, wanted, [found], free=[over.name])
        print_json({
            **shown, "unit": over.unit, "layer": shown["layers"].get(over.name, ""),
            "solve": over.name, "range": [found.low, found.high],
            "last": last if found.is_interval else None,
            "share_without_solution": found.share_without,
        })  # fmt: skip
    else:
        put("\n".join(calculator.solution_lines(formula, found, over=over.name, layer=layer)))
        _say_assumed(formula, {*arguments, *inputs, over.name})
        _complain(formula, [found])
    if found.share_without == 1.0:
        sys.exit(1)  # no solution
