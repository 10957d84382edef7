"""Timers: the estimator in exact fractions, the waits of a SYN one by one, Linux' own numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.tcp import timers

SERIES = [
    ["0.1"],
    ["0.1", "0.2"],
    ["0.3", "0.3", "0.3", "1.5", "0.3"],
    ["1.0", "0.5", "0.25", "0.125"],
    ["0.02", "0.021", "0.019", "0.02", "0.08"],
]


def exact(samples):
    """Second method: RFC 6298, 2 in fractions, written from its text."""
    smoothed = variation = None
    for text in samples:
        r = Fraction(text)
        if smoothed is None:
            smoothed, variation = r, r / 2
        else:
            variation = Fraction(3, 4) * variation + Fraction(1, 4) * abs(smoothed - r)
            smoothed = Fraction(7, 8) * smoothed + Fraction(1, 8) * r
    return float(smoothed), float(variation)


@pytest.mark.each("samples", SERIES, ids=str)
def test_estimate_in_exact_fractions(samples):
    smoothed, variation = exact(samples)
    computed = timers.rto_estimate(
        [float(text) for text in samples], min_rto_s=1.0, max_rto_s=60.0, floor="rto"
    )
    assert computed.srtt_s[-1] == pytest.approx(smoothed, rel=1e-12)
    assert computed.rttvar_s[-1] == pytest.approx(variation, rel=1e-12)
    rto = max(1.0, smoothed + 4 * variation)
    assert computed.rto_s[-1] == pytest.approx(rto, rel=1e-12)


def test_variation_is_updated_before_the_average():
    """Trap: after 0.1 and 0.2 the deviation is 0.1; from the new average it would be 0.0875."""
    estimate = timers.rto_estimate([0.1, 0.2])
    assert estimate.rttvar_s[-1] == pytest.approx(0.75 * 0.05 + 0.25 * 0.1)


def test_karn_takes_no_sample_of_a_repetition():
    """Identity: a masked sample changes nothing, wherever it stands."""
    with_one = timers.rto_estimate([0.1, 9.0, 0.2], retransmitted=[False, True, False])
    without = timers.rto_estimate([0.1, 0.2])
    assert with_one.srtt_s[[0, 2]] == pytest.approx(without.srtt_s)
    assert with_one.rto_s[1] == with_one.rto_s[0]
    none = timers.rto_estimate([9.0], retransmitted=[True], initial_rto_s=3)
    assert none.rto_s[0] == 3
    assert np.isnan(none.srtt_s[0])


def test_a_missing_sample_leaves_a_gap_only():
    with pytest.warns(NotFiniteWarning, match="1 of 3"):
        gap = timers.rto_estimate([0.1, np.nan, 0.2])
    assert np.isnan(gap.rto_s[1])
    assert gap.srtt_s[2] == pytest.approx(0.1125), "derived: 7/8 of 0.1 and 1/8 of 0.2"


@pytest.mark.each(
    ("kind", "expected", "source"),
    [
        ({"min_rto_s": 1.0, "floor": "rto"}, 1.0, "published: RFC 6298, 2.4, at least 1 s"),
        ({"min_rto_s": 0.2, "floor": "rto"}, 0.2, "derived: the sum 0.1 held up to 0.2"),
        ({}, 0.3, "derived: Linux, 0.1 + 0.2"),
        ({"min_rto_s": 0.0, "granularity_s": 0.5}, 0.6, "derived: a clock of 500 ms"),
        ({"min_rto_s": 0.0, "max_rto_s": 0.05}, 0.05, "derived: the largest"),
    ],
)
def test_bounds_of_the_timeout(kind, expected, source):
    assert timers.rto_s(0.1, rttvar_s=0.0, **kind) == pytest.approx(expected), source


def waits(retries, first_s, linear, largest_s):
    """Second method: one timeout after the other."""
    timeouts = [min(first_s, largest_s)] * linear
    timeouts += [min(first_s * 2**n, largest_s) for n in range(retries + 1)]
    return sum(timeouts[:-1]), sum(timeouts)


@pytest.mark.each("retries", [0, 1, 5, 6, 8, 15])
@pytest.mark.each("linear", [0, 4])
@pytest.mark.each("largest_s", [0.5, 64, 120, np.inf])
def test_giving_up_against_a_sum(retries, linear, largest_s):
    last, end = waits(retries, 1.0, linear, largest_s)
    kind = {"linear_count": linear, "max_rto_s": largest_s}
    assert timers.last_retransmission_s(retries, **kind) == pytest.approx(last)
    assert timers.give_up_s(retries, **kind) == pytest.approx(end)


def test_linux_numbers():
    """Published: ip-sysctl.rst since 6.5: 67 s to the last repetition, 131 s to the end."""
    linux = timers.LINUX_TIMERS
    kind = {key: linux[key] for key in ("initial_rto_s", "linear_count", "max_rto_s")}
    assert timers.last_retransmission_s(linux["retry_count"], **kind) == 67
    assert timers.give_up_s(linux["retry_count"], **kind) == 131


def test_backoff_doubles_to_its_bound():
    assert timers.backoff_s(np.arange(8)).tolist() == [1, 2, 4, 8, 16, 32, 60, 60]
    unbound = timers.backoff_s(10, initial_rto_s=0.2, max_rto_s=np.inf)
    assert unbound == pytest.approx(204.8), "identity: 0.2 x 2^10"


def test_impossible():
    with pytest.raises(DomainError) as refused:
        timers.backoff_s(1.5)
    assert (refused.value.code, refused.value.name) == ("not-whole", "timeout_count")
    assert refused.value.value == 1.5
    with pytest.raises(DomainError, match="rtt_s"):
        timers.rto_estimate([])
    with pytest.raises(DomainError, match="retransmitted"):
        timers.rto_estimate([0.1, 0.2], retransmitted=[True])
    with pytest.raises(DomainError, match="floor"):
        timers.rto_s(0.1, rttvar_s=0, floor="cellar")
