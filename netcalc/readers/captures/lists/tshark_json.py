"""Packets as JSON of ``tshark -T json``: the fields that ``tshark -T fields`` also has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netcalc.errors import ReaderError
from netcalc.readers.captures.lists.tshark_fields import SI_NAMES, TEXT_NAMES, table_of_fields
from netcalc.readers.document import member
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_NAMES = {*SI_NAMES, *TEXT_NAMES}
_EMPTY = "1"
"""What stands for a field without a value: it is there."""


def _recognize(given: Input) -> bool:
    return given.is_json and {"_index", "_source"} <= given.keys() and '"layers"' in given.first


def _read(given: Input) -> Table:
    if given.json.fault is not None:
        raise given.json.fault
    packets = [
        _fields(packet)
        for document in given.json.documents
        for packet in (document if isinstance(document, list) else [document])
    ]
    names = [name for name in (*TEXT_NAMES, *SI_NAMES) if any(name in one for one in packets)]
    if not names:
        raise ReaderError("packet-list-empty", file=given.name)
    cells = {name: [one.get(name, "") for one in packets] for name in names}
    return table_of_fields(given, cells, count=len(packets), partial=False)


def _fields(packet: Any) -> dict[str, str]:
    """Return the fields of a packet, of which one inside another is in an object of its own."""
    found: dict[str, str] = {}
    for name, value in _leaves(member(packet, "_source", "layers"), 0):
        if name in _NAMES:
            found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _leaves(part: Any, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in part.items():
        if isinstance(value, dict) and depth < 20:
            yield from _leaves(value, depth + 1)
        elif isinstance(value, str):
            yield name, value or _EMPTY
        elif isinstance(value, list):
            yield name, ",".join(one for one in value if isinstance(one, str)) or _EMPTY


FORMAT = Format(
    name="tshark -T json",
    description="the JSON of tshark",
    recognize=_recognize,
    read=_read,
    traps=(
        "Of a layer that a packet has twice (tunnels) JSON has one name twice: the last one counts "
        "and a warning says so.",
        "A layer that tshark was told to leave out is not counted as 0: its facts are missing.",
        "Only lengths, times, addresses and what tshark found of TCP are kept.",
    ),
)
