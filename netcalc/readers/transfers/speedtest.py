"""Results of speed tests: Ookla's client, speedtest-cli and LibreSpeed, which differ in units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import (
    DOWNLOAD,
    NAN,
    RECEIVER,
    SENDER,
    UPLOAD,
    Row,
    Total,
    Way,
    columns_of,
)
from netcalc.readers.transfers._text import origin, whole_lines
from netcalc.samples import Fact, FlowSeries, Meta, fact_row

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
_POWERS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}


def _kind(row: Mapping[str, Any]) -> str:
    """Return whose result an object is; empty if it is not one."""
    if type(member(row, "download").get("bandwidth")) in (int, float):
        return "Ookla"
    flat = all(type(row.get(name)) in (int, float) for name in ("download", "upload", "ping"))
    if not flat:
        return ""
    return "LibreSpeed" if "jitter" in row else "speedtest-cli"


def _recognize(given: Input) -> bool:
    if given.is_json:
        return {"download", "upload", "ping"} <= given.keys() or (
            given.seen(r"\"bandwidth\"\s*:")
            and given.seen(r"\"type\"\s*:\s*\"(?:testStart|ping)\"")
        )
    return given.seen(r"^\s*Download:\s+[\d.]+ [KMG]?(?:bit/s|byte/s|bps)") and given.seen(
        r"^\s*Upload:|^\s*(?:Idle )?Latency:|^Hosted by |^Ping:"
    )


def _read(given: Input) -> FlowSeries:
    warnings: list[Notice] = []
    ways: list[Way] = []
    pings: list[dict[str, Fact]] = []
    loaded: dict[str, dict[str, Fact]] = {}
    tools: dict[str, None] = {}
    start = target = ""
    if given.is_json:
        warnings += given.json.warnings
        documents = [
            one
            for document in given.json.documents
            for one in (document if isinstance(document, list) else [document])
            if isinstance(one, dict) and _kind(one) and one.get("type", "result") == "result"
        ]
        for index, one in enumerate(documents, 1):
            run = f"run {index}" if len(documents) > 1 else ""
            tools[_kind(one)] = None
            _read_object(given, one, run, ways, pings, loaded)
            start = start or words(one, "timestamp")
            server = member(one, "server")
            target = target or words(server, "host", "name")
        cut = given.json.fault is not None
        if cut and not documents and given.json.fault is not None:
            raise given.json.fault
    else:
        lines, cut = whole_lines(given, warnings)
        tools["speedtest"] = None
        unread = _read_text(lines, ways, pings, loaded)
        if unread:
            warnings.append(Notice("transfer-lines-unread", {"numbers": unread}))
    if not ways:
        raise ReaderError("speedtest-nothing", file=given.name)
    if cut:
        ways[-1].partial = True
    partial = any(way.partial for way in ways)
    return FlowSeries(
        **columns_of(ways),
        meta=Meta(
            tool=", ".join(tools),
            target=shorten(target, 100),
            start=shorten(start, 40),
            clock="seconds since the start of each direction",
            facts=(*(_facts(way, loaded.get(way.group, {})) for way in ways), *pings),
            warnings=tuple(warnings),
            partial=partial,
            **origin(given),
        ),
    )


def _read_object(
    given: Input,
    one: Mapping[str, Any],
    run: str,
    ways: list[Way],
    pings: list[dict[str, Fact]],
    loaded: dict[str, dict[str, Fact]],
) -> None:
    """Add the directions and the latencies of one result."""
    kind = _kind(one)
    for direction in (DOWNLOAD, UPLOAD):
        if kind == "Ookla":
            part = member(one, direction)
            rate = 8 * number(part, "bandwidth")  # bytes per second
            size, length = number(part, "bytes"), number(part, "elapsed") / 1e3
        else:
            factor = 1e6 if kind == "LibreSpeed" else 1.0
            rate = factor * number(one, direction)
            size = number(one, "bytes_received" if direction == DOWNLOAD else "bytes_sent")
            length = NAN
            if kind == "speedtest-cli" and 0 < rate < 1e4:
                raise ReaderError(
                    "speedtest-unit", file=given.name, field=direction, value=str(one[direction])
                )
        if rate == rate and rate >= 0:
            _add(
                ways,
                direction,
                run,
                Total(byte_count=_not_0(size), duration_s=length, rate_bps=rate),
            )
            if kind == "Ookla":
                loaded[ways[-1].group] = _trip(member(part, "latency"), "iqm")
    idle = member(one, "ping")
    jitter = number(one, "jitter") if kind == "LibreSpeed" else NAN
    trip = _trip(idle, "latency") if kind == "Ookla" else _trip(one, "ping", jitter_ms=jitter)
    if "rtt_s" in trip:
        loss = _ratio(number(one, "packetLoss"))
        pings.append(
            fact_row(
                trip,
                group=" ".join(part for part in (run, "ping") if part),
                printed_loss_ratio=loss,
                loss_ratio=loss,
                partial=False,
            )
        )


def _trip(given: Mapping[str, Any], name: str, *, jitter_ms: float = NAN) -> dict[str, Fact]:
    """Return the facts of a latency in ms; none where it has none, or one below zero."""
    if not number(given, name) >= 0:
        return {}
    jitter = first if (first := number(given, "jitter")) >= 0 else jitter_ms
    return fact_row(
        rtt_s=number(given, name) / 1e3,
        rtt_min_s=number(given, "low") / 1e3,
        rtt_max_s=number(given, "high") / 1e3,
        jitter_s=jitter / 1e3 if jitter >= 0 else NAN,
    )


def _ratio(percent: float) -> float:
    return percent / 100 if 0 <= percent <= 100 else NAN


def _not_0(size: float) -> float:
    return size if size > 0 else NAN


def _add(ways: list[Way], direction: str, run: str, total: Total) -> None:
    group = " ".join(part for part in (run, direction) if part)
    way = Way(direction, group=group)
    side = RECEIVER if direction == DOWNLOAD else SENDER
    way.rows.append(
        Row(
            start_s=0.0,
            duration_s=total.duration_s,
            payload_bytes=total.byte_count,
            throughput_bps=total.rate_bps,
            group=group,
            side=side,
        )
    )
    way.sent, way.received = (None, total) if direction == DOWNLOAD else (total, None)
    ways.append(way)


def _facts(way: Way, trip: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts of a direction, with the round trips under its load."""
    sent, received = way.sent or Total(), way.received or Total()
    return fact_row(
        trip,
        group=way.group,
        direction=way.direction,
        sent_byte_count=sent.byte_count,
        received_byte_count=received.byte_count,
        sent_rate_bps=sent.rate_bps,
        received_rate_bps=received.rate_bps,
        duration_s=received.duration_s if way.received else sent.duration_s,
        partial=way.partial,
    )


def _read_text(
    lines: list[tuple[int, str]],
    ways: list[Way],
    pings: list[dict[str, Fact]],
    loaded: dict[str, dict[str, Fact]],
) -> list[int]:
    """Add what the lines say; return the numbers of those that are like a result and none."""
    unread = []
    for line_number, line in lines:
        row, ping, lost = _LINE.fullmatch(line), _PING.match(line), _LOST.fullmatch(line)
        details = _DETAILS.fullmatch(line[line.find(":", 0, 20) + 1 :] if ping else line)
        if row:
            bits = 8 if row["what"] == "byte/s" else 1
            rate = float(row["rate"]) * _POWERS[row["prefix"]] * bits
            size = float(row["size"]) * _POWERS[row["size_prefix"]] if row["size"] else NAN
            direction = row["way"].lower()
            _add(ways, direction, "", Total(byte_count=size, rate_bps=rate))
        elif ping and not pings:
            trip = _printed_trip(details) if details else fact_row(rtt_s=float(ping["ms"]) / 1e3)
            pings.append(fact_row(trip, group="ping", partial=False))
        elif details and ways:
            loaded.setdefault(ways[-1].group, _printed_trip(details))
        elif lost and pings:
            loss = _ratio(float(lost["percent"]))
            pings[-1] |= fact_row(printed_loss_ratio=loss, loss_ratio=loss)
        elif re.match(r"\s*(?:Download|Upload):\s*(?!.*\]\s+\d+%)", line):
            unread.append(line_number)
    return unread


def _printed_trip(details: re.Match[str]) -> dict[str, Fact]:
    names = {"rtt_s": "ms", "rtt_min_s": "low", "rtt_max_s": "high", "jitter_s": "jitter"}
    return fact_row({name: float(details[group]) / 1e3 for name, group in names.items()})


FORMAT = Format(
    name="speedtest",
    description="the result of a speed test",
    recognize=_recognize,
    read=_read,
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
)
