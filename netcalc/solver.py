"""Any formula solved for any of its variables: all roots in a range, or none.

>>> from netcalc.models.delays.latency import transfer_s
>>> [root] = solve(transfer_s, for_="bandwidth_bps", result=1.03, payload_bytes=1e6, latency_s=0.03)
>>> round(root.value)
8000000
>>> solve(transfer_s, for_="bandwidth_bps", result=0.01, payload_bytes=1e6, latency_s=0.03)
[]

The range is searched on a grid for changes of sign, each of which Brent's method closes in on;
points where the formula only touches the result are looked for between grid points. A formula
that takes arrays is asked for many points of the grid in one call. Where the formula is a
staircase, all of a step gives the result: the root is an interval, in whole numbers where the
variable counts.

>>> from netcalc.models.tcp.slow_start import rounds
>>> [root] = solve(rounds, for_="segments", result=4)
>>> root.value, root.last
(71.0, 150.0)
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc import errors
from netcalc.checks import FloatArray, as_float, named_arguments, scalar

__all__ = [
    "GRID_POINTS", "TOLERANCE", "Root", "default_range", "evaluate", "solve",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

GRID_POINTS = 1001
"""Points of the grid on which changes of sign are looked for."""
TOLERANCE = 1e-9
"""A root's result differs from the one wanted by no more than this share of it."""

_AT_A_TIME = 100
"""Points of the grid in one call: neighbours, for which a search takes about as many steps."""
_ZOOM_POINTS = 7
_ZOOMS = 25
"""Each zoom leaves 2 of 6 steps: 1e-12 of the range is left, enough for a touch with an edge."""

# Default range of a search, by the suffix of the variable's name.
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

_COUNTED = frozenset({"count", "bytes", "bits", "packets", "segments", "fragments", "mbufs"})
"""Last words of the names of what comes in whole numbers only."""


@dataclass(frozen=True, slots=True)
class Root:
    """A value of the variable that gives the result wanted, or the first of an interval that does.

    ``exact`` is False where the formula jumps over the result: the value is the first past the
    jump, ``result`` what the formula gives there, and ``before`` what it gives just below. ``last``
    is the last value of a step that gives the result all along; for a single value it is the same.
    """

    value: float
    result: float
    exact: bool
    before: float = np.nan
    last: float = np.nan

    def __post_init__(self) -> None:
        if np.isnan(self.last):
            object.__setattr__(self, "last", self.value)


@named_arguments
def default_range(name: str) -> tuple[float, float]:
    """Return where a variable of this name is looked for.

    Examples
    --------
    >>> default_range("loss_ratio")
    (1e-15, 1.0)
    """
    _text("name", name)
    return next(
        (limits for ending, limits in _RANGES.items() if name.endswith(ending)), _OTHER_RANGE
    )


@named_arguments
def solve(
    function: Callable[..., Any],
    *,
    for_: str,
    result: float,
    low: float | None = None,
    high: float | None = None,
    **arguments: Any,
) -> list[Root]:
    """Find all values of one variable for which a formula gives a result.

    Parameters
    ----------
    function : callable
        A public model.
    for_ : str
        Name of the argument to find.
    result : float
        The result wanted, in its SI unit.
    low, high : float, optional
        The range, ends included; by default :func:`default_range` of the name.
    **arguments
        The other arguments.

    Returns
    -------
    list of Root
        In ascending order; empty if there is none in the range. A step of a staircase is one.

    Raises
    ------
    DomainError
        If the range is empty, the variable unknown, or the result not a single number.
    ConvergenceError
        If a bracketed root is not found.
    """
    _text("for_", for_)
    if for_ not in inspect.signature(function).parameters:
        names = list(inspect.signature(function).parameters)
        raise errors.DomainError("not-a-choice", "for_", for_, choices=names)
    bottom, top = default_range(for_)
    bottom = bottom if low is None else scalar("low", as_float("low", low))
    top = top if high is None else scalar("high", as_float("high", high))
    if not -np.inf < bottom < top < np.inf:
        raise errors.DomainError("empty-range", "low, high", f"{bottom:g} to {top:g}")
    result = scalar("result", as_float("result", result))
    if not np.isfinite(result):
        raise errors.DomainError("not-finite", "result", f"{result:g}")

    swept = _Difference(function, for_, arguments, result)
    if for_.endswith("_count") or _only_whole(swept, bottom, top):
        return _whole_roots(swept, int(np.ceil(bottom)), int(top))
    grid = _grid(bottom, top)
    values = swept.at_all(grid)
    roots = [Root(float(at), result, True) for at in grid[values == 0]]
    signs = np.sign(values)
    crossed = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    for point in crossed:
        roots.append(_close_in(swept, float(grid[point]), float(grid[point + 1])))
    roots += _touching(swept, grid, values)
    return _in_steps(swept, roots, grid, values)


@named_arguments
def evaluate(function: Callable[..., Any], arguments: Mapping[str, Any]) -> float:
    """Call a formula with its first argument by position; nan where a value is impossible.

    Raises
    ------
    DomainError
        If the formula gives more than one number.
    """
    return _number(function, next(iter(inspect.signature(function).parameters)), arguments)


def _text(name: str, value: object) -> None:
    """Refuse a value other than text for the name of an argument."""
    if not isinstance(value, str):
        raise errors.ArgumentTypeError("not-text", name, value=value, example="loss_ratio")


def _number(function: Callable[..., Any], first: str, arguments: Mapping[str, Any]) -> float:
    try:
        value = _call(function, first, arguments)
    except errors.DomainError:
        return float("nan")
    if value.size != 1 or value.dtype.kind not in "fiu":
        raise errors.DomainError(
            "result-not-one-number", "result of the formula", f"shape {value.shape}"
        )
    return float(value.reshape(()))


def _call(function: Callable[..., Any], first: str, arguments: Mapping[str, Any]) -> NDArray[Any]:
    """Call a formula with its first argument by position, without warnings of what is tried."""
    keywords = {name: value for name, value in arguments.items() if name != first}
    with warnings.catch_warnings(), errors.doubts():
        warnings.simplefilter("ignore", errors.NotFiniteWarning)
        return np.asarray(function(*([arguments[first]] if first in arguments else []), **keywords))


class _Difference:
    """A formula less the result wanted, over the variable that is looked for."""

    def __init__(
        self, function: Callable[..., Any], name: str, arguments: Mapping[str, Any], result: float
    ) -> None:
        self.function = function
        self.name = name
        self.arguments = arguments
        self.result = result
        self.first = next(iter(inspect.signature(function).parameters))
        self.takes_arrays: bool | None = None  # not known until the first call
        # What a formula does not take, or cannot do, as an array it may do one by one.
        self.refusals = (TypeError, ValueError, errors.ConvergenceError)

    def __call__(self, value: float) -> float:
        """Return the difference at one point; nan where the argument is impossible."""
        arguments = {**self.arguments, self.name: value}
        return _number(self.function, self.first, arguments) - self.result

    def at_all(self, points: FloatArray) -> FloatArray:
        """Return the difference at each point, as calls one by one would."""
        if self.takes_arrays is not False:
            parts = [points[n : n + _AT_A_TIME] for n in range(0, points.size, _AT_A_TIME)]
            try:
                values = np.concatenate([self._part(part) for part in parts])
            except self.refusals:
                self.takes_arrays = False
            else:
                self.takes_arrays = self.takes_arrays or self._is_element_wise(points, values)
                if self.takes_arrays:
                    return self._exact(points, values)
        return np.array([self(float(point)) for point in points])

    def _part(self, points: FloatArray) -> FloatArray:
        """Return the difference at neighbouring points, in as few calls as it takes."""
        if points.size <= 2:
            return np.array([self(float(point)) for point in points])
        try:
            values = _call(self.function, self.first, {**self.arguments, self.name: points})
        except errors.DomainError:  # one point or all: halving finds out
            middle = points.size // 2
            return np.concatenate([self._part(points[:middle]), self._part(points[middle:])])
        if values.shape != points.shape or values.dtype.kind not in "fiu":
            raise TypeError(f"{points.size} points gave {values.dtype} of shape {values.shape}")
        return values.astype(np.float64) - self.result

    def _is_element_wise(self, points: FloatArray, values: FloatArray) -> bool:
        """Whether single calls give the same: a formula may take a list for its hops."""
        finite = np.flatnonzero(np.isfinite(values))
        some = finite[np.linspace(0, finite.size - 1, 5).astype(int)] if finite.size else finite
        alone = [self(float(point)) for point in points[some]]
        near = TOLERANCE * max(abs(self.result), 1e-300)
        return bool(np.allclose(alone, values[some], rtol=1e-9, atol=near))

    def _exact(self, points: FloatArray, values: FloatArray) -> FloatArray:
        """Return the values with those next to 0 from single calls, so that signs agree."""
        near = (np.abs(values) <= TOLERANCE * abs(self.result)) & (values != 0)
        values[near] = [self(float(point)) for point in points[near]]
        return values


def _grid(low: float, high: float) -> FloatArray:
    """Even in the logarithm where the range is wide and positive, else even."""
    if low > 0 and high / low > 100:
        grid = np.geomspace(low, high, GRID_POINTS)
        if high == 1.0:  # a share: as fine towards 1 as towards 0
            grid = np.unique(np.concatenate((grid[grid < 0.5], 1 - grid[grid < 0.5], [1.0])))
        return grid
    return np.unique(np.linspace(low, high, GRID_POINTS))  # a narrow range has fewer floats


def _close_in(swept: _Difference, low: float, high: float) -> Root:
    from scipy.optimize import brentq  # late: half of the package does without scipy

    last = low

    def at(point: float) -> float:
        nonlocal last
        last = point
        return swept(point)

    try:
        value, report = brentq(
            at, low, high, xtol=4e-300, rtol=4 * np.finfo(float).eps, maxiter=500,
            full_output=True, disp=False,
        )  # fmt: skip
    except ValueError as error:
        # scipy ends so where the formula has no value between two ends that have one.
        what = f"the root from {low:g} to {high:g}, where the formula is not defined throughout,"
        raise errors.ConvergenceError(
            what, iterations=0, residual=float("nan"), last=last
        ) from error
    if not report.converged:
        raise errors.ConvergenceError(
            "the root", iterations=report.iterations, residual=swept(value), last=value
        )
    return _root(swept, float(value))


def _root(swept: _Difference, value: float) -> Root:
    off = swept(value)
    return Root(value, swept.result + off, abs(off) <= TOLERANCE * max(abs(swept.result), 1e-300))


def _touching(swept: _Difference, grid: FloatArray, values: FloatArray) -> list[Root]:
    """Find the points where the formula reaches the result without crossing it.

    Wherever the formula turns back between two points of the grid, all such ranges are narrowed
    down at once.
    """
    dips = _dips(values)
    if not dips.size:
        return []
    rows = np.arange(dips.size)
    left, right = grid[dips - 1], grid[dips + 1]
    for _ in range(_ZOOMS):
        points = np.linspace(left, right, _ZOOM_POINTS, axis=1)
        size = np.abs(swept.at_all(points.ravel()).reshape(points.shape))
        nearest = np.argmin(np.nan_to_num(size[:, 1:-1], nan=np.inf), axis=1) + 1
        left, right = points[rows, nearest - 1], points[rows, nearest + 1]
    roots = [_root(swept, float(at)) for at in points[rows, nearest]]
    return [root for root in roots if root.exact]


def _dips(values: FloatArray) -> NDArray[np.intp]:
    """Return the points of the grid where the formula is nearer to the result than around them.

    Of two points that are equally near, as around a touch halfway between them, it is the first.
    """
    size, sign = np.abs(values), np.sign(values)
    falls, rises, level = size[1:] < size[:-1], size[1:] > size[:-1], size[1:] == size[:-1]
    lowest = falls[:-1] & rises[1:]
    lowest[:-1] |= falls[:-2] & level[1:-1] & rises[2:]
    one_sided = (sign[1:-1] == sign[:-2]) & (sign[1:-1] == sign[2:])
    return np.flatnonzero(lowest & one_sided) + 1


def _only_whole(swept: _Difference, low: float, high: float) -> bool:
    """True if the formula knows whole numbers only: it refuses those between."""
    inner = np.unique(np.floor(np.geomspace(max(low, 1.0), max(high, 1.0), 20)))
    inner = inner[(inner >= low) & (inner + 0.5 <= high)]
    if not inner.size:
        return False
    between = all(np.isnan(swept(float(at) + 0.5)) for at in inner)
    return between and any(np.isfinite(swept(float(at))) for at in inner)


def _whole_roots(swept: _Difference, low: int, high: int) -> list[Root]:
    grid = np.unique(np.round(_grid(float(low), float(high))))
    values = swept.at_all(grid)
    roots = [Root(float(at), swept.result, True) for at in grid[values == 0]]
    signs = np.sign(values)
    for point in np.flatnonzero(signs[:-1] * signs[1:] < 0):
        below, above = int(grid[point]), int(grid[point + 1])
        while above - below > 1:
            middle = (below + above) // 2
            if np.sign(swept(middle)) == signs[point]:
                below = middle
            else:
                above = middle
        roots.append(_root(swept, float(above)))
    return _in_steps(swept, roots, grid, values, only_whole=True)


def _in_steps(
    swept: _Difference,
    roots: list[Root],
    grid: FloatArray,
    values: FloatArray,
    *,
    only_whole: bool = False,
) -> list[Root]:
    """Return the roots in order; those on one step of a staircase as one, from its first value."""
    whole = only_whole or swept.name.rpartition("_")[2] in _COUNTED
    kept: list[Root] = []
    for root in sorted(roots, key=lambda root: root.value):
        if kept and root.value <= kept[-1].last:
            continue
        if root.exact:
            kept.append(_step(swept, root, grid, values, whole=whole))
        else:
            kept.append(_jump(swept, root, whole=whole, only_whole=only_whole))
    return kept


def _step(
    swept: _Difference, root: Root, grid: FloatArray, values: FloatArray, *, whole: bool
) -> Root:
    """Return a root with all of the step that it lies on; itself if there is no step."""
    off = swept(root.value)
    away = 1.0 if whole else 1e-7 * (abs(root.value) or float(grid[-1] - grid[0]))
    beside = np.clip([root.value - away, root.value + away], grid[0], grid[-1])
    if not any(swept(float(at)) == off for at in beside[beside != root.value]):
        return root
    level = (values == off) | (grid == root.value)
    below = grid[(grid < root.value) & ~level]
    above = grid[(grid > root.value) & ~level]

    def is_level(value: float) -> bool:
        return swept(np.round(value) if whole else value) == off

    start = _edge(is_level, root.value, float(below[-1])) if below.size else float(grid[0])
    end = _edge(is_level, root.value, float(above[0])) if above.size else float(grid[-1])
    if whole:
        start, end = float(np.round(start)), float(np.round(end))
    return Root(start, root.result, True, last=end)


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the last value that a condition holds for, from one that it does towards another."""
    for _ in range(200):  # halves any range of floats down to neighbours
        middle = 0.5 * (inside + outside)
        if middle in (inside, outside):
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _jump(swept: _Difference, root: Root, *, whole: bool, only_whole: bool) -> Root:
    """Return the first value past a jump over the result, with what the formula gives before it.

    Of a formula without a jump there, such as one that is steep, it is the root as it was found.
    """
    value = root.value
    if not only_whole:
        near, far = (
            swept(value + share * abs(value)) - swept(value - share * abs(value))
            for share in (1e-9, 1e-6)
        )
        if not abs(near) > 0.5 * abs(far):
            return root
    if whole:
        value = float(np.ceil(value - 1e-6))
        below = value - 1.0
    else:
        below, above = value - 1e-9 * abs(value), value + 1e-9 * abs(value)
        sign = np.sign(swept(above))
        value = _edge(lambda at: bool(np.sign(swept(at)) == sign), above, below)
    before = swept.result + swept(below)
    return Root(value, swept.result + swept(value), False, before=before)
