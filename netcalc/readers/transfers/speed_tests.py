"""Speed tests: of Ookla, speedtest-cli and LibreSpeed, whose units differ, and ndt7 of M-Lab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.rate_layers import HTTP_BODY, PAYLOAD, UNKNOWN
from netcalc.readers import places
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import note, shorten
from netcalc.readers.transfers import transfer
from netcalc.samples import Fact, FlowSeries, fact_row

_LINE = re.compile(
    r"\s*(?P<way>Download|Upload):\s+(?P<rate>\d+(?:\.\d+)?) (?P<prefix>[KMG]?)"
    r"(?P<what>bit/s|byte/s|bps)"
    r"(?:\s+\(data used: (?P<size>\d+(?:\.\d+)?) (?P<size_prefix>[KMG]?)B.*)?.*"
)
_PING = re.compile(r"(?:Ping|Hosted by .*\]|\s*(?:Idle )?Latency): +(?P<ms>\d+(?:\.\d+)?) ms.*")
_DETAILS = re.compile(
    r"\s*(?P<ms>\d+(?:\.\d+)?) ms\s+\(jitter: (?P<jitter>\d+(?:\.\d+)?)ms, "
    r"low: (?P<low>\d+(?:\.\d+)?)ms, high: (?P<high>\d+(?:\.\d+)?)ms\)\s*"
)
_LOST = re.compile(r"\s*Packet Loss:\s+(?P<percent>\d+(?:\.\d+)?)%\s*")


@dataclass(slots=True)
class _Results:
    """The directions of all results, their round trips under load, and the idle round trips."""

    ways: list[transfer.Way] = field(default_factory=list)
    pings: list[dict[str, Fact]] = field(default_factory=list)
    loaded: dict[str, dict[str, Fact]] = field(default_factory=dict)
    """Group of a direction -> facts of its latency."""

    def add(self, direction: str, run: str, total: transfer.Interval) -> None:
        """Add one direction, of which the client counted the total."""
        group = " ".join(part for part in (run, direction) if part)
        way = transfer.Way(direction, group=group)
        side = transfer.RECEIVER if direction == transfer.DOWNLOAD else transfer.SENDER
        way.rows.append(replace(total, side=side))
        way.sent, way.received = (None, total) if direction == transfer.DOWNLOAD else (total, None)
        self.ways.append(way)

    def facts(self) -> list[dict[str, Fact]]:
        """Return a row for each direction, with the round trips under its load, and the pings."""
        rows = (way.facts() | self.loaded.get(way.group, {}) for way in self.ways)
        return [*rows, *self.pings]


def _kind(row: Mapping[str, Any]) -> str:
    """Return whose result an object is; empty if it is not one."""
    if type(member(row, "download").get("bandwidth")) in (int, float):
        return "Ookla"
    flat = all(type(row.get(name)) in (int, float) for name in ("download", "upload", "ping"))
    if not flat:
        return ""
    return "LibreSpeed" if "jitter" in row else "speedtest-cli"


def _recognize_speedtest(file: Input) -> bool:
    if file.is_json:
        return {"download", "upload", "ping"} <= file.keys() or (
            file.seen(r"\"bandwidth\"\s*:") and file.seen(r"\"type\"\s*:\s*\"(?:testStart|ping)\"")
        )
    return file.seen(r"^\s*Download:\s+[\d.]+ [KMG]?(?:bit/s|byte/s|bps)") and file.seen(
        r"^\s*Upload:|^\s*(?:Idle )?Latency:|^Hosted by |^Ping:"
    )


def _read_speedtest(file: Input) -> FlowSeries:
    warnings: list[Notice] = []
    results = _Results()
    tools: dict[str, None] = {}
    start = target = ""
    if file.is_json:
        warnings += file.json.warnings
        rows = [
            row
            for row in file.json.objects()
            if _kind(row) and row.get("type", "result") == "result"
        ]
        for index, row in enumerate(rows, 1):
            run = f"run {index}" if len(rows) > 1 else ""
            tools[_kind(row)] = None
            _read_object(file, row, run, results)
            start = start or words(row, "timestamp")
            target = target or words(member(row, "server"), "host", "name")
        cut = file.json.fault is not None
        if not rows and file.json.fault is not None:
            raise file.json.fault
    else:
        lines, cut = file.text.whole_lines(warnings)
        tools["speedtest"] = None
        note(warnings, "transfer-lines-unread", numbers=_read_text(lines, results))
    if not results.ways:
        raise ReaderError("speedtest-nothing", file=file.name)
    results.ways[-1].partial |= cut
    return transfer.series_of(
        file,
        results.ways,
        warnings,
        facts=results.facts(),
        tool=", ".join(tools),
        target=shorten(target, 100),
        start=shorten(start, 40),
        clock="seconds since the start of each direction",
        partial=cut,
    )


def _read_object(file: Input, row: Mapping[str, Any], run: str, results: _Results) -> None:
    """Add the directions and the latencies of one result."""
    kind = _kind(row)
    for direction in (transfer.DOWNLOAD, transfer.UPLOAD):
        part = member(row, direction)
        if kind == "Ookla":
            rate = 8 * number(part, "bandwidth")  # bytes per second
            size, length = number(part, "bytes"), number(part, "elapsed") / 1e3
        else:
            rate = (1e6 if kind == "LibreSpeed" else 1.0) * number(row, direction)
            size = number(row, "bytes_received" if direction == transfer.DOWNLOAD else "bytes_sent")
            length = nan
            if kind == "speedtest-cli" and 0 < rate < 1e4:
                raise ReaderError(
                    "speedtest-unit", file=file.name, field=direction, value=str(row[direction])
                )
        if rate >= 0:
            results.add(
                direction,
                run,
                transfer.Interval(0.0, length, size if size > 0 else nan, rate),
            )
            if kind == "Ookla":
                results.loaded[results.ways[-1].group] = _trip(member(part, "latency"), "iqm")
    jitter = number(row, "jitter") if kind == "LibreSpeed" else nan
    if kind == "Ookla":
        trip = _trip(member(row, "ping"), "latency")
    else:
        trip = _trip(row, "ping", jitter_ms=jitter)
    if "rtt_s" in trip:
        group = " ".join(part for part in (run, "ping") if part)
        loss = _losses(number(row, "packetLoss"))
        results.pings.append(fact_row(trip, group=group, **loss, partial=False))


def _trip(latency: Mapping[str, Any], name: str, *, jitter_ms: float = nan) -> dict[str, Fact]:
    """Return the facts of a latency in ms; none where it has none, or one below zero."""
    if not number(latency, name) >= 0:
        return {}
    jitter = first if (first := number(latency, "jitter")) >= 0 else jitter_ms
    return fact_row(
        rtt_s=number(latency, name) / 1e3,
        rtt_min_s=number(latency, "low") / 1e3,
        rtt_max_s=number(latency, "high") / 1e3,
        jitter_s=jitter / 1e3 if jitter >= 0 else nan,
    )


def _losses(percent: float) -> dict[str, float]:
    ratio = percent / 100 if 0 <= percent <= 100 else nan
    return {"printed_loss_ratio": ratio, "loss_ratio": ratio}


def _read_text(lines: list[tuple[int, str]], results: _Results) -> list[int]:
    """Add what the lines say; return the numbers of those that are like a result and none."""
    unread = []
    for line_number, line in lines:
        row, ping, lost = _LINE.fullmatch(line), _PING.match(line), _LOST.fullmatch(line)
        details = _DETAILS.fullmatch(line[line.find(":", 0, 20) + 1 :] if ping else line)
        if row:
            bits = 8 if row["what"] == "byte/s" else 1
            rate = float(row["rate"]) * 1000.0 ** transfer.POWERS[row["prefix"]] * bits
            size = nan
            if row["size"]:
                size = float(row["size"]) * 1000.0 ** transfer.POWERS[row["size_prefix"]]
            results.add(
                row["way"].lower(), "", transfer.Interval(payload_bytes=size, throughput_bps=rate)
            )
        elif ping and not results.pings:
            trip = _printed_trip(details) if details else fact_row(rtt_s=float(ping["ms"]) / 1e3)
            results.pings.append(fact_row(trip, group="ping", partial=False))
        elif details and results.ways:
            results.loaded.setdefault(results.ways[-1].group, _printed_trip(details))
        elif lost and results.pings:
            results.pings[-1] |= fact_row(**_losses(float(lost["percent"])))
        elif re.match(r"\s*(?:Download|Upload):\s*(?!.*\]\s+\d+%)", line):
            unread.append(line_number)
    return unread


def _printed_trip(details: re.Match[str]) -> dict[str, Fact]:
    names = {"rtt_s": "ms", "rtt_min_s": "low", "rtt_max_s": "high", "jitter_s": "jitter"}
    return fact_row({name: float(details[group]) / 1e3 for name, group in names.items()})


SPEEDTEST = Format(
    name="speedtest",
    description="the result of a speed test",
    recognize=_recognize_speedtest,
    read=_read_speedtest,
    traps=(
        "bandwidth of Ookla's client is in bytes per second, elapsed in milliseconds.",
        "download of speedtest-cli is in bit/s, that of LibreSpeed in Mbit/s, distinguished by "
        "the jitter that only LibreSpeed has; a rate below 10 kbit/s of the first is refused.",
        "ping is an unloaded round trip in ms; the latency of a direction is that under its load, "
        "its iqm the mean of the middle half. jitter in ms is each tool's own measure of it.",
        "packetLoss in percent is that of UDP probes of Ookla's client, not of its TCP.",
        "A rate is that of the client's end over several streams, by rules of each service.",
        "Lines of progress (jsonl) are not results.",
    ),
    tools={
        # speedtest-cli sums what it reads of each response, and posts; Ookla and LibreSpeed, which
        # has a factor for overhead that a site can set, do not say what is in their results.
        "speedtest-cli": places.Counted(
            probes=places.REQUESTS, facts={"jitter_s": places.PROBES}, rates=HTTP_BODY
        ),
        **dict.fromkeys(
            ("Ookla", "speedtest", "LibreSpeed"),
            places.Counted(
                probes=places.REQUESTS, facts={"jitter_s": places.PROBES}, rates=UNKNOWN
            ),
        ),
    },
)


@dataclass(slots=True)
class _Ndt7Test:
    """One direction: its measurements at each end, the last state of TCP, and its end."""

    direction: str
    points: dict[str, list[transfer.Interval]] = field(default_factory=dict)
    last: dict[str, tuple[float, float]] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    is_tcp_of_sender: bool = False
    complete: bool = False
    printed_bps: float = nan
    facts: dict[str, Any] = field(default_factory=dict)


def _recognize_ndt7(file: Input) -> bool:
    if not file.is_json:
        return False
    keys = file.keys()
    if {"Key", "Value"} <= keys:
        return True
    marks = (b"AppInfo", b"TCPInfo", b"ServerMeasurements", b"MeanThroughputMbps", b'"MinRTT"')
    return bool(keys & {"AppInfo", "TCPInfo", "Download", "Upload", "a"}) and any(
        mark in file.head for mark in marks
    )


def _read_ndt7(file: Input) -> FlowSeries:
    tests: dict[str, _Ndt7Test] = {}
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
        raise fault or ReaderError("ndt7-nothing", file=file.name)
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


def _measurement(
    tests: dict[str, _Ndt7Test], row: Mapping[str, Any], name: str, side: str = ""
) -> int:
    """Add one measurement; return 1 if its time or its bytes go back."""
    if name not in (transfer.DOWNLOAD, transfer.UPLOAD):
        return 0
    test = tests.setdefault(name, _Ndt7Test(name))
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


def _archive(tests: dict[str, _Ndt7Test], row: Mapping[str, Any]) -> int:
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


def _from_summary(tests: dict[str, _Ndt7Test], summary: Mapping[str, Any]) -> None:
    for name, shown in summary.items():
        way = name.partition(".")[0].lower()
        if shown["Unit"] == "Mbit/s" and way in (transfer.DOWNLOAD, transfer.UPLOAD):
            test = tests.setdefault(way, _Ndt7Test(way))
            test.printed_bps, test.complete = 1e6 * shown["Value"], True


def _row_of_query(tests: dict[str, _Ndt7Test], row: Mapping[str, Any]) -> None:
    """Add a row of BigQuery, whose ``a`` has the means: Mbit/s, ms and a ratio."""
    mean = member(row, "a")
    raw = member(row, "raw")
    name = next(
        (n for n in (transfer.DOWNLOAD, transfer.UPLOAD) if member(raw, n.capitalize())), ""
    )
    key = f"{name or 'row'} {len(tests) + 1}"
    test = tests.setdefault(key, _Ndt7Test(name, complete=True))
    test.printed_bps = 1e6 * number(mean, "MeanThroughputMbps")
    loss = number(mean, "LossRate")
    test.facts = {
        "rtt_min_s": number(mean, "MinRTT") / 1e3,
        "printed_loss_ratio": loss if 0 <= loss <= 1 else nan,
        "congestion_control": words(mean, "CongestionControl"),
    }


def _facts_of_test(test: _Ndt7Test, group: str) -> dict[str, Any]:
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


NDT7 = Format(
    name="ndt7",
    description="a measurement of M-Lab's ndt7",
    recognize=_recognize_ndt7,
    read=_read_ndt7,
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
