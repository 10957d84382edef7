"""The output of nstat: text and JSON (``nstat -j``)."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of, number_of, table_of
from netcalc.readers.document import member
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_HEAD = re.compile(r"#(?P<source>\S+)(?:\s.*)?")
_LINE = re.compile(r"(?P<name>[A-Za-z]\w+)\s+(?P<value>-?\d+)\s+(?P<rate>-?\d+\.\d)\s*")


def _recognize(given: Input) -> bool:
    if given.is_json:
        kernel = member(given.json.documents[0] if given.json.documents else None, "kernel")
        return bool(kernel) and all(isinstance(one, int | float) for one in kernel.values())
    return given.seen(r"^#(?:kernel|\d+\.\d+)(?:\s|$)") and given.seen(
        r"^[A-Z]\w+[ \t]+-?\d+[ \t]+-?\d+\.\d[ \t]*$"
    )


def _read(given: Input) -> Table:
    counts = Counts()
    if given.is_json:
        found = given.json
        counts.warnings += found.warnings
        counts.partial = found.fault is not None
        for document in found.documents:
            for name, value in member(document, "kernel").items():
                if type(value) in (int, float):
                    counts.add("", name, value)
        if found.fault is not None and not counts.rows:
            raise found.fault
        return table_of(given, counts, tool="nstat")
    for number, line in lines_of(given, counts):
        row = _LINE.fullmatch(line)
        value = number_of(row["value"]) if row else None
        if row and value is not None:
            counts.add("", row["name"], value)
        elif line.strip() and not _HEAD.fullmatch(line):
            counts.unread.append(number)
    return table_of(given, counts, tool="nstat")


FORMAT = Format(
    name="nstat",
    description="the output of nstat",
    recognize=_recognize,
    read=_read,
    traps=(
        "Without -a the values are differences since the last call of nstat, and a counter that "
        "did not change is not listed; the file does not say which it is.",
        "The last column is a rate per second of the nstat daemon, 0.0 without one: not read.",
        "Names join protocol and counter: TcpExtDelayedACKs is DelayedACKs of TcpExt.",
    ),
)
