"""A model at many draws: in one call where it takes arrays, one by one where it does not.

A model that is known to take long is drawn fewer times. A trial with a clock would give other
draws, and so another answer, on a busy machine.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcalc.checks import FloatArray
from netcalc.errors import ConvergenceError, DomainError, DoubtWarning, NotFiniteWarning, doubts
from netcalc.uncertain.distributions import Distribution, is_frozen

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


def _has_distribution(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(item, Distribution) or is_frozen(item) for item in value
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
