"""Lines of commas of iperf 2 (``-y C``): fields by position, no header.

Nine fields: when, address and port of one end, of the other, stream, interval, bytes, bit/s.
Fourteen, of UDP: jitter in ms, datagrams lost, all datagrams, loss in percent, datagrams out of
order.

Which end wrote a line is not in it. Versions up to 2.0 write their own end first, so that a first
port below the other is a server's, which received. Later ones write the client first on both ends:
a line of TCP is taken for the client's, with a warning; one of UDP with a jitter is a receiver's.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import csv_rows, shorten
from netcalc.readers.transfers._runs import (
    DOWNLOAD,
    NAN,
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    Total,
    Way,
    flow_series,
    join_totals,
    total_of,
)
from netcalc.samples import FlowSeries

_LINE = (
    r"^\d{14}(?:\.\d{1,6})?(?:[+-]\d{4})?,[0-9A-Fa-f.:%\w]*,\d{1,5},[0-9A-Fa-f.:%\w]*,\d{1,5},-?\d{1,9},"
    r"\d+\.\d+-\d+\.\d+,-?\d+,-?\d+(?:,|$)"
)
_PLAIN, _UDP = 9, 14
_SUM = "-1"
_CLIENT_PORTS = 32768  # where systems begin to choose ports of their own


@dataclass(slots=True)
class _Stream:
    """The lines of one stream of one run."""

    ends: tuple[str, ...]
    width: int
    receives: bool
    rows: list[Row] = field(default_factory=list)
    total: Total | None = None
    report: Total | None = None


def _recognize(given: Input) -> bool:
    return given.seen(_LINE)


def _read(given: Input) -> FlowSeries:
    text = given.text
    runs: list[dict[str, _Stream]] = []
    unread: list[int] = []
    odd: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        line = line.rstrip()
        if not re.match(_LINE, line):
            if line.strip():
                unread.append(number)
            continue
        (cells,) = csv_rows([(number, line)], given.unpacked)
        if len(cells) not in (_PLAIN, _UDP):
            raise ReaderError(
                "iperf-csv-width",
                file=given.name,
                line=number,
                count=len(cells),
                value=shorten(line),
            )
        if cells[5] != _SUM and not _add(runs, cells):
            odd.append(number)
    if not runs:
        raise ReaderError("iperf-nothing", file=given.name)
    ways = [_ways(run) for run in runs]
    warnings = list(text.warnings)
    if unread:
        warnings.append(Notice("not-lines-of-iperf", {"numbers": unread}))
    if odd:
        warnings.append(Notice("implausible-lines", {"numbers": odd}))
    if any(way.sent and not way.received for one in ways for way in one):
        warnings.append(Notice("iperf-csv-side"))
    return flow_series(given, ways, warnings, tool="iperf 2")


def _add(runs: list[dict[str, _Stream]], cells: list[str]) -> bool:
    """Add a line to its stream; False if a part of it cannot be right."""
    row, right = _row(cells)
    ends = tuple(sorted([",".join(cells[1:3]), ",".join(cells[3:5])]))
    known = runs[-1].get(cells[5]) if runs else None
    report = known is not None and known.width < len(cells) and known.ends == ends
    if known is not None and report:
        known.report = total_of(row)
        return right
    again = known is not None and (known.ends != ends or (row.start_s == 0 and known.total))
    if not runs or again:
        runs.append({})
    first, second = int(cells[2]), int(cells[4])
    made = _Stream(ends, len(cells), receives=first < second and first < _CLIENT_PORTS)
    stream = runs[-1].setdefault(cells[5], made)
    stream.receives |= row.jitter_s > 0
    if stream.rows and row.start_s == 0:
        stream.total = total_of(row)
    else:
        stream.rows.append(row)
    return right


def _row(cells: list[str]) -> tuple[Row, bool]:
    begin, end = (_number(part) for part in cells[6].split("-"))
    size, rate = _number(cells[7]), _number(cells[8])
    row = Row(
        start_s=begin,
        duration_s=max(end - begin, 0.0),
        payload_bytes=NAN if size < 0 else size,
        throughput_bps=NAN if rate < 0 else rate,
        stream=cells[5],
    )
    right = size >= 0 and rate >= 0 and end >= begin
    if len(cells) == _UDP:
        jitter, lost, packets = (_number(cell) for cell in cells[9:12])
        unknown = packets == -1  # the last line of a client
        bad = not unknown and (jitter < 0 or lost < 0 or lost > packets)
        row.jitter_s = NAN if jitter < 0 else jitter / 1e3
        row.lost_count = NAN if unknown or lost < 0 or lost > packets else lost
        row.datagram_count = NAN if packets < 0 else packets
        right = right and not bad
    return row, right


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        return NAN
    return value if math.isfinite(value) else NAN


def _ways(run: dict[str, _Stream]) -> list[Way]:
    """Return the directions of a run; where it has both, received streams are the download."""
    both = len({stream.receives for stream in run.values()}) == 2
    ways = []
    for receives in (False, True):
        chosen = {name: one for name, one in run.items() if one.receives == receives}
        if not chosen:
            continue
        way = Way(DOWNLOAD if both and receives else UPLOAD)
        way.streams.update(chosen)
        way.rows = [row for one in chosen.values() for row in one.rows]
        udp = any(one.width == _UDP or one.report for one in chosen.values())
        way.protocol = "udp" if udp else "tcp"
        side = RECEIVER if receives else SENDER
        for row in way.rows:
            row.side = side
            if not receives:  # what a sender writes there is 0 in any case
                row.jitter_s = row.lost_count = NAN
        totals = {
            name: one.total or total_of(one.rows[0])
            for name, one in chosen.items()
            if one.total or len(one.rows) == 1
        }
        way.partial = len(totals) < len(chosen)
        total = None if way.partial else join_totals(totals)
        reports = {name: one.report for name, one in chosen.items() if one.report}
        way.sent, way.received = (None, total) if receives else (total, None)
        if reports:
            way.received = join_totals(reports)
        ways.append(way)
    return ways


FORMAT = Format(
    name="iperf 2 CSV",
    description="the lines of commas of iperf 2",
    recognize=_recognize,
    read=_read,
    traps=(
        "Fields have no names: nine of TCP and fourteen of UDP; another number is refused.",
        "The line does not say which end wrote it: versions up to 2.0 write their own end first, "
        "later ones the client.",
        "The last line of a stream, from 0, is the total of its intervals and no interval.",
        "Stream -1 is a sum; -1 datagrams in a client's last line are unknown.",
        "A client of UDP writes 0 for jitter and losses: unknown, until the server's report.",
    ),
)
