"""A model with uncertain inputs: the distribution of its result, and which input matters most.

Sobol indices of the result's variance say which; notes say which share of the draws is outside the
range that a formula was published for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray, named_arguments
from netcalc.errors import DomainError, DoubtWarning
from netcalc.messages import Notice
from netcalc.uncertain import sampling
from netcalc.uncertain.distributions import Distribution, Known
from netcalc.workers import on_workers

COUNTED = 1 << 10
"""Draws that are asked one by one how many of them are doubtful, at most; an eighth of fewer than
8,192 draws, as a call of its own for each would take longer than all of them together. [1]"""
ASKED = 1 << 6
"""Draws that are asked in any case, as some models judge single numbers only. [1]"""
_BEYOND, _BELOW = "beyond-published-range", "below-published-range"


def doubtful(
    evaluation: sampling.Evaluation,
    plan: sampling.DrawPlan,
    told: Sequence[DoubtWarning],
    draws: int,
) -> dict[str, Notice]:
    """Return a note for each kind of doubt, with the share of draws that have it.

    The share of an input beyond a limit is that of its distribution; others are counted among the
    first draws, which are as even as all of them.
    """
    worst: dict[tuple[str, str], DoubtWarning] = {}
    asked = evaluation.doubts_of(plan.block(0, min(ASKED, draws)))
    for doubt in (*told, *chain.from_iterable(asked)):
        key = sampling.doubt_key(doubt)
        if key not in worst or _is_worse(doubt, worst[key]):
            worst[key] = doubt
    counted = min(COUNTED, max(ASKED, draws // 8), draws)
    times = dict.fromkeys(worst, 0)
    if any(_share_of_input(plan, doubt) is None for doubt in worst.values()):
        for doubts in evaluation.doubts_of(plan.block(0, counted)):
            for key in {sampling.doubt_key(doubt) for doubt in doubts} & times.keys():
                times[key] += 1
    notes = {}
    for key, doubt in worst.items():
        share = _share_of_input(plan, doubt)
        share = times[key] / counted if share is None else share
        code = "draws-doubtful" if share else "draws-rarely-doubtful"
        notes[f"doubtful {key}"] = Notice(code, {"share": share or 1 / counted, "doubt": doubt})
    return notes


def _is_worse(doubt: DoubtWarning, other: DoubtWarning) -> bool:
    value, other_value = doubt.values.get("value"), other.values.get("value")
    if not (isinstance(value, int | float) and isinstance(other_value, int | float)):
        return False
    end, other_end = doubt.values.get("limit"), other.values.get("limit")
    if isinstance(end, int | float) and isinstance(other_end, int | float):
        return abs(value - end) > abs(other_value - other_end)  # each is beyond a limit of its own
    return value > other_value


def _share_of_input(plan: sampling.DrawPlan, doubt: DoubtWarning) -> float | None:
    """Return the share of an input beyond a limit; None of any other doubt."""
    drawn = plan.inputs.get(str(doubt.values.get("name")))
    if drawn is None or doubt.code not in (_BEYOND, _BELOW):
        return None
    limit = float(doubt.values["limit"])
    return drawn.below(limit) if doubt.code == _BELOW else 1.0 - drawn.below(limit, or_equal=True)


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
    evaluation: sampling.Evaluation,
    plan: sampling.DrawPlan,
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
    matters: dict[str, Importance] = {}
    for name, column in results.items():
        numbers = column[~np.isnan(column)]
        if numbers.size and (numbers == numbers[0]).all():
            matters[name] = Importance(reason=Notice("importance-constant"))
        elif not np.isfinite(column).all():
            code = "importance-infinite" if np.isinf(column).any() else "importance-without-some"
            matters[name] = _alone(plan, column, kept, Notice(code))
        elif plan.mixing is not None:
            names = {"names": list(plan.inputs)}
            matters[name] = _alone(plan, column, kept, Notice("importance-correlated", names))
        elif len(plan.inputs) == 1:
            all_of_it = dict.fromkeys(plan.inputs, 1.0)
            matters[name] = Importance(all_of_it, all_of_it)
        elif slow:
            matters[name] = _alone(plan, column, kept, Notice("importance-of-draws"))
    left = tuple(name for name in results if name not in matters)
    return matters | (_indices(evaluation, plan, left) if left else {})


def _alone(
    plan: sampling.DrawPlan, column: FloatArray, kept: NDArray[np.bool_], reason: Notice
) -> Importance:
    first = min(kept.size, sampling.BLOCK_DRAWS)
    drawn = sampling.Draws(plan).block(0, first)
    there = kept[:first]
    results = column[: int(there.sum())]
    if results.size // _LEAST_PER_BIN < 2:
        return Importance(reason=Notice("importance-few-draws"))
    inputs = {name: draws[there] for name, draws in drawn.items()}
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
    is_number = ~np.isnan(results)
    values = results[is_number]
    if not np.isfinite(values).all():
        from scipy.stats import rankdata

        values = rankdata(values)
    count = values.size
    bins = int(min(_MOST_BINS, max(count // _LEAST_PER_BIN, 2)))
    total = float(((values - values.mean()) ** 2).sum())
    if total == 0.0:
        return {}
    shares = {}
    for name, draws in inputs.items():
        groups = _bins(draws[is_number], bins)
        sizes = np.bincount(groups)
        sizes_at = sizes[sizes > 0]
        means = np.bincount(groups, values)[sizes > 0] / sizes_at
        within = total - float((sizes_at * (means - values.mean()) ** 2).sum())
        share = 1.0 - within / total * (count - 1) / max(count - sizes_at.size, 1)
        shares[name] = min(max(share, 0.0), 1.0)
    return shares


def _bins(values: FloatArray, count: int) -> NDArray[np.intp]:
    """Return the bin of each value: equal values are in one, as of counts and of measurements."""
    distinct, place = np.unique(values, return_inverse=True)
    if distinct.size <= count:
        return np.asarray(place, dtype=np.intp)
    edges = np.quantile(values, np.linspace(0.0, 1.0, count + 1)[1:-1])
    return np.asarray(np.searchsorted(edges, values, side="right"), dtype=np.intp)


def _indices(
    evaluation: sampling.Evaluation, plan: sampling.DrawPlan, names: tuple[str, ...]
) -> dict[str, Importance]:
    evaluation(plan.block(0, _TRIED))
    one_by_one = evaluation.at_once is False
    estimates = _estimates(evaluation, plan, names, SLOW_POINTS if one_by_one else POINTS)
    if not one_by_one and any(estimate.error > ROUGH for estimate in estimates.values()):
        estimates = _estimates(evaluation, plan, names, MORE_POINTS)
    return {name: estimate.importance(plan) for name, estimate in estimates.items()}


@dataclass(frozen=True)
class _Estimate:
    """First-order and total indices in the order of the inputs, and their standard error."""

    first: FloatArray
    total: FloatArray
    error: float

    def importance(self, plan: sampling.DrawPlan) -> Importance:
        """Return the indices by name, with a note where they are rough."""
        if np.isnan(self.error):
            return Importance(reason=Notice("importance-rarely-finite"))
        rough = Notice("importance-rough", {"error": self.error}) if self.error > ROUGH else None
        first, total = (dict(zip(plan.inputs, row.tolist(), strict=True))
                        for row in (self.first, self.total))  # fmt: skip
        return Importance(first, total, reason=rough)


def _estimates(
    evaluation: sampling.Evaluation, plan: sampling.DrawPlan, names: tuple[str, ...], points: int
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
            indices = sobol_indices(
                func=rows_of, n=points, dists=list(plan.inputs.values()),
                random_state=np.random.default_rng(seed),
            )  # fmt: skip
        shape = (len(names), len(plan.inputs))
        every.append(
            [np.reshape(indices.first_order, shape), np.reshape(indices.total_order, shape)]
        )
    means = np.mean(every, axis=0)
    errors = np.std(every, axis=0, ddof=1).max(axis=(0, 2)) / np.sqrt(REPETITIONS)
    return {
        name: _Estimate(means[0, row], means[1, row], np.nan if broken[row] else errors[row])
        for row, name in enumerate(names)
    }


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
    every = spreads(
        model, inputs, draws=draws, seed=seed, percentiles=percentiles, correlations=correlations,
        truncate=truncate, dask=dask, columns=None if column is None else (column,),
    )  # fmt: skip
    return only_column(every, model, column)


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
    sampling.check_numbers(sampling.DRAWS if draws is None else draws, seed, percentiles)
    plan, fixed, joined = sampling.planned(model, inputs, seed=seed, correlations=correlations)
    slow = sampling.is_slow(model)
    count = (sampling.SLOW_DRAWS if slow else sampling.DRAWS) if draws is None else draws
    notes: dict[str, Notice] = {}

    def run(plan: sampling.DrawPlan) -> tuple[dict[str, FloatArray], dict[str, Importance]]:
        results, kept = _computed(
            sampling.Evaluation(model, fixed),
            plan,
            count,
            truncate=truncate,
            dask=dask,
            notes=notes,
        )
        # A fresh one: that of workers has tried nothing here, and the answer must be the same.
        fresh = sampling.Evaluation(model, fixed)
        return results, importance(fresh, plan, results=results, kept=kept, slow=slow)

    plan, (results, matters) = sampling.attempted(run, plan, truncate=truncate, notes=notes)
    if draws is None and count < sampling.DRAWS:
        notes["fewer"] = Notice("draws-fewer", {"draws": count, "usual": sampling.DRAWS})
    return {
        name: _spread(
            results[name], matters[name], plan, joined, percentiles, tuple(notes.values()), count
        )
        for name in chosen_columns(results, columns)
    }


def _computed(
    evaluation: sampling.Evaluation,
    plan: sampling.DrawPlan,
    draws: int,
    *,
    truncate: bool,
    dask: str | None,
    notes: dict[str, Notice],
) -> tuple[dict[str, FloatArray], NDArray[np.bool_]]:
    """Return the columns of all draws, computed here or by workers, and which draws these are.

    What was left out is noted.
    """
    starts = range(0, draws, sampling.BLOCK_DRAWS)
    pieces = [(start, min(sampling.BLOCK_DRAWS, draws - start)) for start in starts]
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
        share = plan.share_left_out(refused, first_error, truncate=truncate)
        notes["left out"] = Notice("draws-left-out", {"share": share})
        whole = {name: column[~refused] for name, column in whole.items()}
    return whole, ~refused


Piece = tuple[int, int]
"""Where a block of draws begins, and how many they are."""


def _blocks(
    evaluation: sampling.Evaluation, plan: sampling.DrawPlan, pieces: list[Piece], dask: str | None
) -> Iterable[tuple[Piece, sampling.Block]]:
    """Return the blocks in order; those of workers when all are there."""
    if dask is None:
        stream = sampling.Draws(plan)
        return ((piece, _evaluated(piece, evaluation, stream)) for piece in pieces)
    portions = on_workers(dask, _block, [[piece] for piece in pieces], evaluation, plan)
    return sorted((pair for portion in portions for pair in portion), key=lambda pair: pair[0])


def _block(
    pieces: list[Piece], evaluation: sampling.Evaluation, plan: sampling.DrawPlan
) -> list[sampling.Block]:
    """Compute blocks of draws on a worker."""
    stream = sampling.Draws(plan)
    return [_evaluated(piece, evaluation, stream) for piece in pieces]


def _evaluated(
    piece: Piece, evaluation: sampling.Evaluation, stream: sampling.Draws
) -> sampling.Block:
    """Compute a block of draws; errors are results, as a worker hands over no others."""
    try:
        return evaluation(stream.block(*piece))
    except (sampling.RefusedDraws, DomainError) as error:
        return sampling.Block(stop=error)


def chosen_columns(results: Mapping[str, FloatArray], columns: Sequence[str] | None) -> list[str]:
    """Return the columns that are wanted, by default all; others are refused."""
    for name in columns or ():
        if name not in results:
            raise DomainError("not-a-choice", "column", name, choices=list(results))
    return list(columns or results)


def only_column(
    results: Mapping[str, Result], model: Callable[..., Any], column: str | None
) -> Result:
    """Return the column that was asked for, or the only one; a choice of several is refused."""
    if column is None and len(results) > 1:
        name = str(getattr(model, "__name__", "the model"))
        raise DomainError("several-columns-of-draws", "column", name, choices=list(results))
    return next(iter(results.values()))


def _spread(
    samples: FloatArray,
    matters: Importance,
    plan: sampling.DrawPlan,
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


def percentiles_of(samples: FloatArray, percents: Sequence[float]) -> dict[float, float]:
    """Return percentiles that are samples themselves: between 1 and inf there is no number."""
    numbers = samples[~np.isnan(samples)] if np.isnan(samples).any() else samples
    if not numbers.size:
        return dict.fromkeys(map(float, percents), math.nan)
    values = np.percentile(numbers, list(percents), method="inverted_cdf")
    return dict(zip(map(float, percents), map(float, values), strict=True))
