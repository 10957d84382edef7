"""Which input matters most: Sobol indices of the result's variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.messages import Notice
from netcalc.uncertain.draws import BLOCK_DRAWS, Draws, Plan
from netcalc.uncertain.evaluation import Evaluation

POINTS = 1 << 12
"""Points of each input; the model is evaluated at inputs + 2 times as many, for each repetition.
[1]"""
MORE_POINTS = 1 << 15
"""The same where a long tail of the result asks for more. [1]"""
SLOW_POINTS = 1 << 8
"""Points of each input where the model takes one draw at a time. [1]"""
REPETITIONS = 4
"""Estimates from scrambled sequences of their own: they differ by as much as they are wrong. [1]"""
ROUGH = 0.01
"""Standard error of an index from which on it is said. [1]"""
_TRIED = 16  # draws that show whether the model takes arrays

_LEAST_PER_BIN, _MOST_BINS = 50, 64


@dataclass(frozen=True)
class Importance:
    """First-order and total Sobol indices, or what each input explains alone and the reason."""

    first_order: Mapping[str, float] = field(default_factory=dict)
    total_order: Mapping[str, float] = field(default_factory=dict)
    explained_alone: Mapping[str, float] = field(default_factory=dict)
    reason: Notice | None = None


def importance(
    evaluation: Evaluation,
    plan: Plan,
    *,
    results: Mapping[str, FloatArray],
    kept: NDArray[np.bool_],
    slow: bool = False,
) -> dict[str, Importance]:
    """Return the Sobol indices of each column of a result (Saltelli et al. 2010).

    The inputs are drawn anew, in the pairs of draws that the method needs. An input that varies
    alone explains everything. Where the indices are not defined, as inputs are correlated or some
    results infinite, or take very many draws of a slow model, it is what each input explains alone,
    of the draws that are there. ``kept`` are the draws that have the results.
    """
    found: dict[str, Importance] = {}
    for name, column in results.items():
        known = column[~np.isnan(column)]
        if known.size and (known == known[0]).all():
            found[name] = Importance(reason=Notice("importance-constant"))
        elif not np.isfinite(column).all():
            code = "importance-infinite" if np.isinf(column).any() else "importance-without-some"
            found[name] = _alone(plan, column, kept, Notice(code))
        elif plan.mixing is not None:
            names = {"names": list(plan.inputs)}
            found[name] = _alone(plan, column, kept, Notice("importance-correlated", names))
        elif len(plan.inputs) == 1:
            all_of_it = dict.fromkeys(plan.inputs, 1.0)
            found[name] = Importance(all_of_it, all_of_it)
        elif slow:
            found[name] = _alone(plan, column, kept, Notice("importance-of-draws"))
    left = tuple(name for name in results if name not in found)
    return found | (_indices(evaluation, plan, left) if left else {})


def _alone(plan: Plan, column: FloatArray, kept: NDArray[np.bool_], reason: Notice) -> Importance:
    first = min(kept.size, BLOCK_DRAWS)
    drawn = Draws(plan).block(0, first)
    there = kept[:first]
    results = column[: int(there.sum())]
    if results.size // _LEAST_PER_BIN < 2:
        return Importance(reason=Notice("importance-few-draws"))
    inputs = {name: one[there] for name, one in drawn.items()}
    return Importance(explained_alone=explained_alone(inputs, results), reason=reason)


def explained_alone(inputs: Mapping[str, FloatArray], results: FloatArray) -> dict[str, float]:
    """Return the share of the variance of the results that each input explains alone.

    It is the correlation ratio, the variance of the mean result given the input over that of the
    result: for inputs independent of each other the first-order index, and for correlated ones
    with what an input has in common with the others. The draws are put into bins of equal count in
    the order of the input; the chance part of the variance between these is taken off (epsilon
    squared; Kelley, PNAS 21, 1935). Results that are infinite count by their ranks.

    Parameters
    ----------
    inputs : mapping of str to numpy.ndarray
        The draws.
    results : numpy.ndarray
        Their results; those that are nan are left out.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> y = np.tile([0.0, 1.0], 500)
    >>> {name: round(share, 2) for name, share in explained_alone({"x": x, "y": y}, x).items()}
    {'x': 1.0, 'y': 0.0}
    """
    known = ~np.isnan(results)
    values = results[known]
    if not np.isfinite(values).all():
        from scipy.stats import rankdata

        values = rankdata(values)
    count = values.size
    bins = int(min(_MOST_BINS, max(count // _LEAST_PER_BIN, 2)))
    total = float(((values - values.mean()) ** 2).sum())
    if total == 0.0:
        return {}
    found = {}
    for name, one in inputs.items():
        groups = _bins(one[known], bins)
        sizes = np.bincount(groups)
        sizes_at = sizes[sizes > 0]
        means = np.bincount(groups, values)[sizes > 0] / sizes_at
        within = total - float((sizes_at * (means - values.mean()) ** 2).sum())
        share = 1.0 - within / total * (count - 1) / max(count - sizes_at.size, 1)
        found[name] = min(max(share, 0.0), 1.0)
    return found


def _bins(values: FloatArray, count: int) -> NDArray[np.intp]:
    """Return the bin of each value: equal values are in one, as of counts and of measurements."""
    distinct, place = np.unique(values, return_inverse=True)
    if distinct.size <= count:
        return np.asarray(place, dtype=np.intp)
    edges = np.quantile(values, np.linspace(0.0, 1.0, count + 1)[1:-1])
    return np.asarray(np.searchsorted(edges, values, side="right"), dtype=np.intp)


def _indices(evaluation: Evaluation, plan: Plan, names: tuple[str, ...]) -> dict[str, Importance]:
    evaluation(plan.block(0, _TRIED))
    one_by_one = evaluation.at_once is False
    found = _estimates(evaluation, plan, names, SLOW_POINTS if one_by_one else POINTS)
    if not one_by_one and any(one.error > ROUGH for one in found.values()):
        found = _estimates(evaluation, plan, names, MORE_POINTS)
    return {name: one.importance(plan) for name, one in found.items()}


@dataclass(frozen=True)
class _Estimate:
    """First-order and total indices in the order of the inputs, and their standard error."""

    first: FloatArray
    total: FloatArray
    error: float

    def importance(self, plan: Plan) -> Importance:
        """Return the indices by name, with a note where they are rough."""
        if np.isnan(self.error):
            return Importance(reason=Notice("importance-rarely-finite"))
        rough = Notice("importance-rough", {"error": self.error}) if self.error > ROUGH else None
        first, total = (dict(zip(plan.inputs, row.tolist(), strict=True))
                        for row in (self.first, self.total))  # fmt: skip
        return Importance(first, total, reason=rough)


def _estimates(
    evaluation: Evaluation, plan: Plan, names: tuple[str, ...], points: int
) -> dict[str, _Estimate]:
    """Return the indices of some columns, the means of several repetitions."""
    from scipy import stats

    broken = np.zeros(len(names), bool)

    def rows_of(columns: FloatArray) -> FloatArray:
        block = evaluation(dict(zip(plan.inputs, columns, strict=True)))
        rows = np.stack([block.columns[name] for name in names])
        broken[:] |= ~np.isfinite(rows).all(axis=1)
        rows[broken] = 0.0  # scipy would warn of a variance of infinite results
        return rows

    sobol_indices: Any = stats.sobol_indices  # by the names that older versions know, too
    every = []
    for seed in np.random.SeedSequence(plan.seed).spawn(REPETITIONS):
        with np.errstate(all="ignore"):
            found = sobol_indices(
                func=rows_of, n=points, dists=list(plan.inputs.values()),
                random_state=np.random.default_rng(seed),
            )  # fmt: skip
        shape = (len(names), len(plan.inputs))
        every.append([np.reshape(found.first_order, shape), np.reshape(found.total_order, shape)])
    means = np.mean(every, axis=0)
    errors = np.std(every, axis=0, ddof=1).max(axis=(0, 2)) / np.sqrt(REPETITIONS)
    return {
        name: _Estimate(means[0, row], means[1, row], np.nan if broken[row] else errors[row])
        for row, name in enumerate(names)
    }
