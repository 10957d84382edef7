"""How pytest runs the lessons, and compares what they say with what is stored in them.

It is up here because the lessons in ``notebooks`` are no part of ``tests``.
"""

from __future__ import annotations

import runpy
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# Voila and Jupyter run these files with a name of their own in them; tests/browser runs them so.
collect_ignore = [
    f"netcalc/cli/share/config/{name}.py" for name in ("voila", "jupyter_server_config")
]

pytest_plugins: list[str] = []
if find_spec("nbval"):
    # nbval reads notebooks with nbformat, and that imports a grammar of internet addresses that
    # takes 3 s to build in every process and that no notebook is checked with: it is optional, and
    # left out here. So nbval is not one of the plugins that pytest finds by itself.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    import nbformat  # noqa: F401

    del sys.modules["rfc3987_syntax"]
    pytest_plugins = ["nbval.plugin"]


@cache
def _copy_kernels(config: pytest.Config) -> None:
    """Let kernels be copies of one process, from here on; it imports while front ends load."""
    kernels = runpy.run_path(str(Path(__file__).parent / "tests" / "ipykernels.py"))
    config.add_cleanup(kernels["start"]())
    kernels["use"]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Have kernels ready where the first lesson is run, here or in a browser."""
    if item.path.suffix == ".ipynb" or "page" in getattr(item, "fixturenames", ()):
        _copy_kernels(item.config)


@cache
def _outputs() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parent / "tests" / "notebook_outputs.py"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Compare of a cell's outputs text, numbers and the sentence of each figure."""
    if item.path.suffix != ".ipynb":
        return
    compared, (pattern, instead) = _outputs()["compared"], _outputs()["VERSION"]
    compare = item.compare_outputs  # type: ignore[attr-defined]
    item.compare_outputs = lambda found, kept: compare(compared(found), compared(kept))  # type: ignore[attr-defined]
    item.parent.sanitize_patterns[pattern] = instead  # type: ignore[union-attr]
