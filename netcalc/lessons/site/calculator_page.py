"""The calculator as one page of HTML: every formula that can be recorded, without a kernel.

The page opens from a disk or any web server and loads nothing. Formulas that cannot be recorded are
listed, with the reason and the command that computes them.

A formula is a function of JavaScript. Numbers, lists and yes or no are its arguments. What is a
word, such as a kind of tunnel, or a version of IP, is one of several: the model is recorded for
each, and the function picks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from netcalc import calculator, display, units, version
from netcalc.calculator import Formula, Parameter, known_names, sentences
from netcalc.checks import derived_quantities
from netcalc.errors import NetcalcError
from netcalc.lessons.site.html import mathml
from netcalc.lessons.site.javascript import RUNTIME, function, identifier, of_any_length, value
from netcalc.lessons.site.recording import NotRecorded, Recorded, record
from netcalc.messages import HINTS, MESSAGES
from netcalc.models.rates import codecs
from netcalc.printable import html_text

MAX_VARIANTS = 256
"""Most combinations of words for which a formula is recorded."""
MAX_BYTES = 200_000
"""Longest function of one formula."""

IP_VERSIONS = (4, 6)
STACKS = (
    "none", "tag", "pppoe", "macsec", "mpls", "mpls2", "ipip", "6in4", "gre4", "gre4_key", "gre6",
    "vxlan4", "vxlan6", "geneve4", "nvgre4", "gtpu4", "l2tpv2_udp", "wireguard4", "wireguard6",
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
    usual_forms = {name: each[0] for name, each in forms.items()}
    for chosen in product(*several.values()):
        variant = dict(zip(several, chosen, strict=True))
        recorded = _recorded(formula, usual_forms | variant, words, rules=rules)
        if isinstance(recorded, NotRecorded):
            missing = recorded
            continue
        marks = (_as_key(w) if name in words else _MARKS[w] for name, w in variant.items())
        table["|".join(marks)] = bodies.setdefault(recorded, len(bodies))
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
    if parameter.name == "channel_hz" and formula.subject == "wifi":
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
    called: Callable[..., Any], numbers: Mapping[str, Any], lists: list[str], rules: dict[str, int]
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


KINDS = (
    "bit/s", "byte", "bit", "packet/s", "call/s", "s", "ratio", "m", "m/s", "s/byte", "Hz", "dB",
    "1",
)  # fmt: skip
"""The units that netcalc computes in."""


def unit_tables() -> dict[str, Any]:
    """Return the tables as JSON can hold them.

    Examples
    --------
    >>> unit_tables()["lines"]["T1"]["exact"]
    1544000.0
    """
    names = {*units.LINES, *units.line_aliases()}
    lines = {name: units.line(name) for name in sorted(names)}
    return {
        "units": {
            unit: {
                "written": units.written_units(unit),
                "ambiguous": units.ambiguous_units(unit),
                "example": units.example(unit),
            }
            for unit in KINDS
        },
        "lines": {
            name: {
                "exact": line.exact_bps,
                "nominal": line.nominal_bps,
                "payload": line.payload_bps,
            }
            for name, line in lines.items()
        },
        "prefixes": units.PREFIXES,
        "steps": display.steps(),
        "binary": display.BINARY,
    }


_HERE = Path(__file__).parent
_PAGE = _HERE / "calculator"
_CODE = re.compile(
    r"(?:Refusal\(|note\(notes, |code:|above:)\"([\w-]+)\"|\"([\w-]+-published-range)\""
)
_ALWAYS = (
    "beyond-published-range", "below-published-range", "percent-for-ratio", "not-a-choice",
    "wrong-count", "is-required", "not-yes-or-no", "malformed-number", "ambiguous-number",
    "ambiguous-unit", "unit-missing", "unit-of-other-kind", "unit-unknown", "number-too-large",
    "no-number", "text-empty", "nothing-matches", "topic-elsewhere", "topic-near", "words-unknown",
    "words-apart", "window-above-tcp", "units-incomparable",
)  # fmt: skip
_WHOLE = re.compile(r'name:"(\w+)"[^{}]*is_whole:true')


@cache
def formula_functions() -> tuple[dict[str, FormulaFunction | NotRecorded], tuple[str, ...]]:
    """Return every formula as JavaScript, or why it is none, and the rules that they share."""
    rules: dict[str, int] = {}
    functions = {
        name: formula_function(formula, rules=rules)
        for name, formula in calculator.formulas().items()
    }
    return functions, tuple(rules)


def write(path: str | Path) -> Path:
    """Write the calculator as one page, and return its path.

    Parameters
    ----------
    path : str or pathlib.Path
        The file, which is replaced.
    """
    file = Path(path)
    file.write_text(page(), encoding="utf-8", newline="\n")
    return file


def page() -> str:
    """Return the calculator as one page of HTML."""
    functions, rules = formula_functions()
    recorded = [
        function for function in functions.values() if isinstance(function, FormulaFunction)
    ]
    program = "\n".join([
        RUNTIME.read_text(encoding="utf-8"),
        (_HERE / "units.js").read_text(encoding="utf-8"),
        f"const netcalcData = {_json(_data(functions, rules))};",
        (_PAGE / "asking.js").read_text(encoding="utf-8"),
        functions_program(recorded, rules),
        (_PAGE / "search.js").read_text(encoding="utf-8"),
        (_PAGE / "page.js").read_text(encoding="utf-8"),
    ])  # fmt: skip
    equations = "\n".join(
        f'<template id="equation-{html_text(name)}">{mathml(f"$${function.equation}$$")}</template>'
        for name, function in calculator.formulas().items()
        if function.equation
    )
    missing = "\n".join(
        _missing_row(calculator.formulas()[name], function)
        for name, function in functions.items()
        if isinstance(function, NotRecorded)
    )
    text = (_PAGE / "page.html").read_text(encoding="utf-8")
    parts = {
        "style": (_PAGE / "page.css").read_text(encoding="utf-8"),
        "count": str(len(recorded)),
        "all": str(len(functions)),
        "left": str(len(functions) - len(recorded)),
        "missing": missing,
        "equations": equations,
        "version": html_text(version.__version__),
        "program": program.replace("</script", "<\\/script"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text)


def functions_program(
    recorded: list[FormulaFunction], rules: tuple[str, ...], *, runtime: str = "netcalc"
) -> str:
    """Return a program that defines ``netcalcFormulas``: a function for each formula, by name.

    Parameters
    ----------
    recorded : list of FormulaFunction
        The formulas.
    rules : tuple of str
        The rules of checks that they share.
    runtime : str
        The name of what ``runtime.js`` defines.
    """
    functions = ",\n".join(
        f"{json.dumps(function.formula.name)}: {function.text}" for function in recorded
    )
    return (
        "const netcalcFormulas = ((rt) => {\n"
        f"const rules = [{','.join(rules)}];\nreturn {{{functions}}};\n}})({runtime});"
    )


def _data(
    functions: Mapping[str, FormulaFunction | NotRecorded], rules: tuple[str, ...]
) -> dict[str, Any]:
    recorded = [
        function for function in functions.values() if isinstance(function, FormulaFunction)
    ]
    said = "\n".join([*rules, *(function.text for function in recorded)])
    codes = {a or b for a, b in _CODE.findall(said)} | set(_ALWAYS)
    codes |= {f"used-{code}" for code in _ALWAYS[:2]}
    codes |= {code for code in MESSAGES if code.startswith("sentence-")}
    return {
        "units": unit_tables(),
        "search": calculator.search_tables(),
        "chapters": _chapters(),
        "questions": questions(),
        "codecs": _codecs(),
        "sentences": {code: MESSAGES[code] for code in sorted(codes & MESSAGES.keys())},
        "hints": {code: HINTS[code] for code in sorted(codes & HINTS.keys())},
        "formulas": [_formula(function, rules) for function in recorded],
        "missing": [
            _missing(calculator.formulas()[name], function)
            for name, function in functions.items()
            if isinstance(function, NotRecorded)
        ],
    }


def _codecs() -> dict[str, float]:
    """Return the rates of codecs by their names in small letters and digits. [bit/s]"""
    spellings = [*codecs.CODECS, *codecs.ALIASES]
    rates = {re.sub(r"[^a-z0-9]", "", text): calculator.codec_bps(text) for text in spellings}
    return {plain: rate_bps for plain, rate_bps in rates.items() if rate_bps is not None}


def questions() -> dict[str, Any]:
    """Return the table of questions in a sentence, with the formulas that answer them."""
    table = sentences.table()
    rows = [dict(row) for row in sentences.rows()]
    used: dict[str, Formula] = {}

    def full(expression: Any) -> Any:
        """Name formulas and arguments as they are in the page."""
        if isinstance(expression, list) and expression and expression[0] == "f":
            model = calculator.formula(expression[1])
            used[model.name] = model
            return ["f", model.name, _arguments(model, expression[2], full)]
        return [full(part) for part in expression] if isinstance(expression, list) else expression

    for row in rows:
        if row["formula"] != "convert":
            model = calculator.formula(row["formula"])
            used[model.name] = model
            row["formula"] = model.name
            row["args"] = _arguments(model, row["args"], full)
            if "solve" in row:
                row["solve"] = model.parameter(row["solve"]).name
    quantities = {
        phrase: [text, unit, units.parse(text, "ratio" if unit in sentences.RATIOS else unit)]
        for phrase, (text, unit) in table["quantities"].items()
    }
    return {
        **{
            name: table[name]
            for name in (
                "limit",
                "numbers",
                "names",
                "roles",
                "said",
                "concepts",
                "pronouns",
                "aliases",
                "unit_words",
                "patterns",
            )
        },
        **{
            name: table[name].split()
            for name in ("fillers", "breaks", "questions", "other", "common")
        },
        "any": table["any"]["concepts"],
        "kinds": sentences.KINDS,
        "layers": sentences.LAYERS,
        "layer_names": table["layers"],
        "quantities": quantities,
        "rows": rows,
        "formulas": {name: _form(model) for name, model in used.items()},
    }


def _arguments(
    model: Formula, args: Mapping[str, Any], full: Callable[[Any], Any]
) -> dict[str, Any]:
    return {model.parameter(name).name: full(expression) for name, expression in args.items()}


def _form(formula: Formula) -> dict[str, Any]:
    """Return what a reading says of a formula: its command, its unit, its arguments."""
    layer = "" if formula.layer.startswith("layer of") else formula.layer
    return {
        "command": calculator.command(formula),
        "unit": formula.unit or "1",
        "layer": layer,
        "parameters": [
            {
                "name": parameter.name,
                "option": formula.option(parameter.name),
                "unit": parameter.unit,
                "named": _named_values(parameter),
            }
            for parameter in formula.parameters
        ],
    }


def _named_values(parameter: Parameter) -> dict[str, float | str]:
    """Return what the names of questions and of lines are in an argument."""
    texts = {text for entries in sentences.table()["names"].values() for text in entries.values()}
    texts |= units.LINES.keys() if parameter.unit == "bit/s" else set()
    values: dict[str, float | str] = {}
    for text in sorted(texts):
        try:
            meaning = parameter.read(text)
        except NetcalcError:
            continue
        if isinstance(meaning, float | int | str) and meaning != text:
            values[text] = meaning
    return values


def _chapters() -> list[tuple[str, list[str]]]:
    """Return the names of formulas by chapter, those most needed first."""
    chapters: dict[str, list[str]] = {}
    for chapter, _, formulas in calculator.listed():
        title = "TCP" if chapter == "tcp" else chapter
        chapters.setdefault(title, []).extend(formula.name for formula in formulas)
    return list(chapters.items())


def _formula(function: FormulaFunction, rules: tuple[str, ...]) -> dict[str, Any]:
    """Return what the page says of a formula."""
    formula = function.formula
    examples = _first_values(function)
    used = {int(index) for index in re.findall(r"rules\[(\d+)\]", function.text)}
    whole = {name for index in used for name in _WHOLE.findall(rules[index])}
    layer = "" if formula.layer.startswith("layer of") else formula.layer
    columns, derived = _columns(formula), dict(derived_quantities(formula.function))
    return {
        **_about(formula),
        "command": calculator.command(formula),
        "unit": formula.unit,
        **({"layer": layer} if layer else {}),
        **({"columns": columns} if columns else {}),
        **({"derived": derived} if derived else {}),
        "rules": formula.rules,
        "parameters": [
            _parameter(function, parameter, examples.get(parameter.name), whole)
            for parameter in formula.parameters
        ],
    }


def _about(formula: Formula) -> dict[str, Any]:
    """Return what the page says of every formula."""
    names = ("name", "title", "summary", "validity", "source")
    return {name: getattr(formula, name) for name in names}


def _columns(formula: Formula) -> dict[str, str]:
    """Return the units of a result of several columns."""
    if formula.unit:
        return {}
    result = re.findall(r"\w+", str(getattr(formula.function, "__annotations__", {}).get("return")))
    kind = next(
        (result_type for word in reversed(result)
         if hasattr(result_type := formula.function.__globals__.get(word), "_fields")),
        None,
    )  # fmt: skip
    names = getattr(kind, "_fields", ())
    return {name: calculator.column_unit(formula, name) for name in names}


def _first_values(function: FormulaFunction) -> dict[str, Any]:
    """Return the arguments with which the page shows a formula: those of its example."""
    values = dict(function.formula.example)
    for name, words in function.words.items():
        if name in values and values[name] not in words:
            values[name] = words[0]
    return values


def _parameter(
    function: FormulaFunction, parameter: Parameter, value: Any, whole: set[str]
) -> dict[str, Any]:
    """Return what the page says of an argument."""
    words = function.words.get(parameter.name)
    kind = "word" if words else parameter.kind
    shown = "" if value is None else _typed(parameter, value)
    said: dict[str, Any] = {
        "name": parameter.name,
        "label": function.formula.label(parameter.name),
        "unit": parameter.unit,
        "kind": kind,
        "about": parameter.description,
        "text": shown,
    }
    if parameter.required:
        said["required"] = True
    elif parameter.default is not None:
        said["default"] = (
            parameter.default if np.ndim(parameter.default) == 0 else list(parameter.default)
        )
        said["default_text"] = parameter.show(parameter.default)
        if (assumed := function.formula.said_defaults.get(parameter.name)) is not None:
            said["assumed"] = assumed or said["default_text"]
    if words:
        said["words"] = list(words)
    if parameter.packet_sized:
        said["bare"] = True
    if parameter.kind == "list" and not parameter.required and np.ndim(parameter.default) == 0:
        said["one_for_all"] = True
    if kind == "number":
        said["slider"] = _slider(parameter, value, parameter.name in whole)
    if parameter.unit in KINDS:
        said["example"] = unit_tables()["units"][parameter.unit]["example"]
    return said


def _typed(parameter: Parameter, value: Any) -> str:
    """Return a value as a person types it."""
    if isinstance(value, list | tuple):
        return "; ".join(_typed(parameter, item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return parameter.show(value, digits=12)


def _slider(parameter: Parameter, value: Any, whole: bool) -> dict[str, Any]:
    """Return the ends of the slider of a number: two decades around its first value."""
    start = value if isinstance(value, int | float) else parameter.default
    start = float(start) if isinstance(start, int | float) and math.isfinite(start) else 0.0
    if parameter.unit == "ratio" and (start >= 0.02 or start == 0.0):
        return {"low": 0.0, "high": 1.0}
    if start > 0.0:
        low, high = start / 100.0, start * 100.0
        if parameter.unit == "ratio":
            high = min(high, 1.0)
        if whole:
            low, high = max(1.0, math.floor(low)), math.ceil(high)
        return {"low": low, "high": high, "log": True, **({"whole": True} if whole else {})}
    most = {"s": 1.0, "byte": 1500.0, "bit/s": 1e9, "packet/s": 1e6, "m": 1e7, "bit": 1e4}
    return {
        "low": 0.0,
        "high": most.get(parameter.unit, 10.0),
        **({"whole": True} if whole else {}),
    }


def _missing(formula: Formula, why: NotRecorded) -> dict[str, Any]:
    """Return what the page says of a formula that it does not have."""
    return {
        **_about(formula),
        "command": _command(formula),
        "parameters": [
            {"label": formula.label(parameter.name)} for parameter in formula.parameters
        ],
        "reason": why.reason,
    }


def _command(formula: Formula) -> str:
    """Return the command that computes the example of a formula."""
    options = " ".join(
        f"--{formula.option(name)} {_quoted(_typed(formula.parameter(name), value))}"
        for name, value in formula.example.items()
    ).replace("; ", ",")
    return f"netcalc calc {calculator.command(formula)} {options}".strip()


def _missing_row(formula: Formula, why: NotRecorded) -> str:
    return (
        f"<tr><th scope=row>{html_text(formula.title)}</th>"
        f"<td>{html_text(formula.summary)}</td><td>{html_text(why.reason)}</td>"
        f"<td><code>{html_text(_command(formula))}</code></td></tr>"
    )


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"[^\w.+,%/-]", text) else text


def _json(value: Any) -> str:
    """Return JSON that can stand in a script: what JSON lacks as JavaScript writes it."""

    def plain(part: Any) -> Any:
        return dict(part) if isinstance(part, Mapping) else part.item()

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=plain)
    return text.replace("<", "\\u003c")
