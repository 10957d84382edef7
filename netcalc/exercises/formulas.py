"""Formulas of exercises: the language of claims, compiled once and computed with plain SI numbers.

>>> compiled = compile_formula("d + 8 * N / R", names={"d", "N", "R"})
>>> compiled({"d": 0.25, "N": 1e6, "R": 8e6})
1.25

A formula is read by the parser of :mod:`netcalc.claims`, and none of it is executed as Python.
Here each quantity is a plain number in its SI unit (a size in bytes, a rate in bit/s, a time in s),
and no units are checked, as a wrong formula may well add bytes to bits.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np

from netcalc import calculator, units
from netcalc.calculator import Parameter
from netcalc.claims.expression import (
    Expression,
    Quantity,
    arguments_of,
    evaluate_expression,
    function_of,
    parse_readings,
    without_unit,
)
from netcalc.errors import DomainError, NetcalcError, UnitError, doubts

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
    expression: Expression
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
    readings = parse_readings(text)
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

    def __init__(self, expression: Expression, names: frozenset[str]) -> None:
        self.words = expression.words
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

    def name(self, word: Quantity | str) -> Node:
        if isinstance(word, Quantity):
            number = _plain(word)
            return lambda values: number
        if word in self.names:
            self.used.add(word)
            return lambda values: values[word]
        try:
            quantity = evaluate_expression(Expression(ast.Name("_0"), (word,)), _unknown)
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
            numbers = _plain_row(evaluate_expression(Expression(node, self.words), _unknown))
            return lambda values: numbers
        if called in FUNCTIONS:
            return self.function(called, node.args, keywords)
        return self.model(called, node.args, keywords, column)

    def function(self, name: str, items: list[ast.expr], keywords: Mapping[str, ast.expr]) -> Node:
        parts = [self.node(item) for item in items]
        self.last_call = "", {}
        function = function_of(FUNCTIONS, name, len(items), keywords)
        return lambda values: function(*[part(values) for part in parts])

    def model(
        self, name: str, items: list[ast.expr], keywords: Mapping[str, ast.expr], column: str
    ) -> Node:
        formula = calculator.formula(name)
        parts = arguments_of(name, formula, items, keywords, self.argument)
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


def _plain(quantity: Quantity) -> float:
    return float(_plain_row(quantity).reshape(()))


def _plain_row(quantity: Quantity) -> Any:
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
        if plain in (column, without_unit(column)):
            return value
    names = [without_unit(column) for column in columns]
    if not name:
        raise DomainError("several-columns", "result", columns=names, example=names[0])
    raise DomainError("not-a-choice", "column", name, choices=names)


def _unknown(name: str) -> Quantity:
    code = "unknown-variable-with-minus" if "-" in name else "unknown-variable"
    raise DomainError(code, "name", name)


def is_line(name: str) -> bool:
    """Whether a name is that of a line, such as T1, which no variable may have."""
    try:
        units.line(name)
    except UnitError:
        return False
    return True
