"""The models of a stated number: right ones, and the popular mistakes that distort each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netcalc.explain.evidence import DEFAULT_MTU_BYTES, Evidence, Known, first_known
from netcalc.explain.frame_tables import Frames
from netcalc.explain.rate_limits import line_ceiling_bps
from netcalc.messages import Notice
from netcalc.models.rates import goodput, line_rate
from netcalc.models.sizes import framing
from netcalc.models.sizes.headers import STAMPED_HEADERS_BYTES, TIMESTAMP_BYTES
from netcalc.models.tcp import cubic, loss_limited, window
from netcalc.models.tcp.ceilings import CONGESTION_CONTROLS
from netcalc.models.tcp.transfer_time import transfer_time_s
from netcalc.path import Path
from netcalc.samples import Table
from netcalc.units import show

CONSTANT_OVERHEAD_BPS = 6e6
"""What some add to a goodput, whatever the packets, to get the rate of the line. [bit/s]"""
SPEED_TEST_FACTORS = {"librespeed": 1.06, "librespeed-of-2017": 1e6 / 925_000}
"""What LibreSpeed multiplies a goodput by for the headers (overheadCompensationFactor).

Its first versions had 1048576/925000 of Mbit of 1048576 bit: 1e6/925000 in all.
"""
STANDARD_FRAMES_BYTES = (64.0, 128.0, 256.0, 512.0, 1024.0, 1280.0, 1518.0)
"""Frames of a packet rate that names no size, FCS included (RFC 2544, 9.1). [byte]"""
FCS_BYTES, PREAMBLE_BYTES, GAP_BYTES, FRAMING_BYTES = 4, 8, 12, 18
CONVERSIONS = (
    "binary-prefix", "binary-prefix-in-time", "line-bytes-as-bits", "line-bits-as-bytes",
)  # fmt: skip
"""Mistakes of conversion: they leave all digits, so that a round number is none of them."""

TIMES = "times-for-over"
"""Name of the mistake whose number is of other units, and no near miss of the right one."""
SIMPLE = "mathis-of-one"
"""Name of the mistake that many pages have: its units are mistaken besides."""
AT_SIZE = "frame-rate-at-size"
"""Name of a packet rate at a size that nobody has stated: near it is not like it."""
MEASURED = (*SPEED_TEST_FACTORS, "bytes-for-bits")
"""Mistakes of a rate that was measured, and so may be a little below what the line allows."""
LINE = "no-headers"
"""Name of the mistake that is the rate of the line."""
LINE_CONVERSIONS = {"line-bytes-as-bits": 1 / 8, "line-bits-as-bytes": 8.0}
"""What people make of the rate of the line itself: 125 Mbit/s of 1 Gbit/s."""
_POWERS = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a number: its value, whether it is right, and which right one it distorts.

    ``label`` is the run of a file that it is of, where there are several.
    """

    name: str
    value: float
    is_right: bool
    values: Mapping[str, Any]
    instead_of: str = ""
    label: str = ""

    @property
    def said(self) -> Notice:
        """What it computes, or takes for another."""
        code = f"model-{self.name}"
        said = Notice(code, dict(self.values))
        return (
            Notice("of-one-run", {"label": self.label, "model": str(said)}) if self.label else said
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTripSpread:
    """The least, the median and the largest round trip of a measurement; nan where unknown."""

    least_s: float = math.nan
    median_s: float = math.nan
    most_s: float = math.nan
    label: str = ""


def with_labels(of_runs: Sequence[tuple[str, list[Model]]]) -> list[Model]:
    """Return the models of all runs: one that several have once, any other with its run."""
    labels: dict[tuple[str, float], set[str]] = {}
    for label, models in of_runs:
        for model in models:
            labels.setdefault((model.name, model.value), set()).add(label)
    labelled: dict[tuple[str, float], Model] = {}
    for label, models in of_runs:
        for model in models:
            key = model.name, model.value
            own = "" if len(of_runs) == 1 or len(labels[key]) > 1 else label
            labelled.setdefault(key, replace(model, label=own))
    return list(labelled.values())


def _filled(stated: Known, evidence: Evidence | None) -> Known:
    """Return what is stated, and from the run what is not."""
    if evidence is None:
        return stated
    seen = {
        "rtt_s": first_known(evidence.base_rtt_s, evidence.rtt_s),
        "window_bytes": first_known(evidence.receive_window_bytes, evidence.cwnd_bytes),
        "loss_ratio": math.nan if evidence.is_udp else evidence.loss_ratio,
        "mtu_bytes": evidence.mtu_bytes,
    }
    new: dict[str, Any] = {
        name: v for name, v in seen.items() if getattr(stated, name) is None and v > 0
    }
    return replace(stated, **new)


def of_path(stated: Known, path: Path | None) -> Known:
    """Return what is stated, and of the path what is not: its line and its round trip."""
    if path is None:
        return stated
    return replace(
        stated,
        line_bps=path.bottleneck_bps if stated.line_bps is None else stated.line_bps,
        rtt_s=(float(path.rtt_s(0.0)) or None) if stated.rtt_s is None else stated.rtt_s,
    )


def rate_models(
    stated: Known, evidence: Evidence | None, *, frame_bytes: float | None = None
) -> list[Model]:
    """Return the models of a rate: of the line, a window, loss, and the counts of a run."""
    stated = _filled(stated, evidence)
    models = _line_rates(stated) + _window_and_loss(stated)
    if stated.line_bps is not None and frame_bytes is not None:
        models += _line_at_size(stated.line_bps, frame_bytes, frame_bytes)
        packet = frame_bytes - FRAMING_BYTES
        if packet > 0:
            rate = stated.line_bps * packet / (frame_bytes + PREAMBLE_BYTES + GAP_BYTES)
            values = {"line_bps": stated.line_bps, "mtu_bytes": packet}
            models.append(Model("ip-packets", rate, True, values))
    if (
        evidence is not None
        and evidence.is_udp
        and evidence.datagram_bytes > 0
        and stated.line_bps is not None
    ):
        values = {"line_bps": stated.line_bps, "payload_bytes": evidence.datagram_bytes}
        models.append(Model("udp-of-size", line_ceiling_bps(evidence, stated), True, values))
    if evidence is not None and evidence.received_rate_bps > 0:
        models.append(Model("receiver", evidence.received_rate_bps, True, {}))
        if evidence.sent_rate_bps > 0:
            models.append(Model("sender", evidence.sent_rate_bps, False, {}, "receiver"))
    elif evidence is not None and evidence.rate_bps > 0:
        models.append(Model("measured", evidence.rate_bps, True, {}))
    return models


def _line_rates(stated: Known) -> list[Model]:
    line, mtu = stated.line_bps, stated.mtu_bytes or DEFAULT_MTU_BYTES
    if line is None:
        return []
    segment = mtu - STAMPED_HEADERS_BYTES
    wire = float(framing.ethernet_wire_bytes(mtu))
    values = {"line_bps": line, "segment_bytes": segment, "mtu_bytes": mtu}
    stamped = goodput.tcp_goodput_bps(mtu, bandwidth_bps=line, tcp_option_bytes=TIMESTAMP_BYTES)
    plain = goodput.tcp_goodput_bps(mtu, bandwidth_bps=line, tcp_option_bytes=0.0)
    udp = goodput.udp_goodput_bps(mtu, bandwidth_bps=line)
    frames = line_rate.frame_throughput_bps(wire - 20, bandwidth_bps=line)
    models = [
        Model("tcp-timestamps", float(stamped), True, values),
        Model("tcp-plain", float(plain), True, values),
        Model("udp", float(udp), True, values),
        Model("ip-packets", line * mtu / wire, True, values),
        Model("frames", float(frames), True, values),
        Model("no-preamble", line * segment / (wire - 20), False, values, "tcp-timestamps"),
        Model("no-headers", line, False, values, "tcp-timestamps"),
        Model("no-fcs", line * segment / (wire - 4), False, values, "tcp-timestamps"),
    ]
    for name, factor in SPEED_TEST_FACTORS.items():
        for rate, instead_of in ((stamped, "tcp-timestamps"), (plain, "tcp-plain")):
            scaled = {**values, "factor": factor}
            models.append(Model(name, float(rate) * factor, False, scaled, instead_of))
    if line > CONSTANT_OVERHEAD_BPS:
        rate = line - CONSTANT_OVERHEAD_BPS
        constant = {**values, "overhead_bps": CONSTANT_OVERHEAD_BPS}
        models.append(Model("constant-overhead", rate, False, constant, "tcp-timestamps"))
    return models


def models_of_sizes(stated: Known, frames: Frames) -> list[Model]:
    """Return the models of a rate in a table of frame sizes: each row, and the line at its size."""
    of_rows = []
    for label, size, counted, rate in frames.measured():
        models = [Model("measured", 8 * counted * rate, True, {})]
        if stated.line_bps is not None:
            models += _line_at_size(stated.line_bps, size, counted)
        of_rows.append((label, models))
    return with_labels(of_rows)


def own_models(table: Table, value: float, unit: str) -> list[Model]:
    """Return the nearest value of each column of a table that has this unit."""
    models = []
    for name, column in table.columns().items():
        if table.meta.units.get(name) != unit or column.dtype.kind not in "iuf":
            continue
        rows = np.flatnonzero((column > 0) & np.isfinite(column))
        if rows.size:
            row = rows[np.argmin(np.abs(np.log(column[rows] / value)))]
            values = {"column": name, "row": int(row) + 1}
            models.append(Model("in-table", float(column[row]), True, values))
    return models


def _line_at_size(line_bps: float, frame_bytes: float, counted_bytes: float) -> list[Model]:
    values = {"line_bps": line_bps, "frame_bytes": frame_bytes, "payload_bytes": counted_bytes}
    rate = 8 * counted_bytes * float(line_rate.frame_rate_pps(frame_bytes, bandwidth_bps=line_bps))
    models = [
        Model("line-at-size", rate, True, values),
        Model("no-headers", line_bps, False, values, "line-at-size"),
    ]
    if counted_bytes < frame_bytes:
        forgotten = line_bps * counted_bytes / frame_bytes
        models.append(Model("no-preamble", forgotten, False, values, "line-at-size"))
    if line_bps > CONSTANT_OVERHEAD_BPS:
        constant = {**values, "overhead_bps": CONSTANT_OVERHEAD_BPS}
        less = line_bps - CONSTANT_OVERHEAD_BPS
        models.append(Model("constant-overhead", less, False, constant, "line-at-size"))
    return models


def packet_rates_of_sizes(stated: Known, frames: Frames) -> list[Model]:
    """Return the models of a packet rate in a table of frame sizes."""
    return with_labels([
        (
            label,
            [Model("measured", rate, True, {}), *packet_rate_models(stated, size)],
        )
        for label, size, _, rate in frames.measured()
    ])  # fmt: skip


def _window_and_loss(stated: Known) -> list[Model]:
    rtt, models = stated.rtt_s, []
    if rtt is None:
        return []
    if stated.window_bytes is not None:
        values = {"window_bytes": stated.window_bytes, "rtt_s": rtt}
        rate = float(window.throughput_bps(stated.window_bytes, rtt_s=rtt))
        models.append(Model("window", rate, True, values))
        values = {**values, "one_way_s": rtt / 2}
        models.append(Model("one-way", 2 * rate, False, values, "window"))
        times = 8 * stated.window_bytes * rtt  # its unit would be bit times seconds
        models.append(Model(TIMES, times, False, values, "window"))
    loss = stated.loss_ratio
    if loss is not None and 0 < loss < 1:
        mtu = stated.mtu_bytes or DEFAULT_MTU_BYTES
        mss = mtu - STAMPED_HEADERS_BYTES
        values = {"loss_ratio": loss, "rtt_s": rtt}
        for suffix, segment in (("", mss), ("-plain", mss + TIMESTAMP_BYTES)):
            said = {**values, "mss_bytes": segment} if suffix else values
            of_path = {"mss_bytes": segment, "rtt_s": rtt}
            right = loss_limited.mathis_throughput_bps(loss, **of_path)
            models.append(Model(f"mathis{suffix}", float(right), True, said))
            simple = float(loss_limited.mathis_throughput_bps(loss, **of_path, constant=1.0))
            models.append(Model(f"{SIMPLE}{suffix}", simple, False, said, f"mathis{suffix}"))
        rate = float(cubic.cubic_throughput_bps(loss, packet_bytes=mtu, rtt_s=rtt)) * mss / mtu
        models.append(Model("cubic", rate, True, values))
    return models


def packet_rate_models(stated: Known, frame_bytes: float | None) -> list[Model]:
    """Return the models of a packet rate: the line at a frame size, with parts forgotten."""
    line, frame = stated.line_bps, frame_bytes
    if line is None:
        return []
    if frame is None:  # a line rate in packets is that of the smallest frames, if nothing is said
        smallest, *others = STANDARD_FRAMES_BYTES
        rates = [packet_rate_models(stated, size)[0] for size in others]
        return packet_rate_models(stated, smallest) + [replace(one, name=AT_SIZE) for one in rates]
    values = {"line_bps": line, "frame_bytes": frame}
    right = float(line_rate.frame_rate_pps(frame, bandwidth_bps=line))
    forgotten = {
        "frames-without-gap": PREAMBLE_BYTES + GAP_BYTES,
        "frames-without-fcs": FCS_BYTES,
        "frames-without-preamble": PREAMBLE_BYTES,
        "frames-without-preamble-and-fcs": PREAMBLE_BYTES + FCS_BYTES,
        "frames-as-captured": PREAMBLE_BYTES + GAP_BYTES + FCS_BYTES,
    }
    wire = frame + PREAMBLE_BYTES + GAP_BYTES
    return [
        Model("frame-rate", right, True, values),
        *(
            Model(name, line / (8 * (wire - size)), False, values, "frame-rate")
            for name, size in forgotten.items()
            if wire > size
        ),
        Model("both-directions", 2 * right, False, values, "frame-rate"),
    ]


def time_models(
    stated: Known, path: Path | None, size_bytes: float | None, trips: Sequence[RoundTripSpread]
) -> list[Model]:
    """Return the models of a time: over a path, and of round trips that are known."""
    models = with_labels([(trip.label, _round_trips(trip)) for trip in trips])
    if stated.rtt_s is not None:
        models += _of_round_trip("rtt-stated", stated.rtt_s)
    if path is not None and size_bytes is not None:
        models += _over_path(path, size_bytes)
    elif path is not None and stated.rtt_s is None:
        models += _of_latency(float(path.rtt_s(0.0)))
    if size_bytes is not None:
        models += _of_transfer(of_path(stated, path), size_bytes, of_links=path is not None)
    return [model for model in models if model.value > 0]


def _round_trips(trips: RoundTripSpread) -> list[Model]:
    return [
        *_of_round_trip("rtt-least", trips.least_s),
        *_of_round_trip("rtt-median", trips.median_s),
        Model("rtt-most", trips.most_s, True, {}),
    ]


def _of_round_trip(name: str, rtt_s: float) -> list[Model]:
    """Return a round trip, half of it taken for it, and it taken for one way."""
    right = Model(name, rtt_s, True, {})
    values = {"right": str(right.said)}
    return [
        right,
        Model("one-way-for-rtt", rtt_s / 2, False, values, name),
        Model("rtt-doubled", 2 * rtt_s, False, values, name),
    ]


def _of_latency(rtt_s: float) -> list[Model]:
    """Return the times of a path that are asked of no size: one way and there and back."""
    right, one_way = Model("path-rtt", rtt_s, True, {}), Model("path-one-way", rtt_s / 2, True, {})
    doubled = Model("rtt-doubled", 2 * rtt_s, False, {"right": str(right.said)}, right.name)
    return [right, one_way, doubled]


def _of_transfer(stated: Known, size_bytes: float, *, of_links: bool) -> list[Model]:
    """Return the time of a transfer over TCP of what is more than a packet, and mistakes of it.

    Those of links are of :func:`_over_path`.
    """
    line, rtt, mtu = stated.line_bps, stated.rtt_s, stated.mtu_bytes or DEFAULT_MTU_BYTES
    if line is None or rtt is None or size_bytes <= mtu:
        return []
    values = {"size_bytes": size_bytes, "rtt_s": rtt, "line_bps": line}
    window_bytes = math.inf if stated.window_bytes is None else stated.window_bytes
    known = (name for name in CONGESTION_CONTROLS if name == stated.congestion_control)
    control = next(known, CONGESTION_CONTROLS[0])
    right = transfer_time_s(
        size_bytes, bandwidth_bps=line, rtt_s=rtt, window_bytes=window_bytes, mtu_bytes=mtu,
        loss_ratio=stated.loss_ratio or 0.0,
        congestion_control=control,
    )  # fmt: skip
    wrong = {"size-over-line": 8 * size_bytes / line, "bytes-over-bits": size_bytes / line}
    wrong = {} if of_links else wrong
    return [
        Model("tcp-transfer", float(right), True, values),
        *(Model(name, time, False, values, "tcp-transfer") for name, time in wrong.items()),
    ]


def _over_path(path: Path, size_bytes: float) -> list[Model]:
    right = float(path.one_way_s(size_bytes))
    values = {"size_bytes": size_bytes, "links": len(path.links)}
    each = [8 * size_bytes / link.bandwidth_bps for link in path.links]
    latency = sum(link.latency_s for link in path.links)
    models = [
        Model("one-way-time", right, True, values),
        Model("round-trip-time", float(path.rtt_s(size_bytes)), True, values),
    ]
    wrong = {
        "bytes-for-bits-in-time": right + (1 / 8 - 1) * sum(each),
        "bits-for-bytes-in-time": right + (8 - 1) * sum(each),
        "double-latency": right + latency,
        "no-latency": right - latency,
        "no-serialization": right - sum(each),
    }
    power = min(int(math.log10(size_bytes) // 3), max(_POWERS.values())) if size_bytes >= 1 else 0
    if power:
        wrong["binary-prefix-in-time"] = right + (1.024**power - 1) * sum(each)
    if len(each) > 1:
        wrong["cut-through"] = right - sum(each) + max(each)
        wrong["no-last-hop"] = right - each[-1]
    return models + [
        Model(name, value, False, values, "one-way-time")
        for name, value in wrong.items()
        if value != right
    ]


def unit_mistakes(models: list[Model], text: str, unit: str) -> list[Model]:
    """Return the right models with the mistakes of units: a factor of 8, or of 1024 for 1000."""
    if unit != "bit/s":
        return []
    mistakes = []
    prefix = re.search(r"[\d\s]([kKMGT])i?[bB]", text)
    power = _POWERS[prefix.group(1)] if prefix else 0
    for model in models:
        right_name = model.name if model.is_right else model.instead_of
        rate = "" if model.is_right else f", {show(model.value, unit)}"
        values = {"right": f"{model.said}{rate}"}
        if model.name == LINE:
            mistakes += [
                Model(name, model.value * factor, False, model.values, right_name)
                for name, factor in LINE_CONVERSIONS.items()
            ]
        if model.is_right or model.name.startswith(SIMPLE):
            mistakes.append(Model("bits-for-bytes", model.value / 8, False, values, right_name))
        if not model.is_right:
            continue
        mistakes.append(Model("bytes-for-bits", model.value * 8, False, values, model.name))
        if power:
            factor = 1.024**power
            mistakes.append(Model("binary-prefix", model.value / factor, False, values, model.name))
    return mistakes
