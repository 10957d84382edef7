"""Output of the descendants of ttcp: nuttcp and ntttcp."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers.runs import (
    NAN,
    RECEIVER,
    SENDER,
    Row,
    Total,
    Way,
    columns_of,
    name_groups,
    origin,
    whole_lines,
    xml_root,
)
from netcalc.samples import Fact, FlowSeries, Meta

_NUMBER = r"\d{1,15}(?:\.\d{1,9})?"
_TEXT = re.compile(
    rf"\s*(?:(?P<id>\S+: )\s*)?(?P<size>{_NUMBER}) MB /\s*(?P<time>{_NUMBER}) sec =\s*"
    rf"(?P<rate>{_NUMBER}) Mbps(?P<rest>.*)"
)
_PARSE = re.compile(
    rf"\s*(?:\S+: \s*)?megabytes=(?P<size>{_NUMBER}) real_sec(?P<total>onds)?=(?P<time>{_NUMBER}) "
    rf"rate_Mbps=(?P<rate>{_NUMBER})(?P<rest>.*)"
)
_VERBOSE = re.compile(
    rf"nuttcp-(?P<end>[tr]): (?P<size>{_NUMBER}) MB in (?P<time>{_NUMBER}) real seconds = .*= "
    rf"(?P<rate>{_NUMBER}) Mbps.*"
)
_LIKE = r"\bMB /|^\s*megabytes=|^nuttcp-[tr]: .* MB in"
_RETRANSMITS = re.compile(r"(?:(?<![=\d])(\d{1,15}) (?:host-)?retrans\b|\bretrans=(\d{1,15}))")
_DROPS = re.compile(r"(\d{1,15}) /\s*(\d{1,15}) ~?drop/pkt|drop=(\d{1,15}) pkt=(\d{1,15})")
_CONNECTED = re.compile(
    rf"nuttcp-[tr]: connect to \S+ with mss=(?P<mss>\d{{1,6}})(?:, RTT=(?P<rtt>{_NUMBER}) ms)?"
)
_AGAIN = re.compile(r"nuttcp-t: retrans = (\d{1,15})\s*")
_RTT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) msRTT|rtt_ms=(\d{1,9}(?:\.\d{1,9})?)")


def _recognize_nuttcp(given: Input) -> bool:
    return given.seen(
        r"^ *(?:\S+: *)?[\d.]+ MB /\s+[\d.]+ sec =\s+[\d.]+ Mbps|^nuttcp-[tr]: |"
        r"^ *(?:\S+: )?megabytes=[\d.]+ real_sec"
    )


def _read_nuttcp(given: Input) -> FlowSeries:
    warnings: list[Notice] = []
    unread: list[int] = []
    ways = [Way("")]
    connected: tuple[float, float] = NAN, NAN
    summed: Way | None = None
    lines, cut = whole_lines(given, warnings)
    for number, line in lines:
        if not line.strip():
            continue
        row = _TEXT.fullmatch(line) or _PARSE.fullmatch(line)
        verbose = _VERBOSE.fullmatch(line)
        way = ways[-1]
        if found := _CONNECTED.match(line):
            connected = float(found["mss"]), float(found["rtt"] or NAN) / 1e3
        elif (again := _AGAIN.fullmatch(line)) and way.sent:
            way.sent.retransmit_count = float(again[1])
        elif verbose:
            if verbose["end"] == "t" and (way.sent or way.received):
                ways.append(way := Way(""))
            total = _total(verbose, "")
            way.protocol = way.protocol or "tcp"
            if not (way.sent or way.received):
                way.mss_bytes, way.rtt_s = connected
                connected = NAN, NAN
            if verbose["end"] == "t":
                way.sent = total
            else:
                way.received = total
        elif row:
            rest = row["rest"]
            is_total = "%TX" in rest or "%RX" in rest or row.groupdict().get("total") is not None
            if way.received and (not is_total or not way.sent or way is summed):
                ways.append(way := Way(""))
            total = _total(row, rest)
            way.protocol = "udp" if total.datagram_count == total.datagram_count else "tcp"
            if is_total:
                way.received, summed = total, way
                way.sent = Total(
                    duration_s=total.duration_s, retransmit_count=total.retransmit_count
                )
                way.rtt_s = _rtt(rest)
            else:
                way.rows.append(_interval(way, total))
        elif re.search(_LIKE, line):
            unread.append(number)
    ways = [way for way in ways if way.rows or way.received or way.sent]
    if not ways:
        raise ReaderError("nuttcp-nothing", file=given.name)
    if unread:
        warnings.append(Notice("transfer-lines-unread", {"numbers": unread}))
    facts = []
    name_groups([[way] for way in ways])
    for way in ways:
        way.partial = way.received is None
        way.streams.add("1")
        facts.append(_facts(way))
        if not way.rows:
            way.rows = _whole(way)
    ways[-1].partial |= cut
    if cut:
        facts[-1]["partial"] = True
    known = [way.rtt_s for way in ways if way.rtt_s == way.rtt_s]
    return FlowSeries(
        **columns_of(ways),
        meta=Meta(
            tool="nuttcp",
            clock="seconds since the start of the run",
            printed={"handshake_rtt_s": known} if known else {},
            facts=tuple(facts),
            warnings=tuple(warnings),
            partial=any(way.partial for way in ways),
            **origin(given),
        ),
    )


def _total(row: re.Match[str], rest: str) -> Total:
    retransmits, drops = _RETRANSMITS.search(rest), _DROPS.search(rest)
    lost, sent = NAN, NAN
    if drops:
        lost, sent = (float(one) for one in drops.groups() if one is not None)
    return Total(
        byte_count=float(round(float(row["size"]) * 1024**2)),
        duration_s=float(row["time"]),
        rate_bps=float(row["rate"]) * 1e6,
        retransmit_count=float(retransmits[1] or retransmits[2]) if retransmits else NAN,
        datagram_count=sent,
        lost_count=NAN if lost > sent else lost,
    )


def _interval(way: Way, total: Total) -> Row:
    begin = way.rows[-1].start_s + way.rows[-1].duration_s if way.rows else 0.0
    return Row(
        start_s=begin,
        duration_s=total.duration_s,
        payload_bytes=total.byte_count,
        throughput_bps=total.rate_bps,
        side=RECEIVER,
        retransmit_count=total.retransmit_count,
        datagram_count=total.datagram_count,
        lost_count=total.lost_count,
    )


def _whole(way: Way) -> list[Row]:
    """Return the whole run as one interval for each end that counted it."""
    made = []
    for side, total in ((SENDER, way.sent), (RECEIVER, way.received)):
        if total is not None and total.rate_bps == total.rate_bps:
            row = _interval(Way(""), total)
            row.side, row.group = side, way.group
            made.append(row)
    return made


def _facts(way: Way) -> dict[str, Fact]:
    facts = dict(way.facts())
    facts.pop("stream_count", None)  # -N is not in the output
    return facts


def _rtt(rest: str) -> float:
    found = _RTT.search(rest)
    return float(found[1] or found[2]) / 1e3 if found else NAN


NUTTCP = Format(
    name="nuttcp",
    description="the output of nuttcp",
    recognize=_recognize_nuttcp,
    read=_read_nuttcp,
    traps=(
        "MB are 1024**2 bytes, Mbps are 10**6 bit/s.",
        "Counts are the receiver's; with -v the line nuttcp-t has the sender's.",
        "The direction (-r turns it) and the number of streams (-N) are not in the output.",
        "drop/pkt are datagrams lost and sent.",
        "The line with %TX and %RX is the total and no interval; without it the run was cut.",
        "msRTT is that of the handshake.",
    ),
)


_SIDES = {"ntttcps": SENDER, "ntttcpr": RECEIVER}
_WHOLE_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_POWERS = (1024.0**2, 1e6)  # what MB may be: Windows counts in powers of 1024
_TOLERANCE = 0.002


def _recognize_ntttcp(given: Input) -> bool:
    return given.seen(r"^\s*(?:<\?xml[^>]*>\s*)?<ntttcp[sr]\b")


def _read_ntttcp(given: Input) -> FlowSeries:
    root = xml_root(given)
    side = _SIDES.get(root.tag)
    if side is None:
        raise ReaderError("damaged-xml", file=given.name)
    total = _checked_total(given, root)
    udp = root.findtext("parameters/udp", "").strip().lower() == "true"
    way = Way("", protocol="udp" if udp else "tcp")
    if side == SENDER:
        way.sent = total
    else:
        way.received = total
    for thread in root.findall("thread"):
        row = Row(
            0.0,
            _number(given, thread, "realtime", "s"),
            throughput_bps=1e6 * _number(given, thread, "throughput", "mbps"),
            stream=shorten(thread.get("index", ""), 20),
            side=side,
        )
        if not math.isnan(row.duration_s):
            way.rows.append(row)
            way.streams.add(row.stream)
    if not way.rows:
        way.rows.append(Row(0.0, total.duration_s, total.byte_count, total.rate_bps, side=side))
    return FlowSeries(
        **columns_of([way]),
        meta=Meta(
            tool="ntttcp",
            tool_version=shorten(root.get("version", ""), 40),
            host=shorten(root.get("computername", ""), 100),
            clock="seconds since the start of the run",
            printed=_printed(given, root),
            facts=(way.facts(),),
            warnings=tuple(given.text.warnings),
            partial=given.unpacked.grew,
            **origin(given),
        ),
    )


def _checked_total(given: Input, root: ElementTree.Element) -> Total:
    """Return the total; refuse it where bytes, time and rate do not agree."""
    length_s = _number(given, root, "realtime", "s")
    rate_bps = 1e6 * _number(given, root, "throughput", "mbps")
    megabytes = _number(given, root, "total_bytes", "MB")
    if math.isnan(rate_bps) or not length_s > 0:
        raise ReaderError("ntttcp-nothing", file=given.name)
    for power in _POWERS:
        size = megabytes * power
        if math.isnan(size) or abs(8 * size / length_s - rate_bps) <= _TOLERANCE * rate_bps:
            return Total(size if math.isnan(size) else round(size), length_s, rate_bps)
    raise ReaderError(
        "ntttcp-disagrees", file=given.name, field="total_bytes", value=f"{megabytes:g}", unit="MB"
    )


def _number(given: Input, part: ElementTree.Element, name: str, metric: str = "") -> float:
    """Return the number of an element with a unit; nan without the element."""
    for one in part.findall(name):
        if one.get("metric", "") != metric:
            continue
        text = (one.text or "").strip()
        if not _WHOLE_NUMBER.fullmatch(text):
            raise ReaderError(
                "ntttcp-number",
                file=given.name,
                field=name,
                value=shorten(text),
                unit=metric or None,
            )
        return float(text)
    return NAN


def _printed(given: Input, root: ElementTree.Element) -> dict[str, float]:
    """Return what the system counted meanwhile: of all its connections, not of this run alone."""
    found = {
        "system_packets_sent": _number(given, root, "packets_sent"),
        "system_packets_received": _number(given, root, "packets_received"),
        "system_packets_retransmitted": _number(given, root, "packets_retransmitted"),
        "system_processor_ratio": _number(given, root, "cpu", "%") / 100,
        "write_bytes": _number(given, root, "bufferLen"),
        "errors": _number(given, root, "errors"),
    }
    return {name: value for name, value in found.items() if not math.isnan(value)}


NTTTCP = Format(
    name="ntttcp XML",
    description="the XML of ntttcp",
    recognize=_recognize_ntttcp,
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
)
