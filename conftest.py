"""How pytest compares what the lessons say with what is stored in them.

It is up here because the lessons in ``notebooks`` are no part of ``tests``.
"""

from __future__ import annotations

import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest


@cache
def _outputs() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parent / "tests" / "notebook_outputs.py"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Compare of a cell's outputs what is stored: text, numbers, the sentence of each figure."""
    if item.path.suffix != ".ipynb":
        return
    stored, (pattern, instead) = _outputs()["stored"], _outputs()["VERSION"]
    compare = item.compare_outputs  # type: ignore[attr-defined]
    item.compare_outputs = lambda found, kept: compare(stored(found), kept)  # type: ignore[attr-defined]
    item.parent.sanitize_patterns[pattern] = instead  # type: ignore[union-attr]
