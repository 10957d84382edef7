"""What changes a file and not its measurement: blank lines in front, a byte order mark, the order
of the members of JSON. Every file that is read must give the same samples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netcalc.errors import ReaderError
from netcalc.readers import read

INPUTS = Path(__file__).parent / "inputs"
FILES = sorted(path for path in INPUTS.rglob("*") if path.is_file())


def with_blank_lines(text):
    return " \n\t\n" + text


def with_a_mark(text):
    return "\ufeff" + text


def with_members_in_order(text):
    return json.dumps(json.loads(text), sort_keys=True)


def of_file(name, data):
    """The facts and the rows of a file, each in any order; None where it is refused."""
    try:
        samples = read(data, name=name)
    except ReaderError:
        return None
    columns = samples.columns()
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    facts = (sorted((key, shown(value)) for key, value in row.items()) for row in samples.facts())
    return sorted(columns), sorted(facts), sorted(list(map(shown, row)) for row in rows)


def shown(value):
    """A value as text, a number without its last digits: a sum depends on its order."""
    return f"{value:.12g}" if isinstance(value, float) else repr(value)


@pytest.mark.parametrize("change", [with_blank_lines, with_a_mark, with_members_in_order])
def test_a_change_that_says_nothing_changes_nothing(change):
    read_count = 0
    for file in FILES:
        data = file.read_bytes()
        try:
            changed = change(data.decode()).encode()
        except ValueError:  # not text, or not JSON
            continue
        before = of_file(file.name, data)
        if before is None:
            continue
        after = of_file(file.name, changed)
        assert after == before, f"{change.__name__} of {file.relative_to(INPUTS)}"
        read_count += 1
    assert read_count > 50
