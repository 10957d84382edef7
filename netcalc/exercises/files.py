"""Files of exercises: TOML, read with refusals that name the line, the exercise and the field."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from netcalc import datasets, units
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
    line_of_field,
)
from netcalc.printable import excerpt

MOST_BYTES = 500_000
"""Largest file. [byte]"""
MOST_DOTS = 30
"""Most dots between two separators outside of texts: TOML's parser takes a time that grows with the
square of the parts of a key, hours for a file of one key."""
MOST_EXERCISES = 500
MOST_VARIABLES = 20
MOST_WRONG = 40
LONGEST_TEXT = 2000
"""Limits of one file, one exercise and one text."""
LARGEST_TOLERANCE = 0.05
"""Above it, a share of wrong answers is right by chance."""
USUAL_TOLERANCE = 0.01

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_LESSON = re.compile(r"\d\d[a-z]?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,19}")
_HEADER = re.compile(r"\s*\[\[\s*exercise\s*(?P<wrong>\.\s*wrong\s*)?\]\]")
_TABLE = re.compile(r"\s*\[\s*exercise\s*\.\s*(?P<name>\w+)\s*\]")
_KEY = re.compile(r"""\s*(?P<quote>["']?)(?P<name>[^"'=]+?)(?P=quote)\s*=""")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PIECE = re.compile(r"""#[^\n]*|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[=,{}\[\]\n]+|[^"'#=,{}\[\]\n]+""")
"""A comment, a text, separators, or what is between them; no piece is tried twice."""
_AT_LINE = re.compile(r"\(at line (\d+)")
_PER_SECOND = ("packet/s", "call/s")
_UNITS = (
    "s", "bit/s", "byte", "bit", "packet/s", "call/s", "ratio", "m", "m/s", "s/byte", "Hz", "1",
)  # fmt: skip
_FIELDS = {
    "id", "lesson", "topic", "text", "unit", "tolerance", "digits", "right", "second", "curve",
    "variables", "wrong", "positive",
}  # fmt: skip
_REQUIRED = ("id", "lesson", "topic", "text", "unit", "right")
_VARIABLE_FIELDS = {"low", "high", "digits", "unit", "values", "step"}
_WRONG_FIELDS = {"name", "formula", "sentence", "ask", "seen", "same_as"}
_CURVE_FIELDS = {"x", "low", "high", "points", "point_x", "point_y"}


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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReaderError("exercises-not-utf8", file=name, line=line) from None
    _check_keys(text, name)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line_number = int(found[1]) if found else None
        reason = excerpt(str(error).partition(" (at ")[0])
        raise ReaderError("exercises-toml", file=name, line=line_number, reason=reason) from None
    except (RecursionError, ValueError) as error:
        # Nested too deep, or a whole number of more digits than Python converts.
        reason = "nested too deeply" if isinstance(error, RecursionError) else excerpt(str(error))
        raise ReaderError("exercises-toml", file=name, reason=reason) from None
    unknown = next((key for key in document if key != "exercise"), None)
    if unknown is not None:
        raise ReaderError("exercise-field-unknown", file=name, field=excerpt(unknown),
                          known=["exercise"])  # fmt: skip
    items = document.get("exercise")
    if not isinstance(items, list) or not items:
        raise ReaderError("no-exercises", file=name)
    if len(items) > MOST_EXERCISES:
        raise ReaderError("too-many-exercises", file=name, limit=MOST_EXERCISES)
    places = _places(text)
    found_templates: dict[str, Template] = {}
    for index, item in enumerate(items):
        place = places[index] if index < len(places) else _Place(0, ())
        template = _Item(item, file=name, place=place, number=index + 1).template()
        if template.id in found_templates:
            first = found_templates[template.id].line
            raise template.error("exercise-id-in-use", field="id", first_line=first)
        found_templates[template.id] = template
    return tuple(found_templates.values())


def _check_keys(text: str, name: str) -> None:
    """Refuse keys of very many parts, before they are parsed."""
    line = 1
    dots = 0
    for found in _PIECE.finditer(text):
        piece = found[0]
        if piece[0] in "\"'#":
            continue
        if piece[0] in "=,{}[]\n":
            dots = 0
            line += piece.count("\n")
            continue
        dots += piece.count(".")
        if dots > MOST_DOTS:
            raise ReaderError("exercises-key-long", file=name, line=line, limit=MOST_DOTS)


def bundled_folder() -> Path:
    """Return the folder of the bundled files."""
    return datasets.data_folder() / "exercises"


@dataclass(frozen=True, slots=True)
class _Place:
    """Lines of an exercise, of its mistakes, and of its fields by their names."""

    line: int
    wrong: tuple[int, ...]
    fields: Mapping[str, int] = dataclass_field(default_factory=dict)


def _places(text: str) -> list[_Place]:
    """Return the lines of headers and keys; those in texts of several lines are left out."""
    found: list[tuple[int, list[int], dict[str, int]]] = []
    quote = within = ""
    for number, line in enumerate(text.split("\n"), 1):
        header = None if quote else _HEADER.match(line)
        table = None if quote else _TABLE.match(line)
        key = None if quote else _KEY.match(line)
        if header is not None and not header["wrong"]:
            found.append((number, [], {}))
            within = ""
        elif header is not None and found:
            found[-1][1].append(number)
            within = f"wrong[{len(found[-1][1])}]."
        elif table is not None:
            within = f"{table['name']}."
        elif key is not None and found:
            found[-1][2].setdefault(within + key["name"], number)
        for mark in re.findall(r'"""|\'\'\'', line):
            quote = "" if quote == mark else quote or mark
    return [_Place(line, tuple(wrong), fields) for line, wrong, fields in found]


class _Item:
    """One exercise as it is in the file."""

    def __init__(self, item: Any, *, file: str, place: _Place, number: int) -> None:
        self.file, self.place = file, place
        self.name = f"exercise {number}"
        self.item: dict[str, Any] = item if isinstance(item, dict) else {}
        if not isinstance(item, dict):
            raise self.refused("", "exercise-not-table", wanted="a table [[exercise]]")
        if isinstance(self.item.get("id"), str) and _ID.fullmatch(self.item["id"]):
            self.name = self.item["id"]

    def refused(
        self, field: str, code: str, *, line: int | None = None, **values: Any
    ) -> ReaderError:
        where = f"{self.name}.{field}" if field else self.name
        return ReaderError(
            code,
            file=self.file,
            line=line_of_field(self.place.fields, field, line or self.place.line) or None,
            field=where,
            exercise=self.name,
            **values,
        )

    def template(self) -> Template:
        self.check_fields(self.item, _FIELDS, "")
        for name in _REQUIRED:
            if name not in self.item:
                raise self.refused(name, "exercise-field-missing")
        if not _ID.fullmatch(self.text("id")):
            raise self.refused("id", "exercise-id-malformed", id=excerpt(self.text("id")))
        if not _LESSON.fullmatch(self.text("lesson")):
            raise self.refused("lesson", "exercise-lesson", found=excerpt(self.text("lesson")))
        unit = self.text("unit")
        if unit not in _UNITS:
            raise self.refused("unit", "exercise-unit", found=excerpt(unit), known=list(_UNITS))
        variables = self.variables()
        names = [variable.name for variable in variables]
        tolerance = self.tolerance()
        digits = self.digits(tolerance)
        right = self.formula("right", self.text("right"), names)
        second_text = self.item.get("second")
        second = None
        if second_text is not None:
            second = self.formula("second", self.text("second"), names)
        positive = tuple(self.formula("positive", text, names) for text in self.texts("positive"))
        wrong = self.wrong(names)
        template = Template(
            id=self.text("id"),
            lesson=self.text("lesson"),
            topic=self.text("topic"),
            text=self.text("text"),
            unit=unit,
            tolerance=tolerance,
            digits=digits,
            variables=variables,
            right=right,
            second=second,
            wrong=wrong,
            positive=positive,
            curve=self.curve(variables),
            file=self.file,
            line=self.place.line,
            lines=self.place.fields,
        )
        self.check_text("text", template.text, names)
        shown = set(_PLACEHOLDER.findall(template.text))
        for compiled in (right, *positive, *(one.formula for one in wrong)):
            hidden = sorted(compiled.used - shown)
            if hidden:
                raise self.refused("text", "exercise-variable-hidden", name=hidden[0])
        self.check_numbers(template)
        return template

    def check_numbers(self, template: Template) -> None:
        """Draw once: the answers must be separable, and the two ways agree."""
        drawn = draw_numbers(template, template.id, most=FIRST_DRAWS, limit_s=FIRST_LIMIT_S)
        if template.second is None:
            return
        try:
            other = template.second(drawn.values)
        except NetcalcError as error:
            raise self.refused("second", "exercise-formula-refused", reason=str(error)) from None
        if abs(other - drawn.right) > SAME * abs(drawn.right):
            raise self.refused(
                "second",
                "exercise-ways-differ",
                first=drawn.right,
                second=other,
                numbers=", ".join(f"{name} = {text}" for name, text in drawn.shown.items()),
            )

    def check_fields(self, table: Mapping[str, Any], known: Collection[str], inside: str) -> None:
        for name in table:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                field = excerpt(f"{inside}.{name}" if inside else name)
                raise self.refused(
                    field, "exercise-field-unknown", known=sorted(known), suggestions=near
                )

    def text(self, name: str) -> str:
        return self.line_of(name, self.item[name])

    def line_of(self, field: str, found: Any, *, line: int | None = None) -> str:
        if not isinstance(found, str):
            raise self.refused(field, "exercise-not-text", line=line, found=type(found).__name__)
        if not found.strip():
            raise self.refused(field, "exercise-text-empty", line=line)
        if len(found) > LONGEST_TEXT:
            raise self.refused(field, "exercise-text-long", line=line, limit=LONGEST_TEXT)
        text = " ".join(found.split())
        if not text.isprintable():
            raise self.refused(field, "exercise-not-printable", line=line)
        return text

    def texts(self, name: str) -> list[str]:
        found = self.item.get(name, [])
        if isinstance(found, str):
            found = [found]
        if not isinstance(found, list) or len(found) > MOST_VARIABLES:
            raise self.refused(name, "exercise-not-table", wanted="a list of formulas")
        return [self.line_of(name, one) for one in found]

    def formula(
        self, field: str, text: str, names: Sequence[str], *, line: int | None = None
    ) -> Compiled:
        try:
            return compile_formula(text, names=names)
        except (NetcalcError, RecursionError, ValueError) as error:
            raise self.refused(
                field, "exercise-formula-refused", line=line, reason=str(error)
            ) from None

    def tolerance(self) -> float:
        found = self.item.get("tolerance")
        if found is None:
            return USUAL_TOLERANCE
        value, _ = self.quantity("tolerance", found, "ratio")
        if not 0 <= value <= LARGEST_TOLERANCE:
            raise self.refused("tolerance", "exercise-tolerance", most=LARGEST_TOLERANCE)
        return value

    def digits(self, tolerance: float) -> int:
        found = self.item.get("digits")
        if found is None:
            return 0 if tolerance == 0 else 3 if tolerance >= 0.005 else 4
        return self.whole("digits", found, low=1, high=9)

    def whole(self, field: str, found: Any, *, low: int, high: int) -> int:
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
            raise self.refused(field, "exercise-whole-number", low=low, high=high)
        return found

    def variables(self) -> tuple[Variable, ...]:
        found = self.item.get("variables", {})
        if not isinstance(found, dict):
            raise self.refused("variables", "exercise-not-table", wanted="a table of variables")
        if len(found) > MOST_VARIABLES:
            raise self.refused("variables", "exercise-too-many", limit=MOST_VARIABLES)
        return tuple(self.variable(name, table) for name, table in found.items())

    def variable(self, name: str, table: Any) -> Variable:
        field = f"variables.{excerpt(name)}"
        if not _NAME.fullmatch(name) or is_line(name):
            raise self.refused(field, "exercise-variable-name", name=excerpt(name))
        if not isinstance(table, dict):
            raise self.refused(field, "exercise-not-table", wanted="a table { low = ..., ... }")
        self.check_fields(table, _VARIABLE_FIELDS, field)
        unit = table.get("unit")
        if unit is not None and unit not in _UNITS:
            found = excerpt(str(unit))
            raise self.refused(f"{field}.unit", "exercise-unit", found=found, known=list(_UNITS))
        if "values" in table:
            return self.choices(name, field, table, unit)
        for bound in ("low", "high"):
            if bound not in table:
                raise self.refused(f"{field}.{bound}", "exercise-field-missing")
        low, unit = self.quantity(f"{field}.low", table["low"], unit)
        high, unit = self.quantity(f"{field}.high", table["high"], unit)
        step = 0.0
        if "step" in table:
            step, _ = self.quantity(f"{field}.step", table["step"], unit)
            if not 0 < step <= high - low or (high - low) / step > 1e12:
                raise self.refused(f"{field}.step", "exercise-step")
        elif not 0 < low < high:
            raise self.refused(f"{field}.low", "exercise-range")
        digits = 0 if step else self.whole(f"{field}.digits", table.get("digits", 2), low=1, high=9)
        return Variable(name=name, unit=unit, low=low, high=high, digits=digits, step=step)

    def choices(
        self, name: str, field: str, table: Mapping[str, Any], unit: str | None
    ) -> Variable:
        listed = table["values"]
        extra = next((one for one in table if one not in ("values", "unit")), None)
        if extra is not None:
            raise self.refused(f"{field}.{extra}", "exercise-values-and-range")
        if not isinstance(listed, list) or not 0 < len(listed) <= 1000:
            raise self.refused(f"{field}.values", "exercise-not-table", wanted="a list of values")
        found: list[tuple[float, str]] = []
        for item in listed:
            value, unit = self.quantity(f"{field}.values", item, unit)
            text = item if isinstance(item, str) else f"{item}"
            if is_line(text.split()[0]):
                text = f"{text} ({units.show(value, unit, digits=6)})"
            found.append((value, " ".join(text.split())))
        return Variable(name=name, unit=unit or "1", choices=tuple(found))

    def quantity(self, field: str, found: Any, unit: str | None) -> tuple[float, str]:
        """Read a number with its unit; without a unit wanted, return that of the text."""
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise self.refused(field, "exercise-not-quantity", found=type(found).__name__)
        text = self.line_of(field, found) if isinstance(found, str) else _number(found)
        wanted = unit or _unit_of(text)
        try:
            if wanted in _PER_SECOND and isinstance(found, str):
                # What is typed may be any noun a second; here it would hide a misspelt rate.
                return units.parse(text, wanted), wanted
            return units.parse_typed(text, wanted, bare=not isinstance(found, str)), wanted
        except UnitError as error:
            raise self.refused(field, "exercise-formula-refused", reason=str(error)) from None

    def wrong(self, names: Sequence[str]) -> tuple[Wrong, ...]:
        found = self.item.get("wrong", [])
        if not isinstance(found, list):
            raise self.refused("wrong", "exercise-not-table", wanted="tables [[exercise.wrong]]")
        if len(found) > MOST_WRONG:
            raise self.refused("wrong", "exercise-too-many", limit=MOST_WRONG)
        mistakes: dict[str, Wrong] = {}
        for index, table in enumerate(found):
            lines = self.place.wrong
            line = lines[index] if index < len(lines) else None
            mistake = self.mistake(table, f"wrong[{index + 1}]", names, line)
            if mistake.name in mistakes or mistake.name == "right":
                raise self.refused(
                    f"wrong[{index + 1}].name", "exercise-mistake-twice", line=line,
                    name=excerpt(mistake.name),
                )  # fmt: skip
            if mistake.same_as and mistake.same_as not in mistakes:
                raise self.refused(
                    f"wrong[{index + 1}].same_as", "exercise-same-as", line=line,
                    name=excerpt(mistake.same_as), suggestions=list(mistakes)[:1],
                )  # fmt: skip
            mistakes[mistake.name] = mistake
        return tuple(mistakes.values())

    def mistake(self, table: Any, field: str, names: Sequence[str], line: int | None) -> Wrong:
        if not isinstance(table, dict):
            raise self.refused(field, "exercise-not-table", wanted="a table [[exercise.wrong]]")
        self.check_fields(table, _WRONG_FIELDS, field)
        for name in ("name", "formula", "sentence", "ask"):
            if name not in table:
                raise self.refused(f"{field}.{name}", "exercise-field-missing", line=line)
        texts = {
            name: self.line_of(f"{field}.{name}", found, line=line) for name, found in table.items()
        }
        for name in ("sentence", "ask"):
            self.check_text(f"{field}.{name}", texts[name], names, line=line)
        compiled = self.formula(f"{field}.formula", texts.pop("formula"), names, line=line)
        return Wrong(formula=compiled, **texts)

    def check_text(
        self, field: str, text: str, names: Collection[str], *, line: int | None = None
    ) -> None:
        """Refuse braces that hold no variable."""
        for found in _PLACEHOLDER.findall(text):
            if found not in names:
                near = get_close_matches(found, names, n=1)
                raise self.refused(
                    field, "exercise-placeholder", line=line, name=excerpt(found), suggestions=near
                )
        if "{" in _PLACEHOLDER.sub("", text) or "}" in _PLACEHOLDER.sub("", text):
            raise self.refused(field, "exercise-placeholder", line=line, name="{")

    def curve(self, variables: Sequence[Variable]) -> dict[str, str]:
        names = [one.name for one in variables]
        found = self.item.get("curve")
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise self.refused("curve", "exercise-not-table", wanted="a table { x = ..., ... }")
        self.check_fields(found, _CURVE_FIELDS, "curve")
        for name in ("x", "low", "high"):
            if name not in found:
                raise self.refused(f"curve.{name}", "exercise-field-missing")
        texts = {name: self.line_of(f"curve.{name}", text) for name, text in found.items()}
        if texts["x"] not in names:
            raise self.refused(
                "curve.x", "exercise-placeholder", name=excerpt(texts["x"]),
                suggestions=get_close_matches(texts["x"], names, n=1),
            )  # fmt: skip
        unit = next(one.unit for one in variables if one.name == texts["x"])
        low, _ = self.quantity("curve.low", texts["low"], unit)
        high, _ = self.quantity("curve.high", texts["high"], unit)
        if not 0 < low < high:
            raise self.refused("curve.low", "exercise-range")
        self.check_points(texts)
        return texts

    def check_points(self, texts: Mapping[str, str]) -> None:
        """Refuse points that no bundled data set has."""
        if not texts.keys() & {"points", "point_x", "point_y"}:
            return
        for name in ("points", "point_x", "point_y"):
            if name not in texts:
                raise self.refused(f"curve.{name}", "exercise-field-missing")
        try:
            numbers = number_columns(texts["points"])
        except NetcalcError as error:
            raise self.refused(
                "curve.points", "exercise-formula-refused", reason=str(error)
            ) from None
        for name in ("point_x", "point_y"):
            if texts[name] not in numbers:
                raise self.refused(
                    f"curve.{name}", "exercise-column", name=excerpt(texts[name]),
                    known=numbers,
                )  # fmt: skip


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


def bundled_files() -> Iterator[Path]:
    """Yield the bundled files of exercises, by name."""
    yield from sorted(bundled_folder().glob("*.toml"))
