"""The same quantity of several files, each with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.compare._captured import Timed, Values, captured
from netcalc.messages import Notice
from netcalc.models.measuring.robust import median
from netcalc.readers.places import RECEIVER, SENDER
from netcalc.samples import FlowSeries, PacketTrace, RttSamples, Samples, TransferSamples
from netcalc.units import show

QUANTILE = 1.96
"""Standard errors of a 95 % interval. [1]"""
LEAST_VALUES = 6
"""From fewer values no 95 % interval of a median follows: 2 x 0.5 ** 5 is more than 5 %."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The median of one quantity in one run of one file, with its 95 % interval.

    ``low`` and ``high`` are nan where too few values were measured; ``side`` is the end that
    counted, empty where the file does not say it.
    """

    file: str
    label: str
    quantity: str
    unit: str
    value: float
    low: float
    high: float
    count: int
    side: str = ""

    def differs(self, other: Compared) -> bool | None:
        """Whether the intervals lie apart; None where one of them is not known."""
        ends = (self.low, self.high, other.low, other.high)
        if self.quantity != other.quantity or any(map(math.isnan, ends)):
            return None
        return self.low > other.high or self.high < other.low

    def __str__(self) -> str:
        name = f"{self.file}, {self.label}" if self.label else self.file
        side = f" at the {self.side}" if self.side else ""
        shown = f"{name}: {self.quantity}{side} {show(self.value, self.unit)}"
        if math.isnan(self.low):
            return f"{shown} (of {self.count})"
        low, high = show(self.low, self.unit), show(self.high, self.unit)
        return f"{shown}, 95% interval {low} to {high} (of {self.count})"


@named_arguments
def files(named: Mapping[str, Samples]) -> tuple[Compared, ...]:
    """Return the same quantities of each file: round trips, and rates of intervals and transfers.

    Parameters
    ----------
    named : mapping of str to Samples
        What was read, by the name of the file.

    Returns
    -------
    tuple of Compared
        A row for each group of each file with values, and of a capture for each of its largest
        flows; other kinds of samples have none.

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
        for label, quantity, unit, side, values in _values(samples):
            known = np.sort(values[np.isfinite(values)])
            if known.size:
                low, high = _interval(known)
                middle = float(median(known))
                found.append(
                    Compared(file, label, quantity, unit, middle, low, high, known.size, side)
                )
    return tuple(found)


@named_arguments
def file_notices(rows: Iterable[Compared], names: Iterable[str] = ()) -> tuple[Notice, ...]:
    """Return which files differ, in which rows; and that no two have a quantity in common.

    A row is compared with that of its label in the first file of its quantity, or else with the
    first row there: of a capture, the flow that carried most. The others of such a file are not
    compared: nothing says which flow of one file is which of the other.

    Parameters
    ----------
    rows : iterable of Compared
        What :func:`files` returns.
    names : iterable of str, optional
        The files, those without a row too.
    """
    first: dict[str, list[Compared]] = {}
    seen: set[tuple[str, str]] = set()
    found: list[Notice] = []
    rows, compared = tuple(rows), set()
    for row in rows:
        known = first.setdefault(row.quantity, [])
        if not known or known[0].file == row.file:
            known.append(row)
            continue
        compared.add(row.quantity)
        same = next((one for one in known if one.label == row.label), None)
        if same is None and (row.file, row.quantity) in seen:
            continue
        seen.add((row.file, row.quantity))
        found += _judged(row, same or known[0])
    if len({*names, *(row.file for row in rows)}) > 1 and not compared:
        found.append(Notice("no-common-quantity", {"items": _quantities(rows, names)}))
    return tuple(found)


def _judged(row: Compared, base: Compared) -> list[Notice]:
    """Return whether a row differs from another, and that two ends of a path counted them."""
    ends = {"one": row.file, "other": base.file, "side": row.side, "other_side": base.side}
    are_two = bool(row.side and base.side and row.side != base.side)
    if are_two and row.unit == "s":  # of different parts of the path
        return [Notice("times-of-two-sides", {**ends, "quantity": row.quantity})]
    differs = row.differs(base)
    values = {
        "one": row.file,
        "other": base.file,
        "quantity": row.quantity,
        "factor": row.value / base.value if base.value else math.nan,
    }
    code = "files-not-judged" if differs is None else "files-alike"
    found = [Notice("files-differ" if differs else code, values)]
    if are_two:
        found.append(Notice("files-of-two-sides", ends))
    return found


def _quantities(rows: Iterable[Compared], names: Iterable[str]) -> list[str]:
    """Return what each file has: its name, and its quantities."""
    owned: dict[str, dict[str, None]] = {name: {} for name in names}
    for row in rows:
        owned.setdefault(row.file, {})[row.quantity] = None
    return [f"{name} has {' and '.join(has) or 'none'}" for name, has in owned.items()]


def _values(samples: Samples) -> list[Values]:
    """Return the values of each group of a file: label, quantity, unit, side and numbers."""
    if isinstance(samples, PacketTrace):
        return captured(samples)
    if isinstance(samples, RttSamples):
        what = ("round trip", "s", "")
        return _by_group(samples.group, samples.measured, samples.rtt_s, what)
    if isinstance(samples, TransferSamples):
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = 8.0 * np.asarray(samples.payload_bytes) / np.asarray(samples.duration_s)
        what = ("rate", "bit/s", _side_of_facts(samples))
        return _by_group(samples.group, samples.measured, rates, what)
    if isinstance(samples, FlowSeries):
        return [(*one[:4], one[5]) for one in rates_over_time(samples)]
    return []


def _side_of_facts(samples: Samples) -> str:
    """Return the end whose rate a file has, if it has that of one end alone."""
    names = {name for row in samples.facts() for name in row}
    sides = [
        side
        for side, one in ((SENDER, "sent"), (RECEIVER, "received"))
        if f"{one}_rate_bps" in names
    ]
    return sides[0] if len(sides) == 1 else ""


def _by_group(
    group: object, chosen: object, values: object, what: tuple[str, str, str]
) -> list[Values]:
    groups, numbers = np.asarray(group), np.asarray(values, dtype=np.float64)
    rows = np.asarray(chosen)
    names = dict.fromkeys(groups[rows].tolist())
    return [(name, *what, numbers[rows & (groups == name)]) for name in names]


def rates_over_time(flows: FlowSeries) -> list[Timed]:
    """Return the sum of the streams in each interval: the receiver's count where there is one."""
    sides, groups = np.asarray(flows.side), np.asarray(flows.group)
    start, rate = np.asarray(flows.start_s), flows.rate_bps
    length = np.asarray(flows.duration_s, dtype=np.float64)
    found: list[Timed] = []
    for name in dict.fromkeys(groups.tolist()):
        rows = flows.measured & (groups == name)
        if (rows & (sides == RECEIVER)).any():
            rows &= sides == RECEIVER
        named = set(sides[rows].tolist())
        side = named.pop() if len(named) == 1 else ""
        times, interval = _intervals(start[rows], float(np.median(length[rows])))
        sums = np.bincount(interval, weights=rate[rows]).astype(np.float64)
        found.append((name, "rate", "bit/s", side, times, sums))
    return found


def _intervals(start_s: FloatArray, length_s: float) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return when each interval begins, and which of them each row is of.

    The streams of a run begin theirs a little apart: by less than half an interval.
    """
    order = np.argsort(start_s, kind="stable")
    begins: list[float] = []
    interval = np.zeros(start_s.size, dtype=np.intp)
    for row in order.tolist():
        if not begins or start_s[row] - begins[-1] > length_s / 2:
            begins.append(float(start_s[row]))
        interval[row] = len(begins) - 1
    return np.array(begins), interval


def _interval(ordered: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of the median, by the ranks that a binomial distribution gives."""
    count = ordered.size
    if count < LEAST_VALUES:
        return math.nan, math.nan
    low = max(math.floor((count + 1 - QUANTILE * math.sqrt(count)) / 2), 1)
    return float(ordered[low - 1]), float(ordered[count - low])
