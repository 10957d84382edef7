"""An exercise with its numbers put in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from netcalc import units
from netcalc.exercises._answer import read_answer
from netcalc.exercises._curves import AnswerCurves, curves
from netcalc.exercises._drawing import Drawn
from netcalc.exercises._judging import judge, put_in
from netcalc.exercises._solution import Solution, solve
from netcalc.exercises._template import Template, Wrong
from netcalc.exercises._verdict import Verdict
from netcalc.language import phrase, term

PLACEHOLDER = re.compile(r"\{(\w+)\}")
_DIGITS = {3: term("three"), 4: term("four"), 5: term("five"), 6: term("six")}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Question:
    """An exercise with the numbers of a student put in.

    Parameters
    ----------
    template : Template
        The exercise.
    student, sheet : str
        For whom it was drawn, and for which sheet.
    drawn : Drawn
        Its numbers and answers.
    """

    template: Template
    student: str = ""
    sheet: str = ""
    drawn: Drawn

    def __repr__(self) -> str:
        who = f"student={self.student!r}, sheet={self.sheet!r}"
        return f"Question({self.id!r}, {who}, text={self.text!r})"

    @property
    def id(self) -> str:
        """Its id."""
        return self.template.id

    @property
    def unit(self) -> str:
        """SI unit of the answer."""
        return self.template.unit

    @property
    def values(self) -> dict[str, float]:
        """The variables, in SI units."""
        return dict(self.drawn.values)

    @property
    def shown(self) -> dict[str, str]:
        """The variables as people read them."""
        return dict(self.drawn.shown)

    @property
    def text(self) -> str:
        """The question with its numbers, and the digits where more than three are asked."""
        text = PLACEHOLDER.sub(lambda found: self.drawn.shown[found[1]], phrase(self.template.text))
        digits = self.template.digits
        more = phrase("Give {digits} digits.", digits=phrase(_DIGITS.get(digits, str(digits))))
        return f"{text} {more}" if digits > 3 else text

    @property
    def expected(self) -> str:
        """What an answer looks like: ``a time such as 30 ms``."""
        return units.example(self.unit)

    @property
    def answer(self) -> float:
        """The right answer, in ``unit``."""
        return self.drawn.right

    @property
    def wrong_answers(self) -> Mapping[str, float]:
        """The wrong answers by the name of the mistake, in ``unit``."""
        return dict(self.drawn.wrong)

    def check(self, answer: object) -> Verdict:
        """Judge an answer as it was typed: ``13.2 ms``.

        Returns
        -------
        Verdict
            What is said about it; no text raises.
        """
        return judge(self.template, self.drawn, answer)

    def told(self, mistake: Wrong) -> tuple[str, str]:
        """Return the sentence about a mistake and the question before it, with the numbers."""
        sentence, ask = phrase(mistake.sentence), phrase(mistake.ask)
        return put_in(sentence, self.drawn), put_in(ask, self.drawn)

    def number(self, answer: object) -> float:
        """Return an answer as it was typed as a number in ``unit``; nan if it is none."""
        return read_answer(answer, self.unit).value

    def solution(self) -> Solution:
        """Return the worked solution, as text by ``str`` and in LaTeX."""
        return solve(self.template, self.drawn)

    def curves(self, *names: str) -> AnswerCurves:
        """Return the right answer over one variable, and that of the mistakes of these names.

        Raises
        ------
        DomainError
            If the exercise says no curve, or has no mistake of a name.
        """
        return curves(self.template, self.drawn, names)

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON, without its answers."""
        return {
            "id": self.id,
            "lesson": self.template.lesson,
            "topic": self.template.topic,
            "text": self.text,
            "unit": self.unit,
            "expected": self.expected,
            "values": self.values,
            "shown": self.shown,
            "student": self.student,
            "sheet": self.sheet,
        }
