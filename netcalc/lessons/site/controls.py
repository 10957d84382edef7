"""The controls of a panel as those of a page: stops of a slider, a list, a box to tick."""

from __future__ import annotations

import ipywidgets
import numpy as np

from netcalc.widgets.controls import Quantity


class Control:
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
        self._values: list[object] = [widget.value]
        self.start = 0
        if isinstance(widget, Quantity):
            self.label, self.kind = widget.label, "slider"
            self._values = [float(value) for value in _stops(widget, most)]
            self.texts = [widget.shown(float(value)) for value in _stops(widget, most)]
            self.texts[self._values.index(widget.value)] = widget.box.value
        elif isinstance(widget, ipywidgets.Dropdown):
            self.kind = "list"
            self.texts = [str(text) for text in widget._options_labels]
            self._values = list(range(len(self.texts)))
            self.start = int(widget.index)
            return
        elif isinstance(widget, ipywidgets.Checkbox):
            self.kind, self.texts, self._values = "box", ["no", "yes"], [False, True]
        elif isinstance(widget, ipywidgets.Combobox):
            self.kind = "list"
            self.texts = list(dict.fromkeys([widget.value, *widget.options]))
            self._values = list(self.texts)
        elif isinstance(widget, ipywidgets.Text):
            self.texts = [widget.value]
        self.start = self._values.index(widget.value)

    @property
    def count(self) -> int:
        """Positions."""
        return len(self._values)

    def put(self, position: int) -> None:
        """Move the control to a position."""
        if isinstance(self.widget, ipywidgets.Dropdown):
            self.widget.index = position
        elif self.kind != "fixed":
            self.widget.value = self._values[position]

    def here(self) -> int:
        """Return the position where the control is now; -1 where the page has none for it."""
        value = (
            self.widget.index if isinstance(self.widget, ipywidgets.Dropdown) else self.widget.value
        )
        return self._values.index(value) if value in self._values else -1

    def spec(self) -> dict[str, object]:
        """Return what the page must know, for JSON."""
        return {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "texts": self.texts,
            "start": self.start,
        }


def _stops(widget: Quantity, most: int) -> list[float]:
    """Return values from one end of a slider to the other, the one at the start among them."""
    positions = np.unique(np.round(np.linspace(0, widget.stop_count, most))).astype(int)
    values = [widget.at(int(position)) for position in positions]
    nearest = min(range(len(values)), key=lambda i: abs(int(positions[i]) - widget.slider.value))
    values[nearest] = widget.value
    return sorted(set(values))
