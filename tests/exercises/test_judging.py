"""The kinds of verdict, and the slips that every exercise has."""

from __future__ import annotations

import pytest

from netcalc import exercises
from netcalc.errors import ArgumentTypeError, DomainError
from netcalc.exercises import KINDS

# Numbers by hand: N = 2 MB, R = 10 Mbit/s, d = 50 ms: 50 ms + 16 Mbit / 10 Mbit/s = 1.65 s.
TRANSFER = """\
[[exercise]]
id = "X1"
lesson = "01"
topic = "t"
text = "{N} {R} {d}"
unit = "s"
right = "d + 8 * N / R"
[exercise.variables]
N = { values = ["2 MB"] }
R = { values = ["10 Mbit/s"] }
d = { values = ["50 ms"] }
[[exercise.wrong]]
name = "latency left out"
formula = "8 * N / R"
sentence = "The way takes {d}."
ask = "How far is it?"
"""
# A share of a rate: 100 Mbit/s times 1448/1538 = 94.148 Mbit/s, four digits asked for.
GOODPUT = """\
[[exercise]]
id = "X2"
lesson = "01"
topic = "t"
text = "{R}"
unit = "bit/s"
tolerance = "0.15 %"
right = "R * 1448 / 1538"
[exercise.variables]
R = { values = ["100 Mbit/s"] }
[[exercise.wrong]]
name = "no headers"
formula = "R"
sentence = "s"
ask = "q"
"""
# A size: 1500 B less 28 B.
SIZE = """\
[[exercise]]
id = "X3"
lesson = "01"
topic = "t"
text = "{M}"
unit = "byte"
tolerance = 0
right = "M - 28"
[exercise.variables]
M = { values = ["1500 B"] }
[[exercise.wrong]]
name = "a third"
formula = "M / 7"
sentence = "s"
ask = "q"
"""

VERDICTS = [
    ("X1", "1.65 s", "right", ()),
    ("X1", "1650 ms", "right", ()),
    ("X1", "1.66 s", "right", ()),  # 0.6 % off: within 1 %
    ("X1", "1.67 s", "not named", ()),  # 1.2 % off
    ("X1", "1.6 s", "named", ("latency left out",)),
    ("X1", "1.602 s", "named", ("latency left out",)),
    ("X1", "1.612 s", "not named", ()),
    ("X1", "1650 s", "power of ten", ()),
    ("X1", "165 ms", "power of ten", ()),
    ("X1", "1650 us", "power of ten", ()),
    ("X1", "13.2 s", "not named", ()),  # 8 times, of a time: a hint only
    ("X1", "825 ms", "not named", ()),
    ("X1", "-1.65 s", "not named", ()),
    ("X1", "0 s", "not named", ()),
    ("X1", "2 s", "not named", ()),
    ("X1", "1.65", "unit missing", ()),
    ("X1", "1.65 Mbit/s", "unit wrong", ()),
    ("X1", "1,650 s", "asked back", ()),
    ("X1", "soon", "unreadable", ()),
    ("X2", "94.15 Mbit/s", "right", ()),
    ("X2", "94.1 Mbit/s", "right", ()),  # 0.05 % off
    ("X2", "94 Mbit/s", "not named", ()),  # 0.16 % off
    ("X2", "11.77 MB/s", "right", ()),
    ("X2", "94.15 MB/s", "unit wrong", ()),
    ("X2", "11.77 Mbit/s", "unit wrong", ()),
    ("X2", "96.41 Mbit/s", "unit wrong", ()),  # [derived] 94.148 times 1.024
    ("X2", "94.15 Gbit/s", "power of ten", ()),
    ("X2", "94.15 MB", "unit wrong", ()),
    ("X2", "100 Mbit/s", "named", ("no headers",)),
    ("X2", "188.3 Mbit/s", "not named", ()),
    ("X3", "1472 B", "right", ()),
    ("X3", "1.472 kB", "right", ()),
    ("X3", "1473 B", "not named", ()),
    ("X3", "1472 bit", "unit wrong", ()),
    ("X3", "14720 B", "power of ten", ()),
    ("X3", "1472", "unit missing", ()),
    ("X3", "1472 KB", "asked back", ()),
    ("X3", "214 B", "named", ("a third",)),  # [derived] 214.29 with three digits
    ("X3", "214.3 B", "named", ("a third",)),
    ("X3", "210 B", "not named", ()),
]


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own.toml"
    path.write_text(TRANSFER + GOODPUT + SIZE)
    return {one.id: exercises.draw(one) for one in exercises.read_file(path)}


@pytest.mark.each(("name", "answer", "kind", "names"), VERDICTS)
def test_an_answer_gets_its_verdict(questions, name, answer, kind, names):
    verdict = questions[name].check(answer)
    assert (verdict.kind, verdict.names) == (kind, names)
    assert verdict.is_right == (kind == "right")
    assert verdict.counts == (kind not in ("asked back", "unreadable"))


def test_every_kind_but_several_is_seen_here():
    """``several`` is seen where two mistakes lead to one number, in the tests of drawing."""
    assert {row[2] for row in VERDICTS} == set(KINDS) - {"several"}


@pytest.mark.each(
    ("name", "answer", "words"),
    [
        ("X1", "1650 s", "power of ten"),
        ("X1", "13.2 s", "bits and bytes"),
        ("X1", "825 ms", "factor of two"),
        ("X1", "3.3 s", "factor of two"),
        ("X1", "606 ms", "reciprocal"),  # [derived] 1 / 1.65
        ("X1", "2 s", "too few digits"),
        ("X2", "96.41 Mbit/s", "1000 and 1024"),
        ("X1", "7.1 s", "none of the known"),
    ],
)
def test_a_general_slip_has_a_hint_and_no_name(questions, name, answer, words):
    verdict = questions[name].check(answer)
    assert words in verdict.sentence
    assert verdict.names == ()


def test_the_numbers_are_put_into_sentences(questions):
    assert questions["X1"].check("1.6 s").sentence == "The way takes 50 ms."


@pytest.mark.each("answer", [row[1] for row in VERDICTS])
def test_no_verdict_has_the_right_number(questions, answer):
    """Unless it was typed: what can be read in two ways is shown in both."""
    said = str(questions["X1"].check(answer)).replace("1,650", "")
    if questions["X1"].check(answer).kind != "asked back":
        assert "1.65" not in said
        assert "1650" not in said


def test_a_verdict_is_ready_for_json(questions):
    assert questions["X1"].check("1.6 s").as_dict() == {
        "kind": "named", "names": ["latency left out"], "sentence": "The way takes 50 ms.",
        "question": "How far is it?", "next_step": "Check this step and try again.",
        "counts": True, "right": False,
    }  # fmt: skip


def test_points_are_one_for_each_right_answer(questions):
    right = exercises.draw("TR1", student="s1", sheet="m").answer
    found = exercises.points(
        {"TR1": f"{right * 1e3:.4g} ms", "SF1": "", "FG1": "7 B"}, student="s1", sheet="m"
    )
    assert (found.total, found.most) == (1, 3)
    assert str(found).startswith("1 of 3 points\nTR1: right.\nSF1: unreadable.")
    assert found.as_dict()["points"] == 1


@pytest.mark.each("answers", ["TR1=13.2 ms", None, [("TR1", "13.2 ms")]])
def test_points_need_answers_by_exercise(answers):
    with pytest.raises(ArgumentTypeError) as caught:
        exercises.points(answers)
    assert str(caught.value).endswith('Write {"TR1": "13.2 ms"}')


@pytest.mark.each("name", [None, 3, [], "\x1b[2J", "x" * 9999])
def test_an_id_that_is_none_is_a_sentence(name):
    with pytest.raises(DomainError) as caught:
        exercises.draw(name)
    assert caught.value.code == "exercise-unknown"
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()
