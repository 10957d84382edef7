"""The text report of mtr: a line for each hop under a header that names its columns."""

from __future__ import annotations

import re

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
from netcalc.readers.source import no_measurement
from netcalc.samples import Table

_START = re.compile(r"^Start: (\S.*)$")
_HOST = re.compile(r"^(?:HOST: ?)(?P<host>.*?)(?<!\s)(?P<headings>(?:\s+[A-Z][A-Za-z]+%?)+)\s*$")
_HOP = re.compile(r"^\s*(?P<hop>[0-9]{1,3})\.(?:\|--|\s)\s*(?P<rest>\S.*)$")
_OTHER = re.compile(
    r"^\s*(?:\|\s+)?[|`]--\s*(?P<node>\S+(?: \(\S+\))?)"
    r"|^\s{4,}(?:AS(?:\d+|\?+)\s+)?(?P<bare>\S*[.:]\S*|\S+ \(\S+\))\s*$"
)
_AS = re.compile(r"^AS(?:[0-9]+|\?+)\s+")
_MPLS = re.compile(r"^\s*(?:\|\s*)*(?:\+--\s*)?\[MPLS: |^\s*\|\s+\+--\[MPLS")


def _recognize(given: Input) -> bool:
    return given.seen(r"^HOST: ?\S*\s.*\bSnt\b|^HOST: ?\S*\s+Loss%") or given.seen(r"^\s*1\.\|--\s")


def _read(given: Input) -> Table:
    text = given.text
    reports: list[Report] = []
    headings: list[str] = []
    skipped: list[int] = []
    others: list[int] = []
    start = ""
    for number, line in zip(text.numbers, text.lines, strict=True):
        if not line.strip() or _MPLS.match(line):
            continue
        cut = number == text.numbers[-1] and not text.ends_complete
        if begun := _START.match(line):
            start = begun[1].rstrip()
        elif header := _HOST.match(line):
            if cut:
                continue
            headings = _headings(header["headings"])
            reports.append(Report(host=header["host"].strip(), start=_iso(start)))
        elif hop := _HOP.match(line):
            if not headings:
                raise ReaderError("mtr-no-header", file=given.name, line=number, field="header")
            if reports[-1].hops and int(hop["hop"]) <= reports[-1].hops[-1].hop:
                reports.append(Report(host=reports[-1].host, start=reports[-1].start))
            if cut:
                reports[-1].partial = True
                continue
            reports[-1].hops.append(_hop(given, number, hop, headings))
        elif (other := _OTHER.match(line)) and reports and reports[-1].hops:
            if not cut:
                reports[-1].hops[-1].further.append(other["node"] or other["bare"])
                others.append(number)
        else:
            skipped.append(number)
    reports = [report for report in reports if report.hops]
    if not reports:
        raise no_measurement("mtr-no-hop", given.unpacked, text)
    warnings = list(text.warnings)
    if others:
        warnings.append(Notice("mtr-other-nodes", {"numbers": others}))
    if skipped:
        warnings.append(Notice("not-of-a-path", {"numbers": skipped}))
    return to_table(given, reports, "mtr", warnings)


def _headings(text: str) -> list[str]:
    """Return the names of the columns behind the name of the host, which may look like one."""
    words = text.split()
    while words and not is_heading(words[0]):
        words.pop(0)
    return words


def _hop(given: Input, line: int, hop: re.Match[str], headings: list[str]) -> Hop:
    cells = hop["rest"].split()
    count = len(headings)
    if len(cells) < count:
        raise ReaderError(
            "mtr-unreadable", file=given.name, line=line, field="columns", value=str(len(cells))
        )
    figures = cells[len(cells) - count :]
    node, name = split_name(_AS.sub("", " ".join(cells[: len(cells) - count])))
    values = read_figures(given, line, zip(headings, figures, strict=True))
    return Hop(float(hop["hop"]), node, name, values)


def _iso(written: str) -> str:
    """Return a start with its zone; older versions write a date without one, which is left out."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([+-]\d\d):?(\d\d)", written)
    return f"{found[1]}{found[2]}:{found[3]}" if found else ""


FORMAT = Format(
    name="mtr",
    description="the output of mtr",
    recognize=_recognize,
    read=_read,
    traps=(
        "The order of the columns is the user's (-o) and is taken from the header of each run.",
        "Times are in milliseconds with one decimal, a loss in percent.",
        "A hop that never answered has times of 0 in the file, and none here.",
        "Loss at a hop is not loss of the path, and is not called so.",
        "The name behind HOST: is the sender; a report does not name its target.",
        "Several targets follow each other, each with a header.",
        "Further nodes that answered at a hop have lines of their own, without figures: those of "
        "the hop are of all its nodes.",
    ),
)
