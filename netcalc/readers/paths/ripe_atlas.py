"""Traceroutes of RIPE Atlas: JSON of one or many probes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.paths.traces import Probe, Trace, to_samples
from netcalc.readers.pings.ripe_atlas import is_atlas, name_of, results_of, target_of
from netcalc.readers.source import shorten
from netcalc.samples import PathSamples

TRACEROUTE = "traceroute"
LAST_TRY = 255
"""Hop of a last try after several hops without an answer: it is the number of no hop."""


def _recognize(file: Input) -> bool:
    return is_atlas(file, TRACEROUTE)


def _read(file: Input) -> PathSamples:
    every, warnings = results_of(file, TRACEROUTE)
    probes = [str(result.get("prb_id")) for result in every]
    repeated = len(set(probes)) < len(probes)
    traces: list[Trace] = []
    late = tries = 0
    for result in every:
        made = Trace(target=target_of(result), address=words(result, "dst_addr", "addr"))
        made.group = name_of(result, repeated) if len(every) > 1 else ""
        made.protocol = words(result, "proto").lower()
        made.ended = number(result, "endtime") > 0
        counts = [_hop(made, hop) for hop in rows(result, "result")]
        late += sum(count for count, _ in counts)
        tries += sum(count for _, count in counts)
        if made.probes:
            traces.append(made)
    if not traces:
        raise ReaderError("no-path", file=file.name, field="result")
    if late:
        warnings.append(Notice("late-answers", {"count": late}))
    if tries:
        warnings.append(Notice("probes-of-last-try", {"count": tries}))
    versions = sorted(
        {f"{number(result, 'fw'):.0f}" for result in every if number(result, "fw") > 0}
    )
    return to_samples(
        file, traces, "RIPE Atlas", warnings, tool_version=shorten(", ".join(versions), 40)
    )


def _hop(trace: Trace, hop: Mapping[str, Any]) -> tuple[int, int]:
    """Add the probes of a hop; return how many late answers and last tries were left out."""
    count = number(hop, "hop")
    answers = rows(hop, "result")
    if count >= LAST_TRY:
        return 0, len(answers)
    late = 0
    for answer in answers:
        if "late" in answer:
            late += 1
            continue
        rtt = number(answer, "rtt")
        node = words(answer, "from")
        if rtt != rtt and not node:
            trace.probes.append(Probe(count, lost=True))
            continue
        made = Probe(count, rtt * 1e-3 if rtt >= 0 else float("nan"), node=node)
        made.ttl = number(answer, "ttl")
        error = answer.get("err")
        if isinstance(error, str | int) and not isinstance(error, bool):
            made.add_mark(f"!{shorten(str(error), 10)}")
        trace.probes.append(made)
    return late, 0


FORMAT = Format(
    name="RIPE Atlas traceroute",
    description="a traceroute of RIPE Atlas",
    recognize=_recognize,
    read=_read,
    traps=(
        "A star is a probe without an answer; it has no time.",
        "A late answer belongs to an earlier probe that is already lost, and is not counted twice.",
        "Hop 255 is a last try after hops without an answer, not the length of the path.",
        "An error (err) is a mark of the answer, such as !H, whose time counts.",
        "Each probe of the network is a path of its own.",
    ),
)
