"""What the calculator's panel answers to lists and ranges in its fields: a table and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netcalc import calculator, plots, uncertain
from netcalc.calculator import Formula, Inputs, Parameter
from netcalc.checks import FloatArray
from netcalc.errors import DomainError
from netcalc.language import phrase, term
from netcalc.plots import Axis, Plot
from netcalc.rate_layers import named
from netcalc.units import show
from netcalc.widgets.panel import html_table

BAND_POINTS = 61
"""Points of a band: each has thousands of draws."""
MOST_CURVES = 6
"""Curves that can be told apart."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The fields of a formula: single numbers, ranges, and lists of values."""

    arguments: Mapping[str, Any]
    inputs: Inputs
    lists: Mapping[str, FloatArray]

    @property
    def is_plain(self) -> bool:
        """Whether there are neither ranges nor lists."""
        return not self.inputs and not self.lists


@dataclass(frozen=True, slots=True)
class Ranged:
    """An answer to ranges or lists: in words, as a table, as a figure, with its notes."""

    words: str
    table: str
    plot: Plot | None
    notes: tuple[str, ...]


Cases = Mapping[str, Mapping[str, Any]]
"""Arguments by the text that tells them apart."""


def typed(formula: Formula, texts: Mapping[str, str], *, without: str = "") -> Typed:
    """Read the fields of a form as the command line reads its options, ``without`` one of them.

    Raises
    ------
    DomainError, UnitError
        If a text is refused, a required one is missing, or more than two are lists.
    """
    inputs, others = calculator.split_ranges(formula, texts)
    listed = calculator.listed_values(formula, others)
    if len(listed) > 2:
        raise DomainError("too-many-lists", "lists", len(listed), high=2)
    single = {name: text for name, text in others.items() if name not in listed}
    arguments = formula.arguments(single)
    for parameter in formula.parameters:
        if parameter.required and parameter.name not in {*arguments, *inputs, *listed, without}:
            raise parameter.required_error()
    lists = {name: formula.arguments_of(name, values) for name, values in listed.items()}
    return Typed(arguments, inputs, lists)


def read_field(formula: Formula, name: str, text: str) -> None:
    """Refuse what cannot be read of one field, before the others are looked at.

    Raises
    ------
    DomainError, UnitError
        If the text is refused.
    """
    _, others = calculator.split_ranges(formula, {name: text})
    for values in calculator.listed_values(formula, others).values():
        formula.arguments_of(name, values)
        return
    formula.arguments(others)


def middle_of(formula: Formula, name: str, text: str) -> float:
    """Return the number of a field, the median of a range, or the first of a list."""
    inputs, others = calculator.split_ranges(formula, {name: text})
    if inputs:
        spread: Any = inputs[name]
        return float(spread.ppf(np.array(0.5)))
    listed = calculator.listed_values(formula, others)
    first = {name: listed[name][0]} if listed else others
    return float(formula.arguments(first)[name])


def ranged(formula: Formula, fields: Typed) -> Ranged:
    """Answer lists with a table, and ranges with percentiles and their distribution.

    Raises
    ------
    DomainError
        If a value or a draw is impossible, or the result is not one number.
    """
    return _table_of_lists(formula, fields) if fields.lists else _percentiles(formula, fields)


def _percentiles(formula: Formula, fields: Typed) -> Ranged:
    """Return percentiles of the result and what matters most, and its distribution."""
    spreads = uncertain.spreads(formula.function, {**fields.arguments, **fields.inputs})
    names = [calculator.percentile_name(p) for p in next(iter(spreads.values())).percentiles]
    rows, words = [], []
    layer = calculator.layer_of(formula, fields.arguments)
    for column, spread in spreads.items():
        unit = calculator.result_unit(formula, column)
        texts = [named(show(value, unit), layer) for value in spread.percentiles.values()]
        name = formula.short_title if column == "result" else column
        rows.append([name, *texts])
        parts = ", ".join(f"{p} {text}" for p, text in zip(names, texts, strict=True))
        line = calculator.importance_line(formula, spread)
        what = phrase(formula.summary).rstrip(".。") if column == "result" else column
        words.append(f"{what}: {parts}{f' ({line})' if line else ''}.")
    plot = None
    if list(spreads) == ["result"]:
        spread = spreads["result"]
        plot = plots.formula_distribution(formula, spread, fields.arguments, fields.inputs)
    notes = [note for spread in spreads.values() for note in spread.notes]
    table = html_table([term("result"), *names], rows)
    return Ranged(" ".join(words), table, plot, _said(formula, notes))


def _said(formula: Formula, notes: list[Any]) -> tuple[str, ...]:
    return tuple(f"{note}." for note in calculator.range_notes(formula, notes))


def _table_of_lists(formula: Formula, fields: Typed) -> Ranged:
    """Return a table over one list, or over two, of results or of their percentiles."""
    (name, values), *others = fields.lists.items()
    over = formula.parameter(name)
    by = formula.parameter(others[0][0]) if others else None
    by_values = others[0][1] if others else np.zeros(0)
    cases = calculator.cases_by_text(fields.arguments, by, by_values.tolist())
    columns_over = _percentile_columns if fields.inputs else _result_columns
    headings, units, rows, notes = columns_over(formula, fields, name, values, cases)
    body = [
        [over.show(x), *(show(y, unit) for y, unit in zip(row, units, strict=True))]
        for x, *row in rows
    ]
    layer = calculator.layer_of(formula, fields.arguments)
    headings = [named(heading, layer) for heading in headings]
    words = phrase(
        "{what}: {count} values of {name}, below.",
        what=phrase(formula.summary).rstrip(".。"),
        count=len(rows),
        name=formula.label(name),
    )
    table = html_table([formula.label(name), *headings], body)
    return Ranged(words, table, None, notes)


class _Columns(NamedTuple):
    """Columns over a list: their headings and units, the rows with the value first, and notes."""

    headings: list[str]
    units: list[str]
    rows: list[list[float]]
    notes: tuple[str, ...]


def _percentile_columns(
    formula: Formula, fields: Typed, name: str, values: FloatArray, cases: Cases
) -> _Columns:
    bands = {
        label: calculator.bands_over(formula, case, fields.inputs, over=name, values=values)
        for label, case in cases.items()
    }
    notes = [n for columns in bands.values() for band in columns.values() for n in band.notes]
    return _Columns(*calculator.band_rows(formula, bands), _said(formula, notes))


def _result_columns(
    formula: Formula, _fields: Typed, name: str, values: FloatArray, cases: Cases
) -> _Columns:
    sweeps = {
        label: calculator.sweep(formula, case, over=name, values=values, gaps=True)
        for label, case in cases.items()
    }
    columns = [
        (f"{column}{phrase(' at ') if label else ''}{label}", column, y)
        for label, sweep in sweeps.items() for column, y in sweep.columns.items()
    ]  # fmt: skip
    first = next(iter(sweeps.values())).values
    return _Columns(
        [heading.replace("result", formula.short_title, 1) for heading, _, _ in columns],
        [calculator.result_unit(formula, column) for _, column, _ in columns],
        np.column_stack([first, *(y for _, _, y in columns)]).tolist(),
        tuple(dict.fromkeys(sweep.doubt for sweep in sweeps.values() if sweep.doubt)),
    )


def along(
    formula: Formula,
    fields: Typed,
    over: Parameter,
    values: FloatArray,
    *,
    logarithmic: bool,
    log_result: bool,
) -> Plot | None:
    """Return curves or bands over one argument, one for each combination of the lists.

    None where that argument is a range itself, or the formula has several results.

    Raises
    ------
    DomainError
        If a value or a draw is impossible.
    """
    if not formula.unit or over.name in fields.inputs:
        return None
    cases: dict[str, dict[str, Any]] = {"": dict(fields.arguments)}
    varied = [name for name in fields.lists if name != over.name]
    for name in varied:
        parameter = formula.parameter(name)
        cases = {
            f"{label}, {formula.label(name)} {parameter.show(value)}".removeprefix(", "): {
                **case, name: value,
            }
            for label, case in cases.items() for value in fields.lists[name].tolist()
        }  # fmt: skip
    cases = dict(list(cases.items())[:MOST_CURVES])
    if fields.inputs:
        bands = {
            label: calculator.bands_over(
                formula, case, fields.inputs, over=over.name, values=values
            )["result"]
            for label, case in cases.items()
        }
        first = next(iter(cases.values()))
        return plots.bands(
            formula, bands, over, first, fields.inputs, varied=varied, logarithmic=logarithmic,
            log_result=log_result,
        )  # fmt: skip
    what = formula.short_title
    curves = {
        label or what: calculator.sweep(formula, case, over=over.name, values=values, gaps=True)
        for label, case in cases.items()
    }
    swept = next(iter(curves.values())).values
    scales: Any = ["log" if is_log else "linear" for is_log in (logarithmic, log_result)]
    return plots.curves(
        swept,
        {label: case.columns["result"] for label, case in curves.items()},
        x_axis=Axis(formula.label(over.name), over.unit, scales[0]),
        y_axis=Axis(
            named(what, calculator.layer_of(formula, fields.arguments)), formula.unit, scales[1]
        ),
        title=what[:1].upper() + what[1:],
    )
