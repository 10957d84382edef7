"""Identity: times, rates, sizes, counts and probabilities are not below zero.

Each public model is asked at random valid arguments, several of them at their limits at a time.
"""

from __future__ import annotations

import inspect
import random
import warnings

import numpy as np
import pytest
from base_arguments import BASE, SIGNED

from netcalc import calculator
from netcalc.errors import NetcalcError

DRAWS = 150


def drawn(rng, name, base):
    """Return a valid argument near another one, or at a limit."""
    if isinstance(base, list | tuple):
        return [drawn(rng, name, item) for item in base]
    if isinstance(base, str | bool | None):
        return base
    if name == "ip_version":
        return rng.choice([4, 6])
    if name.endswith(("_ratio", "utilization", "decrease_factor")):
        return rng.choice([0.0, 0.5, 1.0, rng.random(), 10 ** rng.uniform(-9, 0)])
    if name.endswith("_count") or "segments" in name or "packets" in name:
        some = 10 ** rng.uniform(-1, 5)
        return rng.choice([0.0, 0.5, 1.0, 2.0, some, float(round(some))])
    near = base if base and np.isfinite(base) else 1.0
    return rng.choice(
        [0.0, 1.0, near, near * 10 ** rng.uniform(-1, 1), near * 10 ** rng.uniform(-6, 6)]
    )


def arguments(rng, name, function):
    """Return what a model takes: its own defaults and base, most of it drawn anew."""
    given = dict(BASE[name])
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty and rng.random() < 0.7:
            given.setdefault(parameter.name, parameter.default)
    return {
        key: drawn(rng, key, value) if rng.random() < 0.8 else value for key, value in given.items()
    }


def parts(result):
    """Return the numbers of a result of one part or several; events and names are left out."""
    several = result if isinstance(result, tuple) else (result,)
    arrays = [np.asarray(part) for part in several if not isinstance(part, list)]
    return [array for array in arrays if array.dtype.kind in "fiu"]


@pytest.mark.slow
@pytest.mark.parametrize("subject", sorted({name.split(".")[0] for name in BASE}))
def test_no_result_is_below_zero(subject):
    rng = random.Random(f"signs of {subject}")
    answers, below = 0, []
    for name, formula in calculator.subject_formulas(subject).items():
        for _ in range(DRAWS if name not in SIGNED else 0):
            given = arguments(rng, name, formula.function)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                try:
                    result = parts(formula.function(**given))
                except NetcalcError:
                    continue
            answers += 1
            if any((part < 0).any() for part in result):
                below.append((name, given, result))
    assert below == []
    unsigned = set(calculator.subject_formulas(subject)) - set(SIGNED)
    assert answers >= 3 * len(unsigned)


def test_what_is_signed_is_a_model():
    assert set(SIGNED) <= set(BASE)
