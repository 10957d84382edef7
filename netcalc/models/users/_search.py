"""The least whole number for which something holds, for arrays of questions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray


def least_whole(
    holds: Callable[[FloatArray], NDArray[np.bool_]],
    guess: FloatArray,
    *,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Return the least whole number above ``low`` for which ``holds``, at most ``high``.

    ``holds`` is False up to a number and True from there on. The search goes away from the guess
    in steps that double until it has the number between two, and halves what lies between them.
    """
    low, high, guess = (one.astype(np.float64) for one in np.broadcast_arrays(low, high, guess))
    has_true, has_false = np.zeros(low.shape, bool), np.zeros(low.shape, bool)
    tried, step = np.round(guess), 1.0
    # At 2^53 and above whole numbers are further apart than 1.
    while (is_open := high - low > np.maximum(1.0, np.spacing(high))).any():
        tried = np.clip(tried, low + 1.0, np.maximum(high - 1.0, low + 1.0))
        found = holds(tried)
        has_true |= found
        has_false |= ~found
        high = np.where(is_open & found, tried, high)
        low = np.where(is_open & ~found, tried, low)
        away = np.where(found, tried - step, tried + step)
        tried = np.where(has_true & has_false, np.floor(0.5 * (low + high)), away)
        step *= 2.0
    return high
