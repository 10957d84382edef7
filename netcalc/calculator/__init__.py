"""Every public model as a formula that can be listed, evaluated from text, swept and solved.

A formula is made from the function itself: its name, its signature, its docstring. A new model
appears here by existing.

>>> formula("transfer").evaluate_text({"payload": "1 MB", "bandwidth": "T1", "latency": "30 ms"})
5.211347150259067
>>> formula("transfer").parameters[1].unit
'bit/s'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netcalc.calculator.catalogue import (
    Formula,
    command,
    datasets,
    doubt_notice,
    flag,
    formula,
    formulas,
    listed,
    matches,
    search,
    search_tables,
    subject_formulas,
)
from netcalc.calculator.names import (
    codec_bps,
    is_layer,
    known_names,
    names_argument,
    plain_name,
    preset,
    stack,
)
from netcalc.calculator.parameter import Parameter, is_noun, show
from netcalc.calculator.ranges import (
    Inputs,
    band_rows,
    bands_over,
    cases_by_text,
    column_unit,
    defaults_said,
    explained,
    fixed_texts,
    importance_line,
    input_label,
    is_range,
    layer_of,
    layer_text,
    layers,
    listed_values,
    percentile_name,
    range_notes,
    range_text,
    read_range,
    result_lines,
    result_unit,
    solution_lines,
    solutions_for,
    split_ranges,
    table,
)
from netcalc.calculator.session import Answer, Draws, Session, Swept
from netcalc.calculator.sweeps import (
    RESULT_CODES,
    Curve,
    Shade,
    Solution,
    Sweep,
    curve,
    family,
    is_staircase,
    parse_range,
    solve_for,
    sweep,
    sweep_range,
)

if TYPE_CHECKING:
    from netcalc.calculator.asking import Asked, Given, Reading, ask, begins_a_question

__all__ = [
    "RESULT_CODES", "Answer", "Asked", "Curve", "Draws", "Formula", "Given", "Inputs", "Parameter",
    "Reading", "Session", "Shade", "Solution", "Sweep", "Swept",
    "ask", "band_rows", "bands_over", "begins_a_question",
    "cases_by_text", "codec_bps", "column_unit", "command", "curve", "datasets",
    "defaults_said", "doubt_notice", "explained", "family", "fixed_texts", "flag", "formula",
    "formulas", "importance_line", "input_label", "is_layer", "is_noun", "is_range",
    "is_staircase",
    "known_names",
    "layer_of", "layer_text", "layers", "listed", "listed_values", "matches", "names_argument",
    "parse_range",
    "percentile_name", "plain_name", "preset", "range_notes", "range_text", "read_range",
    "result_lines",
    "result_unit", "search", "search_tables", "show", "solution_lines", "solutions_for",
    "solve_for", "split_ranges", "stack", "subject_formulas", "sweep", "sweep_range", "table",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers


def __getattr__(name: str) -> Any:
    """Load what answers a sentence when it is first used (PEP 562)."""
    if name in ("Asked", "Given", "Reading", "ask", "begins_a_question"):
        return getattr(import_module(f"{__name__}.asking"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
