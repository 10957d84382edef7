"""``netcalc calc``: any public model, made into a command from the function itself."""

from __future__ import annotations

import inspect
from typing import Any

import click
import numpy as np

from netcalc import calculator, units
from netcalc.calculator import Formula, Parameter
from netcalc.cli import print_json
from netcalc.errors import DomainError


class _Formulas(click.Group):
    """One command for each public model; a new formula appears here by existing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [calculator.command(formula) for formula in calculator.formulas().values()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(calculator.formula(cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text("netcalc calc --list names every formula.")


@click.group(cls=_Formulas, invoke_without_command=True, no_args_is_help=False)
@click.option("--list", "listed", is_flag=True, help="List all formulas, by subject.")
@click.option("--search", "words", metavar="WORDS", help="List the formulas about these words.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def calc(ctx: click.Context, listed: bool, words: str | None, as_json: bool) -> None:
    """Compute a formula: netcalc calc NAME [VALUE] [--ARGUMENT VALUE ...]

    \b
    Quantities carry their unit, as people write them: 30ms, "10 Mbit/s", T3, 64KiB, 3%.
    netcalc calc transfer 1MB --bandwidth T1 --latency 30ms
    netcalc calc frame-rate 64B --bandwidth "10 Gbit/s"
    netcalc calc NAME --help
    """
    if ctx.invoked_subcommand is not None:
        return
    found = calculator.search(words) if words is not None else None
    if not listed and found is None:
        click.echo(ctx.get_help())
        return
    shown = list(calculator.formulas().values()) if found is None else found
    if not shown:
        raise DomainError("search", repr(words), "words of a formula", hint="Try --list")
    if as_json:
        print_json(
            [
                {
                    "name": f.name,
                    "command": calculator.command(f),
                    "summary": f.summary,
                    "unit": f.unit,
                }
                for f in shown
            ]
        )
        return
    subject = ""
    for formula in shown:
        if formula.subject != subject:
            subject = formula.subject
            click.echo(click.style(subject.replace("_", " "), bold=True))
        click.echo(f"  {calculator.command(formula):32} {formula.summary}")


def _command(formula: Formula) -> click.Command:
    first = formula.parameters[0] if formula.parameters else None
    arguments: list[click.Parameter] = []
    if first is not None:
        arguments.append(click.Argument(["value"], required=False, metavar=f"[{_meta(first)}]"))
    arguments += [_option(formula, parameter) for parameter in formula.parameters]
    arguments.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."))
    return click.Command(
        calculator.command(formula),
        params=arguments,
        callback=lambda **given: _compute(formula, **given),
        help=_help(formula),
        context_settings={"ignore_unknown_options": False},
    )


def _compute(
    formula: Formula, *, value: str | None = None, as_json: bool, **options: str | None
) -> None:
    texts = {name: text for name, text in options.items() if text is not None}
    first = formula.parameters[0].name if formula.parameters else ""
    if value is not None:
        if first in texts:
            raise click.UsageError(f"{first} is given twice: {value!r} and {texts[first]!r}")
        texts[first] = value
    arguments = formula.arguments(texts)
    result = formula.evaluate(arguments)
    if as_json:
        print_json(_document(formula, arguments, result))
        return
    if hasattr(result, "_asdict"):
        for name, column in result._asdict().items():
            click.echo(f"{name}: {_shown(column, formula.unit)}")
        return
    click.echo(_shown(result, formula.unit))


def _document(formula: Formula, arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    return {
        "formula": formula.name,
        "arguments": {**defaults, **arguments},
        "units": {p.name: p.unit for p in formula.parameters},
        "result": result._asdict() if hasattr(result, "_asdict") else result,
        "unit": formula.unit,
    }


def _shown(value: Any, unit: str) -> str:
    if isinstance(value, str | bool | np.bool_):
        return str(value)
    if isinstance(value, list | tuple) or np.ndim(value):
        return ", ".join(_shown(item, unit) for item in value)
    return units.show(float(value), unit)


def _option(formula: Formula, parameter: Parameter) -> click.Option:
    unique = sum(p.short_name == parameter.short_name for p in formula.parameters) == 1
    names = [f"--{parameter.name.replace('_', '-')}"]
    if unique and parameter.short_name != parameter.name:
        names.insert(0, f"--{parameter.short_name.replace('_', '-')}")
    text = parameter.description
    if not parameter.required and parameter.default is not inspect.Parameter.empty:
        text += f" (default: {parameter.show(parameter.default)})"
    return click.Option([*names, parameter.name], help=text, metavar=_meta(parameter))


def _meta(parameter: Parameter) -> str:
    if parameter.kind == "choice":
        return "|".join(parameter.choices)
    if parameter.kind == "bool":
        return "yes|no"
    name = {"1": "NUMBER"}.get(parameter.unit, parameter.short_name.upper())
    return f"{name},..." if parameter.kind == "list" else name


def _help(formula: Formula) -> str:
    parts = [
        formula.summary,
        f"\b\n{formula.equation}",
        formula.validity,
        f"From: {formula.source}",
    ]
    return "\n\n".join(part for part in parts if part)
