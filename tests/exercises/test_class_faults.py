"""Notebooks that come back in any state: each costs its own row, and is named with the reason."""

from __future__ import annotations

import csv
import json
import os
from functools import cache
from pathlib import Path

import pytest

from netcalc import exercises
from netcalc.cli import main
from netcalc.exercises.classes import collecting, sheets
from netcalc.exercises.classes import sheets as roster
from netcalc.exercises.classes.notebooks import NotebookError

STUDENTS = roster.read("name,id\nAda,1\nBen,2\nCem,3\nÉva,4\n").students
SHEET = sheets.make("monday", students=STUDENTS, lessons=["01", "02"], made="2026-01-05")
IDS = SHEET.ids


@cache
def _blank() -> str:
    """Return the notebooks as they were made, as one document."""
    made = zip(SHEET.files, STUDENTS, strict=True)
    return json.dumps({file: sheets.notebook(SHEET, student) for file, student in made})


def documents() -> dict[str, dict]:
    """Return the notebooks of the class, Ada's and Ben's with a right first answer."""
    found = json.loads(_blank())
    for student, file in list(zip(STUDENTS, SHEET.files, strict=True))[:2]:
        answer(found[file], right(student))
    return found


def right(student: roster.Student, exercise: str = IDS[0]) -> str:
    question = exercises.draw(exercise, student=student.key, sheet="monday")
    return f"{question.answer!r} {question.unit.removeprefix('1')}"


def answer(document: dict, text: str, exercise: str = IDS[0]) -> None:
    cell = document["cells"][-1]
    cell["source"] = cell["source"].replace(f"{exercise!r}: ''", f"{exercise!r}: {text!r}")


def collected(found: dict, *, records=(SHEET,)) -> collecting.Collected:
    files = {
        name: one if isinstance(one, bytes | NotebookError) else json.dumps(one).encode()
        for name, one in found.items()
    }
    return collecting.collect(files, records=records)[0]


def codes(row: collecting.Row) -> list[str]:
    return [note.code for note in row.remarks]


def edited(change) -> dict:
    """Return the notebooks, Ada's with a change."""
    found = documents()
    found[SHEET.files[0]] = change(found[SHEET.files[0]])
    return found


def without(document: dict, *names: str) -> dict:
    for name in names:
        document.pop(name)
    return document


def with_facts(document: dict, *, sealed: bool = False, **facts) -> dict:
    known = document["metadata"]["netcalc"]
    known.update(facts)
    if sealed:
        known["seal"] = sheets.seal(known)
    return document


def with_answers(document: dict, source: str) -> dict:
    document["cells"][-1]["source"] = source
    return document


DAMAGED = {
    "notebook-empty": lambda it: b"  \n",
    "notebook-not-text": lambda it: b"\xff\xfe\x00\x81",
    "notebook-damaged": lambda it: json.dumps(it, indent=1).encode()[:400],
    "notebook-not-json": lambda it: b"[" * 100_000,
    "notebook-is-none": lambda it: [1, 2, 3],
    "notebook-version": lambda it: {**it, "nbformat": 3, "worksheets": []},
    "notebook-of-no-sheet": lambda it: {**it, "metadata": {}},
    "notebook-schema": lambda it: with_facts(it, schema=99),
    "notebook-facts-edited": lambda it: with_facts(it, student="2"),
    "notebook-cells": lambda it: {**it, "cells": "none"},
    "notebook-of-other-sheet": lambda it: with_facts(it, sealed=True, exercises=list(IDS)[::-1]),
    "sheet-unknown": lambda it: with_facts(it, sealed=True, sheet="tuesday"),
    "answers-missing": lambda it: {**it, "cells": it["cells"][:-1]},
    "answers-not-python": lambda it: with_answers(it, "answers = {'TR1': '3 s"),
    "answers-no-dictionary": lambda it: with_answers(it, "answers = dict(TR1='3 s')"),
    "notebook-unreadable": lambda it: NotebookError("notebook-unreadable", reason="no permission"),
}


@pytest.mark.parametrize("code", DAMAGED)
def test_one_damaged_notebook_costs_its_own_row(code):
    found = collected(edited(DAMAGED[code]))
    ada, ben, cem, eva = found.rows
    assert (ada.counted, codes(ada)) == (False, [code])
    assert ada.file == SHEET.files[0]
    assert str(ada.remarks[0])
    assert (ben.counted, ben.points) == (True, 1)
    assert cem.counted
    assert eva.counted
    assert found.share(IDS[0]).value == pytest.approx(1 / 3)  # identity: one of three notebooks


def test_a_later_minor_version_and_a_list_of_lines_are_read():
    """Identity: format 4 stores a cell as a text or as its lines."""
    found = documents()
    first = found[SHEET.files[0]]
    first["nbformat_minor"] = 9
    first["cells"][-1]["source"] = first["cells"][-1]["source"].splitlines(keepends=True)
    assert collected(found).rows[0].points == 1


def test_a_renamed_notebook_counts_with_a_remark():
    found = documents()
    found["My copy (2).ipynb"] = found.pop(SHEET.files[0])
    row = collected(found).rows[0]
    assert (row.counted, row.points, codes(row)[0]) == (True, 1, "notebook-renamed")


def test_a_half_filled_notebook_counts():
    row = collected(documents()).rows[0]
    assert (row.counted, row.points, codes(row)) == (True, 1, ["answers-blank"])
    assert row.remarks[0].values["ids"] == list(IDS[1:])


def test_no_notebook_is_a_row_without_points():
    found = documents()
    del found[SHEET.files[2]]
    row = collected(found).rows[2]
    assert (row.counted, row.file, codes(row)) == (False, "", ["notebook-missing"])


def test_two_equal_notebooks_count_once_and_two_different_ones_not():
    found = documents()
    found["again.ipynb"] = found[SHEET.files[0]]
    row = collected(found).rows[0]
    assert (row.counted, "notebook-again" in codes(row)) == (True, True)
    other = sheets.notebook(SHEET, STUDENTS[0])
    answer(other, "99 s")
    found["again.ipynb"] = other
    row = collected(found).rows[0]
    assert (row.counted, codes(row)) == (False, ["notebooks-differ"])
    assert set(row.remarks[0].values["files"]) == {"again.ipynb", SHEET.files[0]}
    assert all(row.counted for row in collected(found).rows[1:])


def test_a_damaged_copy_beside_a_good_notebook_costs_nothing():
    found = documents()
    found["x/" + SHEET.files[0]] = b"{"
    row = collected(found).rows[0]
    assert (row.counted, row.points) == (True, 1)
    assert codes(row)[-2:] == ["notebook-again", "notebook-damaged"]


def test_a_stranger_is_named_beside_the_class():
    other = sheets.make(
        "monday", students=[roster.Student(name="Zoe", id="9")], lessons=["01", "02"]
    )
    found = documents()
    found["zoe.ipynb"] = sheets.notebook(other, other.students[0])
    result = collected(found)
    assert [(row.file, codes(row)) for row in result.refused] == [
        ("zoe.ipynb", ["student-unknown"])
    ]
    assert all(row.counted for row in result.rows)


def test_the_identity_of_another_is_a_second_notebook_of_theirs():
    """Ben hands in Ada's facts with his answers: nobody gets points that are not clear."""
    ada, ben = documents()[SHEET.files[0]], documents()[SHEET.files[1]]
    ben["metadata"]["netcalc"] = ada["metadata"]["netcalc"]
    found = documents()
    found[SHEET.files[1]] = ben
    rows = collected(found).rows
    assert codes(rows[0]) == ["notebooks-differ"]
    assert codes(rows[1]) == ["notebook-missing"]


def test_exercises_that_changed_since_are_not_judged_by_other_numbers():
    old = sheets.Sheet(
        **{name: getattr(SHEET, name) for name in SHEET.__slots__ if name != "drawn"},
        drawn=("0" * 16, *SHEET.drawn[1:]),
    )
    found = documents()
    with_facts(found[SHEET.files[0]], sealed=True, drawn="0" * 16)
    rows = collected(found, records=(old,)).rows
    assert codes(rows[0]) == ["exercises-changed"]
    assert rows[1].counted


def test_two_sheets_of_one_name_are_refused():
    other = sheets.make("monday", students=STUDENTS[:2], lessons=["01"])
    with pytest.raises(Exception, match="two different sheets are called 'monday'"):
        collecting.collect({}, records=(SHEET, other))
    assert collecting.collect({}, records=(SHEET, SHEET))  # the same record in two folders is one


NOT_RUN = [
    "__import__('os').system('touch {mark}')",
    "open('{mark}', 'w')",
    "(lambda: open('{mark}', 'w'))()",
    "f\"{{open('{mark}', 'w')}}\"",
]


@pytest.mark.parametrize("code", NOT_RUN)
def test_nothing_is_executed(tmp_path, code):
    mark = tmp_path / "mark"
    source = f"answers = {{{IDS[0]!r}: {code.format(mark=mark)}, {IDS[1]!r}: '1 s'}}"
    row = collected(edited(lambda it: with_answers(it, source))).rows[0]
    assert not mark.exists()
    assert row.counted
    assert "answers-are-code" in codes(row)
    assert list(row.answers) == [IDS[1]]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", None),
        ("many", "unreadable"),
        ("nan", "unreadable"),
        ("1e400 s", "unreadable"),
        ("<script>alert(1)</script>", "unreadable"),
        ("3 bananas", "unreadable"),
        ("12", "unit missing"),
    ],
)
def test_answers_of_any_kind(text, kind):
    found = documents()
    answer(found[SHEET.files[2]], text)
    row = collected(found).rows[2]
    assert row.counted
    verdict = row.verdicts.get(IDS[0])
    assert (verdict.kind if verdict else None) == kind


def test_odd_cells_of_answers():
    source = (
        "answers = {'old': '1 s'}\n"
        f"answers = {{{IDS[0]!r}: 12, {IDS[1]!r}: '1 s', {IDS[1]!r}: '2 s', 'NO1': '3'}}\n"
        f"answers[{IDS[0]!r}] = '5 s'\nanswers.update(more)\n"
    )
    row = collected(edited(lambda it: with_answers(it, source))).rows[0]
    assert row.answers == {IDS[0]: "5 s", IDS[1]: "2 s"}
    assert {"answers-twice", "answers-of-others", "answers-changed-by-code"} <= set(codes(row))


def test_an_answer_of_many_letters_is_not_kept():
    row = collected(edited(lambda it: with_answers(it, f"answers = {{{IDS[0]!r}: '{'9' * 999}'}}")))
    assert "answers-too-long" in codes(row.rows[0])


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A folder in which Monday's sheet of a hostile class was made."""
    monkeypatch.chdir(tmp_path)
    names = (
        "name;id\nAnna Müller;1\n\"=cmd|' /C calc'!A0\";2\n<script>alert(1)</script>;3\n"
        "../../etc/passwd;4\n@SUM(1+1);5\n-1+1;6\n+1;7\nCON;8\n...;9\nAnna  müller;10\n"
    )
    Path("class.csv").write_bytes(b"\xef\xbb\xbf" + names.encode())
    assert run("class", "sheet", "monday", "--roster", "class.csv", "--lessons", "01") == 0
    return tmp_path


def test_names_never_lead_out_of_the_folder(made):
    """Identity: eleven files in the folder, and nothing beside it."""
    assert sorted(path.name for path in made.iterdir()) == ["class.csv", "monday"]
    names = sorted(path.name for path in (made / "monday").iterdir())
    assert len(names) == 11
    assert len({name.casefold() for name in names}) == 11
    assert all(name.startswith("monday") for name in names)


def test_marks_of_a_hostile_class(made):
    assert run("class", "collect", "monday") == 0
    raw = (made / "monday" / "marks.csv").read_text(encoding="utf-8-sig")
    for row in csv.reader(raw.splitlines()):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    page = (made / "monday" / "marks.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_nothing_is_overwritten(made, capsys):
    files = {path: path.read_bytes() for path in (made / "monday").iterdir()}
    given = ("--roster", "class.csv", "--lessons", "01")
    assert run("class", "sheet", "monday", *given) == 2
    assert "monday.class.json exists" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (made / "monday").iterdir()} == files
    (made / "other").mkdir()
    taken = made / "other" / "monday_Anna-Müller.ipynb"
    taken.write_text("mine", encoding="utf-8")
    assert run("class", "sheet", "monday", *given, "--dir", "other") == 2
    assert [path.name for path in (made / "other").iterdir()] == [taken.name]
    assert run("class", "collect", "monday") == 0
    before = (made / "monday" / "marks.csv").read_bytes()
    assert run("class", "collect", "monday") == 2
    assert (made / "monday" / "marks.csv").read_bytes() == before
    assert run("class", "collect", "monday", "--out", "later") == 0
    assert run("class", "collect", "monday", "--out", "../later") == 2


def test_a_sheet_is_whole_or_not_there(made, monkeypatch):
    """A disk that is full at the third notebook leaves none."""
    found = []
    whole = sheets.notebook_text

    def full(*given):
        found.append(given)
        if len(found) == 3:
            raise OSError(28, "No space left on device")
        return whole(*given)

    monkeypatch.setattr(sheets, "notebook_text", full)
    assert run("class", "sheet", "two", "--roster", "class.csv", "--lessons", "01") == 2
    assert not any((made / "two").iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["sheet", "../x", "--roster", "class.csv", "--lessons", "01"],
        ["sheet", "con", "--roster", "class.csv", "--lessons", "01"],
        ["sheet", "", "--roster", "class.csv", "--lessons", "01"],
        ["sheet", "x" * 41, "--roster", "class.csv", "--lessons", "01"],
        ["sheet", "x", "--roster", "class.csv", "--lessons", "77"],
        ["sheet", "x", "--roster", "class.csv", "--lessons", " , "],
        ["sheet", "x", "--roster", "none.csv", "--lessons", "01"],
        ["sheet", "x", "--roster", "class.csv", "--lessons", "01", "--dir", "class.csv"],
        ["collect", "none"],
        ["collect", "."],
        ["collect"],
    ],
)
def test_mistakes_on_the_command_line(made, capsys, arguments):
    if arguments == ["collect", "."]:
        (made / "monday" / "monday.class.json").unlink()
    assert run("class", *arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("netcalc: ")
    assert "Traceback" not in said


def test_a_damaged_record_is_refused_by_name(made, capsys):
    (made / "monday" / "monday.class.json").write_text('{"schema": 1}', encoding="utf-8")
    assert run("class", "collect", "monday") == 2
    assert "monday.class.json" in capsys.readouterr().err


def test_files_that_are_no_files(made, capsys):
    """A pipe without a writer would never open, and a link to a folder is none."""
    first = next((made / "monday").glob("*passwd*.ipynb"))
    first.unlink()
    os.mkfifo(first)
    assert run("class", "collect", "monday", "--json") == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert first.name in captured.err
    refused = [row for row in document["sheets"][0]["students"] if not row["counted"]]
    assert [row["name"] for row in refused] == ["../../etc/passwd"]


@pytest.mark.slow
def test_a_thousand_students(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = "name\n" + "".join(f"Student {i}\n" for i in range(1000))
    Path("class.csv").write_text(names, encoding="utf-8")
    assert run("class", "sheet", "big", "--roster", "class.csv", "--lessons", "05") == 0
    assert run("class", "collect", "big") == 0
    rows = Path("big/marks.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1001
    assert len(list(Path("big").glob("*.ipynb"))) == 1000


def boxed(document: dict, exercise: str, text: str, *, sheet: str = "monday") -> None:
    """Save the output of a box in a notebook, as a front end does."""
    from netcalc.lessons.exercise import box

    facts = document["metadata"]["netcalc"]
    shown = box(exercise, student=facts["student"], sheet=sheet, with_question=False)
    shown.check(text)
    cell = next(
        one for one in document["cells"] if exercise in one["source"] and ".box" in one["source"]
    )
    data = {"text/plain": shown.plain().splitlines(keepends=True)}
    cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]


def test_what_a_box_saved_counts_where_the_cell_is_blank():
    found = documents()
    for student, file in zip(STUDENTS, SHEET.files, strict=True):
        boxed(found[file], IDS[0], "77 years")
        boxed(found[file], IDS[1], right(student, IDS[1]))
    ada, _, cem, _ = collected(found).rows
    assert (ada.points, cem.points) == (2, 1)
    assert (ada.answers[IDS[0]], cem.answers[IDS[0]]) == (right(STUDENTS[0]), "77 years")


def test_a_box_with_other_numbers_is_no_answer():
    found = documents()
    boxed(found[SHEET.files[2]], IDS[1], "3 s", sheet="monday new 1")
    row = collected(found).rows[2]
    assert IDS[1] not in row.answers
    assert "answers-to-other-numbers" in codes(row)


def test_a_solution_that_was_shown_is_named():
    found = documents()
    for _ in range(3):
        boxed(found[SHEET.files[2]], IDS[1], "3 s")
    cell = next(one for one in found[SHEET.files[2]]["cells"] if one.get("outputs"))
    cell["outputs"][0]["data"]["text/plain"].append("\nWorked solution:\n")
    row = collected(found).rows[2]
    assert "solution-was-shown" in codes(row)


@pytest.mark.parametrize("outputs", ["x", [3], [{"data": 3}], [{"data": {"text/plain": [3]}}], {}])
def test_odd_outputs_are_no_answers(outputs):
    found = documents()
    found[SHEET.files[0]]["cells"][2]["outputs"] = outputs
    assert collected(found).rows[0].points == 1


OWN = """
[[exercise]]
id = "OWN1"
lesson = "01"
topic = "our own line"
text = "How long does a packet of {L} take on our line of 2 Mbit/s?"
unit = "s"
right = "8 * L / 2 Mbit/s"
[exercise.variables]
L = { low = "200 B", high = "1500 B", digits = 2 }
[[exercise.wrong]]
name = "bytes taken for bits"
formula = "L / 2 Mbit/s"
sentence = "A byte has 8 bits."
ask = "How many bits are in a byte?"
"""


def test_exercises_of_a_teacher(tmp_path, monkeypatch):
    """They are copied beside the notebooks, and collected with them."""
    monkeypatch.chdir(tmp_path)
    Path("class.csv").write_text("name\nAda\n", encoding="utf-8")
    Path("mine.toml").write_text(OWN, encoding="utf-8")
    given = ("--roster", "class.csv", "--lessons", "01", "--file", "mine.toml")
    assert run("class", "sheet", "monday", *given) == 0
    assert Path("monday/mine.toml").read_text(encoding="utf-8") == OWN
    path = Path("monday/monday_Ada.ipynb")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert "paths=['mine.toml']" in document["cells"][-1]["source"]
    question = exercises.draw("OWN1", student="Ada", sheet="monday", paths=["mine.toml"])
    wrong = question.wrong_answers["bytes taken for bits"]
    answer(document, f"{wrong!r} s", "OWN1")
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run("class", "collect", "monday") == 0
    (row,) = csv.DictReader(Path("monday/marks.csv").read_text("utf-8-sig").splitlines())
    assert row["OWN1 mistake"] == "bytes taken for bits"
    assert "our own line" in Path("monday/marks.html").read_text(encoding="utf-8")
    Path("monday/mine.toml").unlink()
    assert run("class", "collect", "monday", "--out", "again") == 2
    assert run("class", "sheet", "two", *given, "--file", str(tmp_path / "x" / "mine.toml")) == 2
    assert not Path("two").exists()


def test_a_file_of_exercises_that_is_a_pipe_is_not_waited_for(made, capsys):
    os.mkfifo("own.toml")
    given = ("--roster", "class.csv", "--lessons", "01", "--file", "own.toml")
    assert run("class", "sheet", "friday", *given) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not Path("friday").exists()


def test_a_file_whose_name_is_no_text_is_refused(made, capsys):
    name = "own\udcff.toml"
    Path(name).write_text(OWN)
    given = ("--roster", "class.csv", "--lessons", "01", "--file", name)
    assert run("class", "sheet", "friday", *given) == 2
    assert capsys.readouterr().err.startswith(r"netcalc: own\udcff.toml: is not a valid file name")
    assert not Path("friday").exists()


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202e", "\ud800", "\0"])
def test_what_a_record_names_is_printable_in_the_marks(made, text):
    record = Path("monday/monday.class.json")
    content = json.loads(record.read_text())
    content["exercises"][0] = text
    record.write_text(json.dumps(content))
    run("class", "collect", "monday")
    raw = Path("monday/marks.csv").read_text(encoding="utf-8-sig")
    assert all(letter.isprintable() or letter == "\n" for letter in raw)


def test_marks_have_a_name_that_can_be_one(made, capsys):
    assert run("class", "collect", "monday", "--out", "a\0b") == 2
    assert capsys.readouterr().err.startswith("netcalc: --out must be a name without a folder")
