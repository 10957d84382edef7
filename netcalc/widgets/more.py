"""The controls of a panel: a few at first sight, the rest behind a button."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

from netcalc.errors import DomainError
from netcalc.language import phrase

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
