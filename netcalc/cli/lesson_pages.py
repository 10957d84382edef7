"""Lessons as pages of Voila: their titles and questions, their order, the ways between them."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from netcalc.language import notebooks
from netcalc.lessons.site.html import without_cells

_LESSON = re.compile(r"\d\d[a-z]?_")
_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)
_QUESTION = re.compile(r"^\*\*(.+?)\*\*$", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"[*`$\\]")
KEEP_ALIVE_S = 5
"""How often a page that waits says so: it is how it knows that the kernel does not start. [s]"""


def listed(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the lessons of a folder in their order, and its other notebooks.

    Each has its file's ``name``, its ``title`` and one ``sentence``, which may be empty.
    """
    lessons: list[dict[str, str]] = []
    others: list[dict[str, str]] = []
    for file in sorted(folder.glob("*.ipynb")):
        if not file.name.startswith("."):
            title, sentence = _described(file, file.stat().st_mtime_ns)
            entry = {"name": file.name, "title": title, "sentence": sentence}
            (lessons if _LESSON.match(file.name) else others).append(entry)
    return lessons, others


@lru_cache(maxsize=256)
def _described(file: Path, changed_ns: int) -> tuple[str, str]:
    """Return the title and the question of a notebook; its name if it cannot be read."""
    plain = file.stem.replace("_", " ")
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells[:1] if c["cell_type"] == "markdown")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return plain, ""
    title, question = _TITLE.search(text), _QUESTION.search(text)
    sentence = _MARKS.sub("", question[1]).replace("\n", " ") if question else ""
    return (_MARKS.sub("", title[1]).strip() if title else plain), sentence


def prepare_page(handler: Any, **arguments: Any) -> None:
    """Prepare the page of a lesson: what Voila calls before it runs the first cell.

    Reading the token sets the cookie without which the page's call to end its kernel is refused.
    The list of lessons sets it too, but a lesson may be opened by its own address.
    """
    _ = handler.xsrf_token
    root = Path(handler.settings["contents_manager"].root_dir)
    prepare(arguments["notebook"], root / handler.path_args[0].strip("/"), root)


def prepare(notebook: Any, file: Path, root: Path) -> None:
    """Give a notebook what its page shows around it, and leave out what is about cells.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The notebook; its texts and its metadata are changed.
    file : pathlib.Path
        Where it is.
    root : pathlib.Path
        The folder that is served.
    """
    lessons, _ = listed(file.parent)
    names = [lesson["name"] for lesson in lessons]
    ways: dict[str, dict[str, str]] = {}
    if file.name in names:
        at = names.index(file.name)
        if at:
            ways["previous"] = lessons[at - 1]
        if at + 1 < len(lessons):
            ways["next"] = lessons[at + 1]
    title, _ = _described(file, file.stat().st_mtime_ns)
    notebook.metadata["title"] = title
    notebook.metadata["netcalc_ways"] = ways
    notebook.metadata["netcalc_words"] = notebooks.words()
    folder = file.parent.relative_to(root).as_posix()
    notebook.metadata["netcalc_folder"] = "" if folder == "." else folder
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = without_cells(cell.source)
