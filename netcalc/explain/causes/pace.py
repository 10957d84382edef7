"""The pace of a run over its intervals: where nothing was carried, and a rate that changed once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.samples import FlowSeries

LEAST_OF_LEVEL = 3
"""Intervals of a level. [1]"""
LEVEL_RATIO = 1.5
"""Two levels are at least this far apart. [ratio]"""
LEVEL_SPREAD = 0.15
"""Rates of a level differ by no more from their median, but for one beside the change. [ratio]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Intervals in a row that carried nothing; ``again_count`` were sent again in them."""

    begin_s: float
    duration_s: float
    interval_count: int
    share_of_time: float
    again_count: float
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Two rates, and when the first became the second."""

    before_bps: float
    after_bps: float
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pace:
    """Intervals of a run, all of its streams together."""

    start_s: FloatArray
    end_s: FloatArray
    rate_bps: FloatArray
    again_count: FloatArray

    @property
    def pause(self) -> Pause | None:
        """The longest time in which nothing was carried; None without one, or if all are empty."""
        empty = self.rate_bps == 0
        if not empty.any() or empty.all() or not self.end_s[-1] > self.start_s[0]:
            return None
        edges = np.flatnonzero(np.diff(np.concatenate(([False], empty, [False])).astype(int)))
        begins, ends = edges[::2], edges[1::2]
        longest = int(np.argmax(self.end_s[ends - 1] - self.start_s[begins]))
        low, high = int(begins[longest]), int(ends[longest])
        duration_s = float(self.end_s[high - 1] - self.start_s[low])
        return Pause(
            begin_s=float(self.start_s[low]),
            duration_s=duration_s,
            interval_count=high - low,
            share_of_time=duration_s / float(self.end_s[-1] - self.start_s[0]),
            again_count=float(self.again_count[low:high].sum()),
            is_last=high == empty.size,
        )

    @property
    def levels(self) -> Levels | None:
        """Two levels of the rate, one after the other; None where there are not just two."""
        rates, least = self.rate_bps, LEAST_OF_LEVEL
        if rates.size < 2 * least:
            return None
        splits = range(least, rates.size - least + 1)
        at = min(splits, key=lambda k: k * rates[:k].var() + (rates.size - k) * rates[k:].var())
        first = rates[1:at] if at > least else rates[:at]  # slow start is no level
        low, high = sorted(float(np.median(part)) for part in (first, rates[at:]))
        if not high >= LEVEL_RATIO * low > 0:
            return None
        if not (_is_level(first, first.size - 1) and _is_level(rates[at:], 0)):
            return None
        return Levels(
            before_bps=float(np.median(first)),
            after_bps=float(np.median(rates[at:])),
            at_s=float(self.start_s[at]),
        )


def _is_level(rates: FloatArray, beside: int) -> bool:
    """Whether rates are alike, but for the one beside the change."""
    middle = float(np.median(rates))
    others = np.delete(np.abs(rates - middle), beside)
    return bool(others.max() <= LEVEL_SPREAD * middle)


def pace_of(flows: FlowSeries, rows: NDArray[np.bool_]) -> Pace:
    """Return the pace of some intervals of runs.

    Parameters
    ----------
    flows : FlowSeries
        Intervals of each stream.
    rows : 1-D array_like of bool
        Those that count.

    Returns
    -------
    Pace
        One row for each time. Unknown counts of what was sent again are nan.
    """
    starts = np.round(np.asarray(flows.start_s)[rows], 1)
    ends = starts + np.nan_to_num(np.asarray(flows.duration_s)[rows])
    rates = np.asarray(flows.rate_bps)[rows]
    again = np.asarray(flows.retransmit_count)[rows]
    times, index = np.unique(starts, return_inverse=True)
    last, total, repeated = np.full(times.size, -math.inf), np.zeros(times.size), times * 0.0
    np.maximum.at(last, index, ends)
    np.add.at(total, index, rates)
    np.add.at(repeated, index, again)
    return Pace(start_s=times, end_s=last, rate_bps=total, again_count=repeated)
