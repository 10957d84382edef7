"""The box of an exercise: three steps of feedback, the figure, new numbers, and its text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from netcalc import datasets, exercises
from netcalc.errors import DomainError
from netcalc.exercises import Verdict
from netcalc.lessons import answered, exercise

TEMPLATE = """
[[exercise]]
id = "T1"
lesson = "01"
topic = "transfer time"
text = "A file of {N} <b>crosses</b> a line of {R}. When is it there?"
unit = "s"
right = "8 * N / R"
curve = { x = "N", low = "1 kB", high = "100 MB", points = "transfer_times", point_x = \
"payload_bytes", point_y = "printed_transfer_s" }
[exercise.variables]
N = { values = ["1 MB"] }
R = { values = ["10 Mbit/s"] }
[[exercise.wrong]]
name = "bytes taken for bits"
formula = "N / R"
sentence = "A byte has 8 bits."
ask = "How many bits are in the file?"
"""
# derived: 8 x 1 MB / 10 Mbit/s, and without the 8
RIGHT, WRONG = "800 ms", "100 ms"


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(TEMPLATE)
    return exercise.box("T1", paths=[path])


def said(box):
    return re.sub("<[^>]+>", " ", box.message.value)


def everything(box):
    """All that the box shows, on the page and in the notebook's file."""
    outputs = [text for output in box.saved.outputs().values() for text in output.values()]
    return " ".join([box.about.value, box.message.value, box.working.value, *outputs])


def test_the_feedback_has_three_steps(box):
    box.check(WRONG)
    assert "How many bits are in the file?" in said(box)
    assert "bytes taken" not in everything(box), "the mistake has no name yet"
    assert "Two more tries" in said(box)
    box.check(WRONG)
    assert "Bytes taken for bits: A byte has 8 bits." in said(box)
    assert "800" not in everything(box), "the number is not shown before"
    assert box.figure is None
    box.check(WRONG)
    data = box.figure.plot.sources
    at = np.asarray(data["right"].data["x"])
    assert np.asarray(data["right"].data["y"]) == pytest.approx(8 * at / 1e7)  # derived
    assert np.asarray(data["bytes taken for bits"].data["y"]) == pytest.approx(at / 1e7)
    assert data["your answer"].data["y"][0] == pytest.approx(0.1)
    assert data["your answer"].data["x"][0] == 1e6
    printed = datasets.load("transfer_times").columns()
    assert data["data: transfer times"].data["y"].tolist() == printed["printed_transfer_s"].tolist()
    assert box.is_solved
    assert "800" in box.working.value
    assert box.figure in box.children
    assert "stroke-dasharray" in box.figure.picture(), "the wrong one is dashed"
    assert "image/svg+xml" in box.saved.outputs()["picture"]


def test_a_right_answer_is_told_and_shows_no_number(box):
    verdict = box.check("0,8 s")
    assert verdict.is_right
    assert said(box).strip() == "Right."
    assert box.tries == 0
    assert not box.is_solved


@pytest.mark.parametrize("text", ["", "fast", "1e400 s", "nan", "5 bananas", "<script>", "8" * 500])
def test_what_cannot_be_read_does_not_count(box, text):
    box.check(text)
    assert box.tries == 0
    assert "does not count" in said(box)
    assert "<script" not in box.saved.outputs()["values"]["text/html"]


def test_no_control_character_of_an_answer_reaches_a_terminal(box):
    box.check("5\u001b[2J s\u202e")
    assert box.saved.outputs()["values"]["text/plain"].isprintable() is False  # its lines
    assert all(line.isprintable() for line in box.plain().splitlines())


def test_an_unknown_answer_leads_to_the_right_curve_alone(box):
    for _ in range(3):
        box.check("123 s")
    assert set(box.figure.plot.sources) == {"right", "data: transfer times", "your answer"}
    box.check("fast")
    assert box.is_solved, "what was shown stays"


def test_new_numbers_begin_anew_and_are_the_same_for_the_same_sheet():
    one, other = (exercise.box("TR1", student="s1", sheet="monday") for _ in range(2))
    first = one.question.text
    for _ in range(3):
        one.check("1 us")
    one.new_numbers()
    assert one.question.text != first
    assert (one.tries, one.is_solved, one.figure, said(one)) == (0, False, None, "")
    other.new_numbers()
    assert other.question.text == one.question.text
    assert one.question.sheet == "monday new 1"


def test_an_exercise_without_a_range_has_a_solution_without_a_figure(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("\n".join(line for line in TEMPLATE.splitlines() if "curve" not in line))
    plain = exercise.box("T1", paths=[path])
    for _ in range(3):
        plain.check(WRONG)
    assert plain.figure is None
    assert "800" in plain.working.value


def test_a_teacher_opens_the_solution(box):
    box.show_solution()
    assert "800" in box.working.value
    assert box.tries == 0


def test_the_text_of_the_file_is_escaped_and_complete(box):
    box.check('"><img src=x onerror=alert(1)> 5 s')
    html = box.saved.outputs()["values"]["text/html"]
    assert "<img" not in html
    assert "<b>crosses" not in html + box.about.value
    assert "A file of 1 MB" in html
    plain = box.saved.outputs()["values"]["text/plain"]
    assert plain.startswith("Transfer time (T1). A file of 1 MB <b>crosses</b> a line of 10 Mbit/s")
    assert "a time such as 30 ms" in plain


def test_the_field_sends_what_was_typed(box):
    box.field._hear(box.field, {"kind": "answer", "text": RIGHT}, None)
    assert box.verdict.is_right
    assert box.field.text == RIGHT
    assert box.field.label == "Answer to T1, with its unit"
    box.field._hear(box.field, {"kind": "new numbers"}, None)
    assert box.verdict is None
    assert box.field.text == ""
    box.field._hear(box.field, {"kind": "answer", "text": "9 s"}, None)
    # The answers of a class are collected from these two: to the numbers of the sheet.
    state = box.field.get_state()
    assert (state["exercise"], state["answer"]) == ("T1", RIGHT)


def test_a_new_page_begins_where_the_last_one_ended(box, tmp_path, monkeypatch):
    """The kernel of a class ends with its page; what was typed is in a file of the student's."""
    kept = tmp_path / "kept"
    kept.touch()
    monkeypatch.setenv(answered.FILE, str(kept))
    for content in (
        {"kind": "answer", "text": WRONG}, {"kind": "answer", "text": WRONG}, {"kind": "nothing"},
    ):  # fmt: skip
        box.field._hear(box.field, content, None)
    with kept.open("a") as stream:
        stream.write('{"of": ["T2", "", ""], "kind": "answer", "text": "9 s"}\n[1]\n{"of": ["T1"')
    again = exercise.box("T1", paths=[tmp_path / "own.toml"])
    assert (again.tries, again.field.text, again.field.answer) == (2, WRONG, WRONG)
    assert said(again) == said(box)
    again.field._hear(again.field, {"kind": "new numbers"}, None)
    last = exercise.box("T1", paths=[tmp_path / "own.toml"])
    assert (last.tries, last.field.text, last.field.answer) == (2, WRONG, WRONG), "the line was cut"
    again.field._hear(again.field, {"kind": "new numbers"}, None)
    last = exercise.box("T1", paths=[tmp_path / "own.toml"])
    assert (last.tries, last.field.text, last.field.answer) == (0, "", WRONG)


def test_answers_are_kept_up_to_a_size_and_where_there_is_a_file(box, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    monkeypatch.setenv(answered.FILE, str(kept))
    box.field._hear(box.field, {"kind": "answer", "text": WRONG}, None)
    assert not kept.exists(), "only what the class has made is written"
    kept.write_bytes(b" " * (answered.MOST_BYTES - 10))
    box.field._hear(box.field, {"kind": "answer", "text": RIGHT}, None)
    assert kept.stat().st_size == answered.MOST_BYTES - 10
    assert box.verdict.is_right


def test_an_unknown_exercise_is_refused_with_the_nearest():
    with pytest.raises(DomainError) as caught:
        exercise.box("tr1 ")
    assert caught.value.values["suggestions"] == ["TR1"]


def test_several_mistakes_are_named_together():
    verdict = Verdict(kind="several", names=("one way", "half"), sentence="A. B.", question="C?")
    assert exercise.feedback(verdict, 1)[0] == "Not yet. C?"
    assert exercise.feedback(verdict, 2)[0] == "Not yet. One way or half: A. B."


@pytest.mark.parametrize("template", exercises.templates(), ids=lambda one: one.id)
def test_every_bundled_exercise_has_a_box_that_keeps_its_number(template):
    box = exercise.box(template.id)
    right = str(box.question.solution().result)
    assert right not in everything(box).replace(box.question.text, "")
    for _ in range(3):
        box.check("1e-11 " + {"1": "", "ratio": "ratio"}.get(template.unit, template.unit))
    assert box.is_solved == (box.tries == 3)
