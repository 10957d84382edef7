"""Single operations in a page at the edges of IEEE 754, compared with numpy to the sign of 0."""

from __future__ import annotations

import json
import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from offline_browser import chromium, missing, opened

from netcalc.lessons.site.javascript import RUNTIME, function
from netcalc.lessons.site.recording import record

VALUES = (
    0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 2.0, 3.0, -3.0, 0.1, 7.3, -7.3, 1e-300, 5e-324,
    1e300, -1e300, 4503599627370495.5, 2.0**53, math.inf, -math.inf, math.nan,
)  # fmt: skip
ONE = {
    "sqrt": np.sqrt, "cbrt": np.cbrt, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "round": np.round, "abs": np.abs, "sign": np.sign,
    "negative": np.negative, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "signbit": np.signbit, "spacing": lambda x: np.spacing(np.abs(x)), "tanh": np.tanh,
    "square": np.square, "reciprocal": np.reciprocal, "mantissa": lambda x: np.frexp(x)[0],
}  # fmt: skip
TWO = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "power": np.power, "mod": np.mod, "fmod": np.fmod, "maximum": np.maximum,
    "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "less": np.less,
    "less_equal": np.less_equal, "equal": np.equal, "not_equal": np.not_equal,
    "logaddexp2": np.logaddexp2, "copysign": np.copysign,
    "where": lambda x, y: np.where(x > y, x, y), "clip": lambda x, y: np.clip(x, -1.0, y),
    "and": lambda x, y: (x > 0) & ~(y > 0), "xor": lambda x, y: (x > 0) ^ (y > 0),
}  # fmt: skip
SIGN_OF_ZERO_IS_FREE = {"maximum", "minimum", "fmax", "fmin", "clip", "where"}
"""IEEE 754 leaves open which zero is the larger one, and numpy's answer depends on the machine."""


@pytest.mark.browser("other")
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_operations_are_those_of_numpy(tmp_path):
    programs, calls, expected = [RUNTIME.read_text(encoding="utf-8")], [], []
    for count, table in ((1, ONE), (2, TWO)):
        for name, operation in table.items():
            names = ("x", "y")[:count]
            found = record(_by_name(operation, names), dict.fromkeys(names, 1.0))
            programs.append(function(found, f"f_{name}"))
            for given in product(VALUES, repeat=count):
                calls.append([name, *given])
                with np.errstate(all="ignore"):
                    expected.append(operation(*map(np.float64, given)))
    names = ", ".join(f"{name}: f_{name}" for name in (*ONE, *TWO))
    page = tmp_path / "operations.html"
    text = "\n".join([*programs, f"const table = {{{names}}};"])
    page.write_text(f"<!doctype html><script>{text}</script>", encoding="utf-8")
    with chromium() as browser, opened(browser, page.as_uri()) as window:
        answers = window.evaluate(
            """text => {
              const read = v => ({ nan: NaN, inf: Infinity, '-inf': -Infinity, '-0': -0 })[v] ?? v;
              const told = v => v !== v ? 'nan' : Object.is(v, -0) ? '-0' : v === Infinity ? 'inf'
                : v === -Infinity ? '-inf' : v;
              const cases = JSON.parse(text);
              return cases.map(([name, ...given]) => told(table[name](...given.map(read))));
            }""",
            json.dumps([[name, *map(_told, given)] for name, *given in calls]),
        )
    wrong = [
        (*call, answer, one)
        for call, answer, one in zip(calls, answers, expected, strict=True)
        if not _same(call[0], answer, one)
    ]
    assert wrong == []


def _by_name(operation, names):
    return lambda **given: operation(*(given[name] for name in names))


def _told(value):
    number = float(value)
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else 0.0
    return number if math.isfinite(number) else str(number)


def _same(name, answer, expected):
    if isinstance(expected, bool | np.bool_):
        return answer is bool(expected)
    told = _told(expected)
    if isinstance(told, str) or isinstance(answer, str):
        zeros = {answer, told} <= {"-0", 0.0} and name in SIGN_OF_ZERO_IS_FREE
        return answer == told or zeros
    return abs(answer - told) <= 1e-14 * abs(told)
