"""How shares of a class are written."""

from __future__ import annotations

import math

from netcalc.exercises.classes.shares import Share


def in_percent(ratio: float) -> str:
    """Write a share.

    >>> in_percent(0.756)
    '76 %'
    """
    return "-" if math.isnan(ratio) else f"{100 * ratio:.0f} %"


def interval(share: Share) -> str:
    """Write the interval of a share.

    >>> interval(Share(0.5, 0.333, 0.667))
    '33 to 67 %'
    """
    return f"{100 * share.low:.0f} to {100 * share.high:.0f} %"


def points_apart(share: Share) -> str:
    """Write a difference of shares, in percentage points with its interval.

    >>> points_apart(Share(0.2, 0.06, 0.34))
    '+20 points (95 %: +6 to +34)'
    """
    if math.isnan(share.value):
        return "no gain known"
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.value:+.0f} points (95 %: {low:+.0f} to {high:+.0f})"
