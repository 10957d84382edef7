"""The lines that tshark prints of packets when it is not asked for fields."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.captures.lists.wireshark_list import packet_table
from netcalc.readers.format import Format, Input
from netcalc.readers.source import no_measurement
from netcalc.samples import Table

_TIME = r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{1,9}|-?\d{1,10}\.\d{1,9}"
_ARROW = "(?:\N{RIGHTWARDS ARROW}|->)"
# The columns are padded to a width: a source may be missing, a destination too.
_PACKET = (
    rf" {{0,10}}(?P<number>\d{{1,12}}) {{1,12}}(?P<time>{_TIME}) {{1,60}}"
    rf"(?:(?P<source>\S{{1,200}}) {{1,60}})?{_ARROW} {{1,60}}"
    r"(?:(?P<destination>\S{1,200}) {1,60})?"
    r"(?P<protocol>(?!\d+ )[^ ]{1,40}(?: [^ ]{1,40}){0,3}?) {1,20}"
    r"(?P<length>\d{1,10})(?: (?P<info>.*))?"
)
_LINE = re.compile(_PACKET)
_TWO_ENDS = re.compile(r"\d\s.*\S (?:→|->) \S")
_COLUMNS = ("number", "time", "source", "destination", "protocol", "length", "info")


def _recognize(given: Input) -> bool:
    return given.seen(rf"^{_PACKET}$")


def _read(given: Input) -> Table:
    cells: dict[str, list[str]] = {name: [] for name in _COLUMNS}
    skipped: list[int] = []
    text = given.text
    for number, line in zip(text.numbers, text.lines, strict=True):
        found = _LINE.fullmatch(line)
        if found is None:
            if line.strip() and (cells["number"] or _TWO_ENDS.search(line)):
                skipped.append(number)
            continue
        for name in _COLUMNS:
            cells[name].append(found[name] or "")
    if not cells["number"]:
        raise no_measurement("packet-list-empty", given.unpacked, text)
    # Of a last line without its end, digits of the length may be missing.
    partial = not text.ends_complete and not cells["info"][-1]
    if partial:
        cells = {name: column[:-1] for name, column in cells.items()}
    warnings = []
    if skipped:
        warnings.append(Notice("packet-lines-skipped", {"count": len(skipped), "numbers": skipped}))
    return packet_table(
        given, cells, tool="tshark", count=len(cells["number"]), partial=partial, warnings=warnings
    )


FORMAT = Format(
    name="tshark text",
    description="the lines of packets that tshark prints",
    recognize=_recognize,
    read=_read,
    traps=(
        "The time is since the first packet unless -t says otherwise: where the numbers do not "
        "show which, it stays missing.",
        "Seq and Ack are relative to the first of their flow, and no numbers of a ping.",
        "The length is that of the frame without FCS, not of its data.",
        "A display filter leaves packets out: the list has no word of it.",
    ),
)
