"""The output of oping: probes of several hosts in turn."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import Probe, Run, resolution, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(
    r"^PING (?P<host>\S+) \((?P<address>[^()\s]+)\) (?P<data>[0-9]{1,18}) bytes of data\.\s*$"
)
_REPLY = re.compile(
    r"^(?P<bytes>[0-9]{1,18}) bytes from (?P<host>\S+) \([^()\s]+\): icmp_seq=(?P<seq>[0-9]{1,18}) "
    r"(?:ttl=(?P<ttl>[0-9]{1,18}) )?(?:\S+=\S+ )*time=(?P<time>\d{1,18}\.?\d{0,18}) ms"
)
_LOST = re.compile(
    r"^echo reply from (?P<host>\S+) \([^()\s]+\): icmp_seq=(?P<seq>[0-9]{1,18}) timeout"
)
_HEAD = re.compile(r"^--- (?P<host>\S+) ping statistics ---")
_COUNTS = re.compile(
    r"^(?P<sent>[0-9]{1,18}) packets transmitted, (?P<received>[0-9]{1,18}) received, "
    r"(?P<loss>\d{1,18}\.?\d{0,18})% packet"
)


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER.pattern)


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: dict[str, Run] = {}
    sizes: dict[str, float] = {}
    skipped: list[int] = []
    summed = ""
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.match(line):
            runs.setdefault(found["host"], Run(target=found["host"], protocol="icmp"))
            sizes[found["host"]] = float(found["data"])
        elif found := _REPLY.match(line) or _LOST.match(line):
            run = runs.setdefault(found["host"], Run(target=found["host"], protocol="icmp"))
            run.probes.append(_probe(found, sizes.get(found["host"], float("nan"))))
        elif found := _HEAD.match(line):
            summed = found["host"]
        elif summed in runs and (found := _COUNTS.match(line)):
            run = runs[summed]
            run.sent, run.received = int(found["sent"]), int(found["received"])
            run.loss_ratio = float(found["loss"]) / 100
            run.printed = {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
            run.ended = True
        elif line.strip() and not line.startswith("RTT[ms]"):
            skipped.append(number)
    warnings = [Notice("not-of-the-tool", {"numbers": skipped})] if skipped else []
    return to_samples(given, list(runs.values()), "oping", warnings)


def _probe(found: re.Match[str], size: float) -> Probe:
    known = found.groupdict()
    made = Probe(sequence=float(found["seq"]), payload_bytes=size, lost="time" not in known)
    if not made.lost:
        made.rtt_s = float(known["time"]) * 1e-3
        made.resolution_s = resolution(known["time"], 1e-3)
        made.ttl = float(known["ttl"] or "nan")
    return made


FORMAT = Format(
    name="oping",
    description="the output of oping",
    recognize=_recognize,
    read=_read,
    traps=(
        "Hosts take turns in the lines; each has its own rows and facts.",
        "The bytes of a reply are user data, without a header.",
        "The times of the summary are whole milliseconds, often 0: those of the lines count.",
        "A timeout is a lost probe, without a time.",
    ),
)
