"""``netcalc lab --app``: who leaves a page ends its kernel, whatever page came first."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.axe_table import findings

LESSON = "voila/render/short.ipynb"
CELLS = [
    {"cell_type": "code", "id": "a", "metadata": {}, "source": "print('made by', 'a kernel')",
     "execution_count": None, "outputs": []},
]  # fmt: skip
KERNEL = "() => JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId"
LOOKS, PAUSE_S = 300, 0.2
"""How often it is looked whether kernels have ended: a busy machine is no wrong answer."""


@pytest.fixture
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """The lessons as pages, as a user starts them: address, token and home.

    A server for each test: what a failed try leaves, the next one would count.
    """
    home = tmp_path_factory.mktemp("home")
    (home / "lessons").mkdir()
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    short = {"cells": CELLS, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (home / "lessons/short.ipynb").write_text(json.dumps(short), encoding="utf-8")
    command = [sys.executable, "-m", "netcalc", "lab", "--app", "--no-browser", "--allow-root"]
    command += ["--dir", str(home / "lessons")]
    with (
        (home / "stderr.txt").open("w") as log,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | {"HOME": str(home), "BROWSER": "false"},
            start_new_session=True,
        ) as process,
    ):
        try:
            said = ""
            for line in process.stdout:
                said += line
                if "Ctrl-C" in line:
                    break
            found = re.search(r"(http://\S+/)\?token=(\S+)", said)
            assert found, said + (home / "stderr.txt").read_text()
            yield found[1], found[2], home
        finally:
            process.terminate()


def kernels(home: Path) -> int:
    """Return how many kernels run with this home."""
    mine, count = f"HOME={home}\0".encode(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mine in (folder / "environ").read_bytes():
                count += "ipykernel" in (folder / "cmdline").read_text()
        except OSError:
            continue
    return count


def wait_for_kernels(home: Path, count: int) -> None:
    """Wait until so many kernels run."""
    for _ in range(LOOKS):
        if kernels(home) == count:
            return
        time.sleep(PAUSE_S)
    raise AssertionError(f"{kernels(home)} kernels run, and not {count}")


def wait_for_lesson(page, home: Path) -> None:
    """Wait until the short lesson is shown, and one kernel runs."""
    page.get_by_text("made by a kernel").wait_for()
    wait_for_kernels(home, 1)


@pytest.mark.parametrize("first", ["", LESSON])
def test_leaving_a_page_ends_its_kernel(browser, address, first):
    base, token, home = address
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base}{first}?token={token}")
        if not first:
            page.goto(base + LESSON)
        wait_for_lesson(page, home)
        page.goto(base)  # to the list
        wait_for_kernels(home, 0)
        page.goto(base + LESSON)
        wait_for_lesson(page, home)
        if first:  # to a lesson: the new page has a kernel of its own, and ends it as well
            left = page.evaluate(KERNEL)
            page.goto(base + LESSON)
            wait_for_lesson(page, home)
            assert page.evaluate(KERNEL) != left
        page.close(run_before_unload=True)
        wait_for_kernels(home, 0)


def test_a_page_that_is_left_before_it_is_connected_ends_its_kernel(browser, address):
    """Voila asks the server for the kernel first, and would end it only after the answer."""
    base, token, home = address
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.route("**/api/kernels/*", lambda route: None)  # no answer
        with page.expect_request("**/api/kernels/*"):
            page.goto(f"{base}{LESSON}?token={token}")
        wait_for_lesson(page, home)
        page.goto(base)
        wait_for_kernels(home, 0)


def test_a_page_that_wakes_after_its_kernel_has_ended_is_made_again(browser, address):
    base, token, home = address
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base}{LESSON}?token={token}")
        wait_for_lesson(page, home)
        first = page.evaluate(KERNEL)
        with page.expect_response("**/api/kernels/*") as found:
            page.evaluate("dispatchEvent(new Event('online'))")
        assert found.value.status == 200
        assert page.evaluate(KERNEL) == first, "a page whose kernel lives stays as it is"
        end = f"{base}voila/api/shutdown/{first}"
        page.evaluate(
            """end => fetch(end, { method: 'POST', headers: { 'X-XSRFToken':
              /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? '' } })""",
            end,
        )
        wait_for_kernels(home, 0)
        with page.expect_navigation():
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        wait_for_lesson(page, home)
        assert page.evaluate(KERNEL) != first


def test_a_page_is_a_lesson_and_a_phone_that_hides_it_ends_its_kernel(browser, address):
    base, token, home = address
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{base}?token={token}")
        page.get_by_role("link", name="Start here", exact=True).click()
        page.locator(".netcalc-figure").first.wait_for()
        page.wait_for_function(  # until then the pictures of the notebook stand there
            "() => document.querySelector('.netcalc-drawn') && "
            "![...document.querySelectorAll('.jp-RenderedSVG')].some(el => el.checkVisibility())"
        )
        assert page.title() == "Start here"
        assert page.get_by_role("main").count() == 1
        said = page.get_by_role("main").inner_text()
        assert "Nothing leaves your machine" in said
        assert "Shift+Enter" not in said
        assert "run the cell" not in said
        ways = page.locator("a[rel=next]").evaluate_all("all => all.map(a => a.textContent)")
        assert ways == ["Next: 1. Latency and bandwidth"] * 2
        assert [one for one in findings(page) if one.is_serious] == []
        widths_em = page.locator(".jp-MarkdownCell p").evaluate_all(
            "all => all.map(p => p.clientWidth / parseFloat(getComputedStyle(p).fontSize))"
        )
        assert 30 < max(widths_em) < 41  # a character of prose is about half as wide as high
        page.locator(".lesson-foot").scroll_into_view_if_needed()
        assert page.evaluate("scrollY") > 900, "the page does not scroll as one"
        wait_for_kernels(home, 1)
        page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
        wait_for_kernels(home, 0)
        page.route("**/voila/render/**", lambda route: route.fulfill(body="made again"))
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        page.get_by_text("made again").wait_for()
    own = (base, base.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
