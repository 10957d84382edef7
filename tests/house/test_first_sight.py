"""No panel of a lesson has more than four controls at first sight."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from datetime import date

import ipywidgets
import pytest

from netcalc import datasets, lessons
from netcalc.lessons.capacity_story import Story
from netcalc.widgets.panel import Panel

MOST = 4
OTHERS = {"calculator_panel", "round_trip_panel"}
"""The first is a form whose fields are those of a formula; the second asks for a run's samples."""


def makers():
    """The functions that make the panels of the lessons, by module and name."""
    modules = [
        importlib.import_module(f"netcalc.lessons.{one.name}")
        for one in pkgutil.iter_modules(lessons.__path__)
    ]
    return {
        f"{module.__name__}.{name}": made
        for module in modules
        for name, made in inspect.getmembers(module, inspect.isfunction)
        if made.__module__ == module.__name__
        and name.endswith("_panel")
        and not name.startswith("_")
        and name not in OTHERS
    }


def made_by(maker):
    """A panel; those of the planning lesson are made for a story."""
    if "story" in inspect.signature(maker).parameters:
        return maker(Story(datasets.load("ping_emulated_t1"), start=date(2026, 1, 1)))
    return maker()


def in_sight(panel):
    """The controls on the page before anything is clicked: those in no box that is folded."""
    found, boxes = [], [panel]
    while boxes:
        for child in boxes.pop().children:
            if child in panel.controls.values():
                found.append(child)
            elif isinstance(child, ipywidgets.Box) and "netcalc-more-controls" not in (
                child._dom_classes
            ):
                boxes.append(child)
    return found


@pytest.mark.parametrize("name", sorted(makers()))
def test_no_panel_has_more_than_four_controls_at_first_sight(name):
    panel = made_by(makers()[name])
    assert isinstance(panel, Panel)
    assert len(in_sight(panel)) <= MOST, list(panel.controls)
    # The others are behind one button, and none is lost.
    assert [panel.controls[one] for one in panel.shown] == in_sight(panel)
    assert sorted([*panel.shown, *panel.more]) == sorted(panel.controls)
