"""What SACK reports above the acknowledgement, by hand, and against sets of bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from netcalc.explain.causes.scoreboard import ranges, sacked_bytes


def test_a_hole_is_filled():
    """1000 to 2000 is missing; 2000 to 3000, then to 4000 come; then the hole is filled."""
    ack = np.array([1000, 1000, 1000, 4000])
    low, high = np.array([1000, 2000, 2000, 4000]), np.array([1000, 3000, 4000, 4000])
    assert sacked_bytes(ack, low, high, first=0).tolist() == [0, 1000, 2000, 0]


def test_two_holes_of_which_the_first_is_filled():
    """100 to 200 and 300 to 400 are missing, 200 to 300 and 400 to 500 came."""
    ack = np.array([100, 100, 300])
    low, high = np.array([200, 400, 400]), np.array([300, 500, 500])
    assert sacked_bytes(ack, low, high, first=0).tolist() == [100, 200, 100]


def test_without_ranges_nothing_lies_above():
    ack = np.arange(5) * 100
    assert sacked_bytes(ack, ack, ack, first=0).tolist() == [0] * 5


def test_numbers_that_wrap():
    """The sequence began 9 below 2^32: in the numbers of the flow the range is 100 to 200."""
    low, high = ranges(
        np.array([50]), np.array([91]), np.array([191]), np.array([41]), np.array([True])
    )
    assert (low.tolist(), high.tolist()) == ([100], [200])
    low, high = ranges(
        np.array([1]), np.array([3]), np.array([13]), np.array([2**32 - 7]), np.array([True])
    )
    assert (low.tolist(), high.tolist()) == ([11], [21])


@pytest.mark.each("left, right, has", [(10, 20, True), (95, 80, True), (120, 140, False)])
def test_a_range_below_the_acknowledgement_reports_a_copy(left, right, has):
    low, high = ranges(
        np.array([90]), np.array([left]), np.array([right]), np.array([90]), np.array([has])
    )
    assert low[0] == high[0]


@pytest.mark.each("seed", range(20))
def test_as_sets_of_segments(seed):
    """Segments of 10 bytes come in any order; the receiver is a set of those that it has."""
    draw = random.Random(seed)
    order = sorted(range(60), key=lambda number: number + draw.uniform(0, 8))
    got: set[int] = set()
    acks, lows, highs, truth = [], [], [], []
    for number in order:
        got.add(number)
        ack = next(n for n in range(61) if n not in got)
        low = high = ack
        if number > ack:  # the newest range is the one with this segment
            low, high = number, number + 1
            while low - 1 in got:
                low -= 1
            while high in got:
                high += 1
        acks.append(10 * ack)
        lows.append(10 * low)
        highs.append(10 * high)
        truth.append(10 * sum(n > ack for n in got))
    assert sacked_bytes(np.array(acks), np.array(lows), np.array(highs), first=0).tolist() == truth
