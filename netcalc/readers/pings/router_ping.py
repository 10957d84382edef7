"""The ping of a Nokia router (SR OS), and the rapid ping of Nokia and Juniper: a mark each."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import Probe, Run, resolution, skipped_lines, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(r"PING (?P<host>[^\s(]+)(?: \(\S+\):)? (?P<size>[0-9]{1,5}) data bytes\s*")
_MARKS = re.compile(r"[!.]+\s*")
_REPLY = re.compile(
    r"[0-9]+ bytes from \S+?:? icmp_seq=(?P<seq>[0-9]{1,9}) (?:ttl|hlim)=(?P<ttl>[0-9]{1,3}) "
    r"time(?P<sign>[=<])(?P<time>[0-9]{1,9}(?:\.[0-9]{1,9})?) ?ms\.?\s*"
)
_TIMEOUT = re.compile(r"Request timed out\. icmp_seq=(?P<seq>[0-9]{1,9})\.?\s*")
_SUMMARY = re.compile(
    r"(?P<sent>[0-9]{1,15}) packets transmitted,(?: (?P<bounced>[0-9]{1,15}) packets bounced,)? "
    r"(?P<received>[0-9]{1,15}) packets received"
    r"(?:, \+?(?P<duplicates>[0-9]{1,15}) duplicates)?"
    r"(?:, (?P<loss>[0-9]{1,9}(?:\.[0-9]{1,9})?)% packet loss)?\s*"
)
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SPREAD = re.compile(
    rf"round-trip min = {_NUMBER}ms, avg = {_NUMBER}ms, max = {_NUMBER}ms(?:, .*)?\s*"
    rf"|round-trip min/avg/max(?:/stddev)? = {_NUMBER}/{_NUMBER}/{_NUMBER}(?:/\S+)? ms\s*"
)
_FRAME = re.compile(r"-{3,4} ?\S+ (?:PING Statistics|ping statistics) ?-{3,4}\s*")


def _recognize(given: Input) -> bool:
    return given.seen(
        r"^---- \S+ PING Statistics ----|"
        r"^PING [^\s(]+ \(\S+\): [0-9]+ data bytes *\n\.*![!.]* *$|"  # dots alone: a flood
        r"^PING [^\s(]+ [0-9]+ data bytes *\n(?:[!.]+ *$|Request timed out\. icmp_seq=|"
        r"[0-9]+ bytes from \S+ icmp_seq=\d+ ttl=\d+ time[=<][0-9.]+ms\.$)"
    )


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    marks: dict[int, str] = {}
    skipped: list[int] = []
    size = float("nan")
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.fullmatch(line):
            runs.append(Run(target=found["host"], protocol="icmp"))
            size = float(found["size"])
            continue
        if not runs or (runs[-1].ended and not _SPREAD.fullmatch(line)):
            if line.strip() and not _FRAME.fullmatch(line):
                skipped.append(number)
            continue
        run = runs[-1]
        if found := _REPLY.fullmatch(line):
            run.probes.append(_reply(found, size))
        elif found := _TIMEOUT.fullmatch(line):
            lost = Probe(lost=True, payload_bytes=size, sequence=float(found["seq"]))
            run.probes.append(lost)
        elif _MARKS.fullmatch(line):
            marks[len(runs) - 1] = marks.get(len(runs) - 1, "") + line.strip()
        elif found := _SUMMARY.fullmatch(line):
            _sum_up(run, found)
        elif found := _SPREAD.fullmatch(line):
            low, _, high = (float(one) / 1e3 for one in found.groups() if one is not None)
            run.printed |= {"rtt_min_s": low, "rtt_max_s": high}
            if run.received and not run.duplicates:
                run.rtt_min_s, run.rtt_max_s = low, high
        elif line.strip() and not _FRAME.fullmatch(line):
            skipped.append(number)
    for index, row in marks.items():
        runs[index].probes += _probes(runs[index], row, size)
    for index, run in enumerate(runs):
        bounced = run.printed.get("errors", 0)  # neither marked nor listed
        if run.counted_only and index not in marks and (run.sent or 0) > bounced:
            run.ended = False
    return to_samples(given, runs, "ping (router)", skipped_lines(skipped))


def _reply(found: re.Match[str], size: float) -> Probe:
    time_s, width = float(found["time"]) / 1e3, resolution(found["time"], 1e-3)
    if found["sign"] == "<":
        time_s, width = time_s / 2, time_s
    return Probe(
        time_s, size, sequence=float(found["seq"]), resolution_s=width, ttl=float(found["ttl"])
    )


def _sum_up(run: Run, found: re.Match[str]) -> None:
    run.sent, run.received = int(found["sent"]), int(found["received"])
    run.printed = {"sent": run.sent, "received": run.received}
    if found["duplicates"]:
        run.duplicates = run.printed["duplicates"] = int(found["duplicates"])
    if found["bounced"]:
        run.printed["errors"] = int(found["bounced"])
    if found["loss"]:
        run.loss_ratio = run.printed["loss_ratio"] = float(found["loss"]) / 100
    run.ended = True


def _probes(run: Run, marks: str, size: float) -> list[Probe]:
    """Return a row for each mark; none where it is not certain which replies were duplicates."""
    twice = run.duplicates or 0
    if twice and run.received:
        return []
    made = [Probe(payload_bytes=size, lost=mark == ".", duplicate=False) for mark in marks]
    if twice and marks.count("!") == twice:
        for probe in made:
            probe.duplicate = not probe.lost
    return made


FORMAT = Format(
    name="router ping",
    description="the output of ping on a Nokia router, or of a rapid ping",
    recognize=_recognize,
    read=_read,
    traps=(
        "A mark of a rapid ping has no time: only the least and the largest of the summary are "
        "known.",
        "A duplicate has the mark of a reply: with replies and duplicates it is not certain which "
        "is which, and only the counts of the summary are used.",
        "With duplicates the times of the summary include theirs and are not used.",
        "A bounced packet was answered by an error and is lost.",
        "The size is that of the user data.",
    ),
)
