"""The raw output of mtr: a line for each probe, answer and name, in the order of events."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._traces import Probe, Trace, to_samples
from netcalc.readers.source import no_measurement
from netcalc.samples import PathSamples

_LINE = re.compile(
    r"^(?:x (?P<sent>\d{1,3}) (?P<sent_id>\d+)"
    r"|h (?P<host>\d{1,3}) (?P<address>\S+)"
    r"|d (?P<named>\d{1,3}) (?P<name>\S+)"
    r"|p (?P<answered>\d{1,3}) (?P<usec>\d{1,18})(?: (?P<id>\d+))?"
    r"|[mty] \d.*)$"
)


def _recognize(given: Input) -> bool:
    lines = [line for line in given.first.split("\n") if line.strip()]
    return (
        len(lines) > 1
        and all(_LINE.match(line) for line in lines[:-1])
        and any(line.startswith(("h ", "x ")) for line in lines)
    )


def _read(given: Input) -> PathSamples:
    text = given.text
    trace = Trace(ended=True)
    nodes: dict[int, str] = {}
    names: dict[int, str] = {}
    open_probes: dict[str, Probe] = {}
    skipped: list[int] = []
    has_sent = any(line.startswith("x ") for line in text.lines)
    late = cut = 0
    for number, line in zip(text.numbers, text.lines, strict=True):
        if not line.strip():
            continue
        if number == text.numbers[-1] and not text.ends_complete:
            cut = number
            continue
        found = _LINE.match(line)
        if found is None:
            skipped.append(number)
        elif found["sent"]:
            probe = Probe(int(found["sent"]) + 1, lost=True)
            trace.probes.append(probe)
            open_probes[found["sent_id"]] = probe
        elif found["host"]:
            nodes[int(found["host"])] = found["address"]
        elif found["named"]:
            names[int(found["named"])] = found["name"]
        elif found["answered"]:
            hop = int(found["answered"])
            known = open_probes.pop(found["id"] or "", None)
            if known is None and has_sent:
                late += 1
                continue
            if known is None:
                known = Probe(hop + 1)
                trace.probes.append(known)
            known.rtt_s, known.lost = int(found["usec"]) * 1e-6, False
            known.node = nodes.get(hop, "")
            known.node_name = names.get(hop, "")
    if not trace.probes:
        raise no_measurement("no-path", given.unpacked, text)
    warnings = list(text.warnings)
    trace.cut = bool(cut)
    beyond = _drop_beyond(trace)
    if beyond:
        warnings.append(Notice("probes-beyond-target", {"count": beyond}))
    if not has_sent:
        warnings.append(Notice("lost-probes-unknown", {}))
    if late:
        warnings.append(Notice("answers-without-probe", {"count": late}))
    if skipped:
        warnings.append(Notice("not-of-a-path", {"numbers": skipped}))
    return to_samples(given, [trace], "mtr", warnings)


def _drop_beyond(trace: Trace) -> int:
    """Leave out hops behind the first one that the last node answered: it is the target."""
    answered = {probe.hop: probe.node for probe in trace.probes if probe.node}
    if not answered:
        return 0
    end = max(answered)
    while answered.get(end - 1) == answered[end]:
        end -= 1
    if end == max(answered):
        return 0
    kept = [probe for probe in trace.probes if probe.hop <= end]
    dropped = len(trace.probes) - len(kept)
    trace.probes = kept
    return dropped


FORMAT = Format(
    name="mtr raw",
    description="the raw output of mtr",
    recognize=_recognize,
    read=_read,
    traps=(
        "Hops count from 0 in the file and from 1 here; times are in microseconds.",
        "An answer belongs to the probe of its number, not to the one sent last.",
        "A probe without an answer has a line only since 0.93 (x); before, losses are unknown.",
        "The target also answers probes that would go further; they are not hops.",
    ),
)
