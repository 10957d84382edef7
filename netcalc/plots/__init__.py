"""Arrays, samples and comparisons to bokeh figures: no widgets, no formulas."""

from netcalc.plots.curves import curves
from netcalc.plots.plot import Plot, save_html
from netcalc.plots.style import Axis

__all__ = ["Axis", "Plot", "curves", "save_html"]
