"""Shares of a class and their uncertainty: thirty students are few.

Wilson's interval for a share; for the difference of two shares of the same students that of
Newcombe (method 10), which is made of two Wilson intervals and knows that they are paired; for the
mean of the gains of the students an interval by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.959963984540054
"""Quantile of the normal distribution that leaves 2.5 % above. [1]"""


@dataclass(frozen=True, slots=True)
class Share:
    """A share or a difference of shares, with the 95 % interval around it."""

    value: float
    low: float
    high: float


def wilson(count: int, *, total: int) -> Share:
    r"""Return a share with its 95 % interval by Wilson's score.

    .. math:: \frac{p + z^2/2n \pm z\sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}

    Parameters
    ----------
    count : int
        How many of them.
    total : int
        Of how many.

    Returns
    -------
    Share
        The share and its interval, [ratio]; nan, 0 and 1 of none.

    Notes
    -----
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (1927).

    Examples
    --------
    >>> found = wilson(15, total=20)
    >>> round(found.low, 4), found.value, round(found.high, 4)
    (0.5313, 0.75, 0.8881)
    """
    if total == 0:
        return Share(math.nan, 0.0, 1.0)
    p, z2 = count / total, Z_95**2
    middle = p + z2 / (2 * total)
    half = Z_95 * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2))
    scale = 1 + z2 / total
    low = 0.0 if count == 0 else (middle - half) / scale
    return Share(p, low, 1.0 if count == total else (middle + half) / scale)


def paired_gain(before: Sequence[bool], after: Sequence[bool]) -> Share:
    """Return the share after less the share before of the same students, with its 95 % interval.

    Parameters
    ----------
    before, after : sequence of bool
        Of each student whether the answer was right.

    Returns
    -------
    Share
        The difference and its interval, from -1 to 1 [ratio]; nan, -1 and 1 of none.

    Notes
    -----
    R. G. Newcombe, Improved confidence intervals for the difference between binomial proportions
    based on paired data, Statistics in Medicine 17 (1998), method 10.

    Examples
    --------
    >>> found = paired_gain([True] * 10 + [False] * 10, [True] * 18 + [False] * 2)
    >>> found.value, found.low > 0
    (0.4, True)
    """
    total = len(before)
    if total == 0:
        return Share(math.nan, -1.0, 1.0)
    both = sum(a and b for a, b in zip(before, after, strict=True))
    lost = sum(before) - both
    won = sum(after) - both
    neither = total - both - lost - won
    first, second = wilson(both + won, total=total), wilson(both + lost, total=total)
    phi = _phi(both, won, lost, neither)
    up, down = first.high - first.value, first.value - first.low
    up_2, down_2 = second.high - second.value, second.value - second.low
    gain = first.value - second.value
    low = gain - math.sqrt(max(down**2 - 2 * phi * down * up_2 + up_2**2, 0.0))
    high = gain + math.sqrt(max(up**2 - 2 * phi * up * down_2 + down_2**2, 0.0))
    return Share(gain, low, high)


def _phi(a: int, b: int, c: int, d: int) -> float:
    """Return the correlation of two answers, with Newcombe's correction for continuity."""
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    excess = a * d - b * c
    if excess > 0:
        excess = max(excess - (a + b + c + d) / 2, 0.0)  # type: ignore[assignment]
    return excess / math.sqrt(margins)


def mean_gain(gains: Sequence[float]) -> Share:
    """Return the mean of the gains of the students, with its 95 % interval by Student's t.

    Parameters
    ----------
    gains : sequence of float
        Of each student the share of right answers after less that before. [ratio]

    Returns
    -------
    Share
        The mean and its interval [ratio], which ends at -1 and 1; as wide as that of fewer than
        two students.
    """
    count = len(gains)
    mean = sum(gains) / count if count else math.nan
    if count < 2:
        return Share(mean, -1.0, 1.0)
    variance = sum((one - mean) ** 2 for one in gains) / (count - 1)
    half = t_95(count - 1) * math.sqrt(variance / count)
    return Share(mean, max(mean - half, -1.0), min(mean + half, 1.0))


def t_95(freedom: int) -> float:
    """Return the quantile of Student's t that leaves 2.5 % above.

    Examples
    --------
    >>> round(t_95(29), 3), round(t_95(1), 3)
    (2.045, 12.706)
    """
    from scipy.special import stdtrit  # late: most of a class needs none

    return float(stdtrit(freedom, 0.975))
