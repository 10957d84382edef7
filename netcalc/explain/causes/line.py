"""The rate of the bottleneck, from how far apart packets leave it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes.dialogue import SENDER, Dialogue
from netcalc.readers.captures.flows import Bools

EVEN_SHARE = 0.55
"""Of the time of a row no gap has more than this share: else it spans a pause. [ratio]"""
TRIP_SHARE = 0.6
"""A gap of this share of a round trip, or more, is a wait for an acknowledgement. [ratio]"""
IN_A_ROW = 4
"""Full segments in a row whose times give one estimate: fewer are blurred by the clock. [1]"""
LEAST_ESTIMATES = 8
MODE_SHARE = 0.2
"""The estimates that lie closest together, as a share of all: those of the line itself. [ratio]"""
FASTER, MOST_FASTER = 0.3, 0.3
"""Nothing passes a line faster than it is: with this share of estimates above it by this much, what
they lie around is the pace of something else. [log], [ratio]"""
NEAR, LASTING = 0.1, 0.03
"""Estimates this near, and the share of them in each third of the time. [log], [ratio]"""
CLEAR_SPREAD = 0.1
"""Estimates within this ratio of each other are those of one line. [ratio]"""


@dataclass(frozen=True, slots=True)
class LineRate:
    """Payload that the bottleneck passes, with the spread of the estimates around it. [bit/s]"""

    rate_bps: float = math.nan
    low_bps: float = math.nan
    high_bps: float = math.nan
    count: int = 0
    lasts: bool = True
    """Whether estimates around it are found in each third of the time."""

    @property
    def is_clear(self) -> bool:
        """Whether many estimates agree."""
        return self.count >= LEAST_ESTIMATES and self.high_bps / self.low_bps - 1 < CLEAR_SPREAD


def line_rate(d: Dialogue) -> LineRate:
    """Return the rate at which packets pass the bottleneck where they pass it one behind another.

    At the receiver the times of full segments in a row show it; at the sender those of the
    acknowledgements do.
    """
    time_s, rates = _of_acknowledgements(d) if d.place == SENDER else _of_segments(d)
    time_s, rates = time_s[rates > 0], rates[rates > 0]
    logs = np.sort(np.log(rates))
    while logs.size >= LEAST_ESTIMATES:
        # The fastest lie at the line or, where packets were bunched behind it, above.
        upper = logs[logs.size // 2 :]
        width = max(3, int(2 * MODE_SHARE * upper.size))
        spread = upper[width:] - upper[:-width]
        if not spread.size:
            break
        at = int(np.argmin(spread))
        low, high = upper[at], upper[at + width]
        faster = logs[logs > high + FASTER]
        alike = np.count_nonzero((logs > low - 0.03) & (logs < high + 0.03))
        if faster.size < MOST_FASTER * alike:
            middle = float(np.exp(np.median(upper[at : at + width + 1])))
            near_s = time_s[np.abs(np.log(rates / middle)) < NEAR]
            parts, _ = np.histogram(near_s, 3, (d.seen_s[0], d.seen_s[-1]))
            lasts = bool(parts.min() > LASTING * near_s.size)
            return LineRate(middle, float(np.exp(low)), float(np.exp(high)), int(logs.size), lasts)
        logs = faster  # so many faster ones passed that this is not the line
    return LineRate(count=int(rates.size))


def _of_segments(d: Dialogue) -> tuple[FloatArray, FloatArray]:
    """Return the times of full segments in a row, and the rate of each row. [s], [bit/s]"""
    if d.seen_s.size < 12:
        return np.zeros(0), np.zeros(0)
    is_full = (d.payload >= 0.98 * d.mss_bytes) & ~d.is_repeated & ~d.is_reordered & ~d.is_copied
    if d.is_gappy:  # between packets that do not follow each other others had their time
        is_full[1:] &= d.sequence[1:] == d.end[:-1]
    row = np.convolve(is_full, np.ones(IN_A_ROW + 1), "valid") == IN_A_ROW + 1
    apart_s = np.maximum(d.seen_s[IN_A_ROW:] - d.seen_s[:-IN_A_ROW], 1e-5)
    size = np.convolve(d.payload[1:], np.ones(IN_A_ROW), "valid")
    chosen = row & _are_even(d, d.seen_s)
    return d.seen_s[IN_A_ROW:][chosen], np.asarray((8.0 * size / apart_s)[chosen])


def _are_even(d: Dialogue, time_s: FloatArray) -> Bools:
    """Return the rows of packets without a pause in them.

    A gap of most of a round trip is the wait for an acknowledgement: in front of a line the next
    packet waits already.
    """
    gaps_s = np.diff(time_s)
    rows = np.lib.stride_tricks.sliding_window_view(gaps_s, IN_A_ROW)
    longest_s = rows.max(axis=1)
    even: Bools = longest_s <= EVEN_SHARE * np.maximum(rows.sum(axis=1), 1e-5)
    if d.trip_s.size:
        even &= longest_s < TRIP_SHARE * float(np.median(d.trip_s))
    return even


def _of_acknowledgements(d: Dialogue) -> tuple[FloatArray, FloatArray]:
    """Return the times of acknowledgements in a row, and the rate of each row. [s], [bit/s]"""
    advances = np.flatnonzero(np.diff(d.acknowledged, prepend=d.acknowledged[:1]) > 0)
    # While a hole is repaired an acknowledgement advances by what had come long before.
    holed = d.has_sack[advances]
    repairs = (
        np.convolve(holed, np.ones(IN_A_ROW + 1), "valid") > 0 if holed.size > IN_A_ROW else holed
    )
    ack, came_s = d.acknowledged[advances], d.came_s[advances]
    if ack.size < 12:
        return np.zeros(0), np.zeros(0)
    steps = np.diff(ack, prepend=ack[:1])
    rates = (
        8.0
        * (ack[IN_A_ROW:] - ack[:-IN_A_ROW])
        / np.maximum(came_s[IN_A_ROW:] - came_s[:-IN_A_ROW], 1e-5)
    )
    # An acknowledgement of many segments ended a hole: it does not show how they came.
    jumps = np.convolve(steps > 3.2 * d.mss_bytes, np.ones(IN_A_ROW), "valid")[1:]
    steady = (jumps[: rates.size] == 0) & _are_even(d, came_s) & ~repairs[: rates.size]
    return came_s[IN_A_ROW:][steady], np.asarray(rates[steady])
