"""Enhanced lines of commas of iperf 2 (``-e -y C``, 2.1.9 and later): a header names the fields."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import (
    NAN,
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    Total,
    Way,
    columns_of,
    join_totals,
    name_groups,
    total_of,
)
from netcalc.readers.transfers._text import origin, whole_lines
from netcalc.samples import FlowSeries, Meta

_HEADER = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,"
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?")
_SUM = "-1"


@dataclass(slots=True)
class _Run:
    """The lines below one header: which end wrote them, and what each stream carried."""

    names: list[str]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    totals: dict[str, Total] = field(default_factory=dict)
    target: str = ""

    @property
    def receives(self) -> bool:
        """Whether the fields are those of an end that reads."""
        return "readcnt" in self.names

    @property
    def udp(self) -> bool:
        """Whether the fields are those of datagrams."""
        return "datagrams" in self.names


def _recognize(given: Input) -> bool:
    return given.seen(rf"^{_HEADER}")


def _read(given: Input) -> FlowSeries:
    warnings: list[Notice] = []
    unread: list[int] = []
    runs: list[_Run] = []
    lines, cut = whole_lines(given, warnings)
    for number, line in lines:
        if line.startswith(_HEADER):
            runs.append(_Run(line.strip().split(",")))
        elif runs and re.match(r"\d", line):
            _add(given, runs, number, line.strip().split(","))
        elif line.strip():
            unread.append(number)
    runs = [run for run in runs if run.rows or run.totals]
    if not runs:
        raise ReaderError("iperf-nothing", file=given.name)
    if unread:
        warnings.append(Notice("not-lines-of-iperf", {"numbers": unread}))
    ways = [_way(run) for run in runs]
    ways[-1].partial |= cut
    name_groups([[way] for way in ways])
    return FlowSeries(
        **columns_of(ways),
        meta=Meta(
            tool="iperf 2",
            target=", ".join(dict.fromkeys(way.target for way in ways if way.target)),
            clock="seconds since the start of the run",
            facts=tuple(way.facts() for way in ways),
            warnings=tuple(warnings),
            partial=given.unpacked.grew or any(way.partial for way in ways),
            **origin(given),
        ),
    )


def _add(given: Input, runs: list[_Run], number: int, cells: list[str]) -> None:
    """Add a line to the last run, or to another one with the same fields that it begins."""
    run = runs[-1]
    if len(cells) != len(run.names):
        raise ReaderError(
            "iperf-csv-fields",
            file=given.name,
            line=number,
            count=len(cells),
            wanted=len(run.names),
            value=shorten(",".join(cells)),
        )
    named = dict(zip(run.names, cells, strict=True))
    stream = named["transferid"]
    if stream == _SUM:
        return
    row = _row(given, run, number, named)
    if stream in run.totals and row.start_s == 0:
        run = _Run(run.names)
        runs.append(run)
    run.target = run.target or shorten(named["dstaddr"], 100)
    kept = run.rows.setdefault(stream, [])
    if kept and row.start_s == 0:
        run.totals[stream] = total_of(row)
    else:
        kept.append(row)


def _row(given: Input, run: _Run, number: int, named: dict[str, str]) -> Row:
    values: dict[str, float] = {}
    for name in (
        "istart", "iend", "bytes", "speed", "jitter", "errors", "datagrams", "tcpretry", "tcpcwnd",
        "tcprtt", "tcprttvar",
    ):  # fmt: skip
        text = named.get(name, "")
        if name in named and not _NUMBER.fullmatch(text):
            raise ReaderError(
                "iperf-csv-number", file=given.name, line=number, field=name, value=shorten(text)
            )
        value = float(text) if text else NAN
        values[name] = NAN if value < 0 else value  # -1 is what a system without it writes
    known = values["tcprtt"] > 0  # without details of TCP all of them are 0
    lost, datagrams = values["errors"], values["datagrams"]
    return Row(
        start_s=values["istart"],
        duration_s=max(values["iend"] - values["istart"], 0.0),
        payload_bytes=values["bytes"],
        throughput_bps=values["speed"],
        stream=named["transferid"],
        side=RECEIVER if run.receives else SENDER,
        retransmit_count=values["tcpretry"] if known else NAN,
        cwnd_bytes=values["tcpcwnd"] * 1024 if known else NAN,
        rtt_s=values["tcprtt"] / 1e6 if known else NAN,
        rttvar_s=values["tcprttvar"] / 1e6 if known else NAN,
        jitter_s=values["jitter"] / 1e3 if run.receives else NAN,
        datagram_count=datagrams,
        lost_count=lost if run.receives and lost <= datagrams else NAN,
    )


def _way(run: _Run) -> Way:
    way = Way(UPLOAD, protocol="udp" if run.udp else "tcp", target=run.target)
    way.streams.update(run.rows)
    way.rows = [row for rows in run.rows.values() for row in rows]
    for name, rows in run.rows.items():
        if name not in run.totals and len(rows) == 1:
            run.totals[name] = total_of(rows[0])
    way.partial = len(run.totals) < len(run.rows)
    total = None if way.partial else join_totals(run.totals)
    if total is not None and math.isnan(total.retransmit_count):
        counts = [row.retransmit_count for row in way.rows]
        total.retransmit_count = math.fsum(counts)
    way.sent, way.received = (None, total) if run.receives else (total, None)
    return way


FORMAT = Format(
    name="iperf 2 enhanced CSV",
    description="the enhanced lines of commas of iperf 2",
    recognize=_recognize,
    read=_read,
    traps=(
        "A header names the fields; a line with more or fewer is refused.",
        "Fields with readcnt are of the end that received, those with writecnt of the sender.",
        "speed is in bit/s, jitter in ms, tcprtt in microseconds, tcpcwnd in units of 1024 bytes.",
        "The last line of a stream, from 0, is the total of its intervals and no interval.",
        "Transfer -1 is a sum of streams and no stream; -1 in other fields is unknown.",
        "Losses and jitter that a sender writes are 0 in any case: unknown.",
    ),
)
