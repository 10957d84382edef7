"""The output of arping, of Thomas Habets and of iputils."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import NAN, Probe, Run, resolution, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(r"^ARPING (?P<host>\S+)")
_REPLY = re.compile(
    r"^[0-9]{1,18} bytes from \S+ \((?P<ip>[^()]+)\): (?:icmp_seq|index)=(?P<index>[0-9]{1,18})"
    r"(?: time=(?P<time>\d{1,18}\.?\d{0,18}) (?P<unit>usec|msec|sec))?"
)
_UNICAST = re.compile(
    r"^(?:Unicast|Broadcast) reply from \S+ \[[^\]]*\](?: for \S+ \[[^\]]*\])?"
    r"\s+(?P<time>\d{1,18}\.?\d{0,18})ms"
)
_COUNTS = re.compile(
    r"^(?P<sent>[0-9]{1,18}) packets transmitted, (?P<received>[0-9]{1,18}) packets received, +"
    r"(?P<loss>-?[0-9]{1,18})% unanswered(?: \((?P<extra>[0-9]{1,18}) extra\))?"
)
_SENT = re.compile(r"^Sent (?P<sent>[0-9]{1,18}) probes?\b")
_RECEIVED = re.compile(r"^Received (?P<received>[0-9]{1,18}) (?:response|repl)")
_UNITS = {"usec": 1e-6, "msec": 1e-3, "sec": 1.0}


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER.pattern) or given.seen(_UNICAST.pattern)


def _read(given: Input) -> RttSamples:
    text = given.text
    run = Run(protocol="arp")
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.match(line):
            run.target = found["host"]
        elif found := _REPLY.match(line):
            factor = _UNITS.get(found["unit"] or "", NAN)
            time = found["time"] or "nan"
            width = resolution(time, factor) if found["time"] else 0.0
            run.probes.append(Probe(float(time) * factor, resolution_s=width))
        elif found := _UNICAST.match(line):
            time = found["time"]
            run.probes.append(Probe(float(time) * 1e-3, resolution_s=resolution(time, 1e-3)))
        elif line.strip() == "Timeout":
            run.probes.append(Probe(lost=True))
        elif found := _COUNTS.match(line):
            run.sent, run.received = int(found["sent"]), int(found["received"])
            run.duplicates = int(found["extra"] or 0)
            run.loss_ratio = int(found["loss"]) / 100
            run.ended = True
        elif found := _SENT.match(line):
            run.sent = int(found["sent"])
        elif found := _RECEIVED.match(line):
            run.received = int(found["received"])
            run.ended = True
        elif line.strip() and not line.startswith(("---", "rtt ")):
            skipped.append(number)
    if run.sent is not None:
        run.printed = {"sent": run.sent, "received": run.received}
        missing = run.sent - len(run.probes)
        run.probes += [Probe(lost=True) for _ in range(min(max(missing, 0), 50_000))]
    warnings = [Notice("not-of-the-tool", {"numbers": skipped})] if skipped else []
    return to_samples(given, [run], "arping", warnings)


FORMAT = Format(
    name="arping",
    description="the output of arping",
    recognize=_recognize,
    read=_read,
    traps=(
        "The unit of a time differs from line to line: usec, msec and sec.",
        "The arping of iputils prints no line for a lost probe; the summary counts it.",
        "It measures the next node at layer 2 only.",
    ),
)
