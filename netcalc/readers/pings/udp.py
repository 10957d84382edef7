"""Round trips and one-way delays of UDP: irtt, owping, twping and sockperf."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import (
    MESSAGES,
    ONE_WAY,
    RECEIVER,
    UDP_PROBES,
    Counted,
    Format,
    Input,
    Place,
)
from netcalc.readers.lines import Line, LineTable, skipped_lines
from netcalc.readers.pings.runs import NAN, Probe, ProbeReader, Run, to_samples
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import Fact, Meta, RttSamples, Table, fact_row

_TIME = (
    r"(?=\d{1,12}(?:\.\d{1,9})?(?:[hm]|[nuµμ]?s))(?:\d{1,9}h)?"
    r"(?:\d{1,9}m(?!s))?(?:\d{1,12}(?:\.\d{1,9})?(?:ns|[uµμ]s|ms|s))?"
)
_UNITS = {
    "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9,
}  # fmt: skip


def _seconds(text: str) -> tuple[float, float]:
    """Return a time written as ``1.5ms`` or ``1m2.5s``, and the step of its last digit.

    >>> _seconds("43µs"), _seconds("1m2.5s")
    ((4.3e-05, 1e-06), (62.5, 0.1))
    """
    parts = re.findall(r"(\d+(?:\.\d+)?)(h|ns|[uµμ]s|ms|m|s)", text)
    time_s = math.fsum(float(number) * _UNITS[unit] for number, unit in parts)
    number, unit = parts[-1]
    return round(time_s, 12), _UNITS[unit] / 10.0 ** len(number.partition(".")[2])


class _Irtt(ProbeReader):
    tool = "irtt"
    protocol = "udp"
    marks = (
        r"^\[Connecting\] connecting to |^seq=\d+ rtt=\S+ rd=|"
        r"^\s*packets sent/received: \d+/\d+ \("
    )
    unprinted = ("duplicates",)
    repeats = True
    table = LineTable(
        convert={
            "rtt": _seconds,
            **{
                f"rtt_{name}_s": lambda text: _seconds(text)[0]
                for name in ("min", "mean", "median", "max")
            },
        },
        about=(
            r"\[Connecting\] connecting to {target}\s*$",
            r"\s*packet length: {payload_bytes} bytes\s*$",
        ),
        reply=rf"seq={{sequence}} rtt=(?P<rtt>{_TIME})(?=\s|$)(?: rd=\S+)?(?: sd=\S+)?"
        r"(?: ipdv=\S+)?(?P<duplicate>.*DUP)?",
        totals=(
            rf"\s*RTT\s+(?P<rtt_min_s>{_TIME})\s+(?P<rtt_mean_s>{_TIME})\s+"
            rf"(?P<rtt_median_s>{_TIME})\s+(?P<rtt_max_s>{_TIME})(?:\s|$)",
            r"\s*packets sent/received: {sent}/{received} \({loss_percent}% loss\)\s*$",
            r"\s*\*+\s*DUPLICATES: {duplicates}",
        ),
        other=r"(?!seq=)",
    )

    def probe(self, line: Line) -> Probe:
        """Return a probe, whose time has a unit of its own."""
        probe = super().probe(line)
        probe.rtt_s, probe.resolution_s = line["rtt"]
        return probe

    def finish(self) -> None:
        """Add the probes without a line; the size is known at the end."""
        for run in self.runs:
            if run.probes:
                run.fill(0, whole=bool(run.target))
            for probe in run.probes:
                probe.payload_bytes = run.payload_bytes


IRTT = _Irtt.format(
    "irtt",
    "the text output of irtt",
    probes=UDP_PROBES,
    traps=(
        "The unit differs from number to number: ns, µs, ms, s; all are rounded to three digits.",
        "rtt is the round trip without the server's own time; rd and sd depend on two clocks and "
        "are not kept.",
        "A lost probe has no line: it is known from its number and the count of the summary.",
        "The size is that of the UDP payload; it stands in the summary only.",
    ),
)


_NS = 1e-9
_STATES = {"false": False, "true": True, "true_up": True, "true_down": True}


def _recognize_irtt_json(file: Input) -> bool:
    if not file.is_json:
        return False
    if file.seen(r'"irtt"\s*:') and file.seen(r'"version"'):
        return True
    return {"stats", "round_trips"} <= file.keys()


def _read_irtt_json(file: Input) -> RttSamples:
    documents = file.json
    runs = [_run(file, row) for row in documents.documents if isinstance(row, Mapping)]
    if documents.fault is not None and not runs:
        raise documents.fault
    warnings = list(documents.warnings)
    if documents.fault is not None:
        at = documents.fault.values
        cut = {"line": at.get("line"), "offset": at.get("offset")}
        warnings.append(Notice("document-cut", cut))
    unmatched = sum(run.printed.get("length_bytes", 0) == 0 for run in runs)
    if unmatched:
        warnings.append(Notice("packet-length-unknown", {}))
    first: Any = documents.documents[0]
    version = words(member(first, "version"), "irtt")
    host = words(member(first, "system_info"), "hostname")
    begun = member(first, "stats", "start_time")
    clock = "wall clock of the client" if begun or _has_stamps(runs) else ""
    return to_samples(
        file, runs, "irtt", warnings,
        tool_version=shorten(version, 40), host=shorten(host, 100), clock=clock,
    )  # fmt: skip


def _has_stamps(runs: list[Run]) -> bool:
    return any(not math.isnan(probe.sent_s) for run in runs for probe in run.probes)


def _run(file: Input, document: Mapping[str, Any]) -> Run:
    config, stats = member(document, "config"), member(document, "stats")
    supplied = words(member(config, "supplied"), "remote_address")
    made = Run(target=supplied or words(config, "remote_address"), protocol="udp", ended=True)
    length = number(member(config, "params"), "length")
    for index, row in enumerate(rows(document, "round_trips")):
        made.probes.append(_probe(file, row, index, length))
    _totals(made, stats)
    made.printed["length_bytes"] = int(length) if length > 0 else 0
    counted = len(made.probes)
    if made.probes and made.sent is not None and counted < made.sent:
        made.ended = False
    return made


def _probe(file: Input, row: Mapping[str, Any], index: int, length: float) -> Probe:
    state = row.get("lost")
    lost = state if isinstance(state, bool) else _STATES.get(str(state))
    if lost is None:
        raise ReaderError(
            "irtt-state", file=file.name, field=f"round_trips[{index}].lost",
            value=shorten(str(state)),
        )  # fmt: skip
    rtt_s = NAN if lost else number(member(row, "delay"), "rtt") * _NS
    if rtt_s < 0:
        rtt_s = NAN
    sent = number(member(row, "timestamps", "client", "send"), "wall")
    return Probe(
        rtt_s,
        payload_bytes=length if length > 0 else NAN,
        sequence=number(row, "seqno"),
        lost=lost,
        sent_s=sent * _NS,
    )


def _totals(run: Run, stats: Mapping[str, Any]) -> None:
    """Take the tool's own statistics, which need not agree with the round trips."""
    sent, received = number(stats, "packets_sent"), number(stats, "packets_received")
    if sent >= 0:
        run.sent = int(sent)
    if received >= 0:
        run.received = int(received)
    duplicates = number(stats, "duplicates")
    run.duplicates = int(duplicates) if duplicates >= 0 else None
    percent = number(stats, "packet_loss_percent")
    run.loss_ratio = percent / 100
    spread = member(stats, "rtt")
    if number(spread, "n") > 0:
        run.rtt_min_s = number(spread, "min") * _NS
        run.rtt_median_s = number(spread, "median") * _NS
        run.rtt_max_s = number(spread, "max") * _NS
    run.printed = {
        name: value
        for name, value in {
            "sent": run.sent,
            "received": run.received,
            "duplicates": run.duplicates,
            "loss_ratio": run.loss_ratio,
            "forward_loss_ratio": number(stats, "upstream_loss_percent") / 100,
            "reverse_loss_ratio": number(stats, "downstream_loss_percent") / 100,
            "rtt_min_s": run.rtt_min_s,
            "rtt_mean_s": number(spread, "mean") * _NS,
            "rtt_max_s": run.rtt_max_s,
        }.items()
        if value is not None and not math.isnan(value)
    }


IRTT_JSON = Format(
    name="irtt JSON",
    description="irtt JSON",
    recognize=_recognize_irtt_json,
    read=_read_irtt_json,
    traps=(
        "Times are whole nanoseconds.",
        "A round trip may be lost on the way there (true_up), back (true_down), or unknown (true).",
        "The delays of the two ways depend on two clocks and are not kept.",
        "The server's own processing time is not part of the round trip.",
        "The counts are those of the round trips; the tool's statistics are kept with them.",
        "Duplicates are only counted by the tool: no row shows which replies they were.",
    ),
)


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


def _recognize_owping(file: Input) -> bool:
    return file.seen(
        r"^--- owping statistics from \[[^\]]+\]\S* to \[[^\]]+\]|"
        r"^seq_no=\d{1,10}\s+(?:delay=|\*LOST\*)"
    )


def _read_owping(file: Input) -> Table:
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
    recognize=_recognize_owping,
    read=_read_owping,
    traps=(
        "A delay is one way: it is the difference of two clocks, and can be negative.",
        "err is what the clocks may be wrong by; without it they were not synchronized, and only "
        "differences of delays are certain.",
        "The jitter is the 95th percentile less the median, not that of RTP.",
        "With -v each packet has a row; the statistics behind them name their direction.",
        "The unit of a time is the one printed: ns, us, ms or s.",
    ),
    tools={"owping": Counted(probes=Place("udp", "UDP datagrams", RECEIVER, ONE_WAY))},
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


TWPING = _Twping.format(
    "twping",
    probes=UDP_PROBES,
    traps=(
        "The round trip is without the time in the reflector.",
        "The times of each way are differences of two clocks, and no round trips.",
        "Duplicates are counted for each way; a reply twice is one of the way back.",
    ),
)


_US = 1e-6
_PREFIX = r"^(?:sockperf: ?)?\s*"
_COUNTS = re.compile(
    _PREFIX
    + r"\[(?P<part>Total Run|Valid Duration)\] RunTime=(?P<time>\d{1,18}\.?\d{0,18}) sec;.*?"
    r"SentMessages=(?P<sent>[0-9]{1,18}); ReceivedMessages=(?P<received>[0-9]{1,18})"
)
_AVERAGE = re.compile(
    _PREFIX + r"=+> avg-(?P<what>latency|lat|rtt)= *(?P<mean>\d{1,18}\.?\d{0,18})"
)
_SUMMARY = re.compile(
    _PREFIX
    + r"Summary: (?P<what>Latency|Round trip) (?:is|of \S+ is) *(?P<mean>\d{1,18}\.?\d{0,18}) usec"
)
_DROPPED = re.compile(
    _PREFIX + r"# dropped messages = (?P<dropped>[0-9]{1,18}); # duplicated messages = "
    r"(?P<twice>[0-9]{1,18})"
)
_EDGE = re.compile(
    _PREFIX + r"-+> <(?P<edge>MIN|MAX)> observation = *(?P<value>\d{1,18}\.?\d{0,18})"
    r"|"
    + _PREFIX
    + r"-+> percentile +(?P<share>\d{1,18}\.?\d{0,18}) = *(?P<percentile>\d{1,18}\.?\d{0,18})"
)
_LOG = re.compile(
    r"^packet, ?txTime\((?P<unit>\w+)\), ?rxTime\(\w+\), ?(?P<what>latency|rtt)\(usec\)"
)
_ROW = re.compile(
    r"^(?P<packet>[0-9]{1,18}), ?(?P<sent>\d{1,18}\.?\d{0,18}), ?"
    r"(?P<got>\d{1,18}\.?\d{0,18}), ?(?P<time>\d{1,18}\.?\d{0,18})\s*$"
)
_HOST = re.compile(
    r"^\[ *[0-9]{1,18}\] IP = (?P<host>\S+)\s+PORT = +(?P<port>[0-9]{1,18}) +# (?P<protocol>\w+)"
)
_SIZE = re.compile(r"--msg-size=([0-9]{1,18})(?![0-9])")
_VERSION = re.compile(r"== version #(\S+)")
_ONE_WAY = re.compile(r"Summary: (?:Message Rate|BandWidth) is")


def _recognize_sockperf(file: Input) -> bool:
    return file.seen(r"^sockperf: ") or file.seen(_LOG.pattern)


def _read_sockperf(file: Input) -> RttSamples:
    text = file.text
    run = Run()
    factor = 0.0  # what makes a printed time a round trip
    size = NAN
    version = ""
    unread: list[int] = []
    for line_number, line in zip(text.numbers, text.lines, strict=True):
        cut = line_number == text.numbers[-1] and not text.ends_complete
        if match := _VERSION.search(line):
            version = match[1]
        if match := _SIZE.search(line):
            size = float(match[1])
        if match := _HOST.match(line):
            run.target, run.protocol = match["host"], match["protocol"].lower()
        elif match := _COUNTS.match(line):
            _counted(run, match)
        elif match := _AVERAGE.match(line) or _SUMMARY.match(line) or _LOG.match(line):
            says = 1.0 if match["what"] in ("rtt", "Round trip") else 2.0
            if factor and says != factor:
                raise ReaderError(
                    "sockperf-both", file=file.name, line=line_number, field=shorten(match["what"])
                )
            factor = says
            if not _LOG.match(line):
                run.printed["rtt_mean_s"] = float(match["mean"]) * factor * _US
        elif match := _DROPPED.match(line):
            run.duplicates = int(match["twice"])
            run.printed |= {"lost": int(match["dropped"]), "duplicates": int(match["twice"])}
        elif match := _EDGE.match(line):
            if not cut:
                _edge(run, match, factor)
        elif line[:1].isdecimal() and factor:
            row = None if cut else _ROW.match(line)
            if row is None:
                unread.append(line_number)
            else:
                run.probes.append(_probe_of_log(row, factor, size))
    if not run.probes and math.isnan(run.rtt_min_s) and "rtt_mean_s" not in run.printed:
        one_way = any(_ONE_WAY.search(line) for line in text.lines)
        raise no_measurement("sockperf-throughput" if one_way else "no-probe", file.unpacked, text)
    warnings = [Notice("sockperf-halves", {})] if factor == 2.0 else []
    if unread:
        warnings.append(Notice("not-of-the-tool", {"numbers": unread}))
    return to_samples(file, [run], "sockperf", warnings, tool_version=shorten(version, 40))


def _counted(run: Run, match: re.Match[str]) -> None:
    """Keep the counts of the valid duration, to which the times belong; those of all beside."""
    sent, received = int(match["sent"]), int(match["received"])
    if match["part"] == "Total Run":
        run.printed |= {"sent": sent, "received": received, "duration_s": float(match["time"])}
        if run.sent is None:
            run.sent, run.received = sent, received
    else:
        run.sent, run.received = sent, received
        run.ended = True
        run.printed |= {"valid_sent": sent, "valid_received": received}


def _edge(run: Run, match: re.Match[str], factor: float) -> None:
    if not factor:
        return
    if match["edge"]:
        value = float(match["value"]) * factor * _US
        if match["edge"] == "MIN":
            run.rtt_min_s = value
        else:
            run.rtt_max_s = value
    elif float(match["share"]) == 50.0:
        run.rtt_median_s = float(match["percentile"]) * factor * _US


def _probe_of_log(row: re.Match[str], factor: float, size: float) -> Probe:
    places = len(row["time"].partition(".")[2])
    return Probe(
        float(row["time"]) * factor * _US,
        payload_bytes=size,
        sequence=float(row["packet"]),
        sent_s=float(row["sent"]),
        resolution_s=factor * _US / 10.0**places,
    )


SOCKPERF = Format(
    name="sockperf",
    description="the output of sockperf",
    recognize=_recognize_sockperf,
    read=_read_sockperf,
    traps=(
        "A latency is half of a measured round trip, unless it ran with --full-rtt: here it is "
        "doubled, and said so.",
        "Times are in microseconds.",
        "The counts of the valid duration belong to the times; those of the total run include "
        "warm-up and cool-down.",
        "A throughput run has no round trip and is refused.",
        "The stamps of the log are of a clock that begins with the run.",
    ),
    tools={"sockperf": Counted(probes=MESSAGES)},
)
