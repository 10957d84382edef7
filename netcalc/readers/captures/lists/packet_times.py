"""Times of a list of packets: which of its modes a program printed, where the numbers show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from netcalc.messages import Notice
from netcalc.samples import FloatColumn

Nanoseconds: TypeAlias = NDArray[np.int64]

SECOND_NS = 1_000_000_000
DAY_NS = 86_400 * SECOND_NS
EPOCH_NS = 100_000_000 * SECOND_NS
"""Plain numbers from here on are seconds since 1970 (March 1973). [ns]"""
LATEST_NS = 2**62
"""Whole nanoseconds are below, in the year 2116: later is no time of a packet. [ns]"""
FEWEST_RISING = 5
"""Steps that all rise by which times since the start are known from times since the last packet."""
RISING_FOR_A_FALL = 20
"""Steps that rise for each that falls, from which on a clock went back in times since the start.

Of times since the last packet about every second step falls.
"""

_CLOCK = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d)[T ])?(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))?"
    r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
)
_SECONDS = re.compile(r"(?P<s>\d{1,10})(?:[.,](?P<f>\d{1,9}))?")


def times_of(texts: Sequence[str], *, relative: bool = False) -> tuple[FloatColumn, list[Notice]]:
    """Return times from the first one on, and why they are missing if the mode is not certain.

    Parameters
    ----------
    texts : sequence of str
        The times as printed: seconds, a time of day, a date with a time; empty where there is none.
    relative : bool
        A time of day is a time since something (tcpdump -ttt and -ttttt).
    """
    given = [text.strip() for text in texts]
    times = [None if one is None or one >= LATEST_NS else one for one in map(_nanoseconds, given)]
    unread = [text for text, one in zip(given, times, strict=True) if text and one is None]
    missing = np.full(len(given), np.nan)
    if unread:
        return missing, [Notice("packet-time-unread", {"value": unread[0][:60]})]
    index = np.array([n for n, one in enumerate(times) if one is not None], dtype=np.int64)
    if not index.size:
        return missing, []
    values: Nanoseconds = np.array([one for one in times if one is not None], dtype=np.int64)
    clock = any(":" in text for text in given)
    found: list[Notice] = []
    if clock and not relative:
        if not any("-" in text[:10] for text in given):
            # A time of day that is more than half a day before the last one is of the next day.
            values += np.cumsum(np.diff(values, prepend=values[0]) < -DAY_NS // 2) * DAY_NS
    elif clock or values.min() < EPOCH_NS:
        values, found = _times_from_first(values, relative=relative)
    if not found:
        missing[index] = (values - values[0]) / 1e9
    return missing, found


def _times_from_first(values: Nanoseconds, *, relative: bool) -> tuple[Nanoseconds, list[Notice]]:
    """Return times since the first packet, if their origin is certain."""
    steps = np.diff(values)
    rising, falling = np.count_nonzero(steps > 0), np.count_nonzero(steps < 0)
    if falling * RISING_FOR_A_FALL > rising:
        # Times since the last packet: packets left out of the list are not in their sum.
        if relative and values[0] == 0:
            return np.cumsum(values), []
        return values, [Notice("packet-times-since-last")]
    if rising < FEWEST_RISING:
        return values, [Notice("packet-times-ambiguous")]
    return values, []


def span_s(times: NDArray[np.float64]) -> float:
    """Return the time from the earliest packet to the latest; nan without one. [s]"""
    known = times[~np.isnan(times)]
    return float(known.max() - known.min()) if known.size else float("nan")


def _nanoseconds(text: str) -> int | None:
    """Return a time in whole nanoseconds, of which a float since 1970 cannot hold all digits."""
    clock = _CLOCK.fullmatch(text)
    plain = None if clock else _SECONDS.fullmatch(text)
    if plain is not None:
        return int(plain["s"]) * SECOND_NS + _fraction(plain["f"])
    if clock is None:
        return None
    seconds = int(clock["h"]) * 3600 + int(clock["m"]) * 60 + int(clock["s"])
    if clock["date"]:
        try:
            day = date.fromisoformat(clock["date"])
        except ValueError:
            return None
        seconds += (day - date(1970, 1, 1)).days * 86_400
    return seconds * SECOND_NS + _fraction(clock["f"])


def _fraction(digits: str | None) -> int:
    return int(f"{digits or ''}000000000"[:9])
