"""Counters of ``netstat -s`` on Windows, in any language: the words are names, not looked at."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of, table_of
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_TITLE = re.compile(r"(?P<name>\S(?:[^=]*[^=\s])?)\s*")
_VALUE = re.compile(r"\s+(?P<name>\S[^=]*?)(?<=\S) += (?P<value>\d{1,18})\s*")
_HEADS = re.compile(r"\s{10,}(?P<one>\S+(?: \S+)*)\s{2,}(?P<other>\S+(?: \S+)*)\s*")
_BOTH = re.compile(r"\s+(?P<name>\S.*?)(?<=\S)\s{2,}(?P<one>\d{1,18})\s+(?P<other>\d{1,18})\s*")


def _recognize(given: Input) -> bool:
    return given.seen(
        r"^\S[^=\n]*\b(?:IP|ICMP|TCP|UDP)(?:v[46])?\b[^=\n]*\n\s*\n {2,}\S[^=\n]*? += \d+ *$"
    )


def _read(given: Input) -> Table:
    counts = Counts()
    group = ""
    heads: tuple[str, str] | None = None
    for number, line in lines_of(given, counts):
        if not line.strip():
            continue
        if not line[0].isspace():
            title = _TITLE.fullmatch(line)
            group, heads = (title["name"] if title else ""), None
            if title is None:
                counts.unread.append(number)
        elif found := _VALUE.fullmatch(line):
            counts.add(group, found["name"], int(found["value"]))
        elif heads and (found := _BOTH.fullmatch(line)):
            for head, side in zip(heads, ("one", "other"), strict=True):
                counts.add(group, f"{found['name']} ({head})", int(found[side]))
        elif found := _HEADS.fullmatch(line):
            heads = (found["one"], found["other"])
        else:
            counts.unread.append(number)
    return table_of(given, counts, tool="netstat -s (Windows)")


FORMAT = Format(
    name="netstat counters (Windows)",
    description="the counters of netstat -s on Windows",
    recognize=_recognize,
    read=_read,
    traps=(
        "A counter has the name that the system's language gives it.",
        "ICMP has two columns, received and sent: each is a counter of its own.",
        "Counters run from the start of the system; only differences are a run's.",
    ),
)
