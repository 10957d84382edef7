"""Pings as JSON of programs that read the text of ping: jc, and pingparsing."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

from netcalc.readers.document import count, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import Probe, Run, stated, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

_ICMP_HEADER_BYTES = 8


_JC = {"packets_transmitted", "packets_received", "round_trip_ms_min", "responses"}
_PARSED = {
    "destination", "packet_transmit", "packet_receive", "packet_loss_rate", "rtt_min",
}  # fmt: skip


def _recognize(file: Input) -> bool:
    near = ("packets_transmitted", "packet_transmit", "icmp_replies")
    return (
        file.is_json
        and any(name in file.first for name in near)
        and any(map(_runs_in, file.json.documents))
    )


def _runs_in(document: Any) -> list[Mapping[str, Any]]:
    """Return the objects of runs: the document, those in its list, or those it has by target."""
    if isinstance(document, list):
        return [run for value in document for run in _runs_in(value)]
    if not isinstance(document, dict):
        return []
    if document.keys() >= _JC or document.keys() >= _PARSED:
        return [document]
    parts = [value for value in document.values() if isinstance(value, dict)]
    whole = len(parts) == len(document) and all(value.keys() >= _PARSED for value in parts)
    return list(parts) if whole else []


def _read(file: Input) -> RttSamples:
    documents = file.json
    if documents.fault is not None:
        raise documents.fault
    rows_read = [run for document in documents.documents for run in _runs_in(document)]
    tool = "ping (jc)" if any("responses" in row for row in rows_read) else "ping (pingparsing)"
    return to_samples(file, list(map(_run, rows_read)), tool, list(documents.warnings))


def _run(row: Mapping[str, Any]) -> Run:
    """Return a run by the names of jc or of pingparsing, none of which are the other's."""
    is_jc = "responses" in row
    sent = count(row, "packets_transmitted", "packet_transmit")
    received = count(row, "packets_received", "packet_receive")
    duplicates = count(row, "duplicates", "packet_duplicate_count")
    low_s, mean_s, high_s = (
        number(row, f"round_trip_ms_{name}", f"rtt_{name}") / 1e3 for name in ("min", "avg", "max")
    )
    made = Run(
        target=shorten(words(row, "destination", "destination_ip"), 100),
        sent=sent,
        received=received,
        duplicates=duplicates,
        loss_ratio=number(row, "packet_loss_percent", "packet_loss_rate") / 100,
        rtt_min_s=low_s,
        rtt_max_s=high_s,
        printed=stated(
            sent=sent, received=received, duplicates=duplicates,
            rtt_min_s=low_s, rtt_mean_s=mean_s, rtt_max_s=high_s,
        ),
        ended=True,
    )  # fmt: skip
    for reply in rows(row, "responses" if is_jc else "icmp_replies"):
        kind, sequence = words(reply, "type") if is_jc else "reply", number(reply, "icmp_seq")
        if kind == "reply":
            made.probes.append(
                Probe(
                    number(reply, "time_ms", "time") / 1e3,
                    payload_bytes=number(reply, "bytes") - _ICMP_HEADER_BYTES if is_jc else nan,
                    sequence=sequence,
                    duplicate=reply.get("duplicate") is True,
                    ttl=number(reply, "ttl"),
                )
            )
        elif kind == "timeout" and sequence == sequence:
            made.probes.append(Probe(sequence=sequence, lost=True))
    if made.probes:  # those without a reply are lost, from the first number of ping on
        first = min((probe.sequence for probe in made.probes if probe.sequence >= 0), default=1)
        made.fill(0 if first == 0 else 1)
    return made


FORMAT = Format(
    name="ping JSON",
    description="the JSON of jc or of pingparsing about a ping",
    recognize=_recognize,
    read=_read,
    traps=(
        "Times are milliseconds; a loss is a percentage, though pingparsing calls it a rate.",
        "bytes of jc is the size of the ICMP message: user data and 8 bytes.",
        "Without replies only the totals are known; pingparsing adds them with --icmp-reply.",
    ),
)
