"""Packet list exported from Wireshark as plain text: seven columns, padded to their widths.

A cell may be empty or hold blanks, so a row is read where the header shows its columns, or where
both of its ends are addresses. What fits neither is refused: no row is guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures.lists.wireshark_list import is_first, kind_of, packet_table
from netcalc.readers.format import Format, Input
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import Table

_COLUMNS = ("number", "time", "source", "destination", "protocol", "length", "info")
_NEEDED = frozenset({"time", "source", "destination", "protocol"})
_NUMBER = r"\d{1,12}"
_TIME = r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d[.,]\d{1,9}|\d{1,10}[.,]\d{1,9}"
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_ADDRESS = (
    rf"(?:{_IPV4}|(?:[0-9a-fA-F]{{2}}:){{5}}[0-9a-fA-F]{{2}}"
    r"|(?=[0-9a-fA-F:.]{0,45}::|(?:[0-9a-fA-F]{1,4}:){7})[0-9a-fA-F:.]{2,45})"
)
_BEGIN = rf" {{0,12}}(?P<number>{_NUMBER})[ \t]{{1,12}}(?P<time>{_TIME})[ \t]"
_GAP = r"[ \t]{1,60}"
_BETWEEN_ADDRESSES = (
    rf"{_BEGIN}[ \t]{{0,60}}(?P<source>{_ADDRESS}){_GAP}(?P<destination>{_ADDRESS}){_GAP}"
    r"(?P<protocol>(?!\d+[ \t])[^ \t]{1,40}(?: [^ \t]{1,40}){0,3}?)[ \t]{1,20}"
    rf"(?P<length>\d{{1,10}})(?:{_GAP}(?P<info>.*))?"
)
_ECHO = r"\bEcho \(ping\) .*id=0x[0-9a-f]{1,4}, seq=\d"
"""How Wireshark alone describes a ping: its number is in both orders of bytes."""
_ROW, _ANY_ROW = re.compile(_BETWEEN_ADDRESSES), re.compile(_BEGIN)
_CELLS = {"number": re.compile(_NUMBER), "time": re.compile(_TIME), "length": re.compile(r"\d+")}


def _is_header(line: str) -> bool:
    names = line.split()
    kinds = {kind_of(name) for name in names[1:]}
    return bool(names) and is_first(names[0]) and kinds >= _NEEDED


def _recognize(given: Input) -> bool:
    if given.columns is not None or given.is_json:
        return False
    lines = [line for line in given.first.split("\n") if line.strip()]
    if any(_is_header(line) for line in lines):
        return True
    return bool(lines and _ROW.fullmatch(lines[0])) or given.seen(_ECHO)


def _read(given: Input) -> Table:
    text = given.text
    rows: list[dict[str, str]] = []
    skipped: list[int] = []
    starts: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if _is_header(line):
            starts = _starts(given, number, line)
        elif _ANY_ROW.match(line) or re.search(_ECHO, line):
            rows.append(_row(given, number, line, starts))
        elif line.strip():
            skipped.append(number)
    if not rows:
        raise no_measurement("packet-list-empty", given.unpacked, text)
    # Of a last line without its end, digits of the length may be missing.
    partial = not text.ends_complete and not rows[-1]["info"]
    rows = rows[:-1] if partial else rows
    cells = {name: [row[name] for row in rows] for name in _COLUMNS}
    warnings = []
    if skipped:
        warnings.append(Notice("packet-lines-skipped", {"count": len(skipped), "numbers": skipped}))
    return packet_table(
        given, cells, tool="Wireshark", count=len(rows), partial=partial, warnings=warnings
    )


def _starts(given: Input, number: int, line: str) -> list[int]:
    """Return where the columns of a header begin; refused if they are not the seven of a list."""
    names = [found[0] for found in re.finditer(r"\S+", line)]
    if ["number", *(kind_of(name) for name in names[1:])] != list(_COLUMNS):
        raise ReaderError(
            "packet-text-columns", file=given.name, line=number, value=shorten(" ".join(names))
        )
    return [found.start() for found in re.finditer(r"\S+", line)]


def _row(given: Input, number: int, line: str, starts: Sequence[int]) -> dict[str, str]:
    found = _padded(line, starts) if starts else None
    if found is None and (match := _ROW.fullmatch(line)):
        found = {name: (match[name] or "").strip() for name in _COLUMNS}
    if found is None:
        raise ReaderError(
            "packet-text-row", file=given.name, line=number, value=shorten(line.strip())
        )
    return found


def _padded(line: str, starts: Sequence[int]) -> dict[str, str] | None:
    """Return the cells of a row by the widths of its columns; None if they do not fit.

    Each cell is padded to its width and followed by one blank; a longer one ends at its blank.
    """
    cells: dict[str, str] = {}
    at = 0
    for name, start, after in zip(_COLUMNS, starts, starts[1:], strict=False):
        end = at + after - start - 1
        if line[end : end + 1] != " ":
            end = line.find(" ", end)
        end = len(line) if end < 0 else end
        cell = line[at:end].rstrip()
        cells[name] = cell.lstrip() if name == "number" else cell
        at = end + 1
    cells["info"] = line[at:].strip()
    fits = all(pattern.fullmatch(cells[name]) for name, pattern in _CELLS.items())
    # A cell that begins with a blank is one that was cut in two.
    begun = not any(cell.startswith((" ", "\t")) for cell in cells.values())
    return cells if fits and begun and cells["protocol"] else None


FORMAT = Format(
    name="Wireshark text",
    description="a packet list exported from Wireshark as plain text",
    recognize=_recognize,
    read=_read,
    traps=(
        "A ping of which it tells is no output of ping: the rows are packets, with their times.",
        "A source or destination may be missing: a row is read by the widths of the header, or "
        "between two addresses, or refused.",
        "The time is since the start, since the last packet, or of the day: where the numbers do "
        "not show which, it stays missing.",
        "Details and bytes of packets, exported with the list, are left out.",
    ),
)
