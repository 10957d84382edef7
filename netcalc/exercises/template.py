"""What an exercise is, without its numbers and with them.

A template has the text, the variables, the right formula and the wrong ones with names. Numbers are
drawn for a student from a hash, again until the answers can be told apart.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any

from netcalc import units
from netcalc.documents import Place
from netcalc.errors import NetcalcError, ReaderError, UnitError
from netcalc.exercises.formulas import Compiled

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
    place : netcalc.documents.Place
        Where it is from.
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
    place: Place = dataclass_field(compare=False, repr=False)

    @property
    def file(self) -> str:
        """The file it is from."""
        return self.place.file

    @property
    def line(self) -> int | None:
        """Its line there."""
        return self.place.nearest_line

    @cached_property
    def said_numbers(self) -> frozenset[str]:
        """Numbers in what is said about answers: none of them may be the right one."""
        said = " ".join(f"{item.sentence} {item.ask} {item.name}" for item in self.wrong)
        return frozenset(number.replace(",", "") for number in _NUMBER.findall(said))

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Names of the wrong formulas."""
        return tuple(mistake.name for mistake in self.wrong)

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
        return next(mistake for mistake in self.wrong if mistake.name == name)

    def error(self, code: str, *, field: str, **values: Any) -> ReaderError:
        """Return an error with the file, the line and the field of this exercise."""
        return self.place.inside(field).refused(code, **values)


APART = 2.5
"""Least distance of two answers, in tolerances: two of them leave half a one between their ends."""
WHOLE_APART = 0.5
"""Least distance of two answers where the tolerance is 0: two counts differ by 1."""
MOST_DRAWS = 4000
"""Draws before an exercise is given up."""
FIRST_DRAWS = 400
"""Draws within which a file's exercise must have succeeded once, so that a student's will."""
FIRST_LIMIT_S = 5.0
"""Time for that: formulas that take longer would hold up whoever opens the sheet. [s]"""
SAME = 1e-9
"""Largest relative difference of two formulas for one number: the rounding of floats."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Numbers of an exercise, in SI units, with the answers that they lead to.

    Parameters
    ----------
    values : mapping of str to float
        The variables.
    shown : mapping of str to str
        The variables as people read them.
    right : float
        The right answer.
    wrong : mapping of str to float
        The wrong answers, by name.
    """

    values: Mapping[str, float]
    shown: Mapping[str, str]
    right: float
    wrong: Mapping[str, float]


def seed_of(exercise: str, *, student: str, sheet: str) -> str:
    """Return the text whose hash gives the numbers: three lines, in composed letters.

    One name typed on two systems may differ in its bytes, as ü is one character or two.
    """
    parts = (unicodedata.normalize("NFC", part).strip() for part in (exercise, student, sheet))
    return "\n".join(" ".join(part.split()) for part in parts)


def draw_numbers(
    template: Template, seed: str, *, most: int = MOST_DRAWS, limit_s: float = math.inf
) -> Drawn:
    """Draw numbers until the right and all wrong answers lie apart.

    The numbers of attempt n are the SHA-256 of the seed, n and the variable's name, in lines: its
    first 52 bits, divided by 2^52, are a share of the variable's range.

    Raises
    ------
    ReaderError
        If no draw separates the answers, or none has an answer; with what came closest. If the
        draws take longer than ``limit_s``.
    """
    end_s = time.thread_time() + limit_s
    reason: tuple[str, str] | str = ""
    without: Mapping[str, float] = {}
    is_said = False
    for attempt in range(most):
        if time.thread_time() > end_s:
            raise template.error("exercise-too-slow", field="right", limit_s=limit_s)
        values = {
            variable.name: _number(variable, f"{seed}\n{attempt}\n{variable.name}")
            for variable in template.variables
        }
        try:
            answers = _answers(template, values)
        except NetcalcError as error:
            reason, without = str(error), values
            continue
        if answers is None:
            continue
        right, wrong = answers
        if template.show_answer(right).split()[0].rstrip("%") in template.said_numbers:
            is_said = True
            continue
        pair = _too_near(template, right, wrong)
        if pair is None:
            texts = {item.name: shown(item, values[item.name]) for item in template.variables}
            return Drawn(values, texts, right, wrong)
        reason = pair
    if isinstance(reason, tuple):
        raise template.error(
            "exercise-not-separable", field="wrong", names=list(reason), draws=most
        )
    if is_said and not reason:
        raise template.error("exercise-answer-said", field="wrong", draws=most)
    code = "exercise-without-answer" if reason else "exercise-conditions-not-met"
    raise template.error(
        code, field=_failed(template, without) if reason else "positive", reason=reason, draws=most
    )


def shown(variable: Variable, value: float) -> str:
    """Return a number as people read it, with as many digits as keep it."""
    for number, text in variable.choices:
        if number == value:
            return text
    if variable.unit == "1":
        return f"{value:.12g}"
    for digits in range(max(variable.digits, 2), 17):
        text = units.show(value, variable.unit, digits=digits)
        try:
            if math.isclose(units.parse(text, variable.unit), value, rel_tol=1e-12):
                return text
        except UnitError:  # a unit that is shown only
            continue
    return f"{value:.12g} {variable.unit}"


def _number(variable: Variable, text: str) -> float:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    share = (int.from_bytes(digest[:8], "big") >> 12) / 2**52
    if variable.choices:
        return variable.choices[int(share * len(variable.choices))][0]
    if variable.step:
        count = math.floor((variable.high - variable.low) / variable.step * (1 + SAME)) + 1
        return float(f"{variable.low + variable.step * int(share * count):.12g}")
    value = variable.low * (variable.high / variable.low) ** share
    rounded = float(f"{value:.{variable.digits - 1}e}")
    if variable.unit == "byte":
        rounded = float(round(rounded))
    return min(max(rounded, variable.low), variable.high)


def _answers(
    template: Template, values: Mapping[str, float]
) -> tuple[float, dict[str, float]] | None:
    """Return the right answer and the wrong ones; None if the numbers are not to be used."""
    if any(condition(values) <= 0 for condition in template.positive):
        return None
    return template.right(values), {item.name: item.formula(values) for item in template.wrong}


def _failed(template: Template, values: Mapping[str, float]) -> str:
    """Return the field of the first formula that has no answer for some numbers."""
    wrong = {f"wrong[{n}].formula": item.formula for n, item in enumerate(template.wrong, 1)}
    for field, formula in {"right": template.right, **wrong}.items():
        try:
            formula(values)
        except NetcalcError:
            return field
    return "positive"


def _too_near(
    template: Template, right: float, wrong: Mapping[str, float]
) -> tuple[str, str] | None:
    """Return the names of two answers that are too near to each other."""
    own = [("right", right)]
    own += [(item.name, wrong[item.name]) for item in template.wrong if not item.same_as]
    for index, (name, value) in enumerate(own):
        for other, near in own[:index]:
            distance = abs(value - near)
            least = APART * template.tolerance * max(abs(value), abs(near))
            if template.tolerance == 0:
                least = WHOLE_APART if right.is_integer() else SAME * max(abs(value), abs(near))
            if distance <= least:
                return other, name
    for item in template.wrong:
        if item.same_as and not math.isclose(wrong[item.name], wrong[item.same_as], rel_tol=SAME):
            return item.same_as, item.name
    return None
