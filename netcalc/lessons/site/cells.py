"""The cells of a lesson, run once: their text, what they print, and the panels they show.

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
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from netcalc.errors import NetcalcError
from netcalc.lessons.exercise import ExerciseBox
from netcalc.lessons.site import drills
from netcalc.lessons.site.live import notes, run_now
from netcalc.lessons.site.states import States
from netcalc.widgets.panel import Panel

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
        "controls": [one.spec() for one in states.controls],
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
    given = argparse.ArgumentParser()
    given.add_argument("lesson", type=Path)
    given.add_argument("result", type=Path)
    given.add_argument("--live", action="store_true")
    given.add_argument("--positions", type=int)
    options = given.parse_args(arguments)
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
    ids = list(dict.fromkeys([*cells.exercises, *drills.ids_of(lesson.stem)]))
    content = {
        "name": lesson.stem,
        "parts": cells.parts,
        "panels": done,
        "exercises": drills.titles(ids),
        "drawn": drills.drawn(ids) if ids else "",
        "sheets": drills.SHEETS,
    }
    result.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
