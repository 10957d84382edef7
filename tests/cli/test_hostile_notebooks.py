"""Notebooks of somebody else in the folder of the lessons: listed, as pages, and in JupyterLab."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("voila", reason="needs the lab extra")

import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from netcalc.cli import lesson_pages
from netcalc.cli.untrusted import Notebooks
from tests.classroom.coroutines import run

STATE = "application/vnd.jupyter.widget-state+json"
GOOD = "# Fine\n\n**Is it?**"


def written(folder: Path, name: str, source: Any = GOOD, **metadata: Any) -> Path:
    """Write a notebook of one cell of text."""
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": source}
    content = {"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (folder / name).write_text(json.dumps(content))
    return folder / name


UNREAD = {
    "a link to nowhere": lambda file: file.symlink_to("nowhere"),
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a pipe that nobody writes": os.mkfifo,
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("make", UNREAD.values(), ids=UNREAD)
def test_what_is_no_file_is_not_listed_and_the_others_are(tmp_path, make):
    written(tmp_path, "good.ipynb")
    make(tmp_path / "bad.ipynb")
    lessons, others = lesson_pages.listed(tmp_path)
    assert (lessons, [one["title"] for one in others]) == ([], ["Fine"])


def test_a_large_notebook_is_not_read_for_its_title(tmp_path):
    written(tmp_path, "some_file.ipynb", filling=" " * (9 << 20))
    (entry,) = lesson_pages.listed(tmp_path)[1]
    assert entry == {"name": "some_file.ipynb", "title": "some file", "sentence": ""}


def test_a_question_is_looked_for_at_the_top(tmp_path):
    """Looked for everywhere, 20,000 that do not end take the server minutes."""
    written(tmp_path, "a.ipynb", "# T\n\n" + "**a\n" * 20_000 + "b**")
    assert lesson_pages.listed(tmp_path)[1][0]["sentence"] == ""


def test_a_name_that_is_no_text_is_not_listed(tmp_path):
    written(tmp_path, "good.ipynb")
    written(tmp_path, "bad\udcff.ipynb")
    assert [one["name"] for one in lesson_pages.listed(tmp_path)[1]] == ["good.ipynb"]


def test_a_title_is_one_printable_line_of_some_length(tmp_path):
    written(tmp_path, "a.ipynb", "# \ud800\u202e\x1b[2J" + "x" * 100_000)
    written(tmp_path, "b.ipynb", "# T\n\n**\ud800\u202e?**")
    first, second = lesson_pages.listed(tmp_path)[1]
    assert first["title"].startswith(r"\ud800\u202e\x1b[2Jxxx")
    assert len(first["title"]) < 300
    assert second["sentence"] == r"\ud800\u202e?"


def prepared(file: Path) -> Any:
    """Return a notebook as its page gets it."""
    notebook = nbformat.from_dict(json.loads(file.read_text()))
    settings = {"contents_manager": SimpleNamespace(root_dir=str(file.parent))}
    handler = SimpleNamespace(
        request=SimpleNamespace(host="127.0.0.1:8890"),
        xsrf_token="",
        settings=settings,
        path_args=[f"/{file.name}"],
        set_header={}.__setitem__,
    )
    lesson_pages.prepare_page(handler, notebook=notebook, cwd="")
    return notebook.metadata


def test_a_notebook_decides_nothing_around_its_page(tmp_path):
    names = ("words", "late_s", "folder", "ways")
    own = dict.fromkeys(("title", *(f"netcalc_{name}" for name in names)), "</script>")
    metadata = prepared(written(tmp_path, "a.ipynb", **own))
    assert "</script>" not in [metadata[name] for name in own]
    assert metadata["netcalc_late_s"] == 30


@pytest.mark.parametrize(
    "changed", [{"id": '"><b>'}, {"cell_type": "<b>"}, {"metadata": {"tags": [5]}}]
)
def test_a_page_of_what_is_no_notebook_is_refused_before_it_begins(tmp_path, changed):
    file = written(tmp_path, "a.ipynb")
    content = json.loads(file.read_text())
    content["cells"][0] |= changed
    file.write_text(json.dumps(content))
    with pytest.raises(nbformat.ValidationError):
        prepared(file)


def test_saved_widgets_are_handed_out_where_the_notebook_is_trusted(tmp_path, monkeypatch):
    """A widget is a script to its page; JupyterLab makes it again when the notebook is opened."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    file = written(tmp_path, "a.ipynb", widgets={STATE: {"state": {"w": {"_esm": "alert(1)"}}}})

    async def got(kind: type[AsyncLargeFileManager]) -> Any:
        manager = kind(root_dir=str(tmp_path))
        with closing(manager.notary.store):
            return (await manager.get(file.name))["content"]["metadata"]

    def opened(kind: type[AsyncLargeFileManager]) -> Any:
        return run(got(kind))

    assert "widgets" in opened(AsyncLargeFileManager)  # as Jupyter has it
    assert "widgets" not in opened(Notebooks)
    notary = Notebooks(root_dir=str(tmp_path)).notary
    with closing(notary.store):
        notary.sign(nbformat.read(file, as_version=4))
    assert "widgets" in opened(Notebooks)


def test_jupyterlab_is_started_with_the_manager_that_leaves_them_out():
    from netcalc.cli.lab import _command

    named = f"--ServerApp.contents_manager_class={Notebooks.__module__}.{Notebooks.__name__}"
    assert named in _command(False, 8888, Path("/"), allow_root=False)


def test_only_a_host_that_is_one_is_named_for_web_sockets():
    rules = lesson_pages.policy("NONCE", "192.0.2.7:8890").split("; ")
    assert "connect-src 'self' ws://192.0.2.7:8890 wss://192.0.2.7:8890" in rules
    for host in ("a; script-src *", "a b", "*", "", "a:1:2", "[::1]:8890"):
        assert "connect-src 'self'" in lesson_pages.policy("NONCE", host).split("; "), host
