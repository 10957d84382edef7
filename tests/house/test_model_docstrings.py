"""Every public model: its signature, its docstring and the nomenclature say the same."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path

import docstring_parser
import pytest

from netcalc import experiments, models, samples
from netcalc.experiments.small_writes import MODES
from netcalc.experiments.transactions import PROTOCOLS
from netcalc.truth.table import TruthRow

NOMENCLATURE = Path(__file__).parents[2] / "docs" / "nomenclature.md"

SUFFIXES = {  # the longest that fits is the one that counts
    "_m_s": "m/s",
    "_s": "s",
    "_bps": "bit/s",
    "_pps": "packet/s",
    "_bytes": "byte",
    "_bits": "bit",
    "_ratio": "ratio",
    "_m": "m",
    "_count": "1",
}
FORBIDDEN = ("_ms", "_us", "_ns", "_mbps", "_kbps", "_gbps", "_kb", "_mb", "_kib", "_mib", "_pct")
CHECKS = (
    "positive", "non_negative", "at_least", "between", "ratio", "real", "whole", "choice",
    "one_dimensional",
)  # fmt: skip
UNIT = re.compile(r"\[([^\[\]\s]+)\]\s*$")


def read_nomenclature() -> tuple[dict[str, str], set[str]]:
    """Return the unit of each name in the tables, and the units there are."""
    text = NOMENCLATURE.read_text(encoding="utf-8")
    listed = re.search(r"Units as they stand in docstrings:(.*?)\n\n", text, re.DOTALL)
    assert listed, "docs/nomenclature.md lists no units"
    names: dict[str, str] = {}
    for cell, unit in re.findall(r"^\| (`[^|]*`) \| ([^|]+?) \|", text, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", cell):
            assert names.setdefault(name, unit) == unit, f"{name} has two units"
    return names, set(re.findall(r"`([^`]+)`", listed[1]))


NAMES, UNITS = read_nomenclature()


def public_functions(subject: str) -> list[Callable[..., object]]:
    module = models.subject_module(subject)
    return [
        function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
    ]


MODELS = {subject: public_functions(subject) for subject in models.SUBJECTS}
EVERY_SUBJECT = pytest.mark.each("functions", MODELS.values(), ids=MODELS)


def suffix_unit(name: str) -> str | None:
    """Return the unit that a name's ending promises, if it promises one."""
    return next((unit for end, unit in SUFFIXES.items() if name.endswith(end)), None)


@cache
def parsed(function):
    return docstring_parser.parse(inspect.getdoc(function) or "", docstring_parser.Style.NUMPYDOC)


def units_by_parameter(function) -> dict[str, str]:
    """Return the unit that the docstring gives each parameter, in its order."""
    found = {}
    for parameter in parsed(function).params:
        unit = UNIT.search(parameter.description or "")
        for name in parameter.arg_name.split(","):
            found[name.strip()] = unit[1] if unit else ""
    return found


def test_there_are_models():
    assert sum(map(len, MODELS.values())) >= 100
    assert all(MODELS.values()), "a subject without a formula"


@EVERY_SUBJECT
def test_the_swept_quantity_first_the_rest_by_keyword(functions):
    for function in functions:
        kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
        assert kinds[0] is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert set(kinds[1:]) <= {inspect.Parameter.KEYWORD_ONLY}


@EVERY_SUBJECT
def test_docstring_has_the_parameters_of_the_signature(functions):
    for function in functions:
        assert list(units_by_parameter(function)) == list(inspect.signature(function).parameters)


@EVERY_SUBJECT
def test_units_agree_with_names_and_nomenclature(functions):
    for function in functions:
        for name, unit in units_by_parameter(function).items():
            assert unit in UNITS, f"{name} ends in [{unit}], which is no unit of the nomenclature"
            assert suffix_unit(name) in (None, unit), f"{name} is given in [{unit}]"
            assert name in NAMES, f"{name} is not in docs/nomenclature.md"
            assert NAMES[name] == unit, f"{name}: [{unit}] here, {NAMES[name]} in the nomenclature"


@EVERY_SUBJECT
def test_result_has_the_unit_of_the_name(functions):
    for function in functions:
        results = parsed(function).many_returns
        assert results, "no Returns"
        for result in results:
            unit = UNIT.search(result.description or "")
            assert unit, f"the result {result.description!r} has no [unit]"
            assert unit[1] in UNITS
            if len(results) == 1:
                assert suffix_unit(function.__name__) in (None, unit[1])


@EVERY_SUBJECT
def test_docstring_is_complete(functions):
    for function in functions:
        text = inspect.getdoc(function) or ""
        doc = parsed(function)
        assert doc.short_description
        assert doc.short_description.endswith("."), "the first line is one sentence"
        assert ".. math::" in text, "no equation"
        assert re.search(r"^Notes\n-----\nValidity: ", text, re.MULTILINE), "no Validity"
        assert any(">>> " in (example.snippet or "") for example in doc.examples), "no example"
        assert re.search(r"^References\n----------\n\S", text, re.MULTILINE), "no source"
        if any(re.search(rf"\b{check}\(", inspect.getsource(function)) for check in CHECKS):
            assert "DomainError" in {error.type_name for error in doc.raises}


@EVERY_SUBJECT
def test_no_scaled_units_inside(functions):
    for function in functions:
        names = (function.__name__, *inspect.signature(function).parameters)
        assert not [name for name in names if name.endswith(FORBIDDEN)]


@pytest.mark.parametrize("kind", samples.KINDS.values(), ids=samples.KINDS.keys())
def test_columns_of_samples_are_in_the_nomenclature(kind):
    for name, unit in kind.column_units.items():
        assert not name.endswith(FORBIDDEN)
        assert unit in UNITS
        assert suffix_unit(name) in (None, unit)
        assert NAMES.get(name) == unit, f"{name} [{unit}] of {kind.__name__}: nomenclature differs"


@pytest.mark.parametrize("name", experiments.__all__)
def test_what_a_live_run_is_asked_is_in_the_nomenclature(name):
    """All but the functions that it is given."""
    public = getattr(experiments, name)
    asked = inspect.signature(public).parameters if inspect.isfunction(public) else {}
    if "progress" in asked:
        assert not set(asked) - set(NAMES) - {"progress", "stop"}


def test_words_for_modes_protocols_and_truth_rows_are_in_the_nomenclature():
    assert not {field.name for field in fields(TruthRow)} - set(NAMES)
    text = NOMENCLATURE.read_text(encoding="utf-8")
    assert not [word for word in (*MODES, *PROTOCOLS) if f'`"{word}"`' not in text]


def test_nomenclature_keeps_its_own_rules():
    for name, unit in NAMES.items():
        assert unit in UNITS, f"{name}: {unit} is not among the units"
        assert suffix_unit(name) in (None, unit), f"{name} is given in {unit}"
        assert not name.endswith(FORBIDDEN)
