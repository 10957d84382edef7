"""The cells of a text with columns: the separator, the header, the rows, and their lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.source import Source, Text, no_measurement, shortened

# Marks for the gap between cells and for a blank inside one: private characters, no white space.
_GAP, _JOINED = "\ue001", "\ue000"

MAX_COLUMNS = 1000
"""Most columns of a file."""

MISSING = {
    "", "-", "--", "—", "–", "*", "?", "n/a", "na", "#n/a", "nan", "null", "none", "nil",
    "missing", "timeout", "timed out", "lost", "no reply",
}  # fmt: skip

NUMBER = re.compile(
    r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+|\d{1,3}(?:(?P<mark>[.,'’\u00a0\u202f\u2009])\d{3})(?:(?P=mark)\d{3})*"
    r"(?:[.,]\d+)?)(?:[eE][+-]?\d+)?"
)
_ADDRESS = re.compile(
    r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?"
    r"|(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9.]{7,15}|[0-9A-Fa-f]{0,4})(?:%[\w.-]{1,20})?"
    r"|[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}"
)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}\S*)?)?(?: \S{1,5})?"
    r"|[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
)
_RANGE_OF_NUMBERS = re.compile(r"[0-9]+\.[0-9]+-\s?[0-9]+\.[0-9]+")
_WITH_UNIT = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?\s?(?P<unit>[^\W\d_]{1,8}(?:/[^\W\d_]+)?|%)")

_ROWS_BELOW = 200
"""Rows that are looked at to see whether the first one is a row of the same kind."""

_DELIMITERS = ("\t", ";", "|", ",")
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas", " ": "blanks"}
SEPARATED = {"\t": " ", ";": ";", "|": "|", ",": ",", " ": " "}
"""How cells are joined when a row is shown."""


@dataclass(slots=True)
class Grid:
    """The cells of a file, with the line each row starts in."""

    delimiter: str
    header: list[str]
    header_line: int
    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    partial: bool = False


def read_grid(source: Source, text: Text, columns: Sequence[str] | None) -> Grid:
    lines = text.lines
    body = [line for line in lines if line.strip() and not is_comment(line)]
    if not body:
        raise no_measurement("file-empty", source, text)
    hint = re.fullmatch(r"\s*\"?sep=(.)\"?\s*", body[0])
    delimiter = (
        hint[1] if hint and hint[1] in _DELIMITERS else delimiter_of(body[bool(hint) :][:50])
    )
    records = _records(source, text, delimiter)
    if hint:
        next(records, None)
    grid = Grid(delimiter, list(columns or []), 0)
    if not columns:
        first = next(records, None)
        if first is None:
            raise ReaderError("file-empty", file=source.name)
        grid.header_line, grid.header = first
        _check_header(source, grid)
    if len(grid.header) > MAX_COLUMNS:
        raise ReaderError(
            "too-many-columns",
            file=source.name,
            line=grid.header_line or None,
            count=len(grid.header),
            limit=MAX_COLUMNS,
        )
    _fill(source, text, grid, records)
    if not columns:
        _refuse_data_as_header(source, grid)
    if not grid.rows:
        raise ReaderError("only-a-header", file=source.name)
    return grid


def _check_header(source: Source, grid: Grid) -> None:
    cells = [cell.strip() for cell in grid.header]
    while cells and not cells[-1]:
        cells.pop()
    grid.header = cells
    if cells and all(is_number(cell) or cell.lower() in MISSING for cell in cells):
        value = shortened(" ".join(cells))
        raise ReaderError("no-header", file=source.name, line=grid.header_line, value=value)


def _fill(source: Source, text: Text, grid: Grid, records: Iterator[tuple[int, list[str]]]) -> None:
    width = len(grid.header)
    ragged: list[int] = []
    for number, cells in records:
        trimmed = list(cells)
        while len(trimmed) > width and not trimmed[-1].strip():
            trimmed.pop()
        if len(trimmed) != width:
            ragged.append(number)
            continue
        grid.rows.append([cell.strip() for cell in trimmed])
        grid.numbers.append(number)
    last = text.numbers[-1] if text.numbers else 0
    if not text.ends_complete and ragged and ragged[-1] == last:
        grid.partial = True
        grid.warnings.append(Notice("last-line-cut", {"number": ragged.pop()}))
    if len(ragged) > len(grid.rows):
        raise ReaderError(
            "unequal-rows",
            file=source.name,
            line=ragged[0],
            width=width,
            separator=SEPARATORS[grid.delimiter],
        )
    if ragged:
        grid.warnings.append(Notice("rows-skipped", {"numbers": ragged, "width": width}))


def _refuse_data_as_header(source: Source, grid: Grid) -> None:
    """Refuse a first row that is of the same kind as the rows below: it names nothing."""
    for index, cell in enumerate(grid.header):
        kind = _kind(cell)
        if not kind:
            continue
        below = [row[index] for row in grid.rows[:_ROWS_BELOW]]
        alike = sum(_kind(other) == kind for other in below)
        known = sum(other.lower() not in MISSING for other in below)
        if 2 * alike >= max(known, 1) or not grid.rows:
            raise ReaderError(
                "data-for-header",
                file=source.name,
                line=grid.header_line,
                value=shortened(cell),
                first=shortened(SEPARATED[grid.delimiter].join(grid.header)),
            )


def _kind(cell: str) -> str:
    """Return what kind of value a cell is; nothing if it may be a name.

    >>> _kind("1.5"), _kind("192.0.2.1"), _kind("12:00:01"), _kind("3 ms"), _kind("rtt/ms")
    ('value', 'value', 'value', 'ms', '')
    """
    cell = cell.strip()
    if len(cell) > 64:
        return ""
    if any(p.fullmatch(cell) for p in (NUMBER, _ADDRESS, _DATE, _RANGE_OF_NUMBERS)):
        return "value"
    quantity = _WITH_UNIT.fullmatch(cell)
    return quantity["unit"] if quantity else ""


class _RecordLines:
    """Lines for the csv module: comments and blanks are left out between records, not in quotes."""

    def __init__(self, text: Text, delimiter: str) -> None:
        self.text, self.delimiter = text, delimiter
        self.index = 0
        self.record_begins = True
        self.number = 0

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        lines = self.text.lines
        while self.index < len(lines):
            line, number = lines[self.index], self.text.numbers[self.index]
            self.index += 1
            if self.record_begins:
                if not line.strip() or is_comment(line):
                    continue
                self.record_begins = False
                self.number = number
            return _unblanked(line) + "\n" if self.delimiter == " " else line + "\n"
        raise StopIteration


def _records(source: Source, text: Text, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    lines = _RecordLines(text, delimiter)
    separator = _GAP if delimiter == " " else delimiter
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        lines.record_begins = True
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ReaderError(
                "malformed-quotes",
                file=source.name,
                line=lines.number,
                reason=shortened(str(error)),
            ) from None
        yield lines.number, cells


def _unblanked(line: str) -> str:
    """Mark the gaps between cells that are separated by blanks; ``rtt [ms]`` is one cell."""
    joined = re.sub(r"\s+(?=[\[(])", _JOINED, line.strip())
    return re.sub(r"\s+", _GAP, joined).replace(_JOINED, " ").replace('"', "")


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "//", "%"))


def delimiter_of(lines: Sequence[str]) -> str:
    """Choose the separator that gives most lines the same number of cells, two or more."""
    for delimiter in _DELIMITERS:
        widths = Counter(len(split(line, delimiter)) for line in lines if delimiter in line)
        if widths and widths.most_common(1)[0][1] >= 0.5 * len(lines):
            return delimiter
    return " " if any(len(line.split()) > 1 for line in lines) else ","


def split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return _unblanked(line).split(_GAP)
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return line.split(delimiter)


def is_number(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell.strip()))
