"""A decoded text cut into lines, as a terminal would show them, with their numbers.

The lines stay one text, which is cut where they are asked for: as many strings they would take
several times the memory of the file.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import overload

BLOCK = 1 << 16
"""Characters that are cut into lines at a time."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # colours, cursor movements
    r"|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # window titles, links
    r"|\x1b[ -/]?[0-~]?"
)
_TOUCHED = re.compile("[\x1b\b]")
_BREAKS = re.compile("[\r\n]")


class Lines(Sequence[str]):
    """The lines of a text, cut when they are asked for.

    >>> lines = Lines("a\\nb\\nc")
    >>> len(lines), lines[1], list(lines[1:]), list(lines)
    (3, 'b', ['b', 'c'], ['a', 'b', 'c'])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._count = text.count("\n") + 1
        self._all: list[str] | None = None

    def __len__(self) -> int:
        return self._count

    def blocks(self) -> Iterator[str]:
        """Yield the text in pieces of whole lines, without the line end between two of them."""
        start, end = 0, len(self.text)
        while start <= end:
            stop = self.text.find("\n", start + BLOCK)
            stop = end if stop < 0 else stop
            yield self.text[start:stop]
            start = stop + 1

    def __iter__(self) -> Iterator[str]:
        if self._all is not None:
            yield from self._all
            return
        for block in self.blocks():
            yield from block.split("\n")

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            if step > 0:
                return list(islice(self, start, stop, step))
        elif index == -1:
            return self.text[self.text.rfind("\n") + 1 :]
        if self._all is None:
            self._all = self.text.split("\n")
        return self._all[index]


def numbered(text: str) -> tuple[str, Sequence[int], bool]:
    """Return a text with line ends of one kind, the line numbers, and whether its end has one.

    A carriage return inside a line starts a new piece of it, which keeps the line's number; in a
    text without other line ends it ends the line.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = re.sub(r"(?<!\r)\r+\n", "\n", text) if "\r\n" in text else text
        if text.endswith("\r") and "\n" in text:
            text = text.rstrip("\r")
    numbers: Sequence[int] | None = None
    if "\r" in text:
        if "\n" in text:
            numbers = _numbers_of_pieces(text)
        text = text.replace("\r", "\n")
    complete = text.endswith("\n") or not text
    if complete:
        text = text[:-1]
    if numbers is None:
        count = text.count("\n") + 1 if text or complete else 0
        return text, range(1, count + 1), complete
    return text, numbers[:-1] if complete else numbers, complete


def _numbers_of_pieces(text: str) -> Sequence[int]:
    numbers, number = array("I", [1]), 1
    for found in _BREAKS.finditer(text):
        number += found[0] == "\n"
        numbers.append(number)
    return numbers


def without_terminal_codes(text: str, limit: int) -> tuple[str, list[int]]:
    """Return a text without escape codes and overtyped characters, and the indexes of such lines.

    Of a line longer than ``limit`` only the beginning is kept.
    """
    found = _TOUCHED.search(text)
    if found is None:
        return text, []
    parts: list[str] = []
    touched: list[int] = []
    done = index = 0
    while found is not None:
        start = text.rfind("\n", done, found.start()) + 1 or done
        stop = text.find("\n", found.end())
        stop = len(text) if stop < 0 else stop
        index += text.count("\n", done, start)
        touched.append(index)
        parts += [text[done:start], overtyped(_ESCAPES.sub("", text[start:stop][:limit]))]
        done = stop
        found = _TOUCHED.search(text, stop)
    parts.append(text[done:])
    return "".join(parts), touched


def overtyped(line: str) -> str:
    """Apply backspaces: each takes back the character before it."""
    if "\b" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def without_long(text: str, limit: int) -> tuple[str, list[int]]:
    """Return a text whose lines beyond a length are empty, and the indexes of those lines."""
    parts: list[str] = []
    long: list[int] = []
    done = place = index = 0
    while len(text) - place > limit:
        last = text.rfind("\n", place, place + limit + 1)
        if last >= 0:
            index += text.count("\n", place, last + 1)
            place = last + 1
            continue
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop
        parts.append(text[done:place])
        long.append(index)
        done = place = stop
        if stop < len(text):
            place, index = stop + 1, index + 1
    return ("".join(parts) + text[done:] if long else text), long
