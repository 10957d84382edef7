"""Every public model as a formula that can be listed, evaluated from text, swept and solved.

A formula is made from the function itself: its name, its signature, its docstring. A new model
appears here by existing.

>>> formula("transfer").evaluate_text({"payload": "1 MB", "bandwidth": "T1", "latency": "30 ms"})
5.211347150259067
>>> formula("transfer").parameters[1].unit
'bit/s'
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import docstring_parser
import numpy as np

from netcalc import models, units
from netcalc.errors import DomainError, UnitError
from netcalc.models._domain import FloatArray

_UNIT = re.compile(r"\[([^\[\]]+)\]\s*$")
_SUFFIX = re.compile(r"_(s|bps|pps|bytes|bits|ratio|m|m_s)$")
_CHOICES = re.compile(r"\{(.+)\}")
_LIST_SEPARATOR = re.compile(r"\s*(?:;|,(?!\d)|(?<!\d),)\s*")


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

    def read(self, text: str) -> Any:
        """Turn what a person typed into the argument.

        Raises
        ------
        UnitError, DomainError
            If the text is no quantity of this unit, or no allowed choice.
        """
        if self.kind == "bool":
            known = {
                "yes": True,
                "true": True,
                "on": True,
                "no": False,
                "false": False,
                "off": False,
            }
            if text.strip().lower() not in known:
                raise DomainError(self.name, repr(text), "yes or no")
            return known[text.strip().lower()]
        if self.kind == "text":
            return text
        if self.kind == "choice":
            if text not in self.choices:
                raise DomainError(self.name, repr(text), "one of " + ", ".join(self.choices))
            return text
        if self.kind == "list":
            return [self._number(part) for part in _LIST_SEPARATOR.split(text.strip())]
        return self._number(text)

    def show(self, value: Any) -> str:
        """Write a value of this parameter as people read it."""
        if isinstance(value, str | bool) or value is None:
            return str(value)
        if np.ndim(value):
            return ", ".join(self.show(item) for item in np.ravel(value))
        return units.show(float(value), self.unit)

    def _number(self, text: str) -> float:
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
        return self._doc.short_description or ""

    @property
    def equation(self) -> str:
        """The equation, in LaTeX."""
        text = self._doc.long_description or ""
        found = re.search(r"\.\. math::\s*(.+?)(?:\n\s*\n|$)", text, re.DOTALL)
        return " ".join(found[1].split()) if found else ""

    @property
    def validity(self) -> str:
        """Where it holds."""
        return _flat(self._section("notes"))

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
            wanted = ", ".join(missing.choices) or units.example(missing.unit)
            raise DomainError(missing.short_name, "missing", wanted, hint=missing.description)
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

    ``columns`` has one result column, or several for a formula of several results.
    """

    formula: Formula
    name: str
    values: FloatArray
    columns: Mapping[str, FloatArray]


def sweep(wanted: Formula, arguments: Mapping[str, Any], *, over: str, values: FloatArray) -> Sweep:
    """Evaluate a formula for each value of one argument.

    Raises
    ------
    DomainError
        If a value is impossible, or the result is not a number.
    """
    results = [wanted.evaluate({**arguments, over: value}) for value in values.tolist()]
    for result in results:
        if np.ndim(result) or not isinstance(result, int | float | np.number | np.ndarray):
            shown = type(result).__name__
            raise DomainError(f"result of {wanted.name}", shown, "one number, to be swept")
    return Sweep(wanted, over, values, {"result": np.array(results, dtype=float)})


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
            else "bool" if kind.startswith("bool")
            else "list" if kind.startswith("1-D")
            else "text" if unit is not None and unit[1] == "text"
            else "number"
        ),
        default=signature.default,
        description=_UNIT.sub("", text).strip(),
        choices=tuple(c.strip(" '\"") for c in choices[1].split(",")) if choices else (),
    )  # fmt: skip


def _flat(text: str) -> str:
    """Text on one line, without the marks of reStructuredText."""
    bare = re.sub(r":\w+:`~?([^`<]+)(?:<[^`]*>)?`", r"\1", text)
    return " ".join(bare.replace("``", "").replace(r"\ ", "").split())
