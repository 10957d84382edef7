"""Mistakes on a command line: which word is wrong, in the names and units that were typed."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from netcalc.errors import DomainError, ExperimentError, NetcalcError, ReaderError, UnitError

_SYMBOLS = {"byte": "B", "1": "", "text": "", "bool": ""}
_ALIKE = 0.7
"""Share of letters in common above which one option is taken for a misspelling of another."""
_TYPED = "netcalc.typed"
"""Key of click's ``meta``: the text of each quantity that was typed."""

Typed = Mapping[tuple[str, float], str]
"""Argument and number -> the text that was typed for it."""


class CommandError(NetcalcError):
    """A command line with an unknown command or option, or with a word too many or too few."""


def exclusive(first: str, second: str) -> CommandError:
    """Return the error of two options that do not go together."""
    return CommandError("options-exclusive", first=first, second=second)


def lacking(option: str, required: str, example: str) -> CommandError:
    """Return the error of an option without another that it needs."""
    return CommandError("option-requires", option=option, required=required, example=example)


def check_one_form(as_json: bool, as_csv: bool) -> None:
    """Refuse JSON and CSV at once."""
    if as_json and as_csv:
        raise exclusive("--json", "--csv")


class _UnexpectedArguments(click.UsageError):
    """Words behind the arguments of a command."""

    def __init__(self, words: list[str], ctx: click.Context) -> None:
        super().__init__(f"unexpected arguments: {' '.join(words)}", ctx)
        self.words = words


class _UnknownCommand(click.UsageError):
    """A command that a group does not have."""

    def __init__(self, name: str, ctx: click.Context, suggestions: list[str]) -> None:
        super().__init__(f"unknown command: {name}", ctx)
        self.name, self.suggestions = name, suggestions


class Command(click.Command):
    """A command whose mistakes can be distinguished by their class."""

    allow_extra_args = True  # so that click leaves them to parse_args

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse words that belong to no argument."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # the parser leaves it out
            raise
        if rest and not ctx.resilient_parsing:
            raise _UnexpectedArguments(rest, ctx)
        return rest


class Group(click.Group):
    """Commands; for an unknown one the nearest name is known."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names."""
        name, *others = args
        command = self.get_command(ctx, name)
        if command is None:
            raise _UnknownCommand(name, ctx, self.nearest(ctx, name))
        return name, command, others

    def nearest(self, ctx: click.Context, name: str) -> list[str]:
        """Return the commands that an unknown name may mean."""
        from difflib import get_close_matches  # late: most names are known

        return get_close_matches(name, self.list_commands(ctx), n=1)


def command_error(error: click.ClickException) -> NetcalcError:
    """Return which mistake click has found."""
    ctx = getattr(error, "ctx", None)
    command = "netcalc" if ctx is None else ctx.command_path
    match error:
        case click.NoSuchOption(option_name=option, possibilities=names):
            near = _near_option(option, names or ())
            others = [] if near else _others_with(ctx, option)
            if others:
                return CommandError(
                    "option-of-others", command=command, option=option, others=others
                )
            return CommandError("unknown-option", command=command, option=option, **_near(near))
        case _UnknownCommand(name=name, suggestions=near):
            return CommandError("unknown-command", command=command, name=name, **_near(near))
        case click.MissingParameter(param=click.Parameter() as parameter):
            name = typed_name(parameter)
            return CommandError("argument-missing", command=command, name=name)
        case _UnexpectedArguments(words=words):
            return CommandError("unexpected-argument", command=command, words=" ".join(words))
        case click.BadOptionUsage(option_name=option):
            code = "option-takes-no-value" if _is_flag(ctx, option) else "option-without-value"
            return CommandError(code, command=command, option=option)
    return CommandError("refused-as-typed", command=command, reason=error.format_message())


def system_error(error: OSError) -> NetcalcError:
    """Return what the system refused: a file that is not there, a full disk."""
    reason = error.strerror or str(error)
    if error.filename is None:
        if error.errno == errno.ENOENT and _is_folder_gone():
            return CommandError("working-folder-gone")
        return CommandError("system-refused", reason=reason, errno=error.errno)
    file = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    return CommandError("file-refused", file=file, reason=reason, errno=error.errno)


def _is_folder_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - pathlib needs the folder for more
    except FileNotFoundError:
        return True
    return False


def _is_flag(ctx: click.Context | None, option: str) -> bool:
    parameters = [] if ctx is None else ctx.command.params
    return any(
        isinstance(parameter, click.Option)
        and parameter.is_flag
        and option in parameter.opts + parameter.secondary_opts
        for parameter in parameters
    )


def _near_option(option: str, options: Iterable[str]) -> list[str]:
    """Return the option that a misspelled one most resembles; the dashes do not count."""
    from difflib import get_close_matches  # late: most options are known

    names = {name.lstrip("-"): name for name in options}
    return [
        names[name] for name in get_close_matches(option.lstrip("-"), names, n=1, cutoff=_ALIKE)
    ]


def _others_with(ctx: click.Context | None, option: str) -> list[str]:
    """Return the commands of the same group that have an option."""
    group = ctx.parent.command if ctx is not None and ctx.parent is not None else None
    others = group.commands.values() if isinstance(group, click.Group) else ()
    return [
        f"{group.name} {other.name}"
        for other in others
        if group is not None and any(option in param.opts for param in other.params)
    ]


def _near(names: list[str]) -> dict[str, list[str]]:
    return {"suggestions": names} if names else {}


def for_command_line(error: NetcalcError) -> NetcalcError:
    """Mark an error as shown to a person at a terminal: its hint names options, not arguments."""
    error.values["typed"] = True
    return error


def names_of_file(name: str) -> set[str]:
    """Return what a file may be called in an error: as typed, in full, and its parts."""
    from pathlib import Path  # late: it takes 2 ms to load

    path = Path(name)
    names = {name, str(path), str(path.absolute()), *path.parts, path.stem}
    return {text for text in names if text.strip("./\\-")}


@contextlib.contextmanager
def numbers_of(file: str) -> Iterator[None]:
    """Name the file of a number that a model refuses: who reads the error never wrote an argument.

    Raises
    ------
    ReaderError
        With the file, and the argument as its field.
    """
    try:
        yield
    except DomainError as error:
        raise ReaderError(
            "not-evaluated", file=file, field=error.name, reason=error.what
        ) from error


def typed_name(parameter: click.Parameter) -> str:
    """Return the name of an option, or of an argument, as the help shows it."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    shown = parameter.human_readable_name.strip(".")
    return shown if re.search(r"\] ", shown) else shown.strip("[].")


def keep_typed(ctx: click.Context, argument: str, number: float, text: str) -> None:
    """Keep the text of a quantity, so that an error about the number can repeat it."""
    ctx.meta.setdefault(_TYPED, {})[argument, number] = text


@contextlib.contextmanager
def named_as_typed(**others: tuple[str, str]) -> Iterator[None]:
    """Name options of the current command where an error of the library names arguments.

    ``others`` are the arguments whose option has another name: that name, and the unit.
    """
    ctx = click.get_current_context()
    parameters = ctx.command.params
    options = {
        parameter.name: (typed_name(parameter), getattr(parameter.type, "unit", ""))
        for parameter in parameters
        if parameter.name
    }
    options |= others
    try:
        yield
    except (DomainError, ExperimentError, UnitError) as error:
        rename(error, options, ctx.meta.get(_TYPED, {}))
        raise


def rename(
    error: NetcalcError, names: Mapping[str, tuple[str, str]], typed: Typed | None = None
) -> None:
    """Give an error about an argument the name, the unit and the text that a person types for it.

    Parameters
    ----------
    error : NetcalcError
        The error; changed in its values.
    names : mapping
        By argument: the name that is typed, and the unit of its number.
    typed : mapping, optional
        By argument and number: the text of the number.
    """
    if isinstance(error, UnitError):
        if error.field is not None and error.field in names:
            error.values["field"] = names[error.field][0]
        return
    argument, index, rest = str(error.values.get("name")).partition("[")  # one of several values
    if argument not in names:
        return
    name, unit = names[argument]
    error.values["name"] = f"{name}{index}{rest}"
    value = error.values.get("value")
    error.values["value"] = with_unit(value, unit)
    text = _typed_text(argument, value, typed or {})
    if text is not None and error.values["value"] is not value:  # a quantity: it got its unit
        error.values["typed_text"] = text
    if unit:
        error.values["unit"] = unit  # of its bounds


def _typed_text(argument: str, value: Any, typed: Typed) -> str | None:
    """Return the text of a number that was typed for an argument."""
    try:
        return typed.get((argument, float(value)))
    except (TypeError, ValueError):
        return None


def with_unit(value: Any, unit: str) -> Any:
    """Write a number with its unit: ``-0.001 s``; a value that is not a number stays as it is."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value
    if unit == "ratio":
        return f"{number * 100:.12g}%"
    symbol = _SYMBOLS.get(unit, unit)
    return f"{number:.12g} {symbol}" if symbol else value
