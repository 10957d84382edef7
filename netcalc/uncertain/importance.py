"""Which input matters most: Sobol indices of the result's variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.messages import Notice
from netcalc.uncertain.draws import Plan
from netcalc.uncertain.evaluation import Evaluation

POINTS = 1 << 13
"""Points of each input; the model is evaluated at inputs + 2 times as many. [1]"""
SLOW_POINTS = 1 << 9
"""Points of each input where the model takes one draw at a time. [1]"""

_TRIED = 16  # draws that show whether the model takes arrays


@dataclass(frozen=True)
class Importance:
    """First-order and total Sobol indices, or the reason why there are none."""

    first_order: Mapping[str, float] = field(default_factory=dict)
    total_order: Mapping[str, float] = field(default_factory=dict)
    reason: Notice | None = None


def importance(
    evaluation: Evaluation, plan: Plan, *, results: Mapping[str, FloatArray]
) -> dict[str, Importance]:
    """Return the Sobol indices of each column of a result (Saltelli et al. 2010).

    The inputs are drawn anew, in the pairs of draws that the method needs. An input that varies
    alone explains everything.
    """
    if plan.mixing is not None:
        names = {"names": list(plan.inputs)}
        return dict.fromkeys(results, Importance(reason=Notice("importance-correlated", names)))
    found: dict[str, Importance] = {}
    for name, column in results.items():
        if not np.isfinite(column).all():
            found[name] = Importance(reason=Notice("importance-not-finite"))
        elif np.ptp(column) == 0.0:
            found[name] = Importance(reason=Notice("importance-constant"))
        elif len(plan.inputs) == 1:
            all_of_it = dict.fromkeys(plan.inputs, 1.0)
            found[name] = Importance(all_of_it, all_of_it)
    left = tuple(name for name in results if name not in found)
    return found | (_indices(evaluation, plan, left) if left else {})


def _indices(evaluation: Evaluation, plan: Plan, names: tuple[str, ...]) -> dict[str, Importance]:
    from scipy import stats

    broken = np.zeros(len(names), bool)

    def rows_of(columns: FloatArray) -> FloatArray:
        block = evaluation(dict(zip(plan.inputs, columns, strict=True)))
        rows = np.stack([block.columns[name] for name in names])
        broken[:] |= ~np.isfinite(rows).all(axis=1)
        rows[broken] = 0.0  # scipy would warn of a variance of infinite results
        return rows

    evaluation(plan.block(0, _TRIED))
    points = SLOW_POINTS if evaluation.at_once is False else POINTS
    sobol_indices: Any = stats.sobol_indices  # by the names that older versions know, too
    with np.errstate(all="ignore"):
        found = sobol_indices(
            func=rows_of,
            n=points,
            dists=list(plan.inputs.values()),
            random_state=np.random.default_rng(plan.seed),
        )
    first = np.reshape(found.first_order, (len(names), -1))
    total = np.reshape(found.total_order, (len(names), -1))
    return {
        name: Importance(reason=Notice("importance-not-finite"))
        if broken[row]
        else Importance(_named(plan, first[row]), _named(plan, total[row]))
        for row, name in enumerate(names)
    }


def _named(plan: Plan, row: FloatArray) -> dict[str, float]:
    return dict(zip(plan.inputs, row.tolist(), strict=True))
