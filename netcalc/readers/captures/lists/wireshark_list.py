"""Packet list exported from Wireshark as CSV: columns in any language, times in any mode."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

import numpy as np

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures.lists._info import facts_of
from netcalc.readers.captures.lists.packet_times import span_s, times_of
from netcalc.readers.format import Format, Input
from netcalc.readers.source import csv_rows, no_measurement, shorten
from netcalc.samples import FloatColumn, Meta, Table, TextColumn, fact_row

_FIRST = {"no", "nr", "n°", "nº", "№", "number", "num", "numero", "número", "номер", "编号", "序号"}
_NAMES = """
time: time zeit temps tiempo tempo czas время 时间 時間 tid tijd aika
source: source quelle origen origine sorgente źródło источник 源 来源 來源 src bron
destination: destination ziel destino destinazione cel назначение получатель 目标 目的地 目的 dst
protocol: protocol protokoll protocole protocolo protocollo protokół протокол 协议 協定 プロトコル
length: length länge laenge longueur longitud lunghezza comprimento długość длина 长度 長度 lengte
info: info information información informations informazioni инфо 信息 資訊
"""
NAMES = {
    kind: frozenset(names.split())
    for kind, names in (line.split(": ") for line in _NAMES.strip().splitlines())
}
"""What a column is -> its names in the languages of Wireshark."""


def _plain(name: str) -> str:
    return name.strip().strip('"').strip().rstrip(".").lower()


def is_first(name: str) -> bool:
    """Whether a name is that of the column of packet numbers."""
    return _plain(name) in _FIRST


def kind_of(name: str) -> str:
    """Return what the column of a name is: a key of :data:`NAMES`, or nothing."""
    return next((kind for kind, names in NAMES.items() if _plain(name) in names), "")


def _cells(line: str) -> tuple[str, list[str]]:
    """Return the separator of the header and its names."""
    delimiter = max(",;\t", key=line.count)
    try:
        return delimiter, next(iter(csv.reader([line], delimiter=delimiter)), [])
    except csv.Error:  # a cell longer than any
        return delimiter, line.split(delimiter)


def _recognize(given: Input) -> bool:
    first = next((line for line in given.first.lstrip("\ufeff").split("\n") if line.strip()), "")
    if first.count("\t") + first.count(",") + first.count(";") < 3:
        return False
    _, names = _cells(first)
    kinds = {kind_of(name) for name in names[1:]}
    return is_first(names[0]) and {"source", "destination"} <= kinds


def _read(given: Input) -> Table:
    text = given.text
    lines = [(n, one) for n, one in zip(text.numbers, text.lines, strict=True) if one.strip()]
    delimiter, names = _cells(lines[0][1])
    rows = csv_rows(lines[1:], given.unpacked, delimiter=delimiter)
    partial = bool(rows) and len(rows[-1]) < len(names) and not text.ends_complete
    rows = rows[:-1] if partial else rows
    if not rows:
        raise no_measurement("packet-list-empty", given.unpacked, text)
    cells: dict[str, list[str]] = {}
    for index, name in enumerate(names):
        key = kind_of(name) or (name.strip() if index else "number")
        if key in cells:
            raise ReaderError(
                "packet-columns-alike", file=given.name, line=lines[0][0], field=shorten(name)
            )
        cells[key] = []
        for number, row in zip((number for number, _ in lines[1:]), rows, strict=False):
            if len(row) != len(names):
                raise ReaderError(
                    "packet-row-width", file=given.name, line=number, found=len(row),
                    wanted=len(names),
                )  # fmt: skip
            cells[key].append(row[index])
    return packet_table(given, cells, tool="Wireshark", count=len(rows), partial=partial)


def packet_table(
    given: Input,
    cells: dict[str, list[str]],
    *,
    tool: str,
    count: int,
    partial: bool,
    warnings: Sequence[Notice] = (),
) -> Table:
    """Return a list of packets from its columns of text, named by what they are."""
    times, notices = times_of(cells.pop("time", [""] * count))
    certain = facts_of(cells, np.asarray(times).tolist())
    data: dict[str, FloatColumn | TextColumn] = {"time_s": times}
    units = {"time_s": "s"}
    for name, column in cells.items():
        if name not in ("number", "length"):
            data[name] = np.array(column, dtype=object)
            continue
        target, unit = ("original_bytes", "byte") if name == "length" else ("number", "1")
        data[target], units[target] = _whole(given, name, column), unit
    if partial:
        notices.append(Notice("packet-row-cut"))
    facts = fact_row(packet_count=count, span_s=span_s(times), **certain, partial=partial)
    return Table(
        data=data,
        meta=Meta(
            tool=tool,
            source=given.unpacked.name if given.unpacked.is_file else "",
            sha256=given.unpacked.sha256,
            units=units,
            layers={"original_bytes": "captured frame"} if "original_bytes" in data else {},
            partial=partial,
            facts=(facts,),
            warnings=(*given.text.warnings, *warnings, *notices),
        ),
    )


def _whole(given: Input, name: str, cells: list[str]) -> FloatColumn:
    for row, cell in enumerate(cells):
        if not re.fullmatch(r"\d{1,15}", cell.strip()):
            raise ReaderError(
                "packet-field-not-a-number", file=given.name, field=name,
                value=shorten(cell), packet=row + 1,
            )  # fmt: skip
    return np.array([float(cell.strip()) for cell in cells])


FORMAT = Format(
    name="Wireshark list",
    description="a packet list exported from Wireshark",
    recognize=_recognize,
    read=_read,
    traps=(
        "Names of columns are those of the user's language and preferences.",
        "The time is since the start, since the last packet, or of the day: where the numbers do "
        "not show which, it stays missing.",
        "The length is that of the frame without FCS, not of its data.",
        "A display filter leaves packets out: the list has no word of it.",
    ),
)
