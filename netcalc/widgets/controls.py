"""Controls: a slider with a text box for a quantity, a choice, a switch, and a board of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import anywidget
import ipywidgets
import traitlets

from netcalc.errors import DomainError, NetcalcError
from netcalc.language import phrase
from netcalc.printable import html_text
from netcalc.units import parse, show

STEPS = 200
"""Stops of a slider from one end to the other."""
DIGITS = 3
"""Digits of a slider's value; a typed one keeps its own."""


class Quantity(ipywidgets.VBox):
    """A slider and a text box for one quantity; ``value`` is in the SI unit.

    Parameters
    ----------
    label : str
        The name of the quantity: ``"latency"``.
    start : str or float
        The initial value, as text (``"30 ms"``, ``"T1"``) or in ``unit``.
    low, high : str or float
        The range, ends included.
    unit : str
        The SI unit, one of :func:`netcalc.units.parse`.
    scale : {'log', 'linear'}
        How the slider runs; a range from 0 needs ``"linear"``.
    whole : bool
        Whether only whole numbers are accepted.
    """

    value = traitlets.Float()

    def __init__(
        self,
        label: str,
        start: str | float,
        low: str | float,
        high: str | float,
        *,
        unit: str,
        scale: Literal["log", "linear"] = "log",
        whole: bool = False,
    ) -> None:
        self.label, self.unit, self.whole = phrase(label), unit, whole
        self.low, self.high = self._number(low), self._number(high)
        self._log = scale == "log"
        self._moving = False
        first = self._number(start)
        # The slider counts stops: front ends move a value that lies between two stops.
        span = round(self.high - self.low)
        self.stop_count = min(STEPS, span) if self.whole and not self._log else STEPS
        self.slider = ipywidgets.IntSlider(
            value=self._position(first),
            min=0,
            max=self.stop_count,
            description=self.label,
            tooltip=self.label,
            readout=False,
            style={"description_width": "8.5em"},
            layout=ipywidgets.Layout(flex="1 1 auto", width="auto", min_width="0"),
        )
        self.box = ipywidgets.Text(
            value=start if isinstance(start, str) else self.shown(first),
            continuous_update=False,
            tooltip=phrase("{label}: a number with its unit", label=self.label),
            layout=ipywidgets.Layout(width="9.5em", flex="0 0 auto"),
        )
        self.message = ipywidgets.HTML()
        self.message.add_class("netcalc-words")  # stays on the page: a change of it is read aloud
        row = ipywidgets.HBox(
            [self.slider, self.box], layout=ipywidgets.Layout(width="100%", align_items="center")
        )
        super().__init__(
            [row, self.message],
            layout=ipywidgets.Layout(flex="1 1 400px", min_width="0", max_width="640px"),
        )
        self.add_class("netcalc-control")
        self.value = first
        self.slider.observe(self._slid, "value")
        self.box.observe(self._typed, "value")
        self.observe(self._set, "value")

    def saved_text(self) -> str:
        """Return the quantity as text, for a notebook without a kernel."""
        return f"{html_text(self.label)}: {html_text(self.box.value)}"

    def _position(self, value: float) -> int:
        """Return the slider's stop that is nearest to a value."""
        if self._log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(share * self.stop_count)

    def at(self, position: int) -> float:
        """Return the value of a stop, with few digits but never beyond the ends."""
        share = position / self.stop_count
        if self._log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        value = float(f"{value:.{DIGITS}g}")
        value = float(round(value)) if self.whole else value
        return min(max(value, self.low), self.high)

    def _number(self, typed: str | float) -> float:
        number = parse(typed, self.unit, field=self.label) if isinstance(typed, str) else typed
        return float(round(number)) if self.whole else float(number)

    def shown(self, value: float) -> str:
        """Return a value as the box shows it."""
        return show(value, self.unit, digits=6)

    def _slid(self, change: Mapping[str, Any]) -> None:
        if self._moving:
            return
        self._take(self.at(change["new"]), text=None, move=False)

    def _typed(self, change: Mapping[str, Any]) -> None:
        if self._moving:
            return
        try:
            value = self._number(change["new"])
        except NetcalcError as error:
            self._say(str(error))
            return
        if not self.low <= value <= self.high:
            numbers = {"low": self.low, "high": self.high, "found": value}
            texts = {name: show(number, self.unit) for name, number in numbers.items()}
            said = phrase(
                "{label} must be between {low} and {high}, got {found}.", label=self.label, **texts
            )
            self._say(said)
            return
        self._take(value, text=change["new"], move=True)

    def _set(self, change: Mapping[str, Any]) -> None:
        """Follow a value that a program gave."""
        if not self._moving:
            self._take(change["new"], text=None, move=True)

    def _take(self, value: float, *, text: str | None, move: bool) -> None:
        self._moving = True
        try:
            self.value = value  # first: the figure's columns go ahead of the box's text
            if move:
                self.slider.value = self._position(value)
            self.box.value = self.shown(value) if text is None else text
            self._say("")
            if self.value != value:  # a run that ended meanwhile set it
                self.slider.value = self._position(self.value)
                self.box.value = self.shown(self.value)
        finally:
            self._moving = False

    def _say(self, text: str) -> None:
        shown = f'<span role="alert" class="netcalc-message">{html_text(text)}</span>'
        self.message.value = shown if text else ""


def choice(label: str, options: Mapping[str, Any] | list[str], start: Any) -> ipywidgets.Dropdown:
    """Return a list to choose from; its ``value`` is that of the chosen option."""
    pairs = options.items() if isinstance(options, Mapping) else zip(options, options, strict=True)
    control = ipywidgets.Dropdown(
        options=[(phrase(name), value) for name, value in pairs],
        value=start,
        description=phrase(label),
        tooltip=phrase(label),
        style={"description_width": "8.5em"},
        layout=ipywidgets.Layout(flex="1 1 400px", min_width="0", max_width="640px"),
    )
    control.add_class("netcalc-choice")
    return control


def family_choice() -> ipywidgets.Dropdown:
    """Return a list of address families; its ``value`` is a loopback address."""
    return choice("family", {"IPv4": "127.0.0.1", "IPv6": "::1"}, "127.0.0.1")


def path_box(
    start: str, *, label: str = "path", offered: Sequence[str] = (), when_empty: str = ""
) -> ipywidgets.Text:
    """Return a box for the links of a path as text; it offers those of ``offered``."""
    about = phrase("Links separated by commas, each with a rate and a latency")
    tooltip = f"{about}; {phrase(when_empty)}" if when_empty else about
    box = text_box(label, phrase("links, separated by commas"), tooltip=tooltip, offered=offered)
    box.value = start
    return box


def text_box(
    label: str, hint: str, *, tooltip: str = "", offered: Sequence[str] = ()
) -> ipywidgets.Text:
    """Return a box for a text, which it takes when it is done; ``hint`` is shown while empty."""
    more = {"options": offered, "ensure_option": False} if offered else {}
    return (ipywidgets.Combobox if offered else ipywidgets.Text)(
        description=phrase(label),
        placeholder=hint,
        tooltip=tooltip or hint,
        continuous_update=False,
        style={"description_width": "8.5em"},
        layout=ipywidgets.Layout(width="100%", max_width="640px"),
        **more,
    )


def switch(label: str, start: bool = False) -> ipywidgets.Checkbox:
    """Return a box to tick; its ``value`` is True or False."""
    return ipywidgets.Checkbox(
        value=start,
        description=phrase(label),
        tooltip=phrase(label),
        indent=False,
        layout=ipywidgets.Layout(flex="1 1 400px", min_width="0", max_width="640px"),
    )


SHOWN_COUNT = 4
"""Controls of a panel at first sight, at most."""


class MoreButton(anywidget.AnyWidget):
    """A button that shows the other controls of its panel, and hides them again."""

    _esm = Path(__file__).with_name("more.js")
    _css = Path(__file__).with_name("more.css")
    count = traitlets.Int().tag(sync=True)
    is_open = traitlets.Bool(False).tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    """Texts of the button."""

    def __init__(self, count: int) -> None:
        words = {"more": phrase("More controls"), "fewer": phrase("Fewer controls")}
        super().__init__(count=count, words=words)

    def saved_text(self) -> str:
        """Return nothing: in a notebook without a kernel all values are text."""
        return ""


def split(names: Iterable[str], more: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """Return the controls at first sight, and those behind the button.

    Parameters
    ----------
    names : iterable of str
        Names of all controls, in their order.
    more : collection of str
        Names of those behind the button. Of the others, the first :data:`SHOWN_COUNT` are shown.

    Raises
    ------
    DomainError
        If a name of ``more`` is not among ``names``.

    Examples
    --------
    >>> split(["rate", "latency", "loss", "size", "seed"])
    (['rate', 'latency', 'loss', 'size'], ['seed'])
    >>> split(["rate", "latency", "loss", "size", "seed"], ["rate", "loss"])
    (['latency', 'size', 'seed'], ['rate', 'loss'])
    """
    every = list(names)
    for name in more:
        if name not in every:
            raise DomainError("not-a-choice", "more", name, choices=every)
    shown = [name for name in every if name not in more][:SHOWN_COUNT]
    return shown, [name for name in every if name not in shown]


def board(controls: Sequence[ipywidgets.Widget]) -> ipywidgets.Box:
    """Return controls beside each other, as many as fit the page."""
    box = ipywidgets.Box(
        list(controls),
        layout=ipywidgets.Layout(flex_flow="row wrap", width="100%", grid_gap="2px 16px"),
    )
    box.add_class("netcalc-board")

    def place(change: object = None) -> None:
        shown = [control for control in controls if control.layout.display != "none"]
        for control, classes in zip(shown, _places(len(shown)), strict=True):
            for name in ("netcalc-of-two", "netcalc-third", "netcalc-half"):
                (control.add_class if name in classes else control.remove_class)(name)

    for control in controls:
        control.layout.observe(place, "display")
    place()
    return box


def _places(count: int) -> list[list[str]]:
    """Return the classes of so many controls: in two or three columns none is alone in its row.

    A style sheet could count them by ``:has``, but then the page would compute the styles of all
    it has at each step of a slider.
    """
    if count < 2:
        return [[]] * count
    over = {0: 0, 1: 4, 2: 2}[count % 3]  # those of the last rows, two in a row
    wide = ["netcalc-third"] * (count - over) + ["netcalc-half"] * over
    return [[name, "netcalc-of-two"] if count % 2 == 0 else [name] for name in wide]
