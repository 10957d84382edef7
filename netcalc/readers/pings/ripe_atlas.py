"""Pings of RIPE Atlas: JSON of one or many probes, an array or a document in each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import number, rows, words
from netcalc.readers.format import PROBES, Counted, Format, Input
from netcalc.readers.pings.runs import NAN, Probe, Run, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

PING = "ping"


def is_atlas(file: Input, kind: str) -> bool:
    """Whether the first result is of a kind of measurement of RIPE Atlas."""
    if not file.is_json or not file.seen(r'"(?:prb_id|msm_id)"'):
        return False
    first = next(results(file), {})
    return {"msm_id", "prb_id"} <= first.keys() and words(first, "type") == kind


def results(file: Input) -> Iterator[Mapping[str, Any]]:
    """Yield the results of all documents, in arrays or not."""
    for document in file.json.documents:
        for result in document if isinstance(document, list) else [document]:
            if isinstance(result, Mapping):
                yield result


def results_of(file: Input, kind: str) -> tuple[list[Mapping[str, Any]], list[Notice]]:
    """Return the results of one kind, and warnings about the others.

    Raises
    ------
    ReaderError
        If there are results of different kinds, which do not form one measurement.
    """
    every = list(results(file))
    kinds = sorted({words(result, "type") or "unknown" for result in every})
    if kinds != [kind]:
        raise ReaderError("atlas-kinds", file=file.name, field="type", kinds=kinds)
    warnings = list(file.json.warnings)
    fault = file.json.fault
    if fault is not None:
        cut = {"line": fault.values.get("line"), "offset": fault.values.get("offset")}
        warnings.append(Notice("document-cut", cut))
    return every, warnings


def name_of(result: Mapping[str, Any], repeated: bool) -> str:
    """Return the group of a result: its probe, and when it measured if that is needed."""
    probe = f"probe {number(result, 'prb_id'):.0f}"
    return f"{probe} at {number(result, 'timestamp'):.0f}" if repeated else probe


def target_of(result: Mapping[str, Any]) -> str:
    """Return the target; the oldest firmware calls it otherwise."""
    return words(result, "dst_name", "name") or words(result, "dst_addr", "addr")


def _recognize(file: Input) -> bool:
    return is_atlas(file, PING)


def _read(file: Input) -> RttSamples:
    every, warnings = results_of(file, PING)
    probes = [result.get("prb_id") for result in every]
    repeated = len(set(map(str, probes))) < len(probes)
    runs = [_run(result, repeated) for result in every]
    differ = sum(bool(run.disagreements()) for run in runs)
    if differ and len(runs) > 8:
        warnings.append(Notice("results-differ", {"count": differ}))
    versions = sorted(
        {f"{number(result, 'fw'):.0f}" for result in every if number(result, "fw") > 0}
    )
    return to_samples(
        file, runs, "RIPE Atlas", warnings, tool_version=shorten(", ".join(versions), 40)
    )


def _run(result: Mapping[str, Any], repeated: bool) -> Run:
    made = Run(target=target_of(result), group=name_of(result, repeated), ended=True)
    made.protocol = words(result, "proto").lower()
    size, ttl = number(result, "size"), number(result, "ttl")
    for reply in rows(result, "result"):
        rtt = number(reply, "rtt")
        if rtt >= 0:
            made.probes.append(
                Probe(
                    rtt * 1e-3,
                    payload_bytes=size,
                    duplicate=bool(number(reply, "dup") > 0),
                    ttl=number(reply, "ttl") if "ttl" in reply else ttl,
                )
            )
        elif "x" in reply or "error" in reply or "err" in reply or rtt < 0:
            wrong = "error" in reply or "err" in reply
            made.probes.append(Probe(payload_bytes=size, lost=True, error_reply=wrong))
        else:
            made.probes.append(Probe(payload_bytes=size, lost=True))
    sent, received = number(result, "sent"), number(result, "rcvd")
    made.sent = int(sent) if sent >= 0 else None
    made.received = int(received) if received >= 0 else None
    duplicates = number(result, "dup")
    made.duplicates = int(duplicates) if duplicates >= 0 else None
    for name, printed in (("rtt_min_s", "min"), ("rtt_max_s", "max")):
        value = number(result, printed)
        setattr(made, name, value * 1e-3 if value >= 0 else NAN)
    made.printed = {
        name: value
        for name, value in (("sent", made.sent), ("received", made.received))
        if value is not None
    }
    return made


FORMAT = Format(
    name="RIPE Atlas ping",
    description="a ping of RIPE Atlas",
    recognize=_recognize,
    read=_read,
    traps=(
        "A probe without an answer is a star in the file, not a time.",
        "min, avg and max of -1 mean that there was no answer.",
        "Each probe of the network is a host of its own; results are not mixed.",
        "A result may be an array, one document, or a document in each line.",
        "The firmware of the first generations has other names for the target.",
        "Results of several kinds in one file are refused.",
    ),
    tools={"RIPE Atlas": Counted(probes=PROBES)},
)
