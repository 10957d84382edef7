"""The ping of a Huawei router or switch (VRP), and of the PCs of its simulator."""

from __future__ import annotations

import re

from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, skipped_lines, to_samples
from netcalc.samples import RttSamples

_HEADER = re.compile(
    r"\s*P(?:ING|ing) (?P<host>\S+): (?P<size>\d{1,5})\s+data bytes, [Pp]ress \w+.*"
)
_REPLY = re.compile(
    r"\s*(?:Reply f|F)rom (?P<host>\S+): bytes=(?P<size>\d{1,5}) (?:Sequence|seq)=(?P<seq>\d{1,9}) "
    r"(?:ttl|hop limit)=(?P<ttl>\d{1,3})\s+time ?(?P<sign>[=<]) ?(?P<time>\d{1,9}) ms\s*"
)
_TIMEOUT = re.compile(r"\s*Request time ?out!?\s*", re.IGNORECASE)
_ERROR = re.compile(r"\s*(?:Error|.*[Uu]nreachable|.*[Tt]tl exceeded|.*TTL expired).*")
_FRAME = re.compile(r"\s*--- \S+ ping statistics ---\s*")
_SENT = re.compile(r"\s*(?P<count>\d{1,15}) packet\(s\) transmitted\s*")
_RECEIVED = re.compile(r"\s*(?P<count>\d{1,15}) packet\(s\) received\s*")
_LOSS = re.compile(r"\s*(?P<loss>\d{1,3}(?:\.\d{1,9})?)% packet loss\s*")
_SPREAD = re.compile(r"\s*round-trip min/avg/max = (?P<min>\d{1,9})/\d{1,9}/(?P<max>\d{1,9}) ms\s*")
_LIKE = r"bytes=\d+ Sequence=\d+ ttl="


def _recognize(given: Input) -> bool:
    return given.seen(rf"^{_HEADER.pattern}$") or given.seen(_LIKE)


def _read(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    size = NAN
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        if found := _HEADER.fullmatch(line):
            runs.append(Run(target=found["host"], protocol="icmp"))
            size = float(found["size"])
            continue
        if not runs:
            if not _REPLY.fullmatch(line):
                if line.strip():
                    skipped.append(number)
                continue
            runs.append(Run(protocol="icmp"))
        run = runs[-1]
        if found := _REPLY.fullmatch(line):
            _reply(run, found)
        elif _TIMEOUT.fullmatch(line):
            _lost(run, size)
        elif not _summed(run, line) and line.strip() and not _FRAME.fullmatch(line):
            if _ERROR.fullmatch(line) and run.sent is None:
                _lost(run, size).error_reply = True
            else:
                skipped.append(number)
    for run in runs:
        run.fill(1, whole=bool(run.target))
    return to_samples(given, runs, "ping (Huawei)", skipped_lines(skipped))


def _reply(run: Run, found: re.Match[str]) -> None:
    time_s = int(found["time"]) / 1e3
    sequence = float(found["seq"])
    below = found["sign"] == "<"
    run.probes.append(
        Probe(
            time_s / 2 if below else time_s,
            float(found["size"]),
            sequence=sequence,
            duplicate=any(p.sequence == sequence and not p.lost for p in run.probes),
            resolution_s=time_s if below else 1e-3,
            ttl=float(found["ttl"]),
        )
    )


def _lost(run: Run, size: float) -> Probe:
    """Add a lost probe; the line has no number, so it is the one behind the last."""
    last = max((probe.sequence for probe in run.probes), default=0.0)
    run.probes.append(Probe(lost=True, payload_bytes=size, sequence=last + 1))
    return run.probes[-1]


def _summed(run: Run, line: str) -> bool:
    """Keep what a line of the summary says; False if it is none."""
    if found := _SENT.fullmatch(line):
        run.sent = run.printed["sent"] = int(found["count"])
    elif found := _RECEIVED.fullmatch(line):
        run.received = run.printed["received"] = int(found["count"])
    elif found := _LOSS.fullmatch(line):
        run.loss_ratio = run.printed["loss_ratio"] = float(found["loss"]) / 100
        run.ended = True
    elif found := _SPREAD.fullmatch(line):
        run.printed["rtt_min_s"] = int(found["min"]) / 1e3
        run.printed["rtt_max_s"] = int(found["max"]) / 1e3
        if run.received:
            run.rtt_min_s, run.rtt_max_s = run.printed["rtt_min_s"], run.printed["rtt_max_s"]
    else:
        return False
    return True


FORMAT = Format(
    name="Huawei ping",
    description="the output of ping on a Huawei router",
    recognize=_recognize,
    read=_read,
    traps=(
        "Times are whole milliseconds.",
        "A time-out has a line without a number: it is that of the probe behind the last one.",
        "The size is that of the user data.",
        "An error message is no reply.",
    ),
)
