"""Columns of numbers in few bytes: twelve binary digits each, differences of differences.

A pixel cannot show more than four digits of a number. The bits of a number in single precision
grow with its logarithm, so that a smooth curve has small second differences on any axis.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DROPPED_BITS = 11
RELATIVE_ERROR = 2.0**-13
"""Largest relative error of a packed number that is not tiny. [1]"""


def packed(header: Any, series: Sequence[NDArray[np.int64]]) -> str:
    """Return a header and series of whole numbers as text: gzip in base64.

    Parameters
    ----------
    header : object
        Anything that JSON holds.
    series : sequence of numpy.ndarray
        Whole numbers below 2**29, shape (n,) each; they are read back one after the other.
    """
    body = b"".join(_varints(one) for one in series)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    whole = len(text).to_bytes(4, "little") + text + body
    return base64.b64encode(gzip.compress(whole, mtime=0)).decode()


def steps(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a series as its first differences, the first value before them."""
    return np.diff(values, prepend=0)


def bends(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return finite numbers as the second differences of their bits, least ones dropped."""
    whole = np.round(values.astype(np.float32).view(np.int32).astype(np.int64) & 0x7FFFFFFF)
    rounded = (whole + (1 << (_DROPPED_BITS - 1))) >> _DROPPED_BITS
    ordered = np.where(np.signbit(values), -rounded, rounded)
    return steps(steps(ordered))


def gaps(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int]]:
    """Return numbers without nan, each filled with the one before, and where the nan were.

    The second result has the first index and the length of each gap, one gap after the other.
    """
    missing = np.isnan(values)
    if not missing.any():
        return values, []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], missing.view(np.int8), [0]))))
    found = [int(edge) for edge in edges]
    places = [
        part
        for start, end in zip(found[::2], found[1::2], strict=True)
        for part in (start, end - start)
    ]
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(values.size)))
    return np.where(last >= 0, values[np.maximum(last, 0)], 0.0), places


def _varints(values: NDArray[np.int64]) -> bytes:
    """Return whole numbers in as few bytes as they need, the sign in the last bit."""
    left = np.where(values >= 0, 2 * values, -2 * values - 1)
    parts = []
    while True:
        more = left >= 128
        parts.append(np.where(left >= 0, (left & 127) | np.where(more, 128, 0), -1))
        if not more.any():
            break
        left = np.where(more, left >> 7, -1)
    table = np.stack(parts, axis=1).ravel()
    return table[table >= 0].astype(np.uint8).tobytes()
