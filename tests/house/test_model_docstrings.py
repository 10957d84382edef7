"""Every public model: its signature, its docstring and the nomenclature say the same."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path

import docstring_parser
import pytest

from netcalc import calculator, experiments, models, samples
from netcalc.calculator.parameter import flat
from netcalc.experiments.small_writes import MODES
from netcalc.experiments.transactions import PROTOCOLS
from netcalc.truth import TruthRow

NOMENCLATURE = Path(__file__).parents[2] / "docs" / "nomenclature.md"

SUFFIXES = {  # the longest that fits is the one that counts
    "_byte_count": "byte",
    "_m_s": "m/s",
    "_s": "s",
    "_bps": "bit/s",
    "_pps": "packet/s",
    "_bytes": "byte",
    "_bits": "bit",
    "_ratio": "ratio",
    "_m": "m",
    "_hz": "Hz",
    "_db": "dB",
    "_count": "1",
}
FORBIDDEN = ("_ms", "_us", "_ns", "_mbps", "_kbps", "_gbps", "_kb", "_mb", "_kib", "_mib", "_pct")
HOUSE_RULE = {
    "not-a-choice", "not-a-scalar", "not-text", "wrong-count", "wrong-count-or-one",
}  # fmt: skip
"""Codes of refusals that need no words: an argument out of its range, a list of another length."""
SOURCE = re.compile(
    r"doi:10\.|RFC \d|IEEE 802|ITU-T|ANSI|ISO|3GPP|\d\.\d|[Aa](ppendix|\.\d)|ch(apter|\.) \d"
    r"|Table \d|\bp\. \d|Fig\. |/\w+\.(c|h|md|rst)\b|Derived|Definition|straight line|:func:"
    r"|published router"
)
"""A source that can be looked up: its section, page, table or DOI; or that there is none."""
UNIT = re.compile(r"\[([^\[\]\s,]+)(?:, [^\[\]]+)?\]\s*$")
"""A unit at the end of a description; that of a rate has its layer behind it."""


def read_nomenclature() -> tuple[dict[str, str], set[str]]:
    """Return the unit of each name in the tables, and the units there are."""
    text = NOMENCLATURE.read_text(encoding="utf-8")
    listed = re.search(r"Units as written in docstrings:(.*?)\n\n", text, re.DOTALL)
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
NAMES_OF = [" ".join([subject, *(f.__name__ for f in found)]) for subject, found in MODELS.items()]
"""Subjects with their formulas: ``-k`` chooses by either."""
EVERY_SUBJECT = pytest.mark.each("functions", MODELS.values(), ids=NAMES_OF)


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


def read_glossary() -> tuple[set[str], set[str]]:
    """Return the terms of the glossary, and the words that are not used for them."""
    text = NOMENCLATURE.read_text(encoding="utf-8")
    glossary = text.partition("## Glossary")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ,]+?) \| .+? \| ?([a-z ,]*?) ?\|$", glossary, re.MULTILINE)
    terms = {term for cell, _ in rows for term in cell.split(", ")} - {"term"}
    others = {word for _, cell in rows if cell != "not" for word in cell.split(", ") if word}
    phrases = re.findall(r"\*([a-z ]+)\*", glossary.partition("Neither do")[2])
    return terms, others | set(phrases)


TERMS, NOT_USED = read_glossary()


def test_the_glossary_names_no_term_as_a_word_not_to_use():
    assert {"link", "path", "hop", "node", "probe", "reply", "transaction", "experiment",
                     "run", "payload", "packet", "frame", "wire bytes"} <= TERMS  # fmt: skip
    assert {"box", "lab", "room", "place", "tells", "so many"} <= NOT_USED
    assert not TERMS & NOT_USED


@EVERY_SUBJECT
def test_the_calculator_reads_docstrings_as_docstring_parser_does(functions):
    for function in functions:
        subject = function.__module__.rpartition(".")[2]
        formula = calculator.formula(f"{subject}.{function.__name__}")
        doc = parsed(function)
        described = {
            name.strip(): (item.description or "", item.type_name)
            for item in doc.params
            for name in item.arg_name.split(",")
        }
        assert formula.summary == flat(doc.short_description or "")
        for parameter in formula.parameters:
            text, kind = described[parameter.name]
            assert parameter.description == UNIT.sub("", flat(text)).strip()
            unit = UNIT.search(text)
            assert parameter.unit == (unit[1] if unit else "1")
            assert (parameter.kind == "choice") == ("{" in (kind or ""))
        result = flat(doc.returns.description or "")
        assert formula.returns == UNIT.sub("", result)


@pytest.mark.each("subject", MODELS, ids=NAMES_OF)
def test_one_word_for_one_thing(subject):
    module = models.subject_module(subject)
    texts = [
        module.__doc__ or "",
        *(inspect.getdoc(function) or "" for function in MODELS[subject]),
    ]
    for text in texts:
        words = re.sub(r"``.*?``|:\w+:`.*?`|^ *>>> .*$", "", text, flags=re.M | re.S).lower()
        found = [one for one in NOT_USED if re.search(rf"\b{one}\b".replace(" ", r"\s+"), words)]
        assert not found, text.splitlines()[0]


@pytest.mark.each("subject", MODELS, ids=NAMES_OF)
def test_parameters_are_named_by_the_glossary(subject):
    for function in MODELS[subject]:
        names = {function.__name__, *inspect.signature(function).parameters} - {"place_count"}
        words = {word for name in names for word in name.split("_")}
        assert not words & NOT_USED, function.__name__


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
        source = text.partition("References\n----------\n")[2]
        assert SOURCE.search(source), f"{function.__name__}: no section, page or DOI of its source"


RIVALS = (
    "mm1.mm1_wait_s", "md1.md1_wait_s", "queueing.mg1_wait_s", "queueing.kingman_wait_s",
    "mm1.mm1k_wait_s", "erlang.erlang_b_ratio", "erlang.erlang_c_ratio",
    "loss_limited.mathis_throughput_bps", "pftk.pftk_rate_pps", "cubic.cubic_throughput_bps",
    "pftk.tfrc_throughput_bps", "latency.satellite_rtt_s", "store_and_forward.cut_through_s",
    "sample_statistics.ipdv_s", "probing.pair_bandwidth_bps", "small_writes.minshall_may_send",
)  # fmt: skip
"""Formulas with another answer to the same question somewhere, which their See Also names."""


def see_also(function) -> dict[str, str]:
    """Return the functions of a docstring's See Also by full name, and what it says of each."""
    text = (inspect.getdoc(function) or "").partition("See Also\n--------\n")[2]
    text = text.partition("\nNotes\n-----")[0]
    entries = re.findall(r"^([\w.]+)(?: : |\n    )(.+)$", text, re.MULTILINE)
    home = function.__module__
    return {name if "." in name else f"{home}.{name}": said for name, said in entries}


@EVERY_SUBJECT
def test_see_also_names_public_models_and_is_mutual(functions):
    public = {f"{f.__module__}.{f.__name__}": f for known in MODELS.values() for f in known}
    for function in functions:
        for name, said in see_also(function).items():
            assert name in public, f"{function.__name__}: no public model {name}"
            assert said.endswith(".")
            here = f"{function.__module__}.{function.__name__}"
            assert here in see_also(public[name]), f"{name} does not name {here}"


def test_rivals_name_each_other():
    for name in RIVALS:
        subject, _, function = name.partition(".")
        assert see_also(vars(models.subject_module(subject))[function]), name


@cache
def own_refusals(function) -> frozenset[tuple[str, str]]:
    """Return type and code of the errors that a function raises in its own body."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return frozenset(
        (ast.unparse(call.func), ast.literal_eval(call.args[0]))
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ("DomainError", "ConvergenceError", "ArgumentTypeError")
    )


@cache
def called_models(function) -> tuple[Callable[..., object], ...]:
    """Return the functions of the models that a function names, those of its classes too."""
    names, codes = set(), [function.__code__]
    while codes:
        code = codes.pop()
        names |= {*code.co_names, *code.co_freevars}
        codes += [inner for inner in code.co_consts if inspect.iscode(inner)]
    found = []
    for name in names & set(function.__globals__):
        named = function.__globals__[name]
        methods = vars(named).values() if inspect.isclass(named) else [named]
        found += [inspect.unwrap(one) for one in methods if callable(one)]
    return tuple(
        one
        for one in found
        if inspect.isfunction(one) and one.__module__.startswith("netcalc.models.")
    )


def refusals(function) -> set[tuple[str, str]]:
    """Return type and code of all errors that a model can raise beyond the house rule."""
    reached, todo = set(), [inspect.unwrap(function)]
    while todo:
        one = todo.pop()
        if one not in reached:
            reached.add(one)
            todo += called_models(one)
    return {
        (kind, code) for one in reached for kind, code in own_refusals(one)
        if code not in HOUSE_RULE
    }  # fmt: skip


@EVERY_SUBJECT
def test_raises_says_what_goes_beyond_the_house_rule_and_only_that(functions):
    for function in functions:
        wanted = {kind for kind, _ in refusals(function)}
        assert {error.type_name for error in parsed(function).raises} == wanted, function.__name__


@EVERY_SUBJECT
def test_no_scaled_units_inside(functions):
    for function in functions:
        names = (function.__name__, *inspect.signature(function).parameters)
        assert not [name for name in names if name.endswith(FORBIDDEN)]


@pytest.mark.each("kind", samples.KINDS.values(), ids=samples.KINDS.keys())
def test_columns_of_samples_are_in_the_nomenclature(kind):
    for name, unit in kind.column_units.items():
        assert not name.endswith(FORBIDDEN)
        assert unit in UNITS
        assert suffix_unit(name) in (None, unit)
        assert NAMES.get(name) == unit, f"{name} [{unit}] of {kind.__name__}: nomenclature differs"


@pytest.mark.each("name", experiments.__all__)
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
