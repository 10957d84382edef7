"""What an exercise is: its text, its variables, the right formula and the wrong ones with names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any

from netcalc import units
from netcalc.errors import ReaderError
from netcalc.exercises._formula import Compiled
from netcalc.printable import excerpt

_SHOWN_DIGITS = 4
_COUNTS = {"1": "", "byte": " B", "bit": " bit"}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A number of an exercise that differs between students.

    Parameters
    ----------
    name : str
        Its name in the text and the formulas.
    unit : str
        SI unit of netcalc.
    low, high : float
        Range, in ``unit``; both 0 with ``choices``.
    digits : int
        Significant digits of a number that is drawn log-uniformly; 0 with ``step`` or ``choices``.
    step : float
        Distance of the numbers that are drawn with equal chances from the range; 0 without.
    choices : tuple of (float, str)
        Listed values, each in ``unit`` and as written; empty with a range.
    """

    name: str
    unit: str
    low: float = 0.0
    high: float = 0.0
    digits: int = 0
    step: float = 0.0
    choices: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """A wrong formula that has a name.

    Parameters
    ----------
    name : str
        Name of the mistake.
    formula : Compiled
        The formula, in SI numbers.
    sentence : str
        Why it is wrong.
    ask : str
        Question to ask back, which does not yet name the mistake.
    same_as : str
        Name of another mistake that leads to the same number; empty if its number is its own.
    seen : str
        Where it was really made; empty if it was not found.
    """

    name: str
    formula: Compiled
    sentence: str
    ask: str
    same_as: str = ""
    seen: str = ""


def line_of_field(lines: Mapping[str, int], field: str, otherwise: int) -> int:
    """Return the line of a field, of the one it is part of, or else another."""
    while field:
        if field in lines:
            return lines[field]
        field = field.rpartition(".")[0]
    return otherwise


@dataclass(frozen=True, kw_only=True)
class Template:
    """An exercise without its numbers.

    Parameters
    ----------
    id, lesson, topic : str
        Its id, the number of its lesson (``"01"``), and its topic.
    text : str
        The question; variables are written in braces: ``{N}``.
    unit : str
        SI unit of the answer.
    tolerance : float
        Largest relative difference that counts as equal; 0 for counts.
    digits : int
        Significant digits asked for; 0 with a tolerance of 0.
    variables : tuple of Variable
        Its variables.
    right : Compiled
        The right formula.
    second : Compiled or None
        Another way to the same number.
    wrong : tuple of Wrong
        The wrong formulas.
    positive : tuple of Compiled
        Formulas that must be above 0 for the numbers drawn, such as ``rb - ra``.
    curve : mapping of str to str
        What a figure of the answer is drawn over; empty if there is none.
    file : str
        The file it is from.
    line : int
        Its line there.
    lines : mapping of str to int
        Lines of its fields, such as ``right`` and ``wrong[2].formula``.
    """

    id: str
    lesson: str
    topic: str
    text: str
    unit: str
    tolerance: float
    digits: int
    variables: tuple[Variable, ...]
    right: Compiled
    second: Compiled | None
    wrong: tuple[Wrong, ...]
    positive: tuple[Compiled, ...] = ()
    curve: Mapping[str, str] = dataclass_field(default_factory=dict)
    file: str = ""
    line: int = 0
    lines: Mapping[str, int] = dataclass_field(default_factory=dict)

    @cached_property
    def said_numbers(self) -> frozenset[str]:
        """Numbers in what is said about answers: none of them may be the right one."""
        said = " ".join(f"{one.sentence} {one.ask} {one.name}" for one in self.wrong)
        return frozenset(number.replace(",", "") for number in _NUMBER.findall(said))

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Names of the wrong formulas."""
        return tuple(one.name for one in self.wrong)

    def show_answer(self, value: float) -> str:
        """Write an answer with its unit: a count in full, else with the digits asked for."""
        if self.tolerance == 0 and value.is_integer() and self.unit in _COUNTS:
            return f"{value:.0f}{_COUNTS[self.unit]}"
        return units.show(value, self.unit, digits=max(_SHOWN_DIGITS, self.digits))

    def mistake(self, name: str) -> Wrong:
        """Return the wrong formula of that name.

        Raises
        ------
        KeyError
            If there is none.
        """
        return next(one for one in self.wrong if one.name == name)

    def error(self, code: str, *, field: str, **values: Any) -> ReaderError:
        """Return an error with the file, the line and the field of this exercise."""
        return ReaderError(
            code,
            file=self.file,
            line=line_of_field(self.lines, field, self.line),
            field=f"{self.id}.{field}",
            exercise=excerpt(self.id),
            **values,
        )
