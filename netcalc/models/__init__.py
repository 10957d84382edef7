"""Pure formulas over numpy arrays, one file a subject: no objects, files, sockets or clocks.

Every function takes the swept quantity first, everything else by keyword, in SI units that its
name carries (``_s``, ``_bps``, ``_bytes``, ``_pps``, ``_ratio``), and broadcasts.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

SUBJECTS = tuple(
    sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_"))
)
"""The files of formulas, by name."""


def __getattr__(name: str) -> Any:
    """Load a subject when it is first used (PEP 562)."""
    if name in SUBJECTS:
        return import_module(f"netcalc.models.{name}")
    raise AttributeError(f"module 'netcalc.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *SUBJECTS))
