"""The course of many scenarios in steps of a few round trips, each scenario at its own pace.

Windows of Reno, CUBIC, Vegas and DCTCP grow from step to step and fall at a loss; windows of BBR
are in :mod:`netcalc.congestion._stacks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion import _stacks
from netcalc.congestion._stacks import GOLDEN, BoolArray, Stack, State, spacing
from netcalc.models.tcp.cubic import CUBIC_DECREASE, CUBIC_SCALE
from netcalc.models.tcp.slow_start import INITIAL_WINDOW_SEGMENTS

FRIENDLY_INCREASE = 3 * (1 - CUBIC_DECREASE) / (1 + CUBIC_DECREASE)
"""Growth per round trip of the Reno window that CUBIC does not fall below (RFC 9438). [packet]"""

LOW_WINDOW = 16.0
"""Window below which CUBIC does not look for the end of slow start. [packet]"""

SAMPLES = 8.0
"""Packets of a round trip whose least delay HyStart compares. [packet]"""

TRAIN_SPACING_S = 0.002
"""Largest gap between ACKs of one train. [s]"""

SLOW_START_ROUNDS = 60
"""Doublings after which no buffer is left that was not full. [1]"""

LEAST_GROWTH = 0.01
"""Growth of CUBIC per round trip where its curve is below its window. [packet]"""

UNKNOWN_GROWTH = 1 / 20
"""Least relative growth of CUBIC per round trip before its first loss."""

VEGAS_ALPHA, VEGAS_BETA, VEGAS_GAMMA = 2.0, 4.0, 1.0
"""Packets in the queue: Vegas grows below the first, shrinks above the second, and leaves slow
start above the third. [packet]"""

DCTCP_GAIN = 1 / 16
"""Weight of a round trip in DCTCP's mean of marks (RFC 8257)."""

LEAST_REPAIRED = 5.0
"""Window below which a loss is not noticed by three later packets, but by a timeout. [packet]"""

LEAST_TIMEOUT_S = 0.2
"""Retransmission timeout beyond a round trip, at least. [s]"""

IDLE = 0.0
"""Packets in flight while a flow waits for a timeout. [packet]"""

# The numbers below are read off runs of ns-3.44 (TcpLinuxReno and TcpCubic, started as in ns3.py),
# chosen on 24 November 2026: one flow over 96 buffers and round-trip times for the thresholds and
# RENO_TWICE; one flow at eleven links, and two to eight flows, for what is lost in addition. These
# runs are not kept: tests/benchmarks/congestion.py simulates its set "tuned" again, with theory
# beside it; docs/congestion.md has what came out. Why ns-3 has the two thresholds is not known.
DOUBLE_REDUCTION_BELOW = 72.0
"""Window of Reno below which ns-3 reduces a second time. [packet]"""

CUBIC_TWICE_BELOW = 400.0
"""Window of CUBIC below which ns-3 reduces a second time. [packet]"""

RENO_TWICE = 0.33
"""What two reductions leave of Reno's window in ns-3: less than a quarter is not yet regrown."""

RENO_REPEATED, CUBIC_REPEATED, CUBIC_REPEATED_BESIDE = 1.0, 9.0, 5.0
"""Packets that a flow loses in ns-3 beyond the first, while that loss is repaired; of CUBIC alone,
and beside others. At a full buffer Reno alone loses 2 packets, and CUBIC 9 to 11. [packet]"""


def begin_windows(state: State) -> None:
    """Set what the first slow start of each flow loses if alone, and where HyStart ends it."""
    stack, rate = state.stack, state.rate
    pipe = state.base_s * rate
    room = np.broadcast_to(state.capacity - state.pipe, pipe.shape)
    never = np.full(pipe.shape, np.inf)
    drops, _ = overshoot(pipe, room, never, never)
    state.overshoot = np.maximum(drops, 1.0) * state.overshoot
    if state.cubic is not None:
        train = np.where(_is_train(stack, rate), stack.train_share * pipe, np.inf)
        drops, window = overshoot(pipe, room, train, _delay_limit_s(stack, state.base_s) * rate)
        state.overshoot = np.where(state.cubic, np.maximum(drops, 1.0), state.overshoot)
        state.hystart_window = np.where(state.cubic, window, np.inf)


def overshoot(
    pipe: FloatArray, room: FloatArray, train: FloatArray, seen: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Return what a slow start of one flow alone loses, and the window at which HyStart ends it.

    Each packet that is acknowledged lets two leave, so that within a round trip the queue rises by
    one packet for each ACK: a window overflows a buffer of half its size before the pipe is full.
    A loss is noticed a round trip later, by the ACKs of the packets behind it; what was sent
    meanwhile beyond the rate of the link is lost as well. The initial window leaves at once: what
    the buffer and the line do not hold is lost.

    In a round trip that begins with the window :math:`W` and the queue
    :math:`q = \max(W - P, 0)`, the queue is full after :math:`t = B - q` ACKs. Of the
    further packets of this round trip :math:`W - t` are lost; in the next one, which begins with
    the queue :math:`q' = \min(\max(W + t - P, 0), B)`, the :math:`2t` packets before the first
    loss are acknowledged, and :math:`2t - (B - q')` are lost until it is noticed.

    Parameters
    ----------
    pipe, room : numpy.ndarray
        Packets that the pipe holds, :math:`P`, and the buffer, :math:`B`. [packet]
    train : numpy.ndarray
        ACKs in a round trip, as a train, at which HyStart ends slow start, inf without it. [packet]
    seen : numpy.ndarray
        Queue at which HyStart ends it in the round trip after, inf without it. [packet]

    Returns
    -------
    drops, window : numpy.ndarray
        Lost packets; the window at which HyStart ends slow start, inf if a loss does. [packet]

    Notes
    -----
    HyStart compares the least delay of the first packets of a round trip, which met the queue at
    the begin of the round trip before. All arrays have one shape.

    Examples
    --------
    >>> pipe, never = np.array([34.3]), np.array([np.inf])
    >>> [round(float(overshoot(pipe, np.array([room]), never, never)[0][0]), 1)
    ...  for room in (8.0, 16.0, 33.0)]
    [1.0, 21.7, 67.3]
    """
    drops = np.maximum(INITIAL_WINDOW_SEGMENTS - (room + 1.0), 0.0)
    left = np.full(pipe.shape, np.inf)
    going = drops == 0
    window = np.full(pipe.shape, float(INITIAL_WINDOW_SEGMENTS))
    before = np.zeros(pipe.shape)
    for _ in range(SLOW_START_ROUNDS):
        if not np.count_nonzero(going):
            break
        queue = np.clip(window - pipe, 0.0, room)
        end = _ended_after(window, before, train, seen)
        to_full = room - queue
        ended = going & (end <= np.minimum(to_full, window))
        left = np.where(ended, np.maximum(window + end, LOW_WINDOW), left)
        going = going & ~ended
        full = going & (to_full < window)
        lost = np.minimum(window, end) - to_full
        queue_after = np.clip(window + to_full - pipe, 0.0, room)
        end_after = _ended_after(2.0 * window, queue, train, seen)
        noticed = np.minimum(2.0 * to_full, end_after)
        later = np.where(end < window, 0.0, np.maximum(noticed - (room - queue_after), 0.0))
        drops = np.where(full, np.maximum(lost + later, 1.0), drops)
        going = going & ~full
        window, before = np.where(going, 2.0 * window, window), queue
    return drops, left


def _ended_after(
    window: FloatArray, queue_before: FloatArray, train_at: FloatArray, seen: FloatArray
) -> FloatArray:
    """Return after how many ACKs of a round trip HyStart ends slow start, inf if it does not."""
    train = np.where(train_at <= window, train_at, np.inf)
    train = np.maximum(train, LOW_WINDOW - window)
    delay = np.where(queue_before > seen, SAMPLES, np.inf)
    return np.asarray(np.minimum(train, delay))


def _is_train(stack: Stack, rate: FloatArray) -> BoolArray:
    """Return where ACKs follow each other so closely that HyStart takes them for a train."""
    return np.asarray(stack.ack_packets / rate <= TRAIN_SPACING_S)


def _delay_limit_s(stack: Stack, base_s: FloatArray) -> FloatArray:
    """Return the increase of the round-trip time at which HyStart ends slow start. [s]"""
    limit = np.clip(stack.delay_share * base_s, stack.least_delay_s, stack.most_delay_s)
    return np.asarray(limit)


def window_growth(
    state: State, delivery: FloatArray, rtt: FloatArray, queue: FloatArray, growing: BoolArray,
    active: BoolArray,
) -> tuple[FloatArray, BoolArray]:  # fmt: skip
    """Return how fast windows grow, and which flows are in slow start. [packet/s]"""
    slow = growing & (state.window < state.threshold)
    per_round: FloatArray | float = 1.0
    cubic = state.cubic
    if cubic is not None:
        slow &= ~_leave_slow_start(state, queue, slow & cubic, active)
        per_round = np.where(cubic, _cubic_per_round(state, rtt, growing & ~slow & cubic), 1.0)
    vegas = state.vegas
    if vegas is not None:
        excess = _vegas_excess(state, queue)
        leave = slow & vegas & (excess > VEGAS_GAMMA)
        state.threshold = np.where(leave, state.window, state.threshold)
        slow &= ~leave
        step = np.where(excess < VEGAS_ALPHA, 1.0, np.where(excess > VEGAS_BETA, -1.0, 0.0))
        per_round = np.where(vegas, step, per_round)
    speed = per_round / rtt
    if np.count_nonzero(slow):
        speed = np.where(slow, delivery, speed)
    return np.where(growing, speed, 0.0), slow


def _leave_slow_start(
    state: State, queue: FloatArray, candidates: BoolArray, active: BoolArray
) -> BoolArray:
    """Return which flows end slow start by delay or by the length of their ACK train (HyStart)."""
    if not np.count_nonzero(candidates):
        return candidates
    stack = state.stack
    leaving = queue / state.rate > _delay_limit_s(stack, state.base_s)
    leaving = leaving | (
        _is_train(stack, state.rate)
        & (state.window >= stack.train_share * (state.base_s * state.rate))
    )
    alone = active.sum(axis=1, keepdims=True) == 1
    leaving = np.where(alone, state.window >= state.hystart_window - 1e-6, leaving)
    leaving = leaving & candidates & (state.window >= LOW_WINDOW)
    state.threshold = np.where(leaving, state.window, state.threshold)
    return np.asarray(leaving)


def _cubic_per_round(state: State, rtt: FloatArray, growing: BoolArray) -> FloatArray:
    """Return the growth of CUBIC per round trip; a new epoch begins with the first growth."""
    fresh = growing & np.isnan(state.epoch)
    if np.count_nonzero(fresh):
        window = state.window
        state.epoch = np.where(fresh, state.time, state.epoch)
        gap = np.maximum(state.plateau - window, 0.0)
        state.inflection = np.where(fresh, np.cbrt(gap / CUBIC_SCALE), state.inflection)
        state.origin = np.where(fresh, np.maximum(state.plateau, window), state.origin)
        state.friendly = np.where(fresh, window, state.friendly)
    offset = state.time - state.epoch + state.base_s - state.inflection
    target = state.origin + CUBIC_SCALE * offset * offset * offset
    gap = np.maximum(target, state.friendly) - state.window
    growth = np.minimum(np.maximum(gap, LEAST_GROWTH), state.window / 2)
    if np.count_nonzero(state.plateau) == state.plateau.size:
        return growth
    unknown = state.plateau == 0
    return np.where(unknown, np.maximum(growth, state.window * UNKNOWN_GROWTH), growth)


def _vegas_excess(state: State, queue: FloatArray) -> FloatArray:
    """Return the packets that Vegas believes to be queued.

    With an ACK for two packets the ns-3 stack times one packet more: from about 35 packets on it
    believes in a queue before there is one, and leaves a part of the link idle.
    """
    late, pipe = state.stack.late_packets, state.base_s * state.rate
    seen = (pipe + queue + late) / (pipe - late)
    return np.ceil(state.window * (1.0 - 1.0 / seen))


def advance_friendly_window(
    state: State, dt: FloatArray, rtt: FloatArray, growing: BoolArray
) -> None:
    """Advance the Reno window that CUBIC does not fall below."""
    if state.cubic is None:
        return
    state.friendly = state.friendly + growing * (FRIENDLY_INCREASE * dt / rtt)


def count_marks(
    state: State, dctcp: BoolArray, dt: FloatArray, rtt: FloatArray, queue: FloatArray
) -> None:
    """Let DCTCP count its marks, and reduce once per round trip while the queue is marked."""
    marks = queue > state.marking
    weight = 1.0 - (1.0 - DCTCP_GAIN) ** (dt / rtt)
    state.marked = np.where(dctcp, state.marked + weight * (marks - state.marked), state.marked)
    cut = dctcp & marks & (state.time >= state.grow_from)
    state.threshold = np.where(cut, 0.0, state.threshold)
    fewer = np.maximum(state.window * (1.0 - state.marked / 2), 2.0)
    if state.stack.least_dctcp:
        fewer = np.minimum(state.window, _stacks.LEAST_WINDOW)
    state.window = np.where(cut, fewer, state.window)
    state.grow_from = np.where(cut, state.time + rtt, state.grow_from)


def reduce_windows(
    state: State, lost: BoolArray, overflowed: BoolArray, alone: BoolArray, rtt: FloatArray
) -> None:
    """Reduce the windows of the flows that lost a packet.

    The window falls evenly during the repair, a round trip for each reduction: meanwhile it counts
    with its mean. ``alone`` says in which scenarios there is only one flow.
    """
    window = state.window
    slow = window < state.threshold
    kept = np.minimum(
        window * 0.5 + state.stack.repair_packets, np.where(slow, state.capacity, np.inf)
    )
    twice = overflowed & ~slow & state.stack.second_reduction
    cubic = state.cubic
    reno_twice = twice & alone & (window < DOUBLE_REDUCTION_BELOW)
    kept = np.where(reno_twice, window * RENO_TWICE, kept)
    repeated = np.where(twice & (window < DOUBLE_REDUCTION_BELOW), RENO_REPEATED, 0.0)
    if cubic is not None:
        plateau = np.where(window < state.plateau, window * (1 + CUBIC_DECREASE) / 2, window)
        reduced = np.minimum(window * CUBIC_DECREASE, np.where(slow, state.capacity, np.inf))
        again = np.minimum(plateau, reduced * (1 + CUBIC_DECREASE) / 2)
        twice = twice & (window < CUBIC_TWICE_BELOW)
        losses = np.where(alone, CUBIC_REPEATED, CUBIC_REPEATED_BESIDE)
        repeated = np.where(cubic, np.where(twice, losses, 0.0), repeated)
        plateau = np.where(twice, again, plateau)
        reduced = np.where(twice, reduced * CUBIC_DECREASE, reduced)
        kept = np.where(cubic, reduced, kept)
        state.plateau = np.where(lost & cubic, plateau, state.plateau)
        state.epoch = np.where(lost, np.nan, state.epoch)
    if state.stack.second_reduction:
        repeats = np.add.reduce(np.where(lost, repeated, 0.0), axis=1, keepdims=True)
        state.repeated = state.repeated + repeats
        state.drops = state.drops + repeats
    kept = np.maximum(kept, 2.0)
    timeout = lost & (window < LEAST_REPAIRED)
    if cubic is not None and state.stack.second_reduction:
        overshot = overflowed & slow & alone & cubic
        timeout |= overshot & (state.size - state.delivered > 2 * window)
    state.threshold = np.where(lost, kept, state.threshold)
    again_lost = lost & state.repairing
    during = np.where(timeout, IDLE, np.where(again_lost, kept, (window + kept) / 2))
    state.window = np.where(lost, during, window)
    state.repairing |= lost
    rounds = np.where(reno_twice if cubic is None else reno_twice | (twice & cubic), 2.0, 1.0)
    pause = np.where(timeout, LEAST_TIMEOUT_S + rtt, rounds * rtt)
    state.grow_from = np.where(lost, state.time + pause, state.grow_from)


QUEUE_ROUNDS = 4
"""Approximations of the queue of flows with round trips of their own, from the last one. [1]"""

TOGETHER = 0.1
"""Part of the shortest round trip within which repairs of several flows end together."""

CALM_ROUNDS = 4.0
"""Round trips in a step while nothing but growth happens."""

BURST = 2.0
"""Packets that a flow clocked by ACKs sends at once: it finds the buffer full more often."""

CLUSTER = 2.3
"""Packets that a flow loses at once where round trips differ: 2.0 to 2.6 in a simulation of 10 to
100 flows of Reno packet by packet. With one round trip each flow loses what itself has added."""

OWN_SHARE = 0.5
"""Share of the drops at a full buffer that falls on the flow whose window grows."""

Meter: TypeAlias = Callable[[State, FloatArray, FloatArray, FloatArray, FloatArray], None]
"""Called for each step with its state, length, packets in flight, round-trip time, of flows with
some of their own those that run, and packets delivered."""


def run(state: State, meter: Meter) -> None:
    """Advance all scenarios to their ends."""
    with np.errstate(all="ignore"):
        if not state.is_paced:
            begin_windows(state)
        if state.is_bbr is not None:
            _stacks.begin_bbr(state)
        while np.count_nonzero(state.time < state.end):
            _step(state, meter)


def _step(state: State, meter: Meter) -> None:
    """Advance all scenarios by one step: fill the pipe, choose its length, move, then lose."""
    time, bbr = state.time, state.is_bbr
    active = (state.start <= time) & (time < state.stop)
    clocked = active if bbr is None else state.none if state.is_paced else active & ~bbr
    repaired = clocked if state.is_paced else clocked & (time >= state.grow_from - 1e-9)
    if np.count_nonzero(state.repairing):
        _settle_repaired(state, repaired)
    windows = np.where(active, state.window, 0.0)
    total = np.add.reduce(windows, axis=1, keepdims=True)
    if state.is_spread:
        _fill_pipe(state, windows, total)
    filled = np.maximum(total, state.pipe)
    queue = np.minimum(filled, state.capacity) - state.pipe
    rtt = state.base_s + queue / state.rate
    delivery = _sent(state, windows, rtt) if state.is_spread else windows * (state.rate / filled)
    growing = repaired
    if state.is_paced:
        speed, slow = 0.0 * delivery, state.none
    else:
        speed, slow = window_growth(state, delivery, rtt, queue, growing, active)
    full = total >= state.capacity - 1e-6
    brisk = slow | (clocked & ~growing) if slow.shape[1] > 2 else slow  # some flow often repairs
    hasty = full
    if np.count_nonzero(brisk):
        hasty = full | np.logical_or.reduce(brisk, axis=1, keepdims=True)
    if bbr is not None:
        paced = active & bbr
        _stacks.turn(state, paced, delivery, rtt)
    dt = _length(state, active, delivery, rtt, speed, slow, hasty, full, total)
    grown = state.window + speed * dt
    if bbr is not None:
        grown = _stacks.advance(state, paced, grown, delivery + speed, rtt, total, dt)
    if state.is_limited:
        grown = np.minimum(grown, state.largest)
    if not state.is_paced:
        advance_friendly_window(state, dt, rtt, growing)
    if bbr is None:
        delivered = delivery * dt
    else:  # long steps in which the pipe fills or empties: their means
        halfway = np.where(active, (windows + grown) / 2, 0.0)
        total = np.add.reduce(halfway, axis=1, keepdims=True)
        if state.is_spread:
            delivered = _sent(state, halfway, rtt) * dt
        else:
            delivered = halfway * (state.rate * dt / np.maximum(total, state.pipe))
    if state.is_sized:
        delivered = np.minimum(delivered, state.size - state.delivered)
    state.delivered += delivered
    meter(state, dt, total, np.where(active, rtt, np.nan) if state.is_spread else rtt, delivered)
    state.time = time + dt
    if bbr is None:
        lost = _overflow(state, active, full, windows, grown)
    else:
        lost = _overflow_beside_bbr(state, active, clocked, grown, rtt)
    overflowed = lost
    if state.is_lossy:
        lost = lost | _random(state, clocked, delivered, rtt)
    if state.dctcp is not None:
        count_marks(state, state.dctcp, dt, rtt, queue)
    if np.count_nonzero(lost):
        alone = active.sum(axis=1, keepdims=True) == 1
        reduce_windows(state, lost, overflowed, alone, rtt)
    if state.is_sized:
        _end_sized(state, active)


def _fill_pipe(state: State, windows: FloatArray, total: FloatArray) -> None:
    """Set what the line holds of flows with round trips of their own: their mean by what they send.

    The queue is the one behind which all windows together are sent at the rate of the link.
    """
    room = state.capacity - state.pipe
    queue = np.maximum(total - state.pipe, 0.0)
    for _ in range(QUEUE_ROUNDS):
        wait = state.base_s + queue / state.rate
        sent = windows / wait
        slope = np.add.reduce(sent / wait, axis=1, keepdims=True) / state.rate
        excess = np.add.reduce(sent, axis=1, keepdims=True) - state.rate
        queue = np.maximum(queue + excess / np.maximum(slope, 1e-9), 0.0)
    sent = windows / (state.base_s + np.minimum(queue, room) / state.rate)
    all_sent = np.add.reduce(sent, axis=1, keepdims=True)
    base_s = np.add.reduce(sent * state.base_s, axis=1, keepdims=True) / np.maximum(all_sent, 1e-9)
    state.pipe = np.where(all_sent > 0, state.rate * base_s, state.pipe)
    state.capacity = state.pipe + room


def _sent(state: State, windows: FloatArray, rtt: FloatArray) -> FloatArray:
    """Return what flows with round trips of their own send, no more than the link. [packet/s]"""
    sent = windows / rtt
    all_sent = np.add.reduce(sent, axis=1, keepdims=True)
    return np.asarray(sent * np.minimum(state.rate / np.maximum(all_sent, 1e-9), 1.0))


def _settle_repaired(state: State, repaired: BoolArray) -> None:
    """Give flows that have repaired their losses the window of their threshold."""
    settled = state.repairing & repaired
    state.window = np.where(settled, state.threshold, state.window)
    state.repairing &= ~settled


def _end_sized(state: State, active: BoolArray) -> None:
    """End the flows whose last byte is delivered; it arrives half a round trip later."""
    done = active & (state.delivered >= state.size - 1e-9)
    state.finish = np.where(done, state.time + state.base_s / 2, state.finish)
    state.stop = np.where(done, state.time, state.stop)


def _length(
    state: State,
    active: BoolArray,
    delivery: FloatArray,
    rtt: FloatArray,
    speed: FloatArray,
    slow: BoolArray,
    hasty: BoolArray,
    full: BoolArray,
    total: FloatArray,
) -> FloatArray:
    """Return how long the step is: to the next event, at most the rounds that its flows allow."""
    time = state.time
    if state.is_spread:  # the shortest of those that run
        shortest = np.where(active, rtt, np.inf).min(axis=1, keepdims=True)
        rtt = np.minimum(shortest, rtt.max(axis=1, keepdims=True))
    dt = rtt * np.where(hasty, 1.0, CALM_ROUNDS)
    if state.is_bbr is not None:
        dt = np.minimum(dt, _stacks.longest_s(state, active & state.is_bbr))
    if not state.is_paced:
        rise = np.add.reduce(speed, axis=1, keepdims=True)
        to_full = np.where(full | (rise <= 0), np.inf, (state.capacity - total) / rise)
        dt = np.minimum(dt, np.maximum(to_full, 0.1 * rtt))
        if state.cubic is not None and np.count_nonzero(slow):
            left = np.where(slow, state.hystart_window - state.window, 0.0)
            to_exit = np.where(left > 1e-6, left / speed, np.inf)
            dt = np.minimum(dt, np.minimum.reduce(to_exit, axis=1, keepdims=True))
    later = _next(state.events, time)
    if state.dctcp is not None or np.count_nonzero(state.grow_from > time):
        resumed = _next(state.grow_from, time)
        if state.is_spread:  # flows whose repairs end one after the other
            resumed = np.maximum(resumed, time + TOGETHER * rtt)
        later = np.minimum(later, resumed)
    if state.is_lossy:
        later = np.minimum(later, _next(state.due, time))
    if state.is_lossy or state.is_sized:
        left = np.minimum(
            state.size - state.delivered, np.maximum(state.next_loss, delivery * rtt / 4)
        )
        to_end = np.where(active, left / np.maximum(delivery, 1e-9), np.inf)
        dt = np.minimum(dt, to_end.min(axis=1, keepdims=True))
    dt = np.minimum(dt, later - time)
    left_s: FloatArray = np.maximum(np.minimum(dt, state.end - time), 0.0)
    return left_s


def _next(times: FloatArray, now: FloatArray) -> FloatArray:
    """Return the earliest of some times that are still to come."""
    coming = np.where(times > now + 1e-9, times, np.inf)
    return np.asarray(np.minimum.reduce(coming, axis=1, keepdims=True))


def _overflow(
    state: State, active: BoolArray, full: BoolArray, windows: FloatArray, grown: FloatArray
) -> BoolArray:
    """Put the new windows in place without what the full buffer dropped; return who lost.

    A flow clocked by its ACKs adds to a full queue what its window grows by. Half of that is its
    own loss, half falls on any packet that arrives. A flow alone loses when it has grown by one;
    its first slow start loses what :func:`_windows.overshoot` counts.
    """
    state.window = np.where(active, grown, state.window)
    if not np.count_nonzero(full):
        return state.none
    own = np.where(active & full, np.maximum(grown - windows, 0.0), 0.0)
    excess = own.sum(axis=1, keepdims=True)
    share = windows / np.maximum(windows.sum(axis=1, keepdims=True), 1e-9)
    expected = OWN_SHARE * own + (1 - OWN_SHARE) * excess * share
    if state.is_spread:  # packets of one flow meet the full buffer together, and of others not
        expected = excess * share / CLUSTER
    alone = active.sum(axis=1, keepdims=True) == 1
    lost = np.where(
        alone, np.floor(grown) > np.floor(windows), state.dice % 1.0 > np.exp(-expected)
    )
    lost &= active & full
    state.dice = np.where(full & active, state.dice + GOLDEN, state.dice)
    dropped = np.maximum(own, CLUSTER if state.is_spread else 1.0)
    if not state.stack.second_reduction:  # whole packets that it grows by until it notices the loss
        dropped = np.where(alone, 1.0 + np.floor(own + 1e-6), dropped)
    first = alone & np.isinf(state.threshold)
    dropped = np.where(first, state.overshoot, dropped)
    state.drops += np.where(lost, dropped, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(lost)


def _overflow_beside_bbr(
    state: State, active: BoolArray, clocked: BoolArray, grown: FloatArray, rtt: FloatArray
) -> BoolArray:
    """Do as :func:`_overflow` beside flows that are paced: all lose by their share of arrivals.

    A paced flow ignores a loss but for its repair, in which it sends less than it is delivered.
    """
    present = np.where(active, grown, 0.0)
    total = np.add.reduce(present, axis=1, keepdims=True)
    excess = np.maximum(total - state.capacity, 0.0)
    if not np.count_nonzero(excess):
        state.window = np.where(active, grown, state.window)
        return state.none
    share = excess * present / np.maximum(total, 1e-9)
    state.credit = np.where(active, state.credit + np.where(clocked, BURST * share, share), 0.0)
    lost = active & (state.credit >= 1.0)
    state.credit = np.where(lost, 0.0, state.credit)
    repairing = lost & ~clocked & (state.time >= state.grow_from)
    if np.count_nonzero(repairing):
        repairing &= ~_stacks.lose_in_startup(state, repairing)
    kept = np.maximum(grown * _stacks.REPAIR_SHARE, np.minimum(_stacks.product(state), grown))
    after = np.where(clocked, grown, np.maximum(grown - share, _stacks.LEAST_WINDOW))
    after = np.where(repairing, np.minimum(kept, after), after)
    state.grow_from = np.where(repairing, state.time + _stacks.REPAIR_ROUNDS * rtt, state.grow_from)
    state.window = np.where(active, after, state.window)
    state.drops += share.sum(axis=1, keepdims=True)
    return np.asarray(lost & clocked)


def _random(state: State, active: BoolArray, delivered: FloatArray, rtt: FloatArray) -> BoolArray:
    """Return who notices now a packet that was lost at random a round trip ago."""
    state.next_loss = state.next_loss - delivered
    lost = active & (state.next_loss <= 0)
    state.losses = np.where(lost, state.losses + GOLDEN, state.losses)
    state.next_loss = np.where(lost, spacing(state.loss, state.losses), state.next_loss)
    noticed = active & (state.due <= state.time + 1e-9)
    state.due = np.where(noticed, np.inf, state.due)
    state.due = np.where(lost & np.isinf(state.due), state.time + rtt, state.due)
    return noticed
