"""Draws of the ranges of a network: each number that is not known exactly is a column of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netcalc.checks import FloatArray
from netcalc.planning.network.facts import median
from netcalc.uncertain import Distribution, Known


class Draws:
    """Draws by a Latin hypercube: each distribution has one draw in each of as many equal parts.

    The same seed gives the same draws. Numbers are drawn in the order in which they are asked for,
    one distribution as often as it is asked for: two links of 80 to 100 Mbit/s vary apart.

    Parameters
    ----------
    count : int
        Draws of each number.
    seed : int
        Another one draws other numbers.
    """

    def __init__(self, count: int, *, seed: int) -> None:
        self.count = count
        self._generator = np.random.default_rng(seed)

    def of(self, value: Known) -> FloatArray:
        """Return draws of a number, all alike if it is known exactly.

        Examples
        --------
        >>> Draws(4, seed=1).of(2.0).tolist()
        [2.0, 2.0, 2.0, 2.0]
        """
        if not isinstance(value, Distribution):
            return np.full(self.count, float(value))  # type: ignore[arg-type]
        parts = self._generator.permutation(self.count)
        shares = (parts + self._generator.random(self.count)) / self.count
        return np.asarray(value.ppf(shares))

    def of_all(self, values: Sequence[Known], *, least: float) -> FloatArray:
        """Return draws of several numbers, a row each; what is below the least is that."""
        if not any(isinstance(one, Distribution) for one in values):
            known: FloatArray = np.array(values, dtype=float)
            return np.broadcast_to(known[:, None], (known.size, self.count))
        return np.asarray(np.maximum([self.of(one) for one in values], least))


def medians(values: Sequence[Known]) -> FloatArray:
    """Return the numbers, of distributions their medians."""
    return np.array([median(one) for one in values])
