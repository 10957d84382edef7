"""Pings of RIPE Atlas: JSON of one or many probes, an array or a document in each line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from netcalc.messages import Notice
from netcalc.readers.document import count, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import Probe, Run, stated, to_samples
from netcalc.readers.places import PROBES, Counted
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

PING = "ping"
_NUMBERS = ("sent", "rcvd", "dup", "min", "avg", "max", "size", "ttl", "rtt")
"""Members that hold a number."""


def is_atlas(file: Input, kind: str) -> bool:
    """Whether the first result is of a kind of measurement of RIPE Atlas."""
    if not file.is_json or not file.seen(r'"(?:prb_id|msm_id)"'):
        return False
    first: Mapping[str, Any] = next(file.json.objects(), {})
    return {"msm_id", "prb_id"} <= first.keys() and words(first, "type") == kind


def results(file: Input, kind: str) -> tuple[list[Mapping[str, Any]], list[Notice]]:
    """Return the results of one kind, and warnings about the others.

    Raises
    ------
    ReaderError
        If there are results of different kinds, which do not form one measurement.
    """
    every: list[Mapping[str, Any]] = list(file.json.objects())
    kinds = sorted({words(result, "type") or "unknown" for result in every})
    if kinds != [kind]:
        raise file.refusal("atlas-kinds", field="type", kinds=kinds)
    return every, file.json.warnings_of_cut()


def names_of(every: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the group of each result: its probe, and when it measured if that is needed."""
    probes = [f"probe {number(result, 'prb_id'):.0f}".replace("nan", "?") for result in every]
    if len({str(result.get("prb_id")) for result in every}) == len(every):
        return probes
    times = [number(result, "timestamp") for result in every]
    return [f"{probe} at {time:.0f}" for probe, time in zip(probes, times, strict=True)]


def firmware_of(every: Sequence[Mapping[str, Any]]) -> str:
    """Return the versions of the firmware of all probes."""
    versions = {f"{number(each, 'fw'):.0f}" for each in every if number(each, "fw") > 0}
    return shorten(", ".join(sorted(versions)), 40)


def target_of(result: Mapping[str, Any]) -> str:
    """Return the target; the oldest firmware calls it otherwise."""
    return words(result, "dst_name", "name") or words(result, "dst_addr", "addr")


def _read(file: Input) -> RttSamples:
    every, warnings = results(file, PING)
    odd: list[str] = []
    runs = [_run(result, name, odd) for result, name in zip(every, names_of(every), strict=True)]
    if odd:
        names = ", ".join(dict.fromkeys(odd))
        warnings.append(Notice("implausible-values", {"count": len(odd), "name": names}))
    differ = sum(bool(run.disagreements()) for run in runs)
    if differ and len(runs) > 8:
        warnings.append(Notice("results-differ", {"count": differ}))
    return to_samples(file, runs, "RIPE Atlas", warnings, tool_version=firmware_of(every))


def _as_number(value: Any) -> Any:
    """Return a member as a number: the first firmware writes each as a text."""
    written = isinstance(value, str) and re.fullmatch(r"-?\d{1,9}(?:\.\d{1,18})?", value)
    return float(value) if written else value


def _payload_bytes(result: Mapping[str, Any]) -> float:
    """Return the user data, which counts the ICMP header up to firmware 4560."""
    firmware, size = number(result, "fw"), number(result, "size")
    if firmware < 4460:
        return nan
    return size - 8.0 if firmware < 4570 and words(result, "proto") == "ICMP" else size


def _numbers_of(row: Mapping[str, Any], odd: list[str]) -> dict[str, Any]:
    """Return an object with its numbers as such; the names of those that are none go to ``odd``."""
    members = {name: _as_number(value) for name, value in row.items()}
    odd += [name for name in _NUMBERS if isinstance(members.get(name), str)]
    return members


def _run(result: Mapping[str, Any], name: str, odd: list[str]) -> Run:
    result = _numbers_of(result, odd)
    sent, received = count(result, "sent"), count(result, "rcvd")
    low_ms, high_ms = (number(result, printed) for printed in ("min", "max"))
    made = Run(
        target=target_of(result),
        group=name,
        protocol=words(result, "proto").lower(),
        sent=sent,
        received=received,
        duplicates=count(result, "dup"),
        rtt_min_s=low_ms * 1e-3 if low_ms >= 0 else nan,
        rtt_max_s=high_ms * 1e-3 if high_ms >= 0 else nan,
        printed=stated(sent=sent, received=received),
        ended=True,
    )
    size, ttl = _payload_bytes(result), number(result, "ttl")
    for reply in (_numbers_of(row, odd) for row in rows(result, "result")):
        rtt_ms = number(reply, "rtt")
        if rtt_ms >= 0 or isinstance(reply.get("rtt"), str):  # a text: an unknown time
            made.probes.append(
                Probe(
                    rtt_ms * 1e-3,
                    payload_bytes=size,
                    duplicate=number(reply, "dup") > 0,
                    ttl=number(reply, "ttl") if "ttl" in reply else ttl,
                )
            )
        else:
            is_error = "error" in reply or "err" in reply
            made.probes.append(Probe(payload_bytes=size, lost=True, error_reply=is_error))
    return made


FORMAT = Format(
    name="RIPE Atlas ping",
    description="a ping of RIPE Atlas",
    recognize=lambda file: is_atlas(file, PING),
    read=_read,
    traps=(
        "A probe without an answer is a star in the file, not a time.",
        "min, avg and max of -1 mean that there was no answer.",
        "Each probe of the network is a host of its own; results are not mixed.",
        "A result may be an array, one document, or a document in each line.",
        "The firmware of the first generations has other names for the target, and a size with "
        "the ICMP header; the first one writes its numbers as texts.",
        "Results of several kinds in one file are refused.",
    ),
    tools={"RIPE Atlas": Counted(probes=PROBES)},
)
