"""Paths as JSON of jc, which reads the text of traceroute."""

from __future__ import annotations

from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.paths._traces import Probe, Trace, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import PathSamples

_KEYS = {"destination_ip", "destination_name", "hops"}


def _recognize(given: Input) -> bool:
    return given.is_json and given.keys() >= _KEYS


def _read(given: Input) -> PathSamples:
    if given.json.fault is not None:
        raise given.json.fault
    found = [
        run for one in given.json.documents for run in (one if isinstance(one, list) else [one])
    ]
    traces = [_trace(run) for run in found if isinstance(run, dict)]
    traces = [trace for trace in traces if trace.probes]
    if not traces:
        raise ReaderError("no-path", file=given.name, field="hops")
    warnings = [*given.json.warnings, Notice("lost-probes-left-out")]
    unnumbered = sum(
        not number(hop, "hop") > 0
        for run in found
        if isinstance(run, dict)
        for hop in rows(run, "hops")
    )
    if unnumbered:
        warnings.append(Notice("implausible-hops", {"count": unnumbered}))
    return to_samples(given, traces, "traceroute (jc)", warnings, has_lost=False)


def _trace(run: dict[str, Any]) -> Trace:
    made = Trace(
        target=shorten(words(run, "destination_name", "destination_ip"), 100),
        address=shorten(words(run, "destination_ip"), 100),
        has_header=True,
    )
    for hop in rows(run, "hops"):
        count = number(hop, "hop")
        for one in rows(hop, "probes") if count > 0 else ():
            rtt_ms = number(one, "rtt")
            node, name = words(one, "ip"), words(one, "name")
            if not node or not rtt_ms >= 0:
                continue
            probe = Probe(count, rtt_ms / 1e3, node=node)
            probe.node_name = shorten(name, 200) if name != node else ""
            probe.mark = shorten(words(one, "annotation"), 20)
            made.probes.append(probe)
    return made


FORMAT = Format(
    name="traceroute JSON",
    description="the JSON of jc about a traceroute",
    recognize=_recognize,
    read=_read,
    traps=(
        "Times (rtt) are milliseconds.",
        "jc leaves out the stars of lost probes, so that their number is unknown.",
    ),
)
