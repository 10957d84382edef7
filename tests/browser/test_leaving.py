"""``netcalc lab --app``: who leaves a page ends its kernel, whatever page came first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LESSON = "voila/render/11_calculator.ipynb"
LOOKS, PAUSE_S = 300, 0.2
"""How often it is looked whether kernels have ended: a busy machine is no wrong answer."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """The lessons as pages, as a user starts them: address, token and home."""
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "netcalc", "lab", "--app", "--no-browser", "--allow-root"]
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


@pytest.mark.parametrize(
    ("first", "leave"),
    [("", "to the list"), (LESSON, "to the list"), (LESSON, "to a lesson"), (LESSON, "closed")],
)
def test_leaving_a_page_ends_its_kernel(browser, address, first, leave):
    base, token, home = address
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{base}{first}?token={token}")
        if not first:
            page.goto(base + LESSON)
        page.locator(".netcalc-figure").first.wait_for()
        wait_for_kernels(home, 1)
        if leave == "closed":
            page.close(run_before_unload=True)
        else:
            page.goto(base + (LESSON if leave == "to a lesson" else ""))
        if leave == "to a lesson":  # the new page has a kernel of its own, and ends it as well
            page.locator(".netcalc-figure").first.wait_for()
            wait_for_kernels(home, 1)
            page.goto(base)
        wait_for_kernels(home, 0)


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
        assert page.title() == "Start here"
        assert page.get_by_role("main").count() == 1
        said = page.get_by_role("main").inner_text()
        assert "Nothing leaves your machine" in said
        assert "Shift+Enter" not in said
        assert "run the cell" not in said
        ways = page.locator("a[rel=next]").evaluate_all("all => all.map(a => a.textContent)")
        assert ways == ["Next: 1. Latency and bandwidth"] * 2
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
