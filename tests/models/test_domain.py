"""The checks that every model shares, where the grid of all models does not reach."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.models.delays import latency

LINE = {"bandwidth_bps": 8e6, "latency_s": 0.5}


def test_an_integer_that_is_no_float_is_refused_by_name():
    for size in (10**400, [1, 10**400]):
        with pytest.raises(DomainError) as refused:
            latency.transfer_s(size, **LINE)
        assert (refused.value.code, refused.value.name) == ("integer-too-long", "payload_bytes")
        assert "longer integer" in str(refused.value)
    assert latency.transfer_s(10**300, **LINE) == pytest.approx(1e294)


@pytest.mark.each("size", [Decimal("1e6"), Fraction(10**6), np.float32(1e6), np.uint8(0)])
def test_numbers_of_other_kinds_are_numbers(size):
    # by hand: 1 MB on 8 Mbit/s takes 1 s, and half a second of latency
    assert latency.transfer_s(size, **LINE) == pytest.approx(1.5 if size else 0.5)


@pytest.mark.each("size", [1 + 0j, np.array(["2024-01-01"], dtype="datetime64[s]"), b"1"])
def test_what_is_no_number_is_named(size):
    with pytest.raises(ArgumentTypeError) as refused:
        latency.transfer_s(size, **LINE)
    assert refused.value.code in ("not-numbers", "text-for-numbers")
    assert refused.value.values["name"] == "payload_bytes"


def test_threads_do_not_meet():
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda n: latency.transfer_s(np.full(1000, n * 1e6), **LINE), range(64))
        for place, times in enumerate(found):
            assert times == pytest.approx(np.full(1000, 0.5 + place))  # by hand, as above
