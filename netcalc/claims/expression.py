"""Formulas as people write them: models by name, quantities with units, and simple arithmetic.

>>> print(evaluate("transfer(1 MB, bandwidth=T1, latency=30 ms)"))
5.211 s
>>> print(evaluate("80 ms + 2 * serialization(1400 B, bandwidth=T1)"))
94.51 ms

The text is cut into words, read into a tree and walked over; nothing of it is ever run as a
program. ``docs/claims.md`` describes what may be written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from netcalc import calculator, datasets, units
from netcalc.calculator import Formula, Parameter
from netcalc.claims.quantity import Quantity, row
from netcalc.errors import DomainError, NetcalcError, UnitError

MAX_LENGTH = 2000
"""Longest formula. [characters]"""
MAX_DEPTH = 40
"""Deepest nesting of brackets."""

_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"\s*([A-Za-zµμ%‰]+(?:/[A-Za-z]+)?)")
_NAME = re.compile(r"[A-Za-z_]\w*(?:[.-]\w+)*")
_SIGNS = re.compile(r"\*\*|[-+*/()\[\],=;.]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_VARIANTS = ("exact", "nominal", "payload")
_SUFFIXES = {"_bytes": "byte", "_bps": "bit/s", "_pps": "packet/s", "_s": "s",
             "packet_cost": "s/packet", "byte_cost": "s/byte"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a formula: a number with its unit, a name, a quoted text or a sign."""

    kind: str
    text: str
    quantity: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A named line, another claim, or the choice of a model."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text."""

    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """Several quantities in brackets."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result that has several."""

    table: Node
    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    """A minus before a quantity."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Operation:
    """Two quantities and a sign between them."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A model or a function with its arguments."""

    name: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...]


Node: TypeAlias = Quantity | Name | Text | Row | Column | Negative | Operation | Call
Lookup: TypeAlias = Callable[[str], Quantity]


def evaluate(text: str, *, lookup: Lookup | None = None) -> Quantity:
    """Compute a formula.

    Parameters
    ----------
    text : str
        The formula.
    lookup : callable, optional
        Gives the value of another claim by its name, or raises DomainError.

    Returns
    -------
    Quantity
        Its value.

    Raises
    ------
    UnitError
        If the text is no formula, or units do not fit.
    DomainError
        If a model or an argument is unknown, or a number cannot be.

    Examples
    --------
    >>> evaluate("1 MB / 8 s").to("bit/s").item()
    1000000.0
    """
    return evaluate_tree(parse(text), lookup or _no_claims)


def parse(text: str) -> Node:
    """Read a formula into its tree.

    Raises
    ------
    UnitError
        If the text is no formula.
    """
    readings = parse_readings(text)
    if len(readings) != 1:
        raise _refused(text, "it has several readings")
    return readings[0]


def parse_readings(text: str) -> list[Node]:
    """Read formulas that are separated by semicolons."""
    return _Parser(text).readings()


def evaluate_tree(node: Node, lookup: Lookup) -> Quantity:
    """Compute the value of a tree, which must be finite.

    Raises
    ------
    NetcalcError
        As :func:`evaluate`.
    """
    with np.errstate(all="ignore"):
        try:
            value = _Walker(lookup).quantity(node)
        except RecursionError:
            raise DomainError("formula", "too long", "fewer signs in a row") from None
        except ValueError as error:
            if isinstance(error, NetcalcError):
                raise
            raise DomainError("formula", "not computable", f"what numpy can: {error}") from None
    if not np.isfinite(value.value).all():
        raise DomainError("result", str(value), "a finite number", hint="It is outside the model")
    return value


def is_name(text: str) -> bool:
    """Whether a formula can refer to a claim of this name."""
    return bool(_NAME.fullmatch(text)) and _line(text) is None


class _Parser:
    """Recursive descent: one method for each level of binding."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > MAX_LENGTH:
            raise _refused(text[:40] + "...", f"it is longer than {MAX_LENGTH} characters")
        self.tokens = _tokens(text)
        self.place = 0
        self.depth = 0

    def readings(self) -> list[Node]:
        found = [self.sum()]
        while self.accept(";"):
            found.append(self.sum())
        if self.place < len(self.tokens):
            raise _refused(self.text, f"{self.tokens[self.place].text!r} is not expected there")
        return found

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _refused(self.text, f"it is nested deeper than {MAX_DEPTH}")
        node = self.product()
        while sign := self.accept("+", "-"):
            node = Operation(sign, node, self.product())
        self.depth -= 1
        return node

    def product(self) -> Node:
        node = self.signed()
        while sign := self.accept("*", "/"):
            node = Operation(sign, node, self.signed())
        return node

    def signed(self) -> Node:
        negative = False
        while sign := self.accept("-", "+"):
            negative ^= sign == "-"
        base = self.atom()
        if self.accept("**"):
            exponent = Negative(self.atom()) if self.accept("-") else self.atom()
            base = Operation("**", base, exponent)
        return Negative(base) if negative else base

    def atom(self) -> Node:
        token = self.next()
        node: Node
        if token.quantity is not None:
            node = token.quantity
        elif token.kind == "text":
            node = Text(token.text[1:-1])
        elif token.kind == "name":
            node = self.named(token.text)
        elif token.text == "(":
            node = self.sum()
            self.expect(")")
        elif token.text == "[":
            items = [self.sum()]
            while self.accept(","):
                items.append(self.sum())
            self.expect("]")
            node = Row(tuple(items))
        else:
            raise _refused(self.text, f"{token.text!r} is not expected there")
        while self.accept("."):
            node = Column(node, self.next("name").text)
        return node

    def named(self, name: str) -> Node:
        if not self.accept("("):
            variant = self.peek()
            if variant.text in _VARIANTS and _line(name) is not None:
                self.place += 1
                return Name(f"{name} {variant.text}")
            return Name(name)
        arguments: list[Node] = []
        keywords: list[tuple[str, Node]] = []
        while not self.accept(")"):
            if arguments or keywords:
                self.expect(",")
            if self.peek().kind == "name" and self.peek(1).text == "=":
                keyword = self.next().text
                self.place += 1
                if keyword in dict(keywords):
                    raise _refused(self.text, f"{keyword!r} is given twice")
                keywords.append((keyword, self.sum()))
            else:
                arguments.append(self.sum())
        return Call(name, tuple(arguments), tuple(keywords))

    def peek(self, ahead: int = 0) -> Token:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else Token("end", "the end")

    def next(self, kind: str = "") -> Token:
        token = self.peek()
        if token.kind == "end":
            raise _refused(self.text, "it ends too early" if self.tokens else "it is empty")
        if kind and token.kind != kind:
            raise _refused(self.text, f"{token.text!r} is not expected there")
        self.place += 1
        return token

    def accept(self, *signs: str) -> str:
        token = self.peek()
        if token.kind != "sign" or token.text not in signs:
            return ""
        self.place += 1
        return token.text

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise _refused(self.text, f"{sign!r} is missing before {self.peek().text!r}")


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
        elif number := _NUMBER.match(text, place):
            token, place = _quantity(text, number)
            found.append(token)
        elif name := _NAME.match(text, place):
            found.append(Token("name", name[0]))
            place = name.end()
        elif quoted := _QUOTED.match(text, place):
            found.append(Token("text", quoted[0]))
            place = quoted.end()
        elif sign := _SIGNS.match(text, place):
            found.append(Token("sign", sign[0]))
            place = sign.end()
        else:
            raise _refused(text, f"the character {text[place]!r} has no meaning in it")
    return found


def _quantity(text: str, number: re.Match[str]) -> tuple[Token, int]:
    """Read a number and the unit behind it."""
    if re.match(r"0\d", number[0]):
        raise _refused(text, f"{number[0]!r} is no number", "Write 1000, not 1,000")
    found = _UNIT.match(text, number.end())
    if found is None:
        if text[number.end() : number.end() + 1] == "_":
            raise _refused(text, f"{number[0]}_ is no number")
        return Token("number", number[0], Quantity.of(float(number[0]), "1")), number.end()
    unit, end = found[1], found.end()
    if units.kind_of(unit) is None and "/" in unit:
        unit = unit.partition("/")[0]
        end = found.start(1) + len(unit)
    written = f"{number[0]} {unit}"
    kind = units.kind_of(unit)
    if kind is None:
        raise _unknown_unit(text, unit)
    return Token("number", written, Quantity.of(units.parse(written, kind), kind)), end


def _unknown_unit(text: str, unit: str) -> UnitError:
    for kind in ("bit/s", "byte", "packet/s", "s"):
        try:
            units.factor_of(unit, kind)
        except UnitError as error:
            if "more than one reading" in str(error):
                return _refused(text, f"{unit!r} has more than one reading", error.hint)
    return _refused(text, f"the unit {unit!r} is not known")


class _Walker:
    """Computes a tree, node by node."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup

    def quantity(self, node: Node) -> Quantity:
        value = self.value(node)
        if isinstance(value, Quantity):
            return value
        columns = ", ".join(units_free(name) for name in value)
        raise DomainError("result", "several columns", f"one of them: write .{columns} behind it")

    def value(self, node: Node) -> Quantity | dict[str, Quantity]:
        """Compute a node: a quantity, or a model's columns by name."""
        if isinstance(node, Quantity):
            return node
        if isinstance(node, Name):
            named = _line(node.text)
            return self.lookup(node.text) if named is None else Quantity.of(named, "bit/s")
        if isinstance(node, Text):
            raise DomainError("text", repr(node.text), "a quantity there")
        if isinstance(node, Row):
            return row([self.quantity(item) for item in node.items])
        if isinstance(node, Negative):
            return -self.quantity(node.operand)
        if isinstance(node, Operation):
            return _OPERATIONS[node.sign](self.quantity(node.left), self.quantity(node.right))
        if isinstance(node, Column):
            return _column(self.value(node.table), node.name)
        return self.call(node)

    def call(self, node: Call) -> Quantity | dict[str, Quantity]:
        if node.name == "data":
            return _data(node)
        if node.name in FUNCTIONS:
            function, fewest, most = FUNCTIONS[node.name]
            if node.keywords or not fewest <= len(node.arguments) <= most:
                found = "with names" if node.keywords else f"{len(node.arguments)} quantities"
                wanted = f"{fewest}" if fewest == most else f"at least {fewest}"
                raise DomainError(f"arguments of {node.name}", found, wanted)
            return function(*map(self.quantity, node.arguments))
        formula = calculator.formula(node.name)
        if len(node.arguments) > 1:
            names = ", ".join(f"{p.short_name}=" for p in formula.parameters[1:])
            raise DomainError(
                f"arguments of {node.name}", "several without a name", f"one, then {names}"
            )
        given: dict[str, Any] = {}
        for parameter, argument in zip(formula.parameters, node.arguments, strict=False):
            given[parameter.name] = self.argument(parameter, argument)
        for name, argument in node.keywords:
            parameter = formula.parameter(name)
            if parameter.name in given:
                raise DomainError(name, "given twice", "one value")
            given[parameter.name] = self.argument(parameter, argument)
        return _result(formula, formula.evaluate(given))

    def argument(self, parameter: Parameter, node: Node) -> Any:
        """Compute an argument in the unit that the model wants."""
        if parameter.kind in ("bool", "choice") or parameter.unit == "text":
            if not isinstance(node, Name | Text):
                wanted = ", ".join(parameter.choices) or "yes or no"
                raise DomainError(parameter.name, "a quantity", wanted)
            return node.text if parameter.unit == "text" and not parameter.choices else (
                parameter.read(node.text)
            )  # fmt: skip
        value = self.quantity(node)
        try:
            numbers = value.to(parameter.unit)
        except UnitError as error:
            raise UnitError(
                error.text,
                expected=units.example(parameter.unit),
                why=f"it is {value.kind}",
                field=parameter.short_name,
            ) from None
        return numbers if numbers.ndim else float(numbers)


_OPERATIONS: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "+": Quantity.__add__,
    "-": Quantity.__sub__,
    "*": Quantity.__mul__,
    "/": Quantity.__truediv__,
    "**": Quantity.__pow__,
}


def _over(function: Callable[..., Any]) -> Callable[..., Quantity]:
    return lambda *items: row(list(items)).reduced(function)


def _whole(function: Callable[..., Any]) -> Callable[[Quantity], Quantity]:
    """Round a pure number or a size in bytes; of other units there is no whole one."""

    def rounded(item: Quantity) -> Quantity:
        unit = "byte" if item.unit == "byte" else "1"
        return Quantity.of(function(item.to(unit)), unit)

    return rounded


def _item(items: Quantity, place: Quantity) -> Quantity:
    number = place.to("1").item()
    if number not in range(1, items.value.size + 1):
        raise DomainError("item", f"{number:g}", f"1 to {items.value.size}")
    return items.reduced(lambda values: np.ravel(values)[int(number) - 1])


def _rest(items: Quantity) -> Quantity:
    if items.value.size < 2:
        raise DomainError("rest", f"of {items.value.size} number", "at least two numbers")
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
"""What may be called beside the models, the fewest and the most quantities it takes.

``item`` counts from 1, ``rest`` leaves the first out.
"""


def _result(formula: Formula, result: Any) -> Quantity | dict[str, Quantity]:
    if hasattr(result, "_asdict"):
        return {
            name: Quantity.of(np.asarray(column, dtype=float), _unit_of(name, formula.unit))
            for name, column in result._asdict().items()
        }
    return Quantity.of(np.asarray(result, dtype=float), formula.unit or "1")


def _unit_of(name: str, unit: str) -> str:
    return next((known for ending, known in _SUFFIXES.items() if name.endswith(ending)), unit)


def units_free(name: str) -> str:
    """Name of a column without its unit."""
    return re.sub(r"_(?:bytes|bps|pps|s)$", "", name)


def _column(table: Quantity | dict[str, Quantity], name: str) -> Quantity:
    if isinstance(table, Quantity):
        raise DomainError("column", repr(name), "none: there is only one result")
    wanted = name.replace("-", "_")
    for column, value in table.items():
        if wanted in (column, units_free(column)):
            return value
    raise DomainError("column", repr(name), "one of " + ", ".join(map(units_free, table)))


def _data(node: Call) -> Quantity:
    """Take a column of a bundled data set: data(SET, COLUMN, OTHER='text that it must hold')."""
    words = [argument.text for argument in node.arguments if isinstance(argument, Name | Text)]
    if len(words) != 2 or len(node.arguments) != 2:
        raise DomainError("arguments of data", f"{len(words)} names", "a data set and a column")
    set_name, wanted = words
    about = datasets.info(set_name)
    columns = datasets.load(set_name).columns()
    chosen = np.ones(len(next(iter(columns.values()))), bool)
    for name, value in node.keywords:
        if not isinstance(value, Name | Text):
            raise DomainError(name, "a quantity", "a text in quotes")
        chosen &= np.asarray(columns[_known(name, columns)]).astype(str) == value.text
    if not chosen.any():
        raise DomainError("data", f"no row of {set_name}", "rows that are there")
    values = columns[_known(wanted, columns)][chosen]
    if values.dtype.kind == "U":
        raise DomainError("data", f"the text column {wanted!r}", "a column of numbers")
    unit = about.columns[wanted].unit if wanted in about.columns else _unit_of(wanted, "1")
    return Quantity.of(values if values.size > 1 else values[0], unit)


def _known(name: str, columns: Mapping[str, Any]) -> str:
    if name not in columns:
        raise DomainError("column", repr(name), "one of " + ", ".join(columns))
    return name


def _line(name: str) -> float | None:
    """Return the rate of a named line, or None if there is none of this name."""
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
    raise DomainError("name", repr(name), "a named line such as T1, or a model with arguments")


def _refused(text: str, why: str, hint: str | None = None) -> UnitError:
    return UnitError(text, expected="a formula", why=why, hint=hint)
