"""Counters of interfaces: ``ip -s link`` and ``ip -s address``, text and JSON."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters._counts import (
    Counts,
    check_widths,
    lines_of,
    number_of,
    objects_of,
    table_of,
)
from netcalc.readers.document import member, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Table

_LINK = re.compile(r"\d+: (?P<name>[^\s:@]+)(?:@\S+)?: <[^>]*>.*")
_HEAD = re.compile(r"\s+(?P<way>RX|TX)(?P<errors> errors)?:\s+(?P<names>[a-z].*)")
_SUFFIX = "kKMGT"


def _recognize(given: Input) -> bool:
    if given.is_json:
        return {"ifname", "ifindex"} <= given.keys() and '"stats' in given.head.decode(
            "utf-8", "replace"
        )
    return given.seen(r"^\d+: \S+: <[A-Z,_0-9-]*>") and given.seen(r"^\s+RX:\s+bytes\s+packets")


def _read(given: Input) -> Table:
    counts = Counts()
    if given.is_json:
        _read_json(given, counts)
    else:
        _read_text(given, counts)
    return table_of(given, counts, tool="ip -s link")


def _read_json(given: Input, counts: Counts) -> None:
    for link in objects_of(given, counts):
        stats = member(link, "stats64") or member(link, "stats")
        if not stats:
            known = {"names": [shorten(words(link, "ifname"))]}
            counts.warnings.append(Notice("link-without-counters", known))
        for way in ("rx", "tx"):
            for name, value in member(stats, way).items():
                if type(value) in (int, float):
                    counts.add(words(link, "ifname"), f"{way}_{name}", value)


def _read_text(given: Input, counts: Counts) -> None:
    group = ""
    names: list[str] = []
    for number, line in lines_of(given, counts):
        link, head = _LINK.fullmatch(line), _HEAD.fullmatch(line)
        if link:
            group, names = link["name"], []
        elif head:
            errors = "errors_" if head["errors"] else ""
            names = [f"{head['way'].lower()}_{errors}{one}" for one in head["names"].split()]
        elif names:
            cells = line.split()
            check_widths(given, number, group, names, cells)
            for name, cell in zip(names, cells, strict=True):
                value = number_of(cell)
                if value is None:
                    rounded = cell[-1:] in _SUFFIX
                    raise ReaderError(
                        "counter-rounded" if rounded else "not-a-number",
                        file=given.name, line=number, field=f"{group} {name}",
                        value=shorten(cell),
                    )  # fmt: skip
                counts.add(group, name, value)
            names = []
        elif not re.match(r"\s+(?:link/|inet|valid_lft|altname|vf )", line) and line.strip():
            counts.unread.append(number)


FORMAT = Format(
    name="ip -s link",
    description="the counters of ip -s link",
    recognize=_recognize,
    read=_read,
    traps=(
        "RX and TX have the same names: rx_ and tx_ are put before them.",
        "Text and JSON name some counters differently (mcast and multicast); both stay as printed.",
        "Numbers rounded by -h (1.5M) are refused: the counts are not in the file.",
        "dropped of RX is before the protocols: it includes those for no protocol in use.",
    ),
)
