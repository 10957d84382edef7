"""JSON of other tools: bounded, with the position of a fault, one document or several."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.source import Source, decode, shorten

_SPACE = re.compile(r"[\s\ufeff]*")
_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_CLOSING = {"{": "}", "[": "]"}
_ODD = re.compile(r"(?<=[:,\[])(\s*)[-+]?(?:nan|inf(?:inity)?)(?=\s*[,}\]])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Documents:
    """JSON documents, and the fault in the text after them, if any.

    Parameters
    ----------
    documents : tuple
        The documents that are whole.
    fault : ReaderError or None
        The fault in the text after them, if it is not a document.
    warnings : tuple of Notice
        Names with two values; numbers that are none, which are null.
    rest : str
        The text behind the whole documents, if it has a fault.
    """

    documents: tuple[Any, ...]
    fault: ReaderError | None
    warnings: tuple[Notice, ...] = ()
    rest: str = ""

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield the objects: documents that are one, and those in a document that is a list."""
        for document in self.documents:
            for row in document if isinstance(document, list) else [document]:
                if isinstance(row, dict):
                    yield row

    def warnings_of_cut(self, code: str = "document-cut") -> list[Notice]:
        """Return the warnings, and that of a fault behind the whole documents."""
        if self.fault is None:
            return list(self.warnings)
        at = {name: self.fault.values.get(name) for name in ("line", "offset")}
        return [*self.warnings, Notice(code, at)]

    def only(self) -> Any:
        """Return the one document; raise the fault, or an error if there are several."""
        if self.fault is not None:
            raise self.fault
        return self.documents[0]


def read_documents(source: Source) -> Documents:
    """Read the JSON documents of a source, one behind the other.

    ``nan`` and ``inf`` in any writing, which JSON does not know, become None; of a name given twice
    in one object the last value stays. Both are warnings, the second only if the values differ.
    """
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        decoded = decode(source)
        text = "\n".join(decoded.whole)
    twins: Counter[str] = Counter()
    odd: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            changed = (name for name, value in pairs if members[name] != value)
            twins.update(list(dict.fromkeys(changed)))  # in the order of the file
        return members

    def constant(word: str) -> None:
        odd.append(word)

    decoder = json.JSONDecoder(object_pairs_hook=unique, parse_constant=constant)
    documents: list[Any] = []
    fault: ReaderError | None = None
    position = _after_space(text, 0)
    while position < len(text):
        try:
            document, position = decoder.raw_decode(text, position)
        except RecursionError:
            fault = ReaderError("json-too-deep", file=source.name)
            break
        except ValueError as error:
            mended = _ODD.sub(r"\1NaN", text) if isinstance(error, json.JSONDecodeError) else text
            if mended != text:
                text = mended
                continue
            fault = _fault(source, text, error, position)
            break
        documents.append(document)
        position = _after_space(text, position)
    warnings = []
    if twins:
        names = [shorten(name) for name in twins]
        warnings.append(Notice("json-twins", {"names": names}))
    if odd:
        warnings.append(Notice("json-no-number", {"count": len(odd)}))
    rest = "" if fault is None else text[position:]
    return Documents(tuple(documents), fault, tuple(warnings), rest)


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _fault(source: Source, text: str, error: ValueError, start: int) -> ReaderError:
    """Return the position at which a text stops being JSON: its line, and the text there."""
    at = error.pos if isinstance(error, json.JSONDecodeError) else start
    return ReaderError(
        "damaged-json" if at < len(text.rstrip()) else "json-cut-short",
        file=source.name,
        line=text.count("\n", 0, at) + 1,
        offset=len(text[:at].encode("utf-8", "surrogatepass")),
        value=shorten(text[at : at + 40].split("\n")[0]) or None,
    )


def closed_after_whole_parts(text: str, depth: int) -> str:
    """Return JSON that was cut as far as its parts down to a depth are whole, with its brackets.

    >>> closed_after_whole_parts('{"a": {"b": 1}, "c": [{"d": 2}, {"d": 3', 2)
    '{"a": {"b": 1}, "c": [{"d": 2}]}'
    """
    opened: list[str] = []
    end, missing = 0, ""
    for token in _STRINGS_AND_BRACKETS.finditer(text):
        mark = token[0]
        if mark in _CLOSING:
            opened.append(mark)
        elif mark in _CLOSING.values():
            if not opened or _CLOSING[opened.pop()] != mark:
                break
            if len(opened) <= depth:
                end = token.end()
                missing = "".join(_CLOSING[bracket] for bracket in reversed(opened))
    return text[:end] + missing


def number(row: Mapping[str, Any], *names: str) -> float:
    """Return the first of these members that is a number, nan if none is; true is not a number."""
    for name in names:
        value: Any = row.get(name)
        kind = type(value)
        if kind is float:
            return float(value) if math.isfinite(value) else math.nan
        if kind is int:
            try:
                return float(value)
            except OverflowError:
                return math.nan
    return math.nan


def count(row: Mapping[str, Any], *names: str) -> int | None:
    """Return the first of these members that is a number as a count; None if it is below 0."""
    value = number(row, *names)
    return int(value) if value >= 0 else None


def words(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of these members that is text; empty if none is."""
    return next((row[name] for name in names if isinstance(row.get(name), str)), "")


def member(row: Any, *names: str) -> Mapping[str, Any]:
    """Return an object inside objects, by its way down; an empty one if it is not there."""
    for name in names:
        row = row.get(name) if isinstance(row, Mapping) else None
    return row if isinstance(row, Mapping) else {}


def rows(row: Any, name: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects in a list that is a member; empty if there is none."""
    listed = row.get(name) if isinstance(row, dict | Mapping) else None
    # A test for a dict is ten times faster than one for a mapping, which it would be in JSON.
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
