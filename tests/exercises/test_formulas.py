"""Formulas of exercises: the numbers of claims, in SI units."""

from __future__ import annotations

import ast
import math

import pytest

from netcalc import claims
from netcalc.claims.expression import FUNCTIONS, parse_readings
from netcalc.errors import NetcalcError
from netcalc.exercises import template
from netcalc.exercises.template import compile_formula

VALUES = {"a": 3.0, "b": 0.5, "N": 1e6, "R": 1e7}


@pytest.mark.each(
    ("text", "number"),
    [
        ("8 * N / R", 0.8),
        ("a ** 2 - b", 8.5),
        ("-a + +b", -2.5),
        ("2 ** -1", 0.5),
        ("30 ms", 0.03),
        ("1460 B", 1460.0),
        ("12 kbit", 1500.0),  # sizes are in bytes
        ("20 %", 0.2),
        ("T1", 1.544e6),
        ("T1 payload", 1.536e6),
        ("10 Mbit/s", 1e7),
        ("1 MB/s", 8e6),
        ("300 km", 3e5),
        ("min(a, b, 7)", 0.5),
        ("max([a, b])", 3.0),
        ("sum(a, b)", 3.5),
        ("mean(a, b)", 1.75),
        ("median([1, 2, 9])", 2.0),
        ("count([a, b, 1])", 3.0),
        ("item([a, b], 2)", 0.5),
        ("sum(rest([a, b, 1]))", 1.5),
        ("round(2.6)", 3.0),
        ("floor(2.6)", 2.0),
        ("ceil(2.1)", 3.0),
        ("ceil(3 * (0.1 + 0.2) / 0.3)", 3.0),  # not 4: 3.0000000000000004 is three
        ("sqrt(16)", 4.0),
        ("log2(8)", 3.0),
        ("log(exp(2))", 2.0),
        ("transfer(N, bandwidth=R, latency=b)", 1.3),
        ("datagram_mbufs(200 B).mbufs + 0", None),
    ],
)
def test_arithmetic_is_that_of_si_numbers(text, number):
    """The numbers follow from the definitions of the operations and units."""
    found = compile_formula(text, names=VALUES)(VALUES)
    if number is None:  # a column of several
        number = claims.evaluate("datagram_mbufs(200 B).mbufs").to("1").item()
    assert math.isclose(found, number, rel_tol=1e-12)


def test_every_call_of_a_model_in_the_book_has_the_same_result():
    """Claims compute with units, exercises without: a second way to the same number."""
    compared = 0
    for claim in claims.book():
        if not claim.formula or ";" in claim.formula:
            continue
        (reading,) = parse_readings(claim.formula)
        if not isinstance(reading.tree, ast.Call):
            continue
        try:
            wanted = claims.evaluate(claim.formula)
        except NetcalcError:  # refers to another claim
            continue
        if wanted.value.size != 1:
            continue
        found = compile_formula(claim.formula, names=())({})
        assert math.isclose(found, wanted.to(wanted.unit).item(), rel_tol=1e-9), claim.id
        compared += 1
    assert compared > 30


def test_every_function_of_claims_is_one_here():
    assert set(FUNCTIONS) <= set(template.FUNCTIONS)


def test_used_variables_are_known():
    assert compile_formula("a + 2 * N", names=VALUES).used == {"a", "N"}
