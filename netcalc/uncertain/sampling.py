"""Draws of the inputs of a model, and the model at many draws.

The draws are a scrambled Sobol sequence, correlated by a Gaussian copula. Which inputs vary is
found here, and what is left out of them because the model refuses it.

A model that takes arrays is evaluated in one call, any other one by one. A model that is known to
take long is drawn fewer times. A trial with a clock would give other draws, and so another answer,
on a busy machine.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import MAX_ELEMENTS, FloatArray, named_arguments
from netcalc.display import unit_of_name
from netcalc.errors import (
    ArgumentTypeError,
    ConvergenceError,
    DomainError,
    DoubtWarning,
    NotFiniteWarning,
    doubts,
)
from netcalc.messages import Notice
from netcalc.uncertain import distributions
from netcalc.uncertain.text import Fitted, correlations_of_fits

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
class DrawPlan:
    """How inputs are drawn: their distributions, the seed, and the factor of their correlation.

    Any block of draws can be made without those before it, so that workers share them.
    """

    inputs: Mapping[str, distributions.Distribution]
    seed: int
    mixing: FloatArray | None = None

    def block(self, start: int, count: int) -> dict[str, FloatArray]:
        """Return ``count`` draws of each input, the first of them number ``start``."""
        return Draws(self).block(start, count)

    def values(self, shares: FloatArray) -> dict[str, FloatArray]:
        """Return the values of each input at rows of shares."""
        rows = zip(self.inputs.items(), np.ascontiguousarray(shares), strict=True)
        return {name: drawn.ppf(row) for (name, drawn), row in rows}

    def share_left_out(
        self, refused: NDArray[np.bool_], error: DomainError, *, truncate: bool
    ) -> float:
        """Return the share of refused draws, if they may be left out."""
        share = float(refused.mean())
        if truncate or any(drawn.may_truncate for drawn in self.inputs.values()):
            return share
        raise DomainError("draws-refused", "draws", share, share=share, reason=error.what)


class Draws:
    """The draws of a plan, block by block; quick in ascending order."""

    def __init__(self, plan: DrawPlan) -> None:
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


Outcome = TypeVar("Outcome")
MOST_LIMITS = 20
"""Distributions that are truncated or rounded before an answer is given up. [1]"""


def planned(
    model: Callable[..., Any],
    inputs: Mapping[str, distributions.Known],
    *,
    seed: int,
    correlations: Mapping[tuple[str, str], float] | None,
    free: str = "",
) -> tuple[DrawPlan, dict[str, Any], dict[tuple[str, str], float]]:
    """Return how the inputs that vary are drawn, the others, and the correlations.

    ``free`` is an argument that is neither: one that is swept or solved for.
    """
    if free:
        inputs = _without_free(model, inputs, free)
    varying, fixed = _sorted_out(model, inputs, free)
    joined = {**correlations_of_fits(varying), **(correlations or {})}
    factor = mixing(tuple(varying), joined)
    plain = {name: x.inner if isinstance(x, Fitted) else x for name, x in varying.items()}
    return DrawPlan(plain, seed, factor), fixed, joined


def _parameters(model: Callable[..., Any]) -> tuple[Mapping[str, inspect.Parameter], bool]:
    """Return the parameters of a model, and whether it takes arguments of any name."""
    if not callable(model):
        raise ArgumentTypeError("not-of-class", "model", type(model).__name__, expected="callable")
    parameters = inspect.signature(model).parameters
    return parameters, any(item.kind is item.VAR_KEYWORD for item in parameters.values())


def _without_free(
    model: Callable[..., Any], inputs: Mapping[str, distributions.Known], free: str
) -> dict[str, distributions.Known]:
    parameters, takes_all = _parameters(model)
    if free not in parameters and not takes_all:
        raise DomainError("not-a-choice", "over", free, choices=list(parameters))
    value = inputs.get(free)
    if isinstance(value, distributions.Distribution) or distributions.is_frozen(value):
        raise DomainError("input-also-free", free)
    return {name: value for name, value in inputs.items() if name != free}


def _sorted_out(
    model: Callable[..., Any], inputs: Mapping[str, distributions.Known], free: str
) -> tuple[dict[str, distributions.Distribution], dict[str, Any]]:
    """Return the inputs that vary and the others."""
    parameters, takes_all = _parameters(model)
    varying: dict[str, distributions.Distribution] = {}
    fixed: dict[str, Any] = {}
    for name, value in inputs.items():
        if name not in parameters and not takes_all:
            raise DomainError("not-a-choice", "inputs", name, choices=list(parameters))
        if isinstance(value, distributions.Distribution) or distributions.is_frozen(value):
            drawn = distributions.as_distribution(name, value)
            varying[name] = distributions.Whole(drawn) if name.endswith("_count") else drawn
            continue
        fixed[name] = value
        if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if isinstance(item, distributions.Distribution) or distributions.is_frozen(item):
                    varying[f"{name}[{index}]"] = distributions.as_distribution(name, item)
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


def attempted(
    attempt: Callable[[DrawPlan], Outcome],
    plan: DrawPlan,
    *,
    truncate: bool,
    notes: dict[str, Notice],
) -> tuple[DrawPlan, Outcome]:
    """Return what an attempt gives, and its plan: one without the draws that the model refuses."""
    last: DomainError | None = None
    for _ in range(MOST_LIMITS):
        try:
            return plan, attempt(plan)
        except RefusedDraws as refused:
            if refused.name not in plan.inputs:
                raise refused.error from None
            last = refused.error
            plan = _without_refused(plan, refused, truncate=truncate, notes=notes)
    assert last is not None
    raise last


def _without_refused(
    plan: DrawPlan, refused: RefusedDraws, *, truncate: bool, notes: dict[str, Notice]
) -> DrawPlan:
    """Return a plan whose draws of one input are possible, with a note, or raise an error."""
    name, drawn = refused.name, plan.inputs[refused.name]
    if refused.is_of_fractions and not isinstance(drawn, distributions.Whole):
        notes[f"whole {name}"] = Notice("draws-whole", {"name": name})
        return DrawPlan({**plan.inputs, name: distributions.Whole(drawn)}, plan.seed, plan.mixing)
    low, high = refused.low, refused.high
    share = drawn.share_outside(low, high, low_open=refused.low_open)
    limits = refused.error.allowed or f"from {low} to {high}"
    values = {
        "share": share,
        "limits": limits,
        "distribution": drawn.text(unit_of_name(name) or "1"),
    }
    if not (truncate or drawn.may_truncate) or share <= 0.0:
        raise DomainError("draws-impossible", name, refused.error.value, **values) from None
    whole = drawn.inner if isinstance(drawn, distributions.Whole) else drawn
    inner = whole.inner if isinstance(whole, distributions.Permissive) else whole
    part = distributions.Truncated(inner, low, high, refused.low_open)
    if part.share_left_out >= 1.0:
        raise DomainError("draws-impossible", name, refused.error.value, **values) from None
    notes[f"truncated {name}"] = Notice("draws-truncated", {"name": name, **values})
    possible = distributions.Whole(part) if isinstance(drawn, distributions.Whole) else part
    return DrawPlan({**plan.inputs, name: possible}, plan.seed, plan.mixing)


SLOW_DRAWS = 1000
"""Draws of a model that takes long, unless their number is given. [1]"""


def is_slow(model: Callable[..., Any]) -> bool:
    """Whether a model is marked by :func:`netcalc.checks.takes_long`."""
    return bool(getattr(model, "takes_long", False))


_TESTED = 3  # draws of an array that are compared with calls of their own


class RefusedDraws(Exception):  # noqa: N818 - never leaves this room
    """A model refused draws of one input by a range of its own."""

    def __init__(self, name: str, error: DomainError) -> None:
        super().__init__(name, error)  # both, so that a worker can hand it over
        self.name = name
        self.error = error
        has_low = "low" in error.values or error.code in ("not-positive", "is-negative")
        self.low = float(error.values.get("low") or 0.0) if has_low else -math.inf
        self.high = float(error.values.get("high", math.inf))
        self.low_open = error.code == "not-positive"

    @property
    def is_of_fractions(self) -> bool:
        """Whether the model takes whole numbers only."""
        return self.error.code == "not-whole" and not float(self.error.value).is_integer()


@dataclass(frozen=True)
class Block:
    """Draws in one go: the columns of their results, and what the model said of them.

    ``refused`` marks the draws that have no result, ``error`` is the first of their reasons;
    ``stop`` is set where the whole block has none.
    """

    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    refused: NDArray[np.bool_] | None = None
    error: DomainError | None = None
    doubts: tuple[DoubtWarning, ...] = ()
    stop: RefusedDraws | DomainError | None = None


class Evaluation:
    """A model with its fixed arguments, called with draws of the others.

    ``at_once`` is whether it takes arrays; None until that was tried.
    """

    def __init__(self, model: Callable[..., Any], fixed: Mapping[str, Any]) -> None:
        self.model, self.fixed = model, fixed
        self._lists = [name for name, value in fixed.items() if _has_distribution(value)]
        self.at_once: bool | None = False if self._lists else None
        self._first = next(iter(inspect.signature(model).parameters), "")

    def __call__(self, draws: Mapping[str, FloatArray]) -> Block:
        """Return the results of draws.

        Raises
        ------
        RefusedDraws
            If one input has values outside the range that the model takes.
        DomainError
            If every draw is refused, or the result is no number.
        """
        with warnings.catch_warnings(), doubts() as told:
            warnings.simplefilter("ignore", NotFiniteWarning)  # such results are counted
            columns = None if self.at_once is False else self._together(draws)
            if columns is not None:
                return Block(columns, doubts=tuple(told))
            told.clear()
            one_by_one = self._one_by_one(draws)
        return Block(*one_by_one, doubts=tuple(told))

    def together(self, draws: Mapping[str, FloatArray]) -> dict[str, FloatArray] | None:
        """Return the columns of one call; None where the model does not take the draws at once.

        Raises
        ------
        RefusedDraws
            If one input has values outside the range that the model takes.
        """
        with warnings.catch_warnings(), doubts():
            warnings.simplefilter("ignore", NotFiniteWarning)
            return None if self.at_once is False else self._together(draws)

    def doubts_of(self, draws: Mapping[str, FloatArray]) -> list[list[DoubtWarning]]:
        """Return the doubts about each of some draws."""
        every = []
        for index in range(_count(draws)):
            with warnings.catch_warnings(), doubts() as told:
                warnings.simplefilter("ignore")
                try:
                    self._single(draws, index)
                except (DomainError, ConvergenceError):
                    told.clear()
            every.append(told)
        return every

    def _call(self, varying: Mapping[str, Any]) -> Any:
        arguments = {**self.fixed, **varying}
        for name in self._lists:
            values = enumerate(self.fixed[name])
            arguments[name] = [arguments.pop(f"{name}[{at}]", value) for at, value in values]
        if self._first in arguments:
            return self.model(arguments.pop(self._first), **arguments)
        return self.model(**arguments)

    def _single(self, draws: Mapping[str, FloatArray], index: int) -> Any:
        return self._call({name: float(column[index]) for name, column in draws.items()})

    def _together(self, draws: Mapping[str, FloatArray]) -> dict[str, FloatArray] | None:
        """Return the columns of one call; None where the draws are to be asked for one by one."""
        try:
            columns = _columns(self._call(draws))
        except DomainError as error:
            self._raise_if_of_draws(error, draws)
            return None
        except (TypeError, ValueError, ConvergenceError):  # it takes no arrays, or not all of them
            return None
        shape = (_count(draws),)
        if any(c.shape != shape or c.dtype.kind not in "fiub" for c in columns.values()):
            return None
        if self.at_once is None and not self._agrees(draws, columns):
            return None
        self.at_once = True
        return {name: column.astype(np.float64) for name, column in columns.items()}

    def _agrees(self, draws: Mapping[str, FloatArray], columns: Mapping[str, NDArray[Any]]) -> bool:
        """Whether some draws have the same result alone: a list may be one thing to a model."""
        count = _count(draws)
        with doubts():
            for index in np.linspace(0, count - 1, min(_TESTED, count)).astype(int).tolist():
                alone = _columns(self._single(draws, index))
                for name, column in columns.items():
                    if alone[name].size != 1 or not np.isclose(
                        column[index], float(alone[name].reshape(())),
                        rtol=1e-9, atol=0.0, equal_nan=True,
                    ):  # fmt: skip
                        return False
        return True

    def _one_by_one(
        self, draws: Mapping[str, FloatArray]
    ) -> tuple[dict[str, FloatArray], NDArray[np.bool_] | None, DomainError | None]:
        count = _count(draws)
        results: dict[str, FloatArray] = {}
        refused, first_error = np.zeros(count, bool), None
        for index in range(count):
            try:
                columns = _columns(self._single(draws, index))
            except DomainError as error:
                self._raise_if_of_draws(error, draws)
                refused[index], first_error = True, first_error or error
                continue
            except ConvergenceError:
                continue
            for name, value in columns.items():
                if value.size != 1 or value.dtype.kind not in "fiub":
                    shown = _described(value)
                    raise DomainError("result-of-draws-not-numbers", self.name, shown)
                results.setdefault(name, np.full(count, np.nan))[index] = value.reshape(())
        if first_error is not None and not results:
            raise first_error
        if self.at_once is None and first_error is None:
            self.at_once = False  # with a refusal, the next block may do
        return results, None if first_error is None else refused, first_error

    @property
    def name(self) -> str:
        """Name of the model."""
        return str(getattr(self.model, "__name__", type(self.model).__name__))

    def _raise_if_of_draws(self, error: DomainError, draws: Mapping[str, FloatArray]) -> None:
        """Raise for an input whose own values are refused, whatever the others are."""
        column = draws.get(error.name)
        if column is None or isinstance(error.value, bool | str):
            return
        try:
            value = float(error.value)
        except (TypeError, ValueError):
            return
        refusal = RefusedDraws(error.name, error)
        below = column <= refusal.low if refusal.low_open else column < refusal.low
        is_outside = bool((below | (column > refusal.high)).any())
        if refusal.is_of_fractions or (is_outside and bool((column == value).any())):
            raise refusal from error


def doubt_key(doubt: DoubtWarning) -> tuple[str, str]:
    """Return what is doubted of which argument: doubts of a kind are told together."""
    return doubt.code, str(doubt.values.get("name", ""))


def _has_distribution(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(item, distributions.Distribution) or distributions.is_frozen(item)
        for item in value
    )


def _count(draws: Mapping[str, FloatArray]) -> int:
    return next(iter(draws.values())).size


def _columns(result: Any) -> dict[str, NDArray[Any]]:
    columns = result._asdict() if hasattr(result, "_asdict") else {"result": result}
    return {name: np.asarray(column) for name, column in columns.items()}


def _described(value: NDArray[Any]) -> str:
    if value.dtype.kind not in "fiub":
        return f"values of type {value.dtype}"
    return f"an array of shape ({', '.join(map(str, value.shape))})"
