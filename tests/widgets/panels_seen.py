"""What tests of panels look at: columns of a figure, its sentence, its button."""

from __future__ import annotations

import numpy as np

from netcalc.widgets.run import RunButton


def column(panel, source, name="y"):
    return np.asarray(panel.figure.plot.sources[source].data[name])


def said(panel):
    return panel.figure.description


def button_of(panel):
    return next(child for child in panel.children if isinstance(child, RunButton))


def played(panel):
    """Press the button of a panel and wait for its end."""
    button = button_of(panel)
    button.start()
    button._thread.join(60)
    return button
