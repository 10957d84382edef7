"""The controls of a panel behind its button: which they are, and that they still count."""

from __future__ import annotations

from pathlib import Path

import ipywidgets
import numpy as np
import pytest

from netcalc.errors import DomainError
from netcalc.plots import Axis, curves
from netcalc.widgets import Figure, Quantity, panel
from netcalc.widgets import figure as figure_module
from netcalc.widgets.controls import MoreButton, board, split

NAMES = ["a", "b", "c", "d", "e", "f"]


def made(count, more=()):
    """A panel of that many controls, and the values that it drew with."""
    at = np.array([0.0, 1.0])
    axis = Axis("x", "s", low=0, high=1)
    seen = []
    controls = {
        name: Quantity(name, 1.0, unit="s", low=0.0, high=9.0, scale="linear")
        for name in NAMES[:count]
    }
    figure = Figure(curves(at, {"line": at}, x_axis=axis, y_axis=axis))
    return panel(figure, controls, lambda **values: seen.append(values), more=more), seen


def test_four_controls_need_no_button():
    whole, _ = made(4)
    assert whole.shown == NAMES[:4]
    assert whole.more == []
    assert not any(isinstance(child, MoreButton) for child in whole.children)


def test_a_fifth_control_is_behind_the_button_and_counts():
    whole, seen = made(6)
    assert (whole.shown, whole.more) == (NAMES[:4], NAMES[4:])
    button = next(child for child in whole.children if isinstance(child, MoreButton))
    assert button.count == 2
    assert not button.is_open
    whole.controls["f"].value = 5.0
    assert seen[-1]["f"] == 5.0
    said = "".join(output.get("text/html", "") for output in whole.figure.saved.outputs().values())
    assert "f: 5 s" in said, "a notebook without a kernel has all values"


def test_a_panel_chooses_what_is_behind_the_button():
    whole, _ = made(5, more=("a", "c"))
    assert (whole.shown, whole.more) == (["b", "d", "e"], ["a", "c"])
    assert made(3, more=("a",))[0].more == ["a"], "also of four and fewer"
    assert split(NAMES, ("a",)) == (["b", "c", "d", "e"], ["a", "f"])


def test_a_name_that_no_control_has_is_refused():
    with pytest.raises(DomainError, match="more") as caught:
        made(2, more=("z",))
    assert caught.value.code == "not-a-choice"


TWO = [("netcalc-of-two", 3)]
THREE = [("netcalc-third", 2), ("netcalc-half", 3)]
"""Classes of a board of two and of three columns, and what each takes of six."""


def rows_of(sixths):
    """Controls of each row, of controls that take so many sixths of it."""
    rows, filled = [0], 0
    for width in sixths:
        if filled + width > 6:
            rows, filled = [*rows, 0], 0
        rows[-1], filled = rows[-1] + 1, filled + width
    assert filled == 6, "the last row has a gap"
    return rows


def widths(controls, rules):
    """The width of each control by its classes, with the first of the rules that it has."""
    return [next((at for name, at in rules if name in one._dom_classes), 6) for one in controls]


@pytest.mark.parametrize("count", range(1, 13))
def test_no_control_is_alone_in_its_row(count):
    controls = [ipywidgets.IntText() for _ in range(count + 1)]
    board(controls)
    for hidden in (1, 0):
        controls[0].layout.display = "none" if hidden else None
        shown = controls[hidden:]
        two, three = rows_of(widths(shown, TWO)), rows_of(widths(shown, THREE))
        assert len(set(two)) == 1
        assert len(shown) == 1 or set(three) <= {2, 3}


def test_the_style_sheet_has_the_classes_of_the_board():
    css = Path(figure_module.__file__).with_name("figure.css").read_text("utf-8")
    for name, width in TWO + THREE:
        assert f".netcalc-board > .{name} {{ grid-column: span {width}; }}" in css
