"""What a number in a saved file may be: its name says what it counts, and so its limits.

netcalc writes no larger number than these: a count of 400 digits, or a size of 1e308 bytes, was
written by somebody else, and no model, sum or table has a place for it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

MOST = 2.0**64
"""Largest number of any kind: a counter of 64 bits, or a time since 1970 in nanoseconds. [1]"""
MOST_COUNTED = 2.0**53
"""Largest count, or size in bytes, of a column: from there on a float skips whole numbers. [1]"""

_COUNTED = (
    "count", "numbers", "sent", "received", "duplicates", "errors", "corrupted", "_bytes",
    "_ratio", "_bps", "_pps", "_ns", "_processor", "load_1min", "_s",
)  # fmt: skip
_SIGNED = (
    "offset",
    "step",
    "at_s",
    "start_s",
    "end_s",
    "intercept",
    "one_way",
    "lateness",
    "own_cost",
)
"""Names, or their beginnings or ends, of what may be below 0: differences, and times of day."""
_OF_A_FILE = ("sum:", "counter:")
"""Facts of what a file counts: as large as it says."""
KNOWN_IN_EACH_ROW = frozenset(
    {"hop", "train", "index", "packet_bytes", "write_bytes", "write_count"}
)
"""Columns that say what a row is about: never unknown."""
_MOMENTS = frozenset({"sent_s", "received_s", "start_s", "time_s"})
_MAY_BE_NEGATIVE = frozenset({"sequence"})


def fault(value: float, name: str) -> str | None:
    """Return which limit a number breaks: the code of the error, None if it keeps them.

    >>> fault(-1, "sent_count"), fault(10**400, "late_p99_s"), fault(-0.5, "clock_offset_s")
    ('saved-negative', 'saved-too-large', None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "saved-not-finite"
    if abs(value) > (sys.float_info.max if name.startswith(_OF_A_FILE) else MOST):
        return "saved-too-large"
    if value < 0 and name.endswith(_COUNTED) and not any(part in name for part in _SIGNED):
        return "saved-negative"
    return None


def first_fault(value: Any, field: str, name: str = "") -> tuple[str, str, Any] | None:
    """Return the first number in a part of a file that breaks a limit: code, field, number."""
    for where, what, number in _numbers(value, field, name):
        # Of an instrument nan is what it did not measure, which later versions write as null.
        unknown = number != number and field == "meta.instrument"
        code = None if unknown else fault(number, what)
        if code is not None:
            return code, where, number
    return None


def _numbers(value: Any, field: str, name: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each number with its field and its name; those of a list have the name of the list."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, f"{field}.{key}", str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, f"{field}[{index}]", name)
    elif type(value) in (int, float):
        yield field, name, value


def row_fault(value: float, name: str, unit: str) -> str | None:
    """Return which limit a number of a column breaks; nan is unknown, inf a rate in no time.

    >>> row_fault(1e308, "payload_bytes", "byte"), row_fault(float("nan"), "hop", "1")
    ('row-too-large', 'row-unknown')
    """
    if value != value:
        return "row-unknown" if unit and name in KNOWN_IN_EACH_ROW else None
    if name in _MOMENTS and abs(value) == math.inf:
        return "row-too-large"
    counted = unit in ("1", "byte")
    if counted and value < 0 and name not in _MAY_BE_NEGATIVE:
        return "row-negative"
    fits = abs(value) <= (MOST_COUNTED if counted else sys.float_info.max)
    return None if fits or (abs(value) == math.inf and not counted) else "row-too-large"
