"""Round trips and one-way delays of UDP: irtt, owping, twping and sockperf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isnan, nan
from typing import Any, TypeAlias

from netcalc.messages import Notice
from netcalc.readers.document import count, member, number, rows, words
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.lines import LineTable, ToolLine, skipped_lines, time_of_parts
from netcalc.readers.pings.runs import Probe, ProbeReader, Run, stated, to_samples
from netcalc.readers.places import MESSAGES, ONE_WAY, RECEIVER, UDP_PROBES, Counted, MeasuringPoint
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import Fact, RttSamples, Table, fact_row

_TIME = (
    r"(?=\d{1,12}(?:\.\d{1,9})?(?:[hm]|[nuµμ]?s))(?:\d{1,9}h)?"
    r"(?:\d{1,9}m(?!s))?(?:\d{1,12}(?:\.\d{1,9})?(?:ns|[uµμ]s|ms|s))?"
)


class _Irtt(ProbeReader):
    tool = "irtt"
    protocol = "udp"
    marks = (
        r"^\[Connecting\] connecting to |^seq=\d+ rtt=\S+ rd=|"
        r"^\s*packets sent/received: \d+/\d+ \(|"
        rf"^\s*RTT\s+{_TIME}\s+{_TIME}\s+{_TIME}\s+{_TIME}(?:\s|$)"
    )
    unprinted = ("duplicates",)
    repeats = True
    table = LineTable(
        convert={
            "rtt": time_of_parts,
            **{
                f"rtt_{name}_s": lambda text: time_of_parts(text)[0]
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

    def probe(self, line: ToolLine) -> Probe:
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
    parts=(
        r"^\s*(?:(?:send|receive) (?:delay|IPDV|call time)|IPDV \(jitter\)|timer error|"
        r"server proc\. time)\s+\d|^\s*Min\s+Mean\s+Median\s+Max\s+Stddev\s*$|"
        r"^\s*(?:server packets received|bytes sent/received|send/receive rate): ",
    ),
    needs="the lines of its probes, its line RTT, or packets sent/received",
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
    warnings = documents.warnings_of_cut()
    if not all(run.printed["length_bytes"] for run in runs):
        warnings.append(Notice("packet-length-unknown", {}))
    first: Any = documents.documents[0]
    version = words(member(first, "version"), "irtt")
    host = words(member(first, "system_info"), "hostname")
    begun = member(first, "stats", "start_time")
    stamped = any(probe.sent_s == probe.sent_s for run in runs for probe in run.probes)
    clock = "wall clock of the client" if begun or stamped else ""
    return to_samples(
        file, runs, "irtt", warnings,
        tool_version=shorten(version, 40), host=shorten(host, 100), clock=clock,
    )  # fmt: skip


def _run(file: Input, document: Mapping[str, Any]) -> Run:
    config, stats = member(document, "config"), member(document, "stats")
    supplied = words(member(config, "supplied"), "remote_address")
    made = Run(target=supplied or words(config, "remote_address"), protocol="udp", ended=True)
    length = number(member(config, "params"), "length")
    made.probes = [
        _probe(file, row, index, length) for index, row in enumerate(rows(document, "round_trips"))
    ]
    _totals(made, stats)
    made.printed["length_bytes"] = int(length) if length > 0 else 0
    if made.probes and made.sent is not None and len(made.probes) < made.sent:
        made.ended = False
    return made


def _probe(file: Input, row: Mapping[str, Any], index: int, length: float) -> Probe:
    state = row.get("lost")
    lost = state if isinstance(state, bool) else _STATES.get(str(state))
    if lost is None:
        raise file.refusal(
            "irtt-state", field=f"round_trips[{index}].lost", value=shorten(str(state))
        )
    rtt_ns = nan if lost else number(member(row, "delay"), "rtt")
    sent = number(member(row, "timestamps", "client", "send"), "wall")
    return Probe(
        rtt_ns * _NS if rtt_ns >= 0 else nan,
        payload_bytes=length if length > 0 else nan,
        sequence=number(row, "seqno"),
        lost=lost,
        sent_s=sent * _NS,
    )


def _totals(run: Run, stats: Mapping[str, Any]) -> None:
    """Take the tool's own statistics, which need not agree with the round trips."""
    run.sent, run.received = count(stats, "packets_sent"), count(stats, "packets_received")
    run.duplicates = count(stats, "duplicates")
    run.loss_ratio = number(stats, "packet_loss_percent") / 100
    spread = member(stats, "rtt")
    if number(spread, "n") > 0:
        run.rtt_min_s = number(spread, "min") * _NS
        run.rtt_median_s = number(spread, "median") * _NS
        run.rtt_max_s = number(spread, "max") * _NS
    run.printed = stated(
        sent=run.sent,
        received=run.received,
        duplicates=run.duplicates,
        loss_ratio=run.loss_ratio,
        forward_loss_ratio=number(stats, "upstream_loss_percent") / 100,
        reverse_loss_ratio=number(stats, "downstream_loss_percent") / 100,
        rtt_min_s=run.rtt_min_s,
        rtt_mean_s=number(spread, "mean") * _NS,
        rtt_max_s=run.rtt_max_s,
    )


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


_Row: TypeAlias = dict[str, Any]
_OF_SESSIONS = (
    "group", "sent_count", "lost_count", "duplicate_count", "one_way_delay_min_s",
    "one_way_delay_median_s", "one_way_delay_max_s", "clock_error_s", "jitter_p95_p50_s",
    "hop_count",
)  # fmt: skip
_OF_PACKETS = (
    "group", "sequence", "lost", "one_way_delay_s", "clock_error_s", "sent_s", "received_s",
)  # fmt: skip
"""Columns of a table: a row for each direction, or for each packet where they are listed."""


def _sessions_and_packets(file: Input, skipped: list[int]) -> tuple[list[_Row], list[_Row]]:
    """Return the directions and the packets; a direction whose name does not come is empty."""
    sessions: list[_Row] = []
    packets: list[_Row] = []
    unnamed: list[_Row] = []  # packets whose direction was not named yet
    for line in _OWPING.lines(file.text, skipped):
        fields = {name: value for name, value in line.fields.items() if name != "unit"}
        if line.kind == "session":
            name = shorten(f"{line['source']} > {line['target']}", 200)
            sessions.append({"group": name, "target": shorten(line["target"], 100)})
            for packet in unnamed:
                packet["group"] = name
            unnamed = []
        elif line.kind == "packet":
            unnamed.append({"group": "", "lost": float("one_way_delay_s" not in line), **fields})
            packets.append(unnamed[-1])
        else:
            if not sessions:
                sessions.append({})
            sessions[-1] |= fields
    return [*sessions, {}] if unnamed or not sessions else sessions, packets


def _read_owping(file: Input) -> Table:
    skipped: list[int] = []
    sessions, packets = _sessions_and_packets(file, skipped)
    if not packets and not any("sent_count" in s or "one_way_delay_min_s" in s for s in sessions):
        raise file.refusal("no-probe", tool="owping")
    rows, names = (packets, _OF_PACKETS) if packets else (sessions, _OF_SESSIONS)
    warnings = [*file.text.warnings, *skipped_lines(skipped)]
    if any(isnan(row.get("clock_error_s", nan)) and not row.get("lost") for row in rows):
        warnings.append(Notice("clocks-not-synchronized", {}))
    if any(session.get("one_way_delay_min_s", nan) < 0 for session in sessions):
        warnings.append(Notice("negative-delays", {}))
    units = {name: "s" if name.endswith("_s") else "1" for name in names}
    return Table(
        data={name: [row.get(name, nan) for row in rows] for name in names},
        meta=file.meta(
            "owping",
            [session.get("target", "") for session in sessions],
            clock="the clocks of both hosts",
            units={**units, "group": "text"},
            facts=tuple(map(_facts_of_session, sessions)),
            warnings=tuple(warnings),
            partial=not all(map(_is_whole, sessions)),
        ),
    )


def _facts_of_session(session: _Row) -> dict[str, Fact]:
    """Return the row of facts; without totals nothing is certain but the direction."""
    lost, sent = session.get("lost_count", nan), session.get("sent_count", nan)
    right = 0 <= lost <= sent
    delays = (f"one_way_delay_{name}_s" for name in ("min", "median", "max"))
    return fact_row(
        group=session.get("group"),
        target=session.get("target"),
        protocol="udp",
        sent_count=sent,
        received_count=sent - lost if right else None,
        duplicate_count=session.get("duplicate_count"),
        **{name: session.get(name) for name in delays},
        printed_loss_ratio=session.get("loss_ratio"),
        loss_ratio=lost / sent if right and sent else None,
        partial=not _is_whole(session),
    )


def _is_whole(session: _Row) -> bool:
    """Whether a direction has its name and its counts."""
    return "sent_count" in session and "group" in session


OWPING = Format(
    name="owping",
    description="the output of owping",
    recognize=seen(
        r"^--- owping statistics from \[[^\]]+\]\S* to \[[^\]]+\]|"
        r"^seq_no=\d{1,10}\s+(?:delay=|\*LOST\*)|^one-way delay min/median/max = |"
        r"^\d+ sent, \d+ lost \([\d.]+%\), \d+ duplicates\s*$"
    ),
    parts=(
        r"^SID:\s[0-9a-f]{32}$|^(?:first|last):\s\d{4}-\d\d-\d\dT|^one-way jitter = |"
        r"^hops = \d+ \(consistently\)|^TTL not reported$|^no reordering$|^Percentiles:$",
    ),
    needs="the lines of its counts and delays",
    read=_read_owping,
    traps=(
        "A delay is one way: it is the difference of two clocks, and can be negative.",
        "err is what the clocks may be wrong by; without it they were not synchronized, and only "
        "differences of delays are certain.",
        "The jitter is the 95th percentile less the median, not that of RTP.",
        "With -v each packet has a row; the statistics behind them name their direction.",
        "The unit of a time is the one printed: ns, us, ms or s.",
    ),
    tools={"owping": Counted(probes=MeasuringPoint("udp", "UDP datagrams", RECEIVER, ONE_WAY))},
)


class _Twping(ProbeReader):
    tool = "twping"
    protocol = "udp"
    marks = (
        r"^--- twping statistics from \[|^round-trip time min/median/max = |"
        r"^\d+ sent, \d+ lost \([\d.]+%\), \d+ send duplicates"
    )
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

    def accepts(self, line: ToolLine) -> bool:
        """Whether a run has begun, or does with counts or round trips."""
        return self.current is not None or line.kind in ("head", "totals", "round_trip")

    def head(self, line: ToolLine) -> None:
        """Begin a run."""
        super().head(line)
        self.run.target = shorten(self.run.target, 100)

    def totals(self, line: ToolLine) -> None:
        """Keep the counts, of which the replies are what was not lost."""
        super().totals(line)
        self.run.ended &= bool(self.run.target)
        received = line["sent"] - line["lost"]
        self.run.received = received if received >= 0 else None

    def round_trip(self, line: ToolLine) -> None:
        """Keep the round trips."""
        self.run.rtt_min_s, self.run.rtt_max_s = line["rtt_min_s"], line["rtt_max_s"]
        self.run.rtt_median_s = line["rtt_median_s"]

    def one_way(self, line: ToolLine) -> None:
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
    parts=(
        r"^(?:send|reflect) time min/median/max = |^(?:two-way|send|reflect) jitter = |"
        r"^reflector processing time min/max = ",
    ),
    needs="the lines of its counts, or of the round-trip time",
)


_PREFIX = r"(?:sockperf: ?)?\s*"
_DECIMAL = r"\d{1,18}\.?\d{0,18}"
_WHOLE = r"[0-9]{1,18}"
_SIZE = rf"--msg-size=(?P<payload_bytes>{_WHOLE})(?![0-9])"
_LOG = r"packet, ?txTime\(\w+\), ?rxTime\(\w+\), ?(?P<what>latency|rtt)\(usec\)"
_OBSERVED = re.compile(r"-> (?:percentile |<M(?:AX|IN)> observation)")
_ONE_WAY = re.compile(r"Summary: (?:Message Rate|BandWidth) is")


class _Sockperf(ProbeReader):
    """Its summary, and the log of each packet; a latency is half a round trip, an rtt is one."""

    tool = "sockperf"
    marks = rf"^sockperf: |^{_LOG}"
    table = LineTable(
        reads_cut=True,
        multiplies=True,
        about=(
            rf".*== version #{{version}}(?:.*{_SIZE})?",
            rf".*{_SIZE}",
            rf"\[ *{_WHOLE}\] IP = {{target}}\s+PORT = +{_WHOLE} +# (?P<protocol>\w+)",
        ),
        totals=rf"{_PREFIX}\[(?:(?P<whole>Total Run)|Valid Duration)\] "
        rf"RunTime=(?P<duration_s>{_DECIMAL}) sec;.*?"
        rf"SentMessages=(?P<sent>{_WHOLE}); ReceivedMessages=(?P<received>{_WHOLE})",
        mean=(
            rf"{_PREFIX}=+> avg-(?P<what>latency|lat|rtt)= *(?P<mean_us>{_DECIMAL})",
            rf"{_PREFIX}Summary: (?P<what>Latency|Round trip) (?:is|of \S+ is) *"
            rf"(?P<mean_us>{_DECIMAL}) usec",
        ),
        heading=_LOG,
        dropped=rf"{_PREFIX}# dropped messages = (?P<lost>{_WHOLE}); "
        rf"# duplicated messages = (?P<duplicates>{_WHOLE})",
        edge=(
            rf"{_PREFIX}-+> <MIN> observation = *(?P<rtt_min_us>{_DECIMAL})",
            rf"{_PREFIX}-+> <MAX> observation = *(?P<rtt_max_us>{_DECIMAL})",
            rf"{_PREFIX}Total (?P<received>{_WHOLE}) observations;",
            rf"{_PREFIX}-+> percentile +0*50(?:\.0*)? = *(?P<rtt_median_us>{_DECIMAL})",
        ),
        row=rf"(?P<sequence>{_WHOLE}), ?(?P<sent_s>{_DECIMAL}), ?{_DECIMAL}, ?"
        rf"(?P<rtt_us>{_DECIMAL})\s*$",
        unread=r"\d",
        other=r"",
    )

    def __init__(self, file: Input) -> None:
        super().__init__(file)
        self.factor = 0.0  # what makes a printed time a round trip

    def accepts(self, line: ToolLine) -> bool:
        """Whether a row behind its heading is whole."""
        is_row = self.factor and line.kind in ("row", "unread")
        return not is_row or (line.kind == "row" and not self._is_cut(line))

    def _is_cut(self, line: ToolLine) -> bool:
        text = self.file.text
        return line.number == text.numbers[-1] and not text.ends_complete

    def totals(self, line: ToolLine) -> None:
        """Keep the counts of the valid duration, to which the times belong; those of all beside."""
        run, sent, received = self.run, line["sent"], line["received"]
        if "whole" in line:
            run.printed |= {"sent": sent, "received": received, "duration_s": line["duration_s"]}
            if run.sent is not None:
                return
        else:
            run.ended = True
            run.printed |= {"valid_sent": sent, "valid_received": received}
        run.sent, run.received = sent, received

    def heading(self, line: ToolLine) -> None:
        """Take what the times are, which no other line may say otherwise."""
        factor = 1.0 if line["what"] in ("rtt", "Round trip") else 2.0
        if self.factor and factor != self.factor:
            raise self.file.refusal("sockperf-both", line=line.number, field=line["what"])
        self.factor = factor

    def mean(self, line: ToolLine) -> None:
        """Keep the mean."""
        self.heading(line)
        self.run.printed["rtt_mean_s"] = line["mean_s"] * self.factor

    def dropped(self, line: ToolLine) -> None:
        """Keep what was lost or came twice."""
        self.run.duplicates = line["duplicates"]
        self.run.printed |= line.fields

    def edge(self, line: ToolLine) -> None:
        """Keep the least, the median or the largest time, or how many there are."""
        if "received" in line:
            if self.run.received is None:
                self.run.received, self.run.is_of_answers = line["received"], True
        elif self.factor and not self._is_cut(line):
            for name, time_s in line.fields.items():
                setattr(self.run, name, time_s * self.factor)

    def row(self, line: ToolLine) -> None:
        """Add a packet of the log."""
        if self.factor:
            probe = self.probe(line)
            probe.rtt_s *= self.factor
            probe.resolution_s *= self.factor
            probe.sent_s = line["sent_s"]
            self.run.probes.append(probe)

    def unread(self, line: ToolLine) -> None:
        """Pass over a line that begins with a number before the heading of the log."""

    def samples(self) -> RttSamples:
        """Refuse a run without round trips; say that they are twice what is printed."""
        text, run = self.file.text, self.run
        if not run.probes and isnan(run.rtt_min_s) and "rtt_mean_s" not in run.printed:
            one_way = any(_ONE_WAY.search(line) for line in text.lines)
            timed = any(_OBSERVED.search(line) for line in text.lines)
            code = "sockperf-throughput" if one_way else "sockperf-part" if timed else "no-probe"
            raise no_measurement(code, self.file.unpacked, text, tool=self.tool)
        if self.factor == 2.0:
            self.warnings.append(Notice("sockperf-halves", {}))
        return super().samples()


SOCKPERF = _Sockperf.format(
    "sockperf",
    probes=MESSAGES,
    traps=(
        "A latency is half of a measured round trip, unless it ran with --full-rtt: here it is "
        "doubled, and said so.",
        "Times are in microseconds.",
        "The counts of the valid duration belong to the times; those of the total run include "
        "warm-up and cool-down.",
        "A throughput run has no round trip and is refused.",
        "The stamps of the log are of a clock that begins with the run.",
    ),
    parts=(
        r"^\d+, \d+\.\d{9}, \d+\.\d{9}, \d+\.\d{3}\s*$",
        r"^sockperf\[CLIENT\]|^test was performed using the following parameters: --mps",
    ),
    needs="the lines of its summary, or its log",
)
