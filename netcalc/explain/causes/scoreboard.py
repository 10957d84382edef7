"""What a sender knows to have arrived beyond the highest acknowledgement (SACK, RFC 2018)."""

from __future__ import annotations

import numpy as np

from netcalc.readers.captures.losses import find_coverage
from netcalc.readers.captures.scans import Bools, Ints


def ranges(
    ack: Ints, left: Ints, right: Ints, acknowledged: Ints, has_sack: Bools
) -> tuple[Ints, Ints]:
    """Return the newest range of each packet in the numbers of ``ack``; empty where it has none.

    ``left``, ``right`` and ``acknowledged`` are the 32 bits of the packet. A range below what is
    acknowledged reports a copy (RFC 2883), not an arrival.
    """
    low, high = (ack + _signed(edge - acknowledged) for edge in (left, right))
    is_known = has_sack & (low >= ack) & (high > low)
    return np.where(is_known, low, ack), np.where(is_known, high, ack)


def _signed(steps: Ints) -> Ints:
    wrapped: Ints = (steps + 2**31) % 2**32 - 2**31
    return wrapped


def sacked_bytes(acknowledged: Ints, low: Ints, high: Ints, *, first: int) -> Ints:
    """Return what was reported to have arrived above each acknowledgement. [byte]

    Parameters
    ----------
    acknowledged : array_like
        The highest acknowledgement so far, for each packet of the receiver. [byte]
    low, high : array_like
        The newest range of each packet, empty where it has none: each is reported first when it
        grows. [byte]
    first : int
        Where the sequence begins. [byte]
    """
    count: Ints = np.zeros(acknowledged.size, np.int64)
    rows = np.flatnonzero(high > low)
    if not rows.size:
        return count
    begins, ends = np.append(first, low[rows]), np.append(first, high[rows])
    added = find_coverage(begins, ends, np.zeros(begins.size, np.int64)).new_bytes
    count[rows] = added[1:]
    above: Ints = np.cumsum(count) - _below(low[rows], high[rows], acknowledged)
    return np.maximum(above, 0)


def _below(low: Ints, high: Ints, at: Ints) -> Ints:
    """Return how much of a union of ranges lies below each of some numbers. [byte]"""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    low = np.maximum(low, np.append(low[0], high[:-1]))  # what the ranges before do not have
    size = np.maximum(high - low, 0)
    before = np.append(0, np.cumsum(size))
    row = np.searchsorted(low, at, side="right")
    last = np.maximum(row - 1, 0)
    within = np.where(row > 0, np.clip(at - low[last], 0, size[last]), 0)
    below: Ints = before[last] * (row > 0) + within
    return below
