"""Every public model as a formula: what its docstring says, how it is called, listed and found."""

from __future__ import annotations

import ast
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from netcalc import equations, models, units
from netcalc.calculator import names
from netcalc.calculator.names import PROPER_NAMES, SUFFIX, TITLES
from netcalc.calculator.parameter import (
    UNIT,
    Docstring,
    Parameter,
    documented_parameter,
    flat,
    parse_docstring,
    show,
)
from netcalc.checks import LARGEST, FloatArray, derived_quantities, published_ranges
from netcalc.errors import DomainError, DoubtWarning, NetcalcError, UnitError, doubts
from netcalc.language import ENGLISH, current, phrase
from netcalc.messages import Notice

if TYPE_CHECKING:
    from netcalc.calculator.searching import Matches

_IN_ITS_UNIT = ("value", "limit", "low", "high")
"""Values of a doubt that are in the unit of the argument it names."""
_UNITS = {
    "s": "s", "bps": "bit/s", "pps": "packet/s", "bytes": "byte", "bits": "bit", "ratio": "ratio",
    "m": "m", "m_s": "m/s",
}  # fmt: skip


def doubt_notice(doubt: DoubtWarning, unit: str = "") -> Notice:
    """Return a doubt with its argument's short name, and its values in their unit.

    ``unit`` is that of the argument; by default the one that its name ends with.

    Examples
    --------
    >>> from netcalc.errors import DoubtWarning
    >>> doubt = DoubtWarning("beyond-published-range", name="loss_ratio", value=0.3, limit=0.01)
    >>> doubt_notice(doubt).values
    {'name': 'loss', 'value': '30%', 'limit': '1%'}
    """
    values = dict(doubt.values)
    name = str(values.get("name", ""))
    suffix = SUFFIX.search(name)
    if not unit:
        unit = _UNITS[suffix[1]] if suffix else "1"
    if name:
        short = SUFFIX.sub("", name).replace("_", " ")
        values["name"] = "the result" if name == "result" else short
    if "formula" in values:
        values["formula"] = SUFFIX.sub("", str(values["formula"])).replace("_", "-")
    for key in _IN_ITS_UNIT:
        if isinstance(values.get(key), int | float):
            values[key] = units.show(values[key], unit)
    return Notice(doubt.code, values)


_OF_ONE_PACKET = ("packet_bytes", "frame_bytes", "wire_bytes", "captured_bytes", "mss_bytes")
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
        first, *others = self.parameters
        taken = [first.name, *(["*"] if others else [])]
        required = [parameter.name for parameter in others if parameter.required]
        taken += required + (["..."] if len(required) < len(others) else [])
        call = f"{self.function_name}({', '.join(taken)})"
        return f"{command(self)}: {self.title}; {call}"

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
    def _doc(self) -> Docstring:
        return parse_docstring(self.function.__doc__ or "")

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
        match = re.search(r"\.\. math::\s*(.+?)(?:\n\s*\n|$)", text, re.DOTALL)
        return " ".join(match[1].split()) if match else ""

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
        units_by_name = {p.name: p.unit for p in self.parameters} | {"result": self.unit}
        notice = doubt_notice(doubt, units_by_name.get(str(name), ""))
        words = derived_quantities(self.function).get(str(name))
        if words is None or name in units_by_name:
            return notice
        return Notice(notice.code, {**notice.values, "name": f"{notice.values['name']} ({words})"})

    def _why_no_number(self, result: Any) -> str:
        """Return the rules of the docstring by which a result, or a part of it, is inf or nan."""
        columns = result if isinstance(result, tuple) else (result,)
        notices: dict[str, None] = {}
        for column, item in zip(columns, self._doc.items("Returns"), strict=False):
            if not isinstance(column, float | np.ndarray) or np.asarray(column).dtype.kind != "f":
                continue
            returns = UNIT.sub("", flat(item.description))
            values = np.ravel(column)
            for value in dict.fromkeys(map(str, values[~np.isfinite(values)].tolist())):
                if rule := rule_for(value, returns):
                    notices[f"{Notice('formula-gives', {'rule': rule})}."] = None
                elif value != "nan":
                    notices[f"{Notice('result-too-large', {'high': LARGEST})}."] = None
        return " ".join(notices)

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
    def rules(self) -> dict[str, str]:
        """By which rules the result is no number, each by what it is then.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("hop-bandwidth").rules
        {'inf': 'inf if both are equal', 'nan': 'nan if the slope falls, which is noise'}
        """
        found = {value: rule_for(value, self.returns) for value in ("inf", "-inf", "nan")}
        return {value: rule for value, rule in found.items() if rule}

    @property
    def unit(self) -> str:
        """Unit of the result; empty for a result of several columns."""
        match = UNIT.search(self._result)
        return match[1] if match else ""

    @property
    def layer(self) -> str:
        """Layer of a rate that is the result, as in :mod:`netcalc.rate_layers`."""
        match = UNIT.search(self._result)
        return (match[2] or "") if match else ""

    @property
    def said_defaults(self) -> dict[str, str]:
        """The arguments whose defaults an answer names, as others may expect another one.

        Each with the words in brackets behind it, for a default that is no number.

        Examples
        --------
        >>> from netcalc.calculator import formula
        >>> formula("timers.rto_s").said_defaults
        {'min_rto_s': '', 'floor': ''}
        """
        statement = re.search(r"^Defaults: (.+?)\.$", self._section("notes"), re.M | re.S)
        clauses = re.findall(r"(\w+)(?: \(([^()]+)\))?(?:,|$)", statement[1] if statement else "")
        return {name: " ".join(words.split()) for name, words in clauses}

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments, the swept one first."""
        documented = {
            name.strip(): item
            for item in self._doc.items("Parameters")
            for name in item.names.split(",")
        }
        return tuple(
            documented_parameter(name, signature, documented.get(name))
            for name, signature in inspect.signature(self.function).parameters.items()
        )

    @cached_property
    def example(self) -> dict[str, Any]:
        """Arguments of a call in its docstring's examples; of several values, the first."""
        from doctest import DocTestParser  # late: most answers come without an example

        assigned: dict[str, Any] = {}
        for shown in DocTestParser().get_examples(inspect.getdoc(self.function) or ""):
            nodes = ast.walk(ast.parse(shown.source))
            written = [node for node in nodes if isinstance(node, ast.Assign | ast.Call)]
            for node in sorted(written, key=lambda node: (node.lineno, node.col_offset)):
                if isinstance(node, ast.Call):
                    if ast.unparse(node.func) != self.function_name:
                        continue
                    arguments = self._example_arguments(node, assigned)
                    if all(p.name in arguments for p in self.parameters if p.required):
                        return arguments
                elif isinstance(node.targets[0], ast.Name):
                    assigned[node.targets[0].id] = _literal(node.value, assigned)
        return {}

    def _example_arguments(self, call: ast.Call, assigned: Mapping[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        if call.args:
            arguments[self.parameters[0].name] = _literal(call.args[0], assigned)
        for word in call.keywords:
            value = _literal(word.value, assigned)
            arguments |= {word.arg: value} if word.arg else value or {}
        single_valued = {p.name for p in self.parameters if p.kind != "list"}
        return {
            name: value[0] if name in single_valued and isinstance(value, list | tuple) else value
            for name, value in arguments.items()
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
        spoken = name.replace("-", "_")
        exact = [p for p in self.parameters if p.name == spoken]
        matches = exact or [p for p in self.parameters if p.short_name == spoken]
        if len(matches) == 1:
            return matches[0]
        meant = [] if matches else self.called(spoken)
        if len(meant) == 1:
            return meant[0]
        choices = meant or self.parameters
        names = [p.name if matches else p.short_name for p in choices]
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
        meanings = names.ARGUMENT_ALIASES.get(spoken, ())
        meant = [p for p in self.parameters if p.short_name in meanings]
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
        arguments: dict[str, Any] = {}
        codecs: dict[str, float] = {}
        for name, text in texts.items():
            parameter = self.parameter(name)
            rate_bps = self.voice_bps(parameter, text)
            if rate_bps is not None:
                codecs[parameter.name] = rate_bps
            else:
                arguments[parameter.name] = parameter.read(text)
        for name, rate_bps in codecs.items():  # the voice of one packet
            interval_s = arguments.get("interval_s", self.parameter("interval_s").default)
            arguments[name] = rate_bps * interval_s / 8
        return arguments

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
        rate_bps = names.codec_bps(text)
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
        with doubts() as doubtful:
            result = self.evaluate(arguments)
        return result, [*doubtful, *self._means(arguments)]

    def _means(self, arguments: Mapping[str, Any]) -> Iterator[DoubtWarning]:
        """Yield what is to be said of a size of one packet that is not whole."""
        for name in arguments:
            if name.endswith(_OF_ONE_PACKET):
                sizes = np.ravel(np.asarray(arguments[name], dtype=np.float64))
                parts = sizes[np.isfinite(sizes) & (sizes != np.floor(sizes))]
                if parts.size:
                    yield DoubtWarning("size-as-mean", name=name, value=float(parts[0]))

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
        written = left + equals + equations.substitute(right, quantities, others=self.symbols)
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


_CLAUSE = r"""(?: (?!,\ (?:-?inf|nan)\b) (?:
    [^;.()]
    | \([^()]*\)
    | \.(?=\S)  # 802.11, RFC 9.1
    | (?<=\b(?:e\.g|i\.e|Fig|etc))\. | (?<=\b(?:al|cf|ca|vs|Eq|No))\.
) )*"""


def rule_for(value: str, returns: str) -> str:
    """Return by which rule a result is ``inf``, ``-inf`` or ``nan``, of the words about it.

    A rule ends with a semicolon, its sentence, or before the next; of several the last counts.

    Examples
    --------
    >>> rule_for("nan", "Rate; nan where 802.11ac has none, inf at a load of 0. Of both ways.")
    'nan where 802.11ac has none'
    """
    value = rf"(?<![\w-]){value}\b"
    match = re.search(rf"{value}(?!{_CLAUSE}{value}){_CLAUSE}", returns, re.VERBOSE)
    return match[0].strip() if match else ""


def flag(formula: Formula, word: str) -> tuple[str, str] | None:
    """Return the argument and the value that an option without a value means: ``ipv6``.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> flag(formula("tcp-payload"), "ipv6"), flag(formula("bdp"), "ipv6")
    (('ip_version', '6'), None)
    """
    pair = names.FLAG_ALIASES.get(word.lower())
    return pair if pair and any(p.name == pair[0] for p in formula.parameters) else None


def _literal(node: ast.expr, assigned: Mapping[str, Any]) -> Any:
    """Return the value of an expression of numbers, text and names; None for any other."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        pass
    if isinstance(node, ast.Name):
        return assigned.get(node.id)
    if isinstance(node, ast.List):
        return [_literal(item, assigned) for item in node.elts]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        ends = _literal(node.left, assigned), _literal(node.right, assigned)
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
    match = re.match(r"([^=]*?)(\s*(?:=|\\approx)\s*)(.*)", equation)
    if match is None or match[1].count("{") != match[1].count("}") or r"\lor" in match[1]:
        return "", "", equation
    return match[1], match[2], match[3]


FORMER_NAMES = {
    "balance": "half_rate",
    "balance_bytes": "half_rate_bytes",
    "mm1_state": "mm1_state_probability",
    "mm1_state_ratio": "mm1_state_probability",
}
"""Former names of formulas, with and without their unit: what people typed keeps working."""


class Formulas(list[Formula]):
    """Formulas, one a line where they are printed."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "[]"


@cache
def formulas() -> dict[str, Formula]:
    """Return every public model by its full name, in the order of the chapters.

    Examples
    --------
    >>> "latency.transfer_s" in formulas()
    True
    """
    by_name: dict[str, Formula] = {}
    for subject in models.SUBJECTS:
        by_name |= subject_formulas(subject)
    return by_name


@cache
def subject_formulas(subject: str) -> dict[str, Formula]:
    """Return the public models of one file by their full name.

    Raises
    ------
    NetcalcError
        If there are no docstrings, from which formulas are made: ``python -OO`` removes them.
    """
    if sys.flags.optimize > 1:
        raise NetcalcError("docstrings-removed")
    subject = models.FORMER_SUBJECTS.get(subject, subject)
    module = models.subject_module(subject)
    return {
        f"{subject}.{name}": Formula(f"{subject}.{name}", getattr(module, name))
        for name in names.public_names(module)
    }


def formula(name: str) -> Formula:
    """Return a formula by name: ``transfer``, ``transfer_s`` or ``latency.transfer_s``.

    Former names are understood, too, and what people call a formula (``mathis``, ``pps``).

    Raises
    ------
    DomainError
        If no formula has that name, or several do; the nearest are named.
    """
    present = _present_name(re.sub(r"[-\s]+", "_", name.strip()))
    exact, short = names.exact(), names.short()
    matches = exact.get(present) or short.get(present) or []
    if not matches:
        matches = exact.get(present.lower()) or short.get(present.lower()) or []
    if len(matches) != 1 and (called := names.called(present)):
        matches = exact.get(called) or short.get(called) or []
    if len(matches) == 1:
        return subject_formulas(matches[0].partition(".")[0])[matches[0]]
    if matches:
        choices = [command(formula(match)) for match in matches]
        raise DomainError("formula-ambiguous", "formula", name, choices=choices)
    raise DomainError("formula-unknown", "formula", name, suggestions=_near(name, present))


def _near(name: str, present: str) -> list[str]:
    """Return the commands that an unknown name may mean: those alike, and those that answer it."""
    from difflib import get_close_matches  # late: most names are known

    by_short_name = {f.short_name: f for f in formulas().values()}
    close = get_close_matches(present, by_short_name, n=3, cutoff=0.7)
    close += [command(f) for f in search(name.replace("-", " "))[: 4 - len(close)]]
    close = close or get_close_matches(present, by_short_name, n=4, cutoff=0.5)
    return list(dict.fromkeys(suggestion.replace("_", "-") for suggestion in close))


def _present_name(name: str) -> str:
    """Return a name with its subject and its formula as they are called now."""
    subject, dot, short = name.rpartition(".")
    return models.FORMER_SUBJECTS.get(subject, subject) + dot + FORMER_NAMES.get(short, short)


def command(formula: Formula) -> str:
    """Return the shortest name that means only this formula, as it is typed.

    Examples
    --------
    >>> command(formula("latency.satellite_rtt_s"))
    'satellite-rtt'
    """
    used = names.times_used()
    for name in (formula.short_name, formula.function_name):
        if used[name] == 1:
            return name.replace("_", "-")
    return formula.name.replace("_", "-")


def search(words: str) -> list[Formula]:
    """Return the formulas that answer a question, the best first; without words, all of them.

    All begin with those that most questions need, as :func:`listed` has them.

    Parameters
    ----------
    words : str
        A few words as people use them: ``"vpn overhead"``, ``"packets per second"``.

    Returns
    -------
    list of Formula
        Each with ``name``, ``summary``, ``parameters`` and ``function``; it is called as that.

    Examples
    --------
    >>> search("speed of light")
    propagation: One-way propagation delay over a distance; propagation_s(distance_m, *, ...)
    signal-speed: Speed of light in a fibre; signal_speed_m_s(refractive_index)
    >>> search("bandwidth delay")[0](0.1, bandwidth_bps=1e9)
    12500000.0
    >>> [command(found) for found in search("satellite")][:1]
    ['satellite-rtt']
    >>> command(search("fiber latency")[0])
    'propagation'
    """
    return Formulas(matches(words).formulas)


def matches(words: str) -> Matches[Formula]:
    """Return what a search found: formulas, what the words mean, or what is nearest.

    Parameters
    ----------
    words : str
        A few words as people use them.

    Returns
    -------
    Matches
        ``formulas`` as :func:`search` has them; ``terms``, words that no formula is named by, each
        with what it is; and if no formula answers, the ``nearest`` ones, the ``topic`` if it is
        known, and the words that are ``unknown``.

    Examples
    --------
    >>> matches("txqueuelen").formulas[0].short_name
    'drain'
    >>> nothing = matches("subnet mask")
    >>> nothing.formulas, nothing.topic.partition(":")[0]
    ([], 'plans of addresses')
    """
    from netcalc.calculator import searching  # late: most formulas are asked for by name

    if not words.strip():
        every = dict.fromkeys(member for _, _, members in listed() for member in members)
        return searching.Matches(list(every))
    return searching.matches(words, formulas().values())


def datasets(words: str) -> list[str]:
    """Return the bundled tables that answer a question beside formulas.

    Examples
    --------
    >>> datasets("5G latency"), datasets("vxlan")
    (['access_latencies'], [])
    """
    from netcalc.calculator import searching  # late: most answers come without a search

    return searching.datasets(words)


def search_tables() -> dict[str, Any]:
    """Return the words of the search, and those of each formula, for a page with the same search.

    Examples
    --------
    >>> "tcp_rmem" in [term["spelling"] for term in search_tables()["terms"]]
    True
    """
    from netcalc.calculator import searching  # late, as above

    return searching.tables(formulas().values())


def listed() -> list[tuple[str, str, list[Formula]]]:
    """Return the catalogue in parts: chapter, subject and formulas, those most needed first.

    The first part has no subject; its formulas are in their chapters, too.

    Examples
    --------
    >>> title, _, found = listed()[0]
    >>> title, len(found), command(found[0])
    ('most needed', 15, 'transfer-time')
    """
    from netcalc.calculator import vocabulary  # late, as the search

    parts = [("most needed", "", [formula(name) for name in vocabulary.MOST_NEEDED])]
    for chapter, subjects in models.CHAPTERS.items():
        parts += [
            (chapter, subject, list(subject_formulas(subject).values())) for subject in subjects
        ]
    return parts
