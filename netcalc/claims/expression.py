"""Formulas as people write them: models by name, quantities with units, and simple arithmetic.

>>> print(evaluate("transfer(1 MB, bandwidth=T1, latency=30 ms)"))
5.211 s
>>> print(evaluate("80 ms + 2 * serialization(1400 B, bandwidth=T1)"))
94.51 ms
>>> rate = Quantity.of(1428, "byte") / Quantity.of(0.024, "s")
>>> float(rate.to("bit/s"))
476000.0

Python's own parser reads the grammar. Quantities and names are replaced by the identifiers ``_0``,
``_1``, ... first, because ``1 MB`` and ``OC-3`` are not Python; of the syntax tree only the node
types in ``_ALLOWED`` are accepted, and no part of it is ever executed as Python.
``docs/claims.md`` describes the language.

A quantity is a number, or a row of numbers, with its dimensions: data, time and length. Packets,
ratios and counts are pure numbers here: 10 000 packets per second have the dimension 1/s.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcalc import calculator, datasets, units
from netcalc.calculator import Formula, Parameter
from netcalc.errors import DomainError, NetcalcError, UnitError

Dimensions = tuple[int, int, int]
"""Powers of data [bit], time [s] and length [m]."""

# Dimensions of each SI unit of netcalc, and its size in bit, s and m.
_UNITS: dict[str, tuple[Dimensions, float]] = {
    "1": ((0, 0, 0), 1.0),
    "ratio": ((0, 0, 0), 1.0),
    "bool": ((0, 0, 0), 1.0),
    "byte": ((1, 0, 0), 8.0),
    "bit": ((1, 0, 0), 1.0),
    "bit/s": ((1, -1, 0), 1.0),
    "s": ((0, 1, 0), 1.0),
    "s/packet": ((0, 1, 0), 1.0),
    "packet/s": ((0, -1, 0), 1.0),
    "s/byte": ((-1, 1, 0), 0.125),
    "m": ((0, 0, 1), 1.0),
    "m/s": ((0, -1, 1), 1.0),
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """Numbers in bit, second and metre, with the powers of these units.

    Parameters
    ----------
    value : numpy.ndarray
        One number, or a row of them.
    dimensions : tuple of int
        Powers of bit, second and metre.
    """

    value: NDArray[np.float64]
    dimensions: Dimensions

    @classmethod
    def of(cls, value: ArrayLike, unit: str) -> Quantity:
        """Make a quantity from numbers in an SI unit of netcalc.

        Raises
        ------
        UnitError
            If the unit is unknown.
        """
        if unit not in _UNITS:
            raise UnitError("kind-unknown", unit, expected="a unit", known=list(_UNITS))
        dimensions, factor = _UNITS[unit]
        return cls(np.asarray(value, dtype=float) * factor, dimensions)

    @property
    def unit(self) -> str:
        """The SI unit of these dimensions; empty if netcalc has none."""
        return next((name for name, (d, _) in _UNITS.items() if d == self.dimensions), "")

    @property
    def kind(self) -> str:
        """Kind of quantity, for messages: a time, a size."""
        if not self.unit:
            parts = zip(("bit", "s", "m"), self.dimensions, strict=True)
            return " ".join(f"{name}^{power}" for name, power in parts if power)
        return units.noun_of(self.unit)

    def to(self, unit: str) -> NDArray[np.float64]:
        """Return the numbers in an SI unit of netcalc.

        Raises
        ------
        UnitError
            If the dimensions differ.
        """
        dimensions, factor = _UNITS[unit]
        if dimensions != self.dimensions:
            expected = units.example(unit)
            raise UnitError("wrong-kind", str(self), expected=expected, kind=self.kind)
        return self.value / factor

    def __str__(self) -> str:
        if self.value.ndim:
            return f"{self.value.size} numbers"
        if not self.unit:
            return f"{float(self.value):g} {self.kind}"
        return units.show(float(self.to(self.unit)), self.unit)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.value + other.like(self, "cannot-add"), self.dimensions)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.value - other.like(self, "cannot-subtract"), self.dimensions)

    def __neg__(self) -> Quantity:
        return Quantity(-self.value, self.dimensions)

    def __mul__(self, other: Quantity) -> Quantity:
        return Quantity(self.value * other.value, _combined(self, other, 1))

    def __truediv__(self, other: Quantity) -> Quantity:
        if not other.value.all():
            raise DomainError("division-by-zero", "divisor", 0)
        return Quantity(self.value / other.value, _combined(self, other, -1))

    def __pow__(self, other: Quantity) -> Quantity:
        if other.dimensions != (0, 0, 0) or other.value.ndim:
            raise DomainError("exponent-with-unit", "exponent", str(other))
        power = float(other.value)
        if self.dimensions != (0, 0, 0) and power not in (-2, -1, 0, 1, 2, 3):
            raise DomainError("exponent-out-of-range", "exponent", power, kind=self.kind)
        b, s, m = self.dimensions
        whole = int(power) if self.dimensions != (0, 0, 0) else 0
        return Quantity(self.value**power, (b * whole, s * whole, m * whole))

    def like(self, other: Quantity, code: str) -> NDArray[np.float64]:
        """Return the numbers; their dimensions must be those of ``other``, or ``code`` says why."""
        if self.dimensions != other.dimensions:
            raise UnitError(code, str(self), expected=other.kind, kind=self.kind)
        return self.value

    def reduced(self, function: Callable[[NDArray[np.float64]], ArrayLike]) -> Quantity:
        """Apply a function that keeps the dimensions."""
        return Quantity(np.asarray(function(self.value), dtype=float), self.dimensions)


def row(items: list[Quantity]) -> Quantity:
    """Join quantities of the same dimensions into one row.

    Raises
    ------
    DomainError, UnitError
        If there are none, or their dimensions differ.
    """
    if not items:
        raise DomainError("empty-list", "list")
    first = items[0]
    parts = [np.ravel(item.like(first, "cannot-join")) for item in items]
    return Quantity(np.concatenate(parts), first.dimensions)


def _combined(left: Quantity, right: Quantity, sign: int) -> Dimensions:
    (a, b, c), (d, e, f) = left.dimensions, right.dimensions
    return a + sign * d, b + sign * e, c + sign * f


# The longest formula of the five sources has 628 characters.
MAX_LENGTH = 2000
"""Longest formula. [characters]"""
# CPython's parser refuses 200 nested brackets; each level also takes several frames of the
# evaluation, of which Python allows 1000.
MAX_DEPTH = 40
"""Deepest nesting of brackets."""
MAX_LEVELS = 150
"""Deepest syntax tree: a chain of operators adds one level for each of them."""

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"[A-Za-zµμ%‰]+(?:/[A-Za-z]+)?"
_NAME = r"[A-Za-z_]\w*(?:[.-]\w+)*"
_TOKEN = re.compile(
    rf"""\s*(?:
        (?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT}))?
        | (?P<name>{_NAME})(?:\s+(?P<variant>exact|nominal|payload)\b)?
        | (?P<quoted>'[^']*'|"[^"]*")
        | (?P<sign>[-+*/()\[\],=;.])
    )""",
    re.VERBOSE,
)

Value: TypeAlias = "Quantity | dict[str, Quantity]"
"""A quantity, or the columns of a model's result by name."""
Lookup: TypeAlias = Callable[[str], Quantity]


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula as a syntax tree, and the words that its identifiers ``_0``, ``_1``, ... mean."""

    tree: ast.expr
    words: tuple[Quantity | str, ...]


def evaluate(text: str, *, lookup: Lookup | None = None) -> Quantity:
    """Compute a formula.

    Parameters
    ----------
    text : str
        The formula.
    lookup : callable, optional
        Returns the value of another claim by its id, or raises DomainError.

    Returns
    -------
    Quantity
        Its value.

    Raises
    ------
    UnitError
        If the text is not a valid formula, or units do not match.
    DomainError
        If a model or an argument is unknown, or a value is out of range.

    Examples
    --------
    >>> evaluate("1 MB / 8 s").to("bit/s").item()
    1000000.0
    """
    readings = parse_readings(text)
    if len(readings) > 1:
        raise _invalid("formula-several", text)
    return evaluate_expression(readings[0], lookup or _no_claims)


def parse_readings(text: str) -> list[Expression]:
    """Parse formulas that are separated by semicolons."""
    if len(text) > MAX_LENGTH:
        raise _invalid("formula-too-long", text, limit=MAX_LENGTH)
    sources, words = [""], list[Quantity | str]()
    position, depth = 0, 0
    while token := _TOKEN.match(text, position):
        position = token.end()
        if token["quoted"]:
            sources[-1] += repr(token["quoted"][1:-1])
        elif token["sign"] == ";":
            sources.append("")
        elif token["sign"]:
            sources[-1] += token["sign"]
            depth += (token["sign"] in "([") - (token["sign"] in ")]")
            if depth > MAX_DEPTH:
                raise _invalid("formula-too-deep", text, limit=MAX_DEPTH)
        else:
            word, position = _name(token) if token["name"] else _quantity(text, token)
            sources[-1] += f" _{len(words)} "
            words.append(word)
    if rest := text[position:].strip():
        raise _invalid("formula-character", text, character=rest[0])
    return [Expression(_tree(text, source.strip()), tuple(words)) for source in sources]


def evaluate_expression(expression: Expression, lookup: Lookup) -> Quantity:
    """Compute the value of an expression, which must be finite.

    Raises
    ------
    NetcalcError
        As :func:`evaluate`.
    """
    with np.errstate(all="ignore"):
        try:
            value = _Evaluator(expression.words, lookup).quantity(expression.tree)
        except ValueError as error:
            if isinstance(error, NetcalcError):
                raise
            raise DomainError("not-computable", "formula", reason=str(error)) from None
    if not np.isfinite(value.value).all():
        raise DomainError("result-not-finite", "result", str(value))
    return value


def is_name(text: str) -> bool:
    """Whether a formula can refer to a claim by this id."""
    return bool(re.fullmatch(_NAME, text)) and _line(text) is None


def _name(token: re.Match[str]) -> tuple[str, int]:
    """Return a name, and where it ends: a line may be followed by the variant of its rate."""
    if token["variant"] and _line(token["name"]) is not None:
        return f"{token['name']} {token['variant']}", token.end()
    return token["name"], token.end("name")


def _quantity(text: str, token: re.Match[str]) -> tuple[Quantity, int]:
    """Return a number with its unit, and where it ends."""
    number, unit = token["number"], token["unit"]
    if re.match(r"0\d", number):
        raise _invalid("formula-number", text, number=number)
    if unit is None:
        return Quantity.of(float(number), "1"), token.end()
    end = token.end()
    if units.kind_of(unit) is None and "/" in unit:  # 10 B/T1 is a size over a rate
        unit = unit.partition("/")[0]
        end = token.start("unit") + len(unit)
    kind = units.kind_of(unit)
    if kind is None:
        readings = units.readings_of(unit)
        if readings:
            raise _invalid("formula-ambiguous-unit", text, unit=unit, readings=list(readings))
        raise _invalid("formula-unknown-unit", text, unit=unit)
    return Quantity.of(units.parse(f"{number} {unit}", kind), kind), end


_OPERATORS: dict[type[ast.operator], Callable[[Quantity, Quantity], Quantity]] = {
    ast.Add: Quantity.__add__,
    ast.Sub: Quantity.__sub__,
    ast.Mult: Quantity.__mul__,
    ast.Div: Quantity.__truediv__,
    ast.Pow: Quantity.__pow__,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Quantity], Quantity]] = {
    ast.USub: Quantity.__neg__,
    ast.UAdd: lambda value: value,
}
_ALLOWED = (
    ast.Name, ast.Load, ast.Constant, ast.List, ast.Attribute, ast.Call, ast.keyword,
    ast.BinOp, *_OPERATORS, ast.UnaryOp, *_SIGNS,
)  # fmt: skip


def _tree(text: str, source: str) -> ast.expr:
    """Parse the Python that a formula was turned into, and refuse all but arithmetic and calls."""
    if not source:
        raise _invalid("formula-empty", text)
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise _invalid("formula-syntax", text, reason=error.msg) from None
    except (MemoryError, RecursionError):  # what CPython raises when its parser's stack is full
        raise _invalid("formula-nested", text) from None
    level: list[ast.AST] = [tree]
    for _ in range(MAX_LEVELS):
        for node in level:
            if not isinstance(node, _ALLOWED):
                raise _invalid("formula-language", text, node=type(node).__name__)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise _invalid("formula-chain", text)
    return tree


Made = TypeVar("Made")


def function_of(
    functions: Mapping[str, tuple[Callable[..., Made], int, float]],
    name: str,
    argument_count: int,
    keywords: Mapping[str, ast.expr],
) -> Callable[..., Made]:
    """Return a function of a table, or refuse how it is called.

    Raises
    ------
    DomainError
        If it is called with keywords, or with too few or too many arguments.
    """
    function, fewest, most = functions[name]
    if keywords:
        raise DomainError("no-keywords", name)
    if not fewest <= argument_count <= most:
        code = "wrong-argument-count" if fewest == most else "too-few-arguments"
        raise DomainError(code, name, argument_count, expected=fewest)
    return function


def arguments_of(
    name: str,
    formula: Formula,
    positional: Sequence[ast.expr],
    keywords: Mapping[str, ast.expr],
    made: Callable[[Parameter, ast.expr], Made],
) -> dict[str, Made]:
    """Return what is made of each argument of a model's call, by the name of its parameter.

    Raises
    ------
    DomainError
        If more than one argument has no keyword, or one is given twice or is not known.
    """
    if len(positional) > 1:
        names = [f"{parameter.short_name}=" for parameter in formula.parameters[1:]]
        raise DomainError("keywords-needed", name, len(positional), keywords=names)
    arguments: dict[str, Made] = {}
    for parameter, item in zip(formula.parameters, positional, strict=False):
        arguments[parameter.name] = made(parameter, item)
    for keyword, item in keywords.items():
        parameter = formula.parameter(keyword)
        if parameter.name in arguments:
            raise DomainError("given-twice", keyword)
        arguments[parameter.name] = made(parameter, item)
    return arguments


class _Evaluator:
    """Computes the nodes of a syntax tree."""

    def __init__(self, words: tuple[Quantity | str, ...], lookup: Lookup) -> None:
        self.words = words
        self.lookup = lookup

    def quantity(self, node: ast.expr) -> Quantity:
        """Compute a node whose value is a single result."""
        value = self.value(node)
        if isinstance(value, Quantity):
            return value
        columns = list(map(without_unit, value))
        raise DomainError("several-columns", "result", columns=columns, example=columns[0])

    def value(self, node: ast.expr) -> Value:
        """Compute a node: a quantity, or a model's columns by name."""
        match node:
            case ast.Name(id=identifier):
                word = self.word(identifier)
                return word if isinstance(word, Quantity) else self.named(word)
            case ast.List(elts=items):
                return row([self.quantity(item) for item in items])
            case ast.UnaryOp(op=sign, operand=operand):
                return _SIGNS[type(sign)](self.quantity(operand))
            case ast.BinOp(op=operator, left=left, right=right):
                return _OPERATORS[type(operator)](self.quantity(left), self.quantity(right))
            case ast.Attribute(value=table, attr=identifier):
                return _column(self.value(table), self.name(identifier))
            case ast.Call(func=ast.Name(id=identifier), args=arguments, keywords=keywords):
                by_name: dict[str, ast.expr] = {}
                for keyword in keywords:
                    name = self.name(keyword.arg or "")
                    if name in by_name:
                        raise DomainError("given-twice", name)
                    by_name[name] = keyword.value
                return self.call(self.name(identifier), arguments, by_name)
            case ast.Constant(value=text):
                raise DomainError("text-for-quantity", "text", str(text))
        raise DomainError("call-of-result", "call")

    def word(self, identifier: str) -> Quantity | str:
        """Return the quantity or the name that an identifier ``_0``, ``_1``, ... was put for."""
        return self.words[int(identifier[1:])]

    def name(self, identifier: str) -> str:
        """Return the name that an identifier was put for; ``**`` before an argument has none."""
        word = self.word(identifier) if identifier else "**"
        if not isinstance(word, str):
            raise DomainError("quantity-for-name", "name", str(word))
        return word

    def text(self, node: ast.expr) -> str | None:
        """Return a name or a quoted text as it is written; None for anything else."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        word = self.word(node.id) if isinstance(node, ast.Name) else None
        return word if isinstance(word, str) else None

    def named(self, name: str) -> Quantity:
        """Return the rate of a named line, or the value of another claim."""
        rate = _line(name)
        return self.lookup(name) if rate is None else Quantity.of(rate, "bit/s")

    def call(self, name: str, arguments: list[ast.expr], keywords: Mapping[str, ast.expr]) -> Value:
        """Call a model or a function."""
        if name == "data":
            return self.data(arguments, keywords)
        if name in FUNCTIONS:
            function = function_of(FUNCTIONS, name, len(arguments), keywords)
            return function(*map(self.quantity, arguments))
        formula = calculator.formula(name)
        values = arguments_of(name, formula, arguments, keywords, self.argument)
        # A doubt about a claim is said by its verdict.
        return _result(formula, formula.answer(values)[0])

    def argument(self, parameter: Parameter, node: ast.expr) -> Any:
        """Compute an argument in the unit that the model expects."""
        if parameter.kind in ("bool", "choice") or parameter.unit == "text":
            text = self.text(node)
            if text is None:
                raise _quantity_for_text(parameter)
            free = parameter.unit == "text" and not parameter.choices
            return text if free else parameter.read(text)
        value = self.quantity(node)
        try:
            numbers = value.to(parameter.unit)
        except UnitError as error:
            raise UnitError(
                error.code,
                error.text,
                expected=units.example(parameter.unit),
                field=parameter.short_name,
                kind=value.kind,
            ) from None
        return numbers if numbers.ndim else float(numbers)

    def data(self, arguments: list[ast.expr], keywords: Mapping[str, ast.expr]) -> Quantity:
        """Return a column of a bundled data set: ``data(SET, COLUMN, OTHER='text it must hold')``.

        All rows that hold the text are taken.
        """
        names = [text for text in map(self.text, arguments) if text is not None]
        if len(names) != 2 or len(arguments) != 2:
            raise DomainError("data-arguments", "data", len(names))
        set_name, column = names
        loaded = datasets.load(set_name)
        columns = loaded.columns()
        selected = np.ones(len(next(iter(columns.values()))), bool)
        for name, node in keywords.items():
            text = self.text(node)
            if text is None:
                raise DomainError("quantity-for-text", name)
            selected &= np.asarray(columns[_name_in(columns, name)]).astype(str) == text
        if not selected.any():
            raise DomainError("no-matching-row", "data", set_name)
        values = columns[_name_in(columns, column)][selected]
        if values.dtype.kind in "OU":
            raise DomainError("text-column", "data", column)
        return Quantity.of(values if values.size > 1 else values[0], loaded.meta.units[column])


def _over(function: Callable[..., Any]) -> Callable[..., Quantity]:
    return lambda *items: row(list(items)).reduced(function)


def _whole(function: Callable[..., Any]) -> Callable[[Quantity], Quantity]:
    """Round a pure number or a size in bytes; no other quantity comes in whole units."""

    def rounded(item: Quantity) -> Quantity:
        unit = "byte" if item.unit == "byte" else "1"
        return Quantity.of(function(item.to(unit)), unit)

    return rounded


def _item(items: Quantity, index: Quantity) -> Quantity:
    number = index.to("1").item()
    if number not in range(1, items.value.size + 1):
        raise DomainError("out-of-range", "item", number, low=1, high=items.value.size)
    return items.reduced(lambda values: np.ravel(values)[int(number) - 1])


def _rest(items: Quantity) -> Quantity:
    if items.value.size < 2:
        raise DomainError("too-few-numbers", "rest", items.value.size, expected=2)
    return items.reduced(lambda values: np.ravel(values)[1:])


FUNCTIONS: dict[str, tuple[Callable[..., Quantity], int, float]] = {
    "min": (_over(np.min), 1, np.inf),
    "max": (_over(np.max), 1, np.inf),
    "sum": (_over(np.sum), 1, np.inf),
    "mean": (_over(np.mean), 1, np.inf),
    "median": (_over(np.median), 1, np.inf),
    "count": (lambda *items: Quantity.of(row(list(items)).value.size, "1"), 1, np.inf),
    "round": (_whole(np.round), 1, 1),
    "floor": (_whole(np.floor), 1, 1),
    "ceil": (_whole(np.ceil), 1, 1),
    "item": (_item, 2, 2),
    "rest": (_rest, 1, 1),
}
"""Functions besides the models, with the fewest and the most arguments they take.

``item`` counts from 1, ``rest`` drops the first number.
"""


def _result(formula: Formula, result: Any) -> Value:
    if hasattr(result, "_asdict"):
        return {
            name: Quantity.of(
                np.asarray(column, dtype=float), calculator.column_unit(formula, name)
            )
            for name, column in result._asdict().items()
        }
    return Quantity.of(np.asarray(result, dtype=float), formula.unit or "1")


def without_unit(name: str) -> str:
    """Return the name of a column without its unit: ``clusters_bytes`` -> ``clusters``."""
    return re.sub(r"_(?:bytes|bps|pps|s)$", "", name)


def _column(table: Value, name: str) -> Quantity:
    if isinstance(table, Quantity):
        raise DomainError("no-columns", "column", name)
    plain = name.replace("-", "_")
    for column, value in table.items():
        if plain in (column, without_unit(column)):
            return value
    raise DomainError("not-a-choice", "column", name, choices=list(map(without_unit, table)))


def _name_in(columns: Mapping[str, Any], name: str) -> str:
    if name not in columns:
        raise DomainError("not-a-choice", "column", name, choices=list(columns))
    return name


def _line(name: str) -> float | None:
    """Return the rate of a named line, or None if there is no line of this name."""
    words = name.split()
    try:
        line = units.line(words[0])
    except UnitError:
        return None
    variant = words[1] if len(words) > 1 else "exact"
    return {
        "exact": line.exact_bps,
        "nominal": line.nominal_bps,
        "payload": line.payload_bps,
    }[variant]


def _no_claims(name: str) -> Quantity:
    raise DomainError("unknown-name", "name", name)


def _quantity_for_text(parameter: Parameter) -> DomainError:
    """Return the error of a quantity where a parameter takes a text, a choice or yes or no."""
    if parameter.choices:
        choices = list(parameter.choices)
        return DomainError("quantity-for-choice", parameter.name, choices=choices)
    code = "not-yes-or-no" if parameter.kind == "bool" else "quantity-for-text"
    return DomainError(code, parameter.name, "a quantity")


def _invalid(code: str, text: str, **values: Any) -> UnitError:
    return UnitError(code, text, expected="a formula", **values)
