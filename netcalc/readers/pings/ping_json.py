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


def _recognize(given: Input) -> bool:
    return bool(given.is_json and ("packets_transmitted" in given.first or "packet_transmit" in
                given.first) and any(map(_runs_in, given.json.documents)))  # fmt: skip


def _runs_in(document: Any) -> list[Mapping[str, Any]]:
    """Return the objects of runs: the document, those in its list, or those it has by target."""
    if isinstance(document, list):
        return [run for one in document for run in _runs_in(one)]
    if not isinstance(document, dict):
        return []
    if document.keys() >= _JC or document.keys() >= _PARSED:
        return [document]
    parts = [one for one in document.values() if isinstance(one, dict)]
    whole = len(parts) == len(document) and all(one.keys() >= _PARSED for one in parts)
    return list(parts) if whole else []


def _read(given: Input) -> RttSamples:
    documents = given.json
    if documents.fault is not None:
        raise documents.fault
    found = [run for document in documents.documents for run in _runs_in(document)]
    runs = [_jc(one) if "responses" in one else _parsed(one) for one in found]
    tool = "ping (jc)" if any("responses" in one for one in found) else "ping (pingparsing)"
    return to_samples(given, runs, tool, list(documents.warnings))


def _jc(row: Mapping[str, Any]) -> Run:
    made = Run(target=shorten(words(row, "destination", "destination_ip"), 100), ended=True)
    _totals(made, row, ("packets_transmitted", "packets_received", "duplicates"),
            ("round_trip_ms_min", "round_trip_ms_avg", "round_trip_ms_max"))  # fmt: skip
    made.loss_ratio = number(row, "packet_loss_percent") / 100
    for one in rows(row, "responses"):
        kind = words(one, "type")
        sequence = number(one, "icmp_seq")
        if kind == "reply":
            made.probes.append(
                Probe(
                    number(one, "time_ms") / 1e3,
                    payload_bytes=number(one, "bytes") - _ICMP_HEADER_BYTES,
                    sequence=sequence,
                    duplicate=one.get("duplicate") is True,
                    ttl=number(one, "ttl"),
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
    for one in rows(row, "icmp_replies"):
        made.probes.append(
            Probe(
                number(one, "time") / 1e3,
                sequence=number(one, "icmp_seq"),
                duplicate=one.get("duplicate") is True,
                ttl=number(one, "ttl"),
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
    run.printed = {name: one for name, one in printed.items() if one is not None and one == one}


def _fill(run: Run) -> None:
    """Add the probes without a reply as lost, from the first number of ping on."""
    if run.probes:
        first = min((one.sequence for one in run.probes if one.sequence >= 0), default=1)
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
