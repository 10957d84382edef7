"""The worked solution: the equations with the numbers put in."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from netcalc import calculator, equations
from netcalc.claims.quantity import Quantity
from netcalc.exercises._drawing import Drawn
from netcalc.exercises._formula import FUNCTIONS, Compiled
from netcalc.exercises._template import Template
from netcalc.language import phrase


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
    lines = [line for line in (_model(template, drawn), _second(template, drawn, result)) if line]
    if not lines:
        lines = [_written(template.right, drawn, result)]
    return Solution(equations=tuple(lines), result=result)


def _model(template: Template, drawn: Drawn) -> str:
    """Return the equation of the model with the numbers put in, if it is the right formula."""
    arguments = template.right.arguments(drawn.values)
    if arguments is None:
        return ""
    formula = calculator.formula(template.right.model)
    return formula.equation_with(arguments, drawn.right) if formula.equation else ""


def _second(template: Template, drawn: Drawn, result: str) -> str:
    return "" if template.second is None else _written(template.second, drawn, result)


def _written(formula: Compiled, drawn: Drawn, result: str) -> str:
    writer = _Latex(formula)
    written = writer.of(formula.expression.tree)
    symbols = {writer.symbol(name): _quantity(drawn, name) for name in formula.used}
    return f"{equations.substitute(written, symbols)} = {equations.latex(result)}"


def _quantity(drawn: Drawn, name: str) -> str:
    text = drawn.shown[name]
    found = re.fullmatch(r".*\((.*)\)", text)  # T1 (1.544 Mbit/s)
    return found[1] if found else text


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
