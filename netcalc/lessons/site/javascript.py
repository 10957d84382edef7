"""A recorded model as a function of JavaScript, which calls ``runtime.js`` for what numpy has.

>>> from netcalc.lessons.site.recording import record
>>> found = record(lambda size, rate: 8 * size / rate, {"size": 1, "rate": 1})
>>> print(function(found, "transfer"))
const transfer = ((rt) => {
return function transfer(size, rate, notes) {
return 8*size/rate;
};
})(netcalc);
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.lessons.site.operations import Node
from netcalc.lessons.site.recording import (
    Block,
    Branch,
    Fields,
    Note,
    NotRecorded,
    Recorded,
    Refuse,
    Return,
    record,
)

RUNTIME = Path(__file__).with_name("runtime.js")
"""What the functions call; a page loads it before them."""

# How tightly an expression binds, as in JavaScript.
_ATOM, _CALL, _UNARY, _MULTIPLY, _ADD, _COMPARE, _EQUAL, _AND, _OR, _CHOOSE = (
    20, 18, 15, 13, 12, 10, 9, 5, 4, 3,
)  # fmt: skip
_BINARY = {
    "multiply": ("*", _MULTIPLY), "divide": ("/", _MULTIPLY), "fmod": ("%", _MULTIPLY),
    "add": ("+", _ADD), "subtract": ("-", _ADD),
    "less": ("<", _COMPARE), "less_equal": ("<=", _COMPARE), "greater": (">", _COMPARE),
    "greater_equal": (">=", _COMPARE), "equal": ("==", _EQUAL), "not_equal": ("!=", _EQUAL),
    "logical_and": ("&&", _AND), "logical_or": ("||", _OR),
}  # fmt: skip
_UNARY_SIGNS = {"negative": "-", "positive": "+", "number": "+", "logical_not": "!"}
_MATH = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "maximum": "max", "minimum": "min", "absolute": "abs", "fabs": "abs", "tanh": "tanh",
    "sin": "sin", "cos": "cos", "tan": "tan", "arctan": "atan", "hypot": "hypot",
}  # fmt: skip
_LIST_OPERATIONS = frozenset({
    "sum", "prod", "max", "min", "largest", "least", "any", "all", "cumsum", "cumprod", "cummax",
    "cummin", "sort", "argsort", "argmax", "median", "concatenate", "stack", "lookup",
})  # fmt: skip
_RESERVED_WORDS = (
    "break case catch class const continue debugger default delete do else enum export extends",
    "false finally for function if import in instanceof let new null return super switch this",
    "throw true try typeof var void while with yield notes rt netcalc Math",
)
_RESERVED = frozenset(" ".join(_RESERVED_WORDS).split())
_NUMBER = re.compile(r"(?<![\w.$\"])\d+(?![\w.\"])")

LENGTHS = (7, 11, 17)
"""Lengths of lists at which a model is recorded, to see that it does the same at each.

Numbers of the program that grow by the step from the first length to the second are the length, or
a little less or more; anything else must be the same text. The third recording proves it: the
program written for any length must be the one recorded there. The steps, 4 and 6, differ, and no
length has a factor, so that a part of a list, or a product, is not taken for a length.
"""


def function(recorded: Recorded, name: str, *, rules: dict[str, int] | None = None) -> str:
    """Return a recorded model as a pure function of numbers and lists of numbers.

    Its arguments are the inputs in their order, and last ``notes``, a list that receives what is
    doubtful about the answer; it may be left out. What a model refuses is thrown as
    ``netcalc.Refusal``, with the ``code`` and the ``values`` of the error.

    Parameters
    ----------
    recorded : Recorded
        The model.
    name : str
        Name of the function.
    rules : dict of str to int, optional
        Receives the rules of checks, with their index in a list ``rules`` that the page has; by
        default the function has its own.
    """
    writer = _Writer(rules={} if rules is None else rules)
    body = "\n".join(writer.block(recorded.body, {}))
    arguments = ", ".join(map(identifier, recorded.names))
    head = ""
    if rules is None and writer.rules:
        head = f"const rules = [{','.join(writer.rules)}];\n"
    return (
        f"const {name} = ((rt) => {{\n{head}return function {name}({arguments}, notes) {{\n"
        f"{body}\n}};\n}})(netcalc);"
    )


def of_any_length(
    model: Callable[..., Any],
    arguments: Mapping[str, Any],
    name: str,
    *,
    longer: Mapping[str, int] | None = None,
    rules: dict[str, int] | None = None,
) -> str | NotRecorded:
    """Return a model that takes lists as a function of lists of any length, or why that is not.

    It is recorded at three lengths. What differs is the length itself, or the model goes through
    its list step by step.

    Parameters
    ----------
    model : callable
        The model.
    arguments : mapping of str to object
        An example of each argument, as of :func:`netcalc.lessons.site.recording.record`.
    name : str
        Name of the function.
    longer : mapping of str to int, optional
        By how many elements a list is longer than the first one; by 0 unless it is named.
    rules : dict of str to int, optional
        As of :func:`function`.
    """
    texts = []
    lists = [key for key, value in arguments.items() if np.ndim(value) == 1]
    for number, length in enumerate(LENGTHS):
        lengths = {key: length + (longer or {}).get(key, 0) for key in lists}
        given = {
            key: np.resize(one, lengths[key]) if key in lists else one
            for key, one in arguments.items()
        }
        found = record(model, given)
        if isinstance(found, NotRecorded):
            return found
        if not found.returns:
            return NotRecorded("lengths")
        own = rules if rules is None or not number else dict(rules)
        texts.append(function(found, name, rules=own))
    general = _with_length(texts[0], texts[1], f"{identifier(lists[0])}.length")
    if general is None or _at_length(general, lists[0]) != texts[2]:
        return NotRecorded("length")
    return general


def _with_length(first: str, second: str, counted: str) -> str | None:
    """Return what two texts have in common, with the length where they differ by it."""
    parts, others = _NUMBER.split(first), _NUMBER.split(second)
    if parts != others:
        return None
    step = LENGTHS[1] - LENGTHS[0]
    made = [parts[0]]
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), parts[1:], strict=True)
    for one, other, part in pairs:
        if one == other:
            made.append(one)
        elif int(other) - int(one) == step:
            made.append(f"({counted} - {LENGTHS[0] - int(one)})")
        else:
            return None
        made.append(part)
    return "".join(made)


def _at_length(text: str, name: str) -> str:
    counted = rf"\({re.escape(identifier(name))}\.length - (-?\d+)\)"
    return re.sub(counted, lambda found: str(LENGTHS[2] - int(found[1])), text)


def identifier(name: str) -> str:
    """Return a name that JavaScript does not use itself."""
    return f"{name}_" if name in _RESERVED else name


def number(value: Any) -> str:
    """Return a number, a boolean or a list of them as JavaScript.

    >>> number(1e9), number(float("inf")), number([True, 0.1])
    ('1e9', 'Infinity', '[true,0.1]')
    """
    if isinstance(value, list | tuple) or np.ndim(value):
        return f"[{','.join(map(number, value))}]"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return _short(str(int(value)))
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    return _short(repr(value).removesuffix(".0").replace("e+", "e").replace("e-0", "e-"))


def _short(text: str) -> str:
    zeros = len(text) - len(text.rstrip("0"))
    is_long = zeros > 3 and text.lstrip("-").isdigit()
    return f"{text[:-zeros]}e{zeros}" if is_long else text


def value(one: Any) -> str:
    """Return a fact of a rule, a note or an error as JavaScript."""
    if isinstance(one, Mapping):
        return f"{{{','.join(f'{name}:{value(item)}' for name, item in one.items())}}}"
    if one is None:
        return "null"
    if isinstance(one, str):
        return json.dumps(one).replace("<", "\\u003c")
    if isinstance(one, list | tuple):
        return f"[{','.join(map(value, one))}]"
    return number(one)


@dataclass
class _Writer:
    """Writes the blocks of one function."""

    rules: dict[str, int]
    names: dict[int, str] = field(default_factory=dict)
    used: int = 0

    def block(self, block: Block, known: Mapping[int, tuple[str, int]]) -> list[str]:
        """Return the lines of a block; ``known`` has the operations before it."""
        counts = _uses(block)
        texts = dict(known)
        lines: list[str] = []
        for one in block.operations:
            if one.operation == "input":
                texts[id(one)] = identifier(str(one.value)), _ATOM
            elif one.operation == "judge":
                lines.append(self._judge(one, texts))
            elif one.operation == "check" or counts[id(one)]:
                text = self._expression(one, texts)
                if one.operation == "check" and not counts[id(one)]:
                    lines.append(f"{text[0]};")
                elif one.operation == "check" or (counts[id(one)] > 1 and text[1] != _ATOM):
                    self.used += 1
                    lines.append(f"const t{self.used} = {text[0]};")
                    texts[id(one)] = f"t{self.used}", _ATOM
                else:
                    texts[id(one)] = text
        return [*lines, *self._end(block.end, texts)]

    def _end(
        self, end: Branch | Return | Refuse, texts: Mapping[int, tuple[str, int]]
    ) -> list[str]:
        if isinstance(end, Branch):
            yes, no = self.block(end.yes, texts), self.block(end.no, texts)
            return [f"if ({self._text(end.condition, texts)}) {{", *yes, "}", *no]
        if isinstance(end, Refuse):
            words = self._facts(end.values, texts)
            return [f"throw new rt.Refusal({value(end.code)}, {words});"]
        notes = [self._note(one, texts) for one in end.notes]
        return [*notes, f"return {self._result(end.result, texts)};"]

    def _note(self, one: Note, texts: Mapping[int, tuple[str, int]]) -> str:
        holds = [
            self._text(asked, texts, _AND + 1) if wanted else f"!{self._text(asked, texts, _CALL)}"
            for asked, wanted in one.where
        ]
        condition = f"if ({' && '.join(['notes', *holds])}) "
        return f"{condition}rt.note(notes, {value(one.code)}, {self._facts(one.values, texts)});"

    def _result(self, result: Any, texts: Mapping[int, tuple[str, int]]) -> str:
        if isinstance(result, Node):
            text = self._text(result, texts)
            return f"[{text}]" if result.shape == (1,) else text
        if isinstance(result, Fields):
            parts = (f"{name}: {self._result(one, texts)}" for name, one in result.columns.items())
            return f"{{{', '.join(parts)}}}"
        if isinstance(result, list):
            return f"[{', '.join(self._result(one, texts) for one in result)}]"
        return value(result)

    def _facts(self, facts: Mapping[str, Any], texts: Mapping[int, tuple[str, int]]) -> str:
        parts = []
        for name, one in facts.items():
            text = self._text(one, texts) if isinstance(one, Node) else value(one)
            parts.append(f"{name}: {text}")
        return f"{{{', '.join(parts)}}}"

    def _judge(self, one: Node, texts: Mapping[int, tuple[str, int]]) -> str:
        said = dict(one.value)
        low, high, codes = said.pop("low"), said.pop("high"), said.pop("codes")
        said.pop("warns")
        rule = self._rule(value([low, high, *codes, said]))
        given, where = (self._text(item, texts) for item in one.inputs)
        return f"rt.judge({given}, {where}, {rule}, notes);"

    def _rule(self, text: str) -> str:
        return f"rules[{self.rules.setdefault(text, len(self.rules))}]"

    def _text(self, one: Node, texts: Mapping[int, tuple[str, int]], least: int = 0) -> str:
        """Return an operation as an expression that binds at least so tightly."""
        if one.is_constant:
            if one.value.size > 1 and one.value.ndim == 1 and (one.value == one.value[0]).all():
                return f"rt.fill({number(one.value[0])}, {one.value.size})"
            text = number(one.value.reshape(()) if one.value.size == 1 else one.value)
            binds = _UNARY if text.startswith("-") else _ATOM
        else:
            text, binds = texts[id(one)]
        return f"({text})" if binds < least else text

    def _expression(self, one: Node, texts: Mapping[int, tuple[str, int]]) -> tuple[str, int]:
        name, inputs = one.operation, one.inputs
        are_lone = all(_is_lone(item) for item in (one, *inputs))
        if name == "check":
            return self._check(one, texts), _CALL
        if name in ("same", "reshape"):
            return texts[id(inputs[0])] if not inputs[0].is_constant else (
                self._text(inputs[0], texts), _UNARY
            )  # fmt: skip
        if are_lone and name in _BINARY:
            sign, binds = _BINARY[name]
            left, right = inputs
            first = self._text(left, texts, binds)
            second = self._text(right, texts, binds + 1)
            gap = " " if second[0] in "+-" else ""
            return f"{first}{sign}{gap}{second}", binds
        if are_lone and name in _UNARY_SIGNS:
            return f"{_UNARY_SIGNS[name]}{self._text(inputs[0], texts, _UNARY + 1)}", _UNARY
        given = [self._text(item, texts) for item in inputs]
        if are_lone and name == "where":
            first, *others = (self._text(item, texts, _CHOOSE + 1) for item in inputs)
            return f"{first}?{others[0]}:{others[1]}", _CHOOSE
        if are_lone and name == "isnan" and re.fullmatch(r"[\w.]+", given[0]):
            return f"{given[0]}!=={given[0]}", _EQUAL
        if are_lone and name == "isfinite":
            return f"isFinite({given[0]})", _CALL
        if are_lone and name in _MATH:
            return f"Math.{_MATH[name]}({', '.join(given)})", _CALL
        if name == "take":
            return self._taken(one, given[0]), _CALL
        if name == "fill":
            return f"rt.fill({given[0]}, {one.shape[0]})", _CALL
        if name in _LIST_OPERATIONS:
            return f"rt.{name}({', '.join(given)})", _CALL
        if are_lone:
            return f"rt.scalar.{name}({', '.join(given)})", _CALL
        return f"rt.each({', '.join([value(name), *given])})", _CALL

    def _taken(self, one: Node, given: str) -> str:
        place, places = one.value
        if isinstance(place, int):
            return f"rt.at({given}, {place})"
        if place is not None:
            return f"rt.slice({given}, {', '.join(map(value, place[1:]))})"
        return f"rt.take({given}, {number(places)})"

    def _check(self, one: Node, texts: Mapping[int, tuple[str, int]]) -> str:
        usual = {"low": -math.inf, "high": math.inf, "moving": ()}
        rule = {
            name: item
            for name, item in one.value.items()
            if item is not None and item is not False and item != "" and item != usual.get(name)
        }
        given, *bounds = (self._text(item, texts) for item in one.inputs)
        text = self._rule(value({name: item for name, item in rule.items() if name != "moving"}))
        if bounds:
            moving = zip(one.value["moving"], bounds, strict=True)
            text = f"{{...{text}, {', '.join(f'{name}: {bound}' for name, bound in moving)}}}"
        return f"rt.check({given}, {text}, notes)"


def _is_lone(one: Node) -> bool:
    return math.prod(one.shape) == 1


def _uses(block: Block) -> Counter[int]:
    """Return how often each operation is used in a block and what follows it."""
    counts: Counter[int] = Counter()

    def follow(one: Block) -> None:
        end = one.end
        if isinstance(end, Branch):
            follow(end.yes)
            follow(end.no)
            counts[id(end.condition)] += 1
        else:
            for item in _nodes_of(end):
                counts[id(item)] += 1
        for item in reversed(one.operations):
            if counts[id(item)] or item.is_effect:
                for source in item.inputs:
                    counts[id(source)] += 1

    follow(block)
    return counts


def _nodes_of(end: Any) -> Iterator[Node]:
    """Yield the operations that the end of a path names."""
    if isinstance(end, Node):
        yield end
    elif isinstance(end, Return):
        yield from _nodes_of(end.result)
        for note in end.notes:
            yield from _nodes_of(note.values)
            yield from (asked for asked, _ in note.where)
    elif isinstance(end, Refuse):
        yield from _nodes_of(end.values)
    elif isinstance(end, Fields):
        yield from _nodes_of(end.columns)
    elif isinstance(end, Mapping):
        for one in end.values():
            yield from _nodes_of(one)
    elif isinstance(end, list | tuple):
        for one in end:
            yield from _nodes_of(one)
