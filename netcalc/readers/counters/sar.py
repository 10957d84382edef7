"""The output of sar: rates of interfaces, protocols and processors in intervals, and averages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters._counts import (
    NAN,
    Counts,
    facts_of,
    lines_of,
    number_of,
    table_of,
)
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Table

_FIRST = re.compile(
    r"(?P<system>Linux|AIX|SunOS) (?P<release>\S+) \((?P<host>[^)]*)\)\s+(?P<date>\S+)"
    r"(?:\s+(?P<machine>_\S+_))?(?:\s+\(\d+ CPU\))?\s*"
)
_CLOCK = re.compile(r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?: (?P<half>[AP]M))?\s+(?P<rest>\S.*)")
_AVERAGE = re.compile(r"[^\W\d][^:\d]*:\s+(?P<rest>\S.*)")
_RESTART = re.compile(r"\d\d:\d\d:\d\d(?: [AP]M)?\s+LINUX RESTART.*")
_KEYS = {
    "IFACE",
    "CPU",
    "DEV",
    "TTY",
    "INTR",
    "BUS",
    "FILESYSTEM",
    "MOUNTPOINT",
    "FAN",
    "TEMP",
    "IN",
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+|,\d\d)?")
_DAY_S = 86400.0


@dataclass(slots=True)
class _Sar:
    """Where the reader is: the names of the columns, and the time."""

    names: list[str] = field(default_factory=list)
    key: str = ""
    start_s: float = NAN
    last_s: float = NAN
    day: str = ""
    averages: int = 0
    section_ended: bool = False
    restarts: list[int] = field(default_factory=list)


def _recognize(given: Input) -> bool:
    return given.seen(r"^(?:Linux|AIX|SunOS) \S+ \([^)\n]*\)\s+\S+(?:\s+_\S+_)?.*$") and given.seen(
        r"^\d\d:\d\d:\d\d(?: [AP]M)?\s+(?:[A-Z]{2,}\s|\S*[a-z%]\S*/s\b|%\w|[a-z]\S* )"
    )


def _read(given: Input) -> Table:
    counts, sar = Counts(), _Sar()
    host = start = ""
    lines = lines_of(given, counts)
    names = _names_of_days([line for _, line in lines])
    for number, line in lines:
        first, clock, average = _FIRST.fullmatch(line), _CLOCK.fullmatch(line), _AVERAGE.match(line)
        if first:
            host = first["host"]
            if not start:
                start = first["date"] if re.fullmatch(r"\d{4}-\d\d-\d\d", first["date"]) else ""
            day = names[first["host"], first["date"]]
            if day != sar.day:  # its clock begins again
                sar.day, sar.last_s = day, NAN
        elif _RESTART.fullmatch(line):
            sar.restarts.append(number)
        elif clock:
            if sar.section_ended:  # the next one begins where the run began
                sar.section_ended, sar.last_s = False, NAN
            _line(given, number, counts, sar, clock["rest"].split(), _time(sar, clock))
        elif average:
            sar.section_ended = True
            _line(given, number, counts, sar, average["rest"].split(), None)
        elif line.strip():
            counts.unread.append(number)
    if sar.averages == 0:
        counts.partial = True
    differing = _differing(counts)
    if differing:
        counts.warnings.append(Notice("sar-average-differs", {"names": differing}))
    if sar.restarts:
        counts.warnings.append(Notice("sar-restarts", {"numbers": sar.restarts}))
    facts, cut = _facts(counts)
    if cut:
        counts.partial = True
        counts.warnings.append(Notice("sar-no-average"))
    return table_of(
        given, counts, tool="sar", host=host, start=start, facts=facts,
        clock="seconds from midnight of the first day, as the clock of the host shows them",
    )  # fmt: skip


def _names_of_days(lines: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return a name for each host and date in a file; an empty one if there is only one."""
    heads = [found for line in lines if (found := _FIRST.fullmatch(line))]
    days = list(dict.fromkeys((one["host"], one["date"]) for one in heads))
    hosts, dates = {host for host, _ in days}, {date for _, date in days}
    return {
        (host, date): " ".join(
            ([shorten(host, 40)] if len(hosts) > 1 else [])
            + ([shorten(date, 20)] if len(dates) > 1 else [])
        )
        for host, date in days
    }


def _facts(counts: Counts) -> tuple[list[dict[str, Any]], bool]:
    """Return a row for each group, and whether averages of several lines are missing."""
    times: dict[tuple[str, str], set[float]] = {}
    for group, time_s, counter, _ in counts.rows:
        times.setdefault((group, counter), set()).add(time_s)
    without = {key for key, found in times.items() if len(found) > 1} - set(counts.summary)
    rows = []
    for row in facts_of(counts):
        group = row.get("group", "")
        kept = {
            name: value
            for name, value in row.items()
            if (group, name.removeprefix("counter:")) not in without
        }
        rows.append({**kept, "partial": row["partial"] or len(kept) < len(row)})
    return rows, bool(without)


def _line(
    given: Input, number: int, counts: Counts, sar: _Sar, cells: list[str], time_s: float | None
) -> None:
    """Keep the names of a header; add the values of any other line."""
    if _is_header(cells):
        sar.key = cells[0] if cells[0] in _KEYS else ""
        sar.names = cells[1:] if sar.key else cells
    else:
        _values(given, number, counts, sar, cells, time_s)


def _is_header(cells: list[str]) -> bool:
    return cells[0] in _KEYS or not any(re.match(r"-?\d", cell) for cell in cells)


def _differing(counts: Counts) -> list[str]:
    """Return the averages that no weights could make of the values of their lines."""
    ranges: dict[tuple[str, str], tuple[float, float]] = {}
    for group, _, name, value in counts.rows:
        low, high = ranges.get((group, name), (value, value))
        ranges[group, name] = (min(low, value), max(high, value))
    return [
        " ".join(part for part in (group, name) if part)
        for (group, name), value in counts.summary.items()
        if (group, name) in ranges
        and not ranges[group, name][0] - 0.01 <= value <= ranges[group, name][1] + 0.01
    ]


def _time(sar: _Sar, clock: re.Match[str]) -> float:
    """Return the time of a line in seconds; a clock that goes back has passed midnight."""
    hour = int(clock["h"])
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"] == "PM" else 0)
    seconds = hour * 3600.0 + int(clock["m"]) * 60 + int(clock["s"])
    if sar.last_s == sar.last_s:
        seconds += sar.last_s // _DAY_S * _DAY_S
        if seconds < sar.last_s - _DAY_S / 2:
            seconds += _DAY_S
    sar.last_s = seconds
    return seconds


def _values(
    given: Input, number: int, counts: Counts, sar: _Sar, cells: list[str], time_s: float | None
) -> None:
    """Add a line of values: of an interval, or averages if it has no time."""
    group, values = (cells[0], cells[1:]) if sar.key else ("", cells)
    if len(values) != len(sar.names):
        raise ReaderError(
            "counter-widths", file=given.name, line=number, field=group or None,
            count=len(values), names=len(sar.names),
        )  # fmt: skip
    sar.averages += time_s is None
    group = f"{sar.day} {group}".strip()
    for name, cell in zip(sar.names, values, strict=True):
        if not _NUMBER.fullmatch(cell):
            raise ReaderError(
                "not-a-number", file=given.name, line=number, field=name, value=shorten(cell)
            )
        value = number_of(cell.replace(",", "."))
        if value is None:
            continue
        if time_s is None:
            counts.summary[group, name] = value
        else:
            counts.add(group, name, value, time_s)


FORMAT = Format(
    name="sar",
    description="the output of sar",
    recognize=_recognize,
    read=_read,
    traps=(
        "Values are rates or shares of an interval that ends at the time of the line; facts are "
        "the averages that sar prints at the end.",
        "rxkB/s is in 1024 bytes per second, %ifutil a share of the rate of the interface.",
        "A clock of twelve hours has AM and PM; a clock that goes back has passed midnight.",
        "The date in the first line is in the order of the locale, and used only as YYYY-MM-DD.",
        "A comma is a decimal sign before two digits, as sar prints them; anything else is "
        "refused.",
        "Without averages the run was ended early: it is partial, and has no facts but that.",
        "Days or hosts in one file are groups of their own, by their date or name.",
    ),
)
