"""Runs of transfer tools: the intervals of their streams, their totals, their facts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf, isfinite, isnan, nan
from typing import Any

from netcalc.display import show, unit_of_name
from netcalc.messages import Notice
from netcalc.rate_layers import PAYLOAD
from netcalc.readers.document import number
from netcalc.readers.format import Input, columns_of
from netcalc.readers.source import shorten
from netcalc.samples import Fact, FlowSeries, Meta, fact_row
from netcalc.units import show_rate


def xml_root(file: Input) -> ElementTree.Element:
    """Return the root element; a document type is refused, as it may hold entities."""
    text = "\n".join(file.text.whole)
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise file.refusal("xml-document-type")
    document = text.lstrip("\ufeff \t\r\n")  # before its declaration there may be nothing
    try:
        return ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        above = text[: -len(document) or None].count("\n")
        raise file.refusal("damaged-xml", line=above + error.position[0]) from None
    except (ValueError, LookupError, RecursionError):
        raise file.refusal("damaged-xml") from None


UPLOAD, DOWNLOAD = "upload", "download"
"""From the client to the server, and the other way."""

SENDER, RECEIVER = "sender", "receiver"


def side_of(direction: str, *, is_client: bool) -> str:
    """Return which side of a direction the client is, or the server."""
    return SENDER if (direction == UPLOAD) == is_client else RECEIVER


POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
"""Letter before a unit -> the power of 1000 or of 1024 that it stands for."""


def scaled(number: str, prefix: str, base: float = 1000.0) -> float:
    """Return a number with the letter before its unit.

    >>> scaled("1.5", "M"), scaled("2", "K", 1024.0)
    (1500000.0, 2048.0)
    """
    return float(number) * base ** POWERS[prefix]


@dataclass(slots=True)
class Interval:
    """What one side counted in an interval of one stream, or in all of a run: a total.

    The fields are those of :class:`netcalc.samples.FlowSeries`, and the line of the file.
    """

    start_s: float = 0.0
    duration_s: float = nan
    payload_bytes: float = nan
    throughput_bps: float = nan
    group: str = ""
    stream: str = ""
    side: str = ""
    omitted: bool = False
    retransmit_count: float = nan
    cwnd_bytes: float = nan
    rtt_s: float = nan
    rttvar_s: float = nan
    path_mtu_bytes: float = nan
    jitter_s: float = nan
    datagram_count: float = nan
    lost_count: float = nan
    line: int | None = field(default=None, compare=False, repr=False)
    """Line of the file that says so."""


@dataclass(slots=True)
class Way:
    """One direction of one run."""

    direction: str
    protocol: str = ""
    target: str = ""
    group: str = ""
    congestion_control: str = ""
    omitted_s: float = nan
    rtt_s: float = nan
    """Round trip of the handshakes, the median of several streams. [s]"""
    mss_bytes: float = nan
    partial: bool = False
    is_cut_short: bool = False
    """Whether the run ended within an interval, so that the totals count beyond their time."""
    out_of_order_count: float = nan
    """Datagrams that arrived behind later ones."""
    sent: Interval | None = None
    """The total that the sender counted."""
    received: Interval | None = None
    rows: list[Interval] = field(default_factory=list)
    streams: set[str] = field(default_factory=set)

    def facts(self) -> dict[str, Fact]:
        """Return the row of facts: a side without a total has the sum of its intervals."""
        sent, received = (
            self._with_intervals(total, sum_of_side(self.rows, side))
            for total, side in ((self.sent, SENDER), (self.received, RECEIVER))
        )
        any_side = sent or received or Interval()
        lost = received.lost_count if received else nan  # a sender does not know
        datagrams = first_known(
            nan if isnan(lost) or received is None else received.datagram_count,
            sent.datagram_count if sent else nan,
            received.datagram_count if received else nan,
        )
        return fact_row(
            group=self.group,
            target=self.target,
            protocol=self.protocol,
            direction=self.direction,
            stream_count=len(self.streams) or None,
            sent_byte_count=sent.payload_bytes if sent else None,
            received_byte_count=received.payload_bytes if received else None,
            sent_rate_bps=sent.throughput_bps if sent else None,
            received_rate_bps=received.throughput_bps if received else None,
            duration_s=any_side.duration_s,
            omitted_s=self.omitted_s,
            retransmit_count=sent.retransmit_count if sent else None,
            datagram_count=datagrams,
            lost_datagram_count=lost,
            loss_ratio=lost / datagrams if datagrams > 0 else None,
            out_of_order_count=self.out_of_order_count,
            jitter_s=received.jitter_s if received else None,
            rtt_s=self.rtt_s,
            mss_bytes=self.mss_bytes,
            congestion_control=self.congestion_control,
            partial=self.partial,
        )

    def _with_intervals(
        self, total: Interval | None, intervals: Interval | None
    ) -> Interval | None:
        """Return a total; where only the intervals have bytes, with their bytes, rate and time.

        Of a run that ended within an interval, rate and time are those of the intervals.
        """
        if total is None or intervals is None:
            return total or intervals
        timed = replace(
            total, throughput_bps=intervals.throughput_bps, duration_s=intervals.duration_s
        )
        if self.is_cut_short:
            return timed
        if not isnan(total.payload_bytes) or isnan(intervals.payload_bytes):
            return total
        return replace(timed, payload_bytes=intervals.payload_bytes)


def in_order(ways: Mapping[str, Way]) -> list[Way]:
    """Return the directions of a run, the upload first."""
    return [ways[name] for name in (UPLOAD, DOWNLOAD) if name in ways]


def sum_of_side(rows: Iterable[Interval], side: str) -> Interval | None:
    """Return the sum of the intervals that one side counted; None if it counted none.

    Its time is without that of intervals whose lines are missing: their bytes are, too.
    """
    counted = [row for row in rows if row.side == side and not row.omitted]
    if not counted:
        return None
    spans = sorted((row.start_s, row.start_s + row.duration_s) for row in counted)
    total, (begin, until), missing_s = _sum_of(counted), spans[0], 0.0
    for start, end in spans:
        missing_s += start - until if start - until > (end - start) / 10 else 0.0
        until = max(until, end)
    total.duration_s = until - begin - missing_s
    if len(counted) == 1:
        total.throughput_bps = counted[0].throughput_bps  # as printed
    elif total.duration_s > 0:
        bits = 8 * total.payload_bytes
        if isnan(bits):  # of a tool that prints rates alone
            bits = fsum(row.throughput_bps * row.duration_s for row in counted)
        total.throughput_bps = bits / total.duration_s
    return total


def _sum_of(parts: list[Interval]) -> Interval:
    """Return the sum of the counts; unknown where a part is. Rates and jitters are not added."""
    total = Interval()
    for name in ("payload_bytes", "retransmit_count", "datagram_count", "lost_count"):
        setattr(total, name, fsum(getattr(part, name) for part in parts))
    return total


def join_totals(parts: dict[str, Interval]) -> Interval:
    """Return the total of all streams: the line of the tool's own sum, or the sum of the lines."""
    if "SUM" in parts:
        return parts["SUM"]
    each = list(parts.values())
    if len(each) == 1:
        return each[0]
    total = _sum_of(each)
    total.duration_s = max(part.duration_s for part in each)
    total.throughput_bps = fsum(part.throughput_bps for part in each)
    return total


def whole_run(way: Way) -> list[Interval]:
    """Return the whole run as one interval for each side that has a rate."""
    return [
        replace(total, side=side)
        for side, total in ((SENDER, way.sent), (RECEIVER, way.received))
        if total is not None and not isnan(total.throughput_bps)
    ]


def flow_series(
    file: Input,
    runs: list[list[Way]],
    warnings: Sequence[Notice],
    *,
    tool: str,
    partial: bool = False,
    **meta: Any,
) -> FlowSeries:
    """Return the directions of all runs, timed from the start of each run.

    ``partial`` says that the file was cut; of a run that was cut, its directions say so. ``meta``
    is what else is known: version, host, start, what was asked for.
    """
    for index, ways in enumerate(runs, 1):
        for way in ways:
            parts = [f"run {index}"] if len(runs) > 1 else []
            parts += [way.direction] if len(ways) > 1 else []
            way.group = " ".join(parts)
    ways = [way for run in runs for way in run]
    warnings = [*warnings, *_unlikely(ways)]
    if any(way.is_cut_short and (way.sent or way.received) for way in ways):
        warnings = [*warnings, Notice("totals-beyond-intervals")]
    meta = {
        "clock": "seconds since the start of the run",
        "target": ", ".join(dict.fromkeys(way.target for way in ways if way.target)),
        "facts": [way.facts() for way in ways],
        **meta,
    }
    partial |= file.unpacked.grew or any(way.partial for way in ways)
    return series_of(file, ways, warnings, tool=tool, partial=partial, **meta)


_SHORTEST_S = 1.0
"""A time up to this is not impossible, however short the run. [s]"""
_LARGEST_WINDOW = 2.0**32
"""Congestion window that no connection reaches: four times the largest window of TCP. [byte]"""
_ROUNDING = 0.03
"""Share of a total by which the sum of its intervals may differ: they have three digits. [1]"""
_PACKET_BYTES = 1500.0
"""Bytes up to which a rate has too few digits to contradict them. [byte]"""
_LAST_WRITES = {"udp": 1500.0, "tcp": 131072.0}
"""Bytes between the last interval and the end of a run: one write of the usual size. [byte]"""


def agree(
    part: Interval, *, byte_step: float = 1.0, rate_step: float = 0.0, time_step: float = 0.01
) -> bool:
    """Whether the rate is that of the bytes in the time, within the last digits of them."""
    byte_count = max(part.payload_bytes, part.throughput_bps * part.duration_s / 8)
    if not (part.duration_s > 2 * time_step and byte_count > _PACKET_BYTES):
        return True  # too little to tell
    least = 8 * (part.payload_bytes - byte_step) / (part.duration_s + time_step)
    most = 8 * (part.payload_bytes + byte_step) / (part.duration_s - time_step)
    low, high = part.throughput_bps - rate_step, part.throughput_bps + rate_step
    return not (0.98 * least > high or 1.02 * most < low)  # an unknown number contradicts nothing


def _unlikely(ways: Iterable[Way]) -> list[Notice]:
    """Make unknown what cannot be in a run of that length, or beside its intervals; say so."""
    lines: dict[int, list[str]] = {}
    values: dict[str, list[str]] = {}
    warnings = []
    for way in ways:
        for line, name, shown in _impossible(way):
            if line is None:
                values.setdefault(name, []).append(shown)
            else:
                lines.setdefault(line, []).append(f"{name} {shown}")
        warnings += [
            warning
            for side, total in ((SENDER, way.sent), (RECEIVER, way.received))
            if total and (warning := _contradiction(way, side, total))
        ]
    said = [text for texts in lines.values() for text in texts]
    if said:
        warnings.append(Notice("implausible-lines", {"numbers": list(lines), "values": said}))
    for name, shown_values in values.items():
        warnings.append(Notice("impossible-values", {"name": name, "values": shown_values}))
    return warnings


def _impossible(way: Way) -> list[tuple[int | None, str, str]]:
    """Make numbers unknown that cannot be; return the line, the name and the value of each."""
    parts = [*way.rows, *filter(None, (way.sent, way.received))]
    return [*_beyond_limits(way, parts), *_rates_apart(parts)]


def _beyond_limits(way: Way, parts: Sequence[Interval]) -> Iterator[tuple[int | None, str, str]]:
    """Make times longer than the run and absurd windows unknown."""
    ends = [part.start_s + part.duration_s for part in parts]
    length_s = max((end for end in ends if end > 0), default=inf)
    limits = {
        "jitter_s": length_s,
        "rtt_s": max(length_s, _SHORTEST_S),
        "rttvar_s": max(length_s, _SHORTEST_S),
        "cwnd_bytes": _LARGEST_WINDOW,
    }
    for part in (*parts, way):
        for name, limit in limits.items():
            value, unit = getattr(part, name, nan), unit_of_name(name)
            if value > limit:
                setattr(part, name, nan)
                run = f" in a run of {show(length_s, 's')}" if unit == "s" else ""
                line = part.line if isinstance(part, Interval) else None
                yield line, name, show(value, unit, digits=13) + run


def _rates_apart(parts: Iterable[Interval]) -> Iterator[tuple[None, str, str]]:
    """Make bytes and rates unknown that are far apart; lines of a text are compared already."""
    for part in parts:
        bits = 8 * part.payload_bytes, part.throughput_bps * part.duration_s
        is_apart = 3 * min(bits) < max(bits) and not agree(part, time_step=0.1)
        if part.line is None and is_apart:
            size, time = show(part.payload_bytes, "byte"), show(part.duration_s, "s")
            shown = f"{show_rate(part.throughput_bps, PAYLOAD)} of {size} in {time}"
            part.payload_bytes = part.throughput_bps = nan
            yield None, "throughput_bps", shown


def _contradiction(way: Way, side: str, total: Interval) -> Notice | None:
    """Take bytes and rate from the intervals where a total contradicts them, which fill its time.

    One end counted both, and both cannot be right: the intervals are many, the total is one.
    """
    rows = [row for row in way.rows if row.side == side and not row.omitted]
    lengths: dict[str, float] = {}
    for row in rows:
        lengths[row.stream] = lengths.get(row.stream, 0.0) + row.duration_s
    counted = sum_of_side(rows, side)
    if counted is None or way.is_cut_short:
        return None
    longest_s, shortest_s = max(lengths.values()), min(lengths.values())
    is_of_total = abs(longest_s - total.duration_s) < _ROUNDING * total.duration_s
    if not (is_of_total and shortest_s > 0.97 * longest_s):
        return None
    if isnan(total.payload_bytes) or isnan(counted.payload_bytes):
        bits = fsum(row.duration_s * row.throughput_bps for row in rows)
        counted.throughput_bps = bits / longest_s
        printed, summed, unit = total.throughput_bps, counted.throughput_bps, "bit/s"
        tolerance = 0.0
    else:
        printed, summed, unit = total.payload_bytes, counted.payload_bytes, "byte"
        tolerance = _LAST_WRITES.get(way.protocol, 0.0)
    is_of_several = len(lengths) > 1 or total.stream == "SUM" or unit == "bit/s"
    if summed < printed and is_of_several:
        return None  # the lines of a stream may be missing
    if not abs(printed - summed) - _ROUNDING * max(printed, summed) > tolerance:
        return None  # also where one of them is unknown
    total.payload_bytes, total.throughput_bps = counted.payload_bytes, counted.throughput_bps
    return Notice(
        "total-contradicts-intervals",
        {"side": side, "total": show(printed, unit), "intervals": show(summed, unit)},
    )


def series_of(
    file: Input,
    ways: Iterable[Way],
    warnings: Iterable[Notice],
    *,
    facts: Iterable[dict[str, Fact]],
    target: str = "",
    version: str = "",
    **meta: Any,
) -> FlowSeries:
    """Return the intervals of directions, which have their names, with the facts of them."""
    rows = []
    for way in ways:
        for row in way.rows:
            row.group = way.group
            rows.append(row)
    columns = columns_of(Interval, rows)
    del columns["line"]
    return FlowSeries(
        **columns,
        meta=Meta(
            tool_version=shorten(version, 40),
            target=shorten(target, 200),
            facts=tuple(facts),
            warnings=tuple(warnings),
            **file.origin,
            **meta,
        ),
    )


def number_of(text: str) -> float:
    """Return a finite number; nan if the text is none.

    >>> number_of("1e3"), number_of("1_000"), number_of("inf")  # 1_000 is Python's, of no tool
    (1000.0, nan, nan)
    """
    try:
        value = nan if "_" in text else float(text)
    except ValueError:
        return nan
    return value if isfinite(value) else nan


def above_0(row: Mapping[str, Any], name: str) -> float:
    """Return a number of an object; nan where it is missing, 0 or less."""
    value = number(row, name)
    return value if value > 0 else nan


def first_known(*values: float) -> float:
    """Return the first of these that is a number."""
    return next((value for value in values if not isnan(value)), nan)
