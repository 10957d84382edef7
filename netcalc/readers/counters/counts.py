"""Counters as rows: group, time, name and value; the facts are a row for each group."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.source import shorten
from netcalc.samples import COUNTER_LIMIT, Meta, Table, fact_row

NAN = math.nan
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,20})?")

Number = int | float


@dataclass(slots=True)
class Counts:
    """The counters of a file, and its unread lines."""

    rows: list[tuple[str, float, str, Number]] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    partial: bool = False
    summary: dict[tuple[str, str], Number] = field(default_factory=dict)
    """Group and counter -> value for the facts, where it is not that of the last row."""

    def add(self, group: str, counter: str, value: Number, time_s: float = NAN) -> None:
        """Add the value of one counter; one that no float holds is unknown."""
        if abs(value) > sys.float_info.max:
            value = NAN
        self.rows.append((shorten(group, 100), time_s, shorten(counter, 100), value))


def number_of(text: str) -> Number | None:
    """Return a number as it is written, a whole one exactly; None if it is not one."""
    if not _NUMBER.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


def lines_of(file: Input, counts: Counts) -> list[tuple[int, str]]:
    """Return the numbered lines; the last one only if its end is there."""
    text = file.text
    counts.warnings += text.warnings
    found = list(zip(text.numbers, text.lines, strict=True))
    while found and not found[-1][1].strip():
        found.pop()
    if found and not text.ends_complete:
        number, _ = found.pop()
        counts.warnings.append(Notice("last-line-cut", {"number": number}))
        counts.partial = True
    return found


def objects_of(file: Input, counts: Counts) -> Iterator[dict[str, Any]]:
    """Return the objects of a JSON text; a damaged one is refused."""
    found = file.json
    if found.fault is not None:
        raise found.fault
    counts.warnings += found.warnings
    for document in found.documents:
        for one in document if isinstance(document, list) else [document]:
            if isinstance(one, dict):
                yield one


def check_widths(file: Input, line: int, group: str, names: list[str], cells: list[str]) -> None:
    """Refuse a line with another number of values than there are names."""
    if len(names) != len(cells):
        raise ReaderError(
            "counter-widths", file=file.name, line=line, field=group,
            count=len(cells), names=len(names),
        )  # fmt: skip


def facts_of(counts: Counts) -> tuple[dict[str, Any], ...]:
    """Return a row of facts for each group: the last value of each counter, or its summary."""
    last: dict[str, dict[str, Number]] = {}
    for group, _, counter, value in counts.rows:
        last.setdefault(group, {})[f"counter:{counter}"] = value
    for (group, counter), value in counts.summary.items():
        last.setdefault(group, {})[f"counter:{counter}"] = value
    return tuple(
        fact_row(values, group=group, partial=counts.partial) for group, values in last.items()
    )


def table_of(
    file: Input,
    counts: Counts,
    *,
    tool: str,
    tool_version: str = "",
    host: str = "",
    start: str = "",
    clock: str = "",
    facts: Sequence[dict[str, Any]] | None = None,
    printed: dict[str, Any] | None = None,
) -> Table:
    """Return the counters as a table; refuse a file without one."""
    if not counts.rows:
        raise ReaderError("counters-nothing", file=file.name)
    if counts.unread:
        counts.warnings.append(Notice("counter-lines-unread", {"numbers": counts.unread}))
    odd = [counter for _, _, counter, value in counts.rows if value >= COUNTER_LIMIT]
    if odd:
        counts.warnings.append(Notice("counters-implausible", {"names": list(dict.fromkeys(odd))}))
    source = file.unpacked
    counts.partial = counts.partial or source.grew
    groups, times, counters, values = zip(*counts.rows, strict=True)
    return Table(
        data={
            "group": list(groups),
            "time_s": [float(one) for one in times],
            "counter": list(counters),
            "value": [float(one) for one in values],
        },
        meta=Meta(
            tool=tool,
            tool_version=tool_version,
            host=host,
            start=start,
            clock=clock,
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            units={"group": "text", "time_s": "s", "counter": "text", "value": "1"},
            printed=printed or {},
            facts=tuple(facts) if facts is not None else facts_of(counts),
            warnings=tuple(counts.warnings),
            partial=counts.partial,
        ),
    )
