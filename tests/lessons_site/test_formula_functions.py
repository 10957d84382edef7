"""Formulas in JavaScript: how many there are, and that a browser computes what Python does."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "models")]

import formula_grid as grid  # noqa: E402
from offline_browser import chromium, missing, opened  # noqa: E402

from netcalc.lessons.site.calculator_page import (  # noqa: E402
    FormulaFunction,
    formula_functions,
    functions_program,
)
from netcalc.lessons.site.javascript import RUNTIME  # noqa: E402
from netcalc.lessons.site.recording import NotRecorded  # noqa: E402

DOCS = Path(__file__).parents[2] / "docs" / "static_pages.md"


def recorded() -> list[FormulaFunction]:
    functions, _ = formula_functions()
    return [one for one in functions.values() if isinstance(one, FormulaFunction)]


def program() -> str:
    _, rules = formula_functions()
    return "\n".join([RUNTIME.read_text(), functions_program(recorded(), rules), grid.READ])


@pytest.mark.slow
def test_most_formulas_are_recorded():
    functions, _ = formula_functions()
    assert len(recorded()) >= 0.85 * len(functions)


@pytest.mark.slow
def test_each_formula_that_is_not_recorded_says_why():
    functions, _ = formula_functions()
    for name, one in functions.items():
        assert isinstance(one, FormulaFunction) or one.reason, name


@pytest.mark.slow
def test_the_documentation_has_the_counts():
    functions, _ = formula_functions()
    text = DOCS.read_text(encoding="utf-8")
    row = re.search(r"\| formulas \| (\d+) \|", text)
    assert row
    assert int(row[1]) == len(functions)
    row = re.search(r"\| recorded \| (\d+) \|", text)
    assert row
    assert int(row[1]) == len(recorded())
    reasons = Counter(one.reason for one in functions.values() if isinstance(one, NotRecorded))
    told = {
        words: int(count)
        for count, words in re.findall(
            r"\| (\d+) \| (it [^|]+|[^|]* value decides[^|]*|its [^|]+) \|", text
        )
    }
    assert {words.strip(): count for words, count in told.items()} == dict(reasons)


@pytest.mark.browser("other")
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_browser_computes_what_python_does(tmp_path):
    """On ordinary and extreme values: the same number within 1e-9, refusal and notes."""
    cases = [(one.formula, given) for one in recorded() for given in grid.cases(one)]
    wire = json.dumps([[formula.name, *grid.plain(given)] for formula, given in cases])
    page = tmp_path / "formulas.html"
    page.write_text(f"<!doctype html><script>{program()}</script>", encoding="utf-8")
    with chromium() as browser, opened(browser, page.as_uri()) as shown:
        answers = json.loads(
            shown.evaluate(
                "text => JSON.stringify(answers(netcalcFormulas, JSON.parse(text)))", wire
            )
        )
    wrong = []
    for (formula, given), found in zip(cases, answers, strict=True):
        expected = grid.answer(formula, given)
        if not alike(given, expected, found):
            wrong.append((formula.name, given, expected, found))
    assert wrong[:5] == []
    text = DOCS.read_text(encoding="utf-8")
    assert f"| compared answers | {len(cases):,} |" in text, len(cases)
    refused = sum("code" in one for one in answers)
    assert f"| of them refusals | {refused:,} |" in text, refused


def alike(given: list, expected: dict, found: dict) -> bool:
    """Whether two answers are the same one."""
    if "code" not in expected:
        return found.get("notes") == expected["notes"] and not grid.differ(
            expected["value"], found["value"]
        )
    if "code" not in found:
        return False
    if "none of these" in given:  # a word that is none: the page says what it offers
        return found["code"] == "not-a-choice"
    if expected["code"] != found["code"]:
        return False
    names = [name for name in ("name", "value", "low", "high") if name in found["values"]]
    return not any(grid.differ(expected["values"].get(n), found["values"][n]) for n in names)
