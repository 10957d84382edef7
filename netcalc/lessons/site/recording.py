"""A model written down: run once with stand-ins for its numbers, and each operation kept.

``record`` gives what was computed, as nodes that another language can be made of, or the reason why
that cannot be. A decision on a value, ``if (loss == 1).any()``, is recorded both ways: the model
runs again for each, and the two ways are branches. A loop that ends where the values say, a search
and a lookup by value have no such form, and are told.

>>> from netcalc.models.tcp.loss_limited import mathis_constant
>>> found = record(mathis_constant, {"segments_per_ack": 2})
>>> [node.operation for node in found.body.operations]
['input', 'check', 'divide', 'sqrt']
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from netcalc.errors import NetcalcError, doubts
from netcalc.lessons.site import arrays

MAX_PATHS = 256
"""Most ways through a model."""

REASONS = {
    "array": "it puts numbers into an array by their value",
    "axes": "it computes with tables",
    "bits": "it computes with the bits of whole numbers",
    "count": "a value decides how often a step is done",
    "decimals": "it rounds to digits",
    "failed": "it fails with numbers that are not known",
    "float": "it computes outside of numpy",
    "function": "it uses a function that the page does not have",
    "int": "a value decides how often a step is done",
    "length": "it goes through a list element by element",
    "lengths": "its lists have lengths of their own",
    "lookup": "it looks a value up in a table",
    "loop": "it searches: a loop ends where the values say",
    "many-paths": "its values decide among too many ways",
    "not-numbers": "it computes with more than numbers",
    "option": "it uses an option that the page does not have",
    "outside": "its numbers are used after it has ended",
    "selection": "it picks elements by their value",
    "too-long": "it has too many steps",
    "ufunc": "it uses a function that the page does not have",
    "where-without-out": "it leaves elements undefined",
}
"""Why a model cannot be recorded, by code."""


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """Why a model was not recorded: a code, what it met, and the line of the model."""

    code: str
    what: str = ""
    where: str = ""

    @property
    def reason(self) -> str:
        """Why, in words."""
        return REASONS[self.code]


@dataclass(frozen=True, slots=True)
class Fields:
    """A result of several columns, by name."""

    columns: Mapping[str, Result]


Result: TypeAlias = "arrays.OperationNode | Fields | list[Any] | str | None"
"""What a model returns: a node, several by name or in order, or a word."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a model says on this path about its answer: code, and values that may be nodes."""

    code: str
    values: Mapping[str, Any]
    warns: bool = True
    where: tuple[tuple[arrays.OperationNode, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a path: the result and its notes."""

    result: Result
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The end of a path: the model's error, with its values."""

    kind: str
    code: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Branch:
    """The end of a block: what is done where a condition holds, and where it does not."""

    condition: arrays.OperationNode
    yes: OperationBlock
    no: OperationBlock


@dataclass(frozen=True, slots=True)
class OperationBlock:
    """Operations in order, and what follows them."""

    operations: tuple[arrays.OperationNode, ...]
    end: Branch | Return | Refuse


@dataclass(frozen=True, slots=True)
class Recorded:
    """A model written down: its inputs in order, by name, and its operations."""

    inputs: tuple[arrays.OperationNode, ...]
    body: OperationBlock

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(str(made.value) for made in self.inputs)

    @property
    def returns(self) -> bool:
        """Whether one way through it ends with an answer."""
        return _returns(self.body)


def _returns(block: OperationBlock) -> bool:
    end = block.end
    if isinstance(end, Branch):
        return _returns(end.yes) or _returns(end.no)
    return isinstance(end, Return)


def record(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Recorded | NotRecorded:
    """Run a model with stand-ins for its numbers, and return what it computes.

    Parameters
    ----------
    function : callable
        A model, or any function that calls models and numpy and takes keywords.
    arguments : mapping of str to object
        An example of each argument, of which only the kind counts: a number, a yes or no, a list
        or an array of numbers. Texts and None are kept as they are.

    Returns
    -------
    Recorded or NotRecorded
        The operations, or why there are none.

    Examples
    --------
    >>> record(lambda count: sum(range(int(count))), {"count": 3}).reason
    'a value decides how often a step is done'
    """
    try:
        with arrays.begun() as made, _with_stand_ins():
            inputs = {name: _input(name, value) for name, value in arguments.items()}
            fixed = {name: value for name, value in arguments.items() if inputs[name] is None}
            numbers = {name: stand_in for name, stand_in in inputs.items() if stand_in is not None}
            body = _Paths(made, function, fixed, numbers).block(())
        return Recorded(tuple(numbers.values()), body)
    except arrays.CannotRecord as stopped:
        return NotRecorded(stopped.code, stopped.what, stopped.where)
    except RecursionError:
        return NotRecorded("many-paths")


def _input(name: str, value: Any) -> arrays.OperationNode | None:
    if value is None or isinstance(value, str):
        return None
    array = np.asarray(value)
    kind = array.dtype.kind if array.dtype.kind == "b" else "f"
    return arrays.node("input", shape=array.shape, kind=kind, value=name)


@dataclass
class _Paths:
    """All ways through a model, one run each."""

    made: arrays.OperationRecording
    function: Callable[..., Any]
    fixed: Mapping[str, Any]
    inputs: Mapping[str, arrays.OperationNode]
    count: int = 0

    def block(self, prefix: tuple[bool, ...]) -> OperationBlock:
        """Return what follows some decisions, from the first that is not among them.

        The model is explored path by path, each by a run from its begin: a run takes the decisions
        of ``prefix`` as given and says yes to every later one.
        """
        path, end = self._run(prefix)
        choices = [chosen for *_, chosen in path.decided]
        starts = [at for at, *_ in path.decided]
        pieces = [0, *starts, len(path.events)]
        block = OperationBlock(tuple(path.events[pieces[-2] :]), end)
        # Each later decision is an open branch: another run takes its other side. From the last
        # to the first, as what follows a decision must be whole before both sides can be merged.
        # Those of the prefix are left to the caller: it explores their other sides.
        for place in reversed(range(len(prefix), len(choices))):
            other = self.block((*choices[:place], not choices[place]))
            condition = path.decided[place][1]
            branches = (block, other) if choices[place] else (other, block)
            operations = tuple(path.events[pieces[place] : pieces[place + 1]])
            merged = _merged(condition, *branches)
            if merged is None:
                block = OperationBlock(operations, Branch(condition, *branches))
            else:
                block = OperationBlock((*operations, *merged.operations), merged.end)
        return block

    def _run(self, prefix: tuple[bool, ...]) -> tuple[arrays.ProgramPath, Return | Refuse]:
        self.count += 1
        if self.count > MAX_PATHS:
            raise arrays.CannotRecord("many-paths")
        path = self.made.path = arrays.ProgramPath(prefix)
        for made in self.inputs.values():
            path.add(made)
        numbers = {name: arrays.RecordedArray(made) for name, made in self.inputs.items()}
        try:
            with doubts() as notes_met, np.errstate(all="ignore"):
                result = self.function(**self.fixed, **numbers)
            notes = tuple(Note(d.code, _nodes(d.values), d.warns) for d in notes_met)
            return path, Return(_tree(result), notes)
        except NetcalcError as error:
            return path, Refuse(type(error).__name__, error.code, _nodes(error.values))
        except KeyError as error:
            raise arrays.CannotRecord("lookup", str(error)) from error
        except Exception as error:
            raise arrays.CannotRecord("failed", f"{type(error).__name__}: {error}") from error


def _merged(
    condition: arrays.OperationNode, yes: OperationBlock, no: OperationBlock
) -> OperationBlock | None:
    """Return two ways as one that picks the result; None where one of them may refuse a number."""
    if not isinstance(yes.end, Return) or not isinstance(no.end, Return):
        return None
    effects = [item for item in yes.operations if item.is_effect]
    if effects != [item for item in no.operations if item.is_effect]:
        return None
    made: list[arrays.OperationNode] = []
    result = _either(condition, yes.end.result, no.end.result, made)
    if result is _UNLIKE:
        return None
    notes = [item for item in yes.end.notes if item in no.end.notes]
    for chosen, other, holds in ((yes.end, no.end, True), (no.end, yes.end, False)):
        for item in chosen.notes:
            if item not in other.notes:
                where = ((condition, holds), *item.where)
                notes.append(Note(item.code, item.values, item.warns, where))
    operations = dict.fromkeys((*yes.operations, *no.operations, *made))
    return OperationBlock(tuple(operations), Return(result, tuple(notes)))


_UNLIKE = object()


def _either(
    condition: arrays.OperationNode, yes: Any, no: Any, made: list[arrays.OperationNode]
) -> Any:
    """Return one of two results, by a condition; a mark if they are not alike."""
    if yes is no or (isinstance(yes, str | None) and yes == no):
        return yes
    match yes, no:
        case arrays.OperationNode(), arrays.OperationNode():
            return _either_node(condition, yes, no, made)
        case Fields(columns), Fields(others) if columns.keys() == others.keys():
            pairs = [(item, others[name]) for name, item in columns.items()]
        case list(), list() if len(yes) == len(no):
            pairs = list(zip(yes, no, strict=True))
        case _:
            return _UNLIKE
    items = [_either(condition, item, other, made) for item, other in pairs]
    if _UNLIKE in items:
        return _UNLIKE
    return Fields(dict(zip(yes.columns, items, strict=True))) if isinstance(yes, Fields) else items


def _either_node(
    condition: arrays.OperationNode,
    yes: arrays.OperationNode,
    no: arrays.OperationNode,
    made: list[arrays.OperationNode],
) -> Any:
    """Return one of two numbers; where one is a choice by the same condition, its side alone."""
    if yes.operation == "where" and yes.inputs[0] is condition:
        yes = yes.inputs[1]
    if no.operation == "where" and no.inputs[0] is condition:
        no = no.inputs[2]
    if yes is no:
        return yes
    if yes.shape != no.shape or yes.kind != no.kind:
        return _UNLIKE
    made.append(arrays.node("where", condition, yes, no, shape=yes.shape, kind=yes.kind))
    return made[-1]


def _nodes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a note or an error, with nodes in place of recorded numbers."""
    return {
        name: value.node if isinstance(value, arrays.RecordedArray) else value
        for name, value in values.items()
    }


def _tree(value: Any) -> Any:
    """Return a result as nodes, by name where it has several columns."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, arrays.RecordedArray):
        return value.node
    if hasattr(value, "_asdict"):
        return Fields({name: _tree(item) for name, item in value._asdict().items()})
    if is_dataclass(value):
        return Fields({item.name: _tree(getattr(value, item.name)) for item in fields(value)})
    if isinstance(value, Mapping):
        return Fields({str(name): _tree(item) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return [_tree(item) for item in value]
    return arrays.constant(value)


class _FloatType(type):
    """What ``float`` is to a model while it is recorded; any other value is as ever."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, builtins.float)

    def __call__(cls, value: Any = 0.0) -> Any:
        if isinstance(value, arrays.RecordedArray):
            return value.item().astype(np.float64)
        return builtins.float(value)


class _Float(metaclass=_FloatType):
    pass


class _Numpy:
    """numpy with the functions that make arrays, which it does not hand over to others."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asarray(value: Any, dtype: Any = None, **options: Any) -> Any:
        if isinstance(value, arrays.RecordedArray) or _has_recorded(value):
            array = arrays.wrap(value)
            return array if dtype is None else array.astype(dtype)
        made = np.asarray(value, dtype=dtype, **options)
        return arrays.wrap(made) if made.dtype.kind in "biuf" else made  # a table to look up in

    @staticmethod
    def array(value: Any, dtype: Any = None, **options: Any) -> Any:
        if isinstance(value, arrays.RecordedArray) or _has_recorded(value):
            array = arrays.wrap(value).copy()
            return array if dtype is None else array.astype(dtype)
        return np.array(value, dtype=dtype, **options)

    @staticmethod
    def finfo(kind: Any) -> Any:
        return np.finfo(builtins.float if kind is _Float else kind)

    @staticmethod
    def full(shape: Any, value: Any, dtype: Any = None) -> Any:
        new_shape = (shape,) if isinstance(shape, int) else tuple(shape)
        array = arrays.broadcast(value, new_shape)
        return arrays.RecordedArray(array.node) if dtype is None else array.astype(dtype)

    @staticmethod
    def zeros(shape: Any, dtype: Any = np.float64) -> Any:
        return arrays.wrap(np.zeros(shape, dtype=dtype))

    @staticmethod
    def ones(shape: Any, dtype: Any = np.float64) -> Any:
        return arrays.wrap(np.ones(shape, dtype=dtype))

    empty = zeros


def _has_recorded(value: Any) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return any(isinstance(item, arrays.RecordedArray) or _has_recorded(item) for item in value)


def _elementwise(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*values: Any) -> Any:
        if any(isinstance(value, arrays.RecordedArray) for value in values):
            return arrays.apply(name, *values)
        return function(*values)

    return called


_MATH = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2",
    "log10": "log10", "isfinite": "isfinite", "isnan": "isnan", "isinf": "isinf", "fabs": "fabs",
    "hypot": "hypot", "ceil": "ceil", "floor": "floor", "trunc": "trunc", "pow": "power",
    "fmod": "fmod", "copysign": "copysign",
}  # fmt: skip
_OF_MATH = {name: _elementwise(ours, getattr(math, name)) for name, ours in _MATH.items()}


class _Math:
    """``math`` with functions that recorded numbers can go through."""

    def __getattr__(self, name: str) -> Any:
        return _OF_MATH.get(name) or getattr(math, name)


_STAND_INS: dict[int, Any] = {id(np): _Numpy(), id(math): _Math()} | {
    id(getattr(math, name)): function for name, function in _OF_MATH.items()
}


@contextmanager
def _with_stand_ins() -> Iterator[None]:
    """Let models make arrays, and call ``float`` and ``math``, with recorded numbers.

    numpy does not hand over what makes an array, and Python not what makes a float. Other numbers
    go through as ever, so that a model which another thread calls meanwhile is not disturbed.
    """
    changed: list[tuple[dict[str, Any], str, Any]] = []
    added: list[dict[str, Any]] = []
    for name, module in list(sys.modules.items()):
        if name.startswith("netcalc.models."):
            names = vars(module)
            for key, value in list(names.items()):
                if id(value) in _STAND_INS:
                    changed.append((names, key, value))
                    names[key] = _STAND_INS[id(value)]
            if "float" not in names:
                names["float"] = _Float
                added.append(names)
    try:
        yield
    finally:
        for names, key, value in changed:
            names[key] = value
        for names in added:
            del names["float"]
