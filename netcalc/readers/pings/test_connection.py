"""The tables of Test-Connection, of PowerShell 7 and of Windows PowerShell 5."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, skipped_lines, to_samples
from netcalc.samples import RttSamples

_DESTINATION = re.compile(r"\s*Destination: (?P<host>\S+)\s*")
_HEAD_7 = re.compile(r"\s*Ping\s+Source\s+Address\s+Latency.*")
_HEAD_5 = re.compile(r"\s*Source\s+Destination\s+IPV4Address\s+IPV6Address\s+Bytes\s+Time\(ms\)\s*")
_ROW_7 = re.compile(
    r"\s*(?P<seq>\d{1,9})\s+\S.*?\s+(?P<address>\S+)\s+(?P<time>\d{1,9}|\*)\s+(?P<size>\d{1,5}|\*)"
    r"\s+(?P<status>[A-Z]\w{1,40})\s*"
)
_ROW_5 = re.compile(
    r"\s*\S+\s+(?P<host>\S+)\s+(?:[0-9A-Fa-f.:%]+\s+){0,2}(?P<size>\d{1,5})\s+(?P<time>\d{1,9})\s*"
)
_FAILED = re.compile(
    r"Test-Connection ?: .*(?:'(?P<host>[^']+)'|computer (?P<bare>\S+)) failed: .*", re.IGNORECASE
)
_PLAIN = re.compile(r"\s*(?:\(ms\)\s+\(B\)|[- ]+)\s*")
_RESOLUTION_S = 1e-3


def _recognize(given: Input) -> bool:
    return given.seen(rf"^(?:{_HEAD_7.pattern}|{_HEAD_5.pattern})$")


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: dict[str, Run] = {}
    skipped: list[int] = []
    target = ""
    columns = 0
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _DESTINATION.fullmatch(line):
            target = found["host"]
        elif _HEAD_7.fullmatch(line):
            columns = 7
        elif _HEAD_5.fullmatch(line):
            columns = 5
        elif columns == 7 and (found := _ROW_7.fullmatch(line)):
            _run(runs, target).probes.append(_row(found))
        elif columns == 5 and (found := _ROW_5.fullmatch(line)):
            _run(runs, found["host"]).probes.append(_reply(found["time"], found["size"]))
        elif found := _FAILED.match(line):
            _run(runs, found["host"] or found["bare"]).probes.append(Probe(lost=True))
        elif line.strip() and not _PLAIN.fullmatch(line):
            skipped.append(number)
    for run in runs.values():
        run.ended = text.ends_complete
    return to_samples(given, list(runs.values()), "Test-Connection", skipped_lines(skipped))


def _run(runs: dict[str, Run], target: str) -> Run:
    return runs.setdefault(target, Run(target=target, protocol="icmp"))


def _row(found: re.Match[str]) -> Probe:
    if found["status"] == "Success" and found["time"] != "*":
        made = _reply(found["time"], found["size"])
    else:
        answered = found["status"] not in ("TimedOut", "Unknown") and found["address"] != "*"
        size = NAN if found["size"] == "*" else float(found["size"])
        made = Probe(lost=True, payload_bytes=size, error_reply=answered)
    made.sequence = float(found["seq"])
    return made


def _reply(time: str, size: str) -> Probe:
    time_s = int(time) / 1e3 or _RESOLUTION_S / 2
    return Probe(time_s, NAN if size == "*" else float(size), resolution_s=_RESOLUTION_S)


FORMAT = Format(
    name="Test-Connection",
    description="the output of Test-Connection (PowerShell)",
    recognize=_recognize,
    read=_read,
    traps=(
        "Times are whole milliseconds; 0 is a time below 1 ms.",
        "Only Success is a reply: TtlExpired and others have the address of the node that says so.",
        "PowerShell 5 has no row for a lost probe, but an error message, if it was kept.",
        "There is no summary: a file that ends with a whole line counts as complete.",
    ),
)
