"""netcalc: analytic models of network performance, drawn on measured points.

>>> import netcalc
>>> round(float(netcalc.models.latency.transfer_s(1e6, bandwidth_bps=1.544e6, latency_s=0.03)), 2)
5.21

Nothing heavy is loaded until it is used: ``import netcalc`` alone loads no other package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from netcalc import (
        calculator,
        claims,
        compare,
        datasets,
        emulation,
        equations,
        errors,
        experiments,
        explain,
        fit,
        models,
        path,
        plots,
        readers,
        samples,
        solver,
        units,
        widgets,
    )
    from netcalc.path import Hop, Link, Path
    from netcalc.readers import read
    from netcalc.solver import solve

_ROOMS = (
    "calculator",
    "claims",
    "compare",
    "datasets",
    "emulation",
    "equations",
    "errors",
    "experiments",
    "explain",
    "fit",
    "models",
    "path",
    "plots",
    "readers",
    "samples",
    "solver",
    "units",
    "widgets",
)
_NAMES = {"Hop": "path", "Link": "path", "Path": "path", "read": "readers", "solve": "solver"}

__all__ = [
    "Hop",
    "Link",
    "Path",
    "calculator",
    "claims",
    "compare",
    "datasets",
    "emulation",
    "equations",
    "errors",
    "experiments",
    "explain",
    "fit",
    "models",
    "path",
    "plots",
    "read",
    "readers",
    "samples",
    "solve",
    "solver",
    "units",
    "widgets",
]


def __getattr__(name: str) -> Any:
    """Load a room when it is first used (PEP 562)."""
    if name in _ROOMS:
        return import_module(f"netcalc.{name}")
    if name in _NAMES:
        return getattr(import_module(f"netcalc.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'netcalc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*__all__, "__doc__", "__version__"))
