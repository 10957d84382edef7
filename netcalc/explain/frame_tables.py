"""Tables of frame sizes and rates: the line at each size, or the time of a device per frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.known import Known
from netcalc.explain.rate_limits import COUNT_TOLERANCE
from netcalc.explain.table_columns import (
    FITTED_TOLERANCE,
    labelled,
    numbers,
    numbers_or_nan,
    plausible,
    rows_of,
    series_of,
)
from netcalc.fit import robust_line
from netcalc.messages import Notice
from netcalc.models.rates import line_rate
from netcalc.models.sizes import framing
from netcalc.samples import Samples, Table

FLAT_RATIO = 0.1
"""Packet rates at several sizes that differ by less are those of a device. [ratio]"""
LINE_SHARE = 0.95
"""A line used to this share limits. [ratio]"""
TCP_FRAME_BYTES = 58
"""Headers and FCS of a frame with TCP over IPv4, without options. [byte]"""


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """The rows of a table of frame sizes that have a rate; by series.

    ``counted_bytes`` are those of a frame that the rate counts: all of it, or its payload.
    """

    frame_bytes: FloatArray
    counted_bytes: FloatArray
    rate_pps: FloatArray
    is_payload: bool
    series: list[str]
    rows: dict[str, NDArray[np.intp]]

    def line_pps(self, known: Known) -> FloatArray:
        """Return the frames a second that the line carries at each size; inf if it is unknown."""
        found = np.full(self.frame_bytes.size, math.inf)
        if known.line_bps is not None:
            rows = np.concatenate(list(self.rows.values()))  # the others have no size or rate
            sizes = self.frame_bytes[rows]
            found[rows] = line_rate.frame_rate_pps(sizes, bandwidth_bps=known.line_bps)
        return found

    def device(self, name: str, known: Known) -> Device:
        """Return the device that the rows of a series below the line's rate imply."""
        rows = self.rows[name]
        if known.device_pps is not None:
            return Device(known.device_pps, 2 * COUNT_TOLERANCE)
        below = rows[self.rate_pps[rows] < LINE_SHARE * self.line_pps(known)[rows]]
        rates = self.rate_pps[below]
        # One size alone: the line is full with the others, and the device does no more of them.
        if below.size == 1 and rows.size > 1 and rates[0] >= self.rate_pps[rows].max():
            return Device(float(rates[0]), FITTED_TOLERANCE)
        if below.size < 2:
            return Device()
        if rates.max() <= (1 + FLAT_RATIO) * rates.min():
            return Device(float(np.median(rates)), 2 * COUNT_TOLERANCE)
        line = robust_line(self.frame_bytes[below], 1 / rates)
        if line.rank == 2 and line.slope > 0 and line.intercept > 0:
            costs = (float(line.intercept), float(line.slope))
            return Device(tolerance_ratio=FITTED_TOLERANCE, costs=costs)
        return Device()


@dataclass(frozen=True, slots=True)
class Device:
    """What a device does in a second: so many frames, or a time for each and each of its bytes."""

    rate_pps: float = math.nan
    tolerance_ratio: float = 0.0
    costs: tuple[float, float] | None = None

    def at(self, frame_bytes: FloatArray) -> FloatArray:
        """Return its frames a second at each size; nan if nothing is known of it. [packet/s]"""
        if self.costs is None:
            return np.full(np.shape(frame_bytes), self.rate_pps)
        return 1 / (self.costs[0] + self.costs[1] * np.asarray(frame_bytes))


def frames_of(samples: Samples) -> Frames | None:
    """Return the frames of a table; None if it has no sizes of frames with rates."""
    if not isinstance(samples, Table):
        return None
    sizes = numbers(samples, "frame_bytes")
    captured = numbers(samples, "captured_bytes")
    if sizes is None and captured is not None:
        sizes, some = np.full(captured.size, math.nan), plausible(captured)
        sizes[some] = framing.captured_frame_bytes(captured[some])
    if sizes is None:
        return None
    counted, rates, goodput = sizes, numbers(samples, "rate_pps"), numbers(samples, "goodput_bps")
    with np.errstate(all="ignore"):  # rows that are not good are left out
        if goodput is not None:
            payload = numbers(samples, "payload_bytes")
            counted = sizes - TCP_FRAME_BYTES if payload is None else payload
            rates = goodput / (8 * counted)
        elif rates is None:
            rates = numbers_or_nan(samples, "rate_bps") / (8 * sizes)
        good = plausible(sizes, counted, rates)
    series = series_of(samples)
    rows = rows_of(series, good)
    return Frames(sizes, counted, rates, goodput is not None, series, rows) if rows else None


def explain_sizes(samples: Samples, known: Known) -> tuple[Finding, ...]:
    """Return whether a line or a device limits rates at several frame sizes.

    Parameters
    ----------
    samples : Table
        A column ``frame_bytes`` (with FCS) or ``captured_bytes`` (without), and ``rate_pps``,
        ``rate_bps`` of frames, or ``goodput_bps`` of their payload.
    known : Known
        ``line_bps`` is the line, ``device_pps`` a device's rate, both directions together.

    Returns
    -------
    tuple of Finding
        One for each row; empty if the table has no such columns. Without ``device_pps``, packet
        rates that stay equal from size to size, below the line's, are those of a device; if they
        fall with the size, it has a cost per byte too.
    """
    frames = frames_of(samples)
    if frames is None:
        return ()
    found = {}
    for name, rows in frames.rows.items():
        device = frames.device(name, known)
        for row in rows.tolist():
            limits = [*_line(frames, row, known), *_device(frames, row, device)]
            found[row] = _finding(frames, row, limits, known)
    return tuple(found[row] for row in sorted(found))


def _line(frames: Frames, row: int, known: Known) -> list[Limit]:
    if known.line_bps is None:
        return []
    size, counted = float(frames.frame_bytes[row]), float(frames.counted_bytes[row])
    values = {"line_bps": known.line_bps, "payload_bytes": counted, "wire_bytes": size + 20}
    rate = 8 * counted * float(frames.line_pps(known)[row])
    return [Limit("line", rate, "bit/s", COUNT_TOLERANCE, values)]


def _device(frames: Frames, row: int, device: Device) -> list[Limit]:
    size, counted = float(frames.frame_bytes[row]), float(frames.counted_bytes[row])
    rate = 8 * counted * float(device.at(np.array([size]))[0])
    if device.costs is not None:
        packet, byte = device.costs
        costs = {"packet_cost_s": packet, "byte_cost_s": byte, "frame_bytes": size}
        return [Limit("frame-costs", rate, "bit/s", device.tolerance_ratio, costs)]
    if math.isnan(device.rate_pps):
        return []
    values = {"device_pps": device.rate_pps, "payload_bytes": counted, "share": 1.0}
    return [Limit("packet-rate", rate, "bit/s", device.tolerance_ratio, values)]


def _finding(frames: Frames, row: int, limits: list[Limit], known: Known) -> Finding:
    measured = 8 * float(frames.counted_bytes[row]) * float(frames.rate_pps[row])
    said = []
    for limit in limits:
        if limit.name == "line" and limit.refuted(measured):
            facts = {
                "subject": limit.subject, "value": limit.value, "measured": measured,
                "assumption": str(Notice(
                    "assumes-payload-counted" if frames.is_payload else "assumes-frames-counted"
                )),
            }  # fmt: skip
            said.append(Notice("limit-refuted", facts))
    return Finding(
        label=labelled(frames.series[row], f"{frames.frame_bytes[row]:g} B"),
        measured=measured,
        limits=tuple(sorted(limits, key=lambda one: one.value)),
        notices=tuple(said),
        missing=() if known.line_bps is not None else (Notice("ask-line"),),
    )
