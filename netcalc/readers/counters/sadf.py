"""Data of sar as sadf writes them: ``sadf -d``, ``sadf -p`` and ``sadf -j``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters._counts import NAN, Counts, lines_of, number_of, table_of
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Table

_HEAD = r"^# hostname;interval;timestamp(?:;|$)"
_STAMP = r"\d{9,11}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: UTC)?"
_PAIR = re.compile(
    rf"(?P<host>[^\t]+)\t(?P<interval>-?\d+)\t(?P<time>{_STAMP})\t(?P<group>[^\t]+)\t"
    r"(?P<name>[^\t]+)\t(?P<value>[^\t]+)"
)
_KEYS = {"IFACE", "CPU", "DEV", "TTY", "INTR", "BUS", "FILESYSTEM", "MOUNTPOINT", "FAN", "TEMP"}


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


def _recognize(given: Input) -> bool:
    if given.is_json:
        return bool(given.keys() & {"sysstat"})
    first = given.first.split("\n", 1)[0]
    return given.seen(_HEAD) or _PAIR.fullmatch(first) is not None


def _read(given: Input) -> Table:
    counts, means = Counts(), _Means()
    if given.is_json:
        found = given.json
        counts.warnings += found.warnings
        for document in found.documents:
            for host in rows(member(document, "sysstat"), "hosts"):
                _host(host, counts, means)
        if found.fault is not None:
            raise found.fault
    elif given.seen(_HEAD):
        _columns(given, counts, means)
    else:
        _pairs(given, counts, means)
    if False in means.zones:
        counts.warnings.append(Notice("sadf-local-time"))
    counts.summary = {key: total / means.lengths[key] for key, total in means.sums.items()}
    return table_of(
        given, counts, tool="sadf", host=", ".join(means.hosts),
        clock="" if False in means.zones else "seconds of the Unix epoch",
    )  # fmt: skip


def _columns(given: Input, counts: Counts, means: _Means) -> None:
    names: list[str] = []
    for line_number, line in lines_of(given, counts):
        cells = line.rstrip("\r").split(";")
        if line.startswith("# hostname"):
            names = cells[3:]
            continue
        if not line.strip() or (len(cells) > 3 and "RESTART" in cells[3]):
            continue
        if len(cells) != len(names) + 3:
            raise ReaderError(
                "counter-widths", file=given.name, line=line_number,
                count=len(cells), names=len(names) + 3,
            )  # fmt: skip
        time_s = _time(given, line_number, cells[2], means)
        length = number_of(cells[1])
        group = cells[3] if names and names[0] in _KEYS else ""
        begin = 1 if group else 0
        means.hosts[cells[0]] = None
        for name, cell in zip(names[begin:], cells[3 + begin :], strict=True):
            value = _value(given, line_number, name, cell)
            if value is not None:
                means.add(counts, group, name, value, time_s, length or 0)


def _pairs(given: Input, counts: Counts, means: _Means) -> None:
    for line_number, line in lines_of(given, counts):
        row = _PAIR.fullmatch(line)
        if row is None:
            if line.strip():
                counts.unread.append(line_number)
            continue
        value = _value(given, line_number, row["name"], row["value"])
        group = "" if row["group"] == "-" else row["group"]
        means.hosts[row["host"]] = None
        time_s = _time(given, line_number, row["time"], means)
        if value is not None:
            means.add(counts, group, row["name"], value, time_s, float(row["interval"]))


def _value(given: Input, line_number: int, name: str, cell: str) -> int | float | None:
    """Return a value; None where there is none, and an error where it is not a number."""
    if cell.strip() == "":
        return None
    value = number_of(cell)
    if value is None:
        raise ReaderError(
            "not-a-number", file=given.name, line=line_number, field=name, value=shorten(cell)
        )
    return value


def _time(given: Input, line_number: int, text: str, means: _Means) -> float:
    if re.fullmatch(r"\d{9,11}", text):
        return float(text)
    means.zones.add(text.endswith(" UTC"))
    try:
        clock = datetime.fromisoformat(text.removesuffix(" UTC")).replace(tzinfo=UTC)
    except ValueError:
        raise ReaderError(
            "sadf-time", file=given.name, line=line_number, field="timestamp", value=shorten(text)
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


FORMAT = Format(
    name="sadf",
    description="the data of sar as sadf -d, -p or -j writes them",
    recognize=_recognize,
    read=_read,
    traps=(
        "Values are rates or shares of the interval before the time; facts are means over the "
        "intervals, weighted by their lengths.",
        "An interval of -1 s, the first after a start, is in no mean.",
        "Times without UTC (-T) are of a zone that the file does not name.",
        "A file with several kinds of counters has a header line before each kind.",
        "JSON has other names than text: rxkB is rxkB/s, ifutil-percent is %ifutil.",
    ),
)
