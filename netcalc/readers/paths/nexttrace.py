"""Text of NextTrace, and its --raw lines."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input, seen
from netcalc.readers.paths.traces import ADDRESS, HopProbe, Trace, no_hop, to_samples
from netcalc.readers.places import TO_NODES, Counted
from netcalc.readers.source import note, shorten
from netcalc.samples import PathSamples

_HEADER = re.compile(
    rf"(?:traceroute to|\S+ ->) (?P<address>{ADDRESS.pattern})(?: \((?P<name>[^()\s]+)\))?, "
    r"(?P<limit>[0-9]{1,3}) hops max, "
)
_RAW = re.compile(
    rf"(?P<hop>[0-9]{{1,3}})\|(?:\*\|{{6}}|(?P<node>{ADDRESS.pattern})\|(?P<name>[^|]*)\|"
    r"(?P<time>[0-9]+\.[0-9]{2})(?:\|[^|]*){8})"
)
_HOP = (
    r"(?:(?P<hop>[0-9]{1,3})\s+|\s{4})"
    rf"(?:\*\s*$|(?P<node>{ADDRESS.pattern})\s+(?:AS[0-9]+|\*)\s(?!.*[0-9] ms))"
)
_TIMES = re.compile(
    r"\s{4,}(?:(?P<name>\S+)\s+)?(?P<times>(?:(?:[0-9]+(?:\.[0-9]+)?|\*) ms(?: / )?)+)"
)
_LIKE_HOP = re.compile(r"[0-9]|\s{4,}[^\s\[].*[0-9]|\S{1,3}\s+\S+\s+(?:AS[0-9]|\*\s)")
"""A line of a node or of its times: what is behind it in brackets is MPLS."""


def _read(file: Input) -> PathSamples:
    traces: list[Trace] = []
    skipped: list[int] = []
    hop, node = 0, ""
    for line_number, line, cut in file.text.numbered_lines():
        raw, times = _RAW.fullmatch(line.rstrip()), _TIMES.fullmatch(line.rstrip())
        begun = raw or re.match(_HOP, line)
        if header := _HEADER.match(line):
            name, limit = header["name"] or header["address"], int(header["limit"])
            traces.append(Trace(name, header["address"], limit, has_header=True))
        elif begun and (begun["hop"] or hop):
            hop, node = int(begun["hop"] or hop), begun["node"] or ""
            if not traces or hop < traces[-1].last_hop:
                traces.append(Trace())
            traces[-1].cut = cut and not raw
            if raw or not node:
                name, time = (raw["name"], raw["time"]) if raw else ("", "")
                _add(traces[-1], hop, node, name, time)
        elif times and node:
            for time in re.findall(r"(\S+) ms", times["times"]):
                _add(traces[-1], hop, node, times["name"], time)
        elif _LIKE_HOP.match(line):
            skipped.append(line_number)
            hop, node = hop if line[0].isspace() else 0, ""  # what follows is of no other hop
    traces = [trace for trace in traces if trace.probes]
    if not traces:
        raise no_hop(file, "NextTrace")
    warnings = list(file.text.warnings)
    note(warnings, "path-lines-unread", numbers=skipped)
    note(warnings, "lost-probes-left-out", is_so=True)
    return to_samples(file, traces, "NextTrace", warnings, has_lost=False)


def _add(trace: Trace, hop: int, node: str, name: str | None, time: str | None) -> None:
    """Add a probe; without a time it is lost."""
    if not time or time == "*":
        trace.probes.append(HopProbe(hop, lost=True))
    else:
        rtt_s, node_name = float(time) * 1e-3, shorten(name or "", 200)
        trace.probes.append(HopProbe(hop, rtt_s, node=node, node_name=node_name))


TEXT = Format(
    name="NextTrace",
    description="the output of NextTrace",
    recognize=seen(r"^NextTrace v[0-9]", r"^IP Geo Data Provider: ", rf"^{_RAW.pattern}\s*$",
                   rf"^[0-9]{{1,3}}\s+(?:{ADDRESS.pattern})\s+(?:AS[0-9]+|\*)\s(?!.*[0-9] ms)"),
    read=_read, tools={"NextTrace": Counted(probes=TO_NODES)},
    traps=("A hop without an answer is a single star, however many probes were sent.",
           "The size in the header is that of the payload."),
    parts=(r"^ {4}\[MPLS: Lbl \d", r"^ {20,}[\d.]+ ms / "), needs="the line that begins with a hop",
)  # fmt: skip
