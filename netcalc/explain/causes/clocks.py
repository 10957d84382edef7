"""The stamps of TCP (RFC 7323) as clocks: their ticks, steps of the capture's clock, and queues."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.readers.captures.flows import Bools, Ints

TICKS_S = (1e-3, 1e-2, 4e-3, 1e-6, 1e-4, 2e-3, 0.5)
"""Ticks of stamps in use: Linux and most others 1 ms, older ones 10 ms and 4 ms. [s]"""
TICK_TOLERANCE = 0.3
LEAST_STAMPS = 20
"""Fewer stamps say nothing of a queue. [1]"""
STEP_S = 0.3
"""A step of the clock that is smaller may be a queue. [s]"""


def tick_s(time_s: FloatArray, stamp: Ints) -> float:
    """Return the tick of a clock of stamps; nan if none of those in use fits. [s]"""
    if time_s.size < 3:
        return math.nan
    passed_s, passed = float(time_s[-1] - time_s[0]), int(stamp[-1] - stamp[0])
    if passed <= 0 or passed_s <= 0:
        return math.nan
    apart = [abs(math.log(passed_s / passed / tick)) for tick in TICKS_S]
    nearest = int(np.argmin(apart))
    return TICKS_S[nearest] if apart[nearest] <= TICK_TOLERANCE else math.nan


def lateness_s(
    time_s: FloatArray, stamp: Ints, has_stamp: Bools, asked_s: FloatArray
) -> FloatArray:
    """Return how much later than the fastest each packet came after its stamp; nan if unknown. [s]

    It is the queue between the sender of the stamps and the capture. While it grows stamps seem to
    tick slowly; beside ``asked_s``, when what they echo had passed, they seem to after a pause.
    """
    late_s = np.full(time_s.size, np.nan)
    is_asked = has_stamp & np.isfinite(asked_s)
    beside_asked = tick_s(asked_s[is_asked], stamp[is_asked])
    time_s, stamp = time_s[has_stamp], stamp[has_stamp]
    tick = float(np.fmin(tick_s(time_s, stamp), beside_asked))
    if time_s.size < LEAST_STAMPS or math.isnan(tick):
        return late_s
    offset_s = time_s - tick * (stamp - stamp[0])
    # No packet comes before it was sent: the least is that of an empty queue, however rare.
    late_s[has_stamp] = offset_s - offset_s.min()
    return late_s


def clock_steps(
    rows: tuple[Ints, Ints], times: tuple[FloatArray, FloatArray], stamps: tuple[Ints, Ints]
) -> list[tuple[int, float]]:
    """Return where the clock of a capture stepped: the row from which on, and by how much. [s]

    Parameters
    ----------
    rows, times, stamps : pair of arrays
        Of the packets with stamps of either direction, in the order of the file.

    Returns
    -------
    list of tuple
        Steps that the stamps of both directions show at the same place: one alone is a queue.
    """
    jumps = [_jumps(*each) for each in zip(rows, times, stamps, strict=True)]
    steps = []
    for low, high, by_s in jumps[0]:
        for other_low, other_high, other_s in jumps[1]:
            same = abs(by_s - other_s) < 0.05 * abs(by_s) + 0.05
            if same and low < other_high and other_low < high:
                steps.append((max(low, other_low) + 1, by_s))
                break
    return steps


def _jumps(rows: Ints, time_s: FloatArray, stamp: Ints) -> list[tuple[int, int, float]]:
    """Return where times leave the stamps for good: between which rows, and by how much."""
    if rows.size < 4:
        return []
    offset_s = time_s - _usual_tick_s(time_s, stamp) * (stamp - stamp[0])
    jumps = []
    for at in np.flatnonzero(np.abs(np.diff(offset_s)) > STEP_S).tolist():
        before, after = offset_s[max(at - 4, 0) : at + 1], offset_s[at + 1 : at + 6]
        by_s = float(np.median(after) - np.median(before))
        if abs(by_s) > STEP_S:
            jumps.append((int(rows[at]), int(rows[at + 1]), by_s))
    return jumps


def _usual_tick_s(time_s: FloatArray, stamp: Ints) -> float:
    """Return the tick of most of the time, which a step of the other clock does not change. [s]"""
    steps = np.diff(stamp)
    is_later = steps > 0
    ticks = np.diff(time_s)[is_later] / steps[is_later]
    order = np.argsort(ticks, kind="stable")
    passed = np.cumsum(steps[is_later][order])
    if not passed.size:
        return 1e-3
    middle = max(float(ticks[order[np.searchsorted(passed, passed[-1] / 2)]]), 1e-9)
    apart = [abs(math.log(middle / tick)) for tick in TICKS_S]
    nearest = int(np.argmin(apart))
    return TICKS_S[nearest] if apart[nearest] <= TICK_TOLERANCE else 1e-3


def unwrapped_ids(ids: NDArray[Any]) -> Ints:
    """Return 16-bit identifications of packets as distances from the first."""
    numbers: Ints = ids.astype(np.int64)
    steps: Ints = (np.diff(numbers) + np.int64(32768)) % np.int64(65536) - np.int64(32768)
    return np.concatenate([[0], np.cumsum(steps)])
