"""Documents: JSON, TOML and CSV as checked dataclasses, or refused with file, line and field.

A schema is a dataclass. Its annotations say of which type each field is, and a :class:`Rule` in
them what it must be besides:

>>> @dataclass
... class Line:
...     rate_bps: Annotated[float, Rule(unit="bit/s", low=1.0)]
...     name: Annotated[str, Rule(plain=True, most=20)] = ""
>>> place = Place("lines.json", "line-damaged")
>>> load(Line, read_json('{"rate_bps": "10 Mbit/s"}', place), place)
Line(rate_bps=10000000.0, name='')

A field with a default may be left out; so may one that is null, if its type has ``None``. Names
that the schema does not have are refused. What depends on several fields is for the caller, who
says it with :meth:`Place.refused` as this module does.

The codes of the errors are the caller's, by these faults, with the values that each sentence has:

=============  =====================================================================================
``utf8``       bytes that are not UTF-8
``syntax``     no JSON, TOML or CSV: ``reason`` or ``value``
``long key``   a key of TOML with more dots than :data:`MOST_DOTS`: ``limit``
``twice``      a field that an object has twice
``missing``    a required field that is not there
``unknown``    a field that the schema does not have: ``known``, ``suggestions``
``kind``       a value of another type: ``value``, ``wanted``
``no text``    as ``kind``, where it must be text
``no whole``   as ``kind``, where it must be a whole number: also ``low``, ``high``
``not finite`` nan, inf, or a float that large: ``value``
``too large``  a whole number that no float holds: ``value``
``range``      a number outside its range: ``value``, ``low``, ``high``, ``wanted``
``choice``     none of those listed: ``value``, ``known``
``pattern``    text of another form: ``value``, ``wanted``
``empty``      text that must not be empty
``unprintable`` text with characters that cannot be seen
``too long``   text of more characters: ``limit``
``too many``   a list or a table of more items: ``limit``
``unit``       text that is no quantity of a unit: ``reason``
=============  =====================================================================================
"""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from datetime import date, time
from difflib import get_close_matches
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from netcalc import units
from netcalc.errors import ReaderError, UnitError
from netcalc.printable import excerpt

LONGEST_SHOWN = 60
"""Characters of a value that an error repeats."""
MOST_DOTS = 30
"""Most dots in a key of TOML. Python's parser takes a time that grows with the square of the parts
of a key: hours for a file of one key."""

Schema = TypeVar("Schema")

_TEXT_OR_COMMENT = re.compile(r"""#[^\n]*|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?""")
_AT_LINE = re.compile(r"\(at line (\d+)")
_CLOSES = re.compile(r'[\]}]|"""|' + "'''")
"""What a line has that ends a value of several lines."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document something is, and by which codes it is refused.

    Parameters
    ----------
    file : str
        Its name in messages.
    codes : mapping of str to str, or str
        A code for each fault, or one for all of them.
    path : str
        The field, such as ``flows[0].start_s``; empty at the top.
    line : int, optional
        The line, if ``lines`` does not have it.
    lines : Lines, optional
        The lines of a document of TOML.
    first : int
        Number of the first item of a list, in a path.
    saved : bool
        Whether netcalc saved the document: null among numbers is nan, ``"inf"`` is inf, a whole
        number may be a float, and names of a later version are passed over.
    head, label : str
        The beginning of the path that messages leave out, and what they say in its place, such as
        the id of an exercise.
    about : mapping
        Values that every error here has.
    """

    file: str
    codes: Mapping[str, str] | str
    path: str = ""
    line: int | None = None
    lines: TomlLines | None = None
    first: int = 0
    saved: bool = False
    head: str = ""
    label: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    def inside(self, name: str | int) -> Place:
        """Return the place of a field by its name, or of an item of a list by its index."""
        if isinstance(name, int):
            return replace(self, path=f"{self.path}[{name + self.first}]")
        name = name[:LONGEST_SHOWN]
        return replace(self, path=f"{self.path}.{name}" if self.path else name)

    def labelled(self, label: str, **about: Any) -> Place:
        """Return this place with a name that messages say in place of its path."""
        return replace(self, head=self.path, label=label, about=about)

    @property
    def nearest_line(self) -> int | None:
        """The line of the field, or of the nearest that it is part of."""
        return (self.lines.of(self.path) if self.lines else None) or self.line

    def refused(self, fault: str, **values: Any) -> ReaderError:
        """Return the error of a fault here; what is no fault of this module is a code itself."""
        if fault in _KINDS.values() and fault not in self.codes:
            fault = "kind"
        code = self.codes if isinstance(self.codes, str) else self.codes.get(fault, fault)
        values.setdefault("line", self.nearest_line)
        below = self.path.removeprefix(self.head).removeprefix(".")
        shown_path = ".".join(filter(None, (self.label, below)))
        return ReaderError(code, file=self.file, field=shown_path or None, **self.about, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a value must be besides its type; it stands in ``Annotated``.

    Parameters
    ----------
    unit : str
        SI unit; text is read as a quantity of it.
    low, high : float
        Least and greatest number.
    choices : sequence
        The values that it may have.
    pattern : str
        Regular expression of the whole text.
    plain : bool
        Whether text must be one line that is not empty and can be printed; blanks are made single.
    most : int, optional
        Most characters of a text, or items of a list or a table.
    form : str
        What it must be, in words, if the type does not say it well.
    code : str
        Code of a value out of range, pattern or choice, in place of the document's.
    """

    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: Sequence[Any] = ()
    pattern: str = ""
    plain: bool = False
    most: int | None = None
    form: str = ""
    code: str = ""

    def check(self, value: Any, at: Place) -> Any:
        """Return a value of the right type; text that is plain with single blanks."""
        if self.plain and not value.strip():
            raise at.refused("empty")
        is_text = isinstance(value, str)
        if self.most is not None and len(value) > self.most:
            raise at.refused("too long" if is_text else "too many", limit=self.most)
        if self.plain:
            value = " ".join(value.split())
            if not value.isprintable():
                raise at.refused("unprintable")
        if self.choices and value not in self.choices:
            raise at.refused(self.code or "choice", value=shown(value), known=list(self.choices))
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise at.refused(self.code or "pattern", value=shown(value), wanted=self.form)
        if isinstance(value, int | float) and (value < self.low or value > self.high):
            raise at.refused(self.code or "range", value=shown(value), low=self.low, high=self.high)
        return value


def load(schema: type[Schema], value: object, at: Place) -> Schema:
    """Make a dataclass of an object of JSON, a table of TOML, or the cells of a row.

    Parameters
    ----------
    schema : type
        A dataclass.
    value : object
        What was read.
    at : Place
        Where it is from.

    Raises
    ------
    ReaderError
        If it is none, lacks a field, or has one that is unknown or not as its annotation says.
    """
    items = named(schema, value, at)
    arguments = {
        name: convert(items[name], hint, at.inside(name))
        for name, hint in _annotations(cast(Any, schema)).items()
        if name in items
    }
    return schema(**arguments)


def named(schema: type[Any], value: object, at: Place) -> Mapping[str, Any]:
    """Return a document whose fields have the names of a schema; their values may be any.

    Raises
    ------
    ReaderError
        If it is none, lacks a field, or has one that is unknown.
    """
    if not isinstance(value, Mapping):
        raise at.refused("kind", value=shown(value), wanted=described(schema))
    names = {item.name: item for item in fields(schema) if item.init}
    for name in value:
        if name not in names and not at.saved:
            near = get_close_matches(str(name), names, n=1)
            raise at.inside(str(name)).refused("unknown", known=list(names), suggestions=near)
    for name, item in names.items():
        required = item.default is MISSING and item.default_factory is MISSING
        if required and value.get(name) is None:
            raise at.inside(name).refused("missing")
    return value


def convert(value: Any, hint: Any, at: Place) -> Any:
    """Return a value as its annotation says.

    Raises
    ------
    ReaderError
        If it is of another type or breaks a rule.
    """
    rule = Rule()
    if get_origin(hint) is Annotated:
        hint, rule = get_args(hint)[:2]
    if rule.unit and isinstance(value, str):
        value = quantity(value, rule.unit, at)
    try:
        converted = _converted(value, hint, at)
    except _OtherKindError:
        # Text that a person wrote keeps its quotes, so that "60" is seen to be no number.
        is_quoted = isinstance(value, str) and not at.saved
        seen = json.dumps(value)[:LONGEST_SHOWN] if is_quoted else shown(value)
        facts: dict[str, Any] = {"value": seen, "wanted": rule.form or described(hint)}
        if hint is int:
            facts |= {"low": rule.low, "high": rule.high}
        raise at.refused(_KINDS.get(hint, "kind"), **facts) from None
    return rule.check(converted, at)


_KINDS = {str: "no text", int: "no whole"}


def quantity(text: str, unit: str, at: Place) -> float:
    """Return text as a number in a unit.

    Raises
    ------
    ReaderError
        If it is no quantity of this unit.
    """
    try:
        return units.parse_typed(text, unit)
    except UnitError as error:
        raise at.refused("unit", reason=str(error)) from None


class _OtherKindError(Exception):
    """A value is not of a type."""


def _converted(value: Any, hint: Any, at: Place) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if is_dataclass(hint) and isinstance(value, Mapping):
        return load(hint, value, at)  # type: ignore[arg-type]
    if origin in (Union, UnionType):
        return _first_of(value, inner, at)
    if origin is not None and issubclass(origin, Mapping) and isinstance(value, Mapping):
        return {
            _key(name, inner[0]): _part(item, inner[1], at, name) for name, item in value.items()
        }
    if origin is not None and issubclass(origin, Sequence) and isinstance(value, list | tuple):
        items = [_part(item, inner[0], at, index) for index, item in enumerate(value)]
        return tuple(items) if origin is tuple else items
    if hint is float:
        return _number(value, at)
    if hint is int and at.saved and isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not hint:
        raise _OtherKindError
    return value


def _first_of(value: Any, hints: Sequence[Any], at: Place) -> Any:
    if value is None and NoneType in hints:
        return None
    others = [hint for hint in hints if hint is not NoneType]
    if len(others) == 1:
        return _part(value, others[0], at)
    for hint in others:
        base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        with suppress(_OtherKindError):
            _converted(value, base, at)
            return _part(value, hint, at)
    raise _OtherKindError


def _part(value: Any, hint: Any, at: Place, name: str | int | None = None) -> Any:
    """Convert what is inside a value: its own error for a schema or a rule, else that of all."""
    inside = at.inside(name) if name is not None and _has_parts(hint) else at
    if get_origin(hint) is Annotated or is_dataclass(hint):
        return convert(value, hint, inside)
    return _converted(value, hint, inside)


@cache
def _has_parts(hint: Any) -> bool:
    """Whether a type has parts that are refused by their own field; a million numbers have not."""
    is_part = get_origin(hint) is Annotated or is_dataclass(hint)
    return is_part or any(map(_has_parts, get_args(hint)))


def _key(name: Any, hint: Any) -> Any:
    if hint is int:
        try:
            return int(name)
        except ValueError:
            raise _OtherKindError from None
    return name


def _number(value: Any, at: Place) -> float:
    if at.saved and (value is None or value in ("inf", "-inf")):
        return math.nan if value is None else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _OtherKindError
    try:
        finite = at.saved or math.isfinite(value)
    except OverflowError:
        raise at.refused("too large", value=shown(value)) from None
    if not finite:
        raise at.refused("not finite", value=shown(value))
    return value


@cache
def _annotations(schema: Any) -> dict[str, Any]:
    hints = get_type_hints(schema, include_extras=True)
    return {item.name: hints[item.name] for item in fields(schema) if item.init}


def described(hint: Any, *, many: bool = False) -> str:
    """Return in words what a type is, as JSON has it.

    >>> described(list[list[float]] | None)
    'a list of lists of numbers'
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return inner[1].form or described(inner[0], many=many)
    if origin in (Union, UnionType):
        return " or ".join(described(kind, many=many) for kind in inner if kind is not NoneType)
    if is_dataclass(hint) or (origin is not None and issubclass(origin, Mapping)):
        return "objects" if many else "an object"
    if origin is not None and issubclass(origin, Sequence):
        return f"{'lists' if many else 'a list'} of {described(inner[0], many=True)}"
    single, several = {
        float: ("a number", "numbers"),
        int: ("a whole number", "whole numbers"),
        bool: ("true or false", "true or false"),
        dict: ("an object", "objects"),
        list: ("a list", "lists"),
    }.get(hint, ("text", "texts"))
    return several if many else single


def shown(value: object) -> str:
    """Return a value as a document has it, or its beginning, for the values of an error."""
    if isinstance(value, str | float | date | time):
        text = str(value)
    else:
        try:
            text = json.dumps(value, default=str)
        except (TypeError, ValueError, RecursionError):  # keys that are no text, very many digits
            text = type(value).__name__
    return text[:LONGEST_SHOWN]


def decoded(data: bytes, at: Place) -> str:
    """Return the text of a document in UTF-8, with or without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise at.refused("utf8", line=line, offset=error.start) from None


def read_json(text: str | bytes, at: Place) -> Any:
    """Return the value that a text of JSON is; nan and inf are left to the schema.

    Raises
    ------
    ReaderError
        If it is no JSON, or an object in it has two values of one name, of which neither is
        certain.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        items = dict(pairs)
        if len(items) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            name = next(name for name in items if counts[name] > 1)
            raise at.inside(name).refused("twice")
        return items

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        start = error.doc[error.pos : error.pos + 40].split("\n")[0]
        line = (at.line or 1) + error.lineno - 1
        raise at.refused("syntax", line=line, value=start) from None
    except (RecursionError, UnicodeDecodeError) as error:
        raise at.refused("syntax", reason=type(error).__name__) from None
    except ValueError as error:
        if isinstance(error, ReaderError):
            raise
        raise at.refused("syntax", reason=excerpt(str(error))) from None  # of very many digits


def json_lines(data: bytes, at: Place) -> tuple[list[dict[str, Any]], int]:
    """Return the objects of the complete lines of a file, and how many bytes these lines are."""
    size = data.rfind(b"\n") + 1
    rows = []
    for number, line in enumerate(data[:size].splitlines(), 1):
        here = replace(at, line=number)
        row = read_json(line, here)
        if not isinstance(row, dict):
            raise here.refused("kind", value=shown(row), wanted="an object")
        rows.append(row)
    return rows, size


def read_toml(text: str, at: Place) -> dict[str, Any]:
    """Return the table that a text of TOML is.

    Raises
    ------
    ReaderError
        If it is no TOML.
    """
    for number, rest in enumerate(_TEXT_OR_COMMENT.sub("", text).split("\n"), 1):
        if max(part.count(".") for part in re.split(r"[=,{}\[\]]", rest)) > MOST_DOTS:
            raise at.refused("long key", line=number, limit=MOST_DOTS)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise at.refused("syntax", reason="nested too deeply") from None
    except ValueError as error:
        # Otherwise it is a whole number of more digits than Python converts.
        is_syntax = isinstance(error, tomllib.TOMLDecodeError)
        at_line = _AT_LINE.search(str(error))  # none at the end of the document
        line = int(at_line[1]) if at_line else TomlLines(text).first_bad if is_syntax else None
        reason = excerpt(str(error).partition(" (at ")[0])
        raise at.refused("syntax", line=line, reason=reason) from None


class TomlLines:
    """The lines of a text of TOML, which are looked for when an error needs them.

    The paths are as ``[[exercise]]``, then ``[exercise.variables]`` with ``N = 3`` have them:
    ``exercise[0]``, ``exercise[0].variables``, ``exercise[0].variables.N``.

    >>> TomlLines("a = 1\\n[[b]]\\nc = {d = 2}\\n").of("b[0].c.d.e")
    3

    Parameters
    ----------
    text : str
        The text.
    first : int
        Number of the first item of a list.
    """

    def __init__(self, text: str, *, first: int = 0) -> None:
        self._text = text.replace("\r\n", "\n")
        self._first = first

    def of(self, path: str) -> int | None:
        """Return the line of a field, or of the nearest that it is part of."""
        while path and path not in self._by_path:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> dict[str, int]:
        lines: dict[str, int] = {}
        counts: Counter[str] = Counter()
        source = self._text.split("\n")
        table = ""
        for line, parsed in self._statements():
            if parsed and source[line - 1].lstrip().startswith("["):
                table = self._table(parsed, counts)
                lines.setdefault(table, line)
            elif parsed:
                for path in _paths(parsed, table):
                    lines.setdefault(path, line)
        return lines

    @property
    def first_bad(self) -> int:
        """The line of the first statement with which the text is no longer TOML."""
        lines = self._text.split("\n")
        starts = [start for start, _ in self._statements()]
        good, bad = 0, len(starts)  # statements that are TOML together, and that are not
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                tomllib.loads("\n".join(lines[: starts[middle] - 1]))
                good = middle
            except (ValueError, RecursionError):
                bad = middle
        return starts[good]

    def _statements(self) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Yield the line of each header and assignment with what it is; None if it never ends.

        Lines are put together until Python's parser takes them, so that nothing here has to know
        what a text of several lines is. A hostile text may seem to end in each line: the work is
        limited.
        """
        statement, start, left = "", 1, 2 * len(self._text) + 100_000
        for number, line in enumerate(self._text.split("\n"), 1):
            start = start if statement else number
            statement += line + "\n"
            if start < number and not _CLOSES.search(line):
                continue
            left -= len(statement)
            if left < 0:
                break
            try:
                parsed = tomllib.loads(statement)
            except (ValueError, RecursionError):
                continue
            yield start, parsed
            statement = ""
        if statement:
            yield start, None

    def _table(self, header: Any, counts: Counter[str]) -> str:
        """Return the path of the table that a header begins, and count it in a list of tables."""
        path = ""
        while header:
            ((name, header),) = header.items()
            path = f"{path}.{name}" if path else name
            if isinstance(header, list):
                counts[path] += 1
                header = header[0]
            if counts[path]:
                path = f"{path}[{counts[path] - 1 + self._first}]"
        return path


def _paths(table: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, value in table.items():
        path = f"{above}.{name}" if above else name
        yield path
        if isinstance(value, dict):
            yield from _paths(value, path)


def records(
    lines: Sequence[str], numbers: Sequence[int], at: Place
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of each row of a table that has any, the heading first, with its last line.

    Commas, semicolons or tabs separate the cells, whichever the heading has most of; a first line
    such as ``sep=;`` of a spreadsheet is passed over.

    Parameters
    ----------
    lines : sequence of str
        The lines of the table.
    numbers : sequence of int
        The number of each of them in the file.
    at : Place
        Where it is from.

    Raises
    ------
    ReaderError
        If a quotation mark is not closed, or a cell is too long.
    """
    header = next((index for index, line in enumerate(lines) if line.strip()), None)
    if header is None:
        return
    separators, first = ",;\t", lines[header].rstrip(" \n")
    if first.startswith("sep=") and len(first) == 5 and header + 1 < len(lines):
        header += 1
        if first[4] in separators and first[4] in lines[header]:
            separators = first[4]
    reader = csv.reader(
        (line + "\n" for line in lines[header:]),
        delimiter=max(separators, key=lines[header].count),
        skipinitialspace=True,
        strict=True,
    )
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield replace(at, line=numbers[header + reader.line_num - 1]), cells
    except csv.Error as error:
        line = numbers[min(header + reader.line_num, len(numbers)) - 1]
        raise at.refused("syntax", line=line, reason=str(error)) from None
