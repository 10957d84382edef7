"""Figures, sliders, run buttons and uploads on a notebook's page: no formulas, no parsing."""

from netcalc import language
from netcalc.errors import MissingPackageError

try:
    import anywidget as _anywidget  # noqa: F401 - these three are what all of this needs
    import bokeh as _bokeh  # noqa: F401
    import ipywidgets as _ipywidgets
except ImportError as error:
    package = (error.name or "ipywidgets").partition(".")[0]
    raise MissingPackageError(package, extra="lab", purpose="netcalc.widgets") from error
if int(_ipywidgets.__version__.partition(".")[0]) < 8:
    raise MissingPackageError(
        "ipywidgets", extra="lab", purpose="netcalc.widgets", found=_ipywidgets.__version__
    )

from netcalc.widgets.controls import Quantity, choice, switch
from netcalc.widgets.figure import Figure
from netcalc.widgets.panel import Panel, panel
from netcalc.widgets.run import RunButton, Upload, run_button, upload

language.use(language.choose())

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
__dir__ = __all__.copy  # what TAB offers
