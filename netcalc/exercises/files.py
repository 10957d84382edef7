"""Files of exercises: TOML, read with refusals that name the line, the exercise and the field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from netcalc import datasets, documents, units
from netcalc.documents import Lines, Place, Rule
from netcalc.errors import NetcalcError, ReaderError, UnitError
from netcalc.exercises.formulas import Compiled, compile_formula, is_line
from netcalc.exercises.template import (
    FIRST_DRAWS,
    FIRST_LIMIT_S,
    SAME,
    Template,
    Variable,
    Wrong,
    draw_numbers,
)
from netcalc.printable import excerpt

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
    at = replace(at.inside("exercise"), lines=Lines(text, first=1))
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
