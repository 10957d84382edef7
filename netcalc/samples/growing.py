"""Lines of a file of samples that grows during a run: what is left of a run that was killed.

The first line says what the file is. Each further one begins with its SHA-256 and has rows, from
which row on they count, and all that is known besides, which replaces what was known before. The
last line may be cut off: what it would have added is lost.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc import documents
from netcalc.documents import Place
from netcalc.messages import Notice

HEAD = b'{"format": "netcalc samples", "grows": true, '
"""How such a file begins."""
_SUM = b'{"sha256": "%s", '
_SUM_BYTES = len(_SUM % bytes(64))
_TYPES = frozenset({"<f8", "|b1", "|u1", "<u2", "<u4", "<u8", "<i8"})
"""Types of packed numbers, as numpy writes them; of texts, their numbers are packed."""


def head(names: Mapping[str, Any]) -> bytes:
    """Return the first line, of the names that every file of samples begins with."""
    rest = {name: value for name, value in names.items() if name != "format"}
    return HEAD + json.dumps(rest).encode()[1:] + b"\n"


def line(first: int, beside: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the line of all rows from the row ``first`` on, and of what is beside them."""
    packed = {name: _packed(column) for name, column in columns.items()}
    body = json.dumps({"first": first, **beside, "columns": packed}).encode()[1:]
    return _SUM % hashlib.sha256(body).hexdigest().encode() + body + b"\n"


def first_change(before: Mapping[str, NDArray[Any]], now: Mapping[str, NDArray[Any]]) -> int:
    """Return the first row in which columns differ, or that one of them does not have."""
    if before.keys() != now.keys():
        return 0
    first = min((column.size for column in (*before.values(), *now.values())), default=0)
    for name, column in now.items():
        old, new = before[name][:first], column[:first]
        same = (old == new) | ((old != old) & (new != new))
        first = first if same.all() else int(np.argmin(same))
    return first


def _packed(column: NDArray[Any]) -> dict[str, Any]:
    """Return a column in the fewest bytes that are quickly written; nan at its ends is left out."""
    packed: dict[str, Any] = {}
    if column.dtype.kind == "O":
        numbers: dict[str, int] = {}
        named = [numbers.setdefault(text, len(numbers)) for text in column.tolist()]
        column, packed["texts"] = np.array(named, dtype=np.uint32), list(numbers)
    if column.dtype.kind == "f":
        known = np.flatnonzero(~np.isnan(column))
        begin, end = (int(known[0]), int(known[-1]) + 1) if known.size else (0, 0)
        packed |= {"count": column.size, "begin": begin}
        column = column[begin:end]
    column = column.astype(column.dtype.newbyteorder("<"))
    packed |= {"type": column.dtype.str, "data": base64.b64encode(column.tobytes()).decode()}
    return packed


def _unpacked(packed: Mapping[str, Any], most: int) -> NDArray[Any]:
    """Return a column of so many rows at most; an error of Python says that it is none."""
    kind = {name: name for name in _TYPES}[packed["type"]]
    values: NDArray[Any] = np.frombuffer(base64.b64decode(packed["data"], validate=True), kind)
    if "texts" in packed:
        texts: NDArray[Any] = np.empty(len(packed["texts"]), dtype=object)
        texts[...] = packed["texts"]
        chosen: NDArray[Any] = texts[values]
        return chosen
    if "begin" not in packed:
        return values
    count, begin = packed["count"], packed["begin"]
    if not 0 <= begin <= count <= most:
        raise ValueError("more rows than a line has bytes")
    column = np.full(count, math.nan)
    column[begin : begin + values.size] = values
    return column


def assembled(data: bytes, at: Place) -> dict[str, Any]:
    """Return the document of samples whose lines are in a file, marked as partial.

    Raises
    ------
    ReaderError
        If a line other than the last is damaged.
    """
    first_line, *lines = (text.removesuffix(b"\r") for text in data.split(b"\n"))
    document: dict[str, Any] = documents.read_json(first_line, at)
    parts: list[tuple[int, int, dict[str, NDArray[Any]]]] = []  # first row, row after it, columns
    beside: dict[str, Any] = {"meta": {}, "fields": {}}
    if lines and not _is_whole(lines[-1]):
        lines.pop()  # nothing, or what a killed program had not written to its end
    for number, text in enumerate(lines, 2):
        here = replace(at, line=number)
        if not _is_whole(text):
            raise here.refused("damaged-line")
        body = documents.read_json(b"{" + text[_SUM_BYTES:], here)
        try:
            first, packed = int(body.pop("first")), body.pop("columns")
            columns = {name: _unpacked(each, len(text)) for name, each in packed.items()}
            rows = {column.size for column in columns.values()}
            parts.append((first, first + rows.pop(), columns))
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise here.refused("damaged-line") from error
        before = max((end for _, end, _ in parts[:-1]), default=0)
        if rows or columns.keys() != parts[0][2].keys() or not 0 <= first <= before:
            raise here.refused("damaged-line")
        beside = {name: body[name] for name in beside if name in body}
    _mark_partial(beside["meta"])
    return {**document, **beside, "columns": _joined(parts)}


def _mark_partial(meta: Any) -> None:
    """Say in the facts of a run that it had not ended; what is no fact is refused later."""
    if isinstance(meta, dict) and isinstance(warnings := meta.setdefault("warnings", []), list):
        facts = meta.get("instrument")
        lasted_s = facts.get("duration_s") if isinstance(facts, dict) else None
        known_s = lasted_s if isinstance(lasted_s, float) else 0.0
        warnings.append(Notice("run-not-ended", {"lasted_s": known_s}).stored())
        meta["partial"] = True


def _is_whole(text: bytes) -> bool:
    """Whether a line is as it was written."""
    digest = hashlib.sha256(text[_SUM_BYTES:]).hexdigest().encode()
    return text[:_SUM_BYTES] == _SUM % digest


def _joined(parts: list[tuple[int, int, dict[str, NDArray[Any]]]]) -> dict[str, list[Any]]:
    """Return whole columns: the rows of each part up to the first row of a later one."""
    names = dict.fromkeys(name for *_, columns in parts for name in columns)
    pieces: dict[str, list[Any]] = {name: [] for name in names}
    limit: float = math.inf
    for first, end, columns in reversed(parts):
        if first < limit:
            kept = int(min(end, limit)) - first
            for name in names:
                pieces[name].append(columns[name][:kept].tolist())
        limit = min(first, limit)
    return {name: [x for part in reversed(each) for x in part] for name, each in pieces.items()}
