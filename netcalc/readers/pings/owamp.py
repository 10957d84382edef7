"""The output of owping and twping: delays of each way, and round trips between the same servers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.lines import skipped_lines
from netcalc.readers.pings.runs import NAN, Run, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import Fact, Meta, RttSamples, Table, fact_row

_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?"
_UNIT = r"(?P<unit>[num]?s)"
_HEADER = re.compile(
    r"--- owping statistics from \[(?P<source>[^\]]+)\]\S* to \[(?P<to>[^\]]+)\].*"
)
_PACKET = re.compile(
    rf"seq_no=(?P<seq>\d{{1,10}})\s+(?:delay=(?P<delay>{_NUMBER}) {_UNIT}\s+"
    rf"\((?:sync, err=(?P<error>{_NUMBER}) [num]?s|unsync[^)]*)\)"
    r"(?:\s+sent=(?P<sent>\d{1,10}\.\d{1,9}) recv=(?P<got>\d{1,10}\.\d{1,9}))?|\*LOST\*)\s*"
)
_COUNTS = re.compile(
    r"(?P<sent>\d{1,15}) sent, (?P<lost>\d{1,15}) lost \((?P<loss>\d{1,3}(?:\.\d{1,9})?|nan)%\), "
    r"(?P<duplicates>\d{1,15}) duplicates\s*"
)
_DELAY = re.compile(
    rf"one-way delay min/median/max = (?P<min>{_NUMBER}|nan)/(?P<median>{_NUMBER}|nan)/"
    rf"(?P<max>{_NUMBER}|nan) {_UNIT}, \((?:err=(?P<error>{_NUMBER}) [num]?s|unsync)\)\s*"
)
_JITTER = re.compile(rf"one-way jitter = (?P<jitter>{_NUMBER}|nan) {_UNIT} \(P95-P50\)\s*")
_HOPS = re.compile(r"hops = (?P<hops>\d{1,3}) \(consistently\)\s*")
_STAMP = re.compile(r"(?:SID|first|last):\s.*")
_PLAIN = re.compile(
    r"(?:Approximately .*|Percentiles:|\d+\.\d+: .*|TTL not reported|hops takes .*|Min Hops.*|"
    r"no reordering|\d+-reordering = .*|)\s*"
)
_FACTORS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(slots=True)
class _Session:
    """One direction."""

    group: str = ""
    sent_count: float = NAN
    lost_count: float = NAN
    duplicate_count: float = NAN
    one_way_delay_min_s: float = NAN
    one_way_delay_median_s: float = NAN
    one_way_delay_max_s: float = NAN
    clock_error_s: float = NAN
    jitter_p95_p50_s: float = NAN
    hop_count: float = NAN
    target: str = field(default="", repr=False)
    loss_ratio: float = field(default=NAN, repr=False)

    @property
    def ended(self) -> bool:
        """Whether its totals are there."""
        return not math.isnan(self.sent_count)

    def facts(self) -> dict[str, Fact]:
        """Return the row of facts; without totals nothing is certain but the direction."""
        lost, sent = self.lost_count, self.sent_count
        right = 0 <= lost <= sent
        return fact_row(
            group=self.group,
            target=self.target,
            protocol="udp",
            sent_count=sent,
            received_count=sent - lost if right else None,
            duplicate_count=self.duplicate_count,
            one_way_delay_min_s=self.one_way_delay_min_s,
            one_way_delay_median_s=self.one_way_delay_median_s,
            one_way_delay_max_s=self.one_way_delay_max_s,
            printed_loss_ratio=self.loss_ratio,
            loss_ratio=lost / sent if right and sent else None,
            partial=not self.ended,
        )


@dataclass(slots=True)
class _Packet:
    """One packet, in the direction whose statistics follow."""

    group: str = ""
    sequence: float = NAN
    lost: float = 0.0
    one_way_delay_s: float = NAN
    clock_error_s: float = NAN
    sent_s: float = NAN
    received_s: float = NAN


def _recognize(given: Input) -> bool:
    return given.seen(rf"^{_HEADER.pattern}$") or given.seen(rf"^{_PACKET.pattern}$")


def _read(given: Input) -> Table:
    text = given.text
    sessions: list[_Session] = []
    packets: list[_Packet] = []
    skipped: list[int] = []
    waiting = 0  # packets whose direction was not named yet
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        line = line.strip()
        if found := _HEADER.fullmatch(line):
            name = f"{found['source']} > {found['to']}"
            sessions.append(_Session(shorten(name, 200), target=shorten(found["to"], 100)))
            for packet in packets[len(packets) - waiting :]:
                packet.group = sessions[-1].group
            waiting = 0
        elif found := _PACKET.fullmatch(line):
            packets.append(_packet(found))
            waiting += 1
        elif _STAMP.fullmatch(line) or _PLAIN.fullmatch(line):
            continue
        elif not sessions or not _summed(sessions[-1], line):
            skipped.append(number)
    if not any(session.ended for session in sessions) and not packets:
        raise ReaderError("no-probe", file=given.name)
    return _table(given, sessions, packets, skipped, cut=waiting > 0)


def _packet(found: re.Match[str]) -> _Packet:
    if not found["delay"]:
        return _Packet(sequence=float(found["seq"]), lost=1.0)
    factor = _FACTORS[found["unit"]]
    return _Packet(
        sequence=float(found["seq"]),
        one_way_delay_s=float(found["delay"]) * factor,
        clock_error_s=float(found["error"] or NAN) * factor,
        sent_s=float(found["sent"] or NAN),
        received_s=float(found["got"] or NAN),
    )


def _summed(session: _Session, line: str) -> bool:
    """Keep what a line of the statistics says; False if it is none."""
    if found := _COUNTS.fullmatch(line):
        session.sent_count, session.lost_count = float(found["sent"]), float(found["lost"])
        session.duplicate_count = float(found["duplicates"])
        session.loss_ratio = float(found["loss"]) / 100
    elif found := _DELAY.fullmatch(line):
        factor = _FACTORS[found["unit"]]
        for name in ("min", "median", "max"):
            setattr(session, f"one_way_delay_{name}_s", float(found[name]) * factor)
        session.clock_error_s = float(found["error"] or NAN) * factor
    elif found := _JITTER.fullmatch(line):
        session.jitter_p95_p50_s = float(found["jitter"]) * _FACTORS[found["unit"]]
    elif found := _HOPS.fullmatch(line):
        session.hop_count = float(found["hops"])
    else:
        return False
    return True


def _table(
    given: Input,
    sessions: list[_Session],
    packets: list[_Packet],
    skipped: list[int],
    *,
    cut: bool,
) -> Table:
    rows: list[Any] = list(packets) or list(sessions)
    names = [one.name for one in fields(rows[0]) if one.name not in ("target", "loss_ratio")]
    warnings = [*given.text.warnings, *skipped_lines(skipped)]
    if any(math.isnan(one.clock_error_s) and not _is_lost(one) for one in rows):
        warnings.append(Notice("clocks-not-synchronized", {}))
    if any(one.one_way_delay_min_s < 0 for one in sessions):
        warnings.append(Notice("negative-delays", {}))
    if not sessions or cut:
        sessions = [*sessions, _Session()]
    source = given.unpacked
    return Table(
        data={name: [getattr(row, name) for row in rows] for name in names},
        meta=Meta(
            tool="owping",
            target=", ".join(dict.fromkeys(one.target for one in sessions if one.target)),
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            clock="the clocks of both hosts",
            units={
                name: "text" if name == "group" else "s" if name.endswith("_s") else "1"
                for name in names
            },
            facts=tuple(one.facts() for one in sessions),
            warnings=tuple(warnings),
            partial=source.grew or not all(one.ended for one in sessions),
        ),
    )


def _is_lost(row: _Session | _Packet) -> bool:
    return isinstance(row, _Packet) and bool(row.lost)


OWPING = Format(
    name="owping",
    description="the output of owping",
    recognize=_recognize,
    read=_read,
    traps=(
        "A delay is one way: it is the difference of two clocks, and can be negative.",
        "err is what the clocks may be wrong by; without it they were not synchronized, and only "
        "differences of delays are certain.",
        "The jitter is the 95th percentile less the median, not that of RTP.",
        "With -v each packet has a row; the statistics behind them name their direction.",
        "The unit of a time is the one printed: ns, us, ms or s.",
    ),
)


_NUMBER_TWPING = r"-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?|nan"
_HEADER_TWPING = re.compile(
    r"--- twping statistics from \[(?P<source>[^\]]{1,300})\]\S* to \[(?P<to>[^\]]{1,300})\].*"
)
_COUNTS_TWPING = re.compile(
    r"(?P<sent>\d{1,15}) sent, (?P<lost>\d{1,15}) lost \((?P<loss>\d{1,3}(?:\.\d{1,9})?|nan)%\), "
    r"(?P<away>\d{1,15}) send duplicates, (?P<back>\d{1,15}) reflect duplicates"
)
_TIMES = re.compile(
    rf"(?P<what>round-trip|send|reflect) time min/median/max = (?P<min>{_NUMBER_TWPING})/"
    rf"(?P<median>{_NUMBER_TWPING})/(?P<max>{_NUMBER_TWPING}) (?P<unit>[num]?s),.*"
)
_OTHER = re.compile(
    r"(?:SID|first|last):\s.*|reflector processing time .*|(?:two-way|send|reflect) jitter = .*|"
    r"(?:send|reflect) (?:hops|ttl).*|(?:send|reflect) TTL not reported|Percentiles:.*|"
    r"\d+\.\d+: .*|no (?:send |reflect )?reordering|\d+-reordering = .*"
)
_WAYS = {"send": "away", "reflect": "back"}


def _recognize_twping(given: Input) -> bool:
    return given.seen(r"^--- twping statistics from \[")


def _read_twping(given: Input) -> RttSamples:
    text = given.text
    runs: list[Run] = []
    skipped: list[int] = []
    for number, line in zip(text.numbers, text.lines, strict=True):
        if number == text.numbers[-1] and not text.ends_complete:
            continue
        line = line.strip()
        if found := _HEADER_TWPING.fullmatch(line):
            runs.append(Run(target=shorten(found["to"], 100), protocol="udp"))
        elif not line or _OTHER.fullmatch(line):
            continue
        elif not runs or not _summed_twping(runs[-1], line):
            skipped.append(number)
    return to_samples(given, runs, "twping", skipped_lines(skipped))


def _summed_twping(run: Run, line: str) -> bool:
    """Keep what a line of the statistics says; False if it is none."""
    if found := _COUNTS_TWPING.fullmatch(line):
        run.sent, lost = int(found["sent"]), int(found["lost"])
        run.received = run.sent - lost if lost <= run.sent else None
        run.duplicates = int(found["back"])
        run.loss_ratio = float(found["loss"]) / 100
        run.printed |= {"sent": run.sent, "lost": lost, "away_duplicates": int(found["away"])}
        run.ended = True
        return True
    found = _TIMES.fullmatch(line)
    if found is None:
        return False
    times = {
        name: float(found[name]) * _FACTORS[found["unit"]] for name in ("min", "median", "max")
    }
    if found["what"] == "round-trip":
        run.rtt_min_s, run.rtt_median_s, run.rtt_max_s = times.values()
    else:
        way = _WAYS[found["what"]]
        run.printed |= {f"{way}_{name}_s": value for name, value in times.items() if value == value}
    return True


TWPING = Format(
    name="twping",
    description="the output of twping",
    recognize=_recognize_twping,
    read=_read_twping,
    traps=(
        "The round trip is without the time in the reflector.",
        "The times of each way are differences of two clocks, and no round trips.",
        "Duplicates are counted for each way; a reply twice is one of the way back.",
    ),
)
