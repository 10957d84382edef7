"""Speed tests: the results of their clients, as JSON, in lines of CSV, and as text.

Each client has members, columns or lines of its own for the same few quantities, listed in tables.
Whatever the form, a result becomes the same fields: ``download_bps``, ``ping_ms``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from ipaddress import ip_address
from math import isnan, nan
from typing import Any

from netcalc.messages import Notice
from netcalc.rate_layers import HTTP_BODY, UNKNOWN
from netcalc.readers import places
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import note, shorten
from netcalc.readers.transfers import transfer
from netcalc.samples import Fact, FlowSeries, fact_row

_WAYS = (transfer.DOWNLOAD, transfer.UPLOAD)
_BOTH_RATES = {f"{way}_bps" for way in _WAYS}
_WAYS_OF_NAMES = {
    transfer.DOWNLOAD: {"download", "downlink", "down", "dl"},
    transfer.UPLOAD: {"upload", "uplink", "up", "ul"},
}
_UNITS_OF_NAMES = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "ms": -1.0}
_LONGEST_MS = 60_000.0
"""Longest round trip: speedtest-cli counts a request without an answer as an hour."""
_TEXTS = ("server", "start")
"""Fields of a result that are text."""


def _ways(download: str, upload: str, **members: str) -> dict[str, str]:
    """Return the fields of both directions, whose names differ by one word."""
    ways = zip(_WAYS, (download, upload), strict=True)
    return {
        f"{way}_{end}": text.format(word) for way, word in ways for end, text in members.items()
    }


@dataclass(frozen=True, slots=True)
class _Client:
    """How a client writes its results.

    ``fields`` has the way down to the member of each field, or the names of its column, and
    ``marks`` the members that are numbers in its results alone.
    """

    tool: str
    rate_bps: float
    """Unit of its rates. [bit/s]"""
    marks: tuple[str, ...]
    fields: Mapping[str, str]


_PLAIN = {**_ways(*_WAYS, bps="{}"), "ping_ms": "ping"}
_COUNTED = {"download_bytes": "bytes_received", "upload_bytes": "bytes_sent"}
_NAMED = {"server": "server.host|server.name|server.url", "start": "timestamp"}
_CLIENTS = (
    _Client("Ookla", 8.0, ("download.bandwidth",), _NAMED | _ways(
        *_WAYS, bps="{}.bandwidth", bytes="{}.bytes", ms="{}.elapsed", rtt_ms="{}.latency.iqm",
        low_ms="{}.latency.low", high_ms="{}.latency.high", jitter_ms="{}.latency.jitter") | {
        "ping_ms": "ping.latency", "ping_low_ms": "ping.low", "ping_high_ms": "ping.high",
        "ping_jitter_ms": "ping.jitter", "loss_percent": "packetLoss"}),
    _Client("networkQuality", 1.0, ("dl_throughput",), _ways(
        "dl", "ul", bps="{}_throughput", bytes="{}_bytes_transferred", rpm="{}_responsiveness") | {
        "rpm": "responsiveness", "ping_ms": "base_rtt", "server": "test_endpoint",
        "start": "start_date"}),
    _Client("networkQuality", 1.0, ("ul_throughput",), {
        "upload_bps": "ul_throughput", "upload_bytes": "ul_bytes_transferred",
        "upload_rpm": "ul_responsiveness", "rpm": "responsiveness", "ping_ms": "base_rtt",
        "server": "test_endpoint", "start": "start_date"}),
    _Client("fast-cli", 1e6, ("downloadSpeed",), _ways(*_WAYS, bps="{}Speed") | {
        "ping_ms": "latency", "loaded_ms": "bufferBloat"}),
    _Client("cfspeedtest", 1e6, ("download.overall_mbps",), _ways(
        *_WAYS, bps="{}.overall_mbps") | {
        "ping_ms": "latency.avg_ms", "ping_low_ms": "latency.min_ms",
        "ping_high_ms": "latency.max_ms", "server": "metadata.colo"}),
    _Client("cloudflarepycli", 1.0, ("tests.90th_percentile_down_bps.value",), _ways(
        "down", "up", bps="tests.90th_percentile_{}_bps.value") | {
        "ping_ms": "tests.latency.value", "ping_jitter_ms": "tests.jitter.value"}),
    _Client("cloudflarepycli", 1e6, ("tests.90th_percentile_down_mbps.value",), _ways(
        "down", "up", bps="tests.90th_percentile_{}_mbps.value") | {
        "ping_ms": "tests.latency.value", "ping_jitter_ms": "tests.jitter.value"}),
    _Client("Cloudflare speedtest", 1.0, ("download", "upload", "latency", "downLoadedLatency"), {
        **_ways(*_WAYS, bps="{}"), **_ways("down", "up", rtt_ms="{}LoadedLatency",
                                            jitter_ms="{}LoadedJitter"),
        "ping_ms": "latency", "ping_jitter_ms": "jitter"}),
    _Client("LibreSpeed", 1e6, ("download", "upload", "ping", "jitter"),
            _NAMED | _PLAIN | _COUNTED | {"ping_jitter_ms": "jitter"}),
    _Client("speedtest-cli", 1.0, ("download", "upload", "ping"), _NAMED | _PLAIN | _COUNTED),
)  # fmt: skip
"""Clients by their JSON, the first whose marks are there."""

_TABLES = (
    (_Client("speedtest-cli", 1.0, ("sponsor", "server id", "ip address"), _PLAIN | {
        "server": "server name", "start": "timestamp"}), (
        "server id", "sponsor", "server name", "timestamp", "distance", "ping", "download",
        "upload", "share", "ip address"), r"\d*,.*,.*,@,#,#,#,#,.*,.*", (10,)),
    (_Client("LibreSpeed", 1e6, ("address", "jitter", "ip"), _PLAIN | {
        "ping_jitter_ms": "jitter", "server": "server name", "start": "timestamp"}), (
        "timestamp", "server name", "address", "ping", "jitter", "download", "upload", "share",
        "ip"), r"@,.*,(?:https?:)?//.*,#,#,#,#,.*,.*", (9,)),
    (_Client("Ookla", 8.0, ("server id", "packet loss", "share url"), _ways(
        *_WAYS, bps="{}", bytes="{} bytes", rtt_ms="{} latency", low_ms="{} latency low",
        high_ms="{} latency high", jitter_ms="{} latency jitter") | {
        "ping_ms": "idle latency|latency", "ping_jitter_ms": "idle jitter|jitter",
        "ping_low_ms": "idle latency low", "ping_high_ms": "idle latency high",
        "loss_percent": "packet loss", "server": "server name", "start": "timestamp|date"}), (
        "server name", "server id", "idle latency", "idle jitter", "packet loss", "download",
        "upload", "download bytes", "upload bytes", "share url", "download server count",
        "download latency", "download latency jitter", "download latency low",
        "download latency high", "upload latency", "upload latency jitter", "upload latency low",
        "upload latency high", "idle latency low", "idle latency high"),
        r".*,\d+,#,#,(?:#|N/A|),\d+,\d+,\d+,\d+,(?:https?://.*|)", (10, 11, 19, 21)),
)  # fmt: skip
"""Clients by their CSV: the columns in their order; the form of a row, with # for a number and @
for a time, by which one without a header is known; and how many cells it may have."""
_ROW_FORMS = tuple(
    [re.compile(part.replace("#", r"\d+(?:\.\d+)?").replace("@", r"\d{4}-\d\d-\d\dT[\d:.]+\S*"))
     for part in form.split(",")]
    for _, _, form, _ in _TABLES
)  # fmt: skip
_Head = tuple[_Client, list[str]]
"""What wrote a row of CSV, and the names of its cells."""
_DELIMITERS = ",\t;|"
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,20})?(?:e[+-]\d{1,2})?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_NO_NUMBER = ("", "n/a", "na", "null", "none", "nan", "-")
_LIKE_A_TABLE = (
    r"^.*(?:\d{4}-\d\d-\d\dT[\d:.]+|https?://|[Ss]erver [Nn]ame|[Ss]erver [Ii][Dd]"
    r"|\"\d+\",\"\d+(?:\.\d+)?\",\"\d)"
)

_SIZES = (
    r"^test_type,payload_size,min,q1,median,q3,max,avg|^Type +Payload \|  min/max/avg in mbit/s"
)
_SIZE = re.compile(
    r"(?P<way>Download|Upload) +(?P<size>\d+)(?P<prefix>[KM])B *\|  min [\d.]+ +max [\d.]+ +"
    r"avg (?P<mean>\d+\.\d+) *"
)

_RATE = r"(?P<rate>\d+(?:\.\d+)?)\s?(?P<prefix>(?:[KkMG]i?)?)(?P<what>bits?/s|bytes?/s|bps|B/s)"
_ANY_RATE = re.sub(r"\?P<\w+>", "?:", _RATE)
_DECIMAL = r"\d+(?:\.\d+)?"
_WAY = r"(?P<way>Download|Upload|Downlink|Uplink)"


def _spread(name: str) -> str:
    """Return the pattern of jitter, least and most of a latency, whose fields begin with a name."""
    return (
        rf"\s+\(jitter: (?P<{name}_jitter_ms>{_DECIMAL})ms, low: (?P<{name}_low_ms>{_DECIMAL})ms, "
        rf"high: (?P<{name}_high_ms>{_DECIMAL})ms\)\s*"
    )


_LINES = tuple(map(re.compile, (
    rf"\s*{_WAY}(?: (?:rate|speed|capacity))?:\s+{_RATE}"
    rf"(?:\s+\((?:data used: (?P<size>{_DECIMAL}) (?P<size_prefix>[KMG]?)B|(?!data used)).*)?\s*",
    rf"(?:{_WAY} )?Responsiveness: \w+ "
    rf"\((?:(?P<_rpm_ms>{_DECIMAL}) milliseconds \| )?(?P<_rpm>{_DECIMAL}) RPM\).*",
    rf"{_WAY} bytes transferred: (?P<size>{_DECIMAL}) (?P<size_prefix>[KMG]?)B\s*",
    rf"\s*Packet Loss:\s+(?P<loss_percent>{_DECIMAL})%\s*",
    rf"Ping:\s+(?P<ping_ms>{_DECIMAL}) ?ms.*?\s*Jitter:\s+(?P<ping_jitter_ms>{_DECIMAL}) ms\s*",
    rf"\s*Latency:\s+(?P<ping_ms>{_DECIMAL}) ?ms.*\((?P<ping_jitter_ms>{_DECIMAL}) ms jitter\)\s*",
    rf"(?:Ping|Hosted by .*\]|\s*(?:Idle )?Latency):\s+(?P<ping_ms>{_DECIMAL}) ?m(?:illi)?s"
    rf"(?:{_spread('ping')}|(?!.*(?:jitter|low): ).*)",
    rf"\s*Jitter:\s+(?P<ping_jitter_ms>{_DECIMAL}) ms\s*",
)))  # fmt: skip
"""Lines of results: the name of a group is that of a field, of the line's direction with ``_``."""
_ARROWS = re.compile(
    rf"\s*(?:↓ {_ANY_RATE}|{_ANY_RATE} ↓)(?:\s+(?:/ )?(?:↑ {_ANY_RATE}|{_ANY_RATE} ↑))?"
    rf"(?:\s+⏱ (?P<ping_ms>{_DECIMAL})ms)?\s*"
)
_DETAILS = re.compile(rf"\s*(?P<_rtt_ms>{_DECIMAL}) ms{_spread('')}")
_HEADING = re.compile(r"\s{10,}(?P<way>Download|Upload)\s*")
_OF_HEADING = re.compile(
    rf"\s+(?:Throughput:\s+{_RATE}|Latency:\s+(?P<_low_ms>{_DECIMAL}) ms)\s*"  # MinRTT of TCP
)
_LIKE_RESULT = re.compile(
    r"\s*(?:Download|Upload):\s*(?!.*\]\s+\d+%)|(?:(?:Up|Down)(?:link|load) )?Responsiveness: .*\d"
    r"|\s*(?:Idle Latency|Ping|Jitter|Packet Loss|(?:Up|Down)link bytes transferred): .*\d"
    r"|Hosted by .*\]:|\s*[\d.]+\s.*\(jitter: "
    r"|(?:Up|Down)(?:link|load) (?:capacity|rate|speed):\s.*\d(?!.*\]\s+\d+%)"
)
"""A line that should hold a number of a result."""
_GOES_ON = ("_bytes", "loss_percent", "jitter_ms")
"""Ends of fields that begin no other run."""
_TOOLS_OF_TEXT = (
    (r"^.*\bRPM\b|^==== SUMMARY ====|^(?:Up|Down)(?:link|load) capacity:", "networkQuality"),
    (r"^(?:Download|Upload) rate:", "LibreSpeed"),
    (r"^\s*(?:Download|Upload) speed:", "speed-cloudflare-cli"),
    (r"^\s*↓ .*Mbps", "cfspeedtest"),
    (r"^.* ↓", "fast-cli"),
    (r"^\s+Throughput:|^\s+Retransmission:|^(?:download|upload) in progress with ", "ndt7"),
)
_CLOSED = re.compile(
    rf"\s*(?:Download|Upload): +\d+(?:\.\d+)? [KMG]?(?:bit|byte)/s|\s*(?:Down|Up)load rate:\s+"
    rf"{_RATE}|\s*(?:Download|Upload):.*\(data used: .*\)|.*\bRPM\)|.* ↑|"
    r"Idle Latency: [\d.]+ milliseconds(?: \| [\d.]+ RPM)?"
)
"""A last line that no cut could have made of a longer one."""
_LAST_OF_VERBOSE = re.compile(r"OS Version: .*\(Build .*\)")


@dataclass(slots=True)
class _Results:
    """The directions of all results, their round trips under load, and the idle round trips."""

    ways: list[transfer.Way] = field(default_factory=list)
    pings: list[dict[str, Fact]] = field(default_factory=list)
    loaded: dict[str, dict[str, Fact]] = field(default_factory=dict)
    """Group of a direction -> facts of its latency."""
    tools: dict[str, None] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)
    target: str = ""

    def add(self, fields: Mapping[str, Any], client: _Client, run: str, start_s: float) -> None:
        """Add one result: its directions, what was timed under their load, and without any."""
        self.tools[client.tool] = None
        self.starts.append(fields.get("start", ""))
        self.target = self.target or fields.get("server", "")
        for direction in _WAYS:
            of_way = {
                name.removeprefix(f"{direction}_"): value
                for name, value in fields.items()
                if name.startswith(f"{direction}_")
            }
            rate = client.rate_bps * number(of_way, "bps")
            # A direction that was not asked for is 0 bit/s in 0 bytes.
            if rate > 0 or (rate == 0 and of_way.get("bytes") != 0):
                size = number(of_way, "bytes")
                total = transfer.Interval(
                    start_s, number(of_way, "ms") / 1e3, size if size > 0 else nan, rate
                )
                self._add_way(direction, run, total)
                self.loaded[self.ways[-1].group] = _trip(of_way, "rtt_ms") | _responsiveness(of_way)
        self._add_trip(run, "ping", _trip(fields, "ping_ms", "ping_"), fields)
        loaded = _trip(fields, "loaded_ms", "loaded_") | _responsiveness(fields)
        self._add_trip(run, "under load", loaded, {})

    def _add_trip(
        self, run: str, name: str, trip: dict[str, Fact], fields: Mapping[str, Any]
    ) -> None:
        if "rtt_s" in trip:
            percent = number(fields, "loss_percent")
            ratio = percent / 100 if 0 <= percent <= 100 else nan
            losses = {"printed_loss_ratio": ratio, "loss_ratio": ratio}
            group = f"{run} {name}".lstrip()
            self.pings.append(fact_row(trip, group=group, **losses, partial=False))

    def _add_way(self, direction: str, run: str, total: transfer.Interval) -> None:
        """Add one direction, of which the client counted the total."""
        way = transfer.Way(direction, group=f"{run} {direction}".lstrip())
        side = transfer.RECEIVER if direction == transfer.DOWNLOAD else transfer.SENDER
        way.rows.append(replace(total, side=side))
        way.sent, way.received = (None, total) if direction == transfer.DOWNLOAD else (total, None)
        self.ways.append(way)

    def facts(self) -> list[dict[str, Fact]]:
        """Return a row for each direction, with the round trips under its load, and the pings."""
        of_ways = (way.facts() | self.loaded.get(way.group, {}) for way in self.ways)
        return [*of_ways, *self.pings]


def _trip(fields: Mapping[str, Any], name: str, before: str = "") -> dict[str, Fact]:
    """Return the facts of a latency in ms; none where it is below zero."""
    if number(fields, name) < 0:
        return {}
    jitter = number(fields, f"{before}jitter_ms")
    return fact_row(
        rtt_s=number(fields, name) / 1e3,
        rtt_min_s=number(fields, f"{before}low_ms") / 1e3,
        rtt_max_s=number(fields, f"{before}high_ms") / 1e3,
        jitter_s=jitter / 1e3 if jitter >= 0 else nan,
    )


def _responsiveness(fields: Mapping[str, Any]) -> dict[str, Fact]:
    """Return round trips per minute, and the round trip under load that they are made of."""
    rpm = number(fields, "rpm")
    if not rpm > 0:
        return {}
    printed_ms = number(fields, "rpm_ms")
    return fact_row(rtt_s=60 / rpm if isnan(printed_ms) else printed_ms / 1e3,
                    responsiveness_rpm=rpm)  # fmt: skip


def _member(row: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], str]:
    """Return the object that has a member, by its way down, and the member's name in it."""
    *names, last = path.split(".")
    return member(row, *names) if names else row, last


def _fields(client: _Client, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result that are there."""
    fields: dict[str, Any] = {}
    for name, paths in client.fields.items():
        for inner, last in (_member(row, path) for path in paths.split("|")):
            value = words(inner, last) if name in _TEXTS else number(inner, last)
            if value == 0.0 or (value and value == value):
                fields.setdefault(name, value)
    return fields


def _client_of(row: Mapping[str, Any]) -> _Client | None:
    """Return whose result an object is."""
    for client in _CLIENTS:
        ends = [_member(row, mark) for mark in client.marks]
        if all(type(inner.get(last)) in (int, float) for inner, last in ends):
            break
    else:
        return _by_names(row)
    units = [words(row, f"{way}Unit") for way in _WAYS]
    if client.tool == "fast-cli" and units[0]:  # of old versions; later ones write Mbps, whatever
        powers = [transfer.POWERS.get(unit.removesuffix("bps"), 9) for unit in units if unit]
        return replace(client, rate_bps=1000.0 ** powers[0]) if len({*powers}) == 1 else None
    return client


def _by_names(row: Mapping[str, Any]) -> _Client | None:
    """Return how to read an object of one's own, whose names say direction and unit."""
    columns: list[tuple[str, str, float]] = []
    paths = [(name,) for name in row] + [(n, inner) for n in row for inner in member(row, n)]
    for path in paths:
        word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", "_".join(path))
        parts = re.split(r"[^a-z0-9]+", word.lower())
        unit = _UNITS_OF_NAMES.get(parts[-1], 0.0)
        inner, last = _member(row, ".".join(path))
        if not unit or "Bps" in word or type(inner.get(last)) not in (int, float):
            continue
        ways = [way for way, names in _WAYS_OF_NAMES.items() if names & {*parts}]
        if unit > 0 and len(ways) == 1:
            columns.append((f"{ways[0]}_bps", ".".join(path), unit))
        elif unit < 0 and not ways and {*parts[:-1]} <= {"idle", "ping", "latency", "rtt"}:
            columns.append(("ping_ms", ".".join(path), unit))
    fields = {name: way_down for name, way_down, _ in columns}
    units = {unit for name, _, unit in columns if name != "ping_ms"}
    if len(fields) < max(len(columns), 2) or len(units) != 1:
        return None
    return _Client("speedtest", units.pop(), (), fields)


def _objects(file: Input, warnings: list[Notice]) -> tuple[list[Mapping[str, Any]], bool]:
    """Return the objects of JSON, and whether the text was cut; of a log those of its lines, where
    lines of errors are between them."""
    if file.is_json and file.json.fault is None:
        warnings += file.json.warnings
        return list(file.json.objects()), False
    objects: list[Mapping[str, Any]] = []
    others: list[int] = []
    cut = False
    for line_number, line, is_cut in file.text.numbered_lines():
        parts = _objects_of_line(line)
        objects += parts
        cut = cut or (is_cut and not parts)
        if not parts and not is_cut:
            others.append(line_number)
    if not any(map(_client_of, objects)) and file.json.fault is not None:
        warnings += file.json.warnings
        return list(file.json.objects()), True
    note(warnings, "speedtest-lines-ignored", numbers=others)
    return objects, cut


def _objects_of_line(line: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(line) if line.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        document = None
    listed = document if isinstance(document, list) else [document]
    return [part for part in listed if isinstance(part, dict)]


def _recognize_json(file: Input) -> bool:
    keys = file.keys()
    return (
        {"download", "upload", "ping"} <= keys
        or (file.seen(r"\"bandwidth\"\s*:")
            and file.seen(r"\"type\"\s*:\s*\"(?:testStart|ping)\""))
        or bool(keys & {"dl_throughput", "ul_throughput", "downloadSpeed", "downLoadedLatency",
                        "speed_measurements"})
        or {"test_type", "payload_size", "median"} <= keys
        or _client_of(file.first_object) is not None
    )  # fmt: skip


def _recognize(file: Input) -> bool:
    if file.is_json:
        return _recognize_json(file)
    if file.columns is not None:
        return False
    return (
        _recognize_text(file)
        or file.seen(_SIZES)
        or (
            file.seen(_LIKE_A_TABLE)
            and any(_rows_of_table(enumerate(file.first.split("\n"), 1), []))
        )
        or _recognize_log(file)
    )


def _recognize_log(file: Input) -> bool:
    """Whether a line behind lines of errors is a result."""
    lines = file.first.split("\n") if file.seen(r"^\{\".*\}\s*$") else ()
    return any(
        _client_of(row) for line in lines if line[:1] == "{" for row in _objects_of_line(line)
    )


def _recognize_text(file: Input) -> bool:
    rate = r"[\d.]+ (?:[KkMG]i?)?(?:bits?/s|bytes?/s|bps|B/s)"
    beside = (
        r"^\s*(?:Idle )?Latency:|^Hosted by |^Ping:|^\s*Packet Loss:|^\s*Result URL:"
        r"|^Testing (?:down|up)load speed\."
    )
    return (
        (file.seen(rf"^\s*Download:\s+{rate}") and file.seen(rf"^\s*Upload:|{beside}"))
        or (file.seen(rf"^\s*Upload:\s+{rate}") and file.seen(beside))
        or file.seen(rf"^\s*(?:Download|Upload):\s+{rate}\s+\(data used: ")
        or file.seen(rf"^(?:Up|Down)(?:link|load) capacity: {rate}|^(?:Down|Up)load rate:\s+{rate}")
        or file.seen(rf"^\s*(?:Download|Upload) speed:\s+{rate}")
        or file.seen(rf"^\s*(?:↓ {rate}|{rate} ↓)")
        or file.seen(r"^(?:(?:Up|Down)(?:link|load) )?Responsiveness: \w+ \(.*\bRPM\)")
        or (file.seen(rf"^\s+Throughput:\s+{rate}") and file.seen(r"^\s{10,}(?:Down|Up)load\s*$"))
    )


def _read(file: Input) -> FlowSeries:
    warnings: list[Notice] = []
    results = _Results()
    entries: list[tuple[_Client, dict[str, Any]]] = []
    if file.is_json or _recognize_log(file):
        entries, is_partial = _read_objects(file, warnings, results)
    elif _recognize_text(file):
        entries, is_partial = _read_lines(file, warnings)
    elif file.seen(_SIZES):
        lines, is_partial = file.text.whole_lines(warnings)
        _add_sizes(_rows_of_sizes(lines), results)
    else:
        entries, is_partial = _read_table(file, warnings)
    for name in ("ping_ms", "loaded_ms"):
        odd = [f"{run.pop(name):.10g}" for _, run in entries if run.get(name, 0.0) > _LONGEST_MS]
        note(warnings, "impossible-values", name=name, values=odd)
    starts_s = _seconds([fields.get("start", "") for _, fields in entries])
    begins_s = starts_s or [0.0] * len(entries)
    for index, ((client, fields), begin_s) in enumerate(zip(entries, begins_s, strict=True), 1):
        results.add(fields, client, f"run {index}" if len(entries) > 1 else "", begin_s)
    if not results.ways and not results.pings:
        raise file.refusal("speedtest-nothing")
    if results.ways:
        results.ways[-1].partial |= is_partial
    return transfer.series_of(
        file,
        results.ways,
        warnings,
        facts=results.facts(),
        tool=", ".join(results.tools),
        target=shorten(results.target, 100),
        start=shorten(next(filter(None, results.starts), ""), 40),
        clock="seconds since the start of the first run"
        if starts_s
        else "seconds since the start of each direction",
        partial=is_partial,
    )


def _read_objects(
    file: Input, warnings: list[Notice], results: _Results
) -> tuple[list[tuple[_Client, dict[str, Any]]], bool]:
    """Return the results of JSON, and whether it was cut; those of sizes are added to others."""
    objects, is_partial = _objects(file, warnings)
    entries = [
        (client, _checked(file, client, _fields(client, row), row))
        for row in objects
        if (client := _client_of(row)) is not None and row.get("type", "result") == "result"
    ]
    _add_sizes(objects, results)
    if not entries and not results.ways and file.json.fault is not None:
        raise file.json.fault
    return entries, is_partial


def _checked(
    file: Input, client: _Client, fields: dict[str, Any], row: Mapping[str, Any], line: int = 0
) -> dict[str, Any]:
    """Refuse a rate of speedtest-cli that is too low for its unit."""
    for direction in _WAYS if client.tool == "speedtest-cli" else ():
        if 0 < fields.get(f"{direction}_bps", 0) < 1e4:
            raise file.refusal(
                "speedtest-unit", line=line or None, field=direction, value=str(row[direction])
            )
    return fields


def _seconds(starts: list[str]) -> list[float]:
    """Return the times of several results since the first; none where a time is not known."""
    try:
        times = [datetime.fromisoformat(start) for start in starts]
        seconds = [(time - times[0]).total_seconds() for time in times]
    except (ValueError, TypeError):  # no time, or some with a zone and some without
        return []
    return seconds if len(seconds) > 1 and min(seconds) >= 0 else []


def _add_sizes(objects: Iterable[Mapping[str, Any]], results: _Results) -> None:
    """Add what cfspeedtest measured of each size of its transfers."""
    client = _Client("cfspeedtest", 1.0, (), {})
    for row in objects:
        for test in (row, *rows(row, "speed_measurements")):
            way = words(test, "test_type").lower()
            if way in _WAYS and {"payload_size", "median", "q1"} <= test.keys():
                rate_bps, size = 1e6 * number(test, "median"), number(test, "payload_size")
                results.add({f"{way}_bps": rate_bps}, client, f"{size / 1e3:.0f} kB", 0.0)
        trip, end = member(row, "latency_measurement"), "_latency_ms"
        if row.get("test_type") == "latency":
            trip, end = row, ""
        names = {"ping_ms": "avg", "ping_low_ms": "min", "ping_high_ms": "max"}
        fields = {name: number(trip, statistic + end) for name, statistic in names.items()}
        if fields["ping_ms"] >= 0:
            results.add(fields, client, "", 0.0)


def _rows_of_sizes(lines: list[tuple[int, str]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of cfspeedtest's CSV, or of its text, as its JSON has them."""
    for cells in csv.DictReader(line for _, line in lines if line.count(",") == 7):
        yield {name: float(cell) if _NUMBER.fullmatch(cell) else cell
               for name, cell in cells.items()}  # fmt: skip
    for printed in filter(None, (_SIZE.fullmatch(line) for _, line in lines)):
        size = transfer.scaled(printed["size"], printed["prefix"])
        yield {"test_type": printed["way"], "payload_size": size,
               "median": float(printed["mean"]), "q1": nan}  # fmt: skip


def _rows_of_table(
    lines: Iterable[tuple[int, str]], others: list[int]
) -> Iterator[tuple[int, _Client, dict[str, Any]]]:
    """Yield the rows of CSV with what wrote them; the lines that are of none go to ``others``."""
    head: _Head | None = None
    delimiters = _DELIMITERS
    for line_number, line in lines:
        if not line.strip():
            continue
        for delimiter in delimiters:
            cells = _cells(line, delimiter)
            if header := _header_of(cells):
                head, delimiters = header, delimiter  # as all lines below it
                break
            if row := _row_of(cells, head):
                yield line_number, *row
                break
        else:
            others.append(line_number)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    except csv.Error:
        return []


def _header_of(cells: list[str]) -> _Head | None:
    """Return whose header a line is, with the names in it; None of another line."""
    names = [cell.lower() for cell in cells]
    clients = (client for client, *_ in _TABLES if {*client.marks, "download"} <= {*names})
    return next(((client, names) for client in clients), None)


def _row_of(cells: list[str], head: _Head | None) -> tuple[_Client, dict[str, Any]] | None:
    """Return whose row a line is, with its cells by name; None of a line without a rate.

    It is of the header above it, or of another client that wrote no header.
    """
    if head is None or len(cells) != len(head[1]):
        other = _table_of(cells)
        if other is None or (head is not None and other[0] is head[0]):
            return None
        head = other
    client, names = head
    row = {name: float(cell) if _NUMBER.fullmatch(cell) else cell
           for name, cell in zip(names, cells, strict=False)}  # fmt: skip
    return (client, row) if any(type(row.get(way)) is float for way in _WAYS) else None


def _table_of(cells: list[str]) -> _Head | None:
    """Return whose row without a header it is, with the names of its cells; a date and a number of
    one's own may be in front of it."""
    for ahead in range(3):
        row = cells[ahead:]
        for (client, names, _, widths), forms in zip(_TABLES, _ROW_FORMS, strict=True):
            pairs = zip(forms, row, strict=False)
            if len(row) in widths and all(pattern.fullmatch(cell) for pattern, cell in pairs):
                return client, [*("date", "time")[:ahead], *names]
    return None


def _read_table(
    file: Input, warnings: list[Notice]
) -> tuple[list[tuple[_Client, dict[str, Any]]], bool]:
    """Return the results of lines of CSV, and whether the last line was cut."""
    warnings += file.text.warnings
    others: list[int] = []
    pairs = zip(file.text.numbers, file.text.lines, strict=True)
    table = list(_rows_of_table(pairs, others))
    last = 0 if file.text.ends_complete or not file.text.numbers else file.text.numbers[-1]
    is_cut = is_partial = last in others
    if table and table[-1][0] == last:
        widths = [len(row) for _, _, row in table]
        name = list(table[-1][2])[-1]
        if widths[-1] < max(widths):
            table.pop()
            is_cut = is_partial = True
        elif not file.text.lines[-1].rstrip().endswith('"'):
            # A number may have lost digits; an address that is one is whole enough.
            is_partial = not _is_address(str(table[-1][2].pop(name)))
    if is_cut:
        warnings.append(Notice("last-line-cut", {"number": last}))
    note(warnings, "speedtest-lines-ignored", numbers=[n for n in others if n != last])
    odd = [line for line, client, row in table if _has_odd_cell(client, row)]
    note(warnings, "transfer-lines-unread", numbers=odd)
    return [
        (client, _checked(file, client, _without_unmeasured(_fields(client, row)), row, line))
        for line, client, row in table
    ], is_partial


def _has_odd_cell(client: _Client, row: Mapping[str, Any]) -> bool:
    """Whether a cell of a row that should hold a number or a time holds neither."""
    for name, columns in client.fields.items():
        for column in columns.split("|"):
            cell = row.get(column, "")
            if name == "start" and cell and not _TIME.match(str(cell)):
                return True
            if name not in _TEXTS and isinstance(cell, str) and cell.lower() not in _NO_NUMBER:
                return True
    return False


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _without_unmeasured(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out rates of 0: a direction that was switched off has no other mark in CSV."""
    return {name: value for name, value in fields.items()
            if value or not name.endswith("_bps")}  # fmt: skip


def _bps(row: re.Match[str]) -> float:
    """Return a rate as it is written."""
    base = 1024.0 if row["prefix"].endswith("i") else 1000.0
    bits = 8 if row["what"].startswith(("byte", "B/")) else 1
    return transfer.scaled(row["rate"], row["prefix"][:1], base) * bits


def _read_lines(
    file: Input, warnings: list[Notice]
) -> tuple[list[tuple[_Client, dict[str, Any]]], bool]:
    """Return the results of a text, and whether the last one was cut."""
    # What follows the latency of networkQuality -v is not there yet.
    is_verbose = file.seen(r"\(Accuracy: ")
    closed = _LAST_OF_VERBOSE if is_verbose else _CLOSED
    lines, is_partial = file.text.whole_lines(warnings, closed=closed)
    is_partial |= is_verbose and not any(line.startswith("OS Version:") for _, line in lines)
    tool = next((tool for mark, tool in _TOOLS_OF_TEXT if file.seen(mark)), "speedtest")
    runs, unread = _read_text(lines)
    if tool == "ndt7":  # the round trip of the download's last measurement
        for run in runs:
            run.setdefault("download_rtt_ms", run.pop("ping_ms", nan))
    note(warnings, "transfer-lines-unread", numbers=unread)
    skipped = any(re.match(r"Skipping (?:down|up)load test", line) for _, line in lines)
    is_partial |= not skipped and not all(run.keys() >= _BOTH_RATES for run in runs[-1:])
    return [(_Client(tool, 1.0, (), {}), _without_unmeasured(run)) for run in runs], is_partial


def _read_text(lines: list[tuple[int, str]]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the results in the lines, and the numbers of lines that are only like a result."""
    runs: list[dict[str, Any]] = []
    unread = []
    heading = way = ""
    for line_number, line in lines:
        if title := _HEADING.fullmatch(line):
            heading = title["way"].lower()
        elif details := _DETAILS.fullmatch(line):
            if way and runs:
                runs[-1] = _fields_of(details, way) | runs[-1]
        elif fields := _fields_of_line(line, heading):
            if not runs or _begins_run(line, fields, runs[-1]):
                runs.append({})
                way = ""
            runs[-1] = fields | runs[-1]
            way = next((each for each in _WAYS if f"{each}_bps" in fields), way)
        elif _LIKE_RESULT.match(line) or (heading and re.match(r"\s+(?:Thr|Lat)\w+:", line)):
            unread.append(line_number)
    return [run for run in runs if run.keys() & {*_BOTH_RATES, "rpm"}], unread


def _begins_run(line: str, fields: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether fields are of a run behind this one: it has one of them already.

    A latency before both rates are there is still of the same run, and so are details.
    """
    if re.match(r"\s*(?:Idle )?Latency:", line) and not run.keys() >= _BOTH_RATES:
        return False
    return any(name in run for name in fields if not name.endswith(_GOES_ON))


def _fields_of_line(line: str, heading: str) -> dict[str, Any]:
    """Return the fields of one line, which may have no direction but that of its heading."""
    if re.search(r"\]\s+\d+%", line):  # progress
        return {}
    if arrows := _ARROWS.fullmatch(line):
        is_first = line.lstrip().startswith("↓")
        pattern = rf"(?P<arrow>[↓↑]) {_RATE}" if is_first else rf"{_RATE} (?P<arrow>[↓↑])"
        ways = dict(zip("↓↑", _WAYS, strict=True))
        rates = {f"{ways[row['arrow']]}_bps": _bps(row) for row in re.finditer(pattern, line)}
        return rates | _fields_of(arrows, "")
    if heading and (row := _OF_HEADING.fullmatch(line)):
        return _fields_of(row, heading)
    row = next(filter(None, (pattern.fullmatch(line) for pattern in _LINES)), None)
    return _fields_of(row, "") if row else {}


def _fields_of(row: re.Match[str], way: str) -> dict[str, Any]:
    """Return the fields that the groups of a pattern hold."""
    groups = {name: text for name, text in row.groupdict().items() if text is not None}
    if "way" in groups:
        way = transfer.UPLOAD if groups["way"].startswith("Up") else transfer.DOWNLOAD
    fields: dict[str, Any] = {}
    if "rate" in groups:
        fields[f"{way}_bps"] = _bps(row)
    if "size" in groups:
        fields[f"{way}_bytes"] = transfer.scaled(groups["size"], groups["size_prefix"])
    for name, text in groups.items():
        if name.endswith(("_ms", "rpm", "_percent")):
            fields[f"{way}{name}".lstrip("_") if name.startswith("_") else name] = float(text)
    return fields


SPEEDTEST = Format(
    name="speedtest",
    description="the result of a speed test",
    recognize=_recognize,
    read=_read,
    traps=(
        "bandwidth of Ookla's client is in bytes per second, elapsed in milliseconds; so are "
        "download and upload of its CSV.",
        "download of speedtest-cli is in bit/s, that of LibreSpeed in Mbit/s, distinguished by "
        "the jitter that only LibreSpeed has; a rate below 10 kbit/s of the first is refused.",
        "ping is an unloaded round trip in ms; the latency of a direction is that under its load, "
        "its iqm the mean of the middle half. jitter in ms is each tool's own measure of it.",
        "packetLoss in percent is that of UDP probes of Ookla's client, not of its TCP.",
        "A rate is that of the client's end over several streams, by rules of each service.",
        "Lines of progress (jsonl) are not results.",
        "A log of CSV is read with or without its header; a row of Ookla, speedtest-cli or "
        "LibreSpeed is known by its form. Lines of errors between results are ignored and named.",
        "A rate of 0 in 0 bytes, or in CSV and text, is a direction that was not measured.",
        "A ping above a minute is no time: speedtest-cli writes 1800000 ms where nothing answered.",
        "JSON of other programs is read where its names say direction and unit (download_mbps).",
        "responsiveness of networkQuality is in round trips per minute under load: 60 s divided by "
        "it is a round trip. Without -s both directions load the path at once.",
        "downloadSpeed of fast --json is in Mbit/s; bufferBloat is the latency under load in ms.",
        "cfspeedtest gives statistics for each size of a transfer: the median is read, of its text "
        "the mean, as there is no median.",
    ),
    tools={
        # speedtest-cli sums what it reads of each response, and posts; those of Cloudflare divide
        # the size they asked for by its time. Ookla, LibreSpeed, which has a factor for overhead
        # that a site can set, networkQuality and fast.com do not say what is in their results.
        **dict.fromkeys(
            ("speedtest-cli", "cfspeedtest", "cloudflarepycli", "speed-cloudflare-cli"),
            places.Counted(
                probes=places.REQUESTS, facts={"jitter_s": places.PROBES}, rates=HTTP_BODY
            ),
        ),
        **dict.fromkeys(
            ("Ookla", "speedtest", "LibreSpeed", "networkQuality", "fast-cli",
             "Cloudflare speedtest"),
            places.Counted(
                probes=places.REQUESTS,
                facts={"jitter_s": places.PROBES, "responsiveness_rpm": places.PROBES},
                rates=UNKNOWN,
            ),
        ),
    },
    parts=(
        r"^\s*Speedtest by Ookla\s*$",
        r"^Retrieving speedtest\.net (?:configuration|server list)",
        r"^Testing (?:download|upload) speed\.",
        r"^Hosted by .*: \d+(?:\.\d+)? ms\s*$",
        r"^\s*Result URL: ",
        r"^\s*Server: .* \(id ?[:=] ?\d+\)\s*$",
        r"^==== SUMMARY ====\s*$",
        r"^(?:Up|Down)link (?:bytes transferred|Flow count): ",
        r"^\s*Idle Latency: ",
        r"^OS Version: Version .*\(Build ",
        r"^(?:download|upload)(?: in progress with |: complete$)",
        r"^Avg\. speed  : |^ +(?:Throughput|Retransmission): +\d|^Test results\s*$",
        r"^    (?:Server|Client): \S+\s*$",
    ),
    needs="a line of a download or an upload",
)  # fmt: skip
