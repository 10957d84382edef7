"""Every formula of the calculator as a function of JavaScript, or the reason why it is not.

Numbers, lists and yes or no are arguments. What is a word, such as a kind of tunnel, or a version
of IP, is one of several: the model is recorded for each, and the function picks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from netcalc.calculator import Formula, Parameter, known_names
from netcalc.lessons.site.javascript import function, identifier, of_any_length, value
from netcalc.lessons.site.recording import NotRecorded, Recorded, record

MAX_VARIANTS = 256
"""Most combinations of words for which a formula is recorded."""
MAX_BYTES = 200_000
"""Longest function of one formula."""

IP_VERSIONS = (4, 6)
STACKS = (
    "none", "tag", "pppoe", "mpls", "mpls2", "ipip", "6in4", "gre4", "gre4_key", "gre6", "vxlan4",
    "vxlan6", "geneve4", "nvgre4", "gtpu4", "l2tpv2_udp", "wireguard4", "wireguard6",
    "esp4:aes-gcm-16", "esp4:aes-gcm-16:nat", "esp6:aes-gcm-16", "vxlan4+wireguard4",
    "esp4:aes-gcm-16+gre4", "esp4:aes-gcm-16+vxlan4",
)  # fmt: skip
"""Stacks of tunnels that a page offers; the command takes any other."""
SUITES = (
    "aes-gcm-16", "aes-gcm-8", "aes-ccm-16", "chacha20-poly1305", "aes-cbc/hmac-sha1-96",
    "aes-cbc/hmac-sha256-128", "aes-ctr/hmac-sha1-96", "3des/hmac-sha1-96", "null/hmac-sha1-96",
)  # fmt: skip
"""Algorithms of ESP that a page offers."""
WIFI_CHANNELS_HZ = (20e6, 40e6, 80e6, 160e6)


@dataclass(frozen=True, slots=True)
class FormulaFunction:
    """A formula in JavaScript.

    ``text`` is an expression: a function of all parameters in their order, and of ``notes``, in
    which ``rt`` is the runtime and ``rules`` the rules of checks. ``words`` has the values of the
    parameters that are picked, ``optional`` those that may be left out (null).
    """

    formula: Formula
    text: str
    words: Mapping[str, tuple[Any, ...]]
    optional: tuple[str, ...]
    variants: int


def formula_function(formula: Formula, *, rules: dict[str, int]) -> FormulaFunction | NotRecorded:
    """Return a formula as JavaScript, or why it is none.

    Parameters
    ----------
    formula : Formula
        The formula.
    rules : dict of str to int
        Receives the rules of its checks, as of
        :func:`netcalc.lessons.site.javascript.function`.

    Examples
    --------
    >>> from netcalc.calculator import formula
    >>> found = formula_function(formula("propagation"), rules={})
    >>> found.text.partition(" => ")[0]
    '(distance_m, speed_m_s, notes)'
    """
    words_of = {p.name: _words(formula, p) for p in formula.parameters}
    words = {name: values for name, values in words_of.items() if values}
    optional = tuple(
        p.name for p in formula.parameters if p.default is None and p.name not in words
    )
    if any(p.kind == "text" and p.name not in words for p in formula.parameters):
        return NotRecorded("lookup")
    forms = {p.name: words.get(p.name) or _forms(p) for p in formula.parameters}
    several = {name: each for name, each in forms.items() if len(each) > 1}
    count = prod(map(len, several.values()))
    if count > MAX_VARIANTS:
        return NotRecorded("many-paths")
    bodies: dict[str, int] = {}
    table: dict[str, int] = {}
    missing: NotRecorded | None = None
    for chosen in product(*several.values()):
        example = {name: each[0] for name, each in forms.items()} | dict(
            zip(several, chosen, strict=True)
        )
        recorded = _recorded(formula, example, words, rules=rules)
        if isinstance(recorded, NotRecorded):
            missing = recorded
        else:
            key = "|".join(
                _as_key(word) if name in words else _MARKS[word]
                for name, word in zip(several, chosen, strict=True)
            )
            table[key] = bodies.setdefault(recorded, len(bodies))
    usual = "|".join(_usual_key(p, words) for p in formula.parameters if p.name in several)
    if usual not in table:
        return missing or NotRecorded("lengths")
    text = _joined(formula, bodies, table, words, several)
    if len(text) > MAX_BYTES:
        return NotRecorded("too-long")
    return FormulaFunction(formula, text, words, optional, count)


_MARKS = {"none": "-", "number": "+", "list": "*"}
"""How a form of an argument is written in a key."""


def _as_key(word: Any) -> str:
    """Return a word as JavaScript joins it: a number without a point."""
    return word if isinstance(word, str) else f"{word:.17g}"


def _words(formula: Formula, parameter: Parameter) -> tuple[Any, ...]:
    """Return what a parameter is picked from; nothing where it is a number or a list."""
    if parameter.kind == "choice":
        return parameter.choices
    if parameter.kind == "text":
        own = {"stack": STACKS, "suite": SUITES}.get(parameter.name, ())
        return own or known_names(parameter.name)
    if parameter.name == "channel_hz" and formula.subject == "aggregates":
        return WIFI_CHANNELS_HZ
    return IP_VERSIONS if parameter.name == "ip_version" else ()


def _forms(parameter: Parameter) -> tuple[str, ...]:
    """Return the forms in which an argument that is no word may be given."""
    form = "list" if parameter.kind == "list" else "number"
    if parameter.required:
        return (form,)
    if parameter.default is None:
        return ("none", form)
    return ("number", "list") if form == "list" and np.ndim(parameter.default) == 0 else (form,)


def _usual_key(parameter: Parameter, words: Mapping[str, tuple[Any, ...]]) -> str:
    """Return what the key of a call with all defaults has for a parameter."""
    if parameter.name not in words:
        return _MARKS[_forms(parameter)[0]]
    return _as_key(words[parameter.name][0] if parameter.required else parameter.default)


def _recorded(
    formula: Formula,
    example: Mapping[str, Any],
    words: Mapping[str, tuple[Any, ...]],
    *,
    rules: dict[str, int],
) -> str | NotRecorded:
    """Return one combination of words and forms as a function of its numbers."""
    kinds = {p.name: p for p in formula.parameters}
    fixed = {n: value for n, value in example.items() if n in words}
    fixed |= {n: None for n, value in example.items() if n not in words and value == "none"}
    numbers = {n: _example(kinds[n], value) for n, value in example.items() if n not in fixed}
    called = _called(formula, fixed)
    lists = [name for name, value in numbers.items() if np.ndim(value)]
    if not lists:
        recorded = record(called, numbers)
        if isinstance(recorded, NotRecorded):
            return recorded
        return _expression(function(recorded, "f", rules=rules), "")
    text = _of_lists(called, numbers, lists, rules)
    if isinstance(text, NotRecorded) and text.code == "lengths":
        pairs = {n: np.resize(value, 2) if n in lists else value for n, value in numbers.items()}
        recorded = record(called, pairs)
        if isinstance(recorded, Recorded) and recorded.returns:
            check = f"rt.lengths({{{', '.join(map(identifier, lists))}}}, [0], 2);\n"
            return _expression(function(recorded, "f", rules=rules), check)
    return text


def _of_lists(
    called: Callable[..., Any],
    numbers: Mapping[str, Any],
    lists: list[str],
    rules: dict[str, int],
) -> str | NotRecorded:
    """Return a function of lists, whatever their lengths are to each other."""
    free = {name: 40 * place for place, name in enumerate(lists)}
    if len(lists) > 1:
        trial = of_any_length(called, numbers, "f", longer=free, rules={})
        if isinstance(trial, str) and ".length" not in trial:
            return _expression(of_any_length(called, numbers, "f", longer=free, rules=rules), "")
    for others in product((0, -1), repeat=len(lists) - 1):
        longer = dict(zip(lists, (0, *others), strict=True))
        trial = of_any_length(called, numbers, "f", longer=longer, rules={})
        if isinstance(trial, str):
            text = of_any_length(called, numbers, "f", longer=longer, rules=rules)
            names = ", ".join(map(identifier, lists))
            check = f"rt.lengths({{{names}}}, {value(list(longer.values()))});\n"
            return _expression(text, check if len(lists) > 1 else "")
        if trial.code != "lengths":
            return trial
    return NotRecorded("lengths")


def _expression(text: str | NotRecorded, check: str) -> str:
    """Return a function without the wrapper that gives it a name."""
    assert isinstance(text, str)
    body = re.search(r"return function f(\(.*?\)) \{\n(.*\n\});\n\}\)\(netcalc\);$", text, re.S)
    assert body is not None
    return f"{body[1]} => {{\n{check}{body[2]}"


def _example(parameter: Parameter, form: str) -> Any:
    """Return a value of the kind that a parameter takes."""
    number = True if parameter.kind == "bool" or parameter.unit == "bool" else 1.0
    return [number] if form == "list" else number


def _called(formula: Formula, fixed: Mapping[str, Any]) -> Callable[..., Any]:
    def called(**numbers: Any) -> Any:
        return formula.evaluate({**fixed, **numbers})

    return called


def _joined(
    formula: Formula,
    bodies: Mapping[str, int],
    table: Mapping[str, int],
    words: Mapping[str, tuple[Any, ...]],
    several: Mapping[str, tuple[Any, ...]],
) -> str:
    """Return one function that picks the recorded one by its words."""
    if not several:
        return next(iter(bodies))
    names = [identifier(p.name) for p in formula.parameters]
    inputs = [identifier(p.name) for p in formula.parameters if p.name not in words]
    checks = "".join(
        f"rt.choice({value(name)}, {identifier(name)}, {value(list(choices))});\n"
        for name, choices in words.items()
    )
    parts = [
        identifier(name) if name in words else f"rt.form({identifier(name)})" for name in several
    ]
    texts, numbers = _alike(list(bodies))
    keyed = ",".join(f"{value(key)}:{index}" for key, index in table.items())
    calls = [_call(body) for body in texts]
    functions = ",\n".join(f"({arguments}) => {{\n{text}" for arguments, text in calls)
    given_numbers = ",".join(f"[{branch[0]},[{','.join(branch[1:])}]]" for branch in numbers)
    return (
        f"((bodies, numbers, keys) => ({', '.join(names)}, notes) => {{\n{checks}"
        f"return rt.picked(bodies, numbers, keys, [{', '.join(parts)}])"
        f"({{{', '.join(inputs)}}}, notes);\n}})"
        f"([{functions}],\n[{given_numbers}],\n{{{keyed}}})"
    )


_NUMBER = re.compile(r"(?<![\w.$\"])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.\"])")


def _alike(bodies: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return functions with what only their numbers tell apart as ``c``, and the numbers of each.

    The numbers of a body follow the index of its function.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, body in enumerate(bodies):
        groups.setdefault(tuple(_NUMBER.split(body)), []).append(index)
    texts: list[str] = []
    numbers: list[list[str]] = [[] for _ in bodies]
    for parts, members in groups.items():
        columns = list(zip(*(_NUMBER.findall(bodies[index]) for index in members), strict=True))
        kinds = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
        places = {column: f"c[{place}]" for place, column in enumerate(kinds)}
        made = [places.get(column, column[0]) for column in columns]
        texts.append("".join(a + b for a, b in zip(parts, [*made, ""], strict=True)))
        for place, index in enumerate(members):
            numbers[index] = [str(len(texts) - 1), *(column[place] for column in kinds)]
    return texts, numbers


def _call(body: str) -> tuple[str, str]:
    """Return the arguments of a recorded function, taken by name, and its body."""
    arguments, _, rest = body.partition(") => {\n")
    names = [name for name in arguments.removeprefix("(").split(", ") if name != "notes"]
    return f"{{{', '.join(names)}}}, notes, c", rest
