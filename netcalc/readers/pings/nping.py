"""The output of nping: its counts and times; the lines of packets have no round trip."""

from __future__ import annotations

import re

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import Run, to_samples
from netcalc.samples import RttSamples

_PACKET = re.compile(r"^(?P<what>SENT|RCVD) \(\d{1,18}\.?\d{0,18}s\) (?P<rest>.*)$")
_ERROR = re.compile(
    r"unreachable|TTL=0|ttl-zero|Time exceeded|time exceeded|prohibited", re.IGNORECASE
)
_RTT = re.compile(
    r"^Max rtt: (?P<max>\d{1,18}\.?\d{0,18})ms \| Min rtt: "
    r"(?P<min>\d{1,18}\.?\d{0,18})ms \| Avg rtt: "
)
_COUNTS = re.compile(
    r"^(?:Raw packets|UDP packets) sent: (?P<sent>[0-9]{1,18}) .*?\| Rcvd: "
    r"(?P<received>[0-9]{1,18}) .*?"
    r"\((?P<loss>-?\d{1,18}\.?\d{0,18})%\)"
    r"|^TCP connection attempts: (?P<tried>[0-9]{1,18}) \| Successful connections: "
    r"(?P<done>[0-9]{1,18})"
    r" \| Failed: [0-9]{1,18} \((?P<failed>\d{1,18}\.?\d{0,18})%\)"
)
_PROTOCOL = re.compile(
    r"^(?:(?P<named>ICMPv6|ICMP|TCP|UDP|ARP)\b|Starting (?P<whole>TCP) Handshake"
    r"|(?P<data>UDP) packet)"
)
_TARGET = re.compile(r"> (?P<host>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]+)")


def _recognize(given: Input) -> bool:
    return given.seen(r"^Starting Nping ") or given.seen(_PACKET.pattern)


def _read(given: Input) -> RttSamples:
    text = given.text
    run = Run()
    sent = received = errors = 0
    targets: set[str] = set()
    protocols: set[str] = set()
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _PACKET.match(line):
            if found["what"] == "SENT":
                sent += 1
                if protocol := _PROTOCOL.match(found["rest"]):
                    protocols.add((protocol[protocol.lastgroup or 0]).lower().removesuffix("v6"))
                if target := _TARGET.search(found["rest"].replace(" Echo", "]")):
                    targets.add(target["host"])
            elif _ERROR.search(found["rest"]):
                errors += 1
            else:
                received += 1
        elif found := _RTT.match(line):
            run.rtt_min_s = float(found["min"]) * 1e-3
            run.rtt_max_s = float(found["max"]) * 1e-3
        elif found := _COUNTS.match(line):
            run.sent = int(found["sent"] or found["tried"])
            run.received = int(found["received"] or found["done"])
            run.loss_ratio = float(found["loss"] or found["failed"]) / 100
            run.ended = True
    if len(targets) == 1:
        run.target = targets.pop()
    if len(protocols) == 1:
        run.protocol = protocols.pop()
    warnings = []
    if run.ended:
        run.printed = {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
        run.received = (run.received or 0) - errors
    else:
        run.sent, run.received = sent, received
    if errors:
        run.rtt_min_s = run.rtt_max_s = float("nan")  # those of errors are among them
        warnings.append(Notice("errors-among-received", {"count": errors}))
    return to_samples(given, [run], "nping", warnings)


FORMAT = Format(
    name="nping",
    description="the output of nping",
    recognize=_recognize,
    read=_read,
    traps=(
        "The stamps of the lines are too coarse for a round trip; times are those of the summary.",
        "The numbers of the probes in the lines are not reliable and are not used.",
        "An ICMP error is received, but is not a reply.",
        "N/A means no time; it is not 0.",
    ),
)
