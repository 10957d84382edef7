"""What people type behind the name of a formula: other names of options, values without any."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np

from netcalc import calculator, equations, units
from netcalc.calculator import Formula, Parameter
from netcalc.checks import FloatArray
from netcalc.cli.mistakes import CommandError
from netcalc.cli.quantity import QuantityCommand
from netcalc.errors import DomainError, UnitError, doubts
from netcalc.messages import Notice

_NUMBER = re.compile(r"[+-]?\d[\d.,]*")
_UNIT_WORDS = frozenset({"e", "erl", "erlang", "erlangs", "percent", "gig", "gige", "gbe", "ge"})
_MANY_SWEEPS = 2
_DOUBTFUL_SHARES = re.compile(r"loss|blocking|error|retransmi")
"""Shares that people also type in percent: how a number alone was read is said."""


class FormulaCommand(QuantityCommand):
    """The command of a formula: ``--bw`` for ``--bandwidth``, ``10 Mbit/s`` without quotes."""

    def __init__(self, name: str, formula: Formula, **more: Any) -> None:
        super().__init__(name, **more)
        self._formula = formula

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the formula says of itself: read from its docstring when it is asked for."""
        formula = self._formula
        written = equations.plain(formula.equation)
        equation = f"\b\nEquation: {written}" if written else ""
        source = f"From: {formula.source}" if formula.source else ""
        parts = (formula.summary, equation, formula.validity, source)
        self.help = "\n\n".join(filter(None, parts))
        super().format_help_text(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give options the names that the formula has for them, and numbers their unit."""
        options = [one for one in self.params if isinstance(one, click.Option)]
        known = {name for option in options for name in option.opts} | {"--help", "-h"}
        return super().parse_args(ctx, [self._option(one, known) for one in joined(args)])

    def _option(self, word: str, known: set[str]) -> str:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or len(name) < 3 or name in known:
            return word
        command = calculator.command(self._formula)
        meant = self._formula.called(name[2:])
        if len(meant) > 1:
            choices = ["--" + self._formula.option(one.name) for one in meant]
            raise CommandError(
                "option-ambiguous", command=f"netcalc calc {command}", option=name, choices=choices
            )
        if meant:
            return f"--{meant[0].name.replace('_', '-')}{equals}{value}"
        from difflib import get_close_matches  # late: most options are known

        bare = [one.lstrip("-") for one in known]
        if not get_close_matches(name.lstrip("-"), bare, n=1, cutoff=0.7):
            options = ["--" + self._formula.option(one.name) for one in self._formula.parameters]
            raise CommandError(
                "option-of-no-argument", command=f"netcalc calc {command}", option=name,
                options=options,
            )  # fmt: skip
        return word


def joined(words: Sequence[str]) -> list[str]:
    """Put a number and its unit together where they are two words.

    Examples
    --------
    >>> joined(["--latency", "30", "ms", "1", "MB"])
    ['--latency', '30 ms', '1 MB']
    """
    found: list[str] = []
    for word in words:
        if found and (
            (_NUMBER.fullmatch(found[-1]) and _is_unit(word))
            or (" " in found[-1] and (word == "per" or found[-1].endswith(" per")))
        ):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _is_unit(word: str) -> bool:
    return bool(units.kinds_of(word)) or word.lower() in _UNIT_WORDS or calculator.is_noun(word)


def assigned(formula: Formula, words: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return which argument each value without a name is: by its unit, then by the order.

    Raises
    ------
    CommandError
        If there are more values than arguments.
    """
    left = [one for one in formula.parameters if one.name not in given]
    if words and formula.parameters and formula.parameters[0] not in left and len(words) == 1:
        first = formula.parameters[0]
        if not any(_reads(one, words[0]) is True for one in left if one.required):
            raise CommandError(
                "argument-typed-twice", name=formula.label(first.name),
                first=words[0], second=given[first.name],
            )  # fmt: skip
    takes_list = bool(left) and left[0].kind == "list" and len(words) > 1
    if takes_list and all(_NUMBER.fullmatch(one) and "," not in one for one in words):
        return {left[0].name: "; ".join(words)}
    found: dict[str, str] = {}
    for word in words:
        index = _index_of(word, left)
        if index is None:
            raise CommandError(
                "unexpected-argument",
                command=f"netcalc calc {calculator.command(formula)}", words=word,
            )  # fmt: skip
        found[left.pop(index).name] = word
    return found


def _index_of(word: str, left: Sequence[Parameter]) -> int | None:
    """Return which of the arguments that are left a value is for.

    The first one that is required and can be it; one that may be left out only where none is.
    """
    if not left:
        return None
    needed = [i for i, one in enumerate(left) if one.required or i == 0]
    read = {i: _reads(one, word) for i, one in enumerate(left)}
    sure = [i for i in needed if read[i] is True]
    possible = [i for i in needed if read[i] is not False]
    if sure and (sure[0] == possible[0] or left[possible[0]].packet_sized):
        return sure[0]
    if possible:
        return possible[0]
    if _NUMBER.fullmatch(word):
        return needed[0]
    return next((i for i, fits in read.items() if fits), needed[0])


def _reads(parameter: Parameter, word: str) -> bool | None:
    """Whether a text is a value of an argument; None if it is one with two readings."""
    try:
        with doubts():  # said when the value is read for its argument
            for one in parameter.values(word):
                value = parameter.read(one)
    except UnitError as error:
        return None if error.code in ("ambiguous-unit", "ambiguous-number") else False
    except DomainError:
        return False
    known = calculator.known_names(parameter.name)
    return parameter.kind != "text" or not known or value in known


def check_sweeps(count: int) -> None:
    """Refuse more sweeps than a table has sides.

    Raises
    ------
    CommandError
        If there are more than two.
    """
    if count > _MANY_SWEEPS:
        raise CommandError("too-many-sweeps", count=count, high=_MANY_SWEEPS)


def readings(
    formula: Formula, texts: Mapping[str, str], arguments: Mapping[str, Any]
) -> list[Notice]:
    """Return how texts were read that may have meant something else."""
    found = []
    for name, text in texts.items():
        parameter, value = formula.parameter(name), arguments.get(name)
        if parameter.kind in ("text", "choice"):
            doubtful = calculator.plain_name(str(value)) != calculator.plain_name(text)
        else:
            doubtful = (
                parameter.unit == "ratio" and _DOUBTFUL_SHARES.search(parameter.name) is not None
                and _NUMBER.fullmatch(text.strip()) is not None and value != 0
            )  # fmt: skip
            doubtful = doubtful or calculator.codec_bps(text) is not None
        if doubtful:
            option = "--" + formula.option(name)
            shown = parameter.show(value)
            found.append(Notice("read-as", {"name": option, "text": text, "value": shown}))
    return found


def family_rows(
    family: Sequence[calculator.Sweep], by: Parameter, by_values: FloatArray
) -> tuple[list[str], list[list[float]]]:
    """Return the headings and rows of a table over two arguments: one column for each of one.

    Of a formula of several results, each result has its columns.
    """
    first = family[0]
    names = list(first.columns)
    headings, columns = [], [first.values]
    for name in names:
        for one, value in zip(family, by_values.tolist(), strict=True):
            what = f"{name} at " if len(names) > 1 else ""
            headings.append(f"{what}{by.show(value)}")
            columns.append(one.columns[name])
    return headings, np.column_stack(columns).tolist()
