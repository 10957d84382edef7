"""ndt7 of M-Lab: what its client writes, what its server keeps, rows of BigQuery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import PAYLOAD
from netcalc.readers import places
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import note, shorten
from netcalc.readers.transfers import transfer
from netcalc.samples import FlowSeries, fact_row


@dataclass(slots=True)
class _Test:
    """One direction: its measurements at each end, the last state of TCP, and its end."""

    direction: str
    points: dict[str, list[transfer.Interval]] = field(default_factory=dict)
    last: dict[str, tuple[float, float]] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    is_tcp_of_sender: bool = False
    complete: bool = False
    printed_bps: float = nan
    facts: dict[str, Any] = field(default_factory=dict)


def _recognize(file: Input) -> bool:
    if not file.is_json:
        return False
    keys = file.keys()
    if {"Key", "Value"} <= keys or "ServerFQDN" in keys:
        return True
    marks = (b"AppInfo", b"TCPInfo", b"ServerMeasurements", b"MeanThroughputMbps", b'"MinRTT"')
    return bool(keys & {"AppInfo", "TCPInfo", "Download", "Upload", "a"}) and any(
        mark in file.head for mark in marks
    )


def _read(file: Input) -> FlowSeries:
    tests: dict[str, _Test] = {}
    summary: dict[str, Any] = {}
    server = ""
    odd = 0
    for row in file.json.objects():
        value = member(row, "Value")
        if "Key" in row:
            server = server or words(value, "Server")
            if row["Key"] == "complete" and words(value, "Test") in tests:
                tests[words(value, "Test")].complete = True
            if row["Key"] == "measurement":
                odd += _measurement(tests, value, words(value, "Test"))
        elif "AppInfo" in row or "TCPInfo" in row:
            odd += _measurement(tests, row, words(row, "Test"))
        elif "a" in row:
            _row_of_query(tests, row)
        else:
            odd += _archive(tests, row)
            summary |= _summary(row)
            server = server or words(row, "ServerFQDN")
    _from_summary(tests, summary)
    fault = file.json.fault
    if not tests:
        raise fault or file.refusal("ndt7-nothing")
    warnings = list(file.json.warnings)
    if fault is not None:
        warnings.append(Notice("ndt7-cut", {"line": fault.line}))
        list(tests.values())[-1].complete = False
    note(warnings, "implausible-values", count=odd, name="ElapsedTime")
    ways = [
        transfer.Way(
            test.direction,
            group=name if len(tests) > 1 else "",
            rows=[row for points in test.points.values() for row in points],
        )
        for name, test in tests.items()
    ]
    pairs = zip(tests.values(), ways, strict=True)
    return transfer.series_of(
        file,
        ways,
        warnings,
        facts=[_facts_of_test(test, way.group) for test, way in pairs],
        tool="ndt7",
        target=shorten(server, 100),
        clock="seconds since the start of each direction",
        printed=summary,
        partial=any(not test.complete for test in tests.values()),
    )


def _measurement(tests: dict[str, _Test], row: Mapping[str, Any], name: str, side: str = "") -> int:
    """Add one measurement; return 1 if its time or its bytes go back."""
    if name not in (transfer.DOWNLOAD, transfer.UPLOAD):
        return 0
    test = tests.setdefault(name, _Test(name))
    origin_of = side or words(row, "Origin")
    sends = (origin_of == "server") == (name == transfer.DOWNLOAD)
    tcp = member(row, "TCPInfo")
    if tcp:
        test.tcp, test.is_tcp_of_sender = tcp, sends
    app = member(row, "AppInfo")
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
        transfer.Interval(
            start_s=before_us / 1e6,
            duration_s=(time_us - before_us) / 1e6,
            payload_bytes=size - before_size,
            throughput_bps=8e6 * (size - before_size) / (time_us - before_us),
            side=transfer.SENDER if sends else transfer.RECEIVER,
            rtt_s=number(tcp, "RTT") / 1e6,
            rttvar_s=number(tcp, "RTTVar") / 1e6,
            cwnd_bytes=number(tcp, "SndCwnd") * number(tcp, "SndMSS"),
        )
    )
    return 0


def _archive(tests: dict[str, _Test], row: Mapping[str, Any]) -> int:
    """Add the two directions of a server's document."""
    odd = 0
    for name in ("Download", "Upload"):
        part = member(row, name)
        for list_name, side in (("ServerMeasurements", "server"), ("ClientMeasurements", "client")):
            for measurement in rows(part, list_name):
                odd += _measurement(tests, measurement, name.lower(), side)
        if name.lower() in tests and "EndTime" in part:
            tests[name.lower()].complete = True
    return odd


def _summary(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a client by the way down to each number, with its unit."""
    numbers = {}
    for name in ("Download", "Upload", "DownloadRetrans", "MinRTT", "RTT"):
        part = member(row, name)
        for key, value in (("", part), *((f".{k}", member(part, k)) for k in part)):
            if isinstance(value.get("Value"), int | float) and words(value, "Unit"):
                numbers[name + key] = {"Value": value["Value"], "Unit": value["Unit"]}
    return numbers


def _from_summary(tests: dict[str, _Test], summary: Mapping[str, Any]) -> None:
    rates_first = sorted(summary.items(), key=lambda item: item[1]["Unit"] != "Mbit/s")
    for name, shown in rates_first:  # a test is one that has a rate
        way = name.partition(".")[0].lower()
        if shown["Unit"] == "Mbit/s" and way in (transfer.DOWNLOAD, transfer.UPLOAD):
            test = tests.setdefault(way, _Test(way))
            test.printed_bps, test.complete = 1e6 * shown["Value"], True
        elif name.endswith(".Latency") and shown["Unit"] == "ms" and way in tests:
            tests[way].facts = {"rtt_min_s": shown["Value"] / 1e3}


def _row_of_query(tests: dict[str, _Test], row: Mapping[str, Any]) -> None:
    """Add a row of BigQuery, whose ``a`` has the means: Mbit/s, ms and a ratio."""
    mean = member(row, "a")
    raw = member(row, "raw")
    name = next(
        (n for n in (transfer.DOWNLOAD, transfer.UPLOAD) if member(raw, n.capitalize())), ""
    )
    key = f"{name or 'row'} {len(tests) + 1}"
    test = tests.setdefault(key, _Test(name, complete=True))
    test.printed_bps = 1e6 * number(mean, "MeanThroughputMbps")
    loss = number(mean, "LossRate")
    test.facts = {
        "rtt_min_s": number(mean, "MinRTT") / 1e3,
        "printed_loss_ratio": loss if 0 <= loss <= 1 else nan,
        "congestion_control": words(mean, "CongestionControl"),
    }


def _facts_of_test(test: _Test, group: str) -> dict[str, Any]:
    """Return the facts: the counts of both ends, and the last state of TCP at the server."""
    ends: dict[str, Any] = {}
    for points in test.points.values():
        side = "sent" if points[0].side == transfer.SENDER else "received"
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
    tools={
        # AppInfo without the overhead of WebSocket and TLS, TCPInfo with it
        "ndt7": places.Counted(
            probes=places.MeasuringPoint("tcp", "TCP segments", places.SERVER, places.ROUND_TRIP),
            facts=places.of_sockets(places.SERVER),
            rates=PAYLOAD,
        ),
    },
)
