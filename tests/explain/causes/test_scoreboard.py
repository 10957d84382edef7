"""What SACK reports above the acknowledgement, by hand, and against sets of bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from netcalc.explain.causes.dialogue import ranges, sacked_bytes


def test_a_hole_is_filled():
    """1000 to 2000 is missing; 2000 to 3000, then to 4000 come; then the hole is filled."""
    ack, rows = np.array([1000, 1000, 1000, 4000]), np.array([1, 2])
    low, high = np.array([2000, 2000]), np.array([3000, 4000])
    assert sacked_bytes(ack, rows, low, high, first=0).tolist() == [0, 1000, 2000, 0]


def test_two_holes_of_which_the_first_is_filled():
    """100 to 200 and 300 to 400 are missing, 200 to 300 and 400 to 500 came."""
    ack, rows = np.array([100, 100, 300]), np.array([0, 1])
    low, high = np.array([200, 400]), np.array([300, 500])
    assert sacked_bytes(ack, rows, low, high, first=0).tolist() == [100, 200, 100]


def test_without_ranges_nothing_lies_above():
    none = np.zeros(0, np.int64)
    assert sacked_bytes(np.arange(5) * 100, none, none, none, first=0).tolist() == [0] * 5


def range_of(*, ack, left, right, acknowledged):
    is_new, low, high = ranges(*(np.array([each]) for each in (ack, left, right, acknowledged)))
    return (int(low[0]), int(high[0])) if is_new[0] else None


def test_numbers_that_wrap():
    """41 in the packet is 50 in the flow; then 2^32 - 7 is 1, and 3 is 10 behind it."""
    assert range_of(ack=50, left=91, right=191, acknowledged=41) == (100, 200)
    assert range_of(ack=1, left=3, right=13, acknowledged=2**32 - 7) == (11, 21)


@pytest.mark.each("left, right", [(10, 20), (95, 80), (120, 120)])
def test_a_range_below_the_acknowledgement_or_an_empty_one_reports_no_arrival(left, right):
    assert range_of(ack=90, left=left, right=right, acknowledged=90) is None


@pytest.mark.each("seed", range(20))
def test_as_sets_of_segments(seed):
    """Segments of 10 bytes come in any order; the receiver is a set of those that it has."""
    draw = random.Random(seed)
    order = sorted(range(60), key=lambda number: number + draw.uniform(0, 8))
    got: set[int] = set()
    acks, rows, lows, highs, truth = [], [], [], [], []
    for number in order:
        got.add(number)
        ack = next(n for n in range(61) if n not in got)
        if number > ack:  # the newest range is the one with this segment
            low, high = number, number + 1
            while low - 1 in got:
                low -= 1
            while high in got:
                high += 1
            rows.append(len(acks))
            lows.append(10 * low)
            highs.append(10 * high)
        acks.append(10 * ack)
        truth.append(10 * sum(n > ack for n in got))
    columns = (np.array(column, int) for column in (acks, rows, lows, highs))
    assert sacked_bytes(*columns, first=0).tolist() == truth
