"""How a chapter of the models loads its subjects (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from netcalc.models import CHAPTERS, FORMER_SUBJECTS


def chapter(package: str) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a chapter: a subject is loaded at its first use."""
    subjects = CHAPTERS[package.rpartition(".")[2]]

    def load(name: str) -> ModuleType:
        subject = FORMER_SUBJECTS.get(name, name)
        if subject in subjects:
            return import_module(f"{package}.{subject}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: list(subjects)
