"""Packets as tshark prints them: lines, fields (-T fields -E header=y), JSON (-T json)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.captures.lists.traces import span_s, times_of
from netcalc.readers.captures.lists.wireshark import packet_table, whole_rows
from netcalc.readers.document import member
from netcalc.readers.format import Format, Input
from netcalc.readers.source import csv_rows, no_measurement, note, shorten
from netcalc.samples import Fact, FloatColumn, Meta, Table, TextColumn, fact_row

_NAME = r'"?(?:_ws\.col\.|[a-z][a-z0-9_]*\.)[A-Za-z0-9_.]+"?'
_HEADER = re.compile(rf"({_NAME})(?:([\t,;| /]){_NAME}(?:\2{_NAME})*)?\s*")
_LAYERS = re.compile(r'(?m)^"?(?:frame|ip|ipv6|tcp|udp|eth|icmp|icmpv6|_ws)\.')

SI_NAMES = {
    "frame.len": ("original_bytes", "byte"),
    "frame.cap_len": ("kept_bytes", "byte"),
    "ip.len": ("packet_bytes", "byte"),
    "ip.ttl": ("ttl", "1"),
    "tcp.len": ("payload_bytes", "byte"),
    "tcp.seq": ("tcp_sequence", "1"),
    "tcp.ack": ("acknowledged", "1"),
    "frame.time_delta": ("delta_s", "s"),
    "tcp.analysis.ack_rtt": ("ack_rtt_s", "s"),
    "tcp.analysis.initial_rtt": ("handshake_rtt_s", "s"),
}
"""Field of tshark -> column of netcalc and its unit; the others keep their names."""
_TIMES = ("frame.time_relative", "frame.time_epoch")
_FLAGS = "tcp.analysis.retransmission"
TEXT_NAMES = (
    *_TIMES, "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "tcp.stream", "udp.stream", _FLAGS,
)  # fmt: skip
"""Further fields that facts are made of."""


def _recognize_tshark_fields(file: Input) -> bool:
    first = next((line for line in file.first.split("\n") if line.strip()), "")
    return bool(_HEADER.fullmatch(first) and _LAYERS.search(first))


def _read_tshark_fields(file: Input) -> Table:
    text = file.text
    lines = [(n, line) for n, line in zip(text.numbers, text.lines, strict=True) if line]
    header = _HEADER.fullmatch(lines[0][1])
    delimiter = (header and header[2]) or "\t"
    if delimiter != " ":
        lines = [(number, line.rstrip(" ")) for number, line in lines]
    rows = csv_rows(lines, file.unpacked, delimiter=delimiter)
    names = rows[0]
    body, partial = whole_rows(file, [number for number, _ in lines[1:]], rows[1:], len(names))
    cells = {name: [row[index] for row in body] for index, name in enumerate(names)}
    return table_of_fields(file, cells, count=len(body), partial=partial)


def table_of_fields(
    file: Input, cells: dict[str, list[str]], *, count: int, partial: bool
) -> Table:
    """Return fields of packets as a table: name -> a cell for each packet, empty if it has none."""
    notices: list[Notice] = []
    data: dict[str, FloatColumn | TextColumn] = {}
    units: dict[str, str] = {}
    clock = next((name for name in _TIMES if name in cells), None)
    if clock is not None:
        # What tshark calls relative counts from the first frame of the file: the mode is certain.
        data["time_s"] = _numbers(file, clock, cells[clock], notices)
        if clock == "frame.time_epoch":
            data["time_s"], doubts = times_of(cells[clock])
            notices += doubts
        units["time_s"] = "s"
    for name, column in cells.items():
        target, unit = SI_NAMES.get(name, (name, ""))
        if unit:
            data[target], units[target] = _numbers(file, name, column, notices), unit
        else:
            data[name] = np.array(column, dtype=object)
    return Table(
        data=data,
        meta=Meta(
            tool="tshark",
            units=units,
            partial=partial,
            facts=(_facts(cells, data, count=count, partial=partial),),
            warnings=(*file.text.warnings, *notices),
            **file.origin,
        ),
    )


def _facts(
    cells: dict[str, list[str]], data: dict[str, FloatColumn | TextColumn], *, count: int,
    partial: bool,
) -> dict[str, Fact]:  # fmt: skip
    def present(name: str) -> int | None:
        return sum(map(bool, cells[name])) if name in cells else None

    def streams(name: str) -> int | None:
        listed = cells.get(name)
        if listed is None or any("," in cell for cell in listed):
            return None
        return len({cell for cell in listed if cell})

    kept = data.get("kept_bytes")
    first = np.asarray(data.get("handshake_rtt_s", ()), dtype=float)
    timed = first[~np.isnan(first)]
    return fact_row(
        packet_count=count,
        captured_byte_count=None if kept is None else float(np.sum(kept)),
        span_s=span_s(np.asarray(data.get("time_s", ()), dtype=float)),
        ipv4_packet_count=present("ip.src"),
        ipv6_packet_count=present("ipv6.src"),
        tcp_flow_count=streams("tcp.stream"),
        udp_flow_count=streams("udp.stream"),
        tcp_retransmission_count=present(_FLAGS),
        handshake_rtt_min_s=float(timed.min()) if timed.size else None,
        partial=partial,
    )


def _numbers(file: Input, name: str, cells: list[str], notices: list[Notice]) -> FloatColumn:
    """Return a field as numbers: nan where a packet does not have it, or has it several times."""
    numbers = np.full(len(cells), np.nan)
    several = 0
    for row, cell in enumerate(cells):
        if re.fullmatch(r"-?\d+(?:\.\d+)?", cell):
            numbers[row] = float(cell)
        elif re.fullmatch(r"-?[\d.]+(?:,-?[\d.]+)+", cell):
            several += 1
        elif cell:
            raise ReaderError(
                "packet-field-not-a-number", file=file.name, field=name,
                value=shorten(cell), packet=row + 1,
            )  # fmt: skip
    note(notices, "packet-field-several", count=several, field=name)
    return numbers


TSHARK_FIELDS = Format(
    name="tshark fields",
    description="fields printed by tshark -T fields -E header=y",
    recognize=_recognize_tshark_fields,
    read=_read_tshark_fields,
    traps=(
        "Without -E header=y the columns are not named.",
        "A packet in another one has a field twice (1,2): that number stays missing.",
        "tcp.seq is relative to the flow unless tshark had another setting: kept as printed.",
        "frame.time_delta counts from the last packet captured, not the last one listed.",
    ),
)


_NAMES = {*SI_NAMES, *TEXT_NAMES}
_EMPTY = "1"
"""What stands for a field without a value: it is there."""


def _recognize_tshark_json(file: Input) -> bool:
    return file.is_json and {"_index", "_source"} <= file.keys() and '"layers"' in file.first


def _read_tshark_json(file: Input) -> Table:
    if file.json.fault is not None:
        raise file.json.fault
    packets = [
        _fields(packet)
        for document in file.json.documents
        for packet in (document if isinstance(document, list) else [document])
    ]
    names = [name for name in (*TEXT_NAMES, *SI_NAMES) if any(name in fields for fields in packets)]
    if not names:
        raise ReaderError("packet-list-empty", file=file.name)
    cells = {name: [fields.get(name, "") for fields in packets] for name in names}
    return table_of_fields(file, cells, count=len(packets), partial=False)


def _fields(packet: Any) -> dict[str, str]:
    """Return the fields of a packet, of which one inside another is in an object of its own."""
    fields: dict[str, str] = {}
    for name, value in _leaves(member(packet, "_source", "layers"), 0):
        if name in _NAMES:
            fields[name] = f"{fields[name]},{value}" if name in fields else value
    return fields


def _leaves(part: Any, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in part.items():
        if isinstance(value, dict) and depth < 20:
            yield from _leaves(value, depth + 1)
        elif isinstance(value, str):
            yield name, value or _EMPTY
        elif isinstance(value, list):
            yield name, ",".join(part for part in value if isinstance(part, str)) or _EMPTY


TSHARK_JSON = Format(
    name="tshark -T json",
    description="the JSON of tshark",
    recognize=_recognize_tshark_json,
    read=_read_tshark_json,
    traps=(
        "Of a layer that a packet has twice (tunnels) JSON has one name twice: the last one counts "
        "and a warning says so.",
        "A layer that tshark was told to leave out is not counted as 0: its facts are missing.",
        "Only lengths, times, addresses and what tshark found of TCP are kept.",
    ),
)


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


def _recognize_tshark_text(file: Input) -> bool:
    return file.seen(rf"^{_PACKET}$")


def _read_tshark_text(file: Input) -> Table:
    cells: dict[str, list[str]] = {name: [] for name in _COLUMNS}
    skipped: list[int] = []
    text = file.text
    for number, line in zip(text.numbers, text.lines, strict=True):
        row = _LINE.fullmatch(line)
        if row is None:
            if line.strip() and (cells["number"] or _TWO_ENDS.search(line)):
                skipped.append(number)
            continue
        for name in _COLUMNS:
            cells[name].append(row[name] or "")
    if not cells["number"]:
        raise no_measurement("packet-list-empty", file.unpacked, text)
    # Of a last line without its end, digits of the length may be missing.
    partial = not text.ends_complete and not cells["info"][-1]
    if partial:
        cells = {name: column[:-1] for name, column in cells.items()}
    return packet_table(
        file, cells, tool="tshark", count=len(cells["number"]), partial=partial, skipped=skipped
    )


TSHARK_TEXT = Format(
    name="tshark text",
    description="the lines of packets that tshark prints",
    recognize=_recognize_tshark_text,
    read=_read_tshark_text,
    traps=(
        "The time is since the first packet unless -t says otherwise: where the numbers do not "
        "show which, it stays missing.",
        "Seq and Ack are relative to the first of their flow, and no numbers of a ping.",
        "The length is that of the frame without FCS, not of its data.",
        "A display filter leaves packets out: the list has no word of it.",
    ),
)
