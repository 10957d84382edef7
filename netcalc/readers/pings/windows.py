"""Probes of Windows: the output of hrPING, and the tables of Test-Connection (PowerShell)."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input
from netcalc.readers.lines import last_digit, skipped_lines
from netcalc.readers.pings.runs import NAN, Probe, Run, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

_VERSION = re.compile(r"This is hrPING v(?P<version>\S+) .*")
_TARGET = re.compile(r"Pinging (?P<host>\S+)(?: \[(?P<ip>\S+)\])?.*")
_SIZE = re.compile(r"with (?P<size>\d{1,5}) bytes data \((?P<packet>\d{1,5}) bytes IP\):?\s*")
_REPLY = re.compile(
    r"(?:From|Reply from) \S+: (?:bytes=(?P<size>\d{1,5}) )?seq=(?P<seq>[0-9a-f]{4}) "
    r"(?:TTL=(?P<ttl>\d{1,3}) ID=[0-9a-f]{1,4} )?time=(?P<time>\d{1,9}(?:\.\d{1,9})?)ms"
    r"(?: TTL=(?P<ttl2>\d{1,3}) ID=[0-9a-f]{1,4})?\s*"
)
_TIMEOUT = re.compile(r".*(?:[Tt]imeout|timed out).*seq=(?P<seq>[0-9a-f]{4})\b.*")
_COUNTS = re.compile(
    r"Packets: sent=(?P<sent>\d{1,15}), rcvd=(?P<received>\d{1,15}), error=(?P<errors>\d{1,15}), "
    r"lost=(?P<lost>\d{1,15}) \((?P<loss>\d{1,3}(?:\.\d{1,9})?)% loss\).*"
)
_SPREAD = re.compile(
    r"RTTs in ms: min/avg/max/dev: (?P<min>\d{1,9}\.\d+) / \d+\.\d+ / (?P<max>\d{1,9}\.\d+) / .*"
)
_OTHER = re.compile(r"(?:Source address is|Bandwidth in|Correlation:|Statistics for) .*")
_IP_AND_ICMP = 28.0


def _recognize(given: Input) -> bool:
    return given.seen(r"^This is hrPING v") or given.seen(
        r"^(?:Reply f|F)rom \S+: (?:bytes=\d+ )?seq=[0-9a-f]{4} "
    )


def _read(given: Input) -> RttSamples:
    text = given.text
    run = Run(protocol="icmp")
    version = ""
    size = NAN
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _VERSION.fullmatch(line):
            version = found["version"]
        elif found := _TARGET.fullmatch(line):
            run.target = found["ip"] or found["host"].rstrip(":")
        elif found := _SIZE.fullmatch(line):
            size = float(found["size"])
        elif found := _REPLY.fullmatch(line):
            _reply(run, found, size)
        elif found := _TIMEOUT.fullmatch(line):
            number_of = float(int(found["seq"], 16))
            run.probes.append(Probe(lost=True, payload_bytes=size, sequence=number_of))
        elif found := _COUNTS.fullmatch(line):
            run.sent, run.received = int(found["sent"]), int(found["received"])
            run.loss_ratio = float(found["loss"]) / 100
            run.printed |= {
                "sent": run.sent,
                "received": run.received,
                "errors": int(found["errors"]),
                "loss_ratio": run.loss_ratio,
            }
            run.ended = True
        elif found := _SPREAD.fullmatch(line):
            run.rtt_min_s, run.rtt_max_s = float(found["min"]) / 1e3, float(found["max"]) / 1e3
            run.printed |= {"rtt_min_s": run.rtt_min_s, "rtt_max_s": run.rtt_max_s}
        elif line.strip() and not _OTHER.fullmatch(line):
            skipped.append(number)
    if run.probes:
        run.fill(1, whole=bool(run.target))
    meta = {"tool_version": shorten(version, 40)}
    return to_samples(given, [run], "hrPING", skipped_lines(skipped), **meta)


def _reply(run: Run, found: re.Match[str], size: float) -> None:
    """Add a reply; its own size is that of the IP packet, which a sweep changes."""
    if found["size"]:
        size = float(found["size"]) - _IP_AND_ICMP
    sequence = float(int(found["seq"], 16))
    run.probes.append(
        Probe(
            float(found["time"]) / 1e3,
            size if size >= 0 else NAN,
            sequence=sequence,
            duplicate=any(p.sequence == sequence and not p.lost for p in run.probes),
            resolution_s=last_digit(found["time"], 1e-3),
            ttl=float(found["ttl"] or found["ttl2"] or NAN),
        )
    )


HRPING = Format(
    name="hrping",
    description="the output of hrPING",
    recognize=_recognize,
    read=_read,
    traps=(
        "seq is hexadecimal.",
        "bytes= is the size of the IP packet: user data is 28 bytes less.",
        "A line that is neither a reply nor a time-out is left out, and said so; its probe counts "
        "as lost.",
    ),
)


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


def _recognize_test_connection(given: Input) -> bool:
    return given.seen(rf"^(?:{_HEAD_7.pattern}|{_HEAD_5.pattern})$")


def _read_test_connection(given: Input) -> RttSamples:
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
            _run(runs, found["host"]).probes.append(
                _reply_test_connection(found["time"], found["size"])
            )
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
        made = _reply_test_connection(found["time"], found["size"])
    else:
        answered = found["status"] not in ("TimedOut", "Unknown") and found["address"] != "*"
        size = NAN if found["size"] == "*" else float(found["size"])
        made = Probe(lost=True, payload_bytes=size, error_reply=answered)
    made.sequence = float(found["seq"])
    return made


def _reply_test_connection(time: str, size: str) -> Probe:
    time_s = int(time) / 1e3 or _RESOLUTION_S / 2
    return Probe(time_s, NAN if size == "*" else float(size), resolution_s=_RESOLUTION_S)


TEST_CONNECTION = Format(
    name="Test-Connection",
    description="the output of Test-Connection (PowerShell)",
    recognize=_recognize_test_connection,
    read=_read_test_connection,
    traps=(
        "Times are whole milliseconds; 0 is a time below 1 ms.",
        "Only Success is a reply: TtlExpired and others have the address of the node that says so.",
        "PowerShell 5 has no row for a lost probe, but an error message, if it was kept.",
        "There is no summary: a file that ends with a whole line counts as complete.",
    ),
)
