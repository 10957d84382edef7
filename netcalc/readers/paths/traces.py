"""Runs of a tool that traces a path: probes to each hop, and their facts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from netcalc.messages import Notice
from netcalc.readers.format import Input
from netcalc.readers.source import shorten
from netcalc.samples import Fact, Meta, PathSamples, fact_row

NAN = math.nan

ADDRESS = re.compile(
    r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f.]{0,15}){2,8}(?:%\w+)?"
)

REFUSALS = re.compile(r"![HNPXSFACVU0-9<?]?")
"""Marks of an answer that ends the path: unreachable or prohibited."""


@dataclass(slots=True)
class Probe:
    """One probe, as :class:`netcalc.samples.PathSamples` has it."""

    hop: float
    rtt_s: float = NAN
    lost: bool = False
    node: str = ""
    node_name: str = ""
    mark: str = ""
    group: str = ""
    sequence: float = NAN
    ttl: float = NAN
    resolution_s: float = 0.0

    def add_mark(self, mark: str) -> None:
        """Add what the tool says of the answer."""
        self.mark = f"{self.mark} {mark}".strip()


COLUMNS = tuple(each.name for each in fields(Probe))


@dataclass(slots=True)
class Trace:
    """One run to one target."""

    target: str = ""
    address: str = ""
    limit: int = 0
    path_mtu_bytes: float = NAN
    ended: bool = False
    cut: bool = False
    has_header: bool = False
    protocol: str = ""
    group: str = ""
    probes: list[Probe] = field(default_factory=list)

    @property
    def last_hop(self) -> float:
        """The highest hop so far; -1 before the first."""
        return self.probes[-1].hop if self.probes else -1.0

    def number(self) -> None:
        """Number the probes of each hop."""
        seen: dict[float, int] = {}
        for probe in self.probes:
            seen[probe.hop] = seen.get(probe.hop, 0) + 1
            if math.isnan(probe.sequence):
                probe.sequence = seen[probe.hop]

    @property
    def partial(self) -> bool:
        """Whether the run did not come to an end: no target, no refusal, hops left to try."""
        if self.cut or not self.probes:
            return True
        if self.ended:
            return False
        last = [probe for probe in self.probes if probe.hop == self.last_hop]
        if any(REFUSALS.search(probe.mark) for probe in last):
            return False
        if self.limit and self.last_hop >= self.limit:
            return False
        ends = {self.target, self.address} - {""}
        return not any({probe.node, probe.node_name} & ends for probe in last)


def facts_of(trace: Trace, samples: PathSamples) -> dict[str, Fact]:
    """Return the row of facts of one run."""
    return {
        **fact_row(group=trace.group, target=trace.target, protocol=trace.protocol),
        **samples.hop_facts(trace.group),
        **fact_row(path_mtu_bytes=trace.path_mtu_bytes, partial=trace.partial),
    }


def name_groups(traces: Sequence[Trace]) -> None:
    """Give each run a name, where there are several: its target, or its number."""
    if len(traces) < 2:
        return
    targets = [trace.target for trace in traces]
    distinct = len(set(targets)) == len(targets) and all(targets)
    for number, trace in enumerate(traces, 1):
        trace.group = trace.group or (trace.target if distinct else f"run {number}")


def to_samples(
    file: Input,
    traces: Sequence[Trace],
    tool: str,
    warnings: Sequence[Notice] = (),
    *,
    has_lost: bool = True,
    **meta: Any,
) -> PathSamples:
    """Return the probes of all runs as one container, with a row of facts for each.

    Without the lost probes (``has_lost``) nobody knows how many probes there were.
    """
    name_groups(traces)
    for trace in traces:
        trace.number()
        for probe in trace.probes:
            probe.group = trace.group
    probes = [probe for trace in traces for probe in trace.probes]
    columns: dict[str, Any] = {name: [getattr(each, name) for each in probes] for name in COLUMNS}
    if not np.any(columns["resolution_s"]):
        columns["resolution_s"] = []
    bare = PathSamples(**columns)
    source = file.unpacked
    targets = list(dict.fromkeys(trace.target for trace in traces if trace.target))
    meta_of_runs = Meta(
        tool=tool,
        target=shorten(", ".join(targets), 200),
        source=source.name if source.is_file else "",
        sha256=source.sha256,
        facts=tuple(
            {
                name: fact
                for name, fact in facts_of(trace, bare).items()
                if has_lost or name != "probe_count"
            }
            for trace in traces
        ),
        warnings=tuple(warnings),
        partial=source.grew or any(trace.partial for trace in traces),
        **meta,
    )
    return PathSamples(**columns, meta=meta_of_runs)
