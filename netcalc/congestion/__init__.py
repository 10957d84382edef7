"""A scenario of flows on a bottleneck, evaluated: by theory, live, and by the simulator ns-3.

``batch`` evaluates grids of them.

>>> from netcalc.scenario import preset
>>> found = theory.run(preset("two-flows"))
>>> round(found.utilization, 1)
1.0
"""

from importlib import import_module
from types import ModuleType

from netcalc.congestion import ns3, theory
from netcalc.congestion.result import Latencies, Result, Trajectory

__all__ = [
    "Latencies", "Result", "Trajectory", "batch", "grid", "ns3", "quantities", "theory",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers
_MOVED = {"estimates": "quantities", "table": "grid", "ways": "quantities"}
"""Where earlier modules are now."""


def __getattr__(name: str) -> ModuleType:
    """Load a part when it is first used (PEP 562)."""
    if name in __all__ or name in _MOVED:
        return import_module(f"{__name__}.{_MOVED.get(name, name)}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
