"""Where a site goes: nothing of others is overwritten, and what is refused is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from netcalc.errors import NetcalcError
from netcalc.lessons.site import build
from netcalc.lessons.site import build as folders


def refused(folder: Path) -> str:
    """Return the code with which a folder is refused."""
    with pytest.raises(NetcalcError) as caught:
        folders.check(folder)
    assert str(folder) in str(caught.value)
    return caught.value.code


def test_a_new_and_an_empty_folder_are_taken(tmp_path: Path) -> None:
    folders.check(tmp_path)
    folders.check(tmp_path / "new" / "deep")
    assert list(tmp_path.iterdir()) == []


def test_a_file_and_a_folder_of_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert refused(tmp_path) == "site-folder-not-empty"
    assert refused(tmp_path / "mine.txt") == "site-folder-is-file"
    assert refused(tmp_path / "mine.txt" / "below") == "site-folder-unwritable"


def test_a_folder_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert refused(tmp_path / "new") == "site-folder-unwritable"


def test_a_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    assert refused(tmp_path / "new") == "site-no-room"


def test_an_older_site_is_replaced_and_files_of_others_stay(tmp_path: Path) -> None:
    folders.write(tmp_path, {"a.html": b"old", "gone.html": b"old"})
    (tmp_path / "mine.txt").write_text("mine")
    folders.check(tmp_path)
    folders.write(tmp_path, {"a.html": b"new", "b.html": b"new"})
    found = {path.name: path.read_bytes() for path in tmp_path.glob("*.*ml")}
    assert found == {"a.html": b"new", "b.html": b"new"}
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert folders.written_before(tmp_path) == ["a.html", "b.html"]


def test_a_file_of_others_with_the_name_of_a_page_is_kept(tmp_path: Path) -> None:
    folders.write(tmp_path, {"a.html": b"old"})
    (tmp_path / "b.html").write_text("mine")
    with pytest.raises(NetcalcError, match=r"b\.html"):
        folders.write(tmp_path, {"a.html": b"new", "b.html": b"new"})
    assert (tmp_path / "b.html").read_text() == "mine"
    assert (tmp_path / "a.html").read_bytes() == b"old"


@pytest.mark.parametrize(
    "marker",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"files": 3}',
        '{"files": {"a.html": 1}}',
        '{"files": [1]}',
        *(
            json.dumps({"files": [name]})
            for name in (
                "../secret",
                "/a.html",
                "..\\a.html",
                ".",
                "..",
                "",
                "a\0.html",
                "\ud800.html",
                "mine.txt",
            )
        ),
    ],
)
def test_a_damaged_list_of_files_is_refused(tmp_path: Path, marker: str) -> None:
    (tmp_path / folders.MARKER).write_text(marker)
    with pytest.raises(NetcalcError) as caught:
        folders.written_before(tmp_path)
    assert caught.value.code == "site-marker-damaged"


def test_panels_of_pages_are_in_the_language_of_their_lessons(monkeypatch, tmp_path):
    """Notebooks are English there, whatever the user reads."""
    started = []

    def ended(command, **options):
        started.append(options["env"])
        return subprocess.Popen(["false"], stderr=subprocess.PIPE, text=True)

    monkeypatch.setenv("NETCALC_LANGUAGE", "de")
    monkeypatch.setattr(build, "subprocess", SimpleNamespace(PIPE=-1, DEVNULL=-3, Popen=ended))
    with pytest.raises(NetcalcError):
        build._run(tmp_path / "00.ipynb", tmp_path, [], [])
    assert [env["NETCALC_LANGUAGE"] for env in started] == ["en"]
