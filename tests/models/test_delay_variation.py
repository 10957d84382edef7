"""Jitter, IPDV and PDV: by the integer code of RFC 3550, by definition, with losses."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.checks import BLOCK
from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.measuring import sample_statistics


def rfc3550_integer_jitter(arrivals, stamps):
    """Second method: A.8 of RFC 3550, in units of its time stamps, scaled by 16."""
    jitter, transit = 0, None
    for arrival, stamp in zip(arrivals, stamps, strict=True):
        now = arrival - stamp
        if transit is not None:
            jitter += abs(now - transit) - ((jitter + 8) >> 4)
        transit = now
    return jitter >> 4


def test_jitter_against_the_code_of_the_rfc():
    random = np.random.default_rng(3)
    stamps = np.arange(500) * 160_000
    arrivals = stamps + random.integers(0, 40_000, 500) + 123_456_789
    integer = rfc3550_integer_jitter(arrivals.tolist(), stamps.tolist())
    computed = sample_statistics.jitter_rfc3550_s((arrivals - stamps) * 1e-6)
    assert computed[-1] * 1e6 == pytest.approx(integer, abs=2)


def test_jitter_of_an_alternating_delay_approaches_the_difference():
    """Derived: after n packets 1 - (15/16)^n of a constant difference."""
    transit = np.tile([0.1, 0.116], 200)
    jitter = sample_statistics.jitter_rfc3550_s(transit)
    n = np.arange(400)
    assert jitter == pytest.approx(0.016 * (1 - (15 / 16) ** n), rel=1e-9)


def test_the_three_are_not_the_same():
    """Identity on one series: each by its definition; a clock offset cancels in all."""
    transit = np.array([0.1, 0.13, 0.12, 0.12])
    for offset in (0.0, -17.0):
        shifted = transit + offset
        assert sample_statistics.ipdv_s(shifted) == pytest.approx([0.03, -0.01, 0.0])
        assert sample_statistics.pdv_s(shifted) == pytest.approx([0.0, 0.03, 0.02, 0.02])
        jitter = sample_statistics.jitter_rfc3550_s(shifted)
        first = 0.03 / 16
        second = first + (0.01 - first) / 16
        assert jitter == pytest.approx([0, first, second, second * 15 / 16])


def test_lost_packets():
    """Stated rule: jitter over those that arrived, IPDV undefined beside a loss, PDV kept."""
    transit = [np.nan, 0.1, np.nan, 0.116]
    with pytest.warns(NotFiniteWarning):
        jitter = sample_statistics.jitter_rfc3550_s(transit)
    np.testing.assert_allclose(jitter, [np.nan, 0.0, np.nan, 0.001])
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(sample_statistics.ipdv_s(transit)).all()
    with pytest.warns(NotFiniteWarning):
        pdv = sample_statistics.pdv_s(transit)
    np.testing.assert_allclose(pdv, [np.nan, 0.0, np.nan, 0.016])


def test_one_packet_has_no_variation():
    assert sample_statistics.jitter_rfc3550_s(0.1).tolist() == [0.0]
    assert sample_statistics.ipdv_s(0.1).tolist() == []
    assert sample_statistics.pdv_s(0.1).tolist() == [0.0]
    with pytest.warns(NotFiniteWarning):
        assert np.isnan(sample_statistics.pdv_s([np.nan, np.nan])).all()


@pytest.mark.each("function", [sample_statistics.jitter_rfc3550_s, sample_statistics.ipdv_s])
def test_no_packets_are_refused(function):
    with pytest.raises(DomainError, match="transit_s"):
        function([])


def test_jitter_over_more_packets_than_are_computed_at_a_time():
    """Second method: the recurrence of RFC 3550, packet by packet, without those that were lost."""
    count = 2 * BLOCK + 100
    transit = 0.02 + 0.001 * np.random.default_rng(8).random(count)
    transit[[0, BLOCK - 1, BLOCK, 2 * BLOCK + 50]] = np.nan
    jitter, before, expected = 0.0, None, []
    for now in transit.tolist():
        if now != now:
            expected.append(np.nan)
            continue
        if before is not None:
            jitter += (abs(now - before) - jitter) / 16
        before = now
        expected.append(jitter)
    with pytest.warns(NotFiniteWarning):
        found = sample_statistics.jitter_rfc3550_s(transit)
    np.testing.assert_array_equal(found, expected)
