"""The tracert of a Huawei router (VRP), with the labels of MPLS where they are printed."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._traces import ADDRESS, Probe, Trace, to_samples
from netcalc.readers.source import no_measurement
from netcalc.samples import PathSamples

_HEADER = re.compile(
    r"\s*traceroute to\s+(?P<host>[^\s(]+)\s*\((?P<address>[^()\s]+)\), "
    r"max hops: ?(?P<limit>\d{1,3}) ?, ?packet length: ?\d{1,5}.*"
)
_HOP = re.compile(
    rf"\s{{0,4}}(?P<hop>\d{{1,3}})\s+"
    rf"(?:(?P<node>{ADDRESS.pattern})(?:\[MPLS (?P<labels>[^\]]*)\])?\s+)?"
    r"(?P<cells>(?:\d{1,6} ms|\*|![A-Z])(?:\s+(?:\d{1,6} ms|\*|![A-Z]))*)\s*"
)
_CELL = re.compile(r"(\d{1,6}) ms|\*|![A-Z]")


def _recognize(given: Input) -> bool:
    return given.seen(
        r"^\s*traceroute to\s+[^\s(]+\s*\([^()\s]+\), max hops: ?\d+ ?, ?packet length"
    )


def _read(given: Input) -> PathSamples:
    text = given.text
    traces: list[Trace] = []
    skipped: list[int] = []
    cut = False
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete and line.strip():
            cut = True
            continue
        if found := _HEADER.fullmatch(line):
            made = Trace(target=found["host"], address=found["address"], has_header=True)
            made.limit = int(found["limit"])
            traces.append(made)
        elif traces and (found := _HOP.fullmatch(line)):
            traces[-1].probes += _probes(found)
        elif traces and re.match(r"\s{0,4}\d{0,6}\S{0,3}\s+(?:\d|\*)", line):
            skipped.append(number)
    if not any(trace.probes for trace in traces):
        raise no_measurement("no-path", given.unpacked, text)
    traces = [trace for trace in traces if trace.probes]
    traces[-1].cut |= cut
    warnings = list(text.warnings)
    if cut:
        warnings.append(Notice("last-line-cut", {"number": text.numbers[-1]}))
    if skipped:
        warnings.append(Notice("path-lines-unread", {"numbers": skipped}))
    return to_samples(given, traces, "tracert (Huawei)", warnings)


def _probes(found: re.Match[str]) -> list[Probe]:
    hop, node = float(found["hop"]), found["node"] or ""
    probes: list[Probe] = []
    for cell in _CELL.finditer(found["cells"]):
        if cell[0].startswith("!"):
            if probes:
                probes[-1].add_mark(cell[0])
        elif cell[0] == "*":
            probes.append(Probe(hop, lost=True))
        else:
            probes.append(Probe(hop, int(cell[1]) / 1e3, node=node, resolution_s=1e-3))
    return probes


FORMAT = Format(
    name="Huawei tracert",
    description="the output of tracert on a Huawei router",
    recognize=_recognize,
    read=_read,
    traps=(
        "Labels of MPLS stand behind the address, in brackets; they are no name and no node.",
        "Times are whole milliseconds.",
        "A star is a probe without an answer, also between two times.",
    ),
)
