"""The example of a formula's docstring as the command that gives the same answer."""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np

from netcalc import calculator
from netcalc.calculator import Formula, Parameter

_WIDTH = 74


def example(formula: Formula) -> list[str]:
    """Return the example as lines that a shell joins; nothing where there is none, or no short one.

    Examples
    --------
    >>> print(*example(calculator.formula("transfer")), sep="\\n")
    netcalc calc transfer 1MB --bandwidth 1.544Mbit/s --latency 30ms
    """
    given = formula.example
    words = [f"netcalc calc {calculator.command(formula)}"]
    for index, parameter in enumerate(formula.parameters):
        if parameter.name in given:
            text = _typed(parameter, given[parameter.name])
            words.append(text if index == 0 else f"--{formula.option(parameter.name)} {text}")
    if len(words) == 1:
        return []
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines if all(len(line) <= _WIDTH + 2 for line in lines) else []


def _typed(parameter: Parameter, value: Any) -> str:
    """Return a value as it is typed on a command line, quoted where a shell needs that."""
    if parameter.kind == "list":
        text = "; ".join(_one(parameter, one) for one in np.ravel(value))
    else:
        text = _one(parameter, value)
    return text if shlex.quote(text) == text else f'"{text}"'


def _one(parameter: Parameter, value: Any) -> str:
    if parameter.kind in ("choice", "text") or isinstance(value, bool | np.bool_ | str):
        return parameter.show(value)
    return re.sub(r"(?<=\d) (?=[A-Za-zµ%])", "", parameter.show(value, digits=15))
