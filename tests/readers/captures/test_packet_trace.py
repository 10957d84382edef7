"""Columns of whole numbers in a container: what they may hold, saved and loaded."""

from __future__ import annotations

import json

import numpy as np
import pytest

from netcalc.errors import DomainError, ReaderError
from netcalc.samples import Layer, PacketTrace, loads


def trace(**columns: object) -> PacketTrace:
    known: dict[str, object] = {
        "time_s": [0.0, np.nan], "kept_bytes": [60, 2**32 - 1], "original_bytes": [60, 1514],
        "source": [1, 2], "destination": [2, 1], "addresses": ("", "192.0.2.1", "2001:db8::1"),
        "start_ns": 1_700_000_000_123_456_789, "layers": [Layer.IPV4, Layer.IPV6 | Layer.TCP],
    }  # fmt: skip
    return PacketTrace(**(known | columns))  # type: ignore[arg-type]


def test_a_saved_trace_is_equal_to_the_last_nanosecond():
    one = trace()
    again = loads(one.dumps())
    assert again == one
    assert isinstance(again, PacketTrace)
    assert again.start_ns == 1_700_000_000_123_456_789
    assert again.addresses == one.addresses
    assert again.ints("kept_bytes").dtype == np.uint32


@pytest.mark.each(
    "columns, code",
    [
        ({"kept_bytes": [1, -1]}, "column-not-whole"),
        ({"kept_bytes": [1, 2**32]}, "column-not-whole"),
        ({"ttl": [1, 256]}, "column-not-whole"),
        ({"ttl": [1.5, 2]}, "column-not-whole"),
        ({"ttl": [np.nan, 2]}, "column-not-whole"),
        ({"ttl": [1]}, "unequal-columns"),
        ({"ttl": [[1, 2]]}, "not-a-column"),
        ({"source": [1, 3]}, "address-index"),
    ],
    ids=["negative", "2**32", "256 in a byte", "1.5", "nan", "short", "matrix", "address"],
)
def test_columns_that_cannot_be_are_refused(columns, code):
    with pytest.raises(DomainError) as raised:
        trace(**columns)
    assert raised.value.code == code
    assert str(raised.value)


@pytest.mark.each(
    "name, value",
    [("kept_bytes", [60, 2**40]), ("kept_bytes", [60, None]), ("ttl", [1.5, 2])],
    ids=["too large", "null", "a fraction"],
)
def test_a_damaged_file_is_refused_by_row(name, value):
    document = json.loads(trace().dumps())
    document["columns"][name] = value
    with pytest.raises(ReaderError) as raised:
        loads(json.dumps(document).encode(), file="x.json")
    assert raised.value.field == name


def test_addresses_of_a_file_are_text():
    document = json.loads(trace().dumps())
    document["fields"]["addresses"] = ["", 5, "x"]
    with pytest.raises(ReaderError) as raised:
        loads(json.dumps(document).encode(), file="x.json")
    assert raised.value.field == "addresses"


def test_rows_are_a_trace_of_their_own():
    part = trace().rows(np.array([False, True]))
    assert len(part) == 1
    assert part.has(Layer.TCP).tolist() == [True]
    assert np.isnan(part.span_s)
