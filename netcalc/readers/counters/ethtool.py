"""Counters of a network card: ``ethtool -S``, text and JSON."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of, number_of, objects_of, table_of
from netcalc.readers.document import words
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_COUNT = re.compile(r"\s*-?\d+\s*")


def _recognize(given: Input) -> bool:
    if given.is_json:
        keys = given.keys()
        first = given.json.documents[0] if given.json.documents else None
        row = first[0] if isinstance(first, list) and first else None
        return (
            isinstance(row, dict)
            and "ifname" in keys
            and "ifindex" not in keys
            and sum(type(value) is int for value in row.values()) >= len(row) - 1 > 0
        )
    return given.seen(r"^(?:NIC|PHY) statistics:\s*$")


def _read(given: Input) -> Table:
    counts = Counts()
    if given.is_json:
        for one in objects_of(given, counts):
            for name, value in one.items():
                if type(value) in (int, float):
                    counts.add(words(one, "ifname"), name, value)
        return table_of(given, counts, tool="ethtool -S")
    for number, line in lines_of(given, counts):
        name, _, count = line.rpartition(":")
        value = number_of(count.strip()) if _COUNT.fullmatch(count) else None
        if name[:1].isspace() and name.strip() and value is not None:
            counts.add("", name.strip(), value)
        elif line.strip() and not re.fullmatch(r"(?:NIC|PHY) statistics:\s*", line):
            counts.unread.append(number)
    return table_of(given, counts, tool="ethtool -S")


FORMAT = Format(
    name="ethtool -S",
    description="the counters of ethtool -S",
    recognize=_recognize,
    read=_read,
    traps=(
        "Each driver has names of its own: rx_missed_errors of one is rx_no_buffer of another.",
        "The text does not name the interface.",
        "Counters of queues are part of those of the card: do not add them.",
    ),
)
