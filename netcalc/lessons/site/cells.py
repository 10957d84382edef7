"""The cells of a lesson, run once: their text, their panels, exercises, and experiments.

Run as a program of its own, ``python -m netcalc.lessons.site.cells LESSON RESULT``: lessons keep
what they change, such as the precision of printed arrays, out of each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from latex2mathml.converter import convert
from traitlets.config import Config

from netcalc import exercises, units
from netcalc.errors import NetcalcError
from netcalc.exercises import Question, Template
from netcalc.lessons.exercise import ExerciseBox
from netcalc.lessons.site.calculator_page import unit_tables
from netcalc.lessons.site.states import States, packed
from netcalc.widgets.panel import Panel
from netcalc.widgets.run import RunButton
from netcalc.widgets.upload import Upload


def notes(panel: Panel) -> list[dict[str, str]]:
    """Return what stands below a panel's figure instead of its run buttons and file fields."""
    notes_ = []
    for part in panel.below:
        if isinstance(part, RunButton):
            notes_.append({"kind": "run", "label": part.label, "command": command(part.experiment)})
        elif isinstance(part, Upload):
            notes_.append(
                {"kind": "file", "label": part.field.label, "command": "netcalc read FILE"}
            )
    return notes_


def command(experiment: str) -> str:
    """Return the command for an experiment; one without a name runs in the lessons only.

    Examples
    --------
    >>> command("line_rate")
    'netcalc run line-rate'
    """
    if experiment == "congestion":
        return "netcalc congestion two-flows --live"
    return f"netcalc run {experiment.replace('_', '-')}" if experiment else "netcalc lab"


def run_now(panel: Panel) -> None:
    """Run the experiments of a panel, and show their results in its figure."""
    for part in panel.below:
        if isinstance(part, RunButton):
            part.run_here(Event())


SHEETS = 20
"""Draws of each exercise that a page has; then the first ones come again. [1]"""


def drawn(ids: Sequence[str]) -> str:
    """Return exercises with all their draws as text for the page, which ``answers.js`` reads."""
    questions = {each: [_draw(each, number) for number in range(1, SHEETS + 1)] for each in ids}
    header = {
        "rules": exercises.rules(),
        "units": unit_tables(),
        "exercises": {
            name: {**_template(sheets[0].template), "sheets": [_sheet(each) for each in sheets]}
            for name, sheets in questions.items()
        },
    }
    return packed(header, [np.zeros(0, dtype=np.int64)])


def titles(ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the topic and the first question of exercises, by id."""
    questions = [_draw(question, 1) for question in ids]
    return {question.id: (question.template.topic, question.text) for question in questions}


def _draw(name: str, number: int) -> Question:
    return exercises.draw(name, student="page", sheet=str(number))


def _template(template: Template) -> dict[str, Any]:
    return {
        "topic": template.topic,
        "unit": template.unit,
        "example": units.example(template.unit),
        "tolerance": template.tolerance,
        "digits": template.digits,
        "names": [mistake.name for mistake in template.wrong],
    }


def _sheet(question: Question) -> dict[str, Any]:
    solution = question.solution()
    said = [question.told(mistake) for mistake in question.template.wrong]
    return {
        "text": question.text,
        "right": question.answer,
        "wrong": [question.wrong_answers[mistake.name] for mistake in question.template.wrong],
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
    return [template.id for template in exercises.templates() if template.lesson == number]


_MARK = "application/x-netcalc-panel"
_BOX = "application/x-netcalc-exercise"


class Cells:
    """A lesson and what its cells show.

    Parameters
    ----------
    lesson : pathlib.Path
        A notebook.
    """

    def __init__(self, lesson: Path) -> None:
        self.lesson = lesson
        self.panels: list[Panel] = []
        self.exercises: list[str] = []
        self.parts: list[dict[str, Any]] = []

    def run(self) -> None:
        """Run every cell.

        Raises
        ------
        ReaderError
            If a cell fails.
        """
        settings = Config()
        settings.HistoryManager.enabled = False  # it has a file and a thread
        shell: Any = InteractiveShell.instance(config=settings)
        shell.display_formatter.ipython_display_formatter.for_type(Panel, self._take)
        shell.display_formatter.ipython_display_formatter.for_type(ExerciseBox, self._take_box)
        shell.display_trap.hook = _show
        notebook = json.loads(self.lesson.read_text(encoding="utf-8"))
        for number, cell in enumerate(notebook["cells"], start=1):
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                self.parts.append({"kind": "prose", "text": source})
                continue
            if cell["cell_type"] != "code":
                continue
            self.parts.append({"kind": "code", "text": source})
            with capture_output() as shown:
                result = shell.run_cell(source)
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                raise NetcalcError(
                    "lesson-cell-fails", file=self.lesson.name, number=number, reason=str(error)
                ) from error
            if shown.stdout:
                self.parts.append({"kind": "text", "text": shown.stdout})
            for output in shown.outputs:
                self._keep(output.data or {})

    def _take(self, panel: Panel) -> None:
        self.panels.append(panel)
        shell = InteractiveShell.instance()
        shell.display_pub.publish({_MARK: len(self.panels) - 1})

    def _take_box(self, box: ExerciseBox) -> None:
        self.exercises.append(box.question.id)
        InteractiveShell.instance().display_pub.publish({_BOX: box.question.id})

    def _keep(self, data: dict[str, Any]) -> None:
        if _MARK in data:
            self.parts.append({"kind": "panel", "panel": data[_MARK]})
        elif _BOX in data:
            self.parts.append({"kind": "exercise", "id": data[_BOX]})
        elif "text/html" in data:
            self.parts.append({"kind": "html", "text": data["text/html"]})
        elif "image/svg+xml" in data:
            self.parts.append({"kind": "html", "text": data["image/svg+xml"]})
        elif "text/plain" in data:
            self.parts.append({"kind": "text", "text": data["text/plain"]})


def _show(value: Any) -> None:
    """Show the value of a cell as what the cell displays, without a number before it."""
    if value is None:
        return
    shell: Any = InteractiveShell.instance()
    data, _ = shell.display_formatter.format(value)
    if data:
        shell.display_pub.publish(data)


def described(panel: Panel, positions: int | None = None) -> dict[str, Any]:
    """Return a panel as the page needs it: its picture and words now, and its states."""
    picture, words = panel.figure.picture(), panel.figure.description
    live = notes(panel)
    states = States(panel, most=positions)
    states.walk()
    return {
        "picture": picture,
        "words": words,
        "live": live,
        "controls": [control.spec() for control in states.controls],
        "more": list(panel.more),
        "joint": states.joint,
        "count": states.count,
        "slots": [slot.value for slot in states.slots],
        "data": states.text(),
    }


def _apart(panel: Panel, result: Path, positions: int | None) -> bool:
    """Describe a panel in a process of its own: moving one may move others of the lesson."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            result.write_text(json.dumps(described(panel, positions)), encoding="utf-8")
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main(arguments: Sequence[str]) -> None:
    """Run a lesson and write what a page needs as JSON; print how far it is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("lesson", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--positions", type=int)
    options = parser.parse_args(arguments)
    lesson, result = options.lesson, options.result
    cells = Cells(lesson)
    cells.run()
    if options.live:
        for panel in cells.panels:
            run_now(panel)
    done = []
    for number, panel in enumerate(cells.panels):
        path = result.with_suffix(f".{number}")
        if not _apart(panel, path, options.positions):
            raise SystemExit(f"panel {number + 1} of {lesson.name} cannot be moved")
        done.append(json.loads(path.read_text(encoding="utf-8")))
        path.unlink()
        said = {"done": number + 1, "of": len(cells.panels), "states": done[-1]["count"]}
        print(json.dumps(said), flush=True)
    ids = list(dict.fromkeys([*cells.exercises, *ids_of(lesson.stem)]))
    content = {
        "name": lesson.stem,
        "parts": cells.parts,
        "panels": done,
        "exercises": titles(ids),
        "drawn": drawn(ids) if ids else "",
        "sheets": SHEETS,
    }
    result.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
