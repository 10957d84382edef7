"""The documentation as it was built, in a browser: NETCALC_DOCS names its folder."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "lessons_site"))
import offline_browser

ROOT = Path(__file__).parents[2]
FOLDER = os.environ.get("NETCALC_DOCS")
OWN = {"genindex.html", "search.html", "py-modindex.html", "index.html"}
"""Pages that Sphinx adds, and the first one, which the title leads to."""
LOOKED_AT = {
    "light": (
        "index.html", "getting_started.html", "howto/size_a_buffer.html", "reference/path.html",
        "generated/gallery/tcp.html", "truth.html", "classroom.html",
    ),
    "dark": ("howto/size_a_buffer.html", "generated/gallery/tcp.html"),
}  # fmt: skip
"""One page of each kind; in the dark what has pictures, code and captions."""

pytestmark = pytest.mark.skipif(FOLDER is None, reason="NETCALC_DOCS names no documentation")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing; the icon that a browser asks for is not one of them."""

    def do_GET(self) -> None:
        """Serve a file."""
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def base():
    """Address of the documentation, on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=FOLDER))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    assert not offline_browser.missing(), offline_browser.missing()
    with offline_browser.chromium() as started:
        yield started


def pages() -> list[str]:
    """Return the pages of the documentation, as their addresses end."""
    folder = Path(str(FOLDER))
    return sorted(
        found
        for path in folder.rglob("*.html")
        if not (found := path.relative_to(folder).as_posix()).startswith("_")
    )


def test_search_finds_recipes_functions_and_chapters(browser, base):
    with offline_browser.opened(browser, base, within=base) as page:
        for words, title in (
            ("size a buffer", "Size a buffer"),
            ("mathis", "mathis_throughput_bps"),
            ("mbuf", "mbufs"),
            ("capture", "Read a capture"),
        ):
            page.goto(f"{base}search.html?q={words.replace(' ', '+')}")
            page.wait_for_function(
                "() => /finished|matching|did not match/i"
                ".test(document.querySelector('#search-results').textContent)"
            )
            found = page.locator("#search-results li a").all_text_contents()
            assert any(title.casefold() in one.casefold() for one in found), (words, found)


def test_every_page_is_in_the_left_column(browser, base):
    with offline_browser.opened(browser, base, within=base) as page:
        page.goto(f"{base}index.html")
        linked = page.evaluate(
            "() => [...document.querySelectorAll('.bd-docs-nav a')].map(a => a.href)"
        )
    there = {one.removeprefix(base).partition("#")[0] for one in linked}
    assert set(pages()) - OWN - there == set()


def test_every_page_fits_a_phone_in_the_dark_and_has_its_pictures(browser, base):
    with offline_browser.opened(browser, base, width=390, within=base, color_scheme="dark") as page:
        wrong = []
        for name in pages():
            page.goto(base + name)
            width, broken, paper = page.evaluate(
                """async () => {
                  const images = [...document.querySelectorAll('main img')];
                  for (const one of images) one.loading = 'eager';
                  await Promise.all(images.map((one) => one.decode().catch(() => {})));
                  const paper = getComputedStyle(document.body).backgroundColor;
                  return [document.documentElement.scrollWidth,
                          images.filter((one) => !one.naturalWidth).map((one) => one.src),
                          Math.max(...paper.match(/\\d+/g).slice(0, 3).map(Number))];
                }"""
            )
            if width > 390 or broken or paper > 80:
                wrong.append((name, width, broken, paper))
    assert wrong == []


AT_REST = """() => Promise.all(document.getAnimations()
  .filter((one) => one instanceof CSSTransition).map((one) => one.finished.catch(() => {})))"""
"""Waits until buttons, which fade from one colour to the other, have that of the theme."""


def test_no_page_has_a_serious_finding_of_axe(browser, base):
    sys.path.insert(0, str(ROOT))
    from tests.browser.axe_table import findings  # late: it brings the front ends with it

    found = []
    with offline_browser.opened(browser, base, within=base) as page:
        for scheme, names in LOOKED_AT.items():
            page.emulate_media(color_scheme=scheme)
            for name in names:
                assert page.goto(base + name).ok, name
                assert page.locator("html").get_attribute("data-theme") == scheme
                page.evaluate(AT_REST)
                serious = [one for one in findings(page) if one.is_serious]
                found += [(name, scheme, one.rule, one.html) for one in serious]
    assert found == []
