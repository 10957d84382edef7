"""From typed texts to an answer: what a command, a panel and a page do alike.

A :class:`Session` reads the arguments of a formula as a person types them: single numbers, ranges
and lists. It is asked for the value, for a table over one or two arguments, or for the argument
that gives a result; the :class:`Answer` has lines of text, rows of a table and a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import equations, units
from netcalc.calculator import ranges
from netcalc.calculator.catalogue import Formula
from netcalc.calculator.parameter import Parameter
from netcalc.calculator.sweeps import family, parse_range, solve_for, sweep
from netcalc.checks import FloatArray
from netcalc.errors import DomainError, doubts, tell_doubts
from netcalc.messages import Notice
from netcalc.rate_layers import named

if TYPE_CHECKING:
    from netcalc.uncertain import Spread

MOST_SWEPT = 2
"""A table has rows and columns."""


@dataclass(frozen=True, slots=True)
class Draws:
    """How ranges are drawn, as in :func:`netcalc.uncertain.spreads`; ``correlate`` is text."""

    draws: int | None = None
    seed: int = 0
    correlate: str | None = None
    truncate: bool = False
    dask: str | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """An argument, its values, and whether they are in logarithmic steps."""

    parameter: Parameter
    values: FloatArray
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the forms in which it is shown.

    ``lines`` are text, of which ``titles`` are headings; ``rows`` are a table, its headings first;
    ``document`` is for JSON. ``assumed`` are the defaults that others may expect another value of.
    ``has_solution`` is false where nothing gives the result that was sought, and ``parts`` has the
    sweeps, bands, spreads or roots that the answer is made of, by their labels.
    """

    document: dict[str, Any]
    lines: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    titles: tuple[str, ...] = ()
    assumed: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    has_solution: bool = True
    parts: Mapping[str, Any] = field(default_factory=dict)


class Session:
    """A formula with the arguments that were typed for it.

    Parameters
    ----------
    formula : Formula
        The formula.
    texts : mapping of str to str
        The arguments, by the names that :meth:`Formula.parameter` understands.
    draws : Draws
        How ranges are drawn.

    Raises
    ------
    DomainError, UnitError
        If a name is unknown or a text is refused.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> bdp = Session(formula("bdp"), {"rtt": "20 ms", "bandwidth": "1 Gbit/s"})
    >>> bdp.value().lines
    ['2.5 MB']
    >>> line = Session(formula("bdp"), {"rtt": "20 ms"})
    >>> line.solve("bandwidth", "2.5 MB").lines
    ['1 Gbit/s']
    """

    def __init__(
        self, formula: Formula, texts: Mapping[str, str], *, draws: Draws = Draws()
    ) -> None:
        self.formula, self.draws = formula, draws
        self.inputs: ranges.Inputs
        self.inputs, others = ranges.split_ranges(formula, texts)
        listed = ranges.listed_values(formula, others)
        self.texts = {name: text for name, text in others.items() if name not in listed}
        with doubts() as self._doubts:
            self.arguments = formula.arguments(self.texts)
        self.lists = {name: formula.arguments_of(name, values) for name, values in listed.items()}

    @property
    def is_plain(self) -> bool:
        """Whether all arguments are single numbers, names and lists that are one thing."""
        return not self.inputs and not self.lists

    @property
    def given(self) -> dict[str, Any]:
        """The arguments that are one value, or a range of it."""
        return {**self.arguments, **self.inputs}

    def require(self, *free: str) -> None:
        """Refuse a question without an argument that has no default, but for those that are free.

        Raises
        ------
        DomainError
            If one is missing.
        """
        for parameter in self.formula.parameters:
            if parameter.required and parameter.name not in {*self.given, *self.lists, *free}:
                raise parameter.required_error()

    def swept(self, text: str) -> Swept:
        """Read what is swept, as ``latency=1ms:300ms:log50``.

        Raises
        ------
        DomainError, UnitError
            If the text is refused.
        """
        name, equals, limits = text.partition("=")
        if not equals:
            raise DomainError("malformed-argument-sweep", "--sweep", text)
        parameter = named_argument(self.formula, name, "--sweep")
        return Swept(parameter, parse_range(limits, parameter), "log" in limits)

    def swept_lists(self) -> list[Swept]:
        """Return the arguments for which several values were typed, as sweeps of them."""
        return [Swept(self.formula.parameter(n), values) for n, values in self.lists.items()]

    # Answers

    def value(self) -> Answer:
        """Return what the formula gives; of ranges, percentiles and which input matters most.

        Raises
        ------
        DomainError
            If an argument is missing, or a value or a draw is impossible.
        """
        return self._percentiles() if self.inputs else self._number()

    def over(self, sweeps: Sequence[Swept]) -> Answer:
        """Return a table over one argument, or over two: a column for each value of the second.

        Raises
        ------
        DomainError
            If a value or a draw is impossible, the result is not a number, or there are more.
        """
        if len(sweeps) > MOST_SWEPT:
            raise DomainError("too-many-lists", "lists", len(sweeps), high=MOST_SWEPT)
        tell_doubts(self._doubts)
        if self.inputs:
            return self._bands(sweeps)
        return self._family(*sweeps) if len(sweeps) == MOST_SWEPT else self._sweep(*sweeps)

    def solve(self, over: str, result: str, limits: str = "") -> Answer:
        """Return the values of an argument that give a result, as in :func:`solve_for`.

        Raises
        ------
        DomainError, UnitError
            If a text is refused, another argument is missing, or a draw is impossible.
        """
        tell_doubts(self._doubts)
        parameter = named_argument(self.formula, over, "--solve")
        # People also write transfer=1s, which names the formula again.
        sought = {"over": parameter.name, "result": result.rpartition("=")[2], "limits": limits}
        return self._solutions(parameter, sought) if self.inputs else self._roots(parameter, sought)

    def explanation(self, answer: Answer) -> list[str]:
        """Return an answer between the equation with its numbers, the validity and the source."""
        formula = self.formula
        head = [formula.summary, "", f"  {equations.plain(formula.equation)}"]
        tail = [formula.validity, f"From: {formula.source}"]
        if self.inputs:
            range_lines = [f"  {name} = {self._range_text(name)}" for name in self.inputs]
            return [*head, "", *range_lines, "", *answer.lines, "", *tail]
        result = answer.parts["result"]
        numbers = ranges.explained(formula, self.arguments, result)
        return [
            *head, f"  {formula.equation_text(self.arguments, result)}", "",
            *(f"  {name} = {text}" for name, text in numbers), "", *tail,
        ]  # fmt: skip

    # Single numbers

    def _number(self) -> Answer:
        formula, arguments = self.formula, self.arguments
        result, doubtful = formula.answer(arguments)
        doubt = formula.doubt(result, [*self._doubts, *doubtful])
        columns = ranges.table(formula, result)
        return Answer(
            self._document(result, doubt),
            ranges.result_lines(formula, result, arguments),
            [self._headings(columns, columns), *map(list, zip(*columns.values(), strict=True))],
            assumed=ranges.defaults_said(formula, arguments),
            notes=[doubt] if doubt else [],
            parts={"result": result},
        )

    def _sweep(self, over: Swept) -> Answer:
        formula, parameter = self.formula, over.parameter
        swept = sweep(formula, self.arguments, over=parameter.name, values=over.values)
        columns = dict(swept.columns)
        several = len(columns) > 1
        result = columns if several else next(iter(columns.values()))
        document = self._document(result, swept.doubt)
        rows = np.column_stack([swept.values, *columns.values()]).tolist()
        units_ = [ranges.column_unit(formula, name) for name in columns]
        titles = "".join(f"  {name:12}" for name in columns) if several else formula.short_name
        head = f"{parameter.short_name:>16}  {named(titles.strip(), self._layer)}"
        names = list(columns) if several else [formula.function_name]
        return Answer(
            {**document, "sweep": parameter.name, "values": swept.values},
            [head, *_text_rows(parameter, rows, units_, 12)],
            [[self._heading_of(parameter), *self._headings(names, columns)], *_csv(rows)],
            notes=[swept.doubt] if swept.doubt else [],
            parts={"": swept},
        )

    def _family(self, over: Swept, by: Swept) -> Answer:
        formula = self.formula
        several = family(
            formula, self.arguments, over=over.parameter.name, values=over.values,
            by=by.parameter.name, by_values=by.values,
        )  # fmt: skip
        names = list(several[0].columns)
        values = several[0].values
        doubt = " ".join(dict.fromkeys(member.doubt for member in several if member.doubt))
        columns = {name: [member.columns[name].tolist() for member in several] for name in names}
        document = self._document(columns if len(names) > 1 else columns[names[0]], doubt)
        titles, arrays = [], [values]
        for name in names:
            for member, value in zip(several, by.values.tolist(), strict=True):
                what = f"{name} at " if len(names) > 1 else ""
                titles.append(f"{what}{by.parameter.show(value)}")
                arrays.append(member.columns[name])
        rows = np.column_stack(arrays).tolist()
        units_ = [ranges.column_unit(formula, name) for name in names for _ in several]
        head = [f"{over.parameter.name} [{over.parameter.unit}]"]
        head += [f"{title} [{unit}]" for title, unit in zip(titles, units_, strict=True)]
        first, second = over.parameter.short_name, by.parameter.short_name
        return Answer(
            {
                **document, "sweep": [by.parameter.name, over.parameter.name],
                "values": [by.values.tolist(), values.tolist()],
            },
            [f"{formula.short_name} over {first}, for each {second}",
             *_text_table(over.parameter, titles, rows, units_)],
            [head, *_csv(rows)],
            notes=[doubt] if doubt else [],
            parts=dict(zip(titles, several, strict=False)),
        )  # fmt: skip

    def _roots(self, parameter: Parameter, sought: Mapping[str, str]) -> Answer:
        solution = solve_for(self.formula, self.arguments, **sought)
        layer = ranges.layer_text(self.formula, parameter.layer, self.arguments)
        lines = solution.lines
        return Answer(
            {
                "formula": self.formula.name,
                "solve": parameter.name,
                "unit": parameter.unit,
                "result_wanted": solution.target,
                "range": [solution.low, solution.high],
                "roots": [
                    {"value": root.value, "last": root.last, "result": root.result,
                     "exact": root.exact, "before": root.before}
                    for root in solution.roots
                ],
                "note": solution.doubt,
            },
            [named(line, layer) for line in lines] if solution.roots else lines,
            notes=[solution.doubt] if solution.doubt else [],
            has_solution=bool(solution.roots),
            parts={"": solution},
        )  # fmt: skip

    # Ranges

    def _percentiles(self) -> Answer:
        from netcalc import uncertain  # late: most answers are of single numbers

        tell_doubts(self._doubts)
        self.require()
        spreads = uncertain.spreads(
            self.formula.function, self.given, **self.drawn(), dask=self.draws.dask
        )
        percents = list(next(iter(spreads.values())).percentiles)
        rows: list[list[Any]] = [["result", *map(ranges.percentile_name, percents)]]
        lines, results = [], {}
        for column, spread in spreads.items():
            unit = ranges.result_unit(self.formula, column)
            if len(spreads) > 1:
                lines.append(column)
            for percent, value in spread.percentiles.items():
                text = named(units.show(value, unit), self._layer)
                lines.append(f"{ranges.percentile_name(percent)}: {text}")
            if line := ranges.importance_line(self.formula, spread):
                lines.append(line)
            name = self.formula.function_name if column == "result" else column
            numbers = [f"{value:.12g}" for value in spread.percentiles.values()]
            rows.append([heading(name, unit, self._layer), *numbers])
            results[column] = _spread_document(spread)
        result = results["result"] if list(results) == ["result"] else results
        return self._ranged(
            result, list(spreads.values()), lines=lines, rows=rows, parts=spreads,
            titles=tuple(spreads) if len(spreads) > 1 else (),
        )  # fmt: skip

    def _bands(self, sweeps: Sequence[Swept]) -> Answer:
        formula = self.formula
        (over, *others) = sweeps
        by = others[0].parameter if others else None
        if by is over.parameter:
            raise DomainError("swept-twice", over.parameter.name, over.parameter.name)
        names = [swept.parameter.name for swept in sweeps]
        self.require(*names)
        drawn = self.drawn()
        by_values = others[0].values.tolist() if others else []
        cases = ranges.cases_by_text(self.arguments, by, by_values)
        bands = {
            label: ranges.bands_over(
                formula, case, self.inputs, over=over.parameter.name, values=over.values, **drawn
            )
            for label, case in cases.items()
        }
        every = [band for columns in bands.values() for band in columns.values()]
        titles, units_, rows = ranges.band_rows(formula, bands)
        what = f"{formula.function_name} " if formula.unit else ""
        head = [heading(f"{what}{h}", u, self._layer) for h, u in zip(titles, units_, strict=True)]
        values: Any = every[0].values
        if by is not None:
            values = [[case[by.name] for case in cases.values()], values.tolist()]
        title = f"{named(formula.short_name, self._layer)} over {over.parameter.short_name}"
        return self._ranged(
            _band_document(bands), every, free=names,
            more={"sweep": names[0] if by is None else names[::-1], "values": values},
            lines=[title, *_text_table(over.parameter, titles, rows, units_)],
            rows=[[self._heading_of(over.parameter), *head], *_csv(rows)], parts=bands,
        )  # fmt: skip

    def _solutions(self, parameter: Parameter, sought: Mapping[str, str]) -> Answer:
        formula = self.formula
        drawn = self.drawn()
        solutions = ranges.solutions_for(formula, self.arguments, self.inputs, **sought, **drawn)
        names = {percent: ranges.percentile_name(percent) for percent in solutions.percentiles}
        last = {names[p]: value for p, value in solutions.last_percentiles.items()}
        layer = ranges.layer_text(formula, parameter.layer, self.arguments)
        every_layer = ranges.layers(formula, self.arguments)
        return self._ranged(
            {names[p]: value for p, value in solutions.percentiles.items()}, [solutions],
            free=[parameter.name],
            more={
                "unit": parameter.unit, "layer": every_layer.get(parameter.name, ""),
                "solve": parameter.name, "range": [solutions.low, solutions.high],
                "last": last if solutions.is_interval else None,
                "share_without_solution": solutions.share_without,
            },
            lines=ranges.solution_lines(formula, solutions, over=parameter.name, layer=layer),
            parts={"": solutions}, has_solution=solutions.share_without < 1.0,
        )  # fmt: skip

    def drawn(self) -> dict[str, Any]:
        """Return how ranges are drawn, as bands, spreads and solutions take it."""
        return {
            "draws": self.draws.draws, "seed": self.draws.seed, "truncate": self.draws.truncate,
            "correlations": self._correlations(),
        }  # fmt: skip

    def _correlations(self) -> dict[tuple[str, str], float]:
        if self.draws.correlate is None:
            return {}
        from netcalc import uncertain  # late, as above

        short = {p.short_name: p.name for p in self.formula.parameters}
        names = short | {p.name: p.name for p in self.formula.parameters}
        return uncertain.parse_correlations(self.draws.correlate, names)

    def _ranged(
        self,
        result: Any,
        drawn: Sequence[Any],
        *,
        free: Sequence[str] = (),
        more: Mapping[str, Any] | None = None,
        **shown: Any,
    ) -> Answer:
        """Return an answer to ranges; ``drawn`` are its spreads, bands or solutions."""
        formula = self.formula
        notices = [
            Notice("draws-whole", {"name": name})
            for name, drawn_from in self.inputs.items()
            if name.endswith("_count") and not isinstance(drawn_from, list)
        ]
        notices += [note for spread in drawn for note in spread.notes]
        notes = ranges.range_notes(formula, notices)
        notes = [f"{note}." for note in notes]
        texts = {name: self._range_text(name) for name in self.inputs}
        assumed = ranges.defaults_said(formula, {*self.given, *free})
        document = {
            "formula": formula.name,
            "arguments": {**self._defaults, **self.arguments, **texts},
            "units": {p.name: p.unit for p in formula.parameters},
            "result": result,
            "unit": formula.unit,
            "layer": self._layer,
            "layers": ranges.layers(formula, self.arguments),
            "draws": drawn[0].draws,
            "seed": self.draws.seed,
            "assumed": assumed,
            "correlations": {",".join(pair): r for pair, r in drawn[0].correlations.items()},
            "note": " ".join(notes),
            **(more or {}),
        }
        return Answer(document, assumed=assumed, notes=notes, **shown)

    # What all have

    @property
    def _defaults(self) -> dict[str, Any]:
        return {p.name: p.default for p in self.formula.parameters if not p.required}

    @property
    def _layer(self) -> str:
        return ranges.layer_of(self.formula, self.arguments)

    def _document(self, result: Any, doubt: str) -> dict[str, Any]:
        formula, arguments = self.formula, self.arguments
        return {
            "formula": formula.name,
            "arguments": {**self._defaults, **arguments},
            "units": {p.name: p.unit for p in formula.parameters},
            "result": result._asdict() if hasattr(result, "_asdict") else result,
            "unit": formula.unit,
            "layer": self._layer,
            "layers": ranges.layers(formula, arguments),
            "assumed": ranges.defaults_said(formula, arguments),
            "note": doubt,
        }

    def _headings(self, names: Sequence[str] | Mapping[str, Any], columns: Any) -> list[str]:
        units_ = [ranges.column_unit(self.formula, column) for column in columns]
        return [heading(n, unit, self._layer) for n, unit in zip(names, units_, strict=True)]

    def _heading_of(self, parameter: Parameter) -> str:
        own = ranges.layer_text(self.formula, parameter.layer, self.arguments)
        return heading(parameter.name, parameter.unit, own)

    def _range_text(self, name: str) -> str:
        return ranges.range_text(self.inputs[name], self.formula.parameter(name).unit)


def named_argument(formula: Formula, name: str, option: str) -> Parameter:
    """Return the argument that an option names, ``--sweep`` or ``--solve``.

    Raises
    ------
    DomainError
        If there is none of that name.
    """
    try:
        return formula.parameter(name)
    except DomainError as error:
        error.values["name"] = f"the argument of {option}"
        raise


def heading(name: str, unit: str, layer: str) -> str:
    """Return the heading of a column: its name and unit, and the layer of a rate."""
    return f"{name} [{unit}, {layer}]" if layer and unit == "bit/s" else f"{name} [{unit}]"


def _csv(rows: Sequence[Sequence[float]]) -> list[list[str]]:
    return [[f"{value:.12g}" for value in row] for row in rows]


def _text_table(
    over: Parameter, titles: Sequence[str], rows: Sequence[Sequence[float]], units_: Sequence[str]
) -> list[str]:
    """Return lines of a table with a column for each title."""
    width = max(12, *map(len, titles))
    head = f"{over.short_name:>16}  " + "  ".join(f"{title:{width}}" for title in titles).rstrip()
    return [head, *_text_rows(over, rows, units_, width)]


def _text_rows(
    over: Parameter, rows: Sequence[Sequence[float]], units_: Sequence[str], width: int
) -> list[str]:
    lines = []
    for x, *row in rows:
        texts = [units.show(y, unit) for y, unit in zip(row, units_, strict=True)]
        lines.append(f"{over.show(x):>16}  " + "  ".join(f"{t:{width}}" for t in texts).rstrip())
    return lines


def _spread_document(spread: Spread) -> dict[str, Any]:
    return {
        **{ranges.percentile_name(percent): value for percent, value in spread.percentiles.items()},
        "first_order": dict(spread.first_order),
        "total_order": dict(spread.total_order),
        "explained_alone": dict(spread.explained_alone),
    }


def _band_document(bands: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return the percentiles of bands; of a second argument, a list for each of its values."""
    columns = list(next(iter(bands.values())))
    result: dict[str, Any] = {}
    for name in columns:
        cases = [case[name] for case in bands.values()]
        rows = {
            ranges.percentile_name(percent): [case.percentiles[percent].tolist() for case in cases]
            for percent in cases[0].percentiles
        }
        is_alone = list(bands) == [""]
        result[name] = {p: row[0] for p, row in rows.items()} if is_alone else rows
    return result["result"] if columns == ["result"] else result
