"""A model at many draws: in one call where it takes arrays, one by one where it does not."""

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
from netcalc.errors import ConvergenceError, DomainError, NotFiniteWarning

_TESTED = 3  # draws of an array that are compared with calls of their own


class RefusedDraws(Exception):  # noqa: N818 - never leaves this room
    """A model refused draws of one input by a range of its own."""

    def __init__(self, name: str, error: DomainError) -> None:
        super().__init__(name)
        self.name = name
        self.error = error
        self.low = float(error.values.get("low") or 0.0 if _has_low(error) else -math.inf)
        self.high = float(error.values.get("high", math.inf))
        self.low_open = error.code == "not-positive"

    @property
    def is_of_fractions(self) -> bool:
        """Whether the model takes whole numbers only."""
        return self.error.code == "not-whole" and not float(self.error.value).is_integer()


def _has_low(error: DomainError) -> bool:
    return "low" in error.values or error.code in ("not-positive", "is-negative")


@dataclass
class Evaluation:
    """A model with its fixed arguments, called with draws of the others."""

    model: Callable[..., Any]
    fixed: Mapping[str, Any]
    at_once: bool | None = None
    """Whether the model takes arrays; None until it was tried."""
    warned: bool = field(default=False, init=False)
    """Whether a call gave a warning, as of values outside the published range."""

    def __call__(self, draws: Mapping[str, FloatArray]) -> tuple[dict[str, FloatArray], Any]:
        """Return the columns of the result, and the first refusal of draws that have none.

        Raises
        ------
        RefusedDraws
            If one input has values outside the range that the model takes.
        DomainError
            If every draw is refused.
        """
        if self.at_once is not False:
            found = self._together(draws)
            if found is not None:
                return found, None
        return self._one_by_one(draws)

    def single(self, draws: Mapping[str, FloatArray], index: int) -> Any:
        """Return the result of one draw."""
        return self._call({name: float(column[index]) for name, column in draws.items()})

    def _call(self, varying: Mapping[str, Any]) -> Any:
        arguments = {**self.fixed, **varying}
        first = next(iter(inspect.signature(self.model).parameters), "")
        if first in arguments:
            return self.model(arguments.pop(first), **arguments)
        return self.model(**arguments)

    def _together(self, draws: Mapping[str, FloatArray]) -> dict[str, FloatArray] | None:
        count = next(iter(draws.values())).size
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                result = self._call(draws)
            except DomainError as error:
                self._raise_if_of_draws(error, draws)
                result = None
            except (TypeError, ValueError, ConvergenceError):  # it takes no arrays, or not all
                result = None
        self.warned |= any(not issubclass(one.category, NotFiniteWarning) for one in seen)
        columns = _columns(result) if result is not None else {}
        fits = bool(columns) and all(
            column.shape == (count,) and column.dtype.kind in "fiub" for column in columns.values()
        )
        if fits and self.at_once is None:
            fits = self._agrees(draws, columns, count)
        if not fits:
            return None
        self.at_once = True
        return {name: column.astype(np.float64) for name, column in columns.items()}

    def _agrees(
        self, draws: Mapping[str, FloatArray], columns: Mapping[str, NDArray[Any]], count: int
    ) -> bool:
        """Whether some draws have the same result alone: a list may be one thing to a model."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for index in np.linspace(0, count - 1, min(_TESTED, count)).astype(int):
                alone = _columns(self.single(draws, int(index)))
                for name, column in columns.items():
                    if np.size(alone[name]) != 1 or not np.isclose(
                        column[index], float(np.reshape(alone[name], ())),
                        rtol=1e-9, atol=0.0, equal_nan=True,
                    ):  # fmt: skip
                        return False
        return True

    def _one_by_one(self, draws: Mapping[str, FloatArray]) -> tuple[dict[str, FloatArray], Any]:
        count = next(iter(draws.values())).size
        found: dict[str, FloatArray] = {}
        refused, first_error = np.zeros(count, bool), None
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for index in range(count):
                try:
                    columns = _columns(self.single(draws, index))
                except DomainError as error:
                    self._raise_if_of_draws(error, draws)
                    refused[index], first_error = True, first_error or error
                    continue
                except ConvergenceError:
                    continue
                for name, value in columns.items():
                    if value.size != 1 or value.dtype.kind not in "fiub":
                        raise DomainError(
                            "result-of-draws-not-numbers", self.name, _described(value)
                        )
                    found.setdefault(name, np.full(count, np.nan))[index] = value.reshape(())
                if len(seen) > 100:
                    self.warned = True
                    seen.clear()
        self.warned |= any(not issubclass(one.category, NotFiniteWarning) for one in seen)
        if first_error is not None and (refused.all() or not found):
            raise first_error
        self.at_once = False
        return found, (refused, first_error) if first_error is not None else None

    @property
    def name(self) -> str:
        """Name of the model."""
        return str(getattr(self.model, "__name__", type(self.model).__name__))

    def _raise_if_of_draws(self, error: DomainError, draws: Mapping[str, FloatArray]) -> None:
        """Raise for an input whose own values are refused, whatever the others are."""
        column = draws.get(error.name)
        if column is None or not isinstance(error.value, int | float):
            return
        refusal = RefusedDraws(error.name, error)
        below = column <= refusal.low if refusal.low_open else column < refusal.low
        is_outside = bool((below | (column > refusal.high)).any())
        if refusal.is_of_fractions or (is_outside and bool((column == error.value).any())):
            raise refusal from error


def _columns(result: Any) -> dict[str, NDArray[Any]]:
    found = result._asdict() if hasattr(result, "_asdict") else {"result": result}
    return {name: np.asarray(column) for name, column in found.items()}


def _described(value: NDArray[Any]) -> str:
    if value.dtype.kind not in "fiub":
        return f"values of type {value.dtype}"
    return f"an array of shape ({', '.join(map(str, value.shape))})"
