"""Results of pScheduler (perfSONAR): throughput, round trips, one-way delays, routes.

``pscheduler task`` prints text; ``--format json`` and an archive have the same numbers as JSON.
Times of round trips are ISO 8601 durations there (``PT0.0123S``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import isnan, nan
from statistics import median
from typing import Any

from netcalc.messages import Notice
from netcalc.readers import document
from netcalc.readers.format import Format, Input
from netcalc.readers.paths.traces import HopProbe, Trace
from netcalc.readers.paths.traces import to_samples as path_samples
from netcalc.readers.places import (
    ICMP_PROBES,
    ONE_WAY,
    RECEIVER,
    SEGMENTS,
    TO_NODES,
    TRANSPORT,
    Counted,
    MeasuringPoint,
)
from netcalc.readers.source import WholeLines, note
from netcalc.readers.transfers import transfer
from netcalc.samples import Fact, RttSamples, Samples, fact_row

_Object = Mapping[str, Any]
_TEXT = (
    r"^Interval {4,}Throughput {4,}(?:Retransmits|Lost / Sent|Sent/Lost)",
    r"^Packets Sent \.{3,} \d",
    r"^Delay Median \.{3,} -?\d",
    r"^\d+\t.*\bRTT +\d+\.\d{4} ms *$",
    r"^\d+% Packet Loss {2}RTT Min/Mean/Max/StdDev = ",
    r"^\d+\t(?:\S+ \([\d.:a-f]+\)|[\d.:a-f]+)(?: AS\d+)? \d+(?:\.\d+)? ms(?: mtu \d+ bytes)? *$",
)


def _result(file: Input) -> _Object:
    """Return the result in a document, which an archive has beside its task."""
    first = file.first_object
    inner = document.member(first, "result")
    return inner if inner else first


def _recognize(file: Input) -> bool:
    if not file.is_json:
        return any(map(file.seen, _TEXT))
    result = _result(file)
    return "succeeded" in result and bool(
        result.keys() & {"intervals", "roundtrips", "packets-sent", "paths"}
    )


def _read(file: Input) -> Samples:
    if file.is_json:
        return _read_json(file, _result(file))
    if file.seen(_TEXT[0]):
        return _throughput_of_text(file)
    if file.seen(_TEXT[1]) or file.seen(_TEXT[2]):
        return _delays_of_text(file)
    return _path_of_text(file) if file.seen(_TEXT[-1]) else _round_trips_of_text(file)


_DELAY = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
"""A delay of a histogram, as Python writes it. [ms]"""


def _read_json(file: Input, result: _Object) -> Samples:
    warnings = list(file.json.warnings)
    failed = result.get("succeeded") is not True
    if "paths" in result:
        return _paths(file, result, failed=failed)
    if "roundtrips" in result:
        trips = document.rows(result, "roundtrips")
        odd = [row for row in trips if _has_odd_rtt(row)]
        note(warnings, "implausible-values", count=len(odd), name="rtt")
        trips = [row for row in trips if row not in odd]
        rtts = [_seconds(row.get("rtt")) for row in trips]
        counts = (document.number(result, name) for name in ("sent", "received"))
        ttls = [document.number(row, "ttl") for row in trips]
        return _round_trips(file, rtts, ttls, *counts, warnings=warnings, failed=failed)
    if "packets-sent" in result:
        counts = (document.number(result, f"packets-{name}") for name in _COUNTS)
        histogram = document.member(result, "histogram-latency")
        delays = {
            transfer.number_of(delay) if _DELAY.fullmatch(delay) else nan:
                document.number(histogram, delay)
            for delay in histogram
        }  # fmt: skip
        odd_count = sum(isnan(delay) or isnan(count) for delay, count in delays.items())
        note(warnings, "implausible-values", count=odd_count, name="histogram-latency")
        delays = {delay: count for delay, count in delays.items() if not isnan(delay)}
        return _delays(file, dict(zip(_COUNTS, counts, strict=True)), delays, {}, warnings)
    way = transfer.Way("", partial=failed)
    for interval in document.rows(result, "intervals"):
        for stream in document.rows(interval, "streams"):
            way.rows.append(_row(stream))
    summary = document.member(document.member(result, "summary"), "summary")
    if summary:
        way.sent = _row(summary)
        received = document.number(summary, "receiver-throughput-bits")
        if not isnan(received):
            way.received = transfer.Interval(0.0, way.sent.duration_s, throughput_bps=received)
    way.mss_bytes = transfer.above_0(result, "mss-size")
    return _transfer(file, way, warnings)


def _row(block: _Object) -> transfer.Interval:
    start, end = document.number(block, "start"), document.number(block, "end")
    stream = block.get("stream-id", "")
    return transfer.Interval(
        start_s=start,
        duration_s=end - start if end >= start else nan,
        throughput_bps=document.number(block, "throughput-bits"),
        stream=str(stream),
        side=transfer.SENDER,
        omitted=block.get("omitted") is True,
        retransmit_count=document.number(block, "retransmits"),
        cwnd_bytes=transfer.above_0(block, "tcp-window-size"),
        rtt_s=transfer.above_0(block, "rtt") / 1e6,
        jitter_s=document.number(block, "jitter") / 1e3,
        datagram_count=document.number(block, "sent"),
        lost_count=document.number(block, "lost"),
    )


def _transfer(file: Input, way: transfer.Way, warnings: list[Notice]) -> Samples:
    """Return a test of throughput; the losses of its summary are the receiver's."""
    if not (way.rows or way.sent):
        raise file.refusal("pscheduler-nothing")
    counts = [row.datagram_count for row in (*way.rows, *filter(None, [way.sent]))]
    way.protocol = "tcp" if all(map(isnan, counts)) else "udp"
    way.streams = {row.stream for row in way.rows if row.stream}
    way.partial |= way.sent is None
    total = way.sent
    if total is not None and not isnan(total.lost_count):
        way.received = way.received or transfer.Interval()
        way.received.lost_count, way.received.jitter_s = total.lost_count, total.jitter_s
        way.received.datagram_count = total.datagram_count
    for row in (*way.rows, *filter(None, [way.received])):
        if row.lost_count > row.datagram_count:
            row.lost_count = nan
    way.rows = way.rows or transfer.whole_run(way)
    return transfer.flow_series(file, [[way]], warnings, tool="pScheduler (throughput)")


_INTERVAL = re.compile(
    r"(?P<start>\d+\.\d+) - (?P<end>\d+\.\d+)\s+"
    r"(?P<rate>\d+\.\d+) ?(?P<prefix>[KMGT]?)bps(?P<rest>.*)"
)
_STREAM = re.compile(r"\* Stream ID (?P<id>\S+)(?P<is_summary> Summary)?\s*")
_END = r"\s*(?:\(omitted\))?\s*"
_RETRANSMITS = re.compile(
    r"(?:\s+(?:(?P<count>\d{1,15})|Not Reported)"
    r"(?:\s+(?:Not Reported|(?P<window>\d+\.\d+) (?P<power>[KMG]?)Bytes))?"
    rf"(?:\s+(?P<received>\d+\.\d+) (?P<prefix>[KMGT]?)bps)?)?{_END}"
)
_LOSSES = re.compile(
    r"(?:\s+(?P<first>\d{1,15}) / (?P<second>\d{1,15})"
    rf"(?:\s+Jitter: (?P<jitter>\d+(?:\.\d+)?) ms)?)?{_END}"
)
"""What is behind the rate of an interval; nothing, where its tool counts nothing else."""


def _throughput_of_text(file: Input) -> Samples:
    way, stream, header, is_summary = transfer.Way(""), "", "", False
    lines = WholeLines(file.text, padded=True)
    for number, line in lines:
        if title := _STREAM.fullmatch(line):
            stream, is_summary = title["id"], bool(title["is_summary"])
        elif line.strip() == "Summary":
            stream, is_summary = "", True
        elif line.startswith("Interval "):
            header = line
        elif interval := _INTERVAL.fullmatch(line):
            row, received, is_whole = _row_of_text(interval, header, stream)
            row.line = number
            if not is_whole:
                lines.unread.append(number)
            if not is_summary:
                way.rows.append(row)
            elif not stream:
                way.sent = row
                if not isnan(received):
                    way.received = transfer.Interval(0, row.duration_s, throughput_bps=received)
        elif "bps" in line or " - " in line:
            lines.unread.append(number)
    way.partial = lines.cut
    return _transfer(file, way, lines.with_unread())


def _row_of_text(
    line: re.Match[str], header: str, stream: str
) -> tuple[transfer.Interval, float, bool]:
    """Return an interval, the rate of the receiver where the line has it, and if it is whole."""
    start, received = float(line["start"]), nan
    row = transfer.Interval(
        start_s=start,
        duration_s=round(float(line["end"]) - start, 6),
        throughput_bps=round(transfer.scaled(line["rate"], line["prefix"]), 3),
        stream=stream,
        side=transfer.SENDER,
        omitted="(omitted)" in line["rest"],
    )
    said = (_RETRANSMITS if "Retransmits" in header else _LOSSES).fullmatch(line["rest"])
    if said is None:
        return row, received, False
    if "Retransmits" in header:
        row.retransmit_count = float(said["count"] or nan)
        if said["window"]:
            row.cwnd_bytes = round(transfer.scaled(said["window"], said["power"]))
        if said["received"]:
            received = round(transfer.scaled(said["received"], said["prefix"]), 3)
    elif said["first"]:
        counts = float(said["first"]), float(said["second"])
        row.lost_count, row.datagram_count = counts if "Lost / Sent" in header else counts[::-1]
        row.jitter_s = float(said["jitter"] or nan) / 1e3
    return row, received, True


_DURATION = re.compile(r"PT(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?")


def _seconds(text: Any) -> float:
    """Return an ISO 8601 duration in seconds; nan for anything else.

    >>> _seconds("PT0.0123S"), _seconds("PT1M2S"), _seconds("PT")
    (0.0123, 62.0, nan)
    """
    parts = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if parts is None or not any(parts.groups()):
        return nan
    return 3600.0 * int(parts["h"] or 0) + 60.0 * int(parts["m"] or 0) + float(parts["s"] or 0)


_TRIP = re.compile(
    r"(?P<number>\d+)\t(?P<host>\S(?:(?! {2}).)*?)(?: {2}\d+ Bytes)?(?: {2}TTL (?P<ttl>\d+))?"
    r"(?: {2}RTT +(?P<rtt>\d+\.\d{4}) ms)?(?:: (?P<error>.*))?\s*"
)


def _round_trips_of_text(file: Input) -> Samples:
    like = r"(?!.*% Packet Loss).*(?: RTT |\t)"
    trips, lines = _matches(file, [_TRIP], like, closed=r".* ms")
    if not trips:
        raise file.refusal("pscheduler-nothing")
    rtts = [round(float(trip["rtt"] or nan) / 1e3, 9) for trip in trips]
    ttls = [float(trip["ttl"] or nan) for trip in trips]
    failed = lines.cut or not any("% Packet Loss" in line for line in file.text.lines)
    return _round_trips(file, rtts, ttls, nan, nan, warnings=lines.with_unread(), failed=failed)


def _matches(
    file: Input, patterns: Sequence[re.Pattern[str]], like: str, *, closed: str
) -> tuple[list[re.Match[str]], WholeLines]:
    """Return the lines that a pattern describes, and all lines.

    Those that are only ``like`` them are unread; a last line that ends as ``closed`` is whole.
    """
    matches: list[re.Match[str]] = []
    lines = WholeLines(file.text, closed=re.compile(closed))
    for number, line in lines:
        if match := next(filter(None, (pattern.fullmatch(line) for pattern in patterns)), None):
            matches.append(match)
        elif re.match(like, line):
            lines.unread.append(number)
    return matches, lines


def _loss_ratio(sent: float, received: float) -> float:
    return 1 - received / sent if 0 <= received <= sent and sent > 0 else nan


def _round_trips(
    file: Input, rtts: list[float], ttls: list[float], sent: float, received: float, *,
    warnings: list[Notice], failed: bool,
) -> RttSamples:  # fmt: skip
    timed = [rtt for rtt in rtts if not isnan(rtt)]
    sent = transfer.first_known(sent, float(len(rtts)))
    received = transfer.first_known(received, float(len(timed)))
    row = fact_row(
        protocol="icmp", sent_count=sent, received_count=received,
        loss_ratio=_loss_ratio(sent, received),
        rtt_min_s=min(timed, default=nan),
        rtt_median_s=median(timed) if timed else nan, rtt_max_s=max(timed, default=nan),
        partial=failed,
    )  # fmt: skip
    return RttSamples(
        payload_bytes=[nan] * len(rtts),
        rtt_s=rtts,
        ttl=ttls,
        sequence=[float(number) for number in range(1, len(rtts) + 1)],
        lost=[isnan(rtt) for rtt in rtts],
        meta=file.meta(
            "pScheduler (rtt)", [], partial=failed, facts=(row,), warnings=tuple(warnings)
        ),
    )


_COUNTS = ("sent", "received", "lost", "duplicated", "reordered")
_STATISTIC = re.compile(
    r"\s*(?P<name>Packets \w+|Delay (?:Median|Minimum|Maximum)|Max Clock Error) \.+ "
    r"(?P<value>-?\d+(?:\.\d+)?)(?: packets| ms)?\s*"
)
_BUCKET = re.compile(r" +(?P<delay>-?\d+(?:\.\d+)?) ms: (?P<count>\d+) packets\s*")


def _delays_of_text(file: Input) -> Samples:
    like = r"Packets|Delay M(?:ed|in|ax)|Max |.* ms: |\s+\S*\.\S*: .* packets"
    said, lines = _matches(file, [_STATISTIC, _BUCKET], like, closed=r".*(?:ms|packets)")
    printed = {
        line["name"].split()[-1].lower(): float(line["value"])
        for line in said
        if line.re is _STATISTIC
    }
    delays = {float(line["delay"]): float(line["count"]) for line in said if line.re is _BUCKET}
    return _delays(file, printed, delays, printed, lines.with_unread())


def _delays(
    file: Input,
    counts: Mapping[str, float],
    delays: Mapping[float, float],
    printed: Mapping[str, float],
    warnings: list[Notice],
) -> Samples:
    """Return a histogram of one-way delays; its bins have the width that the tool was asked for."""
    rows = sorted((ms / 1e3, count) for ms, count in delays.items() if count > 0)
    sent, received = counts.get("sent", nan), counts.get("received", nan)
    middle_s = printed.get("median", nan) / 1e3
    if isnan(middle_s) and rows:
        half = sum(count for _, count in rows) / 2
        passed = accumulate(count for _, count in rows)
        middle_s = next(
            delay for (delay, _), count in zip(rows, passed, strict=True) if count >= half
        )
    facts: dict[str, Fact] = fact_row(
        protocol="udp", sent_count=sent, received_count=received,
        duplicate_count=counts.get("duplicated", nan),
        loss_ratio=_loss_ratio(sent, received),
        out_of_order_count=counts.get("reordered", nan),
        one_way_delay_min_s=rows[0][0] if rows else printed.get("minimum", nan) / 1e3,
        one_way_delay_median_s=middle_s,
        one_way_delay_max_s=rows[-1][0] if rows else printed.get("maximum", nan) / 1e3,
        partial=isnan(sent),
    )  # fmt: skip
    if isnan(sent) and not rows and isnan(middle_s):
        raise file.refusal("pscheduler-nothing")
    return file.table(
        "pScheduler (latency)",
        {"one_way_delay_s": [delay for delay, _ in rows], "packet_count": [n for _, n in rows]},
        facts=[facts],
        warnings=warnings,
        clock="the clocks of both hosts",
        partial=isnan(sent),
    )


def _has_odd_rtt(row: _Object) -> bool:
    """Whether a round trip is written, but none: a probe without an answer has no time at all."""
    return row.get("rtt") is not None and isnan(_seconds(row["rtt"]))


def _paths(file: Input, result: _Object, *, failed: bool) -> Samples:
    traces, odd = [], 0
    warnings = list(file.json.warnings)
    paths = result.get("paths")
    for path in paths if isinstance(paths, list) else []:
        hops = [hop for hop in path if isinstance(hop, dict)] if isinstance(path, list) else []
        odd += sum(map(_has_odd_rtt, hops))
        trace = Trace(cut=failed, ended=not failed)
        for number, hop in enumerate(hops, 1):
            rtt_s, node = _seconds(hop.get("rtt")), document.words(hop, "ip", "hostname")
            trace.probes.append(
                HopProbe(number, rtt_s, not node, node, document.words(hop, "hostname"))
            )
        if trace.probes:
            traces.append(trace)
    if not traces:
        raise file.refusal("pscheduler-nothing")
    note(warnings, "implausible-values", count=odd, name="rtt")
    return path_samples(file, traces, "pScheduler (trace)", warnings)


_HOP = re.compile(
    r"(?P<number>\d{1,3})\t(?:No Response|(?:(?P<name>\S+) \()?(?P<node>[\d.:a-f]+|NONE)\)?)"
    r"(?: AS\d+)?(?: (?P<rtt>\d+(?:\.\d+)?) ms)?(?: mtu \d+ bytes)?\s*"
)


def _path_of_text(file: Input) -> Samples:
    traces: list[Trace] = []
    like = r"\s*\S.*\t|\d"
    hops, lines = _matches(file, [_HOP], like, closed=r".* (?:ms|bytes|Response)")
    for hop in hops:
        if not traces or float(hop["number"]) <= traces[-1].last_hop:
            traces.append(Trace(cut=lines.cut, ended=True))
        node = "" if hop["node"] in (None, "NONE") else hop["node"]
        rtt_s = round(float(hop["rtt"] or nan) / 1e3, 9)
        probe = HopProbe(int(hop["number"]), rtt_s, not node, node, hop["name"] or "")
        traces[-1].probes.append(probe)
    if not traces:
        raise file.refusal("pscheduler-nothing")
    return path_samples(file, traces, "pScheduler (trace)", lines.with_unread())


FORMAT = Format(
    name="pScheduler",
    description="a result of pScheduler (perfSONAR)",
    recognize=_recognize,
    read=_read,
    traps=(
        "bps with K, M, G count powers of 1000, and so do its Bytes of a window.",
        "The summary of a stream is no stream; that of all is the total, of the sender.",
        "Lost / Sent and, in older versions, Sent/Lost: the header says the order.",
        "Source and destination are not in a result.",
        "Times in JSON are ISO 8601 durations; the histogram of delays is in milliseconds.",
        "A delay is one way, the difference of two clocks; a bin has the width that was asked for.",
    ),
    tools={
        "pScheduler (throughput)": Counted(probes=SEGMENTS, rates=TRANSPORT, loss_at_receiver=True),
        "pScheduler (rtt)": Counted(probes=ICMP_PROBES),
        "pScheduler (latency)": Counted(
            probes=MeasuringPoint("udp", "UDP datagrams", RECEIVER, ONE_WAY)
        ),
        "pScheduler (trace)": Counted(probes=TO_NODES),
    },
    parts=(
        r"^(?:Packet Statistics|Histogram:|Common Jitter Measurements:)\s*$",
        r"^ +P\d\d - P\d\d \.+ |^ +Variance \.+ ",
        r"^ +\d+(?:\.\d+ ms)?: \d+ packets\s*$",
        r"^MSS: \d+ bytes\s*$|^\d+\tNo Response",
        r"^\* Stream ID \S+(?: Summary)?$",
        r"^(?:Packets|TTL|Delay|Max Clock) [\w ]+ \.{3,} ",
        r"^(?:One-way Latency|TTL) Statistics",
        r"^\d+\.\d - \d+\.\d {2,}\d+\.\d\d [KMGT]?bps ",
    ),
    needs="the line that begins with Interval and those below it, or Packets Sent",
)
