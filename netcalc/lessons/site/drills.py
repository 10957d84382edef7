"""Exercises for a page: drawn beforehand, with what the page needs to judge an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from latex2mathml.converter import convert

from netcalc import exercises, units
from netcalc.exercises import Question, Template
from netcalc.lessons.site.packing import packed

SHEETS = 20
"""Draws of each exercise that a page has; then the first ones come again. [1]"""
_ASKED = re.compile(r"The answer can be read in two ways: (.*)\.")
_SPOKEN = (
    "mbps", "Mbps", "gbps", "Gbps", "kbps", "bps", "MBps", "GBps", "Mbit/sec", "msec", "usec",
    "second", "seconds", "minutes", "hours", "Bytes", "Byte", "Bits", "KB", "MBytes", "G", "M",
    "k", "thousand", "million", "kilobytes", "megabytes", "kilobit", "megabit", "kilometers",
    "packets/s", "packets per second", "frames per second", "pkt/s", "ms.", "MS", "Sec", "S",
)  # fmt: skip


def drawn(ids: Sequence[str]) -> str:
    """Return exercises with all their draws as text for the page, which ``answers.js`` reads."""
    questions = {one: [_draw(one, number) for number in range(1, SHEETS + 1)] for one in ids}
    templates = [sheets[0].template for sheets in questions.values()]
    header = {
        "rules": exercises.rules(),
        "units": {unit: _unit(unit) for unit in sorted({one.unit for one in templates})},
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


@cache
def _unit(unit: str) -> dict[str, Any]:
    """Return what each written unit means for an answer in ``unit``: a factor or a fault."""
    counted: Any = exercises.rules()["counted"]
    spoken = dict.fromkeys((*units.written_units(), *_SPOKEN, *counted))
    for written in list(spoken):
        spoken |= dict.fromkeys((written.lower(), written.upper(), f"{written}s"))
    return {
        "example": units.example(unit),
        "written": {
            written: outcome
            for written in spoken
            if written and (outcome := _outcome(written, unit)) is not None
        },
        "lines": _lines() if unit == "bit/s" else {},
        "known": [one for one in spoken if one and _is_known(one)],
    }


def _outcome(written: str, unit: str) -> float | str | list[str] | None:
    """Return the factor of a written unit, its fault, or its readings with ``3`` before them."""
    question = _of_unit(unit)
    value = question.number(f"3 {written}")
    if math.isfinite(value):
        return float(f"{value / 3:.15g}")
    verdict = question.check(f"3 {written}")
    if verdict.kind == "asked back":
        found = _ASKED.fullmatch(verdict.sentence)
        return found[1].split(" or ") if found else None
    return "unit wrong" if verdict.kind == "unit wrong" else None


@cache
def _of_unit(unit: str) -> Question:
    """Return any exercise whose answer is in a unit."""
    return next(_draw(one.id, 1) for one in exercises.templates() if one.unit == unit)


def _is_known(written: str) -> bool:
    return bool(units.kind_of(written)) or bool(units.readings_of(written))


def _lines() -> dict[str, float]:
    question = _of_unit("bit/s")
    names = ("T1", "T3", "E1", "E3", "OC-1", "OC-3", "OC-12", "OC-48", "OC-192", "DS1", "DS3")
    values = {name: question.number(name) for name in names}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def ids_of(lesson: str) -> list[str]:
    """Return the exercises of a lesson, by the number that its name begins with.

    Examples
    --------
    >>> ids_of("01_latency_and_bandwidth")[:1]
    ['TR1']
    """
    number = lesson.partition("_")[0]
    return [one.id for one in exercises.templates() if one.lesson == number]
