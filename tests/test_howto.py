"""The lines of the how-to pages print what the pages show."""

from __future__ import annotations

import doctest
import re
import runpy
import shutil
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in (DOCS / "howto").glob("*.md") if path.stem != "index")
BLOCK = re.compile(r"^```\{?([\w-]+)\}?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r":caption: (.+)\n")
console = runpy.run_path(str(DOCS / "ext" / "console.py"))


def follow(page, folder):
    """Do what a page says, in order; return what differs from what it shows."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\{download\}`[^<`]+<([^>]+)>`", text):
        shutil.copy(page.parent / name, folder / Path(name).name)
    names: dict[str, object] = {}
    differs = []
    for kind, body in BLOCK.findall(text):
        caption = CAPTION.match(body)
        if caption:
            (folder / caption[1]).write_text(body[caption.end() :], encoding="utf-8")
        elif kind == "console":
            said = [
                (command, shown, console["answer"](command))
                for command, shown in console["typed"](body)
            ]
            differs += [one for one in said if one[1] != one[2]]
        elif kind == "python":
            test = doctest.DocTestParser().get_doctest(body, names, page.name, page.name, 0)
            found: list[str] = []
            doctest.DocTestRunner().run(test, out=found.append, clear_globs=False)
            names.update(test.globs)
            differs += found
    return differs


def test_there_are_twenty_and_each_is_in_the_list():
    listed = re.findall(
        r"^(\w+)$", (DOCS / "howto" / "index.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == [page.stem for page in PAGES]
    assert len(PAGES) >= 20


@pytest.mark.each("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_shows_what_its_lines_print(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert follow(page, tmp_path) == []


@pytest.mark.each("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_has_its_parts(page):
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^##? (.+)$", BLOCK.sub("", text), re.MULTILINE)
    assert headings[1:] == ["What to check", "Where next"]
    assert text.split("\n\n")[1].startswith("**Goal:** ")


def test_an_output_that_is_not_printed_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ netcalc convert T1 kbit/s\n1545 kbit/s\n```\n\n"
        "```python\n>>> 1 + 1\n3\n\n```\n",
        encoding="utf-8",
    )
    command, python = follow(page, tmp_path)
    assert command == ("netcalc convert T1 kbit/s", "1545 kbit/s", "1544 kbit/s")
    assert "Expected:\n    3\nGot:\n    2" in python
