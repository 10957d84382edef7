"""Lessons and the calculator as pages that need neither a kernel nor a network."""

from importlib import import_module
from types import ModuleType

__all__ = ["calculator_page", "javascript", "recording"]
__dir__ = __all__.copy  # what TAB offers


def __getattr__(name: str) -> ModuleType:
    """Load a part when it is first used (PEP 562)."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
