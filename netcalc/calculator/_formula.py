"""A public model function, with what its docstring says: equation, symbols, range, example."""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from netcalc import equations, units
from netcalc.calculator import _docstring, _names
from netcalc.calculator._doubts import doubt_notice
from netcalc.calculator._parameter import SUFFIX, UNIT, Parameter, documented_parameter, flat, show
from netcalc.calculator._titles import PROPER_NAMES, TITLES
from netcalc.checks import FloatArray, derived_quantities, published_ranges
from netcalc.errors import DomainError, DoubtWarning, UnitError, doubts
from netcalc.language import ENGLISH, current, phrase
from netcalc.messages import Notice

_SYMBOL = re.compile(r":math:`([^`]+)` (\w+)(?: \(([^()]*: [^()]*)\))?")
_RATE = re.compile(r"\d\s*\w*(?:bps|/s)", re.IGNORECASE)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True, repr=False)
class Formula:
    """A public model function, with what its docstring says; a call is one of the function.

    Parameters
    ----------
    name : str
        Full name: ``latency.transfer_s``.
    function : callable
        The function.
    """

    name: str
    function: Callable[..., Any]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function gives for the same arguments.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("bdp")(0.1, bandwidth_bps=1e9)
        12500000.0
        """
        return self.function(*arguments, **named)

    def __repr__(self) -> str:
        """Write its name in a terminal, what it gives, and the call with its required arguments."""
        from netcalc.calculator import _catalogue  # late: it imports this

        first, *others = self.parameters
        taken = [first.name, *(["*"] if others else [])]
        required = [parameter.name for parameter in others if parameter.required]
        taken += required + (["..."] if len(required) < len(others) else [])
        call = f"{self.function_name}({', '.join(taken)})"
        return f"{_catalogue.command(self)}: {self.title}; {call}"

    @property
    def subject(self) -> str:
        """File of the models that defines it."""
        return self.name.partition(".")[0]

    @property
    def function_name(self) -> str:
        """Name of the function, with its unit."""
        return self.name.partition(".")[2]

    @property
    def short_name(self) -> str:
        """Name of the function, without its unit."""
        return SUFFIX.sub("", self.function_name)

    @cached_property
    def _doc(self) -> _docstring.Docstring:
        return _docstring.parsed(self.function.__doc__ or "")

    @property
    def summary(self) -> str:
        """First sentence of its docstring."""
        return flat(self._doc.summary)

    @property
    def title(self) -> str:
        """What it computes, in a few words.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("mm1-wait").title
        'Mean wait, M/M/1'
        """
        return TITLES.get(self.name) or self.summary.rstrip(".")

    @property
    def short_title(self) -> str:
        """Its title up to the first comma or bracket, in the reader's language: for an axis.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("mm1-wait").short_title, formula("jain-index").short_title
        ('mean wait', "Jain's fairness index")
        """
        what = re.split(r", | \(|: ", phrase(self.title))[0]
        is_name = what.partition(" ")[0] in PROPER_NAMES or what[1:2].isupper()
        if is_name or current() != ENGLISH:  # in German nouns are capitalized
            return what
        return what[:1].lower() + what[1:]

    @property
    def equation(self) -> str:
        """The equation, in LaTeX."""
        text = self._doc.description
        found = re.search(r"\.\. math::\s*(.+?)(?:\n\s*\n|$)", text, re.DOTALL)
        return " ".join(found[1].split()) if found else ""

    @cached_property
    def symbols(self) -> dict[str, str]:
        """The equation's symbols, each with its parameter, or ``result``.

        Examples
        --------
        >>> from netcalc.calculator import formula
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
        return flat(re.split(r"Range: |Symbols: ", self._section("notes"))[0])

    @property
    def published_ranges(self) -> Mapping[str, tuple[float, float]] | None:
        """Where it was published or derived to hold; None where its docstring does not say.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("mathis-throughput").published_ranges
        {'loss_ratio': (-inf, 0.01)}
        """
        return published_ranges(self.function)

    def doubt(self, result: Any, doubts: Sequence[DoubtWarning] = ()) -> str:
        """Say why the result is not a number, or why a number is doubtful; empty if neither is so.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> mathis = formula("mathis-throughput")
        >>> given = {"mss_bytes": 1460.0, "rtt_s": 0.1}
        >>> print(mathis.doubt(*mathis.answer({"loss_ratio": 0.3, **given})))
        loss is 30%, beyond the published range of the formula (up to 1%): treat it as a guess.
        >>> print(mathis.doubt(*mathis.answer({"loss_ratio": 0.0, **given})))
        the formula gives inf (not loss limited) at a loss of 0, 0 at a loss of 1.
        """
        sentences = [self._why_no_number(result)]
        sentences += [f"{self._as_typed(doubt)}." for doubt in doubts]
        return " ".join(filter(None, sentences))

    def _as_typed(self, doubt: DoubtWarning) -> Notice:
        """Return a doubt with the names and units that people type."""
        name = doubt.values.get("name")
        known = {p.name: p.unit for p in self.parameters} | {"result": self.unit}
        found = doubt_notice(doubt, known.get(str(name), ""))
        words = derived_quantities(self.function).get(str(name))
        if words is None or name in known:
            return found
        return Notice(found.code, {**found.values, "name": f"{found.values['name']} ({words})"})

    def _why_no_number(self, result: Any) -> str:
        """Return the rule of the docstring by which a lone result is inf or nan."""
        if not isinstance(result, float | np.ndarray) or np.size(result) != 1:
            return ""
        value = float(np.reshape(result, ()))
        if np.isfinite(value):
            return ""
        # inf, or nan; "inf where ...; nan where ..." are two rules.
        found = re.search(rf"\b{abs(value)}\b(?![^;.]*\b{abs(value)}\b)[^;.]*", self.returns)
        return f"{Notice('formula-gives', {'rule': found[0].strip()})}." if found else ""

    @property
    def source(self) -> str:
        """Where it is from."""
        return flat(self._section("references"))

    @property
    def _result(self) -> str:
        """What its docstring says of the result, with the unit."""
        items = self._doc.items("Returns")
        return flat(items[0].description) if items else ""

    @property
    def returns(self) -> str:
        """What it returns."""
        return UNIT.sub("", self._result)

    @property
    def unit(self) -> str:
        """Unit of the result; empty for a result of several columns."""
        found = UNIT.search(self._result)
        return found[1] if found else ""

    @property
    def layer(self) -> str:
        """Layer of a rate that is the result, as in :mod:`netcalc.rate_layers`."""
        found = UNIT.search(self._result)
        return (found[2] or "") if found else ""

    @property
    def said_defaults(self) -> tuple[str, ...]:
        """The arguments whose defaults an answer names, as others may expect another one."""
        found = re.search(r"^Defaults: ([\w, ]+)\.$", self._section("notes"), re.M)
        return tuple(found[1].split(", ")) if found else ()

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments, the swept one first."""
        documented = {
            name.strip(): item
            for item in self._doc.items("Parameters")
            for name in item.names.split(",")
        }
        return tuple(
            documented_parameter(name, found, documented.get(name))
            for name, found in inspect.signature(self.function).parameters.items()
        )

    @cached_property
    def example(self) -> dict[str, Any]:
        """Arguments of a call in its docstring's examples; of several values, the first."""
        from doctest import DocTestParser  # late: most answers come without an example

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

        What people call it is understood, too (``bw``, ``rho``), where only one is meant.

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
        meant = [] if found else self.called(wanted)
        if len(meant) == 1:
            return meant[0]
        choices = meant or self.parameters
        names = [p.name if found else p.short_name for p in choices]
        raise DomainError("not-a-choice", f"parameter of {self.name}", name, choices=names)

    def called(self, word: str) -> list[Parameter]:
        """Return the parameters that people may mean by a word: of several, those required.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> [one.name for one in formula("transfer").called("bw")]
        ['bandwidth_bps']
        """
        spoken = word.lower().replace("-", "_")
        known = _names.ARGUMENT_ALIASES.get(spoken, ())
        meant = [p for p in self.parameters if p.short_name in known]
        if spoken == "mss" and self.layer != "layer of packet_bytes":
            meant = [p for p in meant if p.name != "packet_bytes"]  # there it has its headers
        required = [p for p in meant if p.required]
        return required if len(meant) > 1 and required else meant

    def label(self, name: str) -> str:
        """Return a parameter's name for people, with its unit only where another has it, too.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> timeline = formula("write_timeline.write_timeline")
        >>> timeline.label("write_bytes"), timeline.label("mss_bytes")
        ('write bytes', 'mss')
        """
        short = self.parameter(name).short_name
        alone = sum(p.short_name == short for p in self.parameters) == 1
        return (short if alone else name).replace("_", " ")

    def option(self, name: str) -> str:
        """Return a parameter's name as an option has it: ``flow-count``."""
        return self.label(name).replace(" ", "-")

    def arguments(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Read arguments from text; missing ones keep their defaults.

        Raises
        ------
        DomainError, UnitError
            If a name is unknown, an argument without a default is missing, or a text is refused.
        """
        given: dict[str, Any] = {}
        codecs: dict[str, float] = {}
        for name, text in texts.items():
            parameter = self.parameter(name)
            rate_bps = self.voice_bps(parameter, text)
            if rate_bps is not None:
                codecs[parameter.name] = rate_bps
            else:
                given[parameter.name] = parameter.read(text)
        for name, rate_bps in codecs.items():  # the voice of one packet
            interval_s = given.get("interval_s", self.parameter("interval_s").default)
            given[name] = rate_bps * interval_s / 8
        return given

    def voice_bps(self, parameter: Parameter, text: str) -> float | None:
        """Return the rate of a codec, by name or as a rate, where the voice of a packet is asked.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> voip = formula("voip-bandwidth")
        >>> [voip.voice_bps(voip.parameter("payload"), one) for one in ("G.729", "8 kbps", "20 B")]
        [8000.0, 8000.0, None]
        """
        of_voice = any(p.name == "interval_s" for p in self.parameters)
        if parameter.name != "payload_bytes" or not of_voice:
            return None
        rate_bps = _names.codec_bps(text)
        if rate_bps is None and _RATE.search(text):
            try:
                rate_bps = units.parse_typed(text, "bit/s", field=parameter.short_name)
            except UnitError:
                return None
        return rate_bps

    def answer(self, arguments: Mapping[str, Any]) -> tuple[Any, list[DoubtWarning]]:
        """Call the function, and return its result with what makes that doubtful.

        Raises
        ------
        DomainError
            If an argument without a default is missing.
        """
        with doubts() as found:
            result = self.evaluate(arguments)
        return result, found

    def arguments_of(self, name: str, texts: Sequence[str]) -> FloatArray:
        """Read several values of one argument.

        Raises
        ------
        DomainError, UnitError
            If a text is refused.
        """
        return np.array([self.arguments({name: text})[self.parameter(name).name] for text in texts])

    def evaluate(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function with the swept argument first; it warns, as the function does.

        Raises
        ------
        DomainError
            If an argument without a default is missing.
        """
        first, *others = self.parameters
        missing = next((p for p in self.parameters if p.required and p.name not in arguments), None)
        if missing is not None:
            raise missing.required_error()
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
        >>> from netcalc.calculator import formula
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
        written = left + equals + equations.substitute(right, quantities)
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
        >>> from netcalc.calculator import formula
        >>> given = {"payload_bytes": 1e6, "bandwidth_bps": 1.544e6, "latency_s": 0.03}
        >>> formula("latency.transfer").equation_text(given, 5.2113)
        't = 30 ms + 8 · 1 MB / 1.544 Mbit/s = 5.211 s'
        """
        return equations.plain(self.equation_with(arguments, result))

    def _section(self, name: str) -> str:
        """Text of a docstring section that is not a list of items."""
        return self._doc.sections.get(name.title(), "")


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
    """Write a number for an equation: there a ratio is not a percentage."""
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
    """Split an equation at its first sign of equality, if one quantity is before it."""
    found = re.match(r"([^=]*?)(\s*(?:=|\\approx)\s*)(.*)", equation)
    if found is None or found[1].count("{") != found[1].count("}") or r"\lor" in found[1]:
        return "", "", equation
    return found[1], found[2], found[3]
