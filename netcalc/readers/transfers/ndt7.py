"""Measurements of M-Lab's ndt7: lines of its client, the document of its server, BigQuery rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import (
    DOWNLOAD,
    NAN,
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    Way,
    columns_of,
)
from netcalc.readers.transfers._text import origin
from netcalc.samples import FlowSeries, Meta, fact_row


@dataclass(slots=True)
class _Test:
    """One direction: its measurements at each end, the last state of TCP, and its end."""

    direction: str
    points: dict[str, list[Row]] = field(default_factory=dict)
    last: dict[str, tuple[float, float]] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    is_tcp_of_sender: bool = False
    complete: bool = False
    printed_bps: float = NAN
    facts: dict[str, Any] = field(default_factory=dict)


def _recognize(given: Input) -> bool:
    if not given.is_json:
        return False
    keys = given.keys()
    if {"Key", "Value"} <= keys:
        return True
    marks = (b"AppInfo", b"TCPInfo", b"ServerMeasurements", b"MeanThroughputMbps", b'"MinRTT"')
    return bool(keys & {"AppInfo", "TCPInfo", "Download", "Upload", "a"}) and any(
        mark in given.head for mark in marks
    )


def _read(given: Input) -> FlowSeries:
    tests: dict[str, _Test] = {}
    summary: dict[str, Any] = {}
    server = ""
    odd = 0
    for document in given.json.documents:
        for one in document if isinstance(document, list) else [document]:
            if not isinstance(one, dict):
                continue
            value = member(one, "Value")
            if "Key" in one:
                server = server or words(value, "Server")
                if one["Key"] == "complete" and words(value, "Test") in tests:
                    tests[words(value, "Test")].complete = True
                if one["Key"] == "measurement":
                    odd += _measurement(tests, value, words(value, "Test"))
            elif "AppInfo" in one or "TCPInfo" in one:
                odd += _measurement(tests, one, words(one, "Test"))
            elif "a" in one:
                _row_of_query(tests, one)
            else:
                odd += _archive(tests, one)
                summary |= _summary(one)
                server = server or words(one, "ServerFQDN")
    _from_summary(tests, summary)
    if not tests:
        if given.json.fault is not None:
            raise given.json.fault
        raise ReaderError("ndt7-nothing", file=given.name)
    warnings = list(given.json.warnings)
    if given.json.fault is not None:
        warnings.append(Notice("ndt7-cut", {"line": given.json.fault.line}))
        list(tests.values())[-1].complete = False
    if odd:
        warnings.append(Notice("implausible-values", {"count": odd, "name": "ElapsedTime"}))
    ways = []
    for name, test in tests.items():
        way = Way(test.direction, group=name if len(tests) > 1 else "")
        way.rows = [row for points in test.points.values() for row in points]
        for row in way.rows:
            row.group = way.group
        ways.append(way)
    facts = tuple(_facts(test, way.group) for test, way in zip(tests.values(), ways, strict=True))
    return FlowSeries(
        **columns_of(ways),
        meta=Meta(
            tool="ndt7",
            target=shorten(server, 100),
            clock="seconds since the start of each direction",
            printed=summary,
            facts=facts,
            warnings=tuple(warnings),
            partial=any(not test.complete for test in tests.values()),
            **origin(given),
        ),
    )


def _measurement(tests: dict[str, _Test], one: Mapping[str, Any], name: str, side: str = "") -> int:
    """Add one measurement; return 1 if its time or its bytes go back."""
    if name not in (DOWNLOAD, UPLOAD):
        return 0
    test = tests.setdefault(name, _Test(name))
    origin_of = side or words(one, "Origin")
    sends = (origin_of == "server") == (name == DOWNLOAD)
    tcp = member(one, "TCPInfo")
    if tcp:
        test.tcp, test.is_tcp_of_sender = tcp, sends
    app = member(one, "AppInfo")
    size, time_us = number(app, "NumBytes"), number(app, "ElapsedTime")
    if not (size >= 0 and time_us >= 0):  # the server counts only in TCPInfo
        size = number(tcp, "BytesAcked" if sends else "BytesReceived")
        time_us = number(tcp, "ElapsedTime")
    if not (size >= 0 and time_us >= 0):
        return 0
    before_size, before_us = test.last.get(origin_of, (0.0, 0.0))
    if time_us <= before_us or size < before_size:
        return int(time_us < before_us or size < before_size)
    test.last[origin_of] = (size, time_us)
    test.points.setdefault(origin_of, []).append(
        Row(
            start_s=before_us / 1e6,
            duration_s=(time_us - before_us) / 1e6,
            payload_bytes=size - before_size,
            throughput_bps=8e6 * (size - before_size) / (time_us - before_us),
            side=SENDER if sends else RECEIVER,
            rtt_s=number(tcp, "RTT") / 1e6,
            rttvar_s=number(tcp, "RTTVar") / 1e6,
            cwnd_bytes=number(tcp, "SndCwnd") * number(tcp, "SndMSS"),
        )
    )
    return 0


def _archive(tests: dict[str, _Test], one: Mapping[str, Any]) -> int:
    """Add the two directions of a server's document."""
    odd = 0
    for name in ("Download", "Upload"):
        part = member(one, name)
        for list_name, side in (("ServerMeasurements", "server"), ("ClientMeasurements", "client")):
            for row in rows(part, list_name):
                odd += _measurement(tests, row, name.lower(), side)
        if name.lower() in tests and "EndTime" in part:
            tests[name.lower()].complete = True
    return odd


def _summary(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a client by the way down to each number, with its unit."""
    found = {}
    for name in ("Download", "Upload", "DownloadRetrans", "MinRTT", "RTT"):
        part = member(one, name)
        for key, value in (("", part), *((f".{k}", member(part, k)) for k in part)):
            if isinstance(value.get("Value"), int | float) and words(value, "Unit"):
                found[name + key] = {"Value": value["Value"], "Unit": value["Unit"]}
    return found


def _from_summary(tests: dict[str, _Test], summary: Mapping[str, Any]) -> None:
    for name, shown in summary.items():
        way = name.partition(".")[0].lower()
        if shown["Unit"] == "Mbit/s" and way in (DOWNLOAD, UPLOAD):
            test = tests.setdefault(way, _Test(way))
            test.printed_bps, test.complete = 1e6 * shown["Value"], True


def _row_of_query(tests: dict[str, _Test], one: Mapping[str, Any]) -> None:
    """Add a row of BigQuery, whose ``a`` has the means: Mbit/s, ms and a ratio."""
    mean = member(one, "a")
    raw = member(one, "raw")
    name = next((n for n in (DOWNLOAD, UPLOAD) if member(raw, n.capitalize())), "")
    key = f"{name or 'row'} {len(tests) + 1}"
    test = tests.setdefault(key, _Test(name, complete=True))
    test.printed_bps = 1e6 * number(mean, "MeanThroughputMbps")
    loss = number(mean, "LossRate")
    test.facts = {
        "rtt_min_s": number(mean, "MinRTT") / 1e3,
        "printed_loss_ratio": loss if 0 <= loss <= 1 else NAN,
        "congestion_control": words(mean, "CongestionControl"),
    }


def _facts(test: _Test, group: str) -> dict[str, Any]:
    """Return the facts: the counts of both ends, and the last state of TCP at the server."""
    ends: dict[str, Any] = {}
    for points in test.points.values():
        side = "sent" if points[0].side == SENDER else "received"
        size = sum(row.payload_bytes for row in points)
        length = points[-1].start_s + points[-1].duration_s
        ends[f"{side}_byte_count"] = size
        ends[f"{side}_rate_bps"] = 8 * size / length
        ends.setdefault("duration_s", length)
    if test.printed_bps >= 0 and "received_rate_bps" not in ends:
        ends["received_rate_bps"] = test.printed_bps
    tcp = test.tcp
    limits = _limits(tcp) if test.is_tcp_of_sender else {}
    return fact_row(
        group=group,
        direction=test.direction,
        protocol="tcp",
        partial=not test.complete,
        rtt_s=number(tcp, "RTT") / 1e6,
        cwnd_packets=number(tcp, "SndCwnd"),
        mss_bytes=number(tcp, "SndMSS"),
        retransmit_total_count=number(tcp, "TotalRetrans"),
        bytes_acked=number(tcp, "BytesAcked"),
        **limits,
        **{"rtt_min_s": number(tcp, "MinRTT") / 1e6, **test.facts, **ends},
    )


def _limits(tcp: Mapping[str, Any]) -> dict[str, float]:
    """Return what the kernel of the sender says it waited for, as ``ss`` has it; 0 is a number."""
    kernel = {
        "bytes_sent": number(tcp, "BytesSent"),
        "bytes_retransmitted": number(tcp, "BytesRetrans"),
        "busy_s": number(tcp, "BusyTime") / 1e6,
        "receive_window_limited_s": number(tcp, "RWndLimited") / 1e6,
        "send_buffer_limited_s": number(tcp, "SndBufLimited") / 1e6,
    }
    return {name: value for name, value in kernel.items() if value >= 0}


FORMAT = Format(
    name="ndt7",
    description="a measurement of M-Lab's ndt7",
    recognize=_recognize,
    read=_read,
    traps=(
        "NumBytes and ElapsedTime count from the start of a direction: intervals are differences.",
        "Times of TCPInfo and AppInfo are in microseconds, MinRTT of BigQuery in milliseconds.",
        "Origin says which end measured: in a download the client receives.",
        "SndCwnd is in segments of SndMSS bytes.",
        "The summary of the client is in Mbit/s; it counts where no receiver measured.",
        "A direction without the line complete was cut.",
        "BusyTime, RWndLimited and SndBufLimited are of the sender alone: in an upload the "
        "server's say nothing.",
    ),
)
