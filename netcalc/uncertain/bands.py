"""A model over a range of one argument with others uncertain: percentiles at every value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netcalc.checks import FloatArray, as_float, named_arguments, one_dimensional
from netcalc.errors import DoubtWarning
from netcalc.messages import Notice
from netcalc.uncertain import sampling
from netcalc.uncertain.distributions import Distribution, Known
from netcalc.uncertain.spreads import PERCENTILES, chosen_columns, only_column, percentiles_of

EVALUATIONS = 10_000_000
"""Draws at all values together, of a model that takes arrays, unless their number is given. [1]"""
SLOW_EVALUATIONS = 20_000
"""The same of a model that takes one draw at a time. [1]"""
LEAST_DRAWS = 200
"""Draws at each value with which the 5th percentile is still one of ten. [1]"""
_ASKED = 8  # draws at each value that are asked one by one whether they are doubtful


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Percentiles of a model over one argument.

    Parameters
    ----------
    over : str
        The argument.
    values : numpy.ndarray
        Its values.
    percentiles : mapping of float to numpy.ndarray
        Percentiles of the results at each value, by their percent.
    inputs : mapping of str to Distribution
        The inputs that vary, as they were drawn: with the same draws at each value.
    correlations : mapping of pairs of str to float
        Their correlations.
    draws, seed : int
        Number of draws at each value, and their seed.
    notes : tuple of Notice
        What a reader should know, such as draws left out.
    """

    over: str
    values: FloatArray
    percentiles: Mapping[float, FloatArray]
    inputs: Mapping[str, Distribution]
    correlations: Mapping[tuple[str, str], float]
    draws: int
    seed: int
    notes: tuple[Notice, ...]


@named_arguments
def band(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    over: str,
    values: ArrayLike,
    draws: int | None = None,
    seed: int = 0,
    percentiles: Sequence[float] = PERCENTILES,
    correlations: Mapping[tuple[str, str], float] | None = None,
    truncate: bool = False,
    column: str | None = None,
) -> Band:
    """Return percentiles of a model at each value of one argument.

    Every value has the same draws of the inputs (common random numbers), so that the percentiles
    are as smooth as the model.

    Parameters
    ----------
    model : callable
        A public model, or any function of keyword arguments that returns a number.
    inputs : mapping of str to Distribution, frozen distribution, or value
        The other arguments, as in :func:`netcalc.uncertain.spread`.
    over : str
        The argument that is swept.
    values : 1-D array_like
        Its values.
    draws : int, optional
        Draws at each value; by default 10,000, fewer with many values or where the model takes
        one draw at a time.
    seed : int
        The same seed gives the same draws.
    percentiles : sequence of float
        Percentiles wanted, from 0 to 100.
    correlations : mapping of pairs of str to float, optional
        As in :func:`netcalc.uncertain.spread`.
    truncate : bool
        Leave out what the model refuses, with a note, in place of an error.
    column : str, optional
        Column of the result, of a model that has several.

    Returns
    -------
    Band
        An array for each percentile.

    Raises
    ------
    DomainError
        If draws or values are impossible for the model, a name is unknown, the swept argument is
        a distribution, or the result is not a single number.

    Examples
    --------
    >>> from netcalc.models.queues.mm1 import mm1_wait_s
    >>> from netcalc.uncertain import uniform
    >>> found = band(mm1_wait_s, {"service_s": uniform(1e-3, 2e-3)}, over="utilization",
    ...              values=[0.5, 0.9])
    >>> [(found.percentiles[percent] * 1e3).round(2).tolist() for percent in (5, 50, 95)]
    [[1.05, 9.45], [1.5, 13.5], [1.95, 17.55]]
    """
    every = bands(
        model, inputs, over=over, values=values, draws=draws, seed=seed, percentiles=percentiles,
        correlations=correlations, truncate=truncate, columns=None if column is None else (column,),
    )  # fmt: skip
    return only_column(every, model, column)


@named_arguments
def bands(
    model: Callable[..., Any],
    inputs: Mapping[str, Known],
    *,
    over: str,
    values: ArrayLike,
    draws: int | None = None,
    seed: int = 0,
    percentiles: Sequence[float] = PERCENTILES,
    correlations: Mapping[tuple[str, str], float] | None = None,
    truncate: bool = False,
    columns: Sequence[str] | None = None,
) -> dict[str, Band]:
    """Return percentiles of each column of a model's result; arguments as of :func:`band`.

    A model of one result has the column ``result``.

    Examples
    --------
    >>> from netcalc.uncertain import uniform
    >>> def area(width, height):
    ...     return width * height
    >>> found = bands(area, {"height": uniform(1.0, 3.0)}, over="width", values=[1.0, 2.0])
    >>> found["result"].percentiles[50.0].round(2).tolist()
    [2.0, 4.0]
    """
    sampling.check_numbers(sampling.DRAWS if draws is None else draws, seed, percentiles)
    at = one_dimensional("values", as_float("values", values))
    plan, fixed, joined = sampling.planned(
        model, inputs, seed=seed, correlations=correlations, free=over
    )
    notes: dict[str, Notice] = {}

    def run(plan: sampling.DrawPlan) -> tuple[_Swept, int]:
        swept = _Swept(model, fixed, over, plan, truncate=truncate)
        count = swept.affordable(at) if draws is None else draws
        swept.run(at, count, percentiles)
        return swept, count

    plan, (swept, count) = sampling.attempted(run, plan, truncate=truncate, notes=notes)
    if draws is None and count < sampling.DRAWS:
        notes["fewer"] = Notice("draws-fewer", {"draws": count, "usual": sampling.DRAWS})
    notes |= swept.notes()
    return {
        name: Band(
            over=over,
            values=at,
            percentiles=dict(zip(map(float, percentiles), swept.columns[name].T, strict=True)),
            inputs=plan.inputs,
            correlations=dict(joined),
            draws=count,
            seed=seed,
            notes=(*notes.values(), *swept.notes_of(name)),
        )
        for name in chosen_columns(swept.columns, columns)
    }


class _Swept:
    """A model at each value of one argument, with the same draws of the others."""

    def __init__(
        self,
        model: Callable[..., Any],
        fixed: Mapping[str, Any],
        over: str,
        plan: sampling.DrawPlan,
        *,
        truncate: bool,
    ) -> None:
        self.model, self.fixed, self.over = model, fixed, over
        self.plan, self.truncate = plan, truncate
        self.columns: dict[str, FloatArray] = {}
        self._told: list[DoubtWarning] = []
        self._left_out = 0.0
        self._missing: dict[str, float] = {}
        self._infinite: dict[str, float] = {}

    def _at(self, value: float) -> sampling.Evaluation:
        return sampling.Evaluation(self.model, {**self.fixed, self.over: value})

    def affordable(self, values: FloatArray) -> int:
        """Return how many draws at each value are quick."""
        first = self._at(float(values[values.size // 2]))
        first(self.plan.block(0, _ASKED))
        budget = (
            SLOW_EVALUATIONS
            if sampling.is_slow(self.model) or first.at_once is False
            else EVALUATIONS
        )
        return int(min(sampling.DRAWS, max(budget // values.size, LEAST_DRAWS)))

    def run(self, values: FloatArray, count: int, percentiles: Sequence[float]) -> None:
        """Compute the percentiles at each value, one row each."""
        draws = sampling.Draws(self.plan).block(0, count)
        some = {name: column[:_ASKED] for name, column in draws.items()}
        rows: dict[str, list[list[float]]] = {}
        for value in values.tolist():
            evaluation = self._at(value)
            block = evaluation(draws)
            self._told += block.doubts
            self._told += chain.from_iterable(evaluation.doubts_of(some))
            for name, column in self._kept(block, count).items():
                row = percentiles_of(column, percentiles)
                rows.setdefault(name, []).append([row[float(percent)] for percent in percentiles])
        self.columns = {name: np.array(lists) for name, lists in rows.items()}

    def _kept(self, block: sampling.Block, count: int) -> dict[str, FloatArray]:
        """Return the columns without the draws that are impossible together."""
        columns = dict(block.columns)
        if block.refused is not None and block.error is not None:
            share = self.plan.share_left_out(block.refused, block.error, truncate=self.truncate)
            self._left_out = max(self._left_out, share)
            columns = {name: column[~block.refused] for name, column in columns.items()}
        for name, column in columns.items():
            for shares, hit in ((self._missing, np.isnan), (self._infinite, np.isinf)):
                shares[name] = max(shares.get(name, 0.0), float(hit(column).sum()) / count)
        return columns

    def notes(self) -> dict[str, Notice]:
        """Return the notes on all columns."""
        notes = {}
        if self._left_out:
            notes["left out"] = Notice("band-left-out", {"share": self._left_out})
        worst: dict[tuple[str, str], DoubtWarning] = {}
        for doubt in self._told:
            worst.setdefault(sampling.doubt_key(doubt), doubt)
        for key, doubt in worst.items():
            notes[f"doubtful {key}"] = Notice("band-doubtful", {"doubt": doubt})
        return notes

    def notes_of(self, column: str) -> list[Notice]:
        """Return the notes on one column."""
        codes = (("band-not-a-number", self._missing), ("band-infinite", self._infinite))
        return [
            Notice(code, {"share": shares[column]}) for code, shares in codes if shares.get(column)
        ]
