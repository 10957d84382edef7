"""The array that stands for numbers while a model runs: each operation on it is written down.

First are the nodes that a recorded model consists of, then the array, then the functions of numpy
that it knows, besides the operations on each element.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from netcalc.checks import StandIn

Shape: TypeAlias = tuple[int, ...]

MAX_NODES = 3_000
"""Most operations of one path through a model."""
MAX_DECISIONS = 60
"""Most decisions on one path through a model."""
MAX_AT_A_LINE = 12
"""Most decisions of one line: with more it is a loop that ends where the values say."""


class CannotRecord(BaseException):
    """A model does with a number what cannot be written down; no model catches it.

    ``code`` is a key of :data:`netcalc.lessons.site.recording.REASONS`.
    """

    def __init__(self, code: str, what: str = "") -> None:
        super().__init__(code, what)
        self.code = code
        self.what = what
        self.where = _model_line()


@dataclass(frozen=True, slots=True, eq=False)
class OperationNode:
    """One operation: its name, what goes in, and what cannot be a number of JavaScript.

    ``kind`` is ``f`` for numbers, ``i`` for whole numbers and ``b`` for booleans.
    """

    operation: str
    inputs: tuple[OperationNode, ...]
    shape: Shape
    kind: str
    value: Any = None

    @property
    def is_effect(self) -> bool:
        """Whether it may refuse a number or note something, so that it is never left out."""
        return self.operation in ("check", "judge")

    @property
    def is_constant(self) -> bool:
        """Whether its value is known."""
        return self.operation == "constant"


@dataclass(slots=True)
class ProgramPath:
    """One way through a model: its operations in order, and what was decided where."""

    prefix: tuple[bool, ...]
    events: list[OperationNode] = field(default_factory=list)
    decided: list[tuple[int, OperationNode, bool]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    decisions: dict[int, bool] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, node: OperationNode) -> None:
        """Keep an operation, once."""
        if id(node) not in self.seen:
            self.seen.add(id(node))
            self.events.append(node)
            if len(self.events) > MAX_NODES:
                raise CannotRecord("too-long")

    def decide(self, condition: OperationNode) -> bool:
        """Return what a condition is on this path: both are recorded, one after the other."""
        negated = condition.operation == "logical_not"
        asked = condition.inputs[0] if negated else condition
        if id(asked) not in self.decisions:
            place = len(self.decided)
            line = _model_line()
            self.lines[line] = self.lines.get(line, 0) + 1
            if place >= MAX_DECISIONS or self.lines[line] > MAX_AT_A_LINE:
                raise CannotRecord("loop")
            chosen = self.prefix[place] if place < len(self.prefix) else True
            self.decided.append((len(self.events), asked, chosen))
            self.decisions[id(asked)] = chosen
        return self.decisions[id(asked)] != negated


@dataclass(slots=True)
class OperationRecording:
    """The operations of all paths, each once, and the path that is being recorded."""

    nodes: dict[Hashable, OperationNode] = field(default_factory=dict)
    path: ProgramPath = field(default_factory=lambda: ProgramPath(()))


_under_way: ContextVar[OperationRecording | None] = ContextVar("_under_way", default=None)


def recording() -> OperationRecording:
    """Return the recording under way."""
    under_way = _under_way.get()
    if under_way is None:
        raise CannotRecord("outside")
    return under_way


@contextmanager
def begun() -> Iterator[OperationRecording]:
    """Begin a recording, and end it."""
    token = _under_way.set(OperationRecording())
    try:
        yield recording()
    finally:
        _under_way.reset(token)


def node(
    operation: str,
    *inputs: OperationNode,
    shape: Shape,
    kind: str = "f",
    value: Any = None,
    key: Any = None,
) -> OperationNode:
    """Return an operation: the same one for the same inputs."""
    made = recording()
    name = (operation, *map(id, inputs), shape, kind, value if key is None else key)
    made_before = made.nodes.get(name)
    if made_before is None:
        made_before = made.nodes[name] = OperationNode(operation, inputs, shape, kind, value)
    if not made_before.is_constant:
        made.path.add(made_before)
    return made_before


def constant(value: Any) -> OperationNode:
    """Return a value that is known, or a list of them."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise CannotRecord("not-numbers", type(value).__name__)
    kind = {"b": "b", "i": "i", "u": "i", "f": "f"}[array.dtype.kind]
    key = (array.dtype.str, array.tobytes())
    return node("constant", shape=array.shape, kind=kind, value=array, key=key)


def _model_line() -> str:
    """Return the line of a model that is being recorded: ``queues/erlang.py:170``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "/netcalc/models/" in file.replace("\\", "/") and not file.endswith("blocks.py"):
            return f"{file.replace(chr(92), '/').rpartition('/models/')[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


_KINDS = {"f": np.dtype(np.float64), "i": np.dtype(np.int64), "b": np.dtype(np.bool_)}

COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
_LOGICAL = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not",
    "bitwise_xor": "not_equal",
}  # fmt: skip
_TO_BOOL = frozenset({
    "logical_and", "logical_or", "logical_not", "isnan", "isinf", "isfinite", "signbit",
}) | COMPARISONS  # fmt: skip
_KEEP_KIND = frozenset({
    "add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "negative", "absolute",
    "remainder", "floor_divide", "fmod", "sign", "positive",
    "square",
})  # fmt: skip
_NUMERIC = frozenset({
    "divide", "power", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
    "floor", "ceil", "trunc", "rint", "reciprocal", "hypot", "copysign", "logaddexp2", "logaddexp",
    "tanh", "sin", "cos", "tan", "arctan", "float_power",
    "ndtr", "ndtri", "betainc", "gammaincc", "gammaln", "fabs", "ldexp", "spacing",
    "frexp_mantissa", "frexp_exponent",
})  # fmt: skip
KNOWN = _TO_BOOL | _KEEP_KIND | _NUMERIC
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "fmax": "largest",
    "fmin": "least", "logical_or": "any", "logical_and": "all",
}  # fmt: skip
_ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
FOLDED = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "largest": "fmax",
          "least": "fmin", "any": "logical_or", "all": "logical_and"}  # fmt: skip


def _reduced(name: str) -> Callable[..., RecordedArray]:
    """Return what makes one number of all elements, as a function and as a method."""

    def made(array: Any, axis: Any = None, **options: Any) -> RecordedArray:
        return reduce(name, array, axis=axis, **options)

    return made


class RecordedArray(NDArrayOperatorsMixin, StandIn):
    """A number, or an array of known shape, whose values are not known.

    numpy hands its operations over (``__array_ufunc__``, ``__array_function__``). A decision on a
    value is taken both ways, each in a run of its own; where Python must have the value itself
    the recording ends with :class:`~netcalc.lessons.site.operations.CannotRecord`.
    """

    __array_priority__ = 1000.0

    def __init__(self, made: OperationNode) -> None:
        self.node = made

    # What is known of an array.
    @property
    def shape(self) -> Shape:
        """Its shape."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """Number of its axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """Number of its elements."""
        return int(np.prod(self.node.shape, dtype=int))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its kind of numbers."""
        return _KINDS[self.node.kind]

    @property
    def flat(self) -> RecordedArray:
        """All elements in one list."""
        return self.ravel()

    @property
    def T(self) -> RecordedArray:  # noqa: N802
        """The transpose."""
        if self.ndim > 1:
            raise CannotRecord("axes")
        return self

    def __repr__(self) -> str:
        return f"RecordedArray({self.node.operation}, shape={self.shape})"

    # Where Python must have a value.
    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise CannotRecord("array")

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        if self.node.is_constant:
            return bool(self.node.value)
        truth = self if self.node.kind == "b" else self != 0
        return recording().path.decide(_flat_node(truth.node))

    def __float__(self) -> float:
        return float(self._value("float"))

    def __int__(self) -> int:
        return int(self._value("int"))

    def __index__(self) -> int:
        return int(self._value("count"))

    def __complex__(self) -> complex:
        return complex(self._value("float"))

    def __hash__(self) -> int:
        raise CannotRecord("lookup")

    def _value(self, code: str) -> Any:
        if self.node.is_constant:
            return self.node.value
        raise CannotRecord(code)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a number")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    # What is written down.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method == "__call__":
            where = kwargs.pop("where", True)
            _refuse_options(kwargs, allowed=("dtype", "casting"))
            if ufunc is np.divmod:
                return np.floor_divide(*inputs), np.remainder(*inputs)
            if ufunc is np.matmul:
                return _dot(*inputs)
            if ufunc is np.frexp:
                return apply("frexp_mantissa", *inputs), apply("frexp_exponent", *inputs)
            result = apply(ufunc.__name__, *inputs, ufunc=ufunc)
            if where is not True:
                if out is None:
                    raise CannotRecord("where-without-out")
                result = select(where, result, out[0])
        elif method == "reduce" and ufunc.__name__ in _REDUCTIONS:
            result = reduce(_REDUCTIONS[ufunc.__name__], inputs[0], **kwargs)
        elif method == "accumulate" and ufunc.__name__ in _ACCUMULATIONS:
            (values,) = inputs
            result = list_operation(_ACCUMULATIONS[ufunc.__name__], values)
        else:
            raise CannotRecord("ufunc", f"{ufunc.__name__}.{method}")
        if out is None:
            return result
        if not isinstance(out[0], RecordedArray):
            raise CannotRecord("array")
        out[0].node = wrap(broadcast(result, out[0].shape)).node
        return out[0]

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:

        recorded = FUNCTIONS.get(function)
        if recorded is None and (plain := _plain((args, kwargs))) is not None:
            return wrap(function(*plain[0], **plain[1]))
        if recorded is None:
            raise CannotRecord("function", function.__name__)
        return recorded(*args, **kwargs)

    # Methods of an array.
    any, all = _reduced("any"), _reduced("all")
    sum, prod = _reduced("sum"), _reduced("prod")
    max, min = _reduced("max"), _reduced("min")

    def mean(self) -> RecordedArray:
        """The mean of the elements."""
        return wrap(self.sum() / self.size)

    def cumsum(self) -> RecordedArray:
        """The sums up to each element."""
        return list_operation("cumsum", self)

    def argmax(self) -> RecordedArray:
        """The index of the first of the largest elements."""
        return RecordedArray(node("argmax", self.ravel().node, shape=(), kind="i"))

    def astype(self, kind: Any, *args: Any, **options: Any) -> RecordedArray:
        """It as another kind of numbers."""
        kind_code = np.dtype(kind).kind
        if kind_code == self.node.kind or (kind_code == "f" and self.node.kind == "i"):
            return self if kind_code == self.node.kind else self._as("f")
        if kind_code == "b":
            return wrap(self != 0)
        if kind_code == "f":
            return self._as("f", "number")
        if kind_code in "iu":
            return self._as("i", "trunc" if self.node.kind == "f" else "number")
        raise CannotRecord("not-numbers", str(kind))

    def _as(self, kind: str, operation: str = "same") -> RecordedArray:
        return RecordedArray(node(operation, self.node, shape=self.shape, kind=kind))

    def item(self, *place: int) -> RecordedArray:
        """Return the only element, or the one at an index."""
        return self.ravel()[place[0] if place else 0] if self.shape else self

    def tolist(self) -> Any:
        """Return the elements as a list."""
        return list(self) if self.shape else self

    def copy(self) -> RecordedArray:
        """Return another one of the same values."""
        return RecordedArray(self.node)

    def round(self, decimals: int = 0) -> RecordedArray:
        """Return the nearest numbers, the even one of two."""
        if decimals:
            raise CannotRecord("decimals")
        return apply("rint", self)

    def clip(self, low: Any = None, high: Any = None) -> RecordedArray:
        """Return it between two numbers."""
        clipped = self if low is None else apply("maximum", self, low)
        return clipped if high is None else apply("minimum", clipped, high)

    def ravel(self) -> RecordedArray:
        """Return all elements in one list."""
        return self.reshape(-1)

    def reshape(self, *shape: Any) -> RecordedArray:
        """Return the elements in another shape."""
        new_shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        new_shape = np.empty(self.shape).reshape(new_shape).shape
        if new_shape == self.shape:
            return self
        if self.node.is_constant:
            return wrap(self.node.value.reshape(new_shape))
        return RecordedArray(node("reshape", self.node, shape=new_shape, kind=self.node.kind))

    def __getitem__(self, place: Any) -> RecordedArray:
        if isinstance(place, RecordedArray):
            if not place.node.is_constant:
                return self._looked_up(place)
            place = place.node.value
        if (isinstance(place, tuple) and not place) or place is Ellipsis:
            return self
        places = np.arange(self.size).reshape(self.shape)[place]
        if self.size == places.size == 1:
            return self.reshape(places.shape)
        if places.shape == self.shape and np.array_equal(places.ravel(), np.arange(self.size)):
            return self
        if self.node.is_constant:
            return wrap(self.node.value[place])
        taken = node(
            "take", self.ravel().node, shape=places.shape, kind=self.node.kind,
            value=(_range_of(place), places), key=(_range_of(place), places.tobytes()),
        )  # fmt: skip
        return RecordedArray(taken)

    def _chosen(self, holds: RecordedArray) -> RecordedArray:
        """Return the lone element where a condition holds of it, else none: both are recorded."""
        if self.size != 1 or holds.size != 1:
            raise CannotRecord("selection")
        return self.reshape((1,)) if holds else wrap(np.zeros(0))

    def _looked_up(self, place: RecordedArray) -> RecordedArray:
        """Return the elements at indexes that are not known yet."""
        if place.node.kind == "b":
            return self._chosen(place)
        if self.ndim != 1:
            raise CannotRecord("axes")
        kind = self.node.kind
        return RecordedArray(node("lookup", self.node, place.node, shape=place.shape, kind=kind))

    def __setitem__(self, place: Any, value: Any) -> None:
        whole = (isinstance(place, tuple) and not place) or place is Ellipsis
        if whole:
            self.node = wrap(broadcast(value, self.shape)).node
        elif isinstance(place, RecordedArray) and place.node.kind == "b":
            if np.shape(value) not in ((), self.shape) or place.shape != self.shape:
                raise CannotRecord("selection")
            self.node = select(place, value, self).node
        else:
            index = np.arange(self.size).reshape(self.shape)[place]
            chosen = np.isin(np.arange(self.size).reshape(self.shape), index)
            if np.shape(value) not in ((), self.shape):
                raise CannotRecord("selection")
            self.node = select(chosen, value, self).node

    # What the checks hand over.
    def checked(self, name: str, *, code: str, limits: Any = None, **rules: Any) -> RecordedArray:
        """Return it after the check of an argument."""
        words = {"name": name, "code": code, **rules}
        moving = {key: number for key, number in words.items() if isinstance(number, RecordedArray)}
        if any(number.size != 1 for number in moving.values()):
            raise CannotRecord("axes")
        words |= dict.fromkeys(moving)  # a bound that is computed: it goes in as a number
        if limits is not None:
            words["limits"] = limits
        words["moving"] = tuple(moving)
        spec = tuple(sorted(words.items()))
        inputs = (self.node, *(number.node for number in moving.values()))
        made = node("check", *inputs, shape=self.shape, kind="f", value=words, key=spec)
        return RecordedArray(made)

    def judged(
        self, values: Any, low: float, high: float, codes: tuple[str, str], said: dict[str, Any],
        *, where: Any = True, warns: bool = True,
    ) -> None:  # fmt: skip
        """Keep what is to be noted of numbers outside a range."""
        spec = {"low": low, "high": high, "codes": codes, **said, "warns": warns}
        inputs = (wrap(values).node, wrap(where).node)
        node("judge", *inputs, shape=(), value=spec, key=tuple(sorted(spec.items())))


def _plain(value: Any) -> Any:
    """Return arguments whose values are all known; None if one is not."""
    if isinstance(value, RecordedArray):
        return value.node.value if value.node.is_constant else None
    if isinstance(value, list | tuple):
        parts = [_plain(item) for item in value]
        all_known = all(
            new is not None or old is None for new, old in zip(parts, value, strict=True)
        )
        return type(value)(parts) if all_known else None
    if isinstance(value, dict):
        parts = _plain(list(value.values()))
        return None if parts is None else dict(zip(value, parts, strict=True))
    return value


def wrap(value: Any) -> RecordedArray:
    """Return a value as one that is written down."""
    if isinstance(value, RecordedArray):
        return value
    if isinstance(value, list | tuple) and any(isinstance(item, RecordedArray) for item in value):
        return stack(value)
    return RecordedArray(constant(value))


def stack(values: Any) -> RecordedArray:
    """Return numbers, or lists of one length, as one array."""
    parts = [wrap(item) for item in values]
    shapes = {part.shape for part in parts}
    if len(shapes) != 1:
        raise CannotRecord("axes")
    kind = "f" if any(p.node.kind == "f" for p in parts) else max(p.node.kind for p in parts)
    shape = (len(parts), *shapes.pop())
    return RecordedArray(node("stack", *(p.node for p in parts), shape=shape, kind=kind))


def apply(name: str, *inputs: Any, ufunc: Callable[..., Any] | None = None) -> RecordedArray:
    """Return an operation on each element; ``ufunc`` does it where numpy has none of its name."""
    name = {"true_divide": "divide", "float_power": "power"}.get(name, name)
    parts = [wrap(item) for item in inputs]
    kinds = {part.node.kind for part in parts}
    if name in _LOGICAL:
        if kinds != {"b"}:
            raise CannotRecord("bits")
        name = _LOGICAL[name]
    if name not in KNOWN:
        raise CannotRecord("ufunc", name)
    if name.startswith("logical_"):
        parts = [part if part.node.kind == "b" else wrap(part != 0) for part in parts]
    if kinds == {"b"} and name in ("add", "multiply", "maximum", "minimum"):
        name = "logical_or" if name in ("add", "maximum") else "logical_and"
    if name == "square":
        name, parts = "multiply", parts * 2
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    kind = _kind_of(name, kinds)
    if all(part.node.is_constant for part in parts):
        operation = _ufunc(name, ufunc)
        with np.errstate(all="ignore"):
            return wrap(operation(*(part.node.value for part in parts)))
    if len(shape) > 1:
        raise CannotRecord("axes")
    return RecordedArray(node(name, *(part.node for part in parts), shape=shape, kind=kind))


def _ufunc(name: str, ufunc: Callable[..., Any] | None) -> Callable[..., Any]:
    if name.startswith("frexp_"):
        return lambda value: np.frexp(value)[name == "frexp_exponent"]
    operation: Callable[..., Any] | None = getattr(np, name, ufunc)
    if operation is None:
        raise CannotRecord("ufunc", name)
    return operation


def _kind_of(name: str, kinds: set[str]) -> str:
    if name in _TO_BOOL:
        return "b"
    return "i" if name in _KEEP_KIND and kinds <= {"i", "b"} else "f"


def select(where: Any, first: Any, second: Any) -> RecordedArray:
    """Return one of two numbers for each element."""
    condition, yes, no = wrap(where), wrap(first), wrap(second)
    shape = np.broadcast_shapes(condition.shape, yes.shape, no.shape)
    if len(shape) > 1:
        raise CannotRecord("axes")
    kinds = {yes.node.kind, no.node.kind}
    kind = kinds.pop() if len(kinds) == 1 else "f" if "f" in kinds else "i"
    if condition.node.kind != "b":
        condition = wrap(condition != 0)
    if condition.node.is_constant and condition.node.value.size == 1:
        chosen = yes if condition.node.value else no
        return wrap(broadcast(chosen, shape))
    inputs = (condition.node, yes.node, no.node)
    return RecordedArray(node("where", *inputs, shape=shape, kind=kind))


def reduce(
    name: str, values: Any, axis: Any = 0, initial: Any = None, where: Any = True, **options: Any
) -> RecordedArray:
    """Return one number of all elements; of a lone number itself."""
    _refuse_options(options, allowed=("dtype", "keepdims", "out"))
    array = wrap(values)
    if array.ndim > 1 and axis is not None:
        raise CannotRecord("axes")
    if where is not True:
        if initial is None:
            raise CannotRecord("where-without-out")
        array = select(where, array, initial)
    if array.node.kind == "b" and name in ("sum", "prod"):
        array = array.astype(np.int64)
    if array.size == 1:
        number = array.reshape(())
        if name in ("any", "all") and number.node.kind != "b":
            number = wrap(number != 0)
    elif array.node.is_constant:
        operation = getattr(np, FOLDED[name]).reduce
        number = wrap(operation(array.node.value, axis=None))
    else:
        kind = "b" if name in ("any", "all") else array.node.kind
        number = RecordedArray(node(name, array.ravel().node, shape=(), kind=kind))
    return number if initial is None else apply(FOLDED[name], number, initial)


def broadcast(value: Any, shape: Shape) -> RecordedArray:
    """Return a value in a shape."""
    array = wrap(value)
    if array.shape == tuple(shape):
        return array
    new_shape = np.broadcast_to(np.empty(array.shape), shape).shape
    if array.node.is_constant:
        return wrap(np.broadcast_to(array.node.value, new_shape))
    if len(new_shape) > 1:
        raise CannotRecord("axes")
    return RecordedArray(node("fill", array.node, shape=new_shape, kind=array.node.kind))


def list_operation(
    name: str, values: Any, shape: Shape | None = None, kind: str = ""
) -> RecordedArray:
    """Return an operation on a list as one thing, such as to sort it: a list of its shape, or of
    ``shape``."""
    array = wrap(values)
    if array.ndim != 1:
        raise CannotRecord("axes")
    shape = array.shape if shape is None else shape
    return RecordedArray(node(name, array.node, shape=shape, kind=kind or array.node.kind))


def _flat_node(made: OperationNode) -> OperationNode:
    while made.operation == "reshape" and made.inputs[0].shape in ((), (1,)):
        made = made.inputs[0]
    return made


def _range_of(place: Any) -> Any:
    """Return a place in a list that does not depend on its length; None for any other."""
    if isinstance(place, int | np.integer):
        return int(place)
    if isinstance(place, slice) and all(
        end is None or isinstance(end, int) for end in (place.start, place.stop, place.step)
    ):
        return ("slice", place.start, place.stop, place.step)
    return None


def _refuse_options(options: Mapping[str, Any], *, allowed: tuple[str, ...]) -> None:
    for name, value in options.items():
        if name not in allowed and value is not None and value is not np._NoValue:
            raise CannotRecord("option", name)


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
    selected = wrap(default)
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        selected = select(condition, value, selected)
    return selected


def _concatenate(parts: Any, axis: int = 0, **options: Any) -> RecordedArray:
    arrays = [wrap(part) for part in parts]
    if any(part.ndim != 1 for part in arrays):
        raise CannotRecord("axes")
    kind = "f" if any(part.node.kind == "f" for part in arrays) else "i"
    shape = (sum(part.size for part in arrays),)
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


def _dot(first: Any, second: Any) -> RecordedArray:
    left, right = wrap(first), wrap(second)
    if left.ndim == right.ndim == 1:
        return wrap(left * right).sum()
    if left.ndim and right.ndim:
        raise CannotRecord("axes")
    return wrap(left * right)


def _broadcast_arrays(*arrays: Any, **options: Any) -> tuple[RecordedArray, ...]:
    shape = np.broadcast_shapes(*(np.shape(array) for array in arrays))
    return tuple(RecordedArray(broadcast(array, shape).node) for array in arrays)


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
    is_in = wrap(False)
    for value in np.ravel(allowed):
        is_in = apply("logical_or", is_in, apply("equal", array, value))
    return is_in


def _nan_to_num(array: Any, nan: float = 0.0, **options: Any) -> RecordedArray:
    if options:
        raise CannotRecord("option", "nan_to_num")
    return select(np.isnan(array), nan, array)


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
    np.clip: lambda array, low=None, high=None, **options: wrap(array).clip(low, high),
    np.round: lambda array, decimals=0, **options: wrap(array).round(decimals),
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
    np.cumprod: lambda array, **options: list_operation("cumprod", array),
    np.argmax: lambda array, **options: wrap(array).argmax(),
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.diff: _diff,
    np.sort: lambda array, axis=-1, **options: list_operation("sort", array),
    np.argsort: lambda array, axis=-1, **options: list_operation("argsort", array, kind="i"),
    np.median: lambda array, **options: list_operation("median", wrap(array).ravel(), ()),
    np.dot: _dot,
    np.flip: lambda array, axis=None: wrap(array)[::-1],
    np.isin: _isin,
    np.flatnonzero: _flatnonzero,
    np.isposinf: lambda array, **options: apply("equal", array, np.inf),
    np.isneginf: lambda array, **options: apply("equal", array, -np.inf),
    np.nan_to_num: _nan_to_num,
    np.count_nonzero: lambda array, **options: wrap(array).astype(np.bool_).sum(),
}
