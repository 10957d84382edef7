"""netcalc: analytic models of network performance, drawn on measured points.

>>> from netcalc.models.delays import latency
>>> round(float(latency.transfer_s(1e6, bandwidth_bps=1.544e6, latency_s=0.03)), 2)
5.21

Nothing heavy is loaded until it is used: ``import netcalc`` alone loads no other package.
"""

from __future__ import annotations

from netcalc import version as _version
from netcalc.version import __version__ as __version__

TYPE_CHECKING = False  # importing typing takes 20 ms, in which Ctrl-C would show a traceback
if TYPE_CHECKING:
    from typing import Any

    from netcalc import (
        calculator,
        checks,
        claims,
        compare,
        congestion,
        datasets,
        display,
        emulation,
        equations,
        errors,
        exercises,
        experiments,
        explain,
        fit,
        lessons,
        messages,
        models,
        path,
        planning,
        plots,
        rate_layers,
        readers,
        samples,
        scenario,
        solver,
        truth,
        uncertain,
        units,
        widgets,
    )
    from netcalc.calculator import ask, search
    from netcalc.path import Hop, Link, Path
    from netcalc.readers import read
    from netcalc.solver import solve

_NAMES = {
    "Hop": "path", "Link": "path", "Path": "path", "ask": "calculator", "read": "readers",
    "search": "calculator", "solve": "solver",
}  # fmt: skip
"""Names of the front door, with their rooms; all others in ``__all__`` are rooms."""

__all__ = [
    "Hop",
    "Link",
    "Path",
    "ask",
    "calculator",
    "checks",
    "claims",
    "compare",
    "congestion",
    "datasets",
    "display",
    "emulation",
    "equations",
    "errors",
    "exercises",
    "experiments",
    "explain",
    "fit",
    "lessons",
    "messages",
    "models",
    "path",
    "planning",
    "plots",
    "rate_layers",
    "read",
    "readers",
    "samples",
    "scenario",
    "search",
    "solve",
    "solver",
    "truth",
    "uncertain",
    "units",
    "widgets",
]


if _mixed := _version.mixed_with():
    import warnings as _warnings

    from netcalc.errors import MixedInstallationWarning as _MixedInstallationWarning

    _warnings.warn(
        _MixedInstallationWarning(
            "mixed-installation", names=_mixed, folder=_version.FOLDER, extra=""
        ),
        stacklevel=2,
    )


def __getattr__(name: str) -> Any:
    """Load a room when it is first used (PEP 562)."""
    from importlib import import_module  # late: before this, Ctrl-C would show a traceback

    if name in _NAMES:
        return getattr(import_module(f"netcalc.{_NAMES[name]}"), name)
    if name in __all__:
        return import_module(f"netcalc.{name}")
    raise AttributeError(f"module 'netcalc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*__all__, "__doc__", "__version__"))
