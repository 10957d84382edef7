"""Delays: latency, store-and-forward, exchanges, asymmetric paths."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from netcalc.models import CHAPTERS


def __getattr__(name: str) -> ModuleType:
    """Load a subject when it is first used (PEP 562)."""
    if name in CHAPTERS["delays"]:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(CHAPTERS["delays"])
