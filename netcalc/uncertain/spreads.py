"""A model with uncertain inputs: the distribution of its result, and which input matters most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError, DoubtWarning
from netcalc.messages import Notice
from netcalc.uncertain.cost import SLOW_DRAWS, is_slow
from netcalc.uncertain.distributions import Distribution, Known
from netcalc.uncertain.doubtful import doubtful
from netcalc.uncertain.draws import BLOCK_DRAWS, DRAWS, Draws, Plan
from netcalc.uncertain.evaluation import Block, Evaluation, RefusedDraws
from netcalc.uncertain.importance import Importance, importance
from netcalc.uncertain.inputs import MOST_LIMITS, check_numbers, planned, without_refused
from netcalc.workers import on_workers

PERCENTILES = (5.0, 50.0, 95.0)
"""Percentiles of an answer, unless others are asked for."""


Result = TypeVar("Result")


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
    explained_alone : mapping of str to float
        Where these indices are not defined, as inputs are correlated or some results infinite: the
        share of the variance of the result, or of its ranks, that each input explains alone, with
        what it has in common with others. The shares do not add up to 1.
    inputs : mapping of str to Distribution
        The inputs that vary, as they were drawn.
    correlations : mapping of pairs of str to float
        Their correlations.
    draws, seed : int
        Number of draws, those left out included, and their seed.
    notes : tuple of Notice
        What a reader should know: draws left out, without a number, or outside the range that a
        formula was published for.
    """

    samples: FloatArray
    percentiles: Mapping[float, float]
    first_order: Mapping[str, float]
    total_order: Mapping[str, float]
    explained_alone: Mapping[str, float]
    inputs: Mapping[str, Distribution]
    correlations: Mapping[tuple[str, str], float]
    draws: int
    seed: int
    notes: tuple[Notice, ...]

    @property
    def median(self) -> float:
        """The 50th percentile."""
        return self.percentile(50.0)

    @property
    def most_important(self) -> str | None:
        """The input with the largest first-order index, or share alone; None without any."""
        shares = self.first_order or self.explained_alone
        return max(shares, key=shares.__getitem__, default=None)

    def percentile(self, percent: float) -> float:
        """Return a percentile of the results that are numbers: one of them, none between."""
        return percentiles_of(self.samples, [percent])[percent]


@named_arguments
def spread(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    draws: int | None = None,
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
    draws : int, optional
        Number of draws; those of a Sobol sequence are most even at powers of two. By default
        10,000, or 1,000 where a draw takes more than 0.3 ms, with a note.
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
    return only_column(found, model, column)


@named_arguments
def spreads(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    draws: int | None = None,
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
    check_numbers(DRAWS if draws is None else draws, seed, percentiles)
    plan, fixed, joined = planned(model, inputs, seed=seed, correlations=correlations)
    slow = is_slow(model)
    count = (SLOW_DRAWS if slow else DRAWS) if draws is None else draws
    notes: dict[str, Notice] = {}
    last: DomainError | None = None
    for _ in range(MOST_LIMITS):
        evaluation = Evaluation(model, fixed)
        try:
            results, kept = _computed(
                evaluation, plan, count, truncate=truncate, dask=dask, notes=notes
            )
            # A fresh one: that of workers has tried nothing here, and the answer must be the same.
            matters = importance(
                Evaluation(model, fixed), plan, results=results, kept=kept, slow=slow
            )
            break
        except RefusedDraws as refused:
            last = refused.error
            plan = without_refused(plan, refused, truncate=truncate, notes=notes)
    else:
        assert last is not None
        raise last
    if draws is None and count < DRAWS:
        notes["fewer"] = Notice("draws-fewer", {"draws": count, "usual": DRAWS})
    wanted = chosen_columns(results, columns)
    return {
        name: _spread(
            results[name], matters[name], plan, joined, percentiles, tuple(notes.values()), count
        )
        for name in wanted
    }


def _computed(
    evaluation: Evaluation,
    plan: Plan,
    draws: int,
    *,
    truncate: bool,
    dask: str | None,
    notes: dict[str, Notice],
) -> tuple[dict[str, FloatArray], NDArray[np.bool_]]:
    """Return the columns of all draws, computed here or by workers, and which draws these are.

    What was left out is noted.
    """
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
    return whole, ~refused


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


def chosen_columns(results: Mapping[str, FloatArray], columns: Sequence[str] | None) -> list[str]:
    """Return the columns that are wanted, by default all; others are refused."""
    for name in columns or ():
        if name not in results:
            raise DomainError("not-a-choice", "column", name, choices=list(results))
    return list(columns or results)


def only_column(
    found: Mapping[str, Result], model: Callable[..., Any], column: str | None
) -> Result:
    """Return the column that was asked for, or the only one; a choice of several is refused."""
    if column is None and len(found) > 1:
        name = str(getattr(model, "__name__", "the model"))
        raise DomainError("several-columns-of-draws", "column", name, choices=list(found))
    return next(iter(found.values()))


def _spread(
    samples: FloatArray,
    matters: Importance,
    plan: Plan,
    correlations: Mapping[tuple[str, str], float],
    percentiles: Sequence[float],
    notes: tuple[Notice, ...],
    draws: int,
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
        percentiles=percentiles_of(samples, percentiles),
        first_order=matters.first_order,
        total_order=matters.total_order,
        explained_alone=matters.explained_alone,
        inputs=plan.inputs,
        correlations=dict(correlations),
        draws=draws,
        seed=plan.seed,
        notes=tuple(own),
    )


def percentiles_of(samples: FloatArray, wanted: Sequence[float]) -> dict[float, float]:
    """Return percentiles that are samples themselves: between 1 and inf there is no number."""
    known = samples[~np.isnan(samples)] if np.isnan(samples).any() else samples
    if not known.size:
        return dict.fromkeys(map(float, wanted), math.nan)
    found = np.percentile(known, list(wanted), method="inverted_cdf")
    return dict(zip(map(float, wanted), map(float, found), strict=True))
