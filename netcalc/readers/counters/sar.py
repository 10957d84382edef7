"""Rates in intervals that sar prints, and the same data as sadf writes them (-d, -p, -j)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters.counts import NAN, Counts, facts_of, lines_of, number_of, table_of
from netcalc.readers.document import member, number, rows, words
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
_SAR_KEYS = {
    "IFACE", "CPU", "DEV", "TTY", "INTR", "BUS", "FILESYSTEM", "MOUNTPOINT", "FAN", "TEMP", "IN",
}  # fmt: skip
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


def _recognize_sar(file: Input) -> bool:
    return file.seen(r"^(?:Linux|AIX|SunOS) \S+ \([^)\n]*\)\s+\S+(?:\s+_\S+_)?.*$") and file.seen(
        r"^\d\d:\d\d:\d\d(?: [AP]M)?\s+(?:[A-Z]{2,}\s|\S*[a-z%]\S*/s\b|%\w|[a-z]\S* )"
    )


def _read_sar(file: Input) -> Table:
    counts, sar = Counts(), _Sar()
    host = start = ""
    lines = lines_of(file, counts)
    names = _names_of_days([line for _, line in lines])
    for line_number, line in lines:
        first, clock, average = _FIRST.fullmatch(line), _CLOCK.fullmatch(line), _AVERAGE.match(line)
        if first:
            host = first["host"]
            if not start:
                start = first["date"] if re.fullmatch(r"\d{4}-\d\d-\d\d", first["date"]) else ""
            day = names[first["host"], first["date"]]
            if day != sar.day:  # its clock begins again
                sar.day, sar.last_s = day, NAN
        elif _RESTART.fullmatch(line):
            sar.restarts.append(line_number)
        elif clock:
            if sar.section_ended:  # the next one begins where the run began
                sar.section_ended, sar.last_s = False, NAN
            _line(file, line_number, counts, sar, clock["rest"].split(), _time(sar, clock))
        elif average:
            sar.section_ended = True
            _line(file, line_number, counts, sar, average["rest"].split(), None)
        elif line.strip():
            counts.unread.append(line_number)
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
        file, counts, tool="sar", host=host, start=start, facts=facts,
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
    file: Input, number: int, counts: Counts, sar: _Sar, cells: list[str], time_s: float | None
) -> None:
    """Keep the names of a header; add the values of any other line."""
    if _is_header(cells):
        sar.key = cells[0] if cells[0] in _SAR_KEYS else ""
        sar.names = cells[1:] if sar.key else cells
    else:
        _values(file, number, counts, sar, cells, time_s)


def _is_header(cells: list[str]) -> bool:
    return cells[0] in _SAR_KEYS or not any(re.match(r"-?\d", cell) for cell in cells)


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
    file: Input, number: int, counts: Counts, sar: _Sar, cells: list[str], time_s: float | None
) -> None:
    """Add a line of values: of an interval, or averages if it has no time."""
    group, values = (cells[0], cells[1:]) if sar.key else ("", cells)
    if len(values) != len(sar.names):
        raise ReaderError(
            "counter-widths", file=file.name, line=number, field=group or None,
            count=len(values), names=len(sar.names),
        )  # fmt: skip
    sar.averages += time_s is None
    group = f"{sar.day} {group}".strip()
    for name, cell in zip(sar.names, values, strict=True):
        if not _NUMBER.fullmatch(cell):
            raise ReaderError(
                "not-a-number", file=file.name, line=number, field=name, value=shorten(cell)
            )
        value = number_of(cell.replace(",", "."))
        if value is None:
            continue
        if time_s is None:
            counts.summary[group, name] = value
        else:
            counts.add(group, name, value, time_s)


SAR = Format(
    name="sar",
    description="the output of sar",
    recognize=_recognize_sar,
    read=_read_sar,
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


_HEAD = r"^# hostname;interval;timestamp(?:;|$)"
_STAMP = r"\d{9,11}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC)?"
_PAIR = re.compile(
    rf"(?P<host>[^\t]+)\t(?P<interval>-?\d+)\t(?P<time>{_STAMP})\t(?P<group>[^\t]+)\t"
    r"(?P<name>[^\t]+)\t(?P<value>[^\t]+)"
)
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
}


@dataclass(slots=True)
class _Means:
    """Sums over the intervals of each counter, weighted by their lengths."""

    sums: dict[tuple[str, str], float] = field(default_factory=dict)
    lengths: dict[tuple[str, str], float] = field(default_factory=dict)
    zones: set[bool] = field(default_factory=set)
    hosts: dict[str, None] = field(default_factory=dict)

    def add(
        self, counts: Counts, group: str, name: str, value: Any, time_s: float, length: float
    ) -> None:
        """Add a value of one interval; the first of a file, of -1 s, has no length."""
        counts.add(group, name, value, time_s)
        if length > 0:
            key = (counts.rows[-1][0], counts.rows[-1][2])
            self.sums[key] = self.sums.get(key, 0.0) + value * length
            self.lengths[key] = self.lengths.get(key, 0.0) + length


def _recognize_sadf(file: Input) -> bool:
    if file.is_json:
        return bool(file.keys() & {"sysstat"})
    first = file.first.split("\n", 1)[0]
    return file.seen(_HEAD) or _PAIR.fullmatch(first) is not None


def _read_sadf(file: Input) -> Table:
    counts, means = Counts(), _Means()
    if file.is_json:
        found = file.json
        counts.warnings += found.warnings
        for document in found.documents:
            for host in rows(member(document, "sysstat"), "hosts"):
                _host(host, counts, means)
        if found.fault is not None:
            raise found.fault
    elif file.seen(_HEAD):
        _columns(file, counts, means)
    else:
        _pairs(file, counts, means)
    if False in means.zones:
        counts.warnings.append(Notice("sadf-local-time"))
    counts.summary = {key: total / means.lengths[key] for key, total in means.sums.items()}
    return table_of(
        file, counts, tool="sadf", host=", ".join(means.hosts),
        clock="" if False in means.zones else "seconds of the Unix epoch",
    )  # fmt: skip


def _columns(file: Input, counts: Counts, means: _Means) -> None:
    names: list[str] = []
    for line_number, line in lines_of(file, counts):
        cells = line.rstrip("\r").split(";")
        if line.startswith("# hostname"):
            names = cells[3:]
            continue
        if not line.strip() or (len(cells) > 3 and "RESTART" in cells[3]):
            continue
        if len(cells) != len(names) + 3:
            raise ReaderError(
                "counter-widths", file=file.name, line=line_number,
                count=len(cells), names=len(names) + 3,
            )  # fmt: skip
        time_s = _time_sadf(file, line_number, cells[2], means)
        length = number_of(cells[1])
        group = cells[3] if names and names[0] in _KEYS else ""
        begin = 1 if group else 0
        means.hosts[cells[0]] = None
        for name, cell in zip(names[begin:], cells[3 + begin :], strict=True):
            value = _value(file, line_number, name, cell)
            if value is not None:
                means.add(counts, group, name, value, time_s, length or 0)


def _pairs(file: Input, counts: Counts, means: _Means) -> None:
    for line_number, line in lines_of(file, counts):
        row = _PAIR.fullmatch(line)
        if row is None:
            if line.strip():
                counts.unread.append(line_number)
            continue
        value = _value(file, line_number, row["name"], row["value"])
        group = "" if row["group"] == "-" else row["group"]
        means.hosts[row["host"]] = None
        time_s = _time_sadf(file, line_number, row["time"], means)
        if value is not None:
            means.add(counts, group, row["name"], value, time_s, float(row["interval"]))


def _value(file: Input, line_number: int, name: str, cell: str) -> int | float | None:
    """Return a value; None where there is none, and an error where it is not a number."""
    if cell.strip() == "":
        return None
    value = number_of(cell)
    if value is None:
        raise ReaderError(
            "not-a-number", file=file.name, line=line_number, field=name, value=shorten(cell)
        )
    return value


def _time_sadf(file: Input, line_number: int, text: str, means: _Means) -> float:
    if re.fullmatch(r"\d{9,11}", text):
        return float(text)
    means.zones.add(text.endswith(" UTC"))
    try:
        clock = datetime.fromisoformat(text.removesuffix(" UTC")).replace(tzinfo=UTC)
    except ValueError:
        raise ReaderError(
            "sadf-time", file=file.name, line=line_number, field="timestamp", value=shorten(text)
        ) from None
    return clock.timestamp()


def _host(host: Mapping[str, Any], counts: Counts, means: _Means) -> None:
    means.hosts[words(host, "nodename")] = None
    for one in rows(host, "statistics"):
        stamp = member(one, "timestamp")
        text = f"{words(stamp, 'date')} {words(stamp, 'time')}"
        means.zones.add(stamp.get("utc") in (1, True))
        try:
            time_s = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:
            time_s = NAN
        _walk(one, counts, means, time_s, number(stamp, "interval"))


def _walk(
    part: Mapping[str, Any], counts: Counts, means: _Means, time_s: float, length: float
) -> None:
    """Add all counters of one time: objects of numbers, and lists of them with a name."""
    for name, value in part.items():
        if name == "timestamp":
            continue
        if isinstance(value, Mapping):
            _walk(value, counts, means, time_s, length)
        elif isinstance(value, list):
            for row in value:
                if isinstance(row, Mapping):
                    _walk(row, counts, means, time_s, length)
        elif type(value) in (int, float):
            group = words(part, "iface", "cpu", "disk-device", "dev")
            means.add(counts, group, name, value, time_s, length)


SADF = Format(
    name="sadf",
    description="the data of sar as sadf -d, -p or -j writes them",
    recognize=_recognize_sadf,
    read=_read_sadf,
    traps=(
        "Values are rates or shares of the interval before the time; facts are means over the "
        "intervals, weighted by their lengths.",
        "An interval of -1 s, the first after a start, is in no mean.",
        "Times without UTC (-T) are of a zone that the file does not name.",
        "A file with several kinds of counters has a header line before each kind.",
        "JSON has other names than text: rxkB is rxkB/s, ifutil-percent is %ifutil.",
    ),
)
