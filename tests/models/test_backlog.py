"""Lindley's recursion against a loop, and overload as a fluid."""

from __future__ import annotations

import numpy as np
import pytest

from netcalc.errors import DomainError, NotFiniteWarning
from netcalc.models.queues import backlog


def lindley_loop(gaps, services):
    """Second method: the recursion as it is printed, one customer at a time."""
    waits = [0.0]
    for place in range(1, len(gaps)):
        waits.append(max(0.0, waits[-1] + services[place - 1] - gaps[place]))
    return waits


@pytest.mark.each("load", [0.5, 0.95, 1.3])
@pytest.mark.each("count", [1, 2, 4096, 4097, 4098, 20_000])
def test_lindley_against_the_loop(load, count):
    random = np.random.default_rng(count)
    gaps, services = random.exponential(1.0, count), random.exponential(load, count)
    waits = backlog.lindley_wait_s(gaps, service_s=services)
    np.testing.assert_allclose(waits, lindley_loop(gaps, services), rtol=1e-11, atol=1e-11)
    assert (waits >= 0).all()


def test_rounding_does_not_grow_with_the_length():
    """Identity: an idle customer waits 0 exactly, after a drift of a million times the service."""
    gaps = np.full(300_000, 1e3)
    gaps[-1] = 0.1
    waits = backlog.lindley_wait_s(gaps, service_s=0.3)
    assert waits[:-1].max() == 0.0
    assert waits[-1] == pytest.approx(0.2, rel=1e-9)


def test_one_service_for_all_and_the_first_gap_is_ignored():
    assert backlog.lindley_wait_s([99, 0, 0], service_s=2).tolist() == [0.0, 2.0, 4.0]


def test_a_missing_time_is_missing_from_there_on():
    with pytest.warns(NotFiniteWarning, match="first at index 2"):
        waits = backlog.lindley_wait_s([0, 1, np.nan, 1, 1], service_s=3)
    np.testing.assert_array_equal(waits, [0, 2, np.nan, np.nan, np.nan])


@pytest.mark.each("bad", [{"service_s": [1, 2]}, {"service_s": -1}, {"service_s": [[1]]}])
def test_impossible_services_are_refused(bad):
    with pytest.raises(DomainError, match="service_s"):
        backlog.lindley_wait_s([0, 1, 2], **bad)


def test_no_arrivals_are_refused():
    with pytest.raises(DomainError, match="interarrival_s"):
        backlog.lindley_wait_s([], service_s=1)


def test_fluid_overload_fills_and_names_its_time():
    """Published: none; derived by hand: 2 Gbit/s too much for 1 ms is 250 kB."""
    rates = {"input_bps": 12e9, "output_bps": 10e9}
    backlog_bytes = backlog.fluid_backlog_bytes(0.001, **rates)
    assert backlog_bytes == pytest.approx(250_000)
    assert backlog.fluid_fill_s(backlog_bytes, **rates) == pytest.approx(0.001), "identity"


def test_without_overload_nothing_piles_up():
    rates = {"input_bps": [1e6, 10e6], "output_bps": 10e6}
    assert backlog.fluid_backlog_bytes(1e6, **rates).tolist() == [0.0, 0.0]
    assert backlog.fluid_fill_s(0.0, **rates).tolist() == [np.inf, np.inf]
    assert backlog.fluid_fill_s(0.0, input_bps=2e6, output_bps=1e6) == 0.0
