"""``netcalc site`` from a terminal: refusals in a sentence, a lesson that fails, a stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netcalc import language
from netcalc.errors import NetcalcError
from netcalc.lessons.site.build import build


def netcalc(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "netcalc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def notebook(folder: Path, source: str) -> Path:
    """Write a lesson of one cell."""
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    path = folder / "01_lesson.ipynb"
    path.write_text(json.dumps({"cells": [cell | {"execution_count": None}]}))
    return path


@pytest.mark.slow
def test_a_folder_of_others_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "mine.txt"):
        done = netcalc("site", str(place))
        assert done.returncode == 2
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert str(place) in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_no_folder_named_is_a_mistake_told_with_the_help() -> None:
    done = netcalc("site")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


@pytest.mark.slow
def test_a_lesson_that_fails_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    lesson = notebook(tmp_path, "1 / 0")
    with pytest.raises(NetcalcError) as caught:
        build(tmp_path / "pages", lessons=[lesson])
    assert caught.value.code == "lesson-does-not-run"
    assert "01_lesson.ipynb" in str(caught.value)
    assert "cell 1" in str(caught.value)
    assert "division by zero" in str(caught.value)
    assert not (tmp_path / "pages").exists()


@pytest.mark.slow
def test_a_lesson_without_panels_becomes_a_page(tmp_path: Path) -> None:
    lesson = notebook(tmp_path, "print('<i>')\n6 * 7")
    done: list[tuple[int, int]] = []
    pages = build(tmp_path / "pages", lessons=[lesson], progress=lambda *step: done.append(step))
    assert [path.name for path in pages] == ["index.html", "01_lesson.html"]
    page = pages[1].read_text(encoding="utf-8")
    assert "<pre>&lt;i&gt;\n</pre>" in page
    assert "<pre>42</pre>" in page
    assert (done[0], done[-1]) == ((0, 1), (1, 1))
    assert "http://" not in page.replace('xmlns="http://www.w3.org/', "")


@pytest.mark.slow
def test_panels_are_english_as_the_page_around_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETCALC_LANGUAGE", "de")
    language.use("de")
    try:
        said = "from netcalc import language, widgets\nprint(language.phrase('Table of values'))"
        pages = build(tmp_path / "pages", lessons=[notebook(tmp_path, said)])
        assert "<pre>Table of values\n</pre>" in pages[1].read_text(encoding="utf-8")
        programs = [one.read_text(encoding="utf-8") for one in pages[0].parent.glob("*.js")]
        assert any('"Table of values"' in one for one in programs)
    finally:
        language.use(language.ENGLISH)


@pytest.mark.slow
def test_a_stop_ends_the_lessons_at_work_and_writes_nothing(tmp_path: Path) -> None:
    started = tmp_path / "started"
    source = (
        f"import pathlib, os, time\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))"
    )
    lesson = notebook(tmp_path, f"{source}\ntime.sleep(300)")
    program = (
        "import sys, pathlib\nfrom netcalc.lessons.site.build import build\n"
        "build(sys.argv[1], lessons=[pathlib.Path(sys.argv[2])])"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "pages"), str(lesson)]
    site = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not (started.exists() and started.read_text()):
        assert site.poll() is None
        time.sleep(0.05)
    site.send_signal(signal.SIGINT)
    assert site.wait(60) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert not (tmp_path / "pages").exists()
