"""What went wrong or waited in TCP flows: losses, reordering, probes, delayed acknowledgements.

Most are as Wireshark defines them: a state machine over the packets of a flow, each state of which
is a running value within the flow, so that it is computed here for all packets of all flows at
once. What is reordered is not: Wireshark takes every segment for it that comes within a round trip
of the newest one, also where the capture was made at the sender, where nothing overtakes.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import flows, groups
from netcalc.readers.captures.groups import Bools, Ints
from netcalc.readers.captures.round_trips import Handshakes, RoundTrips

FAST_RETRANSMISSION_S = 0.02
"""A segment this soon after duplicate acknowledgements was sent because of them. [s]"""

REORDERED_S, REORDERED_SHARE = 0.003, 0.7
"""A hole that is filled sooner than this share of the round trip, or without a handshake than this
time, was not repaired: its segment was overtaken. [s], [ratio]"""
ANSWERED_SHARE = 0.3
AT_SENDER_SHARE = 0.15
"""Where the sender's part of the round trip is below this share, nothing overtakes. [ratio]"""


@dataclass(frozen=True, slots=True)
class Losses:
    """What each segment is; at most one of the first four is true of it."""

    fast: Bools
    spurious: Bools
    late: Bools
    """Retransmitted for another reason, mostly a timeout."""
    out_of_order: Bools
    duplicate_ack: Bools
    keep_alive: Bools
    zero_window: Bools
    next_sequence: Ints
    """Highest end of a segment of the same direction before this one."""
    new_bytes: Ints
    """Payload that no segment before had."""
    after_ack: Bools
    """New data behind their acknowledgement: the order of the capture, or a clock, is wrong."""

    @property
    def retransmitted(self) -> Bools:
        """Segments that were sent again, for whatever reason."""
        return self.fast | self.spurious | self.late


def find_losses(segments: flows.Segments, handshakes: Handshakes, trips: RoundTrips) -> Losses:
    """Find out which segments were sent again, and which acknowledgements repeat themselves."""
    s = segments
    control = s.is_set(flows.SYN | flows.FIN | flows.RST)
    has_same, has_other = s.same >= 0, s.other >= 0
    window_there = np.where(has_other, s.window[s.other], -1)
    is_probe = (s.payload == 1) & (window_there == 0) & has_same
    following = _next_sequence(s, is_probe)
    is_probe &= s.sequence == following

    keep_alive = (s.payload <= 1) & (s.sequence == following - 1) & ~control & has_same & ~is_probe
    repeats = (s.payload == 0) & (s.window != 0) & has_same & ~control
    repeats &= (s.window == s.window[s.same]) & (s.ack == s.ack[s.same])
    repeats &= s.sequence == following
    duplicate = repeats & ~(has_other & keep_alive[s.other])
    repeated = _repeats_of_ack(s, duplicate, has_same)

    last_ack = np.where(has_other & s.is_set(flows.ACK)[s.other], s.ack[s.other], -1)
    since_ack_s = s.time_s - s.time_s[s.other]
    may = ((s.payload > 0) | s.is_set(flows.SYN | flows.FIN)) & ~keep_alive & has_same
    behind = (s.sequence < following) & ~((s.payload > 1) & (s.sequence == following - 1))
    new_bytes, opener = _coverage(s)
    reordered = may & behind & _is_overtaken(s, handshakes, trips, opener)
    rest = may & ~reordered
    spurious = rest & (s.payload > 0) & (last_ack > 0) & (s.sequence + s.payload <= last_ack)
    rest &= ~spurious
    # What fills no hole was not there before: nobody sent it again.
    after_ack = spurious & (s.sequence >= following) & (new_bytes > 0)
    spurious &= ~after_ack
    fast = rest & behind & has_other & (repeated[s.other] >= 2) & (last_ack == s.sequence)
    fast &= (since_ack_s >= 0) & (since_ack_s < FAST_RETRANSMISSION_S)
    rest &= ~fast
    late = rest & behind
    zero_window = (s.window == 0) & ~control
    return Losses(
        fast, spurious, late, reordered, duplicate, keep_alive, zero_window, following, new_bytes,
        after_ack,
    )  # fmt: skip


def _next_sequence(s: flows.Segments, is_probe: Bools) -> Ints:
    """Return the highest end before each segment in its direction."""
    order = s.by_series
    series = s.series[order]
    begins = groups.starts_of(series)
    reach = np.where(is_probe, s.sequence, s.end)[order]
    highest = groups.running_max(reach, series)
    before = np.empty_like(highest)
    before[1:] = highest[:-1]
    before[begins] = reach[begins]
    following = np.empty_like(before)
    following[order] = before
    return following


def _repeats_of_ack(s: flows.Segments, duplicate: Bools, has_same: Bools) -> Ints:
    """Return how many duplicates of its acknowledgement each packet ends, itself included."""
    order = s.by_series
    ordered = duplicate[order]
    changes = (~has_same | (s.ack != s.ack[s.same]))[order]
    total = np.cumsum(ordered)
    counted = np.empty(order.size, np.int64)
    counted[order] = total - total[groups.begins_at(changes)]
    return counted


def _coverage(s: flows.Segments) -> tuple[Ints, Ints]:
    """Return the new payload of each segment, and who opened the hole that it fills."""
    order = s.by_series[s.payload[s.by_series] > 0]
    end = s.sequence[order] + s.payload[order]
    coverage = find_coverage(s.sequence[order], end, s.series[order], count=2 * s.flows.count)
    new_bytes, opener = np.zeros(s.payload.size, np.int64), np.full(s.payload.size, -1)
    new_bytes[order] = coverage.new_bytes
    filled = coverage.opener >= 0
    opener[order[filled]] = order[coverage.opener[filled]]
    return new_bytes, opener


def _is_overtaken(
    s: flows.Segments, handshakes: Handshakes, trips: RoundTrips, opener: Ints
) -> Bools:
    """Return the segments that fill a hole sooner than a repetition could."""
    flow = s.flows.flow
    rtt_s = handshakes.rtt_s[flow]
    own_s = np.where(s.to_server, handshakes.to_client_s[flow], handshakes.to_server_s[flow])
    with np.errstate(invalid="ignore"):
        is_known = rtt_s > 0
        at_sender = (
            is_known
            & (own_s <= AT_SENDER_SHARE * rtt_s)
            & (
                # Data cannot be acknowledged at their sender before they have arrived.
                _least_answer_s(s, trips)[s.series] >= ANSWERED_SHARE * rtt_s
            )
        )
    limit_s = np.where(is_known, REORDERED_SHARE * np.where(is_known, rtt_s, 0.0), REORDERED_S)
    age_s = s.time_s - s.time_s[np.maximum(opener, 0)]
    overtaken: Bools = (opener >= 0) & (age_s >= 0) & (age_s < limit_s) & ~at_sender
    return overtaken


def _least_answer_s(s: flows.Segments, trips: RoundTrips) -> NDArray[np.float64]:
    """Return of each series how soon its data were acknowledged; inf where none were."""
    is_data = s.payload[trips.segment] > 0
    order = np.argsort(trips.series[is_data], kind="stable")
    least = groups.min_by(
        trips.rtt_s[is_data][order], trips.series[is_data][order], 2 * s.flows.count
    )
    return np.where(np.isnan(least), np.inf, least)


@dataclass(frozen=True, slots=True)
class Coverage:
    """One row for each segment; ``missing_bytes`` one for each series.

    ``new_bytes`` is the payload that no segment before had; ``opener`` the segment that came with a
    hole before it, for a segment that fills this hole, else -1. ``missing_bytes`` is what nothing
    filled.
    """

    new_bytes: Ints
    opener: Ints
    missing_bytes: Ints


def find_coverage(sequence: Ints, end: Ints, series: Ints, *, count: int = 1) -> Coverage:
    """Find out what each segment adds.

    Parameters
    ----------
    sequence, end : array_like
        First sequence number of each segment, and the one behind its last. [byte]
    series : array_like
        Series of each segment; those of a series lie together, in the order of their capture.
    count : int
        Number of series.

    Returns
    -------
    Coverage
        Rows as those of the segments.
    """
    begins = groups.starts_of(series)
    top = _highest(end, series)
    top_before = np.empty_like(top)
    top_before[1:] = top[:-1]
    top_before[begins] = sequence[begins]
    new_bytes = np.clip(end - np.maximum(sequence, top_before), 0, None)
    opener = np.full(sequence.size, -1)
    missing = np.zeros(count, np.int64)
    holes = _Holes()
    of_holes = -1
    for row in np.flatnonzero((sequence != top_before) & (end > sequence)).tolist():
        if series[row] != of_holes:
            if of_holes >= 0:
                missing[of_holes] = holes.size_bytes
            holes, of_holes = _Holes(), int(series[row])
        if sequence[row] > top_before[row]:
            holes.add(int(top_before[row]), int(sequence[row]), row)
        else:
            filled, opener[row] = holes.fill(int(sequence[row]), int(end[row]))
            new_bytes[row] += filled
    if of_holes >= 0:
        missing[of_holes] = holes.size_bytes
    return Coverage(new_bytes, opener, missing)


def _highest(end: Ints, series: Ints) -> Ints:
    """Return the highest end so far within each series."""
    if series.size and series[0] == series[-1]:
        return np.maximum.accumulate(end)
    first = np.flatnonzero(groups.starts_of(series))
    parts = np.split(end, first[1:])
    return np.concatenate([np.maximum.accumulate(part) for part in parts]) if parts else end


class _Holes:
    """Ranges of a stream that have not come, in their order, each with the segment behind it."""

    def __init__(self) -> None:
        self.low: list[int] = []
        self.high: list[int] = []
        self.opener: list[int] = []

    @property
    def size_bytes(self) -> int:
        """Bytes that have not come."""
        return sum(self.high) - sum(self.low)

    def add(self, low: int, high: int, row: int) -> None:
        """Add a hole behind all others."""
        self.low.append(low)
        self.high.append(high)
        self.opener.append(row)

    def fill(self, begin: int, stop: int) -> tuple[int, int]:
        """Fill what lies between; return how many bytes were new, and who opened the first hole."""
        first = bisect_right(self.high, begin)
        last = first
        filled, opener = 0, -1
        left: list[tuple[int, int, int]] = []
        while last < len(self.low) and self.low[last] < stop:
            low, high, row = self.low[last], self.high[last], self.opener[last]
            filled += min(high, stop) - max(low, begin)
            opener = row if opener < 0 else opener
            left += [(a, b, row) for a, b in ((low, begin), (stop, high)) if a < b]
            last += 1
        if last > first:
            for values, kept in zip((self.low, self.high, self.opener), zip(*left, strict=True)
                                    if left else ((), (), ()), strict=True):  # fmt: skip
                values[first:last] = kept
        return filled, opener


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


def find_stalls(segments: flows.Segments, losses: Losses, trips: RoundTrips) -> Stalls:
    """Find the acknowledgements that were delayed and the segments that were held back."""
    s = segments
    delayed, series, late_s = _delayed(s, trips)
    held = _held(s, losses)
    is_delayed = np.zeros(s.payload.size, np.bool_)
    is_delayed[delayed] = True
    return Stalls(
        delayed=delayed,
        delayed_series=series,
        delayed_s=late_s,
        held=held,
        held_s=s.time_s[held] - s.time_s[s.same[held]],
        is_held_by_delay=is_delayed[s.other[held]],
    )


def _delayed(s: flows.Segments, trips: RoundTrips) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Find acknowledgements without data, of one segment alone, that came late."""
    count = 2 * s.flows.count
    is_data = s.payload[trips.segment] > 0
    segment, answer = trips.segment[is_data], trips.answer[is_data]
    series, rtt_s = trips.series[is_data], trips.rtt_s[is_data]
    fastest = groups.min_by(rtt_s, series, count)
    late_s = rtt_s - fastest[series]
    is_pure = (s.payload[answer] == 0) & ~s.is_set(flows.SYN | flows.FIN | flows.RST)[answer]
    acked_before = np.where(s.same[answer] >= 0, s.ack[s.same[answer]], 0)
    is_alone = acked_before >= s.sequence[segment]
    # A receiver with a second segment answers at once: behind a queue all answers are late.
    is_last = _next_data_s(s)[segment] > s.time_s[answer] - fastest[series]
    chosen = is_pure & is_alone & is_last
    chosen &= (late_s >= LEAST_DELAYED_S) & (late_s <= MOST_DELAYED_S)
    return answer[chosen], series[chosen], late_s[chosen]


def _next_data_s(s: flows.Segments) -> NDArray[np.float64]:
    """Return when the next segment with data of its direction passed; inf if there is none."""
    next_s = np.full(s.payload.size, np.inf)
    data = s.by_series[s.payload[s.by_series] > 0]
    follows = s.series[data[1:]] == s.series[data[:-1]]
    next_s[data[:-1][follows]] = s.time_s[data[1:][follows]]
    return next_s


def _held(s: flows.Segments, losses: Losses) -> Ints:
    """Find small new segments that left at once when an acknowledgement had come for all before."""
    largest = np.zeros(2 * s.flows.count, np.int64)
    np.maximum.at(largest, s.series, s.payload)
    of_series = largest[s.series]
    is_small = (s.payload > 0) & ((s.payload < of_series) | (of_series < FULL_SEGMENT_BYTES))
    rows = np.flatnonzero(is_small & (s.other >= 0) & (s.same >= 0) & ~losses.retransmitted)
    ack = s.other[rows]
    follows = ack > s.same[rows]  # nothing was sent between the acknowledgement and this
    is_pure = (s.payload[ack] == 0) & ~s.is_set(flows.SYN | flows.FIN | flows.RST)[ack]
    is_all = s.ack[ack] == s.sequence[rows]
    had_data = s.payload[s.same[rows]] > 0
    acked_before = np.where(s.same[ack] >= 0, s.ack[s.same[ack]], -1)
    was_open = acked_before < s.sequence[rows]
    at_once = s.time_s[rows] - s.time_s[ack] <= AT_ONCE_S
    held: Ints = rows[follows & is_pure & is_all & had_data & was_open & at_once]
    return held


FULL_SEGMENT_BYTES = 500
"""A direction whose largest segment is below this sends small segments alone. [byte]"""
