"""The bundled exercises: two ways to each right answer, and verdicts that do not give it away."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from netcalc import exercises, units

TEMPLATES = exercises.templates()
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
STUDENTS = ("s1", "s2", "Jörg", "")


@pytest.mark.each("template", TEMPLATES, ids=lambda one: one.id)
def test_two_ways_lead_to_the_right_answer(template):
    assert template.second is not None
    for student in STUDENTS:
        question = exercises.draw(template, student=student)
        assert math.isclose(template.second(question.values), question.answer, rel_tol=1e-9)


@pytest.mark.each("template", TEMPLATES, ids=lambda one: one.id)
def test_no_text_gives_the_right_answer_away(template):
    for student in STUDENTS:
        question = exercises.draw(template, student=student)
        result = question.solution().result.split()[0]
        said = [question.check("7.7777777 furlong"), question.check("7.7777777")]
        for name in template.mistakes:
            said.append(question.check(typed(question.wrong_answers[name], template.unit)))
            assert name in said[-1].names
        given = {shown.split()[0] for shown in question.shown.values()} | same_for_all(template)
        for verdict in said:
            numbers = numbers_in(str(verdict))
            assert result not in numbers - given, (template.id, student, str(verdict))
        assert repr(question.answer) not in repr(question)


def same_for_all(template):
    """Return the numbers in what every student reads: "a byte has 8 bits", "such as 10"."""
    texts = [text for one in template.wrong for text in (one.sentence, one.ask)]
    return numbers_in(" ".join([*texts, units.example(template.unit)]))


def numbers_in(text):
    return set(re.findall(r"[\d.,]*\d", text))


def typed(value, unit):
    symbol = {"byte": "B", "packet/s": "pps", "1": "", "call/s": "calls/s"}.get(unit, unit)
    return f"{value!r} {symbol}".strip()


@pytest.mark.each("template", TEMPLATES, ids=lambda one: one.id)
def test_a_lesson_has_its_number(template):
    assert list(NOTEBOOKS.glob(f"{template.lesson}_*.ipynb"))


def test_curves_have_numbers():
    for template in TEMPLATES:
        if template.curve:
            found = exercises.draw(template).curves(*template.mistakes)
            assert all(len(line) == len(found.x) for line in found.wrong.values())
            assert any(map(math.isfinite, found.right))


def test_a_symbol_of_wifi_that_is_not_whole_is_not_right():
    question = exercises.draw("WF1", student="a")
    size, rate = question.values["L"], question.values["R"]
    # [derived] 20 us of preamble, then 16 + 8 L + 6 bits at the rate, without whole symbols
    verdict = question.check(f"{(20e-6 + (22 + 8 * size) / rate) * 1e6:.6g} us")
    assert verdict.names == ("symbols not rounded up",)
