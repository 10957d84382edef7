"""The output of hping3: a line for each answer; probes without one are gaps in the numbers."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import Probe, Run, resolution, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(
    r"^HPING (?P<host>\S+) \(.*\): (?P<mode>.+?), [0-9]{1,18} headers \+ (?P<data>[0-9]{1,18}) data"
)
_REPLY = re.compile(
    r"^(?P<twice>DUP! )?len=[0-9]{1,18} ip=\S+ (?:ttl=(?P<ttl>[0-9]{1,18}) )?"
    r".{0,99}?\b(?:icmp_)?seq=(?P<seq>[0-9]{1,18})\b.{0,99}\brtt="
    r"(?P<time>[0-9]{1,18}(?:[.,][0-9]{1,18})?) ms"
)
_ERROR = re.compile(r"^(?:ICMP |TTL 0 during )")
_COUNTS = re.compile(
    r"^(?P<sent>[0-9]{1,18}) packets (?:tran?s?mitt?ed), "
    r"(?P<received>[0-9]{1,18}) packets received, "
    r"(?P<loss>-?[0-9]{1,18})% packet loss"
)
_SPREAD = re.compile(
    r"^round-trip min/avg/max = (?P<min>\d{1,18}\.?\d{0,18})/\d{1,18}\.?\d{0,18}/"
    r"(?P<max>\d{1,18}\.?\d{0,18}) ms"
)
_MODES = {"icmp": "icmp", "udp": "udp", "raw": ""}


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER.pattern) or given.seen(r"^(?:DUP! )?len=[0-9]{1,18} ip=\S+ ttl=")


def _read(given: Input) -> RttSamples:
    text = given.text
    run = Run()
    errors: list[int] = []
    skipped: list[int] = []
    payload = float("nan")
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.match(line):
            mode = found["mode"].split()[0].lower()
            run.target, payload = found["host"], float(found["data"])
            run.protocol = _MODES.get(mode, "tcp")
        elif found := _REPLY.match(line):
            seen = any(probe.sequence == float(found["seq"]) for probe in run.probes[-1000:])
            run.probes.append(
                Probe(
                    float(found["time"].replace(",", ".")) * 1e-3,
                    payload_bytes=payload,
                    sequence=float(found["seq"]),
                    duplicate=bool(found["twice"]) or seen,
                    ttl=float(found["ttl"] or "nan"),
                    resolution_s=resolution(found["time"], 1e-3),
                )
            )
        elif found := _COUNTS.match(line):
            run.sent, run.received = int(found["sent"]), int(found["received"])
            run.loss_ratio = int(found["loss"]) / 100
            run.ended = True
        elif found := _SPREAD.match(line):
            spread = {
                "rtt_min_s": float(found["min"]) * 1e-3,
                "rtt_max_s": float(found["max"]) * 1e-3,
            }
            if run.received:
                run.printed |= spread
        elif _ERROR.match(line):
            errors.append(number)
        elif line.strip() and not line.startswith(("---", "status=", " ")):
            skipped.append(number)
    if run.sent is not None:
        run.printed |= {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
    run.fill(0, errors=len(errors))
    warnings = []
    if errors:
        warnings.append(Notice("errors-not-replies", {"numbers": errors}))
    if skipped:
        warnings.append(Notice("not-of-the-tool", {"numbers": skipped}))
    return to_samples(given, [run], "hping3", warnings)


FORMAT = Format(
    name="hping",
    description="the output of hping",
    recognize=_recognize,
    read=_read,
    traps=(
        "A probe without an answer has no line: it is a gap in the numbers, or after the last one.",
        "Numbers count from 0.",
        "The summary may come before the lines, as they are different streams.",
        "Without an answer the summary says 0.0 ms, which is not a time.",
        "An ICMP error is counted as received by the tool, and is not a reply here.",
    ),
)
