"""The output of fping: text with a line for each probe or a row for each host, or JSON (``-J``)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import number, words
from netcalc.readers.format import Format, Input
from netcalc.readers.lines import last_digit
from netcalc.readers.pings.runs import NAN, Probe, Run, to_samples
from netcalc.readers.source import shorten
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
        for line_number, line in zip(self.text.numbers, self.text.lines, strict=True):
            if not line.strip():
                continue
            if line_number == self.text.numbers[-1] and not self.text.ends_complete:
                self.cut = True
            elif not self._line(line) and not _CLOCK.match(line) and not _ALL.match(line):
                self.skipped.append(line_number)
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
            run.probes.append(Probe(rtt_s, resolution_s=last_digit(time, 1e-3) if time else 0.0))
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
                        float(cell) * 1e-3, sequence=number, resolution_s=last_digit(cell, 1e-3)
                    )
                )


def _answer(found: re.Match[str]) -> Probe:
    rtt_s = float(found["time"]) * 1e-3
    stamp = found["stamp"]
    return Probe(
        rtt_s,
        payload_bytes=_DEFAULT_BYTES.get(found["bytes"], NAN),
        sequence=float(found["sequence"]),
        resolution_s=last_digit(found["time"], 1e-3),
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


_KINDS = ("resp", "timeout", "summary", "vSum", "intSum", "stats")
_LINE = re.compile(rf'\s*\{{\s*"(?:{"|".join(_KINDS)})"\s*:\s*\{{')
_OBJECT = re.compile(r"\s*\{")
_DEFAULT_REPLY_BYTES, _DEFAULT_PAYLOAD_BYTES = 64, 56


def _recognize_fping_json(given: Input) -> bool:
    if '"xmt"' not in given.first and '"seq"' not in given.first and "vSum" not in given.first:
        return False
    return given.seen(rf'^{_LINE.pattern}.*"(?:host|targets)"')


class _FpingJsonFile:
    def __init__(self, given: Input) -> None:
        self.given = given
        self.runs: dict[str, Run] = {}
        self.values: dict[str, list[float]] = {}
        self.seen: set[tuple[str, float]] = set()
        self.skipped: list[int] = []
        self.unread: list[str] = []
        self.cut = 0

    def read(self) -> None:
        text = self.given.text
        for line_number, line in zip(text.numbers, text.lines, strict=True):
            if not line.strip():
                continue
            event = self._event(line_number, line, last=line_number == text.numbers[-1])
            for kind, row in event.items():
                if isinstance(row, dict):
                    self._add(line_number, kind, row)
        for host, values in self.values.items():
            run = self._run(host)
            if not run.probes:
                run.probes = [
                    Probe(lost=True, sequence=place) if math.isnan(value) else
                    Probe(value * 1e-3, sequence=place, resolution_s=_resolution_s(value))
                    for place, value in enumerate(values)
                ]  # fmt: skip

    def _event(self, line_number: int, line: str, *, last: bool) -> Mapping[str, Any]:
        """Return the object of a line; a reply that cannot be read is refused, not left out."""
        try:
            found = json.loads(line) if _OBJECT.match(line) else None
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
        if last and not self.given.text.ends_complete:
            self.cut = line_number
        elif _LINE.match(line):
            raise self._refused(line_number, "line", line)
        else:
            self.skipped.append(line_number)
        return {}

    def _refused(self, line_number: int, field: str, value: Any) -> ReaderError:
        return ReaderError(
            "fping-unreadable", file=self.given.name, line=line_number, field=field,
            value=shorten(str(value)),
        )  # fmt: skip

    def _run(self, host: str) -> Run:
        return self.runs.setdefault(host, Run(target=shorten(host, 100)))

    def _add(self, line_number: int, kind: str, row: Mapping[str, Any]) -> None:
        if kind not in _KINDS or kind == "stats":  # of all targets; others are of later versions
            if kind not in _KINDS and kind not in self.unread:
                self.unread.append(kind)
            return
        host = words(row, "host")
        if not host:
            raise self._refused(line_number, f"{kind}.host", row.get("host"))
        if kind in ("resp", "timeout"):
            self._probe(line_number, kind, host, row)
        elif kind == "vSum":
            self._values(line_number, host, row)
        elif kind == "summary":
            self._total(line_number, host, row)

    def _probe(self, line_number: int, kind: str, host: str, row: Mapping[str, Any]) -> None:
        sequence = self._number(line_number, kind, row, "seq")
        run = self._run(host)
        if kind == "timeout":
            run.probes.append(Probe(lost=True, sequence=sequence))
            return
        rtt = self._number(line_number, kind, row, "rtt")
        is_default = number(row, "size") == _DEFAULT_REPLY_BYTES
        stamp = words(row, "timestamp")
        received_s = float(stamp) if re.fullmatch(r"\d{1,12}\.\d{1,9}", stamp) else NAN
        ttl = number(row, "ttl")
        run.probes.append(
            Probe(
                rtt * 1e-3,
                payload_bytes=_DEFAULT_PAYLOAD_BYTES if is_default else NAN,
                sequence=sequence,
                duplicate=(host, sequence) in self.seen,
                resolution_s=_resolution_s(rtt),
                sent_s=received_s - rtt * 1e-3,
                ttl=ttl if ttl >= 0 else NAN,
            )
        )
        self.seen.add((host, sequence))

    def _values(self, line_number: int, host: str, row: Mapping[str, Any]) -> None:
        values = row.get("values")
        if not isinstance(values, list):
            raise self._refused(line_number, "vSum.values", values)
        named = [{"values": value} for value in values]
        self.values.setdefault(host, []).extend(
            NAN if one["values"] is None else self._number(line_number, "vSum", one, "values")
            for one in named
        )
        self._run(host).ended = True

    def _total(self, line_number: int, host: str, row: Mapping[str, Any]) -> None:
        run = self._run(host)
        run.sent, run.received = (
            int(self._number(line_number, "summary", row, name)) for name in ("xmt", "rcv")
        )
        loss, back = number(row, "loss") / 100, number(row, "return") / 100
        run.loss_ratio = 1.0 - back if math.isnan(loss) else loss
        times = [number(row, name) * 1e-3 for name in ("rttMin", "rttAvg", "rttMax")]
        run.rtt_min_s, _, run.rtt_max_s = times
        names = ("rtt_min_s", "rtt_mean_s", "rtt_max_s")
        printed = {"sent": run.sent, "received": run.received, "loss_ratio": run.loss_ratio}
        printed |= dict(zip(names, times, strict=True))
        run.printed = {name: value for name, value in printed.items() if value == value}
        run.ended = True

    def _number(self, line_number: int, kind: str, row: Mapping[str, Any], name: str) -> float:
        value = number(row, name)
        if not value >= 0:
            raise self._refused(line_number, f"{kind}.{name}", row.get(name))
        return value


def _resolution_s(rtt_ms: float) -> float:
    """Return the last digit that fping writes of a time: three in all from 1 ms on. [s]"""
    for limit, step in ((1.0, 1e-6), (10.0, 1e-5), (100.0, 1e-4)):
        if rtt_ms < limit:
            return step
    return 1e-3


def _read_fping_json(given: Input) -> RttSamples:
    file = _FpingJsonFile(given)
    file.read()
    warnings = []
    if file.cut:
        warnings.append(Notice("last-line-cut", {"number": file.cut}))
    if file.skipped:
        warnings.append(Notice("not-of-the-tool", {"numbers": file.skipped}))
    if file.unread:
        warnings.append(Notice("fping-kinds-unread", {"names": file.unread}))
    return samples_of_hosts(given, file.runs.values(), warnings)


JSON = Format(
    name="fping JSON",
    description="the JSON of fping",
    recognize=_recognize_fping_json,
    read=_read_fping_json,
    traps=(
        "Times are milliseconds with three digits, as numbers: 5.1 may be 5.10.",
        "null in vSum is a probe without an answer, not a time of 0.",
        "The values of vSum repeat the replies above them and are not counted again.",
        "A loss is a whole percentage, rounded down; more replies than probes are a return.",
        "The size of a reply counts other headers in other versions: user data is known of the "
        "default size only.",
        "Sums of intervals (-Q) and of all targets (-s) are no facts of a host.",
    ),
)
