"""The list of a class: names, and ids where there are any, from a table that a school exports.

>>> [first, second] = read("name,id\\n\\"Müller, Anna\\",17\\nBen O'Hara,18\\n").students
>>> first.name, first.key, second.key
('Müller, Anna', '17', '18')
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.printable import excerpt
from netcalc.readers import Readable
from netcalc.readers.source import decode, open_source

MAX_STUDENTS = 10_000
"""Largest number of students in one list: a file of another kind is refused before it is used."""
MAX_NAME = 120
"""Longest name of a student. [characters]"""

_WHOLE = ("name", "student", "full name", "student name")
_FIRST = ("first name", "firstname", "given name", "vorname")
_LAST = ("last name", "lastname", "surname", "family name", "nachname")
_ID = ("id", "id number", "student id", "username", "matriculation number", "id-nummer",
       "matrikelnummer", "anmeldename")  # fmt: skip
"""Headings by which lists name these columns, in lower case; the first one is netcalc's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """A student of a class.

    Parameters
    ----------
    name : str
        The name, with single blanks between its parts.
    id : str
        What distinguishes students of one name; empty if the list has no such column.
    line : int
        The line in the list.
    """

    name: str
    id: str = ""
    line: int = 0

    @property
    def key(self) -> str:
        """What the numbers of the exercises are drawn by: the id, or else the name."""
        return self.id or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """A class: its students in the order of the list, and what was odd about the file."""

    students: tuple[Student, ...]
    notices: tuple[Notice, ...] = ()


def read(source: Readable, *, name: str | None = None) -> Roster:
    """Read the list of a class.

    The first line has the headings: ``name``, or ``first name`` and ``last name``, and ``id`` where
    two students have one name. Other columns are not read. Commas, semicolons or tabs separate the
    cells; empty lines are skipped; the encoding is UTF-8 or that of a spreadsheet.

    Parameters
    ----------
    source : path, str, bytes or file object
        The table; a ``str`` that contains a line break is the text itself.
    name : str, optional
        Name of the source in messages, if it is not a path.

    Returns
    -------
    Roster
        The students.

    Raises
    ------
    ReaderError
        If it is no such list, or a line of it cannot be used; with line and field. Nothing is left
        out without a word: one bad line refuses the list.
    """
    opened = open_source(source, name=name)
    text = decode(opened, words=(*_WHOLE, *_FIRST, *_LAST, *_ID))
    file = opened.name
    students: list[Student] = []
    for line, cells in _records(file, text.lines, text.numbers):
        if len(students) == MAX_STUDENTS:
            raise ReaderError("roster-too-long", file=file, line=line, limit=MAX_STUDENTS)
        students.append(_student(file, line, cells))
    if not students:
        raise ReaderError("roster-empty", file=file)
    if not all(one.id for one in students) and any(one.id for one in students):
        without = next(one for one in students if not one.id)
        raise ReaderError("roster-id-missing", file=file, line=without.line, field="id")
    _refuse_twins(file, students)
    return Roster(students=tuple(students), notices=tuple(text.warnings))


def _records(
    file: str, lines: Sequence[str], numbers: Sequence[int]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the cells of each line that has any, by what they are."""
    header = next((index for index, line in enumerate(lines) if line.strip()), None)
    if header is None:
        return
    first = lines[header]
    if first.startswith("sep=") and len(first.strip()) == 5 and header + 1 < len(lines):
        header += 1  # of a spreadsheet: the separator by name
    delimiter = max(",;\t", key=lines[header].count)
    reader = csv.reader(
        (line + "\n" for line in lines[header:]),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    columns: dict[str, int] = {}
    count = 0
    while True:
        try:
            cells = [" ".join(cell.split()) for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            line = numbers[min(header + reader.line_num, len(numbers)) - 1]
            raise ReaderError("roster-not-split", file=file, line=line, reason=str(error)) from None
        line = numbers[header + reader.line_num - 1]
        if not any(cells):
            continue
        if not columns:
            columns, count = _columns(file, line, cells), len(cells)
            continue
        if len(cells) > count and any(cells[count:]):
            raise ReaderError(
                "roster-cell-count", file=file, line=line, count=len(cells), header_count=count
            )
        yield line, {what: cells[at] if at < len(cells) else "" for what, at in columns.items()}


def _columns(file: str, line: int, cells: Sequence[str]) -> dict[str, int]:
    """Return where the columns are that are read."""
    headings = [unicodedata.normalize("NFC", cell).casefold() for cell in cells]
    found: dict[str, int] = {}
    kinds = {"name": _WHOLE, "first name": _FIRST, "last name": _LAST, "id": _ID}
    for what, known in kinds.items():
        places = [at for name in known for at, heading in enumerate(headings) if heading == name]
        if places and headings.count(headings[places[0]]) > 1:
            raise ReaderError(
                "roster-column-twice", file=file, line=line, field=excerpt(cells[places[0]])
            )
        if places:
            found[what] = places[0]
    if not {"name", "first name", "last name"} & set(found):
        shown = [excerpt(cell) for cell in cells if cell]
        raise ReaderError(
            "roster-column-missing", file=file, line=line, field="name", columns=shown
        )
    return found


def _student(file: str, line: int, cells: Mapping[str, str]) -> Student:
    # Where there are first names, "Name" is the heading of the family names.
    parts = ("first name", "last name" if "last name" in cells else "name")
    whole = (
        [cells["name"]] if "name" in cells and "first name" not in cells else map(cells.get, parts)
    )
    name = unicodedata.normalize("NFC", " ".join(filter(None, whole)))
    key = unicodedata.normalize("NFC", cells.get("id", ""))
    if not name:
        raise ReaderError("roster-name-missing", file=file, line=line, field="name")
    for field, text in (("name", name), ("id", key)):
        if not text.isprintable():
            raise ReaderError(
                "roster-not-printable", file=file, line=line, field=field, value=excerpt(text)
            )
        if len(text) > MAX_NAME:
            raise ReaderError("roster-text-long", file=file, line=line, field=field, limit=MAX_NAME)
    return Student(name=name, id=key, line=line)


def _refuse_twins(file: str, students: Sequence[Student]) -> None:
    """Refuse two students who would be drawn the same numbers."""
    seen: dict[str, Student] = {}
    for one in students:
        other = seen.setdefault(one.key.casefold(), one)
        if other is not one:
            raise ReaderError(
                "roster-id-twice" if one.id else "roster-name-twice",
                file=file,
                line=one.line,
                field="id" if one.id else "name",
                value=excerpt(one.key),
                first_line=other.line,
            )
