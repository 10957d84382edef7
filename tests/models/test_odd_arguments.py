"""Every public model with arguments of every kind that a user may have at hand.

What holds the same number must give the same result, and what holds none must be refused by name.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from base_arguments import BASE

from netcalc import calculator
from netcalc.errors import ArgumentTypeError, DomainError, NotFiniteWarning

CASES = [
    (formula, parameter.name)
    for formula in calculator.formulas().values()
    for parameter in formula.parameters
    if parameter.kind == "number"
]
FLAGS = [
    (formula, parameter.name)
    for formula in calculator.formulas().values()
    for parameter in formula.parameters
    if parameter.kind == "bool"
]
NO_FLAGS = [
    (formula, name, value)
    for formula, name in FLAGS
    for value in ("no", None, [True], {})
    # These take a list of flags, or none by default.
    if name not in ("unacked_small", "retransmitted") or value in ("no", {})
]
SINGLE_FLAGS = [(formula, name) for formula, name in FLAGS if name != "retransmitted"]
SAME = {
    "0-d": np.array,
    "long double": np.longdouble,
    "big-endian": lambda value: np.array(value, dtype=">f8"),
    "object": lambda value: np.array(value, dtype=object),
    "Decimal": lambda value: Decimal(repr(value)),
    "Fraction": Fraction,
}
NO_NUMBERS = {
    "text": "1", "bytes": b"1", "yes": True, "nothing": None, "complex": 1 + 0j,
    "lists of unequal length": [1.0, [2.0, 3.0]], "a set": {1.0}, "a time": np.timedelta64(1, "s"),
    "a generator": (number for number in (1.0,)),
}  # fmt: skip


def named(case):
    return case.name if isinstance(case, calculator.Formula) else str(case)


def arguments_of(formula):
    defaults = {p.name: p.default for p in formula.parameters if not p.required}
    return {**defaults, **BASE[formula.name]}


def columns(result):
    """The numbers of a result of one column or several; texts as they are."""
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def are_equal(result, expected):
    return all(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        for one, other in zip(columns(result), columns(expected), strict=True)
    )


@pytest.mark.slow
@pytest.mark.each(("formula", "name"), CASES, ids=named)
def test_the_same_number_in_any_form_gives_the_same(formula, name):
    """Identity: the number as a float of Python."""
    arguments = arguments_of(formula)
    value = float(arguments[name])
    expected = formula.evaluate({**arguments, name: value})
    for form, made in SAME.items():
        if np.isfinite(value) or form not in ("Decimal", "Fraction"):
            assert are_equal(formula.evaluate({**arguments, name: made(value)}), expected), form


@pytest.mark.each(("formula", "name"), CASES, ids=named)
def test_a_negative_zero_is_a_zero(formula, name):
    """Identity; a loss of -0.0, as rounding leaves it, is no loss and not -inf bit/s."""
    arguments = arguments_of(formula)
    try:
        expected = formula.evaluate({**arguments, name: 0.0})
    except DomainError:
        with pytest.raises(DomainError):
            formula.evaluate({**arguments, name: -0.0})
        return
    assert are_equal(formula.evaluate({**arguments, name: -0.0}), expected)


@pytest.mark.each(("formula", "name"), CASES, ids=named)
def test_what_is_no_number_is_refused_by_name(formula, name):
    arguments = arguments_of(formula)
    for what, value in NO_NUMBERS.items():
        if value is None and formula.parameter(name).default is None:
            continue  # it is left out
        with pytest.raises((ArgumentTypeError, DomainError)) as caught:
            formula.evaluate({**arguments, name: value})
        assert caught.type in (ArgumentTypeError, DomainError), what
        assert caught.value.values["name"] == name


@pytest.mark.each(("formula", "name", "value"), NO_FLAGS, ids=named)
def test_what_is_no_yes_or_no_is_refused_by_name(formula, name, value):
    """Python takes "no" for true."""
    arguments = arguments_of(formula)
    with pytest.raises(ArgumentTypeError) as refused:
        formula.evaluate({**arguments, name: value})
    assert refused.value.code in ("not-flags", "not-one-flag")
    assert refused.value.values["name"] == name


@pytest.mark.each(("formula", "name"), SINGLE_FLAGS, ids=named)
def test_yes_and_no_of_numpy_and_as_numbers_are_those_of_python(formula, name):
    arguments = arguments_of(formula)
    for value in (True, False):
        expected = formula.evaluate({**arguments, name: value})
        for same in (np.bool_(value), int(value), np.array(value)):
            assert are_equal(formula.evaluate({**arguments, name: same}), expected)


def test_a_masked_element_is_missing_and_its_neighbours_are_not():
    values = np.ma.masked_array([1e6, 2e6, 3e6], mask=[False, True, False])
    size = calculator.formula("latency.transfer_s")
    with pytest.warns(NotFiniteWarning, match="1 of 3"):
        times = size.evaluate({"payload_bytes": values, "bandwidth_bps": 8e6, "latency_s": 0.0})
    assert times == pytest.approx([1.0, np.nan, 3.0], nan_ok=True)  # derived: 8 N / R


@pytest.mark.each("stack", [["vxlan4"], None, 4])
def test_a_stack_or_a_suite_that_is_no_text_is_refused_by_name(stack):
    with pytest.raises(ArgumentTypeError) as refused:
        calculator.formula("tunnel_mtu").evaluate({"mtu_bytes": 1500, "stack": stack})
    assert (refused.value.code, refused.value.values["name"]) == ("not-text", "stack")
    with pytest.raises(ArgumentTypeError) as refused:
        calculator.formula("esp_packet").evaluate({"payload_bytes": 1500, "suite": stack})
    assert (refused.value.code, refused.value.values["name"]) == ("not-text", "suite")


@pytest.mark.each("rfc", [["rfc6928"], None, np.array(["rfc6928", "rfc3390"])])
def test_a_choice_that_is_no_text_is_refused_by_name(rfc):
    with pytest.raises(DomainError, match="rfc"):
        calculator.formula("initial_window").evaluate({"mss_bytes": 1460, "rfc": rfc})
