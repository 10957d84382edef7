"""A formula as a curve to be drawn: fine enough, its steps as steps, and where it is doubtful."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from netcalc.calculator._formula import Formula
from netcalc.calculator._sweeps import sweep
from netcalc.checks import FloatArray, derived_quantities, judged_names, used_ranges
from netcalc.errors import DomainError

POINTS = 600
"""Points of a curve: about one a pixel."""
_MOST_STEPS = 300
"""With more steps than this no step is wider than two pixels: they are not looked for."""

_OUTSIDE = frozenset({
    "beyond-published-range", "below-published-range", "used-beyond-published-range",
    "used-below-published-range",
})  # fmt: skip
_NOTED_STEP = 16
"""Points between those at which a formula is asked alone: 600 single calls took 0.2 s."""


@dataclass(frozen=True, slots=True)
class Shade:
    """A part of the axis: ``code`` is ``beyond-published-range`` or ``no-number``."""

    low: float
    high: float
    code: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a line; of a staircase they are its corners. nan where there is no number."""

    x: FloatArray
    y: FloatArray
    is_staircase: bool
    shades: tuple[Shade, ...]


def curve(
    wanted: Formula,
    arguments: Mapping[str, Any],
    *,
    over: str,
    low: float,
    high: float,
    logarithmic: bool = False,
) -> Curve:
    """Return a formula over one argument as it is drawn.

    Parameters
    ----------
    wanted : Formula
        A formula of one number.
    arguments : mapping of str to object
        Its other arguments.
    over : str
        The argument along the axis.
    low, high : float
        The ends of the axis.
    logarithmic : bool
        Whether the points are even in the logarithm.

    Raises
    ------
    DomainError
        If a value is impossible, or the result is not one number.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> found = curve(formula("rounds"), {}, over="segments", low=1, high=151)
    >>> found.is_staircase, found.y[[0, -1]].tolist()
    (True, [1.0, 5.0])
    """
    grid = np.geomspace(low, high, POINTS) if logarithmic else np.linspace(low, high, POINTS)
    swept = sweep(wanted, arguments, over=over, values=grid)
    (y,) = swept.columns.values()
    x = np.asarray(swept.values, dtype=float)

    def at(value: float) -> float:
        # A place between whole numbers belongs to the one below where fractions are refused.
        try:
            return float(wanted.evaluate({**arguments, over: value}))
        except DomainError:
            return float(wanted.evaluate({**arguments, over: np.floor(value)}))

    shades = _shades(wanted, arguments, over, x, y)
    y = np.where(np.isfinite(y), y, np.nan)
    if not is_staircase(y):
        return Curve(x, y, False, shades)
    return Curve(*_corners(at, x, y), True, shades)


def is_staircase(y: FloatArray) -> bool:
    """Whether most neighbours are equal, on three levels or more."""
    known = y[np.isfinite(y)]
    if known.size < 3:
        return False
    jumps = int(np.count_nonzero(known[1:] != known[:-1]))
    return 2 <= jumps <= min(_MOST_STEPS, known.size // 2)


def _corners(
    at: Callable[[float], float], x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the steps, each edge closed in on."""
    corners = [(x[0], y[0])]
    for left in np.flatnonzero(~(y[1:] == y[:-1])):
        below, above = float(x[left]), float(x[left + 1])
        if np.isfinite(y[left]) and np.isfinite(y[left + 1]):
            for _ in range(40):
                middle = 0.5 * (below + above)
                if at(middle) == y[left]:
                    below = middle
                else:
                    above = middle
        corners += [(above, y[left]), (above, y[left + 1])]
    corners.append((x[-1], y[-1]))
    places, levels = np.array(corners).T
    return places, levels


def _shades(
    wanted: Formula, arguments: Mapping[str, Any], over: str, x: FloatArray, y: FloatArray
) -> tuple[Shade, ...]:
    """Return where there is no number, and where one lies outside the published range."""
    found = _runs(x, ~np.isfinite(y), "no-number")
    ranges = wanted.published_ranges or {}
    outside = np.zeros(x.shape, dtype=bool)
    judged = derived_quantities(wanted.function)
    if judged or used_ranges(wanted.function):
        outside |= _noted(wanted, arguments, over, x, judged_names(wanted.function))
    fixed = {**{p.name: p.default for p in wanted.parameters}, **arguments, "result": y, over: x}
    for name in ranges.keys() & fixed.keys() - judged.keys():
        values = fixed[name]
        if values is not None and np.ndim(values) in (0, 1) and np.shape(values) in ((), x.shape):
            low, high = ranges[name]
            outside |= np.isfinite(values) & ((values < low) | (values > high))
    return (*found, *_runs(x, outside & np.isfinite(y), "beyond-published-range"))


def _noted(
    wanted: Formula,
    arguments: Mapping[str, Any],
    over: str,
    x: FloatArray,
    judged: Collection[str],
) -> np.ndarray[Any, Any]:
    """Return where the formula itself notes that what it derives lies outside its range."""

    @cache
    def noted(index: int) -> bool:
        value = float(x[index])
        try:
            _, doubts = wanted.answer({**arguments, over: value})
        except DomainError:  # a fraction of what is counted
            _, doubts = wanted.answer({**arguments, over: np.floor(value)})
        return any(doubt.values.get("name") in judged or doubt.code in _OUTSIDE for doubt in doubts)

    found = np.zeros(x.shape, dtype=bool)
    asked = [*range(0, x.size - 1, _NOTED_STEP), x.size - 1]
    for left, right in pairwise(asked):
        below, above = left, right
        while noted(left) != noted(right) and above - below > 1:  # close in on the edge
            middle = (below + above) // 2
            below, above = (middle, above) if noted(middle) == noted(left) else (below, middle)
        found[left:above] = noted(left)
        found[above : right + 1] = noted(right)
    return found


def _runs(x: FloatArray, holds: np.ndarray[Any, Any], code: str) -> tuple[Shade, ...]:
    """Return the stretches of the axis where a condition holds, half a step wider at each end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(int)))
    middles = np.concatenate(([x[0]], 0.5 * (x[1:] + x[:-1]), [x[-1]]))
    return tuple(
        Shade(float(middles[start]), float(middles[end]), code)
        for start, end in zip(edges[::2], edges[1::2], strict=True)
    )
