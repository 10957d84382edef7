"""The list of a class: names, and ids where there are any, from a table that a school exports.

>>> [first, second] = read("name,id\\n\\"Müller, Anna\\",17\\nBen O'Hara,18\\n").students
>>> first.name, first.key, second.key
('Müller, Anna', '17', '18')
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from netcalc import documents
from netcalc.documents import Place
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
    at = Place(opened.name, {"syntax": "roster-not-split"})
    students: list[Student] = []
    for here, cells in _rows(documents.records(text.lines, text.numbers, at)):
        if len(students) == MAX_STUDENTS:
            raise here.refused("roster-too-long", limit=MAX_STUDENTS)
        students.append(_student(cells, here))
    if not students:
        raise at.refused("roster-empty")
    without = next((student for student in students if not student.id), None)
    if without is not None and any(student.id for student in students):
        raise at.inside("id").refused("roster-id-missing", line=without.line)
    _refuse_twins(students, at)
    return Roster(students=tuple(students), notices=tuple(text.warnings))


def _rows(rows: Iterator[tuple[Place, list[str]]]) -> Iterator[tuple[Place, dict[str, str]]]:
    """Yield the cells of each student by what they are."""
    columns: dict[str, int] = {}
    count = 0
    for at, row in rows:
        cells = [" ".join(cell.split()) for cell in row]
        if not columns:
            columns, count = _columns(cells, at), len(cells)
            continue
        if len(cells) > count and any(cells[count:]):
            raise at.refused("roster-cell-count", count=len(cells), header_count=count)
        yield (
            at,
            {what: cells[index] if index < len(cells) else "" for what, index in columns.items()},
        )


def _columns(cells: Sequence[str], at: Place) -> dict[str, int]:
    """Return the indices of the columns that are read."""
    headings = [unicodedata.normalize("NFC", cell).casefold() for cell in cells]
    columns: dict[str, int] = {}
    kinds = {"name": _WHOLE, "first name": _FIRST, "last name": _LAST, "id": _ID}
    for what, names in kinds.items():
        heading = next((name for name in names if name in headings), None)
        if heading is None:
            continue
        columns[what] = headings.index(heading)
        if headings.count(heading) > 1:
            raise at.inside(cells[columns[what]]).refused("roster-column-twice")
    if not columns.keys() & {"name", "first name", "last name"}:
        shown = [excerpt(cell) for cell in cells if cell]
        raise at.inside("name").refused("roster-column-missing", columns=shown)
    return columns


def _student(cells: Mapping[str, str], at: Place) -> Student:
    # Where there are first names, "Name" is the heading of the family names.
    parts = ("first name", "last name" if "last name" in cells else "name")
    whole = (
        [cells["name"]] if "name" in cells and "first name" not in cells else map(cells.get, parts)
    )
    name = unicodedata.normalize("NFC", " ".join(filter(None, whole)))
    key = unicodedata.normalize("NFC", cells.get("id", ""))
    if not name:
        raise at.inside("name").refused("roster-name-missing")
    for column, text in (("name", name), ("id", key)):
        if not text.isprintable():
            raise at.inside(column).refused("roster-not-printable", value=excerpt(text))
        if len(text) > MAX_NAME:
            raise at.inside(column).refused("roster-text-long", limit=MAX_NAME)
    return Student(name=name, id=key, line=at.line or 0)


def _refuse_twins(students: Sequence[Student], at: Place) -> None:
    """Refuse two students who would be drawn the same numbers."""
    seen: dict[str, Student] = {}
    for student in students:
        other = seen.setdefault(student.key.casefold(), student)
        if other is not student:
            raise at.inside("id" if student.id else "name").refused(
                "roster-id-twice" if student.id else "roster-name-twice",
                line=student.line,
                value=excerpt(student.key),
                first_line=other.line,
            )
