"""The lessons as pages: the notebooks with the pictures and outputs that are stored in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
from gallery import write
from sphinx.application import Sphinx

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_FOLDED = re.compile(r"^ +(?=<details>)", re.MULTILINE)
INTRODUCTION = """# Tutorials

Each lesson begins with a question, lets you guess, move a figure and measure, and ends with an
answer. Here they are to read, with their figures as stored; `netcalc lab` opens them with sliders
that move, and `netcalc site` writes them as pages whose sliders move without Python.
"""


def lesson(path: Path) -> str:
    """Return a notebook as its page needs it, as JSON."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _FOLDED.sub("", cell.source.replace("<details>", "\n\n<details>"))
        else:
            cell.metadata = {"mystnb": {"image": {"alt": _description(cell.outputs)}}}
            cell.outputs = [one for one in cell.outputs if _is_readable(one)]
    return str(nbformat.writes(notebook))


def _description(outputs: list[Any]) -> str:
    """Return the text alternative that is stored in the picture."""
    pictures = [one.get("data", {}).get("image/svg+xml", "") for one in outputs]
    found = _TITLE.search("".join(pictures))
    return " ".join(found[1].split()) if found else ""


def _is_readable(output: Any) -> bool:
    """Whether an output is a picture or text, and not the name of a widget."""
    data = output.get("data", {})
    return "image/svg+xml" in data or not json.dumps(data).count("widget-view")


def write_tutorials(app: Sphinx) -> None:
    """Write a page for each notebook, and the one that lists them in their order."""
    folder = Path(app.srcdir, "generated", "tutorials")
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        write(folder / path.name, lesson(path))
    names = "\n".join(path.stem for path in paths)
    write(folder / "index.md", f"{INTRODUCTION}\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the lessons before the pages are read."""
    app.connect("builder-inited", write_tutorials)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
