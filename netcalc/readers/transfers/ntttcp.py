"""The XML of ntttcp, of Windows and Linux: a total, and the rate of each thread."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree

from netcalc.errors import ReaderError
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import NAN, RECEIVER, SENDER, Row, Total, Way, columns_of
from netcalc.readers.transfers._text import origin, xml_root
from netcalc.samples import FlowSeries, Meta

_SIDES = {"ntttcps": SENDER, "ntttcpr": RECEIVER}
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_POWERS = (1024.0**2, 1e6)  # what MB may be: Windows counts in powers of 1024
_TOLERANCE = 0.002


def _recognize(given: Input) -> bool:
    return given.seen(r"^\s*(?:<\?xml[^>]*>\s*)?<ntttcp[sr]\b")


def _read(given: Input) -> FlowSeries:
    root = xml_root(given)
    side = _SIDES.get(root.tag)
    if side is None:
        raise ReaderError("damaged-xml", file=given.name)
    total = _total(given, root)
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


def _total(given: Input, root: ElementTree.Element) -> Total:
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
        if not _NUMBER.fullmatch(text):
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


FORMAT = Format(
    name="ntttcp XML",
    description="the XML of ntttcp",
    recognize=_recognize,
    read=_read,
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
