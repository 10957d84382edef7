"""The JSON of dublin-traceroute: one path for each flow, distinguished by its port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.readers.document import member, number, words
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._traces import NAN, Probe, Trace, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import PathSamples


def _flows(document: Any) -> Mapping[str, Any]:
    """Return the flows of a document: port -> its hops."""
    return member(document, "flows")


def _recognize(given: Input) -> bool:
    if not {"flows"} <= given.keys():
        return False
    return any(
        isinstance(hop, dict) and {"sent", "is_last", "rtt_usec"} <= set(hop)
        for hops in _flows(given.json.documents[0]).values()
        for hop in (hops if isinstance(hops, list) else [])
    )


def _read(given: Input) -> PathSamples:
    traces: list[Trace] = []
    several = len(given.json.documents) > 1
    for count, document in enumerate(given.json.documents, 1):
        flows = _flows(document)
        for port, hops in flows.items():
            made = Trace(ended=True)
            if len(flows) > 1 or several:
                made.group = f"port {shorten(port, 10)}" + (f", run {count}" if several else "")
            for hop in hops if isinstance(hops, list) else []:
                if isinstance(hop, dict):
                    _add(made, hop)
            if made.probes:
                traces.append(made)
    if not traces:
        raise ReaderError("no-path", file=given.name, field="flows")
    traces[-1].cut = given.json.fault is not None
    return to_samples(given, traces, "dublin-traceroute", given.text.warnings)


def _add(trace: Trace, hop: Mapping[str, Any]) -> None:
    """Add the probe of one hop."""
    sent = member(hop, "sent", "ip")
    count = number(sent, "ttl")
    if not count > 0:
        return
    trace.target = words(sent, "dst") or trace.target
    trace.protocol = "udp" if member(hop, "sent", "udp") else trace.protocol
    if not isinstance(hop.get("received"), dict):
        trace.probes.append(Probe(count, lost=True))
        return
    rtt = number(hop, "rtt_usec")
    node, name = words(member(hop, "received", "ip"), "src"), words(hop, "name")
    made = Probe(count, rtt * 1e-6 if rtt > 0 else NAN, node=node)
    made.node_name = shorten(name, 200) if name != node else ""
    made.ttl = number(member(hop, "received", "ip"), "ttl")
    trace.probes.append(made)


FORMAT = Format(
    name="dublin-traceroute",
    description="the JSON of dublin-traceroute",
    recognize=_recognize,
    read=_read,
    traps=(
        "Each flow, named by its port, is a path of its own: balancers send them different ways.",
        "A hop without what was received is a lost probe, and its time of 0 is none.",
        "Times (rtt_usec) are microseconds.",
        "A NAT on the way (nat_id) may show the address of another node.",
    ),
)
