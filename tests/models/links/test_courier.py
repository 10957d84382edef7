"""Data carried on disks: Tanenbaum's box of tapes, and a line by arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netcalc import calculator
from netcalc.errors import DomainError
from netcalc.models.delays.courier import courier_break_even_bytes, courier_throughput_bps


@pytest.mark.each(("trip_s", "expected_bps", "source"), [
    (86_400, 74e9, "published: Tanenbaum and Wetherall, 2.2.1: 6400 Tbit in 24 hours, over 70"),
    (3_600, 1778e9, "published: the same, an hour away: over 1700 Gbit/s"),
])  # fmt: skip
def test_a_box_of_tapes(trip_s, expected_bps, source):
    """The box of the book holds 1000 tapes of 800 GB."""
    found = courier_throughput_bps(1000, disk_bytes=800e9, trip_s=trip_s)
    assert found == pytest.approx(expected_bps, rel=2e-3), source


def test_disks_are_loaded_a_few_at_a_time():
    """Derived: ten disks of 1000 s each, three at a time, are four rounds there and four back."""
    disks = {"disk_bytes": 125e9, "load_bps": 1e9, "trip_s": 2000.0}
    assert courier_throughput_bps(10, parallel_count=3, **disks) == 10 * 1e12 / (2000 + 8000)
    assert courier_throughput_bps(9, parallel_count=3, **disks) == 9 * 1e12 / (2000 + 6000)


def test_at_the_size_of_break_even_both_take_the_same_time():
    """Derived: 8 S / R of the line, and T + 2 * 8 S / (k r) of the courier."""
    rate = np.array([1e8, 1e9, 3.9e9])
    size = courier_break_even_bytes(rate, trip_s=7200, load_bps=2e9, parallel_count=4)
    assert 8 * size / rate == pytest.approx(7200 + 2 * 8 * size / 8e9)
    assert math.isinf(courier_break_even_bytes(4e9, trip_s=7200, load_bps=2e9, parallel_count=4))
    with pytest.raises(DomainError):
        courier_break_even_bytes(1e9, trip_s=0)


@pytest.mark.each("wrong", [
    {"disk_count": 0}, {"disk_count": 1.5}, {"disk_bytes": 0}, {"trip_s": 0}, {"load_bps": 0},
    {"parallel_count": 0},
])  # fmt: skip
def test_what_no_courier_carries_is_refused(wrong):
    given = {"disk_count": 10, "disk_bytes": 1e12, "trip_s": 3600.0, **wrong}
    with pytest.raises(DomainError):
        courier_throughput_bps(given.pop("disk_count"), **given)


@pytest.mark.each("words", ["ship disks by truck", "sneakernet", "station wagon full of tapes"])
def test_the_search_finds_the_courier(words):
    found = [calculator.command(one) for one in calculator.search(words)]
    assert found[:1] == ["courier-throughput"]
    assert calculator.formula("sneakernet").function is courier_throughput_bps
