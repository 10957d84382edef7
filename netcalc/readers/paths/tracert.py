"""The text of tracert (Windows), in any language: the words are not looked at."""

from __future__ import annotations

import re

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._traces import Probe, Trace, to_samples
from netcalc.readers.paths._windows import node_in
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import PathSamples

_CELL = r"(?:<\s?1\s*\S{1,6}|[0-9]{1,5}\s*(?:ms|мс|мсек|毫秒|ミリ秒|밀리초|ms\.)|\*)"
_HOP = re.compile(
    rf"^\s{{0,3}}(?P<hop>[0-9]{{1,2}})\s+(?P<cells>{_CELL}(?:\s+{_CELL}){{2}})(?P<rest>\s.*)?$"
)
# A time next to the number of the hop, or stars and words: traceroute has the node there.
_TIMED = re.compile(rf"^\s{{0,3}}[0-9]{{1,2}}\s+(?!\*){_CELL}(?:\s+{_CELL}){{2}}\s+\S")
_STARS = r"^\s{1,3}[0-9]{1,2}(?:\s{4,}\*){3}\s+[^\s*0-9]"
_PLAIN = re.compile(r"^\s{0,3}(?P<hop>[0-9]{1,2})\s{2,}(?P<rest>[^\s*<0-9]\S*.*|[0-9.]{7,}.*)$")
_LIKE_HOP = re.compile(r"^\s{0,3}[0-9]{0,3}\s.*(?:\s\*\s|[0-9]\s*ms\s)|^\s{1,3}[0-9]{1,3}\s{2,}\S")
_TIMES = re.compile(r"\s\*\s|[0-9]\s*ms\s")
_HEADER = re.compile(r"^\s*(?:Tracing route to|Routenverfolgung zu) ")


def _recognize(given: Input) -> bool:
    if given.seen(r"^Computing statistics for \d+ seconds"):
        return False
    return given.seen(_TIMED.pattern) or given.seen(_STARS) or given.seen(_HEADER.pattern)


def _read(given: Input) -> PathSamples:
    text = given.text
    traces: list[Trace] = []
    above: list[str] = []
    skipped: list[int] = []
    cut = False
    for number, line in zip(text.numbers, text.lines, strict=True):
        if not line.strip():
            continue
        if number == text.numbers[-1] and not text.ends_complete and any(map(str.isdigit, line)):
            cut = True
            continue
        found = _HOP.match(line)
        may_be_plain = traces and traces[-1].probes and not _TIMES.search(line)
        plain = _PLAIN.match(line) if may_be_plain and not found else None
        matched = found or plain
        if matched is None:
            last = number == text.numbers[-1] and not text.ends_complete
            if traces and (_LIKE_HOP.match(line) or _is_message_of_a_hop(line)):
                skipped.append(number)
                continue
            if (
                not last
                and traces
                and traces[-1].probes
                and not _HEADER.match(line)
                and not node_in(line)[0]
            ):
                traces[-1].ended = True  # "Trace complete."
            above.append(line)
            continue
        hop = int(matched["hop"])
        if not traces or hop <= traces[-1].last_hop:
            traces.append(_begun(above, hop))
        above = []
        if found is not None:
            traces[-1].probes += _probes(hop, found["cells"], found["rest"] or "")
        elif plain is not None:
            node, name = node_in(plain["rest"])
            if not node:
                skipped.append(number)
                continue
            traces[-1].probes.append(Probe(hop, node=node, node_name=name, mark="!"))
    if not traces:
        if above and _HEADER.match(above[0]):
            raise ReaderError("path-message-only", file=given.name, message=shorten(above[-1], 100))
        raise no_measurement("no-path", given.unpacked, text)
    if cut:
        traces[-1].cut = True
    warnings = list(text.warnings)
    if cut:
        warnings.append(Notice("last-line-cut", {"number": text.numbers[-1]}))
    if skipped:
        warnings.append(Notice("path-lines-unread", {"numbers": skipped}))
    if any(not trace.target for trace in traces):
        warnings.append(Notice("path-without-header", {}))
    return to_samples(given, traces, "tracert (Windows)", warnings)


def _is_message_of_a_hop(line: str) -> bool:
    """Whether a line that is indented, as a hop is, says an address: its number is missing."""
    return line.startswith("  ") and not _HEADER.match(line) and bool(node_in(line)[0])


def _begun(above: list[str], hop: int) -> Trace:
    """Return a run of the lines between the last one and its first hop: target and limit."""
    made = Trace(cut=hop > 1)
    for line in above:
        address, name = node_in(line)
        if address:
            made.target, made.address = name or address, address
            line = line.replace(address, "").replace(name, "")
        limit = re.search(r"(?<![\w.:])([0-9]{1,3})(?![\w.:])", line)
        if limit:
            made.limit = int(limit[1])
    return made


def _probes(hop: int, cells: str, rest: str) -> list[Probe]:
    node, name = node_in(rest)
    probes = []
    for cell in re.findall(_CELL, cells):
        if cell == "*":
            probes.append(Probe(hop, lost=True))
            continue
        number = int(re.sub(r"[^0-9]", "", cell.partition("m")[0])[:5] or 0)
        rtt_s = 0.5e-3 if cell.startswith("<") else number * 1e-3
        probes.append(Probe(hop, rtt_s, node=node, node_name=name, resolution_s=1e-3))
    return probes


FORMAT = Format(
    name="tracert",
    description="the output of tracert (Windows)",
    recognize=_recognize,
    read=_read,
    traps=(
        "The words are translated and are not looked at; numbers and their positions are.",
        "<1 ms is 0.5 ms in an interval of 1 ms, not 1 and not 0.",
        "A star is a probe without an answer, also between two times.",
        "Times are whole milliseconds.",
        "A node that reports the target unreachable has no time, and the path ends there.",
    ),
)
