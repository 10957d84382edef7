"""The output of netperf: classic tables, ``-P 0``, omni keyval and CSV, interim lines of ``-D``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers import _netperf_values as values
from netcalc.readers.transfers._runs import NAN, RECEIVER, SENDER, Row, columns_of
from netcalc.readers.transfers._runs import Way as _Way
from netcalc.readers.transfers._text import origin, whole_lines
from netcalc.samples import Fact, FlowSeries, Meta, Samples, Table, fact_row

_TITLE = re.compile(
    r"(?:MIGRATED )?(?P<test>(?:TCP|UDP|SCTP|OMNI)[\w ./-]*?)(?: Send\|Recv)?"
    r"(?: TEST| test)(?P<rest>.*)"
)
_TARGET = re.compile(r" to (?P<name>\S+) \((?P<address>[^)]*)\)")
_INTERIM = re.compile(
    r"Interim result:\s*(?P<rate>\d+(?:\.\d+)?) (?P<unit>\S+)"
    r" over (?P<length>\d+(?:\.\d+)?) seconds"
    r"(?: ending at (?P<end>\d+\.\d+))?.*"
)
_NUMBERS = re.compile(r"\s*-?\d+(?:\.\d+)?(?:\s+-?\d+(?:\.\d+)?)*\s*")
_UNIT = re.compile(r"\b10\^\d+(?:bits|Bytes)/(?:sec|s)\b|\b[KMG]?Bytes/s(?:ec)?\b|per sec|Trans/s")
_TABLE_HEAD = re.compile(r"\s*(?:Recv|Socket|Size|bytes|Local|Send|Bytes|Utili|CPU|!!!)")
_KEYVAL = re.compile(r"(?P<name>[A-Z][A-Z0-9_]+)=(?P<value>.*)")


@dataclass(slots=True)
class _Run:
    """One test of netperf as its lines show it."""

    test: str = ""
    target: str = ""
    unit: str = ""
    head: str = ""
    known: dict[str, str] = field(default_factory=dict)
    tables: list[tuple[int, list[str]]] = field(default_factory=list)
    interim: list[Row] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.known or self.tables or self.interim)


def _recognize(given: Input) -> bool:
    if given.is_json:
        return given.seen(r"\"(?:MIGRATED |(?:TCP|UDP) )[\w ./-]* TEST (?:from|to) ")
    return (
        given.seen(r"^(?:MIGRATED )?(?:TCP|UDP|SCTP|OMNI)[\w ./|-]* (?:TEST|test)\b")
        or given.seen(r"^THROUGHPUT(?:_UNITS)?=|^Interim result:")
        or given.seen(r"^(?:[^\s,]+,)*Throughput,(?:.*,)?Throughput Units")
        or re.fullmatch(r"\s*\d+\s+\d+\s+\d+\s+\d+\.\d\d\s+\d+\.\d\d\s*", given.first) is not None
        or given.seen(r"^ *\d+ +\d+ +1 +1 +\d+\.\d\d +\d+\.\d\d *$")
    )


def _lines(given: Input, warnings: list[Notice]) -> tuple[list[tuple[int, str]], bool]:
    if given.is_json:  # lists of the lines of each run
        found: list[str] = []
        for document in given.json.documents:
            for one in document if isinstance(document, list) else []:
                lines = one if isinstance(one, list) else [one]
                found += [line for line in lines if isinstance(line, str)]
        return list(enumerate(found, 1)), given.json.fault is not None
    return whole_lines(given, warnings, padded=True)


def _read(given: Input) -> Samples:
    runs = [_Run()]
    unread: list[int] = []
    header: list[str] = []
    warnings: list[Notice] = []
    lines, cut = _lines(given, warnings)
    for number, line in lines:
        title, interim, pair = _TITLE.match(line), _INTERIM.fullmatch(line), _KEYVAL.fullmatch(line)
        if title and "=" not in line.split()[0]:
            header = []
            target = _TARGET.search(title["rest"])
            runs.append(_Run(title["test"].strip(), target["name"] if target else ""))
        elif interim:
            runs[-1].interim.append(_interval(given, number, interim))
        elif pair:
            name = pair["name"]
            if name in runs[-1].known:
                runs.append(_Run())
            runs[-1].known[name] = pair["value"].strip()
        elif "," in line and "Throughput" in line.split(","):
            header = line.split(",")
        elif header and line.count(",") == len(header) - 1:
            _row_of_csv(runs, header, line.split(","))
        elif header and "," in line:
            raise ReaderError(
                "netperf-width", file=given.name, line=number,
                count=line.count(",") + 1, wanted=len(header),
            )  # fmt: skip
        elif _NUMBERS.fullmatch(line) and line.strip():
            runs[-1].tables.append((number, line.split()))
        elif line.strip():
            unit = _UNIT.search(line)
            runs[-1].unit = unit[0] if unit else runs[-1].unit
            runs[-1].head += line + "\n"
            if not _TABLE_HEAD.match(line):
                unread.append(number)
    runs = [run for run in runs if not run.empty]
    ways: list[_Way] = []
    exchanges: list[dict[str, Any]] = []
    facts: list[dict[str, Fact]] = []
    guessed = False
    for index, run in enumerate(runs, 1):
        group = f"run {index}" if len(runs) > 1 else ""
        made = values.measured(given, run.test, run.unit, run.head, run.known, run.tables)
        guessed |= made.unit_by_default
        row = {"group": group, "target": run.target, **made.facts}
        row["partial"] = not made.complete or (cut and index == len(runs))
        if made.transactions:
            exchanges.append({"group": group, **made.transactions})
        else:
            way = _Way(made.direction or "", group=group)
            way.rows = _with_side(run.interim, made.side, group) or _whole(made, group)
            ways.append(way)
        facts.append(fact_row(row))
    if not any(way.rows for way in ways) and not exchanges:
        raise ReaderError("netperf-nothing", file=given.name)
    if guessed:
        warnings.append(Notice("netperf-default-unit"))
    if unread and not given.is_json:
        warnings.append(Notice("not-lines-of-netperf", {"numbers": unread}))
    return _samples(given, ways, exchanges, facts, warnings)


def _row_of_csv(runs: list[_Run], header: list[str], cells: list[str]) -> None:
    known = {values.key_of(name): cell.strip() for name, cell in zip(header, cells, strict=True)}
    if runs[-1].known:
        runs.append(_Run(runs[-1].test, runs[-1].target))
    runs[-1].known = known


def _interval(given: Input, number: int, found: re.Match[str]) -> Row:
    rate = values.rate_bps(given, number, found["rate"], found["unit"])
    length = float(found["length"])
    end = float(found["end"]) if found["end"] else NAN
    return Row(start_s=end - length, duration_s=length, throughput_bps=rate)


def _with_side(interim: list[Row], side: str, group: str) -> list[Row]:
    """Return the intervals from the start of the first, with the end that counted them."""
    begin = interim[0].start_s if interim else 0.0
    passed = 0.0
    for row in interim:
        row.start_s = row.start_s - begin if row.start_s == row.start_s else passed
        passed += row.duration_s
        row.side, row.group = side, group
    return interim


def _whole(made: values.Measured, group: str) -> list[Row]:
    """Return the whole run as one interval for each end that counted it."""
    return [
        Row(start_s=0.0, duration_s=made.duration_s, throughput_bps=rate, group=group, side=side)
        for side, rate in ((SENDER, made.sent_bps), (RECEIVER, made.received_bps))
        if rate == rate
    ]


def _samples(
    given: Input,
    ways: list[_Way],
    exchanges: list[dict[str, Any]],
    facts: list[dict[str, Fact]],
    warnings: list[Notice],
) -> Samples:
    targets = ", ".join(dict.fromkeys(str(row["target"]) for row in facts if "target" in row))
    common: dict[str, Any] = {
        "tool": "netperf",
        "target": shorten(targets, 200),
        **origin(given),
        "facts": tuple(facts),
        "warnings": tuple(warnings),
        "partial": given.unpacked.grew or any(bool(row.get("partial")) for row in facts),
    }
    if any(way.rows for way in ways):
        clock = "seconds since the start of the run"
        return FlowSeries(**columns_of(ways), meta=Meta(clock=clock, **common))
    names = list(exchanges[0])
    return Table(
        data={name: [one[name] for one in exchanges] for name in names},
        meta=Meta(
            units={
                "group": "text", "request_bytes": "byte", "response_bytes": "byte",
                "duration_s": "s", "transaction_rate": "1/s",
            },
            **common,
        ),
    )  # fmt: skip


FORMAT = Format(
    name="netperf",
    description="the output of netperf",
    recognize=_recognize,
    read=_read,
    traps=(
        "The unit of a rate is in the header or in THROUGHPUT_UNITS; K, M and G of bytes are "
        "powers of 1024.",
        "-P 0 prints no header: the rate is taken in 10^6bits/s, the default, with a warning.",
        "A rate is what netperf's own end counted: sent by STREAM, received by MAERTS.",
        "The second line of UDP_STREAM is the receiver's; the first has all that was written.",
        "TCP_RR prints transactions in a second, no rate of bytes.",
        "A throughput of -1 or an elapsed time of 0 is unknown.",
    ),
)
