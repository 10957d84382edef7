"""Delayed acknowledgements and Nagle's waits, recognized by the packets around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.flows import FIN, RST, SYN, Segments
from netcalc.readers.captures.losses import Losses
from netcalc.readers.captures.round_trips import RoundTrips
from netcalc.readers.captures.scans import Bools, Ints, min_by

LEAST_DELAYED_S, MOST_DELAYED_S = 0.020, 0.520
"""An acknowledgement this much later than the fastest was delayed on purpose (RFC 1122). [s]"""

TIMERS_S = (0.040, 0.100, 0.200, 0.500)
"""Timers of delayed acknowledgements in use: Linux, some BSDs, Windows and BSD, the limit. [s]"""

TIMER_TOLERANCE = 0.15
AT_ONCE_S = 0.002
"""A segment this soon after an acknowledgement was held back for it. [s]"""


@dataclass(frozen=True, slots=True)
class Stalls:
    """Waits that two rules of TCP cause; each index is that of a segment.

    ``delayed`` are acknowledgements of one segment alone that came by a timer, ``delayed_s`` how
    late they came, beyond the fastest of their direction. ``held`` are small segments that left as
    soon as everything before them was acknowledged (RFC 896), ``held_s`` the time since the segment
    before: the longest that they can have waited.
    """

    delayed: Ints
    delayed_series: Ints
    delayed_s: NDArray[np.float64]
    held: Ints
    held_s: NDArray[np.float64]
    is_held_by_delay: Bools
    """Of ``held``: whether the acknowledgement waited for was a delayed one."""

    @property
    def timer_s(self) -> NDArray[np.float64]:
        """The timer in use that fits each delayed acknowledgement; nan if none does. [s]"""
        timers = np.array(TIMERS_S)
        apart = np.abs(self.delayed_s[:, None] / timers - 1)
        if not self.delayed_s.size:
            return np.zeros(0)
        fits = apart.min(axis=1) <= TIMER_TOLERANCE
        return np.where(fits, timers[apart.argmin(axis=1)], np.nan)


def find_stalls(segments: Segments, losses: Losses, trips: RoundTrips) -> Stalls:
    """Find the acknowledgements that were delayed and the segments that were held back."""
    s = segments
    delayed, series, late_s = _delayed(s, trips)
    held = _held(s, losses)
    is_delayed = np.zeros(s.payload.size, np.bool_)
    is_delayed[delayed] = True
    before = _last_data_before(s, held)
    return Stalls(
        delayed=delayed,
        delayed_series=series,
        delayed_s=late_s,
        held=held,
        held_s=s.time_s[held] - s.time_s[before],
        is_held_by_delay=is_delayed[s.other[held]],
    )


def _delayed(s: Segments, trips: RoundTrips) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Find acknowledgements without data, of one segment alone, that came late."""
    count = 2 * s.flows.count
    is_data = s.payload[trips.segment] > 0
    segment, answer = trips.segment[is_data], trips.answer[is_data]
    series, rtt_s = trips.series[is_data], trips.rtt_s[is_data]
    fastest = min_by(rtt_s, series, count)
    late_s = rtt_s - fastest[series]
    is_pure = (s.payload[answer] == 0) & ~s.is_set(SYN | FIN | RST)[answer]
    acked_before = np.where(s.same[answer] >= 0, s.ack[s.same[answer]], 0)
    is_alone = acked_before >= s.sequence[segment]
    # A receiver with a second segment answers at once: behind a queue all answers are late.
    is_last = _next_data_s(s)[segment] > s.time_s[answer] - fastest[series]
    chosen = is_pure & is_alone & is_last
    chosen &= (late_s >= LEAST_DELAYED_S) & (late_s <= MOST_DELAYED_S)
    return answer[chosen], series[chosen], late_s[chosen]


def _next_data_s(s: Segments) -> NDArray[np.float64]:
    """Return when the next segment with data of its direction passed; inf if there is none."""
    found = np.full(s.payload.size, np.inf)
    data = s.by_series[s.payload[s.by_series] > 0]
    follows = s.series[data[1:]] == s.series[data[:-1]]
    found[data[:-1][follows]] = s.time_s[data[1:][follows]]
    return found


def _held(s: Segments, losses: Losses) -> Ints:
    """Find small new segments that left at once when an acknowledgement had come for all before."""
    largest = np.zeros(2 * s.flows.count, np.int64)
    np.maximum.at(largest, s.series, s.payload)
    is_small = (s.payload > 0) & (s.payload < largest[s.series]) | _always_small(s, largest)
    rows = np.flatnonzero(is_small & (s.other >= 0) & (s.same >= 0) & ~losses.retransmitted)
    ack = s.other[rows]
    follows = ack > s.same[rows]  # nothing was sent between the acknowledgement and this
    is_pure = (s.payload[ack] == 0) & ~s.is_set(SYN | FIN | RST)[ack]
    is_all = s.ack[ack] == s.sequence[rows]
    had_data = s.payload[s.same[rows]] > 0
    was_open = _acked_before(s, ack) < s.sequence[rows]
    at_once = s.time_s[rows] - s.time_s[ack] <= AT_ONCE_S
    found: Ints = rows[follows & is_pure & is_all & had_data & was_open & at_once]
    return found


FULL_SEGMENT_BYTES = 500
"""A direction whose largest segment is below this sends small segments alone. [byte]"""


def _always_small(s: Segments, largest: Ints) -> Bools:
    small: Bools = (s.payload > 0) & (largest[s.series] < FULL_SEGMENT_BYTES)
    return small


def _acked_before(s: Segments, ack: Ints) -> Ints:
    """Return what the packet before an acknowledgement had acknowledged already."""
    return np.where(s.same[ack] >= 0, s.ack[s.same[ack]], -1)


def _last_data_before(s: Segments, rows: Ints) -> Ints:
    return s.same[rows]
