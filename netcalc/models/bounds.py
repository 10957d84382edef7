"""Answers and arguments beyond what a network can have: noted, where they are not impossible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, is_called, is_stand_in, note

MAX_WINDOW_BYTES = 65_535.0 * 2**14
"""Largest window of TCP: 16 bits, shifted by 14 (RFC 7323 section 2.3). [byte]"""
_ROUNDED = 1 + 1e-9
"""A rate of the largest window, times its round trip, is that window to rounding."""


def at_most_line(utilization: FloatArray) -> FloatArray:
    """Return a utilization, and note one above 1: no line carries more than itself."""
    most = _most(utilization)
    if most > 1.0:
        note("more-than-the-line", name="result", value=most, rank=most)
    return utilization


def tcp_window(window_bytes: FloatArray) -> FloatArray:
    """Return a window, and note one that TCP cannot announce; an infinite one is no limit."""
    numbers: Any = window_bytes
    if is_stand_in(numbers):
        codes = "below-published-range", "window-above-tcp"
        numbers.judged(
            numbers, -np.inf, MAX_WINDOW_BYTES * _ROUNDED, codes, {"name": "window_bytes"}
        )
        return window_bytes
    most = _most(np.where(np.isinf(window_bytes), np.nan, window_bytes))
    if most > MAX_WINDOW_BYTES * _ROUNDED:
        limit = MAX_WINDOW_BYTES
        note("window-above-tcp", name="window_bytes", value=most, limit=limit, rank=most)
    return window_bytes


def tcp_rate(
    law: Callable[..., Any],
    rate_bps: FloatArray,
    rtt_s: FloatArray,
    flow_count: FloatArray | float = 1.0,
) -> FloatArray:
    """Return the rate of a law, and note one that a window of TCP does not reach.

    A model that uses the law, and has limits of its own, judges what is left of it by itself.
    """
    if is_called(law):
        tcp_window(np.asarray(rate_bps * rtt_s / 8.0 / flow_count))
    return rate_bps


def timeout_after(rto_s: FloatArray, rtt_s: FloatArray, *, name: str = "rto_s") -> None:
    """Note a retransmission timeout below the round trip: it ends before any answer can be back."""
    note_first("timeout-below-round-trip", name, rto_s < rtt_s, rto_s, rtt_s)


def not_below(code: str, name: str, measured: Any, least: Any) -> None:
    """Note a measured value below the least that theory allows."""
    note_first(code, name, measured < least, measured, least)


def not_above(code: str, name: str, value: Any, most: Any, **others: Any) -> None:
    """Note a value above the most that the other arguments allow; ``others`` are of the note."""
    note_first(code, name, value > most, value, most, **others)


def one_of(name: str, value: FloatArray, choices: tuple[float, ...], text: str) -> None:
    """Note a value that a standard does not have; nan and inf are rules of their own."""
    other = np.isfinite(value)
    for choice in choices:
        other &= np.abs(value - choice) > 1e-9 * choice
    note_first("not-of-standard", name, other, value, value, choices=text)


def note_first(code: str, name: str, where: Any, value: Any, limit: Any, **others: Any) -> None:
    """Note the first pair of a value and a limit for which something holds."""
    holds = np.asarray(where)
    if holds.any():
        pair = np.broadcast_arrays(value, limit)
        first, other = (float(array.flat[holds.argmax()]) for array in pair)
        note(code, name=name, value=first, limit=other, **others)


def _most(values: FloatArray) -> float:
    """Return the largest element; -inf if there is none but nan."""
    if values.size == 1:
        most = float(values.reshape(())[()])
        return most if most == most else -np.inf
    most = float(values.max(initial=-np.inf))
    return most if most == most else float(np.fmax.reduce(values, axis=None))
