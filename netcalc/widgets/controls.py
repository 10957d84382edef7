"""Controls: a slider with a text box for a quantity, a choice, a switch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import ipywidgets
import traitlets

from netcalc.errors import NetcalcError
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
    unit : str
        The SI unit, one of :func:`netcalc.units.parse`.
    low, high : str or float
        The range, ends included.
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
        *,
        unit: str,
        low: str | float,
        high: str | float,
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
            value=self.shown(start if isinstance(start, str) else first),
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

    def _number(self, given: str | float) -> float:
        number = parse(given, self.unit, field=self.label) if isinstance(given, str) else given
        return float(round(number)) if self.whole else float(number)

    def shown(self, given: str | float) -> str:
        """Return a value as the box shows it."""
        return given if isinstance(given, str) else show(given, self.unit, digits=6)

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
            low, high = show(self.low, self.unit), show(self.high, self.unit)
            found = show(value, self.unit)
            self._say(
                phrase(
                    "{label} must be between {low} and {high}, got {found}.",
                    label=self.label,
                    low=low,
                    high=high,
                    found=found,
                )
            )
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
    start: str, *, label: str = "path", known: Sequence[str] = (), when_empty: str = ""
) -> ipywidgets.Text:
    """Return a box for the links of a path as text; it offers the ones that are ``known``."""
    about = phrase("Links separated by commas, each with a rate and a latency")
    given = {
        "value": start,
        "description": phrase(label),
        "placeholder": phrase("links, separated by commas"),
        "continuous_update": False,
        "tooltip": f"{about}; {phrase(when_empty)}" if when_empty else about,
        "style": {"description_width": "8.5em"},
        "layout": ipywidgets.Layout(width="100%", max_width="640px"),
    }
    if not known:
        return ipywidgets.Text(**given)
    return ipywidgets.Combobox(options=known, ensure_option=False, **given)


def switch(label: str, start: bool = False) -> ipywidgets.Checkbox:
    """Return a box to tick; its ``value`` is True or False."""
    return ipywidgets.Checkbox(
        value=start,
        description=phrase(label),
        tooltip=phrase(label),
        indent=False,
        layout=ipywidgets.Layout(flex="1 1 400px", min_width="0", max_width="640px"),
    )
