"""Numbers with labels, as of pandas and xarray: aligned and kept on the result, or refused.

Neither package is imported; a caller who gives such numbers has loaded it. Labels are never left
out in silence, and numbers with labels never meet by their place alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from netcalc.checks._units import PLAIN, without_units
from netcalc.errors import ArgumentTypeError

Wrap = Callable[[Any], Any]
_LIST = re.compile(r"^ *([\w, ]+) : 1-D array_like", re.MULTILINE)


def are_plain(values: Mapping[str, Any]) -> bool:
    """Whether none of the arguments can have labels."""
    return all(type(one) in PLAIN or isinstance(one, list | tuple) for one in values.values())


def without_labels(
    function: Callable[..., Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], Wrap | None]:
    """Return the arguments as arrays without labels, and what labels the result, if they have any.

    Raises
    ------
    ArgumentTypeError
        If labels differ, or the result could not keep them.
    """
    plain = dict(given)
    tables = {name: one for name, one in given.items() if _is_array(one) or _is_series(one)}
    for name, one in tables.items():
        if hasattr(one, "columns") or hasattr(one, "data_vars"):
            raise ArgumentTypeError("table-for-numbers", name, type(one).__name__)
        if hasattr(getattr(one, "dtype", None), "units") or hasattr(
            getattr(one, "data", None), "magnitude"
        ):
            raise ArgumentTypeError("unit-not-read", name, type(one).__name__, unit="bare numbers")
    arrays = {name: one for name, one in tables.items() if _is_array(one)}
    series = {name: one for name, one in tables.items() if name not in arrays}
    if not tables:
        return plain, None
    lists = _lists(function)
    swept = {name: one for name, one in given.items() if name not in lists and not _is_text(one)}
    if arrays:
        return _without_dims(plain, arrays, series, swept, lists)
    wrap = None
    by_list = {name: one for name, one in series.items() if name in lists}
    by_value = {name: one for name, one in series.items() if name not in lists}
    for group in (by_list, by_value):
        if group:
            numbers, first = _aligned(group)
            plain |= numbers
            wrap = _with_index(first, next(iter(group)), is_list=group is by_list)
    others = {name: without_units(name, one) for name, one in swept.items() if name not in series}
    shapes = {name: np.shape(one) for name, one in others.items()}
    beside = next((name for name, shape in shapes.items() if shape), None)
    if by_value:
        name, first = next(iter(by_value.items()))
        if beside is not None and shapes[beside] != (len(first),):
            raise ArgumentTypeError("labels-not-kept", name, type(first).__name__, other=beside)
    elif beside is not None:
        wrap = None  # the result has the shape of that one, which has no labels
    return plain, wrap


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes) or value is None


def _is_array(value: Any) -> bool:
    """Whether it is of xarray."""
    return type(value) not in PLAIN and hasattr(value, "dims") and hasattr(value, "coords")


def _is_series(value: Any) -> bool:
    """Whether it is a series or a table of pandas, or of a package like it."""
    return type(value) not in PLAIN and hasattr(value, "reindex") and hasattr(value, "index")


@cache
def _lists(function: Callable[..., Any]) -> frozenset[str]:
    """Return the arguments that are a list as one thing, such as the links of a path."""
    found = _LIST.findall(function.__doc__ or "")
    return frozenset(name.strip() for names in found for name in names.split(","))


def _same_labels(first: Any, other: Any) -> bool:
    """Whether two indexes have the same labels, in whatever order, each of them once."""
    return bool(
        len(first) == len(other) and first.is_unique and other.is_unique and other.isin(first).all()
    )


def _aligned(group: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the numbers of series in the order of the first, and that one."""
    leading, first = next(iter(group.items()))
    numbers = {}
    for name, one in group.items():
        if not one.index.equals(first.index):
            if not _same_labels(first.index, one.index):
                raise ArgumentTypeError("labels-differ", name, type(one).__name__, other=leading)
            one = one.reindex(first.index)
        if not isinstance(one.dtype, np.dtype) and getattr(one.dtype, "kind", "O") in "iuf":
            numbers[name] = one.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            numbers[name] = one.to_numpy()
    return numbers, first


def _with_index(first: Any, name: str, *, is_list: bool) -> Wrap:
    def wrap(result: Any) -> Any:
        if np.ndim(result) == 0:
            return result
        if np.shape(result) != (len(first),):
            if is_list:
                return result  # it has no row for each label
            raise ArgumentTypeError("labels-not-kept", name, type(first).__name__, other=None)
        return type(first)(result, index=first.index)

    return wrap


def _without_dims(
    plain: dict[str, Any],
    arrays: Mapping[str, Any],
    series: Mapping[str, Any],
    swept: Mapping[str, Any],
    lists: frozenset[str],
) -> tuple[dict[str, Any], Wrap]:
    leading, first = next(iter(arrays.items()))
    kind = type(first).__name__
    for name in arrays:
        if name in lists:
            raise ArgumentTypeError("list-with-dimensions", name, kind)
    for name, one in swept.items():
        if name in series or (name not in arrays and np.ndim(without_units(name, one))):
            raise ArgumentTypeError("labels-not-kept", leading, kind, other=name)
    ordered = []
    known: dict[Any, tuple[str, Any]] = {}
    for name, one in arrays.items():
        for dim in set(one.indexes) & set(one.dims):
            other, labels = known.setdefault(dim, (name, one.indexes[dim]))
            if not one.indexes[dim].equals(labels):
                if not _same_labels(labels, one.indexes[dim]):
                    raise ArgumentTypeError("labels-differ", name, kind, other=other)
                one = one.reindex({dim: labels})
        ordered.append(one)
    try:
        whole = sys.modules["xarray"].broadcast(*ordered)
    except ValueError:  # dimensions of the same name without labels, of different length
        other = list(arrays)[-1]
        raise ArgumentTypeError("labels-differ", other, kind, other=leading) from None
    plain |= {name: one.to_numpy() for name, one in zip(arrays, whole, strict=True)}

    def wrap(result: Any) -> Any:
        if np.shape(result) != whole[0].shape:
            raise ArgumentTypeError("labels-not-kept", leading, kind, other=None)
        made = sum(whole[1:], whole[0]).copy(data=result)  # with the coordinates of all
        made.attrs, made.name = {}, None
        return made

    return plain, wrap
