"""The text of tracepath: a line for each answer, with the path MTU where it becomes known."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import UDP_TO_NODES, Counted, Format, Input
from netcalc.readers.paths.reports import split_name
from netcalc.readers.paths.traces import Probe, Trace, facts_of, to_samples
from netcalc.readers.source import no_measurement, shorten
from netcalc.samples import PathSamples

_LINE = re.compile(r"^\s?(?P<hop>[0-9]{1,3})(?P<own>\?)?:\s+(?P<rest>\S(?:.*\S)?)\s*$")
_ANSWER = re.compile(
    r"^(?P<node>\S.*?)(?<=\S)\s+(?:asymm\s+(?P<asymm>[0-9]+)\s+)?"
    r"(?P<time>[0-9]+(?:[.,][0-9]+)?)\s*ms(?=\s|$)(?P<more>.*)$"
)
_MTU = re.compile(r"pmtu ([0-9]+)")
_RESUME = re.compile(r"^\s*Resume: pmtu (?P<mtu>[0-9]+)(?: hops (?P<hops>[0-9]+))?")
_TOO_MANY = re.compile(r"^\s*Too many hops: pmtu ([0-9]+)")
TOO_LARGE = "pmtu"
"""Mark of an answer that says the probe was too large for a link ahead."""


def _recognize(file: Input) -> bool:
    return file.seen(r"^\s?[0-9]{1,3}\?: +\[LOCALHOST\]") or file.seen(
        r"^\s?[0-9]{1,3}: {2}\S+.*[0-9.]+ ?ms(?:\s+(?:pmtu [0-9]+|reached|!\S))?\s*$"
        r"|^\s*Resume: pmtu "
    )


def _read(file: Input) -> PathSamples:
    text = file.text
    traces: list[Trace] = []
    unread: list[int] = []
    skipped: list[int] = []
    cut = False
    for number, line in zip(text.numbers, text.lines, strict=True):
        if not line.strip():
            continue
        if number == text.numbers[-1] and not text.ends_complete and not _RESUME.match(line):
            cut = True
            continue
        if resume := _RESUME.match(line):
            if traces:
                traces[-1].ended = True
                traces[-1].path_mtu_bytes = float(resume["mtu"])
            continue
        match = _LINE.match(line)
        if match is None:
            if not _TOO_MANY.match(line):
                skipped.append(number)
            continue
        if not traces or traces[-1].ended or (match["own"] and traces[-1].probes):
            traces.append(Trace())
        if match["own"]:
            if mtu := _MTU.search(match["rest"]):
                traces[-1].path_mtu_bytes = float(mtu[1])
        elif not _probe(traces[-1], int(match["hop"]), match["rest"]):
            unread.append(number)
    traces = [trace for trace in traces if trace.probes]
    if not traces:
        if unread:
            at = text.numbers.index(unread[0])
            raise ReaderError(
                "traceroute-unreadable", file=file.name, line=unread[0], field="time",
                value=shorten(text.lines[at]), unit="ms",
            )  # fmt: skip
        raise no_measurement("no-path", file.unpacked, text)
    traces[-1].cut = cut or traces[-1].cut
    for trace in traces:
        reached = next((p.node for p in trace.probes if "reached" in p.mark), "")
        trace.target = reached
        trace.cut = trace.cut or not trace.ended
    warnings = list(text.warnings)
    for notice, numbers in (("path-lines-unread", unread), ("not-of-a-path", skipped)):
        if numbers:
            warnings.append(Notice(notice, {"numbers": numbers}))
    samples = to_samples(file, traces, "tracepath", warnings)
    return _without_too_large(samples, traces)


def _probe(trace: Trace, hop: int, rest: str) -> bool:
    """Add the line of a hop; False if it is not readable."""
    if rest == "no reply":
        trace.probes.append(Probe(hop, lost=True))
        return True
    match = _ANSWER.match(rest)
    if match is None:
        return rest.startswith("send failed")
    node, name = split_name(match["node"])
    if name == "???":
        name = ""
    rtt_s = float(match["time"].replace(",", ".")) * 1e-3
    made = Probe(hop, rtt_s, node=node, node_name=name)
    for mark in match["more"].split():
        if mark.startswith("!") or mark == "reached":
            made.add_mark(mark)
    if mtu := _MTU.search(match["more"]):
        trace.path_mtu_bytes = float(mtu[1])
        made.add_mark(f"{TOO_LARGE} {mtu[1]}")
    trace.probes.append(made)
    return True


def _without_too_large(samples: PathSamples, traces: list[Trace]) -> PathSamples:
    """Take no time and no hop from answers that a probe is too large: they are from before it.

    They are answers all the same, and counted as such.
    """
    facts = []
    for trace in traces:
        kept = [TOO_LARGE not in mark for mark in samples.mark.tolist()]  # type: ignore[union-attr]
        columns: dict[str, Any] = {n: column[kept] for n, column in samples.columns().items()}
        row = dict(facts_of(trace, PathSamples(**columns)))
        row |= {
            name: count
            for name, count in samples.hop_facts(trace.group).items()
            if name in ("probe_count", "reply_count")
        }
        facts.append(row)
    return replace(samples, meta=replace(samples.meta, facts=tuple(facts)))


FORMAT = Format(
    name="tracepath",
    description="the output of tracepath",
    recognize=_recognize,
    read=_read,
    traps=(
        "The first line, with a question mark, is the sender itself and no hop.",
        "Times have no blank before their unit, and may be many seconds: late answers are printed "
        "under the hop they belong to.",
        "The path MTU is that of the last line, which is the smallest found.",
        "An answer with a path MTU comes from before its hop: it counts for no time of that hop.",
        "Without its last line (Resume) a run was interrupted.",
    ),
    tools={
        "tracepath": Counted(probes=UDP_TO_NODES),
    },
)
