"""What a sender waited for in each gap between two of its segments."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes.dialogue import SENDER, Dialogue
from netcalc.readers.captures.losses import FULL_SEGMENT_BYTES, TIMER_TOLERANCE, TIMERS_S
from netcalc.readers.captures.scans import Bools, Ints

TIMER, TURN, RECOVERY, PROGRAM, WINDOW, IDLE, CLOCKED, PACED, UNSEEN, HELD = range(10)
"""Kinds of gaps: a retransmission timer; data of the other end; the repair of a loss; a receiver
that does not read; its window; a sender with nothing to send; an acknowledgement; a sender that
waits for none of these; what this place does not show; a delayed acknowledgement, without which
the next small segment may not leave."""
LEAST_TIMEOUT_S = 0.2
"""Linux waits no less for an acknowledgement. [s]"""
TIMER_SHARE = 0.8
"""A repetition after this share of the timeout came by the timer. [ratio]"""
SHRUNK_SHARE = 0.5
"""A window below this share of the largest so far has data in it that nobody reads. [ratio]"""


@dataclass(frozen=True, slots=True)
class Gaps:
    """A row for each gap: before the second segment with data, the third, ...

    ``waited_s`` is how long it was; ``own_s`` of it was after what ended the wait of a turn, or of
    an idle sender: that part is the sender's own.
    """

    kind: Ints
    waited_s: FloatArray
    own_s: FloatArray
    in_flight: Ints
    room: FloatArray
    acknowledged: Ints

    def total_s(self, kind: int) -> float:
        """Return the time of all gaps of a kind. [s]"""
        return float(self.waited_s[self.kind == kind].sum())

    def count(self, kind: int) -> int:
        """Return how many gaps are of a kind."""
        return int(np.count_nonzero(self.kind == kind))


def find_gaps(d: Dialogue) -> Gaps:
    """Return what each gap of a dialogue was spent on."""
    sent_s, rtt_s = d.sent_s, d.base_rtt_s if d.base_rtt_s > 0 else 0.05
    waited_s = np.maximum(np.diff(sent_s), 0.0)
    # The order of two packets is that of the capture only where it was made at the sender.
    slack_s = 3e-5 if d.place == SENDER else 3e-4 + 0.02 * rtt_s
    first = np.searchsorted(d.came_s, sent_s[:-1] + slack_s) - 1
    last = np.searchsorted(d.came_s, sent_s[1:] + slack_s) - 1
    before, after = np.maximum(first, 0), np.maximum(last, 0)
    acked_before = np.where(first >= 0, d.acknowledged[before], 0)
    acked = np.where(last >= 0, d.acknowledged[after], 0)
    edge = np.where(first >= 0, d.edge[before], np.inf)
    ack_s = np.where(last >= 0, d.came_s[after], -np.inf)
    top, repeated, payload = d.top_before[1:], d.is_repeated[1:], d.payload[1:]

    theirs = np.concatenate([[0], np.cumsum(d.their_payload > 0)])
    is_turn = theirs[last + 1] > theirs[first + 1]
    room: FloatArray = (edge - top).astype(np.float64)
    mss = np.minimum(d.mss_bytes, payload)
    is_closed = (first >= 0) & ((room < mss) | ((room < d.mss_bytes) & (waited_s > 2e-3)))
    is_unread = _unread(d, before, after) & (first >= 0)
    recovery = np.maximum.accumulate(np.where(repeated, top, -1))
    recovers = repeated | (acked < recovery)
    at_once_s = max(1e-3, 0.02 * rtt_s) if d.place == SENDER else max(1.5e-3, 0.05 * rtt_s)
    idle_s = np.clip(sent_s[1:] - np.maximum(ack_s, sent_s[:-1]), 0.0, waited_s)
    is_idle = (acked >= top) & (idle_s > max(1e-3, 0.05 * rtt_s))
    is_unseen = is_idle & _may_be_timer(d, idle_s, rtt_s)
    by_timer = (waited_s > TIMER_SHARE * _timeout_s(d)) & ~is_turn
    by_timer &= repeated | (_lost_within(d) & ~is_closed)
    is_clocked = (sent_s[1:] - ack_s < at_once_s) | (waited_s < 1e-3)
    is_held = (acked == top) & (acked_before < top) & is_clocked & _is_held(d, waited_s, rtt_s)
    kind = np.select(
        [
            by_timer,
            is_turn,
            is_held & ~recovers,
            recovers,
            is_closed & is_unread,
            is_closed,
            is_unseen,
            is_idle,
            is_clocked,
        ],
        [TIMER, TURN, HELD, RECOVERY, PROGRAM, WINDOW, UNSEEN, IDLE, CLOCKED],
        PACED,
    )
    data_s = np.maximum.accumulate(np.where(d.their_payload > 0, d.came_s, -np.inf))
    turn_s = np.clip(sent_s[1:] - data_s[after], 0.0, waited_s)
    own_s = np.select([kind == TURN, kind == IDLE], [turn_s, idle_s], 0.0)
    sacked = np.where(first >= 0, d.sacked[before], 0)
    return Gaps(kind, waited_s, own_s, top - acked_before - sacked, room, acked_before)


def _is_held(d: Dialogue, waited_s: FloatArray, rtt_s: float) -> Bools:
    """Return the gaps between small segments that took a round trip and a timer of delayed ACKs."""
    full = d.mss_bytes if d.mss_bytes >= FULL_SEGMENT_BYTES else FULL_SEGMENT_BYTES
    held: Bools = (d.payload[1:] < full) & (d.payload[:-1] < full)
    rows = np.flatnonzero(held)  # few of a capture, as a rule
    late_s = waited_s[rows] - rtt_s
    apart = np.abs(late_s[:, None] / np.array(TIMERS_S) - 1).min(axis=1, initial=np.inf)
    held[rows] = apart <= TIMER_TOLERANCE
    return held


def _timeout_s(d: Dialogue) -> float:
    """Return the timeout of retransmission that a sender has under load. [s]"""
    slow_s = float(np.percentile(d.trip_s, 90)) if d.trip_s.size > 5 else 0.0
    base_s = 0.0 if math.isnan(d.base_rtt_s) else d.base_rtt_s
    return max(LEAST_TIMEOUT_S, slow_s, 1.2 * base_s)


def _lost_within(d: Dialogue) -> Bools:
    """Return the gaps in which packets were lost before the capture."""
    if d.ids is None or d.place == SENDER:
        return np.zeros(d.sent_s.size - 1, np.bool_)
    steps = np.diff(d.ids)
    lost: Bools = (steps > 1) & (steps < 200)
    return lost


def _may_be_timer(d: Dialogue, idle_s: FloatArray, rtt_s: float) -> Bools:
    """Return the pauses that may be the timer of a segment lost before the capture.

    Away from the sender, and without numbers of packets, a lost last segment is not seen. After a
    pause of its own a sender begins with several segments, after a timer with one.
    """
    if d.place == SENDER or d.ids is not None:
        return np.zeros(idle_s.size, np.bool_)
    begin = d.sent_s[1:]
    behind = np.searchsorted(d.sent_s, begin + 0.5 * rtt_s) - np.arange(1, d.sent_s.size)
    may: Bools = (idle_s > LEAST_TIMEOUT_S) & (behind < 3)
    return may


def _unread(d: Dialogue, before: Ints, after: Ints) -> Bools:
    """Return the gaps in which the window was far below what the receiver had offered before."""
    window = np.where(np.isnan(d.window), np.inf, d.window)
    offered = np.maximum.accumulate(np.where(np.isnan(d.window), 0.0, d.window))
    pairs = np.stack([before, np.maximum(after, before) + 1], axis=1).reshape(-1)
    least = np.minimum.reduceat(np.append(window, np.inf), pairs)[::2]
    most = offered[before]
    unread: Bools = (least < SHRUNK_SHARE * most) & (most > 3 * d.mss_bytes)
    return unread
