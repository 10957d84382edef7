"""The form of a lesson: what it is for, one question asked and answered, short steps, exercises.

The first cell has the title, the question in bold, the minutes and what the lesson needs in
italics, and two to four objectives. The last cells are the answer, the exercises, the words and
the link to the next lesson.
"""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import nbformat
import pytest

from netcalc import lessons

ROOT = Path(__file__).parents[2]
GLOSSARY = runpy.run_path(str(ROOT / "tests" / "glossary.py"))
LESSONS = [path for path in GLOSSARY["LESSONS"] if not path.name.startswith("00_")]

ENDS = ["## The answer", "## Exercises", GLOSSARY["HEADING"]]
TITLES = {
    "Stevens": "TCP/IP Illustrated",
    "Snader": "Effective TCP/IP Programming",
    "Peterson": "TCP Congestion Control: A Systems Approach",
    "Kurose": "Computer Networking",
}
"""Books by an author's name: a lesson that names the author names the title, too."""
BOX = re.compile(r'^(?:from netcalc\.lessons import exercise\n+)?exercise\.box\("(\w+)"[^\n]*\)$')
ABOUT = re.compile(r"^\*About (\d+) minutes\. Needs [^*]+\.\*", re.M)
ABBREVIATION = re.compile(r"\b(vol|Fig|Figs|sec|no|St|vs|cf|[A-Z])\.(?= )")


def cells(path: Path) -> list:
    """Return the cells of a lesson."""
    return nbformat.read(path, as_version=4).cells


def blocks(source: str) -> list[str]:
    """Return the paragraphs and list items of a cell, without headings, equations and commands."""
    source = re.sub(r"\$\$.*?\$\$", "", source, flags=re.S)
    source = re.sub(r"<details>.*?</details>", "", source, flags=re.S)
    found = []
    for paragraph in re.split(r"\n\s*\n", source):
        if paragraph.startswith(("    ", "#", "|", "```")) or not paragraph.strip():
            continue
        found += re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", paragraph.strip())
    return found


def sentences(block: str) -> int:
    """Return how many sentences a paragraph or list item has."""
    text = re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)", "x", block)
    text = re.sub(r"^\s*\d+\. ", "", text)
    text = ABBREVIATION.sub(r"\1", text).replace("**", "").replace("*", "")
    return len(re.findall(r"[.!?][)\"']*(?=\s|$)", text)) or 1


def section(path: Path, heading: str) -> list:
    """Return the cells of one of the last sections, from its heading to the next."""
    found, inside = [], False
    for cell in cells(path):
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            inside = cell.source.startswith(heading)
        if inside:
            found.append(cell)
    return found


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_a_lesson_begins_with_its_question_its_time_and_its_objectives(path):
    first = cells(path)[0].source
    title, question, about = re.split(r"\n\s*\n", first)[:3]
    number = GLOSSARY["number"](path).lstrip("0")
    assert title.startswith(f"# {number}. ")
    assert re.fullmatch(r"\*\*.*\?\*\*", question, re.S), "no question"
    minutes = ABOUT.match(about)
    assert minutes, "no minutes, or not what it needs"
    assert 10 <= int(minutes[1]) <= 90
    assert about.endswith("After this lesson you can")
    assert 2 <= len(re.findall(r"^- ", first.partition("you can\n")[2], re.M)) <= 4


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_a_lesson_ends_with_answer_exercises_words_and_the_next(path):
    headings = [
        line
        for cell in cells(path)
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("## ")
    ]
    assert headings[-3:] == ENDS
    (words,) = [cell for cell in cells(path) if cell.source.startswith(ENDS[2])]
    assert words.source.count("\n- **") >= 3
    *_, last = cells(path)
    order = [one.name for one in GLOSSARY["LESSONS"]]
    following = (order[order.index(path.name) + 1 :] or order)[0]
    assert re.match(r"(Next|Back to)\b", last.source)
    assert f"]({following})" in last.source


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_prose_comes_in_short_steps(path):
    between = 0
    for cell in cells(path):
        if cell.cell_type == "code":
            between = 0
            continue
        found = blocks(cell.source)
        if not cell.source.startswith(tuple(ENDS)):
            between += sum(not re.match(r"\s*([-*]|\d+\.) ", block) for block in found)
        for block in found:
            assert sentences(block) <= 3, block
        assert between <= 5, f"too long without anything to do: {cell.source[:60]!r}"


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_each_exercise_is_checked_or_has_its_answer(path):
    opened, ids = None, []
    for cell in section(path, "## Exercises"):
        if cell.cell_type == "code":
            box = BOX.match(cell.source)
            if box:
                ids.append(box[1])
                opened = None
            continue
        assert opened is None, f"no answer to {opened[:60]!r}"
        items = re.split(r"\n(?=\d+\. )", cell.source)
        *before, last = [item for item in items if re.match(r"\d+\. ", item)] or [None]
        for item in before:
            assert "<details>" in item, f"no answer to {item[:60]!r}"
        opened = last if last and "<details>" not in last else None
    assert opened is None, "the last exercise has no answer"
    assert len(set(ids)) == len(ids) >= 3
    known = {
        one["id"]
        for file in (ROOT / "data" / "exercises").glob("*.toml")
        for one in tomllib.loads(file.read_text(encoding="utf-8"))["exercise"]
    }
    assert set(ids) <= known


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_books_have_their_titles(path):
    text = "\n".join(cell.source for cell in cells(path))
    assert not re.search(r"\bthe book\b", text, re.I), "which book?"
    for author, title in TITLES.items():
        assert author not in text or title in text, author


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_nothing_is_sent_before_a_button_is_pressed(path):
    for cell in cells(path):
        if cell.cell_type == "code":
            assert "experiments" not in cell.source, cell.source


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_a_lesson_is_in_the_list_of_lessons_and_in_the_guide_for_teachers(path):
    first = (ROOT / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8")
    assert f"]({path.name})" in first, "notebooks/00_start_here.ipynb has no line for it"
    guide = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    number = path.name.split("_")[0]
    assert f"\n| {number} " in guide, "the table of docs/teaching.md has no row for it"


@pytest.mark.each("path", LESSONS, ids=lambda path: path.name)
def test_the_panels_of_a_lesson_are_its_own_and_tested(path):
    code = "\n".join(cell.source for cell in cells(path) if cell.cell_type == "code")
    imported = re.findall(r"from netcalc\.lessons(?:\.(\w+))? import ([\w, ]+)", code)
    named = {name for name, names in imported for name in (name or names).split(", ")}
    panels = {name.split(" as ")[0] for name in named} & set(lessons.__all__) - {"exercise"}
    assert panels, "it uses no file of netcalc/lessons that __init__.py lists"
    tests = {
        file.name: file.read_text(encoding="utf-8")
        for file in (ROOT / "tests" / "widgets").glob("test_*.py")
    }
    for name in panels:
        uses = re.compile(rf"netcalc\.lessons(\.{name}\b| import .*\b{name}\b)")
        assert any(map(uses.search, tests.values())), f"no test in tests/widgets uses {name}"
