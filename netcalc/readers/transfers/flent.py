"""Data files of flent, versions 1 to 4: series of pings and transfers on one axis of time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ReaderError
from netcalc.messages import Notice
from netcalc.readers.document import member, number, rows, words
from netcalc.readers.format import Format, Input
from netcalc.readers.source import shorten
from netcalc.samples import Fact, Meta, Table, fact_row

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
class _Series:
    """One series: its column, its values in the unit of that, and what flent says of it."""

    name: str
    column: str
    values: NDArray[np.float64]
    meta: Mapping[str, Any]
    raw: NDArray[np.float64]
    """Values of the single probes, in the unit of the runner."""

    @property
    def known(self) -> NDArray[np.float64]:
        return self.values[np.isfinite(self.values)]


def _recognize(given: Input) -> bool:
    return given.is_json and {"metadata", "results", "x_values"} <= given.keys()


def _read(given: Input) -> Table:
    document = given.json.only()
    version = document.get("version", 1)
    if version not in range(1, _LATEST + 1):
        raise ReaderError(
            "flent-version", file=given.name, field="version", value=shorten(str(version)),
            highest=_LATEST,
        )  # fmt: skip
    warnings = list(given.json.warnings)
    metadata = member(document, "metadata")
    times = _column(given, "x_values", document["x_values"])
    results = member(document, "results")
    known = member(metadata, "SERIES_META")
    raw = member(document, "raw_values")
    found = [
        _series(given, name, results[name], times, member(known, name), rows(raw, name))
        for name in results
    ]
    kept = [one for one in found if one is not None and not _is_derived(one)]
    if not kept or not times.size:
        raise ReaderError("flent-nothing", file=given.name)
    left_out = [one.name for one in found if one is not None and _is_derived(one)]
    if left_out:
        warnings.append(Notice("flent-derived", {"names": left_out}))
    unknown = [one.name for one in kept if one.column == "value"]
    if unknown:
        warnings.append(Notice("flent-no-unit", {"count": len(unknown)}))
    columns = {
        name: np.concatenate(
            [one.values if one.column == name else np.full(times.size, np.nan) for one in kept]
        )
        for name in ("rtt_s", "throughput_bps", "value")
    }
    odd = int(
        np.count_nonzero(columns["rtt_s"] < 0) + np.count_nonzero(columns["throughput_bps"] < 0)
    )
    if odd:
        warnings.append(Notice("implausible-values", {"count": odd, "name": "results"}))
        for name in ("rtt_s", "throughput_bps"):
            columns[name][columns[name] < 0] = np.nan
    failed = number(metadata, "FAILED_RUNNERS") > 0
    source = given.unpacked
    return Table(
        data={
            "group": np.repeat([one.name for one in kept], times.size),
            "time_s": np.tile(times, len(kept)),
            **columns,
        },
        meta=Meta(
            tool="flent",
            tool_version=shorten(words(metadata, "FLENT_VERSION"), 40),
            host=shorten(words(metadata, "LOCAL_HOST"), 100),
            target=shorten(words(metadata, "HOST"), 100),
            start=words(metadata, "T0") if "Z" in words(metadata, "T0")[-1:] else "",
            clock="seconds since the start of the run",
            note=shorten(words(metadata, "TITLE"), 200),
            source=source.name if source.is_file else "",
            sha256=source.sha256,
            units={
                "group": "text", "time_s": "s", "rtt_s": "s", "throughput_bps": "bit/s",
                "value": "1",
            },
            printed={"test": words(metadata, "NAME"), "series": _printed(kept)},
            facts=tuple(_facts(one, metadata, partial=failed) for one in _measured(kept)),
            warnings=tuple(warnings),
            partial=failed or source.grew,
        ),
    )  # fmt: skip


def _measured(kept: list[_Series]) -> list[_Series]:
    """Return the series of round trips and rates; all if there is none."""
    return [one for one in kept if one.column != "value" and one.known.size] or kept


def _column(given: Input, name: str, values: Any) -> NDArray[np.float64]:
    """Return a list of numbers and gaps; anything else in it is refused."""
    if not isinstance(values, list):
        raise ReaderError("flent-no-list", file=given.name, field=shorten(name))
    for one in values:
        if one is not None and type(one) not in (int, float):
            raise ReaderError(
                "not-a-number", file=given.name, field=shorten(name), value=shorten(str(one))
            )
    try:
        return np.array([np.nan if one is None else float(one) for one in values], dtype=np.float64)
    except OverflowError:
        raise ReaderError("flent-no-list", file=given.name, field=shorten(name)) from None


def _series(
    given: Input,
    name: str,
    values: Any,
    times: NDArray[np.float64],
    meta: Mapping[str, Any],
    raw: Sequence[Mapping[str, Any]],
) -> _Series | None:
    """Return a series; None if flent has no value of it at all."""
    column = _column(given, name, values)
    if not column.size:
        return None
    if column.size != times.size:
        raise ReaderError(
            "flent-length", file=given.name, field=shorten(name),
            count=int(column.size), wanted=int(times.size),
        )  # fmt: skip
    unit = words(meta, "UNITS").lower() or _unit_of_name(name)
    target, factor = _UNITS.get(unit, ("value", 1.0))
    if "::" in name and not words(meta, "UNITS"):
        target, factor = "value", 1.0
    if target == "rtt_s" and not _PROBES.search(name):
        target, factor = "value", 1.0  # a delay one way, a jitter
    probes = np.array([number(one, "val") for one in raw], dtype=np.float64)
    return _Series(shorten(name, 100), target, column * factor, meta, probes)


def _unit_of_name(name: str) -> str:
    """Return the unit in a name such as ``Ping (ms) ICMP``; transfers are in Mbit/s in flent."""
    if "(ms)" in name:
        return "ms"
    return "mbits/s" if re.match(r"TCP (?:up|down)load\b", name) and "::" not in name else ""


def _is_derived(one: _Series) -> bool:
    runner = words(one.meta, "RUNNER")
    return runner in _DERIVERS or _DERIVED.fullmatch(one.name.partition("::")[0]) is not None


def _facts(one: _Series, metadata: Mapping[str, Any], *, partial: bool) -> dict[str, Fact]:
    """Return the facts of a series: round trips of its values, a rate as flent means it."""
    hosts = metadata.get("HOSTS")
    target = words(metadata, "HOST") if not isinstance(hosts, list) or len(hosts) < 2 else ""
    row: dict[str, Any] = {"group": one.name, "target": target, "partial": partial}
    values = one.known[one.known >= 0]
    if one.column == "rtt_s" and values.size:
        row |= {
            "protocol": _protocol_of_probes(one.name),
            **_round_trips(one, values),
            "sent_count": number(one.meta, "PACKETS_SENT"),
            "received_count": number(one.meta, "PACKETS_RECEIVED"),
            **_losses(one.meta),
        }
        return fact_row(**row)
    direction = next((d for d in ("upload", "download") if d in one.name.lower()), "")
    if one.column != "throughput_bps" or not direction or not values.size:
        return fact_row(**row)
    printed = number(one.meta, "MEAN_VALUE")
    unit = _UNITS[words(one.meta, "UNITS").lower() or "mbits/s"][1]
    rate = printed * unit if printed >= 0 else float(values.mean())
    retransmits = words(one.meta, "TCP_RETRANSMIT")
    if not retransmits and direction == "upload":  # of a download 0 may be that of the receiver
        count = number(one.meta, "TCP_RETRANSMIT")
        retransmits = f"{count:.0f}" if count >= 0 and count.is_integer() else ""
    row |= {
        "protocol": "udp" if "udp" in one.name.lower() else "tcp",
        "direction": direction,
        "sent_rate_bps" if direction == "upload" else "received_rate_bps": rate,
        "duration_s": number(one.meta, "ELAPSED_TIME"),
        "retransmit_count": float(retransmits) if re.fullmatch(r"\d{1,15}", retransmits) else None,
        "congestion_control": words(one.meta, "CONG_CONTROL"),
        "mss_bytes": _above_0(one.meta, "TCP_MSS"),
        **_sizes(one.meta),
    }
    return fact_row(**row)


def _protocol_of_probes(name: str) -> str:
    """Return the protocol that a series of round trips has in its name: ``Ping (ms) ICMP``."""
    found = re.search(r"\b(?:(icmp)|(udp)|http)\b", name.lower())
    return "" if found is None else found[1] or found[2] or "tcp"


def _losses(meta: Mapping[str, Any]) -> dict[str, float]:
    """Return the loss of a series of probes: as printed, and of its counts."""
    sent, received = number(meta, "PACKETS_SENT"), number(meta, "PACKETS_RECEIVED")
    printed = number(meta, "PACKET_LOSS_RATE")
    return {
        "printed_loss_ratio": printed if 0 <= printed <= 1 else math.nan,
        "loss_ratio": 1 - received / sent if 0 <= received <= sent and sent > 0 else math.nan,
    }


def _sizes(meta: Mapping[str, Any]) -> dict[str, float]:
    """Return the bytes that each end of a transfer counted.

    A sender that is stopped in a call does not count what of it was sent: where the receiver has
    more, the sender's count is not right.
    """
    sent, received = _above_0(meta, "BYTES_SENT"), _above_0(meta, "BYTES_RECVD")
    return {
        "sent_byte_count": math.nan if received > sent else sent,
        "received_byte_count": received,
    }


def _above_0(meta: Mapping[str, Any], name: str) -> float:
    """Return a number of a series; nan where it is missing, 0 or less."""
    value = number(meta, name)
    return value if value > 0 else math.nan


def _round_trips(one: _Series, values: NDArray[np.float64]) -> dict[str, float]:
    """Return what the single probes say, where their unit is sure: results are interpolated."""
    raw = one.raw[np.isfinite(one.raw) & (one.raw >= 0)]
    if not raw.size:
        return {}
    ratio = float(np.median(raw) / np.median(values)) if np.median(values) > 0 else 0.0
    factor = next((f for f in (1e-3, 1.0) if 0.5 < ratio * f < 2.0), None)
    if factor is None:
        return {}
    return {
        "rtt_min_s": float(raw.min()) * factor,
        "rtt_median_s": float(np.median(raw)) * factor,
        "rtt_max_s": float(raw.max()) * factor,
        "reply_count": float(raw.size),
    }


def _printed(kept: list[_Series]) -> dict[str, Any]:
    """Return what flent says of its series, as it says it."""
    names = ("UNITS", "MEAN_VALUE", "MIN_VALUE", "MAX_VALUE", "RTT_MEDIAN", "PACKET_LOSS_RATE")
    return {
        one.name: {
            name: one.meta[name]
            for name in names
            if isinstance(one.meta.get(name), str | int | float)
        }
        for one in kept
    }


FORMAT = Format(
    name="flent",
    description="a flent data file",
    recognize=_recognize,
    read=_read,
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
)
