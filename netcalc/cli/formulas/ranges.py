"""A formula of ``netcalc calc`` with ranges in: percentiles, and which input matters most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc import calculator, equations, uncertain, units
from netcalc.calculator import Formula, Parameter
from netcalc.cli import complain, ending_quietly, print_json, put, say
from netcalc.cli.mistakes import CommandError
from netcalc.errors import DoubtWarning
from netcalc.messages import Notice
from netcalc.uncertain import Distribution, Spread

_NAMES = {5.0: "p5", 50.0: "median", 95.0: "p95"}
_SMALL = 0.001  # a share of the variance below this counts as none


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked about draws on a command line."""

    draws: int = uncertain.DRAWS
    seed: int = 0
    correlate: str | None = None
    truncate: bool = False
    dask: str | None = None


Inputs = dict[str, Distribution | list[Distribution | float]]
"""Arguments that are ranges or distributions, and lists of which some elements are."""


def split(formula: Formula, texts: Mapping[str, str]) -> tuple[Inputs, dict[str, str]]:
    """Return the arguments that were typed as ranges or distributions, and the other texts."""
    found: Inputs = {}
    others: dict[str, str] = {}
    for name, text in texts.items():
        parameter = formula.parameter(name)
        if parameter.kind in ("choice", "text") or not uncertain.is_distribution(text):
            others[name] = text
            continue
        if parameter.kind not in ("number", "list"):
            numbers = [p.short_name for p in formula.parameters if p.kind in ("number", "list")]
            raise CommandError("range-of-no-number", name=parameter.short_name, numbers=numbers)
        parse = uncertain.parse_list if parameter.kind == "list" else uncertain.parse
        one = parse(text, parameter.unit, field=parameter.short_name, read=_reader(parameter))
        if isinstance(one, float):
            others[name] = text
        else:
            found[name] = one
    return found, others


def _reader(parameter: Parameter) -> Callable[[str], float]:
    """Return what reads one number of an argument, as people type it."""
    return lambda text: float(np.reshape(parameter.read(text), ()))


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
    if plot is not None:
        from netcalc.cli.output import check_output

        check_output(plot, force=force, plot=True)
    for parameter in formula.parameters:
        if parameter.required and parameter.name not in {*arguments, *inputs}:
            raise parameter.required_error()
    with ending_quietly():
        uncertain.prepare()
    spreads = uncertain.spreads(
        formula.function,
        {**arguments, **inputs},
        draws=wanted.draws,
        seed=wanted.seed,
        correlations=_correlations(formula, wanted.correlate),
        truncate=wanted.truncate,
        dask=wanted.dask,
    )
    if plot is not None:
        _plot(formula, spreads, plot)
    if as_json:
        print_json(_document(formula, arguments, inputs, spreads, wanted))
    elif as_csv:
        _print_csv(formula, spreads)
    else:
        _print(formula, inputs, spreads, explained=explained)
    said = (_words(note, formula) for found in spreads.values() for note in found.notes)
    for note in dict.fromkeys(said):
        complain(f"note: {note}.")


def _correlations(formula: Formula, text: str | None) -> dict[tuple[str, str], float]:
    if text is None:
        return {}
    names = {p.short_name: p.name for p in formula.parameters}
    return uncertain.parse_correlations(text, names | {p.name: p.name for p in formula.parameters})


def _print(
    formula: Formula,
    inputs: Inputs,
    spreads: Mapping[str, Spread],
    *,
    explained: bool,
) -> None:
    if explained:
        say(f"{formula.summary}\n\n  {equations.plain(formula.equation)}\n")
        for name, one in inputs.items():
            say(f"  {name} = {_text(one, formula.parameter(name).unit)}")
        say("")
    for column, found in spreads.items():
        if len(spreads) > 1:
            put(column, bold=True)
        unit = _unit(formula, column)
        for percent, value in found.percentiles.items():
            put(f"{_name(percent)}: {units.show(value, unit)}")
        if found.first_order:
            say(f"matters most: {_importance(formula, found)}")
    if explained:
        say(f"\n{formula.validity}\nFrom: {formula.source}")


def _importance(formula: Formula, found: Spread) -> str:
    """Return the inputs with the shares of the variance that they explain, the largest first."""
    ordered = sorted(found.first_order.items(), key=lambda pair: -pair[1])
    parts = [f"{_label(formula, name)} {_share(index)}" for name, index in ordered]
    apart = 1.0 - sum(found.first_order.values())
    if len(parts) == 1:
        return _label(formula, ordered[0][0])
    together = f"; {_share(apart)} by several at once" if apart > 0.01 else ""
    return f"{', '.join(parts)} of the variance{together}"


def _text(one: Any, unit: str) -> str:
    if isinstance(one, list):
        return ", ".join(_text(item, unit) for item in one)
    return one.text(unit) if isinstance(one, Distribution) else units.show(one, unit)


def _label(formula: Formula, name: str) -> str:
    """Return the name of an input for people; elements of a list are counted from 1."""
    argument, bracket, index = name.partition("[")
    label = formula.label(argument)
    return f"{label} {int(index[:-1]) + 1}" if bracket else label


def _share(index: float) -> str:
    return "0%" if index < _SMALL else units.show(index, "ratio", digits=3 if index < 0.995 else 2)


def _name(percent: float) -> str:
    return _NAMES.get(percent, f"p{percent:g}")


def _unit(formula: Formula, column: str) -> str:
    return formula.unit if column == "result" else calculator.column_unit(formula, column)


def _words(note: Notice, formula: Formula) -> str:
    """Return a note with the names and units that people type."""
    values = dict(note.values)
    doubt = values.get("doubt")
    if isinstance(doubt, DoubtWarning):
        known = {p.name: p.unit for p in formula.parameters}
        unit = known.get(str(doubt.values.get("name")), formula.unit)
        values["doubt"] = str(calculator.doubt_notice(doubt, unit))
    if "distribution" in values or note.code == "draws-whole":
        values["name"] = _label(formula, values["name"])
    if "names" in values:
        values["names"] = [_label(formula, name) for name in values["names"]]
    return str(Notice(note.code, values))


def _document(
    formula: Formula,
    arguments: Mapping[str, Any],
    inputs: Inputs,
    spreads: Mapping[str, Spread],
    wanted: Wanted,
) -> dict[str, Any]:
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    shown = {name: _text(one, formula.parameter(name).unit) for name, one in inputs.items()}
    results = {
        column: {
            **{_name(percent): value for percent, value in found.percentiles.items()},
            "first_order": dict(found.first_order),
            "total_order": dict(found.total_order),
        }
        for column, found in spreads.items()
    }
    first = next(iter(spreads.values()))
    said = (_words(note, formula) for found in spreads.values() for note in found.notes)
    return {
        "formula": formula.name,
        "arguments": {**defaults, **arguments, **shown},
        "units": {p.name: p.unit for p in formula.parameters},
        "result": results["result"] if list(results) == ["result"] else results,
        "unit": formula.unit,
        "layer": calculator.layer_of(formula, arguments),
        "layers": calculator.layers(formula, arguments),
        "draws": wanted.draws,
        "seed": wanted.seed,
        "correlations": {",".join(pair): value for pair, value in first.correlations.items()},
        "note": " ".join(f"{note}." for note in dict.fromkeys(said)),
    }


def _print_csv(formula: Formula, spreads: Mapping[str, Spread]) -> None:
    from netcalc.cli.calc import heading, write_csv

    layer = calculator.layer_of(formula, {})
    percents = next(iter(spreads.values())).percentiles
    rows = [["result", *(_name(percent) for percent in percents)]]
    for column, found in spreads.items():
        name = formula.function_name if column == "result" else column
        values = [f"{value:.12g}" for value in found.percentiles.values()]
        rows.append([heading(name, _unit(formula, column), layer), *values])
    write_csv(rows)


def _plot(formula: Formula, spreads: Mapping[str, Spread], path: str) -> None:
    from netcalc import plots  # late: bokeh takes its time
    from netcalc.cli.output import write_plot

    if len(spreads) > 1:
        raise CommandError("several-results", formula=formula.name)
    [found] = spreads.values()
    shown = ", ".join(
        f"{_label(formula, name)} {one.text(formula.parameter(name.partition('[')[0]).unit)}"
        for name, one in found.inputs.items()
    )
    plot = plots.distribution(
        found.samples,
        axis=plots.Axis(formula.short_name.replace("_", " "), formula.unit),
        percentiles=found.percentiles,
        title=formula.summary,
        note=f"Drawn of {shown}.",
    )
    write_plot(plot, path)
    put(f"wrote {path}", err=True)
