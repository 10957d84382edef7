"""Shares of a class with their intervals, against published tables."""

from __future__ import annotations

import math

import pytest

from netcalc.exercises.classes.collecting import mean_gain, paired_gain, t_95, wilson


@pytest.mark.parametrize(
    ("count", "total", "low", "high", "source"),
    [
        (
            81,
            263,
            0.2553,
            0.3662,
            "published: Newcombe 1998, Stat. Med. 17, 857, table I, method 3",
        ),
        (
            15,
            148,
            0.0624,
            0.1605,
            "published: Newcombe 1998, Stat. Med. 17, 857, table I, method 3",
        ),
        (0, 20, 0.0000, 0.1611, "published: Newcombe 1998, Stat. Med. 17, 857, table I, method 3"),
        (1, 29, 0.0061, 0.1718, "published: Newcombe 1998, Stat. Med. 17, 857, table I, method 3"),
    ],
)
def test_wilson_interval(count, total, low, high, source):
    share = wilson(count, total=total)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)
    mirrored = wilson(total - count, total=total)  # identity: of those that are not
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - share.high, 1 - share.low))


def answers(both: int, won: int, lost: int, neither: int) -> tuple[list[bool], list[bool]]:
    """Return who was right before and after, from the four counts."""
    before = [True] * both + [False] * won + [True] * lost + [False] * neither
    after = [True] * (both + won) + [False] * (lost + neither)
    return before, after


@pytest.mark.parametrize(
    ("counts", "low", "high", "source"),
    [
        (
            (36, 12, 2, 0),
            0.0569,
            0.3404,
            "published: Newcombe 1998, Stat. Med. 17, 2635, method 10",
        ),
        (
            (36, 14, 0, 0),
            0.1528,
            0.4167,
            "published: Newcombe 1998, Stat. Med. 17, 2635, method 10",
        ),
        (
            (14, 5, 0, 22),
            0.011,
            0.226,
            "published: Altman et al. 2000, Statistics with Confidence, p. 52",
        ),
    ],
)
def test_paired_interval(counts, low, high, source):
    share = paired_gain(*answers(*counts))
    digits = len(str(low)) - 2
    assert (round(share.low, digits), round(share.high, digits)) == (low, high)


def test_no_change_has_no_gain():
    """Identity: who answers the same twice has gained nothing, and 0 is in the interval."""
    same = [True, False, True, True]
    share = paired_gain(same, same)
    assert share.value == 0
    assert share.low <= 0 <= share.high


def test_mean_gain_is_the_interval_of_student():
    """Derived: the same from scipy's t distribution."""
    from scipy import stats

    gains = [0.0, 0.25, 0.5, -0.25, 0.25, 0.0, 0.5, 0.75]
    share = mean_gain(gains)
    low, high = stats.t.interval(
        0.95, len(gains) - 1, loc=sum(gains) / len(gains), scale=stats.sem(gains)
    )
    assert (share.value, share.low, share.high) == pytest.approx((0.25, low, high))


@pytest.mark.parametrize(
    ("freedom", "expected", "source"),
    [
        (1, 12.706, "published: Student's t, two-sided 95 %, in any table"),
        (29, 2.045, "published: Student's t, two-sided 95 %, in any table"),
        (100, 1.984, "published: Student's t, two-sided 95 %, in any table"),
    ],
)
def test_quantile(freedom, expected, source):
    assert round(t_95(freedom), 3) == expected


def test_nobody_says_nothing():
    """Identity: without a student any share is possible."""
    assert math.isnan(wilson(0, total=0).value)
    assert (wilson(0, total=0).low, wilson(0, total=0).high) == (0.0, 1.0)
    assert (paired_gain([], []).low, paired_gain([], []).high) == (-1.0, 1.0)
    assert (mean_gain([0.5]).low, mean_gain([0.5]).high) == (-1.0, 1.0)
