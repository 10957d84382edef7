"""The output of httping: the time of one HTTP exchange in each line."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import Probe, Run, resolution, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(r"^PING (?P<host>\S+?):[0-9]{1,18} \(")
_REPLY = re.compile(
    r"^(?:connected to|pinged host) \S+ \([0-9]{1,18} bytes\), seq=(?P<seq>[0-9]{1,18}) "
    r"time= *(?:[-0-9., +n/a]*= *)?(?P<time>[0-9]{1,18}(?:[.,][0-9]{1,18})?) ms"
)
_FAILED = re.compile(r"^(?:could not connect|timeout|connect time out|error )", re.IGNORECASE)
_COUNTS = re.compile(
    r"^(?P<sent>[0-9]{1,18}) connects, (?P<ok>[0-9]{1,18}) ok, "
    r"(?P<loss>[0-9]{1,18}(?:[.,][0-9]{1,18})?)% failed"
)
_SPREAD = re.compile(
    r"^round-trip min/avg/max(?:/\S+)? = (?P<min>\d{1,18}\.?\d{0,18})/\d{1,18}\.?\d{0,18}/"
    r"(?P<max>\d{1,18}\.?\d{0,18})"
)


def _recognize(given: Input) -> bool:
    return given.seen(r"^PING \S+:[0-9]{1,18} \(/") or given.seen(
        r"^connected to \S+:[0-9]{1,18} \("
    )


def _read(given: Input) -> RttSamples:
    text = given.text
    run = Run(protocol="tcp")
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.match(line):
            run.target = found["host"]
        elif found := _REPLY.match(line):
            run.probes.append(
                Probe(
                    float(found["time"].replace(",", ".")) * 1e-3,
                    sequence=float(found["seq"]),
                    resolution_s=resolution(found["time"], 1e-3),
                )
            )
        elif _FAILED.match(line):
            run.probes.append(Probe(lost=True, error_reply="refused" in line))
        elif found := _COUNTS.match(line):
            run.sent, run.received = int(found["sent"]), int(found["ok"])
            run.loss_ratio = float(found["loss"].replace(",", ".")) / 100
            run.printed |= {"sent": run.sent, "received": run.received}
            run.ended = True
        elif found := _SPREAD.match(line):
            run.printed |= {
                "rtt_min_s": float(found["min"]) * 1e-3,
                "rtt_max_s": float(found["max"]) * 1e-3,
            }
        elif line.strip() and not line.startswith(("---", "Transfer speed")):
            skipped.append(number)
    warnings = [Notice("http-exchanges", {})]
    if skipped:
        warnings.append(Notice("not-of-the-tool", {"numbers": skipped}))
    return to_samples(given, [run], "httping", warnings)


FORMAT = Format(
    name="httping",
    description="the output of httping",
    recognize=_recognize,
    read=_read,
    traps=(
        "A time is that of a connection and an HTTP exchange: it includes the server's own time.",
        "With -S the parts precede their sum, which is the time.",
        "A connection that failed is a lost probe, without a time.",
    ),
)
