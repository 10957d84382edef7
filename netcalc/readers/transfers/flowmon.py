"""ns-3's FlowMonitor: XML with a row of statistics for each flow.

A document type is refused: it could hold entities that expand without end, and FlowMonitor writes
none.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import NAN
from netcalc.readers.transfers._text import origin, xml_root
from netcalc.samples import Meta, Table, fact_row

_TIME = re.compile(r"([+-]?\d{1,30}(?:\.\d+)?(?:e[+-]?\d{1,3})?)(fs|ps|ns|us|ms|s|min|h|d|y)?")
_UNITS = {
    "fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0,
    "h": 3600.0, "d": 86400.0, "y": 31536000.0,
}  # fmt: skip
_PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp"}
_MOST = 200_000


def _recognize(given: Input) -> bool:
    return given.seen(r"<FlowMonitor\b")


def _read(given: Input) -> Table:
    root = xml_root(given)
    flows = root.findall("./FlowStats/Flow")
    if root.tag != "FlowMonitor" or not flows:
        raise ReaderError("flowmon-nothing", file=given.name)
    if len(flows) > _MOST:
        raise ReaderError("flowmon-too-many", file=given.name, count=len(flows), limit=_MOST)
    named = {
        one.get("flowId", ""): one
        for kind in ("Ipv4FlowClassifier", "Ipv6FlowClassifier")
        for one in root.findall(f"./{kind}/Flow")
    }
    rows = [_row(given, one, named.get(one.get("flowId", ""))) for one in flows]
    warnings = []
    unmatched = [row["group"] for row in rows if not row["protocol"]]
    if named and unmatched:
        warnings.append(Notice("flowmon-unnamed", {"names": unmatched}))
    return Table(
        data={name: [row[name] for row in rows] for name in rows[0]},
        meta=Meta(
            tool="ns-3 FlowMonitor",
            clock="seconds of the simulation",
            units={
                "group": "text", "protocol": "text", "local": "text", "peer": "text",
                "first_sent_s": "s", "last_sent_s": "s", "first_received_s": "s",
                "last_received_s": "s", "packet_count": "1", "received_count": "1",
                "lost_count": "1", "sent_bytes": "byte", "received_bytes": "byte",
                "one_way_s": "s", "jitter_s": "s",
            },
            layers={"sent_bytes": "IP", "received_bytes": "IP"},
            facts=tuple(_facts(row) for row in rows),
            warnings=tuple(warnings),
            **origin(given),
        ),
    )  # fmt: skip


def _row(
    given: Input, flow: ElementTree.Element, named: ElementTree.Element | None
) -> dict[str, Any]:
    received = _count(given, flow, "rxPackets")
    delay, jitter = _time(given, flow, "delaySum"), _time(given, flow, "jitterSum")
    number = named.get("protocol", "") if named is not None else ""
    return {
        "group": shorten(f"flow {flow.get('flowId', '')}", 40),
        "protocol": _PROTOCOLS.get(number, number),
        "local": _end(named, "source"),
        "peer": _end(named, "destination"),
        "first_sent_s": _time(given, flow, "timeFirstTxPacket"),
        "last_sent_s": _time(given, flow, "timeLastTxPacket"),
        "first_received_s": _time(given, flow, "timeFirstRxPacket") if received else NAN,
        "last_received_s": _time(given, flow, "timeLastRxPacket") if received else NAN,
        "packet_count": _count(given, flow, "txPackets"),
        "received_count": received,
        "lost_count": _count(given, flow, "lostPackets"),
        "sent_bytes": _count(given, flow, "txBytes"),
        "received_bytes": _count(given, flow, "rxBytes"),
        "one_way_s": delay / received if received > 0 else NAN,
        "jitter_s": jitter / (received - 1) if received > 1 else NAN,
    }


def _end(named: ElementTree.Element | None, side: str) -> str:
    if named is None:
        return ""
    address = named.get(f"{side}Address", "")
    port = named.get(f"{side}Port", "")
    host = f"[{address}]" if ":" in address else address
    return shorten(f"{host}:{port}" if port else address, 80)


def _count(given: Input, flow: ElementTree.Element, name: str) -> float:
    text = flow.get(name, "")
    if not re.fullmatch(r"\d{1,20}", text):
        raise _bad(given, flow, name, text)
    return float(text)


def _time(given: Input, flow: ElementTree.Element, name: str) -> float:
    """Return a time in seconds: ns-3 writes ``+1.5e+09ns``."""
    found = _TIME.fullmatch(flow.get(name, ""))
    if found is None or found[2] is None:
        raise _bad(given, flow, name, flow.get(name, ""))
    value = float(found[1]) * _UNITS[found[2]]
    if not math.isfinite(value) or value < 0:
        raise _bad(given, flow, name, flow.get(name, ""))
    return value


def _bad(given: Input, flow: ElementTree.Element, name: str, text: str) -> ReaderError:
    flow_id = shorten(flow.get("flowId", "?"), 20)
    return ReaderError(
        "flowmon-value", file=given.name, field=name, value=shorten(text), flow=flow_id
    )


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a flow: bytes and rates at the IP layer, as ns-3 counts them."""
    sending = row["last_sent_s"] - row["first_sent_s"]
    receiving = row["last_received_s"] - row["first_received_s"]
    sent, received = row["packet_count"], row["received_count"]
    return fact_row(
        group=row["group"],
        protocol=row["protocol"],
        target=row["peer"],
        packet_count=sent,
        sent_count=sent,
        received_count=received,
        loss_ratio=row["lost_count"] / sent if 0 <= row["lost_count"] <= sent and sent else None,
        sent_byte_count=row["sent_bytes"],
        received_byte_count=row["received_bytes"],
        sent_rate_bps=8 * row["sent_bytes"] / sending if sending > 0 else None,
        received_rate_bps=8 * row["received_bytes"] / receiving if receiving > 0 else None,
        jitter_s=row["jitter_s"],
        partial=False,
    )


FORMAT = Format(
    name="FlowMonitor",
    description="the XML of ns-3's FlowMonitor",
    recognize=_recognize,
    read=_read,
    traps=(
        "Bytes are those of IP packets, with their headers: no payload.",
        "delaySum and jitterSum are sums over packets: the mean delay is over the received, the "
        "mean jitter over one less.",
        "Times are text with a unit, mostly ns; one without a unit is refused.",
        "A packet still on its way at the end is neither received nor lost.",
        "A flow is one way: the acknowledgements of TCP are a flow of their own.",
        "A rate is over the time from the first to the last packet.",
        "A document type, which could hold entities, is refused.",
    ),
)
