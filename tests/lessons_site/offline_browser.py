"""A Chromium that reaches nothing but the files it is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (p for p in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(p).exists()), None
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def missing() -> str:
    """Say why no page can be opened; empty where one can."""
    if CHROMIUM is None:
        return "Chromium is missing"
    return "" if find_spec("playwright") else "playwright is missing"


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, url: str, *, width: int = 1280, **options: Any) -> Iterator[Any]:
    """Open a page; it fails for errors, and for requests to anything but itself."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    complaints: list[str] = []
    page = context.new_page()
    file = url.partition("#")[0]
    page.on("request", lambda one: one.url.startswith(file) or complaints.append(one.url))
    page.on("console", lambda one: one.type == "error" and complaints.append(one.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(url)
        yield page
    finally:
        context.close()
    assert complaints == []
