"""BBR version 1: a model of the path from its largest delivery rate and its least round trip."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion._state import GOLDEN, BoolArray, Stack, State
from netcalc.models.tcp.bbr import (
    PROBE_CYCLE,
    PROBE_RTT_INTERVAL_S,
    PROBE_RTT_S,
    STARTUP_GAIN,
    WINDOW_GAIN,
)

STARTUP, DRAIN, RAISE, LOWER, CRUISE, PROBE_RTT = range(6)
"""The modes; the third to the fifth are the phases of the cycle in which the rate is probed."""

CRUISE_PHASES = len(PROBE_CYCLE) - 2
"""Phases of the cycle with a gain of one: nothing changes between them."""

_GAIN = np.array([STARTUP_GAIN, 1 / STARTUP_GAIN, *PROBE_CYCLE[:3], 1.0])
_WINDOW_GAIN = np.array([STARTUP_GAIN, STARTUP_GAIN, *[WINDOW_GAIN] * 4])
_PHASES = np.array([np.inf, np.inf, 1.0, 1.0, CRUISE_PHASES, np.inf])
"""Of each mode: gain of the rate, gain of the window, and how many round trips it lasts."""

STEP_SHARE = 0.5
"""Longest step: part of the phase, or of a round trip without load in other modes."""

LEAST_WINDOW = 4.0
"""Window while the round-trip time is probed. [packet]"""

QUANTA = 3.0
"""Quanta above the estimated product that the window may hold, for late ACKs."""

QUANTUM_S = 2.0**-10
"""What is paced in this time leaves Linux as one quantum (sk_pacing_shift). [s]"""

PACING = 0.99
"""Share of the estimated rate at which packets are paced, so that a standing queue drains."""

FULL_GROWTH, FULL_ROUNDS = 1.25, 3.0
"""Start-up ends after so many round trips without so much growth of the rate."""

REPAIR_SHARE = 0.7
"""Share of its window that a flow keeps in flight while it repairs a loss."""

REPAIR_ROUNDS = 4.0
"""Round trips in which further losses belong to the same repair."""

ACK_PACKETS = 2.0
"""Packets per ACK: with the first one after a least round-trip time a phase ends. [packet]"""

SLACK = 0.05
"""Phases that end within this part of a round trip end together: fewer steps. [round trip]"""

UNKNOWN_RTT_S = 1e9
"""Least round-trip time before the first one. [s]"""


def begin(state: State) -> None:
    """Add the variables of BBR to the state."""
    shape = state.window.shape
    values = {
        "best": 0.0, "best_before": 0.0, "least_rtt": UNKNOWN_RTT_S, "seen": 0.0, "full_rate": 0.0,
        "full_rounds": 0.0, "conserve_from": np.inf, "conserve_until": np.inf, "round": 0.0,
        "until": np.inf, "mode": STARTUP,
    }  # fmt: skip
    state.bbr = {name: np.full(shape, float(value), order="F") for name, value in values.items()}
    first = np.floor(CRUISE_PHASES * ((np.arange(1, shape[1] + 1) * GOLDEN) % 1.0))
    state.bbr["first_phases"] = CRUISE_PHASES - first * np.ones(shape, order="F")
    state.bbr["longest"] = STEP_SHARE * state.base_s * np.ones(shape, order="F")
    _look_up(state)


def product(state: State) -> FloatArray:
    """Return the bandwidth-delay product as each flow knows it. [packet]"""
    own = state.bbr
    return np.asarray(np.maximum(own["best"], own["best_before"]) * own["least_rtt"])


def turn(state: State, active: BoolArray, delivery: FloatArray, rtt: FloatArray) -> None:
    """Look at the path at the begin of a step, and change the modes as it has them."""
    own, time = state.bbr, state.time
    stale = active & (time > own["seen"] + PROBE_RTT_INTERVAL_S - SLACK * state.base_s)
    fresh = active & (rtt <= own["least_rtt"] * (1 - 1e-9))
    any_stale = np.count_nonzero(stale)
    if any_stale:
        fresh |= stale
    if np.count_nonzero(fresh):
        np.copyto(own["least_rtt"], rtt, where=fresh)
        np.copyto(own["seen"], time, where=fresh)
    mode = own["mode"]
    probing = mode == PROBE_RTT
    sample = delivery * (1.0 + state.stack.bbr_bias_packets / state.window)
    np.maximum(own["best"], sample, out=own["best"], where=active & ~probing)
    own_product = product(state)
    changed = _turn_cycle(state, active, own_product, delivery)
    starting = active & (mode <= DRAIN)
    if np.count_nonzero(starting):
        changed |= _end_startup(state, starting, own_product)
    if np.count_nonzero(probing) or any_stale:
        _probe_rtt(state, active, stale & ~probing, probing)
        changed = True
    if changed:
        _look_up(state)


def _look_up(state: State) -> None:
    """Take from the tables what the modes have."""
    own = state.bbr
    mode = own["mode"].astype(int)
    own["gain"], own["window_gain"] = _GAIN[mode], _WINDOW_GAIN[mode]


def longest_s(state: State, active: BoolArray) -> FloatArray:
    """Return how long a step may be, of shape (scenario, 1): to the end of the first phase. [s]"""
    own, time = state.bbr, state.time
    left = np.minimum(own["until"], own["seen"] + PROBE_RTT_INTERVAL_S) - time
    longest = own["longest"]
    step = np.where(left > SLACK * state.base_s, np.minimum(left, longest), longest)
    return np.asarray(np.minimum.reduce(step, axis=1, keepdims=True, where=active, initial=np.inf))


def advance(
    state: State, active: BoolArray, grown: FloatArray, delivery: FloatArray, rtt: FloatArray,
    total: FloatArray, dt: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return the windows after a step, before any drops: of others as they have grown. [packet]

    In a full pipe all that is in flight grows by what is sent beyond the rate of the link, and each
    flow's share of it approaches its share of what is sent, by :math:`e` in a round trip; in one
    that is not full it approaches what is sent in a round trip.
    """
    own, time, window = state.bbr, state.time, state.window
    best = np.maximum(own["best"], own["best_before"])
    paced = own["gain"] * best
    ceiling = own["window_gain"] * (best * own["least_rtt"]) + quanta_packets(state.stack, paced)
    ceiling = np.maximum(ceiling, LEAST_WINDOW)
    sent = np.maximum(paced * PACING, LEAST_WINDOW / rtt)
    mode = own["mode"]
    starting = active & (mode == STARTUP)
    any_starting = np.count_nonzero(starting)
    if any_starting:
        conserving = starting & (own["conserve_from"] <= time) & (time < own["conserve_until"])
        sent = np.where(conserving, delivery, sent)
    sending = np.where(active, sent, delivery)
    all_sent = np.add.reduce(sending, axis=1, keepdims=True)
    carried = state.base_s * all_sent
    fading = np.exp(-dt / rtt)
    full = total + (all_sent - state.rate) * dt
    after = np.where(
        total >= state.pipe,
        np.maximum(full, np.minimum(carried, total)),
        carried + (total - carried) * fading,
    )
    share = sending / np.maximum(all_sent, 1e-9)
    next_window = share * after + (window - share * total) * fading
    next_window = np.minimum(next_window, ceiling)
    if any_starting:
        # What is lost counts as in flight until it is noticed, a round trip later.
        fits = state.capacity * window / np.maximum(total, 1e-9)
        most = fits + np.maximum(ceiling - fits, 0.0) * np.minimum(dt / rtt, 1.0)
        most = np.minimum(most, window + delivery * dt)  # an ACK adds what it acknowledges
        next_window = np.where(starting, np.minimum(next_window, most), next_window)
    probing = active & (mode == PROBE_RTT)
    if np.count_nonzero(probing):
        drained = np.minimum(np.maximum(window - delivery * dt, LEAST_WINDOW), window)
        next_window = np.where(probing, drained, next_window)
    own["round"] = np.where(active, own["round"] + dt / rtt, 0.0)
    return np.where(active, next_window, grown)


def lose_in_startup(state: State, lost: BoolArray) -> BoolArray:
    """Return which flows lose in their start-up; the first time they begin a repair.

    The first loss is noticed after a round trip over the full buffer, and for one more a packet is
    sent for each delivered one; after it the start-up goes on.
    """
    own = state.bbr
    starting = own["mode"] == STARTUP
    first = lost & starting & np.isinf(own["conserve_from"])
    if np.count_nonzero(first):
        full_s = state.capacity / state.rate
        own["conserve_from"] = np.where(first, state.time + full_s, own["conserve_from"])
        own["conserve_until"] = np.where(first, state.time + 2 * full_s, own["conserve_until"])
    return np.asarray(starting)


def quanta_packets(stack: Stack, rate: FloatArray) -> FloatArray:
    """Return the packets of three quanta: in Linux more at a higher rate. [packet]"""
    paced = np.floor(rate * QUANTUM_S) if stack.name == "linux" else np.zeros(rate.shape)
    return np.asarray(QUANTA * np.maximum(paced, stack.bbr_quantum_packets))


def _turn_cycle(state: State, active: BoolArray, product: FloatArray, delivery: FloatArray) -> bool:
    """Go to the next phase of the cycle; at its end the largest rate becomes the one before."""
    own, window, mode = state.bbr, state.window, state.bbr["mode"]
    whole = active & (state.time >= own["until"] - SLACK * state.base_s)
    lowering = active & (mode == LOWER)
    lowered = lowering & (whole | (window <= product))
    raised = whole & (mode == RAISE)
    wrapped = whole & (mode == CRUISE)
    if np.count_nonzero(raised):
        total = np.where(active, window, 0.0).sum(axis=1, keepdims=True)
        fits = state.capacity * window / np.maximum(total, 1e-9)  # a loss ends the phase too
        raised &= window >= np.minimum(PROBE_CYCLE[0] * product, fits) - 1e-6
    turned = lowered | raised | wrapped
    if not np.count_nonzero(turned):
        return False
    own["best_before"] = np.where(wrapped, own["best"], own["best_before"])
    own["best"] = np.where(wrapped, 0.0, own["best"])
    own["mode"] = np.where(wrapped, RAISE, mode + turned)
    wait = own["least_rtt"] + ACK_PACKETS / np.maximum(delivery, 1e-9)
    lasts = _PHASES[own["mode"].astype(int)] * wait
    own["until"] = np.where(turned, state.time + lasts, own["until"])
    own["longest"] = np.where(turned, STEP_SHARE * lasts, own["longest"])
    return True


def _end_startup(state: State, starting: BoolArray, product: FloatArray) -> bool:
    """Count the round trips in which the rate has not grown: after three start-up ends.

    It is drained then until no more than the product is in flight.
    """
    own = state.bbr
    turned = starting & (own["round"] >= 1.0 - 1e-9)
    own["round"] = np.where(turned, 0.0, own["round"])
    best = np.maximum(own["best"], own["best_before"])
    grew = best >= FULL_GROWTH * own["full_rate"]
    own["full_rate"] = np.where(turned & grew, best, own["full_rate"])
    counted = np.where(grew, 0.0, own["full_rounds"] + 1)
    own["full_rounds"] = np.where(turned, counted, own["full_rounds"])
    filled = starting & (own["mode"] == STARTUP) & (own["full_rounds"] >= FULL_ROUNDS)
    own["mode"] = np.where(filled, DRAIN, own["mode"])
    drained = starting & (own["mode"] == DRAIN) & (state.window <= product)
    _cruise(state, drained)
    return bool(np.count_nonzero(filled | drained))


def _probe_rtt(state: State, active: BoolArray, enter: BoolArray, probing: BoolArray) -> None:
    """Enter the probe of the round-trip time, time it once the window is low, and leave it."""
    own = state.bbr
    over = probing & (state.time >= own["until"] - SLACK * state.base_s)
    own["seen"] = np.where(over, state.time, own["seen"])
    low = active & probing & (state.window <= LEAST_WINDOW + 1e-9) & np.isinf(own["until"])
    probe_s = np.maximum(PROBE_RTT_S, state.base_s)
    own["until"] = np.where(low, state.time + probe_s, np.where(enter, np.inf, own["until"]))
    own["mode"] = np.where(enter, PROBE_RTT, own["mode"])
    own["longest"] = np.where(enter, STEP_SHARE * state.base_s, own["longest"])
    _cruise(state, over)


def _cruise(state: State, resumed: BoolArray) -> None:
    """Begin the cycle somewhere, but not with the phase that raises or that lowers the rate."""
    own = state.bbr
    lasts = own["first_phases"] * own["least_rtt"]
    own["mode"] = np.where(resumed, CRUISE, own["mode"])
    own["until"] = np.where(resumed, state.time + lasts, own["until"])
    own["longest"] = np.where(resumed, STEP_SHARE * lasts, own["longest"])
