"""A model with uncertain inputs solved for one argument: its value in each draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray, named_arguments
from netcalc.messages import Notice
from netcalc.solver import TOLERANCE, Root, default_range, solve
from netcalc.uncertain import sampling
from netcalc.uncertain.distributions import Distribution, Known
from netcalc.uncertain.spreads import PERCENTILES, percentiles_of

SLOW_DRAWS = 200
"""Draws that are solved one by one, unless their number is given. [1]"""
_GRID = 65
"""Points of the range at which all draws are computed, and as many around the solution at the
medians. [1]"""
_AROUND = 30.0
"""The finer part of the grid goes from the solution at the medians divided by this up to it times
this. [1]"""
_HALVINGS = 100
_ASKED = 16  # solutions that are asked one by one whether they are doubtful
_TRIED = 16  # draws that are solved by themselves, to see whether all at once is right
_WITHOUT = 32  # of those without a solution as many


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """The values of one argument that give a result, in each draw of the others.

    Parameters
    ----------
    samples : numpy.ndarray
        The value in each draw: the least where several are solutions, nan where none is.
    last : numpy.ndarray
        Where a formula is a staircase: the last value of the step; elsewhere as ``samples``.
    percentiles, last_percentiles : mapping of float to float
        Percentiles of the draws that have a solution.
    share_without : float
        Share of the draws that have none.
    low, high : float
        Where they were looked for.
    inputs : mapping of str to Distribution
        The inputs that vary, as they were drawn.
    correlations : mapping of pairs of str to float
        Their correlations.
    seed : int
        The seed of the draws.
    notes : tuple of Notice
        What a reader should know.
    """

    samples: FloatArray
    last: FloatArray
    percentiles: Mapping[float, float]
    last_percentiles: Mapping[float, float]
    share_without: float
    low: float
    high: float
    inputs: Mapping[str, Distribution]
    correlations: Mapping[tuple[str, str], float]
    seed: int
    notes: tuple[Notice, ...]

    @property
    def draws(self) -> int:
        """Number of draws."""
        return int(self.samples.size)

    @property
    def is_interval(self) -> bool:
        """Whether the solution of some draw is a step of a staircase."""
        return bool((self.last > self.samples).any())


@named_arguments
def solutions(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    for_: str,
    result: float,
    low: float | None = None,
    high: float | None = None,
    draws: int | None = None,
    seed: int = 0,
    percentiles: Sequence[float] = PERCENTILES,
    correlations: Mapping[tuple[str, str], float] | None = None,
    truncate: bool = False,
) -> Solutions:
    """Solve a model for one argument in each draw of the others.

    Where the model takes arrays and goes through the result without a jump, all draws are halved
    down to their solutions at once; elsewhere each draw is solved by :func:`netcalc.solver.solve`.

    Parameters
    ----------
    model : callable
        A public model.
    inputs : mapping of str to Distribution, frozen distribution, or value
        The other arguments, as in :func:`netcalc.uncertain.spread`.
    for_ : str
        Name of the argument to find.
    result : float
        The result to reach, in its SI unit.
    low, high : float, optional
        The range, ends included; by default :func:`netcalc.solver.default_range` of the name.
    draws : int, optional
        Number of draws; by default 10,000, or 200 where each is solved by itself.
    seed : int
        The same seed gives the same draws.
    percentiles : sequence of float
        Percentiles to return, from 0 to 100.
    correlations : mapping of pairs of str to float, optional
        As in :func:`netcalc.uncertain.spread`.
    truncate : bool
        Leave out of the inputs what the model refuses, with a note, in place of an error.

    Returns
    -------
    Solutions
        The value in each draw, its percentiles, and the share of draws without one.

    Raises
    ------
    DomainError
        If draws are impossible for the model, the range is empty, a name is unknown, or the result
        is not a single number.

    Examples
    --------
    >>> from netcalc.models.delays.latency import transfer_s
    >>> from netcalc.uncertain import uniform
    >>> found = solutions(transfer_s, {"payload_bytes": uniform(1e6, 2e6), "latency_s": 0.0},
    ...                   for_="bandwidth_bps", result=1.0)
    >>> [round(value / 1e6, 1) for value in found.percentiles.values()]
    [8.4, 12.0, 15.6]
    >>> found.share_without
    0.0
    """
    sampling.check_numbers(sampling.DRAWS if draws is None else draws, seed, percentiles)
    plan, fixed, joined = sampling.planned(
        model, inputs, seed=seed, correlations=correlations, free=for_
    )
    bottom, top = default_range(for_)
    bottom, top = (bottom if low is None else low), (top if high is None else high)
    problem = _Problem(model, fixed, for_, float(result), bottom, top)
    notes: dict[str, Notice] = {}
    plan, middle = _possible(problem, plan, truncate=truncate, notes=notes)
    drawn = sampling.Draws(plan).block(0, sampling.DRAWS if draws is None else draws)
    ends = _at_once(problem, drawn, middle, notes)
    if ends is None:
        if draws is None:
            drawn = {name: column[:SLOW_DRAWS] for name, column in drawn.items()}
            notes["fewer"] = Notice("draws-fewer", {"draws": SLOW_DRAWS, "usual": sampling.DRAWS})
        ends = _each_alone(problem, drawn, notes)
    first, last = ends
    notes |= _doubtful(problem, drawn, first)
    return Solutions(
        samples=first,
        last=last,
        percentiles=percentiles_of(first, percentiles),
        last_percentiles=percentiles_of(last, percentiles),
        share_without=float(np.isnan(first).mean()),
        low=bottom,
        high=top,
        inputs=plan.inputs,
        correlations=dict(joined),
        seed=seed,
        notes=tuple(notes.values()),
    )


def _doubtful(
    problem: _Problem, drawn: Mapping[str, FloatArray], solved: FloatArray
) -> dict[str, Notice]:
    """Return a note for each kind of doubt about some of the solutions."""
    some = np.flatnonzero(np.isfinite(solved))[:_ASKED]
    at = {**{name: column[some] for name, column in drawn.items()}, problem.name: solved[some]}
    every = sampling.Evaluation(problem.model, problem.fixed).doubts_of(at)
    told = {sampling.doubt_key(doubt): doubt for doubts in every for doubt in doubts}
    return {str(key): Notice("band-doubtful", {"doubt": doubt}) for key, doubt in told.items()}


@dataclass(frozen=True)
class _Problem:
    """An equation to be solved for one argument."""

    model: Callable[..., Any]
    fixed: Mapping[str, Any]
    name: str
    result: float
    low: float
    high: float

    def roots(self, others: Mapping[str, float]) -> list[Root]:
        """Return the solutions of one draw."""
        return solve(
            self.model, for_=self.name, result=self.result, low=self.low, high=self.high,
            **{**self.fixed, **_listed(self.fixed, others)},
        )  # fmt: skip


def _listed(fixed: Mapping[str, Any], draw: Mapping[str, float]) -> dict[str, Any]:
    """Return the numbers of a draw as arguments: elements of a list in their list."""
    arguments: dict[str, Any] = {n: v for n, v in draw.items() if not n.endswith("]")}
    for name in {n.partition("[")[0] for n in draw if n.endswith("]")}:
        values = enumerate(fixed[name])
        arguments[name] = [draw.get(f"{name}[{index}]", value) for index, value in values]
    return arguments


def _medians(plan: sampling.DrawPlan) -> dict[str, float]:
    return {name: float(item.ppf(np.array(0.5))) for name, item in plan.inputs.items()}


def _possible(
    problem: _Problem, plan: sampling.DrawPlan, *, truncate: bool, notes: dict[str, Notice]
) -> tuple[sampling.DrawPlan, float]:
    """Return a plan of draws that the model takes, and the solution at their medians or nan."""

    def run(plan: sampling.DrawPlan) -> float:
        roots = problem.roots(_medians(plan))
        middle = roots[0].value if roots else np.nan
        points = [middle] if roots else np.geomspace(max(problem.low, 1e-9), problem.high, 9)[1:-1]
        for point in points:
            evaluation = sampling.Evaluation(
                problem.model, {**problem.fixed, problem.name: float(point)}
            )
            with np.errstate(all="ignore"):
                evaluation.together(sampling.Draws(plan).block(0, sampling.DRAWS))
        return middle

    return sampling.attempted(run, plan, truncate=truncate, notes=notes)


def _at_once(
    problem: _Problem, drawn: Mapping[str, FloatArray], middle: float, notes: dict[str, Notice]
) -> tuple[FloatArray, FloatArray] | None:
    """Return the solutions of all draws by halving; None where that is not sure to be right."""
    if problem.name.endswith("_count"):
        return None
    off = _Off(problem, drawn)
    grid = _grid(problem, middle)
    with np.errstate(all="ignore"):
        rows = [off(np.full(off.count, point)) for point in grid]
        if off.is_single:
            return None
        values = np.stack(rows)
        crossed = values[:-1] * values[1:] < 0.0
        several = float((crossed.sum(axis=0) > 1).mean())
        has_one = crossed.any(axis=0)
        at = np.argmax(crossed, axis=0)
        low, high = grid[at], grid[at + 1]
        sign = np.sign(np.take_along_axis(values, at[np.newaxis], axis=0)[0])
        for _ in range(_HALVINGS):
            point = np.sqrt(low) * np.sqrt(high) if problem.low > 0.0 else 0.5 * (low + high)
            is_before = np.sign(off(point)) == sign
            low, high = np.where(is_before, point, low), np.where(is_before, high, point)
        value = off(high)
        near = np.abs(value) <= TOLERANCE * max(abs(problem.result), 1e-300)
        beside = off(high * (1.0 + 1e-7)) == value
    if (has_one & (~near | beside)).any():  # a jump, or a step
        return None
    solved = np.where(has_one, high, np.nan)
    if not _confirmed(problem, drawn, solved):
        return None
    if several:
        notes["several"] = Notice("draws-several-solutions", {"share": several})
    return solved, solved


class _Off:
    """The model less the result to reach, at one value for each draw; nan where it has none."""

    def __init__(self, problem: _Problem, drawn: Mapping[str, FloatArray]) -> None:
        self.problem, self.drawn = problem, drawn
        self.count = next(iter(drawn.values())).size
        self._evaluation = sampling.Evaluation(problem.model, problem.fixed)

    @property
    def is_single(self) -> bool:
        """Whether the model takes one draw at a time."""
        return self._evaluation.at_once is not True

    def __call__(self, points: FloatArray) -> FloatArray:
        nothing = np.full(self.count, np.nan)
        try:
            columns = self._evaluation.together({**self.drawn, self.problem.name: points})
        except sampling.RefusedDraws:
            return nothing
        if columns is None or len(columns) != 1:
            return nothing
        [column] = columns.values()
        return column - self.problem.result


def _grid(problem: _Problem, middle: float) -> FloatArray:
    low, high = problem.low, problem.high
    if not low > 0.0:
        return np.linspace(low, high, 2 * _GRID)
    around = max(low, middle / _AROUND), min(high, middle * _AROUND)
    parts = [np.geomspace(low, high, _GRID)]
    parts += [np.geomspace(*(around if around[0] < around[1] else (low, high)), 2 * _GRID)]
    grid = np.concatenate(parts)
    if high == 1.0:  # a share: as fine towards 1 as towards 0
        grid = np.concatenate([grid, 1.0 - grid[grid < 0.5]])
    return np.unique(np.clip(grid, low, high))


def _confirmed(problem: _Problem, drawn: Mapping[str, FloatArray], solved: FloatArray) -> bool:
    """Whether some draws have the same least solution by themselves."""
    without = np.flatnonzero(np.isnan(solved))[:_WITHOUT].tolist()
    for index in {*np.linspace(0, solved.size - 1, _TRIED).astype(int).tolist(), *without}:
        roots = problem.roots({name: float(column[index]) for name, column in drawn.items()})
        if bool(roots) is bool(np.isnan(solved[index])):
            return False
        if roots and not np.isclose(roots[0].value, solved[index], rtol=1e-6, atol=0.0):
            return False
        if roots and (roots[0].last > roots[0].value or not roots[0].exact):
            return False
    return True


def _each_alone(
    problem: _Problem, drawn: Mapping[str, FloatArray], notes: dict[str, Notice]
) -> tuple[FloatArray, FloatArray]:
    """Return the least solution of each draw, and the end of its step."""
    count = next(iter(drawn.values())).size
    first, last = np.full(count, np.nan), np.full(count, np.nan)
    several = 0
    for index in range(count):
        roots = problem.roots({name: float(column[index]) for name, column in drawn.items()})
        several += len(roots) > 1
        if roots:
            first[index], last[index] = roots[0].value, roots[0].last
    if several:
        notes["several"] = Notice("draws-several-solutions", {"share": several / count})
    return first, last
