"""Operations on numbers that are not known yet: the nodes that a recorded model consists of."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeAlias

import numpy as np

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
class Node:
    """One operation: its name, what goes in, and what cannot be a number of JavaScript.

    ``kind`` is ``f`` for numbers, ``i`` for whole numbers and ``b`` for booleans.
    """

    operation: str
    inputs: tuple[Node, ...]
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
    events: list[Node] = field(default_factory=list)
    decided: list[tuple[int, Node, bool]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    decisions: dict[int, bool] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        """Keep an operation, once."""
        if id(node) not in self.seen:
            self.seen.add(id(node))
            self.events.append(node)
            if len(self.events) > MAX_NODES:
                raise CannotRecord("too-long")

    def decide(self, condition: Node) -> bool:
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
class Recording:
    """The operations of all paths, each once, and the path that is being recorded."""

    nodes: dict[Hashable, Node] = field(default_factory=dict)
    path: ProgramPath = field(default_factory=lambda: ProgramPath(()))


_under_way: ContextVar[Recording | None] = ContextVar("_under_way", default=None)


def recording() -> Recording:
    """Return the recording under way."""
    under_way = _under_way.get()
    if under_way is None:
        raise CannotRecord("outside")
    return under_way


@contextmanager
def begun() -> Iterator[Recording]:
    """Begin a recording, and end it."""
    token = _under_way.set(Recording())
    try:
        yield recording()
    finally:
        _under_way.reset(token)


def node(
    operation: str, *inputs: Node, shape: Shape, kind: str = "f", value: Any = None, key: Any = None
) -> Node:
    """Return an operation: the same one for the same inputs."""
    made = recording()
    name = (operation, *map(id, inputs), shape, kind, value if key is None else key)
    made_before = made.nodes.get(name)
    if made_before is None:
        made_before = made.nodes[name] = Node(operation, inputs, shape, kind, value)
    if not made_before.is_constant:
        made.path.add(made_before)
    return made_before


def constant(value: Any) -> Node:
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
