"""BBR version 1: a model of the path from its largest delivery rate and its least round trip."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray
from netcalc.congestion._stack import Stack
from netcalc.congestion._state import GOLDEN, BoolArray, State
from netcalc.models.tcp.bbr import (
    PROBE_CYCLE,
    PROBE_RTT_INTERVAL_S,
    PROBE_RTT_S,
    STARTUP_GAIN,
    WINDOW_GAIN,
)

STARTUP, DRAIN, PROBE_BANDWIDTH, PROBE_RTT = range(4)
"""The modes."""

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

_CYCLE = np.array(PROBE_CYCLE)


def begin(state: State) -> None:
    """Add the variables of BBR to the state."""
    shape = state.window.shape
    values = {
        "mode": 0.0, "best": 0.0, "best_before": 0.0, "least_rtt": np.inf, "seen": 0.0,
        "phase": 0.0, "phase_from": 0.0, "full_rate": 0.0, "full_rounds": 0.0, "round": 0.0,
        "until": np.inf,
    }  # fmt: skip
    state.bbr = {name: np.full(shape, value) for name, value in values.items()}
    state.bbr["first_phase"] = 2.0 + np.floor(
        6 * ((np.arange(1, shape[1] + 1) * GOLDEN) % 1.0)
    ) * np.ones(shape)


def product(state: State) -> FloatArray:
    """Return the bandwidth-delay product as each flow knows it. [packet]"""
    own = state.bbr
    return np.maximum(own["best"], own["best_before"]) * np.minimum(own["least_rtt"], 1e9)


def advance(
    state: State, active: BoolArray, delivery: FloatArray, rtt: FloatArray, dt: FloatArray
) -> FloatArray:
    """Advance the flows by a step; return their windows before any drops. [packet]"""
    own = state.bbr
    time, window = state.time, state.window
    rtt = np.broadcast_to(rtt, window.shape)
    own["seen"] = np.where(own["least_rtt"] == np.inf, time, own["seen"])
    stale = time > own["seen"] + PROBE_RTT_INTERVAL_S
    fresh = active & ((rtt <= own["least_rtt"] * (1 - 1e-9)) | stale)
    own["least_rtt"] = np.where(fresh, rtt, own["least_rtt"])
    own["seen"] = np.where(fresh, time, own["seen"])
    probing = own["mode"] == PROBE_RTT
    sample = delivery * (1.0 + state.stack.bbr_bias_packets / window)
    own["best"] = np.where(active & ~probing, np.maximum(own["best"], sample), own["best"])
    best = np.maximum(own["best"], own["best_before"])
    product = best * np.minimum(own["least_rtt"], 1e9)
    _change_mode(state, active, stale, best, product, dt / rtt)
    mode = own["mode"]
    gain = np.where(mode == STARTUP, STARTUP_GAIN, 1.0)
    gain = np.where(mode == DRAIN, 1 / STARTUP_GAIN, gain)
    cycling = mode == PROBE_BANDWIDTH
    gain = np.where(cycling, _CYCLE[own["phase"].astype(int)], gain)
    ceiling = np.where(mode < PROBE_BANDWIDTH, STARTUP_GAIN, WINDOW_GAIN) * product
    ceiling = ceiling + quanta_packets(state.stack, gain * best)
    ceiling = np.where(mode == PROBE_RTT, LEAST_WINDOW, np.maximum(ceiling, LEAST_WINDOW))
    sent = np.maximum(gain * best * PACING, LEAST_WINDOW / rtt) * dt
    conserving = (mode == STARTUP) & (time < state.grow_from)  # a packet for each delivered one
    after = window + np.where(conserving, 0.0, sent - delivery * dt)
    drained = np.maximum(window - delivery * dt, LEAST_WINDOW)
    return np.where(mode == PROBE_RTT, np.minimum(drained, window), np.minimum(after, ceiling))


def quanta_packets(stack: Stack, rate: FloatArray) -> FloatArray:
    """Return the packets of three quanta: in Linux more at a higher rate. [packet]"""
    paced = np.floor(rate * QUANTUM_S) if stack.name == "linux" else np.zeros(rate.shape)
    return np.asarray(QUANTA * np.maximum(paced, stack.bbr_quantum_packets))


def _change_mode(
    state: State,
    active: BoolArray,
    stale: BoolArray,
    best: FloatArray,
    product: FloatArray,
    rounds: FloatArray,
) -> None:
    """Advance the modes: out of start-up, around the cycle, into the probe of the RTT and back."""
    own, time, window = state.bbr, state.time, state.window
    _end_startup(own, active, best, rounds)
    mode = own["mode"]
    drained = (mode == DRAIN) & (window <= product)
    over = (mode == PROBE_RTT) & (time >= own["until"])
    turned = _turn_cycle(state, active & (mode == PROBE_BANDWIDTH), product)
    resumed = drained | over
    own["phase"] = np.where(resumed, own["first_phase"], own["phase"])
    own["phase_from"] = np.where(turned | resumed, time, own["phase_from"])
    own["seen"] = np.where(over, time, own["seen"])
    mode = np.where(resumed, PROBE_BANDWIDTH, mode)
    enter = active & stale & (mode != PROBE_RTT) & ~over
    mode = np.where(enter, PROBE_RTT, mode)
    own["until"] = np.where(enter | over, np.inf, own["until"])
    low = (mode == PROBE_RTT) & (window <= LEAST_WINDOW + 1e-9) & np.isinf(own["until"])
    own["until"] = np.where(low, time + np.maximum(PROBE_RTT_S, state.base_s), own["until"])
    own["mode"] = mode


def _end_startup(
    own: dict[str, FloatArray], active: BoolArray, best: FloatArray, rounds: FloatArray
) -> None:
    """Count the round trips in which the rate has not grown, and end start-up after three."""
    own["round"] = np.where(active, own["round"] + rounds, 0.0)
    turned = own["round"] >= 1.0 - 1e-9
    own["round"] = np.where(turned, 0.0, own["round"])
    starting = active & turned & (own["mode"] == STARTUP)
    grew = best >= FULL_GROWTH * own["full_rate"]
    own["full_rate"] = np.where(starting & grew, best, own["full_rate"])
    counted = np.where(grew, 0.0, own["full_rounds"] + 1)
    own["full_rounds"] = np.where(starting, counted, own["full_rounds"])
    filled = (own["mode"] == STARTUP) & (own["full_rounds"] >= FULL_ROUNDS)
    own["mode"] = np.where(filled, DRAIN, own["mode"])


def _turn_cycle(state: State, cycling: BoolArray, product: FloatArray) -> BoolArray:
    """Go to the next phase of the cycle; at its end the largest rate becomes that of before."""
    own, window, phase = state.bbr, state.window, state.bbr["phase"]
    whole = state.time - own["phase_from"] >= own["least_rtt"] * (1 - 1e-6)
    total = np.where(cycling, window, 0.0).sum(axis=1, keepdims=True)
    fits = state.capacity * window / np.maximum(total, 1e-9)  # a loss ends the phase too
    raised = window >= np.minimum(_CYCLE[0] * product, fits) - 1e-6
    done = np.where(phase == 0, whole & raised, whole)
    done = np.where(phase == 1, whole | (window <= product), done) & cycling
    own["phase"] = np.where(done, (phase + 1) % len(PROBE_CYCLE), phase)
    wrapped = done & (own["phase"] == 0)
    own["best_before"] = np.where(wrapped, own["best"], own["best_before"])
    own["best"] = np.where(wrapped, 0.0, own["best"])
    return np.asarray(done)
