"""The list of a class, and sheets: a notebook for each student, with numbers of their own.

The list is read from a table that a school exports: names, and ids where there are any.

>>> [first, second] = read("name,id\\n\\"Müller, Anna\\",17\\nBen O'Hara,18\\n").students
>>> first.name, first.key, second.key
('Müller, Anna', '17', '18')

Nothing here writes a file. A sheet is a set of documents by file name, and a record of what was
handed out, which the teacher keeps to collect the notebooks.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netcalc import documents, exercises
from netcalc.documents import Place
from netcalc.errors import DomainError, ReaderError
from netcalc.messages import Notice
from netcalc.printable import excerpt
from netcalc.readers import Readable
from netcalc.readers.source import decode, open_source
from netcalc.version import __version__

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


SCHEMA = 1
"""Number of the form of the record and of the facts in a notebook."""
RECORD_SUFFIX = ".class.json"
MAX_SHEET_NAME = 40
"""Longest name of a sheet. [characters]"""
_LONGEST_PART = 60
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{name}{n}" for name in ("com", "lpt") for n in range(10)}
)
"""Names that Windows keeps for devices, with any extension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What was handed out to a class.

    Parameters
    ----------
    name : str
        Its name, by which the numbers are drawn.
    lessons, ids : tuple of str
        Its lessons and the ids of its exercises, in order.
    students : tuple of Student
        The class.
    files : tuple of str
        The notebook of each student.
    drawn : tuple of str
        Of each student a digest of the questions: it tells whether they are still the same.
    made : str
        When it was made, as ISO 8601.
    sources : tuple of str
        Names of a teacher's files of exercises, which are beside the notebooks.
    templates : tuple of Template
        Those of its exercises that are known here.
    """

    name: str
    lessons: tuple[str, ...]
    ids: tuple[str, ...]
    students: tuple[Student, ...]
    files: tuple[str, ...]
    drawn: tuple[str, ...]
    made: str = ""
    sources: tuple[str, ...] = ()
    templates: tuple[exercises.Template, ...] = field(default=(), repr=False, compare=False)

    @property
    def record_file(self) -> str:
        """Name of the file with the record of the sheet."""
        return f"{self.name}{RECORD_SUFFIX}"


def checked_name(name: str) -> str:
    """Return the name of a sheet, if it can be one: it begins the names of the notebooks.

    Raises
    ------
    DomainError
        If it has other characters than letters, digits, blanks, ``.``, ``_`` and ``-``, does not
        begin with a letter or a digit, or is too long.

    Examples
    --------
    >>> checked_name("Monday 1")
    'Monday 1'
    """
    name = unicodedata.normalize("NFC", name)
    plain = all(letter.isalnum() or letter in " ._-" for letter in name) and name[:1].isalnum()
    if not plain or name[-1] in " ." or name.split(".")[0].casefold() in _RESERVED:
        raise DomainError("sheet-name-not-plain", "NAME", excerpt(name))
    if len(name) > MAX_SHEET_NAME:
        raise DomainError("sheet-name-long", "NAME", excerpt(name), limit=MAX_SHEET_NAME)
    return name


def chosen(lessons: Sequence[str], *, paths: Sequence[Path] = ()) -> tuple[exercises.Template, ...]:
    """Return the exercises of some lessons, in the order of the lessons.

    Raises
    ------
    DomainError
        If a lesson has no exercises.
    """
    by_id = {
        template.id: template
        for lesson in lessons
        for template in exercises.templates(lesson=lesson, paths=paths)
    }
    return tuple(by_id.values())


def make(
    name: str,
    *,
    students: Sequence[Student],
    lessons: Sequence[str],
    made: str = "",
    paths: Sequence[Path] = (),
) -> Sheet:
    """Draw a sheet for a class.

    Parameters
    ----------
    name : str
        Name of the sheet; another name has other numbers.
    students : sequence of Student
        The class.
    lessons : sequence of str
        Lessons whose exercises it has, such as ``("01", "02")``.
    made : str, optional
        When it was made, as ISO 8601.
    paths : sequence of path, optional
        A teacher's files of exercises, besides the bundled ones.

    Returns
    -------
    Sheet
        The sheet; :func:`notebook` is what a student gets.

    Raises
    ------
    DomainError
        If the name cannot be that of a file, or a lesson has no exercises.
    ReaderError
        If a file of exercises is refused.
    """
    name, templates = checked_name(name), chosen(lessons, paths=paths)
    return Sheet(
        name=name,
        lessons=tuple(dict.fromkeys(template.lesson for template in templates)),
        ids=tuple(template.id for template in templates),
        students=tuple(students),
        files=file_names(name, students),
        drawn=tuple(
            digest(exercises.sheet_of(templates, student=student.key, sheet=name))
            for student in students
        ),
        made=made,
        sources=tuple(path.name for path in paths),
        templates=templates,
    )


def digest(drawn: Sequence[exercises.Question]) -> str:
    """Return 16 hexadecimal digits that change with any question."""
    return _digest([[question.id, question.text, question.unit] for question in drawn])


def _digest(document: Any) -> str:
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_names(sheet: str, students: Sequence[Student]) -> tuple[str, ...]:
    """Return a file name for each student: letters and digits of the name, and no two alike.

    Examples
    --------
    >>> file_names("monday", [Student(name="../Müller, Anna"), Student(name="müller anna")])
    ('monday_Müller-Anna.ipynb', 'monday_müller-anna-2.ipynb')
    """
    names: list[str] = []
    used: set[str] = set()
    for number, student in enumerate(students, 1):
        part = re.sub(r"[\W_]+", "-", student.name)[:_LONGEST_PART].strip("-")
        part = name = part or f"student-{number}"
        count = 1
        while _alike(name) in used:
            count += 1
            name = f"{part}-{count}"
        used.add(_alike(name))
        names.append(f"{sheet}_{name}.ipynb")
    return tuple(names)


def _alike(name: str) -> str:
    """Return what two names have in common that some system takes for one."""
    return unicodedata.normalize("NFKD", name).casefold()


def facts(sheet: Sheet, student: Student, *, drawn: str) -> dict[str, Any]:
    """Return what the metadata of a notebook says: whose it is, and of which sheet.

    ``seal`` shows that a fact was changed by hand. It is no secret: who wants to can compute it.
    """
    about: dict[str, Any] = {
        "schema": SCHEMA,
        "sheet": sheet.name,
        "student": student.key,
        "name": student.name,
        "exercises": list(sheet.ids),
        "drawn": drawn,
    }
    return {**about, "seal": seal(about)}


def seal(about: Mapping[str, Any]) -> str:
    """Return the digest of the facts of a notebook, without the digest that it has."""
    return _digest({name: value for name, value in sorted(about.items()) if name != "seal"})


def notebook(sheet: Sheet, student: Student) -> dict[str, Any]:
    """Return the notebook of a student, as nbformat 4.5 has it.

    It has the exercises with the numbers of this student and a box below each, and a cell
    ``answers = {...}`` with the call that checks them.
    """
    drawn = exercises.sheet_of(sheet.templates, student=student.key, sheet=sheet.name)
    whose = f"student={student.key!r}, sheet={sheet.name!r}"
    if sheet.sources:
        whose += f", paths={list(sheet.sources)!r}"
    cells = [
        _markdown("title", f"# {_plain(sheet.name)}\n\n{_plain(student.name)}\n\n{_HOW}"),
        _code("start", "from netcalc.lessons import exercise"),
    ]
    lesson = ""
    for number, question in enumerate(drawn, 1):
        if question.template.lesson != lesson:
            lesson = question.template.lesson
            cells.append(_markdown(f"lesson-{number}", f"## Lesson {lesson}"))
        cells.append(
            _markdown(f"text-{number}", f"**{number}.** {question.text} (`{question.id}`)")
        )
        source = f"exercise.box({question.id!r}, {whose}, with_question=False)"
        cells.append(_code(f"box-{number}", source))
    lines = "".join(f"    {question.id!r}: '',\n" for question in drawn)
    cells += [
        _markdown("how", _ANSWERS),
        _code(
            "answers",
            f"answers = {{\n{lines}}}\n\n{_CHECK}print(exercises.points(answers, {whose}))",
        ),
    ]
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3",
            },
            "language_info": {"name": "python"},
            "netcalc": facts(sheet, student, drawn=digest(drawn)),
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip


_HOW = (
    "Your numbers are your own: the same question has other numbers for others. Write each answer "
    "with its unit, such as `13.2 ms`. Save the file under its name and hand it in."
)
_CHECK = "from netcalc import exercises\n\n"
_ANSWERS = (
    "## Answers\n\nWithout boxes above, or to check all at once: write each answer between its "
    "quotes, with its unit, and run the cell. It says what is right and what is not, and no "
    "number. What is written here counts before what is in a box."
)


def _plain(text: str) -> str:
    """Return text for a cell of Markdown in which nothing is markup: no HTML, no link, no math."""
    return "".join(
        f"&#{ord(letter)};" if letter in string.punctuation else letter for letter in text
    )


def _markdown(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _code(name: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [],
        "source": source,
    }  # fmt: skip


def notebook_text(sheet: Sheet, student: Student) -> str:
    """Return the notebook of a student as the text of a file."""
    return json.dumps(notebook(sheet, student), indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True, kw_only=True)
class _RecordedStudent:
    name: str
    id: str
    file: str
    drawn: str


@dataclass(frozen=True, kw_only=True)
class _Record:
    """The record of a sheet as a file has it."""

    netcalc: str = ""
    schema: int
    sheet: str
    made: str
    lessons: tuple[str, ...]
    exercises: tuple[str, ...]
    sources: tuple[str, ...]
    students: tuple[_RecordedStudent, ...]


def record_text(sheet: Sheet) -> str:
    """Return the record of a sheet as the text of a file; it has no answers."""
    record = _Record(
        netcalc=__version__,
        schema=SCHEMA,
        sheet=sheet.name,
        made=sheet.made,
        lessons=sheet.lessons,
        exercises=sheet.ids,
        sources=sheet.sources,
        students=tuple(
            _RecordedStudent(name=student.name, id=student.id, file=file, drawn=drawn)
            for student, file, drawn in zip(sheet.students, sheet.files, sheet.drawn, strict=True)
        ),
    )
    return json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n"


def read_record(text: str, *, file: str, folder: Path | None = None) -> Sheet:
    """Read the record of a sheet; a teacher's files of exercises are in its folder.

    Raises
    ------
    ReaderError
        If it is none, or of a later version, or its file of exercises is refused.
    """
    at = Place(file, "record-damaged", saved=True)
    document = documents.read_json(text, at)
    schema = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
    if schema != SCHEMA:
        raise ReaderError("record-of-other-version", file=file, schema=schema)
    record = documents.load(_Record, document, at)
    if any(Path(name).name != name for name in record.sources):
        raise at.inside("sources").refused("kind")  # a file of exercises is beside the record
    paths = [folder / name for name in record.sources] if folder is not None else []
    templates = {template.id: template for template in exercises.templates(paths=paths)}
    return Sheet(
        name=record.sheet,
        made=record.made,
        lessons=record.lessons,
        ids=record.exercises,
        students=tuple(Student(name=row.name, id=row.id) for row in record.students),
        files=tuple(row.file for row in record.students),
        drawn=tuple(row.drawn for row in record.students),
        sources=record.sources,
        templates=tuple(templates[id_] for id_ in record.exercises if id_ in templates),
    )


NOBODY = "the class"
"""Student whose numbers an example has, with a number behind it: nobody of the class."""
DRAWS = 40
"""Draws among which the nearest one is chosen."""


def example(exercise: str | exercises.Template, *, sheet: str) -> exercises.Question:
    """Draw an exercise for the whole class.

    Where the exercise names measured points, they belong to one line or one device, and most draws
    are far from it. Of 40 draws this is the one whose right curve is nearest to the points, in the
    median of the ratios.

    Parameters
    ----------
    exercise : str or Template
        Its id, or the exercise.
    sheet : str
        Name of the sheet.

    Returns
    -------
    Question
        The exercise with its numbers.

    Examples
    --------
    >>> example("TR1", sheet="monday").student
    'the class 1'
    """
    first = exercises.draw(exercise, student=f"{NOBODY} 1", sheet=sheet)
    if not first.template.curve.get("points"):
        return first
    others = [
        exercises.draw(exercise, student=f"{NOBODY} {number}", sheet=sheet)
        for number in range(2, DRAWS + 1)
    ]
    return min([first, *others], key=distance)


def distance(question: exercises.Question) -> float:
    """Return how far the measured points are from the right curve: the median of |ln ratio|."""
    curves = question.curves()
    inside = (curves.points_x >= curves.x[0]) & (curves.points_x <= curves.x[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        curve = np.interp(np.log(curves.points_x[inside]), np.log(curves.x), np.log(curves.right))
        apart = np.abs(np.log(curves.points_y[inside]) - curve)
    apart = apart[np.isfinite(apart)]
    return float(np.median(apart)) if apart.size else float("inf")
