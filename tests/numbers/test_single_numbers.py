"""A number in, a number out: Python's own; `typed_calls.py` has it judged by the type checker."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

from netcalc import calculator
from netcalc.errors import DomainError

BASE = runpy.run_path(str(Path(__file__).parents[1] / "models" / "base_arguments.py"))["BASE"]


@pytest.mark.each("name", calculator.formulas(), ids=calculator.formulas())
def test_no_model_gives_an_array_without_dimensions(name):
    result = calculator.formula(name).evaluate(BASE[name])
    for column in result if hasattr(result, "_asdict") else [result]:
        assert not isinstance(column, np.generic)
        assert not (isinstance(column, np.ndarray) and column.ndim == 0)


def literal_choices():
    """Yield the text arguments, with what the type checker lets through."""
    for name, formula in calculator.formulas().items():
        hints = get_type_hints(inspect.unwrap(formula.function))
        for parameter in formula.parameters:
            if parameter.kind in ("choice", "text"):
                yield f"{name}.{parameter.name}", parameter, get_args(hints[parameter.name])


COMPOSED = ("stack", "suite")
"""Texts that are put together from parts, so that no list has them all."""
OPEN = ("small_writes.delayed_ack_s.system", "small_writes.delayed_ack_s.statistic")


def test_choices_of_text_are_literal():
    for name, parameter, allowed in literal_choices():
        if parameter.name in COMPOSED or name in OPEN:
            continue
        assert allowed, name
        if parameter.kind == "choice":
            assert allowed == parameter.choices, name


@pytest.mark.each(
    ("name", "arguments", "argument"),
    [
        ("atm-overhead", {}, "encapsulation"),
        ("round-trips", {}, "transport"),
        ("handshakes.segments", {}, "ladder"),
    ],
)
def test_every_literal_of_a_table_is_taken(name, arguments, argument):
    formula = calculator.formula(name)
    allowed = get_args(get_type_hints(inspect.unwrap(formula.function))[argument])
    for word in allowed:
        formula.function(word, **arguments)
    with pytest.raises(DomainError) as error:
        formula.function("", **arguments)
    assert list(allowed) == list(error.value.values["choices"])
