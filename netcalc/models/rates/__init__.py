"""Rates of links, forwarding devices and voice trunks."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from netcalc.models import CHAPTERS


def __getattr__(name: str) -> ModuleType:
    """Load a subject when it is first used (PEP 562)."""
    name = {"rate_reading": "packet_rates"}.get(name, name)  # its former name
    if name in CHAPTERS["rates"]:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(CHAPTERS["rates"])
