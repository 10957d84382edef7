"""The lines of a run of ping as columns: plain replies many at a time, all others one by one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.readers._cells_kept import exact_decimals
from netcalc.readers._ping_lines import Line

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.signedinteger[Any]]

KINDS = ("reply", "damaged", "error", "redirect", "waiting", "dump", "silent")
"""What a line may be; its column holds the position here."""
REPLY, DAMAGED, ERROR, REDIRECT, WAITING, DUMP, SILENT = range(7)
NONE = -1
"""A sequence number, a size or a TTL that a line does not have."""

# A reply with nothing unusual in it, in any language that writes it in this order.
_UNIX = re.compile(
    r"(?:\[([0-9]{9,10}\.[0-9]{1,6})\] )?([0-9]{1,5}) [^\W\d_]+ [^\W\d_]+ [^\s=<>()]{1,255}"
    r"(?: \([^\s=<>()]{1,60}\))? ?: (icmp_)?seq=([0-9]{1,5}) ttl=([0-9]{1,3})"
    r" [^\W\d_]+=([0-9]{1,9}(?:[.,][0-9]{1,6})?) ms"
)
_WINDOWS = re.compile(
    r"(?!From )[^\W\d_]+ [^\W\d_]+ [0-9]{1,3}(?:\.[0-9]{1,3}){3}: [^\W\d_]+=([0-9]{1,5})"
    r" [^\W\d_]+([=<])([0-9]{1,9})ms TTL=([0-9]{1,3})"
)
_MARK = "\x01"


@dataclass(slots=True)
class Columns:
    """Lines as columns: a row for each, in their order."""

    number: Whole
    kind: Whole
    sequence: Whole
    size: Whole
    ttl: Whole
    rtt_s: Floats
    resolution_s: Floats
    stamp_s: Floats
    duplicate: NDArray[np.bool_]
    corrupt: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.number.size)


def columns_of(lines: Sequence[tuple[int, Line]]) -> Columns:
    """Return lines that were read one by one as columns."""

    def whole(values: Iterator[int | None], kind: type[Any]) -> Whole:
        return np.array([NONE if value is None else value for value in values], dtype=kind)

    each = [line for _, line in lines]
    return Columns(
        number=np.array([number for number, _ in lines], dtype=np.int32),
        kind=np.array([KINDS.index(line.kind) for line in each], dtype=np.int8),
        sequence=whole((line.sequence for line in each), np.int64),
        size=whole((line.size for line in each), np.int32),
        ttl=whole((line.ttl for line in each), np.int16),
        rtt_s=np.array([line.rtt_s for line in each], dtype=np.float64),
        resolution_s=np.array([line.resolution_s for line in each], dtype=np.float64),
        stamp_s=np.array([line.stamp_s for line in each], dtype=np.float64),
        duplicate=np.array([line.marked_duplicate for line in each], dtype=np.bool_),
        corrupt=np.array([line.corrupt for line in each], dtype=np.bool_),
    )


def join_columns(parts: Sequence[Columns]) -> Columns:
    """Return columns one after another."""
    names = Columns.__slots__
    return Columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(slots=True)
class Events:
    """The lines of a run in their order."""

    parts: list[Columns | list[tuple[int, Line]]] = field(default_factory=list)
    numbered_replies: int = 0
    other_replies: int = 0
    timed: bool = False
    damaged: bool = False
    first_number: int | None = None

    def __bool__(self) -> bool:
        return bool(self.parts)

    def append(self, number: int, line: Line) -> None:
        """Add a line that was read by itself."""
        if not self.parts or isinstance(self.parts[-1], Columns):
            self.parts.append([])
        last = self.parts[-1]
        if isinstance(last, list):
            last.append((number, line))
        if line.kind == "reply":
            self.numbered_replies += line.sequence is not None
            self.other_replies += line.sequence is None
            self.timed |= not math.isnan(line.rtt_s)
        self.damaged |= line.kind == "damaged"
        self.first_number = number if self.first_number is None else self.first_number

    def extend(self, columns: Columns) -> None:
        """Add plain replies."""
        self.parts.append(columns)
        if columns.sequence[0] == NONE:
            self.other_replies += len(columns)
        else:
            self.numbered_replies += len(columns)
        self.timed = True
        if self.first_number is None:
            self.first_number = int(columns.number[0])

    def let_go(self) -> None:
        """Let go of the lines, once the probes are worked out."""
        self.parts = []

    @property
    def last(self) -> Line | None:
        """The last line, if it was read by itself."""
        if not self.parts or isinstance(self.parts[-1], Columns):
            return None
        return self.parts[-1][-1][1]

    def lines(self) -> Iterator[tuple[int, Line]]:
        """Yield the lines that were read by themselves."""
        for part in self.parts:
            if isinstance(part, list):
                yield from part

    def columns(self) -> tuple[Columns, list[tuple[int, Line]], Whole]:
        """Return all lines as columns, those read by themselves, and the rows these are in."""
        whole = [columns_of(part) if isinstance(part, list) else part for part in self.parts]
        rows, start = [np.empty(0, dtype=np.int64)], 0
        for part in self.parts:
            if isinstance(part, list):
                rows.append(np.arange(start, start + len(part)))
            start += len(part)
        return join_columns(whole or [columns_of([])]), list(self.lines()), np.concatenate(rows)


def may_be_plain(line: str) -> bool:
    """Whether a line may be a plain reply, at a glance."""
    return line.endswith(" ms") or ("TTL=" in line and "ms" in line)


def plain_replies(lines: Sequence[str], numbers: Sequence[int]) -> tuple[Columns, bool] | None:
    """Return lines as columns if each is a plain reply of one kind; and whether of BusyBox."""
    if not lines:
        return None
    pattern = _UNIX if "seq=" in lines[0] else _WINDOWS
    found = [pattern.fullmatch(line) for line in lines]
    if not all(found):
        return None
    groups = list(zip(*(match.groups() for match in found if match), strict=True))
    if pattern is _UNIX:
        return _unix(groups, numbers)
    replies = _windows(groups, numbers)
    return None if replies is None else (replies, False)


def _unix(groups: list[tuple[Any, ...]], numbers: Sequence[int]) -> tuple[Columns, bool] | None:
    stamps, sizes, icmp, sequences, ttls, times = groups
    rtt = _milliseconds(times)
    size, sequence = np.array(sizes, dtype=np.int64), np.array(sequences, dtype=np.int64)
    if rtt is None or size.min() < 8 or sequence.max() > 65_535 or len(set(map(bool, stamps))) > 1:
        return None
    stamp = np.full(size.size, np.nan)
    if stamps[0]:
        stamp = np.fromiter(map(float, stamps), np.float64, size.size)
    columns = _replies(numbers, sequence, size, np.array(ttls, dtype=np.int64), rtt, stamp)
    return columns, not all(icmp)


def _windows(groups: list[tuple[Any, ...]], numbers: Sequence[int]) -> Columns | None:
    sizes, signs, times, ttls = groups
    rtt = _milliseconds(times)
    size = np.array(sizes, dtype=np.int64)
    if rtt is None or size.max() > 65_535:
        return None
    below = np.array(signs) == "<"
    rtt_s, resolution_s = rtt
    rtt = (np.where(below, rtt_s / 2, rtt_s), np.where(below, rtt_s, resolution_s))
    none = np.full(size.size, NONE, dtype=np.int64)
    nan = np.full(size.size, np.nan)
    return _replies(numbers, none, size, np.array(ttls, dtype=np.int64), rtt, nan)


def _milliseconds(times: Sequence[str]) -> tuple[Floats, Floats] | None:
    """Return times and the width of their last digits; a comma is a decimal one."""
    written = _MARK.join(times).replace(",", ".") + _MARK
    digits = exact_decimals(written, ".")
    if digits is None:
        return None
    mantissa, places = digits
    steps: Floats = (10.0 ** (places + 3)).astype(np.float64)  # exact: powers up to 22
    return mantissa / steps, 1.0 / steps


def _replies(
    numbers: Sequence[int], sequence: Whole, size: Whole, ttl: Whole,
    rtt: tuple[Floats, Floats], stamp_s: Floats,
) -> Columns:  # fmt: skip
    none = np.zeros(size.size, dtype=np.bool_)
    return Columns(
        number=np.array(numbers, dtype=np.int32),
        kind=np.full(size.size, REPLY, dtype=np.int8),
        sequence=sequence,
        size=size.astype(np.int32),
        ttl=np.where(ttl <= 255, ttl, NONE).astype(np.int16),
        rtt_s=rtt[0],
        resolution_s=rtt[1],
        stamp_s=stamp_s,
        duplicate=none,
        corrupt=none,
    )
