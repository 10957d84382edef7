"""Lessons without their kernel: restarted, ended, opened the next day, exported.

Lesson 01 shares its page with the tests that play it through. What every panel does alike is judged
in JupyterLab (a kernel restarted or killed) and Notebook (the next day) on the page of
``test_proof``, with two panels. One run of the lesson by nbconvert is exported three times.
"""

from __future__ import annotations

import copy
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter

from netcalc.lessons.site.html import Page

LESSONS = Path(__file__).parents[2] / "notebooks"
LESSON_01 = LESSONS / "01_latency_and_bandwidth.ipynb"
PROOF = Path(__file__).with_name("proof.ipynb")
FIGURES = {LESSON_01: 7, PROOF: 2}
NO_KERNEL = "No kernel: run the cell again."
NO_KERNEL_OF_PAGE = "No kernel: load the page again."
KERNELS = Path(__file__).parents[1] / "ipykernels.py"
NBCONVERT = """
import runpy, sys
sys.modules["rfc3987_syntax"] = None  # a grammar that takes 3 s to build, and that nothing uses
runpy.run_path(sys.argv.pop(1))["use"]()
runpy.run_module("nbconvert", run_name="__main__")
"""
RESTART = """async () => {
  await jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart();
}"""
BROKEN = """() => [...document.querySelectorAll('.jupyter-widgets-disconnected')].filter(
  el => el.checkVisibility() && getComputedStyle(el, '::before').content !== 'none').length"""
LIVE = """count => document.querySelectorAll('.netcalc-panel').length === count
  && [...document.querySelectorAll('.netcalc-panel')].every(
    panel => panel.querySelector('.netcalc-drawn') && !panel.children[0].inert)"""


def reopened(page):
    """Save the lesson, end its kernel, and open it again."""
    page.wait_figures(FIGURES[page.sheet.notebook])
    page.save()
    page.shut_down()
    page.page.reload()
    page.wait_ready()
    page.page.locator(".netcalc-saved").first.wait_for()


def check_live(page):
    """The first slider moves the first figure, and nothing else shows that figure."""
    page.wait_for(LIVE, FIGURES[page.sheet.notebook])
    page.wait_figures(FIGURES[page.sheet.notebook])
    before = page.column("T1", "y")
    page.drag(0, 1.0 if before[0] < 1 else 0.0)
    page.wait_changed("T1", "y", before)
    assert page.page.locator(".netcalc-saved").first.is_hidden()
    assert page.page.locator(".jp-RenderedSVG").first.is_hidden()


@pytest.mark.shown("lab", LESSON_01)
@pytest.mark.shown("notebook", PROOF)
def test_a_lesson_of_yesterday_shows_pictures_and_values_and_runs(page):
    page.wait_figures(FIGURES[page.sheet.notebook])
    page.type_into(0, "200 ms")
    page.wait_for("() => document.querySelector('.netcalc-saved').textContent.includes('200 ms')")
    reopened(page)
    assert page.path.stat().st_size < 100_000
    saved = page.page.locator(".netcalc-saved")
    saved.nth(FIGURES[page.sheet.notebook] - 1).wait_for(state="attached")  # they come one by one
    assert saved.count() == FIGURES[page.sheet.notebook]
    assert "latency: 200 ms" in saved.first.inner_text()
    picture = page.page.locator(".jp-RenderedSVG img").first
    assert picture.evaluate("img => img.complete && img.naturalWidth > 0")
    page.screenshot("reopened")
    assert page.page.get_by_text("Error displaying widget").first.is_hidden()
    assert page.page.evaluate(BROKEN) == 0
    page.run_all()
    check_live(page)
    page.screenshot("run-again")


@pytest.mark.shown("lab", PROOF)
def test_a_panel_whose_kernel_was_restarted_says_so_and_is_dimmed(page):
    page.wait_figures(FIGURES[page.sheet.notebook])
    page.page.evaluate(RESTART)
    check_without_kernel(page)
    page.screenshot("restarted")
    page.run_all()
    check_live(page)


@pytest.mark.shown("lab", PROOF)
@pytest.mark.shown("voila", LESSON_01)
def test_a_panel_whose_kernel_has_died_says_so_and_is_dimmed(page):
    page.wait_figures(FIGURES[page.sheet.notebook])
    for pid in kernels_of(page.path.parent):
        os.kill(pid, signal.SIGKILL)
    check_without_kernel(page)
    page.screenshot("killed")


def kernels_of(folder):
    """The processes of IPython kernels that work in a folder of this test."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            here = (process / "cwd").readlink() == folder
            if here and b"ipykernel" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    assert found
    return found


def check_without_kernel(page):
    page.wait_for(
        """([count, text]) => [...document.querySelectorAll('.netcalc-notice')]
             .filter(notice => notice.textContent === text).length === count""",
        [
            FIGURES[page.sheet.notebook],
            NO_KERNEL_OF_PAGE if page.front_end == "voila" else NO_KERNEL,
        ],
    )
    board = page.page.locator(".netcalc-panel > :first-child").first
    assert board.is_visible()
    assert board.locator(".noUi-handle").first.is_visible()
    assert board.evaluate("el => el.inert")
    assert board.evaluate("el => getComputedStyle(el).opacity") == "0.45"
    assert page.page.evaluate(BROKEN) == 0
    assert page.figure(0).locator("canvas").count() > 0


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The lesson after ``nbconvert --execute``, with the widgets' state; exported three times."""
    folder = tmp_path_factory.mktemp("executed")
    command = ["--to", "notebook", "--execute", "--output-dir", str(folder), str(LESSON_01)]
    environment = {**os.environ, "PYTHONPATH": str(LESSONS.parent), "HOME": str(folder)}
    subprocess.run(
        [sys.executable, "-c", NBCONVERT, str(KERNELS), *command],
        check=True, env=environment, capture_output=True, timeout=120,
    )  # fmt: skip
    return nbformat.read(folder / LESSON_01.name, as_version=4)


@pytest.mark.parametrize(
    ("state", "form"),
    [(False, HTMLExporter), (True, HTMLExporter), (True, Page)],
    ids=["as saved", "executed", "without a network"],
)
def test_an_exported_lesson_shows_its_figures_without_a_network(
    browser, executed, tmp_path, state, form
):
    """As a front end saved it: with outputs, without the widgets' state."""
    lesson = copy.deepcopy(executed)
    widgets = lesson.metadata.pop("widgets")
    if state:
        lesson.metadata.widgets = widgets
    (tmp_path / "page.html").write_text(form().from_notebook_node(lesson)[0], encoding="utf-8")
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
        pictures = page.locator(".jp-RenderedSVG svg:visible, .jp-RenderedSVG img:visible")
        assert pictures.count() == FIGURES[LESSON_01]
        assert page.locator(".netcalc-saved:visible").count() == FIGURES[LESSON_01]
        assert re.search(r"latency: 30 ms", page.locator(".netcalc-saved").first.inner_text())
        box = pictures.first.bounding_box()
        assert box["width"] > 400
        assert box["height"] > 200
        if form is Page:  # counted in the lesson: one equation of its own, five in the text
            boxes = [one.bounding_box() for one in page.locator("math").all()]
            assert len(boxes) == 6
            assert all(box["width"] > 5 and box["height"] > 5 for box in boxes)
            assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    finally:
        context.close()
