"""The cells of a lesson, run once: their text, their panels, exercises, and experiments.

Run as a program of its own, ``python -m netcalc.lessons.site.cells LESSON RESULT``: lessons keep
what they change, such as the precision of printed arrays, out of each other.

A panel is stored as a table: its figure and its words at many positions of its controls. Columns
take few bytes: twelve binary digits a number, as differences of differences. A pixel cannot show
more than four digits. The bits of a number in single precision grow with its logarithm, so that a
smooth curve has small second differences on any axis.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import itertools
import json
import math
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import ipywidgets
import numpy as np
from bokeh.core.json_encoder import serialize_json
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from latex2mathml.converter import convert
from numpy.typing import NDArray
from traitlets.config import Config

from netcalc import exercises, plots, units
from netcalc.errors import NetcalcError
from netcalc.exercises import Question, Template
from netcalc.lessons.exercise import ExerciseBox
from netcalc.lessons.site.calculator_page import unit_tables
from netcalc.widgets.controls import Quantity
from netcalc.widgets.panel import Panel, ResultSource
from netcalc.widgets.run import RunButton, Upload


class PageControl:
    """A control and the positions that the page offers.

    Parameters
    ----------
    name : str
        Under which the panel knows it.
    widget : ipywidgets.Widget
        The control; it is at its start.
    most : int
        Stops of a slider, at most; a list always has all of its entries.
    """

    def __init__(self, name: str, widget: ipywidgets.Widget, *, most: int) -> None:
        self.name, self.widget = name, widget
        self.label, self.kind, self.texts = str(getattr(widget, "description", "")), "fixed", []
        self._trait = "index" if isinstance(widget, ipywidgets.Dropdown) else "value"
        start = getattr(widget, self._trait)
        self._values: list[object] = [start]
        if isinstance(widget, Quantity):
            self.label, self.kind = widget.label, "slider"
            self._values = [float(value) for value in _stops(widget, most)]
            self.texts = [widget.shown(float(value)) for value in _stops(widget, most)]
            self.texts[self._values.index(start)] = widget.box.value
        elif isinstance(widget, ipywidgets.Dropdown):
            self.kind = "list"
            self.texts = [str(text) for text in widget._options_labels]
            self._values = list(range(len(self.texts)))
        elif isinstance(widget, ipywidgets.Checkbox):
            self.kind, self.texts, self._values = "box", ["no", "yes"], [False, True]
        elif isinstance(widget, ipywidgets.Combobox):
            self.kind = "list"
            self.texts = list(dict.fromkeys([widget.value, *widget.options]))
            self._values = list(self.texts)
        elif isinstance(widget, ipywidgets.Text):
            self.texts = [widget.value]
        self.start = self._values.index(start)

    @property
    def count(self) -> int:
        """Positions."""
        return len(self._values)

    def put(self, position: int) -> None:
        """Move the control to a position."""
        if self.kind != "fixed":
            setattr(self.widget, self._trait, self._values[position])

    def here(self) -> int:
        """Return the position where the control is now; -1 where the page has none for it."""
        value = getattr(self.widget, self._trait)
        return self._values.index(value) if value in self._values else -1

    def spec(self) -> dict[str, object]:
        """Return what the page must know, for JSON."""
        names = ("name", "label", "kind", "texts", "start")
        return {name: getattr(self, name) for name in names}


def _stops(widget: Quantity, most: int) -> list[float]:
    """Return values from one end of a slider to the other, the one at the start among them."""
    positions = np.unique(np.round(np.linspace(0, widget.stop_count, most))).astype(int)
    values = [widget.at(int(position)) for position in positions]
    nearest = min(range(len(values)), key=lambda i: abs(int(positions[i]) - widget.slider.value))
    values[nearest] = widget.value
    return sorted(set(values))


_DROPPED_BITS = 11
RELATIVE_ERROR = 2.0**-13
"""Largest relative error of a packed number that is not tiny. [1]"""


def packed(header: Any, series: Sequence[NDArray[np.int64]]) -> str:
    """Return a header and series of whole numbers as text: gzip in base64.

    Parameters
    ----------
    header : object
        Anything that JSON holds.
    series : sequence of numpy.ndarray
        Whole numbers below 2**29, shape (n,) each; they are read back one after the other.
    """
    body = b"".join(_varints(numbers) for numbers in series)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    whole = len(text).to_bytes(4, "little") + text + body
    return base64.b64encode(gzip.compress(whole, mtime=0)).decode()


def steps(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a series as its first differences, the first value before them."""
    return np.diff(values, prepend=0)


def bends(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return finite numbers as the second differences of their bits, least ones dropped."""
    whole = np.round(values.astype(np.float32).view(np.int32).astype(np.int64) & 0x7FFFFFFF)
    rounded = (whole + (1 << (_DROPPED_BITS - 1))) >> _DROPPED_BITS
    ordered = np.where(np.signbit(values), -rounded, rounded)
    return steps(steps(ordered))


def gaps(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int]]:
    """Return numbers without nan, each filled with the one before, and where the nan were.

    The second result has the first index and the length of each gap, one gap after the other.
    """
    missing = np.isnan(values)
    if not missing.any():
        return values, []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], missing.view(np.int8), [0]))))
    ends = [int(edge) for edge in edges]
    places = [
        part
        for start, end in zip(ends[::2], ends[1::2], strict=True)
        for part in (start, end - start)
    ]
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(values.size)))
    return np.where(last >= 0, values[np.maximum(last, 0)], 0.0), places


def _varints(values: NDArray[np.int64]) -> bytes:
    """Return whole numbers in as few bytes as they need, the sign in the last bit."""
    left = np.where(values >= 0, 2 * values, -2 * values - 1)
    parts = []
    while True:
        more = left >= 128
        parts.append(np.where(left >= 0, (left & 127) | np.where(more, 128, 0), -1))
        if not more.any():
            break
        left = np.where(more, left >> 7, -1)
    table = np.stack(parts, axis=1).ravel()
    return table[table >= 0].astype(np.uint8).tobytes()


BUDGETS = ((0.004, 2200), (0.03, 500), (0.15, 130), (1.0, 50), (math.inf, 20))
"""Positions of all controls together that are stored for a panel, by the time that one takes:
one that takes longer than the first number gets the next one. [s], [1]"""
ALONE = 61
"""Most stops of a slider whose panel is stored for one moved control at a time. [1]"""
LEAST = 9
"""Stops of a slider that is worth moving: with fewer, controls are moved one at a time. [1]"""


@dataclass(slots=True)
class SourceColumn:
    """A column of a source, its place among all columns, and the values that it has had."""

    source: str
    name: str
    place: int
    arrays: list[NDArray[np.float64] | list[Any]] = field(default_factory=list)
    indexes: dict[bytes, int] = field(default_factory=dict)

    def index_of(self, values: Any) -> int:
        """Return the number of these values among all that the column has had."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
            array: Any = values.astype(np.float64)
            key = array.tobytes()
        else:
            array = _plain(values)
            key = json.dumps(array).encode()
        if key not in self.indexes:
            self.indexes[key] = len(self.indexes)
            self.arrays.append(array)
        return self.indexes[key]


@dataclass(slots=True)
class Form:
    """Figures that differ in nothing but their columns, with a row for each stored position.

    A row has the numbers of the texts, then of the values of each column.
    """

    number: int
    plot: plots.Plot
    columns: list[SourceColumn]
    rows: list[list[int]] = field(default_factory=list)


class States:
    """What a panel shows at each of the stored positions.

    Parameters
    ----------
    panel : Panel
        At its start; it is moved.
    most : int, optional
        Stored positions, about; by default as many as the time of one allows.
    """

    def __init__(self, panel: Panel, *, most: int | None = None) -> None:
        self.panel = panel
        most = _affordable(panel) if most is None else most
        self.slots = [part for child in panel.below for part in _words(child)]
        self.controls, self.joint = _grid(panel, most)
        self._texts: dict[str, int] = {}
        self._forms: dict[Any, Form] = {}
        self._signatures: dict[int, tuple[plots.Plot, str]] = {}
        self._order: list[int] = []

    def positions(self) -> Iterator[tuple[int, ...]]:
        """Go through all positions to be stored, in the order of the table."""
        starts = tuple(control.start for control in self.controls)
        if self.joint:
            yield from itertools.product(*(range(control.count) for control in self.controls))
            return
        for index, control in enumerate(self.controls):
            for position in range(control.count):
                yield (*starts[:index], position, *starts[index + 1 :])

    def walk(self) -> None:
        """Move the panel to every position, note what it shows, and go back to the start."""
        for position in self.positions() if self.controls else [()]:
            _move(self.panel, self.controls, position)
            self._note()
        _move(self.panel, self.controls, [control.start for control in self.controls])

    def _note(self) -> None:
        plot = self.panel.figure.plot
        form = self._form(plot)
        texts = [
            self.panel.figure.description,
            self.panel.message.value,
            " ".join(self._hidden()),
            *(slot.value for slot in self.slots),
        ]
        self._order.append(form.number)
        form.rows.append([
            *map(self._text, texts),
            *(column.index_of(plot.sources[column.source].data[column.name])
              for column in form.columns),
        ])  # fmt: skip

    def _hidden(self) -> list[str]:
        return [
            control.name for control in self.controls if control.widget.layout.display == "none"
        ]

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _form(self, plot: plots.Plot) -> Form:
        """Return the form of a figure, a new one if none has been like it."""
        key: Any = plot.form
        if not key:
            # The figure is kept: another object could get its identity.
            _, key = self._signatures.setdefault(id(plot), (plot, _signature(plot)))
        if key not in self._forms:
            first = sum(len(form.columns) for form in self._forms.values())
            names = [
                (source, name) for source, drawn in plot.sources.items() for name in drawn.data
            ]
            columns = [SourceColumn(*pair, place) for place, pair in enumerate(names, start=first)]
            self._forms[key] = Form(len(self._forms), plot, columns)
        return self._forms[key]

    @property
    def count(self) -> int:
        """Stored positions."""
        return len(self._order)

    def text(self) -> str:
        """Return everything as text for the page, which :file:`page.js` reads."""
        series: list[NDArray[np.int64]] = []
        columns: list[list[Any]] = []
        forms = list(self._forms.values())
        for column in (column for form in forms for column in form.columns):
            told: list[Any] = []
            for array in column.arrays:
                if isinstance(array, np.ndarray) and len(column.arrays) == 1:
                    told.append({"exact": [_number(float(value)) for value in array]})
                elif isinstance(array, np.ndarray):
                    filled, places = gaps(array)
                    told.append({"count": int(array.size), **({"nan": places} if places else {})})
                    series.append(bends(filled))
                else:
                    told.append({"list": array})
            columns.append(told)
        # The rows of each form in a table of their own: forms have different columns.
        series.append(steps(np.array(self._order, dtype=np.int64)))
        for form in forms:
            series += [steps(indexes) for indexes in np.array(form.rows, dtype=np.int64).T]
        header = {
            "controls": [control.spec() for control in self.controls],
            "joint": self.joint,
            "states": self.count,
            "slots": len(self.slots),
            "texts": list(self._texts),
            "columns": columns,
            "forms": [
                {
                    "sources": [
                        (column.source, column.name, column.place) for column in form.columns
                    ],
                    **_document(form.plot),
                }
                for form in forms
            ],
        }
        return packed(header, series)


def _move(panel: Panel, controls: Sequence[PageControl], places: Sequence[int]) -> None:
    """Move all controls of a panel to a position each, and draw it once."""
    with panel.at_once():
        for control, place in zip(controls, places, strict=True):
            control.put(place)


def _affordable(panel: Panel) -> int:
    """Return how many positions may be stored, by the time of one: the least of three ends."""
    spent_s = []
    for share in (0.2, 0.8, 0.5):
        controls = [
            PageControl(name, control, most=LEAST) for name, control in panel.controls.items()
        ]
        before_s = time.process_time()
        _move(panel, controls, [round(share * (control.count - 1)) for control in controls])
        spent_s.append(time.process_time() - before_s)
        _move(panel, controls, [control.start for control in controls])
    return next(count for limit_s, count in BUDGETS if min(spent_s) <= limit_s)


def _grid(panel: Panel, most: int) -> tuple[list[PageControl], bool]:
    """Return the controls with as many stops as fit, and whether all combinations are stored."""

    def with_stops(count: int) -> list[PageControl]:
        return [PageControl(name, control, most=count) for name, control in panel.controls.items()]

    fewest = with_stops(LEAST)
    if math.prod(control.count for control in fewest) > most:
        listed = sum(control.count for control in fewest if control.kind != "slider")
        sliders = max(1, sum(control.kind == "slider" for control in fewest))
        fewest_alone = min(5, most)
        return with_stops(min(ALONE, max(fewest_alone, (most - listed) // sliders))), False
    if not any(control.kind == "slider" for control in fewest):
        return fewest, True
    stops = LEAST
    while stops < 101 and math.prod(control.count for control in with_stops(stops + 2)) <= most:
        stops += 2
    return with_stops(stops), True


def _words(part: Any) -> Iterator[ipywidgets.HTML]:
    """Return the texts below a figure that its update may change."""
    if isinstance(part, ResultSource):
        return
    if isinstance(part, ipywidgets.HTML):
        yield part
    for child in getattr(part, "children", ()):
        yield from _words(child)


def _plain(values: Any) -> Any:
    if isinstance(values, np.ndarray | list | tuple):
        return [_plain(value) for value in values]
    if isinstance(values, float | np.floating):
        return _number(float(values))
    return values.item() if isinstance(values, np.generic) else values


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


def _signature(plot: plots.Plot) -> str:
    """Return all of a figure's document but the columns of its named sources."""
    document = json.loads(serialize_json(plot.document().to_json(deferred=False)))
    columns = {source.id for source in plot.sources.values()}
    numbers: dict[str, str] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        if not isinstance(value, dict):
            return value
        name = value.get("id")
        if isinstance(name, str):
            value = {**value, "id": numbers.setdefault(name, f"p{len(numbers)}")}
            if name in columns and "attributes" in value:
                value["attributes"] = {**value["attributes"], "data": None}
        return {key: plain(item) for key, item in value.items()}

    return json.dumps([plain(document), sorted(plot.sources)])


def _document(plot: plots.Plot) -> dict[str, Any]:
    """Return the bokeh document of a figure without the columns of its named sources."""
    _ = plot.figure  # drawn from its columns, before they go
    for source in plot.sources.values():
        source.data = {column: [] for column in source.data}
    return {
        "document": json.loads(serialize_json(plot.document().to_json(deferred=False))),
        "ids": {name: source.id for name, source in plot.sources.items()},
    }


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


class LessonCells:
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
    cells = LessonCells(lesson)
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
