"""What a sender knows to have arrived beyond the highest acknowledgement (SACK, RFC 2018)."""

from __future__ import annotations

import numpy as np

from netcalc.readers.captures.losses import find_coverage
from netcalc.readers.captures.scans import Bools, Ints


def ranges(ack: Ints, left: Ints, right: Ints, acknowledged: Ints) -> tuple[Bools, Ints, Ints]:
    """Return which packets report an arrival, and the newest range of these.

    ``left``, ``right`` and ``acknowledged`` are the 32 bits of the packet, the range is in the
    numbers of ``ack``. One below what is acknowledged reports a copy (RFC 2883), not an arrival.
    """
    low, high = (ack + _signed(edge - acknowledged) for edge in (left, right))
    is_new = (low >= ack) & (high > low)
    return is_new, low[is_new], high[is_new]


def _signed(steps: Ints) -> Ints:
    wrapped: Ints = (steps + 2**31) % 2**32 - 2**31
    return wrapped


def sacked_bytes(acknowledged: Ints, rows: Ints, low: Ints, high: Ints, *, first: int) -> Ints:
    """Return what was reported to have arrived above each acknowledgement. [byte]

    Parameters
    ----------
    acknowledged : array_like
        The highest acknowledgement so far, for each packet of the receiver. [byte]
    rows : array_like
        Packets with a range.
    low, high : array_like
        The newest range of each of these: an arrival is in the newest one first. [byte]
    first : int
        Where the sequence begins. [byte]
    """
    if not rows.size:  # nothing to store: a long capture has millions of packets
        nothing: Ints = np.broadcast_to(np.int64(0), acknowledged.size)
        return nothing
    begins, ends = np.append(first, low), np.append(first, high)
    added = find_coverage(begins, ends, np.zeros(begins.size, np.int64)).new_bytes
    count: Ints = np.zeros(acknowledged.size, np.int64)
    count[rows] = added[1:]
    above: Ints = np.cumsum(count) - _below(low, high, acknowledged)
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
