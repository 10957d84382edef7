"""A site of one lesson, for tests that look at its pages."""

from __future__ import annotations

import json
from pathlib import Path

from netcalc.lessons.site.build import build

CELLS = (
    ("markdown", "# 1. A lesson & its <title>\n\nThe time is $t = d + 8N/R$.\n\n[Next](02_next.ipynb)."),
    ("code", "from netcalc.lessons import latency as panels\n\npanels.transfer_panel()"),
    ("code", "panels.distance_panel()"),
    ("code", "print('<b>not bold</b>')"),
    ("code", "from netcalc.lessons import echo\n\necho.echo_panel('T1 40 ms')"),
    ("code", "from netcalc.lessons import store_and_forward\n\nstore_and_forward.timeline_panel()"),
)  # fmt: skip


def notebook(folder: Path, *, name: str = "01_lesson", cells: object = CELLS) -> Path:
    """Write a notebook of a few cells."""
    made = [
        {"cell_type": kind, "source": source, "metadata": {}}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for kind, source in cells  # type: ignore[attr-defined]
    ]
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def site(folder: Path) -> Path:
    """Build a site and return its folder."""
    lesson = notebook(folder)
    build(folder / "site", lessons=[lesson], jobs=1)
    return folder / "site"
