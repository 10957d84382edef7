"""The text output of irtt: a line for each round trip, a table, and counts."""

from __future__ import annotations

import math
import re

from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, skipped_lines, to_samples
from netcalc.samples import RttSamples

_TIME = (
    r"(?=\d{1,12}(?:\.\d{1,9})?(?:[hm]|[nuµμ]?s))(?:\d{1,9}h)?"
    r"(?:\d{1,9}m(?!s))?(?:\d{1,12}(?:\.\d{1,9})?(?:ns|[uµμ]s|ms|s))?"
)
_CONNECTING = re.compile(r"\[Connecting\] connecting to (?P<host>\S+)\s*")
_REPLY = re.compile(
    rf"seq=(?P<seq>\d{{1,12}}) rtt=(?P<rtt>{_TIME})(?=\s|$)(?: rd=\S+)?(?: sd=\S+)?(?: ipdv=\S+)?"
    r"(?P<rest>.*)"
)
_SPREAD = re.compile(
    rf"\s*RTT\s+(?P<min>{_TIME})\s+(?P<mean>{_TIME})\s+(?P<median>{_TIME})\s+"
    rf"(?P<max>{_TIME})(?:\s.*)?"
)
_COUNTS = re.compile(
    r"\s*packets sent/received: (?P<sent>\d{1,15})/(?P<received>\d{1,15}) "
    r"\((?P<loss>\d{1,3}(?:\.\d{1,9})?)% loss\)\s*"
)
_DUPLICATES = re.compile(r"\s*\*+\s*DUPLICATES: (?P<count>\d{1,15}).*")
_LENGTH = re.compile(r"\s*packet length: (?P<length>\d{1,5}) bytes\s*")
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ns|[uµμ]s|ms|m|s)")
_UNITS = {
    "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9,
}  # fmt: skip


def _recognize(given: Input) -> bool:
    return given.seen(
        r"^\[Connecting\] connecting to |^seq=\d+ rtt=\S+ rd=|"
        r"^\s*packets sent/received: \d+/\d+ \("
    )


def _read(given: Input) -> RttSamples:
    text = given.text
    run = Run(protocol="udp")
    skipped: list[int] = []
    length = NAN
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _CONNECTING.fullmatch(line):
            run.target = found["host"]
        elif found := _REPLY.fullmatch(line):
            _reply(run, found)
        elif line.startswith("seq="):
            skipped.append(number)
        elif found := _SPREAD.fullmatch(line):
            times = {name: _seconds(found[name])[0] for name in ("min", "mean", "median", "max")}
            run.rtt_min_s, run.rtt_max_s = times["min"], times["max"]
            run.rtt_median_s = times["median"]
            run.printed |= {f"rtt_{name}_s": value for name, value in times.items()}
        elif found := _COUNTS.fullmatch(line):
            run.sent, run.received = int(found["sent"]), int(found["received"])
            run.loss_ratio = float(found["loss"]) / 100
            run.printed |= {
                "sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio,
            }  # fmt: skip
            run.ended = True
        elif found := _DUPLICATES.fullmatch(line):
            run.duplicates = int(found["count"])
        elif found := _LENGTH.fullmatch(line):
            length = float(found["length"])
    if run.probes:
        run.fill(0, whole=bool(run.target))
    for probe in run.probes:
        probe.payload_bytes = length
    return to_samples(given, [run], "irtt", skipped_lines(skipped))


def _reply(run: Run, found: re.Match[str]) -> None:
    time_s, width = _seconds(found["rtt"])
    sequence = float(found["seq"])
    twin = any(p.sequence == sequence for p in run.probes[-1000:]) or "DUP" in found["rest"]
    run.probes.append(Probe(time_s, sequence=sequence, duplicate=twin, resolution_s=width))


def _seconds(text: str) -> tuple[float, float]:
    """Return a time written as ``1.5ms`` or ``1m2.5s``, and the step of its last digit.

    >>> _seconds("43µs"), _seconds("1m2.5s")
    ((4.3e-05, 1e-06), (62.5, 0.1))
    """
    parts = _PART.findall(text)
    time_s = math.fsum(float(number) * _UNITS[unit] for number, unit in parts)
    number, unit = parts[-1]
    return round(time_s, 12), _UNITS[unit] / 10.0 ** len(number.partition(".")[2])


FORMAT = Format(
    name="irtt",
    description="the text output of irtt",
    recognize=_recognize,
    read=_read,
    traps=(
        "The unit differs from number to number: ns, µs, ms, s; all are rounded to three digits.",
        "rtt is the round trip without the server's own time; rd and sd depend on two clocks and "
        "are not kept.",
        "A lost probe has no line: it is known from its number and the count of the summary.",
        "The size is that of the UDP payload; it stands in the summary only.",
    ),
)
