"""The output of irtt: text with a line for each round trip, a table and counts, or JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import UDP_PROBES, Counted, Format, Input
from netcalc.readers.lines import Line, LineTable
from netcalc.readers.pings.runs import NAN, Probe, ProbeReader, Run, to_samples
from netcalc.readers.source import shorten
from netcalc.samples import RttSamples

_TIME = (
    r"(?=\d{1,12}(?:\.\d{1,9})?(?:[hm]|[nuµμ]?s))(?:\d{1,9}h)?"
    r"(?:\d{1,9}m(?!s))?(?:\d{1,12}(?:\.\d{1,9})?(?:ns|[uµμ]s|ms|s))?"
)
_UNITS = {
    "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9,
}  # fmt: skip


def _seconds(text: str) -> tuple[float, float]:
    """Return a time written as ``1.5ms`` or ``1m2.5s``, and the step of its last digit.

    >>> _seconds("43µs"), _seconds("1m2.5s")
    ((4.3e-05, 1e-06), (62.5, 0.1))
    """
    parts = re.findall(r"(\d+(?:\.\d+)?)(h|ns|[uµμ]s|ms|m|s)", text)
    time_s = math.fsum(float(number) * _UNITS[unit] for number, unit in parts)
    number, unit = parts[-1]
    return round(time_s, 12), _UNITS[unit] / 10.0 ** len(number.partition(".")[2])


class _Irtt(ProbeReader):
    tool = "irtt"
    protocol = "udp"
    marks = (
        r"^\[Connecting\] connecting to |^seq=\d+ rtt=\S+ rd=|"
        r"^\s*packets sent/received: \d+/\d+ \("
    )
    unprinted = ("duplicates",)
    repeats = True
    table = LineTable(
        convert={
            "rtt": _seconds,
            **{
                f"rtt_{name}_s": lambda text: _seconds(text)[0]
                for name in ("min", "mean", "median", "max")
            },
        },
        about=(
            r"\[Connecting\] connecting to {target}\s*$",
            r"\s*packet length: {payload_bytes} bytes\s*$",
        ),
        reply=rf"seq={{sequence}} rtt=(?P<rtt>{_TIME})(?=\s|$)(?: rd=\S+)?(?: sd=\S+)?"
        r"(?: ipdv=\S+)?(?P<duplicate>.*DUP)?",
        totals=(
            rf"\s*RTT\s+(?P<rtt_min_s>{_TIME})\s+(?P<rtt_mean_s>{_TIME})\s+"
            rf"(?P<rtt_median_s>{_TIME})\s+(?P<rtt_max_s>{_TIME})(?:\s|$)",
            r"\s*packets sent/received: {sent}/{received} \({loss_percent}% loss\)\s*$",
            r"\s*\*+\s*DUPLICATES: {duplicates}",
        ),
        other=r"(?!seq=)",
    )

    def probe(self, line: Line) -> Probe:
        """Return a probe, whose time has a unit of its own."""
        probe = super().probe(line)
        probe.rtt_s, probe.resolution_s = line["rtt"]
        return probe

    def finish(self) -> None:
        """Add the probes without a line; the size is known at the end."""
        for run in self.runs:
            if run.probes:
                run.fill(0, whole=bool(run.target))
            for probe in run.probes:
                probe.payload_bytes = run.payload_bytes


FORMAT = Format(
    name="irtt",
    description="the text output of irtt",
    recognize=_Irtt.recognize,
    read=_Irtt.read,
    traps=(
        "The unit differs from number to number: ns, µs, ms, s; all are rounded to three digits.",
        "rtt is the round trip without the server's own time; rd and sd depend on two clocks and "
        "are not kept.",
        "A lost probe has no line: it is known from its number and the count of the summary.",
        "The size is that of the UDP payload; it stands in the summary only.",
    ),
    tools={
        "irtt": Counted(probes=UDP_PROBES),
    },
)


_NS = 1e-9
_STATES = {"false": False, "true": True, "true_up": True, "true_down": True}


def _recognize_irtt_json(file: Input) -> bool:
    if not file.is_json:
        return False
    if file.seen(r'"irtt"\s*:') and file.seen(r'"version"'):
        return True
    return {"stats", "round_trips"} <= file.keys()


def _read_irtt_json(file: Input) -> RttSamples:
    documents = file.json
    runs = [_run(file, row) for row in documents.documents if isinstance(row, Mapping)]
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
        file, runs, "irtt", warnings,
        tool_version=shorten(version, 40), host=shorten(host, 100), clock=clock,
    )  # fmt: skip


def _has_stamps(runs: list[Run]) -> bool:
    return any(not math.isnan(probe.sent_s) for run in runs for probe in run.probes)


def _run(file: Input, document: Mapping[str, Any]) -> Run:
    config, stats = member(document, "config"), member(document, "stats")
    supplied = words(member(config, "supplied"), "remote_address")
    made = Run(target=supplied or words(config, "remote_address"), protocol="udp", ended=True)
    length = number(member(config, "params"), "length")
    for index, row in enumerate(rows(document, "round_trips")):
        made.probes.append(_probe(file, row, index, length))
    _totals(made, stats)
    made.printed["length_bytes"] = int(length) if length > 0 else 0
    counted = len(made.probes)
    if made.probes and made.sent is not None and counted < made.sent:
        made.ended = False
    return made


def _probe(file: Input, row: Mapping[str, Any], index: int, length: float) -> Probe:
    state = row.get("lost")
    lost = state if isinstance(state, bool) else _STATES.get(str(state))
    if lost is None:
        raise ReaderError(
            "irtt-state", file=file.name, field=f"round_trips[{index}].lost",
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


JSON = Format(
    name="irtt JSON",
    description="irtt JSON",
    recognize=_recognize_irtt_json,
    read=_read_irtt_json,
    traps=(
        "Times are whole nanoseconds.",
        "A round trip may be lost on the way there (true_up), back (true_down), or unknown (true).",
        "The delays of the two ways depend on two clocks and are not kept.",
        "The server's own processing time is not part of the round trip.",
        "The counts are those of the round trips; the tool's statistics are kept with them.",
        "Duplicates are only counted by the tool: no row shows which replies they were.",
    ),
)
