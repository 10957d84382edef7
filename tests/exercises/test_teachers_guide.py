"""The teacher's guide: its numbers are computed, and it has a plan for every lesson."""

from __future__ import annotations

import doctest
import json
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


def minutes(number: str) -> tuple[str, str]:
    """Return the minutes that a lesson states, and those of the table of the guide."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    (own,) = re.findall(r"^\*About (\d+) minutes", first, re.M)
    (told,) = re.findall(rf"^\| {number} .*\| (\d+) \|", TEXT, re.M)
    return own, told


@pytest.mark.parametrize("number", LESSONS)
def test_the_minutes_are_those_of_the_lesson(number):
    own, told = minutes(number)
    assert own == told


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
