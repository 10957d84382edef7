"""Load next to, at and beyond capacity: shared by the subjects of queueing."""

from __future__ import annotations

import numpy as np

from netcalc.checks import FloatArray, note

# 2^(2n) B(2n) / (2n)! with the Bernoulli numbers B, the last first: 1e-16 at 0.5.
_LANGEVIN = (
    310732 / 13447856940643125,
    -349222 / 1531329465290625,
    87734 / 38979295480125,
    -3617 / 162820783125,
    4 / 18243225,
    -1382 / 638512875,
    2 / 93555,
    -1 / 4725,
    2 / 945,
    -1 / 45,
    1 / 3,
)


def headroom(load: FloatArray) -> FloatArray:
    """Return the share of capacity that is free: 0, never negative, from a load of 1."""
    return np.maximum(1.0 - load, 0.0)


SLOW_LOAD = 0.95
"""From here a queue forgets its start only after 1500 service times."""


def note_slow_queue(load: FloatArray) -> None:
    """Say how long a nearly full queue takes until a measurement agrees with its steady state.

    The relaxation time of M/M/1 is 1 / (1 - sqrt(load))^2 services (Cohen, The Single Server Queue,
    chapter II.2); the others have its order.
    """
    highest = float(load.max(initial=0.0, where=load < 1.0))
    if highest > SLOW_LOAD:
        services = 1.0 / (1.0 - np.sqrt(highest)) ** 2
        note("slow-steady-state", name="utilization", value=highest, services=services)


def langevin(x: FloatArray) -> FloatArray:
    """Return coth(x) - 1/x, by its series where the two would cancel."""
    square = x * x
    series = np.zeros_like(square)
    for factor in _LANGEVIN:
        series = factor + square * series
    return np.where(np.abs(x) < 0.5, x * series, 1.0 / np.tanh(x) - 1.0 / x)
