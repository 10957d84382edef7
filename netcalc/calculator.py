"""Every public model as a formula that can be listed, evaluated from text, swept and solved.

A formula is made from the function itself: its name, its signature, its docstring. A new model
appears here by existing.

>>> formula("transfer").evaluate_text({"payload": "1 MB", "bandwidth": "T1", "latency": "30 ms"})
5.211347150259067
>>> formula("transfer").parameters[1].unit
'bit/s'
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from doctest import DocTestParser
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import docstring_parser
import numpy as np

from netcalc import equations, models, units
from netcalc.errors import DomainError, UnitError
from netcalc.models._domain import FloatArray
from netcalc.solver import Root, default_range, solve

_UNIT = re.compile(r"\[([^\[\]]+)\]\s*$")
_SYMBOL = re.compile(r":math:`([^`]+)` (\w+)(?: \(([^()]*: [^()]*)\))?")
_RANGE = re.compile(r"Range: (\w+) up to (\d[\d.e-]*\d|\d)\.")
_SUFFIX = re.compile(r"_(s|bps|pps|bytes|bits|ratio|m|m_s)$")
_MARKS = re.compile(r"(?::\w+:)?(?:``|`)~?([^`]+)(?:``|`)")
_CHOICES = re.compile(r"\{(.+)\}")
_LIST_SEPARATOR = re.compile(r"\s*(?:;|,(?!\d)|(?<!\d),)\s*")
_COLUMN_UNITS = {  # of the columns of a result, by the end of their name
    "_m_s": "m/s", "_bps": "bit/s", "_pps": "packet/s", "_bytes": "byte", "_bits": "bit",
    "_ratio": "ratio", "_count": "1", "packet_cost": "s/packet", "byte_cost": "s/byte", "_s": "s",
}  # fmt: skip
_YES_NO = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a formula: what its docstring and its signature say.

    ``kind`` is ``number``, ``list``, ``bool``, ``choice`` or ``text``; ``default`` is
    :data:`inspect.Parameter.empty` where there is none.
    """

    name: str
    unit: str
    kind: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """Name without its unit: ``bandwidth`` for ``bandwidth_bps``."""
        return _SUFFIX.sub("", self.name)

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def wanted(self) -> str:
        """What is to be given: its choices, or a quantity such as one."""
        if self.kind == "text":
            return self.description
        return (
            "yes or no"
            if self.unit == "bool"
            else ", ".join(self.choices) or units.example(self.unit)
        )

    def read(self, text: str) -> Any:
        """Turn what a person typed into the argument.

        Raises
        ------
        UnitError, DomainError
            If the text is no quantity of this unit, or no allowed choice.
        """
        if self.kind == "bool":
            return self._yes_or_no(text)
        if self.kind == "text":
            return text
        if self.kind == "choice":
            if text not in self.choices:
                raise DomainError(self.name, repr(text), "one of " + ", ".join(self.choices))
            return text
        if self.kind == "list":
            values = [self._number(part) for part in _LIST_SEPARATOR.split(text.strip())]
            # One value where the default is one: it holds for all.
            one_for_all = not self.required and np.ndim(self.default) == 0
            return values[0] if len(values) == 1 and one_for_all else values
        return self._number(text)

    def show(self, value: Any, *, digits: int = 4) -> str:
        """Write a value of this parameter as people read it."""
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        if isinstance(value, str) or value is None:
            return str(value)
        if np.ndim(value):
            return ", ".join(self.show(item, digits=digits) for item in np.ravel(value))
        return units.show(float(value), self.unit, digits=digits)

    def _yes_or_no(self, text: str) -> bool:
        if text.strip().lower() not in _YES_NO:
            raise DomainError(self.name, repr(text), "yes or no")
        return _YES_NO[text.strip().lower()]

    def _number(self, text: str) -> float:
        if self.unit == "bool":  # a list of them
            return self._yes_or_no(text)
        try:
            return units.parse(text, self.unit, field=self.short_name)
        except UnitError as error:
            if error.expected != "a unit of netcalc":
                raise
            # A unit of its own, such as s/packet: the number is taken as it stands in it.
            return units.parse(text.replace(self.unit, "").strip(), "1", field=self.short_name)


@dataclass(frozen=True)
class Formula:
    """A public model function, with what its docstring says.

    Parameters
    ----------
    name : str
        Full name: ``latency.transfer_s``.
    function : callable
        The function.
    """

    name: str
    function: Callable[..., Any]

    @property
    def subject(self) -> str:
        """File of the models it stands in."""
        return self.name.partition(".")[0]

    @property
    def function_name(self) -> str:
        """Name of the function, with its unit."""
        return self.name.partition(".")[2]

    @property
    def short_name(self) -> str:
        """Name of the function, without its unit."""
        return _SUFFIX.sub("", self.function_name)

    @cached_property
    def _doc(self) -> docstring_parser.Docstring:
        text = inspect.getdoc(self.function) or ""
        return docstring_parser.parse(text, docstring_parser.DocstringStyle.NUMPYDOC)

    @property
    def summary(self) -> str:
        """First sentence of its docstring."""
        return _flat(self._doc.short_description or "")

    @property
    def equation(self) -> str:
        """The equation, in LaTeX."""
        text = self._doc.long_description or ""
        found = re.search(r"\.\. math::\s*(.+?)(?:\n\s*\n|$)", text, re.DOTALL)
        return " ".join(found[1].split()) if found else ""

    @cached_property
    def symbols(self) -> dict[str, str]:
        """The equation's symbols, and which parameter each stands for, or ``result``.

        Examples
        --------
        >>> formula("latency.transfer").symbols
        {'N': 'payload_bytes', 'R': 'bandwidth_bps', 'd': 'latency_s'}
        """
        return {symbol: name for symbol, name, _ in _SYMBOL.findall(self._symbols_text)}

    @property
    def _symbols_text(self) -> str:
        return " ".join(self._section("notes").split()).partition("Symbols: ")[2]

    @property
    def validity(self) -> str:
        """Where it holds."""
        return _flat(re.split(r"Range: |Symbols: ", self._section("notes"))[0])

    @property
    def published_range(self) -> tuple[str, float] | None:
        """The quantity, or ``result``, that the source vouches for only up to a number."""
        found = _RANGE.search(self._section("notes"))
        return (found[1], float(found[2])) if found else None

    def doubt(self, arguments: Mapping[str, Any], result: Any) -> str:
        """Say that a number lies beyond the range its source published; empty if none does.

        Examples
        --------
        >>> mathis = formula("mathis-throughput")
        >>> mathis.doubt({"loss_ratio": 0.3}, 261e3)
        'loss is 30%, beyond the published range of the formula (up to 1%): take it as a guess.'
        """
        if self.published_range is None:
            return ""
        name, limit = self.published_range
        parameter = None if name == "result" else self.parameter(name)
        unit = self.unit if parameter is None else parameter.unit
        values = result if parameter is None else arguments.get(name, parameter.default)
        worst = float(np.max(np.asarray(values, dtype=float), initial=0.0))
        if not worst > limit:
            return ""
        what = "the result" if parameter is None else parameter.short_name
        return (
            f"{what} is {units.show(worst, unit)}, beyond the published range of the formula "
            f"(up to {units.show(limit, unit)}): take it as a guess."
        )

    @property
    def source(self) -> str:
        """Where it is from."""
        return _flat(self._section("references"))

    @property
    def returns(self) -> str:
        """What it returns."""
        return (
            _UNIT.sub("", _flat(self._doc.returns.description or "")) if self._doc.returns else ""
        )

    @property
    def unit(self) -> str:
        """Unit of the result; empty for a result of several columns."""
        text = _flat(self._doc.returns.description or "") if self._doc.returns else ""
        found = _UNIT.search(text)
        return found[1] if found else ""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments, the swept one first."""
        documented = {
            name.strip(): item for item in self._doc.params for name in item.arg_name.split(",")
        }
        return tuple(
            _parameter(name, found, documented.get(name))
            for name, found in inspect.signature(self.function).parameters.items()
        )

    @cached_property
    def example(self) -> dict[str, Any]:
        """Arguments of a call in its docstring's examples; of several values, the first."""
        known: dict[str, Any] = {}
        for shown in DocTestParser().get_examples(inspect.getdoc(self.function) or ""):
            nodes = ast.walk(ast.parse(shown.source))
            written = [node for node in nodes if isinstance(node, ast.Assign | ast.Call)]
            for node in sorted(written, key=lambda node: (node.lineno, node.col_offset)):
                if isinstance(node, ast.Call):
                    if ast.unparse(node.func) != self.function_name:
                        continue
                    given = self._example_arguments(node, known)
                    if all(p.name in given for p in self.parameters if p.required):
                        return given
                elif isinstance(node.targets[0], ast.Name):
                    known[node.targets[0].id] = _literal(node.value, known)
        return {}

    def _example_arguments(self, call: ast.Call, known: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if call.args:
            given[self.parameters[0].name] = _literal(call.args[0], known)
        for word in call.keywords:
            value = _literal(word.value, known)
            given |= {word.arg: value} if word.arg else value or {}
        one = {p.name for p in self.parameters if p.kind != "list"}
        return {
            name: value[0] if name in one and isinstance(value, list | tuple) else value
            for name, value in given.items()
            if value is not None
        }

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name, with or without its unit, dashes or underscores.

        Raises
        ------
        DomainError
            If there is none, with the nearest names.
        """
        wanted = name.replace("-", "_")
        exact = [p for p in self.parameters if p.name == wanted]
        found = exact or [p for p in self.parameters if p.short_name == wanted]
        if len(found) == 1:
            return found[0]
        names = [p.name if found else p.short_name for p in self.parameters]
        raise DomainError(f"parameter of {self.name}", repr(name), "one of " + ", ".join(names))

    def label(self, name: str) -> str:
        """Return a parameter's name for people, with its unit only where another has it, too.

        Examples
        --------
        >>> timeline = formula("write_timeline.write_timeline")
        >>> timeline.label("write_bytes"), timeline.label("mss_bytes")
        ('write bytes', 'mss')
        """
        short = self.parameter(name).short_name
        alone = sum(p.short_name == short for p in self.parameters) == 1
        return (short if alone else name).replace("_", " ")

    def arguments(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Read arguments from text; what is missing keeps its default.

        Raises
        ------
        DomainError, UnitError
            If a name is unknown, an argument without a default is missing, or a text is refused.
        """
        given: dict[str, Any] = {}
        for name, text in texts.items():
            parameter = self.parameter(name)
            given[parameter.name] = parameter.read(text)
        return given

    def evaluate(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function with the swept argument first.

        Raises
        ------
        DomainError
            If an argument without a default is missing.
        """
        first, *others = self.parameters
        missing = next((p for p in self.parameters if p.required and p.name not in arguments), None)
        if missing is not None:
            hint = missing.description
            raise DomainError(missing.short_name, "missing", missing.wanted, hint=hint)
        keywords = {p.name: arguments[p.name] for p in others if p.name in arguments}
        if first.name in arguments:
            return self.function(arguments[first.name], **keywords)
        return self.function(**keywords)

    def evaluate_text(self, texts: Mapping[str, str]) -> Any:
        """Read the arguments from text and call the function; a lone number as a float."""
        result = self.evaluate(self.arguments(texts))
        return (
            float(result)
            if isinstance(result, np.floating | np.ndarray) and np.ndim(result) == 0
            else result
        )

    def equation_with(self, arguments: Mapping[str, Any], result: Any = None) -> str:
        r"""Return the equation in LaTeX with the numbers put in, and with the result.

        Symbols of lists and of arrays stay; the numbers of a list follow the equation.

        Examples
        --------
        >>> given = {"payload_bytes": 1e6, "bandwidth_bps": 1.544e6, "latency_s": 0.03}
        >>> print(formula("latency.transfer").equation_with(given, 5.2113))
        t = 30\,\mathrm{ms} + 8 \cdot 1\,\mathrm{MB} / 1.544\,\mathrm{Mbit/s} = 5.211\,\mathrm{s}
        """
        by_value = {
            symbol: dict(part.split(": ", 1) for part in values.split(", "))
            for symbol, _, values in _SYMBOL.findall(self._symbols_text)
            if values
        }
        quantities, lists = {}, []
        for symbol, name in self.symbols.items():
            if name == "result":
                continue
            parameter = self.parameter(name)
            text = _quantity(parameter, arguments.get(name, parameter.default))
            if symbol in by_value:
                text = by_value[symbol].get(text, "")
            if text and parameter.kind == "list":
                lists.append(rf", \quad {symbol} = \text{{{text}}}")
            elif text:
                quantities[symbol] = text
        left, equals, right = _left_side(self.equation)
        if left in self.symbols or "result" in self.symbols.values():
            left, equals, right = "", "", self.equation
        written = left + equals + equations.put_in(right, quantities)
        return written + self._result_text(left, result) + "".join(lists)

    def _result_text(self, left: str, result: Any) -> str:
        if not isinstance(result, int | float | np.generic | np.ndarray) or np.ndim(result):
            return ""
        value = equations.latex(show(result, self.unit))
        solved = next((s for s, name in self.symbols.items() if name == "result"), left)
        if not solved:
            return rf" \quad\Rightarrow\quad {value}"
        if solved == left and r"\quad" not in self.equation:
            return f" = {value}"
        return rf" \quad\Rightarrow\quad {solved} = {value}"

    def equation_text(self, arguments: Mapping[str, Any], result: Any = None) -> str:
        """Return the equation with the numbers put in, as text for a terminal.

        Examples
        --------
        >>> given = {"payload_bytes": 1e6, "bandwidth_bps": 1.544e6, "latency_s": 0.03}
        >>> formula("latency.transfer").equation_text(given, 5.2113)
        't = 30 ms + 8 · 1 MB / 1.544 Mbit/s = 5.211 s'
        """
        return equations.plain(self.equation_with(arguments, result))

    def _section(self, name: str) -> str:
        """Text of a docstring section that is not a list of items."""
        text = inspect.getdoc(self.function) or ""
        found = re.search(rf"^{name}\n-+\n(.*?)(?=^\w+\n---|\Z)", text, re.M | re.S | re.I)
        return found[1] if found else ""


@cache
def formulas() -> dict[str, Formula]:
    """Return every public model by its full name, in the order of the files.

    Examples
    --------
    >>> "latency.transfer_s" in formulas()
    True
    """
    found: dict[str, Formula] = {}
    for subject in models.SUBJECTS:
        found |= subject_formulas(subject)
    return found


@cache
def subject_formulas(subject: str) -> dict[str, Formula]:
    """Return the public models of one file by their full name."""
    module = import_module(f"netcalc.models.{subject}")
    return {
        f"{subject}.{name}": Formula(f"{subject}.{name}", function)
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
    }


def formula(name: str) -> Formula:
    """Return a formula by name: ``transfer``, ``transfer_s`` or ``latency.transfer_s``.

    Raises
    ------
    DomainError
        If no formula has that name, or several do; the nearest are named.
    """
    wanted = name.strip().replace("-", "_")
    subject, dot, _ = wanted.partition(".")
    searched = subject_formulas(subject) if dot and subject in models.SUBJECTS else formulas()
    exact = [f for f in searched.values() if wanted in (f.name, f.function_name)]
    short = [
        f for f in searched.values() if wanted in (f.short_name, f"{f.subject}.{f.short_name}")
    ]
    found = exact or short
    if len(found) == 1:
        return found[0]
    if found:
        raise DomainError("formula", repr(name), "one of " + ", ".join(f.name for f in found))
    known = {f.short_name: f for f in formulas().values()} | formulas()
    close = get_close_matches(wanted, known, n=4, cutoff=0.5)
    hint = f"Did you mean {', '.join(close)}?" if close else "netcalc calc --list shows all"
    raise DomainError("formula", repr(name), "the name of a model", hint=hint)


def command(wanted: Formula) -> str:
    """Return the shortest name that means only this formula, as it is typed.

    Examples
    --------
    >>> command(formula("latency.satellite_rtt_s"))
    'satellite-rtt'
    """
    short = _times_used()
    for name in (wanted.short_name, wanted.function_name):
        if short[name] == 1:
            return name.replace("_", "-")
    return wanted.name.replace("_", "-")


@cache
def _times_used() -> Counter[str]:
    return Counter(n for f in formulas().values() for n in {f.short_name, f.function_name})


def search(words: str) -> list[Formula]:
    """Return the formulas in whose name, summary or parameters all words stand.

    Examples
    --------
    >>> [found.short_name for found in search("satellite")]
    ['satellite_rtt']
    """
    wanted = words.lower().split()
    return [
        f
        for f in formulas().values()
        if all(word in f"{f.name} {f.summary} {_names(f)} {f.source}".lower() for word in wanted)
    ]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A formula over a range of one argument: ``name`` in ``values``, and what comes out.

    ``columns`` has one column ``result``, or those of a formula of several results;
    ``refused`` is why values were left out, empty if none was.
    """

    formula: Formula
    name: str
    values: FloatArray
    columns: Mapping[str, FloatArray]
    refused: str = ""


def sweep(
    wanted: Formula,
    arguments: Mapping[str, Any],
    *,
    over: str,
    values: FloatArray,
    gaps: bool = False,
) -> Sweep:
    """Evaluate a formula for each value of one argument.

    Values between whole numbers are rounded for a formula that takes whole numbers only. With
    ``gaps``, the result is nan where a value is impossible, unless all are.

    Raises
    ------
    DomainError
        If a value is impossible, or the result is not a number.

    Examples
    --------
    >>> counts = sweep(formula("stream_mbufs"), {}, over="payload_bytes", values=[100.2, 199.9])
    >>> counts.values.tolist(), counts.columns["calls"].tolist()
    ([100.0, 200.0], [1.0, 2.0])
    """
    values = _as_taken(wanted, arguments, over, np.asarray(values, dtype=float))
    rows: list[dict[str, float] | None] = []
    refused: list[DomainError] = []
    for value in values.tolist():
        try:
            rows.append(_numbers(wanted, wanted.evaluate({**arguments, over: value})))
        except DomainError as error:
            if not gaps or error.name.startswith("result of"):
                raise
            refused.append(error)
            rows.append(None)
    if len(refused) == len(rows):
        raise refused[0]
    names = next(row for row in rows if row is not None)
    columns = {name: np.array([row[name] if row else np.nan for row in rows]) for name in names}
    return Sweep(wanted, over, values, columns, str(refused[0]) if refused else "")


def _as_taken(
    wanted: Formula, arguments: Mapping[str, Any], over: str, values: FloatArray
) -> FloatArray:
    """Return the values, rounded if the formula takes whole numbers only."""
    for value in values[values != np.round(values)][:1].tolist():
        try:
            wanted.evaluate({**arguments, over: value})
        except DomainError as error:
            if "whole number" in error.allowed or wanted.parameter(over).name.endswith("_count"):
                return np.unique(np.round(values))
    return values


def _numbers(wanted: Formula, result: Any) -> dict[str, float]:
    columns = result._asdict() if hasattr(result, "_asdict") else {"result": result}
    for value in columns.values():
        if np.ndim(value) or not isinstance(value, int | float | np.number | np.bool_ | np.ndarray):
            shown = type(result).__name__
            raise DomainError(f"result of {wanted.name}", shown, "one number, to be swept")
    return {name: float(value) for name, value in columns.items()}


def sweep_range(parameter: Parameter, value: float) -> tuple[float, float, bool]:
    """Return a range of an argument around a value, and whether it is logarithmic.

    Examples
    --------
    >>> sweep_range(formula("transfer").parameter("latency"), 0.03)
    (0.003, 0.3, True)
    >>> sweep_range(formula("mm1_wait").parameter("utilization"), 0.8)
    (0.0, 1.0, False)
    """
    if parameter.unit == "ratio" and value >= 0.05:
        return 0.0, 1.0, False
    if value > 0 and np.isfinite(value):
        low = max(1.0, value / 10) if parameter.unit == "1" and value >= 1 else value / 10
        high = min(value * 10, 1.0) if parameter.unit == "ratio" else value * 10
        return low, float(f"{high:.12g}"), True
    typical = units.example(parameter.unit).rpartition(" such as ")[2]
    return 0.0, parameter.read(typical) if parameter.unit not in ("1", "ratio") else 1.0, False


def column_unit(wanted: Formula, column: str) -> str:
    """Return the unit of a column of a result, by its name.

    Examples
    --------
    >>> column_unit(formula("two_point_costs"), "byte_cost")
    's/byte'
    """
    return next((u for end, u in _COLUMN_UNITS.items() if column.endswith(end)), wanted.unit)


def table(wanted: Formula, result: Any) -> dict[str, list[Any]]:
    """Return a result as columns of one length; what is missing at the end is empty.

    Examples
    --------
    >>> table(formula("fragments"), np.array([1480.0, 20.0]))
    {'fragments_bytes': [1480.0, 20.0]}
    """
    found = result._asdict() if hasattr(result, "_asdict") else {wanted.function_name: result}
    columns = {name: np.ravel(column).tolist() for name, column in found.items()}
    length = max(map(len, columns.values()))
    return {name: column + [""] * (length - len(column)) for name, column in columns.items()}


def show(value: Any, unit: str) -> str:
    """Write a value of a result, or a list of them, as people read it."""
    if np.ndim(value) == 0 and np.asarray(value).dtype.kind == "b":
        return str(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) or np.ndim(value):
        return ", ".join(show(item, unit) for item in value)
    return units.show(float(value), unit)


def result_lines(wanted: Formula, result: Any) -> list[str]:
    """Return a result as people read it: one line, or one for each of its columns."""
    if hasattr(result, "_asdict"):
        return [
            f"{name}: {show(column, column_unit(wanted, name))}"
            for name, column in result._asdict().items()
        ]
    return [show(result, wanted.unit)]


def explained(wanted: Formula, arguments: Mapping[str, Any], result: Any) -> list[tuple[str, str]]:
    """Return the numbers that went into the equation, by name, and last what came out.

    Examples
    --------
    >>> serialization = formula("latency.serialization")
    >>> given = {"wire_bytes": 1538, "bandwidth_bps": 1e9}
    >>> explained(serialization, given, serialization.evaluate(given))
    [('wire_bytes', '1538 B'), ('bandwidth_bps', '1 Gbit/s'), ('serialization_s', '12.3 µs')]
    """
    lines = []
    for parameter in wanted.parameters:
        value = arguments.get(parameter.name, parameter.default)
        origin = "" if parameter.name in arguments else " (default)"
        lines.append((parameter.name, parameter.show(value, digits=6) + origin))
    return [*lines, (wanted.function_name, ", ".join(result_lines(wanted, result)))]


@dataclass(frozen=True, slots=True)
class Solution:
    """The values of one argument, from ``low`` to ``high``, that give the result ``target``."""

    formula: Formula
    parameter: Parameter
    target: float
    low: float
    high: float
    roots: tuple[Root, ...]

    @property
    def lines(self) -> list[str]:
        """Every root as people read it, or that there is none."""
        show = self.parameter.show
        if not self.roots:
            return [f"none in [{show(self.low)}, {show(self.high)}]"]
        return [show(root.value) + self._inexact(root) for root in self.roots]

    def _inexact(self, root: Root) -> str:
        if root.exact:
            return ""
        there = units.show(root.result, self.formula.unit)
        return f" (nearest: the formula steps over it and gives {there})"


def solve_for(
    wanted: Formula, arguments: Mapping[str, Any], *, over: str, result: str, limits: str = ""
) -> Solution:
    """Find the values of one argument that give a result that is written as text.

    Parameters
    ----------
    wanted : Formula
        The formula.
    arguments : mapping of str to object
        The other arguments; one of this argument is not used.
    over : str
        The argument to find.
    result : str
        The result with its unit.
    limits : str
        ``LOW:HIGH``, as in ``1ms:10s``; by default as wide as
        :func:`netcalc.solver.default_range`.

    Raises
    ------
    DomainError, UnitError
        If a text is refused, another argument is missing, or the formula gives no single number.

    Examples
    --------
    >>> line = {"payload_bytes": 1e6, "latency_s": 0.03}
    >>> solve_for(formula("transfer"), line, over="bandwidth", result="1.03 s").lines
    ['8 Mbit/s']
    """
    parameter = wanted.parameter(over)
    low, high = default_range(parameter.name)
    if limits:
        ends = limits.split(":")
        if len(ends) != 2:
            raise DomainError("range of --solve", repr(limits), "LOW:HIGH, as in 1ms:10s")
        low, high = parameter.read(ends[0]), parameter.read(ends[1])
    given = {name: value for name, value in arguments.items() if name != parameter.name}
    for other in wanted.parameters:
        if other.required and other is not parameter and other.name not in given:
            raise DomainError(other.short_name, "missing", other.wanted)
    target = Parameter("result", wanted.unit, "number", None, "").read(result)
    roots = solve(wanted.function, for_=parameter.name, result=target, low=low, high=high, **given)
    return Solution(wanted, parameter, target, low, high, tuple(roots))


def parse_range(text: str, parameter: Parameter) -> FloatArray:
    """Read the values of a sweep: ``1ms:300ms:log50``, ``64B:1518B:10`` or ``64B,128B,256B``.

    Raises
    ------
    UnitError, DomainError
        If an end is no quantity of the parameter's unit, or the number of steps is not from 2 to
        100,000.

    Examples
    --------
    >>> latency = formula("transfer").parameter("latency")
    >>> parse_range("1ms:100ms:log3", latency).round(3).tolist()
    [0.001, 0.01, 0.1]
    """
    parts = text.split(":")
    if len(parts) == 1:
        return np.array([parameter.read(one) for one in _LIST_SEPARATOR.split(text.strip())])
    steps = re.fullmatch(r"(log|lin)?\s*(\d+)", parts[2].strip()) if len(parts) == 3 else None
    if len(parts) > 3 or (len(parts) == 3 and steps is None):
        raise DomainError("sweep", repr(text), "LOW:HIGH:STEPS, as in 1ms:300ms:log50")
    low, high = parameter.read(parts[0]), parameter.read(parts[1])
    count = int(steps[2]) if steps else 50
    if not 2 <= count <= 100_000:
        raise DomainError("steps of the sweep", count, "from 2 to 100000")
    if steps and steps[1] == "log":
        if low <= 0 or high <= 0:
            raise DomainError("ends of the sweep", text, "above 0 for log steps")
        return np.geomspace(low, high, count)
    return np.linspace(low, high, count)


def _names(found: Formula) -> str:
    return " ".join(parameter.name for parameter in found.parameters)


def _parameter(
    name: str, signature: inspect.Parameter, item: docstring_parser.DocstringParam | None
) -> Parameter:
    text = _flat(item.description or "") if item else ""
    kind = item.type_name or "" if item else ""
    unit = _UNIT.search(text)
    choices = _CHOICES.search(kind)
    return Parameter(
        name=name,
        unit=unit[1] if unit else "1",
        kind=(
            "choice" if choices
            else "list" if kind.startswith("1-D")
            else "bool" if kind.startswith("bool") or (unit and unit[1] == "bool")
            else "text" if unit is not None and unit[1] == "text"
            else "number"
        ),
        default=signature.default,
        description=_UNIT.sub("", text).strip(),
        choices=tuple(c.strip(" '\"") for c in choices[1].split(",")) if choices else (),
    )  # fmt: skip


def _literal(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """Return the value of an expression of numbers, text and names; None for any other."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        pass
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.List):
        return [_literal(item, known) for item in node.elts]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        ends = _literal(node.left, known), _literal(node.right, known)
        return None if None in ends else _OPERATORS[type(node.op)](*ends)
    return None


def _quantity(parameter: Parameter, value: Any) -> str:
    """Write a number as it stands in an equation: a ratio is no percentage there."""
    if value is None or value is inspect.Parameter.empty:
        return ""
    if parameter.kind == "bool":
        return "yes" if value else "no"
    if parameter.kind in ("choice", "text"):
        return str(value)
    if parameter.kind == "list":
        return ", ".join(parameter.show(item, digits=6) for item in np.ravel(value))
    if np.ndim(value):
        return ""
    if parameter.unit == "ratio":
        return f"{float(value):.6g}"
    return parameter.show(value, digits=6)


def _left_side(equation: str) -> tuple[str, str, str]:
    """Split an equation at its first sign of equality, if what is before it is one quantity."""
    found = re.match(r"([^=]*?)(\s*(?:=|\\approx)\s*)(.*)", equation)
    if found is None or found[1].count("{") != found[1].count("}") or r"\lor" in found[1]:
        return "", "", equation
    return found[1], found[2], found[3]


def _flat(text: str) -> str:
    """Text on one line, without the marks of reStructuredText."""
    bare = re.sub(r":\w+:`~?([^`<]+)(?:<[^`]*>)?`", r"\1", text)
    return " ".join(bare.replace("``", "").replace(r"\ ", "").split())
