"""The ping of a Cisco router or switch: a mark for each probe, and a summary."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(
    r"^Sending (?P<count>[0-9]{1,18}), (?P<size>[0-9]{1,18})-byte "
    r"(?P<protocol>ICMP|UDP|\S+) Echos? to "
    r"(?P<host>[^\s,]+)"
)
_LIKE_HEADER = re.compile(r"^Sending .{0,100} Echos? to ")
_MARKS = re.compile(r"^[!.UQMNIP?&R]+\s*$")
_SUMMARY = re.compile(
    r"^Success rate is (?P<rate>[0-9]{1,18}) percent \((?P<received>[0-9]{1,18})/"
    r"(?P<sent>[0-9]{1,18})\)"
    r"(?:, round-trip min/avg/max = (?P<min>[0-9]{1,18})/[0-9]{1,18}/(?P<max>[0-9]{1,18}) ms)?"
)
_IP_AND_ICMP = {4: 28.0, 6: 48.0}


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER.pattern) or given.seen(_SUMMARY.pattern)


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    size = NAN
    times: list[int] = []
    odd: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if found := _HEADER.match(line):
            host = found["host"]
            runs.append(Run(target=host, protocol=found["protocol"].lower()))
            size = float(found["size"]) - _IP_AND_ICMP[6 if ":" in host else 4]
        elif _MARKS.match(line) and runs and not runs[-1].ended:
            runs[-1].probes += [_probe(mark, size) for mark in line.strip()]
        elif found := _SUMMARY.match(line):
            if not runs or runs[-1].ended:
                runs.append(Run())
            if _summed(runs[-1], found):
                times.append(number)
        elif _MARKS.match(line) or _LIKE_HEADER.match(line):
            odd.append(number)
    for run in runs:
        if run.target and run.counted_only:
            run.ended = False  # its marks are missing
    warnings = [Notice("times-without-reply", {"numbers": times})] if times else []
    if odd:
        warnings.append(Notice("not-of-the-tool", {"numbers": odd}))
    return to_samples(given, runs, "ping (Cisco)", warnings)


def _probe(mark: str, size: float) -> Probe:
    made = Probe(payload_bytes=size if size >= 0 else NAN)
    made.lost = mark != "!"
    made.error_reply = mark not in "!."
    return made


def _summed(run: Run, found: re.Match[str]) -> bool:
    """Keep a summary; True if it has times although nothing was received."""
    run.sent, run.received = int(found["sent"]), int(found["received"])
    run.printed = {"sent": run.sent, "received": run.received}
    run.ended = True
    if not found["min"]:
        return False
    if not run.received:
        return True
    run.rtt_min_s, run.rtt_max_s = int(found["min"]) * 1e-3, int(found["max"]) * 1e-3
    run.printed |= {"rtt_min_s": run.rtt_min_s, "rtt_max_s": run.rtt_max_s}
    return False


FORMAT = Format(
    name="Cisco ping",
    description="the output of ping on a Cisco router",
    recognize=_recognize,
    read=_read,
    traps=(
        "A mark has no time: only the least and the largest of the summary are known.",
        "The size is that of the IP packet: user data is 28 bytes less, 48 with IPv6.",
        "U, Q, M and ? are errors or congestion, no replies.",
        "The summary says the share that succeeded, not the loss.",
        "Times without a reply are nonsense and are not used.",
    ),
)
