"""Draws of several inputs: a scrambled Sobol sequence, correlated by a Gaussian copula."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import MAX_ELEMENTS, FloatArray, named_arguments
from netcalc.errors import DomainError
from netcalc.uncertain.distributions import Distribution

DRAWS = 10_000
"""Draws unless another number is asked for."""
MAX_DRAWS = MAX_ELEMENTS
"""Most draws: their results are held in memory. [1]"""
BLOCK_DRAWS = 1 << 16
"""Draws that are computed at a time, and handed to one worker."""
_HALF_STEP = 2.0**-31  # half of the step of a Sobol sequence of 30 bits: no share is 0 or 1


@named_arguments
def prepare() -> None:
    """Load what draws need, which takes most of the time of a few of them."""
    import scipy.special
    import scipy.stats  # noqa: F401


@dataclass(frozen=True)
class Plan:
    """How inputs are drawn: their distributions, the seed, and the factor of their correlation.

    Any block of draws can be made without those before it, so that workers share them.
    """

    inputs: Mapping[str, Distribution]
    seed: int
    mixing: FloatArray | None = None

    def block(self, start: int, count: int) -> dict[str, FloatArray]:
        """Return ``count`` draws of each input, the first of them number ``start``."""
        return Draws(self).block(start, count)

    def values(self, shares: FloatArray) -> dict[str, FloatArray]:
        """Return the values of each input at rows of shares."""
        rows = zip(self.inputs.items(), np.ascontiguousarray(shares), strict=True)
        return {name: one.ppf(row) for (name, one), row in rows}


class Draws:
    """The draws of a plan, block by block; quick in ascending order."""

    def __init__(self, plan: Plan) -> None:
        from scipy.stats import qmc

        self.plan = plan
        sobol: Any = qmc.Sobol  # by the name of its argument that older versions know, too
        rng = np.random.default_rng(plan.seed)
        self._engine = sobol(len(plan.inputs), scramble=True, seed=rng)
        self._next = 0

    def block(self, start: int, count: int) -> dict[str, FloatArray]:
        """Return ``count`` draws of each input, the first of them number ``start``."""
        if start < self._next:
            self._engine.reset()
            self._next = 0
        if start > self._next:
            self._engine.fast_forward(start - self._next)
        with warnings.catch_warnings():
            # That a number of draws is no power of two makes them a little less even.
            warnings.filterwarnings("ignore", "The balance properties")
            shares = self._engine.random(count).T + _HALF_STEP
        self._next = start + count
        factor = self.plan.mixing
        return self.plan.values(shares if factor is None else _mixed(shares, factor))


def _mixed(shares: FloatArray, factor: FloatArray) -> FloatArray:
    from scipy.special import ndtr, ndtri

    correlated = ndtr(factor @ ndtri(shares))
    # A sum of extreme scores may round to a share of 1.
    return np.clip(correlated, np.finfo(float).tiny, 1.0 - 2.0**-53)


def mixing(
    names: tuple[str, ...], correlations: Mapping[tuple[str, str], float]
) -> FloatArray | None:
    """Return the matrix that correlates independent normal scores; None if none are correlated.

    Raises
    ------
    DomainError
        If a name is no input that varies, a coefficient is outside -1 to 1, or no distribution has
        these correlations at once.
    """
    if not correlations:
        return None
    matrix = np.eye(len(names))
    for pair, coefficient in correlations.items():
        first, second = (_index(name, names) for name in pair)
        if first == second:
            raise DomainError("correlated-with-itself", "correlations", names[first])
        if not -1.0 <= coefficient <= 1.0:
            raise DomainError("out-of-range", "correlations", coefficient, low=-1.0, high=1.0)
        matrix[first, second] = matrix[second, first] = coefficient
    sizes, directions = np.linalg.eigh(matrix)
    if sizes[0] < -1e-9:
        raise DomainError("correlations-impossible", "correlations", float(sizes[0]))
    return np.asarray(directions * np.sqrt(np.maximum(sizes, 0.0)) @ directions.T)


def _index(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise DomainError("correlated-no-range", name, None)
    return names.index(name)
