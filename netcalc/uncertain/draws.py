"""Draws of the inputs of a model: a scrambled Sobol sequence, correlated by a Gaussian copula.

Which inputs vary is found here, and what is left out of them because the model refuses it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import MAX_ELEMENTS, FloatArray, named_arguments
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.messages import Notice
from netcalc.uncertain.distributions import (
    Distribution,
    Known,
    Permissive,
    Truncated,
    Whole,
    as_distribution,
    is_frozen,
)
from netcalc.uncertain.evaluation import RefusedDraws
from netcalc.uncertain.fits import Fitted, correlations_of_fits

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
        return {name: drawn.ppf(row) for (name, drawn), row in rows}


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


MOST_LIMITS = 20
"""Distributions that are truncated or rounded before an answer is given up. [1]"""


def planned(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    seed: int,
    correlations: Mapping[tuple[str, str], float] | None,
    free: str = "",
) -> tuple[Plan, dict[str, Any], dict[tuple[str, str], float]]:
    """Return how the inputs that vary are drawn, the others, and the correlations.

    ``free`` is an argument that is neither: one that is swept or solved for.
    """
    if free:
        inputs = _without_free(model, inputs, free)
    varying, fixed = _sorted_out(model, inputs, free)
    joined = {**correlations_of_fits(varying), **(correlations or {})}
    factor = mixing(tuple(varying), joined)
    plain = {name: x.inner if isinstance(x, Fitted) else x for name, x in varying.items()}
    return Plan(plain, seed, factor), fixed, joined


def _parameters(model: Callable[..., Any]) -> tuple[Mapping[str, inspect.Parameter], bool]:
    """Return the parameters of a model, and whether it takes arguments of any name."""
    if not callable(model):
        raise ArgumentTypeError("not-of-class", "model", type(model).__name__, expected="callable")
    parameters = inspect.signature(model).parameters
    return parameters, any(item.kind is item.VAR_KEYWORD for item in parameters.values())


def _without_free(
    model: Callable[..., Any], inputs: Mapping[str, Known], free: str
) -> dict[str, Known]:
    parameters, takes_all = _parameters(model)
    if free not in parameters and not takes_all:
        raise DomainError("not-a-choice", "over", free, choices=list(parameters))
    value = inputs.get(free)
    if isinstance(value, Distribution) or is_frozen(value):
        raise DomainError("input-also-free", free)
    return {name: value for name, value in inputs.items() if name != free}


def _sorted_out(
    model: Callable[..., Any], inputs: Mapping[str, Known], free: str
) -> tuple[dict[str, Distribution], dict[str, Any]]:
    """Return the inputs that vary and the others."""
    parameters, takes_all = _parameters(model)
    varying: dict[str, Distribution] = {}
    fixed: dict[str, Any] = {}
    for name, value in inputs.items():
        if name not in parameters and not takes_all:
            raise DomainError("not-a-choice", "inputs", name, choices=list(parameters))
        if isinstance(value, Distribution) or is_frozen(value):
            drawn = as_distribution(name, value)
            varying[name] = Whole(drawn) if name.endswith("_count") else drawn
            continue
        fixed[name] = value
        if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, Distribution) or is_frozen(item):
                    varying[f"{name}[{index}]"] = as_distribution(name, item)
    for name, parameter in parameters.items():
        by_name = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if by_name and parameter.default is parameter.empty and name not in {*inputs, free}:
            raise DomainError("input-missing", name)
    if not varying:
        raise DomainError("no-input-varies", str(getattr(model, "__name__", "the model")))
    return varying, fixed


def check_numbers(draws: int, seed: int, percentiles: Sequence[float]) -> None:
    """Refuse numbers of draws, seeds and percentiles that cannot be."""
    for name, value, low, high in (("draws", draws, 2, MAX_DRAWS), ("seed", seed, 0, 2**63 - 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise DomainError("not-whole", name, value, low=low)
        if not low <= value <= high:
            raise DomainError("out-of-range", name, value, low=low, high=high)
    for percent in percentiles:
        if not 0.0 <= percent <= 100.0:
            raise DomainError("out-of-range", "percentiles", percent, low=0, high=100)


def without_refused(
    plan: Plan, refused: RefusedDraws, *, truncate: bool, notes: dict[str, Notice]
) -> Plan:
    """Return a plan whose draws of one input are possible, with a note, or raise an error."""
    name, drawn = refused.name, plan.inputs[refused.name]
    if refused.is_of_fractions and not isinstance(drawn, Whole):
        notes[f"whole {name}"] = Notice("draws-whole", {"name": name})
        return Plan({**plan.inputs, name: Whole(drawn)}, plan.seed, plan.mixing)
    low, high = refused.low, refused.high
    share = drawn.share_outside(low, high, low_open=refused.low_open)
    limits = refused.error.allowed or f"from {low} to {high}"
    values = {
        "share": share,
        "limits": limits,
        "distribution": drawn.text(_unit(name)),
    }
    if not (truncate or drawn.may_truncate) or share <= 0.0:
        raise DomainError("draws-impossible", name, refused.error.value, **values) from None
    whole = drawn.inner if isinstance(drawn, Whole) else drawn
    inner = whole.inner if isinstance(whole, Permissive) else whole
    part = Truncated(inner, low, high, refused.low_open)
    if part.share_left_out >= 1.0:
        raise DomainError("draws-impossible", name, refused.error.value, **values) from None
    notes[f"truncated {name}"] = Notice("draws-truncated", {"name": name, **values})
    possible = Whole(part) if isinstance(drawn, Whole) else part
    return Plan({**plan.inputs, name: possible}, plan.seed, plan.mixing)


_UNITS = {"_bps": "bit/s", "_pps": "packet/s", "_bytes": "byte", "_bits": "bit",
          "_ratio": "ratio", "_m_s": "m/s", "_m": "m", "_s": "s"}  # fmt: skip


def _unit(name: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "1")
