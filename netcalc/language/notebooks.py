"""Notebooks in the reader's language: their paragraphs, and the words around them in Voila."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from netcalc import language
from netcalc.language import NOTEBOOKS, catalogue, phrase

_GAP = re.compile(r"(\n(?:[ \t]*\n)+|\n(?=(?:[-*]|\d+\.)[ ]))")
"""Between two paragraphs, or before an item of a list."""


def blocks(markdown: str) -> list[str]:
    """Return the paragraphs and the items of lists of a cell.

    Examples
    --------
    >>> blocks("# Title\\n\\n- one\\n- two\\n  of two lines")
    ['# Title', '- one', '- two\\n  of two lines']
    """
    return _GAP.split(markdown)[::2]


def translated(markdown: str, translate: Callable[[str], str]) -> str:
    """Return a cell with each paragraph translated; one without a translation stays."""
    parts = _GAP.split(markdown)
    return "".join(
        translate(part) if index % 2 == 0 and part.strip() else part
        for index, part in enumerate(parts)
    )


def in_language(notebook: bytes, language: str) -> bytes:
    """Return a notebook with its text in another language.

    Parameters
    ----------
    notebook : bytes
        The file.
    language : str
        One of :func:`netcalc.language.known`.

    Returns
    -------
    bytes
        The file with its Markdown translated, and no other change; as it was if nothing of it is
        translated.
    """
    translate = catalogue(language, NOTEBOOKS)
    if translate is None:
        return notebook
    content: dict[str, Any] = json.loads(notebook)
    changed = False
    for cell in content["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        before = "".join(cell["source"])
        after = translated(before, translate)
        if after != before:
            changed = True
            cell["source"] = after.splitlines(keepends=True)
    if not changed:
        return notebook
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def words() -> dict[str, str]:
    """Return the words of the frame by their name, and the code of their language.

    ``{cell}`` and ``{cells}`` in ``part`` are for the page, which counts as cells run.
    """
    return {
        "lang": language.current().replace("_", "-"),
        "skip": phrase("Skip to the lesson"),
        "all": phrase("All lessons"),
        "lessons": phrase("Lessons"),
        "ways": phrase("Previous and next lesson"),
        "previous": phrase("Previous:"),
        "next": phrase("Next:"),
        "starts": phrase("Starting the kernel."),
        "part": phrase("Running the lesson: part {cell} of {cells}."),
        "progress": phrase("Cells that have run"),
        "late": phrase(
            "The kernel has not started for half a minute. Load the page again; if that does not "
            "help, stop netcalc lab and start it again."
        ),
        "again": phrase("The session had expired; reloading."),
        "title": phrase("netcalc lessons"),
        "above": phrase("The folder above"),
        "others": phrase("Other notebooks"),
        "folders": phrase("Folders"),
    }
