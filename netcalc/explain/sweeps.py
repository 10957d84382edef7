"""Several files of one sweep: what differs between them, and all of them as one measurement.

What differs is read from the facts of the files, from the numbers in their names, or is stated.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.display import unit_of_name
from netcalc.errors import DomainError
from netcalc.explain.causes.captures import together
from netcalc.explain.causes.links import joined_path, path_runs
from netcalc.explain.evidence import Evidence, Known
from netcalc.explain.measurement import evidence_of
from netcalc.explain.tables import TIMES, WAYS_OF_WRITING
from netcalc.messages import Notice
from netcalc.models.sizes.framing import ethernet_frame_bytes, udp_payload_limit_bytes
from netcalc.models.sizes.headers import DATAGRAM_HEADERS_BYTES
from netcalc.readers.captures.round_trips import echo_samples
from netcalc.samples import (
    FlowSeries,
    Meta,
    PacketTrace,
    RttSamples,
    Samples,
    Table,
    TransactionSamples,
    TransferSamples,
)
from netcalc.units import parse_typed

LEAST_PAIRS = 3
"""Echoes that a ping and a capture have in common. [1]"""
LEAST_WINDOW_BYTES = 512.0
"""Smaller numbers behind a w in the names of files are of weeks or of runs. [byte]"""
LEAST_DIFFERENCE = 0.02
"""Values of files that differ by less are the same, as two measured rates are. [ratio]"""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What may differ between the files of a sweep.

    ``words`` stand before its number in the name of a file.
    """

    column: str
    unit: str
    words: tuple[str, ...]


QUANTITIES: Mapping[str, Quantity] = {
    "window": Quantity("window_bytes", "byte",
                       ("w", "win", "window", "buf", "buffer", "sndbuf", "rcvbuf")),
    "size": Quantity("payload_bytes", "byte",
                     ("l", "s", "len", "length", "size", "bytes", "payload")),
    "flows": Quantity("flow_count", "1",
                      ("p", "n", "flow", "flows", "stream", "streams", "parallel", "conn")),
    "offered": Quantity("offered_bps", "bit/s", ("b", "rate", "offered", "bw")),
    "rtt": Quantity("rtt_s", "s", ("rtt", "delay", "latency")),
    "loss": Quantity("loss_ratio", "ratio", ("loss", "drop")),
}  # fmt: skip
"""By the name that ``--by`` has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """The files of a sweep as one measurement, and what differs between them.

    ``by`` is a name of :data:`QUANTITIES`, ``mode``, or ``clock`` of a ping and a capture. Without
    samples several things differ, and ``said`` names them.
    """

    samples: Samples | None
    by: str
    said: Notice


@named_arguments
def sweep(named: Mapping[str, Samples], by: str = "") -> Sweep | None:
    """Return several files as one measurement by what differs between them.

    Parameters
    ----------
    named : mapping of str to Samples
        What was read, by the name of the file.
    by : str, optional
        What differs, where several things do: ``"window"``; or with the value of each file in
        their order, where the files do not say it: ``"window=8KiB,16KiB,32KiB"``.

    Returns
    -------
    Sweep or None
        None where nothing differs that a theory is known for.

    Raises
    ------
    DomainError
        If ``by`` is of no known quantity, or has not one value for each file.

    Examples
    --------
    >>> runs = {f"w{n}K.json": FlowSeries(start_s=[0.0], duration_s=[1.0], payload_bytes=[1e6],
    ...     throughput_bps=[8e6], meta=Meta(facts=({"received_rate_bps": n * 1e6},)))
    ...     for n in (8, 16)}
    >>> joined = sweep(runs)
    >>> joined.by, joined.samples["goodput_bps"].tolist()
    ('window', [8000000.0, 16000000.0])
    """
    name, values = _stated(by, len(named))
    if name in ("", "size") and (path := _of_paths(named, values)) is not None:
        return path
    if len(named) < 2:
        return None
    if all(isinstance(samples, FlowSeries | TransferSamples) for samples in named.values()):
        starts = {samples.meta.start for samples in named.values()}
        if not by and len(starts) > 1 and together(named, Known()).have_run_at_once:
            return None  # each has what the others leave
        return _of_runs(named, name, values)
    if by:
        return _of_probes(named, values) if name == "size" else None
    return _of_probes(named) or _of_pair(named) or _of_modes(named)


def _stated(by: str, count: int) -> tuple[str, FloatArray | None]:
    """Return the quantity that is stated, and its values, if they are."""
    name, _, listed = by.partition("=")
    if name and name not in QUANTITIES:
        raise DomainError("not-a-choice", "by", name, choices=list(QUANTITIES))
    if not listed:
        return name, None
    unit = QUANTITIES[name].unit
    values = [parse_typed(part.strip(), unit) for part in listed.split(",")]
    if len(values) != count:
        raise DomainError("values-for-files", "by", listed, count=len(values), files=count)
    for value in values:
        if name in ("rtt", "loss") and value < 0:
            raise DomainError("is-negative", f"by {name}", value)
        if not (value >= 0 if name in ("rtt", "loss") else value > 0):
            raise DomainError("not-positive", f"by {name}", value)
        if unit == "ratio" and value >= 1:
            raise DomainError("all-lost", f"by {name}", value)
        if unit == "1" and value != round(value):
            raise DomainError("not-whole", f"by {name}", value, low=1)
    return name, np.array(values, dtype=np.float64)


def _of_runs(named: Mapping[str, Samples], by: str, values: FloatArray | None) -> Sweep | None:
    """Return a table of the rate of each run against what differs; None where nothing does."""
    evidence = [run for samples in named.values() if (run := _run(samples)) is not None]
    if len(evidence) < len(named):
        return None
    origin = "as stated"
    if values is None:
        if len({run.direction for run in evidence if run.direction}) > 1:
            return None  # up and down differ by themselves
        differing = _by_facts(list(named.values()), evidence, by)
        origin = "from the files" if differing else "from their names"
        differing = differing or _by_names(named, by)
        if not differing and by in ("", "offered"):  # as a sender reports it
            origin, differing = "from the files", _by_sent_rates(evidence)
        if len(differing) > 1:
            several = Notice("files-differ-in-several", {"names": list(differing)})
            return Sweep(samples=None, by="", said=several)
        if not differing:
            return None
        ((by, values),) = differing.items()
    if not _is_of_one_protocol(by, evidence):
        return None
    data: dict[str, Any] = {QUANTITIES[by].column: values}
    losses = np.array([run.loss_ratio for run in evidence])
    if by == "size":
        if values.max() > udp_payload_limit_bytes():
            return None  # no number of a datagram
        data["frame_bytes"] = ethernet_frame_bytes(values + DATAGRAM_HEADERS_BYTES)
    if by == "offered":
        if not np.isfinite(losses).all():
            return None
        data["loss_ratio"] = losses
    else:
        data["goodput_bps"] = np.array([run.rate_bps for run in evidence])
    return _joined(named, by, data, origin)


def _is_of_one_protocol(by: str, runs: Sequence[Evidence]) -> bool:
    """Whether all runs are of a protocol whose rate the quantity explains.

    A datagram waits for no window, and the sizes of writes to TCP say nothing of packets.
    """
    of_udp = [run.is_udp for run in runs]
    if by == "size":
        return all(of_udp)
    if by in ("window", "rtt", "loss"):
        return not any(of_udp)
    return all(of_udp) or not any(of_udp)


def _joined(named: Mapping[str, Samples], by: str, data: dict[str, Any], origin: str) -> Sweep:
    metas = [samples.meta for samples in named.values()]
    order = np.argsort(data[QUANTITIES[by].column], kind="stable")
    table = Table(
        data={name: column[order] for name, column in data.items()},
        meta=Meta(
            tool="sweep",
            source=f"{len(named)} files",
            units={name: unit_of_name(name) or "1" for name in data},
            partial=any(meta.partial for meta in metas),
        ),
    )
    code = f"sweep-by-{by}"
    said = Notice(code, {"count": len(named), "origin": origin})
    return Sweep(samples=table, by=by, said=said)


def _run(samples: Samples) -> Evidence | None:
    """Return what the only run of a file says; None where it has several or no rate."""
    runs = [run for run in evidence_of(samples) if run.rate_bps > 0 or run.loss_ratio >= 1]
    return runs[0] if len(runs) == 1 else None


def _by_facts(named: Sequence[Samples], runs: Sequence[Evidence], by: str) -> dict[str, FloatArray]:
    """Return the values that the files hold, of each quantity that differs between them."""
    asked = [samples.meta.printed.get("asked_buffer_bytes") for samples in named]
    columns = {
        "window": [float(size) if isinstance(size, int | float) else math.nan for size in asked],
        "size": [run.datagram_bytes if run.is_udp else math.nan for run in runs],
        "flows": [run.stream_count for run in runs],
        "offered": [run.asked_rate_bps if run.is_udp else math.nan for run in runs],
    }
    values = {name: np.array(column, dtype=np.float64) for name, column in columns.items()}
    return {name: column for name, column in values.items() if by in ("", name) and _differ(column)}


def _by_sent_rates(runs: Sequence[Evidence]) -> dict[str, FloatArray]:
    """Return the rates that senders of datagrams had, which is what the path was offered."""
    sent = np.array([run.sent_rate_bps if run.is_udp else math.nan for run in runs])
    return {"offered": sent} if _differ(sent) else {}


def _differ(values: FloatArray) -> bool:
    """Whether every file has a value, and they are not all the same."""
    if not np.isfinite(values).all():
        return False
    return bool(np.ptp(values) > LEAST_DIFFERENCE * np.abs(values).max())


_PART = re.compile(r"(?<![A-Za-z0-9.])([A-Za-z]*)[-_=]?(\d+(?:\.\d+)?)([A-Za-z%]*)")
_FACTORS: Mapping[str, Mapping[str, float]] = {
    "byte": {"": 1.0, "b": 1.0, "k": 1024.0, "kb": 1024.0, "kib": 1024.0, "m": 1024.0**2,
             "mb": 1024.0**2, "mib": 1024.0**2},
    "bit/s": {"k": 1e3, "m": 1e6, "g": 1e9, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "kbps": 1e3,
              "mbps": 1e6, "gbps": 1e9},
    "s": {"us": 1e-6, "ms": 1e-3, "s": 1.0},
    "ratio": {"%": 0.01, "pc": 0.01, "pct": 0.01, "percent": 0.01},
    "1": {"": 1.0},
}  # fmt: skip
"""Units that follow a number in the name of a file; sizes as tools take them, K of 1024 bytes."""


def _by_names(named: Mapping[str, Samples], by: str) -> dict[str, FloatArray]:
    """Return the values that the names of files have behind a word, by quantity.

    What a file holds itself counts more than a name: ``n1``, ``n2`` may be runs of one flow each.
    """
    stems = [PurePath(name).stem for name in named]
    has_flows = all(
        any("stream_count" in row for row in samples.facts()) for samples in named.values()
    )
    differing: dict[str, FloatArray] = {}
    for name, quantity in QUANTITIES.items():
        if name == "flows" and has_flows:
            continue
        values = np.array([_in_name(stem, quantity) for stem in stems])
        if name == "window" and not values.min() >= LEAST_WINDOW_BYTES:
            continue  # w1, w2 are weeks
        if by in ("", name) and _differ(values):
            differing[name] = values
    return differing


def _in_name(stem: str, quantity: Quantity) -> float:
    """Return the value of a quantity in a name; nan where none stands behind a word of it."""
    for word, number, unit in _PART.findall(stem):
        factor = _FACTORS[quantity.unit].get(unit.lower())
        if word.lower() in quantity.words and factor is not None:
            return float(number) * factor
    # The word may follow: 4flows, 64B.
    for word, number, unit in _PART.findall(stem):
        if not word and unit.lower() in quantity.words:
            return float(number)
    return math.nan


def _of_probes(named: Mapping[str, Samples], values: FloatArray | None = None) -> Sweep | None:
    """Return the probes of several pings as one run of several sizes; None for one size."""
    pings = [samples for samples in named.values() if isinstance(samples, RttSamples)]
    if len(pings) < len(named):
        return None
    if values is not None:
        stated = zip(pings, values, strict=True)
        pings = [replace(ping, payload_bytes=np.full(len(ping), size)) for ping, size in stated]
    sizes = np.concatenate([np.asarray(ping.payload_bytes)[ping.measured] for ping in pings])
    targets = {ping.meta.target for ping in pings}
    if len(targets) > 1 or np.unique(sizes[np.isfinite(sizes)]).size < 2:
        return None
    if any(np.unique(np.asarray(ping.payload_bytes)[ping.measured]).size > 1 for ping in pings):
        return None  # each is a sweep of its own

    def joined(name: str) -> Any:
        return np.concatenate([np.asarray(getattr(ping, name)) for ping in pings])

    first = pings[0].meta
    meta = Meta(
        tool=first.tool, protocol=first.protocol, target=first.target,
        source=f"{len(named)} files", partial=any(ping.meta.partial for ping in pings),
    )  # fmt: skip
    origin = "from the files" if values is None else "as stated"
    said = Notice("sweep-by-size", {"count": len(named), "origin": origin})
    probes = RttSamples(
        payload_bytes=joined("payload_bytes"), rtt_s=joined("rtt_s"), lost=joined("lost"),
        duplicate=joined("duplicate"), resolution_s=joined("resolution_s"), meta=meta,
    )  # fmt: skip
    return Sweep(samples=probes, by="size", said=said)


def _of_paths(named: Mapping[str, Samples], values: FloatArray | None) -> Sweep | None:
    """Return the probes of several runs as those of one path; None for other files.

    One file is enough, if its runs have several sizes.
    """
    of_files = [path_runs(samples) for samples in named.values()]
    if not all(of_files):
        return None
    runs, origin = [run for of_file in of_files for run in of_file], "from the files"
    if values is not None or any(math.isnan(run.packet_bytes) for run in runs):
        origin = "from their names" if values is None else "as stated"
        if len(runs) > len(named):
            return None  # a file has several
        sizes = _by_names(named, "size").get("size") if values is None else values
        if sizes is None:
            return None
        runs = [replace(run, packet_bytes=size) for run, size in zip(runs, sizes, strict=True)]
    if len(runs) < 2 or (len(named) == 1 and len({run.packet_bytes for run in runs}) < 2):
        return None
    joined = joined_path(runs, f"{len(named)} files" if len(named) > 1 else next(iter(named)))
    if joined is None:
        return None
    if isinstance(joined, Notice):
        return Sweep(samples=None, by="", said=joined)
    said = Notice("sweep-of-path", {"count": len(runs), "origin": origin})
    return Sweep(samples=joined, by="size", said=said)


def _of_pair(named: Mapping[str, Samples]) -> Sweep | None:
    """Return the same echoes by the clocks of ping and of a capture; None for other files."""
    pings = [samples for samples in named.values() if isinstance(samples, RttSamples)]
    traces = [samples for samples in named.values() if isinstance(samples, PacketTrace)]
    if (len(pings), len(traces), len(named)) != (1, 1, 2):
        return None
    taps, by_program = echo_samples(traces[0]), _by_number(pings[0])
    target = pings[0].meta.target
    groups = [name for name in taps.groups if name.endswith(f" to {target}")] or taps.groups
    if len(groups) != 1:
        return None
    by_tap = _by_number(taps, groups[0])
    shared = sorted(by_program.keys() & by_tap.keys())
    if len(shared) < LEAST_PAIRS:
        return None
    program_s, tap_s = (
        np.array([of[echo] for echo in shared], dtype=np.float64) for of in (by_program, by_tap)
    )
    later_s = program_s - tap_s
    if np.median(later_s) < 0:
        return None  # the program cannot see an answer before the tap beside it
    samples = TransactionSamples(
        mode=["ICMP echo"] * len(shared), sequence=[number for number, _ in shared],
        payload_bytes=[size for _, size in shared],
        response_s=program_s, tap_s=tap_s, meta=Meta(source="2 files"),
    )  # fmt: skip
    low, middle, high = np.quantile(later_s, (0.05, 0.5, 0.95)).tolist()
    values = {"count": len(shared), "low_s": low, "median_s": middle, "high_s": high}
    return Sweep(samples=samples, by="clock", said=Notice("pair-of-clocks", values))


def _by_number(samples: RttSamples, group: str | None = None) -> dict[tuple[float, float], float]:
    """Return the round trip of each measured echo, by its number in the run and its size.

    Echoes that stand twice are left out: which echo is which is not certain.
    """
    numbers = np.asarray(samples.sequence, dtype=np.float64)
    chosen = samples.measured & np.isfinite(numbers)
    if group is not None:
        chosen &= np.asarray(samples.group) == group
    sizes, times = np.asarray(samples.payload_bytes), np.asarray(samples.rtt_s)
    rows = np.flatnonzero(chosen & np.isfinite(sizes))
    echoes = list(zip(numbers[rows].tolist(), sizes[rows].tolist(), strict=True))
    counts = Counter(echoes)
    return {
        echo: float(times[row])
        for echo, row in zip(echoes, rows, strict=True) if counts[echo] == 1
    }  # fmt: skip


def _of_modes(named: Mapping[str, Samples]) -> Sweep | None:
    """Return the times of several files, each of a way of writing; None for other files."""
    if not any(WAYS_OF_WRITING.match(PurePath(name).stem) for name in named):
        return None
    modes: list[str] = []
    times: list[FloatArray] = []
    for name, samples in named.items():
        columns = samples.columns()
        column = next((columns[time] for time in TIMES if time in columns), None)
        if column is None or column.dtype.kind not in "iuf":
            return None
        values = np.asarray(column, dtype=np.float64)
        values = values[np.isfinite(values)]
        modes += [PurePath(name).stem] * values.size
        times.append(values)
    joined = np.concatenate(times)
    each = np.concatenate([np.arange(1.0, values.size + 1) for values in times])
    samples = TransactionSamples(
        mode=modes, sequence=each, payload_bytes=np.full(joined.size, math.nan),
        response_s=joined, meta=Meta(source=f"{len(named)} files"),
    )  # fmt: skip
    return Sweep(
        samples=samples, by="mode",
        said=Notice("sweep-by-mode", {"count": len(named), "origin": "from their names"}),
    )  # fmt: skip
