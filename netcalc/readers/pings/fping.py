"""The output of fping: a line for each probe, a row of times for each host, or only totals."""

from __future__ import annotations

import re
from collections.abc import Iterable

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, resolution, to_samples
from netcalc.samples import RttSamples

_HOST = r"(?P<host>\S+(?: \(\S+\))?)\s+: "
_STAMP = r"^(?:\[(?P<stamp>[0-9]{1,18}\.[0-9]{1,18})\] )?"
_PROBE = re.compile(
    _STAMP + _HOST + r"\[(?P<sequence>[0-9]{1,18})\], "
    r"(?:(?P<bytes>[0-9]{1,18}) bytes, (?P<time>\d{1,18}\.?\d{0,18}) ms|(?P<lost>timed out)|"
    r"(?P<other>\D[^(]*))"
    r"(?:\s*\(.*)?$"
)
_TIMES = re.compile(
    _STAMP + _HOST + r"(?P<times>(?:-|\d{1,18}\.?\d{0,18})(?: (?:-|\d{1,18}\.?\d{0,18}))*)\s*$"
)
_TOTALS = re.compile(
    _STAMP
    + _HOST
    + r"xmt/rcv/%(?P<kind>loss|return) = (?P<sent>[0-9]{1,18})/(?P<received>[0-9]{1,18})/"
    r"(?P<loss>-?\d{1,18}\.?\d{0,18})%"
    r"(?:, (?:outage\(ms\) = [0-9]{1,18}, )?min/avg/max = "
    r"(?P<min>\d{1,18}\.?\d{0,18})/\d{1,18}\.?\d{0,18}/(?P<max>\d{1,18}\.?\d{0,18}))?"
)
_STATE = re.compile(
    r"^(?P<host>\S+(?: \(\S+\))?) is "
    r"(?:(?P<alive>alive)(?: \((?P<time>\d{1,18}\.?\d{0,18}) ms\))?|unreachable)\s*$"
)
_DUPLICATE = re.compile(
    _STAMP + _HOST + r"duplicate for \[(?P<sequence>[0-9]{1,18})\], (?P<bytes>[0-9]{1,18}) bytes, "
    r"(?P<time>\d{1,18}\.?\d{0,18}) ms"
)
_CLOCK = re.compile(r"^\[[0-9]{2}:[0-9]{2}:[0-9]{2}\]\s*$")
_ALL = re.compile(
    r"^\s*\d{1,18}\.?\d{0,18} (?:targets|alive|unreachable|unknown addresses|timeouts|"
    r"(?:other )?ICMP|ms|sec)\b"
)
_DEFAULT_BYTES = {"64": 56.0, "84": 56.0}
"""Bytes of a reply to a probe of the default size -> its user data: up to 3.x with an IP header."""


def _recognize(given: Input) -> bool:
    # The plain words first: they are found in a tenth of the time.
    marks = ((": [", _PROBE), ("xmt/rcv/%", _TOTALS), (" is ", _STATE))
    return any(
        word in given.first and given.seen(one.pattern) for word, one in marks
    ) or given.seen(
        _STAMP + r"\S+\s+: (?:-|\d{1,18}\.?\d{0,18})(?: (?:-|\d{1,18}\.?\d{0,18}))*\s*$"
    )


class _File:
    def __init__(self, given: Input) -> None:
        self.text = given.text
        self.runs: dict[str, Run] = {}
        self.skipped: list[int] = []
        self.rows: dict[str, list[str]] = {}
        self.intervals: dict[str, int] = {}
        self.cut = False

    def run(self, host: str) -> Run:
        return self.runs.setdefault(host, Run(target=host))

    def read(self) -> None:
        for number, line in zip(self.text.numbers, self.text.lines, strict=True):
            if not line.strip():
                continue
            if number == self.text.numbers[-1] and not self.text.ends_complete:
                self.cut = True
            elif not self._line(line) and not _CLOCK.match(line) and not _ALL.match(line):
                self.skipped.append(number)
        for host, run in self.runs.items():
            self._finish(host, run)

    def _line(self, line: str) -> bool:
        """Read a line of a host; False if it is not one."""
        if found := _DUPLICATE.match(line):
            probe = _answer(found)
            probe.duplicate = True
            self.run(found["host"]).probes.append(probe)
        elif found := _PROBE.match(line):
            run = self.run(found["host"])
            if found["time"]:
                run.probes.append(_answer(found))
            else:
                error = found["lost"] is None
                sequence = float(found["sequence"])
                run.probes.append(Probe(sequence=sequence, lost=True, error_reply=error))
        elif found := _TOTALS.match(line):
            _total(self.run(found["host"]), found)
            self.intervals[found["host"]] = self.intervals.get(found["host"], 0) + 1
        elif found := _TIMES.match(line):
            self.run(found["host"]).ended = True
            self.rows.setdefault(found["host"], []).extend(found["times"].split())
        elif found := _STATE.match(line):
            self._state(found)
        else:
            return False
        return True

    def _state(self, found: re.Match[str]) -> None:
        """Read ``is alive``: a probe was answered; an unreachable host had one or more tries."""
        run = self.run(found["host"])
        run.ended = True
        if found["alive"]:
            time = found["time"]
            rtt_s = float(time) * 1e-3 if time else NAN
            run.probes.append(Probe(rtt_s, resolution_s=resolution(time, 1e-3) if time else 0.0))
        else:
            run.probes.append(Probe(lost=True))

    def _finish(self, host: str, run: Run) -> None:
        """Use the row of times of a host only where its probes have no lines of their own."""
        cells = self.rows.get(host)
        if cells and not run.probes:
            for number, cell in enumerate(cells):
                run.probes.append(
                    Probe(sequence=number, lost=True)
                    if cell == "-"
                    else Probe(
                        float(cell) * 1e-3, sequence=number, resolution_s=resolution(cell, 1e-3)
                    )
                )


def _answer(found: re.Match[str]) -> Probe:
    rtt_s = float(found["time"]) * 1e-3
    stamp = found["stamp"]
    return Probe(
        rtt_s,
        payload_bytes=_DEFAULT_BYTES.get(found["bytes"], NAN),
        sequence=float(found["sequence"]),
        resolution_s=resolution(found["time"], 1e-3),
        sent_s=float(stamp) - rtt_s if stamp else NAN,
    )


def _total(run: Run, found: re.Match[str]) -> None:
    """Keep the totals of a host; those of an interval (-Q) are overwritten by the last line."""
    run.sent, run.received = int(found["sent"]), int(found["received"])
    share = float(found["loss"]) / 100.0
    run.loss_ratio = share if found["kind"] == "loss" else 1.0 - share
    run.printed = {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
    run.rtt_min_s = run.rtt_max_s = NAN
    if found["min"]:
        run.rtt_min_s, run.rtt_max_s = float(found["min"]) * 1e-3, float(found["max"]) * 1e-3
        run.printed |= {"rtt_min_s": run.rtt_min_s, "rtt_max_s": run.rtt_max_s}
    run.ended = True


def _read(given: Input) -> RttSamples:
    file = _File(given)
    file.read()
    warnings = []
    if file.cut:
        warnings.append(Notice("last-line-cut", {"number": file.text.numbers[-1]}))
    if file.skipped:
        warnings.append(Notice("not-of-the-tool", {"numbers": file.skipped}))
    if any(count > 1 for count in file.intervals.values()):
        warnings.append(Notice("earlier-totals", {}))
    return samples_of_hosts(given, file.runs.values(), warnings)


def samples_of_hosts(given: Input, runs: Iterable[Run], warnings: list[Notice]) -> RttSamples:
    """Return the samples of all hosts that fping pinged, each in the order of its probes."""
    runs = list(runs)
    for run in runs:
        run.probes.sort(key=lambda probe: probe.sequence)
    stamped = any(probe.sent_s == probe.sent_s for run in runs for probe in run.probes)
    clock = "wall clock of the pinging host (fping -D)" if stamped else ""
    return to_samples(given, runs, "fping", warnings, clock=clock)


FORMAT = Format(
    name="fping",
    description="the output of fping",
    recognize=_recognize,
    read=_read,
    traps=(
        "A dash is a probe without an answer, not a time of 0.",
        "Hosts take turns in the lines; each has its own rows and facts.",
        "The row of times at the end repeats the lines above it and is not counted again.",
        "The bytes of a reply count its IP header up to version 3, not later: user data is known "
        "of the default size only.",
        "With -Q the totals of each interval come before those of the run, which are the last.",
        "An unreachable host had one or more tries, of which one is counted.",
    ),
)
