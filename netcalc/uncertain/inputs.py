"""The inputs of a model as they are drawn: which vary, and what is left out of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

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
from netcalc.uncertain.draws import MAX_DRAWS, Plan, mixing
from netcalc.uncertain.evaluation import RefusedDraws
from netcalc.uncertain.fits import Fitted, correlations_of_fits

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
    varying, fixed = _sorted_out(model, inputs, given=(free,))
    joined = {**correlations_of_fits(varying), **(correlations or {})}
    factor = mixing(tuple(varying), joined)
    plain = {name: one.inner if isinstance(one, Fitted) else one for name, one in varying.items()}
    return Plan(plain, seed, factor), fixed, joined


def _without_free(
    model: Callable[..., Any], inputs: Mapping[str, Known], free: str
) -> dict[str, Known]:
    if not callable(model):
        raise ArgumentTypeError("not-of-class", "model", type(model).__name__, expected="callable")
    parameters = inspect.signature(model).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    if free not in parameters and not takes_all:
        raise DomainError("not-a-choice", "over", free, choices=list(parameters))
    value = inputs.get(free)
    if isinstance(value, Distribution) or is_frozen(value):
        raise DomainError("input-also-free", free)
    return {name: one for name, one in inputs.items() if name != free}


def _sorted_out(
    model: Callable[..., Any], inputs: Mapping[str, Known], *, given: Collection[str]
) -> tuple[dict[str, Distribution], dict[str, Any]]:
    """Return the inputs that vary and the others."""
    if not callable(model):
        raise ArgumentTypeError("not-of-class", "model", type(model).__name__, expected="callable")
    parameters = inspect.signature(model).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    varying: dict[str, Distribution] = {}
    fixed: dict[str, Any] = {}
    for name, value in inputs.items():
        if name not in parameters and not takes_all:
            raise DomainError("not-a-choice", "inputs", name, choices=list(parameters))
        if isinstance(value, Distribution) or is_frozen(value):
            one = as_distribution(name, value)
            varying[name] = Whole(one) if name.endswith("_count") else one
            continue
        fixed[name] = value
        if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, Distribution) or is_frozen(item):
                    varying[f"{name}[{index}]"] = as_distribution(name, item)
    for name, parameter in parameters.items():
        by_name = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if by_name and parameter.default is parameter.empty and name not in {*inputs, *given}:
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
    name, given = refused.name, plan.inputs[refused.name]
    if refused.is_of_fractions and not isinstance(given, Whole):
        notes[f"whole {name}"] = Notice("draws-whole", {"name": name})
        return Plan({**plan.inputs, name: Whole(given)}, plan.seed, plan.mixing)
    low, high = refused.low, refused.high
    share = given.share_outside(low, high, low_open=refused.low_open)
    limits = refused.error.allowed or f"from {low} to {high}"
    values = {
        "share": share,
        "limits": limits,
        "distribution": given.text(_unit(name)),
    }
    if not (truncate or given.may_truncate) or share <= 0.0:
        raise DomainError("draws-impossible", name, refused.error.value, **values) from None
    whole = given.inner if isinstance(given, Whole) else given
    inner = whole.inner if isinstance(whole, Permissive) else whole
    part = Truncated(inner, low, high, refused.low_open)
    if part.share_left_out >= 1.0:
        raise DomainError("draws-impossible", name, refused.error.value, **values) from None
    notes[f"truncated {name}"] = Notice("draws-truncated", {"name": name, **values})
    drawn = Whole(part) if isinstance(given, Whole) else part
    return Plan({**plan.inputs, name: drawn}, plan.seed, plan.mixing)


_UNITS = {"_bps": "bit/s", "_pps": "packet/s", "_bytes": "byte", "_bits": "bit",
          "_ratio": "ratio", "_m_s": "m/s", "_m": "m", "_s": "s"}  # fmt: skip


def _unit(name: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "1")
