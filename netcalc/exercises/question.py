"""An exercise with its numbers put in, its worked solution, and the curves of its figure."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc import calculator, datasets, equations, units
from netcalc.claims.expression import Quantity
from netcalc.errors import DomainError, NetcalcError
from netcalc.exercises.answers import Verdict, judge, put_in, read_answer
from netcalc.exercises.template import FUNCTIONS, Compiled, Drawn, Template, Wrong
from netcalc.language import phrase, term
from netcalc.printable import excerpt

PLACEHOLDER = re.compile(r"\{(\w+)\}")
_DIGITS = {3: term("three"), 4: term("four"), 5: term("five"), 6: term("six")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Question:
    """An exercise with the numbers of a student put in.

    Parameters
    ----------
    template : Template
        The exercise.
    student, sheet : str
        For whom it was drawn, and for which sheet.
    drawn : Drawn
        Its numbers and answers.
    """

    template: Template
    student: str = ""
    sheet: str = ""
    drawn: Drawn

    def __repr__(self) -> str:
        who = f"student={self.student!r}, sheet={self.sheet!r}"
        return f"Question({self.id!r}, {who}, text={self.text!r})"

    @property
    def id(self) -> str:
        """Its id."""
        return self.template.id

    @property
    def unit(self) -> str:
        """SI unit of the answer."""
        return self.template.unit

    @property
    def values(self) -> dict[str, float]:
        """The variables, in SI units."""
        return dict(self.drawn.values)

    @property
    def shown(self) -> dict[str, str]:
        """The variables as people read them."""
        return dict(self.drawn.shown)

    @property
    def text(self) -> str:
        """The question with its numbers, and the digits where more than three are asked."""
        text = PLACEHOLDER.sub(lambda match: self.drawn.shown[match[1]], phrase(self.template.text))
        digits = self.template.digits
        more = phrase("Give {digits} digits.", digits=phrase(_DIGITS.get(digits, str(digits))))
        return f"{text} {more}" if digits > 3 else text

    @property
    def expected(self) -> str:
        """What an answer looks like: ``a time such as 30 ms``."""
        return units.example(self.unit)

    @property
    def answer(self) -> float:
        """The right answer, in ``unit``."""
        return self.drawn.right

    @property
    def wrong_answers(self) -> Mapping[str, float]:
        """The wrong answers by the name of the mistake, in ``unit``."""
        return dict(self.drawn.wrong)

    def check(self, answer: object) -> Verdict:
        """Judge an answer as it was typed: ``13.2 ms``.

        Returns
        -------
        Verdict
            What is said about it; no text raises.
        """
        return judge(self.template, self.drawn, answer)

    def told(self, mistake: Wrong) -> tuple[str, str]:
        """Return the sentence about a mistake and the question before it, with the numbers."""
        sentence, ask = phrase(mistake.sentence), phrase(mistake.ask)
        return put_in(sentence, self.drawn), put_in(ask, self.drawn)

    def number(self, answer: object) -> float:
        """Return an answer as it was typed as a number in ``unit``; nan if it is none."""
        return read_answer(answer, self.unit).value

    def solution(self) -> Solution:
        """Return the worked solution, as text by ``str`` and in LaTeX."""
        return solve(self.template, self.drawn)

    def curves(self, *names: str) -> AnswerCurves:
        """Return the right answer over one variable, and that of the mistakes of these names.

        Raises
        ------
        DomainError
            If the exercise says no curve, or has no mistake of a name.
        """
        return curves(self.template, self.drawn, names)

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON, without its answers."""
        return {
            "id": self.id,
            "lesson": self.template.lesson,
            "topic": self.template.topic,
            "text": self.text,
            "unit": self.unit,
            "expected": self.expected,
            "values": self.values,
            "shown": self.shown,
            "student": self.student,
            "sheet": self.sheet,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The worked solution of an exercise.

    Parameters
    ----------
    equations : tuple of str
        The equations with the numbers put in, in LaTeX.
    result : str
        The right answer with its unit.
    """

    equations: tuple[str, ...]
    result: str

    def __str__(self) -> str:
        return "\n".join(
            [*map(equations.plain, self.equations), phrase("Answer: {result}", result=self.result)]
        )


def solve(template: Template, drawn: Drawn) -> Solution:
    """Return the equation of the model, if the right formula is one, and the second way."""
    result = template.show_answer(drawn.right)
    second = "" if template.second is None else _written(template.second, drawn, result)
    lines = tuple(filter(None, (_model(template, drawn), second)))
    lines = lines or (_written(template.right, drawn, result),)
    return Solution(equations=lines, result=result)


def _model(template: Template, drawn: Drawn) -> str:
    """Return the equation of the model with the numbers put in, if it is the right formula."""
    arguments = template.right.arguments(drawn.values)
    if arguments is None:
        return ""
    formula = calculator.formula(template.right.model)
    return formula.equation_with(arguments, drawn.right) if formula.equation else ""


def _written(formula: Compiled, drawn: Drawn, result: str) -> str:
    writer = _Latex(formula)
    written = writer.of(formula.expression.tree)
    symbols = {writer.symbol(name): _quantity(drawn, name) for name in formula.used}
    return f"{equations.substitute(written, symbols)} = {equations.latex(result)}"


def _quantity(drawn: Drawn, name: str) -> str:
    text = drawn.shown[name]
    in_brackets = re.fullmatch(r".*\((.*)\)", text)  # T1 (1.544 Mbit/s)
    return in_brackets[1] if in_brackets else text


class _Latex:
    """Writes the tree of a formula in LaTeX."""

    def __init__(self, formula: Compiled) -> None:
        self.words = formula.expression.words

    def symbol(self, name: str) -> str:
        letter, rest = name[0], name[1:]
        return rf"{letter}_{{{rest}}}" if rest else letter

    def of(self, node: ast.expr, *, level: int = 0) -> str:
        match node:
            case ast.Name(id=identifier):
                word = self.words[int(identifier[1:])]
                return self.word(word)
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                return rf"\frac{{{self.of(left)}}}{{{self.of(right)}}}"
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                return rf"{self.of(left, level=3)}^{{{self.of(right)}}}"
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return rf"{self.of(left, level=2)} \cdot {self.of(right, level=2)}"
            case ast.BinOp(op=sign, left=left, right=right):
                mark = "+" if isinstance(sign, ast.Add) else "-"
                inner = f"{self.of(left)} {mark} {self.of(right, level=1)}"
                return rf"\left({inner}\right)" if level else inner
            case ast.UnaryOp(op=sign, operand=operand):
                mark = "-" if isinstance(sign, ast.USub) else ""
                return f"{mark}{self.of(operand, level=2)}"
            case ast.Call(func=ast.Name(id=identifier), args=items, keywords=keywords):
                return self.call(str(self.words[int(identifier[1:])]), items, keywords)
            case ast.Attribute(value=inner):
                return self.of(inner)
            case ast.List(elts=items):
                return ", ".join(map(self.of, items))
        return r"\dots"

    def word(self, word: Quantity | str) -> str:
        if isinstance(word, Quantity):
            return equations.latex(str(word))
        return self.symbol(word) if re.fullmatch(r"\w+", word) else rf"\mathrm{{{word}}}"

    def call(self, name: str, items: list[ast.expr], keywords: list[ast.keyword]) -> str:
        inner = ", ".join([*map(self.of, items), *(self.of(word.value) for word in keywords)])
        brackets = {"ceil": (r"\lceil ", r" \rceil"), "floor": (r"\lfloor ", r" \rfloor")}
        if name in brackets:
            return inner.join(brackets[name])
        if name == "sqrt":
            return rf"\sqrt{{{inner}}}"
        if name in FUNCTIONS:
            shown = {"log2": r"\log_2", "log": r"\ln", "min": r"\min", "max": r"\max"}
            called = shown.get(name) or rf"\mathrm{{{name}}}"
            return f"{called}({inner})"
        return rf"\mathrm{{{name.replace('_', ' ')}}}({inner})"


FloatArray: TypeAlias = NDArray[np.float64]

POINTS = 121
"""Points of a curve, at equal ratios: 24 a decade over five decades."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCurves:
    """Curves and points for the figure of an answer.

    Parameters
    ----------
    x_name, x_unit, y_unit : str
        The variable that the figure is drawn over, its SI unit, and that of the answer.
    x : numpy.ndarray
        Values of the variable.
    right : numpy.ndarray
        The right answer at each of them; nan where there is none.
    wrong : mapping of str to numpy.ndarray
        The answers of the wrong formulas asked for, by the name of the mistake.
    own_x : float
        The value of the variable in the question: where the answer of the student belongs.
    points_set : str
        Name of the measured data set; empty if there is none.
    points_x, points_y : numpy.ndarray
        Its points, in the same units.
    """

    x_name: str
    x_unit: str
    y_unit: str
    x: FloatArray
    right: FloatArray
    wrong: dict[str, FloatArray]
    own_x: float
    points_set: str = ""
    points_x: FloatArray = field(default_factory=lambda: np.empty(0))
    points_y: FloatArray = field(default_factory=lambda: np.empty(0))


def curves(template: Template, drawn: Drawn, names: tuple[str, ...]) -> AnswerCurves:
    """Compute the curves of a question.

    Raises
    ------
    DomainError
        If the exercise says no curve, or has no mistake of a name.
    DatasetError
        If the data set is missing.
    """
    about = template.curve
    if not about:
        raise DomainError("exercise-without-curve", "exercise", template.id)
    unknown = next((name for name in names if name not in template.mistakes), None)
    if unknown is not None:
        raise DomainError(
            "exercise-mistake-unknown", "name", excerpt(unknown), exercise=template.id,
            known=list(template.mistakes),
        )  # fmt: skip
    variable = next(item for item in template.variables if item.name == about["x"])

    def over(formula: Compiled) -> FloatArray:
        return np.array(
            [_at(formula, {**drawn.values, variable.name: value}) for value in x.tolist()]
        )

    low, high = (units.parse_typed(about[end], variable.unit) for end in ("low", "high"))
    x = np.geomspace(low, high, POINTS)
    points_x = points_y = np.empty(0)
    if about.get("points"):
        columns = datasets.load(about["points"]).columns()
        points_x, points_y = (
            np.asarray(columns[about[axis]], dtype=float) for axis in ("point_x", "point_y")
        )
    return AnswerCurves(
        x_name=variable.name,
        x_unit=variable.unit,
        y_unit=template.unit,
        x=x,
        right=over(template.right),
        wrong={name: over(template.mistake(name).formula) for name in names},
        own_x=drawn.values[variable.name],
        points_set=about.get("points", ""),
        points_x=points_x,
        points_y=points_y,
    )


def _at(formula: Compiled, values: dict[str, float]) -> float:
    try:
        return formula(values)
    except NetcalcError:
        return math.nan
