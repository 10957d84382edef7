"""Exercises drawn and checked: the three that show the format."""

from __future__ import annotations

import pytest

from netcalc import exercises


def test_the_same_three_texts_give_the_same_numbers():
    first = exercises.draw("TR1", student="s1", sheet="monday")
    again = exercises.draw("TR1", student=" s1", sheet="monday")
    other = exercises.draw("TR1", student="s2", sheet="monday")
    assert first.values == again.values
    assert first.values != other.values


@pytest.mark.parametrize("student", ["s1", "Jörg Müller", "1"])
def test_the_right_answer_is_right_and_each_wrong_one_is_named(student):
    question = exercises.draw("TR1", student=student)
    n, r, d = (question.values[name] for name in ("N", "R", "d"))
    right = d + 8 * n / r  # [derived] the definition of latency and bandwidth
    assert question.check(f"{right * 1000:.4g} ms").is_right
    assert question.check(f"{d + n / r:.4g} s").names == ("bytes taken for bits",)
    assert question.check(f"{2 * d + 8 * n / r:.4g} s").names == ("round trip for one way",)


def test_the_answer_is_in_no_text_of_a_question():
    question = exercises.draw("FG1", student="s1")
    number = f"{question.answer:.0f}"
    texts = [repr(question), str(question.check("17 B")), str(question.as_dict())]
    assert all(number not in text for text in texts)
