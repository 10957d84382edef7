"""The cells of a text with columns: the separator, the header, the rows, and their lines.

Cells that stay text are kept in blocks: a block of rows is one string, which numbers are read from.
As many strings they would take ten times the memory of the file.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, islice, pairwise
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.source import Source, Text, no_measurement, shorten
from netcalc.units import kind_of

# Marks for the gap between cells and for a blank inside one: private characters, no white space.
_GAP, _JOINED = "\ue001", "\ue000"

MAX_COLUMNS = 1000
"""Most columns of a file."""

MISSING = {
    "", "-", "--", "—", "–", "*", "?", "n/a", "na", "#n/a", "nan", "null", "none", "nil",
    "missing", "timeout", "timed out", "lost", "no reply",
}  # fmt: skip

MISSING_WORDS = {
    "na", "none", "nil", "missing", "timeout", "timed out", "lost", "no reply",
}  # fmt: skip
"""Marks of a missing number that may be the name of a column as well."""

INFINITE = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "∞", "-∞"}

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
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?: [AaPp][Mm])?"
    r"|[0-9]{1,2}(?P<mark>[./])[0-9]{1,2}(?P=mark)[0-9]{4}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}"
)
_FRACTION = "[¼-¾⅐-⅞]"
_OTHER_NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?: \d{3})+(?:[.,]\d+)?|\d+(?:_\d+)+|0x[0-9A-Fa-f]+|\d+/\d+"
    rf"|\d*\s?{_FRACTION})"
)
_RANGE_OF_NUMBERS = re.compile(r"[0-9]+\.[0-9]+-\s?[0-9]+\.[0-9]+")
_WITH_UNIT = re.compile(
    rf"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|[0-9]*{_FRACTION})\s?"
    r"(?P<unit>[^\W\d_]{1,8}(?:/[^\W\d_]+)?|%)"
)
_VALUES = (NUMBER, _OTHER_NUMBER, _ADDRESS, _DATE, _RANGE_OF_NUMBERS)

_COMMENTS = ("#", "//", "%")
_AT_A_TIME = 4096
Chunk: TypeAlias = tuple[Sequence[int], "Flat | list[list[str]]"]

_ROWS_BELOW = 200
"""Rows that are looked at to see whether the first one is a row of the same kind."""

_DELIMITERS = ("\t", ";", "|", ",")
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas", " ": "blanks"}


class RowLines(Sequence[int]):
    """The line that each row starts in: rows that follow each other take no memory of their own.

    >>> lines = RowLines()
    >>> lines.extend(range(2, 5))
    >>> lines.extend([7, 9])
    >>> list(lines), lines[-1], lines[2:4], len(lines)
    ([2, 3, 4, 7, 9], 9, [4, 7], 5)
    """

    def __init__(self) -> None:
        self._parts: list[range | array[int]] = []

    def extend(self, numbers: Sequence[int]) -> None:
        """Append the lines of some rows."""
        part = numbers if isinstance(numbers, range) else array("I", numbers)
        last = self._parts[-1] if self._parts else None
        if isinstance(part, range) and isinstance(last, range) and last.stop == part.start:
            self._parts[-1] = range(last.start, part.stop)
        elif part:
            self._parts.append(part)

    def drop_first(self) -> None:
        """Remove the first row."""
        self._parts[0] = self._parts[0][1:]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[int]:
        for part in self._parts:
            yield from part

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> list[int]: ...

    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return list(self._between(start, stop))[::step]
        at = index + len(self) if index < 0 else index
        for number in self._between(at, at + 1):
            return number
        raise IndexError(index)

    def _between(self, start: int, stop: int) -> Iterator[int]:
        for part in self._parts:
            yield from part[max(start, 0) : max(stop, 0)]
            start, stop = start - len(part), stop - len(part)


@dataclass(slots=True)
class CellGrid:
    """The cells of a file by column, with the line each row starts in."""

    source: Source
    delimiter: str
    header: list[str]
    header_line: int
    columns: list[Cells] = field(default_factory=list)
    numbers: RowLines = field(default_factory=RowLines)
    warnings: list[Notice] = field(default_factory=list)
    partial: bool = False

    def refused(
        self, code: str, name: str | None = None, *, line: int | None = None, **values: Any
    ) -> ReaderError:
        """Return the error that refuses a column, or a cell of it with its line."""
        line = line or self.header_line or None
        field = None if name is None else shorten(name)
        return ReaderError(code, file=self.source.name, line=line, field=field, **values)


def read_grid(
    source: Source, text: Text, columns: Sequence[str] | None, decimal: str | None = None
) -> CellGrid:
    first_lines = (line for line in text.lines if line.strip() and not is_comment(line))
    body = list(islice(first_lines, 51))
    if not body:
        raise no_measurement("file-empty", source, text)
    hint = re.fullmatch(r"\s*\"?sep=(.)\"?\s*", body[0])
    stated = hint[1] if hint and hint[1] in _DELIMITERS else ""
    delimiter = stated or delimiter_of(body[bool(hint) :][:50])
    grid = CellGrid(source, delimiter, list(columns or []), 0)
    chunks = _chunks(source, text, delimiter)
    ahead: list[tuple[int, list[str]]] = []
    least = bool(hint) + (not columns)
    for numbers, rows in chunks:
        ahead += zip(numbers, rows, strict=True)
        if len(ahead) >= least:
            break
    if hint:
        ahead = ahead[1:]
    if not columns:
        if not ahead:
            raise ReaderError("file-empty", file=source.name)
        grid.header_line, grid.header = ahead.pop(0)
        _check_header(text, grid)
    if len(grid.header) > MAX_COLUMNS:
        raise grid.refused("too-many-columns", count=len(grid.header), limit=MAX_COLUMNS)
    rest = ([number for number, _ in ahead], [cells for _, cells in ahead])
    _fill(text, grid, chain([rest], chunks))
    if not columns:
        _refuse_data_as_header(text, grid)
    if not stated:
        _refuse_two_separators(text, grid, body[:50], decimal)
    if not grid.numbers:
        is_prose = any(map(_WITH_UNIT.search, grid.header))
        code = "neither-ping-nor-columns" if is_prose else "only-a-header"
        raise ReaderError(code, file=source.name)
    return grid


def _line_of(text: Text, line_number: int) -> str:
    """Return a line near the start of a text as it stands, without white space around it."""
    lines = zip(text.numbers, text.lines, strict=False)
    return shorten(next(line.strip() for number, line in lines if number == line_number))


def _check_header(text: Text, grid: CellGrid) -> None:
    cells = [cell.strip() for cell in grid.header]
    while cells and not cells[-1]:
        cells.pop()
    grid.header = cells
    if cells and all(is_number(cell) or cell.lower() in MISSING | INFINITE for cell in cells):
        raise grid.refused("no-header", value=_line_of(text, grid.header_line))


def _fill(text: Text, grid: CellGrid, chunks: Iterable[Chunk]) -> None:
    width = len(grid.header)
    grid.columns = [Cells() for _ in grid.header]
    ragged: list[int] = []
    for numbers, rows in chunks:
        if isinstance(rows, Flat) and rows.width == width:
            grid.numbers.extend(numbers)
            for index, column in enumerate(grid.columns):
                column.add(rows.cells[index::width], spaced=rows.spaced)
            continue
        numbers, fitting = _fitting(numbers, list(rows), width, ragged)
        if fitting:
            grid.numbers.extend(numbers)
            for column, cells in zip(grid.columns, zip(*fitting, strict=True), strict=True):
                column.add(cells)
    last = text.numbers[-1] if text.numbers else 0
    if not text.ends_complete and ragged and ragged[-1] == last:
        grid.partial = True
        grid.warnings.append(Notice("last-line-cut", {"number": ragged.pop()}))
    by_blanks = bool(ragged) and grid.delimiter == " "  # a sentence may have as many words
    if len(ragged) > len(grid.numbers) - by_blanks:
        has_units_apart = _has_units_apart(text, ragged[0], grid.delimiter)
        raise grid.refused(
            "units-apart" if has_units_apart else "unequal-rows", line=ragged[0], width=width,
            separator=SEPARATORS[grid.delimiter],
        )  # fmt: skip
    if ragged:
        grid.warnings.append(Notice("rows-skipped", {"numbers": ragged, "width": width}))


def _has_units_apart(text: Text, number: int, delimiter: str) -> bool:
    """Whether blanks separate the numbers of a line from their units: ``1.5 ms``."""
    lines = zip(text.numbers, text.lines, strict=True)
    cells = split(next(line for at, line in lines if at == number), delimiter)
    apart = (is_number(cell) and kind_of(unit) for cell, unit in pairwise(cells))
    return delimiter == " " and any(apart)


def _refuse_data_as_header(text: Text, grid: CellGrid) -> None:
    """Refuse a first row that is of the same kind as the rows below: it names nothing.

    A lone quantity over numbers without a unit is a value, too. Several of one kind are the steps
    of a sweep (``64B``, ``128B``), and a percentage is a percentile: those are names. So is a word
    for a missing number (``lost``), unless it is in the rows below, too.
    """
    kinds = [kind_of_cell(cell) for cell in grid.header]
    for index, (cell, kind) in enumerate(zip(grid.header, kinds, strict=True)):
        if not kind:
            continue
        is_lone = kinds.count(kind) == 1 and kind != "ratio" and kind_of(kind) is not None
        alike_kinds = {kind, "value"} if is_lone else {kind}
        below = list(islice(grid.columns[index], _ROWS_BELOW))
        word = cell.strip().lower()
        if word in MISSING_WORDS and all(other.lower() != word for other in below):
            continue
        left_out = set() if word in MISSING else MISSING - {"nan"}
        filled = [other for other in below if other.lower() not in left_out]
        alike = sum(kind_of_cell(other) in alike_kinds for other in filled)
        if 2 * alike >= max(len(filled), 1) or not below:
            first = _line_of(text, grid.header_line)
            raise grid.refused("data-for-header", value=shorten(cell), first=first)


def kind_of_cell(cell: str) -> str:
    """Return what kind of value a cell is; nothing if it is empty, or may only be a name.

    >>> [kind_of_cell(one) for one in ("1.5", "192.0.2.1", "12:00:01", "-", "3 ms", "rtt/ms")]
    ['value', 'value', 'value', 'value', 's', '']
    """
    cell = cell.strip()
    if len(cell) > 64 or not cell:
        return ""
    if cell.lower() in INFINITE | MISSING or any(p.fullmatch(cell) for p in _VALUES):
        return "value"
    quantity = _WITH_UNIT.fullmatch(cell)
    return kind_of(quantity["unit"]) or quantity["unit"] if quantity else ""


def _fitting(numbers: Sequence[int], rows: list[list[str]], width: int, ragged: list[int]) -> Chunk:
    """Return the rows that have the width; those with empty cells at the end have it, too."""
    kept: list[list[str]] = []
    lines: list[int] = []
    for number, cells in zip(numbers, rows, strict=True):
        trimmed = list(cells)
        while len(trimmed) > width and not trimmed[-1].strip():
            trimmed.pop()
        if len(trimmed) != width:
            ragged.append(number)
            continue
        kept.append(trimmed)
        lines.append(number)
    return lines, kept


class _RecordLines:
    """Lines for the csv module: comments and blanks are left out between records, not in quotes."""

    def __init__(self, numbered: Iterator[tuple[int, str]], delimiter: str) -> None:
        self.numbered, self.delimiter = numbered, delimiter
        self.record_begins = True
        self.number = 0

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        for number, line in self.numbered:
            if self.record_begins:
                if not line.strip() or is_comment(line):
                    continue
                self.record_begins = False
                self.number = number
            return _unblanked(line) + "\n" if self.delimiter == " " else line + "\n"
        raise StopIteration


def _chunks(source: Source, text: Text, delimiter: str) -> Iterator[Chunk]:
    """Yield the rows of a text, many at a time, with the line each of them starts in."""
    begin = 0
    for block in text.lines.blocks():
        lines = block.split("\n")
        count = len(lines)
        numbers: Sequence[int] = text.numbers[begin : begin + count]
        if not all(map(str.strip, lines)) or any(mark in block for mark in _COMMENTS):
            whole = [bool(line.strip()) and not is_comment(line) for line in lines]
            if not all(whole):
                lines, numbers = list(compress(lines, whole)), list(compress(numbers, whole))
                block = "\n".join(lines)
        rows = flat_rows(block, len(lines), delimiter) or _rows(block, lines, delimiter)
        if rows is None:
            break
        yield numbers, rows
        begin += count
    else:
        return
    # A quoted cell goes over several lines, or is malformed: record by record from here on.
    left = zip(text.numbers, text.lines, strict=True)
    records = _records(source, islice(left, begin, None), delimiter)
    while some := list(islice(records, _AT_A_TIME)):
        yield [number for number, _ in some], [cells for _, cells in some]


def _rows(block: str, lines: list[str], delimiter: str) -> Flat | list[list[str]] | None:
    """Return the cells of lines of which each is a row; None if one may not be."""
    rows = _rows_of_lines(block, lines, delimiter)
    if rows and all(len(cells) == len(rows[0]) for cells in rows):
        return Flat(len(rows[0]), list(chain.from_iterable(rows)), True)
    return rows


def _rows_of_lines(block: str, lines: list[str], delimiter: str) -> list[list[str]] | None:
    if delimiter == " ":
        if any(mark in block for mark in '[("'):
            return [split(line, delimiter) for line in lines]
        return [line.split() for line in lines]
    if '"' not in block:
        return [line.split(delimiter) for line in lines]
    if any(line.count('"') % 2 for line in lines):
        return None
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        return None
    return rows if len(rows) == len(lines) else None


def _records(
    source: Source, numbered: Iterator[tuple[int, str]], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    lines = _RecordLines(numbered, delimiter)
    separator = _GAP if delimiter == " " else delimiter
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        lines.record_begins = True
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = shorten(str(error))
            raise ReaderError(
                "malformed-quotes", file=source.name, line=lines.number, reason=reason
            ) from None
        yield lines.number, cells


def _unblanked(line: str) -> str:
    """Mark the gaps between cells that are separated by blanks; ``rtt [ms]`` is one cell."""
    joined = re.sub(r"(?<!\s)\s+(?=[\[(])", _JOINED, line.strip())
    return re.sub(r"\s+", _GAP, joined).replace(_JOINED, " ").replace('"', "")


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(_COMMENTS)


def delimiter_of(lines: Sequence[str]) -> str:
    """Choose the separator that gives most lines as many cells as the first one, two or more.

    Where several do, blanks come last. Where the first line has one cell by each of them, most
    lines decide alone: it may be a title.

    >>> delimiter_of(["run,times", "1,0.5|0.7", "2,0.6|0.9"]), delimiter_of(["a;b", "1,5;2,5"])
    (',', ';')
    """
    fits = {delimiter: _fit_of(lines, delimiter) for delimiter in (*_DELIMITERS, " ")}
    best = max(fits, key=lambda delimiter: fits[delimiter])
    if fits[best][1] >= 0.5:
        return best
    return " " if any(len(line.split()) > 1 for line in lines[1:]) else ","


def _refuse_two_separators(
    text: Text, grid: CellGrid, lines: Sequence[str], decimal: str | None
) -> None:
    """Refuse a text that another separator cuts as evenly: ``id,x|y`` above ``1,1|2``.

    A blank behind it shows that it is punctuation: ``rtt, ms;loss, %`` above ``1,5;0,1``.
    """
    used = grid.delimiter
    if used not in _DELIMITERS[1:] or _fit_of(lines, used) != (True, 1.0):
        return
    for other in _DELIMITERS[1:]:
        punctuates = f"{other} " in lines[0] or other not in lines[0]
        if other not in (used, decimal) and not punctuates and _fit_of(lines, other) == (True, 1.0):
            numbered = zip(text.numbers, text.lines, strict=True)
            raise grid.refused(
                "separator-ambiguous", line=next(at for at, line in numbered if line == lines[0]),
                value=shorten(lines[0].strip()), separator=used, other=other,
                readings=[SEPARATORS[used], SEPARATORS[other]],
            )  # fmt: skip


def _fit_of(lines: Sequence[str], delimiter: str) -> tuple[bool, float]:
    """Return whether the first line has as many cells as most, and the share that has."""
    widths = [_width_of(line, delimiter) for line in lines]
    common = Counter(width for width in widths if width > 1).most_common(1)
    if not common:
        return False, 0.0
    width, count = common[0]
    return widths[0] == width, count / len(lines)


def _width_of(line: str, delimiter: str) -> int:
    """Return the number of cells of a line; 0 where a separator is inside a quoted cell."""
    if '"' in line and delimiter != " ":
        cells = split(line, delimiter)
        return 0 if any(cell.count('"') % 2 for cell in cells) else len(cells)
    if delimiter == " ":
        return len(split(line, delimiter))
    return line.count(delimiter) + 1


def split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return _unblanked(line).split(_GAP)
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return line.split(delimiter)


def is_number(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell.strip()))


MARK = "\x01"
"""Between two cells of a block: a control character that no table holds."""
_SPACE = re.compile(r"\s")
_BLANKS = np.array([chr(code).isspace() for code in range(128)])
_LINE_END = ord("\n")
_MOST_KNOWN = 1 << 16


@dataclass(frozen=True, slots=True)
class Flat:
    """Rows of equal width, as one list of cells."""

    width: int
    cells: list[str]
    spaced: bool

    def __iter__(self) -> Iterator[list[str]]:
        for start in range(0, len(self.cells), self.width):
            yield self.cells[start : start + self.width]


def flat_rows(block: str, count: int, delimiter: str) -> Flat | None:
    """Return the rows of a block of lines, if all have the same number of cells and no quotes."""
    if '"' in block or not count or not block.isascii():
        return None
    letters = np.frombuffer(block.encode("ascii"), dtype=np.uint8)
    if delimiter == " ":
        if "[" in block or "(" in block:
            return None
        blank = _BLANKS[letters]
        begins = np.flatnonzero(~blank & np.concatenate(([True], blank[:-1])))
        ends = np.append(np.flatnonzero(letters == _LINE_END), letters.size)
        widths = np.diff(np.searchsorted(begins, ends), prepend=0)
        if (widths != widths[0]).any():
            return None
        return Flat(int(widths[0]), block.split(), False)
    marks = letters[(letters == ord(delimiter)) | (letters == _LINE_END)]
    width = (marks.size + 1) // count
    if width * count != marks.size + 1 or (marks[width - 1 :: width] != _LINE_END).any():
        return None
    if np.count_nonzero(marks == _LINE_END) != count - 1:
        return None
    spaced = bool(_BLANKS[letters].sum() > count - 1 + (delimiter == "\t") * (width - 1) * count)
    return Flat(width, block.replace("\n", delimiter).split(delimiter), spaced)


class Cells(Sequence[str]):
    """The cells of a column, without blanks around them.

    >>> cells = Cells()
    >>> cells.add(["1.5", " 2.25"])
    >>> cells.add(["up"])
    >>> list(cells), cells[1], len(cells)
    (['1.5', '2.25', 'up'], '2.25', 3)
    """

    def __init__(self) -> None:
        self._blocks: list[str | list[str]] = []
        self._counts: list[int] = []

    def add(self, cells: Sequence[str], *, spaced: bool = True) -> None:
        """Append cells; ``spaced`` if there may be blanks around them."""
        joined = MARK.join(cells)
        if spaced and _SPACE.search(joined):
            cells = [cell.strip() for cell in cells]
            joined = MARK.join(cells)
        whole = joined.count(MARK) == len(cells) - 1
        self._blocks.append(joined + MARK if whole else list(cells))
        self._counts.append(len(cells))

    def drop_first(self) -> None:
        """Remove the first cell."""
        first = self._cells(self._blocks[0])[1:]
        del self._blocks[0], self._counts[0]
        if first:
            rest, counts = self._blocks, self._counts
            self._blocks, self._counts = [], []
            self.add(first)
            self._blocks += rest
            self._counts += counts

    def blocks(self) -> Iterator[tuple[int, str | list[str]]]:
        """Yield the index of the first cell of each block, and the block."""
        start = 0
        for block, count in zip(self._blocks, self._counts, strict=True):
            yield start, block
            start += count

    def holds(self, text: str) -> Iterator[str]:
        """Yield the cells of the blocks in which a text is found."""
        for block in self._blocks:
            if not isinstance(block, str) or text in block:
                yield from self._cells(block)

    def texts(self) -> NDArray[Any]:
        """Return the cells as an array of texts; equal ones are one object."""
        texts: NDArray[Any] = np.empty(len(self), dtype=object)
        kept: dict[str, str] = {}
        for start, block in self.blocks():
            cells = self._cells(block)
            if len(kept) < _MOST_KNOWN:
                cells = [kept.setdefault(cell, cell) for cell in cells]
            texts[start : start + len(cells)] = cells
        return texts

    @staticmethod
    def _cells(block: str | list[str]) -> list[str]:
        return block[:-1].split(MARK) if isinstance(block, str) else block

    cells_of = _cells

    def __len__(self) -> int:
        return sum(self._counts)

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks:
            yield from self._cells(block)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return list(self)[index]
        for start, block in self.blocks():
            if index < start + len(self._cells(block)):
                return self._cells(block)[index - start]
        raise IndexError(index)
