"""Figures, sliders, run buttons and uploads on a notebook's page: no formulas, no parsing."""

from netcalc.widgets.controls import Quantity, choice, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import RunButton, run_button
from netcalc.widgets.upload import Upload, upload

__all__ = [
    "Figure",
    "Panel",
    "Quantity",
    "RunButton",
    "Upload",
    "choice",
    "panel",
    "run_button",
    "switch",
    "upload",
]
