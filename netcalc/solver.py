"""Any formula solved for any of its variables: all roots in a range, or none.

>>> from netcalc.models.latency import transfer_s
>>> [root] = solve(transfer_s, for_="bandwidth_bps", result=1.03, payload_bytes=1e6, latency_s=0.03)
>>> round(root.value)
8000000
>>> solve(transfer_s, for_="bandwidth_bps", result=0.01, payload_bytes=1e6, latency_s=0.03)
[]

The range is searched on a grid for changes of sign, each of which Brent's method closes in on;
places where the formula only touches the result are looked for between grid points.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.errors import ConvergenceError, DomainError, NotFiniteWarning
from netcalc.models._domain import FloatArray

GRID_POINTS = 1001
"""Points of the grid on which changes of sign are looked for."""
TOLERANCE = 1e-9
"""A root's result differs from the one wanted by no more than this share of it."""

# Where a variable is looked for if nobody says, by the ending of its name.
_RANGES = {
    "_bps": (1.0, 1e15),
    "_pps": (1e-3, 1e12),
    "_bytes": (1e-3, 1e15),
    "_bits": (1e-3, 1e16),
    "_ratio": (1e-15, 1.0),
    "_count": (1.0, 1e5),
    "_m_s": (1.0, 299_792_458.0),
    "_m": (1e-3, 1e12),
    "_s": (1e-9, 1e9),
    "utilization": (1e-9, 1.0),
}
_OTHER_RANGE = (1e-6, 1e9)


@dataclass(frozen=True, slots=True)
class Root:
    """A value of the variable that gives the result wanted.

    ``exact`` is False where the formula jumps over the result: the value is the place of the
    jump, and ``result`` what the formula gives there. For a variable of whole numbers it is the
    first one past the crossing.
    """

    value: float
    result: float
    exact: bool


def default_range(name: str) -> tuple[float, float]:
    """Return where a variable of this name is looked for.

    Examples
    --------
    >>> default_range("loss_ratio")
    (1e-15, 1.0)
    """
    return next(
        (limits for ending, limits in _RANGES.items() if name.endswith(ending)), _OTHER_RANGE
    )


def solve(
    function: Callable[..., Any],
    *,
    for_: str,
    result: float,
    low: float | None = None,
    high: float | None = None,
    **given: Any,
) -> list[Root]:
    """Find all values of one variable for which a formula gives a result.

    Parameters
    ----------
    function : callable
        A public model.
    for_ : str
        Name of the argument to find.
    result : float
        What the formula shall give, in its SI unit.
    low, high : float, optional
        The range, ends included; by default :func:`default_range` of the name.
    **given
        The other arguments.

    Returns
    -------
    list of Root
        In ascending order; empty if there is none in the range.

    Raises
    ------
    DomainError
        If the range is empty, the variable is no argument, or the formula gives no single number.
    ConvergenceError
        If a bracketed root is not found.
    """
    if for_ not in inspect.signature(function).parameters:
        names = ", ".join(inspect.signature(function).parameters)
        raise DomainError("for_", repr(for_), f"one of {names}")
    bottom, top = default_range(for_)
    bottom, top = bottom if low is None else low, top if high is None else high
    if not -np.inf < bottom < top < np.inf:
        raise DomainError("range", f"{bottom:g} to {top:g}", "from a smaller to a larger number")
    if not np.isfinite(result):
        raise DomainError("result", f"{result:g}", "any finite number")

    def difference(value: float) -> float:
        return evaluate(function, {**given, for_: value}) - result

    if for_.endswith("_count") or _only_whole(difference, bottom, top):
        return _whole_roots(difference, int(np.ceil(bottom)), int(top), result)
    grid = _grid(bottom, top)
    values = np.array([difference(float(at)) for at in grid])
    found = [_root(difference, float(at), result) for at in grid[values == 0]]
    signs = np.sign(values)
    crossed = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    for place in crossed:
        found.append(_close_in(difference, float(grid[place]), float(grid[place + 1]), result))
    found += _touching(difference, grid, values, result)
    return sorted(_distinct(found), key=lambda root: root.value)


def evaluate(function: Callable[..., Any], arguments: Mapping[str, Any]) -> float:
    """Call a formula with its first argument in place; nan where a value is impossible.

    Raises
    ------
    DomainError
        If the formula gives more than one number.
    """
    first = next(iter(inspect.signature(function).parameters))
    keywords = {name: value for name, value in arguments.items() if name != first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotFiniteWarning)
        try:
            value = np.asarray(
                function(*([arguments[first]] if first in arguments else []), **keywords)
            )
        except DomainError:
            return float("nan")
    if value.size != 1 or value.dtype.kind not in "fiu":
        raise DomainError("result of the formula", f"of shape {value.shape}", "one number")
    return float(value.reshape(()))


def _grid(low: float, high: float) -> FloatArray:
    """Even in the logarithm where the range is wide and positive, else even."""
    if low > 0 and high / low > 100:
        grid = np.geomspace(low, high, GRID_POINTS)
        if high == 1.0:  # a share: as fine towards 1 as towards 0
            grid = np.unique(np.concatenate((grid[grid < 0.5], 1 - grid[grid < 0.5], [1.0])))
        grid[0], grid[-1] = low, high
        return grid
    return np.linspace(low, high, GRID_POINTS)


def _close_in(difference: Callable[[float], float], low: float, high: float, result: float) -> Root:
    from scipy.optimize import brentq  # late: half of the package does without scipy

    last = low

    def at(place: float) -> float:
        nonlocal last
        last = place
        return difference(place)

    try:
        value, report = brentq(
            at, low, high, xtol=4e-300, rtol=4 * np.finfo(float).eps, maxiter=500,
            full_output=True, disp=False,
        )  # fmt: skip
    except ValueError as error:
        # scipy ends so where the formula has no value between two ends that have one.
        what = f"the root from {low:g} to {high:g}, where the formula is not defined throughout,"
        raise ConvergenceError(what, iterations=0, residual=float("nan"), last=last) from error
    if not report.converged:
        raise ConvergenceError(
            "the root", iterations=report.iterations, residual=difference(value), last=value
        )
    return _root(difference, float(value), result)


def _root(difference: Callable[[float], float], value: float, result: float) -> Root:
    off = difference(value)
    return Root(value, result + off, abs(off) <= TOLERANCE * max(abs(result), 1e-300))


def _touching(
    difference: Callable[[float], float], grid: FloatArray, values: FloatArray, result: float
) -> list[Root]:
    """Find the places where the formula reaches the result without crossing it."""
    from scipy.optimize import minimize_scalar

    size: NDArray[np.float64] = np.abs(values)
    found = []
    for place in range(1, grid.size - 1):
        around = values[place - 1 : place + 2]
        if not np.isfinite(around).all() or (np.sign(around) != np.sign(around[1])).any():
            continue
        if not (size[place] < size[place - 1] and size[place] < size[place + 1]):
            continue
        nearest = minimize_scalar(
            lambda at: abs(difference(float(at))),
            bounds=(float(grid[place - 1]), float(grid[place + 1])),
            method="bounded",
            options={"xatol": 1e-12 * float(grid[place])},
        )
        root = _root(difference, float(nearest.x), result)
        if root.exact:
            found.append(root)
    return found


def _only_whole(difference: Callable[[float], float], low: float, high: float) -> bool:
    """True if the formula knows whole numbers only: it refuses those between."""
    inner = np.unique(np.floor(np.geomspace(max(low, 1.0), max(high, 1.0), 20)))
    inner = inner[(inner >= low) & (inner + 0.5 <= high)]
    if not inner.size:
        return False
    between = all(np.isnan(difference(float(at) + 0.5)) for at in inner)
    return between and any(np.isfinite(difference(float(at))) for at in inner)


def _whole_roots(
    difference: Callable[[float], float], low: int, high: int, result: float
) -> list[Root]:
    grid = np.unique(np.round(_grid(float(low), float(high))))
    values = [difference(float(at)) for at in grid]
    found = [
        _root(difference, float(at), result) for at, v in zip(grid, values, strict=True) if v == 0
    ]
    for place in range(len(values) - 1):
        if values[place] * values[place + 1] < 0:
            below, above = int(grid[place]), int(grid[place + 1])
            while above - below > 1:
                middle = (below + above) // 2
                if difference(middle) * values[place] > 0:
                    below = middle
                else:
                    above = middle
            found.append(_root(difference, float(above), result))
    return sorted(_distinct(found), key=lambda root: root.value)


def _distinct(found: list[Root]) -> list[Root]:
    kept: list[Root] = []
    for root in sorted(found, key=lambda one: one.value):
        if not kept or abs(root.value - kept[-1].value) > 1e-9 * abs(root.value):
            kept.append(root)
    return kept
