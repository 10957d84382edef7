"""``netcalc calc``: a command for each public model, made from the function itself."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click
import numpy as np

from netcalc import calculator, equations, units
from netcalc.calculator import Formula, Parameter
from netcalc.checks import FloatArray
from netcalc.cli import COMMANDS, check_one_form, complain, formula_words, print_json, put, say
from netcalc.cli.formulas.command import READ_AS, FormulaCommand, choices
from netcalc.cli.mistakes import CommandError, Group, Typed, rename
from netcalc.cli.options import WholeNumber
from netcalc.errors import (
    DomainError,
    DoubtWarning,
    NetcalcError,
    UnitError,
    doubts,
    tell_doubts,
)
from netcalc.rate_layers import named

_RESERVED = {
    "json", "csv", "sweep", "plot", "force", "solve", "for", "explain", "help",
    "draws", "seed", "correlate", "truncate", "dask", "log",
}  # fmt: skip
"""Options of every formula; an argument of that name is given with its unit."""
_DRAWS: dict[str, dict[str, Any]] = {
    "--draws": {
        "type": WholeNumber(2),
        "help": "Number of draws of ranges such as 80..100Mbit/s, 30ms±5ms, "
        '"lognormal(30ms, p95 60ms)" and file.csv:column (default: 10,000).',
    },
    "--seed": {"type": WholeNumber(0), "help": "Random seed of the draws (default: 0)."},
    "--correlate": {
        "metavar": "A,B=NUMBER",
        "help": "Correlation of two arguments that are ranges, such as bandwidth,latency=0.5; "
        "several are separated by semicolons.",
    },
    "--truncate": {"is_flag": True, "help": "Discard impossible draws, with a note."},
    "--dask": {
        "metavar": "ADDRESS",
        "help": "Draw on the workers of a Dask scheduler; local: on those of this machine.",
    },
}
"""Options about ranges."""


FOUND = 12
"""Formulas that a search prints."""


class _Formulas(Group):
    """One command for each public model; a new formula appears here by existing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [calculator.command(formula) for formula in calculator.formulas().values()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            raise CommandError("command-of-its-own", name=cmd_name)
        return _command(calculator.formula(cmd_name), calculator.preset(cmd_name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take all words behind --search, up to the next option, as words of the search."""
        if "--search" in args[:2]:
            start = args.index("--search") + 1
            end = next((i for i, one in enumerate(args) if i >= start and one[:1] == "-"), None)
            words = args[start:end]
            joined = [" ".join(words)] if words else []
            args = [*args[:start], *joined, *args[start + len(words) :]]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text("netcalc calc --list lists all formulas.")


@click.group(cls=_Formulas, invoke_without_command=True, no_args_is_help=False)
@click.option("--list", "listed", is_flag=True, help="List all formulas, the most needed first.")
@click.option(
    "--search", "words", metavar="WORDS", help="List the formulas that answer a question, ranked."
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def calc(ctx: click.Context, listed: bool, words: str | None, as_json: bool) -> None:
    """Evaluate a formula: netcalc calc NAME [VALUE] [--ARGUMENT VALUE ...]

    Quantities are written with their unit: 30ms, "10 Mbit/s", T3, 64KiB, 3%.

    \b
    netcalc calc transfer 1MB --bandwidth T1 --latency 30ms
    netcalc calc transfer 1GB --bandwidth 80..100Mbit/s --latency "30ms ± 5ms"
    netcalc calc transfer --solve bandwidth --for 1s --payload 1MB --latency 30ms
    netcalc calc frame-rate --sweep frame=64B:1518B:log20 --bandwidth "10 Gbit/s"
    netcalc calc NAME --help
    """
    if ctx.invoked_subcommand is not None:
        return
    found = calculator.search(words) if words is not None else None
    if not listed and not as_json and found is None:
        click.echo(ctx.get_help())
        return
    tables = calculator.datasets(words or "")
    if found is not None and not found and not tables:
        raise CommandError("nothing-matches", words=words)
    if as_json:
        shown = list(calculator.formulas().values()) if found is None else found
        print_json(
            [{"table": name, "command": f"data {name}"} for name in tables]
            + [
                {
                    "name": formula.name,
                    "command": calculator.command(formula),
                    "summary": formula.summary,
                    "unit": formula.unit,
                }
                for formula in shown
            ]
        )
    elif found is not None:
        for name in tables:  # published values answer before formulas
            put(f"published values: netcalc data {name}")
        for formula in found[:FOUND]:
            say(f"{calculator.command(formula):32} {formula.summary}")
        if len(found) > FOUND:
            put(f"and {len(found) - FOUND} more; --json lists all")
    else:
        _print_list()


def _print_list() -> None:
    """Print the formulas that most questions need, then all of them by chapter and subject."""
    printed = ""
    for chapter, subject, found in calculator.listed():
        if chapter != printed:
            put(("\n" if printed else "") + chapter, bold=True)
            printed = chapter
        if subject:
            put(f"  {subject.replace('_', ' ')}")
        for formula in found:
            say(f"    {calculator.command(formula):30} {formula.summary}")


def formula_command(name: str) -> click.Command | None:
    """Return the command of a formula; None if nothing has that name."""
    try:
        return _command(calculator.formula(name), calculator.preset(name))
    except DomainError as error:
        if error.code == "formula-unknown":
            return None
        raise


def _command(formula: Formula, preset: Mapping[str, str]) -> click.Command:
    arguments: list[click.Parameter] = []
    if formula.parameters:
        metavar = " ".join(f"[{_meta(one)}]" for one in _positional(formula))
        arguments.append(click.Argument(["value"], nargs=-1, metavar=metavar))
    arguments += [_option(formula, parameter) for parameter in formula.parameters]
    arguments += [
        click.Option(
            ["--solve", "solve_"],
            metavar="ARGUMENT[=LOW:HIGH]",
            help="Solve for this argument, optionally within a range, given the result in --for; "
            "the exit code is 1 if there is no solution.",
        ),
        click.Option(["--for", "for_"], metavar="RESULT", help="Result that --solve must give."),
        click.Option(
            ["--sweep", "sweep_"],
            multiple=True,
            metavar="ARGUMENT=LOW:HIGH[:STEPS]",
            help="Print a table over a range of one argument; STEPS is 50, or log50 for "
            "logarithmic steps. A second --sweep, or a list such as 10ms,50ms for an argument, "
            "gives a column for each of its values.",
        ),
        click.Option(
            ["--log", "log_"], is_flag=True, help="Logarithmic steps of each --sweep LOW:HIGH."
        ),
        click.Option(
            ["--plot", "plot_"],
            metavar="OUT",
            help="Plot the sweep, or the distribution of an answer to ranges, as .html, .png or "
            ".svg.",
        ),
        click.Option(["--force", "force_"], is_flag=True, help="Replace OUT if it exists."),
        click.Option(
            ["--explain", "explain_"],
            is_flag=True,
            help="Print the equation with its numbers, the validity and the source.",
        ),
        *(click.Option([name, name.strip("-") + "_"], **known) for name, known in _DRAWS.items()),
        click.Option(["--json", "json_"], is_flag=True, help="Print JSON."),
        click.Option(["--csv", "csv_"], is_flag=True, help="Print CSV."),
    ]
    return FormulaCommand(
        calculator.command(formula),
        formula,
        params=arguments,
        callback=lambda **given: _run(formula, preset, **given),
    )


def _positional(formula: Formula) -> list[Parameter]:
    """Return the arguments that the usage shows without a name: the first and those required."""
    first, *others = formula.parameters
    return [first] if first.kind == "list" else [first, *(p for p in others if p.required)]


def _run(
    formula: Formula,
    preset: Mapping[str, str],
    *,
    value: tuple[str, ...] = (),
    solve_: str | None,
    for_: str | None,
    sweep_: tuple[str, ...],
    log_: bool,
    plot_: str | None,
    force_: bool,
    explain_: bool,
    json_: bool,
    csv_: bool,
    draws_: int | None,
    seed_: int | None,
    correlate_: str | None,
    truncate_: bool,
    dask_: str | None,
    **options: str | None,
) -> None:
    texts = {name: text for name, text in options.items() if text is not None}
    texts = {formula.parameter(name).name: text for name, text in preset.items()} | texts
    unnamed = formula_words.assigned(formula, value, texts)
    texts |= unnamed
    sweep_ = tuple(map(_with_log_steps, sweep_)) if log_ else sweep_
    check_one_form(json_, csv_)
    if (solve_ is None) != (for_ is None):
        option, other = ("--solve", "--for") if for_ is None else ("--for", "--solve")
        raise CommandError(
            "option-requires",
            option=option,
            required=other,
            example="Write for example --solve bandwidth --for 1s",
        )
    if solve_ is not None:
        for option, is_given in (("--sweep", sweep_), ("--csv", csv_), ("--explain", explain_)):
            if is_given:
                raise CommandError("options-exclusive", first=option, second="--solve")
    if sweep_ and explain_:
        raise CommandError("options-exclusive", first="--explain", second="--sweep")
    if log_ and not sweep_:
        raise CommandError(
            "option-requires",
            option="--log",
            required="--sweep",
            example="Add for example --sweep latency=1ms:300ms",
        )
    drawn: dict[str, Any] = {
        "draws": draws_, "seed": seed_, "correlate": correlate_, "truncate": truncate_ or None,
        "dask": dask_,
    }  # fmt: skip
    drawn = {name: one for name, one in drawn.items() if one is not None}
    typed: dict[tuple[str, float], str] = {}
    if any(map(formula_words.RANGE_MARK.search, texts.values())):
        with _named_as_typed(formula, typed, unnamed=unnamed):
            inputs, texts = calculator.split_ranges(formula, texts)
            if inputs:
                for reading in click.get_current_context().meta.get(READ_AS, []):
                    complain(f"note: {reading}")
                _with_ranges(
                    formula, texts, inputs, drawn, solve_, for_, sweep_, plot=plot_, force=force_,
                    as_json=json_, as_csv=csv_, explained=explain_,
                )  # fmt: skip
                return
    for name in drawn:
        raise CommandError(
            "option-requires",
            option=f"--{name}",
            required="an argument that is a range",
            example="Write for example 80..100Mbit/s",
        )
    listed = calculator.listed_values(formula, texts)
    if solve_ is not None and listed:
        name = "--" + formula.option(next(iter(listed)))
        raise CommandError("options-exclusive", first="--solve", second=f"a list in {name}")
    if plot_ is not None and not sweep_ and not listed:
        raise CommandError(
            "option-requires",
            option="--plot",
            required="a --sweep, or an argument that is a range",
            example="Add for example --sweep latency=1ms:300ms:log50",
        )
    with _named_as_typed(formula, typed, unnamed=unnamed):
        single = {name: text for name, text in texts.items() if name not in listed}
        with doubts() as read:
            arguments = formula.arguments(single)
        typed |= {
            (name, number): texts[name]
            for name, number in arguments.items()
            if isinstance(number, float)
        }
        read_as = click.get_current_context().meta.get(READ_AS, [])
        read_as += formula_words.in_order(formula, unnamed)
        for reading in [*read_as, *formula_words.readings(formula, single, arguments)]:
            complain(f"note: {reading}")
        sweeps = [_swept(formula, one) for one in sweep_]
        sweeps += [_as_sweep(formula, name, values) for name, values in listed.items()]
        formula_words.check_sweeps(len(sweeps))
        if solve_ is not None or sweeps:
            tell_doubts(read)
        if solve_ is not None and for_ is not None:
            _solve(formula, arguments, solve_, for_, as_json=json_)
        elif len(sweeps) == 2:
            _family(formula, arguments, sweeps, plot_, force=force_, as_json=json_, as_csv=csv_)
        elif sweeps:
            _sweep(formula, arguments, sweeps[0], plot_, force=force_, as_json=json_, as_csv=csv_)
        else:
            _evaluate(formula, arguments, read, as_json=json_, as_csv=csv_, explained=explain_)


def _with_ranges(
    formula: Formula,
    texts: dict[str, str],
    inputs: calculator.Inputs,
    drawn: dict[str, Any],
    solve: str | None,
    result: str | None,
    sweep: tuple[str, ...],
    *,
    plot: str | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
    explained: bool,
) -> None:
    """Answer with ranges: percentiles of a result, along a sweep, or of what is solved for."""
    from netcalc.cli.formulas import ranges, swept_ranges  # late: most answers are of numbers

    wanted = ranges.Wanted(**drawn)
    listed = calculator.listed_values(formula, texts)
    arguments = formula.arguments({n: text for n, text in texts.items() if n not in listed})
    if solve is not None and result is not None:
        if listed:
            name = "--" + formula.option(next(iter(listed)))
            raise CommandError("options-exclusive", first="--solve", second=f"a list in {name}")
        if plot is not None:
            raise CommandError("options-exclusive", first="--solve", second="--plot")
        name, limits = _sought(solve)
        over = _swept_or_sought(formula, name, "--solve")
        with _searching():
            swept_ranges.solve(
                formula, arguments, inputs, over, result.rpartition("=")[2], limits, wanted,
                as_json=as_json,
            )  # fmt: skip
        return
    sweeps = [_swept(formula, one) for one in sweep]
    sweeps += [_as_sweep(formula, name, values) for name, values in listed.items()]
    formula_words.check_sweeps(len(sweeps))
    if sweeps:
        swept_ranges.sweep(
            formula, arguments, inputs, sweeps, wanted, plot=plot, force=force, as_json=as_json,
            as_csv=as_csv,
        )  # fmt: skip
        return
    ranges.answer(
        formula, arguments, inputs, wanted, plot=plot, force=force, as_json=as_json, as_csv=as_csv,
        explained=explained,
    )  # fmt: skip


def _as_sweep(formula: Formula, name: str, values: list[str]) -> _Swept:
    """Return a list of values of an argument as a sweep of it."""
    return formula.parameter(name), formula.arguments_of(name, values), False


@contextmanager
def _named_as_typed(formula: Formula, typed: Typed, *, unnamed: Collection[str]) -> Iterator[None]:
    """Name options, with their values as typed, where a model names its arguments.

    Arguments that were typed without an option have no option's name.
    """
    names = {
        one.name: ("--" + formula.label(one.name).replace(" ", "-"), one.unit)
        for one in formula.parameters
    }
    for name in unnamed:
        names[name] = (formula.label(name), formula.parameter(name).unit)
    # Refused text and missing arguments are reported by the short name.
    short = [one.short_name for one in formula.parameters]
    names |= {
        one.short_name: names[one.name]
        for one in formula.parameters
        if short.count(one.short_name) == 1
    }
    names |= {
        "result": ("--for", formula.unit),
        "range of --solve": ("the range of --solve", ""),
        "low, high": ("the range of --solve", ""),
        "sweep": ("--sweep", ""),
        "steps of the sweep": ("the number of steps in --sweep", ""),
    }
    try:
        yield
    except (DomainError, UnitError) as error:
        rename(error, names, typed)
        if isinstance(error, UnitError):
            formula_words.name_propagation(formula, error)
        raise


def _swept_or_sought(formula: Formula, name: str, option: str) -> Parameter:
    """Return the argument that ``--sweep`` or ``--solve`` names."""
    try:
        return formula.parameter(name)
    except DomainError as error:
        error.values["name"] = f"the argument of {option}"
        raise


def _evaluate(
    formula: Formula,
    arguments: dict[str, Any],
    read: list[DoubtWarning],
    *,
    as_json: bool,
    as_csv: bool,
    explained: bool,
) -> None:
    result, found = formula.answer(arguments)
    doubt = formula.doubt(result, [*read, *found])
    if as_json:
        print_json(_document(formula, arguments, result, doubt))
    elif as_csv:
        _print_csv(formula, arguments, result)
    elif explained:
        say(explain(formula, arguments, result))
    else:
        say("\n".join(calculator.result_lines(formula, result, arguments)))
    say_assumed(formula, arguments)
    if doubt:
        complain(f"note: {doubt}")


def say_assumed(formula: Formula, given: Collection[str]) -> None:
    """Name the defaults of an answer that others may expect another one of."""
    if said := calculator.defaults_said(formula, given):
        complain(f"assumed: {_named(formula, said)}")


def _named(formula: Formula, arguments: dict[str, Any]) -> str:
    """Return arguments with their values as people type them, or what counts where none is."""
    texts = []
    for name, value in arguments.items():
        parameter = formula.parameter(name)
        text = parameter.show(value)
        if value is None:
            text = parameter.description.partition("by default ")[2].rstrip(".")
        texts.append(f"--{formula.label(name).replace(' ', '-')} {text}")
    return ", ".join(texts)


def explain(formula: Formula, arguments: dict[str, Any], result: Any) -> str:
    """Return the equation, the numbers that went in, the result, the validity and the source."""
    lines = [formula.summary, "", f"  {equations.plain(formula.equation)}"]
    lines += [f"  {formula.equation_text(arguments, result)}", ""]
    lines += [
        f"  {name} = {text}" for name, text in calculator.explained(formula, arguments, result)
    ]
    return "\n".join([*lines, "", formula.validity, f"From: {formula.source}"])


def _solve(
    formula: Formula, arguments: dict[str, Any], wanted: str, result: str, *, as_json: bool
) -> None:
    name, limits = _sought(wanted)
    parameter = _swept_or_sought(formula, name, "--solve")
    # People also write transfer=1s, which names the formula again.
    with _searching():
        found_roots = calculator.solve_for(
            formula, arguments, over=parameter.name, result=result.rpartition("=")[2], limits=limits
        )
    if not as_json:
        layer = calculator.layer_text(formula, parameter.layer, arguments)
        lines = found_roots.lines
        put("\n".join(named(line, layer) if found_roots.roots else line for line in lines))
    else:
        _print_roots(formula, found_roots)
    if found_roots.doubt:
        complain(f"note: {found_roots.doubt}")
    if not found_roots.roots:
        sys.exit(1)  # no solution


def _sought(wanted: str) -> tuple[str, str]:
    """Return the name and the range of a ``--solve``."""
    name, found, limits = wanted.partition("=")
    if found and not limits:
        raise DomainError("malformed-range", "--solve", wanted)
    return name, limits


def _searching() -> AbstractContextManager[object]:
    """Show on a terminal that a search is running; some take seconds."""
    if not sys.stderr.isatty():
        return nullcontext()
    from netcalc.cli.output import Progress  # late: most answers come at once

    return Progress("searching; Ctrl-C stops")


def _print_roots(formula: Formula, found_roots: calculator.Solution) -> None:
    print_json(
        {
            "formula": formula.name,
            "solve": found_roots.parameter.name,
            "unit": found_roots.parameter.unit,
            "result_wanted": found_roots.target,
            "range": [found_roots.low, found_roots.high],
            "roots": [
                {
                    "value": root.value,
                    "last": root.last,
                    "result": root.result,
                    "exact": root.exact,
                    "before": root.before,
                }
                for root in found_roots.roots
            ],
            "note": found_roots.doubt,
        }
    )


_Swept = tuple[Parameter, FloatArray, bool]
"""An argument, its values, and whether they are in logarithmic steps."""


def _with_log_steps(wanted: str) -> str:
    """Return a --sweep with logarithmic steps, unless it is a list or says how they are."""
    name, found, limits = wanted.partition("=")
    parts = limits.split(":")
    if not found or len(parts) not in (2, 3) or re.match(r"\s*(log|lin)", parts[-1]):
        return wanted
    return f"{name}={parts[0]}:{parts[1]}:log{''.join(parts[2:])}"


def _swept(formula: Formula, wanted: str) -> _Swept:
    """Return the argument and the values that one --sweep names."""
    name, found, limits = wanted.partition("=")
    if not found:
        raise DomainError("malformed-argument-sweep", "--sweep", wanted)
    parameter = _swept_or_sought(formula, name, "--sweep")
    return parameter, calculator.parse_range(limits, parameter), "log" in limits


def _family(
    formula: Formula,
    arguments: dict[str, Any],
    sweeps: list[_Swept],
    plot_path: str | None,
    *,
    force: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Print a table over two arguments: rows over one, a column for each value of the other."""
    (over, values, logarithmic), (by, by_values, _) = sweeps
    if plot_path is not None:
        from netcalc.cli.formulas.files import check_formula_file, save_formula

        check_formula_file(plot_path, force=force)
    family = calculator.family(
        formula, arguments, over=over.name, values=values, by=by.name, by_values=by_values
    )
    values = family[0].values
    if plot_path is not None:
        label = by.short_name.replace("_", " ")
        given = {f"{label} {by.show(value)}": {**arguments, by.name: value} for value in by_values}
        save_formula(
            formula,
            given,
            over,
            values,
            plot_path,
            fixed=arguments,
            varied=[by.name],
            logarithmic=logarithmic,
        )
    names = list(family[0].columns)
    doubt = " ".join(dict.fromkeys(one.doubt for one in family if one.doubt))
    if doubt:
        complain(f"note: {doubt}")
    if as_json:
        columns = {name: [one.columns[name].tolist() for one in family] for name in names}
        result: Any = columns if len(names) > 1 else columns[names[0]]
        document = _document(formula, arguments, result, doubt)
        print_json({
            **document, "sweep": [by.name, over.name],
            "values": [by_values.tolist(), values.tolist()],
        })  # fmt: skip
        return
    headings, rows = formula_words.family_rows(family, by, by_values)
    if as_csv:
        unit = [calculator.column_unit(formula, name) for name in names for _ in family]
        first = f"{over.name} [{over.unit}]"
        head = [first, *(f"{h} [{u}]" for h, u in zip(headings, unit, strict=True))]
        write_csv([head, *([f"{value:.12g}" for value in row] for row in rows)])
        return
    put(f"{formula.short_name} over {over.short_name}, for each {by.short_name}")
    unit = [calculator.column_unit(formula, name) for name in names for _ in family]
    width = max(12, *map(len, headings))
    put(f"{over.short_name:>16}  " + "  ".join(f"{one:{width}}" for one in headings).rstrip())
    for x, *row in rows:
        texts = [units.show(y, u) for y, u in zip(row, unit, strict=True)]
        put(f"{over.show(x):>16}  " + "  ".join(f"{one:{width}}" for one in texts).rstrip())


def _sweep(
    formula: Formula,
    arguments: dict[str, Any],
    wanted: _Swept,
    plot_path: str | None,
    *,
    force: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    parameter, values, logarithmic = wanted
    if plot_path is not None:
        from netcalc.cli.formulas.files import check_formula_file, save_formula

        check_formula_file(plot_path, force=force)
    swept = calculator.sweep(formula, arguments, over=parameter.name, values=values)
    if plot_path is not None:
        given = {formula.short_name.replace("_", " "): arguments}
        save_formula(
            formula, given, parameter, values, plot_path, fixed=arguments, logarithmic=logarithmic
        )
    several = len(swept.columns) > 1
    if swept.doubt:
        complain(f"note: {swept.doubt}")
    if as_json:
        columns = dict(swept.columns)
        result = columns if several else columns.popitem()[1]
        document = _document(formula, arguments, result, swept.doubt)
        print_json({**document, "sweep": parameter.name, "values": swept.values})
        return
    shown = {
        name if several else formula.function_name: calculator.column_unit(formula, name)
        for name in swept.columns
    }
    rows = np.column_stack([swept.values, *swept.columns.values()]).tolist()
    if as_csv:
        layer = calculator.layer_of(formula, arguments)
        headings = [heading(name, unit, layer) for name, unit in shown.items()]
        own = calculator.layer_text(formula, parameter.layer, arguments)
        headings.insert(0, heading(parameter.name, parameter.unit, own))
        write_csv([headings, *([f"{value:.12g}" for value in row] for row in rows)])
        return
    names = "".join(f"  {name:12}" for name in swept.columns) if several else formula.short_name
    layer = calculator.layer_of(formula, arguments)
    put(f"{parameter.short_name:>16}  {named(names.strip(), layer)}")
    for x, *row in rows:
        texts = [units.show(y, unit) for y, unit in zip(row, shown.values(), strict=True)]
        put(f"{parameter.show(x):>16}  " + "  ".join(f"{text:12}" for text in texts).strip())


def _document(
    formula: Formula, arguments: dict[str, Any], result: Any, doubt: str
) -> dict[str, Any]:
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    return {
        "formula": formula.name,
        "arguments": {**defaults, **arguments},
        "units": {p.name: p.unit for p in formula.parameters},
        "result": result._asdict() if hasattr(result, "_asdict") else result,
        "unit": formula.unit,
        "layer": calculator.layer_of(formula, arguments),
        "layers": calculator.layers(formula, arguments),
        "assumed": calculator.defaults_said(formula, arguments),
        "note": doubt,
    }


def _print_csv(formula: Formula, arguments: dict[str, Any], result: Any) -> None:
    columns = calculator.table(formula, result)
    layer = calculator.layer_of(formula, arguments)
    headings = [heading(name, calculator.column_unit(formula, name), layer) for name in columns]
    write_csv([headings, *zip(*columns.values(), strict=True)])


def heading(name: str, unit: str, layer: str) -> str:
    """Return the heading of a column: its name and unit, and the layer of a rate."""
    return f"{name} [{unit}, {layer}]" if layer and unit == "bit/s" else f"{name} [{unit}]"


def write_csv(rows: Any) -> None:
    """Print rows as CSV."""
    import csv  # late: most answers are text

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    put(text.getvalue(), nl=False)


def _option(formula: Formula, parameter: Parameter) -> click.Option:
    unique = sum(p.short_name == parameter.short_name for p in formula.parameters) == 1
    names = [f"--{parameter.name.replace('_', '-')}"]
    if unique and parameter.short_name not in (parameter.name, *_RESERVED):
        names.insert(0, f"--{parameter.short_name.replace('_', '-')}")
    text = parameter.description
    if not parameter.required:
        try:
            text += f" (default: {parameter.show(parameter.default)})"
        except (NetcalcError, TypeError, ValueError):
            text += f" (default: {parameter.default})"
    return click.Option(
        [*names, parameter.name], help=text, metavar=_meta(parameter),
        shell_complete=choices(parameter),
    )  # fmt: skip


def _meta(parameter: Parameter) -> str:
    if parameter.kind == "choice":
        return "|".join(parameter.choices)
    if parameter.kind == "bool":
        return "yes|no"
    name = {"1": "NUMBER"}.get(parameter.unit, parameter.short_name.upper())
    return f"{name},..." if parameter.kind == "list" else name
