"""Counters of interfaces, queues and network cards: ip -s link, tc -s qdisc, ethtool -S."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.rate_layers import FRAME_WITHOUT_FCS, UNKNOWN
from netcalc.readers.counters.counts import Counts, number_of
from netcalc.readers.document import member, words
from netcalc.readers.format import Format, Input, of_kernel
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
    counts = Counts(file)
    if file.is_json:
        for link in counts.objects():
            name = words(link, "ifname")
            stats = member(link, "stats64") or member(link, "stats")
            if not stats:
                counts.warnings.append(Notice("link-without-counters", {"names": [shorten(name)]}))
            for way in ("rx", "tx"):
                counts.add_numbers(name, member(stats, way), before=f"{way}_")
    else:
        _read_links(counts)
    return counts.table(tool="ip -s link")


def _read_links(counts: Counts) -> None:
    group = ""
    names: list[str] = []
    for number, line in counts.lines():
        if link := _LINK.fullmatch(line):
            group, names = link["name"], []
        elif head := _HEAD.fullmatch(line):
            errors = "errors_" if head["errors"] else ""
            names = [f"{head['way'].lower()}_{errors}{name}" for name in head["names"].split()]
        elif names:
            cells = line.split()
            counts.check_widths(number, group, len(cells), len(names))
            for name, cell in zip(names, cells, strict=True):
                if number_of(cell) is None and cell[-1:] in _SUFFIX:
                    raise ReaderError(
                        "counter-rounded", file=counts.file.name, line=number,
                        field=f"{group} {name}", value=shorten(cell),
                    )  # fmt: skip
                counts.add(group, name, counts.number(number, f"{group} {name}", cell))
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
    tools={
        # struct rtnl_link_stats64 of Linux, rx_bytes: the length of frames, without the FCS
        "ip -s link": of_kernel("frames at the interface", FRAME_WITHOUT_FCS),
    },
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
    counts = Counts(file)
    if file.is_json:
        for row in counts.objects():
            group = _group(words(row, "dev"), words(row, "kind"), words(row, "handle"))
            counts.add_numbers(group, {k: value for k, value in row.items() if k not in _JSON})
    else:
        _read_queues(counts)
    return counts.table(tool="tc -s qdisc")


def _read_queues(counts: Counts) -> None:
    group = ""
    for number, line in counts.lines():
        if head := _QUEUE.fullmatch(line):
            group = _group(head["device"] or "", head["kind"], head["handle"])
        elif sent := _SENT.fullmatch(line):
            for name, value in sent.groupdict().items():
                counts.add(group, name, int(value))
        elif backlog := _BACKLOG.fullmatch(line):
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
    tools={
        # the packets of an interface, while they are in its queue
        "tc -s qdisc": of_kernel("packets at the queue", FRAME_WITHOUT_FCS),
    },
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
    counts = Counts(file)
    if file.is_json:
        for row in counts.objects():
            counts.add_numbers(words(row, "ifname"), row)
        return counts.table(tool="ethtool -S")
    for number, line in counts.lines():
        name, _, count = line.rpartition(":")
        value = number_of(count.strip()) if _COUNT.fullmatch(count) else None
        if name[:1].isspace() and name.strip() and value is not None:
            counts.add("", name.strip(), value)
        elif line.strip() and not re.fullmatch(r"(?:NIC|PHY) statistics:\s*", line):
            counts.unread.append(number)
    return counts.table(tool="ethtool -S")


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
    tools={
        # what it counts is up to the driver
        "ethtool -S": of_kernel("packets at the network card", UNKNOWN),
    },
)
