"""The same quantity of several files, each with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.messages import Notice
from netcalc.models.measuring.robust import median
from netcalc.samples import FlowSeries, RttSamples, Samples, TransferSamples
from netcalc.units import show

QUANTILE = 1.96
"""Standard errors of a 95 % interval. [1]"""
LEAST_VALUES = 6
"""From fewer values no 95 % interval of a median follows: 2 x 0.5 ** 5 is more than 5 %."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The median of one quantity in one run of one file, with its 95 % interval.

    ``low`` and ``high`` are nan where too few values were measured.
    """

    file: str
    label: str
    quantity: str
    unit: str
    value: float
    low: float
    high: float
    count: int

    def differs(self, other: Compared) -> bool | None:
        """Whether the intervals lie apart; None where one of them is not known."""
        ends = (self.low, self.high, other.low, other.high)
        if self.quantity != other.quantity or any(map(math.isnan, ends)):
            return None
        return self.low > other.high or self.high < other.low

    def __str__(self) -> str:
        name = f"{self.file}, {self.label}" if self.label else self.file
        shown = f"{name}: {self.quantity} {show(self.value, self.unit)}"
        if math.isnan(self.low):
            return f"{shown} (of {self.count})"
        low, high = show(self.low, self.unit), show(self.high, self.unit)
        return f"{shown}, 95% interval {low} to {high} (of {self.count})"


def files(named: Mapping[str, Samples]) -> tuple[Compared, ...]:
    """Return the same quantity of each file: round trips, or rates of intervals and transfers.

    Parameters
    ----------
    named : mapping of str to Samples
        What was read, by the name of the file.

    Returns
    -------
    tuple of Compared
        A row for each group of each file with values; other kinds of samples have none.

    Notes
    -----
    Validity: the interval is that of order statistics, for any distribution of independent values;
    neighbouring intervals of a transfer depend on each other, so that theirs is too short. Nothing
    is merged on a time axis, as the clocks of two files may differ.

    Examples
    --------
    >>> pings = {"a": RttSamples(payload_bytes=[56.0] * 9, rtt_s=np.arange(1, 10) / 1e3)}
    >>> str(files(pings)[0])
    'a: round trip 5 ms, 95% interval 2 ms to 8 ms (of 9)'
    """
    found = []
    for file, samples in named.items():
        for label, (quantity, unit, values) in _values(samples).items():
            known = np.sort(values[np.isfinite(values)])
            if known.size:
                low, high = _interval(known)
                row = Compared(
                    file, label, quantity, unit, float(median(known)), low, high, known.size
                )
                found.append(row)
    return tuple(found)


def file_notices(rows: tuple[Compared, ...]) -> tuple[Notice, ...]:
    """Return which rows differ from the first one of their quantity."""
    first: dict[str, Compared] = {}
    found = []
    for row in rows:
        if row.quantity not in first:
            first[row.quantity] = row
            continue
        base = first[row.quantity]
        differs = row.differs(base)
        values = {
            "one": row.file,
            "other": base.file,
            "factor": row.value / base.value if base.value else math.nan,
        }
        code = "files-not-judged" if differs is None else "files-alike"
        found.append(Notice("files-differ" if differs else code, values))
    return tuple(found)


def _values(samples: Samples) -> dict[str, tuple[str, str, FloatArray]]:
    """Return the values of each group of a file, with the name and the unit of their quantity."""
    if isinstance(samples, RttSamples):
        return _by_group(samples.group, samples.measured, samples.rtt_s, ("round trip", "s"))
    if isinstance(samples, TransferSamples):
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = 8.0 * np.asarray(samples.payload_bytes) / np.asarray(samples.duration_s)
        return _by_group(samples.group, samples.measured, rates, ("rate", "bit/s"))
    if isinstance(samples, FlowSeries):
        return _rates(samples)
    return {}


def _by_group(
    group: object, chosen: object, values: object, what: tuple[str, str]
) -> dict[str, tuple[str, str, FloatArray]]:
    groups, numbers = np.asarray(group), np.asarray(values, dtype=np.float64)
    rows = np.asarray(chosen)
    names = dict.fromkeys(groups[rows].tolist())
    return {name: (*what, numbers[rows & (groups == name)]) for name in names}


def _rates(flows: FlowSeries) -> dict[str, tuple[str, str, FloatArray]]:
    """Return the sum of the streams in each interval: the receiver's count where there is one."""
    sides, groups = np.asarray(flows.side), np.asarray(flows.group)
    start, rate = np.asarray(flows.start_s), flows.rate_bps
    found: dict[str, tuple[str, str, FloatArray]] = {}
    for name in dict.fromkeys(groups.tolist()):
        rows = flows.measured & (groups == name)
        if (rows & (sides == "receiver")).any():
            rows &= sides == "receiver"
        _, interval = np.unique(start[rows].round(1), return_inverse=True)
        sums = np.bincount(interval, weights=rate[rows]).astype(np.float64)
        found[name] = ("rate", "bit/s", sums)
    return found


def _interval(ordered: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of the median, by the ranks that a binomial distribution gives."""
    count = ordered.size
    if count < LEAST_VALUES:
        return math.nan, math.nan
    low = max(math.floor((count + 1 - QUANTILE * math.sqrt(count)) / 2), 1)
    return float(ordered[low - 1]), float(ordered[count - low])
