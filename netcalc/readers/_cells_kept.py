"""Cells of one column, kept as text: a block of rows is one string, which numbers are read from.

As many strings they would take ten times the memory of the file.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_MARK = "\x01"  # between two cells: a control character that no table holds
_SPACE = re.compile(r"\s")
_DIGITS = r"[+-]?[0-9]{1,15}+"
_POINTS = re.compile(rf"(?:{_DIGITS}(?:\.[0-9]{{1,15}}+)?+{_MARK})*+")
_COMMAS = re.compile(rf"(?:{_DIGITS}(?:,[0-9]{{1,15}}+)?+{_MARK})*+")
_BLANKS = np.array([chr(code).isspace() for code in range(128)])
_LINE_END = ord("\n")
_LARGEST = 1e15  # a mantissa up to here is exact, and so is its shortest decimal
_EXACT_POWERS = 22
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
        joined = _MARK.join(cells)
        if spaced and _SPACE.search(joined):
            cells = [cell.strip() for cell in cells]
            joined = _MARK.join(cells)
        whole = joined.count(_MARK) == len(cells) - 1
        self._blocks.append(joined + _MARK if whole else list(cells))
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
        found: NDArray[Any] = np.empty(len(self), dtype=object)
        known: dict[str, str] = {}
        for start, block in self.blocks():
            cells = self._cells(block)
            if len(known) < _MOST_KNOWN:
                cells = [known.setdefault(cell, cell) for cell in cells]
            found[start : start + len(cells)] = cells
        return found

    @staticmethod
    def _cells(block: str | list[str]) -> list[str]:
        return block[:-1].split(_MARK) if isinstance(block, str) else block

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


def are_plain(block: str | list[str], *, comma: bool = False) -> bool:
    """Whether all cells of a block are numbers of digits with one decimal sign at most."""
    return isinstance(block, str) and bool((_COMMAS if comma else _POINTS).fullmatch(block))


def plain_values(
    block: str | list[str], *, comma: bool, factor: float
) -> NDArray[np.float64] | None:
    """Return the numbers of a block of plain cells times a factor; None if they are not plain.

    A factor that is a negative power of ten is in the number before it is rounded.
    """
    if not isinstance(block, str) or not are_plain(block, comma=comma):
        return None
    digits = exact_decimals(block, "," if comma else ".")
    if digits is None:
        return None
    mantissa, places = digits
    shift = _negative_power(factor)
    if places.max(initial=0) + shift > _EXACT_POWERS:
        return None
    values: NDArray[np.float64] = mantissa / 10.0 ** (places + shift)
    return values if shift or factor == 1 else values * factor


def exact_decimals(block: str, sign: str) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return numbers of a block of plain cells without their decimal sign, and its places.

    None if one has more digits than a float holds.
    """
    written = block.replace(sign, "")[:-1].split(_MARK)
    digits = np.fromiter(map(float, written), np.float64, len(written))
    if np.abs(digits).max(initial=0.0) >= _LARGEST:
        return None
    places = np.zeros(digits.size, dtype=np.int64)
    if sign in block:
        letters = np.frombuffer(block.encode("ascii"), dtype=np.uint8)
        ends = np.flatnonzero(letters == ord(_MARK))
        signs = np.flatnonzero(letters == ord(sign))
        rows = np.searchsorted(ends, signs)
        places[rows] = ends[rows] - signs - 1
    return digits, places


def _negative_power(factor: float) -> int:
    """Return 3 for 0.001, 0 for a number that is not a negative power of ten."""
    return next((power for power in range(1, 19) if factor == float(f"1e-{power}")), 0)
