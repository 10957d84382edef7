"""Numbers as people read them, against the rounding of Python's decimal module and by hand."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from netcalc.display import show

STEPS = {
    "bit/s": {"Tbit/s": 12, "Gbit/s": 9, "Mbit/s": 6, "kbit/s": 3, "bit/s": 0},
    "bit": {"Tbit": 12, "Gbit": 9, "Mbit": 6, "kbit": 3, "bit": 0},
    "s": {"s": 0, "ms": -3, "µs": -6, "ns": -9},
    "s/byte": {"s/B": 0, "ms/B": -3, "µs/B": -6, "ns/B": -9},
    "packet/s": {"Gpps": 9, "Mpps": 6, "kpps": 3, "pps": 0},
    "m": {"km": 3, "m": 0},
    "m/s": {"km/s": 3, "m/s": 0},
}
"""The prefixes as powers of ten, in the order in which they are tried."""
LATER = {"packet/s": {"kpps": 4}}
"""Prefixes that start at another power: 8127 pps are said so."""


@pytest.mark.parametrize("unit", STEPS)
@given(mantissa=st.integers(1000, 9999), power=st.integers(-12, 11), sign=st.sampled_from((1, -1)))
def test_prefixes(unit, mantissa, power, sign):
    """derived: the largest prefix below the number, and the number in it, in whole arithmetic."""
    exact = Decimal(mantissa).scaleb(power - 3)
    assume(unit != "s" or exact < 86_000)
    names = STEPS[unit]
    fitting = [
        name for name, at in names.items()
        if exact >= Decimal(1).scaleb(LATER.get(unit, {}).get(name, at))
    ] or [list(names)[-1]]  # fmt: skip
    number, _, name = show(sign * float(exact), unit).partition(" ")
    assert name == fitting[0]
    assert Decimal(number) == sign * exact.scaleb(-names[fitting[0]])


@given(mantissa=st.integers(1000, 9999), power=st.integers(5, 15))
def test_a_long_time_is_in_days_or_years(mantissa, power):
    """derived: 86,400 s in a day, 365.25 days in a year; years from two on."""
    exact = Decimal(mantissa).scaleb(power - 3)
    number, _, name = show(float(exact), "s").partition(" ")
    year = Decimal("31557600")
    assert name == ("years" if exact >= 2 * year else "d")
    expected = exact / (year if name == "years" else 86_400)
    assert abs(Decimal(number) / expected - 1) < Decimal("0.0006")


@given(st.floats(1e5, 1e300))
def test_every_bit_of_a_long_time_is_kept(value):
    assert float(show(value, "s", digits=17).removesuffix(" s")) == value  # identity


@pytest.mark.each(
    ("value", "unit", "expected"),
    [
        (9999.0, "byte", "9999 B"), (10_000.0, "byte", "10 kB"), (999_949.0, "byte", "999.9 kB"),
        (999_950.0, "byte", "1 MB"), (1e9, "byte", "1 GB"), (1.5e12, "byte", "1.5 TB"),
        (10_240.0, "byte", "10.24 kB"), (65_536.0, "byte", "64 KiB"),
        (-65_536.0, "byte", "-64 KiB"),
        (1_048_576.0, "byte", "1 MiB"), (2.0**30, "byte", "1 GiB"), (2.0**40, "byte", "1 TiB"),
        (2.0**20 + 2.0**10, "byte", "1025 KiB"), (9999 * 1024.0, "byte", "9999 KiB"),
        (10_001 * 1024.0, "byte", "10.24 MB"), (10_001 * 2.0**20, "byte", "10.49 GB"),
        (8192.0, "byte", "8192 B"), (65_537.0, "byte", "65.54 kB"), (2.0**54 + 2**34, "byte",
        "18.01 PB"),
        (999.96e3, "bit/s", "1 Mbit/s"), (999.94e3, "bit/s", "999.9 kbit/s"), (0.5, "bit/s",
        "0.5 bit/s"),
        (0.0, "s", "0 s"), (math.inf, "s", "inf s"), (-math.inf, "bit/s", "-inf bit/s"),
        (math.nan, "s", "not defined"), (math.nan, "1", "nan"), (0.0, "byte", "0 B"),
        (math.nan, "ratio", "not defined"), (math.inf, "ratio", "inf%"),
        (0.03, "ratio", "3%"), (1.0, "ratio", "100%"), (0.0, "ratio", "0%"), (1e-5, "ratio",
        "0.001%"),
        (9.99e-6, "ratio", "9.99 ppm"), (-9.99e-6, "ratio", "-9.99 ppm"), (1e-9, "ratio",
        "0.001 ppm"), (9.9e-10, "ratio", "9.9e-10 ratio"), (123.0, "ratio", "12300%"),
        (1234567.0, "1", "1.235e+06"), (0.25, "1", "0.25"), (3.0, "erlang", "3 erlang"),
        (12344.0, "s", "12340 s"), (1e-13, "s", "0.0001 ns"), (86_399.0, "s", "1 d"),
        (86_344.0, "s", "86340 s"), (86_400.0, "s", "1 d"), (123_456.0, "s", "1.429 d"),
        (-172_800.0, "s", "-2 d"), (63_113_000.0, "s", "730.5 d"), (63_115_200.0, "s", "2 years"),
        (31_557_600e3, "s", "1000 years"),
        (1e20, "dB", "1e+20 dB"), (1e15, "dB", "1e+15 dB"),
        (9.99e14, "dB", "999000000000000 dB"),
    ],
)  # fmt: skip
def test_numbers_by_hand(value, unit, expected):
    """By hand, from the rules in the docstring of ``show``."""
    assert show(value, unit) == expected


@pytest.mark.parametrize("digits", [1, 2, 3, 6, 15])
@given(value=st.floats(1.0, 9.99e2))
def test_digits(digits, value):
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    rounded = context.create_decimal(Decimal(value))
    number, _, unit = show(value, "bit", digits=digits).partition(" ")
    factor = {"bit": 1, "kbit": 1000}[unit]
    assert Decimal(number) * factor == rounded
