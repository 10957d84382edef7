"""What tests of readers look at: warnings, facts, columns and refusals."""

from __future__ import annotations

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read


def codes(samples):
    return [notice.code for notice in samples.meta.warnings]


def noted(samples):
    return [(one.code, dict(one.values)) for one in samples.meta.warnings]


def implausible(*lines):
    """The warning about values that count as unknown, of pairs of a line and what is in it."""
    numbers, shown = [line for line, _ in lines], [text for _, text in lines]
    return "implausible-lines", {"numbers": numbers, "values": shown}


def fact(samples, *names, row=0):
    return tuple(samples.facts()[row].get(name) for name in names)


def facts(samples, *names):
    return [tuple(row.get(name) for name in names) for row in samples.facts()]


def values(column):
    return [None if one != one else float(one) for one in column.tolist()]


def near(value):
    """Return a value to compare with: a number but for its last digits."""
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value


def refused(text):
    with pytest.raises(ReaderError) as error:
        read(text, name="a.txt")
    return error.value
