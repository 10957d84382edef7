"""The time of a transfer, cut into gaps and round trips with one cause each; the bottleneck's rate.

The rate follows from how far apart packets leave the bottleneck.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netcalc.checks import FloatArray
from netcalc.explain.causes.dialogue import SENDER, Dialogue
from netcalc.readers.captures.groups import Bools, Ints
from netcalc.readers.captures.losses import FULL_SEGMENT_BYTES, TIMER_TOLERANCE, TIMERS_S

TIMER, TURN, RECOVERY, PROGRAM, WINDOW, IDLE, CLOCKED, PACED, UNSEEN, HELD = range(10)
"""Kinds of gaps: a retransmission timer; data of the other end; the repair of a loss; a receiver
that does not read; its window; a sender with nothing to send; an acknowledgement; a sender that
waits for none of these; what this place does not show; a delayed acknowledgement, without which
the next small segment may not leave."""
LEAST_TIMEOUT_S = 0.2
"""Linux waits no less for an acknowledgement. [s]"""
TIMER_SHARE = 0.8
"""A repetition after this share of the timeout came by the timer. [ratio]"""
SHUT_SHARE = 0.5
"""A gap of which the window was closed for more than this share was spent on that. [ratio]"""
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
    is_shut = _shut_s(d) > SHUT_SHARE * waited_s
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
            is_shut & ~is_turn & (waited_s > 2e-3),
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
        [PROGRAM, TIMER, TURN, HELD, RECOVERY, PROGRAM, WINDOW, UNSEEN, IDLE, CLOCKED],
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


def _shut_s(d: Dialogue) -> FloatArray:
    """Return how long of each gap the window was closed: to 0, or to less than a segment. [s]"""
    window = np.where(np.isnan(d.window), np.inf, d.window)
    offered = np.maximum.accumulate(np.where(np.isnan(d.window), 0.0, d.window))
    is_shut = d.is_closed | ((window < d.mss_bytes) & (offered > 3 * d.mss_bytes))
    if not is_shut.any():
        return np.zeros(d.sent_s.size - 1)
    times_s = np.append(d.came_s, max(d.came_s[-1], d.sent_s[-1]))
    total_s = np.concatenate([[0.0], np.cumsum(np.where(is_shut, np.diff(times_s), 0.0))])
    return np.diff(np.interp(d.sent_s, times_s, total_s))


GROWING, QUEUED, QUEUED_BACK, AFTER_LOSS, FLAT, OTHER = range(6)
"""Kinds of rounds: the window grows from the start; packets wait in front of the line; their
acknowledgements wait on the way back; a loss was before; the data in flight do not grow; others."""
MOST_ROUNDS = 2000
QUEUE_SHARE, QUEUE_S = 0.15, 0.003
"""A queue begins above both: a share of the round trip, and a time. [ratio], [s]"""
BACK_SHARE = 0.6
"""A queue is that of the way back if this share of it is seen there. [ratio]"""
STEADY_SHARE = 0.8
LEAST_ALIKE, ALIKE_RATIO = 20, 1.3
"""Acknowledgements of each kind, and the ratio up to which their gaps are alike. [1], [ratio]"""


@dataclass(frozen=True, slots=True)
class GapRounds:
    """``kind`` has a row for each gap; the others one for each round."""

    kind: Ints
    begin_s: FloatArray
    queue_s: FloatArray
    back_s: FloatArray
    in_flight: FloatArray
    kinds: Ints


def find_rounds(d: Dialogue, gaps: Gaps) -> GapRounds:
    """Return of each gap what kind of round it was in."""
    base_s = d.base_rtt_s if d.base_rtt_s > 0 else 0.02
    begin_s, end_s = float(d.sent_s[0]), float(d.sent_s[-1])
    step_s = max(base_s, (end_s - begin_s) / MOST_ROUNDS, 1e-3)
    count = int((end_s - begin_s) / step_s) + 1
    edges: FloatArray = begin_s + step_s * np.arange(count + 1, dtype=np.float64)
    queue_s = _queue_s(d, edges, base_s)
    back_s = np.zeros(count)
    if d.place == SENDER and np.isfinite(d.ack_late_s).any():
        back_s = np.nan_to_num(_median_within(d.came_s, d.ack_late_s, edges))
    elif d.place == SENDER and _spaced_by_themselves(d):
        back_s = np.maximum(queue_s, 0.0)
    elif d.trip_s.size:
        # Elsewhere: what a round trip has beyond the way there, which the sender's stamps show.
        whole_s = np.nan_to_num(_median_within(d.trip_end_s, d.trip_s, edges)) - base_s
        back_s = np.maximum(whole_s - queue_s, 0.0)
    index = np.clip(np.searchsorted(edges, d.sent_s[1:], side="right") - 1, 0, count - 1)
    in_flight = np.zeros(count)
    np.maximum.at(in_flight, index, gaps.in_flight)
    lost_s = d.sent_s[d.is_repeated]
    first_loss_s = float(lost_s.min()) if lost_s.size else np.inf
    late = gaps.in_flight[gaps.in_flight.size // 3 :]
    steady = float(np.percentile(late, 90)) if late.size else 0.0
    least_s = max(QUEUE_SHARE * base_s, QUEUE_S)
    is_queued = queue_s > least_s
    is_back = (back_s > max(2 * least_s, 0.01)) & (back_s > BACK_SHARE * np.maximum(queue_s, 0))
    if d.place != SENDER:
        is_back &= back_s > 2 * queue_s
    started = np.maximum.accumulate(is_queued | is_back | (in_flight >= STEADY_SHARE * steady))
    kinds = np.select(
        [is_back, is_queued, edges[1:] > first_loss_s, ~started, in_flight > STEADY_SHARE * steady],
        [QUEUED_BACK, QUEUED, AFTER_LOSS, GROWING, FLAT],
        OTHER,
    )
    return GapRounds(kinds[index], edges[:-1], queue_s, back_s, in_flight, kinds)


def _spaced_by_themselves(d: Dialogue) -> bool:
    """Whether acknowledgements come as far apart for two segments as for one.

    Then it is not the data on their way there that space them, but a line on their way back.
    """
    steps, gaps_s = np.diff(d.acknowledged), np.diff(d.came_s)
    steps = np.where(d.has_sack[1:] | d.has_sack[:-1], 0, steps)  # those repair a hole
    single = gaps_s[(steps > 0) & (steps <= d.mss_bytes)]
    double = gaps_s[(steps > d.mss_bytes) & (steps <= 2 * d.mss_bytes)]
    if single.size < LEAST_ALIKE or double.size < LEAST_ALIKE:
        return False
    return bool(np.median(double) < ALIKE_RATIO * np.median(single))


def _queue_s(d: Dialogue, edges: FloatArray, base_s: float) -> FloatArray:
    """Return how long packets waited on the way there in each round; 0 where nothing shows it."""
    if d.place == SENDER:
        queue_s = _median_within(d.trip_end_s, d.trip_s, edges) - base_s
    else:
        queue_s = _median_within(d.sent_s, d.late_s, edges)
        if np.isnan(queue_s).all():
            queue_s = _median_within(d.trip_end_s, d.trip_s, edges) - base_s
    rows = np.flatnonzero(np.isfinite(queue_s))
    if not rows.size:
        return np.zeros(edges.size - 1)
    # A round without a sample is like the one before.
    at = np.maximum.accumulate(np.where(np.isfinite(queue_s), np.arange(queue_s.size), rows[0]))
    return np.asarray(queue_s[at])


def _median_within(time_s: FloatArray, value: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the median of the values between two edges each; nan where there is none."""
    round_of = np.searchsorted(edges, time_s, side="right") - 1
    good = np.isfinite(value) & (round_of >= 0) & (round_of < edges.size - 1)
    round_of, value = round_of[good], value[good]
    value = value[np.lexsort((value, round_of))]
    count = np.bincount(round_of, minlength=edges.size - 1)
    first, has_any = np.cumsum(count) - count, count > 0
    middles = np.full(edges.size - 1, np.nan)
    low, high = first + (count - 1) // 2, first + count // 2
    middles[has_any] = (value[low[has_any]] + value[high[has_any]]) / 2
    return middles


TOUCHING_S = 1e-4
"""Intervals of one cause that are not farther apart are one. [s]"""
OPEN = ("loss", "flat", "other", "unseen")
"""Names of times whose cause depends on the whole transfer."""
CODES = (
    "handshake-loss", "handshake", "round-trips", "server-time", "sender-program", "timeout",
    "receiver-program", "receiver-window", "line", "reverse-path", "slow-start", *OPEN,
    "nagle-delayed-ack", "sender-buffer", "random-loss", "shallow-buffer", "policer", "outage",
    "shared-line", "small-segments", "delay-variation", "reordering", "duplicates", "path-mtu",
    "unknown",
)  # fmt: skip
_NUMBER = {code: number for number, code in enumerate(CODES)}
_OF_PACE = {
    QUEUED: "line", QUEUED_BACK: "reverse-path", AFTER_LOSS: "loss",
    GROWING: "slow-start", FLAT: "flat", OTHER: "other",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rows in the order of time; ``code`` is an index of ``CODES``."""

    begin_s: FloatArray
    end_s: FloatArray
    code: Ints

    def shares(self) -> dict[str, float]:
        """Return the shares of the time by cause, the largest first."""
        time_s = np.bincount(self.code, self.end_s - self.begin_s, len(CODES))
        total_s = float(time_s.sum())
        order = np.argsort(-time_s, kind="stable")
        return {CODES[n]: float(time_s[n] / total_s) for n in order.tolist() if time_s[n] > 0}

    @property
    def total_s(self) -> float:
        """Time of all intervals. [s]"""
        return float((self.end_s - self.begin_s).sum())

    def joined(self, *, apart_s: float = TOUCHING_S) -> Intervals:
        """Return the intervals with neighbours of one cause that are ``apart_s`` at most as one."""
        changes = np.ones(self.code.size, np.bool_)
        changes[1:] = self.code[1:] != self.code[:-1]
        changes[1:] |= self.begin_s[1:] > self.end_s[:-1] + apart_s
        first = np.flatnonzero(changes)
        last = np.append(first[1:], self.code.size) - 1
        return Intervals(self.begin_s[first], self.end_s[last], self.code[first])

    def of(self, code: str) -> Intervals:
        """Return the intervals of one cause."""
        own = self.code == _NUMBER[code]
        return Intervals(self.begin_s[own], self.end_s[own], self.code[own])

    def spent_s(self, edges_s: FloatArray) -> FloatArray:
        """Return the time of the intervals between neighbouring edges. [s]

        >>> two = Intervals(np.array([0.0, 4.0]), np.array([1.0, 7.0]), np.array([0, 0]))
        >>> two.spent_s(np.array([0.0, 2.0, 5.0, 9.0])).tolist()
        [1.0, 1.0, 2.0]
        """
        at_s, sums = edges_s - edges_s[0], []
        for times_s in (self.begin_s, self.end_s):  # sums of the time since all that were before
            ordered = np.sort(times_s - edges_s[0])
            count = np.searchsorted(ordered, at_s)
            sums.append(count * at_s - np.concatenate([[0.0], np.cumsum(ordered)])[count])
        spent: FloatArray = np.diff(sums[0] - sums[1])
        return spent

    def longest(self, code: str, *, apart_s: float) -> tuple[float, float]:
        """Return when the longest time of a cause began and ended; its breaks are short. [s]"""
        own = self.of(code).joined(apart_s=apart_s)
        row = int(np.argmax(own.end_s - own.begin_s))
        return float(own.begin_s[row]), float(own.end_s[row])

    def renamed(self, names: dict[str, str]) -> Intervals:
        """Return the intervals with other names for some causes."""
        table = np.array([_NUMBER[names.get(code, code)] for code in CODES])
        return Intervals(self.begin_s, self.end_s, table[self.code])


def find_intervals(
    d: Dialogue, gaps: Gaps, rounds: GapRounds, *, sender_is_client: bool, paced: Bools
) -> Intervals:
    """Return what each interval from the first packet to the last segment was waited for.

    ``paced`` are the gaps of a sender that waits for nothing but itself.
    """
    parts: list[tuple[FloatArray, FloatArray, Ints]] = []

    def add(begin: FloatArray, end: FloatArray, code: str | Ints) -> None:
        number = np.full(begin.size, _NUMBER[code]) if isinstance(code, str) else code
        chosen = end > begin
        parts.append((begin[chosen], end[chosen], number[chosen]))

    ours, theirs = "sender-program", "server-time"
    if not sender_is_client:
        ours, theirs = theirs, ours
    _add_opening(add, d, ours, theirs, sender_is_client=sender_is_client)
    begin, end = d.sent_s[1:] - gaps.waited_s, d.sent_s[1:]
    own = end - gaps.own_s
    turns = gaps.kind == TURN
    base_s = d.base_rtt_s if d.base_rtt_s > 0 else 0.0
    trip = np.minimum(begin + base_s, own)
    add(begin[turns], trip[turns], "round-trips")
    add(trip[turns], own[turns], theirs)
    add(own[turns], end[turns], ours)
    idle = gaps.kind == IDLE
    add(own[idle], end[idle], "sender-program")
    of_pace = np.array([_NUMBER[_OF_PACE[pace]] for pace in sorted(_OF_PACE)])[rounds.kind]
    add(begin[idle], own[idle], of_pace[idle])
    for kind, code in (
        (TIMER, "timeout"),
        (PROGRAM, "receiver-program"),
        (WINDOW, "receiver-window"),
        (UNSEEN, "unseen"),
        (HELD, "nagle-delayed-ack"),
    ):
        chosen = gaps.kind == kind
        add(begin[chosen], end[chosen], code)
    add(begin[paced], end[paced], "sender-program")
    rest = np.isin(gaps.kind, (CLOCKED, RECOVERY, PACED)) & ~paced
    add(begin[rest], end[rest], of_pace[rest])
    begins, ends, codes = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(begins, kind="stable")
    return Intervals(begins[order], ends[order], codes[order])


def _add_opening(
    add: Callable[[FloatArray, FloatArray, str], None],
    d: Dialogue,
    ours: str,
    theirs: str,
    *,
    sender_is_client: bool,
) -> None:
    """Add what was before the first segment: SYNs, the handshake, the first request."""
    at = np.array([d.begin_s])
    add(at, at + d.syn_wait_s, "handshake-loss")
    at = at + d.syn_wait_s
    if d.handshake_rtt_s > 0:
        add(at, at + d.handshake_rtt_s, "handshake")
    first_s = float(d.sent_s[0])
    if not (d.opened_s > 0 and first_s > d.opened_s):
        return
    opened, first = np.array([d.opened_s]), np.array([first_s])
    asked = bool(((d.their_payload > 0) & (d.came_s <= first_s + 1e-3)).any())
    if d.lost_before and d.ids is not None and first_s - d.opened_s > 0.2 and not asked:
        add(opened, first, "timeout")
    elif asked:
        trip = np.minimum(opened + (d.base_rtt_s if d.base_rtt_s > 0 else 0.0), first)
        add(opened, trip, "round-trips")
        add(trip, first, theirs if sender_is_client else ours)
    elif d.place == SENDER or d.ids is not None or first_s - d.opened_s < LEAST_TIMEOUT_S:
        add(opened, first, "sender-program")
    else:
        add(opened, first, "unseen")


EVEN_SHARE = 0.55
"""Of the time of a row no gap has more than this share: else it spans a pause. [ratio]"""
TRIP_SHARE = 0.6
"""A gap of this share of a round trip, or more, is a wait for an acknowledgement. [ratio]"""
IN_A_ROW = 4
"""Full segments in a row whose times give one estimate: fewer are blurred by the clock. [1]"""
LEAST_ESTIMATES = 8
MODE_SHARE = 0.2
"""The estimates that lie closest together, as a share of all: those of the line itself. [ratio]"""
FASTER, MOST_FASTER = 0.3, 0.3
"""Nothing passes a line faster than it is: with this share of estimates above it by this much, what
they lie around is the pace of something else. [log], [ratio]"""
NEAR, LASTING = 0.1, 0.03
"""Estimates this near, and the share of them in each third of the time. [log], [ratio]"""
CLEAR_SPREAD = 0.1
"""Estimates within this ratio of each other are those of one line. [ratio]"""


@dataclass(frozen=True, slots=True)
class LineRate:
    """Payload that the bottleneck passes, with the spread of the estimates around it. [bit/s]"""

    rate_bps: float = math.nan
    low_bps: float = math.nan
    high_bps: float = math.nan
    count: int = 0
    lasts: bool = True
    """Whether estimates around it are found in each third of the time."""

    @property
    def is_clear(self) -> bool:
        """Whether many estimates agree."""
        return self.count >= LEAST_ESTIMATES and self.high_bps / self.low_bps - 1 < CLEAR_SPREAD


def line_rate(d: Dialogue) -> LineRate:
    """Return the rate at which packets pass the bottleneck where they pass it one behind another.

    At the receiver the times of full segments in a row show it; at the sender those of the
    acknowledgements do.
    """
    time_s, rates = _of_acknowledgements(d) if d.place == SENDER else _of_segments(d)
    time_s, rates = time_s[rates > 0], rates[rates > 0]
    logs = np.sort(np.log(rates))
    while logs.size >= LEAST_ESTIMATES:
        # The fastest lie at the line or, where packets were bunched behind it, above.
        upper = logs[logs.size // 2 :]
        width = max(3, int(2 * MODE_SHARE * upper.size))
        spread = upper[width:] - upper[:-width]
        if not spread.size:
            break
        at = int(np.argmin(spread))
        low, high = upper[at], upper[at + width]
        faster = logs[logs > high + FASTER]
        alike = np.count_nonzero((logs > low - 0.03) & (logs < high + 0.03))
        if faster.size < MOST_FASTER * alike:
            middle = float(np.exp(np.median(upper[at : at + width + 1])))
            near_s = time_s[np.abs(np.log(rates / middle)) < NEAR]
            parts, _ = np.histogram(near_s, 3, (d.seen_s[0], d.seen_s[-1]))
            lasts = bool(parts.min() > LASTING * near_s.size)
            return LineRate(middle, float(np.exp(low)), float(np.exp(high)), int(logs.size), lasts)
        logs = faster  # so many faster ones passed that this is not the line
    return LineRate(count=int(rates.size))


def _of_segments(d: Dialogue) -> tuple[FloatArray, FloatArray]:
    """Return the times of full segments in a row, and the rate of each row. [s], [bit/s]"""
    if d.seen_s.size < 12:
        return np.zeros(0), np.zeros(0)
    is_full = (d.payload >= 0.98 * d.mss_bytes) & ~d.is_repeated & ~d.is_reordered & ~d.is_copied
    if d.is_gappy:  # between packets that do not follow each other others had their time
        is_full[1:] &= d.sequence[1:] == d.end[:-1]
    row = np.convolve(is_full, np.ones(IN_A_ROW + 1), "valid") == IN_A_ROW + 1
    apart_s = np.maximum(d.seen_s[IN_A_ROW:] - d.seen_s[:-IN_A_ROW], 1e-5)
    size = np.convolve(d.payload[1:], np.ones(IN_A_ROW), "valid")
    chosen = row & _are_even(d, d.seen_s)
    return d.seen_s[IN_A_ROW:][chosen], np.asarray((8.0 * size / apart_s)[chosen])


def _are_even(d: Dialogue, time_s: FloatArray) -> Bools:
    """Return the rows of packets without a pause in them.

    A gap of most of a round trip is the wait for an acknowledgement: in front of a line the next
    packet waits already.
    """
    gaps_s = np.diff(time_s)
    rows = np.lib.stride_tricks.sliding_window_view(gaps_s, IN_A_ROW)
    longest_s = rows.max(axis=1)
    even: Bools = longest_s <= EVEN_SHARE * np.maximum(rows.sum(axis=1), 1e-5)
    if d.trip_s.size:
        even &= longest_s < TRIP_SHARE * float(np.median(d.trip_s))
    return even


def _of_acknowledgements(d: Dialogue) -> tuple[FloatArray, FloatArray]:
    """Return the times of acknowledgements in a row, and the rate of each row. [s], [bit/s]"""
    advances = np.flatnonzero(np.diff(d.acknowledged, prepend=d.acknowledged[:1]) > 0)
    # While a hole is repaired an acknowledgement advances by what had come long before.
    holed = d.has_sack[advances]
    repairs = (
        np.convolve(holed, np.ones(IN_A_ROW + 1), "valid") > 0 if holed.size > IN_A_ROW else holed
    )
    ack, came_s = d.acknowledged[advances], d.came_s[advances]
    if ack.size < 12:
        return np.zeros(0), np.zeros(0)
    steps = np.diff(ack, prepend=ack[:1])
    rates = (
        8.0
        * (ack[IN_A_ROW:] - ack[:-IN_A_ROW])
        / np.maximum(came_s[IN_A_ROW:] - came_s[:-IN_A_ROW], 1e-5)
    )
    # An acknowledgement of many segments ended a hole: it does not show how they came.
    jumps = np.convolve(steps > 3.2 * d.mss_bytes, np.ones(IN_A_ROW), "valid")[1:]
    steady = (jumps[: rates.size] == 0) & _are_even(d, came_s) & ~repairs[: rates.size]
    return came_s[IN_A_ROW:][steady], np.asarray(rates[steady])
