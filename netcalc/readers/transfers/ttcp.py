"""Output of the descendants of ttcp: nuttcp and ntttcp."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from math import isnan, nan
from typing import Any

from netcalc.messages import Notice
from netcalc.readers import document
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.places import HANDSHAKE, SEGMENTS, TRANSPORT, Counted
from netcalc.readers.source import WholeLines, shorten
from netcalc.readers.transfers import transfer
from netcalc.samples import FlowSeries

_NUMBER = r"\d{1,15}(?:\.\d{1,9})?"
_TEXT = re.compile(
    rf"\s*(?:(?P<id>\S+: )\s*)?(?P<size>{_NUMBER}) MB /\s*(?P<time>{_NUMBER}) sec =\s*"
    rf"(?P<rate>{_NUMBER}) Mbps(?P<rest>.*)"
)
_PARSE = re.compile(
    rf"\s*(?:\S+: \s*)?megabytes=(?P<size>{_NUMBER}) real_sec(?P<total>onds)?=(?P<time>{_NUMBER}) "
    rf"rate_Mbps=(?P<rate>{_NUMBER})(?P<rest>(?: +\w+={_NUMBER}(?!\S))*\s*)"
)
_VERBOSE = re.compile(
    rf"nuttcp-(?P<end>[tr]): (?P<size>{_NUMBER}) MB in (?P<time>{_NUMBER}) real seconds = .*= "
    rf"(?P<rate>{_NUMBER}) Mbps.*"
)
_LIKE = r"\bMB /|^\s*megabytes=|^nuttcp-[tr]: (?:.* MB in|connect to .*, RTT)"
_CLOSED = re.compile(r".*(?:msRTT|%RX|retrans|drop/pkt|%loss)")
"""Ends of a line that is whole though its line end is missing."""
_RETRANSMITS = re.compile(r"(?:(?<![=\d])(\d{1,15}) (?:host-)?retrans\b|\bretrans=(\d{1,15}))")
_DROPS = re.compile(r"(\d{1,15}) /\s*(\d{1,15}) ~?drop/pkt|drop=(\d{1,15}) pkt=(\d{1,15})")
_CONNECTED = re.compile(
    r"nuttcp-[tr]: connect to \S+ with mss=(?P<mss>\d{1,6})"
    rf"(?:, RTT=(?P<rtt>{_NUMBER}) ms|(?!\d|, RTT))"
)
_AGAIN = re.compile(r"nuttcp-t: retrans = (\d{1,15})\s*")
_RTT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) msRTT|rtt_ms=(\d{1,9}(?:\.\d{1,9})?)")

_COUNTED = {"retrans": _RETRANSMITS, "drop/pkt": _DROPS, "msRTT": _RTT}
"""Words behind a rate, and the number that each has before it."""


def _read_nuttcp(file: Input) -> FlowSeries:
    runs = _Runs()
    lines = WholeLines(file.text, closed=_CLOSED)
    for number, line in lines:
        if not runs.add(line) and re.search(_LIKE, line):
            lines.unread.append(number)
    ways = [way for way in runs.ways if way.rows or way.received or way.sent]
    if not ways:
        raise file.refusal("nuttcp-nothing")
    for way in ways:
        way.partial = way.received is None
        way.rows = way.rows or transfer.whole_run(way)
    ways[-1].partial |= lines.cut
    handshakes = [way.rtt_s for way in ways if not isnan(way.rtt_s)]
    printed = {"handshake_rtt_s": handshakes} if handshakes else {}
    return transfer.flow_series(
        file, [[way] for way in ways], lines.with_unread(), tool="nuttcp", printed=printed,
        partial=lines.cut,
    )  # fmt: skip


class _Runs:
    """The runs of a text, one direction each: a line belongs to the last run or begins another."""

    def __init__(self) -> None:
        self.ways = [transfer.Way("")]
        self._handshake: re.Match[str] | None = None
        """The line of the connection, which stands before the first line of its run."""
        self._summed: transfer.Way | None = None
        """The last run with a line of totals, behind which only -v prints more of it."""

    def add(self, line: str) -> bool:
        """Read a line; False if it is none of nuttcp's."""
        way = self.ways[-1]
        if connection := _CONNECTED.match(line):
            self._handshake = connection
        elif (again := _AGAIN.fullmatch(line)) and way.sent:
            way.sent.retransmit_count = float(again[1])
        elif side := _VERBOSE.fullmatch(line):
            self._add_side(side)
        elif (row := _TEXT.fullmatch(line) or _PARSE.fullmatch(line)) and not any(
            word in row["rest"] and not pattern.search(row["rest"])
            for word, pattern in _COUNTED.items()
        ):
            self._add_row(row)
        else:
            return False
        return True

    def _add_side(self, line: re.Match[str]) -> None:
        """Add what one end says of the whole run (-v), the sender first."""
        way, total = self.ways[-1], _total(line, "")
        is_sender = line["end"] == "t"
        if is_sender and (way.sent or way.received):
            self.ways.append(way := transfer.Way(""))
        way.protocol = way.protocol or "tcp"
        if self._handshake and not (way.sent or way.received):
            way.mss_bytes = float(self._handshake["mss"])
            way.rtt_s = float(self._handshake["rtt"] or nan) / 1e3
            self._handshake = None
        if is_sender:
            way.sent = total
        else:
            way.received = total

    def _add_row(self, line: re.Match[str]) -> None:
        """Add an interval, or the total that ends a run."""
        way, rest = self.ways[-1], line["rest"]
        is_total = "%TX" in rest or "%RX" in rest or bool(line.groupdict().get("total"))
        # Behind a total comes the next run, unless the total repeats the lines of -v.
        if way.received and (not is_total or not way.sent or way is self._summed):
            self.ways.append(way := transfer.Way(""))
        total = _total(line, rest)
        way.protocol = "tcp" if isnan(total.datagram_count) else "udp"
        if is_total:
            way.received, self._summed = total, way
            way.sent = transfer.Interval(
                duration_s=total.duration_s, retransmit_count=total.retransmit_count
            )
            way.rtt_s = _rtt(rest)
        else:
            before = way.rows[-1] if way.rows else transfer.Interval(duration_s=0.0)
            total.start_s, total.side = before.start_s + before.duration_s, transfer.RECEIVER
            way.rows.append(total)


def _total(line: re.Match[str], rest: str) -> transfer.Interval:
    retransmits, drops = _RETRANSMITS.search(rest), _DROPS.search(rest)
    lost, sent = map(float, filter(None, drops.groups())) if drops else (nan, nan)
    return transfer.Interval(
        payload_bytes=float(round(float(line["size"]) * 1024**2)),
        duration_s=float(line["time"]),
        throughput_bps=float(line["rate"]) * 1e6,
        retransmit_count=float(retransmits[1] or retransmits[2]) if retransmits else nan,
        datagram_count=sent,
        lost_count=nan if lost > sent else lost,
    )


def _rtt(rest: str) -> float:
    handshake = _RTT.search(rest)
    return float(handshake[1] or handshake[2]) / 1e3 if handshake else nan


NUTTCP = Format(
    name="nuttcp",
    description="the output of nuttcp",
    recognize=seen(
        r"^ *(?:\S+: *)?[\d.]+ MB /\s+[\d.]+ sec =\s+[\d.]+ Mbps|^nuttcp-[tr]: ",
        r"^ *(?:\S+: )?megabytes=[\d.]+ real_sec",
    ),
    read=_read_nuttcp,
    traps=(
        "MB are 1024**2 bytes, Mbps are 10**6 bit/s.",
        "Counts are the receiver's; with -v the line nuttcp-t has the sender's.",
        "The direction (-r turns it) and the number of streams (-N) are not in the output.",
        "drop/pkt are datagrams lost and sent.",
        "The line with %TX and %RX is the total and no interval; without it the run was cut.",
        "msRTT is that of the handshake.",
    ),
    tools={
        "nuttcp": Counted(  # nuttcp(8): bytes of the application's buffers
            probes=SEGMENTS,
            facts={"rtt_s": HANDSHAKE},
            rates=TRANSPORT,
            loss_at_receiver=True,
        ),
    },
)


_SIDES = {"ntttcps": transfer.SENDER, "ntttcpr": transfer.RECEIVER}
_WHOLE_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_POWERS = (1024.0**2, 1e6)  # what MB may be: Windows counts in powers of 1024
_TOLERANCE = 0.002


def _read_ntttcp(file: Input) -> FlowSeries:
    root = transfer.xml_root(file)
    side = _SIDES.get(root.tag)
    if side is None:
        raise file.refusal("damaged-xml")
    total = _checked_total(file, root)
    udp = root.findtext("parameters/udp", "").strip().lower() == "true"
    way = transfer.Way("", protocol="udp" if udp else "tcp")
    way.sent, way.received = (total, None) if side == transfer.SENDER else (None, total)
    for thread in root.findall("thread"):
        length_s = _number(file, thread, "realtime", "s")
        rate_bps = 1e6 * _number(file, thread, "throughput", "mbps")
        if not isnan(length_s):
            stream = shorten(thread.get("index", ""), 20)
            way.rows.append(
                transfer.Interval(0.0, length_s, throughput_bps=rate_bps, stream=stream, side=side)
            )
            way.streams.add(stream)
    way.rows = way.rows or transfer.whole_run(way)
    return transfer.flow_series(
        file, [[way]], file.text.warnings, tool="ntttcp", printed=_printed(file, root),
        version=root.get("version", ""), host=shorten(root.get("computername", ""), 100),
    )  # fmt: skip


def _checked_total(file: Input, root: ElementTree.Element) -> transfer.Interval:
    """Return the total; refuse it where bytes, time and rate do not agree."""
    length_s = _number(file, root, "realtime", "s")
    rate_bps = 1e6 * _number(file, root, "throughput", "mbps")
    megabytes = _number(file, root, "total_bytes", "MB")
    if isnan(rate_bps) or not length_s > 0:
        raise file.refusal("ntttcp-nothing")
    for power in _POWERS:
        size = megabytes * power
        if isnan(size) or abs(8 * size / length_s - rate_bps) <= _TOLERANCE * rate_bps:
            return transfer.Interval(0.0, length_s, size if isnan(size) else round(size), rate_bps)
    raise file.refusal("ntttcp-disagrees", field="total_bytes", value=f"{megabytes:g}", unit="MB")


def _number(file: Input, part: ElementTree.Element, name: str, metric: str = "") -> float:
    """Return the number of an element with a unit; nan without the element."""
    for element in part.findall(name):
        if element.get("metric", "") != metric:
            continue
        text = (element.text or "").strip()
        if not _WHOLE_NUMBER.fullmatch(text):
            raise file.refusal(
                "ntttcp-number", field=name, value=shorten(text), unit=metric or None
            )
        return float(text)
    return nan


def _printed(file: Input, root: ElementTree.Element) -> dict[str, float]:
    """Return what the system counted meanwhile: of all its connections, not of this run alone."""
    counted = {
        "system_packets_sent": _number(file, root, "packets_sent"),
        "system_packets_received": _number(file, root, "packets_received"),
        "system_packets_retransmitted": _number(file, root, "packets_retransmitted"),
        "system_processor_ratio": _number(file, root, "cpu", "%") / 100,
        "write_bytes": _number(file, root, "bufferLen"),
        "errors": _number(file, root, "errors"),
    }
    return {name: value for name, value in counted.items() if not isnan(value)}


NTTTCP = Format(
    name="ntttcp XML",
    description="the XML of ntttcp",
    recognize=lambda file: file.seen(r"^\s*(?:<\?xml[^>]*>\s*)?<ntttcp[sr]\b"),
    read=_read_ntttcp,
    traps=(
        "MB are 1024**2 bytes, mbps are 10**6 bit/s: the bytes are used only where they agree with "
        "the rate and the time.",
        "The root element says which end wrote it: ntttcps sent, ntttcpr received; the count of "
        "the other end is not in the file.",
        "Rates of threads are not added up: their times differ.",
        "Packets, retransmissions and the share of the processors are those of the whole system.",
        "The times of warm-up and cool-down are not part of the result.",
    ),
    tools={
        # its README: bytes of the application's buffers
        "ntttcp": Counted(rates=TRANSPORT),
    },
)


_LOG = re.compile(r"(?:\d\d:\d\d:\d\d )?(?:INFO|DBG ?): ?\s*(?P<text>.*?)\s*")
_NAMED = re.compile(
    rf"(?P<name>[a-z][a-z /_]*?)\s*:\s*(?P<value>{_NUMBER})\s*(?P<unit>(?:[A-Za-z%]\S*)?)"
)
_RATE_UNIT = re.compile(r"(?!.*bps).*|[KMGT]?bps")
_NOT_NAMED = re.compile(
    r"(?=.*\d).*(?:\d\S*bps|throughput|total bytes|test duration|retrans segs)"
    r"|\d+\s+\S+\s+\S*\d"
)
_THREAD = re.compile(
    rf"(?P<index>\d{{1,6}})\s+(?P<time>{_NUMBER})\s+(?P<rate>{_NUMBER})(?P<unit>[KMG]?)bps"
)
_ROLE = re.compile(
    r"\bntttcp(?:\.exe)? (?P<options>(?:.*\s)?-(?P<option>[rs]).*)"
    r"|\*\*\* (?P<role>sender|receiver) role"
)
_LINUX = r"^NTTTCP for Linux \d|^\d\d:\d\d:\d\d INFO:\s+(?:throughput|total bytes)\s*:\d"


def _read_linux_text(file: Input) -> FlowSeries:
    values: dict[str, float] = {}
    way, side, version = transfer.Way(""), "", ""
    lines = WholeLines(file.text, closed=re.compile(r".*(?:bps|seconds|%)"))
    for line_number, line in lines:
        role = _ROLE.search(line)
        if role and not side:
            side = role["role"] or _ENDS[role["option"]]
            if role["options"]:
                way.protocol = "udp" if " -u" in f" {role['options']}" else "tcp"
        if title := re.match(r"NTTTCP for Linux (\S+)", line):
            version = title[1]
        log = _LOG.fullmatch(line)
        text = log["text"] if log else ""
        if thread := _THREAD.fullmatch(text):
            rate_bps = round(transfer.scaled(thread["rate"], thread["unit"]), 3)
            row = transfer.Interval(0.0, float(thread["time"]), throughput_bps=rate_bps)
            row.stream = thread["index"]
            way.rows.append(row)
        elif (named := _NAMED.fullmatch(text)) and _RATE_UNIT.fullmatch(named["unit"]):
            power = 1000.0 ** transfer.POWERS.get(named["unit"].removesuffix("bps"), 0)
            is_rate = named["unit"].endswith("bps")
            values.setdefault(
                named["name"], transfer.number_of(named["value"]) * (power if is_rate else 1.0)
            )
        elif _NOT_NAMED.match(text or line):
            lines.unread.append(line_number)
    if "throughput" not in values:
        raise file.refusal("ntttcp-nothing")
    total = transfer.Interval(
        0.0,
        values.get("test duration", nan),
        values.get("total bytes", nan),
        round(values["throughput"], 3),
        retransmit_count=values.get("retrans segs", nan),
    )
    warnings = lines.with_unread()
    return _of_end(file, way, total, side, warnings, partial=lines.cut, version=version)


_ENDS = {"r": transfer.RECEIVER, "s": transfer.SENDER}


def _of_end(
    file: Input, way: transfer.Way, total: transfer.Interval, side: str, warnings: list[Notice],
    **meta: Any,
) -> FlowSeries:  # fmt: skip
    """Return what one end of ntttcp counted; a rate that contradicts bytes and time is unknown."""
    if not side:
        warnings.append(Notice("iperf-csv-side"))
    if not transfer.agree(total, rate_step=0.01 * total.throughput_bps, time_step=0.01):
        raise file.refusal(
            "ntttcp-disagrees", field="total bytes", value=f"{total.payload_bytes:g}"
        )
    way.sent, way.received = (None, total) if side == transfer.RECEIVER else (total, None)
    for row in way.rows:
        row.side = side or transfer.SENDER
        way.streams.add(row.stream)
    way.rows = way.rows or transfer.whole_run(way)
    return transfer.flow_series(file, [[way]], warnings, tool="ntttcp", **meta)


def _read_linux_json(file: Input) -> FlowSeries:
    named = (pair for pair in file.first_object.items() if pair[0].startswith("ntt"))
    name, root = next((pair for pair in named if isinstance(pair[1], dict)), ("", {}))
    if not root:
        raise file.refusal("ntttcp-nothing")
    parts = {key.lower().replace("_", ""): part for key, part in root.items()}

    def number_in(part: Any, metric: str) -> float:
        for entry in part if isinstance(part, list) else [part]:
            if isinstance(entry, dict) and entry.get("metric") == metric:
                value, _, rest = str(entry.get("value", "")).partition(" ")
                if isnan(transfer.number_of(value)) or re.match(r"\s*\d", rest):
                    raise file.refusal(
                        "ntttcp-number", field="value", unit=metric,
                        value=shorten(str(entry.get("value", ""))),
                    )  # fmt: skip
                return transfer.number_of(value)
        return nan

    total = transfer.Interval(
        0.0,
        number_in(parts.get("realtime"), "s"),
        round(number_in(parts.get("totalbytes"), "MB") * 1024**2, 0),
        1e6 * number_in(parts.get("throughputs"), "mbps"),
    )
    if isnan(total.throughput_bps):
        raise file.refusal("ntttcp-nothing")
    udp = document.words(document.member(root, "parameters"), "udp").lower() == "true"
    way = transfer.Way("", protocol="udp" if udp else "tcp")
    for thread in document.rows(root, "threads"):
        rate_bps = 1e6 * number_in(thread.get("throughputs"), "mbps")
        row = transfer.Interval(
            0.0, number_in(thread.get("realTime"), "s"), throughput_bps=rate_bps
        )
        row.stream = shorten(document.words(thread, "index"), 20)
        way.rows.append(row)
    about = {name: document.words(root, name) for name in ("version", "computerName")}
    host = shorten(about["computerName"], 100)
    return _of_end(
        file, way, total, _ENDS[name[-1]], list(file.json.warnings),
        version=about["version"], host=host,
    )  # fmt: skip


def _is_linux_json(file: Input) -> bool:
    return file.is_json and any(
        re.fullmatch(r"nt{2,4}cp[rs]", name) and isinstance(root, dict)
        for name, root in file.first_object.items()
    )


NTTTCP_LINUX = Format(
    name="ntttcp for Linux",
    description="the text or JSON of ntttcp for Linux",
    recognize=lambda file: file.seen(_LINUX) or _is_linux_json(file),
    read=lambda file: _read_linux_json(file) if file.is_json else _read_linux_text(file),
    traps=(
        "Gbps count powers of 1000; total bytes are exact in the text, MB of 1024**2 in the JSON.",
        "The text does not say which end wrote it, if the command is not there; the JSON does.",
        "Rates of threads are not added up; warm-up and cool-down are not part of the result.",
    ),
    parts=(r"^\d\d:\d\d:\d\d (?:INFO|DBG ?): ?(?: Thread|Network| =| \d| test|[a-z]| {2}\w)",),
    needs="the line of the throughput",
)
