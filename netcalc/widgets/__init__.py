"""Figures, sliders, run buttons and uploads on a notebook's page: no formulas, no parsing."""

from netcalc.widgets.figure import Figure

__all__ = ["Figure"]
