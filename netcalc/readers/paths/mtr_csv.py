"""The CSV of mtr: a row for each hop, with a header for each run."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._reports import (
    Hop,
    Report,
    is_heading,
    read_figures,
    split_name,
    to_table,
)
from netcalc.readers.source import csv_rows, no_measurement, shorten
from netcalc.samples import Table

_FIRST = 6
"""Cells before the figures: version, start, status, target, hop, node."""

_ROW = re.compile(r"^MTR\.(\S+?)[;,]")
_HEADER = re.compile(r"^Mtr_Version[;,]")

# The order of a version that writes no header; 0.93 and older.
_DEFAULT = ["Loss%", "Snt", "", "Last", "Avg", "Best", "Wrst", "StDev"]
_OLD = ["Loss%", "Snt", "Last", "Avg", "Best", "Wrst", "StDev"]


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER.pattern) or given.seen(_ROW.pattern)


def _read(given: Input) -> Table:
    text = given.text
    reports: list[Report] = []
    headings: list[str] | None = None
    skipped: list[int] = []
    version = ""
    for number, line in zip(text.numbers, text.lines, strict=True):
        if not line.strip():
            continue
        separator = ";" if line.count(";") > line.count(",") else ","
        (cells,) = csv_rows([(number, line)], given.unpacked, delimiter=separator)
        if _HEADER.match(line):
            headings = cells[_FIRST:]
            reports.append(Report())
            continue
        row = _ROW.match(line)
        if row is None or len(cells) < _FIRST:
            skipped.append(number)
            continue
        version = version or row[1]
        _begin(reports, cells)
        if headings is None:
            width = len(cells) - _FIRST
            headings = next((one for one in (_DEFAULT, _OLD) if len(one) == width), None)
            if headings is None:
                raise ReaderError(
                    "mtr-no-header", file=given.name, line=number, field="header", value=str(width)
                )
        cut = number == text.numbers[-1] and not text.ends_complete
        reports[-1].hops.append(_hop(given, number, cells, headings, cut=cut))
        reports[-1].partial |= cut
    reports = [report for report in reports if report.hops]
    if not reports:
        raise no_measurement("mtr-no-hop", given.unpacked, text)
    warnings = list(text.warnings)
    if skipped:
        warnings.append(Notice("not-of-a-path", {"numbers": skipped}))
    return to_table(given, reports, "mtr", warnings, tool_version=shorten(version, 40))


def _begin(reports: list[Report], cells: list[str]) -> None:
    """Begin a report where the hops start again without a header."""
    target, hop = cells[3], cells[4]
    last = reports[-1] if reports else None
    fresh = last is None or (
        bool(last.hops)
        and (last.target != target or (_is_hop(hop) and int(hop) < last.hops[-1].hop))
    )
    if fresh:
        reports.append(Report())
    if not reports[-1].hops:
        reports[-1].target = target
        reports[-1].start = _iso(cells[1])


def _is_hop(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,3}", text) is not None


def _hop(given: Input, line: int, cells: list[str], headings: list[str], *, cut: bool) -> Hop:
    if not _is_hop(cells[4]):
        raise ReaderError(
            "mtr-unreadable", file=given.name, line=line, field="Hop", value=shorten(cells[4])
        )
    node, name = split_name(cells[5])
    figures = cells[_FIRST:]
    if cut:
        figures = figures[:-1]  # the last one may have lost its end
    known = [one for one in zip(headings, figures, strict=False) if is_heading(one[0])]
    return Hop(float(cells[4]), node, name, read_figures(given, line, known))


def _iso(epoch: str) -> str:
    if not re.fullmatch(r"[0-9]{9,11}", epoch):
        return ""
    return datetime.fromtimestamp(int(epoch), UTC).isoformat()


FORMAT = Format(
    name="mtr CSV",
    description="the CSV of mtr",
    recognize=_recognize,
    read=_read,
    traps=(
        "The order of the columns is the user's (-o); the header says it, not the version.",
        "A column without a name holds nothing.",
        "Times are in milliseconds, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "A header may come again, for another target.",
    ),
)
