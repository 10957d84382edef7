"""Round-trip times of TCP: from a segment to its acknowledgement, and by time stamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures.flows import SYN, Segments
from netcalc.readers.captures.scans import Bools, Ints, running_max, searchable, starts_of
from netcalc.samples import Layer, PacketTrace


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """One row for each sample: the segment, the packet that answered it, and the time between.

    ``series`` is that of the segment. The time covers the path from the capture to the receiver and
    back: the whole round trip only where the capture was made at the sender.
    """

    segment: Ints
    answer: Ints
    series: Ints
    rtt_s: NDArray[np.float64]


def by_acknowledgement(segments: Segments) -> RoundTrips:
    """Match segments with the acknowledgement of their very end (Karn: none that was sent twice).

    The first packet of the other direction that acknowledges at least the end of a segment answers
    it. An acknowledgement of more than that end belongs to a later segment.
    """
    s = segments
    order = s.by_series
    sends = order[((s.payload > 0) | s.is_set(SYN))[order]]
    sends = sends[~_ambiguous(s, sends)]
    series = s.series[order]
    highest = running_max(s.ack[order], series)
    found = np.searchsorted(
        searchable(highest, series), searchable(s.end[sends], s.series[sends] ^ 1)
    )
    found_clipped = np.minimum(found, max(order.size - 1, 0))
    answer = order[found_clipped]
    good = (found < order.size) & (s.series[answer] == s.series[sends] ^ 1) & (answer > sends)
    good &= s.ack[answer] == s.end[sends]
    sends, answer = sends[good], answer[good]
    return RoundTrips(sends, answer, s.series[sends], s.time_s[answer] - s.time_s[sends])


def _ambiguous(s: Segments, sends: Ints) -> Bools:
    """Return which segments share a byte with another one of their direction."""
    order = np.argsort(searchable(s.sequence[sends], s.series[sends]), kind="stable")
    chosen = sends[order]
    series = s.series[chosen]
    begin, end = s.sequence[chosen], s.end[chosen]
    begins = starts_of(series)
    highest = running_max(end, series)
    shared = np.zeros(chosen.size, np.bool_)
    shared[1:] = ~begins[1:] & (highest[:-1] > begin[1:])
    shared[:-1] |= ~begins[1:] & (end[:-1] > begin[1:])
    found = np.zeros(chosen.size, np.bool_)
    found[order] = shared
    return found


def by_timestamp(trace: PacketTrace, segments: Segments) -> RoundTrips:
    """Match the first packet with a time stamp and the first of the other direction to echo it.

    Only an echo that acknowledges new data counts (RFC 7323): others may repeat an old one.
    """
    s = segments
    has = trace.has(Layer.TIMESTAMPS)[s.flows.row]
    value = trace.ints("timestamp")[s.flows.row].astype(np.int64)
    echo = trace.ints("timestamp_echo")[s.flows.row].astype(np.int64)
    order = s.by_series
    rows = order[(has & ((s.payload > 0) | s.is_set(SYN)))[order]]
    keys, first = _first_of_each((s.series[rows] << 32) | value[rows], rows)
    advances = has & (echo != 0) & (s.same >= 0) & (s.ack > s.ack[s.same])
    echoes = order[advances[order]]
    echo_keys, echo_first = _first_of_each(((s.series[echoes] ^ 1) << 32) | echo[echoes], echoes)
    found = np.minimum(np.searchsorted(keys, echo_keys), max(keys.size - 1, 0))
    if not keys.size or not echo_keys.size:
        nothing = np.zeros(0, np.int64)
        return RoundTrips(nothing, nothing, nothing, np.zeros(0))
    good = (keys[found] == echo_keys) & (first[found] < echo_first)
    sends, answer = first[found][good], echo_first[good]
    return RoundTrips(sends, answer, s.series[sends], s.time_s[answer] - s.time_s[sends])


def _first_of_each(keys: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in order, and the first row of each; rows are in order by time."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = starts_of(ordered)
    return ordered[begins], rows[order][begins]
