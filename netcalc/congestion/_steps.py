"""The course of many scenarios in steps of a few round trips, each scenario at its own pace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion import _bbr, _windows
from netcalc.congestion._state import GOLDEN, BoolArray, State, spacing

CALM_ROUNDS = 4.0
"""Round trips in a step while nothing but growth happens."""

BURST = 2.0
"""Packets that a flow clocked by ACKs sends at once: it finds the buffer full more often."""

OWN_SHARE = 0.5
"""Share of the drops at a full buffer that falls on the flow whose window grows."""

Meter: TypeAlias = Callable[[State, FloatArray, FloatArray, FloatArray, FloatArray], None]
"""Called for each step with its state, length, packets in flight, round-trip time and packets
delivered."""


def run(state: State, meter: Meter) -> None:
    """Advance all scenarios to their ends."""
    with np.errstate(all="ignore"):
        if not state.is_paced:
            _windows.begin(state)
        if state.is_bbr is not None:
            _bbr.begin(state)
        while np.count_nonzero(state.time < state.end):
            _step(state, meter)


def _step(state: State, meter: Meter) -> None:
    time, bbr = state.time, state.is_bbr
    active = (state.start <= time) & (time < state.stop)
    clocked = active if bbr is None else state.none if state.is_paced else active & ~bbr
    repaired = clocked if state.is_paced else clocked & (time >= state.grow_from - 1e-9)
    if np.count_nonzero(state.repairing):
        settled = state.repairing & repaired
        state.window = np.where(settled, state.threshold, state.window)
        state.repairing &= ~settled
    windows = np.where(active, state.window, 0.0)
    total = np.add.reduce(windows, axis=1, keepdims=True)
    filled = np.maximum(total, state.pipe)
    queue = np.minimum(filled, state.capacity) - state.pipe
    rtt = state.base_s + queue / state.rate
    delivery = windows * (state.rate / filled)
    growing = repaired
    if state.is_paced:
        speed, slow = 0.0 * delivery, state.none
    else:
        speed, slow = _windows.growth(state, delivery, rtt, queue, growing, active)
    full = total >= state.capacity - 1e-6
    brisk = slow | (clocked & ~growing) if slow.shape[1] > 2 else slow  # some flow often repairs
    hasty = full
    if np.count_nonzero(brisk):
        hasty = full | np.logical_or.reduce(brisk, axis=1, keepdims=True)
    if bbr is not None:
        paced = active & bbr
        _bbr.turn(state, paced, delivery, rtt)
    dt = _length(state, active, delivery, rtt, speed, slow, hasty, full, total)
    grown = state.window + speed * dt
    if bbr is not None:
        grown = _bbr.advance(state, paced, grown, delivery + speed, rtt, total, dt)
    if not state.is_paced:
        _windows.after_growth(state, dt, rtt, growing)
    if bbr is None:
        delivered = delivery * dt
    else:  # long steps in which the pipe fills or empties: their means
        halfway = np.where(active, (windows + grown) / 2, 0.0)
        total = np.add.reduce(halfway, axis=1, keepdims=True)
        delivered = halfway * (state.rate * dt / np.maximum(total, state.pipe))
    if state.is_sized:
        delivered = np.minimum(delivered, state.size - state.delivered)
    state.delivered += delivered
    meter(state, dt, total, rtt, delivered)
    state.time = time + dt
    if bbr is None:
        lost = _overflow(state, active, full, windows, grown)
    else:
        lost = _overflow_beside_bbr(state, active, clocked, grown, rtt)
    overflowed = lost
    if state.is_lossy:
        lost = lost | _random(state, clocked, delivered, rtt)
    if state.dctcp is not None:
        _windows.mark(state, state.dctcp, dt, rtt, queue)
    if np.count_nonzero(lost):
        alone = active.sum(axis=1, keepdims=True) == 1
        _windows.fall(state, lost, overflowed, alone, rtt)
    if state.is_sized:
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
    dt = rtt * np.where(hasty, 1.0, CALM_ROUNDS)
    if state.is_bbr is not None:
        dt = np.minimum(dt, _bbr.longest_s(state, active & state.is_bbr))
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
        later = np.minimum(later, _next(state.grow_from, time))
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
    alone = active.sum(axis=1, keepdims=True) == 1
    lost = np.where(
        alone, np.floor(grown) > np.floor(windows), state.dice % 1.0 > np.exp(-expected)
    )
    lost &= active & full
    state.dice = np.where(full & active, state.dice + GOLDEN, state.dice)
    dropped = np.maximum(own, 1.0)
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
        repairing &= ~_bbr.lose_in_startup(state, repairing)
    kept = np.maximum(grown * _bbr.REPAIR_SHARE, np.minimum(_bbr.product(state), grown))
    after = np.where(clocked, grown, np.maximum(grown - share, _bbr.LEAST_WINDOW))
    after = np.where(repairing, np.minimum(kept, after), after)
    state.grow_from = np.where(repairing, state.time + _bbr.REPAIR_ROUNDS * rtt, state.grow_from)
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
