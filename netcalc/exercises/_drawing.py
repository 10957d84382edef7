"""Numbers for a student: from a hash, drawn again until the answers can be told apart."""

from __future__ import annotations

import hashlib
import math
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from netcalc import units
from netcalc.errors import NetcalcError, UnitError
from netcalc.exercises._template import Template, Variable

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
            found = _answers(template, values)
        except NetcalcError as error:
            reason, without = str(error), values
            continue
        if found is None:
            continue
        right, wrong = found
        if template.show_answer(right).split()[0].rstrip("%") in template.said_numbers:
            is_said = True
            continue
        pair = _too_near(template, right, wrong)
        if pair is None:
            texts = {one.name: shown(one, values[one.name]) for one in template.variables}
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
    return template.right(values), {one.name: one.formula(values) for one in template.wrong}


def _failed(template: Template, values: Mapping[str, float]) -> str:
    """Return the field of the first formula that has no answer for some numbers."""
    wrong = {f"wrong[{n}].formula": one.formula for n, one in enumerate(template.wrong, 1)}
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
    own += [(one.name, wrong[one.name]) for one in template.wrong if not one.same_as]
    for index, (name, value) in enumerate(own):
        for other, near in own[:index]:
            distance = abs(value - near)
            least = APART * template.tolerance * max(abs(value), abs(near))
            if template.tolerance == 0:
                least = WHOLE_APART if right.is_integer() else SAME * max(abs(value), abs(near))
            if distance <= least:
                return other, name
    for one in template.wrong:
        if one.same_as and not math.isclose(wrong[one.name], wrong[one.same_as], rel_tol=SAME):
            return one.same_as, one.name
    return None
