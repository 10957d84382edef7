"""Slow start: rounds counted one by one, an ACK-clocked packet simulation, published times."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.models.tcp import slow_start


def count_rounds(segments, first, growth):
    """Second method: add window after window."""
    sent, window, count = 0.0, float(first), 0
    while sent < segments:
        sent += window
        window *= growth
        count += 1
    return count


@pytest.mark.each("first", [1, 2, 3, 4, 10])
@pytest.mark.each("growth", [1.5, 2])
def test_rounds_against_counting(first, growth):
    segments = np.arange(0, 3000)
    computed = slow_start.rounds(segments, initial_window_segments=first, growth=growth)
    counted = [count_rounds(n, first, growth) for n in segments]
    np.testing.assert_array_equal(computed, counted)


def test_rounds_at_the_step_far_out():
    """Derived: 2^40 - 1 segments fit 40 rounds from a window of 1, one more does not."""
    n = np.array([2**40 - 1, 2**40], dtype=float)
    assert slow_start.rounds(n, initial_window_segments=1).tolist() == [40, 41]


@pytest.mark.each(
    ("segments", "first", "expected"),
    [(100, 10, 5), (1000, 10, 10), (30, 3, 5), (100, 3, 7), (0, 3, 0), (1, 1, 1), (2, 1, 2)],
)
def test_rounds_with_delayed_ack(segments, first, expected):
    """Derived: by hand, such as 3 + 5 + 8 + 12 + 18 + 27 + 41 = 114 >= 100."""
    computed = slow_start.rounds_delayed_ack(segments, initial_window_segments=first)
    assert computed == expected


def test_rounds_with_an_ack_per_segment_double():
    """Identity: b = 1 is growth 2, for arrays as well."""
    n = np.arange(200)
    one_by_one = slow_start.rounds_delayed_ack(n, segments_per_ack=1)
    np.testing.assert_array_equal(one_by_one, slow_start.rounds(n, growth=2))


@pytest.mark.each(
    ("rfc", "mss_bytes", "expected", "source"),
    [
        ("rfc6928", 1460, 14600, "published: RFC 6928"),
        ("rfc6928", 9000, 18000, "derived: two segments"),
        ("rfc3390", 1460, 4380, "published: RFC 3390"),
        ("rfc3390", 2191, 4382, "derived: two segments"),
        ("rfc5681", 1095, 4380, "published: RFC 5681, 4 segments"),
        ("rfc5681", 1096, 3288, "published: RFC 5681, 3 segments"),
        ("rfc5681", 2191, 4382, "published: RFC 5681, 2 segments"),
        ("rfc2001", 536, 536, "published: one segment"),
        ("rfc2581", 536, 1072, "published: two segments"),
        ("rfc9002", 1200, 12000, "published: RFC 9002, 10 datagrams"),
    ],
)
def test_initial_windows(rfc, mss_bytes, expected, source):
    assert slow_start.initial_window_bytes(mss_bytes, rfc=rfc) == expected, source


def test_published_times():
    """Published: Grigorik, HPBN ch. 2: 224 and 168 ms to 64 KB."""
    path = {"rtt_s": 0.056, "mss_bytes": 1460}
    grown = slow_start.window_growth_s(65535, initial_window_segments=[4, 10], **path)
    assert grown == pytest.approx([0.224, 0.168])
    assert slow_start.window_growth_s(1460, **path) == 0, "identity: the first window is enough"


def test_edges():
    assert slow_start.rounds(0) == 0
    assert np.isnan(slow_start.rounds(5, growth=1)), "documented: no growth is outside"
    assert np.isnan(slow_start.rounds_delayed_ack(np.nan))
    with pytest.raises(DomainError) as refused:
        slow_start.rounds(5, growth=0.5)
    assert (refused.value.code, refused.value.name) == ("below-minimum", "growth")
    with pytest.raises(DomainError, match="rfc"):
        slow_start.initial_window_bytes(1460, rfc="rfc1")
