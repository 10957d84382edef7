"""All exercises, bundled or a teacher's, and the points for a cell of answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.exercises.answers import Verdict
from netcalc.exercises.files import bundled_files, read_file
from netcalc.exercises.question import Question
from netcalc.exercises.template import Template, draw_numbers, seed_of
from netcalc.printable import safe_str

LONGEST_ID = 60
"""Characters of an unknown id that an error repeats."""

Paths: TypeAlias = Iterable[str | Path]


@lru_cache(maxsize=1)
def _bundled() -> Mapping[str, Template]:
    return _joined({}, bundled_files())


@lru_cache(maxsize=64)
def _read(path: str, changed_ns: int, size_bytes: int) -> tuple[Template, ...]:
    """Read a file once as long as it does not change."""
    return read_file(Path(path))


def _of_file(path: str | Path) -> tuple[Template, ...]:
    status = Path(path).stat()
    return _read(str(path), status.st_mtime_ns, status.st_size)


def _joined(templates: Mapping[str, Template], paths: Paths) -> dict[str, Template]:
    joined = dict(templates)
    for path in paths:
        for template in _of_file(path):
            if template.id in joined:
                other = joined[template.id].file
                raise template.error("exercise-id-bundled", field="id", other=other)
            joined[template.id] = template
    return joined


def _by_id(paths: Paths) -> Mapping[str, Template]:
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    return _joined(_bundled(), listed) if listed else _bundled()


def templates(*, lesson: str | None = None, paths: Paths = ()) -> tuple[Template, ...]:
    """Return the exercises, in the order of their files.

    Parameters
    ----------
    lesson : str, optional
        Number of a lesson, ``"02"`` or ``"2"``; all lessons without.
    paths : iterable of path, optional
        Files of a teacher, besides the bundled ones.

    Returns
    -------
    tuple of Template
        The exercises.

    Raises
    ------
    ReaderError
        If a file is refused; with line, exercise and field.
    DomainError
        If the lesson has no exercises.

    Examples
    --------
    >>> [template.id for template in templates(lesson="01")][:1]
    ['TR1']
    """
    every = tuple(_by_id(paths).values())
    if lesson is None:
        return every
    name = lesson_number(lesson)
    # The second part of a lesson, 02b, asks what the lesson asks if it has none of its own.
    for part in (name, name[:2]):
        if chosen := tuple(template for template in every if template.lesson == part):
            return chosen
    lessons = sorted({template.lesson for template in every})
    raise DomainError("exercise-lesson-empty", "lesson", lesson, known=lessons)


def lesson_number(text: str) -> str:
    """Return the number of a lesson as exercises have it, however it is written.

    Examples
    --------
    >>> lesson_number("2"), lesson_number("02b"), lesson_number("02_store_and_forward.ipynb")
    ('02', '02b', '02')
    """
    name = text.strip().lower().partition("_")[0]
    return name.zfill(2 if name.isdecimal() else 3)


def unknown_exercise(name: str, ids: Collection[str]) -> DomainError:
    """Return the error of an id that no exercise has, with the nearest."""
    by_lower = {id_.lower(): id_ for id_ in ids}
    suggestions = [by_lower[near] for near in get_close_matches(name.lower(), by_lower, n=1)]
    return DomainError("exercise-unknown", "exercise", name[:LONGEST_ID], suggestions=suggestions)


def draw(
    exercise: str | Template, *, student: str = "", sheet: str = "", paths: Paths = ()
) -> Question:
    """Draw the numbers of an exercise for a student; the same ones for the same three texts.

    Parameters
    ----------
    exercise : str or Template
        Its id, or the exercise.
    student, sheet : str, optional
        For whom, and for which sheet: each has numbers of its own.
    paths : iterable of path, optional
        Files of a teacher, besides the bundled ones.

    Returns
    -------
    Question
        The exercise with its numbers.

    Raises
    ------
    DomainError
        If there is no exercise of that id.
    ReaderError
        If a file is refused, or its answers cannot be told apart.

    Examples
    --------
    >>> draw("TR1", student="s1").check("1 parsec").kind
    'unreadable'
    """
    if isinstance(exercise, Template):
        template = exercise
    else:
        by_id = _by_id(paths)
        if not isinstance(exercise, str) or exercise not in by_id:
            raise unknown_exercise(safe_str(exercise), by_id)
        template = by_id[exercise]
    student, sheet = str(student), str(sheet)
    drawn = draw_numbers(template, seed_of(template.id, student=student, sheet=sheet))
    return Question(template=template, student=student, sheet=sheet, drawn=drawn)


def check(question: Question, answer: object) -> Verdict:
    """Judge an answer as it was typed, such as ``13.2 ms``; no text raises."""
    return question.check(answer)


def sheet_of(
    exercises: Sequence[str | Template], *, student: str = "", sheet: str = "", paths: Paths = ()
) -> tuple[Question, ...]:
    """Draw several exercises for a student.

    Raises
    ------
    DomainError, ReaderError
        As :func:`draw`.
    """
    return tuple(
        draw(exercise, student=student, sheet=sheet, paths=paths) for exercise in exercises
    )


def points(
    answers: Mapping[str, object], *, student: str = "", sheet: str = "", paths: Paths = ()
) -> Points:
    """Judge a cell of answers: one point for each right one.

    Parameters
    ----------
    answers : mapping of str to str
        The answers as typed, by the id of the exercise; an empty one has no point.
    student, sheet : str, optional
        For whom the exercises were drawn, and for which sheet.
    paths : iterable of path, optional
        Files of a teacher, besides the bundled ones.

    Returns
    -------
    Points
        The points, and what is said about each answer.

    Raises
    ------
    DomainError
        If there is no exercise of an id.
    ArgumentTypeError
        If the answers are not a mapping.

    Examples
    --------
    >>> found = points({"TR1": "", "SF1": "fast"}, student="s1", sheet="monday")
    >>> found.total, found.most, found.verdicts["SF1"].kind
    (0, 2, 'unreadable')
    """
    typed: object = answers
    if not isinstance(typed, Mapping):
        raise ArgumentTypeError("answers-not-by-exercise", "answers", type(typed).__name__)
    return Points(
        verdicts={
            name: draw(name, student=student, sheet=sheet, paths=paths).check(answer)
            for name, answer in answers.items()
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Points for several answers: one for each right one.

    Parameters
    ----------
    verdicts : mapping of str to Verdict
        What is said about each answer, by the id of its exercise.
    """

    verdicts: Mapping[str, Verdict]

    @property
    def total(self) -> int:
        """Number of right answers."""
        return sum(verdict.is_right for verdict in self.verdicts.values())

    @property
    def most(self) -> int:
        """Number of answers."""
        return len(self.verdicts)

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        answers = {name: verdict.as_dict() for name, verdict in self.verdicts.items()}
        return {"points": self.total, "most": self.most, "answers": answers}

    def __str__(self) -> str:
        lines = [f"{name}: {verdict}" for name, verdict in self.verdicts.items()]
        return "\n".join([f"{self.total} of {self.most} points", *lines])
