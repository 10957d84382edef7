"""A box for an exercise: its question, a field for the answer, and what is said about it.

What is said goes in three steps: first a question to ask oneself, then the name of the mistake and
why it is one, then a figure of the right and the wrong formula on the measured points of the lesson
with the answer as a mark. After three tries, or when :meth:`ExerciseBox.show_solution` is called,
there is the worked solution.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from netcalc import exercises, plots, units, widgets
from netcalc.exercises import Question, Verdict
from netcalc.language import phrase
from netcalc.lessons import answered
from netcalc.printable import excerpt, html_text, printable_lines
from netcalc.widgets.figure import Figure, style_sheet
from netcalc.widgets.saved import SavedOutputs, show_widget


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
    keep : callable
        Called with what the page has sent, before it is heard.
    """

    _esm = Path(widgets.__file__).with_name("answer.js")
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
        keep: Callable[[Mapping[str, str]], object],
    ) -> None:
        self._check, self._renew, self._keep = check, renew, keep
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
        heard = {"kind": str(content.get("kind")), "text": str(content.get("text", ""))[:200]}
        if heard["kind"] in _HEARD:
            self._keep(heard)
            self.hear(heard)

    def hear(self, content: Mapping[str, str]) -> None:
        """Do what the page has sent, now or to an earlier kernel."""
        if content.get("kind") == "answer":
            text = content.get("text", "")
            self.text = printable_lines(text)
            if not self._is_fresh:
                self.answer = self.text
            self._check(text)
        elif content.get("kind") == "new numbers":
            self.text, self._is_fresh = "", True
            self._renew()


_HEARD = ("answer", "new numbers")
_MOST_HEARD_AGAIN = 20
"""Answers that a new page hears again. [1]"""
TRIES = 3
"""Tries before the worked solution is shown."""

SHOWN_CHARACTERS = 100
"""Characters of an answer that are shown again."""

_NEXT = ".jp-OutputArea-child:has(.netcalc-printed) + .jp-OutputArea-child"
_STYLE = f"""<style>
{_NEXT}:not(:has(.jp-OutputArea-output > *)),
{_NEXT}:has(.jupyter-widgets-disconnected) {{ display: none; }}
</style>"""


def feedback(verdict: Verdict, tries: int) -> list[str]:
    """Return what is said about an answer that is the last of so many tries, in paragraphs.

    Parameters
    ----------
    verdict : Verdict
        Of the answer.
    tries : int
        Wrong answers so far that count, this one included.

    Returns
    -------
    list of str
        At the first try the question, without the name of a mistake; from the second on the name.
    """
    if verdict.is_right:
        return [phrase("Right.")]
    if not verdict.counts:
        parts = [verdict.sentence, verdict.question, verdict.next_step]
        return [" ".join(filter(None, parts)), phrase("This does not count as a try.")]
    if tries <= 1:
        asked = verdict.question or verdict.sentence
        hint = verdict.next_step if not verdict.names else ""
        said = [" ".join(filter(None, (phrase("Not yet."), asked, hint)))]
    else:
        name = phrase(" or ").join(map(phrase, verdict.names))
        named = f"{name[:1].upper()}{name[1:]}: {verdict.sentence}" if name else verdict.sentence
        said = [" ".join(filter(None, (phrase("Not yet."), named)))]
        said += [part for part in (verdict.question, verdict.next_step) if part and tries < TRIES]
    left = TRIES - tries
    if left == 1:
        said.append(phrase("One more try, then the solution is shown."))
    elif left > 1:
        said.append(phrase("Two more tries, then the solution is shown."))
    return said


class ExerciseBox(ipywidgets.VBox):
    """An exercise with a field for its answer.

    ``question`` has its numbers, ``verdict`` is that of the last answer, ``tries`` counts the wrong
    ones, ``is_solved`` says whether the solution is shown.
    """

    def __init__(self, question: Question, *, with_question: bool = True) -> None:
        self._with_question = with_question
        self._first_sheet, self._fresh = question.sheet, 0
        self.about = ipywidgets.HTML()
        self.about.add_class("netcalc-question")
        example = units.sample_of(question.unit)
        place = (question.id, question.student, question.sheet)
        self.field = AnswerField(
            question.id, example=example, check=self.check, renew=self.new_numbers,
            keep=lambda content: answered.keep(place, content),
        )  # fmt: skip
        self.message = ipywidgets.HTML()  # always on the page: a change of it is read aloud
        self.message.add_class("netcalc-said")
        self.working = ipywidgets.HTMLMath()
        self.saved = _Printed(self)
        super().__init__(layout=ipywidgets.Layout(width="100%"))
        self.add_class("netcalc-exercise")
        self._ask(question)
        self._hear_again(answered.kept(place))

    def _hear_again(self, heard: Sequence[Mapping[str, str]]) -> None:
        """Do what earlier kernels have heard: the last numbers, and the last answers about them."""
        begins = [at for at, content in enumerate(heard) if content["kind"] == "new numbers"]
        begin = begins[-1] if begins else -1
        self._fresh = max(0, len(begins) - 1)
        before = [content for content in heard[: max(begin, 0)] if content["kind"] == "answer"]
        for content in (*before[-1:], *heard[max(begin, 0) : begin + 1]):
            self.field.hear(content)
        for content in heard[begin + 1 :][-_MOST_HEARD_AGAIN:]:
            self.field.hear(content)

    def _ask(self, question: Question) -> None:
        self.question = question
        self.verdict: Verdict | None = None
        self.answer, self.tries, self.is_solved = "", 0, False
        self.figure: Figure | None = None
        self.said: list[str] = []
        self.about.value = (
            f"<p><b>{html_text(_topic(question))} "
            f"({html_text(question.id)}).</b> {html_text(question.text)}</p>"
        )
        self._show()

    def check(self, answer: str) -> Verdict:
        """Judge an answer and show what is said about it."""
        self.answer = excerpt(answer, SHOWN_CHARACTERS)
        self.verdict = verdict = self.question.check(answer)
        if verdict.counts and not verdict.is_right:
            self.tries += 1
        self.said = feedback(verdict, self.tries)
        if self.tries >= TRIES and verdict.counts and not verdict.is_right:
            self.is_solved = True
            self._draw(verdict.names, answer)
        self._show()
        return verdict

    def new_numbers(self) -> None:
        """Ask the same with other numbers."""
        self._fresh += 1
        sheet = f"{self._first_sheet} new {self._fresh}".strip()
        old = self.question
        self._ask(exercises.draw(old.template, student=old.student, sheet=sheet))

    def show_solution(self) -> None:
        """Show the worked solution, whatever was answered."""
        self.is_solved = True
        self._show()

    def _draw(self, names: Sequence[str], answer: str) -> None:
        """Draw the right and the wrong formula with the answer, if the exercise has a figure."""
        number = self.question.number(answer)
        title = phrase("{topic}: the right formula and yours", topic=_topic(self.question))
        plot = plots.feedback(self.question, names, answer=number, title=title)
        if plot is None:
            return
        if self.figure is None:
            self.figure = Figure(plot)
            self.figure.saved = self.saved
        else:
            self.figure.draw(plot)

    def _show(self) -> None:
        self.message.value = "".join(f"<p>{html_text(part)}</p>" for part in self.said)
        self.working.value = self._solution() if self.is_solved else ""
        about = self.about if self._with_question or self._fresh else None
        shown = [about, self.field, self.message, self.figure, self.working]
        self.children = [part for part in shown if part is not None]
        self.saved.renew()

    def _solution(self) -> str:
        solution = self.question.solution()
        lines = "".join(f"<p>$${line}$$</p>" for line in map(_of_latex, solution.equations))
        answer = phrase("Answer: {result}", result=solution.result)
        head = html_text(phrase("Worked solution"))
        return f"<p><b>{head}</b></p>{lines}<p>{html_text(answer)}.</p>"

    def plain(self) -> str:
        """Return the exercise as text, with the last answer and what was said about it."""
        question = self.question
        answer = self.answer or "__________"
        lines = [
            f"{_topic(question)} ({question.id}). {question.text}",
            phrase("Answer, {expected}: {answer}", expected=question.expected, answer=answer),
            *self.said,
        ]
        if self.is_solved:
            lines += [phrase("Worked solution:"), str(question.solution())]
        return "\n".join(lines)

    def _ipython_display_(self) -> None:
        self.saved.show()
        show_widget(super()._repr_mimebundle_())


class _Printed(SavedOutputs):
    """The exercise in the notebook's file: text, and the figure once there is one."""

    def __init__(self, box: ExerciseBox) -> None:
        super().__init__(lambda: box.figure.picture() if box.figure else "", box.plain)

    def outputs(self) -> dict[str, dict[str, str]]:
        """Return the data of each output, by type."""
        plain = self._words()
        html = "".join(f"<p>{html_text(line)}</p>" for line in plain.splitlines())
        return {
            "picture": {**self.drawn(), "text/plain": ""},
            "values": {
                "text/html": f'{_STYLE}<div class="netcalc-printed">{html}</div>',
                "text/plain": plain,
            },
        }


def box(
    exercise: str,
    *,
    student: str = "",
    sheet: str = "",
    paths: Iterable[str | Path] = (),
    with_question: bool = True,
) -> ExerciseBox:
    """Show an exercise with a field for its answer.

    Parameters
    ----------
    exercise : str
        Its id, one of :func:`netcalc.exercises.templates`.
    student, sheet : str
        For whom its numbers are drawn, and for which sheet.
    paths : iterable of path
        Files of a teacher, besides the bundled ones.
    with_question : bool
        Whether the box has the question, too; not where a cell above it does.

    Returns
    -------
    ExerciseBox
        The widget to show; without a front end it is the question as text.

    Raises
    ------
    DomainError
        If there is no exercise of that id.
    ReaderError
        If a file is refused.
    """
    question = exercises.draw(exercise, student=student, sheet=sheet, paths=paths)
    return ExerciseBox(question, with_question=with_question)


def _topic(question: Question) -> str:
    topic = phrase(question.template.topic)
    return topic[:1].upper() + topic[1:]


def _of_latex(text: str) -> str:
    """Return an equation for a page; nothing in it can end the formula or be a tag."""
    return html_text(text.replace("$", ""))
