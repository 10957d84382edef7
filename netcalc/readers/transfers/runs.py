"""Runs of transfer tools: the intervals of their streams, their totals, their facts."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.source import shorten
from netcalc.samples import Fact, FlowSeries, Meta, fact_row


def whole_lines(
    given: Input, warnings: list[Notice], *, padded: bool = False
) -> tuple[list[tuple[int, str]], bool]:
    """Return the numbered lines, and whether the last one was left out because it is cut.

    The lines of a tool that are ``padded`` with blanks are whole if they end in one.
    """
    text = given.text
    warnings += text.warnings
    found = list(zip(text.numbers, text.lines, strict=True))
    while found and not found[-1][1].strip():
        found.pop()
    if found and not text.ends_complete and not (padded and found[-1][1][-1:].isspace()):
        number, _ = found.pop()
        warnings.append(Notice("last-line-cut", {"number": number}))
        return found, True
    return found, False


def origin(given: Input) -> dict[str, Any]:
    """Return the name and the hash of the source for ``Meta``."""
    source = given.unpacked
    return {"source": source.name if source.is_file else "", "sha256": source.sha256}


def xml_root(given: Input) -> ElementTree.Element:
    """Return the root element; a document type is refused, as it may hold entities."""
    text = "\n".join(given.text.whole)
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise ReaderError("xml-document-type", file=given.name)
    try:
        return ElementTree.fromstring(text.lstrip("\ufeff"))
    except ElementTree.ParseError as error:
        raise ReaderError("damaged-xml", file=given.name, line=error.position[0]) from None
    except (ValueError, LookupError, RecursionError):
        raise ReaderError("damaged-xml", file=given.name) from None


UPLOAD, DOWNLOAD = "upload", "download"
"""From the client to the server, and the other way."""

SENDER, RECEIVER = "sender", "receiver"

NAN = math.nan


@dataclass(slots=True)
class Row:
    """One interval of one stream, as :class:`netcalc.samples.FlowSeries` has it."""

    start_s: float
    duration_s: float
    payload_bytes: float = NAN
    throughput_bps: float = NAN
    group: str = ""
    stream: str = ""
    side: str = ""
    omitted: bool = False
    retransmit_count: float = NAN
    cwnd_bytes: float = NAN
    rtt_s: float = NAN
    rttvar_s: float = NAN
    path_mtu_bytes: float = NAN
    jitter_s: float = NAN
    datagram_count: float = NAN
    lost_count: float = NAN


COLUMNS = tuple(one.name for one in fields(Row))


@dataclass(slots=True)
class Total:
    """What one side counted of all streams of one direction."""

    byte_count: float = NAN
    duration_s: float = NAN
    rate_bps: float = NAN
    retransmit_count: float = NAN
    jitter_s: float = NAN
    datagram_count: float = NAN
    lost_count: float = NAN


@dataclass(slots=True)
class Way:
    """One direction of one run."""

    direction: str
    protocol: str = ""
    target: str = ""
    group: str = ""
    congestion_control: str = ""
    omitted_s: float = NAN
    rtt_s: float = NAN
    """Round trip of the handshakes, the median of several streams. [s]"""
    mss_bytes: float = NAN
    partial: bool = False
    is_cut_short: bool = False
    """Whether the run ended within an interval, so that the totals count beyond their time."""
    sent: Total | None = None
    received: Total | None = None
    rows: list[Row] = field(default_factory=list)
    streams: set[str] = field(default_factory=set)

    def facts(self) -> dict[str, Fact]:
        """Return the row of facts: a side without a total has the sum of its intervals."""
        sent, received = (
            _fill(total, sum_of_side(self.rows, side), timed=not self.is_cut_short)
            for total, side in ((self.sent, SENDER), (self.received, RECEIVER))
        )
        any_side = sent or received or Total()
        lost = received.lost_count if received else NAN  # a sender does not know
        datagrams = first_known(
            NAN if math.isnan(lost) or received is None else received.datagram_count,
            sent.datagram_count if sent else NAN,
            received.datagram_count if received else NAN,
        )
        return fact_row(
            group=self.group,
            target=self.target,
            protocol=self.protocol,
            direction=self.direction,
            stream_count=len(self.streams) or None,
            sent_byte_count=sent.byte_count if sent else None,
            received_byte_count=received.byte_count if received else None,
            sent_rate_bps=sent.rate_bps if sent else None,
            received_rate_bps=received.rate_bps if received else None,
            duration_s=any_side.duration_s,
            omitted_s=self.omitted_s,
            retransmit_count=sent.retransmit_count if sent else None,
            datagram_count=datagrams,
            lost_datagram_count=lost,
            loss_ratio=lost / datagrams if datagrams > 0 else None,
            jitter_s=received.jitter_s if received else None,
            rtt_s=self.rtt_s,
            mss_bytes=self.mss_bytes,
            congestion_control=self.congestion_control,
            partial=self.partial,
        )


def sum_of_side(rows: Iterable[Row], side: str) -> Total | None:
    """Return the sum of the intervals that one side counted; None if it counted none."""
    chosen = [row for row in rows if row.side == side and not row.omitted]
    if not chosen:
        return None
    begin = min(row.start_s for row in chosen)
    length = max(row.start_s + row.duration_s for row in chosen) - begin
    total = Total(byte_count=_sum(row.payload_bytes for row in chosen), duration_s=length)
    total.rate_bps = 8 * total.byte_count / length if length > 0 else NAN
    total.retransmit_count = _sum(row.retransmit_count for row in chosen)
    total.datagram_count = _sum(row.datagram_count for row in chosen)
    total.lost_count = _sum(row.lost_count for row in chosen)
    return total


def _fill(total: Total | None, intervals: Total | None, *, timed: bool) -> Total | None:
    """Return a total; its bytes, rate and time are those of the intervals if only they have any.

    Of a total that is not ``timed`` rate and time are those of the intervals.
    """
    if total is None or intervals is None:
        return total or intervals
    if not timed:
        return replace(total, rate_bps=intervals.rate_bps, duration_s=intervals.duration_s)
    if not math.isnan(total.byte_count) or math.isnan(intervals.byte_count):
        return total
    return replace(
        total,
        byte_count=intervals.byte_count,
        rate_bps=intervals.rate_bps,
        duration_s=intervals.duration_s,
    )


def total_of(row: Row) -> Total:
    """Return what a line says as a total."""
    return Total(
        byte_count=row.payload_bytes,
        duration_s=row.duration_s,
        rate_bps=row.throughput_bps,
        retransmit_count=row.retransmit_count,
        jitter_s=row.jitter_s,
        datagram_count=row.datagram_count,
        lost_count=row.lost_count,
    )


def join_totals(parts: dict[str, Total]) -> Total:
    """Return the total of all streams: the line of the tool's own sum, or the sum of the lines."""
    if "SUM" in parts:
        return parts["SUM"]
    if len(parts) == 1:
        return next(iter(parts.values()))
    each = list(parts.values())
    return Total(
        byte_count=math.fsum(one.byte_count for one in each),
        duration_s=max(one.duration_s for one in each),
        rate_bps=math.fsum(one.rate_bps for one in each),
        retransmit_count=math.fsum(one.retransmit_count for one in each),
        datagram_count=math.fsum(one.datagram_count for one in each),
        lost_count=math.fsum(one.lost_count for one in each),
    )


def columns_of(ways: Iterable[Way]) -> dict[str, list[Any]]:
    """Return the intervals of all directions by column."""
    rows = [row for way in ways for row in way.rows]
    return {name: [getattr(row, name) for row in rows] for name in COLUMNS}


def name_groups(runs: list[list[Way]]) -> None:
    """Give each direction of each run a name, where there is more than one of them."""
    for number, ways in enumerate(runs, 1):
        for way in ways:
            parts = [f"run {number}"] if len(runs) > 1 else []
            parts += [way.direction] if len(ways) > 1 else []
            way.group = " ".join(parts)
            for row in way.rows:
                row.group = way.group


def flow_series(
    given: Input,
    runs: list[list[Way]],
    warnings: Sequence[Notice],
    *,
    tool: str,
    version: str = "",
    partial: bool = False,
    **meta: Any,
) -> FlowSeries:
    """Return the directions of all runs, timed from the start of each run.

    ``partial`` says that the file was cut; of a run that was cut, its directions say so.
    """
    name_groups(runs)
    ways = [way for run in runs for way in run]
    if any(way.is_cut_short and (way.sent or way.received) for way in ways):
        warnings = [*warnings, Notice("totals-beyond-intervals")]
    targets = dict.fromkeys(way.target for way in ways if way.target)
    return FlowSeries(
        **columns_of(ways),
        meta=Meta(
            tool=tool,
            tool_version=shorten(version, 40),
            target=shorten(", ".join(targets), 200),
            clock="seconds since the start of the run",
            facts=tuple(way.facts() for way in ways),
            warnings=tuple(warnings),
            partial=partial or given.unpacked.grew or any(way.partial for way in ways),
            **origin(given),
            **meta,
        ),
    )


def first_known(*values: float) -> float:
    """Return the first of these that is a number."""
    return next((value for value in values if not math.isnan(value)), NAN)


def _sum(values: Iterable[float]) -> float:
    """Return a sum; nan if any part of it is unknown."""
    return math.fsum(values)
