"""The output of owping and twping: delays of each way, and round trips between the same servers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import ONE_WAY, RECEIVER, UDP_PROBES, Counted, Format, Input, Place
from netcalc.readers.lines import Line, LineTable, skipped_lines
from netcalc.readers.pings.runs import NAN, ProbeReader
from netcalc.readers.source import shorten
from netcalc.samples import Fact, Meta, Table, fact_row

_FINITE = r"-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?"
_NUMBER = rf"(?:{_FINITE}|nan)"
_SPREAD = "(?P<{0}_min_unit>{1})/(?P<{0}_median_unit>{1})/(?P<{0}_max_unit>{1}) (?P<unit>[num]?s),"
_LOSS = r"\((?P<loss_percent>\d{1,3}(?:\.\d{1,9})?|nan)%\)"
_ERROR = rf"err=(?P<clock_error_unit>{_NUMBER}) [num]?s"

_OWPING = LineTable(
    session=r"\s*--- owping statistics from \[(?P<source>[^\]]+)\]\S* "
    r"to \[(?P<target>[^\]]+)\]",
    packet=rf"\s*seq_no={{sequence}}\s+(?:delay=(?P<one_way_delay_unit>{_FINITE}) (?P<unit>[num]?s)"
    rf"\s+\((?:sync, {_ERROR}|unsync[^)]*)\)"
    r"(?:\s+sent=(?P<sent_s>\d{1,10}\.\d{1,9}) recv=(?P<received_s>\d{1,10}\.\d{1,9}))?"
    r"|\*LOST\*)\s*$",
    statistics=(
        rf"\s*{{sent_count}} sent, {{lost_count}} lost {_LOSS}, {{duplicate_count}} duplicates\s*$",
        rf"\s*one-way delay min/median/max = {_SPREAD.format('one_way_delay', _NUMBER)} "
        rf"\((?:{_ERROR}|unsync)\)\s*$",
        rf"\s*one-way jitter = (?P<jitter_p95_p50_unit>{_NUMBER}) (?P<unit>[num]?s) "
        r"\(P95-P50\)\s*$",
        r"\s*hops = {hop_count} \(consistently\)\s*$",
    ),
    other=r"\s*(?:(?:SID|first|last):\s|Approximately |Percentiles:\s*$|\d+\.\d+: |"
    r"TTL not reported\s*$|hops takes |Min Hops|no reordering\s*$|\d+-reordering = )",
)


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

    def keep(self, line: Line) -> None:
        """Keep what a line of the statistics says."""
        for name, value in line.fields.items():
            if name != "unit":
                setattr(self, name, float(value))

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


def _recognize(file: Input) -> bool:
    return file.seen(
        r"^--- owping statistics from \[[^\]]+\]\S* to \[[^\]]+\]|"
        r"^seq_no=\d{1,10}\s+(?:delay=|\*LOST\*)"
    )


def _read(file: Input) -> Table:
    sessions: list[_Session] = []
    packets: list[_Packet] = []
    skipped: list[int] = []
    waiting = 0  # packets whose direction was not named yet
    for line in _OWPING.lines(file.text, skipped):
        if line.kind == "session":
            name = shorten(f"{line['source']} > {line['target']}", 200)
            sessions.append(_Session(name, target=shorten(line["target"], 100)))
            for packet in packets[len(packets) - waiting :]:
                packet.group = name
            waiting = 0
        elif line.kind == "packet":
            times = {name: value for name, value in line.fields.items() if name.endswith("_s")}
            lost = float("one_way_delay_s" not in line)
            packets.append(_Packet(sequence=float(line["sequence"]), lost=lost, **times))
            waiting += 1
        elif sessions:
            sessions[-1].keep(line)
        else:
            skipped.append(line.number)
    if not any(session.ended for session in sessions) and not packets:
        raise ReaderError("no-probe", file=file.name)
    return _table(file, sessions, packets, skipped, cut=waiting > 0)


def _table(
    file: Input,
    sessions: list[_Session],
    packets: list[_Packet],
    skipped: list[int],
    *,
    cut: bool,
) -> Table:
    rows: list[Any] = list(packets) or list(sessions)
    names = [each.name for each in fields(rows[0]) if each.name not in ("target", "loss_ratio")]
    warnings = [*file.text.warnings, *skipped_lines(skipped)]
    if any(math.isnan(each.clock_error_s) and not _is_lost(each) for each in rows):
        warnings.append(Notice("clocks-not-synchronized", {}))
    if any(each.one_way_delay_min_s < 0 for each in sessions):
        warnings.append(Notice("negative-delays", {}))
    if not sessions or cut:
        sessions = [*sessions, _Session()]
    source = file.unpacked
    return Table(
        data={name: [getattr(row, name) for row in rows] for name in names},
        meta=Meta(
            tool="owping",
            target=", ".join(dict.fromkeys(each.target for each in sessions if each.target)),
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            clock="the clocks of both hosts",
            units={
                name: "text" if name == "group" else "s" if name.endswith("_s") else "1"
                for name in names
            },
            facts=tuple(each.facts() for each in sessions),
            warnings=tuple(warnings),
            partial=source.grew or not all(each.ended for each in sessions),
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
    tools={
        "owping": Counted(probes=Place("udp", "UDP datagrams", RECEIVER, ONE_WAY)),
    },
)


class _Twping(ProbeReader):
    tool = "twping"
    protocol = "udp"
    marks = r"^--- twping statistics from \["
    unprinted = ("loss_ratio", "duplicates")
    last_total = "sent"
    table = LineTable(
        convert={"away_duplicates": int},
        head=r"\s*--- twping statistics from \[[^\]]{1,300}\]\S* to \[(?P<target>[^\]]{1,300})\]",
        totals=rf"\s*{{sent}} sent, {{lost}} lost {_LOSS}, "
        r"(?P<away_duplicates>\d{1,15}) send duplicates, {duplicates} reflect duplicates\s*$",
        round_trip=rf"\s*round-trip time min/median/max = {_SPREAD.format('rtt', _NUMBER)}",
        one_way=(
            rf"\s*send time min/median/max = {_SPREAD.format('away', _NUMBER)}",
            rf"\s*reflect time min/median/max = {_SPREAD.format('back', _NUMBER)}",
        ),
        other=r"\s*(?:(?:SID|first|last):\s|reflector processing time |"
        r"(?:two-way|send|reflect) jitter = |(?:send|reflect) (?:hops|ttl)|"
        r"(?:send|reflect) TTL not reported\s*$|Percentiles:|\d+\.\d+: |"
        r"no (?:send |reflect )?reordering\s*$|\d+-reordering = )",
    )

    def accepts(self, line: Line) -> bool:
        """Whether a run has begun."""
        return self.current is not None or line.kind == "head"

    def head(self, line: Line) -> None:
        """Begin a run."""
        super().head(line)
        self.run.target = shorten(self.run.target, 100)

    def totals(self, line: Line) -> None:
        """Keep the counts, of which the replies are what was not lost."""
        super().totals(line)
        received = line["sent"] - line["lost"]
        self.run.received = received if received >= 0 else None

    def round_trip(self, line: Line) -> None:
        """Keep the round trips."""
        self.run.rtt_min_s, self.run.rtt_max_s = line["rtt_min_s"], line["rtt_max_s"]
        self.run.rtt_median_s = line["rtt_median_s"]

    def one_way(self, line: Line) -> None:
        """Keep the times of a way as printed: they are differences of two clocks."""
        times = {name: value for name, value in line.fields.items() if name != "unit"}
        self.run.printed |= {name: value for name, value in times.items() if value == value}


TWPING = Format(
    name="twping",
    description="the output of twping",
    recognize=_Twping.recognize,
    read=_Twping.read,
    traps=(
        "The round trip is without the time in the reflector.",
        "The times of each way are differences of two clocks, and no round trips.",
        "Duplicates are counted for each way; a reply twice is one of the way back.",
    ),
    tools={
        "twping": Counted(probes=UDP_PROBES),
    },
)
