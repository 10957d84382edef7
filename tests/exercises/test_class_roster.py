"""The list of a class: what schools export, and what makes a list unusable."""

from __future__ import annotations

import pytest

from netcalc.errors import ReaderError
from netcalc.exercises.classes import sheets


def names(text: str | bytes) -> list[str]:
    return [one.name for one in sheets.read(text).students]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name\nAda Lovelace\n\n \nJürgen Groß\n", ["Ada Lovelace", "Jürgen Groß"]),
        ('name,id\n"Hopper, Grace",7\n', ["Hopper, Grace"]),
        ("Name;Klasse\nZoë Ångström;5b\n", ["Zoë Ångström"]),
        ("sep=;\nname;id\nAda;1\n", ["Ada"]),
        ("First name\tLast name\tEmail address\nAda\tLovelace\ta@b.c\n", ["Ada Lovelace"]),
        ("Vorname;Nachname\nJürgen;Müller\n", ["Jürgen Müller"]),
        ("Vorname;Name\nJürgen;Müller\n", ["Jürgen Müller"]),
        ("Nachname\nMüller\n", ["Müller"]),
        ("name,,\nAda,,\n,,\nBen\n", ["Ada", "Ben"]),
        ("name\r\nAda\r\nBen", ["Ada", "Ben"]),
        ("name\n  Ada \u00a0 Lovelace \n", ["Ada Lovelace"]),
    ],
)
def test_lists_that_are_read(text, expected):
    """Identity: the names are those in the text, with single blanks."""
    assert names(text) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_of_spreadsheets(encoding):
    """Identity: an umlaut is the same in each encoding, and a mark at the start is no letter."""
    assert names("name\nJürgen Groß\nFrançoise\n".encode(encoding)) == ["Jürgen Groß", "Françoise"]


def test_a_letter_and_its_accent_are_one_letter():
    """Identity: u with a combining diaeresis is ü, so one name has one set of numbers."""
    assert names("name\nMu\u0308ller\n") == ["Müller"]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "roster-empty", None),
        ("name\n\n", "roster-empty", None),
        ("email\na@b.c\n", "roster-column-missing", 1),
        ("Ada\nBen\n", "roster-column-missing", 1),
        ("name,name\nAda,Ben\n", "roster-column-twice", 1),
        ("name\nHopper, Grace\n", "roster-cell-count", 2),
        ("name,id\n,7\n", "roster-name-missing", 2),
        ("name\nAda\n\nada\n", "roster-name-twice", 4),
        ("name,id\nAda,1\nBen,1\n", "roster-id-twice", 3),
        ("name,id\nAda,1\nBen,\n", "roster-id-missing", 3),
        ("name\nA\u202eda\n", "roster-not-printable", 2),
        (f"name\n{'A' * 121}\n", "roster-text-long", 2),
        ('name\n"Ada\nBen\n', "roster-not-split", 3),
        ("name\n" + "\n".join(f"s{i}" for i in range(10_001)), "roster-too-long", 10_002),
    ],
)
def test_lists_that_are_refused_by_line(text, code, line):
    with pytest.raises(ReaderError) as caught:
        sheets.read(text, name="class.csv")
    assert (caught.value.code, caught.value.line) == (code, line)
    assert "class.csv" in str(caught.value)


def test_two_of_one_name_need_an_id():
    """Identity: the key is the id where there is one, so the two have other numbers."""
    first, second = sheets.read("name,id\nAda,1\nAda,2\n").students
    assert (first.name, first.key, second.key) == ("Ada", "1", "2")


def test_a_thousand_names():
    text = "name\n" + "".join(f"Student {i}\n" for i in range(1000))
    assert len(sheets.read(text).students) == 1000
