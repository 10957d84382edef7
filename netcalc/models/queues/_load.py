"""Load next to, at and beyond capacity: shared by the subjects of queueing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, keep_nan, non_negative, note

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


_PERCENT_LOAD = 10.0
"""Nobody means a load of 1000 %: above it the number was meant in percent."""

SLOW_LOAD = 0.95
"""From here a queue forgets its start only after 1500 service times."""


def utilization_of(utilization: ArrayLike) -> FloatArray:
    """Return a load of 0 or more, and note one that can only be meant in percent."""
    load = non_negative("utilization", utilization)
    greatest = float(np.fmax.reduce(load, axis=None, initial=0.0))
    if greatest > _PERCENT_LOAD:
        note(
            "load-as-percent",
            percent=100.0 * greatest,
            meant=greatest,
            ratio=greatest / 100.0,
            rank=greatest,
        )
    return load


def note_slow_queue(load: FloatArray) -> None:
    """Say how long a nearly full queue takes until a measurement agrees with its steady state.

    The relaxation time of M/M/1 is 1 / (1 - sqrt(load))^2 services (Cohen, The Single Server Queue,
    chapter II.2); the others have its order.
    """
    greatest = float(load.max(initial=0.0))
    highest = greatest if greatest < 1.0 else float(load.max(initial=0.0, where=load < 1.0))
    if highest > SLOW_LOAD:
        services = 1.0 / (1.0 - np.sqrt(highest)) ** 2
        note(
            "slow-steady-state", name="utilization", value=highest, services=services, rank=highest
        )


def langevin(x: FloatArray) -> FloatArray:
    """Return coth(x) - 1/x, by its series where the two would cancel."""
    square = x * x
    series = np.zeros_like(square)
    for factor in _LANGEVIN:
        series = factor + square * series
    return np.where(np.abs(x) < 0.5, x * series, 1.0 / np.tanh(x) - 1.0 / x)


def log_sinh_ratio(x: FloatArray) -> FloatArray:
    """Return log(sinh(x) / x) for x of 0 or more."""
    square = x * x
    small = square * (1 / 6 - square * (1 / 180 - square * (1 / 2835 - square / 37800)))
    large = x + np.log1p(-np.exp(-2.0 * x)) - np.log(2.0 * x)
    return np.where(x < 0.1, small, large)


def last_state(load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return the probability of the last of K + 1 states, each ``load`` times the one before."""
    x = np.log(load)
    towards_one = np.exp(np.minimum(capacity * x, 0.0)) * growth_ratio(x, capacity)
    return keep_nan(np.where(load > 0.0, towards_one, 0.0), load, capacity)


def mean_state(load: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return the mean of the states 0 to K, each ``load`` times as likely as the one before."""
    x = np.log(load)
    states = capacity + 1.0
    # Next to 1 the two terms of the equation cancel; their poles taken out, they do not.
    middle = 0.5 * (capacity + states * langevin(0.5 * states * x) - langevin(0.5 * x))
    apart = 1.0 / np.expm1(-x) - states / np.expm1(-states * x)
    number = np.where(np.abs(states * x) < 1.0, middle, apart)
    return keep_nan(np.where(load > 0.0, number, 0.0), load, capacity)


def growth_ratio(x: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return (1 - e^-|x|) / (1 - e^-|(K+1)x|), and 1 / (K + 1) at 0."""
    away = -np.abs(x)
    states = capacity + 1.0
    return np.where(away < 0.0, np.expm1(away) / np.expm1(states * away), 1.0 / states)
