"""Pings as JSON of programs that read the text of ping: jc, and pingparsing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netcalc.readers.document import number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.pings.runs import NAN, Probe, Run, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

_ICMP_HEADER_BYTES = 8
_JC = {"packets_transmitted", "packets_received", "round_trip_ms_min", "responses"}
_PARSED = {"destination", "packet_transmit", "packet_receive", "packet_loss_rate", "rtt_min"}


def _recognize(file: Input) -> bool:
    return bool(file.is_json and ("packets_transmitted" in file.first or "packet_transmit" in
                file.first) and any(map(_runs_in, file.json.documents)))  # fmt: skip


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
    runs = [_jc(row) if "responses" in row else _parsed(row) for row in rows_read]
    tool = "ping (jc)" if any("responses" in row for row in rows_read) else "ping (pingparsing)"
    return to_samples(file, runs, tool, list(documents.warnings))


def _jc(row: Mapping[str, Any]) -> Run:
    made = Run(target=shorten(words(row, "destination", "destination_ip"), 100), ended=True)
    _totals(made, row, ("packets_transmitted", "packets_received", "duplicates"),
            ("round_trip_ms_min", "round_trip_ms_avg", "round_trip_ms_max"))  # fmt: skip
    made.loss_ratio = number(row, "packet_loss_percent") / 100
    for response in rows(row, "responses"):
        kind = words(response, "type")
        sequence = number(response, "icmp_seq")
        if kind == "reply":
            made.probes.append(
                Probe(
                    number(response, "time_ms") / 1e3,
                    payload_bytes=number(response, "bytes") - _ICMP_HEADER_BYTES,
                    sequence=sequence,
                    duplicate=response.get("duplicate") is True,
                    ttl=number(response, "ttl"),
                    sent_s=NAN,
                )
            )
        elif kind == "timeout" and sequence == sequence:
            made.probes.append(Probe(sequence=sequence, lost=True))
    _fill(made)
    return made


def _parsed(row: Mapping[str, Any]) -> Run:
    made = Run(target=shorten(words(row, "destination"), 100), ended=True)
    names = ("packet_transmit", "packet_receive", "packet_duplicate_count")
    _totals(made, row, names, ("rtt_min", "rtt_avg", "rtt_max"))
    made.loss_ratio = number(row, "packet_loss_rate") / 100
    for reply in rows(row, "icmp_replies"):
        made.probes.append(
            Probe(
                number(reply, "time") / 1e3,
                sequence=number(reply, "icmp_seq"),
                duplicate=reply.get("duplicate") is True,
                ttl=number(reply, "ttl"),
            )
        )
    _fill(made)
    return made


def _totals(
    run: Run, row: Mapping[str, Any], counts: tuple[str, str, str], times: tuple[str, str, str]
) -> None:
    sent, received, duplicates = (number(row, name) for name in counts)
    run.sent = int(sent) if sent >= 0 else None
    run.received = int(received) if received >= 0 else None
    run.duplicates = int(duplicates) if duplicates >= 0 else None
    low, mean, high = (number(row, name) / 1e3 for name in times)
    run.rtt_min_s, run.rtt_max_s = low, high
    printed = {"sent": run.sent, "received": run.received, "duplicates": run.duplicates,
               "rtt_min_s": low, "rtt_mean_s": mean, "rtt_max_s": high}  # fmt: skip
    run.printed = {
        name: value for name, value in printed.items() if value is not None and value == value
    }


def _fill(run: Run) -> None:
    """Add the probes without a reply as lost, from the first number of ping on."""
    if run.probes:
        first = min((probe.sequence for probe in run.probes if probe.sequence >= 0), default=1)
        run.fill(0 if first == 0 else 1)


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
