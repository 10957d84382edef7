"""The text of a notebook in another language: paragraph by paragraph, its code unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from netcalc.language import NOTEBOOKS, catalogue

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
