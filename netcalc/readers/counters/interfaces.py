"""Counters of interfaces, queues and network cards: ip -s link, tc -s qdisc, ethtool -S."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.counters.counts import (
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


def _recognize_ip_link(file: Input) -> bool:
    if file.is_json:
        return {"ifname", "ifindex"} <= file.keys() and '"stats' in file.head.decode(
            "utf-8", "replace"
        )
    return file.seen(r"^\d+: \S+: <[A-Z,_0-9-]*>") and file.seen(r"^\s+RX:\s+bytes\s+packets")


def _read_ip_link(file: Input) -> Table:
    counts = Counts()
    if file.is_json:
        _read_json(file, counts)
    else:
        _read_links(file, counts)
    return table_of(file, counts, tool="ip -s link")


def _read_json(file: Input, counts: Counts) -> None:
    for link in objects_of(file, counts):
        stats = member(link, "stats64") or member(link, "stats")
        if not stats:
            known = {"names": [shorten(words(link, "ifname"))]}
            counts.warnings.append(Notice("link-without-counters", known))
        for way in ("rx", "tx"):
            for name, value in member(stats, way).items():
                if type(value) in (int, float):
                    counts.add(words(link, "ifname"), f"{way}_{name}", value)


def _read_links(file: Input, counts: Counts) -> None:
    group = ""
    names: list[str] = []
    for number, line in lines_of(file, counts):
        link, head = _LINK.fullmatch(line), _HEAD.fullmatch(line)
        if link:
            group, names = link["name"], []
        elif head:
            errors = "errors_" if head["errors"] else ""
            names = [f"{head['way'].lower()}_{errors}{one}" for one in head["names"].split()]
        elif names:
            cells = line.split()
            check_widths(file, number, group, names, cells)
            for name, cell in zip(names, cells, strict=True):
                value = number_of(cell)
                if value is None:
                    rounded = cell[-1:] in _SUFFIX
                    raise ReaderError(
                        "counter-rounded" if rounded else "not-a-number",
                        file=file.name, line=number, field=f"{group} {name}",
                        value=shorten(cell),
                    )  # fmt: skip
                counts.add(group, name, value)
            names = []
        elif not re.match(r"\s+(?:link/|inet|valid_lft|altname|vf )", line) and line.strip():
            counts.unread.append(number)


IP_LINK = Format(
    name="ip -s link",
    description="the counters of ip -s link",
    recognize=_recognize_ip_link,
    read=_read_ip_link,
    traps=(
        "RX and TX have the same names: rx_ and tx_ are put before them.",
        "Text and JSON name some counters differently (mcast and multicast); both stay as printed.",
        "Numbers rounded by -h (1.5M) are refused: the counts are not in the file.",
        "dropped of RX is before the protocols: it includes those for no protocol in use.",
    ),
)


_QUEUE = re.compile(
    r"(?P<what>qdisc|class) (?P<kind>\S+) (?P<handle>\S+)"
    r"(?: dev (?P<device>\S+))?(?P<rest>(?: .*)?)"
)
_SENT = re.compile(
    r" Sent (?P<bytes>\d{1,30}) bytes (?P<pkt>\d{1,30}) pkts? "
    r"\(dropped (?P<dropped>\d{1,30}), overlimits (?P<overlimits>\d{1,30}) "
    r"requeues (?P<requeues>\d{1,30})\)\s*"
)
_BACKLOG = re.compile(r" backlog (?P<bytes>\d+(?:\.\d+)?[KMG]?)b (?P<packets>\d{1,30})p(?: .*)?")
_RATE = re.compile(r" rate \S+ \d+pps backlog .*")
_UNREAD = re.compile(
    r" \d+ [a-z_]+\s*$| [a-z_]+ {2,}[a-z_]+ \d|"
    r" (?!\d+(?:\.\d+)?[A-Za-z/]*[,)]?(?:\s|$))\d\S*"
)
"""A name without a number, or what begins as a number and is none, with or without a unit."""
_PAIRS = re.compile(r"([a-z][a-z_]*) (\d+)(?![\w.])")
_JSON = ("kind", "handle", "parent", "dev", "root", "refcnt", "options")


def _recognize_qdisc(file: Input) -> bool:
    if file.is_json:
        return {"kind", "handle", "overlimits"} <= file.keys()
    return file.seen(r"^(?:qdisc|class) \S+ \S+ ") and file.seen(r"^ Sent \d+ bytes \d+ pkt")


def _read_qdisc(file: Input) -> Table:
    counts = Counts()
    if file.is_json:
        for one in objects_of(file, counts):
            group = _group(words(one, "dev"), words(one, "kind"), words(one, "handle"))
            for name, value in one.items():
                if name not in _JSON and type(value) in (int, float):
                    counts.add(group, name, value)
    else:
        _read_queues(file, counts)
    return table_of(file, counts, tool="tc -s qdisc")


def _read_queues(file: Input, counts: Counts) -> None:
    group = ""
    for number, line in lines_of(file, counts):
        head, sent, backlog = (
            _QUEUE.fullmatch(line),
            _SENT.fullmatch(line),
            _BACKLOG.fullmatch(line),
        )
        if head:
            group = _group(head["device"] or "", head["kind"], head["handle"])
        elif sent:
            for name, value in sent.groupdict().items():
                counts.add(group, name, int(value))
        elif backlog:
            size = number_of(backlog["bytes"])
            if size is not None:  # rounded otherwise: 12Kb
                counts.add(group, "backlog_bytes", size)
            counts.add(group, "backlog_packets", int(backlog["packets"]))
        elif line.startswith("  ") and group:
            for name, text in _PAIRS.findall(line):
                value = number_of(text)
                if value is not None:
                    counts.add(group, name, value)
            if _UNREAD.search(line):
                counts.unread.append(number)
        elif line.strip() and not _RATE.fullmatch(line):
            counts.unread.append(number)


def _group(device: str, kind: str, handle: str) -> str:
    return " ".join(part for part in (device, kind, handle) if part)


QDISC = Format(
    name="tc -s qdisc",
    description="the counters of tc -s qdisc",
    recognize=_recognize_qdisc,
    read=_read_qdisc,
    traps=(
        "A queue inside another counts the same packets again: do not add them.",
        "dropped counts what the queue refused; a queue such as fq_codel also drops packets "
        "that it had taken, which are in the same number.",
        "Text and JSON name some counters differently (pkt and packets, dropped and drops); both "
        "stay as printed.",
        "A backlog rounded to K or M is left out; it is what waits now, no counter.",
    ),
)


_COUNT = re.compile(r"\s*-?\d+\s*")


def _recognize_ethtool(file: Input) -> bool:
    if file.is_json:
        keys = file.keys()
        first = file.json.documents[0] if file.json.documents else None
        row = first[0] if isinstance(first, list) and first else None
        return (
            isinstance(row, dict)
            and "ifname" in keys
            and "ifindex" not in keys
            and sum(type(value) is int for value in row.values()) >= len(row) - 1 > 0
        )
    return file.seen(r"^(?:NIC|PHY) statistics:\s*$")


def _read_ethtool(file: Input) -> Table:
    counts = Counts()
    if file.is_json:
        for one in objects_of(file, counts):
            for name, value in one.items():
                if type(value) in (int, float):
                    counts.add(words(one, "ifname"), name, value)
        return table_of(file, counts, tool="ethtool -S")
    for number, line in lines_of(file, counts):
        name, _, count = line.rpartition(":")
        value = number_of(count.strip()) if _COUNT.fullmatch(count) else None
        if name[:1].isspace() and name.strip() and value is not None:
            counts.add("", name.strip(), value)
        elif line.strip() and not re.fullmatch(r"(?:NIC|PHY) statistics:\s*", line):
            counts.unread.append(number)
    return table_of(file, counts, tool="ethtool -S")


ETHTOOL = Format(
    name="ethtool -S",
    description="the counters of ethtool -S",
    recognize=_recognize_ethtool,
    read=_read_ethtool,
    traps=(
        "Each driver has names of its own: rx_missed_errors of one is rx_no_buffer of another.",
        "The text does not name the interface.",
        "Counters of queues are part of those of the card: do not add them.",
    ),
)
