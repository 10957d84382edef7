"""The parts of the pages that are computed when the documentation is built."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import book  # noqa: E402
import command_line  # noqa: E402
import links  # noqa: E402
import reference  # noqa: E402
import truth_table  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

from netcalc.models import CHAPTERS  # noqa: E402


def _write(path: Path, text: str) -> None:
    """Write a part, unless it is there already: an unchanged page is then not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_parts(app: Sphinx) -> None:
    """Write each part under ``generated``; pages include those that end in ``.txt``."""
    folder = Path(app.srcdir, "generated")
    _write(folder / "book.md", book.text())
    _write(folder / "command_line.txt", command_line.text())
    _write(folder / "formats.txt", reference.formats_text())
    _write(folder / "truth.txt", truth_table.text())
    for chapter in CHAPTERS:
        _write(folder / "reference" / f"{chapter}.txt", reference.chapter_text(chapter))
    for room in reference.ROOMS:
        _write(folder / "reference" / f"{room}.txt", reference.room_text(room))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the parts before the pages are read."""
    reference.setup(app)
    app.connect("builder-inited", write_parts)
    app.add_css_file("tables.css")
    app.connect("build-finished", links.report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
