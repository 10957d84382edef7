"""A formula over a range of one argument, and solved for one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from netcalc import units
from netcalc.calculator.catalogue import Formula
from netcalc.calculator.parameter import Parameter
from netcalc.checks import FloatArray, derived_quantities, judged_names, used_ranges
from netcalc.errors import ConvergenceError, DomainError, NotFiniteWarning, doubts
from netcalc.solver import Root, default_range, solve

_PACKETS = ("frame_bytes", "packet_bytes", "mtu_bytes", "mss_bytes", "captured_bytes")
"""Ends of the names of sizes that are those of one real packet."""
_MANY = 10
"""Values from which on a formula is asked for all in one call."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A formula over a range of one argument: ``name`` in ``values``, and what comes out.

    ``columns`` has one column ``result``, or those of a formula of several results;
    ``refused`` is why values were left out, empty if none was; ``doubt`` says why some of what
    comes out is doubtful.
    """

    formula: Formula
    name: str
    values: FloatArray
    columns: Mapping[str, FloatArray]
    refused: str = ""
    doubt: str = ""


RESULT_CODES = ("result-not-one-number", "result-not-swept")
"""Refusals of a result, not of an argument: another value does not help."""


def sweep(
    formula: Formula,
    arguments: Mapping[str, Any],
    *,
    over: str,
    values: FloatArray,
    gaps: bool = False,
) -> Sweep:
    """Evaluate a formula for each value of one argument.

    Sizes of packets are rounded to whole bytes, as is what a formula takes in whole numbers only.
    With ``gaps``, the result is nan where a value is impossible, unless all are.

    Raises
    ------
    DomainError
        If a value is impossible, or the result is not a number.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> counts = sweep(formula("stream_mbufs"), {}, over="payload_bytes", values=[100.2, 199.9])
    >>> counts.values.tolist(), counts.columns["calls"].tolist()
    ([100.0, 200.0], [1.0, 2.0])
    """
    require_number(formula, formula.parameter(over))
    with doubts():  # of what is tried
        values = as_taken(formula, arguments, over, np.asarray(values, dtype=float))
    with doubts() as doubtful:
        swept = _swept(formula, arguments, over, values, gaps=gaps)
    unique = {(doubt.code, doubt.values.get("name")): doubt for doubt in doubtful}
    columns = tuple(swept.columns.values())
    return replace(swept, doubt=formula.doubt(columns, list(unique.values())))


def _swept(
    formula: Formula, arguments: Mapping[str, Any], over: str, values: FloatArray, *, gaps: bool
) -> Sweep:
    at_once = _all_at_once(formula, arguments, over, values)
    if at_once is not None:
        return Sweep(formula, over, values, at_once)
    rows: list[dict[str, float] | None] = []
    refused: list[DomainError] = []
    for value in values.tolist():
        try:
            rows.append(_numbers(formula, formula.evaluate({**arguments, over: value})))
        except DomainError as error:
            if not gaps or error.code in RESULT_CODES:
                raise
            refused.append(error)
            rows.append(None)
    if len(refused) == len(rows):
        raise refused[0]
    names = next(row for row in rows if row is not None)
    columns = {name: np.array([row[name] if row else np.nan for row in rows]) for name in names}
    return Sweep(formula, over, values, columns, str(refused[0]) if refused else "")


def family(
    formula: Formula,
    arguments: Mapping[str, Any],
    *,
    over: str,
    values: FloatArray,
    by: str,
    by_values: FloatArray,
) -> list[Sweep]:
    """Evaluate a formula for each value of two arguments: a sweep for each value of ``by``.

    Raises
    ------
    DomainError
        If a value is impossible, the result is not a number, or both arguments are one.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> both = family(formula("bdp"), {}, over="rtt_s", values=[0.01, 0.1], by="bandwidth_bps",
    ...               by_values=[1e6, 1e9])
    >>> [one.columns["result"].tolist() for one in both]
    [[1250.0, 12500.0], [1250000.0, 12500000.0]]
    """
    if formula.parameter(over) is formula.parameter(by):
        raise DomainError("swept-twice", by, over)
    require_number(formula, formula.parameter(by))
    return [
        sweep(formula, {**arguments, by: value}, over=over, values=values)
        for value in np.asarray(by_values, dtype=float).tolist()
    ]


def _all_at_once(
    formula: Formula, arguments: Mapping[str, Any], over: str, values: FloatArray
) -> dict[str, FloatArray] | None:
    """Return the columns from one call; None where values are to be asked for one by one."""
    if values.size < _MANY:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotFiniteWarning)
            result = formula.evaluate({**arguments, over: values})
    except (TypeError, ValueError, ConvergenceError):  # one of them is refused, or it takes none
        return None
    by_name = result._asdict() if hasattr(result, "_asdict") else {"result": result}
    columns = {name: np.asarray(column) for name, column in by_name.items()}
    if any(c.shape != values.shape or c.dtype.kind not in "fiub" for c in columns.values()):
        return None
    # What takes a list as one thing, such as the samples of a run, gives others by themselves.
    for index in (0, values.size // 2, -1):
        alone = _numbers(formula, formula.evaluate({**arguments, over: float(values[index])}))
        for name, column in columns.items():
            if not np.isclose(column[index], alone[name], rtol=1e-9, atol=0.0, equal_nan=True):
                return None
    return {name: column.astype(np.float64) for name, column in columns.items()}


def require_number(formula: Formula, parameter: Parameter) -> None:
    """Refuse an argument that is not a single number, with those that are."""
    if parameter.kind != "number":
        numbers = [p.short_name for p in formula.parameters if p.kind == "number"]
        kind = f"a {parameter.kind}" if parameter.kind in ("list", "choice") else parameter.kind
        code = "not-sweepable" if numbers else "no-number-to-sweep"
        raise DomainError(code, parameter.short_name, kind, numbers=numbers)


def as_taken(
    formula: Formula, arguments: Mapping[str, Any], over: str, values: FloatArray
) -> FloatArray:
    """Return values, rounded if they are packets or the formula takes whole numbers only."""
    if formula.parameter(over).name.endswith(_PACKETS):
        rounded = np.round(values)
        if (values != rounded).any() and np.unique(rounded).size > 1:
            values = np.unique(rounded)
    for value in values[values != np.round(values)][:1].tolist():
        try:
            formula.evaluate({**arguments, over: value})
        except DomainError as error:
            if error.code == "not-whole" or formula.parameter(over).name.endswith("_count"):
                return np.unique(np.round(values))
    return values


def _numbers(formula: Formula, result: Any) -> dict[str, float]:
    columns = result._asdict() if hasattr(result, "_asdict") else {"result": result}
    for value in columns.values():
        if np.ndim(value) or not isinstance(value, int | float | np.number | np.bool_ | np.ndarray):
            shown = type(result).__name__
            raise DomainError("result-not-swept", f"result of {formula.name}", shown)
    return {name: float(value) for name, value in columns.items()}


def sweep_range(parameter: Parameter, value: float) -> tuple[float, float, bool]:
    """Return a range of an argument around a value, and whether it is logarithmic.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> sweep_range(formula("transfer").parameter("latency"), 0.03)
    (0.003, 0.3, True)
    >>> sweep_range(formula("mm1_wait").parameter("utilization"), 0.8)
    (0.0, 1.0, False)
    """
    if parameter.unit == "ratio" and value >= 0.05:
        return 0.0, 1.0, False
    if value > 0 and np.isfinite(value):
        low = max(1.0, value / 10) if parameter.unit == "1" and value >= 1 else value / 10
        high = min(value * 10, 1.0) if parameter.unit == "ratio" else value * 10
        return low, float(f"{high:.12g}"), True
    typical = units.example(parameter.unit).rpartition(" such as ")[2]
    return 0.0, parameter.read(typical) if parameter.unit not in ("1", "ratio") else 1.0, False


@dataclass(frozen=True, slots=True)
class Solution:
    """The values of one argument, from ``low`` to ``high``, that give the result ``target``.

    ``doubt`` says why some of them are doubtful.
    """

    formula: Formula
    parameter: Parameter
    target: float
    low: float
    high: float
    roots: tuple[Root, ...]
    doubt: str = ""

    @property
    def lines(self) -> list[str]:
        """Every root as people read it, or that there is none."""
        show = self.parameter.show
        if not self.roots:
            return [f"no solution in [{show(self.low)}, {show(self.high)}]"]
        return [self._line(root) for root in self.roots]

    def _line(self, root: Root) -> str:
        if root.last > root.value:
            first, last = self._whole(root.value), self._whole(root.last)
            if root.last >= self.high:
                return f"{first} or more (to the end of the range, {last})"
            return f"{first} to {last}"
        if root.exact:
            return self.parameter.show(root.value)
        target, there, before = self._apart(self.target, root.result, root.before)
        value = self._whole(root.value)
        least = ", the least for it" if root.result > root.before else ""
        return f"{value} (no value gives {target}: {there} from here{least}, {before} below)"

    def _apart(self, *results: float) -> list[str]:
        """Write results with as many digits as they need to differ."""
        for digits in range(4, 18):
            texts = [units.show(value, self.formula.unit, digits=digits) for value in results]
            if len(set(texts)) == len(set(results)):
                break
        return texts

    def _whole(self, value: float) -> str:
        """Write a value, with all of its digits if it counts and is not astronomical."""
        if self.parameter.unit in ("byte", "bit", "1") and value == round(value) and value < 1e9:
            return f"{self.parameter.show(value, digits=9)}"
        return self.parameter.show(value)


def solve_for(
    formula: Formula, arguments: Mapping[str, Any], *, over: str, result: str, limits: str = ""
) -> Solution:
    """Find the values of one argument that give a result that is written as text.

    Parameters
    ----------
    formula : Formula
        The formula.
    arguments : mapping of str to object
        The other arguments; one of this argument is not used.
    over : str
        The argument to find.
    result : str
        The result with its unit.
    limits : str
        ``LOW:HIGH``, as in ``1ms:10s``; by default as wide as
        :func:`netcalc.solver.default_range`.

    Raises
    ------
    DomainError, UnitError
        If a text is refused, another argument is missing, or the formula gives no single number.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> line = {"payload_bytes": 1e6, "latency_s": 0.03}
    >>> solve_for(formula("transfer"), line, over="bandwidth", result="1.03 s").lines
    ['8 Mbit/s']
    """
    parameter, target, low, high, others = sought(
        formula, arguments, over=over, result=result, limits=limits
    )
    roots = solve(
        formula.function, for_=parameter.name, result=target, low=low, high=high, **others
    )
    doubtful = {
        (doubt.code, doubt.values.get("name")): doubt
        for root in roots
        for doubt in formula.answer({**others, parameter.name: root.value})[1]
    }
    doubt = formula.doubt(None, list(doubtful.values()))
    return Solution(formula, parameter, target, low, high, tuple(roots), doubt)


def sought(
    formula: Formula, arguments: Mapping[str, Any], *, over: str, result: str, limits: str
) -> tuple[Parameter, float, float, float, dict[str, Any]]:
    """Return the argument to find, the result, the range, and the other arguments.

    Raises
    ------
    DomainError, UnitError
        If a text is refused, or another argument is missing.
    """
    parameter = formula.parameter(over)
    require_number(formula, parameter)
    low, high = default_range(parameter.name)
    if limits:
        ends = limits.split(":")
        if len(ends) != 2:
            raise DomainError("malformed-range", "range of --solve", limits)
        low, high = parameter.read(ends[0]), parameter.read(ends[1])
    others = {name: value for name, value in arguments.items() if name != parameter.name}
    for other in formula.parameters:
        if other.required and other is not parameter and other.name not in others:
            raise other.required_error()
    target = Parameter("result", formula.unit, "number", None, "").read(result)
    return parameter, target, low, high, others


def parse_range(text: str, parameter: Parameter) -> FloatArray:
    """Read the values of a sweep: ``1ms:300ms:log50``, ``64B:1518B:10`` or ``64B,128B,256B``.

    Raises
    ------
    UnitError, DomainError
        If an end is not a quantity of the parameter's unit, or the number of steps is not from 2 to
        100,000.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> latency = formula("transfer").parameter("latency")
    >>> parse_range("1ms:100ms:log3", latency).round(3).tolist()
    [0.001, 0.01, 0.1]
    """
    if parameter.kind != "number":
        raise DomainError("not-sweepable", parameter.short_name, parameter.kind, numbers=[])
    parts = text.split(":")
    if len(parts) == 1:
        return np.array([parameter.read(value) for value in parameter.values(text)])
    steps = re.fullmatch(r"(?=.)(log|lin)?\s*(\d*)", parts[2].strip()) if len(parts) == 3 else None
    if len(parts) > 3 or (len(parts) == 3 and steps is None):
        raise DomainError("malformed-sweep", "sweep", text)
    low, high = map(parameter.read, units.alike(parts[:2], parameter.unit))
    count = int(steps[2]) if steps and steps[2] else 50
    if not 2 <= count <= 100_000:
        raise DomainError("out-of-range", "steps of the sweep", count, low=2, high=100_000)
    if steps and steps[1] == "log":
        if low <= 0 or high <= 0:
            raise DomainError("log-sweep-not-positive", "sweep", text)
        return _rounded(np.geomspace(low, high, count))
    return _rounded(np.linspace(low, high, count))


def _rounded(grid: FloatArray) -> FloatArray:
    """Return a grid between its ends without the errors of its sums: 100%, not 99.99999999999999%.

    The ends stay as they were typed.
    """
    inner = [float(f"{value:.12g}") for value in grid[1:-1]]
    return np.array([grid[0], *inner, grid[-1]])


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
    formula: Formula,
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
    formula : Formula
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
    swept = sweep(formula, arguments, over=over, values=grid)
    (y,) = swept.columns.values()
    x = np.asarray(swept.values, dtype=float)

    def at(value: float) -> float:
        # A place between whole numbers belongs to the one below where fractions are refused.
        try:
            return float(formula.evaluate({**arguments, over: value}))
        except DomainError:
            return float(formula.evaluate({**arguments, over: np.floor(value)}))

    shades = _shades(formula, arguments, over, x, y)
    y = np.where(np.isfinite(y), y, np.nan)
    if not is_staircase(y):
        return Curve(x, y, False, shades)
    return Curve(*_corners(at, x, y), True, shades)


def is_staircase(y: FloatArray) -> bool:
    """Whether most neighbours are equal, on three levels or more."""
    levels = y[np.isfinite(y)]
    if levels.size < 3:
        return False
    jumps = int(np.count_nonzero(levels[1:] != levels[:-1]))
    return 2 <= jumps <= min(_MOST_STEPS, levels.size // 2)


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
    formula: Formula, arguments: Mapping[str, Any], over: str, x: FloatArray, y: FloatArray
) -> tuple[Shade, ...]:
    """Return where there is no number, and where one lies outside the published range."""
    gaps = _runs(x, ~np.isfinite(y), "no-number")
    ranges = formula.published_ranges or {}
    outside = np.zeros(x.shape, dtype=bool)
    judged = derived_quantities(formula.function)
    if judged or used_ranges(formula.function):
        outside |= _noted(formula, arguments, over, x, judged_names(formula.function))
    fixed = {**{p.name: p.default for p in formula.parameters}, **arguments, "result": y, over: x}
    for name in ranges.keys() & fixed.keys() - judged.keys():
        values = fixed[name]
        if values is not None and np.ndim(values) in (0, 1) and np.shape(values) in ((), x.shape):
            low, high = ranges[name]
            outside |= np.isfinite(values) & ((values < low) | (values > high))
    return (*gaps, *_runs(x, outside & np.isfinite(y), "beyond-published-range"))


def _noted(
    formula: Formula,
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
            _, doubts = formula.answer({**arguments, over: value})
        except DomainError:  # a fraction of what is counted
            _, doubts = formula.answer({**arguments, over: np.floor(value)})
        return any(doubt.values.get("name") in judged or doubt.code in _OUTSIDE for doubt in doubts)

    outside = np.zeros(x.shape, dtype=bool)
    asked = [*range(0, x.size - 1, _NOTED_STEP), x.size - 1]
    for left, right in pairwise(asked):
        below, above = left, right
        while noted(left) != noted(right) and above - below > 1:  # close in on the edge
            middle = (below + above) // 2
            below, above = (middle, above) if noted(middle) == noted(left) else (below, middle)
        outside[left:above] = noted(left)
        outside[above : right + 1] = noted(right)
    return outside


def _runs(x: FloatArray, holds: np.ndarray[Any, Any], code: str) -> tuple[Shade, ...]:
    """Return the stretches of the axis where a condition holds, half a step wider at each end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(int)))
    middles = np.concatenate(([x[0]], 0.5 * (x[1:] + x[:-1]), [x[-1]]))
    return tuple(
        Shade(float(middles[start]), float(middles[end]), code)
        for start, end in zip(edges[::2], edges[1::2], strict=True)
    )
