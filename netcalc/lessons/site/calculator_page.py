"""The calculator as one page of HTML: every formula that can be recorded, without a kernel.

The page opens from a disk or any web server and loads nothing. Formulas that cannot be recorded are
listed, with the reason and the command that computes them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from netcalc import calculator, display, units
from netcalc.calculator import Formula, Parameter
from netcalc.checks import derived_quantities
from netcalc.lessons.site.formula_functions import FormulaFunction, formula_function
from netcalc.lessons.site.html import mathml
from netcalc.lessons.site.javascript import RUNTIME
from netcalc.lessons.site.recording import NotRecorded
from netcalc.messages import HINTS, MESSAGES
from netcalc.printable import html_text
from netcalc.version import __version__

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
    "no-number", "text-empty",
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
        functions_program(recorded, rules),
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
        "version": html_text(__version__),
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
    return {
        "units": unit_tables(),
        "synonyms": calculator.synonyms(),
        "chapters": _chapters(),
        "sentences": {code: MESSAGES[code] for code in sorted(codes & MESSAGES.keys())},
        "hints": {code: HINTS[code] for code in sorted(codes & HINTS.keys())},
        "formulas": [_formula(function, rules) for function in recorded],
        "missing": [
            _missing(calculator.formulas()[name], function)
            for name, function in functions.items()
            if isinstance(function, NotRecorded)
        ],
    }


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
    columns = _columns(formula)
    return {
        "name": formula.name,
        "title": formula.title,
        "command": calculator.command(formula),
        "summary": formula.summary,
        "unit": formula.unit,
        **({"layer": layer} if layer else {}),
        **({"columns": columns} if columns else {}),
        "returns": formula.returns,
        "validity": formula.validity,
        "source": formula.source,
        "asked": calculator.asked_for(formula),
        **(
            {"derived": dict(quantities)}
            if (quantities := derived_quantities(formula.function))
            else {}
        ),
        "parameters": [
            _parameter(function, parameter, examples.get(parameter.name), whole)
            for parameter in formula.parameters
        ],
    }


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
        "name": formula.name,
        "title": formula.title,
        "command": _command(formula),
        "summary": formula.summary,
        "validity": formula.validity,
        "source": formula.source,
        "asked": calculator.asked_for(formula),
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
    if isinstance(value, Mapping):
        parts = (f"{json.dumps(str(name))}:{_json(item)}" for name, item in value.items())
        return f"{{{','.join(parts)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_json, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, np.generic):
        return _json(value.item())
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
