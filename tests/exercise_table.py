"""Write the page that lists the exercises with their mistakes.

    python tests/exercise_table.py

It comes from ``data/exercises``.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import nbformat

from netcalc import exercises

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "exercise_table.md"
INTRODUCTION = """# Table of exercises

{count} exercises with {mistakes} mistakes that have a name. In a question, each letter in italics
stands for a number that differs between students. The mistakes are listed in the order of their
formulas in `data/exercises`; the sentence and the question to ask back are there, too.
"""


def heading(lesson: str) -> str:
    """Return the title of a lesson."""
    path = min((ROOT / "notebooks").glob(f"{lesson}_*.ipynb"))
    return str(nbformat.read(path, as_version=4).cells[0].source.partition("\n")[0].lstrip("# "))


def question(template: exercises.Template) -> str:
    """Return the text with the variables in italics."""
    text = template.text
    for variable in template.variables:
        text = text.replace(f"{{{variable.name}}}", f"*{variable.name}*")
    return text


def page() -> str:
    """Return the page."""
    templates = exercises.templates()
    count = sum(len(template.mistakes) for template in templates)
    lines = [INTRODUCTION.format(count=len(templates), mistakes=count).rstrip()]
    for lesson, group in groupby(templates, key=lambda template: template.lesson):
        lines += ["", f"## {heading(lesson)}", "", "| id | question | mistakes |", "|---|---|---|"]
        for template in group:
            mistakes = "; ".join(template.mistakes)
            lines.append(f"| {template.id} | {question(template)} | {mistakes} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
