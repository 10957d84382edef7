"""The teacher's guide: its numbers are computed, and it has a plan for every lesson."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "teaching.md"
TEXT = GUIDE.read_text(encoding="utf-8")
LESSONS = sorted({path.name.partition("_")[0] for path in (ROOT / "notebooks").glob("*.ipynb")})


def section(number: str) -> str:
    """Return the section of a lesson; 02b is in that of 02."""
    (found,) = re.findall(rf"^## {number[:2]} .*?(?=^## )", TEXT, re.M | re.S)
    return found


def test_the_numbers_of_the_guide():
    """Derived: each stands beside its arithmetic in the text."""
    flags = doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, optionflags=flags)
    assert failed == 0
    assert tried > 80


@pytest.mark.parametrize("number", LESSONS)
def test_every_lesson_has_a_plan(number):
    text = section(number)
    assert "*Objectives.*" in text
    assert "*What goes wrong.*" in text
    assert re.search(r"\*Answers?\.\*", text)
    assert "minutes" in text
    assert number in text.partition("\n")[0]
    assert re.search(rf"^\| .*\b{number}\b.* \|", TEXT, re.M), "not in the table"


def test_the_commands_of_the_guide_exist():
    from netcalc.cli import COMMANDS

    used = set(re.findall(r"netcalc (\w+)", TEXT)) - {"in", "import"}
    assert used <= set(COMMANDS)
