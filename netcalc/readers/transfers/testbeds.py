"""Files of testbeds, which run many flows at once: flent, Netesto, ns-3's FlowMonitor."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.rate_layers import IP, TCP_PAYLOAD
from netcalc.readers import places
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import csv_rows, note, shorten
from netcalc.readers.transfers.transfer import above_0, scaled, xml_root
from netcalc.samples import Fact, Table, fact_row

_LATEST = 4
_UNITS = {
    "ms": ("rtt_s", 1e-3),
    "s": ("rtt_s", 1.0),
    "mbits/s": ("throughput_bps", 1e6),
    "kbits/s": ("throughput_bps", 1e3),
    "kbps": ("throughput_bps", 1e3),
    "bits/s": ("throughput_bps", 1.0),
}
_DERIVED = re.compile(r".*\b(?:avg|sum|totals?|fairness)", re.IGNORECASE)
_DERIVERS = {"AverageRunner", "SumRunner", "DiffMinRunner", "FairnessRunner", "ComputingRunner"}
_PROBES = re.compile(r"ping|udp rtt|latency|\brtt\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _FlentSeries:
    """One series: its column, its values in the unit of that, and what flent says of it."""

    name: str
    column: str
    values: NDArray[np.float64]
    meta: Mapping[str, Any]
    raw: NDArray[np.float64]
    """Values of the single probes, in the unit of the runner."""

    @property
    def finite(self) -> NDArray[np.float64]:
        return self.values[np.isfinite(self.values)]


def _read_flent(file: Input) -> Table:
    document = file.json.only()
    version = document.get("version", 1)
    if version not in range(1, _LATEST + 1):
        raise file.refusal(
            "flent-version", field="version", value=shorten(str(version)), highest=_LATEST
        )
    warnings = list(file.json.warnings)
    metadata = member(document, "metadata")
    times = _column(file, "x_values", document["x_values"])
    results = member(document, "results")
    metas = member(metadata, "SERIES_META")
    raw = member(document, "raw_values")
    every = [
        _series(file, name, results[name], times, member(metas, name), rows(raw, name))
        for name in results
    ]
    with_values = [series for series in every if series is not None]
    kept = [series for series in with_values if not _is_derived(series)]
    if not kept or not times.size:
        raise file.refusal("flent-nothing")
    derived = [series.name for series in with_values if _is_derived(series)]
    note(warnings, "flent-derived", names=derived)
    note(warnings, "flent-no-unit", count=sum(series.column == "value" for series in kept))
    columns = {
        name: np.concatenate(
            [
                series.values if series.column == name else np.full(times.size, np.nan)
                for series in kept
            ]
        )
        for name in ("rtt_s", "throughput_bps", "value")
    }
    odd = 0
    for name in ("rtt_s", "throughput_bps"):
        is_negative = columns[name] < 0
        odd += int(np.count_nonzero(is_negative))
        columns[name][is_negative] = np.nan
    note(warnings, "implausible-values", count=odd, name="results")
    texts = [name for series in kept for name in _NUMBERS if _is_odd(series.meta.get(name))]
    texts += ["raw_values" for name in raw for row in rows(raw, name) if _is_odd(row.get("val"))]
    note(warnings, "implausible-values", count=len(texts), name=", ".join(dict.fromkeys(texts)))
    failed = number(metadata, "FAILED_RUNNERS") > 0
    data = {
        "group": np.repeat([series.name for series in kept], times.size),
        "time_s": np.tile(times, len(kept)),
        **columns,
    }
    return file.table(
        "flent",
        data,
        tool_version=shorten(words(metadata, "FLENT_VERSION"), 40),
        host=shorten(words(metadata, "LOCAL_HOST"), 100),
        target=shorten(words(metadata, "HOST"), 100),
        start=words(metadata, "T0") if "Z" in words(metadata, "T0")[-1:] else "",
        clock="seconds since the start of the run",
        note=shorten(words(metadata, "TITLE"), 200),
        printed={"test": words(metadata, "NAME"), "series": _printed(kept)},
        facts=[_facts(series, metadata, partial=failed) for series in _measured(kept)],
        warnings=warnings,
        partial=failed or file.unpacked.grew,
    )


def _measured(kept: list[_FlentSeries]) -> list[_FlentSeries]:
    """Return the series of round trips and rates; all if there is none."""
    return [series for series in kept if series.column != "value" and series.finite.size] or kept


def _column(file: Input, name: str, values: Any) -> NDArray[np.float64]:
    """Return a list of numbers and gaps; anything else in it is refused."""
    if not isinstance(values, list):
        raise file.refusal("flent-no-list", field=shorten(name))
    for value in values:
        if value is not None and type(value) not in (int, float):
            raise file.refusal("not-a-number", field=shorten(name), value=shorten(str(value)))
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except OverflowError:
        raise file.refusal("flent-no-list", field=shorten(name)) from None


def _series(
    file: Input,
    name: str,
    values: Any,
    times: NDArray[np.float64],
    meta: Mapping[str, Any],
    raw: Sequence[Mapping[str, Any]],
) -> _FlentSeries | None:
    """Return a series; None if flent has no value of it at all."""
    column = _column(file, name, values)
    if not column.size:
        return None
    if column.size != times.size:
        raise file.refusal(
            "flent-length", field=shorten(name), count=int(column.size), wanted=int(times.size)
        )
    unit = words(meta, "UNITS").lower() or _unit_of_name(name)
    target, factor = _UNITS.get(unit, ("value", 1.0))
    if "::" in name and not words(meta, "UNITS"):
        target, factor = "value", 1.0
    if target == "rtt_s" and not _PROBES.search(name):
        target, factor = "value", 1.0  # a delay one way, a jitter
    probes = np.array([number(probe, "val") for probe in raw], dtype=np.float64)
    return _FlentSeries(shorten(name, 100), target, column * factor, meta, probes)


_NUMBERS = ("MEAN_VALUE", "TCP_RETRANSMIT", "ELAPSED_TIME", "PACKETS_SENT", "PACKETS_RECEIVED",
            "PACKET_LOSS_RATE", "TCP_MSS", "BYTES_SENT", "BYTES_RECVD")  # fmt: skip
"""Members of a series that hold a number."""


def _is_odd(value: Any) -> bool:
    """Whether a number is written as a text that is none."""
    return isinstance(value, str) and not re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?|-|", value)


def _unit_of_name(name: str) -> str:
    """Return the unit in a name such as ``Ping (ms) ICMP``; transfers are in Mbit/s in flent."""
    if "(ms)" in name:
        return "ms"
    return "mbits/s" if re.match(r"TCP (?:up|down)load\b", name) and "::" not in name else ""


def _is_derived(series: _FlentSeries) -> bool:
    runner = words(series.meta, "RUNNER")
    return runner in _DERIVERS or _DERIVED.fullmatch(series.name.partition("::")[0]) is not None


def _facts(series: _FlentSeries, metadata: Mapping[str, Any], *, partial: bool) -> dict[str, Fact]:
    """Return the facts of a series: round trips of its values, a rate as flent means it."""
    hosts = metadata.get("HOSTS")
    target = words(metadata, "HOST") if not isinstance(hosts, list) or len(hosts) < 2 else ""
    row: dict[str, Any] = {"group": series.name, "target": target, "partial": partial}
    values = series.finite[series.finite >= 0]
    if series.column == "rtt_s" and values.size:
        row |= {
            "protocol": _protocol_of_probes(series.name),
            **_round_trips(series, values),
            "sent_count": number(series.meta, "PACKETS_SENT"),
            "received_count": number(series.meta, "PACKETS_RECEIVED"),
            **_losses(series.meta),
        }
        return fact_row(**row)
    direction = next((d for d in ("upload", "download") if d in series.name.lower()), "")
    if series.column != "throughput_bps" or not direction or not values.size:
        return fact_row(**row)
    printed = number(series.meta, "MEAN_VALUE")
    unit = _UNITS[words(series.meta, "UNITS").lower() or "mbits/s"][1]
    rate = printed * unit if printed >= 0 else float(values.mean())
    retransmits = words(series.meta, "TCP_RETRANSMIT")
    if not retransmits and direction == "upload":  # of a download 0 may be that of the receiver
        count = number(series.meta, "TCP_RETRANSMIT")
        retransmits = f"{count:.0f}" if count >= 0 and count.is_integer() else ""
    row |= {
        "protocol": "udp" if "udp" in series.name.lower() else "tcp",
        "direction": direction,
        "sent_rate_bps" if direction == "upload" else "received_rate_bps": rate,
        "duration_s": number(series.meta, "ELAPSED_TIME"),
        "retransmit_count": float(retransmits) if re.fullmatch(r"\d{1,15}", retransmits) else None,
        "congestion_control": words(series.meta, "CONG_CONTROL"),
        "mss_bytes": above_0(series.meta, "TCP_MSS"),
        **_sizes(series.meta),
    }
    return fact_row(**row)


def _protocol_of_probes(name: str) -> str:
    """Return the protocol that a series of round trips has in its name: ``Ping (ms) ICMP``."""
    protocol = re.search(r"\b(?:(icmp)|(udp)|http)\b", name.lower())
    return "" if protocol is None else protocol[1] or protocol[2] or "tcp"


def _losses(meta: Mapping[str, Any]) -> dict[str, float]:
    """Return the loss of a series of probes: as printed, and of its counts."""
    sent, received = number(meta, "PACKETS_SENT"), number(meta, "PACKETS_RECEIVED")
    printed = number(meta, "PACKET_LOSS_RATE")
    return {
        "printed_loss_ratio": printed if 0 <= printed <= 1 else nan,
        "loss_ratio": 1 - received / sent if 0 <= received <= sent and sent > 0 else nan,
    }


def _sizes(meta: Mapping[str, Any]) -> dict[str, float]:
    """Return the bytes that each end of a transfer counted.

    A sender that is stopped in a call does not count what of it was sent: where the receiver has
    more, the sender's count is not right.
    """
    sent, received = above_0(meta, "BYTES_SENT"), above_0(meta, "BYTES_RECVD")
    return {
        "sent_byte_count": nan if received > sent else sent,
        "received_byte_count": received,
    }


def _round_trips(series: _FlentSeries, values: NDArray[np.float64]) -> dict[str, float]:
    """Return what the single probes say, where their unit is sure: results are interpolated."""
    raw = series.raw[np.isfinite(series.raw) & (series.raw >= 0)]
    if not raw.size:
        return {}
    middle = float(np.median(values))
    ratio = float(np.median(raw)) / middle if middle > 0 else 0.0
    factor = next((f for f in (1e-3, 1.0) if 0.5 < ratio * f < 2.0), None)
    if factor is None:
        return {}
    return {
        "rtt_min_s": float(raw.min()) * factor,
        "rtt_median_s": float(np.median(raw)) * factor,
        "rtt_max_s": float(raw.max()) * factor,
        "reply_count": float(raw.size),
    }


def _printed(kept: list[_FlentSeries]) -> dict[str, Any]:
    """Return what flent says of its series, as it says it."""
    names = ("UNITS", "MEAN_VALUE", "MIN_VALUE", "MAX_VALUE", "RTT_MEDIAN", "PACKET_LOSS_RATE")
    return {
        series.name: {
            name: series.meta[name]
            for name in names
            if isinstance(series.meta.get(name), str | int | float)
        }
        for series in kept
    }


FLENT = Format(
    name="flent",
    description="a flent data file",
    recognize=lambda file: file.is_json and {"metadata", "results", "x_values"} <= file.keys(),
    read=_read_flent,
    traps=(
        "results are interpolated to one axis of time: their minimum and maximum are not those of "
        "single probes, which the facts have; null is a gap, not 0.",
        "raw_values are in the unit of each runner, which may differ from that of results (seconds "
        "and milliseconds): they are used where they agree with results in one of them.",
        "Sums, averages and totals are made of other series, and are not read.",
        "A rate in the facts is the mean that flent says, of an upload the sender's count.",
        "Delays one way and jitter are not round trips; they stay in the column value, in the unit "
        "of the file.",
        "Versions 1 to 4 are read; a later one is refused.",
        "In version 1 transfers have no unit: flent has them in Mbit/s, pings in ms.",
    ),
    tools={
        "flent": places.Counted(  # netperf carries its transfers
            probes=places.PROBES, probes_by={"tcp": places.HTTP_REQUESTS}, rates=places.TRANSPORT
        ),
    },
)


_PAIR = re.compile(r"\s*(?P<name>[A-Za-z][\w%-]*):(?P<value>.*)")
_END = re.compile(r"\s*-{3,}\s*")
_NUMBER = re.compile(r"(?P<number>-?\d{1,18}(?:\.\d{1,9})?)(?P<power>[KMG]?)")
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


def _recognize_netesto(file: Input) -> bool:
    if file.is_json:
        return False
    if file.seen(r"^exp,expName,group,test,"):
        return True
    return file.seen(r"^exp:\d+(?:\.\d+)?\s*$") and file.seen(r"^(?:expName|ca|testType|rate):")


def _read_netesto(file: Input) -> Table:
    warnings: list[Notice] = []
    lines, cut = file.text.whole_lines(warnings)
    if file.seen(r"^exp,expName,group,test,"):
        rows, partial = _read_csv(file, lines), cut
    else:
        rows, ended = _read_pairs(lines, warnings)
        partial = cut or not ended
    if not rows:
        raise file.refusal("netesto-nothing")
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
    note(warnings, "netesto-mixed", names=sorted(mixed))
    facts = [_netesto_facts(columns, index, partial=partial) for index in range(len(rows))]
    return file.table("Netesto", columns, units, facts=facts, warnings=warnings, partial=partial)


def _read_csv(file: Input, lines: list[tuple[int, str]]) -> list[dict[str, str]]:
    header: list[str] = []
    rows = []
    for line_number, line in lines:
        if not line.strip():
            continue
        (row,) = csv_rows([(line_number, line)], file.unpacked)
        cells = [cell.strip() for cell in row]
        if cells[:2] == ["exp", "expName"]:
            header = cells
        elif len(cells) != len(header):
            raise file.refusal(
                "netesto-width", line=line_number, count=len(cells), wanted=len(header)
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
    note(warnings, "netesto-several", names=sorted(twice))
    return rows, ended


def _name(index: int, row: dict[str, str], count: int) -> str:
    return "" if count == 1 else f"run {index} exp {shorten(row.get('exp', ''), 20)}".strip()


def _value(text: str, factor: float, name: str, mixed: set[str]) -> float:
    """Return a number in SI units; nan where flows differ (``a+...``) or there is none."""
    printed = _NUMBER.fullmatch(text)
    if printed is None:
        if text:
            mixed.add(name)
        return nan
    value = scaled(printed["number"], printed["power"]) * factor
    return value if value >= 0 else nan


def _shares(columns: dict[str, list[Any]]) -> list[float]:
    """Return the least rate of a flow over the largest one: 1 where all have the same."""
    pairs = zip(columns["least_throughput_bps"], columns["largest_throughput_bps"], strict=True)
    return [least / most if 0 <= least <= most and most > 0 else nan for least, most in pairs]


def _netesto_facts(columns: dict[str, list[Any]], index: int, *, partial: bool) -> dict[str, Any]:
    row = {name: values[index] for name, values in columns.items()}
    printed = {
        f"counter:{name}": round(row[_COLUMNS[name][0]] / _COLUMNS[name][2], 9)
        for name in _COUNTERS
        if _COLUMNS[name][0] in row
    }
    return fact_row(
        printed,
        group=row["group"],
        target=row.get("server", ""),
        sent_rate_bps=row.get("throughput_bps"),
        duration_s=row.get("duration_s"),
        rtt_s=row.get("rtt_s"),
        cwnd_packets=row.get("cwnd_packets"),
        retransmit_count=row.get("local_retransmit_count"),
        congestion_control=row.get("ca", "") if "/" not in row.get("ca", "") else "",
        partial=partial,
    )


NETESTO = Format(
    name="Netesto",
    description="a table of Netesto",
    recognize=_recognize_netesto,
    read=_read_netesto,
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
    tools={
        "Netesto": places.Counted(  # netperf carries its transfers
            probes=places.SEGMENTS,
            facts={
                "counter:local*Cpu": places.MeasuringPoint("", "CPU", places.SENDER),
                "counter:*Cpu": places.MeasuringPoint("", "CPU", places.RECEIVER),
                "counter:*": places.REQUESTS,
            },
            rates=TCP_PAYLOAD,
        ),
    },
    parts=(
        r"^expName:\S",
        r"^expRunName:|^serverHost:",
        r"^(?:localRetrans|cwnd|dur):[\d.]+\s*$|^test:TCP_\w+\s*$",
    ),
    needs="the lines of rates and round trips (client_tputA, rtt)",
)


_TIME = re.compile(r"([+-]?\d{1,30}(?:\.\d+)?(?:e[+-]?\d{1,3})?)(fs|ps|ns|us|ms|s|min|h|d|y)?")
_FLOWMON_UNITS = {
    "fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0,
    "h": 3600.0, "d": 86400.0, "y": 31536000.0,
}  # fmt: skip
_PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp"}
_MOST = 200_000


def _read_flowmon(file: Input) -> Table:
    root = xml_root(file)
    flows = root.findall("./FlowStats/Flow")
    if root.tag != "FlowMonitor" or not flows:
        raise file.refusal("flowmon-nothing")
    if len(flows) > _MOST:
        raise file.refusal("flowmon-too-many", count=len(flows), limit=_MOST)
    named = {
        flow.get("flowId", ""): flow
        for kind in ("Ipv4FlowClassifier", "Ipv6FlowClassifier")
        for flow in root.findall(f"./{kind}/Flow")
    }
    rows = [_row(file, flow, named.get(flow.get("flowId", ""))) for flow in flows]
    warnings = []
    unmatched = [row["group"] for row in rows if not row["protocol"]]
    if named and unmatched:
        warnings.append(Notice("flowmon-unnamed", {"names": unmatched}))
    return file.table(
        "ns-3 FlowMonitor",
        rows,
        clock="seconds of the simulation",
        layers={"sent_bytes": "IP", "received_bytes": "IP"},
        facts=map(_facts_flowmon, rows),
        warnings=warnings,
    )


def _row(
    file: Input, flow: ElementTree.Element, named: ElementTree.Element | None
) -> dict[str, Any]:
    received = _count(file, flow, "rxPackets")
    delay, jitter = _time(file, flow, "delaySum"), _time(file, flow, "jitterSum")
    number = named.get("protocol", "") if named is not None else ""
    return {
        "group": shorten(f"flow {flow.get('flowId', '')}", 40),
        "protocol": _PROTOCOLS.get(number, number),
        "local": _end(named, "source"),
        "peer": _end(named, "destination"),
        "first_sent_s": _time(file, flow, "timeFirstTxPacket"),
        "last_sent_s": _time(file, flow, "timeLastTxPacket"),
        "first_received_s": _time(file, flow, "timeFirstRxPacket") if received else nan,
        "last_received_s": _time(file, flow, "timeLastRxPacket") if received else nan,
        "packet_count": _count(file, flow, "txPackets"),
        "received_count": received,
        "lost_count": _count(file, flow, "lostPackets"),
        "sent_bytes": _count(file, flow, "txBytes"),
        "received_bytes": _count(file, flow, "rxBytes"),
        "one_way_s": delay / received if received > 0 else nan,
        "jitter_s": jitter / (received - 1) if received > 1 else nan,
    }


def _end(named: ElementTree.Element | None, side: str) -> str:
    if named is None:
        return ""
    address = named.get(f"{side}Address", "")
    port = named.get(f"{side}Port", "")
    host = f"[{address}]" if ":" in address else address
    return shorten(f"{host}:{port}" if port else address, 80)


def _count(file: Input, flow: ElementTree.Element, name: str) -> float:
    text = flow.get(name, "")
    if not re.fullmatch(r"\d{1,20}", text):
        raise _bad(file, flow, name, text)
    return float(text)


def _time(file: Input, flow: ElementTree.Element, name: str) -> float:
    """Return a time in seconds: ns-3 writes ``+1.5e+09ns``."""
    text = flow.get(name, "")
    printed = _TIME.fullmatch(text)
    value = float(printed[1]) * _FLOWMON_UNITS[printed[2]] if printed and printed[2] else nan
    if not 0 <= value < inf:
        raise _bad(file, flow, name, text)
    return value


def _bad(file: Input, flow: ElementTree.Element, name: str, text: str) -> ReaderError:
    flow_id = shorten(flow.get("flowId", "?"), 20)
    return file.refusal("flowmon-value", field=name, value=shorten(text), flow=flow_id)


def _facts_flowmon(row: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a flow: bytes and rates at the IP layer, as ns-3 counts them."""
    sending = row["last_sent_s"] - row["first_sent_s"]
    receiving = row["last_received_s"] - row["first_received_s"]
    sent, received = row["packet_count"], row["received_count"]
    return fact_row(
        group=row["group"],
        protocol=row["protocol"],
        target=row["peer"],
        packet_count=sent,
        sent_count=sent,
        received_count=received,
        loss_ratio=row["lost_count"] / sent if 0 <= row["lost_count"] <= sent and sent else None,
        sent_byte_count=row["sent_bytes"],
        received_byte_count=row["received_bytes"],
        sent_rate_bps=8 * row["sent_bytes"] / sending if sending > 0 else None,
        received_rate_bps=8 * row["received_bytes"] / receiving if receiving > 0 else None,
        jitter_s=row["jitter_s"],
        partial=False,
    )


FLOWMON = Format(
    name="FlowMonitor",
    description="the XML of ns-3's FlowMonitor",
    recognize=lambda file: file.seen(r"<FlowMonitor\b"),
    read=_read_flowmon,
    traps=(
        "Bytes are those of IP packets, with their headers: no payload.",
        "delaySum and jitterSum are sums over packets: the mean delay is over the received, the "
        "mean jitter over one less.",
        "Times are text with a unit, mostly ns; one without a unit is refused.",
        "A packet still on its way at the end is neither received nor lost.",
        "A flow is one way: the acknowledgements of TCP are a flow of their own.",
        "A rate is over the time from the first to the last packet.",
        "A document type, which could hold entities, is refused.",
    ),
    tools={
        "ns-3 FlowMonitor": places.Counted(  # txBytes: packets with their IP headers
            probes=places.MeasuringPoint("", "IP packets", places.RECEIVER, places.ONE_WAY),
            facts={
                "packet_count": places.MeasuringPoint(places.OF_ROW, "IP packets", places.SENDER),
                "jitter_s": places.MeasuringPoint(
                    places.OF_ROW, "IP packets", places.RECEIVER, places.ONE_WAY
                ),
            },
            data="IP packets",
            rates=IP,
        ),
    },
)
