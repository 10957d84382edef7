"""The order of the packets of a capture whose times go back: that of the file, or of the times.

Captures of several interfaces, and files that were joined or sorted wrongly, have packets in
another order than on the line. A clock that is set while it captures steps back once or a few
times, and by much. What follows from the packets of TCP decides: numbers of a sender do not go
back, and nothing is acknowledged before it is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netcalc.readers.captures import groups
from netcalc.readers.captures.flows import SYN, find_segments
from netcalc.readers.captures.groups import Ints
from netcalc.samples import Layer, PacketTrace

STEP_S = 0.3
"""A step of the clock that is smaller may be a queue. [s]"""
MOST_STEPS = 3
"""A clock is not set more often while a capture runs. [1]"""


@dataclass(frozen=True, slots=True)
class Order:
    """A trace in the order of its packets.

    ``is_kept`` says that times go back, and that the order of the file is right none the less;
    ``apart_s`` how far its clocks are apart then, at least: no shorter time between packets of two
    of them is right; 0 for one clock that was set. [s]
    """

    trace: PacketTrace
    is_kept: bool = False
    apart_s: float = 0.0


def in_order(trace: PacketTrace) -> PacketTrace:
    """Return the packets of a trace in their order; the trace itself where it has that order."""
    return find_order(trace).trace


_ORDER = "_packet_order"
"""Attribute of a trace that keeps its order: the comparison takes as long as reading the file."""


def find_order(trace: PacketTrace) -> Order:
    """Return the packets in the order that TCP contradicts less; the times as they are."""
    kept: Order | None = trace.__dict__.get(_ORDER)
    if kept is None:
        kept = _find_order(trace)
        if kept.trace is not trace:  # a trace that held itself would stay in memory
            trace.__dict__[_ORDER] = kept
    return kept


def _find_order(trace: PacketTrace) -> Order:
    time_s = np.asarray(trace.time_s)
    back = np.flatnonzero(np.diff(time_s) < 0)
    if not back.size or np.isnan(time_s).any():
        return Order(trace)
    # At one time segments come by their ends, and before what acknowledges them.
    payload = trace.ints("payload_bytes")
    has_data = payload > 0
    reach = np.where(has_data, trace.ints("tcp_sequence") + payload, trace.ints("acknowledged"))
    ordered = trace.rows(np.lexsort((~has_data, reach, time_s)))
    in_file, by_time = _contradictions(trace), _contradictions(ordered)
    if _is_set(time_s):
        is_joined = any(_are_older(trace, row) or _is_apart(trace, row) for row in back.tolist())
        if is_joined or by_time < in_file:
            return Order(ordered)
        return Order(trace, is_kept=True)
    if by_time > in_file:
        apart_s = float((time_s[back] - time_s[back + 1]).max())
        return Order(trace, is_kept=True, apart_s=apart_s)
    return Order(ordered)


def _contradictions(trace: PacketTrace) -> int:
    """Return how many segments go back in number, or come after their acknowledgement."""
    s = find_segments(trace)
    counts = (s.payload > 0) | s.is_set(SYN)
    if not counts.any():
        return 0
    order = s.by_series
    series, end = s.series[order], s.end[order]
    top = groups.running_max(end, series)
    goes_back = np.zeros(order.size, np.bool_)
    goes_back[1:] = (series[1:] == series[:-1]) & (s.sequence[order][1:] < top[:-1])
    acked = np.empty(order.size, np.int64)
    acked[order] = groups.running_max(s.ack[order], series)
    is_late = (s.other >= 0) & (s.end <= acked[s.other])
    return int(np.count_nonzero(counts & is_late) + np.count_nonzero(goes_back & counts[order]))


def _is_apart(trace: PacketTrace, row: int) -> bool:
    """Whether no sender has packets on both sides of a row: each side is a file of its own."""
    ways = _ways(trace)
    before, after = np.unique(ways[: row + 1]), np.unique(ways[row + 1 :])
    return not np.intersect1d(before, after).size


def _ways(trace: PacketTrace) -> Ints:
    """Return a number for each sender and receiver."""
    ways: Ints = trace.ints("source").astype(np.int64) << 32 | trace.ints("destination")
    return ways


def _are_older(trace: PacketTrace, row: int) -> bool:
    """Whether the stamps of TCP, too, go back behind a row."""
    has_stamp = trace.has(Layer.TIMESTAMPS)
    later = row + 1 + np.flatnonzero(has_stamp[row + 1 :])
    if not later.size:
        return False
    same = has_stamp[: row + 1].copy()
    for name in ("source", "source_port", "destination_port"):
        column = trace.ints(name)
        same &= column[: row + 1] == column[later[0]]
    before = np.flatnonzero(same)
    stamp = trace.ints("timestamp").astype(np.int64)
    return bool(before.size and stamp[later[0]] < stamp[before[-1]])


def on_rising_times(order: Order) -> PacketTrace:
    """Return a trace whose times never go back.

    Of a clock that was set the step is taken out, unless the stamps of TCP show it better; of
    clocks that differ no packet is earlier than the one before it.
    """
    trace = order.trace
    if not order.is_kept:
        return trace
    time_s = np.asarray(trace.time_s)
    if order.apart_s:
        return replace(trace, time_s=np.maximum.accumulate(time_s))
    if trace.has(Layer.TIMESTAMPS).any():
        return trace
    return replace(trace, time_s=without_steps_s(time_s))


def _is_set(time_s: NDArray[np.float64]) -> bool:
    """Whether times go back as those of a clock that was set: seldom, by much, and for good."""
    steps_s = np.diff(time_s)
    back_s = steps_s[steps_s < 0]
    if not 0 < back_s.size <= MOST_STEPS:
        return False
    return bool((back_s < -STEP_S).all() and steps_s.max() < -back_s.max())


def without_steps_s(time_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return times without the steps back of a clock that was set; others as they are. [s]

    >>> without_steps_s(np.array([10.0, 10.5, 3.0, 3.25])).tolist()
    [10.0, 10.5, 10.5, 10.75]
    """
    if not _is_set(time_s):
        return time_s
    steps_s = np.diff(time_s, prepend=time_s[:1])
    rising: NDArray[np.float64] = time_s - np.cumsum(np.minimum(steps_s, 0.0))
    return rising
