"""Steps in times over sizes: where one more byte costs more, with their confidence.

A straight line with steps is fitted: ``y = a + b x + sum of jump_k (x > c_k)``. Steps are added one
by one, the best first, as long as the F test rejects that it is scatter; the test counts that every
gap between two sizes was tried (Bonferroni).

>>> sizes = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
>>> times = [1.00, 1.11, 1.20, 1.29, 1.41, 2.50, 2.60, 2.71, 2.79, 2.90]
>>> found, = change_points(sizes, times).steps
>>> found.after, found.before, round(found.jump, 1)
(500.0, 600.0, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks import FloatArray, as_float, named_arguments, one_dimensional
from netcalc.errors import DomainError
from netcalc.messages import Notice

LEVEL = 0.01
"""Probability that scatter alone gives a step anywhere. [ratio]"""
CONFIDENCE = 0.95
"""Confidence of the intervals of place and jump. [ratio]"""
# A level needs points that hold it; with one, a single late packet would be a pair of steps.
FEWEST_BETWEEN = 3
"""Points between two steps, at least."""
FEWEST_FOR_STEPS, FEWEST_SIZES = 8, 4
"""Points and sizes that a search for steps needs."""
MAX_STEPS = 12
MOST_FOR_STEPS = 2000
"""Of more points no steps are looked for: the time of a search grows with their square."""
STEP_LEVEL = 0.001
"""Probability that scatter alone gives the times of a file a step. [ratio]"""


@dataclass(frozen=True, slots=True)
class Step:
    """A step: between which sizes it is, and how high.

    Parameters
    ----------
    after, before : float
        The last size below the step and the first above it. [unit of x]
    low, high : float
        Sizes between which it lies with 95 % confidence. [unit of x]
    jump, jump_stderr : float
        Its height, with standard error. [unit of y]
    p_value : float
        Probability that scatter gives such a step anywhere. [ratio]
    """

    after: float
    before: float
    low: float
    high: float
    jump: float
    jump_stderr: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class ChangePoints:
    """A line with steps.

    Parameters
    ----------
    steps : tuple of Step
        In the order of their sizes; empty where there is none beyond the scatter.
    intercept, slope : float
        The line below the first step. [unit of y], [unit of y per unit of x]
    scatter : float
        Standard deviation of the points around it. [unit of y]
    covariance : numpy.ndarray
        That of intercept, slope and the jumps, in this order.
    degrees : int
        Degrees of freedom of the scatter: the place of a step counts as one more.
    """

    steps: tuple[Step, ...]
    intercept: float
    slope: float
    scatter: float
    covariance: FloatArray = field(default_factory=lambda: np.full((2, 2), np.nan))
    degrees: int = 0

    @property
    def said(self) -> tuple[Notice, ...]:
        """Each step of a time over sizes, with the 95 % interval of its height by Student's t."""
        from scipy.special import stdtrit  # late, as half of the package works without scipy

        off = float(stdtrit(max(self.degrees, 1), (1 + CONFIDENCE) / 2))
        notices = []
        for step in self.steps:
            ends = abs(step.jump) - off * step.jump_stderr, abs(step.jump) + off * step.jump_stderr
            code = "times-step-up" if step.jump > 0 else "times-step-down"
            values = {
                "jump_s": abs(step.jump), "low_s": ends[0], "high_s": ends[1],
                "after_bytes": step.low, "before_bytes": step.high,
            }  # fmt: skip
            notices.append(Notice(code, values))
        return tuple(notices)

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Return the fitted value at each size. [unit of y]"""
        at = np.asarray(x, dtype=float)
        value = self.intercept + self.slope * at
        for step in self.steps:
            value = value + step.jump * (at > step.after)
        return value

    def stderr_at(self, x: ArrayLike) -> FloatArray:
        """Return the standard error of the fitted value at each size. [unit of y]"""
        at = np.asarray(x, dtype=float)
        columns = (np.ones_like(at), at, *(1.0 * (at > step.after) for step in self.steps))
        rows = np.stack(columns)
        square = np.einsum("i...,ij,j...->...", rows, self.covariance, rows)
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))


@named_arguments
def change_points(x: ArrayLike, y: ArrayLike, *, level: float = LEVEL) -> ChangePoints:
    """Find the steps of times over sizes.

    Parameters
    ----------
    x : 1-D array_like
        Sizes; where one occurs more than once, its points count each. [unit of x]
    y : 1-D array_like
        Times, best the minimum or median of each size; nan is left out. [unit of y]

    level : float
        Probability that scatter alone gives a step anywhere. [ratio]

    Returns
    -------
    ChangePoints
        The steps with their confidence, and the line between them.

    Raises
    ------
    DomainError
        If the lengths differ, there are fewer than eight points, or fewer than four sizes.

    References
    ----------
    Bai and Perron, "Computing and analysis of multiple structural change models", Journal of
    Applied Econometrics 18(1), 2003, doi:10.1002/jae.659 (one step at a time).
    """
    sizes = one_dimensional("x", as_float("x", x))
    values = one_dimensional("y", as_float("y", y))
    if sizes.shape != values.shape:
        raise DomainError("wrong-count", "y", count=values.size, expected=sizes.size)
    finite = np.isfinite(sizes) & np.isfinite(values)
    order = np.argsort(sizes[finite], kind="stable")
    sizes, values = sizes[finite][order], values[finite][order]
    ends = np.flatnonzero(np.diff(sizes) > 0)  # the last point below each gap
    if sizes.size < FEWEST_FOR_STEPS or ends.size < FEWEST_SIZES - 1:
        count = int(sizes.size)
        raise DomainError("too-few-for-steps", "x", count=count, least=FEWEST_FOR_STEPS)
    # A step at the first or last gap is one point that is off, and not a level.
    ends = ends[(ends >= FEWEST_BETWEEN - 1) & (ends < sizes.size - FEWEST_BETWEEN)]
    above = (np.arange(sizes.size) > ends[:, None]).astype(float)
    return _Search(sizes, values, ends, above, level).change_points()


def steps_of(x: FloatArray, y: FloatArray) -> ChangePoints | None:
    """Return the steps of points; None where there is none, or too few points to find one."""
    is_few = x.size < FEWEST_FOR_STEPS or np.unique(x).size < FEWEST_SIZES
    if is_few or x.size > MOST_FOR_STEPS:
        return None
    changes = change_points(x, y, level=STEP_LEVEL)
    return changes if changes.steps else None


@dataclass(frozen=True, slots=True)
class _Search:
    """Points in the order of their sizes, the last one below each gap, and the level of a step.

    ``above`` has a row for each gap: which points are above it. Steps are numbers of gaps.
    """

    sizes: FloatArray
    values: FloatArray
    ends: NDArray[np.intp]
    above: FloatArray
    level: float

    def change_points(self) -> ChangePoints:
        """Return the steps, added one by one, the best first."""
        chosen: list[int] = []
        while len(chosen) < MAX_STEPS:
            best = self._best(chosen)
            if best is None:
                break
            chosen = self._settled([*chosen, best])
        return self._described(sorted(chosen))

    def _rows(self, chosen: list[int]) -> FloatArray:
        """Return what values are a linear combination of, a column each; sizes scaled to 1."""
        scaled = (self.sizes - self.sizes[0]) / self._scale
        columns = [np.ones(self.sizes.size), scaled, *(self.above[step] for step in chosen)]
        return np.stack(columns, axis=1)

    @property
    def _scale(self) -> float:
        return float(np.ptp(self.sizes)) or 1.0

    def _gains(self, chosen: list[int]) -> tuple[FloatArray, float]:
        """Return by how much a step at each gap lowers the sum of squares, and that sum without."""
        basis, _ = np.linalg.qr(self._rows(chosen))
        residual = self.values - basis @ (basis.T @ self.values)
        free = self.above - (self.above @ basis) @ basis.T
        length = np.einsum("ij,ij->i", free, free)
        usable = length > 1e-9 * self.sizes.size
        gain = np.where(usable, (free @ residual) ** 2 / np.where(usable, length, 1.0), 0.0)
        return gain, float(residual @ residual)

    def _free_gaps(self, chosen: list[int]) -> NDArray[np.bool_]:
        """Return which gaps have points enough between them and the steps chosen."""
        free = np.ones(self.ends.size, bool)
        for step in chosen:
            free &= np.abs(self.ends - self.ends[step]) >= FEWEST_BETWEEN
        return free

    def _best(self, chosen: list[int]) -> int | None:
        """Return the gap of the next step, or None where none is beyond the scatter."""
        free = self._free_gaps(chosen)
        freedom = self.sizes.size - 3 - len(chosen)
        if not free.any() or freedom < 1:
            return None
        gain, left = self._gains(chosen)
        gain = np.where(free, gain, 0.0)
        best = int(np.argmax(gain))
        rounding = float(np.spacing(np.abs(self.values).max()))  # is no scatter
        rest = max(left - float(gain[best]), self.sizes.size * rounding**2)
        if _p_value(float(gain[best]), rest, freedom, int(free.sum())) > self.level:
            return None
        return best

    def _settled(self, chosen: list[int]) -> list[int]:
        """Move each step to its best place beside the others, and drop those no longer needed."""
        for _ in range(3):
            before = list(chosen)
            for step in before:
                others = [other for other in chosen if other != step]
                moved = self._best(others)
                chosen = others if moved is None else [*others, moved]
            if sorted(chosen) == sorted(before):
                break
        return chosen

    def _described(self, chosen: list[int]) -> ChangePoints:
        from scipy.special import fdtri

        rows = self._rows(chosen)
        solved, *_ = np.linalg.lstsq(rows, self.values, rcond=None)
        residual = self.values - rows @ solved
        # The place of a step is one more.
        freedom = max(self.sizes.size - rows.shape[1] - len(chosen), 1)
        variance = float(residual @ residual) / freedom
        covariance = variance * np.linalg.pinv(rows.T @ rows)
        steps = []
        for place, step in enumerate(chosen):
            others = [other for other in chosen if other != step]
            gain, left = self._gains(others)
            free = self._free_gaps(others)
            rest = left - gain
            allowed = rest[step] + variance * float(fdtri(1, freedom, CONFIDENCE))
            near = np.flatnonzero(free & (rest <= allowed))
            last, lowest, highest = (int(self.ends[gap]) for gap in (step, near.min(), near.max()))
            steps.append(
                Step(
                    after=float(self.sizes[last]),
                    before=float(self.sizes[last + 1]),
                    low=float(self.sizes[lowest]),
                    high=float(self.sizes[highest + 1]),
                    jump=float(solved[2 + place]),
                    jump_stderr=float(np.sqrt(covariance[2 + place, 2 + place])),
                    p_value=_p_value(
                        float(gain[step]), max(float(rest[step]), 0.0), freedom, int(free.sum())
                    ),
                )
            )
        first, slope = float(self.sizes[0]), float(solved[1]) / self._scale
        # From a line that begins at the first size, in spans, to a line that begins at 0.
        turn = np.eye(rows.shape[1])
        turn[0, 1], turn[1, 1] = -first / self._scale, 1.0 / self._scale
        scatter = float(np.sqrt(variance))
        return ChangePoints(
            tuple(steps), float(solved[0]) - slope * first, slope, scatter,
            turn @ covariance @ turn.T, freedom,
        )  # fmt: skip


def _p_value(gain: float, left: float, freedom: int, tried: int) -> float:
    from scipy.special import fdtrc  # late, as half of the package works without scipy

    if left <= 0.0:
        return 0.0 if gain > 0.0 else 1.0
    return min(1.0, tried * float(fdtrc(1, freedom, gain / (left / freedom))))
