"""A million draws of every formula that takes arrays, its inputs within a few percent.

The arguments are those of ``tests/models/base_arguments.py``: each number of them is drawn from 98
to 102 percent of it. Prints what the slowest closed forms take, with percentiles and indices; then
those that search or sum (``closed_forms.py`` says why they are none), on fewer draws; and which
formulas are asked one draw at a time. Asserts nothing.

Run: python tests/benchmarks/draws_of_formulas.py [DRAWS] [NAME ...]
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from base_arguments import BASE
from closed_forms import LEFT_OUT

from netcalc import calculator, uncertain
from netcalc.errors import NetcalcError
from netcalc.uncertain.sampling import DrawPlan, Draws, Evaluation

DRAWS = 1_000_000
MOST_S = 1.0
"""What a million draws of a closed form may take. [s]"""
SHOWN = 15
FEWER = 1_000
"""Draws of what searches or sums. [1]"""
FEW = 64
"""Draws that show whether a formula takes arrays. [1]"""


def inputs_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with each number above 0 as a range of 4 percent, or of 1 where it is 1."""
    found = {}
    for name, value in given.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        high = 1.0 if is_number and 0.98 <= value <= 1.0 else 1.02
        if is_number and value > 0 and not name.endswith("version"):
            found[name] = uncertain.uniform(0.98 * value, high * value)
        else:
            found[name] = value
    return found


def takes_arrays(formula: calculator.Formula, inputs: dict[str, Any]) -> bool:
    """Whether a formula is asked for many draws at once."""
    few = uncertain.spreads(formula.function, inputs, draws=FEW, truncate=True)
    drawn = next(iter(few.values())).inputs
    fixed = {name: one for name, one in inputs.items() if name not in drawn}
    tried = Evaluation(formula.function, fixed)
    tried(Draws(DrawPlan(drawn, 0)).block(0, FEW))
    return tried.at_once is True


def main(draws: int, names: list[str]) -> None:
    uncertain.prepare()
    took: dict[str, float] = {}
    single, left_out = [], []
    for name, formula in calculator.formulas().items():
        if names and name not in names:
            continue
        inputs = inputs_of(dict(BASE.get(name, formula.example)))
        try:
            at_once = takes_arrays(formula, inputs)
        except (NetcalcError, TypeError, ValueError):
            left_out.append(name)
            continue
        if not at_once:
            single.append(name)
            continue
        count = FEWER if name in LEFT_OUT else draws
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                uncertain.spreads(formula.function, inputs, draws=count, truncate=True)
        except NetcalcError:
            left_out.append(name)
            continue
        took[name] = time.perf_counter() - start
    for title, count, names in (
        ("closed forms", draws, [one for one in took if one not in LEFT_OUT]),
        ("that search or sum", FEWER, [one for one in took if one in LEFT_OUT]),
    ):
        within = sum(took[one] <= MOST_S for one in names)
        print(f"{count:,} draws of {len(names)} {title}: {within} within {MOST_S:g} s")
        for one in sorted(names, key=lambda name: -took[name])[:SHOWN]:
            print(f"{took[one]:9.3f} s  {one}")
    print(f"one draw at a time: {len(single)}: {', '.join(single)}")
    print(f"no number to vary: {len(left_out)}: {', '.join(left_out)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS, sys.argv[2:])
