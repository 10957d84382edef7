"""How many draws come soon: fewer of a model that takes long for each."""

from __future__ import annotations

import time

from netcalc.uncertain.draws import Plan
from netcalc.uncertain.evaluation import Evaluation

SLOW_S = 3e-4
"""A draw takes at most a tenth of this in a closed form, and several times it in the inversion of a
transform: which one a model is does not hang on the machine. [s]"""
SLOW_DRAWS = 1000
"""Draws of a model that is slower, unless their number is given. [1]"""
_TRIED = 16


def is_slow(evaluation: Evaluation, plan: Plan) -> bool:
    """Whether a model takes long for a draw, by the second of two calls: the first may import."""
    some = plan.block(0, _TRIED)
    evaluation(some)
    start = time.perf_counter()
    evaluation(some)
    return time.perf_counter() - start > _TRIED * SLOW_S
