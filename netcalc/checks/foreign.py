"""Numbers of other kinds: the one hook by which they come into the checks.

Four kinds come in. A *stand-in* takes the place of a number while a model is written down: a
recorder derives its array from :class:`StandIn`, and a check hands its rules over to it. A number
*with a unit*, as pint has it, is converted to the unit in the argument's name, or refused; it is
never taken as a bare number. Numbers *with labels*, as of pandas and xarray, are aligned, and the
result keeps the labels; they never meet by their place alone, and no label is left out in silence.
*Masked* numbers are nan where they are masked.

None of the packages is imported: a caller who gives such numbers has loaded it. What has
``magnitude`` and ``to`` is converted, what shows a unit in another way is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np

from netcalc.checks.ranges import list_arguments
from netcalc.errors import ArgumentTypeError

Wrap = Callable[[Any], Any]
"""What gives a result the labels of the arguments."""

PLAIN = frozenset({
    float, int, bool, str, bytes, type(None), range, np.ndarray, np.float64, np.int64, np.bool_,
})  # fmt: skip
"""Kinds that have neither unit nor labels: nearly all that a model is called with."""

_UNITS = {
    "_m_s": "meter / second",
    "_bps": "bit / second",
    "_pps": "1 / second",
    "_bytes": "byte",
    "_bits": "bit",
    "_hz": "hertz",
    "_m": "meter",
    "_s": "second",
    "byte_cost": "second / byte",
    "copy_cost": "second / byte",
    "checksum_cost": "second / byte",
    "rtt_slope": "second / byte",
    "packet_cost": "second",
}
"""The unit that a name means by its end, as packages of units spell it; others have none."""

_OF_INFORMATION = ("bit", "byte", "octet", "baud")
"""Ends of the units that count bits. Packages take a bit for a number without dimension, so that
they would convert a bit rate into a packet rate, and a bare number into bytes."""


class StandIn:
    """A number, or an array, whose value is not known yet: the model that uses it is written down.

    A recorder registers itself by deriving its array from this class. The checks cannot look at
    the value: they hand their rules over, to be applied to each number that takes its place.
    """

    def checked(self, name: str, *, code: str, limits: Any = None, **rules: Any) -> Any:
        """Return it as a check returns an argument."""
        raise NotImplementedError

    def judged(
        self, values: Any, low: float, high: float, codes: tuple[str, str], said: dict[str, Any],
        *, where: Any = True, warns: bool = True,
    ) -> None:  # fmt: skip
        """Keep what is to be noted of numbers outside a range."""
        raise NotImplementedError


def is_stand_in(value: Any) -> TypeGuard[Any]:
    """Whether a value is a stand-in for a number; it has the methods of an array as well."""
    return isinstance(value, StandIn)


def is_masked(value: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Whether a value is a masked array; ``numpy.ma`` is not loaded to know that one is not."""
    is_plain = type(value) is np.ndarray or not isinstance(value, np.ndarray)
    return not is_plain and isinstance(value, np.ma.MaskedArray)


def enter(name: str, value: Any) -> Any:
    """Return a value as bare numbers in the unit of the argument, or as a stand-in for them.

    Raises
    ------
    ArgumentTypeError
        If its unit is of another kind, or of a package whose units are not known, or if what is
        masked are no numbers.
    """
    if is_stand_in(value):
        return value.astype(float)
    kinds = set(map(type, value)) if isinstance(value, list | tuple) else ()
    if any(issubclass(kind, StandIn) for kind in kinds):
        return np.stack(value).astype(float)
    value = without_units(name, value)
    if not is_masked(value):
        return value
    try:
        return np.ma.filled(value.astype(np.float64), np.nan)
    except Exception as error:  # objects that fail by themselves
        raise ArgumentTypeError("not-numbers", name, value=value) from error


def unit_of(name: str) -> str:
    """Return the unit of an argument by its name; empty for a number without one.

    >>> unit_of("bandwidth_bps"), unit_of("loss_ratio")
    ('bit / second', '')
    """
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")


def without_units(name: str, value: Any) -> Any:
    """Return a value, or each of a list, as bare numbers in the unit of the argument.

    Raises
    ------
    ArgumentTypeError
        If its unit is of another kind, or of a package whose units are not known.
    """
    if isinstance(value, list | tuple):
        if PLAIN.issuperset(map(type, value)):
            return value
        return [without_units(name, item) for item in value]
    if _has(value, "magnitude") and _has(value, "to"):
        return _converted(name, value)
    if _has(value, "unit") or _has(value, "units"):
        raise ArgumentTypeError("unit-not-read", name, value=value, unit=_wanted(name))
    return value


def _has(value: Any, name: str) -> bool:
    try:
        return hasattr(value, name)
    except Exception:  # an object that fails by itself is refused as no number
        return False


def _converted(name: str, value: Any) -> Any:
    unit = unit_of(name)
    try:
        if _bits(value) == _bits_of(unit):
            return _whole(value.to(unit).magnitude, unit)
    except Exception:  # of pint: another dimension, or a unit that has no factor alone
        pass
    raise ArgumentTypeError("unit-of-another-kind", name, value, unit=_wanted(name))


def _whole(magnitude: Any, unit: str) -> Any:
    """Return bytes and bits that a conversion left next to a whole number as that number."""
    if unit not in ("byte", "bit") or not isinstance(magnitude, float | np.ndarray):
        return magnitude
    nearest = np.round(magnitude)
    is_near = np.abs(magnitude - nearest) <= 4.0 * np.spacing(np.abs(nearest))
    return np.where(is_near, nearest, magnitude)[()]


def _bits(value: Any) -> float:
    """Return the power of bits in the unit of a quantity."""
    units = dict(value.unit_items())
    return float(sum(power for unit, power in units.items() if unit.endswith(_OF_INFORMATION)))


def _bits_of(unit: str) -> float:
    above, _, below = unit.partition(" / ")
    return (above in ("bit", "byte")) - (below in ("bit", "byte"))


def _wanted(name: str) -> str:
    return unit_of(name) or "a number without a unit"


def are_plain(values: Mapping[str, Any]) -> bool:
    """Whether none of the arguments can have labels."""
    return all(type(v) in PLAIN or isinstance(v, list | tuple) for v in values.values())


def without_labels(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], Wrap | None]:
    """Return the arguments as arrays without labels, and what labels the result, if they have any.

    Raises
    ------
    ArgumentTypeError
        If labels differ, or the result could not keep them.
    """
    plain = dict(arguments)
    tables = {
        name: values
        for name, values in arguments.items()
        if _is_array(values) or _is_series(values)
    }
    for name, values in tables.items():
        if hasattr(values, "columns") or hasattr(values, "data_vars"):
            raise ArgumentTypeError("table-for-numbers", name, type(values).__name__)
        if hasattr(getattr(values, "dtype", None), "units") or hasattr(
            getattr(values, "data", None), "magnitude"
        ):
            raise ArgumentTypeError(
                "unit-not-read", name, type(values).__name__, unit="bare numbers"
            )
    arrays = {name: values for name, values in tables.items() if _is_array(values)}
    series = {name: values for name, values in tables.items() if name not in arrays}
    if not tables:
        return plain, None
    lists = list_arguments(function)
    swept = {
        name: values
        for name, values in arguments.items()
        if name not in lists and not isinstance(values, str | bytes | None)
    }
    if arrays:
        return _without_dims(plain, arrays, series, swept, lists)
    wrap = None
    by_list = {name: values for name, values in series.items() if name in lists}
    by_value = {name: values for name, values in series.items() if name not in lists}
    for group in (by_list, by_value):
        if group:
            numbers, first = _aligned(group)
            plain |= numbers
            wrap = _with_index(first, next(iter(group)), is_list=group is by_list)
    others = {
        name: without_units(name, values) for name, values in swept.items() if name not in series
    }
    shapes = {name: np.shape(values) for name, values in others.items()}
    beside = next((name for name, shape in shapes.items() if shape), None)
    if by_value:
        name, first = next(iter(by_value.items()))
        if beside is not None and shapes[beside] != (len(first),):
            raise ArgumentTypeError("labels-not-kept", name, type(first).__name__, other=beside)
    elif beside is not None:
        wrap = None  # the result has the shape of that one, which has no labels
    return plain, wrap


def _is_array(value: Any) -> bool:
    """Whether it is of xarray."""
    return type(value) not in PLAIN and hasattr(value, "dims") and hasattr(value, "coords")


def _is_series(value: Any) -> bool:
    """Whether it is a series or a table of pandas, or of a package like it."""
    return type(value) not in PLAIN and hasattr(value, "reindex") and hasattr(value, "index")


def _same_labels(first: Any, other: Any) -> bool:
    """Whether two indexes have the same labels, in whatever order, each of them once."""
    return bool(
        len(first) == len(other) and first.is_unique and other.is_unique and other.isin(first).all()
    )


def _aligned(group: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the numbers of series in the order of the first, and the first."""
    leading, first = next(iter(group.items()))
    numbers = {}
    for name, values in group.items():
        if not values.index.equals(first.index):
            if not _same_labels(first.index, values.index):
                raise ArgumentTypeError("labels-differ", name, type(values).__name__, other=leading)
            values = values.reindex(first.index)
        if not isinstance(values.dtype, np.dtype) and getattr(values.dtype, "kind", "O") in "iuf":
            numbers[name] = values.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            numbers[name] = values.to_numpy()
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
    for name, values in swept.items():
        if name in series or (name not in arrays and np.ndim(without_units(name, values))):
            raise ArgumentTypeError("labels-not-kept", leading, kind, other=name)
    ordered = []
    labels_of: dict[Any, tuple[str, Any]] = {}
    for name, values in arrays.items():
        for dim in set(values.indexes) & set(values.dims):
            other, labels = labels_of.setdefault(dim, (name, values.indexes[dim]))
            if not values.indexes[dim].equals(labels):
                if not _same_labels(labels, values.indexes[dim]):
                    raise ArgumentTypeError("labels-differ", name, kind, other=other)
                values = values.reindex({dim: labels})
        ordered.append(values)
    try:
        whole = sys.modules["xarray"].broadcast(*ordered)
    except ValueError:  # dimensions of the same name without labels, of different length
        other = list(arrays)[-1]
        raise ArgumentTypeError("labels-differ", other, kind, other=leading) from None
    plain |= {name: values.to_numpy() for name, values in zip(arrays, whole, strict=True)}

    def wrap(result: Any) -> Any:
        if np.shape(result) != whole[0].shape:
            raise ArgumentTypeError("labels-not-kept", leading, kind, other=None)
        made = sum(whole[1:], whole[0]).copy(data=result)  # with the coordinates of all
        made.attrs, made.name = {}, None
        return made

    return plain, wrap
