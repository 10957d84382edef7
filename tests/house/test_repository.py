"""What stands in the repository: commands, notebooks, no foreign addresses, sourced numbers."""

from __future__ import annotations

import ast
import re
import socket
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("netcalc", "notebooks", "data", "tests", "docs", ".ci", ".github")
TEXT = {
    ".py",
    ".md",
    ".txt",
    ".toml",
    ".csv",
    ".json",
    ".ipynb",
    ".js",
    ".css",
    ".rst",
    ".yml",
    ".cff",
} | {""}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOURCES = ("published", "derived", "identity", "measured")


def text_files() -> list[Path]:
    """Return the text files that belong to the project."""
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    top = [path for path in ROOT.iterdir() if path.suffix in {".md", ".toml", ".cff"}]
    return [
        path
        for path in (*inside, *top)
        if path.is_file()
        and path.suffix in TEXT
        and not {"__pycache__", "_build", ".ipynb_checkpoints"} & set(path.parts)
    ]


def readme_commands() -> list[str]:
    """Return the commands of the README's first screen."""
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ", 2)[1]
    blocks = re.findall(r"^```\w*\n(.*?)^```", first_screen, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def test_top_level_holds_what_the_design_names():
    allowed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "conftest.py"}
    allowed.add("CITATION.cff")  # code hosts look for it at the top only
    allowed |= {"netcalc", "notebooks", "data", "tests", "docs", "dist", "build"}
    entries = (path.name for path in ROOT.iterdir())
    found = {name for name in entries if not name.startswith(".") and name != "__pycache__"}
    assert found <= allowed


def test_readme_has_two_commands_and_ci_runs_the_second():
    start, check = readme_commands()
    assert start.endswith(".venv/bin/netcalc lab")
    assert check.endswith(".venv/bin/pytest")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert check in ci


def test_no_lock_file_and_no_address_of_an_index():
    hosts = "|".join(("pypi", "pythonhosted", "npmjs", "crates", "anaconda", "jsdelivr", "unpkg"))
    address = re.compile(rf"[a-z]+://[^\s\"'<>]*\b({hosts})\b|\"(resolved|integrity)\"\s*:", re.I)
    for path in text_files():
        assert path.name not in {"uv.lock", "poetry.lock", "Pipfile.lock", "package-lock.json"}
        found = address.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{path.relative_to(ROOT)}: {found[0]}"


def test_constraints_are_versions_only():
    for name, least in (("constraints.txt", 50), ("lowest.txt", 5)):
        lines = (ROOT / ".ci" / name).read_text(encoding="utf-8").splitlines()
        assert len(lines) >= least
        assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.+!]+", line)] == []


def test_the_lowest_versions_are_those_that_are_allowed():
    allowed = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in (ROOT / ".ci" / "lowest.txt").read_text(encoding="utf-8").split():
        name, version = line.split("==")
        stated = re.search(rf'"{name}>=([\d.]+)[",]', allowed)
        assert stated, f"{name} is no dependency"
        assert version.removesuffix(".0").removesuffix(".0") == stated[1].removesuffix(".0"), line


def test_test_files_have_different_names():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))


@pytest.mark.each("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_is_stored_clean(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.kernelspec.language == "python"
    assert notebook.metadata.language_info.name == "python"
    assert "widgets" not in notebook.metadata, "saved widget state"
    assert notebook.cells[0].cell_type == "markdown"
    assert path.stat().st_size < 150_000, "too large for a repository"
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 6, f"cell {number} is longer than 6 lines"
            check_outputs(cell, number)


def test_the_first_notebook_lists_all_others():
    first, *others = NOTEBOOKS
    text = first.read_text(encoding="utf-8")
    assert [path.name for path in others if f"({path.name})" not in text] == []


HOST = socket.gethostname()
HERE = re.compile(
    r"(?<![\w.])(/home/|/root/|/tmp/|/usr/|[A-Z]:\\\\)|Traceback|0x[0-9a-f]{6,}"
    + (rf"|\b{re.escape(HOST)}\b" if HOST not in ("", "localhost") else "")
)
"""What belongs to one machine or one run: its paths, its name, addresses of objects."""


def check_outputs(cell, number):
    """Stored are results, text, figures and sentences; of a cell that measures, nothing."""
    assert cell.execution_count is not None, f"cell {number} has not run"
    if "nbval-ignore-output" in cell.metadata.get("tags", []):
        assert cell.outputs == [], f"cell {number} stores what was measured on one machine"
    assert ("_panel(" in cell.source) <= bool(cell.outputs), f"cell {number} has no sentence"
    for output in cell.outputs:
        assert output.output_type in ("stream", "execute_result", "display_data")
        assert output.get("name", "stdout") == "stdout", f"cell {number} writes to stderr"
        kinds = set(output.get("data", {"text/plain": ""}))
        assert kinds - {"image/svg+xml"} == {"text/plain"}
        if "image/svg+xml" in kinds:
            check_picture(output.data["image/svg+xml"], output.data["text/plain"], number)
        text = output.text if output.output_type == "stream" else output.data["text/plain"]
        assert text.strip(), f"cell {number} stores an empty output"
        found = HERE.search(text)
        assert not found, f"cell {number} stores {found[0]!r}"


def check_picture(picture, sentence, number):
    """A stored figure is a small drawing with a text alternative; it runs and fetches nothing."""
    drawn = ElementTree.fromstring(picture)
    title = drawn.find("{*}title")
    assert drawn.get("role") == "img"
    assert title is not None, f"cell {number}: no text alternative"
    assert " ".join((title.text or "").split()) == " ".join(sentence.split())
    figures = float(drawn.get("height")) / 760  # a capture has two, one below the other
    limit = 25_000 * max(1.0, figures)
    assert len(picture) < limit, f"cell {number}: a picture of {len(picture)} bytes"
    outside = re.search(r"<script|<image|<foreignObject|href=|url\((?!#)|\son\w+=", picture)
    assert not outside, f"cell {number} stores {outside[0]!r}"
    assert not HERE.search(picture), f"cell {number} stores what belongs to one machine"


def expected_values() -> list[tuple[str, str]]:
    """Return the ``source`` of each row of a parametrized test, and where it stands."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "source" not in text:
            continue  # not among the names of any test
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in ("each", "parametrize"):
                continue
            try:
                names = ast.literal_eval(node.args[0])
            except ValueError:
                continue
            if isinstance(names, str):
                names = [name.strip() for name in names.split(",")]
            values = node.args[1]
            if "source" not in names or not isinstance(values, ast.List | ast.Tuple):
                continue
            if len(names) < 3:  # a source alone is a name under test, not where a value is from
                continue
            for row in values.elts:
                cells = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [])
                place = f"{path.relative_to(ROOT)}, line {row.lineno}"
                found.append((place, ast.unparse(cells[names.index("source")])))
    return found


def test_every_expected_value_says_what_kind_of_source_it_has():
    untyped = [
        f"{place}: {source}"
        for place, source in expected_values()
        if not re.match(rf"f?['\"]({'|'.join(SOURCES)})\b", source)
    ]
    assert untyped == []
