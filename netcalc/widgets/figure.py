"""The widget that holds a bokeh figure in JupyterLab, Voila and Notebook, with no network."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import bokeh
import numpy as np
import traitlets
from bokeh.core.json_encoder import serialize_json
from bokeh.resources import Resources
from numpy.typing import ArrayLike

from netcalc.language import phrase
from netcalc.plots import Plot, with_guess
from netcalc.plots.pictures import svg
from netcalc.plots.style import PAGE_COLORS, theme_colors
from netcalc.printable import printable_lines
from netcalc.widgets.guess import GUESS, Prediction
from netcalc.widgets.saved import SavedOutputs, show_widget

_HERE = Path(__file__).parent
THEME_SCRIPT = f"const COLORS = {json.dumps(theme_colors(), separators=(',', ':'))};\n" + (
    _HERE / "theme.js"
).read_text(encoding="utf-8")
"""What gives figures the colours of their page, and a size that fits it."""
_SCRIPTS = ("guess.js", "access.js", "figure.js")
SCRIPT = "\n".join(
    [THEME_SCRIPT, *((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)]
)
"""The module of a page that shows figures."""


def style_sheet(name: str) -> str:
    """Return a style sheet of this folder after the colours that all of them share."""
    light, dark = (
        "".join(f"--netcalc-{name}:{pair[at]};" for name, pair in PAGE_COLORS.items())
        for at in (0, 1)
    )
    shared = (
        f"body{{{light}}}\nbody[data-jp-theme-light=false]{{{dark}}}\n"
        "@media (prefers-color-scheme: dark){body[data-voila],"
        f"body:not([data-jp-theme-light]){{{dark}}}}}\n"
    )
    return shared + (_HERE / name).read_text(encoding="utf-8")


class Figure(anywidget.AnyWidget):
    """A figure on the page: built once, then fed with columns.

    Parameters
    ----------
    plot : Plot
        The figure, from a function of :mod:`netcalc.plots`.
    """

    _esm = SCRIPT
    _css = style_sheet("figure.css")
    _bokeh_version = traitlets.Unicode(bokeh.__version__).tag(sync=True)
    _own_id = traitlets.Unicode().tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    _words = traitlets.Dict().tag(sync=True)
    _asks = traitlets.Bool().tag(sync=True)
    """Whether its readers are to guess first."""

    def __init__(self, plot: Plot) -> None:
        self._lock = threading.RLock()  # the columns change while a view asks for them
        self._plot = plot
        self._asked = False  # by a view; before that nobody listens, and nothing is sent
        self.prediction: Prediction | None = None
        self.saved = SavedOutputs(self.picture, lambda: self.words)
        name = uuid.uuid4().hex
        super().__init__(
            model_id=name, _own_id=name, description=plot.description, _words=page_words()
        )
        self.layout.width = "100%"
        self.on_msg(self._answer)

    @property
    def plot(self) -> Plot:
        """The figure that is shown; change it only through this widget."""
        return self._plot

    @property
    def words(self) -> str:
        """The caption, and how the reader's guess compares with the model."""
        sentence = self.prediction.sentence if self.prediction else ""
        return " ".join(filter(None, (self.description, sentence)))

    def ask(self, prediction: Prediction) -> None:
        """Cover the figure on its pages until a guess is made, which becomes a mark in it.

        Its pictures, for readers without a kernel, are never covered.
        """
        with self._lock:
            self.prediction = prediction
            self._plot = with_guess(self._plot, GUESS)
            self._asks = prediction.covered
            prediction.changed = self._show_guess

    def _show_guess(self) -> None:
        assert self.prediction is not None
        with self._lock:
            self._asks = self.prediction.covered
            marks = self._plot.sources[GUESS].data
            x, y = (self.prediction.mark[name] for name in ("x", "y"))
            if not np.array_equal([marks["x"][0], marks["y"][0]], [x, y], equal_nan=True):
                self.update(GUESS, x=[x], y=[y])
            if self._asked:
                self.send({"kind": "guess", "guess": self._question()})
            self.saved.renew()

    def _question(self) -> dict[str, Any] | None:
        if self.prediction is None:
            return None
        return {**self.prediction.content(), "mark": GUESS}

    def update(self, name: str, **columns: ArrayLike) -> None:
        """Replace columns of one source, such as ``figure.update("T1", y=times)``.

        Raises
        ------
        DomainError
            If the source or a column is not there, or the columns differ in length.
        """
        self.update_all({name: columns})

    def update_all(self, sources: Mapping[str, Mapping[str, ArrayLike]]) -> None:
        """Replace columns of several sources in one message: they change together, or none."""
        with self._lock:
            drawn = self._plot.replace_all(sources)
            if self._asked:
                message, buffers = _pack(drawn)
                self.send({"kind": "columns", "sources": message}, buffers=buffers)
            self.saved.renew()

    def picture(self) -> str:
        """Return the figure as it is shown now, as SVG."""
        with self._lock:
            return svg(self._plot, description=self.description)

    def describe(self, text: str) -> None:
        """Replace the text alternative, which is also the caption."""
        self.description = printable_lines(text)
        self.saved.renew()

    def draw(self, plot: Plot) -> None:
        """Replace the figure; one of the same form needs only new columns."""
        with self._lock:
            if self.prediction is not None:
                plot = with_guess(plot, GUESS, **self.prediction.mark)
            if plot.form and plot.form == self._plot.form:
                self.update_all({name: source.data for name, source in plot.sources.items()})
            else:
                self._plot = plot
                if self._asked:
                    self._send_document("all")
            self.describe(plot.description)

    def _answer(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        if content.get("kind") == "ask library":
            self.send({"kind": "library"}, buffers=[_library()])
        elif content.get("kind") == "ask document":
            with self._lock:
                self._asked = True
                self._send_document(str(content.get("view")))
        elif self.prediction is not None and content.get("kind") in ("guess", "no guess"):
            self.prediction.hear(content)
        elif content.get("kind") == "ask guess":
            self.send({"kind": "guess", "guess": self._question()})

    def _send_document(self, view: str) -> None:
        document = serialize_json(self._plot.document().to_json(deferred=False)).encode()
        ids = {name: source.id for name, source in self._plot.sources.items()}
        message = {"kind": "document", "view": view, "ids": ids, "guess": self._question()}
        self.send(message, buffers=[document])

    def _ipython_display_(self) -> None:
        self.saved.show()
        show_widget(super()._repr_mimebundle_())


def page_words() -> dict[str, str]:
    """Return what the page says itself, in the reader's language; it fills the braces."""
    return {
        "no_kernel": phrase("No kernel: run the cell again."),
        "no_answer": phrase("The kernel does not answer. If it has ended, run the cell again."),
        "no_kernel_of_page": phrase("No kernel: load the page again."),
        "no_answer_of_page": phrase(
            "The kernel does not answer. If it has ended, load the page again."
        ),
        "covered": phrase("Covered until you guess: {what}."),
        "not_drawn": phrase("The figure cannot be drawn here: {reason}"),
        "your_guess": phrase("Your guess:"),
        "compare": phrase("Compare with the model"),
        "skip": phrase("Show without a guess"),
        "guess_first": phrase(
            "Guess first: {what}. Type it, click in the figure, or move the slider."
        ),
        "guess_aloud": phrase("Your guess, with its unit: {what}"),
        "guess_on_axis": phrase("Your guess on the axis: {what}"),
        "values": phrase("Table of values"),
        "no_values": phrase("The figure has no values."),
        "some_values": phrase("{name} ({shown} of {count} values)"),
        "from": phrase("from"),
        "to": phrase("to"),
        "progress": phrase("Progress: {what}"),
        "equation": phrase("Equation"),
    }


@cache
def _library() -> bytes:
    """Return BokehJS as the installed bokeh package holds it."""
    paths = Resources(mode="absolute", components=["bokeh"], minified=True).js_files
    return b"\n".join(Path(path).read_bytes() for path in paths)


def _pack(sources: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[Any]]:
    """Split columns into JSON and binary buffers: numbers travel as float64."""
    message: dict[str, dict[str, Any]] = {}
    buffers: list[Any] = []
    for name, columns in sources.items():
        message[name] = {}
        for column, values in columns.items():
            if isinstance(values, np.ndarray):
                message[name][column] = {"buffer": len(buffers)}
                buffers.append(np.ascontiguousarray(values).data)
            else:
                message[name][column] = values
    return message, buffers
