"""The ping of a MikroTik router (RouterOS): a table, and a line of totals."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, skipped_lines, to_samples
from netcalc.samples import RttSamples

_HEADER = r"^\s*SEQ HOST\s+SIZE\s+TTL\s+TIME\b"
_TIME = r"(?:\d{1,6}s)?(?:\d{1,6}ms)?(?:\d{1,6}us)?"
_ROW = re.compile(
    rf"\s*(?P<seq>\d{{1,9}})(?: (?P<host>\S+))?"
    rf"(?:\s+(?P<size>\d{{1,5}})\s+(?P<ttl>\d{{1,3}})\s+(?P<time>(?=\d){_TIME}))?"
    r"(?:\s+(?P<status>[A-Za-z][\w -]*?))?\s*"
)
_TOTALS = re.compile(
    r"\s*sent=(?P<sent>\d{1,15}) received=(?P<received>\d{1,15}) packet-loss=(?P<loss>\d{1,3})%"
    rf"(?: min-rtt=(?P<min>{_TIME}) avg-rtt={_TIME} max-rtt=(?P<max>{_TIME}))?\s*"
)
_PART = re.compile(r"(\d+)(s|ms|us)")
_UNITS_US = {"s": 1_000_000, "ms": 1000, "us": 1}
_IP_AND_ICMP = {4: 28.0, 6: 48.0}


def _recognize(given: Input) -> bool:
    return given.seen(_HEADER)


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if re.match(_HEADER, line) or line.strip() == "STATUS":
            continue
        if found := _ROW.fullmatch(line):
            if not runs or _is_another(runs[-1], int(found["seq"])):
                runs.append(Run(protocol="icmp"))
            runs[-1].ended = False
            runs[-1].probes.append(_probe(runs[-1], found))
        elif (found := _TOTALS.fullmatch(line)) and runs:
            _sum_up(runs[-1], found)
        elif line.strip():
            skipped.append(number)
    for run in runs:
        run.fill(0, whole=False)
    return to_samples(given, runs, "ping (MikroTik)", skipped_lines(skipped))


def _is_another(run: Run, sequence: int) -> bool:
    """Whether a number begins another run: totals came, and it does not go on from there."""
    return run.ended and sequence <= max(probe.sequence for probe in run.probes)


def _probe(run: Run, found: re.Match[str]) -> Probe:
    host, status = found["host"] or "", found["status"] or ""
    answered = found["time"] is not None
    reply = answered and status in ("", "echo reply")
    if host and (reply or not answered) and not run.target:
        run.target = host
    time_s, width = _seconds(found["time"]) if reply else (NAN, 0.0)
    made = Probe(time_s, sequence=float(found["seq"]), lost=not reply, resolution_s=width)
    made.error_reply = answered and not reply
    if reply:
        size = float(found["size"]) - _IP_AND_ICMP[6 if ":" in host else 4]
        made.payload_bytes = size if size >= 0 else NAN
        made.ttl = float(found["ttl"])
        twins = [one for one in run.probes if one.sequence == made.sequence and not one.lost]
        made.duplicate = bool(twins)
    return made


def _seconds(text: str) -> tuple[float, float]:
    """Return a time and the width of its last part; ``0ms`` is below that width."""
    parts = _PART.findall(text)
    time_s = sum(int(number) * _UNITS_US[unit] for number, unit in parts) / 1e6
    width = _UNITS_US[parts[-1][1]] / 1e6
    return (time_s, width) if time_s else (width / 2, width)


def _sum_up(run: Run, found: re.Match[str]) -> None:
    run.sent, run.received = int(found["sent"]), int(found["received"])
    run.loss_ratio = int(found["loss"]) / 100
    run.ended = True
    run.printed = {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
    for name in ("min", "max"):
        if found[name]:
            run.printed[f"rtt_{name}_s"] = _seconds(found[name])[0]


FORMAT = Format(
    name="MikroTik ping",
    description="the output of ping on a MikroTik router",
    recognize=_recognize,
    read=_read,
    traps=(
        "The size is that of the IP packet: user data is 28 bytes less, 48 with IPv6.",
        "0ms is a time below 1 ms, not 0.",
        "A time is written in parts: 10ms663us.",
        "A row with a status is no reply; HOST is then the node that sent the error.",
        "Totals in the middle of a run count from its start: the last ones are those of the run.",
        "Numbers begin with 0.",
    ),
)
