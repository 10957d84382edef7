"""Rates in intervals that sar prints, and the same data as sadf writes them (-d, -p, -j)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import FRAME_WITHOUT_FCS
from netcalc.readers.counters.counts import Counts, number_of
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.places import of_kernel
from netcalc.readers.source import note, shorten
from netcalc.samples import Table

_FIRST = re.compile(
    r"(?P<system>Linux|AIX|SunOS) (?P<release>\S+) \((?P<host>[^)]*)\)\s+(?P<date>\S+)"
    r"(?:\s+(?P<machine>_\S+_))?(?:\s+\(\d+ CPU\))?\s*"
)
_CLOCK = re.compile(r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?: (?P<half>[AP]M))?\s+(?P<rest>\S.*)")
_AVERAGE = re.compile(r"[^\W\d][^:\d]*:\s+(?P<rest>\S.*)")
_HEAD_OF_LINE = r"\d\d:\d\d:\d\d(?: [AP]M)?\s+|[^\W\d][^:\d]*:\s+"
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
    start_s: float = nan
    last_s: float = nan
    day: str = ""
    averages: int = 0
    section_ended: bool = False
    restarts: list[int] = field(default_factory=list)


def _recognize_sar(file: Input) -> bool:
    clock = r"\d\d:\d\d:\d\d(?: [AP]M)?"
    return (
        file.seen(r"^(?:Linux|AIX|SunOS) \S+ \([^)\n]*\)\s+\S+(?:\s+_\S+_)?.*$")
        and file.seen(rf"^{clock}\s+(?:[A-Z]{{2,}}\s|\S*[a-z%]\S*/s\b|%\w|[a-z]\S* )")
    ) or file.seen(
        rf"^(?:{clock}|[^\W\d][^:\d\n]*:)\s+(?:IFACE\s+)?[a-z]\w*/s(?:\s+%?\w+(?:/s)?)+\s*$"
    )


def _read_sar(file: Input) -> Table:
    counts, sar = Counts(file), _Sar()
    host = start = ""
    lines = counts.lines(_as_the_line_before(file, r"\s", _HEAD_OF_LINE))
    names = _names_of_days([line for _, line in lines])
    for line_number, line in lines:
        if first := _FIRST.fullmatch(line):
            host = first["host"]
            if not start:
                start = first["date"] if re.fullmatch(r"\d{4}-\d\d-\d\d", first["date"]) else ""
            day = names[first["host"], first["date"]]
            if day != sar.day:  # its clock begins again
                sar.day, sar.last_s = day, nan
        elif _RESTART.fullmatch(line):
            sar.restarts.append(line_number)
        elif clock := _CLOCK.fullmatch(line):
            if sar.section_ended:  # the next one begins where the run began
                sar.section_ended, sar.last_s = False, nan
            _line(line_number, counts, sar, clock["rest"].split(), _time(sar, clock))
        elif average := _AVERAGE.match(line):
            sar.section_ended = True
            _line(line_number, counts, sar, average["rest"].split(), None)
        elif line.strip():
            counts.unread.append(line_number)
    if not counts.rows:  # the lines of the averages are there without those of the intervals
        for (group, name), value in list(counts.summary.items()):
            counts.add(group, name, value)
        counts.partial = True
    if sar.averages == 0:
        counts.partial = True
    note(counts.warnings, "sar-average-differs", names=_differing(counts))
    note(counts.warnings, "sar-restarts", numbers=sar.restarts)
    facts, cut = _facts(counts)
    if cut:
        counts.partial = True
        counts.warnings.append(Notice("sar-no-average"))
    return counts.table(
        tool="sar", host=host, start=start, facts=facts,
        clock="seconds from midnight of the first day, as the clock of the host shows them",
    )  # fmt: skip


def _as_the_line_before(file: Input, separator: str, head: str = "") -> re.Pattern[str]:
    """Return a pattern of lines with as many cells as the line before the last, and two decimals in
    the last of them, as all of these tools print."""
    before = next((line for line in reversed(file.text.lines[:-1]) if line.strip()), "")
    count = len(re.split(f"{separator}+", re.sub(rf"^(?:{head})", "", before).strip())) - 1
    cells = rf"(?:[^{separator}]+{separator}+){{{count}}}\d+[.,]\d\d"
    return re.compile(f"(?:{head}){cells}" if head else cells)


def _names_of_days(lines: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return a name for each host and date in a file; an empty one if there is only one."""
    heads = [head for line in lines if (head := _FIRST.fullmatch(line))]
    days = list(dict.fromkeys((head["host"], head["date"]) for head in heads))
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
    several = {key for key, moments in times.items() if len(moments) > 1}
    without = several - set(counts.summary)
    rows = []
    for row in counts.facts():
        group = str(row.get("group", ""))
        kept = {
            name: value
            for name, value in row.items()
            if (group, name.removeprefix("counter:")) not in without
        }
        rows.append({**kept, "partial": row["partial"] or len(kept) < len(row)})
    return rows, bool(without)


def _line(line: int, counts: Counts, sar: _Sar, cells: list[str], time_s: float | None) -> None:
    """Keep the names of a header; add the values of any other line, averages without a time."""
    if cells[0] in _SAR_KEYS or not any(re.match(r"-?\d", cell) for cell in cells):
        sar.key = cells[0] if cells[0] in _SAR_KEYS else ""
        sar.names = cells[1:] if sar.key else cells
        return
    group, values = (cells[0], cells[1:]) if sar.key else ("", cells)
    if not sar.names:  # the line of names is not there
        counts.unread.append(line)
        counts.partial = True
        return
    counts.check_widths(line, group, len(values), len(sar.names))
    sar.averages += time_s is None
    group = f"{sar.day} {group}".strip()
    for name, cell in zip(sar.names, values, strict=True):
        if not _NUMBER.fullmatch(cell):
            raise counts.file.refusal("not-a-number", line=line, field=name, value=shorten(cell))
        value = number_of(cell.replace(",", "."))
        if value is None:
            continue
        if time_s is None:
            counts.summary[group, name] = value
        else:
            counts.add(group, name, value, time_s)


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
    tools={
        # sar(1) reads rx_bytes of struct rtnl_link_stats64: frames without the FCS
        "sar": of_kernel("rates at the interface", FRAME_WITHOUT_FCS),
    },
    parts=(
        r"^(?:\d\d:\d\d:\d\d(?: [AP]M)?|Average:)\s+(?:\S+\s+)?\d+[.,]\d\d(?:\s+\d+[.,]\d\d)+\s*$",
    ),
    needs="a line of names (IFACE) with a line of numbers",
)


_HEAD = r"^# hostname;interval;timestamp(?:;|$)"
_STAMP = r"\d{9,11}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC)?"
_PAIR = re.compile(
    rf"(?P<host>[^\t]+)\t(?P<interval>-?\d+)\t(?P<time>{_STAMP})\t(?P<group>[^\t]+)\t"
    r"(?P<name>[^\t]+)\t(?P<value>[^\t]+)"
)


@dataclass(slots=True)
class _Intervals:
    """The counters of intervals, and their sums weighted by the lengths of these."""

    counts: Counts
    sums: dict[tuple[str, str], float] = field(default_factory=dict)
    lengths: dict[tuple[str, str], float] = field(default_factory=dict)
    zones: set[bool] = field(default_factory=set)
    hosts: dict[str, None] = field(default_factory=dict)

    def add(self, group: str, name: str, value: Any, time_s: float, length: float) -> None:
        """Add a value of one interval; the first of a file, of -1 s, has no length."""
        self.counts.add(group, name, value, time_s)
        if length > 0:
            group, _, name, _ = self.counts.rows[-1]
            key = (group, name)
            self.sums[key] = self.sums.get(key, 0.0) + value * length
            self.lengths[key] = self.lengths.get(key, 0.0) + length

    def time_s(self, line: int, text: str) -> float:
        """Return a time as seconds of the Unix epoch; an error for a text that is none."""
        if re.fullmatch(r"\d{9,11}", text):
            return float(text)
        self.zones.add(text.endswith(" UTC"))
        try:
            clock = datetime.fromisoformat(text.removesuffix(" UTC")).replace(tzinfo=UTC)
        except ValueError:
            raise self.counts.file.refusal(
                "sadf-time", line=line, field="timestamp", value=shorten(text)
            ) from None
        return clock.timestamp()


def _recognize_sadf(file: Input) -> bool:
    if file.is_json:
        return bool(file.keys() & {"sysstat"})
    first = file.first.lstrip().split("\n", 1)[0]
    return file.seen(_HEAD) or _PAIR.fullmatch(first) is not None


def _read_sadf(file: Input) -> Table:
    counts = Counts(file)
    intervals = _Intervals(counts)
    if file.is_json:
        counts.warnings += file.json.warnings
        for document in file.json.documents:
            for host in rows(member(document, "sysstat"), "hosts"):
                _host(host, intervals)
        if file.json.fault is not None:
            raise file.json.fault
    elif file.seen(_HEAD):
        _columns(intervals)
    else:
        _pairs(intervals)
    is_local = False in intervals.zones
    if is_local:
        counts.warnings.append(Notice("sadf-local-time"))
    lengths = intervals.lengths
    counts.summary = {key: total / lengths[key] for key, total in intervals.sums.items()}
    return counts.table(
        tool="sadf", host=", ".join(intervals.hosts),
        clock="" if is_local else "seconds of the Unix epoch",
    )  # fmt: skip


def _columns(intervals: _Intervals) -> None:
    names: list[str] = []
    counts = intervals.counts
    for line_number, line in counts.lines(_as_the_line_before(counts.file, ";")):
        cells = line.rstrip("\r").split(";")
        if line.startswith("# hostname"):
            names = cells[3:]
            continue
        if not line.strip() or (len(cells) > 3 and "RESTART" in cells[3]):
            continue
        if not names:  # the line of names is not there
            counts.unread.append(line_number)
            counts.partial = True
            continue
        counts.check_widths(line_number, "", len(cells), len(names) + 3)
        time_s = intervals.time_s(line_number, cells[2])
        length = number_of(cells[1])
        group = cells[3] if names and names[0] in _SAR_KEYS - {"IN"} else ""
        begin = 1 if group else 0
        intervals.hosts[cells[0]] = None
        for name, cell in zip(names[begin:], cells[3 + begin :], strict=True):
            if cell.strip():
                value = counts.number(line_number, name, cell)
                intervals.add(group, name, value, time_s, length or 0)


def _pairs(intervals: _Intervals) -> None:
    counts = intervals.counts
    for line_number, line in counts.lines(_as_the_line_before(counts.file, r"\t")):
        row = _PAIR.fullmatch(line)
        if row is None:
            if line.strip():
                counts.unread.append(line_number)
            continue
        name, cell = row["name"], row["value"]
        value = counts.number(line_number, name, cell) if cell.strip() else None
        intervals.hosts[row["host"]] = None
        time_s = intervals.time_s(line_number, row["time"])
        if value is not None:
            group = "" if row["group"] == "-" else row["group"]
            intervals.add(group, name, value, time_s, float(row["interval"]))


def _host(host: Mapping[str, Any], intervals: _Intervals) -> None:
    intervals.hosts[words(host, "nodename")] = None
    for interval in rows(host, "statistics"):
        stamp = member(interval, "timestamp")
        text = f"{words(stamp, 'date')} {words(stamp, 'time')}"
        intervals.zones.add(stamp.get("utc") in (1, True))
        try:
            time_s = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:
            time_s = nan
        _walk(interval, intervals, time_s, number(stamp, "interval"))


def _walk(part: Mapping[str, Any], intervals: _Intervals, time_s: float, length: float) -> None:
    """Add all counters of one time: objects of numbers, and lists of them with a name."""
    for name, value in part.items():
        if name == "timestamp":
            continue
        inner = value if isinstance(value, list) else [value]
        for row in inner:
            if isinstance(row, Mapping):
                _walk(row, intervals, time_s, length)
        if type(value) in (int, float):
            group = words(part, "iface", "cpu", "disk-device", "dev")
            intervals.add(group, name, value, time_s, length)


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
    tools={
        "sadf": of_kernel("rates at the interface", FRAME_WITHOUT_FCS),
    },
    parts=(r"^[^;\s]+;-?\d+;(?:\d{4}-\d\d-\d\d [\d:]{8}(?: UTC)?|\d{9,11});",),
    needs="the line of names (# hostname;interval;timestamp)",
)
