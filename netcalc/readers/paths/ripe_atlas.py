"""Traceroutes of RIPE Atlas: JSON of one or many probes."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

from netcalc.readers.document import number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.paths.traces import HopProbe, Trace, to_samples
from netcalc.readers.pings.ripe_atlas import firmware_of, is_atlas, names_of, results, target_of
from netcalc.readers.source import note, shorten
from netcalc.samples import PathSamples

TRACEROUTE = "traceroute"
LAST_TRY = 255
"""Hop of a last try after several hops without an answer: it is the number of no hop."""
PORT_CLOSED = "p"
"""Error of a target that no program listens at: the usual end of a trace over UDP."""


def _read(file: Input) -> PathSamples:
    every, warnings = results(file, TRACEROUTE)
    names = names_of(every) if len(every) > 1 else [""]
    traces: list[Trace] = []
    late = tries = answered = 0
    for result, name in zip(every, names, strict=True):
        made = Trace(
            target=target_of(result),
            address=words(result, "dst_addr", "addr"),
            group=name,
            protocol=words(result, "proto").lower(),
            ended=number(result, "endtime") > 0,
        )
        for hop in rows(result, "result"):
            answers = rows(hop, "result")
            is_try = number(hop, "hop") >= LAST_TRY
            if is_try and not any(words(answer, "from") for answer in answers):
                tries += len(answers)
            else:
                late += sum("late" in answer for answer in answers)
                probes = [_probe(hop, each) for each in answers if "late" not in each]
                answered += is_try * sum(not probe.lost for probe in probes)
                made.probes += probes
        if made.probes:
            traces.append(made)
    if not traces:
        raise file.refusal("no-path", field="result", tool="RIPE Atlas")
    hops = [hop for result in every for hop in rows(result, "result")]
    note(warnings, "implausible-hops", count=sum(not number(hop, "hop") > 0 for hop in hops))
    note(warnings, "late-answers", count=late)
    note(warnings, "probes-of-last-try", count=tries)
    note(warnings, "last-try-answered", count=answered)
    return to_samples(file, traces, "RIPE Atlas", warnings, tool_version=firmware_of(every))


def _probe(hop: Mapping[str, Any], answer: Mapping[str, Any]) -> HopProbe:
    rtt_ms, node, error = number(answer, "rtt"), words(answer, "from"), answer.get("err")
    count = number(hop, "hop")
    count = nan if count >= LAST_TRY else count
    if rtt_ms != rtt_ms and not node:
        return HopProbe(count, lost=True)
    made = HopProbe(count, rtt_ms * 1e-3 if rtt_ms >= 0 else nan, node=node)
    made.ttl = number(answer, "ttl")
    if isinstance(error, str | int) and not isinstance(error, bool) and error != PORT_CLOSED:
        made.add_mark(f"!{shorten(str(error), 10)}")
    return made


FORMAT = Format(
    name="RIPE Atlas traceroute",
    description="a traceroute of RIPE Atlas",
    recognize=lambda file: is_atlas(file, TRACEROUTE),
    read=_read,
    traps=(
        "A star is a probe without an answer; it has no time.",
        "A late answer belongs to an earlier probe that is already lost, and is not counted twice.",
        "Hop 255 is a last try after hops without an answer, not the length of the path: its "
        "answers are those of a hop of unknown number.",
        "An error (err) is a mark of the answer, such as !N: the target was not reached.",
        "Each probe of the network is a path of its own.",
    ),
)
