"""The right call: other formulas that take what a formula was given in vain, typed anew."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from netcalc import calculator, units
from netcalc.calculator import Formula, Parameter
from netcalc.cli import formulas
from netcalc.errors import NetcalcError, UnitError, doubts

_MOST = 2
_MOST_MISSING = 1
_TARGETS = frozenset({"in", "within", "deadline"})
"""Options for the result that is wanted, which --solve and --for take."""
_SAME = frozenset({("latency_s", "rtt_s")})
"""Arguments of two formulas that one value without a name may be."""


class _Call(NamedTuple):
    """A formula, the arguments it is called with, and those it would need besides."""

    formula: Formula
    texts: Mapping[str, str]
    missing: Sequence[Parameter]
    ending: str = ""

    @property
    def typed(self) -> str:
        words = [f"netcalc calc {calculator.command(self.formula)}"]
        for index, parameter in enumerate(self.formula.parameters):
            option = f"--{self.formula.option(parameter.name)}"
            if parameter in self.missing:
                words.append(f"{option} {parameter.short_name.upper()}")
            elif (text := self.texts.get(parameter.name)) is not None:
                words.append(_quoted(text) if index == 0 else f"{option} {_quoted(text)}")
        return " ".join(words) + self.ending


def right_calls(formula: Formula, words: Sequence[str], options: Mapping[str, str]) -> list[str]:
    """Return calls of other formulas of the same kind of result that take all that was typed.

    Parameters
    ----------
    formula : Formula
        The formula that does not take it.
    words : sequence of str
        Values without a name.
    options : mapping
        Values by the options before them, without dashes.

    Returns
    -------
    list of str
        The best first. What a formula needs besides is in capitals; with all there, it answers.
    """
    if not formula.unit or not (words or options):
        return []
    if solved := _solved(formula, words, options):
        return [solved.typed]
    roles = _roles(formula, words, options)
    calls = [
        call
        for other in calculator.formulas().values()
        if other.unit == formula.unit and other.name != formula.name
        and (call := _call(other, words, options, roles)) is not None
        and (len(roles) == len(words) or other.subject == formula.subject)
    ]  # fmt: skip
    least = min((len(call.missing) for call in calls), default=0)
    most_needed = [one.name for one in calculator.listed()[0][2]]

    def distance(call: _Call) -> tuple[int, bool, int]:
        name = call.formula.name
        of_name = set(formula.short_name.split("_")) - set(call.formula.short_name.split("_"))
        place = most_needed.index(name) if name in most_needed else len(most_needed)
        return len(of_name), call.formula.subject != formula.subject, place

    best = sorted((call for call in calls if len(call.missing) == least), key=distance)
    most = 1 if best and best[0].formula.name in most_needed else _MOST
    return [call.typed for call in best[:most]]


def _solved(formula: Formula, words: Sequence[str], options: Mapping[str, str]) -> _Call | None:
    """Return the call that solves for what is missing, where the result is given: ``--in 60h``."""
    wanted = [name for name in options if name in _TARGETS and _named(formula, name) is None]
    others = {name: text for name, text in options.items() if name not in wanted}
    texts = _texts(formula, words, others) if len(wanted) == 1 else None
    if texts is None:
        return None
    try:
        units.parse_typed(options[wanted[0]], formula.unit)
    except UnitError:
        return None
    sought = [p for p in formula.parameters if p.required and p.name not in texts]
    if not 1 <= len(sought) <= 1 + _MOST_MISSING:
        return None
    ending = f" --solve {formula.option(sought[0].name)} --for {_quoted(options[wanted[0]])}"
    return _Call(formula, texts, sought[1:], ending)


def _roles(formula: Formula, words: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    """Return which argument of the formula asked for each value without a name is."""
    own = {name: text for name, text in options.items() if _named(formula, name) is not None}
    texts = _texts(formula, words, own) or {}
    return {text: name for name, text in texts.items() if text in words}


def _call(
    other: Formula, words: Sequence[str], options: Mapping[str, str], roles: Mapping[str, str]
) -> _Call | None:
    """Return the call of a formula with what was typed; None if it does not take all of it."""
    texts = _texts(other, words, options)
    if texts is None:
        return None
    for name, text in texts.items():
        role = roles.get(text, name)
        if role != name and (role, name) not in _SAME:
            return None
    missing = [p for p in other.parameters if p.required and p.name not in texts]
    if len(missing) > _MOST_MISSING:
        return None
    try:
        with doubts():
            session = calculator.Session(other, texts)
            if not missing:
                session.value()
    except NetcalcError:
        return None
    return _Call(other, texts, missing)


def _texts(
    formula: Formula, words: Sequence[str], options: Mapping[str, str]
) -> dict[str, str] | None:
    """Return the arguments of a formula by what was typed; None if it does not take all of it."""
    texts: dict[str, str] = {}
    for spoken, text in options.items():
        meant = _named(formula, spoken)
        if meant is None or meant.name in texts:
            return None
        texts[meant.name] = text
    try:
        texts |= formulas.assigned(formula, words, texts)
    except NetcalcError:
        return None
    taken = all(formulas.is_value(formula.parameter(name), text) for name, text in texts.items())
    return texts if taken else None


def _named(formula: Formula, spoken: str) -> Parameter | None:
    """Return the one argument of a formula that an option names."""
    name = spoken.replace("-", "_")
    own = [p for p in formula.parameters if name in (p.name, p.short_name)]
    meant = own or formula.called(name)
    return meant[0] if len(meant) == 1 else None


def _quoted(text: str) -> str:
    """Return a text as a shell takes it."""
    if re.fullmatch(r"[\w.,+:/@%±-]+", text):
        return text
    return f'"{text}"' if not set(text) & set('$`"\\!') else shlex.quote(text)
