"""A panel: controls, the figure they move, a table, and what went wrong."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import ipywidgets
from numpy.typing import ArrayLike

from netcalc.calculator import doubt_notice
from netcalc.errors import NetcalcError, doubts
from netcalc.language import phrase
from netcalc.plots import Axis, curves
from netcalc.printable import html_text
from netcalc.units import show, show_rate
from netcalc.widgets import controls as disclosure
from netcalc.widgets import guess, saved
from netcalc.widgets.figure import Figure


class Message(ipywidgets.HTML):
    """One sentence, or an error with its cause; empty when all is well."""

    def __init__(self, **look: Any) -> None:
        super().__init__(**look)
        self.add_class("netcalc-words")  # stays on the page: a change of it is read aloud

    @property
    def is_alert(self) -> bool:
        """Whether it says that something is wrong."""
        return 'role="alert"' in self.value

    def say(self, text: str, *, alert: bool = False) -> None:
        """Show a sentence; an empty one clears the message."""
        kind = 'role="alert" class="netcalc-message"' if alert else 'class="netcalc-note"'
        self.show(f"<span {kind}>{html_text(text)}</span>" if text else "")

    def blame(self, error: BaseException) -> None:
        """Show an error: netcalc's own as its sentence, any other with where it came from."""
        if isinstance(error, NetcalcError):
            self.say(str(error), alert=True)
            return
        # Without the home folder: output may be saved with the notebook.
        trace = "".join(traceback.format_exception(error, limit=-6))
        trace = trace.replace(str(Path.home()), "~")
        self.show(
            f'<span role="alert" class="netcalc-message">{html_text(type(error).__name__)}: '
            f"{html_text(str(error))}</span><details>"
            f"<summary>{html_text(phrase('Where it happened'))}</summary>"
            f"<pre>{html_text(trace)}</pre></details>"
        )

    def show(self, html: str) -> None:
        """Show HTML unchanged; an empty string clears the message."""
        self.value = html


class ResultSource(ipywidgets.VBox):
    """A part of a panel that hands results to its figure: a run button, an upload.

    What it says is about the result that is shown; when another part hands over a new one, it
    says nothing more.
    """

    others: Sequence[ResultSource] = ()
    """The other parts that hand results to the same figure."""
    changed: Callable[[], object] = staticmethod(lambda: None)
    """Called after it has said something for good: what is saved of the panel follows."""

    def take_prediction(self, prediction: guess.Prediction) -> None:
        """Take what the reader has guessed of the figure, for the files of results."""

    def clear_others(self) -> None:
        """Hide what the other parts say about the result before this one."""
        for other in self.others:
            other.clear_result()

    def clear_result(self) -> None:
        """Hide what this part says about its last result."""
        raise NotImplementedError


def values_of(controls: Mapping[str, ipywidgets.Widget]) -> dict[str, Any]:
    """Return the values of controls, by name."""
    return {name: control.value for name, control in controls.items()}


class Panel(ipywidgets.VBox):
    """Controls above a figure; every change of a control calls ``update`` with all values.

    Changes that come while ``update`` works are not queued: it runs once more, with the last
    values. An exception leaves the figure unchanged and is reported below it. Of more than four
    controls the others are behind a button; ``shown`` and ``more`` are their names. With a
    prediction the figure is covered until its reader has guessed.

    Parameters
    ----------
    figure : Figure
        The figure.
    controls : mapping of str to ipywidgets.Widget
        By the name under which ``update`` takes the value; anything with a ``value``.
    update : callable
        Called as ``update(latency_s=0.03, ...)`` at first and after each change; it computes and
        feeds the figure. With ``predict`` it returns the model's point, x and y.
    below : sequence of ipywidgets.Widget
        Widgets below the figure: run buttons, uploads.
    more : collection of str
        Names of the controls behind the button "More controls". At most four controls are shown
        at first sight: of more than four, those after the fourth are behind it in any case.
    predict : str
        What the reader guesses first: ``"time of the last bit"``. The figure has only its axes
        until a guess is typed, clicked in the figure or set with a slider, or the reader asks to
        see it without. The guess stays as a mark, one sentence compares it with the model, and the
        files of live runs have it in ``meta.guess``. Pictures for readers without a kernel are
        not covered.
    unit : str
        SI unit of the guess, one of :func:`netcalc.units.parse`.
    along : {'x', 'y'}
        The axis of the figure that has it.

    Raises
    ------
    DomainError
        If ``more`` names a control that is not there.
    """

    def __init__(
        self,
        figure: Figure,
        controls: Mapping[str, ipywidgets.Widget],
        update: Callable[..., object],
        *,
        below: Sequence[ipywidgets.Widget] = (),
        more: Collection[str] = (),
        predict: str = "",
        unit: str = "1",
        along: guess.Along = "y",
    ) -> None:
        self.figure, self.controls, self.below = figure, dict(controls), tuple(below)
        self.prediction = guess.Prediction(predict, unit=unit, along=along) if predict else None
        self.message = Message()
        self._update = update
        self._lock = threading.Lock()
        self._wanted = self._busy = self._held = False
        self.shown, self.more = disclosure.split(self.controls, more)
        boards: list[ipywidgets.Widget] = [
            disclosure.board([self.controls[name] for name in self.shown])
        ]
        if self.more:
            others = disclosure.board([self.controls[name] for name in self.more])
            others.add_class("netcalc-more-controls")
            boards += [disclosure.MoreButton(count=len(self.more)), others]
        super().__init__(
            [*boards, figure, self.message, *below], layout=ipywidgets.Layout(width="100%")
        )
        self.add_class("netcalc-panel")
        for part in below:
            part.add_class("netcalc-below")  # not shown while the figure is covered
        figure.saved = saved.SavedOutputs(
            figure.picture, lambda: figure.words, lambda: iter(self.children)
        )
        sources = [part for part in below if isinstance(part, ResultSource)]
        for source in sources:
            source.others = [other for other in sources if other is not source]
            source.changed = figure.saved.renew
        if self.prediction is not None:
            figure.ask(self.prediction)
            for source in sources:
                source.take_prediction(self.prediction)
        for control in self.controls.values():
            control.observe(lambda _change: self.refresh(), "value")
        self.refresh()

    def values(self) -> dict[str, Any]:
        """Return the values of the controls, by name."""
        return values_of(self.controls)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Change several controls in a block, and draw once at its end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.refresh()

    def refresh(self) -> None:
        """Compute and draw with the present values of the controls."""
        with self._lock:
            self._wanted = True
            if self._busy or self._held:
                return  # whoever is at work takes the last values next
            self._busy = True
        try:
            while self._take():
                self._work()
        except BaseException:
            self._busy = False
            raise

    def _take(self) -> bool:
        with self._lock:
            is_wanted, self._wanted = self._wanted, False
            self._busy = is_wanted
            return is_wanted

    def _work(self) -> None:
        try:
            with doubts() as doubts_met:
                point = self._update(**self.values())
            if self.prediction is not None:
                self.prediction.take_model(point)
        except Exception as error:
            self.message.remove_class("netcalc-below")  # to be seen in any case
            self.message.blame(error)
        else:
            self.message.add_class("netcalc-below")
            said = dict.fromkeys(f"{doubt_notice(doubt)}." for doubt in doubts_met)
            self.message.say(" ".join(said))
        self.figure.saved.renew()

    def _ipython_display_(self) -> None:
        self.figure.saved.show()
        saved.show_widget(super()._repr_mimebundle_())


panel = Panel


Swept: TypeAlias = tuple[Mapping[str, Any], str] | tuple[Mapping[str, Any], str, Any]
"""What a model of :func:`sweep_panel` returns: columns by name, the sentence below the figure, and
where the reader guesses first, the model's point, x and y."""


def sweep_panel(
    model: Callable[..., Swept],
    *,
    over: ArrayLike,
    controls: Mapping[str, ipywidgets.Widget],
    x: Axis,
    y: Axis,
    title: str,
    book: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    **options: Any,
) -> Panel:
    """Draw a model over one axis, with points that are known and controls that move the curves.

    Parameters
    ----------
    model : callable
        Called as ``model(latency_s=0.03, ...)`` with the values of the controls. It returns the
        columns of the figure by name, a curve as its values at ``over`` and a set of points as a
        pair of x and y; and the sentence that describes the figure.
    over : array_like
        Positions at which the curves are computed.
    controls : mapping of str to ipywidgets.Widget
        By the name under which ``model`` takes the value.
    x, y : Axis
        The axes, with their ranges.
    title : str
        Title above the figure.
    book : mapping of str to a pair of array_like, optional
        Sets of points that no control moves, such as those that a book printed.
    **options
        Of :func:`panel`.

    Returns
    -------
    Panel
        The widget to show.
    """
    with doubts():  # they are said when the panel draws
        columns = model(**values_of(controls))[0]
    moved = {name: column for name, column in columns.items() if isinstance(column, tuple)}
    lines = {name: column for name, column in columns.items() if name not in moved}
    points = {**(book or {}), **moved}
    figure = Figure(curves(over, lines, points=points, x_axis=x, y_axis=y, title=title))

    def update(**values: Any) -> Any:
        columns, sentence, *point = model(**values)
        figure.update_all(
            {
                name: dict(zip("xy", column, strict=True))
                if isinstance(column, tuple)
                else {"y": column}
                for name, column in columns.items()
            }
        )
        figure.describe(sentence)
        return point[0] if point else None

    return panel(figure, controls, update, **options)


def in_unit(unit: str, *, digits: int = 4, **numbers: Any) -> dict[str, str]:
    """Return numbers of one unit as people read them, by name: fields of a sentence.

    Examples
    --------
    >>> in_unit("s", least=0.03, most=1.2)
    {'least': '30 ms', 'most': '1.2 s'}
    """
    return {name: show(number, unit, digits=digits) for name, number in numbers.items()}


def in_layer(layer: str, **rates_bps: float) -> dict[str, str]:
    """Return rates of one layer as people read them, by name: fields of a sentence."""
    return {name: show_rate(rate_bps, layer) for name, rate_bps in rates_bps.items()}


def notes_of(result: Any) -> list[str]:
    """Return what the warnings of samples say, a sentence each; of None nothing."""
    warnings = () if result is None else result.meta.warnings
    return [phrase("Note: {warning}.", warning=warning) for warning in warnings]


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in HTML, with the first column as the headings of its rows.

    Parameters
    ----------
    head : sequence of str
        Headings of the columns.
    rows : iterable of sequence of str
        Cells, as text.
    """
    top = "".join(
        f'<th scope="col">{html_text(phrase(text))}</th>' if text else "<td></td>" for text in head
    )
    body = "".join(
        f'<tr><th scope="row">{html_text(first)}</th>'
        + "".join(f"<td>{html_text(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in rows
    )
    return f'<table class="netcalc-table"><thead><tr>{top}</tr></thead>{body}</table>'
