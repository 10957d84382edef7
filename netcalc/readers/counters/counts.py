"""Counters as rows: group, time, name and value; the facts are a row for each group."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.source import note, shorten
from netcalc.samples import COUNTER_LIMIT, Fact, Meta, Table, fact_row

NAN = math.nan
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,20})?")

Number = int | float


def number_of(text: str) -> Number | None:
    """Return a number as it is written, a whole one exactly; None if it is not one."""
    if not _NUMBER.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


@dataclass(slots=True)
class Counts:
    """The counters of a file, and its unread lines."""

    file: Input
    rows: list[tuple[str, float, str, Number]] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    partial: bool = False
    summary: dict[tuple[str, str], Number] = field(default_factory=dict)
    """Group and counter -> value for the facts, where it is not that of the last row."""

    def lines(self) -> list[tuple[int, str]]:
        """Return the numbered lines; the last one only if its end is there."""
        lines, cut = self.file.text.whole_lines(self.warnings)
        self.partial |= cut
        return lines

    def objects(self) -> Iterator[dict[str, Any]]:
        """Return the objects of a JSON text; a damaged one is refused."""
        if self.file.json.fault is not None:
            raise self.file.json.fault
        self.warnings += self.file.json.warnings
        return self.file.json.objects()

    def add(self, group: str, counter: str, value: Number, time_s: float = NAN) -> None:
        """Add the value of one counter; one that no float holds is unknown."""
        if abs(value) > sys.float_info.max:
            value = NAN
        self.rows.append((shorten(group, 100), time_s, shorten(counter, 100), value))

    def add_numbers(self, group: str, row: Mapping[str, Any], *, before: str = "") -> None:
        """Add the members of an object that are numbers, with a word before their names."""
        for name, value in row.items():
            if type(value) in (int, float):
                self.add(group, before + name, value)

    def add_cells(self, line: int, group: str, names: Sequence[str], cells: Sequence[str]) -> None:
        """Add a line of numbers, each below its name; another line is refused."""
        self.check_widths(line, group, len(cells), len(names))
        for name, cell in zip(names, cells, strict=True):
            self.add(group, name, self.number(line, name, cell))

    def number(self, line: int, name: str, cell: str) -> Number:
        """Return the number in a cell; refuse anything else."""
        value = number_of(cell)
        if value is None:
            raise ReaderError(
                "not-a-number", file=self.file.name, line=line, field=name, value=shorten(cell)
            )
        return value

    def check_widths(self, line: int, group: str, count: int, names: int) -> None:
        """Refuse a line with another number of values than there are names."""
        if count != names:
            raise ReaderError(
                "counter-widths", file=self.file.name, line=line, field=group or None,
                count=count, names=names,
            )  # fmt: skip

    def facts(self) -> list[dict[str, Fact]]:
        """Return a row of facts for each group: the last value of each counter, or its summary."""
        last: dict[str, dict[str, Number]] = {}
        for group, _, counter, value in self.rows:
            last.setdefault(group, {})[f"counter:{counter}"] = value
        for (group, counter), value in self.summary.items():
            last.setdefault(group, {})[f"counter:{counter}"] = value
        return [
            fact_row(values, group=group, partial=self.partial) for group, values in last.items()
        ]

    def table(self, *, facts: Sequence[dict[str, Fact]] | None = None, **meta: Any) -> Table:
        """Return the counters as a table; refuse a file without one. ``meta`` names the tool."""
        if not self.rows:
            raise ReaderError("counters-nothing", file=self.file.name)
        note(self.warnings, "counter-lines-unread", numbers=self.unread)
        odd = dict.fromkeys(name for _, _, name, value in self.rows if value >= COUNTER_LIMIT)
        note(self.warnings, "counters-implausible", names=list(odd))
        self.partial = self.partial or self.file.unpacked.grew
        groups, times, counters, values = zip(*self.rows, strict=True)
        return Table(
            data={
                "group": list(groups),
                "time_s": [float(time_s) for time_s in times],
                "counter": list(counters),
                "value": [float(value) for value in values],
            },
            meta=Meta(
                units={"group": "text", "time_s": "s", "counter": "text", "value": "1"},
                facts=tuple(self.facts() if facts is None else facts),
                warnings=tuple(self.warnings),
                partial=self.partial,
                **self.file.origin,
                **meta,
            ),
        )
