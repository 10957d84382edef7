"""Write the glossary's page and the list of words at the end of each lesson.

    python tests/glossary.py

Both come from ``data/glossary.toml``. A lesson that has no cell ``## Words`` stays as it is.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "data" / "glossary.toml"
PAGE = ROOT / "docs" / "glossary.md"
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HEADING = "## Words"
INTRODUCTION = """# Glossary

The words of the lessons, each with the lesson that needs it first. The names of quantities in
Python, files and JSON, with their units and layers, are in {doc}`nomenclature`.
"""


def words() -> list[dict]:
    """Return the words in the order of the file."""
    return tomllib.loads(SOURCE.read_text(encoding="utf-8"))["word"]


def number(path: Path) -> str:
    """Return the number of a lesson: ``02b`` of ``02b_paths.ipynb``."""
    return path.name.partition("_")[0]


def page() -> str:
    """Return the page of all words, by the alphabet."""
    rows = [
        f"| {one['word']} | {one['meaning']} | {', '.join(one['lessons']) or '-'} |"
        for one in sorted(words(), key=lambda one: one["word"].lower())
    ]
    return "\n".join([INTRODUCTION, "| word | meaning | lesson |", "|---|---|---|", *rows]) + "\n"


def listed(lesson: str) -> str:
    """Return the cell with the words of a lesson."""
    rows = [f"- **{one['word']}**: {one['meaning']}" for one in words() if lesson in one["lessons"]]
    return "\n".join([HEADING, "", *rows])


def write() -> None:
    """Write the page, and the lists of the lessons that have one."""
    PAGE.write_text(page(), encoding="utf-8")
    for path in LESSONS:
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.source.startswith(HEADING):
                cell.source = listed(number(path))
        nbformat.write(notebook, path)


if __name__ == "__main__":
    write()
