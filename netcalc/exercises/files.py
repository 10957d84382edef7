"""Exercises, bundled or a teacher's: files of TOML, and the points for a cell of answers.

A file is refused with the line, the exercise and the field.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from netcalc import datasets, documents, units
from netcalc.documents import Place, Rule, TomlLines
from netcalc.errors import ArgumentTypeError, DomainError, NetcalcError, ReaderError, UnitError
from netcalc.exercises.answers import Verdict
from netcalc.exercises.question import Question
from netcalc.exercises.template import (
    FIRST_DRAWS,
    FIRST_LIMIT_S,
    SAME,
    Compiled,
    Template,
    Variable,
    Wrong,
    compile_formula,
    draw_numbers,
    is_line,
    seed_of,
)
from netcalc.printable import excerpt, safe_str

MOST_BYTES = 500_000
"""Largest file. [byte]"""
MOST_EXERCISES = 500
MOST_VARIABLES = 20
MOST_VALUES = 1000
MOST_WRONG = 40
LONGEST_TEXT = 2000
"""Limits of one file, one exercise and one text."""
LARGEST_TOLERANCE = 0.05
"""Above it, a share of wrong answers is right by chance."""
USUAL_TOLERANCE = 0.01

_ID = r"[A-Za-z][A-Za-z0-9_-]{0,39}"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,19}")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PER_SECOND = ("packet/s", "call/s")
_UNITS = (
    "s", "bit/s", "byte", "bit", "packet/s", "call/s", "ratio", "m", "m/s", "s/byte", "Hz", "1",
)  # fmt: skip
_CODES = {
    "utf8": "exercises-not-utf8",
    "syntax": "exercises-toml",
    "long key": "exercises-key-long",
    "missing": "exercise-field-missing",
    "unknown": "exercise-field-unknown",
    "kind": "exercise-not-table",
    "no text": "exercise-not-text",
    "no whole": "exercise-whole-number",
    "range": "exercise-whole-number",
    "empty": "exercise-text-empty",
    "too long": "exercise-text-long",
    "too many": "exercise-too-many",
    "unprintable": "exercise-not-printable",
}

_Text = Annotated[str, Rule(plain=True, most=LONGEST_TEXT)]
_Unit = Annotated[str, Rule(choices=_UNITS, code="exercise-unit")]
_AnswerUnit = Annotated[str, Rule(plain=True, choices=_UNITS, code="exercise-unit")]
_Digits = Annotated[int, Rule(low=1, high=9)]


@dataclass(frozen=True, kw_only=True)
class _VariableTable:
    low: Any = None
    high: Any = None
    step: Any = None
    digits: Any = None  # of a range without a step
    unit: _Unit | None = None
    values: Annotated[list[Any], Rule(form="a list of values")] | None = None


@dataclass(frozen=True, kw_only=True)
class _WrongTable:
    name: _Text
    formula: _Text
    sentence: _Text
    ask: _Text
    same_as: _Text = ""
    seen: _Text = ""


@dataclass(frozen=True, kw_only=True)
class _CurveTable:
    x: _Text
    low: _Text
    high: _Text
    points: _Text = ""
    point_x: _Text = ""
    point_y: _Text = ""


_Variable = Annotated[_VariableTable, Rule(form="a table { low = ..., ... }")]
_Wrong = Annotated[_WrongTable, Rule(form="a table [[exercise.wrong]]")]
_Curve = Annotated[_CurveTable, Rule(form="a table { x = ..., ... }")]


@dataclass(frozen=True, kw_only=True)
class _ExerciseTable:
    id: Annotated[str, Rule(plain=True, pattern=_ID, code="exercise-id-malformed")]
    lesson: Annotated[str, Rule(plain=True, pattern=r"\d\d[a-z]?", code="exercise-lesson")]
    topic: _Text
    text: _Text
    unit: _AnswerUnit
    right: _Text
    second: _Text | None = None
    tolerance: Any = None
    digits: _Digits | None = None
    positive: (
        _Text | Annotated[list[_Text], Rule(most=MOST_VARIABLES, form="a list of formulas")]
    ) = field(default_factory=list)
    curve: _Curve | None = None
    variables: Annotated[
        dict[str, _Variable], Rule(most=MOST_VARIABLES, form="a table of variables")
    ] = field(default_factory=dict)
    wrong: Annotated[Sequence[_Wrong], Rule(most=MOST_WRONG, form="tables [[exercise.wrong]]")] = ()


def read_file(path: Path) -> tuple[Template, ...]:
    """Read a file of exercises.

    Raises
    ------
    ReaderError
        If it is not one, or an exercise in it cannot be used: file, line, exercise and field.
    OSError
        If it cannot be opened.
    """
    if path.exists() and not path.is_file():
        raise ReaderError("exercises-no-file", file=str(path))
    with path.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    return read_text(data, name=str(path))


def read_text(data: bytes, *, name: str) -> tuple[Template, ...]:
    """Read the bytes of a file of exercises."""
    if len(data) > MOST_BYTES:
        raise ReaderError("exercises-too-large", file=name, limit=MOST_BYTES)
    at = Place(name, _CODES, first=1)
    text = documents.decoded(data, at)
    document = documents.read_toml(text, at)
    unknown = next((key for key in document if key != "exercise"), None)
    if unknown is not None:
        raise at.inside(unknown).refused("unknown", known=["exercise"])
    tables = document.get("exercise")
    if not isinstance(tables, list) or not tables:
        raise ReaderError("no-exercises", file=name)
    if len(tables) > MOST_EXERCISES:
        raise ReaderError("too-many-exercises", file=name, limit=MOST_EXERCISES)
    at = replace(at.inside("exercise"), lines=TomlLines(text, first=1))
    templates: dict[str, Template] = {}
    for index, table in enumerate(tables):
        template = _template(table, at.inside(index), index + 1)
        if template.id in templates:
            first = templates[template.id].line
            raise template.error("exercise-id-in-use", field="id", first_line=first)
        templates[template.id] = template
    return tuple(templates.values())


def bundled_folder() -> Path:
    """Return the folder of the bundled files."""
    return datasets.data_folder() / "exercises"


def bundled_files() -> Iterator[Path]:
    """Yield the bundled files of exercises, by name."""
    yield from sorted(bundled_folder().glob("*.toml"))


def _template(value: Any, at: Place, number: int) -> Template:
    name = value.get("id") if isinstance(value, dict) else None
    if not isinstance(name, str) or not re.fullmatch(_ID, name):
        name = f"exercise {number}"
    at = at.labelled(name, exercise=name)
    table = documents.convert(
        value, Annotated[_ExerciseTable, Rule(form="a table [[exercise]]")], at
    )
    variables = tuple(
        _variable(name, variable, at.inside("variables").inside(name))
        for name, variable in table.variables.items()
    )
    names = [variable.name for variable in variables]
    tolerance = USUAL_TOLERANCE if table.tolerance is None else _tolerance(table.tolerance, at)
    positive = [table.positive] if isinstance(table.positive, str) else table.positive
    template = Template(
        id=table.id,
        lesson=table.lesson,
        topic=table.topic,
        text=table.text,
        unit=table.unit,
        tolerance=tolerance,
        digits=table.digits or (0 if tolerance == 0 else 3 if tolerance >= 0.005 else 4),
        variables=variables,
        right=_formula(table.right, names, at.inside("right")),
        second=None if table.second is None
        else _formula(table.second, names, at.inside("second")),
        wrong=_mistakes(table.wrong, names, at.inside("wrong")),
        positive=tuple(_formula(text, names, at.inside("positive")) for text in positive),
        curve=_curve(table.curve, variables, at.inside("curve")),
        place=at,
    )  # fmt: skip
    _check_placeholders(template.text, names, at.inside("text"))
    shown = set(_PLACEHOLDER.findall(template.text))
    mistakes = (mistake.formula for mistake in template.wrong)
    for compiled in (template.right, *template.positive, *mistakes):
        hidden = sorted(compiled.used - shown)
        if hidden:
            raise at.inside("text").refused("exercise-variable-hidden", name=hidden[0])
    _check_numbers(template, at)
    return template


def _check_numbers(template: Template, at: Place) -> None:
    """Draw once: the answers must be separable, and the two ways agree."""
    drawn = draw_numbers(template, template.id, most=FIRST_DRAWS, limit_s=FIRST_LIMIT_S)
    if template.second is None:
        return
    at = at.inside("second")
    try:
        other = template.second(drawn.values)
    except NetcalcError as error:
        raise at.refused("exercise-formula-refused", reason=str(error)) from None
    if abs(other - drawn.right) > SAME * abs(drawn.right):
        raise at.refused(
            "exercise-ways-differ",
            first=drawn.right,
            second=other,
            numbers=", ".join(f"{name} = {text}" for name, text in drawn.shown.items()),
        )


def _formula(text: str, names: Sequence[str], at: Place) -> Compiled:
    try:
        return compile_formula(text, names=names)
    except (NetcalcError, RecursionError, ValueError) as error:
        raise at.refused("exercise-formula-refused", reason=str(error)) from None


def _tolerance(value: Any, at: Place) -> float:
    tolerance, _ = _quantity(value, "ratio", at.inside("tolerance"))
    if not 0 <= tolerance <= LARGEST_TOLERANCE:
        raise at.inside("tolerance").refused("exercise-tolerance", most=LARGEST_TOLERANCE)
    return tolerance


def _variable(name: str, table: _VariableTable, at: Place) -> Variable:
    if not _NAME.fullmatch(name) or is_line(name):
        raise at.refused("exercise-variable-name", name=excerpt(name))
    if table.values is not None:
        return _listed(name, table, table.values, at)
    for bound in ("low", "high"):
        if getattr(table, bound) is None:
            raise at.inside(bound).refused("missing")
    low, unit = _quantity(table.low, table.unit, at.inside("low"))
    high, unit = _quantity(table.high, unit, at.inside("high"))
    step = 0.0
    if table.step is not None:
        step, _ = _quantity(table.step, unit, at.inside("step"))
        if not 0 < step <= high - low or (high - low) / step > 1e12:
            raise at.inside("step").refused("exercise-step")
    elif not 0 < low < high:
        raise at.inside("low").refused("exercise-range")
    digits = 0 if step else _digits(table.digits, at.inside("digits"))
    return Variable(name=name, unit=unit, low=low, high=high, digits=digits, step=step)


def _digits(value: Any, at: Place) -> int:
    return 2 if value is None else int(documents.convert(value, _Digits, at))


def _listed(name: str, table: _VariableTable, values: list[Any], at: Place) -> Variable:
    for other in ("low", "high", "step", "digits"):
        if getattr(table, other) is not None:
            raise at.inside(other).refused("exercise-values-and-range")
    if not 0 < len(values) <= MOST_VALUES:
        raise at.inside("values").refused("kind", wanted="a list of values")
    unit = table.unit
    choices = []
    for value in values:
        number, unit = _quantity(value, unit, at.inside("values"))
        text = value if isinstance(value, str) else f"{value}"
        if is_line(text.split()[0]):
            text = f"{text} ({units.show(number, unit, digits=6)})"
        choices.append((number, " ".join(text.split())))
    return Variable(name=name, unit=unit or "1", choices=tuple(choices))


def _quantity(value: Any, unit: str | None, at: Place) -> tuple[float, str]:
    """Read a number with its unit; where no unit is required, also return the text's own."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise at.refused("exercise-not-quantity", value=documents.shown(value))
    text = documents.convert(value, _Text, at) if isinstance(value, str) else _number(value)
    unit = unit or _unit_of(text)
    try:
        if unit in _PER_SECOND and isinstance(value, str):
            # What is typed may be any noun a second; here it would hide a misspelt rate.
            return units.parse(text, unit), unit
        return units.parse_typed(text, unit, bare=not isinstance(value, str)), unit
    except UnitError as error:
        raise at.refused("exercise-formula-refused", reason=str(error)) from None


def _mistakes(tables: Sequence[_WrongTable], names: Sequence[str], at: Place) -> tuple[Wrong, ...]:
    mistakes: dict[str, Wrong] = {}
    for index, table in enumerate(tables):
        here = at.inside(index)
        for name in ("sentence", "ask"):
            _check_placeholders(getattr(table, name), names, here.inside(name))
        if table.name in mistakes or table.name == "right":
            raise here.inside("name").refused("exercise-mistake-twice", name=excerpt(table.name))
        if table.same_as and table.same_as not in mistakes:
            raise here.inside("same_as").refused(
                "exercise-same-as", name=excerpt(table.same_as), suggestions=list(mistakes)[:1]
            )
        formula = _formula(table.formula, names, here.inside("formula"))
        mistakes[table.name] = Wrong(**{**vars(table), "formula": formula})
    return tuple(mistakes.values())


def _check_placeholders(text: str, names: Collection[str], at: Place) -> None:
    """Refuse braces that hold no variable."""
    for name in _PLACEHOLDER.findall(text):
        if name not in names:
            near = get_close_matches(name, names, n=1)
            raise at.refused("exercise-placeholder", name=excerpt(name), suggestions=near)
    rest = _PLACEHOLDER.sub("", text)
    if "{" in rest or "}" in rest:
        raise at.refused("exercise-placeholder", name="{")


def _curve(table: _CurveTable | None, variables: Sequence[Variable], at: Place) -> dict[str, str]:
    if table is None:
        return {}
    by_name = {variable.name: variable for variable in variables}
    if table.x not in by_name:
        raise at.inside("x").refused(
            "exercise-placeholder", name=excerpt(table.x),
            suggestions=get_close_matches(table.x, by_name, n=1),
        )  # fmt: skip
    unit = by_name[table.x].unit
    low, high = (_quantity(getattr(table, end), unit, at.inside(end))[0] for end in ("low", "high"))
    if not 0 < low < high:
        raise at.inside("low").refused("exercise-range")
    if table.points or table.point_x or table.point_y:
        _check_points(table, at)
    return {name: text for name, text in vars(table).items() if text}


def _check_points(table: _CurveTable, at: Place) -> None:
    """Refuse points that no bundled data set has."""
    for name in ("points", "point_x", "point_y"):
        if not getattr(table, name):
            raise at.inside(name).refused("missing")
    try:
        numbers = number_columns(table.points)
    except NetcalcError as error:
        raise at.inside("points").refused("exercise-formula-refused", reason=str(error)) from None
    for name in ("point_x", "point_y"):
        column = getattr(table, name)
        if column not in numbers:
            raise at.inside(name).refused("exercise-column", name=excerpt(column), known=numbers)


def number_columns(name: str) -> list[str]:
    """Return the columns of a bundled data set that hold numbers.

    Raises
    ------
    DomainError, DatasetError
        If there is no such set.
    """
    facts = datasets.info(name).units
    if facts:
        return [column for column, unit in facts.items() if unit != "text"]
    loaded = datasets.load(name).columns()  # of a tool's output: known when it is read
    return [column for column, values in loaded.items() if values.dtype.kind in "fiu"]


def _number(value: float) -> str:
    try:
        return f"{float(value):.17g}"
    except OverflowError:  # a whole number beyond floats
        return "inf"


def _unit_of(text: str) -> str:
    """Return the SI unit of a quantity as written."""
    try:
        units.line(text.split()[0])
    except (UnitError, IndexError):
        written = re.sub(r"^[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*", "", text.strip())
        kinds = [units.kind_of(written), *units.kinds_of(written)]
        return next((kind for kind in kinds if kind in _UNITS), "1")
    return "bit/s"


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
