"""The summary of ``ss -s``: how many sockets there are of each kind."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of, number_of, table_of
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_TOTAL = re.compile(r"Total: (\d{1,12})(?: \(kernel \d{1,12}\))?\s*")
_TCP = re.compile(r"TCP:\s+(?P<total>\d{1,12}) \((?P<states>[^()]*)\)(?:, ports \d{1,12})?\s*")
_STATE = re.compile(r"([a-z]+) (\d{1,12})(?:/\d{1,12})?")
_COLUMNS = ["Transport", "Total", "IP", "IPv6"]


def _recognize(given: Input) -> bool:
    return given.seen(r"^Total: \d+(?: \(kernel \d+\))?\s*$") and given.seen(r"^TCP: +\d+ \(estab ")


def _read(given: Input) -> Table:
    counts = Counts()
    names: list[str] = []
    for number, line in lines_of(given, counts):
        total, tcp, cells = _TOTAL.fullmatch(line), _TCP.fullmatch(line), line.split()
        if total:
            counts.add("", "Total", int(total[1]))
        elif tcp:
            counts.add("", "TCP", int(tcp["total"]))
            states = [_STATE.fullmatch(part) for part in tcp["states"].split(", ")]
            for state in states:
                if state:
                    counts.add("TCP", state[1], int(state[2]))
            if None in states:
                counts.unread.append(number)
        elif cells == _COLUMNS:
            names = cells[1:]
        elif len(cells) == 4 and names and cells[0] != "*":
            _row(counts, number, cells, names)
        elif cells and cells[0] != "*":
            counts.unread.append(number)
    return table_of(given, counts, tool="ss -s")


def _row(counts: Counts, number: int, cells: list[str], names: list[str]) -> None:
    for name, cell in zip(names, cells[1:], strict=True):
        value = number_of(cell)
        if value is not None:
            counts.add(cells[0], name, value)
        elif cell != "-" and number not in counts.unread[-1:]:
            counts.unread.append(number)


FORMAT = Format(
    name="ss -s",
    description="the summary of ss -s",
    recognize=_recognize,
    read=_read,
    traps=(
        "The counts are those of now, and not since the start.",
        "The total of TCP in its own line counts sockets in TIME-WAIT, that of the table does not.",
        "Of two numbers of timewait the second counts requests, and is left out.",
        "A dash in the line of the kernel is no count.",
    ),
)
