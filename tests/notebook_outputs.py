"""What the lessons keep of their outputs: text, numbers, and each figure with its sentence.

    python tests/notebook_outputs.py [notebook ...]

Runs the lessons and stores these outputs in them; pytest runs the lessons again and compares the
text and the sentences. A figure is one picture in SVG, netcalc's own, of 3 to 14 kB and the same in
each run: it stands where no kernel runs, on a code host or in an export. Its lines are not
compared, because they change with the versions of the packages. Widgets are left out: they hold
random names.
A cell with the tag ``nbval-ignore-output`` measures this machine: it is run, and stores nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

LESSONS = Path(__file__).parents[1] / "notebooks"
IGNORED = "nbval-ignore-output"
VERSION = (r"netcalc \d[\w.]*", "netcalc VERSION")
"""What differs between two outputs that agree: the pattern, and what is compared instead."""


PICTURE = "image/svg+xml"


def stored(outputs: Iterable[Any]) -> list[Any]:
    """Return what is kept of the outputs of a cell."""
    kept = []
    for output in outputs:
        if "data" not in output:
            kept.append(output)
        elif output["data"].get("text/plain"):
            data = {kind: output["data"].get(kind) for kind in (PICTURE, "text/plain")}
            data = {kind: value for kind, value in data.items() if value}
            kept.append({**output, "data": data, "metadata": {}})
    return [nbformat.from_dict(output) for output in kept]


def compared(outputs: Iterable[Any]) -> list[Any]:
    """Return what is compared of the outputs of a cell: all that is kept but the pictures."""
    kept = stored(outputs)
    for output in kept:
        output.get("data", {}).pop(PICTURE, None)
    return kept


def store(path: Path) -> None:
    """Run a lesson and store its outputs in it."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    kernelspec, language = notebook.metadata.kernelspec, notebook.metadata.language_info
    NotebookClient(
        notebook,
        timeout=120,
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": path.parent}},
    ).execute()
    notebook.metadata.kernelspec, notebook.metadata.language_info = kernelspec, language
    for cell in notebook.cells:
        if cell.cell_type == "code":
            measures = IGNORED in cell.metadata.get("tags", [])
            cell.outputs = [] if measures else stored(cell.outputs)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for lesson in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(LESSONS.glob("*.ipynb")):
        store(lesson)
