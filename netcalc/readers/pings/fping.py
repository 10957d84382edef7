"""Pings of several hosts in turn: fping, its text and its JSON (``-J``), and oping."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import isnan, nan
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import number, words
from netcalc.readers.format import Format, Input
from netcalc.readers.lines import NUMBER, LineTable, ToolLine, last_digit, skipped_lines
from netcalc.readers.pings.runs import Probe, ProbeReader, Run, stated, to_samples
from netcalc.readers.places import ICMP_PROBES
from netcalc.readers.source import note, shorten
from netcalc.samples import RttSamples

_STAMP = r"(?:\[(?P<stamp_s>[0-9]{1,18}\.[0-9]{1,18})\] )?"
_HOST = r"(?P<target>\S+(?: \(\S+\))?)"
_CELL = r"(?:-|\d{1,18}\.?\d{0,18})"
_TIMES = rf"\S+\s+: {_CELL}(?: {_CELL})*\s*$"
_DEFAULT_BYTES = {"64": 56.0, "84": 56.0}
"""Bytes of a reply to a probe of the default size -> its user data: up to 3.x with an IP header."""


class _Fping(ProbeReader):
    tool = "fping"
    hosts_take_turns = True
    table = LineTable(
        reply=(
            rf"{_STAMP}{_HOST}\s+: (?P<duplicate>duplicate for )\[{{sequence}}\], "
            r"(?P<bytes>\d+) bytes, {rtt_ms} ms",
            rf"{_STAMP}{_HOST}\s+: \[{{sequence}}\], "
            r"(?P<bytes>\d+) bytes, {rtt_ms} ms(?:\s*\(.*)?$",
        ),
        lost=rf"{_STAMP}{_HOST}\s+: \[{{sequence}}\], (?:timed out|(?P<error_reply>\D[^(]*))"
        r"(?:\s*\(.*)?$",
        totals=rf"{_STAMP}{_HOST}\s+: xmt/rcv/%(?:loss|(?P<returned>return)) = "
        rf"{{sent}}/{{received}}/(?P<loss_percent>-?{NUMBER})%"
        r"(?:, (?:outage\(ms\) = \d+, )?min/avg/max = {rtt_min_ms}/{}/{rtt_max_ms})?"
        r"(?:\s*$|(?!, (?:outage|min/)))",
        times=rf"{_STAMP}{_HOST}\s+: (?P<times>{_CELL}(?: {_CELL})*)\s*$",
        alive=rf"{_HOST} is alive(?: \({{rtt_ms}} ms\))?\s*$",
        unreachable=rf"{_HOST} is unreachable\s*$",
        other=r"\[[0-9]{2}:[0-9]{2}:[0-9]{2}\]\s*$|"
        r"\s*\d{1,18}\.?\d{0,18} (?:targets|alive|unreachable|unknown addresses|timeouts|"
        r"(?:other )?ICMP|ms|sec)\b",
        multiplies=True,
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.rows: dict[str, list[str]] = {}
        self.intervals: Counter[str] = Counter()

    @classmethod
    def recognize(cls, file: Input) -> bool:
        """Whether a line of a host is among the first; its plain words are found in less time."""
        kinds = {
            ": [": ("reply", "lost"),
            "xmt/rcv/%": ("totals",),
            " is ": ("alive", "unreachable"),
        }
        return any(
            word in file.first and file.seen(cls.table.pattern(*names))
            for word, names in kinds.items()
        ) or (file.seen(rf"^{_STAMP}{_TIMES}") and cls._is_of_times(file.first))

    @staticmethod
    def _is_of_times(first: str) -> bool:
        """Whether half of the lines have times behind a name: others print ``Channel : 36``."""
        lines = [line for line in first.split("\n") if line.strip()]
        return 2 * sum(map(bool, map(re.compile(rf"{_STAMP}{_TIMES}").match, lines))) >= len(lines)

    def probe(self, line: ToolLine) -> Probe:
        """Return a probe; the stamp is that of the reply."""
        probe = super().probe(line)
        probe.payload_bytes = _DEFAULT_BYTES.get(line.get("bytes", ""), nan)
        probe.sent_s = line.get("stamp_s", nan) - probe.rtt_s
        return probe

    def totals(self, line: ToolLine) -> None:
        """Keep the totals of a host; those of an interval (-Q) are overwritten by the last line."""
        run = self.run
        self.intervals[run.target] += 1
        share = line["loss_ratio"]
        run.sent, run.received = line["sent"], line["received"]
        run.loss_ratio = 1.0 - share if "returned" in line else share
        run.rtt_min_s, run.rtt_max_s = line.get("rtt_min_s", nan), line.get("rtt_max_s", nan)
        run.printed = stated(
            sent=run.sent, received=run.received, loss_ratio=run.loss_ratio,
            rtt_min_s=run.rtt_min_s, rtt_max_s=run.rtt_max_s,
        )  # fmt: skip
        run.ended = True

    def times(self, line: ToolLine) -> None:
        """Keep the row of times of a host."""
        self.run.ended = True
        self.rows.setdefault(line["target"], []).extend(line["times"].split())

    def alive(self, line: ToolLine) -> None:
        """Add a probe that was answered."""
        self.run.ended = True
        self.reply(line)

    def unreachable(self, line: ToolLine) -> None:
        """Add one of the tries of an unreachable host, of which there may be several."""
        self.run.ended = True
        self.lost(line)

    def finish(self) -> None:
        """Use the row of times of a host only where its probes have no lines of their own."""
        for host, cells in self.rows.items():
            if not self.hosts[host].probes:
                self.hosts[host].probes = [
                    Probe(sequence=number, lost=True)
                    if cell == "-"
                    else Probe(
                        float(cell) * 1e-3, sequence=number, resolution_s=last_digit(cell, 1e-3)
                    )
                    for number, cell in enumerate(cells)
                ]

    def samples(self) -> RttSamples:
        """Return the samples of all hosts."""
        text = self.file.text
        warnings = skipped_lines(self.skipped)
        last = text.lines[-1]
        cut = bool(last.strip()) and not text.ends_complete
        if cut and self.table.line(text.numbers[-1], last, cut=True) is None:
            warnings.insert(0, Notice("last-line-cut", {"number": text.numbers[-1]}))
        if any(count > 1 for count in self.intervals.values()):
            warnings.append(Notice("earlier-totals", {}))
        return samples_of_hosts(self.file, self.runs, warnings)


def samples_of_hosts(file: Input, runs: Iterable[Run], warnings: list[Notice]) -> RttSamples:
    """Return the samples of all hosts that fping pinged, each in the order of its probes."""
    runs = list(runs)
    for run in runs:
        run.probes.sort(key=lambda probe: probe.sequence)
    stamped = any(probe.sent_s == probe.sent_s for run in runs for probe in run.probes)
    clock = "wall clock of the pinging host (fping -D)" if stamped else ""
    return to_samples(file, runs, "fping", warnings, clock=clock)


FPING = _Fping.format(
    "fping",
    probes=ICMP_PROBES,
    traps=(
        "A dash is a probe without an answer, not a time of 0.",
        "Hosts take turns in the lines; each has its own rows and facts.",
        "The row of times at the end repeats the lines above it and is not counted again.",
        "The bytes of a reply count its IP header up to version 3, not later: user data is known "
        "of the default size only.",
        "With -Q the totals of each interval come before those of the run, which are the last.",
        "An unreachable host had one or more tries, of which one is counted.",
    ),
    parts=(
        r"^\s*\d+ (?:targets|alive|unreachable|unknown addresses)\s*$|"
        r"^\s*\d+ (?:timeouts \(waiting|ICMP Echo)|\((?:min|avg|max) round trip time\)\s*$",
    ),
    needs="the lines of its hosts",
)


_KINDS = ("resp", "timeout", "summary", "vSum", "intSum", "stats")
_LINE = re.compile(rf'\s*\{{\s*"(?:{"|".join(_KINDS)})"\s*:\s*\{{')
_OBJECT = re.compile(r"\s*\{")
_DEFAULT_REPLY_BYTES, _DEFAULT_PAYLOAD_BYTES = 64, 56


def _recognize_fping_json(file: Input) -> bool:
    if '"xmt"' not in file.first and '"seq"' not in file.first and "vSum" not in file.first:
        return False
    return file.seen(rf'^{_LINE.pattern}.*"(?:host|targets)"')


class _FpingJsonFile:
    def __init__(self, file: Input) -> None:
        self.file = file
        self.runs: dict[str, Run] = {}
        self.values: dict[str, list[float]] = {}
        self.seen: set[tuple[str, float]] = set()
        self.skipped: list[int] = []
        self.unread: dict[str, None] = {}
        self.cut = 0

    def read(self) -> None:
        for line_number, line, cut in self.file.text.numbered_lines():
            event = self._event(line_number, line, cut=cut)
            for kind, row in event.items():
                if isinstance(row, dict):
                    self._add(line_number, kind, row)
        for host, values in self.values.items():
            run = self._run(host)
            if not run.probes:
                run.probes = [
                    Probe(lost=True, sequence=place) if isnan(value) else
                    Probe(value * 1e-3, sequence=place, resolution_s=_resolution_s(value))
                    for place, value in enumerate(values)
                ]  # fmt: skip

    def _event(self, line_number: int, line: str, *, cut: bool) -> Mapping[str, Any]:
        """Return the object of a line; a reply that cannot be read is refused, not left out."""
        try:
            event = json.loads(line) if _OBJECT.match(line) else None
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            return event
        if cut:
            self.cut = line_number
        elif _LINE.match(line):
            raise self._refused(line_number, "line", line)
        else:
            self.skipped.append(line_number)
        return {}

    def _refused(self, line_number: int, field: str, value: Any) -> ReaderError:
        return self.file.refusal(
            "fping-unreadable", line=line_number, field=field, value=shorten(str(value))
        )

    def _run(self, host: str) -> Run:
        return self.runs.setdefault(host, Run(target=shorten(host, 100)))

    def _add(self, line_number: int, kind: str, row: Mapping[str, Any]) -> None:
        if kind not in _KINDS:
            self.unread[kind] = None  # of a later version
        if kind not in _KINDS or kind == "stats":  # of all targets
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
        received_s = float(stamp) if re.fullmatch(r"\d{1,12}\.\d{1,9}", stamp) else nan
        ttl = number(row, "ttl")
        run.probes.append(
            Probe(
                rtt * 1e-3,
                payload_bytes=_DEFAULT_PAYLOAD_BYTES if is_default else nan,
                sequence=sequence,
                duplicate=(host, sequence) in self.seen,
                resolution_s=_resolution_s(rtt),
                sent_s=received_s - rtt * 1e-3,
                ttl=ttl if ttl >= 0 else nan,
            )
        )
        self.seen.add((host, sequence))

    def _values(self, line_number: int, host: str, row: Mapping[str, Any]) -> None:
        values = row.get("values")
        if not isinstance(values, list):
            raise self._refused(line_number, "vSum.values", values)
        self.values.setdefault(host, []).extend(
            nan if cell is None else self._number(line_number, "vSum", {"values": cell}, "values")
            for cell in values
        )
        self._run(host).ended = True

    def _total(self, line_number: int, host: str, row: Mapping[str, Any]) -> None:
        run = self._run(host)
        run.sent, run.received = (
            int(self._number(line_number, "summary", row, name)) for name in ("xmt", "rcv")
        )
        loss, back = number(row, "loss") / 100, number(row, "return") / 100
        run.loss_ratio = 1.0 - back if isnan(loss) else loss
        low_s, mean_s, high_s = (number(row, f"rtt{name}") * 1e-3 for name in ("Min", "Avg", "Max"))
        run.rtt_min_s, run.rtt_max_s = low_s, high_s
        run.printed = stated(
            sent=run.sent, received=run.received, loss_ratio=run.loss_ratio,
            rtt_min_s=low_s, rtt_mean_s=mean_s, rtt_max_s=high_s,
        )  # fmt: skip
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


def _read_fping_json(input_: Input) -> RttSamples:
    file = _FpingJsonFile(input_)
    file.read()
    warnings: list[Notice] = []
    note(warnings, "last-line-cut", number=file.cut)
    note(warnings, "not-of-the-tool", numbers=file.skipped)
    note(warnings, "fping-kinds-unread", names=list(file.unread))
    return samples_of_hosts(input_, file.runs.values(), warnings)


FPING_JSON = Format(
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


class _Oping(ProbeReader):
    tool = "oping"
    protocol = "icmp"
    marks = r"^PING \S+ \([^()\s]+\) [0-9]{1,18} bytes of data\.\s*$"
    lines_alone = (
        r"^56 bytes from \S+ \(\S+\): icmp_seq=\d+ ttl=\d+ time=(?:0|\d{2,})\.\d\d ms\s*$|"
        r"^echo reply from \S+ \(\S+\): icmp_seq=\d+ timeout"
    )
    """Two decimals and the size of user data, which no other ping prints so."""
    hosts_take_turns = True
    repeats = True
    table = LineTable(
        about=r"PING {target} \([^()\s]+\) {payload_bytes} bytes of data\.\s*$",
        reply=r"[0-9]+ bytes from {target} \([^()\s]+\): icmp_seq={sequence} "
        r"(?:ttl={ttl} |(?!ttl=))(?:\S+=\S+ )*time={rtt_ms} ms",
        lost=r"echo reply from {target} \([^()\s]+\): icmp_seq={sequence} timeout",
        summary=r"--- (?P<host>\S+) ping statistics ---",
        totals=rf"{{sent}} packets transmitted, {{received}} received, "
        rf"(?P<loss_percent>-?{NUMBER})% packet",
        other=r"RTT\[ms\]",
        multiplies=True,
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.summed: Run | None = None

    @classmethod
    def recognize(cls, file: Input) -> bool:
        """Whether the first line is that of oping, or is missing and a line is one of oping."""
        return super().recognize(file) or (not file.seen("^PING ") and file.seen(cls.lines_alone))

    def summary(self, line: ToolLine) -> None:
        """Take the totals that follow for those of a host."""
        self.summed = self.hosts.get(line["host"])

    def accepts(self, line: ToolLine) -> bool:
        """Whether totals have the name of their host before them."""
        return line.kind != "totals" or self.summed is not None

    def totals(self, line: ToolLine) -> None:
        """Keep the totals of the host that was named."""
        self.current = self.summed
        super().totals(line)


OPING = _Oping.format(
    "oping",
    probes=ICMP_PROBES,
    traps=(
        "Hosts take turns in the lines; each has its own rows and facts.",
        "The bytes of a reply are user data, without a header.",
        "The times of the summary are whole milliseconds, often 0: those of the lines count.",
        "A timeout is a lost probe, without a time.",
    ),
)
