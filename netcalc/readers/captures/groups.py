"""Values within groups of rows of an array: the first, the last, the largest so far, the median.

A few passes over arrays make what is a state machine for each group: a flow, or a direction of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_APART = np.int64(1) << 38
"""More than any sequence number runs ahead within a flow: it keeps the groups apart."""


def starts_of(*columns: NDArray[Any]) -> Bools:
    """Return where a group begins, of rows whose groups lie together: equal in all columns."""
    begins = np.zeros(columns[0].size, np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return begins


def begins_at(begins: Bools) -> Ints:
    """Return for each row where its group begins, of rows whose groups lie together."""
    first: Ints = np.maximum.accumulate(np.where(begins, np.arange(begins.size), 0))
    return first


def last_index(chosen: Bools, begin: Ints) -> Ints:
    """Return for each row the last chosen row before it within its group; -1 if there is none.

    ``begin`` is the first row of the group of each row.
    """
    rows = np.arange(chosen.size, dtype=np.int64)
    last = np.full(chosen.size, -1, np.int64)
    last[1:] = np.maximum.accumulate(np.where(chosen, rows, -1))[:-1]
    return np.where(last >= begin, last, -1)


def running_max(values: Ints, group: Ints) -> Ints:
    """Return the largest value so far within each group, the row itself included."""
    highest: Ints = np.maximum.accumulate(searchable(values, group)) - group * _APART
    return highest


def searchable(values: Ints, group: Ints) -> Ints:
    """Return values that rise over all groups, if they rise within each."""
    return np.clip(values, -_APART // 2, _APART // 2 - 1) + group * _APART


def unwrapped(numbers: NDArray[np.uint32], begins: Bools) -> Ints:
    """Return 32-bit sequence numbers of series as distances from the first of their series."""
    steps = np.zeros(numbers.size, np.int64)
    steps[1:] = np.diff(numbers).view(np.int32)
    steps[begins] = 0
    total = np.cumsum(steps)
    first = np.flatnonzero(begins)
    sizes = np.diff(np.append(first, numbers.size))
    return total - np.repeat(total[first], sizes)


def first_of(chosen: Bools, group: Ints, count: int) -> Ints:
    """Return the first chosen row of each group; -1 if there is none."""
    first = np.full(count, -1, np.int64)
    rows = np.flatnonzero(chosen)[::-1]
    first[group[rows]] = rows
    return first


def last_of(chosen: Bools, group: Ints, count: int) -> Ints:
    """Return the last chosen row of each group; -1 if there is none."""
    last = np.full(count, -1, np.int64)
    rows = np.flatnonzero(chosen)
    last[group[rows]] = rows
    return last


def count_by(chosen: Bools, group: Ints, count: int) -> Ints:
    """Return how many chosen rows each group has."""
    return np.bincount(group[chosen], minlength=count).astype(np.int64)


def sum_by(values: NDArray[Any], group: Ints, count: int) -> NDArray[np.float64]:
    """Return the sum of the values of each group."""
    total: NDArray[np.float64] = np.bincount(group, weights=values, minlength=count).astype(float)
    return total


def max_by(values: NDArray[Any], group: Ints, count: int) -> NDArray[np.float64]:
    """Return the largest value of each group; nan where there is none. Groups are sorted."""
    return _reduced(np.maximum, values, group, count)


def min_by(values: NDArray[Any], group: Ints, count: int) -> NDArray[np.float64]:
    """Return the smallest value of each group; nan where there is none. Groups are sorted."""
    return _reduced(np.minimum, values, group, count)


def _reduced(
    reduce: np.ufunc, values: NDArray[Any], group: Ints, count: int
) -> NDArray[np.float64]:
    reduced = np.full(count, np.nan)
    if values.size:
        first = np.flatnonzero(starts_of(group))
        reduced[group[first]] = reduce.reduceat(values.astype(np.float64), first)
    return reduced


def median_by(values: NDArray[Any], group: Ints, count: int) -> NDArray[np.float64]:
    """Return the median of the values of each group; nan where there is none."""
    medians = np.full(count, np.nan)
    if values.size:
        order = np.lexsort((values, group))
        ordered, groups = values[order], group[order]
        first = np.flatnonzero(starts_of(groups))
        sizes = np.diff(np.append(first, groups.size))
        low, high = first + (sizes - 1) // 2, first + sizes // 2
        medians[groups[first]] = (ordered[low] + ordered[high]) / 2
    return medians
