"""Tables of Netesto: ``exp.csv``, and ``*.exp.out`` with a ``name:value`` on each line."""

from __future__ import annotations

import csv
import re
from typing import Any

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.readers.transfers._runs import NAN
from netcalc.readers.transfers._text import origin, whole_lines
from netcalc.samples import Meta, Table, fact_row

_PAIR = re.compile(r"\s*(?P<name>[A-Za-z][\w%-]*):(?P<value>.*)")
_END = re.compile(r"\s*-{3,}\s*")
_NUMBER = re.compile(r"(?P<number>-?\d{1,18}(?:\.\d{1,9})?)(?P<power>[KMG]?)")
_POWERS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_TEXTS = (
    "exp", "expName", "group", "test", "testType", "testNote", "desc", "host", "server",
    "instance", "ca", "req", "reply", "netem", "ecn",
)  # fmt: skip

_COLUMNS: dict[str, tuple[str, str, float]] = {
    "dur": ("duration_s", "s", 1.0),
    "cwnd": ("cwnd_packets", "1", 1.0),
    "rtt": ("rtt_s", "s", 1e-3),
    "pingRtt": ("ping_rtt_s", "s", 1e-3),
    "rate": ("throughput_bps", "bit/s", 1e6),
    "rateMin": ("least_throughput_bps", "bit/s", 1e6),
    "rateMax": ("largest_throughput_bps", "bit/s", 1e6),
    "retransPkts%": ("retransmit_ratio", "ratio", 1e-2),
    "localRetrans": ("local_retransmit_count", "1", 1.0),
    "remoteRetrans": ("remote_retransmit_count", "1", 1.0),
    "localCpu": ("local_cpu_ratio", "ratio", 1e-2),
    "remoteCpu": ("remote_cpu_ratio", "ratio", 1e-2),
    "minLatency": ("response_min_s", "s", 1e-6),
    "meanLatency": ("response_mean_s", "s", 1e-6),
    "p50Latency": ("response_p50_s", "s", 1e-6),
    "p90Latency": ("response_p90_s", "s", 1e-6),
    "p99Latency": ("response_p99_s", "s", 1e-6),
    "p999Latency": ("response_p999_s", "s", 1e-6),
    "maxLatency": ("response_max_s", "s", 1e-6),
}
"""Name of Netesto -> column, its unit, and what Netesto's number is multiplied with: cwnd and rtt
are those of ss (segments, ms), ping prints ms, netperf 10^6bits/s, microseconds and percent."""
_COUNTERS = ("localCpu", "remoteCpu", "p50Latency", "p90Latency", "p99Latency", "p999Latency")
"""What the facts have as Netesto prints it."""


def _recognize(given: Input) -> bool:
    if given.is_json:
        return False
    if given.seen(r"^exp,expName,group,test,"):
        return True
    return given.seen(r"^exp:\d+(?:\.\d+)?\s*$") and given.seen(r"^(?:expName|ca|testType|rate):")


def _read(given: Input) -> Table:
    warnings: list[Notice] = []
    lines, cut = whole_lines(given, warnings)
    if given.seen(r"^exp,expName,group,test,"):
        rows, partial = _read_csv(given, lines), cut
    else:
        rows, ended = _read_pairs(lines, warnings)
        partial = cut or not ended
    if not rows:
        raise ReaderError("netesto-nothing", file=given.name)
    columns: dict[str, list[Any]] = {
        "group": [_name(index, row, len(rows)) for index, row in enumerate(rows, 1)]
    }
    units = {"group": "text"}
    for name in _TEXTS:
        if any(row.get(name) for row in rows) and name != "group":
            columns[name] = [shorten(row.get(name, ""), 100) for row in rows]
            units[name] = "text"
    mixed: set[str] = set()
    for name, (column, unit, factor) in _COLUMNS.items():
        if any(row.get(name) for row in rows):
            columns[column] = [_value(row.get(name, ""), factor, name, mixed) for row in rows]
            units[column] = unit
    if {"least_throughput_bps", "largest_throughput_bps"} <= columns.keys():
        columns["fairness_ratio"] = _shares(columns)
        units["fairness_ratio"] = "ratio"
    if mixed:
        warnings.append(Notice("netesto-mixed", {"names": sorted(mixed)}))
    return Table(
        data=columns,
        meta=Meta(
            tool="Netesto",
            units=units,
            facts=tuple(_facts(columns, index, partial=partial) for index in range(len(rows))),
            warnings=tuple(warnings),
            partial=partial,
            **origin(given),
        ),
    )


def _read_csv(given: Input, lines: list[tuple[int, str]]) -> list[dict[str, str]]:
    header: list[str] = []
    rows = []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line]))]
        except csv.Error as error:
            raise ReaderError(
                "malformed-quotes", file=given.name, line=number, reason=str(error)
            ) from None
        if cells[:2] == ["exp", "expName"]:
            header = cells
        elif len(cells) != len(header):
            raise ReaderError(
                "netesto-width", file=given.name, line=number, count=len(cells), wanted=len(header)
            )
        else:
            rows.append(dict(zip(header, cells, strict=True)))
    return rows


def _read_pairs(
    lines: list[tuple[int, str]], warnings: list[Notice]
) -> tuple[list[dict[str, str]], bool]:
    """Return the blocks between lines of dashes, and whether the last one ended."""
    rows: list[dict[str, str]] = []
    row: dict[str, str] = {}
    twice: set[str] = set()
    for _, line in lines:
        pair = _PAIR.fullmatch(line)
        if _END.fullmatch(line):
            rows += [row] if row else []
            row = {}
        elif pair:
            name, value = pair["name"], pair["value"].strip()
            if row.get(name, value) != value:
                twice.add(name)
                value = ""  # of several flows: neither of them is the run's
            row[name] = "" if name in twice and name in row else value
    ended = not row
    rows += [row] if row else []
    if twice:
        warnings.append(Notice("netesto-several", {"names": sorted(twice)}))
    return rows, ended


def _name(index: int, row: dict[str, str], count: int) -> str:
    return "" if count == 1 else f"run {index} exp {shorten(row.get('exp', ''), 20)}".strip()


def _value(text: str, factor: float, name: str, mixed: set[str]) -> float:
    """Return a number in SI units; nan where flows differ (``a+...``) or there is none."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        if text:
            mixed.add(name)
        return NAN
    value = float(found["number"]) * _POWERS[found["power"]] * factor
    return value if value >= 0 else NAN


def _shares(columns: dict[str, list[Any]]) -> list[float]:
    """Return the least rate of a flow over the largest one: 1 where all have the same."""
    pairs = zip(columns["least_throughput_bps"], columns["largest_throughput_bps"], strict=True)
    return [least / most if 0 <= least <= most and most > 0 else NAN for least, most in pairs]


def _facts(columns: dict[str, list[Any]], index: int, *, partial: bool) -> dict[str, Any]:
    known = {name: values[index] for name, values in columns.items()}
    printed = {
        f"counter:{name}": round(known[_COLUMNS[name][0]] / _COLUMNS[name][2], 9)
        for name in _COUNTERS
        if _COLUMNS[name][0] in known
    }
    return fact_row(
        printed,
        group=known["group"],
        target=known.get("server", ""),
        sent_rate_bps=known.get("throughput_bps"),
        duration_s=known.get("duration_s"),
        rtt_s=known.get("rtt_s"),
        cwnd_packets=known.get("cwnd_packets"),
        retransmit_count=known.get("local_retransmit_count"),
        congestion_control=known.get("ca", "") if "/" not in known.get("ca", "") else "",
        partial=partial,
    )


FORMAT = Format(
    name="Netesto",
    description="a table of Netesto",
    recognize=_recognize,
    read=_read,
    traps=(
        "No unit is in the file: rates are in 10^6bits/s of netperf, rtt in ms of ss, cwnd in "
        "segments.",
        "A value such as 10+... is of several flows that differ: unknown.",
        "all.exp.out repeats the names of all flows of an experiment before its line of dashes: "
        "values that differ are unknown, and no sum is made.",
        "In exp.csv rate is a sum over flows and rtt a mean of them; one blank is not a value.",
        "Latencies are microseconds of netperf, of a whole transaction; CPU is in percent of all "
        "processors, -1 where it was not measured.",
        "No fairness is in the file: fairness_ratio is rateMin over rateMax.",
        "ca lists the congestion controls of all flows, joined by slashes.",
    ),
)
