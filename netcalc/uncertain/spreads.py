"""A model with uncertain inputs: the distribution of its result, and which input matters most."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcalc.checks import FloatArray
from netcalc.errors import ArgumentTypeError, DomainError, DoubtWarning
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
from netcalc.uncertain.doubtful import doubtful
from netcalc.uncertain.draws import BLOCK_DRAWS, DRAWS, MAX_DRAWS, Draws, Plan, mixing
from netcalc.uncertain.evaluation import Block, Evaluation, RefusedDraws
from netcalc.uncertain.fits import Fitted, correlations_of_fits
from netcalc.uncertain.importance import Importance, importance
from netcalc.workers import on_workers

PERCENTILES = (5.0, 50.0, 95.0)
"""Percentiles of an answer, unless others are asked for."""
_MOST_LIMITS = 20  # distributions that are truncated or rounded before an answer is given up


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """What a model gives for uncertain inputs.

    Parameters
    ----------
    samples : numpy.ndarray
        The result of each draw, in the model's unit; nan where the model has none.
    percentiles : mapping of float to float
        Percentiles of the results: each is one of ``samples``.
    first_order, total_order : mapping of str to float
        Sobol indices of the inputs that vary: the share of the variance of the result that an
        input alone explains, and with all its interactions. Empty where ``notes`` has the reason.
    inputs : mapping of str to Distribution
        The inputs that vary, as they were drawn.
    correlations : mapping of pairs of str to float
        Their correlations.
    seed : int
        The seed of the draws.
    notes : tuple of Notice
        What a reader should know: draws left out, without a number, or outside the range that a
        formula was published for.
    """

    samples: FloatArray
    percentiles: Mapping[float, float]
    first_order: Mapping[str, float]
    total_order: Mapping[str, float]
    inputs: Mapping[str, Distribution]
    correlations: Mapping[tuple[str, str], float]
    seed: int
    notes: tuple[Notice, ...]

    @property
    def median(self) -> float:
        """The 50th percentile."""
        return self.percentile(50.0)

    @property
    def most_important(self) -> str | None:
        """The input with the largest first-order index; None where there are none."""
        return max(self.first_order, key=self.first_order.__getitem__, default=None)

    def percentile(self, percent: float) -> float:
        """Return a percentile of the results that are numbers: one of them, none between."""
        return _percentiles(self.samples, [percent])[percent]


def spread(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    percentiles: Sequence[float] = PERCENTILES,
    correlations: Mapping[tuple[str, str], float] | None = None,
    truncate: bool = False,
    column: str | None = None,
    dask: str | None = None,
) -> Spread:
    """Draw uncertain inputs of a model and return the distribution of its result.

    Parameters
    ----------
    model : callable
        A public model, or any function of keyword arguments that returns a number.
    inputs : mapping of str to Distribution, frozen distribution, or value
        The arguments: what is known about each, or its value. A list may hold both; its elements
        are then inputs such as ``bandwidth_bps[0]``.
    draws : int
        Number of draws; those of a Sobol sequence are most even at powers of two.
    seed : int
        The same seed gives the same draws, however they are computed.
    percentiles : sequence of float
        Percentiles wanted, from 0 to 100.
    correlations : mapping of pairs of str to float, optional
        Correlation of the normal scores of two inputs (a Gaussian copula), which is the ordinary
        one where both are normal. Parameters of one fit bring their own.
    truncate : bool
        Leave out what the model refuses, with a note, in place of an error.
    column : str, optional
        Column of the result, of a model that has several.
    dask : str, optional
        Address of a Dask scheduler, or ``local``, whose workers compute the draws.

    Returns
    -------
    Spread
        Samples, percentiles, Sobol indices and notes.

    Raises
    ------
    DomainError
        If draws are impossible for the model (with their share), a name is unknown, or the result
        is not a single number.

    Examples
    --------
    >>> from netcalc.models.queues.mm1 import mm1_wait_s
    >>> from netcalc.uncertain import uniform
    >>> found = spread(mm1_wait_s, {"utilization": uniform(0.5, 0.9), "service_s": 1e-3})
    >>> [round(float(value) * 1e3, 2) for value in found.percentiles.values()]
    [1.08, 2.33, 7.33]
    """
    found = spreads(
        model, inputs, draws=draws, seed=seed, percentiles=percentiles, correlations=correlations,
        truncate=truncate, dask=dask, columns=None if column is None else (column,),
    )  # fmt: skip
    if column is None and len(found) > 1:
        name = str(getattr(model, "__name__", "the model"))
        raise DomainError("several-columns-of-draws", "column", name, choices=list(found))
    return next(iter(found.values()))


def spreads(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    percentiles: Sequence[float] = PERCENTILES,
    correlations: Mapping[tuple[str, str], float] | None = None,
    truncate: bool = False,
    columns: Sequence[str] | None = None,
    dask: str | None = None,
) -> dict[str, Spread]:
    """Return the distribution of each column of a model's result; arguments as of :func:`spread`.

    A model of one result has the column ``result``.

    Examples
    --------
    >>> from netcalc.uncertain import uniform
    >>> def area(width, height):
    ...     return width * height
    >>> list(spreads(area, {"width": 2.0, "height": uniform(1.0, 3.0)}))
    ['result']
    """
    varying, fixed = _sorted_out(model, inputs)
    _check_numbers(draws, seed, percentiles)
    joined = {**correlations_of_fits(varying), **(correlations or {})}
    factor = mixing(tuple(varying), joined)
    plain = {name: one.inner if isinstance(one, Fitted) else one for name, one in varying.items()}
    plan = Plan(plain, seed, factor)
    notes: dict[str, Notice] = {}
    last: DomainError | None = None
    for _ in range(_MOST_LIMITS):
        evaluation = Evaluation(model, fixed)
        try:
            results = _computed(evaluation, plan, draws, truncate=truncate, dask=dask, notes=notes)
            # A fresh one: that of workers has tried nothing here, and the answer must be the same.
            matters = importance(Evaluation(model, fixed), plan, results=results)
            break
        except RefusedDraws as refused:
            last = refused.error
            plan = _without_refused(plan, refused, truncate=truncate, notes=notes)
    else:
        assert last is not None
        raise last
    wanted = _chosen(results, columns)
    return {
        name: _spread(
            results[name], matters[name], plan, joined, percentiles, tuple(notes.values())
        )
        for name in wanted
    }


def _sorted_out(
    model: Callable[..., Any], inputs: Mapping[str, Known]
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
        if by_name and parameter.default is parameter.empty and name not in inputs:
            raise DomainError("input-missing", name)
    if not varying:
        raise DomainError("no-input-varies", str(getattr(model, "__name__", "the model")))
    return varying, fixed


def _check_numbers(draws: int, seed: int, percentiles: Sequence[float]) -> None:
    for name, value, low, high in (("draws", draws, 2, MAX_DRAWS), ("seed", seed, 0, 2**63 - 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise DomainError("not-whole", name, value, low=low)
        if not low <= value <= high:
            raise DomainError("out-of-range", name, value, low=low, high=high)
    for percent in percentiles:
        if not 0.0 <= percent <= 100.0:
            raise DomainError("out-of-range", "percentiles", percent, low=0, high=100)


def _computed(
    evaluation: Evaluation,
    plan: Plan,
    draws: int,
    *,
    truncate: bool,
    dask: str | None,
    notes: dict[str, Notice],
) -> dict[str, FloatArray]:
    """Return the columns of all draws, computed here or by workers, and note what was left out."""
    starts = range(0, draws, BLOCK_DRAWS)
    pieces = [(start, min(BLOCK_DRAWS, draws - start)) for start in starts]
    whole: dict[str, FloatArray] = {}
    refused = np.zeros(draws, bool)
    first_error: DomainError | None = None
    doubts_found: list[DoubtWarning] = []
    for (start, count), block in _blocks(evaluation, plan, pieces, dask):
        if block.stop is not None:
            raise block.stop
        part = slice(start, start + count)
        for name, column in block.columns.items():
            whole.setdefault(name, np.full(draws, np.nan))[part] = column
        if block.refused is not None:
            refused[part], first_error = block.refused, first_error or block.error
        doubts_found += block.doubts
    notes |= doubtful(evaluation, plan, doubts_found, draws)
    if first_error is not None:
        share = float(refused.mean())
        if not (truncate or any(one.may_truncate for one in plan.inputs.values())):
            reason = first_error.what
            raise DomainError("draws-refused", "draws", share, share=share, reason=reason)
        notes["left out"] = Notice("draws-left-out", {"share": share})
        whole = {name: column[~refused] for name, column in whole.items()}
    return whole


Piece = tuple[int, int]
"""Where a block of draws begins, and how many they are."""


def _blocks(
    evaluation: Evaluation, plan: Plan, pieces: list[Piece], dask: str | None
) -> Iterable[tuple[Piece, Block]]:
    """Return the blocks in order; those of workers when all are there."""
    if dask is None:
        stream = Draws(plan)
        return ((piece, _evaluated(piece, evaluation, stream)) for piece in pieces)
    portions = on_workers(dask, _block, [[piece] for piece in pieces], evaluation, plan)
    return sorted((pair for portion in portions for pair in portion), key=lambda pair: pair[0])


def _block(pieces: list[Piece], evaluation: Evaluation, plan: Plan) -> list[Block]:
    """Compute blocks of draws on a worker."""
    stream = Draws(plan)
    return [_evaluated(piece, evaluation, stream) for piece in pieces]


def _evaluated(piece: Piece, evaluation: Evaluation, stream: Draws) -> Block:
    """Compute a block of draws; errors are results, as a worker hands over no others."""
    try:
        return evaluation(stream.block(*piece))
    except (RefusedDraws, DomainError) as error:
        return Block(stop=error)


def _without_refused(
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


def _chosen(results: Mapping[str, FloatArray], columns: Sequence[str] | None) -> list[str]:
    for name in columns or ():
        if name not in results:
            raise DomainError("not-a-choice", "column", name, choices=list(results))
    return list(columns or results)


def _spread(
    samples: FloatArray,
    matters: Importance,
    plan: Plan,
    correlations: Mapping[tuple[str, str], float],
    percentiles: Sequence[float],
    notes: tuple[Notice, ...],
) -> Spread:
    own = list(notes)
    for code, count in (
        ("draws-not-a-number", int(np.isnan(samples).sum())),
        ("draws-infinite", int(np.isinf(samples).sum())),
    ):
        if count:
            own.append(Notice(code, {"share": count / samples.size}))
    if matters.reason is not None:
        own.append(matters.reason)
    return Spread(
        samples=samples,
        percentiles=_percentiles(samples, percentiles),
        first_order=matters.first_order,
        total_order=matters.total_order,
        inputs=plan.inputs,
        correlations=dict(correlations),
        seed=plan.seed,
        notes=tuple(own),
    )


def _percentiles(samples: FloatArray, wanted: Sequence[float]) -> dict[float, float]:
    """Return percentiles that are samples themselves: between 1 and inf there is no number."""
    known = samples[~np.isnan(samples)] if np.isnan(samples).any() else samples
    if not known.size:
        return dict.fromkeys(map(float, wanted), math.nan)
    found = np.percentile(known, list(wanted), method="inverted_cdf")
    return dict(zip(map(float, wanted), map(float, found), strict=True))
