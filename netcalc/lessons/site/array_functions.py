"""The functions of numpy that a recorded array knows, besides the operations on each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netcalc.lessons.site.arrays import (
    RecordedArray,
    apply,
    broadcast,
    list_operation,
    reduce,
    select,
    stack,
    wrap,
)
from netcalc.lessons.site.operations import CannotRecord, node


def _like(value: float) -> Callable[..., RecordedArray]:
    def made(array: Any, dtype: Any = None, **options: Any) -> RecordedArray:
        kind = dtype or wrap(array).dtype
        return wrap(np.full(np.shape(array), value, dtype=kind))

    return made


def _full_like(array: Any, value: Any, dtype: Any = None, **options: Any) -> RecordedArray:
    return broadcast(wrap(value).astype(dtype or wrap(array).dtype), np.shape(array))


def _where(condition: Any, *values: Any) -> RecordedArray:
    if len(values) != 2:
        raise CannotRecord("selection")
    return select(condition, *values)


def _select(conditions: Any, values: Any, default: Any = 0) -> RecordedArray:
    found = wrap(default)
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        found = select(condition, value, found)
    return found


def _concatenate(parts: Any, axis: int = 0, **options: Any) -> RecordedArray:
    arrays = [wrap(one) for one in parts]
    if any(one.ndim != 1 for one in arrays):
        raise CannotRecord("axes")
    kind = "f" if any(one.node.kind == "f" for one in arrays) else "i"
    shape = (sum(one.size for one in arrays),)
    return RecordedArray(node("concatenate", *(a.node for a in arrays), shape=shape, kind=kind))


def _stack(parts: Any, axis: int = 0, **options: Any) -> RecordedArray:
    if axis:
        raise CannotRecord("axes")
    return stack(list(parts))


def _diff(array: Any, n: int = 1, **options: Any) -> RecordedArray:
    values = wrap(array)
    if n != 1 or options:
        raise CannotRecord("option", "diff")
    return wrap(values[1:] - values[:-1])


def _sort(array: Any, axis: int = -1, **options: Any) -> RecordedArray:
    return list_operation("sort", array, np.shape(array))


def _argsort(array: Any, axis: int = -1, **options: Any) -> RecordedArray:
    return list_operation("argsort", array, np.shape(array), "i")


def _median(array: Any, axis: Any = None, **options: Any) -> RecordedArray:
    return list_operation("median", wrap(array).ravel(), ())


def _clip(array: Any, low: Any = None, high: Any = None, **options: Any) -> RecordedArray:
    return wrap(array).clip(low, high)


def _round(array: Any, decimals: int = 0, **options: Any) -> RecordedArray:
    return wrap(array).round(decimals)


def _dot(first: Any, second: Any) -> RecordedArray:
    one, two = wrap(first), wrap(second)
    if one.ndim == two.ndim == 1:
        return wrap(one * two).sum()
    if one.ndim and two.ndim:
        raise CannotRecord("axes")
    return wrap(one * two)


def _flip(array: Any, axis: Any = None) -> RecordedArray:
    return wrap(array)[::-1]


def _broadcast_arrays(*arrays: Any, **options: Any) -> tuple[RecordedArray, ...]:
    shape = np.broadcast_shapes(*(np.shape(one) for one in arrays))
    return tuple(RecordedArray(broadcast(one, shape).node) for one in arrays)


def _flatnonzero(array: Any) -> RecordedArray:
    values = wrap(array)
    if values.size != 1:
        return _FirstIndex(values)  # type: ignore[return-value]
    return wrap(np.zeros(1, int)) if values else wrap(np.zeros(0, int))


class _FirstIndex:
    """Where a condition holds in a list: only the first index of them is recorded."""

    def __init__(self, values: RecordedArray) -> None:
        self.values = values

    @property
    def size(self) -> Any:
        """Whether there is one: as a number that is 0 or more."""
        return self.values.any().astype(np.int64)

    def __getitem__(self, place: int) -> RecordedArray:
        if place != 0:
            raise CannotRecord("selection")
        return self.values.astype(np.bool_).argmax()


def _isin(array: Any, allowed: Any, **options: Any) -> RecordedArray:
    found = wrap(False)
    for value in np.ravel(allowed):
        found = apply("logical_or", found, apply("equal", array, value))
    return found


def _nan_to_num(array: Any, nan: float = 0.0, **options: Any) -> RecordedArray:
    if options:
        raise CannotRecord("option", "nan_to_num")
    return select(np.isnan(array), nan, array)


def _count_nonzero(array: Any, **options: Any) -> RecordedArray:
    return reduce("sum", wrap(array).astype(np.bool_).astype(np.int64), axis=None)


def _reduced(name: str) -> Callable[..., RecordedArray]:
    def made(array: Any, axis: Any = None, **options: Any) -> RecordedArray:
        return reduce(name, array, axis=axis, **options)

    return made


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: _where,
    np.select: _select,
    np.shape: lambda array: wrap(array).shape,
    np.size: lambda array, axis=None: wrap(array).size,
    np.ndim: lambda array: wrap(array).ndim,
    np.ravel: lambda array, **options: wrap(array).ravel(),
    np.reshape: lambda array, shape, **options: wrap(array).reshape(shape),
    np.atleast_1d: lambda array: array if wrap(array).ndim else wrap(array).reshape((1,)),
    np.squeeze: lambda array: wrap(array).reshape(tuple(n for n in np.shape(array) if n != 1)),
    np.broadcast_to: lambda array, shape, **options: broadcast(
        array, (shape,) if isinstance(shape, int) else shape
    ),
    np.broadcast_arrays: _broadcast_arrays,
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.empty_like: _like(0.0),
    np.full_like: _full_like,
    np.copy: lambda array, **options: wrap(array).copy(),
    np.clip: _clip,
    np.round: _round,
    np.any: _reduced("any"),
    np.all: _reduced("all"),
    np.sum: _reduced("sum"),
    np.prod: _reduced("prod"),
    np.max: _reduced("max"),
    np.min: _reduced("min"),
    np.amax: _reduced("max"),
    np.amin: _reduced("min"),
    np.nanmax: _reduced("largest"),
    np.nanmin: _reduced("least"),
    np.mean: lambda array, **options: wrap(array).mean(),
    np.cumsum: lambda array, **options: wrap(array).cumsum(),
    np.cumprod: lambda array, **options: list_operation("cumprod", array, np.shape(array)),
    np.argmax: lambda array, **options: wrap(array).argmax(),
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.diff: _diff,
    np.sort: _sort,
    np.argsort: _argsort,
    np.median: _median,
    np.dot: _dot,
    np.flip: _flip,
    np.isin: _isin,
    np.flatnonzero: _flatnonzero,
    np.isposinf: lambda array, **options: apply("equal", array, np.inf),
    np.isneginf: lambda array, **options: apply("equal", array, -np.inf),
    np.nan_to_num: _nan_to_num,
    np.count_nonzero: _count_nonzero,
}
