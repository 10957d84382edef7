"""Every equation: its symbols are the parameters, and numbers can be put in for them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from base_arguments import BASE

from netcalc import calculator, equations

TABLE = Path(__file__).parents[1] / "models" / "base_arguments.py"
FORMULAS = calculator.formulas()
EVERY_MODEL = pytest.mark.each("formula", FORMULAS.values(), ids=FORMULAS)


@EVERY_MODEL
def test_every_parameter_has_a_symbol_or_is_named_as_not_in_the_equation(formula):
    absent = formula._symbols_text.partition("Not in the equation: ")[2]
    named = set(re.findall(r"\w+", absent)) & {p.name for p in formula.parameters}
    with_symbol = set(formula.symbols.values()) - {"result"}
    assert named | with_symbol == {p.name for p in formula.parameters}
    assert not named & with_symbol


@EVERY_MODEL
def test_every_symbol_stands_in_the_equation(formula):
    for symbol in formula.symbols:
        assert equations.substitute(formula.equation, {symbol: "7"}) != formula.equation, symbol


def as_text(quantity):
    return equations.plain(equations.latex(quantity))


@EVERY_MODEL
def test_the_equation_with_numbers(formula):
    arguments = BASE[formula.name]
    result = formula.evaluate(arguments)
    written = formula.equation_with(arguments, result)
    for opening, closing in ("{}", (r"\left", r"\right"), (r"\lceil", r"\rceil")):
        assert written.count(opening) == written.count(closing)
    text = formula.equation_text(arguments, result)
    assert "\\" not in text
    assert text.count("(") == text.count(")")
    for symbol, name in formula.symbols.items():
        parameter = formula.parameter(name) if name != "result" else None
        if parameter is None or parameter.kind not in ("number",) or parameter.name == "ip_version":
            continue
        value = arguments.get(name, parameter.default)
        if parameter.unit not in ("1", "ratio", "bool") and np.isfinite(value):
            assert as_text(parameter.show(value, digits=6)) in text, symbol
    if not isinstance(result, tuple) and np.ndim(result) == 0:
        assert as_text(calculator.show(result, formula.unit)) in text
