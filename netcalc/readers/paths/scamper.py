"""Traces and pings of scamper: the JSON that sc_warts2json writes, a document in each line."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, nan
from typing import Any

from netcalc.readers.document import count, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.paths.traces import HopProbe, Trace, icmp_mark, to_samples
from netcalc.readers.pings import runs
from netcalc.readers.places import PROBES, TO_NODES, Counted
from netcalc.readers.source import note, shorten
from netcalc.samples import PathSamples, RttSamples

_CYCLES = frozenset({"cycle-start", "cycle-def", "cycle-stop"})
_FINISHED = ("COMPLETED", "NONE")
_ECHO_HEADERS_BYTES = {4: 28, 6: 48}
"""IP and ICMP headers, which the size of a probe includes."""
_UNANSWERED = {4: (3, 4, 5, 11, 12), 6: (1, 2, 3, 4)}
"""Types of ICMP that report an error."""
_PORT_CLOSED = {4: (3, 3), 6: (1, 4)}


def _results(file: Input) -> list[Mapping[str, Any]]:
    """Return the documents but those about cycles."""
    return [each for each in file.json.objects() if words(each, "type") not in _CYCLES]


_MEMBERS = r'"type"\s*:\s*"(?:trace|ping|cycle-\w+)"|"(?:firsthop|ping_sent)"\s*:'
"""What a document has near its beginning, as written or with its names in order."""


def _recognize(file: Input, kind: str, member: str) -> bool:
    if not file.is_json or not file.seen(_MEMBERS):
        return False
    first: Mapping[str, Any] = next(iter(_results(file)), {})
    return words(first, "type") == kind and {"version", "method", member} <= first.keys()


def _only(file: Input, kind: str) -> list[Mapping[str, Any]]:
    every = _results(file)
    kinds = sorted({words(each, "type") or "unknown" for each in every})
    if kinds != [kind]:
        raise file.refusal("scamper-kinds", field="type", kinds=kinds)
    return every


def _protocol(result: Mapping[str, Any]) -> str:
    return words(result, "method").partition("-")[0].lower()


def _read_trace(file: Input) -> PathSamples:
    traces = [trace for trace in map(_trace, _only(file, "trace")) if trace.probes]
    if not traces:
        raise file.refusal("no-path", field="hops", tool="scamper")
    traces[-1].cut |= file.json.fault is not None
    warnings = file.json.warnings_of_cut()
    note(warnings, "lost-probes-left-out", is_so=True)
    note(warnings, "implausible-hops", count=_negative(file, "trace", "hops"))
    return to_samples(file, traces, "scamper", warnings, has_lost=False)


def _negative(file: Input, kind: str, member: str) -> int:
    """Return how many times are below 0, which a clock that was set back gives: unknown ones."""
    return sum(number(each, "rtt") < 0 for run in _only(file, kind) for each in rows(run, member))


def _trace(result: Mapping[str, Any]) -> Trace:
    """Return one run; a hop without an answer is not in the file, but its number is."""
    reason = words(result, "stop_reason").upper()
    made = Trace(target=words(result, "dst"), address=words(result, "dst"))
    made.protocol, made.packet_bytes = _protocol(result), number(result, "probe_size")
    made.ended, made.gave_up = reason == "COMPLETED", reason not in _FINISHED
    made.cut = reason == "NONE"
    answers: dict[int, list[HopProbe]] = {}
    for hop in rows(result, "hops"):
        if number(hop, "probe_ttl") > 0:
            answers.setdefault(int(number(hop, "probe_ttl")), []).append(_probe(hop))
    first = count(result, "firsthop") or 1
    last = max([*answers, min(count(result, "hop_count") or 0, 255)])
    for ttl in range(first, last + 1):
        made.probes += answers.get(ttl) or [HopProbe(ttl, lost=True)]
    return made


def _probe(hop: Mapping[str, Any]) -> HopProbe:
    rtt_ms, node, name = number(hop, "rtt"), words(hop, "addr"), words(hop, "name")
    made = HopProbe(number(hop, "probe_ttl"), rtt_ms / 1e3 if rtt_ms >= 0 else nan, node=node)
    made.node_name = shorten(name, 200) if name != node else ""
    made.ttl, made.sequence = number(hop, "reply_ttl"), number(hop, "probe_id")
    kind, code = number(hop, "icmp_type"), number(hop, "icmp_code")
    if not isnan(kind) and not isnan(code):
        made.mark = icmp_mark(kind, code, ipv6=":" in node)
    return made


TRACE = Format(
    name="scamper trace",
    description="the JSON of a trace of scamper",
    recognize=lambda file: _recognize(file, "trace", "stop_reason"),
    read=_read_trace,
    traps=(
        "Times (rtt) are milliseconds.",
        "Probes without an answer are left out, so that their number is unknown; a hop without any "
        "answer has none.",
        "Types and codes of ICMP are those of its version: 3 is an unreachable target in IPv4 and "
        "an exceeded hop limit in IPv6.",
        "stop_reason says whether the target answered (COMPLETED).",
    ),
    tools={"scamper": Counted(probes=TO_NODES)},
)


def _read_ping(file: Input) -> RttSamples:
    every = [_run(result) for result in _only(file, "ping")]
    warnings = file.json.warnings_of_cut()
    note(warnings, "implausible-hops", count=_negative(file, "ping", "responses"))
    return runs.to_samples(file, every, "scamper (ping)", warnings)


def _run(result: Mapping[str, Any]) -> runs.Run:
    target, sent = words(result, "dst"), count(result, "ping_sent")
    version = 6 if ":" in target else 4
    made = runs.Run(target=target, protocol=_protocol(result), sent=sent, ended=True)
    if made.protocol == "icmp":
        made.payload_bytes = number(result, "probe_size") - _ECHO_HEADERS_BYTES[version]
    answered: set[float] = set()
    replies = errors = 0
    for reply in rows(result, "responses"):
        rtt_ms, sequence = number(reply, "rtt"), number(reply, "seq")
        probe = runs.Probe(payload_bytes=made.payload_bytes, sequence=sequence)
        probe.ttl = number(reply, "reply_ttl")
        if _is_error(reply, version, made.protocol) or isnan(rtt_ms):
            probe.lost = probe.error_reply = True
            errors += 1
        else:
            probe.rtt_s = rtt_ms / 1e3 if rtt_ms >= 0 else nan
            probe.duplicate = sequence in answered
            replies += not probe.duplicate
        answered.add(sequence)
        made.probes.append(probe)
    made.received = replies
    lost = set(range(sent or 0)) - answered
    made.probes += [
        runs.Probe(payload_bytes=made.payload_bytes, sequence=each, lost=True)
        for each in sorted(lost)
    ]
    made.probes.sort(key=lambda probe: probe.sequence)
    return made


def _is_error(reply: Mapping[str, Any], version: int, protocol: str) -> bool:
    """Whether a response is an error of a router: of UDP, a closed port is an answer."""
    kind, code = number(reply, "icmp_type"), number(reply, "icmp_code")
    if protocol == "udp" and (kind, code) == _PORT_CLOSED[version]:
        return False
    return kind in _UNANSWERED[version]


PING = Format(
    name="scamper ping",
    description="the JSON of a ping of scamper",
    recognize=lambda file: _recognize(file, "ping", "ping_sent"),
    read=_read_ping,
    traps=(
        "Times (rtt) are milliseconds; probe_size is the size of the IP packet.",
        "Probes without an answer are left out; how many were sent is in ping_sent.",
        "A response may be an error of a router, and is no reply then.",
    ),
    tools={"scamper (ping)": Counted(probes=PROBES)},
)
