"""The panels of the lessons, one file a lesson; built from the kit in ``netcalc.widgets``."""

from importlib import import_module
from types import ModuleType

__all__ = [
    "calculator", "capacity_planning", "collectives", "congestion_control", "exercise", "latency",
    "line_rate", "mbufs", "own_file", "probing", "protocol_stack", "site", "small_writes",
    "store_and_forward", "tail_latency", "transfers",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers


def __getattr__(name: str) -> ModuleType:
    """Load a lesson when it is first used (PEP 562)."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
