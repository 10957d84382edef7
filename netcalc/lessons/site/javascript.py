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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netcalc.lessons.site import recording
from netcalc.lessons.site.arrays import OperationNode

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


def function(
    recorded: recording.Recorded, name: str, *, rules: dict[str, int] | None = None
) -> str:
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
    writer = _BlockWriter(rules={} if rules is None else rules)
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
) -> str | recording.NotRecorded:
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
        example = {
            key: np.resize(example_value, lengths[key]) if key in lists else example_value
            for key, example_value in arguments.items()
        }
        recorded = recording.record(model, example)
        if isinstance(recorded, recording.NotRecorded):
            return recorded
        if not recorded.returns:
            return recording.NotRecorded("lengths")
        own = rules if rules is None or not number else dict(rules)
        texts.append(function(recorded, name, rules=own))
    general = _with_length(texts[0], texts[1], f"{identifier(lists[0])}.length")
    if general is None or _at_length(general, lists[0]) != texts[2]:
        return recording.NotRecorded("length")
    return general


def _with_length(first: str, second: str, counted: str) -> str | None:
    """Return what two texts have in common, with the length where they differ by it."""
    parts, others = _NUMBER.split(first), _NUMBER.split(second)
    if parts != others:
        return None
    step = LENGTHS[1] - LENGTHS[0]
    made = [parts[0]]
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), parts[1:], strict=True)
    for number, other, part in pairs:
        if number == other:
            made.append(number)
        elif int(other) - int(number) == step:
            made.append(f"({counted} - {LENGTHS[0] - int(number)})")
        else:
            return None
        made.append(part)
    return "".join(made)


def _at_length(text: str, name: str) -> str:
    counted = rf"\({re.escape(identifier(name))}\.length - (-?\d+)\)"
    return re.sub(counted, lambda match: str(LENGTHS[2] - int(match[1])), text)


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


def value(literal: Any) -> str:
    """Return a fact of a rule, a note or an error as JavaScript."""
    if isinstance(literal, Mapping):
        return f"{{{','.join(f'{name}:{value(item)}' for name, item in literal.items())}}}"
    if literal is None:
        return "null"
    if isinstance(literal, str):
        return json.dumps(literal).replace("<", "\\u003c")
    if isinstance(literal, list | tuple):
        return f"[{','.join(map(value, literal))}]"
    return number(literal)


@dataclass
class _BlockWriter:
    """Writes the blocks of one function."""

    rules: dict[str, int]
    names: dict[int, str] = field(default_factory=dict)
    used: int = 0

    def block(
        self, block: recording.OperationBlock, outer_texts: Mapping[int, tuple[str, int]]
    ) -> list[str]:
        """Return the lines of a block; ``known`` has the operations before it."""
        counts = _uses(block)
        texts = dict(outer_texts)
        lines: list[str] = []
        for operation in block.operations:
            if operation.operation == "input":
                texts[id(operation)] = identifier(str(operation.value)), _ATOM
            elif operation.operation == "judge":
                lines.append(self._judge(operation, texts))
            elif operation.operation == "check" or counts[id(operation)]:
                text = self._expression(operation, texts)
                if operation.operation == "check" and not counts[id(operation)]:
                    lines.append(f"{text[0]};")
                elif operation.operation == "check" or (
                    counts[id(operation)] > 1 and text[1] != _ATOM
                ):
                    self.used += 1
                    lines.append(f"const t{self.used} = {text[0]};")
                    texts[id(operation)] = f"t{self.used}", _ATOM
                else:
                    texts[id(operation)] = text
        return [*lines, *self._end(block.end, texts)]

    def _end(
        self,
        end: recording.Branch | recording.Return | recording.Refuse,
        texts: Mapping[int, tuple[str, int]],
    ) -> list[str]:
        if isinstance(end, recording.Branch):
            yes, no = self.block(end.yes, texts), self.block(end.no, texts)
            return [f"if ({self._text(end.condition, texts)}) {{", *yes, "}", *no]
        if isinstance(end, recording.Refuse):
            words = self._facts(end.values, texts)
            return [f"throw new rt.Refusal({value(end.code)}, {words});"]
        notes = [self._note(note, texts) for note in end.notes]
        return [*notes, f"return {self._result(end.result, texts)};"]

    def _note(self, note: recording.Note, texts: Mapping[int, tuple[str, int]]) -> str:
        holds = [
            self._text(asked, texts, _AND + 1) if is_true else f"!{self._text(asked, texts, _CALL)}"
            for asked, is_true in note.where
        ]
        condition = f"if ({' && '.join(['notes', *holds])}) "
        return f"{condition}rt.note(notes, {value(note.code)}, {self._facts(note.values, texts)});"

    def _result(self, result: Any, texts: Mapping[int, tuple[str, int]]) -> str:
        if isinstance(result, OperationNode):
            text = self._text(result, texts)
            return f"[{text}]" if result.shape == (1,) else text
        if isinstance(result, recording.Fields):
            parts = (
                f"{name}: {self._result(column, texts)}" for name, column in result.columns.items()
            )
            return f"{{{', '.join(parts)}}}"
        if isinstance(result, list):
            return f"[{', '.join(self._result(column, texts) for column in result)}]"
        return value(result)

    def _facts(self, facts: Mapping[str, Any], texts: Mapping[int, tuple[str, int]]) -> str:
        parts = []
        for name, fact in facts.items():
            text = self._text(fact, texts) if isinstance(fact, OperationNode) else value(fact)
            parts.append(f"{name}: {text}")
        return f"{{{', '.join(parts)}}}"

    def _judge(self, judged: OperationNode, texts: Mapping[int, tuple[str, int]]) -> str:
        said = dict(judged.value)
        low, high, codes = said.pop("low"), said.pop("high"), said.pop("codes")
        said.pop("warns")
        rule = self._rule(value([low, high, *codes, said]))
        numbers, where = (self._text(item, texts) for item in judged.inputs)
        return f"rt.judge({numbers}, {where}, {rule}, notes);"

    def _rule(self, text: str) -> str:
        return f"rules[{self.rules.setdefault(text, len(self.rules))}]"

    def _text(
        self, made: OperationNode, texts: Mapping[int, tuple[str, int]], least: int = 0
    ) -> str:
        """Return an operation as an expression that binds at least so tightly."""
        if made.is_constant:
            if made.value.size > 1 and made.value.ndim == 1 and (made.value == made.value[0]).all():
                return f"rt.fill({number(made.value[0])}, {made.value.size})"
            text = number(made.value.reshape(()) if made.value.size == 1 else made.value)
            binds = _UNARY if text.startswith("-") else _ATOM
        else:
            text, binds = texts[id(made)]
        return f"({text})" if binds < least else text

    def _expression(
        self, made: OperationNode, texts: Mapping[int, tuple[str, int]]
    ) -> tuple[str, int]:
        """Return an operation as an expression, and how tightly it binds."""
        name, inputs = made.operation, made.inputs
        if name == "check":
            return self._check(made, texts), _CALL
        if name in ("same", "reshape"):
            (source,) = inputs
            return (self._text(source, texts), _UNARY) if source.is_constant else texts[id(source)]
        are_lone = all(_is_lone(item) for item in (made, *inputs))
        if are_lone and (lone := self._lone_expression(name, inputs, texts)):
            return lone
        arguments = [self._text(item, texts) for item in inputs]
        if name == "take":
            return self._taken(made, arguments[0]), _CALL
        if name == "fill":
            return f"rt.fill({arguments[0]}, {made.shape[0]})", _CALL
        if name in _LIST_OPERATIONS:
            return f"rt.{name}({', '.join(arguments)})", _CALL
        if are_lone:
            return f"rt.scalar.{name}({', '.join(arguments)})", _CALL
        return f"rt.each({', '.join([value(name), *arguments])})", _CALL

    def _lone_expression(
        self, name: str, inputs: Sequence[OperationNode], texts: Mapping[int, tuple[str, int]]
    ) -> tuple[str, int] | None:
        """Return an operation on lone numbers by signs and functions of JavaScript, if it has."""
        if name in _BINARY:
            sign, binds = _BINARY[name]
            first, second = (self._text(item, texts, binds + i) for i, item in enumerate(inputs))
            gap = " " if second[0] in "+-" else ""
            return f"{first}{sign}{gap}{second}", binds
        if name in _UNARY_SIGNS:
            return f"{_UNARY_SIGNS[name]}{self._text(inputs[0], texts, _UNARY + 1)}", _UNARY
        if name == "where":
            condition, yes, no = (self._text(item, texts, _CHOOSE + 1) for item in inputs)
            return f"{condition}?{yes}:{no}", _CHOOSE
        arguments = [self._text(item, texts) for item in inputs]
        if name == "isnan" and re.fullmatch(r"[\w.]+", arguments[0]):
            return f"{arguments[0]}!=={arguments[0]}", _EQUAL
        called = (
            "isFinite" if name == "isfinite" else f"Math.{_MATH[name]}" if name in _MATH else ""
        )
        return (f"{called}({', '.join(arguments)})", _CALL) if called else None

    def _taken(self, made: OperationNode, argument: str) -> str:
        place, places = made.value
        if isinstance(place, int):
            return f"rt.at({argument}, {place})"
        if place is not None:
            return f"rt.slice({argument}, {', '.join(map(value, place[1:]))})"
        return f"rt.take({argument}, {number(places)})"

    def _check(self, made: OperationNode, texts: Mapping[int, tuple[str, int]]) -> str:
        usual = {"low": -math.inf, "high": math.inf, "moving": ()}
        rule = {
            name: item
            for name, item in made.value.items()
            if item is not None and item is not False and item != "" and item != usual.get(name)
        }
        number, *bounds = (self._text(item, texts) for item in made.inputs)
        text = self._rule(value({name: item for name, item in rule.items() if name != "moving"}))
        if bounds:
            moving = zip(made.value["moving"], bounds, strict=True)
            text = f"{{...{text}, {', '.join(f'{name}: {bound}' for name, bound in moving)}}}"
        return f"rt.check({number}, {text}, notes)"


def _is_lone(made: OperationNode) -> bool:
    return math.prod(made.shape) == 1


def _uses(block: recording.OperationBlock) -> Counter[int]:
    """Return how often each operation is used in a block and what follows it."""
    counts: Counter[int] = Counter()

    def follow(block: recording.OperationBlock) -> None:
        end = block.end
        if isinstance(end, recording.Branch):
            follow(end.yes)
            follow(end.no)
            counts[id(end.condition)] += 1
        else:
            for item in _nodes_of(end):
                counts[id(item)] += 1
        for item in reversed(block.operations):
            if counts[id(item)] or item.is_effect:
                for source in item.inputs:
                    counts[id(source)] += 1

    follow(block)
    return counts


def _nodes_of(end: Any) -> Iterator[OperationNode]:
    """Yield the operations that the end of a path names."""
    if isinstance(end, OperationNode):
        yield end
    elif isinstance(end, recording.Return):
        yield from _nodes_of(end.result)
        for note in end.notes:
            yield from _nodes_of(note.values)
            yield from (asked for asked, _ in note.where)
    elif isinstance(end, recording.Refuse):
        yield from _nodes_of(end.values)
    elif isinstance(end, recording.Fields):
        yield from _nodes_of(end.columns)
    elif isinstance(end, Mapping):
        for item in end.values():
            yield from _nodes_of(item)
    elif isinstance(end, list | tuple):
        for item in end:
            yield from _nodes_of(item)
