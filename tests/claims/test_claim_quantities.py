"""Quantities of the formula language: units, dimensions, arithmetic and the words of messages."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.claims import Quantity
from netcalc.claims.expression import row
from netcalc.errors import DomainError, UnitError


@pytest.mark.each(
    ("unit", "dimensions", "size", "source"),
    [
        ("1", (0, 0, 0), 1, "identity"),
        ("ratio", (0, 0, 0), 1, "identity"),
        ("bool", (0, 0, 0), 1, "identity"),
        ("bit", (1, 0, 0), 1, "identity"),
        ("byte", (1, 0, 0), 8, "published: IEC 80000-13, an octet has 8 bits"),
        ("bit/s", (1, -1, 0), 1, "identity"),
        ("s", (0, 1, 0), 1, "identity"),
        ("s/packet", (0, 1, 0), 1, "identity: packets are counted"),
        ("packet/s", (0, -1, 0), 1, "identity: packets are counted"),
        ("s/byte", (-1, 1, 0), 1 / 8, "derived: one byte is 8 bits"),
        ("m", (0, 0, 1), 1, "identity"),
        ("m/s", (0, -1, 1), 1, "identity"),
    ],
)
def test_units(unit, dimensions, size, source):
    quantity = Quantity.of(3, unit)
    assert quantity.dimensions == dimensions, source
    assert float(quantity.value) == 3 * size, source
    assert float(quantity.to(unit)) == 3


def test_each_dimension_has_one_name():
    # The first of several units is the general one.
    names = {
        "1": "1", "ratio": "1", "byte": "byte", "bit": "byte", "bit/s": "bit/s", "s": "s",
        "s/packet": "s", "packet/s": "packet/s", "s/byte": "s/byte", "m": "m", "m/s": "m/s",
    }  # fmt: skip
    assert {unit: Quantity.of(1, unit).unit for unit in names} == names


@pytest.mark.each(
    ("result", "dimensions", "value", "source"),
    [
        (Quantity.of(2, "s") + Quantity.of(3, "s"), (0, 1, 0), 5, "identity"),
        (Quantity.of(2, "s") - Quantity.of(3, "s"), (0, 1, 0), -1, "identity"),
        (-Quantity.of(2, "m"), (0, 0, 1), -2, "identity"),
        (Quantity.of(6, "m") * Quantity.of(2, "s"), (0, 1, 1), 12, "identity"),
        (Quantity.of(6, "m") / Quantity.of(2, "s"), (0, -1, 1), 3, "identity"),
        (Quantity.of(6, "bit/s") / Quantity.of(2, "s/byte"), (2, -2, 0), 24, "derived: 6 / 0.25"),
        (Quantity.of(6, "bit/s") * Quantity.of(2, "s/byte"), (0, 0, 0), 1.5, "derived: 6 * 0.25"),
        (Quantity.of(5, "m/s") ** Quantity.of(2, "1"), (0, -2, 2), 25, "identity"),
        (Quantity.of(2, "m/s") ** Quantity.of(3, "1"), (0, -3, 3), 8, "identity"),
        (Quantity.of(2, "m") ** Quantity.of(-2, "1"), (0, 0, -2), 0.25, "identity"),
        (Quantity.of(2, "bit/s") ** Quantity.of(-1, "1"), (-1, 1, 0), 0.5, "identity"),
        (Quantity.of(2, "bit/s") ** Quantity.of(1, "1"), (1, -1, 0), 2, "identity"),
        (Quantity.of(2, "m") ** Quantity.of(0, "1"), (0, 0, 0), 1, "identity"),
        (Quantity.of(9, "1") ** Quantity.of(0.5, "1"), (0, 0, 0), 3, "identity"),
        (Quantity.of(2, "1") ** Quantity.of(10, "1"), (0, 0, 0), 1024, "identity"),
    ],
)
def test_arithmetic(result, dimensions, value, source):
    assert (result.dimensions, float(result.value)) == (dimensions, value), source


@pytest.mark.each(
    ("compute", "code", "expected", "sentence"),
    [
        (lambda: Quantity.of(2, "s") + Quantity.of(3, "m"), "cannot-add", "a time",
         "'3 m' is a distance and cannot be added to a time"),
        (lambda: Quantity.of(2, "s") - Quantity.of(3, "m"), "cannot-subtract", "a time",
         "'3 m' is a distance and cannot be subtracted from a time"),
        (lambda: row([Quantity.of(2, "s"), Quantity.of(3, "m")]), "cannot-join", "a time",
         "'3 m' is a distance and cannot be in one list with a time"),
        (lambda: Quantity.of(3, "m").to("s"), "wrong-kind", "a time such as 30 ms",
         "'3 m' is a distance, not a time such as 30 ms"),
    ],
)  # fmt: skip
def test_units_that_do_not_match(compute, code, expected, sentence):
    with pytest.raises(UnitError) as refusal:
        compute()
    assert (refusal.value.code, refusal.value.text) == (code, "3 m")
    assert (refusal.value.expected, refusal.value.values["kind"]) == (expected, "a distance")
    assert str(refusal.value) == sentence


@pytest.mark.each(
    ("compute", "name", "code"),
    [
        (lambda: Quantity.of(2, "s") / Quantity.of(0, "s"), "divisor", "division-by-zero"),
        (lambda: Quantity.of(2, "s") / Quantity.of([1, 0], "s"), "divisor", "division-by-zero"),
        (lambda: Quantity.of(2, "s") ** Quantity.of(4, "1"), "exponent", "exponent-out-of-range"),
        (lambda: Quantity.of(2, "s") ** Quantity.of(-3, "1"), "exponent", "exponent-out-of-range"),
        (lambda: Quantity.of(2, "s") ** Quantity.of(1.5, "1"), "exponent", "exponent-out-of-range"),
        (lambda: Quantity.of(2, "1") ** Quantity.of(1, "s"), "exponent", "exponent-with-unit"),
        (lambda: Quantity.of(2, "1") ** Quantity.of([1, 2], "1"), "exponent", "exponent-with-unit"),
        (lambda: row([]), "list", "empty-list"),
    ],
)
def test_what_cannot_be_computed(compute, name, code):
    with pytest.raises(DomainError) as refusal:
        compute()
    assert (refusal.value.name, refusal.value.code) == (name, code)
    assert str(refusal.value), "has a sentence"


def test_rows():
    joined = row([Quantity.of(1, "byte"), Quantity.of([2, 3], "byte"), Quantity.of(8, "bit")])
    np.testing.assert_array_equal(joined.to("byte"), [1, 2, 3, 1])
    assert joined.dimensions == (1, 0, 0)
    halved = joined.reduced(lambda values: values / 2)
    np.testing.assert_array_equal(halved.to("bit"), [4, 8, 12, 4])
    assert halved.dimensions == (1, 0, 0)


def test_quantities_in_messages():
    assert str(Quantity.of(0.03, "s")) == "30 ms"
    assert str(Quantity.of([1, 2], "s")) == "2 numbers"
    assert str(Quantity.of([1], "s")) == "1 numbers"
    assert Quantity.of(1, "s").kind == "a time"
    assert Quantity.of(1, "byte").kind == "a size"
    squared = Quantity.of(3, "byte") * Quantity.of(2, "byte")
    assert (squared.unit, squared.kind, str(squared)) == ("", "bit^2", "384 bit^2")
    mixed = Quantity.of(3, "m") / Quantity.of(2, "s") / Quantity.of(1, "s")
    assert mixed.kind == "s^-2 m^1"


def test_an_unknown_unit_is_refused():
    with pytest.raises(UnitError) as refusal:
        Quantity.of(1, "yuan")
    assert (refusal.value.code, refusal.value.text) == ("kind-unknown", "yuan")
    assert refusal.value.values["known"][:2] == ["1", "ratio"]
