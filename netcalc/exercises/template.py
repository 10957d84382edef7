"""What an exercise is, without its numbers and with them, and the formulas in it.

A template has the text, the variables, the right formula and the wrong ones with names. Numbers are
drawn for a student from a hash, again until the answers can be told apart.

>>> compiled = compile_formula("d + 8 * N / R", names={"d", "N", "R"})
>>> compiled({"d": 0.25, "N": 1e6, "R": 8e6})
1.25

A formula is in the language of claims, compiled once: it is read by the parser of
:mod:`netcalc.claims`, and none of it is executed as Python. Here each quantity is a plain number in
its SI unit (a size in bytes, a rate in bit/s, a time in s), and no units are checked, as a wrong
formula may well add bytes to bits.
"""

from __future__ import annotations

import ast
import hashlib
import math
import operator
import re
import time
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from dataclasses import field as dataclass_field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from netcalc import calculator, units
from netcalc.calculator import Parameter
from netcalc.claims import expression
from netcalc.documents import Place
from netcalc.errors import DomainError, NetcalcError, ReaderError, UnitError, doubts

Values: TypeAlias = Mapping[str, float]
Node: TypeAlias = Callable[[Values], Any]

MOST_NUMBERS = 10_000
"""Longest row of numbers that a formula may be computed with."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A formula that is ready to be computed.

    Parameters
    ----------
    text : str
        The formula as written.
    expression : Expression
        Its syntax tree.
    node : callable
        Computes it from the variables.
    used : frozenset of str
        The variables in it.
    model : str
        Name of the model that the formula is a call of; empty if it is more than one call.
    parts : mapping of str to callable
        The arguments of that call.
    """

    text: str
    expression: expression.Expression
    node: Node
    used: frozenset[str]
    model: str = ""
    parts: Mapping[str, Node] = field(default_factory=dict)

    def __call__(self, values: Values) -> float:
        """Return the result for the values of the variables, in SI units.

        Raises
        ------
        DomainError
            If there is none: a division by zero, a number that is not finite, a refused argument.
        """
        try:
            with np.errstate(all="ignore"), doubts():
                row = np.ravel(np.asarray(self.node(values), dtype=float))
                if row.size != 1:
                    raise DomainError("formula-not-one-number", "formula", row.size)
                number = float(row[0])
        except NetcalcError:
            raise
        except (ArithmeticError, ValueError, TypeError) as error:
            raise DomainError("not-computable", "formula", reason=str(error.args[-1])) from None
        if not math.isfinite(number):
            raise DomainError("result-not-finite", "result", number)
        return number

    def arguments(self, values: Values) -> dict[str, Any] | None:
        """Return the arguments of the model that the formula is a call of; None if it is none."""
        return {name: node(values) for name, node in self.parts.items()} if self.model else None


def compile_formula(text: str, *, names: Collection[str]) -> Compiled:
    """Read a formula whose variables have the given names.

    Raises
    ------
    UnitError
        If the text is not a formula.
    DomainError
        If a variable, a model or an argument is unknown.
    """
    readings = expression.parse_readings(text)
    if len(readings) > 1:
        raise UnitError("formula-several", text, expected="a formula")
    compiler = _Compiler(readings[0], frozenset(names))
    tree = readings[0].tree
    node = compiler.node(tree)
    model, parts = compiler.last_call if isinstance(tree, ast.Call) else ("", {})
    return Compiled(text, readings[0], node, frozenset(compiler.used), model, parts)


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda base, power: _power(base, power),
}


def _power(base: Any, power: Any) -> Any:
    result = base**power
    if isinstance(result, complex):
        raise DomainError("not-computable", "formula", reason="a root of a negative number")
    return result


def _over(function: Callable[[Any], Any]) -> Callable[..., float]:
    def reduced(*items: Any) -> float:
        return float(function(np.concatenate([np.ravel(item) for item in items])))

    return reduced


def _item(items: Any, index: float) -> float:
    row = np.ravel(items)
    if index not in range(1, row.size + 1):
        raise DomainError("out-of-range", "item", index, low=1, high=row.size)
    return float(row[int(index) - 1])


def _rest(items: Any) -> Any:
    row = np.ravel(items)
    if row.size < 2:
        raise DomainError("too-few-numbers", "rest", row.size, expected=2)
    return row[1:]


def _whole(function: Callable[[float], float]) -> Callable[[Any], float]:
    def rounded(value: Any) -> float:
        number = float(value)
        near = round(number)  # 3.0000000000000004 fragments are three
        return float(near if abs(number - near) <= 1e-9 * max(1.0, abs(near)) else function(number))

    return rounded


FUNCTIONS: dict[str, tuple[Callable[..., Any], int, float]] = {
    "min": (_over(np.min), 1, np.inf),
    "max": (_over(np.max), 1, np.inf),
    "sum": (_over(np.sum), 1, np.inf),
    "mean": (_over(np.mean), 1, np.inf),
    "median": (_over(np.median), 1, np.inf),
    "count": (_over(np.size), 1, np.inf),
    "round": (_whole(round), 1, 1),
    "floor": (_whole(math.floor), 1, 1),
    "ceil": (_whole(math.ceil), 1, 1),
    "item": (_item, 2, 2),
    "rest": (_rest, 1, 1),
    "sqrt": (math.sqrt, 1, 1),
    "log": (math.log, 1, 1),
    "log2": (math.log2, 1, 1),
    "exp": (math.exp, 1, 1),
}
"""The functions of claims with plain numbers, and four more: ``log`` is the natural logarithm."""


class _Compiler:
    """Turns a syntax tree into functions of the variables."""

    def __init__(self, parsed: expression.Expression, names: frozenset[str]) -> None:
        self.words = parsed.words
        self.names = names
        self.used: set[str] = set()
        self.last_call: tuple[str, dict[str, Node]] = ("", {})

    def node(self, node: ast.expr) -> Node:
        match node:
            case ast.Name(id=identifier):
                return self.name(self.words[int(identifier[1:])])
            case ast.List(elts=items):
                parts = [self.node(item) for item in items]
                return lambda values: _row([part(values) for part in parts])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.node(operand)
                return lambda values: -inner(values)
            case ast.UnaryOp(operand=operand):
                return self.node(operand)
            case ast.BinOp(op=sign, left=left, right=right):
                first, second = self.node(left), self.node(right)
                combine = _OPERATORS[type(sign)]
                return lambda values: combine(first(values), second(values))
            case ast.Attribute(value=ast.Call() as call, attr=identifier):
                return self.call(call, column=self.text(ast.Name(identifier)) or "")
            case ast.Attribute():
                raise DomainError("call-of-result", "call")
            case ast.Call():
                return self.call(node)
            case ast.Constant(value=text):
                raise DomainError("text-for-quantity", "text", str(text))
        raise DomainError("call-of-result", "call")

    def name(self, word: expression.Quantity | str) -> Node:
        if isinstance(word, expression.Quantity):
            number = _plain(word)
            return lambda values: number
        if word in self.names:
            self.used.add(word)
            return lambda values: values[word]
        try:
            quantity = expression.evaluate_expression(
                expression.Expression(ast.Name("_0"), (word,)), _unknown
            )
        except DomainError as error:
            suggestions = get_close_matches(word, self.names, n=1)
            if error.code == "unknown-variable" and suggestions:
                error.values["suggestions"] = suggestions
            raise
        number = _plain(quantity)
        return lambda values: number

    def text(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant):
            return str(node.value)
        word = self.words[int(node.id[1:])] if isinstance(node, ast.Name) else None
        return word if isinstance(word, str) else None

    def call(self, node: ast.Call, *, column: str = "") -> Node:
        called = self.text(node.func) if isinstance(node.func, ast.Name) else None
        if called is None:
            raise DomainError("call-of-result", "call")
        keywords: dict[str, ast.expr] = {}
        for keyword in node.keywords:
            name = self.text(ast.Name(keyword.arg)) if keyword.arg else None
            if name is None:
                raise DomainError("quantity-for-name", "name", keyword.arg or "**")
            if name in keywords:
                raise DomainError("given-twice", name)
            keywords[name] = keyword.value
        if called == "data":
            numbers = _plain_row(
                expression.evaluate_expression(expression.Expression(node, self.words), _unknown)
            )
            return lambda values: numbers
        if called in FUNCTIONS:
            return self.function(called, node.args, keywords)
        return self.model(called, node.args, keywords, column)

    def function(self, name: str, items: list[ast.expr], keywords: Mapping[str, ast.expr]) -> Node:
        parts = [self.node(item) for item in items]
        self.last_call = "", {}
        function = expression.function_of(FUNCTIONS, name, len(items), keywords)
        return lambda values: function(*[part(values) for part in parts])

    def model(
        self, name: str, items: list[ast.expr], keywords: Mapping[str, ast.expr], column: str
    ) -> Node:
        formula = calculator.formula(name)
        parts = expression.arguments_of(name, formula, items, keywords, self.argument)
        for parameter in formula.parameters:
            if parameter.required and parameter.name not in parts:
                raise parameter.required_error()
        self.last_call = formula.name, parts
        first = formula.parameters[0].name
        function = formula.function

        def computed(values: Values) -> Any:
            arguments = {name: part(values) for name, part in parts.items()}
            lead = arguments.pop(first)
            result = function(lead, **arguments)
            return _column(result, column) if column or hasattr(result, "_asdict") else result

        return computed

    def argument(self, parameter: Parameter, node: ast.expr) -> Node:
        if parameter.kind in ("bool", "choice") or parameter.unit == "text":
            text = self.text(node)
            if text is None:
                raise DomainError("quantity-for-text", parameter.name)
            free = parameter.unit == "text" and not parameter.choices
            value = text if free else parameter.read(text)
            return lambda values: value
        return self.node(node)


def _plain(quantity: expression.Quantity) -> float:
    return float(_plain_row(quantity).reshape(()))


def _plain_row(quantity: expression.Quantity) -> Any:
    if not quantity.unit:
        raise UnitError("wrong-kind", str(quantity), expected="a quantity", kind=quantity.kind)
    return quantity.to(quantity.unit)


def _row(items: list[Any]) -> Any:
    if not items:
        raise DomainError("empty-list", "list")
    row = np.concatenate([np.ravel(item) for item in items])
    if row.size > MOST_NUMBERS:
        raise DomainError("not-computable", "formula", reason="too many numbers")
    return row


def _column(result: Any, name: str) -> Any:
    columns = result._asdict() if hasattr(result, "_asdict") else {}
    if not columns:
        raise DomainError("no-columns", "column", name)
    plain = name.replace("-", "_")
    for column, value in columns.items():
        if plain in (column, expression.without_unit(column)):
            return value
    names = [expression.without_unit(column) for column in columns]
    if not name:
        raise DomainError("several-columns", "result", columns=names, example=names[0])
    raise DomainError("not-a-choice", "column", name, choices=names)


def _unknown(name: str) -> expression.Quantity:
    code = "unknown-variable-with-minus" if "-" in name else "unknown-variable"
    raise DomainError(code, "name", name)


def is_line(name: str) -> bool:
    """Whether a name is that of a line, such as T1, which no variable may have."""
    try:
        units.line(name)
    except UnitError:
        return False
    return True


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
    for name, formula in {"right": template.right, **wrong}.items():
        try:
            formula(values)
        except NetcalcError:
            return name
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
