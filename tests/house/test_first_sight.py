"""At first sight no panel of a lesson has more than four controls, or a figure without marks."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from datetime import date

import ipywidgets
import numpy as np
import pytest
from bokeh.models import GlyphRenderer, Legend
from bokeh.plotting import figure

from netcalc import datasets, lessons
from netcalc.lessons.capacity_planning import Story
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


def has_marks(drawn):
    """Whether a renderer has something to draw: a row whose numbers are all known."""
    columns = [np.asarray(column) for column in drawn.data_source.data.values()]
    numbers = [column for column in columns if column.dtype.kind == "f"]
    known = all(np.isfinite(column).any() for column in numbers)
    return known and any(column.size for column in columns)


def check_marks(panel):
    """Each chart has marks before a run, and its legend no entry without."""
    root = panel.figure.plot.figure
    charts = [one for one in {root, *root.references()} if isinstance(one, figure)]
    assert charts
    for chart in filter(lambda one: one.visible, charts):
        drawn = [one for one in chart.renderers if isinstance(one, GlyphRenderer)]
        assert any(map(has_marks, drawn)), "an empty pair of axes"
        entries = [item for legend in chart.select(Legend) for item in legend.items]
        without = [item.label for item in entries
                   if item.visible and not any(map(has_marks, item.renderers))]  # fmt: skip
        assert without == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(makers()))
def test_a_panel_has_marks_and_at_most_four_controls_at_first_sight(name):
    panel = made_by(makers()[name])
    assert isinstance(panel, Panel)
    check_marks(panel)
    assert len(in_sight(panel)) <= MOST, list(panel.controls)
    # The others are behind one button, and none is lost.
    assert [panel.controls[one] for one in panel.shown] == in_sight(panel)
    assert sorted([*panel.shown, *panel.more]) == sorted(panel.controls)
