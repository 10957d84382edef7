"""What each segment adds to its stream: new bytes, and the holes that it opens or fills."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from netcalc.readers.captures.scans import Ints, starts_of


@dataclass(frozen=True, slots=True)
class Coverage:
    """One row for each segment; ``missing_bytes`` one for each series.

    ``new_bytes`` is the payload that no segment before had; ``opener`` the segment that came with a
    hole before it, for a segment that fills this hole, else -1. ``missing_bytes`` is what nothing
    filled.
    """

    new_bytes: Ints
    opener: Ints
    missing_bytes: Ints


def find_coverage(sequence: Ints, end: Ints, series: Ints, *, count: int = 1) -> Coverage:
    """Find out what each segment adds.

    Parameters
    ----------
    sequence, end : array_like
        First sequence number of each segment, and the one behind its last. [byte]
    series : array_like
        Series of each segment; those of a series lie together, in the order of their capture.
    count : int
        Number of series.

    Returns
    -------
    Coverage
        Rows as those of the segments.
    """
    begins = starts_of(series)
    top = _highest(end, series)
    top_before = np.empty_like(top)
    top_before[1:] = top[:-1]
    top_before[begins] = sequence[begins]
    new_bytes = np.clip(end - np.maximum(sequence, top_before), 0, None)
    opener = np.full(sequence.size, -1)
    missing = np.zeros(count, np.int64)
    holes = _Holes()
    of_holes = -1
    for row in np.flatnonzero((sequence != top_before) & (end > sequence)).tolist():
        if series[row] != of_holes:
            if of_holes >= 0:
                missing[of_holes] = holes.size_bytes
            holes, of_holes = _Holes(), int(series[row])
        if sequence[row] > top_before[row]:
            holes.add(int(top_before[row]), int(sequence[row]), row)
        else:
            filled, opener[row] = holes.fill(int(sequence[row]), int(end[row]))
            new_bytes[row] += filled
    if of_holes >= 0:
        missing[of_holes] = holes.size_bytes
    return Coverage(new_bytes, opener, missing)


def _highest(end: Ints, series: Ints) -> Ints:
    """Return the highest end so far within each series."""
    if series.size and series[0] == series[-1]:
        return np.maximum.accumulate(end)
    first = np.flatnonzero(starts_of(series))
    parts = np.split(end, first[1:])
    return np.concatenate([np.maximum.accumulate(part) for part in parts]) if parts else end


class _Holes:
    """Ranges of a stream that have not come, in their order, each with the segment behind it."""

    def __init__(self) -> None:
        self.low: list[int] = []
        self.high: list[int] = []
        self.opener: list[int] = []

    @property
    def size_bytes(self) -> int:
        """Bytes that have not come."""
        return sum(self.high) - sum(self.low)

    def add(self, low: int, high: int, row: int) -> None:
        """Add a hole behind all others."""
        self.low.append(low)
        self.high.append(high)
        self.opener.append(row)

    def fill(self, begin: int, stop: int) -> tuple[int, int]:
        """Fill what lies between; return how many bytes were new, and who opened the first hole."""
        first = bisect_right(self.high, begin)
        last = first
        filled, opener = 0, -1
        left: list[tuple[int, int, int]] = []
        while last < len(self.low) and self.low[last] < stop:
            low, high, row = self.low[last], self.high[last], self.opener[last]
            filled += min(high, stop) - max(low, begin)
            opener = row if opener < 0 else opener
            left += [(a, b, row) for a, b in ((low, begin), (stop, high)) if a < b]
            last += 1
        if last > first:
            for values, kept in zip((self.low, self.high, self.opener), zip(*left, strict=True)
                                    if left else ((), (), ()), strict=True):  # fmt: skip
                values[first:last] = kept
        return filled, opener
