"""Arguments at which a formula in JavaScript is compared with Python, and what Python answers.

Each number of a formula takes ordinary and extreme values, one at a time; the others stay at those
of ``tests/models/base_arguments.py``. Python is the reference here: its own numbers are tested
against other sources elsewhere.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from base_arguments import BASE

from netcalc.calculator import Formula, Parameter
from netcalc.errors import DoubtWarning, NetcalcError, doubts
from netcalc.lessons.site.calculator_page import FormulaFunction

EXTREME = (
    0.0, -0.0, 5e-324, 1e-300, 1e-9, 0.5, 0.95, 1.0, 1.5, 2.0, 3.0, 1e5, 1e9, 1e300,
    1.7976931348623157e308, math.inf, -math.inf, math.nan, -1.0, -1e-300,
)  # fmt: skip
FACTORS = (0.013, 0.25, 0.8, 1.01, 2.0, 7.0, 113.0)


def base(formula: Formula) -> dict[str, Any]:
    """Return arguments at which a formula gives a number, all of them."""
    given = {**formula.example, **BASE.get(formula.name, {})}
    return {
        p.name: given.get(p.name, None if p.required else p.default) for p in formula.parameters
    }


def cases(function: FormulaFunction) -> Iterator[list[Any]]:
    """Yield lists of arguments, in the order of the formula's parameters."""
    formula = function.formula
    start = base(formula)
    yield list(start.values())
    for parameter in formula.parameters:
        for other in _others(parameter, start[parameter.name], function):
            yield list({**start, parameter.name: other}.values())


def _others(parameter: Parameter, value: Any, function: FormulaFunction) -> Iterator[Any]:
    if parameter.name in function.words:
        yield from function.words[parameter.name]
        yield "none of these"
    elif parameter.kind == "bool":
        yield from (True, False)
    elif parameter.kind == "list" and np.ndim(value):
        numbers = np.atleast_1d(value).tolist()
        if parameter.unit == "bool" or isinstance(numbers[0], bool):
            return
        for other in EXTREME:
            yield [other, *numbers[1:]]
            yield [*numbers[:-1], other]
        yield [1.7 * one for one in numbers]
    else:
        yield from EXTREME
        if value is not None and math.isfinite(value):
            yield from (factor * value for factor in FACTORS)
            yield from (math.floor(factor * value) for factor in FACTORS)
        if parameter.name in function.optional:
            yield None


def answer(formula: Formula, arguments: list[Any]) -> dict[str, Any]:
    """Return what Python answers: a value with the codes of its notes, or a refusal."""
    given = {p.name: one for p, one in zip(formula.parameters, arguments, strict=True)}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with doubts() as found:
                result = formula.evaluate(given)
        except NetcalcError as error:
            return {"code": error.code, "values": {n: plain(v) for n, v in error.values.items()}}
    return {"value": plain(result), "notes": sorted(map(_note, found))}


def _note(doubt: DoubtWarning) -> str:
    return f"{doubt.code} {doubt.values.get('name')}"


def plain(value: Any) -> Any:
    """Return a result as JSON can hold it, numbers that it cannot as text."""
    if hasattr(value, "_asdict"):
        return {name: plain(one) for name, one in value._asdict().items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value if isinstance(value, bool | int | float | str | None) else repr(value)


def wire(value: Any) -> str:
    """Return arguments as text that the page reads back, numbers that JSON has not too."""
    return json.dumps(plain(value))


READ = """
function read(value) {
  if (Array.isArray(value)) return value.map(read);
  if (value === "nan") return NaN;
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value;
}
function told(value) {
  if (Array.isArray(value)) return value.map(told);
  if (value !== value) return "nan";
  if (typeof value === "number" && !isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, told(one)]));
  return value;
}
function answers(functions, cases) {
  return cases.map(([name, ...given]) => {
    const notes = [];
    try {
      const value = functions[name](...read(given), notes);
      const said = notes.map((one) => `${one.code} ${one.values.name ?? "None"}`);
      return { value: told(value), notes: said.sort() };
    } catch (error) {
      if (error.name !== "Refusal") return { failed: String(error) };
      return { code: error.code, values: told(error.values) };
    }
  });
}
"""
"""What asks the page: cases in, answers out."""


def differ(ours: Any, theirs: Any, *, relative: float = 1e-9) -> bool:
    """Whether two results are not the same number, boolean, word, or columns of them."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() != theirs.keys() or any(differ(ours[n], theirs[n]) for n in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) != len(theirs) or any(map(differ, ours, theirs))
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return bool(ours) != bool(theirs) or not isinstance(theirs, bool | int)
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        if abs(ours - theirs) <= relative * max(abs(ours), abs(theirs)):
            return False
        return max(abs(ours), abs(theirs)) > 1e-300  # the digits of the smallest numbers are few
    return bool(ours != theirs)
