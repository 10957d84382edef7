"""``netcalc calc``: a command for each public model, made from the function itself."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from netcalc import calculator
from netcalc.calculator import Answer, Draws, Formula, Parameter, Session, Swept
from netcalc.cli import COMMANDS, complain, ending_quietly, formulas, mistakes, print_json, put, say
from netcalc.cli.options import WholeNumber
from netcalc.errors import DomainError, NetcalcError, UnitError

if TYPE_CHECKING:
    from netcalc.plots import Plot


_RESERVED = {
    "json", "csv", "sweep", "plot", "force", "solve", "for", "explain", "help",
    "draws", "seed", "correlate", "truncate", "dask", "log",
}  # fmt: skip
"""Options of every formula; an argument of that name is given with its unit."""
_DRAWS: dict[str, dict[str, Any]] = {
    "draws": {
        "type": WholeNumber(2),
        "help": "Number of draws of ranges such as 80..100Mbit/s, 30ms±5ms, "
        '"lognormal(30ms, p95 60ms)" and file.csv:column (default: 10,000).',
    },
    "seed": {"type": WholeNumber(0), "help": "Random seed of the draws (default: 0)."},
    "correlate": {
        "metavar": "A,B=NUMBER",
        "help": "Correlation of two arguments that are ranges, such as bandwidth,latency=0.5; "
        "several are separated by semicolons.",
    },
    "truncate": {"is_flag": True, "help": "Discard impossible draws, with a note."},
    "dask": {
        "metavar": "ADDRESS",
        "help": "Draw on the workers of a Dask scheduler; local: on those of this machine.",
    },
}
"""Options about ranges."""


FOUND = 12
"""Formulas that a search prints."""


class _Formulas(mistakes.Group):
    """One command for each public model; a new formula appears here by existing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [calculator.command(formula) for formula in calculator.formulas().values()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            raise mistakes.CommandError("command-of-its-own", name=cmd_name)
        return _command(calculator.formula(cmd_name), calculator.preset(cmd_name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take all words behind --search, up to the next option, as words of the search."""
        if "--search" in args[:2]:
            start = args.index("--search") + 1
            end = next((i for i, arg in enumerate(args) if i >= start and arg[:1] == "-"), None)
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
    if not listed and not as_json and words is None:
        click.echo(ctx.get_help())
        return
    found = calculator.matches(words) if words is not None else None
    matches = found.formulas if found is not None else None
    terms = found.terms if found is not None else {}
    tables = [] if found is not None and found.topic else calculator.datasets(words or "")
    if found is not None and not found.formulas and not tables:
        nothing = found.nothing(words or "", list(map(calculator.command, found.nearest)))
        raise mistakes.CommandError(nothing.code, **nothing.values)
    if as_json:
        shown = list(calculator.formulas().values()) if matches is None else matches
        print_json(
            [{"term": term, "meaning": meaning} for term, meaning in terms.items()]
            + [{"table": name, "command": f"data {name}"} for name in tables]
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
    elif matches is not None:
        for term, meaning in terms.items():
            say(f"{term}: {meaning}")
        for name in tables:  # published values answer before formulas
            put(f"published values: netcalc data {name}")
        for formula in matches[:FOUND]:
            say(f"{calculator.command(formula):32} {formula.summary}")
        if len(matches) > FOUND:
            put(f"and {len(matches) - FOUND} more; --json lists all")
    else:
        _print_list()


def _print_list() -> None:
    """Print the formulas that most questions need, then all of them by chapter and subject."""
    printed = ""
    for chapter, subject, members in calculator.listed():
        if chapter != printed:
            put(("\n" if printed else "") + chapter, bold=True)
            printed = chapter
        if subject:
            put(f"  {subject.replace('_', ' ')}")
        for formula in members:
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
        metavar = " ".join(f"[{_meta(parameter)}]" for parameter in _positional(formula))
        arguments.append(click.Argument(["value"], nargs=-1, metavar=metavar))
    arguments += [_option(formula, parameter) for parameter in formula.parameters]
    arguments += [
        click.Option(
            ["--solve", "solve_"],
            metavar="ARGUMENT[=LOW:HIGH]",
            help="Solve for this argument, optionally within a range, given the result in --for; "
            "the exit code is 1 if there is no solution.",
        ),
        click.Option(["--for", "result_"], metavar="RESULT", help="Result that --solve must give."),
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
        *(click.Option([f"--{name}", f"{name}_"], **kinds) for name, kinds in _DRAWS.items()),
        click.Option(["--json", "json_"], is_flag=True, help="Print JSON."),
        click.Option(["--csv", "csv_"], is_flag=True, help="Print CSV."),
    ]
    return formulas.FormulaCommand(
        calculator.command(formula),
        formula,
        params=arguments,
        callback=partial(_answer, formula, preset),
    )


def _positional(formula: Formula) -> list[Parameter]:
    """Return the arguments that the usage shows without a name: the first and those required."""
    first, *others = formula.parameters
    return [first] if first.kind == "list" else [first, *(p for p in others if p.required)]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The options of a formula's command that are none of its arguments."""

    solve: str | None = None
    result: str | None = None
    sweep: tuple[str, ...] = ()
    log: bool = False
    plot: str | None = None
    force: bool = False
    explain: bool = False
    json: bool = False
    csv: bool = False
    draws: int | None = None
    seed: int | None = None
    correlate: str | None = None
    truncate: bool = False
    dask: str | None = None

    @property
    def drawn(self) -> dict[str, Any]:
        """The options about draws that were given."""
        options = {name: getattr(self, name) for name in _DRAWS}
        return {name: value for name, value in options.items() if value not in (None, False)}


def _answer(
    formula: Formula, preset: Mapping[str, str], value: tuple[str, ...] = (), **options: Any
) -> None:
    """Answer a command: read the arguments, ask for what the options ask, and print it."""
    asked = _Asked(**{name[:-1]: value for name, value in options.items() if name[-1:] == "_"})
    _check_options(asked)
    texts = {formula.parameter(name).name: text for name, text in preset.items()}
    texts |= {name: text for name, text in options.items() if name[-1:] != "_" and text is not None}
    unnamed = formulas.assigned(formula, value, texts)
    typed: dict[tuple[str, float], str] = {}
    with _named_as_typed(formula, typed, unnamed=unnamed):
        session = calculator.Session(formula, texts | unnamed, draws=Draws(**asked.drawn))
        typed |= {
            (name, number): session.texts[name]
            for name, number in session.arguments.items()
            if isinstance(number, float)
        }
        _check_arguments(session, asked)
        _say_readings(session, unnamed)
        if asked.plot is not None:
            check_file(session, asked.plot, force=asked.force)
        if session.inputs:
            from netcalc import uncertain  # late: most answers are of numbers

            with ending_quietly():
                uncertain.prepare()
        sweeps = [
            session.swept(_with_log_steps(value) if asked.log else value) for value in asked.sweep
        ]
        sweeps += session.swept_lists()
        answer = _solved_or_evaluated(session, sweeps, asked)
        if asked.plot is not None:
            draw(session, sweeps, answer, asked.plot)
        _print(session, answer, asked)
    if not answer.has_solution:
        sys.exit(1)


def _solved_or_evaluated(session: Session, sweeps: Sequence[Swept], asked: _Asked) -> Answer:
    if asked.solve is not None and asked.result is not None:
        name, equals, limits = asked.solve.partition("=")
        if equals and not limits:
            raise DomainError("malformed-range", "--solve", asked.solve)
        with _searching():
            return session.solve(name, asked.result, limits)
    formulas.check_sweeps(len(sweeps))
    return session.over(sweeps) if sweeps else session.value()


def _check_options(asked: _Asked) -> None:
    """Refuse options that do not go together."""
    mistakes.check_one_form(asked.json, asked.csv)
    if (asked.solve is None) != (asked.result is None):
        option, other = ("--solve", "--for") if asked.result is None else ("--for", "--solve")
        example = "Write for example --solve bandwidth --for 1s"
        raise mistakes.lacking(option, other, example)
    if asked.solve is not None:
        others = {"--sweep": asked.sweep, "--csv": asked.csv, "--explain": asked.explain}
        for option in (option for option, is_given in others.items() if is_given):
            raise mistakes.exclusive(option, "--solve")
    if asked.sweep and asked.explain:
        raise mistakes.exclusive("--explain", "--sweep")
    if asked.log and not asked.sweep:
        raise mistakes.lacking("--log", "--sweep", "Add for example --sweep latency=1ms:300ms")


def _check_arguments(session: Session, asked: _Asked) -> None:
    """Refuse options that do not go with the arguments: with ranges, or with lists."""
    is_table = bool(asked.sweep or session.lists)
    if asked.solve is not None and session.lists:
        name = "--" + session.formula.option(next(iter(session.lists)))
        raise mistakes.exclusive("--solve", f"a list in {name}")
    if session.inputs:
        if asked.solve is not None and asked.plot is not None:
            raise mistakes.exclusive("--solve", "--plot")
        if asked.dask is not None and (is_table or asked.solve is not None):
            raise mistakes.exclusive("--solve" if asked.solve is not None else "--sweep", "--dask")
        return
    for name in asked.drawn:
        example = "Write for example 80..100Mbit/s"
        raise mistakes.lacking(f"--{name}", "an argument that is a range", example)
    if asked.plot is not None and not is_table:
        example = "Add for example --sweep latency=1ms:300ms:log50"
        raise mistakes.lacking("--plot", "a --sweep, or an argument that is a range", example)


def _say_readings(session: Session, unnamed: Mapping[str, str]) -> None:
    """Say how words were read that may have meant something else."""
    readings = list(click.get_current_context().meta.get(formulas.READ_AS, []))
    if not session.inputs:
        formula = session.formula
        readings += formulas.in_order(formula, unnamed)
        readings += formulas.readings_said(formula, session.texts, session.arguments)
    for reading in readings:
        complain(f"note: {reading}")


def _print(session: Session, answer: Answer, asked: _Asked) -> None:
    """Print an answer in the form that is asked for, and what is to be said of it."""
    if asked.json:
        print_json(answer.document)
    elif asked.csv:
        _write_csv(answer.rows)
    elif asked.explain:
        say("\n".join(session.explanation(answer)))
    else:
        for line in answer.lines:
            put(line, bold=True) if line in answer.titles else put(line)
    if answer.assumed:
        complain(f"assumed: {_typed_arguments(session.formula, answer.assumed)}")
    for note in answer.notes:
        complain(f"note: {note}")
    is_text = not (asked.json or asked.csv or asked.explain or asked.solve)
    is_limited = bool(answer.notes) or bool({"window_bytes", "loss_ratio"} & session.texts.keys())
    if is_text and is_limited and session.formula.name in formulas.HOW_LONG:
        complain(f"note: {formulas.HOW_LONG[session.formula.name]}")


def _typed_arguments(formula: Formula, arguments: Mapping[str, Any]) -> str:
    """Return arguments with their values as people type them, or what counts where none is."""
    texts = []
    for name, value in arguments.items():
        text = formula.said_defaults[name] or formula.parameter(name).show(value)
        texts.append(f"--{formula.label(name).replace(' ', '-')} {text}")
    return ", ".join(texts)


@contextmanager
def _named_as_typed(
    formula: Formula, typed: mistakes.Typed, *, unnamed: Collection[str]
) -> Iterator[None]:
    """Name options, with their values as typed, where a model names its arguments.

    Arguments that were typed without an option have no option's name.
    """
    names = {
        parameter.name: ("--" + formula.label(parameter.name).replace(" ", "-"), parameter.unit)
        for parameter in formula.parameters
    }
    for name in unnamed:
        names[name] = (formula.label(name), formula.parameter(name).unit)
    # Refused text and missing arguments are reported by the short name.
    short = [parameter.short_name for parameter in formula.parameters]
    names |= {
        parameter.short_name: names[parameter.name]
        for parameter in formula.parameters
        if short.count(parameter.short_name) == 1
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
        mistakes.rename(error, names, typed)
        if isinstance(error, UnitError):
            formulas.name_propagation(formula, error)
        raise


def _searching() -> AbstractContextManager[object]:
    """Show on a terminal that a search is running; some take seconds."""
    if not sys.stderr.isatty():
        return nullcontext()
    from netcalc.cli.output import Progress  # late: most answers come at once

    return Progress("searching; Ctrl-C stops")


def _with_log_steps(sweep: str) -> str:
    """Return a --sweep with logarithmic steps, unless it is a list or says how they are."""
    name, equals, limits = sweep.partition("=")
    parts = limits.split(":")
    if not equals or len(parts) not in (2, 3) or re.match(r"\s*(log|lin)", parts[-1]):
        return sweep
    return f"{name}={parts[0]}:{parts[1]}:log{''.join(parts[2:])}"


def _write_csv(rows: Any) -> None:
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
        shell_complete=formulas.choices(parameter),
    )  # fmt: skip


def _meta(parameter: Parameter) -> str:
    if parameter.kind == "choice":
        return "|".join(parameter.choices)
    if parameter.kind == "bool":
        return "yes|no"
    name = {"1": "NUMBER"}.get(parameter.unit, parameter.short_name.upper())
    return f"{name},..." if parameter.kind == "list" else name


_BAND_POINTS = 201


def check_file(session: Session, path: str, *, force: bool) -> None:
    """Refuse a name that is taken, one of no form that a figure has, and several results."""
    from netcalc.cli.output import check_output  # late: most answers are text

    check_output(path, force=force, plot=True)
    if not session.formula.unit:
        raise mistakes.CommandError("several-results", formula=session.formula.name)


def draw(session: Session, sweeps: Sequence[Swept], answer: Answer, path: str) -> None:
    """Draw a distribution, or curves or bands over one argument, one for each of a second."""
    from netcalc import plots  # late: bokeh and matplotlib take their time
    from netcalc.cli.output import print_written, write_plot

    if not sweeps:
        spread, inputs = answer.parts["result"], session.inputs
        plot = plots.formula_distribution(session.formula, spread, session.arguments, inputs)
    else:
        plot = _bands(session, *sweeps) if session.inputs else _curves(session, answer, *sweeps)
    write_plot(plot, path, lines=True)
    print_written(path)


def _curves(session: Session, answer: Answer, over: Swept, *others: Swept) -> Plot:
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
        formula, lines, over.parameter, arguments,
        varied=[other.parameter.name for other in others], logarithmic=over.logarithmic,
    )  # fmt: skip
    return plots.formula_plot(drawn)


def _bands(session: Session, over: Swept, *others: Swept) -> Plot:
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
        formula, bands, over.parameter, next(iter(cases.values())), inputs,
        varied=[other.parameter.name for other in others], logarithmic=over.logarithmic,
    )  # fmt: skip
