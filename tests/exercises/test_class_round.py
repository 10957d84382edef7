"""A sheet through a simulated class of thirty: what is counted is what was simulated."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from netcalc import exercises, plots
from netcalc.cli import main
from netcalc.exercises.classes import collecting, sheets
from netcalc.exercises.classes import sheets as roster
from netcalc.exercises.classes.sheets import DRAWS, NOBODY, distance, example

LESSONS = ("01", "02")
STUDENTS = [
    f"{first} {last}"
    for first in ("Ada", "Ben", "Cem", "Dòra", "Éva", "Fritz")
    for last in ("Ångström", "Boole", "Çelik", "Öztürk", "Zuse")
]
Thoughts = dict[tuple[str, str], str]


def run(*arguments: str) -> int:
    """Run a command; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@cache
def simulated(seed: int) -> tuple[Thoughts, Thoughts]:
    """Return what each student thinks of each exercise on Monday and on Friday.

    Six of ten have a misconception, one of them often and the others rarely; half of them lose it.
    """
    choices = random.Random(seed)
    monday: Thoughts = {}
    friday: Thoughts = {}
    for name in STUDENTS:
        for one in sheets.chosen(LESSONS):
            alike = {wrong.same_as for wrong in one.wrong}
            own = [it.name for it in one.wrong if not it.same_as and it.name not in alike]
            has = choices.random() < 0.6
            thought = choices.choices(own, [2.0**-i for i in range(len(own))])[0]
            monday[name, one.id] = thought if has else "right"
            friday[name, one.id] = thought if has and choices.random() < 0.5 else "right"
    return monday, friday


def answer_of(question: exercises.Question, thought: str) -> str:
    """Return what a student types who thinks so: the right number, or that of a wrong model."""
    value = question.answer if thought == "right" else question.wrong_answers[thought]
    unit = {"1": "", "ratio": " ratio", "byte": " B", "packet/s": " pps"}
    return f"{value!r}{unit.get(question.unit, f' {question.unit}')}"


def write_answers(path: Path, answers: dict[str, str]) -> None:
    """Put answers between the quotes of the cell of answers."""
    document = json.loads(path.read_text(encoding="utf-8"))
    cell = document["cells"][-1]
    for one, text in answers.items():
        before = f"    {one!r}: '',\n"
        assert before in cell["source"]
        cell["source"] = cell["source"].replace(before, f"    {one!r}: {text!r},\n")
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def fill_in(folder: Path, sheet: str, thoughts: Thoughts) -> None:
    """Answer all notebooks of a sheet."""
    for path in folder.glob("*.ipynb"):
        facts = json.loads(path.read_text(encoding="utf-8"))["metadata"]["netcalc"]
        drawn = exercises.sheet_of(facts["exercises"], student=facts["student"], sheet=sheet)
        answers = {one.id: answer_of(one, thoughts[facts["name"], one.id]) for one in drawn}
        write_answers(path, answers)


def expected(thoughts: Thoughts) -> Counter[tuple[str, str]]:
    """Return how many students were given each misconception."""
    return Counter((one, it) for (_, one), it in thoughts.items() if it != "right")


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    """A folder with Monday's and Friday's sheet, answered and collected."""
    folder = tmp_path_factory.mktemp("week")
    names = "name\n" + "".join(f"{name}\n" for name in STUDENTS)
    (folder / "class.csv").write_text(names, encoding="utf-8")
    for sheet, thoughts in zip(("monday", "friday"), simulated(1), strict=True):
        target = str(folder / sheet)
        given = ("--roster", str(folder / "class.csv"), "--lessons", ",".join(LESSONS))
        assert run("class", "sheet", sheet, *given, "--dir", target) == 0
        fill_in(folder / sheet, sheet, thoughts)
    assert run("class", "collect", str(folder / "monday")) == 0
    assert run("class", "collect", str(folder / "monday"), str(folder / "friday")) == 0
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow
@pytest.mark.parametrize("sheet", ["monday", "friday"])
def test_the_misconceptions_are_those_that_were_simulated(week, sheet):
    """Identity: each student typed the number of the model that the simulation gave to them."""
    thoughts = simulated(1)[sheet == "friday"]
    rows = [row for row in rows_of(week / "friday" / "marks.csv") if row["sheet"] == sheet]
    assert [row["student"] for row in rows] == STUDENTS
    found = {
        (row["student"], one.id): row[f"{one.id} mistake"] or "right"
        for row in rows
        for one in sheets.chosen(LESSONS)
    }
    assert found == thoughts
    assert [int(row["points"]) for row in rows] == [
        sum(it == "right" for (name, _), it in thoughts.items() if name == row["student"])
        for row in rows
    ]


def test_the_commonest_three_and_the_gain(week):
    """Identity: ranks, and differences of the simulated shares."""
    folders = [week / name for name in ("monday", "friday")]
    files = {path.name: path.read_bytes() for it in folders for path in it.glob("*.ipynb")}
    records = [
        sheets.read_record(path.read_text(encoding="utf-8"), file=path.name)
        for it in folders
        for path in it.glob("*.class.json")
    ]
    found = {it.sheet.name: it for it in collecting.collect(files, records=records)}
    monday, friday = simulated(1)
    counted = expected(monday)
    assert {(it.exercise, it.name): len(it.students) for it in found["monday"].mistakes()} == {
        **counted
    }
    top = [len(it.students) for it in found["monday"].commonest()]
    assert top == sorted(counted.values(), reverse=True)[:3]
    gained = collecting.gain(found["monday"], found["friday"])
    assert gained is not None
    assert gained.count == len(STUDENTS)
    for one in sheets.chosen(LESSONS):
        before = sum(monday[name, one.id] == "right" for name in STUDENTS)
        after = sum(friday[name, one.id] == "right" for name in STUDENTS)
        share = gained.of_exercise[one.id]
        assert share.value == pytest.approx((after - before) / len(STUDENTS))
        assert share.low < share.value < share.high
    every = len(monday)
    before, after = (sum(it == "right" for it in one.values()) for one in (monday, friday))
    assert gained.of_class.value == pytest.approx((after - before) / every)
    fewer = {it: (counted[it], expected(friday)[it]) for it in counted}
    assert gained.mistakes == fewer


def test_fridays_numbers_are_new(week):
    """Identity: another sheet has another hash."""
    texts = [
        {
            cell["source"]
            for path in (week / sheet).glob("*.ipynb")
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
            if cell["id"].startswith("text-")
        }
        for sheet in ("monday", "friday")
    ]
    assert len(texts[0] & texts[1]) < 0.1 * len(texts[0])


class Page(HTMLParser):
    """What a page would load or run, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.text += data


def test_the_page_opens_offline_and_shows_figures(week):
    page = Page((week / "friday" / "marks.html").read_text(encoding="utf-8"))
    assert not {"script", "link", "iframe", "img"} & page.tags
    assert all(one.startswith("data:image/svg+xml;base64,") for one in page.loads)
    assert {"svg", "table", "details"} <= page.tags
    for name in ("From monday to friday", "To talk about", "Question by question"):
        assert name in page.text
    for (_, name), count in expected(simulated(1)[1]).most_common(3):
        assert f"{count} of 30 students" in page.text
        assert name[:1].upper() + name[1:] in page.text


def test_a_notebook_has_no_answer_and_runs(week, tmp_path):
    """The cell of answers of an unanswered notebook prints verdicts, and never a number."""
    import nbformat
    from nbclient import NotebookClient

    path = tmp_path / "sheet"
    names = tmp_path / "class.csv"
    names.write_text('name\nO\'Hara "Q" \\ <b>*_`$x$\n', encoding="utf-8")
    given = ("--roster", str(names), "--lessons", ",".join(LESSONS), "--dir", str(path))
    assert run("class", "sheet", "one", *given) == 0
    (file,) = path.glob("*.ipynb")
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    facts = notebook.metadata.netcalc
    drawn = exercises.sheet_of(facts.exercises, student=facts.student, sheet="one")
    text = file.read_text(encoding="utf-8") + (path / "one.class.json").read_text("utf-8")
    digits = {f"{one.answer:.4g}".replace(".", "") for one in drawn}
    assert not any(f'"{it}"' in text for it in digits)
    write_answers(file, {drawn[0].id: answer_of(drawn[0], drawn[0].template.wrong[0].name)})
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    said = "".join(one.get("text", "") for one in notebook.cells[-1].outputs)
    assert drawn[0].template.wrong[0].name in said
    for one in drawn:
        shown = str(one.solution()).rpartition("Answer: ")[2]
        assert shown not in said
    assert re.search(r"0 of \d+ points", said)


def test_the_example_is_the_draw_nearest_to_the_measured_points():
    """Identity: no other draw for the class has a smaller median distance."""
    measured = [one for one in exercises.templates() if one.curve.get("points")]
    assert measured
    for one in measured[:1]:
        chosen = example(one.id, sheet="monday")
        others = [
            exercises.draw(one, student=f"{NOBODY} {number}", sheet="monday")
            for number in range(1, DRAWS + 1)
        ]
        assert distance(chosen) == min(map(distance, others))


def test_every_mistake_has_a_figure_or_nothing_to_draw_over():
    """Identity: with a curve, or a variable of a range, there is a line at two places."""
    for one in exercises.templates():
        question = exercises.draw(one)
        plot = plots.feedback(question, [one.wrong[0].name], answer=1.0)
        if one.curve:
            assert plot is not None
        if plot is not None:
            assert {"right", one.wrong[0].name, "your answer"} <= set(plot.sources)


def test_the_numbers_depend_on_student_and_sheet_only(week):
    """Identity: the same list gives the same notebooks, in any order."""
    students = roster.read("name\nAda\nBen\n").students
    first = sheets.make("x", students=students, lessons=LESSONS)
    second = sheets.make("x", students=students[::-1], lessons=LESSONS)
    assert first.drawn == second.drawn[::-1]
    assert sheets.notebook(first, students[0]) == sheets.notebook(second, students[0])
