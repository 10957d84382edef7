"""A field for the answer to an exercise."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from netcalc.language import phrase
from netcalc.printable import printable_lines
from netcalc.widgets.figure import style_sheet


class AnswerField(anywidget.AnyWidget):
    """A text field with a button that checks it, and a button that asks for new numbers.

    Parameters
    ----------
    exercise : str
        Name of the exercise, for readers of the page who only hear it.
    example : str
        What an answer looks like: ``"30 ms"``.
    check : callable
        Called with the text of an answer.
    renew : callable
        Called when new numbers are wanted.
    """

    _esm = Path(__file__).with_name("answer.js")
    _css = style_sheet("answer.css")
    _own_id = traitlets.Unicode().tag(sync=True)
    exercise = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    example = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    """Texts of the field and its buttons."""
    text = traitlets.Unicode().tag(sync=True)
    answer = traitlets.Unicode().tag(sync=True)
    """The last answer to the first numbers, those of a sheet: with the widgets' state it is saved,
    and the answers of a class are collected from there."""

    def __init__(
        self,
        exercise: str,
        *,
        example: str,
        check: Callable[[str], object],
        renew: Callable[[], object],
    ) -> None:
        self._check, self._renew = check, renew
        self._is_fresh = False
        name, exercise = uuid.uuid4().hex, printable_lines(exercise)
        super().__init__(
            model_id=name, _own_id=name, exercise=exercise, example=printable_lines(example),
            label=phrase("Answer to {exercise}, with its unit", exercise=exercise),
            words={
                "answer": phrase("Your answer:"),
                "check": phrase("Check"),
                "new": phrase("New numbers"),
                "check_aloud": phrase("Check the answer to {exercise}", exercise=exercise),
                "new_aloud": phrase("New numbers for {exercise}", exercise=exercise),
            },
        )  # fmt: skip
        self.on_msg(self._hear)

    def saved_text(self) -> str:
        """Return nothing: the exercise writes its own text."""
        return ""

    def _hear(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        if content.get("kind") == "answer":
            text = str(content.get("text", ""))[:200]
            self.text = printable_lines(text)
            if not self._is_fresh:
                self.answer = self.text
            self._check(text)
        elif content.get("kind") == "new numbers":
            self.text, self._is_fresh = "", True
            self._renew()
