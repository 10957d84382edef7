"""Numbers in few bytes: read back as a page does, with the error that the module names."""

from __future__ import annotations

import base64
import gzip
import json

import numpy as np
import pytest

from netcalc.lessons.site.cells import RELATIVE_ERROR, bends, gaps, packed, steps


def read_back(text: str) -> tuple[object, list[int]]:
    """Return the header and all whole numbers after it: what page.js does, written anew."""
    whole = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(whole[:4], "little")
    numbers, value, shift = [], 0, 0
    for byte in whole[4 + length :]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(-(value + 1) // 2 if value % 2 else value // 2)
            value, shift = 0, 0
    return json.loads(whole[4 : 4 + length]), numbers


@pytest.mark.parametrize(
    "values",
    [[], [0], [-1, 1, 63, 64, -64, -65, 8191, 8192, 2**29, -(2**29)]],
    ids=["none", "zero", "edges of bytes"],
)
def test_whole_numbers_are_read_back(values: list[int]) -> None:
    header = {"a": ["é", None]}
    found = read_back(packed(header, [np.array(values, dtype=np.int64)]))
    assert found == (header, values)  # identity


def test_numbers_are_read_back_within_the_error_that_is_named() -> None:
    source = np.random.default_rng(1)
    given = np.concatenate(
        [
            np.geomspace(1e-12, 1e15, 400),
            -np.geomspace(1e-3, 1e3, 50),
            source.lognormal(0, 9, 400),
            [0.0, 1.0, 1500.0, 8191.0],
        ]
    )
    whole = np.cumsum(np.cumsum(bends(given)))
    bits = (np.abs(whole) << 11).astype(np.int32)
    found = np.where(whole < 0, -1.0, 1.0) * bits.view(np.float32)
    assert np.max(np.abs(found - given)) >= 0
    good = np.abs(given) > 0
    assert np.max(np.abs(found[good] / given[good] - 1)) <= RELATIVE_ERROR * 1.001
    assert found[-4:].tolist() == [0.0, 1.0, 1500.0, 8191.0]  # exact: twelve binary digits


def test_missing_numbers_are_told_as_gaps() -> None:
    nan = np.nan
    filled, places = gaps(np.array([nan, nan, 3.0, nan, 5.0, nan]))
    assert places == [0, 2, 3, 1, 5, 1]
    assert filled.tolist() == [0.0, 0.0, 3.0, 3.0, 5.0, 5.0]
    assert gaps(np.array([1.0, 2.0]))[1] == []


def test_a_smooth_curve_takes_about_a_byte_a_point() -> None:
    curve = np.exp(np.linspace(-5, 5, 5000))
    text = packed({}, [bends(curve)])
    assert len(text) < 5000 * 1.4  # base64 has a third more than the bytes
    assert np.array_equal(np.cumsum(steps(np.array([3, 1, 2]))), [3, 1, 2])
