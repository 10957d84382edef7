"""A formula of ``netcalc calc`` with ranges in: percentiles, and which input matters most."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netcalc import calculator, equations, uncertain, units
from netcalc.calculator import Formula, Inputs, percentile_name, range_text
from netcalc.cli import complain, ending_quietly, print_json, put, say
from netcalc.cli.mistakes import CommandError
from netcalc.messages import Notice
from netcalc.rate_layers import named
from netcalc.uncertain import Spread


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked about draws on a command line."""

    draws: int | None = None
    seed: int = 0
    correlate: str | None = None
    truncate: bool = False
    dask: str | None = None


def answer(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    wanted: Wanted,
    *,
    plot: str | None = None,
    force: bool = False,
    as_json: bool = False,
    as_csv: bool = False,
    explained: bool = False,
) -> None:
    """Print percentiles of a formula, which input matters most, and the notes."""
    from netcalc.cli.calc import say_assumed  # late: that module loads this one

    if plot is not None:
        from netcalc.cli.output import check_output

        check_output(plot, force=force, plot=True)
    check_required(formula, {*arguments, *inputs})
    with ending_quietly():
        uncertain.prepare()
    spreads = uncertain.spreads(
        formula.function,
        {**arguments, **inputs},
        draws=wanted.draws,
        seed=wanted.seed,
        correlations=correlations(formula, wanted.correlate),
        truncate=wanted.truncate,
        dask=wanted.dask,
    )
    if plot is not None:
        _plot(formula, arguments, inputs, spreads, plot)
    if as_json:
        every = list(spreads.values())
        print_json(document(formula, arguments, inputs, _results(spreads), wanted, every))
    elif as_csv:
        _print_csv(formula, arguments, spreads)
    else:
        _print(formula, arguments, inputs, spreads, explained=explained)
    say_assumed(formula, {*arguments, *inputs})
    for note in calculator.range_notes(formula, _notes(spreads.values())):
        complain(f"note: {note}.")


def _notes(found: Collection[Any]) -> list[Notice]:
    return [note for one in found for note in one.notes]


def check_required(formula: Formula, given: Collection[str]) -> None:
    """Refuse a question without an argument that has no default."""
    for parameter in formula.parameters:
        if parameter.required and parameter.name not in given:
            raise parameter.required_error()


def correlations(formula: Formula, text: str | None) -> dict[tuple[str, str], float]:
    """Read the correlations that were typed."""
    if text is None:
        return {}
    names = {p.short_name: p.name for p in formula.parameters}
    return uncertain.parse_correlations(text, names | {p.name: p.name for p in formula.parameters})


def _print(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    spreads: Mapping[str, Spread],
    *,
    explained: bool,
) -> None:
    if explained:
        say(f"{formula.summary}\n\n  {equations.plain(formula.equation)}\n")
        for name, one in inputs.items():
            say(f"  {name} = {range_text(one, formula.parameter(name).unit)}")
        say("")
    layer = calculator.layer_of(formula, arguments)
    for column, found in spreads.items():
        if len(spreads) > 1:
            put(column, bold=True)
        unit = calculator.result_unit(formula, column)
        for percent, value in found.percentiles.items():
            put(f"{percentile_name(percent)}: {named(units.show(value, unit), layer)}")
        if line := calculator.importance_line(formula, found):
            say(line)
    if explained:
        say(f"\n{formula.validity}\nFrom: {formula.source}")


def document(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    result: Any,
    wanted: Wanted,
    found: Sequence[Any],
    *,
    free: Sequence[str] = (),
) -> dict[str, Any]:
    """Return an answer to ranges as JSON has it; ``found`` are the spreads, bands or solutions.

    ``free`` are the arguments that are swept or solved for.
    """
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    shown = {name: range_text(one, formula.parameter(name).unit) for name, one in inputs.items()}
    correlated = found[0].correlations.items()
    return {
        "formula": formula.name,
        "arguments": {**defaults, **arguments, **shown},
        "units": {p.name: p.unit for p in formula.parameters},
        "result": result,
        "unit": formula.unit,
        "layer": calculator.layer_of(formula, arguments),
        "layers": calculator.layers(formula, arguments),
        "draws": found[0].draws,
        "seed": wanted.seed,
        "assumed": calculator.defaults_said(formula, {*arguments, *inputs, *free}),
        "correlations": {",".join(pair): value for pair, value in correlated},
        "note": " ".join(f"{one}." for one in calculator.range_notes(formula, _notes(found))),
    }


def _results(spreads: Mapping[str, Spread]) -> dict[str, Any]:
    results = {
        column: {
            **{percentile_name(percent): value for percent, value in found.percentiles.items()},
            "first_order": dict(found.first_order),
            "total_order": dict(found.total_order),
            "explained_alone": dict(found.explained_alone),
        }
        for column, found in spreads.items()
    }
    return results["result"] if list(results) == ["result"] else results


def _print_csv(
    formula: Formula, arguments: Mapping[str, Any], spreads: Mapping[str, Spread]
) -> None:
    from netcalc.cli.calc import heading, write_csv

    layer = calculator.layer_of(formula, arguments)
    percents = next(iter(spreads.values())).percentiles
    rows = [["result", *(percentile_name(percent) for percent in percents)]]
    for column, found in spreads.items():
        name = formula.function_name if column == "result" else column
        values = [f"{value:.12g}" for value in found.percentiles.values()]
        rows.append([heading(name, calculator.result_unit(formula, column), layer), *values])
    write_csv(rows)


def _plot(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    spreads: Mapping[str, Spread],
    path: str,
) -> None:
    from netcalc import plots  # late: bokeh takes its time
    from netcalc.cli.formulas.files import write_formula

    if len(spreads) > 1:
        raise CommandError("several-results", formula=formula.name)
    [found] = spreads.values()
    write_formula(plots.formula_distribution(formula, found, arguments, inputs), path)
