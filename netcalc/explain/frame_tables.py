"""Tables of frame sizes and rates: the line at each size, or the time of a device per frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.explain import tables
from netcalc.explain.causes.cause import Cause, Sign
from netcalc.explain.evidence import Known
from netcalc.explain.finding import Finding, Limit
from netcalc.explain.rate_limits import COUNT_TOLERANCE
from netcalc.fit import Line, robust_line
from netcalc.messages import Notice
from netcalc.models.rates import line_rate
from netcalc.models.sizes import framing
from netcalc.rate_layers import FRAME, PAYLOAD, TCP_PAYLOAD, UNKNOWN, RateLayer, in_words
from netcalc.samples import Samples, Table

IMPOSSIBLE_RATIO = 1e-3
"""No line carries more than its rate, beyond its clock and that of the count. [ratio]"""
LINE_SHARE = 0.95
"""A line used to this share limits. [ratio]"""
ETHERNET_BPS = (
    10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9, 800e9,
)  # fmt: skip
"""Rates of Ethernet, IEEE 802.3. [bit/s]"""
UNSEEN_BYTES = 20.0
"""Preamble and gap, what a line of Ethernet carries beside each frame. [byte]"""
LINE_ERROR_BYTES, MOST_ERROR_BYTES = 1.0, 5.0
"""How near the bytes per frame of a fit must be to these, at least and at most. [byte]"""
LIKELY_RATIO, LIKELY_COUNT = 0.015, 2
"""Rates of this many of the largest sizes, this near to those of a line of Ethernet, are likely
its. [ratio], [1]"""
LINE_ERROR_RATIO = 0.005
"""How near the rate of a fit must be to one of Ethernet's. [ratio]"""
FRAME_RATE = "frame_throughput_bps"
"""The only column of rates in bits whose name says that they are of frames."""
FITTED = ("packet-rate", "frame-costs")
"""Limits by a device that the rows themselves show."""
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
    is_layer_said: bool = True

    def label(self, row: int) -> str:
        """Return the series of a row and its size."""
        return tables.labelled(self.series[row], f"{self.frame_bytes[row]:g} B")

    def measured(self) -> Iterator[tuple[str, float, float, float]]:
        """Yield the label of each row, the size of its frame, what counts of it, and its rate."""
        for row in sorted(np.concatenate(list(self.rows.values())).tolist()):
            size, counted = float(self.frame_bytes[row]), float(self.counted_bytes[row])
            yield self.label(row), size, counted, float(self.rate_pps[row])

    def line_pps(self, stated: Known) -> FloatArray:
        """Return the frames a second that the line carries at each size; inf if it is unknown."""
        line_pps = np.full(self.frame_bytes.size, math.inf)
        if stated.line_bps is not None:
            rows = np.concatenate(list(self.rows.values()))  # the others have no size or rate
            sizes = self.frame_bytes[rows]
            line_pps[rows] = line_rate.frame_rate_pps(sizes, bandwidth_bps=stated.line_bps)
        return line_pps

    def with_likely_line(self, name: str, stated: Known) -> Known:
        """Return what is known, with the line of Ethernet that the largest sizes fill.

        Smaller ones, which do not fill it, meet something else.
        """
        rows = self.rows[name]
        rows = rows[np.argsort(self.frame_bytes[rows], kind="stable")]
        if stated.line_bps is not None or stated.device_pps is not None:
            return stated
        for line_bps in ETHERNET_BPS:
            with_line = replace(stated, line_bps=line_bps)
            share = self.rate_pps[rows] / self.line_pps(with_line)[rows]
            fills = np.abs(share - 1) <= LIKELY_RATIO
            count = int(np.count_nonzero(fills))
            if LIKELY_COUNT <= count < rows.size and fills[-count:].all():
                return with_line if (share[:-count] < LINE_SHARE).all() else stated
        return stated

    def device(self, name: str, stated: Known) -> Device:
        """Return the device that the rows of a series below the line's rate imply."""
        rows = self.rows[name]
        if stated.device_pps is not None:
            return Device(stated.device_pps, 2 * COUNT_TOLERANCE)
        below = rows[self.rate_pps[rows] < LINE_SHARE * self.line_pps(stated)[rows]]
        rates = self.rate_pps[below]
        # One size alone: the line is full with the others, and the device does no more of them.
        if below.size == 1 and rows.size > 1 and rates[0] >= self.rate_pps[rows].max():
            return Device(float(rates[0]), tables.FITTED_TOLERANCE)
        if np.unique(self.frame_bytes[below]).size < 2:
            return Device()
        if rates.max() <= (1 + tables.FLAT_RATIO) * rates.min():
            return Device(float(np.median(rates)), 2 * COUNT_TOLERANCE)
        line = robust_line(self.frame_bytes[below], 1 / rates)
        if line.rank == 2 and line.slope > 0 and line.intercept > 0:
            costs = (float(line.intercept), float(line.slope))
            implied = _implied_line_bps(line)
            return Device(tolerance_ratio=tables.FITTED_TOLERANCE, costs=costs, implied_bps=implied)
        return Device()


@dataclass(frozen=True, slots=True)
class Device:
    """What a device does in a second: so many frames, or a time for each and each of its bytes.

    ``implied_bps`` is the rate of the line of Ethernet that has just these times; nan if none has.
    """

    rate_pps: float = math.nan
    tolerance_ratio: float = 0.0
    costs: tuple[float, float] | None = None
    implied_bps: float = math.nan

    def at(self, frame_bytes: FloatArray) -> FloatArray:
        """Return its frames a second at each size; nan if nothing is known of it. [packet/s]"""
        if self.costs is None:
            return np.full(np.shape(frame_bytes), self.rate_pps)
        return 1 / (self.costs[0] + self.costs[1] * np.asarray(frame_bytes))


def _implied_line_bps(line: Line) -> float:
    """Return the rate of Ethernet whose preamble, gap and bytes are these times; nan if none."""
    per_frame = line.intercept / line.slope
    error = 2 * abs(per_frame) * line.ratio_error
    error = error if math.isfinite(error) else 0.0
    if abs(per_frame - UNSEEN_BYTES) > min(max(error, LINE_ERROR_BYTES), MOST_ERROR_BYTES):
        return math.nan
    rate = 8 / line.slope
    nearest = min(ETHERNET_BPS, key=lambda line_bps: abs(math.log(rate / line_bps)))
    return nearest if abs(rate / nearest - 1) <= LINE_ERROR_RATIO else math.nan


def frames_of(samples: Samples) -> Frames | None:
    """Return the frames of a table; None if it has no sizes of frames with rates."""
    if not isinstance(samples, Table):
        return None
    sizes = tables.numbers(samples, "frame_bytes")
    captured = tables.numbers(samples, "captured_bytes")
    if sizes is None and captured is not None:
        sizes, some = np.full(captured.size, math.nan), tables.plausible(captured)
        sizes[some] = framing.captured_frame_bytes(captured[some])
    if sizes is None:
        return None
    is_layer_said = True
    counted, rates = sizes, tables.numbers(samples, "rate_pps")
    goodput = tables.numbers(samples, "goodput_bps")
    with np.errstate(all="ignore"):  # rows that are not good are left out
        if goodput is not None:
            payload = tables.numbers(samples, "payload_bytes")
            counted = sizes - TCP_FRAME_BYTES if payload is None else payload
            rates = goodput / (8 * counted)
        elif rates is None:
            rates = tables.numbers_or_nan(samples, "rate_bps") / (8 * sizes)
            name = tables.column_name(samples, "rate_bps")
            is_layer_said = name == FRAME_RATE or samples.meta.layers.get(name) == FRAME
        good = tables.plausible(sizes, counted, rates)
    series = tables.series_of(samples)
    rows = tables.rows_of(series, good)
    if not rows:
        return None
    return Frames(sizes, counted, rates, goodput is not None, series, rows, is_layer_said)


def explain_sizes(samples: Samples, stated: Known) -> tuple[Finding, ...]:
    """Return whether a line or a device limits rates at several frame sizes.

    Parameters
    ----------
    samples : Table
        A column ``frame_bytes`` (with FCS) or ``captured_bytes`` (without), and ``rate_pps``,
        ``rate_bps`` of frames, or ``goodput_bps`` of their payload.
    stated : Known
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
    findings = _of_reading(frames, stated)
    names = {finding.binding.name for finding in findings if finding.binding is not None}
    if frames.is_layer_said or names == {"implied-line"}:  # only frames have just these times
        name = tables.column_name(samples, "frame_bytes").lower()
        if names != {"implied-line"} and name == tables.PACKET_SIZE:
            said = (*findings[0].notices, Notice("sizes-of-frames"))
            return (replace(findings[0], notices=said), *findings[1:])
        return findings
    others = _of_reading(_as_payload(frames), stated)
    taken: RateLayer = FRAME
    other: RateLayer = TCP_PAYLOAD
    if len(others) != len(findings):
        others = ()
    elif sum(finding.is_explained for finding in others) > sum(
        finding.is_explained for finding in findings
    ):
        taken, other, findings, others = TCP_PAYLOAD, FRAME, others, findings
    return _open(findings, taken, others, other)


def _as_payload(frames: Frames) -> Frames:
    """Return the same rates, taken for those of the payload of TCP."""
    counted = frames.counted_bytes - TCP_FRAME_BYTES
    with np.errstate(all="ignore"):  # rows that are not good are left out
        rates = frames.rate_pps * frames.counted_bytes / counted
        good = tables.plausible(frames.frame_bytes, counted, rates)
    rows = tables.rows_of(frames.series, good)
    return replace(frames, counted_bytes=counted, rate_pps=rates, is_payload=True, rows=rows)


def _open(
    findings: Sequence[Finding], taken: RateLayer, others: Sequence[Finding], other: RateLayer
) -> tuple[Finding, ...]:
    """Return findings of rates whose layer nobody says: how they are taken, and what else holds."""
    said: list[Finding] = []
    for row, finding in enumerate(findings):
        notices, asked = [*finding.notices], [*finding.missing]
        if row == 0:
            values = {"layer": in_words(taken), "other": in_words(other)}
            notices.append(Notice("rate-layer-open", values))
            asked.append(Notice("ask-rate-layer"))
        if others and others[row].is_explained:
            sentence = others[row].sentence.rstrip(".")
            notices.append(
                Notice("rate-layer-otherwise", {"layer": in_words(other), "sentence": sentence})
            )
        said.append(replace(finding, layer=UNKNOWN, notices=tuple(notices), missing=tuple(asked)))
    return tuple(said)


def _of_reading(frames: Frames, stated: Known) -> tuple[Finding, ...]:
    """Return the findings of all rows."""
    findings = {}
    for name, rows in frames.rows.items():
        likely = frames.with_likely_line(name, stated)
        is_likely = likely.line_bps != stated.line_bps
        device = frames.device(name, likely)
        costs = frames.device(name, stated) if is_likely else Device()
        for row in rows.tolist():
            limits = [*_line(frames, row, likely), *_device(frames, row, device)]
            if is_likely:
                limits[0] = replace(
                    limits[0], name="likely-line", tolerance_ratio=tables.FITTED_TOLERANCE
                )
                limits += [
                    replace(limit, for_comparison=True) for limit in _device(frames, row, costs)
                ]
            is_implied = not math.isnan(device.implied_bps)
            findings[row] = _finding(frames, row, limits, stated, is_implied=is_implied)
            is_fitted = stated.device_pps is None and any(limit.name in FITTED for limit in limits)
            if not limits and np.unique(frames.frame_bytes[rows]).size == 1:
                pps = Sign("rate_pps", float(frames.rate_pps[row]), "the table")  # fmt: skip
                cause = Cause(signs=(pps,), variant="one-size")
                findings[row] = replace(findings[row], cause=cause)
            if is_fitted and not is_implied and np.unique(frames.frame_bytes[rows]).size <= 2:
                said = (*findings[row].notices, *tables.two_points(rows[:2]))
                findings[row] = replace(findings[row], notices=said)
    first = min(findings)
    said = (*findings[first].notices, *tables.left_out(frames.frame_bytes.size, frames.rows))
    findings[first] = replace(findings[first], notices=said)
    return tuple(findings[row] for row in sorted(findings))


def _line(frames: Frames, row: int, stated: Known) -> list[Limit]:
    if stated.line_bps is None:
        return []
    size, counted = float(frames.frame_bytes[row]), float(frames.counted_bytes[row])
    values = {"line_bps": stated.line_bps, "payload_bytes": counted, "wire_bytes": size + 20}
    rate = 8 * counted * float(frames.line_pps(stated)[row])
    return [Limit("line", rate, "bit/s", COUNT_TOLERANCE, values)]


def _device(frames: Frames, row: int, device: Device) -> list[Limit]:
    size, counted = float(frames.frame_bytes[row]), float(frames.counted_bytes[row])
    rate = 8 * counted * float(device.at(np.array([size]))[0])
    if device.costs is not None:
        packet, byte = device.costs
        costs = {"packet_cost_s": packet, "byte_cost_s": byte, "frame_bytes": size}
        line = device.implied_bps
        fitted = Limit(
            "frame-costs", rate, "bit/s", device.tolerance_ratio, costs, not math.isnan(line)
        )
        if math.isnan(line):
            return [fitted]
        allowed = counted * float(line_rate.frame_rate_pps(size, bandwidth_bps=line))
        values = {**costs, "line_bps": line, "unseen_bytes": UNSEEN_BYTES}
        return [Limit("implied-line", 8 * allowed, "bit/s", COUNT_TOLERANCE, values), fitted]
    if math.isnan(device.rate_pps):
        return []
    values = {"device_pps": device.rate_pps, "payload_bytes": counted, "share": 1.0}
    return [Limit("packet-rate", rate, "bit/s", device.tolerance_ratio, values)]


def _finding(
    frames: Frames, row: int, limits: list[Limit], stated: Known, *, is_implied: bool
) -> Finding:
    measured = 8 * float(frames.counted_bytes[row]) * float(frames.rate_pps[row])
    said, cause = [], None
    for limit in limits:
        if limit.name == "line" and not limit.refuted(measured) and not frames.is_payload:
            cause, typo = _impossible(float(frames.rate_pps[row]), measured, limit.value)
            said += typo
        if limit.name == "line" and limit.refuted(measured):
            facts = {
                "subject": limit.subject, "value": limit.value, "measured": measured,
                "assumption": str(Notice(
                    "assumes-payload-counted" if frames.is_payload else "assumes-frames-counted"
                )),
            }  # fmt: skip
            said.append(Notice("limit-refuted", facts))
    return Finding(
        label=frames.label(row),
        measured=measured,
        limits=tuple(sorted(limits, key=lambda limit: limit.value)),
        notices=tuple(said),
        missing=() if stated.line_bps is not None or is_implied else (Notice("ask-line"),),
        layer=PAYLOAD if frames.is_payload else FRAME,
        cause=cause,
    )


def _impossible(
    rate_pps: float, measured_bps: float, line_bps: float
) -> tuple[Cause | None, list[Notice]]:
    """Return that a rate cannot be, and the number that was meant if one digit is wrong."""
    share = measured_bps / line_bps
    digits = f"{rate_pps:.0f}"
    rounded = 0.5 * 10 ** (len(digits) - len(digits.rstrip("0"))) / rate_pps
    if share <= 1 + max(IMPOSSIBLE_RATIO, rounded):
        return None, []
    signs = (
        Sign("rate_bps", measured_bps, "the table"),
        Sign("line_bps", line_bps, "the line as stated"),
        Sign("of_line_ratio", share, "both"),
    )
    meant = {
        float(f"{digits[:at]}{digit}{digits[at + 1 :]}")
        for at in range(len(digits))
        for digit in "0123456789"
    }
    below = {number: share * number / rate_pps for number in meant}
    likely = max((n for n, of_line in below.items() if of_line <= 1.0), default=0.0)
    typo = []
    if likely > 0 and below[likely] >= 1 - IMPOSSIBLE_RATIO and rate_pps == float(digits):
        values = {"likely": f"{likely:.0f}", "printed": digits, "share": below[likely]}
        typo.append(Notice("row-typo", values))
    return Cause(signs=signs, variant="impossible", layer=FRAME), typo
