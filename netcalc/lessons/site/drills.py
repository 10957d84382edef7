"""Exercises for a page: drawn beforehand, with what the page needs to judge an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from latex2mathml.converter import convert

from netcalc import exercises, units
from netcalc.exercises import Question, Template
from netcalc.lessons.site.packing import packed
from netcalc.lessons.site.unit_tables import unit_tables

SHEETS = 20
"""Draws of each exercise that a page has; then the first ones come again. [1]"""


def drawn(ids: Sequence[str]) -> str:
    """Return exercises with all their draws as text for the page, which ``answers.js`` reads."""
    questions = {one: [_draw(one, number) for number in range(1, SHEETS + 1)] for one in ids}
    header = {
        "rules": exercises.rules(),
        "units": unit_tables(),
        "exercises": {
            name: {**_template(sheets[0].template), "sheets": [_sheet(one) for one in sheets]}
            for name, sheets in questions.items()
        },
    }
    return packed(header, [np.zeros(0, dtype=np.int64)])


def titles(ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the topic and the first question of exercises, by id."""
    found = [_draw(one, 1) for one in ids]
    return {one.id: (one.template.topic, one.text) for one in found}


def _draw(name: str, number: int) -> Question:
    return exercises.draw(name, student="page", sheet=str(number))


def _template(template: Template) -> dict[str, Any]:
    return {
        "topic": template.topic,
        "unit": template.unit,
        "example": units.example(template.unit),
        "tolerance": template.tolerance,
        "digits": template.digits,
        "names": [one.name for one in template.wrong],
    }


def _sheet(question: Question) -> dict[str, Any]:
    solution = question.solution()
    said = [question.told(one) for one in question.template.wrong]
    return {
        "text": question.text,
        "right": question.answer,
        "wrong": [question.wrong_answers[one.name] for one in question.template.wrong],
        "sentences": [sentence for sentence, _ in said],
        "asks": [ask for _, ask in said],
        "solution": [convert(line, display="block") for line in solution.equations],
        "result": solution.result,
    }


def ids_of(lesson: str) -> list[str]:
    """Return the exercises of a lesson, by the number that its name begins with.

    Examples
    --------
    >>> ids_of("01_latency_and_bandwidth")[:1]
    ['TR1']
    """
    number = lesson.partition("_")[0]
    return [one.id for one in exercises.templates() if one.lesson == number]
