"""Arrays, samples and comparisons to bokeh figures: no widgets, no formulas."""

from netcalc.errors import MissingPackageError

try:
    import bokeh as _bokeh  # the one package that all of this needs
except ImportError as error:
    raise MissingPackageError("bokeh", extra="lab", purpose="netcalc.plots") from error
if int(_bokeh.__version__.partition(".")[0]) < 3:
    raise MissingPackageError(
        "bokeh", extra="lab", purpose="netcalc.plots", found=_bokeh.__version__
    )

from netcalc.plots.buffers import Buffer, buffers
from netcalc.plots.captures import Mark, capture_ladder, waits
from netcalc.plots.courses import courses, latencies, phase
from netcalc.plots.flows import clock_notice, flows
from netcalc.plots.formula import (
    FormulaCurves,
    bands,
    distribution,
    formula_curves,
    formula_distribution,
    formula_plot,
)
from netcalc.plots.limits import limits
from netcalc.plots.measured import explained, measured, sequences
from netcalc.plots.overlay import curves, feedback, overlay, with_guess
from netcalc.plots.pictures import PICTURE_SUFFIXES, save_picture, svg
from netcalc.plots.plans import network, plan
from netcalc.plots.plot import Plot, save_html, together
from netcalc.plots.readings import drawn_sets, readings
from netcalc.plots.router import router
from netcalc.plots.style import Axis
from netcalc.plots.sweeps import sweep
from netcalc.plots.timeline import ladder, timeline
from netcalc.plots.truth import truth

__all__ = [
    "PICTURE_SUFFIXES", "Axis", "Buffer", "FormulaCurves", "Mark", "Plot", "bands", "buffers",
    "capture_ladder", "clock_notice", "courses", "curves", "distribution", "drawn_sets",
    "explained", "feedback", "flows", "formula_curves", "formula_distribution", "formula_plot",
    "ladder", "latencies", "limits", "measured", "network", "overlay", "phase", "plan", "readings",
    "router", "save_html", "save_picture", "sequences", "svg", "sweep", "timeline", "together",
    "truth", "waits", "with_guess",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
