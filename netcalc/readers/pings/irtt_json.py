"""The JSON of irtt: each round trip with its two ways, in nanoseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.pings._runs import NAN, Probe, Run, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

_NS = 1e-9
_STATES = {"false": False, "true": True, "true_up": True, "true_down": True}


def _recognize(given: Input) -> bool:
    if not given.is_json:
        return False
    if given.seen(r'"irtt"\s*:') and given.seen(r'"version"'):
        return True
    return {"stats", "round_trips"} <= given.keys()


def _read(given: Input) -> RttSamples:
    documents = given.json
    runs = [_run(given, one) for one in documents.documents if isinstance(one, Mapping)]
    if documents.fault is not None and not runs:
        raise documents.fault
    warnings = list(documents.warnings)
    if documents.fault is not None:
        at = documents.fault.values
        cut = {"line": at.get("line"), "offset": at.get("offset")}
        warnings.append(Notice("document-cut", cut))
    unmatched = sum(run.printed.get("length_bytes", 0) == 0 for run in runs)
    if unmatched:
        warnings.append(Notice("packet-length-unknown", {}))
    first: Any = documents.documents[0]
    version = words(member(first, "version"), "irtt")
    host = words(member(first, "system_info"), "hostname")
    begun = member(first, "stats", "start_time")
    clock = "wall clock of the client" if begun or _has_stamps(runs) else ""
    return to_samples(
        given, runs, "irtt", warnings,
        tool_version=shorten(version, 40), host=shorten(host, 100), clock=clock,
    )  # fmt: skip


def _has_stamps(runs: list[Run]) -> bool:
    return any(not math.isnan(probe.sent_s) for run in runs for probe in run.probes)


def _run(given: Input, document: Mapping[str, Any]) -> Run:
    config, stats = member(document, "config"), member(document, "stats")
    supplied = words(member(config, "supplied"), "remote_address")
    made = Run(target=supplied or words(config, "remote_address"), protocol="udp", ended=True)
    length = number(member(config, "params"), "length")
    for index, row in enumerate(rows(document, "round_trips")):
        made.probes.append(_probe(given, row, index, length))
    _totals(made, stats)
    made.printed["length_bytes"] = int(length) if length > 0 else 0
    counted = len(made.probes)
    if made.probes and made.sent is not None and counted < made.sent:
        made.ended = False
    return made


def _probe(given: Input, row: Mapping[str, Any], index: int, length: float) -> Probe:
    state = row.get("lost")
    lost = state if isinstance(state, bool) else _STATES.get(str(state))
    if lost is None:
        raise ReaderError(
            "irtt-state", file=given.name, field=f"round_trips[{index}].lost",
            value=shorten(str(state)),
        )  # fmt: skip
    rtt_s = NAN if lost else number(member(row, "delay"), "rtt") * _NS
    if rtt_s < 0:
        rtt_s = NAN
    sent = number(member(row, "timestamps", "client", "send"), "wall")
    return Probe(
        rtt_s,
        payload_bytes=length if length > 0 else NAN,
        sequence=number(row, "seqno"),
        lost=lost,
        sent_s=sent * _NS,
    )


def _totals(run: Run, stats: Mapping[str, Any]) -> None:
    """Take the tool's own statistics, which need not agree with the round trips."""
    sent, received = number(stats, "packets_sent"), number(stats, "packets_received")
    if sent >= 0:
        run.sent = int(sent)
    if received >= 0:
        run.received = int(received)
    duplicates = number(stats, "duplicates")
    run.duplicates = int(duplicates) if duplicates >= 0 else None
    percent = number(stats, "packet_loss_percent")
    run.loss_ratio = percent / 100
    spread = member(stats, "rtt")
    if number(spread, "n") > 0:
        run.rtt_min_s = number(spread, "min") * _NS
        run.rtt_median_s = number(spread, "median") * _NS
        run.rtt_max_s = number(spread, "max") * _NS
    run.printed = {
        name: value
        for name, value in {
            "sent": run.sent,
            "received": run.received,
            "duplicates": run.duplicates,
            "loss_ratio": run.loss_ratio,
            "forward_loss_ratio": number(stats, "upstream_loss_percent") / 100,
            "reverse_loss_ratio": number(stats, "downstream_loss_percent") / 100,
            "rtt_min_s": run.rtt_min_s,
            "rtt_mean_s": number(spread, "mean") * _NS,
            "rtt_max_s": run.rtt_max_s,
        }.items()
        if value is not None and not math.isnan(value)
    }


FORMAT = Format(
    name="irtt JSON",
    description="irtt JSON",
    recognize=_recognize,
    read=_read,
    traps=(
        "Times are whole nanoseconds.",
        "A round trip may be lost on the way there (true_up), back (true_down), or unknown (true).",
        "The delays of the two ways depend on two clocks and are not kept.",
        "The server's own processing time is not part of the round trip.",
        "The counts are those of the round trips; the tool's statistics are kept with them.",
        "Duplicates are only counted by the tool: no row shows which replies they were.",
    ),
)
