"""Checks of arguments that all models share.

Three answers to bad numbers: *impossible* raises :class:`~netcalc.errors.DomainError`; *not
finite* gives nan in that element, with one warning for an array; what lies *outside the model*
is each formula's own documented ``inf`` or ``nan``.

The checks look at the smallest and the largest element only: one pass, no temporary arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import wraps
from inspect import unwrap
from itertools import combinations
from math import inf, isfinite, prod
from typing import (
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc.checks.blocks import BLOCK, CACHED, by_blocks, in_blocks
from netcalc.checks.calls import named_arguments, refuse_unfit
from netcalc.checks.foreign import (
    PLAIN,
    StandIn,
    are_plain,
    enter,
    is_masked,
    is_stand_in,
    without_labels,
)
from netcalc.checks.ranges import (
    Range,
    checked_ranges,
    derived_quantities,
    judged_names,
    list_arguments,
    published_ranges,
    used_ranges,
)
from netcalc.errors import (
    ArgumentTypeError,
    DomainError,
    DoubtWarning,
    NetcalcError,
    NotFiniteWarning,
    tell_doubts,
)
from netcalc.printable import safe_repr

__all__ = [
    "BLOCK", "CACHED", "LARGEST", "MAX_ELEMENTS", "FloatArray", "Numeric", "Range", "StandIn",
    "as_float", "at_least", "between", "choice", "counted", "derived_quantities", "flag", "flags",
    "in_blocks", "is_called", "is_masked", "is_stand_in", "judged_names", "keep_nan", "model",
    "named_arguments",
    "non_negative", "note", "note_outside_range", "one_dimensional", "positive", "published_ranges",
    "ratio", "real", "rounded_down", "rounded_up", "scalar", "takes_long", "up_to", "used_ranges",
    "whole",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

FloatArray: TypeAlias = NDArray[np.float64]

LARGEST = float(np.finfo(np.float64).max)
"""Largest number of float64: a longer integer cannot be computed with."""

MAX_ELEMENTS = 1 << 25
"""Most elements of a range, and of a result whose shape no argument has: 256 MiB of float64."""

Model = TypeVar("Model", bound=Callable[..., Any])
Others = ParamSpec("Others")


class Numeric(Protocol[Others]):
    """A model for the type checker: a number where the swept argument is one, else an array.

    Where the swept argument is a number and another one an array, say so with
    ``numpy.asarray``.
    """

    @overload
    def __call__(self, swept: float, /, *args: Others.args, **others: Others.kwargs) -> float: ...
    @overload
    def __call__(
        self, swept: ArrayLike, /, *args: Others.args, **others: Others.kwargs
    ) -> FloatArray: ...
    @overload  # the swept argument may have a default
    def __call__(self, *args: Others.args, **others: Others.kwargs) -> float: ...


class _Call:
    """What the checks found during the call of one model."""

    __slots__ = ("first_checks", "has_gaps", "model", "notes", "ranges")

    def __init__(
        self, model: Callable[..., Any], names: tuple[str, ...], ranges: Mapping[str, Range]
    ) -> None:
        self.model = model
        # What the first check of each argument gave: False before it, a warning, or True.
        self.first_checks: dict[str, NotFiniteWarning | bool] = dict.fromkeys(names, False)
        self.ranges = ranges
        self.notes: dict[tuple[str, Any], tuple[float, DoubtWarning]] = {}
        self.has_gaps = False  # whether an argument, or a part of one, is not finite

    def add(self, doubt: DoubtWarning, rank: float = 0.0) -> None:
        """Keep a doubt, the first of each code and name."""
        self.notes.setdefault((doubt.code, doubt.values.get("name")), (rank, doubt))

    def add_block(self, notes: Mapping[tuple[str, Any], tuple[float, DoubtWarning]]) -> None:
        """Keep what was noted of a block: of each code and name, the doubt of the highest rank."""
        for key, (rank, doubt) in notes.items():
            if key not in self.notes or rank > self.notes[key][0]:
                self.notes[key] = rank, doubt

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return what a function gives, and gather what the checks find meanwhile."""
        token = _call.set(self)
        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        finally:
            _call.reset(token)


_call: ContextVar[_Call | None] = ContextVar("_call", default=None)


def note(code: str, *, warns: bool = True, rank: float = 0.0, **values: Any) -> None:
    """Say that the number which a model returns is doubtful, and why.

    The caller of the model gets one :class:`~netcalc.errors.DoubtWarning` a code and ``name``;
    if it ``warns`` not, only those who collect doubts, as the calculator and panels do. Of a long
    argument each block notes its own extreme: the highest ``rank`` counts, and of equals the first.
    """
    doubt = DoubtWarning(code, **values)
    doubt.warns = warns
    call = _call.get()
    if call is None:
        tell_doubts([doubt])
    else:
        call.add(doubt, rank)


def note_outside_range(
    formula: Callable[..., Any],
    *,
    code: str = "",
    warns: bool = True,
    where: NDArray[np.bool_] | bool = True,
    **quantities: ArrayLike,
) -> None:
    """Note what lies outside the published range of a formula: a derived quantity, or an argument.

    A model judges what it derives from its arguments, or the arguments of another model that it
    uses, which is then named. nan is not judged, nor what is not ``where`` the formula is used and
    no exact result. A ``code`` says it in the words of the formula, with the same limit; ``warns``
    is that of :func:`note`.
    """
    for name, values in quantities.items():
        if is_stand_in(values) or is_stand_in(where):
            _judge_stand_in(formula, name, values, code=code, warns=warns, where=where)
            continue
        if np.size(where) > 1:
            values = np.where(where, values, np.nan)
        elif not np.all(where):
            continue
        lowest, highest = _finite_ends(np.asarray(values, dtype=np.float64))
        if lowest <= highest:
            ranges = published_ranges(formula) or {}
            for doubt in _outside(ranges[name], name, lowest, highest):
                said, values_said = _as_said(formula, code or doubt.code, code, doubt.values)
                note(said, warns=warns, rank=_rank(doubt), **values_said)


def _as_said(
    formula: Callable[..., Any], code: str, own_code: str, values: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return a doubt about a range with the formula that has it, where another one uses that."""
    call = _call.get()
    if call is not None and call.model is not formula and not own_code:
        return f"used-{code}", {"formula": formula.__name__, **values}
    return code, values


def _judge_stand_in(
    formula: Callable[..., Any], name: str, values: Any, *, code: str, warns: bool, where: Any
) -> None:
    """Let a stand-in for numbers keep what is to be noted of each."""
    low, high = (published_ranges(formula) or {})[name]
    beyond, said = _as_said(formula, code or "beyond-published-range", code, {"name": name})
    below, _ = _as_said(formula, code or "below-published-range", code, {})
    stand_in = values if is_stand_in(values) else where
    stand_in.judged(values, low, high, (below, beyond), said, where=where, warns=warns)


def _finite_ends(array: FloatArray) -> Range:
    """Return the least and the largest finite number; inf and -inf if there is none."""
    lowest = float(np.fmin.reduce(array, axis=None, initial=inf))
    highest = float(np.fmax.reduce(array, axis=None, initial=-inf))
    if -inf < lowest <= highest < inf or lowest > highest:
        return lowest, highest
    finite = array[np.isfinite(array)]
    return (float(finite.min()), float(finite.max())) if finite.size else (inf, -inf)


def _outside(limits: Range, name: str, lowest: float, highest: float) -> Iterator[DoubtWarning]:
    """Yield the doubts about numbers outside a range; inf and nan are rules."""
    low, high = limits
    if highest > high and isfinite(highest):
        yield DoubtWarning("beyond-published-range", name=name, value=highest, limit=high)
    if lowest < low and isfinite(lowest):
        yield DoubtWarning("below-published-range", name=name, value=lowest, limit=low)


def _rank(doubt: DoubtWarning) -> float:
    """Return how far outside a range a doubt about it is, to compare it with others of its code."""
    sign = -1.0 if doubt.code == "below-published-range" else 1.0
    return sign * float(doubt.values["value"])


def takes_long(function: Model) -> Model:
    """Mark a model that takes above 0.3 ms for a number, such as a transform that is inverted.

    Of ranges it is asked 1,000 draws, not 10,000. A closed form takes a hundredth of it.
    """
    function.takes_long = True  # type: ignore[attr-defined]
    return function


@overload
def model(function: Callable[Concatenate[ArrayLike, Others], FloatArray]) -> Numeric[Others]: ...
@overload
def model(function: Model) -> Model: ...
def model(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a model: numbers in, numbers out, and its arguments warn once.

    Single numbers give a Python ``float``. Arguments with labels, of pandas or xarray, are aligned,
    and the result has their labels. 1e308 and denormals may come out as inf or 0. A model that
    hands an argument to another one, or checks it twice, warns of a nan in it once, at its own
    caller. The first check counts: later ones may be of a number that was computed from another.
    """
    code = unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if _call.get() is not None:
            return function(*args, **kwargs)
        arguments = dict(zip(names, args, strict=False)) | kwargs
        wrap = None
        if not are_plain(arguments):
            arguments, wrap = without_labels(function, arguments)
            args = tuple(arguments[name] for name in names[: len(args)])
            kwargs = {name: arguments[name] for name in kwargs}
        is_large = _is_large(arguments.values())
        if is_large:
            _refuse_too_many(arguments)
        ranges = checked_ranges(function)
        call = _Call(called, names, ranges)
        result = None
        try:
            if is_large:
                result = _by_blocks(call, function, arguments, args, kwargs)
            if result is None:
                call = _Call(called, names, ranges)
                result = call.run(function, *args, **kwargs)
        except NetcalcError:
            raise
        except (ValueError, IndexError, TypeError):
            # The messages of numpy and Python do not name the argument.
            refuse_unfit(function, args, kwargs)
            _refuse_shapes(arguments)
            raise
        except MemoryError:
            _refuse_too_many(arguments, most=0)
            raise
        for notice in call.first_checks.values():
            if isinstance(notice, NotFiniteWarning):
                warnings.warn(notice, stacklevel=2)
        if "result" in ranges and is_stand_in(result):
            codes = "below-published-range", "beyond-published-range"
            result.judged(result, *ranges["result"], codes, {"name": "result"})
        elif "result" in ranges:
            finite = np.asarray(result)[np.isfinite(result)]
            if finite.size:
                ends = float(finite.min()), float(finite.max())
                for doubt in _outside(ranges["result"], "result", *ends):
                    call.add(doubt)
        if call.notes:
            tell_doubts([doubt for _, doubt in call.notes.values()])
        return _as_python(result) if wrap is None else _wrapped(wrap, result)

    return called


def _by_blocks(
    call: _Call,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any | None:
    """Return the result of long arguments, computed block by block; None if it is to be whole.

    What is not finite is counted over the whole.
    """
    block = _Call(call.model, tuple(call.first_checks), call.ranges)
    positions = list(call.first_checks)[: len(args)]

    def run(part: Mapping[str, Any]) -> Any:
        block.notes = {}
        some = {**arguments, **part}
        ordered = [some[name] for name in positions] + list(args[len(positions) :])
        result = function(*ordered, **{name: some[name] for name in kwargs})
        if block.has_gaps:
            raise ValueError("not finite")
        call.add_block(block.notes)
        return result

    return block.run(by_blocks, run, arguments, list_arguments(function))


def _is_large(values: Iterable[Any]) -> bool:
    """Whether an array is long, or has several dimensions, so that the result may be large."""
    return any(
        len(value) > BLOCK
        if isinstance(value, list | tuple)
        else (isinstance(value, np.ndarray) and value.size > BLOCK) or getattr(value, "ndim", 0) > 1
        for value in values
    )


def _as_python(result: Any) -> Any:
    """Return a single number as Python has it, alone or in a column."""
    if isinstance(result, np.ndarray | np.generic) and result.ndim == 0:
        return result.item()
    if hasattr(result, "_asdict"):
        return type(result)(*map(_as_python, result))
    return result


def _wrapped(wrap: Callable[[Any], Any], result: Any) -> Any:
    """Return a result, or each of its columns, with labels."""
    if hasattr(result, "_asdict"):
        return type(result)(*map(wrap, result))
    return _as_python(wrap(result))


def _shapes(arguments: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arguments that are arrays or lists of numbers."""
    shapes = {}
    for name, value in arguments.items():
        if isinstance(value, str | bytes):
            continue
        try:
            shapes[name] = (len(value),) if isinstance(value, range) else np.shape(value)
        except Exception:  # of an object of another package
            continue
    return {name: shape for name, shape in shapes.items() if shape}


def _refuse_shapes(arguments: Mapping[str, Any]) -> None:
    """Raise an error that names two arguments whose shapes do not fit, if there are such."""
    for (name, shape), (other, other_shape) in combinations(_shapes(arguments).items(), 2):
        try:
            np.broadcast_shapes(shape, other_shape)
        except ValueError:
            raise DomainError(
                "shapes-differ", name, list(shape), other=other, other_shape=list(other_shape)
            ) from None


def _refuse_too_many(arguments: Mapping[str, Any], most: int = MAX_ELEMENTS) -> None:
    """Raise an error if the shapes of the arguments make a result that no memory holds."""
    shapes = _shapes(arguments)
    try:
        whole = np.broadcast_shapes(*shapes.values())
    except ValueError:
        return  # the function says which do not fit, or takes them one by one
    count, largest = prod(whole), max(map(prod, shapes.values()), default=0)
    if count > max(most, largest if most else 0):
        name = max(shapes, key=lambda argument: prod(shapes[argument]))
        raise DomainError("too-many-elements", name, list(shapes[name]), shape=list(whole))


def positive(name: str, value: ArrayLike, *, allow_inf: bool = False) -> FloatArray:
    """Return ``value`` as float64; refuse zero and negative numbers."""
    return _checked("not-positive", name, value, low=0.0, low_open=True, allow_inf=allow_inf)


def non_negative(name: str, value: ArrayLike, *, allow_inf: bool = False) -> FloatArray:
    """Return ``value`` as float64; refuse negative numbers."""
    return _checked("is-negative", name, value, low=0.0, allow_inf=allow_inf)


def at_least(name: str, value: ArrayLike, low: float, *, allow_inf: bool = False) -> FloatArray:
    """Return ``value`` as float64; refuse numbers below ``low``."""
    return _checked("below-minimum", name, value, low=low, allow_inf=allow_inf)


def between(name: str, value: ArrayLike, low: float, high: float) -> FloatArray:
    """Return ``value`` as float64; refuse numbers outside ``[low, high]``."""
    return _checked("out-of-range", name, value, low=low, high=high)


def up_to(name: str, value: ArrayLike, high: float) -> FloatArray:
    """Return ``value`` as float64; refuse negative numbers, and those above ``high``."""
    return _checked("is-negative", name, value, low=0.0, high=high, above="above-maximum")


def ratio(name: str, value: ArrayLike) -> FloatArray:
    """Return ``value`` as float64; refuse numbers outside ``[0, 1]``, suggest percent above 1."""
    return _checked("out-of-range", name, value, low=0.0, high=1.0, is_ratio=True)


def real(name: str, value: ArrayLike) -> FloatArray:
    """Return ``value`` as float64; any finite number is valid."""
    return _checked("not-finite", name, value)


def whole(name: str, value: ArrayLike, low: int = 0) -> FloatArray:
    """Return ``value`` as float64; refuse fractions and numbers below ``low``."""
    array = _checked("not-whole", name, value, low=float(low))
    if is_stand_in(array):
        whole_number: FloatArray = array.checked(name, code="not-whole", low=low, is_whole=True)
        return whole_number
    if _has_fraction(array):
        fractional = (np.floor(array) != array) & ~np.isnan(array)
        if fractional.any():
            first = float(array[fractional].flat[0])
            raise DomainError("not-whole", name, first, low=low, index=_index(array, first))
    return array


def is_called(model: Callable[..., Any]) -> bool:
    """Whether a model runs for its caller, and for no other model."""
    call = _call.get()
    return call is None or call.model is model


def counted(name: str, value: ArrayLike, model: Callable[..., Any], *, low: int = 0) -> FloatArray:
    """Return a count as float64; refuse fractions, unless another model than this has computed it.

    Nobody sends half a segment, but a size over that of a segment has a part, and what follows from
    it is right.
    """
    return whole(name, value, low) if is_called(model) else at_least(name, value, low)


_ROUNDING_RATIO = 32 * float(np.finfo(np.float64).eps)
"""A quotient this near to a whole number is that number: 1.5e6 / 50e3 is 30. [ratio]"""


def rounded_down(
    quotient: FloatArray | np.float64, *, ratio: float = _ROUNDING_RATIO
) -> FloatArray:
    """Return how many whole parts a quotient has; the last digits of its terms do not count.

    >>> float(rounded_down(np.float64(0.3) / 0.1)), float(rounded_down(np.float64(2.9)))
    (3.0, 2.0)
    """
    return np.minimum(np.floor(quotient * (1.0 + ratio)), np.round(quotient))


def rounded_up(quotient: FloatArray | np.float64, *, ratio: float = _ROUNDING_RATIO) -> FloatArray:
    """Return how many parts hold a quotient; the last digits of its terms do not count.

    >>> float(rounded_up(np.float64(2.1) / 0.7)), float(rounded_up(np.float64(2.1)))
    (3.0, 3.0)
    """
    return np.maximum(np.ceil(quotient * (1.0 - ratio)), np.round(quotient))


def _has_fraction(array: FloatArray) -> bool:
    """True if an element is not whole, or nan."""
    if array.size <= BLOCK or not array.flags.c_contiguous:
        return bool((np.floor(array) != array).any())
    flat = array.reshape(-1)
    blocks = (flat[start : start + BLOCK] for start in range(0, flat.size, BLOCK))
    return any(bool((np.floor(block) != block).any()) for block in blocks)


def keep_nan(result: FloatArray, *inputs: FloatArray) -> FloatArray:
    """Return ``result`` with nan wherever an input is nan: comparisons with nan are False."""
    for values in inputs:
        if is_stand_in(values) or np.isnan(values).any():
            result = np.where(np.isnan(values), np.nan, result)
    return result


def flag(name: str, value: bool) -> bool:
    """Return ``value`` as a bool; refuse text: "no" would count as True."""
    array = flags(name, value)
    if array.ndim:
        raise ArgumentTypeError("not-one-flag", name, _shown(array))
    return bool(array)


def flags(name: str, value: ArrayLike) -> NDArray[np.bool_]:
    """Return ``value`` as booleans; a number is True where it is not 0.

    Raises
    ------
    ArgumentTypeError
        If ``value`` holds text or other things that are neither.
    """
    if is_stand_in(value):
        stand_in: NDArray[np.bool_] = value.astype(np.bool_)
        return stand_in
    try:
        array: NDArray[Any] = np.asarray(value)
    except Exception as error:
        raise ArgumentTypeError("not-flags", name, value=value) from error
    if array.dtype.kind == "O" and all(isinstance(item, bool | np.bool_) for item in array.flat):
        array = array.astype(np.bool_)
    if array.dtype.kind not in "biuf":
        raise ArgumentTypeError("not-flags", name, _shown(array))
    return array.astype(np.bool_)


def choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return ``value``; refuse it if it is not one of ``allowed``."""
    if not isinstance(value, str) or value not in allowed:
        raise DomainError("not-a-choice", name, value, choices=list(allowed))
    return value


def one_dimensional(name: str, array: FloatArray) -> FloatArray:
    """Return ``array`` as a list; refuse several dimensions and an empty one."""
    array = np.atleast_1d(array)
    if array.ndim != 1 or array.size == 0:
        raise DomainError("not-one-dimensional", name, list(array.shape))
    return array


def scalar(name: str, array: FloatArray) -> float:
    """Return the only number of ``array``; refuse several and none."""
    if array.size != 1:
        raise DomainError("not-a-scalar", name, list(array.shape))
    return array.reshape(()) if is_stand_in(array) else float(array.reshape(()))


def as_float(name: str, value: ArrayLike) -> FloatArray:
    """Return ``value`` as float64; masked elements become nan.

    Raises
    ------
    ArgumentTypeError
        If ``value`` holds text, booleans, complex numbers or other things that are not numbers.
    """
    if isinstance(value, range) and value[:MAX_ELEMENTS] != value:  # numpy would make a list of it
        raise DomainError("too-long-range", name, repr(value), high=MAX_ELEMENTS)
    if type(value) not in PLAIN:
        value = enter(name, value)
        if is_stand_in(value):
            stand_in: FloatArray = value
            return stand_in
    try:
        array: NDArray[Any] = np.asarray(value)
    except Exception as error:  # lists of unequal length, or an object that fails by itself
        raise ArgumentTypeError("not-numbers", name, value=value) from error
    kind = array.dtype.kind
    if kind == "O" and not PLAIN.issuperset(map(type, array.flat)):
        array = np.asarray(enter(name, array.tolist()))
        kind = array.dtype.kind
    if kind == "f" or kind in "iu":
        if array.dtype.itemsize > 8:  # a long double beyond the range is inf
            with np.errstate(over="ignore"):
                return array.astype(np.float64)
        return array.astype(np.float64, copy=False)
    refused = (str, bytes, bool, type(None))
    if kind == "O" and not any(isinstance(item, refused) for item in array.flat):
        try:
            return array.astype(np.float64)
        except OverflowError:
            raise DomainError("integer-too-long", name, high=LARGEST) from None
        except Exception:  # complex numbers, Decimal("sNaN"), objects that fail by themselves
            pass
    is_text = kind in "US" or any(isinstance(item, str | bytes) for item in array.flat)
    code = "text-for-numbers" if is_text else "not-numbers"
    raise ArgumentTypeError(code, name, _shown(array))


def _checked(
    code: str,
    name: str,
    value: ArrayLike,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    low_open: bool = False,
    allow_inf: bool = False,
    is_ratio: bool = False,
    above: str = "",
) -> FloatArray:
    array = as_float(name, value)
    call = _call.get()
    is_first = call is None or call.first_checks.get(name, True) is False
    if call is not None and is_first:
        call.first_checks[name] = True
    if is_stand_in(array):
        rules = {"low": low, "high": high, "low_open": low_open, "allow_inf": allow_inf}
        words = {"code": code, "above": above, "is_ratio": is_ratio}
        limits = None if call is None else call.ranges.get(name)
        stand_in: FloatArray = array.checked(name, limits=limits, **rules, **words)
        return stand_in
    if array.size == 0:
        return array
    if array.size == 1:  # most calls have single numbers: numpy's passes take longer than a model
        lowest = highest = array.item()
    else:
        lowest, highest = _extremes(array)
    if not (isfinite(lowest) and (isfinite(highest) or (allow_inf and highest == inf))):
        array = _nan_where_not_finite(name, array, allow_inf=allow_inf, warn=is_first)
        if call is not None and np.isnan(array).any():
            call.has_gaps = True
        if np.isnan(array).all():
            return array
        lowest, highest = float(np.nanmin(array)), float(np.nanmax(array))
    if lowest < low or (low_open and lowest == low):
        raise DomainError(code, name, lowest, index=_index(array, lowest), low=low, high=high)
    if highest > high:
        at = _index(array, highest)
        if is_ratio:
            meant = {"low": low, "high": high, "percent": highest, "ratio": highest / 100}
            raise DomainError("percent-for-ratio", name, highest, index=at, **meant)
        raise DomainError(above or code, name, highest, index=at, low=low, high=high)
    if call is not None and name in call.ranges:
        for doubt in _outside(call.ranges[name], name, lowest, highest):
            call.add(doubt, _rank(doubt))
    if lowest == 0.0 and np.signbit(array).any():
        return array + 0.0  # one over a negative zero would be -inf
    return array


def _extremes(array: FloatArray) -> tuple[float, float]:
    """Return the smallest and the largest element, nan if one is nan; memory is read once."""
    if array.size <= CACHED or not array.flags.c_contiguous:
        return float(array.min()), float(array.max())
    flat = array.reshape(-1)
    parts = [flat[start : start + CACHED] for start in range(0, flat.size, CACHED)]
    both = np.array([(part.min(), part.max()) for part in parts])
    return float(both[:, 0].min()), float(both[:, 1].max())


def _nan_where_not_finite(
    name: str, array: FloatArray, *, allow_inf: bool, warn: bool
) -> FloatArray:
    bad = np.isnan(array) | (array == -np.inf)
    if not allow_inf:
        bad |= array == np.inf
    if warn and array.size > 1 and bad.any():
        first = int(np.flatnonzero(bad)[0])
        notice = NotFiniteWarning(
            "not-finite-elements", name=name, count=int(bad.sum()), size=array.size, index=first
        )
        call = _call.get()
        if call is None:
            warnings.warn(notice, stacklevel=4)
        else:
            call.first_checks[name] = notice
    return np.where(bad, np.nan, array)


def _index(array: FloatArray, value: float) -> int | None:
    """Return where a value is first found, None in an array of one."""
    return None if array.size == 1 else int(np.flatnonzero(array == value)[0])


def _shown(array: NDArray[Any]) -> str:
    if array.ndim == 0:
        return safe_repr(array.item())
    if array.size == 0:
        return str(array.dtype)
    first = array.ravel()[:1].tolist()[0]  # of Python: np.True_ is not what anybody wrote
    return f"{array.dtype} values such as {safe_repr(first)}"
