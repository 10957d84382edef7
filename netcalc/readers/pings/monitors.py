"""Monitors that probe in rounds: SmokePing's archive, and one probe of the blackbox exporter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isnan, nan
from typing import Any

import numpy as np

from netcalc.messages import Notice
from netcalc.readers.format import Format, Input, seen
from netcalc.readers.pings.runs import Probe, Run, stated, to_samples
from netcalc.readers.places import PROBES, ROUND_TRIP, SENDER, Counted, MeasuringPoint
from netcalc.readers.source import note
from netcalc.samples import RttSamples, Table, fact_row
from netcalc.samples.figures import figures

_HEAD = r"\s*(?:uptime\s+)?loss\s+median\s+ping1(?:\s+ping\d+)*\s*$"
_NUMBER = r"\d{1,9}(?:\.\d{1,18})?(?:e[+-]?\d{1,2})?"
_ROUND = re.compile(
    rf"\s*(?P<time>\d{{9,10}}):(?P<cells>(?:\s+(?:-?nan|U|{_NUMBER})){{3,200}})\s*$"
)


def _value(cell: str) -> float:
    """Return a cell; nan where nothing is known (nan, U)."""
    return float(cell) if cell[0].isdigit() else nan


def _read_smokeping(file: Input) -> Table:
    names: list[str] = []
    rounds: list[dict[str, float]] = []
    skipped: list[int] = []
    cut = 0
    for number, line, is_cut in file.text.numbered_lines():
        row = _ROUND.match(line)
        cells = row["cells"].split() if row else []
        if re.match(_HEAD, line):
            names = line.split()
        elif is_cut:
            cut = number
        elif row and len(cells) == len(names):
            values = dict(zip(names, map(_value, cells), strict=True))
            times = [values[name] for name in names if name.startswith("ping")]
            answered = [time for time in times if not isnan(time)]
            share = values["loss"] / len(times)
            if share > 1.0 or (not answered and share < 1.0):
                raise file.refusal(
                    "smokeping-loss", line=number, field="loss",
                    value=cells[names.index("loss")], count=len(times),
                )  # fmt: skip
            rounds.append({
                "time_s": float(row["time"]), "loss_ratio": share,
                "round_median_s": values["median"], "round_min_s": min(answered, default=nan),
                "round_max_s": max(answered, default=nan),
            })  # fmt: skip
        else:
            skipped.append(number)
    rounds = [
        row for row in rounds if not isnan(row["loss_ratio"])
    ]  # of the others nothing is known
    if not rounds:
        raise file.refusal("smokeping-nothing")
    warnings = list(file.text.warnings)
    note(warnings, "last-line-cut", number=cut)
    note(warnings, "not-of-the-tool", numbers=skipped)
    medians = np.array([row["round_median_s"] for row in rounds])
    facts = fact_row(
        {**figures("round_median_s", medians, "s"),
         "mean:loss_ratio": float(np.mean([row["loss_ratio"] for row in rounds]))},
        row_count=len(rounds), partial=True,
    )  # fmt: skip
    units = dict.fromkeys(rounds[0], "s") | {"loss_ratio": "1"}
    return file.table("SmokePing", rounds, units, facts=[facts], warnings=warnings, partial=True,
                      clock="wall clock of SmokePing")  # fmt: skip


SMOKEPING = Format(
    name="SmokePing",
    description="rounds of SmokePing (rrdtool fetch)",
    recognize=seen(rf"^{_HEAD}"),
    read=_read_smokeping,
    traps=(
        "Times are seconds; loss is the number of probes of a round, here a share of them.",
        "A round of which nothing is known (nan, U) is no loss, and is left out.",
        "The archive averages rounds that lie between its steps: its rows are no single probes.",
    ),
    tools={"SmokePing": Counted(probes=PROBES)},
    parts=(r"^\s*\d{10}: +(?:(?:-?nan|U|\d\.\d{10}e[+-]\d\d) *){4,}$",),
    needs="the line of names above its rows: loss, median, ping1",
)

_GAUGE = re.compile(
    r"(?P<name>probe_\w{1,80})(?:\{(?P<labels>[^}]*)\})? "
    r"(?P<value>[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|NaN|[-+]Inf)(?: \d+)?"
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_TRIPS = {
    ("probe_icmp_duration_seconds", "rtt"): "icmp",
    ("probe_http_duration_seconds", "connect"): "tcp",
    ("probe_dns_duration_seconds", "request"): "dns",
}
"""Gauge and its phase that is a round trip -> the protocol of the probe."""


def _read_blackbox(file: Input) -> RttSamples:
    gauges: dict[str, dict[tuple[str, str], float]] = {}
    skipped: list[int] = []
    cut = 0
    for number, line, is_cut in file.text.numbered_lines():
        whole = not is_cut or line.strip() in ("probe_success 0", "probe_success 1")
        row = _GAUGE.fullmatch(line.strip()) if whole else None
        if row:
            labels = dict(_LABEL.findall(row["labels"] or ""))
            of_target = gauges.setdefault(labels.get("instance", ""), {})
            of_target[row["name"], labels.get("phase", "")] = float(row["value"])
        elif is_cut:
            cut = number
        elif not line.startswith("#"):
            skipped.append(number)
    warnings: list[Notice] = []
    note(warnings, "last-line-cut", number=cut)
    note(warnings, "not-of-the-tool", numbers=skipped)
    runs = [_run(target, values) for target, values in gauges.items()]
    return to_samples(file, runs, "blackbox_exporter", warnings)


def _run(target: str, values: Mapping[tuple[str, str], float]) -> Run:
    success = values.get(("probe_success", ""), nan)
    trips = [(protocol, values[key]) for key, protocol in _TRIPS.items() if key in values]
    protocol, rtt_s = trips[0] if trips else ("", nan)
    lost = success != 1.0 and not (isnan(success) and rtt_s > 0.0)
    run = Run(target=target, protocol=protocol, ended=not isnan(success))
    run.printed = stated(**{
        "_".join(filter(None, key)): value for key, value in values.items() if value == value
    })  # fmt: skip
    if success in (0.0, 1.0) or rtt_s > 0.0:
        answered = success != 0.0 and rtt_s > 0.0
        ttl: Any = values.get(("probe_icmp_reply_hop_limit", ""), nan) if answered else nan
        run.probes.append(Probe(rtt_s if answered else nan, lost=lost, ttl=ttl))
    return run


BLACKBOX = Format(
    name="blackbox_exporter",
    description="a probe of the blackbox exporter of Prometheus",
    recognize=seen(r"^(?:# HELP )?probe_(?:success|duration_seconds|icmp_\w+|http_\w+|dns_\w+)\b"),
    read=_read_blackbox,
    traps=(
        "probe_duration_seconds holds the name look-up, too: it is no round trip.",
        "The round trip is the phase rtt of ICMP, connect of HTTP, request of DNS; another probe "
        "has none.",
        "A probe without success has durations, too, which are none of an answer.",
    ),
    parts=(r"^(?:# (?:HELP|TYPE) )?probe_(?:ip|failed|tls|dns|http|icmp|duration)\w* ",),
    needs="the line of its success, or of the phase that is a round trip",
    tools={
        "blackbox_exporter": Counted(
            probes=PROBES,
            probes_by={
                "tcp": MeasuringPoint("tcp", "TCP handshakes", SENDER, ROUND_TRIP),
                "dns": MeasuringPoint("dns", "DNS queries", SENDER, ROUND_TRIP),
            },
        )
    },
)
