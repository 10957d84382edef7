"""Counters of queues: ``tc -s qdisc`` and ``tc -s class``, text and JSON."""

from __future__ import annotations

import re

from netcalc.readers.counters._counts import Counts, lines_of, number_of, objects_of, table_of
from netcalc.readers.document import words
from netcalc.readers.format import Format, Input
from netcalc.samples import Table

_HEAD = re.compile(
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


def _recognize(given: Input) -> bool:
    if given.is_json:
        return {"kind", "handle", "overlimits"} <= given.keys()
    return given.seen(r"^(?:qdisc|class) \S+ \S+ ") and given.seen(r"^ Sent \d+ bytes \d+ pkt")


def _read(given: Input) -> Table:
    counts = Counts()
    if given.is_json:
        for one in objects_of(given, counts):
            group = _group(words(one, "dev"), words(one, "kind"), words(one, "handle"))
            for name, value in one.items():
                if name not in _JSON and type(value) in (int, float):
                    counts.add(group, name, value)
    else:
        _read_text(given, counts)
    return table_of(given, counts, tool="tc -s qdisc")


def _read_text(given: Input, counts: Counts) -> None:
    group = ""
    for number, line in lines_of(given, counts):
        head, sent, backlog = _HEAD.fullmatch(line), _SENT.fullmatch(line), _BACKLOG.fullmatch(line)
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


FORMAT = Format(
    name="tc -s qdisc",
    description="the counters of tc -s qdisc",
    recognize=_recognize,
    read=_read,
    traps=(
        "A queue inside another counts the same packets again: do not add them.",
        "dropped counts what the queue refused; a queue such as fq_codel also drops packets "
        "that it had taken, which are in the same number.",
        "Text and JSON name some counters differently (pkt and packets, dropped and drops); both "
        "stay as printed.",
        "A backlog rounded to K or M is left out; it is what waits now, no counter.",
    ),
)
